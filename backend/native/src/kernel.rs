//! Kernels: a fusion group as one function in machine code, over any range of its indices.
//!
//! [`plan`] says what a group computes, [`analysis`] what follows from that for its loops, and [`emit`] writes them, by
//! way of [`loop_emitter`] and the files beside it. Here they get a function around them that takes what they need from
//! an array of words ([`Words`]): addresses, scalars, and what is carried into and out of the loops. On several threads
//! each runs the function on indices of its own.
//!
//! ```text
//! kernel(state, words, start, end):
//!     inputs, positions, limits, outlets = words
//!     loops of the group over start .. end                // emit
//!     words = positions, results of reductions
//!     return done                                         // or gave up, or interrupted, from anywhere before
//! ```

mod analysis;
mod body;
mod emit;
mod ends;
mod environment;
mod induction;
mod loop_emitter;
mod narrow;
mod parts;
mod plan;
mod scans;
mod simd;
mod specialisation;
mod strip_mining;
mod vector_accumulators;

use crate::emitter::Emitter;
use crate::ints::Ints;
use crate::module::{Module, Unavailable};
use crate::state::{State, Status};
use cranelift_codegen::ir::{AbiParam, InstBuilder, Signature, Value, types};
use nesl_prim::{Extreme, ScalarType, ScalarValue};
use nesl_vcode::RegisterType;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

pub use analysis::KnownInputs;
pub(crate) use emit::emit_group;
pub(crate) use environment::{Bound, BoundColumn, BoundInts, BoundSegments, Environment, Finished, Outlet};
pub use parts::{AfterOperand, Further, GroupResult, PartPlan};
pub use plan::{Ending, Extent, Mode, NodeOp, Plan, PlanNode, PlanOperand, Running, Space, Stride, is_ordered};

/// Runs a kernel; returns a status.
type Enter = unsafe extern "C" fn(state: *mut State<'_>, words: *mut u64, start: u64, end: u64) -> u64;

/// A group in machine code.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    enter: Enter,
    /// How many words it gets.
    words: usize,
    /// The collection that keeps its code.
    owner: u64,
}

/// The kernels that have been compiled, by what they compute.
#[derive(Debug)]
pub struct Kernels {
    owner: u64,
    compiled: Mutex<Compiled>,
}

#[derive(Debug, Default)]
struct Compiled {
    /// None before the first kernel.
    module: Option<Module>,
    /// Those that could not be compiled are none.
    kernels: HashMap<(Plan, Mode), Option<Kernel>>,
}

impl Default for Kernels {
    fn default() -> Kernels {
        static OWNERS: AtomicU64 = AtomicU64::new(0);
        Kernels { owner: OWNERS.fetch_add(1, Relaxed), compiled: Mutex::default() }
    }
}

impl Kernels {
    /// A number that no other collection has.
    pub fn owner(&self) -> u64 {
        self.owner
    }

    /// The kernel of a group, compiled now if none like it was yet; none where there is no native code.
    pub fn kernel(&self, plan: &Plan, mode: Mode) -> Option<Kernel> {
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (plan.clone(), mode);
        if let Some(&kernel) = compiled.kernels.get(&key) {
            return kernel;
        }
        let kernel = compiled.compile(plan, mode, self.owner).ok();
        compiled.kernels.insert(key, kernel);
        kernel
    }

    /// Runs a kernel over the indices from `start` up to `end`. Unless it is done, what it has written means nothing.
    ///
    /// # Safety
    /// The words say where there is memory: for all inputs as many elements as they should have, aligned; for all
    /// yields room for what is written there, which nobody else uses.
    ///
    /// # Panics
    /// If the kernel is another collection's, or the words are another plan's.
    pub unsafe fn run(
        &self,
        kernel: Kernel,
        state: &mut State<'_>,
        words: &mut Words<'_>,
        start: usize,
        end: usize,
    ) -> Status {
        assert_eq!((kernel.owner, kernel.words), (self.owner, words.words.len()), "a kernel is run with its own words");
        // SAFETY: the code lives as long as this collection, whose module is not dropped before; the rest is the
        // caller's.
        let status = unsafe { (kernel.enter)(state, words.words.as_mut_ptr(), start as u64, end as u64) };
        Status::from_word(status)
    }
}

impl Compiled {
    fn compile(&mut self, plan: &Plan, mode: Mode, owner: u64) -> Result<Kernel, Unavailable> {
        let module = match &mut self.module {
            Some(module) => module,
            none => none.insert(Module::new()?),
        };
        let mut signature: Signature = module.signature();
        signature.params = vec![AbiParam::new(types::I64); 4];
        signature.returns.push(AbiParam::new(types::I64));
        let id = module.declare(&signature)?;
        module.define(id, signature, |builder, jit| {
            let (emitter, parameters) = Emitter::begin(builder, jit);
            emit_kernel(emitter, plan, mode, &parameters);
        })?;
        module.finish()?;
        // SAFETY: the address is that of a function with this signature.
        let enter = unsafe { std::mem::transmute::<*const u8, Enter>(module.address(id)) };
        Ok(Kernel { enter, words: WordLayout::new(plan).words, owner })
    }
}

/// Emits the function around the loops of a group.
fn emit_kernel(mut emitter: Emitter<'_>, plan: &Plan, mode: Mode, parameters: &[Value]) {
    let (words, range) = (parameters[0], parameters[1]..parameters[2]);
    let layout = WordLayout::new(plan);
    let inputs = layout.inputs.iter().zip(&plan.inputs).enumerate().map(|(input, (&place, ty))| {
        let mut word = |index: usize| emitter.load_word(words, place + index);
        match *ty {
            RegisterType::Scalar(scalar) => {
                let word = word(0);
                Bound::Scalar(emitter.value_of_word(word, scalar))
            }
            RegisterType::Column(_) => {
                let progression = plan.stride_of(input).map(|_| [2, 3].map(&mut word));
                Bound::Column(BoundColumn { pointer: word(0), length: word(1), progression })
            }
            RegisterType::Descriptor => {
                let [pointer, mask, stride] = [0, 1, 2].map(&mut word);
                let starts = BoundInts { pointer, mask, stride };
                let [pointer, mask, segment, base, stop, segments] = [3, 4, 5, 6, 7, 8].map(word);
                let lengths = BoundInts { pointer, mask, stride: emitter.int(0) };
                Bound::Descriptor(BoundSegments { starts, lengths, segment, base, stop, segments })
            }
        }
    });
    let inputs = inputs.collect();
    let mut of_spaces = |place| (0..plan.spaces()).map(|space| emitter.load_word(words, place + space)).collect();
    let (positions, limits) = (of_spaces(layout.positions), of_spaces(layout.limits));
    let outlets = (0..plan.yields.len()).map(|index| {
        let place = layout.outlets + 2 * index;
        let (pointer, start) = (emitter.load_word(words, place), emitter.load_word(words, place + 1));
        let start = match plan.ending(index) {
            Ending::Reduce(op, _) => emitter.value_of_word(start, op.row().result),
            _ => start,
        };
        Outlet { pointer, start }
    });
    let outlets = outlets.collect();
    let aside = emitter.builder.ins().iadd_imm_s(words, 8 * layout.aside as i64);
    let environment = Environment { inputs, positions, limits, outlets, aside };
    let finished = emit_group(&mut emitter, plan, mode, &environment, range);
    for (space, position) in finished.positions.into_iter().enumerate() {
        if let Some(position) = position {
            emitter.store_word(words, layout.positions + space, position);
        }
    }
    for (index, value) in finished.values.iter() {
        let word = match plan.ending(index) {
            Ending::Reduce(op, _) => emitter.word_of_value(value, op.row().result),
            _ => value,
        };
        emitter.store_word(words, layout.outlets + 2 * index + 1, word);
    }
    for (index, value) in finished.extremes.iter() {
        let word = emitter.word_of_value(value, plan.type_of(plan.ending(index).sources()[0]));
        emitter.store_word(words, layout.outlets + 2 * index, word);
    }
    emitter.finish(&[]);
}

/// Where what is in the words of a plan.
#[derive(Clone, Debug)]
pub struct WordLayout {
    inputs: Vec<usize>,
    positions: usize,
    limits: usize,
    outlets: usize,
    aside: usize,
    words: usize,
}

impl WordLayout {
    /// The layout of the words of a plan.
    pub fn new(plan: &Plan) -> WordLayout {
        let mut next = 0;
        let input = |(input, ty): (usize, &RegisterType)| {
            let place = next;
            next += match ty {
                RegisterType::Scalar(_) => 1,
                RegisterType::Column(_) if plan.stride_of(input).is_some() => 4,
                RegisterType::Column(_) => 2,
                RegisterType::Descriptor => 9,
            };
            place
        };
        let inputs = plan.inputs.iter().enumerate().map(input).collect();
        let positions = next;
        let limits = positions + plan.spaces();
        let outlets = limits + plan.spaces();
        let aside = outlets + 2 * plan.yields.len();
        WordLayout { inputs, positions, limits, outlets, aside, words: aside + 1 + plan.running().len() }
    }
}

/// A descriptor, and where a kernel begins in it.
#[derive(Clone, Debug)]
pub struct DescriptorPlace<'a> {
    /// Where its segments start, if it is a view.
    pub starts: Option<Ints<'a>>,
    /// How long they are: those of a column, or all alike.
    pub lengths: Ints<'a>,
    /// The segment of the first index.
    pub segment: usize,
    /// The indices of that segment.
    pub indices: Range<usize>,
    /// The end of the segments that end in the range.
    pub end: usize,
}

/// What a kernel is given, and what it gives back.
#[derive(Clone, Debug)]
pub struct Words<'a> {
    layout: &'a WordLayout,
    words: Vec<u64>,
}

impl<'a> Words<'a> {
    /// Words for the kernels of a plan, all 0.
    pub fn new(layout: &'a WordLayout) -> Words<'a> {
        Words { words: vec![0; layout.words], layout }
    }

    /// Sets a scalar.
    pub fn scalar(&mut self, input: usize, value: ScalarValue) {
        self.words[self.layout.inputs[input]] = value.to_word();
    }

    /// Sets a column.
    pub fn column(&mut self, input: usize, pointer: *const u8, length: usize) {
        let place = self.layout.inputs[input];
        self.words[place..place + 2].copy_from_slice(&[pointer as u64, length as u64]);
    }

    /// Sets the first element and the stride of a column that the plan knows to be a progression.
    pub fn progression(&mut self, input: usize, first: i64, stride: i64) {
        let place = self.layout.inputs[input] + 2;
        self.words[place..place + 2].copy_from_slice(&[first as u64, stride as u64]);
    }

    /// Sets a descriptor.
    pub fn descriptor(&mut self, input: usize, place: &DescriptorPlace<'_>) {
        let starts = place.starts.map_or([0; 3], Ints::words);
        let [lengths, mask, _] = place.lengths.words();
        let [segment, base, stop] = [place.segment, place.indices.start, place.indices.end].map(|word| word as u64);
        let words = [lengths, mask, segment, base, stop, place.end as u64];
        let first = self.layout.inputs[input];
        self.words[first..first + 3].copy_from_slice(&starts);
        self.words[first + 3..first + 9].copy_from_slice(&words);
    }

    /// Sets where the first element of a space goes, and where the room for them ends: in [pieces](Mode::Piece) nothing
    /// is written behind it.
    pub fn set_room(&mut self, space: usize, room: Range<usize>) {
        self.words[self.layout.positions + space] = room.start as u64;
        self.words[self.layout.limits + space] = room.end as u64;
    }

    /// Where the next element of a space would go.
    pub fn position(&self, space: usize) -> usize {
        self.words[self.layout.positions + space] as usize
    }

    /// Sets where a yield goes, as [`Ending`] needs it.
    pub fn outlet(&mut self, index: usize, pointer: *mut u8, start: u64) {
        let place = self.layout.outlets + 2 * index;
        self.words[place..place + 2].copy_from_slice(&[pointer as u64, start]);
    }

    /// Sets what a scan that is read begins with, by its position among [`Plan::running`].
    pub fn set_before(&mut self, scan: usize, value: ScalarValue) {
        self.words[self.layout.aside + 1 + scan] = value.to_word();
    }

    /// Lets scans that are read begin with what they have ended with elsewhere.
    pub fn go_on_after(&mut self, before: &Words<'_>) {
        let first = self.layout.aside + 1;
        self.words[first..].copy_from_slice(&before.words[first..]);
    }

    /// What such a scan has ended with.
    pub fn after(&self, scan: usize) -> u64 {
        self.words[self.layout.aside + 1 + scan]
    }

    /// The extreme element of those of this type that have been looked at, and its index.
    pub fn extreme(&self, index: usize, ty: ScalarType) -> Extreme<ScalarValue> {
        let place = self.layout.outlets + 2 * index;
        let [value, index] = [0, 1].map(|word| self.words[place + word]);
        Extreme { value: ScalarValue::from_word(ty, value), index: index as i64 }
    }

    /// What a reduction ends with, or how many elements are in the buffer of sums.
    pub fn value(&self, index: usize) -> u64 {
        self.words[self.layout.outlets + 2 * index + 1]
    }
}

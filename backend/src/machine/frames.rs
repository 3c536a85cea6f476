//! The frames of active calls: slots for registers in one stack, and where each caller goes on.

pub(super) mod state;

use super::Limits;
use super::leaf::{Gathered, Split};
use crate::data::slot::Slot;
use crate::engine::Engine;
use crate::engine::error::{CALLS_KEPT, Instance};
use crate::engine::value::SlotOf;
use crate::machine::decode::{CallLine, Code, EachLine, Slot as Position, Source};
use crate::machine::evaluator::Active;
use crate::machine::loaded::Loaded;
use crate::machine::strategy::Growth;
use nesl_prim::{Failure, ScalarValue};
use nesl_vcode::{FunctionId, Place};
use std::sync::Arc;

/// Bytes of what instances hold beside their frame, about: their operands taken apart, and results so far.
const LEAF: usize = 1 << 10;

/// A caller that waits for its call to return.
struct Caller<E: Engine> {
    function: FunctionId,
    /// The line after the call.
    next: u32,
    /// Where its frame begins.
    base: usize,
    /// The instances, where it runs the function for one after another.
    leaf: Option<Box<Leaf<E>>>,
    /// How instances grow in the lifted levels of a recursion up to the call.
    growth: Growth,
}

/// Instances that are run one after another.
pub(super) struct Leaf<E: Engine> {
    pub line: Arc<EachLine>,
    pub arguments: Arc<Split<E>>,
    /// The one that runs, or runs next.
    pub index: usize,
    /// The one after the last.
    pub end: usize,
    /// The elements that each of them reads.
    pub read: usize,
    pub results: Gathered<E>,
    /// The operands of the `each`, if it is in no other one.
    pub operands: Option<Vec<SlotOf<E>>>,
}

/// All frames of a run, that of the running function on top.
pub(super) struct Frames<E: Engine> {
    limits: Limits,
    slots: Vec<Option<SlotOf<E>>>,
    callers: Vec<Caller<E>>,
    /// Which of the callers run instances one after another, so that the innermost is known however deep the calls are
    /// in it.
    leaves: Vec<usize>,
    /// Where the frame of the running function begins.
    base: usize,
    /// Operands on their way from a frame to the one that takes its place.
    moving: Vec<SlotOf<E>>,
}

impl<E: Engine> Frames<E> {
    pub fn new(limits: Limits) -> Frames<E> {
        Frames { limits, slots: Vec::new(), callers: Vec::new(), leaves: Vec::new(), base: 0, moving: Vec::new() }
    }

    /// The first frame.
    pub fn begin(&mut self, code: &Code, inputs: Vec<SlotOf<E>>) -> Result<(), Failure> {
        assert_eq!(inputs.len(), code.parameters.len(), "an input for each parameter");
        self.push(code)?;
        for (value, &place) in inputs.into_iter().zip(&code.parameters) {
            self.store(place, value);
        }
        Ok(())
    }

    /// The frame of a call: operands move from the caller's frame into the parameters.
    pub fn call(&mut self, here: (FunctionId, usize), code: &Code, operands: &[Source]) -> Result<(), Failure> {
        let base = self.room_for_call(code)?;
        for (&source, &place) in operands.iter().zip(&code.parameters) {
            let value = self.read(source);
            if let Some(place) = place {
                self.slots[base + place as usize] = Some(value);
            }
        }
        self.enter(here, base, None, self.growth());
        Ok(())
    }

    /// How instances have grown in the lifted levels around the running function.
    pub fn growth(&self) -> Growth {
        self.callers.last().map(|caller| caller.growth).unwrap_or_default()
    }

    /// The frame of a step: operands move from the running function's frame, whose place it takes.
    pub fn step(&mut self, code: &Code, operands: &[Source]) -> Result<(), Failure> {
        let mut moving = std::mem::take(&mut self.moving);
        moving.extend(operands.iter().map(|&source| self.read(source)));
        self.slots.truncate(self.base);
        let room = self.push(code);
        for (value, &place) in moving.drain(..).zip(&code.parameters) {
            if room.is_ok() {
                self.store(place, value);
            }
        }
        self.moving = moving;
        room
    }

    /// The frame of a step whose operands have left the frame whose place it takes.
    pub fn step_with(&mut self, code: &Code, values: Vec<SlotOf<E>>) -> Result<(), Failure> {
        self.slots.truncate(self.base);
        self.push(code)?;
        values.into_iter().zip(&code.parameters).for_each(|(value, &place)| self.store(place, value));
        Ok(())
    }

    /// A call with operands that have left the caller's frame.
    pub fn call_with(
        &mut self,
        here: (FunctionId, usize),
        code: &Code,
        operands: Vec<SlotOf<E>>,
        growth: Growth,
    ) -> Result<(), Failure> {
        let base = self.room_for_call(code)?;
        self.enter(here, base, None, growth);
        operands.into_iter().zip(&code.parameters).for_each(|(value, &place)| self.store(place, value));
        Ok(())
    }

    /// Makes room for one more call; where its frame begins.
    fn room_for_call(&mut self, code: &Code) -> Result<usize, Failure> {
        self.room_for_caller()?;
        let base = self.slots.len();
        self.push(code)?;
        Ok(base)
    }

    fn room_for_caller(&mut self) -> Result<(), Failure> {
        if self.callers.len() + 1 >= self.limits.depth || self.callers.try_reserve(1).is_err() {
            return Err(self.too_deep());
        }
        Ok(())
    }

    /// The running function calls another, whose frame begins there.
    fn enter(
        &mut self,
        (function, next): (FunctionId, usize),
        base: usize,
        leaf: Option<Box<Leaf<E>>>,
        growth: Growth,
    ) {
        if leaf.is_some() {
            self.leaves.push(self.callers.len());
        }
        self.callers.push(Caller { function, next: next as u32, base: self.base, leaf, growth });
        self.base = base;
    }

    /// The frame of the instances of an `each`, as yet without any.
    pub fn call_each(&mut self, here: (FunctionId, usize), leaf: Leaf<E>) -> Result<(), Failure> {
        self.room_for_caller()?;
        self.enter(here, self.slots.len(), Some(Box::new(leaf)), Growth::default());
        Ok(())
    }

    /// The instances of which the running function computes one, or none where it was called otherwise.
    pub fn leaf(&mut self) -> Option<&mut Leaf<E>> {
        self.callers.last_mut().and_then(|caller| caller.leaf.as_deref_mut())
    }

    /// Leaves all frames of the outermost instances that run one after another; their `each` and its operands, if those
    /// were kept.
    pub fn back_to_outermost(&mut self) -> Option<(Arc<EachLine>, Vec<SlotOf<E>>)> {
        let &outermost = self.leaves.first()?;
        let leaf = self.callers[outermost].leaf.as_deref_mut()?;
        let found = (Arc::clone(&leaf.line), leaf.operands.take()?);
        let end = self.callers.get(outermost + 1).map_or(self.base, |next| next.base);
        self.callers.truncate(outermost + 1);
        self.leaves.truncate(1);
        self.slots.truncate(end);
        self.base = end;
        Some(found)
    }

    /// The elements that the innermost of the active instances reads, if the running function is part of one.
    pub fn read_around(&self) -> Option<usize> {
        let innermost = self.leaves.last().and_then(|&index| self.callers[index].leaf.as_ref());
        innermost.map(|leaf| leaf.read)
    }

    /// The frame for one more instance, in place of that of the instance before.
    pub fn begin_instance(&mut self, code: &Code, arguments: Vec<SlotOf<E>>) -> Result<(), Failure> {
        self.slots.truncate(self.base);
        self.begin(code, arguments)
    }

    /// The end of the instances: results move to the caller's frame.
    pub fn end_each(&mut self, values: Vec<SlotOf<E>>, results: &[Option<Position>]) {
        let caller = self.leave();
        self.leaves.pop();
        self.slots.truncate(self.base);
        self.base = caller.base;
        for (value, &place) in values.into_iter().zip(results) {
            self.store(place, value);
        }
    }

    /// Which instances are running, the outermost first.
    pub fn instances(&self) -> Vec<Instance> {
        let instance = |leaf: &Leaf<E>| Instance { index: leaf.index, place: leaf.line.at.span };
        let running = self.callers.iter().filter_map(|caller| caller.leaf.as_deref().map(instance));
        running.take(CALLS_KEPT).collect()
    }

    /// What the active calls take of the limits, and one more, which has no frame here.
    pub fn active(&self) -> Result<Active, Failure> {
        if self.callers.len() + 1 >= self.limits.depth {
            return Err(self.too_deep());
        }
        Ok(Active { calls: self.callers.len() + 1, bytes: self.bytes(self.slots.len()) })
    }

    /// The bytes of frames with so many slots.
    fn bytes(&self, slots: usize) -> usize {
        slots * size_of::<Option<SlotOf<E>>>()
            + self.callers.len() * size_of::<Caller<E>>()
            + self.leaves.len() * (size_of::<Leaf<E>>() + LEAF)
    }

    /// Adds empty slots on top.
    fn push(&mut self, code: &Code) -> Result<(), Failure> {
        let slots = self.slots.len() + code.slots;
        if self.bytes(slots) > self.limits.frame_bytes || self.slots.try_reserve(code.slots).is_err() {
            return Err(self.too_deep());
        }
        self.slots.resize_with(slots, || None);
        Ok(())
    }

    fn too_deep(&self) -> Failure {
        Failure::RecursionTooDeep { depth: self.callers.len() as u64 + 1 }
    }

    /// Where the caller of the running function goes on.
    pub fn caller(&self) -> Option<(FunctionId, usize)> {
        self.callers.last().map(|caller| (caller.function, caller.next as usize))
    }

    /// The caller of the running function, which ends.
    ///
    /// # Panics
    /// If there is none: whoever ends a function has looked ([`Frames::caller`]).
    fn leave(&mut self) -> Caller<E> {
        self.callers.pop().unwrap_or_else(|| unreachable!("the first frame returns to the host"))
    }

    /// Results move to the caller's frame; the running function's is gone.
    pub fn return_to_caller(&mut self, sources: &[Source], results: &[Option<Position>]) {
        let caller = self.leave();
        for (&source, &place) in sources.iter().zip(results) {
            let value = self.read(source);
            if let Some(place) = place {
                self.slots[caller.base + place as usize] = Some(value);
            }
        }
        self.slots.truncate(self.base);
        self.base = caller.base;
    }

    /// The same where the results are in no frame.
    pub fn return_values(&mut self, values: Vec<SlotOf<E>>, results: &[Option<Position>]) {
        let caller = self.leave();
        self.slots.truncate(self.base);
        self.base = caller.base;
        values.into_iter().zip(results).for_each(|(value, &place)| self.store(place, value));
    }

    /// The value of a source in the running function's frame; it leaves the frame at its last use.
    pub fn read(&mut self, source: Source) -> SlotOf<E> {
        let value = match source {
            Source::Constant(value) => return Slot::Scalar(value),
            Source::Copy(place) => self.slots[self.base + place as usize].clone(),
            Source::Take(place) => self.slots[self.base + place as usize].take(),
        };
        value.unwrap_or_else(|| panic!("a register is read before it is defined: unverified program"))
    }

    /// The inputs of the first frame, where that is one of a function of scalars alone, and nothing else is there.
    pub fn only_inputs(&self, program: &Loaded, function: FunctionId) -> Option<Vec<SlotOf<E>>> {
        if !self.callers.is_empty() || !program.is_scalar_only(function) {
            return None;
        }
        let parameters = program.code(function).parameters.iter();
        // What nobody reads may be anything.
        let zero = Slot::Scalar(ScalarValue::Int(0));
        parameters.map(|place| place.map_or(Some(zero.clone()), |place| self.slots[place as usize].clone())).collect()
    }

    /// Values that were read, and are to be read again.
    pub fn put_back(&mut self, sources: &[Source], values: Vec<SlotOf<E>>) {
        for (&source, value) in sources.iter().zip(values) {
            if let Source::Take(place) = source {
                self.store(Some(place), value);
            }
        }
    }

    /// A value that a source will be.
    pub fn look(&self, source: Source) -> Option<&SlotOf<E>> {
        match source {
            Source::Constant(_) => None,
            Source::Copy(place) | Source::Take(place) => self.slots[self.base + place as usize].as_ref(),
        }
    }

    /// The value of a scalar source. It stays in the frame even at its last use: it holds no column, and the next value
    /// of its slot takes its place.
    pub fn scalar(&self, source: Source) -> ScalarValue {
        match source {
            Source::Constant(value) => value,
            Source::Copy(place) | Source::Take(place) => match &self.slots[self.base + place as usize] {
                Some(Slot::Scalar(value)) => *value,
                _ => panic!("expected a scalar: unverified program"),
            },
        }
    }

    /// Keeps a value, unless nothing reads it.
    pub fn store(&mut self, place: Option<Position>, value: SlotOf<E>) {
        if let Some(place) = place {
            self.slots[self.base + place as usize] = Some(value);
        }
    }

    /// Forgets values.
    pub fn clear(&mut self, places: &[Position]) {
        for &place in places {
            self.slots[self.base + place as usize] = None;
        }
    }

    /// Lets columns that wait here hold no more memory than they need.
    pub fn trim(&mut self, places: &[Position], engine: &mut E) {
        for &place in places {
            if let Some(Slot::Column(column)) = &mut self.slots[self.base + place as usize] {
                engine.trim(column);
            }
        }
    }

    /// Where the active calls are, the innermost first.
    pub fn calls<'f>(&'f self, program: &'f Loaded) -> impl DoubleEndedIterator<Item = Place> + 'f {
        let call = move |caller: &Caller<E>| match program.code(caller.function).call_before(caller.next as usize) {
            CallLine::Call { at, .. } => Some(at),
            CallLine::Each(line) => program.call_place(line),
        };
        self.callers.iter().rev().filter_map(call)
    }
}

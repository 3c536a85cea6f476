//! Native code in the machine: which functions have it, what it runs with, and values in and out.
//!
//! A program's functions are compiled when they are first run, once for all workers. Where native code gives up, or
//! there is none, the machine's own lines run: they give the same results, and the errors. Calling it is unsafe: values
//! go over as addresses.

#![allow(unsafe_code)]

use crate::data::slot::Slot;
use crate::data::vector::unwritten::Unwritten;
use crate::engine::stack::stack_bytes;
use crate::engine::value::SlotOf;
use crate::engine::{Engine, Fault};
use crate::machine::decode::EachLine;
pub use nesl_native::target;
use nesl_native::{
    Batch, Compiled, Compiler, Elements, Instances, State, Status, is_recursive, is_supported, words_of,
};
use nesl_prim::ScalarValue;
use nesl_vcode::alias::Summaries;
use nesl_vcode::tail::{Steps, bounded};
use nesl_vcode::{FunctionId, Options, Program, RegisterType, pipeline};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The native code of a program.
pub(crate) struct NativeCode {
    /// None where this machine cannot run native code.
    compiler: Mutex<Option<Compiler>>,
    /// The passes without which the program is compiled.
    left_out: Vec<String>,
    /// The program as it is compiled.
    serial: OnceLock<Serial>,
    functions: Vec<OnceLock<Option<Compiled>>>,
    bounded: Vec<OnceLock<Option<Compiled>>>,
    supported: Vec<OnceLock<bool>>,
    recursive: Vec<OnceLock<bool>>,
    /// By the address of their line, which lives as long as the program does.
    instances: Mutex<HashMap<usize, Option<Arc<Instances>>>>,
}

/// A program for one instance after another.
struct Serial {
    program: Program,
    /// Where the bounded versions of its loops are.
    bounded: HashMap<FunctionId, FunctionId>,
    /// What is known of its loops and functions, once somebody asked.
    known: OnceLock<(Steps, Summaries)>,
}

impl Serial {
    fn of(program: &Program, left_out: &[String]) -> Serial {
        let options = Options { disable: left_out.to_vec(), ..Options::default() };
        let mut program = pipeline::serial(program, &options).unwrap_or_else(|error| panic!("{error}"));
        let bounded = bounded::add(&mut program);
        Serial { program, bounded, known: OnceLock::new() }
    }
}

impl std::fmt::Debug for NativeCode {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("NativeCode")
    }
}

impl NativeCode {
    /// For a program with so many functions, compiled without some passes.
    pub fn new(functions: usize, left_out: Vec<String>) -> NativeCode {
        NativeCode {
            left_out,
            compiler: Mutex::new(None),
            serial: OnceLock::new(),
            functions: (0..functions).map(|_| OnceLock::new()).collect(),
            bounded: (0..functions).map(|_| OnceLock::new()).collect(),
            supported: (0..functions).map(|_| OnceLock::new()).collect(),
            recursive: (0..functions).map(|_| OnceLock::new()).collect(),
            instances: Mutex::new(HashMap::new()),
        }
    }

    /// What the compiler makes of the program; none if it, or this machine, cannot.
    fn compile<T>(&self, program: &Program, make: impl FnOnce(&mut Compiler, &Serial) -> Option<T>) -> Option<T> {
        let program = self.compiled(program);
        let mut compiler = self.compiler.lock().unwrap_or_else(PoisonError::into_inner);
        if compiler.is_none() {
            *compiler = Compiler::new().ok();
        }
        make(compiler.as_mut()?, program)
    }

    fn compiled(&self, program: &Program) -> &Serial {
        self.serial.get_or_init(|| Serial::of(program, &self.left_out))
    }

    /// The program as it is compiled, and what is known of its loops and functions.
    pub fn serial(&self, program: &Program) -> (&Program, &Steps, &Summaries) {
        let Serial { program, known, .. } = self.compiled(program);
        let (steps, summaries) = known.get_or_init(|| (Steps::of(program), Summaries::of(program)));
        (program, steps, summaries)
    }

    /// Whether the compiler knows all that a function does.
    pub fn is_supported(&self, program: &Program, function: FunctionId) -> bool {
        *self.supported[function.0 as usize].get_or_init(|| is_supported(program, function))
    }

    /// Whether a function, or one that it comes to call, may come to run itself.
    pub fn is_recursive(&self, program: &Program, function: FunctionId) -> bool {
        *self.recursive[function.0 as usize].get_or_init(|| is_recursive(program, function))
    }

    /// A function, if it has native code.
    pub fn function(&self, program: &Program, function: FunctionId) -> Option<Compiled> {
        *self.functions[function.0 as usize].get_or_init(|| {
            if !self.is_supported(program, function) {
                return None;
            }
            self.compile(program, |compiler, serial| compiler.function(&serial.program, function).ok())
        })
    }

    /// The bounded version of a loop ([`bounded`]), if it has native code.
    pub fn bounded(&self, program: &Program, function: FunctionId) -> Option<Compiled> {
        *self.bounded[function.0 as usize].get_or_init(|| {
            if !self.is_supported(program, function) {
                return None;
            }
            self.compile(program, |compiler, serial| {
                compiler.function(&serial.program, *serial.bounded.get(&function)?).ok()
            })
        })
    }

    /// The instances of an `each`, if its serial function has native code.
    pub fn instances(&self, program: &Program, line: &Arc<EachLine>) -> Option<Arc<Instances>> {
        let mut known = self.instances.lock().unwrap_or_else(PoisonError::into_inner);
        let make = || {
            if !self.is_supported(program, line.serial) {
                return None;
            }
            let instances = |compiler: &mut Compiler, serial: &Serial| {
                compiler.instances(&serial.program, line.serial, line.plan.clone()).ok()
            };
            self.compile(program, instances).map(Arc::new)
        };
        known.entry(Arc::as_ptr(line).addr()).or_insert_with(make).clone()
    }
}

/// Calls of functions of scalars alone: the words of arguments and results.
#[derive(Default)]
pub(crate) struct ScalarCalls {
    words: Vec<u64>,
    results: Vec<u64>,
    /// What they did: see [`State::steps`].
    pub steps: u64,
}

impl ScalarCalls {
    /// Calls a function of scalars alone; its results mean something if it is done.
    pub fn call(
        &mut self,
        function: Compiled,
        arguments: impl Iterator<Item = u64>,
        interrupt: Option<&AtomicBool>,
        depth: usize,
    ) -> (Status, &[u64]) {
        self.words.clear();
        self.words.extend(arguments);
        self.results.resize(function.result_words(), 0);
        let mut state = State::new(interrupt, stack_bytes(depth), None);
        // SAFETY: scalars have no addresses; the program, whose compiler made the function, is being run.
        let status = unsafe { function.call(&mut state, &self.words, &mut self.results) };
        self.steps += state.steps();
        (status, &self.results)
    }
}

/// The operands of an `each` in words, with the columns that they are the addresses of.
pub(crate) struct Operands<E: Engine> {
    words: Vec<u64>,
    /// Holds memory that the words point to.
    _held: Vec<E::Column>,
}

impl<E: Engine> Operands<E> {
    /// The words of operands, if their elements are in this process's memory.
    ///
    /// # Errors
    /// Those of taking descriptors apart.
    pub fn new(engine: &mut E, operands: &[SlotOf<E>]) -> Result<Option<Operands<E>>, Fault> {
        let (mut words, mut held) = (Vec::new(), Vec::new());
        for operand in operands {
            match operand {
                Slot::Scalar(value) => words.push(value.to_word()),
                Slot::Column(column) => {
                    let Some(address) = engine.address(column) else { return Ok(None) };
                    words.extend([address as u64, engine.length(column) as u64]);
                    held.push(column.clone());
                }
                Slot::Descriptor(segments) => {
                    for column in [engine.starts(segments)?, engine.lengths(segments)?] {
                        let Some(address) = engine.address(&column) else { return Ok(None) };
                        words.push(address as u64);
                        held.push(column);
                    }
                    words.push(engine.segments(segments) as u64);
                }
            }
        }
        Ok(Some(Operands { words, _held: held }))
    }
}

/// What has become of a function, or of some instances of an `each`, in native code.
pub(crate) struct Done<E: Engine> {
    pub status: Status,
    /// What was done: see [`State::steps`].
    pub steps: u64,
    /// The results, if it is done.
    pub results: Vec<SlotOf<E>>,
    /// The scratch memory that they were in, in bytes.
    pub bytes: usize,
}

impl NativeCode {
    /// Calls a function, whose results are of these types; none if there is no memory to do that in. `operands` are
    /// those values.
    ///
    /// # Errors
    /// [`nesl_prim::Failure::OutOfMemory`] where the results have no place.
    pub fn call<E: Engine>(
        &self,
        engine: &mut E,
        (function, types): (Compiled, &[RegisterType]),
        (operands, values): (&Operands<E>, &[SlotOf<E>]),
        (interrupt, depth): (Option<&AtomicBool>, usize),
    ) -> Result<Option<Done<E>>, Fault> {
        let Some(meter) = engine.meter().map(Arc::clone) else { return Ok(None) };
        let outcome = meter.with_scratch(|scratch| {
            let mut state = State::new(interrupt, stack_bytes(depth), Some(scratch));
            let mut words = vec![0; function.result_words()];
            // SAFETY: the operands hold the columns that their words are the addresses of; the program, whose compiler
            // made the function, is being run.
            let status = unsafe { function.call(&mut state, &operands.words, &mut words) };
            let mut results = Vec::new();
            if status == Status::Done {
                let mut rest = words.as_slice();
                for &ty in types {
                    let (words, others) = rest.split_at(words_of(ty));
                    rest = others;
                    results.push(match given(engine, (ty, words), values)? {
                        Some(slot) => slot,
                        // SAFETY: native code has just made these words: columns are in scratch memory or parts of
                        // operands.
                        None => unsafe { slot(engine, (ty, words), Segments::Anywhere, None) }?,
                    });
                }
            }
            Ok(Done { status, steps: state.steps(), results, bytes: 0 })
        });
        outcome.transpose()
    }

    /// Runs some instances of an `each`, one after another; none if there is no memory to do that in. Each register of
    /// the results goes to its part of a column, if there is one and room in it.
    ///
    /// # Errors
    /// [`nesl_prim::Failure::OutOfMemory`] where the results have no place.
    pub fn run<E: Engine>(
        &self,
        engine: &mut E,
        (line, instances): (&EachLine, &Instances),
        operands: &Operands<E>,
        (range, parts): (Range<usize>, &mut [Option<Unwritten>]),
        (interrupt, depth): (Option<&AtomicBool>, usize),
    ) -> Result<Option<Done<E>>, Fault> {
        let Some(meter) = engine.meter().map(Arc::clone) else { return Ok(None) };
        let outcome = meter.with_scratch(|scratch| {
            let mut state = State::new(interrupt, stack_bytes(depth), Some(scratch));
            // SAFETY: the operands hold the columns that their words are the addresses of; the program, whose compiler
            // made the code, is being run.
            let Batch { status, words, bytes } = unsafe { instances.run(&mut state, &operands.words, range) };
            let mut results = Vec::new();
            if status == Status::Done {
                let mut rest = words.as_slice();
                let mut parts = parts.iter_mut();
                for ty in line.plan.results.iter().map(|field| field.lifted()) {
                    let (words, others) = rest.split_at(words_of(ty));
                    rest = others;
                    let part = parts.next().and_then(Option::as_mut);
                    // SAFETY: native code has just made these words: columns are in scratch memory or parts of operands.
                    results.push(unsafe { slot(engine, (ty, words), Segments::Packed, part) }?);
                }
            }
            Ok(Done { status, steps: state.steps(), results, bytes })
        });
        outcome.transpose()
    }
}

/// The column or descriptor among values that these words are, as long as it is there.
fn given<E: Engine>(
    engine: &mut E,
    (ty, words): (RegisterType, &[u64]),
    values: &[SlotOf<E>],
) -> Result<Option<SlotOf<E>>, Fault> {
    let is_at =
        |engine: &E, column: &E::Column, address: u64| engine.address(column).is_some_and(|own| own as u64 == address);
    for value in values {
        match (value, ty, words) {
            // Columns of other elements may be where it is, too, if they have none.
            (Slot::Column(column), RegisterType::Column(of), &[address, length])
                if engine.length(column) as u64 == length
                    && engine.scalar_type(column) == of
                    && is_at(engine, column, address) =>
            {
                return Ok(Some(value.clone()));
            }
            (Slot::Descriptor(segments), RegisterType::Descriptor, &[starts, lengths, count])
                if engine.segments(segments) as u64 == count =>
            {
                let columns = [engine.starts(segments)?, engine.lengths(segments)?];
                if is_at(engine, &columns[0], starts) && is_at(engine, &columns[1], lengths) {
                    return Ok(Some(value.clone()));
                }
            }
            _ => {}
        }
    }
    Ok(None)
}

/// How the segments of a register lie.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Segments {
    /// One after another, from the beginning of their data: what instances give is put together so.
    Packed,
    /// Where their starts say.
    Anywhere,
}

/// A register from its words.
///
/// # Safety
/// The words are addresses and lengths of such elements.
unsafe fn slot<E: Engine>(
    engine: &mut E,
    register: (RegisterType, &[u64]),
    segments: Segments,
    part: Option<&mut Unwritten>,
) -> Result<SlotOf<E>, Fault> {
    let copy = |engine: &mut E, elements| {
        let placed = part.and_then(|part| engine.copy_to(part, elements));
        placed.map_or_else(|| engine.copy(elements), Ok)
    };
    Ok(match register {
        (RegisterType::Scalar(ty), &[word]) => Slot::Scalar(ScalarValue::from_word(ty, word)),
        (RegisterType::Column(ty), &[address, length]) => {
            // SAFETY: by the caller.
            let elements = unsafe { Elements::at(ty, address, length) };
            Slot::Column(copy(engine, elements)?)
        }
        (RegisterType::Descriptor, &[starts, lengths, count]) => {
            // SAFETY: by the caller.
            let ints = |address| unsafe { Elements::at(nesl_prim::ScalarType::Int, address, count) };
            let starts = match segments {
                Segments::Packed => None,
                Segments::Anywhere => Some(engine.copy(ints(starts))?),
            };
            let lengths = copy(engine, ints(lengths))?;
            Slot::Descriptor(engine.descriptor(starts, lengths)?)
        }
        (ty, words) => unreachable!("a register of {ty:?} in {} words", words.len()),
    })
}

//! The machine: runs programs on any engine.
//!
//! Control flow, registers, last uses, recursion and the places of errors live here, once; what touches columns is the
//! engine's (`execute`). Calls do not nest on Rust's stack: frames lie in a stack of the machine's own (`frames`), so
//! recursion ends at a limit, with a message. In a distributed run every rank has a machine and takes the same way through
//! the same program.

mod execute;
mod frames;
mod outside;

use crate::counters::Counters;
use crate::decode::{Line, Loaded};
use crate::engine::{Engine, Fault};
use crate::error::RuntimeError;
use crate::host::System;
use crate::value::{Slot, SlotOf, Value};
use frames::Frames;
use nesl_prim::{Element, Failure, Host};
use nesl_span::Span;
use nesl_vcode::{FunctionId, GlobalId, Input, Step};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// How far a machine goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Calls that may be active at once.
    pub depth: usize,
    /// Bytes that the frames of active calls may take, columns apart.
    pub frame_bytes: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { depth: 10_000_000, frame_bytes: 2 << 30 }
    }
}

/// Runs programs on an engine, and keeps their global values.
pub struct Machine<E: Engine> {
    /// The engine.
    pub engine: E,
    limits: Limits,
    interrupt: Option<Arc<AtomicBool>>,
    host: Box<dyn Host>,
    /// Something may have been printed since [`Machine::end_line`].
    printed: bool,
    globals: HashMap<GlobalId, Value<E>>,
    instructions: u64,
}

impl<E: Engine> Machine<E> {
    /// A machine without globals, whose programs act on this process's world.
    pub fn new(engine: E, limits: Limits) -> Machine<E> {
        let (globals, host) = (HashMap::new(), Box::new(System::default()));
        Machine { engine, limits, interrupt: None, host, printed: false, globals, instructions: 0 }
    }

    /// Gives programs another world outside.
    pub fn set_host(&mut self, host: Box<dyn Host>) {
        self.host = host;
    }

    /// Ends runs with [`Failure::Interrupted`] soon after the flag is set. The flag is not cleared. In a distributed run ranks
    /// would stop at different instructions: there, leave interrupting to the launcher.
    pub fn set_interrupt(&mut self, flag: Arc<AtomicBool>) {
        self.interrupt = Some(flag);
    }

    /// Runs one step of a program: keeps its outputs that are globals, and returns those to show, in order.
    ///
    /// # Errors
    /// Where an instruction fails. Globals are as before then.
    ///
    /// # Panics
    /// If the step reads a global or an argument that is not there, or the program was not verified.
    pub fn run_step(
        &mut self,
        program: &Loaded,
        step: &Step,
        seed: i64,
        arguments: &[Value<E>],
    ) -> Result<Vec<Value<E>>, RuntimeError> {
        let mut inputs = Vec::new();
        for input in &step.inputs {
            match input {
                Input::Seed => inputs.push(Slot::Scalar(seed.to_value())),
                Input::Global(id) => {
                    let value = self.globals.get(id).unwrap_or_else(|| panic!("global {} has no value", id.0));
                    inputs.extend(value.slots.iter().cloned());
                }
                Input::Argument(index) => {
                    let value = arguments.get(*index as usize).unwrap_or_else(|| panic!("no argument {index}"));
                    inputs.extend(value.slots.iter().cloned());
                }
            }
        }
        let outcome = self.run(program, step.function, inputs);
        // What was printed arrives also where the step then failed.
        let flushed = self.on_output(|host| host.flush());
        let span = program.program().functions[step.function.0 as usize].span;
        let lost = |failure| RuntimeError { failure, span, calls: Vec::new(), element: None };
        let mut results = flushed.map_err(lost).and(outcome)?.into_iter();
        let mut shown = Vec::new();
        for output in &step.outputs {
            let slots = results.by_ref().take(output.shape.serial().len()).collect();
            let value = Value { shape: output.shape.clone(), slots };
            match output.global {
                Some(id) => {
                    self.globals.insert(id, value);
                }
                None => shown.push(value),
            }
        }
        Ok(shown)
    }

    /// The value of a global.
    pub fn global(&self, id: GlobalId) -> Option<&Value<E>> {
        self.globals.get(&id)
    }

    /// Forgets a global, whose columns are then freed.
    pub fn forget(&mut self, id: GlobalId) {
        self.globals.remove(&id);
    }

    /// What was done so far, for each rank.
    pub fn counters(&mut self) -> Vec<Counters> {
        let mut counters = self.engine.counters();
        for rank in &mut counters {
            // Every rank runs the same instructions.
            rank.instructions += self.instructions;
        }
        counters
    }

    /// Begins a new line if what programs printed last is in the middle of one: results stand on lines of their own.
    ///
    /// # Errors
    /// If the output does not take it; the same on all ranks.
    pub fn end_line(&mut self) -> Result<(), Failure> {
        let ended = self.on_output(|host| host.end_line());
        self.printed = false;
        ended
    }

    /// What rank 0 does to the output, if there is any; the same result on all ranks.
    fn on_output(&mut self, act: impl FnOnce(&mut dyn Host) -> Result<(), Failure>) -> Result<(), Failure> {
        if !self.printed {
            return Ok(());
        }
        let done = if self.engine.rank().0 == 0 { act(&mut *self.host) } else { Ok(()) };
        self.engine.agree(done)
    }

    /// Runs a function on the contents of its parameters.
    ///
    /// # Errors
    /// Where an instruction fails.
    ///
    /// # Panics
    /// If the program was not verified, or the inputs are not those of the function.
    pub fn run(
        &mut self,
        program: &Loaded,
        function: FunctionId,
        inputs: Vec<SlotOf<E>>,
    ) -> Result<Vec<SlotOf<E>>, RuntimeError> {
        let mut frames = Frames::new(self.limits);
        self.run_frames(program, function, inputs, &mut frames).map_err(|(fault, span, element)| RuntimeError {
            failure: fault.failure,
            span,
            calls: frames.calls(program),
            element: element.then_some(fault.element),
        })
    }

    /// The loop over lines. An error comes with its place and with whether its element means something.
    fn run_frames(
        &mut self,
        program: &Loaded,
        mut function: FunctionId,
        inputs: Vec<SlotOf<E>>,
        frames: &mut Frames<E>,
    ) -> Result<Vec<SlotOf<E>>, (Fault, Span, bool)> {
        let plain = |span: Span| move |failure: Failure| (Fault::from(failure), span, false);
        let mut code = program.code(function);
        let mut next = 0;
        frames.begin(code, inputs).map_err(plain(code.span))?;
        loop {
            let line = &code.lines[next];
            next += 1;
            match line {
                Line::Execute { operation, operands, result, span } => {
                    self.count(*span)?;
                    let value = execute::execute(&mut self.engine, operation, operands, frames)
                        .map_err(|fault| execute::place(operation, fault, *span))?;
                    frames.store(*result, value);
                }
                Line::Branch { condition, otherwise, span } => {
                    self.count(*span)?;
                    if !bool::from_value(frames.scalar(*condition)) {
                        next = *otherwise;
                    }
                }
                Line::Host { op, operands, results, span } => {
                    self.count(*span)?;
                    // Any of them may write to standard output, which is a stream, too.
                    self.printed = true;
                    let operands = operands.iter().map(|&operand| frames.read(operand)).collect();
                    let values = outside::perform(&mut self.engine, &mut *self.host, *op, operands)
                        .map_err(|fault| (fault, *span, false))?;
                    for (&result, value) in results.iter().zip(values) {
                        frames.store(result, value);
                    }
                }
                Line::Call { function: callee, operands, span, .. } => {
                    self.count(*span)?;
                    let callee_code = program.code(*callee);
                    frames.call((function, next), callee_code, operands).map_err(plain(*span))?;
                    (function, code, next) = (*callee, callee_code, 0);
                }
                Line::Jump(target) => next = *target,
                Line::Move(moves) => {
                    for &(source, slot) in moves {
                        let value = frames.read(source);
                        frames.store(Some(slot), value);
                    }
                }
                Line::Drop(slots) => frames.clear(slots),
                Line::Return(sources) => match frames.caller() {
                    None => return Ok(sources.iter().map(|&source| frames.read(source)).collect()),
                    Some((caller, line)) => {
                        (function, code, next) = (caller, program.code(caller), line);
                        let Line::Call { results, .. } = &code.lines[line - 1] else {
                            unreachable!("a caller goes on after its call");
                        };
                        frames.return_to_caller(sources, results);
                    }
                },
            }
        }
    }

    /// Counts an instruction, and stops where the user wants that.
    fn count(&mut self, span: Span) -> Result<(), (Fault, Span, bool)> {
        self.instructions += 1;
        match &self.interrupt {
            Some(flag) if flag.load(Relaxed) => Err((Failure::Interrupted.into(), span, false)),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;

//! The loop over the lines of decoded functions.
//!
//! Calls, and the instances of an `each` that are run one after another, are frames on a stack of the machine's own;
//! only where instances are dealt out to workers does each worker have a loop and a stack for itself.

pub(super) mod alarm;
pub(super) mod attempts;
pub(super) mod bounded;
mod check;
mod everywhere;
pub(super) mod pause;
mod profiling;
pub(super) mod resting;
pub(super) mod serial;
pub(super) mod shared;
pub(super) mod team;
mod together;
pub(super) mod worker;

use super::frames::Frames;
use super::{Limits, execute, outside};
use crate::engine::error::{RuntimeError, calls, chain};
use crate::engine::native::Native;
use crate::engine::value::SlotOf;
use crate::engine::{Engine, Fault};
use crate::machine::decode::{Code, GroupLine, Line, Operation, Source};
use crate::machine::evaluator::Evaluator;
use crate::machine::loaded::Loaded;
use crate::machine::profile::{Profile, Whereabouts};
use crate::machine::strategy::{Strategy, Tuning};
use bounded::Turns;
use nesl_prim::{Element, Failure, Host};
use nesl_vcode::{FunctionId, Place};
use pause::Pause;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use team::Member;

/// What holds for all workers of a run.
#[derive(Clone, Copy)]
pub(super) struct Settings<'a> {
    pub limits: Limits,
    pub strategy: Strategy,
    pub native: Native,
    pub interrupt: Option<&'a AtomicBool>,
    /// Who wants to know where it is.
    pub whereabouts: Option<&'a Whereabouts>,
    /// All this is inside an instance of an `each` whose instances run one after another, or is done to find out how
    /// one failed.
    pub within: bool,
    /// What ends native code, and instances of an `each`, besides: who wants a pause may not be able to wait for their
    /// ends. In a distributed run only what ranks do by themselves.
    pub cut: Option<&'a AtomicBool>,
    /// Who may want it to pause.
    pub pause: Option<&'a Pause>,
    /// The task that this is part of, if tasks run beside one another.
    pub member: Option<Member<'a>>,
}

impl Settings<'_> {
    /// From which sizes on it does what pays only then.
    pub fn tuning(&self) -> Tuning {
        Tuning::of(self.native, self.strategy)
    }
}

/// A run in progress.
pub(super) struct Run<'a, E: Engine> {
    pub program: &'a Loaded,
    /// The same program for the local engine.
    pub local: &'a Loaded,
    pub engine: &'a mut E,
    /// The world outside; none for a worker, whose functions have no business there.
    pub host: Option<&'a mut dyn Host>,
    /// Something may have been printed.
    pub printed: &'a mut bool,
    pub settings: Settings<'a>,
    pub turn: &'a mut u64,
    /// Runs functions of scalars alone.
    pub evaluator: Evaluator<'a>,
    /// Instructions executed, those of the evaluator apart.
    pub instructions: u64,
    /// What native code did, that of the evaluator apart.
    pub steps: u64,
    /// How many bytes native code may copy for what the lines have done ([`serial`]).
    pub account: serial::Account,
    /// When native code that gave up is tried again.
    pub attempts: attempts::Attempts,
    /// Which loops suit native code ([`bounded`]).
    pub loops: bounded::Loops,
    /// What ranks know of loops.
    pub shared: shared::Shared,
    /// Where to leave the first loop.
    pub bound: Option<shared::Bound>,
    /// Where it spends its time, if anybody wants to know.
    pub profile: Option<&'a mut Profile>,
    /// What was done since it was looked whether to pause, where ranks look together.
    pub unlooked: usize,
}

/// What comes after a function.
enum Ended<E: Engine> {
    /// Another one, from this line on.
    Next(FunctionId, usize),
    /// Nothing: these are the results of all.
    All(Vec<SlotOf<E>>),
}

/// Why a run ended early.
pub(super) enum Stop {
    /// Here; and, if the element of the fault means something, how many conditionals around it that counts through.
    Here(Fault, Place, Option<u32>),
    /// In a call at this place, or in an instance of the `each` there, that ran elsewhere: in the evaluator or on a
    /// worker.
    Inside(Box<RuntimeError>, Option<Place>),
    /// The run pauses, and goes on with this line of the running function.
    Pause(FunctionId, usize),
}

impl Stop {
    pub(super) fn at(at: impl Into<Place>) -> impl Fn(Failure) -> Stop {
        let at = at.into();
        move |failure| Stop::Here(failure.into(), at, None)
    }

    pub(super) fn of(at: Place) -> impl Fn(Fault) -> Stop {
        move |fault| Stop::Here(fault, at, None)
    }

    /// The same of what was done elsewhere in the place of a loop's next turn, which is no call.
    fn of_step(self) -> Stop {
        match self {
            Stop::Inside(error, _) => Stop::Inside(error, None),
            here => here,
        }
    }
}

impl<E: Engine> Run<'_, E> {
    /// Runs a function on the contents of its parameters.
    ///
    /// # Errors
    /// Where an instruction fails.
    ///
    /// # Panics
    /// If the program was not verified, or the inputs are not those of the function.
    pub fn function(&mut self, function: FunctionId, inputs: Vec<SlotOf<E>>) -> Result<Vec<SlotOf<E>>, RuntimeError> {
        if self.program.is_scalar_only(function) {
            return self.scalar_function(function, inputs);
        }
        let mut frames = Frames::new(self.settings.limits);
        let depth = self.depth();
        let code = self.program.code(function);
        let begun = frames.begin(code, inputs).map_err(Stop::at(code.span));
        // Whoever called this waits for its results in the middle of a line.
        let Settings { interrupt, pause, cut, .. } = self.settings;
        (self.settings.interrupt, self.settings.pause) = (cut, None);
        let results = begun.and_then(|()| self.lines(function, 0, &mut frames));
        (self.settings.interrupt, self.settings.pause) = (interrupt, pause);
        self.leave_to(depth);
        results.map_err(|stop| self.error(stop, &mut frames))
    }

    /// What has become of the reason why a run stopped.
    fn error(&mut self, stop: Stop, frames: &mut Frames<E>) -> RuntimeError {
        let (program, instances) = (self.program.program(), frames.instances());
        let error = match stop {
            Stop::Here(fault, at, conditionals) => {
                let (span, calls) = chain(program, at, frames.calls(self.program));
                let (element, conditionals) = (conditionals.map(|_| fault.element), conditionals.unwrap_or(0));
                RuntimeError { failure: fault.failure, span, calls, element, conditionals, instances }
            }
            Stop::Inside(error, place) => {
                error.inside(calls(program, place.into_iter().chain(frames.calls(self.program))), instances)
            }
            Stop::Pause(..) => unreachable!("a run pauses where nobody waits for it in the middle of a line"),
        };
        let Some((line, operands)) = frames.back_to_outermost() else { return error };
        match self.earlier(&line, operands, &error) {
            Some(first) => first.inside(calls(program, frames.calls(self.program)), Vec::new()),
            None => error,
        }
    }

    /// Goes on with a line of the function that has the last frame, until the first has ended.
    fn lines(
        &mut self,
        mut function: FunctionId,
        mut next: usize,
        frames: &mut Frames<E>,
    ) -> Result<Vec<SlotOf<E>>, Stop> {
        let program = self.program;
        let mut code = program.code(function);
        loop {
            let line = &code.lines[next];
            if self.pauses(line, frames) {
                return Err(Stop::Pause(function, next));
            }
            next += 1;
            match line {
                Line::Execute { operation: Operation::Vector(op), at, together, .. }
                    if *together > 1 && self.engine.moves_together() =>
                {
                    self.together((*op, *at), &code.lines[next - 1..next - 1 + together], frames)?;
                    next += together - 1;
                }
                Line::Execute { operation, operands, result, at, .. } => {
                    self.count(*at)?;
                    let value = execute::execute(self.engine, operation, operands, frames)
                        .map_err(|fault| self.failed(operation, fault, *at, (code, next - 1), frames))?;
                    frames.store(*result, value);
                }
                Line::Group(line) => {
                    if self.group(line, &code.lines[next..line.after], frames)? {
                        next = line.after;
                    }
                }
                Line::Branch { condition, otherwise, at } => {
                    self.count(*at)?;
                    if !bool::from_value(frames.scalar(*condition)) {
                        next = *otherwise;
                    }
                }
                Line::Host { op, operands, results, at } => {
                    self.count(*at)?;
                    // Any of them may write to standard output, which is a stream, too.
                    *self.printed = true;
                    let operands = operands.iter().map(|&operand| frames.read(operand)).collect();
                    let host = self.host.as_deref_mut().map(|host| host as &mut dyn Host);
                    let values = outside::perform(self.engine, host, *op, operands).map_err(Stop::of(*at))?;
                    for (&result, value) in results.iter().zip(values) {
                        frames.store(result, value);
                    }
                }
                Line::Call { function: callee, operands, results, at } if program.is_scalar_only(*callee) => {
                    self.count(*at)?;
                    let called = self.scalar_call(*callee, operands, results, *at, frames);
                    // The operands are in the frame still.
                    called.map_err(|stop| self.cut_short(stop, (function, next)))?;
                }
                Line::Call { function: callee, operands, at, results } => {
                    self.count(*at)?;
                    if let Some(values) = self.serial_call(*callee, operands, *at, frames)? {
                        values.into_iter().zip(results).for_each(|(value, &place)| frames.store(place, value));
                        continue;
                    }
                    let callee_code = program.code(*callee);
                    frames.call((function, next), callee_code, operands).map_err(Stop::at(*at))?;
                    self.enter(*at);
                    (function, code, next) = (*callee, callee_code, 0);
                }
                Line::Step { function: callee, operands, at } => {
                    self.count(*at)?;
                    (function, code, next) = match self.step(*callee, operands, *at, frames)? {
                        None => (*callee, program.code(*callee), 0),
                        Some(values) => match self.end(values, frames)? {
                            Ended::Next(id, line) => (id, program.code(id), line),
                            Ended::All(values) => return Ok(values),
                        },
                    };
                }
                Line::Each(line) => {
                    self.count(line.at)?;
                    if let Some(callee) = self.each(line, (function, next), frames)? {
                        (function, code, next) = (callee, program.code(callee), 0);
                    }
                }
                Line::Jump(target) => next = *target,
                Line::Move(moves) => {
                    for &(source, slot) in moves {
                        let value = frames.read(source);
                        frames.store(Some(slot), value);
                    }
                }
                Line::Drop(slots) => frames.clear(slots),
                Line::Trim(slots) => frames.trim(slots, self.engine),
                Line::Return(sources) if frames.leaf().is_some() => {
                    let values = sources.iter().map(|&source| frames.read(source)).collect();
                    if let Ended::Next(id, line) = self.end(values, frames)? {
                        (function, code, next) = (id, program.code(id), line);
                    }
                }
                Line::Return(sources) => match frames.caller() {
                    None => return Ok(sources.iter().map(|&source| frames.read(source)).collect()),
                    Some((caller, line)) => {
                        self.leave();
                        (function, code, next) = (caller, program.code(caller), line);
                        frames.return_to_caller(sources, code.results_before(line));
                    }
                },
            }
        }
    }

    /// Takes a step of a loop. Where native code does it, and what comes after it, these are the results of the loop.
    fn step(
        &mut self,
        function: FunctionId,
        operands: &[Source],
        at: Place,
        frames: &mut Frames<E>,
    ) -> Result<Option<Vec<SlotOf<E>>>, Stop> {
        if self.meets_bound(function, frames) {
            return Ok(Some(operands.iter().map(|&operand| frames.read(operand)).collect()));
        }
        if let Some(results) = self.serial_call(function, operands, at, frames).map_err(Stop::of_step)? {
            return Ok(Some(results));
        }
        let code = self.program.code(function);
        let stepped = match self.bounded_turns(function, operands, at, frames).map_err(Stop::of_step)? {
            Turns::None => frames.step(code, operands),
            Turns::Some(values) if self.meets_bound(function, frames) => return Ok(Some(values)),
            Turns::Some(values) => frames.step_with(code, values),
            Turns::All(results, _) => return Ok(Some(results)),
        };
        stepped.map_err(Stop::at(at))?;
        if let Some(bound) = self.bound_of(function, frames) {
            bound.left -= 1;
        }
        Ok(None)
    }

    /// Where to leave a loop, if it is one to be left.
    fn bound_of(&mut self, function: FunctionId, frames: &Frames<E>) -> Option<&mut shared::Bound> {
        self.bound.as_mut().filter(|bound| bound.function == function && frames.caller().is_none())
    }

    /// Whether a loop is to be left now.
    fn meets_bound(&mut self, function: FunctionId, frames: &Frames<E>) -> bool {
        self.bound_of(function, frames).is_some_and(|bound| {
            bound.is_met = bound.left == 0;
            bound.is_met
        })
    }

    /// Ends the running function, with these results: where to go on.
    fn end(&mut self, values: Vec<SlotOf<E>>, frames: &mut Frames<E>) -> Result<Ended<E>, Stop> {
        let Some((caller, line)) = frames.caller() else { return Ok(Ended::All(values)) };
        if frames.leaf().is_some() {
            let next = self.end_instance(values, frames)?;
            return Ok(next.map_or(Ended::Next(caller, line), |serial| Ended::Next(serial, 0)));
        }
        self.leave();
        frames.return_values(values, self.program.code(caller).results_before(line));
        Ok(Ended::Next(caller, line))
    }

    /// Why an operation of a line stops the run. The element is one of all, if the line is in conditionals.
    fn failed(
        &mut self,
        operation: &Operation,
        fault: Fault,
        at: Place,
        (code, line): (&Code, usize),
        frames: &mut Frames<E>,
    ) -> Stop {
        if !execute::has_element(operation, &fault) {
            return Stop::Here(fault, at, None);
        }
        let (mut element, mut conditionals) = (fault.element, 0);
        for &(flags, side) in code.joins.get(&line).into_iter().flatten() {
            let flags = frames.read(Source::Copy(flags)).into_column();
            let length = self.engine.length(&flags);
            // Where there is no memory to look the error says less.
            let Ok(window) = self.engine.fetch(&flags, 0, length) else { break };
            let flags: &[bool] = window.elements.elements();
            let mut own = (0..length).filter(|&index| flags[index] == side);
            let Some(outer) = own.nth(element) else { break };
            (element, conditionals) = (outer, conditionals + 1);
        }
        Stop::Here(Fault { element, ..fault }, at, Some(conditionals))
    }

    /// Instructions executed, in all ways.
    pub fn all_instructions(&self) -> u64 {
        self.instructions + self.evaluator.instructions
    }

    /// What native code did, in all ways.
    pub fn all_steps(&self) -> u64 {
        self.steps + self.evaluator.steps
    }

    /// Counts an instruction, and stops where the user wants that.
    pub(super) fn count(&mut self, at: Place) -> Result<(), Stop> {
        self.at(at);
        self.instructions += 1;
        self.check_interrupt(at)
    }

    fn check_interrupt(&self, at: Place) -> Result<(), Stop> {
        match self.settings.interrupt {
            Some(flag) if flag.load(Relaxed) => Err(Stop::at(at)(Failure::Interrupted)),
            _ if self.settings.member.is_some_and(|member| member.is_too_late()) => {
                Err(Stop::at(at)(Failure::Interrupted))
            }
            _ => Ok(()),
        }
    }

    /// Runs a group at once, if the engine can. `lines` are its instructions.
    fn group(&mut self, line: &GroupLine, lines: &[Line], frames: &mut Frames<E>) -> Result<bool, Stop> {
        if !self.engine.runs_groups() {
            return Ok(false);
        }
        self.at(line.at);
        let mut operands: Vec<SlotOf<E>> = line.operands.iter().map(|&operand| frames.read(operand)).collect();
        let Some(results) = self.engine.group(&line.group, &mut operands) else {
            // Its instructions need what has left the frame.
            frames.put_back(&line.operands, operands);
            return Ok(false);
        };
        self.group_has_run(lines);
        self.instructions += line.group.members() as u64;
        let results = results.map_err(Stop::of(line.at))?;
        self.check_interrupt(line.at)?;
        results.into_iter().zip(&line.results).for_each(|(value, &place)| frames.store(place, value));
        Ok(true)
    }
}

/// The error of what is done around the instances of the `each` at a place; what led there is known further out.
pub(super) fn outside_instances(at: Place) -> impl Fn(Fault) -> RuntimeError + Copy {
    move |Fault { failure, .. }| RuntimeError::at(at.span, failure)
}

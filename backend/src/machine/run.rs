//! The loop over the lines of decoded functions.
//!
//! Calls, and the instances of an `each` that are run one after another, are frames on a stack of the machine's own; only
//! where instances are dealt out to workers does each worker have a loop and a stack for itself.

use super::frames::{Frames, Leaf};
use super::leaf::{self, Gathered, Split};
use super::{Limits, execute, outside};
use crate::decode::{EachLine, GroupLine, Line, Loaded, Source};
use crate::engine::{Engine, Fault};
use crate::error::{Instance, RuntimeError};
use crate::native::Native;
use crate::profile::Profile;
use crate::scalar::Evaluator;
use crate::strategy::{self, Sizes, Strategy};
use crate::value::{Slot, SlotOf};
use nesl_prim::{Element, Failure, Host, ScalarOp};
use nesl_span::Span;
use nesl_vcode::FunctionId;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Tasks for each worker, where instances are dealt out: enough to even out instances that take longer than others.
const TASKS: usize = 8;

/// What holds for all workers of a run.
#[derive(Clone, Copy)]
pub(super) struct Settings<'a> {
    pub limits: Limits,
    pub strategy: Strategy,
    pub native: Native,
    pub interrupt: Option<&'a AtomicBool>,
}

/// A run in progress.
pub(super) struct Run<'a, E: Engine> {
    pub program: &'a Loaded,
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
    /// Where it spends its time, if anybody wants to know.
    pub profile: Option<&'a mut Profile>,
}

/// Why a run ended early.
pub(super) enum Stop {
    /// Here; and whether the element of the fault means something.
    Here(Fault, Span, bool),
    /// In a call at this place, or in an instance of the `each` there, that ran elsewhere: in the evaluator or on a worker.
    Inside(Box<RuntimeError>, Option<Span>),
}

impl Stop {
    pub(super) fn at(span: Span) -> impl Fn(Failure) -> Stop {
        move |failure| Stop::Here(failure.into(), span, false)
    }

    fn of(span: Span) -> impl Fn(Fault) -> Stop {
        move |fault| Stop::Here(fault, span, false)
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
        let results = self.lines(function, inputs, &mut frames);
        self.leave_to(depth);
        results.map_err(|stop| {
            let (calls, instances) = (frames.calls(self.program), frames.instances());
            match stop {
                Stop::Here(fault, span, element) => RuntimeError {
                    failure: fault.failure,
                    span,
                    calls,
                    element: element.then_some(fault.element),
                    instances,
                },
                Stop::Inside(error, place) => error.inside(place, calls, instances),
            }
        })
    }

    fn lines(
        &mut self,
        mut function: FunctionId,
        inputs: Vec<SlotOf<E>>,
        frames: &mut Frames<E>,
    ) -> Result<Vec<SlotOf<E>>, Stop> {
        let program = self.program;
        let mut code = program.code(function);
        let mut next = 0;
        frames.begin(code, inputs).map_err(Stop::at(code.span))?;
        loop {
            let line = &code.lines[next];
            next += 1;
            match line {
                Line::Execute { operation, operands, result, span } => {
                    self.count(*span)?;
                    let value = execute::execute(self.engine, operation, operands, frames).map_err(|fault| {
                        let (fault, span, element) = execute::place(operation, fault, *span);
                        Stop::Here(fault, span, element)
                    })?;
                    frames.store(*result, value);
                }
                Line::Group(line) => {
                    if self.group(line, &code.lines[next..line.after], frames)? {
                        next = line.after;
                    }
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
                    *self.printed = true;
                    let Some(host) = self.host.as_deref_mut() else {
                        panic!("an instance acts on the world outside: flattening excludes that")
                    };
                    let operands = operands.iter().map(|&operand| frames.read(operand)).collect();
                    let values = outside::perform(self.engine, host, *op, operands).map_err(Stop::of(*span))?;
                    for (&result, value) in results.iter().zip(values) {
                        frames.store(result, value);
                    }
                }
                Line::Call { function: callee, operands, results, span } if program.is_scalar_only(*callee) => {
                    self.count(*span)?;
                    self.scalar_call(*callee, operands, results, *span, frames)?;
                }
                Line::Call { function: callee, operands, span, .. } => {
                    self.count(*span)?;
                    let callee_code = program.code(*callee);
                    frames.call((function, next), callee_code, operands).map_err(Stop::at(*span))?;
                    self.enter(*span);
                    (function, code, next) = (*callee, callee_code, 0);
                }
                Line::Each(line) => {
                    self.count(line.span)?;
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
                Line::Return(sources) if frames.leaf().is_some() => {
                    let values = sources.iter().map(|&source| frames.read(source)).collect();
                    if self.end_instance(values, frames)? {
                        next = 0;
                    } else if let Some((caller, line)) = frames.caller() {
                        self.end_each(frames)?;
                        (function, code, next) = (caller, program.code(caller), line);
                    }
                }
                Line::Return(sources) => match frames.caller() {
                    None => return Ok(sources.iter().map(|&source| frames.read(source)).collect()),
                    Some((caller, line)) => {
                        self.leave();
                        (function, code, next) = (caller, program.code(caller), line);
                        let results = match &code.lines[line - 1] {
                            Line::Call { results, .. } => results,
                            Line::Each(line) => &line.results,
                            other => unreachable!("a caller goes on after its call, not after {other:?}"),
                        };
                        frames.return_to_caller(sources, results);
                    }
                },
            }
        }
    }

    /// Instructions executed, in all ways.
    pub fn all_instructions(&self) -> u64 {
        self.instructions + self.evaluator.instructions
    }

    /// Counts an instruction, and stops where the user wants that.
    fn count(&mut self, span: Span) -> Result<(), Stop> {
        self.at(span);
        self.instructions += 1;
        self.check_interrupt(span)
    }

    fn check_interrupt(&self, span: Span) -> Result<(), Stop> {
        match self.settings.interrupt {
            Some(flag) if flag.load(Relaxed) => Err(Stop::at(span)(Failure::Interrupted)),
            _ => Ok(()),
        }
    }

    /// Runs a group at once, if the engine can. `lines` are its instructions.
    fn group(&mut self, line: &GroupLine, lines: &[Line], frames: &mut Frames<E>) -> Result<bool, Stop> {
        if !self.engine.runs_groups() {
            return Ok(false);
        }
        self.at(line.span);
        let mut operands: Vec<SlotOf<E>> = line.operands.iter().map(|&operand| frames.read(operand)).collect();
        let Some(results) = self.engine.group(&line.group, &mut operands) else {
            // Its instructions need what has left the frame.
            for (value, &operand) in operands.into_iter().zip(&line.operands) {
                if let Source::Take(place) = operand {
                    frames.store(Some(place), value);
                }
            }
            return Ok(false);
        };
        self.group_has_run(lines);
        self.instructions += line.group.members() as u64;
        self.check_interrupt(line.span)?;
        results.into_iter().zip(&line.results).for_each(|(value, &place)| frames.store(place, value));
        Ok(true)
    }

    /// Runs an `each` or begins it: then the function to go on with has its frame.
    fn each(
        &mut self,
        line: &Arc<EachLine>,
        here: (FunctionId, usize),
        frames: &mut Frames<E>,
    ) -> Result<Option<FunctionId>, Stop> {
        let (each, span) = (&line.each, line.span);
        let sizes = self.sizes(line, frames).map_err(Stop::of(span))?;
        if sizes.instances == 0 {
            line.operands.iter().for_each(|&operand| drop(frames.read(operand)));
            let results = leaf::nothing(self.engine, each).map_err(Stop::of(span))?;
            line.results.iter().zip(results).for_each(|(&place, value)| frames.store(place, value));
            return Ok(None);
        }
        if !self.settings.strategy.is_leaf(sizes, self.engine.workers(), self.turn) {
            frames.call(here, self.program.code(each.lifted), &line.operands).map_err(Stop::at(span))?;
            self.enter(span);
            return Ok(Some(each.lifted));
        }
        let shares = match self.engine.workers() > 1 && strategy::is_shared(sizes) {
            true => Some(self.shares(line, sizes, frames).map_err(Stop::of(span))?),
            false => None,
        };
        let operands: Vec<SlotOf<E>> = line.operands[1..].iter().map(|&operand| frames.read(operand)).collect();
        let outside = frames.active().map_err(Stop::at(span))?;
        if let Some(native) = self.native(line, sizes, &operands).map_err(Stop::of(span))? {
            let results = if let Some(shares) = shares {
                self.shared(line, shares, |run, range| run.native_instances(line, &native, &operands, range, outside))?
            } else {
                let results = self.native_instances(line, &native, &operands, 0..sizes.instances, outside);
                results.map_err(|error| Stop::Inside(Box::new(error), self.program.call_place(line)))?
            };
            line.results.iter().zip(results).for_each(|(&place, value)| frames.store(place, value));
            return Ok(None);
        }
        if sizes.scalar_only {
            let results = if let Some(shares) = shares {
                self.shared(line, shares, |run, range| run.scalar_instances(line, &operands, range, outside))?
            } else {
                let results = self.scalar_instances(line, &operands, 0..sizes.instances, outside);
                results.map_err(|error| Stop::Inside(Box::new(error), self.program.call_place(line)))?
            };
            line.results.iter().zip(results).for_each(|(&place, value)| frames.store(place, value));
            return Ok(None);
        }
        let arguments = Arc::new(Split::new(self.engine, &each.arguments, operands).map_err(Stop::of(span))?);
        if let Some(shares) = shares {
            let results = self.shared(line, shares, |run, range| run.instances(line, &arguments, range))?;
            line.results.iter().zip(results).for_each(|(&place, value)| frames.store(place, value));
            return Ok(None);
        }
        let results = each.results.iter().map(Gathered::instances).collect();
        let first = arguments.instance(self.engine, 0).map_err(Stop::of(span))?;
        let leaf = Leaf { line: Arc::clone(line), arguments, index: 0, end: sizes.instances, results };
        frames.call_each(here, leaf).map_err(Stop::at(span))?;
        self.enter(span);
        frames.begin_instance(self.program.code(each.serial), first).map_err(Stop::at(span))?;
        Ok(Some(each.serial))
    }

    /// What the choice of a strategy depends on.
    fn sizes(&mut self, line: &EachLine, frames: &Frames<E>) -> Result<Sizes, Fault> {
        let count = i64::from_value(frames.scalar(line.operands[0]));
        let instances = usize::try_from(count).unwrap_or_else(|_| panic!("{count} instances"));
        let mut sizes = Sizes { instances, at_hand: true, ..Sizes::default() };
        if instances == 0 {
            return Ok(sizes);
        }
        for operand in &line.operands[1..] {
            if let Source::Copy(place) | Source::Take(place) = operand {
                sizes.at_hand &= self.engine.is_at_hand(frames.peek(*place));
            }
        }
        for &position in &line.sequences {
            if let Source::Copy(place) | Source::Take(place) = line.operands[position]
                && let Slot::Descriptor(segments) = frames.peek(place)
            {
                sizes.elements = sizes.elements.saturating_add(self.engine.total(segments)?);
            }
        }
        sizes.scalar_only = self.program.is_scalar_only(line.each.serial);
        sizes.native = self.settings.native != Native::Off
            && self.engine.has_addresses()
            && self.program.native.is_supported(self.program.program(), line.each.serial);
        sizes.recursive = sizes.native && self.program.native.is_recursive(self.program.program(), line.each.serial);
        if sizes.native && sizes.elements > 0 {
            for lengths in self.lengths(line, frames)? {
                let longest = i64::from_value(self.engine.reduce(ScalarOp::MaximumInt, &lengths)?);
                sizes.largest = sizes.largest.saturating_add(usize::try_from(longest).unwrap_or(0));
            }
        }
        Ok(sizes)
    }

    /// For each sequence that varies by instance, how long it is in each.
    fn lengths(&mut self, line: &EachLine, frames: &Frames<E>) -> Result<Vec<E::Column>, Fault> {
        let mut columns = Vec::new();
        for &position in &line.sequences {
            if let Source::Copy(place) | Source::Take(place) = line.operands[position]
                && let Slot::Descriptor(segments) = frames.peek(place)
            {
                columns.push(self.engine.lengths(segments)?);
            }
        }
        Ok(columns)
    }

    /// The instances of each task, so that the tasks have about as much to do as far as the lengths of sequences tell.
    fn shares(&mut self, line: &EachLine, sizes: Sizes, frames: &Frames<E>) -> Result<Vec<Range<usize>>, Fault> {
        let mut weights = vec![1u64; sizes.instances];
        for column in self.lengths(line, frames)? {
            let lengths = self.engine.fetch(&column, 0, sizes.instances)?.elements.to_words();
            weights.iter_mut().zip(lengths).for_each(|(weight, length)| *weight = weight.saturating_add(length));
        }
        let tasks = sizes.instances.min(self.engine.workers() * TASKS);
        Ok(strategy::shares(&weights, tasks))
    }

    /// Takes the results of the instance that has ended, and begins the next one if there is one.
    fn end_instance(&mut self, values: Vec<SlotOf<E>>, frames: &mut Frames<E>) -> Result<bool, Stop> {
        let Some(leaf) = frames.leaf() else { unreachable!("an instance that ends is one of an each") };
        let span = leaf.line.span;
        gather(self.engine, &mut leaf.results, values).map_err(Stop::of(span))?;
        leaf.index += 1;
        if leaf.index == leaf.end {
            return Ok(false);
        }
        let arguments = leaf.arguments.instance(self.engine, leaf.index).map_err(Stop::of(span))?;
        let code = self.program.code(leaf.line.each.serial);
        frames.begin_instance(code, arguments).map_err(Stop::at(span))?;
        Ok(true)
    }

    /// Hands the results of all instances to the caller.
    fn end_each(&mut self, frames: &mut Frames<E>) -> Result<(), Stop> {
        let Some(leaf) = frames.leaf() else { unreachable!("an each that ends has instances") };
        let (line, results) = (Arc::clone(&leaf.line), std::mem::take(&mut leaf.results));
        self.leave();
        self.at(line.span);
        let values = finish(self.engine, results).map_err(Stop::of(line.span))?;
        frames.end_each(values, &line.results);
        Ok(())
    }

    /// The results of all instances, dealt out to workers that run some of them each.
    fn shared(
        &mut self,
        line: &EachLine,
        shares: Vec<Range<usize>>,
        run_instances: impl Fn(&mut Run<'_, E>, Range<usize>) -> Result<Vec<SlotOf<E>>, RuntimeError> + Sync,
    ) -> Result<Vec<SlotOf<E>>, Stop> {
        let (program, settings, each) = (self.program, self.settings, &line.each);
        let profile = self.profile_for_worker();
        let mut outcomes = self.engine.in_parallel(shares, |range, engine| {
            let (mut printed, mut turn, mut profile) = (false, 0, profile.clone());
            let (printed, turn) = (&mut printed, &mut turn);
            let evaluator = Evaluator::new(program, settings.limits, settings.native, settings.interrupt);
            let (instructions, own) = (0, profile.as_mut());
            let mut run =
                Run { program, engine, host: None, printed, settings, turn, evaluator, instructions, profile: own };
            run.begin_profile();
            let results = run_instances(&mut run, range);
            run.end_profile();
            (results, run.all_instructions(), profile)
        });
        self.workers_have_run(outcomes.iter_mut().filter_map(|(.., profile)| profile.take()));
        let mut results: Vec<Gathered<E>> = each.results.iter().map(Gathered::batches).collect();
        for (values, instructions, _) in outcomes {
            self.instructions += instructions;
            // Of several failing instances the first counts, as if they had run one after another.
            let values = values.map_err(|error| Stop::Inside(Box::new(error), program.call_place(line)))?;
            gather(self.engine, &mut results, values).map_err(Stop::of(line.span))?;
        }
        finish(self.engine, results).map_err(Stop::of(line.span))
    }

    /// The results of some instances, one after another.
    pub(super) fn instances(
        &mut self,
        line: &EachLine,
        arguments: &Split<E>,
        range: Range<usize>,
    ) -> Result<Vec<SlotOf<E>>, RuntimeError> {
        let each = &line.each;
        let outside = outside_instances(line.span);
        let mut results: Vec<Gathered<E>> = each.results.iter().map(Gathered::instances).collect();
        for index in range {
            self.at(line.span);
            let inputs = arguments.instance(self.engine, index).map_err(outside)?;
            let depth = self.enter(line.span);
            let values = self.function(each.serial, inputs).map_err(|mut error| {
                error.instances.insert(0, Instance { index, place: line.span });
                error
            })?;
            self.leave_to(depth);
            self.at(line.span);
            gather(self.engine, &mut results, values).map_err(outside)?;
        }
        finish(self.engine, results).map_err(outside)
    }
}

/// The error of what is done around the instances of the `each` at a place.
pub(super) fn outside_instances(span: Span) -> impl Fn(Fault) -> RuntimeError + Copy {
    move |Fault { failure, .. }| RuntimeError { failure, span, calls: Vec::new(), element: None, instances: Vec::new() }
}

/// Adds the registers of an instance, or of a batch of them, to the results so far.
pub(super) fn gather<E: Engine>(
    engine: &mut E,
    results: &mut [Gathered<E>],
    values: Vec<SlotOf<E>>,
) -> Result<(), Fault> {
    let mut values = values.into_iter();
    results.iter_mut().try_for_each(|result| result.add(engine, &mut values))
}

/// The registers of the results of all instances.
pub(super) fn finish<E: Engine>(engine: &mut E, results: Vec<Gathered<E>>) -> Result<Vec<SlotOf<E>>, Fault> {
    let mut slots = Vec::new();
    results.into_iter().try_for_each(|result| result.finish(engine, &mut slots))?;
    Ok(slots)
}

//! How an `each` runs: the choice among the strategies, and the way from its operands to its results.
//!
//! [`Run::each`] is the line of a function; [`Run::whole`] the same `each` for instances that came here from elsewhere:
//! one rank's share of those that ranks have divided among them.

mod instances;
mod tasks;
mod trial;

use super::frames::{Frames, Leaf};
use super::leaf::{Gathered, Split};
use super::run::{Run, Stop, outside_instances, worker};
use crate::data::slot::Slot;
use crate::engine::division::{Deal, Division, Own};
use crate::engine::error::{Instance, RuntimeError};
use crate::engine::native::Native;
use crate::engine::value::SlotOf;
use crate::engine::{Engine, Fault};
use crate::machine::decode::EachLine;
use crate::machine::evaluator::Active;
use crate::machine::strategy::{Growth, Sizes, Strategy};
use nesl_prim::{Element, Failure, ScalarOp};
use nesl_vcode::{FunctionId, RegisterType, Take};
use std::ops::Range;
use std::sync::Arc;
use tasks::Task;
use trial::Trial;

/// What has become of an `each`.
enum Begun<E: Engine> {
    /// Its results.
    Done(Vec<SlotOf<E>>),
    /// The lifted function is to run on these: one more level, of so many instances, if it is recursive.
    Lifted(Vec<SlotOf<E>>, Growth),
    /// The serial function is to run on each instance of these, on the machine's lines. The operands are kept where no
    /// other instance is around.
    OneByOne(Split<E>, Sizes, Option<Vec<SlotOf<E>>>),
}

/// What is around an `each`.
struct Around {
    /// What the instance reads that runs it, if it is one.
    read: Option<usize>,
    /// How instances grow in the lifted levels of recursion.
    growth: Growth,
}

impl<E: Engine> Run<'_, E> {
    /// Runs an `each` or begins it: then the function to go on with has its frame.
    pub(super) fn each(
        &mut self,
        line: &Arc<EachLine>,
        here: (FunctionId, usize),
        frames: &mut Frames<E>,
    ) -> Result<Option<FunctionId>, Stop> {
        let at = line.at;
        let values: Vec<SlotOf<E>> = line.operands.iter().map(|&operand| frames.read(operand)).collect();
        let around = Around { read: frames.read_around(), growth: frames.growth() };
        // Where it may be cut short for a pause, it is to begin again later.
        let kept = self.may_pause().then(|| values.clone());
        let begun = self.begin_each(line, values, around, || frames.active()).map_err(|stop| {
            let Some(kept) = kept else { return stop };
            let stop = self.cut_short(stop, here);
            if matches!(stop, Stop::Pause(..)) {
                frames.put_back(&line.operands, kept);
            }
            stop
        });
        match begun? {
            Begun::Done(results) => {
                line.results.iter().zip(results).for_each(|(&place, value)| frames.store(place, value));
                Ok(None)
            }
            Begun::Lifted(values, growth) => {
                let code = self.program.code(line.lifted);
                frames.call_with(here, code, values, growth).map_err(Stop::at(at))?;
                self.enter(at);
                Ok(Some(line.lifted))
            }
            Begun::OneByOne(arguments, Sizes { instances, read, .. }, operands) => {
                let results = Gathered::new(&line.plan.results);
                let first = arguments.instance(self.engine, 0).map_err(Stop::of(at))?;
                let arguments = Arc::new(arguments);
                let leaf =
                    Leaf { line: Arc::clone(line), arguments, index: 0, end: instances, read, results, operands };
                frames.call_each(here, leaf).map_err(Stop::at(at))?;
                self.enter(at);
                frames.begin_instance(self.program.code(line.serial), first).map_err(Stop::at(at))?;
                Ok(Some(line.serial))
            }
        }
    }

    /// The results of an `each` on these operands, from its beginning to its end.
    ///
    /// # Errors
    /// Where an instance fails; and which one, if they ran one after another.
    pub(super) fn whole(&mut self, line: &Arc<EachLine>, values: Vec<SlotOf<E>>) -> Result<Vec<SlotOf<E>>, WholeError> {
        let instances = instances_in::<E>(&values);
        let no_more = |error| WholeError { instance: None, error: Box::new(error) };
        let one_of_them = |error: RuntimeError| WholeError {
            instance: error
                .instances
                .first()
                .filter(|instance| instance.place == line.at.span)
                .map(|first| first.index),
            error: Box::new(error),
        };
        let around = Around { read: Some(0), growth: Growth::default() };
        match self.begin_each(line, values, around, || Ok(Active::default())) {
            Ok(Begun::Done(results)) => Ok(results),
            Ok(Begun::Lifted(values, _)) => {
                let depth = self.enter(line.at);
                let results = self.function(line.lifted, values).map_err(no_more)?;
                self.leave_to(depth);
                Ok(results)
            }
            Ok(Begun::OneByOne(arguments, ..)) => self.instances(line, &arguments, 0..instances).map_err(one_of_them),
            Err(Stop::Here(fault, at, _)) => Err(no_more(outside_instances(at)(fault))),
            Err(Stop::Pause(..)) => unreachable!("what is inside an each does not pause"),
            Err(Stop::Inside(error, _)) => Err(one_of_them(*error)),
        }
    }

    /// Runs an `each` as far as that does not take the loop over lines. `outside` are the calls that are active.
    fn begin_each(
        &mut self,
        line: &Arc<EachLine>,
        mut values: Vec<SlotOf<E>>,
        around: Around,
        outside: impl Fn() -> Result<Active, Failure>,
    ) -> Result<Begun<E>, Stop> {
        let at = line.at;
        let mut sizes = self.sizes(line, &values).map_err(Stop::of(at))?;
        sizes.is_stalled = around.growth.is_stalled();
        if sizes.instances == 0 {
            drop(values);
            let nothing = Gathered::new(&line.plan.results).finish(self.engine);
            return nothing.map(Begun::Done).map_err(Stop::of(at));
        }
        let is_outermost = around.read.is_none() && !self.settings.within;
        if let Some(results) = self.divided(line, sizes, &values) {
            return results.map(Begun::Done).map_err(|error| {
                let stop = self.inside(line, error);
                self.in_order(line, is_outermost.then_some(values), stop)
            });
        }
        let workers = self.engine.workers();
        let mut is_leaf = self.settings.strategy.is_leaf(sizes, workers, self.engine.rank().1, self.turn);
        let is_around_all = around.read.is_none() && !self.settings.within;
        if is_leaf && is_around_all && self.settings.strategy.is_to_grow(sizes, workers) {
            let trial = match around.growth.has_begun() {
                true => Trial::TooLong,
                false => self.trial(line, sizes, &values[1..], outside().map_err(Stop::at(at))?)?,
            };
            match trial {
                Trial::Done(results) => return Ok(Begun::Done(results)),
                Trial::TooLong => is_leaf = false,
                Trial::Failed => {}
            }
        }
        if !is_leaf {
            let growth = if sizes.recursive { around.growth.with(sizes.instances) } else { around.growth };
            return Ok(Begun::Lifted(values, growth));
        }
        let kept = is_outermost.then(|| values.clone());
        sizes.native &= !sizes.take_all_workers_each(self.engine.workers(), around.read);
        sizes.native = sizes.native && self.attempts.is_next(line.serial);
        let shares = self.shares(line, sizes, &values).map_err(Stop::of(at))?;
        let operands = values.split_off(1);
        let outside = outside().map_err(Stop::at(at))?;
        if let Some(native) = self.native(line, sizes, &operands).map_err(Stop::of(at))? {
            let run = |run: &mut Run<'_, E>, task| native.instances(run, (line, &operands), task, outside);
            let results = match self.dealt_out(line, sizes, (shares, true), run) {
                Ok(results) => results,
                Err(stop) => return Err(self.in_order(line, kept, stop)),
            };
            // Nobody reads these any more: their memory is free for what the results are put together in.
            drop((native, operands, kept));
            return results.finish(self.engine).map(Begun::Done).map_err(Stop::of(at));
        }
        if sizes.scalar_only {
            let run = |run: &mut Run<'_, E>, task: Task| {
                Ok(vec![run.scalar_instances(line, &operands, task.range, outside)?])
            };
            return match self.dealt_out(line, sizes, (shares, false), run) {
                Ok(results) => results.finish(self.engine).map(Begun::Done).map_err(Stop::of(at)),
                Err(stop) => Err(self.in_order(line, kept, stop)),
            };
        }
        let arguments = Split::new(self.engine, &line.plan, operands).map_err(Stop::of(at))?;
        match shares {
            None => Ok(Begun::OneByOne(arguments, sizes, kept)),
            shares => {
                let run = |run: &mut Run<'_, E>, task: Task| Ok(vec![run.instances(line, &arguments, task.range)?]);
                match self.dealt_out(line, sizes, (shares, false), run) {
                    Ok(results) => results.finish(self.engine).map(Begun::Done).map_err(Stop::of(at)),
                    Err(stop) => Err(self.in_order(line, kept, stop)),
                }
            }
        }
    }

    /// What stops an `each` whose instances ran one after another, on these operands if no other one is around.
    fn in_order(&mut self, line: &Arc<EachLine>, operands: Option<Vec<SlotOf<E>>>, stop: Stop) -> Stop {
        match (stop, operands) {
            (Stop::Inside(error, place), Some(operands)) => {
                let first = self.earlier(line, operands, &error).map(Box::new);
                Stop::Inside(first.unwrap_or(error), place)
            }
            (stop, _) => stop,
        }
    }

    /// The error that counts rather than that of an instance of an `each` which ran one after another; none if it is
    /// the same. The first operation counts that fails on any instance, so that all at once say which that is.
    pub(super) fn earlier(
        &mut self,
        line: &EachLine,
        operands: Vec<SlotOf<E>>,
        error: &RuntimeError,
    ) -> Option<RuntimeError> {
        if !error.failure.is_of_program() {
            return None;
        }
        let settings = self.settings;
        (self.settings.strategy, self.settings.within) = (Strategy::Lift, true);
        let depth = self.enter(line.at);
        let outcome = self.function(line.lifted, operands);
        self.leave_to(depth);
        self.settings = settings;
        // Where all at once need more than there is, the one that is known has to do.
        outcome.err().filter(|first| {
            first.failure.is_of_program() && (first.failure != error.failure || first.span != error.span)
        })
    }

    /// What has become of an error of an instance of an `each`.
    pub(super) fn inside(&self, line: &EachLine, error: RuntimeError) -> Stop {
        Stop::Inside(Box::new(error), self.program.call_place(line))
    }

    /// The results of the instances that ranks divide among them, if they do.
    fn divided(
        &mut self,
        line: &Arc<EachLine>,
        sizes: Sizes,
        values: &[SlotOf<E>],
    ) -> Option<Result<Vec<SlotOf<E>>, RuntimeError>> {
        let deal = self.settings.strategy.deal(sizes, self.engine.rank().1, self.turn)?;
        let (program, mut settings) = (self.local, self.settings);
        let inside = (self.profile_for_worker(), self.attempts.clone());
        settings.strategy = settings.strategy.after_division();
        if let (Some(pause), true) = (settings.pause, deal != Deal::Everywhere) {
            // What every rank does by itself may end on any of them.
            settings.cut = Some(pause.cut());
        }
        let (mut instructions, mut steps, mut profiled) = (0, 0, Vec::new());
        let (plan, instances, operands) = (&line.plan, sizes.instances, &values[1..]);
        let division = Division { plan, instances, operands, deal, span: line.at.span };
        let results = self.engine.divide(&division, |engine, own: Own<E::Local>| {
            let did = worker::run(program, settings, engine, inside.clone(), |run| {
                if own.instances() == 0 {
                    let nothing = Gathered::new(&line.plan.results).finish(run.engine);
                    return nothing.map_err(outside_instances(line.at)).map_err(|error| (usize::MAX, error));
                }
                let values =
                    std::iter::once(Slot::Scalar((own.instances() as i64).to_value())).chain(own.operands.clone());
                run.whole(line, values.collect()).map_err(|WholeError { instance, mut error }| {
                    let global = own.global(instance.unwrap_or(0));
                    match (instance, error.instances.first_mut()) {
                        (Some(_), Some(first)) => first.index = global,
                        // The elements of these instances are not those of all.
                        _ => error.element = None,
                    }
                    (global, *error)
                })
            });
            instructions += did.instructions;
            steps += did.steps;
            profiled.extend(did.profile);
            did.outcome
        });
        self.workers_have_run(profiled.into_iter());
        self.instructions += instructions;
        self.steps += steps;
        results
    }

    /// What the choice of a strategy depends on.
    fn sizes(&mut self, line: &EachLine, values: &[SlotOf<E>]) -> Result<Sizes, Fault> {
        let mut sizes = Sizes { instances: instances_in::<E>(values), at_hand: true, ..Sizes::default() };
        if sizes.instances == 0 {
            return Ok(sizes);
        }
        sizes.at_hand = values[1..].iter().all(|value| self.engine.is_at_hand(value));
        for &position in &line.sequences {
            if let Slot::Descriptor(segments) = &values[position] {
                sizes.elements = sizes.elements.saturating_add(self.engine.total(segments)?);
            }
        }
        for (operand, value) in line.plan.operands.iter().zip(&values[1..]) {
            if let (Take::Same, Slot::Column(column)) = (operand.take, value) {
                sizes.read = sizes.read.max(self.engine.length(column));
            }
        }
        let (program, serial) = (self.program.program(), line.serial);
        sizes.scalar_only = self.program.is_scalar_only(serial);
        sizes.native = self.settings.native != Native::Off
            && self.engine.has_addresses()
            && self.program.native.is_supported(program, serial);
        sizes.recursive = self.program.native.is_recursive(program, serial);
        sizes.branching = sizes.recursive && self.program.may_branch(serial);
        sizes.rows = program.functions[serial.0 as usize].result_types().any(|ty| ty == RegisterType::Descriptor);
        sizes.uniform = sizes.recursive && line.sequences.is_empty() && self.program.is_uniform(line.lifted);
        if sizes.native && sizes.elements > 0 {
            for lengths in self.lengths(line, values)? {
                let longest = i64::from_value(self.engine.reduce(ScalarOp::MaximumInt, &lengths)?);
                sizes.largest = sizes.largest.saturating_add(usize::try_from(longest).unwrap_or(0));
            }
        }
        Ok(sizes)
    }

    /// For each sequence that varies by instance, how long it is in each.
    pub(super) fn lengths(&mut self, line: &EachLine, values: &[SlotOf<E>]) -> Result<Vec<E::Column>, Fault> {
        let mut columns = Vec::new();
        for &position in &line.sequences {
            if let Slot::Descriptor(segments) = &values[position] {
                columns.push(self.engine.lengths(segments)?);
            }
        }
        Ok(columns)
    }

    /// Takes the results of the instance that has ended, and begins the next one if there is one: then the function to
    /// go on with. Otherwise it hands the results of all instances to the caller.
    pub(super) fn end_instance(
        &mut self,
        values: Vec<SlotOf<E>>,
        frames: &mut Frames<E>,
    ) -> Result<Option<FunctionId>, Stop> {
        let Some(leaf) = frames.leaf() else { unreachable!("an instance that ends is one of an each") };
        let (at, serial) = (leaf.line.at, leaf.line.serial);
        leaf.results.add(self.engine, values).map_err(Stop::of(at))?;
        leaf.index += 1;
        if leaf.index < leaf.end {
            let arguments = leaf.arguments.instance(self.engine, leaf.index).map_err(Stop::of(at))?;
            frames.begin_instance(self.program.code(serial), arguments).map_err(Stop::at(at))?;
            return Ok(Some(serial));
        }
        let line = Arc::clone(&leaf.line);
        let results = std::mem::replace(&mut leaf.results, Gathered::new(&[]));
        self.leave();
        self.at(line.at);
        let values = results.finish(self.engine).map_err(Stop::of(line.at))?;
        frames.end_each(values, &line.results);
        Ok(None)
    }

    /// The results of some instances, one after another.
    pub(super) fn instances(
        &mut self,
        line: &EachLine,
        arguments: &Split<E>,
        range: Range<usize>,
    ) -> Result<Vec<SlotOf<E>>, RuntimeError> {
        let within = std::mem::replace(&mut self.settings.within, true);
        let results = self.instances_within(line, arguments, range);
        self.settings.within = within;
        results
    }

    fn instances_within(
        &mut self,
        line: &EachLine,
        arguments: &Split<E>,
        range: Range<usize>,
    ) -> Result<Vec<SlotOf<E>>, RuntimeError> {
        let outside = outside_instances(line.at);
        let mut results = Gathered::new(&line.plan.results);
        for index in range {
            self.at(line.at);
            let inputs = arguments.instance(self.engine, index).map_err(outside)?;
            let depth = self.enter(line.at);
            let values = self.function(line.serial, inputs).map_err(|mut error| {
                error.instances.insert(0, Instance { index, place: line.at.span });
                error
            })?;
            self.leave_to(depth);
            self.at(line.at);
            results.add(self.engine, values).map_err(outside)?;
        }
        results.finish(self.engine).map_err(outside)
    }
}

/// An error of an `each` that ran as a whole.
pub(super) struct WholeError {
    /// The instance that failed, where they ran one after another.
    instance: Option<usize>,
    error: Box<RuntimeError>,
}

/// The number of instances, which is the first operand of an `each`.
fn instances_in<E: Engine>(values: &[SlotOf<E>]) -> usize {
    values[0].as_size()
}

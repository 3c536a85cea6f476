//! A compiled program on an engine: chooses what of it to run, runs it step by step, and prints what it shows.

use crate::arguments::{self, Argument};
use crate::checkpoint::{RunPosition, Saving};
use crate::failure;
use crate::interrupt::Interrupt;
use crate::launch::{Job, Values};
use crate::limit::Limit;
use crate::options::RunOptions;
use crate::output::{Output, remark};
use crate::profile::{self, Around, heat_map, trace};
use crate::progress::{Considerate, Evaluation};
use crate::stats;
use crate::stop::Stop;
use nesl_backend::data::hold::Hold;
use nesl_backend::io::host::{Permissions, System};
use nesl_backend::{
    Engine, Limits, Loaded, Machine, Pause, Paused, Resting, RuntimeError, StepEnd, Threads, Value, Whereabouts,
};
use nesl_span::SourceMap;
use nesl_vcode::{Input, Main, Program, Shape, Step};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A run of a whole program.
pub struct Execution<'a> {
    /// The program.
    pub program: Program,
    /// The sources that its spans point to.
    pub sources: &'a SourceMap,
    /// The arguments of `main`.
    pub arguments: &'a [OsString],
    /// How the user starts this program, for usage messages: `nesl run a.nesl`.
    pub command: &'a str,
    /// How to run it.
    pub options: &'a RunOptions,
    /// What Ctrl-C does; nothing where it is left to the launcher.
    pub interrupt: Option<&'a Interrupt>,
    /// The most time that it may take, which is watched.
    pub limit: &'a Limit,
    /// When the command began.
    pub begun: Instant,
    /// How it is saved, if it is.
    pub saving: Option<Saving>,
    /// How it leaves its engine for another, if the number of its ranks may change.
    pub moving: Option<Moving<'a>>,
}

/// A run whose number of ranks may change.
pub struct Moving<'a> {
    /// Who wants it to leave its engine.
    pub pause: Arc<Pause>,
    /// The run that goes on here; none where it begins.
    pub before: Option<LeftRun>,
    /// Where it goes when it leaves.
    pub left: &'a mut Option<LeftRun>,
}

/// A run between two engines.
pub struct LeftRun {
    /// The machine, and its threads; none on a rank that comes to others.
    pub machine: Option<(Resting, Option<Threads>)>,
    /// What it holds.
    pub values: Values,
    /// Where it is.
    pub position: RunPosition,
}

/// What of a program to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Its top-level forms.
    Forms,
    /// Its `main`.
    Main,
    /// Nothing: it is asked what `main` expects.
    Help,
}

/// What of a program to run with these arguments: `main` if there are any, or if it needs none; else the expressions if
/// there are any.
///
/// # Errors
/// A usage error, if arguments and program do not go together.
pub fn choose(program: &Program, arguments: &[OsString], command: &str) -> Result<Choice, Stop> {
    if arguments::ask_for_help(&program.mains, arguments) {
        return Ok(Choice::Help);
    }
    let needs_none = |main: &Main| main.parameters.iter().all(|parameter| parameter.default.is_some());
    let is_called = program.mains.iter().any(needs_none) || arguments::takes_words(&program.mains);
    let has_expressions = program.steps.iter().any(|step| step.shown().next().is_some());
    match (program.mains.is_empty(), arguments.is_empty()) {
        (true, true) => Ok(Choice::Forms),
        (false, true) if has_expressions && !is_called => Ok(Choice::Forms),
        (false, _) => Ok(Choice::Main),
        (true, false) => {
            let command = command.trim_end_matches(" --");
            Err(Stop::usage(format!("error: this program defines no main, so it takes no arguments\nusage: {command}")))
        }
    }
}

/// The seed of a step that draws random numbers, after `index` other such steps: each draws numbers of its own.
pub fn seed_of(seed: i64, index: usize) -> i64 {
    match index {
        0 => seed,
        _ => nesl_prim::meaning::seed_split(seed, index as i64),
    }
}

impl Job for Execution<'_> {
    fn run<E: Engine>(mut self, engine: E) -> Result<(), Stop> {
        let mut saving = self.saving.take();
        let mut moving = self.moving.take();
        let mut going = moving.as_mut().and_then(|moving| moving.before.take());
        let resting = going.as_mut().and_then(|going| going.machine.take());
        let mut machine = match resting {
            Some((machine, _)) => machine.on(engine),
            None => self.machine(engine),
        };
        let pause = saving.as_ref().map(|saving| saving.requests().pause());
        if let Some(pause) = pause.or_else(|| moving.as_ref().map(|moving| Arc::clone(&moving.pause))) {
            machine.pause_for(pause);
        }
        let (start, before) = (Instant::now(), self.begun.elapsed());
        let mut leaving = None;
        let ends = (saving.as_mut(), going, moving.is_some().then_some(&mut leaving));
        let result = match self.interrupt {
            Some(interrupt) => {
                machine.set_interrupt(interrupt.flag());
                interrupt.during(|| self.evaluate(&mut machine, ends))
            }
            None => self.evaluate(&mut machine, ends),
        };
        if let (Some(moving), Some((values, position))) = (moving, leaving) {
            let (engine, machine) = machine.rest();
            *moving.left = Some(LeftRun { machine: Some((machine, engine.into_threads())), values, position });
            return Ok(());
        }
        let elapsed = start.elapsed();
        if let (Some(saving), Ok(())) = (&saving, &result) {
            saving.remove(machine.engine.rank().0 == 0);
        }
        if self.options.stats {
            let counters = machine.counters();
            if machine.engine.rank().0 == 0 {
                remark(&stats::text(&counters, self.options.style()));
            }
        }
        if let (Some(lines), 0) = (self.options.profile, machine.engine.rank().0) {
            let places = machine.profile();
            let inside: Duration = places.iter().map(|(_, spent)| spent.time).sum();
            let around = Around { before, between: elapsed.saturating_sub(inside) };
            remark(&profile::text(&places, self.sources, lines, Some(around), self.options.style()));
        }
        let written = self.write_reports(&mut machine);
        result.map_err(|stop| self.limit.concluded(stop)).and(written)
    }
}

/// What a program may see of the world outside.
pub fn world(options: &RunOptions, mains: &[Main], arguments: &[OsString], hold: Hold) -> System {
    let world = match options.sandbox {
        true => System::within(hold).with_permissions(Permissions::sandbox(arguments::files(mains, arguments))),
        false => System::within(hold),
    };
    if options.time_limit.is_some() { world.that_may_end() } else { world }
}

/// How a run is saved, the one that goes on, and where one that leaves its engine goes.
type Ends<'r> = (Option<&'r mut Saving>, Option<LeftRun>, Option<&'r mut Option<(Values, RunPosition)>>);

impl Execution<'_> {
    /// A machine for the run.
    fn machine<E: Engine>(&self, engine: E) -> Machine<E> {
        let world = world(self.options, &self.program.mains, self.arguments, engine.hold());
        let mut machine = Machine::new(engine, Limits::default(), Box::new(Considerate(world)));
        machine.set_strategy(self.options.strategy.into());
        machine.set_native(self.options.native.into());
        if self.options.stats {
            machine.count_steps();
        }
        if self.options.trace.is_some() {
            machine.start_profile_with_passages(self.sources);
        } else if self.options.is_profiled() {
            machine.start_profile(self.sources);
        }
        machine
    }

    /// Writes the files about the run that somebody wants; all ranks call this together.
    fn write_reports<E: Engine>(&self, machine: &mut Machine<E>) -> Result<(), Stop> {
        let (rank, _) = machine.engine.rank();
        let failed = |path: &Path, error: &io::Error| {
            self.options.style().failed(&format!("cannot write {}: {error}", path.display()))
        };
        let mut outcome = Ok(());
        if let Some(path) = &self.options.trace {
            let events = trace::events(rank, machine.passages(), self.sources);
            let file = if rank == 0 { Some(File::create(path)).transpose() } else { Ok(None) };
            let (file, opened) = match file {
                Ok(file) => (file, Ok(())),
                Err(error) => (None, Err(error)),
            };
            let mut target: Box<dyn Write> = match file {
                Some(file) => Box::new(BufWriter::new(file)),
                None => Box::new(io::sink()),
            };
            let written =
                trace::write(&mut machine.engine, events, &mut target).map_err(|error| failure::lost(&error))?;
            outcome = opened.and(written).map_err(|error| failed(path, &error));
        }
        if let (Some(path), 0) = (&self.options.profile_html, rank) {
            let page = heat_map::page(&machine.profile(), self.sources);
            outcome = outcome.and(std::fs::write(path, page).map_err(|error| failed(path, &error)));
        }
        outcome
    }

    fn evaluate<E: Engine>(&self, machine: &mut Machine<E>, ends: Ends<'_>) -> Result<(), Stop> {
        let (mut saving, going, leaving) = ends;
        let loaded = Loaded::new(Arc::new(self.program.clone()));
        let is_shown = self.options.shows_progress() && machine.engine.rank().1 == 1;
        let whereabouts = is_shown.then(Arc::<Whereabouts>::default);
        if let Some(whereabouts) = &whereabouts {
            machine.watched_by(Arc::clone(whereabouts));
        }
        let output = Output::of(&machine.engine);
        let saved = saving.as_ref().and_then(|saving| saving.position().cloned());
        let resumed = saved.or_else(|| going.as_ref().map(|going| going.position.clone()));
        let paused = match (&mut saving, going) {
            (_, Some(going)) => going.values.restore(machine, &loaded)?,
            (Some(saving), None) => saving.restore(machine, &loaded)?,
            (None, None) => None,
        };
        let position =
            RunPosition { seed: resumed.as_ref().map_or(self.options.seed, |at| at.seed), ..RunPosition::default() };
        let mut run =
            Run { execution: self, loaded: &loaded, output, position, whereabouts, saving, leaving, paused, resumed };
        let choice = match &run.resumed {
            Some(RunPosition { main, .. }) => {
                if main.is_some() {
                    Choice::Main
                } else {
                    Choice::Forms
                }
            }
            None => choose(&self.program, self.arguments, self.command)?,
        };
        match choice {
            Choice::Forms => self.program.steps.iter().try_for_each(|step| run.step(machine, step, &[])),
            Choice::Help => {
                let help = arguments::help(&self.program.mains, self.sources, self.command);
                run.output.text(&mut machine.engine, &help)
            }
            Choice::Main => run.main(machine),
        }
    }
}

/// A run in progress.
struct Run<'a, E: Engine> {
    execution: &'a Execution<'a>,
    loaded: &'a Loaded,
    output: Output,
    /// The step that comes next, and what is known of those before.
    position: RunPosition,
    /// Where the machine is, if that is shown while it runs.
    whereabouts: Option<Arc<Whereabouts>>,
    /// How it is saved, if it is.
    saving: Option<&'a mut Saving>,
    /// What it leaves behind where it leaves its engine, if it may.
    leaving: Option<&'a mut Option<(Values, RunPosition)>>,
    /// The step that goes on.
    paused: Option<Paused<E>>,
    /// Where the run is that goes on.
    resumed: Option<RunPosition>,
}

impl<E: Engine> Run<'_, E> {
    /// Runs `main`.
    fn main(&mut self, machine: &mut Machine<E>) -> Result<(), Stop> {
        let Execution { program, arguments, command, .. } = self.execution;
        let resumed = self.resumed.as_ref().and_then(|at| Some((program.mains.get(at.main? as usize)?, at.step)));
        if let Some((Main { prelude, step, .. }, at)) = resumed
            && at as usize >= prelude.len()
        {
            // What it got is in its frames.
            self.position.main = self.resumed.as_ref().and_then(|at| at.main);
            self.position.step = at;
            return self.step(machine, step, &[]);
        }
        if machine.engine.rank().0 == 0 {
            arguments::warn_of_names(program, arguments, self.execution.options.style());
        }
        let (main, values) = arguments::read(&mut machine.engine, &program.mains, arguments, command)?;
        self.position.main = program.mains.iter().position(|known| std::ptr::eq(known, main)).map(|index| index as u32);
        let Main { prelude, step, .. } = main;
        prelude.iter().try_for_each(|step| self.step(machine, step, &[]))?;
        let mut arguments = Vec::with_capacity(values.len());
        for value in values {
            match value {
                Argument::Given(value) => arguments.push(value),
                Argument::Default(step) => arguments.extend(self.values_at_once(machine, step)?),
            }
        }
        self.step(machine, step, &arguments)
    }

    /// Runs a step and prints what it shows, a line for each value; `()` is nothing to show. Nothing of a step that was
    /// run before this run was saved.
    fn step(&mut self, machine: &mut Machine<E>, step: &Step, arguments: &[Value<E>]) -> Result<(), Stop> {
        if self.resumed.as_ref().is_some_and(|at| self.position.step < at.step) {
            self.position.step += 1;
            return Ok(());
        }
        let mut shown = self.values(machine, step, arguments)?;
        self.position.step += 1;
        shown.retain(|value| value.shape != Shape::Unit);
        if shown.is_empty() {
            return Ok(());
        }
        machine.end_line().map_err(|failure| failure::lost(&failure))?;
        shown.iter().try_for_each(|value| self.output.line(&mut machine.engine, value))?;
        // Whoever waits for a long program sees its first answers before the last.
        self.output.flush(&mut machine.engine)
    }

    /// The seed of a step that comes next.
    fn next_seed(&mut self, step: &Step) -> i64 {
        let seed = seed_of(self.position.seed, self.position.draws as usize);
        self.position.draws += u32::from(step.inputs.contains(&Input::Seed));
        seed
    }

    /// Runs a step that nothing interrupts to save it, and gives what it shows.
    fn values_at_once(&mut self, machine: &mut Machine<E>, step: &Step) -> Result<Vec<Value<E>>, Stop> {
        let seed = self.next_seed(step);
        let loaded = self.loaded;
        self.evaluated(machine, |machine| machine.run_step(loaded, step, seed, &[]))
    }

    /// Runs a step, and gives what it shows.
    fn values(&mut self, machine: &mut Machine<E>, step: &Step, arguments: &[Value<E>]) -> Result<Vec<Value<E>>, Stop> {
        let loaded = self.loaded;
        let mut end = match self.paused.take() {
            Some(paused) => {
                self.position.draws = self.resumed.as_ref().map_or(0, |at| at.draws);
                self.evaluated(machine, |machine| machine.continue_step(loaded, step, paused))?
            }
            None => {
                let seed = self.next_seed(step);
                self.evaluated(machine, |machine| machine.begin_step(loaded, step, seed, arguments))?
            }
        };
        loop {
            match (end, &mut self.saving) {
                (StepEnd::Done(values), _) => return Ok(values),
                (StepEnd::Paused(paused), saving) => {
                    if let Some(leaving) = &mut self.leaving {
                        **leaving = Some((Values::of(machine, Some(&paused))?, self.position.clone()));
                        // Nothing more is done here.
                        return Err(Stop::quietly());
                    }
                    if let Some(saving) = saving {
                        saving.save(machine, &paused, self.position.clone())?;
                    }
                    end = self.evaluated(machine, |machine| machine.continue_step(loaded, step, paused))?;
                }
            }
        }
    }

    /// Does something with the machine, and shows how it gets on meanwhile.
    fn evaluated<R>(
        &self,
        machine: &mut Machine<E>,
        evaluate: impl FnOnce(&mut Machine<E>) -> Result<R, RuntimeError>,
    ) -> Result<R, Stop> {
        let Execution { options, sources, limit, .. } = self.execution;
        let meter = machine.engine.meter().cloned();
        let evaluate = || evaluate(machine);
        let outcome = match &self.whereabouts {
            Some(whereabouts) => {
                let program = self.loaded.program();
                Evaluation { program, sources, whereabouts, meter }.shown(evaluate)
            }
            None => evaluate(),
        };
        outcome.map_err(|error| failure::stop(&limit.explained(error), sources, options.style()))
    }
}

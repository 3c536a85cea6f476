//! The machine: runs programs on any engine.
//!
//! Control flow, registers, last uses, recursion and the places of errors live here, once; what touches columns is the
//! engine's (`run`, `execute`). Calls do not nest on Rust's stack: frames lie in a stack of the machine's own
//! (`frames`), so recursion ends at a limit, with a message. In a distributed run every rank has a machine and takes
//! the same way through the same program.

pub(crate) mod decode;
mod each;
mod evaluator;
mod execute;
mod frames;
mod leaf;
pub mod loaded;
pub mod native;
mod outside;
pub mod profile;
mod run;
mod scalar_code;
mod scalars;
pub mod strategy;

use crate::data::counters::Counters;
use crate::data::slot::Slot;
use crate::engine::clock;
use crate::engine::error::RuntimeError;
use crate::engine::interrupt::Interrupt;
use crate::engine::native::Native;
use crate::engine::stack;
use crate::engine::value::{SlotOf, Value};
use crate::engine::{Engine, Fault};
use crate::machine::evaluator::Evaluator;
use crate::machine::loaded::Loaded;
use crate::machine::profile::{Passage, Profile, Spent, Whereabouts};
use crate::machine::strategy::Strategy;

pub use leaf::state::{ColumnId, NotRestored};
pub use leaf::{packed_results, results_in_order, selected_operands};
use nesl_prim::{Element, Failure, Host};
use nesl_span::{SourceMap, Span};
use nesl_vcode::{FunctionId, GlobalId, Input, Output, Step};
pub use run::pause::{MachineState, Pause, Paused, StepEnd};
pub use run::resting::Resting;
use run::{Run, Settings};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

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
    strategy: Strategy,
    native: Native,
    /// How often a mixed strategy chose.
    turn: u64,
    globals: HashMap<GlobalId, Value<E>>,
    /// What runs have done, as far as the machine knows.
    counters: Counters,
    profile: Option<Profile>,
    whereabouts: Option<Arc<Whereabouts>>,
    /// Who may want runs to pause.
    pause: Option<Arc<Pause>>,
}

/// A profile that waits until another one has been made.
pub struct ProfileAside(Option<Profile>);

impl<E: Engine> Machine<E> {
    /// A machine without globals, whose programs act on this world.
    pub fn new(engine: E, limits: Limits, host: Box<dyn Host>) -> Machine<E> {
        Machine {
            engine,
            limits,
            interrupt: None,
            host,
            printed: false,
            strategy: Strategy::Auto,
            native: Native::default(),
            turn: 0,
            globals: HashMap::new(),
            counters: Counters::default(),
            profile: None,
            whereabouts: None,
            pause: None,
        }
    }

    /// Chooses how an `each` is run.
    pub fn set_strategy(&mut self, strategy: Strategy) {
        self.strategy = strategy;
    }

    /// Chooses whether functions and groups of instructions run as native code.
    pub fn set_native(&mut self, native: Native) {
        self.engine.set_native(native);
        self.native = native;
    }

    /// From now on the time of runs is charged to places. `sources` are those of the library at least.
    pub fn start_profile(&mut self, sources: &SourceMap) {
        self.profile = Some(Profile::new(sources));
    }

    /// The same, and it is kept, too, when runs were where, for [`Machine::passages`].
    pub fn start_profile_with_passages(&mut self, sources: &SourceMap) {
        let mut profile = Profile::new(sources);
        profile.keep_passages(self.engine.record_busy());
        self.profile = Some(profile);
    }

    /// When runs were where since [`Machine::start_profile_with_passages`], and how many more passages there were than
    /// are kept.
    pub fn passages(&self) -> (&[Passage], usize) {
        self.profile.as_ref().map_or((&[], 0), Profile::passages)
    }

    /// Begins a profile of what comes now alone, until [`Machine::end_profile_apart`].
    pub fn start_profile_apart(&mut self, sources: &SourceMap) -> ProfileAside {
        ProfileAside(self.profile.replace(Profile::new(sources)))
    }

    /// Ends it: what was spent at each place, in no order, which the profile of all runs gets as well.
    pub fn end_profile_apart(&mut self, ProfileAside(all): ProfileAside) -> Vec<(Span, Spent)> {
        let apart = std::mem::replace(&mut self.profile, all);
        let places = apart.as_ref().map(Profile::places).unwrap_or_default();
        if let (Some(all), Some(apart)) = (&mut self.profile, apart) {
            all.add(apart);
        }
        places
    }

    /// From now on somebody may look where runs are.
    pub fn watched_by(&mut self, whereabouts: Arc<Whereabouts>) {
        self.whereabouts = Some(whereabouts);
    }

    /// What runs have spent at each place since [`Machine::start_profile`], in no order.
    pub fn profile(&self) -> Vec<(Span, Spent)> {
        self.profile.as_ref().map(Profile::places).unwrap_or_default()
    }

    /// Says that native code is to count what it does, for [`Machine::counters`]. That holds for the whole process, for
    /// functions that are compiled from now on.
    pub fn count_steps(&mut self) {
        nesl_native::count_steps();
    }

    /// Ends runs with [`Failure::Interrupted`] soon after the flag is set. The flag is not cleared. In a distributed
    /// run it must be set where all ranks have done the same together, as that of `nesl-mpi` is.
    pub fn set_interrupt(&mut self, flag: Arc<AtomicBool>) {
        self.engine.set_interrupt(&Interrupt::on(Arc::clone(&flag)));
        self.host.interrupt_on(Arc::clone(&flag));
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
        let inputs = self.inputs(step, seed, arguments);
        let outcome = self.run(program, step.function, inputs);
        self.end_step(program, step, outcome)
    }

    /// What a step reads.
    fn inputs(&self, step: &Step, seed: i64, arguments: &[Value<E>]) -> Vec<SlotOf<E>> {
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
        inputs
    }

    /// Keeps the outputs of a step that are globals, and gives those to show, in order.
    fn end_step(
        &mut self,
        program: &Loaded,
        step: &Step,
        outcome: Result<Vec<SlotOf<E>>, RuntimeError>,
    ) -> Result<Vec<Value<E>>, RuntimeError> {
        // What was printed arrives also where the step then failed.
        let flushed = self.on_output(|host| host.flush());
        let span = program.program().functions[step.function.0 as usize].span;
        let lost = |failure| RuntimeError::at(span, failure);
        let mut results = flushed.map_err(lost).and(outcome)?.into_iter();
        let mut shown = Vec::new();
        for output in &step.outputs {
            let slots: Vec<SlotOf<E>> = results.by_ref().take(output.registers().len()).collect();
            match output {
                Output::Keep(global, shape) => {
                    self.globals.insert(*global, Value::new(shape.clone(), slots));
                }
                Output::Show(shape) => shown.push(Value::new(shape.clone(), slots)),
                Output::Stack(register) => {
                    let entry = |slot| Value::of_entry(&mut self.engine, slot, register.scalar_type());
                    let entries = slots.into_iter().map(entry).collect::<Result<Vec<_>, Fault>>();
                    shown.extend(entries.map_err(|fault| lost(fault.failure))?);
                }
            }
        }
        Ok(shown)
    }

    /// Makes the machines of all ranks alike again, after a run was ended on each of them at another line.
    pub fn recover(&mut self) {
        self.turn = 0;
        // Some may have printed, and some were in calls.
        self.printed = true;
        if let Some(profile) = &mut self.profile {
            profile.leave_to(0);
        }
        self.engine.forget_kept();
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
        self.engine.counters(self.counters)
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
        let in_parts = self.engine.rank().1 > 1;
        self.with_run((program, in_parts), |run| run.function(function, inputs))
    }

    /// Does something with the machine in a run of a program, or of that for columns in parts.
    fn with_run<R>(&mut self, (program, in_parts): (&Loaded, bool), task: impl FnOnce(&mut Run<'_, E>) -> R) -> R {
        let (interrupt, whereabouts) = (self.interrupt.as_deref(), self.whereabouts.as_deref());
        let (is_one_process, pause) = (self.engine.rank().1 == 1, self.pause.as_deref());
        let local = program;
        let program = if in_parts { local.partitioned() } else { local };
        let cut = pause.filter(|_| is_one_process).map_or(interrupt, |pause| Some(pause.cut()));
        let mut run = Run {
            program,
            local,
            engine: &mut self.engine,
            host: Some(&mut *self.host),
            printed: &mut self.printed,
            settings: Settings {
                limits: self.limits,
                strategy: self.strategy,
                native: self.native,
                interrupt,
                whereabouts,
                within: false,
                cut,
                pause,
                member: None,
            },
            turn: &mut self.turn,
            evaluator: Evaluator::new(program, self.limits, self.native, cut),
            instructions: 0,
            steps: 0,
            account: run::serial::Account::default(),
            attempts: run::attempts::Attempts::default(),
            loops: run::bounded::Loops::default(),
            shared: run::shared::Shared::default(),
            bound: None,
            profile: self.profile.as_mut(),
            unlooked: 0,
        };
        let (begun, talked) = (clock::of_process(), run.engine.talk());
        run.begin_profile();
        let results = stack::with_stack(|| task(&mut run));
        run.end_profile();
        let (instructions, steps) = (run.all_instructions(), run.all_steps());
        let talk = self.engine.talk();
        let busy = (clock::of_process() - begun).saturating_sub(talk.spent - talked.spent);
        self.counters.instructions += instructions;
        self.counters.steps += steps;
        self.counters.busy += busy.as_nanos() as u64;
        self.counters.waiting += (talk.waiting - talked.waiting).as_nanos() as u64;
        results
    }
}

#[cfg(test)]
mod tests;

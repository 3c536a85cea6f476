//! Pauses: a run that stops between two lines, is written down, and goes on there or elsewhere.
//!
//! Calls are frames on a stack of the machine's own, columns are immutable, and in a distributed run all ranks are at
//! the same line: so what is in the frames, the globals, and a few numbers are all that a run is. Lines and frames are
//! those of the program as it runs in one process, or for columns in parts. Either runs anywhere, if not as fast: a
//! step ends as what it began, and the next one suits where it runs.
//!
//! ```text
//! one process   looks at every line
//! ranks         look together, after work that takes some hundredths of a second
//! ```
//! Native code, and the instances of an `each` that were dealt out, come to their ends first. Who cannot wait for that
//! [cuts](Pause::cut) them short: what they have done is done again later. What ranks compute all alike ends by itself.

use super::serial::Account;
use super::{Run, Stop};
use crate::data::slot::Slot;
use crate::engine::error::RuntimeError;
use crate::engine::value::{SlotOf, Value};
use crate::engine::{Engine, Fault};
use crate::machine::decode::{Line, Source};
use crate::machine::frames::Frames;
use crate::machine::frames::state::HeldFrames;
use crate::machine::leaf::state::{ColumnTable, Held, NotRestored, Numbered};
use crate::machine::loaded::Loaded;
use crate::machine::{Limits, Machine};
use nesl_prim::Failure;
use nesl_prim::host::HostState;
use nesl_vcode::{FunctionId, GlobalId, Shape, Step};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// After so much ranks look together whether to pause: lines count [`COLUMNS`] where they have columns, and a part of
/// their lengths; others 1.
pub(super) const LOOK: usize = 200_000;
/// What a line with columns counts, whatever their lengths: on ranks it takes microseconds at least.
const COLUMNS: usize = 100;
/// So many elements count 1.
const ELEMENTS: usize = 64;

/// Whether somebody wants a run to pause.
#[derive(Debug)]
pub struct Pause {
    wanted: AtomicBool,
    cut: Arc<AtomicBool>,
}

impl Pause {
    /// Nobody does. The flag ends native code and instances; others may set it, too.
    pub fn new(cut: Arc<AtomicBool>) -> Pause {
        Pause { wanted: AtomicBool::new(false), cut }
    }

    /// Says whether a run is to pause where it can. In a distributed run one rank is enough.
    pub fn want(&self, is_wanted: bool) {
        self.wanted.store(is_wanted, Relaxed);
    }

    /// The flag that ends what takes long.
    pub fn cut(&self) -> &AtomicBool {
        &self.cut
    }
}

/// A step of a program that has paused.
pub struct Paused<E: Engine> {
    frames: Frames<E>,
    /// The function in the last frame, and the line it goes on with.
    function: FunctionId,
    next: usize,
    /// How many bytes native code may copy for what the lines have done.
    earned: usize,
    /// It is of the program for columns in parts.
    in_parts: bool,
}

/// How a step has ended.
pub enum StepEnd<E: Engine> {
    /// With these values to show.
    Done(Vec<Value<E>>),
    /// Not yet.
    Paused(Paused<E>),
}

/// A machine with a step that has paused, if one has, as it is written down beside its columns.
#[derive(Debug, Serialize, Deserialize)]
pub struct MachineState {
    turn: u64,
    globals: Vec<(GlobalId, Shape, Vec<Held>)>,
    step: Option<StepState>,
}

impl MachineState {
    /// How many values these are: of globals, and in registers of the step that has paused.
    pub fn values(&self) -> usize {
        self.globals.len() + self.step.as_ref().map_or(0, |step| step.frames.values())
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct StepState {
    frames: HeldFrames,
    function: FunctionId,
    next: u64,
    earned: u64,
    in_parts: bool,
}

/// What a run of a step gives.
type Ran<E> = Result<Result<Vec<SlotOf<E>>, Paused<E>>, RuntimeError>;

impl<E: Engine> Run<'_, E> {
    /// Whether this run may pause.
    pub(in crate::machine) fn may_pause(&self) -> bool {
        self.settings.pause.is_some()
    }

    /// Whether it pauses before this line.
    pub(super) fn pauses(&mut self, line: &Line, frames: &Frames<E>) -> bool {
        let Some(pause) = self.settings.pause else { return false };
        if self.engine.rank().1 == 1 {
            return pause.wanted.load(Relaxed);
        }
        self.unlooked += self.effort(line, frames);
        if self.unlooked < LOOK {
            return false;
        }
        self.unlooked = 0;
        let wanted = if pause.wanted.load(Relaxed) { Err(()) } else { Ok(()) };
        self.engine.agree(wanted).is_err()
    }

    /// About how long a line takes: the same on all ranks.
    fn effort(&self, line: &Line, frames: &Frames<E>) -> usize {
        let of = |operands: &[Source]| {
            let lengths = operands.iter().map(|&operand| match frames.look(operand) {
                Some(Slot::Column(column)) => COLUMNS + self.engine.length(column) / ELEMENTS,
                Some(Slot::Descriptor(segments)) => COLUMNS + self.engine.segments(segments) / ELEMENTS,
                Some(Slot::Scalar(_)) | None => 0,
            });
            lengths.fold(1, usize::saturating_add)
        };
        match line {
            Line::Execute { operands, .. } | Line::Host { operands, .. } => of(operands),
            Line::Group(group) => of(&group.operands),
            Line::Each(each) => 10 * of(&each.operands),
            _ => 1,
        }
    }

    /// What has become of the reason why the line before this one stopped: a pause, where it was cut short.
    pub(in crate::machine) fn cut_short(&self, stop: Stop, (function, next): (FunctionId, usize)) -> Stop {
        let failure = match &stop {
            Stop::Here(fault, ..) => &fault.failure,
            Stop::Inside(error, _) => &error.failure,
            Stop::Pause(..) => return stop,
        };
        let is_ended = self.settings.interrupt.is_some_and(|flag| flag.load(Relaxed));
        match *failure == Failure::Interrupted && self.may_pause() && !is_ended {
            true => Stop::Pause(function, next - 1),
            false => stop,
        }
    }

    /// Runs a function that may pause.
    fn begin(&mut self, function: FunctionId, inputs: Vec<SlotOf<E>>) -> Ran<E> {
        if self.program.is_scalar_only(function) {
            let kept = inputs.clone();
            match self.scalar_function(function, inputs) {
                Err(error) if error.failure == Failure::Interrupted => {
                    let stop = self.cut_short(Stop::Inside(Box::new(error), None), (function, 1));
                    let mut frames = Frames::new(self.settings.limits);
                    let code = self.program.code(function);
                    return match (stop, frames.begin(code, kept)) {
                        (Stop::Pause(function, next), Ok(())) => Ok(Err(self.paused(frames, (function, next)))),
                        (stop, _) => Err(self.error(stop, &mut frames)),
                    };
                }
                ended => return ended.map(Ok),
            }
        }
        let mut frames = Frames::new(self.settings.limits);
        let code = self.program.code(function);
        match frames.begin(code, inputs).map_err(Stop::at(code.span)) {
            Ok(()) => self.go_on(self.paused(frames, (function, 0))),
            Err(stop) => Err(self.error(stop, &mut frames)),
        }
    }

    fn paused(&self, frames: Frames<E>, (function, next): (FunctionId, usize)) -> Paused<E> {
        let in_parts = !std::ptr::eq(self.program, self.local);
        Paused { frames, function, next, earned: self.account.earned(), in_parts }
    }

    /// Goes on with a function that has paused.
    fn go_on(&mut self, Paused { mut frames, function, next, earned, .. }: Paused<E>) -> Ran<E> {
        if let (0, Some(inputs)) = (next, frames.only_inputs(self.program, function)) {
            // What functions of scalars alone do is nothing for lines.
            return self.begin(function, inputs);
        }
        self.account = Account::of(earned);
        self.account.overlook(self.engine.allocated());
        let depth = self.depth();
        let program = self.program;
        frames.calls(program).rev().for_each(|at| _ = self.enter(at));
        let results = self.lines(function, next, &mut frames);
        self.leave_to(depth);
        match results {
            Ok(results) => Ok(Ok(results)),
            Err(Stop::Pause(function, next)) => Ok(Err(self.paused(frames, (function, next)))),
            Err(stop) => Err(self.error(stop, &mut frames)),
        }
    }
}

impl<E: Engine> Machine<E> {
    /// From now on steps that [`Machine::begin_step`] begins may pause.
    pub fn pause_for(&mut self, pause: Arc<Pause>) {
        self.pause = Some(pause);
    }

    /// Runs one step as [`Machine::run_step`] does, unless it pauses.
    ///
    /// # Errors
    /// Those of [`Machine::run_step`].
    ///
    /// # Panics
    /// Where that does.
    pub fn begin_step(
        &mut self,
        program: &Loaded,
        step: &Step,
        seed: i64,
        arguments: &[Value<E>],
    ) -> Result<StepEnd<E>, RuntimeError> {
        let inputs = self.inputs(step, seed, arguments);
        let in_parts = self.engine.rank().1 > 1;
        let ran = self.with_run((program, in_parts), |run| run.begin(step.function, inputs));
        self.conclude(program, step, ran)
    }

    /// Goes on with a step that has paused.
    ///
    /// # Errors
    /// Those of [`Machine::run_step`].
    pub fn continue_step(
        &mut self,
        program: &Loaded,
        step: &Step,
        paused: Paused<E>,
    ) -> Result<StepEnd<E>, RuntimeError> {
        let ran = self.with_run((program, paused.in_parts), |run| run.go_on(paused));
        self.conclude(program, step, ran)
    }

    fn conclude(&mut self, program: &Loaded, step: &Step, ran: Ran<E>) -> Result<StepEnd<E>, RuntimeError> {
        let outcome = match ran {
            Ok(Err(paused)) => return Ok(StepEnd::Paused(paused)),
            Ok(Ok(results)) => Ok(results),
            Err(error) => Err(error),
        };
        self.end_step(program, step, outcome).map(StepEnd::Done)
    }

    /// What to write down of this machine, and of a step that has paused, if one has; the columns are by number. All
    /// ranks write down the same, but for the elements of columns.
    ///
    /// # Errors
    /// [`Failure::OutOfMemory`].
    pub fn state(&mut self, paused: Option<&Paused<E>>) -> Result<(MachineState, Vec<E::Column>), Fault> {
        let mut table = ColumnTable::new();
        let mut ids: Vec<GlobalId> = self.globals.keys().copied().collect();
        ids.sort();
        let mut globals = Vec::with_capacity(ids.len());
        for id in ids {
            let Some(value) = self.globals.get(&id) else { continue };
            let slots = value.slots.iter().map(|slot| table.held(&mut self.engine, slot));
            globals.push((id, value.shape.clone(), slots.collect::<Result<_, Fault>>()?));
        }
        let step = paused.map(|&Paused { ref frames, function, next, earned, in_parts }| {
            let frames = frames.held(&mut self.engine, &mut table)?;
            Ok::<_, Fault>(StepState { frames, function, next: next as u64, earned: earned as u64, in_parts })
        });
        let step = step.transpose()?;
        Ok((MachineState { turn: self.turn, globals, step }, table.columns))
    }

    /// What another process must know of the world outside to go on, on rank 0; everything printed has arrived then.
    ///
    /// # Errors
    /// Why no other process could go on now; the same on all ranks.
    pub fn host_state(&mut self) -> Result<HostState, String> {
        let is_first = self.engine.rank().0 == 0;
        let state = if is_first { self.host.state() } else { Ok(HostState::default()) };
        self.engine.agree(state)
    }

    /// Goes on in the world outside where another process was.
    ///
    /// # Errors
    /// Why that is impossible here; the same on all ranks.
    pub fn restore_host(&mut self, state: &HostState) -> Result<(), String> {
        let is_first = self.engine.rank().0 == 0;
        let restored = if is_first { self.host.restore(state) } else { Ok(()) };
        self.engine.agree(restored)
    }

    /// Makes this machine what another was, with these columns; the step that has paused, if one has.
    ///
    /// # Errors
    /// If that was another program's machine, or the engine cannot hold it.
    pub fn restore(
        &mut self,
        program: &Loaded,
        state: MachineState,
        columns: Vec<E::Column>,
    ) -> Result<Option<Paused<E>>, NotRestored> {
        let MachineState { turn, globals, step } = state;
        let (columns, limits): (_, Limits) = (Numbered::<E>(columns), self.limits);
        let mut restored = Vec::with_capacity(globals.len());
        for (id, shape, held) in globals {
            if held.len() != shape.width() {
                return Err(NotRestored::Unfit);
            }
            let slots = columns.slots(&mut self.engine, &held)?;
            restored.push((id, Value::new(shape, slots)));
        }
        let paused = step.map(|StepState { frames, function, next, earned, in_parts }| {
            let at = (function, next as usize);
            let program = if in_parts { program.partitioned() } else { program };
            let frames = frames.restored((&mut self.engine, &columns), (program, limits), at)?;
            Ok::<_, NotRestored>(Paused { frames, function, next: at.1, earned: earned as usize, in_parts })
        });
        let paused = paused.transpose()?;
        (self.turn, self.globals) = (turn, restored.into_iter().collect());
        // What was printed before may be in the middle of a line.
        self.printed = true;
        Ok(paused)
    }
}

//! Recursion on ranks that every rank runs by itself: calls, and turns of loops.
//!
//! **Single elements.** There, each of the machine's lines that reads an element or writes one sends a message. So a
//! rank gets all of the columns, and does what one process does ([`super::serial`]); all do the same, and know the
//! results. What that moves is earned by turns that the lines have done, as copies are in one process: where few
//! elements of long columns are read they are asked for, and a loop that goes on moves over between two turns. What is
//! earned depends on nothing that ranks may see differently.
//!
//! **Short columns.** Of a loop whose turns share nothing (no column lies in parts, no instances are dealt out) all
//! ranks do the same instructions anyway. One process does some turns of such a loop at a time in native code
//! ([`super::bounded`]), by what it measures; ranks would not measure the same. So each does exactly as many turns by
//! itself, as one process would, and then the lines look at two turns again: whether they still share nothing
//! ([`super::shared`]).

use super::bounded::Turns;
use super::pause::LOOK;
use super::shared::Bound;
use super::{Run, Stop, worker};
use crate::engine::error::RuntimeError;
use crate::engine::value::SlotOf;
use crate::engine::{Engine, Fault};
use crate::machine::decode::Source;
use crate::machine::frames::Frames;
use nesl_prim::Failure;
use nesl_vcode::{FunctionId, Place};

/// A turn takes some tens of microseconds by the lines, so many times as long as in one process, and earns as much
/// more.
const SLOWER: usize = 16;

/// Of what ranks do before they look together whether to pause, this part is such a call, however long it is: nobody
/// knows that alike.
const PART: usize = 16;

impl<E: Engine> Run<'_, E> {
    /// The results of a call that every rank makes. Otherwise the operands are in the frame as they were.
    pub(super) fn everywhere_call(
        &mut self,
        function: FunctionId,
        operands: &[Source],
        at: Place,
        frames: &mut Frames<E>,
    ) -> Result<Option<Vec<SlotOf<E>>>, Stop> {
        self.everywhere(function, operands, at, frames, |run, values| run.whole_call(function, values, at))
    }

    /// Does some turns of a loop that shares nothing, beginning with one that is about to begin with these operands. If
    /// it does none, they are in the frame as they were.
    pub(super) fn everywhere_turns(
        &mut self,
        function: FunctionId,
        operands: &[Source],
        at: Place,
        frames: &mut Frames<E>,
    ) -> Result<Turns<E>, Stop> {
        let Some(shared) = self.engine.shared().filter(|_| !self.program.is_serial(function)) else {
            return Ok(Turns::None);
        };
        let Some(bound) = self.shared.plan(function, shared) else { return Ok(Turns::None) };
        if !self.local.native.is_supported(self.local.program(), function) {
            return Ok(Turns::None);
        }
        let (mut loops, before) = (std::mem::take(&mut self.shared.loops), self.shared.instructions);
        let (mut is_met, mut instructions) = (false, before);
        let done = self.everywhere(function, operands, at, frames, |run, values| {
            // What is known of loops was found out by counting on.
            run.instructions += before;
            std::mem::swap(&mut run.loops, &mut loops);
            run.bound = Some(Bound { function, left: bound - 1, is_met: false });
            let results = run.function(function, values);
            is_met = run.bound.take().is_some_and(|bound| bound.is_met);
            std::mem::swap(&mut run.loops, &mut loops);
            instructions = run.all_instructions();
            run.instructions -= before;
            results
        });
        (self.shared.loops, self.shared.instructions) = (loops, instructions);
        let Some(values) = done? else { return Ok(Turns::None) };
        if let Some(shared) = self.engine.shared() {
            self.shared.did(function, shared);
        }
        Ok(if is_met { Turns::Some(values) } else { Turns::All(values, bound) })
    }

    /// What every rank computes by itself from all of some operands, if these may be moved to all; otherwise they are
    /// in the frame as they were.
    fn everywhere(
        &mut self,
        function: FunctionId,
        operands: &[Source],
        at: Place,
        frames: &mut Frames<E>,
        task: impl FnOnce(&mut Run<'_, E::Local>, Vec<SlotOf<E::Local>>) -> Result<Vec<SlotOf<E::Local>>, RuntimeError>,
    ) -> Result<Option<Vec<SlotOf<E>>>, Stop> {
        let values = operands.iter().filter_map(|&operand| frames.look(operand));
        let Some(moved) = self.engine.bytes_to_move(values) else { return Ok(None) };
        let copied = self.copied(function, operands, frames);
        if !self.account.spend(function, copied.saturating_add(moved) / SLOWER) {
            return Ok(None);
        }
        let outside = frames.active().map_err(Stop::at(at))?;
        let values: Vec<SlotOf<E>> = operands.iter().map(|&operand| frames.read(operand)).collect();
        let (program, mut settings) = (self.local, self.settings);
        settings.strategy = settings.strategy.after_division();
        settings.limits.depth = settings.limits.depth.saturating_sub(outside.calls);
        settings.limits.frame_bytes = settings.limits.frame_bytes.saturating_sub(outside.bytes);
        let inside = (self.profile_for_worker(), self.attempts.clone());
        let (mut instructions, mut steps, mut profiled) = (0, 0, None);
        let results = self.engine.everywhere(&values, |engine, values| {
            let did = worker::run(program, settings, engine, inside, |run| task(run, values));
            (instructions, steps, profiled) = (did.instructions, did.steps, did.profile);
            did.outcome
        });
        self.workers_have_run(profiled.into_iter());
        self.instructions += instructions;
        self.steps += steps;
        self.unlooked += LOOK / PART;
        match results {
            Ok(Ok(results)) => Ok(Some(results)),
            Ok(Err(error)) => Err(Stop::Inside(Box::new(error), Some(at))),
            // No rank has room for all: elements are asked for, as before.
            Err(Fault { failure: Failure::OutOfMemory { .. }, .. }) => {
                frames.put_back(operands, values);
                Ok(None)
            }
            Err(fault) => Err(Stop::of(at)(fault)),
        }
    }
}

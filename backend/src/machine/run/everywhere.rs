//! Recursion over single elements on ranks: calls, and turns of loops, that every rank runs by itself.
//!
//! There, each of the machine's lines that reads an element or writes one sends a message. So a rank gets all of the
//! columns, and does what one process does ([`super::serial`]); all do the same, and know the results. What that moves
//! is earned by turns that the lines have done, as copies are in one process: where few elements of long columns are
//! read they are asked for, and a loop that goes on moves over between two turns. What is earned depends on nothing
//! that ranks may see differently.

use super::pause::LOOK;
use super::{Run, Stop, worker};
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
            let did = worker::run(program, settings, engine, inside, |run| run.whole_call(function, values, at));
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

//! Scans that are read in their group, on several threads in one pass over memory: blocks in a chain.
//!
//! What a scan begins with in a block is what all blocks before it amount to. A thread takes the next block, finds out
//! what that amounts to, scan by scan where one is computed from another, and hands on what it has got from the block
//! before; then it knows all that the block begins with. The block is gone over once more for that, but stays in the
//! thread's cache meanwhile.

#![allow(unsafe_code, reason = "machine code; every block says why it is sound")]

use super::output_buffer::OutputBuffer;
use super::{Aside, GaveUp, LocalSlot, Piece, Schedule, Work, kernel};
use crate::engine::threads::look_back::LookBack;
use nesl_native::{Ending, Kernel, Mode, Status, Words};
use nesl_prim::{ScalarValue, eval};
use nesl_vcode::RegisterType;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// What goes from one block to the next.
struct Chain {
    /// The kernels that say what a block amounts to, each for scans of one level, with the turns in which that is
    /// handed on.
    levels: Vec<(Kernel, LookBack)>,
    /// What each scan has come to.
    before: Mutex<Vec<ScalarValue>>,
}

impl Work<'_> {
    /// Whether blocks can be computed in a chain: nothing else makes them depend on each other.
    pub(super) fn is_in_chain(&self) -> bool {
        let is_independent = |ending: &Ending| matches!(ending, Ending::Store(_) | Ending::Reduce(..));
        // One thread goes over all elements once.
        self.schedule != Schedule::Whole
            && self.threads.threads() > 1
            && !self.facts.running.is_empty()
            && !self.facts.is_counted
            && self.facts.segmented.is_none()
            && self.endings.iter().all(is_independent)
    }

    /// Runs the group, block by block. Where the yields of each thread are.
    pub(super) fn in_chain<'w>(
        &self,
        words: &Words<'w>,
        operands: &[LocalSlot],
        rooms: &mut [Option<OutputBuffer>],
    ) -> Result<Vec<(Words<'w>, Aside)>, GaveUp> {
        let plan = &self.group.plan;
        let columns = plan.inputs.iter().zip(&self.facts.is_aligned).filter(|(_, is_aligned)| **is_aligned);
        let bytes = columns.map(|(ty, _)| match ty {
            RegisterType::Column(ty) => ty.size(),
            RegisterType::Scalar(_) | RegisterType::Descriptor => 0,
        });
        let size = self.block(bytes.sum());
        let blocks = self.length.div_ceil(size);
        let levels = (0..self.levels()).map(|level| {
            let kernel = kernel(self.threads, self.group, Mode::Scan(level as u8)).ok_or(GaveUp)?;
            Ok((kernel, LookBack::new(blocks, 0)))
        });
        let identities = self.facts.running.iter().map(|running| running.op.row().identity.ok_or(GaveUp));
        let chain = Chain {
            levels: levels.collect::<Result<_, GaveUp>>()?,
            before: Mutex::new(identities.collect::<Result<_, GaveUp>>()?),
        };
        let kernel = kernel(self.threads, self.group, Mode::Piece).ok_or(GaveUp)?;
        let worker = || {
            let mut words = words.clone();
            let aside = self.aside(&mut words, rooms, &vec![0; plan.spaces()])?;
            Ok((words, aside))
        };
        let workers = self.threads.workers.threads().min(blocks);
        let workers = std::iter::repeat_with(worker).take(workers).collect::<Result<Vec<_>, GaveUp>>()?;
        let (_, first) = chain.levels.first().ok_or(GaveUp)?;
        let outcomes = self.threads.workers.each(workers, &|_, (mut words, aside)| {
            let attending: Vec<_> = chain.levels.iter().map(|(_, turns)| turns.attend()).collect();
            while let Some(number) = first.take() {
                let block = number * size..self.length.min((number + 1) * size);
                self.set_cursors(&mut words, operands, &Piece { indices: block.clone(), segments: 0..0 }).ok()?;
                self.begin_block(&chain, number, &block, &mut words)?;
                // SAFETY: the inputs have the elements that `length` has checked; there is room for what is yielded,
                // and no other block writes to the same part.
                if unsafe { self.call(kernel, &mut words, block) } != Status::Done {
                    return None;
                }
            }
            attending.into_iter().for_each(|attending| attending.leave());
            Some((words, aside))
        });
        outcomes.into_iter().collect::<Option<Vec<_>>>().ok_or(GaveUp)
    }

    /// Sets what scans begin with in a block, and hands on what they end with. None where something gives up.
    fn begin_block(&self, chain: &Chain, number: usize, block: &Range<usize>, words: &mut Words<'_>) -> Option<()> {
        let running = &self.facts.running;
        for (scan, running) in running.iter().enumerate() {
            words.set_before(scan, running.op.row().identity?);
        }
        for (level, (kernel, turns)) in chain.levels.iter().enumerate() {
            let mut end = words.clone();
            // SAFETY: as where the group is run; nothing is written here but words.
            if unsafe { self.call(*kernel, &mut end, block.clone()) } != Status::Done {
                return None;
            }
            let at_level = running.iter().enumerate().filter(|(_, running)| usize::from(running.level) == level);
            turns.in_turn(number, || {
                let mut before = chain.before.lock().unwrap_or_else(PoisonError::into_inner);
                for (scan, running) in at_level {
                    words.set_before(scan, before[scan]);
                    let end = ScalarValue::from_word(self.group.plan.nodes[running.node].ty, end.after(scan));
                    before[scan] = eval(running.op, &[before[scan], end]).ok()?;
                }
                Some(())
            })??;
        }
        Some(())
    }
}

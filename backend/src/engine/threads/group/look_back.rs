//! Filters on several threads in one pass over memory: blocks in turn.
//!
//! A thread takes the next block of indices and writes what filters keep of it to a buffer that stays in its cache.
//! Where that belongs is known as soon as the blocks before have been counted, which are taken earlier and take about
//! as long, so that a thread hardly ever waits for its turn. Then it is copied there. Nothing is computed twice, as it
//! is where pieces are counted first.
//!
//! It is the chained scan of Merrill and Garland (*Single-pass parallel prefix scan with decoupled look-back*, 2016)
//! for a few threads that have caches of their own: what a block waits for is one sum, not a list of blocks.

#![allow(unsafe_code, reason = "machine code; every block says why it is sound")]

use super::output_buffer::{Elements, OutputBuffer};
use super::{Aside, GaveUp, LocalSlot, Piece, Work, kernel};
use crate::data::memory::Filling;
use crate::engine::threads::look_back::LookBack;
use crate::engine::threads::tuning::PIECES;
use nesl_native::{Ending, Kernel, Mode, Status, Words};
use nesl_prim::sum;
use std::ops::Range;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

/// A column of elements that a filter keeps.
struct Kept {
    /// Its position among the yields.
    index: usize,
    space: usize,
    /// Bytes of an element.
    size: usize,
    /// Where the first goes.
    column: AtomicPtr<u8>,
}

/// What all threads share that filter block by block.
struct Filter<'a> {
    turns: &'a LookBack,
    kernel: Kernel,
    kept: &'a [Kept],
}

/// What a thread works with.
struct Worker<'w> {
    words: Words<'w>,
    aside: Aside,
    /// For each column that is kept, room for a block.
    buffers: Vec<Elements>,
}

impl Work<'_> {
    /// Runs the group, block by block. Where the yields of each thread are; those of filters have as many elements as
    /// the position of any of them says.
    pub(super) fn in_turns<'w>(
        &self,
        words: &Words<'w>,
        operands: &[LocalSlot],
        rooms: &mut [Option<OutputBuffer>],
    ) -> Result<Vec<(Words<'w>, Aside)>, GaveUp> {
        let plan = &self.group.plan;
        let kernel = kernel(self.threads, self.group, Mode::Piece).ok_or(GaveUp)?;
        let mut kept = Vec::new();
        for (index, ending) in self.endings.iter().enumerate() {
            let node = &plan.nodes[plan.yields[index]];
            if let (&Ending::Store(source), Some(room)) = (ending, &mut rooms[index])
                && plan.space_of(source) > 0
            {
                let column = AtomicPtr::new(room.pointer());
                kept.push(Kept { index, space: plan.space_of(source), size: node.ty.size(), column });
            }
        }
        let size = self.block(kept.iter().map(|kept| kept.size).sum());
        let turns = LookBack::new(self.length.div_ceil(size), plan.spaces());
        let block = |number: usize| number * size..self.length.min((number + 1) * size);
        let worker = || {
            let mut words = words.clone();
            let aside = self.aside(&mut words, rooms, &vec![0; plan.spaces()])?;
            let mut buffers = Vec::with_capacity(kept.len());
            for kept in &kept {
                let ty = plan.nodes[plan.yields[kept.index]].ty;
                let mut buffer = Elements::reserve(&self.threads.meter, ty, size, Filling::Part)?;
                words.outlet(kept.index, buffer.pointer(), 0);
                buffers.push(buffer);
            }
            Ok(Worker { words, aside, buffers })
        };
        let workers = self.threads.workers.threads().min(turns.blocks());
        let workers = std::iter::repeat_with(worker).take(workers).collect::<Result<Vec<Worker<'w>>, GaveUp>>()?;
        let filter = Filter { turns: &turns, kernel, kept: &kept };
        let outcomes = self.threads.workers.each(workers, &|_, mut worker| {
            let attending = turns.attend();
            while let Some(number) = turns.take() {
                self.take_turn(&filter, number, block(number), &mut worker, operands)?;
            }
            attending.leave();
            Some((worker.words, worker.aside))
        });
        let mut outcomes = outcomes.into_iter().collect::<Option<Vec<_>>>().ok_or(GaveUp)?;
        for (words, _) in &mut outcomes {
            for (space, end) in turns.ends().enumerate() {
                words.set_room(space, end..end);
            }
        }
        Ok(outcomes)
    }

    /// Computes a block, and puts what is kept of it where it belongs. None where something gives up.
    fn take_turn(
        &self,
        filter: &Filter<'_>,
        number: usize,
        block: Range<usize>,
        worker: &mut Worker<'_>,
        operands: &[LocalSlot],
    ) -> Option<()> {
        let &Filter { turns, kernel, kept } = filter;
        let Worker { words, buffers, .. } = worker;
        let spaces = self.group.plan.spaces();
        let piece = Piece { indices: block.clone(), segments: 0..0 };
        self.set_cursors(words, operands, &piece).ok()?;
        (0..spaces).for_each(|space| words.set_room(space, 0..block.len()));
        // SAFETY: the inputs have the elements that `length` has checked; in the buffers there is room for all elements
        // of the block, and of the columns that are not filtered no other block writes to the same part.
        if unsafe { self.call(kernel, words, block) } != Status::Done {
            return None;
        }
        let starts = turns.place(number, |space| words.position(space))?;
        for (kept, buffer) in kept.iter().zip(buffers) {
            let (count, start) = (words.position(kept.space), starts[kept.space]);
            // SAFETY: the kernel has written so many elements to the buffer; the column has room for all that blocks
            // could keep, and nobody else writes to this part of it, which lies behind what the blocks before keep.
            unsafe {
                let to = kept.column.load(Relaxed).add(start * kept.size);
                std::ptr::copy_nonoverlapping(buffer.pointer(), to, count * kept.size);
            }
        }
        Some(())
    }

    /// The indices of a block of which so many bytes are written, or read again, for each: few enough for a cache, and
    /// for every thread to have some.
    pub(super) fn block(&self, bytes: usize) -> usize {
        let threads = self.threads.workers.threads();
        let share = self.length.div_ceil(threads * PIECES);
        share.min(self.threads.tuning.block_bytes / bytes.max(1)).max(1).next_multiple_of(sum::BLOCK)
    }
}

//! When a run was where: what a trace shows of each thread, one passage after another.

use super::Reading;
use nesl_span::Span;
use std::time::Instant;

/// The most passages that are kept: those of longer runs would fill memory, and no page shows so many.
const MOST: usize = 1 << 20;

/// A while that a thread was at one place in user code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The place.
    pub place: Span,
    /// The thread: 0 is the one that runs the program, the others help it.
    pub thread: usize,
    /// When it began.
    pub begin: Instant,
    /// When it ended.
    pub end: Instant,
    /// Instructions in it.
    pub instructions: u64,
}

/// The passages of a thread, in their order, and those of threads that helped it.
#[derive(Clone, Debug, Default)]
pub(super) struct Passages {
    kept: Vec<Passage>,
    left_out: usize,
}

impl Passages {
    /// A thread was at a place between two readings.
    pub fn add(&mut self, place: Span, thread: usize, since: Reading, until: Reading) {
        let instructions = until.instructions.saturating_sub(since.instructions);
        let passage = Passage { place, thread, begin: since.time, end: until.time, instructions };
        match self.kept.last_mut() {
            // What goes on at the same place is one passage.
            Some(last) if (last.place, last.thread, last.end) == (place, thread, since.time) => {
                last.end = until.time;
                last.instructions += instructions;
            }
            _ => self.push(passage),
        }
    }

    /// A thread helped for a while.
    pub fn help(&mut self, passage: Passage) {
        // The last passage stays the last, so that what goes on there is one.
        let last = self.kept.pop();
        self.push(passage);
        last.into_iter().for_each(|last| self.push(last));
    }

    /// Those of a thread that helped.
    pub fn join(&mut self, others: Passages) {
        self.left_out += others.left_out;
        others.kept.into_iter().for_each(|passage| self.push(passage));
    }

    fn push(&mut self, passage: Passage) {
        if self.kept.len() < MOST { self.kept.push(passage) } else { self.left_out += 1 }
    }

    /// All that were kept, and how many were not.
    pub fn all(&self) -> (&[Passage], usize) {
        (&self.kept, self.left_out)
    }
}

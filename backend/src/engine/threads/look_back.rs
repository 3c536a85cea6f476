//! Blocks that threads compute at the same time, of which each hands something on to the next one, in turn.
//!
//! Blocks are taken in order. What a block waits for, those before have, which were taken earlier and take about as
//! long: so a thread hardly ever waits.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicUsize};

/// Blocks that are computed at the same time, and put one behind the other.
pub struct LookBack {
    blocks: usize,
    /// The block that is taken next.
    next: AtomicUsize,
    /// How many blocks, from the first on, have been counted.
    counted: AtomicUsize,
    /// How many elements they keep, by space.
    ends: Vec<AtomicUsize>,
    /// Whether some block will never be counted.
    is_over: AtomicBool,
}

/// How often a thread looks whether it is its turn before it lets others run in its place: some 10 µs.
const LOOKS: usize = 1000;

impl LookBack {
    /// So many blocks, of which each has elements in so many spaces.
    pub fn new(blocks: usize, spaces: usize) -> LookBack {
        let ends = (0..spaces).map(|_| AtomicUsize::new(0)).collect();
        LookBack {
            blocks,
            next: AtomicUsize::new(0),
            counted: AtomicUsize::new(0),
            ends,
            is_over: AtomicBool::new(false),
        }
    }

    /// How many blocks there are.
    pub fn blocks(&self) -> usize {
        self.blocks
    }

    /// How many elements have been counted in each space.
    pub fn ends(&self) -> impl Iterator<Item = usize> + '_ {
        self.ends.iter().map(|end| end.load(Relaxed))
    }

    /// The next block, none after the last.
    pub fn take(&self) -> Option<usize> {
        let number = self.next.fetch_add(1, Relaxed);
        (number < self.blocks).then_some(number)
    }

    /// Waits until all blocks before have been counted; where in each space this one goes, which keeps so many elements
    /// there. None where one of those before has given up.
    pub fn place(&self, number: usize, count: impl Fn(usize) -> usize) -> Option<Vec<usize>> {
        let ends = self.ends.iter().enumerate();
        self.in_turn(number, || ends.map(|(space, end)| end.fetch_add(count(space), Relaxed)).collect())
    }

    /// Waits until all blocks before have had their turn, and does what is this one's. None where one of those before
    /// has given up.
    pub fn in_turn<R>(&self, number: usize, act: impl FnOnce() -> R) -> Option<R> {
        let mut looks = 0;
        while self.counted.load(Acquire) != number {
            if self.is_over.load(Relaxed) {
                return None;
            }
            looks += 1;
            if looks < LOOKS { std::hint::spin_loop() } else { std::thread::yield_now() }
        }
        let result = act();
        self.counted.store(number + 1, Release);
        Some(result)
    }

    /// Says that a thread is there, so that others may wait for its blocks.
    pub fn attend(&self) -> Attending<'_> {
        Attending { turns: self, is_done: false }
    }
}

/// A thread that takes turns. If it is dropped before it leaves, because something gave up or panicked, nobody waits
/// any more.
pub struct Attending<'t> {
    turns: &'t LookBack,
    is_done: bool,
}

impl Attending<'_> {
    /// Says that it has no block any more.
    pub fn leave(mut self) {
        self.is_done = true;
    }
}

impl Drop for Attending<'_> {
    fn drop(&mut self) {
        if !self.is_done {
            self.turns.is_over.store(true, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::threads::workers::Workers;

    #[test]
    fn blocks_go_one_behind_the_other() {
        for threads in [1, 2, 4] {
            let workers = Workers::new(threads).expect("the system starts threads");
            let turns = LookBack::new(1000, 2);
            let count = |number: usize, space: usize| number * (space + 1) % 7;
            let placed = workers.each(vec![(); threads], &|_, ()| {
                let attending = turns.attend();
                let mut placed = Vec::new();
                while let Some(number) = turns.take() {
                    placed.push((number, turns.place(number, |space| count(number, space)).expect("all are counted")));
                }
                attending.leave();
                placed
            });
            let mut placed: Vec<(usize, Vec<usize>)> = placed.into_iter().flatten().collect();
            placed.sort_unstable();
            let mut ends = vec![0; 2];
            for (expected, (number, starts)) in placed.into_iter().enumerate() {
                assert_eq!((number, &starts), (expected, &ends));
                ends.iter_mut().enumerate().for_each(|(space, end)| *end += count(number, space));
            }
            assert_eq!(turns.ends.iter().map(|end| end.load(Relaxed)).collect::<Vec<_>>(), ends);
        }
    }

    #[test]
    fn nobody_waits_for_a_thread_that_has_gone() {
        let workers = Workers::new(2).expect("the system starts threads");
        let turns = LookBack::new(10, 1);
        let placed = workers.each(vec![(); 2], &|_, ()| {
            let attending = turns.attend();
            while let Some(number) = turns.take() {
                // The third block gives up; who has a later one finds out.
                if number == 2 || turns.place(number, |_| 1).is_none() {
                    return false;
                }
            }
            attending.leave();
            true
        });
        assert!(placed.contains(&false));
        assert_eq!((turns.counted.into_inner(), turns.ends[0].load(Relaxed)), (2, 2));
    }
}

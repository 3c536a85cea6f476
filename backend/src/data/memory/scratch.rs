//! Scratch memory of native code: for each worker a block of addresses, whose pages are taken as they are used.
//!
//! It belongs to the engine, not to a program: in a session each line that a user enters is a program, and would touch
//! fresh pages again. For the same reason what has been used is only given back when the pool has to ask the system for
//! memory, which then takes no more than before, or after a while. Blocks are on huge pages where those are fast, as
//! those of the pool are. A transform of 2^21 complex numbers on two threads took a third less so.

use super::block::{Block, Filling, HUGE_PAGE};
use super::share_of_addresses;
use nesl_native::Scratch;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes of scratch memory of a worker: of addresses, not of memory.
const SIZE: usize = 1 << 30;

/// One of so many parts of the addresses that the system leaves to this process is for the scratch memory of a worker,
/// at most.
const SHARE: usize = 4;

/// How often a size is halved that the system refuses.
const HALVINGS: usize = 6;

/// How many bytes that have been used each worker keeps: less than that is not worth a call.
const KEPT: usize = HUGE_PAGE;

/// The scratch memory of an engine that nobody uses at the moment.
#[derive(Debug, Default)]
pub struct ScratchStock(Mutex<Vec<Scratch>>);

impl ScratchStock {
    fn free(&self) -> MutexGuard<'_, Vec<Scratch>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs something with scratch memory, of no more bytes than columns may take; none if there is none.
    pub fn with<T>(&self, limit: Option<u64>, run: impl FnOnce(&mut Scratch) -> T) -> Option<T> {
        let free = self.free().pop();
        let mut scratch = match free {
            Some(scratch) => scratch,
            None => {
                let share = share_of_addresses(SIZE, SHARE);
                let most = limit.map_or(share, |limit| usize::try_from(limit).map_or(share, |limit| limit.min(share)));
                (0..HALVINGS).find_map(|halvings| new(most >> halvings))?
            }
        };
        let result = run(&mut scratch);
        self.free().push(scratch);
        Some(result)
    }

    /// Bytes of it that have been used.
    pub fn used(&self) -> usize {
        self.free().iter().map(Scratch::touched).sum()
    }

    /// Gives most of what has been used back to the system.
    pub fn give_back(&self) {
        self.free().iter_mut().for_each(|scratch| scratch.give_back(KEPT));
    }
}

/// Scratch memory of about so many bytes, which are whole huge pages if there are as many.
fn new(bytes: usize) -> Option<Scratch> {
    let pages = bytes / HUGE_PAGE * HUGE_PAGE;
    let block = Block::new(if pages > 0 { pages } else { bytes.max(1) }, Filling::Part)?;
    let (start, bytes) = (block.start(), block.size());
    // SAFETY: the block is nobody else's and frees its memory when it is dropped.
    Some(unsafe { Scratch::new(start, bytes, Box::new(block)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scratch_memory_is_used_again() {
        let stock = ScratchStock::default();
        let place = |limit| stock.with(limit, |scratch| scratch.bytes()).unwrap();
        assert_eq!(place(Some(5 << 20)), 4 << 20);
        assert_eq!(place(None), 4 << 20);
        let both = stock.with(None, |_| place(Some(1000))).unwrap();
        assert_eq!((both, stock.free().len()), (1000, 2));
    }
}

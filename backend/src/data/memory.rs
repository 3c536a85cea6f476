//! Where the elements of columns lie: recycled blocks of memory, large ones on huge pages.
//!
//! The first touch of a fresh page costs more than computing what is written there: the kernel clears 4 KiB pages at
//! about 2 GB/s, while memory that is already there is written at 20 to 40 GB/s. So blocks that columns no longer need
//! stay in the [`Pool`] of their engine and are handed out again: large ones as parts of whatever is free, joined with
//! what lies beside them ([`spans`]), and where no free piece is large enough their pages are put together under other
//! addresses; others by classes of size. A large block is fetched from the kernel in pages of 2 MiB ([`block`]), which
//! come ten times faster than small ones. Small columns take the system's allocator, which is good at them. [`Room`] is
//! what the rest of the backend sees: typed room for elements, which returns its block when it is dropped, on whatever
//! thread.
//!
//! How much is kept: blocks in use and free ones together never take more than a sixteenth more than was in use at the
//! peak of the last seconds, or [`SPARE`]. Free blocks that were not used for longest go first. A thread that lives
//! only while more than that spare is free lets peaks be forgotten: a session that waits for its user gives large
//! memory back within two [`WINDOW`]s. The limit of an engine ([`crate::data::buffer::Meter`]) and a kernel that has no
//! more take free blocks back at once.

#![allow(unsafe_code, reason = "uninitialised memory by its address; every block says why it is sound")]

mod block;
mod limit;
mod room;
mod scratch;
mod spans;

pub use block::Filling;
use block::{Block, HUGE_PAGE};
pub(crate) use limit::share_of_addresses;
pub use limit::{machine_limit, save_addresses};
use nesl_native::Scratch;
pub use room::Room;
use scratch::ScratchStock;
use spans::Spans;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// Bytes from which on memory comes from the pool.
///
/// Measured: here and up to twice this size both the pool and the system's allocator take 50 ns to give a block and to
/// take it back; for 1 KiB the pool takes 40 ns and the allocator 20. Longer ones the allocator may return to the
/// kernel.
pub const SMALLEST: usize = 32 << 10;

/// Free bytes that are never worth giving back.
pub const SPARE: usize = 64 << 20;

/// A free block of the allocator's may be so many times as large as what it is taken for: columns that become shorter
/// and shorter would leave free blocks of every size behind them.
const LOOSE: usize = 2;

/// How long a peak is remembered at least; it is forgotten after two of these.
const WINDOW: Duration = Duration::from_secs(5);

/// The sizes of blocks that are mapped are multiples of this.
const STEP: usize = 256 << 10;

/// The size of the blocks for so many bytes: of small ones four classes for each power of two, so that less than a
/// quarter is wasted.
fn class(bytes: usize) -> Option<usize> {
    let bytes = bytes.max(SMALLEST);
    let size = bytes.checked_next_multiple_of(1 << ((bytes - 1).ilog2() - 2))?;
    if block::maps(size) { bytes.checked_next_multiple_of(STEP) } else { Some(size) }
}

/// The blocks of an engine.
#[derive(Debug, Default)]
pub struct Pool {
    shelves: Mutex<Shelves>,
    /// Bytes of all blocks, in use or free: those of `shelves`, for whoever only wants to know.
    held: AtomicU64,
    scratch: ScratchStock,
}

/// What is free and what was in use.
#[derive(Debug, Default)]
struct Shelves {
    /// Free blocks of the allocator's by their size, those used last at the back, each with the time of its return.
    free: BTreeMap<usize, VecDeque<(u64, Block)>>,
    /// Free memory of the kernel's.
    spans: Spans,
    /// Blocks returned so far: the time.
    returned: u64,
    free_bytes: usize,
    used_bytes: usize,
    /// The most bytes in use at once in this window, and in the one before.
    peaks: [usize; 2],
    /// Whether there is a thread that lets peaks be forgotten.
    kept: bool,
}

impl Shelves {
    /// Bytes of blocks, in use or free, that there should be at most.
    fn bound(&self) -> usize {
        let peak = self.peaks[0].max(self.peaks[1]);
        peak.saturating_add(peak / 16).max(SPARE)
    }

    fn use_bytes(&mut self, size: usize) {
        self.used_bytes += size;
        self.peaks[0] = self.peaks[0].max(self.used_bytes);
    }

    /// A free block of this size, or one that is not much larger.
    fn take(&mut self, size: usize) -> Option<Block> {
        let block = match block::maps(size) {
            true => self.spans.take(size)?,
            false => self.free.range_mut(size..=size * LOOSE).find_map(|(_, blocks)| blocks.pop_back())?.1,
        };
        self.free_bytes -= block.size();
        self.use_bytes(block.size());
        Some(block)
    }

    /// Puts a block on the shelves that nobody uses.
    fn put(&mut self, block: Block) {
        self.free_bytes += block.size();
        self.returned += 1;
        let time = self.returned;
        match block.is_mapped() {
            true => self.spans.give(block, time),
            false => self.free.entry(block.size()).or_default().push_back((time, block)),
        }
    }

    /// Takes free blocks off the shelves, those first that were not used for longest, until no more than `bytes` are
    /// held.
    fn trim(&mut self, bytes: usize) -> Vec<Block> {
        let mut taken = Vec::new();
        while self.free_bytes > 0
            && let Some(excess @ 1..) = (self.used_bytes + self.free_bytes).checked_sub(bytes)
        {
            let oldest = self.free.iter().filter_map(|(&size, blocks)| Some((blocks.front()?.0, size))).min();
            let block = match (oldest, self.spans.oldest()) {
                (Some((time, size)), span) if span.is_none_or(|span| time < span) => {
                    self.free.get_mut(&size).and_then(|blocks| Some(blocks.pop_front()?.1))
                }
                _ => self.spans.take_oldest(excess.checked_next_multiple_of(HUGE_PAGE).unwrap_or(excess)),
            };
            let Some(block) = block else { break };
            self.free_bytes -= block.size();
            taken.push(block);
        }
        taken
    }
}

impl Pool {
    /// Bytes of all blocks, in use or free.
    pub fn held(&self) -> u64 {
        self.held.load(Relaxed)
    }

    fn shelves(&self) -> MutexGuard<'_, Shelves> {
        self.shelves.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Frees what was taken off the shelves, which are not locked meanwhile: the kernel takes its time.
    fn release(&self, taken: Vec<Block>) {
        let bytes: usize = taken.iter().map(Block::size).sum();
        drop(taken);
        self.held.fetch_sub(bytes as u64, Relaxed);
    }

    /// A free block of at least so many bytes, if there is one of their class.
    fn take(&self, bytes: usize) -> Option<Block> {
        self.shelves().take(class(bytes)?)
    }

    /// Runs something with scratch memory for native code, of no more bytes than columns may take; none if there is
    /// none.
    pub fn with_scratch<T>(self: &Arc<Pool>, limit: Option<u64>, run: impl FnOnce(&mut Scratch) -> T) -> Option<T> {
        let result = self.scratch.with(limit, run)?;
        let is_unkept = self.scratch.used() > SPARE && !std::mem::replace(&mut self.shelves().kept, true);
        if is_unkept {
            self.start_keeping();
        }
        Some(result)
    }

    /// A new block of at least so many bytes; none if the machine has none, or there would then be more than `most`
    /// bytes in blocks, even with no free ones.
    fn fetch(&self, bytes: usize, most: u64, filling: Filling) -> Option<Block> {
        let size = class(bytes)?;
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        // What is mapped ends with a huge page: other blocks may have the rest of it.
        let mapped = if block::maps(size) { size.checked_next_multiple_of(HUGE_PAGE)? } else { size };
        let mut shelves = self.shelves();
        if shelves.used_bytes.checked_add(size)? > most {
            return None;
        }
        let peak = shelves.peaks[0];
        shelves.use_bytes(size);
        // What is free, in pieces that are all too small, is put together before the kernel is asked for more.
        let pieces = if block::maps(size) { shelves.spans.take_pages(mapped) } else { Vec::new() };
        let gathered: usize = pieces.iter().map(Block::size).sum();
        shelves.free_bytes -= gathered;
        let bound = shelves.bound().min(most);
        let taken = shelves.trim(bound);
        drop(shelves);
        self.held.fetch_add((mapped - gathered) as u64, Relaxed);
        self.release(taken);
        if block::maps(size) && gathered < mapped {
            self.scratch.give_back();
        }
        let block = if gathered > 0 { Block::gathered(pieces, mapped, filling) } else { None };
        let block = block.or_else(|| Block::new(mapped, filling)).or_else(|| {
            self.release_down_to(0);
            Block::new(mapped, filling)
        });
        let mut shelves = self.shelves();
        let Some(block) = block else {
            shelves.used_bytes -= size;
            shelves.peaks[0] = peak.max(shelves.used_bytes);
            self.held.fetch_sub(mapped as u64, Relaxed);
            return None;
        };
        if mapped == size {
            return Some(block);
        }
        let (block, rest) = block.cut(size);
        shelves.put(rest);
        let taken = shelves.trim(bound);
        drop(shelves);
        self.release(taken);
        Some(block)
    }

    /// Takes back what a block has behind so many bytes, if that can be cut off.
    fn give_rest(self: &Arc<Pool>, block: Block, bytes: usize) -> Block {
        let kept = bytes.max(1).next_multiple_of(STEP);
        if !block.is_mapped() || kept >= block.size() {
            return block;
        }
        let (block, rest) = block.cut(kept);
        self.give(rest);
        block
    }

    /// Takes a block back.
    fn give(self: &Arc<Pool>, block: Block) {
        let mut shelves = self.shelves();
        shelves.used_bytes -= block.size();
        shelves.put(block);
        let bound = shelves.bound();
        let taken = shelves.trim(bound);
        let is_unkept = shelves.free_bytes > SPARE && !std::mem::replace(&mut shelves.kept, true);
        drop(shelves);
        self.release(taken);
        if is_unkept {
            self.start_keeping();
        }
    }

    /// Starts the thread that lets peaks be forgotten.
    fn start_keeping(self: &Arc<Pool>) {
        let pool = Arc::downgrade(self);
        // Without the thread peaks are remembered for good; that costs memory, and nothing else.
        _ = std::thread::Builder::new().name("nesl-memory".to_owned()).spawn(move || keep(&pool));
    }

    /// Frees blocks that are not in use, until no more than so many bytes are held.
    pub fn release_down_to(&self, bytes: u64) {
        let taken = self.shelves().trim(usize::try_from(bytes).unwrap_or(usize::MAX));
        self.release(taken);
    }

    /// Begins a window, and frees what its bound does not allow; whether there is more to be done in the next.
    fn begin_window(&self) -> bool {
        self.scratch.give_back();
        let mut shelves = self.shelves();
        shelves.peaks = [shelves.used_bytes, shelves.peaks[0]];
        let bound = shelves.bound();
        let taken = shelves.trim(bound);
        shelves.kept = shelves.free_bytes > SPARE;
        let kept = shelves.kept;
        drop(shelves);
        self.release(taken);
        kept
    }
}

/// Begins windows of a pool until it has nothing left to give back.
fn keep(pool: &Weak<Pool>) {
    loop {
        std::thread::sleep(WINDOW);
        let Some(true) = pool.upgrade().map(|pool| pool.begin_window()) else { return };
    }
}

#[cfg(test)]
mod tests;

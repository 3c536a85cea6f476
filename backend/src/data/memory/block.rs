//! Blocks of memory: from the system's allocator, or, large ones on Linux, from the kernel on huge pages.
//!
//! The first touch of a huge page is five times as fast as that of as many small ones, byte for byte, where the machine
//! is a real one. A virtual machine may have lent its free pages of 2 MiB to its host, which then brings them back one
//! small page after another: five times as slow as small pages, which the kernel rather takes from what it has just
//! used (measured: 9, 1.5 and 0.3 GB/s). So the pages of a new block are timed while they are touched, as they will be
//! anyway, and where one took too long the rest of the block, and the blocks fetched next, have small pages. One page
//! does not tell of the others: those that were freed last come first, and are fast (measured: 40 of 200). Of a block
//! that may stay empty behind its front ([`Filling::Part`]) it has to.
//!
//! Pages that are there already can be given other addresses, for some microseconds a huge page: that is how blocks in
//! several places become one.

use std::mem::ManuallyDrop;
use std::ptr::NonNull;
pub use system::maps;

/// Blocks start at multiples of this: a cache line, and the widest vector register.
pub const ALIGNMENT: usize = 64;

/// A huge page of x86-64, and of AArch64 with pages of 4 KiB.
pub const HUGE_PAGE: usize = 2 << 20;

/// How much of new memory is going to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filling {
    /// All of it.
    Whole,
    /// Nobody knows how much, from the front on.
    Part,
}

/// Uninitialised memory that belongs to nobody else.
#[derive(Debug)]
pub struct Block {
    start: NonNull<u8>,
    size: usize,
    /// Whether it is the kernel's, not the allocator's.
    mapped: bool,
}

// SAFETY: a block is the only owner of plain memory, which any thread may use and free.
unsafe impl Send for Block {}
// SAFETY: nothing can be done with a shared block but to ask for its size and address.
unsafe impl Sync for Block {}

impl Block {
    /// Memory of this size, which is not zero; none if the machine has none.
    pub fn new(size: usize, filling: Filling) -> Option<Block> {
        let mapped = maps(size);
        let start = if mapped { system::map(size, filling) } else { allocate(size) };
        Some(Block { start: start?, size, mapped })
    }

    /// One block of this size, which is whole huge pages: first the memory of others, whole huge pages each, that are
    /// no more together, and new memory behind it. None, and the others are gone, where the kernel does not do that.
    pub fn gathered(others: Vec<Block>, size: usize, filling: Filling) -> Option<Block> {
        let others: Vec<_> = others.into_iter().map(ManuallyDrop::new).map(|block| (block.start, block.size)).collect();
        Some(Block { start: system::gather(&others, size, filling)?, size, mapped: true })
    }

    /// The first byte.
    pub fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// The number of bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Whether it is the kernel's, and can be cut and joined.
    pub fn is_mapped(&self) -> bool {
        self.mapped
    }

    /// Cuts a mapped block in two, the first of so many bytes, which are whole pages.
    ///
    /// # Panics
    /// If there is nothing to cut off, or the block is not mapped.
    pub fn cut(self, size: usize) -> (Block, Block) {
        assert!(self.mapped && size > 0 && size < self.size, "{size} bytes of {self:?}");
        let whole = ManuallyDrop::new(self);
        // SAFETY: this is inside the block.
        let middle = unsafe { whole.start.add(size) };
        let part = |start, size| Block { start, size, mapped: true };
        (part(whole.start, size), part(middle, whole.size - size))
    }

    /// Joins mapped blocks of which the second begins where the first ends.
    ///
    /// # Panics
    /// If they do not lie so.
    pub fn join(self, next: Block) -> Block {
        let (first, next) = (ManuallyDrop::new(self), ManuallyDrop::new(next));
        let start = first.start.expose_provenance();
        let follows = start.get() + first.size == next.start.expose_provenance().get();
        assert!(first.mapped && next.mapped && follows, "{next:?} behind {first:?}");
        Block { start: NonNull::with_exposed_provenance(start), size: first.size + next.size, mapped: true }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if self.mapped {
            system::unmap(self.start, self.size);
        } else if let Some(layout) = layout(self.size) {
            // SAFETY: `new` allocated this block with this layout, and this is its only owner.
            unsafe { std::alloc::dealloc(self.start.as_ptr(), layout) };
        }
    }
}

fn layout(size: usize) -> Option<std::alloc::Layout> {
    std::alloc::Layout::from_size_align(size, ALIGNMENT).ok()
}

fn allocate(size: usize) -> Option<NonNull<u8>> {
    // SAFETY: sizes of blocks are not zero.
    layout(size).and_then(|layout| NonNull::new(unsafe { std::alloc::alloc(layout) }))
}

/// The kernel's memory.
#[cfg(target_os = "linux")]
mod system {
    use super::{Filling, HUGE_PAGE};
    use std::ptr::{NonNull, null_mut};
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    /// Nanoseconds of processor time from which on the first touch of a huge page is slower than that of small ones.
    const SLOW: u64 = 1_200_000;

    /// Bytes that get small pages before huge ones are tried again: enough for a slow trial not to matter.
    const WITHOUT_TRIAL: usize = 256 << 20;

    /// How many of these bytes are left. It is the same memory for all engines of the process.
    static SMALL: AtomicUsize = AtomicUsize::new(0);

    /// Whether blocks of this size are mapped: those that hold a huge page.
    pub fn maps(size: usize) -> bool {
        size >= HUGE_PAGE
    }

    /// Maps memory that starts at a huge page. Kernels without huge pages give small ones.
    pub fn map(size: usize, filling: Filling) -> Option<NonNull<u8>> {
        let start = reserve(size)?;
        choose_pages(start, size, filling);
        Some(start)
    }

    /// Maps memory of whole huge pages of which the first are those of `others`, which have no more and lose them.
    pub fn gather(others: &[(NonNull<u8>, usize)], size: usize, filling: Filling) -> Option<NonNull<u8>> {
        let pages: Vec<NonNull<u8>> = others.iter().flat_map(|&(start, size)| pages(start, size)).collect();
        let Some(start) = reserve(size) else {
            pages.into_iter().for_each(|page| unmap(page, HUGE_PAGE));
            return None;
        };
        // SAFETY: there are so many pages.
        let place = |page: usize| unsafe { start.add(page * HUGE_PAGE) };
        let moved = pages.iter().enumerate().take_while(|&(page, &from)| relocate(from, place(page))).count();
        if moved < pages.len() {
            pages[moved..].iter().for_each(|&page| unmap(page, HUGE_PAGE));
            unmap(start, moved * HUGE_PAGE);
            // Where the page should have been the kernel may have made a hole, which may be somebody else's by now.
            unmap(place(moved + 1), size - (moved + 1) * HUGE_PAGE);
            return None;
        }
        if moved * HUGE_PAGE < size {
            choose_pages(place(moved), size - moved * HUGE_PAGE, filling);
        }
        Some(start)
    }

    /// The huge pages of memory that is of whole ones.
    fn pages(start: NonNull<u8>, size: usize) -> impl Iterator<Item = NonNull<u8>> {
        // SAFETY: these are inside the memory.
        (0..size / HUGE_PAGE).map(move |page| unsafe { start.add(page * HUGE_PAGE) })
    }

    /// Lets a huge page, or as many bytes of small ones, be at another address, where memory is that nobody uses.
    fn relocate(from: NonNull<u8>, to: NonNull<u8>) -> bool {
        let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
        let (from, to) = (from.as_ptr().cast(), to.as_ptr().cast::<libc::c_void>());
        // SAFETY: callers own both places, and nobody uses the first after this.
        unsafe { libc::mremap(from, HUGE_PAGE, HUGE_PAGE, flags, to) == to }
    }

    /// Maps memory that starts at a huge page, and says nothing of its pages.
    fn reserve(size: usize) -> Option<NonNull<u8>> {
        let mapped = size.checked_add(HUGE_PAGE)?;
        let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping at an address of the kernel's choice changes no memory that anybody has.
        let start = unsafe { libc::mmap(null_mut(), mapped, protection, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return None;
        }
        let start = NonNull::new(start.cast::<u8>())?;
        // Linux maps from the top of the addresses down: at the end of the mapping the block touches that before it.
        let spare = start.as_ptr().align_offset(HUGE_PAGE);
        let before = if spare == 0 { HUGE_PAGE } else { spare };
        // SAFETY: `before` is at most a huge page, and the mapping is longer than one.
        let aligned = unsafe { start.add(before) };
        // SAFETY: the block ends inside the mapping.
        let end = unsafe { aligned.add(size) };
        unmap(start, before);
        unmap(end, HUGE_PAGE - before);
        Some(aligned)
    }

    /// Says of new memory, which starts at a huge page and holds it, what pages it is to have.
    fn choose_pages(start: NonNull<u8>, size: usize, filling: Filling) {
        let left = SMALL.load(Relaxed);
        if left > 0 {
            // Another thread may do the same: then a trial comes a little later.
            SMALL.store(left.saturating_sub(size), Relaxed);
            return advise(start, size, libc::MADV_NOHUGEPAGE);
        }
        advise(start, size, libc::MADV_HUGEPAGE);
        let tried = match filling {
            Filling::Whole => size / HUGE_PAGE,
            Filling::Part => 1,
        };
        let mut before = processor_time();
        for (number, page) in pages(start, size).take(tried).enumerate() {
            // SAFETY: a byte of memory that is mapped for writing and that nobody else knows.
            unsafe { page.write_volatile(0) };
            let after = processor_time();
            if after - before > SLOW {
                SMALL.store(WITHOUT_TRIAL, Relaxed);
                let touched = (number + 1) * HUGE_PAGE;
                // SAFETY: the memory holds the page, so this is inside or at its end.
                let rest = unsafe { start.add(touched) };
                return advise(rest, size - touched, libc::MADV_NOHUGEPAGE);
            }
            before = after;
        }
    }

    /// Tells the kernel how mapped memory will be used. Where it does not take the advice, all is well but slower.
    fn advise(start: NonNull<u8>, size: usize, advice: libc::c_int) {
        // SAFETY: this advice never changes what is in memory.
        unsafe { libc::madvise(start.as_ptr().cast(), size, advice) };
    }

    /// Nanoseconds for which this thread has run: the time of others on a busy machine is none of it.
    fn processor_time() -> u64 {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the kernel writes to `time`, which is there.
        unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    }

    /// Gives mapped memory back, which nobody uses any more. Both bounds are at pages.
    pub fn unmap(start: NonNull<u8>, size: usize) {
        if size > 0 {
            // SAFETY: callers own this part of a mapping, and nobody uses it after this.
            unsafe { libc::munmap(start.as_ptr().cast(), size) };
        }
    }
}

/// Elsewhere all blocks come from the allocator.
#[cfg(not(target_os = "linux"))]
mod system {
    use std::ptr::NonNull;

    pub fn maps(_: usize) -> bool {
        false
    }

    pub fn map(_: usize, _: super::Filling) -> Option<NonNull<u8>> {
        None
    }

    pub fn gather(_: &[(NonNull<u8>, usize)], _: usize, _: super::Filling) -> Option<NonNull<u8>> {
        None
    }

    pub fn unmap(_: NonNull<u8>, _: usize) {}
}

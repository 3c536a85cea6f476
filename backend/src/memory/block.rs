//! Blocks of memory: from the system's allocator, or, large ones on Linux, from the kernel on huge pages.

use std::ptr::NonNull;

/// Blocks start at multiples of this: a cache line, and the widest vector register.
pub const ALIGNMENT: usize = 64;

/// A huge page of x86-64, and of AArch64 with pages of 4 KiB.
pub const HUGE_PAGE: usize = 2 << 20;

/// Uninitialised memory that belongs to nobody else.
#[derive(Debug)]
pub struct Block {
    start: NonNull<u8>,
    size: usize,
}

// SAFETY: a block is the only owner of plain memory, which any thread may use and free.
unsafe impl Send for Block {}
// SAFETY: nothing can be done with a shared block but to ask for its size and address.
unsafe impl Sync for Block {}

impl Block {
    /// Memory of this size, which is not zero; none if the machine has none.
    pub fn new(size: usize) -> Option<Block> {
        let start = if system::maps(size) { system::map(size) } else { allocate(size) };
        Some(Block { start: start?, size })
    }

    /// The first byte.
    pub fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// The number of bytes.
    pub fn size(&self) -> usize {
        self.size
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if system::maps(self.size) {
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
    use super::HUGE_PAGE;
    use std::ptr::{NonNull, null_mut};

    /// Whether blocks of this size are mapped: those that hold a huge page.
    pub fn maps(size: usize) -> bool {
        size >= HUGE_PAGE
    }

    /// Maps memory that starts at a huge page. Kernels without huge pages give small ones.
    pub fn map(size: usize) -> Option<NonNull<u8>> {
        let mapped = size.checked_add(HUGE_PAGE)?;
        let (protection, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping at an address of the kernel's choice changes no memory that anybody has.
        let start = unsafe { libc::mmap(null_mut(), mapped, protection, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return None;
        }
        let start = NonNull::new(start.cast::<u8>())?;
        let before = start.as_ptr().align_offset(HUGE_PAGE);
        // SAFETY: `before` is less than a huge page, and the mapping is longer than one.
        let aligned = unsafe { start.add(before) };
        // SAFETY: the block ends inside the mapping.
        let end = unsafe { aligned.add(size) };
        unmap(start, before);
        unmap(end, HUGE_PAGE - before);
        // SAFETY: advice on memory of the mapping. Where the kernel does not take it, pages are small.
        unsafe { libc::madvise(aligned.as_ptr().cast(), size, libc::MADV_HUGEPAGE) };
        Some(aligned)
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

    pub fn map(_: usize) -> Option<NonNull<u8>> {
        None
    }

    pub fn unmap(_: NonNull<u8>, _: usize) {}
}

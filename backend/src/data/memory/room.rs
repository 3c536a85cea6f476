//! Room for elements, filled from its front on.

use super::block::{ALIGNMENT, Block};
use super::{Filling, Pool, SMALLEST};
use std::mem::{ManuallyDrop, MaybeUninit, size_of};
use std::ops::{Deref, DerefMut, Range};
use std::ptr::NonNull;
use std::sync::Arc;

/// Bytes before the elements in a block that has so many more than these take, and as many behind them: a few elements
/// that are put beside a long column later need no copy of it.
const MARGIN: usize = ALIGNMENT;

/// Room for elements, which are `Copy`, of which the first are there. Unlike a vector it never grows; its block returns
/// to the pool it is from. What its block has besides, before and behind, is the business of whoever shares the room.
#[derive(Debug)]
pub struct Room<T> {
    start: NonNull<T>,
    capacity: usize,
    length: usize,
    /// For how many elements its block has memory before the first.
    before: usize,
    /// And behind the room.
    behind: usize,
    /// The block that the room is in, and where to return it; none for memory of a vector.
    block: Option<(Block, Arc<Pool>)>,
}

// SAFETY: a room is the only owner of its memory and elements, as a vector is.
unsafe impl<T: Send> Send for Room<T> {}
// SAFETY: a shared room only gives shared access to its elements, as a vector does.
unsafe impl<T: Sync> Sync for Room<T> {}

impl<T> Room<T> {
    /// The number of elements that there is room for.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// The position of the first element in all memory of the block.
    pub fn first(&self) -> usize {
        self.before
    }

    /// For how many elements there is memory, margins included.
    pub fn reach(&self) -> usize {
        self.before + self.capacity + self.behind
    }

    /// Whether the room is in a block of the pool.
    pub fn is_block(&self) -> bool {
        self.block.is_some()
    }
}

impl<T: Copy> Room<T> {
    /// Whether room for this many elements comes from the pool.
    pub fn is_pooled(capacity: usize) -> bool {
        const { assert!(align_of::<T>() <= ALIGNMENT && size_of::<T>() > 0) };
        capacity > SMALLEST / size_of::<T>()
    }

    /// Room in a free block of the pool, if it has one.
    pub fn recycled(pool: &Arc<Pool>, capacity: usize) -> Option<Room<T>> {
        Some(Room::in_block(pool.take(capacity.checked_mul(size_of::<T>())?)?, pool, capacity))
    }

    /// Room in a new block; none if the machine has none, or there would then be more than `most` bytes in blocks.
    pub fn fresh(pool: &Arc<Pool>, capacity: usize, most: u64, filling: Filling) -> Option<Room<T>> {
        let block = pool.fetch(capacity.checked_mul(size_of::<T>())?, most, filling)?;
        Some(Room::in_block(block, pool, capacity))
    }

    fn in_block(block: Block, pool: &Arc<Pool>, capacity: usize) -> Room<T> {
        let start = block.start().cast::<T>();
        let is_wide = block.size() - capacity * size_of::<T>() >= 2 * MARGIN;
        let before = if is_wide { MARGIN / size_of::<T>() } else { 0 };
        // SAFETY: the block is longer than its margin.
        let start = unsafe { start.add(before) };
        let behind = block.size() / size_of::<T>() - before - capacity;
        Room { start, capacity, length: 0, before, behind, block: Some((block, Arc::clone(pool))) }
    }

    /// The room behind the elements.
    pub fn spare(&mut self) -> &mut [MaybeUninit<T>] {
        // SAFETY: the memory has room for `capacity` elements, of which `length` are there; it is borrowed with the
        // room.
        unsafe {
            let spare = self.start.add(self.length).cast::<MaybeUninit<T>>();
            std::slice::from_raw_parts_mut(spare.as_ptr(), self.capacity - self.length)
        }
    }

    /// Says that there are this many elements.
    ///
    /// # Safety
    /// They are not more than the capacity, and all are initialised.
    pub unsafe fn set_length(&mut self, length: usize) {
        debug_assert!(length <= self.capacity);
        self.length = length;
    }

    /// Gives up the room behind the elements: of a block it goes back to the pool, other memory to the system.
    pub fn shrink(&mut self) {
        if let Some((block, pool)) = self.block.take() {
            self.capacity = self.length;
            let block = pool.give_rest(block, (self.before + self.length) * size_of::<T>());
            self.behind = block.size() / size_of::<T>() - self.before - self.length;
            self.block = Some((block, pool));
        } else if self.length < self.capacity {
            *self = Room::from(self.to_vec());
        }
    }

    /// Whether less than half of its block is in use.
    pub fn is_half_empty(&self) -> bool {
        self.block.as_ref().is_some_and(|(block, _)| self.length * size_of::<T>() < block.size() / 2)
    }

    /// Adds an element.
    ///
    /// # Panics
    /// If there is no room.
    pub fn push(&mut self, element: T) {
        self.extend_from_slice(&[element]);
    }

    /// Adds elements.
    ///
    /// # Panics
    /// If there is no room.
    pub fn extend_from_slice(&mut self, elements: &[T]) {
        self.spare()[..elements.len()].write_copy_of_slice(elements);
        // SAFETY: these elements were there or have just been written.
        unsafe { self.set_length(self.length + elements.len()) };
    }

    /// Adds the elements of an iterator.
    ///
    /// # Panics
    /// If there is no room.
    pub fn extend_from_iter(&mut self, elements: impl IntoIterator<Item = T>) {
        let mut spare = self.spare().iter_mut();
        let mut added = 0;
        for element in elements {
            match spare.next() {
                Some(place) => place.write(element),
                None => panic!("no room for more than {added} elements"),
            };
            added += 1;
        }
        // SAFETY: these elements were there or have just been written.
        unsafe { self.set_length(self.length + added) };
    }

    /// Fills what is left of the room with copies of an element.
    pub fn fill_rest(&mut self, element: T) {
        self.extend_with(self.capacity - self.length, element);
    }

    /// Adds copies of an element.
    ///
    /// # Panics
    /// If there is no room.
    pub fn extend_with(&mut self, count: usize, element: T) {
        self.spare()[..count].fill(MaybeUninit::new(element));
        // SAFETY: these elements were there or have just been written.
        unsafe { self.set_length(self.length + count) };
    }

    /// Some elements, which the room need not know of, by their positions in all memory of the block.
    ///
    /// # Safety
    /// They have been written, and nobody writes there now.
    ///
    /// # Panics
    /// If there is no room for them.
    pub unsafe fn range(&self, range: Range<usize>) -> &[T] {
        self.check(&range);
        // SAFETY: the memory has room for them; the rest is what the caller says.
        unsafe { std::slice::from_raw_parts(self.at(range.start), range.len()) }
    }

    /// The same, to be overwritten.
    ///
    /// # Safety
    /// They have been written, and nobody else reads or writes there now.
    ///
    /// # Panics
    /// If there is no room for them.
    pub unsafe fn range_mut(&mut self, range: Range<usize>) -> &mut [T] {
        self.check(&range);
        // SAFETY: the memory has room for them; the rest is what the caller says.
        unsafe { std::slice::from_raw_parts_mut(self.at(range.start), range.len()) }
    }

    /// Writes elements from such a position on, without the room knowing of them.
    ///
    /// # Safety
    /// Nobody else reads or writes there now.
    ///
    /// # Panics
    /// If there is no room for them.
    pub unsafe fn write(&self, start: usize, elements: &[T]) {
        self.check(&(start..start + elements.len()));
        // SAFETY: the memory has room for them; nobody else uses it, so they are somewhere else.
        unsafe { std::ptr::copy_nonoverlapping(elements.as_ptr(), self.at(start), elements.len()) };
    }

    fn check(&self, range: &Range<usize>) {
        assert!(range.start <= range.end && range.end <= self.reach(), "{range:?} of room for {}", self.reach());
    }

    /// The address of a position that there is memory for.
    fn at(&self, position: usize) -> *mut T {
        self.start.as_ptr().wrapping_sub(self.before).wrapping_add(position)
    }

    /// Gives up all elements, not their room.
    pub fn clear(&mut self) {
        self.length = 0;
    }
}

impl<T: Copy> From<Vec<T>> for Room<T> {
    /// The memory of a vector as it is.
    fn from(elements: Vec<T>) -> Room<T> {
        let mut elements = ManuallyDrop::new(elements);
        let (length, capacity) = (elements.len(), elements.capacity());
        let start = NonNull::new(elements.as_mut_ptr()).unwrap_or(NonNull::dangling());
        Room { start, capacity, length, before: 0, behind: 0, block: None }
    }
}

impl<T> Drop for Room<T> {
    fn drop(&mut self) {
        match self.block.take() {
            Some((block, pool)) => pool.give(block),
            // SAFETY: the only maker of a room without a block has taken a vector apart for these; `Copy` elements need
            // no drop.
            None => drop(unsafe { Vec::from_raw_parts(self.start.as_ptr(), 0, self.capacity) }),
        }
    }
}

impl<T> Deref for Room<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: the first `length` elements are initialised.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.length) }
    }
}

impl<T> DerefMut for Room<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: the first `length` elements are initialised, and borrowed with the room.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.length) }
    }
}

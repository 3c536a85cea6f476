//! New columns, written without being cleared first.
//!
//! Clearing a large column before writing it would touch its memory twice. An [`Output`] hands out [`Writer`]s of
//! disjoint parts of its uninitialised room, each of which counts what it has written from its front on, and
//! [`Placer`]s, which count the different positions they have written. The column exists only once the counts add up to
//! its length, so that code which uses them is safe, whatever it does.

#![allow(unsafe_code, reason = "uninitialised memory; every block says why it is sound")]

use crate::data::buffer::Meter;
use crate::data::memory::{Filling, Room};
use crate::data::vector::Slice;
use nesl_native::wide;
use nesl_prim::{Element, Failure};
use std::any::TypeId;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The elements of a column that is being written.
#[derive(Debug)]
pub struct Output<T> {
    /// Empty, with room for `length` elements at least.
    elements: Room<T>,
    length: usize,
    /// Elements that the writers or placers handed out last have written; each adds its own when it is dropped.
    written: AtomicUsize,
}

impl<T: Element> Output<T> {
    /// Room for `length` elements.
    ///
    /// # Errors
    /// [`Failure::OutOfMemory`].
    pub fn reserve(meter: &Meter, length: usize) -> Result<Output<T>, Failure> {
        Output::reserve_more(meter, length, 0)
    }

    /// Room for `length` elements, and for more that may be appended to them.
    ///
    /// # Errors
    /// [`Failure::OutOfMemory`].
    pub fn reserve_more(meter: &Meter, length: usize, more: usize) -> Result<Output<T>, Failure> {
        let filling = if more == 0 { Filling::Whole } else { Filling::Part };
        let elements = meter.room_for(length.saturating_add(more), filling)?;
        Ok(Output { elements, length, written: AtomicUsize::new(0) })
    }

    fn room(&mut self) -> (&mut [MaybeUninit<T>], &AtomicUsize) {
        *self.written.get_mut() = 0;
        (&mut self.elements.spare()[..self.length], &self.written)
    }

    /// A writer of all elements.
    pub fn writer(&mut self) -> Writer<'_, T> {
        let (slots, written) = self.room();
        Writer { slots, filled: 0, readable: false, written: Some(written) }
    }

    /// Writers of consecutive parts of these lengths.
    ///
    /// # Panics
    /// If they are longer than the column.
    pub fn writers(&mut self, lengths: impl IntoIterator<Item = usize>) -> Vec<Writer<'_, T>> {
        self.writer().split(lengths)
    }

    /// Placers of these parts, which follow one another from the start of the column.
    ///
    /// # Panics
    /// If they are longer than the column.
    pub fn placers(&mut self, ranges: &[Range<usize>]) -> Vec<Placer<'_, T>> {
        let (mut rest, written) = self.room();
        ranges
            .iter()
            .map(|range| {
                let (slots, after) = std::mem::take(&mut rest).split_at_mut(range.len());
                rest = after;
                let seen = vec![0; slots.len().div_ceil(64)];
                Placer { slots, seen, placed: 0, written }
            })
            .collect()
    }

    /// The written column.
    ///
    /// # Panics
    /// If it is not all written.
    pub fn finish(mut self, meter: &Arc<Meter>) -> Slice<T> {
        assert_eq!(*self.written.get_mut(), self.length, "a column was not written to its end");
        // SAFETY: there is room for `length` elements, and all are written: the last generation of writers and placers
        // had disjoint parts of them, and each counted every slot at most once, and only after writing it.
        unsafe { self.elements.set_length(self.length) };
        Slice::new(meter, self.elements)
    }
}

/// Bytes that are copied in one go, by two instructions.
const SHORT: usize = 32;

/// As many times as that.
const SHORTS: usize = 4;

/// Writes part of a column from its front to its end.
#[derive(Debug)]
pub struct Writer<'a, T> {
    slots: &'a mut [MaybeUninit<T>],
    /// The first so many slots are written.
    filled: usize,
    /// Whether all slots held elements from the beginning.
    readable: bool,
    /// Where to add `filled` in the end.
    written: Option<&'a AtomicUsize>,
}

impl<T> Drop for Writer<'_, T> {
    fn drop(&mut self) {
        if let Some(written) = self.written {
            written.fetch_add(self.filled, Relaxed);
        }
    }
}

impl<'a, T: Element> Writer<'a, T> {
    /// A writer over existing elements.
    pub fn over(elements: &'a mut [T]) -> Writer<'a, T> {
        let (start, length) = (elements.as_mut_ptr().cast(), elements.len());
        // SAFETY: the same memory, and `MaybeUninit<T>` has the layout of `T`. The slots are private to this module,
        // which only ever writes elements to them, so the elements stay initialised.
        let slots = unsafe { std::slice::from_raw_parts_mut(start, length) };
        Writer { slots, filled: 0, readable: true, written: None }
    }

    /// Writers of consecutive parts, of these lengths, of what is still to be written; nothing is left for this one.
    ///
    /// # Panics
    /// If they are longer than that.
    pub fn split(&mut self, lengths: impl IntoIterator<Item = usize>) -> Vec<Writer<'a, T>> {
        let (_, mut rest) = std::mem::take(&mut self.slots).split_at_mut(self.filled);
        let (readable, written) = (self.readable, self.written);
        lengths
            .into_iter()
            .map(|length| {
                let (slots, after) = std::mem::take(&mut rest).split_at_mut(length);
                rest = after;
                Writer { slots, filled: 0, readable, written }
            })
            .collect()
    }

    /// The next elements of a writer [`over`](Writer::over) existing ones, before they are overwritten.
    ///
    /// # Panics
    /// If there are none: the column is new, or written to its end.
    pub fn overwritten(&self, count: usize) -> &[T] {
        assert!(self.readable, "a new column has no elements before they are written");
        let slots = &self.slots[self.filled..self.filled + count];
        // SAFETY: a readable writer was made over initialised elements.
        unsafe { slots.assume_init_ref() }
    }

    /// The slots of the next `count` elements, counted as written.
    #[inline(always)]
    fn next(&mut self, count: usize, write: impl FnOnce(&mut [MaybeUninit<T>])) {
        write(&mut self.slots[self.filled..self.filled + count]);
        self.filled += count;
    }

    /// Writes one element.
    #[inline(always)]
    pub fn push(&mut self, value: T) {
        self.slots[self.filled].write(value);
        self.filled += 1;
    }

    /// Writes `count` copies of an element.
    #[inline(always)]
    pub fn repeat(&mut self, value: T, count: usize) {
        self.next(count, |slots| slots.fill(MaybeUninit::new(value)));
    }

    /// Writes a copy of elements.
    #[inline(always)]
    pub fn copy(&mut self, elements: &[T]) {
        self.next(elements.len(), |slots| {
            slots.write_copy_of_slice(elements);
        });
    }

    /// Writes a copy of part of a column. Of a short part it copies more than that in one go, or in a few, where there is
    /// more on both sides, and goes on where the part ends: most parts are short, and how short would have to be found
    /// out each time.
    #[inline(always)]
    pub fn copy_part(&mut self, elements: &[T], part: Range<usize>) {
        let window = const { SHORT / size_of::<T>() };
        let windows = part.len().div_ceil(window).max(1);
        if windows <= SHORTS
            && !self.readable
            && let Some(more) = elements.get(part.start..part.start + windows * window)
            && let Some(slots) = self.slots.get_mut(self.filled..self.filled + windows * window)
        {
            for (slots, more) in slots.chunks_exact_mut(window).zip(more.chunks_exact(window)) {
                slots.write_copy_of_slice(more);
            }
            self.filled += part.len();
        } else {
            self.copy(&elements[part]);
        }
    }

    /// Writes `count` elements computed from their positions, counted from the next.
    #[inline(always)]
    pub fn compute(&mut self, count: usize, mut element: impl FnMut(usize) -> T) {
        self.next(count, |slots| {
            wide(|| {
                for (position, slot) in slots.iter_mut().enumerate() {
                    slot.write(element(position));
                }
            });
        });
    }

    /// Writes an element for each of `elements`.
    #[inline(always)]
    pub fn map<A: Copy>(&mut self, elements: &[A], mut element: impl FnMut(A) -> T) {
        self.next(elements.len(), |slots| {
            wide(|| {
                for (slot, &a) in slots.iter_mut().zip(elements) {
                    slot.write(element(a));
                }
            });
        });
    }

    /// Writes an element for each pair of `left` and `right`, which are equally long.
    #[inline(always)]
    pub fn map2<A: Copy, B: Copy>(&mut self, left: &[A], right: &[B], mut element: impl FnMut(A, B) -> T) {
        assert_eq!(left.len(), right.len(), "columns of different lengths");
        self.next(left.len(), |slots| {
            wide(|| {
                for (slot, (&a, &b)) in slots.iter_mut().zip(left.iter().zip(right)) {
                    slot.write(element(a, b));
                }
            });
        });
    }

    /// The same with three operands.
    #[inline(always)]
    pub fn map3<A: Copy, B: Copy, C: Copy>(
        &mut self,
        operands: (&[A], &[B], &[C]),
        mut element: impl FnMut(A, B, C) -> T,
    ) {
        let (first, second, third) = operands;
        assert!(first.len() == second.len() && second.len() == third.len(), "columns of different lengths");
        self.next(first.len(), |slots| {
            wide(|| {
                for (slot, ((&a, &b), &c)) in slots.iter_mut().zip(first.iter().zip(second).zip(third)) {
                    slot.write(element(a, b, c));
                }
            });
        });
    }

    /// Writes those of `elements` whose flag is true. Every element is stored and only the kept ones are counted:
    /// random flags cost no mispredicted branches.
    pub fn pack(&mut self, elements: &[T], flags: &[bool]) {
        for (&element, &flag) in elements.iter().zip(flags) {
            // Full, at the end of the last piece: what follows is not kept.
            let Some(slot) = self.slots.get_mut(self.filled) else {
                debug_assert!(!flag, "more elements to pack than were counted");
                continue;
            };
            slot.write(element);
            self.filled += usize::from(flag);
        }
    }
}

/// Writes part of a column at any positions, each once.
#[derive(Debug)]
pub struct Placer<'a, T> {
    slots: &'a mut [MaybeUninit<T>],
    /// One bit per slot: whether it is written.
    seen: Vec<u64>,
    placed: usize,
    written: &'a AtomicUsize,
}

impl<T> Drop for Placer<'_, T> {
    fn drop(&mut self) {
        self.written.fetch_add(self.placed, Relaxed);
    }
}

impl<T: Element> Placer<'_, T> {
    /// Writes the element at `position`; false if there is one already.
    ///
    /// # Panics
    /// If there is no such position.
    #[inline(always)]
    pub fn place(&mut self, position: usize, value: T) -> bool {
        self.slots[position].write(value);
        let (word, bit) = (&mut self.seen[position / 64], 1 << (position % 64));
        let new = *word & bit == 0;
        *word |= bit;
        self.placed += usize::from(new);
        new
    }
}

/// Room for a copy of up to `N` elements, not cleared before.
#[derive(Debug)]
pub struct Aside<A, const N: usize>([MaybeUninit<A>; N]);

impl<A: Element, const N: usize> Aside<A, N> {
    /// Nothing yet.
    pub fn new() -> Aside<A, N> {
        Aside([const { MaybeUninit::uninit() }; N])
    }

    /// A copy of elements that are known to be of type `A`.
    ///
    /// # Panics
    /// If they are more than `N`.
    #[inline(always)]
    pub fn copy<B: Element>(&mut self, elements: &[B], same: Same<B, A>) -> &[A] {
        let slots = &mut self.0[..elements.len()];
        for (slot, &element) in slots.iter_mut().zip(elements) {
            slot.write(same.cast(element));
        }
        // SAFETY: the loop has written all of these slots: there are as many as elements.
        unsafe { slots.assume_init_ref() }
    }
}

/// Evidence that `A` and `B` are one type: what the signature of a visitor of scalar operations cannot say.
#[derive(Debug)]
pub struct Same<A, B>(PhantomData<fn(A) -> B>);

impl<A, B> Clone for Same<A, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A, B> Copy for Same<A, B> {}

impl<A: Element, B: Element> Same<A, B> {
    /// The evidence, if they are.
    pub fn new() -> Option<Same<A, B>> {
        (TypeId::of::<A>() == TypeId::of::<B>()).then_some(Same(PhantomData))
    }

    /// The same value.
    #[inline(always)]
    pub fn cast(self, a: A) -> B {
        // SAFETY: the constructor has checked that A is B, and elements are `Copy`.
        unsafe { std::mem::transmute_copy(&a) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_make_a_column() {
        let meter = Meter::new(None);
        let mut output = Output::<i64>::reserve(&meter, 5).unwrap();
        let mut writers = output.writers([2, 0, 3]);
        writers[2].compute(3, |position| position as i64);
        writers[0].push(7);
        writers[0].repeat(8, 1);
        drop(writers);
        assert_eq!(output.finish(&meter).elements(), [7, 8, 0, 1, 2]);
    }

    #[test]
    fn parts_of_all_lengths_are_copied() {
        let meter = Meter::new(None);
        let elements: Vec<i64> = (0..40).collect();
        for length in 0..=elements.len() {
            let parts = [0..length, elements.len() - length..elements.len(), length / 2..length];
            let mut output = Output::<i64>::reserve(&meter, parts.iter().map(Range::len).sum()).unwrap();
            let mut writer = output.writer();
            parts.iter().for_each(|part| writer.copy_part(&elements, part.clone()));
            drop(writer);
            let expected: Vec<i64> = parts.iter().cloned().flat_map(|part| elements[part].to_vec()).collect();
            assert_eq!(output.finish(&meter).elements(), expected, "{length}");
        }
    }

    #[test]
    #[should_panic(expected = "not written to its end")]
    fn a_hole_is_noticed() {
        let meter = Meter::new(None);
        let mut output = Output::<i64>::reserve(&meter, 3).unwrap();
        output.writers([2, 1])[0].repeat(1, 2);
        output.finish(&meter);
    }

    #[test]
    #[should_panic(expected = "not written to its end")]
    fn the_same_place_twice_is_counted_once() {
        let meter = Meter::new(None);
        let mut output = Output::<u8>::reserve(&meter, 2).unwrap();
        {
            let mut placers = output.placers(std::slice::from_ref(&(0..2)));
            assert!(placers[0].place(1, 5));
            assert!(!placers[0].place(1, 6));
        }
        output.finish(&meter);
    }

    #[test]
    fn writing_over_elements_reads_them_first() {
        let mut elements = [1i64, 2, 3];
        let mut writer = Writer::over(&mut elements);
        let next = writer.overwritten(2)[1];
        writer.repeat(next * 10, 3);
        drop(writer);
        assert_eq!(elements, [20, 20, 20]);
    }
}

//! Moving elements to and from computed places: `gather`, `scatter`, `combine_by_index`, `permute`.
//!
//! Where several threads write to computed places, each owns a range of the places, reads all indices, and writes those
//! that fall into its range in the order of the indices: the last of equal indices wins without a race, whatever the
//! threads do. Reading an index in vain is cheap beside writing to a random place of memory. So are values combined,
//! floats in their order; where the order makes no difference and places are few, each thread combines its part of the
//! values apart.

use super::Threads;
use super::column::{slice_in, slice_of, wrap};
use super::output::{Output, Placer};
use super::tuning::{BLOCK, GRAIN, GRAIN_RANDOM, PATIENCE};
use super::workers::{parts, split};
use crate::data::vector::{Slice, Vector};
use crate::engine::interrupt::Interrupt;
use crate::engine::{Fault, Permute};
use crate::on_vector;
use nesl_prim::{Element, Failure, MonoidVisitor};
use std::ops::Range;

/// Elements moved by indices.
pub fn run(threads: &Threads, permute: Permute<'_, Vector>) -> Result<Vector, Fault> {
    permute.check();
    match permute {
        Permute::Slice(column, start, length) => Ok(column.slice(start, length)),
        Permute::Gather(column, indices) => gather(threads, column, indices),
        Permute::Scatter(column, indices, values) => scatter(threads, column, indices, values),
        Permute::Combine(op, column, indices, values) => {
            op.visit_monoid(Combined { threads, column, indices: indices.elements(), values })
        }
        Permute::Permute(values, indices) => self::permute(threads, values, indices),
    }
}

/// Elements that are written to random places of new memory before a thread looks whether the user has had enough: each
/// may be the first to touch a huge page, which takes up to some milliseconds.
const TOUCHES: usize = 64;

/// Element k of the result is element `indices[k]` of the column.
fn gather(threads: &Threads, column: &Vector, indices: &Vector) -> Result<Vector, Fault> {
    fn of<T: Element>(threads: &Threads, elements: &[T], indices: &[i64]) -> Result<Vector, Fault> {
        Ok(wrap(threads.workers.fill(&threads.meter, indices.len(), GRAIN_RANDOM, |range, writer| {
            writer.map(&indices[range], |index| elements[index as usize]);
        })?))
    }
    on_vector!(column, slice => of(threads, slice.elements(), indices.elements()))
}

/// The column with `values[k]` written at `indices[k]`, in place where nobody else sees it.
fn scatter(threads: &Threads, column: Vector, indices: &Vector, values: &Vector) -> Result<Vector, Fault> {
    fn of<T: Element>(threads: &Threads, mut column: Slice<T>, indices: &[i64], values: &[T]) -> Result<Vector, Fault> {
        by_owners(threads, own(threads, &mut column)?, indices, |place, element| *place = values[element])?;
        Ok(wrap(column))
    }
    on_vector!(column, slice => {
        let values = slice_of(values);
        of(threads, slice, indices.elements(), values.elements())
    })
}

/// The elements of a column that nobody else sees, which it is a copy for where somebody does.
pub(super) fn own<'a, T: Element>(threads: &Threads, column: &'a mut Slice<T>) -> Result<&'a mut [T], Fault> {
    if column.unique().is_none() {
        let elements = column.elements();
        *column = threads.workers.fill(&threads.meter, elements.len(), GRAIN, |range, writer| {
            writer.copy(&elements[range]);
        })?;
    }
    Ok(column.own())
}

/// Calls `write` with the place that each index means and the position of the index, for each place in the order of
/// these.
pub(super) fn by_owners<T: Send>(
    threads: &Threads,
    elements: &mut [T],
    indices: &[i64],
    write: impl Fn(&mut T, usize) + Sync,
) -> Result<(), Fault> {
    let places = elements.len();
    let ranges = owners(threads, (places, size_of::<T>()), indices.len());
    let items = ranges.iter().cloned().zip(parts(elements, &ranges)).collect();
    threads.workers.try_each(items, &|(range, part): (Range<usize>, &mut [T])| {
        let interrupt = threads.workers.interrupt();
        Ok(within(indices, &range, places, interrupt, PATIENCE, |element, place| {
            write(&mut part[place], element);
            true
        })?)
    })?;
    Ok(())
}

/// The column with `values[k]` combined into element `indices[k]`, in the order of k.
struct Combined<'a> {
    threads: &'a Threads,
    column: Vector,
    indices: &'a [i64],
    values: &'a Vector,
}

/// How many values are combined, at least, for each element of the copies of all threads: putting those together costs
/// less than a quarter of combining, then, and takes little room.
const COMBINED: usize = 4;

impl Combined<'_> {
    /// By the owners of places, which takes every value in order.
    fn in_order<T: Element>(mut self, combine: impl Fn(T, T) -> T + Sync) -> Result<Vector, Fault> {
        let (threads, values) = (self.threads, slice_of::<T>(self.values).elements());
        let column = slice_in::<T>(&mut self.column);
        by_owners(threads, own(threads, column)?, self.indices, |place, element| {
            *place = combine(*place, values[element]);
        })?;
        Ok(self.column)
    }

    /// By pieces of the values, each into elements of its own that begin as the identity.
    fn privately<T: Element>(
        mut self,
        pieces: usize,
        identity: T,
        combine: impl Fn(T, T) -> T + Sync,
    ) -> Result<Vector, Fault> {
        let (threads, values) = (self.threads, slice_of::<T>(self.values).elements());
        let column = slice_in::<T>(&mut self.column);
        let elements = own(threads, column)?;
        let copies = threads.workers.try_each(split(values.len(), pieces), &|range: Range<usize>| {
            let mut copy = threads.meter.reserve::<T>(elements.len())?;
            copy.resize(elements.len(), identity);
            let indices = self.indices[range.clone()].chunks(PATIENCE);
            for (indices, values) in indices.zip(values[range].chunks(PATIENCE)) {
                threads.workers.interrupt().check()?;
                for (&index, &value) in indices.iter().zip(values) {
                    let place = &mut copy[index as usize];
                    *place = combine(*place, value);
                }
            }
            Ok(copy)
        })?;
        for copy in copies {
            elements.iter_mut().zip(copy).for_each(|(element, part)| *element = combine(*element, part));
        }
        Ok(self.column)
    }
}

impl MonoidVisitor for Combined<'_> {
    type Output = Result<Vector, Fault>;

    fn exact<T: Element>(self, identity: T, combine: impl Fn(T, T) -> T + Copy + Send + Sync) -> Self::Output {
        let pieces = self.threads.workers.pieces(self.indices.len(), GRAIN_RANDOM).min(self.threads.workers.threads());
        let is_small = self.column.len().saturating_mul(pieces * COMBINED) <= self.indices.len();
        if pieces > 1 && is_small { self.privately(pieces, identity, combine) } else { self.in_order(combine) }
    }

    fn ordered(self, _: f64, combine: impl Fn(f64, f64) -> f64 + Copy + Send + Sync) -> Self::Output {
        self.in_order(combine)
    }
}

/// Element k of the values at position `indices[k]`. Fails on the first element whose place is taken.
fn permute(threads: &Threads, values: &Vector, indices: &Vector) -> Result<Vector, Fault> {
    fn of<T: Element>(threads: &Threads, values: &[T], indices: &[i64]) -> Result<Vector, Fault> {
        let mut output = Output::<T>::reserve(&threads.meter, values.len())?;
        let ranges = owners(threads, (values.len(), size_of::<T>()), indices.len());
        let items = ranges.iter().cloned().zip(output.placers(&ranges)).collect();
        // Of each range of places, the first element that finds its place taken.
        let taken = threads.workers.try_each(items, &|(range, mut placer): (Range<usize>, Placer<'_, T>)| {
            let interrupt = threads.workers.interrupt();
            Ok(within(indices, &range, values.len(), interrupt, TOUCHES, |element, place| {
                placer.place(place, values[element])
            })?)
        })?;
        if let Some(element) = taken.into_iter().flatten().min() {
            return Err(Fault { failure: Failure::NotAPermutation { index: indices[element] }, element });
        }
        Ok(wrap(output.finish(&threads.meter)))
    }
    on_vector!(values, slice => of(threads, slice.elements(), indices.elements()))
}

/// How many bytes of places are near to every thread, so that a write costs about as much as to look at an index.
const NEAR: usize = 1 << 20;

/// Ranges of places of so many bytes each, one for each thread: more would only mean more readers of all indices. Two
/// readers of near places would take longer than one does: each looks at all indices, to write for half of them. Means
/// of 5 * 10^6 floats by 1000 keys took 12.5 ms on one thread, and 16.5 on two owners.
fn owners(threads: &Threads, (places, bytes): (usize, usize), writes: usize) -> Vec<Range<usize>> {
    let owners = threads.workers.pieces(writes, GRAIN_RANDOM).min(threads.workers.threads());
    let is_near = places.saturating_mul(bytes) <= NEAR;
    split(places, if owners == 2 && is_near { 1 } else { owners })
}

/// Calls `write` with each element whose index is in the range, in order, and the index's position there, until `write`
/// gives false: then that element is returned. Elements are selected a block at a time without branches, which would be
/// mispredicted half of the time.
///
/// After `patience` elements each it looks whether the user has had enough.
///
/// The range that starts with place 0 also gets the indices that are no place of `places`, for `write` to panic on.
fn within(
    indices: &[i64],
    range: &Range<usize>,
    places: usize,
    interrupt: &Interrupt,
    patience: usize,
    mut write: impl FnMut(usize, usize) -> bool,
) -> Result<Option<usize>, Failure> {
    for (number, part) in indices.chunks(patience).enumerate() {
        interrupt.check()?;
        let start = number * patience;
        if let Some(position) = within_part(part, range, places, |element, place| write(start + element, place)) {
            return Ok(Some(start + position));
        }
    }
    Ok(None)
}

/// The same for indices that do not take long.
#[inline(always)]
fn within_part(
    indices: &[i64],
    range: &Range<usize>,
    places: usize,
    mut write: impl FnMut(usize, usize) -> bool,
) -> Option<usize> {
    if range.len() == places {
        return (0..indices.len()).find(|&element| !write(element, indices[element] as usize));
    }
    let mut selected = [0u16; BLOCK];
    let outside = if range.start == 0 { places } else { usize::MAX };
    for (number, block) in indices.chunks(BLOCK).enumerate() {
        let mut count = 0;
        for (position, &index) in block.iter().enumerate() {
            selected[count] = position as u16;
            let index = index as usize;
            count += usize::from((index.wrapping_sub(range.start) < range.len()) | (index >= outside));
        }
        for &position in &selected[..count] {
            let position = usize::from(position);
            let element = number * BLOCK + position;
            if !write(element, (block[position] as usize).wrapping_sub(range.start)) {
                return Some(element);
            }
        }
    }
    None
}

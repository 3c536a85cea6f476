//! Dealing elements out to buckets by the leading bits of their keys, on all threads.
//!
//! Each thread counts the elements of its pieces by bucket. From all counts together it is known where the elements of
//! each piece go in each bucket, so that threads write without seeing each other, and equal elements keep their order.
//! The same walk, done again, finds for each element where it went.

use super::block::{bits, extremes};
use super::pieces;
use crate::data::vector::Slice;
use crate::engine::Fault;
use crate::engine::threads::Threads;
use crate::engine::threads::output::{Output, Writer};
use crate::engine::threads::tuning::GRAIN;
use crate::engine::threads::workers::Workers;
use nesl_prim::{Direction, Element};
use std::ops::{Range, RangeInclusive};

/// Keys that differ in at most so many bits have a bucket each where elements are looked up in them.
pub(super) const EXACT_BITS: u32 = 11;

/// The same where elements only have to be counted, of which there are many to each bucket: counters fit into the cache
/// that a core has for itself.
pub(super) const COUNTED_BITS: u32 = 16;

/// The most leading bits of longer keys. 10^7 random ints take 77 ms to deal out to 2^10 buckets, with 2^11, more than
/// the processor has page translations at hand for, 171 ms.
const DEALT_BITS: u32 = 10;

/// The number of elements of a bucket that is sought, as a power of two.
const SOUGHT: u32 = 13;

/// What is known of the keys of elements before they are dealt out.
#[derive(Debug)]
pub(super) enum Survey {
    /// They are in order.
    Ascending,
    /// They are in the reverse of the order, and no two are equal.
    Descending,
    /// They are from the first to the second.
    Between(i64, i64),
}

/// Elements that are dealt out before a thread looks whether the user has had enough: of new memory each may be the
/// first to touch a huge page, which takes up to some milliseconds.
const TOUCHES: usize = 32;

/// Looks through the keys of elements.
pub(super) fn survey<T: Element>(workers: &Workers, direction: Direction, elements: &[T]) -> Result<Survey, Fault> {
    let key = |element: T| direction.key(element);
    // What is in no order ends both walks at once.
    let orders = workers.try_each(pieces(workers, elements.len()), &|range| {
        let with_next = &elements[range.start..elements.len().min(range.end + 1)];
        let is_ascending = with_next.is_sorted_by(|&left, &right| key(left) <= key(right));
        Ok((is_ascending, with_next.is_sorted_by(|&left, &right| key(left) > key(right))))
    })?;
    if orders.iter().all(|&(is_ascending, _)| is_ascending) {
        return Ok(Survey::Ascending);
    }
    if orders.iter().all(|&(_, is_descending)| is_descending) {
        return Ok(Survey::Descending);
    }
    let extremes = workers.try_each(pieces(workers, elements.len()), &|range| Ok(extremes(&elements[range], key)))?;
    let least = extremes.iter().map(|&(least, _)| least).min();
    let greatest = extremes.iter().map(|&(_, greatest)| greatest).max();
    Ok(Survey::Between(least.unwrap_or_default(), greatest.unwrap_or_default()))
}

/// Where elements go.
#[derive(Debug)]
pub(super) struct Partition {
    direction: Direction,
    /// What is subtracted from keys.
    least: i64,
    /// How many bits of the difference do not count.
    shift: u32,
    /// What each task walks over, and where the elements it meets go in each bucket.
    pieces: Vec<(Range<usize>, Vec<usize>)>,
    /// The bounds of the buckets.
    bounds: Vec<usize>,
}

impl Partition {
    /// How to deal out elements whose keys are between two that differ. Keys that differ in at most `exact` bits have a
    /// bucket each.
    pub(super) fn new<T: Element>(
        workers: &Workers,
        direction: Direction,
        elements: &[T],
        keys: &RangeInclusive<i64>,
        exact: u32,
    ) -> Result<Partition, Fault> {
        let (least, greatest) = (*keys.start(), *keys.end());
        let bits = bits(least, greatest);
        let sought = elements.len().max(1).ilog2().saturating_sub(SOUGHT).clamp(1, DEALT_BITS);
        let shift = if bits <= exact { 0 } else { bits - sought };
        let mut partition = Partition { direction, least, shift, pieces: Vec::new(), bounds: Vec::new() };
        let buckets = partition.bucket(greatest) + 1;
        let counts = workers.try_each(pieces(workers, elements.len()), &|range| {
            let mut counts = vec![0; buckets];
            for &element in &elements[range.clone()] {
                counts[partition.bucket(direction.key(element))] += 1;
            }
            Ok((range, counts))
        })?;
        partition.pieces = counts;
        partition.bounds.push(0);
        let mut next = 0;
        for bucket in 0..buckets {
            for (_, counts) in &mut partition.pieces {
                next += std::mem::replace(&mut counts[bucket], next);
            }
            partition.bounds.push(next);
        }
        Ok(partition)
    }

    #[inline(always)]
    fn bucket(&self, key: i64) -> usize {
        (key.wrapping_sub(self.least) as u64 >> self.shift) as usize
    }

    /// Whether all keys of a bucket are equal.
    pub(super) fn is_exact(&self) -> bool {
        self.shift == 0
    }

    /// The elements that go to each bucket.
    pub(super) fn buckets(&self) -> Vec<Range<usize>> {
        self.bounds.windows(2).map(|bounds| bounds[0]..bounds[1]).collect()
    }

    /// Moves elements to their buckets, and makes of each what is written there.
    pub(super) fn deal<T: Element, R: Element>(
        &self,
        threads: &Threads,
        elements: &[T],
        make: impl Fn(T) -> R + Sync,
    ) -> Result<Slice<R>, Fault> {
        let mut output = Output::reserve(&threads.meter, elements.len())?;
        // In the order of what is written: all pieces of one bucket, then those of the next.
        let places = |bucket: usize| self.pieces.iter().map(move |(_, starts)| starts[bucket]);
        let buckets = self.bounds.len() - 1;
        let starts: Vec<usize> = (0..buckets).flat_map(places).chain([elements.len()]).collect();
        let writers = output.writers(starts.windows(2).map(|bounds| bounds[1] - bounds[0]));
        let mut by_piece: Vec<Vec<Writer<'_, R>>> = Vec::new();
        by_piece.resize_with(self.pieces.len(), || Vec::with_capacity(buckets));
        for (number, writer) in writers.into_iter().enumerate() {
            by_piece[number % self.pieces.len()].push(writer);
        }
        let items = self.pieces.iter().map(|(range, _)| range).zip(by_piece).collect();
        threads.workers.try_each(items, &|(range, mut writers): (&Range<usize>, Vec<Writer<'_, R>>)| {
            for part in elements[range.clone()].chunks(TOUCHES) {
                threads.workers.interrupt().check()?;
                for &element in part {
                    writers[self.bucket(self.direction.key(element))].push(make(element));
                }
            }
            Ok(())
        })?;
        Ok(output.finish(&threads.meter))
    }

    /// The elements in order, where the keys of each bucket are equal.
    pub(super) fn fill<T: Element>(&self, threads: &Threads) -> Result<Slice<T>, Fault> {
        let length = self.bounds.last().copied().unwrap_or_default();
        Ok(threads.workers.fill(&threads.meter, length, GRAIN, |range, writer| {
            let mut next = range.start;
            let mut bucket = self.bounds.partition_point(|&bound| bound <= next);
            while next < range.end {
                let end = self.bounds[bucket].min(range.end);
                let key = self.least.wrapping_add(bucket as i64 - 1);
                writer.repeat(self.direction.element(key), end - next);
                (next, bucket) = (end, bucket + 1);
            }
        })?)
    }

    /// For each element what `find` makes of the place where [`deal`](Partition::deal) moves it.
    pub(super) fn look_up<T: Element>(
        &self,
        threads: &Threads,
        elements: &[T],
        find: impl Fn(usize) -> i64 + Sync,
    ) -> Result<Slice<i64>, Fault> {
        let mut output = Output::reserve(&threads.meter, elements.len())?;
        let writers = output.writers(self.pieces.iter().map(|(range, _)| range.len()));
        let items = self.pieces.iter().zip(writers).collect();
        type Item<'a, 'b> = (&'a (Range<usize>, Vec<usize>), Writer<'b, i64>);
        threads.workers.try_each(items, &|((range, starts), mut writer): Item<'_, '_>| {
            let mut places = starts.clone();
            for &element in &elements[range.clone()] {
                let place = &mut places[self.bucket(self.direction.key(element))];
                writer.push(find(*place));
                *place += 1;
            }
            Ok(())
        })?;
        Ok(output.finish(&threads.meter))
    }
}

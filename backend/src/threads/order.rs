//! Where elements are in the order of all: `rank_up`, `rank_down` and their segmented kin.
//!
//! Elements are sorted as pairs of a key and an index, so that equal keys need no stable algorithm. Each thread sorts its
//! piece, long ones by the digits of the keys (a digit that all keys share costs nothing); then sorted runs are merged two
//! by two, every merge by all threads: where to cut two runs for a part of the result is found by bisection.

use super::Threads;
use super::column::wrap;
use super::output::{Output, Placer, Writer};
use super::segment::{Run, runs};
use super::tuning::GRAIN_RANDOM;
use super::workers::{parts, split};
use crate::descriptor::Descriptor;
use crate::engine::Fault;
use crate::on_vector;
use crate::vector::{Slice, Vector};
use nesl_prim::{Direction, Element, Failure};
use std::ops::Range;

/// Key and index of an element.
type Item = (i64, usize);

/// From how many items on they are sorted by digits; a guess, not measured.
const DIGITS_FROM: usize = 2048;
/// The digits of a key.
const DIGITS: usize = 8;
/// The values of a digit.
const RADIX: usize = 256;

/// The position of each element in the order of all.
pub fn order(threads: &Threads, direction: Direction, column: &Vector) -> Result<Vector, Fault> {
    on_vector!(column, slice => Ok(wrap(ranks(threads, direction, slice.elements())?)))
}

/// The position of each element in the order of its segment.
pub fn seg_order(
    threads: &Threads,
    direction: Direction,
    column: &Vector,
    descriptor: &Descriptor,
) -> Result<Vector, Fault> {
    fn of<T: Element>(
        threads: &Threads,
        direction: Direction,
        elements: &[T],
        descriptor: &Descriptor,
    ) -> Result<Vector, Fault> {
        let mut output = Output::reserve(&threads.meter, descriptor.total()?)?;
        let runs = runs(threads, descriptor)?;
        let writers = output.writers(runs.iter().map(|run| run.elements));
        let (huge, others): (Vec<_>, Vec<_>) = runs.into_iter().zip(writers).partition(|(run, _)| run.huge);
        threads.workers.try_each(others, |(run, mut writer): (Run, Writer<'_, i64>)| {
            let (mut items, mut ranks) = (Vec::new(), Vec::new());
            for (start, length) in run.iter(descriptor) {
                items.clear();
                items.extend(keyed(direction, &elements[start..start + length], 0));
                sort(threads, &mut items)?;
                ranks.clear();
                ranks.resize(length, 0);
                for (rank, &(_, index)) in items.iter().enumerate() {
                    ranks[index] = rank as i64;
                }
                writer.copy(&ranks);
            }
            Ok(())
        })?;
        for (run, mut writer) in huge {
            let (start, length) = run.first(descriptor);
            writer.copy(ranks(threads, direction, &elements[start..start + length])?.elements());
        }
        Ok(wrap(output.finish(&threads.meter)))
    }
    on_vector!(column, slice => of(threads, direction, slice.elements(), descriptor))
}

/// The position of each element in the order of all, by all threads.
fn ranks<T: Element>(threads: &Threads, direction: Direction, elements: &[T]) -> Result<Slice<i64>, Failure> {
    let mut output = Output::reserve(&threads.meter, elements.len())?;
    let pieces = threads.workers.pieces(elements.len(), GRAIN_RANDOM).min(threads.workers.threads());
    let sorted = threads.workers.each(split(elements.len(), pieces), |_, range| {
        let mut items = threads.meter.reserve(range.len())?;
        items.extend(keyed(direction, &elements[range.clone()], range.start));
        sort(threads, &mut items)?;
        Ok(items)
    });
    let sorted = merged(threads, sorted.into_iter().collect::<Result<_, Failure>>()?)?;
    // Each thread owns a range of the result, and looks through all items for those that belong there.
    let ranges = split(elements.len(), pieces);
    let items = ranges.iter().cloned().zip(output.placers(&ranges)).collect();
    threads.workers.each(items, |_, (range, mut placer): (Range<usize>, Placer<'_, i64>)| {
        for (rank, &(_, index)) in sorted.iter().enumerate() {
            if range.contains(&index) {
                placer.place(index - range.start, rank as i64);
            }
        }
    });
    Ok(output.finish(&threads.meter))
}

/// The elements with their keys and indices, counted from `first`.
fn keyed<T: Element>(direction: Direction, elements: &[T], first: usize) -> impl Iterator<Item = Item> {
    elements.iter().enumerate().map(move |(index, &element)| (direction.key(element), first + index))
}

/// Sorts items that are in the order of their indices.
fn sort(threads: &Threads, items: &mut Vec<Item>) -> Result<(), Failure> {
    if items.len() < DIGITS_FROM {
        items.sort_unstable();
        return Ok(());
    }
    let mut sorted: Vec<Item> = threads.meter.reserve(items.len())?;
    sorted.resize(items.len(), (0, 0));
    // As unsigned numbers, keys are in the same order once the sign is turned over.
    let digit = |key: i64, place: usize| ((key ^ i64::MIN) >> (8 * place)) as usize % RADIX;
    let mut counts = [[0usize; RADIX]; DIGITS];
    for &(key, _) in items.iter() {
        for (place, counts) in counts.iter_mut().enumerate() {
            counts[digit(key, place)] += 1;
        }
    }
    for (place, counts) in counts.iter_mut().enumerate() {
        if counts.contains(&items.len()) {
            continue;
        }
        let mut next = 0;
        for count in counts.iter_mut() {
            next += std::mem::replace(count, next);
        }
        for &item in items.iter() {
            let position = &mut counts[digit(item.0, place)];
            sorted[*position] = item;
            *position += 1;
        }
        std::mem::swap(items, &mut sorted);
    }
    Ok(())
}

/// Sorted runs, of which there is at least one, made one.
fn merged(threads: &Threads, mut runs: Vec<Vec<Item>>) -> Result<Vec<Item>, Failure> {
    while runs.len() > 1 {
        let mut results = Vec::with_capacity(runs.len().div_ceil(2));
        for pair in runs.chunks(2) {
            let length = pair.iter().map(Vec::len).sum();
            let mut result: Vec<Item> = threads.meter.reserve(length)?;
            result.resize(length, (0, 0));
            results.push(result);
        }
        let share = threads.workers.threads().div_ceil(results.len());
        let mut tasks = Vec::new();
        for (pair, result) in runs.chunks(2).zip(&mut results) {
            let (left, right) = (pair[0].as_slice(), pair.get(1).map_or(&[][..], Vec::as_slice));
            let ranges = split(result.len(), share);
            for (range, part) in ranges.iter().zip(parts(result, &ranges)) {
                let (from, to) = (cut(left, right, range.start), cut(left, right, range.end));
                tasks.push((&left[from..to], &right[range.start - from..range.end - to], part));
            }
        }
        threads.workers.each(tasks, |_, (left, right, part)| merge(left, right, part));
        runs = results;
    }
    Ok(runs.pop().unwrap_or_default())
}

/// How many of the first `count` items of two sorted runs merged come from the left one.
fn cut(left: &[Item], right: &[Item], count: usize) -> usize {
    let (mut low, mut high) = (count.saturating_sub(right.len()), count.min(left.len()));
    while low < high {
        let middle = low + (high - low) / 2;
        // Whether more than `middle` come from the left: no two items are equal.
        if left[middle] < right[count - middle - 1] {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// Merges two sorted runs.
fn merge<'a>(mut left: &'a [Item], mut right: &'a [Item], result: &mut [Item]) {
    for slot in result {
        let from = match (left.first(), right.first()) {
            (Some(first), Some(other)) if other < first => &mut right,
            (Some(_), _) => &mut left,
            (None, _) => &mut right,
        };
        if let Some((first, rest)) = from.split_first() {
            (*slot, *from) = (*first, rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merges_cut_anywhere_give_the_sorted_whole() {
        let left: Vec<Item> = (0..50).map(|index| (index as i64 / 7 * 2, index)).collect();
        let right: Vec<Item> = (50..83).map(|index| (index as i64 / 5 - 9, index)).collect();
        let mut expected = [left.clone(), right.clone()].concat();
        expected.sort_unstable();
        for count in 0..=expected.len() {
            let from_left = cut(&left, &right, count);
            let mut first = vec![(0, 0); count];
            merge(&left[..from_left], &right[..count - from_left], &mut first);
            assert_eq!(first, expected[..count]);
        }
    }
}

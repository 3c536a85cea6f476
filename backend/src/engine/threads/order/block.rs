//! Sorting what fits into a cache, on one thread.
//!
//! Elements are sorted by as many leading bits of their keys as make most of them different, in one or two stable
//! passes over digits, the lower one first. What then has the same leading bits lies together, and is sorted by
//! comparisons: next to nothing where keys are spread evenly, and never worse than a sort by comparisons alone.

use crate::engine::threads::output::Writer;
use nesl_prim::{Direction, Element};

/// The most elements of a block: with what the passes move them to, a mebibyte, which a core's own cache holds.
pub(super) const LONGEST: usize = 1 << 16;

/// From how many elements on digits are faster than comparisons.
const DIGITS_FROM: usize = 256;

/// The most bits of a digit. Counters of two digits fit into the nearest cache beside what is read.
const DIGIT_BITS: u32 = 11;

/// The values of a digit.
const RADIX: usize = 1 << DIGIT_BITS;

/// How many more leading bits are sorted by than would number the elements: with 6, one element in 64 of evenly spread
/// ones shares them with another.
const SPARE_BITS: u32 = 6;

/// Up to how many elements ranks are counted, how many others come before: there are no branches to be mispredicted.
const COUNTED: usize = 12;

/// Sorts elements, in room that it keeps from one block to the next.
#[derive(Debug, Default)]
pub(super) struct Sorter<T> {
    copy: Vec<T>,
    aside: Vec<T>,
    keys: Vec<i64>,
}

impl<T: Element> Sorter<T> {
    /// Sorts elements.
    pub(super) fn sort(&mut self, direction: Direction, elements: &mut [T]) {
        let key = |element: T| direction.key(element);
        let keys = &mut self.keys;
        let mut by_comparison = |elements: &mut [T]| {
            let keys = sorted_keys(keys, direction, elements);
            for (element, &key) in elements.iter_mut().zip(keys) {
                *element = direction.element(key);
            }
        };
        if elements.len() < DIGITS_FROM {
            by_comparison(elements);
            return;
        }
        let (least, greatest) = extremes(elements, key);
        let relative = |element: T| key(element).wrapping_sub(least) as u64;
        by_digits(elements, &mut self.aside, bits(least, greatest), relative, by_comparison);
    }

    /// Writes elements in order.
    pub(super) fn write(&mut self, direction: Direction, elements: &[T], writer: &mut Writer<'_, T>) {
        if elements.len() <= 1 {
            writer.copy(elements);
        } else if elements.len() <= COUNTED {
            let keys = few_keys(direction, elements);
            let mut sorted = [0; COUNTED];
            for (key, rank) in keys.into_iter().zip(counted_ranks(&keys[..elements.len()])).take(elements.len()) {
                sorted[rank as usize] = key;
            }
            writer.map(&sorted[..elements.len()], |key| direction.element(key));
        } else if elements.len() < DIGITS_FROM {
            writer.map(sorted_keys(&mut self.keys, direction, elements), |key| direction.element(key));
        } else {
            let mut copy = std::mem::take(&mut self.copy);
            copy.clear();
            copy.extend_from_slice(elements);
            self.sort(direction, &mut copy);
            writer.copy(&copy);
            self.copy = copy;
        }
    }
}

/// The keys of elements in order: elements with equal keys are the same, and numbers are compared faster than by their
/// keys.
fn sorted_keys<'a, T: Element>(keys: &'a mut Vec<i64>, direction: Direction, elements: &[T]) -> &'a [i64] {
    keys.clear();
    keys.extend(elements.iter().map(|&element| direction.key(element)));
    keys.sort_unstable();
    keys
}

/// Ranks elements, in room that it keeps from one block to the next.
#[derive(Debug, Default)]
pub(super) struct Ranker {
    keys: Vec<i64>,
    items: Vec<u64>,
    aside: Vec<u64>,
}

impl Ranker {
    /// Writes the ranks of elements.
    pub(super) fn write<T: Element>(&mut self, direction: Direction, elements: &[T], writer: &mut Writer<'_, i64>) {
        if elements.len() <= COUNTED {
            let keys = few_keys(direction, elements);
            writer.copy(&counted_ranks(&keys[..elements.len()])[..elements.len()]);
            return;
        }
        let mut keys = std::mem::take(&mut self.keys);
        keys.clear();
        keys.extend(elements.iter().map(|&element| direction.key(element)));
        self.rank(&mut keys, 0);
        writer.copy(&keys);
        self.keys = keys;
    }

    /// Writes the rank of each key, counted from `first`, over it.
    pub(super) fn rank(&mut self, keys: &mut [i64], first: i64) {
        let Some(last) = keys.len().checked_sub(1) else { return };
        let (least, greatest) = extremes(keys, |key| key);
        let bits = bits(least, greatest);
        // An item is the leading bits of a key, all if there is room in 64 bits, and the index of the key.
        let index_bits = usize::BITS - last.leading_zeros();
        let dropped = (bits + index_bits).saturating_sub(u64::BITS);
        let mask = (1u64 << index_bits) - 1;
        self.items.clear();
        self.items.extend(keys.iter().enumerate().map(|(index, &key)| {
            let leading = key.wrapping_sub(least) as u64 >> dropped;
            (leading << index_bits) | index as u64
        }));
        let by_comparison = |items: &mut [u64]| match dropped {
            0 => items.sort_unstable(),
            _ => items.sort_unstable_by_key(|&item| (keys[(item & mask) as usize], item)),
        };
        if keys.len() < DIGITS_FROM {
            by_comparison(&mut self.items);
        } else {
            by_digits(&mut self.items, &mut self.aside, bits - dropped, |item| item >> index_bits, by_comparison);
        }
        for (rank, &item) in (first..).zip(&self.items) {
            keys[(item & mask) as usize] = rank;
        }
    }
}

/// The keys of a few elements, and zeros behind them.
fn few_keys<T: Element>(direction: Direction, elements: &[T]) -> [i64; COUNTED] {
    let mut keys = [0; COUNTED];
    for (key, &element) in keys.iter_mut().zip(elements) {
        *key = direction.key(element);
    }
    keys
}

/// The ranks of a few keys: of each two, the later one counts one more unless it is less, and then the earlier one
/// does.
fn counted_ranks(keys: &[i64]) -> [i64; COUNTED] {
    let mut ranks = [0; COUNTED];
    for (later, &key) in keys.iter().enumerate() {
        let mut rank = 0;
        for (&earlier_key, earlier_rank) in keys[..later].iter().zip(&mut ranks) {
            let is_less = key < earlier_key;
            *earlier_rank += i64::from(is_less);
            rank += i64::from(!is_less);
        }
        ranks[later] = rank;
    }
    ranks
}

/// The least and the greatest key; 0 and 0 if there is none.
pub(super) fn extremes<T: Copy>(elements: &[T], key: impl Fn(T) -> i64) -> (i64, i64) {
    let Some(&first) = elements.first() else { return (0, 0) };
    let some = key(first);
    elements.iter().fold((some, some), |(least, greatest), &element| {
        let key = key(element);
        (least.min(key), greatest.max(key))
    })
}

/// The number of bits in which keys from `least` to `greatest` differ once `least` is subtracted.
pub(super) fn bits(least: i64, greatest: i64) -> u32 {
    u64::BITS - (greatest.wrapping_sub(least) as u64).leading_zeros()
}

/// Sorts elements by a key of so many bits. `finish` sorts those that are alike in the leading bits; it gets them in
/// the order they came in. Where some bits are not looked at otherwise, all that are alike go through it.
fn by_digits<T: Copy>(
    elements: &mut [T],
    aside: &mut Vec<T>,
    bits: u32,
    key: impl Fn(T) -> u64 + Copy,
    finish: impl FnMut(&mut [T]),
) {
    let Some(&some) = elements.first().filter(|_| bits > 0) else { return };
    let leading = bits.min(elements.len().ilog2() + SPARE_BITS).min(2 * DIGIT_BITS);
    let shift = bits - leading;
    aside.resize(aside.len().max(elements.len()), some);
    let aside = &mut aside[..elements.len()];
    // The upper digit is the longer one, and has at least the leading bit.
    let low_bits = if leading <= DIGIT_BITS { 0 } else { leading / 2 };
    let low = |element: T| (key(element) >> shift) as usize & ((1 << low_bits) - 1);
    let high = |element: T| (key(element) >> (shift + low_bits)) as usize;
    let mut counts = [0; RADIX];
    if low_bits == 0 {
        elements.iter().for_each(|&element| counts[high(element) % RADIX] += 1);
        deal(elements, aside, &mut counts, leading, high);
        elements.copy_from_slice(aside);
    } else {
        let mut low_counts = [0; RADIX];
        for &element in elements.iter() {
            low_counts[low(element) % RADIX] += 1;
            counts[high(element) % RADIX] += 1;
        }
        deal(elements, aside, &mut low_counts, low_bits, low);
        deal(aside, elements, &mut counts, leading - low_bits, high);
    }
    if shift > 0 {
        each_alike(elements, |element| key(element) >> shift, finish);
    }
}

/// Moves elements to the places that the numbers of elements with each digit, of so many bits, give them.
fn deal<T: Copy>(from: &[T], to: &mut [T], counts: &mut [u32; RADIX], bits: u32, digit: impl Fn(T) -> usize) {
    let mut next = 0;
    for count in &mut counts[..1 << bits] {
        next += std::mem::replace(count, next);
    }
    for &element in from {
        let place = &mut counts[digit(element) % RADIX];
        to[*place as usize] = element;
        *place += 1;
    }
}

/// Calls `act` with all neighbours of the same class that are more than one.
fn each_alike<T: Copy>(elements: &mut [T], class: impl Fn(T) -> u64, mut act: impl FnMut(&mut [T])) {
    let mut start = 0;
    for end in 1..=elements.len() {
        if end == elements.len() || class(elements[end]) != class(elements[start]) {
            if end - start > 1 {
                act(&mut elements[start..end]);
            }
            start = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::buffer::Meter;
    use crate::engine::threads::output::Output;

    /// Keys of a block that differ in so many of their leading bits, some of them equal.
    fn keys(count: usize, bits: u32, seed: u64) -> Vec<i64> {
        let mut state = seed;
        let mut keys: Vec<i64> = (0..count)
            .map(|_| {
                state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                let mixed = (state ^ (state >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                if bits == 0 { -3 } else { (mixed >> (u64::BITS - bits)) as i64 ^ i64::MIN }
            })
            .collect();
        for index in (3..count).step_by(7) {
            keys[index] = keys[index / 2];
        }
        keys
    }

    #[test]
    fn blocks_are_sorted_and_ranked_stably() {
        let (mut sorter, mut ranker) = (Sorter::default(), Ranker::default());
        for count in [0, 1, 2, 3, COUNTED, COUNTED + 1, DIGITS_FROM - 1, DIGITS_FROM, 5000, LONGEST] {
            for bits in [0, 1, DIGIT_BITS, DIGIT_BITS + 1, 20, 40, 50, 64] {
                let keys = keys(count, bits, 5);
                let mut order: Vec<usize> = (0..count).collect();
                order.sort_by_key(|&index| keys[index]);
                let expected: Vec<i64> = order.iter().map(|&index| keys[index]).collect();
                let meter = Meter::new(None);
                let mut output = Output::reserve(&meter, count).unwrap();
                sorter.write(Direction::Up, &keys, &mut output.writer());
                assert_eq!(output.finish(&meter).elements(), expected, "{count} {bits}");
                let mut ranks = keys.clone();
                ranker.rank(&mut ranks, 100);
                assert!(order.iter().enumerate().all(|(rank, &index)| ranks[index] == 100 + rank as i64), "{bits}");
                let mut output = Output::reserve(&meter, count).unwrap();
                ranker.write(Direction::Up, &keys, &mut output.writer());
                assert!(output.finish(&meter).elements().iter().zip(&ranks).all(|(&rank, &moved)| rank + 100 == moved));
            }
        }
    }

    #[test]
    fn what_is_alike_in_the_leading_bits_is_told_apart() {
        // One key far away: all others share every bit that digits are taken from.
        let mut keys = keys(3000, 30, 9);
        keys[1000] = i64::MAX;
        let mut expected: Vec<(i64, usize)> = keys.iter().copied().zip(0..).collect();
        expected.sort_unstable();
        let mut ranks = keys.clone();
        Ranker::default().rank(&mut ranks, 0);
        assert!(expected.iter().enumerate().all(|(rank, &(_, index))| ranks[index] == rank as i64));
        Sorter::default().sort(Direction::Up, &mut keys);
        assert!(keys.iter().eq(expected.iter().map(|(key, _)| key)));
    }
}

//! Sorting and selecting.

use super::filters::filtered;
use rayon::prelude::*;

/// From here on sorting is left to the standard library.
const LEAF: usize = 2048;

/// Functional quicksort: three filters, recursion, concatenation.
pub fn quicksort(elements: &[i64]) -> Vec<i64> {
    if elements.len() < LEAF {
        let mut sorted = elements.to_vec();
        sorted.sort_unstable();
        return sorted;
    }
    let pivot = elements[elements.len() / 2];
    let lesser = filtered(elements, |&x| x < pivot);
    let equal = filtered(elements, |&x| x == pivot);
    let greater = filtered(elements, |&x| x > pivot);
    let (mut sorted, above) = rayon::join(|| quicksort(&lesser), || quicksort(&greater));
    sorted.extend_from_slice(&equal);
    sorted.extend_from_slice(&above);
    sorted
}

/// The elements in ascending order.
pub fn sort(elements: &[i64]) -> Vec<i64> {
    let mut sorted = elements.to_vec();
    sorted.par_sort_unstable();
    sorted
}

/// Merge sort.
pub fn mergesort(elements: &[i64]) -> Vec<i64> {
    let mut sorted = elements.to_vec();
    let mut other = vec![0; elements.len()];
    merge_halves(&mut sorted, &mut other, false);
    sorted
}

/// Sorts the elements, where they are or into the other slice.
fn merge_halves(elements: &mut [i64], other: &mut [i64], into_other: bool) {
    if elements.len() < LEAF {
        elements.sort_unstable();
        if into_other {
            other.copy_from_slice(elements);
        }
        return;
    }
    let middle = elements.len() / 2;
    let (left, right) = elements.split_at_mut(middle);
    let (other_left, other_right) = other.split_at_mut(middle);
    rayon::join(|| merge_halves(left, other_left, !into_other), || merge_halves(right, other_right, !into_other));
    if into_other {
        merge(left, right, other);
    } else {
        merge(other_left, other_right, elements);
    }
}

/// Merges two sorted slices: in parallel the parts below and above the middle element of the longer one.
fn merge(left: &[i64], right: &[i64], target: &mut [i64]) {
    const GRAIN: usize = 1 << 14;
    if target.len() > GRAIN {
        let (i, j) = if left.len() >= right.len() {
            let i = left.len() / 2;
            (i, right.partition_point(|y| *y < left[i]))
        } else {
            let j = right.len() / 2;
            (left.partition_point(|x| *x <= right[j]), j)
        };
        let (below, above) = target.split_at_mut(i + j);
        rayon::join(|| merge(&left[..i], &right[..j], below), || merge(&left[i..], &right[j..], above));
        return;
    }
    let (mut i, mut j) = (0, 0);
    for place in target {
        let from_left = j == right.len() || (i < left.len() && left[i] <= right[j]);
        *place = if from_left { left[i] } else { right[j] };
        i += usize::from(from_left);
        j += usize::from(!from_left);
    }
}

/// The upper of the middle elements: quickselect, whose first rounds are parallel.
pub fn median(elements: &[i64]) -> i64 {
    const GRAIN: usize = 1 << 20;
    let mut rank = elements.len() / 2;
    let mut remaining = None;
    loop {
        let candidates: &[i64] = remaining.as_deref().unwrap_or(elements);
        if candidates.len() < GRAIN || rayon::current_num_threads() == 1 {
            let mut candidates = remaining.unwrap_or_else(|| elements.to_vec());
            return *candidates.select_nth_unstable(rank).1;
        }
        let mut sample: Vec<i64> = candidates.iter().step_by(candidates.len() / 1000).copied().collect();
        let position = (sample.len() - 1) * rank / candidates.len();
        let pivot = *sample.select_nth_unstable(position).1;
        let below = candidates.par_iter().filter(|&&x| x < pivot).count();
        let equal = candidates.par_iter().filter(|&&x| x == pivot).count();
        let next = if rank < below {
            filtered(candidates, |&x| x < pivot)
        } else if rank < below + equal {
            return pivot;
        } else {
            rank -= below + equal;
            filtered(candidates, |&x| x > pivot)
        };
        remaining = Some(next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::random_ints;

    #[test]
    fn sorts_and_the_median_agree_with_the_standard_library_on_two_threads() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        for length in [1, 2, 5000, 3_000_001] {
            let elements = random_ints(length);
            let mut expected = elements.clone();
            expected.sort();
            pool.install(|| {
                assert_eq!(quicksort(&elements), expected);
                assert_eq!(mergesort(&elements), expected);
                assert_eq!(median(&elements), expected[length / 2]);
            });
        }
    }
}

//! Filters: in parallel over blocks, and without a branch for each element.

use rayon::prelude::*;

/// Elements that one task looks at.
const BLOCK: usize = 1 << 16;
/// Elements that are packed at once, in a buffer on the stack.
const PACKED: usize = 1024;

/// The elements that are to be kept, in their order.
pub fn filtered<T: Copy + Default + Send + Sync>(elements: &[T], keep: impl Fn(&T) -> bool + Sync) -> Vec<T> {
    if elements.len() <= BLOCK {
        let mut kept = Vec::with_capacity(elements.len());
        pack(elements, &keep, |part| kept.extend_from_slice(part));
        return kept;
    }
    let counts: Vec<usize> =
        elements.par_chunks(BLOCK).map(|block| block.iter().filter(|element| keep(element)).count()).collect();
    let mut kept = vec![T::default(); counts.iter().sum()];
    let mut places = Vec::with_capacity(counts.len());
    let mut rest = kept.as_mut_slice();
    for count in counts {
        let (place, after) = rest.split_at_mut(count);
        places.push(place);
        rest = after;
    }
    places.into_par_iter().zip(elements.par_chunks(BLOCK)).for_each(|(mut place, block)| {
        pack(block, &keep, |part| {
            let (target, after) = std::mem::take(&mut place).split_at_mut(part.len());
            target.copy_from_slice(part);
            place = after;
        });
    });
    kept
}

/// Hands out the kept elements, a few at a time.
fn pack<T: Copy + Default>(elements: &[T], keep: &impl Fn(&T) -> bool, mut take: impl FnMut(&[T])) {
    let mut buffer = [T::default(); PACKED];
    for part in elements.chunks(PACKED) {
        let mut count = 0;
        for element in part {
            // Always written, and kept or not by counting on or not: which of both cannot be predicted.
            buffer[count] = *element;
            count += usize::from(keep(element));
        }
        take(&buffer[..count]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_what_a_filter_of_the_standard_library_keeps() {
        for length in [0, 1, PACKED, PACKED + 1, BLOCK, 3 * BLOCK + 7] {
            let elements: Vec<i64> = (0..length as i64).map(|i| i * 7919 % 1013).collect();
            let expected: Vec<i64> = elements.iter().copied().filter(|x| x % 3 == 0).collect();
            assert_eq!(filtered(&elements, |x| x % 3 == 0), expected);
        }
    }
}

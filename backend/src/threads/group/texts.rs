//! Texts compared pair by pair: whether all characters of a segment are those of another one.
//!
//! That is how strings are told apart, by `name` and all that builds on it, and most are a few characters long. A kernel takes the
//! characters one by one, and mispredicts where a text ends; here eight are compared at once, and the length only decides how many
//! of them count.

use super::{GaveUp, LocalSlot, descriptor};
use crate::group::{Group, Segments, Texts};
use crate::threads::Threads;
use crate::threads::column::wrap;
use crate::threads::tuning::GRAIN_RANDOM;
use crate::value::Slot;

/// Compares them.
pub fn run(threads: &Threads, group: &Group, texts: Texts, operands: &[LocalSlot]) -> Result<Vec<LocalSlot>, GaveUp> {
    let side = |(column, segments): Segments| -> Result<_, GaveUp> {
        let Slot::Column(column) = &operands[column] else { panic!("{:?} of no column", group.plan) };
        Ok((column.elements::<u8>(), descriptor(&operands[segments]).starts()?))
    };
    let (left, right) = (side(texts.left)?, side(texts.right)?);
    let lengths = descriptor(&operands[texts.left.1]).lengths();
    let results = threads.workers.fill(&threads.meter, lengths.len(), GRAIN_RANDOM, |range, writer| {
        let starts = left.1[range.clone()].iter().zip(&right.1[range.clone()]);
        for ((&first, &other), &length) in starts.zip(&lengths[range]) {
            writer.push(are_equal(&left.0[first as usize..], &right.0[other as usize..], length as usize));
        }
    })?;
    Ok(vec![Slot::Column(wrap(results))])
}

/// Whether the first `length` characters are equal, of which there are as many.
#[inline]
fn are_equal(left: &[u8], right: &[u8], length: usize) -> bool {
    const WORD: usize = size_of::<u64>();
    let word = |text: &[u8], at: usize| text[at..].first_chunk::<WORD>().map(|word| u64::from_le_bytes(*word));
    match (word(left, 0), word(right, 0)) {
        (Some(first), Some(other)) if length <= WORD => {
            // Those behind the end do not count.
            let behind = 8 * (WORD - length) as u32;
            (first ^ other).checked_shl(behind).unwrap_or(0) == 0
        }
        (Some(first), Some(other)) if length <= 2 * WORD => {
            first == other && word(&left[..length], length - WORD) == word(&right[..length], length - WORD)
        }
        _ => left[..length] == right[..length],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_equal_as_far_as_they_go() {
        let text: Vec<u8> = (0..40).collect();
        for length in 0..text.len() {
            for place in 0..text.len() {
                let mut other = text.clone();
                other[place] ^= 1 << (place % 8);
                for (left, right) in [(&text[..], &other[..]), (&other[..length.max(place + 1)], &text[..])] {
                    assert_eq!(
                        are_equal(left, right, length),
                        place >= length,
                        "{length} characters, other at {place}"
                    );
                }
            }
            assert!(are_equal(&text[..length], &text, length), "{length} characters");
        }
    }
}

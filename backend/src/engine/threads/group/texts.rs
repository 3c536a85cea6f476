//! Texts, segment by segment: whether all characters of one are those of another one, and what they add to its hash.
//!
//! That is how strings are told apart, by `name` and all that builds on it, and most are a few characters long. A
//! kernel takes the characters one by one, and mispredicts where a text ends; here eight are taken at once, and the
//! length only decides how many of them count.

use super::{GaveUp, LocalSlot};
use crate::data::slot::Slot;
use crate::data::vector::Vector;
use crate::engine::group::{Segments, Texts};
use crate::engine::threads::Threads;
use crate::engine::threads::column::wrap;
use crate::engine::threads::tuning::GRAIN_RANDOM;
use nesl_native::Ints;
use nesl_prim::meaning::{hash_place, text_key};

/// Compares or hashes them.
pub fn run(threads: &Threads, texts: Texts, operands: &[LocalSlot]) -> Result<Vec<LocalSlot>, GaveUp> {
    let side = |(column, segments): Segments| -> Result<_, GaveUp> {
        Ok((operands[column].as_column().elements::<u8>(), operands[segments].as_descriptor()))
    };
    let (workers, meter) = (&threads.workers, &threads.meter);
    let results = match texts {
        Texts::Equal(left, right) => {
            let ((left, segments), (right, others)) = (side(left)?, side(right)?);
            let (lengths, starts, others) = (segments.lengths(), segments.starts()?, others.starts()?);
            if let Some(sought) = Sought::of(right, others, lengths) {
                return Ok(vec![Slot::Column(sought.at_all(threads, left, starts)?)]);
            }
            if let Some(sought) = Sought::of(left, starts, lengths) {
                return Ok(vec![Slot::Column(sought.at_all(threads, right, others)?)]);
            }
            wrap(workers.fill(meter, lengths.len(), GRAIN_RANDOM, |range, writer| {
                for text in range {
                    let (first, other) = (starts.at(text) as usize, others.at(text) as usize);
                    writer.push(are_equal(&left[first..], &right[other..], lengths.at(text) as usize));
                }
            })?)
        }
        Texts::Hash(text) => {
            let (text, segments) = side(text)?;
            let (lengths, starts) = (segments.lengths(), segments.starts()?);
            wrap(workers.fill(meter, lengths.len(), GRAIN_RANDOM, |range, writer| {
                for number in range {
                    writer.push(hash(&text[starts.at(number) as usize..], lengths.at(number) as usize));
                }
            })?)
        }
    };
    Ok(vec![Slot::Column(results)])
}

const WORD: usize = size_of::<u64>();

/// The first sixteen characters as the digits of two numbers, the first one last; none where there are not so many.
#[inline]
fn two_words(text: &[u8]) -> Option<(u64, u64)> {
    let (front, rest) = text.split_first_chunk::<WORD>()?;
    Some((u64::from_le_bytes(*front), u64::from_le_bytes(*rest.first_chunk::<WORD>()?)))
}

/// The last so many digits of a number, or all.
#[inline]
fn digits(word: u64, count: usize) -> u64 {
    if count < WORD { word & ((1 << (8 * count)) - 1) } else { word }
}

/// The keys of the blocks of four characters that two words are.
const KEYS: [u64; 4] = [text_key(0), text_key(1), text_key(2), text_key(3)];

/// What the first `length` characters add to the hash of a text.
#[inline]
fn hash(text: &[u8], length: usize) -> i64 {
    let block = |word: u64, keys: &[u64]| {
        let (low, high) = (word & u64::from(u32::MAX), word >> 32);
        low.wrapping_mul(keys[0]).wrapping_add(high.wrapping_mul(keys[1]))
    };
    match two_words(text) {
        Some((front, back)) if length <= 2 * WORD => {
            let (front, back) = (digits(front, length), digits(back, length.saturating_sub(WORD)));
            block(front, &KEYS[..2]).wrapping_add(block(back, &KEYS[2..])) as i64
        }
        _ => {
            let (words, rest) = text[..length].as_chunks::<WORD>();
            let sum = words.iter().enumerate().fold(0u64, |sum, (number, word)| {
                let keys = [text_key(2 * number as u64), text_key(2 * number as u64 + 1)];
                sum.wrapping_add(block(u64::from_le_bytes(*word), &keys))
            });
            let places = rest
                .iter()
                .enumerate()
                .map(|(further, &character)| hash_place((words.len() * WORD + further) as i64, i64::from(character)));
            places.fold(sum as i64, i64::wrapping_add)
        }
    }
}

/// A text that all others are compared with, which are as long: what is taken of it is taken once.
#[derive(Clone, Copy)]
struct Sought<'a> {
    text: &'a [u8],
    /// Its first characters, as the digits of a number, and those of all ones that would be as many.
    first: u64,
    mask: u64,
}

impl<'a> Sought<'a> {
    /// The only text, if there is but one.
    fn of(characters: &'a [u8], starts: Ints<'_>, lengths: Ints<'_>) -> Option<Sought<'a>> {
        let (start, length) = (starts.as_constant()? as usize, lengths.as_constant()? as usize);
        let text = characters.get(start..start.checked_add(length)?)?;
        let mut first = [0; WORD];
        let count = length.min(WORD);
        first[..count].copy_from_slice(&text[..count]);
        Some(Sought { text, first: u64::from_le_bytes(first), mask: digits(u64::MAX, length) })
    }

    /// Whether it is where others start.
    fn at_all(self, threads: &Threads, characters: &[u8], starts: Ints<'_>) -> Result<Vector, GaveUp> {
        let is_here = |start: i64| self.is_first(&characters[start as usize..]);
        Ok(wrap(threads.workers.fill(&threads.meter, starts.len(), GRAIN_RANDOM, |range, writer| {
            match starts.as_progression() {
                Some([first, stride]) => {
                    writer.compute(range.len(), |number| {
                        is_here(first.wrapping_add(stride.wrapping_mul((range.start + number) as i64)))
                    });
                }
                None => range.for_each(|number| writer.push(is_here(starts.at(number)))),
            }
        })?))
    }

    /// Whether characters begin with it. At most places the first ones tell.
    #[inline]
    fn is_first(self, characters: &[u8]) -> bool {
        let length = self.text.len();
        match characters.first_chunk() {
            Some(&word) => {
                (u64::from_le_bytes(word) ^ self.first) & self.mask == 0
                    && (length <= WORD || characters[WORD..length] == self.text[WORD..])
            }
            None => characters[..length] == *self.text,
        }
    }
}

/// Whether the first `length` characters are equal, of which there are as many.
#[inline]
fn are_equal(left: &[u8], right: &[u8], length: usize) -> bool {
    match (two_words(left), two_words(right)) {
        (Some((front, back)), Some((other_front, other_back))) if length <= 2 * WORD => {
            let behind = length.saturating_sub(WORD);
            digits(front ^ other_front, length) | digits(back ^ other_back, behind) == 0
        }
        _ => are_same(&left[..length], &right[..length]),
    }
}

/// Whether two texts of one length are equal, where there may be nothing behind them: of a word that is looked for in a
/// text. At most places the first characters tell.
#[inline]
fn are_same(left: &[u8], right: &[u8]) -> bool {
    let length = left.len();
    let word = |text: &[u8], place: usize| text[place..].first_chunk().map(|word| u64::from_le_bytes(*word));
    let half = |text: &[u8], place: usize| text[place..].first_chunk().map(|half| u32::from_le_bytes(*half));
    match length {
        0 => true,
        1..4 => [0, length / 2, length - 1].iter().all(|&place| left[place] == right[place]),
        4..WORD => half(left, 0) == half(right, 0) && half(left, length - 4) == half(right, length - 4),
        _ if word(left, 0) != word(right, 0) => false,
        _ if length <= 2 * WORD => word(left, length - WORD) == word(right, length - WORD),
        _ => left == right,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_of_texts_are_hashed_with_their_places() {
        let text: Vec<u8> = (0..60u8).map(|place| place.wrapping_mul(37) ^ 0x85).collect();
        for start in 0..text.len() {
            for length in 0..=text.len() - start {
                let characters = text[start..start + length].iter().enumerate();
                let places = characters.map(|(place, &character)| hash_place(place as i64, i64::from(character)));
                let expected = places.fold(0, i64::wrapping_add);
                assert_eq!(hash(&text[start..], length), expected, "{length} characters from {start} on");
            }
        }
    }

    #[test]
    fn one_text_is_sought_in_others_of_its_length() {
        let text: Vec<u8> = (0..60u8).map(|place| place % 7).collect();
        let threads = Threads::new(1, None).unwrap();
        for length in 0..30 {
            for start in [0, 3, 30] {
                let (start, count) = (start as i64, 60 - length + 1);
                let (starts, lengths) = (Ints::progression(&start, 0, count), (length as i64, count));
                let sought = Sought::of(&text, starts, Ints::progression(&lengths.0, 0, lengths.1)).unwrap();
                let column: Vec<i64> = (0..count as i64).collect();
                let expected: Vec<bool> = text
                    .windows(length.max(1))
                    .map(|window| window[..length] == text[start as usize..][..length])
                    .collect();
                for places in [Ints::progression(&0, 1, count), Ints::column(&column)] {
                    let found = sought.at_all(&threads, &text, places).unwrap();
                    let found: &[bool] = found.elements();
                    assert_eq!(found[..expected.len()], expected, "{length} characters from {start} on");
                }
            }
        }
        assert!(Sought::of(&text, Ints::progression(&50, 0, 1), Ints::progression(&11, 0, 1)).is_none());
        assert!(Sought::of(&text, Ints::progression(&0, 1, 2), Ints::progression(&11, 0, 2)).is_none());
    }

    #[test]
    fn texts_are_equal_as_far_as_they_go() {
        let text: Vec<u8> = (0..40).collect();
        for length in 0..text.len() {
            for place in 0..text.len() {
                let mut other = text.clone();
                other[place] ^= 1 << (place % 8);
                let short = &other[..length.max(place + 1)];
                for (left, right) in [(&text[..], &other[..]), (short, &text[..]), (&text[..], short)] {
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

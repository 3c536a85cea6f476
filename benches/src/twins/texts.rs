//! Texts.

use rayon::prelude::*;
use std::collections::HashMap;

/// Characters that one task handles.
const BLOCK: usize = 1 << 20;

/// A word, and how often it occurs.
pub type Count = (Vec<u8>, i64);

fn separates(c: &u8) -> bool {
    matches!(c, b' ' | b'\t' | b'\n')
}

/// The different words of a text in the order of their first occurrence, each with how often it occurs.
pub fn count_words(text: &[u8]) -> Vec<Count> {
    /// Where each word occurs first, and how often it does.
    type Table<'a> = HashMap<&'a [u8], (usize, i64)>;
    fn add<'a>(table: &mut Table<'a>, word: &'a [u8], (first, count): (usize, i64)) {
        let entry = table.entry(word).or_insert((first, 0));
        *entry = (entry.0.min(first), entry.1 + count);
    }
    let mut ends: Vec<usize> = (0..text.len())
        .step_by(BLOCK)
        .skip(1)
        .map(|end| text[end..].iter().position(separates).map_or(text.len(), |further| end + further))
        .collect();
    ends.push(text.len());
    ends.dedup();
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let blocks: Vec<(usize, usize)> = starts.zip(ends.iter().copied()).collect();
    let table = blocks
        .into_par_iter()
        .fold(Table::new, |mut table, (start, end)| {
            let mut at = start;
            for word in text[start..end].split(separates) {
                if !word.is_empty() {
                    add(&mut table, word, (at, 1));
                }
                at += word.len() + 1;
            }
            table
        })
        .reduce(Table::new, |left, right| {
            let (mut more, less) = if left.len() >= right.len() { (left, right) } else { (right, left) };
            less.into_iter().for_each(|(word, entry)| add(&mut more, word, entry));
            more
        });
    let mut words: Vec<_> = table.into_iter().collect();
    words.sort_unstable_by_key(|&(_, (first, _))| first);
    words.into_iter().map(|(word, (_, count))| (word.to_vec(), count)).collect()
}

/// All positions at which a word begins in a text.
pub fn search((word, text): &(Vec<u8>, Vec<u8>)) -> Vec<usize> {
    let Some(first) = word.first() else { return (0..=text.len()).collect() };
    let starts = (text.len() + 1).saturating_sub(word.len());
    text[..starts]
        .par_chunks(BLOCK)
        .enumerate()
        .flat_map_iter(|(block, characters)| {
            let candidates = characters.iter().enumerate().filter(move |(_, character)| *character == first);
            candidates.map(move |(i, _)| block * BLOCK + i).filter(|&i| text[i..].starts_with(word))
        })
        .collect()
}

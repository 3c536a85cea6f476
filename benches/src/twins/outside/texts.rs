//! Texts, a character at a time.

use super::keys::hash_bytes;

/// How many names, numbers and other signs there are.
pub fn tokens(text: &[u8]) -> Vec<i64> {
    let mut counts = vec![0; 3];
    let mut before = 0;
    for &c in text {
        let kind = if c.is_ascii_alphabetic() || c == b'_' {
            1
        } else if c.is_ascii_digit() {
            2
        } else if c == b' ' || c == b'\t' || c == b'\n' {
            0
        } else {
            3
        };
        if kind == 3 || (kind == 1 && before != 1) || (kind == 2 && before != 1 && before != 2) {
            counts[kind - 1] += 1;
        }
        before = kind;
    }
    counts
}

fn is_blank(c: u8) -> bool {
    c == b' ' || c == b'\t' || c == b'\n'
}

/// Where the next word from a place on begins and ends; both are the end of the text where there is none.
fn next_word(text: &[u8], mut at: usize) -> (usize, usize) {
    while at < text.len() && is_blank(text[at]) {
        at += 1;
    }
    let start = at;
    while at < text.len() && !is_blank(text[at]) {
        at += 1;
    }
    (start, at)
}

/// The words in reverse, each with a space behind it.
pub fn reverse_words(text: &[u8]) -> Vec<u8> {
    let mut result = Vec::with_capacity(text.len() + 1);
    let (mut start, mut end) = next_word(text, 0);
    while start < end {
        for i in (start..end).rev() {
            result.push(text[i]);
        }
        result.push(b' ');
        (start, end) = next_word(text, end);
    }
    result
}

/// The words in small letters and how often each occurs, by a table of chained places.
pub fn word_count(text: &[u8]) -> Vec<(Vec<u8>, i64)> {
    let mut words: Vec<(Vec<u8>, i64)> = Vec::new();
    let mut slots = vec![usize::MAX; 1 << 17];
    let mut word = Vec::new();
    let (mut start, mut end) = next_word(text, 0);
    while start < end {
        word.clear();
        for i in start..end {
            word.push(text[i].to_ascii_lowercase());
        }
        let mut slot = hash_bytes(&word) & (slots.len() - 1);
        while slots[slot] != usize::MAX && words[slots[slot]].0 != word {
            slot = (slot + 1) & (slots.len() - 1);
        }
        if slots[slot] == usize::MAX {
            slots[slot] = words.len();
            words.push((word.clone(), 0));
        }
        words[slots[slot]].1 += 1;
        (start, end) = next_word(text, end);
    }
    words
}

/// Where a word begins in a text.
pub fn text_search((word, text): &(Vec<u8>, Vec<u8>)) -> Vec<usize> {
    let mut found = Vec::new();
    for i in 0..(text.len() + 1).saturating_sub(word.len()) {
        let mut k = 0;
        while k < word.len() && text[i + k] == word[k] {
            k += 1;
        }
        if k == word.len() {
            found.push(i);
        }
    }
    found
}

/// Whether all brackets match, and how deep they are nested.
pub fn brackets(text: &[u8]) -> Vec<i64> {
    let (mut depth, mut deepest, mut valid) = (0i64, i64::MIN, true);
    for &c in text {
        depth += if c == b'(' {
            1
        } else if c == b')' {
            -1
        } else {
            0
        };
        deepest = deepest.max(depth);
        valid = valid && depth >= 0;
    }
    vec![i64::from(valid && depth == 0), deepest]
}

/// How many words read the same from both ends, and the length of the longest.
pub fn palindromes(text: &[u8]) -> Vec<i64> {
    let (mut count, mut longest) = (0, i64::MIN);
    let (mut start, mut end) = next_word(text, 0);
    while start < end {
        let (mut i, mut j) = (start, end - 1);
        while i < j && text[i] == text[j] {
            i += 1;
            j -= 1;
        }
        if i >= j {
            count += 1;
            longest = longest.max((end - start) as i64);
        }
        (start, end) = next_word(text, end);
    }
    vec![count, longest]
}

/// Letters moved by three places in the alphabet.
pub fn caesar(text: &[u8]) -> Vec<u8> {
    let mut result = vec![0; text.len()];
    for i in 0..text.len() {
        let c = text[i];
        result[i] = if c.is_ascii_lowercase() {
            b'a' + (c - b'a' + 3) % 26
        } else if c.is_ascii_uppercase() {
            b'A' + (c - b'A' + 3) % 26
        } else {
            c
        };
    }
    result
}

/// The suffixes in alphabetic order: rounds of two counting sorts, by twice as many characters each.
pub fn suffix_array(text: &[u8]) -> Vec<usize> {
    let n = text.len();
    let mut order: Vec<usize> = (0..n).collect();
    let mut ranks: Vec<usize> = text.iter().map(|&c| usize::from(c) + 1).collect();
    let mut width = 1;
    loop {
        // The second half of a key of i: 0 behind the end.
        let second = |ranks: &[usize], i: usize| if i + width < n { ranks[i + width] } else { 0 };
        let by_second = counting_sort(&order, n.max(256) + 1, |i| second(&ranks, i));
        order = counting_sort(&by_second, n.max(256) + 1, |i| ranks[i]);
        let mut next = vec![0; n];
        let mut rank = 1;
        for k in 0..n {
            if k > 0 {
                let (a, b) = (order[k - 1], order[k]);
                if ranks[a] != ranks[b] || second(&ranks, a) != second(&ranks, b) {
                    rank += 1;
                }
            }
            next[order[k]] = rank;
        }
        ranks = next;
        width *= 2;
        if rank == n || width > 2 * n {
            return order;
        }
    }
}

fn counting_sort(elements: &[usize], keys: usize, key: impl Fn(usize) -> usize) -> Vec<usize> {
    let mut starts = vec![0; keys + 1];
    for &element in elements {
        starts[key(element) + 1] += 1;
    }
    for k in 0..keys {
        starts[k + 1] += starts[k];
    }
    let mut sorted = vec![0; elements.len()];
    for &element in elements {
        let place = &mut starts[key(element)];
        sorted[*place] = element;
        *place += 1;
    }
    sorted
}

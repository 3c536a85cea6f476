//! `text_lengths`, `text`, `parse_float`.

use super::random::{Random, Style};
use super::*;

#[test]
fn texts_of_columns() {
    let mut engines = engines();
    for (seed, &length) in LENGTHS.iter().enumerate().filter(|&(_, &length)| length < 70_000) {
        for scalar_type in TYPES {
            let data = column(&Random(seed as u64).constants(scalar_type, length, 9));
            let context = (scalar_type, length, "seed", seed);
            check(&mut engines, &context, |e| e.text_lengths(&data), |e| e.text_lengths(&data));
            check(&mut engines, &context, |e| e.text(&data), |e| e.text(&data));
        }
    }
}

#[test]
fn floats_of_segments() {
    let mut engines = engines();
    for (seed, &total) in [0, 5, 40, 5_000, 40_000, 500_000].iter().enumerate() {
        for style in Style::ALL {
            for packed in [true, false] {
                let mut random = Random(seed as u64);
                let (descriptor, length) = random.descriptor(style, total, packed);
                let digit = |index: usize| b"0123456789.-e123"[(index * 7 + index / 5) % 16];
                let data = column(&Constants::Char((0..length).map(digit).collect()));
                let context = (style, total, packed, "seed", seed);
                check(
                    &mut engines,
                    &context,
                    |e| e.parse_float(&data, &descriptor),
                    |e| e.parse_float(&data, &descriptor),
                );
            }
        }
    }
}

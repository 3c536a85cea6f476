//! `text_lengths`, `text`.

use super::random::Random;
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

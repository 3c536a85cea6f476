//! `reduce`, `scan`, `seg_reduce`, `seg_scan`, and the indices of extreme elements.

use super::random::{Random, Style};
use super::*;

/// Lengths at which an ordered reduction changes how it is cut, besides [`LENGTHS`].
const TREES: &[usize] = &[65_536, 131_071, 131_073, 262_145, 1_048_577];

#[test]
fn reduce_and_scan() {
    let mut engines = engines();
    for (seed, &length) in LENGTHS.iter().chain(TREES).enumerate() {
        for op in reductions() {
            // Odd values (infinities, NaN) hide everything that comes after them, so that most columns have none.
            for odd in [usize::MAX, 50] {
                let mut random = Random(seed as u64);
                let all = column(&random.constants(op.row().result, length, odd));
                let context = (op, length, odd, "seed", seed);
                let expected = Reference::new(None).reduce(op, &all).unwrap();
                for engine in &mut engines {
                    assert_eq!(engine.reduce(op, &all), Ok(expected), "{:?}", (engine.threads(), context));
                }
                if op.is_extreme() {
                    let expected = Reference::new(None).reduce_index(op, &all).unwrap();
                    for engine in &mut engines {
                        assert_eq!(engine.reduce_index(op, &all), Ok(expected), "{:?}", (engine.threads(), context));
                    }
                }
                check(&mut engines, &context, |e| e.scan(op, &all, None), |e| e.scan(op, &all, None));
            }
        }
    }
}

#[test]
fn seg_reduce_and_seg_scan() {
    let mut engines = engines();
    for (seed, &total) in [0, 5, 40, 5_000, 40_000, 500_000].iter().enumerate() {
        for style in Style::ALL {
            for packed in [true, false] {
                let mut random = Random(seed as u64);
                let (descriptor, length) = random.descriptor(style, total, packed);
                for op in reductions() {
                    for odd in [usize::MAX, 50] {
                        let data = column(&random.constants(op.row().result, length, odd));
                        let context = (op, style, total, packed, odd, "seed", seed);
                        check(
                            &mut engines,
                            &context,
                            |e| e.seg_reduce(op, &data, &descriptor),
                            |e| e.seg_reduce(op, &data, &descriptor),
                        );
                        if op.is_extreme() {
                            check(
                                &mut engines,
                                &context,
                                |e| e.seg_reduce_index(op, &data, &descriptor),
                                |e| e.seg_reduce_index(op, &data, &descriptor),
                            );
                        }
                        check(
                            &mut engines,
                            &context,
                            |e| e.scan(op, &data, Some(&descriptor)),
                            |e| e.scan(op, &data, Some(&descriptor)),
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn a_sum_of_negative_zeros_has_the_sign_that_the_definition_gives_it() {
    let mut engines = engines();
    for length in 0..40 {
        let zeros = column(&Constants::Float(vec![-0.0; length]));
        for op in [ScalarOp::AddFloat, ScalarOp::MultiplyFloat] {
            let expected = Reference::new(None).reduce(op, &zeros);
            for engine in &mut engines {
                assert_eq!(engine.reduce(op, &zeros), expected, "{length}");
            }
        }
    }
}

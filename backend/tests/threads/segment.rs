//! `seg_iota`, `seg_dist`, `compact`, `append`, `seg_scatter`.

use super::random::{Random, Style};
use super::*;
use nesl_backend::{Collective, Columns, Permute, Segment};

#[test]
fn elements_in_packed_order() {
    let mut engines = engines();
    for (seed, &total) in [0, 5, 40, 5_000, 40_000, 500_000].iter().enumerate() {
        for style in Style::ALL {
            for packed in [true, false] {
                let mut random = Random(seed as u64);
                let (descriptor, length) = random.descriptor(style, total, packed);
                let context = (style, total, packed, "seed", seed);
                check(
                    &mut engines,
                    &context,
                    |e| e.segment(Segment::Iota(&descriptor)),
                    |e| e.segment(Segment::Iota(&descriptor)),
                );
                for scalar_type in TYPES {
                    let data = column(&random.constants(scalar_type, length, 9));
                    let each = column(&random.constants(scalar_type, descriptor.segments(), 9));
                    let context = (scalar_type, &context);
                    check(
                        &mut engines,
                        &context,
                        |e| e.segment(Segment::Dist(&each, &descriptor)),
                        |e| e.segment(Segment::Dist(&each, &descriptor)),
                    );
                    check(
                        &mut engines,
                        &context,
                        |e| e.segment(Segment::Compact(&data, &descriptor)),
                        |e| e.segment(Segment::Compact(&data, &descriptor)),
                    );
                }
            }
        }
    }
}

#[test]
fn segments_are_written_over() {
    let mut engines = engines();
    for (seed, &total) in [0, 5, 40, 5_000, 40_000, 500_000].iter().enumerate() {
        for style in Style::ALL {
            let mut random = Random(seed as u64);
            let (whole, length) = random.descriptor(style, total, true);
            // Each second segment of those that lie one after another, the last ones first.
            let mut parts: Vec<(usize, usize)> = whole.iter().step_by(2).collect();
            parts.reverse();
            let parts = parts.into_iter().map(|(start, length)| (start as i64, length as i64));
            let (starts, lengths): (Vec<i64>, Vec<i64>) = parts.unzip();
            let written = lengths.iter().sum::<i64>() as usize;
            let [starts, lengths] = [starts, lengths].map(|ints| column(&Constants::Int(ints)));
            let others = Reference::new(None).descriptor(Some(starts), lengths).unwrap();
            for scalar_type in TYPES {
                let data = random.constants(scalar_type, length, 9);
                let values = column(&random.constants(scalar_type, written, 9));
                check(
                    &mut engines,
                    &(scalar_type, style, total, "seed", seed),
                    |e| e.segment(Segment::Scatter(column(&data), &others, &values)),
                    |e| e.segment(Segment::Scatter(column(&data), &others, &values)),
                );
            }
        }
    }
}

#[test]
fn append_by_segments() {
    let mut engines = engines();
    for (seed, &total) in [0, 5, 40, 5_000, 40_000, 300_000].iter().enumerate() {
        for style in Style::ALL {
            for packed in [true, false] {
                let mut random = Random(seed as u64);
                let (first, length) = random.descriptor(style, total, packed);
                // As many segments, of the same lengths in another order, the other way round.
                let lengths = first.lengths_vector().unwrap();
                let order = random.permutation(lengths.len());
                let lengths =
                    Reference::new(None).permute(Permute::Gather(lengths, &column(&Constants::Int(order)))).unwrap();
                let second = if packed {
                    let starts = lengths.elements::<i64>().iter().map(|&each| (length as i64 - each) / 2).collect();
                    Reference::new(None).descriptor(Some(column(&Constants::Int(starts))), lengths).unwrap()
                } else {
                    Reference::new(None).descriptor(None, lengths).unwrap()
                };
                let second_length = length.max(second.total().unwrap());
                let scalar_type = TYPES[seed % 4];
                let a = column(&random.constants(scalar_type, length, 9));
                let b = column(&random.constants(scalar_type, second_length, 9));
                let context = (scalar_type, style, total, packed, "seed", seed);
                check(
                    &mut engines,
                    &context,
                    |e| e.segment(Segment::Append((&first, &a), (&second, &b))),
                    |e| e.segment(Segment::Append((&first, &a), (&second, &b))),
                );
            }
        }
    }
}

#[test]
fn a_packed_column_is_compacted_without_a_copy() {
    let mut engine = Threads::new(2, None).unwrap();
    let column = engine.fill(Fill::Iota(10)).unwrap();
    let lengths = engine.fill(Fill::Dist(ScalarValue::Int(5), 2)).unwrap();
    let descriptor = engine.descriptor(None, lengths).unwrap();
    let before = engine.counters(nesl_backend::Counters::default())[0].elements;
    let compacted = engine.segment(Segment::Compact(&column, &descriptor)).unwrap();
    assert_eq!(
        (values(&compacted), engine.counters(nesl_backend::Counters::default())[0].elements),
        (values(&column), before)
    );
}

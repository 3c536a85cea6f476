//! `text_lengths`, `text`, `parse_float`, and groups that compare texts.

use super::groups;
use super::maker::Maker;
use super::random::{Random, Style};
use super::*;
use nesl_backend::{Columns, Slot, Text};
use nesl_vcode::{Op, Operand, RegisterType, VectorOp};

#[test]
fn texts_of_columns() {
    let mut engines = engines();
    for (seed, &length) in LENGTHS.iter().enumerate().filter(|&(_, &length)| length < 70_000) {
        for scalar_type in TYPES {
            let data = column(&Random(seed as u64).constants(scalar_type, length, 9));
            let context = (scalar_type, length, "seed", seed);
            check(&mut engines, &context, |e| e.text(Text::Lengths(&data)), |e| e.text(Text::Lengths(&data)));
            check(&mut engines, &context, |e| e.text(Text::Text(&data)), |e| e.text(Text::Text(&data)));
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
                    |e| e.text(Text::ParseFloat(&data, &descriptor)),
                    |e| e.text(Text::ParseFloat(&data, &descriptor)),
                );
            }
        }
    }
}

/// Texts of all small lengths compared pair by pair, in views and one after another, as far as the end of their
/// columns.
#[test]
fn texts_pair_by_pair() {
    let mut engines = groups::engines();
    let mut random = Random(23);
    for turn in 0..30 {
        let lengths: Vec<i64> = (0..turn * 7).map(|_| random.below(21) as i64).collect();
        let total = lengths.iter().sum::<i64>() as usize;
        let mut maker = Maker::new(&mut random, total);
        let chars = RegisterType::Column(ScalarType::Char);
        // Of two characters, one of them rare, so that many texts are equal.
        let letter = |random: &mut Random| if random.below(40) == 0 { b'b' } else { b'a' };
        let text: Vec<u8> = (0..total).map(|_| letter(maker.random)).collect();
        let text = maker.outside(Slot::Column(column(&Constants::Char(text))));
        let starts = lengths.iter().map(|&length| maker.random.below(total + 1 - length as usize) as i64).collect();
        let (starts, lengths) = (column(&Constants::Int(starts)), column(&Constants::Int(lengths)));
        let mut reference = Reference::new(None);
        let packed = reference.descriptor(None, lengths.clone()).expect("there is memory");
        let view = reference.descriptor(Some(starts), lengths).expect("there is memory");
        let [packed, view] = [packed, view].map(|descriptor| maker.outside(Slot::Descriptor(descriptor)));
        let left = match turn % 4 {
            0 => text,
            3 => maker.outside(Slot::Scalar(ScalarValue::Char(b'a'))),
            1 => maker.add(Op::Vector(VectorOp::Compact), vec![text.into(), packed.into()], chars),
            _ => maker.add(Op::Vector(VectorOp::Compact), vec![text.into(), view.into()], chars),
        };
        let right = maker.add(Op::Vector(VectorOp::Compact), vec![text.into(), view.into()], chars);
        let bools = RegisterType::Column(ScalarType::Bool);
        let equal = maker.add(Op::Map(ScalarOp::EqualChar), vec![left.into(), right.into()], bools);
        let and = Op::Vector(VectorOp::SegReduce(ScalarOp::AndBool));
        let equal = maker.add(and, vec![equal.into(), packed.into()], bools);
        maker.results = vec![equal];
        maker.run(&mut engines[turn % 3], &format!("turn {turn}, {total} characters"));
    }
}

/// What the characters of texts add to their hashes, in views and one after another.
#[test]
fn texts_hashed() {
    let mut engines = groups::engines();
    let mut random = Random(29);
    for turn in 0..20 {
        let lengths: Vec<i64> = (0..turn * 7).map(|_| random.below(21) as i64).collect();
        let total = lengths.iter().sum::<i64>() as usize;
        let mut maker = Maker::new(&mut random, total);
        let text = (0..total).map(|_| maker.random.below(256) as u8).collect();
        let text: Operand = maker.outside(Slot::Column(column(&Constants::Char(text)))).into();
        let starts = lengths.iter().map(|&length| maker.random.below(total + 1 - length as usize) as i64).collect();
        let (starts, lengths) = (column(&Constants::Int(starts)), column(&Constants::Int(lengths)));
        let mut reference = Reference::new(None);
        let packed = reference.descriptor(None, lengths.clone()).expect("there is memory");
        let view = reference.descriptor(Some(starts), lengths).expect("there is memory");
        let [packed, view] = [packed, view].map(|descriptor| maker.outside(Slot::Descriptor(descriptor)).into());
        let (chars, ints) = (RegisterType::Column(ScalarType::Char), RegisterType::Column(ScalarType::Int));
        let text = match turn % 2 {
            0 => text,
            _ => maker.add(Op::Vector(VectorOp::Compact), vec![text, view], chars).into(),
        };
        let places = maker.add(Op::Vector(VectorOp::SegIota), vec![packed], ints);
        let codes = maker.add(Op::Map(ScalarOp::CharToCode), vec![text], ints);
        let shares = maker.add(Op::Map(ScalarOp::HashPlace), vec![places.into(), codes.into()], ints);
        let sums = Op::Vector(VectorOp::SegReduce(ScalarOp::AddInt));
        let sums = maker.add(sums, vec![shares.into(), packed], ints);
        maker.results = vec![sums];
        maker.run(&mut engines[turn % 3], &format!("turn {turn}, {total} characters"));
    }
}

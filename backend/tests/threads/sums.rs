//! Float sums and products that are all a group computes, of columns and of segments: their lanes may stay in
//! registers.

use super::groups::engines;
use super::maker::Maker;
use super::random::Random;
use super::{LENGTHS, column};
use nesl_backend::{Columns, Reference, Slot, Threads};
use nesl_prim::{ScalarOp, ScalarType};
use nesl_vcode::{Constants, Op, Operand, RegisterType, VectorOp};

const COMBINED: [ScalarOp; 2] = [ScalarOp::AddFloat, ScalarOp::MultiplyFloat];

/// A group of products, and what combines them.
fn products(engine: &mut Threads, random: &mut Random, length: usize, op: ScalarOp, lengths: Option<&[i64]>) {
    let mut maker = Maker::new(random, length);
    let floats = RegisterType::Column(ScalarType::Float);
    // Near one, so that products of thousands are neither infinite nor nothing, and any other order gives other bits.
    let mut near_one = || (0..length).map(|_| 0.99 + maker.random.below(20_000) as f64 / 1e6).collect::<Vec<f64>>();
    let [left, right] = [near_one(), near_one()].map(Constants::Float);
    let [left, right] = [left, right].map(|floats| Operand::from(maker.outside(Slot::Column(column(&floats)))));
    let context = format!("{op}, {length} elements, segments {lengths:?}");
    let (read, end, result) = match lengths {
        None => (left, vec![], RegisterType::Scalar(ScalarType::Float)),
        Some(lengths) => {
            let mut reference = Reference::new(None);
            let starts = lengths.iter().scan(0, |next, length| Some(std::mem::replace(next, *next + length)));
            let starts = column(&Constants::Int(starts.collect()));
            let lengths = Constants::Int(lengths.to_vec());
            // Of one view it is known that its segments are as long as those that are added up.
            let (known, unknown) = (column(&lengths), column(&lengths));
            let packed = reference.descriptor(None, known.clone()).expect("there is memory");
            let [known, unknown] =
                [known, unknown].map(|it| reference.descriptor(Some(starts.clone()), it).expect("there is memory"));
            let [packed, known, unknown] =
                [packed, known, unknown].map(|it| Operand::from(maker.outside(Slot::Descriptor(it))));
            let read = maker.add(Op::Vector(VectorOp::Compact), vec![left, known], floats);
            let other = maker.add(Op::Vector(VectorOp::Compact), vec![right, unknown], floats);
            let products = maker.add(Op::Map(ScalarOp::MultiplyFloat), vec![read.into(), other.into()], floats);
            (products.into(), vec![packed], floats)
        }
    };
    let products = maker.add(Op::Map(ScalarOp::MultiplyFloat), vec![read, right], floats);
    let operands = [vec![products.into()], end].concat();
    let end = if lengths.is_some() { VectorOp::SegReduce(op) } else { VectorOp::Reduce(op) };
    maker.results = vec![maker.add(Op::Vector(end), operands, result)];
    maker.run(engine, &context);
}

#[test]
fn columns_of_every_length() {
    let mut engines = engines();
    let near = |length: usize| [length.saturating_sub(1), length, length + 1];
    let more = [16, 32, 1008, 1024, 1040, 2048, 3072, 4096].map(near);
    for (number, length) in LENGTHS.iter().copied().chain(more.into_iter().flatten()).enumerate() {
        for op in COMBINED {
            for engine in &mut engines {
                products(engine, &mut Random(number as u64), length, op, None);
            }
        }
    }
}

#[test]
fn segments_of_every_length() {
    let mut engines = engines();
    const SOME: [i64; 18] = [0, 1, 2, 15, 16, 17, 31, 63, 64, 65, 500, 1008, 1023, 1024, 1025, 1040, 2048, 2500];
    for turn in 0..60 {
        let mut random = Random(0x7365_676d + turn as u64);
        // Long ones and short ones together, or one length alone, which says how they are added up.
        let lengths: Vec<i64> = match turn % 3 {
            0 => (0..random.below(30)).map(|_| SOME[random.below(SOME.len())]).collect(),
            1 => vec![SOME[turn / 3 % SOME.len()]; 1 + random.below(12)],
            _ => (0..random.below(60)).map(|_| SOME[random.below(9)]).collect(),
        };
        let total = lengths.iter().sum::<i64>() as usize;
        for op in COMBINED {
            products(&mut engines[turn % 3], &mut random, total, op, Some(&lengths));
        }
    }
}

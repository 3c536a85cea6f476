//! Groups of characters and truth values alone, whose loops take as many at once as a vector has bytes or shorts: all
//! operations that have such a form, with constants on either side of what bytes hold, at lengths around vectors.

use crate::groups::engines;
use crate::maker::Maker;
use crate::random::Random;
use nesl_prim::{ScalarOp, ScalarType, ScalarValue};
use nesl_vcode::{Op, Operand, Register, RegisterType, VectorOp};

const LENGTHS: &[usize] = &[0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 100, 1025, 70_001];

/// Ints around what a byte, a short and a product of them hold.
const NUMBERS: &[i64] = &[
    0,
    1,
    2,
    3,
    7,
    10,
    26,
    32,
    48,
    97,
    100,
    126,
    127,
    128,
    129,
    254,
    255,
    256,
    257,
    1_000,
    32_767,
    32_768,
    65_535,
    -1,
    -2,
    -7,
    -26,
    -97,
    -127,
    -128,
    -129,
    -255,
    -256,
    -32_768,
    -32_769,
    1 << 40,
    i64::MAX,
    i64::MIN,
];

const COMPARISONS: &[ScalarOp] = &[
    ScalarOp::EqualInt,
    ScalarOp::UnequalInt,
    ScalarOp::LessInt,
    ScalarOp::GreaterInt,
    ScalarOp::AtMostInt,
    ScalarOp::AtLeastInt,
    ScalarOp::EqualChar,
    ScalarOp::UnequalChar,
    ScalarOp::LessChar,
    ScalarOp::GreaterChar,
    ScalarOp::AtMostChar,
    ScalarOp::AtLeastChar,
    ScalarOp::EqualBool,
    ScalarOp::UnequalBool,
];

const NUMERIC: &[ScalarOp] = &[
    ScalarOp::AddInt,
    ScalarOp::SubtractInt,
    ScalarOp::MultiplyInt,
    ScalarOp::NegateInt,
    ScalarOp::AbsoluteInt,
    ScalarOp::AndInt,
    ScalarOp::OrInt,
    ScalarOp::XorInt,
    ScalarOp::MaximumInt,
    ScalarOp::MinimumInt,
    ScalarOp::DivideInt,
    ScalarOp::Remainder,
    ScalarOp::Modulo,
    ScalarOp::SelectInt,
    ScalarOp::BoolToInt,
    ScalarOp::CharToCode,
];

const OTHERS: &[ScalarOp] = &[
    ScalarOp::AndBool,
    ScalarOp::OrBool,
    ScalarOp::XorBool,
    ScalarOp::NotBool,
    ScalarOp::SelectBool,
    ScalarOp::SelectChar,
    ScalarOp::MaximumChar,
    ScalarOp::MinimumChar,
];

/// A group over two columns of characters and two of truth values, and a scalar of each.
fn maker<'a>(random: &'a mut Random, length: usize) -> Maker<'a> {
    let mut maker = Maker::empty(random, length);
    for ty in [ScalarType::Char, ScalarType::Bool] {
        for _ in 0..2 {
            let register = maker.random_column(ty, length);
            maker.elements.push((register, ty, 0));
        }
        let value = maker.random.value(ty, 20);
        let scalar = maker.outside(nesl_backend::Slot::Scalar(value));
        maker.scalars.push((scalar, ty));
    }
    maker
}

/// Adds an operation on what is there; an int that is not there is a constant, as is a second one now and then.
fn map(maker: &mut Maker<'_>, op: ScalarOp, space: usize) -> Option<Register> {
    let row = op.row();
    let divides = matches!(op, ScalarOp::DivideInt | ScalarOp::Remainder | ScalarOp::Modulo);
    let mut operands = Vec::new();
    for (position, &ty) in row.operands.iter().enumerate() {
        let is_constant = position > 0 && (divides || maker.random.below(3) == 0);
        let element = maker.element(ty, space).filter(|_| !is_constant);
        operands.push(match (element, ty) {
            (Some(element), _) => element.into(),
            (None, _) if position == 0 => return None,
            (None, ScalarType::Int) => {
                let numbers: Vec<i64> =
                    NUMBERS.iter().copied().filter(|number| !divides || !matches!(number, 0 | -1)).collect();
                Operand::Constant(ScalarValue::Int(numbers[maker.random.below(numbers.len())]))
            }
            (None, _) if maker.random.below(2) == 0 => {
                maker.scalars.iter().find(|scalar| scalar.1 == ty).map(|scalar| Operand::Register(scalar.0))?
            }
            (None, ty) => Operand::Constant(maker.random.value(ty, 20)),
        });
    }
    let result = maker.add(Op::Map(op), operands, RegisterType::Column(row.result));
    maker.elements.push((result, row.result, space));
    Some(result)
}

fn any(maker: &mut Maker<'_>) -> ScalarOp {
    let all = [COMPARISONS, NUMERIC, OTHERS].concat();
    all[maker.random.below(all.len())]
}

/// Splits all indices by a comparison of a character with a constant, and computes its code on one side.
fn join(maker: &mut Maker<'_>) -> Option<()> {
    let comparison = COMPARISONS[6 + maker.random.below(6)];
    let flags = map(maker, comparison, 0)?;
    let others = maker.add(Op::Map(ScalarOp::NotBool), vec![flags.into()], RegisterType::Column(ScalarType::Bool));
    let element = maker.element(ScalarType::Char, 0)?;
    let mut sides = Vec::new();
    for flags in [flags, others] {
        let operands = vec![element.into(), flags.into()];
        let kept = maker.add(Op::Vector(VectorOp::Pack), operands, RegisterType::Column(ScalarType::Char));
        maker.filters.push(flags);
        let space = maker.filters.len();
        maker.elements.push((kept, ScalarType::Char, space));
        map(maker, ScalarOp::CharToCode, space)?;
        for _ in 0..maker.random.below(3) {
            let op = any(maker);
            map(maker, op, space);
        }
        sides.push(maker.element(ScalarType::Int, space)?);
    }
    let operands = vec![flags.into(), sides[0].into(), sides[1].into()];
    let result = maker.add(Op::Vector(VectorOp::Merge), operands, RegisterType::Column(ScalarType::Int));
    maker.elements.push((result, ScalarType::Int, 0));
    Some(())
}

/// Yields a column, as it is and combined.
fn end(maker: &mut Maker<'_>, register: Register, ty: ScalarType) -> Vec<Register> {
    let ops: &[ScalarOp] = match ty {
        ScalarType::Int => &[ScalarOp::AddInt],
        ScalarType::Char => &[ScalarOp::MaximumChar, ScalarOp::MinimumChar],
        _ => &[ScalarOp::AndBool, ScalarOp::OrBool],
    };
    let mut yields = Vec::new();
    for &op in ops {
        let instruction = Op::Vector(VectorOp::Reduce(op));
        yields.push(maker.add(instruction, vec![register.into()], RegisterType::Scalar(ty)));
    }
    yields
}

#[test]
fn every_operation_with_constants_at_the_edges() {
    let mut engines = engines();
    for (number, &op) in [COMPARISONS, NUMERIC, OTHERS].concat().iter().enumerate() {
        for (turn, &length) in LENGTHS.iter().cycle().take(80).enumerate() {
            let mut random = Random((number * 1_000 + turn) as u64);
            let mut maker = maker(&mut random, length);
            map(&mut maker, ScalarOp::CharToCode, 0);
            map(&mut maker, ScalarOp::SubtractInt, 0);
            let Some(result) = map(&mut maker, op, 0) else { continue };
            let ends = end(&mut maker, result, op.row().result);
            // What is combined alone, or stored, or both.
            maker.results = match turn % 3 {
                0 => vec![result],
                1 => ends,
                _ => [vec![result], ends].concat(),
            };
            maker.run(&mut engines[turn % 3], &format!("{op}, length {length}, turn {turn}"));
        }
    }
}

#[test]
fn random_groups_of_bytes() {
    let mut engines = engines();
    for seed in 0..1_500 {
        let mut random = Random(seed);
        let length = LENGTHS[random.below(LENGTHS.len())];
        let mut maker = maker(&mut random, length);
        for _ in 0..1 + maker.random.below(6) {
            if maker.random.below(4) == 0 {
                join(&mut maker);
            } else {
                let op = any(&mut maker);
                map(&mut maker, op, 0);
            }
        }
        let last: Vec<_> = maker.elements.iter().rev().take(3).copied().collect();
        let mut yields = Vec::new();
        for (register, ty, space) in last {
            let is_made = maker.results.contains(&register);
            yields.extend(end(&mut maker, register, ty).into_iter().take(1));
            if is_made && space == 0 && maker.random.below(2) == 0 {
                yields.push(register);
            }
        }
        maker.results = yields;
        maker.run(&mut engines[seed as usize % 3], &format!("seed {seed}, length {length}"));
    }
}

/// A character and the next one: read from another place on.
#[test]
fn neighbours() {
    let mut engines = engines();
    for &length in LENGTHS {
        for distance in [0, 1, 3] {
            let mut random = Random((length * 10 + distance) as u64);
            let mut maker = maker(&mut random, length);
            let text = maker.random_column(ScalarType::Char, length + distance);
            let count = maker.outside(nesl_backend::Slot::Scalar(ScalarValue::Int(length as i64)));
            let int = RegisterType::Column(ScalarType::Int);
            let index = maker.add(Op::Vector(VectorOp::Iota), vec![count.into()], int);
            let distance = Operand::Constant(ScalarValue::Int(distance as i64));
            let next = maker.add(Op::Map(ScalarOp::AddInt), vec![index.into(), distance], int);
            let operands = vec![text.into(), next.into()];
            let read = maker.add(Op::Vector(VectorOp::Gather), operands, RegisterType::Column(ScalarType::Char));
            maker.elements.push((read, ScalarType::Char, 0));
            let Some(result) = map(&mut maker, ScalarOp::LessChar, 0) else { continue };
            let ends = end(&mut maker, result, ScalarType::Bool);
            maker.results = [vec![result, read], ends].concat();
            maker.run(&mut engines[length % 3], &format!("length {length}, {distance:?} further"));
        }
    }
}

//! `map`, `iota`, `dist`.

use super::random::Random;
use super::*;
use nesl_backend::{Collective, Fill, MapOperand};

/// An operand as its elements, to be made anew for every engine.
#[derive(Clone)]
enum Given {
    Column(Constants),
    Scalar(ScalarValue),
}

/// Operands that only the instruction owns, or that somebody else sees too.
fn operands(given: &[Given], shared: bool) -> (Vec<MapOperand<Vector>>, Vec<MapOperand<Vector>>) {
    let operands: Vec<_> = given
        .iter()
        .map(|given| match given {
            Given::Column(constants) => MapOperand::Column(column(constants)),
            Given::Scalar(value) => MapOperand::Scalar(*value),
        })
        .collect();
    let others = if shared { operands.clone() } else { Vec::new() };
    (operands, others)
}

fn check_map(engines: &mut [Threads], op: ScalarOp, given: &[Given], context: &dyn Debug) {
    let (ours, _) = operands(given, false);
    let expected = Reference::new(None).map(op, ours);
    for engine in engines {
        for shared in [false, true] {
            let (ours, others) = operands(given, shared);
            let context = (engine.threads(), op, shared, context);
            assert_same(&expected, &engine.map(op, ours), &context);
            for (other, given) in others.iter().zip(given) {
                if let (MapOperand::Column(other), Given::Column(given)) = (other, given) {
                    assert_same(&Ok(column(given)), &Ok(other.clone()), &("somebody else's column", &context));
                }
            }
        }
    }
}

/// Every operation on patterns of columns (1) and scalars (0).
fn sweep(lengths: &[usize], odd: usize, seed: u64, patterns: impl Fn(usize) -> Vec<usize>) {
    let mut engines = engines();
    for &op in ScalarOp::ALL {
        let row = op.row();
        for &length in lengths {
            for pattern in patterns(row.operands.len()) {
                let mut random = Random(seed + (length * 8 + pattern) as u64);
                let given: Vec<_> = (0..row.operands.len())
                    .map(|number| match pattern >> number & 1 {
                        1 => Given::Column(random.constants(row.operands[number], length, odd)),
                        _ => Given::Scalar(random.value(row.operands[number], odd)),
                    })
                    .collect();
                check_map(&mut engines, op, &given, &("length", length, "pattern", pattern, "seed", seed));
            }
        }
    }
}

#[test]
fn every_operation_on_small_columns_with_odd_values() {
    sweep(&[0, 1, 2, 17, 255, 256, 257, 700], 3, 1, |operands| (1..1 << operands).collect());
}

#[test]
fn every_operation_on_columns_of_several_pieces() {
    sweep(&[131_201], 1 << 16, 2, |operands| vec![(1 << operands) - 1]);
}

#[test]
fn the_least_failing_element_is_reported() {
    let mut engines = engines();
    let length = 200_000;
    for (seed, failing) in
        [&[0][..], &[199_999], &[255, 256], &[150_000, 70_000, 199_000], &[65_536]].iter().enumerate()
    {
        let mut random = Random(seed as u64);
        let mut divisors: Vec<i64> = (0..length).map(|_| 1 + random.below(9) as i64).collect();
        for &element in *failing {
            divisors[element] = 0;
        }
        let given = [
            Given::Column(random.constants(ScalarType::Int, length, 100)),
            Given::Column(Constants::Int(divisors.clone())),
        ];
        check_map(&mut engines, ScalarOp::DivideInt, &given, &failing);
        let expected = *failing.iter().min().unwrap();
        let operands = operands(&given, false).0;
        assert_eq!(engines[2].map(ScalarOp::DivideInt, operands).unwrap_err().element, expected);
        let checked = [Given::Column(Constants::Int(divisors)), Given::Scalar(ScalarValue::Int(9))];
        check_map(&mut engines, ScalarOp::CheckIndex, &checked, &failing);
    }
}

#[test]
fn a_column_that_dies_is_overwritten_and_part_of_one_leaves_the_rest() {
    let mut engine = Threads::new(2, None).unwrap();
    let column = engine.fill(Fill::Iota(100_000)).unwrap();
    let one = || MapOperand::Scalar(ScalarValue::Int(1));
    let column = engine.map(ScalarOp::AddInt, vec![one(), MapOperand::Column(column)]).unwrap();
    assert_eq!(engine.counters(nesl_backend::Counters::default())[0].elements, 100_000);
    assert_eq!(column.get(99_999), ScalarValue::Int(100_000));
    let part = column.slice(10, 20);
    let part = engine.map(ScalarOp::AddInt, vec![MapOperand::Column(part), one()]).unwrap();
    assert_eq!((part.len(), part.get(0), column.get(10)), (20, ScalarValue::Int(12), ScalarValue::Int(11)));
    let squares = engine
        .map(ScalarOp::MultiplyInt, vec![MapOperand::Column(part.clone()), MapOperand::Column(part.clone())])
        .unwrap();
    assert_eq!((squares.get(0), part.get(0)), (ScalarValue::Int(144), ScalarValue::Int(12)));
}

#[test]
fn iota_and_dist() {
    let mut engines = engines();
    for &length in LENGTHS {
        check(
            &mut engines,
            &("iota", length),
            |engine| engine.fill(Fill::Iota(length)),
            |engine| engine.fill(Fill::Iota(length)),
        );
        for scalar_type in TYPES {
            let value = Random(length as u64).value(scalar_type, 9);
            let context = ("dist", length, value);
            check(
                &mut engines,
                &context,
                |engine| engine.fill(Fill::Dist(value, length)),
                |engine| engine.fill(Fill::Dist(value, length)),
            );
        }
    }
}

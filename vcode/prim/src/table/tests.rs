//! What rows say of operations holds on samples.

use super::*;
use std::collections::HashSet;

fn samples(scalar_type: ScalarType) -> Vec<ScalarValue> {
    match scalar_type {
        ScalarType::Int => [0, 1, -1, 7, -13, 63, i64::MAX, i64::MIN].map(ScalarValue::Int).to_vec(),
        ScalarType::Float => {
            [0.0, -0.0, 1.5, -2.5, 1e300, f64::INFINITY, f64::NEG_INFINITY, f64::NAN].map(ScalarValue::Float).to_vec()
        }
        ScalarType::Bool => [false, true].map(ScalarValue::Bool).to_vec(),
        ScalarType::Char => [0, b'a', 255].map(ScalarValue::Char).to_vec(),
    }
}

/// Every combination of sample operands for a row.
fn operand_samples(row: &Row) -> Vec<Vec<ScalarValue>> {
    row.operands.iter().fold(vec![vec![]], |tuples, &operand| {
        tuples
            .iter()
            .flat_map(|tuple| samples(operand).into_iter().map(|value| [tuple.as_slice(), &[value]].concat()))
            .collect()
    })
}

#[test]
fn rows_are_unique_by_mnemonic_and_by_source_with_types() {
    let mnemonics: HashSet<_> = ScalarOp::ALL.iter().map(|op| op.row().mnemonic).collect();
    assert_eq!(mnemonics.len(), ScalarOp::ALL.len());
    for &op in ScalarOp::ALL {
        assert_eq!(ScalarOp::by_mnemonic(op.row().mnemonic), Some(op));
        if let Some(source) = op.row().source {
            assert_eq!(ScalarOp::resolve(source, op.row().operands), Some(op));
        }
    }
}

#[test]
fn declared_types_are_those_of_the_meaning_and_total_rows_never_fail() {
    for &op in ScalarOp::ALL {
        let row = op.row();
        for operands in operand_samples(row) {
            match eval(op, &operands) {
                Ok(value) => assert_eq!(value.scalar_type(), row.result, "{op} {operands:?}"),
                Err(failure) => assert!(row.fallible, "{op} {operands:?}: {failure}"),
            }
        }
    }
}

#[test]
fn checks_give_the_operand_that_they_say() {
    for &op in ScalarOp::ALL {
        let Some(checked) = op.checked_operand() else { continue };
        assert!(op.row().fallible, "{op}");
        for operands in operand_samples(op.row()) {
            let given = eval(op, &operands);
            assert!(given.is_err() || given == Ok(operands[checked]));
        }
    }
}

#[test]
fn declared_algebra_holds_on_samples() {
    for &op in ScalarOp::ALL {
        let row = op.row();
        let apply = |a, b| eval(op, &[a, b]).unwrap();
        for operands in operand_samples(row) {
            if row.commutative {
                let (a, b) = (operands[0], operands[1]);
                assert_eq!(apply(a, b), apply(b, a), "{op}");
            }
            if let (Some(identity), [a, b]) = (row.identity, operands.as_slice()) {
                if *a != ScalarValue::Float(-0.0) {
                    assert_eq!(apply(*a, identity), *a, "{op}");
                }
                if row.associative {
                    for c in samples(row.result) {
                        assert_eq!(apply(apply(*a, *b), c), apply(*a, apply(*b, c)), "{op} {a:?} {b:?} {c:?}");
                    }
                }
            }
        }
    }
}

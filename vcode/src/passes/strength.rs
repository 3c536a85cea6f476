//! *Strength reduction*: arithmetic by what costs less and gives the same to the bit. It is a part of
//! [`simplify`](super::simplify), which knows how operands were made.

use super::rewrite::{Action, Context, Definition, Maker};
use crate::program::{Op, Operand};
use nesl_prim::{ScalarOp, ScalarValue};

/// An operation by others that cost less: a small power by the
/// multiplications that define it, where the one by the neutral element that comes first changes nothing; a quotient of
/// floats by a power of two as a product; what is left of a division of ints by one as its last bits; one addition for
/// several of constants.
pub(super) fn reduced(
    context: &mut Context,
    op_of: fn(ScalarOp) -> Op,
    op: ScalarOp,
    operands: &[Operand],
) -> Option<Action> {
    if let Some((number, bits)) = last_bits(op, operands) {
        return Some(Action::Become(op_of(ScalarOp::AndInt), vec![number, bits]));
    }
    if let ScalarOp::AddInt | ScalarOp::SubtractInt = op {
        return shifted(context, op_of, op, operands);
    }
    if let (ScalarOp::EqualInt | ScalarOp::UnequalInt, &[left, right @ Operand::Constant(ScalarValue::Int(0))]) =
        (op, operands)
    {
        let [left, right] = divisible(context, op_of, left, right)?;
        return Some(Action::Become(op_of(op), vec![left, right]));
    }
    if let (ScalarOp::DivideFloat, &[dividend, Operand::Constant(ScalarValue::Float(divisor))]) = (op, operands) {
        let factor = reciprocal(divisor)?;
        let factor = Operand::Constant(ScalarValue::Float(factor));
        return Some(Action::Become(op_of(ScalarOp::MultiplyFloat), vec![dividend, factor]));
    }
    let multiply = match op {
        ScalarOp::PowerInt => ScalarOp::MultiplyInt,
        ScalarOp::PowerFloat => ScalarOp::MultiplyFloat,
        _ => return None,
    };
    let &[base, Operand::Constant(ScalarValue::Int(exponent @ 2..=4))] = operands else { return None };
    let factors = if exponent == 2 {
        vec![base, base]
    } else {
        let square = context.emit(op_of(multiply), vec![base, base], context.type_of(base));
        vec![if exponent == 3 { base } else { square }, square]
    };
    Some(Action::Become(op_of(multiply), factors))
}

/// The number and the mask by which an operation gives its last bits: a remainder with the sign of the divisor is never
/// negative where that is a power of two.
fn last_bits(op: ScalarOp, operands: &[Operand]) -> Option<(Operand, Operand)> {
    let &[number, Operand::Constant(ScalarValue::Int(divisor))] = operands else { return None };
    let is_power = divisor > 0 && divisor.count_ones() == 1;
    (op == ScalarOp::Modulo && is_power).then(|| (number, Operand::Constant(ScalarValue::Int(divisor - 1))))
}

/// What to compare with what to know whether a remainder is 0: with whatever sign, that is so where a modulus is.
fn divisible(
    context: &mut Context,
    op_of: fn(ScalarOp) -> Op,
    remainder: Operand,
    zero: Operand,
) -> Option<[Operand; 2]> {
    let definition = context.definition(remainder)?;
    if operation(definition)? != op_of(ScalarOp::Remainder) {
        return None;
    }
    let (number, bits) = last_bits(ScalarOp::Modulo, &definition.operands)?;
    let ty = context.type_of(remainder);
    Some([context.emit(op_of(ScalarOp::AndInt), vec![number, bits], ty), zero])
}

/// A number that constants have been added to and subtracted from is that plus one constant, as sums wrap: two turns of
/// a loop then know that they read one element.
fn shifted(context: &Context, op_of: fn(ScalarOp) -> Op, op: ScalarOp, operands: &[Operand]) -> Option<Action> {
    let &[before, by] = operands else { return None };
    let by = offset(op, by)?;
    let definition = context.definition(before)?;
    let &[number, more] = &definition.operands[..] else { return None };
    let inner =
        [ScalarOp::AddInt, ScalarOp::SubtractInt].into_iter().find(|&op| operation(definition) == Some(op_of(op)))?;
    match offset(inner, more)?.wrapping_add(by) {
        0 => Some(Action::Replace(number)),
        sum => {
            let (op, by) = if sum < 0 { (ScalarOp::SubtractInt, sum.wrapping_neg()) } else { (ScalarOp::AddInt, sum) };
            Some(Action::Become(op_of(op), vec![number, Operand::Constant(ScalarValue::Int(by))]))
        }
    }
}

/// What an addition or a subtraction of a constant adds.
fn offset(op: ScalarOp, by: Operand) -> Option<i64> {
    let Operand::Constant(ScalarValue::Int(by)) = by else { return None };
    Some(if op == ScalarOp::AddInt { by } else { by.wrapping_neg() })
}

/// The operation on scalars or elements that made an operand.
fn operation(definition: &Definition) -> Option<Op> {
    match definition.maker {
        Maker::Scalar(op) => Some(Op::Scalar(op)),
        Maker::Map(op) => Some(Op::Map(op)),
        Maker::Vector(_) | Maker::Constants(_) => None,
    }
}

/// One over a power of two, where that is no less exact.
fn reciprocal(number: f64) -> Option<f64> {
    let fraction = number.to_bits() & ((1 << (f64::MANTISSA_DIGITS - 1)) - 1);
    let reciprocal = 1.0 / number;
    (fraction == 0 && number.is_normal() && reciprocal.is_normal()).then_some(reciprocal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::{simplify, testing};

    #[test]
    fn quotients_by_powers_of_two_are_products() {
        let becomes = |before: &str, after: &str| {
            let body = |line: &str| format!("%1 = {line}\nreturn %1");
            testing::body_becomes(simplify::run, "(%0: float) -> float", &body(before), &body(after));
        };
        becomes("divide.float %0 2.0", "multiply.float %0 0.5");
        becomes("divide.float %0 -0.25", "multiply.float %0 -4.0");
        for stays in ["divide.float %0 3.0", "divide.float %0 0.0", "divide.float 2.0 %0", "divide.float %0 inf"] {
            becomes(stays, stays);
        }
        // The reciprocal of the greatest power of two has fewer digits, and that of the least numbers is infinite.
        assert_eq!(
            [2f64.powi(1022), 2f64.powi(1023), f64::MIN_POSITIVE, 5e-324].map(reciprocal),
            [Some(2f64.powi(-1022)), None, Some(2f64.powi(1022)), None]
        );
        for dividend in [f64::MIN_POSITIVE, -3.0 * 5e-324, 1.0 / 3.0, f64::MAX, -0.0, f64::INFINITY] {
            for divisor in [2.0, 0.5, -4.0, 2f64.powi(1022), f64::MIN_POSITIVE] {
                let product = dividend * reciprocal(divisor).unwrap();
                assert_eq!(product.to_bits(), (dividend / divisor).to_bits(), "{dividend:e} / {divisor:e}");
            }
        }
    }

    #[test]
    fn what_is_left_of_a_division_by_a_power_of_two_is_its_last_bits() {
        let becomes = |before: &str, after: &str| {
            let body = |lines: &str| format!("{lines}\nreturn %2");
            testing::body_becomes(
                simplify::run,
                "(%0: column int, %1: int) -> column int",
                &body(before),
                &body(after),
            );
        };
        becomes("%2 = map modulo %0 8", "%2 = map and.int %0 7");
        becomes("%2 = map modulo %0 1", "%2 = map and.int %0 0");
        becomes("%2 = map modulo %0 4611686018427387904", "%2 = map and.int %0 4611686018427387903");
        for stays in [
            "modulo %0 6",
            "modulo %0 0",
            "modulo %0 -8",
            "modulo 8 %0",
            "remainder %0 8",
            "modulo %0 -9223372036854775808",
        ] {
            let line = format!("%2 = map {stays}");
            becomes(&line, &line);
        }
        for number in [i64::MIN, -9, -8, -1, 0, 7, 8, i64::MAX] {
            for divisor in [1, 2, 8, 1 << 62] {
                assert_eq!(number & (divisor - 1), number.rem_euclid(divisor), "{number} mod {divisor}");
                assert_eq!(number & (divisor - 1) == 0, number % divisor == 0, "{number} rem {divisor}");
            }
        }
    }

    #[test]
    fn constants_are_added_at_once() {
        let becomes = |before: &str, after: &str| {
            testing::body_becomes(simplify::run, "(%0: int, %1: column int) -> int, column int", before, after);
        };
        becomes(
            "%2 = add.int %0 1
             %3 = subtract.int %2 1
             %4 = map subtract.int %1 9223372036854775807
             %5 = map subtract.int %4 2
             return %3 %5",
            "%2 = map add.int %1 9223372036854775807
             return %0 %2",
        );
        becomes(
            "%2 = add.int %0 1
             %3 = subtract.int %2 3
             %4 = map subtract.int %1 %2
             %5 = map add.int %4 2
             return %3 %5",
            "%2 = add.int %0 1
             %3 = subtract.int %0 2
             %4 = map subtract.int %1 %2
             %5 = map add.int %4 2
             return %3 %5",
        );
    }

    #[test]
    fn whether_a_remainder_is_0_its_last_bits_tell() {
        let becomes = |before: &str, after: &str| {
            testing::body_becomes(simplify::run, "(%0: column int, %1: int) -> column bool, bool", before, after);
        };
        becomes(
            "%2 = map remainder %0 2
             %3 = map equal.int %2 0
             %4 = remainder %1 4
             %5 = unequal.int %4 0
             return %3 %5",
            "%2 = map and.int %0 1
             %3 = map equal.int %2 0
             %4 = and.int %1 3
             %5 = unequal.int %4 0
             return %3 %5",
        );
        let stays = "%2 = map remainder %0 2
             %3 = map equal.int %2 1
             %4 = remainder %1 3
             %5 = unequal.int %4 0
             return %3 %5";
        becomes(stays, stays);
    }
}

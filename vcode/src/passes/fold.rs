//! Constant folding: scalar operations on constants, operations that change nothing, branches that are known.
//!
//! Only what is exact: `x + 0.0` stays, since it turns -0.0 into 0.0. An operation that fails on its constants stays,
//! to fail when and if it is run. An elementwise operation that gives one value everywhere is that many copies of it.

use crate::op::VectorOp;
use crate::passes::rewrite::{self, Action, Context, Rule};
use crate::program::{Instruction, Op, Operand, Program, RegisterType};
use nesl_prim::{ScalarOp, ScalarType, ScalarValue};

/// Folds constants in all functions.
pub fn run(program: &mut Program) {
    for function in &mut program.functions {
        rewrite::rewrite(function, &mut Fold);
    }
}

struct Fold;

impl Rule for Fold {
    fn rewrite(&mut self, context: &mut Context, instruction: &Instruction) -> Action {
        match &instruction.op {
            Op::If(..) => match instruction.operands.as_slice() {
                [Operand::Constant(ScalarValue::Bool(condition))] => Action::Take(*condition),
                _ => Action::Keep,
            },
            Op::Scalar(op) => known(*op, &instruction.operands).map_or(Action::Keep, Action::Replace),
            Op::Map(op) => match known(*op, &instruction.operands) {
                Some(value) if is_column(context, value) => Action::Replace(value),
                Some(value) => copies(context, value, &instruction.operands),
                None => Action::Keep,
            },
            Op::Constants(_) | Op::Vector(_) | Op::Host(_) | Op::Call(_) | Op::Each(_) | Op::Fused(_) => Action::Keep,
        }
    }
}

fn is_column(context: &Context, operand: Operand) -> bool {
    matches!(context.type_of(operand), RegisterType::Column(_))
}

/// As many copies of a scalar as the columns among some operands have elements.
fn copies(context: &mut Context, value: Operand, operands: &[Operand]) -> Action {
    let Some(&column) = operands.iter().find(|&&operand| is_column(context, operand)) else { return Action::Keep };
    let count = context.emit(Op::Vector(VectorOp::Length), vec![column], RegisterType::Scalar(ScalarType::Int));
    Action::Become(Op::Vector(VectorOp::Dist), vec![value, count])
}

fn constant(operand: Operand) -> Option<ScalarValue> {
    match operand {
        Operand::Constant(value) => Some(value),
        Operand::Register(_) => None,
    }
}

/// The operand or constant that an operation is known to give.
pub(crate) fn known(op: ScalarOp, operands: &[Operand]) -> Option<Operand> {
    evaluate(op, operands).or_else(|| neutral(op, operands)).or_else(|| equal_operands(op, operands))
}

/// The value of an operation on constants, if it has one.
pub(crate) fn evaluate(op: ScalarOp, operands: &[Operand]) -> Option<Operand> {
    let constants: Vec<ScalarValue> = operands.iter().copied().map(constant).collect::<Option<_>>()?;
    nesl_prim::eval(op, &constants).ok().map(Operand::Constant)
}

/// The operand, or the constant, that an operation equals because of a constant among its operands.
fn neutral(op: ScalarOp, operands: &[Operand]) -> Option<Operand> {
    use ScalarOp as S;
    use ScalarValue::{Bool, Float, Int};
    match *operands {
        [a, b] => {
            let (left, right) = (constant(a), constant(b));
            let row = op.row();
            // Exactly associative operations have an exact identity; the float sums and products do not all.
            let identity = match op {
                S::AddFloat => Some(Float(-0.0)),
                S::MultiplyFloat => Some(Float(1.0)),
                _ if row.associative && row.commutative => row.identity,
                _ => None,
            };
            let absorbing = match op {
                S::MultiplyInt | S::AndInt => Some(Int(0)),
                S::OrInt => Some(Int(-1)),
                S::AndBool => Some(Bool(false)),
                S::OrBool => Some(Bool(true)),
                _ => None,
            };
            let right_identity = match op {
                S::SubtractInt | S::ShiftLeft | S::ShiftRight => Some(Int(0)),
                S::DivideInt | S::PowerInt | S::PowerFloat => Some(Int(1)),
                S::SubtractFloat => Some(Float(0.0)),
                S::DivideFloat => Some(Float(1.0)),
                _ => None,
            };
            let is = |side: Option<ScalarValue>, value: Option<ScalarValue>| value.is_some() && side == value;
            if is(left, identity) {
                Some(b)
            } else if is(right, identity) || is(right, right_identity) {
                Some(a)
            } else if is(left, absorbing) || is(right, absorbing) {
                absorbing.map(Operand::Constant)
            } else {
                None
            }
        }
        [condition, a, b] if op == ScalarOp::select(op.row().result) => match constant(condition) {
            Some(Bool(condition)) => Some(if condition { a } else { b }),
            _ if constant(a) == Some(Bool(true)) && constant(b) == Some(Bool(false)) => Some(condition),
            _ => None,
        },
        _ => None,
    }
}

/// What an operation equals because operands are the same.
fn equal_operands(op: ScalarOp, operands: &[Operand]) -> Option<Operand> {
    use ScalarOp as S;
    use ScalarValue::{Bool, Int};
    match *operands {
        [a, b] if a == b => match op {
            S::AndInt | S::AndBool | S::OrInt | S::OrBool | S::CheckLengths | S::CheckPartition => Some(a),
            S::MaximumInt | S::MaximumFloat | S::MaximumChar | S::MinimumInt | S::MinimumFloat | S::MinimumChar => {
                Some(a)
            }
            S::SubtractInt | S::XorInt => Some(Operand::Constant(Int(0))),
            // Not on floats: a NaN is not equal to itself.
            S::EqualInt
            | S::EqualChar
            | S::EqualBool
            | S::AtMostInt
            | S::AtMostChar
            | S::AtLeastInt
            | S::AtLeastChar => Some(Operand::Constant(Bool(true))),
            S::UnequalInt | S::UnequalChar | S::UnequalBool | S::XorBool => Some(Operand::Constant(Bool(false))),
            S::LessInt | S::LessChar | S::GreaterInt | S::GreaterChar => Some(Operand::Constant(Bool(false))),
            _ => None,
        },
        [_, a, b] if a == b && op == ScalarOp::select(op.row().result) => Some(a),
        _ => None,
    }
}

/// Adds an operation on scalars, which may be known already, or on columns where one of the operands is one.
pub(super) fn elementwise(context: &mut Context, op: ScalarOp, operands: Vec<Operand>) -> Operand {
    let result = op.row().result;
    if !operands.iter().all(|&operand| context.is_scalar(operand)) {
        return context.emit(Op::Map(op), operands, RegisterType::Column(result));
    }
    evaluate(op, &operands).unwrap_or_else(|| context.emit(Op::Scalar(op), operands, RegisterType::Scalar(result)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::testing::{becomes, body_becomes, stays};

    #[test]
    fn constants_meet() {
        becomes(
            run,
            "function f() -> int {
               %0 = add.int 1 2
               %1 = multiply.int %0 %0
               return %1
             }",
            "function f() -> int unused %0: int, %1: int {
               return 9
             }",
        );
    }

    #[test]
    fn failing_operations_stay() {
        stays(
            run,
            "function f(%0: int) -> int {
               %1 = divide.int 1 0
               %2 = check_index 3 3
               %3 = divide.int %0 -1
               %4 = multiply.int %1 7
               return %4
             }",
        );
    }

    #[test]
    fn a_known_branch_replaces_the_if() {
        becomes(
            run,
            "function f(%0: int) -> int, int {
               %1 = less.int 1 2
               %6, %7 = if %1 {
                 %2 = add.int %0 1
                 %4 = if f { yield 1 } else {
                   %3 = add.int %2 1
                   yield %3
                 }
                 yield %4 %0
               } else {
                 %5 = divide.int 1 0
                 yield %5 2
               }
               %8 = add.int %6 %7
               return %8 %6
             }",
            "function f(%0: int) -> int, int unused %1: bool, %4: int, %5: int, %6: int, %7: int {
               %2 = add.int %0 1
               %3 = add.int %2 1
               %8 = add.int %3 %0
               return %8 %3
             }",
        );
    }

    #[test]
    fn neutral_operations_go() {
        becomes(
            run,
            "function f(%0: int, %1: column bool, %2: float, %3: bool) -> int, column bool, float, bool, bool, float {
               %4 = add.int 0 %0
               %5 = divide.int %4 1
               %6 = map and.bool %1 t
               %7 = maximum.float %2 -inf
               %8 = and.bool %3 f
               %9 = select.bool %3 t f
               %10 = select.float %8 1.0 %2
               return %5 %6 %7 %8 %9 %10
             }",
            "function f(%0: int, %1: column bool, %2: float, %3: bool) -> int, column bool, float, bool, bool, float \
               unused %4: int, %5: int, %6: column bool, %7: float, %8: bool, %9: bool, %10: float {
               return %0 %1 %2 f %3 %2
             }",
        );
    }

    #[test]
    fn what_is_not_exact_stays() {
        stays(
            run,
            "function f(%0: float, %1: column float) -> float {
               %2 = add.float %0 0.0
               %3 = multiply.float %2 0.0
               %4 = equal.float %0 %0
               %5 = subtract.float %0 %0
               %6 = map equal.float %1 %1
               %7 = map multiply.float %1 0.0
               return %3
             }",
        );
    }

    #[test]
    fn one_value_everywhere_is_copies_of_it() {
        body_becomes(
            run,
            "(%0: column int, %1: column bool, %2: int) -> column bool, column int, column int, column bool",
            "%3 = map and.bool f %1
             %4 = map select.int %1 %2 %2
             %5 = map subtract.int %0 %0
             %6 = map at_most.int %5 %5
             return %3 %4 %5 %6",
            "%3 = length %1
             %4 = dist f %3
             %5 = length %1
             %6 = dist %2 %5
             %7 = length %0
             %8 = dist 0 %7
             %9 = length %8
             %10 = dist t %9
             return %4 %6 %8 %10",
        );
    }
}

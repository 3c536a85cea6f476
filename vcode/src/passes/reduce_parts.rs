//! What is put together to be reduced is reduced part by part, and never put together.
//!
//! ```text
//! %2 = build %0                          %2 = reduce.minimum.int %1
//! %3 = concat %2 %1                      %4 = minimum.int %0 %2
//! %4 = reduce.minimum.int %3
//!
//! %4 = append %0 %1 %2 %3                %4 = seg_reduce.minimum.int %1 %0
//! … the lengths are those of both        %5 = seg_reduce.minimum.int %3 %2
//! %8 = seg_reduce.minimum.int %4 %7      %8 = map minimum.int %4 %5
//! ```
//!
//! `min_val([x] ++ {d[w] : w in row})` asks for the least of a row that may be empty, and needs no row with `x` in
//! front. That a reduction of what is put together is one of the reductions of the parts is the *first homomorphism
//! theorem* (Bird, *An Introduction to the Theory of Lists*, 1987). It holds to the bit where an operation is exact;
//! sums of floats are defined by where elements stand.

use crate::op::VectorOp;
use crate::passes::rewrite::{self, Action, Context, Maker, Rule};
use crate::passes::segments;
use crate::program::{Instruction, Op, Operand, Program, RegisterType};
use nesl_prim::{ScalarOp, ScalarValue};

/// The most scalars among the parts.
const MOST: usize = 8;

/// Reduces part by part in all functions.
pub fn run(program: &mut Program) {
    for function in &mut program.functions {
        rewrite::rewrite(function, &mut ReduceParts);
    }
}

struct ReduceParts;

impl Rule for ReduceParts {
    fn rewrite(&mut self, context: &mut Context, instruction: &Instruction) -> Action {
        let action = match (&instruction.op, &instruction.operands[..]) {
            (&Op::Vector(VectorOp::Reduce(op)), &[column]) if op.row().associative => parts(context, op, column),
            (&Op::Vector(VectorOp::SegReduce(op)), &[column, descriptor]) if op.row().associative => {
                in_segments(context, op, column, descriptor)
            }
            _ => None,
        };
        action.unwrap_or(Action::Keep)
    }
}

/// The reduction of columns one after another.
fn parts(context: &mut Context, op: ScalarOp, column: Operand) -> Option<Action> {
    let columns = context.made_by(column, VectorOp::Concat)?.to_vec();
    let scalars = |column: &Operand| context.made_by(*column, VectorOp::Build).map(<[Operand]>::to_vec);
    let built: Vec<Option<Vec<Operand>>> = columns.iter().map(scalars).collect();
    // Of none of them nothing is saved.
    if !(1..=MOST).contains(&built.iter().flatten().map(Vec::len).sum()) {
        return None;
    }
    let ty = RegisterType::Scalar(op.row().result);
    let mut values = Vec::new();
    for (column, built) in columns.into_iter().zip(built) {
        match built {
            Some(scalars) => values.extend(scalars),
            None => values.push(context.emit(Op::Vector(VectorOp::Reduce(op)), vec![column], ty)),
        }
    }
    let last = values.pop()?;
    let first = values.into_iter().reduce(|before, value| context.emit(Op::Scalar(op), vec![before, value], ty))?;
    Some(Action::Become(Op::Scalar(op), vec![first, last]))
}

/// The reductions of segments that have been put together two by two.
fn in_segments(context: &mut Context, op: ScalarOp, column: Operand, descriptor: Operand) -> Option<Action> {
    let &[first, one, second, other] = context.made_by(column, VectorOp::Append)? else { return None };
    let &[mut lengths] = context.made_by(descriptor, VectorOp::Packed)? else { return None };
    if let Some(checked) = by_map(context, lengths, ScalarOp::CheckTotal) {
        lengths = checked[0];
    }
    let &[of_first, of_second] = by_map(context, lengths, ScalarOp::AddInt)? else { return None };
    if !are_lengths(context, of_first, first) || !are_lengths(context, of_second, second) {
        return None;
    }
    let mut reduced = |column: Operand, descriptor: Operand| {
        if has_ones(context, descriptor) {
            return column;
        }
        let op = Op::Vector(VectorOp::SegReduce(op));
        context.emit(op, vec![column, descriptor], context.type_of(column))
    };
    let operands = vec![reduced(one, first), reduced(other, second)];
    Some(Action::Become(Op::Map(op), operands))
}

/// The operands of the elementwise operation that made a column, if it is that one.
fn by_map(context: &Context, column: Operand, op: ScalarOp) -> Option<&[Operand]> {
    let definition = context.definition(column).filter(|definition| definition.maker == Maker::Map(op))?;
    Some(&definition.operands)
}

/// Whether a column, or a scalar that stands for one, has the lengths of a descriptor.
fn are_lengths(context: &Context, column: Operand, descriptor: Operand) -> bool {
    let own = segments::lengths(context, descriptor);
    let value = own.and_then(|own| context.broadcast(own)).map(|[value, _]| value);
    own == Some(column)
        || value == Some(column)
        || context.made_by(column, VectorOp::Lengths).is_some_and(|operands| operands[0] == descriptor)
}

/// Whether a descriptor says of each element of its data that it is a segment.
fn has_ones(context: &Context, descriptor: Operand) -> bool {
    let packed = context.made_by(descriptor, VectorOp::Packed).and_then(|operands| context.broadcast(operands[0]));
    packed.is_some_and(|[value, _]| value == Operand::Constant(ScalarValue::Int(1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::testing::body_becomes;

    #[test]
    fn the_least_of_one_more_is_that_or_the_least_of_the_others() {
        body_becomes(
            run,
            "(%0: int, %1: column int, %2: column int) -> int, bool",
            "%3 = build %0
             %4 = concat %3 %1
             %5 = reduce.minimum.int %4
             %6 = map equal.int %1 %2
             %7 = build t f
             %8 = concat %6 %7 %6
             %9 = reduce.or.bool %8
             return %5 %9",
            "%3 = reduce.minimum.int %1
             %4 = minimum.int %0 %3
             %5 = map equal.int %1 %2
             %6 = reduce.or.bool %5
             %7 = reduce.or.bool %5
             %8 = or.bool %6 t
             %9 = or.bool %8 f
             %10 = or.bool %9 %7
             return %4 %10",
        );
    }

    #[test]
    fn so_it_is_in_segments() {
        body_becomes(
            run,
            "(%0: int, %1: column int, %2: column int, %3: column int) -> column int",
            "%4 = dist 1 %0
             %5 = packed %4
             %6 = packed %2
             %7 = append %5 %1 %6 %3
             %8 = map add.int 1 %2
             %9 = map check_total %8
             %10 = packed %9
             %11 = seg_reduce.maximum.int %7 %10
             return %11",
            "%6 = packed %2
             %4 = map add.int 1 %2
             %5 = map check_total %4
             %7 = seg_reduce.maximum.int %3 %6
             %8 = map maximum.int %1 %7
             return %8",
        );
    }

    #[test]
    fn sums_of_floats_other_segments_and_columns_alone_stay() {
        let stays = |signature: &str, body: &str| body_becomes(run, signature, body, body);
        stays(
            "(%0: float, %1: column float) -> float",
            "%2 = build %0
             %3 = concat %2 %1
             %4 = reduce.add.float %3
             return %4",
        );
        stays(
            "(%0: column int, %1: column int) -> int",
            "%2 = concat %0 %1
             %3 = reduce.add.int %2
             return %3",
        );
        stays(
            "(%0: descriptor, %1: column int, %2: descriptor, %3: column int, %4: descriptor) -> column int",
            "%5 = append %0 %1 %2 %3
             %6 = seg_reduce.add.int %5 %4
             return %6",
        );
    }
}

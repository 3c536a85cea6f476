//! Reads off the instructions that made a value what another instruction would compute from it: lengths, the parts of
//! descriptors, elements of broadcasts.
//!
//! Flattening asks for lengths where it needs them and broadcasts where it must; here most of that turns out to be
//! known. Each rule is exact: same value, same failures.

use crate::op::VectorOp;
use crate::passes::rewrite::{self, Action, Context, Maker, Rule};
use crate::passes::size::{Size, has_length, length};
use crate::passes::{effect, element, fold, shared, strength, within};
use crate::program::{Instruction, Op, Operand, Program, RegisterType};
use nesl_prim::{ScalarOp, ScalarType, ScalarValue};

/// Simplifies all functions.
pub fn run(program: &mut Program) {
    for function in &mut program.functions {
        rewrite::rewrite(function, &mut Simplify);
    }
}

struct Simplify;

const INT: RegisterType = RegisterType::Scalar(ScalarType::Int);

/// The most columns that one instruction puts together: more come a few at a time, so that the program stays linear in
/// its source.
const MOST_PARTS: usize = 8;

impl Rule for Simplify {
    fn rewrite(&mut self, context: &mut Context, instruction: &Instruction) -> Action {
        match &instruction.op {
            Op::Vector(op) => vector(context, *op, instruction),
            Op::Map(op) => map(context, *op, &instruction.operands),
            Op::Scalar(op) => strength::reduced(context, Op::Scalar, *op, &instruction.operands)
                .unwrap_or_else(|| repeated(context, Maker::Scalar(*op), *op, &instruction.operands)),
            Op::Constants(_) | Op::Host(_) | Op::Call(_) | Op::Each(_) | Op::If(..) | Op::Fused(_) => Action::Keep,
        }
    }
}

fn vector(context: &mut Context, op: VectorOp, instruction: &Instruction) -> Action {
    let operands = instruction.operands.as_slice();
    let made_by = |operand: Operand, op: VectorOp| context.made_by(operand, op);
    match (op, operands) {
        (VectorOp::Length, &[column]) => match length(context, column) {
            Some(Size::Value(value)) => Action::Replace(value),
            Some(Size::Of(op, operand)) => Action::Become(Op::Vector(op), vec![operand]),
            None => Action::Keep,
        },
        (VectorOp::Segments, &[descriptor]) => {
            let lengths = made_by(descriptor, VectorOp::Packed).map(|operands| operands[0]);
            match lengths.or_else(|| made_by(descriptor, VectorOp::View).map(|operands| operands[1])) {
                Some(lengths) => Action::Become(Op::Vector(VectorOp::Length), vec![lengths]),
                None => Action::Keep,
            }
        }
        (VectorOp::Lengths, &[descriptor]) => {
            let lengths = made_by(descriptor, VectorOp::Packed).map(|operands| operands[0]);
            replace(lengths.or_else(|| made_by(descriptor, VectorOp::View).map(|operands| operands[1])))
        }
        (VectorOp::Starts, &[descriptor]) => replace(made_by(descriptor, VectorOp::View).map(|operands| operands[0])),
        // The same segments as the descriptor that the starts come from; that one may even be packed.
        (VectorOp::View, &[starts, lengths]) => {
            replace(made_by(starts, VectorOp::Starts).map(|operands| operands[0]).filter(|&descriptor| {
                made_by(lengths, VectorOp::Lengths).is_some_and(|operands| operands[0] == descriptor)
                    || made_by(descriptor, VectorOp::Packed).is_some_and(|operands| operands[0] == lengths)
            }))
        }
        (VectorOp::Compact, &[column, descriptor]) => replace(made_by(descriptor, VectorOp::Packed).map(|_| column)),
        (VectorOp::Concat | VectorOp::Interleave, &[column]) => Action::Replace(column),
        // What was put together before need not be, for this.
        (VectorOp::Concat, columns) => {
            let part = |&column: &Operand| made_by(column, VectorOp::Concat).map_or(vec![column], <[Operand]>::to_vec);
            let parts: Vec<Operand> = columns.iter().flat_map(part).collect();
            if parts.len() == columns.len() || parts.len() > MOST_PARTS {
                return Action::Keep;
            }
            Action::Become(Op::Vector(VectorOp::Concat), parts)
        }
        (VectorOp::Extract, &[column, index]) => replace(element::element(context, column, index)),
        (VectorOp::Slice, &[column, start, count]) => {
            let whole = start == Operand::Constant(ScalarValue::Int(0)) && has_length(context, column, count);
            replace(if whole { Some(column) } else { element::row(context, column, start, count) })
        }
        (VectorOp::Gather, &[column, indices]) => {
            if let Some(elements) = element::elements(context, column, indices) {
                return Action::Replace(elements);
            }
            let Some(value) = context.made_by(column, VectorOp::Dist).map(|operands| operands[0]) else {
                let all = context.made_by(indices, VectorOp::Iota).map(|operands| operands[0]);
                return replace(all.filter(|&count| has_length(context, column, count)).map(|_| column));
            };
            let count = context.emit(Op::Vector(VectorOp::Length), vec![indices], INT);
            Action::Become(Op::Vector(VectorOp::Dist), vec![value, count])
        }
        (VectorOp::SegDist, &[column, descriptor]) => {
            let Some([value, _]) = context.broadcast(column) else { return Action::Keep };
            let count = context.emit(Op::Vector(VectorOp::Total), vec![descriptor], INT);
            Action::Become(Op::Vector(VectorOp::Dist), vec![value, count])
        }
        _ => Action::Keep,
    }
}

fn replace(value: Option<Operand>) -> Action {
    value.map_or(Action::Keep, Action::Replace)
}

/// An elementwise operation reads the scalar instead of a column of copies of it; where all columns are such, or all
/// have one element, it is done once.
fn map(context: &mut Context, op: ScalarOp, operands: &[Operand]) -> Action {
    let broadcast = |&operand: &Operand| context.broadcast(operand);
    let scalars: Vec<Operand> =
        operands.iter().map(|operand| broadcast(operand).map_or(*operand, |[value, _]| value)).collect();
    if scalars == operands {
        let action = single(context, op, operands)
            .or_else(|| strength::reduced(context, Op::Map, op, operands))
            .or_else(|| shared::once(context, op, operands));
        return action.unwrap_or_else(|| repeated(context, Maker::Map(op), op, operands));
    }
    if scalars.iter().any(|&operand| matches!(context.type_of(operand), RegisterType::Column(_))) {
        return Action::Become(Op::Map(op), scalars);
    }
    let Some([_, count]) = operands.iter().find_map(broadcast) else { return Action::Keep };
    // What is known at once, what follows in this walk sees.
    let known = fold::known(op, &scalars).or_else(|| match repeated(context, Maker::Scalar(op), op, &scalars) {
        Action::Replace(value) => Some(value),
        _ => None,
    });
    let value = match known {
        Some(value) => value,
        // An operation that can fail does not fail on no elements.
        None if effect::has_effect(&Op::Scalar(op), &scalars) => return Action::Keep,
        None => context.emit(Op::Scalar(op), scalars, RegisterType::Scalar(op.row().result)),
    };
    Action::Become(Op::Vector(VectorOp::Dist), vec![value, count])
}

/// An elementwise operation on columns that were put together of one scalar each is done on these; it fails where
/// theirs would.
fn single(context: &mut Context, op: ScalarOp, operands: &[Operand]) -> Option<Action> {
    let scalar = |operand: &Operand| match context.type_of(*operand) {
        RegisterType::Column(_) => match context.made_by(*operand, VectorOp::Build) {
            Some(&[scalar]) => Some(scalar),
            _ => None,
        },
        _ => Some(*operand),
    };
    let scalars: Vec<Operand> = operands.iter().map(scalar).collect::<Option<_>>()?;
    let value = fold::evaluate(op, &scalars)
        .unwrap_or_else(|| context.emit(Op::Scalar(op), scalars, RegisterType::Scalar(op.row().result)));
    Some(Action::Become(Op::Vector(VectorOp::Build), vec![value]))
}

/// An operation that its operand has been through: a check that has passed, or the inverse; the length of what has just
/// that many.
fn repeated(context: &Context, maker: Maker, op: ScalarOp, operands: &[Operand]) -> Action {
    if let (ScalarOp::RangeLength, &[start, end, stride]) = (op, operands) {
        // From 0 to a length.
        let int = |value| Operand::Constant(ScalarValue::Int(value));
        let is_length = context.definition(end).is_some_and(|end| end.maker.is_natural());
        return replace((start == int(0) && stride == int(1) && is_length).then_some(end));
    }
    let Some((&first, others)) = operands.split_first() else { return Action::Keep };
    let Some(definition) = context.definition(first) else { return Action::Keep };
    let again = definition.maker == maker && definition.operands[1..] == *others;
    match op {
        ScalarOp::CheckIndex | ScalarOp::CheckLengths | ScalarOp::CheckLength | ScalarOp::CheckTotal if again => {
            Action::Replace(first)
        }
        ScalarOp::NotBool | ScalarOp::NotInt | ScalarOp::NegateInt | ScalarOp::NegateFloat if again => {
            Action::Replace(definition.operands[0])
        }
        ScalarOp::CheckLength | ScalarOp::CheckTotal if definition.maker.is_natural() => Action::Replace(first),
        ScalarOp::CheckIndex if within::is_within(context, first, others[0]) => Action::Replace(first),
        _ => Action::Keep,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::testing;

    const HEADER: &str = "(%0: column int, %1: descriptor, %2: column int, %3: int, %4: int, %5: column bool)";

    /// Checks what a body becomes, after removal of what is no longer used.
    #[track_caller]
    fn becomes(types: &str, before: &str, after: &str) {
        testing::body_becomes(run, &format!("{HEADER} -> {types}"), before, after);
    }

    #[track_caller]
    fn stays(types: &str, body: &str) {
        becomes(types, body, body);
    }

    #[test]
    fn lengths_are_read_off() {
        becomes(
            "int, int, int, int, int",
            "%6 = iota %3
             %7 = map add.int %6 %3
             %8 = length %7
             %9 = gather %2 %0
             %10 = scan.add.int %9
             %11 = length %10
             %12 = constants char \"abc\"
             %13 = length %12
             %14 = build %3 %4
             %15 = map add.int 1 %14
             %16 = length %15
             %17 = map select.int %5 %3 %4
             %18 = merge %5 %17 %17
             %19 = length %18
             return %8 %11 %13 %16 %19",
            "%6 = length %0
             %7 = length %5
             return %3 %6 3 2 %7",
        );
        becomes(
            "int, int, int",
            "%6 = seg_reduce.add.int %0 %1
             %7 = length %6
             %8 = packed %2
             %9 = seg_dist %2 %8
             %10 = length %9
             %11 = lengths %8
             %12 = length %11
             return %7 %10 %12",
            "%6 = segments %1
             %7 = packed %2
             %8 = total %7
             %9 = length %2
             return %6 %8 %9",
        );
        stays("int, int", "%6 = pack %0 %5\n%7 = length %6\n%8 = concat %0 %2\n%9 = length %8\nreturn %7 %9");
    }

    #[test]
    fn what_may_fail_and_is_known_is_not_done_for_copies() {
        becomes(
            "column int, column int",
            "%6 = length %0
             %7 = dist %6 %4
             %8 = map range_length 0 %7 1
             %9 = map check_lengths %6 %8
             %10 = dist %3 %4
             %11 = map range_length 0 %10 1
             return %9 %11",
            "%6 = length %0
             %7 = dist %6 %4
             %8 = dist %3 %4
             %9 = map range_length 0 %8 1
             return %7 %9",
        );
    }

    #[test]
    fn columns_of_one_element_are_computed_as_that() {
        becomes(
            "column int, column int, column bool",
            "%6 = build %3
             %7 = map check_index %6 %4
             %8 = build 2
             %9 = map add.int %8 1
             %10 = map multiply.int %7 %9
             %11 = map less.int %6 %8
             return %7 %10 %11",
            "%6 = check_index %3 %4
             %7 = build %6
             %8 = multiply.int %6 3
             %9 = build %8
             %10 = less.int %3 2
             %11 = build %10
             return %7 %9 %11",
        );
        stays("column int", "%6 = build %3 %4\n%7 = map add.int %6 1\nreturn %7");
        stays("column int", "%6 = build %3\n%7 = map add.int %6 %0\nreturn %7");
    }

    #[test]
    fn descriptors_come_apart() {
        becomes(
            "column int, column int, column int, column int, int, int",
            "%6 = packed %2
             %7 = lengths %6
             %8 = compact %0 %6
             %9 = view %2 %0
             %10 = lengths %9
             %11 = starts %9
             %12 = segments %9
             %13 = segments %6
             return %7 %8 %10 %11 %12 %13",
            "%6 = length %0
             %7 = length %2
             return %2 %0 %0 %2 %6 %7",
        );
        becomes(
            "descriptor, descriptor",
            "%6 = starts %1
             %7 = lengths %1
             %8 = view %6 %7
             %9 = packed %2
             %10 = starts %9
             %11 = lengths %9
             %12 = view %10 %11
             return %8 %12",
            "%6 = packed %2
             return %1 %6",
        );
    }

    #[test]
    fn descriptors_of_unknown_making_stay() {
        stays(
            "column int, column int, descriptor, descriptor, column int",
            "%6 = view %0 %2
             %7 = compact %0 %6
             %8 = compact %0 %1
             %9 = starts %1
             %10 = view %9 %2
             %11 = lengths %1
             %12 = packed %11
             %13 = packed %2
             %14 = starts %13
             return %7 %8 %10 %12 %14",
        );
    }

    #[test]
    fn broadcasts_are_not_made() {
        becomes(
            "column int, column int, column int, column int, int, column int",
            "%6 = dist %3 %4
             %7 = map add.int %6 %0
             %8 = dist 2 %4
             %9 = map multiply.int %6 %8
             %10 = gather %6 %2
             %11 = dist 1.5 %4
             %12 = seg_dist %8 %1
             %13 = extract %6 %4
             %14 = map check_index 0 %8
             %15 = map add.int %14 %0
             return %7 %9 %10 %12 %13 %15",
            "%6 = map add.int %3 %0
             %7 = multiply.int %3 2
             %8 = dist %7 %4
             %9 = length %2
             %10 = dist %3 %9
             %11 = total %1
             %12 = dist 2 %11
             %13 = map add.int 0 %0
             return %6 %8 %10 %12 %3 %13",
        );
        // On no elements the division does not fail.
        stays("column int", "%6 = dist %3 %4\n%7 = map divide.int 1 %6\nreturn %7");
    }

    #[test]
    fn selections_of_everything_and_of_known_elements() {
        becomes(
            "column int, column int, column int, int, int, column int",
            "%6 = length %0
             %7 = slice %0 0 %6
             %8 = iota %6
             %9 = gather %0 %8
             %10 = gather %8 %2
             %11 = extract %8 %3
             %12 = build %3 %4
             %13 = extract %12 1
             %14 = concat %2
             return %7 %9 %10 %11 %13 %14",
            "return %0 %0 %2 %3 %4 %2",
        );
        stays(
            "column int, column int, int, int",
            "%6 = slice %0 0 %3
             %7 = iota %3
             %8 = gather %0 %7
             %9 = build %3 %4
             %10 = extract %9 2
             %11 = extract %9 %3
             return %6 %8 %10 %11",
        );
    }

    #[test]
    fn what_has_just_been_written_is_known() {
        becomes(
            "int, int, int",
            "%6 = check_index %3 8
             %7 = build %6
             %8 = build %4
             %9 = scatter %0 %7 %8
             %10 = extract %9 %6
             %11 = add.int %3 %4
             %12 = build %11
             %13 = scatter %2 %12 %8
             %14 = slice %13 %3 5
             %15 = extract %14 %4
             %16 = extract %14 3
             return %10 %15 %16",
            "%6 = check_index %3 8
             %8 = build %4
             %7 = add.int %3 %4
             %9 = build %7
             %10 = scatter %2 %9 %8
             %11 = slice %10 %3 5
             %12 = extract %11 3
             return %4 %4 %12",
        );
    }

    #[test]
    fn passed_checks_pass_again() {
        becomes(
            "int, column int, int, int, int, column int",
            "%6 = check_index %3 %4
             %7 = check_index %6 %4
             %8 = map check_index %0 %3
             %9 = map check_index %8 %3
             %10 = length %0
             %11 = check_length %10
             %12 = not.int %3
             %13 = not.int %12
             %14 = check_length %3
             %15 = check_length %14
             %16 = lengths %1
             %17 = map check_length %16
             return %7 %9 %11 %13 %15 %17",
            "%6 = check_index %3 %4
             %7 = map check_index %0 %3
             %8 = length %0
             %9 = check_length %3
             %10 = lengths %1
             return %6 %7 %8 %3 %9 %10",
        );
        stays("int", "%6 = check_index %3 %4\n%7 = check_index %6 %3\nreturn %7");
    }

    #[test]
    fn from_0_to_a_length_are_that_many() {
        becomes(
            "int, column int",
            "%6 = length %0
             %7 = range_length 0 %6 1
             %8 = lengths %1
             %9 = map range_length 0 %8 1
             return %7 %9",
            "%6 = length %0
             %7 = lengths %1
             return %6 %7",
        );
        stays(
            "int, int, int",
            "%6 = length %0
             %7 = range_length 1 %6 1
             %8 = range_length 0 %6 2
             %9 = range_length 0 %3 1
             return %7 %8 %9",
        );
    }
}

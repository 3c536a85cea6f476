//! Descriptors whose segments are equally long: their lengths, and starts that go up evenly, need no memory.
//!
//! Lengths that are a broadcast say so by their length; starts that are an *arithmetic progression* (a range, a
//! broadcast, or what sums and products make of these) by the first and the distance. Such descriptors are windows, the
//! rows of a matrix, or one sequence that all instances share. The columns go, if nobody else reads them, and what
//! reads segments computes where they are.
//!
//! ```text
//! l = dist m n
//! packed l                         regular m n
//! view (iota n) l                  windows 0 1 m n
//! view (dist s n) l                windows s 0 m n
//! view s l                         blocks s m n
//! gather (starts (regular m n)) i  map multiply.int i m
//! ```
//!
//! Other passes know descriptors by the columns that they are made of: for these [`split`] makes them of columns again.

use crate::op::VectorOp;
use crate::passes::fold;
use crate::passes::rewrite::{self, Action, Context, Maker, Rule};
use crate::program::{Instruction, Op, Operand, Program, RegisterType};
use nesl_prim::{ScalarOp, ScalarType, ScalarValue};

/// Makes descriptors of scalars, in all functions.
pub fn run(program: &mut Program) {
    program.functions.iter_mut().for_each(|function| rewrite::rewrite(function, &mut Regular));
}

/// Makes descriptors of columns again, in all functions.
pub fn split(program: &mut Program) {
    program.functions.iter_mut().for_each(|function| rewrite::rewrite(function, &mut Split));
}

const INT: RegisterType = RegisterType::Scalar(ScalarType::Int);
const INTS: RegisterType = RegisterType::Column(ScalarType::Int);
const ZERO: Operand = Operand::Constant(ScalarValue::Int(0));
const ONE: Operand = Operand::Constant(ScalarValue::Int(1));

struct Regular;

impl Rule for Regular {
    fn rewrite(&mut self, context: &mut Context, instruction: &Instruction) -> Action {
        let Op::Vector(op) = instruction.op else { return Action::Keep };
        let made = match (op, instruction.operands.as_slice()) {
            (VectorOp::Packed, &[lengths]) => {
                context.broadcast(lengths).map(|[length, count]| (VectorOp::Regular, vec![length, count]))
            }
            (VectorOp::View, &[starts, lengths]) => view(context, starts, lengths),
            (VectorOp::Lengths, &[descriptor]) => {
                extent(context, descriptor).map(|extent| (VectorOp::Dist, extent.to_vec()))
            }
            (VectorOp::Segments, &[descriptor]) => {
                return extent(context, descriptor).map_or(Action::Keep, |[_, count]| Action::Replace(count));
            }
            (VectorOp::Gather, &[column, indices]) => return gather(context, column, indices),
            _ => None,
        };
        made.map_or(Action::Keep, |(op, operands)| Action::Become(Op::Vector(op), operands))
    }
}

/// How long the segments of a descriptor are, and how many, where it was made of that.
fn extent(context: &Context, descriptor: Operand) -> Option<[Operand; 2]> {
    let definition = context.definition(descriptor)?;
    let Maker::Vector(op) = definition.maker else { return None };
    op.regular_operands().map(|operands| operands.map(|operand| definition.operands[operand]))
}

fn view(context: &mut Context, starts: Operand, lengths: Operand) -> Option<(VectorOp, Vec<Operand>)> {
    let [length, count] = context.broadcast(lengths)?;
    Some(match progression(context, starts) {
        Some([first, stride]) => (VectorOp::Windows, vec![first, stride, length, count]),
        None => (VectorOp::Blocks, vec![starts, length, count]),
    })
}

/// Where segments of a descriptor start: what is read of that is computed.
fn gather(context: &mut Context, column: Operand, indices: Operand) -> Action {
    let is_starts = context.made_by(column, VectorOp::Starts).is_some();
    match is_starts.then(|| progression(context, column)).flatten() {
        // Then the indices do not say how many there are.
        Some([first, stride]) if stride == ZERO => {
            let count = context.emit(Op::Vector(VectorOp::Length), vec![indices], INT);
            Action::Become(Op::Vector(VectorOp::Dist), vec![first, count])
        }
        Some(starts) => Action::Replace(place(context, indices, starts)),
        None => Action::Keep,
    }
}

/// The first element of a column, and by how much each is more than the one before, if that is known to be the same
/// everywhere.
fn progression(context: &mut Context, column: Operand) -> Option<[Operand; 2]> {
    if context.type_of(column) == INT {
        return Some([column, ZERO]);
    }
    let definition = context.definition(column)?.clone();
    match (definition.maker, definition.operands.as_slice()) {
        (Maker::Vector(VectorOp::Iota), _) => Some([ZERO, ONE]),
        (Maker::Vector(VectorOp::Dist), &[value, _]) => Some([value, ZERO]),
        (Maker::Vector(VectorOp::Starts), &[descriptor]) => {
            if let Some(&[length, _]) = context.made_by(descriptor, VectorOp::Regular) {
                return Some([ZERO, length]);
            }
            context.made_by(descriptor, VectorOp::Windows).map(|operands| [operands[0], operands[1]])
        }
        (Maker::Map(op @ (ScalarOp::AddInt | ScalarOp::SubtractInt)), &[a, b]) => {
            let ([first, stride], [other, more]) = (progression(context, a)?, progression(context, b)?);
            Some([scalar(context, op, [first, other]), scalar(context, op, [stride, more])])
        }
        (Maker::Map(op @ ScalarOp::MultiplyInt), &[a, b]) => {
            let ([first, stride], [other, more]) = (progression(context, a)?, progression(context, b)?);
            let stride = if more == ZERO {
                scalar(context, op, [stride, other])
            } else if stride == ZERO {
                scalar(context, op, [first, more])
            } else {
                return None;
            };
            Some([scalar(context, op, [first, other]), stride])
        }
        (Maker::Map(op), operands) => progression(context, operands[op.checked_operand()?]),
        _ => None,
    }
}

/// What an operation that cannot fail gives on scalars.
fn scalar(context: &mut Context, op: ScalarOp, operands: [Operand; 2]) -> Operand {
    if op == ScalarOp::MultiplyInt && operands.contains(&ZERO) {
        return ZERO;
    }
    let known = fold::known(op, &operands);
    known.unwrap_or_else(|| context.emit(Op::Scalar(op), operands.to_vec(), INT))
}

struct Split;

impl Rule for Split {
    fn rewrite(&mut self, context: &mut Context, instruction: &Instruction) -> Action {
        let (starts, [length, count]) = match (&instruction.op, instruction.operands.as_slice()) {
            (Op::Vector(VectorOp::Regular), &[length, count]) => (None, [length, count]),
            (Op::Vector(VectorOp::Windows), &[first, stride, length, count]) => {
                (Some(column(context, [first, stride], count)), [length, count])
            }
            (Op::Vector(VectorOp::Blocks), &[starts, length, count]) => (Some(starts), [length, count]),
            _ => return Action::Keep,
        };
        let lengths = context.emit(Op::Vector(VectorOp::Dist), vec![length, count], INTS);
        let (op, operands) = match starts {
            Some(starts) => (VectorOp::View, vec![starts, lengths]),
            None => (VectorOp::Packed, vec![lengths]),
        };
        Action::Become(Op::Vector(op), operands)
    }
}

/// An arithmetic progression as a column.
fn column(context: &mut Context, [first, stride]: [Operand; 2], count: Operand) -> Operand {
    if stride == ZERO {
        return context.emit(Op::Vector(VectorOp::Dist), vec![first, count], INTS);
    }
    let places = context.emit(Op::Vector(VectorOp::Iota), vec![count], INTS);
    place(context, places, [first, stride])
}

/// What an arithmetic progression is at places.
fn place(context: &mut Context, places: Operand, [first, stride]: [Operand; 2]) -> Operand {
    let mut here = places;
    if stride != ONE {
        here = context.emit(Op::Map(ScalarOp::MultiplyInt), vec![here, stride], INTS);
    }
    if first != ZERO {
        here = context.emit(Op::Map(ScalarOp::AddInt), vec![here, first], INTS);
    }
    here
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::testing::body_becomes;

    const HEADER: &str = "(%0: column int, %1: int, %2: int, %3: int, %4: column int)";

    /// Checks what a body becomes, and that it becomes itself again.
    #[track_caller]
    fn becomes(types: &str, columns: &str, scalars: &str) {
        let signature = format!("{HEADER} -> {types}");
        body_becomes(run, &signature, columns, scalars);
        body_becomes(split, &signature, scalars, columns);
    }

    #[test]
    fn descriptors_are_made_of_scalars_and_back() {
        becomes("descriptor", "%5 = dist %1 %2\n%6 = packed %5\nreturn %6", "%5 = regular %1 %2\nreturn %5");
        becomes(
            "descriptor",
            "%5 = iota %2
             %6 = dist 3 %2
             %7 = view %5 %6
             return %7",
            "%5 = windows 0 1 3 %2\nreturn %5",
        );
        becomes(
            "descriptor",
            "%5 = dist %3 %2
             %6 = dist %1 %2
             %7 = view %5 %6
             return %7",
            "%5 = windows %3 0 %1 %2\nreturn %5",
        );
        becomes(
            "descriptor",
            "%5 = iota %2
             %6 = map multiply.int %5 %3
             %7 = map add.int %6 5
             %8 = dist %1 %2
             %9 = view %7 %8
             return %9",
            "%5 = windows 5 %3 %1 %2\nreturn %5",
        );
        becomes("descriptor", "%5 = dist %1 %2\n%6 = view %0 %5\nreturn %6", "%5 = blocks %0 %1 %2\nreturn %5");
    }

    #[test]
    fn starts_go_up_evenly_by_sums_and_products() {
        body_becomes(
            run,
            &format!("{HEADER} -> descriptor"),
            "%5 = dist %1 %2
             %6 = packed %5
             %7 = starts %6
             %8 = length %0
             %9 = map check_index %7 %8
             %10 = iota %2
             %11 = map multiply.int %3 %10
             %12 = map subtract.int %9 %11
             %13 = dist 4 %2
             %14 = view %12 %13
             return %14",
            "%5 = regular %1 %2
             %6 = starts %5
             %7 = length %0
             %8 = map check_index %6 %7
             %9 = subtract.int %1 %3
             %10 = windows 0 %9 4 %2
             return %10",
        );
    }

    #[test]
    fn what_is_asked_of_them_is_computed() {
        body_becomes(
            run,
            &format!("{HEADER} -> column int, column int, column int, int"),
            "%5 = dist %1 %2
             %6 = packed %5
             %7 = starts %6
             %8 = gather %7 %0
             %9 = windows %3 1 %1 %2
             %10 = starts %9
             %11 = gather %10 %0
             %12 = lengths %9
             %13 = segments %9
             return %8 %11 %12 %13",
            "%5 = map multiply.int %0 %1
             %6 = map add.int %0 %3
             %7 = dist %1 %2
             return %5 %6 %7 %2",
        );
    }

    #[test]
    fn lengths_of_data_and_other_starts_stay() {
        let body = "%5 = packed %0
             %6 = view %4 %0
             %7 = iota %2
             %8 = map multiply.int %7 %7
             %9 = dist %1 %2
             %10 = blocks %8 %1 %2
             return %5 %6 %9 %10";
        body_becomes(run, &format!("{HEADER} -> descriptor, descriptor, column int, descriptor"), body, body);
    }
}

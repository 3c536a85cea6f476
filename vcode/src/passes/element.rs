//! Elements of columns that are known without reading them, from the instructions that made the columns. It is a part
//! of [`simplify`](super::simplify).
//!
//! *Arithmetic progressions*, the columns that ranges become, are known by their indices: an element at one, elements
//! at many, and those in a row, which are a progression again. So a range is in memory only where something needs it
//! there.
//!
//! ```text
//! %2 = iota %0
//! %3 = map multiply.int %2 2             %5 = multiply.int %1 2
//! %4 = map add.int 7 %3                  %6 = add.int 7 %5
//! %6 = extract %4 %1
//! ```

use crate::op::VectorOp;
use crate::passes::rewrite::{Context, Maker};
use crate::passes::{fold, segments};
use crate::program::{Op, Operand, RegisterType};
use nesl_prim::{ScalarOp, ScalarType, ScalarValue};

/// Progressions that were computed by more steps than so many are read.
const DEEPEST: usize = 4;

const INTS: RegisterType = RegisterType::Column(ScalarType::Int);

/// The element of a column at an index, where it is known.
pub(super) fn element(context: &mut Context, column: Operand, index: Operand) -> Option<Operand> {
    if is_progression(context, column, DEEPEST) {
        return Some(at(context, column, index));
    }
    let definition = context.definition(column)?;
    match (definition.maker, &definition.operands[..]) {
        (Maker::Vector(VectorOp::Dist), &[value, _]) => Some(value),
        (Maker::Vector(VectorOp::Build), elements) => {
            // An index that no earlier check let pass is never reached; it is not for here to say so.
            let Operand::Constant(ScalarValue::Int(index)) = index else { return None };
            elements.get(usize::try_from(index).ok()?).copied()
        }
        (Maker::Vector(VectorOp::Scatter), _) => {
            let (place, value) = single_write(context, column)?;
            (place == index).then_some(value)
        }
        (Maker::Vector(VectorOp::Slice), &[whole, start, _]) => {
            let (place, value) = single_write(context, whole)?;
            let place = context.definition(place).filter(|place| place.maker == Maker::Scalar(ScalarOp::AddInt))?;
            (place.operands == [start, index]).then_some(value)
        }
        _ => None,
    }
}

/// The elements of a column at the indices of another, where they are known.
pub(super) fn elements(context: &mut Context, column: Operand, indices: Operand) -> Option<Operand> {
    is_progression(context, column, DEEPEST).then(|| at(context, column, indices))
}

/// So many elements of a column from a start on, where they are known.
pub(super) fn row(context: &mut Context, column: Operand, start: Operand, count: Operand) -> Option<Operand> {
    is_progression(context, column, DEEPEST).then(|| {
        let first = context.emit(Op::Vector(VectorOp::Iota), vec![count], INTS);
        let indices = from(context, start, first);
        at(context, column, indices)
    })
}

/// The elements of a column in the segments of a view, one after another, where they are known, and the descriptor of
/// their segments.
pub(super) fn rows(context: &mut Context, column: Operand, view: Operand) -> Option<(Operand, Operand)> {
    let &[starts, lengths] = context.made_by(view, VectorOp::View)? else { return None };
    is_progression(context, column, DEEPEST).then(|| {
        let own = context.emit(Op::Vector(VectorOp::Packed), vec![lengths], RegisterType::Descriptor);
        let first = context.emit(Op::Vector(VectorOp::SegIota), vec![own], INTS);
        let mut starts = segments::copies(context, starts);
        if !context.is_scalar(starts) {
            starts = context.emit(Op::Vector(VectorOp::SegDist), vec![starts, own], INTS);
        }
        let indices = from(context, starts, first);
        (at(context, column, indices), own)
    })
}

/// Indices that begin at a start rather than at 0.
fn from(context: &mut Context, start: Operand, indices: Operand) -> Operand {
    match start {
        Operand::Constant(ScalarValue::Int(0)) => indices,
        _ => fold::elementwise(context, ScalarOp::AddInt, vec![start, indices]),
    }
}

/// Whether the elements of a column are what additions and multiplications make of their indices.
fn is_progression(context: &Context, column: Operand, deepest: usize) -> bool {
    context.definition(column).is_some_and(|definition| match definition.maker {
        Maker::Vector(VectorOp::Iota) => true,
        Maker::Map(ScalarOp::AddInt | ScalarOp::SubtractInt | ScalarOp::MultiplyInt) => {
            let is_known = |&operand| context.is_scalar(operand) || is_progression(context, operand, deepest - 1);
            deepest > 0 && definition.operands.iter().all(is_known)
        }
        _ => false,
    })
}

/// The elements of a progression at an index, or at those of a column.
fn at(context: &mut Context, column: Operand, indices: Operand) -> Operand {
    let definition = context.definition(column).cloned();
    match definition.map(|definition| (definition.maker, definition.operands)) {
        Some((Maker::Map(op), operands)) => {
            let operands = operands.into_iter().map(|operand| match context.is_scalar(operand) {
                true => operand,
                false => at(context, operand, indices),
            });
            let operands = operands.collect();
            fold::elementwise(context, op, operands)
        }
        _ => indices,
    }
}

/// Where one element has just been written to a column, and what it is.
fn single_write(context: &Context, column: Operand) -> Option<(Operand, Operand)> {
    let &[_, places, values] = context.made_by(column, VectorOp::Scatter)? else { return None };
    let [&[place], &[value]] = [places, values].map(|single| context.made_by(single, VectorOp::Build).unwrap_or(&[]))
    else {
        return None;
    };
    Some((place, value))
}

#[cfg(test)]
mod tests {
    use crate::passes::simplify::run;
    use crate::passes::testing;

    const HEADER: &str = "(%0: int, %1: int, %2: column int, %3: column int)";

    #[track_caller]
    fn becomes(types: &str, before: &str, after: &str) {
        testing::body_becomes(run, &format!("{HEADER} -> {types}"), before, after);
    }

    #[test]
    fn elements_of_a_range_are_computed() {
        becomes(
            "int",
            "%4 = iota %0
             %5 = map multiply.int %4 3
             %6 = map subtract.int %5 %1
             %7 = extract %6 %1
             return %7",
            "%4 = multiply.int %1 3
             %5 = subtract.int %4 %1
             return %5",
        );
        becomes(
            "column int",
            "%4 = iota %0
             %5 = map add.int 7 %4
             %6 = gather %5 %2
             return %6",
            "%4 = map add.int 7 %2
             return %4",
        );
    }

    #[test]
    fn a_part_of_a_range_is_a_range() {
        becomes(
            "column int, column int",
            "%4 = iota %0
             %5 = map multiply.int 2 %4
             %6 = slice %5 %1 4
             %7 = slice %4 0 %1
             return %6 %7",
            "%4 = iota 4
             %5 = map add.int %1 %4
             %6 = map multiply.int 2 %5
             %7 = iota %1
             return %6 %7",
        );
    }

    #[test]
    fn what_is_computed_of_columns_in_memory_or_of_much_is_read() {
        for value in ["map add.int %4 %2", "map divide.int %4 2", "map check_index %4 %1"] {
            let body = format!("%4 = iota %0\n%5 = {value}\n%6 = extract %5 %1\nreturn %6");
            becomes("int", &body, &body);
        }
        let deep: String = (5..10).map(|at| format!("%{at} = map multiply.int %{} %1\n", at - 1)).collect();
        let body = format!("%4 = iota %0\n{deep}%10 = gather %9 %3\nreturn %10");
        becomes("column int", &body, &body);
    }
}

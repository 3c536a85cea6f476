//! Reductions of sequences that are written out become operations on the values themselves.
//!
//! In `{any({c == v : v in "aeiou"}) : c in text}` flattening compares five times as many characters as the text has,
//! in a column that is reduced by segments; `{max_val([a, b]) : a in v; b in w}` puts two columns together element by
//! element. Where all segments are known to have the same few elements, and each of these is known, the reduction is
//! one operation after another on whole columns:
//!
//! ```text
//! {any({c == v : v in "ae"}) : c in text}      →  {c == `a or c == `e : c in text}
//! {max_val([a, b]) : a in v; b in w}           →  {max(a, b) : a in v; b in w}
//! any({c == v : v in "ae"})                    →  c == `a or c == `e
//! ```
//!
//! Known are the elements of constants, of what scalars or columns were put together to (`build`, `interleave`), of
//! windows that begin one after another (they are slices), places in segments, what is the same in all of a segment,
//! and whatever is computed from these elementwise and cannot fail, so that no error comes sooner or later. Floats are
//! combined as [`nesl_prim::sum`] defines for so few.

use crate::op::VectorOp;
use crate::passes::linear::{Made, Sum};
use crate::passes::rewrite::{self, Action, Context, Definition, Maker, Rule};
use crate::passes::{effect, segments};
use crate::program::{Instruction, Op, Operand, Program, RegisterType};
use nesl_prim::{Constants, ScalarOp, ScalarType, ScalarValue, sum};
use std::collections::HashMap;

/// The most elements that a segment has.
const MOST: i64 = 8;

/// The most instructions that take the place of a reduction and of what it reads.
const MOST_INSTRUCTIONS: usize = 64;

/// Rewrites all functions.
pub fn run(program: &mut Program) {
    for function in &mut program.functions {
        rewrite::rewrite(function, &mut Short::default());
    }
}

#[derive(Default)]
struct Short {
    /// The elements of constant columns that have few.
    constants: HashMap<Operand, Constants>,
}

/// What is reduced: a whole column, or one by the segments of descriptors that share a [`segments::key`].
type Cut = Option<Operand>;

fn int(value: i64) -> Operand {
    Operand::Constant(ScalarValue::Int(value))
}

impl Rule for Short {
    fn rewrite(&mut self, context: &mut Context, instruction: &Instruction) -> Action {
        match (&instruction.op, instruction.operands.as_slice()) {
            (Op::Constants(constants), []) if constants.len() as i64 <= MOST => {
                self.constants.insert(Operand::Register(instruction.results[0]), constants.clone());
                Action::Keep
            }
            (&Op::Vector(VectorOp::Reduce(op)), &[column]) => {
                let Some(count) = self.length(context, column) else { return Action::Keep };
                let value = self.reduced(context, op, (column, count), None);
                value.map_or(Action::Keep, Action::Replace)
            }
            (&Op::Vector(VectorOp::SegReduce(op)), &[column, view])
                if context.made_by(view, VectorOp::View).is_some() =>
            {
                let value = reduced_windows(context, op, (column, view));
                value.map_or(Action::Keep, Action::Replace)
            }
            (&Op::Vector(VectorOp::SegReduce(op)), &[column, packed]) => {
                let Some((count, segments)) = equal_lengths(context, packed) else { return Action::Keep };
                let cut = Some(segments::key(context, packed));
                let Some(value) = self.reduced(context, op, (column, count), cut) else { return Action::Keep };
                match context.type_of(value) {
                    RegisterType::Scalar(_) => Action::Become(Op::Vector(VectorOp::Dist), vec![value, segments]),
                    _ => Action::Replace(value),
                }
            }
            _ => Action::Keep,
        }
    }
}

/// What a reduction of windows gives.
fn reduced_windows(context: &mut Context, op: ScalarOp, (column, view): (Operand, Operand)) -> Option<Operand> {
    let lengths = context.made_by(view, VectorOp::View)?[1];
    let &[Operand::Constant(ScalarValue::Int(length)), _] = context.made_by(lengths, VectorOp::Dist)? else {
        return None;
    };
    let window = Window::at(context, column, view).filter(|_| (1..=MOST).contains(&length))?;
    let identity = op.row().identity?;
    let elements: Vec<Operand> = (0..length).map(|index| window.elements(context, index)).collect();
    Some(combined(context, op, identity, elements))
}

/// Elements of each segment, combined as a reduction combines them.
fn combined(context: &mut Context, op: ScalarOp, identity: ScalarValue, elements: Vec<Operand>) -> Operand {
    let mut combine = |left, right| apply(context, op, vec![left, right]);
    if op.row().associative
        && let Some(combined) = elements.iter().copied().reduce(&mut combine)
    {
        return combined;
    }
    sum::short_by(Operand::Constant(identity), &mut combine, &elements)
}

/// How many elements each segment of a packed descriptor has, if that is the same constant for all, and how many
/// segments there are.
fn equal_lengths(context: &Context, descriptor: Operand) -> Option<(i64, Operand)> {
    let lengths = context.made_by(descriptor, VectorOp::Packed)?[0];
    match context.made_by(lengths, VectorOp::Dist)? {
        &[Operand::Constant(ScalarValue::Int(length)), segments] => Some((length, segments)),
        _ => None,
    }
}

impl Short {
    /// The length of a column, if it is a constant that something it is computed from tells.
    fn length(&self, context: &Context, column: Operand) -> Option<i64> {
        if let Some(constants) = self.constants.get(&column) {
            return Some(constants.len() as i64);
        }
        let definition = context.definition(column)?;
        let operands = &definition.operands;
        match (definition.maker, operands.as_slice()) {
            (Maker::Vector(VectorOp::Build), _) => Some(operands.len() as i64),
            (Maker::Vector(VectorOp::Iota), &[Operand::Constant(ScalarValue::Int(length))]) => Some(length),
            (Maker::Map(_), _) => operands.iter().find_map(|&operand| self.length(context, operand)),
            _ => None,
        }
    }

    /// What a reduction gives: an operand of each element, combined.
    fn reduced(
        &self,
        context: &mut Context,
        op: ScalarOp,
        (column, count): (Operand, i64),
        cut: Cut,
    ) -> Option<Operand> {
        if !(1..=MOST).contains(&count) {
            return None;
        }
        let mut columns = Vec::new();
        self.visit(context, (column, count), cut, &mut columns)?;
        if columns.len() * count as usize > MOST_INSTRUCTIONS {
            return None;
        }
        let identity = op.row().identity?;
        let elements = (0..count).map(|index| self.element(context, (column, index), cut, &mut HashMap::new()));
        let elements: Vec<Operand> = elements.collect();
        Some(combined(context, op, identity, elements))
    }

    /// Visits the columns that are computed elementwise for a column; none if not all elements are known.
    fn visit(&self, context: &Context, of: (Operand, i64), cut: Cut, computed: &mut Vec<Operand>) -> Option<()> {
        let (column, count) = of;
        if matches!(context.type_of(column), RegisterType::Scalar(_)) || computed.contains(&column) {
            return Some(());
        }
        if self.known(context, column, 0, cut).is_some() {
            return self.known(context, column, count - 1, cut).map(|_| ());
        }
        if Window::of(context, column, cut).is_some() {
            computed.push(column);
            return Some(());
        }
        let definition = context.definition(column)?;
        let Maker::Map(op) = definition.maker else { return None };
        if effect::has_effect(&Op::Map(op), &definition.operands) || computed.len() > MOST_INSTRUCTIONS {
            return None;
        }
        let operands = definition.operands.clone();
        operands.into_iter().try_for_each(|operand| self.visit(context, (operand, count), cut, computed))?;
        computed.push(column);
        Some(())
    }

    /// An element, of each segment, of a column whose elements are known.
    fn known(&self, context: &Context, column: Operand, index: i64, cut: Cut) -> Option<Operand> {
        let Some(cut) = cut else { return self.written_out(context, column, index) };
        let definition = context.definition(column)?;
        let is_cut = |&descriptor: &Operand| segments::key(context, descriptor) == cut;
        match (definition.maker, definition.operands.as_slice()) {
            (Maker::Vector(VectorOp::SegDist), [value, segments]) if is_cut(segments) => Some(*value),
            (Maker::Vector(VectorOp::SegIota), [segments]) if is_cut(segments) => Some(int(index)),
            (Maker::Vector(VectorOp::Dist), &[value, _]) => Some(value),
            (Maker::Vector(VectorOp::Interleave), columns) => columns.get(index as usize).copied(),
            (Maker::Vector(VectorOp::Compact), &[column, view]) if is_cut(&view) => {
                let starts = context.made_by(view, VectorOp::View)?[0];
                match context.made_by(starts, VectorOp::Dist)? {
                    &[Operand::Constant(ScalarValue::Int(start)), _] => {
                        self.written_out(context, column, start + index)
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// An element of a column of constants, or of scalars put together.
    fn written_out(&self, context: &Context, column: Operand, index: i64) -> Option<Operand> {
        let place = usize::try_from(index).ok()?;
        if let Some(constants) = self.constants.get(&column) {
            return (place < constants.len()).then(|| Operand::Constant(constants.get(place)));
        }
        let definition = context.definition(column)?;
        match (definition.maker, definition.operands.as_slice()) {
            (Maker::Vector(VectorOp::Build), elements) => elements.get(place).copied(),
            (Maker::Vector(VectorOp::Iota), _) => Some(int(index)),
            (Maker::Vector(VectorOp::Dist), &[value, _]) => Some(value),
            _ => None,
        }
    }

    /// Emits the operand that an element of each segment is; `made` are those of the columns before.
    fn element(
        &self,
        context: &mut Context,
        (column, index): (Operand, i64),
        cut: Cut,
        made: &mut HashMap<Operand, Operand>,
    ) -> Operand {
        if matches!(context.type_of(column), RegisterType::Scalar(_)) {
            return column;
        }
        if let Some(&element) = made.get(&column) {
            return element;
        }
        let window = Window::of(context, column, cut);
        let element = match (self.known(context, column, index, cut), window) {
            (Some(known), _) => known,
            (None, Some(window)) => window.elements(context, index),
            (None, None) => {
                let Some(Definition { maker: Maker::Map(op), operands, .. }) = context.definition(column).cloned()
                else {
                    unreachable!("a column whose elements are known is made here, elementwise")
                };
                let operands = operands.into_iter();
                let operands = operands.map(|operand| self.element(context, (operand, index), cut, made)).collect();
                apply(context, op, operands)
            }
        };
        made.insert(column, element);
        element
    }
}

/// What a column has of another in segments that begin one after another.
struct Window {
    column: Operand,
    /// Where the first of them begins.
    first: Operand,
    /// How many there are.
    count: Operand,
}

impl Window {
    /// That of a column that was cut out of another.
    fn of(context: &Context, column: Operand, cut: Cut) -> Option<Window> {
        let &[column, view] = context.made_by(column, VectorOp::Compact)? else { return None };
        if segments::key(context, view) != cut? {
            return None;
        }
        Window::at(context, column, view)
    }

    /// What a column has in the segments of a view.
    fn at(context: &Context, column: Operand, view: Operand) -> Option<Window> {
        let starts = Sum::of(context.made_by(view, VectorOp::View)?[0], &Made::known(context))?;
        let count_of = |&(term, times): &(Operand, i64)| match (context.made_by(term, VectorOp::Iota), times) {
            (Some(&[count]), 1) => Some(count),
            _ => None,
        };
        let count = starts.terms.iter().find_map(count_of)?;
        let is_scalar = |term: Operand| matches!(context.type_of(term), RegisterType::Scalar(_));
        let first = match starts.terms.iter().filter(|term| count_of(term).is_none()).collect::<Vec<_>>()[..] {
            [] => int(starts.constant),
            [&(term, 1)] if starts.constant == 0 && is_scalar(term) => term,
            _ => return None,
        };
        Some(Window { column, first, count })
    }

    /// The elements at this place of all of them. Where there are none, a slice has no place but 0.
    fn elements(&self, context: &mut Context, index: i64) -> Operand {
        const INT: RegisterType = RegisterType::Scalar(ScalarType::Int);
        let start = context.emit(Op::Scalar(ScalarOp::AddInt), vec![self.first, int(index)], INT);
        let is_none = vec![self.count, int(0)];
        let is_none = context.emit(Op::Scalar(ScalarOp::EqualInt), is_none, RegisterType::Scalar(ScalarType::Bool));
        let start = context.emit(Op::Scalar(ScalarOp::SelectInt), vec![is_none, int(0), start], INT);
        let ty = context.type_of(self.column);
        context.emit(Op::Vector(VectorOp::Slice), vec![self.column, start, self.count], ty)
    }
}

/// Applies an operation to scalars, or elementwise where there is a column among them.
fn apply(context: &mut Context, op: ScalarOp, operands: Vec<Operand>) -> Operand {
    let ty = op.row().result;
    let is_scalar = |&operand: &Operand| matches!(context.type_of(operand), RegisterType::Scalar(_));
    if operands.iter().all(is_scalar) {
        return context.emit(Op::Scalar(op), operands, RegisterType::Scalar(ty));
    }
    context.emit(Op::Map(op), operands, RegisterType::Column(ty))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::testing;

    const HEADER: &str = "(%0: int, %1: column char, %2: column int, %3: column float, %4: int)";

    /// Checks what a body becomes, after removal of what is no longer used.
    #[track_caller]
    fn becomes(types: &str, before: &str, after: &str) {
        testing::body_becomes(run, &format!("{HEADER} -> {types}"), before, after);
    }

    #[test]
    fn elements_of_constants_are_compared_one_after_another() {
        becomes(
            "column bool",
            "%5 = constants char \"aei\"
             %6 = dist 0 %0
             %7 = dist 3 %0
             %8 = view %6 %7
             %9 = packed %7
             %10 = compact %5 %8
             %11 = seg_dist %1 %9
             %12 = map equal.char %11 %10
             %13 = seg_reduce.or.bool %12 %9
             return %13",
            "%5 = map equal.char %1 `a
             %6 = map equal.char %1 `e
             %7 = map equal.char %1 `i
             %8 = map or.bool %5 %6
             %9 = map or.bool %8 %7
             return %9",
        );
    }

    #[test]
    fn columns_put_together_are_combined() {
        becomes(
            "column int, column int",
            "%5 = map add.int %2 1
             %6 = interleave %2 %5
             %7 = dist 2 %0
             %8 = packed %7
             %9 = seg_iota %8
             %10 = map multiply.int %6 %9
             %11 = seg_reduce.maximum.int %10 %8
             %12 = seg_reduce.add.int %9 %8
             return %11 %12",
            "%5 = map add.int %2 1
             %6 = map multiply.int %2 0
             %7 = map multiply.int %5 1
             %8 = map maximum.int %6 %7
             %9 = add.int 0 1
             %10 = dist %9 %0
             return %8 %10",
        );
    }

    #[test]
    fn floats_are_added_in_the_order_of_their_sum() {
        becomes(
            "column float",
            "%5 = interleave %3 %3 %3
             %6 = dist 3 %0
             %7 = packed %6
             %8 = seg_reduce.add.float %5 %7
             return %8",
            "%5 = map add.float 0.0 %3
             %6 = map add.float 0.0 %3
             %7 = map add.float 0.0 %3
             %8 = map add.float %5 %7
             %9 = map add.float %8 %6
             return %9",
        );
    }

    #[test]
    fn windows_are_slices() {
        becomes(
            "column int",
            "%5 = iota %0
             %6 = map add.int %5 %4
             %7 = dist 2 %0
             %8 = view %6 %7
             %9 = packed %7
             %10 = compact %2 %8
             %11 = map multiply.int %10 %10
             %12 = seg_reduce.add.int %11 %9
             return %12",
            "%5 = add.int %4 0
             %6 = equal.int %0 0
             %7 = select.int %6 0 %5
             %8 = slice %2 %7 %0
             %9 = map multiply.int %8 %8
             %10 = add.int %4 1
             %11 = equal.int %0 0
             %12 = select.int %11 0 %10
             %13 = slice %2 %12 %0
             %14 = map multiply.int %13 %13
             %15 = map add.int %9 %14
             return %15",
        );
    }

    #[test]
    fn windows_where_they_lie_are_slices() {
        becomes(
            "column int",
            "%5 = iota %0
             %6 = map add.int 1 %5
             %7 = map subtract.int %6 1
             %8 = dist 2 %0
             %9 = view %7 %8
             %10 = seg_reduce.maximum.int %2 %9
             return %10",
            "%5 = add.int 0 0
             %6 = equal.int %0 0
             %7 = select.int %6 0 %5
             %8 = slice %2 %7 %0
             %9 = add.int 0 1
             %10 = equal.int %0 0
             %11 = select.int %10 0 %9
             %12 = slice %2 %11 %0
             %13 = map maximum.int %8 %12
             return %13",
        );
    }

    #[test]
    fn scalars_put_together_are_combined() {
        becomes(
            "int, int",
            "%5 = build %0 %4 7
             %6 = iota 3
             %7 = map multiply.int %5 %6
             %8 = map add.int %7 %0
             %9 = reduce.maximum.int %8
             %10 = build %0
             %11 = reduce.add.int %10
             return %9 %11",
            "%5 = multiply.int %0 0
             %6 = add.int %5 %0
             %7 = multiply.int %4 1
             %8 = add.int %7 %0
             %9 = multiply.int 7 2
             %10 = add.int %9 %0
             %11 = maximum.int %6 %8
             %12 = maximum.int %11 %10
             return %12 %0",
        );
    }

    #[test]
    fn what_may_fail_or_is_long_or_unknown_stays() {
        let body = |count: i64, op: &str, column: &str| {
            format!(
                "%5 = dist {count} %0
                 %6 = packed %5
                 %7 = seg_dist {column} %6
                 %8 = map {op} %7 3
                 %9 = seg_reduce.add.int %8 %6
                 return %9"
            )
        };
        for (count, op) in [(2, "check_index"), (9, "add.int"), (0, "add.int")] {
            let body = body(count, op, "%2");
            becomes("column int", &body, &body);
        }
        let lengths = "%5 = packed %2\n%6 = seg_dist %2 %5\n%7 = seg_reduce.add.int %6 %5\nreturn %7";
        becomes("column int", lengths, lengths);
        let other = "%5 = dist 2 %0\n%6 = packed %5\n%7 = map add.int %2 1\n%8 = seg_reduce.add.int %7 %6\nreturn %8";
        becomes("column int", other, other);
    }
}

//! Ranges of indices: a gather by them is a slice, and a check of all of them a check of the range.
//!
//! `{v[i + 1] : i in [0:n]}` makes the column of indices, checks each, and gathers. The elements lie next to each
//! other: what is known of the start and the number of indices is enough. The same holds for each segment of indices,
//! as in `{sum({v[i + j] : j in [0:k]}) : i in [0:n]}`: its elements are a segment of a view, and move only where they
//! must.
//!
//! Ranks are checked at once, too: those of a segment are all indices of a sequence as long as that.
//!
//! A range is `iota` or `seg_iota` plus what does not vary in the range. `check_range` fails on a range as
//! `check_index` does on the first of its indices that is out of range; in a column of ranges the first that fails is
//! the one of the first such index, too. No indices pass every check, wherever they would start. So the start of a
//! range is that of a slice only where there are indices; `check_range` gives a start that always is one, and a start
//! that has not been through it is replaced by 0 where there are none.

use crate::op::VectorOp;
use crate::passes::rewrite::{self, Action, Context, Maker, Rule};
use crate::passes::scoped::Scoped;
use crate::passes::{fold, segments};
use crate::program::{Instruction, Op, Operand, Program, RegisterType};
use nesl_prim::{ScalarOp, ScalarType, ScalarValue};

/// Makes slices and views of gathers in all functions.
pub fn run(program: &mut Program) {
    for function in &mut program.functions {
        rewrite::rewrite(function, &mut Slices { checked: Scoped::new() });
    }
}

const ZERO: Operand = Operand::Constant(ScalarValue::Int(0));

/// How many ints a column counts.
#[derive(Clone, Copy)]
enum Extent {
    /// As many as this scalar says.
    Whole(Operand),
    /// In each segment as many as it is long.
    Segments(Operand),
}

/// What is added to or subtracted from the start of a range.
type Term = (ScalarOp, Operand);

/// Ints that count up by one: from a start, or in each segment from its start.
struct Range {
    extent: Extent,
    terms: Vec<Term>,
    /// Whether the start has been through `check_range`.
    checked: bool,
}

struct Slices {
    /// By the column of a range, the start that a check of it gave.
    checked: Scoped<Operand, (Extent, Operand)>,
}

impl Rule for Slices {
    fn rewrite(&mut self, context: &mut Context, instruction: &Instruction) -> Action {
        match (&instruction.op, instruction.operands.as_slice()) {
            (Op::Map(ScalarOp::CheckIndex), &[indices, length]) => self.check(context, indices, length),
            (Op::Vector(VectorOp::Gather), &[column, indices]) => self.gather(context, column, indices),
            _ => Action::Keep,
        }
    }

    fn enter(&mut self) {
        self.checked.enter();
    }

    fn leave(&mut self, _: &mut Context) {
        self.checked.leave();
    }
}

impl Slices {
    /// The range that a column counts, if it does.
    fn range(&self, context: &Context, column: Operand) -> Option<Range> {
        if let Some(&(extent, start)) = self.checked.get(&column) {
            return Some(Range { extent, terms: vec![(ScalarOp::AddInt, start)], checked: true });
        }
        let (mut at, mut terms) = (column, Vec::new());
        // Each turn goes to an earlier definition.
        loop {
            let definition = context.definition(at)?;
            let extent = match (definition.maker, definition.operands.as_slice()) {
                (Maker::Vector(VectorOp::Iota), &[count]) => Extent::Whole(count),
                (Maker::Vector(VectorOp::SegIota), &[descriptor]) => Extent::Segments(descriptor),
                // Parts of 0, 1, … count from where they start.
                (Maker::Vector(VectorOp::Compact), &[whole, view]) => {
                    context.made_by(whole, VectorOp::Iota)?;
                    let starts = context.made_by(view, VectorOp::View)?[0];
                    let mut terms = invariant(context, Extent::Segments(view), terms)?;
                    terms.push((ScalarOp::AddInt, segments::copies(context, starts)));
                    return Some(Range { extent: Extent::Segments(view), terms, checked: false });
                }
                (Maker::Map(ScalarOp::AddInt), &[a, b]) => {
                    let (term, rest) = if may_be_term(context, a) { (a, b) } else { (b, a) };
                    terms.push((ScalarOp::AddInt, term));
                    at = rest;
                    continue;
                }
                (Maker::Map(ScalarOp::SubtractInt), &[a, b]) => {
                    terms.push((ScalarOp::SubtractInt, b));
                    at = a;
                    continue;
                }
                _ => return None,
            };
            return Some(Range { extent, terms: invariant(context, extent, terms)?, checked: false });
        }
    }

    fn check(&mut self, context: &mut Context, indices: Operand, length: Operand) -> Action {
        let Some(range) = self.range(context, indices) else { return Action::Keep };
        let Some(length) = term(context, range.extent, length) else { return Action::Keep };
        let (start, count) = (range.start(context), range.count(context));
        // As many from the first on as there are, in all or in each segment.
        if start == ZERO && segments::copies(context, count) == segments::copies(context, length) {
            return Action::Replace(indices);
        }
        let checked = fold::elementwise(context, ScalarOp::CheckRange, vec![start, count, length]);
        // What starts at 0 starts there where there are no indices, too.
        if start != ZERO {
            self.checked.insert(indices, (range.extent, checked));
        }
        Action::Replace(indices)
    }

    fn gather(&mut self, context: &mut Context, column: Operand, indices: Operand) -> Action {
        let Some(range) = self.range(context, indices) else { return Action::Keep };
        let (mut start, count) = (range.start(context), range.count(context));
        if start != ZERO && !range.checked && !are_starts(context, start, count) {
            let is_empty = fold::elementwise(context, ScalarOp::EqualInt, vec![count, ZERO]);
            start = fold::elementwise(context, ScalarOp::SelectInt, vec![is_empty, ZERO, start]);
        }
        match range.extent {
            Extent::Whole(count) => Action::Become(Op::Vector(VectorOp::Slice), vec![column, start, count]),
            Extent::Segments(_) => {
                if context.is_scalar(start) {
                    let number = vector(context, VectorOp::Length, vec![count], INT);
                    start = vector(context, VectorOp::Dist, vec![start, number], INTS);
                }
                let view = vector(context, VectorOp::View, vec![start, count], RegisterType::Descriptor);
                Action::Become(Op::Vector(VectorOp::Compact), vec![column, view])
            }
        }
    }
}

impl Range {
    /// The start: a scalar, or a column of starts.
    fn start(&self, context: &mut Context) -> Operand {
        let terms = self.terms.iter().filter(|&&(_, term)| term != ZERO);
        terms.fold(ZERO, |sum, &(op, term)| match op {
            ScalarOp::AddInt if sum == ZERO => term,
            _ => fold::elementwise(context, op, vec![sum, term]),
        })
    }

    /// How many there are: a scalar, or a column of lengths.
    fn count(&self, context: &mut Context) -> Operand {
        match self.extent {
            Extent::Whole(count) => count,
            Extent::Segments(descriptor) => match segments::lengths(context, descriptor) {
                Some(lengths) => lengths,
                None => vector(context, VectorOp::Lengths, vec![descriptor], INTS),
            },
        }
    }
}

/// Whether a column has the starts of segments of these lengths, which are such where there are no indices, too.
fn are_starts(context: &Context, starts: Operand, lengths: Operand) -> bool {
    context.made_by(starts, VectorOp::Starts).is_some_and(|operands| {
        segments::lengths(context, operands[0]) == Some(lengths)
            || context.made_by(lengths, VectorOp::Lengths).is_some_and(|of| of == operands)
    })
}

/// Terms of a column as those of the starts of a range, if none varies in the range.
fn invariant(context: &Context, extent: Extent, terms: Vec<Term>) -> Option<Vec<Term>> {
    terms.into_iter().map(|(op, operand)| Some((op, term(context, extent, operand)?))).collect()
}

/// Whether an operand may be what [`term`] is asked about; what a range is never may.
fn may_be_term(context: &Context, operand: Operand) -> bool {
    context.is_scalar(operand) || context.made_by(operand, VectorOp::SegDist).is_some()
}

/// What an operand is for the whole of a range, or of each segment.
fn term(context: &Context, extent: Extent, operand: Operand) -> Option<Operand> {
    match extent {
        Extent::Whole(_) => context.is_scalar(operand).then_some(operand),
        Extent::Segments(descriptor) => segments::for_segments(context, operand, descriptor),
    }
}

const INT: RegisterType = RegisterType::Scalar(ScalarType::Int);
const INTS: RegisterType = RegisterType::Column(ScalarType::Int);

/// Adds a vector instruction.
fn vector(context: &mut Context, op: VectorOp, operands: Vec<Operand>, ty: RegisterType) -> Operand {
    context.emit(Op::Vector(op), operands, ty)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::testing;

    const HEADER: &str =
        "(%0: int, %1: column float, %2: int, %3: int, %4: descriptor, %5: column int, %6: column int, %7: bool)";

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
    fn checked_ranges_become_slices() {
        becomes(
            "column float, column float, column float",
            "%8 = iota %2
             %9 = map add.int %8 1
             %10 = map check_index %9 %0
             %11 = gather %1 %10
             %12 = map add.int %3 %9
             %13 = map subtract.int %12 2
             %14 = map check_index %13 %0
             %15 = gather %1 %14
             %16 = map check_index %8 %0
             %17 = gather %1 %16
             return %11 %15 %17",
            "%8 = check_range 1 %2 %0
             %9 = slice %1 %8 %2
             %10 = add.int -2 %3
             %11 = add.int %10 1
             %12 = check_range %11 %2 %0
             %13 = slice %1 %12 %2
             %14 = check_range 0 %2 %0
             %15 = slice %1 0 %2
             return %9 %13 %15",
        );
    }

    #[test]
    fn one_check_serves_all_columns_and_none_is_lost() {
        becomes(
            "column float, column int",
            "%8 = iota %2
             %9 = map add.int %8 %3
             %10 = map check_index %9 %0
             %11 = map check_index %10 %2
             %12 = gather %1 %11
             %13 = gather %5 %11
             return %12 %13",
            "%8 = check_range %3 %2 %0
             %9 = check_range %8 %2 %2
             %10 = slice %1 %8 %2
             %11 = slice %5 %8 %2
             return %10 %11",
        );
        // The indices of all elements need no check; that nobody reads the elements does not make the others pass.
        becomes(
            "int",
            "%8 = iota %0
             %9 = map check_index %8 %0
             %10 = gather %1 %9
             %11 = map check_index %8 %2
             return %0",
            "%8 = check_range 0 %0 %2
             return %0",
        );
    }

    #[test]
    fn without_a_check_an_empty_range_starts_at_0() {
        becomes(
            "column float, column float",
            "%8 = iota %2
             %9 = map add.int %8 %3
             %10 = gather %1 %9
             %11 = map check_index %9 %0
             %12 = map add.int %11 1
             %13 = gather %1 %12
             return %10 %13",
            "%8 = equal.int %2 0
             %9 = select.int %8 0 %3
             %10 = slice %1 %9 %2
             %11 = check_range %3 %2 %0
             %12 = add.int 1 %3
             %13 = equal.int %2 0
             %14 = select.int %13 0 %12
             %15 = slice %1 %14 %2
             return %10 %15",
        );
    }

    #[test]
    fn a_check_in_a_block_serves_only_there() {
        becomes(
            "column float, column float",
            "%8 = iota %2
             %9 = map add.int %8 1
             %12 = if %7 {
               %10 = map check_index %9 %0
               %11 = gather %1 %10
               yield %11
             } else { yield %1 }
             %13 = gather %1 %9
             return %12 %13",
            "%10 = if %7 {
               %8 = check_range 1 %2 %0
               %9 = slice %1 %8 %2
               yield %9
             } else { yield %1 }
             %11 = equal.int %2 0
             %12 = select.int %11 0 1
             %13 = slice %1 %12 %2
             return %10 %13",
        );
    }

    #[test]
    fn segments_of_ranges_become_views() {
        becomes(
            "column float",
            "%8 = packed %6
             %9 = seg_iota %8
             %10 = seg_dist %5 %8
             %11 = map add.int %10 %9
             %12 = map check_index %11 %0
             %13 = gather %1 %12
             return %13",
            "%8 = map check_range %5 %6 %0
             %9 = view %8 %6
             %10 = compact %1 %9
             return %10",
        );
        // Windows as flattening makes them: parts of one iota, and lengths to check against for each segment.
        becomes(
            "column float",
            "%8 = iota %3
             %9 = dist 0 %2
             %10 = view %9 %6
             %11 = compact %8 %10
             %12 = packed %6
             %13 = seg_dist %5 %12
             %14 = map add.int %11 %13
             %15 = seg_dist %6 %12
             %16 = map check_index %14 %15
             %17 = gather %1 %16
             return %17",
            "%8 = map check_range %5 %6 %6
             %9 = view %8 %6
             %10 = compact %1 %9
             return %10",
        );
    }

    #[test]
    fn all_from_the_first_on_need_no_check() {
        // As many of an iota in each segment as there are of it: the columns of a matrix.
        becomes(
            "column int",
            "%8 = iota %3
             %9 = dist 0 %2
             %10 = dist %3 %2
             %11 = view %9 %10
             %12 = compact %8 %11
             %13 = packed %10
             %14 = seg_iota %13
             %15 = map check_index %12 %3
             return %15",
            "%8 = iota %3
             %9 = dist 0 %2
             %10 = dist %3 %2
             %11 = view %9 %10
             %12 = compact %8 %11
             return %12",
        );
    }

    #[test]
    fn positions_in_segments_become_views() {
        becomes(
            "column float",
            "%8 = lengths %4
             %9 = packed %8
             %10 = seg_iota %9
             %11 = seg_dist %8 %4
             %12 = map check_index %10 %11
             %13 = seg_dist %5 %9
             %14 = map add.int %13 %12
             %15 = gather %1 %14
             return %15",
            "%8 = lengths %4
             %9 = map equal.int %8 0
             %10 = map select.int %9 0 %5
             %11 = view %10 %8
             %12 = compact %1 %11
             return %12",
        );
        becomes(
            "column float",
            "%8 = seg_iota %4
             %9 = gather %1 %8
             return %9",
            "%8 = lengths %4
             %9 = length %8
             %10 = dist 0 %9
             %11 = view %10 %8
             %12 = compact %1 %11
             return %12",
        );
    }

    #[test]
    fn other_indices_stay() {
        stays(
            "column float, column float, column float, column float, column float, column int",
            "%8 = iota %2
             %9 = map multiply.int %8 2
             %10 = map check_index %9 %0
             %11 = gather %1 %10
             %12 = map subtract.int 9 %8
             %13 = gather %1 %12
             %14 = map add.int %8 %5
             %15 = gather %1 %14
             %16 = packed %6
             %17 = seg_dist %5 %4
             %18 = seg_iota %16
             %19 = map add.int %17 %18
             %20 = map check_index %19 %0
             %21 = gather %1 %20
             %22 = map add.int %8 %8
             %23 = gather %1 %22
             %24 = map check_index %8 %6
             return %11 %13 %15 %21 %23 %24",
        );
    }
}

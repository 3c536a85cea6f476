//! Sorting by one instruction: what is permuted by its own ranks is sorted.
//!
//! The library sorts by `permute(v, rank(v))`. An engine that sorts need not know where each element goes. In segments,
//! ranks become positions in all of the data by the starts of the segments, which this pass looks through.
//!
//! Only where nothing else reads the ranks: with ranks at hand, a permutation is cheaper than a sort. That of other
//! data by ranks is a scatter, which does not look whether a place is taken: ranks are all different.

use crate::op::VectorOp;
use crate::passes::rewrite::{self, Action, Context, Maker, Rule};
use crate::passes::segments;
use crate::program::{Instruction, Op, Operand, Program, RegisterType};
use nesl_prim::{Direction, ScalarOp, ScalarType};

/// Sorts in all functions.
pub fn run(program: &mut Program) {
    for function in &mut program.functions {
        let mut readers = vec![0; function.registers.len()];
        function.body.visit_reads(&mut |register| readers[register.0 as usize] += 1);
        rewrite::rewrite(function, &mut Sorts { readers });
    }
}

struct Sorts {
    /// How many operands and results each register is.
    readers: Vec<usize>,
}

impl Rule for Sorts {
    fn rewrite(&mut self, context: &mut Context, instruction: &Instruction) -> Action {
        let (Op::Vector(VectorOp::Permute), &[column, indices]) = (&instruction.op, instruction.operands.as_slice())
        else {
            return Action::Keep;
        };
        let sort = self.whole(context, column, indices).or_else(|| self.segmented(context, column, indices));
        let moved = sort.or_else(|| by_ranks(context, column, indices));
        moved.map_or(Action::Keep, |(op, operands)| Action::Become(Op::Vector(op), operands))
    }
}

/// The scatter that a permutation by ranks is, over a new column.
fn by_ranks(context: &mut Context, column: Operand, indices: Operand) -> Option<(VectorOp, Vec<Operand>)> {
    let Maker::Vector(VectorOp::Rank(_)) = context.definition(indices)?.maker else { return None };
    let ty = context.type_of(column);
    let RegisterType::Column(scalar) = ty else { return None };
    let length = RegisterType::Scalar(ScalarType::Int);
    let length = context.emit(Op::Vector(VectorOp::Length), vec![column], length);
    let new = context.emit(Op::Vector(VectorOp::Dist), vec![Operand::Constant(scalar.zero()), length], ty);
    Some((VectorOp::Scatter, vec![new, indices, column]))
}

impl Sorts {
    fn is_read_once(&self, operand: Operand) -> bool {
        matches!(operand, Operand::Register(register) if self.readers.get(register.0 as usize) == Some(&1))
    }

    /// The sort that a permutation of a column by indices is.
    fn whole(&self, context: &Context, column: Operand, indices: Operand) -> Option<(VectorOp, Vec<Operand>)> {
        let definition = context.definition(indices).filter(|_| self.is_read_once(indices))?;
        match definition.maker {
            Maker::Vector(VectorOp::Rank(direction)) if definition.operands == [column] => {
                Some((VectorOp::Sort(direction), vec![column]))
            }
            _ => None,
        }
    }

    /// The sort of segments that a permutation of their elements in packed order is.
    fn segmented(&self, context: &Context, column: Operand, indices: Operand) -> Option<(VectorOp, Vec<Operand>)> {
        let sum = context.definition(indices).filter(|_| self.is_read_once(indices))?;
        let (Maker::Map(ScalarOp::AddInt), &[left, right]) = (sum.maker, sum.operands.as_slice()) else { return None };
        let ranked = |ranks: Operand, starts: Operand| {
            self.ranked(context, ranks).map(|(direction, data, descriptor)| (direction, data, descriptor, starts))
        };
        let (direction, data, descriptor, starts) = ranked(right, left).or_else(|| ranked(left, right))?;
        // Ranks are in packed order, and become positions there.
        let &[starts, owner] = context.made_by(starts, VectorOp::SegDist)? else { return None };
        let &[packed] = context.made_by(starts, VectorOp::Starts)? else { return None };
        context.made_by(packed, VectorOp::Packed)?;
        let is_alike = |other| segments::key(context, other) == segments::key(context, descriptor);
        let is_of_all = column == data && context.made_by(descriptor, VectorOp::Packed).is_some();
        let is_compacted = context.made_by(column, VectorOp::Compact) == Some(&[data, descriptor]);
        (is_alike(owner) && is_alike(packed) && (is_of_all || is_compacted))
            .then(|| (VectorOp::SegSort(direction), vec![data, descriptor]))
    }

    /// What these are the ranks of, in segments, if nothing else reads them.
    fn ranked(&self, context: &Context, ranks: Operand) -> Option<(Direction, Operand, Operand)> {
        let definition = context.definition(ranks).filter(|_| self.is_read_once(ranks))?;
        match (definition.maker, definition.operands.as_slice()) {
            (Maker::Vector(VectorOp::SegRank(direction)), &[data, descriptor]) => Some((direction, data, descriptor)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::testing;

    /// Checks what a body becomes, after removal of what is no longer used.
    #[track_caller]
    fn becomes(before: &str, after: &str) {
        let signature = "(%0: column int, %1: descriptor, %2: column int, %3: column float) -> column int";
        testing::body_becomes(run, signature, before, after);
    }

    #[test]
    fn what_is_permuted_by_its_ranks_is_sorted() {
        becomes("%4 = rank_up %0\n%5 = permute %0 %4\nreturn %5", "%4 = sort_up %0\nreturn %4");
        becomes("%4 = rank_down %0\n%5 = permute %0 %4\nreturn %5", "%4 = sort_down %0\nreturn %4");
    }

    #[test]
    fn so_are_segments() {
        // Out of a view, as flattening makes it.
        becomes(
            "%4 = seg_rank_up %0 %1
             %5 = lengths %1
             %6 = packed %5
             %7 = compact %0 %1
             %8 = starts %6
             %9 = seg_dist %8 %6
             %10 = map add.int %9 %4
             %11 = permute %7 %10
             return %11",
            "%4 = seg_sort_up %0 %1
             return %4",
        );
        // Packed from the beginning.
        becomes(
            "%4 = packed %2
             %5 = seg_rank_down %0 %4
             %6 = starts %4
             %7 = seg_dist %6 %4
             %8 = map add.int %5 %7
             %9 = permute %0 %8
             return %9",
            "%4 = packed %2
             %5 = seg_sort_down %0 %4
             return %5",
        );
    }

    #[test]
    fn what_is_permuted_by_other_ranks_is_written_there() {
        becomes(
            "%4 = rank_up %3\n%5 = permute %0 %4\nreturn %5",
            "%4 = rank_up %3\n%5 = length %0\n%6 = dist 0 %5\n%7 = scatter %6 %4 %0\nreturn %7",
        );
        // Ranks that are read again.
        becomes(
            "%4 = rank_down %0\n%5 = permute %0 %4\n%6 = map add.int %5 %4\nreturn %6",
            "%4 = rank_down %0\n%5 = length %0\n%6 = dist 0 %5\n%7 = scatter %6 %4 %0
             %8 = map add.int %7 %4\nreturn %8",
        );
    }

    #[test]
    fn other_permutations_stay() {
        for body in [
            "%4 = permute %0 %2\nreturn %4",
            // Ranks in segments that are not positions, and positions in a view.
            "%4 = packed %2\n%5 = seg_rank_up %0 %4\n%6 = permute %0 %5\nreturn %6",
            "%4 = seg_rank_up %0 %1
             %5 = starts %1
             %6 = seg_dist %5 %1
             %7 = map add.int %6 %4
             %8 = permute %0 %7
             return %8",
            // Segments of other lengths.
            "%4 = packed %2
             %5 = seg_rank_up %0 %4
             %6 = lengths %1
             %7 = packed %6
             %8 = starts %7
             %9 = seg_dist %8 %7
             %10 = map add.int %9 %5
             %11 = permute %0 %10
             return %11",
        ] {
            becomes(body, body);
        }
    }
}

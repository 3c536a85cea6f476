//! Reading through views: what is compacted only to be read once by segments is read where it lies.
//!
//! Flattening compacts the elements of segments before an apply-to-each, which computes on single elements. Where
//! nothing was computed on them after all, and a segmented instruction reads them by the packed descriptor of the same
//! lengths, that instruction reads the original through the original descriptor: the elements of a segment come in the
//! same order, so its results, floats too, are the same bits.
//!
//! Only where it is the one reader: that saves a write and a read of all elements, and costs nothing, since an engine
//! that cannot read views compacts them itself. Several readers of a copy may be faster than several walks through a
//! view.
//!
//! What is cut out of a range needs no original in memory: its elements are computed where they are read.

use crate::op::VectorOp;
use crate::passes::rewrite::{self, Action, Context, Rule};
use crate::passes::{element, segments};
use crate::program::{Instruction, Op, Operand, Program};

/// Reads through views in all functions.
pub fn run(program: &mut Program) {
    for function in &mut program.functions {
        let mut readers = vec![0; function.registers.len()];
        function.body.visit_reads(&mut |register| readers[register.0 as usize] += 1);
        rewrite::rewrite(function, &mut Through { readers });
    }
}

struct Through {
    /// How many operands and results each register is.
    readers: Vec<usize>,
}

impl Through {
    /// Column and descriptor of the elements that a packed descriptor cuts, before they were compacted for this one
    /// reader.
    fn original(&self, context: &Context, column: Operand, packed: Operand) -> Option<(Operand, Operand)> {
        let Operand::Register(register) = column else { return None };
        let &[original, descriptor] = context.made_by(column, VectorOp::Compact)? else { return None };
        context.made_by(packed, VectorOp::Packed)?;
        let is_alike = segments::key(context, descriptor) == segments::key(context, packed);
        (is_alike && self.readers.get(register.0 as usize) == Some(&1)).then_some((original, descriptor))
    }
}

impl Rule for Through {
    fn rewrite(&mut self, context: &mut Context, instruction: &Instruction) -> Action {
        let Op::Vector(op) = instruction.op else { return Action::Keep };
        let mut operands = instruction.operands.clone();
        if let (VectorOp::Compact, &[column, view]) = (op, operands.as_slice()) {
            return element::rows(context, column, view).map_or(Action::Keep, |(rows, _)| Action::Replace(rows));
        }
        for &(column, descriptor) in op.data() {
            if let Some(original) = self.original(context, operands[column], operands[descriptor]) {
                (operands[column], operands[descriptor]) = original;
            }
            // Only what goes over all elements may as well make them.
            if op.fusion().aligned().contains(&column)
                && let Some(known) = element::rows(context, operands[column], operands[descriptor])
            {
                (operands[column], operands[descriptor]) = known;
            }
        }
        if operands == instruction.operands { Action::Keep } else { Action::Become(Op::Vector(op), operands) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::testing;

    const HEADER: &str = "(%0: column int, %1: descriptor, %2: column int, %3: column int)";

    /// Checks what a body becomes, after removal of what is no longer used.
    #[track_caller]
    fn becomes(types: &str, before: &str, after: &str) {
        testing::body_becomes(run, &format!("{HEADER} -> {types}"), before, after);
    }

    #[test]
    fn one_reader_reads_the_original() {
        becomes(
            "column int, column int",
            "%4 = compact %0 %1
             %5 = lengths %1
             %6 = packed %5
             %7 = seg_reduce.add.int %4 %6
             %8 = view %2 %3
             %9 = compact %0 %8
             %10 = packed %3
             %11 = seg_rank_up %9 %10
             return %7 %11",
            "%4 = seg_reduce.add.int %0 %1
             %5 = view %2 %3
             %6 = seg_rank_up %0 %5
             return %4 %6",
        );
        becomes(
            "column int, column int",
            "%4 = compact %0 %1
             %5 = lengths %1
             %6 = packed %5
             %7 = packed %3
             %8 = append %7 %2 %6 %4
             %9 = compact %0 %1
             %10 = append %6 %9 %7 %2
             return %8 %10",
            "%4 = packed %3
             %5 = append %4 %2 %1 %0
             %6 = append %1 %0 %4 %2
             return %5 %6",
        );
    }

    #[test]
    fn what_is_cut_out_of_a_range_is_computed() {
        becomes(
            "column int, column int",
            "%4 = iota 9
             %5 = map multiply.int %4 2
             %6 = view %2 %3
             %7 = seg_reduce.add.int %5 %6
             %8 = compact %5 %6
             return %7 %8",
            "%4 = packed %3
             %5 = seg_iota %4
             %6 = seg_dist %2 %4
             %7 = map add.int %6 %5
             %8 = map multiply.int %7 2
             %9 = seg_reduce.add.int %8 %4
             %10 = packed %3
             %11 = seg_iota %10
             %12 = seg_dist %2 %10
             %13 = map add.int %12 %11
             %14 = map multiply.int %13 2
             return %9 %14",
        );
        // What moves segments reads them where they lie.
        let body = "%4 = iota 9\n%5 = view %2 %3\n%6 = append %5 %4 %5 %4\nreturn %6";
        becomes("column int", body, body);
    }

    #[test]
    fn more_readers_and_other_segments_stay() {
        for body in [
            "%4 = compact %0 %1
             %5 = lengths %1
             %6 = packed %5
             %7 = seg_reduce.add.int %4 %6
             %8 = seg_scan.add.int %4 %6
             return %7 %8",
            "%4 = compact %0 %1
             %5 = packed %3
             %6 = seg_reduce.add.int %4 %5
             %7 = compact %0 %1
             %8 = seg_reduce.add.int %7 %1
             return %6 %8",
            "%4 = compact %0 %1
             %5 = lengths %1
             %6 = packed %5
             %7 = append %6 %4 %6 %4
             return %7 %7",
        ] {
            becomes("column int, column int", body, body);
        }
    }
}

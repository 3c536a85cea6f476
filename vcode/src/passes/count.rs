//! Counting flags: how many are true is the length of what was packed by them.
//!
//! A filter packs its elements by flags and then counts the trues, which takes two passes over columns of ints; the
//! length of a packed column costs nothing. A filter of segments counts the trues of each and needs those, but not
//! their sum; and of several columns packed by the same flags one length does for all.

use crate::op::VectorOp;
use crate::passes::rewrite::{self, Action, Context, Maker, Rule};
use crate::passes::scoped::Scoped;
use crate::program::{Instruction, Op, Operand, Program};
use nesl_prim::ScalarOp;

/// Reads counts off lengths in all functions.
pub fn run(program: &mut Program) {
    for function in &mut program.functions {
        rewrite::rewrite(function, &mut Count { packed: Scoped::new() });
    }
}

/// The flags that are counted by the sum of a column.
fn counted(context: &Context, ones: Operand) -> Option<Operand> {
    let definition = context.definition(ones).filter(|ones| ones.maker == Maker::Map(ScalarOp::BoolToInt))?;
    Some(definition.operands[0])
}

/// The flags that are counted by the sum of all lengths of a descriptor: each length counts those of a segment, and the
/// segments cover the flags.
fn counted_by_segments(context: &Context, descriptor: Operand) -> Option<Operand> {
    let lengths = context.made_by(descriptor, VectorOp::Packed)?[0];
    let &[ones, cover] = context.made_by(lengths, VectorOp::SegReduce(ScalarOp::AddInt))? else { return None };
    context.made_by(cover, VectorOp::Packed)?;
    counted(context, ones)
}

struct Count {
    /// By flags, a column that was packed by them.
    packed: Scoped<Operand, Operand>,
}

impl Count {
    /// The length of what was packed by flags, instead of an instruction.
    fn length(&self, flags: Option<Operand>) -> Action {
        match flags.and_then(|flags| self.packed.get(&flags)) {
            Some(&packed) => Action::Become(Op::Vector(VectorOp::Length), vec![packed]),
            None => Action::Keep,
        }
    }
}

impl Rule for Count {
    fn rewrite(&mut self, context: &mut Context, instruction: &Instruction) -> Action {
        match (&instruction.op, instruction.operands.as_slice()) {
            (Op::Vector(VectorOp::Pack), &[_, flags]) => {
                self.packed.insert(flags, instruction.results[0].into());
                Action::Keep
            }
            (Op::Vector(VectorOp::Reduce(ScalarOp::AddInt)), &[ones]) => self.length(counted(context, ones)),
            (Op::Vector(VectorOp::Total), &[descriptor]) => self.length(counted_by_segments(context, descriptor)),
            (Op::Vector(VectorOp::Length), &[column]) => {
                let flags = context.made_by(column, VectorOp::Pack).map(|operands| operands[1]);
                self.length(flags.filter(|flags| self.packed.get(flags) != Some(&column)))
            }
            _ => Action::Keep,
        }
    }

    fn enter(&mut self) {
        self.packed.enter();
    }

    fn leave(&mut self, _: &mut Context) {
        self.packed.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::testing::{becomes, stays};

    #[test]
    fn what_was_packed_says_how_many_were_kept() {
        becomes(
            run,
            "function f(%0: column float, %1: column bool) -> column float, int {
               %2 = pack %0 %1
               %3 = map bool_to_int %1
               %4 = reduce.add.int %3
               return %2 %4
             }",
            "function f(%0: column float, %1: column bool) -> column float, int {
               %2 = pack %0 %1
               %3 = map bool_to_int %1
               %4 = length %2
               return %2 %4
             }",
        );
    }

    #[test]
    fn what_was_packed_says_how_many_were_kept_in_all_segments() {
        becomes(
            run,
            "function f(%0: column float, %1: column bool, %2: column int) -> column float, descriptor, int {
               %3 = packed %2
               %4 = pack %0 %1
               %5 = map bool_to_int %1
               %6 = seg_reduce.add.int %5 %3
               %7 = packed %6
               %8 = total %7
               return %4 %7 %8
             }",
            "function f(%0: column float, %1: column bool, %2: column int) -> column float, descriptor, int {
               %3 = packed %2
               %4 = pack %0 %1
               %5 = map bool_to_int %1
               %6 = seg_reduce.add.int %5 %3
               %7 = packed %6
               %8 = length %4
               return %4 %7 %8
             }",
        );
        // Segments of a view may leave flags out, and those of other sums have nothing to do with them.
        stays(
            run,
            "function f(%0: column int, %1: column bool, %2: descriptor) -> column int, int, int {
               %3 = pack %0 %1
               %4 = map bool_to_int %1
               %5 = seg_reduce.add.int %4 %2
               %6 = packed %5
               %7 = total %6
               %8 = packed %0
               %9 = seg_reduce.add.int %3 %8
               %10 = packed %9
               %11 = total %10
               return %3 %7 %11
             }",
        );
    }

    #[test]
    fn columns_packed_alike_have_one_length() {
        becomes(
            run,
            "function f(%0: column float, %1: column bool, %2: column int) -> int, int {
               %3 = pack %0 %1
               %4 = pack %2 %1
               %5 = length %4
               %6 = length %3
               return %5 %6
             }",
            "function f(%0: column float, %1: column bool, %2: column int) -> int, int {
               %3 = pack %0 %1
               %4 = pack %2 %1
               %5 = length %3
               %6 = length %3
               return %5 %6
             }",
        );
    }

    #[test]
    fn other_flags_other_sums_and_packs_of_other_blocks_do_not() {
        stays(
            run,
            "function f(%0: column int, %1: column bool, %2: column bool, %3: bool) -> int, int, int, column int {
               %4 = pack %0 %1
               %5 = map bool_to_int %2
               %6 = reduce.add.int %5
               %7 = reduce.add.int %0
               %9 = if %3 {
                 %8 = pack %0 %2
                 yield %8
               } else { yield %4 }
               %10 = reduce.add.int %5
               return %6 %7 %10 %9
             }",
        );
    }
}

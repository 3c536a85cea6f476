//! Lengths and descriptors that are equal because a check says so, and sums that a descriptor knows.
//!
//! Two sequences that are walked together have lengths of their own until `check_lengths` has passed; from there on one
//! of them does for both, and so does one packed descriptor. The first operand of a check is the one that stays (of
//! `check_partition` the second, a length that others know), or a constant. The check itself stays: it is what makes
//! them equal. What it makes equal in a block of an `if` is not known to be so behind it.
//!
//! A packed descriptor adds up its lengths once, for all who ask, and where segments lie besides; `reduce.add.int` of
//! the same lengths is one more pass.

use crate::op::VectorOp;
use crate::passes::rewrite::{self, Action, Context, Rule};
use crate::passes::scoped::Scoped;
use crate::program::{Instruction, Op, Operand, Program, Register, RegisterType};
use nesl_prim::ScalarOp;

/// Merges equal lengths and descriptors in all functions.
pub fn run(program: &mut Program) {
    for function in &mut program.functions {
        rewrite::rewrite(function, &mut Merge { packed: Scoped::new(), equal: Scoped::new() });
    }
}

struct Merge {
    /// By a column of lengths, their packed descriptor.
    packed: Scoped<Operand, Operand>,
    /// The registers that are renamed because they are equal to others.
    equal: Scoped<Register, ()>,
}

impl Rule for Merge {
    fn rewrite(&mut self, context: &mut Context, instruction: &Instruction) -> Action {
        match (&instruction.op, instruction.operands.as_slice()) {
            (Op::Scalar(ScalarOp::CheckLengths) | Op::Map(ScalarOp::CheckLengths), &[a, b]) => {
                self.passed(context, instruction, a, b);
            }
            (Op::Scalar(ScalarOp::CheckPartition) | Op::Map(ScalarOp::CheckPartition), &[sum, length]) => {
                self.passed(context, instruction, length, sum);
            }
            (Op::Vector(VectorOp::Packed), &[lengths]) => match self.packed.get(&lengths) {
                Some(&descriptor) => return Action::Replace(descriptor),
                None => self.packed.insert(lengths, instruction.results[0].into()),
            },
            (Op::Vector(VectorOp::Reduce(ScalarOp::AddInt)), &[lengths]) => {
                if let Some(&descriptor) = self.packed.get(&lengths) {
                    return Action::Become(Op::Vector(VectorOp::Total), vec![descriptor]);
                }
            }
            _ => {}
        }
        Action::Keep
    }

    fn enter(&mut self) {
        self.packed.enter();
        self.equal.enter();
    }

    fn leave(&mut self, context: &mut Context) {
        self.packed.leave();
        self.equal.leave().into_iter().for_each(|register| context.keep_name(register));
    }
}

impl Merge {
    /// Lets one operand of a check, and its result, be the other.
    fn passed(&mut self, context: &mut Context, check: &Instruction, first: Operand, second: Operand) {
        // A column and a scalar are equal in another way.
        let is_scalar = |operand: Operand| matches!(context.type_of(operand), RegisterType::Scalar(_));
        if is_scalar(first) != is_scalar(second) {
            return;
        }
        let (kept, other) = match (first, second) {
            (_, Operand::Register(other)) => (first, other),
            (Operand::Register(other), constant) => (constant, other),
            // Of constants folding knows more.
            (Operand::Constant(_), Operand::Constant(_)) => return,
        };
        context.rename(check.results[0], kept);
        self.equal(context, kept, other);
        match (self.packed.get(&kept).copied(), self.packed.get(&other.into()).copied()) {
            (Some(descriptor), Some(same)) => {
                // Either may have been found equal to others since.
                if let Operand::Register(same) = context.resolved(same) {
                    self.equal(context, context.resolved(descriptor), same);
                }
            }
            (None, Some(descriptor)) => self.packed.insert(kept, descriptor),
            _ => {}
        }
    }

    fn equal(&mut self, context: &mut Context, kept: Operand, other: Register) {
        if kept != other.into() {
            context.rename(other, kept);
            self.equal.insert(other, ());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::testing::{becomes, stays};

    #[test]
    fn what_a_check_makes_equal_is_one() {
        becomes(
            run,
            "function f(%0: int, %1: int, %2: column int, %3: column int) -> int, int, column int, int, int {
               %4 = add.int %0 %1
               %5 = check_lengths %0 %1
               %6 = add.int %5 %1
               %7 = map check_lengths %2 %3
               %8 = map add.int %7 %3
               %9 = reduce.add.int %2
               %10 = check_partition %9 %6
               %11 = check_lengths %6 7
               return %4 %6 %8 %9 %11
             }",
            "function f(%0: int, %1: int, %2: column int, %3: column int) -> int, int, column int, int, int {
               %4 = add.int %0 %1
               %5 = check_lengths %0 %1
               %6 = add.int %0 %0
               %7 = map check_lengths %2 %3
               %8 = map add.int %2 %2
               %9 = reduce.add.int %2
               %10 = check_partition %9 %6
               %11 = check_lengths %6 7
               return %4 7 %8 7 7
             }",
        );
    }

    #[test]
    fn what_a_check_in_a_block_makes_equal_is_one_there() {
        becomes(
            run,
            "function f(%0: int, %1: int, %2: bool) -> int, int {
               %5 = if %2 {
                 %3 = check_lengths %0 %1
                 %4 = add.int %3 %1
                 yield %1
               } else { yield %1 }
               %6 = add.int %5 %1
               return %6 %1
             }",
            "function f(%0: int, %1: int, %2: bool) -> int, int {
               %5 = if %2 {
                 %3 = check_lengths %0 %1
                 %4 = add.int %0 %0
                 yield %0
               } else { yield %1 }
               %6 = add.int %5 %1
               return %6 %1
             }",
        );
    }

    #[test]
    fn what_is_equal_to_a_second_by_way_of_a_first_is_so_in_blocks() {
        becomes(
            run,
            "function f(%0: int, %1: int, %2: int, %3: bool) -> int, int {
               %4 = check_lengths %1 %0
               %5 = check_lengths %2 %1
               %9 = if %3 {
                 %6 = iota 3
                 %7 = length %6
                 %8 = check_lengths %7 %0
                 yield %0
               } else { yield 0 }
               %10 = add.int %0 %1
               return %9 %10
             }",
            "function f(%0: int, %1: int, %2: int, %3: bool) -> int, int {
               %4 = check_lengths %1 %0
               %5 = check_lengths %2 %1
               %9 = if %3 {
                 %6 = iota 3
                 %7 = length %6
                 %8 = check_lengths %7 %2
                 yield %7
               } else { yield 0 }
               %10 = add.int %2 %2
               return %9 %10
             }",
        );
    }

    #[test]
    fn packed_descriptors_of_equal_lengths_are_one() {
        becomes(
            run,
            "function f(%0: column int, %1: column int, %2: column float) -> column float, column float, descriptor {
               %3 = packed %0
               %4 = packed %1
               %5 = map check_lengths %0 %1
               %6 = seg_reduce.add.float %2 %3
               %7 = seg_reduce.add.float %2 %4
               %8 = packed %1
               return %6 %7 %8
             }",
            "function f(%0: column int, %1: column int, %2: column float) -> column float, column float, descriptor \
               unused %8: descriptor {
               %3 = packed %0
               %4 = packed %1
               %5 = map check_lengths %0 %1
               %6 = seg_reduce.add.float %2 %3
               %7 = seg_reduce.add.float %2 %3
               return %6 %7 %3
             }",
        );
        becomes(
            run,
            "function f(%0: column int, %1: column int, %2: bool) -> descriptor, descriptor {
               %3 = packed %1
               %6 = if %2 {
                 %4 = map check_lengths %0 %1
                 %5 = packed %0
                 yield %5
               } else { yield %3 }
               %7 = packed %0
               return %6 %7
             }",
            "function f(%0: column int, %1: column int, %2: bool) -> descriptor, descriptor unused %5: descriptor {
               %3 = packed %1
               %6 = if %2 {
                 %4 = map check_lengths %0 %1
                 yield %3
               } else { yield %3 }
               %7 = packed %0
               return %6 %7
             }",
        );
    }

    #[test]
    fn a_descriptor_knows_the_sum_of_its_lengths() {
        becomes(
            run,
            "function f(%0: column int, %1: bool) -> int, int, descriptor {
               %2 = reduce.add.int %0
               %3 = packed %0
               %4 = reduce.add.int %0
               return %2 %4 %3
             }",
            "function f(%0: column int, %1: bool) -> int, int, descriptor {
               %2 = reduce.add.int %0
               %3 = packed %0
               %4 = total %3
               return %2 %4 %3
             }",
        );
    }

    #[test]
    fn lengths_that_only_may_be_equal_stay() {
        stays(
            run,
            "function f(%0: int, %1: column int, %2: column int, %3: bool) -> column int, int, int, descriptor {
               %4 = map check_lengths %1 %0
               %5 = map add.int %1 %0
               %6 = map check_index %1 %2
               %7 = map check_interleave %1 %2
               %10 = if %3 {
                 %8 = packed %1
                 %9 = total %8
                 yield %9
               } else { yield 0 }
               %11 = reduce.add.int %1
               %12 = packed %2
               return %5 %10 %11 %12
             }",
        );
    }
}

//! Columns that leave a group as they came into it, only checked: others read what came.
//!
//! `a -> v` checks the indices in `v` before it reads by them, and what has passed a check is another register. Where
//! its readers are in the group of the check, nothing is written for it; but for those outside the group would write a
//! copy. They stand behind the group, which has failed if the check has: so they need no copy.

use crate::passes::copy::retain;
use crate::passes::rewrite::{self, Action, Context, Rule};
use crate::program::{Block, Instruction, Op, Operand, Program};

/// Forwards such columns in all functions.
pub fn run(program: &mut Program) {
    for function in &mut program.functions {
        rewrite::rewrite(function, &mut Forward);
    }
}

struct Forward;

impl Rule for Forward {
    fn rewrite(&mut self, _: &mut Context, _: &Instruction) -> Action {
        Action::Keep
    }

    fn join(&mut self, context: &mut Context, instruction: &mut Instruction) {
        let Op::Fused(block) = &mut instruction.op else { return };
        let unchecked: Vec<Operand> = block.results.iter().map(|&result| unchecked(block, result)).collect();
        let mut keep = Vec::with_capacity(unchecked.len());
        for (&result, value) in instruction.results.iter().zip(unchecked) {
            let is_from_outside =
                made_by(block, value).is_none() && context.type_of(value) == context.type_of(result.into());
            if is_from_outside {
                context.rename(result, value);
            }
            keep.push(!is_from_outside);
        }
        retain(&mut instruction.results, &keep);
        retain(&mut block.results, &keep);
    }
}

/// What an operand was before it was checked.
fn unchecked(block: &Block, operand: Operand) -> Operand {
    let checked = made_by(block, operand).and_then(|instruction| match instruction.op {
        Op::Map(op) => op.checked_operand().map(|position| instruction.operands[position]),
        _ => None,
    });
    checked.map_or(operand, |before| unchecked(block, before))
}

/// The instruction of a block whose result an operand is.
fn made_by(block: &Block, operand: Operand) -> Option<&Instruction> {
    let Operand::Register(register) = operand else { return None };
    block.instructions.iter().find(|instruction| instruction.results.contains(&register))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::testing::{becomes, stays};

    #[test]
    fn readers_of_checked_columns_read_what_was_checked() {
        becomes(
            run,
            "function f(%0: column int, %1: column float, %2: int) -> column int, column float, int {
               %6, %7 = fused {
                 %3 = map check_index %0 %2
                 %4 = map check_index %3 9
                 %5 = gather %1 %4
                 yield %4 %5
               }
               %8 = length %6
               %11 = fused {
                 %9 = map add.int %6 1
                 %10 = map check_index %9 %2
                 yield %10
               }
               return %11 %7 %8
             }",
            "function f(%0: column int, %1: column float, %2: int) -> column int, column float, int unused %6: column int {
               %7 = fused {
                 %3 = map check_index %0 %2
                 %4 = map check_index %3 9
                 %5 = gather %1 %4
                 yield %5
               }
               %8 = length %0
               %11 = fused {
                 %9 = map add.int %0 1
                 %10 = map check_index %9 %2
                 yield %10
               }
               return %11 %7 %8
             }",
        );
    }

    #[test]
    fn one_value_that_is_checked_for_each_index_is_no_column() {
        stays(
            run,
            "function f(%0: int, %1: column int) -> column int, column int {
               %4, %5 = fused {
                 %2 = map check_index %0 %1
                 %3 = map add.int %1 1
                 yield %2 %3
               }
               return %4 %5
             }",
        );
    }
}

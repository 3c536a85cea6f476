//! Counting flags: how many are true is the length of what was packed by them.
//!
//! A filter packs its elements by flags and then counts the trues, which takes two passes over columns of ints; the length
//! of a packed column costs nothing.

use crate::op::VectorOp;
use crate::passes::rewrite::{self, Action, Context, Maker, Rule};
use crate::program::{Instruction, Op, Operand, Program};
use nesl_prim::ScalarOp;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Reads counts off lengths in all functions.
pub fn run(program: &mut Program) {
    for function in &mut program.functions {
        rewrite::rewrite(function, &mut Count { packed: HashMap::new(), scopes: vec![Vec::new()] });
    }
}

struct Count {
    /// By flags, a column that was packed by them.
    packed: HashMap<Operand, Operand>,
    /// The flags that each open block has added.
    scopes: Vec<Vec<Operand>>,
}

impl Rule for Count {
    fn rewrite(&mut self, context: &mut Context, instruction: &Instruction) -> Action {
        match (&instruction.op, instruction.operands.as_slice()) {
            (Op::Vector(VectorOp::Pack), &[_, flags]) => {
                if let Entry::Vacant(entry) = self.packed.entry(flags) {
                    entry.insert(Operand::Register(instruction.results[0]));
                    if let Some(scope) = self.scopes.last_mut() {
                        scope.push(flags);
                    }
                }
                Action::Keep
            }
            (Op::Vector(VectorOp::Reduce(ScalarOp::AddInt)), &[ones]) => {
                let flags = context.definition(ones).filter(|ones| ones.maker == Maker::Map(ScalarOp::BoolToInt));
                match flags.and_then(|ones| self.packed.get(&ones.operands[0])) {
                    Some(&packed) => Action::Become(Op::Vector(VectorOp::Length), vec![packed]),
                    None => Action::Keep,
                }
            }
            _ => Action::Keep,
        }
    }

    fn enter(&mut self) {
        self.scopes.push(Vec::new());
    }

    fn leave(&mut self) {
        for flags in self.scopes.pop().unwrap_or_default() {
            self.packed.remove(&flags);
        }
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

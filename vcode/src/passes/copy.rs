//! Results of an `if` that need no `if`: both blocks yield the same value, or two results are always the same.
//!
//! Flattening lets an `if` yield every register of a value, and often one part is what it was before: the length of a
//! sequence whose elements change. Naming the original lets other passes see that two lengths are one.

use crate::passes::rewrite::{self, Action, Context, Rule};
use crate::program::{Instruction, Op, Operand, Program};
use std::collections::HashMap;

/// Forwards such results in all functions.
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
        let Op::If(then_block, else_block) = &mut instruction.op else { return };
        let mut seen: HashMap<(Operand, Operand), Operand> = HashMap::new();
        let mut keep = Vec::with_capacity(instruction.results.len());
        for (&result, pair) in instruction.results.iter().zip(then_block.results.iter().zip(&else_block.results)) {
            let (&a, &b) = pair;
            // A register that both blocks yield is defined before them: neither sees the other's.
            let same = if a == b { Some(a) } else { seen.get(&(a, b)).copied() };
            match same {
                Some(value) => context.rename(result, value),
                None => {
                    seen.insert((a, b), result.into());
                }
            }
            keep.push(same.is_none());
        }
        retain(&mut instruction.results, &keep);
        retain(&mut then_block.results, &keep);
        retain(&mut else_block.results, &keep);
    }
}

/// Keeps the items whose flag is set.
pub(crate) fn retain<T>(items: &mut Vec<T>, keep: &[bool]) {
    let mut flags = keep.iter();
    items.retain(|_| flags.next().copied().unwrap_or(true));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::testing::{becomes, stays};

    #[test]
    fn equal_yields_are_forwarded_from_the_inside_out() {
        becomes(
            run,
            "function f(%0: bool, %1: int, %2: int) -> int, int, int, int {
               %3, %4, %5, %6 = if %0 { yield %1 %1 %1 7 } else {
                 %7 = if %0 { yield %1 } else { yield %1 }
                 yield %7 %2 %2 7
               }
               return %3 %4 %5 %6
             }",
            "function f(%0: bool, %1: int, %2: int) -> int, int, int, int unused %3: int, %5: int, %6: int, %7: int {
               %4 = if %0 { yield %1 } else {
                 if %0 { yield } else { yield }
                 yield %2
               }
               return %1 %4 %4 7
             }",
        );
    }

    #[test]
    fn different_yields_stay() {
        stays(
            run,
            "function f(%0: bool, %1: int, %2: int) -> int, int {
               %3, %4 = if %0 { yield %1 %2 } else { yield %2 %1 }
               return %3 %4
             }",
        );
    }
}

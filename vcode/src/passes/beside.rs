//! Results of a group that a `concat` behind it puts one after another are said to lie beside one another, for who runs
//! the group to write them where they end up.
//!
//! ```text
//! %8, %9 = fused {                       %8, %9 = fused {
//!   …                                      …
//!   yield %3 %4                            yield %3 %4 beside %4 %3
//! }                                      }
//! %10 = concat %9 %8                     %10 = concat %9 %8
//! ```
//!
//! The `concat` is then a view of what lies there already. A result can lie beside others in one column only: the first
//! that is put together. This is *build-in-place* (Ranelletti, 1987; Cann, 1989, for SISAL).

use crate::op::VectorOp;
use crate::program::{Block, Instruction, Op, Operand, Program, Register};

/// Says so in all functions.
pub fn run(program: &mut Program) {
    program.functions.iter_mut().for_each(|function| mark(&mut function.body));
}

fn mark(block: &mut Block) {
    for at in 0..block.instructions.len() {
        let (before, later) = block.instructions.split_at_mut(at + 1);
        let instruction = &mut before[at];
        match &mut instruction.op {
            Op::Fused(group) => group.beside = beside(&instruction.results, later),
            Op::If(then_block, else_block) => [then_block, else_block].into_iter().for_each(|block| mark(block)),
            _ => {}
        }
    }
}

/// Which of these results later instructions put one after another, by their positions.
fn beside(results: &[Register], later: &[Instruction]) -> Vec<Vec<usize>> {
    let mut is_taken = vec![false; results.len()];
    let mut all = Vec::new();
    for instruction in later.iter().filter(|instruction| instruction.op == Op::Vector(VectorOp::Concat)) {
        let position = |&operand: &Operand| results.iter().position(|&result| operand == result.into());
        let parts: Option<Vec<usize>> = instruction.operands.iter().map(position).collect();
        let Some(parts) = parts else { continue };
        let is_new = |(index, &part): (usize, &usize)| !is_taken[part] && !parts[..index].contains(&part);
        if parts.len() > 1 && parts.iter().enumerate().all(is_new) {
            parts.iter().for_each(|&part| is_taken[part] = true);
            all.push(parts);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse;
    use crate::passes::testing::becomes;
    use crate::verify::verify;

    fn text(yields: &str, behind: &str) -> String {
        format!(
            "function f(%0: column int, %1: bool) -> column int {{
               %7, %8, %9 = fused {{
                 %2 = map add.int %0 1
                 %3 = map greater.int %0 0
                 %4 = pack %0 %3
                 %5 = map not.bool %3
                 %6 = pack %0 %5
                 yield %2 %4 %6{yields}
               }}
               {behind}
             }}"
        )
    }

    #[track_caller]
    fn are(yields: &str, behind: &str) {
        becomes(run, &text("", behind), &text(yields, behind));
    }

    #[test]
    fn what_is_put_together_lies_together() {
        are(" beside %6 %2", "%10 = concat %9 %7\nreturn %10");
        // The first in which a result is; the others are copied.
        are(" beside %4 %6", "%10 = concat %8 %9\n%11 = concat %9 %7\n%12 = concat %10 %11\nreturn %12");
        // Also in blocks, whatever else is read.
        let inner = "%12 = if %1 {
               %11 = fused {
                 %10 = map add.int %7 1
                 yield %10
               }
               yield %11
             } else { yield %8 }
             return %12";
        are("", inner);
    }

    #[test]
    fn other_parts_do_not() {
        for behind in ["%10 = concat %7 %7", "%10 = concat %7 %0", "%10 = interleave %8 %9", "%10 = map add.int %7 1"] {
            are("", &format!("{behind}\nreturn %10"));
        }
    }

    #[test]
    fn what_does_not_lie_together_is_no_program() {
        for yields in [" beside %2 %6", " beside %6 %2 beside %6 %2", " beside %6", " beside %6 %2 %4"] {
            let program = parse(&text(yields, "%10 = concat %9 %7\nreturn %10")).unwrap();
            let errors = verify(&program).unwrap_err();
            assert!(
                errors[0].to_string().contains("nothing puts these results one after another"),
                "{yields}: {errors:?}"
            );
        }
        assert!(parse(&text(" beside %0 %2", "return %7")).is_err());
    }
}

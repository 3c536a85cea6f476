//! Which recursion can become more instances when it is lifted.
//!
//! A loop does not, nor does recursion that calls itself once: of it lifting makes one vector instruction for each turn
//! of a few instances, and never more of them. Two calls do, and so does an `each` of calls.

use nesl_vcode::{Block, FunctionId, Op, Program};
use std::collections::HashSet;

/// Whether a function, or one that it comes to call, may come to call itself more than once.
pub(in crate::machine) fn may_branch(program: &Program, serial: FunctionId) -> bool {
    reach(program, serial).into_iter().any(|function| {
        let comes_back = |callee: FunctionId| reach(program, callee).contains(&function);
        calls(&program.functions[function.0 as usize].body, &comes_back) > 1
    })
}

/// A function and all that it comes to call.
fn reach(program: &Program, function: FunctionId) -> HashSet<FunctionId> {
    let (mut reached, mut waiting) = (HashSet::from([function]), vec![function]);
    while let Some(next) = waiting.pop() {
        program.functions[next.0 as usize].body.visit(&mut |instruction| {
            let callee = match &instruction.op {
                Op::Call(callee) => *callee,
                Op::Each(each) => each.serial,
                _ => return,
            };
            if reached.insert(callee) {
                waiting.push(callee);
            }
        });
    }
    reached
}

/// How many calls of a kind one run of a block makes, at most; those of an `each` are several.
fn calls(block: &Block, is_so: &impl Fn(FunctionId) -> bool) -> usize {
    let of = |op: &Op| match op {
        Op::Call(callee) => usize::from(is_so(*callee)),
        Op::Each(each) => 2 * usize::from(is_so(each.serial)),
        Op::If(then_block, else_block) => calls(then_block, is_so).max(calls(else_block, is_so)),
        _ => 0,
    };
    block.instructions.iter().map(|instruction| of(&instruction.op)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_do_not_branch_and_trees_do() {
        let program = |result: usize, then_calls: &str, else_calls: &str| {
            let text = format!(
                "function f(%0: int) -> int {{
                   %1 = equal.int %0 0
                   %{result} = if %1 {{ {then_calls} }} else {{ {else_calls} }}
                   return %{result}
                 }}
                 function g(%0: int) -> int {{
                   %1 = call f %0
                   return %1
                 }}
                 function top(%0: int) -> int {{
                   %1 = call g %0
                   %2 = call g %0
                   %3 = add.int %1 %2
                   return %3
                 }}"
            );
            nesl_vcode::parse(&text).unwrap_or_else(|error| panic!("{error}"))
        };
        let once = "%2 = subtract.int %0 1
                    %3 = call g %2
                    yield %3";
        let twice = "%2 = subtract.int %0 1
                     %3 = call f %2
                     %4 = call g %3
                     yield %4";
        let branches = |program: &Program| [0, 2].map(|function| may_branch(program, FunctionId(function)));
        assert_eq!(branches(&program(2, "yield 1", "yield 2")), [false; 2]);
        assert_eq!(branches(&program(4, "yield 1", once)), [false; 2]);
        let other = once.replace("%2", "%4").replace("%3", "%5");
        assert_eq!(branches(&program(6, &other, once)), [false; 2]);
        assert_eq!(branches(&program(5, "yield 1", twice)), [true; 2]);
    }
}

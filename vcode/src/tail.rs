//! Tail calls: which calls end their function, and which of them are steps of a loop.
//!
//! A call *ends* its function where its results are the function's, and nothing comes after it: it is the last
//! instruction of the body, or of a block of an `if` that ends the function in the same way. It is a *step* where the
//! function can come back to itself by calls that end functions alone. A step costs no depth: whoever runs functions
//! puts the frame of the called one in place of the caller's. Other calls keep the caller's frame, which says in errors
//! how the program came there; as there is no way back from them, there are never more of those in a row than there are
//! functions.

pub mod bounded;

use crate::program::{Block, Function, FunctionId, Instruction, Op, Operand, Program, Register};
use nesl_prim::cycles::components;
use std::collections::HashSet;

/// The last instruction of a block, if its results are those of the block.
pub fn last(block: &Block) -> Option<&Instruction> {
    let last = block.instructions.last()?;
    let results = last.results.iter().map(|&result| Operand::Register(result));
    results.eq(block.results.iter().copied()).then_some(last)
}

/// Calls `visit` on the calls at the end of a body, or of a block at its end, and the functions that they name.
pub fn visit_ends(block: &Block, visit: &mut impl FnMut(&Instruction, FunctionId)) {
    let Some(last) = last(block) else { return };
    match &last.op {
        Op::Call(function) => visit(last, *function),
        Op::If(then_block, else_block) => {
            visit_ends(then_block, visit);
            visit_ends(else_block, visit);
        }
        _ => {}
    }
}

/// Lets the calls at the ends of a body that name one function name another, which gets some registers besides.
pub(crate) fn rename_ends(block: &mut Block, from: FunctionId, to: FunctionId, more: &[Register]) {
    if last(block).is_none() {
        return;
    }
    let Some(last) = block.instructions.last_mut() else { return };
    match &mut last.op {
        Op::Call(callee) if *callee == from => {
            *callee = to;
            last.operands.extend(more.iter().map(|&register| Operand::Register(register)));
        }
        Op::If(then_block, else_block) => {
            [then_block, else_block].into_iter().for_each(|block| rename_ends(block, from, to, more));
        }
        _ => {}
    }
}

/// The parameters that all calls of a function of itself hand on as they are; none where it is called other than at its
/// end, or not at all.
pub fn handed_on(function: &Function, id: FunctionId) -> Option<HashSet<Register>> {
    let mut same: Option<HashSet<Register>> = None;
    let mut ends = 0;
    visit_ends(&function.body, &mut |call, callee| {
        if callee == id {
            ends += 1;
            let is_same = |&(&parameter, &operand): &(&Register, &Operand)| operand == Operand::Register(parameter);
            let unchanged = function.parameters.iter().zip(&call.operands).filter(is_same).map(|(&own, _)| own);
            let unchanged: HashSet<Register> = unchanged.collect();
            same = Some(same.take().map_or(unchanged.clone(), |before| &before & &unchanged));
        }
    });
    let all = function.body.functions().into_iter().filter(|&callee| callee == id).count();
    same.filter(|_| all == ends)
}

/// Which functions can come back to which others by calls that end functions.
#[derive(Clone, Debug)]
pub struct Steps {
    components: Vec<usize>,
}

impl Steps {
    /// Those of a program.
    pub fn of(program: &Program) -> Steps {
        let callees = |index: usize| {
            let mut callees = Vec::new();
            visit_ends(&program.functions[index].body, &mut |_, callee| callees.push(callee.0 as usize));
            // What is printed may have been rejected for calls of functions that are not there.
            callees.retain(|&callee| callee < program.functions.len());
            callees
        };
        Steps { components: components(program.functions.len(), callees) }
    }

    /// Whether a call of a function that ends another is a step.
    pub fn is_step(&self, caller: FunctionId, callee: FunctionId) -> bool {
        self.components[caller.0 as usize] == self.components[callee.0 as usize]
    }

    /// Calls `visit` on the calls of a function that are steps.
    pub fn visit(&self, program: &Program, function: FunctionId, visit: &mut impl FnMut(&Instruction, FunctionId)) {
        visit_ends(&program.functions[function.0 as usize].body, &mut |call, callee| {
            if self.is_step(function, callee) {
                visit(call, callee);
            }
        });
    }

    /// The functions that a function calls in steps.
    pub fn callees(&self, program: &Program, function: FunctionId) -> HashSet<FunctionId> {
        let mut callees = HashSet::new();
        self.visit(program, function, &mut |_, callee| {
            callees.insert(callee);
        });
        callees
    }

    /// The functions that a function comes to by steps, itself among them; none if it is no loop.
    pub fn reached(&self, program: &Program, function: FunctionId) -> HashSet<FunctionId> {
        let mut reached = HashSet::new();
        let mut waiting = vec![function];
        while let Some(function) = waiting.pop() {
            for callee in self.callees(program, function) {
                if reached.insert(callee) {
                    waiting.push(callee);
                }
            }
        }
        reached
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse;

    #[test]
    fn steps_are_calls_at_the_end_that_come_back() {
        let program = parse(
            "function even(%0: int) -> bool {
               %1 = equal.int %0 0
               %4 = if %1 { yield t } else {
                 %2 = subtract.int %0 1
                 %3 = call odd %2
                 yield %3
               }
               return %4
             }
             function odd(%0: int) -> bool {
               %1 = equal.int %0 0
               %5 = if %1 {
                 %4 = call no %0
                 yield %4
               } else {
                 %2 = subtract.int %0 1
                 %3 = call even %2
                 yield %3
               }
               return %5
             }
             function no(%0: int) -> bool {
               return f
             }
             function swaps(%0: int, %1: int) -> int, int {
               %2, %3 = call swaps %1 %0
               return %3 %2
             }
             function goes_on(%0: int, %1: int) -> int, int {
               %2, %3 = call goes_on %1 %0
               return %2 %3
             }
             function top(%0: int) -> bool {
               %1 = call even %0
               return %1
             }",
        )
        .unwrap();
        let all = Steps::of(&program);
        let steps = |id| {
            let mut found: Vec<u32> = all.callees(&program, FunctionId(id)).into_iter().map(|step| step.0).collect();
            found.sort_unstable();
            found
        };
        // What gives its results in another order goes on after the call; what cannot come back is called.
        assert_eq!([0, 1, 2, 3, 4, 5].map(steps), [vec![1], vec![0], vec![], vec![], vec![4], vec![]]);
    }
}

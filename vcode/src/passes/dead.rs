//! Dead code: instructions that cannot fail and whose results nobody reads, results of `if`s that nobody reads, and
//! functions that no step and no main reaches.
//!
//! A call stays: to leave it out one would have to show that it ends and does not fail. A program without steps and
//! main is a fragment, and keeps its functions.

use crate::passes::copy::retain;
use crate::passes::effect;
use crate::program::{Block, Function, FunctionId, Instruction, Main, Op, Operand, Program, Step};

/// Removes dead instructions and functions.
pub fn run(program: &mut Program) {
    program.functions.iter_mut().for_each(tidy);
    remove_functions(program);
}

/// Removes dead instructions of a function.
pub(super) fn tidy(function: &mut Function) {
    let mut live = Live(vec![false; function.registers.len()]);
    let keep = vec![true; function.body.results.len()];
    live.block(&mut function.body, &keep);
}

/// The registers that are read later.
struct Live(Vec<bool>);

impl Live {
    fn read(&mut self, operands: &[Operand]) {
        for operand in operands {
            if let Operand::Register(register) = operand {
                self.0[register.0 as usize] = true;
            }
        }
    }

    /// Walks a block from its end, of whose results those with a flag are read.
    fn block(&mut self, block: &mut Block, read: &[bool]) {
        retain(&mut block.results, read);
        self.read(&block.results);
        let mut kept = Vec::with_capacity(block.instructions.len());
        while let Some(mut instruction) = block.instructions.pop() {
            if self.instruction(&mut instruction) {
                self.read(&instruction.operands);
                kept.push(instruction);
            }
        }
        kept.reverse();
        block.instructions = kept;
    }

    /// Whether an instruction stays. Drops the results of blocks that are not read, and what computes only them.
    fn instruction(&mut self, instruction: &mut Instruction) -> bool {
        let read: Vec<bool> = instruction.results.iter().map(|result| self.0[result.0 as usize]).collect();
        match &mut instruction.op {
            Op::If(then_block, else_block) => {
                retain(&mut instruction.results, &read);
                self.block(then_block, &read);
                self.block(else_block, &read);
            }
            Op::Fused(block) => {
                retain(&mut instruction.results, &read);
                self.block(block, &read);
            }
            _ => {}
        }
        read.contains(&true) || effect::has_effect(&instruction.op, &instruction.operands)
    }
}

fn entries(program: &mut Program) -> impl Iterator<Item = &mut Step> {
    program.steps.iter_mut().chain(program.mains.iter_mut().flat_map(Main::steps_mut))
}

fn remove_functions(program: &mut Program) {
    let mut waiting: Vec<FunctionId> = entries(program).map(|step| step.function).collect();
    if waiting.is_empty() {
        return;
    }
    let mut reached = vec![false; program.functions.len()];
    while let Some(id) = waiting.pop() {
        if !std::mem::replace(&mut reached[id.0 as usize], true) {
            program.functions[id.0 as usize].body.visit_functions(&mut |called| waiting.push(*called));
        }
    }
    let mut next = 0;
    let numbers: Vec<FunctionId> = reached
        .iter()
        .map(|&reached| {
            let number = FunctionId(next);
            next += u32::from(reached);
            number
        })
        .collect();
    retain(&mut program.functions, &reached);
    for function in &mut program.functions {
        function.body.visit_functions(&mut |called| *called = numbers[called.0 as usize]);
    }
    for step in entries(program) {
        step.function = numbers[step.function.0 as usize];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::testing::{becomes, stays};

    #[test]
    fn what_nobody_reads_goes() {
        becomes(
            run,
            "function f(%0: bool, %1: int) -> int {
               %2 = iota %1
               %3 = map add.int %2 1
               %4 = divide.int %1 2
               %8, %9 = if %0 {
                 %5 = add.int %1 1
                 %6 = add.int %1 2
                 yield %5 %6
               } else { yield %4 %1 }
               %10 = if %0 {
                 %7 = add.int %1 1
                 yield %7
               } else { yield 1 }
               return %9
             }",
            "function f(%0: bool, %1: int) -> int \
               unused %2: column int, %3: column int, %4: int, %5: int, %7: int, %8: int, %10: int {
               %9 = if %0 {
                 %6 = add.int %1 2
                 yield %6
               } else { yield %1 }
               return %9
             }",
        );
    }

    #[test]
    fn what_can_fail_stays() {
        becomes(
            run,
            "function f(%0: bool, %1: int, %2: column int) -> int {
               %3 = divide.int 1 %1
               %4 = map modulo %2 0
               %5 = permute %2 %2
               %6 = call f %0 %1 %2
               %7 = add.int %1 1
               %9 = if %0 {
                 %8 = check_index %7 9
                 yield %8
               } else { yield 1 }
               return 0
             }",
            "function f(%0: bool, %1: int, %2: column int) -> int unused %9: int {
               %3 = divide.int 1 %1
               %4 = map modulo %2 0
               %5 = permute %2 %2
               %6 = call f %0 %1 %2
               %7 = add.int %1 1
               if %0 {
                 %8 = check_index %7 9
                 yield
               } else { yield }
               return 0
             }",
        );
    }

    #[test]
    fn functions_that_nothing_runs_go() {
        becomes(
            run,
            "function a() -> int {
               %0 = call a
               return %0
             }
             function b() -> int {
               %0 = call d
               return %0
             }
             function c() -> int {
               return 1
             }
             function d() -> int {
               %0 = if t { yield 1 } else {
                 %1 = call b
                 yield %1
               }
               return %0
             }
             step d() -> show int
             main () {
               step d() -> global 1 int
               run c() -> show int
             }",
            "function b() -> int {
               %0 = call d
               return %0
             }
             function c() -> int {
               return 1
             }
             function d() -> int {
               %0 = if t { yield 1 } else {
                 %1 = call b
                 yield %1
               }
               return %0
             }
             step d() -> show int
             main () {
               step d() -> global 1 int
               run c() -> show int
             }",
        );
        stays(run, "function a() -> int {\n return 1 }\nfunction b() -> int {\n return 2 }");
    }
}

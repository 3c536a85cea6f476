//! Where both blocks of an `if` go on with a loop, and do little else, there is one way on, with what is selected: for
//! code that runs one instance after another.
//!
//! ```text
//! if p { m = add.int middle 1; r = call search v x m high } else { s = call search v x low middle }
//!
//!     m = add.int middle 1; a = select.int p m low; b = select.int p high middle; r = call search v x a b
//! ```
//!
//! What decides at random which way a loop goes, as in a binary search, is foreseen by no processor, and a turn that
//! was begun in vain costs more than ten selections: searches for random numbers among 10^3 and 10^5 took 0.09 and
//! 0.21 s, and 0.19 and 0.31 before. What is foreseen waits for the selection: sorted ones took 0.15 s, and 0.11.
//!
//! This is *if-conversion*. Only steps of the function itself are taken: no error says from which of them the program
//! came.

use crate::passes::sink_common::selected;
use crate::program::{Block, Function, FunctionId, Instruction, Op, Operand, Program, Register};
use crate::register::RegisterType;
use crate::tail;

/// Converts in all functions.
pub fn run(program: &mut Program) {
    for (id, function) in program.functions.iter_mut().enumerate() {
        let mut body = std::mem::take(&mut function.body);
        convert(function, FunctionId(id as u32), &mut body);
        function.body = body;
    }
}

/// Converts the `if` at the end of a block that ends the function, if there is one, and those at the ends of its
/// blocks.
fn convert(function: &mut Function, id: FunctionId, block: &mut Block) {
    if tail::last(block).is_none() {
        return;
    }
    let Some(mut last) = block.instructions.pop() else { return };
    if let Op::If(then_block, else_block) = &mut last.op {
        convert(function, id, then_block);
        convert(function, id, else_block);
        if let Some(converted) = converted(function, id, &last) {
            block.instructions.extend(converted);
            return;
        }
    }
    block.instructions.push(last);
}

/// What an `if` is whose blocks both call the function itself at their ends.
fn converted(function: &mut Function, id: FunctionId, instruction: &Instruction) -> Option<Vec<Instruction>> {
    let Op::If(then_block, else_block) = &instruction.op else { return None };
    let [first, second] = [step(then_block, id)?, step(else_block, id)?];
    let (mut operands, mut results) = (Vec::new(), Vec::new());
    let mut chosen = [Vec::new(), Vec::new()];
    for (&a, &b) in first.operands.iter().zip(&second.operands) {
        let ty = function.operand_type(a);
        operands.push(if a == b {
            a
        } else if matches!(ty, RegisterType::Scalar(_)) {
            let result = Register::add(&mut function.registers, ty);
            results.push(result);
            chosen[0].push(a);
            chosen[1].push(b);
            Operand::Register(result)
        } else {
            return None;
        });
    }
    let [then_block, else_block] = [(then_block, &chosen[0]), (else_block, &chosen[1])].map(|(block, chosen)| {
        let before = &block.instructions[..block.instructions.len() - 1];
        Box::new(Block::new(before.to_vec(), chosen.clone()))
    });
    let choice =
        Instruction::new(Op::If(then_block, else_block), instruction.operands.clone(), results, instruction.place);
    let mut instructions = selected(function, &choice)?;
    instructions.push(Instruction { operands, results: instruction.results.clone(), ..first.clone() });
    Some(instructions)
}

/// The call with which a block goes on with its loop.
fn step(block: &Block, id: FunctionId) -> Option<&Instruction> {
    tail::last(block).filter(|last| last.op == Op::Call(id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::number;
    use crate::passes::testing::becomes;

    fn converts(before: &str, after: &str) {
        let numbered = |program: &mut Program| {
            run(program);
            number::run(program);
        };
        becomes(numbered, before, after);
    }

    #[test]
    fn a_binary_search_goes_on_with_the_half_that_is_selected() {
        converts(
            "function main(%0: column int, %1: int, %2: int, %3: int) -> int {
               %4 = equal.int %2 %3
               %11 = if %4 { yield %2 } else {
                 %5 = add.int %2 %3
                 %6 = less.int %5 %1
                 %10 = if %6 {
                   %7 = add.int %5 1
                   %8 = call main %0 %1 %7 %3
                   yield %8
                 } else {
                   %9 = call main %0 %1 %2 %5
                   yield %9
                 }
                 yield %10
               }
               return %11
             }",
            "function main(%0: column int, %1: int, %2: int, %3: int) -> int {
               %4 = equal.int %2 %3
               %11 = if %4 { yield %2 } else {
                 %5 = add.int %2 %3
                 %6 = less.int %5 %1
                 %7 = add.int %5 1
                 %8 = select.int %6 %7 %2
                 %9 = select.int %6 %3 %5
                 %10 = call main %0 %1 %8 %9
                 yield %10
               }
               return %11
             }",
        );
    }

    #[test]
    fn three_ways_on_are_one() {
        converts(
            "function main(%0: bool, %1: bool, %2: int) -> int {
               %7 = if %0 {
                 %3 = call main %0 %1 1
                 yield %3
               } else {
                 %6 = if %1 {
                   %4 = call main %0 %1 2
                   yield %4
                 } else {
                   %5 = call main %0 %1 %2
                   yield %5
                 }
                 yield %6
               }
               return %7
             }",
            "function main(%0: bool, %1: bool, %2: int) -> int {
               %3 = select.int %1 2 %2
               %4 = select.int %0 1 %3
               %5 = call main %0 %1 %4
               return %5
             }",
        );
    }

    #[test]
    fn what_can_fail_or_costs_and_what_is_no_step_stays() {
        for (step, end) in [
            ("%2 = divide.int 7 %1\n%3 = call main %0 %2", "%3"),
            ("%2 = power.int %1 2\n%3 = call main %0 %2", "%3"),
            ("%2 = add.int %1 1\n%3 = call main %0 1", "%1"),
            ("%2 = add.int %1 1\n%3 = call other %0 1", "%3"),
            ("%2 = call main %0 1\n%3 = add.int %2 1", "%3"),
        ] {
            let text = format!(
                "function main(%0: bool, %1: int) -> int {{
                       %5 = if %0 {{
                         {step}
                         yield {end}
                       }} else {{
                         %4 = call main %0 %1
                         yield %4
                       }}
                       return %5
                     }}
                     function other(%0: bool, %1: int) -> int {{
                       return %1
                     }}"
            );
            converts(&text, &text);
        }
    }
}

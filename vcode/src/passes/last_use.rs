//! Marks where registers are used for the last time.
//!
//! At its last use a value leaves its register: it is freed then, or an engine writes the result over it, and a machine
//! has room for another value. One walk backwards over a function finds them. Control is structured and registers are
//! defined once, so no iteration is needed. A block whose `if` has another block that reads a register for the last
//! time begins with dropping it, so that both end with the same registers alive.
//!
//! ```text
//! %4 = if %0! {
//!   drop %2
//!   %3 = map add.int %1* 1
//!   yield %3!
//! } else {
//!   drop %1
//!   yield %2!
//! }
//! ```
//!
//! A use is marked as in place where the instruction's row says that its result may be written over that operand;
//! whether it is, is the engine's business: the same column may be held elsewhere.

use crate::program::{Block, Instruction, Op, Operand, Program, Register, RegisterType, Use};

/// Marks all functions; marks that are there are forgotten.
pub fn run(program: &mut Program) {
    clear(program);
    for function in &mut program.functions {
        let mut marker = Marker { registers: &function.registers, alive: vec![false; function.registers.len()] };
        marker.block(&mut function.body);
    }
}

/// Removes all marks: what changes a program makes them wrong.
pub fn clear(program: &mut Program) {
    fn clear_block(block: &mut Block) {
        block.drops.clear();
        block.uses.clear();
        for instruction in &mut block.instructions {
            instruction.uses.clear();
            match &mut instruction.op {
                Op::If(then_block, else_block) => {
                    clear_block(then_block);
                    clear_block(else_block);
                }
                Op::Fused(block) => clear_block(block),
                _ => {}
            }
        }
    }
    program.functions.iter_mut().for_each(|function| clear_block(&mut function.body));
}

struct Marker<'a> {
    registers: &'a [RegisterType],
    /// The registers that are read later.
    alive: Vec<bool>,
}

impl Marker<'_> {
    /// Marks a block, from the registers alive after it to those alive before it.
    fn block(&mut self, block: &mut Block) {
        block.uses = self.uses(&block.results);
        for instruction in block.instructions.iter_mut().rev() {
            self.instruction(instruction);
        }
    }

    fn instruction(&mut self, instruction: &mut Instruction) {
        for result in &instruction.results {
            self.alive[result.0 as usize] = false;
        }
        if let Op::If(then_block, else_block) = &mut instruction.op {
            let after = self.alive.clone();
            self.block(then_block);
            let before_then = std::mem::replace(&mut self.alive, after);
            self.block(else_block);
            for ((index, then_alive), else_alive) in (0u32..).zip(before_then).zip(&mut self.alive) {
                match (then_alive, *else_alive) {
                    (true, false) => else_block.drops.push(Register(index)),
                    (false, true) => then_block.drops.push(Register(index)),
                    _ => {}
                }
                *else_alive |= then_alive;
            }
        }
        if let Op::Fused(block) = &mut instruction.op {
            self.block(block);
        }
        let mut uses = self.uses(&instruction.operands);
        for (operand, mark) in uses.iter_mut().enumerate() {
            if *mark == Use::Last && instruction.may_overwrite(operand, self.registers) {
                *mark = Use::InPlace;
            }
        }
        instruction.uses = uses;
    }

    /// Of each operand, whether it is the last use of its register; nothing where none is. Of equal operands the last
    /// is.
    fn uses(&mut self, operands: &[Operand]) -> Vec<Use> {
        let mut uses = vec![Use::Kept; operands.len()];
        for (mark, operand) in uses.iter_mut().zip(operands).rev() {
            if let Operand::Register(register) = operand
                && !std::mem::replace(&mut self.alive[register.0 as usize], true)
            {
                *mark = Use::Last;
            }
        }
        if uses.contains(&Use::Last) { uses } else { Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::{from_bytes, to_bytes};
    use crate::parse::parse;
    use crate::passes::testing::becomes;

    #[test]
    fn the_last_of_several_uses_is_marked() {
        becomes(
            run,
            "function f(%0: int, %1: column int, %2: int) -> column int, column int, int {
               %3 = add.int %0 %0
               %4 = map add.int %1 %3
               %5 = map add.int %4 %4
               return %5 %5 %0
             }",
            "function f(%0: int, %1: column int, %2: int) -> column int, column int, int {
               %3 = add.int %0 %0
               %4 = map add.int %1* %3!
               %5 = map add.int %4 %4!
               return %5 %5! %0!
             }",
        );
    }

    #[test]
    fn blocks_drop_what_only_the_other_reads() {
        becomes(
            run,
            "function f(%0: bool, %1: int, %2: int, %3: int) -> int {
               %6 = if %0 {
                 %4 = add.int %1 %3
                 yield %4
               } else {
                 %5 = if %0 { yield %2 } else { yield 7 }
                 yield %5
               }
               %7 = add.int %6 %3
               return %7
             }",
            "function f(%0: bool, %1: int, %2: int, %3: int) -> int {
               %6 = if %0 {
                 drop %0 %2
                 %4 = add.int %1! %3
                 yield %4!
               } else {
                 drop %1
                 %5 = if %0! { yield %2! } else {
                   drop %2
                   yield 7
                 }
                 yield %5!
               }
               %7 = add.int %6! %3!
               return %7!
             }",
        );
    }

    #[test]
    fn only_what_the_table_says_is_in_place() {
        becomes(
            run,
            "function f(%0: column int, %1: column float, %2: column int, %3: column int, %4: column int, %5: int) \
               -> column bool, column int, column int, column int, column float {
               %6 = map less.int %0 %2
               %7 = scatter %3 %2 %4
               %8 = gather %0 %2
               %9 = map check_index %8 %4
               %10 = map check_index %5 %2
               %11 = scan.add.float %1
               return %6 %7 %9 %10 %11
             }",
            "function f(%0: column int, %1: column float, %2: column int, %3: column int, %4: column int, %5: int) \
               -> column bool, column int, column int, column int, column float {
               %6 = map less.int %0 %2
               %7 = scatter %3* %2 %4
               %8 = gather %0! %2
               %9 = map check_index %8* %4!
               %10 = map check_index %5! %2*
               %11 = scan.add.float %1!
               return %6! %7! %9! %10! %11!
             }",
        );
    }

    #[test]
    fn marks_are_made_anew_removed_and_written_to_bytes() {
        let text = "function f(%0: bool, %1: int) -> int {
             %2 = if %0! { yield %1! } else {
               drop %1
               yield 1
             }
             return %2!
           }";
        becomes(run, text, text);
        becomes(
            clear,
            text,
            "function f(%0: bool, %1: int) -> int {
               %2 = if %0 { yield %1 } else { yield 1 }
               return %2
             }",
        );
        let (program, mut sources) = (parse(text).unwrap(), nesl_span::SourceMap::default());
        sources.add("f.nesl", "", nesl_span::Origin::User);
        assert_eq!(from_bytes(&to_bytes(&program, &sources)), Ok((program, sources)));
    }
}

//! Checks the marks of last uses: whether they are those of the operands at which they stand, and whether nothing reads
//! a register after its last use, on any path; and those of results that come to lie one after another.

use super::Problem;
use crate::op::VectorOp;
use crate::program::{Block, Function, Instruction, Op, Operand, Register, Use};
use std::collections::HashSet;

/// What is wrong with the marks of a function that is sound otherwise, and at which instruction; none for the body.
pub(super) fn check(function: &Function) -> Vec<(Option<&Instruction>, Problem)> {
    let mut marks =
        Marks { function, is_spent: vec![false; function.registers.len()], spent: Vec::new(), found: Vec::new() };
    marks.block(&function.body, None);
    marks.found
}

struct Marks<'a> {
    function: &'a Function,
    /// The registers that must not be read again.
    is_spent: Vec<bool>,
    /// The same in the order in which they were read last.
    spent: Vec<Register>,
    found: Vec<(Option<&'a Instruction>, Problem)>,
}

impl<'a> Marks<'a> {
    /// Checks a block of `owner`, or the body.
    fn block(&mut self, block: &'a Block, owner: Option<&'a Instruction>) {
        for &register in &block.drops {
            self.read(owner, register);
            self.spend(register);
        }
        if !block.beside.is_empty() && !matches!(owner.map(|owner| &owner.op), Some(Op::Fused(_))) {
            self.found.push((owner, Problem::NotBeside));
        }
        for (at, instruction) in block.instructions.iter().enumerate() {
            self.uses(Some(instruction), &instruction.operands, &instruction.uses);
            for (position, _) in instruction.uses.iter().enumerate().filter(|(_, mark)| **mark == Use::InPlace) {
                if !instruction.may_overwrite(position, &self.function.registers) {
                    self.found.push((Some(instruction), Problem::NotInPlace { position }));
                }
            }
            if let Op::Fused(group) = &instruction.op {
                if !are_beside(&group.beside, &instruction.results, &block.instructions[at + 1..]) {
                    self.found.push((Some(instruction), Problem::NotBeside));
                }
                self.block(group, Some(instruction));
            }
            if let Op::If(then_block, else_block) = &instruction.op {
                let before = self.spent.len();
                self.block(then_block, Some(instruction));
                // The other block does not run after this one.
                let by_then = self.spent.split_off(before);
                self.set(&by_then, false);
                self.block(else_block, Some(instruction));
                self.set(&by_then, true);
                self.spent.extend(by_then);
            }
        }
        self.uses(owner, &block.results, &block.uses);
        for position in (0..block.uses.len()).filter(|&position| block.uses[position] == Use::InPlace) {
            self.found.push((owner, Problem::NotInPlace { position }));
        }
    }

    /// Reads operands in order.
    fn uses(&mut self, instruction: Option<&'a Instruction>, operands: &[Operand], uses: &[Use]) {
        if !uses.is_empty() && uses.len() != operands.len() {
            let problem = Problem::Marks { expected: operands.len(), found: uses.len() };
            return self.found.push((instruction, problem));
        }
        for (position, operand) in operands.iter().enumerate() {
            let Operand::Register(register) = *operand else { continue };
            self.read(instruction, register);
            if uses.get(position).is_some_and(|&mark| mark != Use::Kept) {
                self.spend(register);
            }
        }
    }

    fn read(&mut self, instruction: Option<&'a Instruction>, register: Register) {
        if self.is_spent.get(register.0 as usize) == Some(&true) {
            self.found.push((instruction, Problem::Spent(register)));
        }
    }

    fn spend(&mut self, register: Register) {
        self.spent.push(register);
        self.set(&[register], true);
    }

    fn set(&mut self, registers: &[Register], is_spent: bool) {
        for register in registers {
            if let Some(state) = self.is_spent.get_mut(register.0 as usize) {
                *state = is_spent;
            }
        }
    }
}

/// Whether each of the results of a group is said to lie beside others once at most, and later instructions put them
/// together so.
fn are_beside(beside: &[Vec<usize>], results: &[Register], later: &[Instruction]) -> bool {
    let mut seen = HashSet::new();
    beside.iter().all(|parts| {
        let operands: Option<Vec<Operand>> = parts.iter().map(|&part| results.get(part).map(|&it| it.into())).collect();
        let is_put = |instruction: &Instruction| {
            instruction.op == Op::Vector(VectorOp::Concat) && Some(&instruction.operands) == operands.as_ref()
        };
        parts.iter().all(|part| seen.insert(*part)) && later.iter().any(is_put)
    })
}

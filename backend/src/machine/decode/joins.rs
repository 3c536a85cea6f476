//! Conditionals that are merged again: of which elements around them those are that take a branch.
//!
//! ```text
//! %5 = pack %2 %1            the elements whose flag %1 is true
//! %6 = map divide.int 1 %5   its element k is that of the k-th true flag
//! %9 = merge %1 %6 %8
//! ```
//!
//! Only errors ask: they say on which element of all an operation failed. The flags are alive wherever one of the
//! operations between them and the merge fails; of what comes after their last use nothing is known.

use nesl_prim::ScalarOp;
use nesl_vcode::{Block, Function, Instruction, Op, Operand, Register, VectorOp};
use std::collections::{HashMap, HashSet};

/// Flags, and whether they have to be true or false.
pub(super) type Side = (Register, bool);

/// The sides of merges that elements of registers belong to. Of what a group gives, the register within counts.
#[derive(Default)]
pub(super) struct Joins {
    within: HashMap<Register, Register>,
    /// The flags of merges.
    merged: HashSet<Register>,
    negations: HashMap<Register, Register>,
    sides: HashMap<Register, Side>,
}

impl Joins {
    /// Those of a function.
    pub fn of(function: &Function) -> Joins {
        let mut joins = Joins::default();
        joins.merges(&function.body);
        if !joins.merged.is_empty() {
            joins.block(&function.body);
        }
        joins
    }

    fn merges(&mut self, block: &Block) {
        for instruction in &block.instructions {
            blocks(&instruction.op).into_iter().for_each(|block| self.merges(block));
            match (&instruction.op, &instruction.operands[..]) {
                (Op::Fused(group), _) => {
                    let given = instruction.results.iter().zip(&group.results);
                    self.within.extend(given.filter_map(|(&result, &value)| Some((result, value.register()?))));
                }
                (Op::Vector(VectorOp::Merge), &[Operand::Register(flags), ..]) => {
                    self.merged.insert(self.made(flags));
                }
                _ => {}
            }
        }
    }

    fn block(&mut self, block: &Block) {
        for instruction in &block.instructions {
            blocks(&instruction.op).into_iter().for_each(|block| self.block(block));
            let [result] = instruction.results[..] else { continue };
            let side = match (&instruction.op, &instruction.operands[..]) {
                (Op::Vector(VectorOp::Pack), &[_, Operand::Register(flags)]) => {
                    let flags = self.made(flags);
                    let sides = [Some((flags, true)), self.negations.get(&flags).map(|&whole| (whole, false))];
                    sides.into_iter().flatten().find(|(flags, _)| self.merged.contains(flags))
                }
                (Op::Map(ScalarOp::NotBool), &[Operand::Register(flags)]) => {
                    self.negations.insert(result, self.made(flags));
                    self.side(instruction)
                }
                _ => self.side(instruction),
            };
            self.sides.extend(side.map(|side| (result, side)));
        }
    }

    /// The register that an instruction other than a group defines.
    fn made(&self, mut register: Register) -> Register {
        while let Some(&within) = self.within.get(&register) {
            register = within;
        }
        register
    }

    /// The side that the elements belong to on which an instruction works.
    fn side(&self, instruction: &Instruction) -> Option<Side> {
        let side = |&operand: &Operand| self.sides.get(&self.made(operand.register()?)).copied();
        match &instruction.op {
            Op::Map(_) => instruction.operands.iter().find_map(side),
            Op::Vector(VectorOp::Merge) => side(&instruction.operands[0]),
            Op::Vector(op) => op.fusion().aligned().iter().find_map(|&index| side(&instruction.operands[index])),
            _ => None,
        }
    }

    /// The sides around an instruction, from the innermost outwards, as far as their flags are alive.
    pub fn around(&self, instruction: &Instruction) -> Vec<Side> {
        std::iter::successors(self.side(instruction), |(flags, _)| self.sides.get(flags).copied())
            .take_while(|(flags, _)| self.merged.contains(flags))
            .collect()
    }

    /// Notes that a register has been used for the last time.
    pub fn end(&mut self, register: Register) {
        self.merged.remove(&self.made(register));
    }
}

/// The blocks in an instruction.
fn blocks(op: &Op) -> Vec<&Block> {
    match op {
        Op::If(then_block, else_block) => vec![then_block, else_block],
        Op::Fused(group) => vec![group],
        _ => Vec::new(),
    }
}

//! The body of a function where it is called.

use super::sites::{self, Sites};
use crate::program::{Block, Function, Instruction, Op, Operand, Register, RegisterType};

/// The body of a callee as it is in its caller.
pub(crate) struct Body {
    /// What each register of the callee is there.
    values: Vec<Operand>,
    /// The register that its first one is there.
    first: Register,
    /// What its places are there.
    places: sites::Inner,
}

impl Body {
    /// The body of a function where it is called: all its registers but the parameters become new ones of the caller.
    pub fn at(call: &Instruction, callee: &Function, registers: &mut Vec<RegisterType>, sites: &mut Sites<'_>) -> Body {
        let first = registers.len();
        registers.extend(&callee.registers);
        let number = |index| Register(u32::try_from(first + index).unwrap_or(u32::MAX));
        let mut values: Vec<Operand> = (0..callee.registers.len()).map(|index| number(index).into()).collect();
        for (parameter, &argument) in callee.parameters.iter().zip(&call.operands) {
            values[parameter.0 as usize] = argument;
        }
        Body { values, first: number(0), places: sites.of(call, callee) }
    }

    pub fn value(&self, operand: Operand) -> Operand {
        match operand {
            Operand::Register(register) => self.values[register.0 as usize],
            Operand::Constant(_) => operand,
        }
    }

    pub fn block(&self, block: &Block) -> Block {
        Block::new(
            block.instructions.iter().map(|instruction| self.instruction(instruction)).collect(),
            block.results.iter().map(|&result| self.value(result)).collect(),
        )
    }

    pub fn instruction(&self, instruction: &Instruction) -> Instruction {
        let op = match &instruction.op {
            Op::If(then_block, else_block) => {
                Op::If(Box::new(self.block(then_block)), Box::new(self.block(else_block)))
            }
            Op::Fused(block) => Op::Fused(Box::new(self.block(block))),
            op => op.clone(),
        };
        let operands = instruction.operands.iter().map(|&operand| self.value(operand)).collect();
        let results = instruction.results.iter().map(|result| Register(self.first.0 + result.0)).collect();
        Instruction::new(op, operands, results, self.places.place(instruction.place))
    }
}

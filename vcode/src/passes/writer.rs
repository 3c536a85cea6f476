//! Instructions that a pass makes at one place, each for itself, with registers for what they give.

use crate::op::VectorOp;
use crate::program::{Instruction, Op, Operand, Place, Register};
use crate::register::RegisterType;

/// Makes instructions, in order.
pub(super) struct Writer<'a> {
    pub registers: &'a mut Vec<RegisterType>,
    pub instructions: Vec<Instruction>,
    pub place: Place,
}

impl<'a> Writer<'a> {
    /// Nothing yet, at a place of the program.
    pub fn at(place: Place, registers: &'a mut Vec<RegisterType>) -> Writer<'a> {
        Writer { registers, instructions: Vec::new(), place }
    }

    /// The type of an operand.
    pub fn type_of(&self, operand: Operand) -> RegisterType {
        match operand {
            Operand::Register(register) => self.registers[register.0 as usize],
            Operand::Constant(value) => RegisterType::Scalar(value.scalar_type()),
        }
    }

    /// Adds an instruction; what it gives.
    pub fn add(&mut self, op: Op, operands: &[Operand], ty: RegisterType) -> Operand {
        let result = Register::add(self.registers, ty);
        self.instructions.push(Instruction::new(op, operands.to_vec(), vec![result], self.place));
        result.into()
    }

    /// The same of a vector instruction.
    pub fn vector(&mut self, op: VectorOp, operands: &[Operand], ty: RegisterType) -> Operand {
        self.add(Op::Vector(op), operands, ty)
    }
}

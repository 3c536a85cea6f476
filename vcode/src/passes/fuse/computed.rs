//! Columns that follow from where their elements are: from indices, positions in segments, numbers of segments, and
//! where these begin. What is read by them lies near the elements that read it, or in rows; by others it may lie
//! anywhere.

use crate::op::VectorOp;
use crate::program::{Function, Instruction, Op, Operand, RegisterType};
use std::collections::HashSet;

/// The columns of a function that are computed so, and the descriptors of such starts and lengths.
pub(super) struct Computed(HashSet<Operand>);

impl Computed {
    /// Those of a function.
    pub fn of(function: &Function) -> Computed {
        let mut computed = Computed(HashSet::new());
        function.body.visit(&mut |instruction| computed.instruction(instruction, &function.registers));
        computed
    }

    /// Whether an operand is one of them, or no column.
    pub fn has(&self, operand: Operand) -> bool {
        match operand {
            Operand::Constant(_) => true,
            Operand::Register(_) => self.0.contains(&operand),
        }
    }

    fn instruction(&mut self, instruction: &Instruction, registers: &[RegisterType]) {
        let is_column = |operand: &&Operand| match operand {
            Operand::Constant(_) => false,
            Operand::Register(register) => !matches!(registers[register.0 as usize], RegisterType::Scalar(_)),
        };
        let all_of = |operands: &[Operand]| operands.iter().filter(is_column).all(|&operand| self.has(operand));
        let operands = &instruction.operands[..];
        let is_computed = match &instruction.op {
            Op::Map(_) | Op::Vector(VectorOp::Gather | VectorOp::Compact | VectorOp::View) => all_of(operands),
            Op::Vector(VectorOp::SegDist | VectorOp::Pack) => all_of(&operands[..1]),
            Op::Vector(VectorOp::Merge) => all_of(&operands[1..]),
            Op::Vector(op) => matches!(
                op,
                VectorOp::Iota
                    | VectorOp::SegIota
                    | VectorOp::Dist
                    | VectorOp::Starts
                    | VectorOp::Lengths
                    | VectorOp::Packed
            ),
            _ => false,
        };
        if is_computed {
            self.0.extend(instruction.results.iter().map(|&result| Operand::from(result)));
        }
    }
}

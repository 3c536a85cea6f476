//! Columns that follow from where their elements are: from indices, positions in segments, numbers of segments, and
//! where these begin. What is read by them lies near the elements that read it, or in rows; by others it may lie
//! anywhere.

use crate::op::{Class, Fusion};
use crate::program::{Function, Instruction, Op, Operand, RegisterType};
use nesl_prim::ScalarType;
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

    /// The row says whether an instruction makes elements from those at their places, or makes and takes apart
    /// descriptors. All columns of ints that it does so from have to be computed, and what says where its data are.
    fn instruction(&mut self, instruction: &Instruction, registers: &[RegisterType]) {
        let (is_placed, data): (bool, &[(usize, usize)]) = match instruction.op {
            Op::Map(_) => (true, &[]),
            Op::Vector(op) => {
                let is_in_loop = matches!(op.fusion(), Fusion::Element(_) | Fusion::Filter(_) | Fusion::Join(_));
                (op.class() != Class::Scan && (is_in_loop || op.class() == Class::Shape), op.data())
            }
            _ => return,
        };
        let is_so = |(position, &operand): (usize, &Operand)| match operand {
            Operand::Constant(_) => true,
            Operand::Register(register) => match registers[register.0 as usize] {
                RegisterType::Column(ScalarType::Int) => self.has(operand),
                RegisterType::Descriptor => data.iter().all(|pair| pair.1 != position) || self.has(operand),
                RegisterType::Column(_) | RegisterType::Scalar(_) => true,
            },
        };
        if is_placed && instruction.operands.iter().enumerate().all(is_so) {
            self.0.extend(instruction.results.iter().map(|&result| Operand::from(result)));
        }
    }
}

//! Columns that follow from where their elements are: from indices, positions in segments, numbers of segments, and
//! where these begin. What is read by them lies near the elements that read it, or in rows; by others it may lie
//! anywhere. And columns by which others are asked for, and those that only loops over their elements read: whether a
//! loop is to make them depends on that.

use crate::op::{Class, Fusion, VectorOp};
use crate::program::{Function, Instruction, Op, Operand, Register, RegisterType};
use nesl_prim::ScalarType;
use std::collections::{HashMap, HashSet};

/// What is known of the columns of a function.
pub(super) struct Computed {
    /// Those that are computed so, and the descriptors of such starts and lengths.
    columns: HashSet<Operand>,
    /// Others by which elements are gathered, and what these are computed from.
    asking: HashSet<Operand>,
    /// How often each is read, but by loops that go over its elements.
    elsewhere: HashMap<Operand, usize>,
}

impl Computed {
    /// Those of a function.
    pub fn of(function: &Function) -> Computed {
        let mut computed = Computed { columns: HashSet::new(), asking: HashSet::new(), elsewhere: HashMap::new() };
        function.body.visit_reads(&mut |register| *computed.elsewhere.entry(register.into()).or_default() += 1);
        let mut instructions = Vec::new();
        function.body.visit(&mut |instruction| {
            instructions.push(instruction);
            if is_over_elements(&instruction.op) {
                let mut read =
                    |register: Register| _ = computed.elsewhere.entry(register.into()).and_modify(|n| *n -= 1);
                instruction.visit_reads(&mut read);
            }
        });
        instructions.iter().for_each(|instruction| computed.instruction(instruction, &function.registers));
        instructions.iter().rev().for_each(|instruction| computed.asks(instruction));
        computed
    }

    /// Whether what an instruction gives is read by loops over its elements, and by nothing else.
    pub fn is_of_loops(&self, instruction: &Instruction) -> bool {
        instruction.results.iter().all(|&result| self.elsewhere.get(&result.into()).is_none_or(|&count| count == 0))
    }

    /// Whether elements are gathered by what an instruction gives, and these may lie anywhere. What is asked for then is
    /// kept with the column of indices, so that one had better not be made again and again.
    pub fn is_asking(&self, instruction: &Instruction) -> bool {
        instruction.results.iter().any(|&result| self.asking.contains(&Operand::from(result)))
    }

    fn asks(&mut self, instruction: &Instruction) {
        match instruction.op {
            Op::Vector(VectorOp::Gather) if !self.has(instruction.operands[1]) => {
                self.asking.insert(instruction.operands[1]);
            }
            _ if is_over_elements(&instruction.op) && self.is_asking(instruction) => {
                self.asking.extend(&instruction.operands);
            }
            _ => {}
        }
    }

    /// Whether an operand is one of them, or no column.
    pub fn has(&self, operand: Operand) -> bool {
        match operand {
            Operand::Constant(_) => true,
            Operand::Register(_) => self.columns.contains(&operand),
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
            self.columns.extend(instruction.results.iter().map(|&result| Operand::from(result)));
        }
    }
}

/// Whether an instruction goes over the elements of its operands, one after another.
fn is_over_elements(op: &Op) -> bool {
    match op {
        Op::Map(_) => true,
        Op::Vector(op) => {
            op.operator_in(Class::Reduce).is_some() || matches!(op.fusion(), Fusion::Filter(_) | Fusion::Join(_))
        }
        _ => false,
    }
}

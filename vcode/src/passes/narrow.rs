//! Columns of ints that are known to be 0 to 255 are columns of bytes.
//!
//! ```text
//! %4 = fused {                              %4 = fused {
//!   %3 = map select.int %1 2 1                %3 = map select.int %1 2 1
//!   yield %3                                  %8 = map low_byte %3
//! }                                           yield %8
//! %5 = slice %4 0 %2                        }
//! %7 = fused {                              %5 = slice %4 0 %2
//!   %6 = map equal.int %5 2                 %7 = fused {
//!   yield %6                                  %9 = map char_to_code %5
//! }                                           %6 = map equal.int %9 2
//!                                             yield %6
//!                                           }
//! ```
//!
//! Kinds of characters, states, digits and small remainders take an eighth of the memory, and what computes with them
//! alone computes with many at once. Only what goes through memory changes: it comes after the making of groups, and
//! within a group ints are ints. Columns that are moved into one another change together ([`classes`]): all of them
//! come out of groups or are constants, and are read by groups, or element by element.

mod classes;

use crate::fusion::aligned;
use crate::op::VectorOp;
use crate::program::{Block, Instruction, Op, Operand, Program, Register, RegisterType};
use nesl_prim::{Constants, ScalarOp, ScalarType, ScalarValue};
use std::collections::{HashMap, HashSet};

/// Narrows columns in all functions.
pub fn run(program: &mut Program) {
    for function in &mut program.functions {
        let chosen = classes::chosen(function);
        if chosen.is_empty() {
            continue;
        }
        for &column in &chosen {
            function.registers[column.0 as usize] = RegisterType::Column(ScalarType::Char);
        }
        let body = std::mem::take(&mut function.body);
        function.body = Narrowing { chosen, registers: &mut function.registers }.block(body);
    }
}

/// The operands of which an instruction moves elements to its result, as they are.
fn moved(instruction: &Instruction) -> Vec<usize> {
    match instruction.op {
        Op::Vector(op) => op.moved(instruction.operands.len()),
        _ => Vec::new(),
    }
}

/// The scalars that an instruction makes a column of.
fn values(instruction: &Instruction) -> &[Operand] {
    match instruction.op {
        Op::Vector(VectorOp::Dist) => &instruction.operands[..1],
        _ => &instruction.operands,
    }
}

/// The operands of which an instruction of a group reads the element at the index.
fn read_at_index(instruction: &Instruction, registers: &[RegisterType]) -> Vec<usize> {
    let type_of = |operand: Operand| match operand {
        Operand::Register(register) => registers[register.0 as usize],
        Operand::Constant(value) => RegisterType::Scalar(value.scalar_type()),
    };
    aligned(&instruction.op, &instruction.operands, type_of).unwrap_or_default()
}

struct Narrowing<'a> {
    chosen: HashSet<Register>,
    registers: &'a mut Vec<RegisterType>,
}

impl Narrowing<'_> {
    fn is_chosen(&self, operand: Operand) -> bool {
        operand.register().is_some_and(|register| self.chosen.contains(&register))
    }

    /// A block of the program.
    fn block(&mut self, block: Block) -> Block {
        let mut instructions = Vec::with_capacity(block.instructions.len());
        for mut instruction in block.instructions {
            match &mut instruction.op {
                Op::If(then_block, else_block) => {
                    for block in [then_block, else_block] {
                        **block = self.block(std::mem::take(block));
                    }
                }
                Op::Fused(group) => {
                    **group = self.group(std::mem::take(group), &instruction.results);
                }
                Op::Constants(constants) if self.chosen.contains(&instruction.results[0]) => narrow(constants),
                Op::Vector(VectorOp::Dist | VectorOp::Build) if self.chosen.contains(&instruction.results[0]) => {
                    let count = values(&instruction).len();
                    instruction.operands[..count].iter_mut().for_each(|value| *value = code(*value));
                }
                Op::Vector(VectorOp::Extract) if self.is_chosen(instruction.operands[0]) => {
                    let code = self.widen(&mut instruction, Op::Scalar, RegisterType::Scalar);
                    instructions.push(instruction);
                    instructions.push(code);
                    continue;
                }
                _ => {}
            }
            instructions.push(instruction);
        }
        Block::new(instructions, block.results)
    }

    /// Lets an instruction give bytes, and another one give their codes to those who read its result.
    fn widen(
        &mut self,
        instruction: &mut Instruction,
        op: fn(ScalarOp) -> Op,
        of: fn(ScalarType) -> RegisterType,
    ) -> Instruction {
        let byte = Register::add(self.registers, of(ScalarType::Char));
        let result = std::mem::replace(&mut instruction.results[0], byte);
        Instruction::new(op(ScalarOp::CharToCode), vec![byte.into()], vec![result], instruction.place)
    }

    /// A group, which reads bytes as ints and yields ints as bytes.
    fn group(&mut self, group: Block, results: &[Register]) -> Block {
        let mut members: Vec<Instruction> = Vec::with_capacity(group.instructions.len());
        let mut codes: HashMap<Register, Register> = HashMap::new();
        for mut member in group.instructions {
            for position in read_at_index(&member, self.registers) {
                let Some(column) = member.operands[position].register().filter(|it| self.chosen.contains(it)) else {
                    continue;
                };
                let code = *codes.entry(column).or_insert_with(|| {
                    let ints = Register::add(self.registers, RegisterType::Column(ScalarType::Int));
                    let op = Op::Map(ScalarOp::CharToCode);
                    members.push(Instruction::new(op, vec![column.into()], vec![ints], member.place));
                    ints
                });
                member.operands[position] = code.into();
            }
            let data = moved(&member);
            let widened = data.iter().any(|&position| self.is_chosen(member.operands[position]));
            let code = widened.then(|| self.widen(&mut member, Op::Map, RegisterType::Column));
            members.push(member);
            members.extend(code);
        }
        let mut yields = group.results;
        for (value, result) in yields.iter_mut().zip(results) {
            if self.chosen.contains(result) {
                let byte = Register::add(self.registers, RegisterType::Column(ScalarType::Char));
                let place = members[members.len() - 1].place;
                members.push(Instruction::new(Op::Map(ScalarOp::LowByte), vec![*value], vec![byte], place));
                *value = byte.into();
            }
        }
        Block::new(members, yields)
    }
}

fn narrow(constants: &mut Constants) {
    if let Constants::Int(values) = constants {
        *constants = Constants::Char(values.iter().map(|&value| value as u8).collect());
    }
}

/// A constant as the character with that code.
fn code(constant: Operand) -> Operand {
    match constant {
        Operand::Constant(ScalarValue::Int(value)) => Operand::Constant(ScalarValue::Char(value as u8)),
        other => other,
    }
}

#[cfg(test)]
mod tests;

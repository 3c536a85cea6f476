//! *Code sinking* (Knoop, Rüthing, Steffen, *Partial dead code elimination*, PLDI 1994): a range, or one value
//! everywhere, that only one block of an `if` reads is made in that block.
//!
//! ```text
//! %2 = iota %0                           %4 = if %1 {
//! %4 = if %1 {                             %2 = iota %0
//!   %3 = reduce.add.int %2                 %3 = reduce.add.int %2
//!   yield %3                               yield %3
//! } else { yield 0 }                     } else { yield 0 }
//! ```
//!
//! What is made of scalars alone, and cannot fail, can be made anywhere behind these. A parameter that is a range
//! ([`call_pattern`](super::call_pattern)) would otherwise be made in each turn of a loop that goes over it in its last
//! turn.

use crate::passes::effect::has_effect;
use crate::program::{Block, Instruction, Op, Operand, Program, Register, RegisterType};
use std::collections::{HashMap, HashSet};

/// Sinks in all functions.
pub fn run(program: &mut Program) {
    for function in &mut program.functions {
        sink(&mut function.body, &function.registers);
    }
}

/// What reads a register: an instruction of the block, by its position, or one of its own blocks alone.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Reader {
    Instruction(usize),
    Then(usize),
    Else(usize),
    Results,
}

/// Sinks what is in a block, from there on into the blocks of its `if`s.
fn sink(block: &mut Block, registers: &[RegisterType]) {
    let mut readers = readers(block);
    let of_scalars = of_scalars(block, registers);
    let mut sunk: HashMap<Reader, Vec<Instruction>> = HashMap::new();
    let mut goes = vec![false; block.instructions.len()];
    for &at in of_scalars.iter().rev() {
        let instruction = &block.instructions[at];
        let of = readers.get(&instruction.results[0]).map(|of| of.iter().copied().collect::<Vec<_>>());
        let Some([reader @ (Reader::Then(_) | Reader::Else(_))]) = of.as_deref() else { continue };
        for register in instruction.operands.iter().filter_map(|operand| operand.register()) {
            let of = readers.entry(register).or_default();
            of.remove(&Reader::Instruction(at));
            of.insert(*reader);
        }
        sunk.entry(*reader).or_default().push(instruction.clone());
        goes[at] = true;
    }
    for (at, instruction) in block.instructions.iter_mut().enumerate() {
        let Op::If(then_block, else_block) = &mut instruction.op else { continue };
        for (block, reader) in [(then_block, Reader::Then(at)), (else_block, Reader::Else(at))] {
            let first = sunk.remove(&reader).unwrap_or_default();
            block.instructions.splice(0..0, first.into_iter().rev());
            sink(block, registers);
        }
    }
    let mut goes = goes.into_iter();
    block.instructions.retain(|_| !goes.next().unwrap_or(false));
}

/// What reads each register.
fn readers(block: &Block) -> HashMap<Register, HashSet<Reader>> {
    let mut readers: HashMap<Register, HashSet<Reader>> = HashMap::new();
    let mut add = |register: Register, reader| {
        readers.entry(register).or_default().insert(reader);
    };
    for (at, instruction) in block.instructions.iter().enumerate() {
        match &instruction.op {
            Op::If(then_block, else_block) => {
                instruction
                    .operands
                    .iter()
                    .filter_map(|it| it.register())
                    .for_each(|it| add(it, Reader::Instruction(at)));
                then_block.visit_reads(&mut |register| add(register, Reader::Then(at)));
                else_block.visit_reads(&mut |register| add(register, Reader::Else(at)));
            }
            _ => instruction.visit_reads(&mut |register| add(register, Reader::Instruction(at))),
        }
    }
    block.results.iter().filter_map(|result| result.register()).for_each(|result| add(result, Reader::Results));
    readers
}

/// Where a block makes columns of scalars alone, or of columns that were made so: the positions of the instructions.
fn of_scalars(block: &Block, registers: &[RegisterType]) -> Vec<usize> {
    let is_column = |register: Register| matches!(registers[register.0 as usize], RegisterType::Column(_));
    let (mut made, mut positions) = (HashSet::<Register>::new(), Vec::new());
    for (at, instruction) in block.instructions.iter().enumerate() {
        let is_pure = match &instruction.op {
            Op::Map(_) => !has_effect(&instruction.op, &instruction.operands),
            Op::Vector(op) => op.is_source() && instruction.results.iter().all(|&result| is_column(result)),
            _ => false,
        };
        let is_scalar = |register: Register| matches!(registers[register.0 as usize], RegisterType::Scalar(_));
        let is_known = |operand: &Operand| operand.register().is_none_or(|it| is_scalar(it) || made.contains(&it));
        if is_pure && instruction.operands.iter().all(is_known) {
            made.extend(&instruction.results);
            positions.push(at);
        }
    }
    positions
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::testing;

    const HEADER: &str = "(%0: int, %1: bool, %2: column int)";

    #[track_caller]
    fn becomes(types: &str, before: &str, after: &str) {
        testing::body_becomes(run, &format!("{HEADER} -> {types}"), before, after);
    }

    #[test]
    fn what_one_block_reads_is_made_there() {
        becomes(
            "int, column int",
            "%3 = iota %0
             %4 = map add.int %3 7
             %5 = dist %0 9
             %8, %9 = if %1 {
               %6 = reduce.add.int %4
               %7 = if %1 { yield %3 } else { yield %2 }
               yield %6 %7
             } else { yield 0 %5 }
             return %8 %9",
            "%8, %9 = if %1 {
               %3 = iota %0
               %4 = map add.int %3 7
               %6 = reduce.add.int %4
               %7 = if %1 { yield %3 } else { yield %2 }
               yield %6 %7
             } else {
               %5 = dist %0 9
               yield 0 %5
             }
             return %8 %9",
        );
        // Into blocks in blocks.
        becomes(
            "column int",
            "%3 = iota %0
             %5 = if %1 {
               %4 = if %1 { yield %3 } else { yield %2 }
               yield %4
             } else { yield %2 }
             return %5",
            "%5 = if %1 {
               %4 = if %1 {
                 %3 = iota %0
                 yield %3
               } else { yield %2 }
               yield %4
             } else { yield %2 }
             return %5",
        );
    }

    #[test]
    fn what_both_read_or_others_or_what_reads_memory_stays() {
        for (made, read) in
            [("iota %0", "yield %3"), ("map add.int %2 1", "yield %2"), ("map divide.int 1 %2", "yield %2")]
        {
            let body = format!("%3 = {made}\n%4 = if %1 {{ yield %3 }} else {{ {read} }}\nreturn %4");
            becomes("column int", &body, &body);
        }
        let body = "%3 = iota %0\n%4 = if %1 { yield %3 } else { yield %2 }\nreturn %3 %4";
        becomes("column int, column int", body, body);
    }
}

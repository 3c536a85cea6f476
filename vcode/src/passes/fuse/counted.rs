//! Columns that leave a group only to be counted: another column of the same elements has the same length.
//!
//! `{x*x+1.0 : x in v | x > 0.0}` needs the length of what was picked, and the squares. What was picked has no other
//! reader outside the loop, and the squares are as many: so only they are written.

use super::Item;
use crate::fusion::Group;
use crate::op::VectorOp;
use crate::program::{Instruction, Op, Operand, Register, RegisterType};
use std::collections::HashMap;

/// Lets lengths be read off columns that other instructions need, too.
pub(super) fn run(items: &mut [Item], registers: &[RegisterType], results: &[Operand]) {
    // How often each register is read, and how often by `length`.
    let mut reads: HashMap<Register, (usize, usize)> = HashMap::new();
    for Item { instruction, .. } in items.iter() {
        instruction.visit_reads(&mut |register| reads.entry(register).or_default().0 += 1);
        if let Some(counted) = counted(instruction) {
            reads.entry(counted).or_default().1 += 1;
        }
    }
    for result in results {
        if let Operand::Register(register) = result {
            reads.entry(*register).or_default().0 += 1;
        }
    }
    let is_counted_only = |register: Register| reads.get(&register).is_some_and(|(all, lengths)| all == lengths);
    let mut instead: HashMap<Register, Register> = HashMap::new();
    for Item { instruction, .. } in items.iter_mut() {
        let Op::Fused(block) = &mut instruction.op else { continue };
        let mut group = Group::default();
        block.instructions.iter().for_each(|member| {
            group.admit(member, registers, |_| true);
        });
        let filter = |operand: &Operand| match operand {
            Operand::Register(register) => group.filter_of(*register),
            Operand::Constant(_) => None,
        };
        let filters: Vec<Option<usize>> = block.results.iter().map(filter).collect();
        let columns = || instruction.results.iter().zip(&filters);
        let replaced: Vec<Option<Register>> = columns()
            .map(|(&result, own)| {
                let mut others = columns().filter(|(other, filter)| filter == &own && !is_counted_only(**other));
                own.filter(|_| is_counted_only(result)).and(others.next().map(|(&other, _)| other))
            })
            .collect();
        instead.extend(instruction.results.iter().zip(&replaced).filter_map(|(&from, &to)| Some((from, to?))));
        let keep: Vec<bool> = replaced.iter().map(Option::is_none).collect();
        crate::passes::copy::retain(&mut instruction.results, &keep);
        crate::passes::copy::retain(&mut block.results, &keep);
    }
    for Item { instruction, .. } in items.iter_mut() {
        if let Some(&other) = counted(instruction).and_then(|column| instead.get(&column)) {
            instruction.operands[0] = other.into();
        }
    }
}

/// The column whose length an instruction is.
fn counted(instruction: &Instruction) -> Option<Register> {
    match (&instruction.op, instruction.operands.as_slice()) {
        (Op::Vector(VectorOp::Length), &[Operand::Register(column)]) => Some(column),
        _ => None,
    }
}

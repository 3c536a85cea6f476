//! Rows that stay are not copied: where one branch of a conditional over the segments of a nested sequence hands them
//! on as they are, and the other makes segments that are as long as those it gets, the result is the old data with
//! these written over.
//!
//! ```text
//! {if i <= k then row else f(row) : row in m; i in index(#m)}
//!
//!     if (no row changes) { yield m } else {
//!       %p = packed (lengths %m)
//!       %c = compact %data %m                          // itself, as soon as it is packed
//!       %others = view (pack (starts %p) %changes) (pack (lengths %m) %changes)
//!       …what f makes of the elements of %c that %others cuts out: %rows…
//!       %d = seg_scatter %c %others %rows
//!       yield %p %d
//!     }
//! ```
//!
//! In a loop the old data dies there, and a turn takes as many steps as elements change. Segments may overlap or be the
//! same ones: so the data is compacted first, which costs nothing from the second turn on, and never more than to copy
//! the rows that stay. Parts of the old data that the other branch reads beside its own segments, as a pivot row, are
//! copied before: else nothing could be written over while they are there.
//!
//! Where it is not known how long the new segments are, all stays as it is.

mod conditional;

use crate::op::VectorOp;
use crate::passes::effect;
use crate::passes::writer::Writer;
use crate::program::{Block, Function, Instruction, Op, Operand, Program, Register, RegisterType};
use conditional::{Conditional, Definitions};
use nesl_prim::{ScalarOp, ScalarType};
use std::collections::HashMap;

/// Keeps rows in all functions.
pub fn run(program: &mut Program) {
    for function in &mut program.functions {
        while let Some(found) = find(function) {
            let Function { registers, body, .. } = function;
            keep(block_at(body, &found.path), registers, &found);
        }
    }
}

/// A conditional of which one branch hands on what it gets.
struct Found {
    /// The block that it stands in: which branch of which instruction, from the body on.
    path: Vec<(usize, bool)>,
    /// Where the branches and what puts them together stand.
    stays: usize,
    changes: usize,
    join: usize,
    /// The flags, and whether those that are true are of what stays.
    flags: Operand,
    true_stays: bool,
    /// The whole sequence.
    descriptor: Operand,
    data: Vec<Operand>,
    /// What of it the other branch gets.
    selected: Operand,
    /// Parts of the data that the other branch reads.
    slices: Vec<Instruction>,
}

fn find(function: &Function) -> Option<Found> {
    let definitions = Definitions::of(function);
    let mut reads = vec![0; function.registers.len()];
    function.body.visit_reads(&mut |register| reads[register.0 as usize] += 1);
    let search = Search { definitions: &definitions, function, reads };
    search.block(&function.body, &mut Vec::new())
}

struct Search<'a> {
    definitions: &'a Definitions<'a>,
    function: &'a Function,
    /// How often each register is read.
    reads: Vec<usize>,
}

impl<'a> Search<'a> {
    fn block(&self, block: &'a Block, path: &mut Vec<(usize, bool)>) -> Option<Found> {
        for (position, instruction) in block.instructions.iter().enumerate() {
            let Op::If(then_block, else_block) = &instruction.op else { continue };
            if let Some(found) = self.conditional(block, position, path) {
                return Some(found);
            }
            for (inner, branch) in [(then_block, true), (else_block, false)] {
                path.push((position, branch));
                let found = self.block(inner, path);
                path.pop();
                if found.is_some() {
                    return found;
                }
            }
        }
        None
    }

    /// The conditional that an instruction of a block puts together, if it is one that keeps rows.
    fn conditional(&self, block: &'a Block, join: usize, path: &[(usize, bool)]) -> Option<Found> {
        let conditional = Conditional::of(self.definitions, &block.instructions[join])?;
        [true, false].into_iter().find_map(|true_stays| {
            let (descriptor, data) = conditional.handed_on(self.definitions, true_stays)?;
            let selected = conditional.selected(self.definitions, !true_stays, descriptor)?;
            let [stays, changes] = [true_stays, !true_stays].map(|is_true| {
                let side = conditional.side(is_true);
                let is_it = |instruction: &Instruction| instruction.results == side.results();
                block.instructions[..join].iter().position(is_it)
            });
            let (stays, changes) = (stays?, changes?);
            let is_so = conditional.keeps_lengths(self.definitions, !true_stays, selected)
                && self.can_move(block, join, [stays, changes]);
            is_so.then(|| Found {
                path: path.to_vec(),
                stays,
                changes,
                join,
                flags: conditional.flags,
                true_stays,
                descriptor,
                slices: self.slices(&data, conditional.side(!true_stays).block),
                data,
                selected,
            })
        })
    }

    /// Whether branches can run where they are put together: nothing else reads what they give, and of those
    /// instructions and what stands between nothing but the branch that changes segments has an effect.
    fn can_move(&self, block: &Block, join: usize, branches: [usize; 2]) -> bool {
        let mut inside: HashMap<Register, usize> = HashMap::new();
        block.instructions[join].visit_reads(&mut |register| *inside.entry(register).or_default() += 1);
        let is_read_there = |&branch: &usize| {
            let mut results = block.instructions[branch].results.iter();
            results.all(|result| inside.get(result) == Some(&self.reads[result.0 as usize]))
        };
        let has_effect = |index: usize| {
            let Instruction { op, operands, .. } = &block.instructions[index];
            effect::has_effect(op, operands)
        };
        let [stays, changes] = branches;
        branches.iter().all(is_read_there)
            && (stays.min(changes)..join).all(|index| index == changes || !has_effect(index))
    }

    /// The slices of columns that a block reads, made before it.
    fn slices(&self, data: &[Operand], block: &Block) -> Vec<Instruction> {
        let mut read = vec![false; self.function.registers.len()];
        block.visit_reads(&mut |register| read[register.0 as usize] = true);
        block.visit(&mut |instruction| {
            instruction.results.iter().for_each(|&own| read[own.0 as usize] = false);
        });
        let mut slices = Vec::new();
        self.function.body.visit(&mut |instruction| {
            let is_part = instruction.op == Op::Vector(VectorOp::Slice) && data.contains(&instruction.operands[0]);
            if is_part && read[instruction.results[0].0 as usize] {
                slices.push(instruction.clone());
            }
        });
        slices
    }
}

fn block_at<'a>(body: &'a mut Block, path: &[(usize, bool)]) -> &'a mut Block {
    path.iter().fold(body, |block, &(position, branch)| match &mut block.instructions[position].op {
        Op::If(then_block, else_block) => {
            if branch {
                then_block
            } else {
                else_block
            }
        }
        _ => unreachable!("the path leads through branches"),
    })
}

/// Writes what changes over what was there.
fn keep(block: &mut Block, registers: &mut Vec<RegisterType>, found: &Found) {
    let stays = block.instructions[found.stays].clone();
    let changes = block.instructions[found.changes].clone();
    let join = &mut block.instructions[found.join];
    let Op::If(_, made) = changes.op else { unreachable!("a branch is a block of an if") };
    let mut writer = Writer::at(join.place, registers);
    let results = writer.written(*made, found);
    let changed = Block::new(writer.instructions, results);
    let handed_on = stays.results.iter().map(|&result| result.into()).collect();
    join.op = Op::If(Box::new(Block::new(vec![stays], handed_on)), Box::new(changed));
    join.operands = changes.operands;
    let gone = [found.stays.max(found.changes), found.stays.min(found.changes)];
    gone.into_iter().for_each(|index| drop(block.instructions.remove(index)));
}

const INTS: RegisterType = RegisterType::Column(ScalarType::Int);
const BOOLS: RegisterType = RegisterType::Column(ScalarType::Bool);

impl Writer<'_> {
    /// The whole sequence with what a block makes of the selected segments over them.
    fn written(&mut self, made: Block, found: &Found) -> Vec<Operand> {
        let lengths = self.vector(VectorOp::Lengths, &[found.descriptor], INTS);
        let packed = self.vector(VectorOp::Packed, &[lengths], RegisterType::Descriptor);
        let compacted: Vec<Operand> = found
            .data
            .iter()
            .map(|&column| {
                let ty = self.type_of(column);
                self.vector(VectorOp::Compact, &[column, found.descriptor], ty)
            })
            .collect();
        let flags = match found.true_stays {
            true => self.add(Op::Map(ScalarOp::NotBool), &[found.flags], BOOLS),
            false => found.flags,
        };
        let starts = self.vector(VectorOp::Starts, &[packed], INTS);
        let [starts, lengths] = [starts, lengths].map(|column| self.vector(VectorOp::Pack, &[column, flags], INTS));
        let others = self.vector(VectorOp::View, &[starts, lengths], RegisterType::Descriptor);
        let mut reader = Reader { found, compacted: &compacted, others, lengths, names: HashMap::new() };
        for slice in &found.slices {
            let copy = self.copy_of(slice);
            reader.names.insert(slice.results[0].into(), copy);
        }
        let Block { mut instructions, mut results, .. } = made;
        reader.instructions(&mut instructions);
        reader.rename(&mut results);
        self.instructions.append(&mut instructions);
        let (&rows, columns) = results.split_first().unwrap_or_else(|| unreachable!("a nested sequence"));
        let data = columns.iter().zip(&compacted).map(|(&column, &old)| {
            let ty = self.type_of(old);
            let values = self.vector(VectorOp::Compact, &[column, rows], ty);
            self.vector(VectorOp::SegScatter, &[old, others, values], ty)
        });
        std::iter::once(packed).chain(data.collect::<Vec<Operand>>()).collect()
    }

    /// A part of a column in memory of its own.
    fn copy_of(&mut self, slice: &Instruction) -> Operand {
        let &[column, start, length] = slice.operands.as_slice() else { unreachable!("a slice of a column") };
        let indices = self.vector(VectorOp::Iota, &[length], INTS);
        let indices = self.add(Op::Map(ScalarOp::AddInt), &[indices, start], INTS);
        let ty = self.type_of(column);
        self.vector(VectorOp::Gather, &[column, indices], ty)
    }
}

/// Lets instructions read from where the result is made.
struct Reader<'a> {
    found: &'a Found,
    /// The data, and in it the segments that change, with their lengths.
    compacted: &'a [Operand],
    others: Operand,
    lengths: Operand,
    names: HashMap<Operand, Operand>,
}

impl Reader<'_> {
    fn instructions(&mut self, instructions: &mut [Instruction]) {
        for instruction in instructions {
            self.rename(&mut instruction.operands);
            match &mut instruction.op {
                Op::Vector(VectorOp::Lengths) if instruction.operands[0] == self.found.selected => {
                    self.names.insert(instruction.results[0].into(), self.lengths);
                }
                Op::Vector(op) => {
                    for &(column, descriptor) in op.data() {
                        let operands = &mut instruction.operands;
                        let position = self.found.data.iter().position(|&data| data == operands[column]);
                        if let (Some(position), true) = (position, operands[descriptor] == self.found.selected) {
                            (operands[column], operands[descriptor]) = (self.compacted[position], self.others);
                        }
                    }
                }
                Op::If(then_block, else_block) => {
                    for block in [then_block, else_block] {
                        self.instructions(&mut block.instructions);
                        self.rename(&mut block.results);
                    }
                }
                _ => {}
            }
        }
    }

    fn rename(&self, operands: &mut [Operand]) {
        operands.iter_mut().for_each(|operand| *operand = self.names.get(operand).copied().unwrap_or(*operand));
    }
}

#[cfg(test)]
mod tests;

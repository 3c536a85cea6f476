//! What the blocks of an `if` reduce is reduced in front of it, where that is all that a column is made for.
//!
//! ```text
//! x = gather states places                        x = gather states places
//! p = map equal.int x 1                           p = map equal.int x 1
//! a = reduce.or.bool p                            a = reduce.or.bool p
//! r = if a { yield 2 } else {                     q = map equal.int x 2
//!   q = map equal.int x 2                         b = reduce.and.bool q
//!   b = reduce.and.bool q                         r = if a { yield 2 } else {
//!   s = select.int b 1 0                            s = select.int b 1 0
//!   yield s                                         yield s
//! }                                               }
//! ```
//!
//! Of `if any({… : x in v}) then … else if all({… : x in v}) …` both questions are then asked in one loop, in which `x`
//! is never in memory: to write and to read an element costs more than to ask in vain. This is *speculation*. It is
//! done where nothing that moves can fail, where little is computed for each element, and where no column is left that
//! the blocks, or anybody else, read in another way. Columns that are as long as one another in a block need not be so
//! in front of it: what moves reads columns that one loop makes.

use crate::fusion::{Extent, MEMORY, aligned};
use crate::op::{Class, Fusion};
use crate::passes::copy::retain;
use crate::passes::effect::has_effect;
use crate::passes::fuse::lengths::Lengths;
use crate::program::{Block, Function, Instruction, Op, Operand, Program, Register, RegisterType};
use std::collections::{HashMap, HashSet};

/// Speculates in all functions.
pub fn run(program: &mut Program) {
    for function in &mut program.functions {
        let mut body = std::mem::take(&mut function.body);
        let lengths = Lengths::new(function.registers.len());
        Walk { function, lengths, now: 0 }.block(&mut body);
        function.body = body;
    }
}

/// A walk through a function.
struct Walk<'a> {
    function: &'a Function,
    /// Which columns are known to be equally long, and how many instructions have said so.
    lengths: Lengths,
    now: usize,
}

impl Walk<'_> {
    /// Takes reductions out of the `if`s of a block, those inside of others first.
    fn block(&mut self, block: &mut Block) {
        let mut instructions = Vec::with_capacity(block.instructions.len());
        let mut rest = std::mem::take(&mut block.instructions).into_iter();
        while let Some(mut instruction) = rest.next() {
            if let Op::If(then_block, else_block) = &mut instruction.op {
                self.inside(|walk| walk.block(then_block));
                self.inside(|walk| walk.block(else_block));
                let later = reads(|visit| {
                    rest.as_slice().iter().for_each(|instruction| instruction.visit_reads(visit));
                    block.results.iter().copied().filter_map(Operand::register).for_each(visit);
                });
                let made = self.made(&instructions, &later);
                let moved = self.inside(|walk| walk.moved(&instruction, made));
                take(&mut instruction, &moved.iter().map(|instruction| instruction.results[0]).collect());
                moved.iter().for_each(|instruction| self.learn(instruction));
                instructions.extend(moved);
            }
            self.learn(&instruction);
            instructions.push(instruction);
        }
        block.instructions = instructions;
    }

    fn learn(&mut self, instruction: &Instruction) {
        self.now += 1;
        self.lengths.learn(instruction, &self.function.registers, self.now);
    }

    /// Does something after which is forgotten what was learnt.
    fn inside<T>(&mut self, act: impl FnOnce(&mut Self) -> T) -> T {
        let known = self.lengths.known();
        let result = act(self);
        self.lengths.forget(known);
        result
    }

    /// The columns that loops make, and that nothing reads but loops over their elements.
    fn made(&self, before: &[Instruction], later: &HashMap<Register, usize>) -> HashSet<Register> {
        let mut made = HashSet::new();
        for instruction in before {
            let at_index = self.at_index(instruction);
            instruction.visit_reads(&mut |register| {
                if !at_index.contains(&register) {
                    made.remove(&register);
                }
            });
            let is_made = match instruction.op {
                Op::Map(_) => true,
                Op::Vector(op) => {
                    matches!(op.fusion(), Fusion::Element(_) | Fusion::Filter(_) | Fusion::Join(_)) && !op.is_source()
                }
                _ => false,
            };
            made.extend(instruction.results.iter().copied().filter(|result| is_made && !later.contains_key(result)));
        }
        made
    }

    /// The registers that an instruction reads at the index of a loop.
    fn at_index(&self, instruction: &Instruction) -> Vec<Register> {
        let operands = &instruction.operands;
        let positions = aligned(&instruction.op, operands, |operand| self.function.operand_type(operand));
        positions.unwrap_or_default().into_iter().filter_map(|position| operands[position].register()).collect()
    }

    /// What of an `if` moves in front of it, where these columns are made.
    fn moved(&mut self, choice: &Instruction, made: HashSet<Register>) -> Vec<Instruction> {
        let Op::If(then_block, else_block) = &choice.op else { return Vec::new() };
        let (mut inside, mut all) = (HashSet::<Register>::new(), Vec::new());
        for block in [then_block, else_block] {
            block.visit(&mut |instruction| {
                inside.extend(&instruction.results);
                all.push(instruction);
            });
        }
        let mut columns = made;
        all.retain(|instruction| {
            let is_ready = |&operand: &Operand| match operand {
                Operand::Register(register) if self.is_column(register) => columns.contains(&register),
                Operand::Register(register) => !inside.contains(&register),
                Operand::Constant(_) => true,
            };
            let moves = moves(instruction) && instruction.operands.iter().all(is_ready) && self.are_alike(instruction);
            if moves {
                columns.extend(&instruction.results);
                self.learn(instruction);
            }
            moves
        });
        let moved = needed(&all);
        let cost: usize = moved.iter().filter_map(|instruction| cost(instruction)).sum();
        let within = reads(|visit| choice.visit_reads(visit));
        let by_moved = reads(|visit| moved.iter().for_each(|instruction| instruction.visit_reads(visit)));
        let is_left = |(own, count): (&Register, &usize)| self.is_column(*own) && within[own] > *count;
        if cost > MEMORY || by_moved.iter().any(is_left) {
            return Vec::new();
        }
        moved.into_iter().cloned().collect()
    }

    /// Whether the columns that an instruction reads at the index are known to be equally long.
    fn are_alike(&self, instruction: &Instruction) -> bool {
        let is_same = |pair: &[Register]| {
            let [one, other] = [pair[0], pair[1]].map(Extent::Column);
            self.lengths.same(one, other, self.now)
        };
        self.at_index(instruction).windows(2).all(is_same)
    }

    fn is_column(&self, register: Register) -> bool {
        matches!(self.function.register_type(register), RegisterType::Column(_))
    }
}

/// How often registers are read.
fn reads(visit: impl FnOnce(&mut dyn FnMut(Register))) -> HashMap<Register, usize> {
    let mut reads = HashMap::new();
    visit(&mut |register| *reads.entry(register).or_default() += 1);
    reads
}

/// Removes the instructions that make these registers from the blocks of an `if`.
fn take(instruction: &mut Instruction, gone: &HashSet<Register>) {
    let Op::If(then_block, else_block) = &mut instruction.op else { return };
    for block in [then_block, else_block] {
        let stays: Vec<bool> =
            block.instructions.iter().map(|own| own.results.iter().all(|result| !gone.contains(result))).collect();
        retain(&mut block.instructions, &stays);
        block.instructions.iter_mut().for_each(|instruction| take(instruction, gone));
    }
}

/// Whether an instruction computes at each index, filters or reduces, and cannot fail.
fn moves(instruction: &Instruction) -> bool {
    cost(instruction).is_some() && !has_effect(&instruction.op, &instruction.operands)
}

fn reduces(instruction: &Instruction) -> bool {
    matches!(instruction.op, Op::Vector(op) if op.class() == Class::Reduce && op.gives_scalar())
}

/// The reductions, and what they need of the others.
fn needed<'a>(all: &[&'a Instruction]) -> Vec<&'a Instruction> {
    let mut needed = HashSet::new();
    let mut found: Vec<&Instruction> = Vec::new();
    for &instruction in all.iter().rev() {
        if reduces(instruction) || needed.contains(&instruction.results[0]) {
            instruction.visit_reads(&mut |register| {
                needed.insert(register);
            });
            found.push(instruction);
        }
    }
    found.reverse();
    found
}

/// What an instruction costs for each element; none where it is not one that moves.
fn cost(instruction: &Instruction) -> Option<usize> {
    match instruction.op {
        Op::Map(op) => op.row().cost.instructions(),
        Op::Vector(op) if matches!(op.fusion(), Fusion::Filter(_)) || reduces(instruction) => Some(2),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::testing::{body_becomes, stays};

    #[test]
    fn two_questions_about_the_same_elements_are_asked_in_one_loop() {
        body_becomes(
            run,
            "(%0: column int, %1: column int) -> int",
            "%2 = length %0
             %3 = map check_index %1 %2
             %4 = gather %0 %3
             %5 = map equal.int %4 1
             %6 = reduce.or.bool %5
             %7 = if %6 { yield 2 } else {
               %8 = map equal.int %4 2
               %9 = reduce.and.bool %8
               %10 = select.int %9 1 0
               yield %10
             }
             return %7",
            "%2 = length %0
             %3 = map check_index %1 %2
             %4 = gather %0 %3
             %5 = map equal.int %4 1
             %6 = reduce.or.bool %5
             %8 = map equal.int %4 2
             %9 = reduce.and.bool %8
             %7 = if %6 { yield 2 } else {
               %10 = select.int %9 1 0
               yield %10
             }
             return %7",
        );
    }

    #[test]
    fn a_chain_of_questions_is_one_loop() {
        body_becomes(
            run,
            "(%0: column int) -> int",
            "%1 = map add.int %0 1
             %2 = reduce.add.int %1
             %3 = equal.int %2 0
             %10 = if %3 { yield 0 } else {
               %4 = reduce.maximum.int %1
               %5 = equal.int %4 7
               %9 = if %5 { yield 1 } else {
                 %6 = map greater.int %1 3
                 %7 = pack %1 %6
                 %8 = reduce.minimum.int %7
                 yield %8
               }
               yield %9
             }
             return %10",
            "%1 = map add.int %0 1
             %2 = reduce.add.int %1
             %3 = equal.int %2 0
             %4 = reduce.maximum.int %1
             %6 = map greater.int %1 3
             %7 = pack %1 %6
             %8 = reduce.minimum.int %7
             %10 = if %3 { yield 0 } else {
               %5 = equal.int %4 7
               %9 = if %5 { yield 1 } else { yield %8 }
               yield %9
             }
             return %10",
        );
    }

    #[test]
    fn columns_that_are_as_long_in_the_block_alone_stay() {
        stays(
            run,
            "function main(%0: column int, %1: column int) -> bool {
               %2 = map add.int %0 1
               %3 = map add.int %1 1
               %4 = length %0
               %5 = length %1
               %6 = equal.int %4 %5
               %9 = if %6 {
                 %7 = map equal.int %2 %3
                 %8 = reduce.and.bool %7
                 yield %8
               } else { yield f }
               return %9
             }",
        );
    }

    #[test]
    fn columns_that_are_known_to_be_equally_long_move() {
        body_becomes(
            run,
            "(%0: column int, %1: column int) -> bool",
            "%2 = map add.int %0 1
             %3 = map add.int %1 %2
             %4 = reduce.or.int %3
             %5 = equal.int %4 0
             %8 = if %5 {
               %6 = map equal.int %2 %3
               %7 = reduce.and.bool %6
               yield %7
             } else { yield f }
             return %8",
            "%2 = map add.int %0 1
             %3 = map add.int %1 %2
             %4 = reduce.or.int %3
             %5 = equal.int %4 0
             %6 = map equal.int %2 %3
             %7 = reduce.and.bool %6
             %8 = if %5 { yield %7 } else { yield f }
             return %8",
        );
    }

    #[test]
    fn what_fails_or_costs_stays_and_so_does_what_reads_a_column_that_is_there() {
        // The second question can fail, or costs much; the column is read in the branch in another way, or before it; it
        // is not made here.
        for (before, inside) in [
            ("%3 = equal.int %2 0", "%5 = map check_index %1 9\n%6 = reduce.add.int %5"),
            ("%3 = equal.int %2 0", "%5 = map power.int %1 2\n%6 = reduce.add.int %5"),
            ("%3 = equal.int %2 0", "%5 = reduce.add.int %1\n%6 = extract %1 %5"),
            ("%4 = extract %1 0\n%3 = equal.int %2 %4", "%5 = map multiply.int %1 %1\n%6 = reduce.add.int %5"),
            ("%3 = equal.int %2 0", "%5 = map multiply.int %0 %0\n%6 = reduce.add.int %5"),
        ] {
            let before = if before.contains("%4") { before.to_owned() } else { format!("%4 = add.int %2 1\n{before}") };
            stays(
                run,
                &format!(
                    "function main(%0: column int) -> int, int {{
                       %1 = map add.int %0 1
                       %2 = reduce.add.int %1
                       {before}
                       %7 = if %3 {{ yield %2 }} else {{
                         {inside}
                         yield %6
                       }}
                       return %7 %4
                     }}"
                ),
            );
        }
    }

    #[test]
    fn a_column_that_leaves_the_branch_or_is_read_behind_it_is_made_anyway() {
        for (yielded, behind) in [("%4", "%6"), ("%0", "%1")] {
            stays(
                run,
                &format!(
                    "function main(%0: column int) -> int, column int {{
                       %1 = map add.int %0 1
                       %2 = reduce.add.int %1
                       %3 = equal.int %2 0
                       %5, %6 = if %3 {{ yield %2 %0 }} else {{
                         %4 = map multiply.int %1 %1
                         %7 = reduce.add.int %4
                         yield %7 {yielded}
                       }}
                       return %5 {behind}
                     }}"
                ),
            );
        }
    }
}

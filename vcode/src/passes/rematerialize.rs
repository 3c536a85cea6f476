//! *Rematerialisation*: a column that one group makes and another reads is computed again there, rather than kept in
//! memory between the two, where that costs less.
//!
//! ```text
//! %3, %4 = fused {                       %4 = fused {
//!   %1 = map subtract.float %0 2.0         %1 = map subtract.float %0 2.0
//!   %2 = reduce.minimum.float %1           %2 = reduce.minimum.float %1
//!   yield %1 %2                            yield %2
//! }                                      }
//! %6 = fused {                           %6 = fused {
//!   %5 = map equal.float %3 %4             %3 = map subtract.float %0 2.0
//!   …                                      %5 = map equal.float %3 %4
//!                                          …
//! ```
//!
//! A loop is as fast as its memory; to write an element and to read it again costs as much as some operations on it.
//! So this is done where these are few and cannot fail, where all that reads the column are loops over its indices, and
//! where they need not read much that they do not read anyway. What is computed in segments stays in memory: to begin
//! with each of them again costs more than that. It comes after the making of groups, which says what goes through
//! memory. What made the column is left to `dead`.

use crate::fusion::{MEMORY, aligned};
use crate::passes::effect::has_effect;
use crate::program::{Block, Function, Instruction, Op, Operand, Program, Register, RegisterType};
use std::collections::{HashMap, HashSet};

/// What may be computed again where several groups do, in instructions of a processor.
const OFTEN: usize = 2;

/// Rematerialises columns in all functions.
pub fn run(program: &mut Program) {
    for function in &mut program.functions {
        let mut columns = Columns::default();
        columns.look(function, &function.body);
        let chosen = columns.chosen();
        if chosen.is_empty() {
            continue;
        }
        let mut body = std::mem::take(&mut function.body);
        compute_again(&mut body, &chosen, &mut function.registers);
        function.body = body;
    }
}

/// How a group computes a column from what is outside.
struct Recipe {
    instructions: Vec<Instruction>,
    /// What of them the column is.
    value: Register,
    cost: usize,
    /// The columns from outside of which it reads the element at the index.
    reads: HashSet<Register>,
    /// How many groups read the column at their indices.
    readers: usize,
}

/// The columns of a function that groups make and could compute again.
#[derive(Default)]
struct Columns {
    /// In the order in which they are made.
    made: Vec<Register>,
    recipes: HashMap<Register, Recipe>,
}

impl Columns {
    /// Notes what a block makes, and who reads it.
    fn look(&mut self, function: &Function, block: &Block) {
        for instruction in &block.instructions {
            self.keep(instruction.operands.iter().filter_map(|operand| operand.register()));
            match &instruction.op {
                Op::If(then_block, else_block) => {
                    self.look(function, then_block);
                    self.look(function, else_block);
                }
                Op::Fused(group) => {
                    self.note_reads(function, group);
                    for (&result, yielded) in instruction.results.iter().zip(&group.results) {
                        if let Some(recipe) = yielded.register().and_then(|value| Recipe::of(function, group, value)) {
                            self.made.push(result);
                            self.recipes.insert(result, recipe);
                        }
                    }
                }
                _ => {}
            }
        }
        self.keep(block.results.iter().filter_map(|result| result.register()));
    }

    /// Notes which columns a group reads at its indices.
    fn note_reads(&mut self, function: &Function, group: &Block) {
        let mut reads = HashSet::new();
        for member in &group.instructions {
            let [at_index, others] = read_by(function, member);
            self.keep(others.into_iter());
            reads.extend(at_index);
        }
        for read in &reads {
            let Some(recipe) = self.recipes.get_mut(read) else { continue };
            recipe.readers += 1;
            let size = |register: &Register| size(function, *register);
            let more: usize = recipe.reads.iter().filter(|own| !reads.contains(own)).map(size).sum();
            if more > 2 * size(read) {
                self.recipes.remove(read);
            }
        }
    }

    /// Notes that columns are read in another way.
    fn keep(&mut self, registers: impl Iterator<Item = Register>) {
        registers.for_each(|register| {
            self.recipes.remove(&register);
        });
    }

    /// Those that are computed again. What they need is kept.
    fn chosen(mut self) -> HashMap<Register, Recipe> {
        let mut chosen = HashMap::new();
        for register in self.made {
            let Some(recipe) = self.recipes.remove(&register) else { continue };
            let is_worth_it = match recipe.readers {
                0 => false,
                1 => recipe.cost <= MEMORY,
                _ => recipe.cost <= OFTEN,
            };
            if is_worth_it && recipe.reads.iter().all(|read| !chosen.contains_key(read)) {
                chosen.insert(register, recipe);
            }
        }
        chosen
    }
}

impl Recipe {
    /// How a group computes a register of its own at each index; none where that is more than operations that cannot
    /// fail on elements at the index.
    fn of(function: &Function, group: &Block, value: Register) -> Option<Recipe> {
        let mut recipe = Recipe { instructions: Vec::new(), value, cost: 0, reads: HashSet::new(), readers: 0 };
        let mut needed = HashSet::from([value]);
        for member in group.instructions.iter().rev() {
            if !member.results.iter().any(|result| needed.contains(result)) {
                continue;
            }
            recipe.cost += cost(function, member)?;
            needed.extend(member.operands.iter().filter_map(|operand| operand.register()));
            let [at_index, _] = read_by(function, member);
            recipe.reads.extend(at_index);
            recipe.instructions.push(member.clone());
        }
        recipe.instructions.reverse();
        let inside: HashSet<Register> = group.instructions.iter().flat_map(|member| member.results.clone()).collect();
        recipe.reads.retain(|read| !inside.contains(read));
        Some(recipe)
    }
}

/// What an instruction costs for each element, in instructions of a processor; none where it cannot be done again. What
/// is made of nothing but the index costs nothing.
fn cost(function: &Function, instruction: &Instruction) -> Option<usize> {
    let is_segments = |&operand: &Operand| function.operand_type(operand) == RegisterType::Descriptor;
    match instruction.op {
        Op::Map(op) if !has_effect(&instruction.op, &instruction.operands) => op.row().cost.instructions(),
        Op::Vector(op) if op.is_source() && !instruction.operands.iter().any(is_segments) => Some(0),
        _ => None,
    }
}

/// What an instruction reads at the index of a loop, and what else it reads.
fn read_by(function: &Function, instruction: &Instruction) -> [Vec<Register>; 2] {
    let operands = &instruction.operands;
    let positions = aligned(&instruction.op, operands, |operand| function.operand_type(operand)).unwrap_or_default();
    let mut reads = [Vec::new(), Vec::new()];
    for (position, operand) in operands.iter().enumerate() {
        reads[usize::from(!positions.contains(&position))].extend(operand.register());
    }
    reads
}

/// The bytes of an element.
fn size(function: &Function, column: Register) -> usize {
    match function.register_type(column) {
        RegisterType::Column(ty) | RegisterType::Scalar(ty) => ty.size(),
        RegisterType::Descriptor => 0,
    }
}

/// Lets groups compute what they read of these columns.
fn compute_again(block: &mut Block, chosen: &HashMap<Register, Recipe>, registers: &mut Vec<RegisterType>) {
    for instruction in &mut block.instructions {
        match &mut instruction.op {
            Op::If(then_block, else_block) => {
                compute_again(then_block, chosen, registers);
                compute_again(else_block, chosen, registers);
            }
            Op::Fused(group) => compute_in(group, chosen, registers),
            _ => {}
        }
    }
}

/// The same in one group.
fn compute_in(group: &mut Block, chosen: &HashMap<Register, Recipe>, registers: &mut Vec<RegisterType>) {
    let mut read = Vec::new();
    group.visit_reads(&mut |register| {
        if chosen.contains_key(&register) && !read.contains(&register) {
            read.push(register);
        }
    });
    if read.is_empty() {
        return;
    }
    let mut names = HashMap::new();
    let mut instructions: Vec<Instruction> = Vec::new();
    for column in read {
        let recipe = &chosen[&column];
        for member in &recipe.instructions {
            if names.contains_key(&member.results[0]) {
                continue;
            }
            let mut member = member.clone();
            rename(&mut member, &names);
            for result in &mut member.results {
                let again = Register::add(registers, registers[result.0 as usize]);
                names.insert(std::mem::replace(result, again), again);
            }
            instructions.push(member);
        }
        names.insert(column, names[&recipe.value]);
    }
    for mut member in std::mem::take(&mut group.instructions) {
        rename(&mut member, &names);
        let same = instructions.iter().find(|other| other.op == member.op && other.operands == member.operands);
        match same.filter(|_| !has_effect(&member.op, &member.operands)) {
            Some(other) => names.extend(member.results.iter().copied().zip(other.results.clone())),
            None => instructions.push(member),
        }
    }
    group.instructions = instructions;
    for result in &mut group.results {
        *result = renamed(*result, &names);
    }
}

fn rename(instruction: &mut Instruction, names: &HashMap<Register, Register>) {
    for operand in &mut instruction.operands {
        *operand = renamed(*operand, names);
    }
}

fn renamed(operand: Operand, names: &HashMap<Register, Register>) -> Operand {
    operand.register().and_then(|register| names.get(&register)).map_or(operand, |&name| name.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::testing::{body_becomes, stays};

    #[test]
    fn a_column_is_computed_again_behind_the_least_of_it() {
        body_becomes(
            run,
            "(%0: column float) -> int",
            "%3, %4 = fused {
               %1 = map subtract.float %0 2.0
               %2 = reduce.minimum.float %1
               yield %1 %2
             }
             %7 = fused {
               %5 = map equal.float %3 %4
               %6 = map bool_to_int %5
               %8 = reduce.add.int %6
               yield %8
             }
             return %7",
            "%3 = fused {
               %1 = map subtract.float %0 2.0
               %2 = reduce.minimum.float %1
               yield %2
             }
             %7 = fused {
               %4 = map subtract.float %0 2.0
               %5 = map equal.float %4 %3
               %6 = map bool_to_int %5
               %8 = reduce.add.int %6
               yield %8
             }
             return %7",
        );
    }

    #[test]
    fn what_is_computed_in_segments_stays_in_memory() {
        stays(
            run,
            "function main(%0: column int, %1: column int, %2: descriptor) -> column int {
               %6, %7 = fused {
                 %3 = seg_dist %0 %2
                 %4 = map subtract.int %1 %3
                 %5 = seg_reduce.maximum.int %4 %2
                 yield %4 %5
               }
               %10 = fused {
                 %8 = seg_dist %7 %2
                 %9 = map subtract.int %8 %6
                 yield %9
               }
               return %10
             }",
        );
    }

    /// A group that makes a column, by an operation, and one that reads it.
    fn two_groups(operation: &str, reading: &str) -> String {
        format!(
            "function main(%0: column float, %1: column int, %2: column float) -> float, column float {{
               %5, %6 = fused {{
                 %3 = {operation}
                 %4 = reduce.maximum.float %3
                 yield %3 %4
               }}
               %9 = fused {{
                 %7 = {reading}
                 %8 = map subtract.float %7 1.0
                 yield %8
               }}
               return %6 %9
             }}"
        )
    }

    #[test]
    fn what_takes_long_or_lies_anywhere_stays_in_memory() {
        let reading = "map divide.float %5 %6";
        stays(run, &two_groups("map exp %0", reading));
        stays(run, &two_groups("gather %2 %1", reading));
    }

    #[test]
    fn what_is_read_in_another_way_stays_in_memory() {
        stays(run, &two_groups("map add.float %0 1.0", "gather %5 %1"));
        stays(
            run,
            "function main(%0: column int) -> int, column int {
               %3, %4 = fused {
                 %1 = map and.int %0 1
                 %2 = reduce.add.int %1
                 yield %1 %2
               }
               %7 = fused {
                 %5 = gather %3 %3
                 %6 = map add.int %5 1
                 yield %6
               }
               return %4 %7
             }",
        );
    }

    #[test]
    fn what_would_read_more_than_it_saves_stays_in_memory() {
        let text = "function main(%0: column float, %1: column float, %2: column float) -> int, column float {
               %6, %7 = fused {
                 %3 = map less.float %0 %1
                 %4 = map bool_to_int %3
                 %5 = reduce.add.int %4
                 yield %3 %5
               }
               %10 = fused {
                 %8 = map add.float %2 1.0
                 %9 = map select.float %6 %8 0.0
                 yield %9
               }
               return %7 %10
             }";
        stays(run, text);
    }
}

//! Takes an `each` into a group with what is computed for its instances, and with the reductions of what they give: the
//! loop over the instances does both, and nothing in between gets to memory.
//!
//! `sum({f(a + x) : x in v | p(x)})` is a group for the filter, an `each`, and a reduction. It becomes one group:
//!
//! ```text
//! %9 = fused {
//!   %1 = map less.int %2 %3
//!   %4 = pack %2 %1                               ; what filters: instances are where the flags are true
//!   %5 = map add.int %4 %6                        ; what is computed for an instance alone
//!   %7 = each f f/L(of int, [int]) -> int %5 %n %data
//!   %8 = reduce.add.int %7                        ; what becomes of what it gives
//!   yield %8
//! }
//! ```
//!
//! Here are the rules; [`crate::fusion`] says what the group means.
//!
//! * *What is reduced.* Scalars that instances give, by exact reductions, after a few total operations on them and on
//!   scalars that are there before.
//! * *What is computed.* A scalar of an instance that nobody else reads, made by a few total operations on what is
//!   there before, or on what a filter keeps: what is written must be read again, and takes memory. The group of the
//!   filter yields what it keeps instead, if that is no more than it yielded before; lengths are taken of that.
//! * *What filters.* A group that does nothing but filter, and compute all that varies for the instances of one `each`.
//!   What these give is reduced, so that nobody asks how many there are, and all in the group is a few total operations
//!   on elements at the index: a failure, or a call, would come between the instances.
//!
//! All of this is computed later than before, or at other times than what stands around it, and cannot fail: so errors
//! are the same, in the same order.

mod reading;

use crate::op::VectorOp;
use crate::passes::copy::retain;
use crate::passes::effect;
use crate::program::{Block, Function, Instruction, Op, Operand, Program, Register, RegisterType};
use reading::{Group, Members, Origin, Reading};
use std::collections::{HashMap, HashSet};

/// Makes such groups in all functions.
pub fn run(program: &mut Program) {
    for function in &mut program.functions {
        let reading = Reading::of(function);
        if !reading.eaches.is_empty() {
            of_function(function, &reading);
        }
    }
}

fn of_function(function: &mut Function, reading: &Reading) {
    let mut fuser = Fuser { reading, registers: std::mem::take(&mut function.registers), changes: Changes::default() };
    let followers: Vec<Vec<usize>> = reading.eaches.iter().map(|each| reading.followers(each)).collect();
    let filters: Vec<Option<usize>> =
        reading.eaches.iter().zip(&followers).map(|(each, followers)| reading.filter_of(each, followers)).collect();
    for number in 0..reading.groups.len() {
        let is_taken = filters.contains(&Some(number)) || followers.iter().any(|groups| groups.contains(&number));
        let change = if is_taken { Change::Gone } else { fuser.narrowed(number) };
        fuser.changes.groups.push(change);
    }
    for ((each, filter), followers) in reading.eaches.iter().zip(filters).zip(&followers) {
        let change = fuser.group_with(each, filter, followers).map_or(Change::None, Change::Becomes);
        fuser.changes.eaches.push(change);
    }
    let Fuser { registers, changes, .. } = fuser;
    let mut rewriter = Rewriter {
        groups: changes.groups.into_iter(),
        eaches: changes.eaches.into_iter(),
        counted: changes.counted,
        gone: changes.gone,
    };
    function.registers = registers;
    rewriter.block(&mut function.body);
}

/// What becomes of an instruction.
enum Change {
    None,
    Becomes(Instruction),
    Gone,
}

/// What becomes of the instructions of a function.
#[derive(Default)]
struct Changes {
    /// Of the groups, and instructions that could be in one, and of the `each`es, in order.
    groups: Vec<Change>,
    eaches: Vec<Change>,
    /// Of which column to take the length instead of another one.
    counted: HashMap<Register, Register>,
    /// The results of instructions that go.
    gone: HashSet<Register>,
    /// What is computed for instances: by the columns of before, the groups that made these.
    moved: HashMap<Register, usize>,
    /// What filters keep: by its name in its group, its name outside.
    kept: HashMap<Register, Register>,
}

struct Fuser<'a> {
    reading: &'a Reading,
    registers: Vec<RegisterType>,
    changes: Changes,
}

impl Fuser<'_> {
    fn new_register(&mut self, like: Register) -> Register {
        let ty = self.registers[like.0 as usize];
        Register::add(&mut self.registers, ty)
    }

    /// What becomes of a group without what is computed for instances.
    fn narrowed(&mut self, number: usize) -> Change {
        let group = &self.reading.groups[number];
        let yields: Vec<Register> = group.block.results.iter().filter_map(|yielded| yielded.register()).collect();
        let members = Members { block: &group.block, registers: &self.registers };
        let kept_for = |(&result, &yielded): (&Register, &Register)| {
            let computed = members.computed(yielded.into(), Origin::Kept)?;
            let is_counted = computed.kept.is_empty() && self.reading.is_counted(result);
            let is_computed = !computed.members.is_empty() && !is_counted && self.reading.is_for_instances(result);
            is_computed.then_some(computed.kept)
        };
        let kept: Vec<Option<Vec<Register>>> = group.results.iter().zip(&yields).map(kept_for).collect();
        let stay: Vec<bool> = kept.iter().map(Option::is_none).collect();
        let (mut results, mut own) = (group.results.clone(), yields.clone());
        retain(&mut results, &stay);
        retain(&mut own, &stay);
        for &register in kept.iter().flatten().flatten() {
            if !own.contains(&register) {
                own.push(register);
            }
        }
        if stay.iter().all(|&stays| stays) || own.len() > yields.len() {
            return Change::None;
        }
        while let Some(&register) = own.get(results.len()) {
            results.push(self.new_register(register));
        }
        self.changes.kept.extend(own.iter().copied().zip(results.iter().copied()));
        for (&result, kept) in group.results.iter().zip(&kept) {
            let Some(kept) = kept else { continue };
            self.changes.moved.insert(result, number);
            self.changes.counted.extend(kept.first().map(|kept| (result, self.changes.kept[kept])));
        }
        let instructions = needed(&group.block, &own);
        if instructions.is_empty() {
            return Change::Gone;
        }
        let block = Block::new(instructions, own.into_iter().map(Operand::Register).collect());
        Change::Becomes(Instruction::new(Op::Fused(Box::new(block)), Vec::new(), results, group.place))
    }

    /// The group that an `each` is in, if there is anything else in it: that filters, computes, or reduces.
    fn group_with(&mut self, each: &Instruction, filter: Option<usize>, followers: &[usize]) -> Option<Instruction> {
        let mut names = HashMap::new();
        let mut instructions = match filter {
            Some(number) => {
                self.changes.gone.extend(each.operands[0].register());
                self.all_of(number, &mut names)
            }
            None => self.members_for(each, &mut names),
        };
        if instructions.is_empty() && followers.is_empty() {
            return None;
        }
        instructions
            .push(self.copied(&Instruction { operands: each.operands[1..].to_vec(), ..each.clone() }, &mut names));
        let mut results = each.results.clone();
        results.retain(|&result| self.reading.is_read_by_others(result, followers));
        for &number in followers {
            instructions.extend(self.all_of(number, &mut names));
            results.extend(&self.reading.groups[number].results);
        }
        let mut yields: Vec<Operand> = results.iter().map(|&result| result.into()).collect();
        rename(&mut yields, &names);
        let group = Op::Fused(Box::new(Block::new(instructions, yields)));
        Some(Instruction::new(group, Vec::new(), results, each.place))
    }

    /// The instructions of a group, and how its results are named.
    fn all_of(&mut self, number: usize, names: &mut HashMap<Register, Operand>) -> Vec<Instruction> {
        let group = &self.reading.groups[number];
        let copied = group.block.instructions.iter().map(|member| self.copied(member, names)).collect();
        name_results(group, names);
        copied
    }

    /// The instructions that compute what is computed for the instances of an `each` alone, and how the results are
    /// named.
    fn members_for(&mut self, each: &Instruction, names: &mut HashMap<Register, Operand>) -> Vec<Instruction> {
        let mut copied = Vec::new();
        for operand in &each.operands[1..] {
            let Some((column, &number)) = operand.register().and_then(|it| self.changes.moved.get_key_value(&it))
            else {
                continue;
            };
            let (column, group) = (*column, &self.reading.groups[number]);
            let block = &group.block;
            let Some(position) = group.results.iter().position(|&result| result == column) else { continue };
            let yielded = block.results[position];
            let members = Members { block, registers: &self.registers };
            let Some(computed) = members.computed(yielded, Origin::Kept) else { continue };
            for kept in computed.kept {
                names.insert(kept, self.changes.kept[&kept].into());
            }
            for member in &block.instructions {
                let is_new = member.results.iter().all(|result| !names.contains_key(result));
                if is_new && member.results.iter().any(|result| computed.members.contains(result)) {
                    copied.push(self.copied(member, names));
                }
            }
            name_results(group, names);
        }
        copied
    }

    /// An instruction again, with other names.
    fn copied(&mut self, member: &Instruction, names: &mut HashMap<Register, Operand>) -> Instruction {
        let mut copy = member.clone();
        rename(&mut copy.operands, names);
        for result in &mut copy.results {
            let name = self.new_register(*result);
            names.insert(*result, name.into());
            *result = name;
        }
        copy
    }
}

/// Names the results of a group as what it yields is named.
fn name_results(group: &Group, names: &mut HashMap<Register, Operand>) {
    for (&result, yielded) in group.results.iter().zip(&group.block.results) {
        if let Some(&name) = yielded.register().and_then(|own| names.get(&own)) {
            names.insert(result, name);
        }
    }
}

fn rename(operands: &mut [Operand], names: &HashMap<Register, Operand>) {
    for operand in operands {
        *operand = operand.register().and_then(|register| names.get(&register).copied()).unwrap_or(*operand);
    }
}

/// The instructions of a group that these registers need, and those that can fail.
fn needed(block: &Block, yields: &[Register]) -> Vec<Instruction> {
    let mut read: HashSet<Register> = yields.iter().copied().collect();
    let mut needed = Vec::new();
    for member in block.instructions.iter().rev() {
        let is_read = member.results.iter().any(|result| read.contains(result));
        if is_read || effect::has_effect(&member.op, &member.operands) {
            member.visit_reads(&mut |register| _ = read.insert(register));
            needed.push(member.clone());
        }
    }
    needed.reverse();
    needed
}

/// Changes instructions where they stand.
struct Rewriter<G, E> {
    groups: G,
    eaches: E,
    counted: HashMap<Register, Register>,
    gone: HashSet<Register>,
}

impl<G: Iterator<Item = Change>, E: Iterator<Item = Change>> Rewriter<G, E> {
    fn block(&mut self, block: &mut Block) {
        for mut instruction in std::mem::take(&mut block.instructions) {
            let change = match &mut instruction.op {
                Op::If(then_block, else_block) => {
                    self.block(then_block);
                    self.block(else_block);
                    None
                }
                op if Group::is_one(op) => self.groups.next(),
                Op::Each(_) => self.eaches.next(),
                Op::Vector(VectorOp::Length) => {
                    if let Operand::Register(column) = &mut instruction.operands[0] {
                        *column = self.counted.get(column).copied().unwrap_or(*column);
                    }
                    None
                }
                _ => None,
            };
            match change {
                Some(Change::Gone) => {}
                Some(Change::Becomes(other)) => block.instructions.push(other),
                Some(Change::None) => block.instructions.push(instruction),
                None if instruction.results.iter().any(|result| self.gone.contains(result)) => {}
                None => block.instructions.push(instruction),
            }
        }
    }
}

#[cfg(test)]
mod tests;

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
//! * *What is reduced.* A scalar that instances give and that nobody reads but exact reductions.
//! * *What is computed.* A scalar of an instance that nobody else reads, made by a few total operations on what a filter
//!   keeps. The group of the filter yields what it keeps instead, if that is no more than it yielded before; lengths are
//!   taken of that.
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
use reading::{Members, Origin, Reading};
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
    let filters: Vec<Option<usize>> =
        reading.eaches.iter().map(|each| reading.filter_of(each, &fuser.registers)).collect();
    for number in 0..reading.groups.len() {
        let change = match filters.contains(&Some(number)) {
            true => Change::Gone,
            false => fuser.narrowed(number).map_or(Change::None, Change::Becomes),
        };
        fuser.changes.groups.push(change);
    }
    for (each, filter) in reading.eaches.iter().zip(filters) {
        let change = fuser.group_with(each, filter).map_or(Change::None, Change::Becomes);
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
    /// Of the groups and of the `each`es, in order.
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

    /// A group without what is computed for instances, if that is anything.
    fn narrowed(&mut self, number: usize) -> Option<Instruction> {
        let group = &self.reading.groups[number];
        let Op::Fused(block) = &group.op else { return None };
        let yields: Vec<Register> = block.results.iter().filter_map(|yielded| yielded.register()).collect();
        let members = Members { block, registers: &self.registers };
        let kept_for = |(&result, &yielded): (&Register, &Register)| {
            let computed = members.computed(yielded.into(), Origin::Kept)?;
            let is_computed = self.reading.is_for_instances(result) && !computed.kept.is_empty();
            (is_computed && !computed.maps.is_empty()).then_some(computed.kept)
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
            return None;
        }
        while let Some(&register) = own.get(results.len()) {
            results.push(self.new_register(register));
        }
        self.changes.kept.extend(own.iter().copied().zip(results.iter().copied()));
        for (&result, kept) in group.results.iter().zip(&kept) {
            if let Some(kept) = kept {
                self.changes.moved.insert(result, number);
                self.changes.counted.insert(result, self.changes.kept[&kept[0]]);
            }
        }
        let instructions = needed(block, &own);
        let block = Block::new(instructions, own.into_iter().map(Operand::Register).collect());
        Some(Instruction::new(Op::Fused(Box::new(block)), Vec::new(), results, group.place))
    }

    /// The group that an `each` is in, if there is anything else in it.
    fn group_with(&mut self, each: &Instruction, filter: Option<usize>) -> Option<Instruction> {
        let mut names = HashMap::new();
        let mut instructions = match filter {
            Some(number) => {
                self.changes.gone.extend(each.operands[0].register());
                self.members_of_filter(number, &mut names)
            }
            None => self.members_for(each, &mut names),
        };
        let reduced = self.reading.reduced(each);
        if instructions.is_empty() && reduced.iter().all(Option::is_none) || !varies(each) {
            return None;
        }
        let mut inner = Instruction { operands: each.operands[1..].to_vec(), ..each.clone() };
        rename(&mut inner.operands, &names);
        inner.results = each.results.iter().map(|&result| self.new_register(result)).collect();
        let own = inner.results.clone();
        instructions.push(inner);
        let (mut results, mut yields) = (Vec::new(), Vec::new());
        for ((&result, &own), reductions) in each.results.iter().zip(&own).zip(reduced) {
            match reductions {
                Some(reductions) => {
                    for reduction in reductions {
                        let scalar = reduction.results[0];
                        let yielded = self.new_register(scalar);
                        self.changes.gone.insert(scalar);
                        let (operands, results_of) = (vec![own.into()], vec![yielded]);
                        instructions.push(Instruction { operands, results: results_of, ..reduction.clone() });
                        results.push(scalar);
                        yields.push(yielded.into());
                    }
                }
                None if self.reading.is_read(result) => {
                    results.push(result);
                    yields.push(own.into());
                }
                None => {}
            }
        }
        let group = Op::Fused(Box::new(Block::new(instructions, yields)));
        Some(Instruction::new(group, Vec::new(), results, each.place))
    }

    /// The instructions of a group that filters for instances, and how its results are named.
    fn members_of_filter(&mut self, number: usize, names: &mut HashMap<Register, Operand>) -> Vec<Instruction> {
        let group = &self.reading.groups[number];
        let Op::Fused(block) = &group.op else { return Vec::new() };
        let copied = block.instructions.iter().map(|member| self.copied(member, names)).collect();
        for (&result, yielded) in group.results.iter().zip(&block.results) {
            let name = yielded.register().and_then(|own| names.get(&own).copied());
            names.insert(result, name.unwrap_or(*yielded));
        }
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
            let Op::Fused(block) = &group.op else { continue };
            let Some(position) = group.results.iter().position(|&result| result == column) else { continue };
            let yielded = block.results[position];
            let members = Members { block, registers: &self.registers };
            let Some(computed) = members.computed(yielded, Origin::Kept) else { continue };
            for kept in computed.kept {
                names.insert(kept, self.changes.kept[&kept].into());
            }
            for member in &block.instructions {
                let is_new = member.results.iter().all(|result| !names.contains_key(result));
                if is_new && member.results.iter().any(|result| computed.maps.contains(result)) {
                    copied.push(self.copied(member, names));
                }
            }
            let name = yielded.register().and_then(|own| names.get(&own).copied());
            names.insert(column, name.unwrap_or(yielded));
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

/// Whether anything varies by instance.
fn varies(each: &Instruction) -> bool {
    matches!(&each.op, Op::Each(each) if each.plan().counted_by().is_some())
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
                Op::Fused(_) => self.groups.next(),
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

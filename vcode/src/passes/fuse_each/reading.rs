//! How the registers of a function are read: which of them only instances of an `each` need, and what those are
//! computed from.

use crate::fusion;
use crate::op::VectorOp;
use crate::passes::effect;
use crate::program::{Block, Function, Instruction, Op, Operand, Place, Register, RegisterType};
use std::collections::{HashMap, HashSet};

/// The most operations that are done for each instance to make one of its scalars, or to know whether there is one.
const MOST: usize = 8;

/// The groups and `each`es of a function, in order, and who reads what.
#[derive(Default)]
pub(super) struct Reading {
    /// The types of its registers.
    pub registers: Vec<RegisterType>,
    /// The groups, and the instructions that could be in one, each as one of its own.
    pub groups: Vec<Group>,
    pub eaches: Vec<Instruction>,
    /// The group that yields a register, by its number.
    yielded: HashMap<Register, usize>,
    /// How often each register is read.
    reads: HashMap<Register, usize>,
    /// How often by whoever only needs its length, and by how many instances as one of their scalars.
    lengths: HashMap<Register, usize>,
    instances: HashMap<Register, usize>,
    /// The column that a register is the length of.
    length_of: HashMap<Register, Register>,
    /// The groups that read a register, by their numbers, each as often as it does.
    readers: HashMap<Register, Vec<usize>>,
    /// The order in which registers are defined, in the text; parameters are none.
    order: HashMap<Register, usize>,
}

impl Reading {
    /// That of a function; nothing where there is no `each`.
    pub fn of(function: &Function) -> Reading {
        let mut reading = Reading::default();
        function.body.visit(&mut |instruction| {
            if matches!(instruction.op, Op::Each(_)) {
                reading.eaches.push(instruction.clone());
            }
        });
        if !reading.eaches.is_empty() {
            reading.registers = function.registers.clone();
            function.body.visit_reads(&mut |register| *reading.reads.entry(register).or_default() += 1);
            function.body.visit(&mut |instruction| reading.note(instruction));
        }
        reading
    }

    fn note(&mut self, instruction: &Instruction) {
        let defined = self.order.len();
        self.order.extend(instruction.results.iter().map(|&result| (result, defined)));
        let read = instruction.operands.first().and_then(|operand| operand.register());
        match (&instruction.op, read) {
            (op, _) if Group::is_one(op) => {
                let number = self.groups.len();
                self.yielded.extend(instruction.results.iter().map(|&result| (result, number)));
                instruction.visit_reads(&mut |register| self.readers.entry(register).or_default().push(number));
                self.groups.push(Group::of(instruction));
            }
            (Op::Each(each), _) => {
                for (&operand, taken) in instruction.operands[1..].iter().zip(&each.plan().operands) {
                    if let Some(column) = operand.register().filter(|_| taken.is_scalar()) {
                        *self.instances.entry(column).or_default() += 1;
                    }
                }
            }
            (Op::Vector(VectorOp::Length), Some(column)) => {
                *self.lengths.entry(column).or_default() += 1;
                self.length_of.insert(instruction.results[0], column);
            }
            _ => {}
        }
    }

    fn count(of: &HashMap<Register, usize>, register: Register) -> usize {
        of.get(&register).copied().unwrap_or(0)
    }

    /// Whether somebody needs the length of a column.
    pub fn is_counted(&self, register: Register) -> bool {
        Self::count(&self.lengths, register) > 0
    }

    /// Whether a column is read by nobody but the instances of one `each`, its length apart.
    pub fn is_for_instances(&self, register: Register) -> bool {
        Self::count(&self.instances, register) == 1
            && Self::count(&self.reads, register) == Self::count(&self.lengths, register) + 1
    }

    /// The groups that only reduce what the instances of an `each` give, and can be one with the loop over these.
    pub fn followers(&self, each: &Instruction) -> Vec<usize> {
        let Op::Each(op) = &each.op else { return Vec::new() };
        let plan = op.plan();
        let scalars: Vec<Register> = plan
            .results
            .iter()
            .zip(&each.results)
            .filter(|(field, _)| field.is_scalar())
            .map(|(_, &result)| result)
            .collect();
        let mut readers: Vec<usize> =
            scalars.iter().filter_map(|result| self.readers.get(result)).flatten().copied().collect();
        readers.sort_unstable();
        readers.dedup();
        readers.retain(|&number| plan.counted_by().is_some() && self.only_reduces(number, each, &scalars));
        readers
    }

    /// Whether all a group does is to reduce columns, after a few operations, which need nothing besides that is not
    /// there before an `each`.
    fn only_reduces(&self, number: usize, each: &Instruction, columns: &[Register]) -> bool {
        let block = &self.groups[number].block;
        let defined = |register: Register| self.order.get(&register);
        let is_own = |register: Register| block.instructions.iter().any(|member| member.results.contains(&register));
        let is_before = |register: Register| {
            let is_scalar = matches!(self.registers[register.0 as usize], RegisterType::Scalar(_));
            is_scalar && defined(register) < each.results.first().and_then(|&result| defined(result))
        };
        let mut is_known = true;
        block.visit_reads(&mut |register| {
            is_known &= columns.contains(&register) || is_own(register) || is_before(register)
        });
        let maps = block.instructions.iter().filter(|member| is_little(member)).count();
        let reductions = block.instructions.iter().filter(|member| is_exact_reduction(&member.op));
        let reductions: Vec<Operand> = reductions.map(|reduction| reduction.results[0].into()).collect();
        is_known
            && maps <= MOST
            && maps + reductions.len() == block.instructions.len()
            && block.results.iter().all(|result| reductions.contains(result))
    }

    /// Whether a result of an `each` is read by others than these groups.
    pub fn is_read_by_others(&self, result: Register, followers: &[usize]) -> bool {
        let readers = self.readers.get(&result).map_or(&[][..], Vec::as_slice);
        readers.iter().filter(|number| followers.contains(number)).count() < Self::count(&self.reads, result)
    }

    /// The group that filters for the instances of an `each`, if it can be one with the loop over these.
    pub fn filter_of(&self, each: &Instruction, followers: &[usize]) -> Option<usize> {
        let Op::Each(op) = &each.op else { return None };
        let count = each.operands[0].register()?;
        let number = *self.yielded.get(self.length_of.get(&count)?)?;
        let group = &self.groups[number];
        let plan = op.plan();
        let varying = plan.operands.iter().zip(&each.operands[1..]).filter(|(taken, _)| taken.take.varies());
        let varying: Vec<Register> = varying
            .map(|(taken, operand)| operand.register().filter(|_| taken.is_scalar()))
            .collect::<Option<Vec<Register>>>()?;
        let is_for_these = |result: &Register| varying.contains(result) && self.is_for_instances(*result);
        let lengths: usize = group.results.iter().map(|&result| Self::count(&self.lengths, result)).sum();
        let are_alone = lengths == 1 && Self::count(&self.reads, count) == 1 && group.results.iter().all(is_for_these);
        let is_for_no_other = varying.iter().all(|column| group.results.contains(column));
        let fields = plan.results.iter().zip(&each.results);
        let mut is_reduced =
            fields.map(|(field, &result)| field.is_scalar() && !self.is_read_by_others(result, followers));
        let are_reduced = is_reduced.all(|is_reduced| is_reduced);
        let members = Members { block: &group.block, registers: &self.registers };
        (are_alone && is_for_no_other && are_reduced && members.only_filter()).then_some(number)
    }
}

/// A group, or a single instruction that could be in one.
pub(super) struct Group {
    pub block: Block,
    pub results: Vec<Register>,
    pub place: Place,
}

impl Group {
    /// Whether an instruction is one.
    pub fn is_one(op: &Op) -> bool {
        matches!(op, Op::Fused(_) | Op::Map(_) | Op::Vector(VectorOp::Iota)) || is_exact_reduction(op)
    }

    fn of(instruction: &Instruction) -> Group {
        let (results, place) = (instruction.results.clone(), instruction.place);
        let block = match &instruction.op {
            Op::Fused(block) => (**block).clone(),
            _ => Block::new(vec![instruction.clone()], results.iter().map(|&result| result.into()).collect()),
        };
        Group { block, results, place }
    }
}

/// Whether something is reduced by an operation that may combine in any order, and cannot fail.
fn is_exact_reduction(op: &Op) -> bool {
    matches!(op, Op::Vector(VectorOp::Reduce(op)) if op.row().associative && !op.row().fallible)
}

/// Whether an instruction is an elementwise operation that cannot fail and is no call.
fn is_little(member: &Instruction) -> bool {
    matches!(member.op, Op::Map(op) if !op.row().cost.is_call()) && !effect::has_effect(&member.op, &member.operands)
}

/// From what something is computed anew for each instance.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// From what filters keep; where there are none, from what is there before.
    Kept,
    /// From what is there before.
    Inputs,
}

/// What something is computed from, in a group.
#[derive(Default)]
pub(super) struct Computed {
    /// What is computed at the index.
    pub members: HashSet<Register>,
    /// What filters keep.
    pub kept: Vec<Register>,
}

/// The instructions of a group.
pub(super) struct Members<'a> {
    pub block: &'a Block,
    pub registers: &'a [RegisterType],
}

impl Members<'_> {
    /// How something is computed, from what filters keep, or from what is there before any: all that it takes is at its
    /// index. None where that is much, can fail, or needs something else.
    pub fn computed(&self, operand: Operand, from: Origin) -> Option<Computed> {
        let mut computed = Computed::default();
        self.add(operand, from, &mut computed).then_some(computed)
    }

    fn add(&self, operand: Operand, from: Origin, computed: &mut Computed) -> bool {
        let Operand::Register(register) = operand else { return true };
        let Some(maker) = self.block.instructions.iter().find(|member| member.results.contains(&register)) else {
            return match self.registers[register.0 as usize] {
                // In a space within, elements are what a filter keeps.
                RegisterType::Scalar(_) | RegisterType::Column(_) => true,
                RegisterType::Descriptor => false,
            };
        };
        match (&maker.op, from) {
            (Op::Vector(VectorOp::Pack), Origin::Kept) => {
                if !computed.kept.contains(&register) {
                    computed.kept.push(register);
                }
                true
            }
            (Op::Vector(VectorOp::Pack), Origin::Inputs) => self.add(maker.operands[0], from, computed),
            (Op::Vector(VectorOp::Iota), _) => {
                computed.members.insert(register);
                true
            }
            (Op::Map(_), _) if is_little(maker) => {
                let is_known = !computed.members.insert(register);
                let are_few = computed.members.len() <= MOST;
                is_known || are_few && maker.operands.iter().all(|&operand| self.add(operand, from, computed))
            }
            _ => false,
        }
    }

    /// Whether all they do is to filter by flags, and to compute those and what is yielded where they are true.
    fn only_filter(&self) -> bool {
        let mut group = fusion::Group::default();
        let is_group = self.block.instructions.iter().all(|member| group.admit(member, self.registers, |_| true));
        let space = |operand: Operand| operand.register().and_then(|register| group.filter_of(register));
        let is_known = |operand: Operand| self.computed(operand, Origin::Inputs).is_some();
        let is_filter = |member: &Instruction| match member.op {
            Op::Vector(VectorOp::Pack) => space(member.operands[1]).is_none() && is_known(member.operands[1]),
            _ => !effect::has_effect(&member.op, &member.operands),
        };
        is_group
            && self.block.instructions.iter().all(is_filter)
            && self.block.results.iter().all(|&result| space(result) == Some(1) && is_known(result))
    }
}

//! How the registers of a function are read: which of them only instances of an `each` need, and what those are
//! computed from.

use crate::fusion::Group;
use crate::op::VectorOp;
use crate::passes::effect;
use crate::program::{Block, Function, Instruction, Op, Operand, Register, RegisterType};
use std::collections::{HashMap, HashSet};

/// The most operations that are done for each instance to make one of its scalars, or to know whether there is one.
const MOST: usize = 8;

/// The groups and `each`es of a function, in order, and who reads what.
#[derive(Default)]
pub(super) struct Reading {
    pub groups: Vec<Instruction>,
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
    /// The exact reductions of a column.
    reductions: HashMap<Register, Vec<Instruction>>,
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
            function.body.visit_reads(&mut |register| *reading.reads.entry(register).or_default() += 1);
            function.body.visit(&mut |instruction| reading.note(instruction));
        }
        reading
    }

    fn note(&mut self, instruction: &Instruction) {
        let read = instruction.operands.first().and_then(|operand| operand.register());
        match (&instruction.op, read) {
            (Op::Fused(_), _) => {
                self.yielded.extend(instruction.results.iter().map(|&result| (result, self.groups.len())));
                self.groups.push(instruction.clone());
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
            (Op::Vector(VectorOp::Reduce(op)), Some(column)) if op.row().associative && !op.row().fallible => {
                self.reductions.entry(column).or_default().push(instruction.clone());
            }
            _ => {}
        }
    }

    fn count(of: &HashMap<Register, usize>, register: Register) -> usize {
        of.get(&register).copied().unwrap_or(0)
    }

    /// Whether anything reads a register.
    pub fn is_read(&self, register: Register) -> bool {
        Self::count(&self.reads, register) > 0
    }

    /// Whether a column is read by nobody but the instances of one `each`, its length apart.
    pub fn is_for_instances(&self, register: Register) -> bool {
        Self::count(&self.instances, register) == 1
            && Self::count(&self.reads, register) == Self::count(&self.lengths, register) + 1
    }

    /// For each result of an `each` the reductions that read it, if nobody else does.
    pub fn reduced(&self, each: &Instruction) -> Vec<Option<Vec<Instruction>>> {
        let Op::Each(op) = &each.op else { return Vec::new() };
        let reductions = |result: &Register| {
            let all = self.reductions.get(result)?;
            (all.len() == Self::count(&self.reads, *result)).then(|| all.clone())
        };
        let fields = op.plan().results.into_iter();
        fields.zip(&each.results).map(|(field, result)| reductions(result).filter(|_| field.is_scalar())).collect()
    }

    /// The group that filters for the instances of an `each`, if it can be one with the loop over these.
    pub fn filter_of(&self, each: &Instruction, registers: &[RegisterType]) -> Option<usize> {
        let Op::Each(op) = &each.op else { return None };
        let count = each.operands[0].register()?;
        let number = *self.yielded.get(self.length_of.get(&count)?)?;
        let group = &self.groups[number];
        let Op::Fused(block) = &group.op else { return None };
        let plan = op.plan();
        let varying = plan.operands.iter().zip(&each.operands[1..]).filter(|(taken, _)| taken.take.varies());
        let varying: Vec<Register> = varying
            .map(|(taken, operand)| operand.register().filter(|_| taken.is_scalar()))
            .collect::<Option<Vec<Register>>>()?;
        let is_for_these = |result: &Register| varying.contains(result) && self.is_for_instances(*result);
        let lengths: usize = group.results.iter().map(|&result| Self::count(&self.lengths, result)).sum();
        let are_alone = lengths == 1 && Self::count(&self.reads, count) == 1 && group.results.iter().all(is_for_these);
        let is_for_no_other = varying.iter().all(|column| group.results.contains(column));
        let are_reduced = self.reduced(each).iter().all(Option::is_some);
        let members = Members { block, registers };
        (are_alone && is_for_no_other && are_reduced && members.only_filter()).then_some(number)
    }
}

/// From what something is computed anew for each instance.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// From what a filter keeps.
    Kept,
    /// From what a filter reads.
    Inputs,
}

/// What something is computed from, in a group.
#[derive(Default)]
pub(super) struct Computed {
    /// Elementwise operations.
    pub maps: HashSet<Register>,
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
                RegisterType::Scalar(_) => true,
                RegisterType::Column(_) => from == Origin::Inputs,
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
            (Op::Vector(VectorOp::Iota), Origin::Inputs) => true,
            (Op::Map(op), _) if !effect::has_effect(&maker.op, &maker.operands) && !op.row().cost.is_call() => {
                let is_known = !computed.maps.insert(register);
                let is_little = computed.maps.len() <= MOST;
                is_known || is_little && maker.operands.iter().all(|&operand| self.add(operand, from, computed))
            }
            _ => false,
        }
    }

    /// Whether all they do is to filter by flags, and to compute those and what is yielded where they are true.
    fn only_filter(&self) -> bool {
        let mut group = Group::default();
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

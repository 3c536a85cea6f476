//! Which instructions can be one loop: the rule for groups, [`Op::Fused`].
//!
//! A group computes over one *space* of indices. At each index it computes elements from the index, from the elements
//! of columns there and from what was ready before the loop (scalars, the data of a gather, a descriptor). What part
//! each instruction can play is a column of the instruction table ([`Fusion`]); an elementwise instruction reads all
//! its columns at the index. Flags make a space within: what was packed by them exists only at indices whose flag is
//! true, and what is computed from that too. Packing by the same flags twice gives columns of one space within. Merging
//! what was packed by some flags, and computed from that, with what was packed by their negation gives elements of the
//! space of the flags again.
//!
//! So in a group
//! * what an instruction reads at the index has one space: that of all indices, or the same within;
//! * what comes from outside the group is of all indices: in a space within an element has no index outside;
//! * what the loop completes (a reduction, a scan of floats, what was scattered) no other instruction of the group
//!   reads;
//! * what is asked for the index of an element is of all indices;
//! * segments that a reduction or scan ends at lie one after another over all indices;
//! * where spaces within are merged, nothing in them combines the elements before an index: it is computed where it is
//!   needed, and may be so more than once.
//!
//! A group may have one `each` besides, if it merges no spaces. It has no number of instances: there is one at each
//! index of the space that its varying scalars are of. The scalars that an instance gives are elements of that space;
//! what else it gives is ready when the loop ends, and can only be yielded. All other operands come from outside the
//! group; sequences that vary have as many segments as there are indices, so that the space is that of all.
//!
//! That columns from outside have as many elements as there are indices is for the pass that makes groups
//! ([`crate::passes::fuse`]) to know; the verifier cannot see it.

use crate::each::Each;
use crate::op::{Class, Elements, Fusion, VectorOp};
use crate::program::{Instruction, Op, Operand, Register, RegisterType};
use nesl_prim::ScalarOp;
use std::collections::HashMap;

/// About what it costs to write an element and to read it again, in instructions of a processor: so much may be
/// computed for each element, in vain or again, where that keeps it out of memory.
pub(crate) const MEMORY: usize = 8;

/// A number of indices, by what has or says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Extent {
    /// This scalar.
    Value(Operand),
    /// The elements of this column.
    Column(Register),
    /// The elements of the segments of this descriptor.
    Total(Register),
    /// The same, where they lie one after another.
    Packed(Register),
}

/// The operands that an instruction reads at the index of the loop, by position; none where it cannot be in one.
pub fn aligned(op: &Op, operands: &[Operand], type_of: impl Fn(Operand) -> RegisterType) -> Option<Vec<usize>> {
    match op {
        Op::Map(_) => {
            let is_column = |&position: &usize| matches!(type_of(operands[position]), RegisterType::Column(_));
            Some((0..operands.len()).filter(is_column).collect())
        }
        Op::Vector(op) if op.fusion() != Fusion::Alone => Some(op.fusion().aligned().to_vec()),
        _ => None,
    }
}

fn aligned_of(instruction: &Instruction, registers: &[RegisterType]) -> Option<Vec<usize>> {
    aligned(&instruction.op, &instruction.operands, |operand| match operand {
        Operand::Register(register) => registers[register.0 as usize],
        Operand::Constant(value) => RegisterType::Scalar(value.scalar_type()),
    })
}

/// The number of indices over which an instruction computes; none where it cannot be in a loop.
pub(crate) fn extent(instruction: &Instruction, registers: &[RegisterType]) -> Option<Extent> {
    let aligned = aligned_of(instruction, registers)?;
    match (aligned.first(), &instruction.op) {
        (Some(&position), _) => instruction.operands[position].register().map(Extent::Column),
        (None, Op::Vector(op)) => match op.elements() {
            Elements::Value(position) => Some(Extent::Value(instruction.operands[position])),
            Elements::Total(position) => instruction.operands[position].register().map(Extent::Total),
            _ => None,
        },
        (None, _) => None,
    }
}

/// Whether an instruction reads the column that an update writes to where this then writes, at the same index.
pub(crate) fn reads_where_written(reader: &Instruction, update: &Instruction) -> bool {
    reader.op == Op::Vector(VectorOp::Compact)
        && update.op == Op::Vector(VectorOp::SegScatter)
        && reader.operands[..2] == update.operands[..2]
}

/// Whether an instruction combines the elements before an index.
fn runs(op: &Op) -> bool {
    matches!(op, Op::Vector(op) if op.class() == Class::Scan)
}

/// Where in a loop a register of its group is ready.
#[derive(Clone, Copy, PartialEq)]
enum Ready {
    /// At the indices of this space: 0 for all indices, else a filter's, by its number from 1.
    At(usize),
    /// After the loop.
    After,
}

/// A group, as far as it has been looked at.
#[derive(Clone, Default)]
pub(crate) struct Group {
    defined: HashMap<Register, Ready>,
    /// The flags of filters.
    filters: Vec<Register>,
    /// Flags that are the negations of others.
    negations: HashMap<Register, Register>,
    /// Whether spaces within are merged.
    has_joins: bool,
    /// Whether something in a space within combines the elements before an index.
    runs_within: bool,
    /// Whether it has an `each`.
    has_each: bool,
}

impl Group {
    /// Whether an instruction of the group defines a register.
    pub fn defines(&self, register: Register) -> bool {
        self.defined.contains_key(&register)
    }

    /// By which filter the elements of a column of the group are picked, if by any.
    pub fn filter_of(&self, register: Register) -> Option<usize> {
        match self.defined.get(&register) {
            Some(Ready::At(space)) => Some(*space).filter(|&space| space > 0),
            _ => None,
        }
    }

    /// Adds an instruction, if it can be in the loop. `is_all` says whether something from outside has as many elements
    /// as the loop has indices.
    pub fn admit(
        &mut self,
        instruction: &Instruction,
        registers: &[RegisterType],
        is_all: impl Fn(Extent) -> bool,
    ) -> bool {
        if let Op::Each(each) = &instruction.op {
            return self.admit_each(each, instruction, is_all);
        }
        let ready = self.space(instruction, registers, is_all).map(|space| match &instruction.op {
            Op::Vector(op) => match op.fusion() {
                Fusion::Filter(&[_, flags]) => Ready::At(self.filter(instruction.operands[flags])),
                Fusion::End(_) => Ready::After,
                _ => Ready::At(space),
            },
            _ => Ready::At(space),
        });
        let Some(ready) = ready else { return false };
        let is_join = matches!(instruction.op, Op::Vector(op) if matches!(op.fusion(), Fusion::Join(_)));
        let runs_within = matches!(ready, Ready::At(1..)) && runs(&instruction.op);
        if (is_join || self.has_joins) && (runs_within || self.runs_within) || is_join && self.has_each {
            return false;
        }
        self.has_joins |= is_join;
        self.runs_within |= runs_within;
        if let (Op::Map(ScalarOp::NotBool), &[Operand::Register(flags)]) = (&instruction.op, &instruction.operands[..])
        {
            self.negations.insert(instruction.results[0], flags);
        }
        self.defined.extend(instruction.results.iter().map(|&result| (result, ready)));
        true
    }

    /// The same of an `each`, whose operands are those of the instances alone.
    fn admit_each(&mut self, each: &Each, instruction: &Instruction, is_all: impl Fn(Extent) -> bool) -> bool {
        let plan = each.plan();
        let mut spaces = Vec::new();
        for (taken, &operand) in plan.operands.iter().zip(&instruction.operands) {
            let Operand::Register(register) = operand else { continue };
            if taken.is_scalar() {
                spaces.push(self.space_of(register, &is_all));
            } else if self.defines(register) {
                return false;
            } else if taken.is_sequence() {
                spaces.push(Some(0));
            }
        }
        let is_one_space = spaces.windows(2).all(|pair| pair[0] == pair[1]);
        let Some(&Some(space)) = spaces.first().filter(|_| is_one_space) else { return false };
        if self.has_each || self.has_joins {
            return false;
        }
        self.has_each = true;
        let ready = plan.results.iter().map(|field| if field.is_scalar() { Ready::At(space) } else { Ready::After });
        self.defined.extend(instruction.results.iter().copied().zip(ready));
        true
    }

    /// The space of what is read at the index; none where it cannot be.
    fn space_of(&self, register: Register, is_all: impl Fn(Extent) -> bool) -> Option<usize> {
        match self.defined.get(&register) {
            Some(Ready::At(space)) => Some(*space),
            None if is_all(Extent::Column(register)) => Some(0),
            _ => None,
        }
    }

    /// The space over which an instruction would compute in this group, if it can.
    fn space(
        &self,
        instruction: &Instruction,
        registers: &[RegisterType],
        is_all: impl Fn(Extent) -> bool,
    ) -> Option<usize> {
        let aligned = aligned_of(instruction, registers)?;
        let mut spaces = Vec::new();
        for (position, &operand) in instruction.operands.iter().enumerate() {
            let Operand::Register(register) = operand else { continue };
            if aligned.contains(&position) {
                spaces.push(self.space_of(register, &is_all)?);
            } else if self.defines(register) {
                return None;
            }
        }
        if let Op::Vector(op) = instruction.op
            && let Some(descriptor) = op.packed_operand()
        {
            let segments = instruction.operands[descriptor].register()?;
            spaces.push(if is_all(Extent::Packed(segments)) { 0 } else { return None });
        }
        if let Op::Vector(op) = instruction.op
            && let Fusion::Join(positions) = op.fusion()
        {
            let flags = instruction.operands[positions[0]].register()?;
            let is_of = |space: usize, is_true| {
                let own = space.checked_sub(1).map(|filter| self.filters[filter]);
                own.is_some_and(|own| if is_true { own == flags } else { self.are_opposite(own, flags) })
            };
            let &[space, when_true, when_false] = &spaces[..] else { return None };
            return (is_of(when_true, true) && is_of(when_false, false)).then_some(space);
        }
        if matches!(instruction.op, Op::Vector(op) if op.gives_indices()) && spaces.iter().any(|&space| space > 0) {
            return None;
        }
        match spaces.split_first() {
            Some((&first, others)) => others.iter().all(|&other| other == first).then_some(first),
            None => extent(instruction, registers).filter(|&extent| is_all(extent)).map(|_| 0),
        }
    }

    /// Whether some flags are the negation of others.
    fn are_opposite(&self, one: Register, other: Register) -> bool {
        self.negations.get(&one) == Some(&other) || self.negations.get(&other) == Some(&one)
    }

    /// The space of the indices with true flags.
    fn filter(&mut self, flags: Operand) -> usize {
        let Some(flags) = flags.register() else { return 0 };
        let known = self.filters.iter().position(|&filter| filter == flags);
        known.unwrap_or_else(|| {
            self.filters.push(flags);
            self.filters.len() - 1
        }) + 1
    }
}

//! What flattening makes of `{if f(row) then … else … : row in m}` where the branches give sequences: the segments are
//! selected by flags, each branch runs on its own unless it has none, and what they give is put together.
//!
//! ```text
//! %rows, %a = if %none_true { …no segments… } else {
//!   %s = if %none_false { yield %m } else { view (pack (starts %m) %flags) (pack (lengths %m) %flags) }
//!   …
//! }
//! %others, %b = if %none_false { …no segments… } else { …likewise, by the negated flags… }
//! %all, %c = if %none_false { yield %rows %a } else {
//!   if %none_true { yield %others %b } else { …merge of starts and lengths, concat of data… }
//! }
//! ```

use crate::op::VectorOp;
use crate::program::{Block, Function, Instruction, Op, Operand, Register};
use nesl_prim::{ScalarOp, ScalarValue};

/// Where the registers of a function are defined.
pub(super) struct Definitions<'a>(Vec<Option<&'a Instruction>>);

impl<'a> Definitions<'a> {
    pub fn of(function: &'a Function) -> Definitions<'a> {
        let mut definitions = vec![None; function.registers.len()];
        function.body.visit(&mut |instruction| {
            instruction.results.iter().for_each(|&result| definitions[result.0 as usize] = Some(instruction));
        });
        Definitions(definitions)
    }

    /// What defines an operand; none for constants and parameters.
    fn of_operand(&self, operand: Operand) -> Option<&'a Instruction> {
        operand.register().and_then(|register| self.0[register.0 as usize])
    }

    /// The operands of what made an operand, if that is this operation.
    fn made_by(&self, operand: Operand, op: &Op) -> Option<&'a [Operand]> {
        self.of_operand(operand).filter(|maker| maker.op == *op).map(|maker| maker.operands.as_slice())
    }

    fn by_vector(&self, operand: Operand, op: VectorOp) -> Option<&'a [Operand]> {
        self.made_by(operand, &Op::Vector(op))
    }

    /// Whether a column is the starts, or the lengths, of a descriptor.
    fn is_of(&self, column: Operand, op: VectorOp, descriptor: Operand) -> bool {
        let made_of = self.by_vector(descriptor, VectorOp::View).map(|operands| match op {
            VectorOp::Starts => operands[0],
            _ => operands[1],
        });
        let packed = self.by_vector(descriptor, VectorOp::Packed).filter(|_| op == VectorOp::Lengths);
        self.by_vector(column, op) == Some(&[descriptor])
            || made_of == Some(column)
            || packed.is_some_and(|operands| operands[0] == column)
    }

    /// Whether flags are those of a conditional, or their negation.
    fn are_flags(&self, found: Operand, flags: Operand, is_true: bool) -> bool {
        if is_true { found == flags } else { self.made_by(found, &Op::Map(ScalarOp::NotBool)) == Some(&[flags]) }
    }

    /// Whether a number is how many flags are true.
    fn is_count(&self, number: Operand, flags: Operand) -> bool {
        let numbers = self.by_vector(number, VectorOp::Reduce(ScalarOp::AddInt)).map(|operands| operands[0]);
        let counted = numbers.and_then(|numbers| self.made_by(numbers, &Op::Map(ScalarOp::BoolToInt)));
        let packed = self.by_vector(number, VectorOp::Length).map(|operands| operands[0]);
        let packed = packed.and_then(|packed| self.by_vector(packed, VectorOp::Pack));
        counted == Some(&[flags]) || packed.is_some_and(|operands| operands[1] == flags)
    }

    /// Whether a condition is that no flag is true, or that none is false: that all indices but the others are none.
    fn is_none(&self, condition: Operand, flags: Operand, is_true: bool) -> bool {
        let zero = Operand::Constant(ScalarValue::Int(0));
        let compared = self.made_by(condition, &Op::Scalar(ScalarOp::EqualInt));
        let Some(&[number, _]) = compared.filter(|operands| operands[1] == zero) else { return false };
        match self.made_by(number, &Op::Scalar(ScalarOp::SubtractInt)) {
            Some(&[_, others]) if !is_true => self.is_count(others, flags),
            _ => is_true && self.is_count(number, flags),
        }
    }

    /// Whether two descriptors are known to cut as many segments as long as one another.
    fn are_as_long(&self, descriptor: Operand, other: Operand) -> bool {
        if descriptor == other {
            return true;
        }
        let packed = self.by_vector(descriptor, VectorOp::Packed).map(|operands| operands[0]);
        let lengths = packed.or_else(|| self.by_vector(descriptor, VectorOp::View).map(|operands| operands[1]));
        if let Some(mut lengths) = lengths {
            // What has been checked is the first operand.
            while let Some(checked) = self.made_by(lengths, &Op::Map(ScalarOp::CheckLengths)) {
                lengths = checked[0];
            }
            let from = self.by_vector(lengths, VectorOp::Lengths).map(|operands| operands[0]);
            return self.is_of(lengths, VectorOp::Lengths, other)
                || from.is_some_and(|from| from != descriptor && self.are_as_long(from, other));
        }
        let made = self.of_operand(descriptor).and_then(|maker| Conditional::of(self, maker));
        made.is_some_and(|conditional| {
            [true, false].into_iter().all(|is_true| {
                let rows = conditional.side(is_true).block.results[0];
                let selected = conditional.selected(self, is_true, other);
                selected.is_some_and(|selected| self.are_as_long(rows, selected))
            })
        })
    }
}

/// A branch.
pub(super) struct Side<'a> {
    /// The instruction that runs it.
    pub maker: &'a Instruction,
    /// Whether there are no segments for it.
    pub is_empty: Operand,
    /// What it does where there are.
    pub block: &'a Block,
}

/// A conditional over segments.
pub(super) struct Conditional<'a> {
    pub flags: Operand,
    when_true: Side<'a>,
    when_false: Side<'a>,
}

impl<'a> Conditional<'a> {
    /// The one of which an instruction puts together what the branches give.
    pub fn of(definitions: &Definitions<'a>, join: &'a Instruction) -> Option<Conditional<'a>> {
        let (no_false, all, rest) = branches(join)?;
        let [inner] = rest.instructions.as_slice() else { return None };
        let (no_true, others, merged) = branches(inner)?;
        let is_handed_on = rest.results.iter().copied().eq(inner.results.iter().map(|&result| result.into()));
        if !is_handed_on || !all.instructions.is_empty() || !others.instructions.is_empty() {
            return None;
        }
        let (when_true, when_false) =
            (Side::of(definitions, &all.results, no_true)?, Side::of(definitions, &others.results, no_false)?);
        let flags = merged_by(definitions, merged, &all.results, &others.results)?;
        Some(Conditional { flags, when_true, when_false })
    }

    pub fn side(&self, is_true: bool) -> &Side<'a> {
        if is_true { &self.when_true } else { &self.when_false }
    }

    /// The segments, with their descriptor and data, that a branch hands on as it gets them, where it does nothing else;
    /// and where it is certain that there are none if that is said.
    pub fn handed_on(&self, definitions: &Definitions<'a>, is_true: bool) -> Option<(Operand, Vec<Operand>)> {
        let side = self.side(is_true);
        let (&selected, data) = side.block.results.split_first()?;
        let whole = self.selection(definitions, selected, is_true)?;
        let is_outside = |operand: &Operand| {
            let is_result = |own: &Instruction| own.results.iter().any(|&result| *operand == result.into());
            operand.register().is_some() && !side.block.instructions.iter().any(is_result)
        };
        let is_said = definitions.is_none(side.is_empty, self.flags, is_true);
        (is_said && data.iter().all(is_outside)).then(|| (whole, data.to_vec()))
    }

    /// What a branch works on of the segments of a descriptor.
    pub fn selected(&self, definitions: &Definitions<'a>, is_true: bool, whole: Operand) -> Option<Operand> {
        let results = self.side(is_true).block.instructions.iter().flat_map(|instruction| &instruction.results);
        let mut results = results.map(|&result| Operand::Register(result));
        results.find(|&result| self.selection(definitions, result, is_true) == Some(whole))
    }

    /// The segments of which a descriptor has those for a branch.
    fn selection(&self, definitions: &Definitions<'a>, selected: Operand, is_true: bool) -> Option<Operand> {
        let maker = definitions.of_operand(selected)?;
        let (is_all, all, some) = branches(maker)?;
        let position = maker.results.iter().position(|&result| selected == result.into())?;
        let (whole, view) = (all.results[position], some.results[position]);
        let &[starts, lengths] = definitions.by_vector(view, VectorOp::View)? else { return None };
        let is_packed = |column: Operand, op: VectorOp| match definitions.by_vector(column, VectorOp::Pack) {
            Some(&[column, flags]) => {
                definitions.is_of(column, op, whole) && definitions.are_flags(flags, self.flags, is_true)
            }
            _ => false,
        };
        let is_so = is_all == self.side(!is_true).is_empty
            && is_packed(starts, VectorOp::Starts)
            && is_packed(lengths, VectorOp::Lengths);
        is_so.then_some(whole)
    }

    /// Whether a branch gives segments that are as long as those of a descriptor, with which it begins.
    pub fn keeps_lengths(&self, definitions: &Definitions<'a>, is_true: bool, selected: Operand) -> bool {
        definitions.are_as_long(self.side(is_true).block.results[0], selected)
    }
}

impl<'a> Side<'a> {
    /// The one that gives these, unless it has no segments.
    fn of(definitions: &Definitions<'a>, results: &[Operand], is_empty: Operand) -> Option<Side<'a>> {
        let maker = definitions.of_operand(*results.first()?)?;
        let (condition, _, block) = branches(maker)?;
        let are_all = results.iter().copied().eq(maker.results.iter().map(|&result| Operand::Register(result)));
        (are_all && condition == is_empty).then_some(Side { maker, is_empty, block })
    }

    /// What it gives.
    pub fn results(&self) -> &'a [Register] {
        &self.maker.results
    }
}

/// The condition and the blocks of an `if`.
fn branches(instruction: &Instruction) -> Option<(Operand, &Block, &Block)> {
    match &instruction.op {
        Op::If(then_block, else_block) => Some((instruction.operands[0], then_block, else_block)),
        _ => None,
    }
}

/// The flags by which a block puts together two nested sequences.
fn merged_by(
    definitions: &Definitions<'_>,
    block: &Block,
    when_true: &[Operand],
    when_false: &[Operand],
) -> Option<Operand> {
    let by = |operand: Operand, op: VectorOp| definitions.by_vector(operand, op);
    let &[starts, lengths] = by(*block.results.first()?, VectorOp::View)? else { return None };
    let (&[flags, true_starts, false_starts], &[same, true_lengths, false_lengths]) =
        (by(starts, VectorOp::Merge)?, by(lengths, VectorOp::Merge)?)
    else {
        return None;
    };
    let is_packed = |descriptor: Operand, lengths: Operand| by(descriptor, VectorOp::Packed) == Some(&[lengths]);
    let &[true_packed] = by(true_starts, VectorOp::Starts)? else { return None };
    let &[before, total] = definitions.made_by(false_starts, &Op::Map(ScalarOp::AddInt))? else { return None };
    let (&[false_packed], &[all_before]) = (by(before, VectorOp::Starts)?, by(total, VectorOp::Total)?) else {
        return None;
    };
    let are_in_order = is_packed(true_packed, true_lengths)
        && is_packed(false_packed, false_lengths)
        && is_packed(all_before, true_lengths);
    let are_theirs = definitions.is_of(true_lengths, VectorOp::Lengths, when_true[0])
        && definitions.is_of(false_lengths, VectorOp::Lengths, when_false[0]);
    let mut data = block.results.iter().zip(when_true.iter().zip(when_false)).skip(1);
    let is_data = data.all(|(&column, (&one, &other))| {
        by(column, VectorOp::Concat).is_some_and(|parts| {
            let is_of = |part: Operand, column: Operand, descriptor: Operand| {
                by(part, VectorOp::Compact) == Some(&[column, descriptor])
            };
            matches!(*parts, [first, second]
                if is_of(first, one, when_true[0]) && is_of(second, other, when_false[0]))
        })
    });
    (flags == same && are_in_order && are_theirs && is_data).then_some(flags)
}

//! What is checked once instead of at each index. Indices that go up or down evenly with the loop, as in
//! `{v[2 * i + 1] : i in [0:n]}`: where the first and the last of them are indices of a column, all between are, and
//! nothing is checked inside the loop. So do the bits by which ints are shifted. By segments the same is done for each
//! strip, as in `{[s:e:d] : …}`, where how much they go up by is known when the strip begins; there the index is kept,
//! and goes up by that.

use super::body::Body;
use super::environment::Bound;
use super::plan::{Ending, Mode, NodeOp, Source};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use cranelift_frontend::Variable;
use nesl_prim::{ScalarOp, ScalarType, ScalarValue};
use nesl_vcode::{RegisterType, VectorOp};

/// The index goes up by no more than this with each index of the loop, so that it does not wrap around between two that
/// are indices.
const FACTOR: i64 = 1 << 16;

/// The most by which an index goes up, or down, where it is checked for a strip alone.
const LARGEST_STEP: i64 = 1 << 40;

/// What an index is compared with.
#[derive(Clone, Copy)]
enum Length {
    /// What the program says; it may be negative.
    Any(Value),
    OfColumn(Value),
}

/// An index that goes up evenly inside a strip.
#[derive(Clone, Copy)]
pub(super) struct InductionVariable {
    /// What it is next.
    index: Variable,
    step: Variable,
}

impl Body<'_, '_, '_> {
    /// Checks at the first and last of the indices what is then not checked at each.
    pub(super) fn check_ends(&mut self, start: Value, end: Value) {
        if !matches!(self.mode, Mode::Whole | Mode::Piece) {
            return;
        }
        let mut bounds = Vec::new();
        for number in 0..self.plan.nodes.len() {
            let node = &self.plan.nodes[number];
            if !self.live[number] || node.space > 0 {
                continue;
            }
            let (index, length) = match (node.op, &node.operands[..]) {
                (NodeOp::Map(ScalarOp::CheckIndex), &[index, length]) => match length {
                    Source::Constant(_) => (index, Length::Any(self.operand(length))),
                    Source::Input(input) => match self.environment.inputs[input] {
                        Bound::Scalar(length) => (index, Length::Any(length)),
                        _ => continue,
                    },
                    Source::Node(_) => continue,
                },
                (NodeOp::Map(ScalarOp::ShiftLeft | ScalarOp::ShiftRight), &[_, count]) if node.is_fallible() => {
                    (count, Length::Any(self.emitter.int(64)))
                }
                (NodeOp::Vector(VectorOp::Gather), &[Source::Input(column), index]) => {
                    match self.environment.inputs[column] {
                        Bound::Column { length, .. } => (index, Length::OfColumn(length)),
                        _ => continue,
                    }
                }
                _ => continue,
            };
            if self.factor(index).is_some() {
                self.checked[number] = true;
                bounds.push((index, length));
            }
        }
        if bounds.is_empty() {
            return;
        }
        let builder = &mut self.emitter.builder;
        let (some, after) = (builder.create_block(), builder.create_block());
        let has_some = builder.ins().icmp(IntCC::SignedLessThan, start, end);
        builder.ins().brif(has_some, some, &[], after, &[]);
        builder.switch_to_block(some);
        let last = builder.ins().iadd_imm_s(end, -1);
        for (index, length) in bounds {
            if let Length::Any(length) = length {
                let is_natural = self.emitter.builder.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, length, 0);
                self.emitter.require(is_natural);
            }
            let (Length::Any(length) | Length::OfColumn(length)) = length;
            for place in [start, last] {
                let index = self.at(index, place);
                // A negative index is more than any length, taken as what has no sign.
                let is_index = self.emitter.builder.ins().icmp(IntCC::UnsignedLessThan, index, length);
                self.emitter.require(is_index);
            }
        }
        self.emitter.builder.ins().jump(after, &[]);
        self.emitter.builder.switch_to_block(after);
    }

    /// An operation that has been checked before.
    pub(super) fn checked_node(&mut self, number: usize) -> Value {
        let node = &self.plan.nodes[number];
        let first = self.operand(node.operands[0]);
        match node.op {
            NodeOp::Map(ScalarOp::ShiftLeft) => {
                let count = self.operand(node.operands[1]);
                self.emitter.builder.ins().ishl(first, count)
            }
            NodeOp::Map(ScalarOp::ShiftRight) => {
                let count = self.operand(node.operands[1]);
                self.emitter.builder.ins().sshr(first, count)
            }
            // The result of a check is its operand.
            _ => first,
        }
    }

    /// The index with which the current segment of a descriptor begins.
    pub(super) fn base_of_segment(&mut self, descriptor: Source) -> Value {
        let cursor = match descriptor {
            Source::Input(input) => self.cursors[input],
            _ => None,
        };
        let cursor = cursor.unwrap_or_else(|| unreachable!("the descriptor is used"));
        self.emitter.builder.use_var(cursor.base)
    }

    /// Whether indices that have been checked against some length are indices of a column is checked once, and not
    /// where they are used; and so is whether there are any of such a length.
    pub(super) fn check_once(&mut self, start: Value, end: Value) {
        for number in 0..self.plan.nodes.len() {
            let node = &self.plan.nodes[number];
            let is_check = node.op == NodeOp::Map(ScalarOp::CheckIndex) && node.space == 0;
            if !self.live[number] || self.checked[number] || !is_check {
                continue;
            }
            let length = match node.operands[1] {
                Source::Constant(length) => self.emitter.constant(length),
                Source::Input(input) => match self.environment.inputs[input] {
                    Bound::Scalar(length) => length,
                    _ => continue,
                },
                Source::Node(_) => continue,
            };
            let is_natural = self.emitter.builder.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, length, 0);
            let is_unused = self.emitter.builder.ins().icmp(IntCC::SignedGreaterThanOrEqual, start, end);
            let is_right = self.emitter.builder.ins().bor(is_natural, is_unused);
            self.emitter.require(is_right);
            self.has_length[number] = true;
        }
        for number in 0..self.plan.nodes.len() {
            let node = &self.plan.nodes[number];
            if !self.live[number] || self.checked[number] || node.op != NodeOp::Vector(VectorOp::Gather) {
                continue;
            }
            if let (Source::Input(column), index) = (node.operands[0], node.operands[1])
                && let Bound::Column { length, .. } = self.environment.inputs[column]
            {
                self.checked[number] = self.fits(index, length);
            }
        }
        for number in 0..self.endings.len() {
            if let Some(Ending::Scatter { indices, .. }) = self.endings[number] {
                self.is_place[number] = self.fits(indices, self.environment.outlets[number].start);
            }
        }
    }

    /// Requires that the length against which a source is checked is no more than another one; false where it is not
    /// checked against what is the same at all indices.
    fn fits(&mut self, index: Source, length: Value) -> bool {
        let Source::Node(number) = index else { return false };
        let node = &self.plan.nodes[number];
        let checked = match (node.op, &node.operands[..]) {
            (NodeOp::Map(ScalarOp::CheckIndex), &[_, Source::Constant(checked)]) => self.emitter.constant(checked),
            (NodeOp::Map(ScalarOp::CheckIndex), &[_, Source::Input(input)]) => match self.environment.inputs[input] {
                Bound::Scalar(checked) => checked,
                _ => return false,
            },
            _ => return false,
        };
        if checked != length {
            let is_no_more = self.emitter.builder.ins().icmp(IntCC::UnsignedLessThanOrEqual, checked, length);
            self.emitter.require(is_no_more);
        }
        true
    }

    /// Finds the indices that go up evenly inside a strip, and are checked when it begins.
    pub(super) fn find_even(&mut self) {
        if !matches!(self.mode, Mode::Whole | Mode::Piece) || self.cursors.iter().all(Option::is_none) {
            return;
        }
        for number in 0..self.plan.nodes.len() {
            let node = &self.plan.nodes[number];
            let (NodeOp::Map(ScalarOp::CheckIndex), &[index, length]) = (node.op, &node.operands[..]) else { continue };
            let is_scalar = match length {
                Source::Constant(_) => true,
                Source::Input(input) => matches!(self.plan.inputs[input], RegisterType::Scalar(_)),
                Source::Node(_) => false,
            };
            if self.live[number]
                && !self.checked[number]
                && node.space == 0
                && is_scalar
                && self.is_even(index) == Some(true)
            {
                self.checked[number] = true;
                let zero = self.emitter.int(0);
                self.even[number] = Some(InductionVariable { index: self.variable(zero), step: self.variable(zero) });
            }
        }
        // What only such indices are computed from is not computed.
        for number in (0..self.plan.nodes.len()).rev() {
            let source = Source::Node(number);
            let is_ending = self.endings.iter().flatten().any(|ending| ending.sources().contains(&source));
            let is_flag =
                (1..self.plan.spaces()).filter_map(|space| self.plan.space(space)).any(|space| space.flags == source);
            let mut readers = self.plan.nodes.iter().enumerate().filter(|(_, node)| node.operands.contains(&source));
            let is_fallible = self.plan.nodes[number].is_fallible();
            if !is_ending
                && !is_flag
                && !is_fallible
                && readers.all(|(reader, _)| self.even[reader].is_some() || !self.live[reader])
            {
                self.live[number] = self.of_segment(number);
            }
        }
    }

    /// Whether a node is read when a strip begins.
    fn of_segment(&self, number: usize) -> bool {
        self.live[number] && matches!(self.plan.nodes[number].op, NodeOp::Vector(VectorOp::SegDist))
    }

    /// Requires of the strip that begins with an index that those indices are some, and finds what they go up by.
    pub(super) fn begin_even(&mut self, i: Value, stop: Value) {
        for number in 0..self.plan.nodes.len() {
            let Some(even) = self.even[number] else { continue };
            let (index, length) = (self.plan.nodes[number].operands[0], self.plan.nodes[number].operands[1]);
            let length = self.operand(length);
            let (first, step) = self.line(index, i);
            let step = step.unwrap_or_else(|| unreachable!("the index goes up"));
            let builder = &mut self.emitter.builder;
            let count = builder.ins().isub(stop, i);
            let others = builder.ins().iadd_imm_s(count, -1);
            let further = builder.ins().imul(others, step);
            let last = builder.ins().iadd(first, further);
            let begins = builder.ins().icmp(IntCC::UnsignedLessThan, first, length);
            let ends = builder.ins().icmp(IntCC::UnsignedLessThan, last, length);
            let is_natural = builder.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, length, 0);
            // Nothing wraps around between them: strips are short, and steps are.
            let from_least = builder.ins().iadd_imm_s(step, LARGEST_STEP);
            let is_small = builder.ins().icmp_imm_u(IntCC::UnsignedLessThanOrEqual, from_least, 2 * LARGEST_STEP);
            let is_single = builder.ins().icmp_imm_s(IntCC::Equal, others, 0);
            let is_step = builder.ins().bor(is_small, is_single);
            let mut are_indices = builder.ins().band(begins, ends);
            are_indices = builder.ins().band(are_indices, is_natural);
            are_indices = builder.ins().band(are_indices, is_step);
            self.emitter.require(are_indices);
            self.emitter.builder.def_var(even.index, first);
            self.emitter.builder.def_var(even.step, step);
        }
    }

    /// The index at the current place of a strip, and on to the next.
    pub(super) fn next_even(&mut self, even: InductionVariable) -> Value {
        let (index, step) = (self.emitter.builder.use_var(even.index), self.emitter.builder.use_var(even.step));
        let next = self.emitter.builder.ins().iadd(index, step);
        self.emitter.builder.def_var(even.index, next);
        index
    }

    /// Whether a source goes up evenly inside a strip: true if it may go up, false if it is the same at all its
    /// indices.
    fn is_even(&self, source: Source) -> Option<bool> {
        let number = match source {
            Source::Node(number) => number,
            Source::Constant(ScalarValue::Int(_)) => return Some(false),
            Source::Input(input) => {
                return (self.plan.inputs[input] == RegisterType::Scalar(ScalarType::Int)).then_some(false);
            }
            Source::Constant(_) => return None,
        };
        let node = &self.plan.nodes[number];
        match (node.op, &node.operands[..]) {
            _ if node.space > 0 => None,
            (NodeOp::Vector(VectorOp::Iota | VectorOp::SegIota), _) => Some(true),
            (NodeOp::Vector(VectorOp::SegDist), _) if self.live[number] => Some(false),
            (NodeOp::Map(ScalarOp::AddInt | ScalarOp::SubtractInt), &[a, b]) => {
                Some(self.is_even(a)? | self.is_even(b)?)
            }
            (NodeOp::Map(ScalarOp::MultiplyInt), &[a, b]) => match (self.is_even(a)?, self.is_even(b)?) {
                (true, true) => None,
                (first, second) => Some(first || second),
            },
            _ => None,
        }
    }

    /// What such a source is at the index with which a strip begins, and what it goes up by.
    fn line(&mut self, source: Source, i: Value) -> (Value, Option<Value>) {
        let Source::Node(number) = source else { return (self.operand(source), None) };
        let plan = self.plan;
        let node = &plan.nodes[number];
        match node.op {
            NodeOp::Vector(VectorOp::Iota) => (i, Some(self.emitter.int(1))),
            NodeOp::Vector(VectorOp::SegIota) => {
                let base = self.base_of_segment(node.operands[0]);
                (self.emitter.builder.ins().isub(i, base), Some(self.emitter.int(1)))
            }
            NodeOp::Map(op) => {
                let [(a, up), (b, more)] = [0, 1].map(|operand| self.line(node.operands[operand], i));
                let first = self.emitter.scalar(op, &[a, b]);
                let step = match (op, up, more) {
                    (_, None, None) => None,
                    (ScalarOp::MultiplyInt, Some(up), _) => Some(self.emitter.scalar(op, &[up, b])),
                    (ScalarOp::MultiplyInt, None, Some(more)) => Some(self.emitter.scalar(op, &[a, more])),
                    (_, Some(up), None) => Some(up),
                    (_, up, Some(more)) => {
                        let up = up.unwrap_or_else(|| self.emitter.int(0));
                        Some(self.emitter.scalar(op, &[up, more]))
                    }
                };
                (first, step)
            }
            NodeOp::Vector(_) => {
                (self.of_strip[number].unwrap_or_else(|| unreachable!("it was read when the strip began")), None)
            }
        }
    }

    /// By how much a source goes up with the loop's index, if that is always the same.
    pub(super) fn factor(&self, source: Source) -> Option<i64> {
        let number = match source {
            Source::Node(number) => number,
            Source::Constant(ScalarValue::Int(_)) => return Some(0),
            Source::Input(input) => {
                return matches!(self.plan.inputs[input], RegisterType::Scalar(_)).then_some(0);
            }
            Source::Constant(_) => return None,
        };
        let node = &self.plan.nodes[number];
        let factor = match (node.op, &node.operands[..]) {
            (NodeOp::Vector(VectorOp::Iota), _) => Some(1),
            (NodeOp::Map(ScalarOp::CheckIndex), &[index, _]) if self.checked[number] => self.factor(index),
            (NodeOp::Map(ScalarOp::MultiplyInt), &[a, Source::Constant(ScalarValue::Int(times))])
            | (NodeOp::Map(ScalarOp::MultiplyInt), &[Source::Constant(ScalarValue::Int(times)), a]) => {
                self.factor(a)?.checked_mul(times)
            }
            (NodeOp::Map(ScalarOp::AddInt), &[a, b]) => self.factor(a)?.checked_add(self.factor(b)?),
            (NodeOp::Map(ScalarOp::SubtractInt), &[a, b]) => self.factor(a)?.checked_sub(self.factor(b)?),
            _ => None,
        };
        factor.filter(|factor| (-FACTOR..=FACTOR).contains(factor))
    }

    /// What such a source is at the loop's index.
    pub(super) fn at_loop_index(&mut self, source: Source) -> Value {
        let index = self.now.index.unwrap_or_else(|| unreachable!("elements are read at an index"));
        self.at(source, index)
    }

    /// What such a source is at an index.
    fn at(&mut self, source: Source, index: Value) -> Value {
        let Source::Node(number) = source else { return self.operand(source) };
        let plan = self.plan;
        let node = &plan.nodes[number];
        match node.op {
            NodeOp::Map(ScalarOp::CheckIndex) => self.at(node.operands[0], index),
            NodeOp::Map(op) => {
                let operands: Vec<Value> = node.operands.iter().map(|&operand| self.at(operand, index)).collect();
                self.emitter.scalar(op, &operands)
            }
            NodeOp::Vector(_) => index,
        }
    }
}

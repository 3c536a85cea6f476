//! What is checked once instead of at each index. Indices that go up or down evenly with the loop, as in `{v[2 * i + 1] : i in [0:n]}`: where the first and the last of them are
//! indices of a column, all between are, and nothing is checked inside the loop.

use super::body::Body;
use super::emit::{Bound, Mode};
use super::plan::{Ending, NodeOp, Source};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use nesl_prim::{ScalarOp, ScalarValue};
use nesl_vcode::{RegisterType, VectorOp};

/// The index goes up by no more than this with each index of the loop, so that it does not wrap around between two that are indices.
const FACTOR: i64 = 1 << 16;

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
                    Source::Constant(_) => (index, self.operand(length)),
                    Source::Input(input) => match self.environment.inputs[input] {
                        Bound::Scalar(length) => (index, length),
                        _ => continue,
                    },
                    Source::Node(_) => continue,
                },
                (NodeOp::Vector(VectorOp::Gather), &[Source::Input(column), index]) => {
                    match self.environment.inputs[column] {
                        Bound::Column { length, .. } => (index, length),
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
        let last = self.emitter.builder.ins().iadd_imm_s(end, -1);
        let mut are_indices = self.emitter.builder.ins().icmp(IntCC::SignedGreaterThanOrEqual, start, end);
        let mut all = None;
        for (index, length) in bounds {
            for place in [start, last] {
                let index = self.at(index, place);
                let below = self.emitter.builder.ins().icmp(IntCC::SignedLessThan, index, length);
                let is_natural = self.emitter.builder.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, index, 0);
                let is_index = self.emitter.builder.ins().band(below, is_natural);
                all = Some(match all {
                    None => is_index,
                    Some(all) => self.emitter.builder.ins().band(all, is_index),
                });
            }
        }
        if let Some(all) = all {
            are_indices = self.emitter.builder.ins().bor(are_indices, all);
        }
        self.emitter.require(are_indices);
    }

    /// Whether indices that have been checked against some length are indices of a column is checked once, and not where they
    /// are used.
    pub(super) fn check_once(&mut self) {
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

    /// Requires that the length against which a source is checked is no more than another one; false where it is not checked
    /// against what is the same at all indices.
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

    /// By how much a source goes up with the loop's index, if that is always the same.
    fn factor(&self, source: Source) -> Option<i64> {
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

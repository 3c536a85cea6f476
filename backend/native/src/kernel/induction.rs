//! What is checked once instead of at each index ([`super::analysis`] says what), and indices that are counted up.
//!
//! Indices that go up or down evenly with the loop, as in `{v[2 * i + 1] : i in [0:n]}`: where the first and the last
//! of them are indices of a column, all between are. By segments the same is done for each strip, as in
//! `{[s:e:d] : …}`, where how much they go up by is known when the strip begins; there the index is kept, and goes up
//! by that.
//!
//! ```text
//! before the loops:       if start < end { require 2 * start + 1 < length; require 2 * (end - 1) + 1 < length }
//!                         require checked_length <= length        // of indices checked against another length
//! when a strip begins:    index = f(i); step = what f goes up by
//!                         require index < length and index + (stop - i - 1) * step < length
//! at each index:          use index; index += step
//! ```

use super::analysis::{Evolution, IndexedColumn, Length};
use super::loop_emitter::{InductionVariable, LoopEmitter};
use super::plan::{NodeOp, PlanOperand};
use crate::emitter::{TRUSTED, machine_type};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use nesl_prim::ScalarOp;
use nesl_vcode::VectorOp;

/// The most by which an index goes up, or down, where it is checked for a strip alone.
const LARGEST_STEP: i64 = 1 << 40;

impl LoopEmitter<'_, '_, '_> {
    /// Checks at the first and last of the indices what is then not checked at each.
    pub(super) fn check_ends(&mut self, start: Value, end: Value) {
        let mut bounds = Vec::new();
        for check in &self.analysis.end_checks {
            let (length, is_known) = match check.length {
                Length::Any(length) => (self.operand(length), false),
                Length::OfColumn(input) => (self.environment.column(input).length, true),
            };
            bounds.push((check.index, length, is_known));
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
        for (index, length, is_known) in bounds {
            if !is_known {
                let is_natural = self.emitter.builder.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, length, 0);
                self.emitter.require(is_natural);
            }
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
    pub(super) fn base_of_segment(&mut self, descriptor: PlanOperand) -> Value {
        self.emitter.builder.use_var(self.cursors[descriptor.outside()].base)
    }

    /// Whether indices that have been checked against some length are indices of a column is checked once, and not
    /// where they are used; and so is whether there are any of such a length.
    pub(super) fn check_lengths(&mut self, start: Value, end: Value) {
        for (number, node) in self.plan.nodes.iter().enumerate() {
            if !self.analysis.has_length[number] {
                continue;
            }
            let length = self.operand(node.operands[1]);
            let is_natural = self.emitter.builder.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, length, 0);
            let is_unused = self.emitter.builder.ins().icmp(IntCC::SignedGreaterThanOrEqual, start, end);
            let is_right = self.emitter.builder.ins().bor(is_natural, is_unused);
            self.emitter.require(is_right);
        }
        for check in &self.analysis.length_checks {
            let checked = self.operand(check.length);
            let length = match check.column {
                IndexedColumn::Input(input) => self.environment.column(input).length,
                IndexedColumn::Yield(index) => self.environment.outlets[index].start,
            };
            if checked != length {
                let is_no_more = self.emitter.builder.ins().icmp(IntCC::UnsignedLessThanOrEqual, checked, length);
                self.emitter.require(is_no_more);
            }
        }
    }

    /// Defines the indices that go up evenly inside a strip, and are checked when it begins.
    pub(super) fn begin_inductions(&mut self) {
        for number in (0..self.plan.nodes.len()).filter(|&number| self.analysis.inductions[number]) {
            let zero = self.emitter.int(0);
            let induction = InductionVariable { index: self.variable(zero), step: self.variable(zero) };
            self.inductions.set(number, induction);
        }
    }

    /// Requires of the strip that begins with an index that those indices are some, and finds what they go up by.
    pub(super) fn check_inductions(&mut self, i: Value, stop: Value) {
        for number in 0..self.plan.nodes.len() {
            let Some(induction) = self.inductions.get(number) else { continue };
            let operands = &self.plan.nodes[number].operands;
            let (index, length) = match self.plan.nodes[number].op {
                NodeOp::Vector(_) => (operands[1], self.environment.column(operands[0].outside()).length),
                NodeOp::Map(_) => (operands[0], self.operand(operands[1])),
            };
            let (first, step) = self.line(index, i);
            let step = step.unwrap_or_else(|| self.emitter.int(0));
            self.require_line(first, step, length, (i, stop));
            if self.analysis.is_consecutive(number) {
                let (pointer, size) =
                    (self.pointer(operands[0].outside()), machine_type(self.plan.nodes[number].ty).bytes());
                let before = self.emitter.builder.ins().isub(first, i);
                let bias = self.emitter.address(pointer, before, size);
                self.of_strip.set(number, bias);
            } else {
                self.emitter.builder.def_var(induction.index, first);
                self.emitter.builder.def_var(induction.step, step);
            }
        }
    }

    /// Requires that what begins with an index and goes up by a step, for a strip, are indices of some length.
    fn require_line(&mut self, first: Value, step: Value, length: Value, (i, stop): (Value, Value)) {
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
    }

    /// The element that a node reads at an index that goes up evenly, and on to the next.
    pub(super) fn next_gathered(&mut self, number: usize) -> Value {
        let node = &self.plan.nodes[number];
        let (index, ty) = (self.next_induction(self.inductions[number]), machine_type(node.ty));
        let address = self.emitter.address(self.pointer(node.operands[0].outside()), index, ty.bytes());
        self.emitter.builder.ins().load(ty, TRUSTED, address, 0)
    }

    /// The first element and the stride of a column that is known to be a progression.
    pub(super) fn progression(&self, input: usize) -> [Value; 2] {
        let progression = self.environment.column(input).progression;
        progression.unwrap_or_else(|| unreachable!("it is known to be a progression"))
    }

    /// The index at the current place of a strip, and on to the next.
    pub(super) fn next_induction(&mut self, variable: InductionVariable) -> Value {
        let (index, step) = (self.emitter.builder.use_var(variable.index), self.emitter.builder.use_var(variable.step));
        let next = self.emitter.builder.ins().iadd(index, step);
        self.emitter.builder.def_var(variable.index, next);
        index
    }

    /// What such a source is at the index with which a strip begins, and what it goes up by; nothing where it stays.
    fn line(&mut self, source: PlanOperand, i: Value) -> (Value, Option<Value>) {
        let PlanOperand::Node(number) = source else { return (self.operand(source), None) };
        if let (Some(Evolution::Invariant), Some(value)) = (self.analysis.evolutions[number], self.of_strip.get(number))
        {
            return (value, None);
        }
        let plan = self.plan;
        let node = &plan.nodes[number];
        match (node.op, &node.operands[..]) {
            (NodeOp::Vector(VectorOp::Iota), _) => (i, Some(self.emitter.int(1))),
            (NodeOp::Vector(VectorOp::SegIota), _) => {
                let base = self.base_of_segment(node.operands[0]);
                (self.emitter.builder.ins().isub(i, base), Some(self.emitter.int(1)))
            }
            (NodeOp::Vector(VectorOp::Gather), &[PlanOperand::Input(column), index]) => {
                let place = self.line(index, i);
                self.line_of_progression(column, place)
            }
            (NodeOp::Vector(_), &[PlanOperand::Input(column), _]) => self.line_of_compact(number, column, i),
            // What is checked for the whole strip is so on its own.
            (NodeOp::Map(ScalarOp::CheckIndex), &[index, _]) => self.line(index, i),
            (NodeOp::Map(op), &[a, b]) => {
                let [(a, up), (b, more)] = [a, b].map(|operand| self.line(operand, i));
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
            _ => unreachable!("what goes up evenly is made of sums, products and progressions"),
        }
    }

    /// What is taken together of a progression, element after element: what it is at an index, and what it goes up by.
    pub(super) fn line_of_compact(&mut self, number: usize, column: usize, i: Value) -> (Value, Option<Value>) {
        let (_, length, cursor) = self.column_and_cursor(number);
        let nowhere = self.emitter.int(0);
        let before = self.bias_of_segment(nowhere, length, cursor, 1);
        let place = self.emitter.builder.ins().iadd(before, i);
        let one = self.emitter.int(1);
        self.line_of_progression(column, (place, Some(one)))
    }

    /// What a progression is at places that go up evenly.
    fn line_of_progression(&mut self, column: usize, (place, step): (Value, Option<Value>)) -> (Value, Option<Value>) {
        let [first, stride] = self.progression(column);
        let further = self.emitter.builder.ins().imul(place, stride);
        let first = self.emitter.builder.ins().iadd(first, further);
        (first, step.map(|step| self.emitter.builder.ins().imul(step, stride)))
    }

    /// What such a source is at the loop's index.
    pub(super) fn at_loop_index(&mut self, source: PlanOperand) -> Value {
        self.at(source, self.now.loop_index())
    }

    /// What such a source is at an index.
    fn at(&mut self, source: PlanOperand, index: Value) -> Value {
        let PlanOperand::Node(number) = source else { return self.operand(source) };
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

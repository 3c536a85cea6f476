//! The loop over the indices of a strip: one index at a time, or many, or vectors of them as long as there are so many.
//!
//! ```text
//! begin_strip:    read seg_dist, compute what is invariant, find where compact reads, check induction variables
//! is_wide:        for ; i + 4 * 2 <= stop; i += 4 * 2 { at i..i+1, i+2..i+3, i+4..i+5, i+6..i+7 }    // vectors
//! narrow:         for ; i + 16 <= stop; i += 16 { at i ..= i + 15 }                                     // bytes
//! times == 4:     for ; i + 4 <= stop; i += 4 { at i, i+1, i+2, i+3 }
//! always:         for ; i < stop; i += 1 { at i }
//! ```
//!
//! Each loop is *rotated*: its condition is looked at before it and at its end. Where all that comes of it is whether
//! all, or any, elements are so, `i` goes to `stop` as soon as that is known. In a piece, where filters may not write
//! behind their room, there is a loop around them:
//!
//! ```text
//! while i < stop {
//!     count = min(stop - i, room left in each space)
//!     if count is few { for ; i < stop; i += 1 { at i, writing aside what is not kept }; break }
//!     the loops above for i .. i + count                   // whatever filters keep, there is room
//! }
//! ```

use super::analysis::UNROLL;
use super::environment::{Bound, BoundColumn};
use super::loop_emitter::{Cursor, LoopEmitter, Now};
use super::plan::{Ending, Mode, NodeOp, PlanOperand, Stride};
use crate::emitter::{TRUSTED, machine_type};
use crate::scalar::vector::LANES;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use cranelift_frontend::Variable;
use nesl_prim::ScalarOp;
use nesl_vcode::VectorOp;

/// Indices from which on it is worth looking again how many there is room for.
const WORTH_A_ROUND: i64 = 16;

/// So many columns in a loop are more than what stays in registers anyway.
const MANY: usize = 4;

impl LoopEmitter<'_, '_, '_> {
    /// Reads what is the same for a strip that begins with an index.
    pub fn begin_strip(&mut self, i: Value, stop: Value) {
        self.now = Now::nothing(self.plan, Some(i));
        self.of_strip = self.now.nodes.clone();
        for (number, node) in self.plan.nodes.iter().enumerate().filter(|&(number, _)| self.analysis.live[number]) {
            let value = match node.op {
                _ if self.analysis.invariants[number] => self.invariant(number),
                NodeOp::Vector(VectorOp::SegDist) => self.of_segment(number),
                NodeOp::Vector(VectorOp::Compact) => {
                    let (pointer, length, cursor) = self.column_and_cursor(number);
                    self.bias_of_segment(pointer, length, cursor, machine_type(node.ty).bytes())
                }
                _ => continue,
            };
            self.of_strip.set(number, value);
            self.now.nodes.set(number, value);
        }
        self.check_inductions(i, stop);
        for index in 0..self.analysis.endings.len() {
            if self.analysis.is_in_blocks(index) {
                self.begin_block(index, i);
            }
            if let Some(Ending::SegScatter { descriptor, .. }) = self.analysis.endings[index] {
                let (outlet, cursor) = (self.environment.outlets[index], self.cursors[descriptor]);
                let ty = machine_type(self.plan.nodes[self.plan.yields[index]].ty);
                let bias = self.bias_of_segment(outlet.pointer, outlet.start, cursor, ty.bytes());
                self.biases.set(index, bias);
            }
        }
    }

    /// What is the same at all indices of a strip.
    fn invariant(&mut self, number: usize) -> Value {
        if let PlanOperand::Input(column) = self.plan.nodes[number].operands[0]
            && self.plan.stride_of(column) == Some(Stride::Zero)
            && !matches!(self.plan.nodes[number].op, NodeOp::Map(_))
        {
            return self.progression(column)[0];
        }
        self.node(number, None)
    }

    /// The element of a column for the current segment.
    pub(super) fn of_segment(&mut self, number: usize) -> Value {
        let (pointer, _, cursor) = self.column_and_cursor(number);
        let ty = machine_type(self.plan.nodes[number].ty);
        let segment = self.emitter.builder.use_var(cursor.segment);
        let address = self.emitter.address(pointer, segment, ty.bytes());
        self.emitter.builder.ins().load(ty, TRUSTED, address, 0)
    }

    /// The column and the descriptor that a node reads, which come from outside: where the one is and how long, and
    /// where the loop is in the other.
    pub(super) fn column_and_cursor(&self, number: usize) -> (Value, Value, Cursor) {
        let [column, descriptor] = [0, 1].map(|position| self.plan.nodes[number].operands[position].outside());
        let BoundColumn { pointer, length, .. } = self.environment.column(column);
        (pointer, length, self.cursors[descriptor])
    }

    /// The loop over the indices of a strip up to an end.
    pub fn strip(&mut self, index: Variable, stop: Value) {
        if self.analysis.mode == Mode::Piece && self.positions.iter().any(Option::is_some) {
            return self.strip_of_piece(index, stop);
        }
        if self.analysis.is_wide {
            self.strip_of_lanes(index, stop);
            self.rotated_apart(index, stop, UNROLL, LANES);
        } else if let Some(lanes) = self.analysis.narrow {
            self.rotated_apart(index, stop, 1, lanes.count());
        } else if self.analysis.times > 1 {
            self.rotated_apart(index, stop, self.analysis.times, 1);
        }
        self.rotated(index, stop, 1, 1);
    }

    /// The same where nothing may be written behind the room of a piece. As many indices as there is room for are taken
    /// without looking, and then as many as there still is room for: filters keep only some of them.
    fn strip_of_piece(&mut self, index: Variable, stop: Value) {
        let builder = &mut self.emitter.builder;
        let [header, roomy, tight, after] = [(); 4].map(|()| builder.create_block());
        builder.ins().jump(header, &[]);
        builder.switch_to_block(header);
        let i = builder.use_var(index);
        let left = builder.ins().isub(stop, i);
        let mut count = left;
        for space in 0..self.positions.len() {
            let Some(position) = self.positions[space] else { continue };
            let position = self.emitter.builder.use_var(position);
            let room = self.emitter.builder.ins().isub(self.environment.limits[space], position);
            count = self.emitter.builder.ins().smin(count, room);
        }
        let builder = &mut self.emitter.builder;
        let worth = builder.ins().iconst(types::I64, WORTH_A_ROUND);
        let least = builder.ins().smin(left, worth);
        let is_enough = builder.ins().icmp(IntCC::SignedGreaterThanOrEqual, count, least);
        builder.ins().brif(is_enough, roomy, &[], tight, &[]);
        builder.switch_to_block(roomy);
        let end = builder.ins().iadd(i, count);
        self.has_room = true;
        if self.analysis.times > 1 {
            self.rotated_apart(index, end, self.analysis.times, 1);
        }
        self.rotated(index, end, 1, 1);
        self.has_room = false;
        let builder = &mut self.emitter.builder;
        let is_left = builder.ins().icmp(IntCC::SignedLessThan, end, stop);
        builder.ins().brif(is_left, header, &[], after, &[]);
        builder.switch_to_block(tight);
        self.rotated(index, stop, 1, 1);
        self.emitter.builder.ins().jump(after, &[]);
        self.emitter.builder.switch_to_block(after);
    }

    /// The loop that takes many indices at a time, with addresses of its own: what is kept across calls lies on the
    /// stack, and would be read from there each time that it is used.
    pub fn rotated_apart(&mut self, index: Variable, stop: Value, times: usize, lanes: usize) {
        let columns = self.environment.inputs.iter().filter(|bound| matches!(bound, Bound::Column(_))).count();
        if self.cursors.iter().next().is_some() || columns + self.environment.outlets.len() < MANY {
            return self.rotated(index, stop, times, lanes);
        }
        let outside = self.environment.clone();
        // Ends are no negative numbers, which the compiler does not know.
        let zero = self.emitter.builder.ins().ushr_imm_u(stop, 63);
        let builder = &mut self.emitter.builder;
        for bound in &mut self.environment.inputs {
            if let Bound::Column(column) = bound {
                column.pointer = builder.ins().iadd(column.pointer, zero);
            }
        }
        for outlet in &mut self.environment.outlets {
            outlet.pointer = builder.ins().iadd(outlet.pointer, zero);
        }
        self.rotated(index, stop, times, lanes);
        self.environment = outside;
    }

    /// A loop while there are so many vectors of so many indices before an end, with its condition behind it.
    fn rotated(&mut self, index: Variable, stop: Value, times: usize, lanes: usize) {
        let end = stop;
        let builder = &mut self.emitter.builder;
        let step = (times * lanes) as i64;
        let stop = if step > 1 { builder.ins().iadd_imm_s(stop, 1 - step) } else { stop };
        let (body, after) = (builder.create_block(), builder.create_block());
        self.go_on(index, stop, body, after);
        self.emitter.builder.switch_to_block(body);
        let i = self.emitter.builder.use_var(index);
        for turn in 0..times {
            self.now = Now { further: turn * lanes, ..Now::nothing(self.plan, Some(i)) };
            match self.analysis.narrow {
                _ if lanes == 1 => self.space(0, None),
                Some(narrow) => self.narrow_indices(narrow),
                None => self.wide_indices(),
            }
        }
        let next = self.emitter.builder.ins().iadd_imm_s(i, step);
        self.emitter.builder.def_var(index, next);
        self.leave_if_decided(index, end, after, lanes);
        let is_reduced = lanes > 1 && self.reduces_segments();
        let leaving = if is_reduced { self.emitter.builder.create_block() } else { after };
        self.go_on(index, stop, body, leaving);
        if is_reduced {
            self.emitter.builder.switch_to_block(leaving);
            self.end_wide_strip();
            self.emitter.builder.ins().jump(after, &[]);
        }
        self.emitter.builder.switch_to_block(after);
    }

    /// Leaves the loop, as if it had reached an end, where nothing that is still to come makes a difference.
    fn leave_if_decided(&mut self, index: Variable, end: Value, after: Block, lanes: usize) {
        let Some(op) = self.analysis.decided_early() else { return };
        let accumulators = self.values(0);
        let mut so_far = self.emitter.builder.use_var(accumulators[0]);
        for &other in &accumulators[1..] {
            let other = self.emitter.builder.use_var(other);
            so_far = self.emitter.scalar(op, &[so_far, other]);
        }
        if let Some(in_lanes) = (lanes > 1).then(|| self.narrow_truth(0, op)).flatten() {
            so_far = self.emitter.scalar(op, &[so_far, in_lanes]);
        }
        let builder = &mut self.emitter.builder;
        let (decided, open) = (builder.create_block(), builder.create_block());
        let [if_true, if_false] = if op == ScalarOp::OrBool { [decided, open] } else { [open, decided] };
        builder.ins().brif(so_far, if_true, &[], if_false, &[]);
        builder.switch_to_block(decided);
        builder.def_var(index, end);
        builder.ins().jump(after, &[]);
        builder.switch_to_block(open);
    }

    /// Goes to the body of a loop while the index is before a stop.
    fn go_on(&mut self, index: Variable, stop: Value, body: Block, after: Block) {
        let builder = &mut self.emitter.builder;
        let i = builder.use_var(index);
        let is_inside = builder.ins().icmp(IntCC::SignedLessThan, i, stop);
        builder.ins().brif(is_inside, body, &[], after, &[]);
    }
}

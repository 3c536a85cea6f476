//! Float sums and products whose lanes stay in registers, while the loop takes as many indices at a time as a block has
//! lanes.
//!
//! A kernel writes the elements of a block to a buffer, where they are combined lane by lane ([`crate::sums`]). A loop
//! that computes one sum, and two indices at once, can keep the lanes instead: nothing is written in it. In the end
//! they are written as if they were the first elements of the block, which gives the same bits, as every lane begins
//! with an element; what is left of the block comes behind them.
//!
//! ```text
//! if a block begins with the strip, and there are LANES indices {
//!     lanes = 0
//!     for ; i + LANES <= stop; i += LANES { lanes = lanes + (v[i], v[i + 1], …) }
//!     buffer[..LANES] = lanes; n = LANES
//! }
//! for ; i < stop; i += 1 { buffer[n] = v[i]; n += 1 }     // super::strip_mining
//! at the end of a block:  complete_lanes(n)
//! ```
//!
//! Sums of segments are computed so where segments are long: then each is added up where it ends, not as many as the
//! buffer holds.

use super::loop_emitter::{Cursor, Lanes, LoopEmitter};
use super::plan::Mode;
use crate::emitter::TRUSTED;
use crate::scalar::vector::LANES;
use crate::sums::BUFFER;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_frontend::Variable;
use nesl_prim::{ScalarOp, sum};
use std::ops::Range;

/// Vectors that the lanes of a block are.
const VECTORS: usize = sum::LANES / LANES;

/// Elements of a segment, on average, from which on it is worth adding up each by itself.
const LONG: i64 = 64;

impl LoopEmitter<'_, '_, '_> {
    /// Keeps the lanes of the only yield, if it is a sum of all.
    pub fn keep_lanes(&mut self, start: Value) {
        if let Some(op) = self.analysis.sum_in_lanes() {
            let bias = self.bias_of_block(0, start);
            self.begin_lanes(op, None, self.environment.outlets[0].pointer, bias);
        }
    }

    /// Whether segments are long enough for it, of which there are so many indices.
    pub fn are_long(&mut self, cursor: Cursor, indices: &Range<Value>) -> Value {
        let builder = &mut self.emitter.builder;
        let first = builder.use_var(cursor.segment);
        let segments = builder.ins().isub(cursor.segments, first);
        let least = builder.ins().imul_imm_s(segments, LONG);
        let count = builder.ins().isub(indices.end, indices.start);
        builder.ins().icmp(IntCC::SignedGreaterThanOrEqual, count, least)
    }

    /// Keeps the lanes of [such a yield](super::analysis::Analysis::segment_sum_in_lanes), which begins with a segment.
    pub fn keep_lanes_of_segments(&mut self, op: ScalarOp, descriptor: usize, start: Value) {
        let sums = self.environment.outlets[0].start;
        let offset = self.emitter.builder.ins().ishl_imm_u(start, 3);
        let bias = self.emitter.builder.ins().isub(sums, offset);
        self.begin_lanes(op, Some(descriptor), sums, bias);
    }

    fn begin_lanes(&mut self, op: ScalarOp, descriptor: Option<usize>, sums: Value, bias: Value) {
        let identity = self.identity(op);
        let identity = self.emitter.splat(identity);
        let vectors = (0..VECTORS).map(|_| self.variable(identity)).collect();
        let bias = self.variable(bias);
        self.lanes = Some(Lanes { yields: 0, op, descriptor, sums, vectors, bias, is_kept: false });
    }

    /// The lanes that are kept for the segments of a descriptor.
    pub fn lanes_of(&self, descriptor: usize) -> Option<&Lanes> {
        self.lanes.as_ref().filter(|lanes| lanes.descriptor.is_some_and(|of| self.plan.is_alike(of, descriptor)))
    }

    /// The result of a segment that ends before an index, by its lanes.
    pub fn sum_of_segment(&mut self, lanes: &Lanes, stop: Value) -> Value {
        let filled = self.filled(lanes, stop);
        let result = self.emitter.finish_sums(lanes.sums, filled);
        self.place_next(lanes, stop, 0);
        result
    }

    /// The address that index 0 would have in the buffer of a yield, for the block of an index.
    pub fn bias_of_block(&mut self, index: usize, i: Value) -> Value {
        let builder = &mut self.emitter.builder;
        let begin = builder.ins().band_imm_s(i, !(sum::BLOCK as i64 - 1));
        let offset = builder.ins().ishl_imm_u(begin, 3);
        builder.ins().isub(self.environment.outlets[index].pointer, offset)
    }

    /// The same where a strip is now.
    pub fn bias(&mut self, index: usize) -> Value {
        match &self.lanes {
            Some(lanes) if lanes.yields == index => self.emitter.builder.use_var(lanes.bias),
            _ => self.biases[index],
        }
    }

    /// Says where the elements of a yield go in a strip that is inside the block of an index.
    pub fn begin_block(&mut self, index: usize, i: Value) {
        let bias = self.bias_of_block(index, i);
        match &self.lanes {
            Some(lanes) if lanes.yields == index => self.emitter.builder.def_var(lanes.bias, bias),
            _ => self.biases.set(index, bias),
        }
    }

    /// The block of a yield ends before an index.
    pub fn complete_block(&mut self, index: usize, stop: Value) {
        match self.lanes.clone() {
            Some(lanes) if lanes.yields == index => {
                let filled = self.filled(&lanes, stop);
                self.emitter.complete_lanes(lanes.sums, filled);
                self.place_next(&lanes, stop, 0);
            }
            _ => self.emitter.complete_sums(self.environment.outlets[index].pointer),
        }
    }

    /// The element of an index goes to a position in the buffer.
    fn place_next(&mut self, lanes: &Lanes, index: Value, position: usize) {
        let builder = &mut self.emitter.builder;
        let before = builder.ins().iadd_imm_s(index, -(position as i64));
        let offset = builder.ins().ishl_imm_u(before, 3);
        let bias = builder.ins().isub(lanes.sums, offset);
        builder.def_var(lanes.bias, bias);
    }

    /// How many elements are in the buffer of a yield after the last index.
    pub fn left_in_buffer(&mut self, index: usize, end: Value) -> Value {
        match self.lanes.clone() {
            Some(lanes) if lanes.yields == index => self.filled(&lanes, end),
            _ => self.emitter.builder.ins().band_imm_s(end, sum::BLOCK as i64 - 1),
        }
    }

    /// How many elements are in the buffer before that of an index.
    fn filled(&mut self, lanes: &Lanes, index: Value) -> Value {
        let builder = &mut self.emitter.builder;
        let bias = builder.use_var(lanes.bias);
        let offset = builder.ins().ishl_imm_u(index, 3);
        let next = builder.ins().iadd(bias, offset);
        let bytes = builder.ins().isub(next, lanes.sums);
        builder.ins().ushr_imm_u(bytes, 3)
    }

    /// Whether the loop that is emitted keeps lanes.
    pub fn keeps_lanes(&self) -> bool {
        self.lanes.as_ref().is_some_and(|lanes| lanes.is_kept)
    }

    /// Combines a vector of elements with the lanes of the current indices, if they are kept.
    pub fn add_to_lanes(&mut self, index: usize, value: Value) -> bool {
        let Some(lanes) = self.lanes.as_ref().filter(|lanes| lanes.is_kept && lanes.yields == index) else {
            return false;
        };
        let (op, lane) = (lanes.op, lanes.vectors[self.now.further / LANES]);
        let before = self.emitter.builder.use_var(lane);
        let after = self.emitter.wide_operation(op, &[before, value]);
        self.emitter.builder.def_var(lane, after);
        true
    }

    /// The part of a strip for which lanes are kept: rows of a block that begins with the strip. A piece may be joined
    /// with the next one in the middle of a block, and takes whole blocks alone.
    pub fn strip_of_lanes(&mut self, index: Variable, stop: Value) {
        let Some(lanes) = self.lanes.clone() else { return };
        let builder = &mut self.emitter.builder;
        let (kept, after) = (builder.create_block(), builder.create_block());
        let i = builder.use_var(index);
        let base = match lanes.descriptor.and_then(|descriptor| self.cursors.get(descriptor)) {
            Some(cursor) => builder.use_var(cursor.base),
            None => builder.ins().iconst(types::I64, 0),
        };
        let within = builder.ins().isub(i, base);
        let within = builder.ins().band_imm_s(within, sum::BLOCK as i64 - 1);
        let is_begin = builder.ins().icmp_imm_s(IntCC::Equal, within, 0);
        let count = builder.ins().isub(stop, i);
        let is_joined = self.analysis.mode == Mode::Piece && lanes.descriptor.is_none();
        let least = if is_joined { sum::BLOCK } else { sum::LANES };
        let is_enough = builder.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, count, least as i64);
        let are_kept = builder.ins().band(is_begin, is_enough);
        builder.ins().brif(are_kept, kept, &[], after, &[]);
        builder.switch_to_block(kept);
        let identity = self.identity(lanes.op);
        let identity = self.emitter.splat(identity);
        lanes.vectors.iter().for_each(|&vector| self.emitter.builder.def_var(vector, identity));
        self.lanes = Some(Lanes { is_kept: true, ..lanes.clone() });
        self.rotated_apart(index, stop, VECTORS, LANES);
        for (number, &vector) in lanes.vectors.iter().enumerate() {
            let value = self.emitter.builder.use_var(vector);
            let offset = BUFFER + (number * LANES * size_of::<f64>()) as i32;
            self.emitter.builder.ins().store(TRUSTED, value, lanes.sums, offset);
        }
        let next = self.emitter.builder.use_var(index);
        self.place_next(&lanes, next, sum::LANES);
        self.lanes = Some(lanes);
        self.emitter.builder.ins().jump(after, &[]);
        self.emitter.builder.switch_to_block(after);
    }
}

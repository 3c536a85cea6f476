//! The loops of a group, wherever they stand: what they read and write is given by values.
//!
//! Indices are taken in *stretches*, after which the interrupt flag is looked at, and the floats that were computed are
//! added up by segments: a loop that waits for memory knows nothing of where segments end. Stretches are cut into
//! *strips* where something is the same for a segment, or combines floats in blocks: what is the same for a strip is
//! read once for it. Inside a strip is a loop over indices ([`super::strip_mining`]), at each of which something is
//! computed ([`super::body`]).
//!
//! ```text
//! while i < end {                                         // stretches
//!     stop = min(end, i + POLL, room in buffers of sums)
//!     while i < stop {                                    // strips, if there are segments or blocks
//!         while i >= segment_stop { end_segment; segment += 1; base = segment_stop; segment_stop += lengths[segment] }
//!         to = min(stop, segment_stop, end of the block)
//!         begin_strip(i, to)                              // reads what is the same until there
//!         for ; i < to; i += 1 { … }                      // super::strip_mining
//!         if to is the end of a block { complete_block }
//!     }
//!     segment_sums                                        // float sums of segments: what the buffer holds of them
//!     if i < end && interrupt { leave }
//! }
//! end the segments that are left
//! ```
//!
//! A float sum of segments, two indices at once, has this twice: for segments that are long, which are summed up each
//! where it ends, and for short ones. Where reductions of segments are all, there is the same once more inside of
//! [`outer_loop`].

mod outer_loop;
mod unswitch;

use super::analysis::{self, Analysis};
use super::environment::{Environment, Finished, Made};
use super::loop_emitter::{Carried, Cursor, LoopEmitter};
use super::plan::{Ending, Mode, Plan};
use crate::emitter::{Emitter, TRUSTED, machine_type};
use crate::runtime::sums;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use cranelift_frontend::Variable;
use nesl_prim::sum;
use std::ops::Range;

/// Emits the loops of a group over the indices from one value up to another.
pub(crate) fn emit_group(
    emitter: &mut Emitter<'_>,
    plan: &Plan,
    mode: Mode,
    environment: &Environment,
    indices: Range<Value>,
) -> Finished {
    let analysis = Analysis::of(plan, mode);
    let inner = if analysis.narrow.is_none() { analysis::inner(plan, mode) } else { Vec::new() };
    let of_inner: Vec<_> = inner.iter().map(|inner| (inner, Analysis::of_inner(inner, &analysis))).collect();
    let mut loops = LoopEmitter::begin(emitter, &analysis, environment, &indices);
    for (inner, of_inner) in &of_inner {
        loops.begin_inner(inner, of_inner, &indices);
    }
    let Range { start, end } = indices;
    let index = loops.variable(start);
    let after_even = loops.even_segments(index, end);
    let finished = loops.all_stretches(index, &(start..end));
    if let Some(after) = after_even {
        loops.emitter.builder.ins().jump(after, &[]);
        loops.emitter.builder.switch_to_block(after);
    }
    finished
}

const BLOCK_MASK: i64 = sum::BLOCK as i64 - 1;

/// Indices after which a loop looks whether the user has had enough: 1 to 10 ms.
const POLL: i64 = 1 << 20;

impl LoopEmitter<'_, '_, '_> {
    /// The loops over all indices, where several segments are not taken at once.
    fn all_stretches(&mut self, index: Variable, Range { start, end }: &Range<Value>) -> Finished {
        let (start, end) = (*start, *end);
        let long_segments = self.analysis.segment_sum_in_lanes();
        let Some((op, descriptor, cursor)) =
            long_segments.and_then(|(op, input)| Some((op, input, self.cursors.get(input)?)))
        else {
            self.keep_lanes(start);
            self.stretches(index, end);
            return self.finish(end);
        };
        let [long, short, after] = [(); 3].map(|()| self.emitter.builder.create_block());
        let are_long = self.are_long(cursor, &(start..end));
        self.emitter.builder.ins().brif(are_long, long, &[], short, &[]);
        self.emitter.builder.switch_to_block(long);
        self.keep_lanes_of_segments(op, descriptor, start);
        self.stretches(index, end);
        self.finish(end);
        self.emitter.builder.ins().jump(after, &[]);
        self.emitter.builder.switch_to_block(short);
        self.lanes = None;
        self.stretches(index, end);
        // Reductions of segments leave nothing to be known after the loops.
        let finished = self.finish(end);
        self.emitter.builder.ins().jump(after, &[]);
        self.emitter.builder.switch_to_block(after);
        finished
    }

    /// The loop over several segments at once, for where they are equally long; the block after all loops.
    fn even_segments(&mut self, index: Variable, end: Value) -> Option<Block> {
        let input = self.analysis.outer?;
        let cursor = self.cursors.get(input)?;
        let [even, uneven, after] = [(); 3].map(|()| self.emitter.builder.create_block());
        let length = self.common_length(cursor);
        self.emitter.builder.ins().brif(length, even, &[], uneven, &[]);
        self.emitter.builder.switch_to_block(even);
        self.outer_loop(index, end, (input, cursor), length);
        self.finish(end);
        self.emitter.builder.ins().jump(after, &[]);
        self.emitter.builder.switch_to_block(uneven);
        Some(after)
    }

    /// Whether floats are combined in blocks: those of all indices, or of the segments of a descriptor.
    fn has_blocks(&self, of: Option<usize>) -> bool {
        of.is_none() && (0..self.analysis.endings.len()).any(|index| self.analysis.is_in_blocks(index))
            || of.is_some_and(|descriptor| self.lanes_of(descriptor).is_some())
            || !self.analysis.scans_in_blocks(of).is_empty()
    }

    /// The yields that are float sums of segments, of as many as a buffer holds.
    fn sums_of_segments(&self) -> Vec<usize> {
        if self.lanes.is_some() {
            return Vec::new();
        }
        (0..self.analysis.endings.len())
            .filter(|&index| matches!(self.analysis.endings[index], Some(Ending::SegSum(..))))
            .collect()
    }

    /// The loop over as many indices as do not take long.
    fn stretches(&mut self, index: Variable, end: Value) {
        let builder = &mut self.emitter.builder;
        let [stretch, look, after] = [(); 3].map(|()| builder.create_block());
        builder.set_cold_block(look);
        builder.ins().jump(stretch, &[]);
        builder.switch_to_block(stretch);
        let i = builder.use_var(index);
        let left = builder.ins().isub(end, i);
        let poll = builder.ins().iconst(types::I64, POLL);
        let mut count = builder.ins().smin(left, poll);
        let sums = self.sums_of_segments();
        for &index in &sums {
            let room = self.room_in_buffer(index, i);
            count = self.emitter.builder.ins().smin(count, room);
        }
        let stop = self.emitter.builder.ins().iadd(i, count);
        if self.analysis.has_cursors() || self.has_blocks(None) || !self.inner.is_empty() {
            self.strips(index, stop);
        } else {
            self.begin_strip(i, stop);
            self.strip(index, stop);
        }
        sums.into_iter().for_each(|index| self.add_up_segments(index, count));
        self.emitter.count_steps(count);
        let builder = &mut self.emitter.builder;
        let is_left = builder.ins().icmp(IntCC::SignedLessThan, stop, end);
        builder.ins().brif(is_left, look, &[], after, &[]);
        builder.switch_to_block(look);
        self.emitter.check_interrupt();
        self.emitter.builder.ins().jump(stretch, &[]);
        self.emitter.builder.switch_to_block(after);
    }

    /// How many elements of segments there is room for in a buffer of sums, of those from an index on.
    fn room_in_buffer(&mut self, index: usize, i: Value) -> Value {
        let kept = self.emitter.builder.use_var(self.values(index)[0]);
        let builder = &mut self.emitter.builder;
        let begin = builder.ins().isub(i, kept);
        let offset = builder.ins().ishl_imm_u(begin, 3);
        let bias = builder.ins().isub(self.environment.outlets[index].start, offset);
        self.biases.set(index, bias);
        let builder = &mut self.emitter.builder;
        let block = builder.ins().iconst(types::I64, sum::BLOCK as i64);
        builder.ins().isub(block, kept)
    }

    /// Adds up segments with so many more elements, as far as they end there.
    fn add_up_segments(&mut self, index: usize, count: Value) {
        let kept = self.values(index)[0];
        self.add(kept, count);
        let filled = self.emitter.builder.use_var(kept);
        let left = self.emitter.segment_sums(self.environment.outlets[index].start, filled);
        self.emitter.builder.def_var(kept, left);
    }

    /// The loop over strips.
    fn strips(&mut self, index: Variable, end: Value) {
        let builder = &mut self.emitter.builder;
        let (header, strip, after) = (builder.create_block(), builder.create_block(), builder.create_block());
        builder.ins().jump(header, &[]);
        builder.switch_to_block(header);
        let i = builder.use_var(index);
        let is_inside = builder.ins().icmp(IntCC::SignedLessThan, i, end);
        builder.ins().brif(is_inside, strip, &[], after, &[]);
        builder.switch_to_block(strip);
        let cursors = self.different_cursors();
        for &(input, cursor) in &cursors {
            self.advance(input, cursor, i);
        }
        let mut stop = end;
        for &(input, cursor) in &cursors {
            let segment_end = self.emitter.builder.use_var(cursor.stop);
            stop = self.emitter.builder.ins().smin(stop, segment_end);
            if self.has_blocks(Some(input)) {
                let base = self.emitter.builder.use_var(cursor.base);
                let block_end = self.block_end(i, base);
                stop = self.emitter.builder.ins().smin(stop, block_end);
            }
        }
        let zero = self.emitter.int(0);
        if self.has_blocks(None) {
            let block_end = self.block_end(i, zero);
            stop = self.emitter.builder.ins().smin(stop, block_end);
        }
        let stop = self.strip_of_either(index, i, stop);
        if self.has_blocks(None) {
            self.end_block(stop, zero, None);
        }
        for &(input, cursor) in &cursors {
            if self.has_blocks(Some(input)) {
                let base = self.emitter.builder.use_var(cursor.base);
                self.end_block(stop, base, Some(input));
            }
        }
        self.emitter.builder.ins().jump(header, &[]);
        self.emitter.builder.switch_to_block(after);
    }

    /// The end of the block in which an index is, of those that begin with a base.
    fn block_end(&mut self, i: Value, base: Value) -> Value {
        let ins = &mut self.emitter.builder;
        let within = ins.ins().isub(i, base);
        let last = ins.ins().bor_imm_s(within, BLOCK_MASK);
        let count = ins.ins().iadd_imm_s(last, 1);
        ins.ins().iadd(base, count)
    }

    /// How many elements of its block come before an index.
    fn in_block(&mut self, i: Value, base: Value) -> Value {
        let within = self.emitter.builder.ins().isub(i, base);
        self.emitter.builder.ins().band_imm_s(within, BLOCK_MASK)
    }

    /// Where an index is the end of a whole block: what is combined in blocks goes on with the next one.
    fn end_block(&mut self, i: Value, base: Value, of: Option<usize>) {
        let within = self.in_block(i, base);
        let builder = &mut self.emitter.builder;
        let (whole, after) = (builder.create_block(), builder.create_block());
        builder.ins().brif(within, after, &[], whole, &[]);
        builder.switch_to_block(whole);
        for index in 0..self.analysis.endings.len() {
            if of.is_none() && self.analysis.is_in_blocks(index) {
                self.complete_block(index, i);
            }
        }
        if of.is_some_and(|descriptor| self.lanes_of(descriptor).is_some()) {
            self.complete_block(0, i);
        }
        self.analysis.scans_in_blocks(of).into_iter().for_each(|number| self.end_scanned_block(number));
        self.emitter.builder.ins().jump(after, &[]);
        self.emitter.builder.switch_to_block(after);
    }

    /// Goes on to the segment of the next index: past the end of the one before, and past empty ones.
    fn advance(&mut self, input: usize, cursor: Cursor, i: Value) {
        let builder = &mut self.emitter.builder;
        let (header, next, after) = (builder.create_block(), builder.create_block(), builder.create_block());
        builder.ins().jump(header, &[]);
        builder.switch_to_block(header);
        let stop = builder.use_var(cursor.stop);
        let is_inside = builder.ins().icmp(IntCC::SignedLessThan, i, stop);
        builder.ins().brif(is_inside, after, &[], next, &[]);
        builder.switch_to_block(next);
        self.end_segment(input, cursor);
        let builder = &mut self.emitter.builder;
        let segment = builder.use_var(cursor.segment);
        let length = cursor.lengths.at(self.emitter, segment);
        let builder = &mut self.emitter.builder;
        let base = builder.use_var(cursor.stop);
        builder.def_var(cursor.base, base);
        let stop = builder.ins().iadd(base, length);
        builder.def_var(cursor.stop, stop);
        builder.ins().jump(header, &[]);
        builder.switch_to_block(after);
    }

    /// What the current segment amounts to is stored; the next one begins.
    fn end_segment(&mut self, input: usize, cursor: Cursor) {
        for index in 0..self.analysis.endings.len() {
            match self.analysis.endings[index] {
                Some(Ending::SegReduce(op, _, descriptor)) if self.plan.is_alike(descriptor, input) => {
                    let identity = self.identity(op);
                    let accumulators = self.values(index);
                    let mut result = self.emitter.builder.use_var(accumulators[0]);
                    for &other in &accumulators[1..] {
                        let other = self.emitter.builder.use_var(other);
                        result = self.emitter.scalar(op, &[result, other]);
                    }
                    accumulators.iter().for_each(|&variable| self.emitter.builder.def_var(variable, identity));
                    self.store_of_segment(index, cursor, result, machine_type(op.row().result).bytes());
                }
                Some(Ending::SegReduceIndex(_, _, descriptor)) if self.plan.is_alike(descriptor, input) => {
                    self.end_looking(index, cursor);
                }
                Some(Ending::SegSum(op, ..)) => {
                    let Some(lanes) = self.lanes_of(input).cloned() else { continue };
                    let stop = self.emitter.builder.use_var(cursor.stop);
                    let result = self.sum_of_segment(&lanes, stop);
                    self.store_of_segment(index, cursor, result, machine_type(op.row().result).bytes());
                }
                _ => {}
            }
        }
        for number in 0..self.plan.nodes.len() {
            let node = &self.plan.nodes[number];
            if let (Some(op), true) = (node.scanned(), self.plan.is_by_segments(node, input)) {
                self.begin_scan(number, op);
            }
        }
        let segment = self.emitter.builder.use_var(cursor.segment);
        let next = self.emitter.builder.ins().iadd_imm_s(segment, 1);
        self.emitter.builder.def_var(cursor.segment, next);
    }

    pub(super) fn store_of_segment(&mut self, index: usize, cursor: Cursor, value: Value, size: u32) {
        let segment = self.emitter.builder.use_var(cursor.segment);
        let address = self.emitter.address(self.environment.outlets[index].pointer, segment, size);
        self.emitter.builder.ins().store(TRUSTED, value, address, 0);
    }

    /// After the last index: ends the segments that are left, and collects what is carried.
    fn finish(&mut self, end: Value) -> Finished {
        for (input, cursor) in self.different_cursors() {
            let is_end = |ending: &Option<Ending>| match *ending {
                Some(Ending::SegReduce(_, _, descriptor) | Ending::SegReduceIndex(_, _, descriptor)) => {
                    self.plan.is_alike(descriptor, input)
                }
                Some(Ending::SegSum(..)) => self.lanes_of(input).is_some(),
                _ => false,
            };
            if self.analysis.endings.iter().any(is_end) {
                self.end_segments(input, cursor);
            }
        }
        self.end_wide();
        self.end_narrow();
        self.end_scans();
        let positions = self.positions.clone();
        let positions =
            positions.into_iter().map(|position| position.map(|position| self.emitter.builder.use_var(position)));
        let positions = positions.collect();
        let mut extremes = Made::nothing("yield", self.analysis.endings.len());
        let mut values = Vec::with_capacity(self.analysis.endings.len());
        for index in 0..self.analysis.endings.len() {
            values.push(match (self.analysis.endings[index], self.carried[index].clone()) {
                (Some(Ending::Sum(..)), Carried::Nothing) => Some(self.left_in_buffer(index, end)),
                (Some(Ending::Reduce(op, _)), Carried::Values(accumulators)) => {
                    let values: Vec<Value> =
                        accumulators.iter().map(|&variable| self.emitter.builder.use_var(variable)).collect();
                    values.into_iter().reduce(|one, other| self.emitter.scalar(op, &[one, other]))
                }
                (Some(Ending::Sum(..)), Carried::Values(position)) => Some(self.emitter.builder.use_var(position[0])),
                (Some(Ending::ReduceIndex(..)), Carried::Values(variables)) => {
                    extremes.set(index, self.emitter.builder.use_var(variables[0]));
                    Some(self.emitter.builder.use_var(variables[1]))
                }
                _ => None,
            });
        }
        Finished { positions, values: Made::from_all("yield", values), extremes }
    }

    /// Ends the current segment of a descriptor and those after it, which have no elements.
    fn end_segments(&mut self, input: usize, cursor: Cursor) {
        let builder = &mut self.emitter.builder;
        let (header, next, after) = (builder.create_block(), builder.create_block(), builder.create_block());
        builder.ins().jump(header, &[]);
        builder.switch_to_block(header);
        let segment = builder.use_var(cursor.segment);
        let is_left = builder.ins().icmp(IntCC::SignedLessThan, segment, cursor.segments);
        builder.ins().brif(is_left, next, &[], after, &[]);
        builder.switch_to_block(next);
        self.end_segment(input, cursor);
        let builder = &mut self.emitter.builder;
        let stop = builder.use_var(cursor.stop);
        builder.def_var(cursor.base, stop);
        builder.ins().jump(header, &[]);
        builder.switch_to_block(after);
    }
}

impl Emitter<'_> {
    /// The address of an element.
    pub(super) fn address(&mut self, pointer: Value, index: Value, size: u32) -> Value {
        let offset = if size == 8 { self.builder.ins().ishl_imm_u(index, 3) } else { index };
        self.builder.ins().iadd(pointer, offset)
    }

    /// The buffer of sums is full.
    pub(super) fn complete_sums(&mut self, sums: Value) {
        let signature = self.signature(&[types::I64], &[]);
        self.call_rust(sums::complete as *const () as usize, signature, &[sums]);
    }

    /// A block ends, of which so many elements are in the buffer, the first ones perhaps its lanes.
    pub(super) fn complete_lanes(&mut self, sums: Value, filled: Value) {
        let signature = self.signature(&[types::I64; 2], &[]);
        self.call_rust(sums::complete_lanes as *const () as usize, signature, &[sums, filled]);
    }

    /// Adds up the segments that end with so many elements in the buffer; how many are left there.
    fn segment_sums(&mut self, sums: Value, filled: Value) -> Value {
        let signature = self.signature(&[types::I64; 2], &[types::I64]);
        self.call_rust(sums::add_up_segments as *const () as usize, signature, &[sums, filled])[0]
    }

    /// The result of sums, where so many elements are in the buffer.
    pub(crate) fn finish_sums(&mut self, sums: Value, tail: Value) -> Value {
        let signature = self.signature(&[types::I64; 2], &[types::F64]);
        self.call_rust(sums::finish as *const () as usize, signature, &[sums, tail])[0]
    }
}

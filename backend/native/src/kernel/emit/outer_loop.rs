//! Segments of equal length, several at a time: outer-loop vectorisation.
//!
//! In `{sum({a[i][k] * b[k][j] : k in index(#b)}) : j in index(#b[0])}` the sums of neighbouring `j` read neighbouring
//! elements, while one sum reads elements that are far apart. So where all segments have as many elements, the loop
//! takes [`AT_ONCE`] of them at once, a lane for each, and goes through their elements together. Each segment is
//! combined in its own lane, in the order that it has alone: not a bit changes.
//!
//! ```text
//! n = the length of all segments                           // where there is none, the loops of super
//! while i < end {
//!     advance                                              // to the segment that begins with i
//!     if i + AT_ONCE * n <= end {
//!         for lane in 0 .. AT_ONCE { begin_strip; keep what is the same in its segment, and where it begins to read }
//!             // once for all, where they read at one place
//!         if all are neighbours or the same, and so are as many behind them { take these, too }
//!         if all go on alike, and it is worth it {
//!             elements of the segments                     // positions, lanes
//!             i += n for each of them; continue
//!         }
//!     }
//!     stretches(i, end)                                    // one segment after the other
//! }
//! ```
//!
//! It is worth it where what a segment reads is apart: where it is together, the loop over one segment is as fast, of
//! short segments, too, if that has vectors. Whether places are the same in all segments, as those of `a[i][k]`, or
//! neighbours, as those of `b[k][j]`, is looked at when segments begin: such are read as one element for all, or as
//! vectors. Where all are the same, as those of `{min_index({f(p, q) : q in all}) : p in v}`, the loop has neither
//! conditions nor more than a register for what is read.

mod begin;
mod lanes;
mod positions;

use crate::kernel::environment::Made;
use crate::kernel::loop_emitter::{Cursor, LoopEmitter};
use crate::sums::{AT_ONCE, MOST_AT_ONCE};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, StackSlot, StackSlotData, StackSlotKind, Value, types};
use cranelift_frontend::Variable;

/// Indices after which the loop looks whether the user has had enough.
const POLL: i64 = 1 << 20;

/// The bytes of a number.
const SIZE: i64 = 8;

/// What the lanes run with: what is the same in each segment, and where each of them reads.
struct Segments {
    /// The number of the first of them.
    first: Value,
    /// How many elements each has.
    length: Value,
    /// What nodes are that are the same in a segment, for each, if that is not in a column.
    values: Vec<Option<StackSlot>>,
    /// Where nodes read, by node; and columns that are read at the index, by input.
    nodes: Made<Places>,
    inputs: Made<Places>,
    /// The index with which each begins.
    begins: StackSlot,
}

/// Where segments read, or which indices they have that go up evenly.
#[derive(Clone, Copy)]
struct Places {
    /// Which of those of the loop they are.
    number: usize,
    /// The address, or index, with which each segment begins.
    first: StackSlot,
    /// That of the first segment.
    base: Variable,
    /// That of the one before.
    before: Variable,
    /// By how much it goes up with each element, alike in all segments.
    step: Variable,
    /// Whether it is the same in all segments, or each is a number behind the one before.
    are_same: Variable,
    are_neighbours: Variable,
    /// How much further the current element is.
    further: Variable,
}

impl LoopEmitter<'_, '_, '_> {
    /// The length of all segments from the current one on, of which there are enough; 0 where they differ in it.
    pub fn common_length(&mut self, cursor: Cursor) -> Value {
        let builder = &mut self.emitter.builder;
        let [begin, look, next, done] = [(); 4].map(|()| builder.create_block());
        let (segment, length) =
            (builder.append_block_param(look, types::I64), builder.append_block_param(done, types::I64));
        let zero = builder.ins().iconst(types::I64, 0);
        let first = builder.use_var(cursor.segment);
        let count = builder.ins().isub(cursor.segments, first);
        let are_enough = builder.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, count, AT_ONCE as i64);
        builder.ins().brif(are_enough, begin, &[], done, &[BlockArg::from(zero)]);
        builder.switch_to_block(begin);
        let all = cursor.lengths.at(self.emitter, first);
        let builder = &mut self.emitter.builder;
        let second = builder.ins().iadd_imm_s(first, 1);
        // Of lengths that are in no memory there is but one.
        builder.ins().brif(cursor.lengths.mask, look, &[BlockArg::from(second)], done, &[BlockArg::from(all)]);
        builder.switch_to_block(look);
        let is_left = builder.ins().icmp(IntCC::SignedLessThan, segment, cursor.segments);
        builder.ins().brif(is_left, next, &[], done, &[BlockArg::from(all)]);
        builder.switch_to_block(next);
        let this = cursor.lengths.at(self.emitter, segment);
        let builder = &mut self.emitter.builder;
        let is_alike = builder.ins().icmp(IntCC::Equal, this, all);
        let following = builder.ins().iadd_imm_s(segment, 1);
        builder.ins().brif(is_alike, look, &[BlockArg::from(following)], done, &[BlockArg::from(zero)]);
        builder.switch_to_block(done);
        length
    }

    /// The loop over segments that all have this length, which is not 0.
    pub fn outer_loop(&mut self, index: Variable, end: Value, (input, cursor): (usize, Cursor), length: Value) {
        let builder = &mut self.emitter.builder;
        let [header, segment, begin, even, alone, after] = [(); 6].map(|()| builder.create_block());
        let polled = builder.use_var(index);
        let polled = self.variable(polled);
        let builder = &mut self.emitter.builder;
        let span = builder.ins().imul_imm_s(length, AT_ONCE as i64);
        builder.ins().jump(header, &[]);
        builder.switch_to_block(header);
        let i = builder.use_var(index);
        let is_inside = builder.ins().icmp(IntCC::SignedLessThan, i, end);
        builder.ins().brif(is_inside, segment, &[], after, &[]);
        builder.switch_to_block(segment);
        self.advance(input, cursor, i);
        let builder = &mut self.emitter.builder;
        let base = builder.use_var(cursor.base);
        let left = builder.ins().isub(end, i);
        let is_begin = builder.ins().icmp(IntCC::Equal, base, i);
        let are_enough = builder.ins().icmp(IntCC::SignedGreaterThanOrEqual, left, span);
        let can_be = builder.ins().band(is_begin, are_enough);
        builder.ins().brif(can_be, begin, &[], alone, &[]);
        builder.switch_to_block(begin);
        let first = builder.use_var(cursor.segment);
        let stop = builder.use_var(cursor.stop);
        let (segments, are_worth_it, are_more) = self.begin_segments_at_once(cursor, length, left);
        let builder = &mut self.emitter.builder;
        let next = [builder.use_var(cursor.segment), builder.use_var(cursor.base), builder.use_var(cursor.stop)];
        // As if nothing had been looked at.
        let variables = [cursor.segment, cursor.base, cursor.stop];
        variables.iter().zip([first, base, stop]).for_each(|(&variable, value)| builder.def_var(variable, value));
        builder.ins().brif(are_worth_it, even, &[], alone, &[]);
        builder.switch_to_block(even);
        variables.iter().zip(next).for_each(|(&variable, value)| builder.def_var(variable, value));
        if let Some(are_more) = are_more {
            let [more, few, done] = [(); 3].map(|()| self.emitter.builder.create_block());
            self.emitter.builder.ins().brif(are_more, more, &[], few, &[]);
            self.emitter.builder.switch_to_block(more);
            self.segments_at_once(&segments, MOST_AT_ONCE, cursor);
            self.emitter.builder.ins().jump(done, &[]);
            self.emitter.builder.switch_to_block(few);
            self.segments_at_once(&segments, AT_ONCE, cursor);
            self.emitter.builder.ins().jump(done, &[]);
            self.emitter.builder.switch_to_block(done);
        } else {
            self.segments_at_once(&segments, AT_ONCE, cursor);
        }
        let next = self.emitter.builder.use_var(cursor.base);
        let span = self.emitter.builder.ins().isub(next, i);
        self.emitter.count_steps(span);
        self.emitter.builder.def_var(index, next);
        self.look_after(polled, next);
        self.emitter.builder.ins().jump(header, &[]);
        self.emitter.builder.switch_to_block(alone);
        self.stretches(index, end);
        self.emitter.builder.ins().jump(header, &[]);
        self.emitter.builder.switch_to_block(after);
    }

    /// Looks whether the user has had enough, where the last time was long before an index.
    fn look_after(&mut self, polled: Variable, index: Value) {
        let builder = &mut self.emitter.builder;
        let (look, after) = (builder.create_block(), builder.create_block());
        builder.set_cold_block(look);
        let last = builder.use_var(polled);
        let since = builder.ins().isub(index, last);
        let is_long = builder.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, since, POLL);
        builder.ins().brif(is_long, look, &[], after, &[]);
        builder.switch_to_block(look);
        builder.def_var(polled, index);
        self.emitter.check_interrupt();
        self.emitter.builder.ins().jump(after, &[]);
        self.emitter.builder.switch_to_block(after);
    }

    /// Room for what the lanes run with.
    fn segments(&mut self, first: Value, length: Value) -> Segments {
        let (plan, analysis) = (self.plan, self.analysis);
        let nodes = 0..plan.nodes.len();
        let has_slot = |&node: &usize| analysis.is_kept_by_segment(node) && !analysis.is_read_by_segment(node);
        let values = nodes.clone().map(|node| has_slot(&node).then(|| self.slot(MOST_AT_ONCE)));
        let values = values.collect();
        let mut numbers = 0..;
        let mut next = || self.places(numbers.next().expect("there is no last number"));
        let places = nodes.map(|node| analysis.has_place(node).then(&mut next));
        let places = Made::from_all("node", places);
        let inputs = (0..plan.inputs.len()).map(|input| analysis.is_read_at_index(input).then(&mut next));
        let inputs = Made::from_all("input", inputs);
        Segments { first, length, values, nodes: places, inputs, begins: self.slot(MOST_AT_ONCE) }
    }

    fn places(&mut self, number: usize) -> Places {
        let (zero, truth) = (self.emitter.int(0), self.emitter.builder.ins().iconst(types::I8, 1));
        let step = self.emitter.int(SIZE);
        Places {
            number,
            first: self.slot(MOST_AT_ONCE),
            base: self.variable(zero),
            before: self.variable(zero),
            step: self.variable(step),
            are_same: self.variable(truth),
            are_neighbours: self.variable(truth),
            further: self.variable(zero),
        }
    }

    /// So many numbers on the stack, at the beginning of a vector.
    fn slot(&mut self, numbers: usize) -> StackSlot {
        let bytes = (numbers as i64 * SIZE) as u32;
        self.emitter.builder.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 4))
    }

    /// Whether it is worth it to take segments at once: where one of them reads elements that are apart.
    fn is_worth_it(&mut self, segments: &Segments) -> Value {
        let read: Vec<Places> = segments.read().collect();
        let builder = &mut self.emitter.builder;
        let is_always = self.analysis.has_vectors_of_segments_only();
        let mut is_worth_it = builder.ins().iconst(types::I8, i64::from(is_always));
        for places in read {
            let step = builder.use_var(places.step);
            let stays = builder.ins().icmp_imm_s(IntCC::Equal, step, 0);
            let goes_on = builder.ins().icmp_imm_s(IntCC::Equal, step, SIZE);
            let is_even = builder.ins().bor(stays, goes_on);
            let is_apart = builder.ins().bxor_imm_s(is_even, 1);
            is_worth_it = builder.ins().bor(is_worth_it, is_apart);
        }
        is_worth_it
    }
}

impl Segments {
    /// Where elements are read.
    fn read(&self) -> impl Iterator<Item = Places> + '_ {
        self.nodes.iter().chain(self.inputs.iter()).map(|(_, places)| places)
    }
}

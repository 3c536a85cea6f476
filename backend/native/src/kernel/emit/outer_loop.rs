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
//!         if all go on alike, and it is worth it {
//!             elements of the segments, k by k             // lanes
//!             i += AT_ONCE * n; continue
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

mod lanes;

use crate::emitter::TRUSTED;
use crate::kernel::environment::Made;
use crate::kernel::loop_emitter::{Cursor, LoopEmitter};
use crate::kernel::plan::{NodeOp, PlanOperand};
use crate::sums::AT_ONCE;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, StackSlot, StackSlotData, StackSlotKind, Value, types};
use cranelift_frontend::Variable;
use nesl_prim::ScalarType;
use nesl_vcode::VectorOp;

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
        let (segments, are_worth_it) = self.begin_segments_at_once(cursor, length);
        let builder = &mut self.emitter.builder;
        let next = [builder.use_var(cursor.segment), builder.use_var(cursor.base), builder.use_var(cursor.stop)];
        // As if nothing had been looked at.
        let variables = [cursor.segment, cursor.base, cursor.stop];
        variables.iter().zip([first, base, stop]).for_each(|(&variable, value)| builder.def_var(variable, value));
        builder.ins().brif(are_worth_it, even, &[], alone, &[]);
        builder.switch_to_block(even);
        variables.iter().zip(next).for_each(|(&variable, value)| builder.def_var(variable, value));
        self.segments_at_once(&segments, cursor);
        self.emitter.count_steps(span);
        let builder = &mut self.emitter.builder;
        let next = builder.ins().iadd(i, span);
        builder.def_var(index, next);
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

    /// Keeps for each of the segments what is the same in it, and where it begins to read; the cursor goes behind them.
    /// In the second place, whether they go on alike and it is worth it to take them at once.
    fn begin_segments_at_once(&mut self, cursor: Cursor, length: Value) -> (Segments, Value) {
        let first = self.emitter.builder.use_var(cursor.segment);
        let segments = self.segments(first, length);
        let truth = self.emitter.builder.ins().iconst(types::I8, 1);
        let (zero, are_even) = (self.emitter.int(0), self.variable(truth));
        let lane = self.variable(zero);
        let (body, after) = (self.emitter.builder.create_block(), self.emitter.builder.create_block());
        match self.are_fixed(&segments) {
            Some(are_fixed) => {
                let fixed = self.emitter.builder.create_block();
                self.emitter.builder.ins().brif(are_fixed, fixed, &[], body, &[]);
                self.emitter.builder.switch_to_block(fixed);
                self.begin_fixed_segments(&segments, cursor);
                self.emitter.builder.ins().jump(after, &[]);
            }
            None => {
                self.emitter.builder.ins().jump(body, &[]);
            }
        }
        let builder = &mut self.emitter.builder;
        builder.switch_to_block(body);
        let (i, stop) = (builder.use_var(cursor.base), builder.use_var(cursor.stop));
        self.begin_strip(i, stop);
        let number = self.emitter.builder.use_var(lane);
        let place = self.emitter.builder.ins().ishl_imm_u(number, 3);
        self.keep_in(segments.begins, place, i);
        for node in 0..self.plan.nodes.len() {
            if let (Some(slot), Some(value)) = (segments.values[node], self.of_strip.get(node)) {
                let is_truth = self.plan.nodes[node].ty == ScalarType::Bool;
                let value = if is_truth { self.mask_of(value) } else { value };
                self.keep_in(slot, place, value);
            }
            if let Some(places) = segments.nodes.get(node) {
                let (first, step) = self.first_place(node, i);
                self.keep_place(places, (number, place), first, step, are_even);
            }
        }
        for (input, places) in segments.inputs.iter() {
            let pointer = self.pointer(input);
            let first = self.emitter.address(pointer, i, SIZE as u32);
            self.keep_place(places, (number, place), first, None, are_even);
        }
        let builder = &mut self.emitter.builder;
        let segment = builder.use_var(cursor.segment);
        let segment = builder.ins().iadd_imm_s(segment, 1);
        builder.def_var(cursor.segment, segment);
        builder.def_var(cursor.base, stop);
        let next_stop = builder.ins().iadd(stop, length);
        builder.def_var(cursor.stop, next_stop);
        let next = builder.ins().iadd_imm_s(number, 1);
        builder.def_var(lane, next);
        let is_left = builder.ins().icmp_imm_s(IntCC::SignedLessThan, next, AT_ONCE as i64);
        builder.ins().brif(is_left, body, &[], after, &[]);
        builder.switch_to_block(after);
        let are_even = builder.use_var(are_even);
        let is_worth_it = self.is_worth_it(&segments);
        (segments, self.emitter.builder.ins().band(are_even, is_worth_it))
    }

    /// Whether all segments begin to read at one place, as those of `{sum({f(p, q) : q in all}) : p in v}`, where that
    /// and columns of segments are all that they read.
    fn are_fixed(&mut self, segments: &Segments) -> Option<Value> {
        let of_index =
            |number: usize| self.analysis.live[number] && self.plan.nodes[number].op == NodeOp::Vector(VectorOp::Iota);
        let reads_else = segments.values.iter().any(Option::is_some) || segments.inputs.iter().next().is_some();
        let is_place = |&number: &usize| self.plan.nodes[number].op == NodeOp::Vector(VectorOp::Compact);
        let nodes: Vec<usize> = segments.nodes.iter().map(|(number, _)| number).collect();
        if reads_else || (0..self.plan.nodes.len()).any(of_index) || !nodes.iter().all(is_place) {
            return None;
        }
        let are_fixed = nodes.into_iter().map(|number| {
            let (.., cursor) = self.column_and_cursor(number);
            cursor.starts.is_one(self.emitter)
        });
        let are_fixed: Vec<Value> = are_fixed.collect();
        are_fixed.into_iter().reduce(|one, other| self.emitter.builder.ins().band(one, other))
    }

    /// Keeps for all of the segments at once where they begin to read; the cursor goes behind them.
    fn begin_fixed_segments(&mut self, segments: &Segments, cursor: Cursor) {
        let [i, stop] = [cursor.base, cursor.stop].map(|variable| self.emitter.builder.use_var(variable));
        self.begin_strip(i, stop);
        for (node, places) in segments.nodes.iter() {
            let (first, _) = self.first_place(node, i);
            let builder = &mut self.emitter.builder;
            builder.def_var(places.base, first);
            let never = builder.ins().iconst(types::I8, 0);
            builder.def_var(places.are_neighbours, never);
        }
        let at_once = self.emitter.int(AT_ONCE as i64);
        self.add(cursor.segment, at_once);
        let span = self.emitter.builder.ins().imul_imm_s(segments.length, AT_ONCE as i64);
        self.add(cursor.base, span);
        self.add(cursor.stop, span);
    }

    /// Room for what the lanes run with.
    fn segments(&mut self, first: Value, length: Value) -> Segments {
        let (plan, analysis) = (self.plan, self.analysis);
        let nodes = 0..plan.nodes.len();
        let has_slot = |&node: &usize| analysis.is_kept_by_segment(node) && !analysis.is_read_by_segment(node);
        let values = nodes.clone().map(|node| has_slot(&node).then(|| self.slot(AT_ONCE)));
        let values = values.collect();
        let places = nodes.map(|node| analysis.has_place(node).then(|| self.places()));
        let places = Made::from_all("node", places);
        let inputs = (0..plan.inputs.len()).map(|input| analysis.is_read_at_index(input).then(|| self.places()));
        let inputs = Made::from_all("input", inputs);
        Segments { first, length, values, nodes: places, inputs, begins: self.slot(AT_ONCE) }
    }

    fn places(&mut self) -> Places {
        let (zero, truth) = (self.emitter.int(0), self.emitter.builder.ins().iconst(types::I8, 1));
        let step = self.emitter.int(SIZE);
        Places {
            first: self.slot(AT_ONCE),
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

    /// Stores what is so many bytes behind the beginning of a slot.
    fn keep_in(&mut self, slot: StackSlot, bytes: Value, value: Value) {
        let address = self.emitter.builder.ins().stack_addr(types::I64, slot, 0);
        let address = self.emitter.builder.ins().iadd(address, bytes);
        self.emitter.builder.ins().store(TRUSTED, value, address, 0);
    }

    /// A truth value as a mask.
    fn mask_of(&mut self, value: Value) -> Value {
        let number = self.emitter.builder.ins().uextend(types::I64, value);
        self.emitter.builder.ins().ineg(number)
    }

    /// The address at which a node reads the first element of a segment, which begins with an index, or the index that
    /// it checks; and by how much that goes up, unless it goes to the next number.
    fn first_place(&mut self, number: usize, i: Value) -> (Value, Option<Value>) {
        let node = &self.plan.nodes[number];
        if let Some(bias) = self.of_strip.get(number)
            && matches!(node.op, NodeOp::Vector(VectorOp::Gather | VectorOp::Compact))
        {
            return (self.emitter.address(bias, i, SIZE as u32), None);
        }
        let induction = self.inductions[number];
        let builder = &mut self.emitter.builder;
        let (index, step) = (builder.use_var(induction.index), builder.use_var(induction.step));
        match (node.op, node.operands[0]) {
            (NodeOp::Vector(_), PlanOperand::Input(column)) => {
                let pointer = self.pointer(column);
                let address = self.emitter.address(pointer, index, SIZE as u32);
                (address, Some(self.emitter.builder.ins().imul_imm_s(step, SIZE)))
            }
            _ => (index, Some(step)),
        }
    }

    /// Keeps where a segment begins, and what that says of all.
    fn keep_place(
        &mut self,
        places: Places,
        (lane, offset): (Value, Value),
        first: Value,
        step: Option<Value>,
        are_even: Variable,
    ) {
        self.keep_in(places.first, offset, first);
        let builder = &mut self.emitter.builder;
        let is_first = builder.ins().icmp_imm_s(IntCC::Equal, lane, 0);
        let base = builder.use_var(places.base);
        let base = builder.ins().select(is_first, first, base);
        builder.def_var(places.base, base);
        let before = builder.use_var(places.before);
        let distance = builder.ins().isub(first, before);
        builder.def_var(places.before, first);
        let mut facts = vec![];
        for (variable, expected) in [(places.are_same, 0), (places.are_neighbours, SIZE)] {
            facts.push((variable, builder.ins().icmp_imm_s(IntCC::Equal, distance, expected)));
        }
        if let Some(step) = step {
            let expected = builder.use_var(places.step);
            facts.push((are_even, builder.ins().icmp(IntCC::Equal, step, expected)));
            builder.def_var(places.step, step);
        }
        for (variable, is_so) in facts {
            let is_so = builder.ins().bor(is_so, is_first);
            let before = builder.use_var(variable);
            let after = builder.ins().band(before, is_so);
            builder.def_var(variable, after);
        }
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

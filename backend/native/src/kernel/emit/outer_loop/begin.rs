//! Where several segments begin ([`super`]): what is the same in each of them, and where it reads.
//!
//! ```text
//! limit = AT_ONCE
//! do {
//!     begin_strip; keep what is the same in the segment, and where it begins to read; segment += 1
//!     if limit of them are there, all neighbours or the same, with as many behind them { limit = MOST_AT_ONCE }
//! } while fewer than limit are there
//! if they are MOST_AT_ONCE, and not all neighbours or the same { back to the first of them }
//! ```

use super::{Places, SIZE, Segments};
use crate::emitter::TRUSTED;
use crate::kernel::loop_emitter::{Cursor, LoopEmitter};
use crate::kernel::plan::{NodeOp, PlanOperand};
use crate::sums::{AT_ONCE, MOST_AT_ONCE};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, StackSlot, Value, types};
use cranelift_frontend::Variable;
use nesl_prim::ScalarType;
use nesl_vcode::VectorOp;

/// What is known of segments that have begun.
struct Begun {
    /// Whether they go on alike.
    are_even: Variable,
    /// All that, and the cursor, each with a variable for what it was.
    variables: Vec<(Variable, Variable)>,
}

impl LoopEmitter<'_, '_, '_> {
    /// Keeps for each of the segments what is the same in it, and where it begins to read; the cursor goes behind them.
    /// In the second place, whether they go on alike and it is worth it to take them at once; in the third, whether
    /// these are [`MOST_AT_ONCE`], if they can be: where so many elements are left.
    pub(super) fn begin_segments_at_once(
        &mut self,
        cursor: Cursor,
        length: Value,
        left: Value,
    ) -> (Segments, Value, Option<Value>) {
        let first = self.emitter.builder.use_var(cursor.segment);
        let segments = self.segments(first, length);
        let truth = self.emitter.builder.ins().iconst(types::I8, 1);
        let (zero, are_even) = (self.emitter.int(0), self.variable(truth));
        let few = self.emitter.int(AT_ONCE as i64);
        let (lane, limit) = (self.variable(zero), self.variable(few));
        let begun = self.can_be_more(&segments).then(|| self.begun(&segments, cursor, are_even));
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
        self.emitter.builder.switch_to_block(body);
        self.begin_segment_at_once(&segments, cursor, lane, are_even);
        let builder = &mut self.emitter.builder;
        let (next, stop) = (builder.use_var(lane), builder.use_var(limit));
        let is_left = builder.ins().icmp(IntCC::SignedLessThan, next, stop);
        builder.ins().brif(is_left, body, &[], after, &[]);
        builder.switch_to_block(after);
        let are_more = begun.map(|begun| self.begin_more_segments(&segments, &begun, (limit, left), body));
        let are_even = self.emitter.builder.use_var(are_even);
        let is_worth_it = self.is_worth_it(&segments);
        let are_worth_it = self.emitter.builder.ins().band(are_even, is_worth_it);
        (segments, are_worth_it, are_more)
    }

    /// The same for the segment in a lane, and on to the next.
    fn begin_segment_at_once(&mut self, segments: &Segments, cursor: Cursor, lane: Variable, are_even: Variable) {
        let builder = &mut self.emitter.builder;
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
        let one = self.emitter.int(1);
        self.add(cursor.segment, one);
        self.emitter.builder.def_var(cursor.base, stop);
        self.add(cursor.stop, segments.length);
        self.add(lane, one);
    }

    /// What changes where segments begin, with room to keep it.
    fn begun(&mut self, segments: &Segments, cursor: Cursor, are_even: Variable) -> Begun {
        let mut variables = vec![cursor.segment, cursor.base, cursor.stop, are_even];
        for places in segments.read() {
            variables.extend([places.are_same, places.are_neighbours, places.step]);
        }
        let with_room = variables.into_iter().map(|variable| {
            let value = self.emitter.builder.use_var(variable);
            (variable, self.variable(value))
        });
        Begun { are_even, variables: with_room.collect() }
    }

    /// Where all segments are neighbours or the same, tries as many behind them, if there are: goes once more to the
    /// block that begins segments. Whether these are so, too; if not, all is as it was before them.
    ///
    /// ```text
    /// if limit == AT_ONCE {
    ///     if not (all are neighbours or the same) or MOST_AT_ONCE * n > left { goto done(false) }
    ///     keep what is known of the places, and the cursor
    ///     limit = MOST_AT_ONCE; goto body
    /// }
    /// if all are neighbours or the same { goto done(true) }
    /// what was kept; goto done(false)
    /// ```
    fn begin_more_segments(
        &mut self,
        segments: &Segments,
        begun: &Begun,
        (limit, left): (Variable, Value),
        body: Block,
    ) -> Value {
        let [first, second, keep, back, done] = [(); 5].map(|()| self.emitter.builder.create_block());
        let are_more = self.emitter.builder.append_block_param(done, types::I8);
        let [no, yes] = [0, 1].map(|truth| self.emitter.builder.ins().iconst(types::I8, truth));
        let has_version = self.has_version(segments);
        let builder = &mut self.emitter.builder;
        let even = builder.use_var(begun.are_even);
        let are_so = builder.ins().band(has_version, even);
        let stop = builder.use_var(limit);
        let is_first = builder.ins().icmp_imm_s(IntCC::Equal, stop, AT_ONCE as i64);
        builder.ins().brif(is_first, first, &[], second, &[]);
        builder.switch_to_block(first);
        let span = builder.ins().imul_imm_s(segments.length, MOST_AT_ONCE as i64);
        let are_enough = builder.ins().icmp(IntCC::SignedGreaterThanOrEqual, left, span);
        let can_be = builder.ins().band(are_so, are_enough);
        builder.ins().brif(can_be, keep, &[], done, &[no.into()]);
        builder.switch_to_block(keep);
        let most = builder.ins().iconst(types::I64, MOST_AT_ONCE as i64);
        builder.def_var(limit, most);
        for &(variable, kept) in &begun.variables {
            let value = builder.use_var(variable);
            builder.def_var(kept, value);
        }
        builder.ins().jump(body, &[]);
        builder.switch_to_block(second);
        builder.ins().brif(are_so, done, &[yes.into()], back, &[]);
        builder.switch_to_block(back);
        for &(variable, kept) in &begun.variables {
            let value = builder.use_var(kept);
            builder.def_var(variable, value);
        }
        builder.ins().jump(done, &[no.into()]);
        builder.switch_to_block(done);
        are_more
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
}

//! The elements of several segments at once, a lane for each ([`super`]): in vectors of two.
//!
//! ```text
//! a = identities                                           // exact reductions: one vector for two segments
//! for each block of the segments {                         // of which float sums have their order
//!     for k in the first of the block {                    // sum::LANES of them
//!         x = …; a = a + x                                 // or lanes[k % sum::LANES] = identity + x
//!     }
//!     for k in the others of the block {
//!         x = neighbours: place[..]                        // a vector for two segments
//!             the same:   place, for all
//!             else:       place of each segment
//!         …
//!         a = a + x                                        // or lanes[k % sum::LANES] = lanes[k % sum::LANES] + x
//!                                                          // or if x replaces a { a = x; n = k }, by masks
//!         places += steps
//!     }
//!     if there are more blocks { complete_segments }
//! }
//! out[segment ..] = a                                      // or n, or finish_segments
//! ```

use super::{Places, SIZE, Segments};
use crate::emitter::{Emitter, TRUSTED};
use crate::kernel::environment::Made;
use crate::kernel::loop_emitter::{Cursor, LoopEmitter};
use crate::kernel::plan::{Ending, NodeOp, PlanOperand};
use crate::runtime::sums;
use crate::scalar::vector::{LANES, UNALIGNED, wide_type};
use crate::sums::{AT_ONCE, SEGMENT};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, StackSlot, Value, types};
use cranelift_frontend::{FunctionBuilder, Variable};
use nesl_prim::{ScalarOp, ScalarType, sum};
use nesl_vcode::{RegisterType, VectorOp};

/// Vectors that all segments make.
const VECTORS: usize = AT_ONCE / LANES;

/// What the segments have at one position.
type Vectors = [Value; VECTORS];

/// The bytes of a number for each segment.
const ROW: i64 = AT_ONCE as i64 * SIZE;

/// How elements are read.
enum Reads {
    /// Where their places say, whether these are the same, neighbours or apart.
    Anywhere,
    /// The same for all segments; with what is kept for each of them, by node, which is there before the loop.
    Alike(Vec<Option<Vectors>>),
}

/// What is known at one position of the segments.
struct Here<'r> {
    reads: &'r Reads,
    /// The position in the segments.
    position: Value,
    nodes: Made<Vectors>,
    inputs: Vec<Option<Vectors>>,
}

/// Where what a yield comes to is while the loop runs.
enum Accumulator {
    /// In vectors.
    Exact(ScalarOp, [Variable; VECTORS]),
    /// The same, and where in the segments it was found.
    Index(ScalarOp, [[Variable; 2]; VECTORS]),
    /// On the stack, as many numbers as a block has lanes for each segment.
    Blocks(ScalarOp, StackSlot),
}

impl LoopEmitter<'_, '_, '_> {
    /// What the segments from one on amount to, where the cursor is behind them.
    pub(super) fn segments_at_once(&mut self, segments: &Segments, cursor: Cursor) {
        let accumulators = self.accumulators();
        let zero = self.emitter.int(0);
        let (position, row) = (self.variable(zero), self.variable(zero));
        segments.read().for_each(|places| self.emitter.builder.def_var(places.further, zero));
        let builder = &mut self.emitter.builder;
        let [block, more, after] = [(); 3].map(|()| builder.create_block());
        builder.set_cold_block(more);
        builder.ins().jump(block, &[]);
        builder.switch_to_block(block);
        let begin = builder.use_var(position);
        let left = builder.ins().isub(segments.length, begin);
        let block_size = builder.ins().iconst(types::I64, sum::BLOCK as i64);
        let count = builder.ins().smin(left, block_size);
        let stop = builder.ins().iadd(begin, count);
        let has_blocks = accumulators.iter().any(|accumulator| matches!(accumulator, Accumulator::Blocks(..)));
        if has_blocks {
            let lanes = builder.ins().iadd_imm_s(begin, sum::LANES as i64);
            let lanes = builder.ins().smin(lanes, stop);
            self.positions_of_segments(segments, &accumulators, (position, row), (lanes, true));
        }
        self.positions_of_segments(segments, &accumulators, (position, row), (stop, false));
        let builder = &mut self.emitter.builder;
        let is_left = builder.ins().icmp(IntCC::SignedLessThan, stop, segments.length);
        builder.ins().brif(is_left, more, &[], after, &[]);
        builder.switch_to_block(more);
        for (index, accumulator) in accumulators.iter().enumerate() {
            if let Accumulator::Blocks(_, slot) = *accumulator {
                self.emitter.complete_segments(self.environment.outlets[index].start, slot, count);
            }
        }
        self.emitter.check_interrupt();
        self.emitter.builder.ins().jump(block, &[]);
        self.emitter.builder.switch_to_block(after);
        for (index, accumulator) in accumulators.iter().enumerate() {
            self.end_segments_at_once(index, accumulator, (cursor, segments.first), count);
        }
    }

    /// The positions of all segments up to one, which are the first of their blocks, or none of them.
    fn positions_of_segments(
        &mut self,
        segments: &Segments,
        accumulators: &[Accumulator],
        variables: (Variable, Variable),
        until: (Value, bool),
    ) {
        let Some(are_alike) = self.are_alike(segments) else {
            return self.loop_over_positions(segments, accumulators, variables, until, &Reads::Anywhere);
        };
        let [alike, others, after] = [(); 3].map(|()| self.emitter.builder.create_block());
        self.emitter.builder.ins().brif(are_alike, alike, &[], others, &[]);
        self.emitter.builder.switch_to_block(alike);
        let kept = (0..self.plan.nodes.len()).map(|node| self.kept_of(segments, node));
        let reads = Reads::Alike(kept.collect());
        self.loop_over_positions(segments, accumulators, variables, until, &reads);
        self.emitter.builder.ins().jump(after, &[]);
        self.emitter.builder.switch_to_block(others);
        self.loop_over_positions(segments, accumulators, variables, until, &Reads::Anywhere);
        self.emitter.builder.ins().jump(after, &[]);
        self.emitter.builder.switch_to_block(after);
    }

    /// Whether all segments read the same elements, where segments are taken at once however they lie: then the loop
    /// for that needs a register for each, not one for each vector.
    fn are_alike(&mut self, segments: &Segments) -> Option<Value> {
        if !self.analysis.has_vectors_of_segments_only() {
            return None;
        }
        let are_same = segments.read().map(|places| self.emitter.builder.use_var(places.are_same));
        let are_same: Vec<Value> = are_same.collect();
        are_same.into_iter().reduce(|one, other| self.emitter.builder.ins().band(one, other))
    }

    fn loop_over_positions(
        &mut self,
        segments: &Segments,
        accumulators: &[Accumulator],
        (position, row): (Variable, Variable),
        (stop, are_first): (Value, bool),
        reads: &Reads,
    ) {
        let builder = &mut self.emitter.builder;
        let [header, body, after] = [(); 3].map(|()| builder.create_block());
        builder.ins().jump(header, &[]);
        builder.switch_to_block(header);
        let now = builder.use_var(position);
        let is_left = builder.ins().icmp(IntCC::SignedLessThan, now, stop);
        builder.ins().brif(is_left, body, &[], after, &[]);
        builder.switch_to_block(body);
        self.position_of_segments(segments, accumulators, (position, row), (are_first, reads));
        self.emitter.builder.ins().jump(header, &[]);
        self.emitter.builder.switch_to_block(after);
    }

    fn accumulators(&mut self) -> Vec<Accumulator> {
        let endings = self.analysis.endings.iter().flatten().copied();
        let accumulator = |ending| match ending {
            Ending::SegSum(op, ..) => Accumulator::Blocks(op, self.slot(AT_ONCE * sum::LANES)),
            Ending::SegReduce(op, ..) => {
                let identity = self.identity(op);
                let identity = self.emitter.splat(identity);
                Accumulator::Exact(op, [(); VECTORS].map(|()| self.variable(identity)))
            }
            Ending::SegReduceIndex(op, ..) => {
                let (identity, first) = (self.identity(op), self.emitter.int(0));
                let both = [identity, first].map(|value| self.emitter.splat(value));
                Accumulator::Index(op, [(); VECTORS].map(|()| both.map(|vector| self.variable(vector))))
            }
            other => unreachable!("{other:?} is no reduction of segments"),
        };
        endings.map(accumulator).collect()
    }

    /// One position of all segments, and on to the next.
    fn position_of_segments(
        &mut self,
        segments: &Segments,
        accumulators: &[Accumulator],
        (position, row): (Variable, Variable),
        (is_first, reads): (bool, &Reads),
    ) {
        let now = self.emitter.builder.use_var(position);
        let (nodes, inputs) = (Made::nothing("node", self.plan.nodes.len()), vec![None; self.plan.inputs.len()]);
        let mut here = Here { reads, position: now, nodes, inputs };
        for node in 0..self.plan.nodes.len() {
            if self.analysis.is_in_lanes(node) {
                let vectors = self.node_in_lanes(segments, &mut here, node);
                here.nodes.set(node, vectors);
            }
        }
        let rows = self.emitter.builder.use_var(row);
        let endings: Vec<Ending> = self.analysis.endings.iter().flatten().copied().collect();
        for (ending, accumulator) in endings.into_iter().zip(accumulators) {
            let values = self.operand_in_lanes(segments, &mut here, ending.sources()[0]);
            match *accumulator {
                Accumulator::Exact(op, variables) => {
                    for (variable, value) in variables.into_iter().zip(values) {
                        let before = self.emitter.builder.use_var(variable);
                        let after = self.emitter.wide_operation(op, &[before, value]);
                        self.emitter.builder.def_var(variable, after);
                    }
                }
                Accumulator::Index(op, variables) => {
                    let here = self.emitter.splat(now);
                    for (variables, value) in variables.into_iter().zip(values) {
                        self.choose_in_lanes(op, variables, [value, here]);
                    }
                }
                Accumulator::Blocks(op, slot) => {
                    let address = self.emitter.builder.ins().stack_addr(types::I64, slot, 0);
                    let address = self.emitter.builder.ins().iadd(address, rows);
                    let identity = self.identity(op);
                    let identity = self.emitter.splat(identity);
                    for (vector, value) in values.into_iter().enumerate() {
                        let offset = 16 * vector as i32;
                        let load = |builder: &mut FunctionBuilder<'_>| {
                            builder.ins().load(types::F64X2, UNALIGNED, address, offset)
                        };
                        let before = if is_first { identity } else { load(&mut self.emitter.builder) };
                        let after = self.emitter.wide_operation(op, &[before, value]);
                        self.emitter.builder.ins().store(UNALIGNED, after, address, offset);
                    }
                }
            }
        }
        for places in segments.read() {
            let step = self.emitter.builder.use_var(places.step);
            self.add(places.further, step);
        }
        let one = self.emitter.int(1);
        self.add(position, one);
        let next = self.emitter.builder.ins().iadd_imm_s(rows, ROW);
        let next = self.emitter.builder.ins().band_imm_s(next, ROW * sum::LANES as i64 - 1);
        self.emitter.builder.def_var(row, next);
    }

    /// Elements and their position in their segments take the place of those before, in each lane where they do.
    fn choose_in_lanes(&mut self, op: ScalarOp, variables: [Variable; 2], here: [Value; 2]) {
        let [extreme, index] = variables.map(|variable| self.emitter.builder.use_var(variable));
        let is_replaced = self.emitter.is_replaced(op, extreme, here[0]);
        let is_float = op.row().result == ScalarType::Float;
        let select = if is_float { ScalarOp::SelectFloat } else { ScalarOp::SelectInt };
        let extreme = self.emitter.wide_operation(select, &[is_replaced, here[0], extreme]);
        let index = self.emitter.wide_operation(ScalarOp::SelectInt, &[is_replaced, here[1], index]);
        self.emitter.builder.def_var(variables[0], extreme);
        self.emitter.builder.def_var(variables[1], index);
    }

    fn node_in_lanes(&mut self, segments: &Segments, here: &mut Here<'_>, number: usize) -> Vectors {
        let node = &self.plan.nodes[number];
        let kept = if let Reads::Alike(kept) = here.reads { kept[number] } else { None };
        if let Some(kept) = kept.or_else(|| self.kept_of(segments, number)) {
            return kept;
        }
        match node.op {
            NodeOp::Vector(VectorOp::Gather | VectorOp::Compact) => {
                self.read_in_lanes(segments.nodes[number], node.ty, here.reads)
            }
            NodeOp::Map(_) if self.analysis.inductions[number] => {
                let places = segments.nodes[number];
                let further = self.emitter.builder.use_var(places.further);
                self.kept_and(places.first, further)
            }
            NodeOp::Map(op) => {
                let sources = node.operands.iter();
                let operands: Vec<Vectors> =
                    sources.map(|&source| self.operand_in_lanes(segments, here, source)).collect();
                std::array::from_fn(|vector| {
                    let operands: Vec<Value> = operands.iter().map(|vectors| vectors[vector]).collect();
                    self.emitter.wide_operation(op, &operands)
                })
            }
            NodeOp::Vector(VectorOp::Iota) => self.kept_and(segments.begins, here.position),
            NodeOp::Vector(VectorOp::SegIota) => [self.emitter.splat(here.position); VECTORS],
            NodeOp::Vector(_) => self.operand_in_lanes(segments, here, node.operands[0]),
        }
    }

    fn operand_in_lanes(&mut self, segments: &Segments, here: &mut Here<'_>, source: PlanOperand) -> Vectors {
        let input = match source {
            PlanOperand::Node(node) => return here.nodes[node],
            PlanOperand::Input(input) if matches!(self.plan.inputs[input], RegisterType::Column(_)) => input,
            other => {
                let value = self.operand(other);
                return [self.emitter.splat(value); VECTORS];
            }
        };
        if let Some(vectors) = here.inputs[input] {
            return vectors;
        }
        let vectors = self.read_in_lanes(segments.inputs[input], self.plan.type_of(source), here.reads);
        here.inputs[input] = Some(vectors);
        vectors
    }

    /// What a node is that is the same in a segment, for each of them.
    fn kept_of(&mut self, segments: &Segments, number: usize) -> Option<Vectors> {
        let ty = self.plan.nodes[number].ty;
        if let Some(slot) = segments.values[number] {
            return Some(self.kept_in(slot, ty));
        }
        self.analysis.is_read_by_segment(number).then(|| {
            let (pointer, ..) = self.column_and_cursor(number);
            let address = self.emitter.address(pointer, segments.first, SIZE as u32);
            std::array::from_fn(|vector| self.emitter.load_wide(ty, address, 16 * vector as i32))
        })
    }

    /// What is kept for each segment on the stack.
    fn kept_in(&mut self, slot: StackSlot, ty: ScalarType) -> Vectors {
        let address = self.emitter.builder.ins().stack_addr(types::I64, slot, 0);
        let load = |vector| self.emitter.builder.ins().load(wide_type(ty), UNALIGNED, address, 16 * vector as i32);
        std::array::from_fn(load)
    }

    /// The same, and a number more.
    fn kept_and(&mut self, slot: StackSlot, number: Value) -> Vectors {
        let further = self.emitter.splat(number);
        self.kept_in(slot, ScalarType::Int).map(|kept| self.emitter.builder.ins().iadd(kept, further))
    }

    /// The current elements of all segments:
    ///
    /// ```text
    /// neighbours: base[further ..]        the same: base[further], for all        else: first[lane][further]
    /// ```
    fn read_in_lanes(&mut self, places: Places, ty: ScalarType, reads: &Reads) -> Vectors {
        match reads {
            Reads::Alike(_) => [self.read_for_all(places, ty); VECTORS],
            Reads::Anywhere => self.read_anywhere(places, ty),
        }
    }

    /// The current element of all segments, which read the same.
    fn read_for_all(&mut self, places: Places, ty: ScalarType) -> Value {
        let builder = &mut self.emitter.builder;
        let (base, further) = (builder.use_var(places.base), builder.use_var(places.further));
        let address = builder.ins().iadd(base, further);
        let one = builder.ins().load(wide_type(ty).lane_type(), TRUSTED, address, 0);
        self.emitter.splat(one)
    }

    fn read_anywhere(&mut self, places: Places, ty: ScalarType) -> Vectors {
        let wide = wide_type(ty);
        let builder = &mut self.emitter.builder;
        let [neighbours, others, same, apart, after] = [(); 5].map(|()| builder.create_block());
        let vectors = [(); VECTORS].map(|()| builder.append_block_param(after, wide));
        let (base, further) = (builder.use_var(places.base), builder.use_var(places.further));
        let address = builder.ins().iadd(base, further);
        let are_neighbours = builder.use_var(places.are_neighbours);
        builder.ins().brif(are_neighbours, neighbours, &[], others, &[]);
        builder.switch_to_block(neighbours);
        let read = std::array::from_fn(|vector| builder.ins().load(wide, UNALIGNED, address, 16 * vector as i32));
        self.go_on_with(after, read);
        self.emitter.builder.switch_to_block(others);
        let are_same = self.emitter.builder.use_var(places.are_same);
        self.emitter.builder.ins().brif(are_same, same, &[], apart, &[]);
        self.emitter.builder.switch_to_block(same);
        let scalar = wide.lane_type();
        let all = self.read_for_all(places, ty);
        self.go_on_with(after, [all; VECTORS]);
        self.emitter.builder.switch_to_block(apart);
        let read = std::array::from_fn(|vector| {
            let [first, second] = [0, 1].map(|lane| {
                let slot = (2 * vector as i32 + lane) * SIZE as i32;
                let address = self.emitter.builder.ins().stack_addr(types::I64, places.first, slot);
                let place = self.emitter.builder.ins().load(types::I64, TRUSTED, address, 0);
                let address = self.emitter.builder.ins().iadd(place, further);
                self.emitter.builder.ins().load(scalar, TRUSTED, address, 0)
            });
            let both = self.emitter.splat(first);
            self.emitter.builder.ins().insertlane(both, second, 1)
        });
        self.go_on_with(after, read);
        self.emitter.builder.switch_to_block(after);
        vectors
    }

    fn go_on_with(&mut self, after: Block, vectors: Vectors) {
        self.emitter.builder.ins().jump(after, &vectors.map(BlockArg::from));
    }

    /// The results of the segments from one on up to the cursor are stored.
    fn end_segments_at_once(
        &mut self,
        index: usize,
        accumulator: &Accumulator,
        (cursor, first): (Cursor, Value),
        count: Value,
    ) {
        let outlet = self.environment.outlets[index];
        let results = self.emitter.address(outlet.pointer, first, SIZE as u32);
        let mut store_all = |variables: [Variable; VECTORS]| {
            for (vector, variable) in variables.into_iter().enumerate() {
                let value = self.emitter.builder.use_var(variable);
                self.emitter.builder.ins().store(UNALIGNED, value, results, 16 * vector as i32);
            }
        };
        match *accumulator {
            Accumulator::Exact(_, variables) => store_all(variables),
            Accumulator::Index(_, variables) => {
                store_all(variables.map(|[_, place]| place));
                let next = self.emitter.builder.use_var(cursor.base);
                self.begin_looking(index, next);
            }
            Accumulator::Blocks(_, slot) => {
                self.emitter.finish_segments(outlet.start, slot, count, results);
                let ins = &mut self.emitter.builder;
                let segment = ins.ins().load(types::I64, TRUSTED, outlet.start, SEGMENT);
                let next = ins.ins().iadd_imm_s(segment, AT_ONCE as i64);
                ins.ins().store(TRUSTED, next, outlet.start, SEGMENT);
            }
        }
    }
}

impl Emitter<'_> {
    /// A block of each of the segments is complete, which has so many elements.
    fn complete_segments(&mut self, sums: Value, lanes: StackSlot, count: Value) {
        let signature = self.signature(&[types::I64; 3], &[]);
        let lanes = self.builder.ins().stack_addr(types::I64, lanes, 0);
        self.call_rust(sums::complete_segments as *const () as usize, signature, &[sums, lanes, count]);
    }

    /// The results of segments, of each of which this is the last block.
    fn finish_segments(&mut self, sums: Value, lanes: StackSlot, count: Value, results: Value) {
        let signature = self.signature(&[types::I64; 4], &[]);
        let lanes = self.builder.ins().stack_addr(types::I64, lanes, 0);
        self.call_rust(sums::finish_segments as *const () as usize, signature, &[sums, lanes, count, results]);
    }
}

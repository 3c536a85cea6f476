//! In which order a loop over several segments comes to their positions ([`super`]), and what they amount to.
//!
//! ```text
//! a = identities                                           // exact reductions: one vector for two segments
//! for each block of the segments {                         // of which float sums have their order
//!     for each part of the block {
//!         for lane in 0 .. sum::LANES, as far as the part goes {
//!             r = identities in the first part, else lanes[lane]
//!             for k = lane, lane + sum::LANES .. in the part {
//!                 x = the elements of the segments at k    // super::lanes
//!                 r = r + x                                // float sums
//!                 a = a max x                              // exact ones; or where extreme elements are
//!             }
//!             lanes[lane] = r
//!         }
//!     }
//!     if there are more blocks { complete_segments }
//! }
//! out[segment ..] = a                                      // or where extreme elements are, or finish_segments
//! ```
//!
//! So a lane's sums are in registers while the loop goes over its positions, and what a part reads stays in cache from
//! lane to lane. Without float sums there is but one lane. Where positions count, those of extreme elements, a part has
//! one of each lane, so that they come in order.
//!
//! How elements are read does not change from position to position. There is a loop for each way that few places can be
//! in, the same for all segments or neighbours; and one that looks each time, for all others.

use super::lanes::Reads;
use super::{SIZE, Segments};
use crate::emitter::{Emitter, TRUSTED};
use crate::kernel::loop_emitter::{Cursor, LoopEmitter};
use crate::kernel::plan::Ending;
use crate::runtime::sums;
use crate::scalar::vector::{LANES, UNALIGNED};
use crate::sums::{AT_ONCE, MOST_AT_ONCE, SEGMENT};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, StackSlot, Value, types};
use cranelift_frontend::Variable;
use nesl_prim::{ScalarOp, ScalarType, sum};

/// Positions of a part of a block: lines of the cache, one for each, that are half of its first level.
const PART: usize = 256;

/// More places have no loop for each way that they can be in.
const MOST_PLACES: usize = 2;

/// Where what a yield comes to is while the loop runs.
enum Accumulator {
    /// In vectors.
    Exact(ScalarOp, Variables),
    /// The same, and where in the segments it was found.
    Index(ScalarOp, Vec<[Variable; 2]>),
    /// The current lane in vectors; all on the stack, as many numbers as a block has lanes for each segment.
    Blocks(ScalarOp, Variables, StackSlot),
}

/// A variable for each vector.
type Variables = Vec<Variable>;

/// What the loops over positions run with.
struct Positions<'p> {
    segments: &'p Segments,
    /// How many segments there are.
    count: usize,
    accumulators: &'p [Accumulator],
    /// The first position that the loops have not come to.
    position: Variable,
    /// How many lanes there are, and how many positions a part has.
    lanes: i64,
    part: i64,
}

/// How a loop is to read.
#[derive(Clone)]
enum Version {
    /// The same for all segments.
    Alike,
    /// As in [`Reads::As`].
    As(Vec<bool>),
}

impl LoopEmitter<'_, '_, '_> {
    /// What so many segments amount to, behind which the cursor is.
    pub(super) fn segments_at_once(&mut self, segments: &Segments, at_once: usize, cursor: Cursor) {
        let accumulators = self.accumulators(at_once);
        let zero = self.emitter.int(0);
        let position = self.variable(zero);
        let has_blocks = accumulators.iter().any(|accumulator| matches!(accumulator, Accumulator::Blocks(..)));
        let has_index = accumulators.iter().any(|accumulator| matches!(accumulator, Accumulator::Index(..)));
        let lanes = if has_blocks { sum::LANES } else { 1 };
        let part = match (has_blocks, has_index) {
            (false, _) => sum::BLOCK,
            (true, false) => PART,
            (true, true) => lanes,
        };
        let (lanes, part) = (lanes as i64, part as i64);
        let positions = Positions { segments, count: at_once, accumulators: &accumulators, position, lanes, part };
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
        self.block_of_segments(&positions, begin, stop);
        let builder = &mut self.emitter.builder;
        let is_left = builder.ins().icmp(IntCC::SignedLessThan, stop, segments.length);
        builder.ins().brif(is_left, more, &[], after, &[]);
        builder.switch_to_block(more);
        for (index, accumulator) in accumulators.iter().enumerate() {
            if let Accumulator::Blocks(.., slot) = *accumulator {
                self.emitter.complete_segments(at_once, self.environment.outlets[index].start, slot, count);
            }
        }
        self.emitter.check_interrupt();
        self.emitter.builder.ins().jump(block, &[]);
        self.emitter.builder.switch_to_block(after);
        for (index, accumulator) in accumulators.iter().enumerate() {
            self.end_segments_at_once(index, accumulator, (cursor, segments.first, at_once), count);
        }
    }

    /// A block of all segments: by the first version for which it is so that elements are read in its way.
    fn block_of_segments(&mut self, positions: &Positions<'_>, begin: Value, stop: Value) {
        let after = self.emitter.builder.create_block();
        let mut versions = self.versions(positions.segments);
        // More segments are taken at once only where one of these is so.
        let last = if positions.count == AT_ONCE { None } else { versions.pop() };
        for version in versions {
            let is_so = self.is_so(positions.segments, &version);
            let [this, others] = [(); 2].map(|()| self.emitter.builder.create_block());
            self.emitter.builder.ins().brif(is_so, this, &[], others, &[]);
            self.emitter.builder.switch_to_block(this);
            let reads = self.reads(positions, version);
            self.parts_of_segments(positions, &reads, begin, stop);
            self.emitter.builder.ins().jump(after, &[]);
            self.emitter.builder.switch_to_block(others);
        }
        let reads = last.map_or(Reads::Anywhere, |version| self.reads(positions, version));
        self.parts_of_segments(positions, &reads, begin, stop);
        self.emitter.builder.ins().jump(after, &[]);
        self.emitter.builder.switch_to_block(after);
    }

    /// How a version reads.
    fn reads(&mut self, positions: &Positions<'_>, version: Version) -> Reads {
        match version {
            Version::As(are_same) => Reads::As(are_same),
            Version::Alike => {
                let nodes = 0..self.plan.nodes.len();
                let kept = nodes.map(|node| self.kept_of(positions.segments, node, positions.vectors()));
                Reads::Alike(kept.collect())
            }
        }
    }

    /// The ways to read that have a loop of their own. Where segments are taken at once however they lie, that is the
    /// same elements for all: a register for each, not one for each vector.
    fn versions(&self, segments: &Segments) -> Vec<Version> {
        let places = segments.read().count();
        match (self.analysis.has_vectors_of_segments_only(), places) {
            (true, 1..) => vec![Version::Alike],
            (false, 1..=MOST_PLACES) => {
                let are_same = |which: usize| (0..places).map(|place| which & 1 << place != 0).collect();
                (0..(1 << places) - 1).map(|which| Version::As(are_same(which))).collect()
            }
            _ => vec![],
        }
    }

    /// Whether there may be more segments at once, where elements are read in one of the ways that have a loop of their
    /// own: where what one yield comes to, and what is computed for it, stays in registers.
    pub(super) fn can_be_more(&self, segments: &Segments) -> bool {
        let is_one = self.analysis.endings.iter().flatten().count() == 1;
        is_one && matches!(self.versions(segments).first(), Some(Version::As(_)))
    }

    /// Whether elements are read in one of these ways, where these are [`Version::As`].
    pub(super) fn has_version(&mut self, segments: &Segments) -> Value {
        let [mut all, mut any] = [1, 0].map(|truth| self.emitter.builder.ins().iconst(types::I8, truth));
        for places in segments.read() {
            let builder = &mut self.emitter.builder;
            let (are_same, are_neighbours) = (builder.use_var(places.are_same), builder.use_var(places.are_neighbours));
            let either = builder.ins().bor(are_same, are_neighbours);
            all = builder.ins().band(all, either);
            any = builder.ins().bor(any, are_neighbours);
        }
        self.emitter.builder.ins().band(all, any)
    }

    /// Whether elements are read in this way.
    fn is_so(&mut self, segments: &Segments, version: &Version) -> Value {
        let mut is_so = self.emitter.builder.ins().iconst(types::I8, 1);
        for places in segments.read() {
            let are_same = match version {
                Version::Alike => true,
                Version::As(are_same) => are_same[places.number],
            };
            let builder = &mut self.emitter.builder;
            let is_this = builder.use_var(if are_same { places.are_same } else { places.are_neighbours });
            is_so = builder.ins().band(is_so, is_this);
        }
        is_so
    }

    /// The parts of a block.
    fn parts_of_segments(&mut self, positions: &Positions<'_>, reads: &Reads, begin: Value, stop: Value) {
        let builder = &mut self.emitter.builder;
        let [header, body, after] = [(); 3].map(|()| builder.create_block());
        builder.ins().jump(header, &[]);
        builder.switch_to_block(header);
        let first = builder.use_var(positions.position);
        let is_left = builder.ins().icmp(IntCC::SignedLessThan, first, stop);
        builder.ins().brif(is_left, body, &[], after, &[]);
        builder.switch_to_block(body);
        let part_stop = builder.ins().iadd_imm_s(first, positions.part);
        let part_stop = builder.ins().smin(part_stop, stop);
        let is_begin = builder.ins().icmp(IntCC::Equal, first, begin);
        self.lanes_of_segments(positions, reads, is_begin, (first, part_stop));
        self.emitter.builder.def_var(positions.position, part_stop);
        self.emitter.builder.ins().jump(header, &[]);
        self.emitter.builder.switch_to_block(after);
    }

    /// The lanes of a part, which is the first of its block or not.
    fn lanes_of_segments(
        &mut self,
        positions: &Positions<'_>,
        reads: &Reads,
        is_begin: Value,
        (first, stop): (Value, Value),
    ) {
        let builder = &mut self.emitter.builder;
        let [lane, after] = [(); 2].map(|()| builder.create_block());
        let begin = builder.append_block_param(lane, types::I64);
        let row = builder.append_block_param(lane, types::I64);
        let lanes_stop = builder.ins().iadd_imm_s(first, positions.lanes);
        let lanes_stop = builder.ins().smin(lanes_stop, stop);
        let zero = builder.ins().iconst(types::I64, 0);
        builder.ins().jump(lane, &[first.into(), zero.into()]);
        builder.switch_to_block(lane);
        self.begin_lane(positions, is_begin, (begin, row));
        self.positions_of_lane(positions, reads, (begin, stop));
        for accumulator in positions.accumulators {
            let Accumulator::Blocks(_, variables, slot) = accumulator else { continue };
            let address = self.address_of_row(*slot, row);
            for (vector, &variable) in variables.iter().enumerate() {
                let builder = &mut self.emitter.builder;
                let value = builder.use_var(variable);
                builder.ins().store(UNALIGNED, value, address, 16 * vector as i32);
            }
        }
        let builder = &mut self.emitter.builder;
        let next = builder.ins().iadd_imm_s(begin, 1);
        let next_row = builder.ins().iadd_imm_s(row, positions.count as i64 * SIZE);
        let is_left = builder.ins().icmp(IntCC::SignedLessThan, next, lanes_stop);
        builder.ins().brif(is_left, lane, &[next.into(), next_row.into()], after, &[]);
        builder.switch_to_block(after);
    }

    /// What a lane came to before this part, and where elements are read at its first position.
    fn begin_lane(&mut self, positions: &Positions<'_>, is_begin: Value, (begin, row): (Value, Value)) {
        for accumulator in positions.accumulators {
            let Accumulator::Blocks(op, variables, slot) = accumulator else { continue };
            let identity = self.identity(*op);
            let identity = self.emitter.splat(identity);
            variables.iter().for_each(|&variable| self.emitter.builder.def_var(variable, identity));
            let [before, after] = [(); 2].map(|()| self.emitter.builder.create_block());
            self.emitter.builder.ins().brif(is_begin, after, &[], before, &[]);
            self.emitter.builder.switch_to_block(before);
            let address = self.address_of_row(*slot, row);
            let builder = &mut self.emitter.builder;
            for (vector, &variable) in variables.iter().enumerate() {
                let value = builder.ins().load(types::F64X2, UNALIGNED, address, 16 * vector as i32);
                builder.def_var(variable, value);
            }
            builder.ins().jump(after, &[]);
            builder.switch_to_block(after);
        }
        for places in positions.segments.read() {
            let builder = &mut self.emitter.builder;
            let step = builder.use_var(places.step);
            let further = builder.ins().imul(begin, step);
            builder.def_var(places.further, further);
        }
    }

    /// The positions of a lane in a part, of which there is one at least.
    fn positions_of_lane(&mut self, positions: &Positions<'_>, reads: &Reads, (begin, stop): (Value, Value)) {
        let builder = &mut self.emitter.builder;
        let [body, after] = [(); 2].map(|()| builder.create_block());
        let now = builder.append_block_param(body, types::I64);
        let steps = positions.segments.read().map(|places| {
            let step = builder.use_var(places.step);
            (places.further, builder.ins().imul_imm_s(step, positions.lanes))
        });
        let steps: Vec<(Variable, Value)> = steps.collect();
        builder.ins().jump(body, &[begin.into()]);
        builder.switch_to_block(body);
        self.at_position((positions.segments, positions.vectors()), reads, now, |loops, ending, vector, value| {
            loops.accumulate_in_lanes(&positions.accumulators[ending], vector, value, now);
        });
        steps.into_iter().for_each(|(further, step)| self.add(further, step));
        let builder = &mut self.emitter.builder;
        let next = builder.ins().iadd_imm_s(now, positions.lanes);
        let is_left = builder.ins().icmp(IntCC::SignedLessThan, next, stop);
        builder.ins().brif(is_left, body, &[next.into()], after, &[]);
        builder.switch_to_block(after);
    }

    fn accumulators(&mut self, at_once: usize) -> Vec<Accumulator> {
        let endings: Vec<Ending> = self.analysis.endings.iter().flatten().copied().collect();
        let vectors = at_once / LANES;
        let mut accumulator = |ending| match ending {
            Ending::SegSum(op, ..) => {
                Accumulator::Blocks(op, self.identities(op, vectors), self.slot(at_once * sum::LANES))
            }
            Ending::SegReduce(op, ..) => Accumulator::Exact(op, self.identities(op, vectors)),
            Ending::SegReduceIndex(op, ..) => {
                let first = self.emitter.int(0);
                let first = self.emitter.splat(first);
                let extremes = self.identities(op, vectors);
                let both = extremes.into_iter().map(|extreme| [extreme, self.variable(first)]);
                Accumulator::Index(op, both.collect())
            }
            other => unreachable!("{other:?} is no reduction of segments"),
        };
        endings.into_iter().map(&mut accumulator).collect()
    }

    /// A variable for each vector, which holds what an operation begins with.
    fn identities(&mut self, op: ScalarOp, vectors: usize) -> Variables {
        let identity = self.identity(op);
        let identity = self.emitter.splat(identity);
        (0..vectors).map(|_| self.variable(identity)).collect()
    }

    /// What a yield comes to with a vector of the elements at a position.
    fn accumulate_in_lanes(&mut self, accumulator: &Accumulator, vector: usize, value: Value, now: Value) {
        match accumulator {
            Accumulator::Exact(op, variables) | Accumulator::Blocks(op, variables, _) => {
                let before = self.emitter.builder.use_var(variables[vector]);
                let after = self.emitter.wide_operation(*op, &[before, value]);
                self.emitter.builder.def_var(variables[vector], after);
            }
            Accumulator::Index(op, variables) => {
                let here = self.emitter.splat(now);
                self.choose_in_lanes(*op, variables[vector], [value, here]);
            }
        }
    }

    fn address_of_row(&mut self, slot: StackSlot, row: Value) -> Value {
        let address = self.emitter.builder.ins().stack_addr(types::I64, slot, 0);
        self.emitter.builder.ins().iadd(address, row)
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

    /// The results of the segments from one on up to the cursor are stored.
    fn end_segments_at_once(
        &mut self,
        index: usize,
        accumulator: &Accumulator,
        (cursor, first, at_once): (Cursor, Value, usize),
        count: Value,
    ) {
        let outlet = self.environment.outlets[index];
        let results = self.emitter.address(outlet.pointer, first, SIZE as u32);
        let mut store_all = |variables: &mut dyn Iterator<Item = Variable>| {
            for (vector, variable) in variables.enumerate() {
                let value = self.emitter.builder.use_var(variable);
                self.emitter.builder.ins().store(UNALIGNED, value, results, 16 * vector as i32);
            }
        };
        match accumulator {
            Accumulator::Exact(_, variables) => store_all(&mut variables.iter().copied()),
            Accumulator::Index(_, variables) => {
                store_all(&mut variables.iter().map(|&[_, place]| place));
                let next = self.emitter.builder.use_var(cursor.base);
                self.begin_looking(index, next);
            }
            Accumulator::Blocks(.., slot) => {
                self.emitter.finish_segments(at_once, outlet.start, *slot, count, results);
                let ins = &mut self.emitter.builder;
                let segment = ins.ins().load(types::I64, TRUSTED, outlet.start, SEGMENT);
                let next = ins.ins().iadd_imm_s(segment, at_once as i64);
                ins.ins().store(TRUSTED, next, outlet.start, SEGMENT);
            }
        }
    }
}

impl Positions<'_> {
    /// How many vectors the segments make.
    fn vectors(&self) -> usize {
        self.count / LANES
    }
}

impl Emitter<'_> {
    /// A block of each of so many segments is complete, which has so many elements.
    fn complete_segments(&mut self, at_once: usize, sums: Value, lanes: StackSlot, count: Value) {
        let signature = self.signature(&[types::I64; 3], &[]);
        let lanes = self.builder.ins().stack_addr(types::I64, lanes, 0);
        let complete = match at_once {
            AT_ONCE => sums::complete_segments::<AT_ONCE> as *const () as usize,
            _ => sums::complete_segments::<MOST_AT_ONCE> as *const () as usize,
        };
        self.call_rust(complete, signature, &[sums, lanes, count]);
    }

    /// The results of so many segments, of each of which this is the last block.
    fn finish_segments(&mut self, at_once: usize, sums: Value, lanes: StackSlot, count: Value, results: Value) {
        let signature = self.signature(&[types::I64; 4], &[]);
        let lanes = self.builder.ins().stack_addr(types::I64, lanes, 0);
        let finish = match at_once {
            AT_ONCE => sums::finish_segments::<AT_ONCE> as *const () as usize,
            _ => sums::finish_segments::<MOST_AT_ONCE> as *const () as usize,
        };
        self.call_rust(finish, signature, &[sums, lanes, count, results]);
    }
}

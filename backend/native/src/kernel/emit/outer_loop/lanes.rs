//! The elements of several segments at once, a lane for each ([`super`]): in vectors of two.
//!
//! ```text
//! x = neighbours: place[..]                                // a vector for two segments
//!     the same:   place, for all
//!     else:       place of each segment
//! …
//! a = a + x
//!                                                          // or if x replaces a { a = x; n = k }, by masks
//! ```
//!
//! In which order a loop comes to the positions is in [`super::positions`].

use super::{Places, SIZE, Segments};
use crate::emitter::TRUSTED;
use crate::kernel::loop_emitter::LoopEmitter;
use crate::kernel::plan::{Ending, NodeOp, PlanOperand};
use crate::scalar::vector::{UNALIGNED, wide_type};
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, StackSlot, Value, types};
use nesl_prim::ScalarType;
use nesl_vcode::{RegisterType, VectorOp};

/// What the segments have at one position: as many vectors as they make.
pub(super) type Vectors = Vec<Value>;

/// How elements are read.
pub(super) enum Reads {
    /// Where their places say, whether these are the same, neighbours or apart.
    Anywhere,
    /// The same for all segments, at each of the places that says so; neighbours at the others.
    As(Vec<bool>),
    /// The same for all segments; with what is kept for each of them, by node, which is there before the loop.
    Alike(Vec<Option<Vectors>>),
}

/// What is known at one position of the segments.
struct Here<'r> {
    reads: &'r Reads,
    /// The position in the segments.
    position: Value,
    /// How many vectors the segments make.
    vectors: usize,
    /// Those of nodes, and of columns that are read at the index, as far as they are made.
    nodes: Vec<Vec<Option<Value>>>,
    inputs: Vec<Vec<Option<Value>>>,
}

/// What is made of a node at once.
enum Part {
    /// One vector.
    One(Value),
    /// Those of all segments.
    All(Vectors),
}

impl LoopEmitter<'_, '_, '_> {
    /// Computes what each yield has of the segments at a position, vector after vector: `take` gets them, so that a
    /// vector is in registers no longer than it must.
    pub(super) fn at_position(
        &mut self,
        (segments, vectors): (&Segments, usize),
        reads: &Reads,
        position: Value,
        take: impl Fn(&mut Self, usize, usize, Value),
    ) {
        let nothing = |count: usize| vec![vec![None; vectors]; count];
        let (nodes, inputs) = (nothing(self.plan.nodes.len()), nothing(self.plan.inputs.len()));
        let mut here = Here { reads, position, vectors, nodes, inputs };
        let endings: Vec<Ending> = self.analysis.endings.iter().flatten().copied().collect();
        for vector in 0..vectors {
            for node in 0..self.plan.nodes.len() {
                if self.analysis.is_in_lanes(node) && here.nodes[node][vector].is_none() {
                    let part = self.node_in_lanes(segments, &mut here, node, vector);
                    part.store(&mut here.nodes[node], vector);
                }
            }
            for (number, ending) in endings.iter().enumerate() {
                let value = self.operand_in_lanes(segments, &mut here, ending.sources()[0], vector);
                take(self, number, vector, value);
            }
        }
    }

    fn node_in_lanes(&mut self, segments: &Segments, here: &mut Here<'_>, number: usize, vector: usize) -> Part {
        let node = &self.plan.nodes[number];
        let kept = if let Reads::Alike(kept) = here.reads { kept[number].clone() } else { None };
        if let Some(kept) = kept.or_else(|| self.kept_of(segments, number, here.vectors)) {
            return Part::All(kept);
        }
        match node.op {
            NodeOp::Vector(VectorOp::Gather | VectorOp::Compact) => {
                self.read_in_lanes(segments.nodes[number], node.ty, here, vector)
            }
            NodeOp::Map(_) if self.analysis.inductions[number] => {
                let places = segments.nodes[number];
                let further = self.emitter.builder.use_var(places.further);
                Part::All(self.kept_and(places.first, further, here.vectors))
            }
            NodeOp::Map(op) => {
                let sources = node.operands.iter();
                let operands: Vec<Value> =
                    sources.map(|&source| self.operand_in_lanes(segments, here, source, vector)).collect();
                Part::One(self.emitter.wide_operation(op, &operands))
            }
            NodeOp::Vector(VectorOp::Iota) => Part::All(self.kept_and(segments.begins, here.position, here.vectors)),
            NodeOp::Vector(VectorOp::SegIota) => Part::All(vec![self.emitter.splat(here.position); here.vectors]),
            NodeOp::Vector(_) => Part::One(self.operand_in_lanes(segments, here, node.operands[0], vector)),
        }
    }

    fn operand_in_lanes(
        &mut self,
        segments: &Segments,
        here: &mut Here<'_>,
        source: PlanOperand,
        vector: usize,
    ) -> Value {
        let input = match source {
            PlanOperand::Node(node) => return here.nodes[node][vector].expect("nodes are made in order"),
            PlanOperand::Input(input) if matches!(self.plan.inputs[input], RegisterType::Column(_)) => input,
            other => {
                let value = self.operand(other);
                return self.emitter.splat(value);
            }
        };
        if let Some(value) = here.inputs[input][vector] {
            return value;
        }
        let part = self.read_in_lanes(segments.inputs[input], self.plan.type_of(source), here, vector);
        part.store(&mut here.inputs[input], vector)
    }

    /// What a node is that is the same in a segment, for each of them.
    pub(super) fn kept_of(&mut self, segments: &Segments, number: usize, vectors: usize) -> Option<Vectors> {
        let ty = self.plan.nodes[number].ty;
        if let Some(slot) = segments.values[number] {
            return Some(self.kept_in(slot, ty, vectors));
        }
        self.analysis.is_read_by_segment(number).then(|| {
            let (pointer, ..) = self.column_and_cursor(number);
            let address = self.emitter.address(pointer, segments.first, SIZE as u32);
            (0..vectors).map(|vector| self.emitter.load_wide(ty, address, 16 * vector as i32)).collect()
        })
    }

    /// What is kept for each segment on the stack.
    fn kept_in(&mut self, slot: StackSlot, ty: ScalarType, vectors: usize) -> Vectors {
        let address = self.emitter.builder.ins().stack_addr(types::I64, slot, 0);
        let load = |vector| self.emitter.builder.ins().load(wide_type(ty), UNALIGNED, address, 16 * vector as i32);
        (0..vectors).map(load).collect()
    }

    /// The same, and a number more.
    fn kept_and(&mut self, slot: StackSlot, number: Value, vectors: usize) -> Vectors {
        let further = self.emitter.splat(number);
        let kept = self.kept_in(slot, ScalarType::Int, vectors);
        kept.into_iter().map(|kept| self.emitter.builder.ins().iadd(kept, further)).collect()
    }

    /// The current elements of all segments:
    ///
    /// ```text
    /// neighbours: base[further ..]        the same: base[further], for all        else: first[lane][further]
    /// ```
    fn read_in_lanes(&mut self, places: Places, ty: ScalarType, here: &Here<'_>, vector: usize) -> Part {
        match here.reads {
            Reads::Alike(_) => Part::All(vec![self.read_for_all(places, ty); here.vectors]),
            Reads::As(are_same) if are_same[places.number] => {
                Part::All(vec![self.read_for_all(places, ty); here.vectors])
            }
            Reads::As(_) => Part::One(self.read_neighbours(places, ty, vector)),
            Reads::Anywhere => Part::All(self.read_anywhere(places, ty, here.vectors)),
        }
    }

    /// A vector of the current elements of all segments, each the next one of that before.
    fn read_neighbours(&mut self, places: Places, ty: ScalarType, vector: usize) -> Value {
        let builder = &mut self.emitter.builder;
        let (base, further) = (builder.use_var(places.base), builder.use_var(places.further));
        let address = builder.ins().iadd(base, further);
        builder.ins().load(wide_type(ty), UNALIGNED, address, 16 * vector as i32)
    }

    /// The current element of all segments, which read the same.
    fn read_for_all(&mut self, places: Places, ty: ScalarType) -> Value {
        let builder = &mut self.emitter.builder;
        let (base, further) = (builder.use_var(places.base), builder.use_var(places.further));
        let address = builder.ins().iadd(base, further);
        let one = builder.ins().load(wide_type(ty).lane_type(), TRUSTED, address, 0);
        self.emitter.splat(one)
    }

    fn read_anywhere(&mut self, places: Places, ty: ScalarType, count: usize) -> Vectors {
        let wide = wide_type(ty);
        let builder = &mut self.emitter.builder;
        let [neighbours, others, same, apart, after] = [(); 5].map(|()| builder.create_block());
        let vectors = (0..count).map(|_| builder.append_block_param(after, wide)).collect();
        let further = builder.use_var(places.further);
        let are_neighbours = builder.use_var(places.are_neighbours);
        builder.ins().brif(are_neighbours, neighbours, &[], others, &[]);
        builder.switch_to_block(neighbours);
        let read: Vectors = (0..count).map(|vector| self.read_neighbours(places, ty, vector)).collect();
        self.go_on_with(after, &read);
        self.emitter.builder.switch_to_block(others);
        let are_same = self.emitter.builder.use_var(places.are_same);
        self.emitter.builder.ins().brif(are_same, same, &[], apart, &[]);
        self.emitter.builder.switch_to_block(same);
        let scalar = wide.lane_type();
        let all = self.read_for_all(places, ty);
        self.go_on_with(after, &vec![all; count]);
        self.emitter.builder.switch_to_block(apart);
        let read = (0..count).map(|vector| {
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
        let read: Vectors = read.collect();
        self.go_on_with(after, &read);
        self.emitter.builder.switch_to_block(after);
        vectors
    }

    fn go_on_with(&mut self, after: Block, vectors: &[Value]) {
        let arguments: Vec<BlockArg> = vectors.iter().copied().map(BlockArg::from).collect();
        self.emitter.builder.ins().jump(after, &arguments);
    }
}

impl Part {
    /// Keeps what is made, and returns one vector of it.
    fn store(self, made: &mut [Option<Value>], vector: usize) -> Value {
        match self {
            Part::One(value) => {
                made[vector] = Some(value);
                value
            }
            Part::All(values) => {
                made.iter_mut().zip(&values).for_each(|(made, &value)| *made = Some(value));
                values[vector]
            }
        }
    }
}

//! What is computed at one index.
//!
//! In a space within, everything is computed at every index and only kept where the flag is true, where that is cheap
//! and cannot fail but by an index: a mispredicted branch costs more than a few operations. Otherwise it is behind a
//! branch. Under a mask an index is asked to be one only where the mask is true, and what is read at an index is read
//! from the state where it is not.
//!
//! ```text
//! space(0, no mask):
//!     v1 = column[i]; v2 = v1 + 1; …                      // its nodes, in order
//!     v3 = column[v2]                                     // under a mask: *(mask ? &column[v2] : state)
//!     for each space within, of flags f:
//!         under a mask:    space(n, mask & f); position += mask & f
//!         behind a branch: if mask & f { space(n, no mask); position += 1 }
//!     end each of its yields (super::ends)
//! ```
//!
//! Where two spaces within are merged, what either side needs is computed there, from the flag's index alone: of both,
//! where that is cheap and cannot fail, or behind a branch.
//!
//! ```text
//! merge of flags f:    select f, a, b                     // or: if f { a } else { b }
//! ```

use super::environment::{Bound, BoundColumn};
use super::loop_emitter::LoopEmitter;
use super::plan::{Ending, NodeOp, PlanOperand};
use crate::emitter::{TRUSTED, machine_type};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Type, Value, types};
use nesl_prim::ScalarOp;
use nesl_vcode::VectorOp;

impl LoopEmitter<'_, '_, '_> {
    /// What is computed in a space at the current index. With a mask, it is kept only where that is true.
    pub fn space(&mut self, space: usize, mask: Option<Value>) {
        for number in 0..self.plan.nodes.len() {
            let node = &self.plan.nodes[number];
            if self.analysis.live[number] && node.space == space && !node.is_end() {
                let value = self.node(number, mask);
                self.now.nodes.set(number, value);
            }
        }
        // All is read before anything is stored: that may be over what is read.
        let endings: Vec<(usize, Ending)> = self
            .analysis
            .endings
            .iter()
            .copied()
            .enumerate()
            .filter_map(|(index, ending)| {
                ending.filter(|&ending| self.plan.space_of_ending(ending) == space).map(|ending| (index, ending))
            })
            .collect();
        for &(_, ending) in &endings {
            ending.sources().into_iter().for_each(|source| {
                self.operand(source);
            });
        }
        for inner in space + 1..self.plan.spaces() {
            if let Some(filter) = self.plan.space(inner)
                && filter.parent == space
                && self.analysis.is_active(inner)
            {
                let flag = self.operand(filter.flags);
                self.filter(inner, flag, mask);
            }
        }
        for (index, ending) in endings {
            self.end(index, ending, mask);
        }
    }

    fn filter(&mut self, space: usize, flag: Value, mask: Option<Value>) {
        let both = mask.map_or(flag, |mask| self.emitter.builder.ins().band(mask, flag));
        if !self.analysis.branches[space] {
            self.space(space, Some(both));
            if let Some(position) = self.positions[space] {
                let one = self.emitter.builder.ins().uextend(types::I64, both);
                self.add(position, one);
            }
            return;
        }
        let builder = &mut self.emitter.builder;
        let (kept, after) = (builder.create_block(), builder.create_block());
        builder.ins().brif(both, kept, &[], after, &[]);
        builder.switch_to_block(kept);
        // What is computed behind the branch is not known after it.
        let known = self.now.clone();
        self.space(space, None);
        self.now = known;
        if let Some(position) = self.positions[space] {
            let one = self.emitter.int(1);
            self.add(position, one);
        }
        self.emitter.builder.ins().jump(after, &[]);
        self.emitter.builder.switch_to_block(after);
    }

    /// The element of one of two spaces within, by the flag of a node that merges them.
    fn join(&mut self, number: usize) -> Value {
        let plan = self.plan;
        let [flags, when_true, when_false] = [0, 1, 2].map(|position| plan.nodes[number].operands[position]);
        let flag = self.operand(flags);
        if !self.analysis.forks[number] {
            let [when_true, when_false] = [when_true, when_false].map(|side| self.side(side));
            return self.emitter.builder.ins().select(flag, when_true, when_false);
        }
        let builder = &mut self.emitter.builder;
        let [first, second, after] = [(); 3].map(|()| builder.create_block());
        let chosen = builder.append_block_param(after, machine_type(plan.nodes[number].ty));
        builder.ins().brif(flag, first, &[], second, &[]);
        for (block, side) in [(first, when_true), (second, when_false)] {
            self.emitter.builder.switch_to_block(block);
            let known = self.now.clone();
            let value = self.side(side);
            self.now = known;
            self.emitter.builder.ins().jump(after, &[BlockArg::Value(value)]);
        }
        self.emitter.builder.switch_to_block(after);
        chosen
    }

    /// One side of what is merged, with all that it needs of its space.
    fn side(&mut self, side: PlanOperand) -> Value {
        let space = self.plan.space_of(side);
        for node in self.plan.computed_from(side, space).0 {
            if self.plan.nodes[node].space == space {
                let value = self.node(node, None);
                self.now.nodes.set(node, value);
            }
        }
        self.operand(side)
    }

    pub fn index(&mut self) -> Value {
        let index = self.now.loop_index();
        match self.now.further {
            0 => index,
            further => self.emitter.builder.ins().iadd_imm_s(index, further as i64),
        }
    }

    /// The address of the loop's index in a column of numbers, and how much further the current one is.
    pub fn place_of_index(&mut self, pointer: Value) -> (Value, i32) {
        let index = self.now.loop_index();
        (self.emitter.address(pointer, index, 8), 8 * self.now.further as i32)
    }

    /// Where the elements of an input are.
    pub fn pointer(&self, input: usize) -> Value {
        self.environment.column(input).pointer
    }

    /// An operand at the current index.
    pub fn operand(&mut self, source: PlanOperand) -> Value {
        match source {
            PlanOperand::Constant(value) => self.emitter.constant(value),
            PlanOperand::Node(node) => self.now.nodes[node],
            PlanOperand::Input(input) => match self.environment.inputs[input] {
                Bound::Scalar(value) => value,
                _ => self.element(input),
            },
        }
    }

    /// The element of an input at the current index, read once.
    fn element(&mut self, input: usize) -> Value {
        if let Some(value) = self.now.inputs[input] {
            return value;
        }
        let ty = machine_type(self.plan.type_of(PlanOperand::Input(input)));
        let value = self.at_index(self.pointer(input), ty);
        self.now.inputs[input] = Some(value);
        value
    }

    /// What is at the current index from an address on.
    fn at_index(&mut self, pointer: Value, ty: Type) -> Value {
        let index = self.now.loop_index();
        let address = self.emitter.address(pointer, index, ty.bytes());
        let offset = (self.now.further as u32 * ty.bytes()) as i32;
        self.emitter.builder.ins().load(ty, TRUSTED, address, offset)
    }

    pub(super) fn node(&mut self, number: usize, mask: Option<Value>) -> Value {
        let node = &self.plan.nodes[number];
        if let (true, Some(value)) = (self.analysis.invariants[number], self.of_strip.get(number)) {
            return value;
        }
        match node.op {
            NodeOp::Map(_) if self.analysis.checked[number] => match self.inductions.get(number) {
                Some(induction) => self.next_induction(induction),
                None => self.checked_node(number),
            },
            NodeOp::Map(ScalarOp::CheckIndex) => {
                let [index, length] = [0, 1].map(|operand| self.operand(node.operands[operand]));
                let is_index = match self.analysis.has_length[number] {
                    true => self.emitter.builder.ins().icmp(IntCC::UnsignedLessThan, index, length),
                    false => self.emitter.is_index(index, length),
                };
                self.require_where(mask, is_index);
                index
            }
            NodeOp::Map(op) => {
                let operands: Vec<Value> = node.operands.iter().map(|&operand| self.operand(operand)).collect();
                self.emitter.scalar(op, &operands)
            }
            NodeOp::Vector(VectorOp::Iota) => self.index(),
            NodeOp::Vector(VectorOp::Dist | VectorOp::Pack) => self.operand(node.operands[0]),
            NodeOp::Vector(VectorOp::SegDist) => self.of_strip[number],
            NodeOp::Vector(VectorOp::Compact) => self.at_index(self.of_strip[number], machine_type(node.ty)),
            NodeOp::Vector(VectorOp::Scan(op) | VectorOp::SegScan(op)) => self.scan(number, op, mask),
            NodeOp::Vector(VectorOp::SegIota) => {
                let (index, base) = (self.index(), self.base_of_segment(node.operands[0]));
                self.emitter.builder.ins().isub(index, base)
            }
            NodeOp::Vector(VectorOp::Gather) if self.analysis.is_consecutive(number) => {
                self.at_index(self.of_strip[number], machine_type(node.ty))
            }
            NodeOp::Vector(VectorOp::Gather) if self.analysis.inductions[number] => self.next_gathered(number),
            NodeOp::Vector(VectorOp::Gather) => {
                let ty = machine_type(node.ty);
                let (place, offset) =
                    match self.analysis.factor(node.operands[1]).filter(|_| self.analysis.checked[number]) {
                        // From an address that is the same for all indices that are taken at a time.
                        Some(factor) => (self.at_loop_index(node.operands[1]), factor * self.now.further as i64),
                        None => (self.operand(node.operands[1]), 0),
                    };
                let mask = mask.filter(|_| !self.analysis.is_read_anywhere(number));
                let mut address = self.place(node.operands[0], place, ty.bytes(), mask, !self.analysis.checked[number]);
                if let Some(mask) = mask {
                    address = self.emitter.builder.ins().select(mask, address, self.emitter.state);
                }
                let offset = (offset * i64::from(ty.bytes())) as i32;
                self.emitter.builder.ins().load(ty, TRUSTED, address, offset)
            }
            NodeOp::Vector(VectorOp::Merge) => self.join(number),
            NodeOp::Vector(other) => unreachable!("{other:?} has no elements in a loop"),
        }
    }

    /// The address of a place of a column from outside. Places have been checked; one that is not there is a bug, and
    /// gives up.
    fn place(&mut self, column: PlanOperand, place: Value, size: u32, mask: Option<Value>, is_unknown: bool) -> Value {
        let BoundColumn { pointer, length, .. } = self.environment.column(column.outside());
        if is_unknown {
            let is_there = self.emitter.builder.ins().icmp(IntCC::UnsignedLessThan, place, length);
            self.require_where(mask, is_there);
        }
        self.emitter.address(pointer, place, size)
    }

    /// Gives up where a condition is false, and the mask, if there is one, is true.
    fn require_where(&mut self, mask: Option<Value>, condition: Value) {
        let implied = match mask {
            Some(mask) => self.emitter.builder.ins().icmp(IntCC::UnsignedLessThanOrEqual, mask, condition),
            None => condition,
        };
        self.emitter.require(implied);
    }
}

//! The same computed at two indices at once, in vectors of 128 bits. That all has such a form has been decided before
//! ([`super::analysis`]).
//!
//! ```text
//! (v1, v1') = column[i ..= i + 1]; (v2, v2') = (v1, v1') + (1, 1); …
//! store                   out[i ..= i + 1] = (v2, v2')
//! reduce                  (a, a') = (a, a') + (v2, v2')   // one of four vectors, in turn
//! count                   (c, c') -= mask                 // a mask of ones is -1
//! sum of floats           buffer[i ..= i + 1] = (v2, v2'), or a lane (super::vector_accumulators)
//! after the loop, or strip: a + a' + …, c + c'
//! ```

use super::loop_emitter::LoopEmitter;
use super::plan::{Ending, NodeOp, PlanOperand};
use crate::scalar::vector::{LANES, UNALIGNED};
use crate::sums::BUFFER;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_frontend::Variable;
use nesl_prim::{ScalarOp, ScalarType};
use nesl_vcode::{RegisterType, VectorOp};

impl LoopEmitter<'_, '_, '_> {
    /// What is computed at the current index and the next one.
    pub fn wide_indices(&mut self) {
        for number in 0..self.plan.nodes.len() {
            let node = &self.plan.nodes[number];
            if self.analysis.live[number] && !node.is_end() {
                let value = self.wide_node(number);
                self.now.nodes.set(number, value);
            }
        }
        // All is read before anything is stored: that may be over what is read.
        let endings: Vec<(usize, Ending)> =
            self.analysis.endings.iter().enumerate().filter_map(|(index, ending)| Some((index, (*ending)?))).collect();
        for &(_, ending) in &endings {
            ending.sources().into_iter().for_each(|source| {
                self.wide_operand(source);
            });
        }
        for (index, ending) in endings {
            self.wide_end(index, ending);
        }
        let flags: Vec<PlanOperand> = self.analysis.counted_flags().flatten().collect();
        for (flags, counter) in flags.into_iter().zip(self.wide_counters.clone()) {
            // A mask of ones is -1.
            let mask = self.wide_operand(flags);
            let before = self.emitter.builder.use_var(counter);
            let after = self.emitter.builder.ins().isub(before, mask);
            self.emitter.builder.def_var(counter, after);
        }
    }

    fn wide_operand(&mut self, source: PlanOperand) -> Value {
        let input = match source {
            PlanOperand::Node(node) => return self.now.nodes[node],
            PlanOperand::Input(input) if matches!(self.plan.inputs[input], RegisterType::Column(_)) => input,
            other => {
                let value = self.operand(other);
                return self.emitter.splat(value);
            }
        };
        if let Some(value) = self.now.inputs[input] {
            return value;
        }
        let ty = self.plan.type_of(source);
        let pointer = self.pointer(input);
        let (address, offset) = self.place_of_index(pointer);
        let value = self.load_wide(ty, address, offset);
        self.now.inputs[input] = Some(value);
        value
    }

    fn wide_node(&mut self, number: usize) -> Value {
        let node = &self.plan.nodes[number];
        if let (true, Some(value)) = (self.analysis.invariants[number], self.of_strip.get(number)) {
            return self.splat_of(value, node.ty);
        }
        match node.op {
            NodeOp::Vector(VectorOp::Gather) if self.analysis.is_consecutive(number) => {
                let (address, offset) = self.place_of_index(self.of_strip[number]);
                self.load_wide(node.ty, address, offset)
            }
            NodeOp::Vector(VectorOp::Gather) => self.both(|loops| loops.next_gathered(number)),
            NodeOp::Map(_) if self.analysis.inductions[number] => {
                let induction = self.inductions[number];
                self.both(|loops| loops.next_induction(induction))
            }
            NodeOp::Map(op) => {
                let operands: Vec<Value> = node.operands.iter().map(|&operand| self.wide_operand(operand)).collect();
                self.emitter.wide_operation(op, &operands)
            }
            NodeOp::Vector(op @ (VectorOp::Iota | VectorOp::SegIota)) => {
                let mut first = self.index();
                if op == VectorOp::SegIota {
                    let base = self.base_of_segment(node.operands[0]);
                    first = self.emitter.builder.ins().isub(first, base);
                }
                self.emitter.index_wide(first)
            }
            NodeOp::Vector(VectorOp::Compact) => {
                let (address, offset) = self.place_of_index(self.of_strip[number]);
                self.load_wide(node.ty, address, offset)
            }
            NodeOp::Vector(VectorOp::SegDist) => self.emitter.splat(self.of_strip[number]),
            NodeOp::Vector(_) => self.wide_operand(node.operands[0]),
        }
    }

    /// The same for both indices; a truth value as a mask.
    fn splat_of(&mut self, value: Value, ty: ScalarType) -> Value {
        if ty != ScalarType::Bool {
            return self.emitter.splat(value);
        }
        let number = self.emitter.builder.ins().uextend(types::I64, value);
        let mask = self.emitter.builder.ins().ineg(number);
        self.emitter.splat(mask)
    }

    /// What is made for one index after the other.
    fn both(&mut self, mut make: impl FnMut(&mut Self) -> Value) -> Value {
        let [first, second] = [(); 2].map(|()| make(self));
        let both = self.emitter.splat(first);
        self.emitter.builder.ins().insertlane(both, second, 1)
    }

    /// The elements of a column at the current index and the next one.
    fn load_wide(&mut self, ty: ScalarType, address: Value, offset: i32) -> Value {
        if !self.keeps_lanes() {
            return self.emitter.load_wide(ty, address, offset);
        }
        // At the beginning of the loop, all would need more registers than there are.
        self.emitter.load_wide_where_needed(ty, address, offset)
    }

    fn wide_end(&mut self, index: usize, ending: Ending) {
        let (source, pointer, offset) = match ending {
            Ending::Store(source) => (source, self.environment.outlets[index].pointer, 0),
            Ending::SegScatter { values, .. } => (values, self.biases[index], 0),
            Ending::Sum(_, source) | Ending::SegSum(_, source, _) => {
                let value = self.wide_operand(source);
                if self.add_to_lanes(index, value) {
                    return;
                }
                (source, self.bias(index), BUFFER)
            }
            Ending::Reduce(op, source) | Ending::SegReduce(op, source, _) => {
                let value = self.wide_operand(source);
                let accumulators = &self.wide_accumulators[index];
                let accumulator = accumulators[self.now.further / LANES % accumulators.len()];
                let before = self.emitter.builder.use_var(accumulator);
                let after = self.emitter.wide_operation(op, &[before, value]);
                return self.emitter.builder.def_var(accumulator, after);
            }
            other => unreachable!("{other:?} has no form for two indices"),
        };
        let value = self.wide_operand(source);
        let (address, further) = self.place_of_index(pointer);
        self.emitter.builder.ins().store(UNALIGNED, value, address, offset + further);
    }

    /// Defines the accumulators of exact reductions for two indices, and the counters.
    pub fn begin_wide(&mut self, times: usize) {
        for _ in 0..self.analysis.counted_flags().count() {
            let none = self.emitter.int(0);
            let none = self.emitter.splat(none);
            let counter = self.variable(none);
            self.wide_counters.push(counter);
        }
        for index in 0..self.analysis.endings.len() {
            let mut accumulators = Vec::new();
            if let Some(Ending::Reduce(op, _) | Ending::SegReduce(op, ..)) = self.analysis.endings[index] {
                let identity = self.identity(op);
                let identity = self.emitter.splat(identity);
                accumulators.extend((0..times).map(|_| self.variable(identity)));
            }
            self.wide_accumulators.push(accumulators);
        }
    }

    /// Combines them with those for one.
    pub fn end_wide(&mut self) {
        let positions: Vec<Variable> = self.positions.iter().copied().flatten().collect();
        for (counter, position) in std::mem::take(&mut self.wide_counters).into_iter().zip(positions) {
            for lane in 0..LANES as u8 {
                let both = self.emitter.builder.use_var(counter);
                let count = self.emitter.builder.ins().extractlane(both, lane);
                self.add(position, count);
            }
        }
        for index in 0..self.wide_accumulators.len() {
            if let Some(Ending::Reduce(op, _)) = self.analysis.endings[index] {
                self.combine_wide(index, op);
            }
        }
    }

    /// Whether segments are reduced.
    pub fn reduces_segments(&self) -> bool {
        self.analysis.endings.iter().any(|ending| matches!(ending, Some(Ending::SegReduce(..))))
    }

    /// Combines those of segments with those for one, where a strip has no more vectors: it may end with a segment.
    pub fn end_wide_strip(&mut self) {
        for index in 0..self.wide_accumulators.len() {
            let Some(Ending::SegReduce(op, ..)) = self.analysis.endings[index] else { continue };
            self.combine_wide(index, op);
            let identity = self.identity(op);
            let identity = self.emitter.splat(identity);
            for accumulator in self.wide_accumulators[index].clone() {
                self.emitter.builder.def_var(accumulator, identity);
            }
        }
    }

    /// Combines the accumulators for two indices of a yield with the first one for one.
    fn combine_wide(&mut self, index: usize, op: ScalarOp) {
        let single = self.values(index)[0];
        let accumulators = self.wide_accumulators[index].clone();
        let mut all = None;
        for accumulator in accumulators {
            let both = self.emitter.builder.use_var(accumulator);
            all = Some(all.map_or(both, |all| self.emitter.wide_operation(op, &[all, both])));
        }
        let Some(all) = all else { return };
        for lane in 0..LANES as u8 {
            let value = self.emitter.builder.ins().extractlane(all, lane);
            self.combine(op, single, value, None);
        }
    }
}

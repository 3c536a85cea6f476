//! The same computed at many indices at once, in lanes of one or two bytes. That all has such a form, and fits, has
//! been decided before ([`super::analysis`]).
//!
//! ```text
//! v1 = column[i ..= i + 15]; v2 = v1 >= (`a, `a, …); …
//! merge of flags f        bitselect f, a, b               // both sides, at all indices
//! store                   out[i ..= i + 15] = v2
//! sum of truth values     n += popcount(high bits of the mask)
//! other sums              (a, a') += the lanes, widened and added up to two ints
//! any, all, max, min      a = a op v2, lane by lane
//! after the loops:        lanes are combined with what is carried
//! ```
//!
//! In a space within, what is combined is what changes nothing where its flags are false.

use super::environment::Bound;
use super::loop_emitter::LoopEmitter;
use super::plan::{Ending, NodeOp, PlanOperand};
use crate::scalar::lanes::LaneType;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use nesl_prim::{Interval, ScalarOp, ScalarType};
use nesl_vcode::VectorOp;

impl LoopEmitter<'_, '_, '_> {
    /// What is computed at as many indices as there are lanes.
    pub fn narrow_indices(&mut self, lanes: LaneType) {
        let endings: Vec<(usize, Ending)> =
            self.analysis.endings.iter().enumerate().filter_map(|(index, ending)| Some((index, (*ending)?))).collect();
        // All is read before anything is stored: that may be over what is read.
        for &(_, ending) in &endings {
            ending.sources().into_iter().for_each(|source| {
                self.narrow_operand(lanes, source);
            });
        }
        for (index, ending) in endings {
            self.narrow_end(lanes, index, ending);
        }
        for space in 0..self.positions.len() {
            let Some(position) = self.positions[space] else { continue };
            if let Some(mask) = self.narrow_mask(lanes, space) {
                let count = self.emitter.count_of_mask(mask);
                self.add(position, count);
            }
        }
    }

    /// Where the flags of a space are true; none for that of all indices.
    fn narrow_mask(&mut self, lanes: LaneType, space: usize) -> Option<Value> {
        let flags = self.analysis.flags_of(space);
        let masks: Vec<Value> = flags.into_iter().map(|flags| self.narrow_operand(lanes, flags)).collect();
        masks.into_iter().reduce(|one, other| self.emitter.builder.ins().band(one, other))
    }

    fn narrow_operand(&mut self, lanes: LaneType, source: PlanOperand) -> Value {
        let input = match source {
            PlanOperand::Constant(value) => return self.emitter.constant_in(lanes, value),
            PlanOperand::Node(number) => {
                if let Some(value) = self.now.nodes.get(number) {
                    return value;
                }
                let value = self.narrow_node(lanes, number);
                self.now.nodes.set(number, value);
                return value;
            }
            PlanOperand::Input(input) => input,
        };
        if let Some(value) = self.now.inputs[input] {
            return value;
        }
        let ty = self.plan.type_of(source);
        let value = match self.environment.inputs[input] {
            Bound::Scalar(value) => self.emitter.splat_in(lanes, ty, value),
            _ => self.bytes_from(lanes, ty, self.pointer(input), self.now.loop_index()),
        };
        self.now.inputs[input] = Some(value);
        value
    }

    /// The bytes of a column from a place on, which belongs to the loop's index.
    fn bytes_from(&mut self, lanes: LaneType, ty: ScalarType, pointer: Value, place: Value) -> Value {
        let address = self.emitter.address(pointer, place, 1);
        self.emitter.load_in(lanes, ty, address, self.now.further as i32)
    }

    fn narrow_node(&mut self, lanes: LaneType, number: usize) -> Value {
        let plan = self.plan;
        let node = &plan.nodes[number];
        match node.op {
            NodeOp::Vector(VectorOp::Gather) => {
                let place = self.at_loop_index(node.operands[1]);
                let pointer = self.pointer(node.operands[0].outside());
                self.bytes_from(lanes, node.ty, pointer, place)
            }
            NodeOp::Vector(VectorOp::Merge) => {
                let [mask, one, other] = [0, 1, 2].map(|position| self.narrow_operand(lanes, node.operands[position]));
                self.emitter.builder.ins().bitselect(mask, one, other)
            }
            // What is kept stays where it is.
            NodeOp::Vector(_) => self.narrow_operand(lanes, node.operands[0]),
            NodeOp::Map(op) => {
                let divides = matches!(op, ScalarOp::DivideInt | ScalarOp::Remainder | ScalarOp::Modulo);
                if let Some(by) = divides.then(|| self.analysis.reciprocal(number)).flatten() {
                    let dividend = self.narrow_operand(lanes, node.operands[0]);
                    return self.emitter.divide_shorts(op, dividend, by);
                }
                let operands: Vec<Value> =
                    node.operands.iter().map(|&operand| self.narrow_operand(lanes, operand)).collect();
                let is_signed = node.operands.iter().any(|&operand| self.is_signed(lanes, operand));
                self.emitter.lane_operation(op, &operands, is_signed)
            }
        }
    }

    /// Whether the lanes of a source are numbers with a sign.
    fn is_signed(&self, lanes: LaneType, source: PlanOperand) -> bool {
        lanes == LaneType::Short || self.analysis.interval(source).is_some_and(|Interval { low, .. }| low < 0)
    }

    fn narrow_end(&mut self, lanes: LaneType, index: usize, ending: Ending) {
        match ending {
            Ending::Store(source) => self.narrow_store(lanes, index, source),
            Ending::Reduce(ScalarOp::AddInt, source) => {
                let mask = self.narrow_mask(lanes, self.plan.space_of(source));
                if let Some(truth) = self.plan.counted_truth(source) {
                    let truth = self.narrow_operand(lanes, truth);
                    let all = mask.map_or(truth, |mask| self.emitter.builder.ins().band(mask, truth));
                    let count = self.emitter.count_of_mask(all);
                    let sum = self.values(index)[0];
                    return self.add(sum, count);
                }
                let value = self.narrow_operand(lanes, source);
                let value = mask.map_or(value, |mask| self.emitter.builder.ins().band(mask, value));
                let two = self.emitter.sum_of_lanes(value, self.is_signed(lanes, source));
                self.accumulate(lanes, index, ScalarOp::AddInt, two);
            }
            Ending::Reduce(op, source) => {
                let value = self.narrow_operand(lanes, source);
                let value = match self.narrow_mask(lanes, self.plan.space_of(source)) {
                    None => value,
                    Some(mask) => {
                        let neutral = self.neutral(lanes, op);
                        self.emitter.builder.ins().bitselect(mask, value, neutral)
                    }
                };
                self.accumulate(lanes, index, op, value);
            }
            other => unreachable!("{other:?} has no form in narrow lanes"),
        }
    }

    fn narrow_store(&mut self, lanes: LaneType, index: usize, source: PlanOperand) {
        let (pointer, ty) = (self.environment.outlets[index].pointer, self.plan.type_of(source));
        let all = self.narrow_operand(lanes, source);
        if ty != ScalarType::Int {
            let address = self.emitter.address(pointer, self.now.loop_index(), 1);
            return self.emitter.store_bytes(lanes, ty, all, address, self.now.further as i32);
        }
        let (address, further) = self.place_of_index(pointer);
        let twos = self.emitter.widened(all, self.is_signed(lanes, source));
        for (number, two) in twos.into_iter().enumerate() {
            let offset = further + (number * types::I64X2.bytes() as usize) as i32;
            self.emitter.builder.ins().store(crate::scalar::vector::UNALIGNED, two, address, offset);
        }
    }

    /// The lanes that change nothing.
    fn neutral(&mut self, lanes: LaneType, op: ScalarOp) -> Value {
        self.emitter.constant_in(lanes, op.identity())
    }

    /// Combines lanes with those of a yield.
    fn accumulate(&mut self, lanes: LaneType, index: usize, op: ScalarOp, value: Value) {
        let accumulator = self.narrow_accumulators[index];
        let before = self.emitter.builder.use_var(accumulator);
        let after = self.emitter.lane_operation(op, &[before, value], lanes == LaneType::Short);
        self.emitter.builder.def_var(accumulator, after);
    }

    /// Defines the accumulators of reductions.
    pub fn begin_narrow(&mut self, lanes: LaneType) {
        for index in 0..self.analysis.endings.len() {
            let accumulator = match self.analysis.endings[index] {
                Some(Ending::Reduce(ScalarOp::AddInt, _)) => {
                    let none = self.emitter.int(0);
                    let none = self.emitter.splat(none);
                    self.variable(none)
                }
                Some(Ending::Reduce(op, _)) => {
                    let neutral = self.neutral(lanes, op);
                    self.variable(neutral)
                }
                _ => continue,
            };
            self.narrow_accumulators.set(index, accumulator);
        }
    }

    /// What a conjunction or a disjunction comes to in lanes so far.
    pub fn narrow_truth(&mut self, index: usize, op: ScalarOp) -> Option<Value> {
        let all = self.narrow_accumulators.get(index)?;
        let all = self.emitter.builder.use_var(all);
        Some(match op {
            ScalarOp::AndBool => self.emitter.builder.ins().vall_true(all),
            _ => self.emitter.builder.ins().vany_true(all),
        })
    }

    /// Combines lanes with what is carried from one index to the next.
    pub fn end_narrow(&mut self) {
        for index in 0..self.analysis.endings.len() {
            let (Some(Ending::Reduce(op, _)), Some(accumulator)) =
                (self.analysis.endings[index], self.narrow_accumulators.get(index))
            else {
                continue;
            };
            let single = self.values(index)[0];
            if let ScalarOp::AndBool | ScalarOp::OrBool = op {
                if let Some(truth) = self.narrow_truth(index, op) {
                    self.combine(op, single, truth, None);
                }
                continue;
            }
            let all = self.emitter.builder.use_var(accumulator);
            let ty = self.emitter.builder.func.dfg.value_type(all);
            for lane in 0..ty.lane_count() as u8 {
                let mut value = self.emitter.builder.ins().extractlane(all, lane);
                if ty == types::I16X8 {
                    value = self.emitter.builder.ins().ireduce(types::I8, value);
                }
                self.combine(op, single, value, None);
            }
        }
    }
}

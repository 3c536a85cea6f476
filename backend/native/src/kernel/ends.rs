//! What becomes of the elements that a loop computes: they are stored, combined, written at indices.
//!
//! ```text
//! store              out[i] = v                           // in a space within: out[position] = v, kept or not
//! reduce             a = a + v                            // under a mask: a = a + (mask ? v : identity)
//! index of extreme   if v replaces a { a = v; n = i }     // without a branch; for a segment n - base in the end
//! sum of floats      buffer[i % BLOCK] = v                // added up where a block ends
//!   of a filter      buffer[n] = v; n += mask; if n == BLOCK { complete_sums; n = 0 }
//! scatter            out[index] = v                       // in a piece, where order counts: written[index] = 1
//! seg_scatter        out[start + i - base] = v            // where the segment begins, and its first index
//! combine by index   out[index] = out[index] + v
//! ```

use super::environment::BoundSegments;
use super::loop_emitter::{Carried, Cursor, LoopEmitter};
use super::plan::{Ending, Mode, PlanOperand};
use crate::emitter::TRUSTED;
use crate::sums::{BUFFER, LENGTH_MASK, LENGTHS, RESULTS, SEGMENT, SEGMENTS};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_frontend::Variable;
use nesl_prim::extreme::NOWHERE;
use nesl_prim::{ScalarOp, ScalarType, sum};
use std::ops::Range;

impl LoopEmitter<'_, '_, '_> {
    /// What becomes of an element of a yield.
    pub fn end(&mut self, index: usize, ending: Ending, mask: Option<Value>) {
        let outlet = self.environment.outlets[index];
        match ending {
            Ending::Store(source) => {
                let value = self.operand(source);
                self.store(outlet.pointer, self.plan.space_of(source), value, mask);
            }
            Ending::Reduce(op, source) | Ending::SegReduce(op, source, _) => {
                let value = self.operand(source);
                let accumulators = self.values(index);
                let accumulator = accumulators[self.now.further % accumulators.len()];
                self.combine(op, accumulator, value, mask);
            }
            Ending::ReduceIndex(op, source) | Ending::SegReduceIndex(op, source, _) => {
                let value = self.operand(source);
                self.choose(index, op, value);
            }
            Ending::Sum(_, source) if self.plan.space_of(source) > 0 => {
                let value = self.operand(source);
                self.add_to_buffer(index, outlet.pointer, value, mask);
            }
            Ending::Sum(_, source) | Ending::SegSum(_, source, _) => {
                let value = self.operand(source);
                let bias = self.bias(index);
                let (address, further) = self.place_of_index(bias);
                self.emitter.builder.ins().store(TRUSTED, value, address, BUFFER + further);
            }
            Ending::Scan(op, _) => unreachable!("the elements of a scan of {op} are stored"),
            Ending::Scatter { indices, values, ordered } => {
                let value = self.operand(values);
                let size = self.emitter.builder.func.dfg.value_type(value).bytes();
                let (place, address) = self.target_place(index, indices, size);
                self.emitter.builder.ins().store(TRUSTED, value, address, 0);
                if ordered && self.analysis.mode == Mode::Piece {
                    let marks = self.emitter.address(outlet.pointer, outlet.start, size);
                    let mark = self.emitter.address(marks, place, 1);
                    let one = self.emitter.builder.ins().iconst(types::I8, 1);
                    self.emitter.builder.ins().store(TRUSTED, one, mark, 0);
                }
            }
            Ending::SegScatter { values, .. } => {
                let value = self.operand(values);
                let size = self.emitter.builder.func.dfg.value_type(value).bytes();
                let address = self.emitter.address(self.biases[index], self.now.loop_index(), size);
                let offset = (self.now.further as u32 * size) as i32;
                self.emitter.builder.ins().store(TRUSTED, value, address, offset);
            }
            Ending::Combine { op, indices, values } => {
                let value = self.operand(values);
                let ty = self.emitter.builder.func.dfg.value_type(value);
                let (_, address) = self.target_place(index, indices, ty.bytes());
                let before = self.emitter.builder.ins().load(ty, TRUSTED, address, 0);
                let after = self.emitter.scalar(op, &[before, value]);
                self.emitter.builder.ins().store(TRUSTED, after, address, 0);
            }
        }
    }

    /// The index of a column that a yield changes, checked, and the address of the element.
    fn target_place(&mut self, index: usize, indices: PlanOperand, size: u32) -> (Value, Value) {
        let outlet = self.environment.outlets[index];
        let place = self.operand(indices);
        if !self.analysis.is_place[index] {
            let is_there = self.emitter.builder.ins().icmp(IntCC::UnsignedLessThan, place, outlet.start);
            self.emitter.require(is_there);
        }
        (place, self.emitter.address(outlet.pointer, place, size))
    }

    /// Stores the element of a space at the current index in a column.
    fn store(&mut self, pointer: Value, space: usize, value: Value, mask: Option<Value>) {
        let size = self.emitter.builder.func.dfg.value_type(value).bytes();
        let Some(position) = self.positions[space] else {
            let address = self.emitter.address(pointer, self.now.loop_index(), size);
            let offset = (self.now.further as u32 * size) as i32;
            self.emitter.builder.ins().store(TRUSTED, value, address, offset);
            return;
        };
        let position = self.emitter.builder.use_var(position);
        let mut address = self.emitter.address(pointer, position, size);
        // What is not kept is written where the next kept element will be; in a piece that may be beyond its end.
        if let (Some(mask), Mode::Piece, false) = (mask, self.analysis.mode, self.has_room) {
            address = self.emitter.builder.ins().select(mask, address, self.environment.aside);
        }
        self.emitter.builder.ins().store(TRUSTED, value, address, 0);
    }

    /// Says which segments a buffer of sums has, and where their results go.
    pub fn begin_segments(&mut self, index: usize, descriptor: usize) {
        let BoundSegments { lengths, segment, segments, .. } = self.environment.segments(descriptor);
        let outlet = self.environment.outlets[index];
        let fields = [
            (lengths.pointer, LENGTHS),
            (lengths.mask, LENGTH_MASK),
            (outlet.pointer, RESULTS),
            (segment, SEGMENT),
            (segments, SEGMENTS),
        ];
        for (value, field) in fields {
            self.emitter.builder.ins().store(TRUSTED, value, outlet.start, field);
        }
    }

    /// Combines an element with those before it.
    ///
    /// ```text
    /// a = a op v
    /// a = a op (mask ? v : identity)      // exact: the next element waits for one operation, not for two
    /// a = mask ? a op v : a               // floats: -0.0 + 0.0 is not -0.0
    /// ```
    pub fn combine(&mut self, op: ScalarOp, accumulator: Variable, value: Value, mask: Option<Value>) {
        let before = self.emitter.builder.use_var(accumulator);
        let is_exact = op.row().result != ScalarType::Float;
        let (value, mask) = match mask {
            Some(mask) if is_exact => (self.masked(op, value, mask), None),
            _ => (value, mask),
        };
        let mut after = self.emitter.scalar(op, &[before, value]);
        if let Some(mask) = mask {
            after = self.emitter.builder.ins().select(mask, after, before);
        }
        self.emitter.builder.def_var(accumulator, after);
    }

    /// A value under a mask, else what changes nothing.
    fn masked(&mut self, op: ScalarOp, value: Value, mask: Value) -> Value {
        match op {
            ScalarOp::OrBool => self.emitter.scalar(ScalarOp::AndBool, &[value, mask]),
            ScalarOp::AndBool => {
                let left_out = self.emitter.scalar(ScalarOp::NotBool, &[mask]);
                self.emitter.scalar(ScalarOp::OrBool, &[value, left_out])
            }
            _ => {
                let identity = self.identity(op);
                self.emitter.builder.ins().select(mask, value, identity)
            }
        }
    }

    /// Adds an element of a space within to a buffer of sums.
    fn add_to_buffer(&mut self, index: usize, sums: Value, value: Value, mask: Option<Value>) {
        let variable = self.values(index)[0];
        let position = self.emitter.builder.use_var(variable);
        let address = self.emitter.address(sums, position, 8);
        self.emitter.builder.ins().store(TRUSTED, value, address, BUFFER);
        let one = match mask {
            Some(mask) => self.emitter.builder.ins().uextend(types::I64, mask),
            None => self.emitter.int(1),
        };
        self.add(variable, one);
        let full = self.at_block_end(variable);
        self.emitter.complete_sums(sums);
        self.emitter.builder.ins().jump(full, &[]);
        self.emitter.builder.switch_to_block(full);
    }

    /// Begins what is done where a position is the end of a block, where the position goes back to 0; yields the block
    /// of instructions to go on with.
    pub fn at_block_end(&mut self, variable: Variable) -> cranelift_codegen::ir::Block {
        let builder = &mut self.emitter.builder;
        let position = builder.use_var(variable);
        let is_full = builder.ins().icmp_imm_s(IntCC::Equal, position, sum::BLOCK as i64);
        let (full, after) = (builder.create_block(), builder.create_block());
        builder.set_cold_block(full);
        builder.ins().brif(is_full, full, &[], after, &[]);
        builder.switch_to_block(full);
        let zero = builder.ins().iconst(types::I64, 0);
        builder.def_var(variable, zero);
        after
    }

    /// Where it is looked for an extreme element first: no element is more extreme where all are alike.
    pub fn first_looked_at(&mut self, indices: &Range<Value>) -> Value {
        let nowhere = self.emitter.int(NOWHERE);
        let ins = &mut self.emitter.builder;
        let is_any = ins.ins().icmp(IntCC::SignedLessThan, indices.start, indices.end);
        ins.ins().select(is_any, indices.start, nowhere)
    }

    /// What goes from one index to the next where it is looked for an extreme element, from one on.
    pub fn carry_extreme(&mut self, op: ScalarOp, first: Value) -> Carried {
        let identity = self.identity(op);
        Carried::Values(vec![self.variable(identity), self.variable(first)])
    }

    /// The extreme element so far, and where it is.
    fn extreme(&self, index: usize) -> [Variable; 2] {
        let values = self.values(index);
        [values[0], values[1]]
    }

    /// An element takes the place of the extreme one of those before, if it does.
    fn choose(&mut self, index: usize, op: ScalarOp, value: Value) {
        let variables = self.extreme(index);
        let [extreme, place] = variables.map(|variable| self.emitter.builder.use_var(variable));
        let is_replaced = self.emitter.is_replaced(op, extreme, value);
        let ins = &mut self.emitter.builder;
        let here = ins.ins().iadd_imm_s(self.now.loop_index(), self.now.further as i64);
        let extreme = ins.ins().select(is_replaced, value, extreme);
        let place = ins.ins().select(is_replaced, here, place);
        ins.def_var(variables[0], extreme);
        ins.def_var(variables[1], place);
    }

    /// Where in the current segment the extreme element is, is stored.
    pub fn end_looking(&mut self, index: usize, cursor: Cursor) {
        let [_, place] = self.extreme(index);
        let nowhere = self.emitter.int(NOWHERE);
        let ins = &mut self.emitter.builder;
        let [place, base, stop] = [place, cursor.base, cursor.stop].map(|variable| ins.use_var(variable));
        let within = ins.ins().isub(place, base);
        let is_empty = ins.ins().icmp(IntCC::Equal, base, stop);
        let result = ins.ins().select(is_empty, nowhere, within);
        self.store_of_segment(index, cursor, result, 8);
        self.begin_looking(index, stop);
    }

    /// It is looked for the extreme element of a segment that begins there.
    pub fn begin_looking(&mut self, index: usize, base: Value) {
        let Some(Ending::SegReduceIndex(op, ..)) = self.analysis.endings[index] else { return };
        let [extreme, place] = self.extreme(index);
        let identity = self.identity(op);
        self.emitter.builder.def_var(extreme, identity);
        self.emitter.builder.def_var(place, base);
    }
}

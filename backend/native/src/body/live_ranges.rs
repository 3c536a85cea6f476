//! What does not vary in a loop over single elements has a live range of its own there.
//!
//! The register allocator finds one place for a value wherever it lives as long as nothing stands in the way; what
//! lives across a call anywhere, before the loop or behind it, is in memory for all of that time, and each turn would
//! load it again. So the loop reads another value, which is the same. It comes from memory that is read atomically, for
//! the compiler knows that a copy, or what it has just stored, is the value itself.
//!
//! ```text
//!     slot = v; w = slot                          // v: what does not vary
//!   loop:
//!     …w…; jump loop
//! ```

use super::{Body, is_direct};
use crate::emitter::TRUSTED;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Opcode, StackSlotData, StackSlotKind, Value, ValueDef, types};
use nesl_vcode::{Block, FunctionId, Op, VectorOp, tail};
use std::collections::HashMap;

/// Whether a loop looks at single elements, and calls nothing but itself.
fn is_over_elements(block: &Block, id: FunctionId) -> bool {
    block.instructions.iter().all(|instruction| match &instruction.op {
        Op::Scalar(_) => true,
        Op::Call(callee) => *callee == id,
        Op::If(then_block, else_block) => is_over_elements(then_block, id) && is_over_elements(else_block, id),
        Op::Vector(op) => is_direct(*op) || matches!(op, VectorOp::Scatter | VectorOp::CombineByIndex(_)),
        _ => false,
    })
}

/// Which value each is in a loop.
#[derive(Default)]
pub(super) struct LiveRanges(HashMap<Value, Value>);

impl LiveRanges {
    pub fn inside(&self, values: &[Vec<Value>]) -> Vec<Vec<Value>> {
        let inside = |value: &Value| self.0.get(value).copied().unwrap_or(*value);
        values.iter().map(|values| values.iter().map(inside).collect()).collect()
    }

    pub fn outside(&self, values: &[Vec<Value>]) -> Vec<Vec<Value>> {
        let outside =
            |value: &Value| self.0.iter().find(|(_, inside)| *inside == value).map_or(*value, |(own, _)| *own);
        values.iter().map(|values| values.iter().map(outside).collect()).collect()
    }
}

impl Body<'_, '_> {
    /// Splits the live ranges of what the current function, a loop whose first parameters have these values, hands on
    /// as it is, and of the columns at some positions.
    pub(super) fn split_live_ranges(&mut self, values: &[Vec<Value>], columns: &[usize]) -> LiveRanges {
        let function = self.function;
        let mut ranges = LiveRanges::default();
        if !is_over_elements(&function.body, self.id) {
            return ranges;
        }
        let Some(same) = tail::handed_on(function, self.id) else { return ranges };
        for (position, parameter) in function.parameters.iter().enumerate() {
            if same.contains(parameter) || columns.contains(&position) {
                values[position].iter().for_each(|&value| self.split_live_range(value, &mut ranges));
            }
        }
        ranges
    }

    fn split_live_range(&mut self, value: Value, ranges: &mut LiveRanges) {
        let function = &self.emitter.builder.func;
        let is_constant = match function.dfg.value_def(value) {
            ValueDef::Result(maker, _) => {
                matches!(function.dfg.insts[maker].opcode(), Opcode::Iconst | Opcode::F64const)
            }
            ValueDef::Param(..) | ValueDef::Union(..) => false,
        };
        let ty = function.dfg.value_type(value);
        if is_constant || ranges.0.contains_key(&value) || ![types::I64, types::F64].contains(&ty) {
            return;
        }
        let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, ty.bytes(), 3);
        let slot = self.emitter.builder.create_sized_stack_slot(slot);
        let address = self.emitter.builder.ins().stack_addr(types::I64, slot, 0);
        self.emitter.builder.ins().store(TRUSTED, value, address, 0);
        let mut inside = self.emitter.builder.ins().atomic_load(types::I64, TRUSTED, address);
        if ty == types::F64 {
            inside = self.emitter.builder.ins().bitcast(ty, MemFlagsData::new(), inside);
        }
        if self.emitter.is_known_size(value) {
            self.emitter.note_size(inside);
        }
        ranges.0.insert(value, inside);
    }
}

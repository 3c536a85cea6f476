//! What does not vary in a loop over single elements has a live range of its own there.
//!
//! The register allocator finds one place for a value wherever it lives as long as nothing stands in the way; what
//! lives across a call anywhere, before the loop or behind it, is in memory for all of that time, and each turn would
//! load it again. So the loop reads another value, which is the same. It comes from memory, behind a point
//! that the compiler moves nothing across: it knows that a copy is the value itself, and that what was just stored is.
//!
//! ```text
//!     slot = v; w = slot                          // v: what does not vary
//!   loop:
//!     …w…; jump loop
//! ```

use super::{Body, is_direct};
use cranelift_codegen::ir::{InstBuilder, Opcode, StackSlot, StackSlotData, StackSlotKind, Value, ValueDef, types};
use nesl_vcode::{Block, FunctionId, Op, tail};
use std::collections::HashMap;

/// Whether a loop looks at single elements, and calls nothing but itself.
fn is_over_elements(block: &Block, id: FunctionId) -> bool {
    block.instructions.iter().all(|instruction| match &instruction.op {
        Op::Scalar(_) => true,
        Op::Call(callee) => *callee == id,
        Op::If(then_block, else_block) => is_over_elements(then_block, id) && is_over_elements(else_block, id),
        Op::Vector(op) => is_direct(*op) || op.is_update(),
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
        let mut kept = Vec::new();
        for (position, parameter) in function.parameters.iter().enumerate() {
            if same.contains(parameter) || columns.contains(&position) {
                for &value in &values[position] {
                    if !kept.contains(&value) && !self.is_constant(value) {
                        kept.push(value);
                    }
                }
            }
        }
        let slots: Vec<StackSlot> = kept.iter().map(|&value| self.stored(value)).collect();
        if !kept.is_empty() {
            self.emitter.builder.ins().sequence_point();
        }
        for (value, slot) in kept.into_iter().zip(slots) {
            let ty = self.emitter.builder.func.dfg.value_type(value);
            let inside = self.emitter.builder.ins().stack_load(types::I64, ty, slot, 0);
            if self.emitter.is_known_size(value) {
                self.emitter.note_size(inside);
            }
            ranges.0.insert(value, inside);
        }
        ranges
    }

    fn is_constant(&self, value: Value) -> bool {
        let function = &self.emitter.builder.func;
        match function.dfg.value_def(value) {
            ValueDef::Result(maker, _) => {
                matches!(function.dfg.insts[maker].opcode(), Opcode::Iconst | Opcode::F64const)
            }
            ValueDef::Param(..) | ValueDef::Union(..) => false,
        }
    }

    /// The slot in which a value is now.
    fn stored(&mut self, value: Value) -> StackSlot {
        let bytes = self.emitter.builder.func.dfg.value_type(value).bytes();
        let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 3);
        let slot = self.emitter.builder.create_sized_stack_slot(slot);
        self.emitter.builder.ins().stack_store(types::I64, value, slot, 0);
        slot
    }
}

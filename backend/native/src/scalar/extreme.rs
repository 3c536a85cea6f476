//! Whether an element is more extreme than those before it, as [`nesl_prim::extreme`] says: of one index, or of two at
//! once.

use crate::emitter::Emitter;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value};
use nesl_prim::{ScalarOp, ScalarType};

impl Emitter<'_> {
    /// Whether an element takes the place of the least or greatest one of those before it. An equal one does not; a NaN
    /// does, and keeps it.
    ///
    /// ```text
    /// before > element                                      // minimum
    /// !(before <= element) & before == before               // of floats
    /// ```
    pub(crate) fn is_replaced(&mut self, op: ScalarOp, before: Value, element: Value) -> Value {
        let is_minimum = matches!(op, ScalarOp::MinimumInt | ScalarOp::MinimumFloat | ScalarOp::MinimumChar);
        let (of_floats, signed, unsigned) = if is_minimum {
            (FloatCC::UnorderedOrGreaterThan, IntCC::SignedGreaterThan, IntCC::UnsignedGreaterThan)
        } else {
            (FloatCC::UnorderedOrLessThan, IntCC::SignedLessThan, IntCC::UnsignedLessThan)
        };
        let ins = &mut self.builder;
        match op.row().result {
            ScalarType::Float => {
                let is_beyond = ins.ins().fcmp(of_floats, before, element);
                let is_number = ins.ins().fcmp(FloatCC::Ordered, before, before);
                ins.ins().band(is_beyond, is_number)
            }
            ScalarType::Int => ins.ins().icmp(signed, before, element),
            ScalarType::Bool | ScalarType::Char => ins.ins().icmp(unsigned, before, element),
        }
    }
}

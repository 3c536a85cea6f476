//! Products of ints by constants that one or two shifts and sums give sooner: of one number, or of two in a vector.
//! Warren, *Hacker's Delight*, chapter 8.
//!
//! ```text
//! x * 2^k                  x << k
//! x * (2^k + 1)            x + (x << k)                    // an address, where k is at most 3
//! x * (2^k - 1)            (x << k) - x
//! these, times 2^n         … << n
//! ```

use crate::emitter::Emitter;
use cranelift_codegen::ir::{InstBuilder, InstructionData, Opcode, Value};

/// An address adds a number shifted by so much at most.
const SHIFT_OF_ADDRESS: u32 = 3;

impl Emitter<'_> {
    /// The product of two ints, or two by two in vectors.
    pub(crate) fn product(&mut self, a: Value, b: Value) -> Value {
        let by_constant = match (self.int_of(a), self.int_of(b)) {
            (_, Some(factor)) => self.by_constant(a, factor),
            (Some(factor), None) => self.by_constant(b, factor),
            (None, None) => None,
        };
        by_constant.unwrap_or_else(|| self.builder.ins().imul(a, b))
    }

    /// The product by a constant, where there is a quicker way.
    fn by_constant(&mut self, value: Value, factor: i64) -> Option<Value> {
        if factor < 2 {
            return None;
        }
        let is_vector = self.builder.func.dfg.value_type(value).is_vector();
        let zeros = factor.trailing_zeros();
        let odd = (factor >> zeros) as u64;
        let [below, above] = [odd - 1, odd + 1].map(|number| number.is_power_of_two().then(|| number.trailing_zeros()));
        let product = match (below, above) {
            _ if odd == 1 => value,
            (Some(shift), _) if is_vector || zeros == 0 || shift <= SHIFT_OF_ADDRESS => {
                let shifted = self.shifted(value, shift);
                self.builder.ins().iadd(value, shifted)
            }
            (_, Some(shift)) if is_vector || zeros == 0 => {
                let shifted = self.shifted(value, shift);
                self.builder.ins().isub(shifted, value)
            }
            _ => return None,
        };
        Some(self.shifted(product, zeros))
    }

    fn shifted(&mut self, value: Value, by: u32) -> Value {
        if by == 0 {
            return value;
        }
        let by = self.int(i64::from(by));
        self.builder.ins().ishl(value, by)
    }

    /// The int that a value is, or both of its lanes, if that is a constant.
    fn int_of(&self, value: Value) -> Option<i64> {
        let dfg = &self.builder.func.dfg;
        match dfg.insts[dfg.value_def(value).inst()?] {
            InstructionData::UnaryImm { opcode: Opcode::Iconst, imm } => Some(imm.bits()),
            InstructionData::Unary { opcode: Opcode::Splat, arg } => self.int_of(arg),
            _ => None,
        }
    }
}

//! One scalar operation in machine instructions.
//!
//! What occurs in inner loops has instructions here; everything else calls the table's meaning. A test compares all
//! with the table on many operands. An operation that fails makes its function give up. [`vector`] does some of them on
//! two numbers at once, [`lanes`] in many bytes or shorts.

mod extreme;
pub(crate) mod lanes;
mod products;
pub(crate) mod vector;

use crate::emitter::{Emitter, TRUSTED};
use crate::shim::shim;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use nesl_prim::MOST_ELEMENTS;
use nesl_prim::{ScalarOp, ScalarType};

impl Emitter<'_> {
    /// The result of an operation.
    pub fn scalar(&mut self, op: ScalarOp, operands: &[Value]) -> Value {
        match *operands {
            [a] => self.unary(op, a),
            [a, b] => self.binary(op, a, b),
            [a, b, c] => self.ternary(op, a, b, c),
            _ => None,
        }
        .unwrap_or_else(|| self.call_meaning(op, operands))
    }

    fn unary(&mut self, op: ScalarOp, a: Value) -> Option<Value> {
        let zero = |emitter: &mut Self| emitter.builder.ins().f64const(0.0);
        Some(match op {
            ScalarOp::NegateInt => self.builder.ins().ineg(a),
            ScalarOp::NegateFloat => self.builder.ins().fneg(a),
            ScalarOp::AbsoluteInt => self.builder.ins().iabs(a),
            ScalarOp::AbsoluteFloat => self.builder.ins().fabs(a),
            ScalarOp::NotInt => self.builder.ins().bnot(a),
            ScalarOp::NotBool => self.builder.ins().bxor_imm_s(a, 1),
            ScalarOp::SquareRoot => self.builder.ins().sqrt(a),
            ScalarOp::PositiveInt => self.builder.ins().icmp_imm_s(IntCC::SignedGreaterThan, a, 0),
            ScalarOp::NegativeInt => self.builder.ins().icmp_imm_s(IntCC::SignedLessThan, a, 0),
            ScalarOp::ZeroInt => self.builder.ins().icmp_imm_s(IntCC::Equal, a, 0),
            ScalarOp::PositiveFloat => {
                let zero = zero(self);
                self.builder.ins().fcmp(FloatCC::GreaterThan, a, zero)
            }
            ScalarOp::NegativeFloat => {
                let zero = zero(self);
                self.builder.ins().fcmp(FloatCC::LessThan, a, zero)
            }
            ScalarOp::ZeroFloat => {
                let zero = zero(self);
                self.builder.ins().fcmp(FloatCC::Equal, a, zero)
            }
            ScalarOp::BoolToInt | ScalarOp::CharToCode => self.builder.ins().uextend(types::I64, a),
            ScalarOp::LowByte => self.builder.ins().ireduce(types::I8, a),
            ScalarOp::IntToFloat | ScalarOp::NumberOfInt => self.builder.ins().fcvt_from_sint(types::F64, a),
            ScalarOp::NumberOfFloat => a,
            ScalarOp::Ceiling => {
                let whole = self.builder.ins().ceil(a);
                self.int_of_whole(whole)
            }
            ScalarOp::Floor => {
                let whole = self.builder.ins().floor(a);
                self.int_of_whole(whole)
            }
            ScalarOp::Truncate => {
                let whole = self.builder.ins().trunc(a);
                self.int_of_whole(whole)
            }
            ScalarOp::Round => self.round(a),
            ScalarOp::CodeToChar => {
                let is_code = self.builder.ins().icmp_imm_s(IntCC::UnsignedLessThan, a, 256);
                self.require(is_code);
                self.builder.ins().ireduce(types::I8, a)
            }
            ScalarOp::SeedNext => {
                let step = self.int(0x9e37_79b9_7f4a_7c15_u64 as i64);
                self.builder.ins().iadd(a, step)
            }
            ScalarOp::HashInt => self.mix(a),
            ScalarOp::HashBool | ScalarOp::HashChar => {
                let wide = self.builder.ins().uextend(types::I64, a);
                self.mix(wide)
            }
            ScalarOp::CheckTotal => {
                self.require_total(a);
                a
            }
            ScalarOp::CheckLength => {
                let is_length = self.builder.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, a, 0);
                self.require(is_length);
                a
            }
            _ => return None,
        })
    }

    fn binary(&mut self, op: ScalarOp, a: Value, b: Value) -> Option<Value> {
        if let Some(condition) = int_comparison(op) {
            return Some(self.builder.ins().icmp(condition, a, b));
        }
        if let Some(condition) = float_comparison(op) {
            return Some(self.builder.ins().fcmp(condition, a, b));
        }
        Some(match op {
            ScalarOp::AddInt => self.builder.ins().iadd(a, b),
            ScalarOp::AddLength => {
                let sum = self.builder.ins().iadd(a, b);
                let is_more = self.builder.ins().icmp(IntCC::UnsignedLessThan, sum, a);
                let greatest = self.int(-1);
                self.builder.ins().select(is_more, greatest, sum)
            }
            ScalarOp::AddFloat => self.builder.ins().fadd(a, b),
            ScalarOp::SubtractInt => self.builder.ins().isub(a, b),
            ScalarOp::SubtractFloat => self.builder.ins().fsub(a, b),
            ScalarOp::MultiplyInt => self.product(a, b),
            ScalarOp::MultiplyFloat => self.builder.ins().fmul(a, b),
            ScalarOp::DivideFloat => self.builder.ins().fdiv(a, b),
            // In one order of operands, so that what is computed both ways is computed once.
            ScalarOp::MaximumInt => self.builder.ins().smax(a.min(b), a.max(b)),
            ScalarOp::MinimumInt => self.builder.ins().smin(a.min(b), a.max(b)),
            ScalarOp::MaximumChar => self.builder.ins().umax(a, b),
            ScalarOp::MinimumChar => self.builder.ins().umin(a, b),
            ScalarOp::MaximumFloat => self.builder.ins().fmax(a, b),
            ScalarOp::MinimumFloat => self.builder.ins().fmin(a, b),
            ScalarOp::ShiftLeft => {
                self.require_below(b, 64);
                self.builder.ins().ishl(a, b)
            }
            ScalarOp::ShiftRight => {
                self.require_below(b, 64);
                self.builder.ins().sshr(a, b)
            }
            ScalarOp::AndInt | ScalarOp::AndBool => self.builder.ins().band(a, b),
            ScalarOp::OrInt | ScalarOp::OrBool => self.builder.ins().bor(a, b),
            ScalarOp::XorInt | ScalarOp::XorBool => self.builder.ins().bxor(a, b),
            ScalarOp::IntAsInt | ScalarOp::FloatAsFloat => a,
            ScalarOp::IntAsFloat => self.builder.ins().fcvt_from_sint(types::F64, a),
            ScalarOp::FloatAsInt => self.round(a),
            _ => return self.quotient(op, a, b).or_else(|| self.mixed(op, a, b)).or_else(|| self.checked(op, a, b)),
        })
    }

    /// Divisions of ints, which fail where the divisor is 0.
    fn quotient(&mut self, op: ScalarOp, a: Value, b: Value) -> Option<Value> {
        Some(match op {
            ScalarOp::DivideInt => {
                self.require_divisor(b);
                // The one quotient that is no int: of the least int and -1.
                if self.known_int(b).is_none_or(|divisor| divisor == -1) {
                    let least = self.builder.ins().icmp_imm_s(IntCC::NotEqual, a, i64::MIN);
                    let other = self.builder.ins().icmp_imm_s(IntCC::NotEqual, b, -1);
                    let fits = self.builder.ins().bor(least, other);
                    self.require(fits);
                }
                self.builder.ins().sdiv(a, b)
            }
            ScalarOp::Remainder => {
                self.require_divisor(b);
                self.builder.ins().srem(a, b)
            }
            ScalarOp::Modulo => {
                self.require_divisor(b);
                let remainder = self.builder.ins().srem(a, b);
                let signs = self.builder.ins().bxor(remainder, b);
                let differ = self.builder.ins().icmp_imm_s(IntCC::SignedLessThan, signs, 0);
                let is_some = self.builder.ins().icmp_imm_s(IntCC::NotEqual, remainder, 0);
                let is_off = self.builder.ins().band(differ, is_some);
                let moved = self.builder.ins().iadd(remainder, b);
                self.builder.ins().select(is_off, moved, remainder)
            }
            _ => return None,
        })
    }

    /// Seeds, random numbers and hashes.
    fn mixed(&mut self, op: ScalarOp, a: Value, b: Value) -> Option<Value> {
        Some(match op {
            ScalarOp::SeedSplit => {
                let offset = self.int(0x5851_f42d_4c95_7f2d);
                let index = self.builder.ins().iadd(b, offset);
                let (seed, index) = (self.mix(a), self.mix(index));
                let both = self.builder.ins().bxor(seed, index);
                self.mix(both)
            }
            ScalarOp::RandomInt => {
                let is_positive = self.builder.ins().icmp_imm_s(IntCC::SignedGreaterThan, b, 0);
                self.require(is_positive);
                let bits = self.mix(a);
                self.builder.ins().umulhi(bits, b)
            }
            ScalarOp::HashPair => {
                let odd = self.int(0x3c6e_f372_fe94_f82b);
                let left = self.builder.ins().imul(a, odd);
                let both = self.builder.ins().bxor(left, b);
                self.mix(both)
            }
            ScalarOp::HashPlace => {
                let block = self.builder.ins().ushr_imm_u(a, 2);
                let mixed = self.mix(block);
                let key = self.builder.ins().bor_imm_u(mixed, 1);
                let digit = self.builder.ins().band_imm_u(a, 3);
                let bits = self.builder.ins().ishl_imm_u(digit, 3);
                let number = self.builder.ins().ishl(b, bits);
                self.builder.ins().imul(key, number)
            }
            ScalarOp::HashIndex => {
                let is_size = self.builder.ins().icmp_imm_s(IntCC::SignedGreaterThan, b, 0);
                self.require(is_size);
                self.builder.ins().umulhi(a, b)
            }
            _ => return None,
        })
    }

    /// Checks: one operand, or a size, where it is what it should be.
    fn checked(&mut self, op: ScalarOp, a: Value, b: Value) -> Option<Value> {
        Some(match op {
            ScalarOp::CheckIndex => {
                let is_index = self.is_index(a, b);
                self.require(is_index);
                a
            }
            ScalarOp::CheckLengths | ScalarOp::CheckPartition => {
                let are_equal = self.builder.ins().icmp(IntCC::Equal, a, b);
                self.require(are_equal);
                b
            }
            ScalarOp::CheckCount => {
                let size = self.builder.ins().iabs(a);
                let is_kept = self.builder.ins().icmp(IntCC::UnsignedLessThanOrEqual, size, b);
                let is_length = self.builder.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, b, 0);
                let is_count = self.builder.ins().band(is_kept, is_length);
                self.require(is_count);
                size
            }
            _ => return None,
        })
    }

    /// Gives up where no sequence has so many elements.
    fn require_total(&mut self, count: Value) {
        let is_total = self.builder.ins().icmp_imm_s(IntCC::UnsignedLessThanOrEqual, count, MOST_ELEMENTS);
        self.require(is_total);
    }

    fn ternary(&mut self, op: ScalarOp, a: Value, b: Value, c: Value) -> Option<Value> {
        Some(match op {
            ScalarOp::SelectInt | ScalarOp::SelectFloat | ScalarOp::SelectBool | ScalarOp::SelectChar => {
                self.builder.ins().select(a, b, c)
            }
            ScalarOp::CheckRange => {
                // A start, a count and a length.
                let is_none = self.builder.ins().icmp_imm_s(IntCC::SignedLessThanOrEqual, b, 0);
                let begins = self.is_index(a, c);
                let left = self.builder.ins().isub(c, a);
                let ends = self.builder.ins().icmp(IntCC::SignedLessThanOrEqual, b, left);
                let is_inside = self.builder.ins().band(begins, ends);
                let is_range = self.builder.ins().bor(is_none, is_inside);
                self.require(is_range);
                let zero = self.int(0);
                self.builder.ins().select(is_none, zero, a)
            }
            ScalarOp::RangeLength => {
                // A start, an end and a stride.
                let is_forward = self.builder.ins().icmp(IntCC::SignedLessThanOrEqual, a, b);
                self.require(is_forward);
                if self.known_int(c).is_none_or(|stride| stride < 1) {
                    let is_stride = self.builder.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, c, 1);
                    self.require(is_stride);
                }
                let width = self.builder.ins().isub(b, a);
                let count = match self.known_int(c) {
                    Some(1) => width,
                    _ => {
                        let last = self.builder.ins().iadd_imm_s(width, -1);
                        let steps = self.builder.ins().udiv(last, c);
                        let count = self.builder.ins().iadd_imm_s(steps, 1);
                        let is_none = self.builder.ins().icmp_imm_s(IntCC::Equal, width, 0);
                        let zero = self.int(0);
                        self.builder.ins().select(is_none, zero, count)
                    }
                };
                self.require_total(count);
                count
            }
            ScalarOp::SubsequenceLength => {
                // A start, an end and a length.
                let begins = self.builder.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, a, 0);
                let is_forward = self.builder.ins().icmp(IntCC::SignedLessThanOrEqual, a, b);
                let ends = self.builder.ins().icmp(IntCC::SignedLessThanOrEqual, b, c);
                let is_inside = self.builder.ins().band(begins, ends);
                let is_part = self.builder.ins().band(is_inside, is_forward);
                self.require(is_part);
                self.builder.ins().isub(b, a)
            }
            _ => return None,
        })
    }

    fn require_divisor(&mut self, divisor: Value) {
        if self.known_int(divisor).is_some_and(|divisor| divisor != 0) {
            return;
        }
        let is_divisor = self.builder.ins().icmp_imm_s(IntCC::NotEqual, divisor, 0);
        self.require(is_divisor);
    }

    /// Gives up unless a word is in `0..bound`.
    fn require_below(&mut self, word: Value, bound: i64) {
        if self.known_int(word).is_some_and(|word| (0..bound).contains(&word)) {
            return;
        }
        let is_below = self.builder.ins().icmp_imm_s(IntCC::UnsignedLessThan, word, bound);
        self.require(is_below);
    }

    pub fn is_index(&mut self, index: Value, length: Value) -> Value {
        // A negative length has no indices; as an unsigned number it would have many.
        let is_below = self.builder.ins().icmp(IntCC::UnsignedLessThan, index, length);
        if self.is_known_size(length) {
            return is_below;
        }
        let is_length = self.builder.ins().icmp_imm_s(IntCC::SignedGreaterThanOrEqual, length, 0);
        self.builder.ins().band(is_below, is_length)
    }

    /// A whole float as an int.
    fn int_of_whole(&mut self, whole: Value) -> Value {
        let least = self.builder.ins().f64const(-9_223_372_036_854_775_808.0);
        let end = self.builder.ins().f64const(9_223_372_036_854_775_808.0);
        let begins = self.builder.ins().fcmp(FloatCC::GreaterThanOrEqual, whole, least);
        let ends = self.builder.ins().fcmp(FloatCC::LessThan, whole, end);
        let fits = self.builder.ins().band(begins, ends);
        self.require(fits);
        self.builder.ins().fcvt_to_sint_sat(types::I64, whole)
    }

    /// The nearest int, halves away from zero. What is added is the greatest float below one half: with a half itself
    /// the float before 0.5 would be rounded up by the addition.
    fn round(&mut self, x: Value) -> Value {
        let half = self.builder.ins().f64const(0.5f64.next_down());
        let signed = self.builder.ins().fcopysign(half, x);
        let sum = self.builder.ins().fadd(x, signed);
        let whole = self.builder.ins().trunc(sum);
        self.int_of_whole(whole)
    }

    /// The finaliser of SplitMix64, as in the meanings of the hashes and of random numbers.
    fn mix(&mut self, seed: Value) -> Value {
        let step = self.int(0x9e37_79b9_7f4a_7c15_u64 as i64);
        let mut z = self.builder.ins().iadd(seed, step);
        for (shift, factor) in [(30, 0xbf58_476d_1ce4_e5b9_u64), (27, 0x94d0_49bb_1331_11eb)] {
            let upper = self.builder.ins().ushr_imm_u(z, shift);
            let mixed = self.builder.ins().bxor(z, upper);
            let factor = self.int(factor as i64);
            z = self.builder.ins().imul(mixed, factor);
        }
        let upper = self.builder.ins().ushr_imm_u(z, 31);
        self.builder.ins().bxor(z, upper)
    }

    /// Calls the meaning in the table.
    fn call_meaning(&mut self, op: ScalarOp, operands: &[Value]) -> Value {
        let row = op.row();
        let mut arguments: Vec<Value> =
            operands.iter().zip(row.operands).map(|(&operand, &ty)| self.word_of_value(operand, ty)).collect();
        while arguments.len() < 3 {
            arguments.push(self.int(0));
        }
        let (signature, slot) = self.shim();
        arguments.push(self.builder.ins().stack_addr(types::I64, slot, 0));
        let is_done = self.call_rust(shim(op) as usize, signature, &arguments)[0];
        if row.fallible {
            self.require(is_done);
        }
        let address = self.builder.ins().stack_addr(types::I64, slot, 0);
        let word = self.builder.ins().load(types::I64, TRUSTED, address, 0);
        self.value_of_word(word, row.result)
    }

    /// A scalar as a word, as [`nesl_prim::Element::to_word`] says.
    pub fn word_of_value(&mut self, value: Value, ty: ScalarType) -> Value {
        match ty {
            ScalarType::Int => value,
            ScalarType::Float => {
                self.builder.ins().bitcast(types::I64, cranelift_codegen::ir::MemFlagsData::new(), value)
            }
            ScalarType::Bool | ScalarType::Char => self.builder.ins().uextend(types::I64, value),
        }
    }

    /// The scalar in a word.
    pub fn value_of_word(&mut self, word: Value, ty: ScalarType) -> Value {
        match ty {
            ScalarType::Int => word,
            ScalarType::Float => {
                self.builder.ins().bitcast(types::F64, cranelift_codegen::ir::MemFlagsData::new(), word)
            }
            ScalarType::Bool | ScalarType::Char => self.builder.ins().ireduce(types::I8, word),
        }
    }
}

/// How a comparison compares words or bytes.
pub(crate) fn int_comparison(op: ScalarOp) -> Option<IntCC> {
    Some(match op {
        ScalarOp::EqualInt | ScalarOp::EqualChar | ScalarOp::EqualBool => IntCC::Equal,
        ScalarOp::UnequalInt | ScalarOp::UnequalChar | ScalarOp::UnequalBool => IntCC::NotEqual,
        ScalarOp::LessInt => IntCC::SignedLessThan,
        ScalarOp::LessChar => IntCC::UnsignedLessThan,
        ScalarOp::GreaterInt => IntCC::SignedGreaterThan,
        ScalarOp::GreaterChar => IntCC::UnsignedGreaterThan,
        ScalarOp::AtMostInt => IntCC::SignedLessThanOrEqual,
        ScalarOp::AtMostChar => IntCC::UnsignedLessThanOrEqual,
        ScalarOp::AtLeastInt => IntCC::SignedGreaterThanOrEqual,
        ScalarOp::AtLeastChar => IntCC::UnsignedGreaterThanOrEqual,
        _ => return None,
    })
}

/// How a comparison compares floats: as IEEE says, where nothing is less than, equal to or greater than a NaN.
pub(crate) fn float_comparison(op: ScalarOp) -> Option<FloatCC> {
    Some(match op {
        ScalarOp::EqualFloat => FloatCC::Equal,
        ScalarOp::UnequalFloat => FloatCC::NotEqual,
        ScalarOp::LessFloat => FloatCC::LessThan,
        ScalarOp::GreaterFloat => FloatCC::GreaterThan,
        ScalarOp::AtMostFloat => FloatCC::LessThanOrEqual,
        ScalarOp::AtLeastFloat => FloatCC::GreaterThanOrEqual,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use crate::emitter::Emitter;
    use crate::module::Module;
    use cranelift_codegen::ir::{AbiParam, InstBuilder, Opcode, Type, Value, types};
    use nesl_prim::{Cost, Property, ScalarOp, ScalarType};

    /// What an operation becomes, constants apart.
    fn emitted(op: ScalarOp, emit: impl FnOnce(&mut Emitter<'_>, Vec<Value>)) -> Vec<Opcode> {
        let mut module = Module::new().unwrap();
        let mut signature = module.signature();
        signature.params = vec![AbiParam::new(types::I64); 4];
        signature.returns.push(AbiParam::new(types::I64));
        let id = module.declare(&signature).unwrap();
        let mut opcodes = Vec::new();
        let defined = module.define(id, signature, |builder, jit| {
            let (mut emitter, words) = Emitter::begin(builder, jit);
            let values = words.iter().zip(op.row().operands);
            let values = values.map(|(&word, &ty)| emitter.value_of_word(word, ty)).collect();
            let all = |emitter: &Emitter<'_>| -> Vec<Opcode> {
                let (layout, dfg) = (&emitter.builder.func.layout, &emitter.builder.func.dfg);
                let instructions = layout.blocks().flat_map(|block| layout.block_insts(block));
                instructions.map(|instruction| dfg.insts[instruction].opcode()).collect()
            };
            let before = all(&emitter).len();
            emit(&mut emitter, values);
            opcodes = all(&emitter).split_off(before);
            emitter.finish(&[]);
        });
        defined.unwrap();
        opcodes.retain(|opcode| !matches!(opcode, Opcode::Iconst | Opcode::F64const));
        opcodes
    }

    #[test]
    fn what_the_table_says_of_cost_is_what_is_emitted() {
        for &op in ScalarOp::ALL {
            let opcodes = emitted(op, |emitter, values| {
                emitter.scalar(op, &values);
            });
            let is_call = opcodes.iter().any(|opcode| opcode.is_call());
            match op.row().cost {
                Cost::Direct => assert!(!is_call && opcodes.len() <= 1, "{op}: {opcodes:?}"),
                Cost::Several => assert!(!is_call && opcodes.len() > 1, "{op}: {opcodes:?}"),
                Cost::Call | Cost::Long => assert!(is_call, "{op}: {opcodes:?}"),
            }
        }
    }

    #[test]
    fn what_has_a_form_for_vectors_is_emitted_for_them() {
        let wide = |ty: ScalarType| -> Type { if ty == ScalarType::Float { types::F64X2 } else { types::I64X2 } };
        for &op in ScalarOp::ALL.iter().filter(|op| op.is(Property::Vector)) {
            let opcodes = emitted(op, |emitter, _| {
                let operands = op.row().operands.iter().map(|&ty| {
                    let zero = match ty {
                        ScalarType::Float => emitter.builder.ins().f64const(0.0),
                        _ => emitter.int(0),
                    };
                    emitter.builder.ins().splat(wide(ty), zero)
                });
                let operands: Vec<Value> = operands.collect();
                emitter.wide_operation(op, &operands);
            });
            assert!(!opcodes.iter().any(|opcode| opcode.is_call()), "{op}");
        }
    }
}

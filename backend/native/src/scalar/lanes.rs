//! One scalar operation in many lanes at once, of one or two bytes each: what [`super::vector`] is for two numbers of
//! eight bytes. Truth values are masks here, of ones or of zeros; what fits into lanes has been decided before.

use crate::emitter::Emitter;
use crate::scalar::int_comparison;
use crate::scalar::vector::UNALIGNED;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Endianness, InstBuilder, MemFlagsData, Type, Value, types};
use nesl_prim::{ScalarOp, ScalarType, ScalarValue};

/// What a lane of a vector of 128 bits is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LaneType {
    /// One byte: characters, and numbers that fit.
    Byte,
    /// Two bytes.
    Short,
}

impl LaneType {
    /// How many of them a vector has.
    pub const fn count(self) -> usize {
        match self {
            LaneType::Byte => 16,
            LaneType::Short => 8,
        }
    }

    /// Their bits.
    const fn mask(self) -> i64 {
        match self {
            LaneType::Byte => 0xff,
            LaneType::Short => 0xffff,
        }
    }

    const fn scalar(self) -> Type {
        match self {
            LaneType::Byte => types::I8,
            LaneType::Short => types::I16,
        }
    }
}

/// A division of small numbers by one that is known, as a product and a shift: `x / divisor = x * factor >> shift` for
/// all x from 0 up to the greatest dividend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reciprocal {
    divisor: i64,
    factor: i64,
    shift: i64,
    /// Whether there are dividends below zero.
    is_signed: bool,
}

impl Reciprocal {
    /// That of a divisor for dividends between two numbers, if products fit into shorts.
    ///
    /// With `factor * divisor = 2^shift + excess`, `x * factor / 2^shift` is above `x / divisor` by less than what is
    /// missing to the next int as long as `x * excess < 2^shift`.
    pub fn of(divisor: i64, low: i64, high: i64) -> Option<Reciprocal> {
        let by = i64::from(u16::try_from(divisor.unsigned_abs()).ok().filter(|&by| by > 1)?);
        let most = low.checked_abs()?.max(high);
        let reciprocal = |shift: i64| {
            let factor = (1 << shift) / by + 1;
            let excess = factor * by - (1 << shift);
            let is_exact = most.checked_mul(excess)? < 1 << shift;
            let fits = most.checked_mul(factor)? <= i64::from(u16::MAX);
            (is_exact && fits).then_some(Reciprocal { divisor, factor, shift, is_signed: low < 0 })
        };
        (0..16).find_map(reciprocal)
    }
}

const LITTLE: MemFlagsData = MemFlagsData::new().with_endianness(Endianness::Little);

impl Emitter<'_> {
    /// The same scalar in all lanes.
    pub(crate) fn splat_in(&mut self, lanes: LaneType, ty: ScalarType, value: Value) -> Value {
        let narrow = match (lanes, ty) {
            (LaneType::Byte, ScalarType::Int) => self.builder.ins().ireduce(types::I8, value),
            (LaneType::Short, ScalarType::Int) => self.builder.ins().ireduce(types::I16, value),
            (LaneType::Byte, _) => value,
            (LaneType::Short, _) => self.builder.ins().uextend(types::I16, value),
        };
        let vector = lanes.scalar().by(lanes.count() as u32).unwrap_or(types::I8X16);
        let all = self.builder.ins().splat(vector, narrow);
        if ty == ScalarType::Bool { self.builder.ins().ineg(all) } else { all }
    }

    /// The same constant in all lanes.
    pub(crate) fn constant_in(&mut self, lanes: LaneType, value: ScalarValue) -> Value {
        let number = match value {
            ScalarValue::Int(value) => value,
            ScalarValue::Char(code) => code.into(),
            ScalarValue::Bool(value) => -i64::from(value),
            ScalarValue::Float(_) => unreachable!("a float has no form in narrow lanes"),
        };
        self.number_in(lanes, number)
    }

    pub(crate) fn number_in(&mut self, lanes: LaneType, number: i64) -> Value {
        let number = self.builder.ins().iconst(lanes.scalar(), number & lanes.mask());
        let vector = lanes.scalar().by(lanes.count() as u32).unwrap_or(types::I8X16);
        self.builder.ins().splat(vector, number)
    }

    /// As many bytes of a column as there are lanes.
    pub(crate) fn load_in(&mut self, lanes: LaneType, ty: ScalarType, address: Value, offset: i32) -> Value {
        let all = match lanes {
            LaneType::Byte => self.builder.ins().load(types::I8X16, UNALIGNED, address, offset),
            LaneType::Short => self.builder.ins().uload8x8(UNALIGNED, address, offset),
        };
        if ty == ScalarType::Bool { self.builder.ins().ineg(all) } else { all }
    }

    /// Stores lanes as bytes.
    pub(crate) fn store_bytes(&mut self, lanes: LaneType, ty: ScalarType, all: Value, address: Value, offset: i32) {
        let mut all = all;
        if ty == ScalarType::Bool {
            let one = self.number_in(lanes, 1);
            all = self.builder.ins().band(all, one);
        }
        if lanes == LaneType::Short {
            let twice = self.builder.ins().unarrow(all, all);
            let words = self.builder.ins().bitcast(types::I64X2, LITTLE, twice);
            all = self.builder.ins().extractlane(words, 0);
        }
        self.builder.ins().store(UNALIGNED, all, address, offset);
    }

    /// The numbers in lanes as vectors of two ints each, in order.
    pub(crate) fn widened(&mut self, all: Value, is_signed: bool) -> Vec<Value> {
        let mut vectors = vec![all];
        while self.builder.func.dfg.value_type(vectors[0]) != types::I64X2 {
            let halves = vectors.into_iter().flat_map(|vector| self.halves(vector, is_signed));
            vectors = halves.collect();
        }
        vectors
    }

    /// Two ints whose sum is that of all lanes.
    pub(crate) fn sum_of_lanes(&mut self, all: Value, is_signed: bool) -> Value {
        let (mut all, mut is_signed) = (all, is_signed);
        while self.builder.func.dfg.value_type(all) != types::I64X2 {
            let [low, high] = self.halves(all, is_signed);
            all = self.builder.ins().iadd(low, high);
            is_signed = true;
        }
        all
    }

    /// The lower and the upper lanes, each twice as wide.
    fn halves(&mut self, all: Value, is_signed: bool) -> [Value; 2] {
        let ins = &mut self.builder;
        if is_signed {
            [ins.ins().swiden_low(all), ins.ins().swiden_high(all)]
        } else {
            [ins.ins().uwiden_low(all), ins.ins().uwiden_high(all)]
        }
    }

    /// How many lanes of a mask are true.
    pub(crate) fn count_of_mask(&mut self, mask: Value) -> Value {
        let bits = self.builder.ins().vhigh_bits(types::I32, mask);
        let count = self.builder.ins().popcnt(bits);
        self.builder.ins().uextend(types::I64, count)
    }

    /// An operation in lanes whose operands, as numbers, have a sign or have none.
    pub(crate) fn lane_operation(&mut self, op: ScalarOp, operands: &[Value], is_signed: bool) -> Value {
        let ins = &mut self.builder;
        let (a, b) = (operands[0], operands.get(1).copied().unwrap_or(operands[0]));
        if let Some(condition) = int_comparison(op) {
            let condition = with_sign(condition, is_signed);
            return ins.ins().icmp(condition, a, b);
        }
        match op {
            ScalarOp::AddInt => ins.ins().iadd(a, b),
            ScalarOp::SubtractInt => ins.ins().isub(a, b),
            ScalarOp::MultiplyInt => ins.ins().imul(a, b),
            ScalarOp::NegateInt => ins.ins().ineg(a),
            ScalarOp::AbsoluteInt => ins.ins().iabs(a),
            ScalarOp::AndInt | ScalarOp::AndBool => ins.ins().band(a, b),
            ScalarOp::OrInt | ScalarOp::OrBool => ins.ins().bor(a, b),
            ScalarOp::XorInt | ScalarOp::XorBool => ins.ins().bxor(a, b),
            ScalarOp::NotBool => ins.ins().bnot(a),
            ScalarOp::SelectInt | ScalarOp::SelectChar | ScalarOp::SelectBool => ins.ins().bitselect(a, b, operands[2]),
            ScalarOp::MaximumInt | ScalarOp::MaximumChar if is_signed => ins.ins().smax(a, b),
            ScalarOp::MaximumInt | ScalarOp::MaximumChar => ins.ins().umax(a, b),
            ScalarOp::MinimumInt | ScalarOp::MinimumChar if is_signed => ins.ins().smin(a, b),
            ScalarOp::MinimumInt | ScalarOp::MinimumChar => ins.ins().umin(a, b),
            ScalarOp::CharToCode | ScalarOp::CodeToChar | ScalarOp::LowByte => a,
            // A mask of ones is -1.
            ScalarOp::BoolToInt => ins.ins().ineg(a),
            other => unreachable!("{other} has no form in narrow lanes"),
        }
    }

    /// A quotient, or what is left, of shorts:
    ///
    /// ```text
    /// q = |x| * factor >> shift; r = |x| - q * |divisor|
    /// q, r = x < 0 ? -q, -r : q, r                        // truncated towards zero; r has the sign of x
    /// quotient: divisor < 0 ? -q : q        modulo: r < 0 ? r + divisor : r
    /// ```
    pub(crate) fn divide_shorts(&mut self, op: ScalarOp, dividend: Value, by: Reciprocal) -> Value {
        let lanes = LaneType::Short;
        let size = if by.is_signed { self.builder.ins().iabs(dividend) } else { dividend };
        let factor = self.number_in(lanes, by.factor);
        let product = self.builder.ins().imul(size, factor);
        let mut result = self.builder.ins().ushr_imm_u(product, by.shift);
        if op != ScalarOp::DivideInt {
            let divisor = self.number_in(lanes, by.divisor.abs());
            let multiple = self.builder.ins().imul(result, divisor);
            result = self.builder.ins().isub(size, multiple);
        }
        let zero = self.number_in(lanes, 0);
        if by.is_signed {
            let is_negative = self.builder.ins().icmp(IntCC::SignedLessThan, dividend, zero);
            let negated = self.builder.ins().ineg(result);
            result = self.builder.ins().bitselect(is_negative, negated, result);
        }
        match op {
            ScalarOp::DivideInt if by.divisor < 0 => self.builder.ins().ineg(result),
            ScalarOp::Modulo => {
                let is_negative = self.builder.ins().icmp(IntCC::SignedLessThan, result, zero);
                let divisor = self.number_in(lanes, by.divisor);
                let added = self.builder.ins().band(is_negative, divisor);
                self.builder.ins().iadd(result, added)
            }
            _ => result,
        }
    }
}

/// A comparison of numbers with a sign, or without.
fn with_sign(condition: IntCC, is_signed: bool) -> IntCC {
    let unsigned = condition.unsigned();
    match unsigned {
        _ if !is_signed => unsigned,
        IntCC::UnsignedLessThan => IntCC::SignedLessThan,
        IntCC::UnsignedLessThanOrEqual => IntCC::SignedLessThanOrEqual,
        IntCC::UnsignedGreaterThan => IntCC::SignedGreaterThan,
        IntCC::UnsignedGreaterThanOrEqual => IntCC::SignedGreaterThanOrEqual,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_and_shifts_divide_all_numbers_up_to_the_greatest() {
        let mut found = 0;
        for divisor in (2..300).chain([1_000, 30_000]) {
            for most in [1, 25, 161, 255, 510, 4_000, 32_767] {
                let Some(by) = Reciprocal::of(divisor, 0, most) else { continue };
                found += 1;
                for x in 0..=most {
                    assert!(x * by.factor <= 0xffff, "{x} / {divisor}");
                    assert_eq!((x * by.factor) >> by.shift, x / divisor, "{x} / {divisor}");
                }
            }
        }
        assert!(found > 1_000, "{found}");
        assert_eq!([0, 1, -1, i64::MIN, 1 << 20].map(|divisor| Reciprocal::of(divisor, 0, 9)), [None; 5]);
        assert_eq!(Reciprocal::of(10, i64::MIN, 0), None);
    }
}

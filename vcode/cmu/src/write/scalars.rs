//! Scalar operations in terms of the elementwise instructions of the stack format, for single scalars and for columns.
//!
//! Random numbers and hashes come out bit for bit as elsewhere, where ints have 64 bits.

use super::Result;
use super::lower::{Lowering, Value, scalar_type, word};
use crate::opcode::Opcode;
use ScalarType::{Float, Int};
use nesl_prim::MOST_ELEMENTS;
use nesl_prim::{ScalarOp, ScalarType, ScalarValue};
use nesl_vcode::program::{Operand, RegisterType};

/// The instruction that is just the operation.
fn direct(op: ScalarOp) -> Option<&'static str> {
    use ScalarOp as S;
    Some(match op {
        S::AddInt => "+ INT",
        S::AddFloat => "+ FLOAT",
        S::SubtractInt => "- INT",
        S::SubtractFloat => "- FLOAT",
        S::MultiplyInt => "* INT",
        S::MultiplyFloat => "* FLOAT",
        S::DivideFloat => "/ FLOAT",
        S::AndInt => "AND INT",
        S::AndBool => "AND BOOL",
        S::OrInt => "OR INT",
        S::OrBool => "OR BOOL",
        S::XorInt => "XOR INT",
        S::XorBool | S::UnequalBool => "XOR BOOL",
        S::NotInt => "NOT INT",
        S::NotBool => "NOT BOOL",
        S::EqualInt | S::EqualChar => "= INT",
        S::EqualFloat => "= FLOAT",
        S::UnequalInt | S::UnequalChar => "!= INT",
        S::UnequalFloat => "!= FLOAT",
        S::LessInt | S::LessChar => "< INT",
        S::LessFloat => "< FLOAT",
        S::GreaterInt | S::GreaterChar => "> INT",
        S::GreaterFloat => "> FLOAT",
        S::AtMostInt | S::AtMostChar => "<= INT",
        S::AtMostFloat => "<= FLOAT",
        S::AtLeastInt | S::AtLeastChar => ">= INT",
        S::AtLeastFloat => ">= FLOAT",
        S::SelectInt | S::SelectChar => "SELECT INT",
        S::SelectFloat => "SELECT FLOAT",
        S::SelectBool => "SELECT BOOL",
        S::SquareRoot => "SQRT",
        S::NaturalLogarithm => "LOG",
        S::Exponential => "EXP",
        S::Sine => "SIN",
        S::Cosine => "COS",
        S::Tangent => "TAN",
        S::ArcSine => "ASIN",
        S::ArcCosine => "ACOS",
        S::ArcTangent => "ATAN",
        S::HyperbolicSine => "SINH",
        S::HyperbolicCosine => "COSH",
        S::HyperbolicTangent => "TANH",
        S::BoolToInt => "B_TO_I",
        S::IntToFloat | S::NumberOfInt | S::IntAsFloat => "I_TO_F",
        _ => return None,
    })
}

/// The same for an operation that can fail.
fn direct_fallible(op: ScalarOp) -> Option<&'static str> {
    Some(match op {
        ScalarOp::DivideInt => "/ INT",
        ScalarOp::Remainder => "%",
        ScalarOp::ShiftLeft => "LSHIFT",
        ScalarOp::ShiftRight => "RSHIFT",
        ScalarOp::Ceiling => "CEIL",
        ScalarOp::Floor => "FLOOR",
        ScalarOp::Truncate => "TRUNC",
        ScalarOp::Round | ScalarOp::FloatAsInt => "ROUND",
        _ => return None,
    })
}

impl<'a> Lowering<'a> {
    /// An elementwise instruction: scalar operands become columns.
    pub(super) fn map(&mut self, op: ScalarOp, operands: &[Operand]) -> Result<Value> {
        let types: Vec<RegisterType> = operands.iter().map(|&operand| self.function.operand_type(operand)).collect();
        let mut values: Vec<Value> = operands.iter().map(|&operand| self.value(operand)).collect();
        let column = types.iter().position(|ty| matches!(ty, RegisterType::Column(_))).unwrap_or(0);
        let segdes = self.over(scalar_type(types[column]).unwrap_or(Int), values[column]);
        for (value, ty) in values.iter_mut().zip(&types) {
            if let RegisterType::Scalar(scalar) = ty {
                *value = self.op(&format!("DIST {}", word(*scalar)), &[*value, segdes]);
            }
        }
        self.scalar(op, &values, Some(segdes))
    }

    /// A scalar operation on vectors of one length: 1, or that of a descriptor.
    pub(super) fn scalar(&mut self, op: ScalarOp, values: &[Value], over: Option<Value>) -> Result<Value> {
        if let Some(text) = direct(op) {
            return Ok(self.op(text, &values[..values.len().min(instruction_operands(text))]));
        }
        if let Some(text) = direct_fallible(op) {
            return Ok(self.act(text, &values[..values.len().min(instruction_operands(text))], 1)[0]);
        }
        Lanes { lowering: self, over }.operation(op, values)
    }
}

/// How many operands an elementwise instruction takes; some operations have one more, for its type alone.
fn instruction_operands(text: &str) -> usize {
    let word = text.split(' ').next().unwrap_or(text);
    Opcode::by_word(word).map_or(0, |opcode| opcode.effect().0)
}

/// Operations on all elements of vectors of one length.
struct Lanes<'l, 'a> {
    lowering: &'l mut Lowering<'a>,
    /// The descriptor of that length, unless it is 1.
    over: Option<Value>,
}

impl Lanes<'_, '_> {
    fn op(&mut self, text: &str, inputs: &[Value]) -> Value {
        self.lowering.op(text, inputs)
    }

    fn constant(&mut self, value: ScalarValue) -> Value {
        let constant = self.lowering.constant(value);
        match self.over {
            None => constant,
            Some(segdes) => self.op(&format!("DIST {}", word(value.scalar_type())), &[constant, segdes]),
        }
    }

    fn int(&mut self, value: i64) -> Value {
        self.constant(ScalarValue::Int(value))
    }

    fn float(&mut self, value: f64) -> Value {
        self.constant(ScalarValue::Float(value))
    }

    /// An instruction on a vector and a constant.
    fn with(&mut self, text: &str, vector: Value, constant: i64) -> Value {
        let constant = self.int(constant);
        self.op(text, &[vector, constant])
    }

    fn select(&mut self, scalar: ScalarType, flags: Value, first: Value, second: Value) -> Value {
        self.op(&format!("SELECT {}", word(scalar)), &[flags, first, second])
    }

    /// Ends the program where a flag is false: takes element 1 of a vector of one element there.
    fn check(&mut self, flags: Value) {
        let wrong = self.op("NOT BOOL", &[flags]);
        let indices = self.op("B_TO_I", &[wrong]);
        let (zero, one) = (self.lowering.int(0), self.op("CONST SEGDES 1", &[]));
        let segdes = match self.over {
            Some(segdes) => segdes,
            None => one,
        };
        self.lowering.act("BPERMUTE INT", &[zero, indices, one, segdes], 1);
    }

    fn operation(&mut self, op: ScalarOp, values: &[Value]) -> Result<Value> {
        use ScalarOp as S;
        let a = values[0];
        let b = values.get(1).copied().unwrap_or(a);
        let c = values.get(2).copied().unwrap_or(b);
        Ok(match op {
            S::Modulo => {
                let remainder = self.lowering.act("%", &[a, b], 1)[0];
                let (is_negative, is_divisor_negative) = (self.with("< INT", remainder, 0), self.with("< INT", b, 0));
                let differs = self.op("XOR BOOL", &[is_negative, is_divisor_negative]);
                let is_something = self.with("!= INT", remainder, 0);
                let flags = self.op("AND BOOL", &[differs, is_something]);
                let moved = self.op("+ INT", &[remainder, b]);
                self.select(Int, flags, moved, remainder)
            }
            S::NegateInt => {
                let zero = self.int(0);
                self.op("- INT", &[zero, a])
            }
            S::NegateFloat => self.negate(a),
            S::AbsoluteInt => {
                let (is_negative, zero) = (self.with("< INT", a, 0), self.int(0));
                let negated = self.op("- INT", &[zero, a]);
                self.select(Int, is_negative, negated, a)
            }
            S::AbsoluteFloat => {
                let zero = self.float(0.0);
                let is_low = self.op("<= FLOAT", &[a, zero]);
                let negated = self.op("- FLOAT", &[zero, a]);
                self.select(Float, is_low, negated, a)
            }
            S::PowerInt | S::PowerFloat => {
                let zero = self.int(0);
                let is_allowed = self.op(">= INT", &[b, zero]);
                self.check(is_allowed);
                let name = if op == S::PowerInt { "power_int" } else { "power_float" };
                let one = if op == S::PowerInt { self.int(1) } else { self.float(1.0) };
                self.lowering.call_helper(name, &[one, a, b])
            }
            S::MaximumInt | S::MaximumChar => {
                let flags = self.op("> INT", &[a, b]);
                self.select(Int, flags, a, b)
            }
            S::MinimumInt | S::MinimumChar => {
                let flags = self.op("< INT", &[a, b]);
                self.select(Int, flags, a, b)
            }
            S::MaximumFloat => {
                let sum = self.op("+ FLOAT", &[a, b]);
                self.extreme("> FLOAT", a, b, sum)
            }
            S::MinimumFloat => {
                // Of zeros, the negative one.
                let (one, other) = (self.negate(a), self.negate(b));
                let sum = self.op("+ FLOAT", &[one, other]);
                let sum = self.negate(sum);
                self.extreme("< FLOAT", a, b, sum)
            }
            S::EqualBool => {
                let differs = self.op("XOR BOOL", &[a, b]);
                self.op("NOT BOOL", &[differs])
            }
            S::IntegerSquareRoot => self.integer_root(a),
            S::Logarithm => {
                let (number, base) = (self.op("LOG", &[a]), self.op("LOG", &[b]));
                self.op("/ FLOAT", &[number, base])
            }
            S::BinaryLogarithm => self.logarithm_to(a, 2.0)?,
            S::DecimalLogarithm => self.logarithm_to(a, 10.0)?,
            S::ArcTangentOfPoint => self.angle(a, b),
            S::Hypotenuse => self.hypotenuse(a, b)?,
            S::ExponentialTo => {
                let logarithm = self.op("LOG", &[a]);
                let product = self.op("* FLOAT", &[b, logarithm]);
                self.op("EXP", &[product])
            }
            S::PositiveInt => self.with("> INT", a, 0),
            S::NegativeInt => self.with("< INT", a, 0),
            S::ZeroInt => self.with("= INT", a, 0),
            S::PositiveFloat | S::NegativeFloat | S::ZeroFloat => {
                let zero = self.float(0.0);
                let text = match op {
                    S::PositiveFloat => "> FLOAT",
                    S::NegativeFloat => "< FLOAT",
                    _ => "= FLOAT",
                };
                self.op(text, &[a, zero])
            }
            S::NumberOfFloat | S::IntAsInt | S::FloatAsFloat | S::CharToCode => a,
            S::CodeToChar => {
                let size = self.int(256);
                self.check_index(a, size)
            }
            S::LowByte => self.with("AND INT", a, 255),
            S::SeedNext => self.with("+ INT", a, nesl_prim::meaning::seed_next(0)),
            S::SeedSplit => {
                let seed = self.mix(a);
                let index = self.with("+ INT", b, 0x5851_f42d_4c95_7f2d);
                let index = self.mix(index);
                let both = self.op("XOR INT", &[seed, index]);
                self.mix(both)
            }
            S::RandomInt => {
                let is_allowed = self.with("> INT", b, 0);
                self.check(is_allowed);
                let mixed = self.mix(a);
                self.upper_product(mixed, b)
            }
            S::RandomFloat => self.random_float(a, b),
            S::HashInt | S::HashChar => self.mix(a),
            S::HashBool => {
                let int = self.op("B_TO_I", &[a]);
                self.mix(int)
            }
            S::HashPair => {
                let product = self.with("* INT", a, 0x3c6e_f372_fe94_f82b);
                let both = self.op("XOR INT", &[product, b]);
                self.mix(both)
            }
            S::HashPlace => {
                let block = self.shift(a, 2);
                let mixed = self.mix(block);
                let key = self.with("OR INT", mixed, 1);
                let digit = self.with("AND INT", a, 3);
                let bits = self.with("* INT", digit, 8);
                let number = self.op("LSHIFT", &[b, bits]);
                self.op("* INT", &[key, number])
            }
            S::HashIndex => {
                let is_allowed = self.with("> INT", b, 0);
                self.check(is_allowed);
                self.upper_product(a, b)
            }
            S::CheckIndex => self.check_index(a, b),
            S::CheckRange => {
                let is_empty = self.with("<= INT", b, 0);
                let (is_start, rest) = (self.with(">= INT", a, 0), self.op("- INT", &[c, a]));
                let fits = self.op("<= INT", &[b, rest]);
                let is_inside = self.op("AND BOOL", &[is_start, fits]);
                let is_allowed = self.op("OR BOOL", &[is_empty, is_inside]);
                self.check(is_allowed);
                let zero = self.int(0);
                self.select(Int, is_empty, zero, a)
            }
            S::CheckLengths => {
                let is_equal = self.op("= INT", &[a, b]);
                self.check(is_equal);
                a
            }
            S::CheckPartition => {
                let is_equal = self.op("= INT", &[a, b]);
                self.check(is_equal);
                b
            }
            S::AddLength => {
                let sum = self.op("+ INT", &[a, b]);
                let is_more = self.lowering.carries(a, b, sum);
                let greatest = self.int(-1);
                self.select(Int, is_more, greatest, sum)
            }
            S::CheckTotal => self.check_total(a),
            S::CheckLength => {
                let is_length = self.with(">= INT", a, 0);
                self.check(is_length);
                a
            }
            S::CheckCount => {
                let size = self.operation(S::AbsoluteInt, &[a])?;
                // The size of the least int is negative.
                let (is_size, is_small) = (self.with(">= INT", size, 0), self.op("<= INT", &[size, b]));
                let is_allowed = self.op("AND BOOL", &[is_size, is_small]);
                self.check(is_allowed);
                size
            }
            S::CheckInterleave => {
                let difference = self.op("- INT", &[a, b]);
                let size = self.int(2);
                self.check_index(difference, size);
                a
            }
            S::RangeLength => {
                let (is_ordered, is_stride) = (self.op("<= INT", &[a, b]), self.with(">= INT", c, 1));
                let is_allowed = self.op("AND BOOL", &[is_ordered, is_stride]);
                self.check(is_allowed);
                let width = self.op("- INT", &[b, a]);
                let (whole, rest) =
                    (self.lowering.act("/ INT", &[width, c], 1)[0], self.lowering.act("%", &[width, c], 1)[0]);
                let is_more = self.with("> INT", rest, 0);
                let more = self.op("B_TO_I", &[is_more]);
                let count = self.op("+ INT", &[whole, more]);
                self.check_total(count)
            }
            S::SubsequenceLength => {
                let (is_start, is_end) = (self.with(">= INT", a, 0), self.op("<= INT", &[b, c]));
                let is_inside = self.op("AND BOOL", &[is_start, is_end]);
                let is_ordered = self.op("<= INT", &[a, b]);
                let is_allowed = self.op("AND BOOL", &[is_inside, is_ordered]);
                self.check(is_allowed);
                self.op("- INT", &[b, a])
            }
            other => return self.lowering.unsupported(other.row().mnemonic),
        })
    }

    fn check_total(&mut self, count: Value) -> Value {
        let (is_count, is_possible) = (self.with(">= INT", count, 0), self.with("<= INT", count, MOST_ELEMENTS));
        let is_allowed = self.op("AND BOOL", &[is_count, is_possible]);
        self.check(is_allowed);
        count
    }

    fn check_index(&mut self, index: Value, length: Value) -> Value {
        let (is_low, is_high) = (self.with(">= INT", index, 0), self.op("< INT", &[index, length]));
        let is_allowed = self.op("AND BOOL", &[is_low, is_high]);
        self.check(is_allowed);
        index
    }

    fn negate(&mut self, float: Value) -> Value {
        let minus = self.float(-1.0);
        self.op("* FLOAT", &[float, minus])
    }

    /// The one of two floats that is in the relation to the other; `otherwise` for NaN and for zeros of both signs.
    fn extreme(&mut self, relation: &str, a: Value, b: Value, otherwise: Value) -> Value {
        let (a_wins, b_wins) = (self.op(relation, &[a, b]), self.op(relation, &[b, a]));
        let (is_equal, zero) = (self.op("= FLOAT", &[a, b]), self.float(0.0));
        let is_something = self.op("!= FLOAT", &[a, zero]);
        let is_either = self.op("AND BOOL", &[is_equal, is_something]);
        let rest = self.select(Float, is_either, a, otherwise);
        let rest = self.select(Float, b_wins, b, rest);
        self.select(Float, a_wins, a, rest)
    }

    /// A quotient of logarithms may miss the exponent of a power of the base by two roundings, so one that is so close to
    /// an integer is that integer.
    fn logarithm_to(&mut self, number: Value, base: f64) -> Result<Value> {
        let base = self.float(base);
        let (number, base) = (self.op("LOG", &[number]), self.op("LOG", &[base]));
        let quotient = self.op("/ FLOAT", &[number, base]);
        let size = self.operation(ScalarOp::AbsoluteFloat, &[quotient])?;
        let (largest, zero) = (self.float(2000.0), self.float(0.0));
        let is_finite = self.op("< FLOAT", &[size, largest]);
        let finite = self.select(Float, is_finite, quotient, zero);
        let integer = self.lowering.act("ROUND", &[finite], 1)[0];
        let integer = self.op("I_TO_F", &[integer]);
        let difference = self.op("- FLOAT", &[finite, integer]);
        let difference = self.operation(ScalarOp::AbsoluteFloat, &[difference])?;
        let roundings = self.float(2.0 * f64::EPSILON);
        let allowed = self.op("* FLOAT", &[size, roundings]);
        let is_close = self.op("<= FLOAT", &[difference, allowed]);
        let is_integer = self.op("AND BOOL", &[is_close, is_finite]);
        Ok(self.select(Float, is_integer, integer, quotient))
    }

    /// The larger side times the root of one and the square of their ratio, which neither overflows nor vanishes; what has
    /// an infinite side is infinite.
    fn hypotenuse(&mut self, a: Value, b: Value) -> Result<Value> {
        let a = self.operation(ScalarOp::AbsoluteFloat, &[a])?;
        let b = self.operation(ScalarOp::AbsoluteFloat, &[b])?;
        let (zero, one, infinity) = (self.float(0.0), self.float(1.0), self.float(f64::INFINITY));
        let is_less = self.op("< FLOAT", &[a, b]);
        let (larger, smaller) = (self.select(Float, is_less, b, a), self.select(Float, is_less, a, b));
        let ratio = self.op("/ FLOAT", &[smaller, larger]);
        let square = self.op("* FLOAT", &[ratio, ratio]);
        let sum = self.op("+ FLOAT", &[one, square]);
        let root = self.op("SQRT", &[sum]);
        let product = self.op("* FLOAT", &[larger, root]);
        let is_nothing = self.op("= FLOAT", &[larger, zero]);
        let is_small = self.op("= FLOAT", &[smaller, zero]);
        let is_point = self.op("AND BOOL", &[is_nothing, is_small]);
        let length = self.select(Float, is_point, zero, product);
        let (is_wide, is_high) = (self.op("= FLOAT", &[a, infinity]), self.op("= FLOAT", &[b, infinity]));
        let is_infinite = self.op("OR BOOL", &[is_wide, is_high]);
        Ok(self.select(Float, is_infinite, infinity, length))
    }

    /// The angle of a point, at the origin 0: that of its slope, by half a turn more or less on the left. On the vertical
    /// axis the slope is infinite with the sign of `y`. A zero has the sign that its reciprocal has.
    fn angle(&mut self, y: Value, x: Value) -> Value {
        let (zero, one, half) = (self.float(0.0), self.float(1.0), self.float(std::f64::consts::PI));
        let slope = self.op("/ FLOAT", &[y, x]);
        let angle = self.op("ATAN", &[slope]);
        let (is_left, is_negative) = (self.op("< FLOAT", &[x, zero]), self.op("< FLOAT", &[y, zero]));
        let reciprocal = self.op("/ FLOAT", &[one, y]);
        let is_negative_zero = self.op("< FLOAT", &[reciprocal, zero]);
        let is_below = self.op("OR BOOL", &[is_negative, is_negative_zero]);
        let (more, less) = (self.op("+ FLOAT", &[angle, half]), self.op("- FLOAT", &[angle, half]));
        let turned = self.select(Float, is_below, less, more);
        let angle = self.select(Float, is_left, turned, angle);
        let (is_flat, is_upright) = (self.op("= FLOAT", &[y, zero]), self.op("= FLOAT", &[x, zero]));
        let is_origin = self.op("AND BOOL", &[is_flat, is_upright]);
        self.select(Float, is_origin, zero, angle)
    }

    /// The root as a float may be off by one.
    fn integer_root(&mut self, a: Value) -> Value {
        const LARGEST: i64 = 3_037_000_499;
        let is_allowed = self.with(">= INT", a, 0);
        self.check(is_allowed);
        let float = self.op("I_TO_F", &[a]);
        let root = self.op("SQRT", &[float]);
        let root = self.lowering.act("TRUNC", &[root], 1)[0];
        let largest = self.int(LARGEST);
        let is_beyond = self.op("> INT", &[root, largest]);
        let root = self.select(Int, is_beyond, largest, root);
        let square = self.op("* INT", &[root, root]);
        let (is_large, smaller) = (self.op("> INT", &[square, a]), self.with("- INT", root, 1));
        let root = self.select(Int, is_large, smaller, root);
        let next = self.with("+ INT", root, 1);
        let square = self.op("* INT", &[next, next]);
        let (fits, is_inside) = (self.op("<= INT", &[square, a]), self.op("< INT", &[root, largest]));
        let is_small = self.op("AND BOOL", &[fits, is_inside]);
        self.select(Int, is_small, next, root)
    }

    /// A shift to the right that fills with zeros.
    fn shift(&mut self, a: Value, count: i64) -> Value {
        let bits = self.int(count);
        let shifted = self.lowering.op("RSHIFT", &[a, bits]);
        self.with("AND INT", shifted, i64::MAX >> (count - 1))
    }

    /// The 64 bits mixed, as `nesl_prim::meaning` mixes them.
    fn mix(&mut self, a: Value) -> Value {
        let mut z = self.with("+ INT", a, 0x9e37_79b9_7f4a_7c15_u64 as i64);
        for (count, factor) in [(30, 0xbf58_476d_1ce4_e5b9_u64), (27, 0x94d0_49bb_1331_11eb)] {
            let shifted = self.shift(z, count);
            let mixed = self.op("XOR INT", &[z, shifted]);
            z = self.with("* INT", mixed, factor as i64);
        }
        let shifted = self.shift(z, 31);
        self.op("XOR INT", &[z, shifted])
    }

    /// The upper 64 bits of the product of an unsigned and a positive number, from products of halves.
    fn upper_product(&mut self, a: Value, b: Value) -> Value {
        const HALF: i64 = 0xffff_ffff;
        let (a_high, a_low) = (self.shift(a, 32), self.with("AND INT", a, HALF));
        let (b_high, b_low) = (self.shift(b, 32), self.with("AND INT", b, HALF));
        let low = self.op("* INT", &[a_low, b_low]);
        let middles = [self.op("* INT", &[a_high, b_low]), self.op("* INT", &[a_low, b_high])];
        let mut result = self.op("* INT", &[a_high, b_high]);
        let mut carry = self.shift(low, 32);
        for middle in middles {
            let (high, low) = (self.shift(middle, 32), self.with("AND INT", middle, HALF));
            result = self.op("+ INT", &[result, high]);
            carry = self.op("+ INT", &[carry, low]);
        }
        let carried = self.shift(carry, 32);
        self.op("+ INT", &[result, carried])
    }

    fn random_float(&mut self, seed: Value, bound: Value) -> Value {
        let zero = self.float(0.0);
        let is_allowed = self.op("> FLOAT", &[bound, zero]);
        self.check(is_allowed);
        let mixed = self.mix(seed);
        let bits = self.shift(mixed, 11);
        let bits = self.op("I_TO_F", &[bits]);
        let size = self.float((1u64 << 53) as f64);
        let unit = self.op("/ FLOAT", &[bits, size]);
        let drawn = self.op("* FLOAT", &[bound, unit]);
        let is_too_large = self.op(">= FLOAT", &[drawn, bound]);
        // The float below the bound.
        let factor = self.float(1.0f64.next_down());
        let below = self.op("* FLOAT", &[bound, factor]);
        self.select(Float, is_too_large, below, drawn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selection_of_bools_is_direct() {
        assert_eq!(direct(ScalarOp::select(ScalarType::Bool)), Some("SELECT BOOL"));
        assert_eq!(instruction_operands("SELECT BOOL"), 3);
    }
}

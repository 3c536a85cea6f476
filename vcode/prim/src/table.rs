//! The table of scalar operations.
//!
//! One row each: mnemonic in VCODE, name in NESL, algebra, doc, and the typed closure that is its meaning. Types and
//! fallibility come from the closure's shape. To add an operation, add a row here, its meaning (inline or in
//! [`crate::meaning`]) and a test; a function of the language also gets its declaration in the library.

pub mod interval;

use crate::failure::Failure;
use crate::meaning;
use crate::value::{Element, ScalarType, ScalarValue};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Receives the meaning of an operation with its Rust types, so that a loop over it is compiled once per operation.
/// A meaning captures nothing, so that whoever needs may keep it.
pub trait Visitor: Sized {
    /// What the visit produces.
    type Output;
    /// A total operation of one operand.
    fn unary<A: Element, R: Element>(self, f: impl Fn(A) -> R + Copy + Send + Sync + 'static) -> Self::Output;
    /// A total operation of two operands.
    fn binary<A: Element, B: Element, R: Element>(
        self,
        f: impl Fn(A, B) -> R + Copy + Send + Sync + 'static,
    ) -> Self::Output;
    /// A total operation of three operands.
    fn ternary<A: Element, B: Element, C: Element, R: Element>(
        self,
        f: impl Fn(A, B, C) -> R + Copy + Send + Sync + 'static,
    ) -> Self::Output;
    /// An operation of one operand that can fail.
    fn try_unary<A: Element, R: Element>(
        self,
        f: impl Fn(A) -> Result<R, Failure> + Copy + Send + Sync + 'static,
    ) -> Self::Output;
    /// An operation of two operands that can fail.
    fn try_binary<A: Element, B: Element, R: Element>(
        self,
        f: impl Fn(A, B) -> Result<R, Failure> + Copy + Send + Sync + 'static,
    ) -> Self::Output;
    /// An operation of three operands that can fail.
    fn try_ternary<A: Element, B: Element, C: Element, R: Element>(
        self,
        f: impl Fn(A, B, C) -> Result<R, Failure> + Copy + Send + Sync + 'static,
    ) -> Self::Output;
}

/// Receives the meaning of an operation that reduces and scans, at its one type.
pub trait MonoidVisitor: Sized {
    /// What the visit produces.
    type Output;
    /// An exactly associative operation: any order of combining gives the same bits.
    fn exact<T: Element>(self, identity: T, combine: impl Fn(T, T) -> T + Copy + Send + Sync + 'static)
    -> Self::Output;
    /// A float operation whose order [`crate::sum`] defines.
    fn ordered(self, identity: f64, combine: impl Fn(f64, f64) -> f64 + Copy + Send + Sync + 'static) -> Self::Output;
}

/// What the table says of one operation.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The operation.
    pub op: ScalarOp,
    /// Its name in VCODE, unique: `add.int`.
    pub mnemonic: &'static str,
    /// The NESL function or operator that means it, shared by its instances at several types; none if only the compiler
    /// uses it.
    pub source: Option<&'static str>,
    /// Types of the operands.
    pub operands: &'static [ScalarType],
    /// Type of the result.
    pub result: ScalarType,
    /// Whether it can fail on some operands.
    pub fallible: bool,
    /// Whether `a ∘ b = b ∘ a` (up to the payload of NaN).
    pub commutative: bool,
    /// Whether `(a ∘ b) ∘ c = a ∘ (b ∘ c)` exactly: reductions may then be computed in any order.
    pub associative: bool,
    /// The neutral element; exactly the operations that have one can reduce and scan.
    pub identity: Option<ScalarValue>,
    /// What it costs in machine code.
    pub cost: Cost,
    /// What else is true of it.
    pub properties: &'static [Property],
    /// One sentence.
    pub doc: &'static str,
}

/// What an operation costs in machine code, constants apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cost {
    /// One instruction, or none.
    Direct,
    /// Several instructions.
    Several,
    /// A call of its meaning, which takes few steps.
    Call,
    /// A call of its meaning, which takes many.
    Long,
}

impl Cost {
    /// Whether it is a call.
    pub fn is_call(self) -> bool {
        self >= Cost::Call
    }

    /// About how many instructions it is; none where it is a call.
    pub fn instructions(self) -> Option<usize> {
        match self {
            Cost::Direct => Some(1),
            Cost::Several => Some(2),
            Cost::Call | Cost::Long => None,
        }
    }
}

/// What may be true of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Property {
    /// It has a form for several elements at once in the registers of vectors.
    Vector,
    /// The ints that it gives are lengths or positions, or no larger than these: never negative.
    Natural,
    /// It only checks: its result is the first operand.
    GivesFirst,
    /// It only checks: its result is the second operand.
    GivesSecond,
    /// It does not fail where the second operand is neither 0 nor -1.
    FailsNotByDivisor,
    /// It does not fail where the second operand is not 0.
    FailsNotByNonzero,
    /// It does not fail where the second operand is from 0 to 63.
    FailsNotByBits,
    /// It does not fail where the second operand is not negative.
    FailsNotByNatural,
}

impl Property {
    /// Whether it says that an operation does not fail with this second operand.
    fn excludes_failure(self, second: i64) -> bool {
        match self {
            Property::FailsNotByDivisor => second != 0 && second != -1,
            Property::FailsNotByNonzero => second != 0,
            Property::FailsNotByBits => (0..64).contains(&second),
            Property::FailsNotByNatural => second >= 0,
            Property::Vector | Property::Natural | Property::GivesFirst | Property::GivesSecond => false,
        }
    }
}

const fn types<const N: usize>(array: &'static [ScalarType; N]) -> &'static [ScalarType] {
    array
}

macro_rules! source {
    (_) => {
        None
    };
    ($name:literal) => {
        Some($name)
    };
}

macro_rules! algebra {
    (commutative,-) => {
        (true, false, Option::<ScalarValue>::None)
    };
    (exact, $identity:expr) => {
        (true, true, Some($identity))
    };
    (ordered, $identity:expr) => {
        (true, false, Some($identity))
    };
    (-, -) => {
        (false, false, Option::<ScalarValue>::None)
    };
}

macro_rules! monoid {
    (exact, $identity:expr, $op:expr, $visitor:expr, $meaning:expr) => {
        exact($visitor, $identity, $meaning)
    };
    (ordered, $identity:expr, $op:expr, $visitor:expr, $meaning:expr) => {
        $visitor.ordered(f64::from_value($identity), $meaning)
    };
    ($algebra:tt, -, $op:expr, $visitor:expr, $meaning:expr) => {
        panic!("{} neither reduces nor scans", $op)
    };
}

/// Hands an exact operation and its identity to a visitor.
fn exact<V: MonoidVisitor, T: Element>(
    visitor: V,
    identity: ScalarValue,
    combine: impl Fn(T, T) -> T + Copy + Send + Sync + 'static,
) -> V::Output {
    visitor.exact(T::from_value(identity), combine)
}

macro_rules! fallible {
    (unary) => {
        false
    };
    (binary) => {
        false
    };
    (ternary) => {
        false
    };
    (try_unary) => {
        true
    };
    (try_binary) => {
        true
    };
    (try_ternary) => {
        true
    };
}

macro_rules! scalar_operations {
    ($( $op:ident $mnemonic:literal $source:tt ($($operand:ident),+) -> $result:ident, $algebra:tt $identity:tt,
        $cost:ident [$($property:ident),*], $doc:literal, $visit:ident $meaning:expr; )+) => {
        /// A scalar operation. Its row is [`ScalarOp::row`], its meaning [`ScalarOp::visit`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum ScalarOp {
            $( #[doc = $doc] $op, )+
        }

        impl ScalarOp {
            /// All operations, in table order.
            pub const ALL: &'static [ScalarOp] = &[ $( ScalarOp::$op ),+ ];

            /// The operation's row.
            pub fn row(self) -> &'static Row {
                match self {
                    $( ScalarOp::$op => {
                        static ROW: Row = Row {
                            op: ScalarOp::$op,
                            mnemonic: $mnemonic,
                            source: source!($source),
                            operands: types(&[ $( ScalarType::$operand ),+ ]),
                            result: ScalarType::$result,
                            fallible: fallible!($visit),
                            commutative: algebra!($algebra, $identity).0,
                            associative: algebra!($algebra, $identity).1,
                            identity: algebra!($algebra, $identity).2,
                            cost: Cost::$cost,
                            properties: &[ $( Property::$property ),* ],
                            doc: $doc,
                        };
                        &ROW
                    } )+
                }
            }

            /// Hands the operation's meaning to a visitor.
            pub fn visit<V: Visitor>(self, visitor: V) -> V::Output {
                match self {
                    $( ScalarOp::$op => visitor.$visit($meaning), )+
                }
            }

            /// Hands the operation's meaning as one that reduces and scans to a visitor.
            ///
            /// # Panics
            /// If it has no identity: the verifier excludes that.
            pub fn visit_monoid<V: MonoidVisitor>(self, visitor: V) -> V::Output {
                match self {
                    $( ScalarOp::$op => monoid!($algebra, $identity, self, visitor, $meaning), )+
                }
            }
        }
    };
}

use ScalarValue::{Bool as B, Char as C, Float as F, Int as I};

scalar_operations! {
    AddInt "add.int" "+" (Int, Int) -> Int, exact (I(0)), Direct [Vector], "Sum, wrapping.", binary i64::wrapping_add;
    AddLength "add.length" _ (Int, Int) -> Int, exact (I(0)), Several [], "Sum of lengths, as numbers without a sign; -1, which is the greatest of these, if it is no less. What is no int comes out negative.", binary meaning::add_lengths;
    AddFloat "add.float" "+" (Float, Float) -> Float, ordered (F(0.0)), Direct [Vector], "Sum.", binary |a: f64, b: f64| a + b;
    SubtractInt "subtract.int" "-" (Int, Int) -> Int, - -, Direct [Vector], "Difference, wrapping.", binary i64::wrapping_sub;
    SubtractFloat "subtract.float" "-" (Float, Float) -> Float, - -, Direct [Vector], "Difference.", binary |a: f64, b: f64| a - b;
    MultiplyInt "multiply.int" "*" (Int, Int) -> Int, exact (I(1)), Direct [Vector], "Product, wrapping.", binary i64::wrapping_mul;
    MultiplyFloat "multiply.float" "*" (Float, Float) -> Float, ordered (F(1.0)), Direct [Vector], "Product.", binary |a: f64, b: f64| a * b;
    DivideInt "divide.int" "/" (Int, Int) -> Int, - -, Several [FailsNotByDivisor], "Quotient, truncated towards zero.", try_binary meaning::divide;
    DivideFloat "divide.float" "/" (Float, Float) -> Float, - -, Direct [Vector], "Quotient; division by 0.0 gives an infinity or NaN.", binary |a: f64, b: f64| a / b;
    Remainder "remainder" "rem" (Int, Int) -> Int, - -, Several [FailsNotByNonzero], "Remainder with the sign of the dividend.", try_binary meaning::remainder;
    Modulo "modulo" "mod" (Int, Int) -> Int, - -, Several [FailsNotByNonzero], "Remainder with the sign of the divisor.", try_binary meaning::modulo;
    NegateInt "negate.int" "negate" (Int) -> Int, - -, Direct [Vector], "Negation, wrapping.", unary i64::wrapping_neg;
    NegateFloat "negate.float" "negate" (Float) -> Float, - -, Direct [Vector], "Negation: flips the sign, of zero too.", unary |a: f64| -a;
    AbsoluteInt "absolute.int" "abs" (Int) -> Int, - -, Direct [], "Absolute value; that of the least int is itself.", unary i64::wrapping_abs;
    AbsoluteFloat "absolute.float" "abs" (Float) -> Float, - -, Direct [Vector], "Absolute value.", unary f64::abs;
    PowerInt "power.int" "^" (Int, Int) -> Int, - -, Long [FailsNotByNatural], "Power with a nonnegative exponent, wrapping.", try_binary meaning::power_int;
    PowerFloat "power.float" "^" (Float, Int) -> Float, - -, Long [FailsNotByNatural], "Power with a nonnegative integer exponent.", try_binary meaning::power_float;

    MaximumInt "maximum.int" "max" (Int, Int) -> Int, exact (I(i64::MIN)), Direct [Vector], "The larger.", binary |a: i64, b: i64| a.max(b);
    MaximumFloat "maximum.float" "max" (Float, Float) -> Float, exact (F(f64::NEG_INFINITY)), Direct [], "The larger; NaN if either is.", binary meaning::maximum;
    MaximumChar "maximum.char" "max" (Char, Char) -> Char, exact (C(0)), Direct [], "The larger.", binary |a: u8, b: u8| a.max(b);
    MinimumInt "minimum.int" "min" (Int, Int) -> Int, exact (I(i64::MAX)), Direct [Vector], "The smaller.", binary |a: i64, b: i64| a.min(b);
    MinimumFloat "minimum.float" "min" (Float, Float) -> Float, exact (F(f64::INFINITY)), Direct [], "The smaller; NaN if either is.", binary meaning::minimum;
    MinimumChar "minimum.char" "min" (Char, Char) -> Char, exact (C(255)), Direct [], "The smaller.", binary |a: u8, b: u8| a.min(b);

    ShiftLeft "shift_left" "lshift" (Int, Int) -> Int, - -, Several [FailsNotByBits], "Shift to the left by 0 to 63 bits.", try_binary meaning::shift_left;
    ShiftRight "shift_right" "rshift" (Int, Int) -> Int, - -, Several [FailsNotByBits], "Arithmetic shift to the right by 0 to 63 bits.", try_binary meaning::shift_right;
    AndInt "and.int" "and" (Int, Int) -> Int, exact (I(-1)), Direct [Vector], "Bitwise and.", binary |a: i64, b: i64| a & b;
    AndBool "and.bool" "and" (Bool, Bool) -> Bool, exact (B(true)), Direct [Vector], "Conjunction.", binary |a: bool, b: bool| a & b;
    OrInt "or.int" "or" (Int, Int) -> Int, exact (I(0)), Direct [Vector], "Bitwise or.", binary |a: i64, b: i64| a | b;
    OrBool "or.bool" "or" (Bool, Bool) -> Bool, exact (B(false)), Direct [Vector], "Disjunction.", binary |a: bool, b: bool| a | b;
    XorInt "xor.int" "xor" (Int, Int) -> Int, exact (I(0)), Direct [Vector], "Bitwise exclusive or.", binary |a: i64, b: i64| a ^ b;
    XorBool "xor.bool" "xor" (Bool, Bool) -> Bool, exact (B(false)), Direct [Vector], "Exclusive disjunction.", binary |a: bool, b: bool| a ^ b;
    NotInt "not.int" "not" (Int) -> Int, - -, Direct [Vector], "One's complement.", unary |a: i64| !a;
    NotBool "not.bool" "not" (Bool) -> Bool, - -, Direct [Vector], "Negation.", unary |a: bool| !a;

    EqualInt "equal.int" "==" (Int, Int) -> Bool, commutative -, Direct [Vector], "Equality.", binary |a: i64, b: i64| a == b;
    EqualFloat "equal.float" "==" (Float, Float) -> Bool, commutative -, Direct [Vector], "IEEE equality.", binary |a: f64, b: f64| a == b;
    EqualChar "equal.char" "==" (Char, Char) -> Bool, commutative -, Direct [], "Equality.", binary |a: u8, b: u8| a == b;
    EqualBool "equal.bool" "==" (Bool, Bool) -> Bool, commutative -, Direct [], "Equality.", binary |a: bool, b: bool| a == b;
    UnequalInt "unequal.int" "/=" (Int, Int) -> Bool, commutative -, Direct [Vector], "Inequality.", binary |a: i64, b: i64| a != b;
    UnequalFloat "unequal.float" "/=" (Float, Float) -> Bool, commutative -, Direct [Vector], "IEEE inequality.", binary |a: f64, b: f64| a != b;
    UnequalChar "unequal.char" "/=" (Char, Char) -> Bool, commutative -, Direct [], "Inequality.", binary |a: u8, b: u8| a != b;
    UnequalBool "unequal.bool" "/=" (Bool, Bool) -> Bool, commutative -, Direct [], "Inequality.", binary |a: bool, b: bool| a != b;
    LessInt "less.int" "<" (Int, Int) -> Bool, - -, Direct [Vector], "Less than.", binary |a: i64, b: i64| a < b;
    LessFloat "less.float" "<" (Float, Float) -> Bool, - -, Direct [Vector], "IEEE less than.", binary |a: f64, b: f64| a < b;
    LessChar "less.char" "<" (Char, Char) -> Bool, - -, Direct [], "Less than, by code.", binary |a: u8, b: u8| a < b;
    GreaterInt "greater.int" ">" (Int, Int) -> Bool, - -, Direct [Vector], "Greater than.", binary |a: i64, b: i64| a > b;
    GreaterFloat "greater.float" ">" (Float, Float) -> Bool, - -, Direct [Vector], "IEEE greater than.", binary |a: f64, b: f64| a > b;
    GreaterChar "greater.char" ">" (Char, Char) -> Bool, - -, Direct [], "Greater than, by code.", binary |a: u8, b: u8| a > b;
    AtMostInt "at_most.int" "<=" (Int, Int) -> Bool, - -, Direct [Vector], "Less or equal.", binary |a: i64, b: i64| a <= b;
    AtMostFloat "at_most.float" "<=" (Float, Float) -> Bool, - -, Direct [Vector], "IEEE less or equal.", binary |a: f64, b: f64| a <= b;
    AtMostChar "at_most.char" "<=" (Char, Char) -> Bool, - -, Direct [], "Less or equal, by code.", binary |a: u8, b: u8| a <= b;
    AtLeastInt "at_least.int" ">=" (Int, Int) -> Bool, - -, Direct [Vector], "Greater or equal.", binary |a: i64, b: i64| a >= b;
    AtLeastFloat "at_least.float" ">=" (Float, Float) -> Bool, - -, Direct [Vector], "IEEE greater or equal.", binary |a: f64, b: f64| a >= b;
    AtLeastChar "at_least.char" ">=" (Char, Char) -> Bool, - -, Direct [], "Greater or equal, by code.", binary |a: u8, b: u8| a >= b;
    SelectInt "select.int" _ (Bool, Int, Int) -> Int, - -, Direct [Vector], "The second operand where the first is true, else the third.", ternary |c: bool, a: i64, b: i64| if c { a } else { b };
    SelectFloat "select.float" _ (Bool, Float, Float) -> Float, - -, Direct [Vector], "The second operand where the first is true, else the third.", ternary |c: bool, a: f64, b: f64| if c { a } else { b };
    SelectBool "select.bool" _ (Bool, Bool, Bool) -> Bool, - -, Direct [], "The second operand where the first is true, else the third.", ternary |c: bool, a: bool, b: bool| if c { a } else { b };
    SelectChar "select.char" _ (Bool, Char, Char) -> Char, - -, Direct [], "The second operand where the first is true, else the third.", ternary |c: bool, a: u8, b: u8| if c { a } else { b };

    SquareRoot "sqrt" "sqrt" (Float) -> Float, - -, Direct [Vector], "Square root; NaN for negative numbers.", unary f64::sqrt;
    IntegerSquareRoot "isqrt" "isqrt" (Int) -> Int, - -, Call [], "Square root of an int, rounded down.", try_unary meaning::isqrt;
    NaturalLogarithm "ln" "ln" (Float) -> Float, - -, Long [], "Natural logarithm.", unary f64::ln;
    Logarithm "log" "log" (Float, Float) -> Float, - -, Long [], "Logarithm of the first operand to the base of the second.", binary |v: f64, b: f64| v.ln() / b.ln();
    BinaryLogarithm "log2" "log2" (Float) -> Float, - -, Long [], "Logarithm to the base 2; exact for powers of 2.", unary f64::log2;
    DecimalLogarithm "log10" "log10" (Float) -> Float, - -, Long [], "Logarithm to the base 10; exact for powers of 10.", unary f64::log10;
    Exponential "exp" "exp" (Float) -> Float, - -, Long [], "e to the power of the operand.", unary f64::exp;
    ExponentialTo "expt" "expt" (Float, Float) -> Float, - -, Long [], "The first operand to the power of the second.", binary f64::powf;
    Sine "sin" "sin" (Float) -> Float, - -, Long [], "Sine of an angle in radians.", unary f64::sin;
    Cosine "cos" "cos" (Float) -> Float, - -, Long [], "Cosine of an angle in radians.", unary f64::cos;
    Tangent "tan" "tan" (Float) -> Float, - -, Long [], "Tangent of an angle in radians.", unary f64::tan;
    ArcSine "asin" "asin" (Float) -> Float, - -, Long [], "Inverse sine in radians.", unary f64::asin;
    ArcCosine "acos" "acos" (Float) -> Float, - -, Long [], "Inverse cosine in radians.", unary f64::acos;
    ArcTangent "atan" "atan" (Float) -> Float, - -, Long [], "Inverse tangent in radians.", unary f64::atan;
    ArcTangentOfPoint "atan2" "atan2" (Float, Float) -> Float, - -, Long [], "The angle in radians, from -pi to pi, of the point whose second coordinate is the first operand and whose first is the second.", binary f64::atan2;
    Hypotenuse "hypot" "hypot" (Float, Float) -> Float, - -, Long [], "Square root of the sum of the squares, where those are too large or too small for floats too.", binary f64::hypot;
    HyperbolicSine "sinh" "sinh" (Float) -> Float, - -, Long [], "Hyperbolic sine.", unary f64::sinh;
    HyperbolicCosine "cosh" "cosh" (Float) -> Float, - -, Long [], "Hyperbolic cosine.", unary f64::cosh;
    HyperbolicTangent "tanh" "tanh" (Float) -> Float, - -, Long [], "Hyperbolic tangent.", unary f64::tanh;

    PositiveInt "positive.int" "plusp" (Int) -> Bool, - -, Direct [], "Whether it is greater than zero.", unary |a: i64| a > 0;
    PositiveFloat "positive.float" "plusp" (Float) -> Bool, - -, Direct [], "Whether it is greater than zero.", unary |a: f64| a > 0.0;
    NegativeInt "negative.int" "minusp" (Int) -> Bool, - -, Direct [], "Whether it is less than zero.", unary |a: i64| a < 0;
    NegativeFloat "negative.float" "minusp" (Float) -> Bool, - -, Direct [], "Whether it is less than zero.", unary |a: f64| a < 0.0;
    ZeroInt "zero.int" "zerop" (Int) -> Bool, - -, Direct [], "Whether it is zero.", unary |a: i64| a == 0;
    ZeroFloat "zero.float" "zerop" (Float) -> Bool, - -, Direct [], "Whether it is zero.", unary |a: f64| a == 0.0;

    BoolToInt "bool_to_int" "btoi" (Bool) -> Int, - -, Direct [Vector, Natural], "1 for true, 0 for false.", unary |b: bool| i64::from(b);
    IntToFloat "int_to_float" "float" (Int) -> Float, - -, Direct [], "The nearest float.", unary |a: i64| a as f64;
    NumberOfInt "number_to_float.int" "float_num" (Int) -> Float, - -, Direct [], "The nearest float.", unary |a: i64| a as f64;
    NumberOfFloat "number_to_float.float" "float_num" (Float) -> Float, - -, Direct [], "The operand itself.", unary |a: f64| a;
    IntAsInt "int_as.int" "int_to_any" (Int, Int) -> Int, - -, Direct [], "The first operand, as a number of the type of the second.", binary |a: i64, _: i64| a;
    IntAsFloat "int_as.float" "int_to_any" (Int, Float) -> Float, - -, Direct [], "The first operand, as a number of the type of the second.", binary |a: i64, _: f64| a as f64;
    FloatAsInt "float_as.int" "float_to_any" (Float, Int) -> Int, - -, Several [], "The first operand, rounded as `round` does.", try_binary |x: f64, _: i64| meaning::to_int(x.round());
    FloatAsFloat "float_as.float" "float_to_any" (Float, Float) -> Float, - -, Direct [], "The first operand.", binary |a: f64, _: f64| a;
    Ceiling "ceiling" "ceil" (Float) -> Int, - -, Several [], "The least int that is not smaller.", try_unary |x: f64| meaning::to_int(x.ceil());
    Floor "floor" "floor" (Float) -> Int, - -, Several [], "The greatest int that is not larger.", try_unary |x: f64| meaning::to_int(x.floor());
    Truncate "truncate" "trunc" (Float) -> Int, - -, Several [], "The int towards zero.", try_unary |x: f64| meaning::to_int(x.trunc());
    Round "round" "round" (Float) -> Int, - -, Several [], "The nearest int, halves away from zero.", try_unary |x: f64| meaning::to_int(x.round());
    CharToCode "char_to_code" "char_code" (Char) -> Int, - -, Direct [Natural], "The code of a character.", unary |c: u8| i64::from(c);
    CodeToChar "code_to_char" "code_char" (Int) -> Char, - -, Several [], "The character with a code of 0 to 255.", try_unary meaning::code_char;
    LowByte "low_byte" _ (Int) -> Char, - -, Direct [], "The character whose code is the last eight bits.", unary |code: i64| code as u8;

    SeedNext "seed_next" _ (Int) -> Int, - -, Direct [], "The seed after one draw.", unary meaning::seed_next;
    SeedSplit "seed_split" _ (Int, Int) -> Int, - -, Several [], "The seed of one instance of an apply-to-each.", binary meaning::seed_split;
    RandomInt "random.int" _ (Int, Int) -> Int, - -, Several [], "A uniform int from 0 up to, not including, the second operand, drawn from the seed.", try_binary meaning::rand_int;
    RandomFloat "random.float" _ (Int, Float) -> Float, - -, Call [], "A uniform float from 0 up to, not including, the second operand, drawn from the seed.", try_binary meaning::rand_float;

    HashInt "hash.int" _ (Int) -> Int, - -, Several [], "All 64 bits of the operand mixed.", unary meaning::hash_int;
    HashFloat "hash.float" _ (Float) -> Int, - -, Call [], "The bits of the operand mixed; equal floats give the same.", unary meaning::hash_float;
    HashBool "hash.bool" _ (Bool) -> Int, - -, Several [], "As `hash.int` of 0 or 1.", unary |b: bool| meaning::hash_int(i64::from(b));
    HashChar "hash.char" _ (Char) -> Int, - -, Several [], "As `hash.int` of the code.", unary |c: u8| meaning::hash_int(i64::from(c));
    HashPair "hash_pair" _ (Int, Int) -> Int, - -, Several [], "Two hashes, or a position and a hash, mixed to one.", binary meaning::hash_pair;
    HashPlace "hash_place" _ (Int, Int) -> Int, - -, Several [], "What the code of a character at a position adds to the hash of a text.", binary meaning::hash_place;
    HashIndex "hash_index" _ (Int, Int) -> Int, - -, Several [], "A hash as an int from 0 up to, not including, the second operand.", try_binary meaning::hash_index;

    CheckIndex "check_index" "check_index" (Int, Int) -> Int, - -, Several [Natural, GivesFirst], "The first operand, if it is an index of a sequence as long as the second.", try_binary meaning::check_index;
    CheckRange "check_range" _ (Int, Int, Int) -> Int, - -, Several [Natural], "The first operand, a start, if as many indices from it on as the second says are indices of a sequence as long as the third; 0 if that is none.", try_ternary meaning::check_range;
    CheckLengths "check_lengths" "check_lengths" (Int, Int) -> Int, - -, Several [GivesFirst], "Either operand, if they are equal.", try_binary meaning::check_lengths;
    CheckLength "check_length" "check_length" (Int) -> Int, - -, Several [GivesFirst], "The operand, if it is not negative.", try_unary meaning::check_length;
    CheckTotal "check_total" _ (Int) -> Int, - -, Several [Natural, GivesFirst], "The operand, a length or a sum of lengths, if a sequence can have so many elements: 0 to 2^47.", try_unary meaning::check_total;
    CheckPartition "check_partition" _ (Int, Int) -> Int, - -, Several [GivesSecond], "The second operand, a length, if the first, a sum of lengths, equals it.", try_binary meaning::check_partition;
    CheckCount "check_count" "check_count" (Int, Int) -> Int, - -, Several [Natural], "The size of the first operand, a count, if the second, a length, is no smaller.", try_binary meaning::check_count;
    CheckInterleave "check_interleave" "check_interleave" (Int, Int) -> Int, - -, Call [GivesFirst], "The first operand, a length, if the second is as long or one shorter.", try_binary meaning::check_interleave;
    RangeLength "range_length" _ (Int, Int, Int) -> Int, - -, Several [Natural], "The number of elements from a start to an end by a stride.", try_ternary meaning::range_length;
    SubsequenceLength "subsequence_length" _ (Int, Int, Int) -> Int, - -, Several [Natural], "The length of the subsequence from a start to an end of a sequence of some length.", try_ternary meaning::subsequence_length;
}

impl ScalarOp {
    /// The operation with this VCODE mnemonic.
    pub fn by_mnemonic(mnemonic: &str) -> Option<ScalarOp> {
        ScalarOp::ALL.iter().copied().find(|op| op.row().mnemonic == mnemonic)
    }

    /// The instance of a NESL function or operator for operands of these types.
    pub fn resolve(source: &str, operands: &[ScalarType]) -> Option<ScalarOp> {
        ScalarOp::ALL.iter().copied().find(|op| op.row().source == Some(source) && op.row().operands == operands)
    }

    /// Whether something is true of the operation.
    pub fn is(self, property: Property) -> bool {
        self.row().properties.contains(&property)
    }

    /// The operand that is the result, where an operation only checks.
    pub fn checked_operand(self) -> Option<usize> {
        self.row().properties.iter().find_map(|property| match property {
            Property::GivesFirst => Some(0),
            Property::GivesSecond => Some(1),
            _ => None,
        })
    }

    /// Whether an operation that can fail does not where this is its second operand.
    pub fn is_safe_with(self, second: i64) -> bool {
        self.row().properties.iter().any(|property| property.excludes_failure(second))
    }

    /// Whether some instance is named so in NESL.
    pub fn is_source(source: &str) -> bool {
        ScalarOp::ALL.iter().any(|op| op.row().source == Some(source))
    }

    /// The `select` of a type.
    pub fn select(scalar_type: ScalarType) -> ScalarOp {
        match scalar_type {
            ScalarType::Int => ScalarOp::SelectInt,
            ScalarType::Float => ScalarOp::SelectFloat,
            ScalarType::Bool => ScalarOp::SelectBool,
            ScalarType::Char => ScalarOp::SelectChar,
        }
    }
}

impl fmt::Display for ScalarOp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.row().mnemonic)
    }
}

/// Applies an operation to single values.
///
/// # Errors
/// The operation's failure.
///
/// # Panics
/// If number or types of the operands are not those of the row: the verifier excludes that.
pub fn eval(op: ScalarOp, operands: &[ScalarValue]) -> Result<ScalarValue, Failure> {
    op.visit(Apply(operands))
}

struct Apply<'a>(&'a [ScalarValue]);

impl Visitor for Apply<'_> {
    type Output = Result<ScalarValue, Failure>;

    fn unary<A: Element, R: Element>(self, f: impl Fn(A) -> R + Copy + Send + Sync) -> Self::Output {
        Ok(f(A::from_value(self.0[0])).to_value())
    }

    fn binary<A: Element, B: Element, R: Element>(self, f: impl Fn(A, B) -> R + Copy + Send + Sync) -> Self::Output {
        Ok(f(A::from_value(self.0[0]), B::from_value(self.0[1])).to_value())
    }

    fn ternary<A: Element, B: Element, C: Element, R: Element>(
        self,
        f: impl Fn(A, B, C) -> R + Copy + Send + Sync,
    ) -> Self::Output {
        Ok(f(A::from_value(self.0[0]), B::from_value(self.0[1]), C::from_value(self.0[2])).to_value())
    }

    fn try_unary<A: Element, R: Element>(
        self,
        f: impl Fn(A) -> Result<R, Failure> + Copy + Send + Sync,
    ) -> Self::Output {
        f(A::from_value(self.0[0])).map(R::to_value)
    }

    fn try_binary<A: Element, B: Element, R: Element>(
        self,
        f: impl Fn(A, B) -> Result<R, Failure> + Copy + Send + Sync,
    ) -> Self::Output {
        f(A::from_value(self.0[0]), B::from_value(self.0[1])).map(R::to_value)
    }

    fn try_ternary<A: Element, B: Element, C: Element, R: Element>(
        self,
        f: impl Fn(A, B, C) -> Result<R, Failure> + Copy + Send + Sync,
    ) -> Self::Output {
        f(A::from_value(self.0[0]), B::from_value(self.0[1]), C::from_value(self.0[2])).map(R::to_value)
    }
}

#[cfg(test)]
mod tests;

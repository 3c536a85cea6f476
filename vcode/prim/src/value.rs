//! The four scalar types and their values.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The most elements of a sequence: as many as bytes can be addressed on any machine. All lengths are checked against
/// it where they arise, whether or not anybody asks for the elements, so that the sum of two is an int.
pub const MOST_ELEMENTS: i64 = 1 << 47;

/// A scalar type of NESL and of VCODE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ScalarType {
    /// 64-bit two's complement integer.
    Int,
    /// IEEE 754 binary64.
    Float,
    /// Truth value, one byte in a column.
    Bool,
    /// 8-bit character code.
    Char,
}

impl ScalarType {
    /// All scalar types.
    pub const ALL: [ScalarType; 4] = [ScalarType::Int, ScalarType::Float, ScalarType::Bool, ScalarType::Char];

    /// The name used in NESL: `int`, `float`, `bool`, `char`.
    pub fn name(self) -> &'static str {
        match self {
            ScalarType::Int => "int",
            ScalarType::Float => "float",
            ScalarType::Bool => "bool",
            ScalarType::Char => "char",
        }
    }

    /// 0, 0.0, f, the character 0.
    pub fn zero(self) -> ScalarValue {
        match self {
            ScalarType::Int => ScalarValue::Int(0),
            ScalarType::Float => ScalarValue::Float(0.0),
            ScalarType::Bool => ScalarValue::Bool(false),
            ScalarType::Char => ScalarValue::Char(0),
        }
    }

    /// Bytes of one element in a column.
    pub fn size(self) -> usize {
        match self {
            ScalarType::Int | ScalarType::Float => 8,
            ScalarType::Bool | ScalarType::Char => 1,
        }
    }
}

impl fmt::Display for ScalarType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// One scalar value. Equality answers "the same result?": of bits for floats, except that every NaN is the same NaN
/// (hardware and optimiser choose its payload, and no program can see it).
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum ScalarValue {
    /// An `int`.
    Int(i64),
    /// A `float`.
    Float(f64),
    /// A `bool`.
    Bool(bool),
    /// A `char`.
    Char(u8),
}

impl ScalarValue {
    /// The value's type.
    pub fn scalar_type(self) -> ScalarType {
        match self {
            ScalarValue::Int(_) => ScalarType::Int,
            ScalarValue::Float(_) => ScalarType::Float,
            ScalarValue::Bool(_) => ScalarType::Bool,
            ScalarValue::Char(_) => ScalarType::Char,
        }
    }

    /// The index, length or number that it is, which an earlier check has accepted.
    ///
    /// # Panics
    /// If it is none.
    pub fn to_size(self) -> usize {
        let value = i64::from_value(self);
        usize::try_from(value).unwrap_or_else(|_| panic!("unchecked index or length {value}"))
    }

    /// The value as a word of 64 bits, as [`Element::to_word`] says.
    pub fn to_word(self) -> u64 {
        match self {
            ScalarValue::Int(value) => value.to_word(),
            ScalarValue::Float(value) => value.to_word(),
            ScalarValue::Bool(value) => value.to_word(),
            ScalarValue::Char(value) => value.to_word(),
        }
    }

    /// The value of a type in a word.
    pub fn from_word(scalar_type: ScalarType, word: u64) -> ScalarValue {
        match scalar_type {
            ScalarType::Int => i64::from_word(word).to_value(),
            ScalarType::Float => f64::from_word(word).to_value(),
            ScalarType::Bool => bool::from_word(word).to_value(),
            ScalarType::Char => u8::from_word(word).to_value(),
        }
    }
}

impl PartialEq for ScalarValue {
    fn eq(&self, other: &ScalarValue) -> bool {
        match (*self, *other) {
            (ScalarValue::Int(a), ScalarValue::Int(b)) => a == b,
            (ScalarValue::Float(a), ScalarValue::Float(b)) => a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()),
            (ScalarValue::Bool(a), ScalarValue::Bool(b)) => a == b,
            (ScalarValue::Char(a), ScalarValue::Char(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for ScalarValue {}

impl std::hash::Hash for ScalarValue {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        match *self {
            ScalarValue::Int(value) => value.hash(state),
            ScalarValue::Float(value) => (if value.is_nan() { f64::NAN } else { value }).to_bits().hash(state),
            ScalarValue::Bool(value) => value.hash(state),
            ScalarValue::Char(value) => value.hash(state),
        }
    }
}

/// A Rust type that holds elements of one scalar type.
pub trait Element: Copy + Send + Sync + fmt::Debug + PartialEq + Default + 'static {
    /// The scalar type it holds.
    const TYPE: ScalarType;
    /// The element as a tagged value.
    fn to_value(self) -> ScalarValue;
    /// The element in a tagged value.
    ///
    /// # Panics
    /// If the value is of another type: the verifier excludes that.
    fn from_value(value: ScalarValue) -> Self;
    /// The element as a word of 64 bits: an int or the bits of a float, a truth value as 0 or 1, a character as its
    /// code.
    fn to_word(self) -> u64;
    /// The element in the word that [`to_word`](Element::to_word) made.
    fn from_word(word: u64) -> Self;
}

macro_rules! element {
    ($rust:ty, $variant:ident, $to_word:expr, $from_word:expr) => {
        impl Element for $rust {
            const TYPE: ScalarType = ScalarType::$variant;
            fn to_value(self) -> ScalarValue {
                ScalarValue::$variant(self)
            }
            fn from_value(value: ScalarValue) -> Self {
                match value {
                    ScalarValue::$variant(inner) => inner,
                    other => panic!("expected {}, found {:?}: unverified program", Self::TYPE, other),
                }
            }
            #[inline]
            fn to_word(self) -> u64 {
                $to_word(self)
            }
            #[inline]
            fn from_word(word: u64) -> Self {
                $from_word(word)
            }
        }
    };
}

element!(i64, Int, i64::cast_unsigned, u64::cast_signed);
element!(f64, Float, f64::to_bits, f64::from_bits);
element!(bool, Bool, u64::from, |word| word != 0);
element!(u8, Char, u64::from, |word| word as u8);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_keep_every_value() {
        let values = [i64::MIN, -1, 0, i64::MAX].map(ScalarValue::Int).into_iter();
        let values = values.chain([-0.0, 1.5, f64::NEG_INFINITY, f64::NAN].map(ScalarValue::Float));
        let values = values.chain([false, true].map(ScalarValue::Bool)).chain([0, 255].map(ScalarValue::Char));
        for value in values {
            assert_eq!(ScalarValue::from_word(value.scalar_type(), value.to_word()), value);
        }
        assert_eq!(ScalarValue::Int(-1).to_word(), u64::MAX);
        assert_eq!(ScalarValue::Bool(true).to_word(), 1);
    }
}

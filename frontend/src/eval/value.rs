//! The values of the reference evaluator, and how they print.

use crate::core::FunctionId;
use crate::ty::Type;
use nesl_prim::{ScalarType, ScalarValue, text};
use std::sync::Arc;

/// A value: nested just as its type is. Equality is that of [`ScalarValue`]: the same bits, all NaNs alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// An int, float, bool or char.
    Scalar(ScalarValue),
    /// `()`.
    Unit,
    /// Two parts; longer tuples nest to the right.
    Pair(Arc<Value>, Arc<Value>),
    /// A sequence.
    Sequence(Arc<Vec<Value>>),
    /// A function. It says itself which one it is, so that its type is not needed to call it.
    Function(Arc<Closure>),
}

/// A function value. A record has no value of its own: it is its payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closure {
    /// The function.
    pub function: FunctionId,
    /// The arguments for the parameters of its scheme: types without parameters.
    pub type_arguments: Vec<Type>,
    /// The captured values as a right-nested tuple, if there are any.
    pub captured: Option<Value>,
}

impl Value {
    /// An int.
    pub fn int(value: i64) -> Value {
        Value::Scalar(ScalarValue::Int(value))
    }

    /// A float.
    pub fn float(value: f64) -> Value {
        Value::Scalar(ScalarValue::Float(value))
    }

    /// A bool.
    pub fn bool(value: bool) -> Value {
        Value::Scalar(ScalarValue::Bool(value))
    }

    /// A char.
    pub fn char(code: u8) -> Value {
        Value::Scalar(ScalarValue::Char(code))
    }

    /// A sequence of chars.
    pub fn string(text: &str) -> Value {
        Value::sequence(text.bytes().map(Value::char))
    }

    /// A pair.
    pub fn pair(first: Value, rest: Value) -> Value {
        Value::Pair(Arc::new(first), Arc::new(rest))
    }

    /// A sequence of the given elements.
    pub fn sequence(elements: impl IntoIterator<Item = Value>) -> Value {
        Value::Sequence(Arc::new(elements.into_iter().collect()))
    }

    /// The value as NESL prints it. The type tells an empty string from other empty sequences.
    ///
    /// # Panics
    /// If the value is not of the type.
    pub fn text(&self, ty: &Type) -> String {
        let mut out = String::new();
        self.write(ty, &mut out);
        out
    }

    fn write(&self, ty: &Type, out: &mut String) {
        match (self, ty) {
            (Value::Scalar(scalar), Type::Scalar(_)) => out.push_str(&text::scalar(*scalar)),
            (Value::Unit, Type::Unit) => out.push_str("()"),
            (Value::Sequence(elements), Type::Sequence(element)) if **element == Type::Scalar(ScalarType::Char) => {
                let bytes: Vec<u8> = elements.iter().map(Value::as_char).collect();
                out.push_str(&text::string(&bytes));
            }
            (Value::Sequence(elements), Type::Sequence(element)) => {
                out.push('[');
                for (position, value) in elements.iter().enumerate() {
                    if position > 0 {
                        out.push_str(", ");
                    }
                    value.write(element, out);
                }
                out.push(']');
            }
            (Value::Pair(..), Type::Pair(..)) => {
                out.push('(');
                let (mut value, mut ty) = (self, ty);
                while let (Value::Pair(first, rest), Type::Pair(first_type, rest_type)) = (value, ty) {
                    first.write(first_type, out);
                    out.push_str(", ");
                    (value, ty) = (rest, rest_type);
                }
                value.write(ty, out);
                out.push(')');
            }
            (payload, Type::Record(datatype, _)) => {
                let Some(ty) = ty.payload() else { return };
                out.push_str(&datatype.name);
                if let Type::Pair(..) | Type::Unit = ty {
                    payload.write(&ty, out);
                } else {
                    out.push('(');
                    payload.write(&ty, out);
                    out.push(')');
                }
            }
            (Value::Function(_), Type::Function(_)) => out.push_str("fn"),
            _ => self.is_no(&format!("a value of type {ty}")),
        }
    }

    // The accessors below take a value of a known type apart.

    /// Core that inference would have refused.
    pub(super) fn is_no(&self, expected: &str) -> ! {
        panic!("ill-typed core: expected {expected}, found {self:?}")
    }

    pub(super) fn as_scalar(&self) -> ScalarValue {
        match self {
            Value::Scalar(scalar) => *scalar,
            other => other.is_no("scalar"),
        }
    }

    pub(super) fn as_int(&self) -> i64 {
        match self {
            Value::Scalar(ScalarValue::Int(value)) => *value,
            other => other.is_no("int"),
        }
    }

    pub(super) fn as_bool(&self) -> bool {
        match self {
            Value::Scalar(ScalarValue::Bool(value)) => *value,
            other => other.is_no("bool"),
        }
    }

    fn as_char(&self) -> u8 {
        match self {
            Value::Scalar(ScalarValue::Char(code)) => *code,
            other => other.is_no("char"),
        }
    }

    pub(super) fn as_pair(&self) -> (&Value, &Value) {
        match self {
            Value::Pair(first, rest) => (first, rest),
            other => other.is_no("pair"),
        }
    }

    pub(super) fn as_function(&self) -> &Closure {
        match self {
            Value::Function(closure) => closure,
            other => other.is_no("function"),
        }
    }

    pub(super) fn as_sequence(&self) -> &Arc<Vec<Value>> {
        match self {
            Value::Sequence(elements) => elements,
            other => other.is_no("sequence"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_print_as_they_are_written() {
        let ints = |values: &[i64]| Value::sequence(values.iter().copied().map(Value::int));
        let int_sequence = Type::sequence(Type::INT);
        assert_eq!(Value::int(-5).text(&Type::INT), "-5");
        assert_eq!(Value::float(2.0).text(&Type::FLOAT), "2.0");
        assert_eq!(Value::bool(true).text(&Type::BOOL), "t");
        assert_eq!(Value::char(b'a').text(&Type::CHAR), "`a");
        assert_eq!(ints(&[1, 2]).text(&int_sequence), "[1, 2]");
        assert_eq!(ints(&[]).text(&int_sequence), "[]");
        let string = Type::sequence(Type::CHAR);
        assert_eq!(Value::string("a\"b").text(&string), r#""a\"b""#);
        assert_eq!(Value::string("").text(&string), "\"\"");
        let strings = Value::sequence([Value::string("ab"), Value::string("")]);
        assert_eq!(strings.text(&Type::sequence(string)), "[\"ab\", \"\"]");
        let nested = Value::sequence([ints(&[1]), ints(&[])]);
        assert_eq!(nested.text(&Type::sequence(int_sequence)), "[[1], []]");
    }

    #[test]
    fn only_right_nested_pairs_print_flat() {
        let (one, two, three) = (Value::int(1), Value::int(2), Value::int(3));
        let right = Value::pair(one.clone(), Value::pair(two.clone(), three.clone()));
        let right_type = Type::pair(Type::INT, Type::pair(Type::INT, Type::INT));
        assert_eq!(right.text(&right_type), "(1, 2, 3)");
        let left = Value::pair(Value::pair(one, two), three);
        let left_type = Type::pair(Type::pair(Type::INT, Type::INT), Type::INT);
        assert_eq!(left.text(&left_type), "((1, 2), 3)");
    }

    #[test]
    fn floats_are_equal_by_their_bits() {
        assert_ne!(Value::float(0.0), Value::float(-0.0));
        assert_eq!(Value::float(f64::NAN), Value::float(-f64::NAN));
    }
}

//! Columns as plain data: constants of programs, parts of columns that leave an engine, what files hold.

use crate::value::{Element, ScalarType, ScalarValue};
use serde::{Deserialize, Serialize};

/// The elements of a constant column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Constants {
    /// Ints.
    Int(Vec<i64>),
    /// Floats.
    Float(Vec<f64>),
    /// Bools.
    Bool(Vec<bool>),
    /// Chars.
    Char(Vec<u8>),
}

impl Constants {
    /// A constant column from scalars of one type.
    ///
    /// # Panics
    /// If a value is not of that type.
    pub fn from_scalars(scalar_type: ScalarType, values: &[ScalarValue]) -> Constants {
        fn collect<T: Element>(values: &[ScalarValue]) -> Vec<T> {
            values.iter().map(|&value| T::from_value(value)).collect()
        }
        match scalar_type {
            ScalarType::Int => Constants::Int(collect(values)),
            ScalarType::Float => Constants::Float(collect(values)),
            ScalarType::Bool => Constants::Bool(collect(values)),
            ScalarType::Char => Constants::Char(collect(values)),
        }
    }

    /// The scalar type of the elements.
    pub fn scalar_type(&self) -> ScalarType {
        match self {
            Constants::Int(_) => ScalarType::Int,
            Constants::Float(_) => ScalarType::Float,
            Constants::Bool(_) => ScalarType::Bool,
            Constants::Char(_) => ScalarType::Char,
        }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        match self {
            Constants::Int(values) => values.len(),
            Constants::Float(values) => values.len(),
            Constants::Bool(values) => values.len(),
            Constants::Char(values) => values.len(),
        }
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Element `index`.
    pub fn get(&self, index: usize) -> ScalarValue {
        match self {
            Constants::Int(values) => ScalarValue::Int(values[index]),
            Constants::Float(values) => ScalarValue::Float(values[index]),
            Constants::Bool(values) => ScalarValue::Bool(values[index]),
            Constants::Char(values) => ScalarValue::Char(values[index]),
        }
    }
}

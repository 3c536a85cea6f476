//! Columns as plain data: constants of programs, parts of columns that leave an engine, what files hold.

use crate::value::{Element, ScalarType, ScalarValue};
use serde::{Deserialize, Serialize};
use std::any::Any;

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

    /// Adds a value.
    ///
    /// # Panics
    /// If it is not of the type of the elements.
    pub fn push(&mut self, value: ScalarValue) {
        match self {
            Constants::Int(elements) => elements.push(i64::from_value(value)),
            Constants::Float(elements) => elements.push(f64::from_value(value)),
            Constants::Bool(elements) => elements.push(bool::from_value(value)),
            Constants::Char(elements) => elements.push(u8::from_value(value)),
        }
    }

    /// Adds the elements of another column of the same type.
    ///
    /// # Panics
    /// If the types differ.
    pub fn extend(&mut self, more: &Constants) {
        match self {
            Constants::Int(elements) => elements.extend_from_slice(more.elements()),
            Constants::Float(elements) => elements.extend_from_slice(more.elements()),
            Constants::Bool(elements) => elements.extend_from_slice(more.elements()),
            Constants::Char(elements) => elements.extend_from_slice(more.elements()),
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

    /// The elements, of a type that is known.
    ///
    /// # Panics
    /// If it is another: the verifier excludes that, and so do the rows of operations on the world outside.
    pub fn elements<T: Element>(&self) -> &[T] {
        let elements: &dyn Any = match self {
            Constants::Int(values) => values,
            Constants::Float(values) => values,
            Constants::Bool(values) => values,
            Constants::Char(values) => values,
        };
        match elements.downcast_ref::<Vec<T>>() {
            Some(elements) => elements,
            None => panic!("expected a column of {}, found {}: unverified program", T::TYPE, self.scalar_type()),
        }
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements as words, each as [`Element::to_word`] says.
    pub fn to_words(&self) -> Vec<u64> {
        fn collect<T: Element>(values: &[T]) -> Vec<u64> {
            values.iter().map(|value| value.to_word()).collect()
        }
        match self {
            Constants::Int(values) => collect(values),
            Constants::Float(values) => collect(values),
            Constants::Bool(values) => collect(values),
            Constants::Char(values) => collect(values),
        }
    }

    /// Adds elements that are given as words.
    pub fn extend_from_words(&mut self, words: &[u64]) {
        fn extend<T: Element>(values: &mut Vec<T>, words: &[u64]) {
            values.extend(words.iter().map(|&word| T::from_word(word)));
        }
        match self {
            Constants::Int(values) => extend(values, words),
            Constants::Float(values) => extend(values, words),
            Constants::Bool(values) => extend(values, words),
            Constants::Char(values) => extend(values, words),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_back() {
        let columns = [
            Constants::Int(vec![-1, 5]),
            Constants::Float(vec![-0.0, 2.5]),
            Constants::Bool(vec![true, false]),
            Constants::Char(vec![b'a', 255]),
        ];
        for column in columns {
            let mut twice = column.clone();
            twice.extend_from_words(&column.to_words());
            let all: Vec<_> = (0..4).map(|index| twice.get(index)).collect();
            let expected: Vec<_> = [0, 1, 0, 1].map(|index| column.get(index)).to_vec();
            assert_eq!(all, expected);
        }
        assert_eq!(Constants::Bool(vec![true, false]).to_words(), [1, 0]);
    }
}

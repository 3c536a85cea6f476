//! The shape of a value: which registers hold it.
//!
//! | value | for one instance (serial) | for n instances (lifted) |
//! |---|---|---|
//! | scalar | a scalar register | a column of n |
//! | () | – | – |
//! | pair | the registers of its parts | the registers of its parts |
//! | record | the registers of its payload | the registers of its payload |
//! | function | the registers of what it captured | the registers of what it captured |
//! | sequence of e | its length, then e lifted over that many | a descriptor of n segments, then e lifted over its data |
//!
//! So `[[int]]` is, serially, `int, descriptor, column int`.

use crate::depth::nested;
use crate::register::RegisterType;
use nesl_prim::ScalarType;
use serde::{Deserialize, Serialize};

/// The shape of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Shape {
    /// A scalar.
    Scalar(ScalarType),
    /// `()`: no registers.
    Unit,
    /// A pair.
    Pair(#[serde(deserialize_with = "nested")] Box<Shape>, #[serde(deserialize_with = "nested")] Box<Shape>),
    /// A sequence of values of one shape.
    Sequence(#[serde(deserialize_with = "nested")] Box<Shape>),
    /// A record with the name of its datatype, and its payload.
    Record(String, #[serde(deserialize_with = "nested")] Box<Shape>),
    /// A function value, and what it captured if anything.
    Function(#[serde(deserialize_with = "nested")] Option<Box<Shape>>),
    /// An entry of the stack of a program in the CMU format: a column of such scalars, or else a descriptor.
    Entry(Option<ScalarType>),
}

impl Shape {
    /// The registers of one such value.
    pub fn serial(&self) -> Vec<RegisterType> {
        let mut registers = Vec::new();
        self.push(false, &mut registers);
        registers
    }

    /// The registers of n such values.
    pub fn lifted(&self) -> Vec<RegisterType> {
        let mut registers = Vec::new();
        self.push(true, &mut registers);
        registers
    }

    fn push(&self, lifted: bool, registers: &mut Vec<RegisterType>) {
        match self {
            Shape::Scalar(scalar) if lifted => registers.push(RegisterType::Column(*scalar)),
            Shape::Scalar(scalar) => registers.push(RegisterType::Scalar(*scalar)),
            Shape::Unit => {}
            Shape::Pair(first, rest) => {
                first.push(lifted, registers);
                rest.push(lifted, registers);
            }
            Shape::Sequence(element) => {
                registers.push(if lifted { RegisterType::Descriptor } else { RegisterType::Scalar(ScalarType::Int) });
                element.push(true, registers);
            }
            Shape::Record(_, payload) => payload.push(lifted, registers),
            Shape::Entry(Some(scalar)) => registers.push(RegisterType::Column(*scalar)),
            Shape::Entry(None) => registers.push(RegisterType::Descriptor),
            Shape::Function(captured) => {
                if let Some(captured) = captured {
                    captured.push(lifted, registers);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_of_nested_sequences_and_pairs() {
        let text = Shape::Sequence(Box::new(Shape::Scalar(ScalarType::Char)));
        let shape = Shape::Sequence(Box::new(Shape::Pair(Box::new(Shape::Scalar(ScalarType::Int)), Box::new(text))));
        assert_eq!(
            shape.serial(),
            [
                RegisterType::Scalar(ScalarType::Int),
                RegisterType::Column(ScalarType::Int),
                RegisterType::Descriptor,
                RegisterType::Column(ScalarType::Char),
            ]
        );
        assert_eq!(shape.lifted()[0], RegisterType::Descriptor);
    }
}

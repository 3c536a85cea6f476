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
use crate::layout::{Field, Holds};
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
}

impl Shape {
    /// The registers of such values.
    pub fn fields(&self) -> Vec<Field> {
        Shape::all_fields(std::slice::from_ref(self))
    }

    /// The registers of values of several shapes, one after another.
    pub fn all_fields(shapes: &[Shape]) -> Vec<Field> {
        let mut fields = Vec::new();
        shapes.iter().for_each(|shape| shape.push(None, &mut fields));
        fields
    }

    /// The scalars and sequences that it consists of, outside of other sequences: their registers one after another are
    /// its own.
    pub fn parts(&self) -> Vec<&Shape> {
        match self {
            Shape::Scalar(_) | Shape::Sequence(_) => vec![self],
            Shape::Unit | Shape::Function(None) => Vec::new(),
            Shape::Pair(first, rest) => [first.parts(), rest.parts()].concat(),
            Shape::Record(_, inner) | Shape::Function(Some(inner)) => inner.parts(),
        }
    }

    /// The number of registers.
    pub fn width(&self) -> usize {
        match self {
            Shape::Scalar(_) => 1,
            Shape::Unit | Shape::Function(None) => 0,
            Shape::Pair(first, rest) => first.width() + rest.width(),
            Shape::Sequence(element) => 1 + element.width(),
            Shape::Record(_, inner) | Shape::Function(Some(inner)) => inner.width(),
        }
    }

    /// The registers of one such value.
    pub fn serial(&self) -> Vec<RegisterType> {
        self.fields().into_iter().map(Field::serial).collect()
    }

    /// The registers of n such values.
    pub fn lifted(&self) -> Vec<RegisterType> {
        self.fields().into_iter().map(Field::lifted).collect()
    }

    fn push(&self, parent: Option<usize>, fields: &mut Vec<Field>) {
        match self {
            Shape::Scalar(scalar) => fields.push(Field { holds: Holds::Scalars(*scalar), parent }),
            Shape::Unit | Shape::Function(None) => {}
            Shape::Pair(first, rest) => {
                first.push(parent, fields);
                rest.push(parent, fields);
            }
            Shape::Sequence(element) => {
                fields.push(Field { holds: Holds::Sequences, parent });
                element.push(Some(fields.len() - 1), fields);
            }
            Shape::Record(_, inner) | Shape::Function(Some(inner)) => inner.push(parent, fields),
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
        let pairs =
            Shape::Pair(Box::new(shape.clone()), Box::new(Shape::Record("r".to_owned(), Box::new(shape.clone()))));
        assert_eq!((pairs.parts(), Shape::Unit.parts()), (vec![&shape, &shape], vec![]));
        let parents = Shape::all_fields(&[shape.clone(), shape]).into_iter().map(|field| field.parent);
        assert_eq!(parents.collect::<Vec<_>>(), [None, Some(0), Some(0), Some(2), None, Some(4), Some(4), Some(6)]);
    }
}

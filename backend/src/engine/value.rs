//! Values of a program in the registers of an engine.

use super::{Columns, Engine, Fault};
use crate::data::slot::Slot;
use nesl_prim::{Constants, ScalarType, ScalarValue};
use nesl_vcode::Shape;

/// What a register of an engine's machine holds.
pub type SlotOf<E> = Slot<<E as Columns>::Column, <E as Columns>::Descriptor>;

/// A value of some shape.
pub struct Value<E: Engine> {
    /// Its shape.
    pub shape: Shape,
    /// What its registers hold, in the order of [`Shape::serial`].
    pub slots: Vec<SlotOf<E>>,
    /// How it is shown.
    pub notation: Notation,
}

/// How a value is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// As NESL writes it.
    Nesl,
    /// A sequence of scalars as CMU's interpreter shows a vector on its stack: `( 1 2 )`.
    Vector,
    /// The lengths of segments as it shows a descriptor: `[ 2 1 ]`.
    Segments,
}

impl<E: Engine> Value<E> {
    /// A value, to be shown as NESL writes it.
    pub fn new(shape: Shape, slots: Vec<SlotOf<E>>) -> Value<E> {
        Value { shape, slots, notation: Notation::Nesl }
    }

    /// An entry of the stack of a program in the CMU format, from its register.
    ///
    /// # Errors
    /// [`nesl_prim::Failure::OutOfMemory`].
    pub fn of_entry(engine: &mut E, slot: SlotOf<E>, scalar: ScalarType) -> Result<Value<E>, Fault> {
        let (column, notation) = match slot {
            Slot::Column(column) => (column, Notation::Vector),
            Slot::Descriptor(segments) => (engine.lengths(&segments)?, Notation::Segments),
            Slot::Scalar(value) => (engine.constants(&Constants::from_scalars(scalar, &[value]))?, Notation::Vector),
        };
        let length = ScalarValue::Int(engine.length(&column) as i64);
        let shape = Shape::Sequence(Box::new(Shape::Scalar(scalar)));
        Ok(Value { shape, slots: vec![Slot::Scalar(length), Slot::Column(column)], notation })
    }
}

impl<E: Engine> Clone for Value<E> {
    fn clone(&self) -> Value<E> {
        Value { shape: self.shape.clone(), slots: self.slots.clone(), notation: self.notation }
    }
}

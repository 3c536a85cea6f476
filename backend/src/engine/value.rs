//! Values of a program in the registers of an engine.

use super::{Columns, Engine};
use crate::data::slot::Slot;
use nesl_vcode::Shape;

/// What a register of an engine's machine holds.
pub type SlotOf<E> = Slot<<E as Columns>::Column, <E as Columns>::Descriptor>;

/// A value of some shape.
pub struct Value<E: Engine> {
    /// Its shape.
    pub shape: Shape,
    /// What its registers hold, in the order of [`Shape::serial`].
    pub slots: Vec<SlotOf<E>>,
}

impl<E: Engine> Clone for Value<E> {
    fn clone(&self) -> Value<E> {
        Value { shape: self.shape.clone(), slots: self.slots.clone() }
    }
}

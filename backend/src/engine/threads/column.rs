//! Columns by Rust element type: the way from a vector to a slice and back inside generic loops.
//!
//! The visitors of scalar operations know their types only as [`Element`]s, one of the four that a [`Vector`] holds.

use crate::data::vector::{Slice, Vector};
use nesl_prim::Element;

/// The slice in a vector.
///
/// # Panics
/// If the vector is of another type: the verifier excludes that.
pub fn slice_of<T: Element>(vector: &Vector) -> &Slice<T> {
    vector.slice_of_any()
}

/// The slice in a vector, if it is of this type, to be overwritten.
pub fn slice_of_mut<T: Element>(vector: &mut Vector) -> Option<&mut Slice<T>> {
    vector.slice_of_any_mut()
}

/// The slice in a vector that is to be overwritten.
///
/// # Panics
/// If the vector is of another type: the verifier excludes that.
pub fn slice_in<T: Element>(vector: &mut Vector) -> &mut Slice<T> {
    slice_of_mut(vector).unwrap_or_else(|| panic!("expected a column of {}", T::TYPE))
}

/// The vector of a slice.
pub fn wrap<T: Element>(slice: Slice<T>) -> Vector {
    Vector::of_slice(slice)
}

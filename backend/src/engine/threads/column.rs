//! Columns by Rust element type: the way from a vector to a slice and back inside generic loops.
//!
//! The visitors of scalar operations know their types only as [`Element`]s, one of the four that a [`Vector`] holds.

use crate::data::vector::{Slice, Vector, VectorElement};
use crate::on_vector;
use nesl_prim::Element;
use std::any::Any;

/// The slice in a vector.
///
/// # Panics
/// If the vector is of another type: the verifier excludes that.
pub fn slice_of<T: Element>(vector: &Vector) -> &Slice<T> {
    let slice: &dyn Any = on_vector!(vector, slice => slice);
    slice.downcast_ref().unwrap_or_else(|| panic!("expected a column of {}, found {}", T::TYPE, vector.scalar_type()))
}

/// The slice in a vector, if it is of this type, to be overwritten.
pub fn slice_of_mut<T: Element>(vector: &mut Vector) -> Option<&mut Slice<T>> {
    let slice: &mut dyn Any = on_vector!(vector, slice => slice);
    slice.downcast_mut()
}

/// The vector of a slice.
pub fn wrap<T: Element>(slice: Slice<T>) -> Vector {
    fn as_vector<T: VectorElement>(slice: &mut dyn Any) -> Option<Vector> {
        slice.downcast_mut::<Option<Slice<T>>>().and_then(Option::take).map(T::wrap)
    }
    let mut slice = Some(slice);
    let slice: &mut dyn Any = &mut slice;
    as_vector::<i64>(slice)
        .or_else(|| as_vector::<f64>(slice))
        .or_else(|| as_vector::<bool>(slice))
        .or_else(|| as_vector::<u8>(slice))
        .unwrap_or_else(|| unreachable!("elements are ints, floats, bools or chars"))
}

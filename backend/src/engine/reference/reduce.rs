//! Reductions, of whole columns and of each segment.

use super::fold::{Pass, fold};
use crate::data::buffer::Meter;
use crate::data::descriptor::Descriptor;
use crate::data::vector::Vector;
use crate::on_vector;
use nesl_prim::{Element, Failure, ScalarOp, ScalarValue};
use std::sync::Arc;

/// All elements combined; the identity if there are none.
pub(super) fn reduce(op: ScalarOp, column: &Vector) -> ScalarValue {
    on_vector!(column, slice => {
        let elements = slice.elements();
        let mut out = Vec::with_capacity(1);
        fold(op, Pass::Reduce, elements, &mut [(0, elements.len())].into_iter(), &mut out);
        out[0].to_value()
    })
}

/// One element for each segment, as [`reduce`] would give it.
pub(super) fn seg_reduce(
    meter: &Arc<Meter>,
    op: ScalarOp,
    column: &Vector,
    descriptor: &Descriptor,
) -> Result<Vector, Failure> {
    on_vector!(column, slice => {
        let mut out = meter.reserve(descriptor.segments())?;
        fold(op, Pass::Reduce, slice.elements(), &mut descriptor.iter(), &mut out);
        Ok(Vector::new(meter, out))
    })
}

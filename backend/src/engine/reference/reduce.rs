//! Reductions, of whole columns and of each segment.

use super::fold::{Pass, fold};
use crate::data::buffer::Meter;
use crate::data::descriptor::Descriptor;
use crate::data::vector::Vector;
use crate::on_vector;
use nesl_prim::{Element, Extreme, Failure, ScalarOp, ScalarValue};
use std::ops::Range;
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

/// The index of the extreme element among some of a column, from the first of these on.
pub(super) fn reduce_index(op: ScalarOp, column: &Vector, range: Range<usize>) -> i64 {
    let elements = range.zip(0..).map(|(place, index)| Extreme { value: column.get(place), index });
    elements.fold(Extreme::none(op.identity()), |before, one| before.then_by(op, one)).index
}

/// The same of each segment.
pub(super) fn seg_reduce_index(
    meter: &Arc<Meter>,
    op: ScalarOp,
    column: &Vector,
    descriptor: &Descriptor,
) -> Result<Vector, Failure> {
    let mut out = meter.reserve(descriptor.segments())?;
    out.extend(descriptor.iter().map(|(start, length)| reduce_index(op, column, start..start + length)));
    Ok(Vector::new(meter, out))
}

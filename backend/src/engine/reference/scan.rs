//! Exclusive scans, of whole columns and of each segment.

use super::fold::{Pass, fold};
use crate::data::buffer::Meter;
use crate::data::descriptor::Descriptor;
use crate::data::vector::Vector;
use crate::on_vector;
use nesl_prim::{Failure, ScalarOp};
use std::sync::Arc;

/// Element k combines the elements before k: of the whole column, or of the segment that it is in.
pub(super) fn run(
    meter: &Arc<Meter>,
    op: ScalarOp,
    column: &Vector,
    descriptor: Option<&Descriptor>,
) -> Result<Vector, Failure> {
    match descriptor {
        None => whole(meter, op, column),
        Some(descriptor) => by_segment(meter, op, column, descriptor),
    }
}

/// Element k combines the elements before k; element 0 is the identity.
fn whole(meter: &Arc<Meter>, op: ScalarOp, column: &Vector) -> Result<Vector, Failure> {
    on_vector!(column, slice => {
        let elements = slice.elements();
        let mut out = meter.reserve(elements.len())?;
        fold(op, Pass::Scan, elements, &mut [(0, elements.len())].into_iter(), &mut out);
        Ok(Vector::new(meter, out))
    })
}

/// The scan of each segment, in packed order.
fn by_segment(meter: &Arc<Meter>, op: ScalarOp, column: &Vector, descriptor: &Descriptor) -> Result<Vector, Failure> {
    on_vector!(column, slice => {
        let mut out = meter.reserve(descriptor.total()?)?;
        fold(op, Pass::Scan, slice.elements(), &mut descriptor.iter(), &mut out);
        Ok(Vector::new(meter, out))
    })
}

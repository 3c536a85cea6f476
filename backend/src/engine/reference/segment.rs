//! Instructions that write the elements of segments in packed order, `seg_iota`, `seg_dist`, `compact`, `append`,
//! or over them: `seg_scatter`.

use crate::data::buffer::Meter;
use crate::data::descriptor::Descriptor;
use crate::data::vector::{Slice, Vector, VectorElement};
use crate::engine::{Fault, Segment};
use crate::on_vector;
use nesl_prim::Failure;
use std::sync::Arc;

/// Elements moved by segments.
pub(super) fn run(meter: &Arc<Meter>, segment: Segment<'_, Vector, Descriptor>) -> Result<Vector, Fault> {
    segment.check();
    match segment {
        Segment::Iota(descriptor) => Ok(seg_iota(meter, descriptor)?),
        Segment::Dist(column, descriptor) => Ok(seg_dist(meter, column, descriptor)?),
        Segment::Compact(column, descriptor) => Ok(compact(meter, column, descriptor)?),
        Segment::Append(first, second) => Ok(append(meter, first, second)?),
        Segment::Scatter(column, descriptor, values) => Ok(seg_scatter(meter, column, descriptor, values)?),
    }
}

/// 0, 1, …, length-1 for each segment.
fn seg_iota(meter: &Arc<Meter>, descriptor: &Descriptor) -> Result<Vector, Failure> {
    let mut out = meter.reserve(descriptor.total()?)?;
    for (_, length) in descriptor.iter() {
        for index in 0..length {
            out.push(index as i64);
        }
    }
    Ok(Vector::new(meter, out))
}

/// Element j of the column once for each element of segment j.
fn seg_dist(meter: &Arc<Meter>, column: &Vector, descriptor: &Descriptor) -> Result<Vector, Failure> {
    fn of<T: VectorElement>(meter: &Arc<Meter>, elements: &[T], descriptor: &Descriptor) -> Result<Vector, Failure> {
        let mut out = meter.reserve(descriptor.total()?)?;
        for (&element, (_, length)) in elements.iter().zip(descriptor.iter()) {
            out.resize(out.len() + length, element);
        }
        Ok(Vector::new(meter, out))
    }
    on_vector!(column, slice => of(meter, slice.elements(), descriptor))
}

/// The elements of all segments; the column itself where they already lie so.
fn compact(meter: &Arc<Meter>, column: &Vector, descriptor: &Descriptor) -> Result<Vector, Failure> {
    fn of<T: VectorElement>(meter: &Arc<Meter>, elements: &[T], descriptor: &Descriptor) -> Result<Vector, Failure> {
        let mut out = meter.reserve(descriptor.total()?)?;
        for (start, length) in descriptor.iter() {
            out.extend_from_slice(&elements[start..start + length]);
        }
        Ok(Vector::new(meter, out))
    }
    if descriptor.is_packed() {
        return Ok(column.clone());
    }
    on_vector!(column, slice => of(meter, slice.elements(), descriptor))
}

/// Segment 0 of the first then of the second, segment 1 of the first then of the second, ….
fn append(
    meter: &Arc<Meter>,
    first: (&Descriptor, &Vector),
    second: (&Descriptor, &Vector),
) -> Result<Vector, Failure> {
    fn of<T: VectorElement>(
        meter: &Arc<Meter>,
        (left, left_elements): (&Descriptor, &[T]),
        (right, right_elements): (&Descriptor, &[T]),
    ) -> Result<Vector, Failure> {
        let mut out = meter.reserve(super::sum_of_lengths([left.total()?, right.total()?].into_iter())?)?;
        for ((left_start, left_length), (right_start, right_length)) in left.iter().zip(right.iter()) {
            out.extend_from_slice(&left_elements[left_start..left_start + left_length]);
            out.extend_from_slice(&right_elements[right_start..right_start + right_length]);
        }
        Ok(Vector::new(meter, out))
    }
    on_vector!(first.1, slice => of(meter, (first.0, slice.elements()), (second.0, second.1.elements())))
}

/// The column with the values, in packed order, over the segments. Nobody else can see a column that dies here: it is
/// overwritten, so that the cost is the number of values.
fn seg_scatter(
    meter: &Arc<Meter>,
    column: Vector,
    descriptor: &Descriptor,
    values: &Vector,
) -> Result<Vector, Failure> {
    fn write<T: VectorElement>(elements: &mut [T], descriptor: &Descriptor, mut values: &[T]) {
        for (start, length) in descriptor.iter() {
            let (here, further) = values.split_at(length);
            elements[start..start + length].copy_from_slice(here);
            values = further;
        }
    }
    fn of<T: VectorElement>(
        meter: &Arc<Meter>,
        mut column: Slice<T>,
        descriptor: &Descriptor,
        values: &[T],
    ) -> Result<Vector, Failure> {
        // Starts of a packed descriptor are computed here, if there is memory.
        descriptor.starts()?;
        if let Some(elements) = column.unique() {
            write(elements, descriptor, values);
            return Ok(T::wrap(column));
        }
        let mut copy = meter.reserve(column.elements().len())?;
        copy.extend_from_slice(column.elements());
        write(&mut copy, descriptor, values);
        Ok(Vector::new(meter, copy))
    }
    on_vector!(column, slice => of(meter, slice, descriptor, values.elements()))
}

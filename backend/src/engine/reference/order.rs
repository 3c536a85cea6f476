//! Elements in order, and where they are in it: `sort_up`, `rank_up` and their segmented and descending kin.

use crate::data::buffer::Meter;
use crate::data::descriptor::Descriptor;
use crate::data::vector::{Vector, VectorElement};
use crate::engine::{Fault, Order};
use crate::on_vector;
use nesl_prim::{Direction, Failure};
use std::sync::Arc;

/// Elements in order, or their places in it.
pub(super) fn run(
    meter: &Arc<Meter>,
    order: Order,
    direction: Direction,
    column: &Vector,
    descriptor: Option<&Descriptor>,
) -> Result<Vector, Fault> {
    match (order, descriptor) {
        (Order::Sort, None) => Ok(sort(meter, direction, column)?),
        (Order::Sort, Some(descriptor)) => Ok(seg_sort(meter, direction, column, descriptor)?),
        (Order::Rank, None) => Ok(ranks_of(meter, direction, column)?),
        (Order::Rank, Some(descriptor)) => Ok(seg_ranks(meter, direction, column, descriptor)?),
    }
}

/// The elements in order.
fn sort(meter: &Arc<Meter>, direction: Direction, column: &Vector) -> Result<Vector, Failure> {
    on_vector!(column, slice => {
        let mut out = meter.reserve(column.len())?;
        push_sorted(&mut out, direction, slice.elements());
        Ok(Vector::new(meter, out))
    })
}

/// The elements of each segment in order.
fn seg_sort(
    meter: &Arc<Meter>,
    direction: Direction,
    column: &Vector,
    descriptor: &Descriptor,
) -> Result<Vector, Failure> {
    on_vector!(column, slice => {
        let mut out = meter.reserve(descriptor.total()?)?;
        for (start, length) in descriptor.iter() {
            push_sorted(&mut out, direction, &slice.elements()[start..start + length]);
        }
        Ok(Vector::new(meter, out))
    })
}

fn push_sorted<T: VectorElement>(out: &mut Vec<T>, direction: Direction, elements: &[T]) {
    let start = out.len();
    out.extend_from_slice(elements);
    out[start..].sort_by_key(|&element| direction.key(element));
}

/// The position of each element in the order of all.
fn ranks_of(meter: &Arc<Meter>, direction: Direction, column: &Vector) -> Result<Vector, Failure> {
    let mut out = meter.reserve(column.len())?;
    on_vector!(column, slice => push_ranks(&mut out, direction, slice.elements()));
    Ok(Vector::new(meter, out))
}

/// The position of each element in the order of its segment.
fn seg_ranks(
    meter: &Arc<Meter>,
    direction: Direction,
    column: &Vector,
    descriptor: &Descriptor,
) -> Result<Vector, Failure> {
    let mut out = meter.reserve(descriptor.total()?)?;
    for (start, length) in descriptor.iter() {
        on_vector!(column, slice => push_ranks(&mut out, direction, &slice.elements()[start..start + length]));
    }
    Ok(Vector::new(meter, out))
}

fn push_ranks<T: VectorElement>(out: &mut Vec<i64>, direction: Direction, elements: &[T]) {
    let mut order: Vec<usize> = (0..elements.len()).collect();
    order.sort_by_key(|&index| direction.key(elements[index]));
    let start = out.len();
    out.resize(start + elements.len(), 0);
    for (rank, index) in order.into_iter().enumerate() {
        out[start + index] = rank as i64;
    }
}

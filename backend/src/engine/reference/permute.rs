//! Moving elements to and from computed places: `gather`, `scatter`, `combine_by_index`, `permute`.

use super::position;
use crate::data::buffer::Meter;
use crate::data::vector::{Slice, Vector, VectorElement};
use crate::engine::{Fault, Permute};
use crate::on_vector;
use nesl_prim::{Failure, ScalarOp};
use std::sync::Arc;

/// Elements moved by indices.
pub(super) fn run(meter: &Arc<Meter>, permute: Permute<'_, Vector>) -> Result<Vector, Fault> {
    permute.check();
    match permute {
        Permute::Slice(column, start, length) => Ok(column.slice(start, length)),
        Permute::Gather(column, indices) => Ok(gather(meter, column, indices)?),
        Permute::Scatter(column, indices, values) => Ok(scatter(meter, column, indices, values)?),
        Permute::Combine(op, column, indices, values) => Ok(combine(meter, op, column, indices, values)?),
        Permute::Permute(values, indices) => self::permute(meter, values, indices),
    }
}

/// Element k of the result is element `indices[k]` of the column.
fn gather(meter: &Arc<Meter>, column: &Vector, indices: &Vector) -> Result<Vector, Failure> {
    fn of<T: VectorElement>(meter: &Arc<Meter>, elements: &[T], indices: &[i64]) -> Result<Vector, Failure> {
        let mut out = meter.reserve(indices.len())?;
        for &index in indices {
            out.push(elements[position(index, elements.len())]);
        }
        Ok(Vector::new(meter, out))
    }
    on_vector!(column, slice => of(meter, slice.elements(), indices.elements()))
}

/// The column with `values[k]` written at `indices[k]`, in the order of k: the last of equal indices wins. Nobody else
/// can see a column that dies here: it is overwritten, so that the cost is the number of writes.
fn scatter(meter: &Arc<Meter>, column: Vector, indices: &Vector, values: &Vector) -> Result<Vector, Failure> {
    on_vector!(column, slice => written(meter, slice, indices, values, |_, value| Ok(value)))
}

/// The column with `values[k]` combined into element `indices[k]`, in the order of k.
fn combine(
    meter: &Arc<Meter>,
    op: ScalarOp,
    column: Vector,
    indices: &Vector,
    values: &Vector,
) -> Result<Vector, Failure> {
    fn both<T: VectorElement>(op: ScalarOp, element: T, value: T) -> Result<T, Failure> {
        nesl_prim::eval(op, &[element.to_value(), value.to_value()]).map(T::from_value)
    }
    on_vector!(column, slice => written(meter, slice, indices, values, |element, value| both(op, element, value)))
}

/// The column with what becomes of an element and `values[k]` written at `indices[k]`, in the order of k.
fn written<T: VectorElement>(
    meter: &Arc<Meter>,
    mut column: Slice<T>,
    indices: &Vector,
    values: &Vector,
    becomes: impl Fn(T, T) -> Result<T, Failure>,
) -> Result<Vector, Failure> {
    let write = |elements: &mut [T]| -> Result<(), Failure> {
        for (&index, &value) in indices.elements().iter().zip(values.elements()) {
            let place = position(index, elements.len());
            elements[place] = becomes(elements[place], value)?;
        }
        Ok(())
    };
    if let Some(elements) = column.unique() {
        write(elements)?;
        return Ok(T::wrap(column));
    }
    let mut copy = meter.reserve(column.elements().len())?;
    copy.extend_from_slice(column.elements());
    write(&mut copy)?;
    Ok(Vector::new(meter, copy))
}

/// Element k of the values at position `indices[k]`. Fails on the first element whose place is taken.
fn permute(meter: &Arc<Meter>, values: &Vector, indices: &Vector) -> Result<Vector, Fault> {
    fn of<T: VectorElement>(meter: &Arc<Meter>, values: &[T], indices: &[i64]) -> Result<Vector, Fault> {
        let mut taken = meter.reserve(values.len())?;
        taken.resize(values.len(), false);
        let mut out = meter.reserve(values.len())?;
        out.resize(values.len(), T::default());
        for (element, (&index, &value)) in indices.iter().zip(values).enumerate() {
            let place = position(index, values.len());
            if taken[place] {
                return Err(Fault { failure: Failure::NotAPermutation { index }, element });
            }
            taken[place] = true;
            out[place] = value;
        }
        Ok(Vector::new(meter, out))
    }
    on_vector!(values, slice => of(meter, slice.elements(), indices.elements()))
}

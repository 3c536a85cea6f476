//! Choosing and joining elements in order: `pack`, `merge`, `concat`, `interleave`.

use super::sum_of_lengths;
use crate::data::buffer::Meter;
use crate::data::vector::{Slice, Vector, VectorElement};
use crate::engine::{Fault, Pack};
use crate::on_vector;
use nesl_prim::Failure;
use std::sync::Arc;

/// Elements kept, or columns put together.
pub(super) fn run(meter: &Arc<Meter>, pack: Pack<'_, Vector>) -> Result<Vector, Fault> {
    pack.check();
    match pack {
        Pack::Pack(column, flags) => Ok(self::pack(meter, column, flags)?),
        Pack::Merge(flags, when_true, when_false) => Ok(merge(meter, flags, when_true, when_false)?),
        Pack::Concat(columns) => Ok(concat(meter, columns)?),
        Pack::Interleave(columns) => Ok(interleave(meter, columns)?),
    }
}

/// The elements whose flag is true.
fn pack(meter: &Arc<Meter>, column: &Vector, flags: &Vector) -> Result<Vector, Failure> {
    fn of<T: VectorElement>(meter: &Arc<Meter>, elements: &[T], flags: &[bool]) -> Result<Vector, Failure> {
        let mut out = meter.reserve(flags.iter().filter(|&&flag| flag).count())?;
        for (&element, &flag) in elements.iter().zip(flags) {
            if flag {
                out.push(element);
            }
        }
        Ok(Vector::new(meter, out))
    }
    on_vector!(column, slice => of(meter, slice.elements(), flags.elements()))
}

/// Where the flag is true the next element of one column, else the next of the other.
fn merge(meter: &Arc<Meter>, flags: &Vector, when_true: &Vector, when_false: &Vector) -> Result<Vector, Failure> {
    fn of<T: VectorElement>(
        meter: &Arc<Meter>,
        flags: &[bool],
        when_true: &[T],
        when_false: &[T],
    ) -> Result<Vector, Failure> {
        let mut out = meter.reserve(flags.len())?;
        let (mut trues, mut falses) = (when_true.iter(), when_false.iter());
        for &flag in flags {
            let next = if flag { trues.next() } else { falses.next() };
            out.push(*next.expect("a merge has an element for each flag"));
        }
        assert!(trues.len() + falses.len() == 0, "a merge of more elements than flags");
        Ok(Vector::new(meter, out))
    }
    on_vector!(when_true, slice => of(meter, flags.elements(), slice.elements(), when_false.elements()))
}

/// The columns one after another.
fn concat(meter: &Arc<Meter>, columns: &[Vector]) -> Result<Vector, Failure> {
    fn of<T: VectorElement>(meter: &Arc<Meter>, columns: &[&[T]]) -> Result<Vector, Failure> {
        let mut out = meter.reserve(sum_of_lengths(columns.iter().map(|column| column.len()))?)?;
        for column in columns {
            out.extend_from_slice(column);
        }
        Ok(Vector::new(meter, out))
    }
    on_vector!(&columns[0], first => of(meter, &alike(first, columns)))
}

/// Element 0 of each column, then element 1 of each, ….
fn interleave(meter: &Arc<Meter>, columns: &[Vector]) -> Result<Vector, Failure> {
    fn of<T: VectorElement>(meter: &Arc<Meter>, columns: &[&[T]]) -> Result<Vector, Failure> {
        let length = columns[0].len();
        let mut out = meter.reserve(sum_of_lengths(columns.iter().map(|column| column.len()))?)?;
        for index in 0..length {
            for column in columns {
                out.push(column[index]);
            }
        }
        Ok(Vector::new(meter, out))
    }
    on_vector!(&columns[0], first => of(meter, &alike(first, columns)))
}

/// The elements of columns that all have the type of the first.
fn alike<'a, T: VectorElement>(_first: &Slice<T>, columns: &'a [Vector]) -> Vec<&'a [T]> {
    columns.iter().map(Vector::elements).collect()
}

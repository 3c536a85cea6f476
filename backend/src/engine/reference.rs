//! The reference engine: the executable meaning of VCODE.
//!
//! One simple loop per instruction, single-threaded, in plain order. Other engines are right when they give the same
//! bits and the same errors. Loops are grouped by class: `elementwise`, `permute`, `pack`, `scan`, `segment`. What an
//! instruction requires of its operands was checked by instructions before it; operands that break those rules are a
//! bug of the compiler, and end in a panic.

mod elementwise;
mod order;
mod pack;
mod permute;
mod scan;
mod segment;
mod text;

use crate::data::buffer::Meter;
use crate::data::descriptor::Descriptor;
use crate::data::vector::Vector;
use crate::engine::{Engine, Fault, MapOperand};
use nesl_prim::{Direction, Failure, ScalarOp, ScalarType, ScalarValue};
use nesl_vcode::Constants;
use std::sync::Arc;

/// The engine that defines what instructions mean.
#[derive(Clone, Debug)]
pub struct Reference {
    meter: Arc<Meter>,
}

impl Reference {
    /// An engine that allows `limit` resident bytes in columns, or any number where it is none.
    pub fn new(limit: Option<u64>) -> Reference {
        Reference { meter: Meter::new(limit) }
    }
}

impl Engine for Reference {
    type Column = Vector;
    type Descriptor = Descriptor;
    type Local = Self;

    fn scalar_type(&self, column: &Vector) -> ScalarType {
        column.scalar_type()
    }

    fn length(&self, column: &Vector) -> usize {
        column.len()
    }

    fn meter(&self) -> Option<&Arc<Meter>> {
        Some(&self.meter)
    }

    fn constants(&mut self, constants: &Constants) -> Result<Vector, Fault> {
        Ok(Vector::from_constants(&self.meter, constants)?)
    }

    fn iota(&mut self, length: usize) -> Result<Vector, Fault> {
        Ok(elementwise::iota(&self.meter, length)?)
    }

    fn dist(&mut self, value: ScalarValue, length: usize) -> Result<Vector, Fault> {
        Ok(elementwise::dist(&self.meter, value, length)?)
    }

    fn map(&mut self, op: ScalarOp, operands: Vec<MapOperand<Vector>>) -> Result<Vector, Fault> {
        elementwise::map(&self.meter, op, &operands)
    }

    fn extract(&mut self, column: &Vector, index: usize) -> Result<ScalarValue, Fault> {
        Ok(column.get(index))
    }

    fn slice(&mut self, column: &Vector, start: usize, length: usize) -> Result<Vector, Fault> {
        Ok(column.slice(start, length))
    }

    fn gather(&mut self, column: &Vector, indices: &Vector) -> Result<Vector, Fault> {
        Ok(permute::gather(&self.meter, column, indices)?)
    }

    fn scatter(&mut self, column: Vector, indices: &Vector, values: &Vector) -> Result<Vector, Fault> {
        Ok(permute::scatter(&self.meter, column, indices, values)?)
    }

    fn permute(&mut self, values: &Vector, indices: &Vector) -> Result<Vector, Fault> {
        permute::permute(&self.meter, values, indices)
    }

    fn pack(&mut self, column: &Vector, flags: &Vector) -> Result<Vector, Fault> {
        Ok(pack::pack(&self.meter, column, flags)?)
    }

    fn merge(&mut self, flags: &Vector, when_true: &Vector, when_false: &Vector) -> Result<Vector, Fault> {
        Ok(pack::merge(&self.meter, flags, when_true, when_false)?)
    }

    fn concat(&mut self, columns: &[Vector]) -> Result<Vector, Fault> {
        Ok(pack::concat(&self.meter, columns)?)
    }

    fn interleave(&mut self, columns: &[Vector]) -> Result<Vector, Fault> {
        Ok(pack::interleave(&self.meter, columns)?)
    }

    fn append(&mut self, first: (&Descriptor, &Vector), second: (&Descriptor, &Vector)) -> Result<Vector, Fault> {
        Ok(segment::append(&self.meter, first, second)?)
    }

    fn reduce(&mut self, op: ScalarOp, column: &Vector) -> Result<ScalarValue, Fault> {
        Ok(scan::reduce(op, column))
    }

    fn seg_reduce(&mut self, op: ScalarOp, column: &Vector, descriptor: &Descriptor) -> Result<Vector, Fault> {
        Ok(scan::seg_reduce(&self.meter, op, column, descriptor)?)
    }

    fn scan(&mut self, op: ScalarOp, column: &Vector) -> Result<Vector, Fault> {
        Ok(scan::scan(&self.meter, op, column)?)
    }

    fn seg_scan(&mut self, op: ScalarOp, column: &Vector, descriptor: &Descriptor) -> Result<Vector, Fault> {
        Ok(scan::seg_scan(&self.meter, op, column, descriptor)?)
    }

    fn sort(&mut self, direction: Direction, column: &Vector) -> Result<Vector, Fault> {
        Ok(order::sort(&self.meter, direction, column)?)
    }

    fn seg_sort(&mut self, direction: Direction, column: &Vector, descriptor: &Descriptor) -> Result<Vector, Fault> {
        Ok(order::seg_sort(&self.meter, direction, column, descriptor)?)
    }

    fn order(&mut self, direction: Direction, column: &Vector) -> Result<Vector, Fault> {
        Ok(order::order(&self.meter, direction, column)?)
    }

    fn seg_order(&mut self, direction: Direction, column: &Vector, descriptor: &Descriptor) -> Result<Vector, Fault> {
        Ok(order::seg_order(&self.meter, direction, column, descriptor)?)
    }

    fn text_lengths(&mut self, column: &Vector) -> Result<Vector, Fault> {
        Ok(text::lengths(&self.meter, column)?)
    }

    fn text(&mut self, column: &Vector) -> Result<Vector, Fault> {
        Ok(text::text(&self.meter, column)?)
    }

    fn parse_float(&mut self, column: &Vector, descriptor: &Descriptor) -> Result<Vector, Fault> {
        Ok(text::parse_float(&self.meter, column, descriptor)?)
    }

    fn seg_iota(&mut self, descriptor: &Descriptor) -> Result<Vector, Fault> {
        Ok(segment::seg_iota(&self.meter, descriptor)?)
    }

    fn seg_dist(&mut self, column: &Vector, descriptor: &Descriptor) -> Result<Vector, Fault> {
        Ok(segment::seg_dist(&self.meter, column, descriptor)?)
    }

    fn compact(&mut self, column: &Vector, descriptor: &Descriptor) -> Result<Vector, Fault> {
        Ok(segment::compact(&self.meter, column, descriptor)?)
    }

    one_process_methods!();
}

/// The position that an index operand means.
///
/// # Panics
/// If it is none of `length` elements: an earlier `check_index` excludes that.
fn position(index: i64, length: usize) -> usize {
    match usize::try_from(index) {
        Ok(position) if position < length => position,
        _ => panic!("unchecked index {index} of {length} elements"),
    }
}

/// The sum of lengths, as a number of elements to reserve.
fn sum_of_lengths(lengths: impl Iterator<Item = usize>) -> Result<usize, Failure> {
    let mut sum = 0usize;
    for length in lengths {
        sum = sum.checked_add(length).ok_or(Failure::OutOfMemory { bytes: u64::MAX })?;
    }
    Ok(sum)
}

//! The reference engine: the executable meaning of VCODE.
//!
//! One simple loop per instruction, single-threaded, in plain order. Other engines are right when they give the same
//! bits and the same errors. Loops are grouped by class, a file each, as in every engine. What an instruction requires
//! of its operands was checked by instructions before it; operands that break those rules are a bug of the compiler,
//! and end in a panic.

mod elementwise;
mod fold;
mod order;
mod pack;
mod permute;
mod reduce;
mod scan;
mod segment;
mod text;

use crate::data::buffer::Meter;
use crate::data::descriptor::Descriptor;
use crate::data::vector::Vector;
use crate::engine::{
    Addresses, Collective, Columns, Engine, Fault, Fill, MapOperand, Order, Pack, Permute, Scheduler, Segment, Text,
    Window,
};
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

one_process!(Reference);

impl Engine for Reference {
    fn fill(&mut self, fill: Fill) -> Result<Vector, Fault> {
        elementwise::run(&self.meter, fill)
    }

    fn map(&mut self, op: ScalarOp, operands: Vec<MapOperand<Vector>>) -> Result<Vector, Fault> {
        elementwise::map(&self.meter, op, &operands)
    }

    fn permute(&mut self, permute: Permute<'_, Vector>) -> Result<Vector, Fault> {
        permute::run(&self.meter, permute)
    }

    fn extract(&mut self, column: &Vector, index: usize) -> Result<ScalarValue, Fault> {
        Ok(column.get(index))
    }

    fn pack(&mut self, pack: Pack<'_, Vector>) -> Result<Vector, Fault> {
        pack::run(&self.meter, pack)
    }

    fn reduce(&mut self, op: ScalarOp, column: &Vector) -> Result<ScalarValue, Fault> {
        Ok(reduce::reduce(op, column))
    }

    fn reduce_index(&mut self, op: ScalarOp, column: &Vector) -> Result<i64, Fault> {
        Ok(reduce::reduce_index(op, column, 0..column.len()))
    }

    fn seg_reduce_index(&mut self, op: ScalarOp, column: &Vector, descriptor: &Descriptor) -> Result<Vector, Fault> {
        Ok(reduce::seg_reduce_index(&self.meter, op, column, descriptor)?)
    }

    fn seg_reduce(&mut self, op: ScalarOp, column: &Vector, descriptor: &Descriptor) -> Result<Vector, Fault> {
        Ok(reduce::seg_reduce(&self.meter, op, column, descriptor)?)
    }

    fn scan(&mut self, op: ScalarOp, column: &Vector, descriptor: Option<&Descriptor>) -> Result<Vector, Fault> {
        Ok(scan::run(&self.meter, op, column, descriptor)?)
    }

    fn order(
        &mut self,
        order: Order,
        direction: Direction,
        column: &Vector,
        descriptor: Option<&Descriptor>,
    ) -> Result<Vector, Fault> {
        order::run(&self.meter, order, direction, column, descriptor)
    }

    fn text(&mut self, text: Text<'_, Vector, Descriptor>) -> Result<Vector, Fault> {
        text::run(&self.meter, text)
    }

    fn segment(&mut self, segment: Segment<'_, Vector, Descriptor>) -> Result<Vector, Fault> {
        segment::run(&self.meter, segment)
    }
}

impl Addresses for Reference {
    fn meter(&self) -> Option<&Arc<Meter>> {
        Some(&self.meter)
    }

    fn allocated(&self) -> u64 {
        self.meter.allocated()
    }
}

impl Scheduler for Reference {}

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

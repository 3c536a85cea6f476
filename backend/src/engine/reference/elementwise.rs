//! Elementwise instructions, and the columns that start others: `iota`, `dist`.

use crate::data::buffer::Meter;
use crate::data::vector::{Vector, VectorElement};
use crate::engine::{Fault, Fill, MapOperand};
use nesl_prim::{Element, Failure, ScalarOp, ScalarValue, Visitor};
use std::sync::Arc;

/// Elements made of scalars and indices.
pub(super) fn run(meter: &Arc<Meter>, fill: Fill) -> Result<Vector, Fault> {
    match fill {
        Fill::Iota(length) => Ok(iota(meter, length)?),
        Fill::Dist(value, length) => Ok(dist(meter, value, length)?),
    }
}

/// 0, 1, …, length-1.
fn iota(meter: &Arc<Meter>, length: usize) -> Result<Vector, Failure> {
    let mut out = meter.reserve::<i64>(length)?;
    for index in 0..length {
        out.push(index as i64);
    }
    Ok(Vector::new(meter, out))
}

/// `length` copies of a value.
fn dist(meter: &Arc<Meter>, value: ScalarValue, length: usize) -> Result<Vector, Failure> {
    fn fill<T: VectorElement>(meter: &Arc<Meter>, value: T, length: usize) -> Result<Vector, Failure> {
        let mut out = meter.reserve(length)?;
        out.resize(length, value);
        Ok(Vector::new(meter, out))
    }
    match value {
        ScalarValue::Int(value) => fill(meter, value, length),
        ScalarValue::Float(value) => fill(meter, value, length),
        ScalarValue::Bool(value) => fill(meter, value, length),
        ScalarValue::Char(value) => fill(meter, value, length),
    }
}

/// A scalar operation on every element; fails on the first element on which the operation does.
pub(super) fn map(meter: &Arc<Meter>, op: ScalarOp, operands: &[MapOperand<Vector>]) -> Result<Vector, Fault> {
    let length = MapOperand::length(op, operands);
    op.visit(Map { meter, operands, length })
}

struct Map<'a> {
    meter: &'a Arc<Meter>,
    operands: &'a [MapOperand<Vector>],
    length: usize,
}

/// The elements of an operand, with their type.
#[derive(Clone, Copy)]
enum Elements<'a, T> {
    Each(&'a [T]),
    Same(T),
}

impl<T: Copy> Elements<'_, T> {
    fn at(self, index: usize) -> T {
        match self {
            Elements::Each(elements) => elements[index],
            Elements::Same(value) => value,
        }
    }
}

impl<'a> Map<'a> {
    fn operand<T: Element>(&self, number: usize) -> Elements<'a, T> {
        match &self.operands[number] {
            MapOperand::Column(column) => Elements::Each(column.elements_of()),
            MapOperand::Scalar(value) => Elements::Same(T::from_value(*value)),
        }
    }

    /// The one loop of all elementwise instructions.
    fn run<R: Element>(&self, result: impl Fn(usize) -> Result<R, Failure>) -> Result<Vector, Fault> {
        let mut out = self.meter.reserve(self.length)?;
        for element in 0..self.length {
            out.push(result(element).map_err(|failure| Fault { failure, element })?);
        }
        Ok(Vector::of(self.meter, out))
    }
}

impl Visitor for Map<'_> {
    type Output = Result<Vector, Fault>;

    fn unary<A: Element, R: Element>(self, f: impl Fn(A) -> R + Copy + Send + Sync) -> Self::Output {
        let a = self.operand(0);
        self.run(|i| Ok(f(a.at(i))))
    }

    fn binary<A: Element, B: Element, R: Element>(self, f: impl Fn(A, B) -> R + Copy + Send + Sync) -> Self::Output {
        let (a, b) = (self.operand(0), self.operand(1));
        self.run(|i| Ok(f(a.at(i), b.at(i))))
    }

    fn ternary<A: Element, B: Element, C: Element, R: Element>(
        self,
        f: impl Fn(A, B, C) -> R + Copy + Send + Sync,
    ) -> Self::Output {
        let (a, b, c) = (self.operand(0), self.operand(1), self.operand(2));
        self.run(|i| Ok(f(a.at(i), b.at(i), c.at(i))))
    }

    fn try_unary<A: Element, R: Element>(
        self,
        f: impl Fn(A) -> Result<R, Failure> + Copy + Send + Sync,
    ) -> Self::Output {
        let a = self.operand(0);
        self.run(|i| f(a.at(i)))
    }

    fn try_binary<A: Element, B: Element, R: Element>(
        self,
        f: impl Fn(A, B) -> Result<R, Failure> + Copy + Send + Sync,
    ) -> Self::Output {
        let (a, b) = (self.operand(0), self.operand(1));
        self.run(|i| f(a.at(i), b.at(i)))
    }

    fn try_ternary<A: Element, B: Element, C: Element, R: Element>(
        self,
        f: impl Fn(A, B, C) -> Result<R, Failure> + Copy + Send + Sync,
    ) -> Self::Output {
        let (a, b, c) = (self.operand(0), self.operand(1), self.operand(2));
        self.run(|i| f(a.at(i), b.at(i), c.at(i)))
    }
}

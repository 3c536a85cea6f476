//! How elements combine, in reductions and in scans.
//!
//! Operations that are exactly associative are combined from left to right. Float addition and multiplication are not:
//! the order in which they combine is defined by [`nesl_prim::sum`].

use crate::data::vector::VectorElement;
use nesl_prim::{Element, Failure, ScalarOp, Visitor, sum};

/// What to do with each segment.
#[derive(Clone, Copy)]
pub(super) enum Pass {
    /// All of its elements combined.
    Reduce,
    /// What is before each.
    Scan,
}

/// Reduces or scans segments of elements, one after another, into `out`.
pub(super) fn fold<T: Combine>(
    op: ScalarOp,
    pass: Pass,
    elements: &[T],
    segments: impl Iterator<Item = (usize, usize)>,
    out: &mut Vec<T>,
) {
    op.visit(Run { op, pass, elements, segments, out });
}

struct Run<'a, T, S> {
    op: ScalarOp,
    pass: Pass,
    elements: &'a [T],
    segments: S,
    out: &'a mut Vec<T>,
}

impl<T: Combine, S: Iterator<Item = (usize, usize)>> Visitor for Run<'_, T, S> {
    type Output = ();

    fn binary<A: Element, B: Element, R: Element>(self, f: impl Fn(A, B) -> R + Copy + Send + Sync) {
        // The table ensures that an operation with an identity has one type throughout: these conversions do nothing.
        fn same<F: Element, G: Element>(value: F) -> G {
            G::from_value(value.to_value())
        }
        let combine = |a: T, b: T| same::<R, T>(f(same(a), same(b)));
        let row = self.op.row();
        let identity = T::from_value(row.identity.unwrap_or_else(|| panic!("{} has no identity", self.op)));
        for (start, length) in self.segments {
            let segment = &self.elements[start..start + length];
            match self.pass {
                Pass::Reduce => self.out.push(T::reduce(row.associative, identity, combine, segment)),
                Pass::Scan => T::scan(row.associative, identity, combine, segment, self.out),
            }
        }
    }

    fn unary<A: Element, R: Element>(self, _: impl Fn(A) -> R + Copy + Send + Sync) {
        not_binary(self.op)
    }

    fn ternary<A: Element, B: Element, C: Element, R: Element>(self, _: impl Fn(A, B, C) -> R + Copy + Send + Sync) {
        not_binary(self.op)
    }

    fn try_unary<A: Element, R: Element>(self, _: impl Fn(A) -> Result<R, Failure> + Copy + Send + Sync) {
        not_binary(self.op)
    }

    fn try_binary<A: Element, B: Element, R: Element>(
        self,
        _: impl Fn(A, B) -> Result<R, Failure> + Copy + Send + Sync,
    ) {
        not_binary(self.op)
    }

    fn try_ternary<A: Element, B: Element, C: Element, R: Element>(
        self,
        _: impl Fn(A, B, C) -> Result<R, Failure> + Copy + Send + Sync,
    ) {
        not_binary(self.op)
    }
}

fn not_binary(op: ScalarOp) -> ! {
    panic!("{op} neither reduces nor scans")
}

/// How elements of a type combine: from left to right, but floats that are not `associative` as [`sum`] defines.
pub(super) trait Combine: VectorElement {
    fn reduce(
        _associative: bool,
        identity: Self,
        combine: impl Fn(Self, Self) -> Self + Copy,
        elements: &[Self],
    ) -> Self {
        elements.iter().copied().fold(identity, combine)
    }

    fn scan(
        _associative: bool,
        identity: Self,
        combine: impl Fn(Self, Self) -> Self + Copy,
        elements: &[Self],
        out: &mut Vec<Self>,
    ) {
        scan_from_left(identity, combine, elements, out);
    }
}

impl Combine for i64 {}
impl Combine for bool {}
impl Combine for u8 {}

impl Combine for f64 {
    fn reduce(associative: bool, identity: f64, combine: impl Fn(f64, f64) -> f64 + Copy, elements: &[f64]) -> f64 {
        if associative {
            elements.iter().copied().fold(identity, combine)
        } else {
            sum::reduce(identity, combine, elements)
        }
    }

    fn scan(
        associative: bool,
        identity: f64,
        combine: impl Fn(f64, f64) -> f64 + Copy,
        elements: &[f64],
        out: &mut Vec<f64>,
    ) {
        if associative {
            scan_from_left(identity, combine, elements, out);
        } else {
            out.extend(sum::scan(identity, combine, elements));
        }
    }
}

fn scan_from_left<T: Copy>(identity: T, combine: impl Fn(T, T) -> T, elements: &[T], out: &mut Vec<T>) {
    let mut before = identity;
    for &element in elements {
        out.push(before);
        before = combine(before, element);
    }
}

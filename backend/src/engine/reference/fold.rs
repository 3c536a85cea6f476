//! How elements combine, in reductions and in scans.
//!
//! Operations that are exactly associative are combined from left to right. Float addition and multiplication are not:
//! the order in which they combine is defined by [`nesl_prim::sum`].

use crate::data::vector::VectorElement;
use nesl_prim::{Element, MonoidVisitor, ScalarOp, sum};

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
    segments: &mut dyn Iterator<Item = (usize, usize)>,
    out: &mut Vec<T>,
) {
    op.visit_monoid(Run { associative: op.row().associative, pass, elements, segments, out });
}

struct Run<'a, T> {
    associative: bool,
    pass: Pass,
    elements: &'a [T],
    segments: &'a mut dyn Iterator<Item = (usize, usize)>,
    out: &'a mut Vec<T>,
}

impl<T: Combine> MonoidVisitor for Run<'_, T> {
    type Output = ();

    fn exact<U: Element>(self, identity: U, combine: impl Fn(U, U) -> U + Copy + Send + Sync) {
        // Both are the type of the column: these conversions do nothing.
        fn same<F: Element, G: Element>(value: F) -> G {
            G::from_value(value.to_value())
        }
        let (identity, combine) = (same::<U, T>(identity), |a: T, b: T| same::<U, T>(combine(same(a), same(b))));
        for (start, length) in self.segments {
            let segment = &self.elements[start..start + length];
            match self.pass {
                Pass::Reduce => self.out.push(T::reduce(self.associative, identity, combine, segment)),
                Pass::Scan => T::scan(self.associative, identity, combine, segment, self.out),
            }
        }
    }

    fn ordered(self, identity: f64, combine: impl Fn(f64, f64) -> f64 + Copy + Send + Sync + 'static) {
        self.exact(identity, combine);
    }
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

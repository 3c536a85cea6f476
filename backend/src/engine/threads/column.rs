//! Columns by Rust element type: the way from a vector to a slice and back inside generic loops.
//!
//! The visitors of scalar operations know their types only as [`Element`]s, one of the four that a [`Vector`] holds.

use super::output::Same;
use crate::data::vector::{Slice, Vector, VectorElement};
use crate::on_vector;
use nesl_prim::{Element, Failure, ScalarOp, Visitor};
use std::any::Any;

/// The slice in a vector.
///
/// # Panics
/// If the vector is of another type: the verifier excludes that.
pub fn slice_of<T: Element>(vector: &Vector) -> &Slice<T> {
    let slice: &dyn Any = on_vector!(vector, slice => slice);
    slice.downcast_ref().unwrap_or_else(|| panic!("expected a column of {}, found {}", T::TYPE, vector.scalar_type()))
}

/// The slice in a vector, if it is of this type, to be overwritten.
pub fn slice_of_mut<T: Element>(vector: &mut Vector) -> Option<&mut Slice<T>> {
    let slice: &mut dyn Any = on_vector!(vector, slice => slice);
    slice.downcast_mut()
}

/// The vector of a slice.
pub fn wrap<T: Element>(slice: Slice<T>) -> Vector {
    fn as_vector<T: VectorElement>(slice: &mut dyn Any) -> Option<Vector> {
        slice.downcast_mut::<Option<Slice<T>>>().and_then(Option::take).map(T::wrap)
    }
    let mut slice = Some(slice);
    let slice: &mut dyn Any = &mut slice;
    as_vector::<i64>(slice)
        .or_else(|| as_vector::<f64>(slice))
        .or_else(|| as_vector::<bool>(slice))
        .or_else(|| as_vector::<u8>(slice))
        .unwrap_or_else(|| unreachable!("elements are ints, floats, bools or chars"))
}

/// Receives an operation that reduces and scans, at its one type.
pub trait Combiner: Sized {
    /// What it produces.
    type Output;
    /// An exact operation: any order of combining gives the same bits.
    fn exact<T: Element>(self, identity: T, combine: impl Fn(T, T) -> T + Copy + Send + Sync) -> Self::Output;
    /// A float operation whose order [`nesl_prim::sum`] defines.
    fn ordered(self, identity: f64, combine: impl Fn(f64, f64) -> f64 + Copy + Send + Sync) -> Self::Output;
}

/// Hands an operation to a combiner.
///
/// # Panics
/// If it has no identity: the verifier excludes that.
pub fn combine<C: Combiner>(op: ScalarOp, combiner: C) -> C::Output {
    op.visit(Combine { op, combiner })
}

struct Combine<C> {
    op: ScalarOp,
    combiner: C,
}

impl<C> Combine<C> {
    fn refuse<T>(&self) -> T {
        panic!("{} neither reduces nor scans", self.op)
    }
}

impl<C: Combiner> Visitor for Combine<C> {
    type Output = C::Output;

    fn binary<A: Element, B: Element, R: Element>(self, f: impl Fn(A, B) -> R + Copy + Send + Sync) -> C::Output {
        let row = self.op.row();
        let (Some(identity), Some(right), Some(back)) = (row.identity, Same::<A, B>::new(), Same::<R, A>::new()) else {
            return self.refuse();
        };
        let combine = move |a: A, b: A| back.cast(f(a, right.cast(b)));
        let identity = A::from_value(identity);
        match (Same::<f64, A>::new(), Same::<A, f64>::new()) {
            (Some(from), Some(to)) if !row.associative => {
                let combine = move |a, b| to.cast(combine(from.cast(a), from.cast(b)));
                self.combiner.ordered(to.cast(identity), combine)
            }
            _ => self.combiner.exact(identity, combine),
        }
    }

    fn unary<A: Element, R: Element>(self, _: impl Fn(A) -> R + Copy + Send + Sync) -> C::Output {
        self.refuse()
    }

    fn ternary<A: Element, B: Element, D: Element, R: Element>(
        self,
        _: impl Fn(A, B, D) -> R + Copy + Send + Sync,
    ) -> C::Output {
        self.refuse()
    }

    fn try_unary<A: Element, R: Element>(self, _: impl Fn(A) -> Result<R, Failure> + Copy + Send + Sync) -> C::Output {
        self.refuse()
    }

    fn try_binary<A: Element, B: Element, R: Element>(
        self,
        _: impl Fn(A, B) -> Result<R, Failure> + Copy + Send + Sync,
    ) -> C::Output {
        self.refuse()
    }

    fn try_ternary<A: Element, B: Element, D: Element, R: Element>(
        self,
        _: impl Fn(A, B, D) -> Result<R, Failure> + Copy + Send + Sync,
    ) -> C::Output {
        self.refuse()
    }
}

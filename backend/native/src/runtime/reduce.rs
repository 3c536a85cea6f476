//! Reductions and scans of segments, wherever those lie.
//!
//! Exact operations are combined in several accumulators; float sums and products as [`nesl_prim::sum`] defines.
//!
//! ```text
//! seg_reduce   for s: for j in 0 .. lengths[s]: a[j % 8] = a[j % 8] + column[starts[s] + j]
//!                     out[s] = a[0] + … + a[7]
//! seg_scan     for s: before = 0; for j: push before; before = before + column[starts[s] + j]
//! ```

use super::{Frame, Helper, helper};
use nesl_prim::{Element, MonoidVisitor, ScalarOp, ScalarType, sum};
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// What the helpers for one operation are. The first word of their operands is the identity.
#[derive(Clone, Copy)]
pub(super) struct Helpers {
    pub seg_reduce: Helper,
    pub seg_scan: Helper,
}

/// The helpers of an operation.
///
/// # Panics
/// If it has no identity: the verifier excludes that.
pub(super) fn helpers(op: ScalarOp) -> Helpers {
    op.visit_monoid(Combining)
}

/// An operation that has an identity.
trait Combine {
    type Of: Element;
    fn combine(a: Self::Of, b: Self::Of) -> Self::Of;
}

struct Meaning<F, T>(PhantomData<(F, T)>);

impl<T: Element, F: Fn(T, T) -> T + Copy> Combine for Meaning<F, T> {
    type Of = T;

    #[inline(always)]
    fn combine(a: T, b: T) -> T {
        crate::shim::zst_instance::<F>()(a, b)
    }
}

/// Floats, by their one name: their order is part of the meaning of sums and products, and no matter for others.
fn as_floats<T: Element>(elements: &[T]) -> Option<&[f64]> {
    if T::TYPE != ScalarType::Float {
        return None;
    }
    // SAFETY: one Rust type holds elements of the scalar type Float: T is f64.
    Some(unsafe { &*(std::ptr::from_ref(elements) as *const [f64]) })
}

fn on_floats<C: Combine>(a: f64, b: f64) -> f64 {
    f64::from_word(C::combine(C::Of::from_word(a.to_word()), C::Of::from_word(b.to_word())).to_word())
}

/// Reduces elements.
fn fold<C: Combine>(identity: C::Of, elements: &[C::Of]) -> C::Of {
    if let Some(floats) = as_floats(elements) {
        return C::Of::from_word(sum::reduce(f64::from_word(identity.to_word()), on_floats::<C>, floats).to_word());
    }
    let rows = elements.chunks_exact(8);
    let rest = rows.remainder();
    let mut lanes = [identity; 8];
    for row in rows {
        lanes.iter_mut().zip(row).for_each(|(lane, &element)| *lane = C::combine(*lane, element));
    }
    lanes.iter().chain(rest).fold(identity, |before, &element| C::combine(before, element))
}

/// Scans elements into as many places.
fn scan_into<C: Combine>(identity: C::Of, elements: &[C::Of], places: &mut [MaybeUninit<C::Of>]) {
    if let Some(floats) = as_floats(elements) {
        let scanned = sum::scan(f64::from_word(identity.to_word()), on_floats::<C>, floats);
        places.iter_mut().zip(scanned).for_each(|(place, float)| {
            place.write(C::Of::from_word(float.to_word()));
        });
        return;
    }
    let mut before = identity;
    for (place, &element) in places.iter_mut().zip(elements) {
        place.write(before);
        before = C::combine(before, element);
    }
}

fn seg_reduce<C: Combine>(frame: &mut Frame<'_>) -> Option<()> {
    let (identity, column, segments) = (frame.scalar(), frame.column(), frame.segments());
    let items = segments.iter().map(|(start, length)| fold::<C>(identity, &column[start..start + length]));
    frame.give_items(segments.lengths.len(), items)
}

fn seg_scan<C: Combine>(frame: &mut Frame<'_>) -> Option<()> {
    let (identity, column, segments) = (frame.scalar(), frame.column(), frame.segments());
    let room = frame.room(segments.total()?)?;
    let mut written = 0;
    for (start, length) in segments.iter() {
        scan_into::<C>(identity, &column[start..start + length], &mut room[written..written + length]);
        written += length;
    }
    // SAFETY: as many have been written as the segments have elements.
    frame.give(unsafe { room.assume_init_ref() });
    Some(())
}

struct Combining;

impl Combining {
    /// The helpers for an operation, which is known by the type of its meaning.
    fn of<T: Element, F: Fn(T, T) -> T + Copy>(_: F) -> Helpers {
        Helpers { seg_reduce: helper(seg_reduce::<Meaning<F, T>>), seg_scan: helper(seg_scan::<Meaning<F, T>>) }
    }
}

impl MonoidVisitor for Combining {
    type Output = Helpers;

    fn exact<T: Element>(self, _: T, combine: impl Fn(T, T) -> T + Copy + Send + Sync + 'static) -> Helpers {
        Combining::of(combine)
    }

    fn ordered(self, _: f64, combine: impl Fn(f64, f64) -> f64 + Copy + Send + Sync + 'static) -> Helpers {
        Combining::of(combine)
    }
}

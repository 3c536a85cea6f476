//! Reductions and scans of segments, wherever those lie, where in them the extreme elements are, and reductions by
//! index.
//!
//! Exact operations are combined in several accumulators; float sums and products as [`nesl_prim::sum`] defines.
//!
//! ```text
//! seg_reduce   for s: for j in 0 .. lengths[s]: a[j % 8] = a[j % 8] + column[starts[s] + j]
//!                     out[s] = a[0] + … + a[7]
//! seg_scan     for s: before = 0; for j: push before; before = before + column[starts[s] + j]
//! by index     for k: count[i[k]] += 1; for k: next[i[k]]++ = column[k]; the segments that these are
//! ```

use super::order::room;
use super::{Frame, Helper, helper};
use nesl_prim::extreme::extreme;
use nesl_prim::{Element, MonoidVisitor, ScalarOp, sum};
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// What the helpers for one operation are. The first word of their operands is the identity.
#[derive(Clone, Copy)]
pub(super) struct Helpers {
    pub seg_reduce: Helper,
    pub seg_reduce_index: Helper,
    pub reduce_by_index: Helper,
    pub seg_scan: Helper,
}

/// The helpers of an operation.
///
/// # Panics
/// If it has no identity: the verifier excludes that.
pub(super) fn helpers(op: ScalarOp) -> Helpers {
    op.visit_monoid(Combining)
}

/// How an operation that has an identity combines elements.
trait Combine {
    type Of: Element;
    /// Reduces elements.
    fn reduce(identity: Self::Of, elements: &[Self::Of]) -> Self::Of;
    /// Scans elements into as many places.
    fn scan_into(identity: Self::Of, elements: &[Self::Of], places: &mut [MaybeUninit<Self::Of>]);
    /// Where the extreme element is.
    fn index(identity: Self::Of, elements: &[Self::Of]) -> i64;
}

/// An exact operation, by the type of its meaning.
struct Exact<F, T>(PhantomData<(F, T)>);

impl<T: Element, F: Fn(T, T) -> T + Copy> Combine for Exact<F, T> {
    type Of = T;

    fn reduce(identity: T, elements: &[T]) -> T {
        let combine = crate::shim::zst_instance::<F>();
        let rows = elements.chunks_exact(8);
        let rest = rows.remainder();
        let mut lanes = [identity; 8];
        for row in rows {
            lanes.iter_mut().zip(row).for_each(|(lane, &element)| *lane = combine(*lane, element));
        }
        lanes.iter().chain(rest).fold(identity, |before, &element| combine(before, element))
    }

    fn scan_into(identity: T, elements: &[T], places: &mut [MaybeUninit<T>]) {
        let combine = crate::shim::zst_instance::<F>();
        let mut before = identity;
        for (place, &element) in places.iter_mut().zip(elements) {
            place.write(before);
            before = combine(before, element);
        }
    }

    fn index(identity: T, elements: &[T]) -> i64 {
        extreme(identity, crate::shim::zst_instance::<F>(), elements).index
    }
}

/// A sum or a product of floats.
struct Ordered<F>(PhantomData<F>);

impl<F: Fn(f64, f64) -> f64 + Copy> Combine for Ordered<F> {
    type Of = f64;

    fn reduce(identity: f64, elements: &[f64]) -> f64 {
        sum::reduce(identity, crate::shim::zst_instance::<F>(), elements)
    }

    fn scan_into(identity: f64, elements: &[f64], places: &mut [MaybeUninit<f64>]) {
        let scanned = sum::scan(identity, crate::shim::zst_instance::<F>(), elements);
        places.iter_mut().zip(scanned).for_each(|(place, float)| {
            place.write(float);
        });
    }

    fn index(_: f64, _: &[f64]) -> i64 {
        unreachable!("a sum is nowhere: the verifier excludes that")
    }
}

fn seg_reduce<C: Combine>(frame: &mut Frame<'_>) -> Option<()> {
    let (identity, column, segments) = (frame.scalar(), frame.column(), frame.segments());
    let items = segments.iter().map(|(start, length)| C::reduce(identity, &column[start..start + length]));
    frame.give_items(segments.lengths.len(), items)
}

fn seg_reduce_index<C: Combine>(frame: &mut Frame<'_>) -> Option<()> {
    let (identity, column, segments) = (frame.scalar(), frame.column(), frame.segments());
    let items = segments.iter().map(|(start, length)| C::index(identity, &column[start..start + length]));
    frame.give_items(segments.lengths.len(), items)
}

fn reduce_by_index<C: Combine>(frame: &mut Frame<'_>) -> Option<()> {
    let (identity, column, indices) = (frame.scalar(), frame.column(), frame.column::<i64>());
    let places = frame.size();
    // For each place where its next element goes; in the end, where its elements end.
    let mut next: Vec<usize> = room(places)?;
    next.resize(places, 0);
    indices.iter().for_each(|&index| next[index as usize] += 1);
    let mut before = 0;
    next.iter_mut().for_each(|count| before += std::mem::replace(count, before));
    let mut grouped = room(column.len())?;
    grouped.resize(column.len(), identity);
    for (&index, &element) in indices.iter().zip(column) {
        let place = &mut next[index as usize];
        grouped[*place] = element;
        *place += 1;
    }
    let mut start = 0;
    let items = next.iter().map(|&end| C::reduce(identity, &grouped[std::mem::replace(&mut start, end)..end]));
    frame.give_items(places, items)
}

fn seg_scan<C: Combine>(frame: &mut Frame<'_>) -> Option<()> {
    let (identity, column, segments) = (frame.scalar(), frame.column(), frame.segments());
    let room = frame.room(segments.total()?)?;
    let mut written = 0;
    for (start, length) in segments.iter() {
        C::scan_into(identity, &column[start..start + length], &mut room[written..written + length]);
        written += length;
    }
    // SAFETY: as many have been written as the segments have elements.
    frame.give(unsafe { room.assume_init_ref() });
    Some(())
}

struct Combining;

impl Combining {
    fn of<C: Combine>() -> Helpers {
        Helpers {
            seg_reduce: helper(seg_reduce::<C>),
            seg_reduce_index: helper(seg_reduce_index::<C>),
            reduce_by_index: helper(reduce_by_index::<C>),
            seg_scan: helper(seg_scan::<C>),
        }
    }

    /// The type of an exact operation, from its meaning.
    fn of_exact<T: Element, F: Fn(T, T) -> T + Copy>(_: F) -> Helpers {
        Combining::of::<Exact<F, T>>()
    }

    /// The same of one on floats whose order counts.
    fn of_ordered<F: Fn(f64, f64) -> f64 + Copy>(_: F) -> Helpers {
        Combining::of::<Ordered<F>>()
    }
}

impl MonoidVisitor for Combining {
    type Output = Helpers;

    fn exact<T: Element>(self, _: T, combine: impl Fn(T, T) -> T + Copy + Send + Sync + 'static) -> Helpers {
        Combining::of_exact(combine)
    }

    fn ordered(self, _: f64, combine: impl Fn(f64, f64) -> f64 + Copy + Send + Sync + 'static) -> Helpers {
        Combining::of_ordered(combine)
    }
}

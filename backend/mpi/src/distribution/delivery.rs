//! Sending elements to the owners of their targets.
//!
//! There are as many targets as elements at most; bounds are as [`crate::layout::Layout::bounds`] gives them: one more
//! than there are ranks. What may be more than the share of a rank is moved by `requests` and `ranges`, and runs of
//! which every rank knows where they go by [`crate::distribution::redistribution`].

use crate::communication::communicator::Communicator;
use crate::communication::wire::Wire;
use crate::layout::{Owners, offsets};

/// Elements in the order of the ranks they go to, and where each ended up.
struct Buckets {
    counts: Vec<usize>,
    /// The position of each element among those of all buckets.
    places: Vec<usize>,
}

/// Sorts indices by owner, stably.
fn buckets(bounds: &[usize], indices: &[i64]) -> Buckets {
    let mut counts = vec![0; bounds.len() - 1];
    let owners = Owners::new(bounds);
    let mut places: Vec<usize> = indices.iter().map(|&index| owners.of(index as usize)).collect();
    for &owner in &places {
        counts[owner] += 1;
    }
    let mut next = offsets(&counts);
    for place in &mut places {
        let owner = *place;
        *place = next[owner];
        next[owner] += 1;
    }
    Buckets { counts, places }
}

/// Elements moved to their places.
fn placed<T: Wire>(elements: impl Iterator<Item = T>, places: &[usize]) -> Vec<T> {
    let mut moved = vec![T::default(); places.len()];
    for (element, &place) in elements.zip(places) {
        moved[place] = element;
    }
    moved
}

/// The indices relative to their owners' first, in buckets.
fn relative(bounds: &[usize], indices: &[i64], buckets: &Buckets) -> Vec<i64> {
    let mut moved = placed(indices.iter().copied(), &buckets.places);
    let mut rest = &mut moved[..];
    for (owner, &count) in buckets.counts.iter().enumerate() {
        let (bucket, others) = rest.split_at_mut(count);
        bucket.iter_mut().for_each(|index| *index -= bounds[owner] as i64);
        rest = others;
    }
    moved
}

/// Sends element k of `values` to the owner of index `indices[k]`. Returns the indices that this rank owns, relative to
/// its first, and their values, in the order in which they lay across the ranks.
pub fn deliver<T: Wire>(
    communicator: &mut Communicator,
    bounds: &[usize],
    indices: &[i64],
    values: &[T],
) -> (Vec<i64>, Vec<T>) {
    let buckets = buckets(bounds, indices);
    let (targets, incoming) = communicator.exchange(&relative(bounds, indices, &buckets), &buckets.counts);
    let values = placed(values.iter().copied(), &buckets.places);
    let values = communicator.exchange_known(&values, &buckets.counts, &incoming, Vec::new());
    (targets, values)
}

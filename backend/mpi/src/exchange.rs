//! Moving elements between ranks: the few patterns that all data movement is made of.
//!
//! [`realign`] moves contiguous runs whose bounds every rank knows; [`answer`] fetches elements by index, [`answer_ranges`] by
//! range; [`deliver`] sends elements to the owners of their targets. They know blocks and bounds, not columns. Bounds are as
//! [`crate::layout::Layout::bounds`] gives them: one more than there are ranks.

use crate::communicator::{Communicator, Wire};
use crate::layout::{Owners, offsets, overlap};
use std::collections::HashMap;

/// Rank r holds positions `held[r]..held[r + 1]` of a sequence, `part` on this rank, and gets `wanted[r]..wanted[r + 1]`,
/// which must all be held. `storage` becomes the result.
pub fn realign<T: Wire>(
    communicator: &mut Communicator,
    part: &[T],
    held: &[usize],
    wanted: &[usize],
    storage: Vec<T>,
) -> Vec<T> {
    let (rank, ranks) = (communicator.layout().rank, communicator.layout().ranks);
    let run = |bounds: &[usize], rank: usize| bounds[rank]..bounds[rank + 1];
    let mine = run(held, rank);
    let needed = overlap(&mine, &(wanted[0]..wanted[ranks]));
    let needed = if needed.is_empty() { 0..0 } else { needed.start - mine.start..needed.end - mine.start };
    let common = |held_by: usize, wanted_by: usize| overlap(&run(held, held_by), &run(wanted, wanted_by)).len();
    let outgoing: Vec<usize> = (0..ranks).map(|target| common(rank, target)).collect();
    let incoming: Vec<usize> = (0..ranks).map(|source| common(source, rank)).collect();
    communicator.exchange_known(&part[needed], &outgoing, &incoming, storage)
}

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

/// The elements at `indices` of a column of which this rank holds `part`, in the order of the indices.
pub fn answer<T: Wire>(
    communicator: &mut Communicator,
    part: &[T],
    bounds: &[usize],
    indices: &[i64],
    mut storage: Vec<T>,
) -> Vec<T> {
    let buckets = buckets(bounds, indices);
    let (asked, askers) = communicator.exchange(&relative(bounds, indices, &buckets), &buckets.counts);
    let replies: Vec<T> = asked.iter().map(|&index| part[index as usize]).collect();
    drop(asked);
    let replies = communicator.exchange_known(&replies, &askers, &buckets.counts, Vec::new());
    storage.clear();
    storage.extend(buckets.places.iter().map(|&place| replies[place]));
    storage
}

/// Sends element k of `values` to the owner of index `indices[k]`. Returns the indices that this rank owns, relative to its
/// first, and their values, in the order in which they lay across the ranks.
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

/// The elements of `ranges` (start and length) of a column of which this rank holds `part`, one range after another.
///
/// A range that occurs again on this rank is asked for once: a sequence that many instances share is not sent to a rank for
/// each of them.
pub fn answer_ranges<T: Wire>(
    communicator: &mut Communicator,
    part: &[T],
    bounds: &[usize],
    ranges: &[(usize, usize)],
    mut storage: Vec<T>,
) -> Vec<T> {
    /// Part of a range that one rank holds.
    struct Run {
        owner: usize,
        /// Where it is in that rank's reply.
        place: usize,
        length: usize,
    }
    let (ranks, owners) = (bounds.len() - 1, Owners::new(bounds));
    let mut requests: Vec<Vec<i64>> = vec![Vec::new(); ranks];
    let mut sizes = vec![0; ranks];
    let mut runs: Vec<Run> = Vec::new();
    let mut known: HashMap<(usize, usize), (usize, usize)> = HashMap::new();
    let mut order = Vec::with_capacity(ranges.len());
    for &(start, length) in ranges {
        let place = *known.entry((start, length)).or_insert_with(|| {
            let first = runs.len();
            let (mut position, end) = (start, start + length);
            while position < end {
                let owner = owners.of(position);
                let length = end.min(bounds[owner + 1]) - position;
                requests[owner].extend([(position - bounds[owner]) as i64, length as i64]);
                runs.push(Run { owner, place: sizes[owner], length });
                sizes[owner] += length;
                position += length;
            }
            (first, runs.len())
        });
        order.push(place);
    }
    let counts: Vec<usize> = requests.iter().map(Vec::len).collect();
    let (asked, askers) = communicator.exchange(&requests.concat(), &counts);
    let mut replies = Vec::new();
    let mut reply_counts = Vec::with_capacity(ranks);
    let mut rest = &asked[..];
    for count in askers {
        let (mine, others) = rest.split_at(count);
        let before = replies.len();
        for request in mine.chunks_exact(2) {
            let start = request[0] as usize;
            replies.extend_from_slice(&part[start..start + request[1] as usize]);
        }
        reply_counts.push(replies.len() - before);
        rest = others;
    }
    let replies = communicator.exchange_known(&replies, &reply_counts, &sizes, Vec::new());
    let starts = offsets(&sizes);
    storage.clear();
    for (first, end) in order {
        for run in &runs[first..end] {
            let start = starts[run.owner] + run.place;
            storage.extend_from_slice(&replies[start..start + run.length]);
        }
    }
    storage
}

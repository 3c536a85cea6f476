//! Elements by range: the segments of a view, fetched from the ranks that hold them.
//!
//! As with indices ([`crate::distribution::requests`]), what is asked is worked out and sent once for all columns of
//! one value, and ranks ask one after another where one of them would have to send too much at once.

use crate::distribution::column::Item;
use crate::distribution::request_cache::{RangePart, RangeRequests};
use crate::distribution::requests::{in_turn, is_hotspot};
use crate::distribution::{Distribution, LocalEngine};
use crate::layout::Owners;
use nesl_backend::data::memory::Room;
use nesl_backend::{Fault, Vector};
use rustc_hash::FxHashMap;
use std::sync::Arc;

impl<L: LocalEngine> Distribution<L> {
    /// The requests for this rank's ranges (start and length), of `total` elements on all ranks, of a column of
    /// `length`. Something of this identity says on all ranks which ranges they are.
    pub(crate) fn range_requests(
        &mut self,
        identity: &Arc<()>,
        ranges: impl Iterator<Item = (usize, usize)>,
        total: usize,
        length: usize,
    ) -> Arc<RangeRequests> {
        if let Some(requests) = self.cache.ranges(identity, length) {
            return requests;
        }
        let requests = Arc::new(self.ranges_worked_out(ranges, total, length));
        self.cache.keep_ranges(identity, length, &requests);
        requests
    }

    /// A range that occurs again on this rank is asked for once: a sequence that many instances share is not sent to a
    /// rank for each of them.
    fn ranges_worked_out(
        &mut self,
        ranges: impl Iterator<Item = (usize, usize)>,
        total: usize,
        length: usize,
    ) -> RangeRequests {
        let bounds = self.layout.bounds(length);
        let (ranks, owners) = (self.layout.ranks, Owners::new(&bounds));
        let mut requests: Vec<Vec<i64>> = vec![Vec::new(); ranks];
        let mut coming = vec![0; ranks];
        let mut runs: Vec<RangePart> = Vec::new();
        let mut known: FxHashMap<(usize, usize), (usize, usize)> = FxHashMap::default();
        let place = |(start, length): (usize, usize)| {
            *known.entry((start, length)).or_insert_with(|| {
                let first = runs.len();
                let (mut position, end) = (start, start + length);
                while position < end {
                    let owner = owners.of(position);
                    let length = end.min(bounds[owner + 1]) - position;
                    requests[owner].extend([(position - bounds[owner]) as i64, length as i64]);
                    runs.push(RangePart { owner, place: coming[owner], length });
                    coming[owner] += length;
                    position += length;
                }
                (first, runs.len())
            })
        };
        let order = ranges.map(place).collect();
        let counts: Vec<usize> = requests.iter().zip(&coming).flat_map(|(asked, &size)| [asked.len(), size]).collect();
        let counts = self.collectives.communicator.exchange_counts(&counts);
        let outgoing: Vec<usize> = requests.iter().map(Vec::len).collect();
        let incoming: Vec<usize> = counts.iter().copied().step_by(2).collect();
        let going: Vec<usize> = counts.iter().copied().skip(1).step_by(2).collect();
        let is_hotspot = is_hotspot(going.iter().sum(), total, ranks);
        let in_turns = self.collectives.communicator.all_gather(is_hotspot).contains(&true);
        let mut numbers = requests.concat();
        if !in_turns {
            numbers = self.collectives.communicator.exchange_known(&numbers, &outgoing, &incoming, Vec::new());
        }
        RangeRequests { runs, order, coming, going, outgoing, incoming, numbers, in_turns }
    }

    /// The elements of the ranges, one after another, of a column of which this rank holds `part`: `count`, and `total`
    /// on all ranks.
    pub(crate) fn fetched_ranges<T: Item>(
        &mut self,
        requests: &RangeRequests,
        part: &[T],
        count: usize,
        total: usize,
    ) -> Result<Vector, Fault> {
        let going = if requests.in_turns { requests.going.iter().max().copied() } else { None };
        let going = going.unwrap_or_else(|| requests.going.iter().sum());
        let coming = requests.coming.iter().sum();
        let (mut replies, mut came, mut elements) =
            self.rooms(total, |meter| Ok((meter.room(going)?, meter.room(coming)?, meter.room(count)?)))?;
        came.extend_with(coming, T::default());
        if requests.in_turns {
            for turn in 0..self.layout.ranks {
                let only = (turn != self.layout.rank).then_some(usize::MAX);
                let (outgoing, coming) = (in_turn(&requests.outgoing, only), in_turn(&requests.coming, only));
                let (incoming, going) = (in_turn(&requests.incoming, Some(turn)), in_turn(&requests.going, Some(turn)));
                let own = if only.is_none() { &requests.numbers[..] } else { &[] };
                let asked = self.collectives.communicator.exchange_known(own, &outgoing, &incoming, Vec::new());
                replies.clear();
                reply(part, &asked, &mut replies);
                let target = if only.is_none() { &mut came[..] } else { &mut [] };
                self.collectives.communicator.exchange_into(&replies, &going, &coming, target);
            }
        } else {
            reply(part, &requests.numbers, &mut replies);
            self.collectives.communicator.exchange_into(&replies, &requests.going, &requests.coming, &mut came);
        }
        requests.in_order(&came, &mut elements);
        Ok(self.filled(elements))
    }
}

/// Adds the elements of ranges of this rank's part.
pub(crate) fn reply<T: Item>(part: &[T], asked: &[i64], replies: &mut Room<T>) {
    for request in asked.chunks_exact(2) {
        let start = request[0] as usize;
        replies.extend_from_slice(&part[start..start + request[1] as usize]);
    }
}

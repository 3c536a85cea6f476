//! Elements by index: which rank asks which other for what.
//!
//! A gather asks the owners of its indices for their elements; a scatter sends elements to the owners of theirs.
//! [`Requests`] are what both need to know. They are worked out once and kept for as long as the column of indices
//! lives: the parts of tuples are columns of their own, which instructions gather by the same indices one after
//! another, and from the second on only elements travel, one message for each pair of ranks.
//!
//! Indices that go up, or stay in the block where they are, ask one rank after another as they lie, and nothing is put
//! into another order.
//!
//! Indices may all lie in one rank's block, which then would have to hold what all others ask. Where more than
//! [`HOTSPOT`] fair shares come to one rank, ranks ask one after another, so that it holds the requests of one at a
//! time.

use crate::distribution::column::{Block, Distributed, Item};
use crate::distribution::request_cache::{Indices, RequestCache, Requests, found, put};
use crate::distribution::{Distribution, LocalEngine};
use crate::layout::{Owners, offsets};
use nesl_backend::data::memory::Room;
use nesl_backend::{Fault, Meter, Vector};
use nesl_prim::Failure;
use std::sync::Arc;

/// Fair shares of what is asked that may come to one rank at once.
const HOTSPOT: usize = 2;
/// Elements that never are a hotspot.
const FEW: usize = 1024;

/// The counts of a turn: all at once, or those of one rank's requests.
pub(crate) fn in_turn(counts: &[usize], only: Option<usize>) -> Vec<usize> {
    let counts = counts.iter().enumerate();
    counts.map(|(rank, &count)| if only.is_none_or(|only| only == rank) { count } else { 0 }).collect()
}

/// Whether so many elements are too many for one rank, of `total` that all ranks ask for.
pub(crate) fn is_hotspot(coming: usize, total: usize, ranks: usize) -> bool {
    coming > HOTSPOT * total.div_ceil(ranks).max(FEW)
}

/// How many indices each rank owns, if those of each lie behind those of the ranks before it.
fn in_order(bounds: &[usize], indices: &[i64]) -> Option<Vec<usize>> {
    let mut rest = indices;
    let counts = bounds.windows(2).map(|block| {
        let is_own = |&&index: &&i64| (block[0] as i64..block[1] as i64).contains(&index);
        let count = rest.iter().take_while(is_own).count();
        rest = &rest[count..];
        count
    });
    let counts = counts.collect();
    rest.is_empty().then_some(counts)
}

/// Where each index goes when they are sorted by owner, stably; and how many each rank owns.
fn by_owner(bounds: &[usize], indices: &[i64], places: &mut Room<usize>) -> Vec<usize> {
    let mut counts = vec![0; bounds.len() - 1];
    let owners = Owners::new(bounds);
    places.extend_from_iter(indices.iter().map(|&index| owners.of(index as usize)));
    for &owner in &places[..] {
        counts[owner] += 1;
    }
    let mut next = offsets(&counts);
    for place in &mut places[..] {
        let owner = *place;
        *place = next[owner];
        next[owner] += 1;
    }
    counts
}

/// Fills room with what comes from each rank: this one's own elements, and room for those that others send.
pub(crate) fn with_own<T: Item>(room: &mut Room<T>, incoming: &[usize], rank: usize, own: impl Iterator<Item = T>) {
    room.extend_with(incoming[..rank].iter().sum(), T::default());
    room.extend_from_iter(own);
    room.extend_with(incoming[rank + 1..].iter().sum(), T::default());
}

impl<L: LocalEngine> Distribution<L> {
    /// Memory for something of `length` elements on all ranks: for all of them or for none.
    pub(crate) fn rooms<R>(&mut self, length: usize, take: impl Fn(&Meter) -> Result<R, Failure>) -> Result<R, Fault> {
        self.cache.forget_dead();
        let rooms = take(&self.meter).map_err(Fault::from);
        let rooms = self.collectives.settle(length, rooms);
        if rooms.is_ok() || self.cache.is_empty() {
            return rooms;
        }
        self.cache = RequestCache::default();
        let rooms = take(&self.meter).map_err(Fault::from);
        self.collectives.settle(length, rooms)
    }

    /// A local column of elements in memory that was taken for them.
    pub(crate) fn filled<T: Item>(&self, elements: Room<T>) -> Vector {
        Vector::new(&self.meter, elements)
    }

    /// The requests for a column's indices into one of `length` elements.
    pub(crate) fn requests(&mut self, indices: &Distributed, length: usize) -> Result<Arc<Requests>, Fault> {
        let Block { length: total, part, identity } = self.block(indices)?;
        match indices.replicated() {
            Some(_) => self.worked_out(part.elements(), total, length).map(Arc::new),
            None => self.requests_of(&identity, part.elements(), total, length),
        }
    }

    /// The requests for this rank's indices, of `total`, into a column of `length` elements. Something of this identity
    /// says on all ranks which indices they are.
    pub(crate) fn requests_of(
        &mut self,
        identity: &Arc<()>,
        indices: &[i64],
        total: usize,
        length: usize,
    ) -> Result<Arc<Requests>, Fault> {
        if let Some(requests) = found(&self.cache.requests, identity, length) {
            return Ok(requests);
        }
        // The others would be in the way of these.
        self.cache.requests = None;
        let requests = Arc::new(self.worked_out(indices, total, length)?);
        self.cache.requests = Some((Arc::downgrade(identity), length, Arc::clone(&requests)));
        Ok(requests)
    }

    fn worked_out(&mut self, indices: &[i64], total: usize, length: usize) -> Result<Requests, Fault> {
        let bounds = self.layout.bounds(length);
        let count = indices.len();
        let (outgoing, places, mut sorted) = match in_order(&bounds, indices) {
            Some(counts) => {
                let mut sorted = self.rooms(total, |meter| meter.room::<i64>(count))?;
                sorted.extend_from_slice(indices);
                (counts, None, sorted)
            }
            None => {
                let (mut places, mut sorted) =
                    self.rooms(total, |meter| Ok((meter.room::<usize>(count)?, meter.room::<i64>(count)?)))?;
                let counts = by_owner(&bounds, indices, &mut places);
                put(indices, &places, &mut sorted);
                (counts, Some(places), sorted)
            }
        };
        let mut rest = &mut sorted[..];
        for (owner, &count) in outgoing.iter().enumerate() {
            let (own, others) = rest.split_at_mut(count);
            own.iter_mut().for_each(|index| *index -= bounds[owner] as i64);
            rest = others;
        }
        let incoming = self.collectives.communicator.exchange_counts(&outgoing);
        let coming = incoming.iter().sum();
        let is_hotspot = is_hotspot(coming, total, self.layout.ranks);
        let indices = if self.collectives.communicator.all_gather(is_hotspot).contains(&true) {
            Indices::InTurns(sorted)
        } else {
            // Where nobody else asks this rank, or is asked by it, they are there already. The others may need room.
            let stay = [count, coming] == [outgoing[self.layout.rank]; 2];
            let mut asked = self.rooms(total, |meter| meter.room(if stay { 0 } else { coming }))?;
            if stay {
                asked = sorted;
            } else {
                asked.extend_with(coming, 0);
                self.collectives.communicator.exchange_into(&sorted, &outgoing, &incoming, &mut asked);
            }
            Indices::Asked(self.filled(asked))
        };
        Ok(Requests { outgoing, incoming, places, indices })
    }

    /// The elements that were asked for, of a column of which this rank holds `part`; `total` on all ranks.
    pub(crate) fn fetched<T: Item>(&mut self, requests: &Requests, part: &[T], total: usize) -> Result<Vector, Fault> {
        let (rank, count) = (self.layout.rank, requests.count());
        let most = match &requests.indices {
            Indices::Asked(asked) => asked.len() - requests.incoming[rank],
            Indices::InTurns(_) => requests.incoming.iter().copied().max().unwrap_or(0),
        };
        let (mut replies, mut came, mut elements) = self.rooms(total, |meter| {
            Ok((meter.room::<T>(most)?, meter.room::<T>(count)?, meter.room::<T>(requests.moved())?))
        })?;
        match &requests.indices {
            Indices::Asked(asked) => {
                let (asked, asking) = (asked.elements::<i64>(), offsets(&requests.incoming));
                let element = |&index: &i64| part[index as usize];
                let (before, rest) = asked.split_at(asking[rank]);
                let (own, after) = rest.split_at(requests.incoming[rank]);
                with_own(&mut came, &requests.outgoing, rank, own.iter().map(element));
                replies.extend_from_iter(before.iter().chain(after).map(element));
                // What stays is not among the replies.
                let start = |target| asking[target] - if target > rank { own.len() } else { 0 };
                let reply = |target| &replies[start(target)..start(target) + requests.incoming[target]];
                self.collectives.communicator.exchange_others(reply, &requests.outgoing, &mut came);
            }
            Indices::InTurns(sorted) => {
                came.extend_with(count, T::default());
                let mut asked = self.rooms(total, |meter| meter.room(most))?;
                for turn in 0..self.layout.ranks {
                    let is_ours = turn == rank;
                    let none = vec![0; self.layout.ranks];
                    let outgoing = if is_ours { &requests.outgoing } else { &none };
                    let incoming = in_turn(&requests.incoming, Some(turn));
                    asked.clear();
                    asked.extend_with(incoming[turn], 0);
                    let own = if is_ours { &sorted[..] } else { &[] };
                    self.collectives.communicator.exchange_into(own, outgoing, &incoming, &mut asked);
                    replies.clear();
                    replies.extend_from_iter(asked.iter().map(|&index: &i64| part[index as usize]));
                    let target = if is_ours { &mut came[..] } else { &mut [] };
                    self.collectives.communicator.exchange_into(&replies, &incoming, outgoing, target);
                }
            }
        }
        let Some(places) = &requests.places else { return Ok(self.filled(came)) };
        elements.extend_from_iter(places.iter().map(|&place| came[place]));
        Ok(self.filled(elements))
    }

    /// Sends values, `total` on all ranks, to the owners of their indices. `take` makes of a state the next one with
    /// targets in this rank's block and their values, in the order in which they lie across the ranks: all at once, or
    /// those of one rank after another. Returns the last state.
    pub(crate) fn delivered<T: Item, S>(
        &mut self,
        requests: &Requests,
        values: &[T],
        total: usize,
        mut state: S,
        mut take: impl FnMut(&mut Distribution<L>, S, &Vector, &Vector) -> Result<S, Fault>,
    ) -> Result<S, Fault> {
        let rank = self.layout.rank;
        let mut sent = self.rooms(total, |meter| meter.room(requests.moved()))?;
        let sent = requests.sorted(values, &mut sent);
        match &requests.indices {
            Indices::Asked(targets) => {
                let mut came = self.rooms(total, |meter| meter.room(targets.len()))?;
                let sent_to = offsets(&requests.outgoing);
                let part = |target| &sent[sent_to[target]..sent_to[target + 1]];
                with_own(&mut came, &requests.incoming, rank, part(rank).iter().copied());
                self.collectives.communicator.exchange_others(part, &requests.incoming, &mut came);
                let came = self.filled(came);
                take(self, state, targets, &came)
            }
            Indices::InTurns(sorted) => {
                for turn in 0..self.layout.ranks {
                    let only = (turn != rank).then_some(usize::MAX);
                    let outgoing = in_turn(&requests.outgoing, only);
                    let incoming = in_turn(&requests.incoming, Some(turn));
                    let coming = incoming[turn];
                    let (mut targets, mut came) =
                        self.rooms(total, |meter| Ok((meter.room(coming)?, meter.room(coming)?)))?;
                    targets.extend_with(coming, 0);
                    came.extend_with(coming, T::default());
                    let (own, own_values) = if turn == rank { (&sorted[..], sent) } else { (&[][..], &[][..]) };
                    self.collectives.communicator.exchange_into(own, &outgoing, &incoming, &mut targets);
                    self.collectives.communicator.exchange_into(own_values, &outgoing, &incoming, &mut came);
                    let (targets, came) = (self.filled(targets), self.filled(came));
                    state = take(self, state, &targets, &came)?;
                }
                Ok(state)
            }
        }
    }

    /// How many flags are set on each rank: counted once for instructions that follow one another.
    pub(crate) fn true_counts(&mut self, flags: &Distributed, part: &Vector) -> Vec<usize> {
        let identity = match flags {
            Distributed::Block(Block { identity, .. }) => Some(identity),
            Distributed::Replicated(_) | Distributed::Ragged(_) => None,
        };
        if let (Some(identity), Some((known, counts))) = (identity, &self.cache.flags)
            && known.as_ptr() == Arc::as_ptr(identity)
        {
            return counts.clone();
        }
        let own = part.elements::<bool>().iter().filter(|&&flag| flag).count();
        let counts = self.collectives.communicator.all_gather_counts(own);
        if let Some(identity) = identity {
            self.cache.flags = Some((Arc::downgrade(identity), counts.clone()));
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_by_owner_are_known_as_such() {
        let bounds = [0, 3, 3, 7, 10];
        for (indices, expected) in [
            (vec![], Some(vec![0, 0, 0, 0])),
            (vec![2, 0, 0, 6, 3, 9], Some(vec![3, 0, 2, 1])),
            (vec![9, 9, 7], Some(vec![0, 0, 0, 3])),
            (vec![3, 2], None),
            (vec![0, 3, 0], None),
            (vec![0, 9, 3, 9], None),
        ] {
            assert_eq!(in_order(&bounds, &indices), expected, "{indices:?}");
            let mut places = Room::from(Vec::with_capacity(indices.len()));
            let counts = by_owner(&bounds, &indices, &mut places);
            assert!(expected.is_none_or(|expected| expected == counts));
            let is_identity = places.iter().enumerate().all(|(index, &place)| index == place);
            assert_eq!(is_identity, in_order(&bounds, &indices).is_some(), "{indices:?}");
        }
    }
}

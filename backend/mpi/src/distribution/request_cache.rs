//! What ranks ask of each other, worked out: kept for the instructions that come next.
//!
//! [`crate::distribution::requests`], [`crate::distribution::ranges`] and [`crate::distribution::excerpts`]
//! make and use it.

use crate::distribution::column::Item;
use crate::layout::offsets;
use nesl_backend::Vector;
use nesl_backend::data::memory::Room;
use std::ops::Range;
use std::sync::{Arc, Weak};

/// Which elements this rank asks for, and what the others ask of it.
#[derive(Debug)]
pub(crate) struct Requests {
    /// How many each rank is asked for by this one.
    pub(crate) outgoing: Vec<usize>,
    /// How many each rank asks for of this one.
    pub(crate) incoming: Vec<usize>,
    /// The place of each of this rank's indices among all of them sorted by owner; none where they lie so.
    pub(crate) places: Option<Room<usize>>,
    pub(crate) indices: Indices,
}

impl Requests {
    /// Whether they come to some rank in larger numbers than its share allows.
    pub(crate) fn has_hotspot(&self) -> bool {
        matches!(self.indices, Indices::InTurns(_))
    }

    /// How many there are of this rank.
    pub(crate) fn count(&self) -> usize {
        self.outgoing.iter().sum()
    }

    /// How many of them lie in another order than that of their owners.
    pub(crate) fn moved(&self) -> usize {
        self.places.as_ref().map_or(0, |places| places.len())
    }

    /// What this rank sends to the owners, in their order; there is room for it where it lies in another one.
    pub(crate) fn sorted<'e, T: Item>(&self, elements: &'e [T], room: &'e mut Room<T>) -> &'e [T] {
        let Some(places) = &self.places else { return elements };
        put(elements, places, room);
        room
    }
}

/// Indices, each relative to the first of its owner.
#[derive(Debug)]
pub(crate) enum Indices {
    /// Those that are asked for of this rank, in the order of those who ask.
    Asked(Vector),
    /// Those that this rank asks for, in the order of their owners: they are sent each time, one rank after another.
    InTurns(Room<i64>),
}

/// Part of a range that one rank holds.
#[derive(Debug)]
pub(crate) struct RangePart {
    pub(crate) owner: usize,
    /// Where it is in that rank's reply.
    pub(crate) place: usize,
    pub(crate) length: usize,
}

/// Which ranges this rank asks for, and what others ask of it.
#[derive(Debug)]
pub(crate) struct RangeRequests {
    /// The parts of all different ranges.
    pub(crate) runs: Vec<RangePart>,
    /// The parts of each range, one after another.
    pub(crate) order: Vec<(usize, usize)>,
    /// Elements that come from each rank.
    pub(crate) coming: Vec<usize>,
    /// Elements that go to each rank.
    pub(crate) going: Vec<usize>,
    /// How many numbers this rank's requests to each are.
    pub(crate) outgoing: Vec<usize>,
    /// How many numbers each rank's requests to this one are.
    pub(crate) incoming: Vec<usize>,
    /// Starts and lengths: those asked of this rank, or in turns those that it asks for.
    pub(crate) numbers: Vec<i64>,
    pub(crate) in_turns: bool,
}

impl RangeRequests {
    /// The elements of the ranges, one after another, from those that came in the order of their ranks.
    pub(crate) fn in_order<T: Item>(&self, came: &[T], elements: &mut Room<T>) {
        let starts = offsets(&self.coming);
        for &(first, end) in &self.order {
            for run in &self.runs[first..end] {
                let start = starts[run.owner] + run.place;
                elements.extend_from_slice(&came[start..start + run.length]);
            }
        }
    }
}

/// What a rank has read of a column, and what all have.
#[derive(Debug)]
pub(crate) struct Excerpt {
    pub(crate) of: Weak<()>,
    pub(crate) ranges: Vec<Range<usize>>,
    pub(crate) elements: Vector,
}

impl Excerpt {
    /// Whether nobody has the column any more.
    pub(crate) fn is_dead(&self) -> bool {
        self.of.strong_count() == 0
    }
}

/// What was worked out for instructions, for those that come next. All ranks keep the same.
#[derive(Debug, Default)]
pub(crate) struct RequestCache {
    pub(crate) requests: Option<(Weak<()>, usize, Arc<Requests>)>,
    pub(crate) ranges: Option<(Weak<()>, usize, Arc<RangeRequests>)>,
    pub(crate) flags: Option<(Weak<()>, Vec<usize>)>,
    /// The latest first.
    pub(crate) excerpts: Vec<Excerpt>,
}

impl RequestCache {
    /// Gives up what is about columns that nobody has any more.
    pub(crate) fn forget_dead(&mut self) {
        let is_dead = |identity: &Weak<()>| identity.strong_count() == 0;
        self.requests.take_if(|kept| is_dead(&kept.0));
        self.ranges.take_if(|kept| is_dead(&kept.0));
        self.flags.take_if(|kept| is_dead(&kept.0));
        self.excerpts.retain(|kept| !kept.is_dead());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.requests.is_none() && self.ranges.is_none() && self.flags.is_none() && self.excerpts.is_empty()
    }

    /// The requests for a map of segments and a column of `length` elements.
    pub(crate) fn ranges(&self, identity: &Arc<()>, length: usize) -> Option<Arc<RangeRequests>> {
        found(&self.ranges, identity, length)
    }

    pub(crate) fn keep_ranges(&mut self, identity: &Arc<()>, length: usize, requests: &Arc<RangeRequests>) {
        self.ranges = Some((Arc::downgrade(identity), length, Arc::clone(requests)));
    }
}

pub(crate) fn found<T>(kept: &Option<(Weak<()>, usize, Arc<T>)>, identity: &Arc<()>, length: usize) -> Option<Arc<T>> {
    let (known, of, requests) = kept.as_ref()?;
    (*of == length && known.as_ptr() == Arc::as_ptr(identity)).then(|| Arc::clone(requests))
}

/// Puts elements at their places.
pub(crate) fn put<T: Item>(elements: &[T], places: &[usize], room: &mut Room<T>) {
    room.extend_with(elements.len(), T::default());
    for (&element, &place) in elements.iter().zip(places) {
        room[place] = element;
    }
}

//! Runs of elements that move between ranks, where every rank knows which run goes where.
//!
//! Everybody works out the same list of intervals, so no rank has to be told what comes: one message for each pair of
//! ranks that has something to say to the other, and none about sizes.

#![allow(unsafe_code, reason = "elements go to memory that is not initialised; every block says why it is sound")]

use crate::communication::communicator::Communicator;
use crate::communication::wire::Wire;
use crate::layout::{Layout, offsets};
use std::mem::MaybeUninit;

/// Consecutive elements of something, for one rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Whose they are.
    pub rank: usize,
    /// The first.
    pub start: usize,
    /// How many.
    pub length: usize,
}

/// A run that lies on one rank and goes to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Interval {
    source: usize,
    /// Where it starts in what the source holds.
    start: usize,
    target: usize,
    length: usize,
}

/// For each piece of a whole (on which rank it is, and how long), where it starts in the whole, and in what its rank
/// holds.
pub fn starts_of(ranks: usize, pieces: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let (mut held, mut end) = (vec![0; ranks], 0);
    let start = |&(rank, length): &(usize, usize)| {
        let starts = (end, held[rank]);
        held[rank] += length;
        end += length;
        starts
    };
    pieces.iter().map(start).collect()
}

/// Which piece has the element at an index of the whole, by where pieces start.
pub fn run_at(starts: &[(usize, usize)], index: usize) -> usize {
    starts.partition_point(|&(start, _)| start <= index).saturating_sub(1)
}

/// What a rank holds of a column, one slice after another.
#[derive(Debug)]
pub struct LocalParts<'a, T> {
    slices: Vec<&'a [T]>,
    /// Where each starts, and where the last ends.
    starts: Vec<usize>,
}

impl<'a, T: Copy> LocalParts<'a, T> {
    /// Slices one after another.
    pub fn new(slices: Vec<&'a [T]>) -> LocalParts<'a, T> {
        let lengths: Vec<usize> = slices.iter().map(|slice| slice.len()).collect();
        LocalParts { slices, starts: offsets(&lengths) }
    }

    /// The slice with the element at a place, and where in it that is.
    fn place(&self, place: usize) -> (&'a [T], usize) {
        let slice = self.starts.partition_point(|&start| start <= place).clamp(1, self.slices.len()) - 1;
        (self.slices[slice], place - self.starts[slice])
    }

    /// The element at a place.
    pub fn at(&self, place: usize) -> T {
        let (slice, place) = self.place(place);
        slice[place]
    }

    /// Consecutive elements, if they are in one slice.
    fn run(&self, start: usize, length: usize) -> Option<&'a [T]> {
        if length == 0 {
            return Some(&[]);
        }
        let (slice, start) = self.place(start);
        slice.get(start..start + length)
    }

    /// Copies as many consecutive elements as there is room for.
    fn copy_to(&self, start: usize, target: &mut [MaybeUninit<T>]) {
        let mut done = 0;
        while done < target.len() {
            let (slice, place) = self.place(start + done);
            let length = (slice.len() - place).min(target.len() - done);
            target[done..done + length].write_copy_of_slice(&slice[place..place + length]);
            done += length;
        }
    }
}

/// Elements that one rank sends to another, or gets from it: runs of what it holds, none right behind the one before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Message {
    /// Start and length of each.
    runs: Vec<(usize, usize)>,
    length: usize,
}

impl Message {
    fn add(&mut self, start: usize, length: usize) {
        self.length += length;
        match self.runs.last_mut() {
            Some(last) if last.0 + last.1 == start => last.1 += length,
            _ => self.runs.push((start, length)),
        }
    }

    /// Its elements, if they lie one after another in what the rank holds.
    fn sent<'a, T: Copy>(&self, held: &LocalParts<'a, T>) -> Option<&'a [T]> {
        held.run(self.whole()?, self.length)
    }

    /// Where it starts, if it is in one piece.
    fn whole(&self) -> Option<usize> {
        match self.runs.as_slice() {
            [] => Some(0),
            &[(start, _)] => Some(start),
            _ => None,
        }
    }
}

/// What a redistribution means for one rank.
#[derive(Debug)]
pub struct RankPlan {
    /// For each rank, what goes there, in what this rank holds.
    outgoing: Vec<Message>,
    /// For each rank, what comes from there, in what this rank gets.
    incoming: Vec<Message>,
    /// What stays: from where, to where, and how much.
    staying: Vec<(usize, usize, usize)>,
    /// The elements that this rank gets, those that stay among them.
    total: usize,
}

impl RankPlan {
    /// How many elements this rank gets, those that stay among them.
    pub fn total(&self) -> usize {
        self.total
    }

    /// How many elements have to be put together before they are sent.
    pub fn packed<T: Copy>(&self, held: &LocalParts<'_, T>) -> usize {
        self.outgoing.iter().filter(|message| message.sent(held).is_none()).map(|message| message.length).sum()
    }

    /// How many elements do not come where they belong.
    pub fn unpacked(&self) -> usize {
        self.incoming.iter().filter(|message| message.whole().is_none()).map(|message| message.length).sum()
    }

    /// Moves elements, of which this rank holds some, to room for [`RankPlan::total`], by way of room for those that
    /// are [`RankPlan::packed`] and [`RankPlan::unpacked`]. After this all of the elements are initialised.
    pub fn execute<T: Wire>(
        &self,
        communicator: &mut Communicator,
        held: &LocalParts<'_, T>,
        packed: &mut [MaybeUninit<T>],
        unpacked: &mut [MaybeUninit<T>],
        elements: &mut [MaybeUninit<T>],
    ) {
        let (outgoing, incoming) = self.pack(held, packed, unpacked, elements);
        communicator.exchange_slices(&outgoing, incoming);
        self.unpack(unpacked, elements);
    }

    /// Moves what stays, and says which elements go to each rank, and where those from each come. They go by way of
    /// room as [`RankPlan::execute`] has it.
    pub fn pack<'e, T: Wire>(
        &self,
        held: &LocalParts<'e, T>,
        mut packed: &'e mut [MaybeUninit<T>],
        unpacked: &'e mut [MaybeUninit<T>],
        elements: &'e mut [MaybeUninit<T>],
    ) -> (Vec<&'e [T]>, Vec<&'e mut [MaybeUninit<T>]>) {
        for &(start, place, length) in &self.staying {
            held.copy_to(start, &mut elements[place..place + length]);
        }
        let pack = |message: &Message| {
            message.sent(held).unwrap_or_else(|| {
                let (parcel, rest) = std::mem::take(&mut packed).split_at_mut(message.length);
                packed = rest;
                let mut end = 0;
                for &(start, length) in &message.runs {
                    held.copy_to(start, &mut parcel[end..end + length]);
                    end += length;
                }
                // SAFETY: the runs of a message have as many elements as it, and all have been copied.
                unsafe { parcel.assume_init_ref() }
            })
        };
        let outgoing = self.outgoing.iter().map(pack).collect();
        // Those that come where they belong, by their places.
        let whole = |(source, message): (usize, &Message)| Some((message.whole()?, message.length, source));
        let mut whole: Vec<_> = self.incoming.iter().enumerate().filter_map(whole).collect();
        whole.sort_unstable();
        let mut incoming: Vec<&mut [MaybeUninit<T>]> = self.incoming.iter().map(|_| Default::default()).collect();
        let (mut rest, mut behind) = (elements, 0);
        for (place, length, source) in whole.into_iter().filter(|parcel| parcel.1 > 0) {
            let (parcel, others) = std::mem::take(&mut rest)[place - behind..].split_at_mut(length);
            (incoming[source], rest, behind) = (parcel, others, place + length);
        }
        let mut apart = unpacked;
        for (source, message) in self.incoming.iter().enumerate().filter(|(_, message)| message.whole().is_none()) {
            let (parcel, others) = std::mem::take(&mut apart).split_at_mut(message.length);
            (incoming[source], apart) = (parcel, others);
        }
        (outgoing, incoming)
    }

    /// Puts what has come where it belongs. After this all of the elements are initialised.
    pub fn unpack<T: Wire>(&self, mut unpacked: &[MaybeUninit<T>], elements: &mut [MaybeUninit<T>]) {
        for message in self.incoming.iter().filter(|message| message.whole().is_none()) {
            for &(place, length) in &message.runs {
                let (run, others) = unpacked.split_at(length);
                elements[place..place + length].copy_from_slice(run);
                unpacked = others;
            }
        }
    }
}

/// Which elements go where, in the order in which they lie at their targets.
#[derive(Debug)]
pub struct Redistribution(Vec<Interval>);

impl Redistribution {
    /// From a column in pieces, each rank with its own one after another, to the ranks of runs of it.
    pub fn from_runs(ranks: usize, pieces: &[(usize, usize)], runs: &[Run]) -> Redistribution {
        let starts = starts_of(ranks, pieces);
        let mut intervals = Vec::with_capacity(runs.len() + pieces.len());
        for run in runs {
            let (mut start, end) = (run.start, run.start + run.length);
            let mut piece = run_at(&starts, start);
            while start < end {
                let (source, length) = pieces[piece];
                let (first, place) = starts[piece];
                let part = end.min(first + length) - start;
                if part > 0 {
                    intervals.push(Interval { source, start: place + start - first, target: run.rank, length: part });
                }
                start += part;
                piece += 1;
            }
        }
        Redistribution(intervals)
    }

    /// From where rank r holds positions `held[r]..held[r + 1]` of a sequence to where it gets
    /// `wanted[r]..wanted[r + 1]`. All that is wanted is held.
    pub fn between(held: &[usize], wanted: &[usize]) -> Redistribution {
        let lengths =
            |bounds: &[usize]| bounds.windows(2).map(|pair| pair[1] - pair[0]).enumerate().collect::<Vec<_>>();
        let run = |(rank, length): (usize, usize)| Run { rank, start: wanted[rank] - held[0], length };
        let runs: Vec<Run> = lengths(wanted).into_iter().map(run).collect();
        Redistribution::from_runs(runs.len(), &lengths(held), &runs)
    }

    /// From a column in pieces to all ranks, each of which gets all of it.
    pub fn to_all(ranks: usize, pieces: &[(usize, usize)]) -> Redistribution {
        let length = pieces.iter().map(|piece| piece.1).sum();
        let whole = |rank| Run { rank, start: 0, length };
        Redistribution::from_runs(ranks, pieces, &(0..ranks).map(whole).collect::<Vec<_>>())
    }

    /// To the blocks of a column from pieces, which are those of the whole in order; each rank holds its own one after
    /// another.
    pub fn to_blocks(layout: Layout, pieces: &[(usize, usize)]) -> Redistribution {
        let length = pieces.iter().map(|piece| piece.1).sum();
        let bounds = layout.bounds(length);
        let mut held = vec![0; layout.ranks];
        let mut intervals = Vec::with_capacity(pieces.len() + layout.ranks);
        let mut start = 0;
        for &(source, piece) in pieces {
            let end = start + piece;
            while start < end {
                let target = layout.owner(length, start);
                let part = end.min(bounds[target + 1]) - start;
                intervals.push(Interval { source, start: held[source], target, length: part });
                held[source] += part;
                start += part;
            }
        }
        Redistribution(intervals)
    }

    /// From ranks each of which has all of a column to those behind them, each of which gets all of it from one.
    pub fn to_newcomers(before: usize, after: usize, length: usize) -> Redistribution {
        let to = |target| Interval { source: target % before, start: 0, target, length };
        Redistribution((before..after).map(to).filter(|interval| interval.length > 0).collect())
    }

    /// How many elements stay where they are.
    pub fn stayed(&self) -> usize {
        let staying = self.0.iter().filter(|interval| interval.source == interval.target);
        staying.map(|interval| interval.length).sum()
    }

    /// Which ranks have something to send to which others.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        let moving = self.0.iter().filter(|interval| interval.source != interval.target);
        moving.map(|interval| (interval.source, interval.target))
    }

    /// How many elements go from one rank to another.
    pub fn moved(&self) -> usize {
        let moving = self.0.iter().filter(|interval| interval.source != interval.target);
        moving.map(|interval| interval.length).sum()
    }

    /// What one of the ranks has to do.
    pub fn plan_of(&self, layout: Layout) -> RankPlan {
        let Layout { rank, ranks } = layout;
        let (mut outgoing, mut incoming) = (vec![Message::default(); ranks], vec![Message::default(); ranks]);
        let (mut staying, mut total) = (Vec::new(), 0);
        for &Interval { source, start, target, length } in &self.0 {
            match (source == rank, target == rank) {
                (true, true) => staying.push((start, total, length)),
                (true, false) => outgoing[target].add(start, length),
                (false, true) => incoming[source].add(total, length),
                (false, false) => {}
            }
            if target == rank {
                total += length;
            }
        }
        RankPlan { outgoing, incoming, staying, total }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval((source, start, target, length): (usize, usize, usize, usize)) -> Interval {
        Interval { source, start, target, length }
    }

    #[test]
    fn runs_are_cut_where_blocks_end() {
        let layout = Layout { rank: 0, ranks: 3 };
        let runs = [Run { rank: 2, start: 1, length: 4 }, Run { rank: 0, start: 7, length: 2 }];
        let Redistribution(intervals) = Redistribution::from_runs(3, &[(0, 3), (1, 3), (2, 3)], &runs);
        assert_eq!(intervals, [(0, 1, 2, 2), (1, 0, 2, 2), (2, 1, 0, 2)].map(interval));
        let Redistribution(intervals) = Redistribution::from_runs(3, &[(2, 3), (1, 0), (0, 2), (2, 4)], &runs);
        assert_eq!(intervals, [(2, 1, 2, 2), (0, 0, 2, 2), (2, 5, 0, 2)].map(interval));
        let Redistribution(intervals) = Redistribution::between(&[0, 3, 3, 9], &[2, 5, 8, 8]);
        assert_eq!(intervals, [(0, 2, 0, 1), (2, 0, 0, 2), (2, 2, 1, 3)].map(interval));
        let Redistribution(intervals) = Redistribution::to_blocks(layout, &[(1, 4), (0, 0), (0, 3), (1, 2)]);
        assert_eq!(intervals, [(1, 0, 0, 3), (1, 3, 1, 1), (0, 0, 1, 2), (0, 2, 2, 1), (1, 4, 2, 2)].map(interval));
    }

    #[test]
    fn what_lies_in_order_is_not_copied() {
        let elements = [10i64, 11, 12, 13];
        let held = LocalParts::new(vec![&elements[..]]);
        let apart = LocalParts::new(vec![&elements[..2], &[], &elements[2..]]);
        let layout = Layout { rank: 1, ranks: 3 };
        let plan = Redistribution(vec![interval((1, 1, 0, 1)), interval((0, 0, 0, 9)), interval((1, 2, 2, 2))])
            .plan_of(layout);
        assert_eq!((plan.packed(&held), plan.packed(&apart)), (0, 0));
        assert_eq!(plan.outgoing[2].sent(&held), Some(&elements[2..]));
        let plan = Redistribution(vec![interval((1, 3, 2, 1)), interval((1, 0, 2, 2)), interval((1, 1, 0, 2))])
            .plan_of(layout);
        assert_eq!((plan.packed(&held), plan.packed(&apart)), (3, 5));
        assert_eq!([0, 1, 2, 3].map(|place| apart.at(place)), elements);
        let mut copied = [MaybeUninit::new(0); 3];
        apart.copy_to(1, &mut copied);
        // SAFETY: they were before.
        assert_eq!(unsafe { copied.assume_init_ref() }, [11, 12, 13]);
    }

    #[test]
    fn what_comes_in_order_comes_where_it_belongs() {
        let layout = Layout { rank: 0, ranks: 3 };
        let redistribution = Redistribution(vec![
            interval((2, 0, 0, 3)),
            interval((0, 5, 0, 2)),
            interval((1, 0, 0, 1)),
            interval((1, 1, 0, 1)),
        ]);
        let plan = redistribution.plan_of(layout);
        assert_eq!((plan.total(), plan.unpacked(), plan.staying), (7, 0, vec![(5, 3, 2)]));
        let redistribution =
            Redistribution(vec![interval((2, 0, 0, 1)), interval((1, 0, 0, 4)), interval((2, 1, 0, 1))]);
        assert_eq!((redistribution.plan_of(layout).unpacked(), redistribution.moved()), (2, 6));
    }

    #[test]
    fn all_ranks_get_what_lies_in_pieces() {
        let Redistribution(intervals) = Redistribution::to_all(2, &[(1, 2), (0, 3)]);
        assert_eq!(intervals, [(1, 0, 0, 2), (0, 0, 0, 3), (1, 0, 1, 2), (0, 0, 1, 3)].map(interval));
    }
}

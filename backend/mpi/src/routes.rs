//! Runs of elements that move between ranks, where every rank knows which run goes where.
//!
//! Everybody works out the same list of fragments, so no rank has to be told what comes: one message for each pair of ranks that
//! has something to say to the other, and none about sizes.

use crate::communicator::{Communicator, Wire};
use crate::layout::{Layout, offsets};

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
struct Fragment {
    source: usize,
    /// Where it starts in what the source holds.
    start: usize,
    target: usize,
    length: usize,
}

/// For each piece of a whole (on which rank it is, and how long), where it starts in the whole, and in what its rank holds.
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
pub fn piece_at(starts: &[(usize, usize)], index: usize) -> usize {
    starts.partition_point(|&(start, _)| start <= index).saturating_sub(1)
}

/// What a rank holds of a column, one slice after another.
#[derive(Debug)]
pub struct Lying<'a, T> {
    slices: Vec<&'a [T]>,
    /// Where each starts, and where the last ends.
    starts: Vec<usize>,
}

impl<'a, T: Copy> Lying<'a, T> {
    /// Slices one after another.
    pub fn new(slices: Vec<&'a [T]>) -> Lying<'a, T> {
        let lengths: Vec<usize> = slices.iter().map(|slice| slice.len()).collect();
        Lying { slices, starts: offsets(&lengths) }
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

    /// Elements that lie in one slice, as pieces do.
    fn piece(&self, start: usize, length: usize) -> &'a [T] {
        if length == 0 {
            return &[];
        }
        let (slice, start) = self.place(start);
        &slice[start..start + length]
    }
}

/// Which elements go where, in the order in which they lie at their targets.
#[derive(Debug)]
pub struct Route(Vec<Fragment>);

impl Route {
    /// From a column in pieces, each rank with its own one after another, to the ranks of runs of it.
    pub fn from_pieces(ranks: usize, pieces: &[(usize, usize)], runs: &[Run]) -> Route {
        let starts = starts_of(ranks, pieces);
        let mut fragments = Vec::with_capacity(runs.len() + pieces.len());
        for run in runs {
            let (mut start, end) = (run.start, run.start + run.length);
            let mut piece = piece_at(&starts, start);
            while start < end {
                let (source, length) = pieces[piece];
                let (first, place) = starts[piece];
                let part = end.min(first + length) - start;
                if part > 0 {
                    fragments.push(Fragment { source, start: place + start - first, target: run.rank, length: part });
                }
                start += part;
                piece += 1;
            }
        }
        Route(fragments)
    }

    /// To the blocks of a column from pieces, which are those of the whole in order; each rank holds its own one after another.
    pub fn to_blocks(layout: Layout, pieces: &[(usize, usize)]) -> Route {
        let length = pieces.iter().map(|piece| piece.1).sum();
        let bounds = layout.bounds(length);
        let mut held = vec![0; layout.ranks];
        let mut fragments = Vec::with_capacity(pieces.len() + layout.ranks);
        let mut start = 0;
        for &(source, piece) in pieces {
            let end = start + piece;
            while start < end {
                let target = layout.owner(length, start);
                let part = end.min(bounds[target + 1]) - start;
                fragments.push(Fragment { source, start: held[source], target, length: part });
                held[source] += part;
                start += part;
            }
        }
        Route(fragments)
    }

    /// How many elements go from one rank to another.
    pub fn moved(&self) -> usize {
        let moving = self.0.iter().filter(|fragment| fragment.source != fragment.target);
        moving.map(|fragment| fragment.length).sum()
    }

    /// Moves elements, of which this rank holds `part`; what this rank gets, in `storage`.
    pub fn carry<T: Wire>(&self, communicator: &mut Communicator, part: &Lying<'_, T>, storage: Vec<T>) -> Vec<T> {
        let Layout { rank, ranks } = communicator.layout();
        let (mut outgoing, mut incoming) = (vec![0; ranks], vec![0; ranks]);
        for fragment in &self.0 {
            if fragment.source == rank {
                outgoing[fragment.target] += fragment.length;
            }
            if fragment.target == rank {
                incoming[fragment.source] += fragment.length;
            }
        }
        let sent = self.sent(rank, &outgoing, part);
        let sent = sent.as_deref().unwrap_or_else(|| self.lying(rank, part));
        if self.arrives_in_order(rank) {
            return communicator.exchange_known(sent, &outgoing, &incoming, storage);
        }
        let received = communicator.exchange_known(sent, &outgoing, &incoming, Vec::new());
        let mut next = offsets(&incoming);
        let mut elements = storage;
        elements.clear();
        for fragment in self.0.iter().filter(|fragment| fragment.target == rank) {
            let start = next[fragment.source];
            next[fragment.source] += fragment.length;
            elements.extend_from_slice(&received[start..start + fragment.length]);
        }
        elements
    }

    /// What a rank sends, by targets, if it has to be brought in that order.
    fn sent<T: Wire>(&self, rank: usize, counts: &[usize], part: &Lying<'_, T>) -> Option<Vec<T>> {
        let own = || self.0.iter().filter(|fragment| fragment.source == rank);
        let is_lying = own()
            .zip(own().skip(1))
            .all(|(one, next)| next.start == one.start + one.length && next.target >= one.target);
        if is_lying && part.slices.len() == 1 {
            return None;
        }
        let mut next = offsets(counts);
        let mut sent = vec![T::default(); next[counts.len()]];
        for fragment in own() {
            let start = next[fragment.target];
            next[fragment.target] += fragment.length;
            sent[start..start + fragment.length].copy_from_slice(part.piece(fragment.start, fragment.length));
        }
        Some(sent)
    }

    /// What a rank sends, where that lies in order.
    fn lying<'a, T: Copy>(&self, rank: usize, part: &Lying<'a, T>) -> &'a [T] {
        let mut own = self.0.iter().filter(|fragment| fragment.source == rank);
        let Some(first) = own.next() else { return &[] };
        let last = own.next_back().unwrap_or(first);
        part.piece(first.start, last.start + last.length - first.start)
    }

    /// Whether what comes from lower ranks comes first.
    fn arrives_in_order(&self, rank: usize) -> bool {
        self.0.iter().filter(|fragment| fragment.target == rank).is_sorted_by_key(|fragment| fragment.source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fragment((source, start, target, length): (usize, usize, usize, usize)) -> Fragment {
        Fragment { source, start, target, length }
    }

    #[test]
    fn runs_are_cut_where_blocks_end() {
        let layout = Layout { rank: 0, ranks: 3 };
        let runs = [Run { rank: 2, start: 1, length: 4 }, Run { rank: 0, start: 7, length: 2 }];
        let Route(fragments) = Route::from_pieces(3, &[(0, 3), (1, 3), (2, 3)], &runs);
        assert_eq!(fragments, [(0, 1, 2, 2), (1, 0, 2, 2), (2, 1, 0, 2)].map(fragment));
        let Route(fragments) = Route::from_pieces(3, &[(2, 3), (1, 0), (0, 2), (2, 4)], &runs);
        assert_eq!(fragments, [(2, 1, 2, 2), (0, 0, 2, 2), (2, 5, 0, 2)].map(fragment));
        let Route(fragments) = Route::to_blocks(layout, &[(1, 4), (0, 0), (0, 3), (1, 2)]);
        assert_eq!(fragments, [(1, 0, 0, 3), (1, 3, 1, 1), (0, 0, 1, 2), (0, 2, 2, 1), (1, 4, 2, 2)].map(fragment));
    }

    #[test]
    fn what_lies_in_order_is_not_copied() {
        let elements = [10i64, 11, 12, 13];
        let part = Lying::new(vec![&elements[..]]);
        let route = Route(vec![fragment((1, 1, 0, 1)), fragment((0, 0, 0, 9)), fragment((1, 2, 2, 2))]);
        assert_eq!(route.sent(1, &[1, 0, 2], &part), None);
        assert_eq!(route.lying(1, &part), &elements[1..]);
        let route = Route(vec![fragment((1, 3, 2, 1)), fragment((1, 0, 0, 2))]);
        assert_eq!(route.sent(1, &[2, 0, 1], &part), Some(vec![10, 11, 13]));
        let apart = Lying::new(vec![&elements[..2], &[], &elements[2..]]);
        assert_eq!(route.sent(1, &[2, 0, 1], &apart), Some(vec![10, 11, 13]));
        assert_eq!([0, 1, 2, 3].map(|place| apart.at(place)), elements);
        assert!(!Route(vec![fragment((2, 0, 0, 1)), fragment((1, 0, 0, 1))]).arrives_in_order(0));
    }
}

//! Elements in order, and where they are in it: `sort_up`, `rank_up` and their segmented and descending kin, as a sample sort.
//!
//! Every rank sorts its block by segment, key and index, and contributes evenly spaced samples; the samples of all, sorted,
//! say which run of the result each rank gets. No two elements are equal, since indices differ, so that runs are about
//! equally long whatever the keys are. The runs, moved back into blocks, are the indices in sorted order: the ranks are
//! the inverse permutation, and what is sorted by segment is gathered by them; a whole column is sorted without indices. A segment keeps its place in packed order, so that its elements only permute among themselves.

use crate::distribution::column::{Column, Descriptor};
use crate::distribution::ragged::Placed;
use crate::ranks::Ranks;
use nesl_backend::{Engine, Fault, Vector, on_vector};
use nesl_prim::Direction;
use std::ops::Range;

/// Segment, key and index of an element.
type Item = [i64; 3];

/// Samples of each rank for every rank: no run is longer than its fair share by more than about this part of it.
const OVERSAMPLING: usize = 32;

impl<L: Engine<Column = Vector>> Ranks<L> {
    /// `rank_up` and `rank_down`.
    pub(crate) fn order_elements(&mut self, direction: Direction, column: &Column) -> Result<Column, Fault> {
        let (length, part) = match column {
            Column::Common(vector) => {
                let ranks = self.local.order(direction, vector);
                return self.replicated(ranks).map(Column::Common);
            }
            Column::Partitioned { length, part, .. } => (*length, part),
        };
        let order = self.indices_in_order(direction, length, part)?;
        let positions = self.number_elements(length)?;
        self.permute_values(&positions, &order)
    }

    /// `sort_up` and `sort_down`. Equal elements are the same, so nothing but elements travels, and they stay where they arrive.
    pub(crate) fn sort_elements(&mut self, direction: Direction, column: &Column) -> Result<Placed, Fault> {
        let (length, part) = match column {
            Column::Common(vector) => {
                let sorted = self.local.sort(direction, vector);
                return self.replicated(sorted).map(Column::Common).map(Placed::Settled);
            }
            Column::Partitioned { length, part, .. } => (*length, part),
        };
        let sorted = self.local.sort(direction, part);
        let sorted = self.settle(length, sorted)?;
        let rank = self.layout.rank as i64;
        let run = on_vector!(&sorted, slice => {
            let elements = slice.elements();
            let counts = self.runs(elements.len(), |at| [direction.key(elements[at]), rank, at as i64]);
            let (received, _) = self.communicator.exchange(elements, &counts);
            self.adopt(length, received)?
        });
        let run = self.local.sort(direction, &run);
        let run = self.settle(length, run)?;
        let counts = self.communicator.all_gather_counts(run.len());
        self.loose(counts.into_iter().enumerate().collect(), run)
    }

    /// The indices of the elements of a partitioned column, in order.
    fn indices_in_order(&mut self, direction: Direction, length: usize, part: &Vector) -> Result<Column, Fault> {
        let share = self.layout.share(length);
        let mut items = self.storage(length, share.len())?;
        append_items(&mut items, direction, part, 0..part.len(), 0, share.start);
        self.sorted_indices(length, items)
    }

    /// `seg_rank_up` and `seg_rank_down`.
    pub(crate) fn order_segments(
        &mut self,
        direction: Direction,
        column: &Column,
        descriptor: &Descriptor<L::Descriptor>,
    ) -> Result<Column, Fault> {
        if let Some((vector, local)) = self.small_operands(column, descriptor)? {
            let ranks = self.local.seg_order(direction, &vector, &local);
            return self.replicated(ranks).map(Column::Common);
        }
        let order = self.indices_in_segments(direction, column, descriptor)?;
        let positions = self.number_segments(descriptor)?;
        self.permute_values(&positions, &order)
    }

    /// `seg_sort_up` and `seg_sort_down`.
    pub(crate) fn sort_segments(
        &mut self,
        direction: Direction,
        column: &Column,
        descriptor: &Descriptor<L::Descriptor>,
    ) -> Result<Column, Fault> {
        if let Some((vector, local)) = self.small_operands(column, descriptor)? {
            let sorted = self.local.seg_sort(direction, &vector, &local);
            return self.replicated(sorted).map(Column::Common);
        }
        let packed = self.compact_segments(column, descriptor)?;
        let order = self.indices_in_segments(direction, column, descriptor)?;
        self.gather_elements(&packed, &order)
    }

    /// The indices in packed order of the elements of all segments, in the order of each.
    fn indices_in_segments(
        &mut self,
        direction: Direction,
        column: &Column,
        descriptor: &Descriptor<L::Descriptor>,
    ) -> Result<Column, Fault> {
        let (part, map) = self.packed_part(column, descriptor)?;
        let mut items = self.storage(map.total, part.len())?;
        for piece in &map.pieces {
            let inside = map.inside(*piece);
            let here = inside.start - map.share.start..inside.end - map.share.start;
            append_items(&mut items, direction, &part, here, piece.segment as i64, map.share.start);
        }
        self.sorted_indices(map.total, items)
    }

    /// The indices of all items in sorted order, from the items of this rank's block of `length`.
    fn sorted_indices(&mut self, length: usize, mut items: Vec<Item>) -> Result<Column, Fault> {
        items.sort_unstable();
        let counts: Vec<usize> = self.runs(items.len(), |at| items[at]).iter().map(|count| 3 * count).collect();
        let (received, _) = self.communicator.exchange(items.as_flattened(), &counts);
        drop(items);
        let (received, _) = received.as_chunks::<3>();
        let mut run = self.storage(length, received.len())?;
        run.extend_from_slice(received);
        run.sort_unstable();
        let mut indices = self.storage(length, run.len())?;
        indices.extend(run.iter().map(|item: &Item| item[2]));
        drop(run);
        let indices = self.adopt(length, indices)?;
        self.assemble(indices)
    }

    /// How many of so many sorted items go to the run of each rank.
    fn runs(&mut self, length: usize, item: impl Fn(usize) -> Item) -> Vec<usize> {
        let splitters = self.splitters(length, &item);
        let bounds: Vec<usize> = splitters.iter().map(|splitter| place(length, |at| item(at) < *splitter)).collect();
        let ends = bounds.iter().copied().chain([length]);
        [0].into_iter().chain(bounds.iter().copied()).zip(ends).map(|(start, end)| end - start).collect()
    }

    /// The least item of the run of every rank but the first, the same on all ranks.
    fn splitters(&mut self, length: usize, item: &impl Fn(usize) -> Item) -> Vec<Item> {
        let ranks = self.layout.ranks;
        let count = (OVERSAMPLING * ranks).min(length);
        let samples: Vec<Item> = (0..count).map(|sample| item(sample * length / count)).collect();
        let counts: Vec<usize> = self.communicator.all_gather_counts(3 * count);
        let all = self.communicator.all_gather_varied(samples.as_flattened(), &counts, Vec::new());
        let (all, _) = all.as_chunks::<3>();
        let mut all = all.to_vec();
        all.sort_unstable();
        // Where there are no items at all, every rank gets nothing, wherever that is cut.
        (1..ranks).map(|rank| all.get(rank * all.len() / ranks).copied().unwrap_or_default()).collect()
    }
}

/// The first of so many places that is not before something, where those that are come first.
fn place(length: usize, is_before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, length);
    while low < high {
        let middle = low + (high - low) / 2;
        if is_before(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// Adds the elements in a range of a block that starts at index `first`.
fn append_items(
    items: &mut Vec<Item>,
    direction: Direction,
    part: &Vector,
    range: Range<usize>,
    segment: i64,
    first: usize,
) {
    on_vector!(part, slice => {
        let elements = &slice.elements()[range.clone()];
        items.extend(range.zip(elements).map(|(at, &element)| [segment, direction.key(element), (first + at) as i64]));
    })
}

//! Elements in order, and where they are in it: `sort_up`, `rank_up` and their segmented and descending kin, as a
//! sample sort.
//!
//! Every rank sorts its block by segment, key and index, and contributes evenly spaced samples; the samples of all,
//! sorted, say which run of the result each rank gets. No two elements are equal, since indices differ, so that runs
//! are about equally long whatever the keys are. The runs, moved back into blocks, are the indices in sorted order: the
//! ranks are the inverse permutation, and what is sorted by segment is gathered by them; a whole column is sorted
//! without indices. A segment keeps its place in packed order, so that its elements only permute among themselves.

use crate::distribution::column::{Block, Distributed};
use crate::distribution::descriptor::Descriptor;
use crate::distribution::{Distribution, LocalEngine};
use crate::instructions::elementwise;
use crate::instructions::packed;
use crate::instructions::permute;
use crate::instructions::segment;
use nesl_backend::{Fault, Order, Permute, Vector, on_vector};
use nesl_prim::Direction;
use std::ops::Range;

/// Elements in order, or their places in it.
pub(crate) fn run<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    order: Order,
    direction: Direction,
    column: &Distributed,
    descriptor: Option<&Descriptor<L::Descriptor>>,
) -> Result<Distributed, Fault> {
    match (order, descriptor) {
        (Order::Sort, None) => sort(ranks, direction, column),
        (Order::Sort, Some(descriptor)) => seg_sort(ranks, direction, column, descriptor),
        (Order::Rank, None) => self::order(ranks, direction, column),
        (Order::Rank, Some(descriptor)) => seg_order(ranks, direction, column, descriptor),
    }
}

/// `sort_up` and `sort_down`. Equal elements are the same, so nothing but elements travels, and they stay where they
/// arrive.
pub(crate) fn sort<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    direction: Direction,
    column: &Distributed,
) -> Result<Distributed, Fault> {
    if let Some(vector) = column.replicated() {
        let sorted = ranks.local.order(Order::Sort, direction, vector, None);
        return ranks.collectives.replicated(sorted).map(Distributed::Replicated);
    }
    let Block { length, part, .. } = ranks.block(column)?;
    let part = &part;
    let sorted = ranks.local.order(Order::Sort, direction, part, None);
    let sorted = ranks.collectives.settle(length, sorted)?;
    let rank = ranks.layout.rank as i64;
    let run = on_vector!(&sorted, slice => {
        let elements = slice.elements();
        let counts = runs(ranks, elements.len(), |at| [direction.key(elements[at]), rank, at as i64]);
        let (received, _) = ranks.collectives.communicator.exchange(elements, &counts);
        ranks.adopt(length, received)?
    });
    let run = ranks.local.order(Order::Sort, direction, &run, None);
    let run = ranks.collectives.settle(length, run)?;
    let counts = ranks.collectives.communicator.all_gather_counts(run.len());
    ranks.ragged(counts.into_iter().enumerate().collect(), run)
}

/// `seg_sort_up` and `seg_sort_down`.
pub(crate) fn seg_sort<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    direction: Direction,
    column: &Distributed,
    descriptor: &Descriptor<L::Descriptor>,
) -> Result<Distributed, Fault> {
    let column = &ranks.in_blocks(column)?;
    if let Some((vector, local)) = packed::small_operands(ranks, column, descriptor)? {
        let sorted = ranks.local.order(Order::Sort, direction, &vector, Some(&local));
        return ranks.collectives.replicated(sorted).map(Distributed::Replicated);
    }
    let packed = packed::compact_in_blocks(ranks, column, descriptor)?;
    let order = indices_in_segments(ranks, direction, column, descriptor)?;
    permute::gather(ranks, &packed, &order)
}

/// `rank_up` and `rank_down`.
pub(crate) fn order<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    direction: Direction,
    column: &Distributed,
) -> Result<Distributed, Fault> {
    if let Some(vector) = column.replicated() {
        let order = ranks.local.order(Order::Rank, direction, vector, None);
        return ranks.collectives.replicated(order).map(Distributed::Replicated);
    }
    let Block { length, part, .. } = ranks.block(column)?;
    let part = &part;
    let order = indices_in_order(ranks, direction, length, part)?;
    let positions = elementwise::iota(ranks, length)?;
    permute::permute(ranks, &positions, &order)
}

/// `seg_rank_up` and `seg_rank_down`.
pub(crate) fn seg_order<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    direction: Direction,
    column: &Distributed,
    descriptor: &Descriptor<L::Descriptor>,
) -> Result<Distributed, Fault> {
    let column = &ranks.in_blocks(column)?;
    if let Some((vector, local)) = packed::small_operands(ranks, column, descriptor)? {
        let order = ranks.local.order(Order::Rank, direction, &vector, Some(&local));
        return ranks.collectives.replicated(order).map(Distributed::Replicated);
    }
    let order = indices_in_segments(ranks, direction, column, descriptor)?;
    let positions = segment::seg_iota(ranks, descriptor)?;
    permute::permute(ranks, &positions, &order)
}

/// Segment, key and index of an element.
type Item = [i64; 3];

/// Samples of each rank for every rank: no run is longer than its fair share by more than about this part of it.
const OVERSAMPLING: usize = 32;

/// The indices of the elements of a partitioned column, in order. The local engine orders what a rank has, and what has
/// come: equal keys come in the order of their indices.
fn indices_in_order<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    direction: Direction,
    length: usize,
    part: &Vector,
) -> Result<Distributed, Fault> {
    let (share, count) = (ranks.layout.share(length), part.len());
    let (mut keys, mut indices) = (ranks.storage(length, count)?, ranks.storage(length, count)?);
    on_vector!(part, slice => keys.extend(slice.elements().iter().map(|&element| direction.key(element))));
    indices.extend(share.map(|index| index as i64));
    let (keys, indices) = (ranks.adopt(length, keys)?, ranks.adopt(length, indices)?);
    let [keys, indices] = by_key(ranks, length, keys, indices)?;
    let (own_keys, own_indices) = (keys.elements::<i64>(), indices.elements::<i64>());
    let counts = runs(ranks, count, |at| [0, own_keys[at], own_indices[at]]);
    let (received, _) = ranks.collectives.communicator.exchange(own_keys, &counts);
    let keys = ranks.adopt(length, received)?;
    let (received, _) = ranks.collectives.communicator.exchange(own_indices, &counts);
    let indices = ranks.adopt(length, received)?;
    let [_, indices] = by_key(ranks, length, keys, indices)?;
    ranks.assemble(indices)
}

/// Keys of this rank in order, and the indices that belong to them; equal ones stay as they are.
fn by_key<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    length: usize,
    keys: Vector,
    indices: Vector,
) -> Result<[Vector; 2], Fault> {
    let places = ranks.local.order(Order::Rank, Direction::Up, &keys, None);
    let places = ranks.collectives.settle(length, places)?;
    let mut moved = |column: &Vector| {
        let moved = ranks.local.permute(Permute::Permute(column, &places));
        ranks.collectives.settle(length, moved)
    };
    Ok([moved(&keys)?, moved(&indices)?])
}

/// The indices in packed order of the elements of all segments, in the order of each.
fn indices_in_segments<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    direction: Direction,
    column: &Distributed,
    descriptor: &Descriptor<L::Descriptor>,
) -> Result<Distributed, Fault> {
    let (part, map) = packed::packed_part(ranks, column, descriptor)?;
    let mut items = ranks.storage(map.total, part.len())?;
    for piece in &map.segments {
        let inside = map.inside(*piece);
        let here = inside.start - map.share.start..inside.end - map.share.start;
        append_items(&mut items, direction, &part, here, piece.segment as i64, map.share.start);
    }
    sorted_indices(ranks, map.total, items)
}

/// The indices of all items in sorted order, from the items of this rank's block of `length`.
fn sorted_indices<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    length: usize,
    mut items: Vec<Item>,
) -> Result<Distributed, Fault> {
    items.sort_unstable();
    let counts: Vec<usize> = runs(ranks, items.len(), |at| items[at]).iter().map(|count| 3 * count).collect();
    let (received, _) = ranks.collectives.communicator.exchange(items.as_flattened(), &counts);
    drop(items);
    let (received, _) = received.as_chunks::<3>();
    let mut run = ranks.storage(length, received.len())?;
    run.extend_from_slice(received);
    run.sort_unstable();
    let mut indices = ranks.storage(length, run.len())?;
    indices.extend(run.iter().map(|item: &Item| item[2]));
    drop(run);
    let indices = ranks.adopt(length, indices)?;
    ranks.assemble(indices)
}

/// How many of so many sorted items go to the run of each rank.
fn runs<L: LocalEngine>(ranks: &mut Distribution<L>, length: usize, item: impl Fn(usize) -> Item) -> Vec<usize> {
    let splitters = splitters(ranks, length, &item);
    let bounds: Vec<usize> = splitters.iter().map(|splitter| place(length, |at| item(at) < *splitter)).collect();
    let ends = bounds.iter().copied().chain([length]);
    [0].into_iter().chain(bounds.iter().copied()).zip(ends).map(|(start, end)| end - start).collect()
}

/// The least item of the run of every rank but the first, the same on all ranks.
fn splitters<L: LocalEngine>(ranks: &mut Distribution<L>, length: usize, item: &impl Fn(usize) -> Item) -> Vec<Item> {
    let rank_count = ranks.layout.ranks;
    let count = (OVERSAMPLING * rank_count).min(length);
    let samples: Vec<Item> = (0..count).map(|sample| item(sample * length / count)).collect();
    let counts: Vec<usize> = ranks.collectives.communicator.all_gather_counts(3 * count);
    let all = ranks.collectives.communicator.all_gather_varied(samples.as_flattened(), &counts, Vec::new());
    let (all, _) = all.as_chunks::<3>();
    let mut all = all.to_vec();
    all.sort_unstable();
    // Where there are no items at all, every rank gets nothing, wherever that is cut.
    (1..rank_count).map(|rank| all.get(rank * all.len() / rank_count).copied().unwrap_or_default()).collect()
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

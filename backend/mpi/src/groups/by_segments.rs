//! Groups over whole segments: each rank has some of them, and all of their elements.
//!
//! What comes of a segment then comes from one rank, so that orders that count are kept, and values of segments stay
//! where they are. Which segments a rank has follows from where their lengths are: its block of these; or, where every
//! rank knows them all, those that begin in its share of the elements. That is done where ranks get about as many
//! elements each; columns of elements move by as much as the borders are apart.

use crate::distribution::column::{Distributed, Ragged, Runs};
use crate::distribution::descriptor::Descriptor;
use crate::distribution::{Distribution, LocalEngine};
use crate::groups::portion::{Cut, Cuts, Portion, put_together, starts_from, word};
use crate::groups::run::run_on_portion;
use crate::instructions::segment;
use crate::layout::offsets;
use crate::ranks::Ranks;
use nesl_backend::engine::group::{Partial, Role, Yield};
use nesl_backend::machine::strategy;
use nesl_backend::{Order, Slot, SlotOf, Vector};
use nesl_prim::Direction;
use nesl_vcode::Constants;
use std::ops::Range;
use std::sync::Arc;

/// The segments of a group, all of which have elements of their own.
struct Whole {
    /// Which of them this rank has, and how long they are.
    own: Range<usize>,
    lengths: Vector,
    /// How many segments each rank has, and how many elements.
    segments: Vec<usize>,
    elements: Vec<usize>,
}

/// The results of a group, if ranks can have whole segments: none on any rank otherwise. All ranks call it together.
pub(super) fn run<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    partial: &Partial,
    operands: &[SlotOf<Ranks<L>>],
    length: usize,
) -> Option<Vec<SlotOf<Ranks<L>>>> {
    let needs_whole = partial.yields.iter().any(|kind| matches!(kind, Yield::OrderedBySegment(..)));
    if !needs_whole && partial.reads.is_empty() {
        return None;
    }
    let whole = whole(ranks, operands)?;
    let mut cuts: Cuts<L> = Vec::with_capacity(operands.len());
    for operand in operands {
        cuts.push(match operand {
            Slot::Descriptor(_) => Some(cut(ranks, partial, operand, &whole)?),
            Slot::Scalar(_) | Slot::Column(_) => None,
        });
    }
    let settled = settled(ranks, partial, operands, &whole, length)?;
    let before = whole.elements[..ranks.layout.rank].iter().sum();
    let portion = Portion { first: before, length: whole.elements[ranks.layout.rank], part: 0 };
    let given = run_on_portion(ranks, partial, (&settled, operands), &portion, &cuts);
    let words = given.as_ref().map(|given| given.iter().map(word).collect());
    let words = ranks.collectives.words_of_ranks(words, &vec![partial.yields.len(); ranks.layout.ranks])?;
    let starts = offsets(&whole.elements);
    let mut results = Vec::with_capacity(partial.yields.len());
    for (index, (result, kind)) in given?.into_iter().zip(&partial.yields).enumerate() {
        results.push(match (result, *kind) {
            (Slot::Column(part), Yield::All) if starts == ranks.layout.bounds(length) => {
                Slot::Column(ranks.finish(length, part).ok()?)
            }
            (Slot::Column(part), Yield::BySegment(..) | Yield::OrderedBySegment(..) | Yield::IndexBySegment(..)) => {
                Slot::Column(ranks.assemble_counted(part, &whole.segments).ok()?)
            }
            (own, kind) => put_together(ranks, (kind, index), own, &words, &starts)?,
        });
    }
    Some(partial.without_extremes(results))
}

/// `seg_sort` and `seg_rank`, each rank of its segments: none on any rank if these are too uneven for that. All ranks
/// call it together.
pub(super) fn order<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    order: Order,
    direction: Direction,
    column: &Distributed,
    descriptor: &Descriptor<L::Descriptor>,
) -> Option<Distributed> {
    let whole = whole::<L>(ranks, &[Slot::Descriptor(descriptor.clone())])?;
    let packed = segment::compact(ranks, column, descriptor).ok()?;
    let (part, length) = (ranks.part(&packed).ok()?, packed.length());
    let part = ranks.realigned(&part, &ranks.layout.bounds(length), &offsets(&whole.elements)).ok()?;
    let segments = ranks.local.descriptor(None, whole.lengths);
    let ordered = segments.and_then(|segments| ranks.local.order(order, direction, &part, Some(&segments)));
    let ordered = ranks.collectives.settle(length, ordered).ok()?;
    ranks.ragged(whole.elements.into_iter().enumerate().collect(), ordered).ok()
}

/// The segments of all descriptors among the operands, if they are alike, and ranks get about as many elements of them.
fn whole<L: LocalEngine>(ranks: &mut Distribution<L>, operands: &[SlotOf<Ranks<L>>]) -> Option<Whole> {
    let descriptors = operands.iter().filter_map(|operand| match operand {
        Slot::Descriptor(segments) => Some(segments.clone()),
        Slot::Scalar(_) | Slot::Column(_) => None,
    });
    let columns: Vec<Distributed> = descriptors.map(|segments| segments.lengths().clone()).collect();
    let columns = ranks.all_in_blocks(&columns.iter().collect::<Vec<_>>()).ok()?;
    let first = columns.first()?;
    let (count, is_known) = (first.length(), first.replicated().is_some());
    if columns.iter().any(|lengths| lengths.length() != count) {
        return None;
    }
    let own = match first.replicated() {
        Some(lengths) => balanced(lengths.elements(), ranks.layout.ranks).get(ranks.layout.rank)?.clone(),
        None => ranks.layout.share(count),
    };
    let mut parts = Vec::with_capacity(columns.len());
    for lengths in &columns {
        parts.push(match lengths.replicated() {
            Some(lengths) => lengths.slice(own.start, own.len()),
            None => ranks.part(lengths).ok()?,
        });
    }
    let lengths = parts[0].clone();
    let are_alike = parts[1..].iter().all(|part| part.elements::<i64>() == lengths.elements::<i64>());
    let total: i64 = lengths.elements::<i64>().iter().sum();
    let words = if are_alike { Some(vec![own.len() as i64, total]) } else { None };
    let all = ranks.collectives.words_of_ranks(words, &vec![2; ranks.layout.ranks])?;
    let loads: Vec<u64> = all.iter().map(|words| words[1] as u64).collect();
    // Where every rank knows the lengths, borders are as good as they can be.
    let are_even = strategy::is_even(&loads) || is_known && is_nearly_even(&loads);
    if !are_even {
        return None;
    }
    let of = |at: usize| all.iter().map(|words| words[at] as usize).collect();
    Some(Whole { own, lengths, segments: of(0), elements: of(1) })
}

/// Whether the rank with most has no more than half more than its share.
fn is_nearly_even(loads: &[u64]) -> bool {
    let (total, most) = (loads.iter().sum::<u64>(), loads.iter().copied().max().unwrap_or(0));
    most * loads.len() as u64 * 2 <= total * 3
}

/// For each rank the segments that begin in its share of the elements.
fn balanced(lengths: &[i64], ranks: usize) -> Vec<Range<usize>> {
    let starts = offsets(&lengths.iter().map(|&length| length as usize).collect::<Vec<_>>());
    let total = starts[lengths.len()];
    let border = |rank: usize| match rank {
        0 => 0,
        rank if rank == ranks => lengths.len(),
        rank => starts[..lengths.len()].partition_point(|&start| start * ranks < total * rank),
    };
    (0..ranks).map(|rank| border(rank)..border(rank + 1)).collect()
}

/// What this rank has of a descriptor.
fn cut<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    partial: &Partial,
    operand: &SlotOf<Ranks<L>>,
    whole: &Whole,
) -> Option<Cut<L::Descriptor>> {
    let Slot::Descriptor(segments) = operand else { return None };
    let starts = match (&segments.0.starts, partial.reads.is_empty()) {
        (_, true) => None,
        (Some(starts), false) => {
            let starts = ranks.in_blocks(starts).ok()?;
            Some(own_values(ranks, &starts, whole)?)
        }
        (None, false) => {
            let before = whole.elements[..ranks.layout.rank].iter().sum();
            Some(ranks.local_column(Constants::Int(starts_from(before, whole.lengths.elements()))).ok()?)
        }
    };
    let lengths = whole.lengths.clone();
    let local = ranks.local.descriptor(None, lengths.clone()).ok()?;
    Some(Cut { local, lengths, first: 0, before: 0, starts })
}

/// Those of a column with an element for each segment that belong to the segments of this rank.
fn own_values<L: LocalEngine>(ranks: &mut Distribution<L>, column: &Distributed, whole: &Whole) -> Option<Vector> {
    match column.replicated() {
        Some(vector) => Some(vector.slice(whole.own.start, whole.own.len())),
        None => ranks.part(column).ok(),
    }
}

/// The operands with what this rank has of those columns that are read at the index, or by segment.
fn settled<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    partial: &Partial,
    operands: &[SlotOf<Ranks<L>>],
    whole: &Whole,
    length: usize,
) -> Option<Vec<SlotOf<Ranks<L>>>> {
    let wanted = offsets(&whole.elements);
    let mut settled = Vec::with_capacity(operands.len());
    for (role, operand) in partial.roles.iter().zip(operands) {
        settled.push(match (*role, operand) {
            (Role::Elements, Slot::Column(column)) => {
                let part = ranks.part(column).ok()?;
                let part = ranks.realigned(&part, &ranks.layout.bounds(length), &wanted).ok()?;
                let runs: Runs = whole.elements.iter().copied().enumerate().collect();
                Slot::Column(Distributed::Ragged(Arc::new(Ragged::new(length, Arc::new(runs), vec![part]))))
            }
            (Role::OfSegments(_), Slot::Column(column)) => {
                let column = ranks.in_blocks(column).ok()?;
                Slot::Column(Distributed::Replicated(own_values(ranks, &column, whole)?))
            }
            (_, operand) => operand.clone(),
        });
    }
    Some(settled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_get_the_segments_that_begin_in_their_share() {
        assert_eq!(balanced(&[5, 0, 5, 5, 5], 2), [0..3, 3..5]);
        assert_eq!(balanced(&[20, 1, 1], 2), [0..1, 1..3]);
        assert_eq!(balanced(&[], 3), [0..0, 0..0, 0..0]);
        assert_eq!(balanced(&[3, 3, 3, 3], 3), [0..2, 2..3, 3..4]);
    }
}

//! Groups on ranks: each runs the loop over its part of the indices, and one exchange of a few words puts the results
//! together.
//!
//! A part is a rank's block ([`Ranks::run_on_blocks`]); or, where all columns of elements lie in the same pieces, each
//! of a rank's pieces ([`crate::groups::ragged`]), and then nothing moves at all. Segments are cut where parts end; or
//! parts are cut where segments end ([`crate::groups::by_segments`]), as float sums of them need. What a part reads at
//! other indices it gets before ([`crate::groups::reads`]).

mod by_segments;
mod portion;
mod ragged;
mod reads;
mod run;

use crate::distribution::column::Distributed;
use crate::distribution::descriptor::{Descriptor, SharedMap, is_at_hand};
use crate::distribution::{Distribution, LocalEngine, segments};
use crate::groups::portion::{Cut, Cuts, Portion, folded, word};
use crate::groups::run::run_on_portion;
use crate::instructions::extreme;
use crate::instructions::packed;
use crate::instructions::reduce;
use crate::instructions::segment;
use crate::ranks::Ranks;
use nesl_backend::engine::group::{Partial, Role, Whole, Yield};
use nesl_backend::{Fault, Group, Slot, SlotOf};
use nesl_prim::{Extreme, ScalarOp, ScalarValue};
use nesl_vcode::Constants;

/// `seg_reduce`.
pub(crate) fn seg_reduce<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    op: ScalarOp,
    column: &Distributed,
    descriptor: &Descriptor<L::Descriptor>,
) -> Result<Distributed, Fault> {
    if let Some(reduced) = ragged::seg_reduce_by_runs(ranks, op, column, descriptor) {
        return Ok(reduced);
    }
    if let Some(reduced) = seg_reduce_view(ranks, op, column, descriptor) {
        return Ok(reduced);
    }
    let column = ranks.in_blocks(column)?;
    reduce::seg_reduce(ranks, op, &column, descriptor)
}

/// The same of a view over whole segments: their elements are read where they are, and never lie one after another.
fn seg_reduce_view<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    op: ScalarOp,
    column: &Distributed,
    descriptor: &Descriptor<L::Descriptor>,
) -> Option<Distributed> {
    let total = descriptor.total().ok()?;
    if descriptor.0.starts.is_none() || ranks.is_common(total) || ranks.layout.ranks == 1 {
        return None;
    }
    let operands = [Slot::Column(column.clone()), Slot::Descriptor(descriptor.clone())];
    match by_segments::run(ranks, &Partial::seg_reduce_view(op)?, &operands, total)?.pop() {
        Some(Slot::Column(reduced)) => Some(reduced),
        _ => None,
    }
}

/// `reduce_index`.
pub(crate) fn reduce_index<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    op: ScalarOp,
    column: &Distributed,
) -> Result<i64, Fault> {
    match ragged::reduce_index_by_runs(ranks, op, column, None) {
        Some(Slot::Scalar(index)) => Ok(index.to_word() as i64),
        _ => extreme::reduce_index(ranks, op, column),
    }
}

/// `seg_reduce_index`.
pub(crate) fn seg_reduce_index<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    op: ScalarOp,
    column: &Distributed,
    descriptor: &Descriptor<L::Descriptor>,
) -> Result<Distributed, Fault> {
    match ragged::reduce_index_by_runs(ranks, op, column, Some(descriptor)) {
        Some(Slot::Column(indices)) => Ok(indices),
        _ => extreme::seg_reduce_index(ranks, op, column, descriptor),
    }
}

/// [`Engine::group`]: over columns in parts, and over common ones.
pub(crate) fn run_group<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    group: &Group,
    operands: &[SlotOf<Ranks<L>>],
) -> Option<Vec<SlotOf<Ranks<L>>>> {
    if ranks.layout.ranks == 1 {
        return run_common(ranks, group, operands);
    }
    let partial = group.partial()?;
    let length = match partial.extent {
        Whole::Constant(value) => value.to_size(),
        Whole::Input(input) => match &operands[input] {
            Slot::Scalar(value) => value.to_size(),
            Slot::Column(column) => column.length(),
            Slot::Descriptor(segments) => segments.total().ok()?,
        },
    };
    if ranks.is_common(length) {
        return if group.members() > 1 { run_common(ranks, group, operands) } else { None };
    }
    if let Some((partial, views)) = group.with_views_made()
        && let Some(operands) = with_views(ranks, operands, views)
    {
        return run_partial(ranks, partial, &operands, length);
    }
    if group.members() == 1 && partial.reads.is_empty() {
        let pieces = ragged::runs_of(ranks, partial, operands, length)?;
        return ragged::run_by_runs(ranks, partial, operands, &pieces);
    }
    run_partial(ranks, partial, operands, length)
}

/// Over parts of one kind or another.
fn run_partial<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    partial: &Partial,
    operands: &[SlotOf<Ranks<L>>],
    length: usize,
) -> Option<Vec<SlotOf<Ranks<L>>>> {
    if let Some(pieces) = ragged::runs_of(ranks, partial, operands, length) {
        return ragged::run_by_runs(ranks, partial, operands, &pieces);
    }
    match by_segments::run(ranks, partial, operands, length) {
        Some(results) => Some(results),
        None => run_on_blocks(ranks, partial, operands, length),
    }
}

/// The operands with views of columns behind them, if these are so few segments that every rank knows them: then they
/// are runs of what ranks have, and no element moves.
fn with_views<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    operands: &[SlotOf<Ranks<L>>],
    views: &[(usize, usize)],
) -> Option<Vec<SlotOf<Ranks<L>>>> {
    let is_known = |&(column, descriptor): &(usize, usize)| {
        let (Slot::Column(column), Slot::Descriptor(descriptor)) = (&operands[column], &operands[descriptor]) else {
            return false;
        };
        column.replicated().is_none() && is_at_hand(&Slot::<Distributed, _>::Descriptor(descriptor.clone()))
    };
    if !views.iter().all(is_known) {
        return None;
    }
    let mut all = operands.to_vec();
    for &(column, descriptor) in views {
        let (Slot::Column(column), Slot::Descriptor(descriptor)) = (&operands[column], &operands[descriptor]) else {
            return None;
        };
        all.push(Slot::Column(segment::compact(ranks, column, descriptor).ok()?));
    }
    Some(all)
}

/// Over what every rank has; none where a rank has not all of it.
fn run_common<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    group: &Group,
    operands: &[SlotOf<Ranks<L>>],
) -> Option<Vec<SlotOf<Ranks<L>>>> {
    let is_common = |operand: &SlotOf<Ranks<L>>| is_at_hand(operand);
    if !operands.iter().all(is_common) {
        return None;
    }
    let mut local = Vec::with_capacity(operands.len());
    for operand in operands {
        local.push(match operand {
            Slot::Scalar(value) => Slot::Scalar(*value),
            Slot::Column(column) => Slot::Column(column.whole()),
            Slot::Descriptor(segments) => Slot::Descriptor(segments::local_descriptor(ranks, segments).ok()?),
        });
    }
    let results = ranks.local.group(group, &mut local)?;
    let common = |slot| match slot {
        Slot::Scalar(value) => Slot::Scalar(value),
        other => Slot::Column(Distributed::Replicated(other.into_column())),
    };
    Some(results.into_iter().map(common).collect())
}

/// Over this rank's block. Where a rank has no memory for what it takes, the instructions one by one will say so.
fn run_on_blocks<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    partial: &Partial,
    operands: &[SlotOf<Ranks<L>>],
    length: usize,
) -> Option<Vec<SlotOf<Ranks<L>>>> {
    if partial.yields.iter().any(|kind| matches!(kind, Yield::OrderedBySegment(..))) {
        return None;
    }
    let mut maps: Vec<Option<SharedMap<L>>> = Vec::with_capacity(operands.len());
    for operand in operands {
        maps.push(match operand {
            Slot::Descriptor(segments) => Some(segments::map_of(ranks, segments).ok()?),
            Slot::Scalar(_) | Slot::Column(_) => None,
        });
    }
    let settled = settled_in_blocks(ranks, partial, operands, &maps)?;
    let mut cuts: Cuts<L> = Vec::with_capacity(maps.len());
    for map in &maps {
        cuts.push(match map {
            Some(map) => Some(cut_by_map(ranks, partial, map)?),
            None => None,
        });
    }
    let share = ranks.layout.share(length);
    let portion = Portion { first: share.start, length: share.len(), part: 0 };
    let given = run_on_portion(ranks, partial, (&settled, operands), &portion, &cuts);
    let words = given.as_ref().map(|given| given.iter().map(word).collect());
    let words = ranks.collectives.words_of_ranks(words, &vec![partial.yields.len(); ranks.layout.ranks])?;
    let of_ranks = |index: usize| words.iter().map(move |words| words[index]);
    let mut results = Vec::with_capacity(partial.yields.len());
    let given = given?;
    for (index, (result, kind)) in given.iter().cloned().zip(&partial.yields).enumerate() {
        results.push(match (result, *kind) {
            (Slot::Column(part), Yield::All) => Slot::Column(ranks.finish(length, part).ok()?),
            (Slot::Column(part), Yield::Ordered(op)) => {
                let counts = of_ranks(index).map(|count| count as usize).enumerate().collect();
                Slot::Scalar(by_segments::ordered(ranks, op, counts, part)?)
            }
            (Slot::Column(part), Yield::Kept) => {
                let pieces = of_ranks(index).map(|count| count as usize).enumerate().collect();
                Slot::Column(ranks.ragged(pieces, part).ok()?)
            }
            (Slot::Scalar(_), Yield::Reduced(op)) => Slot::Scalar(folded(op, of_ranks(index))),
            (Slot::Column(reduced), Yield::BySegment(op, segments)) => {
                let (count, map) = (operands[segments].as_descriptor().0.lengths.length(), maps[segments].as_ref()?);
                Slot::Column(reduce::exactly_reduced(ranks, op, &reduced, map, count).ok()?)
            }
            (Slot::Scalar(_), Yield::Index(op)) => {
                let parts = of_ranks(index - 1).zip(of_ranks(index)).enumerate().map(|(rank, (value, at))| {
                    ragged::extreme(op, value, at).from(ranks.layout.block(length, rank).start)
                });
                let found = parts.fold(Extreme::none(op.identity()), |before, later| before.then_by(op, later));
                Slot::Scalar(ScalarValue::Int(found.index))
            }
            (Slot::Column(indices), Yield::IndexBySegment(op, segments)) => {
                let (count, map) = (operands[segments].as_descriptor().0.lengths.length(), maps[segments].as_ref()?);
                let values = given[index - 1].as_column();
                let value_of = |segment: usize| values.get(segment);
                Slot::Column(extreme::indices_in_segments(ranks, op, &indices, value_of, map, count).ok()?)
            }
            (_, kind) => panic!("a group yields something else than {kind:?}"),
        });
    }
    Some(partial.without_extremes(results))
}

/// The operands with columns of elements in blocks, and values of segments for those in this rank's block.
fn settled_in_blocks<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    partial: &Partial,
    operands: &[SlotOf<Ranks<L>>],
    maps: &[Option<SharedMap<L>>],
) -> Option<Vec<SlotOf<Ranks<L>>>> {
    let moving = partial.roles.iter().zip(operands).filter_map(|(role, operand)| match (role, operand) {
        (Role::Elements | Role::OfSegments(_), Slot::Column(column)) => Some(column),
        _ => None,
    });
    ranks.all_in_blocks(&moving.collect::<Vec<_>>()).ok()?;
    let mut settled = Vec::with_capacity(operands.len());
    for (role, operand) in partial.roles.iter().zip(operands) {
        settled.push(match (*role, operand) {
            (Role::Elements, Slot::Column(column)) => Slot::Column(ranks.in_blocks(column).ok()?),
            (Role::OfSegments(segments), Slot::Column(column)) => {
                let (column, map) = (ranks.in_blocks(column).ok()?, maps[segments].as_ref()?);
                let values = packed::values_of_segments(ranks, &column, map).ok()?;
                Slot::Column(Distributed::Replicated(values))
            }
            (_, operand) => operand.clone(),
        });
    }
    Some(settled)
}

/// What segments have in this rank's block, by their map.
fn cut_by_map<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    partial: &Partial,
    map: &SharedMap<L>,
) -> Option<Cut<L::Descriptor>> {
    let starts = match partial.reads.is_empty() {
        true => None,
        false => {
            let starts = packed::ranges_of(map).into_iter().map(|(start, _)| start as i64).collect();
            Some(ranks.local_column(Constants::Int(starts)).ok()?)
        }
    };
    Some(Cut {
        local: map.local.clone(),
        segments: map.segments.len(),
        first: 0,
        before: map.head().map_or(0, |head| map.share.start - head.start),
        lengths: ranks.local.lengths(&map.local).ok()?,
        starts,
        longest: map.segments.iter().map(|piece| piece.length).max().unwrap_or(0),
    })
}

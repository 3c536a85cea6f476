//! Groups on ranks: each runs the loop over its part of the indices, and one exchange of a few words puts the results
//! together.
//!
//! A part is a rank's block ([`Ranks::run_on_blocks`]); or, where all columns of elements lie in the same pieces, each
//! of a rank's pieces ([`crate::groups::ragged`]), and then nothing moves at all. Segments are cut where parts end.

mod portion;
mod ragged;

use crate::communication::collectives::to_bits;
use crate::distribution::column::Distributed;
use crate::distribution::descriptor::{Descriptor, SharedMap, is_at_hand};
use crate::distribution::{Distribution, LocalEngine, segments};
use crate::groups::portion::{Cut, Cuts, Portion, folded, run_on_portion};
use crate::instructions::extreme;
use crate::instructions::packed;
use crate::instructions::reduce;
use crate::ranks::Ranks;
use nesl_backend::engine::group::{Partial, Role, Whole, Yield};
use nesl_backend::{Fault, Group, Slot, SlotOf, Vector};
use nesl_prim::{Extreme, ScalarOp, ScalarValue};

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
    let column = ranks.in_blocks(column)?;
    reduce::seg_reduce(ranks, op, &column, descriptor)
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
    let pieces = if ranks.is_common(length) { None } else { ragged::runs_of(ranks, partial, operands, length) };
    match pieces {
        Some(pieces) => ragged::run_by_runs(ranks, partial, operands, &pieces),
        None if group.members() == 1 => None,
        None if ranks.is_common(length) => run_common(ranks, group, operands),
        None => run_on_blocks(ranks, partial, operands, length),
    }
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
    let mut maps: Vec<Option<SharedMap<L>>> = Vec::with_capacity(operands.len());
    for operand in operands {
        maps.push(match operand {
            Slot::Descriptor(segments) => Some(segments::map_of(ranks, segments).ok()?),
            Slot::Scalar(_) | Slot::Column(_) => None,
        });
    }
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
    let cut = |map: &SharedMap<L>| Cut {
        local: map.local.clone(),
        segments: map.segments.len(),
        first: 0,
        before: map.head().map_or(0, |head| map.share.start - head.start),
    };
    let cuts: Cuts<L> = maps.iter().map(|map| map.as_ref().map(cut)).collect();
    let share = ranks.layout.share(length);
    let portion = Portion { first: share.start, length: share.len(), part: 0 };
    let given = run_on_portion(ranks, partial, &settled, &portion, &cuts);
    let words = given.as_ref().map(|given| given.iter().map(word).collect());
    let words = ranks.collectives.words_of_ranks(words, &vec![partial.yields.len(); ranks.layout.ranks])?;
    let of_ranks = |index: usize| words.iter().map(move |words| words[index]);
    let mut results = Vec::with_capacity(partial.yields.len());
    let given = given?;
    for (index, (result, kind)) in given.iter().cloned().zip(&partial.yields).enumerate() {
        results.push(match (result, *kind) {
            (Slot::Column(part), Yield::All) => Slot::Column(ranks.finish(length, part).ok()?),
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

/// What the others need to know of a result over a rank's block.
fn word<D>(result: &Slot<Vector, D>) -> i64 {
    match result {
        Slot::Scalar(value) => to_bits(*value),
        other => other.as_column().len() as i64,
    }
}

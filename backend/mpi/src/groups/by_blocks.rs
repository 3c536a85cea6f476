//! Groups over blocks of indices: each rank has one, and segments are cut where these end.

use crate::distribution::column::Distributed;
use crate::distribution::descriptor::SharedMap;
use crate::distribution::{Distribution, LocalEngine, segments};
use crate::groups::portion::{Cut, Cuts, Portion, put_together, word};
use crate::groups::run::run_on_portion;
use crate::instructions::extreme;
use crate::instructions::packed;
use crate::instructions::reduce;
use crate::ranks::Ranks;
use nesl_backend::engine::group::{Partial, Role, Yield};
use nesl_backend::{Slot, SlotOf};
use nesl_vcode::Constants;

/// The results of a group, each rank over its block. Where a rank has no memory for what it takes, the instructions one
/// by one will say so.
pub(super) fn run<L: LocalEngine>(
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
    let starts = ranks.layout.bounds(length);
    let mut results = Vec::with_capacity(partial.yields.len());
    let given = given?;
    for (index, (result, kind)) in given.iter().cloned().zip(&partial.yields).enumerate() {
        results.push(match (result, *kind) {
            (Slot::Column(part), Yield::All) => Slot::Column(ranks.finish(length, part).ok()?),
            (Slot::Column(reduced), Yield::BySegment(op, segments)) => {
                let (count, map) = (operands[segments].as_descriptor().0.lengths.length(), maps[segments].as_ref()?);
                Slot::Column(reduce::exactly_reduced(ranks, op, &reduced, map, count).ok()?)
            }
            (Slot::Column(indices), Yield::IndexBySegment(op, segments)) => {
                let (count, map) = (operands[segments].as_descriptor().0.lengths.length(), maps[segments].as_ref()?);
                let values = given[index - 1].as_column();
                let value_of = |segment: usize| values.get(segment);
                Slot::Column(extreme::indices_in_segments(ranks, op, &indices, value_of, map, count).ok()?)
            }
            (own, kind) => put_together(ranks, (kind, index), own, &words, &starts)?,
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
    let (local, lengths) = (map.local.clone(), ranks.local.lengths(&map.local).ok()?);
    let before = map.head().map_or(0, |head| map.share.start - head.start);
    Some(Cut { local, lengths, first: 0, before, starts })
}

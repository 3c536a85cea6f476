//! Groups on ranks: each runs the loop over its part of the indices, and one exchange of a few words puts the results
//! together.
//!
//! A part is a rank's block ([`crate::groups::by_blocks`]); or, where all columns of elements lie in the same pieces,
//! each of a rank's pieces ([`crate::groups::ragged`]), and then nothing moves at all. Segments are cut where parts
//! end; or parts are cut where segments end ([`crate::groups::by_segments`]), as float sums of them need. What a part
//! reads at other indices it gets before ([`crate::groups::reads`]); segments of columns are written over afterwards.

mod by_blocks;
mod by_segments;
mod portion;
mod ragged;
mod reads;
mod run;

use crate::distribution::column::Distributed;
use crate::distribution::descriptor::{Descriptor, is_at_hand};
use crate::distribution::{Distribution, LocalEngine, segments};
use crate::instructions::extreme;
use crate::instructions::order;
use crate::instructions::reduce;
use crate::instructions::segment;
use crate::ranks::Ranks;
use nesl_backend::engine::execute;
use nesl_backend::engine::group::{AfterOperand, GroupResult, Partial, Whole};
use nesl_backend::{Fault, Group, Order, Slot, SlotOf};
use nesl_prim::{Direction, Element, ScalarOp};

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

/// Elements in order, or their places in it. Segments are best ordered where all of their elements are.
pub(crate) fn order<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    order: Order,
    direction: Direction,
    column: &Distributed,
    descriptor: Option<&Descriptor<L::Descriptor>>,
) -> Result<Distributed, Fault> {
    let in_parts = descriptor.filter(|descriptor| ranks.layout.ranks > 1 && !segments::is_small(ranks, descriptor));
    let ordered = in_parts.and_then(|descriptor| by_segments::order(ranks, order, direction, column, descriptor));
    ordered.map_or_else(|| order::run(ranks, order, direction, column, descriptor), Ok)
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

/// [`Engine::group`]: over columns in parts, and over common ones. Segments of a column in parts are written over after
/// the loop.
pub(crate) fn run_group<L: LocalEngine>(
    ranks: &mut Ranks<L>,
    group: &Group,
    operands: &mut [SlotOf<Ranks<L>>],
) -> Option<Result<Vec<SlotOf<Ranks<L>>>, Fault>> {
    let Some(after) = group.with_writes_after().filter(|_| ranks.distribution.layout.ranks > 1) else {
        return run_loop(&mut ranks.distribution, group, operands, false).map(Ok);
    };
    if let Some(results) = run_common(&mut ranks.distribution, group, operands) {
        return Some(Ok(results));
    }
    let mut read = operands.to_vec();
    after.unread.iter().for_each(|&input| read[input] = Slot::Scalar(0i64.to_value()));
    let results = run_loop(&mut ranks.distribution, &after.group, &read, true)?;
    // Nobody else may have what is written to.
    drop(read);
    Some(after.outcomes.iter().map(|outcome| finish(ranks, outcome, operands, &results)).collect())
}

/// A result of a group, of those of its loop.
fn finish<L: LocalEngine>(
    ranks: &mut Ranks<L>,
    outcome: &GroupResult,
    operands: &mut [SlotOf<Ranks<L>>],
    results: &[SlotOf<Ranks<L>>],
) -> Result<SlotOf<Ranks<L>>, Fault> {
    match outcome {
        GroupResult::Loop(result) => Ok(results[*result].clone()),
        GroupResult::Written(op, sources) => {
            let operand = |(position, &source): (usize, &AfterOperand)| match source {
                AfterOperand::Input(column) if position == 0 => {
                    std::mem::replace(&mut operands[column], Slot::Scalar(0i64.to_value()))
                }
                AfterOperand::Input(input) => operands[input].clone(),
                AfterOperand::Result(result) => results[result].clone(),
                AfterOperand::Constant(value) => Slot::Scalar(value),
            };
            let line: Vec<SlotOf<Ranks<L>>> = sources.iter().enumerate().map(operand).collect();
            execute(ranks, *op, line.into_iter())
        }
    }
}

/// A group that writes to no column in parts. What `stays` where its elements are is better computed there, however
/// unevenly these lie.
fn run_loop<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    group: &Group,
    operands: &[SlotOf<Ranks<L>>],
    stays: bool,
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
    let is_elsewhere = |&(column, _): &(usize, usize)| !is_at_hand(&operands[column]);
    // Where others have what is read besides, it comes with what lies in the views.
    let is_all = |partial: &Partial| partial.reads.iter().all(|&column| is_at_hand(&operands[column]));
    let made = group.with_views_made(is_elsewhere).filter(|(partial, _)| is_all(partial));
    let made = made.and_then(|(partial, views)| Some((partial, with_views(ranks, operands, views)?)));
    let (partial, operands) = match &made {
        Some((partial, operands)) => (*partial, &operands[..]),
        None => (partial, operands),
    };
    if let Some(pieces) = ragged::runs_of(ranks, partial, operands, length, stays) {
        return ragged::run_by_runs(ranks, partial, operands, &pieces);
    }
    // One instruction alone has a way of its own.
    if group.members() == 1 && partial.reads.is_empty() {
        return None;
    }
    match by_segments::run(ranks, partial, operands, length) {
        Some(results) => Some(results),
        None => by_blocks::run(ranks, partial, operands, length),
    }
}

/// The operands with views of columns behind them, if these are so few segments that every rank knows them: then they
/// are runs of what ranks have, and no element moves.
fn with_views<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    operands: &[SlotOf<Ranks<L>>],
    views: &[(usize, usize)],
) -> Option<Vec<SlotOf<Ranks<L>>>> {
    if !views.iter().all(|&(_, descriptor)| is_at_hand(&operands[descriptor])) {
        return None;
    }
    let mut all = operands.to_vec();
    for &(column, descriptor) in views {
        let (column, descriptor) = (operands[column].as_column(), operands[descriptor].as_descriptor());
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
    let results = ranks.local.group(group, &mut local)?.ok()?;
    let common = |slot| match slot {
        Slot::Scalar(value) => Slot::Scalar(value),
        other => Slot::Column(Distributed::Replicated(other.into_column())),
    };
    Some(results.into_iter().map(common).collect())
}

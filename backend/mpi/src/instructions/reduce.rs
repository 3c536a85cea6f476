//! Reductions, of columns and of segments.
//!
//! Where the operator is associative, ranks fold their blocks, exchange one value each, and combine in the order of the
//! ranks. Float addition and multiplication are not: [`crate::instructions::float_sums`] reproduces the order that
//! `nesl_prim::sum` defines.

use crate::distribution::column::{Block, Distributed, Item};
use crate::distribution::descriptor::{Descriptor, SegmentMap};
use crate::distribution::{Distribution, LocalEngine, segments};
use crate::instructions::float_sums;
use crate::instructions::packed;
use nesl_backend::{Fault, Vector, on_vector};
use nesl_prim::{Element, ScalarOp, ScalarValue};

/// `reduce`.
pub(crate) fn reduce<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    op: ScalarOp,
    column: &Distributed,
) -> Result<ScalarValue, Fault> {
    if let Some(vector) = column.replicated() {
        let reduced = ranks.local.reduce(op, vector);
        return ranks.collectives.replicated(reduced);
    }
    let Block { length, part, .. } = ranks.block(column)?;
    let part = &part;
    if op.row().associative {
        let mine = ranks.local.reduce(op, part);
        let mine = ranks.collectives.settle(length, mine)?;
        let all = ranks.collectives.all_scalars(op.row().result, mine);
        return Ok(all.into_iter().fold(op.identity(), |sum, value| op.combine(sum, value)));
    }
    let map = segments::whole_map(ranks, length)?;
    let home = ranks.layout.owner(length, 0);
    let crossing = float_sums::crossing_sum(ranks, op, part, &map)?.map(ScalarValue::Float);
    // Blocks so few that one rank has them all: nothing crosses a border.
    let inside = if home == ranks.layout.rank && crossing.is_none() {
        ranks.local.reduce(op, part).map(Some)
    } else {
        Ok(crossing)
    };
    let value = ranks.collectives.settle(length, inside)?;
    Ok(ranks.collectives.broadcast_scalar(home, op.row().result, value))
}

/// `reduce_by_index` where the order of elements makes a difference: the values of a place come together on its owner,
/// in their order. None where all ranks have them, or some rank would get far more of them than others.
pub(crate) fn by_index<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    op: ScalarOp,
    [values, indices]: [&Distributed; 2],
    places: usize,
) -> Result<Option<Distributed>, Fault> {
    let [values, indices] = &ranks.each_in_blocks([values, indices])?;
    if values.replicated().is_some() && indices.replicated().is_some() {
        return Ok(None);
    }
    let requests = ranks.requests(indices, places)?;
    if requests.has_hotspot() {
        return Ok(None);
    }
    let own = ranks.layout.share(places).len();
    let part = ranks.part(values)?;
    let none = part.slice(0, 0);
    let reduced = on_vector!(&part, slice => {
        ranks.delivered(&requests, slice.elements(), values.length(), none, |ranks, _, targets, values| {
            let reduced = ranks.local.reduce_by_index(op, values, targets, own);
            ranks.collectives.settle(places, reduced)
        })
    })?;
    ranks.finish(places, reduced).map(Some)
}

/// `seg_reduce`.
pub(crate) fn seg_reduce<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    op: ScalarOp,
    column: &Distributed,
    descriptor: &Descriptor<L::Descriptor>,
) -> Result<Distributed, Fault> {
    if let Some((vector, local)) = packed::small_operands(ranks, column, descriptor)? {
        let reduced = ranks.local.seg_reduce(op, &vector, &local);
        return ranks.collectives.replicated(reduced).map(Distributed::Replicated);
    }
    let (part, map) = packed::packed_part(ranks, column, descriptor)?;
    let reduced = ranks.local.seg_reduce(op, &part, &map.local);
    let reduced = ranks.collectives.settle(map.total, reduced)?;
    if op.row().associative {
        return exactly_reduced(ranks, op, &reduced, &map, descriptor.0.lengths.length());
    }
    let crossing = float_sums::crossing_sum(ranks, op, &part, &map)?.map(ScalarValue::Float);
    in_segments(ranks, op.identity(), &reduced, &map, crossing, descriptor.0.lengths.length())
}

/// The column of the reductions of so many segments under an associative operator, from those of what lies in this
/// block.
pub(crate) fn exactly_reduced<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    op: ScalarOp,
    reduced: &Vector,
    map: &SegmentMap<L::Descriptor>,
    segments: usize,
) -> Result<Distributed, Fault> {
    let crossing = Some(exact_crossing(ranks, op, reduced, map));
    in_segments(ranks, op.identity(), reduced, map, crossing, segments)
}

/// The column of what so many segments come to, from that of what lies in this block, and that of the segment that goes
/// on behind it. Segments without elements come to `of_nothing`.
pub(crate) fn in_segments<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    of_nothing: ScalarValue,
    reduced: &Vector,
    map: &SegmentMap<L::Descriptor>,
    crossing: Option<ScalarValue>,
    segments: usize,
) -> Result<Distributed, Fault> {
    let started = map.started();
    // The block has only part of a segment that goes on behind it.
    let last = crossing.filter(|_| map.tail().is_some() && !started.is_empty());
    let head = map.segments.len() - started.len();
    on_vector!(reduced, slice => {
        let values = with_last(&slice.elements()[head..], last);
        segments::by_segment(ranks, segments, from_value(of_nothing), started, &values)
    })
}

/// The sum of the segment that starts in this block and goes on behind it, under an associative operator. Meaningless
/// on ranks without one.
fn exact_crossing<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    op: ScalarOp,
    reduced: &Vector,
    map: &SegmentMap<L::Descriptor>,
) -> ScalarValue {
    let head = if map.head().is_some() { reduced.get(0) } else { op.identity() };
    let heads = ranks.collectives.all_scalars(op.row().result, head);
    let Some(tail) = map.tail() else { return op.identity() };
    let end = ranks.layout.owner(map.total, tail.end() - 1) + 1;
    heads[ranks.layout.rank + 1..end].iter().fold(reduced.get(reduced.len() - 1), |sum, &value| op.combine(sum, value))
}

/// A scalar as an element.
fn from_value<T: Item>(value: ScalarValue) -> T {
    <T as Element>::from_value(value)
}

/// Elements of which the last may have another value.
fn with_last<T: Item>(elements: &[T], last: Option<ScalarValue>) -> Vec<T> {
    let mut elements = elements.to_vec();
    if let (Some(element), Some(last)) = (elements.last_mut(), last) {
        *element = from_value(last);
    }
    elements
}

//! Where the extreme elements are, of columns and of segments.
//!
//! Ranks look in their blocks, exchange the element that each has found and where it is, and put these together in the
//! order of the ranks ([`Extreme`]).

use crate::distribution::column::{Block, Distributed};
use crate::distribution::descriptor::{Descriptor, SegmentMap};
use crate::distribution::{Distribution, LocalEngine};
use crate::instructions::packed;
use crate::instructions::reduce::in_segments;
use nesl_backend::{Fault, Vector};
use nesl_prim::extreme::NOWHERE;
use nesl_prim::{Extreme, ScalarOp, ScalarType, ScalarValue};

/// `reduce_index`.
pub(crate) fn reduce_index<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    op: ScalarOp,
    column: &Distributed,
) -> Result<i64, Fault> {
    if let Some(vector) = column.replicated() {
        let index = ranks.local.reduce_index(op, vector);
        return ranks.collectives.replicated(index);
    }
    let Block { length, part, .. } = ranks.block(column)?;
    let index = ranks.local.reduce_index(op, &part);
    let index = ranks.collectives.settle(length, index)?;
    let first = ranks.layout.share(length).start;
    let all = all_extremes(ranks, op, extreme_at(op, &part, 0, index).from(first));
    Ok(all.into_iter().fold(Extreme::none(op.identity()), |before, later| before.then_by(op, later)).index)
}

/// `seg_reduce_index`.
pub(crate) fn seg_reduce_index<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    op: ScalarOp,
    column: &Distributed,
    descriptor: &Descriptor<L::Descriptor>,
) -> Result<Distributed, Fault> {
    let column = ranks.in_blocks(column)?;
    if let Some((vector, local)) = packed::small_operands(ranks, &column, descriptor)? {
        let indices = ranks.local.seg_reduce_index(op, &vector, &local);
        return ranks.collectives.replicated(indices).map(Distributed::Replicated);
    }
    let (part, map) = packed::packed_part(ranks, &column, descriptor)?;
    let indices = ranks.local.seg_reduce_index(op, &part, &map.local);
    let indices = ranks.collectives.settle(map.total, indices)?;
    let elements = indices.elements::<i64>();
    let value_of = |segment: usize| {
        let start = map.inside(map.segments[segment]).start - map.share.start;
        extreme_at(op, &part, start, elements[segment]).value
    };
    indices_in_segments(ranks, op, &indices, value_of, &map, descriptor.0.lengths.length())
}

/// The column of the indices in so many segments, from those in what segments have of this block, and the elements that
/// are there.
pub(crate) fn indices_in_segments<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    op: ScalarOp,
    indices: &Vector,
    value_of: impl Fn(usize) -> ScalarValue,
    map: &SegmentMap<L::Descriptor>,
    segments: usize,
) -> Result<Distributed, Fault> {
    let elements = indices.elements::<i64>();
    let extreme_of = |segment: usize| {
        let piece = map.segments[segment];
        let found = Extreme { value: value_of(segment), index: elements[segment] };
        found.from(map.inside(piece).start - piece.start)
    };
    let head = map.head().map_or(Extreme::none(op.identity()), |_| extreme_of(0));
    let heads = all_extremes(ranks, op, head);
    // Of the segment that starts in this block and goes on behind it.
    let crossing = map.tail().map_or(NOWHERE, |tail| {
        let end = ranks.layout.owner(map.total, tail.end() - 1) + 1;
        let first = extreme_of(map.segments.len() - 1);
        heads[ranks.layout.rank + 1..end].iter().fold(first, |before, &later| before.then_by(op, later)).index
    });
    in_segments(ranks, ScalarValue::Int(NOWHERE), indices, map, Some(ScalarValue::Int(crossing)), segments)
}

/// The element at an index that counts from a start, or none.
fn extreme_at(op: ScalarOp, part: &Vector, start: usize, index: i64) -> Extreme<ScalarValue> {
    match index {
        NOWHERE => Extreme::none(op.identity()),
        index => Extreme { value: part.get(start + index as usize), index },
    }
}

/// What every rank has found, on every rank.
fn all_extremes<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    op: ScalarOp,
    mine: Extreme<ScalarValue>,
) -> Vec<Extreme<ScalarValue>> {
    let values = ranks.collectives.all_scalars(op.row().result, mine.value);
    let indices = ranks.collectives.all_scalars(ScalarType::Int, ScalarValue::Int(mine.index));
    let both = values.into_iter().zip(indices);
    both.map(|(value, index)| Extreme { value, index: index.to_word() as i64 }).collect()
}

//! What all segmented instructions share: their operands in packed order.
//!
//! Where descriptor and data are common, the local engine takes views as they are. Otherwise a view is compacted first;
//! then this rank's block of packed order and the [`SegmentMap`] are all that a loop needs.

use crate::distribution::column::{Block, Distributed};
use crate::distribution::descriptor::{Descriptor, LocalSegment, SegmentMap, SharedMap};
use crate::distribution::{Distribution, LocalEngine, segments};
use nesl_backend::engine::{Permute, Segment};
use nesl_backend::{Fault, Vector, on_vector};

/// The operands of a segmented instruction on the local engine, if all that it concerns is common.
pub(crate) fn small_operands<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    column: &Distributed,
    descriptor: &Descriptor<L::Descriptor>,
) -> Result<Option<(Vector, L::Descriptor)>, Fault> {
    if !segments::is_small(ranks, descriptor) {
        return Ok(None);
    }
    if let Distributed::Replicated(vector) = column {
        let local = segments::local_descriptor(ranks, descriptor)?;
        return Ok(Some((vector.clone(), local)));
    }
    // A small view into much data.
    let compacted = compact_in_blocks(ranks, column, descriptor)?;
    let local = segments::local_packed(ranks, descriptor)?;
    Ok(Some((compacted.whole(), local)))
}

/// This rank's block of the elements in packed order, and the segments there.
pub(crate) fn packed_part<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    column: &Distributed,
    descriptor: &Descriptor<L::Descriptor>,
) -> Result<(Vector, SharedMap<L>), Fault> {
    let map = segments::map_of(ranks, descriptor)?;
    let part = match &descriptor.0.starts {
        None => ranks.part(column)?,
        Some(_) => compacted_part(ranks, column, &map, map.total)?,
    };
    Ok((part, map))
}

/// `compact`.
pub(crate) fn compact_in_blocks<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    column: &Distributed,
    descriptor: &Descriptor<L::Descriptor>,
) -> Result<Distributed, Fault> {
    if descriptor.0.starts.is_none() {
        return Ok(column.clone());
    }
    if let (Distributed::Replicated(vector), true) = (column, segments::is_small(ranks, descriptor)) {
        let local = segments::local_descriptor(ranks, descriptor)?;
        let compacted = ranks.local.segment(Segment::Compact(vector, &local));
        return ranks.collectives.replicated(compacted).map(Distributed::Replicated);
    }
    let (part, map) = packed_part(ranks, column, descriptor)?;
    ranks.finish(map.total, part)
}

/// The elements of this rank's block of packed order of a view into a column.
pub(crate) fn compacted_part<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    column: &Distributed,
    map: &SegmentMap<L::Descriptor>,
    total: usize,
) -> Result<Vector, Fault> {
    let ranges = ranges_of(map);
    match column.replicated() {
        Some(vector) => {
            let starts = ranks.adopt(total, ranges.iter().map(|range| range.0 as i64).collect())?;
            let lengths = ranks.adopt(total, ranges.iter().map(|range| range.1 as i64).collect())?;
            let view = ranks.local.descriptor(Some(starts), lengths);
            let compacted = view.and_then(|view| ranks.local.segment(Segment::Compact(vector, &view)));
            ranks.collectives.settle(total, compacted)
        }
        None => {
            let Block { length, part, .. } = ranks.block(column)?;
            let requests = ranks.range_requests(&map.identity, ranges.into_iter(), total, length);
            on_vector!(&part, slice => {
                ranks.fetched_ranges(&requests, slice.elements(), map.share.len(), total)
            })
        }
    }
}

/// Start and length of what the segments in this rank's block of packed order take of the data.
pub(crate) fn ranges_of<D>(map: &SegmentMap<D>) -> Vec<(usize, usize)> {
    let range = |piece: &LocalSegment| {
        let inside = map.inside(*piece);
        (piece.source + inside.start - piece.start, inside.len())
    };
    map.segments.iter().map(range).collect()
}

/// What a column of one element for each segment has for those in this rank's block.
pub(crate) fn values_of_segments<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    column: &Distributed,
    map: &SharedMap<L>,
) -> Result<Vector, Fault> {
    let segments: Vec<i64> = map.segments.iter().map(|piece| piece.segment as i64).collect();
    match column.replicated() {
        Some(vector) => {
            let segments = ranks.adopt(map.total, segments)?;
            let values = ranks.local.permute(Permute::Gather(vector, &segments));
            ranks.collectives.settle(map.total, values)
        }
        None => {
            let Block { length, part, .. } = ranks.block(column)?;
            let requests = ranks.requests_of(&map.identity, &segments, map.total, length)?;
            on_vector!(&part, slice => ranks.fetched(&requests, slice.elements(), map.total))
        }
    }
}

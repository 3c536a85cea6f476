//! How descriptors across ranks are made, and the maps of the segments in a rank's block.
//!
//! Lengths are columns like others, so a rank may hold lengths of segments whose elements lie elsewhere. Segmented
//! loops run over this rank's block of *packed order*; the [`SegmentMap`] says which segments overlap it. It is made
//! once for each descriptor, by sending every segment that is not empty to the ranks that it overlaps: a rank receives
//! at most as many as it has elements.

use crate::distribution::column::Distributed;
use crate::distribution::descriptor::{Descriptor, Inner, LocalSegment, SegmentMap, SharedMap};
use crate::distribution::{Distribution, LocalEngine};
use crate::layout::{Layout, offsets, overlap};
use nesl_backend::Fault;
use nesl_prim::MOST_ELEMENTS;
use std::sync::{Arc, OnceLock};

/// A descriptor of these lengths, packed unless there are starts.
pub(crate) fn descriptor<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    starts: Option<Distributed>,
    lengths: Distributed,
) -> Result<Descriptor<L::Descriptor>, Fault> {
    let part = ranks.part(&lengths)?;
    let sum = |lengths: &[i64]| lengths.iter().try_fold(0i64, |sum, &length| sum.checked_add(length));
    let mut before = 0;
    let total = match &lengths {
        Distributed::Replicated(vector) => sum(vector.elements()),
        Distributed::Block(_) | Distributed::Ragged(_) => {
            // A negative sum means that there is none: lengths are not negative.
            let sums = ranks.collectives.communicator.all_gather(sum(part.elements()).unwrap_or(-1));
            let all = sums.iter().try_fold(0i64, |all, &sum| if sum < 0 { None } else { all.checked_add(sum) });
            if all.is_some() {
                before = sums[..ranks.layout.rank].iter().sum::<i64>() as usize;
            }
            all
        }
    };
    Ok(Descriptor(Arc::new(Inner {
        starts,
        lengths,
        total: total.filter(|&total| total <= MOST_ELEMENTS).and_then(|total| usize::try_from(total).ok()),
        before,
        local: OnceLock::new(),
        local_packed: OnceLock::new(),
        map: OnceLock::new(),
    })))
}

/// Whether lengths, starts and a column of all elements are common.
pub(crate) fn is_small<L: LocalEngine>(ranks: &Distribution<L>, descriptor: &Descriptor<L::Descriptor>) -> bool {
    descriptor.0.lengths.replicated().is_some() && descriptor.0.total.is_some_and(|total| ranks.is_common(total))
}

/// The descriptor on the local engine, where it is common.
pub(crate) fn local_descriptor<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    descriptor: &Descriptor<L::Descriptor>,
) -> Result<L::Descriptor, Fault> {
    let inner = &descriptor.0;
    let (Some(starts), Some(lengths)) =
        (inner.starts.as_ref().map(|starts| starts.whole()), inner.lengths.replicated())
    else {
        return local_packed(ranks, descriptor);
    };
    if let Some(local) = inner.local.get() {
        return Ok(local.clone());
    }
    let local = ranks.local.descriptor(Some(starts), lengths.clone());
    let local = ranks.collectives.replicated(local)?;
    Ok(inner.local.get_or_init(|| local).clone())
}

/// The packed descriptor of the same lengths on the local engine, where they are common.
pub(crate) fn local_packed<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    descriptor: &Descriptor<L::Descriptor>,
) -> Result<L::Descriptor, Fault> {
    if let Some(local) = descriptor.0.local_packed.get() {
        return Ok(local.clone());
    }
    let lengths = descriptor.0.lengths.whole();
    let local = ranks.local.descriptor(None, lengths);
    let local = ranks.collectives.replicated(local)?;
    Ok(descriptor.0.local_packed.get_or_init(|| local).clone())
}

/// The map of the segments in this rank's block. All ranks ask for it together.
pub(crate) fn map_of<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    descriptor: &Descriptor<L::Descriptor>,
) -> Result<SharedMap<L>, Fault> {
    if let Some(map) = descriptor.0.map.get() {
        return Ok(Arc::clone(map));
    }
    let total = descriptor.total()?;
    let pieces = match &descriptor.0.lengths {
        Distributed::Replicated(lengths) => {
            let starts = descriptor.0.starts.as_ref().map(|starts| starts.whole());
            overlapping(ranks.layout, total, lengths.elements(), starts.as_ref().map(|starts| starts.elements()))
        }
        Distributed::Block(_) | Distributed::Ragged(_) => sent_pieces(ranks, descriptor, total)?,
    };
    let share = ranks.layout.share(total);
    let lengths: Vec<i64> =
        pieces.iter().map(|piece| overlap(&share, &(piece.start..piece.end())).len() as i64).collect();
    let lengths = ranks.adopt(total, lengths)?;
    let local = ranks.local.descriptor(None, lengths);
    let local = ranks.collectives.settle(total, local)?;
    let map = Arc::new(SegmentMap { segments: pieces, share, total, local, identity: Arc::default() });
    Ok(Arc::clone(descriptor.0.map.get_or_init(|| map)))
}

/// The segments that overlap this rank's block, from the ranks that hold their lengths.
fn sent_pieces<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    descriptor: &Descriptor<L::Descriptor>,
    total: usize,
) -> Result<Vec<LocalSegment>, Fault> {
    /// What travels of a piece: segment, start, length, source.
    const FIELDS: usize = 4;
    let (layout, rank) = (ranks.layout, ranks.layout.rank);
    let lengths = ranks.part(&descriptor.0.lengths)?;
    let sources = descriptor.0.starts.as_ref().map(|starts| ranks.part(starts)).transpose()?;
    let first_segment = layout.share(descriptor.0.lengths.length()).start;
    let bounds = layout.bounds(total);
    let mut outgoing: Vec<Vec<i64>> = vec![Vec::new(); layout.ranks];
    // Most lie where they are known.
    let mut own: Vec<LocalSegment> = Vec::with_capacity(lengths.len());
    let mut start = descriptor.0.before;
    // Starts only grow, so the rank that holds the start of the last segment is where to look for the next.
    let mut target = 0;
    for (index, &length) in lengths.elements::<i64>().iter().enumerate() {
        let end = start + length as usize;
        if end > start {
            while bounds[target + 1] <= start {
                target += 1;
            }
            let source = sources.as_ref().map_or(start, |sources| sources.elements::<i64>()[index] as usize);
            let piece = LocalSegment { segment: first_segment + index, start, length: end - start, source };
            for (other, pieces) in outgoing.iter_mut().enumerate().skip(target) {
                if bounds[other] >= end {
                    break;
                }
                if bounds[other + 1] == bounds[other] {
                    continue;
                }
                if other == rank {
                    own.push(piece);
                } else {
                    pieces.extend([piece.segment, piece.start, piece.length, piece.source].map(|field| field as i64));
                }
            }
        }
        start = end;
    }
    let counts: Vec<usize> = outgoing.iter().map(Vec::len).collect();
    let (received, incoming) = ranks.collectives.communicator.exchange(&outgoing.concat(), &counts);
    let piece = |fields: &[i64]| LocalSegment {
        segment: fields[0] as usize,
        start: fields[1] as usize,
        length: fields[2] as usize,
        source: fields[3] as usize,
    };
    let (before, after) = received.split_at(incoming[..rank].iter().sum());
    if !after.is_empty() {
        own.extend(after.chunks_exact(FIELDS).map(piece));
    }
    if !before.is_empty() {
        own.splice(0..0, before.chunks_exact(FIELDS).map(piece));
    }
    Ok(own)
}

/// Values of segments, known to the ranks where the segments start, as a column of one element for each of `segments`;
/// the others get `identity`.
pub(crate) fn by_segment<L: LocalEngine, T: crate::distribution::column::Item>(
    ranks: &mut Distribution<L>,
    segments: usize,
    identity: T,
    started: &[LocalSegment],
    values: &[T],
) -> Result<Distributed, Fault> {
    let share = ranks.layout.share(segments);
    let mut elements = ranks.rooms(segments, |meter| meter.room(share.len()))?;
    elements.extend_with(share.len(), identity);
    let targets: Vec<i64> = started.iter().map(|piece| piece.segment as i64).collect();
    let bounds = ranks.layout.bounds(segments);
    let (places, values) =
        crate::distribution::delivery::deliver(&mut ranks.collectives.communicator, &bounds, &targets, values);
    for (place, value) in places.into_iter().zip(values) {
        elements[place as usize] = value;
    }
    let part = ranks.filled(elements);
    ranks.finish(segments, part)
}

/// The segments that overlap this rank's block, where all lengths are at hand.
fn overlapping(layout: Layout, total: usize, lengths: &[i64], sources: Option<&[i64]>) -> Vec<LocalSegment> {
    let share = layout.share(total);
    let lengths: Vec<usize> = lengths.iter().map(|&length| length as usize).collect();
    let starts = offsets(&lengths);
    let mut pieces = Vec::new();
    for (segment, (&start, &length)) in starts.iter().zip(&lengths).enumerate() {
        if !overlap(&share, &(start..start + length)).is_empty() {
            let source = sources.map_or(start, |sources| sources[segment] as usize);
            pieces.push(LocalSegment { segment, start, length, source });
        }
    }
    pieces
}

/// A whole column as the only segment.
pub(crate) fn whole_map<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    length: usize,
) -> Result<SegmentMap<L::Descriptor>, Fault> {
    let share = ranks.layout.share(length);
    let piece = LocalSegment { segment: 0, start: 0, length, source: 0 };
    let pieces = if share.is_empty() { Vec::new() } else { vec![piece] };
    let lengths = pieces.iter().map(|_| share.len() as i64).collect();
    let lengths = ranks.adopt(0, lengths)?;
    let local = ranks.local.descriptor(None, lengths);
    let local = ranks.collectives.settle(0, local)?;
    Ok(SegmentMap { segments: pieces, share, total: length, local, identity: Arc::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_sees_the_segments_it_overlaps_and_no_empty_ones() {
        let segments = |rank| -> Vec<usize> {
            let pieces = overlapping(Layout { rank, ranks: 3 }, 9, &[0, 5, 0, 0, 3, 1, 0], None);
            pieces.iter().map(|piece| piece.segment).collect()
        };
        assert_eq!([segments(0), segments(1), segments(2)], [vec![1], vec![1, 4], vec![4, 5]]);
    }

    #[test]
    fn heads_and_tails_are_the_segments_that_cross_borders() {
        let pieces = overlapping(Layout { rank: 1, ranks: 3 }, 9, &[5, 4], Some(&[70, 20]));
        let map = SegmentMap { segments: pieces, share: 3..6, total: 9, local: (), identity: Arc::default() };
        assert_eq!(map.head(), Some(LocalSegment { segment: 0, start: 0, length: 5, source: 70 }));
        assert_eq!(map.tail().map(|piece| (piece.segment, map.inside(piece))), Some((1, 5..6)));
        assert_eq!((map.head_length(), map.started().len()), (2, 1));
    }
}

//! Segment descriptors across the ranks, and the map of the segments in a rank's block.
//!
//! A descriptor keeps what was worked out from it: its local twins and the map ([`crate::distribution::segments`] makes
//! them).

use crate::distribution::column::Distributed;
use crate::layout::overlap;
use nesl_backend::{Columns, Fault, Slot};
use nesl_prim::Failure;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A segment descriptor across the ranks; `D` is that of the local engine.
#[derive(Clone, Debug)]
pub struct Descriptor<D>(pub(crate) Arc<Inner<D>>);

/// What a descriptor consists of and what was derived from it.
#[derive(Debug)]
pub(crate) struct Inner<D> {
    /// Where the segments of a view start; none for a packed descriptor.
    pub(crate) starts: Option<Distributed>,
    /// How long they are.
    pub(crate) lengths: Distributed,
    /// The sum of the lengths; none where it is more than an int holds.
    pub(crate) total: Option<usize>,
    /// Where the segments of this rank's block of lengths start in packed order.
    pub(crate) before: usize,
    /// The same descriptor on the local engine, where starts and lengths are common.
    pub(crate) local: OnceLock<D>,
    /// The packed descriptor of the same lengths on the local engine.
    pub(crate) local_packed: OnceLock<D>,
    /// The segments in this rank's block of packed order.
    pub(crate) map: OnceLock<Arc<SegmentMap<D>>>,
}

/// Lengths that add up to more than an int holds.
const TOO_LONG: Failure = Failure::OutOfMemory { bytes: u64::MAX };

impl<D> Descriptor<D> {
    /// How long the segments are.
    pub(crate) fn lengths(&self) -> &Distributed {
        &self.0.lengths
    }

    /// The sum of the lengths.
    pub(crate) fn total(&self) -> Result<usize, Fault> {
        self.0.total.ok_or_else(|| TOO_LONG.into())
    }
}

/// Whether every rank has all of a value.
pub(crate) fn is_at_hand<D>(operand: &Slot<Distributed, Descriptor<D>>) -> bool {
    match operand {
        Slot::Scalar(_) => true,
        Slot::Column(column) => column.replicated().is_some(),
        Slot::Descriptor(Descriptor(inner)) => {
            inner.lengths.replicated().is_some()
                && inner.starts.as_ref().is_none_or(|starts| starts.replicated().is_some())
        }
    }
}

/// A segment that overlaps a rank's block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LocalSegment {
    /// Which segment.
    pub(crate) segment: usize,
    /// Where all of it starts in packed order.
    pub(crate) start: usize,
    /// The length of all of it.
    pub(crate) length: usize,
    /// Where all of it starts in the data.
    pub(crate) source: usize,
}

impl LocalSegment {
    /// Where all of it ends in packed order.
    pub(crate) fn end(&self) -> usize {
        self.start + self.length
    }
}

/// The segments that overlap this rank's block of packed order, in order; none of them is empty there.
#[derive(Debug)]
pub(crate) struct SegmentMap<D> {
    /// The segments.
    pub(crate) segments: Vec<LocalSegment>,
    /// The block.
    pub(crate) share: Range<usize>,
    /// The number of elements in packed order on all ranks.
    pub(crate) total: usize,
    /// The packed descriptor of what lies in the block, on the local engine.
    pub(crate) local: D,
    /// That of no other map while this one lives, on any rank.
    pub(crate) identity: Arc<()>,
}

/// The map as its descriptor keeps it, for the local engine `L`.
pub(crate) type SharedMap<L> = Arc<SegmentMap<<L as Columns>::Descriptor>>;

impl<D> SegmentMap<D> {
    /// The first segment, if it started before the block.
    pub(crate) fn head(&self) -> Option<LocalSegment> {
        self.segments.first().copied().filter(|piece| piece.start < self.share.start)
    }

    /// The last segment, if it goes on behind the block.
    pub(crate) fn tail(&self) -> Option<LocalSegment> {
        self.segments.last().copied().filter(|piece| piece.end() > self.share.end)
    }

    /// The part of a segment that lies in the block.
    pub(crate) fn inside(&self, piece: LocalSegment) -> Range<usize> {
        overlap(&self.share, &(piece.start..piece.end()))
    }

    /// How many elements of the block belong to a segment that started before it.
    pub(crate) fn head_length(&self) -> usize {
        self.head().map_or(0, |head| self.inside(head).len())
    }

    /// The segments that start in this block.
    pub(crate) fn started(&self) -> &[LocalSegment] {
        &self.segments[usize::from(self.head().is_some())..]
    }
}

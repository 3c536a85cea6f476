//! Scans of columns and of segments.
//!
//! Where the operator is associative, ranks scan their blocks, exchange one value each, and combine in the order of the
//! ranks. Floats are in [`crate::instructions::float_scans`].

use crate::distribution::column::{Block, Distributed};
use crate::distribution::descriptor::{Descriptor, SegmentMap};
use crate::distribution::{Distribution, LocalEngine, segments};
use crate::instructions::elementwise;
use crate::instructions::float_scans;
use crate::instructions::packed;
use nesl_backend::{Fault, Vector};
use nesl_prim::ScalarOp;

/// What is before each element, of all or of its segment.
pub(crate) fn run<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    op: ScalarOp,
    column: &Distributed,
    descriptor: Option<&Descriptor<L::Descriptor>>,
) -> Result<Distributed, Fault> {
    match descriptor {
        None => scan(ranks, op, column),
        Some(descriptor) => seg_scan(ranks, op, column, descriptor),
    }
}

/// `scan`.
pub(crate) fn scan<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    op: ScalarOp,
    column: &Distributed,
) -> Result<Distributed, Fault> {
    match column.replicated() {
        Some(vector) => {
            let scanned = ranks.local.scan(op, vector, None);
            ranks.collectives.replicated(scanned).map(Distributed::Replicated)
        }
        None => {
            let Block { length, part, .. } = ranks.block(column)?;
            let map = segments::whole_map(ranks, length)?;
            let part = scan_part(ranks, op, &part, &map)?;
            ranks.finish(length, part)
        }
    }
}

/// `seg_scan`.
pub(crate) fn seg_scan<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    op: ScalarOp,
    column: &Distributed,
    descriptor: &Descriptor<L::Descriptor>,
) -> Result<Distributed, Fault> {
    let column = &ranks.in_blocks(column)?;
    if let Some((vector, local)) = packed::small_operands(ranks, column, descriptor)? {
        let scanned = ranks.local.scan(op, &vector, Some(&local));
        return ranks.collectives.replicated(scanned).map(Distributed::Replicated);
    }
    let (part, map) = packed::packed_part(ranks, column, descriptor)?;
    let part = scan_part(ranks, op, &part, &map)?;
    ranks.finish(map.total, part)
}

/// The scan of this rank's block of packed order.
pub(crate) fn scan_part<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    op: ScalarOp,
    part: &Vector,
    map: &SegmentMap<L::Descriptor>,
) -> Result<Vector, Fault> {
    if op.row().associative {
        exact_scan(ranks, op, part, map)
    } else {
        float_scans::ordered_scan(ranks, op, part, map)
    }
}

/// The scan of this rank's block under an associative operator.
pub(crate) fn exact_scan<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    op: ScalarOp,
    part: &Vector,
    map: &SegmentMap<L::Descriptor>,
) -> Result<Vector, Fault> {
    let scanned = match map.segments.len() {
        0 | 1 => ranks.local.scan(op, part, None),
        _ => ranks.local.scan(op, part, Some(&map.local)),
    };
    let scanned = ranks.collectives.settle(map.total, scanned)?;
    // What the last segment of the block sums up to here.
    let last = match part.len() {
        0 => op.identity(),
        length => op.combine(scanned.get(length - 1), part.get(length - 1)),
    };
    let sums = ranks.collectives.all_scalars(op.row().result, last);
    let amended = match map.head() {
        None => Ok(scanned),
        Some(head) => {
            let first = ranks.layout.owner(map.total, head.start);
            let before =
                sums[first..ranks.layout.rank].iter().fold(op.identity(), |sum, &value| op.combine(sum, value));
            elementwise::amend_head(ranks, op, before, scanned, map.head_length())
        }
    };
    ranks.collectives.settle(map.total, amended)
}

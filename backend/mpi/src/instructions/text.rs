//! The texts of elements, and back: `text_lengths`, `text`, `parse_float`.
//!
//! Every rank writes and reads on its local engine. A text that a border cuts is read by the rank where it starts,
//! which gets the rest of it from the ranks that hold it.

use crate::distribution::column::{Block, Distributed};
use crate::distribution::descriptor::{Descriptor, LocalSegment, SegmentMap};
use crate::distribution::{Distribution, LocalEngine, segments};
use crate::instructions::packed;
use nesl_backend::{Fault, Text, Vector};

/// Scalars as text, and text as scalars.
pub(crate) fn run<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    text: Text<'_, Distributed, Descriptor<L::Descriptor>>,
) -> Result<Distributed, Fault> {
    match text {
        Text::Lengths(column) => text_lengths(ranks, column),
        Text::Text(column) => self::text(ranks, column),
        Text::ParseFloat(column, descriptor) => parse_float(ranks, column, descriptor),
    }
}

/// `text_lengths`.
pub(crate) fn text_lengths<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    column: &Distributed,
) -> Result<Distributed, Fault> {
    match column.replicated() {
        Some(vector) => {
            let lengths = ranks.local.text(Text::Lengths(vector));
            ranks.collectives.replicated(lengths).map(Distributed::Replicated)
        }
        None => {
            let Block { length, part, .. } = ranks.block(column)?;
            let lengths = ranks.local.text(Text::Lengths(&part));
            let lengths = ranks.collectives.settle(length, lengths)?;
            ranks.finish(length, lengths)
        }
    }
}

/// `text`.
pub(crate) fn text<L: LocalEngine>(ranks: &mut Distribution<L>, column: &Distributed) -> Result<Distributed, Fault> {
    // Even the text of a common column may be too long to be common.
    let part = ranks.part(column)?;
    let text = ranks.local.text(Text::Text(&part));
    let text = ranks.collectives.settle(column.length(), text)?;
    ranks.assemble(text)
}

/// `parse_float`.
pub(crate) fn parse_float<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    column: &Distributed,
    descriptor: &Descriptor<L::Descriptor>,
) -> Result<Distributed, Fault> {
    let column = &ranks.in_blocks(column)?;
    if let Some((vector, local)) = packed::small_operands(ranks, column, descriptor)? {
        let floats = ranks.local.text(Text::ParseFloat(&vector, &local));
        return ranks.collectives.replicated(floats).map(Distributed::Replicated);
    }
    let (part, map) = packed::packed_part(ranks, column, descriptor)?;
    let whole = whole_segments(ranks, &part, &map)?;
    let lengths: Vec<i64> = map.started().iter().map(|piece: &LocalSegment| piece.length as i64).collect();
    let lengths = ranks.adopt(map.total, lengths)?;
    let packed = ranks.local.descriptor(None, lengths);
    let floats = packed.and_then(|packed| ranks.local.text(Text::ParseFloat(&whole, &packed)));
    let floats = ranks.collectives.settle(map.total, floats)?;
    // Segments without elements are on no rank's map.
    let of_none = nesl_prim::text::parse_float(b"");
    segments::by_segment(ranks, descriptor.0.lengths.length(), of_none, map.started(), floats.elements::<f64>())
}

/// The elements of all segments that start in this rank's block of packed order, also those behind the block.
fn whole_segments<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    part: &Vector,
    map: &SegmentMap<L::Descriptor>,
) -> Result<Vector, Fault> {
    let bounds = ranks.layout.bounds(map.total);
    // What this rank reads begins behind a segment that started before its block, and ends where another rank's begins.
    let begin = map.head().map_or(map.share.start, |head| head.end());
    let mut wanted = ranks.collectives.communicator.all_gather_counts(begin);
    wanted.push(map.total);
    for rank in (0..ranks.layout.ranks).rev().filter(|&rank| bounds[rank] == bounds[rank + 1]) {
        wanted[rank] = wanted[rank + 1];
    }
    ranks.realigned(part, &bounds, &wanted)
}

//! The texts of elements, and back: `text_lengths`, `text`, `parse_float`.
//!
//! Every rank writes and reads on its local engine. A text that a border cuts is read by the rank where it starts, which gets
//! the rest of it from the ranks that hold it.

use crate::distribution::column::{Column, Descriptor};
use crate::distribution::segments::{Piece, SegmentMap};
use crate::ranks::Ranks;
use nesl_backend::{Engine, Fault, Vector};

impl<L: Engine<Column = Vector>> Ranks<L> {
    /// `text_lengths`.
    pub(crate) fn text_lengths_of(&mut self, column: &Column) -> Result<Column, Fault> {
        match column {
            Column::Common(vector) => {
                let lengths = self.local.text_lengths(vector);
                self.replicated(lengths).map(Column::Common)
            }
            Column::Partitioned { length, part, .. } => {
                let lengths = self.local.text_lengths(part);
                let lengths = self.settle(*length, lengths)?;
                self.finish(*length, lengths)
            }
        }
    }

    /// `text`.
    pub(crate) fn texts_of(&mut self, column: &Column) -> Result<Column, Fault> {
        // Even the text of a common column may be too long to be common.
        let part = self.part(column);
        let text = self.local.text(&part);
        let text = self.settle(column.length(), text)?;
        self.assemble(text)
    }

    /// `parse_float`.
    pub(crate) fn parse_segments(
        &mut self,
        column: &Column,
        descriptor: &Descriptor<L::Descriptor>,
    ) -> Result<Column, Fault> {
        if let Some((vector, local)) = self.small_operands(column, descriptor)? {
            let floats = self.local.parse_float(&vector, &local);
            return self.replicated(floats).map(Column::Common);
        }
        let (part, map) = self.packed_part(column, descriptor)?;
        let whole = self.whole_segments(&part, &map)?;
        let lengths: Vec<i64> = map.started().iter().map(|piece: &Piece| piece.length as i64).collect();
        let lengths = self.adopt(map.total, lengths)?;
        let packed = self.local.packed(lengths);
        let floats = packed.and_then(|packed| self.local.parse_float(&whole, &packed));
        let floats = self.settle(map.total, floats)?;
        // Segments without elements are on no rank's map.
        let of_none = nesl_prim::text::parse_float(b"");
        self.by_segment(descriptor.0.lengths.length(), of_none, map.started(), floats.elements::<f64>())
    }

    /// The elements of all segments that start in this rank's block of packed order, also those behind the block.
    fn whole_segments(&mut self, part: &Vector, map: &SegmentMap<L::Descriptor>) -> Result<Vector, Fault> {
        let bounds = self.layout.bounds(map.total);
        // What this rank reads begins behind a segment that started before its block, and ends where another rank's begins.
        let begin = map.head().map_or(map.share.start, |head| head.end());
        let mut wanted = self.communicator.all_gather_counts(begin);
        wanted.push(map.total);
        for rank in (0..self.layout.ranks).rev().filter(|&rank| bounds[rank] == bounds[rank + 1]) {
            wanted[rank] = wanted[rank + 1];
        }
        self.realigned(part, &bounds, &wanted)
    }
}

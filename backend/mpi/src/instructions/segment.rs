//! Segmented instructions that move elements, and what all segmented instructions share.
//!
//! Where descriptor and data are common, the local engine takes views as they are. Otherwise a view is compacted first; then
//! this rank's block of packed order and the [`crate::distribution::segments::SegmentMap`] are all that a loop needs.

use crate::distribution::column::{Column, Descriptor};
use crate::distribution::segments::SharedMap;
use crate::ranks::Ranks;
use nesl_backend::{Engine, Fault, Vector, on_vector};

impl<L: Engine<Column = Vector>> Ranks<L> {
    /// The operands of a segmented instruction on the local engine, if all that it concerns is common.
    pub(crate) fn small_operands(
        &mut self,
        column: &Column,
        descriptor: &Descriptor<L::Descriptor>,
    ) -> Result<Option<(Vector, L::Descriptor)>, Fault> {
        if !self.is_small(descriptor) {
            return Ok(None);
        }
        if let Column::Common(vector) = column {
            let local = self.local_descriptor(descriptor)?;
            return Ok(Some((vector.clone(), local)));
        }
        // A small view into much data.
        let compacted = self.compact_segments(column, descriptor)?;
        let local = self.local_packed(descriptor)?;
        Ok(Some((self.whole(&compacted), local)))
    }

    /// This rank's block of the elements in packed order, and the segments there.
    pub(crate) fn packed_part(
        &mut self,
        column: &Column,
        descriptor: &Descriptor<L::Descriptor>,
    ) -> Result<(Vector, SharedMap<L>), Fault> {
        let map = self.map_of(descriptor)?;
        let part = match &descriptor.0.starts {
            None => self.part(column),
            Some(_) => self.compacted_part(column, &map, map.total)?,
        };
        Ok((part, map))
    }

    /// `compact`.
    pub(crate) fn compact_segments(
        &mut self,
        column: &Column,
        descriptor: &Descriptor<L::Descriptor>,
    ) -> Result<Column, Fault> {
        if descriptor.0.starts.is_none() {
            return Ok(column.clone());
        }
        if let (Column::Common(vector), true) = (column, self.is_small(descriptor)) {
            let local = self.local_descriptor(descriptor)?;
            let compacted = self.local.compact(vector, &local);
            return self.replicated(compacted).map(Column::Common);
        }
        let (part, map) = self.packed_part(column, descriptor)?;
        self.finish(map.total, part)
    }

    /// `seg_dist`.
    pub(crate) fn distribute(
        &mut self,
        column: &Column,
        descriptor: &Descriptor<L::Descriptor>,
    ) -> Result<Column, Fault> {
        if let (Column::Common(vector), true) = (column, self.is_small(descriptor)) {
            let local = self.local_packed(descriptor)?;
            let distributed = self.local.seg_dist(vector, &local);
            return self.replicated(distributed).map(Column::Common);
        }
        let map = self.map_of(descriptor)?;
        let values = self.values_of_segments(column, &map)?;
        let distributed = self.local.seg_dist(&values, &map.local);
        let part = self.settle(map.total, distributed)?;
        self.finish(map.total, part)
    }

    /// What a column of one element for each segment has for those in this rank's block.
    pub(crate) fn values_of_segments(&mut self, column: &Column, map: &SharedMap<L>) -> Result<Vector, Fault> {
        let segments: Vec<i64> = map.pieces.iter().map(|piece| piece.segment as i64).collect();
        match column {
            Column::Common(vector) => {
                let segments = self.adopt(map.total, segments)?;
                let values = self.local.gather(vector, &segments);
                self.settle(map.total, values)
            }
            Column::Partitioned { length, part, .. } => {
                let requests = self.requests_of(&map.identity, &segments, map.total, *length)?;
                on_vector!(part, slice => self.fetched(&requests, slice.elements(), map.total))
            }
        }
    }

    /// `append`.
    ///
    /// Across ranks it is a merge: the segments of both in turn, by flags that say whose each element is.
    pub(crate) fn append_segments(
        &mut self,
        first: (&Descriptor<L::Descriptor>, &Column),
        second: (&Descriptor<L::Descriptor>, &Column),
    ) -> Result<Column, Fault> {
        let total = self.total_of(first.0)?.saturating_add(self.total_of(second.0)?);
        if let (Column::Common(left), Column::Common(right), true, true, true) =
            (first.1, second.1, self.is_common(total), self.is_small(first.0), self.is_small(second.0))
        {
            let locals = (self.local_descriptor(first.0)?, self.local_descriptor(second.0)?);
            let appended = self.local.append((&locals.0, left), (&locals.1, right));
            return self.replicated(appended).map(Column::Common);
        }
        let lengths = self.interleave_columns(&[first.0.0.lengths.clone(), second.0.0.lengths.clone()])?;
        let of_first = self.generate(lengths.length(), |segment| segment % 2 == 0)?;
        let both = self.descriptor(None, lengths)?;
        let flags = self.distribute(&of_first, &both)?;
        let left = self.compact_segments(first.1, first.0)?;
        let right = self.compact_segments(second.1, second.0)?;
        self.merge_flagged(&flags, &left, &right)
    }
}

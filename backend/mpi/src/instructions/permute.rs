//! Instructions that move elements: slices, gathers, scatters, packs, merges and their kin.
//!
//! Each runs on the local engine where all operands and the result are common. Otherwise the parts move by the patterns of
//! [`crate::distribution::delivery`], and the local engine does what is left to do inside a block.

use crate::distribution::column::Column;
use crate::distribution::ragged::Placed;
use crate::distribution::requests::Requests;
use crate::distribution::segments::SegmentMap;
use crate::layout::{Owners, offsets, overlap};
use crate::ranks::Ranks;
use nesl_backend::{Engine, Fault, MapOperand, Vector, Window, on_vector};
use nesl_prim::{Failure, ScalarOp, ScalarValue};

impl<L: Engine<Column = Vector>> Ranks<L> {
    /// `extract`.
    pub(crate) fn extract_element(&mut self, column: &Column, index: usize) -> Result<ScalarValue, Fault> {
        match column {
            Column::Common(vector) => self.local.extract(vector, index),
            Column::Partitioned { length, part, .. } => {
                let owner = self.layout.owner(*length, index);
                let start = self.layout.share(*length).start;
                let value = (owner == self.layout.rank).then(|| part.get(index - start));
                Ok(self.broadcast_scalar(owner, part.scalar_type(), value))
            }
        }
    }

    /// `slice`.
    pub(crate) fn slice_of(&mut self, column: &Column, start: usize, length: usize) -> Result<Column, Fault> {
        match column {
            Column::Common(vector) => Ok(Column::Common(vector.slice(start, length))),
            Column::Partitioned { length: all, .. } if length == *all => Ok(column.clone()),
            Column::Partitioned { length: all, part, .. } if self.is_common(length) => {
                let (piece, counts) = self.window_piece(*all, part, start, length);
                self.assemble_counted(piece, &counts)
            }
            Column::Partitioned { length: all, part, .. } => {
                let wanted: Vec<usize> = self.layout.bounds(length).iter().map(|bound| start + bound).collect();
                let part = self.realigned(part, &self.layout.bounds(*all), &wanted)?;
                self.finish(length, part)
            }
        }
    }

    /// What this rank's part has of a window of a column of `all` elements, and how much every rank has.
    fn window_piece(&self, all: usize, part: &Vector, start: usize, length: usize) -> (Vector, Vec<usize>) {
        let window = start..start + length;
        let here = |rank| overlap(&self.layout.block(all, rank), &window);
        let counts = (0..self.layout.ranks).map(|rank| here(rank).len()).collect();
        let mine = here(self.layout.rank);
        let piece = if mine.is_empty() {
            part.slice(0, 0)
        } else {
            part.slice(mine.start - self.layout.share(all).start, mine.len())
        };
        (piece, counts)
    }

    /// `fetch`.
    pub(crate) fn fetch_window(&mut self, column: &Column, start: usize, length: usize) -> Result<Window, Fault> {
        let elements = match column {
            Column::Common(vector) => vector.slice(start, length).to_constants(),
            Column::Partitioned { length: all, part, .. } => {
                let (piece, counts) = self.window_piece(*all, part, start, length);
                on_vector!(&piece, slice => {
                    let storage = self.storage(length, length)?;
                    let all = self.communicator.all_gather_varied(slice.elements(), &counts, storage);
                    nesl_backend::data::vector::VectorElement::constants(all)
                })
            }
        };
        Ok(Window { start, elements })
    }

    /// `gather`.
    pub(crate) fn gather_elements(&mut self, column: &Column, indices: &Column) -> Result<Column, Fault> {
        let length = indices.length();
        match (column, indices) {
            (Column::Common(vector), Column::Common(indices)) => {
                let gathered = self.local.gather(vector, indices);
                self.replicated(gathered).map(Column::Common)
            }
            (Column::Common(vector), Column::Partitioned { part: indices, .. }) => {
                let gathered = self.local.gather(vector, indices);
                let part = self.settle(length, gathered)?;
                self.finish(length, part)
            }
            (Column::Partitioned { length: all, part, .. }, Column::Common(indices)) => {
                self.gathered_everywhere(*all, part, indices.elements())
            }
            (Column::Partitioned { length: all, part, .. }, Column::Partitioned { .. }) => {
                let requests = self.requests(indices, *all)?;
                let part = on_vector!(part, slice => self.fetched(&requests, slice.elements(), length))?;
                self.finish(length, part)
            }
        }
    }

    /// The elements at indices that all ranks know, of a column of `length`: each rank knows whose they are.
    fn gathered_everywhere(&mut self, length: usize, part: &Vector, indices: &[i64]) -> Result<Column, Fault> {
        let (start, bounds) = (self.layout.share(length).start, self.layout.bounds(length));
        let owners = Owners::new(&bounds);
        let owners: Vec<usize> = indices.iter().map(|&index| owners.of(index as usize)).collect();
        let mut counts = vec![0; self.layout.ranks];
        for &owner in &owners {
            counts[owner] += 1;
        }
        let mut next = offsets(&counts);
        on_vector!(part, slice => {
            let elements = slice.elements();
            let own = indices.iter().zip(&owners).filter(|&(_, &owner)| owner == self.layout.rank);
            let own: Vec<_> = own.map(|(&index, _)| elements[index as usize - start]).collect();
            let all = self.communicator.all_gather_varied(&own, &counts, Vec::new());
            let in_order = owners.iter().map(|&owner| {
                next[owner] += 1;
                all[next[owner] - 1]
            });
            self.adopt(0, in_order.collect()).map(Column::Common)
        })
    }

    /// `scatter`.
    pub(crate) fn scatter_values(
        &mut self,
        column: Column,
        indices: &Column,
        values: &Column,
    ) -> Result<Column, Fault> {
        let length = column.length();
        if let (Column::Common(_), Column::Common(indices), Column::Common(values)) = (&column, indices, values) {
            let Column::Common(vector) = column else { unreachable!("matched above") };
            let scattered = self.local.scatter(vector, indices, values);
            return self.replicated(scattered).map(Column::Common);
        }
        let write = |ranks: &mut Ranks<L>, part, targets: &Vector, values: &Vector| {
            let scattered = ranks.local.scatter(part, targets, values);
            ranks.settle(length, scattered)
        };
        if let (Column::Common(indices), Column::Common(values)) = (indices, values) {
            // Everybody knows all writes: take those that go to this rank.
            let (targets, values) = self.own_writes(length, indices, values)?;
            let part = self.take_part(column);
            let part = write(self, part, &targets, &values)?;
            return self.finish(length, part);
        }
        let requests = self.requests(indices, length)?;
        let values = self.part(values);
        let part = self.take_part(column);
        let part = on_vector!(&values, slice => {
            self.delivered(&requests, slice.elements(), indices.length(), part, write)
        })?;
        self.finish(length, part)
    }

    /// The writes into this rank's block of `length` elements, relative to it.
    fn own_writes(&mut self, length: usize, indices: &Vector, values: &Vector) -> Result<(Vector, Vector), Fault> {
        let share = self.layout.share(length);
        let indices = indices.elements::<i64>();
        let mine: Vec<usize> = (0..indices.len()).filter(|&k| share.contains(&(indices[k] as usize))).collect();
        let targets: Vec<i64> = mine.iter().map(|&k| indices[k] - share.start as i64).collect();
        let targets = self.adopt(0, targets)?;
        let values = on_vector!(values, slice => {
            let elements = slice.elements();
            self.adopt(0, mine.iter().map(|&k| elements[k]).collect())
        })?;
        Ok((targets, values))
    }

    /// `permute`.
    pub(crate) fn permute_values(&mut self, values: &Column, indices: &Column) -> Result<Column, Fault> {
        if let (Column::Common(values), Column::Common(indices)) = (values, indices) {
            let permuted = self.local.permute(values, indices);
            return self.replicated(permuted).map(Column::Common);
        }
        let length = values.length();
        let requests = self.requests(indices, length)?;
        // More than a block's worth of targets in one block: some come twice.
        if requests.is_crowded() {
            return Err(self.not_a_permutation(length, indices, &requests)?);
        }
        let values = self.part(values);
        let permuted = on_vector!(&values, slice => {
            self.delivered(&requests, slice.elements(), length, None, |ranks, _, targets, values| {
                let repeated = first_repeated(targets.elements(), ranks.layout.share(length).len());
                if ranks.communicator.all_gather(repeated.is_some()).contains(&true) {
                    return Ok(None);
                }
                // Without repetitions every target was met once.
                let part = ranks.local.permute(values, targets);
                ranks.settle(length, part).map(Some)
            })
        })?;
        match permuted {
            Some(part) => self.finish(length, part),
            None => Err(self.not_a_permutation(length, indices, &requests)?),
        }
    }

    /// The fault of a `permute`: the first element whose index an earlier element has.
    fn not_a_permutation(&mut self, length: usize, indices: &Column, requests: &Requests) -> Result<Fault, Fault> {
        let share = self.layout.share(length);
        let mut elements = self.storage(length, share.len())?;
        elements.extend(share.clone().map(|element| element as i64));
        // Elements arrive in order, so the first repetition here is the one with the least element.
        let mut seen = vec![false; share.len()];
        let mine = self.delivered(requests, &elements, length, i64::MAX, |_, mine, targets, elements| {
            let mut pairs = targets.elements::<i64>().iter().zip(elements.elements::<i64>());
            let repeated = pairs.find(|&(&target, _)| std::mem::replace(&mut seen[target as usize], true));
            Ok(repeated.map_or(mine, |(_, &element)| mine.min(element)))
        })?;
        let all = self.communicator.all_gather(mine);
        let element = all.into_iter().min().unwrap_or(0) as usize;
        let owner = self.layout.owner(length, element);
        let indices = self.part(indices);
        let index = (owner == self.layout.rank).then(|| indices.elements::<i64>()[element - share.start]);
        let index = self.communicator.broadcast(owner, index.unwrap_or(0));
        Ok(Fault { failure: Failure::NotAPermutation { index }, element })
    }

    /// `pack`.
    pub(crate) fn pack_flagged(&mut self, column: &Column, flags: &Column) -> Result<Placed, Fault> {
        if let (Column::Common(column), Column::Common(flags)) = (column, flags) {
            let packed = self.local.pack(column, flags);
            return self.replicated(packed).map(Column::Common).map(Placed::Settled);
        }
        let (part, own_flags) = (self.part(column), self.part(flags));
        let packed = self.local.pack(&part, &own_flags);
        let packed = self.settle(column.length(), packed)?;
        let counts = self.true_counts(flags, &own_flags);
        self.loose(counts.into_iter().enumerate().collect(), packed)
    }

    /// `merge`.
    pub(crate) fn merge_flagged(
        &mut self,
        flags: &Column,
        when_true: &Column,
        when_false: &Column,
    ) -> Result<Column, Fault> {
        let length = flags.length();
        if let (Some(flags), Some(left), Some(right)) = (flags.common(), when_true.common(), when_false.common()) {
            let merged = self.local.merge(flags, left, right);
            return self.replicated(merged).map(Column::Common);
        }
        let own_flags = self.part(flags);
        let trues = self.true_counts(flags, &own_flags);
        let falses: Vec<usize> =
            trues.iter().enumerate().map(|(rank, trues)| self.layout.block(length, rank).len() - trues).collect();
        let left = self.realigned_column(when_true, &offsets(&trues))?;
        let right = self.realigned_column(when_false, &offsets(&falses))?;
        let merged = self.local.merge(&own_flags, &left, &right);
        let part = self.settle(length, merged)?;
        self.finish(length, part)
    }

    /// This rank's elements of a column by other bounds than those of its blocks.
    fn realigned_column(&mut self, column: &Column, wanted: &[usize]) -> Result<Vector, Fault> {
        let rank = self.layout.rank;
        match column {
            Column::Common(vector) => Ok(vector.slice(wanted[rank], wanted[rank + 1] - wanted[rank])),
            Column::Partitioned { length, part, .. } => self.realigned(part, &self.layout.bounds(*length), wanted),
        }
    }

    /// `concat`.
    pub(crate) fn concat_columns(&mut self, columns: &[Column]) -> Result<Column, Fault> {
        let length = columns.iter().map(Column::length).sum();
        if self.is_common(length) {
            let vectors: Vec<Vector> = columns.iter().map(|column| self.whole(column)).collect();
            let joined = self.local.concat(&vectors);
            return self.replicated(joined).map(Column::Common);
        }
        let mut pieces = Vec::with_capacity(columns.len());
        let mut start = 0;
        for column in columns {
            let here = start..start + column.length();
            // The bounds of the result's blocks as positions in this column.
            let wanted: Vec<usize> =
                self.layout.bounds(length).iter().map(|bound| bound.clamp(&here.start, &here.end) - start).collect();
            pieces.push(self.realigned_column(column, &wanted)?);
            start = here.end;
        }
        let joined = self.local.concat(&pieces);
        let part = self.settle(length, joined)?;
        self.finish(length, part)
    }

    /// `interleave`.
    pub(crate) fn interleave_columns(&mut self, columns: &[Column]) -> Result<Column, Fault> {
        let each = columns.first().map_or(0, Column::length);
        let length = each * columns.len();
        if self.is_common(length) {
            let vectors: Vec<Vector> = columns.iter().map(|column| self.whole(column)).collect();
            let mixed = self.local.interleave(&vectors);
            return self.replicated(mixed).map(Column::Common);
        }
        let parts: Vec<Vector> = columns.iter().map(|column| self.part(column)).collect();
        let mixed = self.local.interleave(&parts);
        let mixed = self.settle(length, mixed)?;
        let counts: Vec<usize> =
            (0..self.layout.ranks).map(|rank| self.layout.block(each, rank).len() * columns.len()).collect();
        self.assemble_counted(mixed, &counts)
    }

    /// The elements of this rank's block of packed order of a view into a column.
    pub(crate) fn compacted_part(
        &mut self,
        column: &Column,
        map: &SegmentMap<L::Descriptor>,
        total: usize,
    ) -> Result<Vector, Fault> {
        let ranges = ranges_of(map);
        match column {
            Column::Common(vector) => {
                let starts = self.adopt(total, ranges.iter().map(|range| range.0 as i64).collect())?;
                let lengths = self.adopt(total, ranges.iter().map(|range| range.1 as i64).collect())?;
                let view = self.local.view(starts, lengths);
                let compacted = view.and_then(|view| self.local.compact(vector, &view));
                self.settle(total, compacted)
            }
            Column::Partitioned { length, part, .. } => {
                let requests = self.range_requests(&map.identity, ranges.into_iter(), total, *length);
                on_vector!(part, slice => {
                    self.fetched_ranges(&requests, slice.elements(), map.share.len(), total)
                })
            }
        }
    }

    /// `map`.
    pub(crate) fn map_elements(&mut self, op: ScalarOp, operands: Vec<MapOperand<Column>>) -> Result<Column, Fault> {
        let length = operands.iter().find_map(|operand| match operand {
            MapOperand::Column(column) => Some(column.length()),
            MapOperand::Scalar(_) => None,
        });
        let length = length.unwrap_or(0);
        let common = self.is_common(length);
        let local = operands.into_iter().map(|operand| match operand {
            MapOperand::Scalar(value) => MapOperand::Scalar(value),
            MapOperand::Column(Column::Common(vector)) => MapOperand::Column(vector),
            MapOperand::Column(Column::Partitioned { part, .. }) => MapOperand::Column(part),
        });
        let result = self.local.map(op, local.collect());
        if common {
            return self.replicated(result).map(Column::Common);
        }
        let start = self.layout.share(length).start;
        let result = result.map_err(|fault| Fault { element: fault.element + start, ..fault });
        let part = if op.row().fallible { self.agree_on_fault(result) } else { self.settle(length, result) }?;
        self.finish(length, part)
    }
}

/// Start and length of what the segments in this rank's block of packed order take of the data.
pub(crate) fn ranges_of<D>(map: &SegmentMap<D>) -> Vec<(usize, usize)> {
    let range = |piece: &crate::distribution::segments::Piece| {
        let inside = map.inside(*piece);
        (piece.source + inside.start - piece.start, inside.len())
    };
    map.pieces.iter().map(range).collect()
}

/// The first position whose target, below `count`, occurred before.
pub(crate) fn first_repeated(targets: &[i64], count: usize) -> Option<usize> {
    let mut seen = vec![false; count];
    targets.iter().position(|&target| std::mem::replace(&mut seen[target as usize], true))
}

//! Reductions and scans, of columns and of segments.
//!
//! Where the operator is associative, ranks fold their blocks, exchange one value each, and combine in the order of the ranks.
//! Float addition and multiplication are not: their borders are in [`crate::instructions::float_sums`] and [`crate::instructions::float_scans`], which
//! reproduce the order that `nesl_prim::sum` defines.

use crate::distribution::column::{Column, Descriptor, Item};
use crate::distribution::segments::{Piece, SegmentMap};
use crate::ranks::Ranks;
use nesl_backend::{Engine, Fault, MapOperand, Vector, on_vector};
use nesl_prim::{Element, ScalarOp, ScalarValue, eval};
use nesl_vcode::Constants;

/// Two values combined by an operator that has an identity; those cannot fail.
pub(crate) fn combine(op: ScalarOp, left: ScalarValue, right: ScalarValue) -> ScalarValue {
    match eval(op, &[left, right]) {
        Ok(value) => value,
        Err(failure) => panic!("{op} has an identity and failed: {failure}"),
    }
}

/// The neutral element of an operator that reduces.
pub(crate) fn identity(op: ScalarOp) -> ScalarValue {
    op.row().identity.unwrap_or_else(|| panic!("{op} does not reduce: unverified program"))
}

impl<L: Engine<Column = Vector>> Ranks<L> {
    /// `reduce`.
    pub(crate) fn reduce_column(&mut self, op: ScalarOp, column: &Column) -> Result<ScalarValue, Fault> {
        let (length, part) = match column {
            Column::Common(vector) => {
                let reduced = self.local.reduce(op, vector);
                return self.replicated(reduced);
            }
            Column::Partitioned { length, part, .. } => (*length, part),
        };
        if op.row().associative {
            let mine = self.local.reduce(op, part);
            let mine = self.settle(length, mine)?;
            let all = self.all_scalars(op.row().result, mine);
            return Ok(all.into_iter().fold(identity(op), |sum, value| combine(op, sum, value)));
        }
        let map = self.whole_map(length)?;
        let home = self.layout.owner(length, 0);
        let crossing = self.crossing_sum(op, part, &map)?.map(ScalarValue::Float);
        // Blocks so few that one rank has them all: nothing crosses a border.
        let inside = if home == self.layout.rank && crossing.is_none() {
            self.local.reduce(op, part).map(Some)
        } else {
            Ok(crossing)
        };
        let value = self.settle(length, inside)?;
        Ok(self.broadcast_scalar(home, op.row().result, value))
    }

    /// A whole column as the only segment.
    fn whole_map(&mut self, length: usize) -> Result<SegmentMap<L::Descriptor>, Fault> {
        let share = self.layout.share(length);
        let piece = Piece { segment: 0, start: 0, length, source: 0 };
        let pieces = if share.is_empty() { Vec::new() } else { vec![piece] };
        let lengths = pieces.iter().map(|_| share.len() as i64).collect();
        let lengths = self.adopt(0, lengths)?;
        let local = self.local.packed(lengths);
        let local = self.settle(0, local)?;
        Ok(SegmentMap { pieces, share, total: length, local, identity: std::sync::Arc::default() })
    }

    /// `scan`.
    pub(crate) fn scan_column(&mut self, op: ScalarOp, column: &Column) -> Result<Column, Fault> {
        match column {
            Column::Common(vector) => {
                let scanned = self.local.scan(op, vector);
                self.replicated(scanned).map(Column::Common)
            }
            Column::Partitioned { length, part, .. } => {
                let map = self.whole_map(*length)?;
                let part = self.scan_part(op, part, &map)?;
                self.finish(*length, part)
            }
        }
    }

    /// The scan of this rank's block of packed order.
    fn scan_part(&mut self, op: ScalarOp, part: &Vector, map: &SegmentMap<L::Descriptor>) -> Result<Vector, Fault> {
        if op.row().associative { self.exact_scan(op, part, map) } else { self.ordered_scan(op, part, map) }
    }

    /// The scan of this rank's block under an associative operator.
    fn exact_scan(&mut self, op: ScalarOp, part: &Vector, map: &SegmentMap<L::Descriptor>) -> Result<Vector, Fault> {
        let scanned = match map.pieces.len() {
            0 | 1 => self.local.scan(op, part),
            _ => self.local.seg_scan(op, part, &map.local),
        };
        let scanned = self.settle(map.total, scanned)?;
        // What the last segment of the block sums up to here.
        let last = match part.len() {
            0 => identity(op),
            length => combine(op, scanned.get(length - 1), part.get(length - 1)),
        };
        let sums = self.all_scalars(op.row().result, last);
        let amended = match map.head() {
            None => Ok(scanned),
            Some(head) => {
                let first = self.layout.owner(map.total, head.start);
                let before =
                    sums[first..self.layout.rank].iter().fold(identity(op), |sum, &value| combine(op, sum, value));
                self.amend_head(op, before, scanned, map.head_length())
            }
        };
        self.settle(map.total, amended)
    }

    /// `before` combined with each of the first `length` elements.
    fn amend_head(
        &mut self,
        op: ScalarOp,
        before: ScalarValue,
        elements: Vector,
        length: usize,
    ) -> Result<Vector, Fault> {
        let rest = elements.len() - length;
        if rest == 0 {
            return self.local.map(op, vec![MapOperand::Scalar(before), MapOperand::Column(elements)]);
        }
        let head = elements.slice(0, length);
        let head = self.local.map(op, vec![MapOperand::Scalar(before), MapOperand::Column(head)])?;
        self.local.concat(&[head, elements.slice(length, rest)])
    }

    /// `seg_reduce`.
    pub(crate) fn reduce_segments(
        &mut self,
        op: ScalarOp,
        column: &Column,
        descriptor: &Descriptor<L::Descriptor>,
    ) -> Result<Column, Fault> {
        if let Some((vector, local)) = self.small_operands(column, descriptor)? {
            let reduced = self.local.seg_reduce(op, &vector, &local);
            return self.replicated(reduced).map(Column::Common);
        }
        let (part, map) = self.packed_part(column, descriptor)?;
        let reduced = self.local.seg_reduce(op, &part, &map.local);
        let reduced = self.settle(map.total, reduced)?;
        if op.row().associative {
            return self.exactly_reduced(op, &reduced, &map, descriptor.0.lengths.length());
        }
        let crossing = self.crossing_sum(op, &part, &map)?.map(ScalarValue::Float);
        self.in_segments(op, &reduced, &map, crossing, descriptor.0.lengths.length())
    }

    /// The column of the reductions of so many segments under an associative operator, from those of what lies in this block.
    pub(crate) fn exactly_reduced(
        &mut self,
        op: ScalarOp,
        reduced: &Vector,
        map: &SegmentMap<L::Descriptor>,
        segments: usize,
    ) -> Result<Column, Fault> {
        let crossing = Some(self.exact_crossing(op, reduced, map));
        self.in_segments(op, reduced, map, crossing, segments)
    }

    /// The same from that of the segment that goes on behind this block, too.
    fn in_segments(
        &mut self,
        op: ScalarOp,
        reduced: &Vector,
        map: &SegmentMap<L::Descriptor>,
        crossing: Option<ScalarValue>,
        segments: usize,
    ) -> Result<Column, Fault> {
        let started = map.started();
        // The block has only part of a segment that goes on behind it.
        let last = crossing.filter(|_| map.tail().is_some() && !started.is_empty());
        let head = map.pieces.len() - started.len();
        on_vector!(reduced, slice => {
            let values = with_last(&slice.elements()[head..], last);
            self.by_segment(segments, from_value(identity(op)), started, &values)
        })
    }

    /// The sum of the segment that starts in this block and goes on behind it, under an associative operator. Meaningless on
    /// ranks without one.
    fn exact_crossing(&mut self, op: ScalarOp, reduced: &Vector, map: &SegmentMap<L::Descriptor>) -> ScalarValue {
        let head = if map.head().is_some() { reduced.get(0) } else { identity(op) };
        let heads = self.all_scalars(op.row().result, head);
        let Some(tail) = map.tail() else { return identity(op) };
        let end = self.layout.owner(map.total, tail.end() - 1) + 1;
        heads[self.layout.rank + 1..end]
            .iter()
            .fold(reduced.get(reduced.len() - 1), |sum, &value| combine(op, sum, value))
    }

    /// `seg_scan`.
    pub(crate) fn scan_segments(
        &mut self,
        op: ScalarOp,
        column: &Column,
        descriptor: &Descriptor<L::Descriptor>,
    ) -> Result<Column, Fault> {
        if let Some((vector, local)) = self.small_operands(column, descriptor)? {
            let scanned = self.local.seg_scan(op, &vector, &local);
            return self.replicated(scanned).map(Column::Common);
        }
        let (part, map) = self.packed_part(column, descriptor)?;
        let part = self.scan_part(op, &part, &map)?;
        self.finish(map.total, part)
    }

    /// `seg_iota`.
    pub(crate) fn number_segments(&mut self, descriptor: &Descriptor<L::Descriptor>) -> Result<Column, Fault> {
        if self.is_small(descriptor) {
            let local = self.local_packed(descriptor)?;
            let numbers = self.local.seg_iota(&local);
            return self.replicated(numbers).map(Column::Common);
        }
        let map = self.map_of(descriptor)?;
        let numbers = self.local.seg_iota(&map.local);
        let amended = match map.head() {
            None => numbers,
            Some(head) => numbers.and_then(|numbers| {
                let before = ScalarValue::Int((map.share.start - head.start) as i64);
                self.amend_head(ScalarOp::AddInt, before, numbers, map.head_length())
            }),
        };
        let part = self.settle(map.total, amended)?;
        self.finish(map.total, part)
    }

    /// `iota`.
    pub(crate) fn number_elements(&mut self, length: usize) -> Result<Column, Fault> {
        if self.is_common(length) {
            let numbers = self.local.iota(length);
            return self.replicated(numbers).map(Column::Common);
        }
        let share = self.layout.share(length);
        let numbers = self.local.iota(share.len()).and_then(|numbers| match share.start {
            0 => Ok(numbers),
            start => self.amend_head(ScalarOp::AddInt, ScalarValue::Int(start as i64), numbers, share.len()),
        });
        let part = self.settle(length, numbers)?;
        self.finish(length, part)
    }

    /// A column that only the local engine has seen, without asking the other ranks.
    pub(crate) fn local_column(&mut self, constants: Constants) -> Result<Vector, Fault> {
        self.local.import(constants)
    }
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

//! The seam: every instruction of [`Engine`] and where it is done.

use crate::column::{Column, Descriptor};
use crate::ranks::Ranks;
use nesl_backend::{Counters, Engine, Fault, Interrupt, MapOperand, Slot, Vector, Window};
use nesl_prim::{Direction, ScalarOp, ScalarType, ScalarValue};
use nesl_vcode::Constants;

impl<L: Engine<Column = Vector>> Engine for Ranks<L> {
    type Column = Column;
    type Descriptor = Descriptor<L::Descriptor>;

    fn scalar_type(&self, column: &Column) -> ScalarType {
        column.scalar_type()
    }

    fn length(&self, column: &Column) -> usize {
        column.length()
    }

    fn constants(&mut self, constants: &Constants) -> Result<Column, Fault> {
        self.constant_column(constants)
    }

    fn iota(&mut self, length: usize) -> Result<Column, Fault> {
        self.number_elements(length)
    }

    fn dist(&mut self, value: ScalarValue, length: usize) -> Result<Column, Fault> {
        if self.is_common(length) {
            let copies = self.local.dist(value, length);
            return self.replicated(copies).map(Column::Common);
        }
        let copies = self.local.dist(value, self.layout.share(length).len());
        let part = self.settle(length, copies)?;
        self.finish(length, part)
    }

    fn map(&mut self, op: ScalarOp, operands: Vec<MapOperand<Column>>) -> Result<Column, Fault> {
        self.map_elements(op, operands)
    }

    fn set_interrupt(&mut self, interrupt: &Interrupt) {
        if self.layout.ranks == 1 {
            self.local.set_interrupt(interrupt);
        }
    }

    fn interrupt(&self) -> Interrupt {
        if self.layout.ranks == 1 { self.local.interrupt() } else { Interrupt::default() }
    }

    fn is_at_hand(&self, operand: &Slot<Column, Descriptor<L::Descriptor>>) -> bool {
        match operand {
            Slot::Scalar(_) => true,
            Slot::Column(column) => column.common().is_some(),
            Slot::Descriptor(Descriptor(inner)) => {
                inner.lengths.common().is_some() && inner.starts.as_ref().is_none_or(|starts| starts.common().is_some())
            }
        }
    }

    fn extract(&mut self, column: &Column, index: usize) -> Result<ScalarValue, Fault> {
        self.extract_element(column, index)
    }

    fn slice(&mut self, column: &Column, start: usize, length: usize) -> Result<Column, Fault> {
        self.slice_of(column, start, length)
    }

    fn gather(&mut self, column: &Column, indices: &Column) -> Result<Column, Fault> {
        self.gather_elements(column, indices)
    }

    fn scatter(&mut self, column: Column, indices: &Column, values: &Column) -> Result<Column, Fault> {
        self.scatter_values(column, indices, values)
    }

    fn permute(&mut self, values: &Column, indices: &Column) -> Result<Column, Fault> {
        self.permute_values(values, indices)
    }

    fn pack(&mut self, column: &Column, flags: &Column) -> Result<Column, Fault> {
        self.pack_flagged(column, flags)
    }

    fn merge(&mut self, flags: &Column, when_true: &Column, when_false: &Column) -> Result<Column, Fault> {
        self.merge_flagged(flags, when_true, when_false)
    }

    fn concat(&mut self, columns: &[Column]) -> Result<Column, Fault> {
        self.concat_columns(columns)
    }

    fn interleave(&mut self, columns: &[Column]) -> Result<Column, Fault> {
        self.interleave_columns(columns)
    }

    fn append(
        &mut self,
        first: (&Self::Descriptor, &Column),
        second: (&Self::Descriptor, &Column),
    ) -> Result<Column, Fault> {
        self.append_segments(first, second)
    }

    fn reduce(&mut self, op: ScalarOp, column: &Column) -> Result<ScalarValue, Fault> {
        self.reduce_column(op, column)
    }

    fn seg_reduce(&mut self, op: ScalarOp, column: &Column, descriptor: &Self::Descriptor) -> Result<Column, Fault> {
        self.reduce_segments(op, column, descriptor)
    }

    fn scan(&mut self, op: ScalarOp, column: &Column) -> Result<Column, Fault> {
        self.scan_column(op, column)
    }

    fn seg_scan(&mut self, op: ScalarOp, column: &Column, descriptor: &Self::Descriptor) -> Result<Column, Fault> {
        self.scan_segments(op, column, descriptor)
    }

    fn sort(&mut self, direction: Direction, column: &Column) -> Result<Column, Fault> {
        self.sort_elements(direction, column)
    }

    fn seg_sort(
        &mut self,
        direction: Direction,
        column: &Column,
        descriptor: &Self::Descriptor,
    ) -> Result<Column, Fault> {
        self.sort_segments(direction, column, descriptor)
    }

    fn order(&mut self, direction: Direction, column: &Column) -> Result<Column, Fault> {
        self.order_elements(direction, column)
    }

    fn seg_order(
        &mut self,
        direction: Direction,
        column: &Column,
        descriptor: &Self::Descriptor,
    ) -> Result<Column, Fault> {
        self.order_segments(direction, column, descriptor)
    }

    fn text_lengths(&mut self, column: &Column) -> Result<Column, Fault> {
        self.text_lengths_of(column)
    }

    fn text(&mut self, column: &Column) -> Result<Column, Fault> {
        self.texts_of(column)
    }

    fn parse_float(&mut self, column: &Column, descriptor: &Self::Descriptor) -> Result<Column, Fault> {
        self.parse_segments(column, descriptor)
    }

    fn seg_iota(&mut self, descriptor: &Self::Descriptor) -> Result<Column, Fault> {
        self.number_segments(descriptor)
    }

    fn seg_dist(&mut self, column: &Column, descriptor: &Self::Descriptor) -> Result<Column, Fault> {
        self.distribute(column, descriptor)
    }

    fn compact(&mut self, column: &Column, descriptor: &Self::Descriptor) -> Result<Column, Fault> {
        self.compact_segments(column, descriptor)
    }

    fn packed(&mut self, lengths: Column) -> Result<Self::Descriptor, Fault> {
        self.descriptor(None, lengths)
    }

    fn view(&mut self, starts: Column, lengths: Column) -> Result<Self::Descriptor, Fault> {
        self.descriptor(Some(starts), lengths)
    }

    fn starts(&mut self, descriptor: &Self::Descriptor) -> Result<Column, Fault> {
        match &descriptor.0.starts {
            Some(starts) => Ok(starts.clone()),
            None => {
                self.total_of(descriptor)?;
                self.scan_column(ScalarOp::AddInt, &descriptor.0.lengths)
            }
        }
    }

    fn lengths(&mut self, descriptor: &Self::Descriptor) -> Result<Column, Fault> {
        Ok(descriptor.0.lengths.clone())
    }

    fn segments(&self, descriptor: &Self::Descriptor) -> usize {
        descriptor.0.lengths.length()
    }

    fn total(&mut self, descriptor: &Self::Descriptor) -> Result<usize, Fault> {
        self.total_of(descriptor)
    }

    fn import(&mut self, piece: Constants) -> Result<Column, Fault> {
        let length = piece.len();
        let piece = self.local.import(piece);
        let lengths = self.communicator.all_gather_counts(length);
        let piece = self.settle(lengths.iter().sum(), piece)?;
        self.assemble_counted(piece, &lengths)
    }

    fn fetch(&mut self, column: &Column, start: usize, length: usize) -> Result<Window, Fault> {
        self.fetch_window(column, start, length)
    }

    fn own(&mut self, column: &Column) -> Window {
        Window { start: self.layout.share(column.length()).start, elements: self.part(column).to_constants() }
    }

    fn rank(&self) -> (usize, usize) {
        (self.layout.rank, self.layout.ranks)
    }

    fn agree<T, E: Clone + serde::Serialize + serde::de::DeserializeOwned>(
        &mut self,
        outcome: Result<T, E>,
    ) -> Result<T, E> {
        self.agree_on(outcome)
    }

    fn allocated(&self) -> u64 {
        self.local.allocated()
    }

    fn counters(&mut self) -> Vec<Counters> {
        let own = self.own_counters();
        match postcard::to_stdvec(&own) {
            Ok(bytes) => self.all_counters(&bytes),
            Err(problem) => self.communicator.abort(&format!("counters cannot be sent: {problem}")),
        }
    }
}

impl<L: Engine<Column = Vector>> Ranks<L> {
    /// The counters of all ranks, from those of this one in bytes.
    fn all_counters(&mut self, own: &[u8]) -> Vec<Counters> {
        // Those of rank 0, of rank 1, …: how long each are, they say themselves.
        let all = self.communicator.centralise(0, own, |all| all.concat());
        let mut rest = &all[..];
        let mut counters = Vec::with_capacity(self.layout.ranks);
        for _ in 0..self.layout.ranks {
            match postcard::take_from_bytes(rest) {
                Ok((read, others)) => {
                    counters.push(read);
                    rest = others;
                }
                Err(problem) => self.communicator.abort(&format!("counters cannot be read: {problem}")),
            }
        }
        counters
    }
}

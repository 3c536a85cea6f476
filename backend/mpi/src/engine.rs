//! The seam: every instruction of [`Engine`] and where it is done.

use crate::communication::interrupts::alone;
use crate::distribution::column::{Column, Descriptor};
use crate::distribution::ragged::Placed;
use crate::distribution::requests::Kept;
use crate::ranks::Ranks;
use nesl_backend::engine::clock::Talk;
use nesl_backend::engine::error::RuntimeError;
use nesl_backend::engine::division::Deal;
use nesl_backend::{
    Counters, Division, Engine, Failed, Fault, Group, Hold, Interrupt, MapOperand, Native, Own, Slot, SlotOf, Vector,
    Window,
};
use nesl_prim::{Direction, ScalarOp, ScalarType, ScalarValue};
use nesl_vcode::{Constants, VectorOp};

impl<L: Engine<Column = Vector>> Engine for Ranks<L> {
    type Column = Placed;
    type Descriptor = Descriptor<L::Descriptor>;
    type Local = L;

    fn scalar_type(&self, column: &Placed) -> ScalarType {
        column.scalar_type()
    }

    fn length(&self, column: &Placed) -> usize {
        column.length()
    }

    fn constants(&mut self, constants: &Constants) -> Result<Placed, Fault> {
        self.constant_column(constants).map(Placed::Settled)
    }

    fn iota(&mut self, length: usize) -> Result<Placed, Fault> {
        self.number_elements(length).map(Placed::Settled)
    }

    fn dist(&mut self, value: ScalarValue, length: usize) -> Result<Placed, Fault> {
        if self.is_common(length) {
            let copies = self.local.dist(value, length);
            return self.replicated(copies).map(Column::Common).map(Placed::Settled);
        }
        let copies = self.local.dist(value, self.layout.share(length).len());
        let part = self.settle(length, copies)?;
        self.finish(length, part).map(Placed::Settled)
    }

    fn map(&mut self, op: ScalarOp, operands: Vec<MapOperand<Placed>>) -> Result<Placed, Fault> {
        let operands = operands.into_iter().map(|operand| match operand {
            MapOperand::Column(column) => self.taken_in_blocks(column).map(MapOperand::Column),
            MapOperand::Scalar(value) => Ok(MapOperand::Scalar(value)),
        });
        let operands = operands.collect::<Result<_, Fault>>()?;
        self.map_elements(op, operands).map(Placed::Settled)
    }

    fn runs_groups(&self) -> bool {
        self.local.runs_groups()
    }

    fn group(&mut self, group: &Group, operands: &mut [SlotOf<Self>]) -> Option<Vec<SlotOf<Self>>> {
        self.run_group(group, operands)
    }

    fn divide(
        &mut self,
        division: &Division<'_, Self>,
        mut run: impl FnMut(&mut L, Own<L>) -> Result<Vec<SlotOf<L>>, Failed>,
    ) -> Option<Result<Vec<SlotOf<Self>>, RuntimeError>> {
        // What every rank computes alike ends on all at one place; what it computes alone, anywhere.
        let is_own = division.deal != Deal::Everywhere;
        self.divide_instances(division, |local, own| if is_own { alone(|| run(local, own)) } else { run(local, own) })
    }

    fn set_native(&mut self, native: Native) {
        self.local.set_native(native);
    }

    fn set_interrupt(&mut self, interrupt: &Interrupt) {
        self.local.set_interrupt(interrupt);
    }

    fn interrupt(&self) -> Interrupt {
        self.local.interrupt()
    }

    fn by_itself<T>(&mut self, work: impl FnOnce() -> T) -> T {
        alone(work)
    }

    fn forget_kept(&mut self) {
        self.kept = Kept::default();
    }

    fn moves_together(&self) -> bool {
        self.layout.ranks > 1
    }

    fn together(&mut self, op: VectorOp, operands: Vec<Vec<SlotOf<Self>>>) -> Result<Vec<SlotOf<Self>>, Fault> {
        self.run_together(op, operands)
    }

    fn is_at_hand(&self, operand: &Slot<Placed, Descriptor<L::Descriptor>>) -> bool {
        match operand {
            Slot::Scalar(_) => true,
            Slot::Column(column) => column.common().is_some(),
            Slot::Descriptor(Descriptor(inner)) => {
                inner.lengths.common().is_some() && inner.starts.as_ref().is_none_or(|starts| starts.common().is_some())
            }
        }
    }

    fn extract(&mut self, column: &Placed, index: usize) -> Result<ScalarValue, Fault> {
        if let Placed::Loose(_) = column {
            let index = self.local.constants(&Constants::Int(vec![index as i64]));
            let index = Placed::Settled(Column::Common(self.replicated(index)?));
            if let Some(gathered) = self.gather_loosely(column, &index) {
                return gathered.map(|element| self.whole_of(&element).get(0));
            }
        }
        let column = self.in_blocks(column)?;
        self.extract_element(&column, index)
    }

    fn slice(&mut self, column: &Placed, start: usize, length: usize) -> Result<Placed, Fault> {
        match self.slice_loosely(column, start, length) {
            Some(slice) => Ok(slice),
            None => {
                let column = self.in_blocks(column)?;
                self.slice_of(&column, start, length).map(Placed::Settled)
            }
        }
    }

    fn gather(&mut self, column: &Placed, indices: &Placed) -> Result<Placed, Fault> {
        match self.gather_loosely(column, indices) {
            Some(gathered) => gathered,
            None => {
                let [column, indices] = self.each_in_blocks([column, indices])?;
                self.gather_elements(&column, &indices).map(Placed::Settled)
            }
        }
    }

    fn scatter(&mut self, column: Placed, indices: &Placed, values: &Placed) -> Result<Placed, Fault> {
        let [_, indices, values] = self.each_in_blocks([&column, indices, values])?;
        let column = self.taken_in_blocks(column)?;
        self.scatter_values(column, &indices, &values).map(Placed::Settled)
    }

    fn permute(&mut self, values: &Placed, indices: &Placed) -> Result<Placed, Fault> {
        let [values, indices] = self.each_in_blocks([values, indices])?;
        self.permute_values(&values, &indices).map(Placed::Settled)
    }

    fn pack(&mut self, column: &Placed, flags: &Placed) -> Result<Placed, Fault> {
        let (column, flags) = (self.in_blocks(column)?, self.in_blocks(flags)?);
        self.pack_flagged(&column, &flags)
    }

    fn merge(&mut self, flags: &Placed, when_true: &Placed, when_false: &Placed) -> Result<Placed, Fault> {
        let [flags, when_true, when_false] = self.each_in_blocks([flags, when_true, when_false])?;
        self.merge_flagged(&flags, &when_true, &when_false).map(Placed::Settled)
    }

    fn concat(&mut self, columns: &[Placed]) -> Result<Placed, Fault> {
        match self.concat_loosely(columns) {
            Some(joined) => Ok(joined),
            None => {
                let columns = self.all_in_blocks(&columns.iter().collect::<Vec<_>>())?;
                self.concat_columns(&columns).map(Placed::Settled)
            }
        }
    }

    fn interleave(&mut self, columns: &[Placed]) -> Result<Placed, Fault> {
        let columns = self.all_in_blocks(&columns.iter().collect::<Vec<_>>())?;
        self.interleave_columns(&columns).map(Placed::Settled)
    }

    fn append(
        &mut self,
        first: (&Self::Descriptor, &Placed),
        second: (&Self::Descriptor, &Placed),
    ) -> Result<Placed, Fault> {
        match self.append_loosely(first, second) {
            Some(appended) => Ok(appended),
            None => {
                let [left, right] = self.each_in_blocks([first.1, second.1])?;
                self.append_segments((first.0, &left), (second.0, &right)).map(Placed::Settled)
            }
        }
    }

    fn reduce(&mut self, op: ScalarOp, column: &Placed) -> Result<ScalarValue, Fault> {
        let column = self.in_blocks(column)?;
        self.reduce_column(op, &column)
    }

    fn seg_reduce(&mut self, op: ScalarOp, column: &Placed, descriptor: &Self::Descriptor) -> Result<Placed, Fault> {
        if let Some(reduced) = self.seg_reduce_on_pieces(op, column, descriptor) {
            return Ok(reduced);
        }
        let column = self.in_blocks(column)?;
        self.reduce_segments(op, &column, descriptor).map(Placed::Settled)
    }

    fn scan(&mut self, op: ScalarOp, column: &Placed) -> Result<Placed, Fault> {
        let column = self.in_blocks(column)?;
        self.scan_column(op, &column).map(Placed::Settled)
    }

    fn seg_scan(&mut self, op: ScalarOp, column: &Placed, descriptor: &Self::Descriptor) -> Result<Placed, Fault> {
        let column = self.in_blocks(column)?;
        self.scan_segments(op, &column, descriptor).map(Placed::Settled)
    }

    fn sort(&mut self, direction: Direction, column: &Placed) -> Result<Placed, Fault> {
        let column = self.in_blocks(column)?;
        self.sort_elements(direction, &column)
    }

    fn seg_sort(
        &mut self,
        direction: Direction,
        column: &Placed,
        descriptor: &Self::Descriptor,
    ) -> Result<Placed, Fault> {
        let column = self.in_blocks(column)?;
        self.sort_segments(direction, &column, descriptor).map(Placed::Settled)
    }

    fn order(&mut self, direction: Direction, column: &Placed) -> Result<Placed, Fault> {
        let column = self.in_blocks(column)?;
        self.order_elements(direction, &column).map(Placed::Settled)
    }

    fn seg_order(
        &mut self,
        direction: Direction,
        column: &Placed,
        descriptor: &Self::Descriptor,
    ) -> Result<Placed, Fault> {
        let column = self.in_blocks(column)?;
        self.order_segments(direction, &column, descriptor).map(Placed::Settled)
    }

    fn text_lengths(&mut self, column: &Placed) -> Result<Placed, Fault> {
        let column = self.in_blocks(column)?;
        self.text_lengths_of(&column).map(Placed::Settled)
    }

    fn text(&mut self, column: &Placed) -> Result<Placed, Fault> {
        let column = self.in_blocks(column)?;
        self.texts_of(&column).map(Placed::Settled)
    }

    fn parse_float(&mut self, column: &Placed, descriptor: &Self::Descriptor) -> Result<Placed, Fault> {
        let column = self.in_blocks(column)?;
        self.parse_segments(&column, descriptor).map(Placed::Settled)
    }

    fn seg_iota(&mut self, descriptor: &Self::Descriptor) -> Result<Placed, Fault> {
        self.number_segments(descriptor).map(Placed::Settled)
    }

    fn seg_dist(&mut self, column: &Placed, descriptor: &Self::Descriptor) -> Result<Placed, Fault> {
        let column = self.in_blocks(column)?;
        self.distribute(&column, descriptor).map(Placed::Settled)
    }

    fn compact(&mut self, column: &Placed, descriptor: &Self::Descriptor) -> Result<Placed, Fault> {
        match self.compact_loosely(column, descriptor) {
            Some(compacted) => Ok(compacted),
            None => {
                let column = self.in_blocks(column)?;
                self.compact_segments(&column, descriptor).map(Placed::Settled)
            }
        }
    }

    fn packed(&mut self, lengths: Placed) -> Result<Self::Descriptor, Fault> {
        let lengths = self.taken_in_blocks(lengths)?;
        self.descriptor(None, lengths)
    }

    fn view(&mut self, starts: Placed, lengths: Placed) -> Result<Self::Descriptor, Fault> {
        let (starts, lengths) = (self.taken_in_blocks(starts)?, self.taken_in_blocks(lengths)?);
        self.descriptor(Some(starts), lengths)
    }

    fn starts(&mut self, descriptor: &Self::Descriptor) -> Result<Placed, Fault> {
        match &descriptor.0.starts {
            Some(starts) => Ok(Placed::Settled(starts.clone())),
            None => {
                self.total_of(descriptor)?;
                self.scan_column(ScalarOp::AddInt, &descriptor.0.lengths).map(Placed::Settled)
            }
        }
    }

    fn lengths(&mut self, descriptor: &Self::Descriptor) -> Result<Placed, Fault> {
        Ok(Placed::Settled(descriptor.0.lengths.clone()))
    }

    fn segments(&self, descriptor: &Self::Descriptor) -> usize {
        descriptor.0.lengths.length()
    }

    fn total(&mut self, descriptor: &Self::Descriptor) -> Result<usize, Fault> {
        self.total_of(descriptor)
    }

    fn hold(&self) -> Hold {
        self.local.hold()
    }

    fn import(&mut self, piece: Constants) -> Result<Placed, Fault> {
        let length = piece.len();
        let piece = self.local.import(piece);
        let lengths = self.communicator.all_gather_counts(length);
        let piece = self.settle(lengths.iter().sum(), piece)?;
        self.assemble_counted(piece, &lengths).map(Placed::Settled)
    }

    fn fetch(&mut self, column: &Placed, start: usize, length: usize) -> Result<Window, Fault> {
        let column = self.in_blocks(column)?;
        self.fetch_window(&column, start, length)
    }

    fn own(&mut self, column: &Placed) -> Result<Window, Fault> {
        let column = self.in_blocks(column)?;
        Ok(Window { start: self.layout.share(column.length()).start, elements: self.part(&column).to_constants() })
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

    fn talk(&self) -> Talk {
        self.communicator.talk()
    }

    fn counters(&mut self, machine: Counters) -> Vec<Counters> {
        let own = self.own_counters(machine);
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

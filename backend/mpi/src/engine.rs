//! The seam: every instruction of [`Engine`] and where it is done.

use crate::communication::collectives::Collectives;
use crate::communication::interrupts::alone;
use crate::distribution::column::{Block, Distributed};
use crate::distribution::descriptor::{Descriptor, is_at_hand};
use crate::distribution::request_cache::RequestCache;
use crate::division;
use crate::groups;
use crate::instructions::elementwise;
use crate::instructions::pack;
use crate::instructions::permute;
use crate::instructions::reduce;
use crate::instructions::scan;
use crate::instructions::segment;
use crate::instructions::text;
use crate::instructions::together;
use crate::ranks::Ranks;
use nesl_backend::engine::busy::BusyIntervals;
use nesl_backend::engine::by_groups;
use nesl_backend::engine::clock::Talk;
use nesl_backend::engine::division::Deal;
use nesl_backend::engine::error::RuntimeError;
use nesl_backend::{
    Addresses, Carried, Collective, Columns, Counters, Division, Engine, Failed, Fault, Fill, Group, Hold, Interrupt,
    MapOperand, Native, Order, Own, Pack, Permute, Scheduler, Segment, Slot, SlotOf, Text, Threads, Vector, Window,
};
use nesl_prim::{Direction, ScalarOp, ScalarType, ScalarValue};
use nesl_vcode::{Constants, VectorOp};

impl<L: Engine<Column = Vector>> Columns for Ranks<L> {
    type Column = Distributed;
    type Descriptor = Descriptor<L::Descriptor>;

    fn scalar_type(&self, column: &Distributed) -> ScalarType {
        column.scalar_type()
    }

    fn length(&self, column: &Distributed) -> usize {
        column.length()
    }

    fn segments(&self, descriptor: &Self::Descriptor) -> usize {
        descriptor.0.lengths.length()
    }

    fn constants(&mut self, constants: &Constants) -> Result<Distributed, Fault> {
        self.distribution.constant_column(constants)
    }

    fn starts(&mut self, descriptor: &Self::Descriptor) -> Result<Distributed, Fault> {
        segment::starts(&mut self.distribution, descriptor)
    }

    fn lengths(&mut self, descriptor: &Self::Descriptor) -> Result<Distributed, Fault> {
        Ok(descriptor.lengths().clone())
    }

    fn total(&mut self, descriptor: &Self::Descriptor) -> Result<usize, Fault> {
        descriptor.total()
    }

    fn is_packed(&self, descriptor: &Self::Descriptor) -> bool {
        descriptor.0.starts.is_none()
    }

    fn identity(&self, column: &Distributed) -> Option<usize> {
        column.identity()
    }

    fn trim(&mut self, column: &mut Distributed) {
        match column {
            Distributed::Replicated(part) | Distributed::Block(Block { part, .. }) => {
                self.distribution.local.trim(part)
            }
            // Its runs may be parts of what others hold.
            Distributed::Ragged(_) => {}
        }
    }

    fn descriptor(&mut self, starts: Option<Distributed>, lengths: Distributed) -> Result<Self::Descriptor, Fault> {
        match starts {
            Some(starts) => segment::view(&mut self.distribution, starts, lengths),
            None => segment::packed(&mut self.distribution, lengths),
        }
    }
}

impl<L: Engine<Column = Vector>> Engine for Ranks<L> {
    fn fill(&mut self, fill: Fill) -> Result<Distributed, Fault> {
        elementwise::run(&mut self.distribution, fill)
    }

    fn map(&mut self, op: ScalarOp, operands: Vec<MapOperand<Distributed>>) -> Result<Distributed, Fault> {
        elementwise::map(&mut self.distribution, op, operands)
    }

    fn permute(&mut self, permute: Permute<'_, Distributed>) -> Result<Distributed, Fault> {
        permute::run(&mut self.distribution, permute)
    }

    fn extract(&mut self, column: &Distributed, index: usize) -> Result<ScalarValue, Fault> {
        permute::extract(&mut self.distribution, column, index)
    }

    fn pack(&mut self, pack: Pack<'_, Distributed>) -> Result<Distributed, Fault> {
        pack::run(&mut self.distribution, pack)
    }

    fn reduce(&mut self, op: ScalarOp, column: &Distributed) -> Result<ScalarValue, Fault> {
        reduce::reduce(&mut self.distribution, op, column)
    }

    fn seg_reduce(
        &mut self,
        op: ScalarOp,
        column: &Distributed,
        descriptor: &Self::Descriptor,
    ) -> Result<Distributed, Fault> {
        groups::seg_reduce(&mut self.distribution, op, column, descriptor)
    }

    fn reduce_index(&mut self, op: ScalarOp, column: &Distributed) -> Result<i64, Fault> {
        groups::reduce_index(&mut self.distribution, op, column)
    }

    fn seg_reduce_index(
        &mut self,
        op: ScalarOp,
        column: &Distributed,
        descriptor: &Self::Descriptor,
    ) -> Result<Distributed, Fault> {
        groups::seg_reduce_index(&mut self.distribution, op, column, descriptor)
    }

    fn reduce_by_index(
        &mut self,
        op: ScalarOp,
        values: &Distributed,
        indices: &Distributed,
        places: usize,
    ) -> Result<Distributed, Fault> {
        if !op.row().associative
            && let Some(reduced) = reduce::by_index(&mut self.distribution, op, [values, indices], places)?
        {
            return Ok(reduced);
        }
        by_groups::reduce_by_index(self, op, values, indices, places)
    }

    fn scan(
        &mut self,
        op: ScalarOp,
        column: &Distributed,
        descriptor: Option<&Self::Descriptor>,
    ) -> Result<Distributed, Fault> {
        scan::run(&mut self.distribution, op, column, descriptor)
    }

    fn order(
        &mut self,
        order: Order,
        direction: Direction,
        column: &Distributed,
        descriptor: Option<&Self::Descriptor>,
    ) -> Result<Distributed, Fault> {
        groups::order(&mut self.distribution, order, direction, column, descriptor)
    }

    fn text(&mut self, text: Text<'_, Distributed, Self::Descriptor>) -> Result<Distributed, Fault> {
        text::run(&mut self.distribution, text)
    }

    fn segment(&mut self, segment: Segment<'_, Distributed, Self::Descriptor>) -> Result<Distributed, Fault> {
        segment::run(&mut self.distribution, segment)
    }
}

impl<L: Engine<Column = Vector>> Addresses for Ranks<L> {
    fn hold(&self) -> Hold {
        self.distribution.local.hold()
    }

    fn allocated(&self) -> u64 {
        self.distribution.local.allocated()
    }
}

impl<L: Engine<Column = Vector>> Scheduler for Ranks<L> {
    fn set_native(&mut self, native: Native) {
        self.distribution.local.set_native(native);
    }

    fn runs_groups(&self) -> bool {
        self.distribution.local.runs_groups()
    }

    fn group(&mut self, group: &Group, operands: &mut [SlotOf<Self>]) -> Option<Result<Vec<SlotOf<Self>>, Fault>> {
        groups::run_group(self, group, operands)
    }

    fn threads(&self) -> usize {
        self.distribution.local.threads()
    }

    fn set_threads(&mut self, threads: usize) -> std::io::Result<()> {
        self.distribution.local.set_threads(threads)
    }

    fn record_busy(&mut self) -> Option<BusyIntervals> {
        self.distribution.local.record_busy()
    }

    fn set_interrupt(&mut self, interrupt: &Interrupt) {
        self.distribution.local.set_interrupt(interrupt);
    }

    fn interrupt(&self) -> Interrupt {
        self.distribution.local.interrupt()
    }

    fn into_threads(self) -> Option<Threads> {
        self.distribution.local.into_threads()
    }

    fn moves_together(&self) -> bool {
        self.distribution.layout.ranks > 1
    }

    fn together(&mut self, op: VectorOp, operands: Vec<Vec<SlotOf<Self>>>) -> Result<Vec<SlotOf<Self>>, Fault> {
        together::run_together(&mut self.distribution, op, operands)
    }
}

impl<L: Engine<Column = Vector>> Collective for Ranks<L> {
    type Local = L;

    fn rank(&self) -> (usize, usize) {
        (self.distribution.layout.rank, self.distribution.layout.ranks)
    }

    fn is_at_hand(&self, operand: &Slot<Distributed, Descriptor<L::Descriptor>>) -> bool {
        is_at_hand(operand)
    }

    fn import(&mut self, piece: Constants) -> Result<Distributed, Fault> {
        let length = piece.len();
        let piece = self.distribution.local.import(piece);
        let lengths = self.distribution.collectives.communicator.all_gather_counts(length);
        let piece = self.distribution.collectives.settle(lengths.iter().sum(), piece)?;
        self.distribution.assemble_counted(piece, &lengths)
    }

    fn fetch(&mut self, column: &Distributed, start: usize, length: usize) -> Result<Window, Fault> {
        permute::fetch(&mut self.distribution, column, start, length)
    }

    fn own(&mut self, column: &Distributed) -> Result<Window, Fault> {
        let column = self.distribution.in_blocks(column)?;
        Ok(Window {
            start: self.distribution.layout.share(column.length()).start,
            elements: self.distribution.part(&column)?.to_constants(),
        })
    }

    fn carried(&mut self, columns: &[Distributed]) -> Result<Vec<Carried>, Fault> {
        self.distribution.carried(columns)
    }

    fn arrived(&mut self, carried: Vec<Carried>) -> Vec<Distributed> {
        self.distribution.arrived(carried)
    }

    fn divide(
        &mut self,
        division: &Division<'_, Self>,
        mut run: impl FnMut(&mut Self::Local, Own<Self::Local>) -> Result<Vec<SlotOf<Self::Local>>, Failed>,
    ) -> Option<Result<Vec<SlotOf<Self>>, RuntimeError>> {
        // What every rank computes alike ends on all at one place; what it computes alone, anywhere.
        let is_own = division.deal != Deal::Everywhere;
        division::divide_instances(&mut self.distribution, division, |local, own| {
            if is_own { alone(|| run(local, own)) } else { run(local, own) }
        })
    }

    fn bytes_to_move<'a>(&mut self, operands: impl Iterator<Item = &'a SlotOf<Self>>) -> Option<usize>
    where
        Self: 'a,
    {
        division::everywhere::bytes_to_move(&mut self.distribution, operands)
    }

    fn shared(&self) -> Option<u64> {
        Some(self.distribution.shared)
    }

    fn everywhere(
        &mut self,
        operands: &[SlotOf<Self>],
        run: impl FnOnce(&mut Self::Local, Vec<SlotOf<Self::Local>>) -> Result<Vec<SlotOf<Self::Local>>, RuntimeError>,
    ) -> Result<Result<Vec<SlotOf<Self>>, RuntimeError>, Fault> {
        division::everywhere::call(&mut self.distribution, operands, run)
    }

    fn agree<T, E: Clone + serde::Serialize + serde::de::DeserializeOwned>(
        &mut self,
        outcome: Result<T, E>,
    ) -> Result<T, E> {
        self.distribution.collectives.agree_on(outcome)
    }

    fn by_itself<T>(&mut self, work: impl FnOnce() -> T) -> T {
        alone(work)
    }

    fn forget_kept(&mut self) {
        self.distribution.cache = RequestCache::default();
    }

    fn report(&self, counters: &mut Counters) {
        self.distribution.collectives.communicator.report(counters);
    }

    fn talk(&self) -> Talk {
        self.distribution.collectives.communicator.talk()
    }

    fn counters(&mut self, machine: Counters) -> Vec<Counters> {
        let own = self.distribution.own_counters(machine);
        match postcard::to_stdvec(&own) {
            Ok(bytes) => all_counters(&mut self.distribution.collectives, &bytes),
            Err(problem) => {
                self.distribution.collectives.communicator.abort(&format!("counters cannot be sent: {problem}"))
            }
        }
    }
}

/// The counters of all ranks, from those of this one in bytes.
fn all_counters(collectives: &mut Collectives, own: &[u8]) -> Vec<Counters> {
    // Those of rank 0, of rank 1, …: how long each are, they say themselves.
    let all = collectives.communicator.centralise(0, own, |all| all.concat());
    let mut rest = &all[..];
    let mut counters = Vec::with_capacity(collectives.layout.ranks);
    for _ in 0..collectives.layout.ranks {
        match postcard::take_from_bytes(rest) {
            Ok((read, others)) => {
                counters.push(read);
                rest = others;
            }
            Err(problem) => collectives.communicator.abort(&format!("counters cannot be read: {problem}")),
        }
    }
    counters
}

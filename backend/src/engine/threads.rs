//! The threads engine: VCODE on the cores of one machine, the default.
//!
//! It gives the bits and errors of [`crate::engine::reference`], one parallel loop per instruction. Work is dealt out
//! by [`workers`]; from which sizes on it is worth that, [`tuning`] says. Results are written once, into memory that is
//! not cleared before ([`output`], the only unsafe code). Loops are grouped by class: [`elementwise`], [`reduce`],
//! [`scan`], [`permute`], [`pack`], [`segment`]. Groups of instructions over one index space become one loop of machine
//! code ([`group`]).

mod column;
mod elementwise;
mod group;
mod look_back;
mod order;
mod output;
mod pack;
mod permute;
mod reduce;
mod scan;
mod segment;
mod sums_by_index;
mod text;
mod tuning;
mod workers;

use crate::data::buffer::Meter;
use crate::data::descriptor::{Descriptor, RegularStarts};
use crate::data::memory::share_of_addresses;
use crate::data::vector::Vector;
use crate::data::vector::unwritten::Unwritten;
use crate::engine::busy::BusyIntervals;
use crate::engine::group::{Group, LocalSlot};
use crate::engine::interrupt::Interrupt;
use crate::engine::native::Native;
use crate::engine::{
    Addresses, Collective, Columns, Engine, Fault, Fill, MapOperand, Order, Pack, Permute, Scheduler, Segment, Text,
    Window, by_groups,
};
use crate::on_vector;
use nesl_native::{Elements, Kernels};
use nesl_prim::{Direction, ScalarOp, ScalarType, ScalarValue};
use nesl_vcode::Constants;
use std::sync::Arc;
use tuning::GroupTuning;
use workers::Workers;

/// The engine that runs instructions on several threads.
#[derive(Debug)]
pub struct Threads {
    workers: Workers,
    meter: Arc<Meter>,
    native: Native,
    tuning: GroupTuning,
    /// Shared by the engines of all tasks.
    kernels: Arc<Kernels>,
}

impl Threads {
    /// An engine of so many threads, the calling one included (0: one for each core), that allows `memory_limit`
    /// resident bytes in columns, or any number where it is none.
    ///
    /// # Errors
    /// If the system does not start the threads.
    pub fn new(threads: usize, memory_limit: Option<u64>) -> Result<Threads, std::io::Error> {
        let workers = Workers::new(threads).map_err(std::io::Error::other)?;
        let (native, kernels) = (Native::default(), Arc::default());
        // Where the system limits addresses, a part of them is left to what is no column, which could not do without.
        let addresses = share_of_addresses(usize::MAX, 1);
        let for_columns = (addresses < usize::MAX).then_some((addresses - addresses / 4) as u64);
        let limit = memory_limit.into_iter().chain(for_columns).min();
        Ok(Threads { workers, meter: Meter::new(limit), native, tuning: GroupTuning::FAST, kernels })
    }

    /// The same with the calling thread alone, for a task.
    fn alone(&self) -> Threads {
        let (meter, kernels) = (Arc::clone(&self.meter), Arc::clone(&self.kernels));
        Threads { workers: self.workers.alone(), meter, native: self.native, tuning: self.tuning, kernels }
    }

    /// The number of threads, the calling one included.
    pub fn threads(&self) -> usize {
        self.workers.threads()
    }
}

one_process!(Threads);

impl Engine for Threads {
    fn fill(&mut self, fill: Fill) -> Result<Vector, Fault> {
        elementwise::run(self, fill)
    }

    fn map(&mut self, op: ScalarOp, operands: Vec<MapOperand<Vector>>) -> Result<Vector, Fault> {
        elementwise::map(self, op, operands)
    }

    fn permute(&mut self, permute: Permute<'_, Vector>) -> Result<Vector, Fault> {
        permute::run(self, permute)
    }

    fn extract(&mut self, column: &Vector, index: usize) -> Result<ScalarValue, Fault> {
        Ok(column.get(index))
    }

    fn pack(&mut self, pack: Pack<'_, Vector>) -> Result<Vector, Fault> {
        pack::run(self, pack)
    }

    fn reduce(&mut self, op: ScalarOp, column: &Vector) -> Result<ScalarValue, Fault> {
        reduce::reduce(self, op, column)
    }

    fn seg_reduce(&mut self, op: ScalarOp, column: &Vector, descriptor: &Descriptor) -> Result<Vector, Fault> {
        reduce::seg_reduce(self, op, column, descriptor)
    }

    fn reduce_index(&mut self, op: ScalarOp, column: &Vector) -> Result<i64, Fault> {
        reduce::reduce_index(self, op, column)
    }

    fn seg_reduce_index(&mut self, op: ScalarOp, column: &Vector, descriptor: &Descriptor) -> Result<Vector, Fault> {
        reduce::seg_reduce_index(self, op, column, descriptor)
    }

    fn reduce_by_index(
        &mut self,
        op: ScalarOp,
        values: &Vector,
        indices: &Vector,
        places: usize,
    ) -> Result<Vector, Fault> {
        if sums_by_index::are_worth_it(op, values.len(), places) {
            sums_by_index::run(self, op, values, indices, places)
        } else {
            by_groups::reduce_by_index(self, op, values, indices, places)
        }
    }

    fn scan(&mut self, op: ScalarOp, column: &Vector, descriptor: Option<&Descriptor>) -> Result<Vector, Fault> {
        scan::run(self, op, column, descriptor)
    }

    fn order(
        &mut self,
        order: Order,
        direction: Direction,
        column: &Vector,
        descriptor: Option<&Descriptor>,
    ) -> Result<Vector, Fault> {
        order::run(self, order, direction, column, descriptor)
    }

    fn text(&mut self, text: Text<'_, Vector, Descriptor>) -> Result<Vector, Fault> {
        text::run(self, text)
    }

    fn regular(&mut self, starts: RegularStarts<Vector>, length: usize, count: usize) -> Result<Descriptor, Fault> {
        Ok(Descriptor::regular(&self.meter, starts, length, count))
    }

    fn segment(&mut self, segment: Segment<'_, Vector, Descriptor>) -> Result<Vector, Fault> {
        segment::run(self, segment)
    }
}

impl Addresses for Threads {
    fn copy(&mut self, elements: Elements<'_>) -> Result<Vector, Fault> {
        Ok(Vector::copied(&self.meter, elements)?)
    }

    fn unwritten(&mut self, ty: ScalarType, lengths: &[usize]) -> Option<Vec<Unwritten>> {
        Unwritten::parts(&self.meter, ty, lengths).ok()
    }

    fn copy_to(&mut self, part: &mut Unwritten, elements: Elements<'_>) -> Option<Vector> {
        part.write(elements)
    }

    fn meter(&self) -> Option<&Arc<Meter>> {
        Some(&self.meter)
    }

    fn has_addresses(&self) -> bool {
        true
    }

    fn address(&self, column: &Vector) -> Option<usize> {
        Some(on_vector!(column, slice => slice.elements().as_ptr().expose_provenance()))
    }

    fn allocated(&self) -> u64 {
        self.meter.allocated()
    }
}

impl Scheduler for Threads {
    fn into_threads(self) -> Option<Threads> {
        Some(self)
    }

    fn set_native(&mut self, native: Native) {
        self.native = native;
        self.tuning = if native == Native::Check { GroupTuning::FINEST } else { GroupTuning::FAST };
    }

    fn runs_groups(&self) -> bool {
        self.native != Native::Off
    }

    fn group(&mut self, group: &Group, operands: &mut [LocalSlot]) -> Option<Result<Vec<LocalSlot>, Fault>> {
        let results = if self.native == Native::Check {
            group::check::run(self, group, operands)
        } else {
            group::run(self, group, operands)
        };
        results.map(Ok)
    }

    fn workers(&self) -> usize {
        self.workers.threads()
    }

    fn set_threads(&mut self, threads: usize) -> std::io::Result<()> {
        self.workers = self.workers.with_threads(threads).map_err(std::io::Error::other)?;
        Ok(())
    }

    fn record_busy(&mut self) -> Option<BusyIntervals> {
        Some(self.workers.record_busy())
    }

    fn in_parallel<I: Send, R: Send>(&mut self, items: Vec<I>, task: impl Fn(I, &mut Self) -> R + Sync) -> Vec<R> {
        self.workers.each(items, &|_, item| task(item, &mut self.alone()))
    }

    fn set_interrupt(&mut self, interrupt: &Interrupt) {
        self.workers.set_interrupt(interrupt);
    }

    fn interrupt(&self) -> Interrupt {
        self.workers.interrupt().clone()
    }
}

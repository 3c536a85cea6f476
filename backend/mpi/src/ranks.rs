//! The distributed engine: its state, and how parts become columns.
//!
//! Every rank runs the same instructions in the same order. The rule that keeps ranks from waiting for each other forever:
//! whatever may fail on one rank alone goes through [`Ranks::settle`] before the next communication. The instructions
//! themselves are in [`crate::instructions::permute`], [`crate::instructions::reduce`] and [`crate::instructions::segment`].

use crate::communication::communicator::Communicator;
use crate::communication::interrupts;
use crate::distribution::column::{Column, Item};
use crate::distribution::redistribution::{Lying, Route};
use crate::distribution::requests::Kept;
use crate::layout::{Layout, offsets};
use nesl_backend::{Engine, Fault, Meter, Vector, on_vector};
use nesl_prim::{Failure, ScalarType, ScalarValue};
use nesl_vcode::Constants;
use std::mem::size_of;
use std::sync::Arc;

/// Columns up to this length are common. Measured with `tests/ranks/measure.rs` on 2 ranks of one busy machine, in microseconds
/// on a common and on a partitioned column: of 4096 elements, map 2.6 and 1.4, float sum 25 and 22, scan 38 and 18, gather 2.8
/// and 45, pack 2.3 and 8; of 32768, map 20 and 10, sum 242 and 151, gather 21 and 663. So at 4096 what a partition could gain
/// is a few microseconds, and what it could lose is ten times that; a network between the ranks moves the balance further.
pub const THRESHOLD: usize = 4096;

/// Columns from this length on are allocated with the agreement of all ranks: an allgather of a few microseconds against
/// tens of microseconds of work. Below, a rank without memory for so little ends the job.
const AGREED_FROM: usize = 1 << 16;

/// The engine over the ranks of a job; `L` computes on the part of each.
#[derive(Debug)]
pub struct Ranks<L> {
    pub(crate) communicator: Communicator,
    pub(crate) layout: Layout,
    pub(crate) local: L,
    /// What gives the local engine's columns their memory, and those of exchanges theirs.
    pub(crate) meter: Arc<Meter>,
    pub(crate) kept: Kept,
    threshold: usize,
    largest_part: u64,
}

impl<L: Engine<Column = Vector>> Ranks<L> {
    /// An engine whose columns of at most [`THRESHOLD`] elements are common.
    pub fn new(communicator: Communicator, local: L) -> Ranks<L> {
        Ranks::with_threshold(communicator, local, THRESHOLD)
    }

    /// The same with another threshold. A single rank has nobody to share with: there all columns are common.
    pub fn with_threshold(communicator: Communicator, local: L, threshold: usize) -> Ranks<L> {
        let layout = communicator.layout();
        let threshold = if layout.ranks == 1 { usize::MAX } else { threshold };
        let meter = local.meter().map_or_else(|| Meter::new(None), Arc::clone);
        Ranks { communicator, layout, local, meter, kept: Kept::default(), threshold, largest_part: 0 }
    }

    /// The ranks, for what is not about columns: sending the program, say.
    pub fn communicator(&mut self) -> &mut Communicator {
        &mut self.communicator
    }

    /// The length up to which columns are common.
    pub fn threshold(&self) -> usize {
        self.threshold
    }

    /// The counters of this rank.
    pub(crate) fn own_counters(&mut self, machine: nesl_backend::Counters) -> nesl_backend::Counters {
        let mut counters = self.local.counters(machine).first().copied().unwrap_or_default();
        self.communicator.report(&mut counters);
        if self.layout.ranks > 1 {
            counters.largest_part = self.largest_part;
        }
        counters
    }

    /// Whether a column of this length is common.
    pub(crate) fn is_common(&self, length: usize) -> bool {
        length <= self.threshold
    }

    /// The result of an instruction that every rank ran on common operands. Failures are the same everywhere, except for lack
    /// of memory, after which this rank cannot go on alone.
    pub(crate) fn replicated<T>(&self, outcome: Result<T, Fault>) -> Result<T, Fault> {
        outcome.inspect_err(|fault| self.met_by_all(&fault.failure))
    }

    /// Ends the job for lack of memory, with which this rank cannot go on alone: any other failure of what every rank does all have
    /// met, as they have where a sequence would be longer than any can be.
    pub(crate) fn met_by_all(&self, failure: &Failure) {
        if matches!(failure, Failure::OutOfMemory { .. }) && !failure.is_of_program() && self.layout.ranks > 1 {
            self.communicator.abort(&failure.to_string());
        }
    }

    /// The outcome of local work on a column of `length` elements that fails only for lack of memory, or of an interrupt, which
    /// is the end on all ranks: the same error on all ranks, or none.
    pub(crate) fn settle<T>(&mut self, length: usize, outcome: Result<T, Fault>) -> Result<T, Fault> {
        if self.layout.ranks == 1 {
            return outcome;
        }
        if length >= AGREED_FROM {
            return self.agree_on_fault(outcome);
        }
        outcome.or_else(|fault| match fault.failure {
            Failure::Interrupted => interrupts::stop(),
            failure => self.communicator.abort(&failure.to_string()),
        })
    }

    /// The fault of the lowest failing rank, on all ranks, or every rank's own result. Blocks of index lie in the order of
    /// the ranks, so the lowest rank has the least element.
    pub(crate) fn agree_on_fault<T>(&mut self, outcome: Result<T, Fault>) -> Result<T, Fault> {
        let outcome = outcome.map_err(|fault| (fault.failure, fault.element));
        let outcome = self.agree_on(outcome);
        outcome.map_err(|(failure, element)| Fault { failure, element })
    }

    /// The error of the lowest failing rank, on all ranks, or every rank's own result.
    pub(crate) fn agree_on<T, E: serde::Serialize + serde::de::DeserializeOwned>(
        &mut self,
        outcome: Result<T, E>,
    ) -> Result<T, E> {
        let failed = self.communicator.all_gather(outcome.is_err());
        match failed.iter().position(|&failed| failed) {
            None => outcome,
            Some(root) => Err(self.error_of(root, outcome.err())),
        }
    }

    /// The error that `root` has met, on all ranks.
    pub(crate) fn error_of<E: serde::Serialize + serde::de::DeserializeOwned>(
        &mut self,
        root: usize,
        own: Option<E>,
    ) -> E {
        let bytes = match own {
            Some(error) if root == self.layout.rank => match postcard::to_stdvec(&error) {
                Ok(bytes) => bytes,
                Err(problem) => self.communicator.abort(&format!("an error cannot be sent: {problem}")),
            },
            _ => Vec::new(),
        };
        let bytes = self.communicator.broadcast_bytes(root, bytes);
        match postcard::from_bytes(&bytes) {
            Ok(error) => error,
            Err(problem) => self.communicator.abort(&format!("an error cannot be read: {problem}")),
        }
    }

    /// Room for `count` elements of a column of `length`, on all ranks or on none.
    pub(crate) fn storage<T>(&mut self, length: usize, count: usize) -> Result<Vec<T>, Fault> {
        let mut storage = Vec::new();
        let bytes = (count as u64).saturating_mul(size_of::<T>() as u64);
        let reserved = storage.try_reserve_exact(count).map_err(|_| Failure::OutOfMemory { bytes }.into());
        self.settle(length, reserved.map(|()| storage))
    }

    /// Hands elements to the local engine, which counts them; they are part of a column of `length`.
    pub(crate) fn adopt<T: Item>(&mut self, length: usize, elements: Vec<T>) -> Result<Vector, Fault> {
        let adopted = self.local.import(T::constants(elements));
        self.settle(length, adopted)
    }

    /// This rank's block of a column.
    pub(crate) fn part(&self, column: &Column) -> Vector {
        match column {
            Column::Partitioned { part, .. } => part.clone(),
            Column::Common(vector) => {
                let share = self.layout.share(vector.len());
                vector.slice(share.start, share.len())
            }
        }
    }

    /// This rank's block of a column that dies here.
    pub(crate) fn take_part(&self, column: Column) -> Vector {
        match column {
            Column::Partitioned { part, .. } => part,
            common => self.part(&common),
        }
    }

    /// A column of which this rank has its block.
    pub(crate) fn finish(&mut self, length: usize, part: Vector) -> Result<Column, Fault> {
        debug_assert_eq!(part.len(), self.layout.share(length).len(), "block of {length} elements");
        if self.is_common(length) {
            let counts: Vec<usize> = (0..self.layout.ranks).map(|rank| self.layout.block(length, rank).len()).collect();
            return self.replicate(&part, &counts);
        }
        self.holds(part.len());
        Ok(Column::Partitioned { length, part, identity: Arc::default() })
    }

    /// This rank has so many elements of a column that is not common.
    pub(crate) fn holds(&mut self, elements: usize) {
        self.largest_part = self.largest_part.max(elements as u64);
    }

    /// The common column of the pieces of all ranks.
    fn replicate(&mut self, piece: &Vector, counts: &[usize]) -> Result<Column, Fault> {
        if self.layout.ranks == 1 {
            return Ok(Column::Common(piece.clone()));
        }
        on_vector!(piece, slice => {
            let all = self.communicator.all_gather_varied(slice.elements(), counts, Vec::new());
            self.adopt(0, all).map(Column::Common)
        })
    }

    /// The column of the pieces of all ranks, one after another, whatever their sizes.
    pub(crate) fn assemble(&mut self, piece: Vector) -> Result<Column, Fault> {
        let counts = self.communicator.all_gather_counts(piece.len());
        self.assemble_counted(piece, &counts)
    }

    /// The same where every rank knows the sizes.
    pub(crate) fn assemble_counted(&mut self, piece: Vector, counts: &[usize]) -> Result<Column, Fault> {
        let held = offsets(counts);
        let length = held[self.layout.ranks];
        if self.is_common(length) {
            return self.replicate(&piece, counts);
        }
        let part = self.realigned(&piece, &held, &self.layout.bounds(length))?;
        self.finish(length, part)
    }

    /// What this rank is to hold of a sequence that ranks hold by other bounds.
    pub(crate) fn realigned(&mut self, part: &Vector, held: &[usize], wanted: &[usize]) -> Result<Vector, Fault> {
        if held == wanted {
            return Ok(part.clone());
        }
        let length = wanted[self.layout.ranks] - wanted[0];
        let route = Route::between(held, wanted);
        on_vector!(part, slice => self.carried(length, &route, &Lying::new(vec![slice.elements()])))
    }

    /// A column of `length` elements computed from their indices.
    pub(crate) fn generate<T: Item>(&mut self, length: usize, element: impl Fn(usize) -> T) -> Result<Column, Fault> {
        if self.is_common(length) {
            let elements = (0..length).map(element).collect();
            return self.adopt(0, elements).map(Column::Common);
        }
        let share = self.layout.share(length);
        let mut elements = self.rooms(length, |meter| meter.room(share.len()))?;
        elements.extend_from_iter(share.map(element));
        let part = self.filled(elements);
        self.finish(length, part)
    }

    /// A column of the same elements on every rank.
    pub(crate) fn constant_column(&mut self, constants: &Constants) -> Result<Column, Fault> {
        let length = constants.len();
        if self.is_common(length) {
            let vector = self.local.constants(constants);
            return self.replicated(vector).map(Column::Common);
        }
        let share = self.layout.share(length);
        let part = match constants {
            Constants::Int(elements) => self.adopt(length, elements[share].to_vec()),
            Constants::Float(elements) => self.adopt(length, elements[share].to_vec()),
            Constants::Bool(elements) => self.adopt(length, elements[share].to_vec()),
            Constants::Char(elements) => self.adopt(length, elements[share].to_vec()),
        }?;
        self.finish(length, part)
    }

    /// A scalar of every rank, on every rank.
    pub(crate) fn all_scalars(&mut self, scalar_type: ScalarType, mine: ScalarValue) -> Vec<ScalarValue> {
        let all = self.communicator.all_gather(crate::distribution::column::to_bits(mine));
        all.into_iter().map(|bits| crate::distribution::column::from_bits(scalar_type, bits)).collect()
    }

    /// A scalar that `root` knows, on every rank.
    pub(crate) fn broadcast_scalar(
        &mut self,
        root: usize,
        scalar_type: ScalarType,
        value: Option<ScalarValue>,
    ) -> ScalarValue {
        let bits = self.communicator.broadcast(root, value.map_or(0, crate::distribution::column::to_bits));
        crate::distribution::column::from_bits(scalar_type, bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engine_may_move_to_a_thread_with_a_large_stack() {
        fn movable<T: Send>() {}
        movable::<Ranks<nesl_backend::Reference>>();
        movable::<Column>();
        movable::<crate::Descriptor<nesl_backend::Descriptor>>();
        movable::<crate::World>();
    }
}

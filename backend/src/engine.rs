//! The seam between the machine and the engines.
//!
//! The machine owns control flow, registers, last uses and error spans. An [`Engine`] does the instructions on columns,
//! a method for each class of the instruction table; which instruction of the class, and on what, is a value of the
//! class ([`instructions`]), and the meaning of each is that of its row in `nesl_vcode::op`. Operands that die at the
//! instruction are passed by value and uniquely owned, so an engine may overwrite them. What an engine says of its
//! columns besides is in traits of their own: what they and their segments are ([`Columns`]), where they lie in memory
//! ([`Addresses`]), what runs at once ([`Scheduler`]), and how they are shared among ranks ([`Collective`]).
//! [`execute`] takes an instruction to its method.
//!
//! In a distributed engine every rank calls the same methods in the same order. Scalars, lengths, errors and everything
//! else a method returns (columns and descriptors apart) are the same on all ranks.

#[macro_use]
mod one_process;

pub mod by_groups;
mod dispatch;
mod instructions;

pub mod busy;
pub mod clock;
pub mod division;
pub mod error;
pub mod group;
pub mod interrupt;
pub mod native;
pub mod reference;
pub(crate) mod stack;
pub mod threads;
pub mod value;

use crate::data::buffer::Meter;
use crate::data::carried::Carried;
use crate::data::counters::Counters;
use crate::data::descriptor::RegularStarts;
use crate::data::hold::Hold;
use crate::data::slot::Slot;
use crate::data::vector::unwritten::Unwritten;
use busy::BusyIntervals;
use clock::Talk;
use division::{Division, Failed, Own};
use error::RuntimeError;
use group::Group;
use interrupt::Interrupt;
use native::Native;
use nesl_native::Elements;
use nesl_prim::{Direction, Failure, ScalarOp, ScalarType, ScalarValue};
use nesl_vcode::{Constants, VectorOp};
use std::ops::Range;
use std::sync::Arc;
use threads::Threads;
use value::SlotOf;

pub use dispatch::execute;
pub use instructions::{Fill, MapOperand, Order, Pack, Permute, Segment, Text};

/// An instruction failed on an element.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// How.
    pub failure: Failure,
    /// The least index of an element on which it fails; 0 where there are no elements.
    pub element: usize,
}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Fault {
        Fault { failure, element: 0 }
    }
}

/// Part of a column, fetched to every rank.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// Index of the first element.
    pub start: usize,
    /// The elements.
    pub elements: Constants,
}

/// What columns and descriptors are, and what is known of them at once.
pub trait Columns {
    /// A column: immutable, cheap to clone.
    type Column: Clone + Send + Sync;
    /// A segment descriptor: immutable, cheap to clone.
    type Descriptor: Clone + Send + Sync;

    /// The scalar type of a column.
    fn scalar_type(&self, column: &Self::Column) -> ScalarType;
    /// `length`: the number of elements of a column.
    fn length(&self, column: &Self::Column) -> usize;
    /// `segments`: the number of segments of a descriptor.
    fn segments(&self, descriptor: &Self::Descriptor) -> usize;
    /// A constant column.
    fn constants(&mut self, constants: &Constants) -> Result<Self::Column, Fault>;
    /// `packed`, or `view` with starts.
    fn descriptor(&mut self, starts: Option<Self::Column>, lengths: Self::Column) -> Result<Self::Descriptor, Fault>;
    /// `starts`.
    fn starts(&mut self, descriptor: &Self::Descriptor) -> Result<Self::Column, Fault>;
    /// `lengths`.
    fn lengths(&mut self, descriptor: &Self::Descriptor) -> Result<Self::Column, Fault>;
    /// `total`.
    fn total(&mut self, descriptor: &Self::Descriptor) -> Result<usize, Fault>;
    /// Whether a descriptor was made without starts.
    fn is_packed(&self, descriptor: &Self::Descriptor) -> bool;
    /// A number that columns of one type and length have in common if they are one, as long as they live, and only
    /// then; none for columns without elements. Which columns have one in common is the same on all ranks.
    fn identity(&self, column: &Self::Column) -> Option<usize>;
    /// Lets a column that has long to wait hold little more memory than its elements take, if it is the last part that
    /// anybody holds of something larger.
    fn trim(&mut self, column: &mut Self::Column);
}

/// Does the instructions on columns.
pub trait Engine: Addresses + Scheduler + Collective {
    /// Elements made of scalars and indices.
    fn fill(&mut self, fill: Fill) -> Result<Self::Column, Fault>;
    /// An elementwise instruction. At least one operand is a column; all columns have the same length.
    fn map(&mut self, op: ScalarOp, operands: Vec<MapOperand<Self::Column>>) -> Result<Self::Column, Fault>;
    /// Elements moved by indices.
    fn permute(&mut self, permute: Permute<'_, Self::Column>) -> Result<Self::Column, Fault>;
    /// `extract`.
    fn extract(&mut self, column: &Self::Column, index: usize) -> Result<ScalarValue, Fault>;
    /// Elements kept, or columns put together.
    fn pack(&mut self, pack: Pack<'_, Self::Column>) -> Result<Self::Column, Fault>;
    /// `reduce`.
    fn reduce(&mut self, op: ScalarOp, column: &Self::Column) -> Result<ScalarValue, Fault>;
    /// `seg_reduce`.
    fn seg_reduce(
        &mut self,
        op: ScalarOp,
        column: &Self::Column,
        descriptor: &Self::Descriptor,
    ) -> Result<Self::Column, Fault>;
    /// `reduce_index`.
    fn reduce_index(&mut self, op: ScalarOp, column: &Self::Column) -> Result<i64, Fault>;
    /// `seg_reduce_index`.
    fn seg_reduce_index(
        &mut self,
        op: ScalarOp,
        column: &Self::Column,
        descriptor: &Self::Descriptor,
    ) -> Result<Self::Column, Fault>;
    /// `reduce_by_index` of values, at indices, to so many places.
    fn reduce_by_index(
        &mut self,
        op: ScalarOp,
        values: &Self::Column,
        indices: &Self::Column,
        places: usize,
    ) -> Result<Self::Column, Fault>
    where
        Self: Sized,
    {
        by_groups::reduce_by_index(self, op, values, indices, places)
    }
    /// `scan`, or `seg_scan` by a descriptor.
    fn scan(
        &mut self,
        op: ScalarOp,
        column: &Self::Column,
        descriptor: Option<&Self::Descriptor>,
    ) -> Result<Self::Column, Fault>;
    /// Elements in order or their places in it, of the whole column or of each segment.
    fn order(
        &mut self,
        order: Order,
        direction: Direction,
        column: &Self::Column,
        descriptor: Option<&Self::Descriptor>,
    ) -> Result<Self::Column, Fault>;
    /// Scalars as text, and text as scalars.
    fn text(&mut self, text: Text<'_, Self::Column, Self::Descriptor>) -> Result<Self::Column, Fault>;
    /// `regular`, `windows` or `blocks`: so many segments of a length. Where an engine does not say otherwise, its
    /// columns are made.
    fn regular(
        &mut self,
        starts: RegularStarts<Self::Column>,
        length: usize,
        count: usize,
    ) -> Result<Self::Descriptor, Fault> {
        let starts = match starts {
            RegularStarts::Packed => None,
            RegularStarts::Even { first, stride } => {
                let iota = MapOperand::Column(self.fill(Fill::Iota(count))?);
                let [first, stride] = [first, stride].map(|value| MapOperand::Scalar(ScalarValue::Int(value)));
                let further = MapOperand::Column(self.map(ScalarOp::MultiplyInt, vec![iota, stride])?);
                Some(self.map(ScalarOp::AddInt, vec![further, first])?)
            }
            RegularStarts::At(starts) => Some(starts),
        };
        let lengths = self.fill(Fill::Dist(ScalarValue::Int(length as i64), count))?;
        self.descriptor(starts, lengths)
    }
    /// Elements moved by segments.
    fn segment(&mut self, segment: Segment<'_, Self::Column, Self::Descriptor>) -> Result<Self::Column, Fault>;
}

/// Where columns lie in the memory of this process, for native code and for whoever makes columns outside of the
/// engine.
pub trait Addresses: Columns {
    /// A column of elements that native code has left in memory.
    fn copy(&mut self, elements: Elements<'_>) -> Result<Self::Column, Fault> {
        self.constants(&elements.to_constants())
    }
    /// Room for a column in parts of so many elements, to [copy to](Addresses::copy_to); none where the engine has no
    /// such columns, or no memory.
    fn unwritten(&mut self, _ty: ScalarType, _lengths: &[usize]) -> Option<Vec<Unwritten>> {
        None
    }
    /// A column of elements that native code has left in memory, as the next ones of a part of another; none if they do
    /// not fit.
    fn copy_to(&mut self, _part: &mut Unwritten, _elements: Elements<'_>) -> Option<Self::Column> {
        None
    }
    /// What gives this process's columns their memory, for whoever makes columns outside of the engine.
    fn meter(&self) -> Option<&Arc<Meter>> {
        None
    }
    /// Counts what comes in from outside against the limit of this engine.
    fn hold(&self) -> Hold {
        Hold::under(self.meter())
    }
    /// Whether [`address`](Addresses::address) gives one for every column.
    fn has_addresses(&self) -> bool {
        false
    }
    /// The address of the elements of a column, if this process has all of them, one after another. They stay there as
    /// long as the column is held.
    fn address(&self, _column: &Self::Column) -> Option<usize> {
        None
    }
    /// Bytes allocated for columns in this process so far.
    fn allocated(&self) -> u64;
}

/// What runs at once, and until when.
pub trait Scheduler: Columns {
    /// Chooses whether groups of instructions are compiled to machine code, if the engine can do that.
    fn set_native(&mut self, _native: Native) {}
    /// Whether [`group`](Scheduler::group) may run something.
    fn runs_groups(&self) -> bool {
        false
    }
    /// A group at once: its results, of what it reads from outside. None where the engine cannot, or where something in
    /// it fails; then the operands are as before, and the instructions of the group are run one by one, which shows
    /// what is wrong. A fault where that cannot be: memory ended while a column was written to.
    fn group(&mut self, _group: &Group, _operands: &mut [SlotOf<Self>]) -> Option<Result<Vec<SlotOf<Self>>, Fault>>
    where
        Self: Sized,
    {
        None
    }
    /// How many tasks [`in_parallel`](Scheduler::in_parallel) can run at once.
    fn workers(&self) -> usize {
        1
    }
    /// The threads of this process that compute.
    fn threads(&self) -> usize {
        self.workers()
    }
    /// Changes how many those are; 0 stands for all cores. Columns stay where they are: their memory belongs to no
    /// thread.
    ///
    /// # Errors
    /// If the system does not start the threads, or the engine has one alone.
    fn set_threads(&mut self, _threads: usize) -> std::io::Result<()> {
        Err(std::io::Error::other("this engine has one thread"))
    }
    /// From now on it is kept when helpers of the calling thread work, for a trace; none where there are none.
    fn record_busy(&mut self) -> Option<BusyIntervals> {
        None
    }
    /// Hands each item to a task with an engine whose columns are those of this one; the results in the order of the
    /// items. Only where everything is at hand.
    fn in_parallel<I: Send, R: Send>(&mut self, items: Vec<I>, task: impl Fn(I, &mut Self) -> R + Sync) -> Vec<R>
    where
        Self: Sized,
    {
        items.into_iter().map(|item| task(item, self)).collect()
    }
    /// Says what ends instructions while they run; without effect in engines that run them to their ends. In a
    /// distributed run that must be something that comes to all ranks after they have done the same together.
    fn set_interrupt(&mut self, _interrupt: &Interrupt) {}
    /// What ends instructions while they run, for whoever works long on what the engine gives.
    fn interrupt(&self) -> Interrupt {
        Interrupt::default()
    }
    /// The threads of this process that compute for the engine, if it has some: for another engine of other ranks. What
    /// it knows of columns is lost, but for what they hold.
    fn into_threads(self) -> Option<Threads>
    where
        Self: Sized,
    {
        None
    }
    /// Whether instructions whose columns move alike are given to it at once, where they follow one another.
    fn moves_together(&self) -> bool {
        false
    }
    /// The results of such instructions ([`nesl_vcode::op::Row::together`]) on the operands of each. An error is that
    /// of the first.
    fn together(&mut self, op: VectorOp, _operands: Vec<Vec<SlotOf<Self>>>) -> Result<Vec<SlotOf<Self>>, Fault>
    where
        Self: Sized,
    {
        unreachable!("`{}` is given to this engine one by one", op.name())
    }
}

/// How columns are shared among ranks. In one process there is one rank, which has all.
pub trait Collective: Columns {
    /// The engine of this process alone: the same, except on ranks.
    type Local: Engine;

    /// This process's rank and the number of ranks.
    fn rank(&self) -> (usize, usize);
    /// Which elements of a new column of `length` elements this rank should [`import`](Collective::import), so that
    /// none have to move: all of them in one process.
    fn share(&self, length: usize) -> Range<usize> {
        share(self.rank(), length)
    }
    /// Whether this process has all of an operand.
    fn is_at_hand(&self, _operand: &Slot<Self::Column, Self::Descriptor>) -> bool {
        true
    }
    /// A column from the pieces that the ranks hold: the elements of rank 0, then those of rank 1, …. In one process,
    /// the elements given. The pieces may be of any sizes.
    fn import(&mut self, piece: Constants) -> Result<Self::Column, Fault>;
    /// `length` elements from `start` on, on every rank.
    fn fetch(&mut self, column: &Self::Column, start: usize, length: usize) -> Result<Window, Fault>;
    /// The elements of its share of a column that this process holds, or would hold: all of them in one process.
    fn own(&mut self, column: &Self::Column) -> Result<Window, Fault>;
    /// What this process holds of columns, ready for another number of ranks; all ranks call it together.
    fn carried(&mut self, columns: &[Self::Column]) -> Result<Vec<Carried>, Fault>;
    /// The columns of what has been carried to where the ranks of this engine hold it.
    fn arrived(&mut self, carried: Vec<Carried>) -> Vec<Self::Column>;
    /// Deals the instances of an `each` out to ranks, runs `run` on those of this one, and puts the results of all
    /// together. None where that is not done, because there are no ranks, or the instances weigh too differently.
    fn divide(
        &mut self,
        _division: &Division<'_, Self>,
        _run: impl FnMut(&mut Self::Local, Own<Self::Local>) -> Result<Vec<SlotOf<Self::Local>>, Failed>,
    ) -> Option<Result<Vec<SlotOf<Self>>, RuntimeError>>
    where
        Self: Engine + Sized,
    {
        None
    }
    /// How many bytes a rank would get, at most, to have all of these operands; none where a call cannot be made
    /// [everywhere](Collective::everywhere), because there are no ranks, or that is too much to be on each.
    fn bytes_to_move<'a>(&mut self, _operands: impl Iterator<Item = &'a SlotOf<Self>>) -> Option<usize>
    where
        Self: Sized + 'a,
    {
        None
    }
    /// How often ranks have shared something so far: made a column that lies in parts, or dealt out instances. The same
    /// on all; none where there are no ranks.
    fn shared(&self) -> Option<u64> {
        None
    }
    /// Makes a call on every rank, on all of its operands: what `run` gives is the same on all of them.
    ///
    /// # Errors
    /// For lack of memory for the operands; within, those of the call.
    fn everywhere(
        &mut self,
        _operands: &[SlotOf<Self>],
        _run: impl FnOnce(&mut Self::Local, Vec<SlotOf<Self::Local>>) -> Result<Vec<SlotOf<Self::Local>>, RuntimeError>,
    ) -> Result<Result<Vec<SlotOf<Self>>, RuntimeError>, Fault>
    where
        Self: Sized,
    {
        unreachable!("nothing moves in one process")
    }
    /// What every rank thinks, as seen by rank 0: the same error or none on all ranks. In one process, the error given.
    /// Used where ranks do different things, such as reading their parts of a file.
    fn agree<T, E: Clone + serde::Serialize + serde::de::DeserializeOwned>(
        &mut self,
        outcome: Result<T, E>,
    ) -> Result<T, E>;
    /// Does what ranks do each by itself before they [`agree`](Collective::agree) on whether it went well: there an
    /// interrupt may end the work of a rank without that of the others.
    fn by_itself<T>(&mut self, work: impl FnOnce() -> T) -> T {
        work()
    }
    /// Forgets what was worked out for instructions to come: after an interrupt not all ranks may know the same.
    fn forget_kept(&mut self) {}
    /// Adds what this rank has sent to what is counted.
    fn report(&self, _counters: &mut Counters) {}
    /// What has gone by in messages to other ranks.
    fn talk(&self) -> Talk {
        Talk::default()
    }
    /// The counters of every rank, by rank, on every rank; those are the ones that this one's machine keeps.
    fn counters(&mut self, machine: Counters) -> Vec<Counters>;
}

/// Which elements of a new column of `length` a rank of so many should have.
pub fn share((rank, ranks): (usize, usize), length: usize) -> Range<usize> {
    let bound = |rank: usize| (length as u128 * rank as u128 / ranks as u128) as usize;
    bound(rank)..bound(rank + 1)
}

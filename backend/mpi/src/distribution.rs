//! Where the elements of columns lie, and how they get to where they are needed.
//!
//! ```text
//! column          replicated, in blocks, or ragged          descriptor, segments  segments, and those in this rank's block
//! ragged          from one to another of them               redistribution        from some bounds to others
//! requests        elements by index; request_cache          ranges                elements by range
//! delivery        elements to the owners of their targets   transfer              several columns in one message
//! excerpts        consecutive elements for each rank        carrying              columns to another number of ranks
//! ```

pub mod carrying;
pub(crate) mod column;
pub(crate) mod delivery;
pub(crate) mod descriptor;
pub(crate) mod excerpts;
pub(crate) mod ragged;
pub(crate) mod ranges;
pub(crate) mod redistribution;
pub(crate) mod request_cache;
pub(crate) mod requests;
pub(crate) mod segments;
pub(crate) mod transfer;

use crate::communication::collectives::Collectives;
use crate::communication::communicator::Communicator;
use crate::layout::{Layout, offsets};
use column::{Block, Distributed, Item};
use nesl_backend::{Counters, Engine, Fault, Meter, Vector, on_vector};
use nesl_prim::Failure;
use nesl_vcode::Constants;
use redistribution::{LocalParts, Redistribution};
use request_cache::RequestCache;
use std::sync::Arc;

/// An engine that computes on what one rank holds.
pub(crate) trait LocalEngine: Engine<Column = Vector> {}

impl<L: Engine<Column = Vector>> LocalEngine for L {}

/// What every instruction works with: the ranks, the local engine, and where columns lie.
#[derive(Debug)]
pub(crate) struct Distribution<L> {
    pub(crate) collectives: Collectives,
    pub(crate) layout: Layout,
    pub(crate) local: L,
    /// What gives the local engine's columns their memory, and those of exchanges theirs.
    pub(crate) meter: Arc<Meter>,
    pub(crate) cache: RequestCache,
    /// The length up to which columns are common.
    pub(crate) threshold: usize,
    /// The most elements that this rank has had of a column that is not common.
    pub(crate) largest_part: u64,
    /// How many columns in parts ranks have made, and how often they have dealt out instances.
    pub(crate) shared: u64,
}

impl<L: LocalEngine> Distribution<L> {
    /// That of columns over the ranks of a communicator. A single rank has nobody to share with: there all columns are
    /// common.
    pub(crate) fn new(communicator: Communicator, local: L, threshold: usize) -> Distribution<L> {
        let layout = communicator.layout();
        let threshold = if layout.ranks == 1 { usize::MAX } else { threshold };
        let meter = local.meter().map_or_else(|| Meter::new(None), Arc::clone);
        let collectives = Collectives::new(communicator);
        let cache = RequestCache::default();
        Distribution { collectives, layout, local, meter, cache, threshold, largest_part: 0, shared: 0 }
    }

    /// The counters of this rank.
    pub(crate) fn own_counters(&mut self, machine: Counters) -> Counters {
        let mut counters = self.local.counters(machine).first().copied().unwrap_or_default();
        self.collectives.communicator.report(&mut counters);
        if self.layout.ranks > 1 {
            counters.largest_part = self.largest_part;
        }
        counters
    }

    /// Whether a column of this length is common.
    pub(crate) fn is_common(&self, length: usize) -> bool {
        length <= self.threshold
    }

    /// Room for `count` elements of a column of `length`, on all ranks or on none.
    pub(crate) fn storage<T>(&mut self, length: usize, count: usize) -> Result<Vec<T>, Fault> {
        let mut storage = Vec::new();
        let bytes = (count as u64).saturating_mul(size_of::<T>() as u64);
        let reserved = storage.try_reserve_exact(count).map_err(|_| Failure::OutOfMemory { bytes }.into());
        self.collectives.settle(length, reserved.map(|()| storage))
    }

    /// Hands elements to the local engine, which counts them; they are part of a column of `length`.
    pub(crate) fn adopt<T: Item>(&mut self, length: usize, elements: Vec<T>) -> Result<Vector, Fault> {
        let adopted = self.local.import(T::constants(elements));
        self.collectives.settle(length, adopted)
    }

    /// A column of which this rank has its block.
    pub(crate) fn finish(&mut self, length: usize, part: Vector) -> Result<Distributed, Fault> {
        debug_assert_eq!(part.len(), self.layout.share(length).len(), "block of {length} elements");
        if self.is_common(length) {
            let counts: Vec<usize> = (0..self.layout.ranks).map(|rank| self.layout.block(length, rank).len()).collect();
            return self.replicate(&part, &counts);
        }
        Ok(Distributed::Block(self.new_block(length, part)))
    }

    /// This rank's block of a column that is not common.
    pub(crate) fn new_block(&mut self, length: usize, part: Vector) -> Block {
        self.holds(part.len());
        Block { length, part, identity: Arc::default() }
    }

    /// This rank has so many elements of a column that is not common.
    pub(crate) fn holds(&mut self, elements: usize) {
        self.shared += 1;
        self.largest_part = self.largest_part.max(elements as u64);
    }

    /// The common column of the pieces of all ranks.
    fn replicate(&mut self, piece: &Vector, counts: &[usize]) -> Result<Distributed, Fault> {
        if self.layout.ranks == 1 {
            return Ok(Distributed::Replicated(piece.clone()));
        }
        on_vector!(piece, slice => {
            let all = self.collectives.communicator.all_gather_varied(slice.elements(), counts, Vec::new());
            self.adopt(0, all).map(Distributed::Replicated)
        })
    }

    /// The column of the pieces of all ranks, one after another, whatever their sizes.
    pub(crate) fn assemble(&mut self, piece: Vector) -> Result<Distributed, Fault> {
        let counts = self.collectives.communicator.all_gather_counts(piece.len());
        self.assemble_counted(piece, &counts)
    }

    /// The same where every rank knows the sizes.
    pub(crate) fn assemble_counted(&mut self, piece: Vector, counts: &[usize]) -> Result<Distributed, Fault> {
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
        let redistribution = Redistribution::between(held, wanted);
        on_vector!(part, slice => self.redistributed(length, &redistribution, &LocalParts::new(vec![slice.elements()])))
    }

    /// A column of the same elements on every rank.
    pub(crate) fn constant_column(&mut self, constants: &Constants) -> Result<Distributed, Fault> {
        let length = constants.len();
        if self.is_common(length) {
            let vector = self.local.constants(constants);
            return self.collectives.replicated(vector).map(Distributed::Replicated);
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

    /// A column that only the local engine has seen, without asking the other ranks.
    pub(crate) fn local_column(&mut self, constants: Constants) -> Result<Vector, Fault> {
        self.local.import(constants)
    }
}

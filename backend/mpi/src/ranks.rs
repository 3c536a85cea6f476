//! The distributed engine, as those who run programs make it.
//!
//! Every rank runs the same instructions in the same order.

use crate::communication::communicator::Communicator;
use crate::distribution::Distribution;
use nesl_backend::{Engine, Vector};

/// Columns up to this length are common. Measured with `tests/ranks/measure.rs` on 2 ranks of one busy machine, in
/// microseconds on a common and on a partitioned column: of 4096 elements, map 2.6 and 1.4, float sum 25 and 22, scan
/// 38 and 18, gather 2.8 and 45, pack 2.3 and 8; of 32768, map 20 and 10, sum 242 and 151, gather 21 and 663. So at
/// 4096 what a partition could gain is a few microseconds, and what it could lose is ten times that; a network between
/// the ranks moves the balance further.
pub const THRESHOLD: usize = 4096;

/// The engine over the ranks of a job; `L` computes on the part of each.
#[derive(Debug)]
pub struct Ranks<L> {
    pub(crate) distribution: Distribution<L>,
}

impl<L: Engine<Column = Vector>> Ranks<L> {
    /// An engine whose columns of at most [`THRESHOLD`] elements are common.
    pub fn new(communicator: Communicator, local: L) -> Ranks<L> {
        Ranks::with_threshold(communicator, local, THRESHOLD)
    }

    /// The same with another threshold. A single rank has nobody to share with: there all columns are common.
    pub fn with_threshold(communicator: Communicator, local: L, threshold: usize) -> Ranks<L> {
        Ranks { distribution: Distribution::new(communicator, local, threshold) }
    }

    /// The ranks, for what is not about columns: sending the program, say.
    pub fn communicator(&mut self) -> &mut Communicator {
        &mut self.distribution.collectives.communicator
    }

    /// The length up to which columns are common.
    pub fn threshold(&self) -> usize {
        self.distribution.threshold
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::column::Distributed;

    #[test]
    fn the_engine_may_move_to_a_thread_with_a_large_stack() {
        fn movable<T: Send>() {}
        movable::<Ranks<nesl_backend::Reference>>();
        movable::<Distributed>();
        movable::<crate::Descriptor<nesl_backend::Descriptor>>();
        movable::<crate::World>();
    }
}

//! `reduce_by_index` of float sums and products: a state for each place, which takes one value after another.
//!
//! [`nesl_prim::sum`] says by its position in which lane of which block an element of a sequence is combined. A place
//! keeps the lanes of its last block and what the blocks before it gave, so that nothing has to be brought together.
//! As where elements are written to computed places, each thread owns a range of these.

use super::Threads;
use super::column::wrap;
use super::permute::by_owners;
use super::tuning::GRAIN_COSTLY;
use crate::data::vector::Vector;
use crate::engine::Fault;
use nesl_prim::sum::Accumulator;
use nesl_prim::{Element, MonoidVisitor, ScalarOp};

/// The most places whose states, of 160 bytes each, fit into a cache of a thread's own.
const MOST_PLACES: usize = 4096;

/// How many values there are, at least, for each place: making and reading a state costs as much as taking a few.
const VALUES: usize = 8;

/// Whether an operation needs states, and these are better than bringing the values of a place together.
pub(super) fn are_worth_it(op: ScalarOp, values: usize, places: usize) -> bool {
    !op.row().associative && places <= MOST_PLACES && places * VALUES <= values
}

/// For each of so many places what its values give in their order.
pub(super) fn run(
    threads: &Threads,
    op: ScalarOp,
    values: &Vector,
    indices: &Vector,
    places: usize,
) -> Result<Vector, Fault> {
    op.visit_monoid(SumsByIndex { threads, values, indices: indices.elements(), places })
}

struct SumsByIndex<'a> {
    threads: &'a Threads,
    values: &'a Vector,
    indices: &'a [i64],
    places: usize,
}

impl MonoidVisitor for SumsByIndex<'_> {
    type Output = Result<Vector, Fault>;

    fn exact<T: Element>(self, _: T, _: impl Fn(T, T) -> T + Copy + Send + Sync) -> Self::Output {
        unreachable!("only sums and products of floats need states")
    }

    fn ordered(self, identity: f64, combine: impl Fn(f64, f64) -> f64 + Copy + Send + Sync) -> Self::Output {
        let (threads, values) = (self.threads, self.values.elements::<f64>());
        let mut states = threads.meter.reserve(self.places)?;
        states.resize(self.places, Accumulator::new(identity));
        by_owners(threads, &mut states, self.indices, |state: &mut Accumulator, element| {
            state.push(identity, combine, values[element]);
        })?;
        Ok(wrap(threads.workers.fill(&threads.meter, self.places, GRAIN_COSTLY, |range, writer| {
            states[range].iter().for_each(|state| writer.push(state.finish(identity, combine)));
        })?))
    }
}

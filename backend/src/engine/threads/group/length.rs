//! The number of indices of a group, which all that it reads at the index must have.

use crate::data::descriptor::{Descriptor, sum};
use crate::engine::Fault;
use crate::engine::group::{Check, Group, LocalSlot};
use crate::engine::threads::Threads;
use crate::engine::threads::tuning::GRAIN;
use crate::engine::threads::workers::split;
use nesl_native::{Extent, PlanOperand};

/// The number of indices.
///
/// # Panics
/// If columns or segments do not have so many elements: the pass that makes groups excludes that.
pub(super) fn length(threads: &Threads, group: &Group, operands: &[LocalSlot]) -> Result<usize, Fault> {
    let value = |source: PlanOperand| match source {
        PlanOperand::Constant(value) => value.to_size(),
        source => operands[source.outside()].as_size(),
    };
    let column = |input: usize| operands[input].as_column().len();
    // Those that are known to have segments as long need not be added up.
    let total = |input: usize| total(threads, operands[group.plan.first_alike(input)].as_descriptor());
    let length = match group.plan.extent {
        Extent::Value(source) => value(source),
        Extent::Column(input) => column(input),
        Extent::Total(input) => total(input)?,
    };
    for check in &group.facts.checks {
        let found = match *check {
            Check::Column(input) => column(input),
            Check::Value(source) => value(source),
            Check::Total(input) => total(input)?,
            Check::Packed(input) => {
                assert!(
                    operands[input].as_descriptor().is_packed(),
                    "a group over segments that do not lie one after another"
                );
                total(input)?
            }
            Check::Segments { column: elements, descriptor: input } => {
                let segments = operands[input].as_descriptor().segments();
                assert_eq!(column(elements), segments, "a seg_dist of as many elements as segments");
                total(input)?
            }
        };
        assert_eq!(found, length, "a group over columns of different lengths");
    }
    Ok(length)
}

/// The number of elements in the segments of a descriptor.
fn total(threads: &Threads, descriptor: &Descriptor) -> Result<usize, Fault> {
    let workers = &threads.workers;
    let in_pieces = |lengths: &[i64]| {
        let ranges = split(lengths.len(), workers.pieces(lengths.len(), GRAIN));
        let sums = workers.each(ranges, &|_, range| sum(&lengths[range]));
        sums.into_iter().try_fold(0i64, |before, sum| before.checked_add(sum?))
    };
    Ok(descriptor.total_by(in_pieces)?)
}

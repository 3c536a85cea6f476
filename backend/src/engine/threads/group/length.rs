//! The number of indices of a group, which all that it reads at the index must have.

use crate::data::descriptor::{Descriptor, sum};
use crate::data::slot::Slot;
use crate::engine::Fault;
use crate::engine::group::{Check, Group, LocalSlot, size};
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
        PlanOperand::Constant(value) => size(&LocalSlot::Scalar(value)),
        PlanOperand::Input(input) => size(&operands[input]),
        PlanOperand::Node(_) => unreachable!("what says how many indices there are comes from outside"),
    };
    let column = |input: usize| match &operands[input] {
        Slot::Column(column) => column.len(),
        other => panic!("a group reads {other:?} as a column"),
    };
    // Those that are known to have segments as long need not be added up.
    let total = |input: usize| total(threads, descriptor(&operands[group.plan.first_alike(input)]));
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
                    descriptor(&operands[input]).is_packed(),
                    "a group over segments that do not lie one after another"
                );
                total(input)?
            }
            Check::Segments { column: elements, descriptor: input } => {
                let segments = descriptor(&operands[input]).segments();
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

pub(super) fn descriptor(slot: &LocalSlot) -> &Descriptor {
    match slot {
        Slot::Descriptor(descriptor) => descriptor,
        other => panic!("a group reads {other:?} as a descriptor"),
    }
}

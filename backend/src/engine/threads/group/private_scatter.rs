//! Scatters on several threads, where several of the indices may be the same: the last one wins.
//!
//! Each piece writes to a column of its own, and marks what it has written. Then pieces are put together in their
//! order. That is for columns that are small beside what is written to them, as tables are in which many elements look
//! for their place.

#![allow(unsafe_code, reason = "columns of which machine code writes some elements; every block says why it is sound")]

use super::{LocalSlot, OutputBuffer};
use crate::data::buffer::Meter;
use crate::data::memory;
use crate::data::slot::Slot;
use crate::engine::group::Group;
use crate::engine::threads::Threads;
use crate::engine::threads::tuning::GRAIN;
use crate::engine::threads::workers::split;
use nesl_native::{Ending, PlanOperand};
use nesl_prim::{Failure, ScalarType};
use std::ops::Range;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

/// Whether each thread should have columns of its own to write to.
pub(super) fn is_worth_it(threads: &Threads, group: &Group, operands: &[LocalSlot], length: usize) -> bool {
    let plan = &group.plan;
    let targets = group.facts.endings.iter().zip(&plan.yields).filter_map(|(ending, &node)| match ending {
        Ending::Scatter { ordered: true, .. } => Some(plan.nodes[node].operands[0]),
        _ => None,
    });
    let places = targets.map(|target| match target {
        PlanOperand::Input(input) => match &operands[input] {
            Slot::Column(column) => column.len(),
            other => panic!("a scatter into {other:?}"),
        },
        other => unreachable!("a target comes from outside, not from {other:?}"),
    });
    places.sum::<usize>().saturating_mul(threads.threads() * threads.tuning.writes) <= length
}

/// The column of a piece, of which some elements are written, and behind it a byte for each that says which.
pub(super) struct PrivateScatter {
    bytes: memory::Room<u8>,
    /// Bytes of an element.
    size: usize,
    length: usize,
}

impl PrivateScatter {
    /// Memory for so many elements, none of which is written.
    pub fn new(meter: &Meter, ty: ScalarType, length: usize) -> Result<PrivateScatter, Failure> {
        // Memory begins where any element can be.
        let mut bytes = meter.room(length.saturating_mul(ty.size() + 1))?;
        bytes.spare()[length * ty.size()..][..length].iter_mut().for_each(|mark| {
            mark.write(0);
        });
        Ok(PrivateScatter { bytes, size: ty.size(), length })
    }

    /// Where the first element goes.
    pub fn pointer(&mut self) -> *mut u8 {
        self.bytes.spare().as_mut_ptr().cast()
    }
}

/// Writes to a room what has been written to columns, to the first one first.
pub(super) fn join(threads: &Threads, mut columns: Vec<PrivateScatter>, room: &mut OutputBuffer) {
    let Some(&PrivateScatter { size, length, .. }) = columns.first() else { return };
    assert_eq!(room.length(), length, "columns as long as what they are parts of");
    let to = AtomicPtr::new(room.pointer());
    let from: Vec<AtomicPtr<u8>> = columns.iter_mut().map(|column| AtomicPtr::new(column.pointer())).collect();
    let ranges = split(length, threads.workers.pieces(length, GRAIN));
    threads.workers.each(ranges, |_, range| {
        for from in &from {
            let (from, to) = (from.load(Relaxed), to.load(Relaxed));
            // SAFETY: there are `length` elements of this size both here and there, and as many marks behind those
            // here, all of which have been written; no other task writes to elements in the range.
            unsafe {
                let marks = from.add(length * size);
                match size {
                    1 => copy_marked(from, marks, to, range.clone()),
                    8 => copy_marked(from.cast::<u64>(), marks, to.cast(), range.clone()),
                    other => unreachable!("elements of {other} bytes"),
                }
            }
        }
    });
}

/// Copies the elements that are marked.
///
/// # Safety
/// There are elements and marks at these indices both here and there; marked elements have been written, and nobody
/// else writes them.
unsafe fn copy_marked<T: Copy>(from: *const T, marks: *const u8, to: *mut T, indices: Range<usize>) {
    for index in indices {
        // SAFETY: the caller's.
        unsafe {
            if *marks.add(index) != 0 {
                *to.add(index) = *from.add(index);
            }
        }
    }
}

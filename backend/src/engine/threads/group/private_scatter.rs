//! Changing elements at indices on several threads, where several of the indices may be the same: the last one wins, or
//! all are combined.
//!
//! Each piece writes to a column of its own, and marks what it has written; or it combines into a column that begins as
//! the identity, which only an operation can do whose parts may be combined in any order. Then pieces are put together
//! in their order. That is for columns that are small beside what is written to them, as tables are in which many
//! elements look for their place, and histograms.

#![allow(unsafe_code, reason = "columns of which machine code writes some elements; every block says why it is sound")]

use super::{LocalSlot, OutputBuffer};
use crate::data::buffer::Meter;
use crate::data::memory;
use crate::engine::group::Group;
use crate::engine::threads::Threads;
use crate::engine::threads::tuning::GRAIN;
use crate::engine::threads::workers::split;
use nesl_native::Ending;
use nesl_prim::{Element, Failure, MonoidVisitor, ScalarOp, ScalarType, ScalarValue};
use std::ops::Range;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

/// Whether each thread should have columns of its own to write to.
pub(super) fn is_worth_it(threads: &Threads, group: &Group, operands: &[LocalSlot], length: usize) -> bool {
    let (plan, endings) = (&group.plan, &group.facts.endings);
    if endings.iter().any(|ending| matches!(ending, Ending::Combine { op, .. } if !op.row().associative)) {
        return false;
    }
    let updates = endings.iter().zip(&plan.yields).filter(|(ending, _)| ending.is_ordered_update());
    let targets = updates.map(|(_, &node)| plan.nodes[node].operands[0]);
    let places = targets.map(|target| operands[target.outside()].as_column().len());
    places.sum::<usize>().saturating_mul(threads.threads() * threads.tuning.writes) <= length
}

/// The column of a piece: what it has combined, or some elements that it has written, and behind them a byte for each
/// that says which.
pub(super) struct PrivateScatter {
    bytes: memory::Room<u8>,
    /// Bytes of an element.
    size: usize,
    length: usize,
    /// By which operation elements are combined, if they are.
    op: Option<ScalarOp>,
}

impl PrivateScatter {
    /// Memory for so many elements, none of which is written.
    pub fn new(meter: &Meter, ty: ScalarType, length: usize) -> Result<PrivateScatter, Failure> {
        // Memory begins where any element can be.
        let mut bytes = meter.room(length.saturating_mul(ty.size() + 1))?;
        bytes.spare()[length * ty.size()..][..length].iter_mut().for_each(|mark| {
            mark.write(0);
        });
        Ok(PrivateScatter { bytes, size: ty.size(), length, op: None })
    }

    /// Memory for so many elements, which are the identity of an operation.
    pub fn of_identity(meter: &Meter, op: ScalarOp, length: usize) -> Result<PrivateScatter, Failure> {
        let size = op.row().result.size();
        let mut bytes = meter.room(length.saturating_mul(size))?;
        let identity = op.row().identity.map_or(0, ScalarValue::to_word).to_ne_bytes();
        let identity = if cfg!(target_endian = "big") { &identity[8 - size..] } else { &identity[..size] };
        for element in bytes.spare().chunks_exact_mut(size) {
            element.iter_mut().zip(identity).for_each(|(byte, &value)| {
                byte.write(value);
            });
        }
        Ok(PrivateScatter { bytes, size, length, op: Some(op) })
    }

    /// Where the first element goes.
    pub fn pointer(&mut self) -> *mut u8 {
        self.bytes.spare().as_mut_ptr().cast()
    }
}

/// Writes to a room what has been written to columns, to the first one first.
pub(super) fn join(threads: &Threads, mut columns: Vec<PrivateScatter>, room: &mut OutputBuffer) {
    let Some(&PrivateScatter { size, length, op, .. }) = columns.first() else { return };
    assert_eq!(room.length(), length, "columns as long as what they are parts of");
    let to = AtomicPtr::new(room.pointer());
    let from: Vec<AtomicPtr<u8>> = columns.iter_mut().map(|column| AtomicPtr::new(column.pointer())).collect();
    let ranges = split(length, threads.workers.pieces(length, GRAIN));
    threads.workers.each(ranges, &|_, range| {
        for from in &from {
            let (from, to) = (from.load(Relaxed), to.load(Relaxed));
            if let Some(op) = op {
                op.visit_monoid(Joined { from, to, indices: range.clone() });
                continue;
            }
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

/// Elements that are combined into others at the same indices, both of which are there, and written, and of which
/// nobody else has those.
struct Joined {
    from: *const u8,
    to: *mut u8,
    indices: Range<usize>,
}

impl MonoidVisitor for Joined {
    type Output = ();

    fn exact<T: Element>(self, _: T, combine: impl Fn(T, T) -> T + Copy + Send + Sync) {
        let (from, to) = (self.from.cast::<T>(), self.to.cast::<T>());
        for index in self.indices {
            // SAFETY: whoever made this says so.
            unsafe { *to.add(index) = combine(*to.add(index), *from.add(index)) };
        }
    }

    fn ordered(self, _: f64, _: impl Fn(f64, f64) -> f64 + Copy + Send + Sync) {
        unreachable!("an operation whose parts are combined in order")
    }
}

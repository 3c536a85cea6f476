//! Kernels against the reference engine.

use super::length::length;
use super::{GaveUp, LocalSlot, compute};
use crate::data::slot::Slot;
use crate::engine::group::{Group, interpret};
use crate::engine::reference::Reference;
use crate::engine::threads::Threads;

/// Runs a group both ways, as it is and as it is with what is known of its operands.
///
/// # Panics
/// If the results differ.
pub fn run(threads: &Threads, group: &Group, operands: &mut [LocalSlot]) -> Option<Vec<LocalSlot>> {
    let known = group.known(operands);
    let length = length(threads, known, operands).ok()?;
    let expected = interpret(&mut Reference::new(None), &group.plan, operands);
    // What is overwritten could not be shown; what is nobody else's is tried too.
    let mut copies: Vec<LocalSlot> = operands.iter().map(owned).collect();
    let shown = |found: Result<Vec<LocalSlot>, GaveUp>| {
        format!("{:?}\nof {operands:?}\nexpected {expected:?}\nfound {found:?}", known.plan)
    };
    for (in_place, operands) in [(false, &mut operands.to_vec()[..]), (true, &mut copies[..])] {
        match (&expected, compute(threads, known, operands, length, in_place)?) {
            (Ok(expected), Ok(found)) if are_same(expected, &found) => {
                if in_place {
                    return Some(found);
                }
            }
            (Err(_), Err(_)) => return None,
            // It gave up, or did not fail, or gives something else.
            (_, found) => panic!("a kernel differs: {}", shown(found)),
        }
    }
    None
}

/// The same, seen by nobody else.
fn owned(operand: &LocalSlot) -> LocalSlot {
    match operand {
        Slot::Column(column) => {
            let meter = crate::data::buffer::Meter::new(None);
            let copy = crate::data::vector::Vector::from_constants(&meter, &column.to_constants());
            copy.map_or_else(|_| operand.clone(), Slot::Column)
        }
        other => other.clone(),
    }
}

fn are_same(expected: &[LocalSlot], found: &[LocalSlot]) -> bool {
    expected.len() == found.len() && expected.iter().zip(found).all(|(expected, found)| is_same(expected, found))
}

fn is_same(expected: &LocalSlot, found: &LocalSlot) -> bool {
    match (expected, found) {
        (Slot::Scalar(expected), Slot::Scalar(found)) => expected == found,
        (Slot::Column(expected), Slot::Column(found)) => {
            expected.scalar_type() == found.scalar_type()
                && expected.len() == found.len()
                && (0..expected.len()).all(|index| expected.get(index) == found.get(index))
        }
        _ => false,
    }
}

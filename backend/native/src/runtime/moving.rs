//! Making columns and moving elements.
//!
//! ```text
//! permute      for i: if taken[indices[i]] { give up }; taken[indices[i]] = true; out[indices[i]] = values[i]
//! merge        for i: out[i] = flags[i] ? next of a : next of b
//! interleave   for row: for column: push column[row]
//! ```

use super::{Frame, Helper, by_size};
use crate::state::{DONE, GAVE_UP, State};
use nesl_prim::{Element, ScalarType};
use std::mem::MaybeUninit;

/// Takes scratch memory into use that native code needs: so many bytes from an address on.
///
/// # Safety
/// Native code passes its state.
pub(crate) unsafe extern "C" fn take(state: *mut State<'_>, address: usize, bytes: usize) -> u64 {
    // SAFETY: nobody else uses the state while native code waits.
    let state = unsafe { &mut *state };
    if address.checked_add(bytes).is_some_and(|end| state.take_into_use(end)) { DONE } else { GAVE_UP }
}

pub(super) fn permute_of(ty: ScalarType) -> Helper {
    fn permute<T: Element>(frame: &mut Frame<'_>) -> Option<()> {
        let (values, indices) = (frame.column::<T>(), frame.column::<i64>());
        let top = frame.state.top();
        let room = frame.room::<T>(values.len())?;
        let taken = frame.room::<bool>(values.len())?;
        taken.fill(MaybeUninit::new(false));
        for (&value, &index) in values.iter().zip(indices) {
            // SAFETY: all flags have been written.
            if unsafe { taken[index as usize].assume_init() } {
                return None;
            }
            taken[index as usize].write(true);
            room[index as usize].write(value);
        }
        // SAFETY: as many different indices as elements: all have been written.
        let column = unsafe { room.assume_init_ref() };
        frame.state.release_to(top + size_of_val(column));
        frame.give(column);
        Some(())
    }
    by_size!(ty, permute)
}

pub(super) fn merge_of(ty: ScalarType) -> Helper {
    fn merge<T: Element>(frame: &mut Frame<'_>) -> Option<()> {
        let (flags, a, b) = (frame.column::<u8>(), frame.column::<T>(), frame.column::<T>());
        let (mut a, mut b) = (a.iter(), b.iter());
        let next = |&flag: &u8| if flag != 0 { a.next() } else { b.next() }.copied().unwrap_or_default();
        frame.give_items(flags.len(), flags.iter().map(next))
    }
    by_size!(ty, merge)
}

/// The first word is the number of columns.
fn columns<'s, T: Element>(frame: &mut Frame<'s>) -> Vec<&'s [T]> {
    let count = frame.size();
    (0..count).map(|_| frame.column::<T>()).collect()
}

pub(super) fn interleave_of(ty: ScalarType) -> Helper {
    fn interleave<T: Element>(frame: &mut Frame<'_>) -> Option<()> {
        let columns = columns::<T>(frame);
        let rows = columns.first().map_or(0, |column| column.len());
        let items = (0..rows).flat_map(|row| columns.iter().map(move |column| column[row]));
        frame.give_items(rows * columns.len(), items)
    }
    by_size!(ty, interleave)
}

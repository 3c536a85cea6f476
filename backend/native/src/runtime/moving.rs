//! Making columns and moving elements.

use super::{Frame, Helper, by_size};
use nesl_prim::{Element, ScalarType};
use std::mem::MaybeUninit;

pub(super) fn iota(frame: &mut Frame<'_>) -> Option<()> {
    let length = frame.size();
    frame.give_items(length, 0..length as i64)
}

pub(super) fn dist_of(ty: ScalarType) -> Helper {
    fn dist<T: Element>(frame: &mut Frame<'_>) -> Option<()> {
        let (value, length) = (frame.scalar::<T>(), frame.size());
        frame.give_items(length, std::iter::repeat_n(value, length))
    }
    by_size!(ty, dist)
}

pub(super) fn gather_of(ty: ScalarType) -> Helper {
    fn gather<T: Element>(frame: &mut Frame<'_>) -> Option<()> {
        let (column, indices) = (frame.column::<T>(), frame.column::<i64>());
        frame.give_items(indices.len(), indices.iter().map(|&index| column[index as usize]))
    }
    by_size!(ty, gather)
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

pub(super) fn pack_of(ty: ScalarType) -> Helper {
    fn pack<T: Element>(frame: &mut Frame<'_>) -> Option<()> {
        let (column, flags) = (frame.column::<T>(), frame.column::<u8>());
        let top = frame.state.top();
        // One more, since each element is written where the next one that is kept will be.
        let room = frame.room::<T>(column.len() + 1)?;
        let mut count = 0;
        for (&element, &flag) in column.iter().zip(flags) {
            room[count].write(element);
            count += usize::from(flag);
        }
        // SAFETY: so many have been written.
        let kept = unsafe { room[..count].assume_init_ref() };
        frame.state.release_to(top + size_of_val(kept));
        frame.give(kept);
        Some(())
    }
    by_size!(ty, pack)
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

pub(super) fn concat_of(ty: ScalarType) -> Helper {
    fn concat<T: Element>(frame: &mut Frame<'_>) -> Option<()> {
        let columns = columns::<T>(frame);
        let length = columns.iter().map(|column| column.len()).sum();
        let mut rest = frame.room::<T>(length)?;
        let start = rest.as_ptr().expose_provenance();
        for column in columns {
            let (room, behind) = rest.split_at_mut(column.len());
            room.write_copy_of_slice(column);
            rest = behind;
        }
        frame.give_word(start as u64);
        frame.give_word(length as u64);
        Some(())
    }
    by_size!(ty, concat)
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

//! Segments: descriptors, and elements by segment.
//!
//! ```text
//! total        sum of lengths, if any memory has so many elements
//! compact      for s: push column[starts[s] .. starts[s] + lengths[s]]    // nothing moves where they lie so already
//! append       for s: push the segment s of a, then that of b
//! ```

use super::{Frame, Helper, by_size};
use nesl_prim::{Element, ScalarType};

pub(super) fn total(frame: &mut Frame<'_>) -> Option<()> {
    let total = frame.segments().total()?;
    frame.give_word(total as u64);
    Some(())
}

/// Copies parts of columns one after another; the number of elements has been counted before.
fn copy<'s, T: Element>(frame: &mut Frame<'_>, length: usize, parts: impl Iterator<Item = &'s [T]>) -> Option<()> {
    let mut rest = frame.room::<T>(length)?;
    let start = rest.as_ptr().expose_provenance();
    for part in parts {
        let (room, behind) = rest.split_at_mut(part.len());
        room.write_copy_of_slice(part);
        rest = behind;
    }
    assert!(rest.is_empty(), "a column is filled");
    frame.give_word(start as u64);
    frame.give_word(length as u64);
    Some(())
}

pub(super) fn compact_of(ty: ScalarType) -> Helper {
    fn compact<T: Element>(frame: &mut Frame<'_>) -> Option<()> {
        let (column, segments) = (frame.column::<T>(), frame.segments());
        let mut end = 0usize;
        let is_packed = segments.iter().all(|(start, length)| {
            let follows = start == end;
            end = end.wrapping_add(length);
            follows
        });
        if is_packed {
            frame.give(&column[..end]);
            return Some(());
        }
        copy(frame, segments.total()?, segments.iter().map(|(start, length)| &column[start..start + length]))
    }
    by_size!(ty, compact)
}

pub(super) fn append_of(ty: ScalarType) -> Helper {
    fn append<T: Element>(frame: &mut Frame<'_>) -> Option<()> {
        let (first, a) = (frame.segments(), frame.column::<T>());
        let (second, b) = (frame.segments(), frame.column::<T>());
        let parts = first
            .iter()
            .zip(second.iter())
            .flat_map(|((start, length), (other, count))| [&a[start..start + length], &b[other..other + count]]);
        copy(frame, first.total()?.checked_add(second.total()?)?, parts)
    }
    by_size!(ty, append)
}

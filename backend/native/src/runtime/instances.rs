//! Sequences within the sequences that instances give: the segments of all of them become those of one column.
//!
//! ```text
//! join_within     for i: for each segment of instance i { push addresses[i][start .. start + length] }
//! counts_within   for i: push the sum of the lengths of the segments of instance i
//! packed_starts   for s: push the sum of the lengths before s
//! ```

use super::{Frame, Helper, by_size, helper};
use nesl_prim::{Element, ScalarType, meaning};

/// Where the elements of each segment are, and how many: `addresses` says for each instance where what it gives begins,
/// `counts` how many segments it gives.
fn parts<'s, T>(
    addresses: &'s [i64],
    counts: &'s [i64],
    segments: super::Segments<'s>,
) -> impl Iterator<Item = (usize, usize)> + Clone + 's {
    let owners = addresses.iter().zip(counts).flat_map(|(&address, &count)| (0..count).map(move |_| address as usize));
    let part = |(address, (start, length)): (usize, (usize, usize))| (address + start * size_of::<T>(), length);
    owners.zip(segments.iter()).map(part).filter(|&(_, length)| length > 0)
}

/// The helper that puts the elements of the segments of all instances together: nothing moves where they lie one after
/// another.
pub(crate) fn join_within(ty: ScalarType) -> Helper {
    fn join_within<T: Element>(frame: &mut Frame<'_>) -> Option<()> {
        let (addresses, counts) = (frame.column::<i64>(), frame.column::<i64>());
        let segments = frame.segments();
        let (parts, total) = (parts::<T>(addresses, counts, segments), segments.total()?);
        // SAFETY: each part is one of a column whose elements have this size, in memory that stays.
        let elements = |(address, length): (usize, usize)| unsafe {
            std::slice::from_raw_parts(std::ptr::with_exposed_provenance::<T>(address), length)
        };
        let first = parts.clone().next().map_or(0, |(address, _)| address);
        let mut end = first;
        let are_together = parts.clone().all(|(address, length)| {
            let follows = address == end;
            end = address + length * size_of::<T>();
            follows
        });
        if are_together && total > 0 {
            frame.give(elements((first, total)));
            return Some(());
        }
        let mut rest = frame.room::<T>(total)?;
        frame.give_word(rest.as_ptr().expose_provenance() as u64);
        frame.give_word(total as u64);
        for part in parts {
            let (room, behind) = rest.split_at_mut(part.1);
            room.write_copy_of_slice(elements(part));
            rest = behind;
        }
        assert!(rest.is_empty(), "a column is filled");
        Some(())
    }
    by_size!(ty, join_within)
}

/// The helper that says for each instance how many elements all its segments have.
pub(crate) fn counts_within() -> Helper {
    helper(|frame: &mut Frame<'_>| {
        let (counts, lengths) = (frame.column::<i64>(), frame.column::<i64>());
        let mut rest = lengths;
        let sums = counts.iter().map(|&count| {
            let (own, others) = rest.split_at(count as usize);
            rest = others;
            own.iter().fold(0, |sum, &length| meaning::add_lengths(sum, length))
        });
        frame.give_items(counts.len(), sums)
    })
}

/// The helper that says where segments of these lengths start that lie one after another.
pub(crate) fn packed_starts() -> Helper {
    helper(|frame: &mut Frame<'_>| {
        let lengths = frame.column::<i64>();
        let mut end = 0;
        let starts = lengths.iter().map(|&length| {
            let start = end;
            end = meaning::add_lengths(end, length);
            start
        });
        frame.give_items(lengths.len(), starts)
    })
}

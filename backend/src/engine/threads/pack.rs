//! Putting columns together and taking them apart: `pack`, `merge`, `concat`, `interleave`.

use super::Threads;
use super::column::{slice_of, wrap};
use super::output::{Output, Writer};
use super::tuning::GRAIN;
use super::workers::split;
use crate::data::vector::{Slice, Vector};
use crate::engine::{Fault, Pack};
use crate::on_vector;
use nesl_native::wide;
use nesl_prim::{Element, Failure};
use std::ops::Range;

/// Elements kept, or columns put together.
pub fn run(threads: &Threads, pack: Pack<'_, Vector>) -> Result<Vector, Fault> {
    pack.check();
    match pack {
        Pack::Pack(column, flags) => self::pack(threads, column, flags),
        Pack::Merge(flags, when_true, when_false) => merge(threads, flags, when_true, when_false),
        Pack::Concat(columns) => concat(threads, columns),
        Pack::Interleave(columns) => interleave(threads, columns),
    }
}

/// The number of true flags.
fn count(flags: &[bool]) -> usize {
    wide(|| {
        // Bytes are added as bytes for as long as they cannot overflow.
        let block = |flags: &[bool]| flags.iter().fold(0u8, |count, &flag| count + u8::from(flag));
        flags.chunks(255).map(|flags| usize::from(block(flags))).sum()
    })
}

/// Ranges of flags, and how many are true in each.
fn counted(threads: &Threads, flags: &[bool]) -> Result<Vec<(Range<usize>, usize)>, Fault> {
    let ranges = split(flags.len(), threads.workers.pieces(flags.len(), GRAIN));
    threads.workers.try_each(ranges, &|range| Ok((range.clone(), count(&flags[range]))))
}

/// The elements whose flag is true: counted first, so that each piece knows where it writes.
fn pack(threads: &Threads, column: &Vector, flags: &Vector) -> Result<Vector, Fault> {
    fn of<T: Element>(threads: &Threads, elements: &[T], flags: &[bool]) -> Result<Vector, Fault> {
        let pieces = counted(threads, flags)?;
        let mut output = Output::reserve(&threads.meter, pieces.iter().map(|piece| piece.1).sum())?;
        let writers = output.writers(pieces.iter().map(|piece| piece.1));
        let items = pieces.into_iter().zip(writers).collect();
        threads.workers.try_each(items, &|((range, _), mut writer): (_, Writer<'_, T>)| {
            let range: Range<usize> = range;
            writer.pack(&elements[range.clone()], &flags[range]);
            Ok(())
        })?;
        Ok(wrap(output.finish(&threads.meter)))
    }
    on_vector!(column, slice => of(threads, slice.elements(), flags.elements()))
}

/// Where a flag is true the next of one column, else the next of the other.
fn merge(threads: &Threads, flags: &Vector, when_true: &Vector, when_false: &Vector) -> Result<Vector, Fault> {
    fn of<T: Element>(threads: &Threads, flags: &[bool], sides: (&Slice<T>, &Slice<T>)) -> Result<Vector, Fault> {
        let (when_true, when_false) = (sides.0.elements(), sides.1.elements());
        let pieces = counted(threads, flags)?;
        let trues: usize = pieces.iter().map(|piece| piece.1).sum();
        let lengths = (when_true.len(), when_false.len());
        assert_eq!((trues, flags.len() - trues), lengths, "a merge of as many elements as flags");
        if when_true.is_empty() || when_false.is_empty() {
            // One side is all there is.
            return Ok(wrap(if when_true.is_empty() { sides.1.clone() } else { sides.0.clone() }));
        }
        let mut output = Output::reserve(&threads.meter, flags.len())?;
        let writers = output.writers(pieces.iter().map(|piece| piece.0.len()));
        let mut before = 0;
        let items = pieces
            .into_iter()
            .zip(writers)
            .map(|((range, trues), writer)| {
                let next = (before, range.start - before);
                before += trues;
                (range, next, writer)
            })
            .collect();
        let last = (when_true.len() - 1, when_false.len() - 1);
        threads.workers.try_each(items, &|(range, mut next, mut writer): (Range<usize>, _, Writer<'_, T>)| {
            writer.map(&flags[range], |flag| {
                // Both are read, and one is chosen, without a branch that random flags would mispredict. The side that
                // is not chosen may be at its end.
                let (a, b) = (when_true[next.0.min(last.0)], when_false[next.1.min(last.1)]);
                next = (next.0 + usize::from(flag), next.1 + usize::from(!flag));
                if flag { a } else { b }
            });
            Ok(())
        })?;
        Ok(wrap(output.finish(&threads.meter)))
    }
    on_vector!(when_true, slice => of(threads, flags.elements(), (slice, slice_of(when_false))))
}

/// So few elements are copied rather than room kept for more.
const FEWEST_THAT_GROW: usize = 32;

/// What is appended is little where it is at most this part of the whole.
const LITTLE: usize = 4;

/// A column between others in its own buffer, if there is room for them.
fn beside<T: Element>(column: &Slice<T>, before: &[&[T]], behind: &[&[T]]) -> Option<Slice<T>> {
    match (before, behind) {
        (_, []) => column.prepended(before),
        ([], _) => column.appended(behind),
        _ => column.prepended(before)?.appended(behind),
    }
}

/// The columns one after another. Nothing is copied where they lie so, or where all but one are a few elements and that
/// has room for them beside it. What was made by appending has room behind it for more: programs that append one by one
/// copy a few times what they end with. What is appended to once has little.
fn concat(threads: &Threads, columns: &[Vector]) -> Result<Vector, Fault> {
    fn of<T: Element>(threads: &Threads, columns: &[Vector], _: &Slice<T>) -> Result<Vector, Fault> {
        if let Some(whole) = Slice::joined(columns.iter().map(slice_of::<T>)) {
            return Ok(wrap(whole));
        }
        let slices: Vec<&Slice<T>> = columns.iter().map(slice_of).collect();
        let columns: Vec<&[T]> = slices.iter().map(|slice| slice.elements()).collect();
        let length = sum_of_lengths(columns.iter().map(|column| column.len()))?;
        let is_most = |part: &&[T]| length >= FEWEST_THAT_GROW && length - part.len() <= length / LITTLE;
        if let Some(most) = columns.iter().position(is_most)
            && let Some(whole) = beside(slices[most], &columns[..most], &columns[most + 1..])
        {
            return Ok(wrap(whole));
        }
        let (first, is_little) = (slices[0], is_most(&columns[0]));
        let mut more = if is_little && first.grows() { length / 2 } else { 0 };
        let mut output = Output::reserve_more(&threads.meter, length, more);
        // Where the memory does not allow to keep as much room, it is less: without any, each that is appended would
        // copy all of them.
        while output.is_err() && more > 0 {
            more /= 4;
            output = Output::reserve_more(&threads.meter, length, more);
        }
        let mut output = output?;
        if threads.workers.pieces(length, GRAIN) == 1 {
            let mut writer = output.writer();
            columns.into_iter().for_each(|column| writer.copy(column));
        } else {
            let pieces: Vec<&[T]> = columns
                .into_iter()
                .flat_map(|column| {
                    let ranges = split(column.len(), threads.workers.pieces(column.len(), GRAIN));
                    ranges.into_iter().map(|range| &column[range])
                })
                .collect();
            let writers = output.writers(pieces.iter().map(|piece| piece.len()));
            let items = pieces.into_iter().zip(writers).collect();
            threads.workers.try_each(items, &|(piece, mut writer): (&[T], Writer<'_, T>)| {
                writer.copy(piece);
                Ok(())
            })?;
        }
        let whole = output.finish(&threads.meter);
        Ok(wrap(if is_little { whole.growing() } else { whole }))
    }
    on_vector!(&columns[0], slice => of(threads, columns, slice))
}

/// Element 0 of each column, element 1 of each, ….
fn interleave(threads: &Threads, columns: &[Vector]) -> Result<Vector, Fault> {
    fn of<T: Element>(threads: &Threads, columns: &[Vector], first: &Slice<T>) -> Result<Vector, Fault> {
        let columns: Vec<&[T]> = columns.iter().map(|column| slice_of(column).elements()).collect();
        let rows = first.elements().len();
        let length = rows.checked_mul(columns.len()).ok_or(TOO_LONG)?;
        let mut output = Output::reserve(&threads.meter, length)?;
        let ranges = split(rows, threads.workers.pieces(length, GRAIN));
        let writers = output.writers(ranges.iter().map(|range| range.len() * columns.len()));
        let items = ranges.into_iter().zip(writers).collect();
        threads.workers.try_each(items, &|(range, mut writer): (Range<usize>, Writer<'_, T>)| {
            match columns[..] {
                [left, right] => {
                    for (&left, &right) in left[range.clone()].iter().zip(&right[range]) {
                        writer.copy(&[left, right]);
                    }
                }
                _ => range.for_each(|row| columns.iter().for_each(|column| writer.push(column[row]))),
            }
            Ok(())
        })?;
        Ok(wrap(output.finish(&threads.meter)))
    }
    on_vector!(&columns[0], slice => of(threads, columns, slice))
}

/// More elements than any memory holds.
pub const TOO_LONG: Failure = Failure::OutOfMemory { bytes: u64::MAX };

/// The sum of lengths, as a number of elements to reserve.
fn sum_of_lengths(mut lengths: impl Iterator<Item = usize>) -> Result<usize, Failure> {
    lengths.try_fold(0usize, |sum, length| sum.checked_add(length)).ok_or(TOO_LONG)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_appended_one_by_one_is_copied_a_few_times_in_all() {
        let threads = Threads::new(2, None).expect("the system starts threads");
        let one = |element: i64| Vector::new(&threads.meter, vec![element]);
        let mut all = one(0);
        let mut before = Vec::new();
        for element in 1..10_000 {
            if element % 1000 == 0 {
                before.push(all.clone());
            }
            all = concat(&threads, &[all, one(element)]).expect("there is memory");
        }
        assert!(all.elements::<i64>().iter().copied().eq(0..10_000));
        assert!(threads.meter.elements() < 100_000, "{}", threads.meter.elements());
        // Two who append to the same elements do not see one another, nor do those who have had them before.
        for (index, before) in before.iter().enumerate() {
            let length = 1000 * (index as i64 + 1);
            assert!(before.elements::<i64>().iter().copied().eq(0..length));
            let other = concat(&threads, &[before.clone(), one(-1)]).expect("there is memory");
            assert!(other.elements::<i64>().iter().copied().eq((0..length).chain([-1])));
        }
        let twice = [1, 2].map(|last| concat(&threads, &[all.clone(), one(last)]).expect("there is memory"));
        assert_eq!(twice.map(|column| column.elements::<i64>()[9_999..].to_vec()), [[9_999, 1], [9_999, 2]]);
        assert!(all.elements::<i64>().iter().copied().eq(0..10_000));
        // The middle of it, without what was behind.
        let part = concat(&threads, &[all.slice(0, 5_000), one(7)]).expect("there is memory");
        assert!(part.elements::<i64>().iter().copied().eq((0..5_000).chain([7])));
        drop((all, before, part));
        assert_eq!(threads.meter.resident(), 0);
    }

    #[test]
    fn what_is_taken_off_the_end_again_leaves_its_room() {
        let threads = Threads::new(2, None).expect("the system starts threads");
        let one = |element: i64| Vector::new(&threads.meter, vec![element]);
        let mut stack = Vector::new(&threads.meter, (0..1000).collect::<Vec<i64>>());
        for element in 0..10_000 {
            stack = concat(&threads, &[stack, one(element)]).expect("there is memory");
            stack = stack.slice(0, 1000);
            stack = concat(&threads, &[stack, one(-element)]).expect("there is memory");
            assert_eq!(stack.elements::<i64>()[1000], -element);
            stack = stack.slice(0, 1000);
        }
        assert!(stack.elements::<i64>().iter().copied().eq(0..1000));
        assert!(threads.meter.elements() < 60_000, "{}", threads.meter.elements());
        // What somebody still has stays.
        let (first, rest) = (concat(&threads, &[stack, one(1)]).expect("there is memory"), 1000);
        let again = concat(&threads, &[first.slice(0, rest), one(2)]).expect("there is memory");
        assert_eq!([&first, &again].map(|column| column.elements::<i64>()[rest]), [1, 2]);
        drop((first, again));
        assert_eq!(threads.meter.resident(), 0);
    }

    #[test]
    fn what_lies_one_after_another_is_put_together_where_it_lies() {
        let threads = Threads::new(2, None).expect("the system starts threads");
        let column = Vector::new(&threads.meter, (0..10).collect::<Vec<i64>>());
        let part = |start, length| column.slice(start, length);
        let all =
            concat(&threads, &[part(9, 0), part(2, 3), part(5, 1), part(0, 0), part(6, 4)]).expect("there is memory");
        assert_eq!(all.elements::<i64>().as_ptr(), part(2, 8).elements::<i64>().as_ptr());
        assert_eq!(all.elements::<i64>(), part(2, 8).elements::<i64>());
        let other = Vector::new(&threads.meter, vec![3i64, 4]);
        for (parts, expected) in [
            (vec![part(2, 1), part(4, 1)], vec![2i64, 4]),
            (vec![part(3, 2), part(2, 1)], vec![3, 4, 2]),
            (vec![part(2, 1), other], vec![2, 3, 4]),
            (vec![part(5, 0), part(1, 0)], vec![]),
        ] {
            assert_eq!(concat(&threads, &parts).expect("there is memory").elements::<i64>(), expected);
        }
    }
}

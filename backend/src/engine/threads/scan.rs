//! Exclusive scans of whole columns and of each segment.
//!
//! On several threads: reduce every piece, scan the results of the pieces, then scan every piece from what is before
//! it. Float addition and multiplication follow [`nesl_prim::sum`] to the bit: what is before a block is the running
//! total of the blocks before it, whose own totals are independent of each other.

use super::Threads;
use super::column::{slice_in, slice_of, wrap};
use super::look_back::LookBack;
use super::output::{Output, Writer};
use super::reduce::fold;
use super::segment::{Run, runs};
use super::tuning::{GRAIN, SCANNED_IN_TURN, WRITTEN_IN_CACHE};
use super::workers::{parts, split, split_aligned};
use crate::data::descriptor::Descriptor;
use crate::data::vector::Vector;
use crate::engine::Fault;
use nesl_prim::{Element, MonoidVisitor, ScalarOp, sum};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Element k combines the elements before k: of the whole column, or of the segment that it is in.
pub fn run(threads: &Threads, op: ScalarOp, column: &Vector, descriptor: Option<&Descriptor>) -> Result<Vector, Fault> {
    match descriptor {
        None => whole(threads, op, column),
        Some(descriptor) => by_segment(threads, op, column, descriptor),
    }
}

/// Element k combines the elements before k; element 0 is the identity.
fn whole(threads: &Threads, op: ScalarOp, column: &Vector) -> Result<Vector, Fault> {
    op.visit_monoid(Scan { threads, column })
}

/// The same, written over a column that nobody else sees.
pub fn over(threads: &Threads, op: ScalarOp, column: Vector) -> Result<Vector, Fault> {
    op.visit_monoid(Over { threads, column })
}

/// The scan of each segment, in packed order.
fn by_segment(threads: &Threads, op: ScalarOp, column: &Vector, descriptor: &Descriptor) -> Result<Vector, Fault> {
    op.visit_monoid(SegScan { threads, column, descriptor })
}

struct Scan<'a> {
    threads: &'a Threads,
    column: &'a Vector,
}

impl Scan<'_> {
    fn all<T: Element>(&self, scan: impl Fn(&[T], Writer<'_, T>) -> Result<(), Fault>) -> Result<Vector, Fault> {
        let elements = slice_of(self.column).elements();
        let mut output = Output::reserve(&self.threads.meter, elements.len())?;
        scan(elements, output.writer())?;
        Ok(wrap(output.finish(&self.threads.meter)))
    }
}

impl MonoidVisitor for Scan<'_> {
    type Output = Result<Vector, Fault>;

    fn exact<T: Element>(self, identity: T, combine: impl Fn(T, T) -> T + Copy + Send + Sync) -> Self::Output {
        let scan = |before, elements: &[T], writer: &mut Writer<'_, T>| running(before, combine, elements, writer);
        let operation =
            Exact { identity, scan: &scan, reduce: &|elements| fold(identity, combine, elements), combine: &combine };
        self.all(|elements, writer| exact(self.threads, &operation, elements, writer))
    }

    fn ordered(self, identity: f64, combine: impl Fn(f64, f64) -> f64 + Copy + Send + Sync) -> Self::Output {
        self.all(|elements, writer| ordered(self.threads, identity, combine, elements, writer))
    }
}

/// Scans elements from what is before them; what is before those that follow.
type ScanFrom<'a, T> = dyn Fn(T, &[T], &mut Writer<'_, T>) -> T + Sync + 'a;

/// How one thread scans and reduces elements by an exact operation. Called through pointers, so that the division of
/// the work is not compiled again for each operation.
struct Exact<'a, T> {
    identity: T,
    /// Scans elements from what is before them.
    scan: &'a ScanFrom<'a, T>,
    reduce: &'a (dyn Fn(&[T]) -> T + Sync),
    combine: &'a (dyn Fn(T, T) -> T + Sync),
}

/// Scans many elements by an exact operation.
fn exact<T: Element>(
    threads: &Threads,
    operation: &Exact<'_, T>,
    elements: &[T],
    mut writer: Writer<'_, T>,
) -> Result<(), Fault> {
    let (identity, scan, reduce) = (operation.identity, operation.scan, operation.reduce);
    let pieces = threads.workers.pieces(elements.len(), GRAIN);
    let ranges = split(elements.len(), pieces);
    if threads.workers.threads() > 1 && size_of_val(elements) > SCANNED_IN_TURN {
        return in_turn(threads, operation, elements, writer);
    }
    if pieces == 1 || threads.workers.threads() == 1 {
        let mut before = identity;
        for range in ranges {
            threads.workers.interrupt().check()?;
            before = scan(before, &elements[range], &mut writer);
        }
        return Ok(());
    }
    // What the last piece amounts to, nobody needs.
    let all_but_last = ranges[..pieces - 1].to_vec();
    let totals = threads.workers.try_each(all_but_last, &|range| Ok(reduce(&elements[range])))?;
    let before: Vec<T> = (0..pieces).map(|piece| reduce(&totals[..piece])).collect();
    let writers = writer.split(ranges.iter().map(Range::len));
    let items = ranges.into_iter().zip(before).zip(writers).collect();
    threads.workers.try_each(items, &|((range, before), mut writer): ((Range<usize>, T), Writer<'_, T>)| {
        scan(before, &elements[range], &mut writer);
        Ok(())
    })?;
    Ok(())
}

/// The same block by block, of which each stays in a cache between being reduced and scanned, and hands on what is
/// before the next one.
fn in_turn<T: Element>(
    threads: &Threads,
    operation: &Exact<'_, T>,
    elements: &[T],
    mut writer: Writer<'_, T>,
) -> Result<(), Fault> {
    let (scan, reduce) = (operation.scan, operation.reduce);
    let size = WRITTEN_IN_CACHE / size_of::<T>();
    let blocks: Vec<&[T]> = elements.chunks(size).collect();
    let writers = writer.split(blocks.iter().map(|block| block.len()));
    // Each is taken once.
    let writers: Vec<_> = writers.into_iter().map(|writer| Mutex::new(Some(writer))).collect();
    let (turns, before) = (LookBack::new(blocks.len(), 0), Mutex::new(operation.identity));
    let workers = vec![(); threads.workers.threads().min(blocks.len())];
    threads.workers.try_each(workers, &|()| {
        let attending = turns.attend();
        while let Some(number) = turns.take() {
            threads.workers.interrupt().check()?;
            let total = reduce(blocks[number]);
            let hand_on = || {
                let mut before = before.lock().unwrap_or_else(PoisonError::into_inner);
                let after = (operation.combine)(*before, total);
                std::mem::replace(&mut *before, after)
            };
            let writer = writers[number].lock().unwrap_or_else(PoisonError::into_inner).take();
            // Who gave up before says why.
            let (Some(before), Some(mut writer)) = (turns.in_turn(number, hand_on), writer) else { return Ok(()) };
            scan(before, blocks[number], &mut writer);
        }
        attending.leave();
        Ok(())
    })?;
    Ok(())
}

/// Scans elements from what is before them, on this thread; what is before those that follow.
fn running<T: Element>(mut before: T, combine: impl Fn(T, T) -> T, elements: &[T], writer: &mut Writer<'_, T>) -> T {
    writer.map(elements, |element| {
        let here = before;
        before = combine(before, element);
        here
    });
    before
}

/// Scans many floats as [`sum`] defines.
fn ordered(
    threads: &Threads,
    identity: f64,
    combine: impl Fn(f64, f64) -> f64 + Copy + Send + Sync,
    elements: &[f64],
    mut writer: Writer<'_, f64>,
) -> Result<(), Fault> {
    let pieces = threads.workers.pieces(elements.len(), GRAIN);
    let ranges = split_aligned(elements.len(), pieces, sum::BLOCK);
    if pieces == 1 || threads.workers.threads() == 1 {
        let mut before = identity;
        for range in ranges {
            threads.workers.interrupt().check()?;
            before = blocks(before, identity, combine, &elements[range], &mut writer);
        }
        return Ok(());
    }
    let starts = starts(threads, identity, combine, &ranges, elements)?;
    let writers = writer.split(ranges.iter().map(Range::len));
    let items = ranges.into_iter().zip(starts).zip(writers).collect();
    threads.workers.try_each(items, &|((range, before), mut writer): ((Range<usize>, f64), Writer<'_, f64>)| {
        blocks(before, identity, combine, &elements[range], &mut writer);
        Ok(())
    })?;
    Ok(())
}

/// What is before each of the ranges, which are of whole blocks.
fn starts(
    threads: &Threads,
    identity: f64,
    combine: impl Fn(f64, f64) -> f64 + Copy + Send + Sync,
    ranges: &[Range<usize>],
    elements: &[f64],
) -> Result<Vec<f64>, Fault> {
    let totals = threads.workers.try_each(ranges.to_vec(), &|range| {
        let mut totals = Vec::with_capacity(range.len().div_ceil(sum::BLOCK));
        for group in elements[range].chunks(GROUP * sum::BLOCK) {
            totals.extend_from_slice(&totals_of(identity, combine, group)[..group.len().div_ceil(sum::BLOCK)]);
        }
        Ok(totals)
    })?;
    let mut before = identity;
    Ok(totals
        .iter()
        .map(|totals| {
            let here = before;
            before = totals.iter().fold(before, |before, &total| combine(before, total));
            here
        })
        .collect())
}

/// Blocks that are added up side by side: additions that wait for each other leave the adder idle for three of four
/// cycles.
const GROUP: usize = 4;

/// The totals of at most [`GROUP`] blocks, each from left to right.
fn totals_of(identity: f64, combine: impl Fn(f64, f64) -> f64 + Copy, group: &[f64]) -> [f64; GROUP] {
    let mut totals = [identity; GROUP];
    if group.len() == GROUP * sum::BLOCK {
        let blocks: [&[f64]; GROUP] = std::array::from_fn(|block| &group[block * sum::BLOCK..][..sum::BLOCK]);
        for i in 0..sum::BLOCK {
            for (total, block) in totals.iter_mut().zip(blocks) {
                *total = combine(*total, block[i]);
            }
        }
    } else {
        for (total, block) in totals.iter_mut().zip(group.chunks(sum::BLOCK)) {
            *total = block.iter().fold(identity, |total, &element| combine(total, element));
        }
    }
    totals
}

/// Scans blocks of one sequence from what is before them, on this thread; what is before those that follow.
fn blocks(
    mut before: f64,
    identity: f64,
    combine: impl Fn(f64, f64) -> f64 + Copy,
    elements: &[f64],
    writer: &mut Writer<'_, f64>,
) -> f64 {
    for block in elements.chunks(sum::BLOCK) {
        let mut inside = identity;
        writer.map(block, |element| {
            let here = combine(before, inside);
            inside = combine(inside, element);
            here
        });
        before = combine(before, inside);
    }
    before
}

struct Over<'a> {
    threads: &'a Threads,
    column: Vector,
}

impl Over<'_> {
    /// Scans parts of the column, each from what is before it; `start` says what that is, of all parts.
    fn all<T: Element>(
        mut self,
        unit: usize,
        starts: impl FnOnce(&Threads, &[Range<usize>], &[T]) -> Result<Vec<T>, Fault>,
        scan: impl Fn(T, &mut [T]) + Sync,
    ) -> Result<Vector, Fault> {
        let elements = slice_in::<T>(&mut self.column).own();
        let ranges = split_aligned(elements.len(), self.threads.workers.pieces(elements.len(), GRAIN), unit);
        let starts = starts(self.threads, &ranges, elements)?;
        let items = starts.into_iter().zip(parts(elements, &ranges)).collect();
        self.threads.workers.try_each(items, &|(before, part): (T, &mut [T])| {
            scan(before, part);
            Ok(())
        })?;
        Ok(self.column)
    }
}

impl MonoidVisitor for Over<'_> {
    type Output = Result<Vector, Fault>;

    fn exact<T: Element>(self, identity: T, combine: impl Fn(T, T) -> T + Copy + Send + Sync) -> Self::Output {
        let starts = |threads: &Threads, ranges: &[Range<usize>], elements: &[T]| {
            let all_but_last = ranges[..ranges.len() - 1].to_vec();
            let totals =
                threads.workers.try_each(all_but_last, &|range| Ok(fold(identity, combine, &elements[range])))?;
            Ok((0..ranges.len()).map(|piece| fold(identity, combine, &totals[..piece])).collect())
        };
        self.all(sum::BLOCK, starts, |mut before, part| {
            for element in part {
                let here = before;
                before = combine(before, *element);
                *element = here;
            }
        })
    }

    fn ordered(self, identity: f64, combine: impl Fn(f64, f64) -> f64 + Copy + Send + Sync) -> Self::Output {
        let starts = |threads: &Threads, ranges: &[Range<usize>], elements: &[f64]| {
            if ranges.len() == 1 { Ok(vec![identity]) } else { starts(threads, identity, combine, ranges, elements) }
        };
        self.all(sum::BLOCK, starts, |mut before, part| {
            for block in part.chunks_mut(sum::BLOCK) {
                let mut inside = identity;
                for element in block {
                    let here = combine(before, inside);
                    inside = combine(inside, *element);
                    *element = here;
                }
                before = combine(before, inside);
            }
        })
    }
}

struct SegScan<'a> {
    threads: &'a Threads,
    column: &'a Vector,
    descriptor: &'a Descriptor,
}

impl MonoidVisitor for SegScan<'_> {
    type Output = Result<Vector, Fault>;

    fn exact<T: Element>(self, identity: T, combine: impl Fn(T, T) -> T + Copy + Send + Sync) -> Self::Output {
        let data = slice_of::<T>(self.column).elements();
        let each = |run: &Run, writer: &mut Writer<'_, T>| {
            for (start, length) in run.iter(self.descriptor) {
                running(identity, combine, &data[start..start + length], writer);
            }
        };
        let scan = |before, elements: &[T], writer: &mut Writer<'_, T>| running(before, combine, elements, writer);
        let operation =
            Exact { identity, scan: &scan, reduce: &|elements| fold(identity, combine, elements), combine: &combine };
        self.all(&each, &|run, writer| {
            let (start, length) = run.first(self.descriptor);
            exact(self.threads, &operation, &data[start..start + length], writer)
        })
    }

    fn ordered(self, identity: f64, combine: impl Fn(f64, f64) -> f64 + Copy + Send + Sync) -> Self::Output {
        let data = self.column.elements::<f64>();
        let each = |run: &Run, writer: &mut Writer<'_, f64>| {
            for (start, length) in run.iter(self.descriptor) {
                blocks(identity, identity, combine, &data[start..start + length], writer);
            }
        };
        self.all(&each, &|run, writer| {
            let (start, length) = run.first(self.descriptor);
            ordered(self.threads, identity, combine, &data[start..start + length], writer)
        })
    }
}

/// Scans the one segment of a run on all threads.
type ScanHuge<'a, T> = dyn Fn(&Run, Writer<'_, T>) -> Result<(), Fault> + 'a;

impl SegScan<'_> {
    /// Scans runs of segments on one thread each, and huge segments on all.
    fn all<T: Element>(
        &self,
        each: &(dyn Fn(&Run, &mut Writer<'_, T>) + Sync),
        huge: &ScanHuge<'_, T>,
    ) -> Result<Vector, Fault> {
        let mut output = Output::reserve(&self.threads.meter, self.descriptor.total()?)?;
        let runs = runs(self.threads, self.descriptor)?;
        let writers = output.writers(runs.iter().map(|run| run.elements));
        let (shared, others): (Vec<_>, Vec<_>) = runs.into_iter().zip(writers).partition(|(run, _)| run.huge);
        self.threads.workers.try_each(others, &|(run, mut writer): (Run, Writer<'_, T>)| {
            each(&run, &mut writer);
            Ok(())
        })?;
        for (run, writer) in shared {
            huge(&run, writer)?;
        }
        Ok(wrap(output.finish(&self.threads.meter)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_in_turn_are_scanned_as_all_at_once() {
        for count in [1, 2, 3] {
            let threads = Threads::new(count, None).expect("the system starts threads");
            for length in [1, 1000, 32 << 10, (32 << 10) + 1, 500_000] {
                let elements: Vec<i64> = (0..length as i64).map(|i| i * i % 1009 - 500).collect();
                let scan = |before, elements: &[i64], writer: &mut Writer<'_, i64>| {
                    running(before, i64::wrapping_add, elements, writer)
                };
                let operation =
                    Exact { identity: 0, scan: &scan, reduce: &|part| part.iter().sum(), combine: &i64::wrapping_add };
                let mut output = Output::reserve(&threads.meter, length).expect("there is memory");
                in_turn(&threads, &operation, &elements, output.writer()).expect("nothing fails");
                let mut before = 0;
                let expected = elements.iter().map(|element| {
                    before += element;
                    before - element
                });
                assert_eq!(output.finish(&threads.meter).elements(), expected.collect::<Vec<i64>>(), "{length}");
            }
        }
    }
}

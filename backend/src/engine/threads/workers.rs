//! The threads of the threads engine, and how work is dealt out to them.
//!
//! The calling thread always works too: it takes the first piece at once while the others wake up, so that what is too
//! small for them to help with costs little more than doing it alone. Pieces are claimed in order, the next by whoever
//! is free. Nothing in here depends on the instruction: tasks are called through one pointer per piece, and what deals
//! them out is compiled once for each type of items and results, not for each of a thousand tasks.
//!
//! No piece takes longer than some milliseconds, also where one thread does them all, and none is begun once the user
//! has interrupted the evaluation.

use super::output::{Output, Writer};
use super::tuning::{LARGEST_PIECE, MOST_PIECES, PIECES};
use crate::data::buffer::Meter;
use crate::data::vector::Slice;
use crate::engine::Fault;
use crate::engine::busy::{BusyInterval, BusyIntervals};
use crate::engine::interrupt::Interrupt;
use crate::engine::stack::worker_stack;
use nesl_prim::{Element, Failure};
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// The calling thread and its helpers.
#[derive(Debug)]
pub struct Workers {
    /// The helpers; none where the calling thread works alone.
    pool: Option<ThreadPool>,
    threads: usize,
    interrupt: Interrupt,
    /// Where helpers say when they work, if somebody wants to know.
    busy: Option<BusyIntervals>,
}

impl Workers {
    /// The calling thread and `threads - 1` helpers; 0 means as many threads as there are cores.
    pub fn new(threads: usize) -> Result<Workers, ThreadPoolBuildError> {
        let threads = match threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            given => given,
        };
        let pool = match threads {
            1 => None,
            _ => {
                let builder = || ThreadPoolBuilder::new().num_threads(threads - 1);
                // Of the stack, too, only what is used is taken from the system. Where it refuses so many addresses it
                // may give what threads have elsewhere.
                Some(builder().stack_size(worker_stack(threads)).build().or_else(|_| builder().build())?)
            }
        };
        Ok(Workers { pool, threads, interrupt: Interrupt::default(), busy: None })
    }

    /// The calling thread without helpers, under the same interrupt.
    pub fn alone(&self) -> Workers {
        Workers { pool: None, threads: 1, interrupt: self.interrupt.clone(), busy: None }
    }

    /// Says what interrupts the work.
    pub fn set_interrupt(&mut self, interrupt: &Interrupt) {
        self.interrupt = interrupt.clone();
    }

    /// What interrupts the work: for tasks that take long without being cut into pieces.
    pub fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    /// The same number of threads or another, with all else as it is.
    pub fn with_threads(&self, threads: usize) -> Result<Workers, ThreadPoolBuildError> {
        let (interrupt, busy) = (self.interrupt.clone(), self.busy.clone());
        Ok(Workers { interrupt, busy, ..Workers::new(threads)? })
    }

    /// From now on helpers say when they work.
    pub fn record_busy(&mut self) -> BusyIntervals {
        self.busy.get_or_insert_default().clone()
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Into how many pieces to cut `length` elements of which `grain` are worth a task.
    pub fn pieces(&self, length: usize, grain: usize) -> usize {
        let shared = if self.threads == 1 { 1 } else { (length / grain).min(self.threads * PIECES) };
        shared.max((length / (grain * LARGEST_PIECE)).min(MOST_PIECES)).max(1)
    }

    /// Runs the tasks `0..pieces`, and returns when all are done.
    fn run(&self, pieces: usize, task: &(dyn Fn(usize) + Sync)) {
        let Some(pool) = self.pool.as_ref().filter(|_| pieces > 1) else {
            return (0..pieces).for_each(task);
        };
        let next = AtomicUsize::new(0);
        let work = || {
            loop {
                let piece = next.fetch_add(1, Relaxed);
                if piece >= pieces {
                    break;
                }
                task(piece);
            }
        };
        let help = || {
            let Some(busy) = &self.busy else { return work() };
            let begin = Instant::now();
            work();
            let helper = rayon::current_thread_index().unwrap_or(0);
            busy.add(BusyInterval { helper, begin, end: Instant::now() });
        };
        pool.in_place_scope(|scope| {
            for _ in 0..(self.threads - 1).min(pieces - 1) {
                scope.spawn(|_| help());
            }
            work();
        });
    }

    /// Hands each item to a task; the results in the order of the items.
    pub fn each<I: Send, R: Send>(&self, items: Vec<I>, task: &(dyn Fn(usize, I) -> R + Sync)) -> Vec<R> {
        if items.len() <= 1 || self.pool.is_none() {
            return items.into_iter().enumerate().map(|(index, item)| task(index, item)).collect();
        }
        // A lock that only one thread ever takes, once: the price of claiming pieces dynamically in safe code.
        let items: Vec<_> = items.into_iter().map(|item| Mutex::new((Some(item), None))).collect();
        self.run(items.len(), &|index| {
            let mut slot = items[index].lock().unwrap_or_else(PoisonError::into_inner);
            slot.1 = slot.0.take().map(|item| task(index, item));
        });
        items.into_iter().filter_map(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner).1).collect()
    }

    /// A new column of `length` elements, written in pieces. A piece fails at its first failing element, and the column
    /// at its least.
    pub fn try_fill<T: Element>(
        &self,
        meter: &Arc<Meter>,
        length: usize,
        grain: usize,
        write: &TryWrite<'_, T>,
    ) -> Result<Slice<T>, Fault> {
        let mut output = Output::reserve(meter, length)?;
        let pieces = self.pieces(length, grain);
        if pieces == 1 {
            write(0..length, &mut output.writer())?;
        } else {
            let ranges = split(length, pieces);
            let writers = output.writers(ranges.iter().map(Range::len));
            let items = ranges.into_iter().zip(writers).collect();
            self.try_each(items, &|(range, mut writer): (Range<usize>, _)| write(range, &mut writer))?;
        }
        Ok(output.finish(meter))
    }

    /// The same where no element can fail.
    pub fn fill<T: Element>(
        &self,
        meter: &Arc<Meter>,
        length: usize,
        grain: usize,
        write: impl Fn(Range<usize>, &mut Writer<'_, T>) + Sync,
    ) -> Result<Slice<T>, Failure> {
        self.try_fill(meter, length, grain, &|range, writer| {
            write(range, writer);
            Ok(())
        })
        .map_err(|fault| fault.failure)
    }

    /// Hands each item, in the order of the elements they stand for, to a task that can fail; all results, or the fault
    /// of the first item that has one. Items after one that failed may be skipped, and all are after an interrupt.
    pub fn try_each<I: Send, R: Send>(
        &self,
        items: Vec<I>,
        task: &(dyn Fn(I) -> Result<R, Fault> + Sync),
    ) -> Result<Vec<R>, Fault> {
        let failed = AtomicUsize::new(usize::MAX);
        let results = self.each(items, &|index, item| {
            if index > failed.load(Relaxed) {
                return None;
            }
            let outcome = self.interrupt.check().map_err(Fault::from).and_then(|()| task(item));
            Some(outcome.inspect_err(|_| {
                failed.fetch_min(index, Relaxed);
            }))
        });
        // What was skipped comes after the fault that is the result.
        results.into_iter().flatten().collect()
    }
}

/// Writes the elements of a range, and fails at the first that does.
pub type TryWrite<'a, T> = dyn Fn(Range<usize>, &mut Writer<'_, T>) -> Result<(), Fault> + Sync + 'a;

/// `pieces` ranges of about equal size that cover `0..length`, cut at multiples of 64 elements where they are larger,
/// so that no two threads write to one cache line.
pub fn split(length: usize, pieces: usize) -> Vec<Range<usize>> {
    split_aligned(length, pieces, if length >= pieces * 64 { 64 } else { 1 })
}

/// `pieces` ranges of about equal size that cover `0..length`, cut at multiples of `unit`.
pub fn split_aligned(length: usize, pieces: usize, unit: usize) -> Vec<Range<usize>> {
    let units = length.div_ceil(unit);
    let bound = |piece: usize| ((units as u128 * piece as u128 / pieces as u128) as usize * unit).min(length);
    (0..pieces).map(|piece| bound(piece)..bound(piece + 1)).collect()
}

/// The parts of a slice in these ranges, which must follow one another from its start.
pub fn parts<'a, T>(mut slice: &'a mut [T], ranges: &[Range<usize>]) -> Vec<&'a mut [T]> {
    let mut parts = Vec::with_capacity(ranges.len());
    for range in ranges {
        let (part, rest) = slice.split_at_mut(range.len());
        parts.push(part);
        slice = rest;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_cover_without_overlap() {
        for (length, pieces) in [(0, 1), (1, 3), (64, 4), (1000, 7), (100_000, 8)] {
            let ranges = split(length, pieces);
            assert_eq!(ranges.len(), pieces);
            let mut next = 0;
            for range in ranges {
                assert_eq!(range.start, next);
                next = range.end;
            }
            assert_eq!(next, length);
        }
    }

    #[test]
    fn results_come_in_the_order_of_the_items_and_the_first_fault_wins() {
        for threads in [1, 2, 4] {
            let workers = Workers::new(threads).unwrap();
            assert_eq!(workers.each((0..100).collect(), &|index, item: usize| index + item)[99], 198);
            let outcome = workers.try_each((0..1000).collect(), &|item: usize| match item % 100 {
                99 => Err(Fault { failure: Failure::Interrupted, element: item }),
                _ => Ok(()),
            });
            assert_eq!(outcome.map_err(|fault| fault.element), Err(99));
        }
    }

    #[test]
    fn helpers_say_when_they_work_where_somebody_wants_to_know() {
        let mut workers = Workers::new(3).unwrap();
        let work = |workers: &Workers| {
            workers.each((0..64).collect(), &|_, _: usize| std::thread::sleep(std::time::Duration::from_millis(1)))
        };
        work(&workers);
        let busy = workers.record_busy();
        let begun = Instant::now();
        work(&workers);
        work(&workers.with_threads(2).unwrap());
        let kept = busy.take();
        assert!((1..=5).contains(&kept.len()) && busy.take().is_empty(), "{kept:?}");
        assert!(
            kept.iter()
                .all(|interval| interval.helper < 2 && begun <= interval.begin && interval.begin <= interval.end)
        );
    }

    #[test]
    fn pieces_are_bounded_also_on_one_thread() {
        for threads in [1, 2, 8] {
            let workers = Workers::new(threads).unwrap();
            assert_eq!(workers.pieces(0, 100), 1);
            assert_eq!(workers.pieces(250, 100), threads.min(2));
            assert_eq!(workers.pieces(1_000_000, 100), 1_000_000 / (100 * LARGEST_PIECE));
            assert_eq!(workers.pieces(i64::MAX as usize, 100), MOST_PIECES);
        }
    }

    #[test]
    fn no_piece_is_begun_after_an_interrupt() {
        for threads in [1, 2, 4] {
            let mut workers = Workers::new(threads).unwrap();
            let flag = Arc::new(std::sync::atomic::AtomicBool::new(false));
            workers.set_interrupt(&Interrupt::on(Arc::clone(&flag)));
            assert_eq!(workers.try_each((0..9).collect(), &Ok), Ok((0..9).collect()));
            let begun = AtomicUsize::new(0);
            let outcome = workers.try_each((0..1000).collect(), &|item: usize| {
                if begun.fetch_add(1, Relaxed) == 5 {
                    flag.store(true, Relaxed);
                }
                Ok(item)
            });
            assert_eq!(outcome.map_err(|fault| fault.failure), Err(Failure::Interrupted));
            assert!(begun.into_inner() <= 5 + threads, "one each of those that were at work");
            let filled = workers.alone().fill::<u8>(&Meter::new(None), 1 << 22, 1, |range, writer| {
                writer.repeat(0, range.len());
            });
            assert_eq!(filled.map_err(|failure| failure == Failure::Interrupted).err(), Some(true));
        }
    }
}

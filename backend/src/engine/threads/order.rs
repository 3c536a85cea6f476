//! Elements in order, and where they are in it: `sort_up`, `rank_up` and their segmented and descending kin.
//!
//! What is long is dealt out to buckets by the leading bits of its keys ([`partition`]), by all threads, until a bucket
//! fits into a cache, where one thread sorts it ([`block`]). Leading bits count from the least key to the greatest, so
//! that small ints have few; where keys are unevenly spread, a bucket that is still long is dealt out again by itself.
//! Each time all elements of a bucket agree in more bits, so that the work is linear but for the last comparisons in a
//! block.
//!
//! Ranks need no indices beside the keys: a bucket holds its keys in the order of the elements, and ranks are written
//! over them. A second walk over the elements meets each bucket's ranks in just that order.

mod block;
mod partition;

use super::Threads;
use super::column::wrap;
use super::output::{Output, Writer};
use super::segment::{Run, runs};
use super::tuning::{GRAIN, PATIENCE};
use super::workers::{Workers, parts, split};
use crate::data::descriptor::Descriptor;
use crate::data::vector::{Slice, Vector};
use crate::engine::{Fault, Order};
use crate::on_vector;
use block::{LONGEST, Ranker, Sorter};
use nesl_prim::{Direction, Element};
use partition::{COUNTED_BITS, EXACT_BITS, Partition, Survey, survey};
use std::ops::Range;

/// Elements in order, or their places in it.
pub fn run(
    threads: &Threads,
    order: Order,
    direction: Direction,
    column: &Vector,
    descriptor: Option<&Descriptor>,
) -> Result<Vector, Fault> {
    match (order, descriptor) {
        (Order::Sort, None) => sort(threads, direction, column),
        (Order::Sort, Some(descriptor)) => seg_sort(threads, direction, column, descriptor),
        (Order::Rank, None) => ranks_of(threads, direction, column),
        (Order::Rank, Some(descriptor)) => seg_ranks(threads, direction, column, descriptor),
    }
}

/// The position of each element in the order of all.
fn ranks_of(threads: &Threads, direction: Direction, column: &Vector) -> Result<Vector, Fault> {
    on_vector!(column, slice => Ok(wrap(ranks(threads, direction, slice.elements())?)))
}

/// The elements in order.
fn sort(threads: &Threads, direction: Direction, column: &Vector) -> Result<Vector, Fault> {
    fn of<T: Element>(threads: &Threads, direction: Direction, slice: &Slice<T>) -> Result<Slice<T>, Fault> {
        let sorted = sorted(threads, direction, slice.elements())?;
        Ok(sorted.unwrap_or_else(|| slice.clone()))
    }
    on_vector!(column, slice => Ok(wrap(of(threads, direction, slice)?)))
}

/// The position of each element in the order of its segment.
fn seg_ranks(
    threads: &Threads,
    direction: Direction,
    column: &Vector,
    descriptor: &Descriptor,
) -> Result<Vector, Fault> {
    fn of<T: Element>(
        threads: &Threads,
        direction: Direction,
        elements: &[T],
        descriptor: &Descriptor,
    ) -> Result<Vector, Fault> {
        segments(threads, descriptor, Ranker::default, |threads, ranker, range, writer| {
            if range.len() <= LONGEST {
                ranker.write(direction, &elements[range], writer);
            } else {
                copy(threads, ranks(threads, direction, &elements[range])?.elements(), writer)?;
            }
            Ok(())
        })
    }
    on_vector!(column, slice => of(threads, direction, slice.elements(), descriptor))
}

/// The elements of each segment in order.
fn seg_sort(
    threads: &Threads,
    direction: Direction,
    column: &Vector,
    descriptor: &Descriptor,
) -> Result<Vector, Fault> {
    fn of<T: Element>(
        threads: &Threads,
        direction: Direction,
        elements: &[T],
        descriptor: &Descriptor,
    ) -> Result<Vector, Fault> {
        segments(threads, descriptor, Sorter::default, |threads, sorter: &mut Sorter<T>, range, writer| {
            let elements = &elements[range];
            if elements.len() <= LONGEST {
                sorter.write(direction, elements, writer);
            } else {
                let sorted = sorted(threads, direction, elements)?;
                copy(threads, sorted.as_ref().map_or(elements, Slice::elements), writer)?;
            }
            Ok(())
        })
    }
    on_vector!(column, slice => of(threads, direction, slice.elements(), descriptor))
}

/// A column with as many elements as the segments have, written segment by segment: huge segments each by all threads,
/// others by one thread, which keeps some room from one to the next.
fn segments<R: Element, M>(
    threads: &Threads,
    descriptor: &Descriptor,
    room: impl Fn() -> M + Sync,
    write: impl Fn(&Threads, &mut M, Range<usize>, &mut Writer<'_, R>) -> Result<(), Fault> + Sync,
) -> Result<Vector, Fault> {
    let mut output = Output::reserve(&threads.meter, descriptor.total()?)?;
    let runs = runs(threads, descriptor)?;
    let writers = output.writers(runs.iter().map(|run| run.elements));
    let (huge, others): (Vec<_>, Vec<_>) = runs.into_iter().zip(writers).partition(|(run, _)| run.huge);
    let write_run = |threads: &Threads, run: &Run, mut writer: Writer<'_, R>| {
        let mut room = room();
        let mut segments = run.iter(descriptor);
        segments.try_for_each(|(start, length)| write(threads, &mut room, start..start + length, &mut writer))
    };
    threads.workers.try_each(others, &|(run, writer)| write_run(&threads.alone(), &run, writer))?;
    for (run, writer) in huge {
        write_run(threads, &run, writer)?;
    }
    Ok(wrap(output.finish(&threads.meter)))
}

/// Writes a copy of many elements.
fn copy<T: Element>(threads: &Threads, elements: &[T], writer: &mut Writer<'_, T>) -> Result<(), Fault> {
    for part in elements.chunks(PATIENCE) {
        threads.workers.interrupt().check()?;
        writer.copy(part);
    }
    Ok(())
}

/// Writes what `make` makes of other elements over elements.
fn overwrite<T: Element>(
    workers: &Workers,
    elements: &mut [T],
    others: &[T],
    make: impl Fn(T) -> T + Sync,
) -> Result<(), Fault> {
    let ranges = pieces(workers, elements.len());
    let items = parts(elements, &ranges).into_iter().zip(ranges).collect();
    workers.try_each(items, &|(part, range): (&mut [T], Range<usize>)| {
        part.iter_mut().zip(&others[range]).for_each(|(element, &other)| *element = make(other));
        Ok(())
    })?;
    Ok(())
}

/// Pieces of work on so many elements, a few milliseconds each.
fn pieces(workers: &Workers, length: usize) -> Vec<Range<usize>> {
    split(length, workers.pieces(length, GRAIN).max(length.div_ceil(PATIENCE)).max(1))
}

/// The elements in order; none where they are already.
fn sorted<T: Element>(threads: &Threads, direction: Direction, elements: &[T]) -> Result<Option<Slice<T>>, Fault> {
    let (workers, length) = (&threads.workers, elements.len());
    let (least, greatest) = match survey(workers, direction, elements)? {
        Survey::Between(least, greatest) => (least, greatest),
        Survey::Ascending => return Ok(None),
        Survey::Descending => {
            return Ok(Some(workers.fill(&threads.meter, length, GRAIN, |range, writer| {
                writer.compute(range.len(), |position| elements[length - 1 - (range.start + position)]);
            })?));
        }
    };
    if length <= LONGEST / threads.threads() {
        let mut copy = threads.meter.reserve(length)?;
        copy.extend_from_slice(elements);
        Sorter::default().sort(direction, &mut copy);
        return Ok(Some(Slice::new(&threads.meter, copy)));
    }
    // Sixteen elements for each counter pay for going over the counters.
    let exact = length.ilog2().saturating_sub(4).clamp(EXACT_BITS, COUNTED_BITS);
    let partition = Partition::new(workers, direction, elements, &(least..=greatest), exact)?;
    if partition.is_exact() {
        return Ok(Some(partition.fill(threads)?));
    }
    let mut sorted = partition.deal(threads, elements, |element| element)?;
    let dealt = sorted.own();
    each_bucket(threads, dealt, &partition, Sorter::default, |threads, sorter: &mut Sorter<T>, bucket, _| {
        if bucket.len() <= LONGEST {
            sorter.sort(direction, bucket);
        } else if let Some(sorted) = self::sorted(threads, direction, bucket)? {
            overwrite(&threads.workers, bucket, sorted.elements(), |element| element)?;
        }
        Ok(())
    })?;
    Ok(Some(sorted))
}

/// The position of each element in the order of all.
fn ranks<T: Element>(threads: &Threads, direction: Direction, elements: &[T]) -> Result<Slice<i64>, Fault> {
    let (least, greatest) = match survey(&threads.workers, direction, elements)? {
        Survey::Between(least, greatest) => (least, greatest),
        Survey::Ascending => {
            return Ok(threads.workers.fill(&threads.meter, elements.len(), GRAIN, |range, writer| {
                writer.compute(range.len(), |position| (range.start + position) as i64);
            })?);
        }
        Survey::Descending => {
            return Ok(threads.workers.fill(&threads.meter, elements.len(), GRAIN, |range, writer| {
                writer.compute(range.len(), |position| (elements.len() - 1 - (range.start + position)) as i64);
            })?);
        }
    };
    if elements.len() <= LONGEST / threads.threads() {
        let mut keys = threads.meter.reserve(elements.len())?;
        keys.extend(elements.iter().map(|&element| direction.key(element)));
        Ranker::default().rank(&mut keys, 0);
        return Ok(Slice::new(&threads.meter, keys));
    }
    let partition = Partition::new(&threads.workers, direction, elements, &(least..=greatest), EXACT_BITS)?;
    if partition.is_exact() {
        return partition.look_up(threads, elements, |place| place as i64);
    }
    let mut keys = partition.deal(threads, elements, |element| direction.key(element))?;
    let dealt = keys.own();
    each_bucket(threads, dealt, &partition, Ranker::default, |threads, ranker, bucket, start| {
        if bucket.len() <= LONGEST {
            ranker.rank(bucket, start as i64);
        } else {
            // They are keys, which are in ascending order whatever the elements are in.
            let ranks = ranks(threads, Direction::Up, bucket)?;
            overwrite(&threads.workers, bucket, ranks.elements(), |rank| start as i64 + rank)?;
        }
        Ok(())
    })?;
    let ranks = keys.elements();
    partition.look_up(threads, elements, |place| ranks[place])
}

/// Calls `act` with what was dealt out to each bucket and where that starts: with those that a thread should not do
/// alone on all threads, with others on one, which keeps some room from one to the next.
fn each_bucket<R: Element, M>(
    threads: &Threads,
    dealt: &mut [R],
    partition: &Partition,
    room: impl Fn() -> M + Sync,
    act: impl Fn(&Threads, &mut M, &mut [R], usize) -> Result<(), Fault> + Sync,
) -> Result<(), Fault> {
    let (buckets, most) = (partition.buckets(), LONGEST.max(dealt.len() / (2 * threads.threads())));
    let mut huge = Vec::new();
    // Buckets that lie next to each other are one task until they have as many elements as the longest block.
    let mut tasks: Vec<Vec<(usize, &mut [R])>> = Vec::new();
    let mut room_left = 0;
    for (bucket, part) in buckets.iter().zip(parts(dealt, &buckets)) {
        if part.len() > most {
            huge.push((bucket.start, part));
            continue;
        }
        match tasks.last_mut() {
            Some(task) if part.len() <= room_left => task.push((bucket.start, part)),
            _ => {
                room_left = LONGEST;
                tasks.push(vec![(bucket.start, part)]);
            }
        }
        room_left = room_left.saturating_sub(bucket.len());
    }
    let run = |threads: &Threads, task: Vec<(usize, &mut [R])>| {
        let mut room = room();
        task.into_iter().try_for_each(|(start, bucket)| act(threads, &mut room, bucket, start))
    };
    threads.workers.try_each(tasks, &|task| run(&threads.alone(), task))?;
    run(threads, huge)
}

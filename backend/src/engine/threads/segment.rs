//! Dividing segmented work by elements, and the instructions that only move or number elements: `seg_iota`, `seg_dist`,
//! `compact`, `append`, `seg_scatter`.
//!
//! Lengths may be skewed: work is cut by weight, the elements plus a little for each segment, never by the number of
//! segments. Instructions that can start inside a segment are cut anywhere ([`cut`]); reductions and scans get whole
//! segments, and the huge ones apart ([`runs`]).

use super::Threads;
use super::column::{slice_of, wrap};
use super::output::{Output, Writer};
use super::pack::TOO_LONG;
use super::permute::own;
use super::tuning::{GRAIN, HUGE_SEGMENT, SEGMENT_WEIGHT};
use super::workers::{parts, split};
use crate::data::descriptor::Descriptor;
use crate::data::vector::{Slice, Vector};
use crate::engine::{Fault, Segment};
use crate::on_vector;
use nesl_native::Ints;
use nesl_prim::Element;
use std::ops::Range;

/// Elements moved by segments.
pub fn run(threads: &Threads, segment: Segment<'_, Vector, Descriptor>) -> Result<Vector, Fault> {
    segment.check();
    match segment {
        Segment::Iota(descriptor) => seg_iota(threads, descriptor),
        Segment::Dist(column, descriptor) => seg_dist(threads, column, descriptor),
        Segment::Compact(column, descriptor) => compact(threads, column, descriptor),
        Segment::Append(first, second) => append(threads, first, second),
        Segment::Scatter(column, descriptor, values) => seg_scatter(threads, column, descriptor, values),
    }
}

/// Segments that belong together.
#[derive(Debug)]
pub struct Run {
    /// Which.
    pub segments: Range<usize>,
    /// Where they start in packed order.
    offset: usize,
    /// How many elements they have.
    pub elements: usize,
    /// Whether this is one huge segment, to be shared by all threads.
    pub huge: bool,
}

impl Run {
    /// Start and length of the first segment; 0 and 0 if there is none.
    pub fn first(&self, descriptor: &Descriptor) -> (usize, usize) {
        self.iter(descriptor).next().unwrap_or_default()
    }

    /// Start and length of each of the segments.
    pub fn iter<'a>(&self, descriptor: &'a Descriptor) -> impl Iterator<Item = (usize, usize)> + use<'a> {
        // Only the starts of a packed descriptor may still have to be computed, and those are not needed.
        let starts = if descriptor.is_packed() { None } else { descriptor.starts().ok() };
        let lengths = descriptor.lengths();
        let mut next = self.offset;
        self.segments.clone().map(move |segment| {
            let (start, length) =
                (starts.map_or(next, |starts| starts.at(segment) as usize), lengths.at(segment) as usize);
            next += length;
            (start, length)
        })
    }
}

/// The segments of a descriptor in runs of about equal weight, in order; one run where it is best to do all on one
/// thread.
pub fn runs(threads: &Threads, descriptor: &Descriptor) -> Result<Vec<Run>, Fault> {
    let (segments, total) = (descriptor.segments(), descriptor.total()?);
    let weight = weigh(total, segments);
    let pieces = threads.workers.pieces(weight, GRAIN);
    if pieces == 1 {
        return Ok(vec![Run { segments: 0..segments, offset: 0, elements: total, huge: false }]);
    }
    let offsets = descriptor.offsets()?;
    let offset = |segment: usize| offsets.get(segment).map_or(total, |offset| offset as usize);
    let step = weight.div_ceil(pieces);
    let mut runs = Vec::with_capacity(2 * pieces);
    let mut add = |segments: Range<usize>, huge| {
        if !segments.is_empty() {
            let (start, end) = (offset(segments.start), offset(segments.end));
            runs.push(Run { segments, offset: start, elements: end - start, huge });
        }
    };
    let mut start = 0;
    for piece in 1..=pieces {
        // A segment belongs to the piece in which it starts.
        let end = first(start..segments, |segment| weigh(offset(segment), segment) >= piece * step);
        // Only the last segment of a piece can be longer than the piece.
        if end > start && offset(end) - offset(end - 1) >= step.max(HUGE_SEGMENT) {
            add(start..end - 1, false);
            add(end - 1..end, true);
        } else {
            add(start..end, false);
        }
        start = end;
    }
    Ok(runs)
}

fn weigh(elements: usize, segments: usize) -> usize {
    elements.saturating_add(segments.saturating_mul(SEGMENT_WEIGHT))
}

/// The first of the numbers in a range that satisfies a condition, which then all after it do; the end if none does.
fn first(mut range: Range<usize>, condition: impl Fn(usize) -> bool) -> usize {
    while !range.is_empty() {
        let middle = range.start + range.len() / 2;
        if condition(middle) {
            range.end = middle;
        } else {
            range.start = middle + 1;
        }
    }
    range.start
}

/// A place between two elements in packed order.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// The segment it is in, or before.
    segment: usize,
    /// The number of elements of that segment that are before it.
    within: usize,
    /// The number of elements in all that are before it.
    element: usize,
}

/// Cuts segments that start at `offset` in packed order (`offset(segments)` is the total) into pieces of about equal
/// weight: the places where they begin and end.
fn cut(pieces: usize, segments: usize, offset: impl Fn(usize) -> usize) -> Vec<Place> {
    let weight = weigh(offset(segments), segments);
    (0..=pieces)
        .map(|piece| {
            let bound = (weight as u128 * piece as u128 / pieces as u128) as usize;
            if piece == pieces || segments == 0 {
                return Place { segment: segments, within: 0, element: offset(segments) };
            }
            // The last segment that starts at or before the bound.
            let segment = first(0..segments, |segment| weigh(offset(segment), segment) > bound) - 1;
            let start = offset(segment);
            let within = (bound - weigh(start, segment)).min(offset(segment + 1) - start);
            Place { segment, within, element: start + within }
        })
        .collect()
}

/// The parts of segments between two places: each segment with the range of its elements, if there are any.
fn between(from: Place, to: Place, length: impl Fn(usize) -> usize, mut part: impl FnMut(usize, Range<usize>)) {
    for segment in from.segment..to.segment {
        let start = if segment == from.segment { from.within } else { 0 };
        let end = length(segment);
        if start < end {
            part(segment, start..end);
        }
    }
    let start = if from.segment == to.segment { from.within } else { 0 };
    if start < to.within {
        part(to.segment, start..to.within);
    }
}

/// A new column with an element for each of the segments' elements. `part` writes those of part of a segment.
fn packed_order<T: Element>(
    threads: &Threads,
    segments: usize,
    total: usize,
    offset: impl Fn(usize) -> usize,
    length: impl Fn(usize) -> usize + Sync,
    part: impl Fn(usize, Range<usize>, &mut Writer<'_, T>) + Sync,
) -> Result<Vector, Fault> {
    let mut output = Output::reserve(&threads.meter, total)?;
    let pieces = threads.workers.pieces(weigh(total, segments), GRAIN);
    if pieces == 1 {
        let mut writer = output.writer();
        for segment in 0..segments {
            part(segment, 0..length(segment), &mut writer);
        }
    } else {
        let places = cut(pieces, segments, |segment| if segment == segments { total } else { offset(segment) });
        let writers = output.writers(places.windows(2).map(|pair| pair[1].element - pair[0].element));
        let items = places.windows(2).zip(writers).collect();
        threads.workers.try_each(items, &|(pair, mut writer): (&[Place], Writer<'_, T>)| {
            between(pair[0], pair[1], &length, |segment, range| part(segment, range, &mut writer));
            Ok(())
        })?;
    }
    Ok(wrap(output.finish(&threads.meter)))
}

/// The same for the segments of one descriptor.
fn packed_order_of<T: Element>(
    threads: &Threads,
    descriptor: &Descriptor,
    part: impl Fn(usize, Range<usize>, &mut Writer<'_, T>) + Sync,
) -> Result<Vector, Fault> {
    let (segments, total) = (descriptor.segments(), descriptor.total()?);
    // Where one thread does it all, nobody asks for the offsets, and they need not be computed.
    let alone = threads.workers.pieces(weigh(total, segments), GRAIN) == 1;
    let offsets = if alone { Ints::column(&[]) } else { descriptor.offsets()? };
    let lengths = descriptor.lengths();
    let (offset, length) = (|segment| offsets.at(segment) as usize, |segment| lengths.at(segment) as usize);
    packed_order(threads, segments, total, offset, length, part)
}

/// The position of each element in its segment.
fn seg_iota(threads: &Threads, descriptor: &Descriptor) -> Result<Vector, Fault> {
    packed_order_of(threads, descriptor, |_, range, writer| {
        writer.compute(range.len(), |position| (range.start + position) as i64);
    })
}

/// Element j of the column for each element of segment j.
fn seg_dist(threads: &Threads, column: &Vector, descriptor: &Descriptor) -> Result<Vector, Fault> {
    fn of<T: Element>(threads: &Threads, elements: &[T], descriptor: &Descriptor) -> Result<Vector, Fault> {
        packed_order_of(threads, descriptor, |segment, range, writer| writer.repeat(elements[segment], range.len()))
    }
    on_vector!(column, slice => of(threads, slice.elements(), descriptor))
}

/// The elements of all segments in packed order.
fn compact(threads: &Threads, column: &Vector, descriptor: &Descriptor) -> Result<Vector, Fault> {
    fn of<T: Element>(threads: &Threads, elements: &[T], descriptor: &Descriptor) -> Result<Vector, Fault> {
        let starts = descriptor.starts()?;
        packed_order_of(threads, descriptor, |segment, range, writer| {
            let start = starts.at(segment) as usize;
            writer.copy_part(elements, start + range.start..start + range.end);
        })
    }
    // The segments of a packed descriptor cover their data.
    if descriptor.is_packed() {
        return Ok(column.clone());
    }
    on_vector!(column, slice => of(threads, slice.elements(), descriptor))
}

/// Segment 0 of the first then of the second, segment 1 of the first then of the second, ….
fn append(threads: &Threads, first: (&Descriptor, &Vector), second: (&Descriptor, &Vector)) -> Result<Vector, Fault> {
    fn of<T: Element>(
        threads: &Threads,
        first: (&Descriptor, &Slice<T>),
        second: (&Descriptor, &Slice<T>),
    ) -> Result<Vector, Fault> {
        let total = first.0.total()?.checked_add(second.0.total()?).ok_or(TOO_LONG)?;
        let offsets = (first.0.offsets()?, second.0.offsets()?);
        let starts = (first.0.starts()?, second.0.starts()?);
        let lengths = (first.0.lengths(), second.0.lengths());
        let elements = (first.1.elements(), second.1.elements());
        packed_order(
            threads,
            lengths.0.len(),
            total,
            |segment| (offsets.0.at(segment) + offsets.1.at(segment)) as usize,
            |segment| (lengths.0.at(segment) + lengths.1.at(segment)) as usize,
            |segment, range, writer| {
                let end = lengths.0.at(segment) as usize;
                let copy = |elements: &[T], start: i64, range: Range<usize>, writer: &mut Writer<'_, T>| {
                    if !range.is_empty() {
                        writer.copy_part(elements, start as usize + range.start..start as usize + range.end);
                    }
                };
                copy(elements.0, starts.0.at(segment), range.start..range.end.min(end), writer);
                copy(elements.1, starts.1.at(segment), range.start.max(end) - end..range.end.max(end) - end, writer);
            },
        )
    }
    on_vector!(first.1, slice => of(threads, (first.0, slice), (second.0, slice_of(second.1))))
}

/// The column with the values, in packed order, over the segments; in place where nobody else sees it. Each thread owns
/// a range of the column, goes over all segments, and copies what falls into its range.
fn seg_scatter(threads: &Threads, column: Vector, descriptor: &Descriptor, values: &Vector) -> Result<Vector, Fault> {
    fn of<T: Element>(
        threads: &Threads,
        mut column: Slice<T>,
        descriptor: &Descriptor,
        values: &[T],
    ) -> Result<Vector, Fault> {
        let (starts, lengths) = (descriptor.starts()?, descriptor.lengths());
        let elements = own(threads, &mut column)?;
        let pieces = threads.workers.pieces(weigh(values.len(), lengths.len()), GRAIN);
        let ranges = split(elements.len(), pieces.min(threads.workers.threads()));
        let items = ranges.iter().cloned().zip(parts(elements, &ranges)).collect();
        threads.workers.try_each(items, &|(range, part): (Range<usize>, &mut [T])| {
            let mut from = 0;
            for (start, length) in starts.iter().zip(lengths.iter()) {
                let (start, length) = (start as usize, length as usize);
                let (first, end) = (start.max(range.start), (start + length).min(range.end));
                if first < end {
                    let values = &values[from + first - start..from + end - start];
                    part[first - range.start..end - range.start].copy_from_slice(values);
                }
                from += length;
            }
            Ok(())
        })?;
        Ok(wrap(column))
    }
    on_vector!(column, slice => of(threads, slice, descriptor, slice_of(values).elements()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::buffer::Meter;

    #[test]
    fn runs_cover_all_segments_and_set_huge_ones_apart() {
        let threads = Threads::new(4, None).unwrap();
        let meter = Meter::new(None);
        let lengths: Vec<i64> =
            (0..50_000).map(|segment| if segment == 777 { 2_000_000 } else { segment % 3 }).collect();
        let descriptor = Descriptor::packed(&meter, Vector::new(&meter, lengths.clone()));
        let runs = runs(&threads, &descriptor).unwrap();
        let mut next = 0;
        for run in &runs {
            assert_eq!(run.segments.start, next);
            next = run.segments.end;
            assert_eq!(lengths[run.segments.clone()].iter().sum::<i64>(), run.elements as i64);
            assert_eq!(run.huge, run.segments == (777..778));
        }
        assert_eq!(next, lengths.len());
        assert!(runs.iter().any(|run| run.huge));
        let longest = runs.iter().filter(|run| !run.huge).map(|run| run.elements).max();
        assert!(longest < Some(2 * GRAIN), "{longest:?}");
    }
}

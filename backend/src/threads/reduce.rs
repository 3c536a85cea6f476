//! Reductions of whole columns and of each segment.
//!
//! Exact operations are combined in whatever order is fastest: several accumulators, then pieces. Float addition and
//! multiplication follow [`nesl_prim::sum`] to the bit: a piece is a power of two of its blocks, so that the tree over a
//! piece's blocks is a subtree of the tree over all of them.

use super::Threads;
use super::column::{Combiner, combine, slice_of, wrap};
use super::output::{Output, Writer, wide};
use super::segment::{Run, runs};
use super::tuning::GRAIN;
use super::workers::{split, split_aligned};
use crate::descriptor::Descriptor;
use crate::engine::Fault;
use crate::vector::Vector;
use nesl_prim::{Element, ScalarOp, ScalarValue, sum};

/// All elements combined; the identity if there are none.
pub fn reduce(threads: &Threads, op: ScalarOp, column: &Vector) -> ScalarValue {
    combine(op, Reduce { threads, column })
}

/// One element for each segment, as [`reduce`] would give it.
pub fn seg_reduce(threads: &Threads, op: ScalarOp, column: &Vector, descriptor: &Descriptor) -> Result<Vector, Fault> {
    combine(op, SegReduce { threads, column, descriptor })
}

struct Reduce<'a> {
    threads: &'a Threads,
    column: &'a Vector,
}

impl Combiner for Reduce<'_> {
    type Output = ScalarValue;

    fn exact<T: Element>(self, identity: T, combine: impl Fn(T, T) -> T + Copy + Send + Sync) -> ScalarValue {
        exact(self.threads, identity, combine, slice_of(self.column).elements()).to_value()
    }

    fn ordered(self, identity: f64, combine: impl Fn(f64, f64) -> f64 + Copy + Send + Sync) -> ScalarValue {
        ordered(self.threads, identity, combine, self.column.elements()).to_value()
    }
}

/// Reduces many elements by an exact operation.
fn exact<T: Element>(
    threads: &Threads,
    identity: T,
    combine: impl Fn(T, T) -> T + Copy + Send + Sync,
    elements: &[T],
) -> T {
    match threads.workers.pieces(elements.len(), GRAIN) {
        1 => fold(identity, combine, elements),
        pieces => {
            let ranges = split(elements.len(), pieces);
            let parts = threads.workers.each(ranges, |_, range| fold(identity, combine, &elements[range]));
            parts.into_iter().fold(identity, combine)
        }
    }
}

/// Independent accumulators of an exact reduction: four AVX2 registers of ints.
const ACCUMULATORS: usize = 16;

/// Reduces elements by an exact operation, on this thread.
pub fn fold<T: Element>(identity: T, combine: impl Fn(T, T) -> T + Copy, elements: &[T]) -> T {
    if elements.len() < 2 * ACCUMULATORS {
        return elements.iter().fold(identity, |before, &element| combine(before, element));
    }
    wide(|| {
        let mut accumulators = [identity; ACCUMULATORS];
        let rows = elements.chunks_exact(ACCUMULATORS);
        let rest = rows.remainder();
        for row in rows {
            for (accumulator, &element) in accumulators.iter_mut().zip(row) {
                *accumulator = combine(*accumulator, element);
            }
        }
        accumulators.iter().chain(rest).fold(identity, |before, &element| combine(before, element))
    })
}

/// Elements of a piece of an ordered reduction: a power of two of blocks.
const PIECE: usize = 64 * sum::BLOCK;

/// Reduces many floats as [`sum`] defines.
fn ordered(
    threads: &Threads,
    identity: f64,
    combine: impl Fn(f64, f64) -> f64 + Copy + Send + Sync,
    elements: &[f64],
) -> f64 {
    let pieces = threads.workers.pieces(elements.len(), GRAIN);
    if pieces == 1 {
        return tree_of(identity, combine, elements);
    }
    // Both units are a power of two of blocks; the smaller serves columns that are too short for the other.
    let unit = if elements.len() / PIECE >= pieces { PIECE } else { GRAIN };
    let parts = threads.workers.each(split_aligned(elements.len(), pieces, unit), |_, range| {
        elements[range].chunks(unit).map(|piece| tree_of(identity, combine, piece)).collect::<Vec<_>>()
    });
    sum::tree(identity, combine, &parts.concat())
}

/// Reduces floats as [`sum`] defines, on this thread.
fn tree_of(identity: f64, combine: impl Fn(f64, f64) -> f64 + Copy, elements: &[f64]) -> f64 {
    if elements.len() <= sum::LANES {
        return short(identity, combine, elements);
    }
    wide(|| sum::reduce(identity, combine, elements))
}

/// [`sum::block`] of no more elements than lanes: the lanes without an element hold the identity, and combining with it
/// changes nothing. (The one exception, negative zero plus zero, cannot occur: a lane is never negative zero where the
/// identity is zero, since it starts as zero plus its element.)
fn short(identity: f64, combine: impl Fn(f64, f64) -> f64, elements: &[f64]) -> f64 {
    let mut lane = [identity; sum::LANES];
    for (lane, &element) in lane.iter_mut().zip(elements) {
        *lane = combine(identity, element);
    }
    let mut width = sum::LANES;
    while width > 1 {
        width /= 2;
        for i in 0..width.min(elements.len().saturating_sub(width)) {
            lane[i] = combine(lane[i], lane[i + width]);
        }
    }
    lane[0]
}

struct SegReduce<'a> {
    threads: &'a Threads,
    column: &'a Vector,
    descriptor: &'a Descriptor,
}

impl Combiner for SegReduce<'_> {
    type Output = Result<Vector, Fault>;

    fn exact<T: Element>(self, identity: T, combine: impl Fn(T, T) -> T + Copy + Send + Sync) -> Self::Output {
        self.each(
            |elements| fold(identity, combine, elements),
            |elements| exact(self.threads, identity, combine, elements),
        )
    }

    fn ordered(self, identity: f64, combine: impl Fn(f64, f64) -> f64 + Copy + Send + Sync) -> Self::Output {
        self.each(
            |elements| tree_of(identity, combine, elements),
            |elements| ordered(self.threads, identity, combine, elements),
        )
    }
}

impl SegReduce<'_> {
    /// Reduces runs of segments on one thread each, and huge segments on all.
    fn each<T: Element>(
        &self,
        on_this_thread: impl Fn(&[T]) -> T + Sync,
        on_all: impl Fn(&[T]) -> T,
    ) -> Result<Vector, Fault> {
        let elements = slice_of::<T>(self.column).elements();
        let mut output = Output::reserve(&self.threads.meter, self.descriptor.segments())?;
        let Some(runs) = runs(self.threads, self.descriptor)? else {
            let mut writer = output.writer();
            for (start, length) in self.descriptor.iter() {
                writer.push(on_this_thread(&elements[start..start + length]));
            }
            drop(writer);
            return Ok(wrap(output.finish(&self.threads.meter)));
        };
        let (starts, lengths) = (self.descriptor.starts()?, self.descriptor.lengths());
        let segment = |segment: usize| {
            let start = starts[segment] as usize;
            &elements[start..start + lengths[segment] as usize]
        };
        let writers = output.writers(runs.iter().map(|run| run.segments.len()));
        let (huge, small): (Vec<_>, Vec<_>) = runs.into_iter().zip(writers).partition(|(run, _)| run.huge);
        self.threads.workers.each(small, |_, (run, mut writer): (Run, Writer<'_, T>)| {
            run.segments.for_each(|number| writer.push(on_this_thread(segment(number))));
        });
        for (run, mut writer) in huge {
            run.segments.for_each(|number| writer.push(on_all(segment(number))));
        }
        Ok(wrap(output.finish(&self.threads.meter)))
    }
}

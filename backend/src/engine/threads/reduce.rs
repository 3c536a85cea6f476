//! Reductions of whole columns and of each segment, to elements or to where the extreme one is.
//!
//! Exact operations are combined in whatever order is fastest: several accumulators, then pieces. Float addition and
//! multiplication follow [`nesl_prim::sum`] to the bit: a piece is a power of two of its blocks, so that the tree over
//! a piece's blocks is a subtree of the tree over all of them.

use super::Threads;
use super::column::{slice_of, wrap};
use super::output::{Output, Writer};
use super::segment::{Run, runs};
use super::tuning::GRAIN;
use super::workers::{split, split_aligned};
use crate::data::descriptor::Descriptor;
use crate::data::vector::Vector;
use crate::engine::Fault;
use nesl_native::wide;
use nesl_prim::extreme::extreme;
use nesl_prim::{Element, Extreme, MonoidVisitor, ScalarOp, ScalarValue, sum};

/// All elements combined; the identity if there are none.
pub fn reduce(threads: &Threads, op: ScalarOp, column: &Vector) -> Result<ScalarValue, Fault> {
    op.visit_monoid(Reduce { threads, column })
}

/// One element for each segment, as [`reduce`] would give it.
pub fn seg_reduce(threads: &Threads, op: ScalarOp, column: &Vector, descriptor: &Descriptor) -> Result<Vector, Fault> {
    op.visit_monoid(SegReduce { threads, column, descriptor })
}

/// The index of the extreme element.
pub fn reduce_index(threads: &Threads, op: ScalarOp, column: &Vector) -> Result<i64, Fault> {
    op.visit_monoid(ReduceIndex { threads, column })
}

/// The same in each segment.
pub fn seg_reduce_index(
    threads: &Threads,
    op: ScalarOp,
    column: &Vector,
    descriptor: &Descriptor,
) -> Result<Vector, Fault> {
    op.visit_monoid(SegReduceIndex(SegReduce { threads, column, descriptor }))
}

struct Reduce<'a> {
    threads: &'a Threads,
    column: &'a Vector,
}

impl MonoidVisitor for Reduce<'_> {
    type Output = Result<ScalarValue, Fault>;

    fn exact<T: Element>(self, identity: T, combine: impl Fn(T, T) -> T + Copy + Send + Sync) -> Self::Output {
        let elements = slice_of(self.column).elements();
        Ok(exact(self.threads, &|elements| fold(identity, combine, elements), elements)?.to_value())
    }

    fn ordered(self, identity: f64, combine: impl Fn(f64, f64) -> f64 + Copy + Send + Sync) -> Self::Output {
        Ok(ordered(self.threads, identity, combine, self.column.elements())?.to_value())
    }
}

/// How one thread reduces elements. Called through a pointer, so that the division of the work is not compiled again
/// for each operation.
type Fold<'a, T> = dyn Fn(&[T]) -> T + Sync + 'a;

/// Reduces many elements by an exact operation.
fn exact<T: Element>(threads: &Threads, fold: &Fold<'_, T>, elements: &[T]) -> Result<T, Fault> {
    match threads.workers.pieces(elements.len(), GRAIN) {
        1 => Ok(fold(elements)),
        pieces => {
            let ranges = split(elements.len(), pieces);
            Ok(fold(&threads.workers.try_each(ranges, &|range| Ok(fold(&elements[range])))?))
        }
    }
}

/// Independent accumulators of an exact reduction: four AVX2 registers of ints or floats.
const ACCUMULATORS: usize = 16;
/// The same for bools and chars, in two registers.
const BYTE_ACCUMULATORS: usize = 64;

/// Reduces elements by an exact operation, on this thread.
pub fn fold<T: Element>(identity: T, combine: impl Fn(T, T) -> T + Copy, elements: &[T]) -> T {
    if elements.len() < 2 * ACCUMULATORS {
        return elements.iter().fold(identity, |before, &element| combine(before, element));
    }
    match size_of::<T>() {
        1 => fold_in::<T, BYTE_ACCUMULATORS>(identity, combine, elements),
        _ => fold_in::<T, ACCUMULATORS>(identity, combine, elements),
    }
}

/// Reduces elements in this many accumulators.
#[inline(always)]
fn fold_in<T: Element, const N: usize>(identity: T, combine: impl Fn(T, T) -> T + Copy, elements: &[T]) -> T {
    wide(|| {
        let mut accumulators = [identity; N];
        let rows = elements.chunks_exact(N);
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
) -> Result<f64, Fault> {
    if elements.len() <= sum::LANES {
        return Ok(sum::short(identity, combine, elements));
    }
    let reduce = |elements: &[f64]| wide(|| sum::reduce(identity, combine, elements));
    let pieces = threads.workers.pieces(elements.len(), GRAIN);
    if pieces == 1 {
        return Ok(reduce(elements));
    }
    // Both units are a power of two of blocks; the smaller serves columns that are too short for the other.
    let unit = if elements.len() / PIECE >= pieces { PIECE } else { GRAIN };
    let parts = threads.workers.try_each(split_aligned(elements.len(), pieces, unit), &|range| {
        Ok(elements[range].chunks(unit).map(reduce).collect::<Vec<_>>())
    })?;
    Ok(sum::tree(identity, combine, &parts.concat()))
}

struct SegReduce<'a> {
    threads: &'a Threads,
    column: &'a Vector,
    descriptor: &'a Descriptor,
}

impl MonoidVisitor for SegReduce<'_> {
    type Output = Result<Vector, Fault>;

    fn exact<T: Element>(self, identity: T, combine: impl Fn(T, T) -> T + Copy + Send + Sync) -> Self::Output {
        let fold = |elements: &[T]| fold(identity, combine, elements);
        let data = slice_of::<T>(self.column).elements();
        let each = |run: &Run, writer: &mut Writer<'_, T>| {
            for (start, length) in run.iter(self.descriptor) {
                writer.push(fold(&data[start..start + length]));
            }
        };
        self.all(&each, &|run| {
            let (start, length) = run.first(self.descriptor);
            exact(self.threads, &fold, &data[start..start + length])
        })
    }

    fn ordered(self, identity: f64, combine: impl Fn(f64, f64) -> f64 + Copy + Send + Sync) -> Self::Output {
        let data = self.column.elements::<f64>();
        let each = |run: &Run, writer: &mut Writer<'_, f64>| {
            // Segments may be short: all of them in one loop for vectors, not a loop for each.
            wide(|| {
                for (start, length) in run.iter(self.descriptor) {
                    let elements = &data[start..start + length];
                    writer.push(if length <= sum::LANES {
                        sum::short(identity, combine, elements)
                    } else {
                        sum::reduce(identity, combine, elements)
                    });
                }
            });
        };
        self.all(&each, &|run| {
            let (start, length) = run.first(self.descriptor);
            ordered(self.threads, identity, combine, &data[start..start + length])
        })
    }
}

impl SegReduce<'_> {
    /// Reduces runs of segments on one thread each, and huge segments on all.
    fn all<T: Element>(
        &self,
        each: &(dyn Fn(&Run, &mut Writer<'_, T>) + Sync),
        huge: &dyn Fn(&Run) -> Result<T, Fault>,
    ) -> Result<Vector, Fault> {
        let mut output = Output::reserve(&self.threads.meter, self.descriptor.segments())?;
        let runs = runs(self.threads, self.descriptor)?;
        let writers = output.writers(runs.iter().map(|run| run.segments.len()));
        let (shared, others): (Vec<_>, Vec<_>) = runs.into_iter().zip(writers).partition(|(run, _)| run.huge);
        self.threads.workers.try_each(others, &|(run, mut writer): (Run, Writer<'_, T>)| {
            each(&run, &mut writer);
            Ok(())
        })?;
        for (run, mut writer) in shared {
            writer.push(huge(&run)?);
        }
        Ok(wrap(output.finish(&self.threads.meter)))
    }
}

struct ReduceIndex<'a> {
    threads: &'a Threads,
    column: &'a Vector,
}

impl MonoidVisitor for ReduceIndex<'_> {
    type Output = Result<i64, Fault>;

    fn exact<T: Element>(self, identity: T, combine: impl Fn(T, T) -> T + Copy + Send + Sync) -> Self::Output {
        let elements = slice_of::<T>(self.column).elements();
        Ok(extreme_of_parts(self.threads, identity, combine, elements)?.index)
    }

    fn ordered(self, _: f64, _: impl Fn(f64, f64) -> f64 + Copy + Send + Sync) -> Self::Output {
        unreachable!("a sum is nowhere: the verifier excludes that")
    }
}

struct SegReduceIndex<'a>(SegReduce<'a>);

impl MonoidVisitor for SegReduceIndex<'_> {
    type Output = Result<Vector, Fault>;

    fn exact<T: Element>(self, identity: T, combine: impl Fn(T, T) -> T + Copy + Send + Sync) -> Self::Output {
        let SegReduceIndex(segments) = self;
        let data = slice_of::<T>(segments.column).elements();
        let each = |run: &Run, writer: &mut Writer<'_, i64>| {
            wide(|| {
                for (start, length) in run.iter(segments.descriptor) {
                    writer.push(extreme(identity, combine, &data[start..start + length]).index);
                }
            });
        };
        segments.all(&each, &|run| {
            let (start, length) = run.first(segments.descriptor);
            Ok(extreme_of_parts(segments.threads, identity, combine, &data[start..start + length])?.index)
        })
    }

    fn ordered(self, _: f64, _: impl Fn(f64, f64) -> f64 + Copy + Send + Sync) -> Self::Output {
        unreachable!("a sum is nowhere: the verifier excludes that")
    }
}

/// The extreme one of many elements: that of parts, put together in their order.
fn extreme_of_parts<T: Element>(
    threads: &Threads,
    identity: T,
    combine: impl Fn(T, T) -> T + Copy + Send + Sync,
    elements: &[T],
) -> Result<Extreme<T>, Fault> {
    let ranges = split(elements.len(), threads.workers.pieces(elements.len(), GRAIN));
    let parts = threads.workers.try_each(ranges, &|range| {
        let first = range.start;
        Ok(wide(|| extreme(identity, combine, &elements[range])).from(first))
    })?;
    Ok(parts.into_iter().fold(Extreme::none(identity), |before, later| before.then(combine, later)))
}

//! Instructions that compute every element by itself: `map`, `iota`, `dist`.
//!
//! Each operation is compiled into one loop over blocks of [`BLOCK`] elements. What makes operands different is taken
//! care of a block at a time: a scalar is a block of copies made once, and an operand that is overwritten by its own
//! result is copied aside before. Results of operations that can fail are computed without leaving the loop; the block
//! in which one failed is then searched for the first.

use super::Threads;
use super::column::{slice_of, slice_of_mut, wrap};
use super::output::{Aside, Same, Writer};
use super::tuning::{BLOCK, GRAIN, GRAIN_COSTLY};
use super::workers::{parts, split};
use crate::data::vector::{Slice, Vector};
use crate::engine::{Fault, Fill, MapOperand};
use nesl_prim::{Cost, Element, Failure, ScalarOp, ScalarValue, Visitor};
use std::ops::Range;

/// Elements made of scalars and indices.
pub fn run(threads: &Threads, fill: Fill) -> Result<Vector, Fault> {
    match fill {
        Fill::Iota(length) => iota(threads, length),
        Fill::Dist(value, length) => dist(threads, value, length),
    }
}

/// `iota`.
fn iota(threads: &Threads, length: usize) -> Result<Vector, Fault> {
    let column = threads.workers.fill(&threads.meter, length, GRAIN, |range, writer| {
        writer.compute(range.len(), |position| (range.start + position) as i64);
    })?;
    Ok(Vector::Int(column))
}

/// `dist`.
fn dist(threads: &Threads, value: ScalarValue, length: usize) -> Result<Vector, Fault> {
    fn copies<T: Element>(threads: &Threads, value: T, length: usize) -> Result<Vector, Fault> {
        let copies = threads.workers.fill(&threads.meter, length, GRAIN, |range, writer| {
            writer.repeat(value, range.len());
        })?;
        Ok(wrap(copies.constant()))
    }
    match value {
        ScalarValue::Int(value) => copies(threads, value, length),
        ScalarValue::Float(value) => copies(threads, value, length),
        ScalarValue::Bool(value) => copies(threads, value, length),
        ScalarValue::Char(value) => copies(threads, value, length),
    }
}

/// An elementwise instruction.
pub fn map(threads: &Threads, op: ScalarOp, operands: Vec<MapOperand<Vector>>) -> Result<Vector, Fault> {
    let length = MapOperand::length(op, &operands);
    op.visit(Map { threads, op, operands, length })
}

/// How many elements are worth a task.
pub fn grain(op: ScalarOp) -> usize {
    match op.row().cost {
        Cost::Long => GRAIN_COSTLY,
        Cost::Direct | Cost::Several | Cost::Call => GRAIN,
    }
}

/// What an operand reads, as the loop sees it.
enum Source<'a, A, R> {
    /// The elements of a column.
    Column(&'a [A]),
    /// A block of copies of a scalar.
    Scalar([A; BLOCK]),
    /// The elements that the results overwrite.
    Overwritten(Same<R, A>),
}

impl<A: Element, R: Element> Source<'_, A, R> {
    /// The operand's elements in a range of at most a block.
    #[inline(always)]
    fn block<'b>(&'b self, range: &Range<usize>, writer: &Writer<'_, R>, aside: &'b mut Aside<A, BLOCK>) -> &'b [A] {
        match self {
            Source::Column(elements) => &elements[range.clone()],
            Source::Scalar(copies) => &copies[..range.len()],
            Source::Overwritten(same) => aside.copy(writer.overwritten(range.len()), *same),
        }
    }
}

struct Map<'a> {
    threads: &'a Threads,
    op: ScalarOp,
    operands: Vec<MapOperand<Vector>>,
    length: usize,
}

/// Where the results of an operation go.
enum Target<R> {
    /// To a new column.
    New,
    /// Over the elements of this operand, which nobody else sees.
    Over(usize, Slice<R>),
    /// Nowhere: if none fails, this operand is the result.
    Checked(Vector),
}

impl Map<'_> {
    /// Decides where the results go, and takes an operand that they overwrite away.
    fn target<R: Element>(&mut self) -> Target<R> {
        if let Some(MapOperand::Column(column)) = self.op.checked_operand().map(|index| &self.operands[index]) {
            return Target::Checked(column.clone());
        }
        for (index, operand) in self.operands.iter_mut().enumerate() {
            let MapOperand::Column(column) = operand else { continue };
            let Some(slice) = slice_of_mut::<R>(column).filter(|slice| slice.elements().len() == self.length) else {
                continue;
            };
            if slice.unique().is_some() {
                let slice = slice.clone();
                // The operand's own share goes, so that the slice is the only one again.
                *operand = MapOperand::Scalar(ScalarValue::Bool(false));
                return Target::Over(index, slice);
            }
        }
        Target::New
    }

    fn source<A: Element, R: Element>(&self, index: usize, target: &Target<R>) -> Source<'_, A, R> {
        match (&self.operands[index], target) {
            (_, Target::Over(over, _)) if *over == index => Source::Overwritten(
                Same::new().unwrap_or_else(|| unreachable!("only operands of the result's type are overwritten")),
            ),
            (MapOperand::Column(column), _) => Source::Column(slice_of(column).elements()),
            (MapOperand::Scalar(value), _) => Source::Scalar([A::from_value(*value); BLOCK]),
        }
    }

    /// Runs the loop of the operation over all blocks, in pieces. In a block, it gives the position of the first
    /// failure.
    ///
    /// The loop is called through a pointer, once per block: all that is here is compiled per type, not per operation.
    fn run<R: Element>(&self, target: Target<R>, block: &Loop<'_, R>) -> Result<Vector, Fault> {
        let (workers, grain) = (&self.threads.workers, grain(self.op));
        match target {
            Target::New => {
                let column = workers.try_fill(&self.threads.meter, self.length, grain, &|range, writer| {
                    blocks(range, |range| block(range, writer))
                })?;
                Ok(wrap(column))
            }
            Target::Over(_, mut slice) => {
                let elements = slice.own();
                let ranges = split(self.length, workers.pieces(self.length, grain));
                let items = ranges.clone().into_iter().zip(parts(elements, &ranges)).collect();
                workers.try_each(items, &|(range, part): (Range<usize>, &mut [R])| {
                    let mut writer = Writer::over(part);
                    blocks(range, |range| block(range, &mut writer))
                })?;
                Ok(wrap(slice))
            }
            Target::Checked(column) => {
                workers.try_each(split(self.length, workers.pieces(self.length, grain)), &|range| {
                    let mut unused = [R::default(); BLOCK];
                    blocks(range, |range| block(range, &mut Writer::over(&mut unused)))
                })?;
                Ok(column)
            }
        }
    }
}

/// The loop of an operation over one block; how and where in the block it failed first.
type Loop<'a, R> = dyn Fn(&Range<usize>, &mut Writer<'_, R>) -> Result<(), (usize, Failure)> + Sync + 'a;

/// Calls a loop for each block of a range, until one fails.
fn blocks(
    range: Range<usize>,
    mut block: impl FnMut(&Range<usize>) -> Result<(), (usize, Failure)>,
) -> Result<(), Fault> {
    let mut start = range.start;
    while start < range.end {
        let end = range.end.min(start + BLOCK);
        block(&(start..end)).map_err(|(position, failure)| Fault { failure, element: start + position })?;
        start = end;
    }
    Ok(())
}

impl Visitor for Map<'_> {
    type Output = Result<Vector, Fault>;

    fn unary<A: Element, R: Element>(self, f: impl Fn(A) -> R + Copy + Send + Sync + 'static) -> Self::Output {
        self.try_unary(move |a| Ok(f(a)))
    }

    fn binary<A: Element, B: Element, R: Element>(
        self,
        f: impl Fn(A, B) -> R + Copy + Send + Sync + 'static,
    ) -> Self::Output {
        self.try_binary(move |a, b| Ok(f(a, b)))
    }

    fn ternary<A: Element, B: Element, C: Element, R: Element>(
        self,
        f: impl Fn(A, B, C) -> R + Copy + Send + Sync + 'static,
    ) -> Self::Output {
        self.try_ternary(move |a, b, c| Ok(f(a, b, c)))
    }

    fn try_unary<A: Element, R: Element>(
        mut self,
        f: impl Fn(A) -> Result<R, Failure> + Copy + Send + Sync + 'static,
    ) -> Self::Output {
        let target = self.target();
        let a = self.source(0, &target);
        self.run(target, &|range, writer| {
            let mut aside = Aside::new();
            let a = a.block(range, writer, &mut aside);
            let mut failed = false;
            writer.map(a, |a| or_note(f(a), &mut failed));
            first(failed, a.iter().map(|&a| f(a)))
        })
    }

    fn try_binary<A: Element, B: Element, R: Element>(
        mut self,
        f: impl Fn(A, B) -> Result<R, Failure> + Copy + Send + Sync + 'static,
    ) -> Self::Output {
        let target = self.target();
        let (a, b) = (self.source(0, &target), self.source(1, &target));
        self.run(target, &|range, writer| {
            let mut aside = (Aside::new(), Aside::new());
            let (a, b) = (a.block(range, writer, &mut aside.0), b.block(range, writer, &mut aside.1));
            let mut failed = false;
            writer.map2(a, b, |a, b| or_note(f(a, b), &mut failed));
            first(failed, a.iter().zip(b).map(|(&a, &b)| f(a, b)))
        })
    }

    fn try_ternary<A: Element, B: Element, C: Element, R: Element>(
        mut self,
        f: impl Fn(A, B, C) -> Result<R, Failure> + Copy + Send + Sync + 'static,
    ) -> Self::Output {
        let target = self.target();
        let (a, b, c) = (self.source(0, &target), self.source(1, &target), self.source(2, &target));
        self.run(target, &|range, writer| {
            let mut aside = (Aside::new(), Aside::new(), Aside::new());
            let (a, b) = (a.block(range, writer, &mut aside.0), b.block(range, writer, &mut aside.1));
            let c = c.block(range, writer, &mut aside.2);
            let mut failed = false;
            writer.map3((a, b, c), |a, b, c| or_note(f(a, b, c), &mut failed));
            first(failed, a.iter().zip(b).zip(c).map(|((&a, &b), &c)| f(a, b, c)))
        })
    }
}

/// The result; or any element, and that there was none.
#[inline(always)]
fn or_note<R: Element>(result: Result<R, Failure>, failed: &mut bool) -> R {
    // Without a branch, so that the loop stays one of vector instructions.
    *failed |= result.is_err();
    result.unwrap_or_default()
}

/// If any of these results is known to be a failure, the first such and its position.
#[inline(always)]
fn first<R>(failed: bool, results: impl Iterator<Item = Result<R, Failure>>) -> Result<(), (usize, Failure)> {
    if !failed {
        return Ok(());
    }
    for (position, result) in results.enumerate() {
        result.map_err(|failure| (position, failure))?;
    }
    Ok(())
}

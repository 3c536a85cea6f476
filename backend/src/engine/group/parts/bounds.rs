//! Which elements a part of a group reads at other indices than its own: those within the interval of the indices that
//! it computes ([`Plan::intervals_of`](nesl_native::Plan::intervals_of)). All elements where nothing is known.

use super::Partial;
use nesl_native::{KnownInputs, PlanNode, PlanOperand};
use nesl_prim::Interval;
use std::ops::Range;

/// What is at hand of the inputs of a part.
pub trait Inputs {
    /// The interval of a scalar, or of the elements of a column at the indices or segments of the part.
    fn input(&self, input: usize) -> Option<Interval>;
    /// That of those elements of a column that have indices in a range.
    fn elements_in(&self, column: usize, range: Range<usize>) -> Option<Interval>;
    /// How many elements a column has.
    fn length(&self, column: usize) -> usize;
    /// The indices of the part.
    fn indices(&self) -> Range<usize>;
    /// The most elements of one of the segments of a descriptor of which the part has some.
    fn longest(&self, descriptor: usize) -> usize;
    /// The range in their data of the segments of a descriptor in the part.
    fn view(&self, descriptor: usize) -> Range<usize>;
}

impl Partial {
    /// For each of the columns that it reads elsewhere, a range that has all indices of what the part reads there.
    pub fn bounds(&self, inputs: &impl Inputs) -> Vec<Range<usize>> {
        let known = Known(inputs);
        let is_index = |node: &&PlanNode| matches!(node.read_elsewhere(), Some((_, None)));
        let indices: Vec<PlanOperand> = self.plan.nodes.iter().filter(is_index).map(|node| node.operands[1]).collect();
        let nodes = self.plan.intervals_of(&known, &indices);
        let of = |column: usize| {
            let ranges = self.plan.nodes.iter().filter_map(|node| match node.read_elsewhere()? {
                (read, _) if read != column => None,
                (_, Some(descriptor)) => Some(known.view(column, descriptor)),
                (_, None) => Some(known.range(column, self.plan.interval_of(&known, &nodes, node.operands[1]))),
            });
            let ranges = ranges.filter(|range| !range.is_empty());
            ranges.reduce(|all, range| all.start.min(range.start)..all.end.max(range.end)).unwrap_or(0..0)
        };
        self.reads.iter().map(|&column| of(column)).collect()
    }
}

struct Known<'i, I>(&'i I);

impl<I: Inputs> Known<'_, I> {
    /// The elements of a column that have such indices: where an index is none, the loop says so.
    fn range(&self, column: usize, indices: Option<Interval>) -> Range<usize> {
        let length = self.0.length(column);
        if self.0.indices().is_empty() {
            return 0..0;
        }
        let Interval { low, high } = indices.unwrap_or(Interval::ALL);
        let end = usize::try_from(high.saturating_add(1)).unwrap_or(0).min(length);
        usize::try_from(low.max(0)).unwrap_or(0).min(end)..end
    }

    /// The elements of a column in the segments of a descriptor.
    fn view(&self, column: usize, descriptor: usize) -> Range<usize> {
        let (length, range) = (self.0.length(column), self.0.view(descriptor));
        range.start.min(length)..range.end.min(length)
    }
}

impl<I: Inputs> KnownInputs for Known<'_, I> {
    fn input(&self, input: usize) -> Option<Interval> {
        self.0.input(input)
    }

    fn indices(&self) -> Option<Interval> {
        Some(of_range(self.0.indices()))
    }

    fn positions(&self, descriptor: usize) -> Option<Interval> {
        Some(of_range(0..self.0.longest(descriptor)))
    }

    fn gathered(&self, column: usize, indices: Option<Interval>) -> Option<Interval> {
        self.0.elements_in(column, self.range(column, indices))
    }

    fn viewed(&self, column: usize, descriptor: usize) -> Option<Interval> {
        self.0.elements_in(column, self.view(column, descriptor))
    }
}

/// The interval of a range; of an empty one, its start.
fn of_range(range: Range<usize>) -> Interval {
    Interval::new(range.start as i64, range.end.max(range.start + 1) as i64 - 1)
}

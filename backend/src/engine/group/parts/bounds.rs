//! Which elements a part of a group reads at other indices than its own: bounds of the indices that it computes, by
//! interval arithmetic over what its inputs can be (Moore, *Interval Analysis*, 1966). All elements where nothing is
//! known.

use super::Partial;
use nesl_native::{NodeOp, PlanOperand};
use nesl_prim::{ScalarOp, ScalarType, ScalarValue};
use nesl_vcode::VectorOp;
use std::ops::Range;

/// The least and the largest of some ints; none where nothing is known of them.
pub type Bounds = Option<(i64, i64)>;

/// What is known of the inputs of a part.
pub trait Inputs {
    /// The value of a scalar.
    fn scalar(&self, input: usize) -> ScalarValue;
    /// Bounds of the elements of a column that the part has: those of its indices, or of its segments.
    fn elements(&self, input: usize) -> Bounds;
    /// Bounds of those elements of a column that have indices in a range; none where they are not at hand.
    fn elements_in(&self, input: usize, range: Range<usize>) -> Bounds;
    /// How many elements a column has.
    fn length(&self, input: usize) -> usize;
    /// The indices of the part.
    fn indices(&self) -> Range<usize>;
    /// The most elements of one of the segments of a descriptor of which the part has some.
    fn longest(&self, input: usize) -> usize;
    /// The range in their data of the segments of a descriptor in the part.
    fn view(&self, input: usize) -> Range<usize>;
}

impl Partial {
    /// For each of the columns that it reads elsewhere, a range that has all indices of what the part reads there.
    pub fn bounds(&self, inputs: &impl Inputs) -> Vec<Range<usize>> {
        let mut known = Known { partial: self, inputs, nodes: vec![None; self.plan.nodes.len()] };
        for number in 0..self.plan.nodes.len() {
            known.nodes[number] = known.node(number);
        }
        self.reads.iter().map(|&column| known.read(column)).collect()
    }
}

struct Known<'p, I> {
    partial: &'p Partial,
    inputs: &'p I,
    nodes: Vec<Bounds>,
}

impl<I: Inputs> Known<'_, I> {
    /// What all nodes read of a column.
    fn read(&self, column: usize) -> Range<usize> {
        let length = self.inputs.length(column);
        let mut all: Option<Range<usize>> = None;
        for node in &self.partial.plan.nodes {
            let range = match node.read_elsewhere() {
                Some((of, None)) if of == column => self.gathered(column, node.operands[1]),
                Some((of, Some(descriptor))) if of == column => self.inputs.view(descriptor),
                _ => continue,
            };
            let range = range.start.min(length)..range.end.min(length);
            all = match all {
                Some(before) if range.is_empty() => Some(before),
                Some(before) if !before.is_empty() => Some(before.start.min(range.start)..before.end.max(range.end)),
                _ => Some(range),
            };
        }
        all.unwrap_or(0..0)
    }

    /// The elements of a column that an index reads.
    fn gathered(&self, column: usize, index: PlanOperand) -> Range<usize> {
        let length = self.inputs.length(column);
        if self.inputs.indices().is_empty() {
            return 0..0;
        }
        match self.operand(index) {
            // Where an index is none, the loop says so.
            Some((least, most)) => {
                let end = usize::try_from(most.saturating_add(1)).unwrap_or(0).min(length);
                usize::try_from(least).unwrap_or(0).min(end)..end
            }
            None => 0..length,
        }
    }

    fn operand(&self, source: PlanOperand) -> Bounds {
        match source {
            PlanOperand::Node(node) => self.nodes[node],
            PlanOperand::Constant(value) => of_value(value),
            PlanOperand::Input(input) => match self.partial.plan.inputs[input] {
                nesl_vcode::RegisterType::Scalar(_) => of_value(self.inputs.scalar(input)),
                nesl_vcode::RegisterType::Column(ScalarType::Int) => self.inputs.elements(input),
                _ => None,
            },
        }
    }

    fn node(&self, number: usize) -> Bounds {
        let node = &self.partial.plan.nodes[number];
        if node.ty != ScalarType::Int {
            return None;
        }
        match (node.op, node.operands.as_slice()) {
            (NodeOp::Map(op), operands) => {
                let operands: Vec<Bounds> = operands.iter().map(|&source| self.operand(source)).collect();
                of_map(op, &operands)
            }
            (NodeOp::Vector(VectorOp::Iota), _) => Some(of_range(self.inputs.indices())),
            (NodeOp::Vector(VectorOp::SegIota), &[PlanOperand::Input(descriptor)]) => {
                Some(of_range(0..self.inputs.longest(descriptor)))
            }
            (NodeOp::Vector(VectorOp::Dist | VectorOp::SegDist | VectorOp::Pack), operands) => {
                self.operand(operands[0])
            }
            (NodeOp::Vector(VectorOp::Merge), operands) => {
                operands[1..].iter().map(|&source| self.operand(source)).reduce(union).flatten()
            }
            (NodeOp::Vector(VectorOp::Gather), &[PlanOperand::Input(column), index]) => {
                self.inputs.elements_in(column, self.gathered(column, index))
            }
            (NodeOp::Vector(VectorOp::Compact), &[PlanOperand::Input(column), PlanOperand::Input(descriptor)]) => {
                let length = self.inputs.length(column);
                let range = self.inputs.view(descriptor);
                self.inputs.elements_in(column, range.start.min(length)..range.end.min(length))
            }
            _ => None,
        }
    }
}

fn of_value(value: ScalarValue) -> Bounds {
    match value {
        ScalarValue::Int(value) => Some((value, value)),
        _ => None,
    }
}

fn of_range(range: Range<usize>) -> (i64, i64) {
    (range.start as i64, range.end.max(range.start + 1) as i64 - 1)
}

fn union(left: Bounds, right: Bounds) -> Bounds {
    let (left, right) = (left?, right?);
    Some((left.0.min(right.0), left.1.max(right.1)))
}

/// Bounds of what an operation makes of operands with bounds, where none of it wraps.
fn of_map(op: ScalarOp, operands: &[Bounds]) -> Bounds {
    let at = |position: usize| operands.get(position).copied().flatten();
    match op {
        ScalarOp::AddInt => {
            let ((a, b), (c, d)) = (at(0)?, at(1)?);
            Some((a.checked_add(c)?, b.checked_add(d)?))
        }
        ScalarOp::SubtractInt => {
            let ((a, b), (c, d)) = (at(0)?, at(1)?);
            Some((a.checked_sub(d)?, b.checked_sub(c)?))
        }
        ScalarOp::MultiplyInt => {
            let ((a, b), (c, d)) = (at(0)?, at(1)?);
            let all = [a.checked_mul(c)?, a.checked_mul(d)?, b.checked_mul(c)?, b.checked_mul(d)?];
            Some((*all.iter().min()?, *all.iter().max()?))
        }
        ScalarOp::NegateInt => {
            let (a, b) = at(0)?;
            Some((b.checked_neg()?, a.checked_neg()?))
        }
        // Of two numbers of which nothing is known but one the other still says something.
        ScalarOp::MinimumInt => match (at(0), at(1)) {
            (Some((a, b)), Some((c, d))) => Some((a.min(c), b.min(d))),
            (Some((_, most)), None) | (None, Some((_, most))) => Some((i64::MIN, most)),
            (None, None) => None,
        },
        ScalarOp::MaximumInt => match (at(0), at(1)) {
            (Some((a, b)), Some((c, d))) => Some((a.max(c), b.max(d))),
            (Some((least, _)), None) | (None, Some((least, _))) => Some((least, i64::MAX)),
            (None, None) => None,
        },
        ScalarOp::DivideInt => match (at(0)?, at(1)?) {
            ((a, b), (c, d)) if c == d && c > 0 => Some((a / c, b / c)),
            _ => None,
        },
        ScalarOp::Modulo => match at(1)? {
            (c, d) if c > 0 => Some((0, d - 1)),
            _ => None,
        },
        ScalarOp::Remainder => match (at(0), at(1)?) {
            (Some((a, _)), (c, d)) if c > 0 && a >= 0 => Some((0, d - 1)),
            (_, (c, d)) if c > 0 => Some((1 - d, d - 1)),
            _ => None,
        },
        ScalarOp::SelectInt => union(at(1), at(2)),
        ScalarOp::BoolToInt => Some((0, 1)),
        ScalarOp::CheckIndex => {
            let most = at(1).map_or(i64::MAX, |(_, length)| length.saturating_sub(1));
            let (a, b) = at(0).unwrap_or((0, i64::MAX));
            Some((a.max(0), b.min(most)))
        }
        ScalarOp::CheckLength => at(0).map(|(a, b)| (a.max(0), b.max(0))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_have_all_that_operations_make_of_numbers_within_bounds() {
        let ops = [
            ScalarOp::AddInt,
            ScalarOp::SubtractInt,
            ScalarOp::MultiplyInt,
            ScalarOp::MinimumInt,
            ScalarOp::MaximumInt,
            ScalarOp::DivideInt,
            ScalarOp::Modulo,
            ScalarOp::Remainder,
            ScalarOp::CheckIndex,
        ];
        let ends = [i64::MIN, -7, -1, 0, 1, 3, 12, i64::MAX];
        let bounds: Vec<(i64, i64)> =
            ends.iter().flat_map(|&a| ends.iter().filter(move |&&b| a <= b).map(move |&b| (a, b))).collect();
        for op in ops {
            for &left in &bounds {
                for &right in &bounds {
                    let Some((least, most)) = of_map(op, &[Some(left), Some(right)]) else { continue };
                    let inside = |(a, b): (i64, i64)| [a, b, a.saturating_add(1).min(b), b.saturating_sub(1).max(a)];
                    for a in inside(left) {
                        for b in inside(right) {
                            let operands = [ScalarValue::Int(a), ScalarValue::Int(b)];
                            if let Ok(ScalarValue::Int(result)) = nesl_prim::eval(op, &operands) {
                                assert!(
                                    (least..=most).contains(&result),
                                    "{op} {a} {b}: {result} not in {least}..={most}"
                                );
                            }
                        }
                    }
                }
            }
        }
    }
}

//! How what is computed in a loop changes from one index of a strip to the next: scalar evolution.
//!
//! What does not change is computed once, when the strip begins: what `{sum({a[i][k] * b[k][j] : k in …}) : …}` looks
//! up by `i` and `j` is the same for all `k`. What goes up evenly is checked at its ends, and then counted up: an
//! index into a column from there on, by one or by a stride. Columns that are known to be arithmetic progressions when
//! the loop runs ([`Stride`]), as the starts of the rows of a matrix are, are no more than such a count.
//!
//! ```text
//! invariant    x of outside, seg_dist, an operation or a gather by what is invariant, of equal elements
//! stride 1     iota, seg_iota, a progression by one, read at such an index
//! affine       sums of these, products with what is invariant, other progressions
//! ```

use super::super::plan::{NodeOp, Plan, PlanNode, PlanOperand, Stride};
use nesl_prim::{ScalarOp, ScalarType, ScalarValue};
use nesl_vcode::{RegisterType, VectorOp};

/// How a source changes from one index of a strip to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Evolution {
    /// Not at all.
    Invariant,
    /// An int goes up by this.
    By(i64),
    /// An int goes up by what is known when the strip begins.
    Affine,
}

/// The evolution of each node, as far as one is known; `live` says which are computed.
pub(super) fn evolutions(plan: &Plan, live: &[bool]) -> Vec<Option<Evolution>> {
    let mut found = Vec::with_capacity(plan.nodes.len());
    for (number, node) in plan.nodes.iter().enumerate() {
        let evolution = if node.space == 0 { of_node(plan, &found, node, live[number]) } else { None };
        found.push(evolution);
    }
    found
}

/// The evolution of a source, where that of all nodes before it is known.
pub(super) fn of_source(plan: &Plan, found: &[Option<Evolution>], source: PlanOperand) -> Option<Evolution> {
    match source {
        PlanOperand::Node(number) => found[number],
        PlanOperand::Constant(_) => Some(Evolution::Invariant),
        PlanOperand::Input(input) => match plan.inputs[input] {
            RegisterType::Scalar(_) => Some(Evolution::Invariant),
            RegisterType::Column(_) | RegisterType::Descriptor => None,
        },
    }
}

fn of_node(plan: &Plan, found: &[Option<Evolution>], node: &PlanNode, is_live: bool) -> Option<Evolution> {
    let of = |source| of_source(plan, found, source);
    match (node.op, &node.operands[..]) {
        (NodeOp::Vector(VectorOp::Iota | VectorOp::SegIota), _) => Some(Evolution::By(1)),
        (NodeOp::Vector(VectorOp::SegDist), _) => is_live.then_some(Evolution::Invariant),
        (NodeOp::Vector(VectorOp::Compact), &[PlanOperand::Input(column), _]) => {
            read_along(plan.stride_of(column)?, Evolution::By(1))
        }
        (NodeOp::Vector(VectorOp::Gather), &[PlanOperand::Input(column), index]) => {
            match (plan.stride_of(column), of(index)) {
                (Some(Stride::Zero), _) => Some(Evolution::Invariant),
                (Some(stride), Some(index)) => read_along(stride, index),
                (None, Some(Evolution::Invariant)) => is_live.then_some(Evolution::Invariant),
                _ => None,
            }
        }
        (NodeOp::Map(op), operands) => {
            let evolutions = operands.iter().map(|&operand| of(operand)).collect::<Option<Vec<Evolution>>>()?;
            if evolutions.iter().all(|&evolution| evolution == Evolution::Invariant) {
                return is_live.then_some(Evolution::Invariant);
            }
            let is_int = |&operand: &PlanOperand| plan.type_of(operand) == ScalarType::Int;
            match (op, &evolutions[..], operands) {
                _ if !operands.iter().all(is_int) => None,
                (ScalarOp::CheckIndex, &[index, Evolution::Invariant], _) => Some(index),
                (ScalarOp::AddInt, &[a, b], _) => sum(a, b, i64::checked_add),
                (ScalarOp::SubtractInt, &[a, b], _) => sum(a, b, i64::checked_sub),
                (ScalarOp::MultiplyInt, &[a, b], &[first, second]) => product((a, first), (b, second)),
                _ => None,
            }
        }
        (NodeOp::Vector(_), _) => None,
    }
}

/// What the elements of a progression do where the places at which they are read do this.
fn read_along(stride: Stride, places: Evolution) -> Option<Evolution> {
    match (stride, places) {
        (Stride::Zero, _) => Some(Evolution::Invariant),
        (Stride::One, places) => Some(places),
        (Stride::Other, Evolution::Invariant) => Some(Evolution::Invariant),
        (Stride::Other, _) => Some(Evolution::Affine),
    }
}

fn sum(a: Evolution, b: Evolution, combine: fn(i64, i64) -> Option<i64>) -> Option<Evolution> {
    let by = |evolution| match evolution {
        Evolution::Invariant => Some(0),
        Evolution::By(stride) => Some(stride),
        Evolution::Affine => None,
    };
    match (by(a), by(b)) {
        (Some(a), Some(b)) => combine(a, b).map(Evolution::By),
        _ => Some(Evolution::Affine),
    }
}

fn product(a: (Evolution, PlanOperand), b: (Evolution, PlanOperand)) -> Option<Evolution> {
    let (evolution, factor) = match (a, b) {
        ((Evolution::Invariant, factor), (other, _)) | ((other, _), (Evolution::Invariant, factor)) => (other, factor),
        // A square does not go up evenly.
        _ => return None,
    };
    match (evolution, factor) {
        (Evolution::By(stride), PlanOperand::Constant(ScalarValue::Int(factor))) => {
            stride.checked_mul(factor).map(Evolution::By)
        }
        _ => Some(Evolution::Affine),
    }
}

/// The nodes that are computed when a strip begins, being the same at all its indices: what reads no columns from
/// outside but at such places.
pub(super) fn invariants(plan: &Plan, live: &[bool], found: &[Option<Evolution>], checked: &[bool]) -> Vec<bool> {
    let is_one = |(number, node): (usize, &PlanNode)| {
        let is_kind = match node.op {
            NodeOp::Map(_) => true,
            NodeOp::Vector(op) => matches!(op, VectorOp::Gather | VectorOp::Compact),
        };
        is_kind && live[number] && !checked[number] && found[number] == Some(Evolution::Invariant)
    };
    plan.nodes.iter().enumerate().map(is_one).collect()
}

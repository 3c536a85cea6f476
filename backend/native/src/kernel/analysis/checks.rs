//! What is checked once instead of at each index, and what is computed anew for a strip instead.
//!
//! An index that goes up or down evenly with the loop, as in `{v[2 * i + 1] : i in [0:n]}`, is one of a column if its
//! first and its last are. So are the bits by which ints are shifted. By segments the same holds inside a strip, as in
//! `{[s:e:d] : …}`. What has been checked against one length need not be compared with another that is known to be no
//! less.

use super::super::plan::{Ending, NodeOp, Plan, PlanNode, PlanOperand};
use super::evolution::{self, Evolution};
use nesl_prim::{ScalarOp, ScalarValue};
use nesl_vcode::{RegisterType, VectorOp};

/// The index goes up by no more than this with each index of the loop, so that it does not wrap around between two that
/// are indices.
const FACTOR: i64 = 1 << 16;

/// What an index is compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) enum Length {
    /// What the program says, the same at all indices; it may be negative.
    Any(PlanOperand),
    /// The length of this input.
    OfColumn(usize),
}

/// A check that is done for the first and the last index of the loop: at both of them this is less than a length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) struct EndCheck {
    pub index: PlanOperand,
    pub length: Length,
}

/// What indices are used for that have been checked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) enum IndexedColumn {
    /// This input is read there.
    Input(usize),
    /// This yield is written there.
    Yield(usize),
}

/// A comparison before the loop: the length against which indices are checked is no more than that of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) struct LengthCheck {
    pub length: PlanOperand,
    pub column: IndexedColumn,
}

/// The nodes that need no check at their index, with what is checked at the ends instead.
pub(super) fn at_ends(plan: &Plan, live: &[bool]) -> (Vec<bool>, Vec<EndCheck>) {
    let (mut checked, mut checks) = (vec![false; plan.nodes.len()], Vec::new());
    for (number, node) in plan.nodes.iter().enumerate().filter(|&(number, node)| live[number] && node.space == 0) {
        let (index, length) = match (node.op, &node.operands[..]) {
            (NodeOp::Map(ScalarOp::CheckIndex), &[index, length]) if is_scalar(plan, length) => {
                (index, Length::Any(length))
            }
            (NodeOp::Map(ScalarOp::ShiftLeft | ScalarOp::ShiftRight), &[_, count]) if node.is_fallible() => {
                (count, Length::Any(PlanOperand::Constant(ScalarValue::Int(64))))
            }
            (NodeOp::Vector(VectorOp::Gather), &[column, index]) => match as_column(plan, column) {
                Some(column) => (index, Length::OfColumn(column)),
                None => continue,
            },
            _ => continue,
        };
        if factor(plan, &checked, index).is_some() {
            checked[number] = true;
            checks.push(EndCheck { index, length });
        }
    }
    (checked, checks)
}

/// The nodes that check an index against what is known to be a length, once that has been looked at before the loop.
pub(super) fn known_lengths(plan: &Plan, computed: &[bool], checked: &[bool]) -> Vec<bool> {
    let is_one = |(number, node): (usize, &PlanNode)| {
        let is_check = node.op == NodeOp::Map(ScalarOp::CheckIndex);
        computed[number] && !checked[number] && is_check && is_scalar(plan, node.operands[1])
    };
    plan.nodes.iter().enumerate().map(is_one).collect()
}

/// The comparisons of lengths thanks to which indices that have been checked need not be looked at where they are used:
/// of the nodes that gather, which are marked as checked, and of the yields that are written at indices.
pub(super) fn lengths(
    plan: &Plan,
    computed: &[bool],
    endings: &[Option<Ending>],
    checked: &mut [bool],
) -> (Vec<bool>, Vec<LengthCheck>) {
    let mut checks = Vec::new();
    for (number, node) in plan.nodes.iter().enumerate() {
        if let (NodeOp::Vector(VectorOp::Gather), &[column, index]) = (node.op, &node.operands[..])
            && computed[number]
            && !checked[number]
            && let Some(column) = as_column(plan, column)
            && let Some(length) = checked_against(plan, index)
        {
            checked[number] = true;
            checks.push(LengthCheck { length, column: IndexedColumn::Input(column) });
        }
    }
    let mut is_place = vec![false; endings.len()];
    for (number, ending) in endings.iter().enumerate() {
        if let Some(Ending::Scatter { indices, .. } | Ending::Combine { indices, .. }) = *ending
            && let Some(length) = checked_against(plan, indices)
        {
            is_place[number] = true;
            checks.push(LengthCheck { length, column: IndexedColumn::Yield(number) });
        }
    }
    (is_place, checks)
}

/// The indices that go up evenly inside a strip, and are checked when it begins: those that are checked against what is
/// the same there, and those by which elements are read.
pub(super) fn inductions(
    plan: &Plan,
    live: &[bool],
    checked_at_ends: &[bool],
    evolutions: &[Option<Evolution>],
) -> Vec<bool> {
    let of = |source| evolution::of_source(plan, evolutions, source);
    let goes_up = |source| matches!(of(source), Some(Evolution::By(_) | Evolution::Affine));
    let is_one = |(number, node): (usize, &PlanNode)| {
        let is_induction = match (node.op, &node.operands[..]) {
            (NodeOp::Map(ScalarOp::CheckIndex), &[index, length]) => {
                goes_up(index) && of(length) == Some(Evolution::Invariant)
            }
            (NodeOp::Vector(VectorOp::Gather), &[column, index]) => {
                goes_up(index) && as_column(plan, column).is_some_and(|column| plan.stride_of(column).is_none())
            }
            _ => false,
        };
        is_induction && live[number] && !checked_at_ends[number] && node.space == 0
    };
    plan.nodes.iter().enumerate().map(is_one).collect()
}

/// The nodes that are computed where induction variables are not computed at each index: what only they are computed
/// from is not, but for what is read when a strip begins.
pub(super) fn live_beside(
    plan: &Plan,
    live: &[bool],
    joined: &[bool],
    endings: &[Option<Ending>],
    inductions: &[bool],
    invariants: &[bool],
) -> Vec<bool> {
    let mut live = live.to_vec();
    for number in (0..plan.nodes.len()).rev() {
        let (source, node) = (PlanOperand::Node(number), &plan.nodes[number]);
        let is_ending = endings.iter().flatten().any(|ending| ending.sources().contains(&source));
        let is_flag = (1..plan.spaces()).filter_map(|space| plan.space(space)).any(|space| space.flags == source);
        let mut readers = plan.nodes.iter().enumerate().filter(|(_, node)| node.operands.contains(&source));
        if !is_ending
            && !is_flag
            && (inductions[number] || !node.is_fallible())
            && readers.all(|(reader, _)| inductions[reader] || !(live[reader] || joined[reader]))
        {
            live[number] &= node.op == NodeOp::Vector(VectorOp::SegDist) || invariants[number];
        }
    }
    live
}

/// By how much a source goes up with the loop's index, if that is always the same.
pub(super) fn factor(plan: &Plan, checked: &[bool], source: PlanOperand) -> Option<i64> {
    let of = |source| factor(plan, checked, source);
    let number = match source {
        PlanOperand::Node(number) => number,
        PlanOperand::Constant(ScalarValue::Int(_)) => return Some(0),
        PlanOperand::Input(input) => return matches!(plan.inputs[input], RegisterType::Scalar(_)).then_some(0),
        PlanOperand::Constant(_) => return None,
    };
    let node = &plan.nodes[number];
    let factor = match (node.op, &node.operands[..]) {
        (NodeOp::Vector(VectorOp::Iota), _) => Some(1),
        (NodeOp::Map(ScalarOp::CheckIndex), &[index, _]) if checked[number] => of(index),
        (NodeOp::Map(ScalarOp::MultiplyInt), &[a, PlanOperand::Constant(ScalarValue::Int(times))])
        | (NodeOp::Map(ScalarOp::MultiplyInt), &[PlanOperand::Constant(ScalarValue::Int(times)), a]) => {
            of(a)?.checked_mul(times)
        }
        (NodeOp::Map(ScalarOp::AddInt), &[a, b]) => of(a)?.checked_add(of(b)?),
        (NodeOp::Map(ScalarOp::SubtractInt), &[a, b]) => of(a)?.checked_sub(of(b)?),
        _ => None,
    };
    factor.filter(|factor| (-FACTOR..=FACTOR).contains(factor))
}

/// The length against which a source has been checked, if that is the same at all indices.
fn checked_against(plan: &Plan, index: PlanOperand) -> Option<PlanOperand> {
    let PlanOperand::Node(number) = index else { return None };
    let node = &plan.nodes[number];
    match (node.op, &node.operands[..]) {
        (NodeOp::Map(ScalarOp::CheckIndex), &[_, length]) if is_scalar(plan, length) => Some(length),
        _ => None,
    }
}

/// Whether a source is a scalar from outside.
fn is_scalar(plan: &Plan, source: PlanOperand) -> bool {
    match source {
        PlanOperand::Constant(_) => true,
        PlanOperand::Input(input) => matches!(plan.inputs[input], RegisterType::Scalar(_)),
        PlanOperand::Node(_) => false,
    }
}

/// The input that a source is, if that is a column.
fn as_column(plan: &Plan, source: PlanOperand) -> Option<usize> {
    match source {
        PlanOperand::Input(input) => matches!(plan.inputs[input], RegisterType::Column(_)).then_some(input),
        PlanOperand::Node(_) | PlanOperand::Constant(_) => None,
    }
}

//! Between which numbers the elements of a node are, where its operands say so: characters are codes of 0 to 255, and
//! what is kept by `c >= a and c <= z` is between these.
//!
//! It is what decides whether elements fit into narrow lanes ([`super::narrow`]); what operations make of intervals
//! says [`Interval`]. Numbers of a space within are looked at where its flags are true alone: elsewhere nobody reads
//! them.

use super::super::plan::{NodeOp, Plan, PlanOperand};
use crate::scalar::int_comparison;
use cranelift_codegen::ir::condcodes::{CondCode, IntCC};
use nesl_prim::{Interval, ScalarOp, ScalarValue};
use nesl_vcode::{RegisterType, VectorOp};

/// Those of all nodes; none where nothing is known.
pub(super) fn intervals(plan: &Plan) -> Vec<Option<Interval>> {
    let mut found = Vec::with_capacity(plan.nodes.len());
    for number in 0..plan.nodes.len() {
        let interval = of_node(plan, &found, number);
        found.push(interval);
    }
    found
}

/// That of a source, by those of nodes.
pub(in super::super) fn of_source(plan: &Plan, found: &[Option<Interval>], source: PlanOperand) -> Option<Interval> {
    match source {
        PlanOperand::Node(node) => found[node],
        PlanOperand::Constant(ScalarValue::Int(value)) => Some(Interval::new(value, value)),
        PlanOperand::Constant(ScalarValue::Char(code)) => Some(Interval::new(code.into(), code.into())),
        PlanOperand::Constant(ScalarValue::Bool(value)) => Some(Interval::new(value.into(), value.into())),
        PlanOperand::Constant(ScalarValue::Float(_)) => None,
        PlanOperand::Input(input) => match plan.inputs[input] {
            RegisterType::Column(ty) | RegisterType::Scalar(ty) => Interval::of_type(ty),
            RegisterType::Descriptor => None,
        },
    }
}

fn of_node(plan: &Plan, found: &[Option<Interval>], number: usize) -> Option<Interval> {
    let node = &plan.nodes[number];
    let of = |position: usize| of_source(plan, found, node.operands[position]);
    match node.op {
        NodeOp::Map(op) => Interval::of_operation(op, of),
        NodeOp::Vector(VectorOp::Dist) => of(0),
        NodeOp::Vector(VectorOp::Merge) => Some(of(1)?.hull(of(2)?)),
        NodeOp::Vector(VectorOp::Pack) => {
            let implied = implied(plan, node.operands[1], true, origin(plan, node.operands[0]));
            let known = of(0).unwrap_or(Interval::ALL).common(implied);
            (known != Interval::ALL).then_some(known)
        }
        NodeOp::Vector(_) => Interval::of_type(node.ty),
    }
}

/// What a source takes its elements from, number for number.
fn origin(plan: &Plan, mut source: PlanOperand) -> PlanOperand {
    while let PlanOperand::Node(number) = source {
        let node = &plan.nodes[number];
        match node.op {
            NodeOp::Vector(VectorOp::Pack | VectorOp::Dist)
            | NodeOp::Map(ScalarOp::CharToCode | ScalarOp::CodeToChar) => source = node.operands[0],
            _ => break,
        }
    }
    source
}

/// Between which numbers the elements of an origin are where flags are true, or false.
fn implied(plan: &Plan, flags: PlanOperand, truth: bool, of: PlanOperand) -> Interval {
    let PlanOperand::Node(number) = flags else { return Interval::ALL };
    let node = &plan.nodes[number];
    let operand = |position: usize| node.operands[position];
    match node.op {
        NodeOp::Map(op @ (ScalarOp::AndBool | ScalarOp::OrBool)) => {
            let [a, b] = [0, 1].map(|position| implied(plan, operand(position), truth, of));
            // Both are so, or one of them at least.
            if (op == ScalarOp::AndBool) == truth { a.common(b) } else { a.hull(b) }
        }
        NodeOp::Map(ScalarOp::NotBool) => implied(plan, operand(0), !truth, of),
        NodeOp::Vector(VectorOp::Pack) => implied(plan, operand(0), truth, of),
        NodeOp::Map(op) => {
            let Some(condition) = int_comparison(op) else { return Interval::ALL };
            let constant = |position| of_source(plan, &[], operand(position));
            let [is_first, is_second] = [0, 1].map(|position| origin(plan, operand(position)) == of);
            let (condition, with) = match (operand(0), operand(1)) {
                (_, PlanOperand::Constant(_)) if is_first => (condition, constant(1)),
                (PlanOperand::Constant(_), _) if is_second => (condition.swap_args(), constant(0)),
                _ => return Interval::ALL,
            };
            let condition = if truth { condition } else { condition.complement() };
            with.map_or(Interval::ALL, |with| compared(condition, with.low))
        }
        NodeOp::Vector(_) => Interval::ALL,
    }
}

/// The numbers of which a comparison with another one is true; what is not known of numbers without a sign is that.
fn compared(condition: IntCC, with: i64) -> Interval {
    let Interval { low, high } = Interval::ALL;
    match condition {
        IntCC::Equal => Interval::new(with, with),
        IntCC::SignedLessThan | IntCC::UnsignedLessThan => Interval::new(low, with.saturating_sub(1)),
        IntCC::SignedLessThanOrEqual | IntCC::UnsignedLessThanOrEqual => Interval::new(low, with),
        IntCC::SignedGreaterThan | IntCC::UnsignedGreaterThan => Interval::new(with.saturating_add(1), high),
        IntCC::SignedGreaterThanOrEqual | IntCC::UnsignedGreaterThanOrEqual => Interval::new(with, high),
        IntCC::NotEqual => Interval::ALL,
    }
}

//! Between which numbers the elements of a node are, where its operands say so: characters are codes of 0 to 255, and
//! what is kept by `c >= a and c <= z` is between these.
//!
//! It is what decides whether elements fit into narrow lanes ([`super::narrow`]), and, where inputs are there, which
//! elements of columns a loop can read at other indices; what operations make of intervals says [`Interval`]. Numbers
//! of a space within are looked at where its flags are true alone: elsewhere nobody reads them.

use super::super::plan::{NodeOp, Plan, PlanOperand};
use crate::scalar::int_comparison;
use cranelift_codegen::ir::condcodes::{CondCode, IntCC};
use nesl_prim::{Interval, ScalarOp};
use nesl_vcode::{RegisterType, VectorOp};

/// What is known of the numbers that a loop gets. Of none of them anything need be.
pub trait KnownInputs {
    /// Of a scalar, or of the elements of a column at the indices or segments of the loop.
    fn input(&self, _input: usize) -> Option<Interval> {
        None
    }
    /// Of its indices.
    fn indices(&self) -> Option<Interval> {
        None
    }
    /// Of the positions of its elements in the segments of a descriptor.
    fn positions(&self, _descriptor: usize) -> Option<Interval> {
        None
    }
    /// Of the elements of a column that it reads at such indices.
    fn gathered(&self, _column: usize, _indices: Option<Interval>) -> Option<Interval> {
        None
    }
    /// Of the elements of a column that it reads in the segments of a descriptor.
    fn viewed(&self, _column: usize, _descriptor: usize) -> Option<Interval> {
        None
    }
}

/// A loop that nobody has given anything: types alone say something.
pub(in super::super) struct Types;

impl KnownInputs for Types {}

impl Plan {
    /// The intervals of all nodes, where so much is known of inputs; none where nothing is known.
    pub fn intervals(&self, inputs: &impl KnownInputs) -> Vec<Option<Interval>> {
        let mut found = Vec::with_capacity(self.nodes.len());
        for number in 0..self.nodes.len() {
            let interval = of_node(self, inputs, &found, number);
            found.push(interval);
        }
        found
    }

    /// The same of those nodes alone that something is computed from: to look at inputs takes time.
    pub fn intervals_of(&self, inputs: &impl KnownInputs, sources: &[PlanOperand]) -> Vec<Option<Interval>> {
        let mut is_needed = vec![false; self.nodes.len()];
        let mut rest = sources.to_vec();
        while let Some(source) = rest.pop() {
            if let PlanOperand::Node(number) = source
                && !std::mem::replace(&mut is_needed[number], true)
            {
                rest.extend(&self.nodes[number].operands);
            }
        }
        let mut found = Vec::with_capacity(self.nodes.len());
        for (number, is_needed) in is_needed.into_iter().enumerate() {
            found.push(if is_needed { of_node(self, inputs, &found, number) } else { None });
        }
        found
    }

    /// That of a source, by those of nodes.
    pub fn interval_of(
        &self,
        inputs: &impl KnownInputs,
        found: &[Option<Interval>],
        source: PlanOperand,
    ) -> Option<Interval> {
        match source {
            PlanOperand::Node(node) => found[node],
            PlanOperand::Constant(value) => Interval::of_value(value),
            PlanOperand::Input(input) => inputs.input(input).or(match self.inputs[input] {
                RegisterType::Column(ty) | RegisterType::Scalar(ty) => Interval::of_type(ty),
                RegisterType::Descriptor => None,
            }),
        }
    }
}

fn of_node(plan: &Plan, inputs: &impl KnownInputs, found: &[Option<Interval>], number: usize) -> Option<Interval> {
    let node = &plan.nodes[number];
    let of = |position: usize| plan.interval_of(inputs, found, node.operands[position]);
    let known = match (node.op, node.operands.as_slice()) {
        (NodeOp::Map(op), _) => return Interval::of_operation(op, of),
        (NodeOp::Vector(VectorOp::Dist | VectorOp::SegDist), _) => of(0),
        (NodeOp::Vector(VectorOp::Merge), _) => return Some(of(1)?.hull(of(2)?)),
        (NodeOp::Vector(VectorOp::Pack), _) => {
            let implied = implied(plan, node.operands[1], true, origin(plan, node.operands[0]));
            let known = of(0).unwrap_or(Interval::ALL).common(implied);
            return (known != Interval::ALL).then_some(known);
        }
        (NodeOp::Vector(VectorOp::Iota), _) => inputs.indices(),
        (NodeOp::Vector(VectorOp::SegIota), &[PlanOperand::Input(descriptor)]) => inputs.positions(descriptor),
        (NodeOp::Vector(VectorOp::Gather), &[PlanOperand::Input(column), _]) => inputs.gathered(column, of(1)),
        (NodeOp::Vector(VectorOp::Compact), &[PlanOperand::Input(column), PlanOperand::Input(descriptor)]) => {
            inputs.viewed(column, descriptor)
        }
        (NodeOp::Vector(_), _) => None,
    };
    known.or(Interval::of_type(node.ty))
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
            let constant = |position| plan.interval_of(&Types, &[], operand(position));
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

//! Between which numbers the elements of a node are, where its operands say so: characters are codes of 0 to 255, and
//! what is kept by `c >= a and c <= z` is between these.
//!
//! It is what decides whether elements fit into narrow lanes ([`super::narrow`]). Numbers of a space within are looked
//! at where its flags are true alone: elsewhere nobody reads them.

use super::super::plan::{NodeOp, Plan, PlanOperand};
use crate::scalar::int_comparison;
use cranelift_codegen::ir::condcodes::{CondCode, IntCC};
use nesl_prim::{ScalarOp, ScalarType, ScalarValue};
use nesl_vcode::{RegisterType, VectorOp};

/// Numbers from the one to the other, both among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Interval {
    pub low: i64,
    pub high: i64,
}

impl Interval {
    const ALL: Interval = Interval { low: i64::MIN, high: i64::MAX };

    pub(in super::super) const fn new(low: i64, high: i64) -> Interval {
        Interval { low, high }
    }

    fn of_type(ty: ScalarType) -> Option<Interval> {
        match ty {
            ScalarType::Bool => Some(Interval::new(0, 1)),
            ScalarType::Char => Some(Interval::new(0, 255)),
            ScalarType::Int | ScalarType::Float => None,
        }
    }

    /// Whether all of it is in another one.
    pub(in super::super) fn is_in(self, low: i64, high: i64) -> bool {
        low <= self.low && self.high <= high
    }

    /// The least one with all of both.
    pub(in super::super) fn hull(self, other: Interval) -> Interval {
        Interval::new(self.low.min(other.low), self.high.max(other.high))
    }

    /// What both have; where they have nothing in common, nobody reads what has either.
    fn common(self, other: Interval) -> Interval {
        let (low, high) = (self.low.max(other.low), self.high.min(other.high));
        if low <= high { Interval::new(low, high) } else { self }
    }

    /// That of what an operation makes of the ends, which go up or down with each operand.
    fn of_ends(self, other: Interval, combine: fn(i64, i64) -> Option<i64>) -> Option<Interval> {
        let mut all: Option<Interval> = None;
        for a in [self.low, self.high] {
            for b in [other.low, other.high] {
                let end = combine(a, b)?;
                let end = Interval::new(end, end);
                all = Some(all.map_or(end, |all| all.hull(end)));
            }
        }
        all
    }
}

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
        NodeOp::Map(op) => of_map(op, of),
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

fn of_map(op: ScalarOp, of: impl Fn(usize) -> Option<Interval>) -> Option<Interval> {
    let natural = |interval: Interval| (interval.low >= 0).then_some(interval);
    match op {
        ScalarOp::AddInt => of(0)?.of_ends(of(1)?, i64::checked_add),
        ScalarOp::SubtractInt => of(0)?.of_ends(of(1)?, i64::checked_sub),
        ScalarOp::MultiplyInt => of(0)?.of_ends(of(1)?, i64::checked_mul),
        ScalarOp::NegateInt => Interval::new(0, 0).of_ends(of(0)?, i64::checked_sub),
        ScalarOp::AbsoluteInt => {
            let Interval { low, high } = of(0)?;
            let most = low.checked_neg()?.max(high);
            Some(Interval::new(if low > 0 { low } else { 0 }, most.max(0)))
        }
        ScalarOp::MaximumInt | ScalarOp::MaximumChar => {
            let (a, b) = (of(0)?, of(1)?);
            Some(Interval::new(a.low.max(b.low), a.high.max(b.high)))
        }
        ScalarOp::MinimumInt | ScalarOp::MinimumChar => {
            let (a, b) = (of(0)?, of(1)?);
            Some(Interval::new(a.low.min(b.low), a.high.min(b.high)))
        }
        ScalarOp::AndInt => Some(Interval::new(0, natural(of(0)?)?.high.min(natural(of(1)?)?.high))),
        ScalarOp::OrInt | ScalarOp::XorInt => {
            let most = natural(of(0)?)?.high | natural(of(1)?)?.high;
            // All bits up to the highest one.
            Some(Interval::new(0, i64::MAX.checked_shr(most.leading_zeros().checked_sub(1)?).unwrap_or(0)))
        }
        ScalarOp::DivideInt => {
            let (a, by) = (of(0)?, divisor(of(1)?)?);
            a.of_ends(Interval::new(by, by), i64::checked_div)
        }
        ScalarOp::Remainder => {
            let (Interval { low, high }, by) = (of(0)?, divisor(of(1)?)?.checked_abs()?);
            Some(Interval::new(low.max(1 - by).min(0), high.min(by - 1).max(0)))
        }
        ScalarOp::Modulo => {
            let by = Some(divisor(of(1)?)?).filter(|&by| by > 0)?;
            let Interval { low, high } = of(0)?;
            Some(Interval::new(0, if low < 0 { by - 1 } else { high.min(by - 1) }))
        }
        ScalarOp::SelectInt | ScalarOp::SelectChar => Some(of(1)?.hull(of(2)?)),
        ScalarOp::CharToCode => of(0),
        // A code that is none gives no character.
        ScalarOp::CodeToChar => Some(of(0).unwrap_or(Interval::ALL).common(Interval::new(0, 255))),
        ScalarOp::BoolToInt => Some(Interval::new(0, 1)),
        other => Interval::of_type(other.row().result),
    }
}

/// The one number that is neither 0 nor -1, by which nothing fails.
pub(in super::super) fn divisor(interval: Interval) -> Option<i64> {
    (interval.low == interval.high && !matches!(interval.low, 0 | -1)).then_some(interval.low)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_that_wrap_around_are_not_known() {
        let most = Interval::new(0, i64::MAX);
        assert_eq!(of_map(ScalarOp::AddInt, |_| Some(most)), None);
        assert_eq!(of_map(ScalarOp::NegateInt, |_| Some(Interval::new(i64::MIN, 0))), None);
        assert_eq!(of_map(ScalarOp::AbsoluteInt, |_| Some(Interval::new(-3, 2))), Some(Interval::new(0, 3)));
        assert_eq!(of_map(ScalarOp::SubtractInt, |_| Some(most)), Some(Interval::new(-i64::MAX, i64::MAX)));
    }

    #[test]
    fn bits_reach_up_to_the_highest_one() {
        let of = |a: i64, b: i64| of_map(ScalarOp::OrInt, |at| Some(Interval::new(0, [a, b][at])));
        assert_eq!(of(5, 2), Some(Interval::new(0, 7)));
        assert_eq!(of(0, 0), Some(Interval::new(0, 0)));
        assert_eq!(of(i64::MAX, 1), Some(Interval::new(0, i64::MAX)));
        assert_eq!(of_map(ScalarOp::OrInt, |_| Some(Interval::new(-1, 1))), None);
    }

    #[test]
    fn quotients_and_remainders_have_the_signs_they_should() {
        let of = |op, low, high, by| of_map(op, |at| Some([Interval::new(low, high), Interval::new(by, by)][at]));
        assert_eq!(of(ScalarOp::Remainder, 3, 28, 26), Some(Interval::new(0, 25)));
        assert_eq!(of(ScalarOp::Remainder, -94, 4, -26), Some(Interval::new(-25, 4)));
        assert_eq!(of(ScalarOp::Modulo, -1, 4, 26), Some(Interval::new(0, 25)));
        assert_eq!(of(ScalarOp::DivideInt, -100, 255, 10), Some(Interval::new(-10, 25)));
        assert_eq!(of(ScalarOp::DivideInt, 0, 255, 0), None);
        assert_eq!(of(ScalarOp::Remainder, 0, 255, -1), None);
    }
}

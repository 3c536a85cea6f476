//! Whether a loop takes many indices at once in lanes of one or two bytes: where all that it reads are characters and
//! truth values, and nothing that it computes of them needs more ([`super::intervals`]).
//!
//! Bytes hold numbers of 0 to 255 or of -128 to 127, each node its own: sums, differences and choices are the same for
//! both, comparisons need operands of one kind. Shorts, which have products and quotients, hold -32768 to 32767.

use super::super::plan::{Ending, Mode, NodeOp, Plan, PlanOperand};
use super::Analysis;
use super::intervals;
use crate::emitter::machine_type;
use crate::scalar::int_comparison;
use crate::scalar::lanes::{LaneType, Reciprocal};
use nesl_prim::{Interval, ScalarOp, ScalarType};
use nesl_vcode::VectorOp;
use std::collections::BTreeSet;

impl Analysis<'_> {
    /// The narrowest lanes that all fits into.
    pub(super) fn narrowest_lanes(&self) -> Option<LaneType> {
        let is_plain = !self.has_cursors()
            && !matches!(self.mode, Mode::Scan(_))
            && (self.mode == Mode::Count || !self.positioned.contains(&true));
        let (needed, reads_bytes) = is_plain.then(|| self.needed())?;
        if !reads_bytes {
            return None;
        }
        let is_total = |number: usize| {
            let node = &self.plan.nodes[number];
            !node.is_fallible() || node.is_end() || self.checked[number] || self.cannot_fail(number)
        };
        let computed = (0..self.plan.nodes.len()).filter(|&number| self.live[number] || self.joined[number]);
        let all_are_total = computed.into_iter().all(is_total);
        let fits = |lanes: LaneType| needed.iter().all(|&number| self.has_lanes(number, lanes)) && self.ends_in(lanes);
        [LaneType::Byte, LaneType::Short].into_iter().find(|&lanes| all_are_total && fits(lanes))
    }

    /// Whether the numbers that a node gets are such that it does not fail.
    fn cannot_fail(&self, number: usize) -> bool {
        self.plan.nodes[number].op == NodeOp::Map(ScalarOp::CodeToChar) && self.gets_codes(number)
    }

    /// Whether the numbers that a node gets are codes of characters.
    fn gets_codes(&self, number: usize) -> bool {
        let first = self.plan.nodes[number].operands.first().and_then(|&operand| self.interval(operand));
        first.is_some_and(|codes| codes.is_in(0, 255))
    }

    /// The nodes that are computed in lanes, and whether bytes are read for them.
    fn needed(&self) -> (BTreeSet<usize>, bool) {
        let mut sources: Vec<PlanOperand> = self.endings.iter().flatten().flat_map(|ending| ending.sources()).collect();
        let spaces = sources.iter().map(|&source| self.plan.space_of(source));
        let counted = (0..self.positioned.len()).filter(|&space| self.positioned[space]);
        let spaces: Vec<usize> = spaces.chain(counted).collect();
        spaces.into_iter().for_each(|space| sources.extend(self.flags_of(space)));
        let (mut needed, mut reads_bytes) = (BTreeSet::new(), false);
        while let Some(source) = sources.pop() {
            match source {
                PlanOperand::Constant(_) => {}
                PlanOperand::Input(_) => reads_bytes |= machine_type(self.plan.type_of(source)).bytes() == 1,
                PlanOperand::Node(number) => {
                    if needed.insert(number) {
                        let node = &self.plan.nodes[number];
                        match self.is_slice(number) {
                            true => reads_bytes = true,
                            false => sources.extend(node.operands.iter().copied()),
                        }
                    }
                }
            }
        }
        (needed, reads_bytes)
    }

    /// The flags that must be true for an index to be in a space.
    pub fn flags_of(&self, mut space: usize) -> Vec<PlanOperand> {
        let mut all = Vec::new();
        while let Some(filter) = self.plan.space(space) {
            all.push(filter.flags);
            space = filter.parent;
        }
        all
    }

    /// Whether a node reads bytes from some place on, element after element.
    pub fn is_slice(&self, number: usize) -> bool {
        let node = &self.plan.nodes[number];
        node.op == NodeOp::Vector(VectorOp::Gather)
            && machine_type(node.ty).bytes() == 1
            && node.space == 0
            && self.checked[number]
            && self.factor(node.operands[1]) == Some(1)
    }

    /// Between which numbers a source is.
    pub fn interval(&self, source: PlanOperand) -> Option<Interval> {
        self.plan.interval_of(&intervals::Types, &self.intervals, source)
    }

    /// Whether lanes can hold a source.
    fn fits(&self, source: PlanOperand, lanes: LaneType) -> bool {
        self.plan.type_of(source) != ScalarType::Float && self.interval(source).is_some_and(|it| lanes.holds(it))
    }

    /// Whether a node has a form in lanes.
    fn has_lanes(&self, number: usize, lanes: LaneType) -> bool {
        let node = &self.plan.nodes[number];
        let interval = |position: usize| self.interval(node.operands[position]);
        let op = match node.op {
            NodeOp::Map(op) => op,
            NodeOp::Vector(VectorOp::Gather) => return self.is_slice(number),
            NodeOp::Vector(VectorOp::Dist) => return self.fits(node.operands[0], lanes),
            NodeOp::Vector(VectorOp::Pack | VectorOp::Merge) => return self.fits(PlanOperand::Node(number), lanes),
            NodeOp::Vector(_) => return false,
        };
        let fit = |&operand: &PlanOperand| self.fits(operand, lanes);
        if !self.fits(PlanOperand::Node(number), lanes) || !node.operands.iter().all(fit) {
            return false;
        }
        let are_of_one_kind = || match (interval(0), interval(1)) {
            (Some(a), Some(b)) => lanes.holds(a.hull(b)),
            _ => false,
        };
        match op {
            op if int_comparison(op).is_some() => are_of_one_kind(),
            ScalarOp::MaximumInt | ScalarOp::MaximumChar | ScalarOp::MinimumInt | ScalarOp::MinimumChar => {
                are_of_one_kind()
            }
            ScalarOp::AndBool | ScalarOp::OrBool | ScalarOp::XorBool | ScalarOp::NotBool => true,
            ScalarOp::AndInt | ScalarOp::OrInt | ScalarOp::XorInt => true,
            ScalarOp::SelectInt | ScalarOp::SelectChar | ScalarOp::SelectBool => true,
            ScalarOp::AddInt | ScalarOp::SubtractInt | ScalarOp::NegateInt => true,
            ScalarOp::CharToCode | ScalarOp::BoolToInt => true,
            ScalarOp::CodeToChar | ScalarOp::LowByte => self.gets_codes(number),
            ScalarOp::AbsoluteInt => interval(0).is_some_and(|it| lanes.holds_signed(it)),
            ScalarOp::MultiplyInt => lanes == LaneType::Short,
            ScalarOp::DivideInt | ScalarOp::Remainder | ScalarOp::Modulo => {
                lanes == LaneType::Short && self.reciprocal(number).is_some()
            }
            _ => false,
        }
    }

    /// What a node multiplies by instead of dividing.
    pub fn reciprocal(&self, number: usize) -> Option<Reciprocal> {
        let node = &self.plan.nodes[number];
        let dividend = self.interval(node.operands[0])?;
        let by = self.interval(node.operands[1]).and_then(Interval::divisor)?;
        if node.op == NodeOp::Map(ScalarOp::Modulo) && by < 0 {
            return None;
        }
        Reciprocal::of(by, dividend.low, dividend.high)
    }

    /// Whether what becomes of everything has a form in lanes.
    fn ends_in(&self, lanes: LaneType) -> bool {
        self.endings.iter().flatten().all(|ending| match *ending {
            Ending::Store(source) => self.plan.space_of(source) == 0 && self.fits(source, lanes),
            Ending::Reduce(op, source) => {
                let has_form = matches!(
                    op,
                    ScalarOp::AddInt
                        | ScalarOp::AndBool
                        | ScalarOp::OrBool
                        | ScalarOp::MaximumChar
                        | ScalarOp::MinimumChar
                );
                has_form && self.fits(source, lanes)
            }
            _ => false,
        })
    }
}

impl LaneType {
    /// Whether a lane can hold all numbers of an interval.
    fn holds(self, interval: Interval) -> bool {
        self.holds_signed(interval) || self == LaneType::Byte && interval.is_in(0, 255)
    }

    /// The same as numbers with a sign.
    fn holds_signed(self, interval: Interval) -> bool {
        match self {
            LaneType::Byte => interval.is_in(i8::MIN.into(), i8::MAX.into()),
            LaneType::Short => interval.is_in(i16::MIN.into(), i16::MAX.into()),
        }
    }
}

impl Plan {
    /// The operand of a conversion of truth values to numbers, if a source is one.
    pub(in super::super) fn counted_truth(&self, source: PlanOperand) -> Option<PlanOperand> {
        let PlanOperand::Node(number) = source else { return None };
        let node = &self.nodes[number];
        match node.op {
            NodeOp::Map(ScalarOp::BoolToInt) => Some(node.operands[0]),
            NodeOp::Vector(VectorOp::Pack) => self.counted_truth(node.operands[0]),
            _ => None,
        }
    }
}

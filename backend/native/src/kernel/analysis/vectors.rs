//! Whether a loop takes two indices at once: where all that it computes has such a form ([`crate::scalar::vector`]),
//! arithmetic, comparisons and choices on ints and floats, and truth values leave it only as numbers.

use super::super::plan::{Ending, Mode, NodeOp, Plan, PlanNode, PlanOperand};
use super::Analysis;
use crate::scalar::vector::{is_number, is_wide_op};
use nesl_prim::ScalarType;
use nesl_vcode::{RegisterType, VectorOp};

impl Analysis<'_> {
    /// Whether all that is computed has a form for two indices, and what becomes of it.
    pub(super) fn can_be_wide(&self) -> bool {
        self.is_computed_in_vectors() && self.endings.iter().flatten().all(|&ending| self.is_wide_end(ending))
    }

    /// Whether all that is computed has a form for two indices.
    pub(super) fn is_computed_in_vectors(&self) -> bool {
        let mut nodes = self.plan.nodes.iter().enumerate().filter(|&(number, _)| self.live[number]);
        nodes.all(|(number, node)| match self.invariants[number] || self.inductions[number] {
            true => is_number(node.ty) || node.ty == ScalarType::Bool,
            false => is_wide_node(self.plan, node),
        }) && self.counted_flags().all(|flag| flag.is_some())
    }

    /// Whether what becomes of a yield has a form for two indices.
    pub(super) fn is_wide_end(&self, ending: Ending) -> bool {
        match ending {
            Ending::Store(source)
            | Ending::Sum(_, source)
            | Ending::SegSum(_, source, _)
            | Ending::SegScatter { values: source, .. } => self.is_number_at_all(source),
            Ending::Reduce(op, source) | Ending::SegReduce(op, source, _) => {
                self.is_number_at_all(source) && is_wide_op(op)
            }
            _ => false,
        }
    }

    /// Whether a source has a number at each of all indices.
    pub(super) fn is_number_at_all(&self, source: PlanOperand) -> bool {
        self.plan.space_of(source) == 0 && is_number(self.plan.type_of(source))
    }

    /// The flags that are counted, of each space that is: none where elements are stored there, or the flags are no
    /// masks.
    pub fn counted_flags(&self) -> impl Iterator<Item = Option<PlanOperand>> {
        let spaces = (1..self.plan.spaces()).filter(|&space| self.positioned[space]);
        spaces.map(|space| {
            let filter = self.plan.space(space).filter(|filter| filter.parent == 0 && self.mode == Mode::Count)?;
            matches!(filter.flags, PlanOperand::Node(_)).then_some(filter.flags)
        })
    }
}

fn is_wide_node(plan: &Plan, node: &PlanNode) -> bool {
    let is_wide = |&source: &PlanOperand| match source {
        PlanOperand::Input(input) => match plan.inputs[input] {
            RegisterType::Column(ty) | RegisterType::Scalar(ty) => is_number(ty),
            RegisterType::Descriptor => true,
        },
        PlanOperand::Constant(value) => is_number(value.scalar_type()),
        PlanOperand::Node(_) => true,
    };
    let by_op = match node.op {
        NodeOp::Map(op) => is_wide_op(op),
        NodeOp::Vector(VectorOp::Iota | VectorOp::SegIota) => true,
        NodeOp::Vector(VectorOp::Dist | VectorOp::SegDist | VectorOp::Compact) => is_number(node.ty),
        NodeOp::Vector(_) => node.is_end(),
    };
    let is_at_index = !matches!(node.op, NodeOp::Vector(VectorOp::Compact)) && !node.is_end();
    by_op && node.space == 0 && (!is_at_index || node.operands.iter().all(is_wide))
}

impl Plan {
    /// The type of a source's elements, or of its scalar.
    pub(in super::super) fn type_of(&self, source: PlanOperand) -> ScalarType {
        match source {
            PlanOperand::Node(node) => self.nodes[node].ty,
            PlanOperand::Constant(value) => value.scalar_type(),
            PlanOperand::Input(input) => match self.inputs[input] {
                RegisterType::Column(ty) | RegisterType::Scalar(ty) => ty,
                RegisterType::Descriptor => ScalarType::Bool,
            },
        }
    }
}

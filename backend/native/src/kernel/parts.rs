//! A plan over a part of its indices: the same loop where only some of all indices are at hand, on one of several
//! processes.
//!
//! What instructions make of the index itself would count from the part's own first one. Such a plan has inputs besides
//! those of the whole: how many indices the part has, which is its first, and how much of the first segment lies before
//! it.

use super::plan::{Known, NodeOp, Plan, PlanNode, PlanOperand};
use nesl_prim::{ScalarOp, ScalarType};
use nesl_vcode::{RegisterType, VectorOp};

/// A plan over a part of its indices.
#[derive(Clone, Debug)]
pub struct PartPlan {
    /// The plan, whose inputs are those of the whole and then these.
    pub plan: Plan,
    /// What the further inputs are, in order.
    pub further: Vec<Further>,
}

/// An input that only a part has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Further {
    /// The number of indices of the part.
    Count,
    /// The first of them.
    First,
    /// A column: for each segment in the part of this descriptor how many of its elements lie before the part.
    Before(usize),
}

impl Plan {
    /// One instruction alone: the reduction of segments that lie one after another. Its inputs are the column and the
    /// segments.
    pub fn seg_reduce(op: ScalarOp) -> Plan {
        let row = op.row();
        let operands = vec![PlanOperand::Input(0), PlanOperand::Input(1)];
        let node = PlanNode { op: NodeOp::Vector(VectorOp::SegReduce(op)), operands, ty: row.result, space: 0 };
        let inputs = vec![RegisterType::Column(row.operands[0]), RegisterType::Descriptor];
        let (extent, known) = (super::Extent::Column(0), Known::nothing(inputs.len()));
        Plan { inputs, nodes: vec![node], yields: vec![0], filters: Vec::new(), extent, known }
    }

    /// One instruction alone: where the extreme element of a column is, or of its segments, which lie one after another.
    /// Its inputs are the column, and the segments.
    pub fn reduce_index(op: ScalarOp, has_segments: bool) -> Plan {
        let instruction = if has_segments { VectorOp::SegReduceIndex(op) } else { VectorOp::ReduceIndex(op) };
        let mut inputs = vec![RegisterType::Column(op.row().operands[0])];
        inputs.extend(has_segments.then_some(RegisterType::Descriptor));
        let operands = (0..inputs.len()).map(PlanOperand::Input).collect();
        let node = PlanNode { op: NodeOp::Vector(instruction), operands, ty: ScalarType::Int, space: 0 };
        let (extent, known) = (super::Extent::Column(0), Known::nothing(inputs.len()));
        Plan { inputs, nodes: vec![node], yields: vec![0], filters: Vec::new(), extent, known }
    }

    /// The same with the extreme element itself yielded before each index of one: parts are put together by both.
    pub fn with_extremes(&self) -> Plan {
        let mut plan = self.clone();
        plan.yields.clear();
        for &number in &self.yields {
            let node = &self.nodes[number];
            let value = match node.op {
                NodeOp::Vector(VectorOp::ReduceIndex(op)) => Some((op, VectorOp::Reduce(op))),
                NodeOp::Vector(VectorOp::SegReduceIndex(op)) => Some((op, VectorOp::SegReduce(op))),
                _ => None,
            };
            if let Some((op, value)) = value {
                plan.nodes.push(PlanNode { op: NodeOp::Vector(value), ty: op.row().result, ..node.clone() });
                plan.yields.push(plan.nodes.len() - 1);
            }
            plan.yields.push(number);
        }
        plan
    }

    /// A plan over a part of the indices, where descriptors are those of the segments in the part.
    pub fn on_part(&self) -> PartPlan {
        let mut maker =
            Maker { inputs: self.inputs.clone(), further: Vec::new(), nodes: Vec::new(), places: Vec::new() };
        for node in &self.nodes {
            maker.node(node);
        }
        let at = |source: PlanOperand| maker.at(source);
        let filters = self.filters.iter().map(|filter| super::Space { flags: at(filter.flags), ..*filter }).collect();
        let yields = self.yields.iter().map(|&node| maker.places[node]).collect();
        let extent = match self.extent {
            super::Extent::Value(_) => super::Extent::Value(maker.further(Further::Count)),
            other => other,
        };
        let Maker { inputs, further, nodes, .. } = maker;
        let known = Known::nothing(inputs.len());
        PartPlan { plan: Plan { inputs, nodes, yields, filters, extent, known }, further }
    }
}

struct Maker {
    inputs: Vec<RegisterType>,
    further: Vec<Further>,
    nodes: Vec<PlanNode>,
    /// Where what each node of the whole gives is.
    places: Vec<usize>,
}

impl Maker {
    fn at(&self, source: PlanOperand) -> PlanOperand {
        match source {
            PlanOperand::Node(node) => PlanOperand::Node(self.places[node]),
            other => other,
        }
    }

    fn further(&mut self, further: Further) -> PlanOperand {
        let whole = self.inputs.len() - self.further.len();
        let known = self.further.iter().position(|&other| other == further);
        PlanOperand::Input(
            whole
                + known.unwrap_or_else(|| {
                    self.further.push(further);
                    self.inputs.push(match further {
                        Further::Count | Further::First => RegisterType::Scalar(ScalarType::Int),
                        Further::Before(_) => RegisterType::Column(ScalarType::Int),
                    });
                    self.further.len() - 1
                }),
        )
    }

    fn push(&mut self, op: NodeOp, operands: Vec<PlanOperand>, node: &PlanNode) -> PlanOperand {
        self.nodes.push(PlanNode { op, operands, ..node.clone() });
        PlanOperand::Node(self.nodes.len() - 1)
    }

    fn node(&mut self, node: &PlanNode) {
        let mut operands: Vec<PlanOperand> = node.operands.iter().map(|&source| self.at(source)).collect();
        match node.op {
            NodeOp::Vector(VectorOp::Iota) => operands[0] = self.further(Further::Count),
            NodeOp::Vector(VectorOp::Dist) => operands[1] = self.further(Further::Count),
            _ => {}
        }
        let made = self.push(node.op, operands.clone(), node);
        let before = match (node.op, operands.as_slice()) {
            (NodeOp::Vector(VectorOp::Iota), _) => Some(self.further(Further::First)),
            (NodeOp::Vector(VectorOp::SegIota), &[PlanOperand::Input(descriptor)]) => {
                let before = self.further(Further::Before(descriptor));
                Some(self.push(NodeOp::Vector(VectorOp::SegDist), vec![before, PlanOperand::Input(descriptor)], node))
            }
            _ => None,
        };
        if let Some(before) = before {
            self.push(NodeOp::Map(ScalarOp::AddInt), vec![made, before], node);
        }
        self.places.push(self.nodes.len() - 1);
    }
}

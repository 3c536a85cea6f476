//! What is known of the descriptors and columns of a group when it runs, and the plan that a group has then.
//!
//! A kernel is in all segments of the same lengths at the same place, elements of segments that lie one after another
//! it reads as if there were none, and those of arithmetic progressions it computes: with them an index into a nested
//! sequence of equally long parts is arithmetic. Which descriptors and columns are like that is not known before, but
//! hardly ever changes.

use super::plan::{Known, NodeOp, Plan, PlanNode, PlanOperand, Stride};
use nesl_prim::ScalarType;
use nesl_vcode::{RegisterType, VectorOp};

impl Plan {
    /// Whether there is anything to know.
    pub fn is_open(&self) -> bool {
        let descriptors = self.inputs.iter().filter(|&&ty| ty == RegisterType::Descriptor);
        descriptors.count() > 1 || self.views().next().is_some()
    }

    /// What is known where `lengths` says of the lengths of a descriptor what those of no other are, and `is_packed`
    /// whether its segments lie one after another and cover their data.
    pub fn find_known<L: PartialEq>(&self, lengths: impl Fn(usize) -> L, is_packed: impl Fn(usize) -> bool) -> Known {
        let is_descriptor = |&input: &usize| self.inputs[input] == RegisterType::Descriptor;
        let first = |input: usize| (0..input).filter(is_descriptor).find(|&other| lengths(other) == lengths(input));
        let alike =
            (0..self.inputs.len()).map(|input| Some(input).filter(is_descriptor).and_then(first).unwrap_or(input));
        let packed = self.views().map(|(_, _, descriptor)| descriptor).filter(|&descriptor| is_packed(descriptor));
        Known { alike: alike.collect(), packed: packed.collect(), progressions: Vec::new() }
    }

    /// The columns of ints that are read elsewhere than at the index: what [`Plan::find_progressions`] asks about.
    pub fn looked_up(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.inputs.len()).filter(|&input| {
            let is_data = |node: &PlanNode| {
                matches!(node.op, NodeOp::Vector(VectorOp::Gather | VectorOp::Compact))
                    && node.operands[0] == PlanOperand::Input(input)
            };
            self.inputs[input] == RegisterType::Column(ScalarType::Int) && self.nodes.iter().any(is_data)
        })
    }

    /// Those of them that are arithmetic progressions, as `stride` says: the starts and lengths of the rows of a matrix
    /// are such, and a range that is in memory.
    pub fn find_progressions(&self, stride: impl Fn(usize) -> Option<Stride>) -> Vec<(usize, Stride)> {
        self.looked_up().filter_map(|input| Some((input, stride(input)?))).collect()
    }

    /// The columns that the plan was made for as progressions.
    pub fn progressions(&self) -> &[(usize, Stride)] {
        &self.known.progressions
    }

    /// The plan of a group of which these columns are progressions.
    pub fn with_progressions(mut self, progressions: Vec<(usize, Stride)>) -> Plan {
        self.known.progressions = progressions;
        self
    }

    /// By how much the elements of an input go up, if that is known.
    pub fn stride_of(&self, input: usize) -> Option<Stride> {
        self.known.progressions.iter().find(|&&(progression, _)| progression == input).map(|&(_, stride)| stride)
    }

    /// Whether this is what the plan was made for.
    pub fn knows(&self, known: &Known) -> bool {
        self.known == *known
    }

    /// The plan of a group of which this is known.
    pub fn with_known(mut self, known: Known) -> Plan {
        for (view, column, descriptor) in self.views().collect::<Vec<_>>() {
            if !known.packed.contains(&descriptor) {
                continue;
            }
            let operands = self.nodes.iter_mut().flat_map(|node| &mut node.operands);
            let flags = self.filters.iter_mut().map(|filter| &mut filter.flags);
            operands
                .chain(flags)
                .filter(|source| **source == PlanOperand::Node(view))
                .for_each(|source| *source = column);
        }
        Plan { known, ..self }
    }

    /// The first descriptor whose segments are known to be as long as those of this one.
    pub fn first_alike(&self, descriptor: usize) -> usize {
        self.known.alike[descriptor]
    }

    /// Whether the segments of two descriptors are known to be equally long.
    pub(super) fn is_alike(&self, descriptor: usize, other: usize) -> bool {
        self.first_alike(descriptor) == self.first_alike(other)
    }

    /// Whether a column that segments of are written over is read only where it is written then: at the same place,
    /// before that.
    pub fn is_read_where_written(&self, target: usize) -> bool {
        let column = PlanOperand::Input(target);
        let writers = self
            .nodes
            .iter()
            .filter(|node| node.op == NodeOp::Vector(VectorOp::SegScatter) && node.operands[0] == column);
        let mut descriptors = writers.map(|writer| writer.operands[1]);
        let (Some(descriptor), None) = (descriptors.next(), descriptors.next()) else { return false };
        let is_packed = self.known.packed.contains(&descriptor.outside());
        self.nodes.iter().all(|node| {
            let is_here = |position: usize| match node.op {
                NodeOp::Vector(VectorOp::SegScatter) => position == 0,
                NodeOp::Vector(VectorOp::Compact) => position == 0 && node.operands[1] == descriptor,
                _ => is_packed && self.aligned(node).contains(&position),
            };
            node.operands.iter().enumerate().all(|(position, &source)| source != column || is_here(position))
        })
    }

    /// The nodes that read the elements of segments wherever they lie, with the column and the descriptor.
    fn views(&self) -> impl Iterator<Item = (usize, PlanOperand, usize)> + '_ {
        self.nodes.iter().enumerate().filter_map(|(number, node)| match (node.op, &node.operands[..]) {
            (NodeOp::Vector(VectorOp::Compact), &[column @ PlanOperand::Input(_), PlanOperand::Input(descriptor)]) => {
                Some((number, column, descriptor))
            }
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::plan::{Extent, PlanNode};
    use super::*;
    use nesl_prim::{ScalarOp, ScalarType};

    #[test]
    fn packed_segments_are_read_as_if_there_were_none() {
        let node = |op, operands| PlanNode { op, operands, ty: ScalarType::Float, space: 0 };
        let inputs = vec![RegisterType::Column(ScalarType::Float), RegisterType::Descriptor, RegisterType::Descriptor];
        let view = node(NodeOp::Vector(VectorOp::Compact), vec![PlanOperand::Input(0), PlanOperand::Input(1)]);
        let sum = VectorOp::SegReduce(ScalarOp::AddFloat);
        let sum = node(NodeOp::Vector(sum), vec![PlanOperand::Node(0), PlanOperand::Input(2)]);
        let (extent, known) = (Extent::Total(1), Known::nothing(inputs.len()));
        let plan = Plan { inputs, nodes: vec![view, sum], yields: vec![1], filters: Vec::new(), extent, known };
        assert!(plan.is_open());
        let nothing = plan.find_known(|input| input, |_| false);
        assert!(plan.knows(&nothing));
        let known = plan.find_known(|_| 0, |input| input == 1);
        assert!(!plan.knows(&known));
        let plan = plan.with_known(known.clone());
        assert!(plan.knows(&known));
        assert_eq!((plan.nodes[1].operands[0], plan.first_alike(2)), (PlanOperand::Input(0), 1));
    }
}

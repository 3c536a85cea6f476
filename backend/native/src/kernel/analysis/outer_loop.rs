//! Whether a loop takes several segments at once, as in [`super::super::emit`]: where all that comes of it is a
//! reduction of each, of numbers that have a form in vectors and are read at the index, or at places that go up evenly.

use super::super::plan::{Ending, Mode, NodeOp, PlanNode, PlanOperand};
use super::Analysis;
use crate::scalar::vector::is_number;
use nesl_vcode::{RegisterType, VectorOp};

/// More nodes would not stay in registers.
const MOST_NODES: usize = 40;

impl Analysis<'_> {
    /// The descriptor of which that is so.
    pub(super) fn outer_descriptor(&self) -> Option<usize> {
        let mut cursors = self.first_cursors();
        let (Some(first), None) = (cursors.next(), cursors.next()) else { return None };
        let is_reduction = |ending: &Option<Ending>| {
            let Some(ending) = *ending else { return false };
            let has_form = self.is_wide_end(ending) || self.is_index_in_lanes(ending);
            has_form && ending.by_segments().is_some_and(|descriptor| self.plan.is_alike(descriptor, first))
        };
        let is_all = matches!(self.mode, Mode::Whole | Mode::Piece) && self.plan.spaces() == 1;
        let are_reductions = !self.endings.is_empty() && self.endings.iter().all(is_reduction);
        let is_small = self.live.iter().filter(|&&is_live| is_live).count() <= MOST_NODES;
        (is_all && are_reductions && is_small && self.narrow.is_none() && self.is_computed_in_vectors())
            .then_some(first)
    }

    /// Whether a yield is where in segments extreme elements are, which has a form for several segments at once, and none
    /// for several indices of one.
    fn is_index_in_lanes(&self, ending: Ending) -> bool {
        matches!(ending, Ending::SegReduceIndex(_, source, _) if self.is_number_at_all(source))
    }

    /// Whether a loop over one segment has no vectors, so that several segments at once are faster however they lie.
    pub fn has_vectors_of_segments_only(&self) -> bool {
        self.endings.iter().flatten().any(|&ending| !self.is_wide_end(ending))
    }

    /// Whether a node is the same at all indices of a segment.
    fn is_of_segment(&self, number: usize) -> bool {
        self.invariants[number] || self.plan.nodes[number].op == NodeOp::Vector(VectorOp::SegDist)
    }

    /// Whether a node is computed at each position of the segments.
    fn is_at_position(&self, number: usize) -> bool {
        self.live[number] && !self.plan.nodes[number].is_end() && !self.is_of_segment(number)
    }

    /// Whether a node goes up evenly from where a segment begins: what it reads, or itself.
    pub fn has_place(&self, number: usize) -> bool {
        self.is_at_position(number)
            && (self.inductions[number] || self.plan.nodes[number].op == NodeOp::Vector(VectorOp::Compact))
    }

    /// Whether something is read at each position.
    fn is_read(&self, source: PlanOperand) -> bool {
        let reads = |(number, node): (usize, &PlanNode)| {
            self.is_at_position(number) && !self.has_place(number) && node.operands.contains(&source)
        };
        self.plan.nodes.iter().enumerate().any(reads)
            || self.endings.iter().flatten().any(|ending| ending.sources().contains(&source))
    }

    /// Whether a node is the same in each segment, and read there.
    pub fn is_kept_by_segment(&self, number: usize) -> bool {
        self.live[number] && self.is_of_segment(number) && self.is_read(PlanOperand::Node(number))
    }

    /// Whether that is a number in a column with one for each segment: those of neighbours are neighbours.
    pub fn is_read_by_segment(&self, number: usize) -> bool {
        let node = &self.plan.nodes[number];
        let is_by_segment = node.op == NodeOp::Vector(VectorOp::SegDist) && !self.invariants[number];
        is_by_segment && is_number(node.ty) && self.is_kept_by_segment(number)
    }

    /// Whether a node has an element for each of the segments.
    pub fn is_in_lanes(&self, number: usize) -> bool {
        self.is_at_position(number) || self.is_kept_by_segment(number)
    }

    /// Whether a column is read at the index.
    pub fn is_read_at_index(&self, input: usize) -> bool {
        matches!(self.plan.inputs[input], RegisterType::Column(_)) && self.is_read(PlanOperand::Input(input))
    }
}

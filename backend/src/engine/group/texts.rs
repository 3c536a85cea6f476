//! Groups that compare texts pair by pair or sum up what hashes them, and do nothing else.

use nesl_native::{Ending, NodeOp, Plan, PlanOperand};
use nesl_prim::ScalarOp;
use nesl_vcode::{RegisterType, VectorOp};

/// Segments of a column: the inputs of a group that they are.
pub(crate) type Segments = (usize, usize);

/// What a group does with texts that does nothing else.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Texts {
    /// Whether each equals another one, which is as long.
    Equal(Segments, Segments),
    /// What all characters of each add to its hash.
    Hash(Segments),
}

impl Texts {
    /// What the group does; none where it does something else.
    pub fn of(plan: &Plan) -> Option<Texts> {
        let &[number] = &plan.yields[..] else { return None };
        let Ending::SegReduce(op, PlanOperand::Node(place), segments) = plan.ending(0) else { return None };
        let reader = Reader { plan, segments };
        let (texts, used) = match op {
            ScalarOp::AndBool => reader.compared(place)?,
            ScalarOp::AddInt => reader.hashed(place)?,
            _ => return None,
        };
        let mut others = (0..plan.nodes.len()).filter(|node| *node != number && !used.contains(node));
        let is_view = |node: usize| plan.nodes[node].op == NodeOp::Vector(VectorOp::Compact);
        (plan.spaces() == 1 && others.all(is_view)).then_some(texts)
    }
}

/// What is known where a group is read.
struct Reader<'a> {
    plan: &'a Plan,
    /// The descriptor of the segments that are reduced.
    segments: usize,
}

impl Reader<'_> {
    /// Two texts compared character by character, and the nodes that do it.
    fn compared(&self, equal: usize) -> Option<(Texts, Vec<usize>)> {
        let node = &self.plan.nodes[equal];
        let texts = match (node.op, &node.operands[..]) {
            (NodeOp::Map(ScalarOp::EqualChar), &[left, right]) => Texts::Equal(self.text(left)?, self.text(right)?),
            _ => return None,
        };
        Some((texts, vec![equal]))
    }

    /// A text whose characters are hashed with their places, and the nodes that do it.
    fn hashed(&self, place: usize) -> Option<(Texts, Vec<usize>)> {
        let node = |number: usize| (self.plan.nodes[number].op, &self.plan.nodes[number].operands[..]);
        let (NodeOp::Map(ScalarOp::HashPlace), &[PlanOperand::Node(position), PlanOperand::Node(code)]) = node(place)
        else {
            return None;
        };
        match (node(position), node(code)) {
            (
                (NodeOp::Vector(VectorOp::SegIota), &[PlanOperand::Input(descriptor)]),
                (NodeOp::Map(ScalarOp::CharToCode), &[text]),
            ) if self.is_alike(descriptor) => Some((Texts::Hash(self.text(text)?), vec![place, position, code])),
            _ => None,
        }
    }

    /// The segments of an operand that is a text at each of those that are reduced.
    fn text(&self, operand: PlanOperand) -> Option<Segments> {
        match operand {
            PlanOperand::Input(column) if matches!(self.plan.inputs[column], RegisterType::Column(_)) => {
                Some((column, self.segments))
            }
            PlanOperand::Node(view) => match (self.plan.nodes[view].op, &self.plan.nodes[view].operands[..]) {
                (NodeOp::Vector(VectorOp::Compact), &[PlanOperand::Input(column), PlanOperand::Input(descriptor)]) => {
                    self.is_alike(descriptor).then_some((column, descriptor))
                }
                _ => None,
            },
            // One character with which all are compared.
            PlanOperand::Input(_) | PlanOperand::Constant(_) => None,
        }
    }

    /// Whether a descriptor has segments as long as those that are reduced.
    fn is_alike(&self, descriptor: usize) -> bool {
        self.plan.first_alike(descriptor) == self.plan.first_alike(self.segments)
    }
}

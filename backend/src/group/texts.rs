//! Groups that compare texts pair by pair, and do nothing else.

use nesl_native::{Ending, NodeOp, Plan, Source};
use nesl_prim::ScalarOp;
use nesl_vcode::{RegisterType, VectorOp};

/// Segments of a column: the inputs of a group that they are.
pub(crate) type Segments = (usize, usize);

/// What a group compares that does nothing else.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Texts {
    pub left: Segments,
    pub right: Segments,
}

impl Texts {
    /// What the group compares; none where it does something else.
    pub fn of(plan: &Plan) -> Option<Texts> {
        let &[number] = &plan.yields[..] else { return None };
        let Ending::SegReduce(ScalarOp::AndBool, Source::Node(place), segments) = plan.ending(0) else { return None };
        let equal = &plan.nodes[place];
        let mut others = (0..plan.nodes.len()).filter(|&node| node != place && node != number);
        let is_view = |node: usize| plan.nodes[node].op == NodeOp::Vector(VectorOp::Compact);
        let segments_of = |operand: Source| match operand {
            Source::Input(column) if matches!(plan.inputs[column], RegisterType::Column(_)) => Some((column, segments)),
            Source::Node(view) => match (plan.nodes[view].op, &plan.nodes[view].operands[..]) {
                (NodeOp::Vector(VectorOp::Compact), &[Source::Input(column), Source::Input(descriptor)]) => {
                    (plan.first_alike(descriptor) == plan.first_alike(segments)).then_some((column, descriptor))
                }
                _ => None,
            },
            // One character with which all are compared.
            Source::Input(_) | Source::Constant(_) => None,
        };
        if equal.op != NodeOp::Map(ScalarOp::EqualChar) || plan.spaces() > 1 || !others.all(is_view) {
            return None;
        }
        Some(Texts { left: segments_of(equal.operands[0])?, right: segments_of(equal.operands[1])? })
    }
}

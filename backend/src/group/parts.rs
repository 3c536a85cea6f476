//! A group over a part of its indices, as each of several processes runs it, and what it takes to put the results together.
//!
//! A process gets the elements of its indices, the segments that lie there, and where in the whole its part begins
//! ([`nesl_native::PartPlan`]). What it cannot get is elements at other indices than its own; a group that gathers has no part.

use super::Group;
use nesl_native::{Ending, Extent, Further, NodeOp, Plan, Source};
use nesl_prim::{ScalarOp, ScalarValue};
use nesl_vcode::{RegisterType, VectorOp};

/// A group over a part of its indices.
#[derive(Debug)]
pub struct Partial {
    /// What to run on a part.
    pub group: Group,
    /// What each input is; those that only parts have come last.
    pub roles: Vec<Role>,
    /// What each result is.
    pub yields: Vec<Yield>,
    /// What says how many indices the whole has.
    pub extent: Whole,
}

/// What an input of a group over a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A scalar, the same for all parts.
    Scalar,
    /// A column with an element for each index.
    Elements,
    /// Segments that cover the indices.
    Segments,
    /// A column with an element for each segment of this input.
    OfSegments(usize),
    /// The number of indices of the part.
    Count,
    /// The first index of the part.
    First,
    /// For each segment of this input how many of its elements lie before the part.
    Before(usize),
}

/// What a result of a group over a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Yield {
    /// An element for each index.
    All,
    /// Elements that a filter kept.
    Kept,
    /// All elements combined by an associative operation.
    Reduced(ScalarOp),
    /// The same by segment of this input.
    BySegment(ScalarOp, usize),
}

/// What says how many indices a group has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whole {
    /// This scalar of the program.
    Constant(ScalarValue),
    /// This input: a scalar, or by the number of its elements.
    Input(usize),
}

impl Partial {
    /// None for a group that needs more than the elements of a part, or whose results parts cannot put together.
    pub(super) fn new(plan: &Plan) -> Option<Partial> {
        let roles = (0..plan.inputs.len()).map(|input| role(plan, input));
        let mut roles = roles.collect::<Option<Vec<Role>>>()?;
        let yields = (0..plan.yields.len()).map(|index| match plan.ending(index) {
            Ending::Store(source) if plan.space_of(source) == 0 => Some(Yield::All),
            Ending::Store(_) => Some(Yield::Kept),
            Ending::Reduce(op, _) => Some(Yield::Reduced(op)),
            Ending::SegReduce(op, _, segments) => Some(Yield::BySegment(op, segments)),
            Ending::Sum(..) | Ending::SegSum(..) | Ending::Scan(..) | Ending::Scatter { .. } => None,
        });
        let yields = yields.collect::<Option<Vec<Yield>>>()?;
        let scans = |op| matches!(op, NodeOp::Vector(VectorOp::Scan(_) | VectorOp::SegScan(_)));
        if plan.nodes.iter().any(|node| scans(node.op)) {
            return None;
        }
        let extent = match plan.extent {
            Extent::Value(Source::Constant(value)) => Whole::Constant(value),
            Extent::Value(Source::Input(input)) | Extent::Column(input) | Extent::Total(input) => Whole::Input(input),
            Extent::Value(Source::Node(_)) => return None,
        };
        let part = plan.on_part();
        roles.extend(part.further.iter().map(|further| match *further {
            Further::Count => Role::Count,
            Further::First => Role::First,
            Further::Before(segments) => Role::Before(segments),
        }));
        Some(Partial { group: Group::of(part.plan), roles, yields, extent })
    }
}

/// What an input of a plan is to all that read it; none where that is not for parts, or not one thing.
fn role(plan: &Plan, input: usize) -> Option<Role> {
    let mut found = None;
    for node in &plan.nodes {
        let aligned = plan.aligned(node);
        for (position, &source) in node.operands.iter().enumerate() {
            if source != Source::Input(input) {
                continue;
            }
            let role = match (plan.inputs[input], node.op, node.operands.as_slice()) {
                (RegisterType::Scalar(_), ..) => Role::Scalar,
                (RegisterType::Column(_), ..) if aligned.contains(&position) => Role::Elements,
                (_, NodeOp::Vector(VectorOp::SegDist), &[_, Source::Input(segments)]) if position == 0 => {
                    Role::OfSegments(segments)
                }
                (RegisterType::Descriptor, NodeOp::Vector(VectorOp::Compact), _) => return None,
                (RegisterType::Descriptor, ..) => Role::Segments,
                (RegisterType::Column(_), ..) => return None,
            };
            if found.is_some_and(|other| other != role) {
                return None;
            }
            found = Some(role);
        }
    }
    found
}

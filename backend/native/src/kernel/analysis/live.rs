//! What of a group is computed in a mode, and what that costs.

use super::super::plan::{Ending, Mode, NodeOp, Plan, PlanOperand};
use nesl_vcode::VectorOp;

/// The spaces whose elements are stored or added up, and must therefore be counted before pieces of them are computed.
pub(super) fn counted(plan: &Plan) -> Vec<usize> {
    let space = |index| match plan.ending(index) {
        Ending::Store(source) | Ending::Sum(_, source) | Ending::Scan(_, source) => plan.space_of(source),
        _ => 0,
    };
    (0..plan.yields.len()).map(space).filter(|&space| space > 0).collect()
}

/// The nodes that are computed: what leaves the group, what can fail, and what they need. In the second place those
/// that are computed where spaces within are merged, at the indices at which they are needed.
pub(super) fn live(plan: &Plan, mode: Mode, endings: &[Option<Ending>]) -> (Vec<bool>, Vec<bool>) {
    let (mut live, mut joined) = (vec![false; plan.nodes.len()], vec![false; plan.nodes.len()]);
    let mut mark = |source: PlanOperand| {
        if let PlanOperand::Node(node) = source {
            live[node] = true;
        }
    };
    for ending in endings.iter().flatten() {
        ending.sources().into_iter().for_each(&mut mark);
    }
    if let Mode::Scan(level) = mode {
        let running = plan.running().into_iter().filter(|running| running.level <= level);
        running.for_each(|running| mark(PlanOperand::Node(running.node)));
    }
    let mut spaces: Vec<usize> = if mode == Mode::Count { counted(plan) } else { Vec::new() };
    while let Some(space) = spaces.pop() {
        if let Some(filter) = plan.space(space) {
            mark(filter.flags);
            spaces.push(filter.parent);
        }
    }
    for number in (0..plan.nodes.len()).rev() {
        let node = &plan.nodes[number];
        let must_run = !matches!(mode, Mode::Count | Mode::Scan(_)) && node.is_fallible() && !node.is_end();
        if must_run && !joined[number] {
            live[number] = true;
        }
        if !live[number] {
            continue;
        }
        let mut sources: Vec<PlanOperand> =
            plan.aligned(node).into_iter().map(|position| node.operands[position]).collect();
        if node.op == NodeOp::Vector(VectorOp::Merge) {
            for side in sources.split_off(1) {
                let (inside, outside) = plan.computed_from(side, plan.space_of(side));
                inside.into_iter().for_each(|node| joined[node] = true);
                sources.extend(outside.into_iter().map(PlanOperand::Node));
            }
        }
        let mut space = node.space;
        while let Some(filter) = plan.space(space) {
            sources.push(filter.flags);
            space = filter.parent;
        }
        for source in sources {
            if let PlanOperand::Node(node) = source {
                live[node] = true;
            }
        }
    }
    (live, joined)
}

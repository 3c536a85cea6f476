//! What of a group is computed in a mode, and what that costs.

use super::super::plan::{Ending, Mode, Plan, PlanOperand};

/// The spaces whose elements are stored or added up, and must therefore be counted before pieces of them are computed.
pub(super) fn counted(plan: &Plan) -> Vec<usize> {
    let space = |index| match plan.ending(index) {
        Ending::Store(source) | Ending::Sum(_, source) | Ending::Scan(_, source) => plan.space_of(source),
        _ => 0,
    };
    (0..plan.yields.len()).map(space).filter(|&space| space > 0).collect()
}

/// The nodes that are computed: what leaves the group, what can fail, and what they need.
pub(super) fn live(plan: &Plan, mode: Mode, endings: &[Option<Ending>]) -> Vec<bool> {
    let mut live = vec![false; plan.nodes.len()];
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
        if !matches!(mode, Mode::Count | Mode::Scan(_)) && node.is_fallible() && !node.is_end() {
            live[number] = true;
        }
        if !live[number] {
            continue;
        }
        let mut sources: Vec<PlanOperand> =
            plan.aligned(node).into_iter().map(|position| node.operands[position]).collect();
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
    live
}

//! What is known of a group before any of its loops is emitted: what of it is computed in a mode, what is checked once
//! instead of at each index, what is behind branches, and how many indices a loop takes at a time.
//!
//! All of it follows from the plan and the mode alone, step by step, each from those before; emission only reads it.
//!
//! ```text
//! endings   what becomes of each yield in this mode
//! live      what is computed for that                                   [`live`]
//! checked   what needs no check at its index: it is checked at the      [`checks`]
//!           ends, or when a strip begins, or by the lengths of columns
//! cursors   descriptors in which the loop has a place
//! evolutions, invariants, inductions   what changes how inside a strip    [`evolution`]
//! branches  spaces within that are behind a branch, not under a mask
//! is_wide, times  indices in a vector, vectors at a time                [`vectors`]
//! outer     several segments at a time, where they are equally long   [`outer_loop`]
//! inner     the plan of strips in which conditions are known            [`unswitch`]
//! intervals, narrow  many indices in a vector of bytes or shorts         [`intervals`], [`narrow`]
//! ```

mod checks;
mod evolution;
mod intervals;
mod live;
mod narrow;
mod outer_loop;
mod unswitch;
mod vectors;

use super::plan::{Ending, Mode, NodeOp, Plan, PlanNode, PlanOperand, is_ordered};
use crate::scalar::lanes::LaneType;
pub(super) use checks::{EndCheck, IndexedColumn, Length, LengthCheck};
pub(super) use evolution::Evolution;
pub use intervals::KnownInputs;
use nesl_prim::{Interval, ScalarOp};
use nesl_vcode::{RegisterType, VectorOp};
pub(super) use unswitch::{Change, Changes, Inner, inner};

/// How many indices, or vectors of them, a loop takes at a time.
pub(super) const UNROLL: usize = 4;

/// Operations in a space within from which on a branch around them is cheaper than what it may cost to mispredict it.
const WORTH_A_BRANCH: usize = 12;

/// Operations of a loop that is unrolled.
const UNROLLED: usize = 24;

/// What is known of a group in a mode.
#[derive(Debug)]
pub(super) struct Analysis<'p> {
    pub plan: &'p Plan,
    pub mode: Mode,
    /// What becomes of each yield; nothing where that is not computed in this mode.
    pub endings: Vec<Option<Ending>>,
    /// The nodes that are computed at each index, or when a strip begins.
    pub live: Vec<bool>,
    /// The nodes that are computed where spaces within are merged, for the side that the flag chooses.
    pub joined: Vec<bool>,
    /// The nodes that merge spaces within by a branch, not by computing both sides.
    pub forks: Vec<bool>,
    /// The nodes whose index has been checked before the loop, or before the strip.
    pub checked: Vec<bool>,
    /// Those of them that are checked at the ends of all indices.
    checked_at_ends: Vec<bool>,
    /// What is checked for the first and the last index.
    pub end_checks: Vec<EndCheck>,
    /// The nodes that check indices against what is known to be a length.
    pub has_length: Vec<bool>,
    /// The lengths that are compared before the loop.
    pub length_checks: Vec<LengthCheck>,
    /// Of the yields that are written at indices, those whose indices need not be compared with the length of the
    /// column.
    pub is_place: Vec<bool>,
    /// The nodes that are the same at all indices of a strip, and are computed when it begins.
    pub invariants: Vec<bool>,
    /// The nodes that are indices which go up evenly inside a strip, or read at such, and are checked when it begins.
    pub inductions: Vec<bool>,
    /// How nodes change inside a strip, where that is known.
    pub evolutions: Vec<Option<Evolution>>,
    /// By input, for a descriptor that is used: the first of those used whose segments are known to be as long. They
    /// share their place in the loop.
    pub cursors: Vec<Option<usize>>,
    /// The spaces whose elements are stored, or counted.
    pub positioned: Vec<bool>,
    /// The spaces within that are behind a branch.
    pub branches: Vec<bool>,
    /// Between which numbers the elements of nodes are.
    pub intervals: Vec<Option<Interval>>,
    /// The lanes in which the loop takes as many indices at once as a vector has, as long as it can.
    pub narrow: Option<LaneType>,
    /// The descriptor of which several segments are taken at once, where they are equally long.
    pub outer: Option<usize>,
    /// Whether the loop takes indices by twos as long as it can.
    pub is_wide: bool,
    /// How many indices it takes at a time otherwise.
    pub times: usize,
}

impl<'p> Analysis<'p> {
    pub fn of(plan: &'p Plan, mode: Mode) -> Analysis<'p> {
        Analysis::among(plan, mode, None)
    }

    /// What is known of an inner plan, whose loops are strips among those of a whole one.
    pub fn of_inner(inner: &'p Inner, whole: &Analysis<'_>) -> Analysis<'p> {
        Analysis::among(&inner.plan, whole.mode, Some(whole))
    }

    /// Whether nothing is computed, and nothing becomes of it.
    pub fn has_nothing_to_do(&self) -> bool {
        self.endings.iter().all(Option::is_none) && !self.live.contains(&true) && !self.joined.contains(&true)
    }

    fn among(plan: &'p Plan, mode: Mode, whole: Option<&Analysis<'_>>) -> Analysis<'p> {
        let is_all = matches!(mode, Mode::Whole | Mode::Piece);
        let endings = endings(plan, mode);
        let (needed, joined) = live::live(plan, mode, &endings);
        let computed: Vec<bool> = needed.iter().zip(&joined).map(|(&live, &joined)| live || joined).collect();
        let nothing = || (vec![false; plan.nodes.len()], Vec::new());
        let (mut checked, end_checks) = match whole {
            _ if !is_all => nothing(),
            None => checks::at_ends(plan, &needed),
            // Before the loops only those of the whole plan are checked.
            Some(whole) => {
                let is_checked = needed.iter().zip(&whole.checked_at_ends).map(|(&live, &checked)| live && checked);
                checks::at_ends(plan, &is_checked.collect::<Vec<bool>>())
            }
        };
        let checked_at_ends = checked.clone();
        let has_length = checks::known_lengths(plan, &computed, &checked);
        let (is_place, length_checks) = checks::lengths(plan, &computed, &endings, &mut checked);
        let cursors = cursors(plan, &endings, &needed);
        let (mut live, mut inductions) = (needed, vec![false; plan.nodes.len()]);
        let mut invariants = inductions.clone();
        let evolutions = evolution::evolutions(plan, &live);
        if is_all && (whole.is_some() || cursors.iter().any(Option::is_some)) {
            invariants = evolution::invariants(plan, &live, &evolutions, &checked_at_ends);
            inductions = checks::inductions(plan, &live, &checked_at_ends, &evolutions);
            checked.iter_mut().zip(&inductions).for_each(|(checked, &is_induction)| *checked |= is_induction);
            live = checks::live_beside(plan, &live, &joined, &endings, &inductions, &invariants);
        }
        let positioned = positioned(plan, mode, &endings);
        let mut analysis = Analysis {
            plan,
            mode,
            endings,
            live,
            joined,
            forks: vec![false; plan.nodes.len()],
            checked,
            checked_at_ends,
            end_checks,
            has_length,
            length_checks,
            is_place,
            invariants,
            inductions,
            evolutions,
            cursors,
            positioned,
            branches: Vec::new(),
            intervals: plan.intervals(&intervals::Types),
            narrow: None,
            outer: None,
            is_wide: false,
            times: 1,
        };
        for node in 0..plan.nodes.len() {
            // Those within come first.
            analysis.forks[node] = analysis.needs_fork(node);
        }
        analysis.branches = (0..plan.spaces()).map(|space| space > 0 && analysis.needs_branch(space)).collect();
        let is_small = analysis.is_small();
        analysis.narrow = analysis.narrowest_lanes();
        analysis.is_wide = is_small && analysis.narrow.is_none() && analysis.can_be_wide();
        analysis.outer = analysis.outer_descriptor();
        let has_vectors = analysis.is_wide || analysis.narrow.is_some();
        analysis.times = if is_small && !has_vectors && analysis.can_be_unrolled() { UNROLL } else { 1 };
        analysis
    }

    /// The operation of the only yield, if its loop may be left once that is decided: a conjunction with a false one, or
    /// a disjunction with a true one, of what cannot fail from one index to the next. What is checked when a strip begins
    /// is so all the same: only the rest of a strip is left out.
    pub fn decided_early(&self) -> Option<ScalarOp> {
        let (Some(Ending::Reduce(op, _)) | Some(Ending::SegReduce(op, ..))) = *self.endings.first()? else {
            return None;
        };
        let is_harmless = |number: usize| {
            let node = &self.plan.nodes[number];
            let is_settled = self.checked[number] || self.invariants[number];
            (is_settled || !node.is_fallible()) && node.scanned().is_none()
        };
        let all_are_harmless = (0..self.plan.nodes.len())
            .filter(|&number| self.live[number] || self.joined[number])
            .all(|number| self.plan.nodes[number].is_end() || is_harmless(number));
        let is_decided = matches!(op, ScalarOp::AndBool | ScalarOp::OrBool);
        let is_only = self.endings.len() == 1 && !self.positioned.contains(&true);
        (is_decided && is_only && all_are_harmless).then_some(op)
    }

    /// By how much a source goes up with the loop's index, if that is always the same.
    pub fn factor(&self, source: PlanOperand) -> Option<i64> {
        checks::factor(self.plan, &self.checked, source)
    }

    /// Whether a node reads a column from some place on, element after element, for a strip.
    pub fn is_consecutive(&self, number: usize) -> bool {
        let node = &self.plan.nodes[number];
        self.inductions[number]
            && node.op == NodeOp::Vector(VectorOp::Gather)
            && evolution::of_source(self.plan, &self.evolutions, node.operands[1]) == Some(Evolution::By(1))
    }

    /// Whether the loop has a place in some descriptor.
    pub fn has_cursors(&self) -> bool {
        self.cursors.iter().any(Option::is_some)
    }

    /// The descriptors that are used, of those with segments as long the first.
    pub fn first_cursors(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.cursors.len()).filter(|&input| self.cursors[input] == Some(input))
    }

    /// Whether a yield combines floats in blocks of all indices.
    pub fn is_in_blocks(&self, yielded: usize) -> bool {
        matches!(self.endings[yielded], Some(Ending::Sum(_, source)) if self.plan.space_of(source) == 0)
    }

    /// The operation of the only yield, if that is a float sum of all for which lanes can be kept.
    pub fn sum_in_lanes(&self) -> Option<ScalarOp> {
        match self.endings[..] {
            [Some(Ending::Sum(op, _))] if self.is_wide && self.is_in_blocks(0) && !self.has_cursors() => Some(op),
            _ => None,
        }
    }

    /// The operation and the descriptor of the only yield, if that is a float sum of segments for which lanes can be
    /// kept: where a loop over an index space knows where they end anyway.
    pub fn segment_sum_in_lanes(&self) -> Option<(ScalarOp, usize)> {
        match self.endings[..] {
            [Some(Ending::SegSum(op, _, descriptor))] if self.is_wide => {
                let first = self.first_cursors().find(|&input| self.plan.is_alike(input, descriptor))?;
                Some((op, first))
            }
            _ => None,
        }
    }

    /// The scans that combine floats in blocks of all indices, or of the segments of a descriptor.
    pub fn scans_in_blocks(&self, of: Option<usize>) -> Vec<usize> {
        let is_in_blocks = |&number: &usize| {
            let node = &self.plan.nodes[number];
            let is_ordered = self.live[number] && node.scanned().is_some_and(is_ordered);
            is_ordered
                && match of {
                    None => node.operands.len() == 1 && node.space == 0,
                    Some(descriptor) => self.plan.is_by_segments(node, descriptor),
                }
        };
        (0..self.plan.nodes.len()).filter(is_in_blocks).collect()
    }

    /// Whether anything is computed or counted in a space or within it.
    pub fn is_active(&self, space: usize) -> bool {
        let mut nodes = self.plan.nodes.iter().zip(&self.live);
        let computes = nodes.any(|(node, &is_live)| is_live && self.plan.is_within(node.space, space));
        let counts =
            (space..self.positioned.len()).any(|inner| self.positioned[inner] && self.plan.is_within(inner, space));
        computes || counts
    }

    fn is_costly(&self, node: usize) -> bool {
        if self.checked[node] || self.invariants[node] {
            return false;
        }
        match self.plan.nodes[node].op {
            NodeOp::Map(op) => self.plan.nodes[node].is_fallible() || op.row().cost.is_call(),
            NodeOp::Vector(VectorOp::Gather) => true,
            NodeOp::Vector(_) => self.forks[node],
        }
    }

    /// Whether a node that reads at indices may do so at every index of its space, kept or not: its indices were checked
    /// before the loop, or before the strip.
    pub fn is_read_anywhere(&self, node: usize) -> bool {
        let is_checked = |source: PlanOperand| match source {
            PlanOperand::Node(index) => {
                self.checked[index] && self.plan.nodes[index].op == NodeOp::Map(ScalarOp::CheckIndex)
            }
            PlanOperand::Input(_) | PlanOperand::Constant(_) => false,
        };
        self.checked[node] && is_checked(self.plan.nodes[node].operands[1])
    }

    /// Whether a node that may fail, or read where nothing is, has a form under a mask that does neither where that is
    /// false.
    fn has_masked_form(&self, node: usize) -> bool {
        matches!(self.plan.nodes[node].op, NodeOp::Map(ScalarOp::CheckIndex) | NodeOp::Vector(VectorOp::Gather))
    }

    /// Whether a node merges spaces within, and to compute both sides would cost more than a branch, or could fail.
    fn needs_fork(&self, node: usize) -> bool {
        if self.plan.nodes[node].op != NodeOp::Vector(VectorOp::Merge) {
            return false;
        }
        let sides = &self.plan.nodes[node].operands[1..];
        let sides = sides.iter().map(|&side| self.plan.computed_from(side, self.plan.space_of(side)).0);
        let nodes: Vec<usize> = sides.flatten().collect();
        nodes.len() > WORTH_A_BRANCH || nodes.into_iter().any(|node| self.is_costly(node))
    }

    fn needs_branch(&self, space: usize) -> bool {
        let nodes = 0..self.plan.nodes.len();
        let nodes = nodes.filter(|&node| self.live[node] && self.plan.is_within(self.plan.nodes[node].space, space));
        let nodes: Vec<usize> = nodes.collect();
        let is_costly_end = self.endings.iter().flatten().any(|ending| match *ending {
            Ending::Scatter { .. } | Ending::SegScatter { .. } | Ending::Combine { .. } => {
                self.plan.is_within(self.plan.space_of_ending(*ending), space)
            }
            _ => false,
        });
        let is_ordered_scan = |node: usize| self.plan.nodes[node].scanned().is_some_and(is_ordered);
        nodes.len() > WORTH_A_BRANCH
            || is_costly_end
            || nodes
                .into_iter()
                .any(|node| self.is_costly(node) && !self.has_masked_form(node) || is_ordered_scan(node))
    }

    /// Whether there is little in the loop.
    fn is_small(&self) -> bool {
        let computed = self.live.iter().chain(&self.joined).filter(|&&is_computed| is_computed).count();
        let invariants = self.invariants.iter().filter(|&&is_invariant| is_invariant).count();
        let computed = computed - invariants;
        computed + self.endings.len() <= UNROLLED
    }

    /// Whether a loop that takes indices one by one takes many at a time: it has no branches, and no calls.
    fn can_be_unrolled(&self) -> bool {
        // Segments may be short; but where a loop waits for memory it should come to the next accesses soon.
        let is_even = !self.has_cursors() || self.inductions.contains(&true);
        let live = || (0..self.plan.nodes.len()).filter(|&node| self.live[node]);
        let gathers = |node: usize| self.plan.nodes[node].op == NodeOp::Vector(VectorOp::Gather);
        let is_quick = |node: usize| self.has_length[node] || gathers(node) || !self.is_costly(node);
        (is_even || live().any(gathers)) && !self.branches.contains(&true) && live().all(is_quick)
    }
}

/// What becomes of each yield in a mode.
fn endings(plan: &Plan, mode: Mode) -> Vec<Option<Ending>> {
    let ending = |index| match (mode, plan.ending(index)) {
        (Mode::Count | Mode::Scan(_), _) => None,
        (_, Ending::SegScatter { .. }) if plan.writes_back(plan.yields[index]) => None,
        (Mode::Piece, Ending::Scan(_, source)) => Some(Ending::Store(source)),
        (Mode::Whole, Ending::Scan(..)) => Some(Ending::Store(PlanOperand::Node(plan.yields[index]))),
        (_, ending) => Some(ending),
    };
    (0..plan.yields.len()).map(ending).collect()
}

/// The descriptors that are used by something that is computed, each by the first with segments as long.
fn cursors(plan: &Plan, endings: &[Option<Ending>], live: &[bool]) -> Vec<Option<usize>> {
    let is_used = |input: usize| {
        let by_ending = endings.iter().flatten().any(|ending| match *ending {
            Ending::SegReduce(_, _, descriptor)
            | Ending::SegReduceIndex(_, _, descriptor)
            | Ending::SegScatter { descriptor, .. } => descriptor == input,
            _ => false,
        });
        let mut nodes = plan.nodes.iter().zip(live);
        let is_descriptor = plan.inputs[input] == RegisterType::Descriptor;
        is_descriptor
            && (by_ending
                || nodes.any(|(node, &is_live)| is_live && node.operands.contains(&PlanOperand::Input(input))))
    };
    let used: Vec<bool> = (0..plan.inputs.len()).map(is_used).collect();
    let first = |input: usize| (0..=input).find(|&other| used[other] && plan.is_alike(other, input));
    (0..plan.inputs.len()).map(|input| if used[input] { first(input) } else { None }).collect()
}

/// The spaces whose elements are stored, or counted.
fn positioned(plan: &Plan, mode: Mode, endings: &[Option<Ending>]) -> Vec<bool> {
    let counted = if mode == Mode::Count { live::counted(plan) } else { Vec::new() };
    let is_positioned = |space: usize| {
        counted.contains(&space)
            || endings.iter().flatten().any(|ending| match *ending {
                Ending::Store(source) => plan.space_of(source) == space,
                _ => false,
            })
    };
    (0..plan.spaces()).map(|space| space > 0 && is_positioned(space)).collect()
}

impl Plan {
    /// The space in which something becomes of a yield.
    pub(super) fn space_of_ending(&self, ending: Ending) -> usize {
        ending.sources().into_iter().map(|source| self.space_of(source)).max().unwrap_or(0)
    }

    /// Whether a node is computed by segments that are as long as those of a descriptor.
    pub(super) fn is_by_segments(&self, node: &PlanNode, descriptor: usize) -> bool {
        matches!(node.operands.get(1), Some(&PlanOperand::Input(input)) if self.is_alike(input, descriptor))
    }
}

#[cfg(test)]
mod tests;

//! What a loop is where conditions on its index are known: index-set splitting and loop unswitching.
//!
//! In `{if j == 0 or j == #row - 1 then row[j] else row[j - 1] + row[j + 1] : j in index(#row)}` the condition
//! changes at two indices, and nearly all indices are between them. Where conditions compare what goes up or down by
//! one with what is the same for a strip, strips end where a condition changes. A strip in which all of them choose
//! the side that has more to do is done by an *inner* plan: there are neither conditions nor filters in it, so it
//! may take vectors of indices, and it checks them at the ends of the strip. Where there is less to do up to an index,
//! or from one on, as in `{if j < k then x else x - a * y : …}`, such strips have an inner plan, too.
//!
//! ```text
//! m = merge f, a, b     f known to be true:    what reads m reads a; the space of a is that of m
//! p = pack x, f                                what reads p reads x
//! ```

use super::super::plan::{Ending, NodeOp, Plan, PlanNode, PlanOperand, Stride};
use super::{Mode, endings, live};
use nesl_prim::ScalarOp;
use nesl_vcode::{RegisterType, VectorOp};
use std::collections::HashMap;

/// More conditions than these are looked at when strips begin.
const MOST_CHANGES: usize = 8;

/// The plan of strips in which it is known what conditions choose.
#[derive(Clone, Debug)]
pub(in super::super) struct Inner {
    /// It has the inputs, nodes and yields of the whole plan, by the same numbers.
    pub plan: Plan,
    /// The flags of the whole plan, and what they are there.
    pub flags: Vec<(PlanOperand, bool)>,
    /// The comparisons of the whole plan on which flags depend.
    pub changes: Vec<Change>,
}

/// A comparison with what goes up or down by one, which changes at one or two indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in super::super) struct Change {
    /// What goes up or down.
    pub moving: PlanOperand,
    /// Whether it goes up.
    pub goes_up: bool,
    /// Whether it may wrap around.
    pub may_wrap: bool,
    /// What it is compared with.
    pub limit: PlanOperand,
    /// Where the comparison changes.
    pub at: Changes,
}

/// The indices at which a comparison of what moves with its limit changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in super::super) enum Changes {
    /// Where the limit is reached.
    Reached,
    /// One after that.
    Passed,
    /// Both.
    Both,
}

/// What something is inside a strip, of what can be computed when the strip begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Course {
    /// The same at all indices.
    Same,
    /// An int that goes up by one, or down by one; whether it may wrap around.
    Up(bool),
    Down(bool),
    /// The same between the changes of comparisons.
    Switching,
}

/// What conditions choose in the strips of an inner plan.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sides {
    /// The sides that have more to do.
    More,
    /// Of the outermost condition the other side, and else those.
    Less,
}

/// The inner plans of a plan: none where conditions on the index choose nothing in it, or where it has conditions or
/// filters when those are known.
pub(in super::super) fn inner(plan: &Plan, mode: Mode) -> Vec<Inner> {
    let more = inner_of(plan, mode, Sides::More);
    let less = more.as_ref().and_then(|_| inner_of(plan, mode, Sides::Less));
    more.into_iter().chain(less).collect()
}

fn inner_of(plan: &Plan, mode: Mode, sides: Sides) -> Option<Inner> {
    let is_scan = |node: &PlanNode| node.scanned().is_some();
    if !matches!(mode, Mode::Whole | Mode::Piece) || plan.nodes.iter().any(is_scan) {
        return None;
    }
    let all_endings: Vec<Ending> = endings(plan, mode).into_iter().flatten().collect();
    if all_endings.iter().any(|&ending| plan.space_of_ending(ending) > 0) {
        return None;
    }
    let is_written = |ending: &Ending| matches!(ending, Ending::Store(_) | Ending::SegScatter { .. });
    let are_written = all_endings.iter().all(is_written);
    if sides == Sides::Less && !are_written {
        return None;
    }
    let courses = Courses { plan, known: HashMap::new(), changes: Vec::new() };
    let mut choices = Choices { plan, mode, sides, courses, inner: plan.clone(), flags: Vec::new() };
    while let Some(merge) = last_merge(&choices.inner, mode) {
        choices.merge(merge)?;
    }
    if are_written {
        choices.selections()?;
    }
    let Choices { inner, flags, courses: Courses { changes, .. }, .. } = choices;
    let (needed, _) = live::live(&inner, mode, &endings(&inner, mode));
    let is_plain = inner.nodes.iter().zip(&needed).all(|(node, &is_live)| !is_live || node.space == 0);
    (!flags.is_empty() && is_plain && changes.len() <= MOST_CHANGES).then_some(Inner { plan: inner, flags, changes })
}

/// An inner plan while it is made.
struct Choices<'p> {
    plan: &'p Plan,
    mode: Mode,
    sides: Sides,
    courses: Courses<'p>,
    inner: Plan,
    /// The flags that are known, and what they are.
    flags: Vec<(PlanOperand, bool)>,
}

impl Choices<'_> {
    /// Lets a merge be what it merges.
    fn merge(&mut self, merge: usize) -> Option<()> {
        // Its operands may have been resolved, but flags are those of the whole plan.
        let flag = self.plan.nodes[merge].operands[0];
        self.courses.of(flag).filter(|&course| matches!(course, Course::Same | Course::Switching))?;
        let is_first = self.side(merge, flag)?;
        self.inner.resolve(merge, is_first)?;
        self.note(flag, is_first);
        Some(())
    }

    /// Lets selections by conditions on the index be what they select. The others stay: they are no branches.
    fn selections(&mut self) -> Option<()> {
        for number in (0..self.plan.nodes.len()).rev() {
            let node = &self.inner.nodes[number];
            let NodeOp::Map(op) = node.op else { continue };
            let is_selection = ScalarOp::select(node.ty) == op && node.space == 0;
            // Of conditions that do not change in a strip it is not known that they are mostly so.
            let flag = self.plan.nodes[number].operands[0];
            let can_be = is_selection && self.courses.changes.len() < MOST_CHANGES && self.is_needed(number);
            if !can_be || self.courses.of(flag) != Some(Course::Switching) {
                continue;
            }
            let is_first = self.side(number, flag)?;
            if self.inner.choose(number, is_first).is_some() {
                self.note(flag, is_first);
            }
        }
        Some(())
    }

    fn is_needed(&self, number: usize) -> bool {
        live::live(&self.inner, self.mode, &endings(&self.inner, self.mode)).0[number]
    }

    /// Whether the first side of a node is chosen. None where strips with the other side would not be worth it: those
    /// of one index.
    fn side(&self, number: usize, flag: PlanOperand) -> Option<bool> {
        if let Some(&(_, known)) = self.flags.iter().find(|&&(known, _)| known == flag) {
            return Some(known);
        }
        let has_more = weight(&self.inner, number, 1) > weight(&self.inner, number, 2);
        if self.sides == Sides::More || !self.flags.is_empty() {
            return Some(has_more);
        }
        let changes = &self.courses.changes;
        let has_strips = !changes.is_empty() && changes.iter().all(|change| change.at != Changes::Both);
        has_strips.then_some(!has_more)
    }

    fn note(&mut self, flag: PlanOperand, is_first: bool) {
        if self.flags.iter().all(|&(known, _)| known != flag) {
            self.flags.push((flag, is_first));
        }
    }
}

/// The last merge that is computed at all indices.
fn last_merge(plan: &Plan, mode: Mode) -> Option<usize> {
    let (needed, _) = live::live(plan, mode, &endings(plan, mode));
    let is_merge = |&number: &usize| {
        let node = &plan.nodes[number];
        needed[number] && node.space == 0 && node.op == NodeOp::Vector(VectorOp::Merge)
    };
    (0..plan.nodes.len()).rev().find(is_merge)
}

/// How much there is to do for a side of a merge.
fn weight(plan: &Plan, merge: usize, side: usize) -> usize {
    let side = plan.nodes[merge].operands[side];
    plan.computed_from(side, plan.space_of(side)).0.len()
}

impl Plan {
    /// Lets the flag of a merge be known: the side that it chooses is in the space of the merge, and the other one is
    /// gone. None where what is yielded would not be computed in the group.
    fn resolve(&mut self, merge: usize, is_first: bool) -> Option<()> {
        let sides = if is_first { [1, 2] } else { [2, 1] };
        let [inside, outside] = sides.map(|side| self.space_of(self.nodes[merge].operands[side]));
        let around = self.nodes[merge].space;
        for number in 0..self.nodes.len() {
            let node = &mut self.nodes[number];
            if node.space == inside && inside != around {
                node.space = around;
                if node.op == NodeOp::Vector(VectorOp::Pack) {
                    let packed = node.operands[0];
                    self.replace(number, packed);
                }
            } else if outside != around && self.is_within(self.nodes[number].space, outside) {
                self.nodes[number].make_idle();
            }
        }
        for filter in self.filters.iter_mut().filter(|filter| filter.parent == inside) {
            filter.parent = around;
        }
        self.choose(merge, is_first)
    }

    /// Lets a node be one of the two others that it chooses from. None, and nothing changes, where what is yielded would
    /// not be computed in the group.
    fn choose(&mut self, number: usize, is_first: bool) -> Option<()> {
        let chosen = self.nodes[number].operands[if is_first { 1 } else { 2 }];
        match chosen {
            PlanOperand::Node(node) => {
                self.yields.iter_mut().filter(|yielded| **yielded == number).for_each(|yielded| *yielded = node);
            }
            PlanOperand::Input(_) | PlanOperand::Constant(_) if self.yields.contains(&number) => return None,
            PlanOperand::Input(_) | PlanOperand::Constant(_) => {}
        }
        self.replace(number, chosen);
        self.nodes[number].make_idle();
        Some(())
    }

    /// What reads a node reads something else.
    fn replace(&mut self, number: usize, by: PlanOperand) {
        let operands = self.nodes.iter_mut().flat_map(|node| node.operands.iter_mut());
        let flags = self.filters.iter_mut().map(|filter| &mut filter.flags);
        operands
            .chain(flags)
            .filter(|operand| **operand == PlanOperand::Node(number))
            .for_each(|operand| *operand = by);
    }
}

impl PlanNode {
    /// Lets the node be the same everywhere, which needs nothing and cannot fail.
    fn make_idle(&mut self) {
        let nothing = PlanOperand::Constant(self.ty.zero());
        (self.op, self.operands, self.space) = (NodeOp::Vector(VectorOp::Dist), vec![nothing, nothing], 0);
    }
}

/// The courses of what flags are computed from.
struct Courses<'p> {
    plan: &'p Plan,
    known: HashMap<usize, Option<Course>>,
    changes: Vec<Change>,
}

impl Courses<'_> {
    fn of(&mut self, source: PlanOperand) -> Option<Course> {
        let number = match source {
            PlanOperand::Constant(_) => return Some(Course::Same),
            PlanOperand::Input(input) => {
                return matches!(self.plan.inputs[input], RegisterType::Scalar(_)).then_some(Course::Same);
            }
            PlanOperand::Node(number) => number,
        };
        if let Some(&known) = self.known.get(&number) {
            return known;
        }
        let course = self.of_node(number);
        self.known.insert(number, course);
        course
    }

    fn of_node(&mut self, number: usize) -> Option<Course> {
        let plan = self.plan;
        let node = &plan.nodes[number];
        match node.op {
            NodeOp::Vector(VectorOp::Iota | VectorOp::SegIota) if node.space == 0 => Some(Course::Up(false)),
            NodeOp::Vector(VectorOp::SegDist) if node.space == 0 => Some(Course::Same),
            NodeOp::Vector(VectorOp::Compact) if node.space == 0 => match node.operands[0] {
                PlanOperand::Input(column) => match plan.stride_of(column)? {
                    Stride::Zero => Some(Course::Same),
                    Stride::One => Some(Course::Up(true)),
                    Stride::Other => None,
                },
                PlanOperand::Node(_) | PlanOperand::Constant(_) => None,
            },
            NodeOp::Vector(VectorOp::Dist | VectorOp::Pack) => self.of(node.operands[0]),
            NodeOp::Vector(VectorOp::Merge) => {
                let courses = node.operands.iter().map(|&operand| self.of(operand)).collect::<Option<Vec<Course>>>()?;
                joined(&courses)
            }
            NodeOp::Map(op) if !node.is_fallible() && !op.row().cost.is_call() => {
                let courses = node.operands.iter().map(|&operand| self.of(operand)).collect::<Option<Vec<Course>>>()?;
                match (op, &courses[..], &node.operands[..]) {
                    (ScalarOp::AddInt, &[Course::Same, moving] | &[moving, Course::Same], _)
                    | (ScalarOp::SubtractInt, &[moving, Course::Same], _) => Some(moving.shifted()),
                    (ScalarOp::SubtractInt, &[Course::Same, moving], _) => Some(moving.reversed()),
                    (_, &[a, b], &[first, second]) if a.moves() != b.moves() => {
                        self.comparison(op, (a, first), (b, second))
                    }
                    _ => joined(&courses),
                }
            }
            NodeOp::Map(_) | NodeOp::Vector(_) => None,
        }
    }

    /// The comparison of what moves with what does not.
    fn comparison(&mut self, op: ScalarOp, a: (Course, PlanOperand), b: (Course, PlanOperand)) -> Option<Course> {
        let is_first = a.0.moves();
        let ((course, moving), (other, limit)) = if is_first { (a, b) } else { (b, a) };
        let (goes_up, may_wrap) = match course {
            Course::Up(may_wrap) => (true, may_wrap),
            Course::Down(may_wrap) => (false, may_wrap),
            Course::Same | Course::Switching => return None,
        };
        // Whether it is one, as the limit, as what comes before it or as what comes behind it.
        let with_limit = match op {
            ScalarOp::EqualInt => None,
            ScalarOp::LessInt | ScalarOp::AtLeastInt => Some(is_first == goes_up),
            ScalarOp::GreaterInt | ScalarOp::AtMostInt => Some(is_first != goes_up),
            _ => return None,
        };
        let at = with_limit.map_or(Changes::Both, |at_limit| if at_limit { Changes::Reached } else { Changes::Passed });
        let change = Change { moving, goes_up, may_wrap, limit, at };
        (other == Course::Same).then(|| {
            if !self.changes.contains(&change) {
                self.changes.push(change);
            }
            Course::Switching
        })
    }
}

impl Course {
    fn moves(self) -> bool {
        matches!(self, Course::Up(_) | Course::Down(_))
    }

    /// That and what is the same.
    fn shifted(self) -> Course {
        match self {
            Course::Up(_) => Course::Up(true),
            Course::Down(_) => Course::Down(true),
            Course::Same | Course::Switching => self,
        }
    }

    /// What is the same, without that.
    fn reversed(self) -> Course {
        match self {
            Course::Up(_) => Course::Down(true),
            Course::Down(_) => Course::Up(true),
            Course::Same | Course::Switching => self,
        }
    }
}

/// What is computed from things that do not move.
fn joined(courses: &[Course]) -> Option<Course> {
    match courses {
        _ if courses.iter().any(|course| course.moves()) => None,
        _ if courses.contains(&Course::Switching) => Some(Course::Switching),
        _ => Some(Course::Same),
    }
}

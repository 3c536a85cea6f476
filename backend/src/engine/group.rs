//! Groups of instructions over one index space, as an engine gets them.
//!
//! Engines that compile groups keep with each what they have found out about it. [`interpret`] is what a group means:
//! its instructions one after another, on any engine of one process.

mod parts;
mod texts;

use crate::data::descriptor::Descriptor;
use crate::data::slot::Slot;
use crate::data::vector::Vector;
use crate::engine::value::SlotOf;
use crate::engine::{Engine, Fault, MapOperand};
use nesl_native::{Ending, Kernel, NodeOp, Plan, PlanOperand, Running, Stride, WordLayout};
use nesl_vcode::op::{Elements, Fusion};
use nesl_vcode::{Block, Register, RegisterType, VectorOp};
use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;

pub use nesl_native::{AfterOperand, GroupResult};
pub use parts::{Inputs, Partial, Role, Whole, Yield};
pub(crate) use texts::{Segments, Texts};

/// A group.
#[derive(Debug)]
pub struct Group {
    /// What it computes.
    pub(crate) plan: Plan,
    /// Where what its kernels are given is.
    pub(crate) layout: WordLayout,
    pub(crate) facts: Facts,
    /// Yields that will be put one after another, in this order.
    pub(crate) beside: Vec<Vec<usize>>,
    /// The elements that its instructions have gone over, as long as it is not compiled.
    pub(crate) spent: AtomicU64,
    /// Its kernels, by [`Mode::number`], each with the number of the collection that has it.
    pub(crate) kernels: [OnceLock<(u64, Option<Kernel>)>; 3],
    /// The same group where something is known of descriptors.
    known: OnceLock<Box<Group>>,
    /// The same group where columns are arithmetic progressions.
    regular: OnceLock<Box<Group>>,
    /// The same group over a part of its indices, and where its views are made before.
    partial: OnceLock<Option<Box<Partial>>>,
    with_views: OnceLock<Option<Box<WithViews>>>,
    /// The same group where columns are written to after it.
    with_writes: OnceLock<Option<Box<WithWrites>>>,
}

/// A group where columns are written to after the loop.
#[derive(Debug)]
pub struct WithWrites {
    /// The loop.
    pub group: Group,
    /// What the results of the whole are.
    pub outcomes: Vec<GroupResult>,
    /// The columns that the loop does not read: inputs that it gets a scalar for.
    pub unread: Vec<usize>,
}

/// A group over a part of its indices whose last inputs are views, of these columns by these descriptors.
pub type WithViews = (Partial, Vec<(usize, usize)>);

impl PartialEq for Group {
    fn eq(&self, other: &Group) -> bool {
        self.plan == other.plan
    }
}

impl Group {
    /// A group, and the registers that it reads from outside. None for a block that is no group.
    pub fn new(block: &Block, registers: &[RegisterType]) -> Option<(Group, Vec<Register>)> {
        let (plan, inputs) = Plan::new(block, registers)?;
        Some((Group::of(plan), inputs))
    }

    /// The group where it is known which of its yields are put one after another later on, each of them once at most:
    /// what filters keep is then written so, which saves copying it.
    pub fn with_beside(self, beside: Vec<Vec<usize>>) -> Group {
        Group { beside, ..self }
    }

    fn of(plan: Plan) -> Group {
        let (layout, facts) = (WordLayout::new(&plan), Facts::new(&plan));
        Group {
            plan,
            layout,
            facts,
            beside: Vec::new(),
            spent: AtomicU64::new(0),
            kernels: Default::default(),
            known: OnceLock::new(),
            regular: OnceLock::new(),
            partial: OnceLock::new(),
            with_views: OnceLock::new(),
            with_writes: OnceLock::new(),
        }
    }

    /// The group as it is where descriptors share their lengths, or are packed, that do or are so now. There is one
    /// such group, for what was so at first: it is so nearly always.
    pub(crate) fn known(&self, operands: &[LocalSlot]) -> &Group {
        if !self.facts.is_open {
            return self;
        }
        let descriptor = |input: usize| operands[input].as_descriptor();
        let lengths = |input| descriptor(input).lengths().identity();
        let known = self.plan.find_known(lengths, |input| descriptor(input).is_packed());
        if self.plan.knows(&known) {
            return self;
        }
        let as_known = || Group::of(self.plan.clone().with_known(known.clone())).with_beside(self.beside.clone());
        let group = self.known.get_or_init(|| Box::new(as_known()));
        if group.plan.knows(&known) { group } else { self }
    }

    /// The group of so many indices as it is where columns are arithmetic progressions that are so now. There is one
    /// such group, too. Looking at a column takes its length, so short ones alone are looked at.
    pub(crate) fn regular(&self, operands: &[LocalSlot], indices: usize) -> &Group {
        if !self.facts.looks_up {
            return self;
        }
        let stride = |input: usize| match &operands[input] {
            Slot::Column(Vector::Int(ints)) if ints.elements().len() <= indices / READS => stride(ints.elements()),
            _ => None,
        };
        let progressions = self.plan.find_progressions(stride);
        if progressions.is_empty() {
            return self;
        }
        let as_known = || self.plan.clone().with_progressions(progressions.clone());
        let group = self.regular.get_or_init(|| Box::new(Group::of(as_known()).with_beside(self.beside.clone())));
        if group.plan.progressions() == progressions { group } else { self }
    }

    /// The same over a part of its indices; none where that cannot be.
    pub fn partial(&self) -> Option<&Partial> {
        self.partial.get_or_init(|| Partial::new(&self.plan).map(Box::new)).as_deref()
    }

    /// The same where some of its views are inputs, which somebody makes before; none where it has none of these. There
    /// is one such group, for those that were to be made at first.
    pub fn with_views_made(&self, is_made: impl FnMut(&(usize, usize)) -> bool) -> Option<&WithViews> {
        let views: Vec<(usize, usize)> = self.plan.viewed().filter(is_made).collect();
        if views.is_empty() {
            return None;
        }
        let made = || Some(Box::new((Partial::new(&self.plan.with_views_made(&views)?)?, views.clone())));
        self.with_views.get_or_init(made).as_deref().filter(|made| made.1 == views)
    }

    /// The same where columns are written to after it; none where it writes to none, or does nothing else.
    pub fn with_writes_after(&self) -> Option<&WithWrites> {
        let after = || {
            let (plan, outcomes) = self.plan.with_writes_after()?;
            let unread = (0..plan.inputs.len()).filter(|&input| plan.inputs[input] != self.plan.inputs[input]);
            let unread = unread.collect();
            Some(Box::new(WithWrites { group: Group::of(plan), outcomes, unread }))
        };
        self.with_writes.get_or_init(after).as_deref()
    }

    /// Its results from its instructions one after another, on one process.
    ///
    /// # Errors
    /// Where an instruction fails.
    pub fn one_by_one<E: Engine<Column = Vector>>(
        &self,
        engine: &mut E,
        operands: &[SlotOf<E>],
    ) -> Result<Vec<SlotOf<E>>, Fault> {
        interpret(engine, &self.plan, operands)
    }

    /// The number of its instructions.
    pub fn members(&self) -> usize {
        self.plan.nodes.len()
    }
}

/// How often the elements of a column are read, so that it is worth looking whether they go up evenly.
const READS: usize = 8;

/// By how much ints go up, where they do so evenly: of two or more.
fn stride(ints: &[i64]) -> Option<Stride> {
    let &[first, second, ..] = ints else { return None };
    let step = second.wrapping_sub(first);
    ints.windows(2).all(|pair| pair[1].wrapping_sub(pair[0]) == step).then_some(match step {
        0 => Stride::Zero,
        1 => Stride::One,
        _ => Stride::Other,
    })
}

/// What is known of a group before it runs.
#[derive(Debug)]
pub(crate) struct Facts {
    /// What becomes of each yield.
    pub endings: Vec<Ending>,
    pub checks: Vec<Check>,
    /// Whether more may be known of its descriptors when it runs.
    pub is_open: bool,
    /// Whether it reads ints elsewhere than at the index.
    pub looks_up: bool,
    /// The texts that it compares, if it does nothing else.
    pub texts: Option<Texts>,
    /// The descriptor whose segments are reduced or scanned.
    pub segmented: Option<usize>,
    /// Whether only one thread can run it: segments of several descriptors are reduced or scanned, or blocks besides
    /// segments.
    pub is_alone: bool,
    /// Whether the order counts in which it writes to indices.
    pub is_written_in_order: bool,
    /// The scans that are read where they are computed.
    pub running: Vec<Running>,
    /// Whether elements that filters keep go one after another.
    pub is_counted: bool,
    /// Whether counting them first would cost more than moving them together afterwards: what says which are kept reads
    /// at computed indices.
    pub is_moved: bool,
    /// Whether threads can take its indices block by block, each going on from nothing but where filters keep its
    /// elements.
    pub is_in_turns: bool,
    /// Whether something in it can fail.
    pub is_fallible: bool,
    /// The inputs that may be written to where they lie: nothing reads of them what has been written.
    pub targets: Vec<usize>,
    /// Of each input whether it is read at the index alone.
    pub is_aligned: Vec<bool>,
}

/// What must hold of the inputs: the number of indices is
#[derive(Clone, Copy, Debug)]
pub(crate) enum Check {
    /// the length of this column,
    Column(usize),
    /// this scalar,
    Value(PlanOperand),
    /// the number of elements of the segments of this descriptor,
    Total(usize),
    /// the same, and they lie one after another,
    Packed(usize),
    /// the same, and this column has as many elements as it has segments.
    Segments { column: usize, descriptor: usize },
}

impl Facts {
    fn new(plan: &Plan) -> Facts {
        let endings: Vec<Ending> = (0..plan.yields.len()).map(|index| plan.ending(index)).collect();
        let by_segment = endings.iter().filter_map(|ending| ending.by_segments());
        let scanned = plan.nodes.iter().filter_map(|node| match (node.op, &node.operands[..]) {
            (NodeOp::Vector(VectorOp::SegScan(_)), &[_, PlanOperand::Input(descriptor)]) => Some(descriptor),
            _ => None,
        });
        let by_segment: Vec<usize> = by_segment.chain(scanned).map(|input| plan.first_alike(input)).collect();
        let segmented = by_segment.first().copied();
        let has_other_segments = by_segment.iter().any(|&input| Some(input) != segmented);
        let is_blocked = endings.iter().any(|ending| matches!(ending, Ending::Sum(..)));
        let running = plan.running();
        let is_counted = endings.iter().any(|ending| match *ending {
            Ending::Store(source) | Ending::Scan(_, source) | Ending::Sum(_, source) => plan.space_of(source) > 0,
            _ => false,
        });
        let reads_anywhere = plan.nodes.iter().any(|node| matches!(node.op, NodeOp::Vector(VectorOp::Gather)));
        let is_placed = |ending: &Ending| match *ending {
            Ending::Scan(_, source) | Ending::Sum(_, source) => plan.space_of(source) > 0,
            _ => false,
        };
        let is_moved = is_counted && reads_anywhere && running.is_empty() && !endings.iter().any(is_placed);
        let is_anywhere = |ending: &Ending| {
            matches!(ending, Ending::Store(_) | Ending::Reduce(..) | Ending::Scatter { ordered: false, .. })
        };
        let is_in_turns = is_counted && by_segment.is_empty() && running.is_empty() && endings.iter().all(is_anywhere);
        let targets =
            plan.yields.iter().filter_map(|&node| match (plan.nodes[node].op, plan.nodes[node].operands[0]) {
                (NodeOp::Vector(op), PlanOperand::Input(target)) if op.is_update() => Some(target),
                _ => None,
            });
        let is_read_once = |&target: &usize| {
            let reads = plan.nodes.iter().flat_map(|node| &node.operands);
            reads.filter(|&&source| source == PlanOperand::Input(target)).count() == 1
        };
        // What gives up begins anew, which must find what was there.
        let is_read_in_time = |&target: &usize| !plan.is_fallible() && plan.is_read_where_written(target);
        let targets = targets.filter(|target| is_read_once(target) || is_read_in_time(target)).collect();
        let is_aligned = (0..plan.inputs.len()).map(|input| {
            plan.nodes.iter().all(|node| {
                let aligned = plan.aligned(node);
                let mut operands = node.operands.iter().enumerate();
                operands.all(|(position, &source)| source != PlanOperand::Input(input) || aligned.contains(&position))
            })
        });
        Facts {
            is_open: plan.is_open(),
            looks_up: plan.looked_up().next().is_some(),
            texts: Texts::of(plan),
            segmented,
            running,
            is_alone: has_other_segments || is_blocked && segmented.is_some(),
            is_written_in_order: endings.iter().any(|ending| ending.is_ordered_update()),
            is_counted,
            is_moved,
            is_in_turns,
            is_fallible: plan.is_fallible(),
            targets,
            is_aligned: is_aligned.collect(),
            checks: checks(plan),
            endings,
        }
    }
}

fn checks(plan: &Plan) -> Vec<Check> {
    let mut checks = Vec::new();
    for node in &plan.nodes {
        for position in plan.aligned(node) {
            if let PlanOperand::Input(input) = node.operands[position] {
                checks.push(Check::Column(input));
            }
        }
        let NodeOp::Vector(op) = node.op else { continue };
        let row = op.row();
        let input = |position: usize| match node.operands[position] {
            PlanOperand::Input(input) => Some(input),
            PlanOperand::Node(_) | PlanOperand::Constant(_) => None,
        };
        if let Some(descriptor) = op.packed_operand() {
            checks.extend(input(descriptor).map(Check::Packed));
        }
        match row.elements {
            _ if op.fusion() != Fusion::Element(&[]) => {}
            Elements::Value(count) => checks.push(Check::Value(node.operands[count])),
            Elements::Total(position) => {
                let by_segment = row.equal.iter().find_map(|equal| match *equal {
                    (Elements::Column(column), Elements::Segments(segments)) if segments == position => input(column),
                    _ => None,
                });
                checks.extend(input(position).map(|descriptor| match by_segment {
                    Some(column) => Check::Segments { column, descriptor },
                    None => Check::Total(descriptor),
                }));
            }
            _ => {}
        }
    }
    checks
}

/// What a group reads or gives in one process.
pub(crate) type LocalSlot = Slot<Vector, Descriptor>;

/// Runs the instructions of a group one after another.
pub(crate) fn interpret<E>(engine: &mut E, plan: &Plan, operands: &[SlotOf<E>]) -> Result<Vec<SlotOf<E>>, Fault>
where
    E: Engine<Column = Vector>,
{
    let mut done: Vec<SlotOf<E>> = Vec::with_capacity(plan.nodes.len());
    for node in &plan.nodes {
        let value = |position: usize| -> SlotOf<E> {
            match node.operands[position] {
                PlanOperand::Input(input) => operands[input].clone(),
                PlanOperand::Node(number) => done[number].clone(),
                PlanOperand::Constant(value) => Slot::Scalar(value),
            }
        };
        let all = 0..node.operands.len();
        let result = match node.op {
            NodeOp::Map(op) => {
                let operand = |position| match value(position) {
                    Slot::Scalar(value) => MapOperand::Scalar(value),
                    other => MapOperand::Column(other.into_column()),
                };
                Slot::Column(engine.map(op, all.map(operand).collect())?)
            }
            NodeOp::Vector(op) => super::execute(engine, op, all.map(value))?,
        };
        done.push(result);
    }
    Ok(plan.yields.iter().map(|&node| done[node].clone()).collect())
}

//! A fusion group as a kernel is made of it: nodes over inputs, without the names of registers.
//!
//! Two groups that differ in nothing but names have equal plans, and share their code.

use nesl_prim::{ScalarOp, ScalarType, ScalarValue};
use nesl_vcode::op::{Class, Elements, Fusion};
use nesl_vcode::passes::effect;
use nesl_vcode::{Block, Instruction, Op, Operand, Register, RegisterType, VectorOp};
use std::collections::{BTreeSet, HashMap};

/// Where an operand comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PlanOperand {
    /// From outside, by its position among [`Plan::inputs`].
    Input(usize),
    /// From the group, by its position among [`Plan::nodes`].
    Node(usize),
    /// From the program.
    Constant(ScalarValue),
}

impl PlanOperand {
    /// Which input it is, for operands that always come from outside: what is not read at the index of the loop, but
    /// at others, or as a whole.
    ///
    /// # Panics
    /// If it comes from the group: [`Plan::of`] takes only instructions of which such operands are there before.
    pub fn outside(self) -> usize {
        match self {
            PlanOperand::Input(input) => input,
            other => panic!("what is not read at the index comes from outside, not from {other:?}"),
        }
    }
}

/// What a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodeOp {
    /// A scalar operation at each index.
    Map(ScalarOp),
    /// A vector instruction that can be in a loop.
    Vector(VectorOp),
}

/// One instruction of a group.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PlanNode {
    /// What it does.
    pub op: NodeOp,
    /// What it reads.
    pub operands: Vec<PlanOperand>,
    /// The type of its elements, or of its scalar.
    pub ty: ScalarType,
    /// The space in which it computes: for what is packed, the space within.
    pub space: usize,
}

/// The indices of another space at which a flag is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Space {
    /// The space of the flags.
    pub parent: usize,
    /// The flags.
    pub flags: PlanOperand,
}

/// What says how many indices there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extent {
    /// A scalar.
    Value(PlanOperand),
    /// The length of this input.
    Column(usize),
    /// The elements of the segments of this input.
    Total(usize),
}

/// What becomes of what a group yields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    /// The elements of a node are stored.
    Store(PlanOperand),
    /// They are combined by an exact operation.
    Reduce(ScalarOp, PlanOperand),
    /// They are combined as [`nesl_prim::sum`] defines.
    Sum(ScalarOp, PlanOperand),
    /// What comes before each, combined, is stored; nothing else in the group reads it.
    Scan(ScalarOp, PlanOperand),
    /// Those of each segment of an input are combined by an exact operation.
    SegReduce(ScalarOp, PlanOperand, usize),
    /// It is looked where the extreme one is, by an operation that chooses it.
    ReduceIndex(ScalarOp, PlanOperand),
    /// The same in each segment of an input.
    SegReduceIndex(ScalarOp, PlanOperand, usize),
    /// Those of each segment of an input are combined as [`nesl_prim::sum`] defines.
    SegSum(ScalarOp, PlanOperand, usize),
    /// Values are written at indices of a column.
    Scatter {
        /// The indices.
        indices: PlanOperand,
        /// The values.
        values: PlanOperand,
        /// Whether it counts in which order they are written: they need not be the same, and indices may be.
        ordered: bool,
    },
    /// Values are written over the segments of a column, of which no two overlap.
    SegScatter {
        /// The input that is the descriptor of the segments.
        descriptor: usize,
        /// The values.
        values: PlanOperand,
    },
    /// Values are combined into the elements at indices of a column, in order.
    Combine {
        /// By which operation.
        op: ScalarOp,
        /// The indices.
        indices: PlanOperand,
        /// The values.
        values: PlanOperand,
    },
}

impl Ending {
    /// What it takes at the index.
    pub fn sources(self) -> Vec<PlanOperand> {
        match self {
            Ending::Store(source)
            | Ending::Reduce(_, source)
            | Ending::Sum(_, source)
            | Ending::Scan(_, source)
            | Ending::SegReduce(_, source, _)
            | Ending::ReduceIndex(_, source)
            | Ending::SegReduceIndex(_, source, _)
            | Ending::SegSum(_, source, _)
            | Ending::SegScatter { values: source, .. } => vec![source],
            Ending::Scatter { indices, values, .. } | Ending::Combine { indices, values, .. } => vec![indices, values],
        }
    }

    /// The input with a result for each of whose segments.
    pub fn by_segments(self) -> Option<usize> {
        match self {
            Ending::SegReduce(_, _, input) | Ending::SegSum(_, _, input) | Ending::SegReduceIndex(_, _, input) => {
                Some(input)
            }
            _ => None,
        }
    }

    /// Whether elements of a column are changed, at indices of which several may be the same and not all mean the same.
    pub fn is_ordered_update(self) -> bool {
        matches!(self, Ending::Scatter { ordered: true, .. } | Ending::Combine { .. })
    }
}

/// What is known of descriptors ([`super::specialisation`]).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Known {
    /// Of each input the first one whose segments are as long as its own: itself, if there is none.
    pub(super) alike: Vec<usize>,
    /// The inputs that are descriptors of segments which lie one after another, of those through which elements are
    /// read.
    pub(super) packed: Vec<usize>,
    /// The inputs that are arithmetic progressions, of those that are read elsewhere than at the index.
    pub(super) progressions: Vec<(usize, Stride)>,
}

/// By how much the elements of an arithmetic progression go up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stride {
    /// All are equal.
    Zero,
    /// By one.
    One,
    /// By what is known when a group runs.
    Other,
}

impl Known {
    /// Nothing, of so many inputs.
    pub(super) fn nothing(inputs: usize) -> Known {
        Known { alike: (0..inputs).collect(), packed: Vec::new(), progressions: Vec::new() }
    }
}

/// What of a group is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// All, over all indices.
    Whole,
    /// All over some of the indices, others being computed at the same time: nothing is written past the end of a
    /// column's part, and of scans only the elements to be scanned are stored. Where it counts in which order a scatter
    /// writes, it writes to a column of this piece alone, and 1 to the byte behind its elements that has the number of
    /// what was written. What is combined by index is combined into a column of this piece alone, too.
    Piece,
    /// What scans that are read end with, of those that are computed from no more than so many others.
    Scan(u8),
    /// How many elements the filters keep.
    Count,
}

impl Mode {
    /// A number for each mode but those of scans.
    pub fn number(self) -> Option<usize> {
        match self {
            Mode::Whole => Some(0),
            Mode::Piece => Some(1),
            Mode::Count => Some(2),
            Mode::Scan(_) => None,
        }
    }
}

/// A group.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Plan {
    /// What is read from outside.
    pub inputs: Vec<RegisterType>,
    /// The instructions.
    pub nodes: Vec<PlanNode>,
    /// The nodes whose results leave the group.
    pub yields: Vec<usize>,
    /// The spaces of the filters; that of all indices has number 0 and is not among them, so that number 1 is the
    /// first.
    pub(super) filters: Vec<Space>,
    /// How many indices there are.
    pub extent: Extent,
    /// What is known of the inputs.
    pub(super) known: Known,
}

impl Plan {
    /// The plan of a group, and the registers that are its inputs. None for what is no group.
    pub fn new(block: &Block, registers: &[RegisterType]) -> Option<(Plan, Vec<Register>)> {
        let mut planner = Planner { registers, ..Planner::default() };
        for instruction in &block.instructions {
            planner.instruction(instruction)?;
        }
        let yields = block.results.iter().map(|&result| match planner.source(result) {
            PlanOperand::Node(node) => Some(node),
            PlanOperand::Input(_) | PlanOperand::Constant(_) => None,
        });
        let yields = yields.collect::<Option<Vec<usize>>>()?;
        let Planner { inputs, nodes, filters, extent, .. } = planner;
        let types: Vec<RegisterType> = inputs.iter().map(|&register| registers[register.0 as usize]).collect();
        let known = Known::nothing(types.len());
        Some((Plan { inputs: types, nodes, yields, filters, extent: extent?, known }, inputs))
    }

    /// The number of spaces, that of all indices included.
    pub fn spaces(&self) -> usize {
        self.filters.len() + 1
    }

    /// A space within; none for that of all indices.
    pub fn space(&self, number: usize) -> Option<Space> {
        number.checked_sub(1).map(|filter| self.filters[filter])
    }

    /// The space of an operand that is read at the index.
    pub fn space_of(&self, source: PlanOperand) -> usize {
        match source {
            PlanOperand::Node(node) => self.nodes[node].space,
            PlanOperand::Input(_) | PlanOperand::Constant(_) => 0,
        }
    }

    /// Whether an instruction of the group can fail.
    pub fn is_fallible(&self) -> bool {
        self.nodes.iter().any(PlanNode::is_fallible)
    }

    /// What becomes of yield `index`.
    pub fn ending(&self, index: usize) -> Ending {
        let number = self.yields[index];
        let node = &self.nodes[number];
        let descriptor = || node.operands[1].outside();
        match node.op {
            NodeOp::Vector(VectorOp::Reduce(op)) if is_ordered(op) => Ending::Sum(op, node.operands[0]),
            NodeOp::Vector(VectorOp::Reduce(op)) => Ending::Reduce(op, node.operands[0]),
            NodeOp::Vector(VectorOp::Scan(op)) if !self.is_read(number) => Ending::Scan(op, node.operands[0]),
            NodeOp::Vector(VectorOp::SegReduce(op)) if is_ordered(op) => {
                Ending::SegSum(op, node.operands[0], descriptor())
            }
            NodeOp::Vector(VectorOp::SegReduce(op)) => Ending::SegReduce(op, node.operands[0], descriptor()),
            NodeOp::Vector(VectorOp::ReduceIndex(op)) => Ending::ReduceIndex(op, node.operands[0]),
            NodeOp::Vector(VectorOp::SegReduceIndex(op)) => Ending::SegReduceIndex(op, node.operands[0], descriptor()),
            NodeOp::Vector(VectorOp::Scatter) => {
                let (indices, values) = (node.operands[1], node.operands[2]);
                Ending::Scatter { indices, values, ordered: !self.is_one_value(values) }
            }
            NodeOp::Vector(VectorOp::SegScatter) => {
                Ending::SegScatter { descriptor: descriptor(), values: node.operands[2] }
            }
            NodeOp::Vector(VectorOp::CombineByIndex(op)) => {
                Ending::Combine { op, indices: node.operands[1], values: node.operands[2] }
            }
            _ => Ending::Store(PlanOperand::Node(number)),
        }
    }

    /// Whether a node writes over the segments of a column what is there.
    pub fn writes_back(&self, number: usize) -> bool {
        let [column, descriptor, values] = self.nodes[number].operands[..] else { return false };
        match values {
            PlanOperand::Node(values) => {
                let node = &self.nodes[values];
                node.op == NodeOp::Vector(VectorOp::Compact) && node.operands == [column, descriptor]
            }
            PlanOperand::Input(_) => values == column && self.known.packed.contains(&descriptor.outside()),
            PlanOperand::Constant(_) => false,
        }
    }

    /// Whether an operand is the same everywhere.
    fn is_one_value(&self, operand: PlanOperand) -> bool {
        let PlanOperand::Node(number) = operand else { return false };
        let node = &self.nodes[number];
        match node.op {
            NodeOp::Vector(VectorOp::Pack) => self.is_one_value(node.operands[0]),
            op => op == NodeOp::Vector(VectorOp::Dist),
        }
    }

    fn is_read(&self, number: usize) -> bool {
        self.nodes.iter().any(|node| node.operands.contains(&PlanOperand::Node(number)))
    }

    /// What an operand is computed from, itself included, in a space and those within it; and, in the second place,
    /// what that reads of other spaces, at the same index. Each in order.
    pub(super) fn computed_from(&self, source: PlanOperand, space: usize) -> (BTreeSet<usize>, BTreeSet<usize>) {
        let (mut inside, mut outside) = (BTreeSet::new(), BTreeSet::new());
        let mut sources = vec![source];
        while let Some(source) = sources.pop() {
            let PlanOperand::Node(number) = source else { continue };
            let node = &self.nodes[number];
            if !self.is_within(node.space, space) {
                outside.insert(number);
            } else if inside.insert(number) {
                sources.extend(self.aligned(node).into_iter().map(|position| node.operands[position]));
            }
        }
        (inside, outside)
    }

    /// Whether a space is another one, or within it.
    pub(super) fn is_within(&self, mut space: usize, outer: usize) -> bool {
        while space != outer {
            match self.space(space) {
                Some(inner) => space = inner.parent,
                None => return false,
            }
        }
        true
    }

    /// The scans of all indices that something in the group reads, each with how many others come before it in what it
    /// is computed from: where pieces are computed at the same time, it must be known before what each of them begins
    /// with.
    pub fn running(&self) -> Vec<Running> {
        let mut levels: Vec<u8> = Vec::with_capacity(self.nodes.len());
        let mut running = Vec::new();
        for (number, node) in self.nodes.iter().enumerate() {
            let level_of = |source: PlanOperand| match source {
                PlanOperand::Node(before) => levels[before],
                PlanOperand::Input(_) | PlanOperand::Constant(_) => 0,
            };
            let mut level = node.operands.iter().map(|&source| level_of(source)).max().unwrap_or(0);
            let mut space = node.space;
            while let Some(filter) = self.space(space) {
                level = level.max(level_of(filter.flags));
                space = filter.parent;
            }
            match node.op {
                NodeOp::Vector(VectorOp::Scan(op)) if self.is_read(number) => {
                    running.push(Running { node: number, op, level });
                    level = level.saturating_add(1);
                }
                _ => {}
            }
            levels.push(level);
        }
        running
    }

    /// The positions among the operands of a node that are read at the index.
    pub fn aligned(&self, node: &PlanNode) -> Vec<usize> {
        let is_column = |&position: &usize| match node.operands[position] {
            PlanOperand::Input(input) => matches!(self.inputs[input], RegisterType::Column(_)),
            PlanOperand::Node(_) => true,
            PlanOperand::Constant(_) => false,
        };
        match node.op {
            NodeOp::Map(_) => (0..node.operands.len()).filter(is_column).collect(),
            NodeOp::Vector(op) => op.fusion().aligned().to_vec(),
        }
    }
}

impl PlanNode {
    /// Whether it can fail.
    pub fn is_fallible(&self) -> bool {
        let operand = |source: &PlanOperand| match *source {
            PlanOperand::Constant(value) => Operand::Constant(value),
            PlanOperand::Input(_) | PlanOperand::Node(_) => Operand::Register(Register(0)),
        };
        let op = match self.op {
            NodeOp::Map(op) => Op::Scalar(op),
            NodeOp::Vector(op) => Op::Vector(op),
        };
        effect::has_effect(&op, &self.operands.iter().map(operand).collect::<Vec<Operand>>())
    }

    /// Whether its result has no element at the index: it is ready only after the loop.
    pub fn is_end(&self) -> bool {
        self.scanned().is_none() && matches!(self.op, NodeOp::Vector(op) if matches!(op.fusion(), Fusion::End(_)))
    }

    /// The operation of a scan.
    pub fn scanned(&self) -> Option<ScalarOp> {
        match self.op {
            NodeOp::Vector(op) => op.operator_in(Class::Scan),
            NodeOp::Map(_) => None,
        }
    }
}

/// A scan of all indices that is read where it is computed.
#[derive(Clone, Copy, Debug)]
pub struct Running {
    /// Its node.
    pub node: usize,
    /// Its operation, exact.
    pub op: ScalarOp,
    /// The number of others, one computed from the other, that it is computed from.
    pub level: u8,
}

/// Whether the order in which an operation combines is part of the meaning.
pub fn is_ordered(op: ScalarOp) -> bool {
    !op.row().associative
}

#[derive(Default)]
struct Planner<'a> {
    registers: &'a [RegisterType],
    inputs: Vec<Register>,
    places: HashMap<Register, PlanOperand>,
    nodes: Vec<PlanNode>,
    filters: Vec<Space>,
    extent: Option<Extent>,
}

impl Planner<'_> {
    fn source(&mut self, operand: Operand) -> PlanOperand {
        match operand {
            Operand::Constant(value) => PlanOperand::Constant(value),
            Operand::Register(register) => *self.places.entry(register).or_insert_with(|| {
                self.inputs.push(register);
                PlanOperand::Input(self.inputs.len() - 1)
            }),
        }
    }

    fn instruction(&mut self, instruction: &Instruction) -> Option<()> {
        let operands: Vec<PlanOperand> = instruction.operands.iter().map(|&operand| self.source(operand)).collect();
        let [result] = instruction.results[..] else { return None };
        let (RegisterType::Scalar(ty) | RegisterType::Column(ty)) = self.registers[result.0 as usize] else {
            return None;
        };
        let op = match instruction.op {
            Op::Map(op) => NodeOp::Map(op),
            Op::Vector(op) if op.fusion() != Fusion::Alone => NodeOp::Vector(op),
            _ => return None,
        };
        let space_of = |source: &PlanOperand| match *source {
            PlanOperand::Node(node) => self.nodes[node].space,
            PlanOperand::Input(_) | PlanOperand::Constant(_) => 0,
        };
        let space = match op {
            NodeOp::Vector(VectorOp::Pack) => {
                let filter = Space { parent: space_of(&operands[1]), flags: operands[1] };
                let known = self.filters.iter().position(|&other| other == filter);
                known.unwrap_or_else(|| {
                    self.filters.push(filter);
                    self.filters.len() - 1
                }) + 1
            }
            NodeOp::Vector(VectorOp::Merge) => {
                let space = space_of(&operands[0]);
                let is_within = |side| space_of(side).checked_sub(1).is_some_and(|it| self.filters[it].parent == space);
                if !operands[1..].iter().all(is_within) {
                    // Alone it is no loop over the indices of its sides.
                    return None;
                }
                space
            }
            // What is read at the index has one space, and nothing else comes from the group.
            _ => operands.iter().map(space_of).max().unwrap_or(0),
        };
        self.places.insert(result, PlanOperand::Node(self.nodes.len()));
        self.nodes.push(PlanNode { op, operands, ty, space });
        self.learn_extent();
        Some(())
    }

    /// Looks for the number of indices in the last node.
    fn learn_extent(&mut self) {
        let (Some(node), None) = (self.nodes.last(), self.extent) else { return };
        let inputs = node.operands.iter().enumerate().filter_map(|(position, source)| match *source {
            PlanOperand::Input(input) => Some((position, input)),
            _ => None,
        });
        let is_column = |input: usize| matches!(self.registers[self.inputs[input].0 as usize], RegisterType::Column(_));
        let aligned = |position| match node.op {
            NodeOp::Map(_) => true,
            NodeOp::Vector(op) => op.fusion().aligned().contains(&position),
        };
        let mut columns = inputs.filter(|&(position, input)| aligned(position) && is_column(input));
        self.extent = match node.op {
            NodeOp::Vector(op) if op.fusion() == Fusion::Element(&[]) => match op.elements() {
                Elements::Value(position) => Some(Extent::Value(node.operands[position])),
                Elements::Total(position) => match node.operands[position] {
                    PlanOperand::Input(descriptor) => Some(Extent::Total(descriptor)),
                    PlanOperand::Node(_) | PlanOperand::Constant(_) => None,
                },
                _ => None,
            },
            _ => columns.next().map(|(_, input)| Extent::Column(input)),
        };
    }
}

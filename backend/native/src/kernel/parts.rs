//! A plan over a part of its indices: the same loop where only some of all indices are at hand, on one of several
//! processes.
//!
//! What instructions make of the index itself would count from the part's own first one, and what they read at other
//! indices need not be at hand. Such a plan has inputs besides those of the whole: how many indices the part has, which
//! is its first, how much of the first segment lies before it, and those elements of columns that it reads elsewhere.
//! Float sums of a whole sequence have an order that parts do not know: a part yields what is to be added up.

use super::plan::{Known, NodeOp, Plan, PlanNode, PlanOperand, is_ordered};
use nesl_prim::{ScalarOp, ScalarType, ScalarValue};
use nesl_vcode::{RegisterType, VectorOp};

/// A plan over a part of its indices.
#[derive(Clone, Debug)]
pub struct PartPlan {
    /// The plan, whose inputs are those of the whole and then these. In the place of a column that is only read at other
    /// indices is a scalar, which nothing reads.
    pub plan: Plan,
    /// What the further inputs are, in order.
    pub further: Vec<Further>,
}

/// An input that only a part has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Further {
    /// The number of indices of the part.
    Count,
    /// The first of them.
    First,
    /// A column: for each segment in the part of this descriptor how many of its elements lie before the part.
    Before(usize),
    /// Consecutive elements of this column, among them all that the part reads at indices that it computes.
    Read(usize),
    /// A scalar: the index of the first of these.
    Offset(usize),
    /// A descriptor: the segments in the part of a descriptor, where they are in these elements of a column.
    View {
        /// The descriptor.
        descriptor: usize,
        /// The column.
        column: usize,
    },
}

/// A result of a group whose loop writes to no column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupResult {
    /// This result of the loop.
    Loop(usize),
    /// A column written to after the loop, by this instruction.
    Written(VectorOp, Vec<AfterOperand>),
}

/// What an instruction after a loop reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterOperand {
    /// This input of the loop.
    Input(usize),
    /// This result of the loop.
    Result(usize),
    /// This value.
    Constant(ScalarValue),
}

impl Plan {
    /// One instruction alone: the reduction of segments that lie one after another. Its inputs are the column and the
    /// segments.
    pub fn seg_reduce(op: ScalarOp) -> Plan {
        let row = op.row();
        let operands = vec![PlanOperand::Input(0), PlanOperand::Input(1)];
        let node = PlanNode { op: NodeOp::Vector(VectorOp::SegReduce(op)), operands, ty: row.result, space: 0 };
        let inputs = vec![RegisterType::Column(row.operands[0]), RegisterType::Descriptor];
        let (extent, known) = (super::Extent::Column(0), Known::nothing(inputs.len()));
        Plan { inputs, nodes: vec![node], yields: vec![0], filters: Vec::new(), extent, known }
    }

    /// The same of segments that lie anywhere in the column.
    pub fn seg_reduce_view(op: ScalarOp) -> Plan {
        let row = op.row();
        let of_view = |op, operands, ty| PlanNode { op: NodeOp::Vector(op), operands, ty, space: 0 };
        let [column, view] = [0, 1].map(PlanOperand::Input);
        let nodes = vec![
            of_view(VectorOp::Compact, vec![column, view], row.operands[0]),
            of_view(VectorOp::SegReduce(op), vec![PlanOperand::Node(0), view], row.result),
        ];
        let inputs = vec![RegisterType::Column(row.operands[0]), RegisterType::Descriptor];
        let (extent, known) = (super::Extent::Total(1), Known::nothing(inputs.len()));
        Plan { inputs, nodes, yields: vec![1], filters: Vec::new(), extent, known }
    }

    /// One instruction alone: where the extreme element of a column is, or of its segments, which lie one after another.
    /// Its inputs are the column, and the segments.
    pub fn reduce_index(op: ScalarOp, has_segments: bool) -> Plan {
        let instruction = if has_segments { VectorOp::SegReduceIndex(op) } else { VectorOp::ReduceIndex(op) };
        let mut inputs = vec![RegisterType::Column(op.row().operands[0])];
        inputs.extend(has_segments.then_some(RegisterType::Descriptor));
        let operands = (0..inputs.len()).map(PlanOperand::Input).collect();
        let node = PlanNode { op: NodeOp::Vector(instruction), operands, ty: ScalarType::Int, space: 0 };
        let (extent, known) = (super::Extent::Column(0), Known::nothing(inputs.len()));
        Plan { inputs, nodes: vec![node], yields: vec![0], filters: Vec::new(), extent, known }
    }

    /// The same with the extreme element itself yielded before each index of one: parts are put together by both.
    pub fn with_extremes(&self) -> Plan {
        let mut plan = self.clone();
        plan.yields.clear();
        for &number in &self.yields {
            let node = &self.nodes[number];
            let value = match node.op {
                NodeOp::Vector(VectorOp::ReduceIndex(op)) => Some((op, VectorOp::Reduce(op))),
                NodeOp::Vector(VectorOp::SegReduceIndex(op)) => Some((op, VectorOp::SegReduce(op))),
                _ => None,
            };
            if let Some((op, value)) = value {
                plan.nodes.push(PlanNode { op: NodeOp::Vector(value), ty: op.row().result, ..node.clone() });
                plan.yields.push(plan.nodes.len() - 1);
            }
            plan.yields.push(number);
        }
        plan
    }

    /// The views of columns that it reads: the columns, and the descriptors.
    pub fn viewed(&self) -> impl Iterator<Item = (usize, usize)> {
        self.nodes.iter().filter_map(|node| match node.read_elsewhere()? {
            (column, Some(descriptor)) => Some((column, descriptor)),
            (_, None) => None,
        })
    }

    /// The same where these of its views are inputs, in this order behind the others: somebody makes them before. None
    /// where one is a result.
    pub fn with_views_made(&self, views: &[(usize, usize)]) -> Option<Plan> {
        let (mut inputs, mut nodes) = (self.inputs.clone(), Vec::new());
        let mut places: Vec<PlanOperand> = Vec::with_capacity(self.nodes.len());
        let at = |places: &[PlanOperand], source: PlanOperand| match source {
            PlanOperand::Node(node) => places[node],
            other => other,
        };
        for node in &self.nodes {
            if let Some((column, Some(descriptor))) = node.read_elsewhere()
                && views.contains(&(column, descriptor))
            {
                places.push(PlanOperand::Input(inputs.len()));
                inputs.push(RegisterType::Column(node.ty));
                continue;
            }
            let operands = node.operands.iter().map(|&source| at(&places, source)).collect();
            places.push(PlanOperand::Node(nodes.len()));
            nodes.push(PlanNode { operands, ..node.clone() });
        }
        let of = |&node: &usize| match places[node] {
            PlanOperand::Node(node) => Some(node),
            PlanOperand::Input(_) | PlanOperand::Constant(_) => None,
        };
        let yields = self.yields.iter().map(of).collect::<Option<Vec<usize>>>()?;
        let filters = self.filters.iter();
        let filters = filters.map(|filter| super::Space { flags: at(&places, filter.flags), ..*filter }).collect();
        let known = Known::nothing(inputs.len());
        Some(Plan { inputs, nodes, yields, filters, extent: self.extent, known })
    }

    /// The same where columns are written to after the loop, which yields what is written and where: what each result
    /// of the whole is then. None where nothing is written, there is no loop but for that, or a column that is written to
    /// is read besides by what writes.
    pub fn with_writes_after(&self) -> Option<(Plan, Vec<GroupResult>)> {
        let is_write = |number: usize| matches!(self.nodes[number].op, NodeOp::Vector(op) if op.is_update());
        if !self.yields.iter().any(|&number| is_write(number)) {
            return None;
        }
        let writes = (0..self.nodes.len()).filter(|&number| is_write(number)).map(|number| &self.nodes[number]);
        let read: Vec<PlanOperand> = writes.clone().flat_map(|node| node.operands.iter().copied()).collect();
        let is_read_besides = |target: PlanOperand| read.iter().filter(|&&source| source == target).count() > 1;
        if writes.map(|node| node.operands[0]).any(is_read_besides) {
            return None;
        }
        // Nothing reads what is written, so the others only move up.
        let kept: Vec<usize> = (0..self.nodes.len()).filter(|&number| !is_write(number)).collect();
        let place = |number: usize| kept.partition_point(|&other| other < number);
        let moved = |source: PlanOperand| match source {
            PlanOperand::Node(number) => PlanOperand::Node(place(number)),
            other => other,
        };
        let mut yields: Vec<usize> = Vec::new();
        let mut result = |number: usize| {
            let known = yields.iter().position(|&other| other == place(number));
            known.unwrap_or_else(|| {
                yields.push(place(number));
                yields.len() - 1
            })
        };
        let mut outcomes = Vec::with_capacity(self.yields.len());
        for &number in &self.yields {
            let node = &self.nodes[number];
            outcomes.push(match node.op {
                NodeOp::Vector(op) if op.is_update() => {
                    let outside = |&source: &PlanOperand| match source {
                        PlanOperand::Input(input) => AfterOperand::Input(input),
                        PlanOperand::Node(number) => AfterOperand::Result(result(number)),
                        PlanOperand::Constant(value) => AfterOperand::Constant(value),
                    };
                    GroupResult::Written(op, node.operands.iter().map(outside).collect())
                }
                _ => GroupResult::Loop(result(number)),
            });
        }
        if yields.is_empty() {
            return None;
        }
        let node = |&number: &usize| {
            let node = &self.nodes[number];
            PlanNode { operands: node.operands.iter().map(|&source| moved(source)).collect(), ..node.clone() }
        };
        let filters = self.filters.iter();
        let filters = filters.map(|filter| super::Space { flags: moved(filter.flags), ..*filter }).collect();
        let (nodes, known) = (kept.iter().map(node).collect(), self.known.clone());
        let mut plan = Plan { inputs: self.inputs.clone(), nodes, yields, filters, extent: self.extent, known };
        plan.forget_unread(self.inputs.len());
        Some((plan, outcomes))
    }

    /// A plan over a part of the indices, where descriptors are those of the segments in the part.
    pub fn on_part(&self) -> PartPlan {
        let mut maker =
            Maker { inputs: self.inputs.clone(), further: Vec::new(), nodes: Vec::new(), places: Vec::new() };
        for node in &self.nodes {
            maker.node(node);
        }
        let at = |source: PlanOperand| maker.at(source);
        let filters = self.filters.iter().map(|filter| super::Space { flags: at(filter.flags), ..*filter }).collect();
        let yields = self.yields.iter().map(|&node| maker.places[node]).collect();
        let extent = match self.extent {
            super::Extent::Value(_) => super::Extent::Value(maker.further(Further::Count)),
            other => other,
        };
        let Maker { inputs, further, nodes, .. } = maker;
        let known = Known::nothing(inputs.len());
        let mut plan = Plan { inputs, nodes, yields, filters, extent, known };
        // What a loop reads elsewhere alone is no column with an element for each index.
        plan.forget_unread(self.inputs.len());
        PartPlan { plan, further }
    }

    /// Puts a scalar in the place of each column among the first inputs that nothing reads.
    fn forget_unread(&mut self, first: usize) {
        for number in 0..first {
            let is_read = self.nodes.iter().any(|node| node.operands.contains(&PlanOperand::Input(number)));
            let is_extent = self.extent == super::Extent::Column(number);
            if matches!(self.inputs[number], RegisterType::Column(_)) && !is_read && !is_extent {
                self.inputs[number] = RegisterType::Scalar(ScalarType::Int);
            }
        }
    }
}

struct Maker {
    inputs: Vec<RegisterType>,
    further: Vec<Further>,
    nodes: Vec<PlanNode>,
    /// Where what each node of the whole gives is.
    places: Vec<usize>,
}

impl Maker {
    fn at(&self, source: PlanOperand) -> PlanOperand {
        match source {
            PlanOperand::Node(node) => PlanOperand::Node(self.places[node]),
            other => other,
        }
    }

    fn further(&mut self, further: Further) -> PlanOperand {
        let whole = self.inputs.len() - self.further.len();
        let known = self.further.iter().position(|&other| other == further);
        PlanOperand::Input(
            whole
                + known.unwrap_or_else(|| {
                    self.further.push(further);
                    self.inputs.push(match further {
                        Further::Count | Further::First | Further::Offset(_) => RegisterType::Scalar(ScalarType::Int),
                        Further::Before(_) => RegisterType::Column(ScalarType::Int),
                        Further::Read(column) => self.inputs[column],
                        Further::View { .. } => RegisterType::Descriptor,
                    });
                    self.further.len() - 1
                }),
        )
    }

    fn push(&mut self, op: NodeOp, operands: Vec<PlanOperand>, node: &PlanNode) -> PlanOperand {
        self.nodes.push(PlanNode { op, operands, ..node.clone() });
        PlanOperand::Node(self.nodes.len() - 1)
    }

    fn node(&mut self, node: &PlanNode) {
        let mut operands: Vec<PlanOperand> = node.operands.iter().map(|&source| self.at(source)).collect();
        if let (NodeOp::Vector(VectorOp::Reduce(op)), &[PlanOperand::Node(source)]) = (node.op, operands.as_slice())
            && is_ordered(op)
        {
            self.places.push(source);
            return;
        }
        if let Some((column, descriptor)) = node.read_elsewhere() {
            operands[0] = self.further(Further::Read(column));
            operands[1] = match descriptor {
                Some(descriptor) => self.further(Further::View { descriptor, column }),
                None => {
                    let offset = self.further(Further::Offset(column));
                    let index = PlanNode { ty: ScalarType::Int, ..node.clone() };
                    self.push(NodeOp::Map(ScalarOp::SubtractInt), vec![operands[1], offset], &index)
                }
            };
        }
        match node.op {
            NodeOp::Vector(VectorOp::Iota) => operands[0] = self.further(Further::Count),
            NodeOp::Vector(VectorOp::Dist) => operands[1] = self.further(Further::Count),
            _ => {}
        }
        let made = self.push(node.op, operands.clone(), node);
        let before = match (node.op, operands.as_slice()) {
            (NodeOp::Vector(VectorOp::Iota), _) => Some(self.further(Further::First)),
            (NodeOp::Vector(VectorOp::SegIota), &[PlanOperand::Input(descriptor)]) => {
                let before = self.further(Further::Before(descriptor));
                Some(self.push(NodeOp::Vector(VectorOp::SegDist), vec![before, PlanOperand::Input(descriptor)], node))
            }
            _ => None,
        };
        if let Some(before) = before {
            self.push(NodeOp::Map(ScalarOp::AddInt), vec![made, before], node);
        }
        self.places.push(self.nodes.len() - 1);
    }
}

impl PlanNode {
    /// The input column of which it reads elements at other indices than its own, and the descriptor that says at which,
    /// if none that it computes.
    pub fn read_elsewhere(&self) -> Option<(usize, Option<usize>)> {
        match (self.op, self.operands.as_slice()) {
            (NodeOp::Vector(VectorOp::Gather), &[PlanOperand::Input(column), _]) => Some((column, None)),
            (NodeOp::Vector(VectorOp::Compact), &[PlanOperand::Input(column), PlanOperand::Input(descriptor)]) => {
                Some((column, Some(descriptor)))
            }
            _ => None,
        }
    }
}

//! What is computed at one index.
//!
//! In a space within, everything is computed at every index and only kept where the flag is true, where that is cheap,
//! cannot fail and reads nothing at computed indices: a mispredicted branch costs more than a few operations. Otherwise
//! it is behind a branch.

use super::emit::{Carried, Cursor};
use super::environment::{Bound, Environment};
use super::induction::InductionVariable;
use super::live::{counted, live};
use super::plan::{Ending, Mode, Node, NodeOp, Plan, Source, is_ordered};
use super::strip_mining::UNROLL;
use super::vector_accumulators::Lanes;
use crate::emitter::{Emitter, TRUSTED, machine_type};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Type, Value, types};
use cranelift_frontend::Variable;
use nesl_prim::ScalarOp;
use nesl_vcode::{RegisterType, VectorOp};

/// Operations in a space within from which on a branch around them is cheaper than what it may cost to mispredict it.
const WORTH_A_BRANCH: usize = 12;

/// Operations of a loop that is unrolled.
const UNROLLED: usize = 24;

pub(super) struct Body<'a, 'e, 'b> {
    pub emitter: &'e mut Emitter<'b>,
    pub plan: &'a Plan,
    pub environment: Environment,
    pub mode: Mode,
    /// What becomes of each yield; nothing where that is not computed in this mode.
    pub endings: Vec<Option<Ending>>,
    /// The nodes that are computed.
    pub live: Vec<bool>,
    /// The nodes whose index has been checked before the loop.
    pub checked: Vec<bool>,
    /// The nodes that check indices against what is known to be a length.
    pub has_length: Vec<bool>,
    /// Of the yields that are written at indices, those whose indices need not be compared with the length of the
    /// column.
    pub is_place: Vec<bool>,
    /// The spaces within that are behind a branch.
    branches: Vec<bool>,
    /// The cursors of descriptors, by input.
    pub cursors: Vec<Option<Cursor>>,
    /// Positions in columns, by space.
    pub positions: Vec<Option<Variable>>,
    pub carried: Vec<Carried>,
    /// What goes from one index to the next for each node that is a scan.
    pub scans: Vec<Carried>,
    /// How many indices, or vectors of them, the loop takes at a time.
    pub times: usize,
    /// Whether it takes them by twos as long as it can.
    pub is_wide: bool,
    /// Whether there is room for all indices that the loop takes now, kept or not.
    pub has_room: bool,
    /// Accumulators of exact reductions for two indices, by yield.
    pub wide_accumulators: Vec<Vec<Variable>>,
    /// Counters for two indices, of the spaces that are counted.
    pub wide_counters: Vec<Variable>,
    /// What holds for a strip: the elements of `seg_dist` and the addresses that index 0 would have in what `compact`
    /// reads, by node.
    pub of_strip: Vec<Option<Value>>,
    /// The addresses that index 0 would have in buffers of sums, for a strip or a stretch, by yield.
    pub biases: Vec<Option<Value>>,
    /// The nodes that are indices which go up evenly inside a strip, and are checked when it begins.
    pub even: Vec<Option<InductionVariable>>,
    /// The lanes of a sum that are kept in registers.
    pub lanes: Option<Lanes>,
    /// What is known at the current index.
    pub now: Now,
}

#[derive(Clone, Default)]
pub(super) struct Now {
    /// The loop's index, and how much the current one is further.
    pub index: Option<Value>,
    pub further: usize,
    pub nodes: Vec<Option<Value>>,
    pub inputs: Vec<Option<Value>>,
}

impl<'a, 'e, 'b> Body<'a, 'e, 'b> {
    pub fn new(
        emitter: &'e mut Emitter<'b>,
        plan: &'a Plan,
        mode: Mode,
        environment: &'a Environment,
        range: (Value, Value),
    ) -> Self {
        let ending = |index| match (mode, plan.ending(index)) {
            (Mode::Count | Mode::Scan(_), _) => None,
            (Mode::Piece, Ending::Scan(_, source)) => Some(Ending::Store(source)),
            (Mode::Whole, Ending::Scan(..)) => Some(Ending::Store(Source::Node(plan.yields[index]))),
            (_, ending) => Some(ending),
        };
        let endings: Vec<Option<Ending>> = (0..plan.yields.len()).map(ending).collect();
        let live = live(plan, mode, &endings);
        let mut body = Body {
            emitter,
            plan,
            environment: environment.clone(),
            mode,
            endings,
            live,
            checked: vec![false; plan.nodes.len()],
            has_length: vec![false; plan.nodes.len()],
            is_place: vec![false; plan.yields.len()],
            branches: vec![false; plan.spaces()],
            cursors: vec![None; plan.inputs.len()],
            positions: vec![None; plan.spaces()],
            carried: Vec::new(),
            scans: vec![Carried::Nothing; plan.nodes.len()],
            times: 1,
            is_wide: false,
            has_room: false,
            wide_accumulators: Vec::new(),
            wide_counters: Vec::new(),
            of_strip: vec![None; plan.nodes.len()],
            biases: vec![None; plan.yields.len()],
            even: vec![None; plan.nodes.len()],
            lanes: None,
            now: Now::default(),
        };
        body.check_ends(range.0, range.1);
        body.check_once(range.0, range.1);
        body.begin_cursors();
        body.find_even();
        body.branches = (0..plan.spaces()).map(|space| space > 0 && body.needs_branch(space)).collect();
        body.begin();
        body
    }

    /// Defines where the loop is in descriptors.
    fn begin_cursors(&mut self) {
        for input in 0..self.environment.inputs.len() {
            let bound = self.environment.inputs[input];
            let Bound::Descriptor { starts, lengths, segment, base, stop, segments } = bound else { continue };
            if !self.uses_descriptor(input) {
                continue;
            }
            let alike = (0..input).filter(|&other| self.is_alike(other, input)).find_map(|other| self.cursors[other]);
            self.cursors[input] = Some(match alike {
                Some(first) => Cursor { starts, ..first },
                None => {
                    let [segment, base, stop] = [segment, base, stop].map(|value| self.variable(value));
                    Cursor { starts, lengths, segments, segment, base, stop }
                }
            });
        }
    }

    /// Defines what is carried from one index to the next.
    fn begin(&mut self) {
        for space in 1..self.plan.spaces() {
            if self.is_positioned(space) {
                self.positions[space] = Some(self.variable(self.environment.positions[space]));
            }
        }
        let is_small = self.live.iter().filter(|&&is_live| is_live).count() + self.endings.len() <= UNROLLED;
        // Segments may be short; but where a loop waits for memory it should come to the next accesses soon.
        let is_even = self.cursors.iter().all(Option::is_none) || self.even.iter().any(Option::is_some);
        let gathers = |node: &Node| node.op == NodeOp::Vector(VectorOp::Gather);
        let waits = self.plan.nodes.iter().zip(&self.live).any(|(node, &is_live)| is_live && gathers(node));
        let is_plain = (is_even || waits) && !self.branches.contains(&true);
        let is_quick =
            |&node: &usize| self.has_length[node] || gathers(&self.plan.nodes[node]) || !self.is_costly(node);
        let calls = !(0..self.plan.nodes.len()).filter(|&node| self.live[node]).all(|node| is_quick(&node));
        self.is_wide = is_small && self.can_be_wide();
        self.times = if is_small && is_plain && !calls && !self.is_wide { UNROLL } else { 1 };
        for index in 0..self.endings.len() {
            let carried = self.carry(index);
            self.carried.push(carried);
        }
        self.begin_scans();
        if self.is_wide {
            self.begin_wide(UNROLL);
        }
    }

    fn carry(&mut self, index: usize) -> Carried {
        let start = self.environment.outlets[index].start;
        let is_within = |source| self.plan.space_of(source) > 0;
        match self.endings[index] {
            Some(Ending::Reduce(op, _)) => {
                let identity = self.identity(op);
                let mut accumulators = vec![self.variable(start)];
                accumulators.extend((1..self.times).map(|_| self.variable(identity)));
                Carried::Values(accumulators)
            }
            Some(Ending::SegReduce(op, ..)) => {
                let identity = self.identity(op);
                Carried::Values(vec![self.variable(identity)])
            }
            Some(Ending::Sum(_, source)) if is_within(source) => Carried::Values(vec![self.variable(start)]),
            Some(Ending::SegSum(_, _, descriptor)) => {
                self.begin_segments(index, descriptor);
                let none = self.emitter.int(0);
                Carried::Values(vec![self.variable(none)])
            }
            _ => Carried::Nothing,
        }
    }

    pub fn variable(&mut self, value: Value) -> Variable {
        let ty = self.emitter.builder.func.dfg.value_type(value);
        let variable = self.emitter.builder.declare_var(ty);
        self.emitter.builder.def_var(variable, value);
        variable
    }

    pub fn identity(&mut self, op: ScalarOp) -> Value {
        let identity = op.row().identity.unwrap_or_else(|| panic!("{op} neither reduces nor scans"));
        self.emitter.constant(identity)
    }

    pub fn values(&self, index: usize) -> Vec<Variable> {
        match &self.carried[index] {
            Carried::Values(variables) => variables.clone(),
            other => unreachable!("a reduction carries values, not {other:?}"),
        }
    }

    /// Whether something that is computed reads a descriptor.
    fn uses_descriptor(&self, input: usize) -> bool {
        let by_ending = self.endings.iter().flatten().any(|ending| match *ending {
            Ending::SegReduce(_, _, descriptor) => descriptor == input,
            _ => false,
        });
        let nodes = self.plan.nodes.iter().zip(&self.live);
        by_ending || nodes.into_iter().any(|(node, &is_live)| is_live && node.operands.contains(&Source::Input(input)))
    }

    /// Whether elements of a space are stored, or only counted.
    fn is_positioned(&self, space: usize) -> bool {
        if self.mode == Mode::Count {
            return counted(self.plan).contains(&space);
        }
        self.endings.iter().flatten().any(|ending| match *ending {
            Ending::Store(source) => self.plan.space_of(source) == space,
            _ => false,
        })
    }

    /// Whether a space is that of another one, or within it.
    fn is_within(&self, mut space: usize, outer: usize) -> bool {
        while space != outer {
            match self.plan.space(space) {
                Some(inner) => space = inner.parent,
                None => return false,
            }
        }
        true
    }

    fn is_costly(&self, node: usize) -> bool {
        if self.checked[node] {
            return false;
        }
        match self.plan.nodes[node].op {
            NodeOp::Map(op) => self.plan.nodes[node].is_fallible() || op.row().cost.is_call(),
            NodeOp::Vector(VectorOp::Gather) => true,
            NodeOp::Vector(_) => false,
        }
    }

    fn needs_branch(&self, space: usize) -> bool {
        let nodes = 0..self.plan.nodes.len();
        let nodes = nodes.filter(|&node| self.live[node] && self.is_within(self.plan.nodes[node].space, space));
        let nodes: Vec<usize> = nodes.collect();
        let is_costly_end = self.endings.iter().flatten().any(|ending| match *ending {
            Ending::Scatter { .. } => self.is_within(self.space_of_ending(*ending), space),
            _ => false,
        });
        let is_ordered_scan = |node: usize| self.plan.nodes[node].scanned().is_some_and(is_ordered);
        nodes.len() > WORTH_A_BRANCH
            || is_costly_end
            || nodes.into_iter().any(|node| self.is_costly(node) || is_ordered_scan(node))
    }

    /// Whether anything is computed or counted in a space or within it.
    fn is_active(&self, space: usize) -> bool {
        let nodes = self.plan.nodes.iter().zip(&self.live);
        let computes = nodes.into_iter().any(|(node, &is_live)| is_live && self.is_within(node.space, space));
        let counts =
            (space..self.positions.len()).any(|inner| self.positions[inner].is_some() && self.is_within(inner, space));
        computes || counts
    }

    /// What is computed in a space at the current index. With a mask, it is kept only where that is true.
    pub fn space(&mut self, space: usize, mask: Option<Value>) {
        for number in 0..self.plan.nodes.len() {
            let node = &self.plan.nodes[number];
            if self.live[number] && node.space == space && !node.is_end() {
                self.now.nodes[number] = Some(self.node(number, mask));
            }
        }
        // All is read before anything is stored: that may be over what is read.
        let endings: Vec<(usize, Ending)> = self
            .endings
            .iter()
            .copied()
            .enumerate()
            .filter_map(|(index, ending)| {
                ending.filter(|&ending| self.space_of_ending(ending) == space).map(|ending| (index, ending))
            })
            .collect();
        for &(_, ending) in &endings {
            ending.sources().into_iter().for_each(|source| {
                self.operand(source);
            });
        }
        for inner in space + 1..self.plan.spaces() {
            if let Some(filter) = self.plan.space(inner)
                && filter.parent == space
                && self.is_active(inner)
            {
                let flag = self.operand(filter.flags);
                self.filter(inner, flag, mask);
            }
        }
        for (index, ending) in endings {
            self.end(index, ending, mask);
        }
    }

    fn filter(&mut self, space: usize, flag: Value, mask: Option<Value>) {
        let both = mask.map_or(flag, |mask| self.emitter.builder.ins().band(mask, flag));
        if !self.branches[space] {
            self.space(space, Some(both));
            if let Some(position) = self.positions[space] {
                let one = self.emitter.builder.ins().uextend(types::I64, both);
                self.add(position, one);
            }
            return;
        }
        let builder = &mut self.emitter.builder;
        let (kept, after) = (builder.create_block(), builder.create_block());
        builder.ins().brif(both, kept, &[], after, &[]);
        builder.switch_to_block(kept);
        // What is computed behind the branch is not known after it.
        let known = self.now.clone();
        self.space(space, None);
        self.now = known;
        if let Some(position) = self.positions[space] {
            let one = self.emitter.int(1);
            self.add(position, one);
        }
        self.emitter.builder.ins().jump(after, &[]);
        self.emitter.builder.switch_to_block(after);
    }

    pub fn add(&mut self, variable: Variable, value: Value) {
        let before = self.emitter.builder.use_var(variable);
        let after = self.emitter.builder.ins().iadd(before, value);
        self.emitter.builder.def_var(variable, after);
    }

    fn space_of_ending(&self, ending: Ending) -> usize {
        ending.sources().into_iter().map(|source| self.plan.space_of(source)).max().unwrap_or(0)
    }

    pub fn index(&mut self) -> Value {
        let index = self.now.index.unwrap_or_else(|| unreachable!("nodes are computed at an index"));
        match self.now.further {
            0 => index,
            further => self.emitter.builder.ins().iadd_imm_s(index, further as i64),
        }
    }

    /// The address of the loop's index in a column of numbers, and how much further the current one is.
    pub fn place_of_index(&mut self, pointer: Value) -> (Value, i32) {
        let index = self.now.index.unwrap_or_else(|| unreachable!("elements are at an index"));
        (self.emitter.address(pointer, index, 8), 8 * self.now.further as i32)
    }

    /// Where the elements of an input are.
    pub fn pointer(&self, input: usize) -> Value {
        match self.environment.inputs[input] {
            Bound::Column { pointer, .. } => pointer,
            Bound::Scalar(_) | Bound::Descriptor { .. } => unreachable!("it is a column"),
        }
    }

    /// An operand at the current index.
    pub fn operand(&mut self, source: Source) -> Value {
        match source {
            Source::Constant(value) => self.emitter.constant(value),
            Source::Node(node) => {
                self.now.nodes[node].unwrap_or_else(|| panic!("node {node} is read before it is computed"))
            }
            Source::Input(input) => match self.environment.inputs[input] {
                Bound::Scalar(value) => value,
                Bound::Column { pointer, .. } => self.element(input, pointer),
                Bound::Descriptor { .. } => panic!("a descriptor has no elements"),
            },
        }
    }

    /// The element of an input at the current index, read once.
    fn element(&mut self, input: usize, pointer: Value) -> Value {
        if let Some(value) = self.now.inputs[input] {
            return value;
        }
        let RegisterType::Column(scalar) = self.plan.inputs[input] else { unreachable!("it has a pointer") };
        let value = self.at_index(pointer, machine_type(scalar));
        self.now.inputs[input] = Some(value);
        value
    }

    /// What is at the current index from an address on.
    fn at_index(&mut self, pointer: Value, ty: Type) -> Value {
        let index = self.now.index.unwrap_or_else(|| unreachable!("elements are read at an index"));
        let address = self.emitter.address(pointer, index, ty.bytes());
        let offset = (self.now.further as u32 * ty.bytes()) as i32;
        self.emitter.builder.ins().load(ty, TRUSTED, address, offset)
    }

    fn node(&mut self, number: usize, mask: Option<Value>) -> Value {
        let node = &self.plan.nodes[number];
        match node.op {
            NodeOp::Map(_) if self.checked[number] => match self.even[number] {
                Some(even) => self.next_even(even),
                None => self.checked_node(number),
            },
            NodeOp::Map(ScalarOp::CheckIndex) if self.has_length[number] => {
                let [index, length] = [0, 1].map(|operand| self.operand(node.operands[operand]));
                let is_index = self.emitter.builder.ins().icmp(IntCC::UnsignedLessThan, index, length);
                self.emitter.require(is_index);
                index
            }
            NodeOp::Map(op) => {
                let operands: Vec<Value> = node.operands.iter().map(|&operand| self.operand(operand)).collect();
                self.emitter.scalar(op, &operands)
            }
            NodeOp::Vector(VectorOp::Iota) => self.index(),
            NodeOp::Vector(VectorOp::Dist | VectorOp::Pack) => self.operand(node.operands[0]),
            NodeOp::Vector(VectorOp::SegDist) => {
                self.of_strip[number].unwrap_or_else(|| unreachable!("it was read when the strip began"))
            }
            NodeOp::Vector(VectorOp::Compact) => {
                let bias = self.of_strip[number].unwrap_or_else(|| unreachable!("it was found when the strip began"));
                self.at_index(bias, machine_type(node.ty))
            }
            NodeOp::Vector(VectorOp::Scan(op) | VectorOp::SegScan(op)) => self.scan(number, op, mask),
            NodeOp::Vector(VectorOp::SegIota) => {
                let (index, base) = (self.index(), self.base_of_segment(node.operands[0]));
                self.emitter.builder.ins().isub(index, base)
            }
            NodeOp::Vector(VectorOp::Gather) => {
                let ty = machine_type(node.ty);
                let (place, offset) = match self.factor(node.operands[1]).filter(|_| self.checked[number]) {
                    // From an address that is the same for all indices that are taken at a time.
                    Some(factor) => (self.at_loop_index(node.operands[1]), factor * self.now.further as i64),
                    None => (self.operand(node.operands[1]), 0),
                };
                let address = self.place(node.operands[0], place, ty.bytes(), !self.checked[number]);
                let offset = (offset * i64::from(ty.bytes())) as i32;
                self.emitter.builder.ins().load(ty, TRUSTED, address, offset)
            }
            NodeOp::Vector(other) => unreachable!("{other:?} has no elements in a loop"),
        }
    }

    /// The address of a place of a column from outside. Places have been checked; one that is not there is a bug, and
    /// gives up.
    fn place(&mut self, column: Source, place: Value, size: u32, is_unknown: bool) -> Value {
        let Source::Input(input) = column else { unreachable!("the column comes from outside") };
        let Bound::Column { pointer, length } = self.environment.inputs[input] else {
            unreachable!("elements are gathered from a column")
        };
        if is_unknown {
            let is_there = self.emitter.builder.ins().icmp(IntCC::UnsignedLessThan, place, length);
            self.emitter.require(is_there);
        }
        self.emitter.address(pointer, place, size)
    }
}

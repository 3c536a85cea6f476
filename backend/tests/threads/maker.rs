//! Groups in the making: instructions over one index space, at random or one by one, which run where the engine checks
//! itself.

use crate::random::Random;
use crate::{column, reductions};
use nesl_backend::{Columns, Descriptor, Group, Meter, Reference, RegularStarts, Scheduler, Slot, Threads, Vector};
use nesl_prim::{ScalarOp, ScalarType, ScalarValue};
use nesl_vcode::{Block, Constants, Instruction, Op, Operand, Register, RegisterType, VectorOp};

pub type Value = Slot<Vector, Descriptor>;

/// A register, and the type of its scalar or elements.
pub type Typed = (Register, ScalarType);

/// A group in the making, over so many indices.
pub struct Maker<'a> {
    pub random: &'a mut Random,
    pub length: usize,
    pub registers: Vec<RegisterType>,
    pub values: Vec<Option<Value>>,
    pub instructions: Vec<Instruction>,
    /// Columns that can be read at the index, each with its space.
    pub elements: Vec<(Register, ScalarType, usize)>,
    /// Those of them that are indices of the columns `data`.
    pub indices: Vec<(Register, usize)>,
    pub data: Vec<Typed>,
    pub scalars: Vec<Typed>,
    /// Descriptors, each with a column of each type of as many elements as segments; all but the last are packed.
    pub descriptors: Vec<(Register, Vec<Typed>)>,
    /// For each of them columns in which its segments lie.
    pub wholes: Vec<Vec<Typed>>,
    pub count: Register,
    /// The flags of the spaces.
    pub filters: Vec<Register>,
    /// Whether it merges spaces within.
    pub has_joins: bool,
    /// Whether something in one of them combines the elements before an index; not both.
    pub runs_within: bool,
    pub results: Vec<Register>,
    pub text: Vec<String>,
}

/// Where segments of views start.
const STARTS: usize = 20;

/// Elements of the longest segments.
const LONGEST: usize = 3000;

/// Elements of the columns that are read at computed indices.
const DATA: usize = 37;

impl<'a> Maker<'a> {
    /// Over so many indices, with nothing outside of it.
    pub fn empty(random: &'a mut Random, length: usize) -> Maker<'a> {
        Maker {
            random,
            length,
            registers: Vec::new(),
            values: Vec::new(),
            instructions: Vec::new(),
            elements: Vec::new(),
            indices: Vec::new(),
            data: Vec::new(),
            scalars: Vec::new(),
            descriptors: Vec::new(),
            wholes: Vec::new(),
            count: Register(0),
            filters: Vec::new(),
            has_joins: false,
            runs_within: false,
            results: Vec::new(),
            text: Vec::new(),
        }
    }

    pub fn new(random: &'a mut Random, length: usize) -> Maker<'a> {
        let mut maker = Maker::empty(random, length);
        maker.count = maker.outside(Slot::Scalar(ScalarValue::Int(length as i64)));
        for ty in ScalarType::ALL {
            for _ in 0..2 {
                let register = maker.random_column(ty, length);
                maker.elements.push((register, ty, 0));
            }
            let data = maker.random_column(ty, DATA);
            maker.data.push((data, ty));
            let value = maker.random.value(ty, 20);
            let scalar = maker.outside(Slot::Scalar(value));
            maker.scalars.push((scalar, ty));
        }
        let places = (0..length).map(|_| maker.random.below(DATA) as i64).collect();
        let places = maker.outside(Slot::Column(column(&Constants::Int(places))));
        maker.elements.push((places, ScalarType::Int, 0));
        maker.indices.push((places, 0));
        let even = [1, 2, 3, 8, 40][maker.random.below(5)];
        let are_even = length.is_multiple_of(even) && maker.random.below(3) == 0;
        let mut known = None;
        for is_packed in [true, true, false] {
            if are_even {
                maker.equal_segments(even, is_packed);
                continue;
            }
            // Some of them are equally long, and known to be, for having the same lengths.
            let lengths = known.take().filter(|_| maker.random.below(2) == 0).unwrap_or_else(|| maker.lengths());
            known = Some(lengths.clone());
            maker.segments(lengths, is_packed);
        }
        maker
    }

    /// Lengths of segments that have as many elements as there are indices.
    fn lengths(&mut self) -> Vector {
        let most = [3, 40, LONGEST][self.random.below(3)];
        let (mut lengths, mut left) = (Vec::new(), self.length);
        while left > 0 {
            let length = if self.random.below(3) == 0 { 0 } else { self.random.below(most).min(left) };
            lengths.push(length as i64);
            left -= length;
        }
        lengths.extend((0..self.random.below(3)).map(|_| 0));
        column(&Constants::Int(lengths))
    }

    /// Segments of these lengths.
    fn segments(&mut self, lengths: Vector, is_packed: bool) {
        let mut reference = Reference::new(None);
        let starts = self.starts(lengths.len());
        let descriptor =
            if is_packed { reference.descriptor(None, lengths) } else { reference.descriptor(Some(starts), lengths) };
        self.cut_by(descriptor.expect("there is memory"), is_packed);
    }

    fn starts(&mut self, segments: usize) -> Vector {
        column(&Constants::Int((0..segments).map(|_| self.random.below(STARTS) as i64).collect()))
    }

    /// Segments of this length, of which there are as many elements as indices.
    fn equal_segments(&mut self, length: usize, is_packed: bool) {
        let segments = self.length / length;
        let starts = match self.random.below(2) {
            _ if is_packed => RegularStarts::Packed,
            0 => RegularStarts::At(self.starts(segments)),
            _ => {
                let first = self.random.below(STARTS);
                let stride = self.random.below((STARTS + LONGEST - length - first) / segments.max(1) + 1);
                RegularStarts::Even { first: first as i64, stride: stride as i64 }
            }
        };
        self.cut_by(Descriptor::regular(&Meter::new(None), starts, length, segments), is_packed);
    }

    /// A descriptor from outside, with columns.
    fn cut_by(&mut self, descriptor: Descriptor, is_packed: bool) {
        let segments = descriptor.segments();
        let descriptor = self.outside(Slot::Descriptor(descriptor));
        let columns = ScalarType::ALL.map(|ty| (self.random_column(ty, segments), ty));
        let whole = if is_packed { self.length } else { STARTS + LONGEST };
        let wholes = ScalarType::ALL.map(|ty| (self.random_column(ty, whole), ty));
        self.wholes.push(wholes.into());
        self.descriptors.push((descriptor, columns.into()));
    }

    pub fn random_column(&mut self, ty: ScalarType, length: usize) -> Register {
        let constants = self.random.constants(ty, length, 20);
        self.outside(Slot::Column(column(&constants)))
    }

    pub fn outside(&mut self, value: Value) -> Register {
        let ty = match &value {
            Slot::Scalar(value) => RegisterType::Scalar(value.scalar_type()),
            Slot::Column(column) => RegisterType::Column(column.scalar_type()),
            Slot::Descriptor(_) => RegisterType::Descriptor,
        };
        self.registers.push(ty);
        self.values.push(Some(value));
        Register(self.registers.len() as u32 - 1)
    }

    pub fn add(&mut self, op: Op, operands: Vec<Operand>, ty: RegisterType) -> Register {
        self.registers.push(ty);
        self.values.push(None);
        let result = Register(self.registers.len() as u32 - 1);
        self.text.push(format!("%{} = {op:?} {operands:?}", result.0));
        let span = nesl_span::Span::new(nesl_span::FileId(0), 0, 0);
        self.instructions.push(Instruction::new(op, operands, vec![result], span));
        self.results.push(result);
        result
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> Option<T> {
        (!from.is_empty()).then(|| from[self.random.below(from.len())])
    }

    /// A column of a type in a space.
    pub fn element(&mut self, ty: ScalarType, space: usize) -> Option<Register> {
        let fitting: Vec<Register> =
            self.elements.iter().filter(|it| it.1 == ty && it.2 == space).map(|it| it.0).collect();
        self.pick(&fitting)
    }

    pub fn map(&mut self, op: ScalarOp, space: usize) {
        let row = op.row();
        let columns = self.random.below(row.operands.len());
        let mut operands = Vec::new();
        for (position, &ty) in row.operands.iter().enumerate() {
            let scalar = self.scalars.iter().find(|scalar| scalar.1 == ty).map(|scalar| scalar.0);
            let element = self.element(ty, space).filter(|_| position == columns || self.random.below(3) > 0);
            operands.push(match (element, self.random.below(2)) {
                (Some(element), _) => Operand::Register(element),
                (None, _) if position == columns => return,
                (None, 0) => Operand::Constant(self.random.value(ty, 20)),
                (None, _) => scalar.map_or(Operand::Constant(ty.zero()), Operand::Register),
            });
        }
        let result = self.add(Op::Map(op), operands, RegisterType::Column(row.result));
        self.elements.push((result, row.result, space));
    }

    /// Picks elements by flags; in which space they are.
    fn pack(&mut self, element: Register, flags: Register, ty: ScalarType) -> (Register, usize) {
        let operands = vec![element.into(), flags.into()];
        let result = self.add(Op::Vector(VectorOp::Pack), operands, RegisterType::Column(ty));
        let known = self.filters.iter().position(|&filter| filter == flags);
        let inner = known.unwrap_or_else(|| {
            self.filters.push(flags);
            self.filters.len() - 1
        }) + 1;
        self.elements.push((result, ty, inner));
        (result, inner)
    }

    /// Splits a space by flags, computes something on either side, and merges both.
    fn merge(&mut self, ty: ScalarType, space: usize, may_fail: bool) -> Option<()> {
        let flags = self.element(ScalarType::Bool, space).filter(|_| !self.runs_within)?;
        let others = self.add(Op::Map(ScalarOp::NotBool), vec![flags.into()], RegisterType::Column(ScalarType::Bool));
        self.elements.push((others, ScalarType::Bool, space));
        let mut sides = Vec::new();
        for flags in [flags, others] {
            let element = self.element(ty, space)?;
            let (_, inner) = self.pack(element, flags, ty);
            for _ in 0..self.random.below(4) {
                let op = ScalarOp::ALL[self.random.below(ScalarOp::ALL.len())];
                if may_fail || !op.row().fallible {
                    self.map(op, inner);
                }
            }
            sides.push(self.element(ty, inner)?);
        }
        let operands = vec![flags.into(), sides[0].into(), sides[1].into()];
        let result = self.add(Op::Vector(VectorOp::Merge), operands, RegisterType::Column(ty));
        self.elements.push((result, ty, space));
        self.has_joins = true;
        Some(())
    }

    /// Adds an instruction, if what it needs is there.
    pub fn instruction(&mut self, may_fail: bool) -> Option<()> {
        let space = self.random.below(self.filters.len() + 1);
        let ty = ScalarType::ALL[self.random.below(4)];
        let vector = |op| Op::Vector(op);
        match self.random.below(22) {
            0 => {
                let result =
                    self.add(vector(VectorOp::Iota), vec![self.count.into()], RegisterType::Column(ScalarType::Int));
                self.elements.push((result, ScalarType::Int, 0));
            }
            1 => {
                let scalar = self.scalars.iter().find(|scalar| scalar.1 == ty)?.0;
                let operands = vec![scalar.into(), self.count.into()];
                let result = self.add(vector(VectorOp::Dist), operands, RegisterType::Column(ty));
                self.elements.push((result, ty, 0));
            }
            2 | 3 => {
                let fitting: Vec<Register> = self.indices.iter().filter(|it| it.1 == space).map(|it| it.0).collect();
                let (index, data) = (self.pick(&fitting)?, self.data.iter().find(|data| data.1 == ty)?.0);
                let result =
                    self.add(vector(VectorOp::Gather), vec![data.into(), index.into()], RegisterType::Column(ty));
                self.elements.push((result, ty, space));
            }
            4 => {
                let descriptor = self.random.below(3);
                let descriptor = self.descriptors[descriptor].0;
                let ty = RegisterType::Column(ScalarType::Int);
                let result = self.add(vector(VectorOp::SegIota), vec![descriptor.into()], ty);
                self.elements.push((result, ScalarType::Int, 0));
            }
            5 | 6 => {
                let descriptor = self.random.below(3);
                let (descriptor, columns) = &self.descriptors[descriptor];
                let column = columns.iter().find(|column| column.1 == ty)?.0;
                let operands = vec![column.into(), (*descriptor).into()];
                let result = self.add(vector(VectorOp::SegDist), operands, RegisterType::Column(ty));
                self.elements.push((result, ty, 0));
            }
            7..=9 => {
                let flags = self.element(ScalarType::Bool, space)?;
                let (element, of_indices) = match self.random.below(3) {
                    0 => {
                        let fitting: Vec<Register> =
                            self.indices.iter().filter(|it| it.1 == space).map(|it| it.0).collect();
                        (self.pick(&fitting)?, true)
                    }
                    _ => (self.element(ty, space)?, false),
                };
                let ty = if of_indices { ScalarType::Int } else { ty };
                let (result, inner) = self.pack(element, flags, ty);
                if of_indices {
                    self.indices.push((result, inner));
                }
            }
            10 if self.random.below(2) == 0 => {
                let descriptor = self.random.below(3);
                let whole = self.wholes[descriptor].iter().find(|whole| whole.1 == ty)?.0;
                let operands = vec![whole.into(), self.descriptors[descriptor].0.into()];
                let result = self.add(vector(VectorOp::Compact), operands, RegisterType::Column(ty));
                self.elements.push((result, ty, 0));
            }
            10 => {
                let ops: Vec<ScalarOp> = reductions().collect();
                let op = self.pick(&ops)?;
                let element = self.element(op.row().result, space)?;
                let is_index = op.is_extreme() && space == 0 && self.random.below(2) == 0;
                let (instruction, ty) = match is_index {
                    true => (VectorOp::ReduceIndex(op), ScalarType::Int),
                    false => (VectorOp::Reduce(op), op.row().result),
                };
                self.add(vector(instruction), vec![element.into()], RegisterType::Scalar(ty));
            }
            11 => {
                let ops: Vec<ScalarOp> = reductions().collect();
                let op = self.pick(&ops)?;
                let element = self.element(op.row().result, space)?;
                let ty = op.row().result;
                if space > 0 && self.has_joins {
                    return None;
                }
                self.runs_within |= space > 0;
                let result = self.add(vector(VectorOp::Scan(op)), vec![element.into()], RegisterType::Column(ty));
                if op.row().associative {
                    self.elements.push((result, ty, space));
                }
            }
            12 | 13 => {
                let ops: Vec<ScalarOp> = reductions().collect();
                let op = self.pick(&ops)?;
                let element = self.element(op.row().result, 0)?;
                let descriptor = self.random.below(2);
                let descriptor = self.descriptors[descriptor].0;
                let is_scan = self.random.below(2) == 0;
                let (instruction, ty) = match is_scan {
                    true => (VectorOp::SegScan(op), op.row().result),
                    false if op.is_extreme() && self.random.below(2) == 0 => {
                        (VectorOp::SegReduceIndex(op), ScalarType::Int)
                    }
                    false => (VectorOp::SegReduce(op), op.row().result),
                };
                let operands = vec![element.into(), descriptor.into()];
                let result = self.add(vector(instruction), operands, RegisterType::Column(ty));
                if is_scan {
                    self.elements.push((result, op.row().result, 0));
                }
            }
            14 => {
                let fitting: Vec<Register> = self.indices.iter().filter(|it| it.1 == space).map(|it| it.0).collect();
                let (index, value) = (self.pick(&fitting)?, self.element(ty, space)?);
                let target = self.data.iter().find(|data| data.1 == ty)?.0;
                let operands = vec![target.into(), index.into(), value.into()];
                let ops: Vec<ScalarOp> = reductions().filter(|op| op.row().result == ty).collect();
                let op = self.pick(&ops).filter(|_| self.random.below(2) == 0);
                let update = op.map_or(VectorOp::Scatter, VectorOp::CombineByIndex);
                self.add(vector(update), operands, RegisterType::Column(ty));
            }
            15 | 16 => self.merge(ty, space, may_fail)?,
            _ => {
                let op = ScalarOp::ALL[self.random.below(ScalarOp::ALL.len())];
                if may_fail || !op.row().fallible {
                    self.map(op, space);
                }
            }
        }
        Some(())
    }

    /// Runs the group, of which about each second result is yielded.
    pub fn run(self, engine: &mut Threads, context: &str) {
        let mut yields: Vec<Register> = self.results.clone();
        yields.retain(|_| self.random.below(2) == 0);
        if yields.is_empty() {
            yields.extend(self.results.last());
        }
        let block = Block::new(self.instructions, yields.iter().map(|&register| register.into()).collect());
        let Some((group, inputs)) = Group::new(&block, &self.registers) else { return };
        let group = group.with_beside(beside(self.random, &yields, &self.registers));
        let mut operands: Vec<Value> =
            inputs.iter().map(|input| self.values[input.0 as usize].clone().expect("it is from outside")).collect();
        let text = self.text.join("\n");
        let run = std::panic::AssertUnwindSafe(|| engine.group(&group, &mut operands).is_some());
        let done = std::panic::catch_unwind(run);
        assert!(done.is_ok(), "{context}, {} threads, yields {yields:?}:\n{text}", engine.threads());
        assert!(
            done.is_ok_and(|done| done || group_can_fail(&block)),
            "no kernel: {context}, yields {yields:?}:\n{text}"
        );
    }
}

fn group_can_fail(block: &Block) -> bool {
    block.instructions.iter().any(|instruction| matches!(instruction.op, Op::Map(op) if op.row().fallible))
}

/// Some yields of one type, in any order, that are to be put one after another.
fn beside(random: &mut Random, yields: &[Register], registers: &[RegisterType]) -> Vec<Vec<usize>> {
    let ty = registers[yields[random.below(yields.len())].0 as usize];
    let mut parts: Vec<usize> = (0..yields.len()).filter(|&index| registers[yields[index].0 as usize] == ty).collect();
    let first = random.below(parts.len());
    parts.rotate_left(first);
    parts.truncate(3);
    if parts.len() > 1 { vec![parts] } else { Vec::new() }
}

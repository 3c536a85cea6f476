//! Groups as kernels: checked by the engine itself against the reference engine, in new columns and in place.

use crate::random::Random;
use crate::{LENGTHS, column, reductions};
use nesl_backend::{Descriptor, Engine, Group, Native, Reference, Slot, Threads, Vector};
use nesl_prim::{ScalarOp, ScalarType, ScalarValue};
use nesl_vcode::{Block, Constants, Instruction, Op, Operand, Register, RegisterType, VectorOp};

type Value = Slot<Vector, Descriptor>;

/// A register, and the type of its scalar or elements.
type Typed = (Register, ScalarType);

/// Lengths of the groups of which there are many.
const SHORT: &[usize] = &[0, 1, 2, 3, 4, 5, 15, 17, 255, 1023, 1024, 1025, 2047, 2049, 5000];

pub(crate) fn engines() -> Vec<Threads> {
    let mut engines = [1, 2, 3].map(|threads| Threads::new(threads, None).expect("the system starts threads"));
    engines.iter_mut().for_each(|engine| engine.set_native(Native::Check));
    engines.into()
}

/// A group in the making, over so many indices.
pub(crate) struct Maker<'a> {
    pub random: &'a mut Random,
    length: usize,
    registers: Vec<RegisterType>,
    values: Vec<Option<Value>>,
    instructions: Vec<Instruction>,
    /// Columns that can be read at the index, each with its space.
    elements: Vec<(Register, ScalarType, usize)>,
    /// Those of them that are indices of the columns `data`.
    indices: Vec<(Register, usize)>,
    data: Vec<Typed>,
    scalars: Vec<Typed>,
    /// Descriptors, each with a column of each type of as many elements as segments; all but the last are packed.
    descriptors: Vec<(Register, Vec<Typed>)>,
    /// For each of them columns in which its segments lie.
    wholes: Vec<Vec<Typed>>,
    count: Register,
    /// The flags of the spaces.
    filters: Vec<Register>,
    pub results: Vec<Register>,
    text: Vec<String>,
}

/// Where segments of views start.
const STARTS: usize = 20;

/// Elements of the longest segments.
const LONGEST: usize = 3000;

/// Elements of the columns that are read at computed indices.
const DATA: usize = 37;

impl<'a> Maker<'a> {
    pub fn new(random: &'a mut Random, length: usize) -> Maker<'a> {
        let mut maker = Maker {
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
            results: Vec::new(),
            text: Vec::new(),
        };
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
        let mut known = None;
        for is_packed in [true, true, false] {
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
        let segments = lengths.len();
        let starts = (0..segments).map(|_| self.random.below(STARTS) as i64).collect();
        let starts = column(&Constants::Int(starts));
        let descriptor = if is_packed { reference.packed(lengths) } else { reference.view(starts, lengths) };
        let descriptor = self.outside(Slot::Descriptor(descriptor.expect("there is memory")));
        let columns = ScalarType::ALL.map(|ty| (self.random_column(ty, segments), ty));
        let whole = if is_packed { self.length } else { STARTS + LONGEST };
        let wholes = ScalarType::ALL.map(|ty| (self.random_column(ty, whole), ty));
        self.wholes.push(wholes.into());
        self.descriptors.push((descriptor, columns.into()));
    }

    fn random_column(&mut self, ty: ScalarType, length: usize) -> Register {
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
    fn element(&mut self, ty: ScalarType, space: usize) -> Option<Register> {
        let fitting: Vec<Register> =
            self.elements.iter().filter(|it| it.1 == ty && it.2 == space).map(|it| it.0).collect();
        self.pick(&fitting)
    }

    fn map(&mut self, op: ScalarOp, space: usize) {
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

    /// Adds an instruction, if what it needs is there.
    fn instruction(&mut self, may_fail: bool) -> Option<()> {
        let space = self.random.below(self.filters.len() + 1);
        let ty = ScalarType::ALL[self.random.below(4)];
        let vector = |op| Op::Vector(op);
        match self.random.below(20) {
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
                let result =
                    self.add(vector(VectorOp::Pack), vec![element.into(), flags.into()], RegisterType::Column(ty));
                let known = self.filters.iter().position(|&filter| filter == flags);
                let inner = known.unwrap_or_else(|| {
                    self.filters.push(flags);
                    self.filters.len() - 1
                }) + 1;
                self.elements.push((result, ty, inner));
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
                self.add(vector(VectorOp::Reduce(op)), vec![element.into()], RegisterType::Scalar(op.row().result));
            }
            11 => {
                let ops: Vec<ScalarOp> = reductions().collect();
                let op = self.pick(&ops)?;
                let element = self.element(op.row().result, space)?;
                let ty = op.row().result;
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
                let instruction = if is_scan { VectorOp::SegScan(op) } else { VectorOp::SegReduce(op) };
                let operands = vec![element.into(), descriptor.into()];
                let result = self.add(vector(instruction), operands, RegisterType::Column(op.row().result));
                if is_scan {
                    self.elements.push((result, op.row().result, 0));
                }
            }
            14 => {
                let fitting: Vec<Register> = self.indices.iter().filter(|it| it.1 == space).map(|it| it.0).collect();
                let (index, value) = (self.pick(&fitting)?, self.element(ty, space)?);
                let target = self.data.iter().find(|data| data.1 == ty)?.0;
                let operands = vec![target.into(), index.into(), value.into()];
                self.add(vector(VectorOp::Scatter), operands, RegisterType::Column(ty));
            }
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

#[test]
fn random_groups_are_what_their_instructions_are() {
    let mut engines = engines();
    for seed in 0..600u64 {
        let mut random = Random(0x6b65_726e_656c + seed);
        let length = SHORT[random.below(SHORT.len())];
        let mut maker = Maker::new(&mut random, length);
        let (count, may_fail) = (2 + maker.random.below(14), maker.random.below(4) == 0);
        while maker.instructions.len() < count {
            maker.instruction(may_fail);
        }
        let engine = &mut engines[seed as usize % 3];
        maker.run(engine, &format!("seed {seed}, length {length}"));
    }
}

#[test]
fn every_operation_is_that_of_the_table() {
    let mut engines = engines();
    for (number, &op) in ScalarOp::ALL.iter().enumerate() {
        for length in [5, 3000] {
            let mut random = Random(number as u64);
            let mut maker = Maker::new(&mut random, length);
            for ty in ScalarType::ALL {
                // What is packed, too.
                let flags = maker.elements.iter().find(|it| it.1 == ScalarType::Bool).unwrap().0;
                let operands = vec![maker.element(ty, 0).unwrap().into(), flags.into()];
                maker.filters = vec![flags];
                let packed = maker.add(Op::Vector(VectorOp::Pack), operands, RegisterType::Column(ty));
                maker.elements.push((packed, ty, 1));
            }
            maker.map(op, 0);
            maker.map(op, 1);
            maker.map(op, 0);
            maker.run(&mut engines[number % 3], &format!("{op}, length {length}"));
        }
    }
}

#[test]
fn every_end_of_every_operation_at_every_length() {
    let mut engines = engines();
    let operations: Vec<ScalarOp> = reductions().collect();
    for (number, &op) in operations.iter().enumerate() {
        let ty = op.row().result;
        for (turn, &length) in LENGTHS.iter().filter(|&&length| length < 5000).enumerate() {
            let mut random = Random((1000 * number + turn) as u64);
            let mut maker = Maker::new(&mut random, length);
            let flags = maker.element(ScalarType::Bool, 0).unwrap();
            let element = maker.element(ty, 0).unwrap();
            let packed =
                maker.add(Op::Vector(VectorOp::Pack), vec![element.into(), flags.into()], RegisterType::Column(ty));
            let descriptor = maker.descriptors[turn % 2].0;
            let (scalar, column) = (RegisterType::Scalar(ty), RegisterType::Column(ty));
            let by_segment = vec![element.into(), descriptor.into()];
            let ends = [
                (VectorOp::Reduce(op), vec![element.into()], scalar),
                (VectorOp::Scan(op), vec![element.into()], column),
                (VectorOp::Reduce(op), vec![packed.into()], scalar),
                (VectorOp::Scan(op), vec![packed.into()], column),
                (VectorOp::SegReduce(op), by_segment.clone(), column),
                (VectorOp::SegScan(op), by_segment, column),
            ];
            // Some of them, so that what one needs is not always there for another.
            for (position, (end, operands, ty)) in ends.into_iter().enumerate() {
                if maker.random.below(3) > 0 || position == turn % 6 {
                    maker.add(Op::Vector(end), operands, ty);
                }
            }
            for engine in &mut engines {
                let mut again = Random(0);
                let maker = Maker {
                    random: &mut again,
                    length,
                    registers: maker.registers.clone(),
                    values: maker.values.clone(),
                    instructions: maker.instructions.clone(),
                    elements: Vec::new(),
                    indices: Vec::new(),
                    data: Vec::new(),
                    scalars: Vec::new(),
                    descriptors: Vec::new(),
                    wholes: Vec::new(),
                    count: Register(0),
                    filters: Vec::new(),
                    results: maker.results.clone(),
                    text: maker.text.clone(),
                };
                maker.run(engine, &format!("{op}, length {length}"));
            }
        }
    }
}

/// Groups of numbers alone: those of which all operations have a form for two indices are computed so.
#[test]
fn arithmetic_alone() {
    let mut engines = engines();
    for (number, &op) in ScalarOp::ALL.iter().enumerate().filter(|(_, op)| !op.row().fallible) {
        for &length in SHORT {
            let mut random = Random((number * 100_000 + length) as u64);
            let mut maker = Maker::new(&mut random, length);
            // Truth values come from comparisons.
            maker.elements.retain(|element| element.1 != ScalarType::Bool);
            maker.map(ScalarOp::LessInt, 0);
            maker.map(ScalarOp::GreaterFloat, 0);
            maker.map(op, 0);
            let Some(&(result, ty, _)) = maker.elements.last() else { continue };
            let (result, ty) = match ty {
                ScalarType::Bool => {
                    maker.map(ScalarOp::BoolToInt, 0);
                    (*maker.results.last().unwrap(), ScalarType::Int)
                }
                ty => (result, ty),
            };
            let mut yields = vec![result];
            for reduction in reductions().filter(|reduction| reduction.row().result == ty) {
                let instruction = Op::Vector(VectorOp::Reduce(reduction));
                yields.push(maker.add(instruction, vec![result.into()], RegisterType::Scalar(ty)));
            }
            if length % 2 == 1 {
                let descriptor = maker.descriptors[number % 2].0;
                let place = maker.add(
                    Op::Vector(VectorOp::SegIota),
                    vec![descriptor.into()],
                    RegisterType::Column(ScalarType::Int),
                );
                for reduction in reductions() {
                    let reduced = reduction.row().result;
                    let Some(element) = [(result, ty), (place, ScalarType::Int)].into_iter().find(|it| it.1 == reduced)
                    else {
                        continue;
                    };
                    let instruction = Op::Vector(VectorOp::SegReduce(reduction));
                    let operands = vec![element.0.into(), descriptor.into()];
                    yields.push(maker.add(instruction, operands, RegisterType::Column(reduced)));
                }
            }
            maker.results = yields;
            maker.run(&mut engines[length % 3], &format!("{op}, length {length}"));
        }
    }
}

/// Filters that keep elements together at one place, so that pieces have room for all that they take, or for none.
#[test]
fn what_filters_keep_lies_anywhere() {
    let mut engines = engines();
    type IsKept = fn(usize, usize) -> bool;
    let patterns: [(&str, IsKept); 8] = [
        ("none", |_, _| false),
        ("all", |_, _| true),
        ("the first", |i, _| i == 0),
        ("the last", |i, length| i + 1 == length),
        ("the first half", |i, length| i < length / 2),
        ("the second half", |i, length| i >= length / 2),
        ("every other", |i, _| i % 2 == 1),
        ("in runs", |i, _| i / 700 % 2 == 0),
    ];
    for (name, is_kept) in patterns {
        for &length in SHORT {
            for op in [ScalarOp::GreaterInt, ScalarOp::GreaterFloat] {
                let mut random = Random(length as u64);
                let mut maker = Maker::new(&mut random, length);
                let ty = op.row().operands[0];
                let number = maker.element(ty, 0).unwrap();
                let kept = (0..length).map(|i| is_kept(i, length));
                let (numbers, zero) = match ty {
                    ScalarType::Int => (Constants::Int(kept.map(i64::from).collect()), ScalarValue::Int(0)),
                    _ => {
                        let floats = kept.map(|kept| if kept { 0.5 } else { -0.5 }).collect();
                        (Constants::Float(floats), ScalarValue::Float(0.0))
                    }
                };
                maker.values[number.0 as usize] = Some(Slot::Column(column(&numbers)));
                let operands = vec![number.into(), Operand::Constant(zero)];
                let flags = maker.add(Op::Map(op), operands, RegisterType::Column(ScalarType::Bool));
                for ty in ScalarType::ALL {
                    let operands = vec![maker.element(ty, 0).unwrap().into(), flags.into()];
                    maker.add(Op::Vector(VectorOp::Pack), operands, RegisterType::Column(ty));
                }
                maker.run(&mut engines[length % 3], &format!("{op}, {name} of {length}"));
            }
        }
    }
}

/// Indices that go up, or down, evenly within segments: those of a column, and some that leave it or only come back to it.
#[test]
fn indices_that_go_evenly_by_segments() {
    const SIZE: i64 = 5000;
    let mut engines = engines();
    let mut random = Random(17);
    for turn in 0..60 {
        let (mut firsts, mut steps, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..random.below(200) {
            let step: i64 = [1, 2, 3, 7, 100, 1000, 0, -1, -5, -700][random.below(10)];
            let first = random.below(SIZE as usize) as i64;
            let most = if step >= 0 { SIZE - 1 - first } else { first } / step.abs().max(1);
            let length = random.below(most.clamp(1, 3000) as usize + 1) as i64;
            firsts.push(first);
            steps.push(if length == 1 { step * (1 << 50) } else { step });
            lengths.push(length);
        }
        // Every third time one of them is wrong at its end, at its beginning, or between.
        if let (2, Some(place)) = (turn % 3, lengths.len().checked_sub(1)) {
            (firsts[place], steps[place], lengths[place]) =
                [(SIZE - 4, 2, 3), (-1, 1, 5), (7, 1 << 62, 5), (SIZE, -1, 2), (3, -2, 3), (7, i64::MIN, 3)]
                    [turn / 3 % 6];
        }
        let length = lengths.iter().sum::<i64>() as usize;
        let mut maker = Maker::new(&mut random, length);
        let [firsts, steps] =
            [firsts, steps].map(|ints| maker.outside(Slot::Column(column(&Constants::Int(ints)))).into());
        let lengths = column(&Constants::Int(lengths));
        let descriptor = Reference::new(None).packed(lengths).expect("there is memory");
        let descriptor: Operand = maker.outside(Slot::Descriptor(descriptor)).into();
        let size = Operand::Constant(ScalarValue::Int(SIZE));
        let data = maker.random_column(ScalarType::Float, SIZE as usize);
        let target = maker.random_column(ScalarType::Bool, SIZE as usize);
        let (ints, floats) = (RegisterType::Column(ScalarType::Int), RegisterType::Column(ScalarType::Float));
        let within = maker.add(Op::Vector(VectorOp::SegIota), vec![descriptor], ints);
        let steps = maker.add(Op::Vector(VectorOp::SegDist), vec![steps, descriptor], ints);
        let firsts = maker.add(Op::Vector(VectorOp::SegDist), vec![firsts, descriptor], ints);
        let further = maker.add(Op::Map(ScalarOp::MultiplyInt), vec![within.into(), steps.into()], ints);
        let index = maker.add(Op::Map(ScalarOp::AddInt), vec![firsts.into(), further.into()], ints);
        let checked = maker.add(Op::Map(ScalarOp::CheckIndex), vec![index.into(), size], ints);
        let flag = Operand::Constant(ScalarValue::Bool(true));
        let flags = maker.add(
            Op::Vector(VectorOp::Dist),
            vec![flag, maker.count.into()],
            RegisterType::Column(ScalarType::Bool),
        );
        let gathered = maker.add(Op::Vector(VectorOp::Gather), vec![data.into(), checked.into()], floats);
        let written = vec![target.into(), checked.into(), flags.into()];
        let written = maker.add(Op::Vector(VectorOp::Scatter), written, RegisterType::Column(ScalarType::Bool));
        // What they are computed from is sometimes seen, too.
        maker.results = match turn % 4 {
            0 => vec![written],
            1 => vec![gathered, checked],
            2 => vec![written, gathered, within],
            _ => vec![index, written],
        };
        maker.run(&mut engines[turn % 3], &format!("turn {turn}, length {length}"));
    }
}

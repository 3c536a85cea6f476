//! Small programs on the reference engine: control, recursion, last uses, errors, steps.

use super::*;
use crate::engine::Columns;
use crate::engine::reference::Reference;
use crate::io::host::System;
use nesl_prim::{Direction, ScalarOp, ScalarType, ScalarValue};
use nesl_span::{FileId, Span};
use nesl_vcode::build::FunctionBuilder;
use nesl_vcode::{Block, Constants, Function, Op, Operand, Output, Program, RegisterType, Shape, VectorOp};

const INT: RegisterType = RegisterType::Scalar(ScalarType::Int);
const INTS: RegisterType = RegisterType::Column(ScalarType::Int);

fn at(place: usize) -> Span {
    Span::new(FileId(0), place, place + 1)
}

fn function(name: &str, parameters: &[RegisterType]) -> (FunctionBuilder, Vec<Operand>) {
    let mut builder = FunctionBuilder::new(name, at(0));
    let parameters = parameters.iter().map(|&ty| builder.parameter(ty).into()).collect();
    (builder, parameters)
}

fn constant(value: i64) -> Operand {
    Operand::Constant(ScalarValue::Int(value))
}

fn load(functions: Vec<Function>) -> Loaded {
    let mut program = Program { functions, ..Program::default() };
    nesl_vcode::passes::last_use::run(&mut program);
    nesl_vcode::verify(&program).unwrap();
    Loaded::new(Arc::new(program))
}

fn machine() -> Machine<Reference> {
    Machine::new(Reference::new(None), Limits::default(), Box::new(System::default()))
}

fn scalars(slots: Vec<SlotOf<Reference>>) -> Vec<ScalarValue> {
    let scalar = |slot| match slot {
        Slot::Scalar(value) => value,
        other => panic!("expected a scalar, found {other:?}"),
    };
    slots.into_iter().map(scalar).collect()
}

fn run_ints(machine: &mut Machine<Reference>, program: &Loaded, inputs: &[i64]) -> Result<Vec<i64>, RuntimeError> {
    let inputs = inputs.iter().map(|&input| Slot::Scalar(ScalarValue::Int(input))).collect();
    let results = machine.run(program, FunctionId(0), inputs)?;
    Ok(scalars(results).into_iter().map(i64::from_value).collect())
}

/// A function with a column that nothing reads, so that the machine runs it line by line.
fn line_by_line(mut function: Function) -> Function {
    function.registers.push(INTS);
    function
}

/// sum(n) = if n == 0 then 0 else n + sum(n - 1)
fn recursive_sum() -> Function {
    let (mut f, p) = function("sum", &[INT]);
    let zero = f.scalar(ScalarOp::EqualInt, &[p[0], constant(0)]);
    f.begin_block();
    let then_block = f.end_block(vec![constant(0)]);
    f.begin_block();
    let less = f.scalar(ScalarOp::SubtractInt, &[p[0], constant(1)]);
    f.set_span(at(7));
    let rest = f.call(FunctionId(0), &[less], &[INT]);
    let sum = f.scalar(ScalarOp::AddInt, &[p[0], rest[0]]);
    let else_block = f.end_block(vec![sum]);
    let results = f.if_(zero, then_block, else_block, &[INT]);
    line_by_line(f.finish(results))
}

#[test]
fn recursion_a_million_deep() {
    let mut machine = machine();
    let program = load(vec![recursive_sum()]);
    assert_eq!(run_ints(&mut machine, &program, &[1_000_000]), Ok(vec![500_000_500_000]));
    assert_eq!(machine.counters()[0].instructions, 5 * 1_000_000 + 2);
}

#[test]
fn recursion_ends_at_the_limits() {
    let program = load(vec![recursive_sum()]);
    let limits = Limits { depth: 5000, ..Limits::default() };
    let mut machine = Machine::new(Reference::new(None), limits, Box::new(System::default()));
    assert_eq!(run_ints(&mut machine, &program, &[4999]), Ok(vec![4999 * 2500]));
    let error = run_ints(&mut machine, &program, &[5000]).unwrap_err();
    assert_eq!((&error.failure, error.span), (&Failure::RecursionTooDeep { depth: 5000 }, at(7)));
    assert_eq!(error.calls, vec![at(7); 2000]);
    // The machine is as good as new.
    assert_eq!(run_ints(&mut machine, &program, &[3]), Ok(vec![6]));
    let limits = Limits { frame_bytes: 100_000, ..Limits::default() };
    let mut machine = Machine::new(Reference::new(None), limits, Box::new(System::default()));
    let error = run_ints(&mut machine, &program, &[1_000_000]).unwrap_err();
    assert!(matches!(error.failure, Failure::RecursionTooDeep { depth: 500..5000 }), "{error:?}");
}

#[test]
fn errors_carry_their_span_their_calls_and_their_element() {
    // main(v) = divide(v); divide(v) = {10 / x : x in v}
    let (mut main, p) = function("main", &[INTS]);
    main.set_span(at(1));
    let results = main.call(FunctionId(1), &[p[0]], &[INTS]);
    let (mut middle, q) = function("middle", &[INTS]);
    middle.set_span(at(2));
    let middle_results = middle.call(FunctionId(2), &[q[0]], &[INTS]);
    let (mut divide, r) = function("divide", &[INTS]);
    divide.set_span(at(3));
    let quotients = divide.map(ScalarOp::DivideInt, &[constant(10), r[0]]);
    let program = load(vec![main.finish(results), middle.finish(middle_results), divide.finish(vec![quotients])]);
    let mut machine = machine();
    let column = machine.engine.constants(&Constants::Int(vec![1, 2, 0, 0])).unwrap();
    let error = machine.run(&program, FunctionId(0), vec![Slot::Column(column)]).err().unwrap();
    let expected = RuntimeError {
        failure: Failure::DivideByZero { dividend: 10 },
        span: at(3),
        calls: vec![at(2), at(1)],
        element: Some(2),
        conditionals: 0,
        instances: Vec::new(),
    };
    assert_eq!(error, expected);
}

#[test]
fn errors_of_scalars_have_no_element() {
    let (mut f, p) = function("f", &[INT]);
    f.set_span(at(4));
    let quotient = f.scalar(ScalarOp::DivideInt, &[constant(1), p[0]]);
    let program = load(vec![f.finish(vec![quotient])]);
    let error = run_ints(&mut machine(), &program, &[0]).unwrap_err();
    assert_eq!((error.span, error.calls, error.element), (at(4), vec![], None));
}

#[test]
fn the_interrupt_flag_stops_a_run() {
    let program = load(vec![recursive_sum()]);
    let mut machine = machine();
    let flag = Arc::new(AtomicBool::new(false));
    machine.set_interrupt(Arc::clone(&flag));
    assert_eq!(run_ints(&mut machine, &program, &[2]), Ok(vec![3]));
    flag.store(true, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(run_ints(&mut machine, &program, &[2]).unwrap_err().failure, Failure::Interrupted);
}

#[test]
fn the_last_use_of_a_column_may_overwrite_it() {
    // f(n) = 100 writes into iota(n), through a call and a branch; then one into a copy.
    let n = 100_000;
    let (mut f, p) = function("f", &[INT]);
    let base = f.vector(VectorOp::Iota, &[p[0]]);
    let (place, value) = (f.vector(VectorOp::Build, &[constant(3)]), f.vector(VectorOp::Build, &[constant(-1)]));
    let mut column = base;
    for _ in 0..100 {
        column = f.vector(VectorOp::Scatter, &[column, place, value]);
    }
    let positive = f.scalar(ScalarOp::GreaterInt, &[p[0], constant(0)]);
    f.begin_block();
    let written = f.call(FunctionId(1), &[column, place, value], &[INTS]);
    let then_block = f.end_block(written);
    f.begin_block();
    let else_block = f.end_block(vec![column]);
    let column = f.if_(positive, then_block, else_block, &[INTS])[0];
    let third = f.vector(VectorOp::Extract, &[column, constant(3)]);
    let program = load(vec![f.finish(vec![third]), writer()]);
    let mut machine = machine();
    assert_eq!(run_ints(&mut machine, &program, &[n]), Ok(vec![-1]));
    let counters = machine.counters()[0];
    assert_eq!((counters.elements, counters.bytes), (n as u64 + 2, 8 * (n as u64 + 2)));

    // A column that is read again is copied.
    let (mut f, p) = function("f", &[INT]);
    let base = f.vector(VectorOp::Iota, &[p[0]]);
    let (place, value) = (f.vector(VectorOp::Build, &[constant(3)]), f.vector(VectorOp::Build, &[constant(-1)]));
    let written = f.call(FunctionId(1), &[base, place, value], &[INTS]);
    let third = f.vector(VectorOp::Extract, &[written[0], constant(3)]);
    let before = f.vector(VectorOp::Extract, &[base, constant(3)]);
    let program = load(vec![f.finish(vec![third, before]), writer()]);
    let mut machine = Machine::new(Reference::new(None), Limits::default(), Box::new(System::default()));
    assert_eq!(run_ints(&mut machine, &program, &[n]), Ok(vec![-1, 3]));
    assert_eq!(machine.counters()[0].elements, 2 * n as u64 + 2);
}

/// write(c, i, v) = c with v written at i
fn writer() -> Function {
    let (mut f, p) = function("write", &[INTS, INTS, INTS]);
    let written = f.vector(VectorOp::Scatter, &p);
    f.finish(vec![written])
}

#[test]
fn steps_take_seed_globals_and_arguments() {
    let (mut f, p) = function("f", &[INT, INT, INTS]);
    let (a, b) = (f.scalar(ScalarOp::AddInt, &[p[0], p[1]]), f.vector(VectorOp::Length, &[p[2]]));
    let program = load(vec![f.finish(vec![a, b, p[2]])]);
    let int = Shape::Scalar(ScalarType::Int);
    let ints = Shape::Sequence(Box::new(int.clone()));
    let mut machine = machine();
    let literal = crate::io::import::Literal::Constants(Constants::Int(vec![5, 6]));
    let argument = crate::io::import::from_literal(&mut machine.engine, &ints, &literal).unwrap();
    let step = Step {
        function: FunctionId(0),
        inputs: vec![Input::Seed, Input::Argument(0)],
        outputs: vec![Output::Show(int), Output::Keep(GlobalId(4), ints.clone())],
    };
    let shown = machine.run_step(&program, &step, 40, std::slice::from_ref(&argument)).unwrap();
    assert_eq!(scalars(shown[0].slots.clone()), [ScalarValue::Int(42)]);
    let global = machine.global(GlobalId(4)).unwrap();
    assert_eq!((global.slots.len(), &global.shape), (2, &ints));
    // Later steps read the global.
    let step = Step { inputs: vec![Input::Seed, Input::Global(GlobalId(4))], ..step };
    let shown = machine.run_step(&program, &step, 0, &[]).unwrap();
    assert_eq!(scalars(shown[0].slots.clone()), [ScalarValue::Int(2)]);
    machine.forget(GlobalId(4));
    assert!(machine.global(GlobalId(4)).is_none());
}

#[test]
fn every_vector_instruction_reaches_the_engine_with_its_operands_in_order() {
    let mut f = FunctionBuilder::new("f", at(0));
    let ints = |elements: &[i64]| Constants::Int(elements.to_vec());
    let (a, i) = (f.constants(ints(&[10, 20, 30])), f.constants(ints(&[2, 0, 1])));
    let (b, flags) = (f.constants(ints(&[7, 8])), f.constants(Constants::Bool(vec![true, false, true])));
    let (two, one) = (f.vector(VectorOp::Build, &[constant(2), constant(1)]), f.constants(ints(&[1])));
    let packed = f.vector(VectorOp::Packed, &[two]);
    let view = f.vector(VectorOp::View, &[b, b]);
    let swapped = f.constants(ints(&[1, 0]));
    let singles = f.constants(ints(&[1, 1]));
    let back = f.vector(VectorOp::View, &[swapped, singles]);
    let add = ScalarOp::AddInt;
    let columns = [
        (f.vector(VectorOp::Iota, &[constant(2)]), vec![0, 1]),
        (f.vector(VectorOp::Dist, &[constant(5), constant(2)]), vec![5, 5]),
        (f.vector(VectorOp::Slice, &[a, constant(1), constant(2)]), vec![20, 30]),
        (f.vector(VectorOp::Gather, &[a, i]), vec![30, 10, 20]),
        (f.vector(VectorOp::Scatter, &[a, swapped, b]), vec![8, 7, 30]),
        (f.vector(VectorOp::Permute, &[a, i]), vec![20, 30, 10]),
        (f.vector(VectorOp::Pack, &[a, flags]), vec![10, 30]),
        (f.vector(VectorOp::Merge, &[flags, b, one]), vec![7, 1, 8]),
        (f.vector(VectorOp::Concat, &[b, one, a]), vec![7, 8, 1, 10, 20, 30]),
        (f.vector(VectorOp::Interleave, &[b, two]), vec![7, 2, 8, 1]),
        (f.vector(VectorOp::Append, &[packed, a, back, b]), vec![10, 20, 8, 30, 7]),
        (f.vector(VectorOp::Scan(add), &[a]), vec![0, 10, 30]),
        (f.vector(VectorOp::SegReduce(add), &[a, packed]), vec![30, 30]),
        (f.vector(VectorOp::SegScan(add), &[a, packed]), vec![0, 10, 0]),
        (f.vector(VectorOp::Sort(Direction::Down), &[a]), vec![30, 20, 10]),
        (f.vector(VectorOp::SegSort(Direction::Up), &[i, packed]), vec![0, 2, 1]),
        (f.vector(VectorOp::Rank(Direction::Down), &[a]), vec![2, 1, 0]),
        (f.vector(VectorOp::SegRank(Direction::Up), &[i, packed]), vec![1, 0, 0]),
        (f.vector(VectorOp::TextLengths, &[i]), vec![1, 1, 1]),
        (f.vector(VectorOp::SegIota, &[packed]), vec![0, 1, 0]),
        (f.vector(VectorOp::SegDist, &[b, packed]), vec![7, 7, 8]),
        (f.vector(VectorOp::Compact, &[a, back]), vec![20, 10]),
        (f.vector(VectorOp::Starts, &[packed]), vec![0, 2]),
        (f.vector(VectorOp::Lengths, &[packed]), vec![2, 1]),
        (f.map(ScalarOp::SubtractInt, &[constant(1), b]), vec![-6, -7]),
    ];
    let digits = f.constants(Constants::Char(b"305".to_vec()));
    let read = f.vector(VectorOp::ParseFloat, &[digits, packed]);
    let columns: Vec<_> = columns.into_iter().chain([(f.map(ScalarOp::Truncate, &[read]), vec![30, 5])]).collect();
    let sizes = [
        (f.vector(VectorOp::Length, &[a]), 3),
        (f.vector(VectorOp::Extract, &[a, constant(2)]), 30),
        (f.vector(VectorOp::Reduce(add), &[a]), 60),
        (f.vector(VectorOp::Segments, &[view]), 2),
        (f.vector(VectorOp::Total, &[view]), 15),
    ];
    let results = columns.iter().map(|(column, _)| *column).chain(sizes.iter().map(|(size, _)| *size)).collect();
    let program = load(vec![f.finish(results)]);
    let found = machine().run(&program, FunctionId(0), Vec::new()).unwrap();
    for (slot, (operand, expected)) in found.iter().zip(&columns) {
        let Slot::Column(column) = slot else { panic!("{slot:?}") };
        assert_eq!(column.elements::<i64>(), expected, "{operand:?}");
    }
    let expected: Vec<_> = sizes.iter().map(|&(_, size)| ScalarValue::Int(size)).collect();
    assert_eq!(scalars(found.into_iter().skip(columns.len()).collect()), expected);
}

/// A source of arbitrary numbers.
struct Arbitrary(u64);

impl Arbitrary {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % bound
    }

    /// Instructions that read the known ints and define more of them, with nested branches.
    fn block(&mut self, f: &mut FunctionBuilder, known: &mut Vec<Operand>, depth: usize) {
        for _ in 0..self.below(6) {
            let (a, b) = (known[self.below(known.len())], known[self.below(known.len())]);
            if depth == 0 || self.below(3) > 0 {
                known.push(f.scalar([ScalarOp::SubtractInt, ScalarOp::MultiplyInt][self.below(2)], &[a, b]));
                continue;
            }
            let condition = f.scalar(ScalarOp::LessInt, &[a, b]);
            let count = self.below(4);
            let [then_block, else_block] = [(); 2].map(|()| {
                f.begin_block();
                let mut inner = known.clone();
                self.block(f, &mut inner, depth - 1);
                let results = (0..count).map(|_| inner[self.below(inner.len())]).collect();
                f.end_block(results)
            });
            known.extend(f.if_(condition, then_block, else_block, &vec![INT; count]));
        }
    }
}

/// The meaning of structured code, without slots: every register keeps its value.
fn interpret(block: &Block, registers: &mut HashMap<u32, ScalarValue>) -> Vec<ScalarValue> {
    let value = |operand: &Operand, registers: &HashMap<u32, ScalarValue>| match operand {
        Operand::Constant(value) => *value,
        Operand::Register(register) => registers[&register.0],
    };
    for instruction in &block.instructions {
        let operands: Vec<_> = instruction.operands.iter().map(|operand| value(operand, registers)).collect();
        let results = match &instruction.op {
            Op::Scalar(op) => vec![nesl_prim::eval(*op, &operands).unwrap()],
            Op::If(then_block, _) if operands[0] == ScalarValue::Bool(true) => interpret(then_block, registers),
            Op::If(_, else_block) => interpret(else_block, registers),
            other => panic!("no {other:?} is generated"),
        };
        registers.extend(instruction.results.iter().map(|register| register.0).zip(results));
    }
    block.results.iter().map(|operand| value(operand, registers)).collect()
}

#[test]
fn slots_never_mix_up_registers() {
    let mut arbitrary = Arbitrary(0x9e37_79b9_7f4a_7c15);
    for _ in 0..3000 {
        let (mut f, parameters) = function("f", &[INT; 3]);
        let mut known = [parameters.clone(), vec![constant(2)]].concat();
        arbitrary.block(&mut f, &mut known, 3);
        let results = (0..3).map(|_| known[arbitrary.below(known.len())]).collect();
        let function = f.finish(results);
        let inputs = [3, -2, arbitrary.below(9) as i64];
        let mut registers = (0..3).zip(inputs.map(ScalarValue::Int)).collect();
        let expected = interpret(&function.body, &mut registers);
        for function in [line_by_line(function.clone()), function] {
            let program = load(vec![function]);
            let slots = inputs.map(|input| Slot::Scalar(ScalarValue::Int(input))).to_vec();
            let found = machine().run(&program, FunctionId(0), slots).unwrap();
            assert_eq!(scalars(found), expected, "{:?}", program.program().functions[0]);
        }
    }
}

//! What the evaluator gives is what the machine gives line by line, and what the table says of each operation.

use super::*;
use crate::data::slot::Slot;
use crate::engine::native::Native;
use crate::engine::reference::Reference;
use crate::io::host::System;
use crate::machine::Machine;
use nesl_prim::{Element, ScalarOp, ScalarType, ScalarValue};
use nesl_span::{FileId, Span};
use nesl_vcode::build::FunctionBuilder;
use nesl_vcode::{Block, Op, Operand, Program, RegisterType};
use std::sync::Arc;
use std::time::Duration;

fn at(place: usize) -> Span {
    Span::new(FileId(0), place, place + 1)
}

/// Gives every instruction a place of its own, counted from 1 in the order of the text.
fn number(block: &mut Block, last: &mut usize) {
    for instruction in &mut block.instructions {
        *last += 1;
        instruction.place = at(*last).into();
        if let Op::If(then_block, else_block) = &mut instruction.op {
            number(then_block, last);
            number(else_block, last);
        }
    }
}

fn program(text: &str) -> Program {
    let mut program = nesl_vcode::parse(text).unwrap_or_else(|error| panic!("{error}"));
    nesl_vcode::verify(&program).unwrap();
    // Frames are as small as marks of last uses let them be.
    nesl_vcode::passes::last_use::run(&mut program);
    let mut last = 0;
    program.functions.iter_mut().for_each(|function| number(&mut function.body, &mut last));
    program
}

/// The same program, of which all functions but some have a register that the evaluator has no word for.
fn on_the_machine(program: &Program, but: &[usize]) -> Program {
    let mut program = program.clone();
    for (index, function) in program.functions.iter_mut().enumerate() {
        if !but.contains(&index) {
            function.registers.push(RegisterType::Column(ScalarType::Int));
        }
    }
    program
}

type Outcome = (Result<Vec<ScalarValue>, RuntimeError>, u64);

/// What the first function gives, and in how many instructions.
fn run(program: &Program, limits: Limits, inputs: &[i64]) -> Outcome {
    let loaded = Loaded::new(Arc::new(program.clone()));
    let mut machine = Machine::new(Reference::new(None), limits, Box::new(System::default()));
    machine.set_native(Native::Off);
    let inputs = inputs.iter().map(|input| Slot::Scalar(input.to_value())).collect();
    let results = machine.run(&loaded, FunctionId(0), inputs).map(|slots| {
        let scalar = |slot| match slot {
            Slot::Scalar(value) => value,
            other => panic!("{other:?} is no scalar"),
        };
        slots.into_iter().map(scalar).collect()
    });
    (results, machine.counters()[0].instructions)
}

/// The same from the evaluator, from the machine, and where the machine calls the evaluator from its first function.
fn both(text: &str, limits: Limits, inputs: &[i64]) -> Outcome {
    let program = program(text);
    let found = run(&program, limits, inputs);
    let others: Vec<usize> = (1..program.functions.len()).collect();
    for machines in [on_the_machine(&program, &[]), on_the_machine(&program, &others)] {
        assert_eq!(run(&machines, limits, inputs), found);
    }
    found
}

const FIBONACCI: &str = "
function top(%0: int) -> int {
  %1 = call fib %0
  return %1
}
function fib(%0: int) -> int {
  %1 = less.int %0 2
  %7 = if %1 { yield %0 } else {
    %2 = subtract.int %0 1
    %3 = call fib %2
    %4 = subtract.int %0 2
    %5 = call fib %4
    %6 = add.int %3 %5
    yield %6
  }
  return %7
}";

#[test]
fn recursion_gives_and_counts_what_the_machine_does() {
    let (results, instructions) = both(FIBONACCI, Limits::default(), &[20]);
    assert_eq!(results, Ok(vec![ScalarValue::Int(6765)]));
    // A call of fib is two instructions and its call one; one that calls others has three more. There are 2 · fib(21) -
    // 1 calls.
    let calls = 2 * 10_946 - 1;
    assert_eq!(instructions, 3 * calls + 3 * (calls / 2));
}

/// Whether a number is even, by calls of one another, and how many calls that took.
const PARITY: &str = "
function even(%0: int, %1: int) -> bool, int {
  %2 = zero.int %0
  %7, %8 = if %2 { yield t %1 } else {
    %3 = subtract.int %0 1
    %4 = add.int %1 1
    %5, %6 = call odd %3 %4
    yield %5 %6
  }
  return %7 %8
}
function odd(%0: int, %1: int) -> bool, int {
  %2 = zero.int %0
  %7, %8 = if %2 { yield f %1 } else {
    %3 = subtract.int %0 1
    %4 = add.int %1 1
    %5, %6 = call even %3 %4
    yield %5 %6
  }
  return %7 %8
}";

/// The same by calls that go on after those of one another.
fn deep_parity() -> String {
    PARITY.replace("yield %5 %6", "%9 = not.bool %5\n yield %9 %6")
}

#[test]
fn calls_of_one_another_that_end_functions_take_no_depth() {
    let limits = Limits { depth: 3, frame_bytes: 1000 };
    let (results, instructions) = both(PARITY, limits, &[1_000_001, 0]);
    assert_eq!(results, Ok(vec![ScalarValue::Bool(false), ScalarValue::Int(1_000_001)]));
    assert_eq!(instructions, 5 * 1_000_001 + 2);
}

#[test]
fn calls_of_one_another_may_be_a_million_deep() {
    let (results, _) = both(&deep_parity(), Limits::default(), &[1_000_000, 0]);
    assert_eq!(results, Ok(vec![ScalarValue::Bool(true), ScalarValue::Int(1_000_000)]));
}

#[test]
fn blocks_without_operations_and_values_that_nobody_reads() {
    let text = "
function top(%0: int, %1: int, %2: int) -> int, int {
  %3 = if t { yield %0 } else {
    %4 = divide.int 1 0
    yield %4
  }
  %5 = less.int %0 %2
  %8 = if %5 {
    %6 = less.int 3 %2
    %7 = if %6 { yield 1 } else { yield %2 }
    yield %7
  } else { yield -1 }
  %9, %10 = call swap %3 %8
  %11 = negate.int %9
  return %9 7
}
function swap(%0: int, %1: int) -> int, int {
  %2 = if f { yield 1 } else { yield 2 }
  return %1 %0
}";
    for (inputs, expected, instructions) in [([0, 9, 5], 1, 8), ([0, 9, 2], 2, 8), ([6, 9, 2], -1, 6)] {
        let found = both(text, Limits::default(), &inputs);
        assert_eq!(found, (Ok(vec![ScalarValue::Int(expected), ScalarValue::Int(7)]), instructions));
    }
}

/// Divides by what is left after so many calls.
const FAILING: &str = "
function top(%0: int) -> int {
  %1 = call middle %0
  return %1
}
function middle(%0: int) -> int {
  %1 = add.int %0 0
  %2 = call down %1
  %3 = add.int %2 1
  return %3
}
function down(%0: int) -> int {
  %1 = subtract.int %0 1
  %2 = divide.int 100 %0
  %3 = add.int %1 %2
  %4 = call down %1
  %5 = add.int %3 %4
  return %5
}";

#[test]
fn failures_are_where_the_machine_has_them() {
    let (error, instructions) = both(FAILING, Limits::default(), &[2]);
    let expected = RuntimeError {
        failure: Failure::DivideByZero { dividend: 100 },
        span: at(6),
        calls: vec![at(8), at(8), at(3), at(1)],
        element: None,
        conditionals: 0,
        instances: Vec::new(),
    };
    assert_eq!((error, instructions), (Err(expected), 3 + 4 + 4 + 2));
    let (error, _) = both(FAILING, Limits::default(), &[5000]);
    let calls = error.unwrap_err().calls;
    assert_eq!((calls.len(), &calls[1997..]), (2000, &[at(8), at(3), at(1)][..]));
}

#[test]
fn recursion_ends_at_the_same_depth() {
    for (depth, enough) in [(3, 0), (50, 47), (5000, 4997)] {
        let limits = Limits { depth, ..Limits::default() };
        let (found, _) = both(&deep_parity(), limits, &[enough, 0]);
        assert!(found.is_ok(), "{found:?}");
        let (error, _) = both(&deep_parity(), limits, &[enough + 3, 0]);
        assert_eq!(error.unwrap_err().failure, Failure::RecursionTooDeep { depth: depth as u64 });
    }
    let (error, _) = both(FIBONACCI, Limits { depth: 1, ..Limits::default() }, &[1]);
    let error = error.unwrap_err();
    assert_eq!((error.failure, error.span), (Failure::RecursionTooDeep { depth: 1 }, at(1)));
}

#[test]
fn recursion_ends_where_frames_take_too_much() {
    let program = Loaded::new(Arc::new(program(&deep_parity())));
    let limits = Limits { frame_bytes: 100_000, ..Limits::default() };
    let mut evaluator = Evaluator::new(&program, limits, Native::Off, None);
    let words = |n: u64| [n, 0].into_iter();
    let error = evaluator.call(FunctionId(0), words(1_000_000), Active::default()).unwrap_err();
    let Failure::RecursionTooDeep { depth } = error.failure else { panic!("{error:?}") };
    // A frame has two to six words and a caller of three.
    assert!((100_000 / (9 * 8)..100_000 / (5 * 8)).contains(&depth), "{depth}");
    assert!(evaluator.words.len() * 8 <= 200_000);
    // What is active outside counts, and the evaluator is as good as new.
    let outside = Active { calls: 7, bytes: 99_000 };
    let error = evaluator.call(FunctionId(0), words(1_000_000), outside).unwrap_err();
    assert!(matches!(error.failure, Failure::RecursionTooDeep { depth: 17..35 }), "{error:?}");
    assert_eq!(evaluator.call(FunctionId(0), words(4), Active::default()).unwrap(), [1, 4]);
}

#[test]
fn the_interrupt_flag_stops_long_recursion() {
    let program = Loaded::new(Arc::new(program(FIBONACCI)));
    let flag = AtomicBool::new(false);
    let mut evaluator = Evaluator::new(&program, Limits::default(), Native::Off, Some(&flag));
    assert_eq!(evaluator.call(FunctionId(0), [10].into_iter(), Active::default()).unwrap(), [55]);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(20));
            flag.store(true, Relaxed);
        });
        // Left alone it would take days.
        let error = evaluator.call(FunctionId(0), [70].into_iter(), Active::default()).unwrap_err();
        assert_eq!(error.failure, Failure::Interrupted);
    });
}

fn samples(scalar_type: ScalarType) -> Vec<ScalarValue> {
    match scalar_type {
        ScalarType::Int => [0, 1, -1, 7, 63, i64::MAX, i64::MIN].map(ScalarValue::Int).to_vec(),
        ScalarType::Float => {
            [0.0, -0.0, 1.5, -2.5, 1e300, f64::NEG_INFINITY, f64::NAN].map(ScalarValue::Float).to_vec()
        }
        ScalarType::Bool => [false, true].map(ScalarValue::Bool).to_vec(),
        ScalarType::Char => [0, b'a', 255].map(ScalarValue::Char).to_vec(),
    }
}

/// Every combination of samples.
fn combinations(types: &[ScalarType]) -> Vec<Vec<ScalarValue>> {
    types.iter().fold(vec![Vec::new()], |tuples, &ty| {
        let with = |tuple: &Vec<ScalarValue>, value| [tuple.as_slice(), &[value]].concat();
        tuples.iter().flat_map(|tuple| samples(ty).into_iter().map(move |value| with(tuple, value))).collect()
    })
}

#[test]
fn every_operation_of_the_table_is_what_the_table_says() {
    for &op in ScalarOp::ALL {
        let types = op.row().operands;
        for operands in combinations(types) {
            let expected = nesl_prim::eval(op, &operands);
            // Each operand in a register or in the instruction, in all ways.
            for constants in 0..1 << types.len() {
                let mut f = FunctionBuilder::new("f", at(0));
                let parameters: Vec<Operand> =
                    types.iter().map(|&ty| f.parameter(RegisterType::Scalar(ty)).into()).collect();
                let is_constant = |index: usize| constants >> index & 1 == 1;
                let given = (0..types.len()).map(|index| match is_constant(index) {
                    true => Operand::Constant(operands[index]),
                    false => parameters[index],
                });
                let given: Vec<Operand> = given.collect();
                let result = f.scalar(op, &given);
                let program = Program { functions: vec![f.finish(vec![result])], ..Program::default() };
                let loaded = Loaded::new(Arc::new(program));
                let mut evaluator = Evaluator::new(&loaded, Limits::default(), Native::Off, None);
                let words = operands.iter().map(|operand| operand.to_word());
                let found = evaluator.call(FunctionId(0), words, Active::default());
                let found = found.map(|words| ScalarValue::from_word(op.row().result, words[0]));
                // Failures that show a NaN are not equal, but look the same.
                let (found, expected) = (found.map_err(|error| error.failure.to_string()), expected.clone());
                assert_eq!(found, expected.map_err(|failure| failure.to_string()), "{op} {operands:?} {given:?}");
            }
        }
    }
}

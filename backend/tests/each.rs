//! `each` with both strategies: the same results, whatever lies in arguments and results; the same errors.

#![allow(clippy::unwrap_used, reason = "a panic in a helper is a failed test")]

use nesl_backend::Literal;
use nesl_backend::io::host::System;
use nesl_backend::io::import::from_literal;
use nesl_backend::{Engine, Limits, Loaded, Machine, Reference, RuntimeError, Strategy, Threads, Value};
use nesl_prim::{Failure, ScalarValue};
use nesl_vcode::{Constants, FunctionId, Input, Output, Shape, Step, parse, pipeline};
use std::sync::Arc;
use std::time::Instant;

/// A function and its lifted version, which gives for each instance its reversed sequence of sequences, how many they
/// are, and their first elements plus a number that all share.
const TURN: &str = "
function turn(%0: int, %1: descriptor, %2: column int, %3: int) -> int, descriptor, column int, int, int, column int {
  %4 = iota %0
  %5 = subtract.int %0 1
  %6 = map subtract.int %5 %4
  %7 = starts %1
  %8 = lengths %1
  %9 = gather %7 %6
  %10 = gather %8 %6
  %11 = view %9 %10
  %12 = gather %2 %7
  %13 = map add.int %12 %3
  return %0 %11 %2 %0 %0 %13
}
function turn/LI(%0: int, %1: descriptor, %2: descriptor, %3: column int, %4: int) -> descriptor, descriptor, column int, column int, descriptor, column int {
  %5 = starts %2
  %6 = lengths %2
  %7 = lengths %1
  %8 = packed %7
  %9 = compact %5 %1
  %10 = compact %6 %1
  %11 = seg_iota %8
  %12 = starts %8
  %13 = map add.int %12 %7
  %14 = map subtract.int %13 1
  %15 = seg_dist %14 %8
  %16 = map subtract.int %15 %11
  %17 = gather %9 %16
  %18 = gather %10 %16
  %19 = view %17 %18
  %20 = gather %3 %9
  %21 = map add.int %20 %4
  return %8 %19 %3 %7 %8 %21
}
function top(%0: int, %1: descriptor, %2: descriptor, %3: column int) -> int, descriptor, descriptor, column int, column int, descriptor, column int {
  %4, %5, %6, %7, %8, %9 = each turn turn/LI(of [[int]], int) -> [[int]], int, [int] %0 %1 %2 %3 100
  return %0 %4 %5 %6 %7 %8 %9
}";

/// Shows a value of such a shape as NESL does.
fn text<E: Engine>(machine: &mut Machine<E>, value: &Value<E>) -> String {
    let mut out = Vec::new();
    nesl_backend::print(&mut machine.engine, value, None, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn sequence(element: Shape) -> Shape {
    Shape::Sequence(Box::new(element))
}

/// What the last function of a program gives for an argument, as text.
fn run<E: Engine>(
    engine: E,
    strategy: Strategy,
    program: &str,
    (shape, argument): (&Shape, &Literal),
    result: &Shape,
) -> Result<String, RuntimeError> {
    let mut program = parse(program).unwrap_or_else(|error| panic!("{error}"));
    pipeline::optimise(&mut program, &pipeline::Options::default()).unwrap();
    let top = FunctionId(program.functions.len() as u32 - 1);
    let loaded = Loaded::new(Arc::new(program));
    let mut machine = Machine::new(engine, Limits::default(), Box::new(System::default()));
    machine.set_strategy(strategy);
    let argument = from_literal(&mut machine.engine, shape, argument).unwrap();
    let output = Output::Show(result.clone());
    let step = Step { function: top, inputs: vec![Input::Argument(0)], outputs: vec![output] };
    let shown = machine.run_step(&loaded, &step, 0, &[argument])?;
    Ok(text(&mut machine, &shown[0]))
}

/// The same on both engines with every strategy.
fn all(program: &str, argument: (&Shape, &Literal), result: &Shape) -> Vec<Result<String, RuntimeError>> {
    let strategies = [Strategy::Lift, Strategy::Leaf, Strategy::Mixed, Strategy::Auto];
    let on = |strategy| {
        let threads = || Threads::new(2, None).unwrap();
        [
            run(Reference::new(None), strategy, program, argument, result),
            run(threads(), strategy, program, argument, result),
        ]
    };
    strategies.into_iter().flat_map(on).collect()
}

fn ints(values: &[i64]) -> Literal {
    Literal::Constants(Constants::Int(values.to_vec()))
}

fn int() -> Shape {
    Shape::Scalar(nesl_prim::ScalarType::Int)
}

#[test]
fn nested_sequences_go_in_and_come_out() {
    let shape = sequence(sequence(sequence(int())));
    let pair = |a, b| Shape::Pair(Box::new(a), Box::new(b));
    // The registers of a sequence of triples.
    let result = sequence(pair(sequence(sequence(int())), pair(int(), sequence(int()))));
    let argument = Literal::Sequence(vec![
        Literal::Sequence(vec![ints(&[1, 2]), ints(&[3])]),
        Literal::Sequence(vec![]),
        Literal::Sequence(vec![ints(&[4])]),
        Literal::Sequence(vec![ints(&[5, 6]), ints(&[7, 8, 9]), ints(&[10])]),
    ]);
    let expected = "[([[3], [1, 2]], 2, [101, 103]), ([], 0, []), ([[4]], 1, [104]), \
                    ([[10], [7, 8, 9], [5, 6]], 3, [105, 107, 110])]";
    for found in all(TURN, (&shape, &argument), &result) {
        assert_eq!(found.unwrap(), expected);
    }
    for found in all(TURN, (&shape, &Literal::Sequence(vec![])), &result) {
        assert_eq!(found.unwrap(), "[]");
    }
}

/// f(n) = if n < 1 then 0 else 1 + {f(m) : m in [n - 1]}[0], which is an `each` in an `each` n deep.
const DEEP: &str = "
function f(%0: int) -> int {
  %1 = less.int %0 1
  %8 = if %1 { yield 0 } else {
    %2 = subtract.int %0 1
    %3 = build %2
    %4 = each f f/L(of int) -> int 1 %3
    %5 = extract %4 0
    %6 = add.int %5 1
    %7 = divide.int %6 1
    yield %7
  }
  return %8
}
function f/L(%0: int, %1: column int) -> column int {
  %2 = map less.int %1 1
  %3 = reduce.and.bool %2
  %6 = if %3 {
    %4 = map subtract.int %1 %1
    yield %4
  } else {
    %7 = map subtract.int %1 1
    %8 = each f f/L(of int) -> int %0 %7
    %5 = map add.int %8 1
    yield %5
  }
  return %6
}
function top(%0: int) -> int {
  %1 = build %0
  %2 = each f f/L(of int) -> int 1 %1
  %3 = extract %2 0
  return %3
}";

#[test]
fn an_each_in_an_each_may_be_very_deep() {
    let depth = Literal::Scalar(ScalarValue::Int(100_000));
    for found in all(DEEP, (&int(), &depth), &int()) {
        assert_eq!(found.unwrap(), "100000");
    }
}

#[test]
fn one_more_level_takes_no_longer_however_deep_it_is() {
    let time = |depth| {
        let argument = Literal::Scalar(ScalarValue::Int(depth));
        let best = (0..3).map(|_| {
            let begin = Instant::now();
            let found = run(Reference::new(None), Strategy::Lift, DEEP, (&int(), &argument), &int());
            assert_eq!(found.unwrap(), depth.to_string());
            begin.elapsed()
        });
        best.min().unwrap()
    };
    // Sixteen times as deep: it would take some two hundred times as long if a level looked at all calls.
    let (short, long) = (time(20_000), time(320_000));
    assert!(long < short * 64, "{short:?} for 20,000 levels, {long:?} for 320,000");
}

/// Scalars of all types, of each instance and of all of them, in and out of a function of scalars alone.
const SCALARS: &str = "
function f(%0: int, %1: float, %2: bool, %3: char, %4: int, %5: bool) -> int, float, bool, char {
  %6 = call g %0 %4
  %7 = divide.float %1 2.0
  %8 = xor.bool %2 %5
  %9 = maximum.char %3 `b
  return %6 %7 %8 %9
}
function g(%0: int, %1: int) -> int {
  %2 = multiply.int %0 %1
  return %2
}
function f/L(%0: int, %1: column int, %2: column float, %3: column bool, %4: column char, %5: int, %6: bool) -> column int, column float, column bool, column char {
  %7 = map multiply.int %1 %5
  %8 = map divide.float %2 2.0
  %9 = map xor.bool %3 %6
  %10 = map maximum.char %4 `b
  return %7 %8 %9 %10
}
function top(%0: int, %1: column int, %2: column float, %3: column bool, %4: column char) -> int, column int, column float, column bool, column char {
  %5, %6, %7, %8 = each f f/L(of int, of float, of bool, of char, int, bool) -> int, float, bool, char %0 %1 %2 %3 %4 -3 t
  return %0 %5 %6 %7 %8
}";

#[test]
fn many_scalars_of_all_types_go_in_and_come_out() {
    let of = |scalar| Shape::Scalar(scalar);
    let pair = |a, b| Shape::Pair(Box::new(a), Box::new(b));
    let [a, b, c, d] = nesl_prim::ScalarType::ALL.map(of);
    let shape = sequence(pair(a, pair(b, pair(c, d))));
    let tuple = |a, b, c, d| {
        [a, b, c, d]
            .into_iter()
            .map(Literal::Scalar)
            .rev()
            .reduce(|rest, first| Literal::Pair(Box::new(first), Box::new(rest)))
            .unwrap()
    };
    let (mut instances, mut expected) = (Vec::new(), Vec::new());
    // More than are taken at once.
    for index in 0..2500 {
        let (number, letter) = (index as f64, b"abcd"[index % 4]);
        instances.push(tuple(
            ScalarValue::Int(index as i64),
            ScalarValue::Float(number),
            ScalarValue::Bool(index % 3 == 0),
            ScalarValue::Char(letter),
        ));
        let (truth, letter) = (if index % 3 == 0 { "f" } else { "t" }, ['b', 'b', 'c', 'd'][index % 4]);
        expected.push(format!("({}, {:?}, {truth}, `{letter})", -3 * index as i64, number / 2.0));
    }
    let expected = format!("[{}]", expected.join(", "));
    for found in all(SCALARS, (&shape, &Literal::Sequence(instances)), &shape) {
        assert_eq!(found.unwrap(), expected);
    }
}

/// f(x) = 12 / x on each element, through a call.
const FAILING: &str = "
function g(%0: int) -> int {
  %1 = divide.int 12 %0
  return %1
}
function f(%0: int) -> int {
  %1 = call g %0
  return %1
}
function f/L(%0: int, %1: column int) -> column int {
  %2 = each g g/L(of int) -> int %0 %1
  return %2
}
function g/L(%0: int, %1: column int) -> column int {
  %2 = map divide.int 12 %1
  return %2
}
function top(%0: int, %1: column int) -> int, column int {
  %2 = each f f/L(of int) -> int %0 %1
  return %0 %2
}";

#[test]
fn the_first_instance_that_fails_counts() {
    let shape = sequence(int());
    let mut values: Vec<i64> = (1..=1000).collect();
    for found in all(FAILING, (&shape, &ints(&values[..6])), &shape) {
        assert_eq!(found.unwrap(), "[12, 6, 4, 3, 2, 2]");
    }
    (values[417], values[700]) = (0, 0);
    for found in all(FAILING, (&shape, &ints(&values)), &shape) {
        let error = found.unwrap_err();
        assert_eq!(error.failure, Failure::DivideByZero { dividend: 12 });
        // Lifted it is the element of the division, one by one the instance of the outer or of the inner each.
        assert_eq!(error.instances.last().map(|instance| instance.index).or(error.element), Some(417), "{error:?}");
    }
}

/// f(v, k) = {x + 1 : x in v}, without its first k elements.
const SHORTER: &str = "
function f(%0: int, %1: column int, %2: int) -> int, column int {
  %3 = map add.int %1 1
  %4 = subtract.int %0 %2
  %5 = slice %3 %2 %4
  return %4 %5
}
function f/L(%0: int, %1: descriptor, %2: column int, %3: int) -> descriptor, column int {
  %4 = starts %1
  %5 = lengths %1
  %6 = map add.int %4 %3
  %7 = map subtract.int %5 %3
  %8 = view %6 %7
  %9 = map add.int %2 1
  %10 = compact %9 %8
  %11 = packed %7
  return %11 %10
}
function top(%0: int, %1: descriptor, %2: column int) -> int, descriptor, column int {
  %3, %4 = each f f/L(of [int], int) -> [int] %0 %1 %2 DROPPED
  return %0 %3 %4
}";

#[test]
fn results_as_long_as_operands_are_not_put_together_once_more() {
    results_are_written_in_place(|_| LENGTH, &[0, 1, LENGTH / 2, LENGTH]);
}

/// The one with most elements comes last, and is begun first.
#[test]
fn results_are_in_the_order_of_instances_however_much_these_have_to_do() {
    results_are_written_in_place(|instance| if instance + 1 < INSTANCES { LENGTH / 10 } else { 100 * LENGTH }, &[0]);
}

const INSTANCES: i64 = 300;
const LENGTH: i64 = 1000;

/// Runs [`SHORTER`] on instances of these lengths, and counts what it makes.
fn results_are_written_in_place(length: impl Fn(i64) -> i64, drops: &[i64]) {
    let elements = (0..INSTANCES).map(&length).sum::<i64>() as u64;
    let shape = sequence(sequence(int()));
    let values = |instance: i64| -> Vec<i64> { (0..length(instance)).map(|index| instance * LENGTH + index).collect() };
    let argument = Literal::Sequence((0..INSTANCES).map(|instance| ints(&values(instance))).collect());
    for threads in [1, 2, 3] {
        for &dropped in drops {
            let program = SHORTER.replace("DROPPED", &dropped.to_string());
            let loaded = Loaded::new(Arc::new(parse(&program).unwrap_or_else(|error| panic!("{error}"))));
            let engine = Threads::new(threads, None).unwrap();
            let mut machine = Machine::new(engine, Limits::default(), Box::new(System::default()));
            machine.set_strategy(Strategy::Leaf);
            let argument = from_literal(&mut machine.engine, &shape, &argument).unwrap();
            let before = machine.counters()[0].elements;
            let output = Output::Show(shape.clone());
            let step = Step { function: FunctionId(2), inputs: vec![Input::Argument(0)], outputs: vec![output] };
            let shown = machine.run_step(&loaded, &step, 0, &[argument]).unwrap();
            let counted = machine.counters()[0].elements - before;
            let kept = |instance| format!("{:?}", plus_one(&values(instance)[dropped as usize..]));
            let expected: Vec<String> = (0..INSTANCES).map(kept).collect();
            assert_eq!(text(&mut machine, &shown[0]), format!("[{}]", expected.join(", ")), "{dropped}");
            // The lengths of segments are a few more, and so are their starts.
            assert!(dropped > 0 || counted < elements + elements / 50, "{counted} elements for {elements}");
        }
    }
}

fn plus_one(values: &[i64]) -> Vec<i64> {
    values.iter().map(|value| value + 1).collect()
}

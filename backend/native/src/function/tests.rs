//! Operations against the table; calls, results of all types, and what ends a run.

use super::*;
use crate::state::Scratch;
use nesl_prim::{ScalarOp, ScalarValue, eval};
use std::sync::atomic::AtomicBool;

fn samples(ty: ScalarType) -> Vec<ScalarValue> {
    match ty {
        ScalarType::Int => [0, 1, -1, 2, 7, -13, 62, 63, 64, 255, 256, 1 << 40, i64::MAX, i64::MIN, i64::MIN + 1]
            .map(ScalarValue::Int)
            .to_vec(),
        ScalarType::Float => [
            0.0,
            -0.0,
            0.5,
            -0.5,
            1.5,
            -2.5,
            2.5,
            0.5f64.next_down(),
            4_503_599_627_370_497.5,
            1e300,
            5e-324,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            9.223372036854775e18,
            -(2f64.powi(63)),
            2f64.powi(63),
        ]
        .map(ScalarValue::Float)
        .to_vec(),
        ScalarType::Bool => [false, true].map(ScalarValue::Bool).to_vec(),
        ScalarType::Char => [0, b'a', 127, 128, 255].map(ScalarValue::Char).to_vec(),
    }
}

/// Every combination of sample operands.
fn operands(types: &[ScalarType]) -> Vec<Vec<ScalarValue>> {
    types.iter().fold(vec![vec![]], |tuples, &ty| {
        tuples
            .iter()
            .flat_map(|tuple| samples(ty).into_iter().map(|value| [tuple.as_slice(), &[value]].concat()))
            .collect()
    })
}

fn call(function: Compiled, interrupt: Option<&AtomicBool>, arguments: &[u64], results: &mut [u64]) -> Status {
    let mut scratch = Scratch::new(1 << 20).unwrap();
    let mut state = State::new(interrupt, 1 << 19, Some(&mut scratch));
    // SAFETY: the arguments are scalars.
    unsafe { function.call(&mut state, arguments, results) }
}

fn run(text: &str, arguments: &[u64], results: usize) -> (Status, Vec<u64>) {
    let program = nesl_vcode::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let mut compiler = Compiler::new().unwrap();
    let compiled = compiler.function(&program, FunctionId(0)).unwrap();
    let mut words = vec![0; results];
    let status = call(compiled, None, arguments, &mut words);
    (status, words)
}

#[test]
fn every_operation_is_that_of_the_table() {
    let mut compiled = 0;
    for &op in ScalarOp::ALL {
        let row = op.row();
        let names: Vec<String> = (0..row.operands.len()).map(|index| format!("%{index}")).collect();
        let parameters: Vec<String> =
            names.iter().zip(row.operands).map(|(name, ty)| format!("{name}: {ty}")).collect();
        let text = format!(
            "function f({}) -> {} {{\n  %9 = {op} {}\n  return %9\n}}",
            parameters.join(", "),
            row.result,
            names.join(" ")
        );
        let text = text.replace("%9", &format!("%{}", names.len()));
        let program = nesl_vcode::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let mut compiler = Compiler::new().unwrap();
        let function = compiler.function(&program, FunctionId(0)).unwrap();
        for operands in operands(row.operands) {
            let words: Vec<u64> = operands.iter().map(|value| value.to_word()).collect();
            let mut result = [0];
            let status = call(function, None, &words, &mut result);
            match eval(op, &operands) {
                Ok(value) => {
                    assert_eq!(status, Status::Done, "{op} {operands:?}");
                    assert_eq!(ScalarValue::from_word(row.result, result[0]), value, "{op} {operands:?}");
                }
                Err(_) => assert_eq!(status, Status::GaveUp, "{op} {operands:?}"),
            }
        }
        compiled += 1;
    }
    assert_eq!(compiled, ScalarOp::ALL.len());
}

const FIBONACCI: &str = "
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
fn functions_call_themselves() {
    assert_eq!(run(FIBONACCI, &[20], 1), (Status::Done, vec![6765]));
}

#[test]
fn many_results_of_all_types_come_back() {
    let text = "
        function f(%0: int, %1: float, %2: bool, %3: char) -> float, char, int, bool, int, float {
          %4, %5, %6, %7 = call g %0 %1 %2 %3
          %8 = add.int %7 1
          return %6 %4 %7 %5 %8 2.5
        }
        function g(%0: int, %1: float, %2: bool, %3: char) -> char, bool, float, int {
          return %3 %2 %1 %0
        }";
    let arguments = [7u64, (-1.5f64).to_bits(), 1, 200];
    let expected = vec![(-1.5f64).to_bits(), 200, 7, 1, 8, 2.5f64.to_bits()];
    assert_eq!(run(text, &arguments, 6), (Status::Done, expected));
}

#[test]
fn what_cannot_go_on_gives_up() {
    let endless = "
        function f(%0: int) -> int {
          %1 = add.int %0 1
          %2 = call f %1
          %3 = add.int %2 1
          return %3
        }";
    assert_eq!(run(endless, &[0], 1).0, Status::GaveUp);
    let fails = "
        function f(%0: int) -> int {
          %1 = call g %0
          return %1
        }
        function g(%0: int) -> int {
          %1 = divide.int 1 %0
          return %1
        }";
    assert_eq!(run(fails, &[0], 1).0, Status::GaveUp);
    assert_eq!(run(fails, &[1], 1), (Status::Done, vec![1]));
}

#[test]
fn an_interrupt_ends_a_run() {
    let program = nesl_vcode::parse(FIBONACCI).unwrap();
    let mut compiler = Compiler::new().unwrap();
    let function = compiler.function(&program, FunctionId(0)).unwrap();
    let flag = AtomicBool::new(true);
    assert_eq!(call(function, Some(&flag), &[30], &mut [0]), Status::Interrupted);
}

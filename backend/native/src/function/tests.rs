//! Operations against the table; calls, results of all types, and what ends a run.

use super::*;
use crate::state::tests::scratch;
use nesl_prim::{ScalarOp, ScalarValue, eval};
pub use nesl_vcode::parse::numbered;
use std::sync::atomic::AtomicBool;

/// Bytes of scratch memory.
const SCRATCH: usize = 1 << 20;

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

/// Runs a function with so many bytes of scratch memory and an interrupt flag.
fn call(
    function: Compiled,
    (bytes, interrupt): (usize, Option<&AtomicBool>),
    arguments: &[u64],
    results: &mut [u64],
) -> Status {
    let mut scratch = scratch(bytes);
    let mut state = State::new(interrupt, 1 << 19, Some(&mut scratch));
    // SAFETY: the arguments are scalars.
    unsafe { function.call(&mut state, arguments, results) }
}

/// Runs the first function of a program; how it ends, and its results.
pub(crate) fn run(text: &str, arguments: &[u64], results: usize) -> (Status, Vec<u64>) {
    run_in(SCRATCH, None, text, arguments, results)
}

/// The same with so many bytes of scratch memory and an interrupt flag.
pub(crate) fn run_in(
    bytes: usize,
    interrupt: Option<&AtomicBool>,
    text: &str,
    arguments: &[u64],
    results: usize,
) -> (Status, Vec<u64>) {
    let program = nesl_vcode::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let mut compiler = Compiler::new().unwrap();
    let compiled = compiler.function(&program, FunctionId(0)).unwrap();
    let mut words = vec![0; results];
    let status = call(compiled, (bytes, interrupt), arguments, &mut words);
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
            let status = call(function, (SCRATCH, None), &words, &mut result);
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

#[test]
fn operations_on_constants_are_those_of_the_table() {
    let ints =
        |op: &&ScalarOp| op.row().operands.len() > 1 && op.row().operands.iter().all(|&ty| ty == ScalarType::Int);
    let mut ranges = 0;
    for &op in ScalarOp::ALL.iter().filter(ints) {
        let count = op.row().operands.len();
        for constants in operands(&vec![ScalarType::Int; count - 1]) {
            let (first, last) = (samples(ScalarType::Int), constants);
            // One operand is not known, in turns the first and the one in the middle.
            let unknown = usize::from(count > 2 && ranges % 2 == 0);
            ranges += 1;
            let mut names: Vec<String> = last.iter().map(|value| (value.to_word() as i64).to_string()).collect();
            names.insert(unknown, "%0".to_owned());
            let text = format!(
                "function f(%0: int) -> {} {{\n  %1 = {op} {}\n  return %1\n}}",
                op.row().result,
                names.join(" ")
            );
            let program = nesl_vcode::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
            let mut compiler = Compiler::new().unwrap();
            let function = compiler.function(&program, FunctionId(0)).unwrap();
            for value in first {
                let mut operands = last.clone();
                operands.insert(unknown, value);
                let mut result = [0];
                let status = call(function, (SCRATCH, None), &[value.to_word()], &mut result);
                let done = eval(op, &operands).ok();
                let expected = if done.is_some() { Status::Done } else { Status::GaveUp };
                assert_eq!(status, expected, "{op} {operands:?}");
                let found = done.map(|_| ScalarValue::from_word(op.row().result, result[0]));
                assert_eq!(found, done, "{op} {operands:?}");
            }
        }
    }
    assert!(ranges > 1000, "{ranges} functions");
}

#[test]
fn products_by_constants_are_those_of_the_table() {
    let powers = (0..63).flat_map(|shift| [-1, 0, 1].map(|more| (1i64 << shift) + more));
    let others = (2..100).chain([i64::MAX, i64::MIN, 6 << 40, 10 << 50, 7 << 60]);
    for factor in powers.chain(others) {
        let text = format!("function f(%0: int) -> int {{\n  %1 = multiply.int %0 {factor}\n  return %1\n}}");
        let program = nesl_vcode::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let mut compiler = Compiler::new().unwrap();
        let function = compiler.function(&program, FunctionId(0)).unwrap();
        for value in [0, 1, -1, 3, -7, 1 << 32, i64::MAX, i64::MIN, i64::MIN + 1, 0x1234_5678_9abc_def0] {
            let mut result = [0];
            let status = call(function, (SCRATCH, None), &[value as u64], &mut result);
            assert_eq!((status, result[0] as i64), (Status::Done, value.wrapping_mul(factor)), "{value} * {factor}");
        }
    }
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
    assert_eq!(call(function, (SCRATCH, Some(&flag)), &[30], &mut [0]), Status::Interrupted);
}

const COUNTS_DOWN: &str = "
    function f(%0: int, %1: int) -> int {
      %2 = equal.int %0 0
      %6 = if %2 { yield %1 } else {
        %3 = subtract.int %0 1
        %4 = add.int %1 %0
        %5 = call f %3 %4
        yield %5
      }
      return %6
    }";

/// Runs the first function with so many bytes of stack, far too few for a frame for each step of a loop.
fn run_on_little_stack(text: &str, arguments: &[u64], flag: &AtomicBool) -> (Status, Vec<u64>) {
    let program = nesl_vcode::parse(text).unwrap();
    let mut compiler = Compiler::new().unwrap();
    let function = compiler.function(&program, FunctionId(0)).unwrap();
    let mut results = vec![0; function.result_words()];
    let mut state = State::new(Some(flag), 8 << 10, None);
    // SAFETY: the arguments are scalars.
    let status = unsafe { function.call(&mut state, arguments, &mut results) };
    (status, results)
}

#[test]
fn a_function_that_ends_by_calling_itself_is_a_loop_that_takes_no_stack() {
    let clear = AtomicBool::new(false);
    let found = run_on_little_stack(COUNTS_DOWN, &[20_000_000, 0], &clear);
    assert_eq!(found, (Status::Done, vec![200_000_010_000_000]));
    assert_eq!(run_on_little_stack(COUNTS_DOWN, &[20_000, 0], &AtomicBool::new(true)).0, Status::Interrupted);
}

#[test]
fn functions_that_end_by_calling_one_another_are_one_loop() {
    let text = "
        function even(%0: int, %1: int) -> int, bool {
          %2 = equal.int %0 0
          %7, %8 = if %2 { yield %1 t } else {
            %3 = subtract.int %0 1
            %4 = add.int %1 %0
            %5, %6 = call odd %4 %3
            yield %5 %6
          }
          return %7 %8
        }
        function odd(%0: int, %1: int) -> int, bool {
          %2 = equal.int %1 0
          %6, %7 = if %2 { yield %0 f } else {
            %3 = subtract.int %1 1
            %4, %5 = call even %3 %0
            yield %4 %5
          }
          return %6 %7
        }
        function loops(%0: int) -> int {
          %1 = add.int %0 1
          %2 = call loops %1
          return %2
        }";
    let clear = AtomicBool::new(false);
    for (n, parity) in [(1_000_000, 1), (1_000_001, 0)] {
        // 10^6 + (10^6 - 2) + …, and from 10^6 + 1 on likewise.
        let sum = if parity == 1 { 500_000 * 500_001 } else { 500_001 * 500_001 };
        assert_eq!(run_on_little_stack(text, &[n, 0], &clear), (Status::Done, vec![sum, parity]));
    }
    // What never ends can be interrupted.
    let endless = &text[text.find("function loops").unwrap()..];
    let flag = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(20));
            flag.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        assert_eq!(run_on_little_stack(endless, &[0], &flag).0, Status::Interrupted);
    });
}

#[test]
fn one_that_calls_others_on_its_way_leaves_their_limit_as_it_was() {
    let text = "
        function top(%0: int) -> int {
          %1 = call f %0 0
          %2 = call f %0 %1
          return %2
        }
        function f(%0: int, %1: int) -> int {
          %2 = equal.int %0 0
          %7 = if %2 { yield %1 } else {
            %3 = subtract.int %0 1
            %4 = call depth %0
            %5 = add.int %1 %4
            %6 = call f %3 %5
            yield %6
          }
          return %7
        }
        function depth(%0: int) -> int {
          %1 = less.int %0 1
          %4 = if %1 { yield 0 } else {
            %2 = call depth 0
            %3 = add.int %2 1
            yield %3
          }
          return %4
        }";
    assert_eq!(run(text, &[20_000], 1), (Status::Done, vec![40_000]));
}

/// The elements of a column that a function of ints gives, whose length is its first result.
pub(crate) fn column_of(text: &str, arguments: &[u64]) -> Vec<i64> {
    let program = nesl_vcode::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let mut compiler = Compiler::new().unwrap();
    let compiled = compiler.function(&program, FunctionId(0)).unwrap();
    let mut scratch = scratch(1 << 20);
    let mut state = State::new(None, 1 << 19, Some(&mut scratch));
    let mut words = [0; 3];
    // SAFETY: the arguments are scalars.
    assert_eq!(unsafe { compiled.call(&mut state, arguments, &mut words) }, Status::Done);
    assert_eq!(words[0], words[2]);
    // SAFETY: the function has just given so many ints, in the scratch memory of the state.
    match unsafe { crate::Elements::at(ScalarType::Int, words[1], words[2]) } {
        crate::Elements::Int(elements) => elements.to_vec(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn instances_and_groups_are_loops_whose_columns_are_put_together_in_place() {
    // {[0:i] : i in [0:n]} joined, without its evens; before it a function of its own gives a column.
    let text = "
        function f(%0: int) -> int, column int {
          %1 = iota %0
          %2, %3 = each g g/L(of int) -> [int] %0 %1
          %4 = fused {
            %5 = map remainder %3 2
            %6 = map equal.int %5 1
            %7 = pack %3 %6
            yield %7
          }
          %8 = call squares %0
          %9 = concat %8 %4 %8
          %10 = length %9
          return %10 %9
        }
        function g(%0: int) -> int, column int {
          %1 = iota %0
          return %0 %1
        }
        function g/L(%0: int, %1: column int) -> descriptor, column int {
          %2 = packed %1
          %3 = seg_iota %2
          return %2 %3
        }
        function squares(%0: int) -> column int {
          %1 = iota %0
          %2 = map multiply.int %1 %1
          return %2
        }";
    for n in [0, 1, 2, 5, 40] {
        let squares: Vec<i64> = (0..n).map(|i| i * i).collect();
        let odd: Vec<i64> = (0..n).flat_map(|i| 0..i).filter(|i| i % 2 == 1).collect();
        assert_eq!(column_of(text, &[n as u64]), [&squares[..], &odd, &squares].concat(), "{n}");
    }
}

#[test]
fn indices_that_go_evenly_are_checked_at_both_ends() {
    let text = |factor: i64, term: i64| {
        format!(
            "function f(%0: int) -> int, column int {{
               %1 = iota 100
               %2 = iota %0
               %3 = fused {{
                 %4 = map multiply.int %2 {factor}
                 %5 = map add.int %4 {term}
                 %6 = map check_index %5 100
                 %7 = gather %1 %6
                 yield %7
               }}
               %8 = length %3
               return %8 %3
             }}"
        )
    };
    for (factor, term, count) in [(2, 1, 50), (-3, 99, 34), (0, 7, 200), (1, 0, 100), (5, -5, 0), (99, 0, 2)] {
        let expected: Vec<i64> = (0..count).map(|i| factor * i + term).collect();
        assert_eq!(column_of(&text(factor, term), &[count as u64]), expected, "{factor} {term}");
    }
    // Where there are no indices, nothing is wrong with a length.
    let checked = |length: i64| {
        format!(
            "function f(%0: int) -> int, column int {{
               %1 = iota %0
               %2 = fused {{
                 %3 = map multiply.int %1 %1
                 %4 = map check_index %3 {length}
                 yield %4
               }}
               %5 = length %2
               return %5 %2
             }}"
        )
    };
    for (length, count) in [(26, 6), (1, 1), (0, 0), (-1, 0)] {
        let expected: Vec<i64> = (0..count).map(|i| i * i).collect();
        assert_eq!(column_of(&checked(length), &[count as u64]), expected, "{length}");
    }
    for (length, count) in [(25, 6), (0, 1), (-1, 1), (i64::MIN, 3)] {
        assert_eq!(run(&checked(length), &[count], 3).0, Status::GaveUp, "{length}");
    }
    for (factor, term, count) in [(2, 1, 51), (-3, 99, 35), (0, 100, 1), (1, -1, 1), (1, 1, 100), (1 << 62, 0, 5)] {
        assert_eq!(run(&text(factor, term), &[count], 3).0, Status::GaveUp, "{factor} {term}");
    }
}

#[test]
fn bits_that_go_evenly_are_checked_at_both_ends() {
    let text = |op: &str, term: i64| {
        format!(
            "function f(%0: int, %1: int) -> int, column int {{
               %2 = iota %0
               %3 = fused {{
                 %4 = map add.int %2 {term}
                 %5 = map {op} %1 %4
                 yield %5
               }}
               %6 = length %3
               return %6 %3
             }}"
        )
    };
    for (term, count) in [(0, 64), (60, 4), (63, 1), (64, 0), (-1, 0), (5, 9)] {
        let left: Vec<i64> = (term..term + count).map(|bits| -3 << bits).collect();
        assert_eq!(column_of(&text("shift_left", term), &[count as u64, -3i64 as u64]), left, "{term} {count}");
        let right: Vec<i64> = (term..term + count).map(|bits| (-1 << 40) >> bits).collect();
        let arguments = [count as u64, (-1i64 << 40) as u64];
        assert_eq!(column_of(&text("shift_right", term), &arguments), right, "{term} {count}");
    }
    for (term, count) in [(0, 65), (64, 1), (-1, 3), (i64::MAX, 2)] {
        for op in ["shift_left", "shift_right"] {
            assert_eq!(run(&text(op, term), &[count, 1], 3).0, Status::GaveUp, "{term} {count}");
        }
    }
}

/// `combine({g(k * x, x + 5) : x in [0:n] | rem(x, 3) == 0})` where g subtracts its second argument twice; of the
/// columns of arguments `read` is what else is read of them.
fn instances_between_a_filter_and_a_reduction(combine: &str, read: &str) -> String {
    format!(
        "function f(%0: int, %1: int) -> int, int {{
           %2 = iota %0
           %3, %4 = fused {{
             %5 = map remainder %2 3
             %6 = map equal.int %5 0
             %7 = pack %2 %6
             %8 = map multiply.int %1 %7
             %9 = map add.int %7 5
             yield %8 %9
           }}
           %10 = length %4
           %11 = each g g/LL(of int, of int) -> int %10 %3 %4
           %12 = reduce.{combine}.int %11
           {read}
           return %12 %13
         }}
         function g(%0: int, %1: int) -> int {{
           %2 = call h %0 %1
           %3 = subtract.int %2 %1
           return %3
         }}
         function h(%0: int, %1: int) -> int {{
           %2 = subtract.int %0 %1
           return %2
         }}
         function g/LL(%0: int, %1: column int, %2: column int) -> column int {{
           %3 = map subtract.int %1 %2
           %4 = map subtract.int %3 %2
           return %4
         }}"
    )
}

#[test]
fn instances_compute_their_arguments_and_combine_what_they_give() {
    for n in [0, 1, 2, 3, 4, 50, 301] {
        for k in [0, 7, -2] {
            let kept = || (0..n).filter(|x| x % 3 == 0);
            let given = || kept().map(|x| k * x - 2 * (x + 5));
            let (sum, most) = (given().sum::<i64>(), given().max().unwrap_or(i64::MIN));
            let run = |combine, read: &str| {
                let text = instances_between_a_filter_and_a_reduction(combine, read);
                let (status, words) = run(&text, &[n as u64, k as u64], 2);
                assert_eq!(status, Status::Done, "{n} {k}");
                (words[0] as i64, words[1] as i64)
            };
            let count = kept().count() as i64;
            assert_eq!(run("add", "%13 = length %3"), (sum, count), "{n} {k}");
            assert_eq!(run("maximum", "%13 = length %4"), (most, count), "{n} {k}");
            // What others read is a column.
            assert_eq!(run("add", "%13 = reduce.add.int %4"), (sum, kept().map(|x| x + 5).sum()), "{n} {k}");
            assert_eq!(run("add", "%13 = reduce.maximum.int %11"), (sum, most), "{n} {k}");
        }
    }
}

#[test]
fn more_instances_than_there_is_memory_for_give_up() {
    let text = "
        function f(%0: int) -> int {
          %1 = each g g/I(int) -> int %0 7
          %2 = length %1
          return %2
        }
        function g(%0: int) -> int {
          %1 = add.int %0 1
          return %1
        }
        function g/I(%0: int, %1: int) -> column int {
          %2 = add.int %1 1
          %3 = dist %2 %0
          return %3
        }";
    assert_eq!(run(text, &[100], 1), (Status::Done, vec![100]));
    for count in [1 << 30, 1 << 61, i64::MAX as u64] {
        assert_eq!(run(text, &[count], 1).0, Status::GaveUp, "{count}");
    }
}

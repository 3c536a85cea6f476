//! What becomes of calls with ranges, as text.

use crate::parse::{numbered, parse};
use crate::passes::{number, testing};
use crate::program::Program;

const WALK: &str = "function walk(%0: column int, %1: int) -> int {
  %2 = length %0
  %3 = at_least.int %1 %2
  %7 = if %3 { yield %1 } else {
    %4 = extract %0 %1
    %5 = add.int %1 %4
    %6 = loop walk %0 %5
    yield %6
  }
  return %7
}";

#[track_caller]
fn becomes(before: &str, after: &str) {
    let mut expected = parse(&numbered(after)).unwrap_or_else(|error| panic!("after: {error}"));
    number::run(&mut expected);
    let specialised = |program: &mut Program| {
        super::run(program);
        number::run(program);
    };
    testing::becomes(specialised, &numbered(before), &expected.to_string());
}

/// Checks what becomes of a program's first function, and which functions there are then besides the others.
#[track_caller]
fn first_becomes(others: &str, before: &str, after: &str, new: &str) {
    becomes(&format!("{before}\n{others}"), &format!("{after}\n{others}\n{new}"));
}

#[track_caller]
fn stays(text: &str) {
    becomes(text, text);
}

#[test]
fn a_range_is_its_length_its_start_and_its_step() {
    first_becomes(
        WALK,
        "function main(%0: int) -> int, int {
           %1 = iota %0
           %2 = map add.int %1 5
           %3 = call walk %2 1
           %4 = map multiply.int %2 3
           %5 = call walk %4 1
           return %3 %5
         }",
        "function main(%0: int) -> int, int {
           %3 = call walk/numbers %0 5 1
           %5 = call walk/numbers2 %0 15 3 1
           return %3 %5
         }",
        "function walk/numbers(%8: int, %9: int, %1: int) -> int {
           %10 = iota %8
           %0 = map add.int %10 %9
           %2 = length %0
           %3 = at_least.int %1 %2
           %7 = if %3 { yield %1 } else {
             %4 = extract %0 %1
             %5 = add.int %1 %4
             %6 = loop walk/numbers %8 %9 %5
             yield %6
           }
           return %7
         }
         function walk/numbers2(%8: int, %9: int, %10: int, %1: int) -> int {
           %11 = iota %8
           %12 = map multiply.int %11 %10
           %0 = map add.int %12 %9
           %2 = length %0
           %3 = at_least.int %1 %2
           %7 = if %3 { yield %1 } else {
             %4 = extract %0 %1
             %5 = add.int %1 %4
             %6 = loop walk/numbers2 %8 %9 %10 %5
             yield %6
           }
           return %7
         }",
    );
}

#[test]
fn parts_of_a_range_and_of_equal_values_are_numbers_too() {
    let down = "function down(%0: column int, %1: column float) -> int {
       %2 = length %0
       %3 = equal.int %2 0
       %9 = if %3 { yield 0 } else {
         %4 = subtract.int %2 1
         %5 = slice %0 1 %4
         %6 = slice %1 1 %4
         %7 = call down %5 %6
         %8 = add.int %7 1
         yield %8
       }
       return %9
     }";
    first_becomes(
        down,
        "function main(%0: int, %1: float) -> int {
           %2 = iota %0
           %3 = dist %1 %0
           %4 = call down %2 %3
           return %4
         }",
        "function main(%0: int, %1: float) -> int {
           %4 = call down/numbers %0 0 %0 %1
           return %4
         }",
        "function down/numbers(%10: int, %11: int, %12: int, %13: float) -> int {
           %14 = iota %10
           %0 = map add.int %14 %11
           %2 = length %0
           %3 = equal.int %2 0
           %9 = if %3 { yield 0 } else {
             %4 = subtract.int %2 1
             %15 = add.int %11 1
             %7 = call down/numbers %4 %15 %4 %13
             %8 = add.int %7 1
             yield %8
           }
           return %9
         }",
    );
}

#[test]
fn functions_and_ifs_yield_numbers() {
    // What runs the program gets the columns.
    becomes(
        "function main(%0: int, %1: bool) -> int {
           %2, %3 = call build %0 9
           %7 = if %1 { yield %3 } else {
             %4 = constants int []
             yield %4
           }
           %5 = extract %7 1
           return %5
         }
         function build(%0: int, %1: int) -> int, column int {
           %2 = equal.int %1 0
           %6, %7 = if %2 {
             %3 = iota %0
             yield %0 %3
           } else {
             %4 = subtract.int %1 1
             %5, %8 = loop build %0 %4
             yield %5 %8
           }
           return %6 %7
         }",
        "function main(%0: int, %1: bool) -> int {
           %2, %8, %9 = call build/numbers %0 9
           %12, %13 = if %1 { yield %8 %9 } else { yield 0 0 }
           %14 = iota %12
           %7 = map add.int %14 %13
           %5 = extract %7 1
           return %5
         }
         function build(%0: int, %1: int) -> int, column int {
           %2 = equal.int %1 0
           %6, %7, %8 = if %2 { yield %0 %0 0 } else {
             %4 = subtract.int %1 1
             %5, %9, %10 = call build/numbers %0 %4
             yield %5 %9 %10
           }
           %11 = iota %7
           %12 = map add.int %11 %8
           return %6 %12
         }
         function build/numbers(%0: int, %1: int) -> int, int, int {
           %2 = equal.int %1 0
           %6, %12, %13 = if %2 { yield %0 %0 0 } else {
             %4 = subtract.int %1 1
             %5, %9, %10 = loop build/numbers %0 %4
             yield %5 %9 %10
           }
           return %6 %12 %13
         }",
    );
}

#[test]
fn instances_share_numbers() {
    first_becomes(
        &format!(
            "{WALK}
             function walk/lifted(%0: int, %1: int, %2: column int, %3: column int) -> column int {{
               %4 = gather %2 %3
               return %4
             }}
             function outer(%0: int, %1: column int, %2: int) -> int {{
               %3 = call walk %1 %2
               return %3
             }}"
        ),
        "function main(%0: int, %1: column int) -> column int {
           %2 = length %1
           %3 = iota %0
           %4 = each outer walk/lifted([int], of int) -> int %2 %0 %3 %1
           return %4
         }",
        "function main(%0: int, %1: column int) -> column int {
           %2 = length %1
           %4 = each outer/numbers walk/lifted/numbers(int, int, int, of int) -> int %2 %0 %0 0 %1
           return %4
         }",
        "function outer/numbers(%0: int, %4: int, %5: int, %2: int) -> int {
           %3 = call walk/numbers %4 %5 %2
           return %3
         }
         function walk/lifted/numbers(%0: int, %1: int, %5: int, %6: int, %3: column int) -> column int {
           %7 = iota %5
           %2 = map add.int %7 %6
           %4 = gather %2 %3
           return %4
         }
         function walk/numbers(%8: int, %9: int, %1: int) -> int {
           %10 = iota %8
           %0 = map add.int %10 %9
           %2 = length %0
           %3 = at_least.int %1 %2
           %7 = if %3 { yield %1 } else {
             %4 = extract %0 %1
             %5 = add.int %1 %4
             %6 = loop walk/numbers %8 %9 %5
             yield %6
           }
           return %7
         }",
    );
}

#[test]
fn what_is_needed_in_memory_at_each_call_is_made_once() {
    // Written to, sorted, put together, yielded with something else, or handed to a function that does so.
    for use_of in [
        "%4 = scatter %0 %1 %1",
        "%4 = sort_up %0",
        "%4 = concat %0 %1",
        "%6 = less.int %2 9
         %4 = if %6 { yield %0 } else { yield %1 }",
        "%4 = call other %0 %1",
    ] {
        stays(&format!(
            "function main(%0: int, %1: column int) -> column int {{
               %2 = iota %0
               %3 = call walk %2 %1 1
               return %3
             }}
             function walk(%0: column int, %1: column int, %2: int) -> column int {{
               %3 = subtract.int %2 1
               {use_of}
               %5 = loop walk %0 %4 %3
               return %5
             }}
             function other(%0: column int, %1: column int) -> column int {{
               %2 = scatter %0 %1 %1
               return %2
             }}"
        ));
    }
}

#[test]
fn what_is_timed_gets_what_it_is_called_with() {
    stays(&format!(
        "function main(%0: int) -> int {{
           %1 = iota %0
           %2 = host.clock 1
           %3 = call walk %1 1
           return %3
         }}
         {WALK}"
    ));
}

#[test]
fn a_function_is_called_in_so_many_ways_at_most() {
    // Each of ten columns may be a range, one value everywhere, or another column.
    let columns = 10;
    let list = |of: &dyn Fn(usize) -> String| (0..columns).map(of).collect::<Vec<_>>().join(" ");
    let call = |turn: usize| {
        let operands = list(&|at| if turn >> at & 1 == 1 { "%1" } else { "%2" }.to_owned());
        format!("%{} = call walk {operands}\n", turn + 3)
    };
    let calls: String = (0..200).map(call).collect();
    let parameters: Vec<String> = (0..columns).map(|at| format!("%{at}: column int")).collect();
    stays(&format!(
        "function main(%0: int) -> int {{
           %1 = iota %0
           %2 = dist 1 %0
           {calls}
           return %3
         }}
         function walk({}) -> int {{
           %{columns} = loop walk {}
           return %{columns}
         }}",
        parameters.join(", "),
        list(&|at| format!("%{at}")),
    ));
}

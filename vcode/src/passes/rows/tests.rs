//! Loops that append segments, before and after.

use super::*;
use crate::passes::testing::{becomes, stays};

/// What becomes of a loop until there are so many rows, of which this is a turn, once what nobody needs is gone.
#[track_caller]
fn check(turn: &str, split: &str) {
    let tidy = |program: &mut Program| {
        crate::passes::dead::run(program);
        crate::passes::number::run(program);
    };
    let pass = |program: &mut Program| {
        run(program);
        tidy(program);
    };
    let before = format!(
        "function f(%0: int, %1: descriptor, %2: column int) -> descriptor, column int {{
           %3 = segments %1
           %4 = equal.int %3 %0
           %5, %6 = if %4 {{ yield %1 %2 }} else {{
             {turn}
             yield %15 %16
           }}
           return %5 %6
         }}"
    );
    let after = format!(
        "function f(%0: int, %1: descriptor, %2: column int) -> {ENTERS}
         function f/rows(%0: int, %1: column int, %2: column int, %3: column int) -> column int, column int {{
           %4 = length %1
           %5 = equal.int %4 %0
           %6, %7 = if %5 {{ yield %1 %3 }} else {{
             {split}
             yield %18 %19
           }}
           return %6 %7
         }}"
    );
    becomes(pass, &numbered(&before), &numbered(&after));
}

const ENTERS: &str = "descriptor, column int {
    %3 = lengths %1
    %4 = packed %3
    %5 = starts %4
    %6 = compact %2 %1
    %7, %8 = call f/rows %0 %3 %5 %6
    %9 = packed %7
    return %9 %8
  }";

/// The same text with registers that are numbered in their order in each function.
fn numbered(text: &str) -> String {
    let text = crate::parse::numbered(text);
    let mut program = crate::parse::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    crate::passes::number::run(&mut program);
    program.to_string()
}

#[test]
fn a_row_that_is_appended_costs_what_it_adds() {
    let turn = "%7 = lengths %1
           %8 = extract %7 0
           %9 = build %8 7
           %10 = build 2
           %11 = compact %2 %1
           %12 = concat %7 %10
           %13 = concat %11 %9
           %14 = packed %12
           %15, %16 = call f %0 %14 %13";
    let split = "%8 = extract %1 0
           %9 = build %8 7
           %10 = build 2
           %11 = concat %1 %10
           %12 = length %3
           %13 = concat %3 %9
           %14 = add.int %12 2
           %15 = build %12
           %16 = concat %2 %15
           %17 = slice %13 0 %14
           %18, %19 = call f/rows %0 %11 %16 %17";
    check(turn, split);
}

#[test]
fn rows_may_come_in_branches_and_several_at_once() {
    let turn = "%20 = less.int %3 5
           %21, %22 = if %20 {
             %7 = lengths %1
             %10 = build 2 %0
             %9 = iota %0
             %30 = build 1 2
             %11 = compact %2 %1
             %12 = concat %7 %10
             %13 = concat %11 %30 %9
             %14 = packed %12
             yield %14 %13
           } else { yield %1 %2 }
           %15, %16 = call f %0 %21 %22";
    let split = "%20 = less.int %4 5
           %21, %31, %22 = if %20 {
             %10 = build 2 %0
             %9 = iota %0
             %30 = build 1 2
             %11 = concat %1 %10
             %12 = length %3
             %13 = concat %3 %30 %9
             %14 = add.int %12 2
             %34 = add.int %14 %0
             %15 = build %12 %14
             %16 = concat %2 %15
             %17 = slice %13 0 %34
             yield %11 %16 %17
           } else { yield %1 %2 %3 }
           %18, %19 = call f/rows %0 %21 %31 %22";
    check(turn, split);
}

#[test]
fn other_loops_stay() {
    let of = |turn: &str, call: &str| {
        let text = format!(
            "function f(%0: int, %1: descriptor, %2: column int) -> descriptor, column int {{
               %3 = equal.int %0 0
               %4, %5 = if %3 {{ yield %1 %2 }} else {{
                 %6 = lengths %1
                 %7 = build 1
                 %8 = compact %2 %1
                 %9 = concat %6 %7
                 %10 = concat %8 %7
                 %11 = packed %9
                 {turn}
                 %50, %51 = call f %0 {call}
                 yield %50 %51
               }}
               return %4 %5
             }}"
        );
        numbered(&text)
    };
    // The descriptor is needed as one, here and in the next turn.
    stays(run, &of("%12 = seg_reduce.add.int %2 %1", "%11 %10"));
    stays(run, &of("%12 = view %9 %9", "%12 %10"));
    // The data are others.
    stays(run, &of("%12 = build 5", "%11 %12"));
    // So are the lengths, of which there are as many as somebody knows.
    stays(run, &of("%12 = concat %9 %9\n%13 = packed %12", "%13 %10"));
}

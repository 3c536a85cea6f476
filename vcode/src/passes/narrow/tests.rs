//! What becomes bytes, and what stays, as text.

use super::*;
use crate::passes::testing;

const HEADER: &str = "(%0: column char, %1: column bool, %2: int, %3: column int)";

#[track_caller]
fn becomes(types: &str, before: &str, after: &str) {
    testing::body_becomes(run, &format!("{HEADER} -> {types}"), before, after);
}

#[track_caller]
fn stays(types: &str, body: &str) {
    becomes(types, body, body);
}

#[test]
fn kinds_go_from_group_to_group_as_bytes() {
    becomes(
        "column int, int, int",
        "%7 = fused {
           %4 = map equal.char %0 `a
           %5 = map select.int %4 2 3
           %6 = map select.int %1 1 %5
           yield %6
         }
         %8 = build 0 1
         %9 = concat %8 %7
         %10 = slice %9 0 %2
         %11 = length %10
         %12 = extract %7 %2
         %17 = fused {
           %13 = map equal.int %7 2
           %14 = map equal.int %10 2
           %15 = map and.bool %13 %14
           %16 = pack %3 %15
           yield %16
         }
         return %17 %11 %12",
        "%8 = fused {
           %4 = map equal.char %0 `a
           %5 = map select.int %4 2 3
           %6 = map select.int %1 1 %5
           %7 = map low_byte %6
           yield %7
         }
         %9 = build `\\x00 `\\x01
         %10 = concat %9 %8
         %11 = slice %10 0 %2
         %12 = length %11
         %13 = extract %8 %2
         %14 = char_to_code %13
         %21 = fused {
           %15 = map char_to_code %8
           %16 = map equal.int %15 2
           %17 = map char_to_code %11
           %18 = map equal.int %17 2
           %19 = map and.bool %16 %18
           %20 = pack %3 %19
           yield %20
         }
         return %21 %12 %14",
    );
}

#[test]
fn what_is_looked_up_is_looked_up_as_bytes() {
    becomes(
        "int",
        "%6 = fused {
           %4 = map modulo %3 10
           %5 = map multiply.int %4 %4
           yield %5
         }
         %10 = fused {
           %7 = map check_index %3 %2
           %8 = gather %6 %7
           %9 = reduce.add.int %8
           yield %9
         }
         return %10",
        "%7 = fused {
           %4 = map modulo %3 10
           %5 = map multiply.int %4 %4
           %6 = map low_byte %5
           yield %6
         }
         %12 = fused {
           %8 = map check_index %3 %2
           %9 = gather %7 %8
           %10 = map char_to_code %9
           %11 = reduce.add.int %10
           yield %11
         }
         return %12",
    );
}

/// A group that makes what is between 0 and `most`, and what is done with it.
fn made(most: i64, rest: &str) -> String {
    format!(
        "%6 = fused {{
           %4 = map select.int %1 {most} 0
           %5 = map add.int %4 0
           yield %5
         }}
         {rest}"
    )
}

#[test]
fn what_may_be_more_or_is_needed_as_ints_stays() {
    let read = "%8 = fused {
                  %7 = map equal.int %6 1
                  yield %7
                }";
    let becomes_bytes = |most: i64| {
        let text = made(most, &format!("{read}\nreturn %8"));
        let mut program =
            crate::parse(&format!("function f{HEADER} -> column bool {{\n{text}\n}}")).expect("a program");
        run(&mut program);
        program.to_string().contains("low_byte")
    };
    assert!(becomes_bytes(0) && becomes_bytes(255));
    assert!(!becomes_bytes(256) && !becomes_bytes(-1) && !becomes_bytes(i64::MAX) && !becomes_bytes(i64::MIN));
    stays("column int, column bool", &made(1, &format!("{read}\nreturn %6 %8")));
    // As indices of what is written, as what is sorted, and together with what is not known.
    stays("column int", &made(1, "%7 = scatter %3 %6 %3\nreturn %7"));
    stays("column int", &made(1, "%7 = sort_up %6\nreturn %7"));
    stays("int", &made(1, "%7 = concat %6 %3\n%8 = length %7\nreturn %8"));
    stays("int", &made(1, "%7 = reduce.add.int %6\nreturn %7"));
}

#[test]
fn constants_alone_are_not_worth_it() {
    stays(
        "column bool",
        "%4 = dist 3 %2
         %5 = concat %4 %4
         %8 = fused {
           %6 = map equal.int %5 3
           %7 = map not.bool %6
           yield %7
         }
         return %8",
    );
    becomes(
        "column bool",
        &made(
            9,
            "%7 = constants int [3 4]
             %8 = concat %7 %6
             %11 = fused {
               %9 = map equal.int %8 3
               %10 = map not.bool %9
               yield %10
             }
             return %11",
        ),
        "%7 = fused {
           %4 = map select.int %1 9 0
           %5 = map add.int %4 0
           %6 = map low_byte %5
           yield %6
         }
         %8 = constants char \"\\x03\\x04\"
         %9 = concat %8 %7
         %13 = fused {
           %10 = map char_to_code %9
           %11 = map equal.int %10 3
           %12 = map not.bool %11
           yield %12
         }
         return %13",
    );
}

//! What becomes a group, and what must not.

mod extremes;
mod joins;

use super::{run, split};
use crate::parse::parse;
use crate::passes::testing;

/// A function with these parameters, results and instructions.
fn text(parameters: &str, types: &str, body: &str) -> String {
    format!("function f({parameters}) -> {types} {{\n{body}\n}}\n")
}

/// Checks what the instructions of a function become, whatever the numbers of registers inside groups; taken apart the
/// group must be sound, too.
#[track_caller]
fn becomes(parameters: &str, types: &str, before: &str, after: &str) {
    let numbered = |program: &mut crate::program::Program| {
        run(program);
        crate::passes::number::run(program);
    };
    let mut expected = parse(&text(parameters, types, after)).unwrap_or_else(|error| panic!("after: {error}"));
    crate::passes::number::run(&mut expected);
    testing::becomes(numbered, &text(parameters, types, before), &expected.to_string());
    let mut program = parse(&text(parameters, types, after)).unwrap();
    split(&mut program);
    assert_eq!(crate::verify(&program), Ok(()));
    assert!(!program.to_string().contains("fused"), "{program}");
}

#[track_caller]
fn stays(parameters: &str, types: &str, body: &str) {
    becomes(parameters, types, body, body);
}

#[test]
fn a_filter_and_what_is_computed_from_it() {
    becomes(
        "%0: int, %1: column float",
        "int, column float",
        "%2 = map greater.float %1 0.0
         %3 = pack %1 %2
         %4 = length %3
         %5 = map multiply.float %3 %3
         %6 = map add.float %5 1.0
         return %4 %6",
        "%7 = fused {
           %2 = map greater.float %1 0.0
           %3 = pack %1 %2
           %5 = map multiply.float %3 %3
           %6 = map add.float %5 1.0
           yield %6
         }
         %4 = length %7
         return %4 %7",
    );
}

#[test]
fn three_filters_of_one_column() {
    becomes(
        "%0: int, %1: column int",
        "column int, column int, column int",
        "%2 = map less.int %1 %0
         %3 = pack %1 %2
         %4 = map equal.int %1 %0
         %5 = pack %1 %4
         %6 = map greater.int %1 %0
         %7 = pack %1 %6
         return %3 %5 %7",
        "%8, %9, %10 = fused {
           %2 = map less.int %1 %0
           %3 = pack %1 %2
           %4 = map equal.int %1 %0
           %5 = pack %1 %4
           %6 = map greater.int %1 %0
           %7 = pack %1 %6
           yield %3 %5 %7
         }
         return %8 %9 %10",
    );
}

#[test]
fn generators_gathers_segments_and_ends() {
    becomes(
        "%0: column int, %1: column int, %2: column int, %3: int",
        "int, column int, column int",
        "%4 = packed %0
         %5 = total %4
         %6 = iota %5
         %7 = seg_dist %0 %4
         %8 = seg_iota %4
         %9 = map add.int %7 %8
         %10 = gather %1 %9
         %11 = dist %3 %5
         %12 = scatter %2 %6 %10
         %13 = map add.int %10 %11
         %14 = reduce.add.int %13
         %15 = seg_reduce.add.int %13 %4
         return %14 %15 %12",
        "%4 = packed %0
         %5 = total %4
         %18, %16, %17 = fused {
           %6 = iota %5
           %7 = seg_dist %0 %4
           %8 = seg_iota %4
           %9 = map add.int %7 %8
           %10 = gather %1 %9
           %11 = dist %3 %5
           %12 = scatter %2 %6 %10
           %13 = map add.int %10 %11
           %14 = reduce.add.int %13
           %15 = seg_reduce.add.int %13 %4
           yield %12 %14 %15
         }
         return %16 %17 %18",
    );
}

#[test]
fn lengths_that_a_check_has_found_equal_are_one_space() {
    becomes(
        "%0: column int, %1: column int",
        "int, column int, column int",
        "%2 = length %0
         %3 = length %1
         %4 = check_lengths %2 %3
         %5 = map negate.int %0
         %6 = map negate.int %1
         return %4 %5 %6",
        "%2 = length %0
         %3 = length %1
         %4 = check_lengths %2 %3
         %7, %8 = fused {
           %5 = map negate.int %0
           %6 = map negate.int %1
           yield %5 %6
         }
         return %4 %7 %8",
    );
    // A check in one block says nothing in the other, and none before it has passed.
    stays(
        "%0: column int, %1: column int, %9: bool",
        "int, column int, column int",
        "%2 = length %0
         %3 = length %1
         %8 = if %9 {
           %4 = check_lengths %2 %3
           yield %4
         } else { yield 1 }
         %5 = map negate.int %0
         %6 = map negate.int %1
         %7 = check_lengths %2 %3
         return %8 %5 %6",
    );
}

#[test]
fn two_spaces_are_not_one_loop() {
    stays(
        "%0: column int, %1: column int",
        "column int, column int",
        "%2 = map negate.int %0
         %3 = map negate.int %1
         return %2 %3",
    );
    // A space within, and a column of as many elements from outside of it.
    becomes(
        "%0: column int, %1: column bool, %2: column int",
        "column int, column int, int",
        "%3 = pack %0 %1
         %4 = map negate.int %3
         %5 = map add.int %4 %2
         %6 = map negate.int %5
         %7 = map negate.int %0
         %8 = reduce.add.int %7
         return %5 %6 %8",
        "%9, %10 = fused {
           %3 = pack %0 %1
           %4 = map negate.int %3
           %7 = map negate.int %0
           %8 = reduce.add.int %7
           yield %4 %8
         }
         %11, %12 = fused {
           %5 = map add.int %9 %2
           %6 = map negate.int %5
           yield %5 %6
         }
         return %11 %12 %10",
    );
}

#[test]
fn what_the_loop_completes_is_not_read_in_it() {
    becomes(
        "%0: column int, %1: column int",
        "column int, column int",
        "%2 = map negate.int %0
         %3 = reduce.add.int %2
         %4 = map add.int %2 %3
         %5 = scan.add.int %4
         %6 = map negate.int %5
         %7 = gather %6 %6
         return %6 %7",
        "%8, %9 = fused {
           %2 = map negate.int %0
           %3 = reduce.add.int %2
           yield %2 %3
         }
         %10 = fused {
           %4 = map add.int %8 %9
           %5 = scan.add.int %4
           %6 = map negate.int %5
           yield %6
         }
         %7 = gather %10 %10
         return %10 %7",
    );
    // What comes before an element has an order where floats are added up, and parts cannot be combined.
    stays(
        "%0: column float",
        "column float",
        "%1 = scan.add.float %0
         %2 = map negate.float %1
         return %2",
    );
}

#[test]
fn a_group_relies_on_checks_that_stand_before_it() {
    becomes(
        "%0: column float, %1: column int, %2: column int, %3: column float, %4: column int, %5: column int",
        "column float",
        "%6 = view %1 %2
         %7 = compact %0 %6
         %8 = view %4 %5
         %9 = packed %5
         %10 = compact %3 %8
         %11 = map check_lengths %5 %2
         %12 = map multiply.float %7 %10
         %13 = seg_reduce.add.float %12 %9
         return %13",
        "%6 = view %1 %2
         %8 = view %4 %5
         %9 = packed %5
         %11 = map check_lengths %5 %2
         %14 = fused {
           %7 = compact %0 %6
           %10 = compact %3 %8
           %12 = map multiply.float %7 %10
           %13 = seg_reduce.add.float %12 %9
           yield %13
         }
         return %14",
    );
}

#[test]
fn nothing_that_can_fail_changes_its_order() {
    // The division may fail, and so may the check between: the first failure would be another.
    stays(
        "%0: column int, %1: int",
        "column int, int",
        "%2 = map divide.int 1 %0
         %3 = divide.int 1 %1
         %4 = map negate.int %2
         return %4 %3",
    );
    // The negation moves down past the check, but the check does not move behind the group that it needs.
    becomes(
        "%0: column int, %1: int",
        "column int, column int, int",
        "%2 = map negate.int %0
         %3 = divide.int 1 %1
         %4 = map divide.int %2 7
         %5 = reduce.add.int %4
         %6 = divide.int 1 %5
         %7 = map add.int %4 1
         return %4 %7 %6",
        "%3 = divide.int 1 %1
         %8, %9 = fused {
           %2 = map negate.int %0
           %4 = map divide.int %2 7
           %5 = reduce.add.int %4
           yield %4 %5
         }
         %6 = divide.int 1 %9
         %7 = map add.int %8 1
         return %8 %7 %6",
    );
    // A gather that may rely on the checks before it stays behind them.
    stays(
        "%0: column int, %1: column int, %2: column int, %3: int",
        "column int, column int, column int",
        "%4 = map check_index %0 %3
         %5 = gather %2 %1
         %6 = map negate.int %4
         return %4 %5 %6",
    );
}

#[test]
fn nothing_depends_through_what_is_outside() {
    stays(
        "%0: column int",
        "column int",
        "%1 = map negate.int %0
         %2 = extract %1 0
         %3 = map add.int %1 %2
         return %3",
    );
}

#[test]
fn groups_end_at_calls_branches_and_the_world_outside() {
    for between in ["call f %0 %1", "if %1 { yield 1 } else { yield 2 }", "host.clock 1"] {
        let results = if between.starts_with("call") { "%3, %4" } else { "%3" };
        let sum = if between.starts_with("call") { "%5" } else { "%4" };
        let body = format!(
            "%2 = map negate.int %0
             {results} = {between}
             {sum} = map add.int %0 1
             return %2 {sum}"
        );
        stays("%0: column int, %1: bool", "column int, column int", &body);
    }
    // Inside a branch there are groups.
    becomes(
        "%0: column int, %1: bool",
        "column int",
        "%4 = if %1 {
           %2 = map negate.int %0
           %3 = map add.int %2 1
           yield %3
         } else { yield %0 }
         return %4",
        "%4 = if %1 {
           %5 = fused {
             %2 = map negate.int %0
             %3 = map add.int %2 1
             yield %3
           }
           yield %5
         } else { yield %0 }
         return %4",
    );
}

#[test]
fn a_filter_behind_a_call_joins_the_others_before_it() {
    let call = |body: &str| format!("%4 = map less.int %1 %0\n%5 = pack %1 %4\n%6 = call f %0 %5 %2 %3\n{body}");
    let (parameters, types) = ("%0: int, %1: column int, %2: column int, %3: bool", "column int");
    becomes(
        parameters,
        types,
        &call("%7 = map equal.int %1 %0\n%8 = pack %1 %7\n%9 = concat %6 %8\nreturn %9"),
        "%10, %11 = fused {
           %4 = map less.int %1 %0
           %5 = pack %1 %4
           %7 = map equal.int %1 %0
           %8 = pack %1 %7
           yield %5 %8
         }
         %6 = call f %0 %10 %2 %3
         %9 = concat %6 %11
         return %9",
    );
    let group = "%9 = fused {\n%4 = map less.int %1 %0\n%5 = pack %1 %4\nyield %5\n}\n%6 = call f %0 %9 %2 %3\n";
    // What is as large as what it reads would only be kept for longer.
    becomes(
        parameters,
        types,
        &call("%7 = map add.int %1 %0\n%8 = concat %6 %7\nreturn %8"),
        &format!("{group}%7 = map add.int %1 %0\n%8 = concat %6 %7\nreturn %8"),
    );
    // What can fail would fail before the call does; what the call gives is not there; another column is another loop.
    for filter in [
        "map modulo %1 %0\n%8 = map less.int %7 1",
        "reduce.add.int %6\n%8 = map less.int %1 %7",
        "reduce.add.int %2\n%8 = map less.int %2 %7",
    ] {
        let source = if filter.ends_with("%2 %7") { "%2" } else { "%1" };
        let before = call(&format!("%7 = {filter}\n%9 = pack {source} %8\nreturn %9"));
        let mut program = parse(&text(parameters, types, &before)).unwrap();
        run(&mut program);
        let listing = program.to_string();
        let (above, below) = listing.split_once("call f").unwrap();
        assert!(!above.contains("yield %5 ") && below.contains("pack"), "{listing}");
    }
}

#[test]
fn what_is_only_counted_leaves_the_group_if_nothing_else_is_as_long() {
    becomes(
        "%0: column float",
        "int, int, column float",
        "%1 = map greater.float %0 0.0
         %2 = pack %0 %1
         %3 = length %2
         %4 = map less.float %0 0.0
         %5 = pack %0 %4
         %6 = map add.float %5 1.0
         %7 = length %5
         return %3 %7 %6",
        "%8, %9 = fused {
           %1 = map greater.float %0 0.0
           %2 = pack %0 %1
           %4 = map less.float %0 0.0
           %5 = pack %0 %4
           %6 = map add.float %5 1.0
           yield %2 %6
         }
         %3 = length %8
         %7 = length %9
         return %3 %7 %9",
    );
}

#[test]
fn indices_stay_with_what_reads_them() {
    becomes(
        "%0: column float",
        "int",
        "%1 = length %0
         %2 = reduce.minimum.float %0
         %3 = iota %1
         %4 = map equal.float %0 %2
         %5 = pack %3 %4
         %6 = reduce.minimum.int %5
         return %6",
        "%1 = length %0
         %2 = reduce.minimum.float %0
         %7 = fused {
           %3 = iota %1
           %4 = map equal.float %0 %2
           %5 = pack %3 %4
           %6 = reduce.minimum.int %5
           yield %6
         }
         return %7",
    );
}

#[test]
fn segments_of_equal_lengths_have_as_many_elements() {
    becomes(
        "%0: descriptor, %1: column char",
        "column int",
        "%2 = compact %1 %0
         %3 = lengths %0
         %4 = packed %3
         %5 = seg_iota %4
         %6 = map char_to_code %2
         %7 = map add.int %5 %6
         %8 = seg_reduce.add.int %7 %4
         return %8",
        "%3 = lengths %0
         %4 = packed %3
         %9 = fused {
           %2 = compact %1 %0
           %5 = seg_iota %4
           %6 = map char_to_code %2
           %7 = map add.int %5 %6
           %8 = seg_reduce.add.int %7 %4
           yield %8
         }
         return %9",
    );
}

#[test]
fn what_moves_up_reads_nothing_that_stands_behind_the_group() {
    // The group ends where the range stood, until that turns out to be of no use to it.
    let body = "%2 = length %0
         %3 = map add.int %0 1
         %4 = reduce.add.int %3
         %5 = multiply.int %1 2
         %6 = iota %2
         %7 = less.int %1 0
         %8 = if %7 { yield 1 } else { yield 2 }
         %9 = map equal.int %0 %5
         %10 = map bool_to_int %9
         %11 = reduce.add.int %10
         return %4 %6 %8 %11";
    let mut program = parse(&text("%0: column int, %1: int", "int, column int, int, int", body)).unwrap();
    run(&mut program);
    assert_eq!(crate::verify(&program), Ok(()), "{program}");
}

#[test]
fn one_element_is_no_loop() {
    stays(
        "%0: column int, %1: column int, %2: int, %3: int",
        "column int, column int",
        "%4 = build %2
         %5 = build %3
         %6 = scatter %0 %4 %5
         %7 = scatter %1 %4 %5
         return %6 %7",
    );
}

#[test]
fn a_histogram_is_a_loop() {
    becomes(
        "%0: column int, %1: column int, %2: int",
        "column int",
        "%3 = length %1
         %4 = dist 1 %3
         %5 = map subtract.int %1 %2
         %6 = map check_index %5 9
         %7 = combine_by_index.add.int %0 %6 %4
         return %7",
        "%3 = length %1
         %8 = fused {
           %4 = dist 1 %3
           %5 = map subtract.int %1 %2
           %6 = map check_index %5 9
           %7 = combine_by_index.add.int %0 %6 %4
           yield %7
         }
         return %8",
    );
}

/// A row of a matrix is replaced by what is made of the row before.
#[test]
fn what_writes_to_a_column_reads_it_in_no_other_way() {
    becomes(
        "%0: column int, %1: int, %2: int",
        "column int",
        "%3 = slice %0 %1 %2
         %4 = map add.int %3 1
         %5 = iota %2
         %6 = map add.int %5 %1
         %7 = map multiply.int %4 %4
         %8 = scatter %0 %6 %7
         return %8",
        "%3 = slice %0 %1 %2
         %9 = fused {
           %4 = map add.int %3 1
           %7 = map multiply.int %4 %4
           yield %7
         }
         %10 = fused {
           %5 = iota %2
           %6 = map add.int %5 %1
           %8 = scatter %0 %6 %9
           yield %8
         }
         return %10",
    );
}

/// The indices are made of what the group makes: they stay in it.
#[test]
fn what_is_written_where_the_group_says_is_made_in_it() {
    becomes(
        "%0: column int, %1: column int, %2: int, %3: int",
        "column int, column int",
        "%4 = slice %0 %2 %3
         %5 = map add.int %4 1
         %6 = map minimum.int %5 9
         %7 = iota %3
         %8 = map add.int %7 %2
         %9 = scatter %0 %8 %5
         %10 = scatter %1 %6 %5
         return %9 %10",
        "%4 = slice %0 %2 %3
         %11, %12 = fused {
           %5 = map add.int %4 1
           %6 = map minimum.int %5 9
           %10 = scatter %1 %6 %5
           yield %5 %10
         }
         %13 = fused {
           %7 = iota %3
           %8 = map add.int %7 %2
           %9 = scatter %0 %8 %11
           yield %9
         }
         return %13 %12",
    );
}

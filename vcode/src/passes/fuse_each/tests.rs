//! Groups, the `each`es behind them and what reduces their results, before and after.

use super::*;
use crate::parse::numbered;
use crate::passes::number;
use crate::passes::testing::becomes;

/// A function with this body, and what an `each` names: g of two ints, and h of an int and a sequence: it gives both.
fn program(body: &str) -> String {
    format!(
        "function f(%0: int, %1: column int, %2: int) -> int {{
           {body}
         }}
         function g(%0: int, %1: int) -> int {{
           %2 = multiply.int %0 %1
           return %2
         }}
         function g/L(%0: int, %1: column int, %2: column int) -> column int {{
           %3 = map multiply.int %1 %2
           return %3
         }}
         function h(%0: int, %1: int, %2: column int) -> int, int, column int {{
           return %0 %1 %2
         }}
         function h/L(%0: int, %1: column int, %2: descriptor, %3: column int) -> column int, descriptor, column int {{
           return %1 %2 %3
         }}"
    )
}

/// Checks what a pass makes of a program, with registers numbered again.
#[track_caller]
fn text_becomes(pass: fn(&mut Program), before: &str, after: &str) {
    let mut expected = crate::parse(&numbered(after)).unwrap_or_else(|error| panic!("after: {error}"));
    number::run(&mut expected);
    let passes = |program: &mut Program| {
        pass(program);
        number::run(program);
    };
    becomes(passes, &numbered(before), &expected.to_string());
}

#[track_caller]
fn body_becomes(before: &str, after: &str) {
    text_becomes(run, &program(before), &program(after));
}

#[track_caller]
fn body_stays(body: &str) {
    body_becomes(body, body);
}

/// The group of a filter that computes both scalars of g, with what the flags are.
fn filter(flags: &str) -> String {
    format!(
        "%9, %10 = fused {{
           {flags}
           %4 = pack %1 %3
           %5 = map add.int %4 %0
           %6 = map subtract.int %4 7
           yield %5 %6
         }}"
    )
}

const INSTANCES: &str = "
    %11 = length %9
    %12 = each g g/L(of int, of int) -> int %11 %9 %10
    %13 = reduce.add.int %12";

#[test]
fn a_filter_and_what_it_is_for_are_one_loop() {
    body_becomes(
        &format!("{}{INSTANCES}\nreturn %13", filter("%3 = map less.int %1 %2")),
        "%13 = fused {
           %3 = map less.int %1 %2
           %4 = pack %1 %3
           %5 = map add.int %4 %0
           %6 = map subtract.int %4 7
           %7 = each g g/L(of int, of int) -> int %5 %6
           %8 = reduce.add.int %7
           yield %8
         }
         return %13",
    );
    // In a branch behind the group, and reduced in one behind that.
    body_becomes(
        &format!(
            "{}
             %20 = less.int %0 9
             %21 = if %20 {{
               %11 = length %10
               %12 = each g g/L(of int, of int) -> int %11 %10 %9
               %22 = if %20 {{ yield 1 }} else {{
                 %13 = reduce.maximum.int %12
                 yield %13
               }}
               yield %22
             }} else {{ yield 0 }}
             return %21",
            filter("%3 = map less.int %1 %2")
        ),
        "%20 = less.int %0 9
         %21 = if %20 {
           %13 = fused {
             %3 = map less.int %1 %2
             %4 = pack %1 %3
             %5 = map add.int %4 %0
             %6 = map subtract.int %4 7
             %7 = each g g/L(of int, of int) -> int %6 %5
             %8 = reduce.maximum.int %7
             yield %8
           }
           %22 = if %20 { yield 1 } else { yield %13 }
           yield %22
         } else { yield 0 }
         return %21",
    );
}

/// What becomes of a filter that stays a loop of its own, whose flags and what else it yields are given.
fn kept(flags: &str, others: &str, yielded: &str) -> String {
    format!(
        "{yielded}%14 = fused {{
           {flags}
           %4 = pack %1 %3
           {others}
         }}"
    )
}

#[test]
fn what_is_computed_for_instances_is_computed_there() {
    // What instances give is needed one by one.
    let stored = "
        %11 = length %9
        %12 = each g g/L(of int, of int) -> int %11 %9 %10
        %13 = extract %12 %2
        return %13";
    let instances = "
        %11 = length %14
        %12 = fused {
          %5 = map add.int %14 %0
          %6 = map subtract.int %14 7
          %7 = each g g/L(of int, of int) -> int %5 %6
          yield %7
        }
        %13 = extract %12 %2
        return %13";
    let flags = "%3 = map less.int %1 %2";
    body_becomes(
        &format!("{}{stored}", filter(flags)),
        &format!("{}{}", kept(flags, "yield %4", ""), instances.replace("%11 = length %14", "%15 = length %14")),
    );
    // The flags can fail, are much, or a call: they stay a loop of their own, whatever becomes of the rest.
    let sum = instances.replace("yield %7", "%8 = reduce.add.int %7\nyield %8").replace("%12 = fused", "%13 = fused");
    let sum = sum.replace("%13 = extract %12 %2", "");
    let much: String = (0..8).map(|index| format!("%{} = map add.int %{} 1\n", 31 + index, 30 + index)).collect();
    for flags in [
        "%30 = map modulo 7 %1\n%3 = map less.int %30 %2".to_owned(),
        "%30 = map int_to_float %1\n%31 = map sin %30\n%3 = map less.float %31 0.5".to_owned(),
        format!("%30 = map add.int %1 1\n{much}%3 = map less.int %38 %2"),
    ] {
        let before = format!("{}{INSTANCES}\nreturn %13", filter(&flags));
        body_becomes(&before, &format!("{}{sum}", kept(&flags, "yield %4", "")));
    }
}

#[test]
fn without_a_filter_it_is_computed_from_what_is_there() {
    // From the index, in a group with what others read, and by a single instruction.
    body_becomes(
        "%3 = length %1
         %10, %11 = fused {
           %4 = iota %3
           %5 = map multiply.int %4 %0
           %6 = map add.int %1 %4
           yield %5 %6
         }
         %12 = each g g/L(of int, of int) -> int %3 %10 %11
         %13 = map negate.int %1
         %14 = iota %3
         %15 = each g g/L(of int, of int) -> int %3 %14 %13
         %16 = map add.int %11 %15
         %17 = extract %16 0
         %18 = extract %12 0
         return %18",
        "%3 = length %1
         %11 = fused {
           %4 = iota %3
           %6 = map add.int %1 %4
           yield %6
         }
         %12 = fused {
           %20 = iota %3
           %21 = map multiply.int %20 %0
           %22 = each g g/L(of int, of int) -> int %21 %11
           yield %22
         }
         %15 = fused {
           %23 = iota %3
           %24 = map negate.int %1
           %25 = each g g/L(of int, of int) -> int %23 %24
           yield %25
         }
         %16 = map add.int %11 %15
         %17 = extract %16 0
         %18 = extract %12 0
         return %18",
    );
    // What can fail does so before the instances, and what is read elsewhere than at the index is a column.
    body_stays(
        "%3 = length %1
         %4 = map modulo %1 %0
         %5 = gather %1 %4
         %6 = each g g/L(of int, of int) -> int %3 %4 %5
         %7 = extract %6 0
         return %7",
    );
}

#[test]
fn what_others_read_stays_a_column() {
    // One of the scalars is read again: what is kept is yielded beside it.
    body_becomes(
        &format!(
            "{}{INSTANCES}
             %14 = extract %9 0
             %15 = add.int %13 %14
             return %15",
            filter("%3 = map less.int %1 %2")
        ),
        "%9, %10 = fused {
           %3 = map less.int %1 %2
           %4 = pack %1 %3
           %5 = map add.int %4 %0
           yield %5 %4
         }
         %11 = length %9
         %13 = fused {
           %6 = map subtract.int %10 7
           %7 = each g g/L(of int, of int) -> int %9 %6
           %8 = reduce.add.int %7
           yield %8
         }
         %14 = extract %9 0
         %15 = add.int %13 %14
         return %15",
    );
    // More would have to be kept than is yielded.
    body_stays(
        "%10 = fused {
           %3 = map less.int %1 %2
           %4 = pack %1 %3
           %5 = map multiply.int %1 %1
           %6 = pack %5 %3
           %7 = map add.int %4 %6
           yield %7
         }
         %11 = length %10
         %12 = each g g/L(of int, of int) -> int %11 %10 %1
         %13 = extract %12 %2
         return %13",
    );
}

#[test]
fn what_instances_give_is_reduced_where_they_give_it() {
    body_becomes(
        "%3 = length %1
         %4 = each g g/L(of int, of int) -> int %3 %1 %1
         %5 = reduce.minimum.int %4
         %6 = reduce.xor.int %4
         %7 = add.int %5 %6
         return %7",
        "%3 = length %1
         %5, %6 = fused {
           %8 = each g g/L(of int, of int) -> int %1 %1
           %9 = reduce.minimum.int %8
           %10 = reduce.xor.int %8
           yield %9 %10
         }
         %7 = add.int %5 %6
         return %7",
    );
    // Beside that, there are columns.
    body_becomes(
        "%3 = dist 2 %0
         %4 = packed %3
         %5, %6, %7 = each h h/L(of int, of [int]) -> int, [int] %0 %1 %4 %1
         %8 = reduce.add.int %5
         %9 = compact %7 %6
         %10 = reduce.add.int %9
         %11 = add.int %8 %10
         return %11",
        "%3 = dist 2 %0
         %4 = packed %3
         %6, %7, %8 = fused {
           %12, %13, %14 = each h h/L(of int, of [int]) -> int, [int] %1 %4 %1
           %15 = reduce.add.int %12
           yield %13 %14 %15
         }
         %9 = compact %7 %6
         %10 = reduce.add.int %9
         %11 = add.int %8 %10
         return %11",
    );
    // Another reader needs a column, too.
    body_becomes(
        "%3 = length %1
         %4 = each g g/L(of int, of int) -> int %3 %1 %1
         %5 = reduce.minimum.int %4
         %6 = extract %4 0
         %7 = add.int %5 %6
         return %7",
        "%3 = length %1
         %4, %5 = fused {
           %8 = each g g/L(of int, of int) -> int %1 %1
           %9 = reduce.minimum.int %8
           yield %8 %9
         }
         %6 = extract %4 0
         %7 = add.int %5 %6
         return %7",
    );
    // Sums by segments are none of all.
    body_stays(
        "%3 = length %1
         %4 = each g g/L(of int, of int) -> int %3 %1 %1
         %5 = build %3
         %6 = packed %5
         %7 = seg_reduce.add.int %4 %6
         %8 = extract %7 0
         return %8",
    );
}

/// An `each`, and a group behind it.
fn reducing(between: &str, members: &str, yields: &str) -> String {
    format!(
        "%3 = length %1
         %4 = each g g/L(of int, of int) -> int %3 %1 %1
         {between}
         %12 = fused {{
           {members}
           yield {yields}
         }}"
    )
}

#[test]
fn operations_before_a_reduction_are_done_where_it_is() {
    body_becomes(
        &format!(
            "{}
             return %12",
            reducing("", "%5 = map multiply.int %4 %0\n%6 = map subtract.int %5 %4\n%7 = reduce.add.int %6", "%7")
        ),
        "%3 = length %1
         %12 = fused {
           %4 = each g g/L(of int, of int) -> int %1 %1
           %5 = map multiply.int %4 %0
           %6 = map subtract.int %5 %4
           %7 = reduce.add.int %6
           yield %7
         }
         return %12",
    );
    let stays = |between: &str, members: &str, yields: &str| {
        body_stays(&format!("{}\nreturn %0", reducing(between, members, yields)));
    };
    // It needs a scalar that comes later, a column, or can fail; it gives a column; its order counts.
    stays("%11 = add.int %0 1", "%5 = map multiply.int %4 %11\n%7 = reduce.add.int %5", "%7");
    stays("", "%5 = map multiply.int %4 %1\n%7 = reduce.add.int %5", "%7");
    stays("", "%5 = map divide.int %4 %0\n%7 = reduce.add.int %5", "%7");
    stays("", "%5 = map add.int %4 %0\n%7 = scan.add.int %5", "%7");
    stays("", "%5 = map int_to_float %4\n%7 = reduce.add.float %5", "%7");
}

#[test]
fn groups_with_an_each_come_apart_again() {
    let text = program(
        "%13 = fused {
           %3 = map less.int %1 %2
           %4 = pack %1 %3
           %7 = each g g/L(of int, of int) -> int %4 %4
           %8 = reduce.add.int %7
           yield %8
         }
         return %13",
    );
    let apart = program(
        "%3 = map less.int %1 %2
         %4 = pack %1 %3
         %5 = length %4
         %7 = each g g/L(of int, of int) -> int %5 %4 %4
         %8 = reduce.add.int %7
         return %8",
    );
    text_becomes(crate::passes::fuse::split, &text, &apart);
}

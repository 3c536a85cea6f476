//! Instances in a group with a filter, against the same in Rust.

use crate::Status;
use crate::function::tests::{numbered, run, run_in};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

/// `sum({g(k * x, x + 5) : x in [0:n] | flags})` where g is `serial` of its arguments `%0` and `%1`. The numbers are in
/// a column, or each is its index; the flags are computed with them, from %2 as %6, or come from before, as `flags`
/// says with %6 in its last line.
fn instances(numbers: &str, before: &str, flags: &str, serial: &str) -> String {
    let [column, index] = if numbers == "column" { ["%2 = iota %0", ""] } else { ["", "%2 = iota %0"] };
    numbered(&format!(
        "function f(%0: int, %1: int) -> int {{
           {column}
           {before}
           %14 = fused {{
             {index}
             {flags}
             %7 = pack %2 %6
             %10 = map multiply.int %1 %7
             %11 = map add.int %7 5
             %12 = each g g/LL(of int, of int) -> int %10 %11
             %13 = reduce.add.int %12
             yield %13
           }}
           return %14
         }}
         function g(%0: int, %1: int) -> int {{
           %2 = {serial} %0 %1
           return %2
         }}
         function g/LL(%0: int, %1: column int, %2: column int) -> column int {{
           %3 = map {serial} %1 %2
           return %3
         }}"
    ))
}

/// Lengths about the number of bits in a word, and what loops take at a time.
const LENGTHS: [i64; 24] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 15, 16, 61, 63, 64, 65, 66, 77, 127, 128, 300];

type Predicate = fn(i64, i64) -> bool;

/// What is true at an element x and for a scalar k, in operations for two indices and others.
const FLAGS: [(&str, Predicate); 7] = [
    ("%3 = map and.int %2 %1\n%6 = map equal.int %3 0", |x, k| x & k == 0),
    ("%3 = map remainder %2 3\n%6 = map equal.int %3 0", |x, _| x % 3 == 0),
    ("%3 = map greater.int %2 %1\n%4 = map less.int %2 65\n%6 = map and.bool %3 %4", |x, k| x > k && x < 65),
    ("%3 = map equal.int %2 %1\n%6 = map not.bool %3", |x, k| x != k),
    ("%3 = map int_to_float %2\n%6 = map less.float %3 64.5", |x, _| x <= 64),
    ("%6 = map less.int %2 0", |_, _| false),
    ("%6 = map at_least.int %2 0", |_, _| true),
];

#[test]
fn instances_are_where_a_filter_is_true() {
    for (flags, is_true) in FLAGS {
        for n in LENGTHS {
            for k in [0, 1, 6, 64, -3] {
                let kept = (0..n).filter(|&x| is_true(x, k));
                let sum = kept.map(|x| k * x - (x + 5)).sum::<i64>();
                let check = |text: &str| {
                    let (status, words) = run(text, &[n as u64, k as u64], 1);
                    assert_eq!((status, words[0] as i64), (Status::Done, sum), "{n} {k} {text}");
                };
                check(&instances("column", "", flags, "subtract.int"));
                check(&instances("index", "", flags, "subtract.int"));
                check(&instances("column", flags, "", "subtract.int"));
            }
        }
    }
}

#[test]
fn nothing_is_kept_in_memory() {
    let n = 1 << 22;
    for (flags, is_true) in FLAGS {
        let text = instances("index", "", flags, "subtract.int");
        let sum = (0..n).filter(|&x| is_true(x, 6)).map(|x| 6 * x - (x + 5)).sum::<i64>();
        let (status, words) = run_in(1 << 10, None, &text, &[n as u64, 6], 1);
        assert_eq!((status, words[0] as i64), (Status::Done, sum), "{text}");
    }
}

#[test]
fn what_fails_gives_up_where_it_is_computed() {
    // The second argument is never 0, the first is for x = 0 alone.
    let of_instances = |flags| instances("index", "", flags, "modulo");
    assert_eq!(run(&of_instances("%6 = map at_least.int %2 0"), &[70, 1], 1).0, Status::Done);
    let swapped = of_instances("%6 = map at_least.int %2 %1").replace("modulo %0 %1", "modulo %1 %0");
    assert_eq!(run(&swapped, &[70, 1], 1).0, Status::Done, "x = 0 is not kept");
    let swapped = of_instances("%6 = map at_least.int %2 0").replace("modulo %0 %1", "modulo %1 %0");
    assert_eq!(run(&swapped, &[70, 1], 1).0, Status::GaveUp, "x = 0 is kept");
}

#[test]
fn an_interrupt_ends_a_filter_that_keeps_nothing() {
    let text = instances("index", "", "%6 = map less.int %2 0", "subtract.int");
    let flag = AtomicBool::new(false);
    let status = std::thread::scope(|scope| {
        let run = scope.spawn(|| run_in(1 << 10, Some(&flag), &text, &[(1 << 40) - 1, 1], 1).0);
        std::thread::sleep(Duration::from_millis(50));
        flag.store(true, Relaxed);
        run.join().unwrap()
    });
    assert_eq!(status, Status::Interrupted);
}

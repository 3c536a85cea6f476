//! Functions that are not recursive leave no calls behind, whatever can go wrong in them; and no error, with the calls
//! that led to it, tells whether its function was inlined.

#![allow(clippy::unwrap_used, reason = "a panic in a helper is a failed test")]

use nesl_backend::io::host::System;
use nesl_backend::{Limits, Loaded, Machine, Reference, RuntimeError, Strategy};
use nesl_tests::engines::{self, Passes};
use nesl_tests::session;
use nesl_vcode::Counts;
use std::sync::Arc;

/// Programs that call library functions and their own, on rows of what they get.
const STRAIGHT: &[&str] = &[
    "function main(m) : [[float]] -> [[float]] = {rotate(r, 1) : r in m};",
    "function main(m) : [[float]] -> [[float]] = {take(drop(r, 2), -1) : r in m};",
    "function main(m, k) : ([[int]], [int]) -> [([int], [int])] = {(take(r, i), drop(r, i)) : r in m; i in k};",
    "function main(m) : [[char]] -> [[char]] = {reverse(even_elts(r)) ++ odd_elts(r) : r in m};",
    "function main(m) : [[int]] -> [[int]] = {let (x, rest) = head_rest(r) in rest : r in m};",
    "function main(m) : [[float]] -> [([float], float)] = {rest_tail(r) : r in m};",
    "function between(x, low, high) = max(low, min(x, high));
     function smooth(r) =
       let n = #r in {(r[between(i - 1, 0, n - 1)] + r[between(i + 1, 0, n - 1)]) / 2.0 : i in index(n)};
     function main(m) : [[float]] -> [[float]] = {smooth(smooth(r)) : r in m};",
    "function runs(v) = {i in index(#v) | i == 0 or not(v[i] == v[max(i - 1, 0)])};
     function main(m) : [[char]] -> [[int]] = {runs(r) : r in m};",
    "function weigh(r, w) = sum({x * y : x in r; y in w}) / sum(w);
     function main(m, w) : ([[float]], [float]) -> [float] = {weigh(r, w) : r in m};",
    "function inverse(p) = permute(index(#p), p);
     function main(m) : [[int]] -> [[int]] = {inverse(inverse(r)) : r in m};",
    "function main(v, n) : ([int], int) -> int = sum(rotate(v, n)) + #take(v, n) + #drop(v, n);",
];

#[test]
fn no_calls_are_left() {
    for text in STRAIGHT {
        let program = session::check(text, None).unwrap();
        let program = engines::compile(&program, Passes::All).unwrap();
        let counts = Counts::of_program(&program);
        assert_eq!((counts.get("each"), counts.get("call")), (0, 0), "{text}\n{program}");
    }
}

/// Programs that fail, in functions that are inlined: at once, in calls of calls, for some of the instances, where
/// there is a branch around it, in what all instances share.
const FAILING: &[&str] = &[
    "take([1, 2, 3], 5);",
    "{take(r, 3) : r in [\"abcd\", \"ab\", \"a\"]};",
    "{drop(r, -3) : r in [\"abcd\", \"ab\", \"a\"]};",
    "function cut(r, n) = drop(take(r, n), n - 1); function twice(r) = cut(r, 2) ++ cut(r, 3); \
     {twice(r) : r in [\"abc\", \"xy\"]};",
    "function part(x, n) = if x > 2 then n / (x - 3) else n; function all_parts(v) = {part(x, 6) : x in v}; \
     {all_parts(v) : v in [[1, 2], [4, 3], [3]]};",
    "function share(n, v) = 100 / n + sum(v); {{share(k, v) : v in [[1], []]} : k in [5, 0]};",
    "function share(n, x) = x + 100 / n; function main() = 0; {share(0, x) : x in [1, 2]};",
    "{head_rest(r) : r in [[1], [] int]};",
    "function moved(r, p) = permute(r, p); {moved(r, p) : r in [\"ab\", \"ab\"]; p in [[1, 0], [1, 1]]};",
    "function parts(r, n) = partition(r, [1, n]); {parts(r, n) : r in [\"abc\", \"ab\"]; n in [2, 2]};",
    "{transpose(m) : m in [[[1, 2], [3, 4]], [[1], [2, 3]]]};",
    "function at(v, i) = v[i]; function corners(v, w) = (at(v, 0), at(v, #v - 1), at(w, #v)); \
     {corners(v, [7, 8]) : v in [[1], [2, 3]]};",
    "function step(v, i) = v <- [(i, 1 / (#v - i))]; function steps(v, i) = step(step(v, i), i + 1); \
     {steps(v, i) : v in [[0, 0, 0], [0, 0]]; i in [0, 1]};",
];

/// The error that a program ends with, compiled with or without calls.
fn failure(text: &str, passes: Passes) -> RuntimeError {
    let checked = session::check(text, None).unwrap_or_else(|end| panic!("{end}\n{text}"));
    let program = Loaded::new(Arc::new(engines::compile(&checked, passes).unwrap()));
    let mut machine = Machine::new(Reference::new(None), Limits::default(), Box::new(System::default()));
    machine.set_strategy(Strategy::Lift);
    let failed = (program.program().steps.iter()).find_map(|step| machine.run_step(&program, step, 0, &[]).err());
    failed.unwrap_or_else(|| panic!("nothing fails in {text}"))
}

#[test]
fn errors_keep_the_calls_that_are_gone() {
    for text in FAILING {
        let called = failure(text, Passes::Without("inline"));
        assert_eq!(failure(text, Passes::All), called, "{text}");
        assert!(!called.calls.is_empty(), "{text}");
    }
}

#[test]
fn nothing_is_computed_for_no_instances() {
    for text in [
        "function share(n, x) = x + 100 / n; {share(0, x) : x in [] int};",
        "function first(v, x) = v[0] + x; {first([] int, x) : x in [] int};",
        "function cut(v, x) = #take(v, 5) + x; {cut(\"abc\", x) : x in [] int};",
        "function pick(v, x, n) = if x > n then v[n] else 1 / n; \
         {{pick(v, x, 0) : x in w} : v in [[] int]; w in [[] int]};",
    ] {
        for passes in [Passes::All, Passes::Without("inline")] {
            let checked = session::check(text, None).unwrap_or_else(|end| panic!("{end}\n{text}"));
            let program = Loaded::new(Arc::new(engines::compile(&checked, passes).unwrap()));
            let mut machine = Machine::new(Reference::new(None), Limits::default(), Box::new(System::default()));
            machine.set_strategy(Strategy::Lift);
            for step in &program.program().steps {
                assert!(machine.run_step(&program, step, 0, &[]).is_ok(), "{text}");
            }
        }
    }
}

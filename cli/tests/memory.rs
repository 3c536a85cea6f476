//! How much memory a process takes for what a program holds.

#![cfg(target_os = "linux")]

mod common;

use common::Bench;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;

/// A session's input on one line, which sorts so many ints.
fn quicksort(elements: u64) -> String {
    let function = "function quicksort(a) = if #a < 2 then a else \
         let pivot = a[#a / 2]; lesser = {e in a | e < pivot}; equal = {e in a | e == pivot}; \
         greater = {e in a | e > pivot}; sorted = {quicksort(v) : v in [lesser, greater]} \
         in sorted[0] ++ equal ++ sorted[1];";
    format!(
        "{function}\nlet v = {{rand(1000000000) : i in [0:{elements}]}}; s = quicksort(v) in all({{x == y : x in s; y in sort(v)}});\n"
    )
}

/// The most that a process had in memory when it had sorted so many ints, in bytes.
#[allow(clippy::unwrap_used, reason = "a panic in a helper is a failed test")]
fn peak(elements: u64, threads: u32) -> u64 {
    let bench = Bench::new();
    let mut command = bench.command(Path::new(env!("CARGO_BIN_EXE_nesl")));
    let command = command.args(["repl", "--threads", &threads.to_string()]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    // It waits for more as long as this is open.
    let mut input = child.stdin.take().unwrap();
    input.write_all(quicksort(elements).as_bytes()).unwrap();
    let lines: Vec<String> =
        BufReader::new(child.stdout.take().unwrap()).lines().take(2).collect::<Result<_, _>>().unwrap();
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    drop(input);
    assert!(child.wait().unwrap().success());
    assert_eq!(lines[1], "it = t : bool");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

/// The input and what it is taken apart into, the sorted parts, and what an instance on each thread has in its hands.
#[test]
fn a_quicksort_takes_no_more_than_six_times_its_input() {
    const ELEMENTS: u64 = 5_000_000;
    for threads in [1, 2] {
        let (least, most) = (peak(10, threads), peak(ELEMENTS, threads));
        let times = most.saturating_sub(least) as f64 / (8 * ELEMENTS) as f64;
        eprintln!("a quicksort on {threads} threads: {times:.1} times its input");
        assert!(times < 6.0, "{times} times the input on {threads} threads");
    }
}

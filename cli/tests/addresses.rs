//! Programs where the system limits the addresses of a process: they run, or end with an error of theirs.

#![cfg(target_os = "linux")]

mod common;

use common::{Bench, Ran, finish};
use std::path::Path;

/// Runs a file with so many KiB of addresses on so many threads.
fn limited(bench: &Bench, file: &str, kibibytes: u32, threads: u32) -> Ran {
    let script = format!("ulimit -v {kibibytes}; exec \"$0\" run --threads {threads} {file}");
    let mut shell = bench.command(Path::new("sh"));
    finish(shell.args(["-c", &script, env!("CARGO_BIN_EXE_nesl")]), "")
}

#[test]
fn programs_run_or_end_with_an_error_however_few_addresses_there_are() {
    let bench = Bench::with("small.nesl", "sum({x * x : x in [0:1000]});");
    bench.write("deep.nesl", "function descend(n) = if n == 0 then 0 else 1 + descend(n - 1);\ndescend(10000);");
    bench.write("endless.nesl", "function descend(n) = 1 + descend(n + 1);\ndescend(0);");
    bench.write("grow.nesl", "function grow(v) = grow(v ++ v);\nsum(grow([0:1000]));");
    bench.write("native.nesl", "sum({sum(sort({rem(j * 7919, i + 7) : j in [0:i]})) : i in [0:500]}) > 0;");
    for kibibytes in [200_000, 400_000, 600_000, 1_500_000] {
        for threads in [1, 2, 8] {
            let limited = |file| limited(&bench, file, kibibytes, threads);
            limited("small.nesl").prints("332833500\n");
            limited("deep.nesl").prints("10000\n");
            limited("native.nesl").prints("t\n");
            limited("endless.nesl").fails(1, &["E0421", "recursion deeper than", "in `descend`"]);
            limited("grow.nesl").fails(1, &["E0420", "out of memory", "in `grow`"]);
        }
    }
}

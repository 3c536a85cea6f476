//! `nesl watch` at a terminal: values beside lines, again whenever a file is saved, also in the middle of a run.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a panic in a helper is a failed test")]

mod common;

use common::Bench;
use rexpect::session::{Options, spawn_with_options};
use std::path::Path;

#[test]
fn a_file_is_shown_again_when_it_or_what_it_imports_is_saved() {
    let bench = Bench::with(
        "a.nesl",
        "import \"b.nesl\";\nfunction twice(x) = 2 * x;\n(u, v) = (twice(base), [1, 2]);\nu + 1;\n",
    );
    bench.write("b.nesl", "base = 10;\n");
    let mut command = bench.command(Path::new(env!("CARGO_BIN_EXE_nesl")));
    command.args(["watch", "a.nesl"]).env("TERM", "xterm").env("NO_COLOR", "1");
    let mut session = spawn_with_options(command, Options::new().timeout_ms(Some(60_000))).unwrap();
    session.exp_string("\u{1b}[H").unwrap();
    session.exp_string("   2  function twice(x) = 2 * x;").unwrap();
    session.exp_string("  : int -> int").unwrap();
    session.exp_string("   3  (u, v) = (twice(base), [1, 2]);").unwrap();
    session.exp_string("  = 20 : int, [1, 2] : [int]").unwrap();
    session.exp_string("   4  u + 1;").unwrap();
    session.exp_string("= 21 : int").unwrap();
    session.exp_string("waits for changes").unwrap();
    bench.write("b.nesl", "base = 100;\n");
    session.exp_string("= 201 : int").unwrap();
    session.exp_string("waits for changes").unwrap();
    // Errors, at compile time and at run time, and then it goes on.
    bench.write("a.nesl", "1 + t;\n");
    session.exp_string("E0202").unwrap();
    session.exp_string("waits for changes").unwrap();
    bench.write("a.nesl", "x = 5;\n[1][x];\n");
    session.exp_string("x = 5;").unwrap();
    session.exp_string("E0401").unwrap();
    session.exp_string("waits for changes").unwrap();
    // What never ends is ended by the next version.
    bench.write("a.nesl", "function fib(n) = if n < 2 then n else fib(n - 1) + fib(n - 2);\nfib(90);\n");
    session.exp_string("function fib(n) = if n < 2").unwrap();
    std::thread::sleep(std::time::Duration::from_millis(500));
    bench.write("a.nesl", "y = 7;\n");
    session.exp_string("y = 7;  = 7 : int").unwrap();
    session.exp_string("waits for changes").unwrap();
    session.send_control('c').unwrap();
    session.exp_string("interrupted").unwrap();
    session.exp_eof().unwrap();
}

#[test]
fn what_cannot_be_watched_is_refused() {
    let bench = Bench::new();
    bench.nesl(&["watch", "nothing.nesl"]).fails(1, &["cannot read nothing.nesl"]);
    bench.nesl(&["watch", "-"]).fails(2, &["takes a file"]);
    bench.nesl(&["watch", "--engine", "oracle", "a.nesl"]).fails(2, &["one process"]);
}

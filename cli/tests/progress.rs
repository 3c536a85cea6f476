//! The line that says how an evaluation goes on: at a terminal alone, and never in the way of what is said there.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a panic in a helper is a failed test")]

mod common;

use common::Bench;
use rexpect::session::{Options, PtySession, spawn_with_options};
use std::path::Path;

/// What never ends, on one element after another.
const ENDLESS: &str = "function turn(v) = if sum({sin(x) : x in v}) > 1.0e9 then v else turn({x + 1.0 : x in v})";

/// What erases a line.
const EMPTY_LINE: &str = "\r\u{1b}[K";

/// Starts the command at a pseudo-terminal.
fn start(bench: &Bench, arguments: &[&str]) -> PtySession {
    let mut command = bench.command(Path::new(env!("CARGO_BIN_EXE_nesl")));
    command.args(arguments).env("TERM", "xterm").env("NO_COLOR", "1");
    spawn_with_options(command, Options::new().timeout_ms(Some(60_000))).unwrap()
}

#[test]
fn a_session_says_what_runs_and_erases_that_when_it_is_done() {
    let bench = Bench::new();
    let mut session = start(&bench, &[]);
    session.exp_string("nesl> ").unwrap();
    session.send_line(ENDLESS).unwrap();
    session.exp_string("turn = fn : ").unwrap();
    session.exp_string("nesl> ").unwrap();
    session.send_line("turn({float(i) : i in [0:100000]})").unwrap();
    session.exp_string(" 1 s   ").unwrap();
    session.exp_string(" elements   ").unwrap();
    session.exp_string("iB   <input ").unwrap();
    session.exp_string(" 2 s   ").unwrap();
    session.send_control('c').unwrap();
    let before = session.exp_string("interrupted").unwrap();
    let (_, last) = before.rsplit_once(EMPTY_LINE).unwrap();
    assert!(!last.contains("elements"), "{before:?}");
    session.exp_string("nesl> ").unwrap();
    session.send_line(":set progress off").unwrap();
    session.exp_string("nesl> ").unwrap();
    session.send_line("turn({float(i) : i in [0:100000]})").unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1800));
    session.send_control('c').unwrap();
    let before = session.exp_string("interrupted").unwrap();
    assert!(!before.contains("elements"), "{before:?}");
    session.send_line(":quit").unwrap();
    session.exp_eof().unwrap();
}

#[test]
fn an_interrupt_erases_it_first() {
    let bench = Bench::new();
    bench.write("a.nesl", format!("{ENDLESS};\nturn({{float(i) : i in [0:100000]}});\n"));
    let mut run = start(&bench, &["a.nesl"]);
    run.exp_string("iB   a.nesl:").unwrap();
    // The cursor waits before the line, so that `^C` makes no second one of it.
    run.exp_string("\r").unwrap();
    std::thread::sleep(std::time::Duration::from_millis(20));
    run.send_control('c').unwrap();
    let after = run.exp_string("interrupted").unwrap();
    let (_, last) = after.rsplit_once(EMPTY_LINE).unwrap();
    assert!(!last.contains("elements"), "{after:?}");
}

/// The command line of a run that ends after two seconds.
fn limited<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["run", "--time-limit", "2s"], more].concat()
}

#[test]
fn a_run_says_it_unless_it_speaks_itself_or_nobody_wants_that() {
    let bench = Bench::new();
    bench.write("a.nesl", format!("{ENDLESS};\nturn({{float(i) : i in [0:100000]}});\n"));
    bench.write(
        "b.nesl",
        format!("{ENDLESS};\nprint_line(\"on its way\");\nlet u = print_line(\"here\") in turn([0.5]);\n"),
    );
    let mut shown = start(&bench, &limited(&["a.nesl"]));
    shown.exp_string("iB   a.nesl:").unwrap();
    shown.exp_string("E0427").unwrap();
    for arguments in [&["--no-progress", "a.nesl"][..], &["b.nesl"], &["--message-format", "json", "a.nesl"]] {
        let mut quiet = start(&bench, &limited(arguments));
        let said = quiet.exp_string("E0427").unwrap();
        assert!(!said.contains("elements"), "{arguments:?}: {said:?}");
    }
    // Who reads a pipe reads answers and messages.
    let piped = bench.nesl(&limited(&["a.nesl"]));
    assert!(piped.code == Some(124) && !piped.err.contains("elements") && !piped.err.contains('\u{1b}'), "{piped:?}");
}

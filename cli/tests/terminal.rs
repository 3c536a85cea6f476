//! The session at a terminal: editing, history across sessions, completion, Ctrl-C, inputs of several lines.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a panic in a helper is a failed test")]

mod common;

use common::Bench;
use rexpect::session::{Options, PtySession, spawn_with_options};
use std::path::Path;
use std::time::{Duration, Instant};

/// Starts a session at a pseudo-terminal.
fn start(bench: &Bench) -> PtySession {
    let mut command = bench.command(Path::new(env!("CARGO_BIN_EXE_nesl")));
    command.env("TERM", "xterm").env("NO_COLOR", "1");
    let options = Options::new().timeout_ms(Some(60_000));
    let mut session = spawn_with_options(command, options).unwrap();
    session.exp_string(":help lists the commands").unwrap();
    session.exp_string("nesl> ").unwrap();
    session
}

#[test]
fn lines_are_edited_continued_completed_and_remembered() {
    let bench = Bench::new();
    let mut session = start(&bench);
    session.send_line("1 + 2;").unwrap();
    session.exp_string("it = 3 : int").unwrap();
    // An input of two lines.
    session.send_line("sum([4,").unwrap();
    session.exp_string("....> ").unwrap();
    session.send_line("5]);").unwrap();
    session.exp_string("it = 9 : int").unwrap();
    // Editing: to the start of the line (Ctrl-A), a digit, and on.
    session.send("2 * 100;\u{1}1\r").unwrap();
    session.flush().unwrap();
    session.exp_string("it = 1200 : int").unwrap();
    // Completion of a name of the session, by Tab.
    session.send_line("unmistakable = 77;").unwrap();
    session.exp_string("unmistakable = 77 : int").unwrap();
    session.send("unmis\t;\r").unwrap();
    session.flush().unwrap();
    session.exp_string("it = 77 : int").unwrap();
    // Ctrl-C at the prompt drops the line.
    session.send("1 / 0").unwrap();
    session.flush().unwrap();
    session.exp_string("1 / 0").unwrap();
    session.send_control('c').unwrap();
    session.exp_string("nesl> ").unwrap();
    session.send_line("6 * 7;").unwrap();
    session.exp_string("it = 42 : int").unwrap();
    session.send_control('d').unwrap();
    session.exp_eof().unwrap();

    // The last input but one of that session, by two steps up in the history of the next.
    let mut session = start(&bench);
    session.send("\u{1b}[A\u{1b}[A\u{1b}[A\r").unwrap();
    session.flush().unwrap();
    session.exp_string("unmistakable = 77 : int").unwrap();
    session.send_line(":quit").unwrap();
    session.exp_eof().unwrap();
}

/// Interrupts an evaluation that would not end; says how long that takes, for whoever runs this with `--nocapture`.
fn interrupt(session: &mut PtySession, input: &str) {
    session.send_line(input).unwrap();
    std::thread::sleep(Duration::from_millis(500));
    let start = Instant::now();
    session.send_control('c').unwrap();
    session.exp_string("interrupted").unwrap();
    eprintln!("{input} interrupted after {:?}", start.elapsed());
    session.exp_string("nesl> ").unwrap();
}

#[test]
fn an_interrupt_ends_an_evaluation_and_not_the_session() {
    let bench = Bench::new();
    let mut session = start(&bench);
    session.send_line("function fib(n) = if n < 2 then n else fib(n - 1) + fib(n - 2);").unwrap();
    session.exp_string("fib = fn : int -> int").unwrap();
    interrupt(&mut session, "fib(80);");
    session.send_line("fib(10);").unwrap();
    session.exp_string("it = 55 : int").unwrap();
    session.send_line(":quit").unwrap();
    session.exp_eof().unwrap();
}

#[test]
fn an_interrupt_ends_instructions_on_many_elements() {
    let bench = Bench::new();
    let mut session = start(&bench);
    // The answer to each is awaited: an interrupt drops what was typed ahead.
    for (definition, answer) in [
        ("v = [0:10000000];", "v = [0, 1, 2"),
        ("w = {float(i) : i in v};", "w = [0.0, 1.0, 2.0"),
        ("function map(a) = if any({sin(x) > 2.0 : x in w}) then 0 else map(a);", "map = fn : "),
        ("function spread(a) = if #(v <- {(i, 1) : i in v}) < 0 then 0 else spread(a);", "spread = fn : "),
        ("function add(a) = if sum(plus_scan(w)) < 0.0 then 0 else add(a);", "add = fn : "),
        ("function show(a) = if #{@x : x in w} < 0 then 0 else show(a);", "show = fn : "),
    ] {
        session.send_line(definition).unwrap();
        session.exp_string(answer).unwrap();
        session.exp_string("nesl> ").unwrap();
    }
    for call in ["map(0);", "spread(0);", "add(0);", "show(0);"] {
        interrupt(&mut session, call);
    }
    session.send_line("v[7];").unwrap();
    session.exp_string("it = 7 : int").unwrap();
    session.send_line(":quit").unwrap();
    session.exp_eof().unwrap();
}

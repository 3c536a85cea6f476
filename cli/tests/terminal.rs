//! The session at a terminal: editing, history across sessions, completion, Ctrl-C, inputs of several lines.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a panic in a helper is a failed test")]

mod common;

use common::Bench;
use rexpect::session::{Options, PtySession, spawn_with_options};
use std::path::Path;

/// Starts a session at a pseudo-terminal.
fn start(bench: &Bench) -> PtySession {
    let mut command = bench.command(Path::new(env!("CARGO_BIN_EXE_nesl")));
    command.env("TERM", "xterm").env("NO_COLOR", "1");
    let options = Options::new().timeout_ms(Some(20_000));
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

#[test]
fn an_interrupt_ends_an_evaluation_and_not_the_session() {
    let bench = Bench::new();
    let mut session = start(&bench);
    session.send_line("function fib(n) = if n < 2 then n else fib(n - 1) + fib(n - 2);").unwrap();
    session.exp_string("fib = fn : int -> int").unwrap();
    session.send_line("fib(80);").unwrap();
    std::thread::sleep(std::time::Duration::from_millis(500));
    session.send_control('c').unwrap();
    session.exp_string("interrupted").unwrap();
    session.send_line("fib(10);").unwrap();
    session.exp_string("it = 55 : int").unwrap();
    session.send_line(":quit").unwrap();
    session.exp_eof().unwrap();
}

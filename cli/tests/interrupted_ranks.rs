//! Ctrl-C in a session on ranks: it ends the evaluation on all of them, wherever each is, and the session goes on.
//!
//! Needs the feature `mpi` and a launcher; skipped without a launcher.
#![cfg(all(target_os = "linux", feature = "mpi"))]
#![allow(clippy::unwrap_used, reason = "a panic in a helper is a failed test")]

mod common;

use common::{Bench, launcher, turn};
use rexpect::session::{Options, PtySession, spawn_with_options};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What no evaluation takes to end.
const GENEROUS: Duration = Duration::from_secs(30);

/// Definitions, each with the start of its answer.
const DEFINITIONS: [(&str, &str); 10] = [
    ("v = {rem(i * 7919, 1000003) : i in [0:1000003]};", "v = ["),
    ("w = {float(i) : i in v};", "w = ["),
    ("function fib(n) = if n < 2 then n else fib(n - 1) + fib(n - 2);", "fib = fn : "),
    ("function add(a) = if sum({x + a : x in v}) < 0 then a else add(a);", "add = fn : "),
    ("function map(a) = if any({sin(x) > 2.0 : x in w}) then a else map(a);", "map = fn : "),
    ("function order(a) = if sum(sort(v)) < 0 then a else order(a);", "order = fn : "),
    // Of these, the ranks where one begins and ends send float sums to each other.
    ("parts = partition(w, [300000, 400003, 300000]);", "parts = [["),
    ("function cross(a) = if any({sum(s) < 0.0 : s in parts}) then a else cross(a);", "cross = fn : "),
    // Columns that move together, all elements and one of them.
    (
        "function pairs(a) = let p = permute(zip(v, w), v); (x, y) = p[a] in if float(x) + y < 0.0 then a else pairs(rem(a + 1, 1000));",
        "pairs = fn : ",
    ),
    ("function scan(a) = if sum(plus_scan(w)) < 0.0 then a else scan(a);", "scan = fn : "),
];

/// What does not end: native code that all ranks run alike, native code of their own on all ranks and on one while the
/// others wait for it, and instructions on what all ranks hold, with and without messages.
const ENDLESS: [&str; 9] = [
    "fib(90);",
    "sum({fib(80 + rem(i, 3)) : i in [0:5000]});",
    "sum({if i == 0 then fib(90) else i : i in [0:5000]});",
    "add(0);",
    "map(0);",
    "order(0);",
    "cross(0);",
    "scan(0);",
    "pairs(0);",
];

const SUM: &str = "it = 500002500003 : int";

fn start(bench: &Bench, ranks: &str) -> PtySession {
    let mut command = bench.command(Path::new(env!("CARGO_BIN_EXE_nesl")));
    command.args(["repl", "--ranks", ranks, "--threads", "1"]).env("TERM", "xterm").env("NO_COLOR", "1");
    let mut session = spawn_with_options(command, Options::new().timeout_ms(Some(60_000))).unwrap();
    session.exp_string(":help lists the commands").unwrap();
    session.exp_string("nesl> ").unwrap();
    session
}

fn answers(session: &mut PtySession, input: &str, answer: &str) {
    session.send_line(input).unwrap();
    session.exp_string(answer).unwrap();
    session.exp_string("nesl> ").unwrap();
}

fn ended(session: PtySession, code: i32) {
    let status = format!("{:?}", session.process().wait());
    assert!(status.starts_with("Ok(Exited(") && status.ends_with(&format!(", {code}))")), "{status}");
}

#[test]
fn an_interrupt_ends_the_evaluation_on_all_ranks() {
    if launcher().is_none() {
        return;
    }
    let _turn = turn();
    let bench = Bench::new();
    let mut session = start(&bench, "3");
    for (definition, answer) in DEFINITIONS {
        answers(&mut session, definition, answer);
    }
    let rounds = std::env::var("NESL_FAULT_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(0);
    for round in 0..rounds.max(20) {
        let input = ENDLESS[round % ENDLESS.len()];
        // The first answer says that the terminal takes interrupts again.
        session.send_line(&format!("{round}; {input}")).unwrap();
        session.exp_string(&format!("it = {round} : int")).unwrap();
        // Perhaps before the second form is compiled, in the middle, and after a while.
        std::thread::sleep(Duration::from_millis([0, 5, 30, 200, 500][round % 5]));
        let begun = Instant::now();
        session.send_control('c').unwrap();
        session.exp_string("interrupted").unwrap();
        eprintln!("{input} interrupted after {:?}", begun.elapsed());
        assert!(begun.elapsed() < GENEROUS, "{input}: {:?}", begun.elapsed());
        session.exp_string("nesl> ").unwrap();
        // Values are there, what was not assigned is not, and ranks know the same.
        answers(&mut session, "sum(v);", SUM);
        answers(&mut session, "sum({fib(rem(i, 9)) : i in [0:9000]});", "it = 54000 : int");
    }
    session.send_line("unknown = fib(3) + add(0").unwrap();
    session.exp_string("....> ").unwrap();
    session.send_control('c').unwrap();
    session.exp_string("nesl> ").unwrap();
    answers(&mut session, "it + 1;", "it = 54001 : int");
    session.send_line(":quit").unwrap();
    session.exp_eof().unwrap();
    ended(session, 0);
}

#[test]
fn an_interrupt_ends_an_answer_that_is_long() {
    if launcher().is_none() {
        return;
    }
    let _turn = turn();
    let bench = Bench::new();
    let mut session = start(&bench, "2");
    // Once it has begun, and not long after: what this end of the terminal looks through for the next words is all that
    // has been printed until then.
    for (input, after) in [(":show [0:10000000]", 200), (":show [0:3000000]", 50), (":show [0:10000000]", 0)] {
        session.send_line(input).unwrap();
        session.exp_string("it = [0, 1, 2, 3").unwrap();
        std::thread::sleep(Duration::from_millis(after));
        let begun = Instant::now();
        session.send_control('c').unwrap();
        session.exp_string("nesl> ").unwrap();
        eprintln!("{input} interrupted after {:?}", begun.elapsed());
        assert!(begun.elapsed() < GENEROUS, "{:?}", begun.elapsed());
        answers(&mut session, "6 * 7", "it = 42 : int");
    }
    session.send_line(":quit").unwrap();
    session.exp_eof().unwrap();
    ended(session, 0);
}

#[test]
fn an_interrupted_input_defines_nothing() {
    if launcher().is_none() {
        return;
    }
    let _turn = turn();
    let bench = Bench::new();
    let mut session = start(&bench, "2");
    answers(&mut session, "function fib(n) = if n < 2 then n else fib(n - 1) + fib(n - 2);", "fib = fn : ");
    session.send_line("a = 5; b = fib(90); c = 6;").unwrap();
    session.exp_string("a = 5 : int").unwrap();
    session.send_control('c').unwrap();
    session.exp_string("interrupted").unwrap();
    session.exp_string("nesl> ").unwrap();
    answers(&mut session, "a + 1;", "it = 6 : int");
    answers(&mut session, "b;", "unknown name");
    answers(&mut session, "c;", "unknown name");
    // Numbers are drawn as if nothing had happened.
    answers(&mut session, "b = sum({rand(i) : i in [10, 10, 10]}) >= 0;", "b = t : bool");
    session.send_line(":quit").unwrap();
    session.exp_eof().unwrap();
    ended(session, 0);
}

#[test]
fn a_second_interrupt_ends_a_session_whose_ranks_do_not_answer() {
    if launcher().is_none() {
        return;
    }
    let _turn = turn();
    // The shell's parent is rank 0, whose parent is the launcher.
    let script = "launcher=$(cut -d ' ' -f 4 /proc/$PPID/stat)\n\
                  for rank in $(cat /proc/$launcher/task/*/children); do [ $rank = $PPID ] || other=$rank; done\n\
                  kill -STOP $other\n";
    let bench = Bench::with("stop.sh", script);
    let mut session = start(&bench, "2");
    session.send_line("shell_command(\"sh stop.sh\", \"\");").unwrap();
    std::thread::sleep(Duration::from_secs(1));
    session.send_control('c').unwrap();
    std::thread::sleep(Duration::from_millis(500));
    session.send_control('c').unwrap();
    session.exp_string("interrupted").unwrap();
    session.exp_eof().unwrap();
    ended(session, 130);
}

/// Sends a signal to a process.
fn signal(process: &Child) {
    assert!(Command::new("kill").args(["-INT", &process.id().to_string()]).status().unwrap().success());
}

#[test]
fn an_interrupt_ends_an_evaluation_of_a_script() {
    if launcher().is_none() {
        return;
    }
    let _turn = turn();
    let bench = Bench::new();
    for is_idle in [false, true] {
        let mut command = bench.command(Path::new(env!("CARGO_BIN_EXE_nesl")));
        command.args(["repl", "--ranks", "3", "--threads", "1"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut session = command.spawn().unwrap();
        let mut input = session.stdin.take().unwrap();
        let mut output = BufReader::new(session.stdout.take().unwrap());
        let mut answers = |text: &str, answer: &str| {
            writeln!(input, "{text}").unwrap();
            let mut line = String::new();
            output.read_line(&mut line).unwrap();
            assert_eq!(line.trim_end(), answer, "{text}");
        };
        answers("function fib(n) = if n < 2 then n else fib(n - 1) + fib(n - 2);", "fib = fn : int -> int");
        answers("a = 5;", "a = 5 : int");
        if !is_idle {
            answers("b = 6; sum({if i == 0 then fib(90) else i : i in [0:5000]});", "b = 6 : int");
            std::thread::sleep(Duration::from_millis(300));
            signal(&session);
            answers("a + b;", "it = 11 : int");
            drop(input);
        } else {
            // Nothing is evaluated: the session ends, as one process does.
            std::thread::sleep(Duration::from_millis(500));
            signal(&session);
        }
        let mut err = String::new();
        session.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        let code = session.wait().unwrap().code();
        assert_eq!((code, err.as_str()), (Some(if is_idle { 130 } else { 1 }), "interrupted\n"), "idle: {is_idle}");
    }
}

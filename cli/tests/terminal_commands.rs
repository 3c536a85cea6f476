//! Every command at a terminal, history and pasting, errors and long values: in one process, and on ranks.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a panic in a helper is a failed test")]

mod common;

use common::Bench;
use common::terminal::start;
use rexpect::session::PtySession;
use std::collections::BTreeSet;

/// For each command what somebody types, and what the answer must say. They are typed in this order, after one input.
const SCRIPTS: [(&str, &[(&str, &str)]); 26] = [
    ("help", &[(":help", "end the session (so does Ctrl-D)")]),
    ("type", &[(":type twice", "twice : int -> int"), (":type [1.5]", "[1.5] : [float]")]),
    ("doc", &[(":doc sum", "sum : [a] -> a"), ("?sum", "sum : [a] -> a")]),
    ("info", &[(":info twice", "function twice(x) = 2 * x")]),
    ("apropos", &[(":apropos running sum", "plus_scan")]),
    ("names", &[(":names", "twice : int -> int")]),
    ("load", &[(":load a.nesl", "a = 5 : int")]),
    ("reload", &[(":reload", "a = 5 : int")]),
    ("edit", &[(":edit a.nesl", "b = 2 : int")]),
    ("cd", &[(":cd inner", "/inner\r\n"), (":cd -", "/")]),
    ("show", &[(":show twice(b)", "it = 4 : int"), (":show", "it = 4 : int")]),
    ("plot", &[(":plot {i * i : i in [0:20]}", "200 ")]),
    ("syntax", &[(":syntax", "nesl\r\n")]),
    ("set", &[(":set shown 7", ""), (":set", "shown 7 ")]),
    ("time", &[(":time twice(8)", "it = 16 : int"), (":time 1", " ms\r\n")]),
    ("bench", &[(":bench twice(8)", " runs\r\n")]),
    ("stats", &[(":stats", "instructions")]),
    ("profile", &[(":profile sum([0:1000])", "instructions")]),
    ("threads", &[(":threads 1", "1 thread"), (":threads", "1 thread")]),
    ("ranks", &[(":ranks", "most memory")]),
    ("vcode", &[(":vcode twice(8)", "return")]),
    ("explain", &[(":explain E0402", "E0402")]),
    ("save", &[(":save kept", "saved in kept: "), (":save kept.nesl", " in kept.nesl")]),
    ("restore", &[(":restore kept", "restored from kept: ")]),
    ("history", &[(":history 2", ":restore kept\r\n:history 2\r\n")]),
    ("quit", &[(":quit", "")]),
];

/// Types a line, and waits for its answer and the next prompt; what came before the answer.
#[track_caller]
fn type_line(session: &mut PtySession, line: &str, answer: &str, prompt: &str) -> String {
    session.send_line(line).unwrap();
    let before = session.exp_string(answer).unwrap_or_else(|error| panic!("{line}: {error}"));
    session.exp_string(prompt).unwrap_or_else(|error| panic!("{line}: {error}"));
    before
}

#[test]
fn every_command_has_a_script() {
    let help = Bench::new().piped(&[], ":help").out;
    let known = help.lines().filter_map(|line| line.strip_prefix("  :")?.split(' ').next());
    let scripts = SCRIPTS.iter().map(|(name, _)| *name);
    assert_eq!(known.collect::<BTreeSet<_>>(), scripts.collect::<BTreeSet<_>>(), "each command needs a script here");
    for (name, lines) in SCRIPTS {
        let is_of_command = |line: &str| line.split([':', ' ']).any(|word| word == name);
        assert!(lines.iter().any(|(line, _)| is_of_command(line)), "{name}: {lines:?}");
    }
}

#[test]
fn every_command_answers_and_is_no_input() {
    give_all_commands(start);
}

/// Sessions that are given every command: none of them counts as an input.
fn give_all_commands(start: impl Fn(&Bench) -> PtySession) {
    let bench = Bench::with("a.nesl", "a = 5;\n");
    bench.write("editor.sh", "echo 'b = 2;' >> \"$1\"\n");
    std::fs::create_dir(bench.path("inner")).unwrap();
    let mut session = start(&bench);
    type_line(&mut session, "function twice(x) = 2 * x", "twice = fn : int -> int", "[2] nesl> ");
    for (name, lines) in SCRIPTS.iter().filter(|(name, _)| *name != "quit") {
        for (line, answer) in *lines {
            type_line(&mut session, line, answer, "[2] nesl> ");
        }
        eprintln!("{name}");
    }
    session.send_line(":quit").unwrap();
    session.exp_eof().unwrap();
    bench.nesl(&["kept.nesl"]).prints("4\n4\n16\n1\n499500\n");
}

#[test]
fn history_is_searched_and_several_lines_are_pasted() {
    search_and_paste(start);
}

/// Sessions whose inputs come from history, and from elsewhere.
fn search_and_paste(start: impl Fn(&Bench) -> PtySession) {
    let bench = Bench::new();
    let mut session = start(&bench);
    type_line(&mut session, "unmistakable = 70 + 7", "unmistakable = 77 : int", "nesl> ");
    type_line(&mut session, "1 + 1", "it = 2 : int", "nesl> ");
    session.send("\u{12}mistak").unwrap();
    session.flush().unwrap();
    session.exp_string("unmistakable = 70 + 7").unwrap();
    session.send("\r").unwrap();
    session.flush().unwrap();
    session.exp_string("unmistakable = 77 : int").unwrap();
    session.exp_string("nesl> ").unwrap();
    // Pasted lines are one input, with what is between them.
    session.send("\u{1b}[200~function next(x) =\r  x + 1;\r\rnext(41)\u{1b}[201~\r").unwrap();
    session.flush().unwrap();
    session.exp_string("next = fn : int -> int").unwrap();
    session.exp_string("it = 42 : int").unwrap();
    session.exp_string("nesl> ").unwrap();
    type_line(&mut session, "next(next(1))", "it = 3 : int", "nesl> ");
    session.send_line("quit").unwrap();
    session.exp_eof().unwrap();
}

#[test]
fn errors_say_the_element_and_long_values_are_short() {
    fail_and_show(start);
}

/// Sessions with an error in lifted code, and a value of many elements.
fn fail_and_show(start: impl Fn(&Bench) -> PtySession) {
    let bench = Bench::new();
    let mut session = start(&bench);
    type_line(&mut session, "function inverse(x) = 12 / x", "inverse = fn : int -> int", "nesl> ");
    session.send_line("{inverse(x) : x in [3, 4, 0, 6]}").unwrap();
    let before = session.exp_string("nesl> ").unwrap();
    for part in ["E0402", "division of 12 by zero", "<input 1>:1:23", "element 2", "<input 2>:1:2"] {
        assert!(before.contains(part), "no {part} in {before}");
    }
    session.send_line("v = [0:10000000]").unwrap();
    let shown = session.exp_string(", 10000000 elements").unwrap();
    assert!(shown.contains("v = [0, 1, 2, ") && shown.len() < 1000, "{shown}");
    session.exp_string("nesl> ").unwrap();
    type_line(&mut session, "{float(i) / 7.0 : i in v}", " 10000000 elements", "nesl> ");
    type_line(&mut session, "sum(v)", "it = 49999995000000 : int", "nesl> ");
    session.send_line("quit").unwrap();
    session.exp_eof().unwrap();
}

/// The same on ranks.
#[cfg(all(target_os = "linux", feature = "mpi"))]
mod on_ranks {
    use super::*;
    use common::terminal::on_ranks;

    #[test]
    fn every_command_answers_on_ranks() {
        on_ranks(give_all_commands);
    }

    #[test]
    fn history_is_searched_where_ranks_answer() {
        on_ranks(search_and_paste);
    }

    #[test]
    fn errors_of_ranks_say_the_element() {
        on_ranks(fail_and_show);
    }
}

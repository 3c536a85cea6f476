//! The session at a terminal: editing, history across sessions, completion, Ctrl-C, inputs of several lines. On ranks,
//! too.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a panic in a helper is a failed test")]

mod common;

use common::Bench;
use common::terminal::start;
use nix::sys::termios::{LocalFlags, tcgetattr};
use rexpect::session::{Options, PtySession, spawn_with_options};
use std::path::Path;
use std::time::{Duration, Instant};

#[test]
fn lines_are_edited_continued_completed_and_remembered() {
    edit(start);
}

/// Sessions that edit lines, and remember them.
fn edit(start: impl Fn(&Bench) -> PtySession) {
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
    // Before the prompt the terminal itself would take it.
    session.exp_string("nesl> ").unwrap();
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
fn inputs_need_no_semicolon_and_results_have_numbers() {
    let bench = Bench::new();
    let mut session = start(&bench);
    for (line, answer) in [
        ("1 + 2", "it = 3 : int"),
        ("it * 2", "it = 6 : int"),
        ("x = 10; x + 1", "it = 11 : int"),
        ("(_1, _2, _3)", "it = (3, 6, 11) : (int, int, int)"),
        ("1 +", "....> "),
        ("2", "it = 3 : int"),
        ("function twice(x) =", "....> "),
        ("2 * x", "twice = fn : int -> int"),
        ("twice(21);", "it = 42 : int"),
        ("1 + )", "E01"),
        ("nothing", "unknown name `nothing`"),
        ("?twice", "defined in <input 6>:1"),
        ("help", ":quit"),
        (";echo from the $((6 * 7)) shell", "from the 42 shell"),
    ] {
        session.send_line(line).unwrap();
        session.exp_string(answer).unwrap_or_else(|error| panic!("{line}: {error}"));
        if answer != "....> " {
            session.exp_string("nesl> ").unwrap();
        }
    }
    // What is never complete ends with two empty lines, and says what it lacks.
    session.send_line("let x = 1;").unwrap();
    session.exp_string("....> ").unwrap();
    session.send_line("").unwrap();
    session.exp_string("another empty line ends it").unwrap();
    session.send_line("").unwrap();
    session.exp_string("expected `in`").unwrap();
    session.exp_string("nesl> ").unwrap();
    session.send_line("exit").unwrap();
    session.exp_eof().unwrap();
}

#[test]
fn matrices_stand_in_columns() {
    show_matrices(start);
    // Who reads what a pipe gives finds every value in one line.
    let piped = Bench::new().piped(&[], "[[1, 2], [3, 4]];");
    piped.prints("it = [[1, 2], [3, 4]] : [[int]]\n");
}

/// Sessions whose answers fit a terminal of 80 by 24. What is read of them here is ASCII alone.
fn show_matrices(start: impl Fn(&Bench) -> PtySession) {
    let bench = Bench::new();
    let mut session = start(&bench);
    session.send_line("m = [[1.0, 0.25], [10.0, 2.0]]").unwrap();
    session.exp_string("m = [[ 1.0, 0.25],\r\n     [10.0, 2.0 ]] : [[float]], 2 ").unwrap();
    session.exp_string("nesl> ").unwrap();
    session.send_line("{{i * j : j in [0:100]} : i in [0:1000]}").unwrap();
    session.exp_string("it = [[0,   0,    0,    0,    0, ...,     0,     0,     0,     0,     0],\r\n").unwrap();
    let before = session.exp_string(" : [[int]], 1000 ").unwrap();
    assert!(before.contains("\n      ...,\r\n") && before.contains("\n      [0, 999, 1998, 2997"), "{before}");
    assert!(before.lines().count() <= 24 && before.lines().all(|line| line.chars().count() <= 80), "{before}");
    session.exp_string("nesl> ").unwrap();
    session.send_line(":show {{i : j in [0:40]} : i in [0:40]}").unwrap();
    let before = session.exp_string(" : [[int]], 40 ").unwrap();
    assert!(before.matches("39").count() == 40 && !before.contains("..."), "{before}");
    session.exp_string("nesl> ").unwrap();
    session.send_line("[[1, 2], [3]]").unwrap();
    session.exp_string("it = [[1, 2], [3]] : [[int]]\r\n").unwrap();
    session.send_line(":quit").unwrap();
    session.exp_eof().unwrap();
}

#[test]
fn files_are_edited_and_inputs_are_listed() {
    let bench = Bench::with(
        "a.nesl", "a = 1;
",
    );
    bench.write("editor.sh", "echo 'b = 2;' >> \"$1\"\n");
    let mut command = bench.command(Path::new(env!("CARGO_BIN_EXE_nesl")));
    command.env("TERM", "xterm").env("NO_COLOR", "1").env("VISUAL", "").env("EDITOR", "sh editor.sh");
    let mut session = spawn_with_options(command, Options::new().timeout_ms(Some(60_000))).unwrap();
    session.exp_string("nesl> ").unwrap();
    session.send_line(":edit").unwrap();
    session.exp_string("needs the name of a file").unwrap();
    session.send_line(":edit a.nesl").unwrap();
    session.exp_string("b = 2 : int").unwrap();
    session.exp_string("nesl> ").unwrap();
    session.send_line(":edit").unwrap();
    session.exp_string("b = 2 : int\r\nb = 2 : int").unwrap();
    session.exp_string("nesl> ").unwrap();
    session.send_line(":history 2").unwrap();
    session.exp_string(":edit\r\n:history 2").unwrap();
    session.send_line("quit").unwrap();
    session.exp_eof().unwrap();
}

#[test]
fn completion_lists_names_with_their_types() {
    let bench = Bench::with("numbers.txt", "1 2");
    let mut session = start(&bench);
    session.send("plus_s\t(\u{3}").unwrap();
    session.flush().unwrap();
    session.exp_string("plus_scan").unwrap();
    session.exp_string("nesl> ").unwrap();
    session.send("su\t\t").unwrap();
    session.flush().unwrap();
    session.exp_string("sum : [a] -> a :: (a in number)").unwrap();
    session.exp_string("nesl> su").unwrap();
    session.send("\u{3}").unwrap();
    session.flush().unwrap();
    session.exp_string("nesl> ").unwrap();
    // Files, where a string is open.
    session.send("read_string_from_file(\"numb\t\")\r").unwrap();
    session.flush().unwrap();
    session.exp_string("it = \"1 2\" : [char]").unwrap();
    session.send_line(":quit").unwrap();
    session.exp_eof().unwrap();
}

#[test]
fn colours_are_for_terminals_that_know_them() {
    let bench = Bench::new();
    let spawn = |term: &str| {
        let mut command = bench.command(Path::new(env!("CARGO_BIN_EXE_nesl")));
        command.env("TERM", term).env_remove("NO_COLOR");
        spawn_with_options(command, Options::new().timeout_ms(Some(60_000))).unwrap()
    };
    let mut session = spawn("xterm-256color");
    session.exp_string("\u{1b}[32m[1] nesl> \u{1b}[0m").unwrap();
    session.send_line("if t then \"a\" else \"b\"").unwrap();
    session.exp_string("\u{1b}[35mif\u{1b}[0m").unwrap();
    session.exp_string("it = \"a\" : [char]").unwrap();
    session.exp_string("nesl> ").unwrap();
    // What an earlier input suggests stands behind the cursor, grey; the right arrow takes it.
    session.send("if").unwrap();
    session.flush().unwrap();
    session.exp_string("\u{1b}[2m t then \"a\" else \"b\"\u{1b}[0m").unwrap();
    session.send("\u{1b}[C\r").unwrap();
    session.flush().unwrap();
    session.exp_string("it = \"a\" : [char]").unwrap();
    session.send_line(":quit").unwrap();
    session.exp_eof().unwrap();
    let mut session = spawn("dumb");
    session.send_line("1 + t").unwrap();
    let before = session.exp_string("1 error").unwrap();
    assert!(!before.contains('\u{1b}'), "{before:?}");
    session.send_line(":quit").unwrap();
    session.exp_eof().unwrap();
}

#[test]
fn a_file_of_settings_is_read_in_silence() {
    let bench = Bench::with("startup", "function greet(x) = \"hello \" ++ x;\n:set shown 2\nset timing off;\n");
    let mut command = bench.command(Path::new(env!("CARGO_BIN_EXE_nesl")));
    command.env("TERM", "xterm").env("NO_COLOR", "1").env("NESL_STARTUP", bench.path("startup"));
    let mut session = spawn_with_options(command, Options::new().timeout_ms(Some(60_000))).unwrap();
    let before = session.exp_string("[1] nesl> ").unwrap();
    assert!(!before.contains("greet"), "{before}");
    session.send_line(":type greet").unwrap();
    session.exp_string("greet : [char] -> [char]").unwrap();
    session.send_line("[1, 2, 3]").unwrap();
    session.exp_string("it = [1, 2, ...] : [int], 3 elements").unwrap();
    session.send_line(":quit").unwrap();
    session.exp_eof().unwrap();
}

/// Waits until the line that was sent has been read: before that Ctrl-C is a key of the editor of lines, as any other.
fn await_reading(session: &PtySession) {
    let terminal = session.process().get_file_handle().unwrap();
    let start = Instant::now();
    while !tcgetattr(&terminal).unwrap().local_flags.contains(LocalFlags::ISIG) {
        assert!(start.elapsed() < Duration::from_secs(60), "the line is not read");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Interrupts an evaluation that would not end; says how long that takes, for whoever runs this with `--nocapture`.
fn interrupt(session: &mut PtySession, input: &str) {
    session.send_line(input).unwrap();
    await_reading(session);
    std::thread::sleep(Duration::from_millis(500));
    let start = Instant::now();
    session.send_control('c').unwrap();
    session.exp_string("interrupted").unwrap_or_else(|error| panic!("{input}: {error}"));
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

/// Interrupts what an input does after so many milliseconds; the session must answer afterwards, and soon.
#[track_caller]
fn interrupt_and_go_on(session: &mut PtySession, input: &str, after: u64) {
    session.send_line(input).unwrap();
    if after >= 500 {
        await_reading(session);
    }
    std::thread::sleep(Duration::from_millis(after));
    press_and_go_on(session, input);
}

/// The same as soon as the answer to an input begins to be shown.
#[track_caller]
fn interrupt_answer_and_go_on(session: &mut PtySession, input: &str, answer: &str) {
    session.send_line(input).unwrap();
    session.exp_string(answer).unwrap_or_else(|error| panic!("{input}: {error}"));
    press_and_go_on(session, input);
}

#[track_caller]
fn press_and_go_on(session: &mut PtySession, input: &str) {
    let start = Instant::now();
    session.send_control('c').unwrap();
    session.exp_string("nesl> ").unwrap_or_else(|error| panic!("{input}: {error}"));
    eprintln!("{input} interrupted after {:?}", start.elapsed());
    // An input that has ended by itself has had its prompt before: what is typed until Ctrl-C arrives goes with it.
    std::thread::sleep(Duration::from_millis(500));
    session.send_line("1+1").unwrap();
    session.exp_string("it = 2 : int").unwrap_or_else(|error| panic!("after {input}: {error}"));
    session.exp_string("nesl> ").unwrap();
}

#[test]
fn an_interrupt_gives_the_prompt_back_whatever_goes_on() {
    let bench = Bench::with("f.nesl", "a = 1;\n");
    bench.write("editor.sh", "sleep 30\n");
    let mut command = bench.command(Path::new(env!("CARGO_BIN_EXE_nesl")));
    command.env("TERM", "xterm").env("NO_COLOR", "1").env("VISUAL", "sh editor.sh");
    let mut session = spawn_with_options(command, Options::new().timeout_ms(Some(25_000))).unwrap();
    session.exp_string("nesl> ").unwrap();
    session.send_line("v = {float(i) : i in [0:5000000]};").unwrap();
    session.exp_string("5000000 elements").unwrap();
    session.exp_string("nesl> ").unwrap();
    interrupt_and_go_on(&mut session, ":show [0:10000000]", 500);
    interrupt_answer_and_go_on(&mut session, ":show [0:10000000]", "it = [0, 1, 2");
    interrupt_and_go_on(&mut session, ";sleep 30", 500);
    interrupt_and_go_on(&mut session, ":edit f.nesl", 500);
    interrupt_and_go_on(&mut session, ":save kept", 20);
    interrupt_and_go_on(&mut session, ":plot v", 1);
    // Values whose answer was interrupted are there all the same.
    interrupt_and_go_on(&mut session, ":set shown all", 0);
    interrupt_answer_and_go_on(&mut session, "w = [0:10000000]", "w = [0, 1, 2");
    session.send_line("#w").unwrap();
    session.exp_string("it = 10000000 : int").unwrap();
    session.send_line(":quit").unwrap();
    session.exp_eof().unwrap();
}

#[test]
fn what_is_typed_ahead_is_answered() {
    let bench = Bench::with("late.nesl", "late = 7;\n");
    let mut session = start(&bench);
    session.send("1+1\r2+2\r3+3\r").unwrap();
    session.flush().unwrap();
    for answer in ["it = 2 : int", "it = 4 : int", "it = 6 : int"] {
        session.exp_string(answer).unwrap();
    }
    session.exp_string("nesl> ").unwrap();
    session.send_line("function fib(n) = if n < 2 then n else fib(n - 1) + fib(n - 2);").unwrap();
    session.exp_string("fib = fn : int -> int").unwrap();
    session.exp_string("nesl> ").unwrap();
    session.send_line(";sleep 1").unwrap();
    std::thread::sleep(Duration::from_millis(300));
    session.send("fib(10)\r:load late.nesl\rlate * 6\r").unwrap();
    session.flush().unwrap();
    for answer in ["it = 55 : int", "late = 7 : int", "it = 42 : int"] {
        session.exp_string(answer).unwrap();
    }
    session.send_line(":quit").unwrap();
    session.exp_eof().unwrap();
}

#[test]
fn the_end_of_input_ends_an_indented_line_too() {
    let bench = Bench::new();
    let mut session = start(&bench);
    session.send_line("function g(a) =").unwrap();
    session.exp_string("....>   ").unwrap();
    session.send_control('d').unwrap();
    session.exp_string("E01").unwrap();
    session.exp_string("nesl> ").unwrap();
    session.send_line("function g(a) =").unwrap();
    session.exp_string("....>   ").unwrap();
    session.send_line("a + 1").unwrap();
    session.exp_string("g = fn : int -> int").unwrap();
    session.exp_string("nesl> ").unwrap();
    session.send_control('d').unwrap();
    session.exp_eof().unwrap();
}

#[test]
fn the_last_file_is_edited_and_settings_say_where_they_are_wrong() {
    let bench = Bench::with("a.nesl", "a = 1;\n");
    std::fs::create_dir(bench.path("folder")).unwrap();
    bench.write("fog", "");
    bench.write("startup.nesl", "x = 1;\n\nfunction inc(a) =\n  a + t;\ny = 2;\n");
    bench.write("editor.sh", "echo 'b = 2;' >> \"$1\"\n");
    let mut command = bench.command(Path::new(env!("CARGO_BIN_EXE_nesl")));
    command.env("TERM", "xterm").env("NO_COLOR", "1").env("VISUAL", "sh editor.sh").env("NESL_STARTUP", "startup.nesl");
    let mut session = spawn_with_options(command, Options::new().timeout_ms(Some(60_000))).unwrap();
    session.exp_string("startup.nesl:4:").unwrap();
    session.exp_string("nesl> ").unwrap();
    session.send_line("x + y").unwrap();
    session.exp_string("it = 3 : int").unwrap();
    session.send_line(":load a.nesl").unwrap();
    session.exp_string("a = 1 : int").unwrap();
    session.exp_string("nesl> ").unwrap();
    session.send_line(":edit").unwrap();
    session.exp_string("b = 2 : int").unwrap();
    session.exp_string("nesl> ").unwrap();
    // Settings are completed, and after `:cd` folders alone.
    session.send(":set ti\t on\r:set\r").unwrap();
    session.flush().unwrap();
    session.exp_string("timing on ").unwrap();
    session.exp_string("nesl> ").unwrap();
    session.send(":cd fo\t\r").unwrap();
    session.flush().unwrap();
    session.exp_string("/folder\r\n").unwrap();
    session.send_line(":quit").unwrap();
    session.exp_eof().unwrap();
}

#[test]
fn inputs_are_v_after_a_command() {
    write_v(start);
}

/// Sessions that change their syntax.
fn write_v(start: impl Fn(&Bench) -> PtySession) {
    let bench = Bench::new();
    let mut session = start(&bench);
    for (line, answer, prompt) in [
        ("unmistakable = [4, 5]", "unmistakable = [4, 5] : [int]", "nesl> "),
        (":syn\t v", "[2] ", "v> "),
        ("$unmistakable", "it = 2 : int", "v> "),
        ("pure int square(int x) {", "", "....> "),
        ("return x * x; }", "pure int square(int x)", "v> "),
        ("[squ\t(x) : x in unmis\t]", "it = [16, 25] : int[*]", "v> "),
        ("for (int i = 0; i < 2; i++)", "", "....> "),
        ("unmistakable[i]++", "unmistakable = [5, 6] : int[*]", "v> "),
        (":syntax nesl", "[6] ", "nesl> "),
        ("sum({square(x) : x in unmistakable})", "it = 61 : int", "nesl> "),
    ] {
        session.send(&format!("{line}\r")).unwrap();
        session.flush().unwrap();
        session.exp_string(answer).unwrap_or_else(|error| panic!("{line}: {error}"));
        session.exp_string(prompt).unwrap_or_else(|error| panic!("{line}: {error}"));
    }
    session.send_line(":quit").unwrap();
    session.exp_eof().unwrap();
}

/// Sessions on ranks: the lines are those of the process at the terminal, the answers those of rank 0.
#[cfg(all(target_os = "linux", feature = "mpi"))]
mod on_ranks {
    use super::*;
    use common::terminal::{on_ranks, start_on_ranks};
    use common::{launcher, turn};

    /// The process has ended with this exit code.
    #[track_caller]
    fn ended(session: PtySession, code: i32) {
        let status = format!("{:?}", session.process().wait());
        assert!(status.starts_with("Ok(Exited(") && status.ends_with(&format!(", {code}))")), "{status}");
    }

    #[test]
    fn lines_are_edited_as_in_one_process() {
        on_ranks(edit);
    }

    #[test]
    fn ranks_take_v_after_a_command() {
        on_ranks(write_v);
    }

    #[test]
    fn matrices_of_ranks_stand_in_columns() {
        on_ranks(show_matrices);
    }

    #[test]
    fn errors_come_before_the_next_prompt_and_files_are_read() {
        let bench = Bench::with("defs.nesl", "function double(a) = 2 * a;\n");
        if launcher().is_none() {
            return;
        }
        let _turn = turn();
        let mut session = start_on_ranks(&bench);
        session.send_line("sum({1 / (x - 9999) : x in [0:10000]});").unwrap();
        session.exp_string("division of 1 by zero").unwrap();
        session.exp_string("nesl> ").unwrap();
        session.send_line(":load defs.nesl").unwrap();
        session.exp_string("double = fn : ").unwrap();
        // The name is completed as soon as rank 0 knows it.
        session.exp_string("nesl> ").unwrap();
        session.send("doub\t(21);\r").unwrap();
        session.flush().unwrap();
        session.exp_string("it = 42 : int").unwrap();
        session.send_line(":quit").unwrap();
        session.exp_eof().unwrap();
        ended(session, 0);
    }

    #[test]
    fn a_dead_rank_ends_the_session_at_its_prompt() {
        let bench = Bench::with("kill.sh", "(sleep 1; kill -9 $PPID) > /dev/null 2>&1 &\n");
        if launcher().is_none() {
            return;
        }
        let _turn = turn();
        let mut session = start_on_ranks(&bench);
        // Rank 0 is the parent of the shell that it starts.
        session.send_line("shell_command(\"sh kill.sh\", \"\");").unwrap();
        session.exp_string("it = \"\"").unwrap();
        session.exp_string("rank 0 of 2").unwrap();
        session.exp_string("killed by signal 9").unwrap();
        session.exp_eof().unwrap();
        ended(session, 137);
    }
}

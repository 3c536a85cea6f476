//! Sessions that are kept in a folder: ranks that are killed cost time and nothing else, and the next session goes on
//! where the last one ended.
//!
//! Needs the feature `mpi`, a launcher and `/proc`; skipped without a launcher. `NESL_KILLS` says how many sessions
//! lose ranks at random moments (6), `NESL_KILLS_SEED` which moments those are.
#![cfg(all(target_os = "linux", feature = "mpi"))]
#![allow(clippy::unwrap_used, reason = "a panic in a helper is a failed test")]

mod common;

use common::marked::{GENEROUS, Mark, Moments, kill};
use common::terminal::start_with;
use common::{Bench, OVERSUBSCRIBED, Ran, launcher, turn};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Inputs that take some time, and those that take none: definitions, random numbers, settings, folders, errors.
const INPUTS: &str = r#"
n = 3;
function slow(x, k) = if k == 0 then x else slow({rem(v * 31 + 7, 1000003) : v in x}, k - 1);
a = slow([0:100000], 2500);
:cd inner
:set shown 6
a;
rand(1000000);
b = slow(a, 4000);
sum(b); rand(1000000);
text = read_string_from_file("note");
x = y;
n = n + 1; m = 1 / 0; l = 5;
c = slow(b, 3000); hash(c, 1000000007);
n = n + 1;
:names
:syntax v
int twice(int x) { return 2 * x; }
twice(n);
:syntax nesl
sum({rand(i + 1) : i in [0:1000]}); (n, text, a[n]);
"#;

/// A session on ranks that is kept.
struct Session {
    process: Child,
    input: Option<ChildStdin>,
    mark: Mark,
}

impl Session {
    fn start(bench: &Bench, ranks: &str) -> Session {
        let mark = Mark::new();
        let mut command = bench.command(Path::new(env!("CARGO_BIN_EXE_nesl")));
        command.envs(OVERSUBSCRIBED).args(["repl", "--threads", "1", "--ranks", ranks, "--keep", "kept"]);
        mark.put(&mut command);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        Session { input: process.stdin.take(), process, mark }
    }

    fn type_lines(&mut self, lines: &str) {
        self.input.as_mut().unwrap().write_all(lines.as_bytes()).unwrap();
    }

    /// Kills a rank, once it is there; whether the session had not ended.
    fn kill(&mut self, rank: usize) -> bool {
        let begun = Instant::now();
        loop {
            assert!(begun.elapsed() < GENEROUS, "the session takes {GENEROUS:?}");
            if self.process.try_wait().unwrap().is_some() {
                return false;
            }
            if let Some(process) = self.mark.rank(rank) {
                return kill(process);
            }
            sleep(Duration::from_millis(2));
        }
    }

    /// Waits for the end of the session; nothing is left then.
    fn end(mut self) -> Ran {
        self.input = None;
        self.mark.last(self.process)
    }
}

fn bench() -> Bench {
    let bench = Bench::new();
    fs::create_dir(bench.path("inner")).unwrap();
    bench.write("inner/note", "inside");
    bench
}

/// What a session says beside its answers, without what is said of ranks that died: notes, and what Open MPI prints
/// between lines of dashes where one is killed while others begin.
fn errors(ran: &Ran) -> String {
    let mut is_in_notice = false;
    let own = ran.err.lines().filter(|line| {
        let is_edge = line.starts_with("-----");
        is_in_notice ^= is_edge;
        !is_edge && !is_in_notice && !line.starts_with("note: ")
    });
    own.map(|line| format!("{line}\n")).collect()
}

#[test]
fn ranks_that_are_killed_at_any_moment_cost_time_and_nothing_else() {
    if launcher().is_none() {
        return;
    }
    let _turn = turn();
    let bench = bench();
    let expected = bench.piped(&["repl", "--threads", "1", "--ranks", "2"], INPUTS);
    assert!(expected.out.contains("text = \"inside\""), "{expected:#?}");
    let kills = std::env::var("NESL_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(6);
    let mut moments = Moments::of_environment();
    let (mut killed, mut from_saves) = (0, 0);
    for round in 0..kills {
        let mut session = Session::start(&bench, "2");
        session.type_lines(INPUTS);
        session.input = None;
        for _ in 0..=moments.next(2) {
            sleep(Duration::from_millis(300 + moments.next(2200)));
            killed += usize::from(session.kill(moments.next(2) as usize));
        }
        let ran = session.end();
        assert_eq!((ran.code, &ran.out), (expected.code, &expected.out), "round {round}: {ran:#?}");
        assert_eq!(errors(&ran), expected.err, "round {round}");
        from_saves += ran.err.matches(" on from ").count() - ran.err.matches(" on from the beginning").count();
        // The next one goes on with it.
        let mut next = Session::start(&bench, "1");
        next.type_lines("(n, text, sum(c)); twice(4);");
        let ran = next.end();
        assert!(ran.out.starts_with("it = (5, \"inside\", ") && ran.out.ends_with("it = 8 : int\n"), "{ran:#?}");
        assert!(ran.err.starts_with("note: the session goes on from "), "{ran:#?}");
        fs::remove_dir_all(bench.path("kept")).unwrap();
    }
    println!("{kills} sessions, {killed} kills, {from_saves} went on from a save");
}

#[test]
fn a_session_that_lost_its_ranks_while_nobody_typed_has_all_it_had() {
    if launcher().is_none() {
        return;
    }
    let _turn = turn();
    let bench = bench();
    let mark = Mark::new();
    let mut session = start_with(&bench, &["repl", "--ranks", "2", "--keep", "kept"], Some(&mark));
    let mut answered = |line: &str, answer: &str, prompt: &str| {
        session.send_line(line).unwrap();
        session.exp_string(answer).unwrap_or_else(|error| panic!("{line}: {error}"));
        session.exp_string(prompt).unwrap_or_else(|error| panic!("{line}: {error}"));
    };
    let lose = |rank| {
        assert!(kill(mark.rank(rank).unwrap()));
        // Launchers take a second to end the others.
        let begun = Instant::now();
        while mark.rank(1 - rank).is_some() && begun.elapsed() < GENEROUS {
            sleep(Duration::from_millis(20));
        }
    };
    answered("a = {i * i : i in [0:1000]}", "a = [0, 1, 4, ", "[2] nesl> ");
    answered("sum(a)", "it = 332833500 : int", "[3] nesl> ");
    lose(1);
    answered("_2 + #a", "2 ranks go on from the beginning, evaluating 2 inputs again", "[4] nesl> ");
    answered("it", "it = 332834500 : int", "[5] nesl> ");
    answered(":ranks 3", "3 ranks (1 started", "[5] nesl> ");
    answered("rand(1000)", "it = ", "[6] nesl> ");
    lose(0);
    answered("a[999]", ": 3 ranks go on from ", "[7] nesl> ");
    answered("it", "it = 998001 : int", "[8] nesl> ");
    session.send_line(":quit").unwrap();
    session.exp_eof().unwrap();
}

#[test]
fn ranks_that_die_again_and_again_end_the_session() {
    if launcher().is_none() {
        return;
    }
    let _turn = turn();
    let bench = bench();
    let mut session = Session::start(&bench, "2");
    let loops = "function on(x, k) = if k == 0 then x else on({rem(v * 31 + 7, 1000003) : v in x}, k - 1);";
    session.type_lines(&format!(
        "n = 3;\n{loops}\nwrite_string_to_file(\"\", \"begun\"); sum(on([0:100000], 10000000));\n"
    ));
    for _ in 0..4 {
        let begun = Instant::now();
        while !bench.path("begun").exists() {
            assert!(begun.elapsed() < GENEROUS, "nothing begins");
            sleep(Duration::from_millis(5));
        }
        fs::remove_file(bench.path("begun")).unwrap();
        assert!(session.kill(1));
    }
    let ran = session.end();
    ran.fails(137, &[" signal 9, 4 times without an answer between: the job ends\nhint: nothing was saved"]);
    assert_eq!(ran.err.matches("evaluating 2 inputs again\n").count(), 3, "{}", ran.err);
    assert_eq!(ran.out.matches("n = 3 : int\n").count(), 1, "{}", ran.out);
}

#[test]
fn a_folder_that_is_none_of_a_session_is_refused() {
    let bench = Bench::with("f.nesl", "1;");
    let keep = |folder: &str| bench.piped(&["repl", "--ranks", "2", "--keep", folder], "1;");
    keep("f.nesl").fails(1, &["error[E0601]: cannot save the session in ", "f.nesl: Not a directory"]);
    bench.piped(&["repl", "--keep", "kept"], "1;").fails(
        2,
        &["error: --keep is for sessions whose ranks are started here: nesl repl --ranks N --keep FOLDER\nhint: :save"],
    );
    let ran = bench.piped(&["--keep", "kept"], "1;");
    assert_eq!(ran.code, Some(2), "{ran:#?}");
    fs::create_dir_all(bench.path("run/1")).unwrap();
    bench.write("run/1/manifest", "{}");
    bench.write("run/1/program", "");
    keep("run").fails(1, &["error[E0601]", "the run of a program was saved there; take another name"]);
}

//! Runs that are saved, and whose ranks are killed: the answer comes all the same, and nothing twice.
//!
//! Needs the feature `mpi`, a launcher and `/proc`; skipped without a launcher. `NESL_KILLS` says how many runs lose a
//! rank at a random moment (10), `NESL_KILLS_SEED` which moments those are.
#![cfg(all(target_os = "linux", feature = "mpi"))]
#![allow(clippy::unwrap_used, reason = "a panic in a helper is a failed test")]

mod common;

use common::marked::{GENEROUS, Mark, Moments, kill};
use common::{Bench, OVERSUBSCRIBED, Ran, launcher, turn};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// PageRank, which prints now and then in which round it is, in the middle of a line.
const PAGES: &str = r#"
function round_of(ranks, incoming) = {0.15 / float(#ranks) + 0.85 * sum({ranks[page] / 8.0 : page in pages}) : pages in incoming};

function rounds(ranks, incoming, n) =
  if n == 0 then ranks
  else
    let ignore = if rem(n, 7) == 0 then print_string(@n ++ (if rem(n, 70) == 0 then "\n" else " ")) else t
    in rounds(round_of(ranks, incoming), incoming, n - 1);

function main(pages, n) : (int, int) -> (int, float, int) =
  let incoming = {{rem(i + j * j * 977 + j, pages) : j in [1:9]} : i in [0:pages]};
      ignore = write_string_to_file("", "begun");
      ranks = rounds({1.0 / float(pages) : i in [0:pages]}, incoming, n)
  in (hash(ranks, 1000000007), sum({r * float(i) : r in ranks; i in index(pages)}), rand(1000000));
"#;

/// Whether a run has been saved.
fn has_save(bench: &Bench) -> bool {
    let entries = fs::read_dir(bench.path("saves")).into_iter().flatten().flatten();
    let is_whole = |name: &str| !name.starts_with('.') && bench.path("saves").join(name).join("manifest").exists();
    entries.map(|entry| entry.file_name()).any(|name| is_whole(&name.to_string_lossy()))
}

/// A run on ranks.
struct Run {
    process: Child,
    mark: Mark,
}

impl Run {
    fn start(bench: &Bench, arguments: &[&str], launcher: Option<&str>) -> Run {
        let _ = fs::remove_file(bench.path("begun"));
        let mark = Mark::new();
        let mut command = bench.command(Path::new(env!("CARGO_BIN_EXE_nesl")));
        command.envs(OVERSUBSCRIBED).args(["run", "--threads", "1"]).args(arguments);
        if let Some(launcher) = launcher {
            command.env("NESL_MPIRUN", bench.path(launcher));
        }
        mark.put(&mut command);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Run { process: command.spawn().unwrap(), mark }
    }

    /// Waits until something is there, or the run has ended; whether it is there.
    fn until(&mut self, mut is_there: impl FnMut(&Run) -> bool) -> bool {
        let begun = Instant::now();
        while !is_there(self) {
            assert!(begun.elapsed() < GENEROUS, "the run takes {GENEROUS:?}");
            if self.process.try_wait().unwrap().is_some() {
                return false;
            }
            sleep(Duration::from_millis(2));
        }
        true
    }

    /// Kills a rank, once it is there; whether the run had not ended.
    fn kill(&mut self, rank: usize) -> bool {
        let mut found = None;
        let is_there = self.until(|run| {
            found = run.mark.rank(rank);
            found.is_some()
        });
        is_there && found.is_some_and(kill)
    }

    /// Waits for the end; nothing is left then.
    fn end(self) -> Ran {
        self.mark.last(self.process)
    }
}

#[test]
fn a_run_outlives_ranks_that_are_killed_at_any_moment() {
    if launcher().is_none() {
        return;
    }
    let _turn = turn();
    let bench = Bench::with("pages.nesl", PAGES);
    let expected = bench.nesl(&["run", "pages.nesl", "20000", "300"]);
    assert_eq!((expected.code, expected.err.as_str()), (Some(0), ""), "{expected:#?}");
    let kills = std::env::var("NESL_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(6);
    let mut moments = Moments::of_environment();
    let (mut killed, mut from_saves) = (0, 0);
    for round in 0..kills {
        // Some are saved all the time, so that most kills are in the middle of that.
        let saves = ["saves,every=1ms", "saves,every=200ms"][round % 2];
        let mut run = Run::start(&bench, &["--ranks", "3", "--checkpoint", saves, "pages.nesl", "20000", "300"], None);
        let is_early = moments.next(10) == 0;
        if !is_early {
            run.until(|_| if round % 3 == 0 { bench.path("begun").exists() } else { has_save(&bench) });
        }
        for _ in 0..=moments.next(2) {
            sleep(Duration::from_millis(moments.next(900)));
            killed += usize::from(run.kill(moments.next(3) as usize));
        }
        let ran = run.end();
        assert_eq!((ran.code, &ran.out), (Some(0), &expected.out), "round {round}, {saves}: {ran:#?}");
        for line in ran.err.lines() {
            // A rank that is killed before it is one has no number, or its launcher says nothing of it at all.
            let is_early = line == "note: 3 ranks cannot be started: 3 ranks go again from the beginning"
                || line.starts_with("note: the 3 ranks died while they were started: 3 ranks go ")
                || line.starts_with("note: 3 ranks cannot be started: 3 ranks go on from saves/")
                || line.starts_with("note: a rank of 3 was ended by signal 9: 3 ranks go ");
            let is_note = line.starts_with("note: rank ")
                && line.contains(" of 3 on ")
                && line.contains(" signal 9: 3 ranks go ");
            assert!(is_early || is_note, "round {round}: {}", ran.err);
        }
        from_saves += ran.err.matches(" go on from saves/").count();
        assert!(!bench.path("saves").exists(), "a run that has ended keeps no saves");
    }
    println!("{kills} runs, {killed} kills, {from_saves} went on from a save");
    assert!(from_saves > 0 || kills < 6, "no kill was after a save");
}

#[test]
fn ranks_that_die_again_and_again_end_the_run() {
    if launcher().is_none() {
        return;
    }
    let _turn = turn();
    let bench = Bench::with("pages.nesl", PAGES);
    let arguments = ["--ranks", "2", "--checkpoint", "saves,every=1h", "pages.nesl", "20000", "100000"];
    let mut run = Run::start(&bench, &arguments, None);
    for _ in 0..4 {
        assert!(run.until(|_| bench.path("begun").exists()));
        fs::remove_file(bench.path("begun")).unwrap();
        assert!(run.kill(1));
    }
    let ran = run.end();
    ran.fails(
        137,
        &["error: rank 1 of 2 on ", " signal 9, 4 times without a save between: the job ends\nhint: nothing"],
    );
    assert_eq!(ran.err.matches("note: rank 1 of 2").count(), 3, "{}", ran.err);
    assert_eq!(ran.err.matches("2 ranks go again from the beginning\n").count(), 3, "{}", ran.err);
    // What it printed before the first death has come once.
    let times = |what: &str| ran.out.matches(what).count();
    assert!(times("99995 ") <= 1 && times("99981 ") <= 1, "{}", ran.out);
}

#[test]
fn it_goes_on_with_the_ranks_that_there_are() {
    if launcher().is_none() {
        return;
    }
    let _turn = turn();
    let bench = Bench::with("pages.nesl", PAGES);
    let expected = bench.nesl(&["run", "pages.nesl", "20000", "300"]);
    // Once four ranks were there, only two can be had.
    let launcher = launcher().unwrap();
    let script = format!(
        "#!/bin/sh\nif test -e once && test \"$2\" -gt 2; then echo 'no slots' >&2; exit 1; fi\ntouch once\nexec {} \"$@\"\n",
        launcher.display()
    );
    bench.write("launcher", script);
    Command::new("chmod").arg("+x").arg(bench.path("launcher")).status().unwrap();
    let arguments = ["--ranks", "4", "--checkpoint", "saves,every=100ms", "pages.nesl", "20000", "300"];
    let mut run = Run::start(&bench, &arguments, Some("launcher"));
    assert!(run.until(|_| has_save(&bench)));
    sleep(Duration::from_millis(100));
    let was_killed = run.kill(3);
    let ran = run.end();
    assert_eq!((ran.code, &ran.out), (Some(0), &expected.out), "{ran:#?}");
    if was_killed {
        let lines: Vec<&str> = ran.err.lines().collect();
        assert!(lines[0].starts_with("note: rank 3 of 4 on "), "{}", ran.err);
        assert_eq!((lines[1], lines[3]), ("no slots", "no slots"));
        assert!(lines[2].starts_with("note: 4 ranks cannot be started: 4 ranks go on from saves/"), "{}", ran.err);
        assert!(lines[4].starts_with("note: 4 ranks cannot be started: 2 ranks go on from saves/"), "{}", ran.err);
    }
}

#[test]
fn a_rank_that_is_killed_before_it_begins_is_lost_though_nobody_says_so() {
    let Some(launcher) = launcher() else { return };
    let _turn = turn();
    let bench = Bench::with("a.nesl", "sum([0:1000]);\n");
    let alone = bench.nesl(&["run", "a.nesl"]);
    bench.write(
        "launcher",
        format!("#!/bin/sh\nif [ -e tried ]; then exec {} \"$@\"; fi\n: > tried; exit 137\n", launcher.display()),
    );
    Command::new("chmod").arg("+x").arg(bench.path("launcher")).status().unwrap();
    let ran = Run::start(&bench, &["--ranks", "2", "--checkpoint", "saves", "a.nesl"], Some("launcher")).end();
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), alone.out.as_str()), "{ran:#?}");
    assert_eq!(ran.err, "note: a rank of 2 was ended by signal 9: 2 ranks go again from the beginning\n");
}

/// Reads lines and prints their lengths, with work between them, to an end with a code.
const LINES: &str = r#"
function spin(v, n) = if n == 0 then sum(v) else spin({rem(x * 7 + 3, 1000003) : x in v}, n - 1);

function lines(n) =
  let (line, is_end) = read_check(read_line(stdin))
  in if is_end then n
     else let ignore = print_string(@(#line + rem(spin([0:20000], 20), 1)) ++ " ")
          in lines(n + 1);

function main(m) =
  let ignore = write_string_to_file("", "begun");
      n = lines(0);
      _ignore = if n == 400 then exit(m) else t
  in n;
"#;

#[test]
fn what_was_read_is_read_again_and_the_exit_code_is_that_of_the_program() {
    if launcher().is_none() {
        return;
    }
    let _turn = turn();
    let bench = Bench::with("lines.nesl", LINES);
    let text: String = (0..400).map(|line| format!("{}\n", "x".repeat(line % 17))).collect();
    let expected: String = (0..400).map(|line| format!("{} ", line % 17)).collect();
    for is_file in [false, true] {
        let mut run = if is_file {
            bench.write("input", &text);
            let mark = Mark::new();
            let mut command = bench.command(Path::new(env!("CARGO_BIN_EXE_nesl")));
            let arguments =
                ["run", "--threads", "1", "--ranks", "2", "--checkpoint", "saves,every=50ms", "lines.nesl", "3"];
            command.envs(OVERSUBSCRIBED).args(arguments).stdin(fs::File::open(bench.path("input")).unwrap());
            mark.put(&mut command);
            let _ = fs::remove_file(bench.path("begun"));
            Run { process: command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap(), mark }
        } else {
            let arguments = ["--ranks", "2", "--checkpoint", "saves,every=50ms", "lines.nesl", "3"];
            let mut run = Run::start(&bench, &arguments, None);
            run.process.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
            run
        };
        assert!(run.until(|_| has_save(&bench)));
        let was_killed = run.kill(0);
        let ran = run.end();
        assert_eq!((ran.code, &ran.out), (Some(3), &expected), "{ran:#?}");
        assert_eq!(ran.err.starts_with("note: rank 0 of 2 on "), was_killed, "{ran:#?}");
        // A run that ends with a code of its own may be gone on with, as one that ends with an error.
        fs::remove_dir_all(bench.path("saves")).unwrap();
    }
}

#[test]
fn a_run_that_has_lost_ranks_is_still_saved_by_a_signal() {
    if launcher().is_none() {
        return;
    }
    let _turn = turn();
    let bench = Bench::with("pages.nesl", PAGES);
    let expected = bench.nesl(&["run", "pages.nesl", "20000", "1000"]);
    let arguments = ["--ranks", "2", "--checkpoint", "saves,every=100ms", "pages.nesl", "20000", "1000"];
    let mut run = Run::start(&bench, &arguments, None);
    assert!(run.until(|_| has_save(&bench)));
    assert!(run.kill(1));
    // While nobody listens yet.
    sleep(Duration::from_millis(1300));
    Command::new("kill").args(["-TERM", &run.process.id().to_string()]).status().unwrap();
    let ran = run.end();
    ran.fails(75, &["note: rank 1 of 2 on ", "\nsaved in saves: ", "go on with:  nesl run --resume saves\n"]);
    assert!(!bench.path("saves/.seen").exists());
    let mut run = Run::start(&bench, &["--ranks", "3", "--resume", "saves"], None);
    sleep(Duration::from_millis(1500));
    run.kill(2);
    let gone_on = run.end();
    assert_eq!((gone_on.code, ran.out + &gone_on.out), (Some(0), expected.out), "{}", gone_on.err);
}

//! Jobs of ranks in which something goes wrong: ranks and launchers that are killed, interrupts, outputs that are full.
//! Nothing may hang, nothing may stay behind, and what is said is said once.
//!
//! Needs the feature `mpi`, a launcher and `/proc`; skipped without a launcher. `NESL_FAULT_ROUNDS` says how often each
//! fault is tried (1); with `--nocapture` each try tells how long the job took to end.
#![cfg(all(target_os = "linux", feature = "mpi"))]
#![allow(clippy::unwrap_used, reason = "a panic in a helper is a failed test")]

mod common;

use common::marked::{Mark, parent};
use common::{Bench, OVERSUBSCRIBED, launcher, turn};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// How long a job may take to begin, and to end: the limit of a machine that is busy with other things. The end takes
/// about one second, which Open MPI grants to ranks to end by themselves.
const LIMIT: Duration = Duration::from_secs(60);

/// The ranks of each job.
const RANKS: usize = 3;

/// What a job does when the fault comes. Each program first prints a line.
const STATES: [(&str, &str); 3] = [
    // Every rank for itself, without end.
    ("compute", "0;\nfunction fib(n) = if n < 2 then n else fib(n - 1) + fib(n - 2);\nfib(80);\n"),
    // Sums over all ranks, one after another.
    (
        "collective",
        "0;\nfunction add(v, n) = if sum({x + n : x in v}) < 0 then n else add(v, n + 1);\nadd([0:50000], 1);\n",
    ),
    // Rank 0 writes, the others wait for it or send it what it writes.
    ("output", "0;\nfunction say(n) = if print_line(@sum([0:n])) then say(n + 1) else f;\nsay(10000);\n"),
];

/// How a job is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    /// By `mpirun`.
    Launcher,
    /// By `nesl --ranks`.
    Command,
}

/// Whether the launcher is that of MPICH, which names no rank, and of a crash not always the signal.
fn is_hydra() -> bool {
    let version = launcher().and_then(|launcher| Command::new(launcher).arg("--version").output().ok());
    version.is_some_and(|version| String::from_utf8_lossy(&version.stdout).contains("HYDRA"))
}

fn rounds() -> usize {
    std::env::var("NESL_FAULT_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(1)
}

/// A job that runs, with what it has said.
struct Job {
    process: Child,
    mark: Mark,
    lines: Receiver<String>,
    err: Receiver<String>,
}

/// How a job ended.
#[derive(Debug)]
struct Ended {
    code: Option<i32>,
    err: String,
}

impl Job {
    /// Starts a program on ranks; it waits for nothing to read.
    fn start(bench: &Bench, start: Start, program: &str) -> Job {
        bench.write("a.nesl", program);
        let nesl = env!("CARGO_BIN_EXE_nesl");
        let ranks = RANKS.to_string();
        let mut command = match start {
            Start::Launcher => {
                let mut command = bench.command(&launcher().unwrap());
                command.envs(OVERSUBSCRIBED).args(["-n", &ranks, nesl, "run", "a.nesl"]);
                command
            }
            Start::Command => {
                let mut command = bench.command(Path::new(nesl));
                command.args(["run", "--ranks", &ranks, "a.nesl"]);
                command
            }
        };
        Job::of(&mut command)
    }

    fn of(command: &mut Command) -> Job {
        let mark = Mark::new();
        mark.put(command);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let (line, lines) = channel();
        let out = BufReader::new(process.stdout.take().unwrap());
        std::thread::spawn(move || out.lines().map_while(Result::ok).for_each(|text| _ = line.send(text)));
        let (text, err) = channel();
        let mut pipe = process.stderr.take().unwrap();
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = pipe.read_to_end(&mut bytes);
            let _ = text.send(String::from_utf8_lossy(&bytes).into_owned());
        });
        Job { process, mark, lines, err }
    }

    /// Waits until the program has begun, and is in the middle of what it does.
    fn begun(&self) {
        let line = self.lines.recv_timeout(LIMIT);
        assert_eq!(line.as_deref(), Ok("0"), "the job does not begin: {:?}", self.err.try_recv());
        std::thread::sleep(Duration::from_millis(300));
    }

    /// The process of a rank.
    fn rank(&self, rank: usize) -> u32 {
        self.mark.rank(rank).unwrap_or_else(|| panic!("no rank {rank} among {:?}", self.mark.processes()))
    }

    /// Waits for the end, and until no process is left.
    fn end(mut self, what: &str) -> Ended {
        let start = Instant::now();
        let mut code = None;
        let mut left = self.mark.processes();
        while start.elapsed() < LIMIT && (code.is_none() || !left.is_empty()) {
            std::thread::sleep(Duration::from_millis(10));
            code = code.or(self.process.try_wait().unwrap());
            left = self.mark.processes();
        }
        let took = start.elapsed();
        for (id, _) in &left {
            signal("KILL", *id);
        }
        let status = code.unwrap_or_else(|| panic!("{what}: the job does not end"));
        assert!(left.is_empty(), "{what}: {left:?} are left");
        println!("{what}: ended after {:.2} s", took.as_secs_f64());
        let err = self.err.recv_timeout(LIMIT).unwrap();
        Ended { code: status.code(), err }
    }
}

/// Sends a signal.
fn signal(name: &str, process: u32) {
    let sent = Command::new("kill").args([format!("-{name}"), process.to_string()]).status().unwrap();
    assert!(sent.success(), "cannot send {name} to {process}");
}

/// Tries a fault on a program in every state, so often as rounds say; skipped without a launcher.
fn in_every_state(starts: &[Start], fault: impl Fn(Job, &str, Start)) {
    if launcher().is_none() {
        return;
    }
    let bench = Bench::new();
    for _ in 0..rounds() {
        for (state, program) in STATES {
            for &start in starts {
                let _turn = turn();
                let job = Job::start(&bench, start, program);
                job.begun();
                fault(job, state, start);
            }
        }
    }
}

#[test]
fn a_rank_that_dies_ends_the_job_and_is_named() {
    for victim in 0..RANKS {
        in_every_state(&[Start::Launcher, Start::Command], |job, state, start| {
            signal("KILL", job.rank(victim));
            let what = format!("rank {victim} killed in {state}, {start:?}");
            let Ended { code, err } = job.end(&what);
            match start {
                // The signal itself is the code that hydra ends with.
                Start::Launcher if is_hydra() => assert_eq!(code, Some(9), "{what}: {err}"),
                _ => assert_eq!(code, Some(137), "{what}: {err}"),
            }
            if !is_hydra() {
                assert_eq!(err.matches(&format!("rank {victim} ")).count(), 1, "{what}: {err}");
            }
            if start == Start::Command {
                let first = err.lines().next().unwrap();
                assert!(
                    first.starts_with("error: ") && first.ends_with("was killed by signal 9: the job ends"),
                    "{err}"
                );
                assert_eq!(err.lines().count(), 2, "{what}: {err}");
            }
        });
    }
}

#[test]
fn a_rank_that_crashes_ends_the_job_and_is_named() {
    in_every_state(&[Start::Command], |job, state, _| {
        signal("ABRT", job.rank(RANKS - 1));
        let what = format!("last rank aborted in {state}");
        let Ended { code, err } = job.end(&what);
        if is_hydra() {
            assert!(code.is_some_and(|code| code > 100), "{what}: {code:?} {err}");
            assert!(err.starts_with("error: a rank of 3 on ") && err.contains(" crashed"), "{what}: {err}");
            return;
        }
        assert_eq!(code, Some(134), "{what}: {err}");
        assert!(err.starts_with("error: rank 2 of 3") && err.contains("crashed with signal 6"), "{what}: {err}");
        assert_eq!(err.lines().count(), 2, "{what}: {err}");
    });
}

#[test]
fn interrupts_end_the_job() {
    for (name, code, text) in [("INT", 130, "interrupted\n"), ("TERM", 143, "terminated\n")] {
        in_every_state(&[Start::Launcher, Start::Command], |job, state, start| {
            signal(name, job.process.id());
            let what = format!("{name} in {state}, {start:?}");
            let ended = job.end(&what);
            match start {
                Start::Command => assert_eq!((ended.code, ended.err.as_str()), (Some(code), text), "{what}"),
                // Hydra ends with what its proxies have reported by then: nothing, if they end first.
                Start::Launcher if is_hydra() => {}
                Start::Launcher => assert_ne!(ended.code, Some(0), "{what}: {}", ended.err),
            }
        });
    }
}

#[test]
fn nothing_outlives_its_launcher() {
    // Of a job that the command has started, the launcher is killed below it, or the command itself.
    in_every_state(&[Start::Launcher, Start::Command], |job, state, start| {
        let front = job.process.id();
        let launcher = match start {
            Start::Launcher => front,
            Start::Command => {
                let others =
                    job.mark.processes().into_iter().filter(|(id, rank)| rank.is_none() && parent(*id) == front);
                let [(launcher, _)] = others.collect::<Vec<_>>()[..] else { panic!("one launcher") };
                launcher
            }
        };
        signal("KILL", launcher);
        let what = format!("launcher killed in {state}, {start:?}");
        let ended = job.end(&what);
        if start == Start::Command {
            assert_eq!(ended.code, Some(137), "{what}");
            assert!(
                ended.err.ends_with("error: the launcher was ended by signal 9: the job ends\n"),
                "{what}: {}",
                ended.err
            );
        }
    });
    in_every_state(&[Start::Command], |job, state, _| {
        signal("KILL", job.process.id());
        assert_eq!(job.end(&format!("command killed in {state}")).code, None);
    });
}

#[test]
fn a_command_that_a_rank_runs_ends_with_it() {
    if launcher().is_none() {
        return;
    }
    let bench = Bench::new();
    for _ in 0..rounds() {
        let _turn = turn();
        let job = Job::start(&bench, Start::Command, "0;\nshell_command(\"sleep 1000\", \"\");\n");
        job.begun();
        signal("KILL", job.rank(0));
        let ended = job.end("rank 0 killed while a command runs");
        assert_eq!(ended.code, Some(137), "{}", ended.err);
    }
}

#[test]
fn an_error_on_the_last_rank_is_said_once() {
    if launcher().is_none() {
        return;
    }
    let program = "v = [0:30000];\nsum({10 / (29998 - x) : x in v});\n";
    let bench = Bench::with("a.nesl", program);
    let alone = bench.nesl(&["run", "a.nesl"]);
    alone.fails(1, &["division of 10 by zero", "first in element 29998"]);
    for _ in 0..rounds() {
        for start in [Start::Launcher, Start::Command] {
            let _turn = turn();
            let ended = Job::start(&bench, start, program).end("error on the last rank");
            assert_eq!(ended.code, Some(1), "{}", ended.err);
            match start {
                Start::Command => assert_eq!(ended.err, alone.err),
                Start::Launcher => assert_eq!(ended.err.matches(alone.err.trim_end()).count(), 1, "{}", ended.err),
            }
        }
    }
}

#[test]
fn a_full_output_ends_the_job_with_an_error() {
    if launcher().is_none() {
        return;
    }
    let bench = Bench::new();
    let say = STATES[2].1;
    for _ in 0..rounds() {
        for program in ["[0:200000];\n", say] {
            bench.write("a.nesl", program);
            let _turn = turn();
            let mut command = bench.command(Path::new(env!("CARGO_BIN_EXE_nesl")));
            let ranks = RANKS.to_string();
            // The standard output of the shell is the pipe that is watched.
            let mut shell = bench.command(Path::new("sh"));
            shell
                .args(["-c", "exec \"$0\" run --ranks \"$1\" a.nesl > /dev/full"])
                .args([env!("CARGO_BIN_EXE_nesl"), &ranks]);
            let ended = Job::of(&mut shell).end("full output");
            command.args(["run", "a.nesl"]).stdout(File::options().write(true).open("/dev/full").unwrap());
            let alone = command.stdin(Stdio::null()).output().unwrap();
            let err = String::from_utf8_lossy(&alone.stderr);
            assert!(err.contains("No space left"), "{err}");
            assert_eq!(ended.code, Some(1), "{}", ended.err);
            assert!(ended.err.contains("cannot write the output: No space left on device"), "{}", ended.err);
            assert_eq!(ended.err.lines().count(), 1, "{}", ended.err);
        }
        for call in [
            "write_lines_to_file({@x : x in [0:200000]}, \"/dev/full\");\n",
            "write_vector_to_npy([0:200000], \"/dev/full\");\n",
            "write_string_to_file({`a : x in [0:200000]}, \"/dev/full\");\n",
        ] {
            let _turn = turn();
            bench.write("a.nesl", call);
            let alone = bench.nesl(&["run", "a.nesl"]);
            alone.fails(1, &["No space left"]);
            let ended = Job::start(&bench, Start::Command, call).end("full file");
            assert_eq!((ended.code, ended.err.as_str()), (Some(1), alone.err.as_str()), "{call}");
            let ended = Job::start(&bench, Start::Launcher, call).end("full file under mpirun");
            assert_eq!(ended.code, Some(1), "{}", ended.err);
            assert_eq!(ended.err.matches("No space left").count(), 1, "{}", ended.err);
        }
    }
}

#[test]
fn a_reader_that_has_seen_enough_ends_the_job_quietly() {
    if launcher().is_none() {
        return;
    }
    let bench = Bench::with("a.nesl", STATES[2].1);
    let ranks = RANKS.to_string();
    for _ in 0..rounds() {
        let _turn = turn();
        let mut shell = bench.command(Path::new("sh"));
        let script = "\"$0\" run --ranks \"$1\" a.nesl | head -n 2";
        shell.args(["-c", script, env!("CARGO_BIN_EXE_nesl"), &ranks]);
        let ended = Job::of(&mut shell).end("reader gone");
        assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""));
    }
}

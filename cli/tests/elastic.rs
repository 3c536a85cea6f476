//! Ranks that become more and fewer: in a session by `:ranks N`, and in a run as a file says.
//!
//! Needs the feature `mpi` and Open MPI, which can start ranks while a job runs; skipped without a launcher.
#![cfg(all(target_os = "linux", feature = "mpi"))]
#![allow(clippy::unwrap_used, reason = "a panic in a helper is a failed test")]

mod common;

use common::marked::Mark;
use common::{Bench, Ran, launcher, turn};
use rexpect::session::{Options, PtySession, spawn_with_options};
use std::io::BufRead as _;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// What no job takes.
const GENEROUS: Duration = Duration::from_secs(60);

/// Values of all kinds.
const VALUES: &str = r#"
n = 42;
x = 0.1 + 0.2;
text = "elastic ranks";
big = {float(rem(i * 7919, 1000003)) / 3.0 : i in [0:1000000]};
none = {i in [0:10] | i > 10};
skewed = {[0:if i == 7 then 9000 else rem(i, 3)] : i in [0:6000]};
nested = [["a", ""], [], ["bc"]];
triple = (3, [1.5, 2.5], "two");
datatype point(int, [float]);
p = point(7, {sqrt(float(i)) : i in [0:8000]});
view = take(drop(big, 1000), 600000);
function adder(v) = (y => sum(v) + y);
add = adder([0:5000]);
table = create_table({(i, i * i) : i in [0:7000]});
shared = big;
both = (big, shared);
function qsort(a) = if #a < 2 then a else
  let p = a[#a / 2]; parts = {qsort(v) : v in [{e in a | e < p}, {e in a | e > p}]}
  in parts[0] ++ {e in a | e == p} ++ parts[1];
"#;

/// What they are, and what can be done with them; bits of floats show in what is printed of them.
const CHECKS: &str = r#"
(n, x, text, nested, triple, #none);
hash((n, x, text, nested, triple, none), 1000000007);
hash(big, 1000000007); sum(big); #big; big[999999];
hash(skewed, 1000000007); #skewed; sum({#s : s in skewed}); sum({sum(s) : s in skewed});
let point(a, b) = p in (a, sum(b), #b);
sum(view); view[599999];
add(5);
search_table([6999, 7000], table);
let (a, b) = both in sum({l * r : l in a; r in b});
sum(qsort({trunc(e) : e in take(big, 20000)}));
qsort([3, 1, 2]);
rand(1000000007); sum({rand(i + 1) : i in [0:10000]});
{#s : s in take(skewed, 9)};
"#;

/// Runs a session with inputs.
fn session(bench: &Bench, arguments: &[&str], inputs: &str) -> Ran {
    bench.piped(arguments, inputs)
}

/// The answers without what `:ranks N` says, and that.
fn apart(out: &str) -> (Vec<&str>, Vec<&str>) {
    out.lines().partition(|line| !(line.contains(" rank") && line.contains(" moved in ")))
}

#[test]
fn values_of_all_kinds_are_the_same_bits_on_any_ranks() {
    if launcher().is_none() {
        return;
    }
    let _turn = turn();
    let bench = Bench::new();
    let (mut moving, mut staying) = (VALUES.to_owned() + CHECKS, VALUES.to_owned() + CHECKS);
    for ranks in [4, 2, 8, 3, 1] {
        moving += &format!(":ranks {ranks}\n{CHECKS}");
        staying += CHECKS;
    }
    let expected = session(&bench, &["repl"], &staying);
    assert_eq!((expected.code, expected.err.as_str()), (Some(0), ""), "{}", expected.out);
    let ran = session(&bench, &["repl", "--ranks", "1"], &moving);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{}", ran.out);
    let (answers, changes) = apart(&ran.out);
    assert_eq!(answers, expected.out.lines().collect::<Vec<_>>());
    let begins = ["4 ranks (3 started in ", "2 ranks (2 parked)", "8 ranks (4 started in ", "3 ranks (5 parked)"];
    assert_eq!(changes.len(), 5, "{changes:?}");
    for (change, begin) in changes.iter().zip(begins.into_iter().chain(["1 rank (2 parked)"])) {
        assert!(change.starts_with(begin), "{change}");
    }
    // Of 4 blocks on the way to 2, half of the second, and all of the others but the first, change their owner.
    assert!(changes[1].ends_with("% stayed, 3 messages"), "{}", changes[1]);
    eprintln!("{changes:#?}");
}

#[test]
fn ranks_come_back_without_new_processes() {
    if launcher().is_none() {
        return;
    }
    let _turn = turn();
    let bench = Bench::new();
    let mut inputs = "v = {i * i : i in [0:100000]};\n:ranks 4\n:ranks\n".to_owned();
    for round in 0..20 {
        inputs += &format!(":ranks {}\nsum(v);\n", [2, 4, 3, 1][round % 4]);
    }
    let ran = session(&bench, &["repl", "--ranks", "2"], &(inputs + ":ranks 2\n:ranks\n"));
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{}", ran.out);
    let (answers, changes) = apart(&ran.out);
    assert_eq!(changes.len(), 22, "{}", ran.out);
    assert_eq!(changes.iter().filter(|change| change.contains(" started in ")).count(), 1, "{changes:?}");
    let sums = answers.iter().filter(|line| **line == "it = 333328333350000 : int").count();
    assert_eq!(sums, 20, "{}", ran.out);
    let listed: Vec<Vec<&str>> = answers.iter().map(|line| line.split_whitespace().collect()).collect();
    let listed: Vec<_> = listed.iter().filter(|words| words.len() > 5 && words[0].parse::<usize>().is_ok()).collect();
    assert_eq!(listed.len(), 8, "{}", ran.out);
    let processes = |rows: &[&Vec<&str>]| rows.iter().map(|row| row[2].to_owned()).collect::<Vec<_>>();
    assert_eq!(processes(&listed[..4]), processes(&listed[4..]), "{}", ran.out);
    let states: Vec<_> = listed[4..].iter().map(|row| *row.last().unwrap()).collect();
    assert_eq!(states, ["talks", "works", "parked", "parked"], "{}", ran.out);
}

#[test]
fn who_asks_for_what_cannot_be_keeps_the_session() {
    if launcher().is_none() {
        return;
    }
    let _turn = turn();
    let bench = Bench::new();
    let inputs = "v = [0:100000];\n:ranks 0\n:ranks many\n:ranks -1\n:ranks 65536\n:ranks 2\n:ranks 3;\n{1 / (x - 99999) : x in \
                  v};\nsum(v);\n:ranks 2\nsum(v);\n";
    let ran = session(&bench, &["repl", "--ranks", "2"], inputs);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert_eq!(ran.err.matches("`:ranks` takes a number from 1 to 65535").count(), 4, "{}", ran.err);
    assert!(ran.err.contains("E0402"), "{}", ran.err);
    assert!(ran.out.contains("2 ranks, as before\n3 ranks (1 started in "), "{}", ran.out);
    assert_eq!(ran.out.matches("it = 4999950000 : int\n").count(), 2, "{}", ran.out);
    // What cannot be changed says why, and the session goes on.
    let mut unlaunched = bench.command(Path::new(env!("CARGO_BIN_EXE_nesl")));
    unlaunched.env("NESL_MPIRUN", "/nowhere/mpirun");
    let alone = common::finish(&mut unlaunched, "v = [0:10];\n:ranks 4\nsum(v);\n");
    assert_eq!(
        (alone.code, alone.out.as_str()),
        (Some(1), "v = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] : [int]\nit = 45 : int\n")
    );
    assert!(alone.err.contains("the session goes on in this process: ") && alone.err.contains("/nowhere"), "{alone:?}");
    let alone = session(&bench, &["--engine", "reference"], ":ranks 4\n1 + 1;\n");
    assert!(alone.err.contains("this engine runs in one process") && alone.out.contains("it = 2"), "{alone:?}");
}

/// Ctrl-C ends what is evaluated, also where the instances of an apply-to-each are; `fib` is known.
fn interrupts_end_evaluations(session: &mut PtySession) {
    for endless in ["fib(90)", "sum({fib(80 + rem(i, 3)) : i in [0:5000]})"] {
        session.send_line(endless).unwrap();
        std::thread::sleep(Duration::from_millis(300));
        session.send_control('c').unwrap();
        session.exp_string("interrupted").unwrap();
        session.exp_string("nesl> ").unwrap();
    }
}

#[test]
fn a_session_that_began_in_one_process_gets_ranks() {
    if launcher().is_none() {
        return;
    }
    let _turn = turn();
    let bench = Bench::new();
    let more = ":set shown 4\nrand(1000000007);\n";
    let plain = format!("{VALUES}{more}{CHECKS}{CHECKS}1 / 0;\n[0:9];\n{CHECKS}");
    let alone = session(&bench, &["--threads", "1"], &plain);
    let moved = format!("{VALUES}{more}:ranks 3\n{CHECKS}:ranks 1\n{CHECKS}1 / 0;\n:ranks 2\n[0:9];\n{CHECKS}");
    let ranks = session(&bench, &["--threads", "1"], &moved);
    assert_eq!((alone.code, ranks.code), (Some(1), Some(1)), "{ranks:?}");
    assert_eq!(alone.err, ranks.err);
    let (changes, answers): (Vec<&str>, Vec<&str>) =
        ranks.out.lines().partition(|line| line.contains(" rank") && line.contains(" moved "));
    assert_eq!(answers, alone.out.lines().collect::<Vec<_>>());
    assert!(
        changes[0].starts_with("3 ranks, started in ") && changes[0].contains(" names moved to them"),
        "{changes:?}"
    );
    assert_eq!(changes.len(), 3, "{changes:?}");
    assert_eq!(std::fs::read_dir(bench.path(".")).map(Iterator::count).ok(), Some(0), "nothing is left");
    // What has no end is the last input, and says what it lacks.
    let cut = session(&bench, &[], "x = 4;\n:ranks 2\n(x +");
    assert_eq!(cut.code, Some(1), "{cut:?}");
    assert!(cut.err.contains("E01"), "{cut:?}");
}

#[test]
fn a_session_at_a_terminal_that_began_in_one_process_gets_ranks() {
    if launcher().is_none() {
        return;
    }
    let _turn = turn();
    let bench = Bench::new();
    let mut command = bench.command(Path::new(env!("CARGO_BIN_EXE_nesl")));
    command.args(["--threads", "1"]).env("TERM", "xterm").env("NO_COLOR", "1");
    let mut session = spawn_with_options(command, Options::new().timeout_ms(Some(60_000))).unwrap();
    session.exp_string("[1] nesl> ").unwrap();
    let mut answers = |input: &str, answer: &str, prompt: &str| {
        session.send_line(input).unwrap();
        session.exp_string(answer).unwrap();
        session.exp_string(prompt).unwrap();
    };
    answers("v = {float(i) : i in [0:100000]}", "v = [", "[2] nesl> ");
    answers("function fib(n) = if n < 2 then n else fib(n - 1) + fib(n - 2)", "fib = fn : ", "[3] nesl> ");
    answers("sum(v)", "it = 4999950000.0 : float", "[4] nesl> ");
    answers(":ranks 2", "2 ranks, started in ", "nesl> ");
    answers("_3 + it", "it = 9999900000.0 : float", "nesl> ");
    interrupts_end_evaluations(&mut session);
    let mut answers = |input: &str, answer: &str| {
        session.send_line(input).unwrap();
        session.exp_string(answer).unwrap();
        session.exp_string("nesl> ").unwrap();
    };
    answers(":ranks 3", "3 ranks (1 started in ");
    answers("sum(v)", "it = 4999950000.0 : float");
    session.send_line("exit").unwrap();
    session.exp_eof().unwrap();
    let status = format!("{:?}", session.process().wait());
    assert!(status.ends_with(", 0))"), "{status}");
}

#[test]
fn who_cannot_start_ranks_keeps_the_session() {
    if launcher().is_none() {
        return;
    }
    let _turn = turn();
    let bench = Bench::new();
    // A command of its own, which is taken away and made useless while it runs.
    let own = bench.path("nesl");
    std::fs::copy(env!("CARGO_BIN_EXE_nesl"), &own).unwrap();
    let inputs = "v = [0:100000];
shell_command(\"chmod -x nesl\", \"\");
:ranks 3
sum(v);
shell_command(\"rm nesl\", \"\");
:ranks 3
sum(v);
";
    let ran = common::finish(bench.command(&own).args(["repl", "--ranks", "2"]), inputs);
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    assert!(ran.err.contains("the ranks stay as they are: no process can be started of "), "{}", ran.err);
    assert!(ran.err.contains("the ranks stay as they are: the program that ranks run is gone: "), "{}", ran.err);
    assert_eq!(ran.out.matches("it = 4999950000 : int\n").count(), 2, "{}", ran.out);
    // Each rank takes descriptors: as many as may be open are too few for so many ranks.
    let mut shell = bench.command(Path::new("sh"));
    shell.args(["-c", "ulimit -n 256; exec \"$0\" repl --ranks 2", env!("CARGO_BIN_EXE_nesl")]);
    let ran = common::finish(&mut shell, "v = [0:100000];\n:ranks 900\nsum(v);\n");
    assert_eq!((ran.code, ran.err.lines().count()), (Some(1), 2), "{ran:#?}");
    assert!(ran.err.starts_with("the ranks stay as they are: "), "{}", ran.err);
    assert!(ran.out.ends_with("it = 4999950000 : int\n"), "{}", ran.out);
}

#[test]
fn the_exit_code_of_a_session_that_has_moved_is_what_its_program_says() {
    if launcher().is_none() {
        return;
    }
    let _turn = turn();
    let bench = Bench::new();
    let code = |end: &str| {
        let ran = bench.piped(&["--threads", "1"], &format!("nothing;\n:ranks 2\n1 + 1;\n{end}\n"));
        assert!(ran.out.contains("it = 2 : int\n"), "{ran:?}");
        ran.code
    };
    assert_eq!(["exit(0);", "exit(3);", "quit", "exit();", ""].map(code), [0, 3, 1, 1, 1].map(Some));
    let left = std::fs::read_dir(bench.path("")).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(left.filter(|name| name.to_string_lossy().starts_with(".nesl")).count(), 0);
}

/// The processes that a listing shows.
fn processes(listing: &str) -> Vec<u32> {
    let rows = listing.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    rows.filter(|row| row.len() > 5 && row[0].parse::<usize>().is_ok()).map(|row| row[2].parse().unwrap()).collect()
}

/// What a process has computed so far, in ticks of a hundredth of a second.
fn ticks(process: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

#[test]
fn a_session_at_a_terminal_grows_sleeps_and_names_who_dies() {
    if launcher().is_none() {
        return;
    }
    let _turn = turn();
    let bench = Bench::new();
    let mut command = bench.command(Path::new(env!("CARGO_BIN_EXE_nesl")));
    command.args(["repl", "--ranks", "2", "--threads", "1"]).env("TERM", "xterm").env("NO_COLOR", "1");
    let mut session = spawn_with_options(command, Options::new().timeout_ms(Some(60_000))).unwrap();
    session.exp_string("nesl> ").unwrap();
    let mut answers = |input: &str, answer: &str| {
        session.send_line(input).unwrap();
        session.exp_string(answer).unwrap();
        session.exp_string("nesl> ").unwrap()
    };
    answers("v = {float(i) : i in [0:100000]}", "v = [");
    answers("function fib(n) = if n < 2 then n else fib(n - 1) + fib(n - 2)", "fib = fn : ");
    answers(":ranks 4", "4 ranks (2 started in ");
    answers("sum(v)", "it = 4999950000.0 : float");
    answers("_3 + 1.0", "it = 4999950001.0 : float");
    let listing = answers(":ranks", "rank  machine");
    let all = processes(&format!("rank  machine{listing}"));
    assert_eq!(all.len(), 4, "{listing}");
    // An interrupt ends an evaluation on all of them.
    interrupts_end_evaluations(&mut session);
    let mut answers = |input: &str, answer: &str| {
        session.send_line(input).unwrap();
        session.exp_string(answer).unwrap();
        session.exp_string("nesl> ").unwrap()
    };
    answers(":ranks 1", "1 rank (3 parked)");
    answers("sum(v)", "it = 4999950000.0 : float");
    let before: Vec<u64> = all[1..].iter().map(|&process| ticks(process)).collect();
    std::thread::sleep(Duration::from_secs(3));
    let after = all[1..].iter().map(|&process| ticks(process));
    let spent: Vec<u64> = before.iter().zip(after).map(|(before, after)| after - before).collect();
    assert!(spent.iter().all(|&ticks| ticks <= 3), "parked ranks take hundredths of a second in three: {spent:?}");
    answers(":ranks 3", "3 ranks (2 unparked in ");
    answers("sum(v)", "it = 4999950000.0 : float");
    // A parked rank that is killed ends the job as any other does, by its number among all.
    std::process::Command::new("kill").args(["-9", &all[3].to_string()]).status().unwrap();
    session.exp_string("error: rank 3 of 4").unwrap();
    session.exp_string("was killed by signal 9").unwrap();
    session.exp_eof().unwrap();
    let status = format!("{:?}", session.process().wait());
    assert!(status.ends_with(", 137))"), "{status}");
    let begun = Instant::now();
    while all.iter().any(|process| Path::new(&format!("/proc/{process}/exe")).exists()) {
        assert!(begun.elapsed() < GENEROUS, "processes are left");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A loop whose rounds are lines, over columns in parts, with sums whose bits tell their order.
const LOOP: &str = "
n = 60000;
to = {rem(i * 7919 + 13, n) : i in [0:n]};
function step(v) = {0.15 + 0.85 * (v[k] + x) / 2.0 + sin(x) : k in to; x in v};
function rounds(v, k) = if k == 0 then v else rounds(step(v), k - 1);
v = rounds({float(i) / 7.0 : i in [0:n]}, ROUNDS);
sum(v);
sum({rand(1000) : i in to});
(v[0], v[59999]);
";

#[test]
fn a_run_goes_on_on_other_ranks_in_the_middle_of_its_loop() {
    if launcher().is_none() {
        return;
    }
    let _turn = turn();
    let bench = Bench::with("loop.nesl", LOOP.replace("ROUNDS", "6000"));
    let expected = bench.nesl(&["run", "loop.nesl"]);
    assert_eq!((expected.code, expected.err.as_str()), (Some(0), ""), "{}", expected.out);
    bench.write("wanted", "4\n");
    let mut command = bench.command(Path::new(env!("CARGO_BIN_EXE_nesl")));
    command.args(["run", "--ranks", "2", "--threads", "1", "--stats", "--ranks-from", "wanted", "loop.nesl"]);
    let (reading, err_end) = std::io::pipe().unwrap();
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(err_end).spawn().unwrap();
    drop(command);
    let process = child.id().to_string();
    // Each number is asked for when the one before has been answered, however fast the machine is.
    let changes = [("4 ranks (2 started in ", "3 4\n"), ("note: wanted does not say how many ranks are wanted", "2\n")];
    let mut changes = changes.into_iter().peekable();
    let mut err = String::new();
    for line in std::io::BufReader::new(reading).lines() {
        let line = line.unwrap();
        if let Some((_, wanted)) = changes.next_if(|(answer, _)| line.contains(answer)) {
            bench.write("wanted", wanted);
            std::process::Command::new("kill").args(["-USR2", &process]).status().unwrap();
        }
        err += &(line + "\n");
    }
    let ran = child.wait_with_output().unwrap();
    let out = String::from_utf8(ran.stdout).unwrap();
    assert_eq!((ran.status.code(), &out), (Some(0), &expected.out), "{err}");
    assert!(err.contains("2 ranks (2 parked)"), "{err}");
    eprintln!("{err}");
}

#[test]
fn a_rank_that_is_killed_while_ranks_change_is_named() {
    if launcher().is_none() {
        return;
    }
    let _turn = turn();
    let bench = Bench::with("loop.nesl", LOOP.replace("ROUNDS", "1000000"));
    // The first dies while the others come, the second when it works, the last when it is parked again.
    for (round, victim) in [(0, 1), (1, 3), (2, 2)] {
        bench.write("wanted", "2\n");
        let mark = Mark::new();
        let mut command = bench.command(Path::new(env!("CARGO_BIN_EXE_nesl")));
        command.args(["run", "--ranks", "2", "--threads", "1", "--ranks-from", "wanted", "loop.nesl"]);
        mark.put(&mut command);
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let want = |ranks: &str| {
            bench.write("wanted", ranks);
            std::process::Command::new("kill").args(["-USR2", &child.id().to_string()]).status().unwrap();
        };
        // Those that came with the launcher, then all in the order in which they came.
        let ranks = |count: usize| {
            let begun = Instant::now();
            loop {
                let mut found: Vec<u32> =
                    mark.processes().iter().filter(|(_, rank)| rank.is_some()).map(|&(process, _)| process).collect();
                found.sort_unstable();
                if found.len() >= count {
                    return found;
                }
                assert!(begun.elapsed() < GENEROUS, "{found:?}");
                std::thread::sleep(Duration::from_millis(5));
            }
        };
        ranks(2);
        std::thread::sleep(Duration::from_millis(2500));
        want("4\n");
        let all = if round == 0 { ranks(3) } else { ranks(4) };
        if round > 0 {
            std::thread::sleep(Duration::from_millis(2500));
        }
        if round == 2 {
            want("1\n");
            std::thread::sleep(Duration::from_millis(1500));
        }
        std::process::Command::new("kill").args(["-9", &all[victim].to_string()]).status().unwrap();
        let ran = child.wait_with_output().unwrap();
        let err = String::from_utf8(ran.stderr).unwrap();
        assert_eq!(ran.status.code(), Some(137), "{round}: {err}");
        assert_eq!(err.lines().count(), 2, "{round}: {err}");
        assert!(err.starts_with("error: rank ") && err.contains(" of 4 on "), "{round}: {err}");
        let begun = Instant::now();
        while !mark.processes().is_empty() {
            assert!(begun.elapsed() < GENEROUS, "processes are left");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

#[test]
fn a_file_of_ranks_is_for_runs_on_ranks() {
    let bench = Bench::with("a.nesl", "1 + 1;");
    bench.nesl(&["run", "--ranks-from", "wanted", "a.nesl"]).fails(2, &["--ranks N"]);
    bench
        .nesl(&["run", "--ranks", "2", "--checkpoint", "saves", "--ranks-from", "wanted", "a.nesl"])
        .fails(2, &["--ranks-from is not for runs that are saved"]);
    if launcher().is_none() {
        return;
    }
    let _turn = turn();
    // Without a file the run is one on ranks like any other.
    let ran = bench.nesl(&["run", "--ranks", "1", "--ranks-from", "wanted", "a.nesl"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "2\n"), "{ran:?}");
}

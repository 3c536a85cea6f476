//! Instances of costs that nobody knows, and recursion that begins with few instances, on ranks: each instance is run
//! by one rank, in native code. Work is counted, so that what every rank repeats shows; times are printed, and decide
//! nothing.

use nesl_tests::launcher;
use nesl_tests::programs::root;
use nesl_tests::stats::Table;
use std::path::Path;
use std::process::{Command, Stdio};

/// The numbers of ranks.
const RANKS: [usize; 3] = [2, 3, 4];

/// Work of lifted levels, which every rank does: what dealing out costs, whatever is dealt out.
const LEVELS: u64 = 300_000;

/// A program of `tests/ranks`, its arguments, and what it prints. The numbers are those of Fibonacci, of ways to place
/// queens (OEIS A000170), of ways to pay with British coins, and, for costs, of one process.
struct Task {
    name: &'static str,
    arguments: &'static [&'static str],
    result: Option<&'static str>,
}

const TASKS: &[Task] = &[
    Task { name: "fibonacci", arguments: &["27"], result: Some("196418") },
    Task { name: "fibonacci", arguments: &["1"], result: Some("1") },
    Task { name: "queens", arguments: &["9"], result: Some("352") },
    Task { name: "boards", arguments: &["8"], result: Some("92") },
    Task { name: "payments", arguments: &["100"], result: Some("4563") },
    Task { name: "chain", arguments: &["20000"], result: Some("20000") },
    Task { name: "costs", arguments: &["0", "1", "1024"], result: None },
    Task { name: "costs", arguments: &["0", "8", "1024"], result: None },
    Task { name: "costs", arguments: &["0", "64", "1024"], result: None },
    Task { name: "costs", arguments: &["1", "1", "1024"], result: None },
    Task { name: "costs", arguments: &["2", "150000", "1021"], result: None },
    // Arguments that are spread over the ranks.
    Task { name: "costs", arguments: &["1", "1", "6000"], result: None },
];

fn run(mut command: Command, task: &Task) -> (String, Table) {
    let file = format!("tests/ranks/{}.nesl", task.name);
    command.args(["run", "--threads", "1", "--stats", &file, "--"]).args(task.arguments);
    let output = command.env("MPIEXEC_TIMEOUT", "300").current_dir(root()).stdin(Stdio::null()).output();
    let output = output.expect("the command starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let err = text(&output.stderr);
    assert!(output.status.success(), "{}: {err}", task.name);
    (text(&output.stdout), Table::read(&err))
}

/// Whether the work of one process is divided among ranks, not repeated.
fn check(task: &Task, launcher: &Path, nesl: &Path) {
    let what = format!("{} {}", task.name, task.arguments.join(" "));
    let (alone, table) = run(Command::new(nesl), task);
    if let Some(result) = task.result {
        assert_eq!(alone.trim_end(), result, "{what}");
    }
    let one = table.column("work")[0];
    for ranks in RANKS {
        let (out, table) = run(launcher::command(launcher, ranks, nesl), task);
        let (work, busy) = (table.column("work"), table.seconds("busy"));
        let most = busy.iter().copied().fold(0.0, f64::max);
        println!(
            "{what:24} {ranks} ranks: work {:.2} times that of one process, busy time {:.3} s of the busiest, imbalance {:.3}",
            work.iter().sum::<u64>() as f64 / one as f64,
            most,
            most * ranks as f64 / busy.iter().sum::<f64>().max(1e-9)
        );
        assert_eq!(out, alone, "{what} on {ranks} ranks");
        let most = one + one / 5 + LEVELS * ranks as u64;
        assert!(work.iter().sum::<u64>() <= most, "{what} on {ranks} ranks: {work:?}, but {one} in one process");
    }
}

#[test]
fn tasks_are_divided_and_not_repeated() {
    let Some((launcher, nesl)) = launcher::tools() else { return };
    TASKS.iter().for_each(|task| check(task, &launcher, &nesl));
}

#[test]
fn the_first_instance_that_fails_is_the_error_whoever_ran_it() {
    let Some((launcher, nesl)) = launcher::tools() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("fails.nesl");
    let text = "function turns(n, x) = if n == 0 then x else turns(n - 1, rem(x * 5 + 3, 1009));\n\
                function task(i, first) = if i == first or i == 190 or i > 300 then i / (i - i) else turns(100 * i, i);\n\
                function main(n, first) : (int, int) -> int = sum({task(i, first) : i in [0:n]});\n";
    std::fs::write(&file, text).expect("a file");
    for (n, first) in [(400, 0), (400, 37), (400, 189), (6000, 299), (191, 190)] {
        let run = |mut command: Command| {
            command.arg("run").args(["--threads", "1"]).arg(&file).args(["--", &n.to_string(), &first.to_string()]);
            let output = command.stdin(Stdio::null()).output().expect("the command starts");
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!((output.status.code() == Some(0), output.stdout.is_empty()), (false, true), "{text}");
            text
        };
        let alone = run(Command::new(&nesl));
        assert!(alone.contains("E0402"), "{alone}");
        for ranks in RANKS {
            let together = run(launcher::command(&launcher, ranks, &nesl));
            assert!(together.contains(alone.trim_end()), "{ranks} ranks: {together}\none process: {alone}");
        }
    }
}

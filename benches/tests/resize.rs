//! The twelve ways to change the number of ranks, at a small size: what arrives is checked by the ranks themselves.

use std::path::Path;
use std::process::{Command, Output};

/// What Open MPI prints where its server lost a request of processes that find each other, which it does now and then
/// with many of them on few cores.
const LOST: &str = "A request has timed out and will therefore fail";

/// Runs the program; again where Open MPI lost a request, but not for ever.
fn run(arguments: &[&str]) -> Output {
    let bench = Path::new(env!("CARGO_BIN_EXE_nesl-bench-resize"));
    let mut attempts = 0;
    loop {
        let output = Command::new(bench).args(arguments).output().expect("the program starts");
        attempts += 1;
        if attempts == 3 || !String::from_utf8_lossy(&output.stderr).contains(LOST) {
            return output;
        }
    }
}

#[test]
fn every_way_moves_the_right_elements() {
    if !Command::new("mpirun").arg("--version").output().is_ok_and(|output| output.status.success()) {
        assert!(std::env::var_os("NESL_REQUIRE_MPI").is_none(), "mpirun");
        println!("skipped: no mpirun");
        return;
    }
    for pair in ["1:3", "3:2"] {
        let output = run(&["--pairs", pair, "--elements", "10007", "--repetitions", "2", "--jobs", "1"]);
        let (printed, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{printed}{errors}");
        for (method, transport) in ["Baseline", "BaselineIntra", "Merge"].iter().zip(["P2PS", "P2PA", "COLS"]) {
            let rows = printed.lines().filter(|line| line.contains(&format!(" {method}-{transport} ")));
            assert_eq!(rows.count(), 1, "{printed}");
        }
        assert_eq!(printed.lines().filter(|line| line.contains(" -> ")).count(), 12, "{printed}");
    }
}

#[test]
fn tasks_of_all_kinds_are_as_many_as_the_source_counts() {
    if !Command::new("mpirun").arg("--version").output().is_ok_and(|output| output.status.success()) {
        assert!(std::env::var_os("NESL_REQUIRE_MPI").is_none(), "mpirun");
        println!("skipped: no mpirun");
        return;
    }
    // fib:45:40 has 24 tasks, 12 of them threads and 13 processes with the root: so has any N five above the grain.
    // Those of four queens are the boards of one to four rows: 4 + 6 + 4 + 2. Halves of halves of halves are 2 + 4 + 8,
    // quarters of quarters 4 + 16.
    let problems = [
        ("spawn:3", (4, 3, 1)),
        ("fib:12:7", (25, 12, 13)),
        ("queens:4", (17, 8, 9)),
        ("merge_sort:800:100", (15, 10, 5)),
        ("mandelbrot:400", (21, 4, 17)),
    ];
    for (problem, (processes, threads, alternating)) in problems {
        let output = run(&["--tasks", problem, "--jobs", "1"]);
        let (printed, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{printed}{errors}");
        let rows = printed.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>());
        let counts = rows.map(|row| [row[1].to_owned(), row[2].to_owned(), row[3].to_owned()]).collect::<Vec<_>>();
        let expected =
            [("processes", processes, 0), ("alternating", alternating, threads), ("threads", 1, processes - 1)];
        let expected =
            expected.map(|(kind, processes, threads)| [kind.to_owned(), processes.to_string(), threads.to_string()]);
        assert_eq!(counts, expected, "{problem}");
    }
}

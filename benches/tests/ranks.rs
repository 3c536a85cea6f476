//! The comparison of ranks and threads, at a small size, where there are MPI and an executable to compare.

use std::path::Path;
use std::process::Command;

#[test]
fn every_program_runs_in_every_way() {
    let comparison = Path::new(env!("CARGO_BIN_EXE_nesl-bench-ranks"));
    let has_launcher = Command::new("mpirun").arg("--version").output().is_ok_and(|output| output.status.success());
    if !has_launcher || !comparison.with_file_name("nesl").is_file() {
        assert!(std::env::var_os("NESL_REQUIRE_MPI").is_none(), "mpirun, or nesl beside {}", comparison.display());
        println!("skipped: no mpirun, or no nesl beside {}", comparison.display());
        return;
    }
    for more in [&[][..], &["--first"]] {
        let mut command = Command::new(comparison);
        let output = command.args(["--divide", "1000", "--repetitions", "1"]).args(more).output().unwrap();
        let (printed, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{printed}{errors}");
        let rows: Vec<Vec<&str>> = printed.lines().skip(1).map(|line| line.split_whitespace().collect()).collect();
        let names: Vec<&str> = rows.iter().filter_map(|row| row.first().copied()).collect();
        assert_eq!(names, ["quicksort", "mergesort", "quickhull", "fft", "search", "mandelbrot"], "{printed}");
        for row in rows {
            let numbers: Vec<f64> = row[1..].iter().filter_map(|number| number.parse().ok()).collect();
            assert!(numbers.len() == row.len() - 1 && numbers.iter().all(|number| number.is_finite()), "{printed}");
            // Milliseconds of so small a program may be shown as none, ratios are not.
            assert!(numbers.len() > 3 && numbers[numbers.len() - 3..].iter().all(|&ratio| ratio > 0.0), "{printed}");
        }
    }
}

#[cfg(feature = "mpi")]
#[test]
fn programs_of_suites_run_on_ranks() {
    let bench = env!("CARGO_BIN_EXE_nesl-bench");
    let has_launcher = Command::new("mpirun").arg("--version").output().is_ok_and(|output| output.status.success());
    if !has_launcher {
        assert!(std::env::var_os("NESL_REQUIRE_MPI").is_none(), "mpirun");
        println!("skipped: no mpirun");
        return;
    }
    for (suite, names) in [("outside", ["heat", "matrix_product"]), ("programs", ["quicksort", "dot"])] {
        let mut command = Command::new(bench);
        command.args(["--suite", suite, "--ranks", "2", "--divide", "100", "--repetitions", "1"]).args(names);
        let output = command.output().unwrap();
        let (printed, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{printed}{errors}");
        let lines: Vec<&str> = printed.lines().collect();
        assert_eq!(lines.len(), 4, "{printed}");
        for (line, name) in lines[1..3].iter().zip(names) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let numbers: Vec<f64> = fields[1..].iter().filter_map(|number| number.parse().ok()).collect();
            assert_eq!((fields[0], numbers.len()), (name, 6), "{printed}");
            assert!(numbers[5] > 0.0, "{printed}");
        }
        assert!(lines[3].starts_with("geometric means of 2: "), "{printed}");
    }
}

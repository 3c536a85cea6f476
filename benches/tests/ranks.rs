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
    let output = Command::new(comparison).args(["--divide", "1000", "--repetitions", "1"]).output().unwrap();
    let (printed, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{printed}{errors}");
    let names: Vec<&str> = printed.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names, ["quicksort", "mergesort", "quickhull", "fft", "search", "mandelbrot"], "{printed}");
}

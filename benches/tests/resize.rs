//! The twelve ways to change the number of ranks, at a small size: what arrives is checked by the ranks themselves.

use std::path::Path;
use std::process::Command;

#[test]
fn every_way_moves_the_right_elements() {
    let bench = Path::new(env!("CARGO_BIN_EXE_nesl-bench-resize"));
    if !Command::new("mpirun").arg("--version").output().is_ok_and(|output| output.status.success()) {
        assert!(std::env::var_os("NESL_REQUIRE_MPI").is_none(), "mpirun");
        println!("skipped: no mpirun");
        return;
    }
    for pair in ["1:3", "3:2"] {
        let mut command = Command::new(bench);
        command.args(["--pairs", pair, "--elements", "10007", "--repetitions", "2", "--jobs", "1"]);
        let output = command.output().unwrap();
        let (printed, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{printed}{errors}");
        for (method, transport) in ["Baseline", "BaselineIntra", "Merge"].iter().zip(["P2PS", "P2PA", "COLS"]) {
            let rows = printed.lines().filter(|line| line.contains(&format!(" {method}-{transport} ")));
            assert_eq!(rows.count(), 1, "{printed}");
        }
        assert_eq!(printed.lines().filter(|line| line.contains(" -> ")).count(), 12, "{printed}");
    }
}

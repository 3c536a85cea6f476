//! `nesl about`: what it says of this process and of ranks, and what it checks.
#![allow(clippy::unwrap_used, reason = "a panic in a helper is a failed test")]

mod common;

use common::Bench;

#[test]
fn about_tells_of_this_process() {
    let bench = Bench::new();
    let ran = bench.nesl(&["about", "--threads", "3", "--max-memory", "1G"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:#?}");
    let value = |name: &str| {
        let line =
            ran.out.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("no {name}: {ran:#?}"));
        line.trim().to_owned()
    };
    assert_eq!(value("version"), format!("nesl {}", env!("CARGO_PKG_VERSION")));
    assert_eq!(value("features"), if cfg!(feature = "mpi") { "mpi" } else { "none" });
    assert_eq!(value("MPI") == "none", !cfg!(feature = "mpi"));
    let [launcher, ranks, threads, memory] = ["launcher", "ranks", "threads", "memory limit"].map(value);
    assert_eq!([launcher, ranks, threads, memory], ["none", "1", "3", "1.0 GiB"]);
    assert!(value("native code").contains(std::env::consts::ARCH), "{ran:#?}");
    value("binding");
}

#[test]
fn about_checks_this_process_and_tells_it_as_data() {
    let bench = Bench::new();
    let ran = bench.nesl(&["about", "--check", "--message-format", "json", "--threads", "2"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:#?}");
    let about: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&about["ranks"][0]["threads"], ran.out.lines().count()), (&2.into(), 1));
    assert!(about["check"]["memory_bytes_per_second"].as_f64().unwrap() > 1e8, "{about}");
    assert!(about["check"]["program_seconds"].as_f64().unwrap() > 0.0, "{about}");
    let text = bench.nesl(&["about", "--check"]);
    assert!(text.out.contains("results       right, in "), "{text:#?}");
}

/// On ranks each has its say, and rank 0 says it.
#[cfg(feature = "mpi")]
#[test]
fn about_tells_of_all_ranks() {
    use common::{OVERSUBSCRIBED, finish, launcher, turn};
    let Some(mpirun) = launcher() else { return };
    let _turn = turn();
    let bench = Bench::new();
    let started = bench.nesl(&["about", "--ranks", "3", "--check", "--threads", "1"]);
    let mut command = bench.command(&mpirun);
    command.args(["-n", "3", env!("CARGO_BIN_EXE_nesl"), "about", "--check", "--threads", "1"]).envs(OVERSUBSCRIBED);
    for ran in [started, finish(&mut command, "")] {
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:#?}");
        assert_eq!(ran.out.matches("version").count(), 1, "{ran:#?}");
        for line in [
            "ranks         3\n",
            "threads       1\n",
            "for a word to the next rank",
            "GB/s from each rank",
            "results       right",
        ] {
            assert!(ran.out.contains(line), "no {line:?}: {ran:#?}");
        }
    }
    let ran = bench.nesl(&["about", "--ranks", "2", "--message-format", "json"]);
    let about: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(about["ranks"].as_array().unwrap().len(), 2, "{about}");
}

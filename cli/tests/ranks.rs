//! `--ranks N`: the command starts its own job, with the output, the errors and the exit code of one process.
//!
//! Needs the feature `mpi` and a launcher; skipped without a launcher. Failures of ranks are in `faults.rs`.
#![cfg(all(unix, feature = "mpi"))]
#![allow(clippy::unwrap_used, reason = "a panic in a helper is a failed test")]

mod common;

use common::{Bench, Ran, example, finish, launcher, turn};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;

/// Runs `nesl` with an input; nothing without a launcher.
fn nesl(bench: &Bench, arguments: &[&str], input: &str) -> Option<Ran> {
    let _turn = turn();
    launcher()?;
    Some(bench.piped(arguments, input))
}

#[test]
fn a_job_of_ranks_is_like_one_process() {
    let bench = Bench::with(
        "a.nesl",
        "sum([0:1000000]);\n((line, _), _) = (read_line(0), 0);\n{x in [0:20000] | rem(x, 5000) == 0};\n",
    );
    bench.write("fails.nesl", "1;\nv = [0:10000];\nsum({1 / (x - 9999) : x in v});\n");
    bench.write("long.nesl", "[0:200000];");
    bench.write("reads.nesl", "read_line(0);");
    bench.write("wrong.nesl", "1 + t;");
    let quicksort = example("quicksort/quicksort.nesl");
    for arguments in [
        vec!["long.nesl"],
        vec!["fails.nesl"],
        vec!["reads.nesl"],
        vec!["wrong.nesl"],
        vec!["missing.nesl"],
        vec![quicksort.as_str(), "--", "[3, 1, 2]"],
        vec![quicksort.as_str(), "--", "1", "2"],
    ] {
        let alone = bench.piped(&[&["run"], &arguments[..]].concat(), "first\nsecond\n");
        let Some(ran) = nesl(&bench, &[&["run", "--ranks", "3"], &arguments[..]].concat(), "first\nsecond\n") else {
            return;
        };
        assert_eq!((ran.code, ran.out, ran.err), (alone.code, alone.out, alone.err), "{arguments:?}");
    }
}

#[test]
fn a_session_may_be_on_ranks() {
    let bench = Bench::new();
    let input = "v = {x * x : x in [0:100000]};\nsum(v);\n{1 / (x - 49999) : x in [0:50000]};\n#v;\nnothing;\n";
    let alone = bench.piped(&[], input);
    alone.fails(1, &["E0402", "unknown name"]);
    for arguments in [&["--ranks", "3"][..], &["repl", "--ranks=2"]] {
        let Some(ran) = nesl(&bench, arguments, input) else { return };
        assert_eq!((ran.code, &ran.out, &ran.err), (alone.code, &alone.out, &alone.err), "{arguments:?}");
    }
}

#[test]
fn built_programs_start_ranks() {
    let bench = Bench::new();
    bench.nesl(&["build", &example("primes/primes.nesl"), "-o", "primes"]).prints("");
    let run = |arguments: &[&str]| {
        let _turn = turn();
        finish(bench.command(Path::new("./primes")).args(arguments), "")
    };
    if launcher().is_none() {
        return;
    }
    let ran = run(&["--ranks", "2", "--stats", "100000"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "9592\n"), "{}", ran.err);
    assert!(ran.err.contains("imbalance"), "{}", ran.err);
    let (alone, ran) = (run(&["1", "2"]), run(&["--ranks=2", "1", "2"]));
    assert_eq!((ran.code, ran.err), (Some(2), alone.err));
}

#[test]
fn one_rank_needs_no_launcher() {
    let bench = Bench::with("a.nesl", "1 + 1;");
    let mut command = bench.command(Path::new(env!("CARGO_BIN_EXE_nesl")));
    finish(command.args(["run", "--ranks", "1", "a.nesl"]).env("PATH", ""), "").prints("2\n");
}

#[test]
fn what_cannot_start_ranks_is_said() {
    let bench = Bench::with("a.nesl", "1 + 1;");
    bench.nesl(&["run", "--ranks", "2", "--engine", "threads", "a.nesl"]).fails(2, &["--engine mpi"]);
    bench.nesl(&["run", "--ranks", "0", "a.nesl"]).fails(2, &["--ranks"]);
    let command = |variable: &str, value: &str| {
        let mut command = bench.command(Path::new(env!("CARGO_BIN_EXE_nesl")));
        command.args(["run", "--ranks", "2", "a.nesl"]).env_remove("NESL_MPIRUN").env(variable, value);
        finish(&mut command, "")
    };
    command("PATH", "").fails(1, &["neither mpirun nor mpiexec", "NESL_MPIRUN="]);
    command("NESL_MPIRUN", "/nowhere/mpirun").fails(1, &["cannot start /nowhere/mpirun"]);
    // A rank that is to start ranks.
    command("OMPI_COMM_WORLD_SIZE", "1").fails(2, &["leave --ranks out"]);
}

/// A launcher that starts one process and says what a script says.
fn false_launcher(bench: &Bench, script: &str) {
    bench.write("launcher", format!("#!/bin/sh\nshift 2\n{script}\nexec \"$@\"\n"));
    std::fs::set_permissions(bench.path("launcher"), std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn launchers_that_do_not_notice_that_ranks_died_are_ended() {
    let bench = Bench::with("a.nesl", "1 + 1;");
    // What is run in place of a shell waits for none of its children.
    bench.write("launcher", "#!/bin/sh\n(exit 3) &\nexec sleep 1000\n");
    std::fs::set_permissions(bench.path("launcher"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = bench.command(Path::new(env!("CARGO_BIN_EXE_nesl")));
    command.args(["run", "--ranks", "2", "a.nesl"]).env("NESL_MPIRUN", bench.path("launcher"));
    finish(&mut command, "").fails(137, &["error: the 2 ranks died while they were started"]);
}

#[test]
fn launchers_of_another_mpi_are_refused() {
    let bench = Bench::with("a.nesl", "1 + 1;");
    if launcher().is_none() {
        return;
    }
    // One starts processes that know nothing of each other, the other is of an MPI that this one does not understand.
    for (script, part) in
        [("", "2 ranks were to be started, but MPI sees 1"), ("export PMI_SIZE=2 PMI_RANK=0", "another MPI")]
    {
        let _turn = turn();
        false_launcher(&bench, script);
        let mut command = bench.command(Path::new(env!("CARGO_BIN_EXE_nesl")));
        command.args(["run", "--ranks", "2", "a.nesl"]).env("NESL_MPIRUN", bench.path("launcher"));
        let ran = finish(&mut command, "");
        ran.fails(1, &[part]);
        assert_eq!(ran.out, "");
    }
}

#[test]
fn a_launcher_may_have_options() {
    let bench = Bench::with("a.nesl", "1 + 1;");
    let Some(launcher) = launcher() else { return };
    let _turn = turn();
    let mut command = bench.command(Path::new(env!("CARGO_BIN_EXE_nesl")));
    command.args(["run", "--ranks", "2", "a.nesl"]).stdin(Stdio::null());
    command.env("NESL_MPIRUN", format!("{} -x HOME", launcher.display()));
    let is_open_mpi = std::process::Command::new(launcher).arg("--version").output().unwrap();
    if String::from_utf8_lossy(&is_open_mpi.stdout).contains("Open MPI") {
        finish(&mut command, "").prints("2\n");
    }
}

#[test]
fn a_limit_on_open_files_is_raised_or_named() {
    let _turn = turn();
    if launcher().is_none() {
        return;
    }
    let bench = Bench::with("a.nesl", "sum([0:100000]);\n");
    let limited = |limit: &str| {
        let script = format!("ulimit {limit} && exec {} run --ranks 2 a.nesl", env!("CARGO_BIN_EXE_nesl"));
        finish(bench.command(Path::new("sh")).args(["-c", &script]), "")
    };
    limited("-S -n 16").prints("4999950000\n");
    limited("-n 16").fails(1, &["a process may have 16 here", "hint: raise the limit: ulimit -n "]);
    limited("-n 80").prints("4999950000\n");
}

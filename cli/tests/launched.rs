//! What the environment says of who has started this process: copies of a program that do not know of each other are
//! refused, and a rank that no launcher has started says why it ends.
#![allow(clippy::unwrap_used, reason = "a panic in a helper is a failed test")]

mod common;

use common::{Bench, Ran, finish};
use std::path::Path;

/// `nesl` with variables of a launcher.
fn nesl(bench: &Bench, variables: &[(&str, &str)], arguments: &[&str]) -> Ran {
    let mut command = bench.command(Path::new(env!("CARGO_BIN_EXE_nesl")));
    finish(command.args(arguments).envs(variables.iter().copied()), "")
}

#[test]
fn a_task_among_others_without_mpi_runs_only_if_it_is_told_to() {
    let bench = Bench::with("a.nesl", "function main(n) : int -> int = n + 1;\n2 + 3;\n");
    let step = |task| [("SLURM_PROCID", task), ("SLURM_STEP_NUM_TASKS", "4"), ("SLURM_STEP_ID", "0")];
    let said = ["srun has started 4 tasks that do not know of each other", "--engine threads"];
    nesl(&bench, &step("0"), &["run", "a.nesl"]).fails(1, &said);
    nesl(&bench, &step("0"), &["repl"]).fails(1, &said);
    nesl(&bench, &step("0"), &["run", "--ranks", "2", "--engine", "threads", "a.nesl"]).fails(1, &said);
    // One speaks for all.
    let other = nesl(&bench, &step("3"), &["run", "a.nesl"]);
    assert_eq!((other.code, other.err.as_str()), (Some(1), ""));
    for engine in ["threads", "reference", "oracle"] {
        nesl(&bench, &step("3"), &["run", "--engine", engine, "a.nesl"]).prints("5\n");
    }
    // The script of a job of many tasks, and a task of an array.
    nesl(&bench, &[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "4")], &["run", "a.nesl"]).prints("5\n");
    nesl(&bench, &[("SLURM_ARRAY_TASK_ID", "2"), ("SLURM_JOB_ID", "7")], &["run", "a.nesl"]).prints("5\n");
    // Built programs are asked the same.
    nesl(&bench, &step("0"), &["build", "a.nesl", "-o", "built"]).prints("");
    let mut built = bench.command(&bench.path("built"));
    finish(built.arg("1").envs(step("0")), "").fails(1, &said);
}

#[test]
fn a_rank_that_nobody_has_started_says_why_it_ends() {
    let bench = Bench::with("a.nesl", "2 + 3;\n");
    let variables = [("OMPI_COMM_WORLD_RANK", "1"), ("OMPI_COMM_WORLD_SIZE", "2")];
    let ran = nesl(&bench, &variables, &["run", "a.nesl"]);
    let said = if cfg!(feature = "mpi") { "MPI sees 1" } else { "built without MPI" };
    ran.fails(1, &[said]);
    nesl(&bench, &variables, &["run", "--ranks", "2", "a.nesl"])
        .fails(2, &["a launcher has started this process already"]);
}

//! The distributed engine against the reference engine, on 1 to 8 ranks.
//!
//! Run by `cargo test`, this program starts itself under `mpirun`, once for each number of ranks; there it takes every
//! method of the engine through random inputs and compares the results bit for bit with those of the reference engine.
//! Without a launcher it is skipped, unless `NESL_REQUIRE_MPI=1`. Seeds are fixed, a failure prints the case;
//! `NESL_RANKS_ROUNDS` asks for more seeds than one, none for what is not random alone; `NESL_RANKS_MOST` leaves out
//! larger jobs, for an MPI whose ranks do not give up their processor while they wait.

#[path = "ranks/checks.rs"]
mod checks;
#[path = "ranks/inputs.rs"]
mod inputs;
#[path = "ranks/launcher.rs"]
mod launcher;
#[path = "ranks/managed.rs"]
mod managed;
#[path = "ranks/measure.rs"]
mod measure;
#[path = "ranks/segments.rs"]
mod segments;
#[path = "ranks/sharing.rs"]
mod sharing;
#[path = "ranks/special.rs"]
mod special;
#[path = "ranks/twin.rs"]
mod twin;

use inputs::Random;
use nesl_backend::{Reference, Threads};
use std::process::ExitCode;
use twin::Twin;

/// Thresholds of common columns: none, few, usual.
const THRESHOLDS: [usize; 3] = [0, 8, 4096];
/// The first of the seeds.
const SEED: u64 = 20_260;

fn main() -> ExitCode {
    if std::env::args().any(|argument| argument == "--list") {
        // What test runners ask before they run anything.
        if !std::env::args().any(|argument| argument == "--ignored") {
            println!("ranks: test");
        }
        return ExitCode::SUCCESS;
    }
    if nesl_mpi::detect().is_some() { on_rank() } else { launcher::run_all() }
}

/// One rank of the job.
fn on_rank() -> ExitCode {
    let mut world = match nesl_mpi::initialise() {
        Ok(world) => world,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    if std::env::var_os("NESL_RANKS_MEASURE").is_some() {
        measure::run(&world);
        return ExitCode::SUCCESS;
    }
    if std::env::var_os("NESL_RANKS_PANIC").is_some() {
        special::panic_on_last_rank(world.communicator());
    }
    let rounds = std::env::var("NESL_RANKS_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(1u64);
    let (mut passed, mut failed) = (0, 0);
    let mut count = |counts: (usize, usize)| {
        passed += counts.0;
        failed += counts.1;
    };
    let reference = || Reference::new(None);
    for round in 0..rounds {
        for threshold in THRESHOLDS {
            let seed = SEED + round;
            let mut twin = Twin::new(world.communicator(), reference(), threshold, seed);
            let mut random = Random::new(seed);
            checks::run(&mut twin, &mut random);
            segments::run(&mut twin, &mut random);
            count(twin.counts());
        }
    }
    if rounds > 0 {
        // Transfers in many chunks.
        let mut twin = Twin::new(world.communicator_with_chunks(3), reference(), 4, SEED);
        let mut random = Random::new(SEED);
        checks::lengths_up_to(&mut twin, &mut random, 300);
        segments::segments_up_to(&mut twin, &mut random, 200);
        count(twin.counts());
    }
    // The threads engine inside the ranks.
    match Threads::new(2, None) {
        Ok(_) if rounds == 0 => {}
        Ok(threads) => {
            let mut twin = Twin::new(world.communicator(), threads, 100, SEED);
            let mut random = Random::new(SEED);
            checks::run(&mut twin, &mut random);
            segments::run(&mut twin, &mut random);
            count(twin.counts());
        }
        Err(error) => {
            println!("no threads: {error}");
            count((0, 1));
        }
    }
    let mut twin = Twin::new(world.communicator(), reference(), 4096, SEED);
    special::run(&mut twin);
    sharing::run(&mut twin, &mut Random::new(SEED));
    count(twin.counts());
    count(sharing::within_limit(&world));
    count(managed::run(&mut world));

    let layout = world.communicator().layout();
    let worst = world.communicator().all_gather(failed as i64).into_iter().max().unwrap_or(0);
    if layout.rank == 0 {
        println!("{} ranks: {passed} passed, {worst} failed (seeds from {SEED}, {rounds} rounds)", layout.ranks);
    }
    if worst == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

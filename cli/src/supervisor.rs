//! `--ranks N`: the process that starts a job and stands between the user and its ranks, its supervisor.
//!
//! ```text
//! terminal ─ this process ─ launcher ─ rank 0 … rank N-1, each this command again with `--as-rank`
//! ```
//! What the ranks write passes through here. So an output that cannot be written is noticed, which launchers do not,
//! and what a launcher says of a dead rank becomes one message (`job`, `launcher_output`), or, of a run that is saved,
//! the beginning of other ranks (`survival`). However this process ends, the job ends with it (`launcher`, `signals`).
//! A session at a terminal has its line editor here, too (`session`), and a session that is kept the inputs that it
//! goes on with (`kept`).

#[cfg(feature = "mpi")]
mod input;
#[cfg(feature = "mpi")]
mod job;
#[cfg(feature = "mpi")]
mod kept;
#[cfg(feature = "mpi")]
mod launcher;
#[cfg(feature = "mpi")]
mod launcher_output;
#[cfg(feature = "mpi")]
mod marks;
#[cfg(feature = "mpi")]
mod repeated;
#[cfg(feature = "mpi")]
mod session;
#[cfg(feature = "mpi")]
mod signals;
#[cfg(feature = "mpi")]
mod survival;
#[cfg(feature = "mpi")]
mod terminal;
#[cfg(feature = "mpi")]
mod turns;

use crate::allocation::Step;
use crate::launch::Launched;
use crate::options::{EngineName, RunOptions};
use crate::stop::Stop;

/// The number of ranks that this process is to start; nothing where it runs the program itself: where it is a rank, and
/// for a single one, which needs no launcher.
///
/// # Errors
/// A usage error where it can start none, and where it is one of many copies that do not know of each other.
pub fn wanted(options: &RunOptions) -> Result<Option<usize>, Stop> {
    if let Some(step) = Step::detect() {
        step.refuse(options)?;
    }
    let Some(ranks) = options.ranks.filter(|_| !options.as_rank) else { return Ok(None) };
    if let Some(launched) = Launched::detect() {
        let problem = "error: a launcher has started this process already; under mpirun leave --ranks out";
        return Err(launched.said_by_first(Stop::usage(problem)));
    }
    if ranks == 1 {
        return Ok(None);
    }
    match options.engine {
        None | Some(EngineName::Mpi) => Ok(Some(usize::from(ranks))),
        Some(_) => Err(Stop::usage(
            "error: this engine runs in one process: with --ranks leave --engine out, or take --engine mpi",
        )),
    }
}

/// Starts this command again on so many ranks, and lasts as long as they do.
///
/// # Errors
/// The end of the job, if it could not begin or did not go well.
#[cfg(not(feature = "mpi"))]
pub fn run(_: usize, _: &RunOptions) -> Result<(), Stop> {
    Err(crate::launch::without_mpi("this nesl was built without MPI, which starts ranks"))
}

/// The same for a session.
///
/// # Errors
/// Those of [`run`].
#[cfg(not(feature = "mpi"))]
pub fn session(ranks: usize, options: &RunOptions) -> Result<(), Stop> {
    run(ranks, options)
}

/// The same for a session that is kept in a folder.
///
/// # Errors
/// Those of [`run`].
#[cfg(not(feature = "mpi"))]
pub fn kept(ranks: usize, options: &RunOptions, _: &std::path::Path) -> Result<(), Stop> {
    run(ranks, options)
}

/// The same for a run that is saved.
///
/// # Errors
/// Those of [`run`].
#[cfg(not(feature = "mpi"))]
pub fn saved(ranks: usize, options: &RunOptions, _: &crate::checkpoint::SavingOptions) -> Result<(), Stop> {
    run(ranks, options)
}

#[cfg(feature = "mpi")]
pub use {
    job::elastic, job::run, kept::run as kept, session::going_on, session::run as session, survival::run as saved,
};

//! `nesl about`: what this command is, and where it runs. With `--check` it tries that for a second.
//!
//! On ranks every rank says what it has, and rank 0 prints it.

mod check;

use crate::allocation::Step;
use crate::launch::{Launched, Place};
use crate::options::{MessageFormat, RunOptions};
use crate::output::print;
use crate::rank::Rank;
use crate::stop::Stop;
use crate::supervisor;
use clap::Args;
use serde::Serialize;
use std::fmt::Write;

#[derive(Args, Debug)]
#[command(
    after_help = "On ranks it tells of all of them: nesl about --ranks 4, mpirun -n 4 nesl about --check\n\nExample: nesl about --check"
)]
pub struct Arguments {
    /// For about a second, try the memory, the messages between ranks, and a program whose results are known
    #[arg(long)]
    check: bool,
}

/// What is the same for all ranks.
#[derive(Serialize)]
struct About {
    version: &'static str,
    features: Vec<&'static str>,
    /// The machine that native code is made for; none where there is no native code.
    native: Option<String>,
    mpi: Option<Library>,
    launcher: Option<String>,
    ranks: Vec<Rank>,
    check: Option<check::Outcome>,
}

/// The MPI library.
#[derive(Serialize)]
struct Library {
    name: String,
    standard: String,
}

/// What `nesl --version` says after the name: all that a report of a mistake has to say of this executable.
pub fn version() -> String {
    let none = || "none".to_owned();
    let mpi = library().map_or_else(none, |mpi| format!("{} (MPI {})", mpi.name, mpi.standard));
    let native = nesl_backend::machine::native::target().unwrap_or_else(|_| none());
    let (system, processor) = (std::env::consts::OS, std::env::consts::ARCH);
    format!(
        "{}\nsystem       {system} {processor}\nnative code  {native}\nMPI          {mpi}",
        env!("CARGO_PKG_VERSION")
    )
}

/// Tells.
pub fn run(arguments: &Arguments, options: &RunOptions) -> Result<(), Stop> {
    let step = Step::detect();
    // Tasks that do not know of each other are told of here, not refused.
    if step.is_none()
        && let Some(ranks) = supervisor::wanted(options)?
    {
        return supervisor::run(ranks, options);
    }
    let first_of_copies = step.map_or_else(first_without_mpi, |step| step.task == 0);
    if !first_of_copies {
        return Ok(());
    }
    let mut place = if cfg!(feature = "mpi") && step.is_none() { Place::join(options)? } else { Place::alone() };
    let result = tell(&mut place, arguments, options, step);
    place.said_once(result)
}

/// Whether this process is to speak where no MPI connects it with others that a launcher may have started.
fn first_without_mpi() -> bool {
    cfg!(feature = "mpi") || Launched::detect().is_none_or(|launched| launched.rank == 0)
}

fn tell(place: &mut Place, arguments: &Arguments, options: &RunOptions, step: Option<Step>) -> Result<(), Stop> {
    let own = Rank::here(place.threads(options), place.memory(options));
    let ranks = place.at_first(own)?;
    let outcome = if arguments.check { Some(check::run(place, options)?) } else { None };
    if place.rank() > 0 {
        return Ok(());
    }
    let about = About {
        version: env!("CARGO_PKG_VERSION"),
        features: if cfg!(feature = "mpi") { vec!["mpi"] } else { Vec::new() },
        native: nesl_backend::machine::native::target().ok(),
        mpi: library(),
        launcher: launcher(options, step, |name| std::env::var_os(name).is_some()),
        ranks,
        check: outcome,
    };
    match options.message_format {
        MessageFormat::Human => print(&about.text()),
        MessageFormat::Json => {
            let text = serde_json::to_string(&about);
            let text = text.map_err(|error| Stop::failed(format!("error: cannot be written as JSON: {error}")))?;
            print(&format!("{text}\n"))
        }
    }
}

#[cfg(feature = "mpi")]
fn library() -> Option<Library> {
    let (version, subversion) = nesl_mpi::communication::world::standard();
    Some(Library { name: nesl_mpi::communication::world::library(), standard: format!("{version}.{subversion}") })
}

#[cfg(not(feature = "mpi"))]
fn library() -> Option<Library> {
    None
}

/// Who has started this process beside others, by the variables that are set.
fn launcher(options: &RunOptions, step: Option<Step>, is_set: impl Fn(&str) -> bool) -> Option<String> {
    let is_step = is_set("SLURM_PROCID");
    let name = if let Some(step) = step {
        format!("srun without MPI: {}", step.problem())
    } else if is_set("OMPI_COMM_WORLD_SIZE") {
        "mpirun of Open MPI".to_owned()
    } else if is_set("PMIX_RANK") {
        format!("{}, with PMIx", if is_step { "srun" } else { "another" })
    } else if is_set("PMI_RANK") {
        format!("{}, with PMI", if is_step { "srun" } else { "mpiexec" })
    } else {
        return None;
    };
    Some(if options.as_rank { format!("{name}, by --ranks") } else { name })
}

impl About {
    fn text(&self) -> String {
        let none = || "none".to_owned();
        let on_ranks = |value: fn(&Rank) -> String| spread(&self.ranks.iter().map(value).collect::<Vec<_>>());
        let rows = [
            ("version", format!("nesl {}", self.version)),
            ("features", if self.features.is_empty() { none() } else { self.features.join(", ") }),
            ("native code", self.native.clone().unwrap_or_else(none)),
            ("MPI", self.mpi.as_ref().map_or_else(none, |mpi| format!("{} (MPI {})", mpi.name, mpi.standard))),
            ("launcher", self.launcher.clone().unwrap_or_else(none)),
            ("ranks", self.ranks.len().to_string()),
            ("machine", on_ranks(|rank| rank.machine.clone())),
            ("threads", on_ranks(|rank| rank.threads.to_string())),
            ("binding", on_ranks(Rank::binding)),
            ("memory limit", on_ranks(|rank| rank.memory_limit.map_or_else(|| "none".to_owned(), gibibytes))),
        ];
        let mut text = String::new();
        let checked = self.check.as_ref().map_or_else(Vec::new, check::Outcome::rows);
        for (name, value) in rows.into_iter().chain(checked) {
            // Writing to a string does not fail.
            let _ = writeln!(text, "{name:<14}{value}");
        }
        text
    }
}

fn gibibytes(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))
}

/// Values of all ranks in their order: once if all are the same, else each with the ranks that have it.
fn spread(values: &[String]) -> String {
    let mut runs: Vec<(usize, usize, &String)> = Vec::new();
    for (rank, value) in values.iter().enumerate() {
        match runs.last_mut() {
            Some((_, last, known)) if *known == value => *last = rank,
            _ => runs.push((rank, rank, value)),
        }
    }
    if let [(_, _, value)] = runs[..] {
        return value.clone();
    }
    let run = |&(first, last, value): &(usize, usize, &String)| match first == last {
        true => format!("{value} (rank {first})"),
        false => format!("{value} (ranks {first}-{last})"),
    };
    runs.iter().map(run).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_ranks_are_said_once_where_they_are_the_same() {
        let spread_of = |values: &[&str]| spread(&values.iter().map(|&value| value.to_owned()).collect::<Vec<_>>());
        assert_eq!(spread_of(&["2"]), "2");
        assert_eq!(spread_of(&["2", "2", "2"]), "2");
        assert_eq!(spread_of(&["2", "2", "1", "2"]), "2 (ranks 0-1), 1 (rank 2), 2 (rank 3)");
    }
}

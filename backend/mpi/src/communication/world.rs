//! How a process becomes a rank: finding out whether MPI started it, joining, and leaving together.
//!
//! MPI is initialised only where a launcher started the process: as a singleton that would cost half a second and gain
//! nothing. A job of several ranks must end as a whole, so a panic on one of them aborts all.

use crate::communication::communicator::{CHUNK_LIMIT, Communicator};
use crate::communication::ending;
use crate::communication::frame::{Growth, Managed};
use crate::communication::interrupts;
use crate::communication::members::Members;
use crate::communication::process;
use crate::layout::Layout;
use mpi::Threading;
use mpi::environment::Universe;
use mpi::traits::{Communicator as _, CommunicatorCollectives as _};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// Variables in which launchers tell a process the number of ranks: Open MPI's, then those of MPICH and its relatives.
const SIZE_VARIABLES: [&str; 2] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"];
/// Variables that launchers set without telling the number of ranks.
const RANK_VARIABLES: [&str; 2] = ["PMIX_RANK", "PMI_RANK"];

/// What the environment says of the launcher that started this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launcher {
    /// The number of ranks it says it started, where it says so.
    pub ranks: Option<usize>,
}

/// The launcher that started this process, if one did. Does not touch MPI.
pub fn detect() -> Option<Launcher> {
    detect_in(|name| std::env::var(name).ok())
}

/// The same in any environment.
fn detect_in(variable: impl Fn(&str) -> Option<String>) -> Option<Launcher> {
    let ranks = SIZE_VARIABLES.iter().find_map(|name| variable(name)?.parse().ok());
    let launched = ranks.is_some() || RANK_VARIABLES.iter().any(|name| variable(name).is_some());
    launched.then_some(Launcher { ranks })
}

/// Why this process could not join a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LaunchError {
    /// MPI was initialised before in this process.
    AlreadyInitialised,
    /// MPI cannot be called from a program with threads, one of them at a time.
    NoThreads,
    /// The launcher started another number of ranks than MPI sees.
    OtherMpi {
        /// What the launcher says.
        launched: usize,
        /// What MPI says.
        joined: usize,
    },
}

impl fmt::Display for LaunchError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LaunchError::AlreadyInitialised => write!(formatter, "MPI is already initialised in this process"),
            LaunchError::NoThreads => write!(formatter, "this MPI does not support programs with threads"),
            LaunchError::OtherMpi { launched, joined } => write!(
                formatter,
                "the launcher started {launched} ranks, but MPI sees {joined}: it belongs to another MPI than the one that \
                 nesl was built with ({}); or no launcher started this process, and {} is set by mistake",
                library(),
                SIZE_VARIABLES.join(" or ")
            ),
        }
    }
}

impl std::error::Error for LaunchError {}

/// The first line of what the MPI library says of itself.
pub fn library() -> String {
    let version = mpi::environment::library_version().unwrap_or_default();
    version.lines().next().unwrap_or("unknown").trim_end_matches('\0').to_owned()
}

/// The version of the standard that the MPI library implements.
pub fn standard() -> (i32, i32) {
    mpi::environment::version()
}

/// Membership in the job. Dropping it leaves MPI, which every rank must do; until then it must outlive its
/// communicators.
pub struct World {
    pub(crate) managed: Arc<Mutex<Managed>>,
    /// All ranks that there are; those that are parked come last.
    pub(crate) all: Arc<Members>,
    /// Those that work together, this one among them unless it is parked.
    pub(crate) working: Arc<Members>,
    pub(crate) is_parked: bool,
    /// It came to others that were there, and has not begun to work with them.
    pub(crate) is_new: bool,
    // Held for its drop, which finalises MPI.
    _universe: Universe,
}

impl World {
    /// The ranks of the job.
    pub fn communicator(&self) -> Communicator {
        self.communicator_with_chunks(CHUNK_LIMIT)
    }

    /// The same with transfers cut at `chunk_limit` elements: for tests.
    pub fn communicator_with_chunks(&self, chunk_limit: usize) -> Communicator {
        Communicator::of(Arc::clone(&self.working), chunk_limit, Arc::clone(&self.managed))
    }

    /// Chooses how buffers for messages of unknown length grow, and begins anew with short ones: for communicators made
    /// after this. All ranks choose the same at the same time.
    pub fn set_growth(&mut self, growth: Growth) {
        self.managed = Arc::new(Mutex::new(Managed::new(growth)));
    }

    /// Makes evaluations of this rank end when the process that started the job says so, by SIGUSR1: all ranks call it
    /// together, after [`crate::communication::interrupts::prepare`]. `agreed` is called when all have heard of it.
    pub fn watch(&self, agreed: impl Fn() + Send + Sync + 'static) {
        interrupts::watch((!self.is_new).then_some(&*self.working), agreed);
    }

    /// How many of the ranks are on this machine, this one included.
    pub fn neighbours(&self) -> usize {
        // By their names: asking MPI which ranks share memory (`MPI_Comm_split_type`) fails in Open MPI 4 among ranks that
        // were started at several times.
        let name = mpi::environment::processor_name().unwrap_or_default();
        let (mut machine, mut all) = (DefaultHasher::new(), vec![0u64; self.working.layout().ranks]);
        name.hash(&mut machine);
        let machine = machine.finish();
        self.working.all_gather_into(&machine, &mut all[..]);
        all.into_iter().filter(|&other| other == machine).count()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        interrupts::close();
        self.end();
    }
}

/// Joins the job. Call it once and early; only one thread at a time may use what comes of it, but it need not be this
/// one.
///
/// From here on a panic on any thread ends the whole job, and so does the death of the launcher (on Linux).
///
/// # Errors
/// If MPI does not work here, or is not the one that launched the process.
pub fn initialise() -> Result<World, LaunchError> {
    install_panic_hook();
    if detect().is_some() {
        // At once: joining takes long, and a launcher may be killed meanwhile.
        process::end_with_launcher();
    }
    let (universe, threading) =
        mpi::initialize_with_threading(Threading::Serialized).ok_or(LaunchError::AlreadyInitialised)?;
    if threading < Threading::Serialized {
        return Err(LaunchError::NoThreads);
    }
    let joined = universe.world().size() as usize;
    match detect() {
        Some(Launcher { ranks: Some(launched) }) if launched != joined => {
            Err(LaunchError::OtherMpi { launched, joined })
        }
        _ => Ok(World::begin(universe)),
    }
}

impl World {
    fn begin(universe: Universe) -> World {
        let arrived = Members::arrive();
        let is_new = arrived.is_some();
        let all = arrived.unwrap_or_else(Members::world);
        is_now(all.layout());
        // All that were started together with this one work.
        let working = is_new.then(|| all.first(usize::MAX)).flatten().unwrap_or_else(Members::world);
        World { managed: Arc::default(), all, working, is_parked: false, is_new, _universe: universe }
    }
}

/// The number of this rank, and of all that there are, for its last words.
static NUMBER: AtomicUsize = AtomicUsize::new(0);
static RANKS: AtomicUsize = AtomicUsize::new(1);

/// Notes them.
pub(crate) fn is_now(Layout { rank, ranks }: Layout) {
    NUMBER.store(rank, Relaxed);
    RANKS.store(ranks, Relaxed);
}

/// After the usual report of a panic, ends all ranks: the others would wait for this one forever.
fn install_panic_hook() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |information| {
        report(information);
        if mpi::environment::is_initialized() && !mpi::environment::is_finalized() {
            let (rank, ranks) = (NUMBER.load(Relaxed), RANKS.load(Relaxed));
            ending::end_all(&format!("rank {rank} of {ranks} panicked: the job ends"));
        }
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detect_among(variables: &[(&str, &str)]) -> Option<Launcher> {
        detect_in(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn launchers_are_known_by_their_variables() {
        assert_eq!(detect_among(&[("PATH", "/bin")]), None);
        let open_mpi = [("OMPI_COMM_WORLD_SIZE", "4"), ("PMIX_RANK", "0")];
        assert_eq!(detect_among(&open_mpi), Some(Launcher { ranks: Some(4) }));
        assert_eq!(detect_among(&[("PMI_RANK", "1"), ("PMI_SIZE", "2")]), Some(Launcher { ranks: Some(2) }));
        assert_eq!(detect_among(&[("PMIX_RANK", "1")]), Some(Launcher { ranks: None }));
    }

    #[test]
    fn a_mismatch_names_both_sizes() {
        let text = LaunchError::OtherMpi { launched: 4, joined: 1 }.to_string();
        assert!(text.contains("started 4 ranks, but MPI sees 1"), "{text}");
    }
}

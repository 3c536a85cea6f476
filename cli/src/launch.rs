//! Where a program runs: the choice of the engine, and the ranks of a job that MPI has started.
//!
//! The one place where the engines are named. Everything that runs programs is a [`Job`], generic over its engine. MPI
//! is initialised only where a launcher started the process, or where the user asks for it: it takes half a second.
//! The number of ranks may change later (`regroup`), as a file may say (`ranks_file`).

#[cfg(feature = "mpi")]
mod open_files;
#[cfg(feature = "mpi")]
mod ranks_file;
#[cfg(feature = "mpi")]
mod regroup;
mod values;

use crate::options::{EngineName, RunOptions};
use crate::output::remark;
use crate::stop::Stop;
use nesl_backend::data::memory::machine_limit;
use nesl_backend::{Engine, Reference, Threads};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

pub use values::Values;
#[cfg(feature = "mpi")]
pub use {
    open_files::{FewFiles, check_files},
    ranks_file::RanksFile,
    regroup::Change,
};

/// Something to do with an engine.
pub trait Job {
    /// Does it.
    ///
    /// # Errors
    /// The end of the command; the same on all ranks.
    fn run<E: Engine + 'static>(self, engine: E) -> Result<(), Stop>;
}

/// What the environment says of the launcher that started this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launched {
    /// Which of the processes this is.
    pub rank: usize,
    /// How many there are.
    pub ranks: usize,
    /// How many of them are on this machine.
    pub neighbours: usize,
}

/// Variables of Open MPI, then of MPICH and its relatives.
const RANK: [&str; 3] = ["OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"];
const RANKS: [&str; 2] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"];
const NEIGHBOURS: [&str; 2] = ["OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"];
/// Variables of Slurm, which starts ranks for any MPI. They are there where it starts other things, too.
const TASKS: [&str; 2] = ["SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"];

/// What rank 0 needs to say why a job cannot begin, and its launcher to end the other ranks then, many times over.
const TIME_TO_SPEAK: std::time::Duration = std::time::Duration::from_secs(2);

impl Launched {
    /// The launcher of this process, if an MPI launcher started it.
    pub fn detect() -> Option<Launched> {
        Launched::detect_in(|name| std::env::var(name).ok())
    }

    pub(crate) fn detect_in(variable: impl Fn(&str) -> Option<String>) -> Option<Launched> {
        let number = |names: &[&str]| names.iter().find_map(|name| variable(name)?.parse::<usize>().ok());
        let (rank, ranks) = (number(&RANK), number(&RANKS));
        if rank.is_none() && ranks.is_none() {
            return None;
        }
        let rank = rank.unwrap_or(0);
        let ranks = ranks.or_else(|| number(&TASKS)).unwrap_or(rank + 1).max(1);
        Some(Launched { rank, ranks, neighbours: number(&NEIGHBOURS).unwrap_or(ranks).max(1) })
    }

    /// Why a job cannot begin, as this process is to say it: rank 0 speaks for all, if there is one.
    pub fn said_by_first(self, stop: Stop) -> Stop {
        if self.rank == 0 {
            return stop;
        }
        // A launcher ends the job with the first process that fails: let rank 0 speak before. Hydra does not, but gives
        // each rank a descriptor to talk to it. Who is not ended otherwise has no launcher, or no rank 0: a variable is
        // set that says so by mistake.
        std::thread::sleep(TIME_TO_SPEAK);
        let has_hydra = std::env::var("PMI_FD").is_ok_and(|text| text.parse().is_ok_and(is_open));
        if has_hydra { Stop::with_code(stop.code, "") } else { stop }
    }
}

/// Whether this process has a descriptor of that number; no where the system does not say.
fn is_open(descriptor: i32) -> bool {
    std::path::Path::new(&format!("/proc/self/fd/{descriptor}")).exists()
}

/// This process among those that run the program.
pub struct Place {
    launched: Option<Launched>,
    #[cfg(feature = "mpi")]
    world: Option<nesl_mpi::World>,
    /// What the ranks have to compute with, as far as rank 0 has been told: those that are parked, too.
    #[cfg(feature = "mpi")]
    known: Vec<crate::rank::RankProcess>,
}

impl Place {
    /// Joins the job, if this process is part of one.
    ///
    /// # Errors
    /// If it should, but cannot.
    pub fn join(options: &RunOptions) -> Result<Place, Stop> {
        let launched = Launched::detect();
        let is_one_of_many = launched.is_some_and(|launched| launched.ranks > 1);
        let said_by_first = |stop: Stop| match launched {
            Some(launched) => launched.said_by_first(stop),
            None => stop,
        };
        match options.engine {
            None | Some(EngineName::Mpi) => {}
            Some(_) if !is_one_of_many => return Ok(Place::alone()),
            Some(_) => {
                return Err(said_by_first(Stop::usage(
                    "error: this engine runs in one process: under mpirun leave --engine out, or take --engine mpi",
                )));
            }
        }
        if launched.is_none() && options.engine.is_none() && !options.as_rank {
            return Ok(Place::alone());
        }
        let place = Place::initialise(launched, options.engine, is_one_of_many).and_then(|place| {
            match (options.as_rank, options.ranks, place.ranks()) {
                // A run that has lost ranks goes on with those that it gets.
                (true, Some(wanted), ranks)
                    if usize::from(wanted) != ranks && !place.is_new() && options.again.is_none() =>
                {
                    Err(Stop::failed(format!(
                        "error: {wanted} ranks were to be started, but MPI sees {ranks}: the launcher is none, or belongs to \
                         another MPI than the one that nesl was built with; NESL_MPIRUN=/path/to/mpirun names another"
                    )))
                }
                _ => Ok(place),
            }
        });
        place.map_err(said_by_first)
    }

    /// This process by itself.
    pub fn alone() -> Place {
        Place {
            launched: None,
            #[cfg(feature = "mpi")]
            world: None,
            #[cfg(feature = "mpi")]
            known: Vec::new(),
        }
    }

    #[cfg(feature = "mpi")]
    fn initialise(launched: Option<Launched>, _: Option<EngineName>, _: bool) -> Result<Place, Stop> {
        let world = nesl_mpi::initialise().map_err(|error| Stop::failed(format!("error: {error}")))?;
        // MPI knows better than the environment, which need not say how many there are.
        let layout = world.communicator().layout();
        // Who comes to others asks with them, later.
        let neighbours = if world.is_new() { layout.ranks } else { world.neighbours() };
        let launched = launched.map(|_| Launched { rank: layout.rank, ranks: layout.ranks, neighbours });
        Ok(Place { launched, world: Some(world), known: Vec::new() })
    }

    #[cfg(not(feature = "mpi"))]
    fn initialise(_: Option<Launched>, engine: Option<EngineName>, is_one_of_many: bool) -> Result<Place, Stop> {
        if engine.is_none() && !is_one_of_many {
            // One rank without MPI does what one rank with MPI would.
            return Ok(Place::alone());
        }
        let reason = match is_one_of_many {
            true => "this nesl was built without MPI: under mpirun, every rank would run the whole program by itself",
            false => "this nesl was built without MPI",
        };
        Err(without_mpi(reason))
    }

    /// The ranks of the job as MPI counts them.
    fn ranks(&self) -> usize {
        #[cfg(feature = "mpi")]
        if let Some(world) = &self.world {
            return world.communicator().layout().ranks;
        }
        1
    }

    /// Whether this process came to others of its job, which were there before.
    pub fn is_new(&self) -> bool {
        #[cfg(feature = "mpi")]
        if let Some(world) = &self.world {
            return world.is_new();
        }
        false
    }

    /// Whether this rank does not work.
    pub fn is_parked(&self) -> bool {
        #[cfg(feature = "mpi")]
        if let Some(world) = &self.world {
            return world.is_parked();
        }
        false
    }

    /// Which rank of the job this process is.
    pub fn rank(&self) -> usize {
        self.launched.map_or(0, |launched| launched.rank)
    }

    /// Whether this process is the only one.
    pub fn is_alone(&self) -> bool {
        self.launched.is_none_or(|launched| launched.ranks == 1)
    }

    /// The same result. In a job of several ranks rank 0 has then said what is to be said, before any rank leaves:
    /// launchers end the job with the first process that fails.
    ///
    /// # Errors
    /// If it is one.
    pub fn said_once<T>(&mut self, result: Result<T, Stop>) -> Result<T, Stop> {
        if self.is_alone() {
            return result;
        }
        let is_first = self.launched.is_none_or(|launched| launched.rank == 0);
        let result = result.map_err(|stop| {
            if is_first && !stop.message().is_empty() {
                remark(&format!("{}\n", stop.message()));
            }
            stop.silent()
        });
        // The others wait here for rank 0.
        self.from_first(|| Ok(()))?;
        result
    }

    /// What rank 0 makes, on every rank.
    ///
    /// # Errors
    /// What rank 0 says.
    pub fn from_first<T: Serialize + DeserializeOwned>(
        &mut self,
        make: impl FnOnce() -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        #[cfg(feature = "mpi")]
        if let Some(world) = &self.world {
            let mut communicator = world.communicator();
            let bytes = match communicator.layout().rank {
                0 => postcard::to_stdvec(&make()).unwrap_or_default(),
                _ => Vec::new(),
            };
            let bytes = communicator.broadcast_bytes(0, bytes);
            let unreadable = |_| Err(Stop::failed("error: rank 0 sent something unreadable"));
            return postcard::from_bytes(&bytes).unwrap_or_else(unreadable);
        }
        make()
    }

    /// From here on a signal that interrupts does not end this process, which is to [`join`](Place::join) and
    /// [`watch`](Place::watch) then.
    pub fn expect_interrupts() {
        #[cfg(feature = "mpi")]
        nesl_mpi::communication::interrupts::prepare();
    }

    /// Makes an interrupt stop what [`Link::evaluation`] runs; all ranks call it together. `heard` is called when all
    /// have heard of one.
    pub fn watch(&self, heard: impl Fn() + Send + Sync + 'static) {
        #[cfg(feature = "mpi")]
        if let Some(world) = &self.world {
            world.watch(heard);
        }
        #[cfg(not(feature = "mpi"))]
        drop(heard);
    }

    /// The way from rank 0 to the others.
    pub fn link(&self) -> Link {
        Link {
            #[cfg(feature = "mpi")]
            communicator: {
                let has_others = !self.is_alone() || Link::flag().is_some();
                self.world.as_ref().map(nesl_mpi::World::communicator).filter(|_| has_others)
            },
        }
    }

    /// What every rank has made, in their order, on rank 0; on the others nothing.
    ///
    /// # Errors
    /// If it is unreadable, which is a bug.
    pub fn at_first<T: Serialize + DeserializeOwned>(&mut self, own: T) -> Result<Vec<T>, Stop> {
        #[cfg(feature = "mpi")]
        if let Some(world) = &self.world {
            let bytes = postcard::to_stdvec(&own).unwrap_or_default();
            let all = world.communicator().gather_bytes(0, &bytes);
            let unreadable = |_| Stop::failed("error: a rank sent something unreadable");
            return all.iter().map(|bytes| postcard::from_bytes(bytes).map_err(unreadable)).collect();
        }
        Ok(vec![own])
    }

    /// The ranks, where MPI connects several.
    #[cfg(feature = "mpi")]
    pub fn communicator(&self) -> Option<nesl_mpi::Communicator> {
        self.world.as_ref().map(nesl_mpi::World::communicator).filter(|ranks| ranks.layout().ranks > 1)
    }

    /// Does a job on the engine of the options.
    ///
    /// # Errors
    /// If there is no such engine here, or the job ends with an error.
    pub fn run<J: Job>(&mut self, options: &RunOptions, job: J) -> Result<(), Stop> {
        let memory = self.memory(options);
        match options.engine {
            Some(EngineName::Oracle) => {
                Err(Stop::usage("error: the oracle walks the source, which is not here; take --engine reference"))
            }
            Some(EngineName::Reference) => job.run(Reference::new(memory)),
            _ => {
                let threads = self.own_threads(options)?;
                self.run_on(threads, job)
            }
        }
    }

    /// The threads of this process, and the memory that it may take.
    ///
    /// # Errors
    /// If the system does not start them.
    pub fn own_threads(&self, options: &RunOptions) -> Result<Threads, Stop> {
        Threads::new(self.threads(options), self.memory(options))
            .or_else(|error| self.leave_alone(&format!("error: cannot start threads: {error}")))
    }

    /// Does a job on these threads, together with those of the other ranks if there are some.
    ///
    /// # Errors
    /// If the job ends with an error.
    pub fn run_on<J: Job>(&mut self, threads: Threads, job: J) -> Result<(), Stop> {
        #[cfg(feature = "mpi")]
        if let Some(world) = &self.world {
            return job.run(nesl_mpi::Ranks::new(world.communicator(), threads));
        }
        job.run(threads)
    }

    /// The end of this process for a reason of its own. In a job, the end of the job: the others may wait for it
    /// already.
    fn leave_alone<T>(&self, message: &str) -> Result<T, Stop> {
        #[cfg(feature = "mpi")]
        if let Some(world) = &self.world {
            world.communicator().abort(message);
        }
        Err(Stop::failed(message))
    }

    /// The memory that this process may take for data where no option says so: nine tenths of what the machine has, or
    /// the group of processes that this one is in may take, divided among the ranks here. More would have the kernel
    /// kill it.
    pub fn memory(&self, options: &RunOptions) -> Option<u64> {
        let neighbours = self.launched.map_or(1, |launched| launched.neighbours.max(1));
        options.max_memory.or_else(|| Some(machine_limit()? / 10 * 9 / neighbours as u64))
    }

    /// The number of threads of this process; 0 stands for all cores.
    pub fn threads(&self, options: &RunOptions) -> usize {
        match (options.threads, self.launched) {
            (Some(threads), _) => usize::from(threads),
            (None, Some(launched)) if launched.neighbours > 1 => {
                let cores = std::thread::available_parallelism().map_or(1, usize::from);
                (cores / launched.neighbours).max(1)
            }
            (None, _) => 0,
        }
    }
}

/// The way from rank 0 to the other ranks, if there are any: for what all do at once, when rank 0 says so. Between two
/// words they sleep.
pub struct Link {
    #[cfg(feature = "mpi")]
    communicator: Option<nesl_mpi::Communicator>,
}

#[cfg(feature = "mpi")]
impl Link {
    /// Tells the others something, on rank 0. Nothing where there are none.
    pub fn tell<T: Serialize>(&mut self, word: &T) {
        let Some(communicator) = &mut self.communicator else { return };
        communicator.meet();
        match postcard::to_stdvec(word) {
            Ok(bytes) => drop(communicator.broadcast_bytes(0, bytes)),
            Err(problem) => communicator.abort(&format!("a request cannot be sent: {problem}")),
        }
    }

    /// What rank 0 tells, on the others. Nothing where there is no rank 0 but this one.
    pub fn hear<T: DeserializeOwned>(&mut self) -> Option<T> {
        let communicator = self.communicator.as_mut()?;
        communicator.meet();
        match postcard::from_bytes(&communicator.broadcast_bytes(0, Vec::new())) {
            Ok(word) => Some(word),
            Err(problem) => communicator.abort(&format!("a request cannot be read: {problem}")),
        }
    }

    /// What every rank has made, in their order, on rank 0; on the others nothing.
    pub fn at_first<T: Serialize + DeserializeOwned>(&mut self, own: &T) -> Vec<T> {
        let bytes = postcard::to_stdvec(own).unwrap_or_default();
        let all = match &mut self.communicator {
            Some(communicator) => communicator.gather_bytes(0, &bytes),
            None => vec![bytes],
        };
        all.iter().filter_map(|bytes| postcard::from_bytes(bytes).ok()).collect()
    }

    /// What computations look at, where they can be interrupted.
    pub fn flag() -> Option<Arc<AtomicBool>> {
        nesl_mpi::communication::interrupts::flag()
    }

    /// When it is, as all ranks count.
    pub fn moment(&self) -> u64 {
        self.communicator.as_ref().map_or(0, nesl_mpi::Communicator::moment)
    }

    /// Runs something together with the other ranks, which an interrupt since a moment ends on all: none then.
    pub fn evaluation<R>(&mut self, since: u64, run: impl FnOnce() -> R) -> Option<R> {
        match &mut self.communicator {
            Some(communicator) => communicator.evaluation(since, run),
            None => Some(run()),
        }
    }
}

#[cfg(not(feature = "mpi"))]
impl Link {
    /// Without MPI there is nobody to tell.
    pub fn tell<T: Serialize>(&mut self, _: &T) {}

    /// Without MPI there is nobody to hear.
    pub fn hear<T: DeserializeOwned>(&mut self) -> Option<T> {
        None
    }

    /// Without MPI this rank is all there is.
    pub fn at_first<T: Serialize + DeserializeOwned>(&mut self, own: &T) -> Vec<T> {
        let copy = postcard::to_stdvec(own).and_then(|bytes| postcard::from_bytes(&bytes));
        copy.into_iter().collect()
    }

    /// Without MPI there are no ranks to interrupt.
    pub fn flag() -> Option<Arc<AtomicBool>> {
        None
    }

    /// Without MPI nothing is counted.
    pub fn moment(&self) -> u64 {
        0
    }

    /// Without MPI this rank runs it.
    pub fn evaluation<R>(&mut self, _: u64, run: impl FnOnce() -> R) -> Option<R> {
        Some(run())
    }
}

/// The end of a command that needs MPI, where there is none.
#[cfg(not(feature = "mpi"))]
pub fn without_mpi(reason: &str) -> Stop {
    Stop::failed(format!("error: {reason}\nrebuild it with:  cargo build --release -p nesl --features mpi"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detect_among(variables: &[(&str, &str)]) -> Option<Launched> {
        Launched::detect_in(|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn launchers_are_known_by_their_variables() {
        assert_eq!(detect_among(&[("PATH", "/bin")]), None);
        let open_mpi =
            [("OMPI_COMM_WORLD_SIZE", "4"), ("OMPI_COMM_WORLD_RANK", "2"), ("OMPI_COMM_WORLD_LOCAL_SIZE", "2")];
        assert_eq!(detect_among(&open_mpi), Some(Launched { rank: 2, ranks: 4, neighbours: 2 }));
        let mpich = [("PMI_RANK", "1"), ("PMI_SIZE", "2")];
        assert_eq!(detect_among(&mpich), Some(Launched { rank: 1, ranks: 2, neighbours: 2 }));
        let slurm = [("PMIX_RANK", "0"), ("SLURM_NTASKS", "8"), ("SLURM_STEP_NUM_TASKS", "4")];
        assert_eq!(detect_among(&slurm), Some(Launched { rank: 0, ranks: 4, neighbours: 4 }));
        assert_eq!(detect_among(&slurm[1..]), None);
        assert_eq!(detect_among(&[("PMIX_RANK", "1")]), Some(Launched { rank: 1, ranks: 2, neighbours: 2 }));
    }
}

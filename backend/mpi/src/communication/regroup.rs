//! More ranks, or fewer, while a job runs.
//!
//! ```text
//! all      rank 0  rank 1  rank 2  rank 3        every process of the job: new ones come behind those that are there
//! working  rank 0  rank 1                        the first of them; who does not work is parked
//! ```
//! A job grows by unparking, and where that is not enough by new processes, which MPI starts and connects
//! (`MPI_Comm_spawn` over all ranks, merged at once). It shrinks by parking: a process of a job cannot leave it before
//! the others do. Parked ranks sleep, and look now and then whether rank 0 has a word for them.
//!
//! Between [`World::regroup`] and [`World::settle`] the ranks of before and of after can talk to each other: there
//! values move. Interrupts wait meanwhile.

use crate::communication::frame::Managed;
use crate::communication::interrupts;
use crate::communication::members::{Members, Spawned};
use crate::communication::world::{World, is_now, library};
use mpi::point_to_point::Destination as _;
use mpi::topology::Communicator as _;
use nesl_prim::visible;
use std::ffi::{CString, OsString};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// What rank 0 says to parked ranks.
const PARKED: mpi::Tag = 11;

/// How often a parked rank looks whether somebody wants it.
const NAP: Duration = Duration::from_millis(20);

/// What becomes of the ranks of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Regrouping {
    /// How many worked before.
    pub before: usize,
    /// How many are to work.
    pub after: usize,
    /// How many processes were started for that.
    pub started: usize,
    /// How long that took, and to unpark others.
    pub time: Duration,
}

impl Regrouping {
    /// The ranks among which values move: those of before, and of after.
    pub fn ranks(&self) -> usize {
        self.before.max(self.after)
    }
}

/// Why this process could not start others by this program, which knows `--version`, if it could not.
///
/// # Errors
/// Why.
pub fn can_start(program: &Path) -> Result<(), String> {
    let library = library();
    if !library.contains("Open MPI") {
        return Err(format!("{library} is not known to start ranks while a job runs; Open MPI does"));
    }
    let name = || visible::line(&program.display().to_string()).into_owned();
    if !std::fs::metadata(program).is_ok_and(|file| file.is_file()) {
        return Err(format!("the program that ranks run is gone: {}", name()));
    }
    // An MPI that cannot start what it is asked to ends the job: so this process tries it before.
    let mut trial = Command::new(program);
    let trial = trial.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match trial.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("the program that ranks run does not begin: {}, {status}", name())),
        Err(error) => Err(format!("no process can be started of {}: {error}", name())),
    }
}

impl World {
    /// How many ranks there are, those that are parked among them.
    pub fn processes(&self) -> usize {
        self.all.layout().ranks
    }

    /// Whether this rank does not work.
    pub fn is_parked(&self) -> bool {
        self.is_parked
    }

    /// Whether this rank came to others that were there, which tell it what to do.
    pub fn is_new(&self) -> bool {
        self.is_new
    }

    /// Changes how many ranks work, where there may be more: new ones run a program with these arguments. All working
    /// ranks call it together; unparked and new ones come to them. Those that are too many go at [`World::settle`].
    pub fn regroup(&mut self, after: usize, program: &Path, arguments: &[OsString]) -> Regrouping {
        interrupts::hold();
        let begun = Instant::now();
        let before = self.working.layout().ranks;
        let started = after.saturating_sub(self.processes());
        if after > before {
            let text = |text: &std::ffi::OsStr| CString::new(text.as_encoded_bytes()).unwrap_or_default();
            let arguments = arguments.iter().map(|argument| text(argument)).collect();
            self.tell_parked([after as i64, started as i64]);
            self.grow(after, started, &Spawned { program: text(program.as_os_str()), arguments });
        }
        Regrouping { before, after, started, time: begun.elapsed() }
    }

    /// The end of a change, after which so many ranks work; all that could talk to each other call it together. How many
    /// of those are on this machine, where this rank is one of them.
    pub fn settle(&mut self, after: usize, was_there: bool) -> Option<usize> {
        if after < self.working.layout().ranks {
            let working = self.working.first(after);
            self.working.free();
            self.is_parked = working.is_none();
            self.work(working);
        }
        self.is_new = false;
        let neighbours = (!self.is_parked).then(|| self.neighbours());
        if !self.is_parked {
            interrupts::resume(&self.working, was_there);
        }
        neighbours
    }

    /// Sleeps until this rank, which is parked, is to work; whether that came, before the end of the job.
    pub fn park(&mut self) -> bool {
        while self.is_parked {
            let mut word = [0i64; 2];
            self.all.wait_asleep(0, PARKED, &mut word, NAP);
            match word {
                [0, _] => return false,
                [after, started] => self.grow(after as usize, started as usize, &Spawned::default()),
            }
        }
        true
    }

    /// All ranks that there are make the first of them work, after some were started if that is necessary.
    fn grow(&mut self, after: usize, started: usize, command: &Spawned) {
        if started > 0 {
            let Some(all) = self.all.spawn(started, command) else {
                self.communicator().abort(&format!("MPI could not start {started} more ranks"))
            };
            self.all.free();
            self.all = all;
        }
        let working = self.all.first(after);
        if !self.is_parked {
            self.working.free();
        }
        self.is_parked = working.is_none();
        self.work(working);
    }

    fn work(&mut self, working: Option<Arc<Members>>) {
        self.working = working.unwrap_or_else(|| Arc::clone(&self.all));
        is_now(self.all.layout());
        // The new ones know nothing of how far buffers have grown.
        self.managed = Arc::new(Mutex::new(Managed::default()));
    }

    /// Says something to those that are parked, on rank 0.
    fn tell_parked(&self, word: [i64; 2]) {
        let (all, working) = (self.all.layout(), self.working.layout());
        if all.rank == 0 {
            for rank in working.ranks..all.ranks {
                self.all.process_at_rank(rank as mpi::Rank).send_with_tag(&word[..], PARKED);
            }
        }
    }

    /// Lets parked ranks leave MPI with the others, and gives communicators back.
    pub(crate) fn end(&mut self) {
        self.tell_parked([0, 0]);
        if !self.is_parked {
            self.working.free();
        }
        self.all.free();
    }
}

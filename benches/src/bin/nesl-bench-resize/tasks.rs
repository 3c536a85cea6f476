//! The experiments with tasks that make tasks (Afonso, MPI2.NET, 2010, chapters 4 to 6): each is a process that MPI
//! starts, or a thread, or both in turns.
//!
//! ```text
//! level 0   root: a process
//! level 1   its parts: threads of the root         (of `alternating`; processes of `processes`)
//! level 2   their parts: processes of the root …
//! ```
//! [`problem`] has what is computed, and [`processes`] tasks that are processes. What comes out is checked.

mod problem;
mod processes;

pub use problem::Problem;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::process::ExitCode;
use std::str::FromStr;
use std::thread;
use std::time::Instant;

/// What tasks are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Processes.
    Processes,
    /// Threads at odd levels, processes at even ones.
    Alternating,
    /// Threads.
    Threads,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 3] = [Kind::Processes, Kind::Alternating, Kind::Threads];

    /// Whether the tasks of a level are threads.
    fn is_thread(self, level: usize) -> bool {
        match self {
            Kind::Processes => false,
            Kind::Alternating => level % 2 == 1,
            Kind::Threads => true,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Kind::Processes => "processes",
            Kind::Alternating => "alternating",
            Kind::Threads => "threads",
        })
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Kind, String> {
        let found = Kind::ALL.into_iter().find(|kind| kind.to_string() == text);
        found.ok_or_else(|| format!("there is no kind {text}; there are processes, alternating and threads"))
    }
}

/// A task of a level, as its process is told of it.
#[derive(Clone, Copy, Debug)]
pub struct Role {
    pub kind: Kind,
    pub level: usize,
}

/// What a task, with all that came of it, has done.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Done {
    result: Vec<i64>,
    /// The threads and processes that were started for it.
    threads: i64,
    processes: i64,
}

/// What an experiment measures.
#[derive(Debug, Serialize, Deserialize)]
pub struct Measured {
    pub seconds: f64,
    pub threads: i64,
    /// With that of the root.
    pub processes: i64,
    pub is_right: bool,
}

/// Does a problem: in parts, if it has some.
fn done(problem: &Problem, role: Role) -> Done {
    let parts = problem.parts();
    if parts.is_empty() {
        return Done { result: problem.alone(), ..Done::default() };
    }
    let role = Role { level: role.level + 1, ..role };
    let count = parts.len() as i64;
    let (own, parts) = match role.kind.is_thread(role.level) {
        true => ((count, 0), in_threads(&parts, role)),
        false => ((0, count), processes::done(&parts, role)),
    };
    let (threads, processes) = parts.iter().fold(own, |sums, done| (sums.0 + done.threads, sums.1 + done.processes));
    Done { result: problem.together(parts.into_iter().map(|done| done.result)), threads, processes }
}

fn in_threads(parts: &[Problem], role: Role) -> Vec<Done> {
    thread::scope(|scope| {
        let tasks: Vec<_> = parts.iter().map(|part| scope.spawn(move || done(part, role))).collect();
        tasks.into_iter().map(|task| task.join().unwrap_or_default()).collect()
    })
}

/// Runs the root of a problem and prints what was measured, or a task that another process has started.
pub fn run(problem: Option<&Problem>, role: Role) -> ExitCode {
    let Some((universe, _)) = mpi::initialize_with_threading(mpi::Threading::Serialized) else {
        return ExitCode::FAILURE;
    };
    let code = match problem {
        None => processes::answer(|problem| done(&problem, role)),
        Some(problem) => {
            let begun = Instant::now();
            let Done { result, threads, processes } = done(problem, role);
            let seconds = begun.elapsed().as_secs_f64();
            let measured = Measured { seconds, threads, processes: processes + 1, is_right: problem.is_right(&result) };
            println!("{}", serde_json::to_string(&measured).unwrap_or_default());
            ExitCode::SUCCESS
        }
    };
    drop(universe);
    code
}

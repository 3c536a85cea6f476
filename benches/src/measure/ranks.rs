//! The programs of a suite on ranks of one thread each, beside one process of one thread and of as many threads.
//!
//! Each program runs as a job of its own, which this executable is a rank of: it makes its input, hands its share to
//! the engine, compares what comes of it with its twin, and says how long the slowest rank took.

use super::{in_pool, program_time};
use crate::answer;
use crate::case::{Case, Row};
use crate::machine_limits::{median, memory_to_use};
use crate::program::Compiled;
use clap::ValueEnum;
use nesl_backend::{Engine, Piece, Threads};
use nesl_mpi::communication::launcher;
use nesl_mpi::{Communicator, Ranks};
use nesl_vcode::Constants;
use std::io::ErrorKind;
use std::ops::Range;

/// The seconds of one program.
#[derive(Clone, Copy, Debug)]
pub struct Compared {
    /// On one thread, and on as many threads as ranks.
    pub thread: f64,
    pub threads: f64,
    /// On ranks.
    pub ranks: f64,
}

impl Compared {
    /// Measures a row of a size: its jobs one after another, each so often.
    ///
    /// # Errors
    /// If one of them fails, or program and twin disagree.
    pub fn measure(row: &Row, size: usize, ranks: usize, repetitions: usize) -> Result<Compared, String> {
        let thread = program_time(row, size, 1, repetitions)?;
        let threads = program_time(row, size, ranks, repetitions)?;
        Ok(Compared { thread, threads, ranks: job(row, size, ranks, repetitions)? })
    }

    /// How many times faster ranks are than one thread.
    pub fn speed_up(self) -> f64 {
        self.thread / self.ranks
    }

    /// The time of ranks over that of threads.
    pub fn of_threads(self) -> f64 {
        self.ranks / self.threads
    }
}

/// The line above the table.
pub fn heading(ranks: usize) -> String {
    let (threads, ranks) = (format!("{ranks} threads"), format!("{ranks} ranks"));
    format!(
        "{:<15} {:>10} {:>11} {threads:>11} {ranks:>11} {:>9} {:>11}",
        "benchmark", "size", "1 thread ms", "speed-up", "of threads"
    )
}

/// A line of the table.
pub fn line(row: &Row, size: usize, compared: Compared) -> String {
    let [thread, threads, ranks] = [compared.thread, compared.threads, compared.ranks].map(|seconds| seconds * 1e3);
    let (speed_up, of_threads) = (compared.speed_up(), compared.of_threads());
    format!(
        "{:<15} {size:>10} {thread:>11.2} {threads:>11.2} {ranks:>11.2} {speed_up:>9.2} {of_threads:>11.2}",
        row.name
    )
}

/// The seconds that a row takes as a job of so many ranks.
fn job(row: &Row, size: usize, ranks: usize, repetitions: usize) -> Result<f64, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let suite = row.suite.to_possible_value().ok_or("the suite has no name")?;
    for (launcher, mut command) in launcher::commands(ranks, &own) {
        command.args(["--suite", suite.get_name(), "--as-rank", "--size", &size.to_string()]);
        let output = match command.args(["--repetitions", &repetitions.to_string(), row.name]).output() {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            output => output.map_err(|error| format!("cannot run {launcher}: {error}"))?,
        };
        let (printed, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        return match printed.trim().parse() {
            Ok(seconds) if output.status.success() => Ok(seconds),
            _ => Err(format!("{}: {printed}{errors}", output.status)),
        };
    }
    Err("there is no launcher of MPI".to_owned())
}

/// What this process does as a rank of such a job: measures a row, and prints on rank 0 the seconds that it takes.
///
/// # Errors
/// If MPI does not work here, the program fails, or it disagrees with its twin.
pub fn as_rank(row: &Row, size: usize, repetitions: usize) -> Result<(), String> {
    let world = nesl_mpi::initialise().map_err(|error| error.to_string())?;
    let (communicator, neighbours) = (world.communicator(), world.neighbours().max(1));
    let memory = memory_to_use().map(|bytes| bytes / neighbours as u64);
    let is_first = communicator.layout().rank == 0;
    let seconds = in_pool(1, |_| {
        let threads = Threads::new(1, memory).map_err(|error| error.to_string())?;
        time(Ranks::new(communicator, threads), row, size, repetitions)
    })?;
    if is_first {
        println!("{seconds}");
    }
    Ok(())
}

/// The median of the times of the slowest rank, after one that compiles and is compared.
fn time(engine: Ranks<Threads>, row: &Row, size: usize, repetitions: usize) -> Result<f64, String> {
    let Case { arguments, twin } = (row.case)(size);
    let mut program = Compiled::on(engine, row.program, row.text)?;
    let engine = program.engine();
    let share = |pieces: Vec<Piece>| pieces.into_iter().map(|piece| share(engine, piece)).collect();
    let shares = arguments.into_iter().map(share).collect();
    let arguments = program.arguments(shares)?;
    let result = program.call(&arguments)?;
    // All ranks have all of it, and the same twin: they agree on whether it is right.
    let columns = answer::columns(program.engine(), &result)?;
    answer::compare(&columns, &twin().columns(), row.agreement)?;
    drop((columns, result));
    let mut times = Vec::new();
    for _ in 0..repetitions.max(1) {
        slowest(program.engine().communicator(), 0.0);
        let own = program.time(&arguments)?;
        times.push(slowest(program.engine().communicator(), own));
    }
    Ok(median(times))
}

/// The largest number of all ranks, which wait for each other here.
fn slowest(communicator: &mut Communicator, own: f64) -> f64 {
    communicator.all_gather(own).into_iter().fold(own, f64::max)
}

/// The part of a piece that this rank is to have.
fn share<E: Engine>(engine: &E, piece: Piece) -> Piece {
    match piece {
        Piece::Scalar(value) => Piece::Scalar(value),
        Piece::Lengths(lengths) => Piece::Lengths(lengths[engine.share(lengths.len())].to_vec()),
        Piece::Elements(elements) => {
            let own = engine.share(elements.len());
            Piece::Elements(part(&elements, own))
        }
    }
}

fn part(elements: &Constants, range: Range<usize>) -> Constants {
    match elements {
        Constants::Int(elements) => Constants::Int(elements[range].to_vec()),
        Constants::Float(elements) => Constants::Float(elements[range].to_vec()),
        Constants::Bool(elements) => Constants::Bool(elements[range].to_vec()),
        Constants::Char(elements) => Constants::Char(elements[range].to_vec()),
    }
}

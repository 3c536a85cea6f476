//! Measures one benchmark: the times of both sides, interleaved, and the memory of each in a process of its own.

#[cfg(feature = "mpi")]
pub mod ranks;

use crate::answer;
use crate::case::{Case, Row};
use crate::machine_limits::{median, memory_to_use, peak, reset_peak};
use crate::program::Compiled;
use clap::ValueEnum;
use std::process::Command;
use std::time::Instant;

/// How to measure.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Threads of both sides.
    pub threads: usize,
    /// Timed repetitions of each, after one that is not timed.
    pub repetitions: usize,
}

/// Times of both sides, in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// The first run of the NESL program, which compiles machine code and finds memory.
    pub first: f64,
    /// The median of the NESL program.
    pub nesl: f64,
    /// The median of its twin.
    pub twin: f64,
    /// The least time of the NESL program: what is left where others disturb the machine.
    pub nesl_best: f64,
    /// The least time of its twin.
    pub twin_best: f64,
}

/// A side of a benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Side {
    /// The NESL program.
    Nesl,
    /// Its twin.
    Twin,
}

/// Runs something on a thread of its own with a pool of so many threads, that one included: like the engine, which
/// works on the thread that calls it, a twin need not wait for another thread to begin.
///
/// # Errors
/// If the system does not start the threads, or what was run fails.
///
/// # Panics
/// If what was run does.
pub fn in_pool<R: Send>(
    threads: usize,
    run: impl FnOnce(&rayon::ThreadPool) -> Result<R, String> + Send,
) -> Result<R, String> {
    /// Room for recursion: address space, not memory.
    const STACK: usize = 256 << 20;
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(STACK);
        let thread = builder.spawn_scoped(scope, || {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).use_current_thread().stack_size(STACK);
            run(&pool.build().map_err(|error| error.to_string())?)
        });
        match thread.map_err(|error| error.to_string())?.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Compares the results of program and twin, then times them in turn. Results are dropped after the clock has stopped,
/// on both sides.
///
/// # Errors
/// If the program fails, or they disagree.
pub fn times(row: &Row, size: usize, settings: Settings) -> Result<Times, String> {
    in_pool(settings.threads, |pool| times_in(pool, row, size, settings))
}

fn times_in(pool: &rayon::ThreadPool, row: &Row, size: usize, settings: Settings) -> Result<Times, String> {
    let Case { arguments, twin } = (row.case)(size);
    let mut program = Compiled::new(row.program, row.text, settings.threads, memory_to_use())?;
    let arguments = program.arguments(arguments)?;
    let start = Instant::now();
    let result = program.call(&arguments)?;
    let first = start.elapsed().as_secs_f64();
    let result = answer::columns(program.engine(), &result)?;
    let expected = pool.install(&twin).columns();
    answer::compare(&result, &expected, row.agreement)?;
    drop((result, expected));
    let (mut nesl_times, mut twin_times) = (Vec::new(), Vec::new());
    for _ in 0..settings.repetitions.max(1) {
        nesl_times.push(program.time(&arguments)?);
        let start = Instant::now();
        let result = pool.install(&twin);
        twin_times.push(start.elapsed().as_secs_f64());
        drop(result);
    }
    let best = |times: &[f64]| times.iter().copied().fold(f64::INFINITY, f64::min);
    let (nesl_best, twin_best) = (best(&nesl_times), best(&twin_times));
    Ok(Times { first, nesl: median(nesl_times), twin: median(twin_times), nesl_best, twin_best })
}

/// The median time of the program alone, after a run that compiles, in seconds.
///
/// # Errors
/// If the program fails.
#[cfg(feature = "mpi")]
pub fn program_time(row: &Row, size: usize, threads: usize, repetitions: usize) -> Result<f64, String> {
    in_pool(threads, |_| {
        let mut program = Compiled::new(row.program, row.text, threads, memory_to_use())?;
        let arguments = program.arguments((row.case)(size).arguments)?;
        drop(program.call(&arguments)?);
        let times: Result<Vec<f64>, String> = (0..repetitions.max(1)).map(|_| program.time(&arguments)).collect();
        Ok(median(times?))
    })
}

/// The peak of memory while one side runs once in this process, its input included: in bytes, if the system says.
///
/// # Errors
/// If the program fails.
pub fn peak_here(row: &Row, size: usize, threads: usize, side: Side) -> Result<Option<u64>, String> {
    in_pool(threads, |pool| peak_in(pool, row, size, threads, side))
}

fn peak_in(
    pool: &rayon::ThreadPool,
    row: &Row,
    size: usize,
    threads: usize,
    side: Side,
) -> Result<Option<u64>, String> {
    let Case { arguments, twin } = (row.case)(size);
    match side {
        Side::Nesl => {
            drop(twin);
            let mut program = Compiled::new(row.program, row.text, threads, memory_to_use())?;
            let arguments = program.arguments(arguments)?;
            reset_peak();
            program.call(&arguments)?;
        }
        Side::Twin => {
            drop(arguments);
            reset_peak();
            pool.install(&twin);
        }
    }
    Ok(peak())
}

/// The same in a process of its own, where nothing else is in memory. None if it does not end well.
pub fn peak_apart(row: &Row, size: usize, threads: usize, side: Side) -> Option<u64> {
    let mut command = Command::new(std::env::current_exe().ok()?);
    let side = side.to_possible_value()?;
    let suite = row.suite.to_possible_value()?;
    command.args([
        "--suite",
        suite.get_name(),
        "--peak-of",
        side.get_name(),
        "--size",
        &size.to_string(),
        "--threads",
        &threads.to_string(),
        row.name,
    ]);
    let output = command.output().ok()?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}

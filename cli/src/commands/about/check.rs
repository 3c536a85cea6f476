//! `nesl about --check`: how fast memory and messages are, and whether a program gives what is known of it.

use crate::launch::{Job, Place};
use crate::options::RunOptions;
use crate::stop::Stop;
use nesl_backend::io::host::System;
use nesl_backend::io::print::print;
use nesl_backend::{Engine, Limits, Loaded, Machine};
use nesl_frontend::{Options, Session};
use nesl_span::{Origin, SourceMap};
use nesl_vcode::pipeline;
use serde::Serialize;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A program on all kinds of instructions, and what it prints: the number of primes below 20,000, whether a permutation
/// is sorted, the sum of a geometric series, and the 15th Fibonacci number by recursion in parallel.
const PROGRAM: &str = "
function is_prime(n) = all({rem(n, d) /= 0 : d in [2:1 + trunc(sqrt(float(n)))]});
function fib(n) = if n < 2 then n else sum({fib(i) : i in [n - 1, n - 2]});
sum({if is_prime(n) then 1 else 0 : n in [2:20000]});
let v = {rem(i * 7919, 100003) : i in [0:100003]} in all({a == i : a in sort(v); i in [0:100003]});
sum({1.0 / 2.0 ^ i : i in [1:31]}) == 1.0 - 1.0 / 2.0 ^ 30;
fib(15);
";
const PRINTED: &str = "2262\nt\nt\n610\n";

/// How long memory is copied.
const SHARE: Duration = Duration::from_millis(300);
/// Elements that a thread copies at a time: 32 MiB, more than its share of any cache.
const COPIED: usize = 4 << 20;

/// What the check has found; on rank 0.
#[derive(Serialize)]
pub(super) struct Outcome {
    /// Bytes a second that all threads of rank 0 read and write together.
    memory_bytes_per_second: f64,
    /// Between ranks, where there are several.
    #[cfg(feature = "mpi")]
    messages: Option<nesl_mpi::communication::check::Speed>,
    /// Seconds for a program of which all results were right.
    program_seconds: f64,
}

impl Outcome {
    /// As lines for people.
    pub(super) fn rows(&self) -> Vec<(&'static str, String)> {
        let gigabytes = |bytes: f64| format!("{:.1} GB/s", bytes / 1e9);
        let mut rows = vec![("memory", format!("{} read and written", gigabytes(self.memory_bytes_per_second)))];
        #[cfg(feature = "mpi")]
        if let Some(speed) = self.messages {
            let micros = |seconds: f64| format!("{:.1} µs", seconds * 1e6);
            rows.push(("ring", format!("{} for a word to the next rank", micros(speed.ring_seconds))));
            rows.push(("all to all", format!("{} for 8 KiB between each pair", micros(speed.all_to_all_seconds))));
            rows.push(("bandwidth", format!("{} from each rank to the next", gigabytes(speed.bytes_per_second))));
        }
        rows.push(("results", format!("right, in {:.0} ms", self.program_seconds * 1e3)));
        rows
    }
}

/// Checks.
///
/// # Errors
/// Where something is wrong; the same on all ranks.
pub(super) fn run(place: &mut Place, options: &RunOptions) -> Result<Outcome, Stop> {
    let threads = match place.threads(options) {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    let memory_bytes_per_second = copying(threads);
    #[cfg(feature = "mpi")]
    let messages = match place.communicator() {
        Some(mut ranks) => {
            let measured = nesl_mpi::communication::check::measure(&mut ranks);
            // Whoever got something wrong says so by way of rank 0.
            let all = place.at_first(measured.as_ref().err().cloned())?;
            let wrong = all.into_iter().flatten().next();
            let speed = measured.ok();
            place.from_first(|| wrong.map_or(Ok(()), |problem| Err(Stop::failed(format!("error: {problem}")))))?;
            speed
        }
        None => None,
    };
    let begun = Instant::now();
    place.run(options, Known)?;
    Ok(Outcome {
        memory_bytes_per_second,
        #[cfg(feature = "mpi")]
        messages,
        program_seconds: begun.elapsed().as_secs_f64(),
    })
}

/// Bytes a second that threads read and write while they copy.
fn copying(threads: usize) -> f64 {
    let copy = || {
        let (from, mut to) = (vec![1u64; COPIED], vec![0u64; COPIED]);
        let (begun, mut turns) = (Instant::now(), 0u32);
        while begun.elapsed() < SHARE {
            to.copy_from_slice(std::hint::black_box(&from));
            std::hint::black_box(&to);
            turns += 1;
        }
        f64::from(turns) * (2 * size_of::<u64>() * COPIED) as f64 / begun.elapsed().as_secs_f64()
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(copy)).collect();
        workers.into_iter().map(|worker| worker.join().unwrap_or(0.0)).sum()
    })
}

/// The program whose results are known, on an engine.
struct Known;

impl Job for Known {
    fn run<E: Engine>(self, engine: E) -> Result<(), Stop> {
        let wrong = |problem: String| Stop::failed(format!("error: the check has found a bug in nesl: {problem}"));
        let mut sources = SourceMap::default();
        let mut session = Session::new(&mut sources);
        let file = sources.add("<check>", PROGRAM, Origin::User);
        let checked = session.check(&sources, file, Options::default());
        let compiled = nesl_flatten::compile(session.program(), session.library(), &checked.forms, None);
        let mut program = compiled.map_err(|_| wrong("its program does not compile".to_owned()))?;
        pipeline::optimise(&mut program, &pipeline::Options::default()).map_err(|error| wrong(error.to_string()))?;
        let program = Loaded::new(Arc::new(program));
        let mut machine = Machine::new(engine, Limits::default(), Box::new(System::default()));
        let mut printed = Vec::new();
        for step in &program.program().steps {
            let shown = machine.run_step(&program, step, 0, &[]).map_err(|error| wrong(error.failure.to_string()))?;
            for value in &shown {
                let written = print(&mut machine.engine, value, None, &mut printed);
                written.map_err(|error| crate::output::print_error(&error))?;
                printed.push(b'\n');
            }
        }
        let printed = String::from_utf8_lossy(&printed);
        // All ranks fetch values, rank 0 has their texts.
        match machine.engine.rank().0 > 0 || printed == PRINTED {
            true => Ok(()),
            false => Err(wrong(format!("its program printed\n{printed}"))),
        }
    }
}

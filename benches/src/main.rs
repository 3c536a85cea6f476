//! The yardstick: each NESL program beside its twin in Rust, interleaved in one process, with medians and their ratio.
//!
//! `cargo run --release -p nesl-benches -- --help`. Results are compared before anything is timed: a benchmark of a wrong
//! answer is none.

mod program;
mod twins;

use clap::Parser;
use nesl_backend::{Piece, Slot, Threads, Value};
use nesl_vcode::Constants;
use program::Compiled;
use serde::Serialize;
use std::process::ExitCode;
use std::time::Instant;

/// Times NESL programs beside hand-written Rust twins.
#[derive(Parser)]
#[command(after_help = "Example: nesl-bench --threads 2 --repetitions 5 quicksort dot")]
struct Arguments {
    /// The benchmarks to run; all if none is named
    names: Vec<String>,
    /// Threads of both
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Timed repetitions of each, after one untimed
    #[arg(long, default_value_t = 5)]
    repetitions: usize,
    /// Divide the sizes by this number
    #[arg(long, default_value_t = 1)]
    divide: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Medians of one benchmark, in seconds.
#[derive(Serialize)]
struct Timing {
    name: &'static str,
    size: usize,
    threads: usize,
    nesl: f64,
    twin: f64,
    ratio: f64,
}

/// One benchmark: its input, the call of the NESL program and of the twin on it, and whether they agree.
struct Benchmark {
    name: &'static str,
    text: &'static str,
    size: usize,
    input: fn(usize) -> Vec<Piece>,
    twin: fn(&[Piece]) -> Constants,
}

const BENCHMARKS: &[Benchmark] = &[
    Benchmark {
        name: "quicksort",
        text: include_str!("../programs/quicksort.nesl"),
        size: 1_000_000,
        input: |size| vec![Piece::Elements(Constants::Int(random_ints(size)))],
        twin: |input| Constants::Int(twins::quicksort(ints(&input[0]))),
    },
    Benchmark {
        name: "primes",
        text: include_str!("../programs/primes.nesl"),
        size: 10_000_000,
        input: |size| vec![Piece::Scalar(nesl_prim::ScalarValue::Int(size as i64))],
        twin: |input| match &input[0] {
            Piece::Scalar(nesl_prim::ScalarValue::Int(n)) => Constants::Int(vec![twins::primes(*n as usize) as i64]),
            other => panic!("primes of {other:?}"),
        },
    },
    Benchmark {
        name: "dot",
        text: include_str!("../programs/dot.nesl"),
        size: 10_000_000,
        input: |size| {
            let floats = |offset: i64| random_ints(size).iter().map(|x| ((x + offset) % 1000) as f64).collect();
            vec![Piece::Elements(Constants::Float(floats(0))), Piece::Elements(Constants::Float(floats(7)))]
        },
        twin: |input| Constants::Float(vec![twins::dot(floats(&input[0]), floats(&input[1]))]),
    },
    Benchmark {
        name: "filter",
        text: include_str!("../programs/filter.nesl"),
        size: 10_000_000,
        input: |size| vec![Piece::Elements(Constants::Int(random_ints(size)))],
        twin: |input| Constants::Int(twins::filter(ints(&input[0]))),
    },
];

/// Ints from -10^9 to 10^9 by a linear congruential generator: the same on every run.
fn random_ints(count: usize) -> Vec<i64> {
    let mut state = 42u64;
    (0..count)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as i64 % 2_000_000_001 - 1_000_000_000
        })
        .collect()
}

fn ints(piece: &Piece) -> &[i64] {
    match piece {
        Piece::Elements(Constants::Int(elements)) => elements,
        other => panic!("expected ints, found {other:?}"),
    }
}

fn floats(piece: &Piece) -> &[f64] {
    match piece {
        Piece::Elements(Constants::Float(elements)) => elements,
        other => panic!("expected floats, found {other:?}"),
    }
}

/// The numbers of a result: of its one column, or its one scalar.
fn numbers(value: &Value<Threads>) -> Constants {
    match value.slots.last() {
        Some(Slot::Column(column)) => column.to_constants(),
        Some(Slot::Scalar(scalar)) => Constants::from_scalars(scalar.scalar_type(), &[*scalar]),
        _ => panic!("a result without numbers"),
    }
}

fn run(benchmark: &Benchmark, arguments: &Arguments) -> Result<Timing, String> {
    let size = (benchmark.size / arguments.divide.max(1)).max(1);
    let input = (benchmark.input)(size);
    let mut program = Compiled::new(benchmark.name, benchmark.text, arguments.threads)?;
    let mut values = Vec::new();
    for (parameter, piece) in input.iter().enumerate() {
        values.push(program.argument(parameter, vec![piece.clone()])?);
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(arguments.threads).build().map_err(|e| e.to_string())?;
    let (mut nesl, mut twin) = (Vec::new(), Vec::new());
    for repetition in 0..=arguments.repetitions {
        let start = Instant::now();
        let result = program.call(&values)?;
        let nesl_time = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let expected = pool.install(|| (benchmark.twin)(&input));
        let twin_time = start.elapsed().as_secs_f64();
        if repetition == 0 {
            if numbers(&result) != expected {
                return Err(format!("{}: the program and its twin disagree", benchmark.name));
            }
            continue;
        }
        nesl.push(nesl_time);
        twin.push(twin_time);
    }
    let (nesl, twin) = (median(nesl), median(twin));
    Ok(Timing { name: benchmark.name, size, threads: arguments.threads, nesl, twin, ratio: nesl / twin })
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let chosen = |benchmark: &&Benchmark| {
        arguments.names.is_empty() || arguments.names.iter().any(|name| name == benchmark.name)
    };
    if let Some(unknown) = arguments.names.iter().find(|name| !BENCHMARKS.iter().any(|b| b.name == name.as_str())) {
        eprintln!("no benchmark is called {unknown}");
        return ExitCode::from(2);
    }
    let mut timings = Vec::new();
    for benchmark in BENCHMARKS.iter().filter(chosen) {
        match run(benchmark, &arguments) {
            Ok(timing) => timings.push(timing),
            Err(message) => {
                eprintln!("{message}");
                return ExitCode::FAILURE;
            }
        }
    }
    if arguments.json {
        match serde_json::to_string_pretty(&timings) {
            Ok(text) => println!("{text}"),
            Err(error) => eprintln!("{error}"),
        }
        return ExitCode::SUCCESS;
    }
    println!("{:<12} {:>10} {:>8} {:>12} {:>12} {:>8}", "benchmark", "size", "threads", "nesl ms", "twin ms", "ratio");
    for timing in &timings {
        println!(
            "{:<12} {:>10} {:>8} {:>12.3} {:>12.3} {:>8.2}",
            timing.name,
            timing.size,
            timing.threads,
            timing.nesl * 1e3,
            timing.twin * 1e3,
            timing.ratio
        );
    }
    ExitCode::SUCCESS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_and_twins_agree_at_a_small_size() {
        let arguments = Arguments { names: Vec::new(), threads: 2, repetitions: 1, divide: 1000, json: false };
        for benchmark in BENCHMARKS {
            assert!(run(benchmark, &arguments).unwrap().ratio.is_finite(), "{}", benchmark.name);
        }
    }
}

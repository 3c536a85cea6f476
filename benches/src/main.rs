//! The yardstick: each NESL program beside its twin in Rust, interleaved in one process, with medians and their ratio.
//!
//! `cargo run --release -p nesl-benches -- --help`. Results are compared before anything is timed: a benchmark of a
//! wrong answer is none.
//!
//! ```text
//! table      the benchmarks: program, size, input, twin      case     what a row is, and what it becomes at a size
//! languages  programs in V, NESL and C
//! outside    the same for the outsider's suite               pieces   arguments of programs, from what twins have
//! twins/     the Rust side                                    input    inputs, from a fixed generator
//! program    the NESL side                                    answer   results of both, compared
//! measure    times and memory of one benchmark, also on ranks machine_limits  bandwidth, memory
//! report     what was measured, as text and as data
//! ```

mod answer;
mod case;
mod input;
mod languages;
mod machine_limits;
mod measure;
mod outside;
mod pieces;
mod program;
mod report;
mod table;
#[cfg(test)]
mod tests;
mod twins;

use case::{Row, Suite};
use clap::Parser;
use languages::{TRIOS, Trio};
#[cfg(feature = "mpi")]
use measure::ranks;
use measure::{Settings, Side};
use report::{Failed, Measured, Report};
use std::process::ExitCode;
use table::ROWS;

/// Times NESL programs beside hand-written Rust twins.
#[derive(Parser)]
#[command(after_help = "Example: nesl-bench --threads 1,2 --repetitions 5 quicksort dot")]
struct Arguments {
    /// The benchmarks to run; all if none is named
    names: Vec<String>,
    /// The programs that the project is tuned for, those that an outsider would write, or those in V, NESL and C
    #[arg(long, value_enum, default_value = "programs")]
    suite: Suite,
    /// Threads of both sides; several numbers show the speed-up of each over the first
    #[arg(long, value_delimiter = ',', default_value = "1")]
    threads: Vec<usize>,
    /// Ranks of one thread each, as a job of their own, beside one thread and as many threads; without the twins
    #[cfg(feature = "mpi")]
    #[arg(long, conflicts_with_all = ["threads", "growth", "json"])]
    ranks: Option<std::num::NonZero<usize>>,
    /// Timed repetitions of each, after one untimed
    #[arg(long, default_value_t = 5)]
    repetitions: usize,
    /// Divide the sizes by this number
    #[arg(long, default_value_t = 1)]
    divide: usize,
    /// Run each at three sizes a factor of four apart, and show time for each unit of work relative to the smallest
    #[arg(long)]
    growth: bool,
    /// Do not measure memory, which runs each side once more in a process of its own
    #[arg(long)]
    no_memory: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// List the benchmarks
    #[arg(long)]
    list: bool,
    /// Run one side of one benchmark once and print the peak of its memory in bytes: for this program's own use
    #[arg(long, hide = true, requires = "size")]
    peak_of: Option<Side>,
    /// This process is a rank of a job that measures one benchmark: for this program's own use
    #[cfg(feature = "mpi")]
    #[arg(long, hide = true, requires = "size")]
    as_rank: bool,
    /// The size for that
    #[arg(long, hide = true)]
    size: Option<usize>,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(code) => code,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> Result<ExitCode, String> {
    let all = match arguments.suite {
        Suite::Programs => ROWS,
        Suite::Outside => outside::ROWS,
        Suite::Languages => return run_languages(arguments),
    };
    if let Some(unknown) = arguments.names.iter().find(|name| !all.iter().any(|row| row.name == name.as_str())) {
        return Err(format!("no benchmark is called {unknown}; --list lists them"));
    }
    if arguments.threads.contains(&0) {
        return Err("there is nothing to run on 0 threads".to_owned());
    }
    let rows: Vec<&Row> = all
        .iter()
        .filter(|row| arguments.names.is_empty() || arguments.names.iter().any(|name| name == row.name))
        .collect();
    if let (Some(side), Some(size)) = (arguments.peak_of, arguments.size) {
        for row in rows {
            if let Some(peak) = measure::peak_here(row, size, arguments.threads[0], side)? {
                println!("{peak}");
            }
        }
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.list {
        for row in rows {
            println!("{:<15} {:>10}  {:<9} {}", row.name, row.size, row.work.unit(), row.what);
        }
        return Ok(ExitCode::SUCCESS);
    }
    #[cfg(feature = "mpi")]
    if let (true, Some(size)) = (arguments.as_rank, arguments.size) {
        rows.iter().try_for_each(|row| ranks::as_rank(row, size, arguments.repetitions))?;
        return Ok(ExitCode::SUCCESS);
    }
    #[cfg(feature = "mpi")]
    if let Some(ranks) = arguments.ranks {
        return Ok(compare_ranks(&rows, ranks.get(), arguments));
    }
    let report = measure_all(&rows, arguments)?;
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&report).map_err(|error| error.to_string())?);
    }
    Ok(if report.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Measures the programs in three languages, on one thread.
fn run_languages(Arguments { names, divide, repetitions, list, .. }: &Arguments) -> Result<ExitCode, String> {
    let is_named = |trio: &&Trio| names.is_empty() || names.iter().any(|name| name == trio.name);
    if let Some(unknown) = names.iter().find(|name| !TRIOS.iter().any(|trio| trio.name == name.as_str())) {
        return Err(format!("no program is called {unknown}; --list lists them"));
    }
    let trios: Vec<&Trio> = TRIOS.iter().filter(is_named).collect();
    if *list {
        trios.iter().for_each(|trio| println!("{:<15} {:>10}", trio.name, trio.size));
        return Ok(ExitCode::SUCCESS);
    }
    Ok(if languages::report(&trios, *divide, (*repetitions).max(1)) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Measures all rows on ranks and on threads; shows each as soon as it is measured.
#[cfg(feature = "mpi")]
fn compare_ranks(rows: &[&Row], ranks: usize, arguments: &Arguments) -> ExitCode {
    println!("{}", ranks::heading(ranks));
    let (mut all, mut code) = (Vec::new(), ExitCode::SUCCESS);
    for row in rows {
        let size = row.work.divided(row.size, arguments.divide);
        match ranks::Compared::measure(row, size, ranks, arguments.repetitions) {
            Ok(compared) => {
                println!("{}", ranks::line(row, size, compared));
                all.push(compared);
            }
            Err(message) => {
                eprintln!("{} of {size} on {ranks} ranks: {message}", row.name);
                code = ExitCode::FAILURE;
            }
        }
    }
    let mean = |ratio: fn(ranks::Compared) -> f64| report::geometric_mean(all.iter().map(|&compared| ratio(compared)));
    if let (Some(speed_up), Some(of_threads)) = (mean(ranks::Compared::speed_up), mean(ranks::Compared::of_threads)) {
        println!("geometric means of {}: speed-up {speed_up:.2}, of threads {of_threads:.2}", all.len());
    }
    code
}

/// Measures all rows; shows each as soon as it is measured, unless data are wanted.
fn measure_all(rows: &[&Row], arguments: &Arguments) -> Result<Report, String> {
    let mut report = Report::default();
    let say = |line: String| {
        if !arguments.json {
            println!("{line}");
        }
    };
    for &threads in &arguments.threads {
        let bandwidth = measure::in_pool(threads, |pool| Ok(machine_limits::bandwidth(pool)))?;
        say(format!(
            "copy on {threads} threads: {:.1} GB/s, into new memory {:.1} GB/s",
            bandwidth.copy / 1e9,
            bandwidth.copy_to_new / 1e9
        ));
        report.bandwidth.push(bandwidth);
    }
    say(report::heading());
    for row in rows {
        for (size, threads) in plan(row, arguments) {
            match measure_one(row, size, threads, arguments, &report) {
                Ok(measured) => {
                    say(measured.line());
                    report.results.push(measured);
                }
                Err(message) => {
                    eprintln!("{} of {size} on {threads} threads: {message}", row.name);
                    report.failures.push(Failed { name: row.name, size, threads, message });
                }
            }
        }
    }
    report.summarise(&arguments.threads);
    for mean in &report.means {
        say(format!("geometric mean of {} ratios on {} threads: {:.2}", mean.benchmarks, mean.threads, mean.ratio));
    }
    Ok(report)
}

/// The sizes and numbers of threads to measure a row on.
fn plan(row: &Row, arguments: &Arguments) -> Vec<(usize, usize)> {
    let steps: &[usize] = if arguments.growth { &[16, 4, 1] } else { &[1] };
    let mut sizes: Vec<usize> =
        steps.iter().map(|step| row.work.divided(row.size, arguments.divide.max(1) * step)).collect();
    sizes.dedup();
    sizes.iter().flat_map(|&size| arguments.threads.iter().map(move |&threads| (size, threads))).collect()
}

/// Measures a row, and compares it with what was measured of it before.
fn measure_one(
    row: &Row,
    size: usize,
    threads: usize,
    arguments: &Arguments,
    before: &Report,
) -> Result<Measured, String> {
    let times = measure::times(row, size, Settings { threads, repetitions: arguments.repetitions })?;
    let mut measured = Measured::new(row, size, threads, times);
    if !arguments.no_memory {
        measured.nesl_peak = measure::peak_apart(row, size, threads, Side::Nesl);
        measured.twin_peak = measure::peak_apart(row, size, threads, Side::Twin);
    }
    let mut earlier = before.results.iter().filter(|other| other.name == row.name);
    if let Some(first) = earlier.clone().find(|other| other.size == size && other.threads != threads) {
        measured.speed_up_from(first);
    }
    if let Some(smallest) = earlier.find(|other| other.threads == threads && other.size != size) {
        measured.grow_from(smallest, row.work.at(size) / row.work.at(smallest.size));
    }
    Ok(measured)
}

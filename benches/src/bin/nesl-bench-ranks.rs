//! The yardstick for ranks: programs on one and on several ranks of one thread each, beside one process with as many
//! threads.
//!
//! `cargo run --release -p nesl-benches --bin nesl-bench-ranks -- --help`. Every run is a job of its own, started as a
//! user would start it; the program itself says how long the part took that counts, so that starting and making the
//! input do not. It does that part several times: the first one compiles, and touches memory that the system has to
//! find. What the machine allows is measured along with it: as many processes of one thread, each with all of the input
//! and none aware of the others, that do it for so long that all of them are at it.

use clap::Parser;
use std::fmt::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// Times programs on ranks beside threads.
#[derive(Parser)]
#[command(after_help = "Example: nesl-bench-ranks --ranks 2 --repetitions 5 quicksort fft")]
struct Arguments {
    /// The programs to run; all if none is named
    names: Vec<String>,
    /// How many ranks of one thread each to compare with one rank, and with one process of as many threads
    #[arg(long, default_value_t = 2)]
    ranks: usize,
    /// Jobs of each, of which the median counts
    #[arg(long, default_value_t = 3)]
    repetitions: usize,
    /// Divide the sizes by this number
    #[arg(long, default_value_t = 1)]
    divide: usize,
    /// Count what a job does first, which compiles and touches fresh memory, instead of what it does then
    #[arg(long)]
    first: bool,
    /// The executable of nesl, with MPI; by default the one beside this
    #[arg(long)]
    nesl: Option<PathBuf>,
}

/// A program and what it is run on.
struct Row {
    name: &'static str,
    /// Definitions.
    text: &'static str,
    /// What is timed, of a size `n`.
    work: &'static str,
    /// An input `v` of that size, before.
    input: &'static str,
    size: usize,
    /// Whether only powers of two are sizes.
    is_power: bool,
}

const ROWS: &[Row] = &[
    Row {
        name: "quicksort",
        text: include_str!("../../programs/quicksort.nesl"),
        work: "main(v)",
        input: "{rand(1000000000) : i in [0:n]}",
        size: 10_000_000,
        is_power: false,
    },
    Row {
        name: "mergesort",
        text: include_str!("../../programs/mergesort.nesl"),
        work: "main(v)",
        input: "{rand(1000000000) : i in [0:n]}",
        size: 4_000_000,
        is_power: false,
    },
    Row {
        name: "quickhull",
        text: include_str!("../../programs/quickhull.nesl"),
        work: "main(v)",
        input: "{(rand(1.0), rand(1.0)) : i in [0:n]}",
        size: 10_000_000,
        is_power: false,
    },
    Row {
        name: "fft",
        text: include_str!("../../programs/fft.nesl"),
        work: "main(v)",
        input: "{(rand(1.0), 0.0) : i in [0:n]}",
        size: 1 << 21,
        is_power: true,
    },
    Row {
        name: "search",
        text: "function main(key, v) = any({x == key : x in v});",
        work: "main(-1, v)",
        input: "{rand(1000000000) : i in [0:n]}",
        size: 100_000_000,
        is_power: false,
    },
    Row {
        name: "mandelbrot",
        text: include_str!("../../programs/mandelbrot.nesl"),
        work: "main(n)",
        input: "[0]",
        size: 2048,
        is_power: false,
    },
];

/// How a program is run.
#[derive(Clone, Copy)]
enum Way {
    /// In one process with so many threads.
    Threads(usize),
    /// On so many ranks of one thread.
    Ranks(usize),
    /// In so many processes of one thread at once, each all of it.
    AtOnce(usize),
}

/// How often a job does what counts.
const TIMES: usize = 4;

/// How often each of several jobs does it that know nothing of each other: those in the middle count, when all are at
/// it.
const TIMES_AT_ONCE: usize = 16;

impl Way {
    /// How often a job does what counts.
    fn times(self) -> usize {
        match self {
            Way::Threads(_) | Way::Ranks(_) => TIMES,
            Way::AtOnce(_) => TIMES_AT_ONCE,
        }
    }

    /// Those of the times that count.
    fn counted(self, first: bool) -> Range<usize> {
        match self {
            _ if first => 0..1,
            Way::Threads(_) | Way::Ranks(_) => 1..TIMES,
            Way::AtOnce(_) => TIMES_AT_ONCE / 4..TIMES_AT_ONCE - TIMES_AT_ONCE / 4,
        }
    }
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), String> {
    if let Some(unknown) = arguments.names.iter().find(|name| !ROWS.iter().any(|row| row.name == name.as_str())) {
        let known: Vec<&str> = ROWS.iter().map(|row| row.name).collect();
        return Err(format!("no program is called {unknown}; there are {}", known.join(", ")));
    }
    if arguments.ranks == 0 || arguments.repetitions == 0 || arguments.divide == 0 {
        return Err("ranks, repetitions and divisor are at least 1".to_owned());
    }
    let nesl = executable(arguments.nesl.as_deref())?;
    let n = arguments.ranks;
    let ways = [Way::Threads(1), Way::Threads(n), Way::Ranks(1), Way::Ranks(n), Way::AtOnce(n)];
    println!(
        "{:<11}{:>12}{:>12}{:>12}{:>12}{:>12}{:>10}{:>10}{:>12}",
        "program",
        "size",
        "1 thread ms",
        format!("{n} threads"),
        "1 rank",
        format!("{n} ranks"),
        "speed-up",
        "possible",
        "of threads"
    );
    let wanted = |row: &&Row| arguments.names.is_empty() || arguments.names.iter().any(|name| name == row.name);
    for row in ROWS.iter().filter(wanted) {
        let size = (row.size / arguments.divide).max(1);
        let size = if row.is_power { 1 << size.ilog2() } else { size };
        let file = std::env::temp_dir().join(format!("nesl-bench-{}-{}.nesl", row.name, std::process::id()));
        let times = measure(&nesl, &file, &ways, (row, size), arguments);
        // What is left of it does no harm.
        let _ = std::fs::remove_file(&file);
        let medians: Vec<f64> = times?.into_iter().map(median).collect();
        let mut line = format!("{:<11}{size:>12}", row.name);
        for median in &medians[..4] {
            let _ = write!(line, "{:>12.1}", median * 1e3);
        }
        let &[one, threads, rank, ranks, at_once] = medians.as_slice() else { unreachable!("a time for each way") };
        println!("{line}{:>10.2}{:>10.2}{:>12.2}", rank / ranks, one * n as f64 / at_once, ranks / threads);
    }
    Ok(())
}

/// The program, which prints the seconds that what counts takes each of so many times.
fn text(row: &Row, size: usize, times: usize) -> String {
    let once = format!("(result, seconds) = time({});\nseconds;\n", row.work);
    format!("{}\nn = {size};\nv = {};\n{}", row.text, row.input, once.repeat(times))
}

/// The times of all ways to run a program of a size, from a file, one after another, so often.
fn measure(
    nesl: &Path,
    file: &Path,
    ways: &[Way],
    (row, size): (&Row, usize),
    arguments: &Arguments,
) -> Result<Vec<Vec<f64>>, String> {
    let mut times = vec![Vec::with_capacity(arguments.repetitions); ways.len()];
    for _ in 0..arguments.repetitions {
        for (times, way) in times.iter_mut().zip(ways) {
            let write = std::fs::write(file, text(row, size, way.times()));
            write.map_err(|error| format!("cannot write {}: {error}", file.display()))?;
            times.push(time(nesl, file, *way, arguments.first)?);
        }
    }
    Ok(times)
}

/// The seconds that a job says it took: first, or then.
fn time(nesl: &Path, file: &Path, way: Way, first: bool) -> Result<f64, String> {
    let (jobs, settings) = match way {
        Way::Threads(threads) => (1, vec!["--threads".to_owned(), threads.to_string()]),
        Way::Ranks(ranks) => (1, ["--threads", "1", "--ranks", &ranks.to_string()].map(str::to_owned).to_vec()),
        Way::AtOnce(jobs) => (jobs, ["--threads", "1"].map(str::to_owned).to_vec()),
    };
    let start = || {
        let mut command = Command::new(nesl);
        command.arg("run").args(&settings).arg(file).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().map_err(|error| format!("cannot run {}: {error}", nesl.display()))
    };
    let started: Vec<_> = (0..jobs).map(|_| start()).collect();
    let mut seconds = 0.0;
    for job in started {
        let output = job?.wait_with_output().map_err(|error| format!("cannot read what it prints: {error}"))?;
        let printed = String::from_utf8_lossy(&output.stdout);
        // Above are the definitions.
        let times: Vec<f64> = printed.lines().filter_map(|line| line.trim().parse().ok()).collect();
        if !output.status.success() || times.len() != way.times() {
            let errors = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{}: {}{printed}{errors}", file.display(), output.status));
        }
        seconds += median(times[way.counted(first)].to_vec());
    }
    Ok(seconds / jobs as f64)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    let middle = times.len() / 2;
    if times.len().is_multiple_of(2) { (times[middle - 1] + times[middle]) / 2.0 } else { times[middle] }
}

/// The executable to measure.
fn executable(given: Option<&Path>) -> Result<PathBuf, String> {
    let beside = || std::env::current_exe().ok().map(|own| own.with_file_name("nesl"));
    let found = given.map(Path::to_path_buf).or_else(beside).filter(|path| path.is_file());
    found.ok_or_else(|| {
        "there is no nesl beside this: cargo build --release -p nesl --features mpi, or --nesl PATH".to_owned()
    })
}

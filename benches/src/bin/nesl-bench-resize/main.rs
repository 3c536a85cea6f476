//! The yardstick for changes of the number of ranks: the twelve ways of the literature to get from some ranks to
//! others, with a plain column and with a segmented one.
//!
//! `cargo run --release -p nesl-benches --features mpi --bin nesl-bench-resize -- --help`. No engine takes part: each
//! way is a job of MPI of its own ([`job`]), which checks what has arrived. The product knows one of them, Merge by
//! messages without blocking; this is for comparing it with the others, on the machine at hand.

mod exchange;
mod job;
mod ways;

use clap::Parser;
use job::Measured;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use ways::Way;

/// Times twelve ways to change the number of ranks.
#[derive(Parser)]
#[command(after_help = "Example: nesl-bench-resize --pairs 2:4,4:2 --elements 1000000 --repetitions 5\n\n\
    What was published of 5 GB between 2 and 160 ranks on 8 nodes (Martín-Álvarez and others): Merge-P2PA is the best\n\
    of the twelve in 56 of 60 cells; Baseline-COLS is 1 to 8.5 s slower than any other, and Baseline-COLA takes 0.3 to\n\
    0.7 of its time; all others are within 0.6 s of one another.")]
struct Arguments {
    /// The numbers of ranks before and after; by default all pairs of 1, 2, 4 and 8
    #[arg(long, value_delimiter = ',', value_parser = pair)]
    pairs: Vec<(usize, usize)>,
    /// The ways, such as Merge-P2PA; by default all
    #[arg(long, value_delimiter = ',')]
    ways: Vec<Way>,
    /// Elements of eight bytes in each column
    #[arg(long, default_value_t = 4_000_000, value_parser = elements)]
    elements: usize,
    /// How often the columns move in a job
    #[arg(long, default_value_t = 5)]
    repetitions: usize,
    /// Jobs of each, of which the median counts
    #[arg(long, default_value_t = 3)]
    jobs: usize,
    /// The launcher of MPI
    #[arg(long, default_value = "mpirun")]
    launcher: PathBuf,
    /// This process is a rank of a job
    #[arg(long, hide = true)]
    as_rank: bool,
}

/// Reads `2:4`.
fn pair(text: &str) -> Result<(usize, usize), String> {
    let numbers = text.split_once(':').and_then(|(before, after)| Some((before.parse().ok()?, after.parse().ok()?)));
    match numbers {
        Some((before @ 1..=64, after @ 1..=64)) => Ok((before, after)),
        _ => Err("expected two numbers of ranks from 1 to 64, such as 2:4".to_owned()),
    }
}

/// Reads a number of elements of which every rank has some: after an exchange in which a rank has none, the next one
/// without blocking was seen to hang in Open MPI 4.1.
fn elements(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(elements @ 1000..=1_000_000_000) => Ok(elements),
        _ => Err("expected a number of elements from 1000 to 1000000000".to_owned()),
    }
}

fn main() -> ExitCode {
    let mut arguments = Arguments::parse();
    if arguments.as_rank {
        let (Some(&pair), Some(&way)) = (arguments.pairs.first(), arguments.ways.first()) else {
            return ExitCode::FAILURE;
        };
        return job::run(pair, way, (arguments.elements, arguments.repetitions));
    }
    if arguments.pairs.is_empty() {
        let sizes = [1, 2, 4, 8];
        let pairs = sizes.iter().flat_map(|&before| sizes.map(|after| (before, after)));
        arguments.pairs = pairs.filter(|(before, after)| before != after).collect();
    }
    if arguments.ways.is_empty() {
        arguments.ways = Way::all().collect();
    }
    println!("ranks    way                   start     plain  segmented");
    for &pair in &arguments.pairs {
        let mut best: Option<(f64, Way)> = None;
        for &way in &arguments.ways {
            let jobs = (0..arguments.jobs.max(1)).map(|_| measure(&arguments, pair, way));
            let jobs: Vec<Measured> = match jobs.collect() {
                Ok(jobs) => jobs,
                Err(problem) => {
                    eprintln!("error: {} -> {} {way}: {problem}", pair.0, pair.1);
                    return ExitCode::FAILURE;
                }
            };
            let of = |time: fn(&Measured) -> f64| median(jobs.iter().map(time).collect());
            let (start, plain) = (of(|job| job.start), of(|job| median(job.plain.clone())));
            let segmented = of(|job| median(job.segmented.clone()));
            let name = way.to_string();
            let ranks = format!("{} -> {}", pair.0, pair.1);
            println!("{ranks:<7}  {name:<18}  {start:6.3} s  {plain:6.4} s   {segmented:6.4} s");
            if best.is_none_or(|(time, _)| plain < time) {
                best = Some((plain, way));
            }
        }
        if let Some((_, way)) = best {
            println!("         least for the plain column: {way}");
        }
    }
    ExitCode::SUCCESS
}

/// What a job measures.
fn measure(arguments: &Arguments, (before, after): (usize, usize), way: Way) -> Result<Measured, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(&arguments.launcher);
    command.arg("-n").arg(before.to_string()).arg(own).arg("--as-rank");
    command.args(["--pairs", &format!("{before}:{after}"), "--ways", &way.to_string()]);
    command.args(["--elements", &arguments.elements.to_string(), "--repetitions", &arguments.repetitions.to_string()]);
    // More ranks than cores, of any user, which give up their core while they wait.
    command.envs([
        ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
        ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
        ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
        ("OMPI_MCA_hwloc_base_binding_policy", "none"),
        ("OMPI_MCA_mpi_yield_when_idle", "1"),
    ]);
    let output = command.output().map_err(|error| format!("{}: {error}", arguments.launcher.display()))?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let measured = printed.lines().find_map(|line| serde_json::from_str::<Measured>(line).ok());
    match measured {
        Some(measured) if output.status.success() && measured.is_right => Ok(measured),
        Some(measured) if !measured.is_right => Err("wrong elements have arrived".to_owned()),
        _ => Err(format!("{}\n{printed}{}", output.status, String::from_utf8_lossy(&output.stderr))),
    }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

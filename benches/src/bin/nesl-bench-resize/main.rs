//! The yardstick for changes of the number of ranks: the twelve ways of the literature to get from some ranks to
//! others, with a plain column and with a segmented one.
//!
//! `cargo run --release -p nesl-benches --features mpi --bin nesl-bench-resize -- --help`. No engine takes part: each
//! way is a job of MPI of its own ([`job`]), which checks what has arrived. The product knows one of them, Merge by
//! messages without blocking; this is for comparing it with the others, on the machine at hand. With `--tasks` it is
//! the yardstick for what starting ranks costs: problems whose parts are processes that MPI starts ([`tasks`]).

mod exchange;
mod job;
mod start;
mod tasks;
mod ways;

use clap::Parser;
use job::Measured;
use serde::de::DeserializeOwned;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use tasks::{Kind, Problem, Role};
use ways::Way;

/// Times twelve ways to change the number of ranks, and tasks that are processes or threads.
#[derive(Parser)]
#[command(after_help = "Example: nesl-bench-resize --pairs 2:4,4:2 --elements 1000000 --repetitions 5\n\n\
    What was published of 5 GB between 2 and 160 ranks on 8 nodes (Martín-Álvarez and others): Merge-P2PA is the best\n\
    of the twelve in 56 of 60 cells; Baseline-COLS is 1 to 8.5 s slower than any other, and Baseline-COLA takes 0.3 to\n\
    0.7 of its time; all others are within 0.6 s of one another.\n\n\
    What was published of tasks (Afonso, 2010): a process of C++ takes 13 ms to start, a thread 8 ms; 84 % faster than\n\
    processes alone are processes and threads in turns for fib:54:40, 100 % for merge_sort:51200000:100000, and 32 % for\n\
    mandelbrot:51200; for few tasks processes alone are faster.")]
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
    /// Instead, time problems whose parts are tasks: spawn:TASKS, fib:N:GRAIN, queens:N, merge_sort:ELEMENTS:GRAIN,
    /// mandelbrot:COLUMNS; by default some of each
    #[arg(long, value_name = "PROBLEM", value_delimiter = ',', num_args = 0..)]
    tasks: Option<Vec<Problem>>,
    /// What tasks are: processes, alternating (threads at odd levels) or threads; by default each
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    kinds: Vec<Kind>,
    /// The launcher of MPI
    #[arg(long, default_value = "mpirun")]
    launcher: PathBuf,
    /// This process is a rank of a job
    #[arg(long, hide = true)]
    as_rank: bool,
    /// This process is a task of another: of this kind and level
    #[arg(long, hide = true, value_parser = role)]
    as_task: Option<Role>,
}

/// Reads `threads:3`.
fn role(text: &str) -> Result<Role, String> {
    let role = text.split_once(':').and_then(|(kind, level)| Some((kind.parse().ok()?, level.parse().ok()?)));
    role.map(|(kind, level)| Role { kind, level }).ok_or_else(|| "expected a kind and a level".to_owned())
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
    if let Some(role) = arguments.as_task {
        return tasks::run(arguments.tasks.iter().flatten().next(), role);
    }
    if let Some(problems) = &arguments.tasks {
        return time_tasks(&arguments, problems);
    }
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
                Err(problem) => return failed(&format!("{} -> {} {way}: {problem}", pair.0, pair.1)),
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

/// Prints how long problems take whose parts are tasks.
fn time_tasks(arguments: &Arguments, problems: &[Problem]) -> ExitCode {
    let usual =
        ["spawn:1", "spawn:4", "spawn:8", "fib:45:40", "queens:4", "merge_sort:800000:100000", "mandelbrot:1600"];
    let problems = match problems {
        [] => usual.iter().filter_map(|problem| problem.parse().ok()).collect(),
        problems => problems.to_vec(),
    };
    let kinds = if arguments.kinds.is_empty() { &Kind::ALL[..] } else { &arguments.kinds };
    println!("problem                   tasks are    processes  threads      time");
    for problem in &problems {
        for &kind in kinds {
            let words = ["--as-task".to_owned(), format!("{kind}:0"), "--tasks".to_owned(), problem.to_string()];
            let jobs = (0..arguments.jobs.max(1)).map(|_| run::<tasks::Measured>(arguments, 1, &words));
            let jobs: Vec<tasks::Measured> = match jobs.collect() {
                Ok(jobs) => jobs,
                Err(error) => return failed(&format!("{problem} in {kind}: {error}")),
            };
            let Some(first) = jobs.first().filter(|_| jobs.iter().all(|job| job.is_right)) else {
                return failed(&format!("{problem} in {kind}: the result is wrong"));
            };
            let seconds = median(jobs.iter().map(|job| job.seconds).collect());
            let (processes, threads) = (first.processes, first.threads);
            println!("{problem:<24}  {kind:<11}  {processes:>9}  {threads:>7}  {seconds:>7.4} s");
        }
    }
    ExitCode::SUCCESS
}

fn failed(problem: &str) -> ExitCode {
    eprintln!("error: {problem}");
    ExitCode::FAILURE
}

/// What a job measures.
fn measure(arguments: &Arguments, (before, after): (usize, usize), way: Way) -> Result<Measured, String> {
    let (pair, way) = (format!("{before}:{after}"), way.to_string());
    let (elements, repetitions) = (arguments.elements.to_string(), arguments.repetitions.to_string());
    let words = ["--as-rank", "--pairs", &pair, "--ways", &way, "--elements", &elements, "--repetitions", &repetitions];
    let measured: Measured = run(arguments, before, &words.map(str::to_owned))?;
    if measured.is_right { Ok(measured) } else { Err("wrong elements have arrived".to_owned()) }
}

/// Runs a job of so many ranks; what its first rank prints.
fn run<T: DeserializeOwned>(arguments: &Arguments, ranks: usize, words: &[String]) -> Result<T, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(&arguments.launcher);
    command.arg("-n").arg(ranks.to_string()).arg(own).args(words);
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
    let measured = printed.lines().find_map(|line| serde_json::from_str(line).ok()).filter(|_| output.status.success());
    measured.ok_or_else(|| format!("{}\n{printed}{}", output.status, String::from_utf8_lossy(&output.stderr)))
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}

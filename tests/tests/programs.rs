//! Every program on every engine: one test for each, `engine::folder/program`.
//!
//! `cargo test -p nesl-tests --test programs -- threads2::lifted` runs some of them. Ranks `mpi1` … `mpi8` need the
//! feature `mpi` and a launcher; each program runs there with nearly every column distributed, and on few ranks with
//! the product's threshold, too.

use libtest_mimic::{Arguments, Trial};
use nesl_tests::engines::{self, Local};
use nesl_tests::launcher::{self, Mpi};
use nesl_tests::outcome::Outcome;
use nesl_tests::programs::{self, Program};
use nesl_tests::ranks::{self, Job, Task};
use std::collections::HashMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};

/// The numbers of ranks. Random programs run on the others up to 8, too.
const RANKS: [usize; 5] = [1, 2, 3, 5, 8];

/// Thresholds up to which columns are common: hardly any, and as in the product. With the latter most columns of these
/// programs are common, and all ranks compute with them alike, however many they are. So it runs on few ranks only, odd
/// and even ones: on 8 of them it would take a minute and a half.
fn thresholds(ranks: usize) -> &'static [Option<usize>] {
    if ranks <= 3 { &[Some(1), None] } else { &[Some(1)] }
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let programs = Arc::new(programs::all());
    let mut trials = in_this_process(&programs, &arguments);
    trials.extend(on_ranks(&programs, &arguments));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// The tests on engines of this process.
fn in_this_process(programs: &Arc<Vec<Program>>, arguments: &Arguments) -> Vec<Trial> {
    let name = |local: Local, program: &Program| format!("{}::{}", local.name(), program.name);
    // A program runs in all the ways that were asked for when the first of them is: it is compiled once.
    let results: Vec<Arc<OnceLock<Vec<Outcome>>>> = programs.iter().map(|_| Arc::default()).collect();
    let mut trials = Vec::new();
    for local in Local::ALL {
        for (index, program) in programs.iter().enumerate() {
            let wanted: Vec<Local> =
                Local::ALL.into_iter().filter(|&other| is_wanted(arguments, &name(other, program))).collect();
            let (programs, results) = (Arc::clone(programs), Arc::clone(&results[index]));
            let test = move || {
                let program = &programs[index];
                let header = program.header.as_ref().map_err(|problem| format!("header: {problem}"))?;
                let run = || engines::run_all(&wanted, &program.text, header.arguments.as_deref());
                let outcomes = results.get_or_init(run);
                let of_this = wanted.iter().position(|&other| other == local).and_then(|own| outcomes.get(own));
                Ok(of_this.ok_or("it was not run")?.meets(header)?)
            };
            trials.push(Trial::test(name(local, program), test));
        }
    }
    trials
}

/// The tests on ranks; ignored where there is no MPI, or failing if there must be.
fn on_ranks(programs: &Arc<Vec<Program>>, arguments: &Arguments) -> Vec<Trial> {
    let suite = match (ranks::suite(option_env!("CARGO_BIN_EXE_rank_suite")), launcher::find()) {
        (Ok(suite), Mpi::Available(launcher)) => Ok((suite, launcher)),
        (Err(reason), _) | (_, Mpi::Missing(reason)) => Err(reason),
    };
    if let Err(reason) = &suite {
        eprintln!("no tests on MPI ranks: {reason}");
    }
    let task = |program: &Program| {
        let arguments = program.header.as_ref().ok().and_then(|header| header.arguments.clone());
        Task::new(program.text.clone(), arguments)
    };
    let tasks: Arc<Vec<Task>> = Arc::new(programs.iter().map(task).collect());
    let mut trials = Vec::new();
    for count in RANKS {
        let name = |program: &Program| format!("mpi{count}::{}", program.name);
        // One job runs all the programs that were asked for, when the first of them is.
        let wanted: Vec<usize> =
            (0..programs.len()).filter(|&index| is_wanted(arguments, &name(&programs[index]))).collect();
        let results: Arc<OnceLock<HashMap<usize, Vec<Outcome>>>> = Arc::default();
        for (index, program) in programs.iter().enumerate() {
            let (programs, tasks, suite, wanted, results) =
                (Arc::clone(programs), Arc::clone(&tasks), suite.clone(), wanted.clone(), Arc::clone(&results));
            let is_ignored = suite.is_err() && !launcher::is_required();
            let test = move || {
                let (suite, launcher) = suite.map_err(|reason| format!("MPI is required, but {reason}"))?;
                let results = results.get_or_init(|| run_all(&suite, &launcher, count, &tasks, &wanted));
                let header = programs[index].header.as_ref().map_err(|problem| format!("header: {problem}"))?;
                for (outcome, threshold) in results.get(&index).into_iter().flatten().zip(thresholds(count)) {
                    let place =
                        threshold.map_or("the default threshold".to_owned(), |length| format!("threshold {length}"));
                    outcome.meets(header).map_err(|problem| format!("with {place}: {problem}"))?;
                }
                Ok(())
            };
            trials.push(Trial::test(name(program), test).with_ignored_flag(is_ignored));
        }
    }
    trials
}

/// The outcomes of the wanted programs at each threshold.
fn run_all(
    suite: &PathBuf,
    launcher: &PathBuf,
    count: usize,
    tasks: &[Task],
    wanted: &[usize],
) -> HashMap<usize, Vec<Outcome>> {
    let tasks: Vec<&Task> = wanted.iter().map(|&index| &tasks[index]).collect();
    let mut results: HashMap<usize, Vec<Outcome>> = HashMap::new();
    for &threshold in thresholds(count) {
        let outcomes = ranks::run(&Job { launcher, suite, ranks: count, threshold }, &tasks);
        for (&index, outcome) in wanted.iter().zip(outcomes) {
            results.entry(index).or_default().push(outcome);
        }
    }
    results
}

/// Whether the command line asks for a test, as libtest-mimic decides it.
fn is_wanted(arguments: &Arguments, name: &str) -> bool {
    let matches = |filter: &str| if arguments.exact { name == filter } else { name.contains(filter) };
    arguments.filter.as_deref().is_none_or(matches) && !arguments.skip.iter().any(|skip| matches(skip))
}

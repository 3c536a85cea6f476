//! Random programs: every engine gives what the oracle gives.
//!
//! `NESL_RANDOM_COUNT` and `NESL_RANDOM_SEED` make long runs and other ones; a failure prints the seed and a small
//! program. In a long run each program goes to some of the engines and one number of ranks, in turn: more programs say
//! more than the same ones everywhere.

use nesl_tests::engines::{self, Local};
use nesl_tests::generate::feature::Feature;
use nesl_tests::generate::{self, Generated, tree};
use nesl_tests::launcher::{self, Mpi};
use nesl_tests::outcome::{End, Outcome};
use nesl_tests::ranks::{self, Job, Task};
use nesl_tests::shrink;
use std::collections::{BTreeMap, BTreeSet};

/// Programs per run, and how many of them on ranks.
const COUNT: u64 = 300;
const ON_RANKS: u64 = 150;

/// The engines of this process that a program of a long run goes to, beside the oracle.
const ENGINES_IN_TURN: u64 = 2;

/// The numbers of ranks.
const RANKS: [usize; 7] = [1, 2, 3, 4, 5, 7, 8];

/// Of so many programs one is compiled without each of the passes.
const STEP_WITHOUT: usize = 10;

/// The programs of a run that use a feature, at least.
const FEWEST: usize = 5;

/// Programs tried to make a failing one smaller, in this process and on ranks.
const ATTEMPTS: usize = 400;
const ATTEMPTS_ON_RANKS: usize = 60;

fn seeds() -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let first: u64 = number("NESL_RANDOM_SEED").unwrap_or(1);
    let seeds = first..first + number("NESL_RANDOM_COUNT").unwrap_or(COUNT);
    println!("seeds {} to {}", seeds.start, seeds.end - 1);
    seeds
}

fn is_long(seeds: &std::ops::Range<u64>) -> bool {
    seeds.end - seeds.start > COUNT
}

/// The engines that a program goes to, the oracle first.
fn engines_of(seed: u64, is_long: bool) -> Vec<Local> {
    let others = &Local::ALL[1..];
    let count = if is_long { ENGINES_IN_TURN } else { others.len() as u64 };
    let in_turn = (0..count).map(|turn| others[(seed.wrapping_mul(count) + turn) as usize % others.len()]);
    std::iter::once(Local::Oracle).chain(in_turn).collect()
}

/// How many programs use each feature, and how often all of them do.
fn uses(programs: impl Iterator<Item = Generated>) -> BTreeMap<Feature, (usize, usize)> {
    let mut uses = BTreeMap::new();
    for program in programs {
        for (feature, times) in program.features {
            let (programs, total) = uses.entry(feature).or_default();
            *programs += 1;
            *total += times;
        }
    }
    uses
}

#[test]
fn each_feature_occurs_in_the_programs_of_a_run() {
    let uses = uses((1..=COUNT).map(generate::program));
    for (feature, (programs, total)) in &uses {
        println!("{:40} {total:6} times in {programs:4} of {COUNT} programs", feature.text());
    }
    let rare: Vec<&str> = Feature::ALL
        .iter()
        .filter(|feature| uses.get(feature).is_none_or(|(programs, _)| *programs < FEWEST))
        .map(|feature| feature.text())
        .collect();
    assert!(rare.is_empty(), "in fewer than {FEWEST} of {COUNT} programs: {}", rare.join(", "));
}

fn oracle(program: &Generated) -> Outcome {
    engines::run(Local::Oracle, &program.text(), None)
}

/// What the failure of a program looks like, small.
fn report(program: &Generated, place: &str, attempts: usize, other: &dyn Fn(&str) -> Outcome) -> String {
    let mut fails = |text: &str| {
        let expected = engines::run(Local::Oracle, text, None);
        !matches!(expected.end, End::Rejected(_) | End::Broken(_)) && !other(text).agrees(&expected)
    };
    let forms = shrink::shrink(program.forms.clone(), attempts, &mut fails);
    let small = tree::text(&forms);
    let (expected, found) = (engines::run(Local::Oracle, &small, None), other(&small));
    format!("seed {}, {place}:\n{small}oracle\n{expected}\n{place}\n{found}\n", program.seed)
}

#[test]
fn engines_of_this_process_agree_with_the_oracle() {
    let mut problems = Vec::new();
    let mut failures = 0;
    let seeds = seeds();
    let is_long = is_long(&seeds);
    for seed in seeds {
        let program = generate::program(seed);
        let text = program.text();
        let locals = engines_of(seed, is_long);
        let outcomes = engines::run_all(&locals, &text, None);
        let expected = &outcomes[0];
        match &expected.end {
            End::Done => {}
            End::Failed { .. } => failures += 1,
            End::Rejected(_) | End::Broken(_) => {
                problems.push(format!("seed {seed}, oracle:\n{text}{expected}\n"));
                continue;
            }
        }
        let mut others = locals.iter().zip(&outcomes).skip(1);
        if let Some((local, _)) = others.find(|(_, outcome)| !outcome.agrees(expected)) {
            let other = |text: &str| engines::run(*local, text, None);
            problems.push(report(&program, &local.name(), ATTEMPTS, &other));
        }
        if problems.len() >= 5 {
            break;
        }
    }
    println!("{failures} of the programs end in an error");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn every_pass_can_be_left_out() {
    let names: BTreeSet<&'static str> = nesl_vcode::PASSES.iter().map(|pass| pass.name).collect();
    let mut problems = Vec::new();
    let seeds = seeds();
    let is_long = is_long(&seeds);
    for (index, seed) in seeds.step_by(STEP_WITHOUT).enumerate() {
        let program = generate::program(seed);
        let expected = oracle(&program);
        let count = if is_long { 1 } else { names.len() };
        for pass in names.iter().cycle().skip(index % names.len()).take(count) {
            if !engines::run_without(pass, &program.text()).agrees(&expected) {
                let other = |text: &str| engines::run_without(pass, text);
                problems.push(report(&program, &format!("without {pass}"), ATTEMPTS, &other));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn ranks_agree_with_the_oracle() {
    let (suite, launcher) = match (ranks::suite(option_env!("CARGO_BIN_EXE_rank_suite")), launcher::find()) {
        (Ok(suite), Mpi::Available(launcher)) => (suite, launcher),
        (Err(reason), _) | (_, Mpi::Missing(reason)) => {
            assert!(!launcher::is_required(), "MPI is required, but {reason}");
            println!("skipped: {reason}");
            return;
        }
    };
    let seeds = seeds();
    let is_long = is_long(&seeds);
    let count = if is_long { seeds.end - seeds.start } else { ON_RANKS.min(seeds.end - seeds.start) };
    let all: Vec<Generated> = (seeds.start..seeds.start + count).map(generate::program).collect();
    let task = |text: String| Task { text, arguments: None };
    let mut problems = Vec::new();
    for (turn, ranks) in RANKS.into_iter().enumerate() {
        let of_turn = |program: &&Generated| !is_long || program.seed as usize % RANKS.len() == turn;
        let programs: Vec<&Generated> = all.iter().filter(of_turn).collect();
        let expected: Vec<Outcome> = programs.iter().copied().map(oracle).collect();
        let tasks: Vec<Task> = programs.iter().map(|program| task(program.text())).collect();
        // With one rank there is nothing to distribute; data of random programs is small, so a small threshold it is.
        let job = Job { launcher: &launcher, suite: &suite, ranks, threshold: Some(ranks - 1) };
        let outcomes = ranks::run(&job, &tasks);
        let wrong = programs.iter().zip(&expected).zip(&outcomes);
        let wrong = wrong.filter(|((_, expected), found)| !found.agrees(expected));
        for ((program, _), _) in wrong.take(2) {
            let other = |text: &str| {
                let end = || Outcome::ended(End::Broken("no outcome".to_owned()));
                ranks::run(&job, &[task(text.to_owned())]).pop().unwrap_or_else(end)
            };
            problems.push(report(program, &format!("mpi{ranks}"), ATTEMPTS_ON_RANKS, &other));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

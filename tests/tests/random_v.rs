//! Random programs of V: every engine gives what the oracle gives, and laid out they have the same trees.
//!
//! `NESL_RANDOM_COUNT` and `NESL_RANDOM_SEED` make long runs and other ones; a failure prints the seed and a small
//! program. In a long run each program goes to some of the engines and one number of ranks, in turn.

use nesl_frontend::syntax::v::format::format;
use nesl_span::FileId;
use nesl_tests::engines::{self, Local};
use nesl_tests::generate_v::{program, shrink};
use nesl_tests::launcher::{self, Mpi};
use nesl_tests::outcome::{End, Outcome};
use nesl_tests::ranks::{self, Job, Task};
use nesl_tests::session::{check, printed};

/// Programs per run, how many of them on ranks, and from how many on a run is a long one.
const COUNT: u64 = 200;
const ON_RANKS: u64 = 60;

/// The engines of this process that a program of a long run goes to, beside the oracle.
const ENGINES_IN_TURN: usize = 2;

/// The numbers of ranks.
const RANKS: [usize; 4] = [1, 2, 3, 8];

/// Programs tried to make a failing one smaller, in this process and on ranks.
const ATTEMPTS: usize = 600;
const ATTEMPTS_ON_RANKS: usize = 60;

/// `main` takes nothing.
const NO_ARGUMENTS: Option<&[String]> = Some(&[]);

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
    let count = if is_long { ENGINES_IN_TURN } else { others.len() };
    let in_turn = (0..count).map(|turn| others[(seed as usize * count + turn) % others.len()]);
    std::iter::once(Local::Oracle).chain(in_turn).collect()
}

fn oracle(text: &str) -> Outcome {
    engines::run(Local::Oracle, text, NO_ARGUMENTS)
}

fn is_wrong(outcome: &Outcome) -> bool {
    matches!(outcome.end, End::Rejected(_) | End::Broken(_))
}

/// What the failure of a program looks like, small.
fn report(seed: u64, place: &str, attempts: usize, other: &dyn Fn(&str) -> Outcome) -> String {
    let mut fails = |text: &str| {
        let expected = oracle(text);
        !is_wrong(&expected) && !other(text).agrees(&expected)
    };
    let small = shrink(&program(seed), attempts, &mut fails);
    format!("seed {seed}, {place}:\n{small}oracle\n{}\n{place}\n{}\n", oracle(&small), other(&small))
}

#[test]
fn engines_of_this_process_agree_with_the_oracle() {
    let (mut problems, mut failures) = (Vec::new(), 0);
    let seeds = seeds();
    let is_long = is_long(&seeds);
    for seed in seeds {
        let text = program(seed);
        let locals = engines_of(seed, is_long);
        let outcomes = engines::run_all(&locals, &text, NO_ARGUMENTS);
        let expected = &outcomes[0];
        if is_wrong(expected) {
            problems.push(format!("seed {seed}, oracle:\n{text}{expected}\n"));
        }
        failures += usize::from(matches!(expected.end, End::Failed { .. }));
        let mut others = locals.iter().zip(&outcomes).skip(1);
        if let Some((local, _)) = others.find(|(_, outcome)| !outcome.agrees(expected)) {
            let other = |text: &str| engines::run(*local, text, NO_ARGUMENTS);
            problems.push(report(seed, &local.name(), ATTEMPTS, &other));
        }
        if problems.len() >= 5 {
            break;
        }
    }
    println!("{failures} of the programs end in an error");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// What is wrong with a program when it is laid out.
fn problem(text: &str) -> Option<String> {
    let Ok(laid_out) = format(FileId(0), text) else { return Some("it is not laid out".to_owned()) };
    (printed(&laid_out) != printed(text)).then(|| format!("it has another tree when it is laid out:\n{laid_out}"))
}

#[test]
fn programs_that_are_laid_out_have_the_same_tree() {
    let mut problems = Vec::new();
    for seed in seeds() {
        let text = program(seed);
        if let Some(what) = problem(&text) {
            let small = shrink(&text, ATTEMPTS, &mut |text| check(text, None).is_ok() && problem(text).is_some());
            problems.push(format!("seed {seed}: {what}\n{small}{:?}", problem(&small)));
        }
        if problems.len() >= 3 {
            break;
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
    let task = |text: String| Task { text, arguments: Some(Vec::new()) };
    let mut problems = Vec::new();
    for (turn, ranks) in RANKS.into_iter().enumerate() {
        let of_turn = |seed: &u64| !is_long || *seed as usize % RANKS.len() == turn;
        let own: Vec<u64> = (seeds.start..seeds.start + count).filter(of_turn).collect();
        let expected: Vec<Outcome> = own.iter().map(|&seed| oracle(&program(seed))).collect();
        let tasks: Vec<Task> = own.iter().map(|&seed| task(program(seed))).collect();
        // Data of random programs is small, so a small threshold it is.
        let job = Job { launcher: &launcher, suite: &suite, ranks, threshold: Some(ranks - 1) };
        let outcomes = ranks::run(&job, &tasks);
        let wrong = own.iter().zip(&expected).zip(&outcomes).filter(|((_, expected), found)| !found.agrees(expected));
        for ((&seed, _), _) in wrong.take(2) {
            let other = |text: &str| {
                let end = || Outcome::ended(End::Broken("no outcome".to_owned()));
                ranks::run(&job, &[task(text.to_owned())]).pop().unwrap_or_else(end)
            };
            problems.push(report(seed, &format!("mpi{ranks}"), ATTEMPTS_ON_RANKS, &other));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

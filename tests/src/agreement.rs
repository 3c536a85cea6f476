//! Random programs of a kind: every engine gives what the oracle gives.
//!
//! `NESL_RANDOM_COUNT` and `NESL_RANDOM_SEED` make long runs and other ones; a failure prints the seed and a small
//! program. In a long run each program goes to some of the engines and one number of ranks, in turn: more programs say
//! more than the same ones everywhere.

use crate::engines::{self, Local};
use crate::launcher::{self, Mpi};
use crate::outcome::{End, Outcome};
use crate::ranks::{self, Job, Task};
use std::ops::Range;

/// The engines of this process that a program of a long run goes to, beside the oracle.
const ENGINES_IN_TURN: u64 = 2;

/// Failures after which a test ends.
const MOST_PROBLEMS: usize = 5;

/// A way to a smaller program than that of a seed.
pub type Shrink = fn(u64, usize, &mut dyn FnMut(&str) -> bool) -> String;

/// A kind of random programs, and how many of them there are.
#[derive(Clone, Copy)]
pub struct Kind {
    /// Programs per run, unless the environment says something else; with more it is a long run.
    pub count: u64,
    /// How many of them run on ranks.
    pub on_ranks: u64,
    /// The numbers of ranks.
    pub ranks: &'static [usize],
    /// Programs tried to make a failing one smaller, in this process.
    pub attempts: usize,
    /// The same on ranks.
    pub attempts_on_ranks: usize,
    /// Whether the programs are called by `main()`.
    pub has_main: bool,
    /// The program of a seed.
    pub text: fn(u64) -> String,
    /// A smaller program than that of the seed for which the same holds, found in so many attempts.
    pub shrink: Shrink,
}

impl Kind {
    /// The seeds of this run.
    pub fn seeds(&self) -> Range<u64> {
        let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
        let first: u64 = number("NESL_RANDOM_SEED").unwrap_or(1);
        let seeds = first..first + number("NESL_RANDOM_COUNT").unwrap_or(self.count);
        println!("seeds {} to {}", seeds.start, seeds.end - 1);
        seeds
    }

    /// Whether so many programs are a long run.
    pub fn is_long(&self, seeds: &Range<u64>) -> bool {
        seeds.end - seeds.start > self.count
    }

    fn arguments(&self) -> Option<Vec<String>> {
        self.has_main.then(Vec::new)
    }

    /// What a program does on an engine of this process.
    pub fn run(&self, local: Local, text: &str) -> Outcome {
        engines::run(local, text, self.arguments().as_deref())
    }

    /// The engines that a program goes to, the oracle first.
    fn engines_of(seed: u64, is_long: bool) -> Vec<Local> {
        let others = &Local::ALL[1..];
        let count = if is_long { ENGINES_IN_TURN } else { others.len() as u64 };
        let in_turn = (0..count).map(|turn| others[(seed.wrapping_mul(count) + turn) as usize % others.len()]);
        std::iter::once(Local::Oracle).chain(in_turn).collect()
    }

    /// What the failure of a program looks like, small.
    pub fn report(&self, seed: u64, place: &str, attempts: usize, other: &dyn Fn(&str) -> Outcome) -> String {
        let mut fails = |text: &str| {
            let expected = self.run(Local::Oracle, text);
            !is_wrong(&expected) && !other(text).agrees(&expected)
        };
        let small = (self.shrink)(seed, attempts, &mut fails);
        let (expected, found) = (self.run(Local::Oracle, &small), other(&small));
        format!("seed {seed}, {place}:\n{small}oracle\n{expected}\n{place}\n{found}\n")
    }

    /// Runs the programs on the engines of this process.
    ///
    /// # Panics
    /// If one of them is wrong, or gives something else than on the oracle.
    pub fn engines_agree(&self) {
        let (mut problems, mut failures) = (Vec::new(), 0);
        let seeds = self.seeds();
        let is_long = self.is_long(&seeds);
        for seed in seeds {
            let text = (self.text)(seed);
            let locals = Kind::engines_of(seed, is_long);
            let outcomes = engines::run_all(&locals, &text, self.arguments().as_deref());
            let expected = &outcomes[0];
            failures += usize::from(matches!(expected.end, End::Failed { .. }));
            let mut others = locals.iter().zip(&outcomes).skip(1);
            if is_wrong(expected) {
                problems.push(format!("seed {seed}, oracle:\n{text}{expected}\n"));
            } else if let Some((local, _)) = others.find(|(_, outcome)| !outcome.agrees(expected)) {
                let other = |text: &str| self.run(*local, text);
                problems.push(self.report(seed, &local.name(), self.attempts, &other));
            }
            if problems.len() >= MOST_PROBLEMS {
                break;
            }
        }
        println!("{failures} of the programs end in an error");
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    }

    /// Runs the programs on MPI ranks, by the binary of that name; says so where there is no MPI.
    ///
    /// # Panics
    /// If one of them gives something else than on the oracle, or MPI is missing where it must not be.
    pub fn ranks_agree(&self, rank_suite: Option<&'static str>) {
        let (suite, launcher) = match (ranks::suite(rank_suite), launcher::find()) {
            (Ok(suite), Mpi::Available(launcher)) => (suite, launcher),
            (Err(reason), _) | (_, Mpi::Missing(reason)) => {
                assert!(!launcher::is_required(), "MPI is required, but {reason}");
                println!("skipped: {reason}");
                return;
            }
        };
        let seeds = self.seeds();
        let is_long = self.is_long(&seeds);
        let count = if is_long { seeds.end - seeds.start } else { self.on_ranks.min(seeds.end - seeds.start) };
        let case = |seed: u64| {
            let text = (self.text)(seed);
            let expected = self.run(Local::Oracle, &text);
            Case { seed, expected, task: Task::new(text, self.arguments()) }
        };
        let cases: Vec<Case> = (seeds.start..seeds.start + count).map(case).collect();
        let mut problems = Vec::new();
        for (turn, &ranks) in self.ranks.iter().enumerate() {
            let is_of_turn = |case: &&Case| !is_long || case.seed as usize % self.ranks.len() == turn;
            // With one rank there is nothing to distribute; data of random programs is small, so a small threshold it
            // is.
            let job = Job { launcher: &launcher, suite: &suite, ranks, threshold: Some(ranks - 1) };
            problems.extend(self.wrong_on_ranks(&job, &cases.iter().filter(is_of_turn).collect::<Vec<&Case>>()));
        }
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    }

    fn wrong_on_ranks(&self, job: &Job<'_>, cases: &[&Case]) -> Vec<String> {
        let tasks: Vec<&Task> = cases.iter().map(|case| &case.task).collect();
        let outcomes = ranks::run(job, &tasks);
        let wrong = cases.iter().zip(&outcomes).filter(|(case, found)| !found.agrees(&case.expected));
        let other = |text: &str| {
            let end = || Outcome::ended(End::Broken("no outcome".to_owned()));
            ranks::run(job, &[&Task::new(text.to_owned(), self.arguments())]).pop().unwrap_or_else(end)
        };
        let place = format!("mpi{}", job.ranks);
        wrong.take(2).map(|(case, _)| self.report(case.seed, &place, self.attempts_on_ranks, &other)).collect()
    }
}

/// A program for ranks, and what it does on the oracle.
struct Case {
    seed: u64,
    expected: Outcome,
    task: Task,
}

/// Whether a program is none, or what runs it has failed.
fn is_wrong(outcome: &Outcome) -> bool {
    matches!(outcome.end, End::Rejected(_) | End::Broken(_))
}

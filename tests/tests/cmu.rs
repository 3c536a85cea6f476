//! The stack format of CMU: programs written by hand for each family of instructions, wrong programs, and every program
//! of the other tests written in this format and read back.
//!
//! The programs under tests/cmu begin with a comment in braces, with a line `expect: line` for each printed line; those
//! under tests/cmu/wrong have one line, `read-error: line:column text` or `error: code`.

#![allow(clippy::unwrap_used, reason = "a panic in a helper is a failed test")]

use nesl_backend::{Engine, Limits, Loaded, Machine, Reference, Threads, Value};
use nesl_prim::Failure;
use nesl_span::FileId;
use nesl_tests::launcher::{self, Mpi};
use nesl_tests::world::World;
use nesl_tests::{engines, generate, layout, programs, session};
use nesl_vcode::Program;
use nesl_vcode::pipeline::{Options, optimise};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// Programs go a hundred thousand calls deep, where they have an end.
const LIMITS: Limits = Limits { depth: 200_000, frame_bytes: 1 << 30 };

/// What a run printed, what it showed line by line, and how it failed.
type Ran = (Vec<String>, Vec<String>, Option<(&'static str, String)>);

fn files(folder: &str) -> Vec<(PathBuf, String)> {
    let entries = std::fs::read_dir(programs::root().join("tests/cmu").join(folder)).unwrap().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    paths.sort();
    let text = |path: &PathBuf| std::fs::read_to_string(path).unwrap();
    paths.into_iter().map(|path| (path.clone(), text(&path))).collect()
}

/// The values of a key in the first comment.
fn expected(text: &str, key: &str) -> Vec<String> {
    let comment = text.split_once('{').and_then(|(_, rest)| rest.split_once('}')).map_or("", |(comment, _)| comment);
    let lines = comment.lines().filter_map(|line| line.trim().strip_prefix(key)?.strip_prefix(": "));
    lines.map(|line| line.trim().to_owned()).collect()
}

/// Reads and optimises a program.
fn read(text: &str) -> Result<Program, String> {
    let mut program = nesl_cmu::read(text, FileId(0)).map_err(|error| error.to_string())?;
    optimise(&mut program, &Options::default()).map_err(|error| format!("{error}\n{program}"))?;
    Ok(program)
}

/// Runs all steps.
fn run<E: Engine>(engine: E, program: &Program, lines: impl Fn(&mut E, &Value<E>) -> Vec<String>) -> Ran {
    let loaded = Loaded::new(Arc::new(program.clone()));
    let world = World::default();
    let mut machine = Machine::new(engine, LIMITS, world.host());
    let mut shown = Vec::new();
    let mut failure = None;
    for step in &program.steps {
        match machine.run_step(&loaded, step, 0, &[]) {
            Ok(values) => shown.extend(values.iter().flat_map(|value| lines(&mut machine.engine, value))),
            Err(error) => {
                // As text: NaN is unlike itself.
                failure = Some((error.failure.code(), error.failure.to_string()));
                break;
            }
        }
    }
    (world.take_lines(), shown, failure)
}

/// The value as the engine's printer writes it.
fn printed<E: Engine>(engine: &mut E, value: &Value<E>) -> Vec<String> {
    let mut text = Vec::new();
    nesl_backend::io::print::print(engine, value, None, &mut text).unwrap();
    vec![String::from_utf8(text).unwrap()]
}

/// Runs a program that was read on the reference engine and on two threads, which must agree.
fn run_both(program: &Program) -> Ran {
    let reference = run(Reference::new(None), program, printed);
    let threads = run(Threads::new(2, None).unwrap(), program, printed);
    assert_eq!(reference, threads);
    reference
}

#[test]
fn each_family_of_instructions_does_what_it_should() {
    for (path, text) in files("") {
        let program = read(&text).unwrap_or_else(|error| panic!("{}:{error}", path.display()));
        let (mut lines, shown, failure) = run_both(&program);
        lines.extend(shown);
        assert_eq!(lines, expected(&text, "expect"), "{}", path.display());
        let is_exit = |failure: &(&str, String)| failure.1 == Failure::Exited { code: 0 }.to_string();
        assert!(failure.as_ref().is_none_or(is_exit), "{}: {failure:?}", path.display());
    }
}

#[test]
fn wrong_programs_are_refused_or_fail() {
    for (path, text) in files("wrong") {
        let name = path.display();
        match (read(&text), expected(&text, "read-error").first(), expected(&text, "error").first()) {
            (Err(error), Some(place_and_text), None) => {
                let (place, part) = place_and_text.split_once(' ').unwrap();
                let fits = error.starts_with(&format!("{place}: ")) && error.contains(part);
                assert!(fits, "{name}\nexpected {place_and_text}\nfound    {error}");
            }
            (Ok(program), None, Some(code)) => {
                let (_, _, failure) = run_both(&program);
                assert_eq!(failure.map(|failure| failure.0), Some(code.as_str()), "{name}");
            }
            (outcome, ..) => panic!("{name}: {:?}", outcome.err()),
        }
    }
}

#[test]
fn programs_run_on_ranks() {
    let (Some(nesl), Mpi::Available(mpirun)) = (nesl_tests::command::nesl(), launcher::find()) else {
        assert!(!launcher::is_required(), "MPI is required");
        return;
    };
    if !cfg!(feature = "mpi") {
        return;
    }
    for name in ["permutations", "quicksort", "outside"] {
        let path = programs::root().join("tests/cmu").join(format!("{name}.vcode"));
        let text = std::fs::read_to_string(&path).unwrap();
        let output = launcher::command(&mpirun, 2, &nesl).arg("run").arg(&path).output().unwrap();
        let lines: Vec<String> = String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
        assert_eq!(lines, expected(&text, "expect"), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// Programs that take longer than ten seconds there: they are written and read back, and not run.
const TOO_LONG: [&str; 3] = ["algorithms/big_sort", "loops/far_beyond_any_depth", "loops/growing"];

/// What becomes of programs that are written and read back.
#[derive(Default)]
struct Tally {
    same: usize,
    all: usize,
    limitations: BTreeMap<String, usize>,
    problems: Vec<String>,
}

impl Tally {
    /// Writes a program, reads it back and runs both; whether it can be written.
    fn add(&mut self, name: &str, text: &str) -> bool {
        self.all += 1;
        let checked = session::check(text, None).unwrap_or_else(|end| panic!("{name}: {end}"));
        let vcode = engines::compile(&checked, engines::Passes::All).unwrap_or_else(|end| panic!("{name}: {end}"));
        let written = match nesl_cmu::write(&vcode, &|_| 0) {
            Ok(written) => written,
            Err(limitation) => {
                *self.limitations.entry(limitation.to_string()).or_default() += 1;
                return false;
            }
        };
        let again = match read(&written) {
            Ok(again) => again,
            Err(error) => {
                self.problems.push(format!("{name}: {error}\n{text}"));
                return true;
            }
        };
        if TOO_LONG.contains(&name) {
            *self.limitations.entry("takes too long to be run".to_owned()).or_default() += 1;
            return true;
        }
        let (output, shown, failure) = run(Reference::new(None), &vcode, layout::lines);
        let (output_again, shown_again, failure_again) = run_both(&again);
        match (failure, failure_again) {
            (None, None) if (&output, &shown) == (&output_again, &shown_again) => self.same += 1,
            // Nothing is shown before the end there, and `error` ends a program well.
            (Some(_), Some(_)) => self.same += 1,
            (failure, failure_again) => self.problems.push(format!(
                "{name}: {failure:?} {failure_again:?}\n  {}\n  {}\n{text}",
                [output, shown].concat().join(" "),
                [output_again, shown_again].concat().join(" ")
            )),
        }
        true
    }

    /// The same of a program that may take long there, where each step of a loop is dozens of vector instructions.
    fn add_within(&mut self, name: &str, text: &str) -> bool {
        let (sender, receiver) = std::sync::mpsc::channel();
        let (own_name, own_text) = (name.to_owned(), text.to_owned());
        std::thread::spawn(move || {
            let mut one = Tally::default();
            let is_written = one.add(&own_name, &own_text);
            // Nobody listens any more where it took too long.
            let _ = sender.send((one, is_written));
        });
        let Ok((one, is_written)) = receiver.recv_timeout(std::time::Duration::from_secs(10)) else {
            self.all += 1;
            *self.limitations.entry("takes longer than 10 s, or panics".to_owned()).or_default() += 1;
            println!("{name} takes longer than 10 s, or panics");
            return true;
        };
        self.all += one.all;
        self.same += one.same;
        self.problems.extend(one.problems);
        one.limitations
            .into_iter()
            .for_each(|(limitation, count)| *self.limitations.entry(limitation).or_default() += count);
        is_written
    }

    /// Prints the numbers, and fails where there are problems, or where too many programs cannot be written.
    fn report(&self, least_percent: usize) {
        println!("{} of {} programs were written and read back", self.same, self.all);
        for (limitation, count) in &self.limitations {
            println!("  {count}: {limitation}");
        }
        assert!(self.problems.is_empty(), "{} problems\n{}", self.problems.len(), self.problems.join("\n"));
        assert!(100 * self.same >= least_percent * self.all, "too few programs: {} of {}", self.same, self.all);
    }
}

#[test]
fn programs_written_and_read_back_give_the_same() {
    // The format has no instruction that combines values by index, as grouping does.
    let groups = ["bfs", "bodies", "components", "huffman", "k_means", "pagerank", "roads", "sales", "word_count"];
    let is_simple = |name: &str| name.starts_with("examples/") && !groups.iter().any(|one| name.ends_with(one));
    let mut tally = Tally::default();
    for program in programs::all() {
        let Ok(header) = &program.header else { continue };
        // A range wider than the greatest int has another length there: the format's arithmetic wraps unseen.
        let is_wide = program.name == "boundaries/range_far";
        if header.rejected.is_empty() && header.arguments.is_none() && !is_wide {
            let is_written = tally.add_within(&program.name, &program.text);
            assert!(is_written || !is_simple(&program.name), "{} cannot be written", program.name);
        }
    }
    tally.report(90);
}

#[test]
fn random_programs_written_and_read_back_give_the_same() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let first: u64 = number("NESL_RANDOM_SEED").unwrap_or(1);
    let mut tally = Tally::default();
    for seed in first..first + number("NESL_RANDOM_COUNT").unwrap_or(40) {
        tally.add(&format!("seed {seed}"), &generate::program(seed).text());
    }
    tally.report(60);
}

#[test]
fn what_was_read_can_be_written_again() {
    for (path, text) in files("") {
        let program = read(&text).unwrap();
        let Ok(written) = nesl_cmu::write(&program, &|_| 0) else { continue };
        let again = read(&written).unwrap_or_else(|error| panic!("{}: {error}\n{written}", path.display()));
        assert_eq!(run_both(&again), run_both(&program), "{}\n{written}", path.display());
    }
}

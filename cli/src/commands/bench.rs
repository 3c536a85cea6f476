//! `nesl bench`: how long functions take whose names begin with `bench_`.
//!
//! A function without parameters is called again and again by one process, on the engine and the ranks of the options;
//! what the file defines is computed once before.

use super::fmt::collect;
use super::test::definitions;
use crate::driver::{self, ProgramText};
use crate::execute::{seed_of, world};
use crate::failure;
use crate::interrupt::Interrupt;
use crate::launch::{Job, Place};
use crate::limit::Limit;
use crate::options::RunOptions;
use crate::output::{print, remark};
use crate::profile;
use crate::stats;
use crate::stop::Stop;
use crate::style::Style;
use crate::supervisor;
use clap::Args;
use nesl_backend::{Engine, Limits, Loaded, Machine};
use nesl_frontend::Diagnostic;
use nesl_frontend::ast::{FunctionDefinition, PatternKind, TopLevelKind};
use nesl_frontend::syntax::Syntax;
use nesl_frontend::syntax::nesl::parser;
use nesl_prim::visible;
use nesl_span::{Origin, SourceMap};
use nesl_vcode::{Input, Program};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Calls that nobody times: the first ones compile, and fetch memory.
const WARMING: usize = 2;

#[derive(Args, Debug)]
#[command(after_help = "For each function: the median of its times, the least and the largest, and with --compare\n\
                  how the median has changed. --profile is of the timed calls, --stats of all of them\n\
                  and of what the file defines. See docs/testing.md.\n\n\
                  Example: nesl bench programs --save before.json")]
pub struct Arguments {
    /// Source files; folders, for all files in them that end in .nesl; or - for the standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Only functions whose name contains this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// How often each function is called
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    repetitions: u32,
    /// Write the times to a file, as JSON
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Compare with the times in a file that --save has written
    #[arg(long, value_name = "FILE")]
    compare: Option<PathBuf>,
}

/// The times of a function, in seconds, in their order.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Times(Vec<f64>);

impl Times {
    fn of(mut times: Vec<Duration>) -> Times {
        times.sort_unstable();
        Times(times.into_iter().map(|time| time.as_secs_f64()).collect())
    }

    fn at(&self, index: usize) -> f64 {
        self.0.get(index).copied().unwrap_or(f64::NAN)
    }

    fn median(&self) -> f64 {
        let middle = self.0.len() / 2;
        if self.0.len() % 2 == 1 { self.at(middle) } else { (self.at(middle.wrapping_sub(1)) + self.at(middle)) / 2.0 }
    }

    fn least(&self) -> f64 {
        self.at(0)
    }

    fn most(&self) -> f64 {
        self.at(self.0.len().wrapping_sub(1))
    }
}

/// A time for people.
fn shown(seconds: f64) -> String {
    match seconds {
        seconds if seconds >= 1.0 => format!("{seconds:.3} s"),
        seconds if seconds >= 1e-3 => format!("{:.3} ms", seconds * 1e3),
        seconds => format!("{:.3} µs", seconds * 1e6),
    }
}

/// Times the functions of all files.
pub fn run(arguments: &Arguments, options: &RunOptions) -> Result<(), Stop> {
    if let Some(ranks) = supervisor::wanted(options)? {
        return supervisor::run(ranks, options);
    }
    if options.profile_html.is_some() || options.trace.is_some() {
        let what = "--profile-html and --trace are for runs of programs; --profile shows the lines of each function";
        return Err(Stop::usage(format!("error: {what}")));
    }
    let style = options.style();
    let mut place = Place::join(options)?;
    let interrupt = place.is_alone().then(Interrupt::install);
    let before = place.from_first(|| arguments.compare.as_deref().map(|path| read(path, options)).transpose());
    let before: BTreeMap<String, Times> = place.said_once(before)?.unwrap_or_default();
    let found = place.from_first(|| functions(arguments, options));
    let functions: Vec<(String, Program, SourceMap)> = place.said_once(found)?;
    let limit = Limit::new(options.time_limit.clone(), style, interrupt.clone(), place.rank());
    let mut measured: BTreeMap<String, Times> = BTreeMap::new();
    let mut failed = 0;
    for (name, program, sources) in &functions {
        let _watching = limit.since(Instant::now());
        let mut times = Vec::new();
        let repetitions = arguments.repetitions as usize;
        let interrupt = interrupt.as_ref();
        let timing = Timing { program, sources, options, interrupt, limit: &limit, repetitions, times: &mut times };
        let result = place.run(options, timing);
        match place.said_once(result) {
            Ok(()) => {}
            // Signals end all of them, whatever ends a function itself only that one.
            Err(stop) if stop.code > 128 => return Err(stop),
            Err(stop) => {
                failed += 1;
                if place.rank() == 0 {
                    let how = if stop.code == 1 { "failed".to_owned() } else { format!("exit {}", stop.code) };
                    print(&format!("{}: {how}\n", visible::line(name)))?;
                }
                if place.is_alone() && !stop.message().is_empty() {
                    remark(&format!("{}\n", stop.message()));
                }
                continue;
            }
        }
        let times = Times::of(times);
        if place.rank() == 0 {
            print(&line(name, &times, before.get(name)))?;
        }
        measured.insert(name.clone(), times);
    }
    if let (Some(path), 0) = (&arguments.save, place.rank()) {
        let text = serde_json::to_string_pretty(&measured).unwrap_or_default();
        std::fs::write(path, text + "\n")
            .map_err(|error| style.failed(&format!("cannot write {}: {error}", path.display())))?;
    }
    match failed {
        0 => Ok(()),
        _ => place.said_once(Err(style.failed(&format!("{failed} of {} functions failed", functions.len())))),
    }
}

fn line(name: &str, times: &Times, before: Option<&Times>) -> String {
    let Times(all) = times;
    let mut text = format!(
        "{}: {} ({} to {}, {})",
        visible::line(name),
        shown(times.median()),
        shown(times.least()),
        shown(times.most()),
        if all.len() == 1 { "once".to_owned() } else { format!("{} times", all.len()) }
    );
    if let Some(before) = before {
        let change = (times.median() / before.median() - 1.0) * 100.0;
        // Where the spreads overlap there is nothing to say of a difference.
        let is_clear = times.least() > before.most() || times.most() < before.least();
        let word = if is_clear { "" } else { ", within the spread" };
        text += &format!("; {change:+.1} % of {}{word}", shown(before.median()));
    }
    text + "\n"
}

fn read(path: &Path, options: &RunOptions) -> Result<BTreeMap<String, Times>, Stop> {
    let failed = |problem: String| options.style().failed(&format!("cannot read {}: {problem}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
    let times: BTreeMap<String, Times> =
        serde_json::from_str(&text).map_err(|error| failed(format!("it has no times: {error}")))?;
    match times.values().all(|times| times.least() > 0.0) {
        true => Ok(times),
        false => Err(failed("not all of its times are times".to_owned())),
    }
}

/// The functions to time, each with a program whose last step calls it.
fn functions(arguments: &Arguments, options: &RunOptions) -> Result<Vec<(String, Program, SourceMap)>, Stop> {
    let style = options.style();
    let mut files = Vec::new();
    for path in &arguments.files {
        collect(path, &mut files)
            .map_err(|(path, error)| style.failed(&format!("cannot read {}: {error}", path.display())))?;
    }
    let mut found = Vec::new();
    for path in files {
        let source = ProgramText::of(&path);
        let text = source.read(style)?;
        if Syntax::of(&source.name()) != Syntax::Nesl {
            continue;
        }
        let mut sources = SourceMap::default();
        let forms = parser::parse(sources.add(source.name(), text.as_str(), Origin::User), &text).forms;
        let before = found.len();
        for form in &forms {
            let TopLevelKind::Function(function) = &form.kind else { continue };
            let name = &function.name.symbol;
            let title = format!("{}: {name}", source.name());
            if !name.starts_with("bench_") || arguments.only.as_ref().is_some_and(|only| !title.contains(only)) {
                continue;
            }
            if !matches!(function.parameter.kind, PatternKind::Unit) {
                return Err(takes_arguments(function, &sources, style));
            }
            let program = format!("{}{name}();\n", definitions(&text, &forms));
            // What the file is warned of is the same for all functions in it.
            let (program, sources) = driver::compile_text(&source, program, found.len() == before, style)?;
            found.push((title, program, sources));
        }
    }
    match found.is_empty() {
        true => Err(style.failed("there is nothing to time here: no function bench_…")),
        false => Ok(found),
    }
}

/// What is said of a function that has nobody to give it arguments.
fn takes_arguments(function: &FunctionDefinition, sources: &SourceMap, style: Style) -> Stop {
    let name = sources.text(function.name.span);
    let message = format!("`{name}` takes arguments, and is called without any to be timed");
    let diagnostic = Diagnostic::error("E0213", message, function.name.span)
        .hint(format!("write `function {name}() = …`, of names that the file defines: these are computed before"));
    let reported = driver::report(&[diagnostic], sources, style);
    reported.err().unwrap_or_else(|| unreachable!("it is an error"))
}

/// The calls of one function.
struct Timing<'a> {
    program: &'a Program,
    sources: &'a SourceMap,
    options: &'a RunOptions,
    interrupt: Option<&'a Interrupt>,
    limit: &'a Limit,
    repetitions: usize,
    times: &'a mut Vec<Duration>,
}

impl Job for Timing<'_> {
    fn run<E: Engine>(self, engine: E) -> Result<(), Stop> {
        let world = world(self.options, &self.program.mains, &[], engine.hold());
        let mut machine = Machine::new(engine, Limits::default(), Box::new(world));
        machine.set_strategy(self.options.strategy.into());
        machine.set_native(self.options.native.into());
        if self.options.stats {
            machine.count_steps();
        }
        let (options, sources) = (self.options, self.sources);
        match self.interrupt {
            Some(interrupt) => {
                machine.set_interrupt(interrupt.flag());
                interrupt.during(|| self.measure(&mut machine))?;
            }
            None => self.measure(&mut machine)?,
        }
        // All ranks count together.
        let counters = options.stats.then(|| machine.counters());
        if machine.engine.rank().0 == 0 {
            counters.into_iter().for_each(|counters| remark(&stats::text(&counters, options.style())));
            if let Some(lines) = options.profile {
                remark(&profile::text(&machine.profile(), sources, lines, None, options.style()));
            }
        }
        Ok(())
    }
}

impl Timing<'_> {
    fn measure<E: Engine>(self, machine: &mut Machine<E>) -> Result<(), Stop> {
        let loaded = Loaded::new(Arc::new(self.program.clone()));
        let Some((last, before)) = self.program.steps.split_last() else { return Ok(()) };
        let mut draws = 0;
        let style = self.options.style();
        let failed = |error| failure::stop(&self.limit.explained(error), self.sources, style);
        for step in before {
            let seed = seed_of(self.options.seed, draws);
            draws += usize::from(step.inputs.contains(&Input::Seed));
            machine.run_step(&loaded, step, seed, &[]).map_err(failed)?;
        }
        let seed = seed_of(self.options.seed, draws);
        for repetition in 0..WARMING + self.repetitions {
            if repetition == WARMING && self.options.profile.is_some() {
                machine.start_profile(self.sources);
            }
            let start = Instant::now();
            let values = machine.run_step(&loaded, last, seed, &[]).map_err(failed)?;
            if repetition >= WARMING {
                self.times.push(start.elapsed());
            }
            drop(values);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_in_the_middle() {
        let times =
            |milliseconds: &[u64]| Times::of(milliseconds.iter().map(|&ms| Duration::from_millis(ms)).collect());
        assert_eq!(times(&[30, 10, 20]).median(), 0.020);
        assert_eq!(times(&[40, 10, 20, 30]).median(), 0.025);
        let (before, after) = (times(&[10, 12]), times(&[20, 24]));
        assert_eq!(
            line("a", &after, Some(&before)),
            "a: 22.000 ms (20.000 ms to 24.000 ms, 2 times); +100.0 % of 11.000 ms\n"
        );
        assert!(line("a", &before, Some(&before)).contains("+0.0 % of 11.000 ms, within the spread"));
    }
}

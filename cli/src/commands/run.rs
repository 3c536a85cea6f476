//! `nesl run`: a file on an engine.

#[cfg(feature = "mpi")]
mod elastic;

use crate::arguments;
use crate::checkpoint::request::Requests;
use crate::checkpoint::told::Told;
use crate::checkpoint::{Saved, Saving, SavingOptions};
use crate::driver::{self, ProgramText};
use crate::execute::Execution;
use crate::interrupt::Interrupt;
use crate::launch::Place;
use crate::limit::Limit;
use crate::options::{EngineName, RunOptions};
use crate::oracle;
use crate::stop::Stop;
use crate::supervisor;
use clap::Args;
use nesl_span::SourceMap;
use nesl_vcode::Program;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

#[derive(Args, Debug)]
#[command(
    override_usage = "nesl run [OPTIONS] FILE [ARGUMENTS]...",
    after_help = format!(
        "{}\n\nA FILE whose name ends in .vcode is a program in the stack format of CMU's NESL.\n\
         The word run can be left out: nesl FILE ARGUMENTS.\n\n\
         Example: nesl run examples/quicksort/quicksort.nesl numbers.txt",
        arguments::READING
    )
)]
pub struct Arguments {
    #[command(flatten)]
    saving: SavingOptions,
    /// Take the number of ranks from a file while the program runs, whenever it changes: at most a second later, at once
    /// on SIGUSR2. Begin with --ranks
    #[arg(long, value_name = "FILE")]
    ranks_from: Option<PathBuf>,
    /// Source file; - for the standard input
    #[arg(value_name = "FILE", required_unless_present = "resume")]
    file: Option<PathBuf>,
    /// Values for the parameters of main: literals, texts or files; and its options
    // What comes first and is none of nesl's options ends them, so that `-5`, and options of main, reach the program.
    #[arg(value_name = "ARGUMENTS", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Runs the file, or goes on with a run that was saved.
pub fn run(arguments: &Arguments, options: &RunOptions) -> Result<(), Stop> {
    let Arguments { saving, ranks_from, file, arguments } = arguments;
    let text = file.as_ref().map(|file| ProgramText::of(file));
    let command = file.as_ref().map_or_else(|| "nesl run".to_owned(), |file| format!("nesl run {}", file.display()));
    if saving.is_saved() && options.engine == Some(EngineName::Oracle) {
        let engine = "the oracle has no state that could be saved; take --engine reference";
        return Err(Stop::usage(format!("error: {engine}")));
    }
    if let Some(ranks_from) = ranks_from {
        if saving.is_saved() {
            return Err(Stop::usage("error: --ranks-from is not for runs that are saved; resume them on other ranks"));
        }
        return on_changing_ranks(text.as_ref(), arguments, &command, (options, ranks_from));
    }
    of_text(text.as_ref(), arguments, &command, (options, saving))
}

/// Runs a program on as many ranks as a file says.
#[cfg(feature = "mpi")]
fn on_changing_ranks(
    text: Option<&ProgramText>,
    arguments: &[OsString],
    command: &str,
    (options, file): (&RunOptions, &Path),
) -> Result<(), Stop> {
    let begun = Instant::now();
    let ranks = supervisor::wanted(options)?.or_else(|| options.ranks.filter(|_| !options.as_rank).map(usize::from));
    if let Some(ranks) = ranks {
        return supervisor::elastic(ranks, options);
    }
    if crate::launch::Launched::detect().is_none() {
        return Err(Stop::usage("error: --ranks-from is for runs on ranks: say with how many they begin, --ranks N"));
    }
    let file = crate::launch::RanksFile::listen(file, options.style());
    let mut place = Place::join(options)?;
    let limit = Limit::new(options.time_limit.clone(), options.style(), None, place.rank());
    let _watching = limit.since(begun);
    let run = elastic::ElasticRun { text, arguments, command, options, limit: &limit, begun, file };
    let result = run.run(&mut place);
    let result = result.map_err(|stop| options.style().ended(stop));
    if place.is_parked() { result } else { place.said_once(result) }
}

/// Without MPI there are no ranks.
#[cfg(not(feature = "mpi"))]
fn on_changing_ranks(_: Option<&ProgramText>, _: &[OsString], _: &str, _: (&RunOptions, &Path)) -> Result<(), Stop> {
    Err(crate::launch::without_mpi("this nesl was built without MPI, which starts ranks"))
}

/// Runs a program with the arguments that were given to `command`.
pub fn program(text: &ProgramText, arguments: &[OsString], command: &str, options: &RunOptions) -> Result<(), Stop> {
    of_text(Some(text), arguments, command, (options, &SavingOptions::default()))
}

/// Runs a program, or the one that was saved.
fn of_text(
    text: Option<&ProgramText>,
    arguments: &[OsString],
    command: &str,
    (options, saving): (&RunOptions, &SavingOptions),
) -> Result<(), Stop> {
    if let Some(ranks) = supervisor::wanted(options)? {
        return match saving.is_saved() {
            true => supervisor::saved(ranks, options, saving),
            false => supervisor::run(ranks, options),
        };
    }
    let begun = Instant::now();
    let style = options.style();
    let own_cut = Arc::<AtomicBool>::default();
    let requests = saving.is_saved().then(|| Requests::listen(Arc::clone(&own_cut)));
    let mut place = Place::join(options)?;
    let interrupt = place.is_alone().then(|| Interrupt::cutting(own_cut));
    let limit = Limit::new(options.time_limit.clone(), style, interrupt.clone(), place.rank());
    let _watching = limit.since(begun);
    if let (Some(EngineName::Oracle), Some(text)) = (options.engine, text)
        && !text.is_stack_format()
    {
        if options.is_profiled() {
            let engine = "the oracle runs no instructions whose time could be shown; take --engine reference";
            return Err(Stop::usage(format!("error: {engine}")));
        }
        let checked = driver::check(text, style)?;
        let interrupt = interrupt.unwrap_or_default();
        return oracle::run(&checked, arguments, command, options, &interrupt, &limit);
    }
    let found = place.from_first(|| begin(text, arguments, (saving, options)));
    let result = found.and_then(|Found { program, sources, saved }| {
        let (arguments, command) = match &saved {
            Some(saved) => (saved.arguments(), saved.command().to_owned()),
            None => (arguments.to_vec(), command.to_owned()),
        };
        if saved.is_none() {
            arguments::refuse_unknown_option(&program.mains, &arguments, &command)?;
        }
        let saving = requests.map(|requests| {
            Saving::new(saving, saved, (&program, &sources), (&arguments, &command), (requests, options))
        });
        if place.rank() == 0 {
            Told::Begun.say(options.watched.as_deref());
        }
        let execution = Execution {
            program,
            sources: &sources,
            arguments: &arguments,
            command: &command,
            options,
            interrupt: interrupt.as_ref(),
            limit: &limit,
            begun,
            saving,
            moving: None,
        };
        place.run(options, execution)
    });
    if place.rank() == 0 {
        result.as_ref().map_or_else(|stop| Told::Ended(stop.code), |()| Told::Done).say(options.watched.as_deref());
    }
    place.said_once(result.map_err(|stop| style.ended(stop)))
}

/// A program, and its run that goes on if it was saved.
#[derive(Serialize, Deserialize)]
struct Found {
    program: Program,
    sources: SourceMap,
    saved: Option<Saved>,
}

/// Compiles a program, or finds the one that was saved.
fn begin(
    text: Option<&ProgramText>,
    arguments: &[OsString],
    (saving, options): (&SavingOptions, &RunOptions),
) -> Result<Found, Stop> {
    let (style, again) = (options.style(), options.again.as_deref());
    let saved = saving.read((text.is_some(), again), style)?;
    // What has lost ranks is the run of this command: its file may have changed meanwhile.
    let text = text.filter(|_| again.is_none() || saved.is_none());
    let compiled = text.map(|text| driver::compile(text, style)).transpose()?;
    match (saved, compiled) {
        (Some((saved, (program, sources))), named) => {
            if let Some((named, _)) = &named {
                saved.check_program((&program, named), style)?;
            }
            if named.is_some() && !arguments.is_empty() && arguments != saved.arguments() {
                let problem =
                    "the run that goes on has its arguments: leave them out, or give those it was started with";
                return Err(Stop::usage(format!("error: {problem}")));
            }
            Ok(Found { program, sources, saved: Some(saved) })
        }
        (None, Some((program, sources))) => Ok(Found { program, sources, saved: None }),
        (None, None) => Err(Stop::usage("error: there is no FILE to run")),
    }
}

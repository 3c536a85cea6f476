//! `nesl run`: a file on an engine.

use crate::arguments;
use crate::driver;
use crate::execute::Execution;
use crate::interrupt::Interrupt;
use crate::launch::Place;
use crate::limit::Limit;
use crate::options::{EngineName, RunOptions};
use crate::oracle;
use crate::stop::Stop;
use crate::supervisor;
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Instant;

#[derive(Args, Debug)]
#[command(
    after_help = format!(
        "{}\n\nA FILE whose name ends in .vcode is a program in the stack format of CMU's NESL.\n\n\
         Example: nesl run examples/quicksort/quicksort.nesl -- numbers.txt",
        arguments::READING
    )
)]
pub struct Arguments {
    /// Source file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Values for the parameters of main: literals, texts or files; and its options
    #[arg(value_name = "ARGUMENTS", last = true)]
    arguments: Vec<OsString>,
}

/// Runs the file.
pub fn run(arguments: &Arguments, options: &RunOptions) -> Result<(), Stop> {
    if let Some(ranks) = supervisor::wanted(options)? {
        return supervisor::run(ranks, options);
    }
    let begun = Instant::now();
    let Arguments { file, arguments } = arguments;
    let command = format!("nesl run {} --", file.display());
    let style = options.style();
    let mut place = Place::join(options)?;
    let interrupt = place.is_alone().then(Interrupt::install);
    let limit = Limit::new(options.time_limit.clone(), style, interrupt.clone(), place.rank());
    let _watching = limit.since(begun);
    if options.engine == Some(EngineName::Oracle) && !driver::is_stack_format(file) {
        if options.profile.is_some() {
            let engine = "the oracle runs no instructions whose time could be shown; take --engine reference";
            return Err(Stop::usage(format!("error: {engine}")));
        }
        let checked = driver::check_file(file, style)?;
        let interrupt = interrupt.unwrap_or_default();
        return oracle::run(&checked, arguments, &command, options, &interrupt, &limit);
    }
    let compiled = place.from_first(|| driver::compile_file(file, style));
    let result = compiled.and_then(|(program, sources)| {
        let execution = Execution {
            program,
            sources: &sources,
            arguments,
            command: &command,
            options,
            interrupt: interrupt.as_ref(),
            limit: &limit,
            begun,
        };
        place.run(options, execution)
    });
    place.said_once(result)
}

//! `nesl run`: a file on an engine.

use crate::arguments;
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
use std::ffi::OsString;
use std::path::PathBuf;
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
    /// Source file; - for the standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Values for the parameters of main: literals, texts or files; and its options
    // What comes first and is none of nesl's options ends them, so that `-5`, and options of main, reach the program.
    #[arg(value_name = "ARGUMENTS", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Runs the file.
pub fn run(arguments: &Arguments, options: &RunOptions) -> Result<(), Stop> {
    let Arguments { file, arguments } = arguments;
    program(&ProgramText::of(file), arguments, &format!("nesl run {}", file.display()), options)
}

/// Runs a program with the arguments that were given to `command`.
pub fn program(text: &ProgramText, arguments: &[OsString], command: &str, options: &RunOptions) -> Result<(), Stop> {
    if let Some(ranks) = supervisor::wanted(options)? {
        return supervisor::run(ranks, options);
    }
    let begun = Instant::now();
    let style = options.style();
    let mut place = Place::join(options)?;
    let interrupt = place.is_alone().then(Interrupt::install);
    let limit = Limit::new(options.time_limit.clone(), style, interrupt.clone(), place.rank());
    let _watching = limit.since(begun);
    if options.engine == Some(EngineName::Oracle) && !text.is_stack_format() {
        if options.is_profiled() {
            let engine = "the oracle runs no instructions whose time could be shown; take --engine reference";
            return Err(Stop::usage(format!("error: {engine}")));
        }
        let checked = driver::check(text, style)?;
        let interrupt = interrupt.unwrap_or_default();
        return oracle::run(&checked, arguments, command, options, &interrupt, &limit);
    }
    let compiled = place.from_first(|| driver::compile(text, style));
    let result = compiled.and_then(|(program, sources)| {
        arguments::refuse_unknown_option(&program.mains, arguments, command)?;
        let execution = Execution {
            program,
            sources: &sources,
            arguments,
            command,
            options,
            interrupt: interrupt.as_ref(),
            limit: &limit,
            begun,
        };
        place.run(options, execution)
    });
    place.said_once(result)
}

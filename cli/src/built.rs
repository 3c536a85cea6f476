//! A built executable: the command line of a program that `nesl build` made.

use crate::arguments;
use crate::execute::Execution;
use crate::front;
use crate::interrupt::Interrupt;
use crate::launch::Place;
use crate::options::RunOptions;
use crate::stop::Stop;
use clap::{Args, Command, FromArgMatches};
use nesl_span::SourceMap;
use nesl_vcode::Program;
use std::ffi::OsString;
use std::path::Path;
use std::time::Instant;

/// The command line: options, then arguments.
#[derive(Args, Clone, Debug)]
struct Built {
    /// Values for the parameters of main: literals or files
    // What comes first and is no option ends the options, so that `-5` and `--` reach the program.
    #[arg(value_name = "ARGUMENTS", trailing_var_arg = true, allow_negative_numbers = true)]
    arguments: Vec<OsString>,
    #[command(flatten)]
    options: RunOptions,
}

/// Runs the program with the command line of this process.
///
/// # Errors
/// The end of the program.
pub fn run(program: Program, sources: &SourceMap) -> Result<(), Stop> {
    let begun = Instant::now();
    let name = std::env::args_os().next().unwrap_or_default();
    let command = Path::new(&name).display().to_string();
    let matches = command_line(&program, &command).get_matches();
    let Built { arguments, options } = Built::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    if let Some(ranks) = front::wanted(&options)? {
        return front::run(ranks, &options);
    }
    let mut place = Place::join(&options)?;
    let interrupt = place.is_alone().then(Interrupt::install);
    let execution = Execution {
        program,
        sources,
        arguments: &arguments,
        command: &command,
        options: &options,
        interrupt: interrupt.as_ref(),
        begun,
    };
    let result = place.run(&options, execution);
    place.said_once(result)
}

fn command_line(program: &Program, command: &str) -> Command {
    let usage = arguments::usage(&program.mains, command);
    let expectation = match program.mains.is_empty() {
        true => "This program takes no arguments.".to_owned(),
        false => format!("What it expects:\n{usage}"),
    };
    let name =
        Path::new(command).file_name().map_or_else(|| command.to_owned(), |name| name.to_string_lossy().into_owned());
    // Last, because the derived part has a description of its own.
    Built::augment_args(Command::new("program").bin_name(name))
        .about("A program written in NESL and compiled with nesl")
        .after_help(expectation)
}

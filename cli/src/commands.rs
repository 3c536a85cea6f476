//! The command line of `nesl`: one file for each command.

mod about;
mod build;
mod check;
mod doc;
mod explain;
mod repl;
mod run;
mod vcode;

use crate::launch::Launched;
use crate::options::RunOptions;
use crate::output::answer;
use crate::stop::Stop;
use clap::{Parser, Subcommand};

/// Nested data-parallel programs: evaluate, run, build and inspect them.
#[derive(Parser, Debug)]
#[command(
    name = "nesl",
    version,
    after_help = "Without a command, an interactive session starts.\n\nExample: nesl run examples/primes/primes.nesl -- 1000000"
)]
struct CommandLine {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    options: RunOptions,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Run a file: its main with arguments, or its top-level expressions
    Run(run::Arguments),
    /// Compile a file to one executable
    Build(build::Arguments),
    /// Check files, and show the types of what they define
    Check(check::Arguments),
    /// Show the flat program that a file compiles to
    Vcode(vcode::Arguments),
    /// Explain the code of an error or warning, with an example; without one, list all codes
    Explain(explain::Arguments),
    /// Show what a function of the library does
    Doc(doc::DocArguments),
    /// List the functions of the library that have to do with a word
    Apropos(doc::AproposArguments),
    /// Show what this nesl is and where it runs: version, MPI, ranks, threads, memory
    About(about::Arguments),
    /// Start an interactive session
    #[command(after_help = "Example: nesl repl --threads 2")]
    Repl,
}

/// Runs the command of this process's command line.
///
/// # Errors
/// The end of the command.
pub fn run() -> Result<(), Stop> {
    let CommandLine { command, options } = CommandLine::try_parse().map_err(answer)?;
    let launched = Launched::detect().filter(|launched| launched.ranks > 1);
    match command {
        Some(Command::Run(arguments)) => run::run(&arguments, &options),
        Some(Command::Repl) | None => repl::run(&options),
        Some(Command::About(arguments)) => about::run(&arguments, &options),
        // Everything else is for one process: of many, the first does it.
        _ if launched.is_some_and(|launched| launched.rank > 0) => Ok(()),
        Some(Command::Build(arguments)) => build::run(&arguments, &options),
        Some(Command::Check(arguments)) => check::run(&arguments, &options),
        Some(Command::Explain(arguments)) => explain::run(&arguments),
        Some(Command::Vcode(arguments)) => vcode::run(&arguments, &options),
        Some(Command::Doc(arguments)) => doc::doc(&arguments),
        Some(Command::Apropos(arguments)) => doc::apropos(&arguments),
    }
}

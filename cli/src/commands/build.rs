//! `nesl build`: a file to one executable.

use crate::driver::{self, ProgramText};
use crate::options::RunOptions;
use crate::payload;
use crate::stop::Stop;
use clap::Args;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(
    after_help = "The executable needs neither the sources nor nesl. It takes the arguments of main, and the options of nesl run before them.\n\
                  An executable that was built before is replaced; no other file is.\n\n\
                  Example: nesl build examples/primes/primes.nesl -o primes && ./primes 1000000"
)]
pub struct Arguments {
    /// Source file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Executable to write [default: the name of FILE without its ending]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
}

/// Compiles the file, then writes the executable.
pub fn run(arguments: &Arguments, options: &RunOptions) -> Result<(), Stop> {
    if options.sandbox || options.time_limit.is_some() {
        return Err(Stop::usage("error: --sandbox and --time-limit are for running: give them to the executable"));
    }
    let text = ProgramText::of(&arguments.file);
    if arguments.file.is_dir() {
        // Before anything is said about its name.
        text.read(options.style())?;
    }
    let target = payload::target(&output(arguments)?, &arguments.file)?;
    let (program, sources) = driver::compile(&text, options.style())?;
    payload::build(&program, &sources, &target)
}

/// The executable that is wanted, or else the one that is named as the source is, in this folder.
fn output(arguments: &Arguments) -> Result<PathBuf, Stop> {
    let named = || {
        let stem = arguments.file.file_stem().filter(|_| arguments.file.extension().is_some())?;
        Some(PathBuf::from(stem))
    };
    arguments.output.clone().or_else(named).ok_or_else(|| {
        Stop::usage("error: the name of the source has no ending to leave out: say what to write, with -o OUT")
    })
}

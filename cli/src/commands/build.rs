//! `nesl build`: a file to one executable.

use crate::driver;
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
    /// Executable to write
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
}

/// Compiles the file, then writes the executable.
pub fn run(arguments: &Arguments, options: &RunOptions) -> Result<(), Stop> {
    if options.sandbox || options.time_limit.is_some() {
        return Err(Stop::usage("error: --sandbox and --time-limit are for running: give them to the executable"));
    }
    let target = payload::target(&arguments.output, &arguments.file)?;
    let (program, sources) = driver::compile_file(&arguments.file, options.style())?;
    payload::build(&program, &sources, &target)
}

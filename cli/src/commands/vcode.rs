//! `nesl vcode`: the flat program, verified, as the pipeline leaves it or on its way through.

use crate::driver;
use crate::options::RunOptions;
use crate::output::print;
use crate::stop::Stop;
use clap::Args;
use nesl_vcode::Program;
use nesl_vcode::pipeline::{Options, PASSES, optimise};
use std::cell::RefCell;
use std::fmt::Write;
use std::path::PathBuf;

#[derive(Args, Debug)]
#[command(after_help = "Example: nesl vcode examples/primes/primes.nesl --explain")]
pub struct Arguments {
    /// Source file
    #[arg(value_name = "FILE", required_unless_present = "list_passes")]
    file: Option<PathBuf>,
    /// Show the program as flattening makes it, before any pass
    #[arg(long, conflicts_with_all = ["dump_after", "disable"])]
    unoptimised: bool,
    /// Show the lines of the source beside the instructions that they became
    #[arg(long, conflicts_with = "dump_after")]
    explain: bool,
    /// List the passes in their order, with what they do and why they stand there
    #[arg(long)]
    list_passes: bool,
    /// Also show the program after this pass (may be repeated)
    #[arg(long, value_name = "PASS")]
    dump_after: Vec<String>,
    /// Leave out this pass (may be repeated)
    #[arg(long, value_name = "PASS")]
    disable: Vec<String>,
}

/// Prints what the options ask for.
pub fn run(arguments: &Arguments, options: &RunOptions) -> Result<(), Stop> {
    if arguments.list_passes {
        return print(&passes());
    }
    let Some(file) = &arguments.file else { return Ok(()) };
    let checked = driver::check_file(file, options.style())?;
    let mut program = driver::flatten(&checked, options.style())?;
    if arguments.unoptimised {
        nesl_vcode::verify(&program)
            .map_err(|errors| driver::pass_error(&nesl_vcode::pipeline::PassError::Input(errors)))?;
        return match arguments.explain {
            true => print(&nesl_vcode::explain(&program, &checked.sources)),
            false => print(&program.to_string()),
        };
    }
    let listings = RefCell::new(String::new());
    let dump = |pass: &str, program: &Program| {
        // Writing to a string does not fail.
        let _ = writeln!(listings.borrow_mut(), "; after {pass}\n{program}");
    };
    let pipeline =
        Options { disable: arguments.disable.clone(), dump_after: arguments.dump_after.clone(), dump: Some(&dump) };
    let optimised = optimise(&mut program, &pipeline).map_err(|error| driver::pass_error(&error));
    // What was asked for is shown even if a later pass fails: that is when it is needed.
    print(&listings.borrow())?;
    optimised?;
    match arguments.explain {
        true => print(&nesl_vcode::explain(&program, &checked.sources)),
        false => print(&program.to_string()),
    }
}

fn passes() -> String {
    let width = PASSES.iter().map(|pass| pass.name.len()).max().unwrap_or(0);
    let line = |pass: &nesl_vcode::pass::Pass| {
        format!("{:width$}  {}\n{:width$}  ({})\n", pass.name, pass.summary, "", pass.reason)
    };
    PASSES.iter().map(line).collect()
}

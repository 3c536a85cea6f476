//! `nesl vcode`: the flat program, verified, as the pipeline leaves it or on its way through; or in the stack format of
//! CMU.

use crate::driver::{self, ProgramText};
use crate::execute::seed_of;
use crate::options::RunOptions;
use crate::output::print;
use crate::stop::Stop;
use clap::Args;
use nesl_prim::visible;
use nesl_span::SourceMap;
use nesl_vcode::Program;
use nesl_vcode::pipeline::{
    Options, PARTITIONED_PASSES, PASSES, PassError, SERIAL_PASSES, optimise, partitioned, serial,
};
use std::cell::RefCell;
use std::fmt::Write;
use std::path::PathBuf;

/// What makes another program of one.
type Derive = fn(&Program, &Options<'_>) -> Result<Program, PassError>;

#[derive(Args, Debug)]
#[command(
    after_help = "Examples: nesl vcode examples/primes/primes.nesl --explain\n          nesl vcode examples/primes/primes.nesl --cmu > primes.vcode"
)]
pub struct Arguments {
    /// Source file
    #[arg(value_name = "FILE", required_unless_present_any = ["list_passes", "manual"])]
    file: Option<PathBuf>,
    /// Show the program as flattening makes it, before any pass
    #[arg(long, conflicts_with_all = ["dump_after", "disable"])]
    unoptimised: bool,
    /// Show the lines of the source beside the instructions that they became
    #[arg(long, conflicts_with_all = ["dump_after", "cmu"])]
    explain: bool,
    /// Write it in the stack format of CMU's NESL, which `nesl run FILE.vcode` reads
    #[arg(long, conflicts_with = "unoptimised")]
    cmu: bool,
    /// Show it as it is compiled to machine code, for one instance of a function after another
    #[arg(long, conflicts_with_all = ["unoptimised", "cmu"])]
    serial: bool,
    /// Show it as it runs on columns in parts, on ranks
    #[arg(long, conflicts_with_all = ["unoptimised", "cmu", "serial"])]
    partitioned: bool,
    /// List the passes in their order, with what they do and why they stand there
    #[arg(long)]
    list_passes: bool,
    /// Print the tables of the manual: instructions, operations and passes, in Markdown
    #[arg(long, conflicts_with = "list_passes")]
    manual: bool,
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
    if arguments.manual {
        return print(&nesl_vcode::manual::tables());
    }
    let Some(file) = &arguments.file else { return Ok(()) };
    let (program, sources) = driver::to_vcode(&ProgramText::of(file), options.style())?;
    if arguments.unoptimised {
        nesl_vcode::verify(&program).map_err(|errors| driver::pass_error(&PassError::Input(errors)))?;
        return match arguments.explain {
            true => print(&visible::text(&nesl_vcode::explain(&program, &sources))),
            false => print(&visible::text(&program.to_string())),
        };
    }
    let listings = RefCell::new(String::new());
    let dump = |pass: &str, program: &Program| {
        // Writing to a string does not fail.
        let _ = writeln!(listings.borrow_mut(), "; after {pass}\n{program}");
    };
    let pipeline =
        Options { disable: arguments.disable.clone(), dump_after: arguments.dump_after.clone(), dump: Some(&dump) };
    let made = made(program, arguments, &pipeline).map_err(|error| driver::pass_error(&error));
    // What was asked for is shown even if a later pass fails: that is when it is needed.
    print(&visible::text(&listings.borrow()))?;
    let program = made?;
    print(&match (arguments.cmu, arguments.explain) {
        (true, _) => stack_format(&program, &sources, options)?,
        (false, true) => visible::text(&nesl_vcode::explain(&program, &sources)).into_owned(),
        (false, false) => visible::text(&program.to_string()).into_owned(),
    })
}

/// The program as passes make it that is asked for.
fn made(mut program: Program, arguments: &Arguments, options: &Options<'_>) -> Result<Program, PassError> {
    let more = match arguments {
        Arguments { serial: true, .. } => Some((SERIAL_PASSES, serial as Derive)),
        Arguments { partitioned: true, .. } => Some((PARTITIONED_PASSES, partitioned as Derive)),
        _ => None,
    };
    if let Some(name) = options.unknown(&[PASSES, more.map_or(&[], |(passes, _)| passes)]) {
        return Err(PassError::UnknownPass(name.to_owned()));
    }
    optimise(&mut program, &options.of(PASSES))?;
    more.map_or(Ok(program.clone()), |(_, derive)| derive(&program, options))
}

/// The program in the stack format of CMU.
fn stack_format(program: &Program, sources: &SourceMap, options: &RunOptions) -> Result<String, Stop> {
    nesl_cmu::write(program, &|step| seed_of(options.seed, step)).map_err(|limitation| {
        let place = limitation.span.map_or(String::new(), |span| {
            let (line, column) = sources.line_column(span);
            format!("{}:{line}:{column}: ", sources.file(span.file).name)
        });
        options.style().failed(&format!("{place}{limitation}"))
    })
}

fn passes() -> String {
    let all = || PASSES.iter().chain(SERIAL_PASSES).chain(PARTITIONED_PASSES);
    let width = all().map(|pass| pass.name.len()).max().unwrap_or(0);
    let line = |pass: &nesl_vcode::pass::Pass| {
        format!("{:width$}  {}\n{:width$}  ({})\n", pass.name, pass.summary, "", pass.reason)
    };
    let of = |passes: &[nesl_vcode::pass::Pass]| passes.iter().map(line).collect::<String>();
    format!(
        "{}\nFor machine code:\n\n{}\nFor columns in parts:\n\n{}",
        of(PASSES),
        of(SERIAL_PASSES),
        of(PARTITIONED_PASSES)
    )
}

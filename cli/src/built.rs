//! A built executable: the command line of a program that `nesl build` made.

use crate::arguments;
use crate::commands::about;
use crate::execute::Execution;
use crate::interrupt::Interrupt;
use crate::launch::Place;
use crate::limit::Limit;
use crate::options::RunOptions;
use crate::output::answer;
use crate::stop::Stop;
use crate::supervisor;
use clap::{Args, Command, FromArgMatches};
use nesl_prim::visible;
use nesl_span::SourceMap;
use nesl_vcode::Program;
use std::ffi::OsString;
use std::path::Path;
use std::time::Instant;

/// The command line: options, then arguments.
#[derive(Args, Clone, Debug)]
struct Built {
    /// Values for the parameters of main: literals, texts or files; and its options
    // What comes first and is none of these options ends them, so that `-5`, and options and `--` of main, reach the
    // program.
    #[arg(value_name = "ARGUMENTS", trailing_var_arg = true, allow_hyphen_values = true)]
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
    let command = visible::line(&Path::new(&name).display().to_string()).into_owned();
    let matches = command_line(&program, sources, &command).try_get_matches();
    let built = matches.and_then(|matches| Built::from_arg_matches(&matches)).map_err(answer)?;
    let style = built.options.style();
    with_options(program, sources, &command, built, begun).map_err(|stop| style.ended(stop))
}

fn with_options(
    program: Program,
    sources: &SourceMap,
    command: &str,
    Built { arguments, options }: Built,
    begun: Instant,
) -> Result<(), Stop> {
    let style = options.style();
    if let Some(ranks) = supervisor::wanted(&options)? {
        return supervisor::run(ranks, &options);
    }
    let mut place = Place::join(&options)?;
    let refused = arguments::refuse_unknown_option(&program.mains, &arguments, command);
    if refused.is_err() {
        return place.said_once(refused.map_err(|stop| style.ended(stop)));
    }
    let interrupt = place.is_alone().then(Interrupt::install);
    let limit = Limit::new(options.time_limit.clone(), style, interrupt.clone(), place.rank());
    let _watching = limit.since(begun);
    let execution = Execution {
        program,
        sources,
        arguments: &arguments,
        command,
        options: &options,
        interrupt: interrupt.as_ref(),
        limit: &limit,
        begun,
        saving: None,
        moving: None,
    };
    let result = place.run(&options, execution);
    place.said_once(result.map_err(|stop| style.ended(stop)))
}

/// What the program says of itself and its usage stand first in its help; the options of nesl, which every program has,
/// come after them.
fn command_line(program: &Program, sources: &SourceMap, command: &str) -> Command {
    let name =
        Path::new(command).file_name().map_or_else(|| command.to_owned(), |name| name.to_string_lossy().into_owned());
    let usage = arguments::usage(&program.mains, &format!("{name} [OPTIONS]"));
    let usage = usage.trim_start_matches("usage: ").to_owned();
    let reading = match program.mains.is_empty() {
        true => "This program takes no arguments.",
        false => arguments::READING,
    };
    let about = arguments::introduction(sources);
    let about = about.unwrap_or_else(|| "A program written in NESL and compiled with nesl".to_owned());
    // Last, because the derived part has a description of its own.
    let line = Built::augment_args(Command::new("program").bin_name(&name).display_name(name))
        .mut_arg("arguments", |arguments| arguments.hide(true))
        .about(about.lines().next().unwrap_or_default().to_owned())
        .long_about(about)
        .override_usage(usage)
        .after_help(reading);
    // A parameter of that name is the program's own.
    let has_version = program.mains.iter().flat_map(|main| &main.parameters).any(|given| given.name == "version");
    if has_version {
        return line;
    }
    let line = line.version(concat!("built by nesl ", env!("CARGO_PKG_VERSION")));
    // To find out takes longer than programs that start in a moment should wait.
    let is_asked = std::env::args_os().any(|word| word == "--version");
    if is_asked { line.long_version(format!("built by nesl {}", about::version())) } else { line }
}

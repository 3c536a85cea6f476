//! The command line of `nesl`: one file for each command.

pub(crate) mod about;
mod bench;
mod build;
mod check;
mod doc;
mod explain;
mod fmt;
mod generate;
mod lsp;
mod new;
mod repl;
mod run;
mod test;
mod vcode;
mod watch;

use crate::driver::ProgramText;
use crate::launch::Launched;
use crate::options::{RUNNING, RunOptions};
use crate::output::answer;
use crate::stop::Stop;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use nesl_frontend::edit_distance;
use nesl_prim::visible;
use std::ffi::OsString;
use std::path::Path;

/// Nested data-parallel programs: evaluate, run, build and inspect them.
#[derive(Parser, Debug)]
#[command(
    name = "nesl",
    version,
    long_version = about::version(),
    override_usage = "nesl [OPTIONS] [COMMAND]\n       nesl [OPTIONS] FILE [ARGUMENTS]...\n       nesl [OPTIONS] -e FORM",
    after_help = "Without a command, an interactive session starts. A FILE is run: `nesl run FILE`.\n\n\
                  Examples: nesl examples/primes/primes.nesl 1000000\n          nesl -e 'sum([1:11])'"
)]
struct CommandLine {
    #[command(subcommand)]
    command: Option<Command>,
    /// Evaluate a form, as a file would that has nothing else in it; several in their order
    #[arg(short = 'e', long = "evaluate", value_name = "FORM", allow_hyphen_values = true)]
    forms: Vec<String>,
    #[command(flatten)]
    options: RunOptions,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Run a file: its main with arguments, or its top-level expressions
    Run(run::Arguments),
    /// Compile a file to one executable
    Build(build::Arguments),
    /// Make a folder with a program to begin with
    New(new::Arguments),
    /// Run a file whenever it changes, and show values beside its lines
    Watch(watch::Arguments),
    /// Check files, and show the types of what they define
    Check(check::Arguments),
    /// Test files: what they expect, examples of their doc strings, properties
    Test(test::Arguments),
    /// Time the functions of files whose names begin with bench_
    Bench(bench::Arguments),
    /// Lay files out in the usual way
    Fmt(fmt::Arguments),
    /// Show the flat program that a file compiles to
    Vcode(vcode::Arguments),
    /// Explain the code of an error or warning, with an example; without one, list all codes
    Explain(explain::Arguments),
    /// Show what a function of the library does
    Doc(doc::DocArguments),
    /// List the functions of the library that have to do with a word
    Apropos(doc::AproposArguments),
    /// Serve an editor: the language server protocol on standard input and output
    Lsp(lsp::Arguments),
    /// Show what this nesl is and where it runs: version, MPI, ranks, threads, memory
    About(about::Arguments),
    /// Start an interactive session
    #[command(after_help = "Example: nesl repl --threads 2")]
    Repl(repl::Arguments),
    /// Print a script that completes commands and options in a shell
    Completions(generate::CompletionArguments),
    /// Write the manual pages, one for each command
    Man(generate::ManArguments),
    /// A file to run, with its arguments
    #[command(external_subcommand)]
    File(Vec<OsString>),
}

/// Runs the command of this process's command line.
///
/// # Errors
/// The end of the command.
pub fn run() -> Result<(), Stop> {
    let matches = command_line().try_get_matches();
    let parsed = matches.and_then(|matches| CommandLine::from_arg_matches(&matches));
    let line = parsed.map_err(answer)?;
    let style = line.options.style();
    obey(line).map_err(|stop| style.ended(stop))
}

fn obey(CommandLine { command, forms, options }: CommandLine) -> Result<(), Stop> {
    let launched = Launched::detect().filter(|launched| launched.ranks > 1);
    if !forms.is_empty() {
        return match command {
            None => run::program(&ProgramText::Forms(forms), &[], "nesl -e FORM", &options),
            Some(_) => {
                Err(Stop::usage("error: what -e evaluates stands alone, without a command, a file or arguments"))
            }
        };
    }
    match command {
        Some(Command::Run(arguments)) => run::run(&arguments, &options),
        Some(Command::File(words)) => file(&words, &options),
        Some(Command::Repl(arguments)) => repl::run(&arguments, &options),
        None => repl::run(&repl::Arguments::default(), &options),
        Some(Command::About(arguments)) => about::run(&arguments, &options),
        Some(Command::Bench(arguments)) => bench::run(&arguments, &options),
        // Everything else is for one process: of many, the first does it.
        _ if launched.is_some_and(|launched| launched.rank > 0) => Ok(()),
        Some(Command::Build(arguments)) => build::run(&arguments, &options),
        Some(Command::New(arguments)) => new::run(&arguments),
        Some(Command::Watch(arguments)) => watch::run(&arguments, &options),
        Some(Command::Check(arguments)) => check::run(&arguments, &options),
        Some(Command::Test(arguments)) => test::run(&arguments, &options),
        Some(Command::Fmt(arguments)) => fmt::run(&arguments, options.style()),
        Some(Command::Lsp(arguments)) => lsp::run(&arguments),
        Some(Command::Explain(arguments)) => explain::run(&arguments),
        Some(Command::Vcode(arguments)) => vcode::run(&arguments, &options),
        Some(Command::Doc(arguments)) => doc::doc(&arguments, options.style()),
        Some(Command::Apropos(arguments)) => doc::apropos(&arguments),
        Some(Command::Completions(arguments)) => generate::completions(&arguments, command_line()),
        Some(Command::Man(arguments)) => generate::manual_pages(&arguments, command_line()),
    }
}

/// Runs the file that the first word names, if it can name one; else it is a command that does not exist.
fn file(words: &[OsString], options: &RunOptions) -> Result<(), Stop> {
    let Some((first, arguments)) = words.split_first() else { return Ok(()) };
    let path = Path::new(first);
    let is_written_as_one = path == "-" || path.extension().is_some() || path.components().count() > 1;
    if is_written_as_one || path.exists() {
        // As `nesl run` takes it: what follows is for main, whatever it looks like.
        let arguments = arguments.strip_prefix(&[OsString::from("--")]).unwrap_or(arguments);
        return run::program(&ProgramText::of(path), arguments, &format!("nesl {}", path.display()), options);
    }
    let name = first.to_string_lossy();
    let command = command_line();
    let commands = command.get_subcommands().map(clap::Command::get_name);
    let near = (commands.map(|known| (edit_distance(&name, known, 2), known)))
        .filter(|(distance, known)| *distance <= 2 && *distance < known.len())
        .min_by_key(|(distance, _)| *distance);
    let hint = near.map_or_else(String::new, |(_, known)| format!("; did you mean `nesl {known}`?"));
    let name = visible::message(&name);
    Err(Stop::usage(format!(
        "error: there is no command `{name}`, and no file of that name{hint}\n`nesl --help` lists the commands"
    )))
}

/// The description of the command line, in which commands that run nothing show no options for running.
fn command_line() -> clap::Command {
    let mut command = CommandLine::command();
    // Options that all commands share are theirs only then.
    command.build();
    let compiling = ["build", "check", "fmt", "vcode"].map(|name| (name, &["color", "message_format"][..]));
    let telling = ["lsp", "explain", "doc", "apropos", "completions", "man", "new"].map(|name| (name, &[][..]));
    for (name, said) in compiling.into_iter().chain(telling) {
        command = command.mut_subcommand(name, |quiet| {
            quiet.mut_args(|option| {
                let is_meant = option.get_help_heading() != Some(RUNNING) || said.contains(&option.get_id().as_str());
                if is_meant { option } else { option.hide(true) }
            })
        });
    }
    command
}

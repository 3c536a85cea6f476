//! The `nesl` command as a library.
//!
//! ```text
//! commands/     the command line: run, build, check, fmt, vcode, repl … options  how programs are run
//! driver        source to program                                     payload, built  executables with a program inside
//! launch        which engine, which ranks                             execute, oracle  a program on it
//! supervisor/   --ranks: starting, watching and ending them           allocation  started by a batch system without MPI
//! arguments     command line to values of main; literal, input/       output, failure, stats, profile  answers, errors, counters
//! repl/         the interactive session                                interrupt, limit  Ctrl-C, --time-limit
//! codes         the pages of error codes                             progress, screen  the line at a terminal, its size
//! rank          what a process has to compute with                     checkpoint/  runs that are saved and go on elsewhere
//! ```
//!
//! Nothing below [`main`] prints an error or ends the process: the end of a command is a [`Stop`].

pub mod allocation;
pub mod arguments;
pub mod built;
pub mod checkpoint;
pub mod codes;
pub mod commands;
pub mod driver;
pub mod execute;
pub mod failure;
pub mod interrupt;
pub mod launch;
pub mod limit;
pub mod literal;
pub mod options;
pub mod oracle;
pub mod output;
pub mod payload;
pub mod profile;
pub mod progress;
pub mod rank;
pub mod repl;
pub mod screen;
pub mod stats;
pub mod stop;
pub mod style;
pub mod supervisor;

use nesl_frontend::session;
use nesl_frontend::stack::with_stack_if_possible;
use nesl_prim::visible;
use std::io::Write;
use std::process::ExitCode;
use stop::Stop;

/// Stack for all that a command does one after another, with what is around a session: work that needs much of it would
/// otherwise start a thread each time.
const STACK: usize = session::AMPLE_STACK + (32 << 20);

/// The process: a built program if there is one in its executable, else the `nesl` command.
pub fn main() -> ExitCode {
    install_panic_hook();
    nesl_backend::data::memory::save_addresses();
    with_stack_if_possible(STACK, command)
}

fn command() -> ExitCode {
    let result = match payload::find() {
        Ok(Some((program, sources))) => built::run(program, &sources),
        Ok(None) => commands::run(),
        Err(stop) => Err(stop),
    };
    ExitCode::from(conclude(result))
}

/// The exit code of a command, after what there is to say about its end.
fn conclude(result: Result<(), Stop>) -> u8 {
    let Err(stop) = result else { return 0 };
    if !stop.message().is_empty() {
        // Without a standard error there is nobody to tell.
        let _ = writeln!(std::io::stderr(), "{}", stop.message());
    }
    stop.code
}

/// A panic is always a mistake of ours: says so, with what helps to find it.
fn install_panic_hook() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |information| {
        usual(information);
        let arguments: Vec<String> =
            std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect();
        let _ = writeln!(
            std::io::stderr(),
            "this is a bug in nesl {}; please report it with the program and the lines above\ncommand: {}",
            env!("CARGO_PKG_VERSION"),
            visible::line(&arguments.join(" "))
        );
    }));
}

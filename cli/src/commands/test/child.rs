//! Programs that are run as `nesl run` runs them, each by a process of its own, and what they gave.

use crate::options::{EngineName, RunOptions};
use clap::ValueEnum;
use nesl_frontend::syntax::Syntax;
use nesl_prim::Failure;
use nesl_service::outcome::{End, Outcome};
use serde_json::Value;
use std::fmt;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::str::FromStr;

/// The most time that one run takes, if no option says otherwise.
const TIME: &str = "60s";

/// Where a program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Where `nesl run` would, with the same options.
    AsOptionsSay,
    /// On an engine of one process.
    Engine(EngineName),
    /// On so many ranks.
    Ranks(u16),
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Place, String> {
        if let Ok(ranks) = text.parse::<u16>() {
            return if ranks == 0 { Err("there is no job of 0 ranks".to_owned()) } else { Ok(Place::Ranks(ranks)) };
        }
        let engine = EngineName::from_str(text, true).ok().filter(|engine| *engine != EngineName::Mpi);
        engine.map(Place::Engine).ok_or_else(|| "expected oracle, reference, threads, or a number of ranks".to_owned())
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::AsOptionsSay => Ok(()),
            Place::Engine(engine) => formatter.write_str(&name(*engine)),
            Place::Ranks(1) => formatter.write_str("1 rank"),
            Place::Ranks(ranks) => write!(formatter, "{ranks} ranks"),
        }
    }
}

fn name(value: impl ValueEnum) -> String {
    value.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

/// The options of this command that the runs of its programs share.
fn shared(options: &RunOptions, place: Place) -> Vec<String> {
    let mut words = vec![
        format!("--strategy={}", name(options.strategy)),
        format!("--native={}", name(options.native)),
        format!("--seed={}", options.seed),
        "--message-format=json".to_owned(),
        format!("--time-limit={}", options.time_limit.as_ref().map_or_else(|| TIME.to_owned(), ToString::to_string)),
    ];
    match place {
        Place::Engine(engine) => words.push(format!("--engine={}", name(engine))),
        Place::Ranks(ranks) => words.push(format!("--ranks={ranks}")),
        Place::AsOptionsSay => {
            words.extend(options.engine.map(|engine| format!("--engine={}", name(engine))));
            words.extend(options.ranks.map(|ranks| format!("--ranks={ranks}")));
        }
    }
    words.extend(options.threads.map(|threads| format!("--threads={threads}")));
    words.extend(options.max_memory.map(|bytes| format!("--max-memory={bytes}")));
    words.extend(options.sandbox.then(|| "--sandbox".to_owned()));
    words
}

/// Runs a program in a language, with arguments for its `main`, in a folder.
pub fn run(
    program: (Syntax, &str),
    arguments: &[String],
    folder: Option<&Path>,
    options: &RunOptions,
    place: Place,
) -> Outcome {
    match start(program, arguments, folder, options, place) {
        Ok(outcome) => outcome,
        Err(error) => Outcome::ended(End::Broken(format!("cannot run nesl: {error}"))),
    }
}

fn start(
    (syntax, text): (Syntax, &str),
    arguments: &[String],
    folder: Option<&Path>,
    options: &RunOptions,
    place: Place,
) -> std::io::Result<Outcome> {
    // On ranks all of them read the program; and what it reads itself comes from nobody.
    let mut file = tempfile::Builder::new().prefix("nesl-test-").suffix(syntax.suffix()).tempfile()?;
    file.write_all(text.as_bytes())?;
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("run").args(shared(options, place)).arg(file.path()).args(arguments);
    if let Some(folder) = folder.filter(|folder| folder.is_dir()) {
        command.current_dir(folder);
    }
    let output = command.stdin(Stdio::null()).output()?;
    let lines = String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
    let errors = String::from_utf8_lossy(&output.stderr);
    let end = match (output.status.code(), error(&errors)) {
        (Some(0), _) => End::Done,
        (Some(_), Some(end)) => end,
        (Some(code), None) => match i64::from(code) {
            124 => End::Broken("it took too long".to_owned()),
            code => End::Failed { code: String::new(), message: exited(code), at: (0, 0) },
        },
        (None, _) => End::Broken(format!("it crashed: {}\n{}", output.status, errors.trim_end())),
    };
    Ok(Outcome { lines, end })
}

/// How it is said that a program has ended itself.
fn exited(code: i64) -> String {
    Failure::of_exit(code).to_string()
}

/// The error that a program says has ended it. Those of the front end have codes of their own.
fn error(errors: &str) -> Option<End> {
    let reports = errors.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let errors: Vec<Value> = reports.filter(|report| report["severity"] == "error").collect();
    let text = |report: &Value, key: &str| report[key].as_str().unwrap_or("").to_owned();
    let first = errors.first()?;
    let code = text(first, "code");
    if code.is_empty() {
        return Some(End::Broken(text(first, "message")));
    }
    // Codes of run-time errors begin with E04.
    if !code.starts_with("E04") {
        return Some(End::Rejected(errors.iter().map(|error| (text(error, "code"), text(error, "message"))).collect()));
    }
    let start = &first["labels"][0]["start"];
    let number = |key: &str| start[key].as_u64().unwrap_or(0) as usize;
    Some(End::Failed { code, message: text(first, "message"), at: (number("line"), number("column")) })
}

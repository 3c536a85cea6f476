//! Options that say how a program is run: the same for `nesl run`, `nesl repl` and built executables.

use crate::limit::TimeLimit;
use crate::profile;
use crate::screen::Screen;
use crate::style::Style;
use clap::{Args, Command, ValueEnum};
use nesl_backend::{Native, Strategy};
use nesl_frontend::render::Medium;
use nesl_prim::visible;
use std::io::IsTerminal;
use std::path::PathBuf;

/// Which engine runs a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EngineName {
    /// The reference evaluator: walks the typed program, slowly; what programs mean
    Oracle,
    /// One simple loop per instruction, on one thread; what instructions mean
    Reference,
    /// All cores of this machine
    Threads,
    /// The ranks that mpirun started
    Mpi,
}

/// The heading of the options that say how a program is run.
pub const RUNNING: &str = "Running";

/// How a program is run.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = RUNNING)]
pub struct RunOptions {
    /// Engine: oracle, reference, threads or mpi [default: threads; mpi under mpirun]
    #[arg(long, value_name = "NAME", global = true, hide_possible_values = true)]
    pub engine: Option<EngineName>,
    /// Threads of this process [default: all cores; under mpirun the cores divided by the ranks]
    #[arg(long, value_name = "N", global = true, value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: Option<u16>,
    /// Start the program on so many ranks, by MPI, as mpirun would
    #[arg(long, value_name = "N", global = true, value_parser = clap::value_parser!(u16).range(1..))]
    pub ranks: Option<u16>,
    /// This process is one of the ranks that `--ranks` has started
    #[arg(long, global = true, hide = true)]
    pub as_rank: bool,
    /// What this rank says ends up at a terminal
    #[arg(long, global = true, hide = true)]
    pub in_color: bool,
    /// In a session of ranks: says on both outputs that an input has been answered, after the character 30
    #[arg(long, global = true, hide = true, value_name = "TEXT")]
    pub mark: Option<String>,
    /// In a session of ranks: says on standard error when an input is evaluated, and listens to interrupts
    #[arg(long, global = true, hide = true, value_name = "TEXT")]
    pub turns: Option<String>,
    /// In a run that is saved: says on standard output, after the character 30, where it is, to whoever starts it again
    #[arg(long, global = true, hide = true, value_name = "TEXT")]
    pub watched: Option<String>,
    /// This run or session may have lost ranks: it goes on with the save in this folder, or begins if that is `-`
    #[arg(long, global = true, hide = true, value_name = "FOLDER")]
    pub again: Option<PathBuf>,
    /// In a session of ranks: goes on with the session that is in this folder
    #[arg(long, global = true, hide = true, value_name = "FOLDER")]
    pub go_on: Option<PathBuf>,
    /// In a session of ranks: nobody types its inputs
    #[arg(long, global = true, hide = true)]
    pub as_script: bool,
    /// What this rank says ends up at a terminal of this size
    #[arg(long, global = true, hide = true, value_name = "COLUMNSxLINES")]
    pub screen: Option<Screen>,
    /// How a function runs on many instances: auto (by size), lift (all at once), leaf (one by one), divide (dealt
    /// out to ranks wherever that can be) or mixed (in turns)
    #[arg(long, value_name = "NAME", global = true, default_value = "auto", hide_possible_values = true)]
    pub strategy: StrategyName,
    /// Machine code for functions that run one by one: on, off, or check (run both ways and compare)
    #[arg(long, value_name = "WHEN", global = true, default_value = "on", hide_possible_values = true)]
    pub native: NativeName,
    /// Seed of the random numbers
    #[arg(long, value_name = "N", global = true, default_value_t = 0, allow_negative_numbers = true)]
    pub seed: i64,
    /// Print what the run did (instructions, elements, bytes, messages) on standard error
    #[arg(long, global = true)]
    pub stats: bool,
    /// Print on standard error which lines took the time of the run: so many of them [default: 20]
    #[arg(long, value_name = "LINES", global = true, num_args = 0..=1, require_equals = true,
          default_missing_value = profile::LINES)]
    pub profile: Option<usize>,
    /// Show no line of progress after the first second, where messages go to a terminal
    #[arg(long, global = true)]
    pub no_progress: bool,
    /// Write a page for browsers: the lines of the program, as warm as they were busy
    #[arg(long, value_name = "FILE", global = true, value_parser = no_source)]
    pub profile_html: Option<PathBuf>,
    /// Write when each thread of each rank was at which line, for chrome://tracing or ui.perfetto.dev
    #[arg(long, value_name = "FILE", global = true, value_parser = no_source)]
    pub trace: Option<PathBuf>,
    /// Most memory for data in each process: bytes, or with a unit: 512M, 2G [default: 9/10 of what this machine has;
    /// under mpirun divided by the ranks on it]
    #[arg(long, value_name = "SIZE", global = true, value_parser = size)]
    pub max_memory: Option<u64>,
    /// Most time that a run may take, or each input of a session: 10s, 500ms, 2m, 1h; its exit code is 124 then
    /// [default: none]
    #[arg(long, value_name = "TIME", global = true)]
    pub time_limit: Option<TimeLimit>,
    /// For programs that you do not trust: no commands, no environment, no files but those that are arguments of main,
    /// to read
    #[arg(long, global = true)]
    pub sandbox: bool,
    /// Colour in messages: auto, always or never
    #[arg(long, value_name = "WHEN", global = true, default_value = "auto", hide_possible_values = true)]
    pub color: ColorChoice,
    /// Errors and warnings as text (human), or as one JSON object a line (json)
    #[arg(long, value_name = "FORMAT", global = true, default_value = "human", hide_possible_values = true)]
    pub message_format: MessageFormat,
}

impl RunOptions {
    /// How messages are written.
    pub fn style(&self) -> Style {
        match self.message_format {
            MessageFormat::Human => Style::Text(Medium {
                color: self.color.enabled() || (self.in_color && self.color == ColorChoice::Auto),
                columns: self.screen.or_else(Screen::of_messages).map(|screen| screen.size().0),
            }),
            MessageFormat::Json => Style::Json,
        }
    }

    /// Whether the terminal knows no more than to write lines.
    pub fn is_terminal_dumb() -> bool {
        std::env::var_os("TERM").is_some_and(|term| term == "dumb")
    }

    /// Whether it is wanted which lines take the time of a run.
    pub fn is_profiled(&self) -> bool {
        self.profile.is_some() || self.profile_html.is_some() || self.trace.is_some()
    }

    /// Whether evaluations have a line of progress.
    pub fn shows_progress(&self) -> bool {
        !self.no_progress
            && self.message_format == MessageFormat::Human
            && std::io::stderr().is_terminal()
            && !RunOptions::is_terminal_dumb()
    }
}

/// The names of the options, those that people write.
pub fn names() -> Vec<String> {
    let command = RunOptions::augment_args(Command::new("nesl"));
    let shown = command.get_arguments().filter(|argument| !argument.is_hide_set());
    shown.filter_map(|argument| argument.get_long().map(str::to_owned)).collect()
}

/// How a function runs on the instances of an apply-to-each. Results do not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum StrategyName {
    /// By their number and size
    #[default]
    Auto,
    /// All at once, flattened
    Lift,
    /// One after another, on all cores
    Leaf,
    /// Dealt out to ranks wherever that can be
    Divide,
    /// In turns
    Mixed,
}

impl From<StrategyName> for Strategy {
    fn from(name: StrategyName) -> Strategy {
        match name {
            StrategyName::Auto => Strategy::Auto,
            StrategyName::Lift => Strategy::Lift,
            StrategyName::Leaf => Strategy::Leaf,
            StrategyName::Divide => Strategy::Divide,
            StrategyName::Mixed => Strategy::Mixed,
        }
    }
}

/// Whether functions run as machine code. Results do not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum NativeName {
    /// Where they can
    #[default]
    On,
    /// Never
    Off,
    /// Where they can, and compared with what they give without
    Check,
}

impl From<NativeName> for Native {
    fn from(name: NativeName) -> Native {
        match name {
            NativeName::On => Native::On,
            NativeName::Off => Native::Off,
            NativeName::Check => Native::Check,
        }
    }
}

/// What errors and warnings look like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum MessageFormat {
    /// Text with the lines of the program
    #[default]
    Human,
    /// One JSON object a line
    Json,
}

/// When messages are coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// Where they go to a terminal that knows colours, and NO_COLOR is not set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl ColorChoice {
    /// Whether messages on standard error are coloured.
    pub fn enabled(self) -> bool {
        self.enabled_on(&std::io::stderr())
    }

    /// Whether what goes to an output is coloured: where it is a terminal that knows colours, if nobody says otherwise.
    pub fn enabled_on(self, output: &impl IsTerminal) -> bool {
        let is_unset = |name: &str| std::env::var_os(name).is_none_or(|value| value.is_empty());
        match self {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => output.is_terminal() && is_unset("NO_COLOR") && !RunOptions::is_terminal_dumb(),
        }
    }
}

/// A file that is written: where the name of a program stands instead, it was left out.
fn no_source(text: &str) -> Result<PathBuf, String> {
    match [".nesl", ".v"].iter().any(|ending| text.ends_with(ending)) {
        true => Err("this is a program; name the file to write before it".to_owned()),
        false => Ok(PathBuf::from(text)),
    }
}

/// Reads a size in bytes: `1000`, `64K`, `512M`, `2G`, `1GiB`. Units are powers of 1024.
fn size(text: &str) -> Result<u64, String> {
    let digits = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let shift = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return Err(format!("`{}` is not a unit; use K, M, G or T", visible::message(unit))),
    };
    let number: u64 = number.parse().map_err(|_| "expected a number of bytes, such as 512M".to_owned())?;
    match number.checked_mul(1 << shift) {
        // No limit is what leaving the option out means.
        Some(0) => Err("the limit must be at least one byte".to_owned()),
        Some(bytes) => Ok(bytes),
        None => Err("this is more than any machine has".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(size("1000"), Ok(1000));
        assert_eq!(size("64K"), Ok(65536));
        assert_eq!(size("2GiB"), Ok(2 << 30));
        assert!(size("2X").is_err());
        assert!(size("-1").is_err());
        assert!(size("").is_err());
        assert!(size("0").is_err());
        assert!(size("99999999999T").is_err());
    }
}

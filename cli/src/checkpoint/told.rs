//! What a run that is saved tells the process that has started its ranks, so that that can start others where some die.
//!
//! Words stand on standard output, after a mark that no program prints by chance: so they say where in what the
//! program prints a save is. That process answers in a file of the folder, [`seen`]: a save that it has not heard of is
//! of no use to it, so there is no second one before it has.

use crate::output::MARK;
use nesl_backend::io::standard::StandardOutput;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// The file that says of which save the process has heard last that has started the ranks.
const SEEN: &str = ".seen";

/// What rank 0 says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// All ranks are there, and the program begins or goes on.
    Begun,
    /// The save of this number is made: of what is printed after it nothing has happened in it.
    Saves(u64),
    /// The run has ended by itself without an error: its saves can go.
    Done,
    /// The run has ended by itself, with this exit code.
    Ended(u8),
}

impl Told {
    /// Says it, if somebody listens.
    pub fn say(self, mark: Option<&str>) {
        let Some(mark) = mark else { return };
        let word = match self {
            Told::Begun => "begun".to_owned(),
            Told::Saves(number) => format!("saves {number}"),
            Told::Done => "done".to_owned(),
            Told::Ended(code) => format!("ended {code}"),
        };
        let mut output = StandardOutput::default();
        // Where nobody reads the output any more, the run ends for that reason.
        let _ = writeln!(output, "{MARK}{mark} {word}").and_then(|()| output.flush());
    }

    /// What a word says; none if it is none of these.
    pub fn of(word: &str) -> Option<Told> {
        match word.split_once(' ') {
            None if word == "begun" => Some(Told::Begun),
            None if word == "done" => Some(Told::Done),
            Some(("saves", number)) => Some(Told::Saves(number.parse().ok()?)),
            Some(("ended", code)) => Some(Told::Ended(code.parse().ok()?)),
            _ => None,
        }
    }
}

/// The save that was heard of last; none if nobody has heard of any.
pub fn seen(folder: &Path) -> Option<u64> {
    fs::read_to_string(folder.join(SEEN)).ok()?.trim().parse().ok()
}

/// Answers that the save of this number was heard of.
///
/// # Errors
/// If that cannot be written.
pub fn say_seen(folder: &Path, number: u64) -> io::Result<()> {
    fs::write(folder.join(SEEN), format!("{number}\n"))
}

/// Takes the answer back.
pub fn forget_seen(folder: &Path) {
    let _ = fs::remove_file(folder.join(SEEN));
}

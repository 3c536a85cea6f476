//! What running a program gave, whatever ran it, and how that compares with a header and with other outcomes.

use crate::expectations::Header;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What running a program gave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// The printed lines.
    pub lines: Vec<String>,
    /// How it ended.
    pub end: End,
}

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    /// Well.
    Done,
    /// With a run-time error.
    Failed {
        /// The code.
        code: String,
        /// The message.
        message: String,
        /// Line and column of the nearest place in user code.
        at: (usize, usize),
    },
    /// The front end did not accept it: codes and messages of its errors.
    Rejected(Vec<(String, String)>),
    /// nesl itself failed: a panic, a hang, a broken pass.
    Broken(String),
}

impl Outcome {
    /// A program that ended before it printed anything.
    pub fn ended(end: End) -> Outcome {
        Outcome { lines: Vec::new(), end }
    }

    /// Whether this is what a header expects.
    ///
    /// # Errors
    /// How it differs.
    pub fn meets(&self, header: &Header) -> Result<(), String> {
        if let End::Broken(what) = &self.end {
            return Err(format!("{what}\nafter {} lines", self.lines.len()));
        }
        for (index, expected) in header.lines.iter().enumerate() {
            match self.lines.get(index) {
                Some(line) if line == expected => {}
                Some(line) => return Err(format!("line {}\n  expected {expected}\n  printed  {line}", index + 1)),
                None => return Err(format!("line {}\n  expected {expected}\n  but {}", index + 1, self.end)),
            }
        }
        if let Some(line) = self.lines.get(header.lines.len()) {
            return Err(format!("line {} is not expected: {line}", header.lines.len() + 1));
        }
        match (&header.error, &self.end) {
            (None, End::Done) if header.rejected.is_empty() => Ok(()),
            (Some(expected), End::Failed { code, message, at }) => {
                let is_wrong = *code != expected.code
                    || expected.message.as_ref().is_some_and(|part| !message.contains(part.as_str()))
                    || expected.at.is_some_and(|place| place != *at);
                if is_wrong { Err(format!("expected {expected}\nbut {}", self.end)) } else { Ok(()) }
            }
            (None, End::Rejected(errors)) if header.rejected.len() == errors.len() => {
                let mut pairs = header.rejected.iter().zip(errors);
                match pairs.find(|((code, part), (found, message))| code != found || !message.contains(part.as_str())) {
                    None => Ok(()),
                    Some(((code, part), _)) => Err(format!("expected {code} {part}\nbut {}", self.end)),
                }
            }
            _ => Err(format!("expected {}\nbut {}", header.end(), self.end)),
        }
    }

    /// Whether two ways of running one program agree: they print the same lines, and end in the same error at the same
    /// place.
    pub fn agrees(&self, other: &Outcome) -> bool {
        if self.lines != other.lines {
            return false;
        }
        match (&self.end, &other.end) {
            (End::Done, End::Done) => true,
            (
                End::Failed { code, message, at },
                End::Failed { code: other_code, message: other_message, at: other_at },
            ) => {
                // How much memory is missing depends on how values are kept.
                let is_alike = message == other_message || code == nesl_prim::failure::OUT_OF_MEMORY;
                code == other_code && at == other_at && is_alike
            }
            _ => false,
        }
    }
}

impl End {
    /// The same, without a place that is behind this text: what follows it is nothing that anybody has written.
    #[must_use]
    pub fn placed_within(self, text: &str) -> End {
        match self {
            End::Failed { code, message, at: (line, _) } if line > text.lines().count() => {
                End::Failed { code, message, at: (0, 0) }
            }
            end => end,
        }
    }
}

impl fmt::Display for End {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            End::Done => write!(formatter, "it ended well"),
            // The end that a program wants has no code.
            End::Failed { code, message, .. } if code.is_empty() => write!(formatter, "it ended with {message}"),
            End::Failed { code, message, at: (0, _) } => write!(formatter, "it failed with {code}: {message}"),
            End::Failed { code, message, at: (line, column) } => {
                write!(formatter, "it failed at {line}:{column} with {code}: {message}")
            }
            End::Rejected(errors) => {
                let errors: Vec<String> = errors.iter().map(|(code, message)| format!("{code} {message}")).collect();
                write!(formatter, "it was rejected: {}", errors.join("; "))
            }
            End::Broken(what) => formatter.write_str(what),
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.lines {
            writeln!(formatter, "  {line}")?;
        }
        write!(formatter, "  {}", self.end)
    }
}

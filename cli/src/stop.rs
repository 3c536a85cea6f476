//! What ends a command early: an exit code, and what to say on standard error.
//!
//! Every layer of the command returns one of these instead of printing or exiting, so that only [`crate::main`] does
//! both, and so that rank 0 of a distributed run can send it to the other ranks. What a message quotes from outside is
//! made harmless to a terminal where a `Stop` is made; only [`Stop::reported`] takes a text as it is.

use nesl_frontend::render::json;
use nesl_prim::visible;
use serde::{Deserialize, Serialize};

/// The exit code where the time is over, as of `timeout` and other commands that know one.
pub const OUT_OF_TIME: u8 = 124;

/// The exit code of what Ctrl-C ends: 128 + SIGINT, as shells report it.
const INTERRUPTED: u8 = 130;

/// The early end of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    /// The exit code of the process.
    pub code: u8,
    /// What to print on standard error, as it is to arrive there; may be empty.
    message: String,
}

impl Stop {
    /// The program is wrong, or went wrong.
    pub fn failed(message: impl AsRef<str>) -> Stop {
        Stop::with_code(1, message)
    }

    /// The program is wrong, or went wrong, and this is the text that a renderer made of it.
    pub fn reported(text: impl Into<String>) -> Stop {
        Stop { code: 1, message: text.into() }
    }

    /// The command was given something that it cannot use.
    pub fn usage(message: impl AsRef<str>) -> Stop {
        Stop::with_code(2, message)
    }

    /// Any other end.
    pub fn with_code(code: u8, message: impl AsRef<str>) -> Stop {
        Stop { code, message: visible::message(message.as_ref()).into_owned() }
    }

    /// The same end for programs: what is no object yet becomes one. Its first line is the message, what follows (a usage
    /// line, what fits) the hint.
    #[must_use]
    pub fn in_objects(self) -> Stop {
        let is_object = |line: &&str| line.starts_with("{\"severity\"");
        let lines = self.message.lines().filter(|line| !line.trim().is_empty());
        let (mut message, words): (Vec<&str>, Vec<&str>) = lines.partition(is_object);
        if words.is_empty() {
            return self;
        }
        let first = words.first().map_or("", |first| first.strip_prefix("error: ").unwrap_or(first));
        let rest = words.get(1..).unwrap_or(&[]).join("\n");
        let object = match rest.trim() {
            "" => json::bare_error(first),
            hint => json::error_with_hint(first, hint),
        };
        message.push(&object);
        Stop { message: message.join("\n"), ..self }
    }

    /// What to print on standard error, as it is to arrive there; may be empty.
    pub fn message(&self) -> &str {
        self.message.trim_end()
    }

    /// The user pressed Ctrl-C.
    pub fn interrupted() -> Stop {
        Stop { code: INTERRUPTED, message: "interrupted".to_owned() }
    }

    /// Whether the user ended it by Ctrl-C.
    pub fn is_interruption(&self) -> bool {
        self.code == INTERRUPTED
    }

    /// The same, as what took longer than it may.
    #[must_use]
    pub fn out_of_time(self) -> Stop {
        Stop { code: OUT_OF_TIME, ..self }
    }

    /// A signal asked the process to end; 128 + its number, as shells report it.
    pub fn signalled(signal: i32) -> Stop {
        const SIGINT: i32 = 2;
        match signal {
            SIGINT => Stop::interrupted(),
            _ => Stop { code: u8::try_from(128 + signal).unwrap_or(255), message: "terminated".to_owned() },
        }
    }

    /// The reader of the output has gone away, as `head` does: nothing to say, and no error.
    pub fn quietly() -> Stop {
        Stop { code: 0, message: String::new() }
    }

    /// The same exit code without the message: for ranks other than 0, which leave speaking to it.
    #[must_use]
    pub fn silent(self) -> Stop {
        Stop { message: String::new(), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn for_programs_every_line_is_an_object() {
        let lines = |stop: Stop| stop.in_objects().message().lines().map(str::to_owned).collect::<Vec<_>>();
        let found = lines(Stop::usage("error: main takes one argument, not 2\nusage: nesl run a.nesl V\n  v : [int]"));
        let [line] = &found[..] else { panic!("{found:?}") };
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(value["message"], "main takes one argument, not 2");
        assert_eq!(value["hint"], "usage: nesl run a.nesl V\n  v : [int]");
        assert_eq!(lines(Stop::reported(json::bare_error("x"))), [json::bare_error("x").trim_end()]);
        assert_eq!(lines(Stop::quietly()), [""; 0]);
        assert_eq!(lines(Stop::interrupted()), [json::bare_error("interrupted").trim_end()]);
        let mixed = lines(Stop::reported(json::bare_error("x") + "error: y"));
        assert_eq!(mixed, [json::bare_error("x").trim_end(), json::bare_error("y").trim_end()]);
    }
}

//! What ends a command early: an exit code, and what to say on standard error.
//!
//! Every layer of the command returns one of these instead of printing or exiting, so that only [`crate::main`] does both,
//! and so that rank 0 of a distributed run can send it to the other ranks.

use serde::{Deserialize, Serialize};

/// The early end of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    /// The exit code of the process.
    pub code: u8,
    /// What to print on standard error; may be empty.
    pub message: String,
}

impl Stop {
    /// The program is wrong, or went wrong.
    pub fn failed(message: impl Into<String>) -> Stop {
        Stop { code: 1, message: message.into() }
    }

    /// The command was given something that it cannot use.
    pub fn usage(message: impl Into<String>) -> Stop {
        Stop { code: 2, message: message.into() }
    }

    /// The user pressed Ctrl-C; 128 + SIGINT, as shells report it.
    pub fn interrupted() -> Stop {
        Stop { code: 130, message: "interrupted".to_owned() }
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

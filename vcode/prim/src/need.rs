//! What operations on the world outside reach for: what a sandbox keeps from a program.

use serde::{Deserialize, Serialize};

/// What of the world an operation reaches for that does not belong to the program: what a sandbox keeps from it. The
/// first operand of an operation that needs something names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Need {
    /// Nothing: the clock, standard streams, and streams that are open.
    Nothing,
    /// A file to read.
    ReadFile,
    /// A file to write.
    WriteFile,
    /// A file to read where the second operand is 1, else to write.
    OpenFile,
    /// A variable of the environment.
    Environment,
    /// A command to run.
    Command,
}

//! The CMU stack format of VCODE, in both directions.
//!
//! The NESL of Carnegie Mellon compiled to a stack machine on vectors; its text form lives on in papers, teaching
//! material and other compilers. [`read()`] turns such a program into ours, so that passes, verifier and every engine
//! serve it without knowing; [`write()`] turns ours into such a program.
//!
//! ```text
//! text ── text.rs ──▶ statements ── arity.rs ──▶ heights of stacks ── read.rs, read/ ──▶ Program
//! Program ── write.rs, write/ ──▶ operations on named vectors ── write/stack.rs ──▶ text
//! ```
//! What differs: our registers hold machine scalars, columns and descriptors, and descriptors may be views. There,
//! everything is a vector, a scalar one of length 1, segments lie packed, and characters are ints. What goes wrong at
//! run time there is undefined; here every length and index is checked by our own check operations.

mod arity;
mod opcode;
mod read;
mod text;
mod write;

#[cfg(test)]
mod tests;

use std::fmt;

pub use read::read;
pub use write::{Limitation, write};

/// The name of the function that a program starts with, if there is one.
const MAIN: &str = "MAIN";

/// Why a text is not a program in this format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong there.
    pub message: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for ReadError {}

/// Something wrong at an offset of the text.
#[derive(Clone, Debug)]
struct Wrong {
    offset: usize,
    message: String,
}

type Result<T> = std::result::Result<T, Wrong>;

/// Something wrong at an offset.
fn wrong<T>(offset: usize, message: impl Into<String>) -> Result<T> {
    Err(Wrong { offset, message: message.into() })
}

impl Wrong {
    fn locate(self, text: &str) -> ReadError {
        let before = text.get(..self.offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        ReadError {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message: self.message,
        }
    }
}

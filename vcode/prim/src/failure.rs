//! How an operation can fail at run time, with the values that made it fail.
//!
//! The stages that run programs attach a source span; the text and the hint are here, so that every engine says the
//! same.

use crate::ScalarValue;
use crate::need::Need;
use crate::value::MOST_ELEMENTS;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A run-time failure of one operation on one element.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "each variant is documented, its fields are the values its message shows")]
pub enum Failure {
    /// An element reference, read or write outside the sequence.
    IndexOutOfRange { index: i64, length: i64 },
    /// Integer division or remainder by zero.
    DivideByZero { dividend: i64 },
    /// `min_int / -1`, whose result is not an int.
    QuotientOverflow,
    /// A shift by a count outside 0…63.
    ShiftOutOfRange { count: i64 },
    /// A float that no int can hold.
    FloatToInt { value: f64 },
    /// Sequences that must have equal lengths.
    LengthMismatch { left: i64, right: i64 },
    /// A negative length.
    NegativeLength { length: i64 },
    /// A range `[start:end:stride]` with `end < start` or `stride < 1`.
    BadRange { start: i64, end: i64, stride: i64 },
    /// A subsequence outside the sequence.
    BadSubsequence { start: i64, end: i64, length: i64 },
    /// `take` or `drop` of more elements than there are.
    BadCount { count: i64, length: i64 },
    /// Lengths of `partition` that do not add up; their sum is a number without a sign.
    BadPartition { sum: i64, length: i64 },
    /// Two elements of a `permute` go to the same place.
    NotAPermutation { index: i64 },
    /// A negative exponent of `^`.
    NegativePower { power: i64 },
    /// `isqrt` of a negative number.
    NegativeRoot { value: i64 },
    /// `rand` needs a positive bound.
    NotPositive { value: ScalarValue },
    /// `code_char` of a number outside 0…255.
    NotACharacter { code: i64 },
    /// The program said so, by `error(message)`.
    User { message: String },
    /// What a program prints does not arrive. Whoever stopped reading (`closed`) needs no message.
    OutputLost { message: String, closed: bool },
    /// `hash` into fewer than one place.
    NotASize { size: i64 },
    /// The memory limit, or the machine's memory, would be exceeded.
    OutOfMemory { bytes: u64 },
    /// Calls nested deeper than the machine's limit.
    RecursionTooDeep { depth: u64 },
    /// The user interrupted the evaluation.
    Interrupted,
    /// The sandbox keeps this from the program.
    Refused { need: Need, name: String },
    /// The evaluation took longer than it may.
    OutOfTime { limit: String },
    /// `exit` with a number that no process can end with.
    NotAnExitCode { code: i64 },
    /// The program ended itself with this exit code: no error, whatever the code means.
    Exited { code: u8 },
}

/// The code of [`Failure::OutOfMemory`], whose message depends on how values are kept.
pub const OUT_OF_MEMORY: &str = "E0420";

/// The code of [`Failure::OutOfTime`]: doing it again takes as long.
pub const OUT_OF_TIME: &str = "E0427";

impl Failure {
    /// What `exit` with this number does.
    pub fn of_exit(code: i64) -> Failure {
        u8::try_from(code).map_or(Failure::NotAnExitCode { code }, |code| Failure::Exited { code })
    }

    /// The stable error code; none for the end that a program wants.
    pub fn code(&self) -> &'static str {
        match self {
            Failure::IndexOutOfRange { .. } => "E0401",
            Failure::DivideByZero { .. } => "E0402",
            Failure::QuotientOverflow => "E0403",
            Failure::ShiftOutOfRange { .. } => "E0404",
            Failure::FloatToInt { .. } => "E0405",
            Failure::LengthMismatch { .. } => "E0406",
            Failure::NegativeLength { .. } => "E0407",
            Failure::BadRange { .. } => "E0408",
            Failure::BadSubsequence { .. } => "E0409",
            Failure::BadCount { .. } => "E0410",
            Failure::BadPartition { .. } => "E0411",
            Failure::NotAPermutation { .. } => "E0412",
            Failure::NegativePower { .. } => "E0413",
            Failure::NegativeRoot { .. } => "E0414",
            Failure::NotPositive { .. } => "E0415",
            Failure::NotACharacter { .. } => "E0416",
            Failure::NotASize { .. } => "E0417",
            Failure::OutOfMemory { .. } => OUT_OF_MEMORY,
            Failure::RecursionTooDeep { .. } => "E0421",
            Failure::Interrupted => "E0422",
            Failure::Exited { .. } => "",
            Failure::User { .. } => "E0423",
            Failure::OutputLost { .. } => "E0424",
            Failure::Refused { .. } => "E0426",
            Failure::OutOfTime { .. } => OUT_OF_TIME,
            Failure::NotAnExitCode { .. } => "E0429",
        }
    }

    /// Whether it follows from the program and its data alone: not from what the machine has, or from somebody outside.
    pub fn is_of_program(&self) -> bool {
        match self {
            // A sequence that no machine could have.
            Failure::OutOfMemory { bytes } => *bytes > MOST_ELEMENTS as u64,
            Failure::RecursionTooDeep { .. }
            | Failure::OutputLost { .. }
            | Failure::Interrupted
            | Failure::Refused { .. }
            | Failure::OutOfTime { .. }
            | Failure::Exited { .. } => false,
            _ => true,
        }
    }

    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Failure::IndexOutOfRange { .. } => "indices count from 0 up to, but not including, the length",
            Failure::DivideByZero { .. } => "test the divisor first, or filter: {a / b : a in v; b in w | b /= 0}",
            Failure::QuotientOverflow => "the smallest int has no positive counterpart",
            Failure::ShiftOutOfRange { .. } => "an int has 64 bits: shift by 0 to 63",
            Failure::FloatToInt { .. } => "ints reach from -9223372036854775808 to 9223372036854775807",
            Failure::LengthMismatch { .. } => {
                "equal lengths are needed: of sequences that are walked together, of the rows of a matrix, of values and their places"
            }
            Failure::NegativeLength { .. } => "a length is 0 or more",
            Failure::BadRange { .. } => "in [start:end:stride] the end is at least the start and the stride at least 1",
            Failure::BadSubsequence { .. } => "needs 0 <= start <= end <= length",
            Failure::BadCount { .. } => "count at most the length; a negative count counts from the end",
            Failure::BadPartition { .. } => "the lengths must add up to the length of the sequence",
            Failure::NotAPermutation { .. } => "each index must occur exactly once; use d <- pairs for anything else",
            Failure::NegativePower { .. } => "x ^ n needs n >= 0; expt(x, y) takes any float",
            Failure::NegativeRoot { .. } => "take the absolute value first, or test the sign",
            Failure::NotPositive { .. } => "rand(n) draws from 0 up to, but not including, n: n must be positive",
            Failure::NotACharacter { .. } => "character codes are 0 to 255",
            Failure::NotASize { .. } => "hash(x, n) is an int from 0 up to, but not including, n: n must be positive",
            Failure::OutOfMemory { .. } => "work on smaller pieces, or spread the data over more ranks",
            Failure::RecursionTooDeep { .. } => "does every call reach the end of the recursion?",
            Failure::OutputLost { .. } => "is there room on the disk?",
            Failure::Refused { need: Need::ReadFile | Need::OpenFile, .. } => {
                "name it as an argument of main that is a file, @name: such files can be read; or leave out --sandbox, if you trust the program"
            }
            Failure::Refused { need: Need::Environment, .. } => {
                "hand it over as an argument of main; or leave out --sandbox, if you trust the program"
            }
            Failure::Refused { .. } => "leave out --sandbox, if you trust the program",
            Failure::OutOfTime { .. } => "does every loop end? --time-limit allows more",
            Failure::NotAnExitCode { .. } => "0 says that all is well, 1 to 255 that it is not",
            Failure::User { .. } | Failure::Interrupted | Failure::Exited { .. } => "",
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::IndexOutOfRange { index, length } => {
                write!(formatter, "index {index} is out of range for a sequence of length {length}")
            }
            Failure::DivideByZero { dividend } => write!(formatter, "division of {dividend} by zero"),
            Failure::QuotientOverflow => {
                write!(formatter, "the quotient of {} by -1 is too large for an int", i64::MIN)
            }
            Failure::ShiftOutOfRange { count } => write!(formatter, "shift by {count} bits"),
            Failure::FloatToInt { value } => {
                write!(formatter, "no int holds the float {}", crate::text::float(*value))
            }
            Failure::LengthMismatch { left, right } => write!(formatter, "lengths differ: {left} and {right}"),
            Failure::NegativeLength { length } => write!(formatter, "negative length {length}"),
            Failure::BadRange { start, end, stride } => {
                write!(formatter, "no range from {start} to {end} with stride {stride}")
            }
            Failure::BadSubsequence { start, end, length } => {
                write!(formatter, "no subsequence from {start} to {end} in a sequence of length {length}")
            }
            Failure::BadCount { count, length } => {
                write!(formatter, "count {count} is too large for a sequence of length {length}")
            }
            Failure::BadPartition { sum: -1, length } => {
                write!(formatter, "the lengths add up to {} or more, the sequence has length {length}", u64::MAX)
            }
            Failure::BadPartition { sum, length } => {
                write!(formatter, "the lengths add up to {}, the sequence has length {length}", *sum as u64)
            }
            Failure::NotAPermutation { index } => write!(formatter, "not a permutation: index {index} occurs twice"),
            Failure::NegativePower { power } => write!(formatter, "negative power {power}"),
            Failure::NegativeRoot { value } => write!(formatter, "integer square root of {value}"),
            Failure::NotPositive { value } => {
                write!(formatter, "rand needs a positive number, got {}", crate::text::scalar(*value))
            }
            Failure::NotACharacter { code } => write!(formatter, "no character has the code {code}"),
            Failure::NotASize { size } => write!(formatter, "hash needs a positive number of places, got {size}"),
            Failure::OutOfMemory { bytes } => write!(formatter, "out of memory: {bytes} more bytes are needed"),
            Failure::RecursionTooDeep { depth } => write!(formatter, "recursion deeper than {depth} calls"),
            Failure::Interrupted => write!(formatter, "interrupted"),
            Failure::NotAnExitCode { code } => {
                write!(formatter, "{code} is no exit code: exit codes are 0 to 255")
            }
            Failure::Exited { code } => write!(formatter, "exit {code}"),
            Failure::Refused { need, name } => {
                let what = match need {
                    Need::Nothing => "use",
                    Need::ReadFile => "read the file",
                    Need::WriteFile | Need::OpenFile => "write the file",
                    Need::Environment => "read the environment variable",
                    Need::Command => "run the command",
                };
                let name = crate::visible::name(name);
                write!(formatter, "the sandbox does not let the program {what} `{name}`")
            }
            Failure::OutOfTime { limit } => write!(formatter, "the time limit of {limit} is over"),
            Failure::User { message } => formatter.write_str(message),
            Failure::OutputLost { message, .. } => write!(formatter, "cannot write the output: {message}"),
        }
    }
}

impl std::error::Error for Failure {}

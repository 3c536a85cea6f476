//! The operations on the world outside: printing, files, streams, processes, the clock.
//!
//! A table like that of the scalar operations: a row says what each [`HostOp`] takes and gives, so that the evaluator,
//! flattening, VCODE and the machine need no case for each. What the operations do is behind the trait [`Host`], which
//! whoever runs a program supplies; its implementation for this machine is `nesl_backend::io::host`.
//!
//! Operations happen in the order of the program, each once. In a distributed run rank 0 performs them and the others
//! receive the results, but for those on whole files, of which every rank reads ([`Place::Every`]) or writes
//! ([`Place::Parts`]) its own part.

use crate::constants::Constants;
use crate::failure::Failure;
use crate::need::Need;
use crate::value::{ScalarType, ScalarValue};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What an operand or a result is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostKind {
    /// A scalar.
    Scalar(ScalarType),
    /// A column.
    Column(ScalarType),
}

/// Which processes of a distributed run perform an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Rank 0.
    First,
    /// Every rank, for its share of the results.
    Every,
    /// Every rank, on its share of the last operand. The host's share of whatever length is where that lies in the
    /// whole.
    Parts,
}

/// An operation on the world outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum HostOp {
    /// Prints characters.
    Print,
    /// Ends the program with an error of its own.
    Fail,
    /// Ends the program.
    Exit,
    /// The time.
    Clock,
    /// An environment variable.
    Environment,
    /// Opens a file.
    Open,
    /// Closes a stream.
    Close,
    /// Reads from a stream up to a delimiter.
    Read,
    /// Writes elements to a stream: characters as they are, others as the bytes of a `.npy` file.
    Write(ScalarType),
    /// How a `.npy` file begins.
    NpyHeader(ScalarType),
    /// Begins a file that will replace another.
    BeginFile,
    /// Writes elements to such a file, as [`HostOp::Write`] does.
    WritePart(ScalarType),
    /// Puts such a file in its place, or gives it up.
    EndFile,
    /// A whole file as a sequence.
    ReadSequence(ScalarType),
    /// A whole file as rows.
    ReadRows(ScalarType),
    /// A whole file as an array of any shape.
    ReadArray(ScalarType),
    /// Draws a picture.
    Picture,
    /// Writes a vector of an object.
    WriteVector(ScalarType),
    /// Reads a vector of an object.
    ReadVector(ScalarType),
    /// Writes the lengths of segments in an object.
    WriteLengths,
    /// Reads the lengths of segments in an object.
    ReadLengths,
    /// Runs a command to its end.
    Run,
    /// Starts a command.
    Spawn,
}

/// What the table says of an operation.
#[derive(Clone, Copy, Debug)]
pub struct HostRow {
    /// Its name in the library is this after `host_`, in VCODE after `host.`.
    pub mnemonic: &'static str,
    /// Its operands.
    pub operands: &'static [HostKind],
    /// Its results, without the message of an operation that reports.
    pub results: &'static [HostKind],
    /// Whether its last result is a message in characters, empty if all went well. Other operations cannot go wrong, or
    /// end the program where they do.
    pub reports: bool,
    /// Whether it may be performed piece by piece on parts of its last operand.
    pub piecewise: bool,
    /// Who performs it.
    pub place: Place,
    /// What it reaches for.
    pub needs: Need,
    /// What it means.
    pub doc: &'static str,
}

const TEXT: HostKind = HostKind::Column(ScalarType::Char);
const COLUMN_INT: HostKind = HostKind::Column(ScalarType::Int);
const COLUMN_FLOAT: HostKind = HostKind::Column(ScalarType::Float);
const INT: HostKind = HostKind::Scalar(ScalarType::Int);
const FLOAT: HostKind = HostKind::Scalar(ScalarType::Float);
const BOOL: HostKind = HostKind::Scalar(ScalarType::Bool);

/// One slice of kinds per scalar type: rows are static.
macro_rules! by_type {
    ($scalar:expr, [$($before:expr),*], [$($after:expr),*]) => {
        match $scalar {
            ScalarType::Int => &[$($before,)* HostKind::Column(ScalarType::Int), $($after,)*],
            ScalarType::Float => &[$($before,)* HostKind::Column(ScalarType::Float), $($after,)*],
            ScalarType::Bool => &[$($before,)* HostKind::Column(ScalarType::Bool), $($after,)*],
            ScalarType::Char => &[$($before,)* HostKind::Column(ScalarType::Char), $($after,)*],
        }
    };
}

impl HostOp {
    /// All operations, those with a type once for each.
    pub fn all() -> Vec<HostOp> {
        let mut all = vec![
            HostOp::Print,
            HostOp::Fail,
            HostOp::Exit,
            HostOp::Clock,
            HostOp::Environment,
            HostOp::Open,
            HostOp::Close,
            HostOp::Read,
            HostOp::BeginFile,
            HostOp::EndFile,
            HostOp::WriteLengths,
            HostOp::ReadLengths,
            HostOp::Run,
            HostOp::Spawn,
            HostOp::Picture,
        ];
        let typed = [
            HostOp::Write,
            HostOp::NpyHeader,
            HostOp::WritePart,
            HostOp::ReadSequence,
            HostOp::ReadRows,
            HostOp::ReadArray,
            HostOp::WriteVector,
            HostOp::ReadVector,
        ];
        all.extend(typed.into_iter().flat_map(|op| ScalarType::ALL.map(op)));
        all
    }

    /// The scalar type of its columns that are not always text.
    pub fn scalar_type(self) -> Option<ScalarType> {
        match self {
            HostOp::Write(scalar)
            | HostOp::NpyHeader(scalar)
            | HostOp::WritePart(scalar)
            | HostOp::ReadSequence(scalar)
            | HostOp::ReadRows(scalar)
            | HostOp::ReadArray(scalar)
            | HostOp::WriteVector(scalar)
            | HostOp::ReadVector(scalar) => Some(scalar),
            _ => None,
        }
    }

    /// The operation with a full name.
    pub fn by_name(name: &str) -> Option<HostOp> {
        HostOp::all().into_iter().find(|op| op.to_string() == name)
    }

    /// The row with this mnemonic whose operands have these types.
    pub fn resolve(mnemonic: &str, operands: &[HostKind]) -> Option<HostOp> {
        HostOp::all().into_iter().find(|op| op.row().mnemonic == mnemonic && op.row().operands == operands)
    }

    /// The kinds of all results, the message included.
    pub fn results(self) -> impl Iterator<Item = HostKind> {
        let row = self.row();
        row.results.iter().copied().chain(row.reports.then_some(TEXT))
    }

    /// What it reaches for with these operands, where that does not belong to the program, and its name.
    pub fn reach(self, operands: &[HostValue]) -> Option<(Need, &[u8])> {
        let need = match self.row().needs {
            Need::Nothing => return None,
            Need::OpenFile if operands[1].as_int() == 1 => Need::ReadFile,
            Need::OpenFile => Need::WriteFile,
            other => other,
        };
        Some((need, operands[0].as_text()))
    }

    /// The operation's row.
    pub fn row(self) -> HostRow {
        let row = |mnemonic, operands, results, doc| HostRow {
            mnemonic,
            operands,
            results,
            reports: true,
            piecewise: false,
            place: Place::First,
            needs: Need::Nothing,
            doc,
        };
        let needing = |needs, row| HostRow { needs, ..row };
        match self {
            HostOp::Print => HostRow {
                reports: false,
                piecewise: true,
                ..row("print", &[TEXT], &[], "print text: writes it to standard output.")
            },
            HostOp::Fail => {
                HostRow { reports: false, ..row("fail", &[TEXT], &[], "fail text: ends the program with this error.") }
            }
            HostOp::Exit => HostRow {
                reports: false,
                ..row("exit", &[INT], &[], "exit code: ends the program with this exit code.")
            },
            HostOp::Clock => HostRow {
                reports: false,
                ..row("clock", &[INT], &[FLOAT], "clock n: seconds since some moment, whatever n is.")
            },
            HostOp::Environment => HostRow {
                reports: false,
                needs: Need::Environment,
                ..row("environment", &[TEXT], &[TEXT, BOOL], "environment name: its value, and whether it has one.")
            },
            HostOp::Open => needing(
                Need::OpenFile,
                row(
                    "open",
                    &[TEXT, INT],
                    &[INT],
                    "open name mode: a stream that reads (1), writes from the start (2) or appends to (3) a file.",
                ),
            ),
            HostOp::Close => row("close", &[INT], &[], "close stream: what is buffered is written first."),
            HostOp::Read => row(
                "read",
                &[INT, TEXT, INT],
                &[TEXT, INT],
                "read stream delimiters most: the characters up to the first delimiter, which is consumed; how it ended: \
                 the delimiter's code, -1 at the end of the stream, -2 after most characters. No limit if most < 0.",
            ),
            HostOp::Write(scalar) => HostRow {
                piecewise: true,
                ..row(
                    "write",
                    by_type!(scalar, [INT], []),
                    &[],
                    "write stream elements: characters as they are, others as little-endian bytes.",
                )
            },
            HostOp::NpyHeader(scalar) => HostRow {
                reports: false,
                ..row(
                    "npy_header",
                    by_type!(scalar, [], [TEXT]),
                    &[TEXT],
                    "npy_header prototype shape: how a .npy file begins whose elements have the prototype's type.",
                )
            },
            HostOp::BeginFile => needing(
                Need::WriteFile,
                row(
                    "begin_file",
                    &[TEXT],
                    &[TEXT],
                    "begin_file name: the name of a new, empty file, which end_file puts in the place of that with the name; \
                 empty if what has the name cannot be replaced, such as a device, which a stream can write to.",
                ),
            ),
            HostOp::WritePart(scalar) => HostRow {
                place: Place::Parts,
                needs: Need::WriteFile,
                ..row(
                    "write_part",
                    by_type!(scalar, [TEXT, INT], []),
                    &[],
                    "write_part part skip elements: writes elements as write does to a file that begin_file made, behind so \
                     many bytes.",
                )
            },
            HostOp::EndFile => needing(
                Need::WriteFile,
                row(
                    "end_file",
                    &[TEXT, TEXT, BOOL],
                    &[],
                    "end_file part name whole: puts a file that begin_file made for this name in its place; if it is not whole, \
                 removes it instead.",
                ),
            ),
            HostOp::ReadSequence(scalar) => HostRow {
                place: Place::Every,
                needs: Need::ReadFile,
                ..row(
                    "read_sequence",
                    by_type!(scalar, [TEXT], []),
                    by_type!(scalar, [], []),
                    "read_sequence name prototype: the elements in a file: an array of one dimension in NumPy's .npy or .npz \
                     format, words, or a table of one column; for characters, its bytes.",
                )
            },
            HostOp::ReadRows(scalar) => HostRow {
                place: Place::Every,
                needs: Need::ReadFile,
                ..row(
                    "read_rows",
                    by_type!(scalar, [TEXT], []),
                    by_type!(scalar, [COLUMN_INT], []),
                    "read_rows name prototype: the lengths of the rows in a file, and their elements: an array of two \
                     dimensions in NumPy's .npy or .npz format, a table, or lines of words; for characters, its lines.",
                )
            },
            HostOp::ReadArray(scalar) => HostRow {
                place: Place::Every,
                needs: Need::ReadFile,
                ..row(
                    "read_array",
                    by_type!(scalar, [TEXT], []),
                    by_type!(scalar, [COLUMN_INT], []),
                    "read_array name prototype: the lengths of an array in NumPy's .npy or .npz format, and its elements, \
                     the last index changing fastest.",
                )
            },
            HostOp::Picture => row(
                "picture",
                &[TEXT, INT, INT, TEXT, COLUMN_FLOAT, COLUMN_FLOAT],
                &[TEXT],
                "picture file kind columns words x y: the bytes of a picture for a file whose name ends with .svg or .png, \
                 or of text without a name: points in a line (0), points (1), bars (2), a matrix with axes (3), an image \
                 in colours (4), in grays (5), or of colours 65536 red + 256 green + blue (6), with a title and labels, \
                 zeros between them.",
            ),
            HostOp::WriteVector(scalar) => row(
                "write_vector",
                by_type!(scalar, [INT], []),
                &[],
                "write_vector stream elements: as text in parentheses.",
            ),
            HostOp::ReadVector(scalar) => row(
                "read_vector",
                by_type!(scalar, [INT], []),
                by_type!(scalar, [], []),
                "read_vector stream prototype: what write_vector wrote.",
            ),
            HostOp::WriteLengths => {
                row("write_lengths", &[INT, COLUMN_INT], &[], "write_lengths stream lengths: as text in brackets.")
            }
            HostOp::ReadLengths => row(
                "read_lengths",
                &[INT],
                &[COLUMN_INT],
                "read_lengths stream: what write_lengths wrote; none are negative.",
            ),
            HostOp::Run => needing(
                Need::Command,
                row(
                    "run",
                    &[TEXT, TEXT],
                    &[TEXT],
                    "run command input: what the command, split at white space, writes when it has read the input.",
                ),
            ),
            HostOp::Spawn => needing(
                Need::Command,
                row(
                    "spawn",
                    &[TEXT, INT, INT, INT],
                    &[INT, INT, INT],
                    "spawn command in out err: starts it on these streams, with a pipe for each that is -1; the streams that \
                 write to its standard input and read from its outputs.",
                ),
            ),
        }
    }
}

impl fmt::Display for HostOp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "host.{}", self.row().mnemonic)?;
        match self.scalar_type() {
            Some(scalar) => write!(formatter, ".{scalar}"),
            None => Ok(()),
        }
    }
}

/// A value on its way to or from the world outside.
#[derive(Clone, Debug, PartialEq)]
pub enum HostValue {
    /// A scalar.
    Scalar(ScalarValue),
    /// A column, or the share of one.
    Column(Constants),
}

impl HostValue {
    /// The zero of a kind: 0, 0.0, f or no elements.
    pub fn zero(kind: HostKind) -> HostValue {
        match kind {
            HostKind::Scalar(scalar) => HostValue::Scalar(scalar.zero()),
            HostKind::Column(scalar) => HostValue::Column(Constants::from_scalars(scalar, &[])),
        }
    }

    /// An int.
    pub fn int(value: i64) -> HostValue {
        HostValue::Scalar(ScalarValue::Int(value))
    }

    /// Characters.
    pub fn text(bytes: Vec<u8>) -> HostValue {
        HostValue::Column(Constants::Char(bytes))
    }

    /// The int that it is.
    ///
    /// # Panics
    /// If it is none: operations get what their rows say.
    pub fn as_int(&self) -> i64 {
        match self {
            HostValue::Scalar(ScalarValue::Int(value)) => *value,
            other => panic!("expected an int, found {other:?}"),
        }
    }

    /// The column that it is.
    ///
    /// # Panics
    /// If it is none: operations get what their rows say.
    pub fn as_column(&self) -> &Constants {
        match self {
            HostValue::Column(elements) => elements,
            other => panic!("expected a column, found {other:?}"),
        }
    }

    /// The characters that it is.
    ///
    /// # Panics
    /// If it is none: operations get what their rows say.
    pub fn as_text(&self) -> &[u8] {
        self.as_column().elements()
    }
}

/// Why an operation was not done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum HostError {
    /// The program learns of it: the message of an operation that reports.
    Message(String),
    /// The program ends.
    Failure(Failure),
}

impl From<Failure> for HostError {
    fn from(failure: Failure) -> HostError {
        HostError::Failure(failure)
    }
}

/// What another process must know of the world outside to go on with a program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostState {
    /// What the clock shows.
    pub clock: f64,
    /// The last character printed, if there is one.
    pub last: Option<u8>,
    /// The characters of standard input that were read.
    pub read: u64,
    /// The highest number of a stream.
    pub last_stream: i64,
    /// Files that are open.
    pub open: Vec<OpenFile>,
}

/// A file that is open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenFile {
    /// The number of the stream.
    pub stream: i64,
    /// Where the file is, from the root of the file system.
    pub path: PathBuf,
    /// As in [`HostOp::Open`].
    pub mode: i64,
    /// The characters that were read or written.
    pub position: u64,
}

/// Which part of a column of a length this process reads: all of it where there is one process.
pub type Share<'a> = &'a dyn Fn(usize) -> Range<usize>;

/// The world outside.
pub trait Host: Send {
    /// Performs an operation other than [`HostOp::Fail`] and [`HostOp::Exit`]; its results, without the message.
    ///
    /// # Errors
    /// Where it cannot be done.
    fn perform(&mut self, op: HostOp, operands: &[HostValue], share: Share<'_>) -> Result<Vec<HostValue>, HostError>;

    /// Ends operations that take long with [`Failure::Interrupted`](crate::Failure::Interrupted) soon after the flag is
    /// set. Without effect where none do.
    fn interrupt_on(&mut self, _flag: Arc<AtomicBool>) {}

    /// Lets everything printed so far arrive.
    ///
    /// # Errors
    /// If it cannot.
    fn flush(&mut self) -> Result<(), Failure>;

    /// Begins a new line if what was printed last is in the middle of one.
    ///
    /// # Errors
    /// If it cannot.
    fn end_line(&mut self) -> Result<(), Failure>;

    /// What another process must know to go on. Everything printed and written so far has arrived then.
    ///
    /// # Errors
    /// Why no other process could go on now.
    fn state(&mut self) -> Result<HostState, String> {
        Ok(HostState::default())
    }

    /// Goes on where another process was.
    ///
    /// # Errors
    /// Why that is impossible here.
    fn restore(&mut self, _state: &HostState) -> Result<(), String> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_unique_and_found_again() {
        let names: HashSet<String> = HostOp::all().iter().map(HostOp::to_string).collect();
        assert_eq!(names.len(), HostOp::all().len());
        for op in HostOp::all() {
            assert_eq!(HostOp::by_name(&op.to_string()), Some(op));
            assert_eq!(HostOp::resolve(op.row().mnemonic, op.row().operands), Some(op));
        }
    }

    #[test]
    fn what_names_something_outside_says_so() {
        // An operation whose first operand is a text and that needs nothing must be one that prints, fails, makes text
        // or draws.
        let harmless = ["print", "fail", "npy_header", "picture"];
        for row in HostOp::all().into_iter().map(HostOp::row) {
            let names = row.operands.first() == Some(&TEXT) && !harmless.contains(&row.mnemonic);
            assert_eq!(row.needs != Need::Nothing, names, "{}", row.mnemonic);
        }
        let name = HostValue::text(b"a".to_vec());
        for (mode, need) in [(1, Need::ReadFile), (2, Need::WriteFile), (3, Need::WriteFile), (9, Need::WriteFile)] {
            let operands = [name.clone(), HostValue::int(mode)];
            assert_eq!(HostOp::Open.reach(&operands), Some((need, b"a".as_slice())));
        }
    }

    #[test]
    fn only_what_has_no_results_goes_piece_by_piece_and_only_columns_are_shared() {
        for row in HostOp::all().into_iter().map(HostOp::row) {
            assert!(!row.piecewise || row.results.is_empty(), "{}", row.mnemonic);
            assert!(!row.piecewise || matches!(row.operands.last(), Some(HostKind::Column(_))), "{}", row.mnemonic);
            let columns = row.results.iter().all(|kind| matches!(kind, HostKind::Column(_)));
            assert!(row.place == Place::First || (columns && row.reports), "{}", row.mnemonic);
        }
    }
}

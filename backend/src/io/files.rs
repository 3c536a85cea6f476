//! Whole files, as arguments of `main` and for the library: text, tables, `.npy` and `.npz` to the pieces of a value
//! that this process holds.
//!
//! In a distributed run every rank keeps only its own part: of `.npy` the elements of its share, of text the words,
//! lines or rows that begin in its share of the bytes. [`npy`], `npz`, `csv` and [`text`] know the formats; here is
//! what they have in common.
//! What is read counts against the limit of the engine as it comes in; of numbers no more is in memory at a time than a
//! window of the file.

mod csv;
pub mod npy;
mod npz;
pub mod text;
mod words;

use crate::data::hold::Hold;
use crate::engine::interrupt::Interrupt;
use crate::io::import::Piece;
use csv::Cell;
use nesl_prim::host::Share;
use nesl_prim::{Constants, Failure, ScalarType, visible};
use nesl_vcode::Shape;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why a file does not give a value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InputError {
    /// What is wrong, as a sentence.
    pub message: String,
    /// How far reading came, in bytes: of several attempts, the one that came furthest knows best.
    pub position: u64,
    /// What ends reading for reasons that are not the file's: an interrupt, or the end of memory.
    pub failure: Option<Failure>,
}

impl From<Failure> for InputError {
    fn from(failure: Failure) -> InputError {
        InputError { failure: Some(failure.clone()), ..InputError::new(failure.to_string()) }
    }
}

impl InputError {
    /// Something is wrong from the start.
    pub fn new(message: impl Into<String>) -> InputError {
        InputError { message: message.into(), position: 0, failure: None }
    }

    fn of(path: &Path, error: &io::Error) -> InputError {
        InputError::new(format!("cannot read {}: {error}", named(path)))
    }
}

/// The name of a file in a message.
pub(super) fn named(path: &Path) -> String {
    visible::name(&path.display().to_string()).into_owned()
}

/// What a file is to become.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Target {
    /// `[char]`: the bytes.
    Bytes,
    /// `[[char]]`: the lines.
    Lines,
    /// `[[[char]]]`: the fields of a table.
    Fields,
    /// `int`, `[float]`, `[[bool]]`, …: numbers or truth values, nested so deep.
    Numbers(ScalarType, usize),
    /// `[(int, [char])]`: the columns of a table.
    Records(Vec<Cell>),
}

impl Target {
    fn of(shape: &Shape) -> Option<Target> {
        let (mut element, mut depth) = (shape, 0);
        while let Shape::Sequence(inner) = element {
            (element, depth) = (&**inner, depth + 1);
        }
        match (element, depth) {
            (Shape::Scalar(ScalarType::Char), 1) => Some(Target::Bytes),
            (Shape::Scalar(ScalarType::Char), 2) => Some(Target::Lines),
            (Shape::Scalar(ScalarType::Char), 3) => Some(Target::Fields),
            (Shape::Scalar(ScalarType::Char), _) => None,
            (Shape::Scalar(scalar), depth) => Some(Target::Numbers(*scalar, depth)),
            _ => match shape {
                Shape::Sequence(element) => {
                    let mut cells = Vec::new();
                    cells_of(element, &mut cells)?;
                    (!cells.is_empty()).then_some(Target::Records(cells))
                }
                _ => None,
            },
        }
    }
}

/// The columns that the parts of a tuple or record are.
fn cells_of(shape: &Shape, cells: &mut Vec<Cell>) -> Option<()> {
    match shape {
        Shape::Scalar(scalar) => cells.push(Cell::Scalar(*scalar)),
        Shape::Sequence(inner) if **inner == Shape::Scalar(ScalarType::Char) => cells.push(Cell::Text),
        Shape::Pair(first, rest) => {
            cells_of(first, cells)?;
            cells_of(rest, cells)?;
        }
        Shape::Record(_, payload) => cells_of(payload, cells)?,
        Shape::Unit | Shape::Sequence(_) | Shape::Function(_) => return None,
    }
    Some(())
}

/// Whether a file can give a value of this shape.
pub fn is_readable(shape: &Shape) -> bool {
    Target::of(shape).is_some()
}

/// Bytes that are read at once: a few milliseconds.
const AT_ONCE: u64 = 4 << 20;

/// Where a literal begins at the latest in a file that holds one.
const BEGINNING: u64 = 4096;

/// The longest literal in a file. Reading one takes many times its length.
const LONGEST_LITERAL: u64 = 16 << 20;

/// Opened files. What can be read only once, such as a pipe, stays in memory, so that it can be tried as several types.
#[derive(Debug, Default)]
pub struct Files {
    interrupt: Interrupt,
    hold: Hold,
    streams: HashMap<PathBuf, Arc<Vec<u8>>>,
}

impl Files {
    /// No files yet. Reading ends with an error soon after an interrupt, and where what is read does not fit under a
    /// limit.
    pub fn under(interrupt: Interrupt, hold: Hold) -> Files {
        Files { interrupt, hold, streams: HashMap::new() }
    }

    /// This process's pieces of the value of this shape in a file, or in an array of a `.npz` file, `FILE.npz:NAME`.
    ///
    /// # Errors
    /// If the file cannot be read, or holds something else.
    pub fn read(&mut self, path: &Path, shape: &Shape, share: Share<'_>) -> Result<Vec<Piece>, InputError> {
        let Some(target) = Target::of(shape) else {
            return Err(InputError::new("a file holds numbers, truth values, text, or a table of them"));
        };
        let mut content = match target {
            Target::Numbers(..) | Target::Records(_) => self.numbers(path, share)?,
            _ => self.open(path, share(2) == (0..2))?,
        };
        let is_array = content.begins_with(npy::MAGIC)?;
        match target {
            Target::Bytes => text::bytes(&mut content, share),
            Target::Lines => text::lines(&mut content, share),
            Target::Fields => csv::fields(&mut content, share),
            Target::Records(cells) if is_array => npy::records(&mut content, &cells, share),
            Target::Records(cells) => {
                text::leave_out_comments(&mut content)?;
                csv::records(&mut content, &cells, share)
            }
            Target::Numbers(scalar, depth) if is_array => npy::read(&mut content, scalar, depth, share),
            Target::Numbers(scalar, depth) => text_numbers(&mut content, scalar, depth, share),
        }
    }

    /// The lengths of the array in a `.npy` or `.npz` file, and this process's share of its elements.
    ///
    /// # Errors
    /// If the file cannot be read, or holds something else.
    pub fn read_array(
        &mut self,
        path: &Path,
        scalar: ScalarType,
        share: Share<'_>,
    ) -> Result<(Vec<usize>, Constants), InputError> {
        let mut content = self.numbers(path, share)?;
        if !content.begins_with(npy::MAGIC)? {
            return Err(content.error("this is no array in the format of NumPy's .npy files"));
        }
        let array = npy::Array::open(&mut content, scalar)?;
        let elements = array.elements(&mut content, scalar, share)?;
        Ok((array.shape, elements))
    }

    /// A file of numbers: of an archive the array that is meant.
    fn numbers(&mut self, path: &Path, share: Share<'_>) -> Result<Content, InputError> {
        let (file, name) = in_archive(path);
        let mut content = self.open(&file, share(2) == (0..2))?;
        if npz::is_archive(&mut content)? {
            return npz::member(content, name.as_deref());
        }
        if name.is_some() {
            return Err(content.error("this is no .npz file"));
        }
        if content.is_called(&["npy", "npz"]) && !content.begins_with(npy::MAGIC)? {
            return Err(InputError::new(format!("{} is not in the format of NumPy's .npy files", named(path))));
        }
        Ok(content)
    }

    /// The text of a file that holds a literal of the language: for what a file holds otherwise, too, one that begins
    /// as sequences, tuples, texts and characters do; for other shapes any. None if what it holds is something else.
    /// Every rank gets all of it.
    ///
    /// # Errors
    /// If the file cannot be read, or is too long for that.
    pub fn literal(&mut self, path: &Path, shape: &Shape, share: Share<'_>) -> Result<Option<String>, InputError> {
        let target = Target::of(shape);
        if matches!(target, Some(Target::Bytes | Target::Lines | Target::Fields)) {
            return Ok(None);
        }
        let (file, _) = in_archive(path);
        let mut content = self.open(&file, share(2) == (0..2))?;
        if target.is_some() {
            let start = content.read(0..content.length.min(BEGINNING))?;
            let first = start.iter().find(|byte| !byte.is_ascii_whitespace());
            if !first.is_some_and(|first| b"[(\"`".contains(first)) {
                return Ok(None);
            }
        }
        if content.length > LONGEST_LITERAL {
            let limit = LONGEST_LITERAL >> 20;
            return Err(content.error(format!("a literal is at most {limit} MiB long; numbers need no brackets")));
        }
        let bytes = content.read(0..content.length)?;
        String::from_utf8(bytes).map(Some).map_err(|_| content.error("it is not valid UTF-8"))
    }

    fn open(&mut self, path: &Path, is_alone: bool) -> Result<Content, InputError> {
        let (interrupt, hold) = (self.interrupt.clone(), self.hold.another());
        let content = |storage, length| Content {
            path: path.to_owned(),
            storage,
            base: 0,
            length,
            lines_before: 0,
            interrupt,
            hold,
        };
        if let Some(bytes) = self.streams.get(path) {
            return Ok(content(Storage::Memory(Arc::clone(bytes)), bytes.len() as u64));
        }
        let failed = |error: io::Error| InputError::of(path, &error);
        let mut file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if metadata.is_file() {
            return Ok(content(Storage::File(file), metadata.len()));
        }
        if metadata.is_dir() {
            return Err(InputError::new(format!("cannot read {}: it is a folder", named(path))));
        }
        if !is_alone {
            return Err(InputError::new(format!(
                "{} is not a file: ranks can only share files, which each reads in part",
                named(path)
            )));
        }
        let bytes = self.hold.read(&mut file, u64::MAX, || check(&self.interrupt), failed)?;
        let bytes = Arc::new(bytes);
        self.streams.insert(path.to_owned(), Arc::clone(&bytes));
        let length = bytes.len() as u64;
        Ok(content(Storage::Memory(bytes), length))
    }
}

/// The file and the array in it that a name such as `FILE.npz:NAME` means, unless a file has this name.
fn in_archive(path: &Path) -> (PathBuf, Option<String>) {
    const MARK: &str = ".npz:";
    let whole = || (path.to_owned(), None);
    let Some(text) = path.to_str().filter(|_| !path.exists()) else { return whole() };
    match text.find(MARK) {
        Some(place) if place > 0 => {
            (PathBuf::from(&text[..place + MARK.len() - 1]), Some(text[place + MARK.len()..].to_owned()))
        }
        _ => whole(),
    }
}

/// Numbers in a text: one, words, rows of words, or a table. Lines at its beginning that begin with `#` are comments,
/// as those that `numpy.savetxt` writes.
fn text_numbers(
    content: &mut Content,
    scalar: ScalarType,
    depth: usize,
    share: Share<'_>,
) -> Result<Vec<Piece>, InputError> {
    text::leave_out_comments(content)?;
    match depth {
        0 => {
            let pieces = text::words(content, scalar, &|length| 0..length)?;
            match pieces.as_slice() {
                [Piece::Elements(elements)] if elements.len() == 1 => Ok(vec![Piece::Scalar(elements.get(0))]),
                [Piece::Elements(elements)] => {
                    Err(content.error(format!("there are {} values in it, not one", elements.len())))
                }
                _ => unreachable!("words are elements"),
            }
        }
        1 if content.is_called(&["csv", "tsv"]) => csv::records(content, &[Cell::Scalar(scalar)], share),
        1 => text::words(content, scalar, share),
        2 if csv::is_table(content)? => csv::rows(content, scalar, share),
        2 => text::rows(content, scalar, share),
        _ => Err(content.error("a text has rows, and no deeper levels; those can be in a .npy file")),
    }
}

/// The bytes of a file, or of a part of one.
#[derive(Debug)]
struct Content {
    path: PathBuf,
    storage: Storage,
    /// Where they begin in what is stored.
    base: u64,
    length: u64,
    /// Lines before that.
    lines_before: usize,
    interrupt: Interrupt,
    hold: Hold,
}

/// The error of reading that the user does not want to go on.
fn check(interrupt: &Interrupt) -> Result<(), InputError> {
    Ok(interrupt.check()?)
}

#[derive(Debug)]
enum Storage {
    File(File),
    Memory(Arc<Vec<u8>>),
}

impl Content {
    /// This process's share of the bytes.
    fn share(&self, share: Share<'_>) -> Result<Range<u64>, InputError> {
        let length = usize::try_from(self.length)
            .map_err(|_| InputError::new(format!("{} is too large for this machine", named(&self.path))))?;
        let range = share(length);
        Ok(range.start as u64..range.end as u64)
    }

    /// The bytes of a range that lies in the file.
    fn read(&mut self, range: Range<u64>) -> Result<Vec<u8>, InputError> {
        let mut bytes = Vec::new();
        self.read_to(range, &mut bytes)?;
        Ok(bytes)
    }

    /// The same, in the place of what is in a vector, whose room stays counted.
    fn read_to(&mut self, range: Range<u64>, bytes: &mut Vec<u8>) -> Result<(), InputError> {
        bytes.clear();
        let length = range.end.saturating_sub(range.start);
        self.hold.fill(bytes, usize::try_from(length).unwrap_or(usize::MAX))?;
        match &mut self.storage {
            Storage::Memory(all) => {
                let (start, end) = (self.base + range.start, self.base + range.end);
                bytes.extend_from_slice(all.get(start as usize..end as usize).unwrap_or(&[]));
            }
            Storage::File(file) => {
                let failed = |error: io::Error| InputError::of(&self.path, &error);
                file.seek(SeekFrom::Start(self.base + range.start)).map_err(failed)?;
                let mut rest = file.take(length);
                while rest.by_ref().take(AT_ONCE).read_to_end(bytes).map_err(failed)? > 0 {
                    check(&self.interrupt)?;
                }
            }
        }
        match bytes.len() as u64 == length {
            true => Ok(()),
            false => Err(InputError::new(format!("{} was cut short while it was read", named(&self.path)))),
        }
    }

    fn begins_with(&mut self, start: &[u8]) -> Result<bool, InputError> {
        let length = start.len() as u64;
        Ok(self.length >= length && self.read(0..length)? == start)
    }

    /// Whether the name of the file ends with one of these, after a point.
    fn is_called(&self, endings: &[&str]) -> bool {
        let ending = self.path.extension();
        ending.is_some_and(|ending| endings.iter().any(|wanted| ending.eq_ignore_ascii_case(wanted)))
    }

    /// The file, and what is wrong with it.
    fn error(&self, problem: impl std::fmt::Display) -> InputError {
        InputError::new(format!("{}: {problem}", named(&self.path)))
    }
}

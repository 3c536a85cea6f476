//! Whole files, as arguments of `main` and for the library: text and `.npy` to the pieces of a value that this process
//! holds.
//!
//! In a distributed run every rank reads only its own part: of `.npy` the elements of its share, of text the words or
//! lines that begin in its share of the bytes. [`npy`] and [`text`] know the formats; here is what they have in common.
//! What is read counts against the limit of the engine as it comes in; of numbers no more is in memory at a time than a
//! window of the file.

pub mod npy;
pub mod text;

use crate::data::hold::Hold;
use crate::engine::interrupt::Interrupt;
use crate::io::import::Piece;
use nesl_prim::host::Share;
use nesl_prim::{Failure, ScalarType};
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
        InputError::new(format!("cannot read {}: {error}", path.display()))
    }
}

/// What a file is to become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    /// `[char]`: the bytes.
    Bytes,
    /// `[[char]]`: the lines.
    Lines,
    /// `[int]`, `[float]`, `[bool]`.
    Flat(ScalarType),
    /// `[[int]]`, `[[float]]`, `[[bool]]`.
    Rows(ScalarType),
}

impl Target {
    fn of(shape: &Shape) -> Option<Target> {
        let Shape::Sequence(element) = shape else { return None };
        match &**element {
            Shape::Scalar(ScalarType::Char) => Some(Target::Bytes),
            Shape::Scalar(scalar) => Some(Target::Flat(*scalar)),
            Shape::Sequence(inner) => match **inner {
                Shape::Scalar(ScalarType::Char) => Some(Target::Lines),
                Shape::Scalar(scalar) => Some(Target::Rows(scalar)),
                _ => None,
            },
            Shape::Unit | Shape::Pair(..) | Shape::Record(..) | Shape::Function(_) => None,
        }
    }
}

/// Whether a file can give a value of this shape.
pub fn is_readable(shape: &Shape) -> bool {
    Target::of(shape).is_some()
}

/// Bytes that are read at once: a few milliseconds.
const AT_ONCE: u64 = 4 << 20;

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

    /// This process's pieces of the value of this shape in a file.
    ///
    /// # Errors
    /// If the file cannot be read, or holds something else.
    pub fn read(&mut self, path: &Path, shape: &Shape, share: Share<'_>) -> Result<Vec<Piece>, InputError> {
        let Some(target) = Target::of(shape) else {
            return Err(InputError::new("a file holds numbers, truth values or text, one level of rows at most"));
        };
        let mut content = self.open(path, share(2) == (0..2))?;
        let is_npy = content.begins_with(npy::MAGIC)?;
        if !is_npy && path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npy")) {
            return Err(InputError::new(format!("{} is not in the format of NumPy's .npy files", path.display())));
        }
        match target {
            Target::Flat(scalar) if is_npy => npy::read(&mut content, scalar, false, share),
            Target::Rows(scalar) if is_npy => npy::read(&mut content, scalar, true, share),
            Target::Bytes => text::bytes(&mut content, share),
            Target::Lines => text::lines(&mut content, share),
            Target::Flat(scalar) => text::words(&mut content, scalar, share),
            Target::Rows(scalar) => text::rows(&mut content, scalar, share),
        }
    }

    fn open(&mut self, path: &Path, is_alone: bool) -> Result<Content, InputError> {
        let (interrupt, hold) = (self.interrupt.clone(), self.hold.another());
        let content = |storage, length| Content { path: path.to_owned(), storage, length, interrupt, hold };
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
            return Err(InputError::new(format!("cannot read {}: it is a folder", path.display())));
        }
        if !is_alone {
            return Err(InputError::new(format!(
                "{} is not a file: ranks can only share files, which each reads in part",
                path.display()
            )));
        }
        let bytes = self.hold.read(&mut file, u64::MAX, || check(&self.interrupt), failed)?;
        let bytes = Arc::new(bytes);
        self.streams.insert(path.to_owned(), Arc::clone(&bytes));
        let length = bytes.len() as u64;
        Ok(content(Storage::Memory(bytes), length))
    }
}

/// The bytes of a file.
#[derive(Debug)]
struct Content {
    path: PathBuf,
    storage: Storage,
    length: u64,
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
            .map_err(|_| InputError::new(format!("{} is too large for this machine", self.path.display())))?;
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
                bytes.extend_from_slice(all.get(range.start as usize..range.end as usize).unwrap_or(&[]));
            }
            Storage::File(file) => {
                let failed = |error: io::Error| InputError::of(&self.path, &error);
                file.seek(SeekFrom::Start(range.start)).map_err(failed)?;
                let mut rest = file.take(length);
                while rest.by_ref().take(AT_ONCE).read_to_end(bytes).map_err(failed)? > 0 {
                    check(&self.interrupt)?;
                }
            }
        }
        match bytes.len() as u64 == length {
            true => Ok(()),
            false => Err(InputError::new(format!("{} was cut short while it was read", self.path.display()))),
        }
    }

    fn begins_with(&mut self, start: &[u8]) -> Result<bool, InputError> {
        let length = start.len() as u64;
        Ok(self.length >= length && self.read(0..length)? == start)
    }

    /// The file, and what is wrong with it.
    fn error(&self, problem: impl std::fmt::Display) -> InputError {
        InputError::new(format!("{}: {problem}", self.path.display()))
    }
}

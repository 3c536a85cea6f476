//! Open files and pipes, by number: 0 is standard input, 1 standard output, 2 standard error.
//!
//! Standard output is not here: printed text and what is written to it share one buffer, which the system owns.

use super::input::{self, Reader, Source};
use super::message;
use crate::data::hold::Hold;
use crate::engine::interrupt::Interrupt;
use crate::io::files::named;
use nesl_prim::Constants;
use nesl_prim::host::HostError;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Standard input.
pub(super) const STDIN: i64 = 0;
/// Standard output.
pub(super) const STDOUT: i64 = 1;
/// Standard error.
pub(super) const STDERR: i64 = 2;

/// A stream other than the standard ones.
pub(super) enum Stream {
    Reader { reader: Reader, file: Option<File>, origin: Option<Origin> },
    Writer { writer: BufWriter<Box<dyn Write + Send>>, file: Option<File>, origin: Option<Origin> },
}

/// The file that was opened, and how.
pub(super) struct Origin {
    pub path: PathBuf,
    pub mode: i64,
}

/// All open streams but the standard ones.
#[derive(Default)]
pub(super) struct Streams {
    pub(super) open: BTreeMap<i64, Stream>,
    pub(super) last: i64,
    /// The characters of standard input that were read.
    pub(super) read: u64,
    /// Ends what reads a stream.
    pub interrupt: Interrupt,
}

impl Streams {
    /// Opens a file to read (1), to write from its start (2), or to append (3).
    pub fn open(&mut self, path: &Path, mode: i64) -> Result<i64, HostError> {
        let failed = |error: io::Error| message(&format!("cannot open {}", named(path)), &error);
        let file = match mode {
            1 => File::open(path),
            2 => File::create(path),
            3 => OpenOptions::new().append(true).create(true).open(path),
            other => return Err(HostError::Message(format!("there is no mode {other} of opening a file"))),
        };
        let file = file.map_err(failed)?;
        if mode == 1 && file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
            return Err(HostError::Message(format!("cannot open {}: it is a folder", named(path))));
        }
        let opened = self.stream_of(file, path, mode).map_err(failed)?;
        Ok(self.add(opened))
    }

    /// A stream of a file that was opened.
    pub(super) fn stream_of(&self, file: File, path: &Path, mode: i64) -> io::Result<Stream> {
        let own = Box::new(file.try_clone()?);
        let origin = Some(Origin { path: std::path::absolute(path)?, mode });
        let file = Some(file);
        Ok(match mode {
            1 => Stream::Reader { reader: BufReader::new(own), file, origin },
            _ => Stream::Writer { writer: BufWriter::new(own), file, origin },
        })
    }

    /// A stream that reads from a pipe or a file.
    pub fn add_reader(&mut self, source: Box<dyn Source>, file: Option<File>) -> i64 {
        self.add(Stream::Reader { reader: BufReader::new(source), file, origin: None })
    }

    /// A stream that writes to a pipe or a file.
    pub fn add_writer(&mut self, target: Box<dyn Write + Send>, file: Option<File>) -> i64 {
        self.add(Stream::Writer { writer: BufWriter::new(target), file, origin: None })
    }

    fn add(&mut self, stream: Stream) -> i64 {
        // Numbers are not used again: a closed stream is an error, not another stream.
        self.last = (self.last + 1).max(STDERR + 1);
        self.open.insert(self.last, stream);
        self.last
    }

    /// The file behind a stream, for another process; what was written to it so far is in it.
    pub fn file(&mut self, stream: i64) -> Result<File, HostError> {
        let file = match self.open.get_mut(&stream) {
            Some(Stream::Writer { writer, file, .. }) => {
                writer.flush().map_err(|error| message("cannot write", &error))?;
                file.as_ref()
            }
            Some(Stream::Reader { file, .. }) => file.as_ref(),
            None => return Err(not_open(stream)),
        };
        match file.map(File::try_clone) {
            Some(Ok(file)) => Ok(file),
            Some(Err(error)) => Err(message("cannot hand on the stream", &error)),
            None => Err(HostError::Message("only files can be handed on to a command".to_owned())),
        }
    }

    /// Closes a stream, after writing what is buffered.
    pub fn close(&mut self, stream: i64) -> Result<(), HostError> {
        match self.open.remove(&stream) {
            Some(Stream::Writer { mut writer, .. }) => writer.flush().map_err(|error| message("cannot write", &error)),
            Some(Stream::Reader { .. }) => Ok(()),
            None if (STDIN..=STDERR).contains(&stream) => Ok(()),
            None => Err(not_open(stream)),
        }
    }

    /// Reads up to a delimiter, which is consumed; the text, and the code of the delimiter, -1 at the end of the
    /// stream, or -2 after `most` characters, if that is not negative.
    pub fn read(
        &mut self,
        stream: i64,
        delimiters: &[u8],
        most: i64,
        hold: &mut Hold,
    ) -> Result<(Vec<u8>, i64), HostError> {
        // Writers may hold back what a process reads before it answers.
        self.flush()?;
        let mut standard;
        let reader: &mut Reader = match self.open.get_mut(&stream) {
            Some(Stream::Reader { reader, .. }) => reader,
            Some(Stream::Writer { .. }) => {
                return Err(HostError::Message(format!("stream {stream} is open for writing")));
            }
            None if stream == STDIN => {
                standard = input::standard();
                match standard.as_mut() {
                    Some(reader) => reader,
                    None => return Ok((Vec::new(), -1)),
                }
            }
            None => return Err(not_open(stream)),
        };
        let mut text = Vec::new();
        let end = loop {
            self.interrupt.check()?;
            let room = usize::try_from(most).map_or(usize::MAX, |most| most - text.len());
            if room == 0 {
                break -2;
            }
            input::wait(reader, &self.interrupt)?;
            let buffer = match reader.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(message("cannot read", &error)),
            };
            if buffer.is_empty() {
                break -1;
            }
            let part = &buffer[..buffer.len().min(room)];
            match part.iter().position(|byte| delimiters.contains(byte)) {
                Some(position) => {
                    let delimiter = part[position];
                    hold.append(&mut text, &part[..position])?;
                    reader.consume(position + 1);
                    break i64::from(delimiter);
                }
                None => {
                    hold.append(&mut text, part)?;
                    let length = part.len();
                    reader.consume(length);
                }
            }
        };
        if stream == STDIN {
            self.read += text.len() as u64 + u64::from(end >= 0);
        }
        // Without room behind it, it becomes a column as it lies.
        text.shrink_to_fit();
        Ok((text, end))
    }

    /// Writes bytes to a stream other than standard output.
    pub fn write(&mut self, stream: i64, bytes: &[u8]) -> Result<(), HostError> {
        let failed = |error: io::Error| message("cannot write", &error);
        match self.open.get_mut(&stream) {
            Some(Stream::Writer { writer, .. }) => writer.write_all(bytes).map_err(failed),
            Some(Stream::Reader { .. }) => Err(HostError::Message(format!("stream {stream} is open for reading"))),
            None if stream == STDERR => io::stderr().write_all(bytes).map_err(failed),
            None => Err(not_open(stream)),
        }
    }

    fn flush(&mut self) -> Result<(), HostError> {
        for stream in self.open.values_mut() {
            if let Stream::Writer { writer, .. } = stream {
                writer.flush().map_err(|error| message("cannot write", &error))?;
            }
        }
        Ok(())
    }
}

fn not_open(stream: i64) -> HostError {
    HostError::Message(format!("stream {stream} is not open"))
}

/// The bytes of a range of elements in files: characters and truth values as one byte, numbers as eight, the least
/// significant first.
pub(super) fn bytes(elements: &Constants, range: Range<usize>) -> Vec<u8> {
    match elements {
        Constants::Int(values) => values[range].iter().flat_map(|value| value.to_le_bytes()).collect(),
        Constants::Float(values) => values[range].iter().flat_map(|value| value.to_le_bytes()).collect(),
        Constants::Bool(values) => values[range].iter().map(|&value| u8::from(value)).collect(),
        Constants::Char(values) => values[range].to_vec(),
    }
}

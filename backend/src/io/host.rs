//! The world outside of this process: what programs that print, read, write and start others act on.
//!
//! [`System`] is the implementation of [`Host`]. Standard output is buffered and flushed at the end of each step of a
//! program, before it waits for input, and before other programs run, so that what people see is in order. [`streams`]
//! holds open files, `input` is standard input, `processes` starts commands, [`sandbox`] says what may be reached;
//! whole files are read by [`crate::io::files`] and written by `whole`.

pub mod input;
mod objects;
mod pictures;
mod positions;
mod processes;
mod sandbox;
mod streams;
mod whole;

use crate::data::hold::Hold;
use crate::engine::interrupt::Interrupt;
use crate::io::files::{Files, InputError, npy};
use crate::io::import::Piece;
use crate::io::standard::StandardOutput;
use nesl_prim::host::{HostError, HostState, Share};
use nesl_prim::{Constants, Failure, Host, HostOp, HostValue, ScalarType, ScalarValue};
use nesl_vcode::Shape;
pub use processes::end_all as end_commands;
pub use sandbox::Permissions;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use streams::Streams;

/// Where printed text goes.
type Printed = BufWriter<Box<dyn Write + Send>>;

/// Files, standard streams, processes and the clock of this process.
pub struct System {
    printed: Printed,
    /// The last character printed, if there is one.
    last: Option<u8>,
    streams: Streams,
    unfinished: whole::Unfinished,
    started: Instant,
    interrupt: Interrupt,
    /// What counts what comes in.
    hold: Hold,
    permissions: Permissions,
    /// Whoever runs the program may end this process at any time.
    may_end: bool,
}

impl Default for System {
    /// Prints to standard output.
    fn default() -> System {
        System::printing_to(Box::new(StandardOutput::default()))
    }
}

impl System {
    /// Prints to standard output; what comes in counts against the limit of this.
    pub fn within(hold: Hold) -> System {
        System { hold, ..System::default() }
    }

    /// Prints elsewhere.
    pub fn printing_to(target: Box<dyn Write + Send>) -> System {
        System {
            printed: BufWriter::new(target),
            last: None,
            streams: Streams::default(),
            unfinished: whole::Unfinished::default(),
            started: Instant::now(),
            interrupt: Interrupt::default(),
            hold: Hold::default(),
            permissions: Permissions::All,
            may_end: false,
        }
    }

    /// The same world with less in it.
    #[must_use]
    pub fn with_permissions(self, permissions: Permissions) -> System {
        System { permissions, ..self }
    }

    /// The same world for a process that may be ended at any time: what is printed arrives at once, and commands end
    /// when [`end_commands`] says so, with what they have started.
    #[must_use]
    pub fn that_may_end(self) -> System {
        System { may_end: true, ..self }
    }

    /// Writes bytes to standard output.
    fn print(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.last = bytes.last().copied().or(self.last);
        self.printed.write_all(bytes).map_err(|error| lost(&error))?;
        if self.may_end { self.flush() } else { Ok(()) }
    }

    /// Writes bytes to a stream.
    fn write(&mut self, stream: &HostValue, bytes: &[u8]) -> Result<Vec<HostValue>, HostError> {
        match stream.as_int() {
            streams::STDOUT => self.print(bytes)?,
            stream => self.streams.write(stream, bytes)?,
        }
        Ok(Vec::new())
    }

    /// The elements of a whole file, and before them the lengths of its rows if it is to have rows.
    fn read(
        &mut self,
        name: &[u8],
        scalar: ScalarType,
        rows: bool,
        share: Share<'_>,
    ) -> Result<Vec<HostValue>, HostError> {
        let elements = Shape::Sequence(Box::new(Shape::Scalar(scalar)));
        let shape = if rows { Shape::Sequence(Box::new(elements)) } else { elements };
        let mut files = Files::under(self.interrupt.clone(), self.hold.another());
        let pieces = files.read(&self.permissions.place(name), &shape, share);
        self.interrupt.check()?;
        Ok(pieces
            .map_err(unread)?
            .into_iter()
            .map(|piece| match piece {
                Piece::Scalar(value) => HostValue::Scalar(value),
                Piece::Lengths(lengths) => HostValue::Column(Constants::Int(lengths)),
                Piece::Elements(elements) => HostValue::Column(elements),
            })
            .collect())
    }
}

impl Host for System {
    fn perform(&mut self, op: HostOp, operands: &[HostValue], share: Share<'_>) -> Result<Vec<HostValue>, HostError> {
        self.permissions.check(op, operands)?;
        match op {
            HostOp::Print => {
                self.print(operands[0].as_text())?;
                Ok(Vec::new())
            }
            HostOp::Fail | HostOp::Exit => unreachable!("the machine ends the program itself"),
            HostOp::Clock => Ok(vec![HostValue::Scalar(ScalarValue::Float(self.started.elapsed().as_secs_f64()))]),
            HostOp::Environment => {
                let value = std::env::var_os(os_string(operands[0].as_text()));
                let is_set = HostValue::Scalar(ScalarValue::Bool(value.is_some()));
                let text = value.map_or_else(Vec::new, std::ffi::OsString::into_encoded_bytes);
                Ok(vec![HostValue::text(text), is_set])
            }
            HostOp::Open => {
                let place = self.permissions.place(operands[0].as_text());
                let stream = self.streams.open(&place, operands[1].as_int())?;
                Ok(vec![HostValue::int(stream)])
            }
            HostOp::Close => {
                self.streams.close(operands[0].as_int())?;
                Ok(Vec::new())
            }
            HostOp::Read => {
                self.flush()?;
                let (stream, delimiters, most) = (operands[0].as_int(), operands[1].as_text(), operands[2].as_int());
                let (text, status) = self.streams.read(stream, delimiters, most, &mut self.hold.another())?;
                if operands[0].as_int() == streams::STDIN && io::stdin().is_terminal() {
                    // Whoever answers at a terminal ends the line that asked.
                    self.last = None;
                }
                Ok(vec![HostValue::text(text), HostValue::int(status)])
            }
            HostOp::Write(_) => {
                let elements = operands[1].as_column();
                self.write(&operands[0], &streams::bytes(elements, 0..elements.len()))
            }
            HostOp::NpyHeader(scalar) => Ok(vec![HostValue::text(npy::header(scalar, operands[1].as_text()))]),
            HostOp::BeginFile => {
                let part = self.unfinished.begin(&path(operands[0].as_text()))?;
                let name = part.map_or_else(Vec::new, |part| part.into_os_string().into_encoded_bytes());
                Ok(vec![HostValue::text(name)])
            }
            HostOp::WritePart(_) => {
                let elements = operands[2].as_column();
                let before = share(elements.len()).start;
                let (part, skip) = (path(operands[0].as_text()), operands[1].as_int());
                whole::write_part(&part, skip, before, elements, &self.interrupt)?;
                Ok(Vec::new())
            }
            HostOp::EndFile => {
                let is_whole = operands[2] == HostValue::Scalar(ScalarValue::Bool(true));
                self.unfinished.end(&path(operands[0].as_text()), &path(operands[1].as_text()), is_whole)?;
                Ok(Vec::new())
            }
            HostOp::ReadSequence(scalar) => self.read(operands[0].as_text(), scalar, false, share),
            HostOp::ReadRows(scalar) => self.read(operands[0].as_text(), scalar, true, share),
            HostOp::Picture => Ok(vec![HostValue::text(pictures::draw(operands, self.hold.another())?)]),
            HostOp::ReadArray(scalar) => {
                let mut files = Files::under(self.interrupt.clone(), self.hold.another());
                let array = files.read_array(&self.permissions.place(operands[0].as_text()), scalar, share);
                self.interrupt.check()?;
                let (shape, elements) = array.map_err(unread)?;
                let shape = shape[share(shape.len())].iter().map(|&length| length as i64).collect();
                Ok(vec![HostValue::Column(Constants::Int(shape)), HostValue::Column(elements)])
            }
            HostOp::WriteVector(_) => {
                let elements = operands[1].as_column();
                let text = objects::vector(elements, &self.interrupt)?;
                self.write(&operands[0], &text)
            }
            HostOp::WriteLengths => {
                let lengths = operands[1].as_column();
                let text = objects::lengths(lengths, &self.interrupt)?;
                self.write(&operands[0], &text)
            }
            HostOp::ReadVector(scalar) => {
                let vector =
                    objects::read_vector(&mut self.streams, operands[0].as_int(), scalar, &mut self.hold.another())?;
                Ok(vec![HostValue::Column(vector)])
            }
            HostOp::ReadLengths => {
                let lengths = objects::read_lengths(&mut self.streams, operands[0].as_int(), &mut self.hold.another())?;
                Ok(vec![HostValue::Column(lengths)])
            }
            HostOp::Run => {
                self.flush()?;
                let (command, input) = (operands[0].as_text(), operands[1].as_text());
                let mut hold = self.hold.another();
                let output = processes::run(command, input, self.may_end, (&self.interrupt, &mut hold))?;
                Ok(vec![HostValue::text(output)])
            }
            HostOp::Spawn => {
                self.flush()?;
                let own = [&operands[1], &operands[2], &operands[3]].map(HostValue::as_int);
                let streams = processes::spawn(&mut self.streams, operands[0].as_text(), own, self.may_end)?;
                Ok(streams.into_iter().map(HostValue::int).collect())
            }
        }
    }

    fn interrupt_on(&mut self, flag: Arc<AtomicBool>) {
        self.interrupt = Interrupt::on(flag);
        self.streams.interrupt = self.interrupt.clone();
    }

    fn flush(&mut self) -> Result<(), Failure> {
        self.printed.flush().map_err(|error| lost(&error))
    }

    fn end_line(&mut self) -> Result<(), Failure> {
        if self.last.take().is_some_and(|last| last != b'\n') {
            self.print(b"\n")?;
        }
        self.flush()
    }

    fn state(&mut self) -> Result<HostState, String> {
        if !self.unfinished.is_empty() {
            return Err("a file is half written".to_owned());
        }
        self.flush().map_err(|failure| failure.to_string())?;
        let mut state = self.streams.state()?;
        (state.clock, state.last) = (self.started.elapsed().as_secs_f64(), self.last);
        Ok(state)
    }

    fn restore(&mut self, state: &HostState) -> Result<(), String> {
        let clock = Duration::try_from_secs_f64(state.clock).unwrap_or_default();
        self.started = Instant::now().checked_sub(clock).unwrap_or(self.started);
        self.last = state.last;
        self.streams.restore(state)
    }
}

/// A file was not read.
fn unread(error: InputError) -> HostError {
    match error.failure {
        Some(failure) => HostError::Failure(failure),
        None => HostError::Message(error.message),
    }
}

/// Printed text did not arrive. What is left of it is given up: it must not be tried again at the end.
fn lost(error: &io::Error) -> Failure {
    Failure::OutputLost { message: error.to_string(), closed: error.kind() == ErrorKind::BrokenPipe }
}

/// An error that the program learns of.
fn message(what: &str, error: &io::Error) -> HostError {
    HostError::Message(format!("{what}: {error}"))
}

fn os_string(bytes: &[u8]) -> std::ffi::OsString {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) => String::from_utf8_lossy(bytes).into_owned().into(),
    }
}

fn path(bytes: &[u8]) -> PathBuf {
    os_string(bytes).into()
}

#[cfg(test)]
mod tests;

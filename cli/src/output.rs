//! Standard output: answers only, buffered, and with every error noticed.
//!
//! In a distributed run rank 0 prints. All ranks fetch the values together and hear of errors together.

use crate::stop::Stop;
use clap::error::ContextValue;
use nesl_backend::io::print::{PrintError, print as print_value};
use nesl_backend::io::standard::{self, StandardOutput};
use nesl_backend::{Engine, Value};
use nesl_prim::{Failure, visible};
use std::ffi::OsString;
use std::io::{self, BufWriter, ErrorKind, Write};

/// What begins a word for the process that has started this one, among what is printed: the character that separates
/// records.
pub(crate) const MARK: char = '\u{1e}';

/// Where answers go.
pub struct Output {
    /// Nothing on ranks other than 0.
    target: Option<BufWriter<StandardOutput>>,
}

impl Output {
    /// The output of this process, which runs the program on an engine.
    pub fn of<E: Engine>(engine: &E) -> Output {
        let (rank, _) = engine.rank();
        Output { target: (rank == 0).then(|| BufWriter::with_capacity(1 << 16, StandardOutput::default())) }
    }

    /// Prints a value on a line of its own.
    ///
    /// # Errors
    /// If the engine cannot fetch the value, or it cannot be written; the same on all ranks.
    pub fn line<E: Engine>(&mut self, engine: &mut E, value: &Value<E>) -> Result<(), Stop> {
        let mut nowhere = io::sink();
        let target: &mut dyn Write = match &mut self.target {
            Some(target) => target,
            None => &mut nowhere,
        };
        let printed = print_value(engine, value, None, &mut Unflushed(target));
        let ended = match printed {
            Ok(()) => {
                engine.agree(target.write_all(b"\n").and_then(|()| target.flush()).map_err(|error| write_error(&error)))
            }
            Err(error) => Err(print_error(&error)),
        };
        if ended.is_err() {
            self.abandon();
        }
        ended
    }

    /// Prints a text that is no value.
    ///
    /// # Errors
    /// If it cannot be written; the same on all ranks.
    pub fn text<E: Engine>(&mut self, engine: &mut E, text: &str) -> Result<(), Stop> {
        let written = self.target.as_mut().map_or(Ok(()), |target| target.write_all(text.as_bytes()));
        if let Err(stop) = engine.agree(written.map_err(|error| write_error(&error))) {
            self.abandon();
            return Err(stop);
        }
        self.flush(engine)
    }

    /// Writes out what is buffered.
    ///
    /// # Errors
    /// If it cannot be written; the same on all ranks.
    pub fn flush<E: Engine>(&mut self, engine: &mut E) -> Result<(), Stop> {
        let flushed = self.target.as_mut().map_or(Ok(()), Write::flush).map_err(|error| write_error(&error));
        let agreed = engine.agree(flushed);
        if agreed.is_err() {
            self.abandon();
        }
        agreed
    }

    /// Forgets what could not be written: it must not be tried again when the writer is dropped.
    fn abandon(&mut self) {
        if let Some(target) = self.target.take() {
            drop(target.into_parts());
        }
    }
}

/// A value whose line has not ended: it is written out with its end, so that lines of programs that share an output do
/// not meet inside of one.
struct Unflushed<'a>(&'a mut dyn Write);

impl Write for Unflushed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The end of a command that cannot print a value.
pub fn print_error(error: &PrintError) -> Stop {
    match error {
        PrintError::Write(error) => write_error(error),
        PrintError::Failure(Failure::Interrupted) => Stop::interrupted(),
        PrintError::Failure(failure) => Stop::failed(format!("error: cannot print the value: {failure}")),
    }
}

/// The end of a command that cannot write its output.
pub fn write_error(error: &io::Error) -> Stop {
    match error.kind() {
        ErrorKind::BrokenPipe => Stop::quietly(),
        _ => Stop::failed(format!("error: cannot write the output: {error}")),
    }
}

/// Prints a text that is ready: for commands that run no program.
///
/// # Errors
/// If it could not be written.
pub fn print(text: &str) -> Result<(), Stop> {
    let mut target = StandardOutput::default();
    target.write_all(text.as_bytes()).and_then(|()| target.flush()).map_err(|error| write_error(&error))
}

/// Prints a text as long as nobody wants it to end; whether that is all of it.
///
/// # Errors
/// If it could not be written.
pub fn print_unless(text: &str, is_over: impl Fn() -> bool) -> Result<bool, Stop> {
    /// Few enough that a terminal has them soon.
    const AT_ONCE: usize = 1 << 14;
    let mut target = StandardOutput::default();
    for (number, part) in text.as_bytes().chunks(AT_ONCE).enumerate() {
        let is_cut = number > 0 && is_over();
        let part = if is_cut { b"\n" } else { part };
        target.write_all(part).and_then(|()| target.flush()).map_err(|error| write_error(&error))?;
        if is_cut {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The end of a command line that asks for help or the version, or that is wrong: says what there is to say.
pub fn answer(error: clap::Error) -> Stop {
    let error = shown_safely(error);
    if error.use_stderr() {
        let code = u8::try_from(error.exit_code()).unwrap_or(2);
        // The options of a command line that is wrong are nowhere but in its words.
        if is_for_programs(std::env::args_os()) {
            return Stop::with_code(code, error.render().to_string()).in_objects();
        }
        // Without a standard error there is nobody to tell.
        let _ = error.print();
        return Stop::with_code(code, "");
    }
    match standard::check().and_then(|()| error.print()).and_then(|()| io::stdout().flush()) {
        Ok(()) => Stop::quietly(),
        Err(error) => write_error(&error),
    }
}

/// Whether words ask for messages that programs read.
fn is_for_programs(words: impl Iterator<Item = OsString>) -> bool {
    let words: Vec<OsString> = words.take_while(|word| word != "--").collect();
    let apart = words.windows(2).any(|pair| pair[0] == "--message-format" && pair[1] == "json");
    apart || words.iter().any(|word| word == "--message-format=json")
}

/// What is wrong with a command line, with the words that it quotes as a terminal may see them.
fn shown_safely(mut error: clap::Error) -> clap::Error {
    let safe = |text: &str| visible::message(text).into_owned();
    let quoted: Vec<_> = (error.context())
        .filter_map(|(kind, value)| match value {
            ContextValue::String(text) => Some((kind, ContextValue::String(safe(text)))),
            ContextValue::Strings(texts) => {
                Some((kind, ContextValue::Strings(texts.iter().map(|text| safe(text)).collect())))
            }
            _ => None,
        })
        .collect();
    for (kind, value) in quoted {
        error.insert(kind, value);
    }
    error
}

/// Prints what a command says beside its answers on standard error. Without one there is nobody to tell.
pub fn remark(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

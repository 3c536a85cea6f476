//! Text on its way out: buffered, and with one opinion of all ranks on whether it arrives.
//!
//! All ranks make the same text, so their buffers are full at the same moments; only rank 0's output can fail. Its
//! error is kept until ranks next meet, and then every rank has it.

use super::PrintError;
use crate::engine::Engine;
use nesl_prim::{ScalarValue, text};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::io;

/// Bytes that are written at once.
const FULL: usize = 65_536;

/// Text on its way out.
pub(super) struct Sink<'a> {
    out: &'a mut dyn io::Write,
    text: String,
    /// Text was written since ranks last agreed.
    written: bool,
    /// What this rank's output said.
    error: Option<io::Error>,
}

/// An [`io::Error`] that can be sent.
#[derive(Clone, Serialize, Deserialize)]
struct SentError {
    code: Option<i32>,
    text: String,
}

impl<'a> Sink<'a> {
    pub fn new(out: &'a mut dyn io::Write) -> Sink<'a> {
        Sink { out, text: String::with_capacity(FULL + FULL / 4), written: false, error: None }
    }

    /// Adds text as it is.
    pub fn text(&mut self, text: &str) {
        self.text.push_str(text);
        if self.text.len() >= FULL {
            self.write();
        }
    }

    /// Adds a scalar as NESL writes it.
    pub fn scalar(&mut self, value: ScalarValue) {
        match value {
            // The most frequent, without a string of its own. Writing to a string does not fail.
            ScalarValue::Int(value) => _ = write!(self.text, "{value}"),
            other => self.text.push_str(&text::scalar(other)),
        }
        if self.text.len() >= FULL {
            self.write();
        }
    }

    /// Adds characters as they stand between the quotes of a string.
    pub fn string(&mut self, bytes: &[u8]) {
        let quoted = text::string(bytes);
        self.text(&quoted[1..quoted.len() - 1]);
    }

    /// Writes the buffer, or throws it away if writing has failed before.
    fn write(&mut self) {
        if self.error.is_none()
            && let Err(error) = self.out.write_all(self.text.as_bytes())
        {
            self.error = Some(error);
        }
        self.text.clear();
        self.written = true;
    }

    /// Ends the printing on all ranks if what was written did not arrive.
    pub fn agree<E: Engine>(&mut self, engine: &mut E) -> Result<(), PrintError> {
        if !std::mem::take(&mut self.written) {
            return Ok(());
        }
        let outcome = match &self.error {
            None => Ok(()),
            Some(error) => Err(SentError { code: error.raw_os_error(), text: error.to_string() }),
        };
        engine.agree(outcome).map_err(|sent| {
            PrintError::Write(match (self.error.take(), sent.code) {
                (Some(own), _) => own,
                (None, Some(code)) => io::Error::from_raw_os_error(code),
                (None, None) => io::Error::other(sent.text),
            })
        })
    }

    /// Writes the rest.
    pub fn finish<E: Engine>(mut self, engine: &mut E) -> Result<(), PrintError> {
        self.write();
        if self.error.is_none() {
            self.error = self.out.flush().err();
        }
        self.agree(engine)
    }
}

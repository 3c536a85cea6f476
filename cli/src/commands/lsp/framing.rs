//! Messages from bytes: `Content-Length: n`, an empty line, and n bytes of JSON.

use super::incoming::Incoming;
use lsp_server::{ErrorCode, Message};
use std::io::{BufRead, Error, ErrorKind, Read, Result};
use std::sync::mpsc::Sender;

/// No message is longer; one that says so is not waited for.
const LONGEST: usize = 256 << 20;

/// Reads messages until there are no more.
pub fn read(input: &mut impl BufRead, to: &Sender<Incoming>) {
    loop {
        let incoming = match body(input) {
            Ok(Some(body)) => message(&body),
            Ok(None) => Incoming::End,
            Err(error) => Incoming::Broken(error.to_string()),
        };
        let is_last = matches!(incoming, Incoming::End | Incoming::Broken(_));
        if to.send(incoming).is_err() || is_last {
            return;
        }
    }
}

/// The bytes of the next message.
fn body(input: &mut impl BufRead) -> Result<Option<Vec<u8>>> {
    let wrong = |problem: String| Error::new(ErrorKind::InvalidData, problem);
    let mut length: Option<usize> = None;
    let mut is_first = true;
    loop {
        let mut line = Vec::new();
        // A line without an end is no header.
        input.by_ref().take(1 << 12).read_until(b'\n', &mut line)?;
        if line.is_empty() && is_first {
            return Ok(None);
        }
        is_first = false;
        let line = String::from_utf8_lossy(&line);
        let Some(line) = line.strip_suffix('\n') else { return Err(wrong(format!("no header: {line:?}"))) };
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').ok_or_else(|| wrong(format!("no header: {line:?}")))?;
        if name.trim().eq_ignore_ascii_case("Content-Length") {
            let value = value.trim().parse().ok().filter(|length| *length <= LONGEST);
            length = Some(value.ok_or_else(|| wrong(format!("no length of a message: {line:?}")))?);
        }
    }
    let length = length.ok_or_else(|| wrong("a message without Content-Length".to_owned()))?;
    let mut body = Vec::new();
    if input.take(length as u64).read_to_end(&mut body)? < length {
        return Err(wrong("the input ends inside of a message".to_owned()));
    }
    Ok(Some(body))
}

fn message(body: &[u8]) -> Incoming {
    let wrong = |problem: &str| Incoming::Malformed(ErrorCode::InvalidRequest, problem.to_owned());
    match serde_json::from_slice::<serde_json::Value>(body) {
        Err(error) => Incoming::Malformed(ErrorCode::ParseError, format!("this is no JSON: {error}")),
        Ok(value) => {
            // Whoever gives a request a number wants an answer, whatever the number is.
            let has_number = value.get("id").is_some();
            match serde_json::from_value(value) {
                Ok(Message::Notification(_)) if has_number => wrong("the number of a request is an int or a string"),
                Ok(message) => Incoming::Message(message),
                Err(_) => wrong("this is neither a request nor a response nor a notification"),
            }
        }
    }
}

//! The vectors of values in files, in the text format of CMU NESL's objects.
//!
//! ```text
//! ( 1 2 3 )    ints; floats as the shortest text that reads back; bools as T and F
//! [ 2 1 ]      lengths of segments
//! ( 3 )
//! abc          characters: how many, a newline, and themselves; nothing after them
//! ```

use super::streams::Streams;
use crate::interrupt::Interrupt;
use nesl_prim::host::HostError;
use nesl_prim::{Constants, Failure, ScalarType, ScalarValue, text};

/// The text of a vector.
pub(super) fn vector(elements: &Constants, interrupt: &Interrupt) -> Result<Vec<u8>, Failure> {
    let word = |index| match elements {
        Constants::Bool(flags) => if flags[index] { "T" } else { "F" }.to_owned(),
        _ => text::scalar(elements.get(index)),
    };
    match elements {
        Constants::Char(bytes) => Ok([format!("( {} )\n", bytes.len()).as_bytes(), bytes].concat()),
        _ => listed("(", (0..elements.len()).map(word), ")", interrupt),
    }
}

/// The text of lengths.
pub(super) fn lengths(lengths: &Constants, interrupt: &Interrupt) -> Result<Vec<u8>, Failure> {
    listed("[", (0..lengths.len()).map(|index| text::scalar(lengths.get(index))), "]", interrupt)
}

fn listed(
    open: &str,
    words: impl Iterator<Item = String>,
    close: &str,
    interrupt: &Interrupt,
) -> Result<Vec<u8>, Failure> {
    let mut line = open.to_owned();
    for word in words {
        interrupt.check()?;
        line.push(' ');
        line.push_str(&word);
    }
    line.push(' ');
    line.push_str(close);
    line.push('\n');
    Ok(line.into_bytes())
}

/// Reads a vector of this type.
pub(super) fn read_vector(streams: &mut Streams, stream: i64, scalar: ScalarType) -> Result<Constants, HostError> {
    if scalar != ScalarType::Char {
        let words = words(streams, stream, b'(', b')')?;
        let interrupt = streams.interrupt.clone();
        let value = |word: &String| interrupt.check().map_err(HostError::from).and_then(|()| element(word, scalar));
        let values = words.iter().map(value).collect::<Result<Vec<_>, HostError>>()?;
        return Ok(Constants::from_scalars(scalar, &values));
    }
    let counted = words(streams, stream, b'(', b')')?;
    let [count] = counted.as_slice() else { return Err(wrong("the number of characters is missing")) };
    let count = count.parse::<i64>().ok().filter(|&count| count >= 0);
    let count = count.ok_or_else(|| wrong("the number of characters is wrong"))?;
    // What ends the line of the number is not of the text.
    let (rest, _) = streams.read(stream, b"\n", -1)?;
    if !rest.is_empty() {
        return Err(wrong("characters begin on a line of their own"));
    }
    let (bytes, _) = streams.read(stream, b"", count)?;
    match bytes.len() as i64 == count {
        true => Ok(Constants::Char(bytes)),
        false => Err(wrong("it ends within the characters")),
    }
}

/// Reads lengths, none negative.
pub(super) fn read_lengths(streams: &mut Streams, stream: i64) -> Result<Constants, HostError> {
    let words = words(streams, stream, b'[', b']')?;
    let lengths = words.iter().map(|word| word.parse::<i64>().ok().filter(|&length| length >= 0));
    let lengths: Option<Vec<i64>> = lengths.collect();
    lengths.map(Constants::Int).ok_or_else(|| wrong("a length is wrong"))
}

/// The words between two brackets.
fn words(streams: &mut Streams, stream: i64, open: u8, close: u8) -> Result<Vec<String>, HostError> {
    let (text, status) = streams.read(stream, &[close], -1)?;
    let text = String::from_utf8_lossy(&text);
    let (open, close) = (char::from(open), char::from(close));
    if status < 0 && text.trim().is_empty() {
        return Err(wrong("it ends where a vector should be"));
    }
    match text.trim_start().strip_prefix(open) {
        Some(inside) if status >= 0 => Ok(inside.split_whitespace().map(str::to_owned).collect()),
        _ => Err(wrong(&format!("expected a vector between `{open}` and `{close}`"))),
    }
}

fn element(word: &str, scalar: ScalarType) -> Result<ScalarValue, HostError> {
    let value = match scalar {
        ScalarType::Int => word.parse().ok().map(ScalarValue::Int),
        ScalarType::Float => word.parse().ok().map(ScalarValue::Float),
        ScalarType::Bool | ScalarType::Char => match word {
            "T" | "t" => Some(ScalarValue::Bool(true)),
            "F" | "f" => Some(ScalarValue::Bool(false)),
            _ => None,
        },
    };
    value.ok_or_else(|| wrong(&format!("`{word}` is no {scalar}")))
}

fn wrong(problem: &str) -> HostError {
    HostError::Message(format!("this is not an object of the type wanted: {problem}"))
}

//! The vectors of values in files, in the text format of CMU NESL's objects.
//!
//! ```text
//! ( 1 2 3 )    ints; floats as the shortest text that reads back; bools as T and F
//! [ 2 1 ]      lengths of segments
//! ( 3 )
//! abc          characters: how many, a newline, and themselves; nothing after them
//! ```

use super::streams::Streams;
use crate::data::hold::Hold;
use crate::engine::interrupt::Interrupt;
use nesl_prim::host::HostError;
use nesl_prim::{Constants, Element, Failure, ScalarType, ScalarValue, text};

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
pub(super) fn read_vector(
    streams: &mut Streams,
    stream: i64,
    scalar: ScalarType,
    hold: &mut Hold,
) -> Result<Constants, HostError> {
    let interrupt = streams.interrupt.clone();
    match scalar {
        ScalarType::Int => {
            read_words(streams, stream, b'(', b')', hold, |word| element(word, scalar, &interrupt)).map(Constants::Int)
        }
        ScalarType::Float => read_words(streams, stream, b'(', b')', hold, |word| element(word, scalar, &interrupt))
            .map(Constants::Float),
        ScalarType::Bool => {
            read_words(streams, stream, b'(', b')', hold, |word| element(word, scalar, &interrupt)).map(Constants::Bool)
        }
        ScalarType::Char => read_characters(streams, stream, hold).map(Constants::Char),
    }
}

fn read_characters(streams: &mut Streams, stream: i64, hold: &mut Hold) -> Result<Vec<u8>, HostError> {
    let count = |word: &str| word.parse::<i64>().ok().filter(|&count| count >= 0);
    let count = |word: &str| count(word).ok_or_else(|| wrong("the number of characters is wrong"));
    let counted = read_words(streams, stream, b'(', b')', hold, count)?;
    let [count] = counted[..] else { return Err(wrong("the number of characters is missing")) };
    // What ends the line of the number is not of the text.
    let (rest, _) = streams.read(stream, b"\n", -1, hold)?;
    if !rest.is_empty() {
        return Err(wrong("characters begin on a line of their own"));
    }
    let (bytes, _) = streams.read(stream, b"", count, hold)?;
    match bytes.len() as i64 == count {
        true => Ok(bytes),
        false => Err(wrong("it ends within the characters")),
    }
}

/// Reads lengths, none negative.
pub(super) fn read_lengths(streams: &mut Streams, stream: i64, hold: &mut Hold) -> Result<Constants, HostError> {
    let length = |word: &str| word.parse::<i64>().ok().filter(|&length| length >= 0);
    let length = |word: &str| length(word).ok_or_else(|| wrong("a length is wrong"));
    read_words(streams, stream, b'[', b']', hold, length).map(Constants::Int)
}

/// What the words between two brackets say.
fn read_words<T>(
    streams: &mut Streams,
    stream: i64,
    open: u8,
    close: u8,
    hold: &mut Hold,
    value: impl Fn(&str) -> Result<T, HostError>,
) -> Result<Vec<T>, HostError> {
    let (text, status) = streams.read(stream, &[close], -1, hold)?;
    let (open, close) = (char::from(open), char::from(close));
    let wanted = || wrong(&format!("expected a vector between `{open}` and `{close}`"));
    let text = std::str::from_utf8(&text).map_err(|_| wanted())?;
    if status < 0 && text.trim().is_empty() {
        return Err(wrong("it ends where a vector should be"));
    }
    let inside = text.trim_start().strip_prefix(open).filter(|_| status >= 0);
    let inside = inside.ok_or_else(wanted)?;
    let mut values = Vec::new();
    for word in inside.split_whitespace() {
        hold.push(&mut values, value(word)?)?;
    }
    values.shrink_to_fit();
    Ok(values)
}

fn element<T: Element>(word: &str, scalar: ScalarType, interrupt: &Interrupt) -> Result<T, HostError> {
    interrupt.check()?;
    let value = match scalar {
        ScalarType::Int => word.parse().ok().map(ScalarValue::Int),
        ScalarType::Float => word.parse().ok().map(ScalarValue::Float),
        ScalarType::Bool | ScalarType::Char => match word {
            "T" | "t" => Some(ScalarValue::Bool(true)),
            "F" | "f" => Some(ScalarValue::Bool(false)),
            _ => None,
        },
    };
    value.map(T::from_value).ok_or_else(|| wrong(&format!("`{word}` is no {scalar}")))
}

fn wrong(problem: &str) -> HostError {
    HostError::Message(format!("this is not an object of the type wanted: {problem}"))
}

//! Writes values as NESL prints them.
//!
//! A value streams through windows of its columns (`reader`), so that no process ever holds a whole distributed column.
//! In a distributed run every rank makes the same calls, and all but rank 0 write to [`std::io::sink`]; an error in
//! writing ends the printing on all ranks at the same place (`sink`).

mod entry;
mod reader;
mod sink;

use crate::data::slot::Slot;
use crate::engine::value::{Notation, SlotOf, Value};
use crate::engine::{Engine, Fault};
use nesl_prim::{Element, Failure, ScalarType, ScalarValue};
use nesl_vcode::Shape;
use reader::Reader;
use sink::Sink;
use std::{fmt, io};

/// Why a value was not printed, or not all of it.
#[derive(Debug)]
pub enum PrintError {
    /// The engine could not give the data.
    Failure(Failure),
    /// The output did not take the text.
    Write(io::Error),
}

impl fmt::Display for PrintError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PrintError::Failure(failure) => failure.fmt(formatter),
            PrintError::Write(error) => error.fmt(formatter),
        }
    }
}

impl std::error::Error for PrintError {}

impl From<Fault> for PrintError {
    fn from(fault: Fault) -> PrintError {
        PrintError::Failure(fault.failure)
    }
}

/// With a limit for each sequence, so many times that are shown of a value in all: one with many levels fits a page.
const PAGE: usize = 10;

/// So many characters of a string take as much of a page as a number does.
const CHARACTERS: usize = 8;

/// Writes a value, without a newline. Of each sequence at most `limit` elements are shown, then `, ...]`, or `"...` for
/// a string; and of all of them together [`PAGE`] times as many.
///
/// # Errors
/// Those of the output and of the engine; the same on all ranks.
pub fn print<E: Engine>(
    engine: &mut E,
    value: &Value<E>,
    limit: Option<usize>,
    out: &mut dyn io::Write,
) -> Result<(), PrintError> {
    print_typed(engine, value, limit, &[], out).map(drop)
}

/// Writes a value as [`print`] does, with the types of empty sequences where they are given: `[] float`. The texts
/// stand for the element types of all sequences in the value's shape, outer ones before inner ones, first parts of
/// pairs before rests. Where there is no text, or an empty one, a sequence without elements is just `[]`; without
/// characters it is always `""`. Says whether all of the value was written.
///
/// # Errors
/// Those of the output and of the engine; the same on all ranks.
pub fn print_typed<E: Engine>(
    engine: &mut E,
    value: &Value<E>,
    limit: Option<usize>,
    element_types: &[String],
    out: &mut dyn io::Write,
) -> Result<bool, PrintError> {
    let limit = limit.unwrap_or(usize::MAX);
    let left = limit.saturating_mul(PAGE);
    let mut printer = Printer { engine, sink: Sink::new(out), limit, left, is_whole: true };
    match (value.notation, value.slots.as_slice()) {
        (Notation::Vector, [.., Slot::Column(column)]) => printer.entry(column, ["( ", ")"])?,
        (Notation::Segments, [.., Slot::Column(column)]) => printer.entry(column, ["[ ", "]"])?,
        (_, slots) => {
            let mut root = Node::new(printer.engine, &value.shape, &mut slots.iter(), &mut element_types.iter())?;
            printer.node(&mut root, 0)?;
        }
    }
    printer.sink.finish(printer.engine)?;
    Ok(printer.is_whole)
}

/// A part of a value, with readers of its columns.
enum Node<C> {
    /// The same whatever the index.
    Scalar(ScalarValue),
    /// A scalar for each index.
    Elements(Reader<C>),
    Pair(Box<Node<C>>, Box<Node<C>>),
    /// A sequence, with the type to be written where it has no elements.
    Sequence(Segments<C>, Box<Node<C>>, String),
    /// A sequence of characters.
    Text(Segments<C>, Reader<C>),
    Record(String, Box<Node<C>>),
    Unit,
    Function,
}

/// Where the elements of a sequence are.
enum Segments<C> {
    /// From 0 on.
    One(usize),
    /// Different for each index.
    Each { starts: Reader<C>, lengths: Reader<C> },
}

impl<C: Clone> Node<C> {
    fn new<E: Engine<Column = C>>(
        engine: &mut E,
        shape: &Shape,
        slots: &mut std::slice::Iter<'_, SlotOf<E>>,
        types: &mut std::slice::Iter<'_, String>,
    ) -> Result<Node<C>, Fault> {
        Ok(match shape {
            Shape::Scalar(_) => match slots.next() {
                Some(Slot::Scalar(value)) => Node::Scalar(*value),
                Some(Slot::Column(column)) => Node::Elements(Reader::new(engine, column.clone())),
                _ => misshapen(shape),
            },
            Shape::Unit => Node::Unit,
            Shape::Pair(first, rest) => {
                let first = Node::new(engine, first, slots, types)?;
                Node::Pair(Box::new(first), Box::new(Node::new(engine, rest, slots, types)?))
            }
            Shape::Record(name, payload) => {
                Node::Record(name.clone(), Box::new(Node::new(engine, payload, slots, types)?))
            }
            Shape::Function(captured) => {
                // What a function captured is not shown.
                slots.by_ref().take(captured.as_ref().map_or(0, |captured| captured.width())).for_each(drop);
                Node::Function
            }
            Shape::Sequence(element) => {
                let segments = match slots.next() {
                    Some(Slot::Scalar(ScalarValue::Int(length))) => Segments::One(*length as usize),
                    Some(Slot::Descriptor(descriptor)) => {
                        let (starts, lengths) = (engine.starts(descriptor)?, engine.lengths(descriptor)?);
                        Segments::Each { starts: Reader::new(engine, starts), lengths: Reader::new(engine, lengths) }
                    }
                    _ => misshapen(shape),
                };
                let ty = types.next().cloned().unwrap_or_default();
                match Node::new(engine, element, slots, types)? {
                    Node::Elements(reader) if **element == Shape::Scalar(ScalarType::Char) => {
                        Node::Text(segments, reader)
                    }
                    element => Node::Sequence(segments, Box::new(element), ty),
                }
            }
        })
    }
}

fn misshapen(shape: &Shape) -> ! {
    panic!("the slots of a value are not those of its shape, at {shape:?}")
}

struct Printer<'a, E: Engine> {
    engine: &'a mut E,
    sink: Sink<'a>,
    limit: usize,
    /// How many scalars may still be shown.
    left: usize,
    /// Whether nothing has been left out.
    is_whole: bool,
}

impl<E: Engine> Printer<'_, E> {
    /// Writes the part of a value at an index.
    fn node(&mut self, node: &mut Node<E::Column>, index: usize) -> Result<(), PrintError> {
        match node {
            Node::Scalar(value) => self.scalar(*value),
            Node::Elements(reader) => {
                let value = reader.at(self.engine, &mut self.sink, index)?;
                self.scalar(value);
            }
            Node::Pair(first, rest) => {
                self.sink.text("(");
                self.node(first, index)?;
                // Tuples are pairs nested to the right, and print flat.
                let mut rest = rest.as_mut();
                loop {
                    self.sink.text(", ");
                    let Node::Pair(next, after) = rest else { break };
                    self.node(next, index)?;
                    rest = after;
                }
                self.node(rest, index)?;
                self.sink.text(")");
            }
            Node::Sequence(segments, element, ty) => {
                let (start, length) = self.segment(segments, index)?;
                self.sink.text("[");
                let mut shown = 0;
                while shown < length.min(self.limit) && self.left > 0 {
                    if shown > 0 {
                        self.sink.text(", ");
                    }
                    self.node(element, start + shown)?;
                    shown += 1;
                }
                if shown < length {
                    self.is_whole = false;
                    self.sink.text(if shown == 0 { "..." } else { ", ..." });
                }
                self.sink.text("]");
                if length == 0 && !ty.is_empty() {
                    self.sink.text(" ");
                    self.sink.text(ty);
                }
            }
            Node::Text(segments, reader) => {
                let (start, length) = self.segment(segments, index)?;
                self.characters(reader, start, length)?;
            }
            Node::Record(name, payload) => {
                self.sink.text(name);
                // These bring their own parentheses.
                let bare = !matches!(**payload, Node::Pair(..) | Node::Unit);
                self.sink.text(if bare { "(" } else { "" });
                self.node(payload, index)?;
                self.sink.text(if bare { ")" } else { "" });
            }
            Node::Unit => self.sink.text("()"),
            Node::Function => self.sink.text("fn"),
        }
        Ok(())
    }

    fn scalar(&mut self, value: ScalarValue) {
        self.left = self.left.saturating_sub(1);
        self.sink.scalar(value);
    }

    fn segment(&mut self, segments: &mut Segments<E::Column>, index: usize) -> Result<(usize, usize), PrintError> {
        match segments {
            Segments::One(length) => Ok((0, *length)),
            Segments::Each { starts, lengths } => {
                let start = i64::from_value(starts.at(self.engine, &mut self.sink, index)?);
                let length = i64::from_value(lengths.at(self.engine, &mut self.sink, index)?);
                Ok((start as usize, length as usize))
            }
        }
    }

    /// Writes a string piece by piece. A character of several bytes may lie across pieces: its bytes wait for the rest.
    fn characters(&mut self, reader: &mut Reader<E::Column>, start: usize, length: usize) -> Result<(), PrintError> {
        self.sink.text("\"");
        let shown = length.min(self.limit);
        self.left = self.left.saturating_sub(1 + shown / CHARACTERS);
        self.is_whole &= shown == length;
        let mut waiting = Vec::new();
        let mut done = 0;
        while done < shown {
            let bytes = reader.characters(self.engine, &mut self.sink, start + done, shown - done)?;
            done += bytes.len();
            waiting.extend_from_slice(bytes);
            // A character that the limit cuts is not shown; one that the string itself cuts is, as a replacement.
            let complete = if done < length { complete_characters(&waiting) } else { waiting.len() };
            self.sink.string(&waiting[..complete]);
            waiting.drain(..complete);
        }
        self.sink.text(if shown < length { "\"..." } else { "\"" });
        Ok(())
    }
}

/// How many bytes come before an incomplete character at the end.
fn complete_characters(bytes: &[u8]) -> usize {
    // A character has at most four bytes: an incomplete one begins in the last three.
    for back in 1..=bytes.len().min(3) {
        let first = bytes.len() - back;
        if let Err(error) = std::str::from_utf8(&bytes[first..])
            && error.valid_up_to() == 0
            && error.error_len().is_none()
        {
            return first;
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests;

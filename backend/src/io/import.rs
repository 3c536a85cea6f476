//! How values come in from the host.
//!
//! A [`Value`] is made from [`Piece`]s that each rank holds of its own (columns read from files), or from a [`Literal`]
//! that every rank has in whole (arguments on the command line).

use crate::data::slot::Slot;
use crate::engine::value::{SlotOf, Value};
use crate::engine::{Engine, Fault};
use nesl_prim::{Failure, ScalarValue};
use nesl_vcode::{Constants, Field, Holds, RegisterType, Shape};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Host data for one register of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// A scalar: the same on all ranks.
    Scalar(ScalarValue),
    /// This rank's part of a column.
    Elements(Constants),
    /// This rank's part of the lengths of packed segments.
    Lengths(Vec<i64>),
}

/// Makes a value from the pieces that the ranks hold, in the order of [`Shape::serial`] but without the length of a
/// sequence outside any other: that is how many elements all ranks have of it. Only where elements have no pieces,
/// `[()]`, is there one. A column consists of the elements of rank 0, then those of rank 1, …; the parts may be of any
/// sizes, and the lengths of segments need not be where their elements are.
///
/// # Errors
/// [`Failure::OutOfMemory`].
///
/// # Panics
/// If the pieces do not fit the shape.
pub fn import<E: Engine>(engine: &mut E, shape: &Shape, pieces: Vec<Piece>) -> Result<Value<E>, Fault> {
    let fields = shape.fields();
    let mut slots: Vec<SlotOf<E>> = Vec::with_capacity(fields.len());
    let mut pieces = pieces.into_iter();
    for (position, field) in fields.iter().enumerate() {
        if !has_piece(&fields, position) {
            slots.push(Slot::Scalar(ScalarValue::Int(0)));
            continue;
        }
        let (slot, length) = match (field.serial(), pieces.next()) {
            (RegisterType::Scalar(ty), Some(Piece::Scalar(value))) if value.scalar_type() == ty => {
                (Slot::Scalar(value), 0)
            }
            (RegisterType::Column(ty), Some(Piece::Elements(elements))) if elements.scalar_type() == ty => {
                let column = engine.import(elements)?;
                let length = engine.length(&column);
                (Slot::Column(column), length)
            }
            (RegisterType::Descriptor, Some(Piece::Lengths(lengths))) => {
                let lengths = engine.import(Constants::Int(lengths))?;
                let length = engine.length(&lengths);
                (Slot::Descriptor(engine.descriptor(None, lengths)?), length)
            }
            (register, piece) => panic!("a piece for {register:?} is {piece:?}"),
        };
        slots.push(slot);
        if let Some(parent) = field.parent.filter(|&parent| parent + 1 == position && !has_piece(&fields, parent)) {
            slots[parent] = Slot::Scalar(ScalarValue::Int(length as i64));
        }
    }
    assert!(pieces.next().is_none(), "more pieces than a value of shape {shape:?} has");
    Ok(Value::new(shape.clone(), slots))
}

/// Whether a register has a piece: all but the length of a sequence outside any other, whose elements tell it.
fn has_piece(fields: &[Field], position: usize) -> bool {
    let Field { holds, parent } = fields[position];
    let has_elements = fields.get(position + 1).is_some_and(|next| next.parent == Some(position));
    holds != Holds::Sequences || parent.is_some() || !has_elements
}

/// A value as the host writes it: nested data.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// A scalar.
    Scalar(ScalarValue),
    /// `()`.
    Unit,
    /// A pair.
    Pair(Box<Literal>, Box<Literal>),
    /// A sequence of literals.
    Sequence(Vec<Literal>),
    /// A sequence of scalars, such as a string.
    Constants(Constants),
}

/// Why a literal does not become a value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum LiteralError {
    /// It does not have the shape.
    Mismatch {
        /// What should be there, as NESL writes types.
        expected: String,
        /// What is there, in words.
        found: String,
        /// The positions in sequences that lead there, from the outermost on.
        path: Vec<usize>,
    },
    /// The engine could not hold it.
    Failure(Failure),
}

impl fmt::Display for LiteralError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LiteralError::Mismatch { expected, found, path } => {
                write!(formatter, "expected {expected}, found {found}")?;
                path.iter().enumerate().try_for_each(|(depth, index)| {
                    write!(formatter, "{} {index}", if depth == 0 { " at element" } else { "," })
                })
            }
            LiteralError::Failure(failure) => failure.fmt(formatter),
        }
    }
}

impl std::error::Error for LiteralError {}

/// Makes a value of a shape from a literal that every rank has.
///
/// # Errors
/// Where literal and shape differ, or there is not enough memory.
pub fn from_literal<E: Engine>(engine: &mut E, shape: &Shape, literal: &Literal) -> Result<Value<E>, LiteralError> {
    let mut pieces = start(shape);
    fill(shape, literal, true, &mut pieces, &mut Vec::new())?;
    for piece in &mut pieces {
        match piece {
            Piece::Scalar(_) => {}
            Piece::Lengths(lengths) => keep_share(engine, lengths),
            Piece::Elements(Constants::Int(elements)) => keep_share(engine, elements),
            Piece::Elements(Constants::Float(elements)) => keep_share(engine, elements),
            Piece::Elements(Constants::Bool(elements)) => keep_share(engine, elements),
            Piece::Elements(Constants::Char(elements)) => keep_share(engine, elements),
        }
    }
    import(engine, shape, pieces).map_err(|fault| LiteralError::Failure(fault.failure))
}

fn keep_share<E: Engine, T>(engine: &E, elements: &mut Vec<T>) {
    let share = engine.share(elements.len());
    elements.truncate(share.end);
    elements.drain(..share.start);
}

/// The pieces of a value before its data are known: empty, with any scalar for a scalar.
fn start(shape: &Shape) -> Vec<Piece> {
    let fields = shape.fields();
    let piece = |position: usize| match fields[position].serial() {
        RegisterType::Scalar(_) => Piece::Scalar(ScalarValue::Int(0)),
        RegisterType::Column(scalar) => Piece::Elements(Constants::from_scalars(scalar, &[])),
        RegisterType::Descriptor => Piece::Lengths(Vec::new()),
    };
    (0..fields.len()).filter(|&position| has_piece(&fields, position)).map(piece).collect()
}

/// Adds a literal to the pieces that begin with those of the shape; gives the pieces after them.
fn fill<'a>(
    shape: &Shape,
    literal: &Literal,
    serial: bool,
    pieces: &'a mut [Piece],
    path: &mut Vec<usize>,
) -> Result<&'a mut [Piece], LiteralError> {
    match (shape, literal) {
        (Shape::Record(_, payload), literal) => fill(payload, literal, serial, pieces, path),
        (Shape::Unit, Literal::Unit) => Ok(pieces),
        (Shape::Scalar(scalar_type), Literal::Scalar(value)) if value.scalar_type() == *scalar_type => {
            let (piece, after) = split_first(pieces);
            match piece {
                Piece::Elements(elements) => elements.push(*value),
                scalar => *scalar = Piece::Scalar(*value),
            }
            Ok(after)
        }
        (Shape::Pair(first_shape, rest_shape), Literal::Pair(first, rest)) => {
            let after = fill(first_shape, first, serial, pieces, path)?;
            fill(rest_shape, rest, serial, after, path)
        }
        (Shape::Sequence(element), Literal::Sequence(items)) => {
            let elements = begin_segment(pieces, element, serial, items.len());
            for (index, item) in items.iter().enumerate() {
                path.push(index);
                fill(element, item, false, elements, path)?;
                path.pop();
            }
            Ok(&mut elements[element.width()..])
        }
        (Shape::Sequence(element), Literal::Constants(constants))
            if **element == Shape::Scalar(constants.scalar_type()) =>
        {
            let (piece, after) = split_first(begin_segment(pieces, element, serial, constants.len()));
            if let Piece::Elements(elements) = piece {
                elements.extend(constants);
            }
            Ok(after)
        }
        _ => Err(LiteralError::Mismatch { expected: type_text(shape), found: describe(literal), path: path.clone() }),
    }
}

fn split_first(pieces: &mut [Piece]) -> (&mut Piece, &mut [Piece]) {
    pieces.split_first_mut().unwrap_or_else(|| unreachable!("pieces were made for the shape"))
}

/// Notes the length of a sequence inside another, or of elements without pieces; gives the pieces of its elements.
fn begin_segment<'a>(pieces: &'a mut [Piece], element: &Shape, serial: bool, length: usize) -> &'a mut [Piece] {
    if serial && element.width() > 0 {
        return pieces;
    }
    let (piece, elements) = split_first(pieces);
    match piece {
        Piece::Lengths(lengths) => lengths.push(length as i64),
        only => *only = Piece::Scalar(ScalarValue::Int(length as i64)),
    }
    elements
}

/// A shape as NESL writes types.
fn type_text(shape: &Shape) -> String {
    fn parts(shape: &Shape) -> String {
        match shape {
            Shape::Pair(first, rest) => format!("{}, {}", type_text(first), parts(rest)),
            other => type_text(other),
        }
    }
    match shape {
        Shape::Scalar(scalar_type) => scalar_type.name().to_owned(),
        Shape::Unit => "()".to_owned(),
        Shape::Pair(..) => format!("({})", parts(shape)),
        Shape::Sequence(element) => format!("[{}]", type_text(element)),
        Shape::Record(name, _) => name.clone(),
        Shape::Function(_) => "function".to_owned(),
    }
}

fn describe(literal: &Literal) -> String {
    match literal {
        Literal::Scalar(value) => format!("the {} {}", value.scalar_type(), nesl_prim::text::scalar(*value)),
        Literal::Unit => "()".to_owned(),
        Literal::Pair(..) => "a pair".to_owned(),
        Literal::Sequence(items) => format!("a sequence of length {}", items.len()),
        Literal::Constants(constants) => format!("a [{}] of length {}", constants.scalar_type(), constants.len()),
    }
}

#[cfg(test)]
mod tests;

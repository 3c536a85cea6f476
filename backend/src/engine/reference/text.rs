//! The texts of elements, and back: `text_lengths`, `text`, `parse_float`.

use crate::data::buffer::Meter;
use crate::data::descriptor::Descriptor;
use crate::data::vector::Vector;
use crate::engine::{Fault, Text};
use nesl_prim::{Failure, text};
use std::sync::Arc;

/// Scalars as text, and text as scalars.
pub(super) fn run(meter: &Arc<Meter>, text: Text<'_, Vector, Descriptor>) -> Result<Vector, Fault> {
    match text {
        Text::Lengths(column) => Ok(lengths(meter, column)?),
        Text::Text(column) => Ok(text_of(meter, column)?),
        Text::ParseFloat(column, descriptor) => Ok(parse_float(meter, column, descriptor)?),
    }
}

/// The length of the text of each element.
fn lengths(meter: &Arc<Meter>, column: &Vector) -> Result<Vector, Failure> {
    let mut out = meter.reserve(column.len())?;
    for index in 0..column.len() {
        out.push(text::scalar(column.get(index)).len() as i64);
    }
    Ok(Vector::new(meter, out))
}

/// The texts of all elements one after another.
fn text_of(meter: &Arc<Meter>, column: &Vector) -> Result<Vector, Failure> {
    let mut length = 0;
    for index in 0..column.len() {
        length += text::scalar(column.get(index)).len();
    }
    let mut out: Vec<u8> = meter.reserve(length)?;
    for index in 0..column.len() {
        out.extend_from_slice(text::scalar(column.get(index)).as_bytes());
    }
    Ok(Vector::new(meter, out))
}

/// The float that each segment denotes.
fn parse_float(meter: &Arc<Meter>, column: &Vector, descriptor: &Descriptor) -> Result<Vector, Failure> {
    let chars = column.elements::<u8>();
    let mut out = meter.reserve(descriptor.segments())?;
    for (start, length) in descriptor.iter() {
        out.push(text::parse_float(&chars[start..start + length]));
    }
    Ok(Vector::new(meter, out))
}

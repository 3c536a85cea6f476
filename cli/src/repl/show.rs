//! How a session shows values: cut to what is wanted, matrices in columns where somebody looks at a screen.
//!
//! All ranks call [`write()`] together, and rank 0 keeps what it writes.

use super::matrix::{self, Page};
use nesl_backend::io::print::{PrintError, print_typed};
use nesl_backend::{Engine, Value};
use nesl_frontend::ty::Type;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::io::Write;

/// How a value is to be shown.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Manner<'a> {
    /// Elements of each sequence; none for all.
    pub limit: Option<usize>,
    /// The types of its sequences, for those without elements.
    pub types: Cow<'a, [String]>,
    /// The screen that somebody looks at.
    pub page: Option<Page>,
}

/// As many elements of each sequence are shown on any screen.
const LEAST_SHOWN: usize = 1;

impl Manner<'_> {
    /// How many elements of each sequence to try next where a text does not fit the screen; none where it does, or
    /// where all is wanted.
    pub fn fewer(&self, text: &str) -> Option<usize> {
        let (limit, page) = (self.limit?, self.page?);
        let fits = text.lines().count() > 1 || page.lines_of(text) <= page.lines_for_answers();
        (!fits && limit > LEAST_SHOWN).then(|| (limit * 2 / 3).max(LEAST_SHOWN))
    }
}

/// What was shown of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// All of it.
    Whole,
    /// Not all.
    Part,
    /// A matrix with so many rows and columns.
    Matrix(usize, usize),
}

/// Writes a value.
///
/// # Errors
/// Those of the output and of the engine; the same on all ranks.
pub(super) fn write<E: Engine>(
    engine: &mut E,
    value: &Value<E>,
    manner: &Manner<'_>,
    out: &mut dyn Write,
) -> Result<Extent, PrintError> {
    if let Some(page) = manner.page
        && let Some(lines) = matrix::lines(engine, value, manner.limit, page)?
    {
        // Outputs of sessions are memory, or nothing.
        out.write_all(lines.text.as_bytes()).map_err(PrintError::Write)?;
        return Ok(Extent::Matrix(lines.shape.0, lines.shape.1));
    }
    let is_whole = print_typed(engine, value, manner.limit, &manner.types, out)?;
    Ok(if is_whole { Extent::Whole } else { Extent::Part })
}

/// What stands after `[]` for each sequence in a type, outer ones first, so that an answer reads back as a value of
/// this type. Nothing has to for ints, and nothing could for functions.
pub(super) fn element_types(ty: &Type, out: &mut Vec<String>) {
    match ty {
        Type::Sequence(element) => {
            let text = element.to_string();
            out.push(if **element == Type::INT || text.contains("->") { String::new() } else { text });
            element_types(element, out);
        }
        Type::Pair(first, rest) => {
            element_types(first, out);
            element_types(rest, out);
        }
        Type::Record(..) => {
            if let Some(payload) = ty.payload() {
                element_types(&payload, out);
            }
        }
        Type::Scalar(_) | Type::Unit | Type::Parameter(_) | Type::Function(_) | Type::Identity(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_get_fewer_elements_until_they_fit() {
        let page = Some(Page { columns: 10, lines: 8, before: 4, after: 6 });
        let manner = |limit, page| Manner { limit, types: Cow::Borrowed(&[]), page };
        assert_eq!(manner(Some(100), page).fewer(&"x".repeat(40)), None);
        assert_eq!(manner(Some(100), page).fewer(&"x".repeat(41)), Some(66));
        assert_eq!(manner(Some(4), page).fewer(&"x".repeat(41)), Some(2));
        assert_eq!(manner(Some(100), page).fewer(&"漢".repeat(21)), Some(66));
        assert_eq!(manner(Some(1), page).fewer(&"x".repeat(41)), None);
        assert_eq!(manner(None, page).fewer(&"x".repeat(41)), None);
        assert_eq!(manner(Some(100), None).fewer(&"x".repeat(41)), None);
    }
}

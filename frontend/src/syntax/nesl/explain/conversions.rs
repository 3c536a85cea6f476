//! Hints: what makes a value of one type one of another.

use super::Words;
use super::operands::free_names;
use crate::infer::problem::types::{Operand, Resolved, Writing};
use nesl_prim::{ScalarType, ScalarValue};

/// Longer texts of a program are not repeated in a hint.
const LONGEST_QUOTED: usize = 40;

impl Words<'_> {
    /// The hint for an int and a float that meet.
    pub(super) fn mixing_hint(&self, one: &Operand, other: &Operand) -> Option<String> {
        let int = match (one.ty.scalar()?, other.ty.scalar()?) {
            (ScalarType::Int, ScalarType::Float) => one,
            (ScalarType::Float, ScalarType::Int) => other,
            _ => return None,
        };
        Some(self.float_hint(int))
    }

    /// The hint for an int where a float is needed, or the other way round.
    pub(super) fn conversion_hint(&self, given: &Operand, wanted: &Resolved) -> Option<String> {
        match (&given.ty, wanted) {
            (Resolved::Scalar(ScalarType::Int), Resolved::Scalar(ScalarType::Float)) => Some(self.float_hint(given)),
            (Resolved::Scalar(ScalarType::Float), Resolved::Scalar(ScalarType::Int)) => {
                Some("round, floor, ceil or trunc make an int of a float".to_owned())
            }
            (Resolved::Scalar(ScalarType::Int | ScalarType::Float | ScalarType::Bool), wanted) if wanted.is_text() => {
                let value = self.quote(given.span).unwrap_or("x");
                let bare = value.strip_prefix('(').and_then(|value| value.strip_suffix(')'));
                let is_word = |value: &&str| value.chars().all(char::is_alphanumeric);
                Some(format!("`@` makes text of a value: @{}", bare.filter(is_word).unwrap_or(value)))
            }
            (Resolved::Sequence(_), Resolved::Sequence(_)) => self.elements_hint(given, wanted),
            _ => None,
        }
    }

    /// The hint for an int where a float is needed.
    fn float_hint(&self, int: &Operand) -> String {
        match &int.writing {
            Writing::Literal(ScalarValue::Int(value)) => format!("write {value}.0, or float({value})"),
            // The quotient of ints is cut off already.
            Writing::Quotient(sides) => {
                let [left, right] = sides.map(|(span, value)| match value {
                    Some(value) => format!("{value}.0"),
                    None => format!("float({})", self.quoted(span)),
                });
                format!("`/` of ints is an int: write {left} / {right}")
            }
            _ => match self.quote(int.span) {
                Some(text) if text.starts_with('(') && text.ends_with(')') => format!("write float{text}"),
                Some(text) => format!("write float({text})"),
                None => "convert the int with float(…)".to_owned(),
            },
        }
    }

    /// The hint for a sequence whose elements, at whatever depth, only have to become floats, or text.
    pub(super) fn elements_hint(&self, given: &Operand, wanted: &Resolved) -> Option<String> {
        let (mut inner, mut wanted, mut depth) = (&given.ty, wanted, 0);
        while let (Some(element), Some(wanted_element)) = (inner.element(), wanted.element()) {
            (inner, wanted, depth) = (element, wanted_element, depth + 1);
        }
        let sequence = self.quote(given.span).filter(|text| text.len() <= LONGEST_QUOTED).unwrap_or("v");
        let mut names = free_names([sequence, "float"]);
        let path: Vec<char> = names.by_ref().take(depth).collect();
        let element = path.last().filter(|_| path.len() == depth)?;
        let body = match (inner.scalar()?, wanted.scalar()) {
            (ScalarType::Int, Some(ScalarType::Float)) => format!("float({element})"),
            (ScalarType::Int | ScalarType::Float | ScalarType::Bool, None) if wanted.is_text() => {
                format!("@{element}")
            }
            _ => return None,
        };
        let sources = std::iter::once(sequence.to_owned()).chain(path.iter().map(char::to_string));
        let each = |body: String, (name, from): (&char, String)| format!("{{{body} : {name} in {from}}}");
        let parts: Vec<(&char, String)> = path.iter().zip(sources).collect();
        Some(format!("for all elements write {}", parts.into_iter().rev().fold(body, each)))
    }
}

//! Arguments of programs, from what twins have: pieces in the order of `nesl_backend::io::import`.

use crate::twins::graphs::Rows;
use nesl_backend::Piece;
use nesl_prim::ScalarValue;
use nesl_vcode::Constants;

/// An int.
pub fn int(n: usize) -> Piece {
    Piece::Scalar(ScalarValue::Int(n as i64))
}

/// A sequence of ints.
pub fn ints(elements: &[i64]) -> Vec<Piece> {
    vec![Piece::Elements(Constants::Int(elements.to_vec()))]
}

/// The elements of a sequence of ints.
pub fn indices(elements: impl Iterator<Item = usize>) -> Piece {
    Piece::Elements(Constants::Int(elements.map(|index| index as i64).collect()))
}

/// A sequence of floats.
pub fn floats(elements: &[f64]) -> Vec<Piece> {
    vec![Piece::Elements(Constants::Float(elements.to_vec()))]
}

/// A text.
pub fn chars(text: &[u8]) -> Vec<Piece> {
    vec![Piece::Elements(Constants::Char(text.to_vec()))]
}

/// A sequence of pairs of floats.
pub fn pairs(elements: &[(f64, f64)]) -> Vec<Piece> {
    let (firsts, seconds) = elements.iter().copied().unzip();
    vec![Piece::Elements(Constants::Float(firsts)), Piece::Elements(Constants::Float(seconds))]
}

/// The lengths of rows, which stand before their elements.
pub fn lengths<T>(rows: &Rows<T>) -> Piece {
    Piece::Lengths(rows.offsets.windows(2).map(|ends| (ends[1] - ends[0]) as i64).collect())
}

/// A sequence of sequences of one length, from the elements of all.
pub fn rows(length: usize, elements: Vec<Piece>) -> Vec<Piece> {
    let count = match elements.first() {
        Some(Piece::Elements(elements)) => elements.len() / length.max(1),
        _ => 0,
    };
    let mut pieces = vec![Piece::Lengths(vec![length as i64; count])];
    pieces.extend(elements);
    pieces
}

/// A graph: the neighbours of each vertex.
pub fn graph(graph: &Rows<usize>) -> Vec<Piece> {
    vec![lengths(graph), indices(graph.targets.iter().copied())]
}

/// A sequence of tuples of ints, from a function for each part.
pub fn int_tuples<T>(elements: &[T], parts: &[fn(&T) -> i64]) -> Vec<Piece> {
    parts.iter().map(|part| Piece::Elements(Constants::Int(elements.iter().map(part).collect()))).collect()
}

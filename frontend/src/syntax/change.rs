//! What is different between a text and the one before it, and how what is known of the rest moves with it.

use crate::ast::TopLevel;
use crate::diagnostic::Diagnostic;
use nesl_span::{FileId, Span};
use std::ops::Range;

/// The part of a text in which it differs from the one before.
pub(in crate::syntax) struct Change {
    /// Where it is in the text before.
    pub old: Range<usize>,
    /// How much longer the text is now.
    pub by: isize,
}

impl Change {
    /// The part in which two texts differ.
    pub fn between(old: &str, new: &str) -> Change {
        let same = |pair: &(u8, u8)| pair.0 == pair.1;
        let start = old.bytes().zip(new.bytes()).take_while(same).count();
        let rest = old.len().min(new.len()) - start;
        let end = old.bytes().rev().zip(new.bytes().rev()).take(rest).take_while(same).count();
        Change { old: start..old.len() - end, by: new.len() as isize - old.len() as isize }
    }
}

/// Whether a diagnostic mentions a place in a range, its ends included.
pub(in crate::syntax) fn touches(diagnostic: &Diagnostic, range: &Range<usize>) -> bool {
    let is_near = |span: Span| span.start as usize <= range.end && range.start <= span.end as usize;
    diagnostic.labels.iter().any(|label| is_near(label.span))
}

/// Moves places into another file and along.
pub(in crate::syntax) fn moved(span: &mut Span, file: FileId, by: isize) {
    let along = |offset: u32| (offset as usize).saturating_add_signed(by);
    *span = Span::new(file, along(span.start), along(span.end));
}

/// A form in another place.
pub(in crate::syntax) fn moved_form(mut form: TopLevel, file: FileId, by: isize) -> TopLevel {
    form.for_each_place(&mut |span| moved(span, file, by));
    form
}

/// A diagnostic in another place.
pub(in crate::syntax) fn moved_diagnostic(mut diagnostic: Diagnostic, file: FileId, by: isize) -> Diagnostic {
    diagnostic.labels.iter_mut().for_each(|label| moved(&mut label.span, file, by));
    diagnostic
}

/// Random changes, for the tests of both syntaxes.
#[cfg(test)]
pub(in crate::syntax) mod random {
    fn draw(state: &mut u64) -> usize {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) as usize
    }

    /// The text after some random change: a part is gone, or one of some pieces is put in.
    pub fn changed(text: &str, pieces: &[&str], state: &mut u64) -> String {
        let mut places: Vec<usize> = text.char_indices().map(|(offset, _)| offset).collect();
        places.push(text.len());
        let at = draw(state) % places.len();
        let gone = if draw(state).is_multiple_of(2) { draw(state) % 12 } else { 0 };
        let (start, end) = (places[at], places[(at + gone).min(places.len() - 1)]);
        let piece = if draw(state).is_multiple_of(4) { "" } else { pieces[draw(state) % pieces.len()] };
        [&text[..start], piece, &text[end..]].concat()
    }
}

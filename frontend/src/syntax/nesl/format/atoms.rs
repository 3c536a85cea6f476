//! What a text consists of, tokens and comments, with the lines that its author broke.

use crate::syntax::nesl::token::Token;
use nesl_span::Span;
use std::ops::Range;

/// A token or a comment.
#[derive(Clone, Debug)]
pub(super) struct Atom {
    /// Where it stands in the text.
    pub(super) range: Range<usize>,
    /// The index of the token; of a comment that of the next token.
    pub(super) token: usize,
    pub(super) is_comment: bool,
    /// The lines that end before it: 0, 1, or 2 where a line is blank.
    pub(super) breaks: u8,
}

/// The atoms of a text, in order.
pub(super) struct Atoms {
    pub(super) atoms: Vec<Atom>,
    /// For each token the index of its atom.
    pub(super) of_token: Vec<usize>,
}

impl Atoms {
    pub(super) fn of(text: &str, tokens: &[(Token, Span)], comments: &[Span]) -> Atoms {
        let mut atoms: Vec<Atom> = Vec::with_capacity(tokens.len() + comments.len());
        let mut of_token = Vec::with_capacity(tokens.len());
        let mut comments = comments.iter().peekable();
        let mut end = 0;
        let mut push = |atoms: &mut Vec<Atom>, span: &Span, token, is_comment| {
            let range = span.start as usize..span.end as usize;
            let between = text.get(end..range.start).unwrap_or("");
            let breaks = if atoms.is_empty() { 0 } else { lines_ended(between) };
            end = range.end;
            atoms.push(Atom { range, token, is_comment, breaks });
        };
        for (token, (_, span)) in tokens.iter().enumerate() {
            while let Some(comment) = comments.next_if(|comment| comment.start < span.start) {
                push(&mut atoms, comment, token, true);
            }
            of_token.push(atoms.len());
            push(&mut atoms, span, token, false);
        }
        for comment in comments {
            push(&mut atoms, comment, tokens.len(), true);
        }
        Atoms { atoms, of_token }
    }

    /// The atoms that a line break before a token may stand before: comments in front of the token, and itself.
    pub(super) fn before(&self, token: usize) -> Range<usize> {
        let end = self.of_token.get(token).map_or(self.atoms.len(), |atom| atom + 1);
        let start = token.checked_sub(1).and_then(|before| self.of_token.get(before)).map_or(0, |atom| atom + 1);
        start..end
    }

    /// Whether the line ends anywhere between a token and the one before it.
    pub(super) fn is_broken(&self, token: usize) -> bool {
        self.atoms[self.before(token)].iter().any(|atom| atom.breaks > 0)
    }
}

/// How many lines end in white space, up to two.
fn lines_ended(between: &str) -> u8 {
    let mut ended = 0;
    let mut after_return = false;
    for byte in between.bytes() {
        ended += u8::from((byte == b'\n' && !after_return) || byte == b'\r');
        after_return = byte == b'\r';
        if ended == 2 {
            break;
        }
    }
    ended
}

/// A comment as it is written: its lines end in newlines alone.
pub(super) fn comment(text: &str) -> String {
    text.replace("\r\n", "\n")
}

//! Tokens and comments of V to text.

use super::WIDTH;
use super::structure::{Line, Place};
use crate::syntax::v::lexer::Lexed;
use crate::syntax::v::parser::power;
use crate::syntax::v::token::Token;
use std::ops::Range;

/// A token or a comment.
struct Atom {
    text: String,
    /// The index of the token; of a comment that of the next token.
    token: usize,
    is_comment: bool,
    /// The lines that end before it: 0, 1, or 2 where a line is blank.
    breaks: usize,
}

/// What a text consists of, in order.
pub(super) struct Atoms {
    atoms: Vec<Atom>,
    /// For each token its atom, and those of the comments before it.
    before: Vec<Range<usize>>,
}

/// A token or a comment as it is written: its lines end in newlines alone.
pub(super) fn written(text: &str) -> String {
    text.replace("\r\n", "\n").trim_end().to_owned()
}

impl Atoms {
    pub fn of(text: &str, lexed: &Lexed) -> Atoms {
        let mut spans: Vec<_> = lexed.tokens.iter().map(|(_, span)| (*span, false)).collect();
        spans.extend(lexed.comments.iter().map(|span| (*span, true)));
        spans.sort_by_key(|(span, _)| span.start);
        let mut all = Atoms { atoms: Vec::with_capacity(spans.len()), before: Vec::new() };
        let (mut end, mut start, mut token) = (0, 0, 0);
        for (span, is_comment) in spans {
            let range = span.start as usize..span.end as usize;
            let between = text.get(end..range.start).unwrap_or("");
            let breaks = if all.atoms.is_empty() { 0 } else { between.matches('\n').count().min(2) };
            end = range.end;
            all.atoms.push(Atom { text: written(text.get(range).unwrap_or("")), token, is_comment, breaks });
            if !is_comment {
                all.before.push(start..all.atoms.len());
                (start, token) = (all.atoms.len(), token + 1);
            }
        }
        all
    }

    /// Whether a line ends between a token and the one before it.
    pub fn is_broken(&self, token: usize) -> bool {
        self.before.get(token).is_some_and(|range| self.atoms[range.clone()].iter().any(|atom| atom.breaks > 0))
    }
}

struct Layout<'l> {
    atoms: Vec<Atom>,
    tokens: &'l [Token],
    tight: &'l [bool],
    places: &'l [Place],
}

/// The text of tokens and comments at their places.
pub(super) fn lay_out(atoms: Atoms, tokens: &[Token], tight: &[bool], places: &[Place]) -> String {
    let Atoms { atoms, before } = atoms;
    let mut layout = Layout { atoms, tokens, tight, places };
    before.into_iter().enumerate().for_each(|(token, range)| layout.normalise(token, range));
    layout.break_lines();
    layout.print()
}

impl Layout<'_> {
    /// The lines that end before a token and the comments in front of it.
    fn normalise(&mut self, token: usize, range: Range<usize>) {
        let place = &self.places[token];
        let is_broken = self.atoms[range.clone()].iter().any(|atom| atom.breaks > 0);
        let last = range.end - 1;
        for index in range.clone() {
            let after_line_comment = index > 0 && self.ends_line(index - 1);
            let is_first = index == 0;
            let beside_comment = range.len() > 1;
            let atom = &mut self.atoms[index];
            let most = match place.line {
                _ if atom.is_comment || (beside_comment && place.line == Line::Begins) => {
                    if place.may_be_blank || place.comment_indent != place.indent { 2 } else { 1 }
                }
                Line::Begins => 1 + usize::from(place.may_be_blank),
                Line::Kept => 1,
                Line::Never => 0,
            };
            let least = usize::from(
                after_line_comment || (index == last && !atom.is_comment && place.line == Line::Begins && !is_broken),
            );
            atom.breaks = if is_first { 0 } else { atom.breaks.min(most).max(least) };
        }
    }

    /// Whether an atom is a comment that goes to the end of its line.
    fn ends_line(&self, index: usize) -> bool {
        self.atoms[index].is_comment && self.atoms[index].text.starts_with("//")
    }

    fn indent(&self, index: usize) -> usize {
        let atom = &self.atoms[index];
        match self.places.get(atom.token) {
            Some(place) if atom.is_comment => place.comment_indent,
            Some(place) => place.indent,
            None => 0,
        }
    }

    /// The blanks between an atom and the one before it on its line.
    fn blanks(&self, index: usize) -> usize {
        let atom = &self.atoms[index];
        let before = index.checked_sub(1).map(|before| &self.atoms[before]);
        let is_tight = match before {
            None => true,
            Some(before) if before.is_comment && !atom.is_comment => {
                matches!(self.tokens[atom.token], Token::Sign("," | ";" | ")" | "]"))
            }
            Some(before) if atom.is_comment => {
                !before.is_comment && matches!(self.tokens[before.token], Token::Sign("(" | "["))
            }
            Some(_) => self.tight[atom.token],
        };
        usize::from(!is_tight)
    }

    /// The width of an atom on the line where it begins, and, where it has several lines, on its last.
    fn widths(&self, index: usize) -> (usize, Option<usize>) {
        let text = &self.atoms[index].text;
        let width = |line: &str| line.chars().count();
        match (text.split_once('\n'), text.rsplit_once('\n')) {
            (Some((first, _)), Some((_, last))) => (width(first), Some(width(last))),
            _ => (width(text), None),
        }
    }

    /// Breaks lines that are too long, as far as they can be.
    fn break_lines(&mut self) {
        let mut start = 0;
        while start < self.atoms.len() {
            let mut column = self.indent(start);
            let mut end = start;
            // Where each atom ends, up to the end of the line.
            let mut ends = Vec::new();
            while end < self.atoms.len() && (end == start || self.atoms[end].breaks == 0) {
                let (first, last) = self.widths(end);
                column += first + if end == start { 0 } else { self.blanks(end) };
                ends.push(if self.atoms[end].is_comment { 0 } else { column });
                column = last.unwrap_or(column);
                end += 1;
            }
            let is_long = ends.iter().any(|end| *end > WIDTH);
            let broken = if is_long { self.where_to_break(start, &ends) } else { None };
            match broken {
                // This line is looked at again; what follows when it is reached.
                Some(index) => self.atoms[index].breaks = 1,
                None => start = end,
            }
        }
    }

    /// The atom that is to begin a line, of those on a line: the last that fits of the outermost construct.
    fn where_to_break(&self, start: usize, ends: &[usize]) -> Option<usize> {
        let weight = |index: usize| Some((self.weight(index)?, index));
        let candidates: Vec<(usize, usize)> = (start + 1..start + ends.len()).filter_map(weight).collect();
        let least = candidates.iter().map(|(weight, _)| *weight).min()?;
        let all: Vec<usize> =
            candidates.into_iter().filter(|(weight, _)| *weight == least).map(|(_, index)| index).collect();
        let fits = |index: &&usize| ends[**index - start - 1] <= WIDTH;
        all.iter().rev().find(fits).or(all.first()).copied()
    }

    /// How little a line is to break before an atom, if it can: brackets first, then how loose what is before it is.
    fn weight(&self, index: usize) -> Option<usize> {
        let atom = &self.atoms[index];
        let place = self.places.get(atom.token).filter(|place| !atom.is_comment && place.line == Line::Kept)?;
        let before = atom.token.checked_sub(1).map(|before| &self.tokens[before])?;
        let inside = match (before, &self.tokens[atom.token]) {
            _ if place.is_statement => 0,
            (Token::Sign("," | ";"), _) => 1,
            (_, Token::Sign(":")) => 2,
            (_, Token::Sign("?")) => 3,
            (before, Token::Sign(sign)) if !self.tight[atom.token] && ends_operand(before) => 4 + power(sign),
            (Token::Sign("="), _) => 30,
            _ => return None,
        };
        Some(place.depth * 20 + inside)
    }

    fn print(&self) -> String {
        let mut out = String::new();
        for (index, atom) in self.atoms.iter().enumerate() {
            let blanks = if atom.breaks == 0 && index > 0 { self.blanks(index) } else { self.indent(index) };
            out.extend(std::iter::repeat_n('\n', atom.breaks));
            out.extend(std::iter::repeat_n(' ', blanks));
            out.push_str(&atom.text);
        }
        if !out.is_empty() {
            out.push('\n');
        }
        out
    }
}

/// Whether an operator after a token is one between two operands.
fn ends_operand(token: &Token) -> bool {
    match token {
        Token::Sign(sign) => matches!(*sign, ")" | "]" | "}"),
        Token::Word(word) => matches!(*word, "true" | "false"),
        _ => true,
    }
}

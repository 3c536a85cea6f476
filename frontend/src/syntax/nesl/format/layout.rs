//! Atoms and gaps to text.
//!
//! The state of a layout is which lines end where: [`Atom::breaks`]. Columns follow from that, from left to right. A
//! line that is too long is broken at the outermost construct on it that can be broken, until all of them fit or
//! nothing on them can be.

use super::WIDTH;
use super::atoms::{Atom, Atoms, comment};
use super::gaps::{Breaks, Gap, Gaps, Group, Indent, STEP, is_mark};
use crate::syntax::nesl::token::{Keyword, Token};
use std::collections::HashMap;

/// The text of a program.
pub(super) fn lay_out(text: &str, gaps: &Gaps<'_>, atoms: Atoms, paddings: &HashMap<usize, usize>) -> String {
    let tokens = gaps.tokens.len();
    let mut layout = Layout {
        text,
        gaps,
        paddings,
        columns: vec![0; atoms.atoms.len()],
        line_starts: vec![0; atoms.atoms.len()],
        atoms,
    };
    (0..=tokens).for_each(|token| layout.normalise(token));
    layout.break_lines();
    while layout.break_bodies() {
        layout.break_lines();
    }
    layout.print()
}

struct Layout<'l> {
    text: &'l str,
    gaps: &'l Gaps<'l>,
    paddings: &'l HashMap<usize, usize>,
    atoms: Atoms,
    /// For each atom where it stands, counted from its line's margin.
    columns: Vec<usize>,
    /// For each atom the first on its line.
    line_starts: Vec<usize>,
}

/// A part of a line: up to its end, or to the first line of an atom of several lines.
struct Piece {
    /// The atom behind its last.
    end: usize,
    /// For each atom the column behind it, without what does not count.
    ends: Vec<usize>,
    /// The last column that counts.
    width: usize,
    /// Where what follows stands if the line goes on.
    next_column: usize,
}

impl Layout<'_> {
    /// Keeps the line breaks before a token that its gap allows. Comments keep theirs.
    fn normalise(&mut self, token: usize) {
        let range = self.atoms.before(token);
        let gap = self.gaps.gaps.get(token);
        for index in range.clone() {
            let beside_comment = range.len() > 1 || gap.is_none();
            let most = match gap {
                _ if index == 0 => 0,
                _ if beside_comment => 2,
                Some(Gap { may_be_blank: true, .. }) => 2,
                Some(Gap { breaks: Breaks::Never, .. }) => 0,
                _ => 1,
            };
            let breaks = &mut self.atoms.atoms[index].breaks;
            *breaks = (*breaks).min(most);
        }
        if gap.is_some_and(|gap| gap.begins_line) && !self.atoms.is_broken(token) {
            let atom = self.atoms.of_token[token];
            self.atoms.atoms[atom].breaks = 1;
        }
    }

    fn text(&self, atom: &Atom) -> &str {
        self.text.get(atom.range.clone()).unwrap_or("")
    }

    /// The blanks between an atom and the one before it on its line.
    fn blanks(&self, index: usize) -> usize {
        let Some(before) = index.checked_sub(1).map(|before| &self.atoms.atoms[before]) else { return 0 };
        let atom = &self.atoms.atoms[index];
        let token = |index: usize| self.gaps.tokens.get(index).map(|(token, _)| token);
        let is_tight = match (before.is_comment, atom.is_comment) {
            (false, false) => self.gaps.gaps[atom.token].is_tight,
            (false, true) => matches!(token(before.token), Some(Token::Open(_))),
            (true, false) => token(atom.token).is_some_and(is_mark),
            (true, true) => false,
        };
        // The character of a blank is one already.
        if is_tight || self.text(before).ends_with(' ') {
            return 0;
        }
        1 + self.paddings.get(&atom.token).filter(|_| !atom.is_comment).unwrap_or(&0)
    }

    fn column(&self, token: usize) -> usize {
        self.columns[self.atoms.of_token[token]]
    }

    fn begins_line(&self, token: usize) -> bool {
        let atom = self.atoms.of_token[token];
        self.line_starts[atom] == atom
    }

    /// Where the line of a token begins, as far as what it breaks is concerned: behind a `let`.
    fn line_column(&self, token: usize) -> usize {
        let start = self.line_starts[self.atoms.of_token[token]];
        let first = &self.atoms.atoms[start];
        let follows_let = !first.is_comment && self.gaps.is(first.token, &Token::Keyword(Keyword::Let));
        match self.atoms.of_token.get(first.token + 1) {
            Some(&next) if follows_let && first.token < token && self.line_starts[next] == start => self.columns[next],
            _ => self.columns[start],
        }
    }

    fn indentation(&self, token: usize) -> usize {
        let Some(gap) = self.gaps.gaps.get(token) else { return 0 };
        match gap.indent {
            Indent::Margin => 0,
            Indent::Column(anchor, more) => self.column(anchor) + more,
            Indent::Inside(open) => self.line_column(open) + STEP,
            Indent::Closing(open) if self.begins_line(open + 1) => self.line_column(open),
            Indent::Closing(open) => self.column(open),
            Indent::Branch(word, more) => {
                let mut word = word;
                while let Some(&outer) = self.gaps.chains.get(&word).filter(|_| !self.begins_line(word)) {
                    word = outer;
                }
                self.column(word) + more
            }
            Indent::Body { of, word } => {
                let begins_form = self.gaps.gaps[of].indent == Indent::Margin;
                self.column(of) + if begins_form || self.begins_line(word) { STEP } else { 0 }
            }
        }
    }

    /// Sets the columns of a piece of a line. One that goes on after an atom of several lines begins at a column.
    fn place(&mut self, start: usize, goes_on_at: Option<usize>) -> Piece {
        let line_start = match goes_on_at {
            Some(_) => self.line_starts[start - 1],
            None => start,
        };
        let mut at = goes_on_at.unwrap_or_else(|| self.indentation(self.atoms.atoms[start].token));
        let mut piece = Piece { end: start, ends: Vec::new(), width: 0, next_column: 0 };
        let mut uncounted = 0;
        for index in start..self.atoms.atoms.len() {
            let atom = &self.atoms.atoms[index];
            let begins = index == start && goes_on_at.is_none();
            if atom.breaks > 0 && !begins && index > start {
                break;
            }
            let blanks = if begins { 0 } else { self.blanks(index) };
            let text = self.text(atom);
            let (first_line, last_line) = match (text.find('\n'), text.rfind('\n')) {
                (Some(first), Some(last)) => (&text[..first], Some(&text[last + 1..])),
                _ => (text, None),
            };
            let width = first_line.chars().count();
            let last_line = last_line.map(|line| line.chars().count());
            if !atom.is_comment && self.gaps.gaps[atom.token].is_documentation {
                uncounted += blanks + width;
            }
            let is_comment = atom.is_comment;
            self.columns[index] = at + blanks;
            self.line_starts[index] = line_start;
            at += blanks + width;
            piece.ends.push(at.saturating_sub(uncounted));
            piece.end = index + 1;
            if !is_comment {
                piece.width = at.saturating_sub(uncounted);
            }
            if let Some(column) = last_line {
                piece.next_column = column;
                return piece;
            }
        }
        piece.next_column = at;
        piece
    }

    /// Breaks lines that are too long, as far as they can be.
    fn break_lines(&mut self) {
        let (mut start, mut goes_on_at) = (0, None);
        while start < self.atoms.atoms.len() {
            let piece = self.place(start, goes_on_at);
            if piece.width > WIDTH && self.break_piece(start, goes_on_at, &piece) {
                continue;
            }
            start = piece.end;
            let goes_on = self.atoms.atoms.get(start).is_some_and(|atom| atom.breaks == 0);
            goes_on_at = goes_on.then_some(piece.next_column);
        }
    }

    /// Breaks a piece that is too long at its outermost construct; whether there was one.
    fn break_piece(&mut self, start: usize, goes_on_at: Option<usize>, piece: &Piece) -> bool {
        let first = if goes_on_at.is_some() { start } else { start + 1 };
        let candidates: Vec<(usize, Group)> =
            (first..piece.end).filter_map(|index| Some((index, self.candidate(index, piece.end)?))).collect();
        let Some(&(_, outermost)) = candidates.iter().min_by_key(|(_, group)| group.depth) else { return false };
        let candidates: Vec<usize> =
            candidates.iter().filter(|(_, group)| *group == outermost).map(|(index, _)| *index).collect();
        if outermost.is_spread {
            candidates.iter().for_each(|&index| self.atoms.atoms[index].breaks = 1);
            return true;
        }
        let end_before = |index: usize| index.checked_sub(start + 1).map_or(0, |before| piece.ends[before]);
        let mut shift = 0_isize;
        let mut is_broken = false;
        for (position, &index) in candidates.iter().enumerate() {
            let next = candidates.get(position + 1).copied().unwrap_or(piece.end);
            let end = (index..next).rev().find(|&at| !self.atoms.atoms[at].is_comment);
            let end = end.map_or(0, |at| piece.ends[at - start]);
            if end.saturating_add_signed(shift) > WIDTH {
                let begins = end_before(index) + self.blanks(index);
                let indentation = self.indentation(self.atoms.atoms[index].token);
                shift = indentation.cast_signed() - begins.cast_signed();
                self.atoms.atoms[index].breaks = 1;
                is_broken = true;
            }
        }
        is_broken
    }

    /// The group of the gap that begins with an atom, if a line can be broken there.
    fn candidate(&self, index: usize, end: usize) -> Option<Group> {
        let token = self.atoms.atoms[index].token;
        let range = self.atoms.before(token);
        let Some(Gap { breaks: Breaks::Added(group), .. }) = self.gaps.gaps.get(token) else { return None };
        (range.start == index && range.end <= end && !self.atoms.is_broken(token)).then_some(*group)
    }

    /// Lets the body of a function that has several lines, other than those inside of brackets, begin one; whether that
    /// changed anything.
    fn break_bodies(&mut self) -> bool {
        let mut is_changed = false;
        for &(first, last) in &self.gaps.bodies {
            if self.atoms.is_broken(first) || !self.has_lines(first, last) {
                continue;
            }
            let start = self.atoms.before(first).start;
            self.atoms.atoms[start].breaks = 1;
            is_changed = true;
        }
        is_changed
    }

    /// Whether a line ends among tokens, outside of brackets.
    fn has_lines(&self, first: usize, last: usize) -> bool {
        let mut token = first;
        while token <= last {
            if token > first && self.atoms.is_broken(token) {
                return true;
            }
            let is_open = matches!(self.gaps.tokens[token].0, Token::Open(_));
            token = if is_open { self.gaps.partner(token) } else { token } + 1;
        }
        false
    }

    fn print(&self) -> String {
        let mut out = String::with_capacity(self.text.len());
        for (index, atom) in self.atoms.atoms.iter().enumerate() {
            let blanks = match atom.breaks {
                0 => self.blanks(index),
                _ => self.columns[index],
            };
            (0..atom.breaks).for_each(|_| out.push('\n'));
            out.extend(std::iter::repeat_n(' ', blanks));
            match atom.is_comment {
                true => out.push_str(&comment(self.text(atom))),
                false => out.push_str(self.text(atom)),
            }
        }
        if !out.is_empty() {
            out.push('\n');
        }
        out
    }
}

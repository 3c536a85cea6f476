//! What may be between two tokens: a blank, a line break, and then how far the next line is indented.

use crate::ast::BinaryOp;
use crate::syntax::nesl::token::{Bracket, Token};
use nesl_span::Span;
use std::collections::HashMap;

/// The indentation of what is inside of something.
pub(super) const STEP: usize = 2;

/// Whether a line may end before a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Breaks {
    /// It does not.
    Never,
    /// Where the author ended it.
    Kept,
    /// There, and where the line would be too long.
    Added(Group),
}

/// The gaps that break together or one after another: those of one construct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Group {
    /// How deep the construct is within its form: the outermost breaks first.
    pub(super) depth: u32,
    /// The token that begins the construct.
    pub(super) of: usize,
    /// Whether all gaps of the group on a line break, or only as many as it takes.
    pub(super) is_spread: bool,
}

/// The column of a line that begins with a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Indent {
    /// The margin.
    Margin,
    /// So far to the right of a token before.
    Column(usize, usize),
    /// What is inside of a bracket that ends its line: to the right of where that line begins.
    Inside(usize),
    /// The end of a bracket: under the bracket, or under the line that it ends.
    Closing(usize),
    /// So far to the right of the first `if` of a chain on the line of this one.
    Branch(usize, usize),
    /// What follows the `in` of a `let`: under the `let`, or to the right of it if the `let` begins a form or the `in`
    /// a line.
    Body { of: usize, word: usize },
}

/// What may be between a token and the one before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gap {
    /// There is no blank.
    pub(super) is_tight: bool,
    pub(super) breaks: Breaks,
    pub(super) indent: Indent,
    /// A blank line may stand here.
    pub(super) may_be_blank: bool,
    /// A line begins here, whatever the author did.
    pub(super) begins_line: bool,
    /// The token is a documentation string.
    pub(super) is_documentation: bool,
}

/// Whether a token stands close to what is before it.
pub(super) fn is_mark(token: &Token) -> bool {
    matches!(token, Token::Close(_) | Token::Comma | Token::Semicolon | Token::Dollar)
}

/// The gaps of a text, and what concerns several of them.
pub(super) struct Gaps<'t> {
    pub(super) tokens: &'t [(Token, Span)],
    /// For each token the gap before it.
    pub(super) gaps: Vec<Gap>,
    /// For an opening bracket its closing one.
    partners: HashMap<usize, usize>,
    /// For an `if` behind an `else` the `if` of that `else`.
    pub(super) chains: HashMap<usize, usize>,
    /// The first and the last token of each function's body, which begins a line if it has several.
    pub(super) bodies: Vec<(usize, usize)>,
    /// For the bindings of each `let`, and for neighbouring assignments, where each begins, and its `=`.
    pub(super) bindings: Vec<Vec<(usize, usize)>>,
}

impl<'t> Gaps<'t> {
    pub(super) fn new(tokens: &'t [(Token, Span)]) -> Gaps<'t> {
        let mut partners = HashMap::new();
        let mut open = Vec::new();
        let mut gaps = Vec::with_capacity(tokens.len());
        for (index, (token, _)) in tokens.iter().enumerate() {
            match token {
                Token::Open(_) => open.push(index),
                Token::Close(_) => partners.extend(open.pop().map(|opened| (opened, index))),
                _ => {}
            }
            let after_bracket = index > 0 && matches!(tokens[index - 1].0, Token::Open(_));
            gaps.push(Gap {
                is_tight: after_bracket || is_mark(token),
                breaks: Breaks::Never,
                indent: Indent::Margin,
                may_be_blank: false,
                begins_line: false,
                is_documentation: false,
            });
        }
        let (chains, bodies, bindings) = (HashMap::new(), Vec::new(), Vec::new());
        Gaps { tokens, gaps, partners, chains, bodies, bindings }
    }

    /// The first and the last token of a part of the tree.
    pub(super) fn range(&self, span: Span) -> (usize, usize) {
        let first = self.tokens.partition_point(|(_, at)| at.start < span.start);
        let after = self.tokens.partition_point(|(_, at)| at.start < span.end);
        (first, after.saturating_sub(1).max(first))
    }

    pub(super) fn is(&self, index: usize, token: &Token) -> bool {
        self.tokens.get(index).is_some_and(|(found, _)| found == token)
    }

    /// Whether tokens are all in one pair of parentheses.
    pub(super) fn is_parenthesised(&self, first: usize, last: usize) -> bool {
        self.is(first, &Token::Open(Bracket::Parenthesis)) && self.partner(first) == last
    }

    /// The closing bracket of an opening one.
    pub(super) fn partner(&self, open: usize) -> usize {
        self.partners.get(&open).copied().unwrap_or(open)
    }

    /// Nothing stands before this token.
    pub(super) fn tighten(&mut self, index: usize) {
        if let Some(gap) = self.gaps.get_mut(index) {
            gap.is_tight = true;
        }
    }

    /// A line may begin with this token if the author wants it.
    pub(super) fn keep(&mut self, index: usize, indent: Indent) {
        if let Some(gap) = self.gaps.get_mut(index) {
            (gap.breaks, gap.indent) = (Breaks::Kept, indent);
        }
    }

    /// A line begins with this token where it must.
    pub(super) fn add(&mut self, index: usize, indent: Indent, depth: u32, of: usize) {
        self.break_in(index, indent, Group { depth, of, is_spread: false });
    }

    /// The same where all gaps of the group break together.
    pub(super) fn spread(&mut self, index: usize, indent: Indent, depth: u32, of: usize) {
        self.break_in(index, indent, Group { depth, of, is_spread: true });
    }

    fn break_in(&mut self, index: usize, indent: Indent, group: Group) {
        if let Some(gap) = self.gaps.get_mut(index) {
            (gap.breaks, gap.indent) = (Breaks::Added(group), indent);
        }
    }

    /// What is in a pair of brackets may begin a line, and so may its end.
    pub(super) fn brackets(&mut self, open: usize) {
        let close = self.partner(open);
        if open + 1 < close {
            self.keep(open + 1, Indent::Inside(open));
            self.keep(close, Indent::Closing(open));
        }
    }

    /// The gaps of a pattern or a type, which consist of names, brackets and commas.
    pub(super) fn plain(&mut self, first: usize, last: usize, depth: u32) {
        let mut index = first;
        while index <= last {
            match self.tokens[index].0 {
                Token::Open(bracket) => {
                    let after_name = index > 0 && matches!(self.tokens[index - 1].0, Token::Name(_));
                    if after_name && bracket == Bracket::Parenthesis {
                        self.tighten(index);
                    }
                    let close = self.partner(index);
                    self.brackets(index);
                    if index + 1 < close {
                        self.plain(index + 1, close - 1, depth + 1);
                    }
                    index = close.max(index);
                }
                Token::Comma | Token::Semicolon => self.add(index + 1, Indent::Column(first, 0), depth, first),
                Token::Operator(BinaryOp::Read) if index > first => {
                    self.add(index, Indent::Column(first, 0), depth, first)
                }
                _ => {}
            }
            index += 1;
        }
    }
}

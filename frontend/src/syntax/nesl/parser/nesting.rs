//! A bound on nesting, checked on the tokens before the recursive parser runs.
//!
//! The parser, and every later stage that walks the tree, recurses as deep as the text nests. [`measure`] follows
//! brackets, `if` and `let`, runs of prefix operators and of the right-associative `->`, `^` and `=>`, and refuses
//! texts that nest deeper than any person writes. Long flat things (literals, chains of `+`) are not deep for the
//! parser, but a chain of n operators is a tree of depth n, so that has a bound too, a generous one.

use crate::ast::BinaryOp;
use crate::diagnostic::Diagnostic;
use crate::syntax::nesl::token::{Bracket, Keyword, Token};
use nesl_span::Span;

/// Brackets inside of brackets.
const MOST_BRACKETS: usize = 256;
/// All kinds of nesting together; `else if` chains are the long ones.
const MOST_LEVELS: usize = 2_000;
/// Operators in one chain.
const MOST_OPERANDS: usize = 12_000;
/// Stack for each level: eight times what the dev profile was seen to need.
const STACK_PER_LEVEL: usize = 64 << 10;
/// Stack for everything else.
const STACK_BASE: usize = 1 << 20;

/// The stack a parser needs for a text of this many levels.
pub(super) fn stack_size(levels: usize) -> usize {
    STACK_BASE + levels * STACK_PER_LEVEL
}

/// What began a level.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The text itself.
    Text,
    Bracket(Bracket),
    /// Between `if` and `then`.
    Condition,
    /// Between `then` and `else`.
    Then,
    /// After `else`, to the end of the enclosing form.
    Else,
    /// Between `let` and `in`.
    Bindings,
    /// After `in`, to the end of the enclosing form.
    Body,
}

impl Kind {
    /// Whether it is a bracket, or the text, which is like one.
    fn is_bracket(self) -> bool {
        matches!(self, Kind::Text | Kind::Bracket(_))
    }
}

/// One level of nesting that is open.
struct Level {
    kind: Kind,
    /// Prefix operators before the next operand.
    prefixes: usize,
    /// `->`, `^` and `-` before an operand, whose right operands go on.
    rights: usize,
    /// `=>` and `:=` before what goes on to the next separator.
    lambdas: usize,
    /// A bound on the depth of the tree of the chain of operators so far.
    chain: usize,
    /// The same for the chains before.
    deepest: usize,
}

impl Level {
    fn new(kind: Kind) -> Level {
        Level { kind, prefixes: 0, rights: 0, lambdas: 0, chain: 0, deepest: 0 }
    }

    /// Begins a new chain: after a comma, a keyword.
    fn separate(&mut self) {
        self.deepest = self.deepest.max(self.chain);
        (self.chain, self.prefixes, self.rights, self.lambdas) = (0, 0, 0, 0);
    }

    fn recursion(&self) -> usize {
        1 + self.prefixes + self.rights + self.lambdas
    }
}

/// The open levels; the lowest is the text itself.
struct Stack {
    levels: Vec<Level>,
    brackets: usize,
    /// The sum of [`Level::recursion`] over all levels but the last.
    below: usize,
    after_operand: bool,
}

impl Stack {
    fn new() -> Stack {
        Stack { levels: vec![Level::new(Kind::Text)], brackets: 0, below: 0, after_operand: false }
    }

    fn clear(&mut self) {
        *self = Stack::new();
    }

    fn push(&mut self, kind: Kind) {
        self.below += self.levels.last().map_or(0, Level::recursion);
        self.levels.push(Level::new(kind));
        self.brackets += usize::from(matches!(kind, Kind::Bracket(_)));
    }

    /// Closes the innermost level; what was in it becomes an operand of the one around.
    fn pop(&mut self) {
        if self.levels.len() < 2 {
            return;
        }
        let Some(inner) = self.levels.pop() else { return };
        self.brackets -= usize::from(matches!(inner.kind, Kind::Bracket(_)));
        if let Some(level) = self.levels.last_mut() {
            self.below -= level.recursion();
            level.chain = level.chain.max(inner.deepest.max(inner.chain)) + 1;
            level.prefixes = 0;
        }
    }

    fn last_kind(&self) -> Option<Kind> {
        self.levels.last().map(|level| level.kind)
    }

    /// The innermost bracket that is open.
    fn bracket(&self) -> Option<Bracket> {
        self.levels.iter().rev().find_map(|level| match level.kind {
            Kind::Bracket(bracket) => Some(bracket),
            _ => None,
        })
    }

    /// Whether a level of this kind is open inside of the innermost bracket.
    fn is_open(&self, kind: Kind) -> bool {
        self.levels.iter().rev().take_while(|level| !level.kind.is_bracket()).any(|level| level.kind == kind)
    }

    /// Closes what is inside of the innermost bracket.
    fn return_to_bracket(&mut self) {
        while self.last_kind().is_some_and(|kind| !kind.is_bracket()) {
            self.pop();
        }
    }

    /// Closes what is inside of the innermost level of kind `from`, which becomes one of kind `to`.
    fn advance(&mut self, from: Kind, to: Kind) {
        if self.is_open(from) {
            while self.last_kind() != Some(from) {
                self.pop();
            }
            if let Some(level) = self.levels.last_mut() {
                level.kind = to;
            }
        }
        self.separate();
    }

    fn separate(&mut self) {
        if let Some(level) = self.levels.last_mut() {
            level.separate();
        }
        self.after_operand = false;
    }

    fn step(&mut self, token: &Token) {
        let mut is_operand = false;
        match token {
            Token::Open(bracket) => self.push(Kind::Bracket(*bracket)),
            // One that does not fit closes nothing: where recovery goes on after it, what is around it may still be
            // open.
            Token::Close(bracket) => {
                if self.bracket() == Some(*bracket) {
                    self.return_to_bracket();
                    self.pop();
                }
                is_operand = true;
            }
            Token::Keyword(Keyword::If) => self.push(Kind::Condition),
            Token::Keyword(Keyword::Then) => self.advance(Kind::Condition, Kind::Then),
            Token::Keyword(Keyword::Else) => self.advance(Kind::Then, Kind::Else),
            Token::Keyword(Keyword::Let) => self.push(Kind::Bindings),
            Token::Keyword(Keyword::In) => self.advance(Kind::Bindings, Kind::Body),
            Token::Semicolon if self.is_open(Kind::Bindings) => self.advance(Kind::Bindings, Kind::Bindings),
            Token::Semicolon => {
                self.return_to_bracket();
                self.separate();
            }
            Token::Dollar | Token::Keyword(Keyword::Function | Keyword::Datatype) => self.clear(),
            Token::Lambda | Token::ColonEqual => {
                if let Some(level) = self.levels.last_mut() {
                    level.lambdas += 1;
                    (level.prefixes, level.rights) = (0, 0);
                }
            }
            Token::Comma | Token::Colon | Token::DoubleColon | Token::Equal | Token::Bar => self.separate(),
            Token::Operator(op) => {
                if let Some(level) = self.levels.last_mut() {
                    match op {
                        BinaryOp::Read | BinaryOp::Power => level.rights += 1,
                        BinaryOp::Subtract if !self.after_operand => level.rights += 1,
                        // Tighter than a minus before it, which goes on.
                        BinaryOp::Write => {}
                        _ => level.rights = 0,
                    }
                }
            }
            Token::Hash | Token::At => {
                if let Some(level) = self.levels.last_mut() {
                    level.prefixes += 1;
                }
            }
            Token::Quote | Token::Foreign(_) | Token::Keyword(Keyword::Time) => {}
            Token::Int(_)
            | Token::Float(_)
            | Token::Bool(_)
            | Token::Char(_)
            | Token::Text(_)
            | Token::Name(_)
            | Token::Unreadable => {
                if let Some(level) = self.levels.last_mut() {
                    level.chain += 1;
                    level.prefixes = 0;
                }
                is_operand = true;
            }
        }
        self.after_operand = is_operand;
    }

    /// The number of levels open, or what is too many.
    fn check(&self) -> Result<usize, &'static str> {
        let levels = self.below + self.levels.last().map_or(0, Level::recursion);
        if self.brackets > MOST_BRACKETS {
            Err("this bracket is nested too deeply")
        } else if levels > MOST_LEVELS {
            Err("this is nested too deeply")
        } else if self.levels.last().is_some_and(|level| level.chain > MOST_OPERANDS) {
            Err("this expression joins too many operands")
        } else {
            Ok(levels)
        }
    }
}

/// The greatest number of levels open at once, or an error at the first token beyond a limit.
pub(super) fn measure(tokens: &[(Token, Span)]) -> Result<usize, Box<Diagnostic>> {
    let mut stack = Stack::new();
    let mut most = 0;
    for (token, span) in tokens {
        stack.step(token);
        match stack.check() {
            Ok(levels) => most = most.max(levels),
            Err(message) => {
                let hint = format!(
                    "at most {MOST_BRACKETS} brackets, {MOST_LEVELS} levels of `if`, `let` and prefix operators, and \
                     {MOST_OPERANDS} operands in a chain are possible; name the inner parts with `let` or in functions"
                );
                return Err(Box::new(Diagnostic::error("E0105", message, *span).hint(hint)));
            }
        }
    }
    Ok(most)
}

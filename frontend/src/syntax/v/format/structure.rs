//! Where lines of V begin, and how far they are indented.
//!
//! A statement begins a line, but for the one after the head of an `if` or a loop, which may stand behind it, and those
//! of a block that stands on one line. What follows in a statement is indented by two steps.

use crate::syntax::v::token::Token;

/// The indentation of what is inside of something.
const STEP: usize = 2;

/// Whether a token begins a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    Begins,
    /// Where the author began one there, or where the line would be too long.
    Kept,
    Never,
}

/// The place of a token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub line: Line,
    /// The indentation of the line, if it begins one.
    pub indent: usize,
    /// That of a comment on the lines before it.
    pub comment_indent: usize,
    /// Whether a blank line may stand before it.
    pub may_be_blank: bool,
    /// How deep it is in brackets of its statement: a line breaks where it is least.
    pub depth: usize,
    /// Whether it is the first of a statement.
    pub is_statement: bool,
}

/// A head whose statement is still to come or to end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Head {
    If,
    Do,
    /// `else`, `while`, `for`: when the statement after it ends, it ends.
    Other,
}

/// A block that is open, and the text around all.
struct Block {
    /// The indentation of its statements.
    indent: usize,
    /// That of the line with its `{`.
    outer: usize,
    is_one_line: bool,
    /// The heads before the statement that is read now, each with the indentation of its line.
    heads: Vec<(Head, usize)>,
}

struct Walk<'a> {
    tokens: &'a [Token],
    /// Whether the author ended a line before a token.
    is_broken: &'a dyn Fn(usize) -> bool,
    blocks: Vec<Block>,
    /// The brackets, other than those of blocks, that are open.
    depth: usize,
    /// Whether a statement begins now.
    begins: bool,
    /// Whether what is read now is the head of an `if` or a loop.
    is_head: bool,
    /// The indentation of the line on which the statement began.
    line: usize,
}

/// The place of each token.
pub(super) fn places(tokens: &[Token], tight: &[bool], is_broken: &dyn Fn(usize) -> bool) -> Vec<Place> {
    let whole = Block { indent: 0, outer: 0, is_one_line: false, heads: Vec::new() };
    let mut walk = Walk { tokens, is_broken, blocks: vec![whole], depth: 0, begins: true, is_head: false, line: 0 };
    (0..tokens.len())
        .map(|index| {
            let mut place = walk.place(index);
            walk.pass(index);
            let is_inside = index > 0 && matches!(tokens[index - 1], Token::Sign("(" | "[" | "{"));
            let is_end = matches!(tokens[index], Token::Sign(")" | "]" | "}"));
            if place.line == Line::Kept && tight[index] && !is_inside && !is_end && !place.is_statement {
                place.line = Line::Never;
            }
            place
        })
        .collect()
}

impl Walk<'_> {
    fn block(&mut self) -> &mut Block {
        if self.blocks.is_empty() {
            self.blocks.push(Block { indent: 0, outer: 0, is_one_line: false, heads: Vec::new() });
        }
        let last = self.blocks.len() - 1;
        &mut self.blocks[last]
    }

    fn is_sign(&self, index: usize, sign: &str) -> bool {
        self.tokens.get(index).is_some_and(|token| matches!(token, Token::Sign(found) if *found == sign))
    }

    /// Where a token stands.
    fn place(&mut self, index: usize) -> Place {
        let token = &self.tokens[index];
        let (line, depth) = (self.line, self.depth);
        if !self.begins {
            let closes = depth > 0 && matches!(token, Token::Sign(")" | "]" | "}"));
            let indent = if closes || self.opens_block(index) { line } else { line + 2 * STEP };
            let is_kept = !matches!(token, Token::Sign("," | ";")) && !self.opens_block(index);
            let kept = if is_kept { Line::Kept } else { Line::Never };
            return Place {
                line: kept,
                indent,
                comment_indent: line + 2 * STEP,
                may_be_blank: false,
                depth: depth - usize::from(closes),
                is_statement: false,
            };
        }
        let after_block = index > 0 && self.is_sign(index - 1, "}");
        let is_first = index > 0 && self.is_sign(index - 1, "{");
        let Block { indent, outer, is_one_line, .. } = *self.block();
        let head = self.block().heads.last().copied();
        let (line, indent) = match (token, head) {
            (Token::Sign("}"), _) => (if is_one_line { Line::Never } else { Line::Begins }, outer),
            (Token::Sign(";"), _) => (Line::Never, indent),
            // Behind the statement of an `if` or a `do`.
            (Token::Word("else"), Some((Head::If, column))) | (Token::Word("while"), Some((Head::Do, column)))
                if self.is_after_statement(index) =>
            {
                (if after_block { Line::Never } else { Line::Kept }, column)
            }
            (Token::Sign("{"), Some((_, column))) => (Line::Never, column),
            (Token::Word("if"), Some((_, column))) if self.tokens[index - 1] == Token::Word("else") => {
                (Line::Never, column)
            }
            (_, Some((_, column))) => (Line::Kept, column + STEP),
            (_, None) if is_one_line => (Line::Never, indent),
            (_, None) => (Line::Begins, indent),
        };
        let begins = line == Line::Begins || (line == Line::Kept && (self.is_broken)(index));
        if begins || index == 0 {
            self.line = indent;
        }
        let is_end = matches!(token, Token::Sign("}"));
        Place {
            line,
            indent,
            comment_indent: if is_end { self.block().indent } else { indent },
            may_be_blank: line == Line::Begins && !is_first && !is_end,
            depth: 0,
            is_statement: true,
        }
    }

    /// Whether an `else` or a `while` comes behind a statement, not behind a head.
    fn is_after_statement(&self, index: usize) -> bool {
        index > 0 && (self.is_sign(index - 1, ";") || self.is_sign(index - 1, "}"))
    }

    /// Whether a token is the `{` of statements or fields.
    fn opens_block(&self, index: usize) -> bool {
        self.is_sign(index, "{") && self.depth == 0 && !self.is_values(index)
    }

    fn is_values(&self, index: usize) -> bool {
        // `= {1, 2}`; those behind a cast are in the expression that the cast is in.
        let Some(before) = index.checked_sub(1) else { return false };
        self.is_sign(before, "=") || (self.is_sign(before, ")") && self.is_cast_end(before))
    }

    /// Whether a `)` ends `(struct p)`.
    fn is_cast_end(&self, index: usize) -> bool {
        index >= 3 && self.is_sign(index - 3, "(") && self.tokens[index - 2] == Token::Word("struct")
    }

    /// Goes on behind a token.
    fn pass(&mut self, index: usize) {
        let token = &self.tokens[index];
        let (begins, opens_block) = (std::mem::take(&mut self.begins), self.opens_block(index));
        match token {
            Token::Sign("{") if opens_block || (begins && self.depth == 0) => self.open(index),
            Token::Sign("}") if begins => self.close(index),
            Token::Sign("(" | "[" | "{") => self.depth += 1,
            Token::Sign(")" | "]" | "}") => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 && std::mem::take(&mut self.is_head) {
                    self.begins = true;
                }
            }
            Token::Sign(";") if self.depth == 0 => self.end_statement(index),
            Token::Word("else") if begins => {
                let line = self.line;
                let block = self.block();
                if let Some(last) = block.heads.last_mut() {
                    // What stands under it is indented from the `if`, or from the line of both.
                    *last = (Head::Other, last.1.min(line));
                }
                self.begins = true;
            }
            Token::Word("while") if begins && self.ends_do(index) => {
                self.block().heads.pop();
            }
            Token::Word(word @ ("if" | "while" | "for")) if begins => {
                let head = if *word == "if" { Head::If } else { Head::Other };
                let line = self.line;
                // `else if` is one head.
                if index > 0 && self.tokens[index - 1] == Token::Word("else") {
                    self.block().heads.pop();
                }
                self.block().heads.push((head, line));
                self.is_head = true;
            }
            Token::Word("do") if begins => {
                let line = self.line;
                self.block().heads.push((Head::Do, line));
                self.begins = true;
            }
            _ => {}
        }
    }

    fn ends_do(&self, index: usize) -> bool {
        let head = self.blocks.last().and_then(|block| block.heads.last());
        self.is_after_statement(index) && matches!(head, Some((Head::Do, _)))
    }

    fn open(&mut self, index: usize) {
        let outer = self.line;
        let is_one_line = self.is_one_line(index);
        self.blocks.push(Block { indent: outer + STEP, outer, is_one_line, heads: Vec::new() });
        self.begins = true;
    }

    /// Whether a block stands on one line, and is short: it has no blocks, and one statement or only fields.
    fn is_one_line(&self, open: usize) -> bool {
        let is_struct = open >= 2 && self.tokens[open - 2] == Token::Word("struct");
        let (mut depth, mut statements) = (0_usize, 0);
        for index in open + 1..self.tokens.len() {
            if (self.is_broken)(index) {
                return false;
            }
            match &self.tokens[index] {
                Token::Sign("}") if depth == 0 => return true,
                Token::Sign("{") if depth == 0 && !self.is_values(index) => return false,
                Token::Word("if" | "while" | "for" | "do") if !is_struct => return false,
                Token::Sign("(" | "[" | "{") => depth += 1,
                Token::Sign(")" | "]" | "}") => depth = depth.saturating_sub(1),
                Token::Sign(";") if depth == 0 => {
                    statements += 1;
                    if statements > 1 && !is_struct {
                        return false;
                    }
                }
                _ => {}
            }
        }
        false
    }

    fn close(&mut self, index: usize) {
        let closed = self.blocks.pop();
        self.line = closed.map_or(0, |block| block.outer);
        // A struct goes on to its `;`.
        match self.is_sign(index + 1, ";") && self.blocks.len() <= 1 {
            true => self.begins = false,
            false => self.end_statement(index),
        }
    }

    /// Ends a statement, and the heads that end with it.
    fn end_statement(&mut self, index: usize) {
        self.begins = true;
        let next = self.tokens.get(index + 1).cloned();
        let block = self.block();
        while let Some((head, _)) = block.heads.last() {
            match (head, &next) {
                (Head::If, Some(Token::Word("else"))) | (Head::Do, Some(Token::Word("while"))) => return,
                _ => block.heads.pop(),
            };
        }
    }
}

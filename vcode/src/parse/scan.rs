//! What the text form has beside what all listings have ([`Cursor`]): lines and comments, words, registers, and names
//! as [`crate::print`] writes them.

use super::{Error, Parse, Problem};
use crate::print;
use crate::program::Register;
use nesl_prim::cursor::Cursor;

/// Deepest nesting of blocks and shapes: far more than flattening makes, far less than the stack holds.
const DEEPEST: usize = 500;

pub(super) struct Parser<'a> {
    pub(super) cursor: Cursor<'a>,
    depth: usize,
    /// Names of functions as they are used, with where.
    pub(super) names: Vec<(String, usize)>,
    /// The results of the calls of the function at hand that are said to be steps of loops, with where.
    pub(super) loops: Vec<(Vec<Register>, usize)>,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str) -> Parser<'a> {
        Parser { cursor: Cursor::new(text, blank), depth: 0, names: Vec::new(), loops: Vec::new() }
    }

    pub(super) fn fail<T>(&self, problem: Problem) -> Parse<T> {
        Err(Error { offset: self.cursor.offset, problem })
    }

    /// Skips blanks, comments and ends of lines.
    pub(super) fn skip_lines(&mut self) {
        self.cursor.skip_blanks();
        while self.cursor.rest().starts_with('\n') {
            self.cursor.offset += 1;
            self.cursor.skip_blanks();
        }
    }

    pub(super) fn peek_word(&mut self) -> &'a str {
        self.cursor.skip_blanks();
        let start = self.cursor.offset;
        let word =
            self.cursor.take(|character| character.is_ascii_alphanumeric() || character == '_' || character == '.');
        self.cursor.offset = start;
        word
    }

    pub(super) fn accept_word(&mut self, word: &str) -> bool {
        let found = self.peek_word() == word;
        if found {
            self.cursor.offset += word.len();
        }
        found
    }

    pub(super) fn expect_word(&mut self, word: &'static str) -> Parse<()> {
        if self.accept_word(word) { Ok(()) } else { self.fail(Problem::Expected(word)) }
    }

    /// Items between commas, up to a closing symbol, which is consumed.
    pub(super) fn list<T>(
        &mut self,
        close: &'static str,
        mut item: impl FnMut(&mut Self) -> Parse<T>,
    ) -> Parse<Vec<T>> {
        let mut items = Vec::new();
        if self.cursor.accept(close) {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if self.cursor.accept(close) {
                return Ok(items);
            }
            self.cursor.expect(",")?;
        }
    }

    /// One or more items between commas.
    pub(super) fn items<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.cursor.accept(",") {
            items.push(item(self)?);
        }
        Ok(items)
    }

    pub(super) fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth >= DEEPEST {
            return self.fail(Problem::TooDeep);
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    pub(super) fn register(&mut self) -> Parse<Register> {
        if !self.cursor.accept("%") {
            return self.fail(Problem::Expected("a register"));
        }
        Ok(Register(self.cursor.number()?))
    }

    pub(super) fn name(&mut self) -> Parse<String> {
        if self.cursor.at("\"") {
            return Ok(self.cursor.quoted('"')?);
        }
        let name = self.cursor.take(print::is_bare);
        if name.is_empty() { self.fail(Problem::Expected("a name")) } else { Ok(name.to_owned()) }
    }
}

/// How many bytes of blanks and comments stand at the start of a line, or what is left of one.
fn blank(rest: &str) -> usize {
    let behind = rest.trim_start_matches([' ', '\t', '\r']);
    let comment = if behind.starts_with(';') { behind.find('\n').unwrap_or(behind.len()) } else { 0 };
    rest.len() - behind.len() + comment
}

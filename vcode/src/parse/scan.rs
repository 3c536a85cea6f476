//! The characters of the text form: blanks, words, names, quoted text, numbers and scalars.

use super::{Error, Parse, Problem};
use crate::print;
use crate::program::Register;
use nesl_prim::ScalarValue;

/// Deepest nesting of blocks and shapes: far more than flattening makes, far less than the stack holds.
const DEEPEST: usize = 500;

pub(super) struct Parser<'a> {
    pub(super) text: &'a str,
    pub(super) offset: usize,
    pub(super) depth: usize,
    /// Names of functions as they are used, with where.
    pub(super) names: Vec<(String, usize)>,
}

impl<'a> Parser<'a> {
    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.offset..]
    }

    pub(super) fn fail<T>(&self, problem: Problem) -> Parse<T> {
        Err(Error { offset: self.offset, problem })
    }

    /// Skips blanks and comments within a line.
    pub(super) fn skip_blanks(&mut self) {
        let rest = self.rest();
        let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\r']).len();
        self.offset += blank;
        if self.rest().starts_with(';') {
            self.offset += self.rest().find('\n').unwrap_or(self.rest().len());
        }
    }

    /// Skips blanks, comments and ends of lines.
    pub(super) fn skip_lines(&mut self) {
        self.skip_blanks();
        while self.rest().starts_with('\n') {
            self.offset += 1;
            self.skip_blanks();
        }
    }

    pub(super) fn at(&mut self, symbol: &str) -> bool {
        self.skip_blanks();
        self.rest().starts_with(symbol)
    }

    pub(super) fn accept(&mut self, symbol: &str) -> bool {
        let found = self.at(symbol);
        if found {
            self.offset += symbol.len();
        }
        found
    }

    pub(super) fn expect(&mut self, symbol: &'static str) -> Parse<()> {
        if self.accept(symbol) { Ok(()) } else { self.fail(Problem::Expected(symbol)) }
    }

    /// The run of characters for which `test` holds.
    pub(super) fn take(&mut self, test: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let taken = &rest[..rest.find(|character| !test(character)).unwrap_or(rest.len())];
        self.offset += taken.len();
        taken
    }

    pub(super) fn peek_word(&mut self) -> &'a str {
        self.skip_blanks();
        let start = self.offset;
        let word = self.take(|character| character.is_ascii_alphanumeric() || character == '_' || character == '.');
        self.offset = start;
        word
    }

    pub(super) fn accept_word(&mut self, word: &str) -> bool {
        let found = self.peek_word() == word;
        if found {
            self.offset += word.len();
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
        if self.accept(close) {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if self.accept(close) {
                return Ok(items);
            }
            self.expect(",")?;
        }
    }

    /// One or more items between commas.
    pub(super) fn items<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.accept(",") {
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

    pub(super) fn number(&mut self) -> Parse<u32> {
        self.skip_blanks();
        let start = self.offset;
        let digits = self.take(|character| character.is_ascii_digit());
        if digits.is_empty() {
            return self.fail(Problem::Expected("a number"));
        }
        digits.parse().map_err(|_| Error { offset: start, problem: Problem::NumberOutOfRange })
    }

    pub(super) fn register(&mut self) -> Parse<Register> {
        if !self.accept("%") {
            return self.fail(Problem::Expected("a register"));
        }
        self.number().map(Register)
    }

    pub(super) fn name(&mut self) -> Parse<String> {
        if self.at("\"") {
            return self.quoted();
        }
        let name = self.take(print::is_bare);
        if name.is_empty() { self.fail(Problem::Expected("a name")) } else { Ok(name.to_owned()) }
    }

    /// The next character of the line.
    pub(super) fn next_character(&mut self) -> Option<char> {
        let character = self.rest().chars().next().filter(|&character| character != '\n')?;
        self.offset += character.len_utf8();
        Some(character)
    }

    pub(super) fn quoted(&mut self) -> Parse<String> {
        self.expect("\"")?;
        let mut text = String::new();
        loop {
            match self.next_character() {
                Some('"') => return Ok(text),
                Some('\\') => match self.next_character() {
                    Some('u') => {
                        self.expect("{")?;
                        let digits = self.take(|character| character.is_ascii_hexdigit());
                        let character = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
                        let Some(character) = character else { return self.fail(Problem::NumberOutOfRange) };
                        text.push(character);
                        self.expect("}")?;
                    }
                    Some(escaped @ ('"' | '\\')) => text.push(escaped),
                    _ => return self.fail(Problem::Expected("an escape")),
                },
                Some(character) => text.push(character),
                None => return self.fail(Problem::Expected("a closing quote")),
            }
        }
    }

    pub(super) fn hex_byte(&mut self) -> Parse<u8> {
        let digits = self.rest().get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let Some(byte) = digits else { return self.fail(Problem::Expected("two hexadecimal digits")) };
        self.offset += 2;
        Ok(byte)
    }

    pub(super) fn scalar(&mut self) -> Parse<ScalarValue> {
        self.skip_blanks();
        if self.accept("`") {
            return Ok(ScalarValue::Char(match self.next_character() {
                Some('\\') => {
                    self.expect("x")?;
                    self.hex_byte()?
                }
                Some(character) if character.is_ascii_graphic() => character as u8,
                _ => return self.fail(Problem::Expected("a character")),
            }));
        }
        let start = self.offset;
        let word = self.take(|character| character.is_ascii_alphanumeric() || ".:+-".contains(character));
        let error = |problem| Err(Error { offset: start, problem });
        match word {
            "t" => return Ok(ScalarValue::Bool(true)),
            "f" => return Ok(ScalarValue::Bool(false)),
            "nan" => return Ok(ScalarValue::Float(f64::NAN)),
            "inf" => return Ok(ScalarValue::Float(f64::INFINITY)),
            "-inf" => return Ok(ScalarValue::Float(f64::NEG_INFINITY)),
            _ => {}
        }
        if let Some(digits) = word.strip_prefix("nan:") {
            let bits = u64::from_str_radix(digits, 16).ok().map(f64::from_bits).filter(|value| value.is_nan());
            return bits.map_or_else(|| error(Problem::NumberOutOfRange), |value| Ok(ScalarValue::Float(value)));
        }
        if !word.trim_start_matches('-').starts_with(|character: char| character.is_ascii_digit()) {
            return error(Problem::Expected("a register or a scalar"));
        }
        let parsed = if word.contains(['.', 'e']) {
            word.parse().ok().map(ScalarValue::Float)
        } else {
            word.parse().ok().map(ScalarValue::Int)
        };
        parsed.map_or_else(|| error(Problem::NumberOutOfRange), Ok)
    }
}

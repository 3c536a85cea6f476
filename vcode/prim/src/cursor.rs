//! The characters of listings: how listings write scalars, names and bytes, and the cursor that reads them back.
//!
//! VCODE and typed core have text forms that are written and read again. Each has a parser of its own over this cursor,
//! which knows blanks, symbols, words, numbers and scalars.

use crate::text;
use crate::value::ScalarValue;

/// Why a text cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unread {
    /// Something else should stand here.
    Expected(&'static str),
    /// A number that its type cannot hold.
    NumberOutOfRange,
}

/// What cannot be read, and where: as bytes from the start.
pub type Scan<T> = Result<T, (usize, Unread)>;

/// A place in a text.
#[derive(Clone, Debug)]
pub struct Cursor<'a> {
    /// The text.
    pub text: &'a str,
    /// The place, as bytes from the start.
    pub offset: usize,
    /// How many bytes of what it is given are blank at its start.
    blank: fn(&str) -> usize,
}

impl<'a> Cursor<'a> {
    /// The start of a text, in which symbols stand behind what is blank.
    pub fn new(text: &'a str, blank: fn(&str) -> usize) -> Cursor<'a> {
        Cursor { text, offset: 0, blank }
    }

    /// What has not been read.
    pub fn rest(&self) -> &'a str {
        &self.text[self.offset..]
    }

    /// Fails at this place.
    ///
    /// # Errors
    /// Always.
    pub fn expected<T>(&self, what: &'static str) -> Scan<T> {
        Err((self.offset, Unread::Expected(what)))
    }

    /// Skips what is blank.
    pub fn skip_blanks(&mut self) {
        self.offset += (self.blank)(self.rest());
    }

    /// Whether a symbol stands next.
    pub fn at(&mut self, symbol: &str) -> bool {
        self.skip_blanks();
        self.rest().starts_with(symbol)
    }

    /// Reads a symbol if it stands next.
    pub fn accept(&mut self, symbol: &str) -> bool {
        let found = self.at(symbol);
        if found {
            self.offset += symbol.len();
        }
        found
    }

    /// Reads a symbol.
    ///
    /// # Errors
    /// If something else stands next.
    pub fn expect(&mut self, symbol: &'static str) -> Scan<()> {
        if self.accept(symbol) { Ok(()) } else { self.expected(symbol) }
    }

    /// The run of characters for which `test` holds.
    pub fn take(&mut self, test: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let taken = &rest[..rest.find(|character| !test(character)).unwrap_or(rest.len())];
        self.offset += taken.len();
        taken
    }

    /// A number.
    ///
    /// # Errors
    /// If none stands next, or one that is too large.
    pub fn number(&mut self) -> Scan<u32> {
        self.skip_blanks();
        let start = self.offset;
        let digits = self.take(|character| character.is_ascii_digit());
        if digits.is_empty() {
            return self.expected("a number");
        }
        digits.parse().map_err(|_| (start, Unread::NumberOutOfRange))
    }

    /// The next character of the line.
    pub fn next_character(&mut self) -> Option<char> {
        let character = self.rest().chars().next().filter(|&character| character != '\n')?;
        self.offset += character.len_utf8();
        Some(character)
    }

    /// What [`quoted`] wrote between these quotes.
    ///
    /// # Errors
    /// If it is no such text.
    pub fn quoted(&mut self, quote: char) -> Scan<String> {
        self.skip_blanks();
        if self.next_character() != Some(quote) {
            return self.expected("a quote");
        }
        let mut text = String::new();
        loop {
            match self.next_character() {
                Some(end) if end == quote => return Ok(text),
                Some('\\') => match self.next_character() {
                    Some('u') => {
                        let digits = self.rest().strip_prefix('{').and_then(|rest| rest.split_once('}'));
                        let digits = digits.map_or("", |(digits, _)| digits);
                        let character = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
                        let Some(character) = character else { return Err((self.offset, Unread::NumberOutOfRange)) };
                        self.offset += digits.len() + 2;
                        text.push(character);
                    }
                    Some(escaped) if escaped == quote || escaped == '\\' => text.push(escaped),
                    _ => return self.expected("an escape"),
                },
                Some(character) => text.push(character),
                None => return self.expected("a closing quote"),
            }
        }
    }

    fn hex_byte(&mut self) -> Scan<u8> {
        let digits = self.rest().get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let Some(byte) = digits else { return self.expected("two hexadecimal digits") };
        self.offset += 2;
        Ok(byte)
    }

    /// What [`bytes`] wrote.
    ///
    /// # Errors
    /// If it is no such text.
    pub fn bytes(&mut self) -> Scan<Vec<u8>> {
        self.expect("\"")?;
        let mut bytes = Vec::new();
        loop {
            match self.next_character() {
                Some('"') => return Ok(bytes),
                Some('\\') if self.rest().starts_with('x') => {
                    self.offset += 1;
                    bytes.push(self.hex_byte()?);
                }
                Some('\\') => match self.next_character() {
                    Some(escaped @ ('"' | '\\')) => bytes.push(escaped as u8),
                    _ => return self.expected("an escape"),
                },
                Some(character) if character.is_ascii() => bytes.push(character as u8),
                _ => return self.expected("a closing quote"),
            }
        }
    }

    /// What [`scalar`] wrote, where this is wanted: `a scalar`, or more that a scalar is one of.
    ///
    /// # Errors
    /// If it is no such text.
    pub fn scalar(&mut self, wanted: &'static str) -> Scan<ScalarValue> {
        self.skip_blanks();
        if self.accept("`") {
            return Ok(ScalarValue::Char(match self.next_character() {
                Some('\\') => {
                    self.expect("x")?;
                    self.hex_byte()?
                }
                Some(character) if character.is_ascii_graphic() => character as u8,
                _ => return self.expected("a character"),
            }));
        }
        let start = self.offset;
        let word = self.take(|character| character.is_ascii_alphanumeric() || ".:+-".contains(character));
        let out_of_range = (start, Unread::NumberOutOfRange);
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
            return bits.map(ScalarValue::Float).ok_or(out_of_range);
        }
        if !word.trim_start_matches('-').starts_with(|character: char| character.is_ascii_digit()) {
            return Err((start, Unread::Expected(wanted)));
        }
        let parsed = if word.contains(['.', 'e']) {
            word.parse().ok().map(ScalarValue::Float)
        } else {
            word.parse().ok().map(ScalarValue::Int)
        };
        parsed.ok_or(out_of_range)
    }
}

/// A scalar as listings write it: every value has a text of its own.
pub fn scalar(value: ScalarValue) -> String {
    match value {
        ScalarValue::Float(value) if value.is_nan() && value.to_bits() != f64::NAN.to_bits() => {
            format!("nan:{:016x}", value.to_bits())
        }
        ScalarValue::Char(code) if !code.is_ascii_graphic() || code == b'\\' => format!("`\\x{code:02x}"),
        other => text::scalar(other),
    }
}

/// Characters as listings write them, between double quotes.
pub fn bytes(bytes: &[u8]) -> String {
    let mut out = String::from("\"");
    for &byte in bytes {
        match byte {
            b'"' | b'\\' => out.extend(['\\', char::from(byte)]),
            b' ' | b'!'..=b'~' => out.push(char::from(byte)),
            other => out.push_str(&format!("\\x{other:02x}")),
        }
    }
    out + "\""
}

/// A name as listings write it where it is not plain, on one line between quotes.
pub fn quoted(name: &str, quote: char) -> String {
    let mut out = String::from(quote);
    for character in name.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            other if other == quote => out.extend(['\\', other]),
            control if control.is_control() => out.push_str(&format!("\\u{{{:x}}}", u32::from(control))),
            other => out.push(other),
        }
    }
    out.push(quote);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cursor(text: &str) -> Cursor<'_> {
        Cursor::new(text, |rest| rest.len() - rest.trim_start().len())
    }

    #[test]
    fn what_is_written_is_read_back() {
        let floats =
            [0.0, -0.0, 1.5e300, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::from_bits(0x7ff8_0000_0000_0001)];
        let values = floats.map(ScalarValue::Float).into_iter();
        let values = values.chain([i64::MIN, -1, 0, i64::MAX].map(ScalarValue::Int));
        for value in values.chain([true, false].map(ScalarValue::Bool)).chain((0..=255).map(ScalarValue::Char)) {
            let text = scalar(value);
            let mut cursor = cursor(&text);
            let read = cursor.scalar("a scalar").map(|read| (read.scalar_type(), read.to_word()));
            assert_eq!((read, cursor.rest()), (Ok((value.scalar_type(), value.to_word())), ""), "{text}");
        }
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(cursor(&bytes(&all)).bytes(), Ok(all));
        for name in ["", "lambda at 3:5", "it's", "\\", "a\nb\u{7f}", "λ"] {
            assert_eq!(cursor(&quoted(name, '\'')).quoted('\'').as_deref(), Ok(name));
        }
    }

    #[test]
    fn what_cannot_be_read_says_where() {
        let expected = |text: &'static str| Unread::Expected(text);
        assert_eq!(cursor("  x").scalar("a scalar"), Err((2, expected("a scalar"))));
        assert_eq!(cursor("9223372036854775808").scalar("a scalar"), Err((0, Unread::NumberOutOfRange)));
        assert_eq!(cursor("4294967296").number(), Err((0, Unread::NumberOutOfRange)));
        assert_eq!(cursor("\"ab").bytes(), Err((3, expected("a closing quote"))));
        assert_eq!(cursor("'a\\x").quoted('\''), Err((4, expected("an escape"))));
        assert_eq!(cursor("'\\u{110000}'").quoted('\''), Err((3, Unread::NumberOutOfRange)));
        assert_eq!(cursor("'\\u").quoted('\''), Err((3, Unread::NumberOutOfRange)));
        assert_eq!(cursor("`\\x1é").scalar("a scalar"), Err((3, expected("two hexadecimal digits"))));
    }
}

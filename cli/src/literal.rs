//! NESL literals on the command line: `5`, `-2.5`, `[1, 2]`, `[(1, "a")]`.
//!
//! Read with the lexer of the language, so that numbers, characters and escapes are what they are in a program, but
//! without its grammar and library: a built executable starts in a moment. What the literal is to be is known from the
//! parameter. What is none is [`Malformed`] at a place.

use nesl_backend::Literal;
use nesl_frontend::ast::BinaryOp;
use nesl_frontend::syntax::nesl::lexer::{Lexed, lex};
use nesl_frontend::syntax::nesl::token::{Bracket, Token};
use nesl_prim::{ScalarType, ScalarValue};
use nesl_span::FileId;
use nesl_vcode::{Constants, Shape};
use std::fmt;
use std::iter::Peekable;
use std::ops::Range;
use std::vec::IntoIter;

/// Brackets inside brackets that a literal may have: more than any type that a person writes.
const MOST_NESTED: usize = 64;

/// Characters of a text that are shown on either side of a place in it.
const AROUND: usize = 30;

/// What is wrong with a text that is not a literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The mistake, as a sentence.
    pub message: String,
    /// The text around the place, and under it a pointer to the place: two lines.
    pub excerpt: String,
}

impl fmt::Display for Malformed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}\n{}", self.message, self.excerpt)
    }
}

/// A mistake and its place in the text.
type Mistake = (String, Range<usize>);

/// Reads a literal.
///
/// # Errors
/// What is wrong with the text, and where.
pub fn parse(text: &str) -> Result<Literal, Malformed> {
    read(text).map_err(|(message, place)| Malformed { message, excerpt: excerpt(text, place) })
}

fn read(text: &str) -> Result<Literal, Mistake> {
    let Lexed { tokens, diagnostics, .. } = lex(FileId(0), text);
    if let Some(diagnostic) = diagnostics.into_iter().next() {
        let place = diagnostic.labels.first().map_or(0..0, |label| label.span.start as usize..label.span.end as usize);
        return Err((diagnostic.message, place));
    }
    let tokens: Vec<_> =
        tokens.into_iter().map(|(token, span)| (token, span.start as usize..span.end as usize)).collect();
    let mut reader = Reader { tokens: tokens.into_iter().peekable(), end: text.trim_end().len() };
    let literal = reader.value(0)?;
    match reader.next() {
        (None, _) => Ok(literal),
        (Some(token), place) => Err((format!("{token} follows the value"), place)),
    }
}

/// The part of a text around a place on one line, and a line that points to the place. What is no text is shown by its
/// code.
fn excerpt(text: &str, place: Range<usize>) -> String {
    let start = text.floor_char_boundary(place.start.min(text.len()));
    let end = text.ceil_char_boundary(place.end.clamp(start, text.len()));
    let visible = |character: char| match character {
        '"' | '\'' | '\\' => character.to_string(),
        _ => character.escape_debug().to_string(),
    };
    let before: Vec<char> = text[..start].chars().collect();
    let shown = before.len().saturating_sub(AROUND);
    let mut line: String = if shown > 0 { "… ".to_owned() } else { String::new() };
    line.extend(before[shown..].iter().map(|&character| visible(character)));
    let indent = line.chars().count();
    let marked: String = text[start..end].chars().take(AROUND).map(visible).collect();
    let width = marked.chars().count().max(1);
    let mut after = text[start..].chars().skip(text[start..end].chars().take(AROUND).count());
    line += &marked;
    line.extend(after.by_ref().take(AROUND).map(visible));
    if after.next().is_some() {
        line += " …";
    }
    format!("  {line}\n  {}{}", " ".repeat(indent), "^".repeat(width))
}

/// The literal with ints for floats where the shape wants floats and no digit is lost: on a command line `2` is enough.
#[must_use]
pub fn fit(literal: Literal, shape: &Shape) -> Literal {
    match (literal, shape) {
        (Literal::Scalar(ScalarValue::Int(value)), Shape::Scalar(ScalarType::Float)) => match exact_float(value) {
            Some(float) => Literal::Scalar(ScalarValue::Float(float)),
            None => Literal::Scalar(ScalarValue::Int(value)),
        },
        (Literal::Pair(first, rest), Shape::Pair(first_shape, rest_shape)) => {
            Literal::Pair(Box::new(fit(*first, first_shape)), Box::new(fit(*rest, rest_shape)))
        }
        (Literal::Sequence(items), Shape::Sequence(element)) => {
            Literal::Sequence(items.into_iter().map(|item| fit(item, element)).collect())
        }
        (literal, Shape::Record(_, payload)) => fit(literal, payload),
        (literal, _) => literal,
    }
}

/// The float equal to an int, if there is one.
pub fn exact_float(value: i64) -> Option<f64> {
    let float = value as f64;
    // 2^63 is a float but not an int: the cast back would saturate to an int that differs.
    (float < 9.2e18 && float as i64 == value).then_some(float)
}

/// The floats that have no digits: the library has them under the same names.
fn special_float(name: &str) -> Option<f64> {
    match name {
        "inf" => Some(f64::INFINITY),
        "nan" => Some(f64::NAN),
        _ => None,
    }
}

struct Reader {
    tokens: Peekable<IntoIter<(Token, Range<usize>)>>,
    /// Where the text ends.
    end: usize,
}

impl Reader {
    /// The next token with its place; the end of the text after the last.
    fn next(&mut self) -> (Option<Token>, Range<usize>) {
        match self.tokens.next() {
            Some((token, place)) => (Some(token), place),
            None => (None, self.end..self.end),
        }
    }

    fn value(&mut self, depth: usize) -> Result<Literal, Mistake> {
        let scalar = |value| Ok(Literal::Scalar(value));
        let (token, place) = self.next();
        if depth > MOST_NESTED {
            return Err(("this is nested too deeply".to_owned(), place));
        }
        match token {
            Some(Token::Int(value)) => scalar(ScalarValue::Int(value)),
            Some(Token::Float(value)) => scalar(ScalarValue::Float(value)),
            Some(Token::Bool(value)) => scalar(ScalarValue::Bool(value)),
            Some(Token::Char(value)) => scalar(ScalarValue::Char(value)),
            Some(Token::Text(bytes)) => Ok(Literal::Constants(Constants::Char(bytes.to_vec()))),
            Some(Token::Name(name)) if special_float(&name).is_some() => {
                scalar(ScalarValue::Float(special_float(&name).unwrap_or_default()))
            }
            Some(Token::Operator(BinaryOp::Subtract)) => match self.next() {
                // The lexer has the least int without its sign as itself.
                (Some(Token::Int(value)), _) => scalar(ScalarValue::Int(value.wrapping_neg())),
                (Some(Token::Name(name)), _) if special_float(&name).is_some() => {
                    scalar(ScalarValue::Float(-special_float(&name).unwrap_or_default()))
                }
                (Some(Token::Float(value)), _) => scalar(ScalarValue::Float(-value)),
                (_, place) => Err(("a number must follow the `-`".to_owned(), place)),
            },
            Some(Token::Open(Bracket::Square)) => Ok(Literal::Sequence(self.items(Bracket::Square, depth)?)),
            Some(Token::Open(Bracket::Parenthesis)) => {
                let items = self.items(Bracket::Parenthesis, depth)?;
                let pair = |rest, first| Literal::Pair(Box::new(first), Box::new(rest));
                Ok(items.into_iter().rev().reduce(pair).unwrap_or(Literal::Unit))
            }
            Some(Token::Comma | Token::Close(_)) => Err(("a value is missing here".to_owned(), place)),
            Some(token) => Err((format!("{token} is not a value"), place)),
            None => Err(("a value is missing here".to_owned(), place)),
        }
    }

    /// Values with commas between them, up to the closing bracket.
    fn items(&mut self, bracket: Bracket, depth: usize) -> Result<Vec<Literal>, Mistake> {
        let mut items = Vec::new();
        if self.tokens.next_if(|(token, _)| *token == Token::Close(bracket)).is_some() {
            return Ok(items);
        }
        loop {
            items.push(self.value(depth + 1)?);
            let wanted = Token::Close(bracket);
            match self.next() {
                (Some(Token::Comma), _) => {}
                (Some(token), _) if token == wanted => return Ok(items),
                (Some(token), place) => return Err((format!("expected `,` or {wanted}, found {token}"), place)),
                (None, place) => return Err((format!("the bracket is not closed: expected `,` or {wanted}"), place)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(value: i64) -> Literal {
        Literal::Scalar(ScalarValue::Int(value))
    }

    #[test]
    fn scalars_and_signs() {
        assert_eq!(parse("-5"), Ok(int(-5)));
        assert_eq!(parse("-9223372036854775808"), Ok(int(i64::MIN)));
        assert_eq!(parse(" 2.5 "), Ok(Literal::Scalar(ScalarValue::Float(2.5))));
        assert_eq!(parse("t"), Ok(Literal::Scalar(ScalarValue::Bool(true))));
        assert_eq!(parse("[-9223372036854775808]"), Ok(Literal::Sequence(vec![int(i64::MIN)])));
        assert_eq!(parse("-inf"), Ok(Literal::Scalar(ScalarValue::Float(f64::NEG_INFINITY))));
        assert_eq!(parse("nan"), Ok(Literal::Scalar(ScalarValue::Float(f64::NAN))));
        assert_eq!(parse("`a"), Ok(Literal::Scalar(ScalarValue::Char(b'a'))));
    }

    #[test]
    fn tuples_nest_to_the_right() {
        assert_eq!(parse("(1, 2, 3)"), parse("(1, (2, 3))"));
        assert_eq!(parse("(7)"), Ok(int(7)));
        assert_eq!(parse("()"), Ok(Literal::Unit));
        assert_eq!(
            parse("[[1], []]"),
            Ok(Literal::Sequence(vec![Literal::Sequence(vec![int(1)]), Literal::Sequence(vec![])]))
        );
    }

    #[test]
    fn garbage_is_described() {
        for text in ["", "[1", "[1 2]", "1 2", "x", "-", "]", "\"abc", "99999999999999999999"] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse(&"[".repeat(100_000)).is_err());
    }

    #[test]
    fn mistakes_have_a_place() {
        for (text, message, pointer) in [
            ("[3, 1, x]", "`x` is not a value", "       ^"),
            ("[3, 1, 2", "the bracket is not closed: expected `,` or `]`", "        ^"),
            ("[1 22]", "expected `,` or `]`, found the number `22`", "   ^^"),
            ("(1, 2]", "expected `,` or `)`, found `]`", "     ^"),
            ("[1,, 2]", "a value is missing here", "   ^"),
            ("1 2", "the number `2` follows the value", "  ^"),
            ("", "a value is missing here", "^"),
            ("é", "`é` is not a value", "^"),
        ] {
            let found = parse(text).unwrap_err();
            assert_eq!((found.message.as_str(), found.excerpt), (message, format!("  {text}\n  {pointer}")));
        }
    }

    #[test]
    fn excerpts_are_short_and_harmless() {
        let long = format!("[{}x\u{1b}]0;title\u{7}\n{}]", "1, ".repeat(10_000), ", 1".repeat(10_000));
        let found = parse(&long).unwrap_err();
        assert!(found.excerpt.len() < 200 && !found.excerpt.contains('\u{1b}'), "{found}");
        assert_eq!(found.excerpt.lines().count(), 2);
        let [line, pointer] = [found.excerpt.lines().next().unwrap(), found.excerpt.lines().last().unwrap()];
        let column = pointer.chars().position(|character| character == '^').unwrap();
        assert_eq!(line.chars().nth(column), Some('\\'), "{found}");
    }

    #[test]
    fn ints_become_floats_only_where_nothing_is_lost() {
        let float = Shape::Scalar(ScalarType::Float);
        assert_eq!(fit(int(2), &float), Literal::Scalar(ScalarValue::Float(2.0)));
        assert_eq!(fit(int((1 << 53) + 1), &float), int((1 << 53) + 1));
        assert_eq!(fit(int(i64::MAX), &float), int(i64::MAX));
        assert_eq!(fit(int(i64::MIN), &float), Literal::Scalar(ScalarValue::Float(-(2f64.powi(63)))));
    }
}

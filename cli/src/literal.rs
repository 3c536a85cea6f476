//! NESL literals on the command line: `5`, `-2.5`, `[1, 2]`, `[(1, "a")]`.
//!
//! Read with the lexer of the language, so that numbers, characters and escapes are what they are in a program, but without
//! its grammar and library: a built executable starts in a moment. What the literal is to be is known from the parameter.

use nesl_backend::Literal;
use nesl_frontend::ast::BinaryOp;
use nesl_frontend::lexer::lex;
use nesl_frontend::token::{Bracket, Token};
use nesl_prim::{ScalarType, ScalarValue};
use nesl_span::FileId;
use nesl_vcode::{Constants, Shape};
use std::iter::Peekable;
use std::vec::IntoIter;

/// Brackets inside brackets that a literal may have: more than any type that a person writes.
const MOST_NESTED: usize = 64;

/// Reads a literal.
///
/// # Errors
/// What is wrong with the text, as the end of a sentence about it.
pub fn parse(text: &str) -> Result<Literal, String> {
    let (tokens, diagnostics) = lex(FileId(0), text);
    if let Some(diagnostic) = diagnostics.first() {
        return Err(diagnostic.message.clone());
    }
    let tokens: Vec<Token> = tokens.into_iter().map(|(token, _)| token).collect();
    let mut reader = Reader { tokens: tokens.into_iter().peekable() };
    let literal = reader.value(0)?;
    match reader.tokens.next() {
        None => Ok(literal),
        Some(token) => Err(format!("{token} follows the literal")),
    }
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
    tokens: Peekable<IntoIter<Token>>,
}

impl Reader {
    fn value(&mut self, depth: usize) -> Result<Literal, String> {
        if depth > MOST_NESTED {
            return Err("it is nested too deeply".to_owned());
        }
        let scalar = |value| Ok(Literal::Scalar(value));
        match self.tokens.next() {
            Some(Token::Int(value)) => scalar(ScalarValue::Int(value)),
            Some(Token::Float(value)) => scalar(ScalarValue::Float(value)),
            Some(Token::Bool(value)) => scalar(ScalarValue::Bool(value)),
            Some(Token::Char(value)) => scalar(ScalarValue::Char(value)),
            Some(Token::Text(bytes)) => Ok(Literal::Constants(Constants::Char(bytes.to_vec()))),
            Some(Token::Name(name)) if special_float(&name).is_some() => {
                scalar(ScalarValue::Float(special_float(&name).unwrap_or_default()))
            }
            Some(Token::Operator(BinaryOp::Subtract)) => match self.tokens.next() {
                // The lexer has the least int without its sign as itself.
                Some(Token::Int(value)) => scalar(ScalarValue::Int(value.wrapping_neg())),
                Some(Token::Name(name)) if special_float(&name).is_some() => {
                    scalar(ScalarValue::Float(-special_float(&name).unwrap_or_default()))
                }
                Some(Token::Float(value)) => scalar(ScalarValue::Float(-value)),
                _ => Err("a number must follow the `-`".to_owned()),
            },
            Some(Token::Open(Bracket::Square)) => Ok(Literal::Sequence(self.items(Bracket::Square, depth)?)),
            Some(Token::Open(Bracket::Parenthesis)) => {
                let items = self.items(Bracket::Parenthesis, depth)?;
                let pair = |rest, first| Literal::Pair(Box::new(first), Box::new(rest));
                items.into_iter().rev().reduce(pair).ok_or_else(|| "`()` is not a value".to_owned())
            }
            Some(token) => Err(format!("a literal does not begin with {token}")),
            None => Err("there is nothing in it".to_owned()),
        }
    }

    /// Values with commas between them, up to the closing bracket.
    fn items(&mut self, bracket: Bracket, depth: usize) -> Result<Vec<Literal>, String> {
        let mut items = Vec::new();
        if self.tokens.next_if_eq(&Token::Close(bracket)).is_some() {
            return Ok(items);
        }
        loop {
            items.push(self.value(depth + 1)?);
            match self.tokens.next() {
                Some(Token::Comma) => {}
                Some(Token::Close(closing)) if closing == bracket => return Ok(items),
                Some(token) => return Err(format!("{token} is not expected inside the brackets")),
                None => return Err("a bracket is not closed".to_owned()),
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
        assert_eq!(
            parse("[[1], []]"),
            Ok(Literal::Sequence(vec![Literal::Sequence(vec![int(1)]), Literal::Sequence(vec![])]))
        );
    }

    #[test]
    fn garbage_is_described() {
        for text in ["", "[1", "[1 2]", "1 2", "()", "x", "-", "]", "\"abc", "99999999999999999999"] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse(&"[".repeat(100_000)).is_err());
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

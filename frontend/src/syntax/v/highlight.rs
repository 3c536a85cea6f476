//! The tokens of a line, for those who colour it.

use super::lexer::{Lexed, lex};
use super::token::{Token, WORDS};
use crate::diagnostic::{Tag, is_about};
use nesl_span::{FileId, Span};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A word of the language.
    Word,
    /// A number, or a truth value.
    Constant,
    /// A character or a text.
    Text,
    /// An opening bracket.
    Open,
    /// A closing bracket.
    Close,
    /// Anything else.
    Other,
}

/// The tokens of a text with their places, and whether a string or a comment is open at its end.
pub fn parts(text: &str) -> (Vec<(Part, Span)>, bool) {
    let Lexed { tokens, diagnostics, .. } = lex(FileId(0), text);
    let part = |token: &Token| match token {
        Token::Word("true" | "false") | Token::Int(_) | Token::Double(_) => Part::Constant,
        Token::Word(_) => Part::Word,
        Token::Char(_) | Token::Text(_) => Part::Text,
        Token::Sign("(" | "[" | "{") => Part::Open,
        Token::Sign(")" | "]" | "}") => Part::Close,
        _ => Part::Other,
    };
    let is_open = is_about(&diagnostics, &[Tag::OpenComment, Tag::OpenString]);
    (tokens.iter().map(|(token, span)| (part(token), *span)).collect(), is_open)
}

/// The words of the language that programs use.
pub fn words() -> impl Iterator<Item = &'static str> {
    const FOREIGN: [&str; 16] = [
        "union", "goto", "switch", "case", "default", "typedef", "enum", "sizeof", "static", "const", "unsigned",
        "signed", "short", "extern", "volatile", "register",
    ];
    WORDS.into_iter().filter(|word| !FOREIGN.contains(word) && !matches!(*word, "auto" | "inline"))
}

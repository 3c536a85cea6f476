//! The tokens of V.

use crate::ast::Symbol;
use std::fmt;
use std::sync::Arc;

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::syntax::v) enum Token {
    /// `12`, `0xff`
    Int(i64),
    /// `1.5`
    Double(f64),
    /// `'a'`
    Char(u8),
    /// `"ab"`: the bytes after escapes.
    Text(Arc<[u8]>),
    /// A name, as it is written: V distinguishes capital letters.
    Name(Symbol),
    /// One of [`WORDS`].
    Word(&'static str),
    /// One of [`SIGNS`].
    Sign(&'static str),
    /// What could not be read; it has been reported.
    Unreadable,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Int(value) => write!(f, "`{value}`"),
            Token::Double(value) => write!(f, "`{value:?}`"),
            Token::Char(_) => f.write_str("a character"),
            Token::Text(_) => f.write_str("a string"),
            Token::Name(name) => write!(f, "`{name}`"),
            Token::Word(text) | Token::Sign(text) => write!(f, "`{text}`"),
            Token::Unreadable => f.write_str("what cannot be read"),
        }
    }
}

/// The word that begins an import. Elsewhere it is a name.
pub(in crate::syntax::v) const IMPORT: &str = "import";

/// The words that are no names: those of V, then those of C that V does without.
pub(in crate::syntax::v) const WORDS: [&str; 38] = [
    "int", "long", "double", "float", "char", "bool", "void", "struct", "pure", "if", "else", "while", "for", "do",
    "break", "continue", "return", "in", "true", "false", "union", "goto", "switch", "case", "default", "typedef",
    "enum", "sizeof", "static", "const", "unsigned", "signed", "short", "extern", "volatile", "register", "auto",
    "inline",
];

/// Brackets, punctuation and operators; of two that begin alike the longer stands first.
pub(in crate::syntax::v) const SIGNS: [&str; 48] = [
    "<<=", ">>=", "...", "><", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=", "*=",
    "/=", "%=", "&=", "|=", "^=", "(", ")", "[", "]", "{", "}", ",", ";", ":", "?", "=", "<", ">", "+", "-", "*", "/",
    "%", "&", "|", "^", "~", "!", "$", ".",
];

//! The tokens of NESL: what the lexer makes and the parser reads.
//!
//! Every operator and keyword is a value of an enum, so that the grammar never compares text. Some tokens exist only to
//! be refused with a good message: [`Foreign`].

use crate::ast::{BinaryOp, Symbol};
use nesl_prim::ScalarValue;
use std::fmt;
use std::sync::Arc;

/// One token.
#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    /// An integer constant.
    Int(i64),
    /// A floating-point constant.
    Float(f64),
    /// `t` or `f`.
    Bool(bool),
    /// A backquote and a character.
    Char(u8),
    /// A string: its bytes after escapes.
    Text(Arc<[u8]>),
    /// A name in lower case.
    Name(Symbol),
    /// A word of the grammar.
    Keyword(Keyword),
    /// An infix operator; `-` may turn out to be a prefix.
    Operator(BinaryOp),
    /// `#`
    Hash,
    /// `@`
    At,
    /// `'`
    Quote,
    /// An opening bracket.
    Open(Bracket),
    /// A closing bracket.
    Close(Bracket),
    /// `,`
    Comma,
    /// `;`
    Semicolon,
    /// `$`
    Dollar,
    /// `:`
    Colon,
    /// `::`
    DoubleColon,
    /// `=`
    Equal,
    /// `|`
    Bar,
    /// `=>`
    Lambda,
    /// `:=`
    ColonEqual,
    /// Something that the language does not have, or not yet.
    Foreign(Foreign),
    /// Text the lexer could not read; it has been reported. Stands for an expression.
    Unreadable,
}

impl Token {
    /// The value of a constant.
    pub fn constant(&self) -> Option<ScalarValue> {
        Some(match self {
            Token::Int(value) => ScalarValue::Int(*value),
            Token::Float(value) => ScalarValue::Float(*value),
            Token::Bool(value) => ScalarValue::Bool(*value),
            Token::Char(code) => ScalarValue::Char(*code),
            _ => return None,
        })
    }
}

/// The words of the grammar, without those that are operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the word says it all")]
pub enum Keyword {
    If,
    Then,
    Else,
    Let,
    In,
    Function,
    Datatype,
    Time,
}

impl Keyword {
    /// All of them.
    pub const ALL: [Keyword; 8] = [
        Keyword::If,
        Keyword::Then,
        Keyword::Else,
        Keyword::Let,
        Keyword::In,
        Keyword::Function,
        Keyword::Datatype,
        Keyword::Time,
    ];

    /// The word.
    pub fn text(self) -> &'static str {
        match self {
            Keyword::If => "if",
            Keyword::Then => "then",
            Keyword::Else => "else",
            Keyword::Let => "let",
            Keyword::In => "in",
            Keyword::Function => "function",
            Keyword::Datatype => "datatype",
            Keyword::Time => "time",
        }
    }
}

/// The three kinds of brackets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bracket {
    /// `(` and `)`
    Parenthesis,
    /// `[` and `]`
    Square,
    /// `{` and `}`
    Brace,
}

impl Bracket {
    /// The opening bracket.
    pub fn open(self) -> &'static str {
        match self {
            Bracket::Parenthesis => "(",
            Bracket::Square => "[",
            Bracket::Brace => "{",
        }
    }

    /// The closing bracket.
    pub fn close(self) -> &'static str {
        match self {
            Bracket::Parenthesis => ")",
            Bracket::Square => "]",
            Bracket::Brace => "}",
        }
    }
}

/// What NESL reserves but this implementation does not have yet, and what people bring along from other languages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foreign {
    /// `closure`
    Closure,
    /// `defconfig`
    Defconfig,
    /// `pair`
    Pair,
    /// `|=`, which assigns at the top level
    FileVariable,
    /// `&=`
    Background,
    /// `!=`
    NotEqual,
    /// `&&`
    DoubleAmpersand,
    /// `&`
    Ampersand,
    /// `!`
    Exclamation,
    /// `>>`
    DoubleGreater,
}

impl Foreign {
    /// How it is written.
    pub fn text(self) -> &'static str {
        match self {
            Foreign::Closure => "closure",
            Foreign::Defconfig => "defconfig",
            Foreign::Pair => "pair",
            Foreign::FileVariable => "|=",
            Foreign::Background => "&=",
            Foreign::NotEqual => "!=",
            Foreign::DoubleAmpersand => "&&",
            Foreign::Ampersand => "&",
            Foreign::Exclamation => "!",
            Foreign::DoubleGreater => ">>",
        }
    }
}

/// The token as a message shows it: quoted source text, or a description.
impl fmt::Display for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Token::Int(value) => return write!(formatter, "the number `{value}`"),
            Token::Float(value) => return write!(formatter, "the number `{}`", nesl_prim::text::float(*value)),
            Token::Bool(value) => return write!(formatter, "the truth value `{}`", if *value { "t" } else { "f" }),
            Token::Char(_) => return formatter.write_str("a character constant"),
            Token::Text(_) => return formatter.write_str("a string"),
            Token::Unreadable => return formatter.write_str("unreadable text"),
            Token::Name(symbol) => symbol,
            Token::Keyword(keyword) => keyword.text(),
            Token::Operator(op) => op.function(),
            Token::Hash => "#",
            Token::At => "@",
            Token::Quote => "'",
            Token::Open(bracket) => bracket.open(),
            Token::Close(bracket) => bracket.close(),
            Token::Comma => ",",
            Token::Semicolon => ";",
            Token::Dollar => "$",
            Token::Colon => ":",
            Token::DoubleColon => "::",
            Token::Equal => "=",
            Token::Bar => "|",
            Token::Lambda => "=>",
            Token::ColonEqual => ":=",
            Token::Foreign(foreign) => foreign.text(),
        };
        write!(formatter, "`{text}`")
    }
}

/// Whether a reserved word stands where only a name can: after a word that a name follows, or where something is bound.
pub(crate) fn is_meant_as_name<P>(tokens: &[(Token, P)], index: usize) -> bool {
    let before = index.checked_sub(1).and_then(|before| tokens.get(before)).map(|(token, _)| token);
    let after = tokens.get(index + 1).map(|(token, _)| token);
    let is_named = matches!(before, Some(Token::Keyword(Keyword::Function | Keyword::Datatype)))
        || (matches!(before, Some(Token::Keyword(Keyword::Let))) && after == Some(&Token::Equal));
    let begins_form = matches!(tokens.get(index), Some((Token::Keyword(Keyword::Function | Keyword::Datatype), _)));
    is_named || (begins_form && matches!(after, Some(Token::Equal | Token::Comma | Token::Close(_))))
}

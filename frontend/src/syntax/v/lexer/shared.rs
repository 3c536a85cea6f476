//! The tokens of V as tokens of NESL, for services that ask what is a name, a constant or a bracket, not what it says.

use super::lex;
use crate::ast::{BinaryOp, Symbol};
use crate::syntax::nesl::lexer::Lexed;
use crate::syntax::nesl::token::{self, Bracket, Keyword};
use crate::syntax::v::token::Token;
use nesl_span::FileId;

/// Tokens and comments of a text. Words of the language are all one keyword, operators all one operator, and names of
/// types one name.
pub fn lexed(file: FileId, text: &str) -> Lexed {
    let super::Lexed { tokens, comments, diagnostics } = lex(file, text);
    let tokens = tokens.into_iter().map(|(token, span)| (shared(token), span)).collect();
    Lexed { tokens, comments, diagnostics }
}

fn shared(token: Token) -> token::Token {
    match token {
        Token::Int(value) => token::Token::Int(value),
        Token::Double(value) => token::Token::Float(value),
        Token::Char(code) => token::Token::Char(code),
        Token::Text(bytes) => token::Token::Text(bytes),
        Token::Name(name) => token::Token::Name(name),
        Token::Word("true") => token::Token::Bool(true),
        Token::Word("false") => token::Token::Bool(false),
        Token::Word("int" | "long" | "double" | "float" | "char" | "bool" | "void") => {
            token::Token::Name(Symbol::from("int"))
        }
        Token::Word(_) => token::Token::Keyword(Keyword::Let),
        Token::Sign(sign) => match sign {
            "(" => token::Token::Open(Bracket::Parenthesis),
            "[" => token::Token::Open(Bracket::Square),
            "{" => token::Token::Open(Bracket::Brace),
            ")" => token::Token::Close(Bracket::Parenthesis),
            "]" => token::Token::Close(Bracket::Square),
            "}" => token::Token::Close(Bracket::Brace),
            "," => token::Token::Comma,
            ";" => token::Token::Semicolon,
            ":" | "." => token::Token::Colon,
            _ => token::Token::Operator(BinaryOp::Add),
        },
        Token::Unreadable => token::Token::Unreadable,
    }
}

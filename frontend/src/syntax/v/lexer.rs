//! Text to the tokens of V.
//!
//! As for NESL every text is a sequence of tokens, blanks and comments: what cannot be read becomes a diagnostic and a
//! stand-in.

pub(super) mod shared;

use super::token::{SIGNS, Token, WORDS};
use crate::ast::Symbol;
use crate::diagnostic::{Diagnostic, Tag};
use crate::syntax::nesl::lexer::bidirectional;
use chumsky::error::{Error, LabelError};
use chumsky::prelude::*;
use chumsky::util::MaybeRef;
use nesl_span::{FileId, Span};
use std::sync::Arc;

/// What can be wrong with a piece of text.
#[derive(Clone, Debug)]
enum Mistake {
    UnexpectedCharacter,
    UnclosedComment,
    UnclosedString,
    Number,
    TooLarge,
    Character,
    Preprocessor,
    Length,
}

/// A mistake and its byte range.
#[derive(Clone, Debug)]
struct LexError {
    mistake: Mistake,
    span: SimpleSpan,
}

impl<'a> Error<'a, &'a str> for LexError {}

impl<'a, L> LabelError<'a, &'a str, L> for LexError {
    fn expected_found<E: IntoIterator<Item = L>>(_: E, _: Option<MaybeRef<'a, char>>, span: SimpleSpan) -> Self {
        LexError { mistake: Mistake::UnexpectedCharacter, span }
    }
}

impl LexError {
    fn into_diagnostic(self, file: FileId, text: &str) -> Diagnostic {
        let LexError { mistake, span } = self;
        let found: String = text.get(span.start..span.end).unwrap_or("").chars().take(40).collect();
        let at = Span::new(file, span.start, span.end);
        let first = Span::new(file, span.start, span.end.min(span.start + 1));
        match mistake {
            Mistake::UnexpectedCharacter => {
                Diagnostic::error("E0101", format!("unexpected character `{}`", found.escape_default()), at)
            }
            Mistake::UnclosedComment => Diagnostic::error("E0102", "this comment is never closed", first)
                .tagged(Tag::OpenComment)
                .saying("opened here")
                .hint("a comment goes from `/*` to `*/`, or from `//` to the end of the line"),
            Mistake::UnclosedString => Diagnostic::error("E0103", "this string is never closed", first)
                .tagged(Tag::OpenString)
                .saying("opened here")
                .hint("a string ends at the next `\"`; inside a string write `\\\"`"),
            Mistake::Number => Diagnostic::error("E0104", format!("`{found}` is not a number"), at),
            Mistake::TooLarge => Diagnostic::error("E0104", "this number is too large", at)
                .hint("an int goes up to 9223372036854775807, a double up to about 1.8e308"),
            Mistake::Character => Diagnostic::error("E0106", "this is not a character", at)
                .hint("a character is one byte between `'`: 'a', '\\n', '\\x41'; a text is written in `\"`"),
            Mistake::Length => {
                Diagnostic::error("E0101", "unexpected character `#`", at).hint("the length of a vector is `$v`")
            }
            Mistake::Preprocessor => Diagnostic::error("E0508", "there is no preprocessor", at)
                .hint(
                    "the library is always there; another file is read by `import \"file.v\";`, and a constant is a global: \
                     `int limit = 100;`",
                ),
        }
    }
}

type Extra = extra::Err<LexError>;

/// What a piece of text turns out to be.
#[derive(Clone)]
enum Piece {
    Blank,
    Comment,
    Token(Token),
}

fn starts_name(character: char) -> bool {
    character.is_alphabetic() || character == '_'
}

fn continues_name(character: char) -> bool {
    starts_name(character) || character.is_ascii_digit()
}

fn name<'a>() -> impl Parser<'a, &'a str, Token, Extra> + Clone {
    let start = any().filter(|c: &char| starts_name(*c));
    start.then(any().filter(|c: &char| continues_name(*c)).repeated()).to_slice().map(|text: &str| {
        let word = WORDS.into_iter().find(|word| *word == text);
        word.map_or_else(|| Token::Name(Symbol::from(text)), Token::Word)
    })
}

/// `12`, `12L`, `0xff`, `1.5`, `.5`, `1e3`, `1.5f`, and what looks like a number but is not.
fn number<'a>() -> impl Parser<'a, &'a str, Token, Extra> + Clone {
    let digit = any().filter(char::is_ascii_digit);
    let exponent = one_of("eE").then(one_of("+-")).ignored();
    let part = any().filter(|c: &char| continues_name(*c) || *c == '.').ignored();
    let start = choice((digit.ignored(), just('.').then(digit).ignored()));
    let decimal = just("0x").or(just("0X")).not().then(start).then(choice((exponent, part)).repeated());
    let hexadecimal = just('0').then(one_of("xX")).then(part.repeated());
    choice((decimal.to_slice(), hexadecimal.to_slice())).validate(|text: &str, extra, emitter| match value(text) {
        Ok(token) => token,
        Err(mistake) => {
            emitter.emit(LexError { mistake, span: extra.span() });
            Token::Unreadable
        }
    })
}

/// The least int without its sign: after a minus it may stand, where it wraps to what is meant.
const LEAST_INT: &str = "9223372036854775808";

/// What a text that begins like a number denotes.
fn value(text: &str) -> Result<Token, Mistake> {
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        let digits = digits.trim_end_matches(['l', 'L']);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(Mistake::Number);
        }
        // All 64 bits may be written.
        let bits = u64::from_str_radix(digits, 16).map_err(|_| Mistake::TooLarge)?;
        return Ok(Token::Int(bits.cast_signed()));
    }
    let whole = text.trim_end_matches(['l', 'L']);
    if whole.bytes().all(|byte| byte.is_ascii_digit()) {
        // C would read an octal number, which nobody means today.
        if whole.len() > 1 && whole.starts_with('0') {
            return Err(Mistake::Number);
        }
        return match whole.parse::<i64>() {
            Ok(value) => Ok(Token::Int(value)),
            Err(_) if whole == LEAST_INT => Ok(Token::Int(i64::MIN)),
            Err(_) => Err(Mistake::TooLarge),
        };
    }
    let float = text.trim_end_matches(['f', 'F']);
    let is_float = float.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-'));
    match float.parse::<f64>() {
        Ok(value) if is_float && value.is_finite() => Ok(Token::Double(value)),
        Ok(_) if is_float => Err(Mistake::TooLarge),
        _ => Err(Mistake::Number),
    }
}

fn string<'a>() -> impl Parser<'a, &'a str, Token, Extra> + Clone {
    let plain = none_of("\"\\\n").ignored();
    let escaped = just('\\').then(any()).ignored();
    just('"').ignore_then(choice((plain, escaped)).repeated().to_slice()).then(just('"').or_not()).validate(
        |(text, close): (&str, Option<char>), extra, emitter| {
            if close.is_none() {
                emitter.emit(LexError { mistake: Mistake::UnclosedString, span: extra.span() });
            }
            Token::Text(Arc::from(unescaped(text)))
        },
    )
}

/// The bytes of a text after C's escapes; any other escaped character is itself.
fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let (byte, after) = match (first, after) {
            (b'\\', [b'x', high, low, after @ ..]) if hexadecimal(*high, *low).is_some() => {
                (hexadecimal(*high, *low).unwrap_or_default(), after)
            }
            (b'\\', [escape, after @ ..]) => match escape {
                b'n' => (b'\n', after),
                b't' => (b'\t', after),
                b'r' => (b'\r', after),
                b'0' => (0, after),
                other => (*other, after),
            },
            (byte, after) => (*byte, after),
        };
        bytes.push(byte);
        rest = after;
    }
    bytes
}

/// The byte that two hexadecimal digits write.
fn hexadecimal(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    Some(digit(high)? << 4 | digit(low)?)
}

fn character<'a>() -> impl Parser<'a, &'a str, Token, Extra> + Clone {
    let plain = none_of("'\\\n").ignored();
    let escaped = just('\\').then(any()).ignored();
    let content = choice((plain, escaped)).repeated().to_slice();
    just('\'').ignore_then(content).then(just('\'').or_not()).validate(
        |(text, close): (&str, Option<char>), extra, emitter| {
            if let ([byte], Some(_)) = (unescaped(text).as_slice(), close) {
                return Token::Char(*byte);
            }
            emitter.emit(LexError { mistake: Mistake::Character, span: extra.span() });
            Token::Unreadable
        },
    )
}

fn comment<'a>() -> impl Parser<'a, &'a str, Piece, Extra> + Clone {
    let line = just("//").then(none_of('\n').repeated()).to(Piece::Comment);
    let end = just("*/");
    let inside = any().and_is(end.not()).repeated();
    let block = just("/*").then(inside).ignore_then(end.or_not()).validate(|close, extra, emitter| {
        if close.is_none() {
            emitter.emit(LexError { mistake: Mistake::UnclosedComment, span: extra.span() });
        }
        Piece::Comment
    });
    choice((line, block))
}

/// Tokens and comments of a text, and what is wrong with it.
#[derive(Clone, Debug, Default)]
pub(in crate::syntax::v) struct Lexed {
    pub tokens: Vec<(Token, Span)>,
    pub comments: Vec<Span>,
    pub diagnostics: Vec<Diagnostic>,
}

/// What a preprocessor of C obeys.
const DIRECTIVES: [&str; 13] = [
    "include", "define", "undef", "if", "ifdef", "ifndef", "else", "elif", "endif", "pragma", "error", "warning",
    "line",
];

/// Takes a text apart.
pub(in crate::syntax::v) fn lex(file: FileId, text: &str) -> Lexed {
    let blank = any().filter(|c: &char| c.is_whitespace()).repeated().at_least(1).to(Piece::Blank);
    // `#v` of other languages is no line of a preprocessor.
    let directive = any().filter(|c: &char| c.is_alphabetic()).repeated().at_least(1).to_slice();
    let directive = directive.filter(|word: &&str| !DIRECTIVES.contains(word)).ignored();
    let operand = choice((directive, one_of("([").ignored())).rewind();
    let length = just('#').then_ignore(operand).validate(|_, extra, emitter| {
        emitter.emit(LexError { mistake: Mistake::Length, span: extra.span() });
        // What follows is read as it was meant.
        Piece::Token(Token::Sign("$"))
    });
    let preprocessor = just('#').then(none_of('\n').repeated()).validate(|_, extra, emitter| {
        emitter.emit(LexError { mistake: Mistake::Preprocessor, span: extra.span() });
        Piece::Blank
    });
    let sign = choice(SIGNS.map(|sign| just(sign).to(Token::Sign(sign))));
    let unknown = any().validate(|_, extra, emitter| {
        emitter.emit(LexError { mistake: Mistake::UnexpectedCharacter, span: extra.span() });
        Piece::Blank
    });
    let token = choice((name(), number(), string(), character(), sign)).map(Piece::Token);
    let piece = choice((blank, comment(), token, length, preprocessor, unknown));
    let pieces = piece.map_with(|piece, extra| (piece, extra.span())).repeated().collect::<Vec<_>>();
    // A first line `#!…` makes a script of the text.
    let start = if text.starts_with("#!") { text.find('\n').unwrap_or(text.len()) } else { 0 };
    let (found, errors) = pieces.parse(&text[start..]).into_output_errors();
    let place = |span: SimpleSpan| Span::new(file, span.start + start, span.end + start);
    let mut lexed = Lexed::default();
    let mut errors = errors;
    for (piece, span) in found.unwrap_or_default() {
        match piece {
            Piece::Blank => {}
            Piece::Comment => lexed.comments.push(place(span)),
            Piece::Token(token) => {
                // Only after a minus a number may be as large as this, see `LEAST_INT`.
                let is_least = token == Token::Int(i64::MIN) && text[start..][span.start..].starts_with(LEAST_INT);
                let after_minus = matches!(lexed.tokens.last(), Some((Token::Sign("-"), _)));
                if is_least && !after_minus {
                    errors.push(LexError { mistake: Mistake::TooLarge, span });
                }
                lexed.tokens.push((token, place(span)));
            }
        }
    }
    let shifted = |LexError { mistake, span }: LexError| {
        let span = SimpleSpan { start: span.start + start, end: span.end + start, context: () };
        LexError { mistake, span }.into_diagnostic(file, text)
    };
    lexed.diagnostics = errors.into_iter().map(shifted).chain(bidirectional(file, text)).collect();
    lexed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<Token> {
        let lexed = lex(FileId(0), text);
        assert_eq!(lexed.diagnostics, []);
        lexed.tokens.into_iter().map(|(token, _)| token).collect()
    }

    #[test]
    fn numbers_and_characters_are_those_of_c() {
        let expected = [Token::Int(255), Token::Int(12), Token::Double(1.5), Token::Double(0.5), Token::Double(1e-3)];
        assert_eq!(tokens("0xff 12L 1.5f .5 1e-3"), expected);
        let expected = [Token::Char(b'a'), Token::Char(b'\n'), Token::Char(b'A'), Token::Char(b'\'')];
        assert_eq!(tokens(r"'a' '\n' '\x41' '\''"), expected);
        assert_eq!(tokens(r#""a\tb""#), [Token::Text(Arc::from(*b"a\tb"))]);
    }

    #[test]
    fn the_longest_sign_is_read_and_comments_are_none() {
        let signs = ["><", ">=", ">>", ">>=", ">", "<"].map(Token::Sign);
        assert_eq!(tokens(">< >= >> >>= > <"), signs);
        let lexed = lex(FileId(0), "a // to the end\n/* b * / */ c");
        assert_eq!((lexed.tokens.len(), lexed.comments.len()), (2, 2));
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        let code = |text| lex(FileId(0), text).diagnostics.iter().map(|diagnostic| diagnostic.code).collect::<Vec<_>>();
        assert_eq!(code("1x 017 0x 99999999999999999999 1.2.3"), ["E0104"; 5]);
        assert_eq!(code("'' 'ab' 'é'"), ["E0106"; 3]);
        assert_eq!(code("/* open"), ["E0102"]);
        assert_eq!(code("\"open\nx"), ["E0103"]);
        assert_eq!(code("#include <stdio.h>\nint"), ["E0508"]);
        assert_eq!(code("a @ b"), ["E0101"]);
    }
}

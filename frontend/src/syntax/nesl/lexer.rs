//! Text to tokens.
//!
//! A chumsky grammar over characters in which every text is a sequence of tokens, blanks and comments: what cannot be
//! read becomes a [`Diagnostic`] and, where a constant was meant, a stand-in, so that the parser can go on.
//! [`super::parser`] reads the tokens; the comments it passes on, for [`super::format`] and whoever else wants them.

use crate::ast::{BinaryOp, Symbol};
use crate::diagnostic::{Diagnostic, Tag, is_about};
use crate::syntax::nesl::token::{Bracket, Foreign, Keyword, Token, is_meant_as_name};
use chumsky::error::{Error, LabelError};
use chumsky::prelude::*;
use chumsky::text::digits;
use chumsky::util::MaybeRef;
use nesl_prim::visible::is_bidirectional;
use nesl_span::{FileId, Span};
use std::sync::Arc;

/// What can be wrong with a piece of text.
#[derive(Clone, Debug)]
enum Mistake {
    UnexpectedCharacter,
    UnclosedComment,
    UnclosedString,
    LetterAfterNumber,
    PointAfterNumber,
    IntTooLarge,
    FloatTooLarge,
    WideCharacter,
    NoCharacter,
    QuotedCharacter,
}

/// A mistake and its byte range. The grammar accepts every text, so the kinds of errors that chumsky itself makes are
/// never seen.
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
        let found = text.get(span.start..span.end).unwrap_or("");
        let range = |start, end| Span::new(file, start, end);
        let at = range(span.start, span.end);
        let first = range(span.start, span.end.min(span.start + 1));
        match mistake {
            Mistake::UnexpectedCharacter => match found.chars().next() {
                Some(character) if found.len() == character.len_utf8() => {
                    let shown =
                        if character.is_control() { character.escape_default().to_string() } else { found.into() };
                    let report = Diagnostic::error("E0101", format!("unexpected character `{shown}`"), at);
                    match character {
                        '.' => report.hint(
                            "there are no fields or methods: write `length(v)`, and take tuples apart by a pattern",
                        ),
                        '\\' => report.hint("a function without a name is written `parameter => body`"),
                        _ => report,
                    }
                }
                _ => Diagnostic::error("E0101", "unexpected characters", at),
            },
            Mistake::UnclosedComment => Diagnostic::error("E0102", "this comment is never closed", first)
                .tagged(Tag::OpenComment)
                .saying("opened here")
                .hint("a comment goes from one `%` to the next; the remainder of ints is rem(a, b)"),
            Mistake::UnclosedString => Diagnostic::error("E0103", "this string is never closed", first)
                .tagged(Tag::OpenString)
                .saying("opened here")
                .hint("a string ends at the next `\"`; inside a string write `\\\"`"),
            Mistake::LetterAfterNumber => {
                Diagnostic::error("E0104", format!("`{}` is not a number", shortened(found)), at)
                    .hint(number_hint(found))
            }
            Mistake::PointAfterNumber => {
                Diagnostic::error("E0104", format!("`{}` is not a number", shortened(found)), at)
                    .saying("more than one decimal point")
                    .hint(if found.contains("..") { RANGES } else { "a float has one decimal point" })
            }
            Mistake::IntTooLarge => Diagnostic::error("E0104", "this number is too large for an int", at)
                .hint("ints go up to 9223372036854775807; write a point to make it a float"),
            Mistake::FloatTooLarge => Diagnostic::error("E0104", "this number is too large for a float", at),
            Mistake::WideCharacter => {
                Diagnostic::error("E0106", "a character constant holds one byte, and this character needs more", at)
                    .hint("write a string, whose characters are the bytes of its UTF-8 encoding")
            }
            Mistake::NoCharacter => Diagnostic::error("E0106", "a character must follow the backquote", at),
            Mistake::QuotedCharacter => {
                let character = found.trim_matches('\'');
                Diagnostic::error("E0106", "characters are not written in quotes", at)
                    .hint(format!("write `{character}, a backquote and the character"))
            }
        }
    }
}

/// How a number of another language is written.
fn number_hint(text: &str) -> String {
    let prefixed = |first: char, radix| {
        let digits = text.strip_prefix('0')?.strip_prefix([first, first.to_ascii_uppercase()])?.replace('_', "");
        i64::from_str_radix(&digits, radix).ok()
    };
    if let Some(value) = prefixed('x', 16) {
        return format!("there are no hexadecimal numbers: this is {value}");
    }
    if let Some(value) = prefixed('b', 2).or_else(|| prefixed('o', 8)) {
        return format!("numbers are decimal: this is {value}");
    }
    let digits = text.replace('_', "");
    if digits.len() < text.len() && !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return format!("there are no underscores in numbers: write {}", shortened(&digits));
    }
    "separate a number from a following name by a space".to_owned()
}

const RANGES: &str = "a range is written [start:end], and does not contain its end";

/// Long garbage does not belong into a message in full.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 40;
    if text.chars().count() <= LONGEST { text.to_owned() } else { text.chars().take(LONGEST).chain(['…']).collect() }
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
    character.is_alphabetic() || matches!(character, '_' | '?' | '~')
}

fn continues_name(character: char) -> bool {
    starts_name(character) || character.is_ascii_digit()
}

/// The token of a word in lower case.
fn word(text: &str) -> Token {
    let keyword = Token::Keyword;
    let operator = Token::Operator;
    let foreign = Token::Foreign;
    match text {
        "t" => Token::Bool(true),
        "f" => Token::Bool(false),
        "if" => keyword(Keyword::If),
        "then" => keyword(Keyword::Then),
        "else" => keyword(Keyword::Else),
        "let" => keyword(Keyword::Let),
        "in" => keyword(Keyword::In),
        "function" => keyword(Keyword::Function),
        "datatype" => keyword(Keyword::Datatype),
        "and" => operator(BinaryOp::And),
        "nand" => operator(BinaryOp::Nand),
        "or" => operator(BinaryOp::Or),
        "nor" => operator(BinaryOp::Nor),
        "xor" => operator(BinaryOp::Xor),
        "time" => Token::Keyword(Keyword::Time),
        "closure" => foreign(Foreign::Closure),
        "defconfig" => foreign(Foreign::Defconfig),
        "pair" => foreign(Foreign::Pair),
        name => Token::Name(Symbol::from(name)),
    }
}

/// `name`, and `geometry.name` for one of an imported file.
fn name<'a>() -> impl Parser<'a, &'a str, Token, Extra> + Clone {
    let start = || any().filter(|c: &char| starts_name(*c));
    let rest = || any().filter(|c: &char| continues_name(*c)).repeated();
    start().then(rest()).then(just('.').then(start()).then(rest()).or_not()).to_slice().map(|text: &str| {
        if text.bytes().any(|byte| !byte.is_ascii_lowercase()) { word(&text.to_lowercase()) } else { word(text) }
    })
}

/// The least int without its sign. No int is that large, but after a minus it may stand: negated, or subtracted, it
/// wraps to what is meant.
const LEAST_INT: &str = "9223372036854775808";

/// `12`, `1.`, `.5`, `1e3`, `1.5e-3`, and what looks like a number but is not.
fn number<'a>() -> impl Parser<'a, &'a str, Token, Extra> + Clone {
    let exponent = one_of("eE").then(one_of("+-").or_not()).then(digits(10));
    let whole = digits(10).ignore_then(just('.').then(digits(10).or_not()).or_not()).ignored();
    let fraction = just('.').then(digits(10)).ignored();
    let rest = any().filter(|c: &char| continues_name(*c) || *c == '.').repeated().to_slice();
    // A word such as `and` stays what it is, and is only too near.
    let joining =
        rest.filter(|text: &&str| matches!(word(&text.to_lowercase()), Token::Keyword(_) | Token::Operator(_)));
    let behind = choice((joining.rewind().map(|word: &str| (word.len(), "")), rest.map(|rest: &str| (0, rest))));
    choice((whole, fraction)).then(exponent.or_not()).to_slice().then(behind).validate(
        |(text, (joined, rest)): (&str, (usize, &str)), extra, emitter| {
            let span: SimpleSpan = extra.span();
            if joined > 0 {
                let span = SimpleSpan::from(span.start..span.end + joined);
                emitter.emit(LexError { mistake: Mistake::LetterAfterNumber, span });
            }
            let is_float = text.contains(['.', 'e', 'E']);
            let mistake = match rest.chars().next() {
                Some('.') => Some(Mistake::PointAfterNumber),
                Some(_) => Some(Mistake::LetterAfterNumber),
                None => None,
            };
            if let Some(mistake) = mistake {
                emitter.emit(LexError { mistake, span });
                return Token::Unreadable;
            }
            if is_float {
                let value = text.parse::<f64>().unwrap_or(f64::INFINITY);
                if value.is_infinite() {
                    emitter.emit(LexError { mistake: Mistake::FloatTooLarge, span });
                    return Token::Unreadable;
                }
                return Token::Float(value);
            }
            match text.parse::<i64>() {
                Ok(value) => Token::Int(value),
                Err(_) if text.trim_start_matches('0') == LEAST_INT => Token::Int(i64::MIN),
                Err(_) => {
                    emitter.emit(LexError { mistake: Mistake::IntTooLarge, span });
                    Token::Unreadable
                }
            }
        },
    )
}

fn string<'a>() -> impl Parser<'a, &'a str, Token, Extra> + Clone {
    let plain = any().filter(|c: &char| !matches!(c, '"' | '\\')).ignored();
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

/// The bytes of a string's text: `\n` and `\t` are controls, `\x` and two hexadecimal digits the byte of that code, and
/// any other escaped character is itself.
fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let (byte, after) = match (first, after) {
            (b'\\', [b'n', after @ ..]) => (b'\n', after),
            (b'\\', [b't', after @ ..]) => (b'\t', after),
            (b'\\', [b'x', high, low, after @ ..]) if hexadecimal(*high, *low).is_some() => {
                (hexadecimal(*high, *low).unwrap_or_default(), after)
            }
            (b'\\', [other, after @ ..]) => (*other, after),
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

/// A backquote and a character, or one of the escapes of strings. A backslash before anything else is a backslash.
fn character<'a>() -> impl Parser<'a, &'a str, Token, Extra> + Clone {
    let digit = any().filter(char::is_ascii_hexdigit);
    let code = just('x').ignore_then(digit).then(digit).ignored();
    let escape = just('\\').ignore_then(choice((one_of("nt\\").ignored(), code))).to_slice();
    let escaped = escape.map(|text| match unescaped(text).first() {
        Some(&byte) => Token::Char(byte),
        None => Token::Unreadable,
    });
    let plain = just('`').ignore_then(any().or_not()).validate(|character: Option<char>, extra, emitter| {
        let mistake = match character {
            Some(character) if character.is_ascii() => {
                let mut byte = [0];
                character.encode_utf8(&mut byte);
                return Token::Char(byte[0]);
            }
            Some(_) => Mistake::WideCharacter,
            None => Mistake::NoCharacter,
        };
        emitter.emit(LexError { mistake, span: extra.span() });
        Token::Unreadable
    });
    choice((just('`').ignore_then(escaped), plain))
}

/// A character in single quotes, as other languages write it.
fn quoted_character<'a>() -> impl Parser<'a, &'a str, Token, Extra> + Clone {
    let escaped = just('\\').then(any()).ignored();
    let plain = none_of("'\n").ignored();
    just('\'').then(choice((escaped, plain))).then(just('\'')).validate(|_, extra, emitter| {
        emitter.emit(LexError { mistake: Mistake::QuotedCharacter, span: extra.span() });
        Token::Unreadable
    })
}

/// Punctuation and operators, frequent ones first; of two that begin alike the longer stands first.
const SYMBOLS: [(&str, Token); 39] = [
    (",", Token::Comma),
    ("(", Token::Open(Bracket::Parenthesis)),
    (")", Token::Close(Bracket::Parenthesis)),
    ("[", Token::Open(Bracket::Square)),
    ("]", Token::Close(Bracket::Square)),
    ("{", Token::Open(Bracket::Brace)),
    ("}", Token::Close(Bracket::Brace)),
    (";", Token::Semicolon),
    ("$", Token::Dollar),
    ("->", Token::Operator(BinaryOp::Read)),
    ("<-", Token::Operator(BinaryOp::Write)),
    ("++", Token::Operator(BinaryOp::Append)),
    ("||", Token::Operator(BinaryOp::Pad)),
    ("==", Token::Operator(BinaryOp::Equal)),
    ("/=", Token::Operator(BinaryOp::Unequal)),
    ("<=", Token::Operator(BinaryOp::AtMost)),
    (">=", Token::Operator(BinaryOp::AtLeast)),
    ("::", Token::DoubleColon),
    ("=>", Token::Lambda),
    (":=", Token::ColonEqual),
    ("|=", Token::Foreign(Foreign::FileVariable)),
    ("&=", Token::Foreign(Foreign::Background)),
    ("!=", Token::Foreign(Foreign::NotEqual)),
    ("&&", Token::Foreign(Foreign::DoubleAmpersand)),
    (">>", Token::Foreign(Foreign::DoubleGreater)),
    (":", Token::Colon),
    ("=", Token::Equal),
    ("|", Token::Bar),
    ("#", Token::Hash),
    ("@", Token::At),
    ("'", Token::Quote),
    ("^", Token::Operator(BinaryOp::Power)),
    ("*", Token::Operator(BinaryOp::Multiply)),
    ("/", Token::Operator(BinaryOp::Divide)),
    ("+", Token::Operator(BinaryOp::Add)),
    ("-", Token::Operator(BinaryOp::Subtract)),
    ("<", Token::Operator(BinaryOp::Less)),
    (">", Token::Operator(BinaryOp::Greater)),
    ("&", Token::Foreign(Foreign::Ampersand)),
];

fn symbol<'a>() -> impl Parser<'a, &'a str, Token, Extra> + Clone {
    let listed = SYMBOLS.map(|(text, token)| just(text).to(token));
    choice((choice(listed), just('!').to(Token::Foreign(Foreign::Exclamation))))
}

fn comment<'a>() -> impl Parser<'a, &'a str, Piece, Extra> + Clone {
    just('%').then(none_of('%').repeated()).ignore_then(just('%').or_not()).validate(|close, extra, emitter| {
        if close.is_none() {
            emitter.emit(LexError { mistake: Mistake::UnclosedComment, span: extra.span() });
        }
        Piece::Comment
    })
}

/// Pieces of a text and where they stand.
type Pieces<P> = Vec<(P, SimpleSpan)>;

/// The tokens and the comments of a text.
fn lexer<'a>() -> impl Parser<'a, &'a str, (Pieces<Token>, Vec<SimpleSpan>), Extra> {
    // What changes the direction of text is reported wherever it stands: see `lex`.
    let blank =
        any().filter(|c: &char| c.is_whitespace() || is_bidirectional(*c)).repeated().at_least(1).to(Piece::Blank);
    let token = choice((name(), number(), quoted_character(), symbol(), string(), character())).map(Piece::Token);
    // A whole run of nonsense is one mistake.
    let nonsense = any()
        .filter(|c: &char| matches!(c, '\\' | '.') || (!c.is_ascii() && !c.is_alphabetic()) || c.is_ascii_control())
        .filter(|c: &char| !c.is_whitespace() && !is_bidirectional(*c))
        .repeated()
        .at_least(1)
        .validate(|(), extra, emitter| {
            emitter.emit(LexError { mistake: Mistake::UnexpectedCharacter, span: extra.span() });
            Piece::Token(Token::Unreadable)
        });
    let pieces = choice((blank, token, comment(), nonsense)).map_with(|piece, extra| (piece, extra.span()));
    just("#!").then(none_of('\n').repeated()).or_not().ignore_then(pieces.repeated().collect::<Vec<_>>()).map(
        |pieces| {
            let mut comments = Vec::new();
            let token = |(piece, span)| match piece {
                Piece::Token(token) => Some((token, span)),
                Piece::Comment => {
                    comments.push(span);
                    None
                }
                Piece::Blank => None,
            };
            let tokens = pieces.into_iter().filter_map(token).collect();
            (tokens, comments)
        },
    )
}

/// What a text consists of.
#[derive(Clone, Debug, Default)]
pub struct Lexed {
    /// Its tokens.
    pub tokens: Vec<(Token, Span)>,
    /// Where its comments stand, both `%` included.
    pub comments: Vec<Span>,
    /// What could not be read.
    pub diagnostics: Vec<Diagnostic>,
}

/// The line that makes a script of a program, `#!/usr/bin/env nesl`, if it begins with one; it is for the system.
pub fn script_line(text: &str) -> Option<&str> {
    text.lines().next().filter(|line| line.starts_with("#!"))
}

/// Takes a text apart. A [`script_line`] is none of its parts.
pub fn lex(file: FileId, text: &str) -> Lexed {
    let (pieces, mut errors) = lexer().parse(text).into_output_errors();
    let (tokens, comments) = pieces.unwrap_or_default();
    let mut after_minus = false;
    let tokens = (tokens.into_iter())
        .map(|(mut token, span)| {
            if token == Token::Int(i64::MIN) && !after_minus {
                errors.push(LexError { mistake: Mistake::IntTooLarge, span });
                token = Token::Unreadable;
            }
            after_minus = token == Token::Operator(BinaryOp::Subtract);
            (token, Span::new(file, span.start, span.end))
        })
        .collect();
    let comments = comments.into_iter().map(|span| Span::new(file, span.start, span.end)).collect();
    let diagnostics = errors.into_iter().map(|error| error.into_diagnostic(file, text));
    Lexed { tokens, comments, diagnostics: diagnostics.chain(bidirectional(file, text)).collect() }
}

/// What changes the direction of text, in comments and strings too: a program would not be what people see of it.
pub(in crate::syntax) fn bidirectional(file: FileId, text: &str) -> impl Iterator<Item = Diagnostic> {
    text.char_indices().filter(|&(_, character)| is_bidirectional(character)).map(move |(start, character)| {
        let code = u32::from(character);
        let bytes: String = character.encode_utf8(&mut [0; 4]).bytes().map(|byte| format!("\\x{byte:02x}")).collect();
        let at = Span::new(file, start, start + character.len_utf8());
        Diagnostic::error("E0117", "this character changes the direction in which the line is shown", at)
            .saying(format!("U+{code:04X}"))
            .hint(format!("remove it; a string that must hold it says so with `{bytes}`"))
    })
}

/// Whether the REPL has a whole input, or should read another line: brackets, strings, comments and `let … in` are
/// closed and the last token is `;` or `$`. Blank input is complete, and so is input with a closing bracket too many.
pub fn is_complete(text: &str) -> bool {
    #[derive(PartialEq)]
    enum Opened {
        Bracket(Bracket),
        Let,
    }
    let Lexed { tokens, diagnostics, .. } = lex(FileId(0), text);
    if is_about(&diagnostics, &[Tag::OpenComment, Tag::OpenString]) {
        return false;
    }
    let mut opened = Vec::new();
    for (index, (token, _)) in tokens.iter().enumerate() {
        match token {
            Token::Keyword(_) if is_meant_as_name(&tokens, index) => {}
            Token::Open(bracket) => opened.push(Opened::Bracket(*bracket)),
            Token::Keyword(Keyword::Let) => opened.push(Opened::Let),
            Token::Keyword(Keyword::In) if opened.last() == Some(&Opened::Let) => {
                opened.pop();
            }
            Token::Close(bracket) => {
                // A bracket that closes nothing, or the wrong thing, is an error now, whatever follows.
                while opened.last() == Some(&Opened::Let) {
                    opened.pop();
                }
                if opened.pop() != Some(Opened::Bracket(*bracket)) {
                    return true;
                }
            }
            _ => {}
        }
    }
    match tokens.last() {
        None => true,
        Some((Token::Dollar, _)) => true,
        Some((Token::Semicolon, _)) => opened.is_empty(),
        Some(_) => false,
    }
}

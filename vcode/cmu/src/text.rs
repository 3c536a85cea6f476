//! The text of the stack format as statements.
//!
//! Everything is a word, a string, a parenthesis or a comment in braces. The first mistake ends the reading.

use super::{Result, wrong};
use crate::opcode::{Opcode, Word};
use nesl_prim::Constants;
use std::ops::Range;

/// Deeper than the 50 of the original, and no danger for the stack of this process.
const DEEPEST: usize = 200;

/// The longest name of a function.
pub(super) const LONGEST_NAME: usize = 49;

/// A function.
#[derive(Debug)]
pub(super) struct Function {
    pub name: String,
    /// What its first line says of its operands and results, bottom to top.
    pub declared: Option<(Vec<Word>, Vec<Word>)>,
    pub body: Vec<Statement>,
    /// Where its name stands.
    pub at: Range<usize>,
}

/// A statement and where it stands.
#[derive(Debug)]
pub(super) struct Statement {
    pub kind: Kind,
    pub at: Range<usize>,
}

/// What a statement does.
#[derive(Debug)]
pub(super) enum Kind {
    /// Takes entries, gives entries.
    Operation(Opcode, Option<Word>),
    /// Pushes a vector.
    Constant(Constants),
    /// Pushes a descriptor of one segment.
    Segment(i64),
    /// Copies so many entries, so many below the top, to the top.
    Copy(usize, usize),
    /// Deletes them.
    Pop(usize, usize),
    /// Moves them to the top.
    Move(usize, usize),
    /// Calls a function, by position.
    Call(usize),
    /// Pops a condition.
    If(Vec<Statement>, Vec<Statement>),
    /// Ends the program.
    Exit,
}

/// Reads the functions of a program; there is at least one.
pub(super) fn parse(text: &str) -> Result<Vec<Function>> {
    let tokens = tokens(text)?;
    let mut names: Vec<&str> = Vec::new();
    for pair in tokens.windows(2) {
        if let [Token { kind: TokenKind::Word("FUNC"), .. }, Token { kind: TokenKind::Word(name), at }] = pair {
            if names.contains(name) {
                return wrong(at.start, format!("a second function `{name}`"));
            }
            names.push(name);
        }
    }
    let mut parser = Parser { tokens: &tokens, next: 0, end: text.len(), names, depth: 0 };
    let mut functions = Vec::new();
    while functions.is_empty() || parser.next < tokens.len() {
        functions.push(parser.function()?);
    }
    Ok(functions)
}

#[derive(Debug)]
struct Token<'a> {
    kind: TokenKind<'a>,
    at: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum TokenKind<'a> {
    Word(&'a str),
    String(&'a str),
    Open,
    Close,
}

/// Whether a character may be part of a word.
pub(super) fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || "-+*/%<>=!._".contains(character)
}

fn tokens(text: &str) -> Result<Vec<Token<'_>>> {
    let mut tokens = Vec::new();
    let mut start = 0;
    while let Some(first) = text[start..].chars().next() {
        let rest = &text[start..];
        let (kind, length) = match first {
            _ if first.is_ascii_whitespace() => (None, 1),
            '{' => match rest.find('}') {
                Some(end) => (None, end + 1),
                None => return wrong(start, "this comment has no end"),
            },
            '(' => (Some(TokenKind::Open), 1),
            ')' => (Some(TokenKind::Close), 1),
            '"' => match rest[1..].find('"') {
                Some(end) => (Some(TokenKind::String(&rest[1..=end])), end + 2),
                None => return wrong(start, "this string has no end"),
            },
            _ if is_word(first) => {
                let end = rest.find(|character| !is_word(character)).unwrap_or(rest.len());
                (Some(TokenKind::Word(&rest[..end])), end)
            }
            other => return wrong(start, format!("the character `{}` has no meaning here", other.escape_default())),
        };
        tokens.extend(kind.map(|kind| Token { kind, at: start..start + length }));
        start += length;
    }
    Ok(tokens)
}

struct Parser<'a> {
    tokens: &'a [Token<'a>],
    next: usize,
    end: usize,
    names: Vec<&'a str>,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn offset(&self) -> usize {
        self.tokens.get(self.next).map_or(self.end, |token| token.at.start)
    }

    fn expected<T>(&self, what: &str) -> Result<T> {
        let found = match self.tokens.get(self.next).map(|token| token.kind) {
            None => "the end of the text".to_owned(),
            Some(TokenKind::Word(word)) => format!("`{word}`"),
            Some(TokenKind::String(_)) => "a string".to_owned(),
            Some(TokenKind::Open) => "`(`".to_owned(),
            Some(TokenKind::Close) => "`)`".to_owned(),
        };
        wrong(self.offset(), format!("expected {what}, found {found}"))
    }

    fn peek_word(&self) -> Option<&'a str> {
        match self.tokens.get(self.next)?.kind {
            TokenKind::Word(word) => Some(word),
            _ => None,
        }
    }

    fn accept(&mut self, word: &str) -> bool {
        let found = self.peek_word() == Some(word);
        self.next += usize::from(found);
        found
    }

    fn type_word(&mut self) -> Option<Word> {
        let word = self.peek_word()?;
        let found = Word::ALL.into_iter().find(|candidate| candidate.text() == word);
        self.next += usize::from(found.is_some());
        found
    }

    fn type_words(&mut self) -> Vec<Word> {
        std::iter::from_fn(|| self.type_word()).collect()
    }

    fn function(&mut self) -> Result<Function> {
        if !self.accept("FUNC") {
            return self.expected("FUNC");
        }
        let Some(name) = self.peek_word() else { return self.expected("the name of a function") };
        let at = self.tokens[self.next].at.clone();
        if name.len() > LONGEST_NAME {
            return wrong(at.start, format!("a name has at most {LONGEST_NAME} characters"));
        }
        self.next += 1;
        let mut declared = None;
        if self.accept("I") {
            let inputs = self.type_words();
            if !self.accept("O") {
                return self.expected("a type or O");
            }
            declared = Some((inputs, self.type_words()));
        }
        let body = self.statements()?;
        if !self.accept("RET") {
            return self.expected("an instruction or RET");
        }
        Ok(Function { name: name.to_owned(), declared, body, at })
    }

    /// Statements up to a word that ends them.
    fn statements(&mut self) -> Result<Vec<Statement>> {
        let mut statements = Vec::new();
        while self.next < self.tokens.len() && !matches!(self.peek_word(), Some("RET" | "ELSE" | "ENDIF" | "FUNC")) {
            let start = self.offset();
            let kind = self.statement()?;
            let end = self.tokens[self.next - 1].at.end;
            statements.push(Statement { kind, at: start..end });
        }
        Ok(statements)
    }

    fn statement(&mut self) -> Result<Kind> {
        let Some(word) = self.peek_word() else { return self.expected("an instruction") };
        self.next += 1;
        Ok(match word {
            "COPY" => Kind::Copy(self.count()?, self.count()?),
            "POP" => Kind::Pop(self.count()?, self.count()?),
            "CPOP" => Kind::Move(self.count()?, self.count()?),
            "EXIT" => Kind::Exit,
            "CALL" => {
                let Some(name) = self.peek_word() else { return self.expected("the name of a function") };
                let Some(function) = self.names.iter().position(|known| *known == name) else {
                    return wrong(self.offset(), format!("no function is called `{name}`"));
                };
                self.next += 1;
                Kind::Call(function)
            }
            "IF" => return self.branches(),
            "CONST" => return self.constant(),
            _ => {
                let Some(opcode) = Opcode::by_word(word) else {
                    self.next -= 1;
                    return wrong(self.offset(), format!("no instruction is called `{word}`"));
                };
                Kind::Operation(opcode, self.operand_type(opcode)?)
            }
        })
    }

    /// The type word of an instruction that has one.
    fn operand_type(&mut self, opcode: Opcode) -> Result<Option<Word>> {
        let types = opcode.types();
        if types.is_empty() {
            return Ok(None);
        }
        let offset = self.offset();
        let texts: Vec<&str> = types.iter().map(|word| word.text()).collect();
        match self.type_word() {
            Some(word) if types.contains(&word) => Ok(Some(word)),
            Some(word) => wrong(offset, format!("{} is for {}, not {}", opcode.word(), texts.join(", "), word.text())),
            None => self.expected(&format!("{} after {}", texts.join(" or "), opcode.word())),
        }
    }

    fn branches(&mut self) -> Result<Kind> {
        if self.depth == DEEPEST {
            return wrong(self.offset(), format!("IF in more than {DEEPEST} others"));
        }
        self.depth += 1;
        let first = self.statements()?;
        let second = if self.accept("ELSE") { self.statements()? } else { Vec::new() };
        if !self.accept("ENDIF") {
            return self.expected("an instruction or ENDIF");
        }
        self.depth -= 1;
        Ok(Kind::If(first, second))
    }

    fn constant(&mut self) -> Result<Kind> {
        let offset = self.offset();
        let Some(word) = self.type_word() else { return self.expected("a type") };
        match word {
            Word::Char => {
                let Some(&Token { kind: TokenKind::String(text), .. }) = self.tokens.get(self.next) else {
                    return self.expected("a string");
                };
                self.next += 1;
                Ok(Kind::Constant(Constants::Int(text.bytes().map(i64::from).collect())))
            }
            Word::Segdes if self.tokens.get(self.next).map(|token| token.kind) == Some(TokenKind::Open) => {
                wrong(offset, "a list makes no SEGDES; write its lengths as CONST INT ( … ), then MAKE_SEGDES")
            }
            Word::Segdes => match self.int()? {
                length @ 0.. => Ok(Kind::Segment(length)),
                length => wrong(offset, format!("a segment has no negative length such as {length}")),
            },
            Word::Int => Ok(Kind::Constant(Constants::Int(self.values(Parser::int)?))),
            Word::Float => Ok(Kind::Constant(Constants::Float(self.values(Parser::float)?))),
            Word::Bool => Ok(Kind::Constant(Constants::Bool(self.values(Parser::bool)?))),
        }
    }

    /// One value, or any number of them in parentheses.
    fn values<T>(&mut self, value: fn(&mut Parser<'a>) -> Result<T>) -> Result<Vec<T>> {
        let kind = |parser: &Parser<'a>| parser.tokens.get(parser.next).map(|token| token.kind);
        if kind(self) != Some(TokenKind::Open) {
            return Ok(vec![value(self)?]);
        }
        self.next += 1;
        let mut values = Vec::new();
        while kind(self) != Some(TokenKind::Close) {
            values.push(value(self)?);
        }
        self.next += 1;
        Ok(values)
    }

    fn int(&mut self) -> Result<i64> {
        let word = self.peek_word().unwrap_or("");
        let value = match word {
            "STDIN" => 0,
            "STDOUT" => 1,
            "STDERR" => 2,
            "NULL_STREAM" => -1,
            _ => match word.parse::<i64>() {
                Ok(value) => value,
                Err(error) if *error.kind() == std::num::IntErrorKind::InvalidDigit || word.is_empty() => {
                    return self.expected("an int");
                }
                Err(_) => return wrong(self.offset(), format!("no int is as large as {word}")),
            },
        };
        self.next += 1;
        Ok(value)
    }

    fn count(&mut self) -> Result<usize> {
        let offset = self.offset();
        let value = self.int()?;
        usize::try_from(value).or_else(|_| wrong(offset, "a number of entries is not negative"))
    }

    fn float(&mut self) -> Result<f64> {
        let word = self.peek_word().unwrap_or("");
        let is_number = word.starts_with(|first: char| first.is_ascii_digit() || first == '-' || first == '+');
        let value = if is_number && word.contains('.') { word.parse().ok() } else { None };
        let Some(value) = value else { return self.expected("a float, which has a point") };
        self.next += 1;
        Ok(value)
    }

    fn bool(&mut self) -> Result<bool> {
        let value = self.accept("T");
        if !value && !self.accept("F") {
            return self.expected("T or F");
        }
        Ok(value)
    }
}

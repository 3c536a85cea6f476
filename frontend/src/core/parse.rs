//! Reads the text of core that [`super::print`] writes, so that passes over core can be tested from text to text.
//!
//! A declaration begins where a line begins, and goes on over lines that are indented. Functions, globals and datatypes
//! are numbered in their order; where one of a name is meant and there are several, its number has to stand there.
//! Variables have the numbers that are written, and the type of what they are bound to; expressions have the type that
//! follows from their parts, unless they say another.
//!
//! It is an internal format: the first mistake ends it, with its line and column. What it accepts need not make sense:
//! that is for [`super::verify`] to say.

mod declaration;
mod expression;
#[cfg(test)]
mod tests;
mod types;

use super::print::names::{WORDS, begins_word, continues_word, datatypes, is_sign};
use super::{Form, Program, VariableId};
use crate::ty::{Datatype, Type};
use nesl_prim::cursor::{Cursor, Scan, Unread};
use nesl_span::{FileId, Span};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

/// Why a text is not core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoreParseError {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong there.
    pub problem: CoreParseProblem,
}

/// What is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CoreParseProblem {
    /// Characters that cannot stand here.
    Unread(Unread),
    /// Nothing has this name, or nothing with this number.
    Unknown(String),
    /// Several have this name: a number has to say which.
    Several(String),
    /// A number that is not the next one.
    Number(usize),
    /// No built-in operation has this name.
    NotBuiltIn(String),
    /// The parts of an expression do not tell its type, and it does not say it.
    Untyped,
    /// Nested too deeply.
    TooDeep,
}

impl fmt::Display for CoreParseError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: ", self.line, self.column)?;
        match &self.problem {
            CoreParseProblem::Unread(Unread::Expected(what)) => write!(formatter, "expected {what}"),
            CoreParseProblem::Unread(Unread::NumberOutOfRange) => write!(formatter, "the number is out of range"),
            CoreParseProblem::Unknown(name) => write!(formatter, "nothing is called `{name}`"),
            CoreParseProblem::Several(name) => write!(formatter, "several are called `{name}`"),
            CoreParseProblem::Number(next) => write!(formatter, "the next number is {next}"),
            CoreParseProblem::NotBuiltIn(name) => write!(formatter, "no built-in operation is called `{name}`"),
            CoreParseProblem::Untyped => write!(formatter, "nothing tells the type of the expression"),
            CoreParseProblem::TooDeep => write!(formatter, "nested too deeply"),
        }
    }
}

impl std::error::Error for CoreParseError {}

/// The span of everything that was read from text.
const NO_SPAN: Span = Span { file: FileId(0), start: 0, end: 0 };

/// Deepest nesting of expressions and types: far more than tests need, far less than a stack holds.
const DEEPEST: usize = 500;

/// Reads a program.
///
/// # Errors
/// The first mistake.
pub fn program(text: &str) -> Result<Program, CoreParseError> {
    let mut program = Program::default();
    let mut parser = Parser::new(text, &mut program);
    parser.declarations().map_err(|error| located(text, error))?;
    Ok(program)
}

/// Reads a form of a program, whose number of variables then counts those of the form.
///
/// # Errors
/// The first mistake.
pub fn form(text: &str, program: &mut Program) -> Result<Form, CoreParseError> {
    let mut parser = Parser::new(text, program);
    let form = parser.form().and_then(|form| parser.end(text.len()).map(|()| form));
    form.map_err(|error| located(text, error))
}

fn located(text: &str, error: Error) -> CoreParseError {
    let before = text.get(..error.offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    CoreParseError {
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
        problem: error.problem,
    }
}

struct Error {
    offset: usize,
    problem: CoreParseProblem,
}

type Parse<T> = Result<T, Error>;

impl From<(usize, Unread)> for Error {
    fn from((offset, unread): (usize, Unread)) -> Error {
        Error { offset, problem: CoreParseProblem::Unread(unread) }
    }
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    program: &'a mut Program,
    datatypes: BTreeMap<usize, Arc<Datatype>>,
    /// The numbers of the functions, globals and datatypes of each name.
    known: [HashMap<String, Vec<usize>>; 3],
    /// The types of the variables bound so far.
    variables: HashMap<VariableId, Type>,
    depth: usize,
}

/// What names are names of: places in [`Parser::known`].
#[derive(Clone, Copy)]
enum Sort {
    Function,
    Global,
    Datatype,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, program: &'a mut Program) -> Parser<'a> {
        let mut known: [HashMap<String, Vec<usize>>; 3] = Default::default();
        let mut add = |sort: Sort, name: &str, id| known[sort as usize].entry(name.to_owned()).or_default().push(id);
        let datatypes = datatypes(program);
        program.functions.iter().enumerate().for_each(|(id, function)| add(Sort::Function, &function.name, id));
        program.globals.iter().enumerate().for_each(|(id, global)| add(Sort::Global, &global.name, id));
        datatypes.iter().for_each(|(id, datatype)| add(Sort::Datatype, &datatype.name, *id));
        let cursor = Cursor::new(text, |rest| rest.len() - rest.trim_start().len());
        Parser { cursor, program, datatypes, known, variables: HashMap::new(), depth: 0 }
    }

    fn fail<T>(&self, problem: CoreParseProblem) -> Parse<T> {
        Err(Error { offset: self.cursor.offset, problem })
    }

    /// Checks that what was read ends here.
    fn end(&mut self, end: usize) -> Parse<()> {
        self.cursor.skip_blanks();
        if self.cursor.offset == end { Ok(()) } else { Ok(self.cursor.expected("the end of the line")?) }
    }

    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.depth >= DEEPEST {
            return self.fail(CoreParseProblem::TooDeep);
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// Reads a word of the notation if it stands next.
    fn accept_word(&mut self, word: &str) -> bool {
        self.cursor.skip_blanks();
        let start = self.cursor.offset;
        let found = self.cursor.take(continues_word) == word;
        if !found {
            self.cursor.offset = start;
        }
        found
    }

    fn expect_word(&mut self, word: &'static str) -> Parse<()> {
        if self.accept_word(word) { Ok(()) } else { Ok(self.cursor.expected(word)?) }
    }

    /// Items between commas, up to a closing symbol, which is consumed.
    fn list<T>(&mut self, close: &'static str, mut item: impl FnMut(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        let mut items = Vec::new();
        if self.cursor.accept(close) {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if self.cursor.accept(close) {
                return Ok(items);
            }
            self.cursor.expect(",")?;
        }
    }

    /// A name: a word, an operator, or what stands in quotes.
    fn name(&mut self) -> Scan<String> {
        if self.cursor.at("'") {
            return self.cursor.quoted('\'');
        }
        let start = self.cursor.offset;
        let name = match self.cursor.rest().starts_with(begins_word) {
            true => self.cursor.take(continues_word),
            false => self.cursor.take(is_sign),
        };
        if name.is_empty() || WORDS.contains(&name) {
            self.cursor.offset = start;
            return self.cursor.expected("a name");
        }
        Ok(name.to_owned())
    }

    /// The number of a function, global or datatype of this name; with a number behind the name that one, and with
    /// nothing but a number any.
    fn reference(&mut self, sort: Sort) -> Parse<usize> {
        let (start, is_numbered) = (self.cursor.offset, self.cursor.at("@"));
        let name = if is_numbered { None } else { Some(self.name()?) };
        let number = match self.cursor.rest().starts_with('@') {
            true => {
                self.cursor.offset += 1;
                Some(self.cursor.number()? as usize)
            }
            false => None,
        };
        let Some(name) = name else { return Ok(number.unwrap_or(usize::MAX)) };
        let known = self.known[sort as usize].get(&name).map_or(&[] as &[usize], Vec::as_slice);
        match (number, known) {
            (Some(number), _) if known.contains(&number) => Ok(number),
            (None, [only]) => Ok(*only),
            (None, [_, ..]) => Err(Error { offset: start, problem: CoreParseProblem::Several(name) }),
            _ => Err(Error { offset: start, problem: CoreParseProblem::Unknown(name) }),
        }
    }
}

//! Tables in text: values with commas, semicolons or tabs between them (RFC 4180), as rows, as columns of types, or as
//! fields.
//!
//! A first row of names where numbers should be is a heading; they stand in messages. What begins as a number does is
//! no name, so a number of another type, or with a slip in it, is a mistake and no heading. Blank lines, a byte order
//! mark and carriage returns before newlines mean nothing. Whether a line begins inside of quotes only who has read
//! all before it knows: on ranks each reads the whole file, a window at a time, and keeps the rows that begin in its
//! share.

use super::words::{BYTE_ORDER_MARK, float, int};
use super::{AT_ONCE, Content, InputError, check, named};
use crate::data::hold::Hold;
use crate::io::import::Piece;
use nesl_prim::host::Share;
use nesl_prim::{Constants, Failure, ScalarType, visible};

/// Signs that may stand between fields; where several are equally frequent in the first line the first is meant.
const DELIMITERS: [u8; 4] = *b",;\t|";

/// How much of a file is looked at for the delimiter.
const FIRST_LINE: u64 = 1 << 16;

/// A field or a name longer than this is shown in part.
const LONGEST_SHOWN: usize = 40;

/// What a column is to become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    /// Numbers, truth values, single characters.
    Scalar(ScalarType),
    /// Texts.
    Text,
}

/// The sign between the fields of a file: the most frequent one in its first line outside of quotes.
pub(super) fn delimiter(content: &mut Content) -> Result<Option<u8>, InputError> {
    if content.is_called(&["tsv"]) {
        return Ok(Some(b'\t'));
    }
    let start = content.read(0..content.length.min(FIRST_LINE))?;
    let mut is_quoted = false;
    let mut counts = [0usize; DELIMITERS.len()];
    let blank = start.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    for &byte in &start[blank..] {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'\n' if !is_quoted => break,
            _ if is_quoted => {}
            byte => counts.iter_mut().zip(DELIMITERS).for_each(|(count, sign)| *count += usize::from(byte == sign)),
        }
    }
    let most = *counts.iter().max().unwrap_or(&0);
    let found = counts.iter().position(|&count| count == most).filter(|_| most > 0);
    Ok(found.map(|found| DELIMITERS[found]))
}

/// Whether a file that could also be rows of words is a table: by its name, or by a delimiter that no number has.
pub(super) fn is_table(content: &mut Content) -> Result<bool, InputError> {
    let by_name = content.is_called(&["csv", "tsv"]);
    let found = delimiter(content)?;
    Ok(found.is_some_and(|sign| by_name || !matches!(sign, b'\t' | b'|')))
}

/// `[[T]]`: the rows, all of one length.
pub(super) fn rows(content: &mut Content, scalar: ScalarType, share: Share<'_>) -> Result<Vec<Piece>, InputError> {
    let mut lengths = Vec::new();
    let mut column = Column::new(Cell::Scalar(scalar));
    read(content, share, &|_| Cell::Scalar(scalar), &mut |content, row| {
        content.hold.push(&mut lengths, row.ends.len() as i64)?;
        (0..row.ends.len()).try_for_each(|index| column.push(content, row, index))
    })?;
    lengths.shrink_to_fit();
    Ok([vec![Piece::Lengths(lengths)], column.finish()].concat())
}

/// `[(S, T, …)]`: a column for each part, of which there are as many as fields in each row.
pub(super) fn records(content: &mut Content, cells: &[Cell], share: Share<'_>) -> Result<Vec<Piece>, InputError> {
    let mut columns: Vec<Column> = cells.iter().map(|&cell| Column::new(cell)).collect();
    read(content, share, &|index| cells.get(index).copied().unwrap_or(Cell::Text), &mut |content, row| {
        if row.ends.len() != cells.len() {
            let are = if cells.len() == 1 { "is" } else { "are" };
            let problem = format!("{}, where {} {are} wanted", plural(row.ends.len()), plural(cells.len()));
            return Err(row.error(content, None, &problem));
        }
        columns.iter_mut().enumerate().try_for_each(|(index, column)| column.push(content, row, index))
    })?;
    Ok(columns.into_iter().flat_map(Column::finish).collect())
}

/// `[[[char]]]`: the fields of all rows, the heading's too.
pub(super) fn fields(content: &mut Content, share: Share<'_>) -> Result<Vec<Piece>, InputError> {
    let mut lengths = Vec::new();
    let mut column = Column::new(Cell::Text);
    read(content, share, &|_| Cell::Text, &mut |content, row| {
        content.hold.push(&mut lengths, row.ends.len() as i64)?;
        (0..row.ends.len()).try_for_each(|index| column.push(content, row, index))
    })?;
    lengths.shrink_to_fit();
    Ok([vec![Piece::Lengths(lengths)], column.finish()].concat())
}

fn plural(count: usize) -> String {
    if count == 1 { "1 field".to_owned() } else { format!("{count} fields") }
}

/// What is done with a row.
type Take<'t> = &'t mut dyn FnMut(&mut Content, &Row) -> Result<(), InputError>;

/// Goes through the rows that begin in this process's share, without the heading. `cell` says what a column is to be.
fn read(
    content: &mut Content,
    share: Share<'_>,
    cell: &dyn Fn(usize) -> Cell,
    take: Take<'_>,
) -> Result<(), InputError> {
    let own = content.share(share)?;
    let mut table = Table::open(content)?;
    // Several numbers may also stand between white space.
    let are_words = table.delimiter.is_none() && [0, 1].iter().all(|&index| is_number(cell(index)));
    let mut row = Row::default();
    let mut width = None;
    while table.next(content, &mut row)? {
        if are_words {
            row.split_at_white_space(content)?;
            if row.ends.is_empty() {
                continue;
            }
        }
        if width.is_none() && is_heading(&row, cell) {
            row.heading = (0..row.ends.len()).map(|index| shown(row.field(index))).collect();
            width = Some((row.ends.len(), row.line));
            continue;
        }
        let &mut (fields, line) = width.get_or_insert((row.ends.len(), row.line));
        if row.ends.len() != fields {
            let problem = format!("{}, where line {line} has {}", plural(row.ends.len()), plural(fields));
            return Err(row.error(content, None, &problem));
        }
        if own.contains(&row.start) {
            take(content, &row)?;
        }
    }
    Ok(())
}

fn is_number(cell: Cell) -> bool {
    !matches!(cell, Cell::Text | Cell::Scalar(ScalarType::Char))
}

/// Whether all fields of a row that should be numbers are names, and there are some.
fn is_heading(row: &Row, cell: &dyn Fn(usize) -> Cell) -> bool {
    let numbers = (0..row.ends.len()).filter(|&index| is_number(cell(index)));
    let is_name = |index: usize| {
        let mut column = Column::new(cell(index));
        let field = row.field(index).trim_ascii();
        let begin = field.iter().find(|byte| !matches!(byte, b'+' | b'-' | b'.'));
        begin.is_some_and(|byte| !byte.is_ascii_digit()) && !column.take(&mut Hold::default(), field).unwrap_or(true)
    };
    let names: Vec<bool> = numbers.map(is_name).collect();
    !names.is_empty() && names.iter().all(|&is_name| is_name)
}

/// A text of a file in a line of a message.
fn shown(field: &[u8]) -> String {
    let cut = &field[..field.len().min(LONGEST_SHOWN)];
    let ellipsis = if field.len() > LONGEST_SHOWN { "…" } else { "" };
    format!("{}{ellipsis}", visible::line(&String::from_utf8_lossy(cut)))
}

/// A row as it was read.
#[derive(Default)]
struct Row {
    /// The fields, one behind the other, without quotes.
    text: Vec<u8>,
    /// Where each ends.
    ends: Vec<usize>,
    /// Where it begins in the file.
    start: u64,
    /// The line in which it begins, counted from 1.
    line: usize,
    /// The names of the columns.
    heading: Vec<String>,
}

impl Row {
    fn field(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.text[start..self.ends[index]]
    }

    /// What was read as one field, as the words in it.
    fn split_at_white_space(&mut self, content: &mut Content) -> Result<(), InputError> {
        let line = std::mem::take(&mut self.text);
        self.ends.clear();
        for word in line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()) {
            content.hold.append(&mut self.text, word)?;
            let end = self.text.len();
            content.hold.push(&mut self.ends, end)?;
        }
        Ok(())
    }

    fn error(&self, content: &Content, column: Option<usize>, problem: &str) -> InputError {
        let column = column.map_or_else(String::new, |index| match self.heading.get(index) {
            Some(name) => format!(", column {} ({name})", index + 1),
            None => format!(", column {}", index + 1),
        });
        let message = format!("{}, line {}{column}: {problem}", named(&content.path), self.line);
        InputError { position: self.start + 1, ..InputError::new(message) }
    }
}

/// Where reading is within a field.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before its first character.
    Start,
    /// In it.
    Bare,
    /// In quotes.
    Quoted,
    /// Behind a quote within quotes: the end, or one of two that stand for one.
    Closing,
}

/// A file that is read row by row.
struct Table {
    /// None where its first line has one field.
    delimiter: Option<u8>,
    window: Vec<u8>,
    /// Where the window begins in the file.
    start: u64,
    /// What of the window has been read.
    position: usize,
    /// Lines that have ended.
    lines: usize,
}

impl Table {
    fn open(content: &mut Content) -> Result<Table, InputError> {
        let delimiter = delimiter(content)?;
        let start = if content.begins_with(BYTE_ORDER_MARK)? { BYTE_ORDER_MARK.len() as u64 } else { 0 };
        Ok(Table { delimiter, window: Vec::new(), start, position: 0, lines: content.lines_before })
    }

    /// Brings more of the file into the window, all of which has been read; whether there was more.
    fn advance(&mut self, content: &mut Content) -> Result<bool, InputError> {
        check(&content.interrupt)?;
        self.start += self.window.len() as u64;
        self.position = 0;
        let end = content.length.min(self.start + AT_ONCE);
        content.read_to(self.start..end, &mut self.window)?;
        Ok(!self.window.is_empty())
    }

    /// Reads the next row that is not blank; whether there is one.
    fn next(&mut self, content: &mut Content, row: &mut Row) -> Result<bool, InputError> {
        row.text.clear();
        row.ends.clear();
        let mut state = State::Start;
        (row.start, row.line) = (self.start + self.position as u64, self.lines + 1);
        loop {
            if self.position == self.window.len() && !self.advance(content)? {
                return match state {
                    State::Quoted => Err(row.error(content, None, "a quote that begins in this row is not closed")),
                    State::Start if row.ends.is_empty() => Ok(false),
                    State::Bare if row.text == b"\r" => Ok(false),
                    _ => self.end_field(content, row).map(|()| true),
                };
            }
            let rest = &self.window[self.position..];
            let plain = rest.iter().position(|&byte| self.is_special(state, byte)).unwrap_or(rest.len());
            if plain > 0 {
                if state == State::Closing && rest[..plain] != *b"\r" {
                    return Err(row.error(content, None, "a text follows the quote that closes a field"));
                }
                if state != State::Closing {
                    content.hold.append(&mut row.text, &rest[..plain])?;
                    state = if state == State::Quoted { state } else { State::Bare };
                }
                self.position += plain;
                continue;
            }
            let byte = rest[0];
            self.position += 1;
            state = match (state, byte) {
                (State::Start, b'"') | (State::Closing, b'"') => {
                    if state == State::Closing {
                        content.hold.append(&mut row.text, b"\"")?;
                    }
                    State::Quoted
                }
                (State::Quoted, b'"') => State::Closing,
                (_, b'\n') if state == State::Quoted => {
                    self.lines += 1;
                    content.hold.append(&mut row.text, b"\n")?;
                    state
                }
                (_, b'\n') => {
                    self.lines += 1;
                    let begin = row.ends.last().copied().unwrap_or(0);
                    if state == State::Bare && row.text.len() > begin && row.text.ends_with(b"\r") {
                        row.text.pop();
                    }
                    let is_blank = row.ends.is_empty() && row.text.is_empty() && state != State::Closing;
                    if !is_blank {
                        return self.end_field(content, row).map(|()| true);
                    }
                    (row.start, row.line) = (self.start + self.position as u64, self.lines + 1);
                    State::Start
                }
                _ => {
                    self.end_field(content, row)?;
                    State::Start
                }
            };
        }
    }

    /// Whether a byte is more than part of a field.
    fn is_special(&self, state: State, byte: u8) -> bool {
        let delimiter = self.delimiter.or(Some(DELIMITERS[0]));
        match state {
            State::Quoted => matches!(byte, b'"' | b'\n'),
            State::Bare => Some(byte) == delimiter || byte == b'\n',
            State::Start | State::Closing => Some(byte) == delimiter || matches!(byte, b'"' | b'\n'),
        }
    }

    fn end_field(&self, content: &mut Content, row: &mut Row) -> Result<(), InputError> {
        let end = row.text.len();
        Ok(content.hold.push(&mut row.ends, end)?)
    }
}

/// Elements that are being read.
enum Column {
    Int(Vec<i64>),
    Float(Vec<f64>),
    Bool(Vec<bool>),
    Char(Vec<u8>),
    Text(Vec<i64>, Vec<u8>),
}

impl Column {
    fn new(cell: Cell) -> Column {
        match cell {
            Cell::Scalar(ScalarType::Int) => Column::Int(Vec::new()),
            Cell::Scalar(ScalarType::Float) => Column::Float(Vec::new()),
            Cell::Scalar(ScalarType::Bool) => Column::Bool(Vec::new()),
            Cell::Scalar(ScalarType::Char) => Column::Char(Vec::new()),
            Cell::Text => Column::Text(Vec::new(), Vec::new()),
        }
    }

    /// Adds a field; whether it is of the type.
    fn take(&mut self, hold: &mut Hold, field: &[u8]) -> Result<bool, Failure> {
        fn add<T>(hold: &mut Hold, elements: &mut Vec<T>, element: Option<T>) -> Result<bool, Failure> {
            let Some(element) = element else { return Ok(false) };
            hold.push(elements, element).map(|()| true)
        }
        let number = field.trim_ascii();
        match self {
            Column::Int(elements) => add(hold, elements, int(number)),
            Column::Float(elements) => add(hold, elements, float(number)),
            Column::Bool(elements) => add(hold, elements, truth(number)),
            Column::Char(elements) => add(hold, elements, field.first().copied().filter(|_| field.len() == 1)),
            Column::Text(lengths, text) => {
                hold.append(text, field)?;
                add(hold, lengths, Some(field.len() as i64))
            }
        }
    }

    /// Adds a field of a row.
    fn push(&mut self, content: &mut Content, row: &Row, index: usize) -> Result<(), InputError> {
        let field = row.field(index);
        if self.take(&mut content.hold, field)? {
            return Ok(());
        }
        let wanted = match self {
            Column::Int(_) => "an int",
            Column::Float(_) => "a float",
            Column::Bool(_) => "a bool",
            Column::Char(_) | Column::Text(..) => "a single character",
        };
        let digits = field.trim_ascii().strip_prefix(b"-").unwrap_or(field.trim_ascii());
        let is_large = wanted == "an int" && !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
        let problem = match field.trim_ascii().is_empty() {
            true => format!("there is nothing where {wanted} should be"),
            false if is_large => format!("`{}` is too large for an int", shown(field)),
            false => format!("`{}` is not {wanted}", shown(field)),
        };
        Err(row.error(content, Some(index), &problem))
    }

    fn finish(self) -> Vec<Piece> {
        // Without room behind them they become a column as they lie.
        fn fitted<T>(mut elements: Vec<T>) -> Vec<T> {
            elements.shrink_to_fit();
            elements
        }
        let elements = match self {
            Column::Int(elements) => Constants::Int(fitted(elements)),
            Column::Float(elements) => Constants::Float(fitted(elements)),
            Column::Bool(elements) => Constants::Bool(fitted(elements)),
            Column::Char(elements) => Constants::Char(fitted(elements)),
            Column::Text(lengths, text) => {
                return vec![Piece::Lengths(fitted(lengths)), Piece::Elements(Constants::Char(fitted(text)))];
            }
        };
        vec![Piece::Elements(elements)]
    }
}

/// A truth value as NESL, Python, R or a spreadsheet writes it.
fn truth(word: &[u8]) -> Option<bool> {
    let is = |wanted: &str| word.eq_ignore_ascii_case(wanted.as_bytes());
    if is("t") || is("true") {
        return Some(true);
    }
    (is("f") || is("false")).then_some(false)
}

#[cfg(test)]
mod tests;

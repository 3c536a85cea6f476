//! Matrices in columns: how a session at a terminal shows a sequence of rows of scalars that are equally long.
//!
//! ```text
//! m = [[ 1.0,  0.5, ...,  0.1],
//!      [ 2.0, 10.0, ...,  0.25],
//!      ...,
//!      [ 9.0,  0.0, ...,  1.0 ]] : [[float]], 100 × 40
//! ```
//! Numbers stand one below the other by their points, rows and columns that do not fit the screen are left out in the
//! middle, and the shape is said last. What is shown whole reads back as the value, as every answer does. All ranks
//! make the same text, of elements that they fetch together.

use nesl_backend::io::print::PrintError;
use nesl_backend::{Engine, Slot, Value};
use nesl_prim::{Element, ScalarOp, ScalarType, ScalarValue, text};
use nesl_vcode::Shape;
use serde::{Deserialize, Serialize};
use unicode_width::UnicodeWidthStr;

/// The most elements that are shown where nothing is left out: what can be lined up only when all of it is at hand.
const MOST: usize = 1 << 20;

/// Lines of a screen that are not for an answer: the input before it, and the next prompt.
const OTHER_LINES: usize = 3;

/// Rows that are shown on screens of a few lines, too.
const LEAST_ROWS: usize = 5;

/// What stands for rows and columns that are left out.
const LEFT_OUT: &str = "...";

/// Where an answer is to fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Page {
    /// Characters in a line.
    pub columns: usize,
    /// Lines.
    pub lines: usize,
    /// Characters before the value in its first line.
    pub before: usize,
    /// Characters after it in its last.
    pub after: usize,
}

impl Page {
    /// Lines that an answer may take.
    pub fn lines_for_answers(self) -> usize {
        self.lines.saturating_sub(OTHER_LINES).max(LEAST_ROWS)
    }

    /// Lines that a text without line ends takes.
    pub fn lines_of(self, text: &str) -> usize {
        (self.before + text.width() + self.after).div_ceil(self.columns.max(1))
    }
}

/// Elements of a matrix as texts: some rows, of each the same columns.
struct Texts {
    rows: Vec<Vec<String>>,
    /// The first so many of the rows, and of the elements of each, are the first of the matrix, the others its last.
    first: (usize, usize),
}

/// A matrix as it is shown: its lines, without a newline at the end, and its numbers of rows and columns.
pub(super) struct Lines {
    pub text: String,
    pub shape: (usize, usize),
}

/// The lines of a value with at most so many rows and columns, or all; none if it is no matrix, or so large that its
/// elements are better written one after another.
///
/// # Errors
/// Those of the engine; the same on all ranks.
pub(super) fn lines<E: Engine>(
    engine: &mut E,
    value: &Value<E>,
    limit: Option<usize>,
    page: Page,
) -> Result<Option<Lines>, PrintError> {
    let Some(matrix) = Matrix::of(engine, value)? else { return Ok(None) };
    let (rows, columns) = matrix.shape;
    let is_all = limit.is_none();
    if is_all && rows.saturating_mul(columns) > MOST {
        return Ok(None);
    }
    let lines = page.lines_for_answers();
    let most_rows = limit.map_or(rows, |limit| lines.min(limit.saturating_add(1)));
    let room = page.columns.saturating_sub(page.before + 4);
    // An element takes three characters at least, with what stands between it and the next.
    let most_columns = limit.map_or(columns, |limit| limit.min(room / 3 + 1));
    let texts = matrix.texts(engine, ends(rows, most_rows, 1), ends(columns, most_columns, 0))?;
    let mut text = texts.lined_up((rows, columns), if is_all { usize::MAX } else { room }, page.before);
    let last = text.lines().last().map_or(0, |line| line.chars().count());
    if text.contains('\n') && last + page.after > page.columns {
        text += &format!("\n{}", " ".repeat(page.before.saturating_sub(1)));
    }
    Ok(Some(Lines { text, shape: matrix.shape }))
}

/// How many of the first and of the last ones of `all` are shown, with `kept` places of `most` for what is left out.
fn ends(all: usize, most: usize, kept: usize) -> (usize, usize) {
    if all <= most {
        return (all, 0);
    }
    let shown = most.saturating_sub(kept).max(1);
    (shown.div_ceil(2), shown / 2)
}

/// A matrix: where its rows begin and its elements are.
struct Matrix<E: Engine> {
    starts: E::Column,
    elements: E::Column,
    shape: (usize, usize),
}

impl<E: Engine> Matrix<E> {
    /// The value as a matrix, if it has several rows of scalars that are equally long.
    fn of(engine: &mut E, value: &Value<E>) -> Result<Option<Matrix<E>>, PrintError> {
        let is_scalar = |shape: &Shape| matches!(shape, Shape::Scalar(ty) if *ty != ScalarType::Char);
        let is_row = |shape: &Shape| matches!(shape, Shape::Sequence(element) if is_scalar(element));
        let is_nested = matches!(&value.shape, Shape::Sequence(row) if is_row(row));
        let [Slot::Scalar(ScalarValue::Int(rows)), Slot::Descriptor(segments), Slot::Column(elements)] =
            &value.slots[..]
        else {
            return Ok(None);
        };
        if !is_nested || *rows < 2 {
            return Ok(None);
        }
        let lengths = engine.lengths(segments)?;
        let least = i64::from_value(engine.reduce(ScalarOp::MinimumInt, &lengths)?);
        let most = i64::from_value(engine.reduce(ScalarOp::MaximumInt, &lengths)?);
        if least != most || least == 0 {
            return Ok(None);
        }
        let starts = engine.starts(segments)?;
        Ok(Some(Matrix { starts, elements: elements.clone(), shape: (*rows as usize, least as usize) }))
    }

    /// So many first and last elements of so many first and last rows.
    fn texts(
        &self,
        engine: &mut E,
        (first_rows, last_rows): (usize, usize),
        (first, last): (usize, usize),
    ) -> Result<Texts, PrintError> {
        let (rows, columns) = self.shape;
        let mut starts = integers(engine, &self.starts, 0, first_rows)?;
        starts.extend(integers(engine, &self.starts, rows - last_rows, last_rows)?);
        let mut texts = Vec::with_capacity(starts.len());
        let mut index = 0;
        while index < starts.len() {
            engine.interrupt().check().map_err(PrintError::Failure)?;
            let start = starts[index];
            if first < columns {
                let mut row = scalars(engine, &self.elements, start, first)?;
                row.extend(scalars(engine, &self.elements, start + columns - last, last)?);
                texts.push(row);
                index += 1;
                continue;
            }
            // Whole rows that follow one another are fetched at once.
            let following =
                (starts[index..].iter().enumerate()).take_while(|(at, begins)| **begins == start + at * columns);
            let count = following.count();
            let all = scalars(engine, &self.elements, start, count * columns)?;
            texts.extend(all.chunks(columns).map(<[String]>::to_vec));
            index += count;
        }
        Ok(Texts { rows: texts, first: (first_rows, first) })
    }
}

fn integers<E: Engine>(
    engine: &mut E,
    column: &E::Column,
    start: usize,
    length: usize,
) -> Result<Vec<usize>, PrintError> {
    let places = engine.fetch(column, start, length)?.elements;
    Ok(places.elements::<i64>().iter().map(|&place| place as usize).collect())
}

fn scalars<E: Engine>(
    engine: &mut E,
    column: &E::Column,
    start: usize,
    length: usize,
) -> Result<Vec<String>, PrintError> {
    let elements = engine.fetch(column, start, length)?.elements;
    Ok((0..elements.len()).map(|index| text::scalar(elements.get(index))).collect())
}

impl Texts {
    /// One below the other, in lines that begin after so many characters and have room for so many more.
    fn lined_up(&self, (rows, columns): (usize, usize), room: usize, before: usize) -> String {
        let widths: Vec<(usize, usize)> = (0..self.rows.first().map_or(0, Vec::len)).map(|at| self.width(at)).collect();
        let (first, last) = fitting(&widths, self.first.1, columns, room);
        let (first_rows, _) = self.first;
        let mut lines: Vec<String> = self.rows.iter().map(|row| line(row, &widths, (first, last), columns)).collect();
        if lines.len() < rows {
            lines.insert(first_rows, LEFT_OUT.to_owned());
        }
        format!("[{}]", lines.join(&format!(",\n{}", " ".repeat(before + 1))))
    }

    /// The most characters before the point of the elements of a column, and from it on.
    fn width(&self, at: usize) -> (usize, usize) {
        let parts = self.rows.iter().map(|row| halves(&row[at]));
        parts.fold((0, 0), |width, (whole, rest)| (width.0.max(whole.len()), width.1.max(rest.len())))
    }
}

/// A number before its point, and from it on.
fn halves(text: &str) -> (&str, &str) {
    text.split_at(text.find('.').unwrap_or(text.len()))
}

/// How many of the first and of the last columns there is room for, of those with these widths. Of the columns of the
/// matrix the first so many are the first ones with a width.
fn fitting(widths: &[(usize, usize)], first: usize, columns: usize, room: usize) -> (usize, usize) {
    let taken = |(whole, rest): (usize, usize)| whole + rest + 2;
    let all: usize = widths.iter().map(|&width| taken(width)).sum();
    if widths.len() == columns && all <= room.saturating_add(2) {
        return (columns, 0);
    }
    let mut left = room.saturating_sub(LEFT_OUT.len() + 2);
    let (mut ahead, mut behind) = (0, 0);
    loop {
        let is_ahead = ahead <= behind;
        let end = if widths.len() == columns { columns } else { first };
        let next = if is_ahead { ahead } else { widths.len() - 1 - behind };
        let is_there = ahead + behind < widths.len() && (!is_ahead || ahead < end);
        let Some(rest) = widths.get(next).filter(|_| is_there).and_then(|&width| left.checked_sub(taken(width))) else {
            // One is shown, however wide it is.
            return (ahead.max(1), behind);
        };
        left = rest;
        if is_ahead { ahead += 1 } else { behind += 1 }
    }
}

/// The line of a row: its first and last elements, each as wide as its column.
fn line(row: &[String], widths: &[(usize, usize)], (first, last): (usize, usize), columns: usize) -> String {
    let element = |at: usize| {
        let ((whole, rest), (before, after)) = (halves(&row[at]), widths[at]);
        format!("{whole:>before$}{rest:<after$}")
    };
    let mut parts: Vec<String> = (0..first).map(element).collect();
    if first + last < columns {
        parts.push(LEFT_OUT.to_owned());
    }
    parts.extend((row.len() - last..row.len()).map(element));
    format!("[{}]", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use nesl_backend::{Columns, Reference};
    use nesl_prim::Constants;

    /// What a matrix of these rows looks like on a page.
    fn shown(rows: &[Constants], limit: Option<usize>, (columns, lines): (usize, usize)) -> Option<String> {
        let mut engine = Reference::new(None);
        let lengths = Constants::Int(rows.iter().map(|row| row.len() as i64).collect());
        let scalars: Vec<ScalarValue> = rows.iter().flat_map(|row| (0..row.len()).map(|at| row.get(at))).collect();
        let ty = rows[0].scalar_type();
        let lengths = engine.constants(&lengths).unwrap();
        let descriptor = engine.descriptor(None, lengths).unwrap();
        let elements = engine.constants(&Constants::from_scalars(ty, &scalars)).unwrap();
        let shape = Shape::Sequence(Box::new(Shape::Sequence(Box::new(Shape::Scalar(ty)))));
        let slots = vec![
            Slot::Scalar(ScalarValue::Int(rows.len() as i64)),
            Slot::Descriptor(descriptor),
            Slot::Column(elements),
        ];
        let page = Page { columns, lines, before: 4, after: 20 };
        let lines = super::lines(&mut engine, &Value::new(shape, slots), limit, page).unwrap();
        lines.map(|lines| lines.text)
    }

    fn table(rows: i64, columns: i64) -> Vec<Constants> {
        (0..rows).map(|row| Constants::Int((0..columns).map(|column| row * columns + column).collect())).collect()
    }

    #[test]
    fn numbers_stand_below_one_another() {
        assert_eq!(
            shown(&table(2, 6), Some(100), (80, 24)).as_deref(),
            Some("[[0, 1, 2, 3,  4,  5],\n     [6, 7, 8, 9, 10, 11]]")
        );
        let floats = [Constants::Float(vec![1.5, -0.25]), Constants::Float(vec![10.0, f64::INFINITY])];
        assert_eq!(shown(&floats, Some(100), (80, 24)).as_deref(), Some("[[ 1.5,  -0.25],\n     [10.0, inf   ]]"));
        let truths = [Constants::Bool(vec![true, false]), Constants::Bool(vec![false, false])];
        assert_eq!(shown(&truths, Some(100), (80, 24)).as_deref(), Some("[[t, f],\n     [f, f]]"));
    }

    #[test]
    fn what_does_not_fit_is_left_out_in_the_middle() {
        let text = shown(&table(100, 100), Some(100), (40, 10)).unwrap();
        let expected = "[[   0,    1, ...,   98,   99],\n     [ 100,  101, ...,  198,  199],\n     \
                        [ 200,  201, ...,  298,  299],\n     ...,\n     [9700, 9701, ..., 9798, 9799],\n     \
                        [9800, 9801, ..., 9898, 9899],\n     [9900, 9901, ..., 9998, 9999]]\n   ";
        assert_eq!(text, expected);
        // As few as somebody wants, but whole where everything is wanted.
        assert_eq!(shown(&table(9, 9), Some(2), (80, 24)).unwrap().lines().count(), 3);
        assert!(!shown(&table(50, 50), None, (40, 10)).unwrap().contains("..."));
        // One column is shown on any screen.
        assert!(shown(&table(2, 3), Some(100), (4, 4)).unwrap().starts_with("[[0, ...],\n"));
    }

    #[test]
    fn rows_that_differ_are_no_matrix() {
        let rows = [Constants::Int(vec![1]), Constants::Int(vec![1, 2])];
        assert_eq!(shown(&rows, Some(100), (80, 24)), None);
        assert_eq!(shown(&table(1, 3), Some(100), (80, 24)), None);
        assert_eq!(shown(&[Constants::Int(Vec::new()), Constants::Int(Vec::new())], Some(100), (80, 24)), None);
    }

    #[test]
    fn columns_are_taken_from_both_ends() {
        assert_eq!(fitting(&[(1, 0); 4], 4, 4, 10), (4, 0));
        assert_eq!(fitting(&[(1, 0); 4], 4, 4, 9), (1, 0));
        assert_eq!(fitting(&[(1, 0); 10], 5, 30, 17), (2, 2));
        assert_eq!(fitting(&[(90, 0); 10], 5, 30, 17), (1, 0));
    }
}

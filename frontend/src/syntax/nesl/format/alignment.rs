//! Columns of `=` that the author lined up stay lined up.

use super::atoms::Atoms;
use super::gaps::Gaps;
use std::collections::HashMap;

/// Patterns that are wider do not stand in columns.
const WIDEST: usize = 60;

/// A binding that begins a line, or the first of a `let`.
struct Line {
    equal: usize,
    /// The column of its `=` in the text.
    column: usize,
    /// The blanks before that.
    blanks: usize,
    /// The width of its pattern as it will be written.
    width: usize,
}

/// How many blanks more than one stand before which tokens.
pub(super) fn paddings(text: &str, gaps: &Gaps<'_>, atoms: &Atoms) -> HashMap<usize, usize> {
    let mut paddings = HashMap::new();
    for bindings in &gaps.bindings {
        let lines: Vec<Option<Line>> =
            (bindings.iter().enumerate()).map(|(index, at)| line(text, gaps, atoms, *at, index == 0)).collect();
        let in_one_column = |one: &Option<Line>, other: &Option<Line>| match (one, other) {
            (Some(one), Some(other)) => one.column == other.column,
            _ => false,
        };
        for run in lines.chunk_by(in_one_column) {
            let run: Vec<&Line> = run.iter().flatten().collect();
            if run.len() < 2 || run.iter().all(|line| line.blanks < 2) {
                continue;
            }
            let widest = run.iter().map(|line| line.width).max().unwrap_or(0);
            paddings.extend(run.iter().map(|line| (line.equal, widest - line.width)));
        }
    }
    paddings
}

/// The line of a binding, if it has one of its own up to its `=`.
fn line(text: &str, gaps: &Gaps<'_>, atoms: &Atoms, (first, equal): (usize, usize), is_first: bool) -> Option<Line> {
    let stands_alone = |token| atoms.before(token).len() == 1;
    if !(is_first || atoms.is_broken(first)) || !(first + 1..=equal).all(stands_alone) {
        return None;
    }
    if (first + 1..=equal).any(|token| atoms.is_broken(token)) {
        return None;
    }
    let range = |token: usize| atoms.atoms[atoms.of_token[token]].range.clone();
    let at = range(equal).start;
    let line_start = text[..at].rfind(['\n', '\r']).map_or(0, |end| end + 1);
    let width = (first..equal).map(|token| {
        let blank = usize::from(token > first && !gaps.gaps[token].is_tight);
        blank + text[range(token)].chars().count()
    });
    let width = width.sum();
    (width <= WIDEST).then_some(Line {
        equal,
        column: text[line_start..at].chars().count(),
        blanks: text[range(equal - 1).end..at].chars().count(),
        width,
    })
}

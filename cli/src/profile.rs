//! `--profile`: where a run spent its time, as a table of the lines of the program, or as one JSON object.
//! The same lines are pages for browsers: [`heat_map`] is the program, [`trace`] when each thread was where.

pub mod heat_map;
pub mod trace;

use crate::style::Style;
use nesl_backend::Spent;
use nesl_frontend::render::json;
use nesl_prim::visible;
use nesl_span::{FileId, Origin, SourceMap, Span};
use serde::Serialize;
use std::collections::HashMap;
use std::time::Duration;

/// Lines of the program that are shown where the user does not say how many.
pub const LINES: &str = "20";

/// Time that no instruction took.
#[derive(Clone, Copy, Debug)]
pub struct Around {
    /// Before the machine was ready: reading and compiling the program, starting threads. The library's constants are
    /// added to it.
    pub before: Duration,
    /// From then on: reading arguments, printing.
    pub between: Duration,
}

/// What is shown.
#[derive(Serialize)]
struct Report<'a> {
    lines: Vec<Line<'a>>,
    /// The other lines together.
    rest: Cost,
    /// How many those are.
    others: usize,
    total: Cost,
    compiling_ms: Option<f64>,
    outside_ms: Option<f64>,
}

/// A line of the program.
#[derive(Serialize)]
struct Line<'a> {
    file: &'a str,
    line: usize,
    source: &'a str,
    #[serde(flatten)]
    cost: Cost,
}

#[derive(Clone, Copy, Serialize)]
struct Cost {
    ms: f64,
    /// Of the time in instructions.
    share: f64,
    instructions: u64,
    bytes: u64,
    /// Some of it is native code.
    native: bool,
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// The `count` lines that took the longest, the others together, and all; with a newline at the end.
pub fn text(
    places: &[(Span, Spent)],
    sources: &SourceMap,
    count: usize,
    around: Option<Around>,
    style: Style,
) -> String {
    let report = report(places, sources, count, around);
    match style {
        Style::Text(_) => table(&report),
        Style::Json => {
            let report = HashMap::from([("profile", &report)]);
            // Strings and numbers can always be written.
            json::escaped(&serde_json::to_string(&report).unwrap_or_default()) + "\n"
        }
    }
}

fn report<'a>(places: &[(Span, Spent)], sources: &'a SourceMap, count: usize, around: Option<Around>) -> Report<'a> {
    let mut by_line: HashMap<(FileId, usize), Spent> = HashMap::new();
    let (mut total, mut constants) = (Spent::default(), Spent::default());
    for &(place, spent) in places {
        // No code of the user's led there: the library computes its constants, before anything else.
        if around.is_some() && sources.file(place.file).origin == Origin::Library {
            constants.add(spent);
            continue;
        }
        let (line, _) = sources.line_column(place);
        by_line.entry((place.file, line)).or_default().add(spent);
        total.add(spent);
    }
    let cost = |spent: Spent| Cost {
        ms: ms(spent.time),
        share: if total.time.is_zero() { 0.0 } else { spent.time.as_secs_f64() / total.time.as_secs_f64() },
        instructions: spent.instructions,
        bytes: spent.bytes,
        native: spent.native,
    };
    let mut by_line: Vec<_> = by_line.into_iter().collect();
    by_line.sort_by_key(|&(line, spent)| (std::cmp::Reverse(spent.time), line));
    let others = by_line.split_off(count.min(by_line.len()));
    let mut rest = Spent::default();
    others.iter().for_each(|&(_, spent)| rest.add(spent));
    let line = |((file, line), spent): ((FileId, usize), Spent)| {
        let file = sources.file(file);
        Line { file: &file.name, line, source: file.text.lines().nth(line - 1).unwrap_or("").trim(), cost: cost(spent) }
    };
    Report {
        lines: by_line.into_iter().map(line).collect(),
        rest: cost(rest),
        others: others.len(),
        total: cost(total),
        compiling_ms: around.map(|around| ms(around.before + constants.time)),
        outside_ms: around.map(|around| ms(around.between)),
    }
}

fn table(report: &Report<'_>) -> String {
    let mut text = format!("{:>10}  {:>6}  {:>12}  {:>14}  {:6}  line\n", "ms", "share", "instructions", "bytes", "");
    let mut row = |cost: &Cost, line: &str| {
        let Cost { ms, share, instructions, bytes, native } = cost;
        let (percent, native) = (share * 100.0, if *native { "native" } else { "" });
        let line = visible::line(line);
        text.push_str(&format!("{ms:10.3}  {percent:5.1}%  {instructions:12}  {bytes:14}  {native:6}  {line}\n"));
    };
    for Line { file, line, source, cost } in &report.lines {
        row(cost, &format!("{file}:{line}   {source}"));
    }
    if report.others > 0 {
        row(&report.rest, &format!("{} more", report.others));
    }
    row(&report.total, "all instructions");
    for (time, what) in [
        (report.compiling_ms, "before: reading and compiling the program"),
        (report.outside_ms, "outside of instructions: arguments, printing"),
    ] {
        if let Some(ms) = time {
            text.push_str(&format!("{ms:10.3}  {what}\n"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_a_line_are_added_and_lines_sorted_by_time() {
        let mut sources = SourceMap::default();
        let file = sources.add("a.nesl", "one;\n  two + three;\nfour;\n", Origin::User);
        let place = |start| Span::new(file, start, start + 1);
        let spent = |ms, instructions| Spent {
            time: Duration::from_millis(ms),
            instructions,
            bytes: 8 * instructions,
            native: ms == 5,
        };
        let places =
            [(place(0), spent(2, 1)), (place(7), spent(3, 2)), (place(13), spent(5, 4)), (place(20), spent(0, 1))];
        let library = sources.add("stdlib/scalar.nesl", "max_int = 1;", Origin::Library);
        let constant = (Span::new(library, 0, 1), spent(1, 3));
        let places = [places.as_slice(), &[constant]].concat();
        let around = Around { before: Duration::from_millis(6), between: Duration::from_micros(1500) };
        let shown = text(&places, &sources, 1, Some(around), Style::plain());
        let expected = "        ms   share  instructions           bytes          line\n\
                        \x20    8.000   80.0%             6              48  native  a.nesl:2   two + three;\n\
                        \x20    2.000   20.0%             2              16          2 more\n\
                        \x20   10.000  100.0%             8              64  native  all instructions\n\
                        \x20    7.000  before: reading and compiling the program\n\
                        \x20    1.500  outside of instructions: arguments, printing\n";
        assert_eq!(shown, expected);
        let nothing = text(&[], &sources, 1, None, Style::plain());
        assert_eq!(nothing.lines().count(), 2);
    }
}

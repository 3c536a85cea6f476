//! Diagnostics as data: one JSON object in one line, for editors and other tools.
//!
//! ```text
//! {"severity":"error","code":"E0201","message":"…","labels":[{"file":"a.nesl","start":{"line":1,"column":5},
//!  "end":{"line":1,"column":9},"text":"…"}],"hint":"…"}
//! ```
//!
//! The primary label comes first. Lines and columns count from 1, columns in characters; `end` is the column after the
//! last character. `hint` is null where there is none. An error of a running program that happened inside of calls has
//! them too, the innermost first: `"calls":[{"file":"a.nesl","start":…,"end":…,"text":"`g` called in `h`"}]`.
//! Characters that a terminal obeys are written as escapes.

use crate::diagnostic::{Diagnostic, Label, Severity};
use nesl_prim::visible;
use nesl_span::{SourceMap, Span};
use serde::Serialize;

#[derive(Serialize)]
struct Report<'a> {
    severity: &'static str,
    /// Null for what has no page, such as a file that cannot be read.
    code: Option<&'a str>,
    message: &'a str,
    labels: Vec<Place<'a>>,
    hint: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    calls: Vec<Place<'a>>,
}

#[derive(Serialize)]
struct Place<'a> {
    file: &'a str,
    start: Position,
    end: Position,
    text: &'a str,
}

#[derive(Serialize)]
struct Position {
    line: usize,
    column: usize,
}

/// The JSON object of a diagnostic, with a newline at its end.
///
/// # Panics
/// If a span names a file that is not in `sources`.
pub fn render(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    line(&Report {
        severity: match diagnostic.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        },
        code: Some(diagnostic.code),
        message: &diagnostic.message,
        labels: diagnostic.labels.iter().map(|label| place(label, sources)).collect(),
        hint: diagnostic.hint.as_deref(),
        calls: diagnostic.calls.iter().map(|call| place(call, sources)).collect(),
    })
}

/// The JSON object of an error that has neither code nor place.
pub fn bare_error(message: &str) -> String {
    line(&Report { severity: "error", code: None, message, labels: Vec::new(), hint: None, calls: Vec::new() })
}

/// An error with a code and a hint that has no place in a program, as one line of JSON.
pub fn coded_error(code: &str, message: &str, hint: &str) -> String {
    line(&Report {
        severity: "error",
        code: Some(code),
        message,
        labels: Vec::new(),
        hint: Some(hint),
        calls: Vec::new(),
    })
}

/// An error that has neither code nor place, with a hint.
pub fn error_with_hint(message: &str, hint: &str) -> String {
    line(&Report { severity: "error", code: None, message, labels: Vec::new(), hint: Some(hint), calls: Vec::new() })
}

/// A warning that has neither code nor place.
pub fn bare_warning(message: &str) -> String {
    line(&Report { severity: "warning", code: None, message, labels: Vec::new(), hint: None, calls: Vec::new() })
}

fn line(report: &Report<'_>) -> String {
    // Strings and numbers can always be written.
    escaped(&serde_json::to_string(report).unwrap_or_default()) + "\n"
}

/// A JSON text in which characters that a terminal obeys are written as escapes: what JSON leaves as it is, a terminal
/// may not.
pub fn escaped(text: &str) -> String {
    let mut line = String::with_capacity(text.len() + 1);
    for character in text.chars() {
        match visible::stand_in(character) {
            None => line.push(character),
            // It can only stand in strings.
            Some(_) => {
                character.encode_utf16(&mut [0; 2]).iter().for_each(|unit| line.push_str(&format!("\\u{unit:04x}")))
            }
        }
    }
    line
}

fn place<'a>(label: &'a Label, sources: &'a SourceMap) -> Place<'a> {
    let position = |offset: u32| {
        let (line, column) = sources.line_column(Span { start: offset, end: offset, ..label.span });
        Position { line, column }
    };
    Place {
        file: &sources.file(label.span.file).name,
        start: position(label.span.start),
        end: position(label.span.end.max(label.span.start)),
        text: &label.text,
    }
}

//! Diagnostics as text for a terminal.
//!
//! The one file that knows ariadne: everything else says what is wrong as a [`Diagnostic`].

use crate::diagnostic::{Diagnostic, Label, Severity};
use ariadne::{Cache, Color, Config, Fmt, IndexType, Report, ReportKind};
use nesl_span::{FileId, SourceMap, Span};
use std::collections::HashMap;
use std::fmt::{Debug, Display, Write};
use std::ops::Range;

/// A line longer than this is not shown: it is data, and would hide the message.
const LONGEST_LINE: usize = 1_000;

/// The text of a diagnostic, with a newline at its end. `color` adds the escapes of a terminal.
///
/// # Panics
/// If a span names a file that is not in `sources`.
pub fn render(diagnostic: &Diagnostic, sources: &SourceMap, color: bool) -> String {
    let has_long_line = diagnostic.labels.iter().any(|label| longest_line(label.span, sources) > LONGEST_LINE);
    match diagnostic.labels.first() {
        Some(primary) if !has_long_line => with_excerpt(diagnostic, primary, sources, color),
        _ => without_excerpt(diagnostic, sources),
    }
}

/// `Error[E0110]`.
fn title(diagnostic: &Diagnostic) -> String {
    let severity = match diagnostic.severity {
        Severity::Warning => "Warning",
        Severity::Error => "Error",
    };
    format!("{severity}[{}]", diagnostic.code)
}

fn with_excerpt(diagnostic: &Diagnostic, primary: &Label, sources: &SourceMap, color: bool) -> String {
    let tint = |severity| match severity {
        Severity::Warning => Color::Yellow,
        Severity::Error => Color::Red,
    };
    let kind = match diagnostic.severity {
        Severity::Warning => ReportKind::Warning,
        Severity::Error => ReportKind::Error,
    };
    let config = Config::new().with_color(color).with_index_type(IndexType::Byte);
    let mut report = Report::build(kind, visible(primary.span, sources)).with_config(config);
    for (order, label) in (0..).zip(&diagnostic.labels) {
        let is_primary = order == 0;
        let shade = if is_primary { tint(diagnostic.severity) } else { Color::Blue };
        let mut shown = ariadne::Label::new(visible(label.span, sources)).with_color(shade);
        // Labels of one file are drawn together only in the order of their lines.
        shown = shown.with_order(line_order(diagnostic, label)).with_priority(i32::from(is_primary));
        // Without a text ariadne would not even underline the place.
        shown = shown.with_message(if label.text.is_empty() { "here" } else { &label.text });
        report.add_label(shown);
    }
    if let Some(hint) = &diagnostic.hint {
        report.set_help(hint);
    }
    let mut out = Vec::new();
    match report.finish().write(Excerpts::new(diagnostic, sources), &mut out) {
        Ok(()) => {
            let title = title(diagnostic);
            let title = if color { title.fg(tint(diagnostic.severity)).to_string() } else { title };
            let mut text = format!("{title}: {}\n", diagnostic.message);
            // The first line of a report is ariadne's own title, which puts the code elsewhere.
            for line in String::from_utf8_lossy(&out).lines().skip(1) {
                text.push_str(line.trim_end());
                text.push('\n');
            }
            text
        }
        // Writing to memory does not fail; should the layout, then the message still arrives.
        Err(_) => without_excerpt(diagnostic, sources),
    }
}

/// The position of a label in drawing order: files as they are first mentioned, places from top to bottom.
fn line_order(diagnostic: &Diagnostic, label: &Label) -> i32 {
    let file = |label: &Label| diagnostic.labels.iter().position(|other| other.span.file == label.span.file);
    let key = |label: &Label| (file(label), label.span.start);
    let before = diagnostic.labels.iter().filter(|other| key(other) < key(label)).count();
    i32::try_from(before).unwrap_or(i32::MAX)
}

/// Header, places as `file:line:column`, hint.
fn without_excerpt(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    let mut out = format!("{}: {}\n", title(diagnostic), diagnostic.message);
    for label in &diagnostic.labels {
        let (line, column) = sources.line_column(label.span);
        let separator = if label.text.is_empty() { "" } else { ": " };
        // Writing to a string does not fail.
        let _ = writeln!(out, "  at {}:{line}:{column}{separator}{}", sources.file(label.span.file).name, label.text);
    }
    if let Some(hint) = &diagnostic.hint {
        let _ = writeln!(out, "  Help: {hint}");
    }
    out
}

/// The longest of the lines on which a span begins and ends, in bytes.
fn longest_line(span: Span, sources: &SourceMap) -> usize {
    let text = &sources.file(span.file).text;
    let (_, range) = visible(span, sources);
    let length = |offset: usize| {
        let before = text[..offset].rfind('\n').map_or(0, |newline| newline + 1);
        let after = text[offset..].find('\n').map_or(text.len(), |newline| offset + newline);
        after - before
    };
    length(range.start).max(length(range.end))
}

/// The span within its text, at character boundaries, and moved and widened to something that can be underlined: the
/// character there, or at the end of a line the last visible one before it.
fn visible(span: Span, sources: &SourceMap) -> (FileId, Range<usize>) {
    let text = &sources.file(span.file).text;
    let boundary = |offset: u32| {
        let mut offset = (offset as usize).min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        offset
    };
    let start = boundary(span.start);
    let end = boundary(span.end).max(start);
    let range = if !text[start..end].trim().is_empty() {
        start..end
    } else if let Some(character) = text[start..].chars().next().filter(|character| !character.is_whitespace()) {
        start..start + character.len_utf8()
    } else {
        let before = text[..start].trim_end();
        let last = before.chars().next_back().map_or(0, char::len_utf8);
        before.len() - last..before.len()
    };
    (span.file, range)
}

/// The texts that a diagnostic mentions, as ariadne wants them.
struct Excerpts<'a> {
    sources: &'a SourceMap,
    texts: HashMap<FileId, ariadne::Source<&'a str>>,
}

impl<'a> Excerpts<'a> {
    fn new(diagnostic: &Diagnostic, sources: &'a SourceMap) -> Excerpts<'a> {
        let files = diagnostic.labels.iter().map(|label| label.span.file);
        let texts = files.map(|file| (file, ariadne::Source::from(sources.file(file).text.as_str()))).collect();
        Excerpts { sources, texts }
    }
}

impl<'a> Cache<FileId> for Excerpts<'a> {
    type Storage = &'a str;

    fn fetch(&mut self, id: &FileId) -> Result<&ariadne::Source<&'a str>, impl Debug> {
        self.texts.get(id).ok_or("no such file")
    }

    fn display<'b>(&self, id: &'b FileId) -> Option<impl Display + 'b> {
        Some(self.sources.file(*id).name.clone())
    }
}

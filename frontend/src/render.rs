//! Diagnostics as text for a terminal; [`json`] gives the same as data.
//!
//! The one file that knows ariadne: everything else says what is wrong as a [`Diagnostic`]. Whatever text a diagnostic
//! brings along, from the program or from outside of it, here it becomes harmless to a terminal
//! ([`nesl_prim::visible`]).

mod fit;
pub mod json;

use crate::diagnostic::{Diagnostic, Label, Severity};
use ariadne::{Cache, Color, Config, Fmt, IndexType, Report, ReportKind};
use nesl_prim::visible;
use nesl_span::{FileId, SourceMap, Span};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::{Debug, Display};
use std::ops::Range;

/// A line longer than this is not shown: it is data, and would hide the message.
const LONGEST_LINE: usize = 1_000;

/// Of texts longer than this only the lines around the places are laid out: to index all lines takes time in each
/// report.
const LONGEST_WHOLE_TEXT: usize = 20_000;

/// What a text is written for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Medium {
    /// Whether it has the colours of a terminal.
    pub color: bool,
    /// The columns of the terminal, where it is one.
    pub columns: Option<usize>,
}

/// The text of a diagnostic for any medium, with a newline at its end. `color` adds the escapes of a terminal.
///
/// # Panics
/// If a span names a file that is not in `sources`.
pub fn render(diagnostic: &Diagnostic, sources: &SourceMap, color: bool) -> String {
    render_on(diagnostic, sources, Medium { color, columns: None })
}

/// The same, no wider than the medium where its words allow that.
///
/// # Panics
/// If a span names a file that is not in `sources`.
pub fn render_on(diagnostic: &Diagnostic, sources: &SourceMap, medium: Medium) -> String {
    let has_long_line = diagnostic.labels.iter().any(|label| longest_line(label.span, sources) > LONGEST_LINE);
    let mut text = match diagnostic.labels.first() {
        Some(primary) if !has_long_line => with_excerpt(diagnostic, primary, sources, medium),
        _ => without_excerpt(diagnostic, sources, medium),
    };
    for call in &diagnostic.calls {
        let line = format!("  {} at {}", visible::message(&call.text), position(call.span, sources));
        text += &(medium.wrapped(&line, 0, "    ") + "\n");
    }
    text
}

impl Medium {
    /// A text in lines that fit, behind so many columns; every line but the first behind `indent`.
    fn wrapped(self, text: &str, taken: usize, indent: &str) -> String {
        match self.columns {
            Some(columns) => fit::wrapped(text, columns.saturating_sub(taken), indent),
            None => text.to_owned(),
        }
    }
}

/// `file:line:column`.
fn position(span: Span, sources: &SourceMap) -> String {
    let (line, column) = sources.line_column(span);
    format!("{}:{line}:{column}", visible::line(&sources.file(span.file).name))
}

/// `Error[E0110]`.
fn title(diagnostic: &Diagnostic) -> String {
    let severity = match diagnostic.severity {
        Severity::Warning => "Warning",
        Severity::Error => "Error",
    };
    format!("{severity}[{}]", diagnostic.code)
}

/// `Error[E0110]: message`.
fn heading(diagnostic: &Diagnostic, medium: Medium) -> String {
    let text = format!("{}: {}\n", title(diagnostic), visible::message(&diagnostic.message));
    let text = medium.wrapped(text.trim_end(), 0, "  ") + "\n";
    match (medium.color, text.split_once(": ")) {
        (true, Some((title, message))) => format!("{}: {message}", title.fg(tint(diagnostic.severity))),
        _ => text,
    }
}

fn tint(severity: Severity) -> Color {
    match severity {
        Severity::Warning => Color::Yellow,
        Severity::Error => Color::Red,
    }
}

/// What ariadne writes before a hint: the margin, and `Help: `.
const BEFORE_HINT: usize = 14;

fn with_excerpt(diagnostic: &Diagnostic, primary: &Label, sources: &SourceMap, medium: Medium) -> String {
    let kind = match diagnostic.severity {
        Severity::Warning => ReportKind::Warning,
        Severity::Error => ReportKind::Error,
    };
    let config = Config::new().with_color(medium.color).with_index_type(IndexType::Byte);
    let excerpts = Excerpts::new(diagnostic, sources);
    let mut report = Report::build(kind, excerpts.place(primary.span)).with_config(config);
    for (order, label) in (0..).zip(&diagnostic.labels) {
        let is_primary = order == 0;
        let shade = if is_primary { tint(diagnostic.severity) } else { Color::Blue };
        let mut shown = ariadne::Label::new(excerpts.place(label.span)).with_color(shade);
        // Labels of one file are drawn together only in the order of their lines.
        shown = shown.with_order(line_order(diagnostic, label)).with_priority(i32::from(is_primary));
        // Without a text ariadne would not even underline the place.
        shown = shown.with_message(if label.text.is_empty() { "here".into() } else { visible::message(&label.text) });
        report.add_label(shown);
    }
    if let Some(hint) = &diagnostic.hint {
        report.set_help(medium.wrapped(&visible::message(hint), BEFORE_HINT, ""));
    }
    let mut out = Vec::new();
    match report.finish().write(excerpts, &mut out) {
        Ok(()) => {
            // The first line of a report is ariadne's own title, which puts the code elsewhere.
            let lines = String::from_utf8_lossy(&out);
            let picture: String = lines.lines().skip(1).map(|line| format!("{}\n", line.trim_end())).collect();
            match medium.columns {
                Some(columns) if fit::widest(&picture) > columns => narrow(diagnostic, sources, medium, columns),
                _ => heading(diagnostic, medium) + &fit::with_fewer_escapes(&picture),
            }
        }
        // Writing to memory does not fail; should the layout, then the message still arrives.
        Err(_) => without_excerpt(diagnostic, sources, medium),
    }
}

/// The places one below the other, each with the part of its line that there is room for:
///
/// ```text
/// Error[E0410]: the message
/// a.nesl:1:17: what is said there
///   …nction g(v) = take(v, 2);
///                  ^^^^^^^^^^
/// Help: the hint
/// ```
fn narrow(diagnostic: &Diagnostic, sources: &SourceMap, medium: Medium, columns: usize) -> String {
    let mut out = heading(diagnostic, medium);
    for (order, label) in diagnostic.labels.iter().enumerate() {
        let separator = if label.text.is_empty() { "" } else { ": " };
        let said = format!("{}{separator}{}", position(label.span, sources), visible::message(&label.text));
        out += &(medium.wrapped(&said, 0, "  ") + "\n");
        let (file, range) = underlined(label.span, sources);
        let text = &sources.file(file).text;
        let start = text[..range.start].rfind('\n').map_or(0, |newline| newline + 1);
        let line = text[start..].lines().next().unwrap_or_default();
        let place = |offset: usize| shown_length(line, offset.min(start + line.len()) - start);
        let (shown, before, inside) =
            fit::window(&shown(line), place(range.start)..place(range.end), columns.saturating_sub(2));
        let carets = "^".repeat(inside);
        let shade = if order == 0 { tint(diagnostic.severity) } else { Color::Blue };
        let carets = if medium.color { carets.fg(shade).to_string() } else { carets };
        out += &format!("  {shown}\n  {}{carets}\n", " ".repeat(before));
    }
    if let Some(hint) = &diagnostic.hint {
        out += &(medium.wrapped(&format!("Help: {}", visible::message(hint)), 0, "  ") + "\n");
    }
    out
}

/// The position of a label in drawing order: files as they are first mentioned, places from top to bottom.
fn line_order(diagnostic: &Diagnostic, label: &Label) -> i32 {
    let file = |label: &Label| diagnostic.labels.iter().position(|other| other.span.file == label.span.file);
    let key = |label: &Label| (file(label), label.span.start);
    let before = diagnostic.labels.iter().filter(|other| key(other) < key(label)).count();
    i32::try_from(before).unwrap_or(i32::MAX)
}

/// Header, places as `file:line:column`, hint.
fn without_excerpt(diagnostic: &Diagnostic, sources: &SourceMap, medium: Medium) -> String {
    let mut out = heading(diagnostic, Medium { color: false, ..medium });
    let mut add = |line: String| out += &(medium.wrapped(&line, 0, "    ") + "\n");
    for label in &diagnostic.labels {
        let separator = if label.text.is_empty() { "" } else { ": " };
        add(format!("  at {}{separator}{}", position(label.span, sources), visible::message(&label.text)));
    }
    if let Some(hint) = &diagnostic.hint {
        add(format!("  Help: {}", visible::message(hint)));
    }
    out
}

/// The longest of the lines on which a span begins and ends, in bytes.
fn longest_line(span: Span, sources: &SourceMap) -> usize {
    let text = &sources.file(span.file).text;
    let (_, range) = underlined(span, sources);
    let length = |offset: usize| {
        let before = text[..offset].rfind('\n').map_or(0, |newline| newline + 1);
        let after = text[offset..].find('\n').map_or(text.len(), |newline| offset + newline);
        after - before
    };
    length(range.start).max(length(range.end))
}

/// The span within its text, at character boundaries, and moved and widened to something that can be underlined: the
/// character there, or at the end of a line the last visible one before it.
fn underlined(span: Span, sources: &SourceMap) -> (FileId, Range<usize>) {
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
    texts: HashMap<FileId, Excerpt<'a>>,
}

/// A text as it is shown, or of a long one the lines that matter, below as many empty ones as stand above them.
struct Excerpt<'a> {
    source: ariadne::Source<Cow<'a, str>>,
    /// The part of the text that is shown, as it is.
    lines: &'a str,
    /// Where that part begins in the whole text.
    start: usize,
    /// The bytes before it in what is shown.
    above: usize,
}

impl<'a> Excerpt<'a> {
    fn new(text: &'a str, places: impl Iterator<Item = Range<usize>>) -> Excerpt<'a> {
        if text.len() <= LONGEST_WHOLE_TEXT {
            return Excerpt { source: ariadne::Source::from(shown(text)), lines: text, start: 0, above: 0 };
        }
        let around = places.reduce(|one, other| one.start.min(other.start)..one.end.max(other.end)).unwrap_or(0..0);
        let start = text[..around.start].rfind('\n').map_or(0, |newline| newline + 1);
        let end = text[around.end..].find('\n').map_or(text.len(), |newline| around.end + newline);
        let (above, lines) = (text[..start].matches('\n').count(), &text[start..end]);
        let source = ariadne::Source::from(Cow::Owned("\n".repeat(above) + &shown(lines)));
        Excerpt { source, lines, start, above }
    }

    /// Where a place in the whole text is in what is shown.
    fn place(&self, range: Range<usize>) -> Range<usize> {
        let position = |offset: usize| self.above + shown_length(self.lines, offset - self.start);
        position(range.start)..position(range.end)
    }
}

/// A character with what is shown in its place. A return before a newline is part of it, to ariadne as well.
fn stand_ins(text: &str) -> impl Iterator<Item = (usize, char)> {
    let mut characters = text.char_indices().peekable();
    std::iter::from_fn(move || {
        let (offset, character) = characters.next()?;
        let is_kept = match character {
            '\n' | '\t' => true,
            '\r' => characters.peek().is_some_and(|&(_, next)| next == '\n'),
            _ => false,
        };
        let shown = visible::stand_in(character).filter(|_| !is_kept);
        Some((offset, shown.unwrap_or(character)))
    })
}

/// A source as it is shown, with as many characters in each line as there are.
fn shown(text: &str) -> Cow<'_, str> {
    match text.chars().any(|character| visible::stand_in(character).is_some_and(|_| !matches!(character, '\n' | '\t')))
    {
        false => Cow::Borrowed(text),
        true => Cow::Owned(stand_ins(text).map(|(_, character)| character).collect()),
    }
}

/// The bytes that are shown for so many first bytes of a source.
fn shown_length(text: &str, bytes: usize) -> usize {
    stand_ins(text).take_while(|&(offset, _)| offset < bytes).map(|(_, character)| character.len_utf8()).sum()
}

impl<'a> Excerpts<'a> {
    fn new(diagnostic: &Diagnostic, sources: &'a SourceMap) -> Excerpts<'a> {
        let places: Vec<_> = diagnostic.labels.iter().map(|label| underlined(label.span, sources)).collect();
        let mut texts = HashMap::new();
        for (file, _) in &places {
            texts.entry(*file).or_insert_with(|| {
                let here = places.iter().filter(|(other, _)| other == file).map(|(_, range)| range.clone());
                Excerpt::new(&sources.file(*file).text, here)
            });
        }
        Excerpts { sources, texts }
    }

    /// A span as a place in its excerpt.
    fn place(&self, span: Span) -> (FileId, Range<usize>) {
        let (file, range) = underlined(span, self.sources);
        let place = self.texts.get(&file).map_or(range.clone(), |excerpt| excerpt.place(range));
        (file, place)
    }
}

impl<'a> Cache<FileId> for Excerpts<'a> {
    type Storage = Cow<'a, str>;

    fn fetch(&mut self, id: &FileId) -> Result<&ariadne::Source<Cow<'a, str>>, impl Debug> {
        self.texts.get(id).map(|excerpt| &excerpt.source).ok_or("no such file")
    }

    fn display<'b>(&self, id: &'b FileId) -> Option<impl Display + 'b> {
        Some(visible::line(&self.sources.file(*id).name).into_owned())
    }
}

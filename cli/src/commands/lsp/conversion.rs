//! Places, texts and lists as the protocol has them.

use super::library;
use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionTextEdit, Diagnostic, DiagnosticRelatedInformation,
    DiagnosticSeverity, DiagnosticTag, Documentation, Location, MarkupContent, MarkupKind, NumberOrString, Position,
    Range, SemanticToken, SemanticTokenModifier, SemanticTokenType, TextEdit, Uri,
};
use nesl_frontend::diagnostic::{self, Severity, Tag};
use nesl_service::{Colour, Coloured, Completion, Document, Edit, KnownName, Lines, NameKind};
use nesl_span::{Origin, SourceFile, Span};
use std::ops;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Colours as editors call them; the number of one is its place here.
pub const TOKEN_TYPES: [SemanticTokenType; 9] = [
    SemanticTokenType::KEYWORD,
    SemanticTokenType::OPERATOR,
    SemanticTokenType::NUMBER,
    SemanticTokenType::STRING,
    SemanticTokenType::COMMENT,
    SemanticTokenType::FUNCTION,
    SemanticTokenType::VARIABLE,
    SemanticTokenType::TYPE,
    SemanticTokenType::PARAMETER,
];

/// What else is said of a name; the bit of one is its place here.
pub const TOKEN_MODIFIERS: [SemanticTokenModifier; 2] =
    [SemanticTokenModifier::DECLARATION, SemanticTokenModifier::DEFAULT_LIBRARY];

fn token_type(colour: Colour) -> u32 {
    match colour {
        Colour::Keyword => 0,
        Colour::Operator => 1,
        Colour::Number => 2,
        Colour::Text => 3,
        Colour::Comment => 4,
        Colour::Function => 5,
        Colour::Variable => 6,
        Colour::Type => 7,
        Colour::Parameter => 8,
    }
}

/// A place of a document.
pub fn position(document: &Document, offset: usize) -> Position {
    let found = document.lines().position(document.text(), offset);
    Position { line: found.line, character: found.column }
}

/// A place as texts have it.
pub fn place(position: Position) -> nesl_service::Position {
    nesl_service::Position { line: position.line, column: position.character }
}

/// The offset of a place.
pub fn offset(document: &Document, position: Position) -> usize {
    document.lines().offset(document.text(), place(position))
}

/// A part of a document.
pub fn range(document: &Document, range: &ops::Range<usize>) -> Range {
    Range { start: position(document, range.start), end: position(document, range.end) }
}

/// A part of a document with this address, of another file, or of the library, which becomes a file for that.
///
/// # Errors
/// Why there is no such file.
pub fn location(document: &Document, uri: &Uri, span: Span) -> Result<Location, String> {
    if let Some(own) = document.range(span) {
        return Ok(Location { uri: uri.clone(), range: range(document, &own) });
    }
    let SourceFile { name, text, origin } = document.sources().file(span.file);
    let path = match origin {
        Origin::Library => library::file(name, text).map_err(|error| format!("cannot write {name}: {error}"))?,
        Origin::User => std::path::absolute(name).map_err(|error| format!("there is no {name}: {error}"))?,
    };
    let uri = address(&path).ok_or_else(|| format!("{} has no address", path.display()))?;
    let lines = Lines::of(text);
    let [start, end] = [span.start, span.end].map(|offset| {
        let found = lines.position(text, offset as usize);
        Position { line: found.line, character: found.column }
    });
    Ok(Location { uri, range: Range { start, end } })
}

/// A change of a document.
pub fn edit(document: &Document, edit: Edit) -> TextEdit {
    TextEdit { range: range(document, &edit.range), new_text: edit.text }
}

/// Text with Markdown in it.
pub fn markdown(value: String) -> MarkupContent {
    MarkupContent { kind: MarkupKind::Markdown, value }
}

/// A message. What has no place is said at the end of the text.
pub fn diagnostic(document: &Document, uri: &Uri, message: &diagnostic::Diagnostic) -> Diagnostic {
    // Where it begins is in this text, or nowhere.
    let first = message.labels.first().and_then(|label| Some((document.range(label.span)?, label.text.as_str())));
    let end = document.text().len();
    let (place, text) = first.unwrap_or((end..end, ""));
    let mut words = message.message.clone();
    if !words.contains(text) {
        words += &format!(" ({text})");
    }
    if let Some(hint) = &message.hint {
        words += &format!("\nhint: {hint}");
    }
    let is_users = |span: Span| document.sources().file(span.file).origin == Origin::User;
    let others = message.labels.iter().skip(1).filter(|label| is_users(label.span));
    let related: Vec<_> = others
        .filter_map(|label| {
            let message = if label.text.is_empty() { "here" } else { &label.text }.to_owned();
            Some(DiagnosticRelatedInformation { location: location(document, uri, label.span).ok()?, message })
        })
        .collect();
    Diagnostic {
        range: range(document, &place),
        severity: Some(match message.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
        }),
        code: Some(NumberOrString::String(message.code.to_owned())),
        source: Some("nesl".to_owned()),
        message: words,
        related_information: (!related.is_empty()).then_some(related),
        tags: message.is_about(&[Tag::Unnecessary]).then(|| vec![DiagnosticTag::UNNECESSARY]),
        ..Diagnostic::default()
    }
}

/// What a word can become.
pub fn completion(document: &Document, completion: Completion) -> Vec<CompletionItem> {
    let range = range(document, &completion.range);
    let item = |(index, known): (usize, KnownName)| {
        let KnownName { name, kind, ty, summary } = known;
        let new_text = if kind == NameKind::Parameter { format!("{name} := ") } else { name.clone() };
        CompletionItem {
            kind: Some(match kind {
                NameKind::Local | NameKind::Value => CompletionItemKind::VARIABLE,
                NameKind::Parameter => CompletionItemKind::FIELD,
                NameKind::Function => CompletionItemKind::FUNCTION,
                NameKind::Type => CompletionItemKind::CLASS,
                NameKind::Keyword => CompletionItemKind::KEYWORD,
            }),
            label: name,
            detail: (!ty.is_empty()).then_some(ty),
            documentation: (!summary.is_empty()).then_some(Documentation::String(summary)),
            sort_text: Some(format!("{index:05}")),
            text_edit: Some(CompletionTextEdit::Edit(TextEdit { range, new_text })),
            ..CompletionItem::default()
        }
    };
    completion.names.into_iter().enumerate().map(item).collect()
}

/// Colours, each by its distance from the one before. Lines may be as long as they like: no part of one is counted
/// twice.
pub fn tokens(document: &Document, colours: &[Coloured]) -> Vec<SemanticToken> {
    let units = |from: usize, to: usize| document.text()[from..to].encode_utf16().count() as u32;
    let (mut line, mut before) = (0, 0);
    let mut tokens = Vec::with_capacity(colours.len());
    for part in colours {
        let ops::Range { start, end } = part.range;
        let delta_line = document.lines().line(start) - line;
        line += delta_line;
        tokens.push(SemanticToken {
            delta_line,
            delta_start: if delta_line == 0 { units(before, start) } else { position(document, start).character },
            length: units(start, end),
            token_type: token_type(part.colour),
            token_modifiers_bitset: u32::from(part.binds) | (u32::from(part.is_of_library) << 1),
        });
        before = start;
    }
    tokens
}

/// The change from the text of a document to another: the lines between those that stay at both ends.
pub fn difference(document: &Document, new: &str) -> Vec<TextEdit> {
    let old = document.text();
    if old == new {
        return Vec::new();
    }
    let (old_lines, new_lines): (Vec<&str>, Vec<&str>) =
        (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let first = old_lines.iter().zip(&new_lines).take_while(|(one, other)| one == other).count();
    let rest = old_lines[first..].iter().rev().zip(new_lines[first..].iter().rev());
    let last = rest.take_while(|(one, other)| one == other).count();
    let length = |lines: &[&str]| lines.iter().map(|line| line.len()).sum::<usize>();
    let (start, kept) = (length(&old_lines[..first]), length(&old_lines[old_lines.len() - last..]));
    let text = new[start..new.len() - kept].to_owned();
    vec![edit(document, Edit { range: start..old.len() - kept, text })]
}

/// The file that an address names, if it names one.
pub fn path(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let rest = &rest[rest.find('/')?..];
    let mut bytes = Vec::with_capacity(rest.len());
    let mut rest = rest.bytes();
    while let Some(byte) = rest.next() {
        let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
        match byte {
            b'%' => bytes.push((digit(rest.next())? * 16 + digit(rest.next())?) as u8),
            _ => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).ok().map(PathBuf::from)
}

/// The address of a file.
pub fn address(path: &Path) -> Option<Uri> {
    let mut text = "file://".to_owned();
    for byte in path.to_str()?.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => text.push(char::from(byte)),
            _ => text += &format!("%{byte:02X}"),
        }
    }
    Uri::from_str(&text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_paths_are_one_another() {
        for name in ["/a/b.nesl", "/a b/é%20.nesl"] {
            let uri = address(Path::new(name)).map(|uri| uri.as_str().to_owned()).unwrap_or_default();
            assert!(uri.starts_with("file:///a"), "{uri}");
            assert_eq!(path(&uri), Some(PathBuf::from(name)));
        }
        assert_eq!(path("untitled:1"), None);
        assert_eq!(path("file:///a%2"), None);
    }

    #[test]
    fn only_lines_that_differ_are_changed() {
        let library = nesl_service::Library::load();
        let changed = |old: &str, new: &str| {
            let document = Document::new(&library, "a", old.to_owned());
            let edits = difference(&document, new);
            let mut text = old.to_owned();
            for edit in &edits {
                let at = [edit.range.start, edit.range.end].map(|position| offset(&document, position));
                text.replace_range(at[0]..at[1], &edit.new_text);
            }
            assert_eq!(text, new);
            edits.first().map_or(0, |edit| edit.new_text.len())
        };
        assert_eq!(changed("a\nb\nc\n", "a\nd\nc\n"), 2);
        assert_eq!(changed("a\n", "a\na\n"), 2);
        assert_eq!(changed("a\na\n", "a\n"), 0);
        assert_eq!(changed("a", "a\n"), 2);
        assert_eq!(changed("", "a\n"), 2);
        assert_eq!(changed("a\n", "a\n"), 0);
    }
}

//! Source files and byte ranges in them.
//!
//! Every stage of nesl, from the lexer to the distributed engine, names a place in the source by a [`Span`]. The texts
//! themselves live in one [`SourceMap`], which travels with a compiled program so that run-time errors can show the
//! line. This is a leaf crate: it depends on nothing of nesl.

use serde::{Deserialize, Serialize};

/// The number of a source file in its [`SourceMap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FileId(pub u32);

/// A half-open range of bytes in one source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// Offset of the first byte.
    pub start: u32,
    /// Offset one past the last byte.
    pub end: u32,
}

impl Span {
    /// The range `start..end` of `file`.
    pub fn new(file: FileId, start: usize, end: usize) -> Span {
        let clamp = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Span { file, start: clamp(start), end: clamp(end) }
    }

    /// Whether another span is all within this one.
    pub fn contains(self, inner: Span) -> bool {
        self.file == inner.file && self.start <= inner.start && inner.end <= self.end
    }

    /// The smallest range that covers both, which must be in the same file.
    pub fn to(self, other: Span) -> Span {
        debug_assert_eq!(self.file, other.file, "a span cannot cross files");
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// Whose text a file holds. Errors point at the nearest place in user code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Origin {
    /// Written by the user: a file, a REPL line, a command-line argument.
    User,
    /// Part of the standard library.
    Library,
}

/// One source text with its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    /// What messages call it: a path, `<repl:3>`, `stdlib/sequence.nesl`.
    pub name: String,
    /// The whole text.
    pub text: String,
    /// Whose text it is.
    pub origin: Origin,
}

/// All source texts of a session, by [`FileId`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

impl SourceMap {
    /// Adds a text and returns its number.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>, origin: Origin) -> FileId {
        let id = FileId(u32::try_from(self.files.len()).unwrap_or(u32::MAX));
        self.files.push(SourceFile { name: name.into(), text: text.into(), origin });
        id
    }

    /// The file with this number.
    ///
    /// # Panics
    /// If the number is not from this map.
    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0 as usize]
    }

    /// All files in order of their numbers.
    pub fn files(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        (0u32..).map(FileId).zip(&self.files)
    }

    /// The text under a span.
    pub fn text(&self, span: Span) -> &str {
        self.file(span.file).text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// Whether the span lies in user code.
    pub fn is_user(&self, span: Span) -> bool {
        self.file(span.file).origin == Origin::User
    }

    /// Line and column (both from 1, columns in characters) of the start of a span.
    pub fn line_column(&self, span: Span) -> (usize, usize) {
        let text = &self.file(span.file).text;
        let mut start = (span.start as usize).min(text.len());
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        let before = &text[..start];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_characters_from_one() {
        let mut map = SourceMap::default();
        let file = map.add("a.nesl", "é = 1;\nb = é;\n", Origin::User);
        assert_eq!(map.line_column(Span::new(file, 0, 2)), (1, 1));
        let b = map.file(file).text.rfind('é').unwrap();
        assert_eq!(map.line_column(Span::new(file, b, b + 2)), (2, 5));
        assert_eq!(map.text(Span::new(file, b, b + 2)), "é");
    }
}

//! New names for what a text defines. What a new name does to the meaning of any other is found out by looking at the
//! text that would result: every name in it must mean what it meant before.

use crate::document::Document;
use nesl_frontend::analysis::{Mention, MentionKind};
use nesl_frontend::syntax::Syntax;
use nesl_frontend::syntax::nesl::token::Token;
use nesl_span::{FileId, Origin, Span};
use std::collections::BTreeSet;
use std::ops::Range;

/// A change of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced.
    pub range: Range<usize>,
    /// By what.
    pub text: String,
}

/// What `{… : v}` says twice, said once each: `new in old`.
const IN: &str = " in ";

impl Document {
    /// The name at a place, if it can get another.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn renamable(&self, offset: usize) -> Result<Range<usize>, String> {
        let meant = self.meant(offset)?;
        self.range(meant.span).ok_or_else(|| "there is no name here".to_owned())
    }

    fn meant(&self, offset: usize) -> Result<&Mention, String> {
        // Of a word that binds and mentions, what it mentions stays.
        let meant = self.mentions_at(offset).min_by_key(|mention| !mention.binds);
        let meant = meant.ok_or_else(|| "there is no name here".to_owned())?;
        let name = self.sources().text(meant.span);
        if self.range(meant.definition).is_none() {
            let source = self.sources().file(meant.definition.file);
            return Err(match source.origin {
                Origin::Library => format!("`{name}` is a name of the library"),
                Origin::User => format!("`{name}` is defined in {}", source.name),
            });
        }
        if !is_name(self.syntax(), self.sources().text(meant.definition)) {
            return Err(format!("`{name}` is an operator"));
        }
        Ok(meant)
    }

    /// The changes that give what the name at a place means another name.
    ///
    /// # Errors
    /// Why it cannot have that name.
    pub fn rename(&self, offset: usize, new: &str) -> Result<Vec<Edit>, String> {
        let meant = self.meant(offset)?;
        if !is_name(self.syntax(), new) {
            return Err(format!("`{new}` is no name that a program can define"));
        }
        let mut edits: Vec<Edit> = Vec::new();
        for mention in self.same(meant) {
            let Some(range) = self.range(mention.span) else { continue };
            let old = self.sources().text(mention.span);
            let text = match self.is_double(mention) {
                false => new.to_owned(),
                true if mention.binds => format!("{new}{IN}{old}"),
                true => format!("{old}{IN}{new}"),
            };
            edits.push(Edit { range, text });
        }
        edits.sort_by_key(|edit| edit.range.start);
        edits.dedup();
        let renamed = self.with_text(applied(self.text(), &edits));
        self.compare(meant, &edits, new, &renamed)?;
        Ok(edits)
    }

    /// Whether a word binds one thing and mentions another.
    fn is_double(&self, mention: &Mention) -> bool {
        let twin = |other: &Mention| other.span == mention.span && other.definition != mention.definition;
        mention.kind != MentionKind::Datatype && self.mentions_at(mention.span.start as usize).any(twin)
    }

    /// Whether every name means after the changes what it meant before.
    fn compare(&self, meant: &Mention, edits: &[Edit], new: &str, renamed: &Document) -> Result<(), String> {
        let place = |mention: &Mention| {
            let at = mention.span.start as usize;
            let length = self.sources().text(mention.span).len();
            let own = edits.iter().find(|edit| edit.range.start == at);
            let (shift, length) = match own {
                None => (0, length),
                Some(edit) if edit.text.contains(IN) => {
                    let (first, second) = edit.text.split_once(IN).unwrap_or((&edit.text, ""));
                    match mention.binds {
                        true => (0, first.len()),
                        false => (first.len() + IN.len(), second.len()),
                    }
                }
                Some(edit) => (0, edit.text.len()),
            };
            let start = moved(edits, at) + shift;
            start..start + length
        };
        let definition = |document: &Document, span: Span| match document.range(span) {
            Some(range) => (None, range.start),
            None => (Some(span.file), span.start as usize),
        };
        let key = |mention: &Mention| (mention.binds, mention.kind as u8);
        let before: BTreeSet<_> = (self.analysis().mentions.iter())
            .map(|mention| {
                let (file, start) = definition(self, mention.definition);
                let start = if file.is_none() { moved(edits, start) } else { start };
                let Range { start: from, end } = place(mention);
                ((from, end), (file, start), key(mention))
            })
            .collect();
        let after: BTreeSet<_> = (renamed.analysis().mentions.iter())
            .map(|mention| {
                let range = mention.span.start as usize..mention.span.end as usize;
                ((range.start, range.end), definition(renamed, mention.definition), key(mention))
            })
            .collect();
        if before == after && self.errors() == renamed.errors() {
            return Ok(());
        }
        let old = self.sources().text(meant.span);
        let changed = after.symmetric_difference(&before).next();
        let line = changed.map(|((start, _), ..)| renamed.lines().line(*start) + 1);
        let line = line.map_or_else(String::new, |line| format!(" in line {line}"));
        Err(format!("with `{new}` for `{old}`, the program would mean something else{line}"))
    }
}

/// Where a place is after the changes.
fn moved(edits: &[Edit], at: usize) -> usize {
    let before = edits.iter().filter(|edit| edit.range.start < at);
    before.fold(at, |at, edit| at + edit.text.len() - edit.range.len())
}

/// A text with changes, which are in its order.
pub(crate) fn applied(text: &str, edits: &[Edit]) -> String {
    let (mut changed, mut at) = (String::with_capacity(text.len()), 0);
    for edit in edits {
        changed += &text[at..edit.range.start];
        changed += &edit.text;
        at = edit.range.end;
    }
    changed + &text[at..]
}

/// Whether a text is a name that a program can define.
fn is_name(syntax: Syntax, text: &str) -> bool {
    let lexed = syntax.lexed(FileId(0), text);
    let is_whole = |span: Span| span.start == 0 && span.end as usize == text.len();
    // Types of V are names among its tokens, of another text.
    let is_itself = |name: &str| syntax == Syntax::Nesl || name == text;
    let is_name = |token: &Token| matches!(token, Token::Name(name) if is_itself(name));
    lexed.diagnostics.is_empty()
        && matches!(lexed.tokens.as_slice(), [(token, span)] if is_name(token) && is_whole(*span))
}

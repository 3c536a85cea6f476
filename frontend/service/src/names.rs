//! Completion: the names that can be written at a place, with their types and what they are for.

use crate::document::Document;
use nesl_frontend::analysis::MentionKind;
use nesl_frontend::ast::TopLevelKind;
use nesl_frontend::diagnostic::Tag;
use nesl_frontend::syntax::nesl::token::{Keyword, Token};
use nesl_frontend::syntax::{Syntax, v};
use nesl_frontend::{Session, manual};
use nesl_span::{SourceMap, Span};
use std::collections::BTreeMap;
use std::ops::Range;

/// The scalar types, and what else can stand in a type.
const TYPES: [&str; 4] = ["bool", "char", "float", "int"];

/// The most names that a word can become at once.
const MOST: usize = 500;

/// What a name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NameKind {
    /// A variable that is bound around the place.
    Local,
    /// A parameter that a call can pass by name.
    Parameter,
    /// A function.
    Function,
    /// A value of the top level.
    Value,
    /// A type.
    Type,
    /// A word of the language.
    Keyword,
}

/// A name that can be used, and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownName {
    /// The name, in lower case.
    pub name: String,
    /// What it is.
    pub kind: NameKind,
    /// Its type; empty for words, and where none is known.
    pub ty: String,
    /// The first sentence of its documentation; empty if there is none.
    pub summary: String,
}

impl KnownName {
    fn plain(name: &str, kind: NameKind) -> KnownName {
        KnownName { name: name.to_owned(), kind, ty: String::new(), summary: String::new() }
    }

    /// A name of which the type is all that is told.
    pub fn of_type(name: &str, ty: &str) -> KnownName {
        let kind = if ty.contains(" -> ") { NameKind::Function } else { NameKind::Value };
        KnownName { ty: ty.to_owned(), ..KnownName::plain(name, kind) }
    }

    /// The words of a language.
    pub fn words(syntax: Syntax) -> Vec<KnownName> {
        let word = |text| KnownName::plain(text, NameKind::Keyword);
        match syntax {
            Syntax::Nesl => Keyword::ALL.into_iter().map(|keyword| word(keyword.text())).collect(),
            Syntax::V => v::highlight::words().map(word).collect(),
        }
    }
}

/// All names that a session knows, but for the library's own affairs, in no particular order.
pub fn known_names(session: &Session, sources: &SourceMap) -> Vec<KnownName> {
    session
        .names()
        .filter(|name| !manual::is_internal(session, name))
        .map(|name| known_name(session, sources, name))
        .collect()
}

fn known_name(session: &Session, sources: &SourceMap, name: &str) -> KnownName {
    let program = session.program();
    match (session.function(name), session.global(name)) {
        (Some(id), _) => {
            let entry = manual::of(session, sources, id);
            let summary = entry.summary().to_owned();
            KnownName { name: name.to_owned(), kind: NameKind::Function, ty: entry.ty, summary }
        }
        (None, Some(id)) => {
            KnownName { ty: program.global(id).ty.to_string(), ..KnownName::plain(name, NameKind::Value) }
        }
        (None, None) => KnownName::plain(name, NameKind::Value),
    }
}

/// Where the word begins that ends where a text ends.
pub fn word_start(before: &str) -> usize {
    let in_name = |character: char| character.is_alphanumeric() || matches!(character, '_' | '?' | '~' | '.');
    before
        .rfind(|character: char| !in_name(character))
        .map_or(0, |last| last + before[last..].chars().next().map_or(0, char::len_utf8))
}

/// What can be written at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The part of the text that it replaces: the word at the place.
    pub range: Range<usize>,
    /// The names, the nearest ones first.
    pub names: Vec<KnownName>,
    /// Whether these are all: of many, nobody looks through the farthest before more of the word is there.
    pub is_complete: bool,
}

impl Document {
    /// What the word at a place can become. None in comments and strings, and where something is given its name.
    pub fn completion(&self, offset: usize) -> Completion {
        let text = self.text();
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let start = word_start(&text[..offset]);
        let word = text[start..offset].to_lowercase();
        let is_number = word.starts_with(|character: char| character.is_ascii_digit());
        if is_number || self.is_hidden(start, offset) || self.names_something(start) {
            return Completion { range: start..offset, names: Vec::new(), is_complete: true };
        }
        let mut found: BTreeMap<String, KnownName> = BTreeMap::new();
        let matches = |name: &str| name.starts_with(&word) && name.starts_with(|c: char| c.is_alphabetic() || c == '_');
        let known = &self.analysis().known;
        let syntax = self.analysis().syntax;
        // The types of V are words.
        let types = TYPES.into_iter().filter(|_| syntax == Syntax::Nesl);
        let types = types.map(|name| KnownName::plain(name, NameKind::Type));
        let mut add = |name: KnownName| {
            if matches(&name.name) {
                // What is added later is nearer.
                found.insert(name.name.clone(), name);
            }
        };
        types.chain(KnownName::words(syntax)).for_each(&mut add);
        let shown = known.names().filter(|name| matches(name) && !manual::is_internal(known, name));
        let kind = |name: &str| if known.function(name).is_some() { NameKind::Function } else { NameKind::Value };
        shown.map(|name| KnownName::plain(name, kind(name))).for_each(&mut add);
        self.locals_before(start).into_iter().for_each(&mut add);
        self.passed_by_name(start).into_iter().for_each(&mut add);
        let mut names: Vec<KnownName> = found.into_values().collect();
        // Of names that are as near, those of the text come before those of the library.
        names.sort_by_cached_key(|name| (name.kind, is_of_library(known, &name.name)));
        let is_complete = names.len() <= MOST;
        names.truncate(MOST);
        for name in names.iter_mut().filter(|name| matches!(name.kind, NameKind::Function | NameKind::Value)) {
            *name = known_name(known, self.sources(), &name.name);
            if let Some(declaration) = self.declared(&name.name) {
                name.ty = declaration;
            }
        }
        Completion { range: start..offset, names, is_complete }
    }

    /// How V declares a name, where the text is one of V and the name was defined in V.
    pub(crate) fn declared(&self, name: &str) -> Option<String> {
        match self.analysis().syntax {
            Syntax::V => self.analysis().known.declaration(name),
            Syntax::Nesl => None,
        }
    }

    /// Whether a place is in a comment or a string.
    fn is_hidden(&self, start: usize, offset: usize) -> bool {
        let inside = |span: &Span| (span.start as usize) < start && offset < span.end as usize;
        let lexed = self.lexed();
        let is_text = |token: &Token| matches!(token, Token::Text(_) | Token::Char(_));
        let is_open = lexed.diagnostics.iter().any(|diagnostic| {
            let begins = diagnostic.labels.first().map_or(u32::MAX, |label| label.span.start) as usize;
            diagnostic.is_about(&[Tag::OpenComment, Tag::OpenString]) && begins < start
        });
        is_open
            || lexed.comments.iter().any(inside)
            || lexed.tokens.iter().any(|(token, span)| is_text(token) && inside(span))
    }

    /// Whether a definition gives something its name at a place.
    fn names_something(&self, start: usize) -> bool {
        let before = self.tokens_before(start).last();
        matches!(before, Some((Token::Keyword(Keyword::Function | Keyword::Datatype), _)))
    }

    /// The tokens that end before a place.
    pub(crate) fn tokens_before(&self, offset: usize) -> &[(Token, Span)] {
        let tokens = &self.lexed().tokens;
        &tokens[..tokens.partition_point(|(_, span)| span.end as usize <= offset)]
    }

    /// The variables that may be bound at a place: in its form, before it. Of a form that cannot be read, any name.
    fn locals_before(&self, offset: usize) -> Vec<KnownName> {
        let Some((number, form)) = self.form_at(offset) else { return Vec::new() };
        let analysis = self.analysis();
        if matches!(form.kind, TopLevelKind::Error) {
            let tokens = self.tokens_before(offset).iter().rev();
            let own = tokens.take_while(|(_, span)| span.start >= form.span.start);
            let names = own.filter_map(|(token, _)| match token {
                Token::Name(name) if analysis.known.function(name).is_none() => Some(name),
                _ => None,
            });
            return names.map(|name| KnownName::plain(name, NameKind::Local)).collect();
        }
        let bound = analysis
            .mentions
            .iter()
            .filter(|mention| mention.form == number && mention.binds && mention.kind == MentionKind::Local);
        // Sources of an apply-to-each are bound after its body.
        let is_seen = |span: Span| form.span.contains(span);
        let local = |mention: &nesl_frontend::analysis::Mention| KnownName {
            ty: analysis.type_of(mention).unwrap_or_default(),
            ..KnownName::plain(&self.sources().text(mention.span).to_lowercase(), NameKind::Local)
        };
        bound.filter(|mention| is_seen(mention.span)).map(local).collect()
    }

    /// The parameters that the call around a place can pass by name.
    fn passed_by_name(&self, offset: usize) -> Vec<KnownName> {
        let Some((id, _)) = self.call_around(offset) else { return Vec::new() };
        let function = self.analysis().known.program().function(id);
        let named = |keyword: &nesl_frontend::core::Keyword| KnownName {
            summary: format!("{} by default", keyword.text),
            ..KnownName::plain(&keyword.name, NameKind::Parameter)
        };
        function.keywords.iter().map(named).collect()
    }
}

fn is_of_library(session: &Session, name: &str) -> bool {
    session.function(name).is_some_and(|id| session.is_library_function(id))
}

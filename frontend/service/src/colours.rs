//! What each token of a text is: for editors that colour by meaning.

use crate::document::Document;
use nesl_frontend::analysis::{Mention, MentionKind};
use nesl_frontend::ast::TopLevelKind;
use nesl_frontend::syntax::nesl::token::{Foreign, Token};
use nesl_span::{Origin, Span};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// A word of the language.
    Keyword,
    /// An operator.
    Operator,
    /// A number, or a truth value.
    Number,
    /// A string, or a character.
    Text,
    /// A comment.
    Comment,
    /// A function.
    Function,
    /// A variable.
    Variable,
    /// A type.
    Type,
    /// A parameter that is passed by name.
    Parameter,
}

/// A part of one line that is one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coloured {
    /// Where it stands.
    pub range: Range<usize>,
    /// What it is.
    pub colour: Colour,
    /// Whether it is bound here.
    pub binds: bool,
    /// Whether it belongs to the library.
    pub is_of_library: bool,
}

fn plain(range: Range<usize>, colour: Colour) -> Coloured {
    Coloured { range, colour, binds: false, is_of_library: false }
}

impl Document {
    /// What the tokens and comments are, in the order of the text, each within one line.
    pub fn colours(&self) -> Vec<Coloured> {
        let lexed = self.lexed();
        let mentions: HashMap<Span, &Mention> =
            self.analysis().mentions.iter().rev().map(|mention| (mention.span, mention)).collect();
        let imports = self.words_of_imports();
        let tokens = lexed.tokens.iter().filter_map(|(token, span)| match imports.contains(&span.start) {
            true => self.range(*span).map(|range| plain(range, Colour::Keyword)),
            false => self.colour(token, *span, mentions.get(span)),
        });
        let comments = lexed.comments.iter().filter_map(|span| Some(plain(self.range(*span)?, Colour::Comment)));
        let mut all: Vec<Coloured> = tokens.chain(comments).collect();
        all.sort_by_key(|part| part.range.start);
        all.into_iter().flat_map(|part| self.by_line(part)).collect()
    }

    /// Where `import` and `as` stand that are words of the language, and no names.
    fn words_of_imports(&self) -> HashSet<u32> {
        let mut words = HashSet::new();
        for form in self.analysis().forms() {
            let TopLevelKind::Import(import) = &form.kind else { continue };
            words.insert(form.span.start);
            if import.alias.is_some() {
                let tokens = self.tokens_before(form.span.end as usize);
                words.extend(tokens.iter().nth_back(1).map(|(_, span)| span.start));
            }
        }
        words
    }

    fn colour(&self, token: &Token, span: Span, mention: Option<&&Mention>) -> Option<Coloured> {
        let colour = match token {
            Token::Foreign(Foreign::FileVariable) => Colour::Operator,
            Token::Keyword(_) | Token::Foreign(_) => Colour::Keyword,
            Token::Operator(op) if op.function().starts_with(char::is_alphabetic) => Colour::Keyword,
            Token::Int(_) | Token::Float(_) | Token::Bool(_) => Colour::Number,
            Token::Char(_) | Token::Text(_) => Colour::Text,
            Token::Operator(_) | Token::Hash | Token::At | Token::Equal | Token::Lambda | Token::ColonEqual => {
                Colour::Operator
            }
            Token::Name(name) => match mention.map(|mention| mention.kind) {
                Some(MentionKind::Function) => Colour::Function,
                Some(MentionKind::Datatype) => Colour::Type,
                Some(MentionKind::Keyword) => Colour::Parameter,
                Some(MentionKind::Global | MentionKind::Local) => Colour::Variable,
                None if matches!(&**name, "int" | "float" | "bool" | "char") => Colour::Type,
                None => return None,
            },
            _ => return None,
        };
        let mention = mention.filter(|_| matches!(token, Token::Name(_)));
        let is_of_library =
            mention.is_some_and(|mention| self.sources().file(mention.definition.file).origin == Origin::Library);
        let binds = mention.is_some_and(|mention| mention.binds);
        Some(Coloured { range: self.range(span)?, colour, binds, is_of_library })
    }

    /// The parts of it in each of its lines.
    fn by_line(&self, part: Coloured) -> Vec<Coloured> {
        let text = &self.text()[part.range.clone()];
        let mut start = part.range.start;
        let mut parts = Vec::new();
        for line in text.split_inclusive(['\n', '\r']) {
            let length = line.trim_end_matches(['\n', '\r']).len();
            if length > 0 {
                parts.push(Coloured { range: start..start + length, ..part.clone() });
            }
            start += line.len();
        }
        parts
    }
}

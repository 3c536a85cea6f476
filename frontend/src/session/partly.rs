//! What is right of a text of NESL that is not right as a whole: somebody who types several forms loses none of them by
//! a mistake in another.

use super::{STACK, Session};
use crate::ast::{Symbol, TopLevel, TopLevelKind};
use crate::diagnostic::{Diagnostic, Severity};
use crate::infer::text::{Definitions, Reference};
use crate::stack::with_stack_if_possible;
use crate::syntax::Syntax;
use crate::syntax::nesl::lexer::{Lexed, lex};
use crate::syntax::nesl::parser;
use crate::syntax::nesl::token::{Keyword, Token};
use nesl_span::{FileId, SourceMap, Span};

impl Session {
    /// The forms of a text that none of these errors is about, and that need none of those, each where it stood, and
    /// blanks for the others: every line keeps its number, every form its column. They may be wrong without the others.
    /// None if there are no such forms, or if that cannot be told: what is wrong is in another file, or this is V,
    /// where what a statement does depends on all before it.
    pub fn right_part(&self, sources: &SourceMap, file: FileId, errors: &[Diagnostic]) -> Option<String> {
        let source = sources.file(file);
        let errors = errors.iter().filter(|found| found.severity == Severity::Error);
        let places: Vec<Span> = errors.filter_map(|error| error.labels.first()).map(|label| label.span).collect();
        if Syntax::of(&source.name) != Syntax::Nesl || places.iter().any(|place| place.file != file) {
            return None;
        }
        with_stack_if_possible(STACK, || {
            let forms = parser::parse(file, &source.text).forms;
            let lexed = lex(file, &source.text);
            let wrong = wrong_forms(&forms, &lexed, &places)?;
            let mut kept: Vec<Span> = Vec::new();
            for (form, _) in forms.iter().zip(wrong).filter(|(_, is_wrong)| !is_wrong) {
                kept.push(Span { end: end_of(form, &lexed)?, ..form.span });
            }
            if kept.is_empty() {
                return None;
            }
            if lexed.diagnostics.is_empty() {
                // They say what functions do; those within a form that goes are of no use, and do no harm.
                kept.extend(&lexed.comments);
            }
            Some(blanked(&source.text, &kept))
        })
    }
}

/// Which forms are wrong, or need one that is. None if nothing can be told from where the errors are.
fn wrong_forms(forms: &[TopLevel], lexed: &Lexed, places: &[Span]) -> Option<Vec<bool>> {
    let mut wrong: Vec<bool> = forms.iter().map(|form| matches!(form.kind, TopLevelKind::Error)).collect();
    for place in places {
        // What stands between two forms belongs to the first: its end may be what is missing.
        let index = forms.partition_point(|form| form.span.start <= place.start).saturating_sub(1);
        *wrong.get_mut(index)? = true;
    }
    let is_import = |form: &TopLevel| matches!(form.kind, TopLevelKind::Import(_));
    if !wrong.contains(&true) || forms.iter().zip(&wrong).any(|(form, wrong)| *wrong && is_import(form)) {
        return None;
    }
    let text = Definitions::new(forms, true);
    let unread: Vec<Vec<Symbol>> = forms.iter().map(|form| names_of_unread(form, lexed)).collect();
    loop {
        let before = wrong.clone();
        for (index, form) in forms.iter().enumerate() {
            let needs_wrong = |name: &Symbol| {
                let (seen, is_wrong) = match text.resolve(index, name) {
                    Reference::Form(other) | Reference::Later(other) => (Some(other), before[other] && other != index),
                    Reference::Elsewhere => (None, false),
                };
                let is_hidden = |other: usize| seen.is_some_and(|seen| seen > other);
                is_wrong || (0..index).any(|other| unread[other].contains(name) && !is_hidden(other))
            };
            wrong[index] |= !before[index] && names_in(form.span, lexed).any(needs_wrong);
        }
        if wrong == before {
            return Some(wrong);
        }
    }
}

/// The tokens of a span.
fn tokens(span: Span, lexed: &Lexed) -> &[(Token, Span)] {
    let start = lexed.tokens.partition_point(|(_, token)| token.start < span.start);
    let end = lexed.tokens.partition_point(|(_, token)| token.start < span.end);
    lexed.tokens.get(start..end).unwrap_or(&[])
}

fn names_in(span: Span, lexed: &Lexed) -> impl Iterator<Item = &Symbol> {
    tokens(span, lexed).iter().filter_map(|(token, _)| match token {
        Token::Name(name) => Some(name),
        _ => None,
    })
}

/// The names that a form was to define that could not be read: what stands before its `=`, of a function the first.
fn names_of_unread(form: &TopLevel, lexed: &Lexed) -> Vec<Symbol> {
    if !matches!(form.kind, TopLevelKind::Error) {
        return Vec::new();
    }
    let found = tokens(form.span, lexed);
    let mut names: Vec<Symbol> = names_in(form.span, lexed).cloned().collect();
    match found.iter().position(|(token, _)| *token == Token::Equal) {
        _ if matches!(found.first(), Some((Token::Keyword(Keyword::Function | Keyword::Datatype), _))) => {
            names.truncate(1);
        }
        Some(equal) => {
            let end = found[equal].1.start;
            names = names_in(Span { end, ..form.span }, lexed).cloned().collect();
        }
        None => names = vec![Symbol::from("it")],
    }
    names
}

/// Where a form ends with its terminator.
fn end_of(form: &TopLevel, lexed: &Lexed) -> Option<u32> {
    let next = lexed.tokens.partition_point(|(_, token)| token.start < form.span.end);
    match lexed.tokens.get(next) {
        Some((Token::Semicolon | Token::Dollar, span)) => Some(span.end),
        _ => None,
    }
}

/// A text in which blanks stand for all but these spans.
fn blanked(text: &str, kept: &[Span]) -> String {
    let mut result = vec![b' '; text.len()];
    for (blank, &byte) in result.iter_mut().zip(text.as_bytes()) {
        if byte == b'\n' {
            *blank = byte;
        }
    }
    for span in kept {
        let range = span.start as usize..span.end as usize;
        if let (Some(to), Some(from)) = (result.get_mut(range.clone()), text.as_bytes().get(range)) {
            to.copy_from_slice(from);
        }
    }
    String::from_utf8_lossy(&result).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Options;
    use nesl_span::Origin;

    /// What is right of a text after as many checks as that takes.
    fn right(text: &str) -> Option<String> {
        let (mut sources, options) = (SourceMap::default(), Options { bind_it: true, ..Options::default() });
        let mut session = Session::new(&mut sources);
        let before = sources.add("before", "old = 1;", Origin::User);
        session.check(&sources, before, options);
        let mut text = text.to_owned();
        loop {
            let file = sources.add("text", text.as_str(), Origin::User);
            let checked = session.check(&sources, file, options);
            if !checked.has_errors() {
                return Some(text);
            }
            text = session.right_part(&sources, file, &checked.diagnostics)?;
        }
    }

    #[test]
    fn forms_stay_that_need_no_wrong_one() {
        let right = |text: &str| right(text).map(|text| text.trim().to_owned());
        assert_eq!(right("a = 1; c = nothere; d = a;").unwrap(), "a = 1;              d = a;");
        assert_eq!(right("c = nothere;"), None);
        assert_eq!(right("c = nothere; d = c; e = d;"), None);
        assert_eq!(right("nothere; it; 2; it;").unwrap(), "2; it;");
        // What is known by a name that was to be another is not meant.
        assert_eq!(right("old = nothere; x = old; y = 3;").unwrap(), "y = 3;");
        assert_eq!(right("old = 1 + ; x = old; y = 3;").unwrap(), "y = 3;");
        assert_eq!(right("function g(a) = k(a);\nfunction k(a) = a + t;\n% two %\nz = 2;").unwrap(), "% two %\nz = 2;");
    }

    #[test]
    fn what_cannot_be_read_is_left_out() {
        assert_eq!(right("1 + ; 2;").unwrap().trim(), "2;");
        assert_eq!(right("2; ) ; 3;").unwrap(), "2;     3;");
        assert_eq!(right("2; \"é ; 3;\n\n").unwrap().trim(), "2;");
    }
}

//! The text from above: what it defines, what of it can be folded away, and what can be run.

use crate::document::Document;
use nesl_frontend::ast::{Pattern, PatternKind, TopLevel, TopLevelKind};
use nesl_frontend::syntax::Syntax;
use nesl_frontend::syntax::nesl::token::Token;
use nesl_span::Span;
use std::collections::BTreeSet;
use std::ops::Range;

/// What a symbol is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    /// A function.
    Function,
    /// A datatype.
    Datatype,
    /// A value.
    Value,
}

/// Something that the text defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its name as it is written.
    pub name: String,
    /// What it is.
    pub kind: SymbolKind,
    /// Its type; empty if it is not known.
    pub ty: String,
    /// The whole definition.
    pub range: Range<usize>,
    /// The name in it.
    pub name_range: Range<usize>,
}

/// Lines that can be folded into the first of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fold {
    /// The first line, from 0.
    pub first: u32,
    /// The last line.
    pub last: u32,
    /// Whether it is a comment.
    pub is_comment: bool,
}

/// A part of the text that says something when it is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runnable {
    /// `main`, the name of a property or a benchmark, or nothing for the expressions of the text.
    pub name: String,
    /// Where it begins.
    pub range: Range<usize>,
}

/// Adds the places of the names that a pattern binds.
pub(crate) fn variables(pattern: &Pattern, found: &mut Vec<Span>) {
    match &pattern.kind {
        PatternKind::Variable(_) => found.push(pattern.span),
        PatternKind::Tuple(parts) => parts.iter().for_each(|part| variables(part, found)),
        PatternKind::Record(_, inner) | PatternKind::Typed(inner, _) => variables(inner, found),
        PatternKind::Unit | PatternKind::Error => {}
    }
}

/// The names that a form defines.
pub(crate) fn defined(form: &TopLevel) -> (SymbolKind, Vec<Span>) {
    match &form.kind {
        TopLevelKind::Function(function) => (SymbolKind::Function, vec![function.name.span]),
        TopLevelKind::Datatype(datatype) => (SymbolKind::Datatype, vec![datatype.name.span]),
        TopLevelKind::Assignment { pattern, .. } => {
            let mut names = Vec::new();
            variables(pattern, &mut names);
            (SymbolKind::Value, names)
        }
        TopLevelKind::Expression(_) | TopLevelKind::Import(_) | TopLevelKind::Error => (SymbolKind::Value, Vec::new()),
    }
}

/// The name of the function that a form defines.
fn bound_by(form: &TopLevel) -> Option<&str> {
    match &form.kind {
        TopLevelKind::Function(function) => Some(&function.name.symbol),
        _ => None,
    }
}

impl Document {
    /// What the text defines, in its order.
    pub fn symbols(&self) -> Vec<Symbol> {
        let analysis = self.analysis();
        let mut symbols = Vec::new();
        for form in analysis.forms() {
            let (kind, names) = defined(form);
            for span in names {
                let bound =
                    (self.mentions_at(span.start as usize)).find(|mention| mention.binds && mention.span == span);
                let ty = bound.and_then(|mention| analysis.type_of(mention)).unwrap_or_default();
                let name = self.sources().text(span).to_owned();
                // A loop of V is a function that nobody has written.
                if analysis.syntax == Syntax::V && bound_by(form).is_some_and(|own| *own != *name) {
                    continue;
                }
                let (Some(range), Some(name_range)) = (self.range(form.span), self.range(span)) else { continue };
                symbols.push(Symbol { name, kind, ty, range, name_range });
            }
        }
        symbols
    }

    /// What can be folded: forms, comments, and brackets over several lines.
    pub fn folds(&self) -> Vec<Fold> {
        let (lines, lexed) = (self.lines(), self.lexed());
        let fold = |start: u32, end: u32, is_comment: bool| {
            let (first, last) = (lines.line(start as usize), lines.line((end as usize).saturating_sub(1)));
            (first < last).then_some(Fold { first, last, is_comment })
        };
        let mut folds: BTreeSet<Fold> = BTreeSet::new();
        folds.extend(self.analysis().forms().iter().filter_map(|form| fold(form.span.start, form.span.end, false)));
        folds.extend(lexed.comments.iter().filter_map(|comment| fold(comment.start, comment.end, true)));
        let mut open = Vec::new();
        for (token, span) in &lexed.tokens {
            match token {
                Token::Open(bracket) => open.push((*bracket, span.start)),
                Token::Close(bracket) => {
                    // What is not closed in its turn has been reported, and folds nothing.
                    if let Some((_, start)) = open.pop_if(|(opened, _)| opened == bracket) {
                        folds.extend(fold(start, span.end, false));
                    }
                }
                _ => {}
            }
        }
        // One fold for each line: the longest.
        let mut by_line: Vec<Fold> = Vec::new();
        for fold in folds {
            match by_line.last_mut() {
                Some(last) if last.first == fold.first => last.last = last.last.max(fold.last),
                _ => by_line.push(fold),
            }
        }
        by_line
    }

    /// What can be run: `main`, or else the expressions; properties; benchmarks.
    pub fn runnables(&self) -> Vec<Runnable> {
        let forms = self.analysis().forms();
        let mut found = Vec::new();
        for form in forms {
            if let TopLevelKind::Function(function) = &form.kind
                && function.body.is_some()
                && let Some(range) = self.range(form.span)
            {
                let name = &*function.name.symbol;
                if name == "main" || name.starts_with("prop_") || name.starts_with("bench_") {
                    found.push(Runnable { name: name.to_owned(), range });
                }
            }
        }
        let expression = forms.iter().find(|form| matches!(form.kind, TopLevelKind::Expression(_)));
        if !found.iter().any(|runnable| runnable.name == "main")
            && let Some(range) = expression.and_then(|form| self.range(form.span))
        {
            found.push(Runnable { name: String::new(), range });
        }
        found.sort_by_key(|runnable| runnable.range.start);
        found
    }
}

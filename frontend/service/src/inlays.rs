//! The types that nobody wrote: of functions without a signature, and of what `let` and the top level bind.

use crate::document::Document;
use nesl_frontend::ast::{Expr, ExprKind, FunctionDefinition, TopLevelKind};
use nesl_frontend::syntax::Syntax;
use nesl_frontend::syntax::nesl::token::Token;
use nesl_span::Span;
use std::collections::HashSet;

/// A type that belongs behind a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inlay {
    /// The place.
    pub offset: usize,
    /// `: type`.
    pub label: String,
}

impl Document {
    /// The types that are not written in a part of the text.
    pub fn inlays(&self, from: usize, to: usize) -> Vec<Inlay> {
        let analysis = self.analysis();
        if analysis.syntax == Syntax::V {
            // There all types are written.
            return Vec::new();
        }
        let mut bound: HashSet<Span> = HashSet::new();
        let mut inlays = Vec::new();
        let touches = |span: Span| span.start as usize <= to && from <= span.end as usize;
        for form in analysis.forms().iter().filter(|form| touches(form.span)) {
            match &form.kind {
                TopLevelKind::Function(function) => {
                    function.body.iter().for_each(|body| lets(body, &mut bound));
                    inlays.extend(self.unwritten_signature(function));
                }
                TopLevelKind::Assignment { value, .. } => {
                    bound.extend(crate::outline::defined(form).1);
                    lets(value, &mut bound);
                }
                TopLevelKind::Expression(value) => lets(value, &mut bound),
                TopLevelKind::Datatype(_) | TopLevelKind::Import(_) | TopLevelKind::Error => {}
            }
        }
        let named = |span: Span| self.sources().text(span) != "_";
        let shown = (analysis.mentions.iter())
            .filter(|mention| mention.binds && bound.contains(&mention.span) && named(mention.span));
        inlays.extend(shown.filter_map(|mention| {
            let label = format!(": {}", analysis.type_of(mention)?);
            Some(Inlay { offset: mention.span.end as usize, label })
        }));
        inlays.retain(|inlay| (from..=to).contains(&inlay.offset));
        inlays.sort_by_key(|inlay| inlay.offset);
        inlays
    }

    /// The signature of a function that has none, and where it belongs.
    pub(crate) fn unwritten_signature(&self, function: &FunctionDefinition) -> Option<Inlay> {
        let analysis = self.analysis();
        let body = function.body.as_ref()?;
        if function.signature.is_some() {
            return None;
        }
        let mentions = &analysis.mentions;
        let name = function.name.span;
        let first = mentions.partition_point(|mention| mention.span < name);
        let defined = mentions.get(first).filter(|mention| mention.span == name)?;
        let label = format!(": {}", analysis.type_of(defined)?);
        let before = self.tokens_before(body.span.start as usize);
        let equal = before.iter().rposition(|(token, _)| *token == Token::Equal)?;
        let (_, last) = before.get(equal.checked_sub(1)?)?;
        Some(Inlay { offset: last.end as usize, label })
    }
}

/// Adds the names that the `let`s in an expression bind.
fn lets(expression: &Expr, found: &mut HashSet<Span>) {
    let mut open = vec![expression];
    while let Some(expression) = open.pop() {
        if let ExprKind::Let { bindings, .. } = &expression.kind {
            for binding in bindings {
                let mut names = Vec::new();
                crate::outline::variables(&binding.pattern, &mut names);
                found.extend(names);
            }
        }
        open.extend(expression.parts());
    }
}

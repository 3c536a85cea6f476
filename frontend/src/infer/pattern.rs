//! Patterns: their types, the variables they bind, and their text.

use super::Inference;
use super::typed::{Pattern, PatternKind};
use super::types::{Node, TypeId, Types};
use crate::ast;
use crate::ast::Symbol;
use crate::diagnostic::Diagnostic;
use nesl_span::Span;
use std::collections::HashMap;

/// A pattern as written, without needless parentheses.
pub fn pattern_text(pattern: &ast::Pattern) -> String {
    match &pattern.kind {
        ast::PatternKind::Variable(name) => name.to_string(),
        ast::PatternKind::Tuple(parts) => {
            let parts: Vec<String> = parts.iter().map(pattern_text).collect();
            format!("({})", parts.join(", "))
        }
        ast::PatternKind::Error => "?".to_owned(),
    }
}

/// The parts of a function's parameter pattern.
pub fn parameter_texts(pattern: &ast::Pattern) -> Vec<String> {
    match &pattern.kind {
        ast::PatternKind::Tuple(parts) => parts.iter().map(pattern_text).collect(),
        _ => vec![pattern_text(pattern)],
    }
}

impl Inference<'_> {
    /// The pattern with new variables of new types. `seen` has the names bound beside it: a name may occur only once.
    pub(super) fn pattern(&mut self, pattern: &ast::Pattern, seen: &mut HashMap<Symbol, Span>) -> Pattern {
        let (kind, ty) = match &pattern.kind {
            ast::PatternKind::Variable(name) => {
                if let Some(&first) = seen.get(name) {
                    let message = format!("the name `{name}` occurs twice in one pattern");
                    let report = Diagnostic::error("E0206", message, pattern.span).saying("again here");
                    self.diagnostics.push(report.also(first, "first here").hint("give each part a name of its own"));
                }
                seen.insert(name.clone(), pattern.span);
                (PatternKind::Variable(self.new_variable(), name.clone()), self.fresh())
            }
            ast::PatternKind::Tuple(parts) => {
                let mut parts: Vec<Pattern> = parts.iter().map(|part| self.pattern(part, seen)).collect();
                let Some(mut whole) = parts.pop() else {
                    return Pattern { kind: PatternKind::Error, ty: Types::ERROR, span: pattern.span };
                };
                while let Some(first) = parts.pop() {
                    let ty = self.types.pair(first.ty, whole.ty);
                    let span = first.span.to(whole.span);
                    whole = Pattern { kind: PatternKind::Pair(Box::new(first), Box::new(whole)), ty, span };
                }
                (whole.kind, whole.ty)
            }
            ast::PatternKind::Error => (PatternKind::Error, Types::ERROR),
        };
        Pattern { kind, ty, span: pattern.span }
    }

    /// Makes the pattern's variables visible; [`Inference::leave`] hides them again.
    pub(super) fn enter(&mut self, pattern: &Pattern) {
        pattern.for_each_variable(&mut |id, name, part, _| {
            self.locals.entry(name.clone()).or_default().push((id, part.ty));
        });
    }

    /// Hides the pattern's variables.
    pub(super) fn leave(&mut self, pattern: &Pattern) {
        pattern.for_each_variable(&mut |_, name, _, _| {
            if let Some(scopes) = self.locals.get_mut(name) {
                scopes.pop();
            }
        });
    }

    /// Makes a pattern take values of type `ty` apart; `what` names the value in the message, at `span`.
    pub(super) fn match_pattern(&mut self, pattern: &Pattern, ty: TypeId, what: &str, span: Span) {
        if self.types.unify(pattern.ty, ty).is_ok() {
            return;
        }
        let count = |types: &Types, mut ty: TypeId| {
            let mut parts = 1;
            while let Node::Pair(_, rest) = types.node(ty) {
                parts += 1;
                ty = rest;
            }
            parts
        };
        let message = match (count(&self.types, pattern.ty), count(&self.types, ty)) {
            (wanted, 1) => format!("the pattern has {wanted} parts, but {what} is not a tuple"),
            (wanted, given) if given < wanted => format!("the pattern has {wanted} parts, but {what} has {given}"),
            _ => format!("the pattern does not fit {what}"),
        };
        let report = Diagnostic::error("E0202", message, pattern.span).saying("this pattern");
        self.diagnostics.push(report.also(span, self.types.label(ty)));
    }
}

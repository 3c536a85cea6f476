//! Patterns: their types, the variables they bind, and their text.

use super::problem::meeting::{Matched, Meeting};
use super::problem::names::NameProblem;
use super::{DatatypeMeaning, Inference, Local};
use crate::ast;
use crate::ast::Symbol;
use crate::ty::Class;
use crate::typed::types::{TypeId, Types};
use crate::typed::{Pattern, PatternKind};
use nesl_span::Span;
use std::collections::HashMap;

/// A type behind a pattern, which is to be matched with what the pattern binds.
#[derive(Clone, Debug)]
pub(super) struct Annotation {
    /// The pattern.
    pattern: Box<ast::Pattern>,
    /// The type of what it binds.
    given: TypeId,
    /// The type behind it.
    wanted: TypeId,
    /// Where that stands.
    span: Span,
}

/// A pattern as written, without types and needless parentheses.
pub fn pattern_text(pattern: &ast::Pattern) -> String {
    match &pattern.kind {
        ast::PatternKind::Variable(name) => name.to_string(),
        ast::PatternKind::Unit => "()".to_owned(),
        ast::PatternKind::Tuple(parts) => {
            let parts: Vec<String> = parts.iter().map(pattern_text).collect();
            format!("({})", parts.join(", "))
        }
        ast::PatternKind::Record(name, parts) => match &parts.kind {
            ast::PatternKind::Tuple(_) | ast::PatternKind::Unit => format!("{}{}", name.symbol, pattern_text(parts)),
            _ => format!("{}({})", name.symbol, pattern_text(parts)),
        },
        ast::PatternKind::Typed(inner, _) => pattern_text(inner),
        ast::PatternKind::Error => "?".to_owned(),
    }
}

/// The parts of a function's parameter pattern; none for `()`.
pub fn parameter_texts(pattern: &ast::Pattern) -> Vec<String> {
    let pattern = pattern.bare();
    match &pattern.kind {
        ast::PatternKind::Unit => Vec::new(),
        ast::PatternKind::Tuple(parts) => parts.iter().map(pattern_text).collect(),
        _ => vec![pattern_text(pattern)],
    }
}

/// The same of a definition. Beside parameters with a default a tuple with a type is one parameter.
pub fn definition_texts(definition: &ast::FunctionDefinition) -> Vec<String> {
    match &definition.parameter.kind {
        ast::PatternKind::Typed(..) if !definition.keywords.is_empty() => vec![pattern_text(&definition.parameter)],
        _ => parameter_texts(&definition.parameter),
    }
}

impl Inference<'_> {
    /// The pattern with new variables of new types. `seen` has the names bound beside it: a name may occur only once.
    pub(super) fn pattern(&mut self, pattern: &ast::Pattern, seen: &mut HashMap<Symbol, Span>) -> Pattern {
        let (kind, ty) = match &pattern.kind {
            ast::PatternKind::Variable(name) => {
                // `_` is for what nobody needs, as often as that happens.
                if let Some(&first) = seen.get(name).filter(|_| &**name != "_") {
                    self.report(pattern.span, NameProblem::Twice { name: name.clone(), first });
                }
                seen.insert(name.clone(), pattern.span);
                (PatternKind::Variable(self.new_variable(), name.clone()), self.fresh())
            }
            ast::PatternKind::Unit => (PatternKind::Unit, Types::UNIT),
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
            ast::PatternKind::Record(name, parts) => self.record_pattern(name, parts, seen),
            ast::PatternKind::Typed(inner, written) => {
                let typed = self.pattern(inner, seen);
                let wanted = self.type_expression(written);
                let pattern = inner.clone();
                self.annotations.push(Annotation { pattern, given: typed.ty, wanted, span: written.span });
                return typed;
            }
            ast::PatternKind::Error => (PatternKind::Error, Types::ERROR),
        };
        Pattern { kind, ty, span: pattern.span }
    }

    /// `name(parts)`.
    fn record_pattern(
        &mut self,
        name: &ast::Name,
        parts: &ast::Pattern,
        seen: &mut HashMap<Symbol, Span>,
    ) -> (PatternKind, TypeId) {
        self.note_datatype(name);
        let payload = self.pattern(parts, seen);
        let datatype = match self.datatype(&name.symbol) {
            DatatypeMeaning::Known(datatype) => datatype,
            meaning => {
                if matches!(meaning, DatatypeMeaning::Unknown) {
                    self.report_no_datatype(name);
                }
                // The variables are bound all the same, so that their uses are no news.
                let mut types = Vec::new();
                payload.for_each_variable(&mut |_, _, part, _| types.push(part.ty));
                for ty in types {
                    // A new variable fits every type.
                    let _ = self.types.unify(ty, Types::ERROR);
                }
                return (PatternKind::Record(Box::new(payload)), Types::ERROR);
            }
        };
        let arguments: Vec<TypeId> = (datatype.classes.iter())
            .map(|&class| match class {
                Class::Function => self.fresh_identity(),
                _ => self.types.variable(class),
            })
            .collect();
        let wanted = self.types.import(&datatype.payload, &arguments);
        self.match_parts(&payload, wanted, Matched::Payload(datatype.name.clone()), name.span);
        (PatternKind::Record(Box::new(payload)), self.types.record(&datatype, &arguments))
    }

    /// Whether a pattern takes apart what is not a datatype.
    pub(super) fn has_unknown_datatype(&self, pattern: &ast::Pattern) -> bool {
        match &pattern.kind {
            ast::PatternKind::Variable(_) | ast::PatternKind::Unit | ast::PatternKind::Error => false,
            ast::PatternKind::Tuple(parts) => parts.iter().any(|part| self.has_unknown_datatype(part)),
            ast::PatternKind::Typed(inner, _) => self.has_unknown_datatype(inner),
            ast::PatternKind::Record(name, parts) => {
                matches!(self.datatype(&name.symbol), DatatypeMeaning::Unknown) || self.has_unknown_datatype(parts)
            }
        }
    }

    fn report_no_datatype(&mut self, name: &ast::Name) {
        if self.unreadable {
            return;
        }
        let near = self.near_datatype(&name.symbol);
        self.report(name.span, NameProblem::NoDatatype { name: name.symbol.clone(), near });
    }

    /// Makes the pattern's variables visible; [`Inference::leave`] hides them again.
    pub(super) fn enter(&mut self, pattern: &Pattern) {
        self.note_pattern(pattern);
        pattern.for_each_variable(&mut |id, name, part, _| {
            let local = Local { id, ty: part.ty, span: part.span };
            self.locals.entry(name.clone()).or_default().push(local);
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

    /// Makes a pattern take values of type `ty` apart; `matched` says what they are, at `span`.
    pub(super) fn match_pattern(&mut self, pattern: &Pattern, ty: TypeId, matched: Matched, span: Span) {
        self.match_parts(pattern, ty, matched, span);
        self.settle_annotations(Some(span));
    }

    /// Makes what patterns bind have the types that are written behind them. This comes after the values are known, at
    /// `value`, so that a type that does not fit is told from a pattern that does not.
    pub(super) fn settle_annotations(&mut self, value: Option<Span>) {
        for Annotation { pattern, given, wanted, span } in std::mem::take(&mut self.annotations) {
            let Err(failure) = self.types.unify(given, wanted) else { continue };
            let (bound, written) = (self.resolved(given), self.resolved(wanted));
            self.report_meeting(span, failure, Meeting::Annotation { pattern, bound, written, value });
        }
    }

    fn match_parts(&mut self, pattern: &Pattern, ty: TypeId, matched: Matched, value: Span) {
        let Err(failure) = self.types.unify(pattern.ty, ty) else { return };
        let (span, given) = (pattern.span, self.resolved(ty));
        let pattern = self.resolved(pattern.ty);
        self.report_meeting(span, failure, Meeting::Pattern { pattern, matched, given, value });
    }
}

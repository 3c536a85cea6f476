//! Patterns: their types, the variables they bind, and their text.

use super::foreign_words::foreign_word;
use super::report::edit_distance;
use super::{DatatypeMeaning, Inference, Local};
use crate::ast;
use crate::ast::Symbol;
use crate::diagnostic::Diagnostic;
use crate::ty::Class;
use crate::typed::types::{Failure, Node, TypeId, Types};
use crate::typed::{Pattern, PatternKind};
use nesl_span::Span;
use std::collections::HashMap;

/// A type behind a pattern, which is to be matched with what the pattern binds.
#[derive(Clone, Debug)]
pub(super) struct Annotation {
    /// The pattern as written.
    what: String,
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

impl Inference<'_> {
    /// The pattern with new variables of new types. `seen` has the names bound beside it: a name may occur only once.
    pub(super) fn pattern(&mut self, pattern: &ast::Pattern, seen: &mut HashMap<Symbol, Span>) -> Pattern {
        let (kind, ty) = match &pattern.kind {
            ast::PatternKind::Variable(name) => {
                // `_` is for what nobody needs, as often as that happens.
                if let Some(&first) = seen.get(name).filter(|_| &**name != "_") {
                    let message = format!("the name `{name}` occurs twice in one pattern");
                    let report = Diagnostic::error("E0206", message, pattern.span).saying("again here");
                    self.diagnostics.push(report.also(first, "first here").hint("give each part a name of its own"));
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
                let what = pattern_text(inner);
                self.annotations.push(Annotation { what, given: typed.ty, wanted, span: written.span });
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
        let what = format!("`{}`", datatype.name);
        self.match_parts(&payload, wanted, &what, name.span);
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
        let message = format!("`{}` is not a datatype: it cannot be taken apart", name.symbol);
        let report = Diagnostic::error("E0226", message, name.span);
        let function = || format!("a function is defined at the top level: `function {}(…) = …`", name.symbol);
        let other = || foreign_word(&name.symbol).map_or_else(function, str::to_owned);
        let near = self.near_datatype(&name.symbol).map(|near| format!("did you mean the datatype `{near}`?"));
        self.diagnostics.push(report.hint(near.unwrap_or_else(other)));
    }

    /// The datatype whose name is the most like this one, if one is.
    fn near_datatype(&self, name: &str) -> Option<&Symbol> {
        let limit = (name.chars().count() / 3).min(3);
        let known = self.text.datatype_names().chain(self.environment.datatypes.keys());
        let near = known.map(|known| (edit_distance(name, known, limit), known));
        near.filter(|(distance, _)| *distance <= limit).min().map(|(_, known)| known)
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

    /// Makes a pattern take values of type `ty` apart; `what` names the value in the message, at `span`.
    pub(super) fn match_pattern(&mut self, pattern: &Pattern, ty: TypeId, what: &str, span: Span) {
        self.match_parts(pattern, ty, what, span);
        self.settle_annotations(Some(span));
    }

    /// Makes what patterns bind have the types that are written behind them. This comes after the values are known, at
    /// `value`, so that a type that does not fit is told from a pattern that does not.
    pub(super) fn settle_annotations(&mut self, value: Option<Span>) {
        for Annotation { what, given, wanted, span } in std::mem::take(&mut self.annotations) {
            let (found, written) = (self.types.describe(given), self.types.describe(wanted));
            let Err(failure) = self.types.unify(given, wanted) else { continue };
            let report = self.class_report(failure, &format!("`{what}`"), span).unwrap_or_else(|| {
                let message = format!("`{what}` is declared as {written}, but it is {found}");
                Diagnostic::error("E0202", message, span)
            });
            let mut report = report.saying("declared here");
            if let Some(value) = value {
                report = report.also(value, self.label(given));
            }
            self.diagnostics.push(report);
        }
    }

    fn match_parts(&mut self, pattern: &Pattern, ty: TypeId, what: &str, span: Span) {
        let Err(failure) = self.types.unify(pattern.ty, ty) else { return };
        if let Failure::Functions(..) | Failure::Infinite = failure
            && let Some(report) = self.class_report(failure, what, pattern.span)
        {
            let label = self.label(ty);
            self.diagnostics.push(report.saying("this pattern").also(span, label));
            return;
        }
        let count = |types: &Types, mut ty: TypeId| {
            let mut parts = 1;
            if types.node(ty) == Node::Unit {
                return 0;
            }
            while let Node::Pair(_, rest) = types.node(ty) {
                parts += 1;
                ty = rest;
            }
            parts
        };
        let is_record = |types: &Types, ty| matches!(types.node(ty), Node::Record(..));
        let message = match (count(&self.types, pattern.ty), count(&self.types, ty)) {
            (1, _) if is_record(&self.types, pattern.ty) => {
                format!("the pattern takes {} apart, but {what} is not one", self.types.describe(pattern.ty))
            }
            (0, _) => format!("the pattern `()` has no parts, but {what} has some"),
            (wanted, 0) => format!("the pattern has {wanted} parts, but {what} is (), which has none"),
            (wanted, 1) => format!("the pattern has {wanted} parts, but {what} is not a tuple"),
            (wanted, given) if given < wanted => format!("the pattern has {wanted} parts, but {what} has {given}"),
            _ => format!("the pattern does not fit {what}"),
        };
        let mut report = Diagnostic::error("E0202", message, pattern.span).saying("this pattern");
        if let (Node::Pair(..), Node::Sequence(_)) = (self.types.node(pattern.ty), self.types.node(ty)) {
            report = report.hint("the elements of a sequence v are v[0], v[1] and so on");
        }
        self.diagnostics.push(report.also(span, self.label(ty)));
    }
}

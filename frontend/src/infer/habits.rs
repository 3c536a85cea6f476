//! What only hints and warnings ask about: habits from other languages, names that nothing mentions, elements that are
//! taken for their sequence.

use super::problem::warning::Warning;
use super::{Inference, Meaning, Target};
use crate::ast;
use crate::core::effects::Effect;
use crate::core::{FunctionBody, FunctionId, walk};
use crate::typed::{Pattern, PatternKind};
use nesl_span::Span;
use std::collections::HashSet;

impl Inference<'_> {
    /// Reports `{x : x in v where x > 1}`: what follows the word is the filter, not part of the sequence.
    pub(super) fn reports_filter_word(&mut self, sequence: &ast::Expr) -> bool {
        let Some((word, span)) = filter_word(sequence) else { return false };
        if !matches!(self.meaning(word), Meaning::Unknown) {
            return false;
        }
        self.report_unknown(word, span, None);
        true
    }

    /// Remembers a variable that has the name of the sequence whose elements it stands for.
    pub(super) fn note_element(&mut self, pattern: &Pattern, source: &ast::Source) {
        let PatternKind::Variable(id, name) = &pattern.kind else { return };
        let is_same = match &source.sequence {
            None => true,
            Some(sequence) => matches!(&sequence.kind, ast::ExprKind::Name(other) if other == name),
        };
        if is_same {
            self.elements.insert(*id);
        }
    }

    /// Warns of names that nothing mentions, unless they begin with `_`. Only bindings of `let` are meant: a parameter
    /// is there for the callers, and the variable of an apply-to-each for the number of its elements.
    pub(super) fn warn_unused(&mut self, pattern: &Pattern, value: &ast::Expr) {
        if self.environment.is_library {
            return;
        }
        let mut unused = Vec::new();
        pattern.for_each_variable(&mut |id, name, part, path| {
            if !self.used.contains(&id) && !name.starts_with('_') {
                unused.push((name.clone(), part.span, path.is_empty()));
            }
        });
        // A value may be there for what its computation does.
        if unused.is_empty() || self.may_act(value) {
            return;
        }
        for (name, span, is_whole) in unused {
            self.report(span, Warning::Unused { name, is_whole });
        }
    }

    /// Warns of a name that means a local variable which is spelled in other capitals, though another value that the
    /// variable hides is spelled exactly so: most likely that one is meant.
    pub(super) fn warn_of_capitals(&mut self, name: &str, span: Span) {
        let Some((local, outer)) = self.locals.get(name).and_then(|scopes| scopes.split_last()) else { return };
        let (bound, written) = (local.span, self.writing.spelling(name, span));
        let bound_as = self.writing.spelling(name, bound);
        if bound_as == written {
            return;
        }
        let of_outer = match self.outer_meaning(name) {
            Meaning::Global(id) => Some(self.environment.program.globals[id.0].span),
            Meaning::Function(target) => self.definition_span(target),
            _ => None,
        };
        let hidden = outer.iter().rev().map(|local| local.span).chain(of_outer);
        let Some(hidden) = hidden.into_iter().find(|&span| self.writing.spelling(name, span) == written) else {
            return;
        };
        let (written, bound_as) = (written.to_owned(), bound_as.to_owned());
        self.report(span, Warning::Capitals { written, bound_as, bound, hidden });
    }

    /// Whether computing a value may print, draw random numbers or act on the world: a call counts, reached or not.
    fn may_act(&self, value: &ast::Expr) -> bool {
        let mut open = Vec::new();
        let mut is_unknown = false;
        each_name(value, &mut |name| match self.meaning(name) {
            Meaning::Function(Target::Known(id)) => open.push(id),
            Meaning::Function(Target::Group(_)) => is_unknown = true,
            _ => {}
        });
        let mut seen: HashSet<FunctionId> = HashSet::new();
        while let Some(id) = open.pop() {
            if !seen.insert(id) {
                continue;
            }
            match &self.environment.program.function(id).body {
                FunctionBody::Intrinsic(intrinsic) => is_unknown |= Effect::of(*intrinsic).any(),
                FunctionBody::Defined { body, .. } => open.extend(walk::mentions(body).map(|(id, _)| id)),
                FunctionBody::Missing => {}
            }
        }
        is_unknown
    }
}

/// The word `where` or `when` in a row of operands, as in `v where x > 1`.
fn filter_word(expression: &ast::Expr) -> Option<(&str, Span)> {
    match &expression.kind {
        ast::ExprKind::Name(name) if matches!(&**name, "where" | "when") => Some((name, expression.span)),
        ast::ExprKind::Call { function, argument } => filter_word(function).or_else(|| filter_word(argument)),
        ast::ExprKind::Binary { left, .. } => filter_word(left),
        _ => None,
    }
}

/// Visits the names in an expression.
fn each_name(expression: &ast::Expr, visit: &mut impl FnMut(&str)) {
    use ast::ExprKind as Kind;
    match &expression.kind {
        Kind::Name(name) => visit(name),
        Kind::Literal(_) | Kind::Text(_) | Kind::Unit | Kind::Empty(_) | Kind::Error => {}
        Kind::Lambda { body: part, .. }
        | Kind::Keyword { value: part, .. }
        | Kind::Typed { value: part, .. }
        | Kind::Unary { operand: part, .. } => each_name(part, visit),
        Kind::Tuple(parts) | Kind::Sequence(parts) => parts.iter().for_each(|part| each_name(part, visit)),
        Kind::Call { function: one, argument: other }
        | Kind::Index { sequence: one, index: other }
        | Kind::Binary { left: one, right: other, .. } => {
            [one, other].into_iter().for_each(|part| each_name(part, visit))
        }
        Kind::If { condition, then_branch, else_branch } => {
            [condition, then_branch, else_branch].into_iter().for_each(|part| each_name(part, visit));
        }
        Kind::Let { bindings, body } => {
            bindings.iter().for_each(|binding| each_name(&binding.value, visit));
            each_name(body, visit);
        }
        Kind::Range { start, end, stride } => {
            [Some(start), Some(end), stride.as_ref()].into_iter().flatten().for_each(|part| each_name(part, visit));
        }
        Kind::Each { body, sources, filter, .. } => {
            let sequences = sources.iter().filter_map(|source| source.sequence.as_ref());
            body.as_deref()
                .into_iter()
                .chain(filter.as_deref())
                .chain(sequences)
                .for_each(|part| each_name(part, visit));
        }
    }
}

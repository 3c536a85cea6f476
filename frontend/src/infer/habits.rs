//! What only hints and warnings ask about: habits from other languages, names that nothing mentions, elements that are
//! taken for their sequence.

use super::foreign_words::foreign_word;
use super::{Inference, Meaning, Target};
use crate::ast;
use crate::core::effects::Effect;
use crate::core::{FunctionBody, FunctionId, walk};
use crate::diagnostic::{Diagnostic, Severity, Tag};
use crate::typed::types::{Node, TypeId};
use crate::typed::{Expr, ExprKind, Pattern, PatternKind};
use nesl_span::Span;
use std::collections::HashSet;

impl Inference<'_> {
    /// The hint for a wrong number of arguments.
    pub(super) fn count_hint(
        &self,
        name: &str,
        parameter: TypeId,
        argument: &Expr,
        source: &ast::Expr,
    ) -> Option<String> {
        match (name, &source.kind) {
            ("max" | "min", _) if matches!(self.types.node(argument.ty), Node::Sequence(_)) => {
                Some(format!("for the elements of a sequence there is {name}_val(v)"))
            }
            ("zip", ast::ExprKind::Tuple(parts)) if parts.len() == 3 => {
                Some("three sequences go side by side by `zip3(a, b, c)`".to_owned())
            }
            ("round", ast::ExprKind::Tuple(parts)) if parts.len() == 2 => {
                Some("the text with so many digits after the point is `fixed_string(x, digits)`".to_owned())
            }
            ("diff", kind) if !matches!(kind, ast::ExprKind::Tuple(_)) => {
                Some("the differences of neighbours are `differences(v)`".to_owned())
            }
            ("join", ast::ExprKind::Tuple(parts)) if parts.len() == 2 => {
                Some("`join_strings(parts, separator)` puts a text between others".to_owned())
            }
            ("log", kind) if !matches!(kind, ast::ExprKind::Tuple(_)) => {
                Some("`ln(x)` is the logarithm to the base e, and `log(x, 10.0)` that to 10".to_owned())
            }
            (_, ast::ExprKind::Tuple(_)) if matches!(self.types.node(parameter), Node::Sequence(_)) => {
                let inner = self.quote(source.span)?.strip_prefix('(')?.strip_suffix(')')?;
                Some(format!("a sequence of these is written {name}([{inner}])"))
            }
            _ => None,
        }
    }

    /// Whether a call begins with a word of another language, as in `struct point (int, int)`.
    pub(super) fn begins_with_foreign_word(&self, function: &ast::Expr) -> bool {
        match &function.kind {
            ast::ExprKind::Name(name) => foreign_word(name).is_some() && matches!(self.meaning(name), Meaning::Unknown),
            ast::ExprKind::Call { function, .. } => self.begins_with_foreign_word(function),
            _ => false,
        }
    }

    /// Reports `{x : x in v where x > 1}`: what follows the word is the filter, not part of the sequence.
    pub(super) fn reports_filter_word(&mut self, sequence: &ast::Expr) -> bool {
        let Some((word, span)) = filter_word(sequence) else { return false };
        if !matches!(self.meaning(word), Meaning::Unknown) {
            return false;
        }
        self.report_unknown(word, span, false);
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

    /// The hint for an element that is used like the sequence of the same name.
    pub(super) fn element_hint(&self, value: &Expr) -> Option<String> {
        let ExprKind::Local(id) = value.kind else { return None };
        let name = self.elements.contains(&id).then(|| self.quote(value.span))??;
        let name = name.trim_start_matches('(').trim_end_matches(')');
        Some(format!(
            "in `{{… : {name}}}` the name `{name}` is one element: write `{{… : x in {name}}}` to keep the sequence"
        ))
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
            // A part of a tuple or a record cannot be left out.
            let hint = if is_whole { format!("remove it, or call it `_{name}`") } else { format!("call it `_{name}`") };
            self.warn("W0204", format!("`{name}` is never used"), span, Some(&hint));
            if let Some(report) = self.diagnostics.last_mut() {
                report.tag = Some(Tag::Unnecessary);
            }
        }
    }

    /// Warns of a name that means a local variable which is spelled in other capitals, though another value that the
    /// variable hides is spelled exactly so: most likely that one is meant.
    pub(super) fn warn_of_capitals(&mut self, name: &str, span: Span) {
        let Some((local, outer)) = self.locals.get(name).and_then(|scopes| scopes.split_last()) else { return };
        let (bound, written) = (local.span, self.sources.text(span));
        let bound_as = self.spelling(name, bound);
        if bound_as == written {
            return;
        }
        let of_outer = match self.outer_meaning(name) {
            Meaning::Global(id) => Some(self.environment.program.globals[id.0].span),
            Meaning::Function(target) => self.definition_span(target),
            _ => None,
        };
        let hidden = outer.iter().rev().map(|local| local.span).chain(of_outer);
        let Some(hidden) = hidden.into_iter().find(|&span| self.spelling(name, span) == written) else { return };
        let message = format!("`{written}` is `{bound_as}` here: capitals make no difference in names");
        let mut report = Diagnostic::error("W0207", message, span)
            .also(bound, "this one is meant")
            .also(hidden, "which hides this one")
            .hint("give one of them another name");
        report.severity = Severity::Warning;
        self.diagnostics.push(report);
    }

    /// How a name is spelled where it is bound, perhaps in parentheses and with a type behind it.
    fn spelling(&self, name: &str, bound: Span) -> &str {
        let text = self.sources.text(bound);
        let mut words = text.split(|c: char| !c.is_ascii_alphanumeric() && !"_?~".contains(c));
        words.find(|word| word.to_lowercase() == name).unwrap_or(text)
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

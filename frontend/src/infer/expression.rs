//! Expressions: each kind's typing rule and its mistakes. Calls and operators are in [`super::call`].

use super::{Inference, Meaning};
use crate::ast;
use crate::ast::{Source, UnaryOp};
use crate::diagnostic::Diagnostic;
use crate::typed::types::{Node, TypeId, Types};
use crate::typed::{Expr, ExprKind, Pattern};
use nesl_prim::ScalarValue;
use nesl_span::Span;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// The expression that stands for a reported mistake.
pub(super) fn error(span: Span) -> Expr {
    Expr { kind: ExprKind::Error, ty: Types::ERROR, span }
}

/// The value of a constant: a literal, or a negated number.
fn constant(expression: &ast::Expr) -> Option<ScalarValue> {
    match &expression.kind {
        ast::ExprKind::Literal(value) => Some(*value),
        ast::ExprKind::Unary { op: UnaryOp::Negate, operand, .. } => match constant(operand)? {
            ScalarValue::Int(value) => Some(ScalarValue::Int(value.wrapping_neg())),
            ScalarValue::Float(value) => Some(ScalarValue::Float(-value)),
            ScalarValue::Bool(_) | ScalarValue::Char(_) => None,
        },
        _ => None,
    }
}

impl Inference<'_> {
    /// The expression with its type. Mistakes are reported and have the error type.
    pub(super) fn expression(&mut self, expression: &ast::Expr) -> Expr {
        let span = expression.span;
        if self.unsure_truth && matches!(expression.kind, ast::ExprKind::Literal(ScalarValue::Bool(_))) {
            return error(span);
        }
        if let Some(value) = constant(expression) {
            return Expr { kind: ExprKind::Literal(value), ty: self.types.scalar(value.scalar_type()), span };
        }
        match &expression.kind {
            ast::ExprKind::Literal(_) | ast::ExprKind::Error => error(span),
            ast::ExprKind::Text(bytes) => {
                let ty = self.types.scalar(nesl_prim::ScalarType::Char);
                let values = bytes.iter().map(|&byte| ScalarValue::Char(byte)).collect();
                Expr { kind: ExprKind::Constants(values), ty: self.types.sequence(ty), span }
            }
            ast::ExprKind::Name(name) => self.variable(name, span),
            ast::ExprKind::Unit => Expr { kind: ExprKind::Unit, ty: Types::UNIT, span },
            ast::ExprKind::Tuple(parts) => {
                let parts = parts.iter().map(|part| self.expression(part)).collect();
                self.tuple(parts, span)
            }
            ast::ExprKind::Call { function, argument } => self.call(span, function, argument),
            ast::ExprKind::Index { sequence, index } => self.index(span, sequence, index),
            ast::ExprKind::Unary { op, op_span, operand } => self.unary(span, *op, *op_span, operand),
            ast::ExprKind::Binary { op, op_span, left, right } => self.binary(span, *op, *op_span, left, right),
            ast::ExprKind::If { condition, then_branch, else_branch } => {
                self.conditional(span, condition, then_branch, else_branch)
            }
            ast::ExprKind::Let { bindings, body } => self.bindings(span, bindings, body),
            ast::ExprKind::Sequence(elements) => self.sequence(span, elements),
            ast::ExprKind::Empty(element) => {
                let element = match element {
                    Some(element) => self.type_expression(element),
                    None => self.fresh(),
                };
                Expr { kind: ExprKind::Sequence(Vec::new()), ty: self.types.sequence(element), span }
            }
            ast::ExprKind::Range { start, end, stride } => self.range(span, start, end, stride.as_deref()),
            ast::ExprKind::Lambda { parameter, body } => self.lambda(span, parameter, body),
            ast::ExprKind::Keyword { name, value } => {
                self.expression(value);
                let message = format!("`{} := …` is an argument by name, and this is no call", name.symbol);
                let hint = "values are bound by `name = value` at the top level and in `let`";
                self.diagnostics.push(Diagnostic::error("E0225", message, span).hint(hint));
                error(span)
            }
            ast::ExprKind::Typed { value, ty } => {
                self.expression(value);
                let message = "a type stands behind a pattern only: this is an expression";
                let hint = "patterns with a type are bound, as in `((x : int) => x + 1)`; a range is written `[a : b]`";
                self.diagnostics.push(Diagnostic::error("E0114", message, ty.span).saying("the type").hint(hint));
                error(span)
            }
            ast::ExprKind::Each { is_serial: true, body, sources, filter } => {
                self.serial_each(span, body.as_deref(), sources, filter.as_deref())
            }
            ast::ExprKind::Each { is_serial: false, body, sources, filter } => {
                self.each(span, body.as_deref(), sources, filter.as_deref())
            }
        }
    }

    /// A name as a value.
    fn variable(&mut self, name: &str, span: Span) -> Expr {
        match self.meaning(name) {
            Meaning::Local(id, ty) => {
                self.warn_of_capitals(name, span);
                self.local(id, ty, span)
            }
            Meaning::Global(id) => {
                let ty = self.types.import(&self.environment.program.globals[id.0].ty, &[]);
                self.note_global(id, ty, span, false);
                Expr { kind: ExprKind::Global(id), ty, span }
            }
            Meaning::Function(target) => self.function_value(name, target, span),
            Meaning::Broken => error(span),
            Meaning::Unknown => {
                self.report_unknown(name, span, false);
                error(span)
            }
        }
    }

    /// The right-nested pairs of one or more parts.
    pub(super) fn tuple(&mut self, mut parts: Vec<Expr>, span: Span) -> Expr {
        let Some(mut whole) = parts.pop() else { return error(span) };
        let is_tuple = !parts.is_empty();
        while let Some(first) = parts.pop() {
            let ty = self.types.pair(first.ty, whole.ty);
            let part_span = first.span.to(whole.span);
            whole = Expr { kind: ExprKind::Pair(Box::new(first), Box::new(whole)), ty, span: part_span };
        }
        if is_tuple {
            whole.span = span;
        }
        whole
    }

    fn conditional(&mut self, span: Span, condition: &ast::Expr, yes: &ast::Expr, no: &ast::Expr) -> Expr {
        let test = self.expression(condition);
        self.require(test.ty, Types::BOOL, condition, "the condition of an `if`");
        let (then_branch, else_branch) = (self.expression(yes), self.expression(no));
        let mut ty = then_branch.ty;
        if let Err(failure) = self.types.unify(else_branch.ty, then_branch.ty) {
            let (left, right) = (self.types.describe(then_branch.ty), self.types.describe(else_branch.ty));
            let report = self.class_report(failure, "the other branch of the `if`", no.span);
            let mut report = report.unwrap_or_else(|| {
                let message = format!("the branches of this `if` have different types, {left} and {right}");
                Diagnostic::error("E0202", message, no.span)
            });
            if report.hint.is_none() {
                report.hint = self.mixing_hint((then_branch.ty, yes), (else_branch.ty, no));
            }
            if let Some(hint) = self.swallowed_comma(then_branch.ty, &else_branch, no) {
                report.hint = Some(hint);
            }
            let (left, right) = (self.label(then_branch.ty), self.label(else_branch.ty));
            self.diagnostics.push(report.saying(right).also(yes.span, left));
            ty = Types::ERROR;
        } else if !self.is_sound(ty) {
            ty = else_branch.ty;
        }
        let kind = ExprKind::If {
            condition: Box::new(test),
            then_branch: Box::new(then_branch),
            else_branch: Box::new(else_branch),
        };
        Expr { kind, ty, span }
    }

    fn bindings(&mut self, span: Span, bindings: &[ast::Binding], body: &ast::Expr) -> Expr {
        let mut typed: Vec<(Pattern, Expr)> = Vec::with_capacity(bindings.len());
        for (index, binding) in bindings.iter().enumerate() {
            let (value, pattern) = match self.local_function(binding, (&bindings[index + 1..], body)) {
                Some((name, parameter)) => {
                    let value = self.function_of(name, parameter, &binding.value);
                    let kind = ast::PatternKind::Variable(name.symbol.clone());
                    (value, Cow::Owned(ast::Pattern { kind, span: name.span }))
                }
                None => {
                    let bound = self.binding.len();
                    binding.pattern.names(&mut self.binding);
                    let value = self.expression(&binding.value);
                    self.binding.truncate(bound);
                    (value, Cow::Borrowed(&binding.pattern))
                }
            };
            let pattern = self.pattern(&pattern, &mut HashMap::new());
            self.match_pattern(&pattern, value.ty, "its value", binding.value.span);
            self.enter(&pattern);
            typed.push((pattern, value));
        }
        let body = self.expression(body);
        for ((pattern, _), binding) in typed.iter().zip(bindings).rev() {
            self.leave(pattern);
            self.warn_unused(pattern, &binding.value);
        }
        let ty = body.ty;
        Expr { kind: ExprKind::Let { bindings: typed, body: Box::new(body) }, ty, span }
    }

    /// The hint where the `else` part of a conditional has swallowed the next elements: `[if c then 1 else 2, 3]`.
    fn swallowed_comma(&self, wanted: TypeId, value: &Expr, source: &ast::Expr) -> Option<String> {
        let (ast::ExprKind::Tuple(parts), ExprKind::Pair(first, _)) = (&source.kind, &value.kind) else { return None };
        let is_open = parts.first().is_some_and(|part| part.span.start == source.span.start);
        let fits = self.types.describe(first.ty) == self.types.describe(wanted);
        (is_open && fits).then(|| {
            "the part after `else` goes on across commas: put the whole `if … then … else …` in parentheses".to_owned()
        })
    }

    /// A sequence literal. A million constants are one node without a type variable each.
    fn sequence(&mut self, span: Span, elements: &[ast::Expr]) -> Expr {
        if let Some(first) = elements.first().and_then(constant) {
            let values: Option<Arc<[ScalarValue]>> = (elements.iter())
                .map(|element| constant(element).filter(|value| value.scalar_type() == first.scalar_type()))
                .collect();
            if let Some(values) = values {
                let element = self.types.scalar(first.scalar_type());
                return Expr { kind: ExprKind::Constants(values), ty: self.types.sequence(element), span };
            }
        }
        let typed: Vec<Expr> = elements.iter().map(|element| self.expression(element)).collect();
        let known = typed.iter().position(|element| self.is_sound(element.ty));
        let mut ty = known.map_or(Types::ERROR, |index| typed[index].ty);
        let first = known.unwrap_or(0);
        for (element, source) in typed.iter().zip(elements).skip(first + 1) {
            let Err(failure) = self.types.unify(element.ty, ty) else { continue };
            let (one, other) = (self.types.describe(ty), self.types.describe(element.ty));
            let report = self.class_report(failure, "the sequence", source.span).unwrap_or_else(|| {
                let message = format!("the elements of this sequence have different types, {one} and {other}");
                Diagnostic::error("E0202", message, source.span)
            });
            let mut report = report.saying(self.label(element.ty)).also(elements[first].span, self.label(ty));
            if report.hint.is_none() {
                report.hint = self.mixing_hint((ty, &elements[first]), (element.ty, source));
            }
            self.diagnostics.push(report);
            ty = Types::ERROR;
            // One report per sequence says it all.
            break;
        }
        Expr { kind: ExprKind::Sequence(typed), ty: self.types.sequence(ty), span }
    }

    fn range(&mut self, span: Span, start: &ast::Expr, end: &ast::Expr, stride: Option<&ast::Expr>) -> Expr {
        let mut part = |expression: &ast::Expr, what: &str| {
            let typed = self.expression(expression);
            self.require(typed.ty, Types::INT, expression, what);
            typed
        };
        let start = part(start, "the start of a range");
        let end = part(end, "the end of a range");
        let stride = match stride {
            Some(stride) => part(stride, "the stride of a range"),
            None => Expr { kind: ExprKind::Literal(ScalarValue::Int(1)), ty: Types::INT, span },
        };
        self.library_call("iseq", vec![start, stride, end], span)
    }

    pub(super) fn each(
        &mut self,
        span: Span,
        body: Option<&ast::Expr>,
        sources: &[Source],
        filter: Option<&ast::Expr>,
    ) -> Expr {
        let mut seen = HashMap::new();
        let mut typed = Vec::with_capacity(sources.len());
        // All sequences are computed outside, before any of the names is bound.
        for source in sources {
            let sequence = match (&source.sequence, &source.pattern.kind) {
                (Some(sequence), _) if self.reports_filter_word(sequence) => error(sequence.span),
                (Some(sequence), _) => self.expression(sequence),
                (None, ast::PatternKind::Variable(name)) => self.variable(name, source.pattern.span),
                (None, _) => error(source.pattern.span),
            };
            let place = source.sequence.as_ref().map_or(source.pattern.span, |sequence| sequence.span);
            let element = self.element_of(&sequence, place);
            let pattern = self.pattern(&source.pattern, &mut seen);
            self.match_pattern(&pattern, element, "an element of its sequence", place);
            typed.push((pattern, sequence));
        }
        self.each_depth += 1;
        for ((pattern, _), source) in typed.iter().zip(sources) {
            self.enter(pattern);
            self.note_element(pattern, source);
        }
        let filter = filter.map(|filter| {
            let typed = self.expression(filter);
            self.require(typed.ty, Types::BOOL, filter, "the filter of an apply-to-each");
            if let ExprKind::Literal(ScalarValue::Bool(keeps)) = typed.kind {
                let (message, hint) = match keeps {
                    true => ("this filter keeps every element", "remove the filter"),
                    false => ("this filter keeps no element: the body is never evaluated", "write [] for no elements"),
                };
                self.warn("W0205", message.to_owned(), filter.span, Some(hint));
            }
            Box::new(typed)
        });
        let body = match (body, typed.first()) {
            (Some(body), _) => self.expression(body),
            (None, Some((pattern, _))) => pattern.to_expr(),
            (None, None) => error(span),
        };
        for (pattern, _) in typed.iter().rev() {
            self.leave(pattern);
        }
        self.each_depth -= 1;
        let ty = self.types.sequence(body.ty);
        Expr { kind: ExprKind::Each { sources: typed, filter, body: Box::new(body) }, ty, span }
    }

    /// The type of the elements that a source of an apply-to-each gives.
    fn element_of(&mut self, sequence: &Expr, span: Span) -> TypeId {
        match self.types.node(sequence.ty) {
            Node::Sequence(element) => return element,
            Node::Error => return Types::ERROR,
            _ => {}
        }
        let element = self.fresh();
        let wanted = self.types.sequence(element);
        let Err(failure) = self.types.unify(sequence.ty, wanted) else { return element };
        let given = self.types.describe(sequence.ty);
        let report = self.class_report(failure, "an apply-to-each", span).unwrap_or_else(|| {
            let message = format!("an apply-to-each walks over sequences, got {given}");
            Diagnostic::error("E0202", message, span)
        });
        let mut report = report.saying(self.label(sequence.ty));
        if self.types.root(sequence.ty) == Types::INT && report.hint.is_none() {
            let end = self.quote(span).unwrap_or("n");
            report.hint = Some(format!("to count, walk over the range [0:{end}]"));
        }
        self.diagnostics.push(report);
        Types::ERROR
    }
}

//! Expressions: each kind's typing rule and its mistakes. Calls and operators are in [`super::call`].

use super::problem::calls::CallProblem;
use super::problem::definition::DefinitionProblem;
use super::problem::meeting::{Matched, Meeting, Subject};
use super::problem::types::{Operand, Resolved, Writing};
use super::problem::warning::Warning;
use super::{Inference, Meaning};
use crate::ast;
use crate::ast::{Source, UnaryOp};
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
                self.report(span, CallProblem::ByNameOutside(name.symbol.clone()));
                error(span)
            }
            ast::ExprKind::Typed { value, ty } => {
                self.expression(value);
                self.report(ty.span, DefinitionProblem::TypeOfExpression);
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
                self.report_unknown(name, span, None);
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
        self.require(test.ty, Types::BOOL, condition, Subject::Condition);
        let (then_branch, else_branch) = (self.expression(yes), self.expression(no));
        let mut ty = then_branch.ty;
        if let Err(failure) = self.types.unify(else_branch.ty, then_branch.ty) {
            let meeting = Meeting::Branches {
                then_branch: self.operand(then_branch.ty, yes),
                else_branch: self.operand(else_branch.ty, no),
                before_comma: self.before_comma(&else_branch, no),
            };
            self.report_meeting(no.span, failure, meeting);
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
            self.match_pattern(&pattern, value.ty, Matched::Bound, binding.value.span);
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

    /// The type of what the `else` part of a conditional should have ended with, if it is a tuple that nobody has put in
    /// parentheses: `[if c then 1 else 2, 3]`.
    fn before_comma(&self, value: &Expr, source: &ast::Expr) -> Option<Resolved> {
        let (ast::ExprKind::Tuple(parts), ExprKind::Pair(first, _)) = (&source.kind, &value.kind) else { return None };
        let is_open = parts.first().is_some_and(|part| part.span.start == source.span.start);
        is_open.then(|| self.resolved(first.ty))
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
            let first = self.operand(ty, &elements[first]);
            let meeting = Meeting::Elements { first, other: self.operand(element.ty, source) };
            self.report_meeting(source.span, failure, meeting);
            ty = Types::ERROR;
            // One report per sequence says it all.
            break;
        }
        Expr { kind: ExprKind::Sequence(typed), ty: self.types.sequence(ty), span }
    }

    fn range(&mut self, span: Span, start: &ast::Expr, end: &ast::Expr, stride: Option<&ast::Expr>) -> Expr {
        let mut part = |expression: &ast::Expr, subject: Subject| {
            let typed = self.expression(expression);
            self.require(typed.ty, Types::INT, expression, subject);
            typed
        };
        let start = part(start, Subject::RangeStart);
        let end = part(end, Subject::RangeEnd);
        let stride = match stride {
            Some(stride) => part(stride, Subject::RangeStride),
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
            self.match_pattern(&pattern, element, Matched::Element, place);
            typed.push((pattern, sequence));
        }
        self.each_depth += 1;
        for ((pattern, _), source) in typed.iter().zip(sources) {
            self.enter(pattern);
            self.note_element(pattern, source);
        }
        let filter = filter.map(|filter| {
            let typed = self.expression(filter);
            self.require(typed.ty, Types::BOOL, filter, Subject::Filter);
            if let ExprKind::Literal(ScalarValue::Bool(keeps)) = typed.kind {
                self.report(filter.span, Warning::ConstantFilter(keeps));
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
        let (ty, writing) = (self.resolved(sequence.ty), Writing::Other);
        let source = Operand { span, ty, writing, is_element: false };
        self.report_meeting(span, failure, Meeting::Source(source));
        Types::ERROR
    }
}

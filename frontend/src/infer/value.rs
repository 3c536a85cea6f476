//! Functions as values: names of functions, lambdas, and their calls.

use super::expression::error;
use super::keyword::has_keywords;
use super::{CallPlace, Entity, Inference, LambdaScope, SeenCall, Target};
use crate::ast;
use crate::ast::Symbol;
use crate::core::VariableId;
use crate::diagnostic::Diagnostic;
use crate::ty::Class;
use crate::typed::types::{Key, Node, TypeId, Types};
use crate::typed::{Callee, Expr, ExprKind};
use nesl_prim::ScalarValue;
use nesl_span::Span;
use std::collections::HashMap;

impl Inference<'_> {
    /// A local variable where it is mentioned. Lambdas between its binding and here capture it.
    pub(super) fn local(&mut self, id: VariableId, ty: TypeId, span: Span) -> Expr {
        if self.reports_recursion(id, span) {
            return error(span);
        }
        self.used.insert(id);
        self.note_local(id, ty, span);
        for lambda in &mut self.lambdas {
            if id.0 < lambda.first && !lambda.captured.iter().any(|&(captured, _)| captured == id) {
                lambda.captured.push((id, ty));
            }
        }
        Expr { kind: ExprKind::Local(id), ty, span }
    }

    /// A function's name as a value. With keyword parameters, it is the function of the others.
    pub(super) fn function_value(&mut self, name: &str, target: Target, span: Span) -> Expr {
        self.calls.push(SeenCall { target, name: Symbol::from(name), span, place: CallPlace::Value });
        let instance = self.instance(target);
        self.note_function(target, (instance.parameter, instance.result), span);
        let mut parameter = instance.parameter;
        let mut callee = instance.callee;
        if let Some(keywords) = self.keywords_of(target) {
            let types = self.split(parameter, keywords.positional + keywords.parameters.len());
            let positional = types.into_iter().take(keywords.positional).rev();
            let all = positional.reduce(|rest, first| self.types.pair(first, rest));
            parameter = all.unwrap_or(if keywords.positional == 0 { Types::UNIT } else { Types::ERROR });
            let function = keywords.wrapper;
            callee = match callee {
                Callee::Instance { type_arguments, .. } => Callee::Instance { function, type_arguments },
                Callee::Group(form) | Callee::Within(_, form) => Callee::Within(function, form),
            };
        }
        let identity = match &callee {
            Callee::Instance { function, type_arguments } => {
                self.types.identity(Key::Known(*function), type_arguments, &[])
            }
            Callee::Group(form) => self.types.identity(Key::Group(*form), &[], &[]),
            Callee::Within(function, form) => self.types.identity(Key::Within(*function, *form), &[], &[]),
        };
        let ty = self.types.function(parameter, instance.result, identity);
        Expr { kind: ExprKind::Function(callee), ty, span }
    }

    /// `parameter => body`.
    pub(super) fn lambda(&mut self, span: Span, parameter: &ast::Pattern, body: &ast::Expr) -> Expr {
        self.lambda_on(span, parameter, body, None)
    }

    /// A lambda whose argument will be of this type, if it is known.
    pub(super) fn lambda_on(
        &mut self,
        span: Span,
        parameter: &ast::Pattern,
        body: &ast::Expr,
        argument: Option<TypeId>,
    ) -> Expr {
        let (line, column) = self.sources.line_column(span);
        let function = self.environment.reserve(format!("lambda at {line}:{column}").into(), span);
        self.environment.program.functions[function.0].parameters = super::pattern::parameter_texts(parameter);
        let first = self.environment.program.variables;
        self.lambdas.push(LambdaScope { first, captured: Vec::new() });
        let pattern = self.pattern(parameter, &mut HashMap::new());
        if let Some(argument) = argument {
            self.match_pattern(&pattern, argument, "an element of its sequence", parameter.span);
        }
        self.settle_annotations(None);
        self.enter(&pattern);
        let body = self.expression(body);
        self.leave(&pattern);
        let captured = self.lambdas.pop().map(|lambda| lambda.captured).unwrap_or_default();
        let types: Vec<TypeId> = captured.iter().map(|&(_, ty)| ty).collect();
        let identity = self.types.identity(Key::Within(function, self.form), &[], &types);
        let ty = self.types.function(pattern.ty, body.ty, identity);
        let (parameter, body) = (Box::new(pattern), Box::new(body));
        Expr { kind: ExprKind::Lambda { function, parameter, body, captured }, ty, span }
    }

    /// The call of what is not the name of a function.
    pub(super) fn apply(&mut self, span: Span, function: &ast::Expr, argument: &ast::Expr) -> Expr {
        let called = self.expression(function);
        if has_keywords(argument) && self.is_sound(called.ty) {
            let message = "only a function called by its name takes arguments by name";
            self.diagnostics.push(Diagnostic::error("E0225", message, argument.span));
            return error(span);
        }
        let before = self.diagnostics.len();
        let typed = self.expression(argument);
        let result = match self.types.node(called.ty) {
            Node::Error => {
                if self.begins_with_foreign_word(function) {
                    self.diagnostics.truncate(before);
                }
                return error(span);
            }
            Node::Function(parameter, result, identity) => {
                self.unknown.push((self.form, identity, function.span));
                if !self.match_argument((&called, function), (&typed, argument), parameter) {
                    let ty = if self.types.is_known(result) { result } else { Types::ERROR };
                    return Expr { kind: ExprKind::Error, ty, span };
                }
                result
            }
            Node::Variable(Class::Any) => {
                let result = self.fresh();
                let identity = self.fresh_identity();
                self.unknown.push((self.form, identity, function.span));
                let wanted = self.types.function(typed.ty, result, identity);
                if let Err(failure) = self.types.unify(called.ty, wanted) {
                    let report = self.class_report(failure, "this call", span);
                    self.diagnostics.extend(report);
                    return error(span);
                }
                result
            }
            _ => {
                let name = match &function.kind {
                    ast::ExprKind::Name(name) => Some(&**name),
                    _ => None,
                };
                self.report_not_a_function(name, &called, function.span, &typed, argument);
                return error(span);
            }
        };
        let kind = ExprKind::Apply { function: Box::new(called), argument: Box::new(typed) };
        Expr { kind, ty: result, span }
    }

    /// Makes the argument of a function value have the type of its parameter.
    fn match_argument(
        &mut self,
        (called, function): (&Expr, &ast::Expr),
        (typed, argument): (&Expr, &ast::Expr),
        parameter: TypeId,
    ) -> bool {
        let Err(failure) = self.types.unify(typed.ty, parameter) else { return true };
        let subject = match self.quote(function.span) {
            Some(text) => format!("`{text}`"),
            None => "this function".to_owned(),
        };
        let (wanted, given) = (self.types.describe(parameter), self.types.describe(typed.ty));
        let report = self.class_report(failure, &subject, argument.span).unwrap_or_else(|| {
            let message = format!("the argument of {subject} must be {wanted}, got {given}");
            Diagnostic::error("E0202", message, argument.span)
        });
        let mut report = report.saying(self.label(typed.ty)).also(function.span, self.label(called.ty));
        if report.hint.is_none() {
            report.hint = self.conversion_hint(typed.ty, parameter, argument);
        }
        self.diagnostics.push(report);
        false
    }

    fn report_not_a_function(
        &mut self,
        name: Option<&str>,
        called: &Expr,
        span: Span,
        argument: &Expr,
        argument_source: &ast::Expr,
    ) {
        // What cannot be read has been reported.
        if matches!(called.kind, ExprKind::Error) || matches!(argument_source.kind, ast::ExprKind::Error) {
            return;
        }
        let subject = name.map_or("this".to_owned(), |name| format!("`{name}`"));
        let described = self.types.describe(called.ty);
        let report = match self.types.node(called.ty) {
            Node::Error => return,
            Node::Sequence(_) if self.types.root(argument.ty) == Types::INT => {
                let message = format!("{subject} is not a function: it is of type {described}");
                let report = Diagnostic::error("E0204", message, span).saying("a sequence");
                match (self.quote(span), self.quote(argument_source.span)) {
                    (Some(sequence), Some(index)) => {
                        let index = index.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(index);
                        report.hint(format!("write {sequence}[{index}] for an element"))
                    }
                    _ => report.hint("write v[i] for an element"),
                }
            }
            _ => {
                let message = format!("{subject} is not a function: it is of type {described}");
                let report = Diagnostic::error("E0204", message, span);
                let hidden =
                    name.filter(|name| matches!(self.environment.library.get(*name), Some(Entity::Function(_))));
                match (hidden, &called.kind, &argument_source.kind) {
                    (Some(name), ..) => {
                        report.hint(format!("this value hides the library's `{name}`: give it another name"))
                    }
                    (None, ExprKind::Literal(ScalarValue::Bool(value)), _) => {
                        let (letter, meaning) = if *value { ("t", "true") } else { ("f", "false") };
                        report.hint(format!("`{letter}` is the truth value {meaning}, and cannot name a function"))
                    }
                    // `p.0` is read as `p` before the number `.0`.
                    (None, _, ast::ExprKind::Literal(ScalarValue::Float(_)))
                        if self.sources.text(argument_source.span).starts_with('.') =>
                    {
                        report.hint("there are no fields: a tuple is taken apart by a pattern, let (a, b) = … in …")
                    }
                    (None, _, ast::ExprKind::Name(function)) if self.is_function_name(argument_source) => {
                        report.hint(format!("a function stands before its arguments: {function}(…)"))
                    }
                    _ => report,
                }
            }
        };
        let between = Span { start: span.end, end: argument_source.span.start, ..span };
        let report = match span.end < argument_source.span.start && self.sources.text(between).contains('\n') {
            true => report.hint("if a new form begins on the next line, end the one before with `;`"),
            false => report,
        };
        self.diagnostics.push(report);
    }
}

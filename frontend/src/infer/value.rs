//! Functions as values: names of functions, lambdas, and their calls.

use super::expression::error;
use super::keyword::has_keywords;
use super::problem::calls::CallProblem;
use super::problem::meeting::{Matched, Meeting};
use super::{CallPlace, Entity, Inference, LambdaScope, SeenCall, Target};
use crate::ast;
use crate::ast::Symbol;
use crate::core::VariableId;
use crate::ty::Class;
use crate::typed::types::{Key, Node, TypeId, Types};
use crate::typed::{Callee, Expr, ExprKind};
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
        let (line, column) = self.writing.sources().line_column(span);
        let function = self.environment.reserve(format!("lambda at {line}:{column}").into(), span);
        self.environment.program.functions[function.0].parameters = super::pattern::parameter_texts(parameter);
        let first = self.environment.program.variables;
        self.lambdas.push(LambdaScope { first, captured: Vec::new() });
        let pattern = self.pattern(parameter, &mut HashMap::new());
        if let Some(argument) = argument {
            self.match_pattern(&pattern, argument, Matched::Element, parameter.span);
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
            self.report(argument.span, CallProblem::ByNameToValue);
            return error(span);
        }
        let typed = self.expression(argument);
        let result = match self.types.node(called.ty) {
            Node::Error => {
                self.note_argument(function, argument.span);
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
                    self.report_meeting(span, failure, Meeting::Call);
                    return error(span);
                }
                result
            }
            _ => {
                self.report_not_a_function((&called, function), (&typed, argument));
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
        let (function, wanted) = (Box::new(self.operand(called.ty, function)), self.resolved(parameter));
        let operand = Box::new(self.operand(typed.ty, argument));
        self.report_meeting(argument.span, failure, Meeting::Applied { function, argument: operand, wanted });
        false
    }

    fn report_not_a_function(
        &mut self,
        (called, function): (&Expr, &ast::Expr),
        (typed, argument): (&Expr, &ast::Expr),
    ) {
        // What cannot be read has been reported.
        if matches!(called.kind, ExprKind::Error) || matches!(argument.kind, ast::ExprKind::Error) {
            return;
        }
        let name = match &function.kind {
            ast::ExprKind::Name(name) => Some(name.clone()),
            _ => None,
        };
        let of_library = name.as_ref().and_then(|name| self.environment.library.get(name));
        let problem = CallProblem::NotAFunction {
            name,
            called: Box::new(self.operand(called.ty, function)),
            is_hiding: matches!(of_library, Some(Entity::Function(_))),
            argument: Box::new(self.operand(typed.ty, argument)),
            is_before_function: self.is_function_name(argument),
        };
        self.report(function.span, problem);
    }
}

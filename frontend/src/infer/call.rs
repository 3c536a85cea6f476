//! Calls of named functions, operators and indexing.

use super::arguments::Misfit;
use super::expression::error;
use super::keyword::has_keywords;
use super::problem::calls::CallProblem;
use super::problem::meeting::{Conflict, Meeting, Subject};
use super::problem::names::NameProblem;
use super::problem::{Juxtaposition, Problem};
use super::{CallPlace, Inference, Instance, Meaning, SeenCall, Target};
use crate::ast;
use crate::ast::{BinaryOp, Symbol, UnaryOp};
use crate::ty::Class;
use crate::typed::types::{Node, Types};
use crate::typed::{Callee, Expr, ExprKind};
use nesl_span::Span;

impl Inference<'_> {
    /// `function argument`.
    pub(super) fn call(&mut self, span: Span, function: &ast::Expr, argument: &ast::Expr) -> Expr {
        let ast::ExprKind::Name(name) = &function.kind else {
            let before = self.findings.len();
            let applied = self.apply(span, function, argument);
            let juxtaposition = self.juxtaposition(function, argument);
            if let Some(finding) = self.findings.get_mut(before).filter(|finding| finding.problem.is_error()) {
                finding.juxtaposition = finding.juxtaposition.or(juxtaposition);
            }
            return applied;
        };
        let target = match self.meaning(name) {
            Meaning::Function(target) => target,
            Meaning::Unknown => {
                self.expression(argument);
                self.report_unknown(name, function.span, Some(argument.span));
                return error(span);
            }
            Meaning::Broken => {
                self.expression(argument);
                return error(span);
            }
            Meaning::Local(..) | Meaning::Global(_) => return self.apply(span, function, argument),
        };
        if has_keywords(argument) || self.keywords_of(target).is_some() {
            return self.keyword_call(span, (name, function.span), target, argument);
        }
        let typed = self.expression(argument);
        let instance = self.use_function(target, name, function.span);
        let Err(failure) = self.types.unify(typed.ty, instance.parameter) else {
            return self.finish(instance, typed, span);
        };
        let (argument, source) = (&typed, argument);
        let call = Misfit { name, name_span: function.span, target, instance: &instance, argument, source };
        self.report_arguments(failure, &call, None);
        self.failed(&instance, span)
    }

    /// `f g(x)`, which calls what `f g` gives.
    fn juxtaposition(&self, function: &ast::Expr, argument: &ast::Expr) -> Option<Juxtaposition> {
        let ast::ExprKind::Call { function: outer, argument: inner } = &function.kind else { return None };
        let is_of_names = self.is_function_name(outer) && self.is_function_name(inner);
        is_of_names.then_some(Juxtaposition { outer: outer.span, inner: inner.span, argument: argument.span })
    }

    /// The call of an instance with an argument that fits. That of a constructor is the record.
    pub(super) fn finish(&self, instance: Instance, argument: Expr, span: Span) -> Expr {
        let argument = Box::new(argument);
        let kind = match &instance.callee {
            Callee::Instance { function, .. } if self.environment.constructors.contains(function) => {
                ExprKind::Construct(argument)
            }
            _ => ExprKind::Call { callee: instance.callee, argument },
        };
        Expr { kind, ty: instance.result, span }
    }

    /// A call of a library function that syntax stands for, with parts whose types have been required already.
    pub(super) fn library_call(&mut self, name: &str, parts: Vec<Expr>, span: Span) -> Expr {
        let argument = self.tuple(parts, span);
        let Meaning::Function(target) = self.library_function(name) else {
            assert_defined(&self.library_function(name), name);
            return error(span);
        };
        let instance = self.use_function(target, name, span);
        match self.types.unify(argument.ty, instance.parameter) {
            Ok(()) => self.finish(instance, argument, span),
            Err(_) => self.failed(&instance, span),
        }
    }

    /// An instance of a function for a call at this place.
    pub(super) fn use_function(&mut self, target: Target, name: &str, span: Span) -> Instance {
        let place = match (self.lambdas.is_empty(), self.each_depth) {
            (false, _) => CallPlace::Lambda,
            (true, 0) => CallPlace::Plain,
            (true, _) => CallPlace::Each,
        };
        self.calls.push(SeenCall { target, name: Symbol::from(name), span, place });
        let instance = self.instance(target);
        self.note_function(target, (instance.parameter, instance.result), span);
        if let (Target::Known(id), Callee::Instance { type_arguments, .. }) = (target, &instance.callee) {
            let classes = &self.environment.program.functions[id.0].scheme.classes;
            let functions = type_arguments.iter().zip(classes).filter(|(_, class)| **class == Class::Function);
            self.unknown.extend(functions.map(|(&argument, _)| (self.form, argument, span)));
        }
        // The library's comparisons accept any type but functions.
        if let ("==" | "/=", Target::Known(id)) = (name, target)
            && matches!(self.library_function(name), Meaning::Function(Target::Known(own)) if own == id)
            && let Callee::Instance { type_arguments, .. } = &instance.callee
        {
            self.compared.extend(type_arguments.first().map(|&operand| (operand, span)));
        }
        instance
    }

    /// What a reported call stands for: its result's type if that does not depend on the arguments.
    pub(super) fn failed(&self, instance: &Instance, span: Span) -> Expr {
        let ty = if self.types.is_known(instance.result) { instance.result } else { Types::ERROR };
        Expr { kind: ExprKind::Error, ty, span }
    }

    /// `sequence[index]`.
    pub(super) fn index(&mut self, span: Span, sequence: &ast::Expr, index: &ast::Expr) -> Expr {
        if let ast::ExprKind::Name(name) = &sequence.kind
            && self.is_function_name(sequence)
        {
            self.expression(index);
            self.report(span, CallProblem::ElementOfFunction { name: name.clone(), index: index.span });
            return error(span);
        }
        let vector = self.expression(sequence);
        let element = self.fresh();
        let wanted = self.types.sequence(element);
        let mut sound = true;
        if let Err(failure) = self.types.unify(vector.ty, wanted) {
            let is_literal = matches!(index.kind, ast::ExprKind::Literal(_));
            let sequence_operand = self.typed_operand(&vector, sequence);
            let meeting = Meeting::Indexed { sequence: sequence_operand, is_literal };
            self.report_meeting(sequence.span, failure, meeting);
            sound = false;
        }
        let position = self.expression(index);
        sound &= self.require(position.ty, Types::INT, index, Subject::Index);
        if sound { self.library_call("elt", vec![vector, position], span) } else { error(span) }
    }

    /// `op operand`.
    pub(super) fn unary(&mut self, span: Span, op: UnaryOp, op_span: Span, operand: &ast::Expr) -> Expr {
        if op == UnaryOp::Negate {
            self.warn_negated_power(span, operand);
        }
        let typed = self.expression(operand);
        let name = op.function();
        let target = match self.library_function(name) {
            Meaning::Function(target) => target,
            meaning => {
                assert_defined(&meaning, name);
                return error(span);
            }
        };
        let instance = self.use_function(target, name, op_span);
        if op == UnaryOp::Length
            && let Node::Scalar(_) | Node::Pair(..) = self.types.node(typed.ty)
        {
            let counted = Meeting::Counted(self.typed_operand(&typed, operand));
            self.report(operand.span, Problem::Meeting(Conflict::Shape, counted));
            return self.failed(&instance, span);
        }
        if self.require(typed.ty, instance.parameter, operand, Subject::Operator(op)) {
            return self.finish(instance, typed, span);
        }
        self.failed(&instance, span)
    }

    /// `left op right`.
    pub(super) fn binary(
        &mut self,
        span: Span,
        op: BinaryOp,
        op_span: Span,
        left: &ast::Expr,
        right: &ast::Expr,
    ) -> Expr {
        if let (BinaryOp::Subtract, ast::ExprKind::Name(name)) = (op, &left.kind)
            && self.is_function_name(left)
        {
            self.expression(right);
            let problem = CallProblem::SubtractedFrom { name: name.clone(), operand: right.span };
            self.report(left.span.to(op_span), problem);
            return error(span);
        }
        if let (BinaryOp::Read, ast::ExprKind::Name(name)) = (op, &left.kind)
            && matches!(self.meaning(name), Meaning::Unknown)
            && !self.unreadable
        {
            self.report(left.span, NameProblem::UnknownBeforeRead(name.clone()));
            return error(span);
        }
        if op == BinaryOp::Power {
            self.warn_power_of_power(span, left, right);
        }
        let parts = (self.expression(left), self.expression(right));
        let name = op.function();
        let target = match self.meaning(name) {
            Meaning::Function(target) => target,
            meaning => {
                assert_defined(&meaning, name);
                return error(span);
            }
        };
        let instance = self.use_function(target, name, op_span);
        let argument = self.tuple(vec![parts.0, parts.1], span);
        if self.types.unify(argument.ty, instance.parameter).is_ok() {
            return self.finish(instance, argument, span);
        }
        self.report_operands(name, op_span, &instance, &argument, (left, right));
        self.failed(&instance, span)
    }
}

/// The library defines every function that syntax stands for; what a program defines in its place may have been
/// unreadable.
fn assert_defined(meaning: &Meaning, name: &str) {
    assert!(!matches!(meaning, Meaning::Unknown), "the library does not define `{name}`, which syntax stands for");
}

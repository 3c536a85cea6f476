//! Calls, operators and indexing, and the reports about arguments that do not fit.

use super::expression::error;
use super::typed::{Expr, ExprKind};
use super::types::{Failure, Names, Node, TypeId, Types};
use super::{Inference, Instance, Meaning, SeenCall, Target};
use crate::ast;
use crate::ast::{BinaryOp, Symbol, UnaryOp};
use crate::diagnostic::Diagnostic;
use nesl_span::Span;

/// Words for numbers of arguments.
fn arguments(count: usize) -> String {
    if count == 1 { "1 argument".to_owned() } else { format!("{count} arguments") }
}

impl Inference<'_> {
    /// `function argument`.
    pub(super) fn call(&mut self, span: Span, function: &ast::Expr, argument: &ast::Expr) -> Expr {
        let ast::ExprKind::Name(name) = &function.kind else {
            let called = self.expression(function);
            let typed = self.expression(argument);
            self.report_not_a_function(None, &called, function.span, &typed, argument);
            return error(span);
        };
        let target = match self.meaning(name) {
            Meaning::Function(target) => target,
            Meaning::Unknown => {
                self.expression(argument);
                self.report_unknown(name, function.span, true);
                return error(span);
            }
            Meaning::Broken => {
                self.expression(argument);
                return error(span);
            }
            Meaning::Local(..) | Meaning::Global(_) => {
                let called = self.expression(function);
                let typed = self.expression(argument);
                self.report_not_a_function(Some(name), &called, function.span, &typed, argument);
                return error(span);
            }
        };
        let typed = self.expression(argument);
        let instance = self.use_function(target, name, function.span);
        let Err(failure) = self.types.unify(typed.ty, instance.parameter) else {
            return finish(instance, typed, span);
        };
        self.report_arguments(failure, name, function.span, target, &instance, &typed, argument);
        self.failed(&instance, span)
    }

    /// A call of a library function that syntax stands for, with parts whose types have been required already.
    pub(super) fn library_call(&mut self, name: &str, parts: Vec<Expr>, span: Span) -> Expr {
        let argument = self.tuple(parts, span);
        let Meaning::Function(target) = self.library_function(name) else {
            if matches!(self.library_function(name), Meaning::Unknown) {
                self.report_missing(name, span);
            }
            return error(span);
        };
        let instance = self.use_function(target, name, span);
        match self.types.unify(argument.ty, instance.parameter) {
            Ok(()) => finish(instance, argument, span),
            Err(_) => self.failed(&instance, span),
        }
    }

    /// An instance of a function for a call at this place.
    fn use_function(&mut self, target: Target, name: &str, span: Span) -> Instance {
        let in_each = self.each_depth > 0;
        self.calls.push(SeenCall { target, name: Symbol::from(name), span, in_each });
        self.instance(target)
    }

    /// What a reported call stands for: its result's type if that does not depend on the arguments.
    fn failed(&self, instance: &Instance, span: Span) -> Expr {
        let ty = if self.types.is_known(instance.result) { instance.result } else { Types::ERROR };
        Expr { kind: ExprKind::Error, ty, span }
    }

    fn report_missing(&mut self, name: &str, span: Span) {
        self.diagnostics.push(Diagnostic::error("E0220", format!("`{name}` is not part of the library yet"), span));
    }

    fn report_not_a_function(
        &mut self,
        name: Option<&str>,
        called: &Expr,
        span: Span,
        argument: &Expr,
        argument_source: &ast::Expr,
    ) {
        if matches!(called.kind, ExprKind::Error) {
            return;
        }
        let subject = name.map_or("this".to_owned(), |name| format!("`{name}`"));
        let described = self.types.describe(called.ty);
        let report = match self.types.node(called.ty) {
            Node::Error => return,
            Node::Variable(_) => {
                let message = "functions as values are not part of the language yet";
                Diagnostic::error("E0220", message, span).saying(format!("{subject} is called like a function"))
            }
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
                Diagnostic::error("E0204", message, span)
            }
        };
        self.diagnostics.push(report);
    }

    /// `sequence[index]`.
    pub(super) fn index(&mut self, span: Span, sequence: &ast::Expr, index: &ast::Expr) -> Expr {
        if let ast::ExprKind::Name(name) = &sequence.kind
            && self.is_function_name(sequence)
        {
            self.expression(index);
            let message = format!("`{name}` is a function and has no elements");
            let report = Diagnostic::error("E0204", message, span).saying("read as the element of a sequence");
            let elements = self.quote(index.span).unwrap_or("…").to_owned();
            self.diagnostics.push(report.hint(format!("write {name}([{elements}])")));
            return error(span);
        }
        let vector = self.expression(sequence);
        let element = self.fresh();
        let wanted = self.types.sequence(element);
        let mut sound = true;
        if let Err(failure) = self.types.unify(vector.ty, wanted) {
            let described = self.types.describe(vector.ty);
            let report = self.class_report(failure, "an element reference", sequence.span).unwrap_or_else(|| {
                Diagnostic::error("E0202", format!("only sequences have elements, this is {described}"), sequence.span)
            });
            let label = self.types.label(vector.ty);
            self.diagnostics.push(report.saying(label));
            sound = false;
        }
        let position = self.expression(index);
        sound &= self.require(position.ty, Types::INT, index, "an index");
        if sound { self.library_call("elt", vec![vector, position], span) } else { error(span) }
    }

    /// `op operand`.
    pub(super) fn unary(&mut self, span: Span, op: UnaryOp, op_span: Span, operand: &ast::Expr) -> Expr {
        let typed = self.expression(operand);
        let name = op.function();
        let target = match self.library_function(name) {
            Meaning::Function(target) => target,
            meaning => {
                if matches!(meaning, Meaning::Unknown) {
                    self.report_missing(name, op_span);
                }
                return error(span);
            }
        };
        let instance = self.use_function(target, name, op_span);
        let token = match op {
            UnaryOp::Negate => "`-`",
            UnaryOp::Length => "`#`",
            UnaryOp::String => "`@`",
        };
        if op == UnaryOp::Length
            && let Node::Scalar(_) | Node::Pair(..) = self.types.node(typed.ty)
        {
            let described = self.types.describe(typed.ty);
            let message = format!("`#` counts the elements of a sequence, got {described}");
            self.diagnostics
                .push(Diagnostic::error("E0202", message, operand.span).saying(format!("of type {described}")));
            return self.failed(&instance, span);
        }
        if self.require(typed.ty, instance.parameter, operand, token) {
            return finish(instance, typed, span);
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
            let message = format!("`{name}` is a function, and this subtracts from it");
            let report = Diagnostic::error("E0204", message, left.span.to(op_span)).saying("read as a subtraction");
            let operand = self.quote(right.span).unwrap_or("…").to_owned();
            self.diagnostics.push(report.hint(format!("write {name}(-{operand})")));
            return error(span);
        }
        let parts = (self.expression(left), self.expression(right));
        let name = op.function();
        let target = match self.meaning(name) {
            Meaning::Function(target) => target,
            meaning => {
                if matches!(meaning, Meaning::Unknown) {
                    self.report_missing(name, op_span);
                }
                return error(span);
            }
        };
        let instance = self.use_function(target, name, op_span);
        let argument = self.tuple(vec![parts.0, parts.1], span);
        if self.types.unify(argument.ty, instance.parameter).is_ok() {
            return finish(instance, argument, span);
        }
        self.report_operands(name, op_span, &instance, &argument, (left, right));
        self.failed(&instance, span)
    }

    fn report_operands(
        &mut self,
        op: &str,
        op_span: Span,
        instance: &Instance,
        argument: &Expr,
        sources: (&ast::Expr, &ast::Expr),
    ) {
        let (Node::Pair(left, right), Node::Pair(want_left, want_right)) =
            (self.types.node(argument.ty), self.types.node(instance.parameter))
        else {
            // Only a user's redefinition of an operator has another parameter.
            let wanted = self.types.describe(instance.parameter);
            let message = format!("`{op}` takes {wanted}, not two operands");
            self.diagnostics.push(Diagnostic::error("E0202", message, op_span));
            return;
        };
        let described = (self.types.describe(left), self.types.describe(right));
        let mark = self.types.mark();
        let same = self.types.root(want_left) == self.types.root(want_right);
        let first = self.types.unify(left, want_left);
        let (failure, is_left) = match first {
            Err(failure) => (failure, true),
            Ok(()) => match self.types.unify(right, want_right) {
                Err(failure) => (failure, false),
                Ok(()) => (Failure::Infinite, false),
            },
        };
        let subject = format!("`{op}`");
        let (here, there) = if is_left { (sources.0, sources.1) } else { (sources.1, sources.0) };
        let class_report = self.class_report(failure, &subject, here.span);
        let mut report = class_report.unwrap_or_else(|| {
            let message = if same || (!is_left && op == "++") {
                format!("`{op}` needs two operands of the same type, got {} and {}", described.0, described.1)
            } else {
                let (side, wanted) = if is_left { ("left", want_left) } else { ("right", want_right) };
                let given = if is_left { &described.0 } else { &described.1 };
                format!("the {side} operand of `{op}` must be {}, got {given}", self.types.describe(wanted))
            };
            Diagnostic::error("E0202", message, here.span)
        });
        self.types.rollback(mark);
        let labels = (self.types.label(left), self.types.label(right));
        let (here_type, there_type) = if is_left { labels } else { (labels.1, labels.0) };
        report = report.saying(here_type).also(there.span, there_type);
        if report.hint.is_none() {
            let is_sequence = |ty| matches!(self.types.node(ty), Node::Sequence(_));
            report.hint = match op {
                "+" if is_sequence(left) && is_sequence(right) => Some("write ++ to join sequences".to_owned()),
                "^" => Some("expt(a, b) takes the power of floats".to_owned()).filter(|_| !is_left),
                _ if same => self.mixing_hint((left, sources.0), (right, sources.1)),
                _ => None,
            };
        }
        self.diagnostics.push(report);
    }

    #[allow(clippy::too_many_arguments, reason = "the call, its function and its argument, each as text and as types")]
    fn report_arguments(
        &mut self,
        failure: Failure,
        name: &str,
        name_span: Span,
        target: Target,
        instance: &Instance,
        argument: &Expr,
        source: &ast::Expr,
    ) {
        let parameters = self.parameters_of(target);
        let definition = self.definition_span(target);
        let sources: Vec<&ast::Expr> = match &source.kind {
            ast::ExprKind::Tuple(parts) => parts.iter().collect(),
            _ => vec![source],
        };
        let with_definition = |report: Diagnostic| match definition {
            Some(span) => report.also(span, "defined here"),
            None => report,
        };
        let is_one_value = match self.types.node(argument.ty) {
            Node::Scalar(_) | Node::Sequence(_) => true,
            Node::Pair(..) => sources.len() > 1,
            _ => false,
        };
        if is_one_value && failure == Failure::Shape && sources.len() != parameters.len() {
            let message = format!(
                "`{name}` takes {} ({}), got {}",
                arguments(parameters.len()),
                parameters.join(", "),
                sources.len()
            );
            let mut names = Names::default();
            let wanted = self.types.show(instance.parameter, &mut names);
            let wanted = wanted + &self.types.constraints(&names);
            let report = Diagnostic::error("E0213", message, source.span).saying(self.types.label(argument.ty));
            self.diagnostics.push(with_definition(report.also(name_span, format!("needs {wanted}"))));
            return;
        }
        let count = if sources.len() == parameters.len() { sources.len() } else { 1 };
        let wanted_parts = self.split(instance.parameter, count);
        let given_parts: Vec<TypeId> = argument.parts(count).iter().map(|part| part.ty).collect();
        let variables = self.variable_roots(&wanted_parts);
        let mark = self.types.mark();
        for index in 0..count.min(wanted_parts.len()).min(given_parts.len()) {
            let (given, wanted) = (given_parts[index], wanted_parts[index]);
            let Err(failure) = self.types.unify(given, wanted) else { continue };
            let place = if count == 1 { source } else { sources[index] };
            let report = self.class_report(failure, &format!("`{name}`"), place.span).unwrap_or_else(|| {
                let subject = match parameters.get(index) {
                    Some(parameter) if count > 1 => format!("argument {} (`{parameter}`) of `{name}`", index + 1),
                    _ => format!("the argument of `{name}`"),
                };
                let mut names = Names::default();
                let wanted_text = self.types.show(wanted, &mut names);
                let given_text = self.types.show(given, &mut names);
                let constraints = self.types.constraints(&names);
                let message = format!("{subject} must be {wanted_text}, got {given_text}{constraints}");
                let mut report = Diagnostic::error("E0202", message, place.span);
                // Two arguments of one type: either may be the one to change.
                let twin = (0..index).find(|&other| variables[other].is_some() && variables[other] == variables[index]);
                report.hint = match twin {
                    Some(twin) => self.mixing_hint((given_parts[twin], sources[twin]), (given, place)),
                    None => self.conversion_hint(given, wanted, place),
                };
                report
            });
            self.types.rollback(mark);
            let mut report = report.saying(self.types.label(given));
            if let ([first, second], [one, other]) = (&sources[..], &given_parts[..])
                && report.hint.is_none()
                && self.fits_swapped((*one, *other), instance.parameter)
                && let (Some(first), Some(second)) = (self.quote(first.span), self.quote(second.span))
            {
                report = report.hint(format!("the other way round: {name}({second}, {first})"));
            }
            let wanted = self.types.describe(instance.parameter);
            let report = report.also(name_span, format!("needs {wanted}"));
            self.diagnostics.push(with_definition(report));
            return;
        }
        // Every part fits alone: the whole does not, because two parts share a variable inside a tuple.
        self.types.rollback(mark);
        let (wanted, given) = (self.types.describe(instance.parameter), self.types.describe(argument.ty));
        let report = Diagnostic::error("E0202", format!("`{name}` needs {wanted}, got {given}"), source.span);
        self.diagnostics.push(with_definition(report.also(name_span, format!("needs {wanted}"))));
    }

    /// Those of the types that are variables.
    fn variable_roots(&self, parts: &[TypeId]) -> Vec<Option<TypeId>> {
        let is_variable = |part: TypeId| matches!(self.types.node(part), Node::Variable(_));
        parts.iter().map(|&part| is_variable(part).then(|| self.types.root(part))).collect()
    }

    /// Whether two arguments would fit in the other order.
    fn fits_swapped(&mut self, parts: (TypeId, TypeId), parameter: TypeId) -> bool {
        let mark = self.types.mark();
        let swapped = self.types.pair(parts.1, parts.0);
        let fits = self.types.unify(swapped, parameter).is_ok();
        self.types.rollback(mark);
        fits
    }

    /// The first `count` parts of a right-nested pair type, the last one with all that follows.
    fn split(&self, mut ty: TypeId, count: usize) -> Vec<TypeId> {
        let mut parts = Vec::new();
        while parts.len() + 1 < count
            && let Node::Pair(first, rest) = self.types.node(ty)
        {
            parts.push(first);
            ty = rest;
        }
        parts.push(ty);
        parts
    }
}

fn finish(instance: Instance, argument: Expr, span: Span) -> Expr {
    let kind = ExprKind::Call { callee: instance.callee, argument: Box::new(argument) };
    Expr { kind, ty: instance.result, span }
}

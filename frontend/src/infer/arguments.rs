//! Reports about arguments and operands that do not fit.

use super::show::Names;
use super::{Inference, Instance, Target};
use crate::ast;
use crate::diagnostic::Diagnostic;
use crate::typed::types::{Failure, Node, TypeId};
use crate::typed::{Callee, Expr};
use nesl_span::Span;

/// Words for numbers of arguments.
pub(super) fn arguments(count: usize) -> String {
    match count {
        0 => "no arguments".to_owned(),
        1 => "1 argument".to_owned(),
        _ => format!("{count} arguments"),
    }
}

impl Inference<'_> {
    /// Reports operands that do not fit an operator.
    pub(super) fn report_operands(
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
        let is_single = op == "++" && !matches!(self.types.node(if is_left { left } else { right }), Node::Sequence(_));
        let mut report = class_report.unwrap_or_else(|| {
            let message = if is_single {
                format!("`++` joins sequences, got {}", if is_left { &described.0 } else { &described.1 })
            } else if same || (!is_left && op == "++") {
                format!("`{op}` needs two operands of the same type, got {} and {}", described.0, described.1)
            } else {
                let (side, wanted) = if is_left { ("left", want_left) } else { ("right", want_right) };
                let given = if is_left { &described.0 } else { &described.1 };
                format!("the {side} operand of `{op}` must be {}, got {given}", self.types.describe(wanted))
            };
            Diagnostic::error("E0202", message, here.span)
        });
        self.types.rollback(mark);
        let labels = (self.label(left), self.label(right));
        let (here_type, there_type) = if is_left { labels } else { (labels.1, labels.0) };
        report = report.saying(here_type).also(there.span, there_type);
        if report.hint.is_none() {
            let own = self.operand_hint(op, (left, right), sources);
            report.hint = own.or_else(|| match op {
                _ if is_single => Some("a sequence of one element is written [x]".to_owned()),
                "^" => Some("expt(a, b) takes the power of floats".to_owned()).filter(|_| !is_left),
                _ if same => self.mixing_hint((left, sources.0), (right, sources.1)),
                _ => None,
            });
        }
        self.diagnostics.push(report);
    }

    /// Reports an argument that does not fit a named function.
    #[allow(clippy::too_many_arguments, reason = "the call, its function and its argument, each as text and as types")]
    pub(super) fn report_arguments(
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
        let is_constructor = matches!(&instance.callee, Callee::Instance { function, .. }
            if self.environment.constructors.contains(function));
        let sources: Vec<&ast::Expr> = match &source.kind {
            ast::ExprKind::Unit => Vec::new(),
            ast::ExprKind::Tuple(parts) => parts.iter().collect(),
            _ => vec![source],
        };
        let with_definition = |report: Diagnostic| match definition {
            Some(span) => report.also(span, "defined here"),
            None => report,
        };
        let is_one_value = match self.types.node(argument.ty) {
            Node::Scalar(_) | Node::Unit | Node::Sequence(_) => true,
            Node::Pair(..) => sources.len() > 1,
            _ => false,
        };
        if is_one_value && failure == Failure::Shape && sources.len() != parameters.len() {
            let names = if parameters.is_empty() { String::new() } else { format!(" ({})", parameters.join(", ")) };
            let message = format!("`{name}` takes {}{names}, got {}", arguments(parameters.len()), sources.len());
            let mut names = Names::default();
            let wanted = self.types.show(instance.parameter, &mut names);
            let wanted = wanted + &self.types.constraints(&names);
            let mut report = Diagnostic::error("E0213", message, source.span).saying(self.label(argument.ty));
            report.hint = self.count_hint(name, instance.parameter, argument, source);
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
                    Some(_) if count > 1 && is_constructor => format!("part {} of `{name}`", index + 1),
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
                // One before may be the one to change, whose elements have said what is wanted.
                let mut before = given_parts.iter().zip(&sources).take(index);
                let changed = || before.find_map(|(&other, source)| self.elements_hint(other, given, source));
                report.hint = report.hint.or_else(changed);
                report
            });
            // What the arguments before have said of the types counts here, too.
            let own = self.argument_hint(name, (given, wanted), place, count == 1);
            self.types.rollback(mark);
            let mut report = report.saying(self.label(given));
            if let (None, Node::Sequence(_), Some(part)) =
                (&report.hint, self.types.node(wanted), argument.parts(count).get(index))
            {
                report.hint = self.element_hint(part);
            }
            report.hint = report.hint.or(own);
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
    pub(super) fn split(&self, mut ty: TypeId, count: usize) -> Vec<TypeId> {
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

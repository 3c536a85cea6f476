//! Arguments and operands that do not fit: which of them, and what would have fitted.

use super::problem::Problem;
use super::problem::calls::CallProblem;
use super::problem::meeting::{Argument, Called, Conflict, Meeting};
use super::problem::types::Operand;
use super::{Inference, Instance, Target};
use crate::ast::{Expr, ExprKind, Symbol};
use crate::typed;
use crate::typed::Callee;
use crate::typed::types::{Failure, Node, TypeId};
use nesl_span::Span;

/// The call of a named function whose argument does not fit.
pub(super) struct Misfit<'c> {
    /// Its name in the call.
    pub name: &'c str,
    /// Where that stands.
    pub name_span: Span,
    /// The function.
    pub target: Target,
    /// The function at this call.
    pub instance: &'c Instance,
    /// The argument.
    pub argument: &'c typed::Expr,
    /// The argument as it is written.
    pub source: &'c Expr,
}

impl Inference<'_> {
    /// Reports operands that do not fit an operator.
    pub(super) fn report_operands(
        &mut self,
        op: &str,
        op_span: Span,
        instance: &Instance,
        argument: &typed::Expr,
        sources: (&Expr, &Expr),
    ) {
        let operator = Symbol::from(op);
        let (Node::Pair(left, right), Node::Pair(want_left, want_right)) =
            (self.types.node(argument.ty), self.types.node(instance.parameter))
        else {
            // Only a user's redefinition of an operator has another parameter.
            let wanted = self.resolved(instance.parameter);
            self.report(op_span, CallProblem::NotTwoOperands { operator, wanted });
            return;
        };
        let operands = (Box::new(self.operand(left, sources.0)), Box::new(self.operand(right, sources.1)));
        let wants_same = self.types.root(want_left) == self.types.root(want_right);
        let mark = self.types.mark();
        let first = self.types.unify(left, want_left);
        let (failure, is_left) = match first {
            Err(failure) => (failure, true),
            Ok(()) => match self.types.unify(right, want_right) {
                Err(failure) => (failure, false),
                Ok(()) => (Failure::Infinite, false),
            },
        };
        let wanted = self.resolved(if is_left { want_left } else { want_right });
        let place = if is_left { sources.0.span } else { sources.1.span };
        let (left, right) = operands;
        self.report_meeting(place, failure, Meeting::Operands { operator, left, right, is_left, wanted, wants_same });
        self.types.rollback(mark);
    }

    /// Reports an argument that does not fit a named function. `keyword` is the first of its parameters that are passed
    /// by name, where that is to be said if there are too many arguments.
    pub(super) fn report_arguments(&mut self, failure: Failure, call: &Misfit<'_>, keyword: Option<&Symbol>) {
        let Misfit { instance, argument, source, .. } = *call;
        let parameters = self.parameters_of(call.target);
        let sources: Vec<&Expr> = match &source.kind {
            ExprKind::Unit => Vec::new(),
            ExprKind::Tuple(parts) => parts.iter().collect(),
            _ => vec![source],
        };
        let function = Called {
            name: Symbol::from(call.name),
            span: call.name_span,
            defined: self.definition_span(call.target),
            parameter: self.resolved(instance.parameter),
        };
        let is_one_value = match self.types.node(argument.ty) {
            Node::Scalar(_) | Node::Unit | Node::Sequence(_) => true,
            Node::Pair(..) => sources.len() > 1,
            _ => false,
        };
        if is_one_value && failure == Failure::Shape && sources.len() != parameters.len() {
            let argument = Box::new(self.typed_operand(argument, source));
            let (count, keyword) = (sources.len(), keyword.cloned());
            self.report(source.span, CallProblem::Count { function, parameters, count, argument, keyword });
            return;
        }
        match self.misfit(call, &parameters, &sources, &function) {
            Some((conflict, argument)) => {
                let span = argument.given.span;
                let meeting = Meeting::Argument(Box::new(argument));
                self.report(span, Problem::Meeting(conflict, meeting));
            }
            // Every part fits alone: the whole does not, because two parts share a variable inside a tuple.
            None => {
                let given = self.resolved(argument.ty);
                let together = Meeting::Arguments { function, given };
                self.report(source.span, Problem::Meeting(Conflict::Shape, together));
            }
        }
    }

    /// The first argument that does not fit beside those before it, and why.
    fn misfit(
        &mut self,
        call: &Misfit<'_>,
        parameters: &[String],
        sources: &[&Expr],
        function: &Called,
    ) -> Option<(Conflict, Argument)> {
        let Misfit { instance, argument, source, .. } = *call;
        let is_constructor = matches!(&instance.callee, Callee::Instance { function, .. }
            if self.environment.constructors.contains(function));
        let count = if sources.len() == parameters.len() { sources.len() } else { 1 };
        let sources = if count == 1 { std::slice::from_ref(&source) } else { sources };
        let wanted_parts = self.split(instance.parameter, count);
        let parts = argument.parts(count);
        let variables = self.variable_roots(&wanted_parts);
        let mark = self.types.mark();
        for index in 0..count.min(wanted_parts.len()).min(parts.len()) {
            let (given, wanted) = (parts[index].ty, wanted_parts[index]);
            let Err(failure) = self.types.unify(given, wanted) else { continue };
            let conflict = self.conflict(failure);
            let operands: Vec<Operand> = (parts.iter().zip(sources).take(index + 1))
                .map(|(part, source)| self.typed_operand(part, source))
                .collect();
            let (wanted_type, mut before) = (self.resolved(wanted), operands);
            let given_operand = before.pop()?;
            // Two arguments of one type: either may be the one to change.
            let twin = (0..index).find(|&other| variables[other].is_some() && variables[other] == variables[index]);
            // What the arguments before have said of the types counts here, too.
            let element_fits = self.element(given).is_some_and(|element| self.fits(element, wanted));
            let fits_as_element = self.element(wanted).is_some_and(|element| self.fits(given, element));
            self.types.rollback(mark);
            let swapped = match (sources, &parts[..]) {
                ([first, second], [one, other]) => {
                    self.fits_swapped((one.ty, other.ty), instance.parameter).then_some([first.span, second.span])
                }
                _ => None,
            };
            let argument = Argument {
                function: function.clone(),
                is_constructor,
                index,
                count,
                parameter: parameters.get(index).cloned(),
                given: given_operand,
                wanted: wanted_type,
                alone: self.resolved(given),
                before,
                twin,
                element_fits,
                fits_as_element,
                swapped,
            };
            return Some((conflict, argument));
        }
        self.types.rollback(mark);
        None
    }

    fn element(&self, ty: TypeId) -> Option<TypeId> {
        match self.types.node(ty) {
            Node::Sequence(element) => Some(element),
            _ => None,
        }
    }

    /// Whether a type could be another.
    fn fits(&mut self, given: TypeId, wanted: TypeId) -> bool {
        let mark = self.types.mark();
        let fits = self.types.unify(given, wanted).is_ok();
        self.types.rollback(mark);
        fits
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

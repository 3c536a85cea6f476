//! How problems come about: types, expressions and conflicts as they are known at that moment, and what several places
//! report.

use super::order::EarlyUse;
use super::problem::meeting::{Conflict, Meeting, Subject};
use super::problem::names::NameProblem;
use super::problem::types::{FunctionName, Operand, Resolved, Writing};
use super::problem::{Finding, Problem};
use super::{Inference, Meaning};
use crate::ast::{Expr, ExprKind, PatternKind, Symbol, TopLevelKind};
use crate::diagnostic::MOST_DIAGNOSTICS;
use crate::ty::Class;
use crate::typed;
use crate::typed::types::{Failure, Key, Node, TypeId, Types};
use nesl_span::Span;

impl Inference<'_> {
    /// Reports a problem.
    pub(super) fn report(&mut self, span: Span, problem: impl Into<Problem>) {
        let problem = problem.into();
        self.errors += usize::from(problem.is_error());
        self.findings.push(Finding { span, problem, juxtaposition: None });
    }

    /// Reports types that differ where they meet.
    pub(super) fn report_meeting(&mut self, span: Span, failure: Failure, meeting: Meeting) {
        let conflict = self.conflict(failure);
        self.report(span, Problem::Meeting(conflict, meeting));
    }

    /// Reports an unknown name with the nearest known ones. What it is called with follows it.
    pub(super) fn report_unknown(&mut self, name: &str, span: Span, argument: Option<Span>) {
        // The definition may be in a form that could not be read.
        if self.unreadable {
            return;
        }
        let symbol = Symbol::from(name);
        let is_own = self.binding.contains(&symbol);
        let (is_called, arguments) = (argument.is_some(), argument.into_iter().collect());
        // Beyond these they are only counted: looking for near names takes long where nothing is known.
        let near = match self.findings.len() > MOST_DIAGNOSTICS {
            true => None,
            false => {
                if let Some((span, problem)) = self.problem_with_file(name, span) {
                    return self.report(span, problem);
                }
                Some(self.near_names(name))
            }
        };
        self.report(span, NameProblem::Unknown { name: symbol, is_called, is_own, near, arguments });
    }

    /// What is wrong with a name with a point where no file has the name before it; and with that name alone.
    fn problem_with_file(&self, name: &str, span: Span) -> Option<(Span, NameProblem)> {
        let is_file = |file: &str| {
            let of_file = |known: &Symbol| known.strip_prefix(file).is_some_and(|rest| rest.starts_with('.'));
            self.environment.names.keys().any(of_file)
        };
        match name.split_once('.') {
            Some((file, _)) if !is_file(file) => {
                let point = span.start as usize + file.len();
                Some((Span::new(span.file, point, point + 1), NameProblem::Point))
            }
            None if is_file(name) => Some((span, NameProblem::File(Symbol::from(name)))),
            _ => None,
        }
    }

    /// Notes what stands behind an unknown name and what follows that, as if it were called with it: `struct point …`.
    pub(super) fn note_argument(&mut self, function: &Expr, argument: Span) {
        let mut head = function;
        while let ExprKind::Call { function, .. } = &head.kind {
            head = function;
        }
        if !matches!(&head.kind, ExprKind::Name(name) if matches!(self.meaning(name), Meaning::Unknown)) {
            return;
        }
        let is_head = |finding: &&mut Finding| finding.span == head.span;
        if let Some(finding) = self.findings.iter_mut().rev().find(is_head)
            && let Problem::Name(NameProblem::Unknown { arguments, .. }) = &mut finding.problem
        {
            arguments.push(argument);
        }
    }

    /// Reports a value that is used before it is computed.
    pub(super) fn report_early_use(&mut self, early: &EarlyUse) {
        let EarlyUse { name, span, definition, .. } = early;
        let form = &self.forms[*definition];
        let value = match &form.kind {
            TopLevelKind::Assignment { pattern, .. } => match &pattern.kind {
                PatternKind::Variable(value) => Some(value.clone()),
                _ => None,
            },
            _ => None,
        };
        let is_direct = self.text.definitions_of(name).contains(definition);
        let problem = NameProblem::Early { name: name.clone(), value, is_direct, computed: form.span };
        self.report(*span, problem);
    }

    /// A type as it is known now.
    pub(super) fn resolved(&self, ty: TypeId) -> Resolved {
        let all = |first, rest| (Box::new(self.resolved(first)), Box::new(self.resolved(rest)));
        match self.types.node(ty) {
            Node::Variable(class) => Resolved::Variable(self.types.root(ty), class),
            Node::Scalar(scalar) => Resolved::Scalar(scalar),
            Node::Unit => Resolved::Unit,
            Node::Sequence(element) => Resolved::Sequence(Box::new(self.resolved(element))),
            Node::Pair(first, rest) => {
                let (first, rest) = all(first, rest);
                Resolved::Pair(first, rest)
            }
            Node::Record(id, arguments) => match self.types.datatype(id) {
                Some(datatype) => {
                    let arguments = self.types.elements(arguments).into_iter().zip(&datatype.classes);
                    let shown = arguments.filter(|(_, class)| **class != Class::Function);
                    Resolved::Record(datatype.clone(), shown.map(|(argument, _)| self.resolved(argument)).collect())
                }
                None => Resolved::Error,
            },
            Node::Function(parameter, result, identity) => {
                let is_known = matches!(self.types.node(identity), Node::Identity(..));
                let (parameter, result) = all(parameter, result);
                Resolved::Function(parameter, result, is_known.then(|| self.function_name(identity)))
            }
            Node::Identity(..) | Node::Nil | Node::Link(_) | Node::Error => Resolved::Error,
        }
    }

    /// The function of an identity.
    fn function_name(&self, identity: TypeId) -> FunctionName {
        let Node::Identity(key, ..) = self.types.node(identity) else { return FunctionName::Unnamed };
        let function = match self.types.key(key) {
            Key::Known(id) | Key::Within(id, _) => self.environment.program.functions.get(id.0),
            Key::Group(form) => {
                return match &self.forms[form].kind {
                    TopLevelKind::Function(function) => FunctionName::Named(function.name.symbol.clone()),
                    _ => FunctionName::Unnamed,
                };
            }
        };
        match function {
            Some(function) if function.is_lambda() => FunctionName::Lambda(function.name.clone()),
            Some(function) => FunctionName::Named(function.name.clone()),
            None => FunctionName::Undetermined,
        }
    }

    /// An expression of this type, as it is known now.
    pub(super) fn operand(&self, ty: TypeId, source: &Expr) -> Operand {
        Operand { span: source.span, ty: self.resolved(ty), writing: Writing::of(source), is_element: false }
    }

    /// An expression that has been checked, as it is known now.
    pub(super) fn typed_operand(&self, value: &typed::Expr, source: &Expr) -> Operand {
        Operand { is_element: self.is_element(value), ..self.operand(value.ty, source) }
    }

    /// Whether an expression is a variable that stands for one element of the sequence of the same name.
    pub(super) fn is_element(&self, value: &typed::Expr) -> bool {
        matches!(value.kind, typed::ExprKind::Local(id) if self.elements.contains(&id))
    }

    /// Why unification has failed, as it is known now.
    pub(super) fn conflict(&self, failure: Failure) -> Conflict {
        match failure {
            Failure::Shape => Conflict::Shape,
            Failure::Class(wanted, given) => Conflict::Class { wanted, given: self.resolved(given) },
            Failure::Member(given, wanted) => Conflict::Member { wanted: self.resolved(wanted), given },
            Failure::Classes(wanted, given) => {
                let parameters = match self.forms.get(self.form).map(|form| &form.kind) {
                    Some(TopLevelKind::Function(function)) => Some(match &function.parameter.kind {
                        PatternKind::Tuple(parts) => parts.len(),
                        _ => 1,
                    }),
                    _ => None,
                };
                Conflict::Classes { wanted, given, parameters }
            }
            Failure::Functions(one, other) => Conflict::Functions(self.function_name(one), self.function_name(other)),
            Failure::Infinite => Conflict::Infinite,
        }
    }

    /// Requires that an expression has a type; `subject` says who wants it.
    pub(super) fn require(&mut self, actual: TypeId, wanted: TypeId, expression: &Expr, subject: Subject) -> bool {
        let Err(failure) = self.types.unify(actual, wanted) else { return true };
        let (given, wanted) = (self.operand(actual, expression), self.resolved(wanted));
        self.report_meeting(expression.span, failure, Meeting::Wanted { subject, given, wanted });
        false
    }

    /// Whether an expression is the bare name of a function.
    pub(super) fn is_function_name(&self, expression: &Expr) -> bool {
        matches!(&expression.kind, ExprKind::Name(name) if matches!(self.meaning(name), Meaning::Function(_)))
    }

    /// Whether nothing is wrong so far with a type.
    pub(super) fn is_sound(&self, ty: TypeId) -> bool {
        self.types.root(ty) != Types::ERROR
    }
}

//! Checks that core is what its documentation ([`super`]) says: that nobody who reads it has to ask.
//!
//! Each variable is bound once, and mentioned where it is bound; each expression has the type that follows from its
//! parts ([`super::typing`]), and its parts the types that their places want; types mention what exists, at type
//! arguments of the right classes; function values are what their types say, and built-in functions what they do. It
//! stands behind elaboration and the passes over core: a session checks what each text adds, in builds with debug
//! assertions. What it finds is a bug of whatever made the core.

mod intrinsics;
mod problem;
#[cfg(test)]
mod tests;
mod types;

use super::typing::{arrow, instance, payload, type_of};
use super::{
    Expr, ExprKind, Form, Function, FunctionBody, FunctionId, GlobalId, Program, Variable, VariableId, print, walk,
};
use crate::ty::{Class, Identity, Scheme, Type};
use nesl_span::Span;
use std::collections::{BTreeSet, HashMap, HashSet};
use types::TypeChecker;

pub use problem::{Constituent, CoreProblem, Violation};

/// What a program had when it was checked before.
#[derive(Clone, Copy, Debug, Default)]
pub struct Verified {
    /// The number of functions.
    pub functions: usize,
    /// The number of variables.
    pub variables: usize,
}

impl Verified {
    /// All that a program has.
    pub fn all(program: &Program) -> Verified {
        Verified { functions: program.functions.len(), variables: program.variables }
    }
}

/// Checks what a program has beyond what it had before, these forms, and the functions that they define: these may
/// stand in the places of earlier ones.
///
/// # Errors
/// Everything that is wrong.
pub fn verify(program: &Program, forms: &[Form], before: Verified) -> Result<(), Vec<Violation>> {
    let mut verifier = Verifier {
        program,
        classes: &[],
        scope: HashMap::new(),
        bound: HashSet::new(),
        first: 0,
        within: String::new(),
        violations: Vec::new(),
    };
    let defined = forms.iter().filter_map(|form| match form {
        Form::Function(id) => Some(id.0),
        Form::Assignment { .. } | Form::Expression(_) => None,
    });
    let functions: BTreeSet<usize> = defined.chain(before.functions..program.functions.len()).collect();
    for index in functions {
        match program.functions.get(index) {
            Some(function) => {
                // One that only is declared again is what it was.
                verifier.first = if index < before.functions { 0 } else { before.variables };
                verifier.function(FunctionId(index), function);
            }
            None => verifier.report(None, CoreProblem::UnknownFunction(FunctionId(index))),
        }
    }
    verifier.first = before.variables;
    verifier.classes = &[];
    let lacks = program.functions.iter().any(|function| matches!(function.body, FunctionBody::Missing));
    for (index, form) in forms.iter().enumerate() {
        verifier.within = format!("form {index}");
        verifier.form(form, lacks);
    }
    if verifier.violations.is_empty() { Ok(()) } else { Err(verifier.violations) }
}

struct Verifier<'a> {
    program: &'a Program,
    /// The classes of the type parameters that may be mentioned here.
    classes: &'a [Class],
    scope: HashMap<VariableId, &'a Variable>,
    /// What has been bound anywhere.
    bound: HashSet<VariableId>,
    /// The least number of a variable that may be bound here.
    first: usize,
    within: String,
    violations: Vec<Violation>,
}

impl<'a> Verifier<'a> {
    fn report(&mut self, expression: Option<&Expr>, problem: CoreProblem) {
        self.violations.push(Violation {
            within: self.within.clone(),
            expression: expression.map(|expression| print::expr(expression, self.program)),
            span: expression.map(|expression| expression.span),
            problem,
        });
    }

    fn types(&mut self, expression: Option<&Expr>, check: impl FnOnce(&mut TypeChecker<'_>)) {
        let mut checker = TypeChecker::new(self.program, self.classes);
        check(&mut checker);
        for problem in checker.problems {
            self.report(expression, problem);
        }
    }

    fn function(&mut self, id: FunctionId, function: &'a Function) {
        let before = self.violations.len();
        self.within = format!("function {}", function.name);
        let scheme = &function.scheme;
        self.classes = &scheme.classes;
        self.types(None, |checker| {
            checker.value(&scheme.parameter);
            checker.value(&scheme.result);
        });
        let mut functions = scheme.classes.iter().skip_while(|class| **class != Class::Function);
        if functions.any(|class| *class != Class::Function) {
            self.report(None, CoreProblem::ClassOrder);
        }
        self.keywords(function);
        match &function.body {
            FunctionBody::Defined { parameter, body } => {
                self.part(None, Constituent::Parameter, &scheme.parameter, &parameter.ty);
                self.bind(parameter);
                self.expr(body);
                self.part(None, Constituent::Body, &scheme.result, &body.ty);
                self.scope.clear();
            }
            FunctionBody::Missing if function.is_lambda() => self.report(None, CoreProblem::LambdaMissing),
            FunctionBody::Intrinsic(intrinsic) if !intrinsics::is_of_type(*intrinsic, scheme) => {
                self.report(None, CoreProblem::Intrinsic(scheme.to_string()));
            }
            FunctionBody::Intrinsic(_) | FunctionBody::Missing => {}
        }
        if self.violations.len() > before {
            self.locate(before, id, function.span);
        }
    }

    /// Says where a function stands in what is about no expression.
    fn locate(&mut self, from: usize, id: FunctionId, span: Span) {
        for violation in self.violations.iter_mut().skip(from) {
            violation.within += &format!("@{}", id.0);
            violation.span = violation.span.or(Some(span));
        }
    }

    /// Checks that defaults are functions of any int for their parameters: those behind the others in the type.
    fn keywords(&mut self, function: &Function) {
        let scheme = &function.scheme;
        let mut types = tuple(&scheme.parameter, function.parameters.len() + function.keywords.len()).into_iter();
        types.by_ref().take(function.parameters.len()).for_each(drop);
        for keyword in &function.keywords {
            let ty = types.next();
            let default = self.program.functions.get(keyword.default.0).map(|default| &default.scheme);
            let is_default = |default: &Scheme| {
                default.classes == scheme.classes && default.parameter == Type::INT && Some(&default.result) == ty
            };
            if !default.is_some_and(is_default) {
                self.report(None, CoreProblem::Default(keyword.name.clone()));
            }
        }
    }

    fn form(&mut self, form: &'a Form, lacks: bool) {
        let (targets, value) = match form {
            Form::Function(_) => return,
            Form::Assignment { targets, value } => (targets.as_slice(), value),
            Form::Expression(value) => (&[] as &[_], value),
        };
        self.expr(value);
        self.scope.clear();
        for (id, path) in targets {
            match self.program.globals.get(id.0) {
                None => self.report(Some(value), CoreProblem::UnknownGlobal(*id)),
                Some(global) if !gives(&value.ty, path, &global.ty) => {
                    self.report(Some(value), CoreProblem::Target(*id));
                }
                Some(_) => {}
            }
        }
        if lacks && let Some(missing) = missing(value, self.program) {
            self.report(Some(value), CoreProblem::Missing(missing));
        }
    }

    fn bind(&mut self, variable: &'a Variable) {
        let id = variable.id;
        if id.0 >= self.program.variables {
            self.report(None, CoreProblem::Uncounted(id));
        }
        if id.0 < self.first {
            self.report(None, CoreProblem::OldNumber(id));
        }
        if !self.bound.insert(id) {
            self.report(None, CoreProblem::BoundTwice(id));
        }
        self.scope.insert(id, variable);
    }

    fn part(&mut self, around: Option<&Expr>, part: Constituent, expected: &Type, found: &Type) {
        if expected != found {
            let (expected, found) = (expected.clone(), found.clone());
            self.report(around, CoreProblem::Part { part, expected, found });
        }
    }

    /// Reports a type that is not of the form wanted.
    fn form_of(&mut self, around: &Expr, expected: &'static str, found: &Type) {
        self.report(Some(around), CoreProblem::Form { expected, found: found.clone() });
    }

    /// Checks an expression: its parts, what their types have to do with one another, and its own type.
    fn expr(&mut self, expression: &'a Expr) {
        self.parts(expression);
        let scope = &self.scope;
        let expected = type_of(&expression.kind, self.program, |id| scope.get(&id).map(|variable| variable.ty.clone()));
        let found = &expression.ty;
        match (expected, &expression.kind) {
            (Some(expected), _) if expected != *found => {
                let found = found.clone();
                self.report(Some(expression), CoreProblem::Type { expected, found });
            }
            (Some(_), _) => {}
            (None, ExprKind::Sequence(_) | ExprKind::Constants(_)) => {
                self.types(Some(expression), |checker| checker.value(found));
                let is_constants = matches!(expression.kind, ExprKind::Constants(_));
                match found {
                    Type::Sequence(element) if !is_constants || matches!(**element, Type::Scalar(_)) => {}
                    _ => self.form_of(expression, "a sequence", found),
                }
            }
            // What the parts lack has been reported with them.
            (None, _) => {}
        }
    }

    fn parts(&mut self, expression: &'a Expr) {
        match &expression.kind {
            ExprKind::Literal(_) | ExprKind::Unit => {}
            ExprKind::Constants(values) => {
                let types = values.iter().map(|value| Type::Scalar(value.scalar_type()));
                self.alike(expression, types);
            }
            ExprKind::Variable(id) if !self.scope.contains_key(id) => {
                self.report(Some(expression), CoreProblem::OutOfScope(*id));
            }
            ExprKind::Variable(_) => {}
            ExprKind::Global(id) => self.global(expression, *id),
            ExprKind::Pair(first, rest) => {
                self.expr(first);
                self.expr(rest);
            }
            ExprKind::First(pair) | ExprKind::Rest(pair) => {
                self.expr(pair);
                if !matches!(pair.ty, Type::Pair(..)) {
                    self.form_of(expression, "a pair", &pair.ty);
                }
            }
            ExprKind::Construct(part) => {
                self.expr(part);
                self.types(Some(expression), |checker| checker.value(&expression.ty));
                match payload(&expression.ty) {
                    Some(wrapped) => self.part(Some(expression), Constituent::Payload, &wrapped, &part.ty),
                    None => self.form_of(expression, "a record", &expression.ty),
                }
            }
            ExprKind::Payload(record) => {
                self.expr(record);
                if payload(&record.ty).is_none() {
                    self.form_of(expression, "a record", &record.ty);
                }
            }
            ExprKind::Let { variable, value, body } => {
                self.expr(value);
                self.part(Some(expression), Constituent::Variable, &value.ty, &variable.ty);
                self.bind(variable);
                self.expr(body);
                self.scope.remove(&variable.id);
            }
            ExprKind::If { condition, then_branch, else_branch } => {
                self.expr(condition);
                self.expr(then_branch);
                self.expr(else_branch);
                self.part(Some(expression), Constituent::Condition, &Type::BOOL, &condition.ty);
                self.part(Some(expression), Constituent::ElseBranch, &then_branch.ty, &else_branch.ty);
            }
            ExprKind::Sequence(elements) => {
                elements.iter().for_each(|element| self.expr(element));
                self.alike(expression, elements.iter().map(|element| element.ty.clone()));
            }
            ExprKind::Closure { function, type_arguments, captured } => {
                captured.iter().for_each(|part| self.expr(part));
                self.closure(expression, *function, type_arguments, captured);
            }
            ExprKind::Apply { function, argument } => {
                self.expr(function);
                self.expr(argument);
                self.apply(expression, &function.ty, &argument.ty);
            }
            ExprKind::Call { function, type_arguments, argument } => {
                self.expr(argument);
                self.callee(expression, *function, type_arguments);
                if let Some((parameter, _)) = instance(*function, type_arguments, self.program) {
                    self.part(Some(expression), Constituent::Argument, &parameter, &argument.ty);
                }
            }
            ExprKind::Each { sources, filter, body } => self.each(expression, sources, filter.as_deref(), body),
        }
    }

    fn global(&mut self, expression: &Expr, id: GlobalId) {
        if self.program.globals.get(id.0).is_none() {
            self.report(Some(expression), CoreProblem::UnknownGlobal(id));
        }
    }

    /// Checks that all elements are of the type of the first.
    fn alike(&mut self, expression: &Expr, types: impl Iterator<Item = Type>) {
        let mut types = types;
        let Some(first) = types.next() else { return };
        for ty in types {
            self.part(Some(expression), Constituent::Element, &first, &ty);
        }
    }

    fn callee(&mut self, expression: &Expr, id: FunctionId, type_arguments: &[Type]) {
        match self.program.functions.get(id.0) {
            None => self.report(Some(expression), CoreProblem::UnknownFunction(id)),
            Some(function) => {
                self.types(Some(expression), |checker| checker.arguments(&function.scheme.classes, type_arguments));
            }
        }
    }

    fn closure(&mut self, expression: &Expr, id: FunctionId, type_arguments: &[Type], captured: &[Expr]) {
        self.callee(expression, id, type_arguments);
        if captured.iter().any(|part| !matches!(part.kind, ExprKind::Variable(_))) {
            self.report(Some(expression), CoreProblem::NoVariable);
        }
        if !self.program.function_values.contains(&id) {
            self.report(Some(expression), CoreProblem::Unlisted(id));
        }
        let Some(function) = self.program.functions.get(id.0) else { return };
        let is_own = function.scheme.classes == self.classes
            && type_arguments.iter().enumerate().all(|(index, argument)| *argument == Type::Parameter(index));
        if function.is_lambda() && !is_own {
            self.report(Some(expression), CoreProblem::Lambda(id));
        }
        // A type that does not follow is wrong as it is.
        let captured = captured.iter().map(|part| part.ty.clone()).collect();
        let identity = Identity { function: id.0, type_arguments: type_arguments.to_vec(), captured };
        if arrow(&identity, self.program).is_none()
            && let Some((parameter, result)) = instance(id, type_arguments, self.program)
        {
            let problem = CoreProblem::Identity { expected: None, found: (parameter, result) };
            self.report(Some(expression), problem);
        }
    }

    fn apply(&mut self, expression: &Expr, function: &Type, argument: &Type) {
        let Type::Function(called) = function else { return self.form_of(expression, "a function", function) };
        self.part(Some(expression), Constituent::Argument, &called.parameter, argument);
        if function.identity().is_some_and(|identity| identity.function == Identity::NOBODY) {
            self.report(Some(expression), CoreProblem::CallsNobody);
        }
    }

    fn each(&mut self, expression: &Expr, sources: &'a [(Variable, Expr)], filter: Option<&'a Expr>, body: &'a Expr) {
        if sources.is_empty() {
            self.report(Some(expression), CoreProblem::NoSources);
        }
        for (variable, sequence) in sources {
            self.expr(sequence);
            match &sequence.ty {
                Type::Sequence(element) => {
                    self.part(Some(expression), Constituent::Variable, element, &variable.ty);
                }
                other => self.form_of(expression, "a sequence", other),
            }
        }
        sources.iter().for_each(|(variable, _)| self.bind(variable));
        if let Some(filter) = filter {
            self.expr(filter);
            self.part(Some(expression), Constituent::Filter, &Type::BOOL, &filter.ty);
        }
        self.expr(body);
        for (variable, _) in sources {
            self.scope.remove(&variable.id);
        }
    }
}

/// The first parts of a tuple, and what is left of it as the last one: so many, if it has them.
fn tuple(ty: &Type, count: usize) -> Vec<&Type> {
    let (mut parts, mut rest) = (Vec::new(), ty);
    while let (Type::Pair(first, tail), true) = (rest, parts.len() + 1 < count) {
        parts.push(&**first);
        rest = tail;
    }
    parts.push(rest);
    parts
}

/// Whether a part of a value is of a type. A record on the way, and at its end, stands for its payload.
fn gives(value: &Type, path: &[bool], wanted: &Type) -> bool {
    let mut ty = value.clone();
    for is_rest in path {
        while let Some(wrapped) = payload(&ty) {
            ty = wrapped;
        }
        let Type::Pair(first, rest) = &ty else { return false };
        ty = Type::clone(if *is_rest { rest } else { first });
    }
    while ty != *wanted {
        match payload(&ty) {
            Some(wrapped) => ty = wrapped,
            None => return false,
        }
    }
    true
}

/// A function that an expression reaches and that is not defined.
fn missing(expression: &Expr, program: &Program) -> Option<FunctionId> {
    let mut waiting: Vec<FunctionId> = walk::mentions(expression).map(|(id, _)| id).collect();
    let mut seen: HashSet<FunctionId> = HashSet::new();
    while let Some(id) = waiting.pop() {
        match program.functions.get(id.0).map(|function| &function.body) {
            Some(FunctionBody::Missing) => return Some(id),
            Some(FunctionBody::Defined { body, .. }) if seen.insert(id) => {
                waiting.extend(walk::mentions(body).map(|(id, _)| id));
            }
            _ => {}
        }
    }
    None
}

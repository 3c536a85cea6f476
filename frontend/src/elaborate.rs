//! From the typed tree to core: types are settled, patterns become projections, sugar is gone.
//!
//! A type variable that is not a parameter of the enclosing function's scheme is settled as `int`: nothing depends on
//! it but the type of empty sequences. One that stands for a function is settled as nobody's; inference has made sure
//! that nobody calls it. That also holds within a group of functions that call each other, where a variable of one
//! function need not occur in the type of another.
//!
//! Lambdas become functions of their own, with the type parameters of the function around them. Inside of such a
//! function the captured variables go by new numbers, bound to the parts of its parameter.

use crate::ast::Symbol;
use crate::core::{Expr, ExprKind, FunctionId, Variable, VariableId};
use crate::ty::{Class, Identity, Scheme, Type};
use crate::typed;
use crate::typed::types::{Key, Node, TypeId, Types};
use crate::typed::{Callee, Pattern, PatternKind, Step};
use nesl_span::Span;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The functions of the group being finished, by form, with the variables that became their parameters.
pub(crate) type Group = HashMap<usize, (FunctionId, Vec<TypeId>)>;

/// A function made from a lambda.
pub(crate) struct Lifted {
    /// Its number.
    pub id: FunctionId,
    /// Its type.
    pub scheme: Scheme,
    /// Its parameter.
    pub parameter: Variable,
    /// Its value.
    pub body: Expr,
}

/// Turns types under inference into types of core.
pub(crate) struct Export<'a> {
    types: &'a Types,
    variables: &'a [TypeId],
    group: &'a Group,
    parameters: HashMap<TypeId, usize>,
    done: HashMap<TypeId, Type>,
}

impl<'a> Export<'a> {
    /// With these variables, all of them roots, as the type parameters.
    pub fn new(types: &'a Types, variables: &'a [TypeId], group: &'a Group) -> Export<'a> {
        let parameters = variables.iter().enumerate().map(|(index, &variable)| (variable, index)).collect();
        Export { types, variables, group, parameters, done: HashMap::new() }
    }

    /// The classes of the parameters.
    pub fn classes(&self) -> Vec<Class> {
        let class = |&variable: &TypeId| match self.types.node(variable) {
            Node::Variable(class) => class,
            _ => Class::Any,
        };
        self.variables.iter().map(class).collect()
    }

    /// The settled type.
    pub fn ty(&mut self, id: TypeId) -> Type {
        let root = self.types.root(id);
        match self.types.node(root) {
            Node::Scalar(scalar) => return Type::Scalar(scalar),
            Node::Unit => return Type::Unit,
            Node::Variable(class) => {
                return match self.parameters.get(&root) {
                    Some(&index) => Type::Parameter(index),
                    None if class == Class::Function => Type::nobody(),
                    None => Type::INT,
                };
            }
            Node::Error | Node::Link(_) | Node::Nil => return Type::INT,
            Node::Pair(..) | Node::Sequence(_) | Node::Record(..) | Node::Function(..) | Node::Identity(..) => {}
        }
        if let Some(done) = self.done.get(&root) {
            return done.clone();
        }
        let ty = match self.types.node(root) {
            Node::Pair(first, rest) => Type::pair(self.ty(first), self.ty(rest)),
            Node::Sequence(element) => Type::sequence(self.ty(element)),
            Node::Record(datatype, arguments) => match self.types.datatype(datatype) {
                Some(datatype) => Type::Record(Arc::clone(datatype), self.list(arguments)),
                None => Type::INT,
            },
            Node::Function(parameter, result, identity) => {
                Type::function(self.ty(parameter), self.ty(result), self.ty(identity))
            }
            Node::Identity(key, arguments, captured) => {
                let (function, type_arguments) = match self.types.key(key) {
                    Key::Known(function) => (function, self.list(arguments)),
                    Key::Group(form) => self.member(form),
                    Key::Within(function, form) => (function, self.member(form).1),
                };
                let captured = self.list(captured);
                Type::Identity(Arc::new(Identity { function: function.0, type_arguments, captured }))
            }
            _ => Type::INT,
        };
        self.done.insert(root, ty.clone());
        ty
    }

    fn list(&mut self, list: TypeId) -> Vec<Type> {
        self.types.elements(list).into_iter().map(|ty| self.ty(ty)).collect()
    }

    /// A function of the group with its type arguments at a use within the group. A form that is not a function, a
    /// value, has no type parameters.
    fn member(&mut self, form: usize) -> (FunctionId, Vec<Type>) {
        let group = self.group;
        match group.get(&form) {
            Some((function, variables)) => (*function, variables.iter().map(|&variable| self.ty(variable)).collect()),
            // A member with errors, in the type of one without: nothing of the group is elaborated, and the text is
            // refused.
            None => (FunctionId(usize::MAX), Vec::new()),
        }
    }
}

/// Turns one function or value into core.
pub(crate) struct Elaboration<'a> {
    export: Export<'a>,
    next_variable: &'a mut usize,
    /// Variables with a mention in the core made so far.
    used: HashSet<VariableId>,
    /// Variables of patterns that go by another number in the filter being made.
    renamed: HashMap<VariableId, VariableId>,
    made: Made,
}

/// What elaboration adds to the program beside the core it returns.
#[derive(Default)]
pub(crate) struct Made {
    /// The lambdas seen, as functions.
    pub lambdas: Vec<Lifted>,
    /// The functions used as values, lambdas included.
    pub function_values: Vec<FunctionId>,
}

impl<'a> Elaboration<'a> {
    /// For a function with these type parameters; none for a value.
    pub fn new(types: &'a Types, variables: &'a [TypeId], group: &'a Group, next_variable: &'a mut usize) -> Self {
        Elaboration {
            export: Export::new(types, variables, group),
            next_variable,
            used: HashSet::new(),
            renamed: HashMap::new(),
            made: Made::default(),
        }
    }

    /// The parameter and body of a function.
    pub fn function(&mut self, pattern: &Pattern, body: &typed::Expr) -> (Variable, Expr) {
        let parameter = self.binder(pattern, "argument");
        let body = self.expression(body);
        let body = self.project(pattern, &parameter, body);
        (parameter, body)
    }

    /// What has to be added to the program.
    pub fn finish(self) -> Made {
        self.made
    }

    /// The scheme of a function with the type parameters of the one being made.
    pub fn scheme(&self, parameter: Type, result: Type) -> Scheme {
        Scheme { classes: self.export.classes(), parameter, result }
    }

    /// The core of an expression.
    pub fn expression(&mut self, expression: &typed::Expr) -> Expr {
        let kind = match &expression.kind {
            typed::ExprKind::Literal(value) => ExprKind::Literal(*value),
            typed::ExprKind::Constants(values) => ExprKind::Constants(values.clone()),
            typed::ExprKind::Local(id) => {
                let id = self.renamed.get(id).copied().unwrap_or(*id);
                self.used.insert(id);
                ExprKind::Variable(id)
            }
            typed::ExprKind::Global(id) => ExprKind::Global(*id),
            typed::ExprKind::Unit => ExprKind::Unit,
            typed::ExprKind::Pair(first, rest) => ExprKind::Pair(self.boxed(first), self.boxed(rest)),
            typed::ExprKind::Call { callee, argument } => {
                let (function, type_arguments) = self.callee(callee);
                ExprKind::Call { function, type_arguments, argument: self.boxed(argument) }
            }
            typed::ExprKind::Construct(payload) => ExprKind::Construct(self.boxed(payload)),
            typed::ExprKind::Function(callee) => {
                let (function, type_arguments) = self.callee(callee);
                self.made.function_values.push(function);
                ExprKind::Closure { function, type_arguments, captured: Vec::new() }
            }
            typed::ExprKind::Lambda { function, parameter, body, captured } => {
                self.lambda(*function, parameter, body, captured, expression.span)
            }
            typed::ExprKind::Apply { function, argument } => {
                ExprKind::Apply { function: self.boxed(function), argument: self.boxed(argument) }
            }
            typed::ExprKind::If { condition, then_branch, else_branch } => ExprKind::If {
                condition: self.boxed(condition),
                then_branch: self.boxed(then_branch),
                else_branch: self.boxed(else_branch),
            },
            typed::ExprKind::Let { bindings, body } => return self.bindings(bindings, body, expression.span),
            typed::ExprKind::Sequence(elements) => {
                ExprKind::Sequence(elements.iter().map(|element| self.expression(element)).collect())
            }
            typed::ExprKind::Each { sources, filter, body } => self.each(sources, filter.as_deref(), body),
            // Only trees without errors get here.
            typed::ExprKind::Error => ExprKind::Sequence(Vec::new()),
        };
        Expr { kind, ty: self.export.ty(expression.ty), span: expression.span }
    }

    fn boxed(&mut self, expression: &typed::Expr) -> Box<Expr> {
        Box::new(self.expression(expression))
    }

    fn callee(&mut self, callee: &Callee) -> (FunctionId, Vec<Type>) {
        match callee {
            Callee::Instance { function, type_arguments } => {
                (*function, type_arguments.iter().map(|&argument| self.export.ty(argument)).collect())
            }
            Callee::Group(form) => self.export.member(*form),
            Callee::Within(function, form) => (*function, self.export.member(*form).1),
        }
    }

    /// Makes a function of a lambda, and the closure that stands in its place.
    fn lambda(
        &mut self,
        id: FunctionId,
        pattern: &Pattern,
        body: &typed::Expr,
        captured: &[(VariableId, TypeId)],
        span: Span,
    ) -> ExprKind {
        // What is captured, as variables of the place around and of the new function.
        let mut outside = Vec::with_capacity(captured.len());
        let mut inside: Vec<Variable> = Vec::with_capacity(captured.len());
        let mut before: Vec<(VariableId, Option<VariableId>)> = Vec::with_capacity(captured.len());
        for &(variable, ty) in captured {
            let ty = self.export.ty(ty);
            let around = self.renamed.get(&variable).copied().unwrap_or(variable);
            self.used.insert(around);
            outside.push(Expr { kind: ExprKind::Variable(around), ty: ty.clone(), span });
            let new = self.new_variable();
            inside.push(Variable { id: new, name: Symbol::from("captured"), ty });
            before.push((variable, self.renamed.insert(variable, new)));
        }
        let argument = self.binder(pattern, "argument");
        let body = self.expression(body);
        let body = self.project(pattern, &argument, body);
        for (variable, before) in before {
            match before {
                Some(around) => self.renamed.insert(variable, around),
                None => self.renamed.remove(&variable),
            };
        }
        let (parameter, body) = self.open_closure(inside, argument, body, span);
        let scheme = self.scheme(parameter.ty.clone(), body.ty.clone());
        self.made.lambdas.push(Lifted { id, scheme, parameter, body });
        self.made.function_values.push(id);
        let type_arguments = (0..self.export.variables.len()).map(Type::Parameter).collect();
        ExprKind::Closure { function: id, type_arguments, captured: outside }
    }

    /// The parameter of a lifted lambda, and its body with the captured variables and the argument bound to its parts.
    fn open_closure(
        &mut self,
        captured: Vec<Variable>,
        argument: Variable,
        body: Expr,
        span: Span,
    ) -> (Variable, Expr) {
        let types = captured.iter().map(|variable| variable.ty.clone());
        let Some(tuple) = types.rev().reduce(|rest, first| Type::pair(first, rest)) else { return (argument, body) };
        let ty = Type::pair(tuple.clone(), argument.ty.clone());
        let parameter = Variable { id: self.new_variable(), name: Symbol::from("closure"), ty };
        let whole = || Expr { kind: ExprKind::Variable(parameter.id), ty: parameter.ty.clone(), span };
        let mut values =
            vec![(argument.clone(), Expr { kind: ExprKind::Rest(Box::new(whole())), ty: argument.ty, span })];
        let mut rest = Expr { kind: ExprKind::First(Box::new(whole())), ty: tuple, span };
        let count = captured.len();
        for (index, variable) in captured.into_iter().enumerate() {
            let part = match &rest.ty {
                Type::Pair(first, tail) if index + 1 < count => {
                    let (first, tail) = (Type::clone(first), Type::clone(tail));
                    let part = Expr { kind: ExprKind::First(Box::new(rest.clone())), ty: first, span };
                    rest = Expr { kind: ExprKind::Rest(Box::new(rest)), ty: tail, span };
                    part
                }
                _ => rest.clone(),
            };
            values.push((variable, part));
        }
        let mut body = body;
        for (variable, value) in values.into_iter().rev() {
            let (ty, span) = (body.ty.clone(), body.span);
            let kind = ExprKind::Let { variable, value: Box::new(value), body: Box::new(body) };
            body = Expr { kind, ty, span };
        }
        (parameter, body)
    }

    fn bindings(&mut self, bindings: &[(Pattern, typed::Expr)], body: &typed::Expr, span: Span) -> Expr {
        let mut done: Vec<(&Pattern, Variable, Expr)> = Vec::with_capacity(bindings.len());
        for (pattern, value) in bindings {
            let value = self.expression(value);
            done.push((pattern, self.binder(pattern, "tuple"), value));
        }
        let mut body = self.expression(body);
        while let Some((pattern, variable, value)) = done.pop() {
            body = self.project(pattern, &variable, body);
            let ty = body.ty.clone();
            let kind = ExprKind::Let { variable, value: Box::new(value), body: Box::new(body) };
            body = Expr { kind, ty, span };
        }
        body
    }

    fn each(
        &mut self,
        sources: &[(Pattern, typed::Expr)],
        filter: Option<&typed::Expr>,
        body: &typed::Expr,
    ) -> ExprKind {
        let mut done = Vec::with_capacity(sources.len());
        for (pattern, sequence) in sources {
            let sequence = self.expression(sequence);
            done.push((self.binder(pattern, "element"), sequence));
        }
        let filter = filter.map(|filter| self.filter(sources, &done, filter));
        let mut body = self.expression(body);
        for ((pattern, _), (variable, _)) in sources.iter().zip(&done).rev() {
            body = self.project(pattern, variable, body);
        }
        ExprKind::Each { sources: done, filter, body: Box::new(body) }
    }

    /// The filter, with variables of its own for the parts of tuples: every variable is bound once in a program.
    fn filter(
        &mut self,
        sources: &[(Pattern, typed::Expr)],
        variables: &[(Variable, Expr)],
        filter: &typed::Expr,
    ) -> Box<Expr> {
        let mut parts: Vec<VariableId> = Vec::new();
        for (pattern, _) in sources {
            if !matches!(pattern.kind, PatternKind::Variable(..)) {
                pattern.for_each_variable(&mut |id, _, _, _| parts.push(id));
            }
        }
        for &part in &parts {
            let id = self.new_variable();
            self.renamed.insert(part, id);
        }
        let mut filter = self.expression(filter);
        for ((pattern, _), (variable, _)) in sources.iter().zip(variables).rev() {
            filter = self.project(pattern, variable, filter);
        }
        for part in &parts {
            self.renamed.remove(part);
        }
        Box::new(filter)
    }

    /// A new variable.
    pub fn variable(&mut self, name: &str, ty: Type) -> Variable {
        Variable { id: self.new_variable(), name: Symbol::from(name), ty }
    }

    fn new_variable(&mut self) -> VariableId {
        let id = VariableId(*self.next_variable);
        *self.next_variable += 1;
        id
    }

    /// The variable that is bound for a pattern: its own, or a new one for a tuple.
    fn binder(&mut self, pattern: &Pattern, name: &str) -> Variable {
        let ty = self.export.ty(pattern.ty);
        match &pattern.kind {
            PatternKind::Variable(id, name) => Variable { id: *id, name: name.clone(), ty },
            PatternKind::Unit | PatternKind::Pair(..) | PatternKind::Record(_) | PatternKind::Error => {
                Variable { id: self.new_variable(), name: Symbol::from(name), ty }
            }
        }
    }

    /// Binds around `body` those variables of a tuple pattern that it mentions to their parts of `whole`.
    fn project(&mut self, pattern: &Pattern, whole: &Variable, body: Expr) -> Expr {
        if matches!(pattern.kind, PatternKind::Variable(..)) {
            return body;
        }
        let mut parts: Vec<(Variable, Vec<Step>, Span)> = Vec::new();
        pattern.for_each_variable(&mut |id, name, part, path| {
            let id = self.renamed.get(&id).copied().unwrap_or(id);
            if self.used.contains(&id) {
                let variable = Variable { id, name: name.clone(), ty: self.export.ty(part.ty) };
                parts.push((variable, path.to_vec(), part.span));
            }
        });
        if !parts.is_empty() {
            self.used.insert(whole.id);
        }
        let mut body = body;
        while let Some((variable, path, span)) = parts.pop() {
            let mut value = Expr { kind: ExprKind::Variable(whole.id), ty: whole.ty.clone(), span };
            for step in path {
                value = part(value, step);
            }
            let (ty, body_span) = (body.ty.clone(), body.span);
            let kind = ExprKind::Let { variable, value: Box::new(value), body: Box::new(body) };
            body = Expr { kind, ty, span: body_span };
        }
        body
    }
}

/// The part of a value one step away.
fn part(value: Expr, step: Step) -> Expr {
    let span = value.span;
    let ty = match (&value.ty, step) {
        (Type::Pair(first, _), Step::First) => Some(Type::clone(first)),
        (Type::Pair(_, rest), Step::Rest) => Some(Type::clone(rest)),
        (record, Step::Payload) => record.payload(),
        _ => None,
    };
    // The types of a pattern and of what it takes apart agree.
    let Some(ty) = ty else { return value };
    let value = Box::new(value);
    let kind = match step {
        Step::First => ExprKind::First(value),
        Step::Rest => ExprKind::Rest(value),
        Step::Payload => ExprKind::Payload(value),
    };
    Expr { kind, ty, span }
}

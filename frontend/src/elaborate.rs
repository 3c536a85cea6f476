//! From the typed tree to core: types are settled, patterns become projections, sugar is gone.
//!
//! A type variable that is not a parameter of the enclosing function's scheme is settled as `int`: nothing depends on it but
//! the type of empty sequences. That also holds within a group of functions that call each other, where a variable of one
//! function need not occur in the type of another.

use crate::ast::Symbol;
use crate::core::{Expr, ExprKind, FunctionId, Variable, VariableId};
use crate::infer::typed;
use crate::infer::typed::{Callee, Pattern, PatternKind};
use crate::infer::types::{Node, TypeId, Types};
use crate::ty::{Class, Type};
use nesl_span::Span;
use std::collections::{HashMap, HashSet};

/// The functions of the group being finished, by form, with the variables that became their parameters.
pub(crate) type Group = HashMap<usize, (FunctionId, Vec<TypeId>)>;

/// Turns types under inference into types of core.
pub(crate) struct Export<'a> {
    types: &'a Types,
    variables: &'a [TypeId],
    parameters: HashMap<TypeId, usize>,
    done: HashMap<TypeId, Type>,
}

impl<'a> Export<'a> {
    /// With these variables, all of them roots, as the type parameters.
    pub fn new(types: &'a Types, variables: &'a [TypeId]) -> Export<'a> {
        let parameters = variables.iter().enumerate().map(|(index, &variable)| (variable, index)).collect();
        Export { types, variables, parameters, done: HashMap::new() }
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
            Node::Variable(_) => return self.parameters.get(&root).map_or(Type::INT, |&index| Type::Parameter(index)),
            Node::Error | Node::Link(_) => return Type::INT,
            Node::Pair(..) | Node::Sequence(_) => {}
        }
        if let Some(done) = self.done.get(&root) {
            return done.clone();
        }
        let ty = match self.types.node(root) {
            Node::Pair(first, rest) => Type::pair(self.ty(first), self.ty(rest)),
            Node::Sequence(element) => Type::sequence(self.ty(element)),
            _ => Type::INT,
        };
        self.done.insert(root, ty.clone());
        ty
    }
}

/// Turns one function or value into core.
pub(crate) struct Elaboration<'a> {
    export: Export<'a>,
    group: &'a Group,
    next_variable: &'a mut usize,
    /// Variables with a mention in the core made so far.
    used: HashSet<VariableId>,
    /// Variables of patterns that go by another number in the filter being made.
    renamed: HashMap<VariableId, VariableId>,
}

impl<'a> Elaboration<'a> {
    /// For a function with these type parameters; none for a value.
    pub fn new(types: &'a Types, variables: &'a [TypeId], group: &'a Group, next_variable: &'a mut usize) -> Self {
        let (used, renamed) = (HashSet::new(), HashMap::new());
        Elaboration { export: Export::new(types, variables), group, next_variable, used, renamed }
    }

    /// The parameter and body of a function.
    pub fn function(&mut self, pattern: &Pattern, body: &typed::Expr) -> (Variable, Expr) {
        let parameter = self.binder(pattern, "argument");
        let body = self.expression(body);
        let body = self.project(pattern, &parameter, body);
        (parameter, body)
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
            typed::ExprKind::Pair(first, rest) => ExprKind::Pair(self.boxed(first), self.boxed(rest)),
            typed::ExprKind::Call { callee, argument } => {
                let (function, type_arguments) = self.callee(callee);
                ExprKind::Call { function, type_arguments, argument: self.boxed(argument) }
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
            Callee::Group(form) => match self.group.get(form) {
                Some((function, variables)) => {
                    (*function, variables.iter().map(|&variable| self.export.ty(variable)).collect())
                }
                // A group with a broken member is not elaborated.
                None => (FunctionId(usize::MAX), Vec::new()),
            },
        }
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
            PatternKind::Pair(..) | PatternKind::Error => {
                Variable { id: self.new_variable(), name: Symbol::from(name), ty }
            }
        }
    }

    /// Binds around `body` those variables of a tuple pattern that it mentions to their parts of `whole`.
    fn project(&mut self, pattern: &Pattern, whole: &Variable, body: Expr) -> Expr {
        if matches!(pattern.kind, PatternKind::Variable(..)) {
            return body;
        }
        let mut parts: Vec<(Variable, Vec<bool>, Span)> = Vec::new();
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
            for is_rest in path {
                let Type::Pair(first, rest) = &value.ty else { break };
                let ty = Type::clone(if is_rest { rest } else { first });
                let value_box = Box::new(value);
                let kind = if is_rest { ExprKind::Rest(value_box) } else { ExprKind::First(value_box) };
                value = Expr { kind, ty, span };
            }
            let (ty, body_span) = (body.ty.clone(), body.span);
            let kind = ExprKind::Let { variable, value: Box::new(value), body: Box::new(body) };
            body = Expr { kind, ty, span: body_span };
        }
        body
    }
}

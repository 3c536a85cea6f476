//! Checks of types: that they are types of values, and that what they mention exists.

use super::problem::CoreProblem;
use crate::core::typing::arrow;
use crate::core::{FunctionId, Program};
use crate::ty::{Class, FunctionType, Identity, Type};
use std::collections::HashSet;
use std::sync::Arc;

/// Checks types.
pub(super) struct TypeChecker<'a> {
    program: &'a Program,
    classes: &'a [Class],
    /// The parts of types that have been checked. A type has few of them, but may be made of them in many ways: that of
    /// `let a = (1, 1); b = (a, a); c = (b, b) in …` doubles with each binding.
    checked: HashSet<*const Type>,
    /// What has been found.
    pub problems: Vec<CoreProblem>,
}

impl<'a> TypeChecker<'a> {
    /// For a place in a program where type parameters of these classes are known.
    pub fn new(program: &'a Program, classes: &'a [Class]) -> TypeChecker<'a> {
        TypeChecker { program, classes, checked: HashSet::new(), problems: Vec::new() }
    }

    /// Checks a part of the type of a value.
    fn part(&mut self, part: &Arc<Type>) {
        if self.checked.insert(Arc::as_ptr(part)) {
            self.value(part);
        }
    }

    /// Checks the type of a value.
    pub fn value(&mut self, ty: &Type) {
        match ty {
            Type::Scalar(_) | Type::Unit => {}
            Type::Pair(first, rest) => {
                self.part(first);
                self.part(rest);
            }
            Type::Sequence(element) => self.part(element),
            Type::Record(datatype, arguments) => self.arguments(&datatype.classes, arguments),
            Type::Function(function) => self.function(function),
            Type::Identity(_) => self.problems.push(CoreProblem::Form { expected: "a value", found: ty.clone() }),
            Type::Parameter(index) => match self.classes.get(*index) {
                None => self.problems.push(CoreProblem::UnknownParameter(*index)),
                Some(Class::Function) => {
                    self.problems.push(CoreProblem::Form { expected: "a value", found: ty.clone() });
                }
                Some(_) => {}
            },
        }
    }

    /// Checks type arguments for parameters of these classes.
    pub fn arguments(&mut self, classes: &[Class], arguments: &[Type]) {
        if classes.len() != arguments.len() {
            self.problems.push(CoreProblem::TypeArguments { expected: classes.len(), found: arguments.len() });
        }
        for (&class, argument) in classes.iter().zip(arguments) {
            let before = self.problems.len();
            match class {
                Class::Function => self.identity(argument),
                _ => self.value(argument),
            }
            if self.problems.len() == before && !self.is_in(argument, class) {
                self.problems.push(CoreProblem::Class { expected: class, found: argument.clone() });
            }
        }
    }

    fn is_in(&self, argument: &Type, class: Class) -> bool {
        match argument {
            Type::Scalar(scalar) => class.scalars().contains(scalar),
            Type::Parameter(index) => self.classes.get(*index).is_some_and(|known| known.is_within(class)),
            Type::Identity(_) => class == Class::Function,
            _ => class == Class::Any,
        }
    }

    /// Checks what says which function a function value is, by itself.
    fn identity(&mut self, ty: &Type) {
        match ty {
            Type::Identity(identity) => self.known(identity),
            Type::Parameter(index) => match self.classes.get(*index) {
                None => self.problems.push(CoreProblem::UnknownParameter(*index)),
                Some(Class::Function) => {}
                Some(_) => self.problems.push(CoreProblem::Form { expected: "an identity", found: ty.clone() }),
            },
            _ => self.problems.push(CoreProblem::Form { expected: "an identity", found: ty.clone() }),
        }
    }

    fn known(&mut self, identity: &Identity) {
        if identity.function == Identity::NOBODY {
            let found = identity.type_arguments.len() + identity.captured.len();
            if found > 0 {
                self.problems.push(CoreProblem::TypeArguments { expected: 0, found });
            }
            return;
        }
        let program = self.program;
        match program.functions.get(identity.function) {
            None => self.problems.push(CoreProblem::UnknownFunction(FunctionId(identity.function))),
            Some(function) => self.arguments(&function.scheme.classes, &identity.type_arguments),
        }
        identity.captured.iter().for_each(|captured| self.value(captured));
    }

    fn function(&mut self, function: &FunctionType) {
        let before = self.problems.len();
        self.value(&function.parameter);
        self.value(&function.result);
        self.identity(&function.identity);
        if self.problems.len() > before {
            return;
        }
        let Type::Identity(identity) = &function.identity else { return };
        if identity.function == Identity::NOBODY {
            return;
        }
        let expected = arrow(identity, self.program);
        let found = (function.parameter.clone(), function.result.clone());
        if expected.as_ref() != Some(&found) {
            self.problems.push(CoreProblem::Identity { expected, found });
        }
    }
}

//! A small checker of core: that every expression has the type it says, and every variable is bound once.

use nesl_frontend::core::{Expr, ExprKind, Form, FunctionBody, Program, Variable, VariableId};
use nesl_frontend::ty::{Class, Type};
use std::collections::{HashMap, HashSet};

/// What is bound where, and what has been bound anywhere.
struct Checker<'a> {
    program: &'a Program,
    scope: HashMap<VariableId, Type>,
    bound: HashSet<VariableId>,
}

impl Checker<'_> {
    fn bind(&mut self, variable: &Variable) {
        assert!(self.bound.insert(variable.id), "{} is bound twice", variable.name);
        assert!(variable.id.0 < self.program.variables, "{} has no number", variable.name);
        self.scope.insert(variable.id, variable.ty.clone());
    }

    fn unbind(&mut self, variable: &Variable) {
        self.scope.remove(&variable.id);
    }

    fn check(&mut self, expression: &Expr) {
        let ty = &expression.ty;
        match &expression.kind {
            ExprKind::Literal(value) => assert_eq!(*ty, Type::Scalar(value.scalar_type())),
            ExprKind::Unit => assert_eq!(*ty, Type::Unit),
            ExprKind::Constants(values) => {
                let Type::Sequence(element) = ty else { panic!("constants of type {ty}") };
                for value in values.iter() {
                    assert_eq!(**element, Type::Scalar(value.scalar_type()));
                }
            }
            ExprKind::Variable(id) => assert_eq!(self.scope.get(id), Some(ty), "a variable out of scope"),
            ExprKind::Global(id) => assert_eq!(self.program.global(*id).ty, *ty),
            ExprKind::Pair(first, rest) => {
                self.check(first);
                self.check(rest);
                assert_eq!(*ty, Type::pair(first.ty.clone(), rest.ty.clone()));
            }
            ExprKind::First(pair) | ExprKind::Rest(pair) => {
                self.check(pair);
                let Type::Pair(first, rest) = &pair.ty else { panic!("a projection of {}", pair.ty) };
                let is_first = matches!(expression.kind, ExprKind::First(_));
                assert_eq!(ty, &**if is_first { first } else { rest });
            }
            ExprKind::Construct(payload) => {
                self.check(payload);
                assert_eq!(ty.payload().as_ref(), Some(&payload.ty));
            }
            ExprKind::Payload(record) => {
                self.check(record);
                assert_eq!(record.ty.payload().as_ref(), Some(ty));
            }
            ExprKind::Closure { function, type_arguments, captured } => {
                assert!(self.program.function_values.contains(function));
                let identity = ty.identity().expect("a closure whose function is not known");
                assert_eq!((identity.function, &identity.type_arguments), (function.0, type_arguments));
                for variable in captured {
                    assert!(matches!(variable.kind, ExprKind::Variable(_)));
                    self.check(variable);
                }
                let types: Vec<Type> = captured.iter().map(|variable| variable.ty.clone()).collect();
                assert_eq!(identity.captured, types);
                let Type::Function(own) = ty else { panic!("a closure of type {ty}") };
                let scheme = &self.program.function(*function).scheme;
                assert_eq!(type_arguments.len(), scheme.classes.len());
                let parameter = match identity.captured_tuple() {
                    Some(captured) => Type::pair(captured, own.parameter.clone()),
                    None => own.parameter.clone(),
                };
                assert_eq!(scheme.parameter.instantiate(type_arguments), parameter);
                assert_eq!(scheme.result.instantiate(type_arguments), own.result);
            }
            ExprKind::Apply { function, argument } => {
                self.check(function);
                self.check(argument);
                let Type::Function(called) = &function.ty else { panic!("a call of type {}", function.ty) };
                assert_eq!((&called.parameter, &called.result), (&argument.ty, ty));
            }
            ExprKind::Let { variable, value, body } => {
                self.check(value);
                assert_eq!(value.ty, variable.ty);
                self.bind(variable);
                self.check(body);
                assert_eq!(body.ty, *ty);
                self.unbind(variable);
            }
            ExprKind::If { condition, then_branch, else_branch } => {
                for part in [condition, then_branch, else_branch] {
                    self.check(part);
                }
                assert_eq!((&condition.ty, &then_branch.ty, &else_branch.ty), (&Type::BOOL, ty, ty));
            }
            ExprKind::Sequence(elements) => {
                for element in elements {
                    self.check(element);
                    assert_eq!(*ty, Type::sequence(element.ty.clone()));
                }
            }
            ExprKind::Call { function, type_arguments, argument } => {
                self.check(argument);
                let function = self.program.function(*function);
                assert_eq!(type_arguments.len(), function.scheme.classes.len());
                for (class, argument) in function.scheme.classes.iter().zip(type_arguments) {
                    match argument {
                        Type::Scalar(scalar) => {
                            assert!(class.scalars().contains(scalar), "{argument} in {}", class.name());
                        }
                        Type::Parameter(_) => {}
                        Type::Identity(_) => assert_eq!(*class, Class::Function),
                        _ => assert_eq!(*class, Class::Any),
                    }
                }
                assert_eq!(argument.ty, function.scheme.parameter.instantiate(type_arguments), "{}", function.name);
                assert_eq!(*ty, function.scheme.result.instantiate(type_arguments), "{}", function.name);
            }
            ExprKind::Each { sources, filter, body } => {
                for (variable, sequence) in sources {
                    self.check(sequence);
                    assert_eq!(sequence.ty, Type::sequence(variable.ty.clone()));
                }
                for (variable, _) in sources {
                    self.bind(variable);
                }
                if let Some(filter) = filter {
                    self.check(filter);
                    assert_eq!(filter.ty, Type::BOOL);
                }
                self.check(body);
                assert_eq!(*ty, Type::sequence(body.ty.clone()));
                for (variable, _) in sources {
                    self.unbind(variable);
                }
            }
        }
    }
}

/// Checks all functions of a program and these forms.
pub fn check(program: &Program, forms: &[Form]) {
    let mut checker = Checker { program, scope: HashMap::new(), bound: HashSet::new() };
    for function in &program.functions {
        match &function.body {
            FunctionBody::Defined { parameter, body } => {
                assert_eq!(parameter.ty, function.scheme.parameter, "{}", function.name);
                assert_eq!(body.ty, function.scheme.result, "{}", function.name);
                checker.bind(parameter);
                checker.check(body);
                checker.unbind(parameter);
            }
            FunctionBody::Intrinsic(_) => {}
            FunctionBody::Missing => assert!(!function.is_lambda(), "{} has no body", function.name),
        }
    }
    for form in forms {
        match form {
            Form::Function(_) => {}
            Form::Expression(value) => checker.check(value),
            Form::Assignment { targets, value } => {
                checker.check(value);
                for (id, path) in targets {
                    let mut ty = value.ty.clone();
                    for is_rest in path {
                        while let Some(payload) = ty.payload() {
                            ty = payload;
                        }
                        let Type::Pair(first, rest) = &ty else { panic!("no part in {ty}") };
                        ty = Type::clone(if *is_rest { rest } else { first });
                    }
                    let wanted = &program.global(*id).ty;
                    while ty != *wanted {
                        ty = ty.payload().expect("a part of another type");
                    }
                }
            }
        }
    }
}

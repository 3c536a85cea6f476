//! The types that parts determine: of an expression by its kind, of a function at type arguments, of a function value
//! by its identity.
//!
//! This is the rule that core is held to: the verifier compares with it, the printer leaves out what follows from it,
//! and the parser puts that back. It takes core that breaks the rule, too, and says nothing where there is nothing to
//! say.

use super::{ExprKind, FunctionId, Program, VariableId};
use crate::ty::{Identity, Type};
use std::sync::Arc;

/// The type that an expression of this kind has by its parts and what it mentions. None where these do not tell it: the
/// empty sequence and a record say it themselves, and what is broken says nothing.
pub fn type_of(kind: &ExprKind, program: &Program, variable: impl Fn(VariableId) -> Option<Type>) -> Option<Type> {
    match kind {
        ExprKind::Literal(value) => Some(Type::Scalar(value.scalar_type())),
        ExprKind::Unit => Some(Type::Unit),
        ExprKind::Constants(values) => values.first().map(|value| Type::sequence(Type::Scalar(value.scalar_type()))),
        ExprKind::Variable(id) => variable(*id),
        ExprKind::Global(id) => program.globals.get(id.0).map(|global| global.ty.clone()),
        ExprKind::Pair(first, rest) => Some(Type::pair(first.ty.clone(), rest.ty.clone())),
        ExprKind::First(pair) => match &pair.ty {
            Type::Pair(first, _) => Some(Type::clone(first)),
            _ => None,
        },
        ExprKind::Rest(pair) => match &pair.ty {
            Type::Pair(_, rest) => Some(Type::clone(rest)),
            _ => None,
        },
        ExprKind::Let { body, .. } => Some(body.ty.clone()),
        ExprKind::If { then_branch, .. } => Some(then_branch.ty.clone()),
        ExprKind::Construct(_) => None,
        ExprKind::Payload(record) => payload(&record.ty),
        ExprKind::Closure { function, type_arguments, captured } => {
            let captured = captured.iter().map(|part| part.ty.clone()).collect();
            let identity = Identity { function: function.0, type_arguments: type_arguments.clone(), captured };
            let (parameter, result) = arrow(&identity, program)?;
            Some(Type::function(parameter, result, Type::Identity(Arc::new(identity))))
        }
        ExprKind::Apply { function, .. } => match &function.ty {
            Type::Function(called) => Some(called.result.clone()),
            _ => None,
        },
        ExprKind::Sequence(elements) => elements.first().map(|element| Type::sequence(element.ty.clone())),
        ExprKind::Call { function, type_arguments, .. } => {
            instance(*function, type_arguments, program).map(|(_, result)| result)
        }
        ExprKind::Each { body, .. } => Some(Type::sequence(body.ty.clone())),
    }
}

/// The parameter and the result of a function at type arguments; none if there is no such function, or if it takes
/// another number of them.
pub fn instance(function: FunctionId, type_arguments: &[Type], program: &Program) -> Option<(Type, Type)> {
    let scheme = &program.functions.get(function.0)?.scheme;
    let count = scheme.classes.len();
    let is_whole = type_arguments.len() == count && ends(&scheme.parameter).max(ends(&scheme.result)) <= count;
    is_whole.then(|| (scheme.parameter.instantiate(type_arguments), scheme.result.instantiate(type_arguments)))
}

/// The argument and the result of a function value with an identity: the parameter of a function that captures
/// something is the pair of that and the argument. None where nobody is meant, or nothing that exists.
pub fn arrow(identity: &Identity, program: &Program) -> Option<(Type, Type)> {
    let (parameter, result) = instance(FunctionId(identity.function), &identity.type_arguments, program)?;
    match (identity.captured_tuple(), parameter) {
        (None, parameter) => Some((parameter, result)),
        (Some(captured), Type::Pair(first, argument)) if *first == captured => Some((Type::clone(&argument), result)),
        (Some(_), _) => None,
    }
}

/// The type that a record wraps; none for other types, and for a record that does not have the type arguments of its
/// datatype.
pub fn payload(ty: &Type) -> Option<Type> {
    let Type::Record(datatype, arguments) = ty else { return None };
    let is_whole = datatype.classes.len() == arguments.len() && ends(&datatype.payload) <= arguments.len();
    if is_whole { ty.payload() } else { None }
}

/// The number after the greatest type parameter that a type mentions.
fn ends(ty: &Type) -> usize {
    let all = |types: &[Type]| types.iter().map(ends).max().unwrap_or(0);
    match ty {
        Type::Scalar(_) | Type::Unit => 0,
        Type::Pair(first, rest) => ends(first).max(ends(rest)),
        Type::Sequence(element) => ends(element),
        Type::Record(_, arguments) => all(arguments),
        Type::Function(function) => ends(&function.parameter).max(ends(&function.result)).max(ends(&function.identity)),
        Type::Identity(identity) => all(&identity.type_arguments).max(all(&identity.captured)),
        Type::Parameter(index) => index + 1,
    }
}

//! Functions of NESL, whose types have parameters: what stands for these in a call, and whether the call may have it.

use super::Lowering;
use super::convert::met;
use super::expressions::broken;
use crate::ast::{Expr, Name};
use crate::diagnostic::Diagnostic;
use crate::syntax::v::build::name;
use crate::syntax::v::known::{OutsideFunction, Signature};
use crate::syntax::v::tree::{Expression, ExpressionKind};
use crate::syntax::v::types::Type;
use crate::ty::{self, Class};
use nesl_prim::ScalarType;
use std::sync::Arc;

/// What all parameters of a function are together.
fn whole_parameter(signature: &Signature) -> Type {
    let types = signature.parameters.iter().map(|parameter| parameter.ty.clone());
    types.rev().reduce(|rest, first| Type::Pair(Arc::new(first), Arc::new(rest))).unwrap_or(Type::Void)
}

/// The types in a class, as V writes them.
fn members(class: Class) -> &'static str {
    match class {
        Class::Number => "`int` and `double`",
        Class::Ordinal => "`int`, `double` and `char`",
        Class::Logical => "`int` and `bool`",
        Class::Scalar | Class::Any | Class::Function => "`int`, `double`, `bool` and `char`",
    }
}

impl Lowering<'_> {
    /// The name of a function where a function of NESL takes one.
    pub(super) fn function_argument(
        &mut self,
        argument: &Expression,
        wanted: &ty::FunctionType,
        bindings: &mut [Type],
    ) -> Expr {
        let span = argument.span;
        let ExpressionKind::Name(source) = &argument.kind else {
            let report = Diagnostic::error("E0204", "the name of a function must stand here", span);
            self.report(report);
            return broken(span).0;
        };
        if let Some(signature) = self.definitions.functions.get(&source.symbol).cloned() {
            self.check_purity(&source.symbol, span, signature.is_pure, Some(signature.span));
            self.unify(&wanted.parameter, &whole_parameter(&signature), bindings);
            self.unify(&wanted.result, &signature.result, bindings);
        } else if let Some(foreign) = self.around.function(&source.symbol) {
            let effect = foreign.effect;
            self.check_purity(&source.symbol, span, !(effect.prints || effect.acts), None);
            let (parameter, result) = self.at(&foreign, wanted, bindings);
            self.unify(&wanted.parameter, &parameter, bindings);
            self.unify(&wanted.result, &result, bindings);
        } else {
            self.unknown_name(&source.symbol, span, true);
            return broken(span).0;
        }
        name(&source.symbol, span)
    }

    /// The parameter and the result of a function of NESL that gets what a parameter of another one is called with.
    fn at(&self, foreign: &OutsideFunction, wanted: &ty::FunctionType, bindings: &[Type]) -> (Type, Type) {
        let own = self.own_bindings(foreign, wanted, bindings);
        (self.imported(&foreign.scheme.parameter, &own), self.imported(&foreign.scheme.result, &own))
    }

    fn own_bindings(&self, foreign: &OutsideFunction, wanted: &ty::FunctionType, bindings: &[Type]) -> Vec<Type> {
        let mut own = vec![Type::Unknown; foreign.scheme.classes.len()];
        self.unify(&foreign.scheme.parameter, &self.imported(&wanted.parameter, bindings), &mut own);
        own
    }

    /// Reports functions among the arguments of a function of NESL that do not take or give what it needs.
    pub(super) fn check_functions(
        &mut self,
        parameters: &[ty::Type],
        arguments: &[Expression],
        bindings: &[Type],
        called: &Name,
    ) {
        for (parameter, argument) in parameters.iter().zip(arguments) {
            let (ty::Type::Function(wanted), ExpressionKind::Name(passed)) = (parameter, &argument.kind) else {
                continue;
            };
            let (takes, gives) = match (self.definitions.functions.get(&passed.symbol), &passed.symbol) {
                (Some(signature), _) => (whole_parameter(signature), signature.result.clone()),
                (None, symbol) => match self.around.function(symbol) {
                    Some(foreign) => {
                        let own = self.own_bindings(&foreign, wanted, bindings);
                        self.check_classes(&foreign.scheme.classes, &own, passed);
                        self.at(&foreign, wanted, bindings)
                    }
                    None => continue,
                },
            };
            let needs = (self.imported(&wanted.parameter, bindings), self.imported(&wanted.result, bindings));
            if !takes.fits(&needs.0) || !gives.fits(&needs.1) {
                let message = format!(
                    "`{}` needs a function that makes `{}` of `{}`, and `{}` makes `{gives}` of `{takes}`",
                    called.symbol, needs.1, needs.0, passed.symbol
                );
                self.report(Diagnostic::error("E0202", message, argument.span).saying("this function"));
            }
        }
    }

    /// Reports types that a function of NESL is not for.
    pub(super) fn check_classes(&mut self, classes: &[Class], bindings: &[Type], called: &Name) {
        let admits = |class: Class, ty: &Type| match ty {
            Type::Unknown => true,
            Type::Int => class.scalars().contains(&ScalarType::Int),
            Type::Double => class.scalars().contains(&ScalarType::Float),
            Type::Bool => class.scalars().contains(&ScalarType::Bool),
            Type::Char => class.scalars().contains(&ScalarType::Char),
            _ => false,
        };
        let other = classes.iter().zip(bindings).find(|(class, ty)| match class {
            Class::Any | Class::Function => false,
            class => !admits(**class, ty),
        });
        if let Some((class, ty)) = other {
            let message = format!("`{}` works on {}, and this is `{ty}`", called.symbol, members(*class));
            self.report(Diagnostic::error("E0203", message, called.span));
        }
    }

    /// A type of core, with what its parameters are known to be.
    pub(super) fn imported(&self, ty: &ty::Type, bindings: &[Type]) -> Type {
        let of = |ty| self.imported(ty, bindings);
        match ty {
            ty::Type::Parameter(index) => bindings.get(*index).cloned().unwrap_or(Type::Unknown),
            ty::Type::Sequence(element) => Type::vector(of(element)),
            ty::Type::Pair(first, rest) => Type::Pair(Arc::new(of(first)), Arc::new(of(rest))),
            ty::Type::Record(datatype, arguments) if !self.definitions.structures.contains_key(&datatype.name) => {
                Type::Record(Arc::clone(datatype), arguments.iter().map(of).collect())
            }
            other => Type::of(other, &|name| self.definitions.structures.contains_key(name)),
        }
    }

    /// Learns what the parameters of a type are from a type that stands for it.
    pub(super) fn unify(&self, pattern: &ty::Type, ty: &Type, bindings: &mut [Type]) {
        match (pattern, ty) {
            (ty::Type::Parameter(index), ty) => {
                if let Some(binding) = bindings.get_mut(*index)
                    && let Some(common) = met(binding, ty)
                {
                    *binding = common;
                }
            }
            (ty::Type::Sequence(element), Type::Vector(found)) => self.unify(element, found, bindings),
            (ty::Type::Pair(first, rest), Type::Pair(found_first, found_rest)) => {
                self.unify(first, found_first, bindings);
                self.unify(rest, found_rest, bindings);
            }
            (ty::Type::Record(_, arguments), Type::Record(_, found)) => {
                for (argument, found) in arguments.iter().zip(found) {
                    self.unify(argument, found, bindings);
                }
            }
            _ => {}
        }
    }
}

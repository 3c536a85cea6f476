//! Signatures and written types.

use super::Inference;
use super::problem::definition::DefinitionProblem;
use super::problem::names::NameProblem;
use super::problem::warning::Warning;
use crate::ast::{Name, Signature, Symbol, TypeExpr, TypeExprKind};
use crate::ty::Class;
use crate::typed::types::{Node, TypeId, Types};
use nesl_span::Span;
use std::collections::HashMap;

/// A signature under inference.
#[derive(Debug)]
pub(super) struct Declared {
    /// The type of the parameter.
    pub parameter: TypeId,
    /// The type of the result.
    pub result: TypeId,
    /// The listed type variables.
    pub variables: Vec<(Symbol, Class, TypeId)>,
    /// The whole signature.
    pub span: Span,
}

impl Inference<'_> {
    /// The types of a signature. Its variables are visible in the types of the body until the next form.
    pub(super) fn declared(&mut self, signature: &Signature) -> Declared {
        let variables = self.context(&signature.context);
        let (parameter, result) = match &signature.type_expr.kind {
            TypeExprKind::Function(parameter, result) => {
                (self.type_expression(parameter), self.type_expression(result))
            }
            TypeExprKind::Error => (Types::ERROR, Types::ERROR),
            _ => {
                self.type_expression(&signature.type_expr);
                self.report(signature.type_expr.span, DefinitionProblem::NotAFunctionType);
                (Types::ERROR, Types::ERROR)
            }
        };
        Declared { parameter, result, variables, span: signature.span }
    }

    /// The type variables of a context, which become visible in written types until the next form.
    pub(super) fn context(&mut self, context: &[(Name, Name)]) -> Vec<(Symbol, Class, TypeId)> {
        let mut variables: Vec<(Symbol, Class, TypeId)> = Vec::new();
        let mut by_name = HashMap::new();
        for (name, class_name) in context {
            let class = Class::by_name(&class_name.symbol).unwrap_or_else(|| {
                self.report(class_name.span, NameProblem::UnknownClass(class_name.symbol.clone()));
                Class::Any
            });
            let variable = self.types.variable(class);
            if by_name.insert(name.symbol.clone(), variable).is_some() {
                self.report(name.span, NameProblem::VariableTwice(name.symbol.clone()));
            }
            variables.push((name.symbol.clone(), class, variable));
        }
        self.signature = by_name;
        variables
    }

    /// A written type.
    pub(super) fn type_expression(&mut self, ty: &TypeExpr) -> TypeId {
        match &ty.kind {
            TypeExprKind::Scalar(scalar) => self.types.scalar(*scalar),
            TypeExprKind::Name(name) => match self.signature.get(&name.symbol) {
                Some(&variable) => variable,
                None => self.record_type(name, &[], ty.span),
            },
            TypeExprKind::Record(name, arguments) => self.record_type(name, arguments, ty.span),
            TypeExprKind::Sequence(element) => {
                let element = self.type_expression(element);
                self.types.sequence(element)
            }
            TypeExprKind::Unit => Types::UNIT,
            TypeExprKind::Tuple(parts) => {
                let parts: Vec<TypeId> = parts.iter().map(|part| self.type_expression(part)).collect();
                let pair = |rest, first| self.types.pair(first, rest);
                parts.into_iter().rev().reduce(pair).unwrap_or(Types::ERROR)
            }
            // A written function type leaves open which function it is.
            TypeExprKind::Function(parameter, result) => {
                let (parameter, result) = (self.type_expression(parameter), self.type_expression(result));
                let identity = self.fresh_identity();
                self.types.function(parameter, result, identity)
            }
            TypeExprKind::Error => Types::ERROR,
        }
    }

    /// Warns if a signature's variables stand for less than they promise.
    pub(super) fn check_promise(&mut self, declared: &Declared) {
        let mut seen: Vec<TypeId> = Vec::new();
        let mut broken = None;
        for (name, class, variable) in &declared.variables {
            let root = self.types.root(*variable);
            let holds = self.types.node(root) == Node::Variable(*class) && !seen.contains(&root);
            seen.push(root);
            if !holds && !self.types.has_error(root) && broken.is_none() {
                broken = Some((name.clone(), *class));
            }
        }
        let Some((variable, class)) = broken else { return };
        let (parameter, result) = (self.resolved(declared.parameter), self.resolved(declared.result));
        let (parameter, result) = (Box::new(parameter), Box::new(result));
        self.report(declared.span, Warning::Promise { variable, class, parameter, result });
    }
}

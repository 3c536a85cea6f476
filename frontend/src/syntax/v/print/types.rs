//! Types: of what is declared, and of expressions.

use super::{Printer, Sort};
use crate::ast::{BinaryOp, Expr, ExprKind, PatternKind, TypeExpr, TypeExprKind, UnaryOp};
use crate::syntax::v::types::Type;
use crate::ty;
use nesl_prim::{ScalarType, ScalarValue};
use nesl_span::Span;
use std::sync::Arc;

/// The head of a function.
pub(super) fn head(result: &Type, name: &str, parameters: &[String], is_pure: bool) -> String {
    let (mut base, mut dimensions) = (result, String::new());
    while let Type::Vector(element) = base {
        (base, dimensions) = (element, dimensions + "[*]");
    }
    let purity = if is_pure { "pure " } else { "" };
    let dimensions = if dimensions.is_empty() { dimensions } else { format!(" {dimensions}") };
    format!("{purity}{base} {name}({}){dimensions}", parameters.join(", "))
}

/// The parts of a payload, as many as are written.
pub(super) fn parts(ty: &ty::Type, written: &TypeExpr) -> Vec<ty::Type> {
    let count = match &written.kind {
        TypeExprKind::Tuple(parts) => parts.len(),
        TypeExprKind::Unit => 0,
        _ => 1,
    };
    let mut parts = Vec::new();
    let mut rest = ty;
    while parts.len() + 1 < count
        && let ty::Type::Pair(first, after) = rest
    {
        parts.push((**first).clone());
        rest = after;
    }
    if count > 0 {
        parts.push(rest.clone());
    }
    parts
}

/// Learns what the parameters of a type are from a type that stands for it.
pub(super) fn unify(pattern: &ty::Type, ty: &ty::Type, arguments: &mut [ty::Type]) {
    match (pattern, ty) {
        (ty::Type::Parameter(index), ty) => {
            if let Some(argument) = arguments.get_mut(*index) {
                *argument = ty.clone();
            }
        }
        (ty::Type::Sequence(one), ty::Type::Sequence(other)) => unify(one, other, arguments),
        (ty::Type::Pair(first, rest), ty::Type::Pair(other_first, other_rest)) => {
            unify(first, other_first, arguments);
            unify(rest, other_rest, arguments);
        }
        (ty::Type::Record(_, ones), ty::Type::Record(_, others)) => {
            ones.iter().zip(others).for_each(|(one, other)| unify(one, other, arguments));
        }
        _ => {}
    }
}

impl Printer<'_> {
    /// A type with what the parameters of the function are.
    pub(super) fn instantiated(&self, ty: &ty::Type) -> ty::Type {
        let arguments = &self.inside.arguments;
        match ty {
            ty::Type::Parameter(index) => arguments.get(*index).cloned().unwrap_or(ty::Type::INT),
            ty::Type::Pair(first, rest) => ty::Type::pair(self.instantiated(first), self.instantiated(rest)),
            ty::Type::Sequence(element) => ty::Type::sequence(self.instantiated(element)),
            ty::Type::Record(datatype, parts) => {
                ty::Type::Record(Arc::clone(datatype), parts.iter().map(|part| self.instantiated(part)).collect())
            }
            other => other.clone(),
        }
    }

    /// The type as V writes it; reported if it cannot.
    pub(super) fn sayable(&mut self, ty: &ty::Type, at: Span) -> Type {
        match ty {
            ty::Type::Sequence(element) => match self.sayable(element, at) {
                Type::Unknown => Type::Unknown,
                element => Type::vector(element),
            },
            ty::Type::Pair(..) => {
                self.no_tuples(at);
                Type::Unknown
            }
            ty::Type::Function(_) => {
                let hint = "write a function for each that is passed, or with the loop in it";
                self.cannot("functions are no values in V", at, hint);
                Type::Unknown
            }
            ty::Type::Record(datatype, arguments) if arguments.is_empty() => {
                let own = self.forms.iter().flat_map(super::defined).find(|(name, _)| *name == datatype.name);
                let name = own.and_then(|(_, span)| self.tops.get(&span)).map_or(&*datatype.name, String::as_str);
                Type::Struct(name.into())
            }
            ty::Type::Record(datatype, _) => {
                let what = format!("`{}` has type parameters, and structs of V have none", datatype.name);
                self.cannot(what, at, "a struct has fields of one type: write a datatype for each");
                Type::Unknown
            }
            other => Type::of(other, &|_| false),
        }
    }

    /// Reports a tuple.
    pub(super) fn no_tuples(&mut self, at: Span) {
        let hint = "make it a datatype, which is a struct in V: `datatype pair(int, int)` and `pair(a, b)`";
        self.cannot("V has no tuples", at, hint);
    }

    /// The type of an expression, where names in it say so.
    pub(super) fn type_of(&self, expression: &Expr) -> Option<ty::Type> {
        let scalar = |scalar| Some(ty::Type::Scalar(scalar));
        match &expression.kind {
            ExprKind::Literal(value) => scalar(match value {
                ScalarValue::Int(_) => ScalarType::Int,
                ScalarValue::Float(_) => ScalarType::Float,
                ScalarValue::Bool(_) => ScalarType::Bool,
                ScalarValue::Char(_) => ScalarType::Char,
            }),
            ExprKind::Text(_) | ExprKind::Unary { op: UnaryOp::String, .. } => Some(ty::Type::sequence(ty::Type::CHAR)),
            ExprKind::Unary { op: UnaryOp::Length, .. } => scalar(ScalarType::Int),
            ExprKind::Unary { operand, .. } => self.type_of(operand),
            ExprKind::Unit => Some(ty::Type::Unit),
            ExprKind::Name(_) => {
                let meaning = self.meaning(expression.span)?;
                match meaning.sort {
                    Sort::Local | Sort::Global => meaning.ty.as_ref().map(|ty| self.instantiated(ty)),
                    _ => None,
                }
            }
            ExprKind::Call { function, .. } => {
                self.meaning(function.span)?.result.as_ref().map(|ty| self.instantiated(ty))
            }
            ExprKind::Index { sequence, .. } => match self.type_of(sequence)? {
                ty::Type::Sequence(element) => Some((*element).clone()),
                _ => None,
            },
            ExprKind::Binary { op, left, right, .. } => match op {
                BinaryOp::Equal | BinaryOp::Unequal | BinaryOp::Less | BinaryOp::Greater => scalar(ScalarType::Bool),
                BinaryOp::AtMost | BinaryOp::AtLeast => scalar(ScalarType::Bool),
                _ => self.type_of(left).or_else(|| self.type_of(right)),
            },
            ExprKind::If { then_branch, else_branch, .. } => {
                self.type_of(then_branch).or_else(|| self.type_of(else_branch))
            }
            ExprKind::Let { body, .. } => self.type_of(body),
            ExprKind::Sequence(elements) => {
                elements.iter().find_map(|element| self.type_of(element)).map(ty::Type::sequence)
            }
            ExprKind::Range { .. } => Some(ty::Type::sequence(ty::Type::INT)),
            ExprKind::Each { body: Some(body), .. } => self.type_of(body).map(ty::Type::sequence),
            ExprKind::Each { body: None, sources, .. } => {
                let pattern = sources.first()?.pattern.bare();
                match pattern.kind {
                    PatternKind::Variable(_) => self.bound_type(pattern.span).map(ty::Type::sequence),
                    _ => None,
                }
            }
            ExprKind::Tuple(parts) => {
                let parts = parts.iter().map(|part| self.type_of(part)).collect::<Option<Vec<_>>>()?;
                parts.into_iter().rev().reduce(|rest, first| ty::Type::pair(first, rest))
            }
            ExprKind::Empty(Some(ty)) => written(ty).map(ty::Type::sequence),
            ExprKind::Typed { value, .. } => self.type_of(value),
            ExprKind::Empty(None) | ExprKind::Lambda { .. } | ExprKind::Keyword { .. } | ExprKind::Error => None,
        }
    }
}

/// A type without names, as it is written.
fn written(ty: &TypeExpr) -> Option<ty::Type> {
    match &ty.kind {
        TypeExprKind::Scalar(scalar) => Some(ty::Type::Scalar(*scalar)),
        TypeExprKind::Sequence(element) => written(element).map(ty::Type::sequence),
        TypeExprKind::Unit => Some(ty::Type::Unit),
        _ => None,
    }
}

/// An empty vector. What it is a vector of says the place where it stands, or it is one of ints; of other types it says
/// so itself.
pub(super) fn empty(element: Option<&TypeExpr>) -> String {
    match element {
        Some(element) if !matches!(element.kind, TypeExprKind::Scalar(ScalarType::Int)) => empty_of(element),
        _ => "[]".to_owned(),
    }
}

/// An empty vector that says itself what it is of, where V can.
pub(super) fn empty_of(element: &TypeExpr) -> String {
    value_of(element).map_or_else(|| "[]".to_owned(), |value| format!("[x : x in [{value}] : false]"))
}

/// A value of a type that can be written without knowing more than its name.
fn value_of(ty: &TypeExpr) -> Option<String> {
    match &ty.kind {
        TypeExprKind::Scalar(scalar) => Some(match scalar {
            ScalarType::Int => "0".to_owned(),
            ScalarType::Float => "0.0".to_owned(),
            ScalarType::Bool => "false".to_owned(),
            ScalarType::Char => "' '".to_owned(),
        }),
        TypeExprKind::Sequence(element) => Some(empty_of(element)),
        _ => None,
    }
}

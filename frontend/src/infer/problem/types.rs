//! Types as they are known at a moment, and expressions as problems are about them.

use crate::ast::{BinaryOp, Expr, ExprKind, Symbol};
use crate::ty::{Class, Datatype};
use crate::typed::types::TypeId;
use nesl_prim::{ScalarType, ScalarValue};
use nesl_span::Span;
use std::sync::Arc;

/// A type as it is known when a problem is found. Unification afterwards does not change it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Resolved {
    /// Not known, but in this class. Two variables with one number are one.
    Variable(TypeId, Class),
    /// A scalar type.
    Scalar(ScalarType),
    /// `()`.
    Unit,
    /// A pair; longer tuples nest to the right.
    Pair(Box<Resolved>, Box<Resolved>),
    /// A sequence of this.
    Sequence(Box<Resolved>),
    /// A datatype at its arguments, those that say which functions it holds left out.
    Record(Arc<Datatype>, Vec<Resolved>),
    /// A function value: parameter, result, and which function it is, if one is determined.
    Function(Box<Resolved>, Box<Resolved>, Option<FunctionName>),
    /// The type of what has been reported already.
    Error,
}

/// Which function is meant.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FunctionName {
    /// The one of this name.
    Named(Symbol),
    /// A lambda, by its place: `lambda at 3:14`.
    Lambda(Symbol),
    /// One that has no name.
    Unnamed,
    /// One that nothing determines.
    Undetermined,
}

impl Resolved {
    /// The scalar type that it is.
    pub fn scalar(&self) -> Option<ScalarType> {
        match self {
            Resolved::Scalar(scalar) => Some(*scalar),
            _ => None,
        }
    }

    /// The type of its elements, if it is a sequence.
    pub fn element(&self) -> Option<&Resolved> {
        match self {
            Resolved::Sequence(element) => Some(element),
            _ => None,
        }
    }

    /// Whether it is a sequence of characters.
    pub fn is_text(&self) -> bool {
        self.element().is_some_and(|element| element.scalar() == Some(ScalarType::Char))
    }

    /// Its first `count` parts, the last one with all that follows; fewer if it has fewer.
    pub fn split(&self, count: usize) -> Vec<&Resolved> {
        let (mut parts, mut rest) = (Vec::new(), self);
        while let (true, Resolved::Pair(first, tail)) = (parts.len() + 1 < count, rest) {
            parts.push(&**first);
            rest = tail;
        }
        parts.push(rest);
        parts
    }
}

/// An expression that a problem is about.
#[derive(Clone, Debug)]
pub(crate) struct Operand {
    /// Where it stands.
    pub span: Span,
    /// Its type.
    pub ty: Resolved,
    /// How it is written.
    pub writing: Writing,
    /// Whether it is a name that stands for one element of the sequence that has the same name outside.
    pub is_element: bool,
}

/// How an expression is written, as far as advice depends on it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Writing {
    /// `()`.
    Unit,
    /// A literal.
    Literal(ScalarValue),
    /// A text of one character.
    Character(u8),
    /// A tuple of so many parts.
    Tuple(usize),
    /// A quotient of two expressions, each with its place, and its value if it is an int literal.
    Quotient([(Span, Option<i64>); 2]),
    /// A name.
    Name(Symbol),
    /// Something else.
    Other,
}

impl Writing {
    /// How an expression is written.
    pub fn of(expression: &Expr) -> Writing {
        let literal = |expression: &Expr| match expression.kind {
            ExprKind::Literal(ScalarValue::Int(value)) => Some(value),
            _ => None,
        };
        match &expression.kind {
            ExprKind::Unit => Writing::Unit,
            ExprKind::Literal(value) => Writing::Literal(*value),
            ExprKind::Text(bytes) if bytes.len() == 1 => Writing::Character(bytes[0]),
            ExprKind::Tuple(parts) => Writing::Tuple(parts.len()),
            ExprKind::Binary { op: BinaryOp::Divide, left, right, .. } => {
                Writing::Quotient([&**left, right].map(|side| (side.span, literal(side))))
            }
            ExprKind::Name(name) => Writing::Name(name.clone()),
            _ => Writing::Other,
        }
    }
}

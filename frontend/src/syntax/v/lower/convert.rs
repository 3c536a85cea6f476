//! Conversions: those that lose nothing are made where they are needed, the others where the program says so.

use super::Lowering;
use crate::ast::{BinaryOp, Expr, ExprKind};
use crate::diagnostic::Diagnostic;
use crate::syntax::v::build::{binary, double, int, library};
use crate::syntax::v::types::Type;
use nesl_prim::ScalarValue;
use nesl_span::Span;

/// How a conversion is meant.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// By itself: to a type with more values, or to a truth value.
    Implicit,
    /// By a cast.
    Explicit,
}

/// A value of one type as one of another; nothing if it cannot be.
pub(super) fn converted(value: Expr, from: &Type, to: &Type, manner: Manner) -> Option<Expr> {
    if from.fits(to) {
        return Some(value);
    }
    let span = value.span;
    let number = |value: Expr, from: &Type| match from {
        Type::Bool => library("btoi", vec![value], span),
        Type::Char => library("char_code", vec![value], span),
        _ => value,
    };
    let is_explicit = manner == Manner::Explicit;
    Some(match (from, to) {
        (Type::Bool | Type::Char, Type::Int) => number(value, from),
        (Type::Int, Type::Double) => match value.kind {
            // A number that is written out is what it says.
            #[allow(clippy::cast_precision_loss, reason = "as the conversion at run time")]
            ExprKind::Literal(ScalarValue::Int(written)) => double(written as f64, span),
            _ => library("float", vec![value], span),
        },
        (Type::Bool | Type::Char, Type::Double) => library("float", vec![number(value, from)], span),
        (Type::Int | Type::Char, Type::Bool) => binary(BinaryOp::Unequal, number(value, from), int(0, span), span),
        (Type::Double, Type::Bool) => binary(BinaryOp::Unequal, value, double(0.0, span), span),
        (Type::Double, Type::Int) if is_explicit => library("trunc", vec![value], span),
        (Type::Int | Type::Bool, Type::Char) if is_explicit => library("code_char", vec![number(value, from)], span),
        (Type::Double, Type::Char) if is_explicit => {
            library("code_char", vec![library("trunc", vec![value], span)], span)
        }
        _ => return None,
    })
}

/// The type in which two scalars meet.
pub(super) fn met(one: &Type, other: &Type) -> Option<Type> {
    Some(match (one, other) {
        (Type::Unknown, other) => other.clone(),
        (one, Type::Unknown) => one.clone(),
        (one, other) if one.fits(other) => one.refined(other),
        (Type::Double, other) if other.is_number() => Type::Double,
        (one, Type::Double) if one.is_number() => Type::Double,
        (one, other) if one.is_number() && other.is_number() => Type::Int,
        _ => return None,
    })
}

impl Lowering<'_> {
    /// A value where one of a type is wanted.
    pub(super) fn fitted(&mut self, value: Expr, from: &Type, to: &Type, what: &str) -> Expr {
        let span = value.span;
        match converted(value, from, to, Manner::Implicit) {
            Some(value) => value,
            None => {
                self.mismatch(from, to, span, what);
                Expr { kind: ExprKind::Error, span }
            }
        }
    }

    /// Reports a value of the wrong type.
    pub(super) fn mismatch(&mut self, from: &Type, to: &Type, span: Span, what: &str) {
        let message = format!("{what} must be `{to}`, but it is `{from}`");
        let report = Diagnostic::error("E0202", message, span).saying(format!("this is `{from}`"));
        let can = |from: &Type, to: &Type| {
            let value = int(0, span);
            converted(value, from, to, Manner::Explicit).is_some()
        };
        let report = match (from, to) {
            (Type::Void, _) => report.hint("a `void` function gives no value"),
            (Type::Vector(from), Type::Vector(to)) if can(from, to) => {
                report.hint(format!("a vector is converted element by element: `[({to}) x : x in v]`"))
            }
            (_, Type::Vector(element)) if from.fits(element) => report.hint("a vector of one element is `[x]`"),
            (Type::Vector(_), to) if to.is_number() => report.hint("an element of a vector is `v[i]`, its length `$v`"),
            (from, to) if can(from, to) => {
                report.hint(format!("where something may be lost, a cast says so: `({to}) …`"))
            }
            _ => report,
        };
        self.report(report);
    }
}

//! Powers that other readers take otherwise: `-x ^ n` and `a ^ b ^ c`, which NESL 3.1 read as `(-x) ^ n` and
//! `(a ^ b) ^ c`.
//!
//! They are read as in mathematics. A warning names both readings where they differ and either may be meant: not for an
//! odd exponent, `-x ^ 3`, where they agree, and not for `-x ^ 2`, where the sign would do nothing in the other
//! reading.

use super::Inference;
use super::problem::warning::Warning;
use crate::ast::{BinaryOp, Expr, ExprKind, UnaryOp};
use nesl_prim::ScalarValue;
use nesl_span::Span;

/// Base and exponent of a power that stands there without parentheses.
fn bare_power(expression: &Expr) -> Option<(&Expr, &Expr)> {
    match &expression.kind {
        // Parentheses belong to the span of what they enclose.
        ExprKind::Binary { op: BinaryOp::Power, left, right, .. } if left.span.start == expression.span.start => {
            Some((left, right))
        }
        _ => None,
    }
}

/// The same after a sign.
fn power_after_sign(expression: &Expr) -> Option<(&Expr, &Expr)> {
    match &expression.kind {
        ExprKind::Unary { op: UnaryOp::Negate, op_span, operand } if op_span.start == expression.span.start => {
            bare_power(operand)
        }
        _ => None,
    }
}

impl Inference<'_> {
    /// Warns of `-base ^ exponent`, where the sign could belong to the base.
    pub(super) fn warn_negated_power(&mut self, span: Span, operand: &Expr) {
        let Some((base, exponent)) = bare_power(operand) else { return };
        let is_number = matches!(base.kind, ExprKind::Literal(_));
        match exponent.kind {
            ExprKind::Literal(ScalarValue::Int(exponent)) if exponent % 2 != 0 || !is_number => return,
            _ => {}
        }
        self.report(span, Warning::NegatedPower { base: base.span, exponent: exponent.span });
    }

    /// Warns of `base ^ left ^ right`, once for a longer chain.
    pub(super) fn warn_power_of_power(&mut self, span: Span, base: &Expr, exponent: &Expr) {
        let (is_negated, (left, right)) = match (bare_power(exponent), power_after_sign(exponent)) {
            (Some(power), _) => (false, power),
            (None, Some(power)) => (true, power),
            (None, None) => return,
        };
        if bare_power(right).is_some() || power_after_sign(right).is_some() {
            return;
        }
        let (base, left, right) = (base.span, left.span, right.span);
        self.report(span, Warning::PowerOfPower { base, is_negated, left, right });
    }
}

//! Powers that other readers take otherwise: `-x ^ n` and `a ^ b ^ c`, which NESL 3.1 read as `(-x) ^ n` and
//! `(a ^ b) ^ c`.
//!
//! They are read as in mathematics. A warning names both readings where they differ and either may be meant: not for an
//! odd exponent, `-x ^ 3`, where they agree, and not for `-x ^ 2`, where the sign would do nothing in the other
//! reading.

use super::Inference;
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
        let (base, exponent) = (self.quoted(base), self.quoted(exponent));
        let message = format!("the sign applies to the power: this is `-({base} ^ {exponent})`");
        let hint = format!("write that, or `(-{base}) ^ {exponent}` if the sign belongs to the base");
        self.warn("W0206", message, span, Some(&hint));
    }

    /// Warns of `base ^ left ^ right`, once for a longer chain.
    pub(super) fn warn_power_of_power(&mut self, span: Span, base: &Expr, exponent: &Expr) {
        let (sign, (left, right)) = match (bare_power(exponent), power_after_sign(exponent)) {
            (Some(power), _) => ("", power),
            (None, Some(power)) => ("-", power),
            (None, None) => return,
        };
        if bare_power(right).is_some() || power_after_sign(right).is_some() {
            return;
        }
        let (base, left, right) = (self.quoted(base), self.quoted(left), self.quoted(right));
        let message = format!("powers are grouped from the right: this is `{base} ^ ({sign}{left} ^ {right})`");
        let hint = format!("write that, or `({base} ^ {sign}{left}) ^ {right}` if the left one comes first");
        self.warn("W0206", message, span, Some(&hint));
    }

    /// The text of an operand, if it is short enough to be repeated.
    fn quoted(&self, expression: &Expr) -> String {
        self.quote(expression.span).unwrap_or("…").to_owned()
    }
}

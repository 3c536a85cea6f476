//! Small trees: what lowering puts together.

use crate::ast::{BinaryOp, Binding, Expr, ExprKind, LIBRARY, Pattern, PatternKind, Symbol, UnaryOp};
use nesl_prim::ScalarValue;
use nesl_span::Span;

pub(super) fn expr(kind: ExprKind, span: Span) -> Expr {
    Expr { kind, span }
}

pub(super) fn name(symbol: &Symbol, span: Span) -> Expr {
    expr(ExprKind::Name(symbol.clone()), span)
}

pub(super) fn int(value: i64, span: Span) -> Expr {
    expr(ExprKind::Literal(ScalarValue::Int(value)), span)
}

pub(super) fn boolean(value: bool, span: Span) -> Expr {
    expr(ExprKind::Literal(ScalarValue::Bool(value)), span)
}

pub(super) fn double(value: f64, span: Span) -> Expr {
    expr(ExprKind::Literal(ScalarValue::Float(value)), span)
}

pub(super) fn text(bytes: Vec<u8>, span: Span) -> Expr {
    expr(ExprKind::Text(bytes), span)
}

/// Nothing, the value itself, or a tuple.
pub(super) fn tuple(mut parts: Vec<Expr>, span: Span) -> Expr {
    match parts.len() {
        0 => expr(ExprKind::Unit, span),
        1 => parts.remove(0),
        _ => expr(ExprKind::Tuple(parts), span),
    }
}

/// A call of a function by its name.
pub(super) fn call(function: &Symbol, arguments: Vec<Expr>, function_span: Span, span: Span) -> Expr {
    let function = Box::new(name(function, function_span));
    expr(ExprKind::Call { function, argument: Box::new(tuple(arguments, span)) }, span)
}

/// A call of a function of the library, whatever the program calls by its name.
pub(super) fn library(function: &str, arguments: Vec<Expr>, span: Span) -> Expr {
    call(&Symbol::from(format!("{LIBRARY}{function}")), arguments, span, span)
}

pub(super) fn unary(op: UnaryOp, operand: Expr, span: Span) -> Expr {
    expr(ExprKind::Unary { op, op_span: span, operand: Box::new(operand) }, span)
}

pub(super) fn binary(op: BinaryOp, left: Expr, right: Expr, op_span: Span) -> Expr {
    let span = left.span.to(right.span);
    expr(ExprKind::Binary { op, op_span, left: Box::new(left), right: Box::new(right) }, span)
}

pub(super) fn conditional(condition: Expr, then_branch: Expr, else_branch: Expr, span: Span) -> Expr {
    let (condition, then_branch, else_branch) = (Box::new(condition), Box::new(then_branch), Box::new(else_branch));
    expr(ExprKind::If { condition, then_branch, else_branch }, span)
}

/// The value after the bindings, if there are any.
pub(super) fn bound(bindings: Vec<Binding>, body: Expr) -> Expr {
    let Some(first) = bindings.first() else { return body };
    let span = first.pattern.span.to(body.span);
    expr(ExprKind::Let { bindings, body: Box::new(body) }, span)
}

pub(super) fn variable(symbol: &Symbol, span: Span) -> Pattern {
    Pattern { kind: PatternKind::Variable(symbol.clone()), span }
}

/// The pattern of a tuple of variables; of one the variable itself; of none `()`.
pub(super) fn variables(symbols: &[Symbol], span: Span) -> Pattern {
    match symbols {
        [] => Pattern { kind: PatternKind::Unit, span },
        [symbol] => variable(symbol, span),
        _ => Pattern { kind: PatternKind::Tuple(symbols.iter().map(|symbol| variable(symbol, span)).collect()), span },
    }
}

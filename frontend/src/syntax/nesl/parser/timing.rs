//! `time(e)`: the value of an expression and the seconds that it took.
//!
//! No function could do that: its argument is evaluated before it begins. So it stands for
//!
//! ```text
//! let start = host_clock(0); value = (() => e)() in (value, host_clock(0) - start)
//! ```
//!
//! with names that no program can write. The function keeps the expression together: whatever becomes of a program, a
//! function that is called right behind a clock is run there, with all that is in it, and nothing else is
//! (`vcode::passes::inline`).

use super::{Extra, Tokens, parenthesised, span};
use crate::ast::{BinaryOp, Binding, Expr, ExprKind, Pattern, PatternKind, Symbol};
use crate::syntax::nesl::token::{Keyword, Token};
use chumsky::prelude::*;
use nesl_prim::ScalarValue;
use nesl_span::Span;

const START: &str = "start of timing";
const VALUE: &str = "value timed";

/// `time(e)`.
pub(super) fn timing<'t>(
    expression: impl Parser<'t, Tokens<'t>, Expr, Extra<'t>> + Clone + 't,
) -> impl Parser<'t, Tokens<'t>, Expr, Extra<'t>> + Clone {
    just(Token::Keyword(Keyword::Time))
        .ignore_then(parenthesised(expression))
        .map_with(|timed, extra| timed_at(timed, span(extra.span())))
}

fn timed_at(timed: Expr, span: Span) -> Expr {
    let expr = |kind| Expr { kind, span };
    let name = |name: &str| expr(ExprKind::Name(Symbol::from(name)));
    let clock = || {
        let zero = expr(ExprKind::Literal(ScalarValue::Int(0)));
        expr(ExprKind::Call { function: Box::new(name("host_clock")), argument: Box::new(zero) })
    };
    let bind = |name: &str, value| Binding {
        pattern: Pattern { kind: PatternKind::Variable(Symbol::from(name)), span },
        value,
    };
    let seconds = expr(ExprKind::Binary {
        op: BinaryOp::Subtract,
        op_span: span,
        left: Box::new(clock()),
        right: Box::new(name(START)),
    });
    let nothing = Box::new(Pattern { kind: PatternKind::Unit, span });
    let function = expr(ExprKind::Lambda { parameter: nothing, body: Box::new(timed) });
    let value = ExprKind::Call { function: Box::new(function), argument: Box::new(expr(ExprKind::Unit)) };
    let bindings = vec![bind(START, clock()), bind(VALUE, expr(value))];
    expr(ExprKind::Let { bindings, body: Box::new(expr(ExprKind::Tuple(vec![name(VALUE), seconds]))) })
}

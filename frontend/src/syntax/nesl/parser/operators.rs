//! The operators of NESL and their binding powers: the one table, and the Pratt parser made from it.

use super::fault::What;
use super::{Extra, Rule, Tokens, span};
use crate::ast::{BinaryOp, Expr, ExprKind, UnaryOp};
use crate::syntax::nesl::token::Token;
use chumsky::pratt::{Associativity, infix, left, postfix, prefix, right};
use chumsky::prelude::*;
use nesl_span::Span;

/// Calls and indexing.
const POSTFIX: u16 = 30;
/// `#` and `@` before their operand: tighter than any infix operator.
const PREFIX: u16 = 25;
/// `-` before its operand: looser than a power and tighter than a product, so that `-2^2` is -4. After an operator it
/// takes what follows it, however tight that operator is: `2^-1` is a power of -1.
const NEGATION: u16 = 22;

/// Operators of one power.
struct Level {
    associativity: fn(u16) -> Associativity,
    power: u16,
    operators: &'static [BinaryOp],
}

/// Infix operators from tight to loose.
const INFIX: [Level; 8] = [
    Level { associativity: right, power: 24, operators: &[BinaryOp::Read] },
    Level { associativity: left, power: 23, operators: &[BinaryOp::Write] },
    Level { associativity: right, power: 22, operators: &[BinaryOp::Power] },
    Level { associativity: left, power: 21, operators: &[BinaryOp::Multiply, BinaryOp::Divide, BinaryOp::Pad] },
    Level { associativity: left, power: 20, operators: &[BinaryOp::Add, BinaryOp::Subtract, BinaryOp::Append] },
    Level {
        associativity: left,
        power: 10,
        operators: &[
            BinaryOp::Equal,
            BinaryOp::Unequal,
            BinaryOp::Less,
            BinaryOp::Greater,
            BinaryOp::AtMost,
            BinaryOp::AtLeast,
        ],
    },
    Level { associativity: left, power: 8, operators: &[BinaryOp::And, BinaryOp::Nand] },
    Level { associativity: left, power: 7, operators: &[BinaryOp::Or, BinaryOp::Nor, BinaryOp::Xor] },
];

/// How tightly an infix operator binds; operators of one power join into one chain.
pub(crate) fn power(op: BinaryOp) -> u16 {
    INFIX.iter().find(|level| level.operators.contains(&op)).map_or(0, |level| level.power)
}

/// What may follow an operand and belongs to it.
pub(super) enum Suffix {
    /// The argument of a call.
    Argument(Expr),
    /// `[index]`.
    Index(Expr),
}

/// Expressions above the comma: operands joined by operators.
pub(super) fn operations<'t>(
    operand: impl Parser<'t, Tokens<'t>, Expr, Extra<'t>> + 't,
    suffix: impl Parser<'t, Tokens<'t>, Suffix, Extra<'t>> + 't,
) -> Rule<'t, Expr> {
    let infix_levels: Vec<_> = INFIX
        .into_iter()
        .map(|Level { associativity, power, operators }| {
            let operator = select_ref! {
                Token::Operator(op) = extra if operators.contains(op) => (*op, span(extra.span())),
            };
            infix(
                associativity(power),
                operator.labelled(What::Operator),
                |left: Expr, (op, op_span), right: Expr, extra| {
                    let kind = ExprKind::Binary { op, op_span, left: Box::new(left), right: Box::new(right) };
                    Expr { kind, span: span(extra.span()) }
                },
            )
        })
        .collect();
    let negation = select_ref! {
        Token::Operator(BinaryOp::Subtract) = extra => (UnaryOp::Negate, span(extra.span())),
    };
    let prefix_operator = select_ref! {
        Token::Hash = extra => (UnaryOp::Length, span(extra.span())),
        Token::At = extra => (UnaryOp::String, span(extra.span())),
    };
    operand
        .pratt((
            postfix(POSTFIX, suffix.labelled(What::Argument), |operand: Expr, suffix, extra| {
                let operand = Box::new(operand);
                let kind = match suffix {
                    Suffix::Argument(argument) => ExprKind::Call { function: operand, argument: Box::new(argument) },
                    Suffix::Index(index) => ExprKind::Index { sequence: operand, index: Box::new(index) },
                };
                Expr { kind, span: span(extra.span()) }
            }),
            prefix(NEGATION, negation.labelled(What::Expression), |operator, operand, extra| {
                unary(operator, operand, span(extra.span()))
            }),
            prefix(PREFIX, prefix_operator.labelled(What::Expression), |operator, operand, extra| {
                unary(operator, operand, span(extra.span()))
            }),
            infix_levels,
        ))
        .boxed()
}

fn unary((op, op_span): (UnaryOp, Span), operand: Expr, span: Span) -> Expr {
    Expr { kind: ExprKind::Unary { op, op_span, operand: Box::new(operand) }, span }
}

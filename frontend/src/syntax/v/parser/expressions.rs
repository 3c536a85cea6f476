//! Expressions, by C's precedences.
//!
//! Operands and infix operators are read as one flat list, of which [`grouped`] makes a tree: so a mistake in an
//! operand is met once, not once for each operator around it.

use super::types::{base, struct_name};
use super::{Extra, Rule, Tokens, behind, name, sign, span, word};
use crate::syntax::v::token::Token;
use crate::syntax::v::tree::{Base, Expression, ExpressionKind};
use chumsky::prelude::*;
use nesl_span::Span;

/// The infix operators, from loose to tight; those of one row are grouped from the left.
const INFIX: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<", ">", "<=", ">="],
    &["<<", ">>"],
    &["+", "-", "><"],
    &["*", "/", "%"],
];

/// How tightly an infix operator binds.
pub(in crate::syntax::v) fn power(operator: &str) -> usize {
    INFIX.iter().position(|row| row.contains(&operator)).unwrap_or(0)
}

/// The tree of operands with operators between them.
fn grouped(first: Expression, rest: Vec<(&'static str, Span, Expression)>) -> Expression {
    fn join(operands: &mut Vec<Expression>, (operator, at): (&'static str, Span)) {
        if let (Some(right), Some(left)) = (operands.pop(), operands.pop()) {
            let span = left.span.to(right.span);
            let kind = ExpressionKind::Binary(operator, at, Box::new(left), Box::new(right));
            operands.push(Expression { kind, span });
        }
    }
    let mut operands = vec![first];
    let mut operators: Vec<(&'static str, Span)> = Vec::new();
    for (operator, at, operand) in rest {
        while let Some(before) = operators.pop_if(|(before, _)| power(before) >= power(operator)) {
            join(&mut operands, before);
        }
        operators.push((operator, at));
        operands.push(operand);
    }
    while let Some(operator) = operators.pop() {
        join(&mut operands, operator);
    }
    operands.remove(0)
}

/// What stands before an operand.
enum Prefix {
    Operator(&'static str),
    Cast(Base),
}

/// What stands after an operand.
enum Suffix {
    Index(Expression),
    Field(crate::ast::Name),
    Pointed(Span, crate::ast::Name),
}

/// An expression. The comma is none of its operators.
pub(super) fn expression<'t>() -> Rule<'t, Expression> {
    recursive(|expression| {
        let expression = expression.boxed();
        let prefix = choice((prefix_operator(), cast())).map_with(|prefix, extra| (prefix, span(extra.span())));
        let operand = prefix.repeated().foldr(suffixed(expression.clone()), |(prefix, at), operand: Expression| {
            let whole = at.to(operand.span);
            let kind = match prefix {
                Prefix::Operator("+") => return operand,
                Prefix::Operator(operator) => ExpressionKind::Unary(operator, at, Box::new(operand)),
                Prefix::Cast(base) => ExpressionKind::Cast(base, Box::new(operand)),
            };
            Expression { kind, span: whole }
        });
        let operand = operand.boxed();
        let infix = select_ref! {
            Token::Sign(sign) = extra if INFIX.iter().any(|row| row.contains(sign)) => (*sign, span(extra.span())),
        };
        let infix = infix.labelled("an operator");
        let rest = infix.then(operand.clone()).map(|((sign, at), operand)| (sign, at, operand));
        let chain = operand.then(rest.repeated().collect()).map(|(first, rest)| grouped(first, rest)).boxed();
        let branches = sign("?").labelled("an operator").ignore_then(expression.clone()).then_ignore(sign(":"));
        chain
            .then(branches.then(expression).or_not())
            .map(|(condition, branches)| match branches {
                None => condition,
                Some((first, second)) => {
                    let span = condition.span.to(second.span);
                    let parts = (Box::new(condition), Box::new(first), Box::new(second));
                    Expression { kind: ExpressionKind::Conditional(parts.0, parts.1, parts.2), span }
                }
            })
            .labelled("an expression")
    })
    .boxed()
}

fn prefix_operator<'t>() -> impl Parser<'t, Tokens<'t>, Prefix, Extra<'t>> + Clone {
    select_ref! { Token::Sign(sign @ ("-" | "+" | "!" | "~" | "$" | "&" | "*")) => Prefix::Operator(sign) }
}

/// `(int)`; before a brace it belongs to the braces.
fn cast<'t>() -> impl Parser<'t, Tokens<'t>, Prefix, Extra<'t>> + Clone {
    sign("(").ignore_then(base()).then_ignore(sign(")")).then_ignore(sign("{").not()).map(Prefix::Cast)
}

/// An operand with what follows it: indices and fields.
fn suffixed<'t>(expression: Rule<'t, Expression>) -> Rule<'t, Expression> {
    let index = expression.clone().delimited_by(sign("["), sign("]")).map(Suffix::Index);
    let field = sign(".").ignore_then(name()).map(Suffix::Field);
    let pointed = sign("->").then(name()).map(|(at, name)| Suffix::Pointed(at, name));
    let suffix =
        choice((index, field, pointed)).labelled("an operator").map_with(|suffix, extra| (suffix, span(extra.span())));
    atom(expression)
        .foldl(suffix.repeated(), |operand, (suffix, at)| {
            let whole = operand.span.to(at);
            let kind = match suffix {
                Suffix::Index(index) => ExpressionKind::Index(Box::new(operand), Box::new(index)),
                Suffix::Field(name) => ExpressionKind::Field(Box::new(operand), name),
                // `p->x` is `(*p).x`.
                Suffix::Pointed(at, name) => {
                    let span = operand.span.to(at);
                    let kind = ExpressionKind::Unary("*", at, Box::new(operand));
                    ExpressionKind::Field(Box::new(Expression { kind, span }), name)
                }
            };
            Expression { kind, span: whole }
        })
        .boxed()
}

/// Values in braces: what a vector or a struct begins with.
pub(super) fn braces<'t>(expression: Rule<'t, Expression>) -> Rule<'t, Vec<Expression>> {
    recursive(|braces| {
        let inner = braces.map_with(|values, extra| {
            let kind = ExpressionKind::Braces(None, values);
            Expression { kind, span: span(extra.span()) }
        });
        let element = choice((inner, expression));
        element.separated_by(sign(",")).allow_trailing().collect().delimited_by(sign("{"), sign("}"))
    })
    .boxed()
}

fn atom<'t>(expression: Rule<'t, Expression>) -> Rule<'t, Expression> {
    let literal = select_ref! {
        Token::Int(value) => ExpressionKind::Int(*value),
        Token::Double(value) => ExpressionKind::Double(*value),
        Token::Char(value) => ExpressionKind::Char(*value),
        Token::Text(bytes) => ExpressionKind::Text(bytes.to_vec()),
        Token::Word("true") => ExpressionKind::Bool(true),
        Token::Word("false") => ExpressionKind::Bool(false),
        Token::Unreadable => ExpressionKind::Error,
    };
    let arguments = expression.clone().separated_by(sign(",")).collect().delimited_by(sign("("), sign(")"));
    // `g.f(x)` is a function of a file that is imported as `g`.
    let is_qualified = name().then(sign(".")).then(name()).then(sign("(")).rewind();
    let qualified = is_qualified.ignore_then(name()).then_ignore(sign(".")).then(name()).then(arguments.clone());
    let qualified =
        qualified.map(|((file, name), arguments)| ExpressionKind::Call { function: behind(file, name), arguments });
    let called = name().then(arguments.labelled("an operator").or_not()).map(|(name, arguments)| match arguments {
        None => ExpressionKind::Name(name),
        Some(arguments) => ExpressionKind::Call { function: name, arguments },
    });
    let record = sign("(").ignore_then(word("struct")).ignore_then(struct_name()).then_ignore(sign(")"));
    let record = record.then(braces(expression.clone()));
    let record = record.map(|(name, values)| ExpressionKind::Braces(Some(name), values));
    let parenthesised = expression.clone().delimited_by(sign("("), sign(")")).map(|inner| inner.kind);
    choice((literal, qualified, called, record, parenthesised, bracketed(expression)))
        .map_with(|kind, extra| Expression { kind, span: span(extra.span()) })
        .boxed()
}

/// What follows the first expression in brackets.
enum AfterFirst {
    Elements(Vec<Expression>),
    Each(Vec<(crate::ast::Name, Expression)>, Option<Expression>),
}

/// `[]`, `[a, b]`, `[body : x in v; y in w : filter]`.
fn bracketed<'t>(expression: Rule<'t, Expression>) -> impl Parser<'t, Tokens<'t>, ExpressionKind, Extra<'t>> + Clone {
    let more = sign(",").ignore_then(expression.clone()).repeated().collect().map(AfterFirst::Elements);
    let source = name().then_ignore(word("in")).then(expression.clone());
    let sources = source.separated_by(sign(";")).at_least(1).collect();
    let filter = sign(":").ignore_then(expression.clone()).or_not();
    let each = sign(":").ignore_then(sources).then(filter).map(|(sources, filter)| AfterFirst::Each(sources, filter));
    let filled = expression.then(choice((each, more))).map(|(first, rest)| match rest {
        AfterFirst::Elements(mut elements) => {
            elements.insert(0, first);
            ExpressionKind::Vector(elements)
        }
        AfterFirst::Each(sources, filter) => {
            ExpressionKind::Each { body: Box::new(first), sources, filter: filter.map(Box::new) }
        }
    });
    let empty = sign("]").rewind().to(ExpressionKind::Vector(Vec::new()));
    choice((empty, filled)).delimited_by(sign("["), sign("]"))
}

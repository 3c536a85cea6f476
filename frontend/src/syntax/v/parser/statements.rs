//! Statements, and how parsing goes on after one that cannot be read.

use super::declarations::declaration;
use super::expressions::expression;
use super::types::base;
use super::{Extra, Rule, Tokens, sign, span, word};
use crate::syntax::v::token::Token;
use crate::syntax::v::tree::{Expression, ExpressionKind, Loop, Statement, StatementKind};
use chumsky::prelude::*;
use nesl_span::Span;

/// Skips to the end of a statement: after its `;`, after the block that it ends with, or before the `}` around it.
pub(super) fn skipped<'t>() -> impl Parser<'t, Tokens<'t>, (), Extra<'t>> + Clone {
    let braces = recursive(|braces| {
        let other = any().filter(|token| !matches!(token, Token::Sign("{" | "}"))).ignored();
        let inside = choice((braces, other)).repeated();
        sign("{").ignore_then(inside).then_ignore(sign("}").or_not())
    })
    .boxed();
    let other = any().filter(|token| !matches!(token, Token::Sign("{" | "}" | ";"))).ignored();
    let end = choice((sign(";").ignored(), braces.clone(), sign("}").rewind().ignored(), end()));
    choice((other.repeated().at_least(1).then_ignore(end), sign(";").ignored(), braces))
}

/// `{ … }`, and where it ends.
pub(super) fn block<'t>() -> Rule<'t, (Vec<Statement>, Span)> {
    statement().repeated().collect().delimited_by(sign("{"), empty()).then(sign("}")).boxed()
}

/// `x = e`, `x += e`, `x++`, `++x`, `f(x)`, without its `;`.
fn simple<'t>() -> Rule<'t, StatementKind> {
    let step = |sign| match sign {
        "++" => "+",
        _ => "-",
    };
    let change = select_ref! { Token::Sign(sign @ ("++" | "--")) = extra => (*sign, span(extra.span())) };
    let one = |at| Expression { kind: ExpressionKind::Int(1), span: at };
    let before = change.then(expression()).map(move |((sign, at), target)| StatementKind::Assignment {
        target,
        operator: Some((step(sign), at)),
        value: one(at),
    });
    let operator = select_ref! {
        Token::Sign("=") => None,
        Token::Sign("+=") = extra => Some(("+", span(extra.span()))),
        Token::Sign("-=") = extra => Some(("-", span(extra.span()))),
        Token::Sign("*=") = extra => Some(("*", span(extra.span()))),
        Token::Sign("/=") = extra => Some(("/", span(extra.span()))),
        Token::Sign("%=") = extra => Some(("%", span(extra.span()))),
        Token::Sign("&=") = extra => Some(("&", span(extra.span()))),
        Token::Sign("|=") = extra => Some(("|", span(extra.span()))),
        Token::Sign("^=") = extra => Some(("^", span(extra.span()))),
        Token::Sign("<<=") = extra => Some(("<<", span(extra.span()))),
        Token::Sign(">>=") = extra => Some((">>", span(extra.span()))),
    };
    let assigned = operator.labelled("`=`").then(expression());
    let changed = change.labelled("`=`").map(move |(sign, at)| (Some((step(sign), at)), one(at)));
    let plain = expression().then(choice((assigned, changed)).or_not()).map(|(target, rest)| match rest {
        None => StatementKind::Expression(target),
        Some((operator, value)) => StatementKind::Assignment { target, operator, value },
    });
    choice((before, plain)).boxed()
}

fn located<'t>(
    rule: impl Parser<'t, Tokens<'t>, StatementKind, Extra<'t>> + Clone,
) -> impl Parser<'t, Tokens<'t>, Statement, Extra<'t>> + Clone {
    rule.map_with(|kind, extra| Statement { kind, span: span(extra.span()) })
}

/// A statement.
pub(super) fn statement<'t>() -> Rule<'t, Statement> {
    recursive(|statement| {
        let statement = statement.boxed();
        let condition = || expression().delimited_by(sign("("), sign(")"));
        let block = statement.clone().repeated().collect().delimited_by(sign("{"), sign("}")).map(StatementKind::Block);
        let is_declaration = base().rewind();
        let declaration = is_declaration.ignore_then(declaration()).map(StatementKind::Declaration);
        let repeated = word("while").ignore_then(condition()).then(statement.clone()).map(|(condition, body)| {
            let initial = Vec::new();
            let repeated = Loop { initial, condition: Some(condition), is_do: false, step: Vec::new(), body };
            StatementKind::Loop(Box::new(repeated))
        });
        let until = word("do").ignore_then(statement.clone()).then_ignore(word("while")).then(condition());
        let until = until.then_ignore(sign(";")).map(|(body, condition)| {
            let initial = Vec::new();
            let repeated = Loop { initial, condition: Some(condition), is_do: true, step: Vec::new(), body };
            StatementKind::Loop(Box::new(repeated))
        });
        let returned = word("return").ignore_then(expression().or_not()).map(StatementKind::Return);
        let leaving = choice((
            word("break").to(StatementKind::Break),
            word("continue").to(StatementKind::Continue),
            returned,
            simple(),
        ));
        let kinds = choice((
            sign(";").to(StatementKind::Empty),
            block,
            declaration,
            conditional(statement.clone()),
            repeated,
            until,
            counted(statement),
            leaving.then_ignore(sign(";")),
        ));
        located(kinds.labelled("a statement").recover_with(via_parser(skipped().to(StatementKind::Error))))
    })
    .boxed()
}

/// `if (c) s else if (c) s else s`. A chain of them is no nest.
fn conditional<'t>(statement: Rule<'t, Statement>) -> impl Parser<'t, Tokens<'t>, StatementKind, Extra<'t>> + Clone {
    let head = word("if").ignore_then(expression().delimited_by(sign("("), sign(")"))).then(statement.clone());
    let is_more = word("else").then(word("if")).rewind();
    let more = is_more.ignore_then(word("else")).ignore_then(head.clone());
    let rest = more.repeated().collect::<Vec<_>>().then(word("else").ignore_then(statement).or_not());
    head.then(rest).map(|((condition, then_branch), (more, last))| {
        let mut else_branch = last.map(Box::new);
        for (condition, then_branch) in more.into_iter().rev() {
            let end = else_branch.as_ref().map_or(then_branch.span, |branch| branch.span);
            let span = condition.span.to(end);
            let kind = StatementKind::If { condition, then_branch: Box::new(then_branch), else_branch };
            else_branch = Some(Box::new(Statement { kind, span }));
        }
        StatementKind::If { condition, then_branch: Box::new(then_branch), else_branch }
    })
}

/// `for (a; b; c) s`.
fn counted<'t>(statement: Rule<'t, Statement>) -> impl Parser<'t, Tokens<'t>, StatementKind, Extra<'t>> + Clone {
    let several = || located(simple()).separated_by(sign(",")).collect::<Vec<_>>();
    let declared = located(declaration().map(StatementKind::Declaration)).map(|statement| vec![statement]);
    let initial = choice((base().rewind().ignore_then(declared), several().then_ignore(sign(";"))));
    let head = initial.then(expression().or_not()).then_ignore(sign(";")).then(several());
    let head = head.delimited_by(sign("("), sign(")"));
    word("for").ignore_then(head).then(statement).map(|(((initial, condition), step), body)| {
        StatementKind::Loop(Box::new(Loop { initial, condition, is_do: false, step, body }))
    })
}

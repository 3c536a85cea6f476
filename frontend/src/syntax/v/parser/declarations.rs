//! Declarations of variables, fields and parameters.

use super::expressions::{braces, expression};
use super::types::base;
use super::{Extra, Rule, Tokens, name, sign, span};
use crate::syntax::v::token::Token;
use crate::syntax::v::tree::{Declaration, Declarator, Dimension, DimensionKind, Expression, ExpressionKind};
use chumsky::prelude::*;
use nesl_span::Span;

/// `[*]`, `[10]`, `[]`.
pub(super) fn dimension<'t>() -> impl Parser<'t, Tokens<'t>, Dimension, Extra<'t>> + Clone {
    let fixed = select_ref! { Token::Int(length) => DimensionKind::Fixed(*length) };
    let any = sign("*").to(DimensionKind::Any);
    let unknown = sign("]").rewind().to(DimensionKind::Unknown);
    choice((any, fixed.labelled("a length"), unknown))
        .delimited_by(sign("["), sign("]"))
        .map_with(|kind, extra| Dimension { kind, span: span(extra.span()) })
}

/// The stars before a name, whether they are in parentheses with it, and the name.
pub(super) fn starred<'t>() -> impl Parser<'t, Tokens<'t>, (Vec<Span>, bool, crate::ast::Name), Extra<'t>> + Clone {
    let stars = sign("*").repeated().collect::<Vec<_>>();
    let grouped = stars.clone().then(name()).delimited_by(sign("("), sign(")"));
    choice((
        grouped.map(|(stars, name)| (stars, true, name)),
        stars.then(name()).map(|(stars, name)| (stars, false, name)),
    ))
}

pub(super) fn initial<'t>() -> impl Parser<'t, Tokens<'t>, Expression, Extra<'t>> + Clone {
    let values = braces(expression()).map_with(|values, extra| {
        let kind = ExpressionKind::Braces(None, values);
        Expression { kind, span: span(extra.span()) }
    });
    sign("=").ignore_then(choice((values, expression())))
}

pub(super) fn declarator<'t>() -> Rule<'t, Declarator> {
    starred()
        .then(dimension().repeated().collect())
        .then(initial().or_not())
        .map_with(|(((pointers, is_grouped, name), dimensions), initial), extra| {
            let span = span(extra.span());
            Declarator { pointers, is_grouped, name, dimensions, initial, span }
        })
        .boxed()
}

/// `int a = 1, b[*];`
pub(super) fn declaration<'t>() -> Rule<'t, Declaration> {
    let declarators = declarator().separated_by(sign(",")).at_least(1).collect();
    base().then(declarators).then_ignore(sign(";")).map(|(base, declarators)| Declaration { base, declarators }).boxed()
}

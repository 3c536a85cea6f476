//! Types and signatures.

use super::fault::{Context, What};
use super::{Extra, Rule, Tokens, span};
use crate::ast::{BinaryOp, Name, Signature, TypeExpr, TypeExprKind};
use crate::syntax::nesl::token::{Bracket, Keyword, Token};
use chumsky::prelude::*;
use nesl_prim::ScalarType;

/// A name where it stands.
pub(super) fn name<'t>() -> impl Parser<'t, Tokens<'t>, Name, Extra<'t>> + Clone {
    select_ref! { Token::Name(symbol) = extra => Name { symbol: symbol.clone(), span: span(extra.span()) } }
}

/// Types without an arrow outside of brackets, as after `[]`, and all types.
pub(super) fn types<'t>() -> (Rule<'t, TypeExpr>, Rule<'t, TypeExpr>) {
    let any_type = recursive(|any_type| {
        let result = just(Token::Operator(BinaryOp::Read)).ignore_then(any_type.clone());
        single(any_type).then(result.or_not()).map_with(|(argument, result), extra| match result {
            None => argument,
            Some(result) => TypeExpr {
                kind: TypeExprKind::Function(Box::new(argument), Box::new(result)),
                span: span(extra.span()),
            },
        })
    });
    (single(any_type.clone()), any_type.boxed())
}

fn single<'t>(any_type: impl Parser<'t, Tokens<'t>, TypeExpr, Extra<'t>> + Clone + 't) -> Rule<'t, TypeExpr> {
    let arguments = any_type
        .clone()
        .separated_by(just(Token::Comma))
        .at_least(1)
        .collect::<Vec<_>>()
        .delimited_by(just(Token::Open(Bracket::Parenthesis)), just(Token::Close(Bracket::Parenthesis)));
    let scalar = select_ref! { Token::Name(symbol) if scalar(symbol).is_some() => scalar(symbol) }
        .map(|scalar| scalar.map_or(TypeExprKind::Error, TypeExprKind::Scalar));
    let other = name().then(arguments.or_not()).map(|(name, arguments)| match arguments {
        None => TypeExprKind::Name(name),
        Some(arguments) => TypeExprKind::Record(name, arguments),
    });
    let named = choice((scalar, other)).map_with(|kind, extra| TypeExpr { kind, span: span(extra.span()) });
    let sequence = any_type
        .clone()
        .delimited_by(just(Token::Open(Bracket::Square)), just(Token::Close(Bracket::Square)))
        .map_with(|element, extra| TypeExpr {
            kind: TypeExprKind::Sequence(Box::new(element)),
            span: span(extra.span()),
        })
        .labelled(Context::SequenceType)
        .as_context();
    let close = || just(Token::Close(Bracket::Parenthesis));
    let parts = any_type
        .clone()
        .then(just(Token::Comma).ignore_then(any_type).repeated().collect::<Vec<_>>())
        .then_ignore(close())
        .map(|(first, mut more): (TypeExpr, Vec<TypeExpr>)| {
            if more.is_empty() {
                return first.kind;
            }
            more.insert(0, first);
            TypeExprKind::Tuple(more)
        });
    let tuple = just(Token::Open(Bracket::Parenthesis))
        .ignore_then(choice((close().to(TypeExprKind::Unit), parts)))
        .map_with(|kind, extra| TypeExpr { kind, span: span(extra.span()) })
        .labelled(Context::TupleType)
        .as_context();
    choice((named, sequence, tuple)).labelled(What::Type).boxed()
}

/// The scalar type with this name.
fn scalar(name: &str) -> Option<ScalarType> {
    ScalarType::ALL.into_iter().find(|scalar| scalar.name() == name)
}

/// `type`, `type :: (a in class; b in class)` or `type :: a in class`.
pub(super) fn signature<'t>(
    any_type: impl Parser<'t, Tokens<'t>, TypeExpr, Extra<'t>> + Clone + 't,
) -> Rule<'t, Signature> {
    let constraint = name()
        .labelled(What::TypeVariable)
        .then_ignore(just(Token::Keyword(Keyword::In)))
        .then(name().labelled(What::Class))
        .boxed();
    let list = constraint
        .clone()
        .separated_by(just(Token::Semicolon))
        .at_least(1)
        .collect::<Vec<(Name, Name)>>()
        .delimited_by(just(Token::Open(Bracket::Parenthesis)), just(Token::Close(Bracket::Parenthesis)));
    let context = just(Token::DoubleColon).ignore_then(choice((list, constraint.map(|only| vec![only]))));
    any_type
        .then(context.or_not())
        .map_with(|(type_expr, context), extra| Signature {
            type_expr,
            context: context.unwrap_or_default(),
            span: span(extra.span()),
        })
        .boxed()
}

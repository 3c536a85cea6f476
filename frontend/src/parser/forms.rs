//! Top-level forms, and recovery from one form to the next.

use super::expressions::{expression, quoted_name};
use super::fault::{Context, Expected, Fault, What};
use super::patterns::{cannot_bind, from_expression, name, patterns};
use super::recovery::{self, skip_form};
use super::types::{signature, types};
use super::{Extra, Place, Rule, Tokens, place, span};
use crate::ast::{Expr, FunctionDefinition, Name, TopLevel, TopLevelKind};
use crate::diagnostic::Diagnostic;
use crate::token::{Keyword, Token};
use chumsky::prelude::*;

/// A whole text.
pub(super) fn program<'t>(tokens: recovery::Source<'t>) -> Rule<'t, Vec<TopLevel>> {
    let expression = expression(tokens);
    let form = choice((function(expression.clone()), assignment_or_expression(expression)))
        .labelled(What::Form)
        .map_with(|kind, extra| TopLevel { kind, span: span(extra.span()) })
        .then(ended())
        .validate(|(form, is_ended), _, emitter| {
            if !is_ended {
                emitter.emit(Fault::described(missing_terminator(&form), place(form.span)));
            }
            form
        });
    let skipped = skip_form(tokens)
        .map_with(|(), extra| TopLevel { kind: TopLevelKind::Error, span: span(extra.span()) })
        .then_ignore(one_of([Token::Semicolon, Token::Dollar]).or_not());
    form.recover_with(via_parser(skipped)).repeated().collect().then_ignore(end()).boxed()
}

fn missing_terminator(form: &TopLevel) -> Diagnostic {
    let end = nesl_span::Span { start: form.span.end.saturating_sub(1).max(form.span.start), ..form.span };
    let form = match form.kind {
        TopLevelKind::Function(_) => "function definition",
        TopLevelKind::Assignment { .. } => "assignment",
        TopLevelKind::Expression(_) | TopLevelKind::Error => "expression",
    };
    Diagnostic::error("E0111", format!("this {form} has no end"), end)
        .saying("expected `;` after this")
        .hint("end it with `;`")
}

/// The terminator of a form. The end of the text or the next `function` also end a form, but are not the proper way.
fn ended<'t>() -> impl Parser<'t, Tokens<'t>, bool, Extra<'t>> + Clone {
    custom::<_, Tokens<'t>, _, Extra<'t>>(|input| {
        let before = input.cursor();
        match input.peek_ref() {
            Some(Token::Semicolon | Token::Dollar) => {
                input.skip();
                Ok(true)
            }
            None | Some(Token::Keyword(Keyword::Function)) => Ok(false),
            Some(found) => {
                input.skip();
                let place = input.span_since(&before);
                Err(Fault::unexpected(Expected::only(What::Semicolon), Some(found), place))
            }
        }
    })
}

fn assignment_or_expression<'t>(
    expression: impl Parser<'t, Tokens<'t>, Expr, Extra<'t>> + Clone + 't,
) -> impl Parser<'t, Tokens<'t>, TopLevelKind, Extra<'t>> {
    expression.clone().then(just(Token::Equal).ignore_then(expression).or_not()).validate(
        |(first, value), _, emitter| match value {
            None => TopLevelKind::Expression(first),
            Some(value) => TopLevelKind::Assignment { pattern: from_expression(first, "=", emitter), value },
        },
    )
}

fn function<'t>(
    expression: impl Parser<'t, Tokens<'t>, Expr, Extra<'t>> + Clone + 't,
) -> impl Parser<'t, Tokens<'t>, TopLevelKind, Extra<'t>> {
    let (parameter, _) = patterns();
    let (_, any_type) = types();
    let quoted = quoted_name().map_with(|symbol, extra| Name { symbol, span: span(extra.span()) });
    let truth_value = select_ref! { Token::Bool(value) => *value }.validate(|value, extra, emitter| {
        let at: Place = extra.span();
        emitter.emit(Fault::described(cannot_bind(value, span(at)), at));
        Name { symbol: if value { "t" } else { "f" }.into(), span: span(at) }
    });
    let doc = || {
        select_ref! { Token::Text(bytes) => String::from_utf8_lossy(bytes).into_owned() }.labelled(What::Text).or_not()
    };
    just(Token::Keyword(Keyword::Function))
        .ignore_then(choice((name(), quoted, truth_value)).labelled(What::FunctionName))
        .then(parameter.labelled(What::Parameter))
        .then(doc())
        .then(just(Token::Colon).ignore_then(signature(any_type)).or_not())
        .then(doc())
        .then(just(Token::Equal).ignore_then(expression).or_not())
        .map(|(((((name, parameter), early_doc), signature), late_doc), body)| {
            let doc = early_doc.or(late_doc);
            TopLevelKind::Function(FunctionDefinition { name, parameter, signature, doc, body })
        })
        .labelled(Context::Function)
        .as_context()
}

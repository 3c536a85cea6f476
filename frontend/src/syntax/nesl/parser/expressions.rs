//! Expressions.
//!
//! Every choice here is decided by its first token, so that nothing is parsed twice and nesting costs no more than its
//! length. Bracketed forms recover: the fault is reported and the group stands as an [`ExprKind::Error`].

use super::fault::{Context, Fault, What};
use super::operators::{Suffix, operations};
use super::patterns::{from_expression, patterns};
use super::recovery::{self, Remembered, once, skip_group};
use super::timing::timing;
use super::types::types;
use super::{Extra, Place, Rule, Tokens, one_or_tuple, parenthesised, span};
use crate::ast::{BinaryOp, Binding, Expr, ExprKind, Name, Pattern, PatternKind, Source, Symbol, UnaryOp};
use crate::diagnostic::Diagnostic;
use crate::syntax::nesl::token::{Bracket, Keyword, Token};
use chumsky::prelude::*;
use nesl_prim::ScalarValue;

/// Any expression, commas included.
pub(super) fn expression<'t>(tokens: recovery::Source<'t>) -> Rule<'t, Expr> {
    recursive(move |expression| list(single(tokens, expression.boxed()))).boxed()
}

/// An expression without commas outside of brackets, in which `expression` is any.
pub(super) fn single<'t>(tokens: recovery::Source<'t>, expression: Rule<'t, Expr>) -> Rule<'t, Expr> {
    recursive(|single| {
        let skipped = |brackets: &'static [Bracket]| {
            via_parser(skip_group(tokens, brackets).map_with(|(), extra| error_at(extra.span())))
        };
        let parts = list(typed(tokens, single.clone()));
        let group = choice((parenthesised(parts), each(expression.clone())))
            .recover_with(skipped(&[Bracket::Parenthesis, Bracket::Brace]))
            .boxed();
        let sequence = sequence(single.clone(), expression.clone()).recover_with(skipped(&[Bracket::Square]));
        let index = index(expression.clone()).recover_with(skipped(&[Bracket::Square])).map(Suffix::Index);
        let open_ended = choice((constant(), quoted(), conditional(expression.clone()), bindings(expression.clone())));
        let open_ended = open_ended.or(timing(expression)).boxed();
        // After an operand a square bracket is an index, never a sequence.
        let suffix = choice((open_ended.clone().map(Suffix::Argument), index, group.clone().map(Suffix::Argument)));
        let operand = choice((open_ended, group, sequence)).labelled(What::Expression);
        let operation =
            operations(once(tokens, Remembered::Operand, operand), once(tokens, Remembered::Suffix, suffix));
        choice((lone_constant(tokens), lambda_or_keyword(operation, single)))
    })
    .boxed()
}

/// One or more expressions between commas.
fn list<'t>(part: impl Parser<'t, Tokens<'t>, Expr, Extra<'t>> + Clone + 't) -> Rule<'t, Expr> {
    one_or_tuple(part, |parts, span| Expr { kind: ExprKind::Tuple(parts), span })
}

/// `single`, or `single : type` where that turns out to be a pattern.
fn typed<'t>(
    source: recovery::Source<'t>,
    single: impl Parser<'t, Tokens<'t>, Expr, Extra<'t>> + Clone + 't,
) -> Rule<'t, Expr> {
    let (_, any_type) = types();
    // Anything but a type behind the colon is another mistake, for example `(0 : 9)` for a range.
    let colon = custom::<_, Tokens<'t>, _, Extra<'t>>(move |input| {
        let start = input.cursor().inner().0;
        match source.tokens.get(start..) {
            Some(
                [(Token::Colon, _), (Token::Name(_) | Token::Open(Bracket::Square | Bracket::Parenthesis), _), ..],
            ) => {
                input.skip();
                Ok(())
            }
            _ => Err(recovery::silent(source, start)),
        }
    });
    single
        .then(colon.ignore_then(any_type).or_not())
        .map_with(|(value, ty), extra| match ty {
            None => value,
            Some(ty) => Expr { kind: ExprKind::Typed { value: Box::new(value), ty }, span: span(extra.span()) },
        })
        .boxed()
}

/// `operation`, `pattern => single` or `name := single`. What stands before the arrow turns out to be a pattern there.
fn lambda_or_keyword<'t>(
    operation: impl Parser<'t, Tokens<'t>, Expr, Extra<'t>> + Clone + 't,
    single: impl Parser<'t, Tokens<'t>, Expr, Extra<'t>> + Clone + 't,
) -> impl Parser<'t, Tokens<'t>, Expr, Extra<'t>> + Clone {
    let arrow = select_ref! { Token::Lambda => true, Token::ColonEqual => false }.labelled(What::Operator);
    operation
        .then(arrow.then(single).or_not())
        .validate(|(first, rest), extra, emitter| {
            let Some((is_lambda, value)) = rest else { return first };
            let span = span(extra.span());
            let kind = if is_lambda {
                let parameter = Box::new(from_expression(first, "=>", emitter));
                ExprKind::Lambda { parameter, body: Box::new(value) }
            } else if let ExprKind::Name(symbol) = first.kind {
                ExprKind::Keyword { name: Name { symbol, span: first.span }, value: Box::new(value) }
            } else {
                let diagnostic = Diagnostic::error("E0114", "only a name can stand before `:=`", first.span)
                    .hint("`name := value` passes an argument by name");
                emitter.emit(Fault::described(diagnostic, super::place(first.span)));
                ExprKind::Error
            };
            Expr { kind, span }
        })
        .boxed()
}

fn error_at(place: Place) -> Expr {
    Expr { kind: ExprKind::Error, span: span(place) }
}

/// A literal or a name.
fn constant<'t>() -> impl Parser<'t, Tokens<'t>, Expr, Extra<'t>> + Clone {
    select_ref! {
        token if token.constant().is_some() => token.constant().map_or(ExprKind::Error, ExprKind::Literal),
        Token::Text(bytes) => ExprKind::Text(bytes.to_vec()),
        Token::Name(symbol) => ExprKind::Name(symbol.clone()),
        Token::Unreadable => ExprKind::Error,
    }
    .map_with(|kind, extra| Expr { kind, span: span(extra.span()) })
}

/// A constant, negated at most, that is followed by a comma or by a closing bracket. It cannot be anything but a whole
/// expression, so that literals of a million numbers need not ask for each number whether an operator follows.
fn lone_constant<'t>(source: recovery::Source<'t>) -> impl Parser<'t, Tokens<'t>, Expr, Extra<'t>> + Clone {
    custom::<_, Tokens<'t>, _, Extra<'t>>(move |input| {
        let start = input.cursor().inner().0;
        let rest = source.tokens.get(start..).unwrap_or(&[]);
        let (negation, rest) = match rest {
            [(Token::Operator(BinaryOp::Subtract), place), rest @ ..] => (Some(*place), rest),
            _ => (None, rest),
        };
        let value = match rest {
            [(token, at), (Token::Comma | Token::Close(_), _), ..] => token.constant().map(|value| (value, at)),
            _ => None,
        };
        let Some((value, at)) = value else { return Err(recovery::silent(source, start)) };
        input.skip();
        let literal = Expr { kind: ExprKind::Literal(value), span: span(*at) };
        let Some(negation) = negation else { return Ok(literal) };
        input.skip();
        let op_span = span(negation);
        let kind = ExprKind::Unary { op: UnaryOp::Negate, op_span, operand: Box::new(literal) };
        Ok(Expr { kind, span: op_span.to(span(*at)) })
    })
}

/// The name after a quote: `'+` names the function of an operator, `'max` is `max`.
pub(super) fn quoted_name<'t>() -> impl Parser<'t, Tokens<'t>, Symbol, Extra<'t>> + Clone {
    let name = select_ref! {
        Token::Name(symbol) => symbol.clone(),
        Token::Operator(op) => Symbol::from(op.function()),
        Token::Hash => Symbol::from(UnaryOp::Length.function()),
        Token::At => Symbol::from(UnaryOp::String.function()),
    };
    just(Token::Quote).ignore_then(name.labelled(What::FunctionName))
}

fn quoted<'t>() -> impl Parser<'t, Tokens<'t>, Expr, Extra<'t>> + Clone {
    quoted_name().map_with(|symbol, extra| Expr { kind: ExprKind::Name(symbol), span: span(extra.span()) })
}

fn index<'t>(
    expression: impl Parser<'t, Tokens<'t>, Expr, Extra<'t>> + Clone + 't,
) -> impl Parser<'t, Tokens<'t>, Expr, Extra<'t>> + Clone {
    expression
        .delimited_by(just(Token::Open(Bracket::Square)), just(Token::Close(Bracket::Square)))
        .labelled(Context::Index)
        .as_context()
}

/// `if c then a else b`. All three parts are whole expressions: they swallow commas.
fn conditional<'t>(
    expression: impl Parser<'t, Tokens<'t>, Expr, Extra<'t>> + Clone + 't,
) -> impl Parser<'t, Tokens<'t>, Expr, Extra<'t>> + Clone {
    just(Token::Keyword(Keyword::If))
        .ignore_then(expression.clone())
        .then_ignore(just(Token::Keyword(Keyword::Then)))
        .then(expression.clone())
        .then_ignore(just(Token::Keyword(Keyword::Else)))
        .then(expression)
        .map_with(|((condition, then_branch), else_branch), extra| {
            let kind = ExprKind::If {
                condition: Box::new(condition),
                then_branch: Box::new(then_branch),
                else_branch: Box::new(else_branch),
            };
            Expr { kind, span: span(extra.span()) }
        })
        .labelled(Context::If)
        .as_context()
}

/// `let p = e; … in e`, with an optional `;` before `in`.
fn bindings<'t>(
    expression: impl Parser<'t, Tokens<'t>, Expr, Extra<'t>> + Clone + 't,
) -> impl Parser<'t, Tokens<'t>, Expr, Extra<'t>> + Clone {
    let (_, pattern) = patterns();
    let binding = pattern
        .then_ignore(just(Token::Equal))
        .then(expression.clone())
        .map(|(pattern, value)| Binding { pattern, value });
    let bindings = binding.separated_by(just(Token::Semicolon)).at_least(1).allow_trailing().collect();
    just(Token::Keyword(Keyword::Let))
        .ignore_then(bindings)
        .then_ignore(just(Token::Keyword(Keyword::In)))
        .then(expression)
        .map_with(|(bindings, body), extra| Expr {
            kind: ExprKind::Let { bindings, body: Box::new(body) },
            span: span(extra.span()),
        })
        .labelled(Context::Let)
        .as_context()
}

/// What follows the first element of a bracketed sequence.
enum AfterElement {
    /// `: end`, `: end : stride`
    Range(Expr, Option<Expr>),
    /// `, element …`
    Elements(Vec<Expr>),
}

/// `[]`, `[] type`, `[a, b, c]`, `[start : end : stride]`.
fn sequence<'t>(
    element: impl Parser<'t, Tokens<'t>, Expr, Extra<'t>> + Clone + 't,
    expression: impl Parser<'t, Tokens<'t>, Expr, Extra<'t>> + Clone + 't,
) -> impl Parser<'t, Tokens<'t>, Expr, Extra<'t>> + Clone {
    let (element_type, _) = types();
    // With a token that begins a type the type is meant, so that a mistake in it is reported as such.
    let begins_type = select_ref! {
        Token::Name(_) => (),
        Token::Open(Bracket::Square | Bracket::Parenthesis) => (),
    };
    let empty = just(Token::Close(Bracket::Square))
        .ignore_then(choice((begins_type.rewind().ignore_then(element_type).map(Some), begins_type.not().to(None))))
        .map(ExprKind::Empty);
    let range = just(Token::Colon)
        .ignore_then(expression.clone())
        .then(just(Token::Colon).ignore_then(expression).or_not())
        .map(|(end, stride)| AfterElement::Range(end, stride));
    let more = just(Token::Comma).ignore_then(element.clone()).repeated().collect().map(AfterElement::Elements);
    let filled =
        element.then(choice((range, more))).then_ignore(just(Token::Close(Bracket::Square))).map(|(first, rest)| {
            match rest {
                AfterElement::Range(end, stride) => {
                    ExprKind::Range { start: Box::new(first), end: Box::new(end), stride: stride.map(Box::new) }
                }
                AfterElement::Elements(mut elements) => {
                    elements.insert(0, first);
                    ExprKind::Sequence(elements)
                }
            }
        });
    just(Token::Open(Bracket::Square))
        .ignore_then(choice((empty, filled)))
        .map_with(|kind, extra| Expr { kind, span: span(extra.span()) })
        .labelled(Context::Sequence)
        .as_context()
}

/// What follows the first expression in the braces of an apply-to-each.
enum AfterFirst {
    /// `: sources`: the expression was the body.
    Sources(Vec<Source>),
    /// `in sequence; sources`: it was a pattern. Without `in`, a name that stands for itself and its sequence.
    First(Option<Expr>, Vec<Source>),
}

/// `{body : sources | filter}` and its short forms.
fn each<'t>(
    expression: impl Parser<'t, Tokens<'t>, Expr, Extra<'t>> + Clone + 't,
) -> impl Parser<'t, Tokens<'t>, Expr, Extra<'t>> + Clone {
    let (_, pattern) = patterns();
    let sequence = just(Token::Keyword(Keyword::In)).ignore_then(expression.clone()).boxed();
    let source = pattern.then(sequence.clone().or_not()).validate(|(pattern, sequence), _, emitter| {
        if sequence.is_none() {
            demand_name(&pattern, emitter);
        }
        Source { pattern, sequence }
    });
    let source = source.boxed();
    let semicolon = || just(Token::Semicolon);
    let sources = source.clone().separated_by(semicolon()).at_least(1).collect().map(AfterFirst::Sources);
    let more = semicolon().ignore_then(source).repeated().collect::<Vec<_>>();
    let first = sequence.or_not().then(more).map(|(sequence, more)| AfterFirst::First(sequence, more));
    let filter = just(Token::Bar).ignore_then(expression.clone()).or_not();
    let serial = just(Token::Operator(BinaryOp::Multiply)).or_not().map(|star| star.is_some());
    just(Token::Open(Bracket::Brace))
        .ignore_then(serial)
        .then(expression)
        .then(choice((just(Token::Colon).ignore_then(sources), first)))
        .then(filter)
        .then_ignore(just(Token::Close(Bracket::Brace)))
        .validate(|(((is_serial, first), rest), filter), extra, emitter| {
            let (body, sources) = match rest {
                AfterFirst::Sources(sources) => (Some(Box::new(first)), sources),
                AfterFirst::First(None, sources) if sources.is_empty() && is_listing(&first) => {
                    let at = extra.span();
                    let diagnostic = Diagnostic::error("E0115", "an apply-to-each needs a sequence", span(at))
                        .hint("a sequence of these elements is written `[a, b, c]`");
                    emitter.emit(Fault::described(diagnostic, at));
                    return Expr { kind: ExprKind::Error, span: span(at) };
                }
                AfterFirst::First(sequence, mut sources) => {
                    let pattern = from_expression(first, "in", emitter);
                    if sequence.is_none() {
                        demand_name(&pattern, emitter);
                    }
                    sources.insert(0, Source { pattern, sequence });
                    (None, sources)
                }
            };
            let kind = ExprKind::Each { is_serial, body, sources, filter: filter.map(Box::new) };
            Expr { kind, span: span(extra.span()) }
        })
        .labelled(Context::Each)
        .as_context()
}

/// Whether braces hold elements rather than a pattern.
fn is_listing(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Tuple(parts) => parts.iter().any(is_listing),
        ExprKind::Name(_) | ExprKind::Call { .. } | ExprKind::Unit | ExprKind::Literal(ScalarValue::Bool(_)) => false,
        // These have a hint of their own.
        ExprKind::Error | ExprKind::Let { .. } | ExprKind::If { .. } => false,
        _ => true,
    }
}

/// A source without `in` must be a name, which is also its sequence.
fn demand_name<'t>(pattern: &Pattern, emitter: &mut chumsky::input::Emitter<Fault<'t>>) {
    if matches!(pattern.kind, PatternKind::Tuple(_) | PatternKind::Record(..) | PatternKind::Typed(..)) {
        let diagnostic = Diagnostic::error("E0115", "this pattern needs a sequence", pattern.span)
            .saying("expected `in` and a sequence after it")
            .hint("only a single name may stand alone: `{x : x}` is `{x : x in x}`");
        emitter.emit(Fault::described(diagnostic, super::place(pattern.span)));
    }
}

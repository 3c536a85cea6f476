//! Patterns, and expressions that turn out to be patterns.
//!
//! An apply-to-each or a top-level form may begin with an expression or with a pattern; only the `in` or `=` after it
//! tells. Both are read as an expression, so that nothing is ever parsed twice, and [`from_expression`] converts it.

use super::advice::pattern_hint;
use super::fault::{Expected, Fault, What};
use super::types::{name, types};
use super::{Extra, Place, Rule, Tokens, one_or_tuple, place, span};
use crate::ast::{Expr, ExprKind, Name, Pattern, PatternKind, TypeExpr};
use crate::diagnostic::{Diagnostic, Tag};
use crate::syntax::nesl::token::{Bracket, Token};
use chumsky::input::Emitter;
use chumsky::prelude::*;
use nesl_prim::ScalarValue;
use nesl_span::Span;

/// A name that is being bound, which cannot be one of another file.
pub(super) fn binder<'t>() -> impl Parser<'t, Tokens<'t>, Name, Extra<'t>> + Clone {
    name().validate(|name, _, emitter| {
        if name.symbol.contains('.') {
            emitter.emit(Fault::described(of_another_file(&name.symbol, name.span), place(name.span)));
        }
        name
    })
}

/// Says that a name with a point is not one's own.
fn of_another_file(name: &str, at: Span) -> Diagnostic {
    let own = name.rsplit('.').next().unwrap_or(name);
    Diagnostic::error("E0113", format!("`{name}` cannot be bound: names with a point are those of imported files"), at)
        .tagged(Tag::NotBindable)
        .saying("this is not a name of this text")
        .hint(format!("call it `{own}`"))
}

/// A pattern between the commas in parentheses, where it may have a type behind it, and one outside of them, with
/// commas and without a type.
pub(super) fn patterns<'t>() -> (Rule<'t, Pattern>, Rule<'t, Pattern>) {
    let inner = recursive(|inner| list(typed(single(inner.boxed())))).boxed();
    let single = single(inner);
    (typed(single.clone()), list(single))
}

/// One or more patterns between commas.
fn list<'t>(part: Rule<'t, Pattern>) -> Rule<'t, Pattern> {
    one_or_tuple(part, |parts, span| Pattern { kind: PatternKind::Tuple(parts), span })
}

/// `pattern` or `pattern : type`.
fn typed<'t>(single: Rule<'t, Pattern>) -> Rule<'t, Pattern> {
    single
        .then(annotation().or_not())
        .map_with(|(pattern, ty), extra| match ty {
            None => pattern,
            Some(ty) => Pattern { kind: PatternKind::Typed(Box::new(pattern), ty), span: span(extra.span()) },
        })
        .boxed()
}

/// `: type` behind a pattern. Where there is none, no message says that there could be one: most patterns have none.
pub(super) fn annotation<'t>() -> Rule<'t, TypeExpr> {
    let (_, any_type) = types();
    let colon = custom::<_, Tokens<'t>, _, Extra<'t>>(|input| {
        let before = input.cursor();
        let found = input.peek_ref();
        if matches!(found, Some(Token::Colon)) {
            input.skip();
            return Ok(());
        }
        input.skip();
        let place = input.span_since(&before);
        Err(Fault::unexpected(Expected::default(), found, place))
    });
    colon.ignore_then(any_type).boxed()
}

fn single<'t>(pattern: Rule<'t, Pattern>) -> Rule<'t, Pattern> {
    let close = || just(Token::Close(Bracket::Parenthesis));
    // What is in parentheses, if anything, and where they stand.
    let parts = just(Token::Open(Bracket::Parenthesis))
        .ignore_then(choice((close().to(None), pattern.then_ignore(close()).map(Some))))
        .map_with(|inner: Option<Pattern>, extra| (inner, span(extra.span())))
        .boxed();
    let unit = |at| Pattern { kind: PatternKind::Unit, span: at };
    let named = name().then(parts.clone().or_not()).validate(move |(name, parts), extra, emitter| match parts {
        None => {
            if name.symbol.contains('.') {
                emitter.emit(Fault::described(of_another_file(&name.symbol, name.span), place(name.span)));
            }
            Pattern { kind: PatternKind::Variable(name.symbol), span: name.span }
        }
        Some((parts, at)) => {
            let payload = Box::new(parts.unwrap_or_else(|| unit(at)));
            Pattern { kind: PatternKind::Record(name, payload), span: span(extra.span()) }
        }
    });
    let truth_value = select_ref! { Token::Bool(value) => *value }.validate(|value, extra, emitter| {
        let at: Place = extra.span();
        emitter.emit(Fault::described(cannot_bind(value, span(at)), at));
        Pattern { kind: PatternKind::Error, span: span(at) }
    });
    let parenthesised = parts.map(move |(inner, at)| Pattern { span: at, ..inner.unwrap_or_else(|| unit(at)) });
    choice((named, parenthesised, truth_value)).labelled(What::Pattern).boxed()
}

/// Says that `t` and `f` are taken.
pub(super) fn cannot_bind(value: bool, at: Span) -> Diagnostic {
    let (letter, meaning) = if value { ("t", "true") } else { ("f", "false") };
    Diagnostic::error("E0113", format!("`{letter}` cannot be bound: it is the truth value {meaning}"), at)
        .tagged(Tag::NotBindable)
        .saying("this is not a name")
        .hint(format!("choose another name, for example `{letter}1`"))
}

/// Reads an expression as the pattern before `binder`, which is `in`, `=` or `=>`.
pub(super) fn from_expression<'t>(expr: Expr, binder: &str, emitter: &mut Emitter<Fault<'t>>) -> Pattern {
    let Expr { kind, span: at } = expr;
    let kind = match kind {
        ExprKind::Name(symbol) => {
            if symbol.contains('.') {
                emitter.emit(Fault::described(of_another_file(&symbol, at), place(at)));
            }
            PatternKind::Variable(symbol)
        }
        ExprKind::Unit => PatternKind::Unit,
        ExprKind::Tuple(parts) => {
            PatternKind::Tuple(parts.into_iter().map(|part| from_expression(part, binder, emitter)).collect())
        }
        ExprKind::Call { function, argument } if matches!(function.kind, ExprKind::Name(_)) => {
            let parts = Box::new(from_expression(*argument, binder, emitter));
            match function.kind {
                ExprKind::Name(symbol) => PatternKind::Record(Name { symbol, span: function.span }, parts),
                _ => PatternKind::Error,
            }
        }
        ExprKind::Literal(ScalarValue::Bool(value)) => {
            emitter.emit(Fault::described(cannot_bind(value, at), place(at)));
            PatternKind::Error
        }
        ExprKind::Typed { value, ty } => PatternKind::Typed(Box::new(from_expression(*value, binder, emitter)), ty),
        ExprKind::Error => PatternKind::Error,
        kind => {
            let message = format!("only patterns (names, tuples and records of names) can stand before `{binder}`");
            let diagnostic = Diagnostic::error("E0114", message, at).saying("this is an expression");
            let hint = pattern_hint(&Expr { kind, span: at }, binder);
            emitter.emit(Fault::described(diagnostic.hint(hint), place(at)));
            PatternKind::Error
        }
    };
    Pattern { kind, span: at }
}

//! Tokens to the surface tree.
//!
//! A chumsky grammar, one file per part: `forms` (top level, recovery between forms), `expressions`, `operators` (the
//! table of binding powers), `patterns`, `types`; `recovery` skips what could not be read, `fault` is the error type,
//! `message` words it and `advice` adds hints; `nesting` bounds the depth beforehand, `completeness` says whether a
//! text is all of an input, and `again` reads what has changed in a text. [`parse`] never fails and never panics: every
//! text gives forms and diagnostics.

mod advice;
mod again;
mod completeness;
mod expressions;
mod fault;
mod forms;
mod message;
mod nesting;
pub(crate) mod operators;
mod patterns;
mod recovery;
mod timing;
mod types;

use crate::ast::{Expr, ExprKind, TopLevel};
use crate::diagnostic::{Diagnostic, Tag, finish};
use crate::stack::with_stack;
use crate::syntax::nesl::lexer::{self, Lexed};
use crate::syntax::nesl::token::{Bracket, Token};
pub use again::{ReadText, parse_again};
use chumsky::input::MappedInput;
use chumsky::prelude::*;
use chumsky::{Boxed, Parser};
pub use completeness::is_unfinished;
use fault::{Context, Fault};
pub use forms::imports;
use nesl_span::{FileId, Span};
use recovery::Structure;

/// A [`Span`] as chumsky wants it.
type Place = SimpleSpan<u32, FileId>;
/// The input of the grammar.
type Tokens<'t> = MappedInput<'t, Token, Place, &'t [(Token, Place)]>;
/// The errors of the grammar.
type Extra<'t> = extra::Err<Fault<'t>>;
/// A rule of the grammar.
type Rule<'t, O> = Boxed<'t, 't, Tokens<'t>, O, Extra<'t>>;

fn span(place: Place) -> Span {
    Span { file: place.context, start: place.start, end: place.end }
}

fn place(span: Span) -> Place {
    Place { start: span.start, end: span.end, context: span.file }
}

/// An expression in parentheses, or `()`.
fn parenthesised<'t>(
    expression: impl Parser<'t, Tokens<'t>, Expr, Extra<'t>> + Clone + 't,
) -> impl Parser<'t, Tokens<'t>, Expr, Extra<'t>> + Clone {
    let close = || just(Token::Close(Bracket::Parenthesis));
    let unit = close().to(ExprKind::Unit);
    just(Token::Open(Bracket::Parenthesis))
        .ignore_then(choice((unit, expression.then_ignore(close()).map(|inner| inner.kind))))
        .map_with(|kind, extra| Expr { kind, span: span(extra.span()) })
        .labelled(Context::Parenthesis)
        .as_context()
}

/// What a text turned out to be.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parsed {
    /// Its forms in order; those that could not be read are [`crate::ast::TopLevelKind::Error`].
    pub forms: Vec<TopLevel>,
    /// Where comments stand, in order. The tree has places in the text, so this says which node each is at.
    pub comments: Vec<Span>,
    /// What is wrong, in the order of the text; empty if all is well.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a file or a REPL input.
pub fn parse(file: FileId, text: &str) -> Parsed {
    let lexed = lexer::lex(file, text);
    let comments = lexed.comments.clone();
    let (forms, diagnostics) = run(file, text, lexed, forms::program);
    Parsed { forms: forms.unwrap_or_default(), comments, diagnostics }
}

/// Reads one expression without a terminator: a command-line argument, the operand of a REPL command.
pub fn parse_expression(file: FileId, text: &str) -> (Option<Expr>, Vec<Diagnostic>) {
    let lexed = lexer::lex(file, text);
    run(file, text, lexed, |tokens| expressions::expression(tokens).then_ignore(end()).boxed())
}

/// Runs a rule on all tokens of a text, with a stack that is large enough for its nesting.
fn run<O: Send>(
    file: FileId,
    text: &str,
    lexed: Lexed,
    rule: impl for<'t> FnOnce(recovery::Source<'t>) -> Rule<'t, O> + Send,
) -> (Option<O>, Vec<Diagnostic>) {
    let Lexed { tokens, mut diagnostics, .. } = lexed;
    let depth = match nesting::measure(&tokens) {
        Ok(depth) => depth,
        Err(diagnostic) => {
            diagnostics.push(*diagnostic);
            return (None, finish(diagnostics));
        }
    };
    // An unclosed string or comment hides the rest of the text: what is missing there is no news.
    let is_open = |diagnostic: &&Diagnostic| diagnostic.is_about(&[Tag::OpenComment, Tag::OpenString]);
    let hidden = diagnostics.iter().filter(is_open).map(start).min();
    let tokens: Vec<(Token, Place)> = tokens.into_iter().map(|(token, span)| (token, place(span))).collect();
    let end = place(Span::new(file, text.len(), text.len()));
    let structure = Structure::of(&tokens);
    let parse = || {
        let failures = recovery::Failures::default();
        let source = recovery::Source { tokens: &tokens, structure: &structure, failures: &failures, end };
        let (output, faults) = rule(source).parse(tokens.as_slice().split_token_span(end)).into_output_errors();
        (output, faults.into_iter().filter_map(|fault| message::diagnostic(fault, text)).collect::<Vec<_>>())
    };
    match with_stack(nesting::stack_size(depth), parse) {
        Ok((output, errors)) => {
            // What stands just before it has an end there, most likely.
            let is_seen = |error: &Diagnostic| {
                let Some(hidden) = hidden else { return true };
                let between = error.labels.first().and_then(|label| text.get(label.span.end as usize..hidden as usize));
                start(error) < hidden
                    && (!error.is_about(&[Tag::OpenForm]) || between.is_some_and(|text| !text.trim().is_empty()))
            };
            diagnostics.extend(errors.into_iter().filter(is_seen));
            (output, finish(diagnostics))
        }
        Err((error, _)) => {
            let message = format!("there is not enough memory to parse this: {error}");
            diagnostics.push(Diagnostic::error("E0105", message, Span::new(file, 0, 0)));
            (None, finish(diagnostics))
        }
    }
}

/// A part, or several between commas, which are a tuple of their kind.
fn one_or_tuple<'t, T: 't>(
    part: impl Parser<'t, Tokens<'t>, T, Extra<'t>> + Clone + 't,
    tuple: fn(Vec<T>, Span) -> T,
) -> Rule<'t, T> {
    let more = just(Token::Comma).ignore_then(part.clone()).repeated().collect::<Vec<T>>();
    part.then(more)
        .map_with(move |(first, mut more), extra| {
            if more.is_empty() {
                return first;
            }
            more.insert(0, first);
            tuple(more, span(extra.span()))
        })
        .boxed()
}

fn start(diagnostic: &Diagnostic) -> u32 {
    diagnostic.labels.first().map_or(u32::MAX, |label| label.span.start)
}

//! The tokens of V to its tree.
//!
//! A chumsky grammar: `items` (what stands at the top), `statements`, `declarations`, `expressions`, `types`; `message`
//! words what does not fit, and `habits` knows what other languages write; `completeness` says whether a text is all of
//! an input. No rule needs more than three tokens to know itself, so nothing is read twice but what has a mistake in
//! it. What cannot be read is skipped to the end of its statement, and is an error node.

pub(in crate::syntax::v) mod completeness;
mod declarations;
mod expressions;
mod habits;
mod items;
mod message;
mod statements;
mod types;

use super::lexer::Lexed;
use super::token::Token;
use super::tree::Item;
use crate::ast::Symbol;
use crate::diagnostic::{Diagnostic, Tag, is_about};
use crate::stack::with_stack;
use chumsky::Boxed;
use chumsky::input::MappedInput;
use chumsky::prelude::*;
pub(super) use expressions::power;
use nesl_span::{FileId, Span};
use std::collections::HashSet;

/// A [`Span`] as chumsky wants it.
type Place = SimpleSpan<u32, FileId>;
/// The input of the grammar.
type Tokens<'t> = MappedInput<'t, Token, Place, &'t [(Token, Place)]>;
/// The errors of the grammar.
type Extra<'t> = extra::Err<Rich<'t, Token, Place>>;
/// A rule of the grammar.
type Rule<'t, O> = Boxed<'t, 't, Tokens<'t>, O, Extra<'t>>;

fn span(place: Place) -> Span {
    Span { file: place.context, start: place.start, end: place.end }
}

fn sign<'t>(text: &'static str) -> impl Parser<'t, Tokens<'t>, Span, Extra<'t>> + Clone {
    just(Token::Sign(text)).map_with(|_, extra| span(extra.span()))
}

fn word<'t>(text: &'static str) -> impl Parser<'t, Tokens<'t>, Span, Extra<'t>> + Clone {
    just(Token::Word(text)).map_with(|_, extra| span(extra.span()))
}

fn name<'t>() -> impl Parser<'t, Tokens<'t>, crate::ast::Name, Extra<'t>> + Clone {
    select_ref! { Token::Name(symbol) = extra => crate::ast::Name { symbol: symbol.clone(), span: span(extra.span()) } }
        .labelled("a name")
}

/// A name behind that of a file that is imported: `g.f`.
fn behind(file: crate::ast::Name, name: crate::ast::Name) -> crate::ast::Name {
    let symbol = Symbol::from(format!("{}.{}", file.symbol, name.symbol));
    crate::ast::Name { symbol, span: file.span.to(name.span) }
}

/// Brackets inside of brackets, and all kinds of nesting together.
const MOST_LEVELS: usize = 1000;
/// Stack for each level, many times what was seen to be needed.
const STACK_PER_LEVEL: usize = 128 << 10;
/// Operators in one statement.
const MOST_OPERATORS: usize = 12_000;

/// So many semicolons that are missing are put where they belong.
const MOST_SEMICOLONS: usize = 20;

/// How deep the text nests, or where it nests too deep.
fn depth(tokens: &[(Token, Span)]) -> Result<usize, Box<Diagnostic>> {
    let (mut open, mut controls, mut operators, mut deepest) = (0_usize, 0_usize, 0_usize, 0);
    for (token, span) in tokens {
        match token {
            Token::Sign("(" | "[") => open += 1,
            Token::Sign("{") => (open, controls) = (open + 1, 0),
            Token::Sign(")" | "]") => open = open.saturating_sub(1),
            Token::Sign("}") => (open, controls, operators) = (open.saturating_sub(1), 0, 0),
            Token::Sign(";") => (controls, operators) = (0, 0),
            Token::Sign("?") | Token::Word("if" | "else" | "while" | "do" | "for") => controls += 1,
            Token::Sign(",") => {}
            Token::Sign(_) => operators += 1,
            _ => {}
        }
        deepest = deepest.max(open + controls);
        if deepest > MOST_LEVELS || operators > MOST_OPERATORS {
            let report = Diagnostic::error("E0105", "this nests too deep", *span);
            return Err(Box::new(report.hint("give the parts names, or make functions of them")));
        }
    }
    Ok(deepest)
}

/// What tokens turned out to be.
struct Reading {
    items: Vec<Item>,
    /// The first token before which a `;` is missing.
    missing: Option<usize>,
    faults: Vec<Diagnostic>,
    /// The names in what could not be read.
    unreadable: HashSet<Symbol>,
}

/// Reads tokens.
fn once(tokens: &[(Token, Place)], end: Place, text: &str, is_input: bool) -> Reading {
    let (items, faults) = items::unit(is_input).parse(tokens.split_token_span(end)).into_output_errors();
    let missing = faults.iter().find_map(|fault| message::missing_semicolon(fault, tokens, text));
    let unreadable = habits::unreadable_names(tokens, faults.iter().map(|fault| fault.span().start));
    // A word that cannot be a name is no operand either: it is reported where it is declared.
    let mut words: Vec<&str> = Vec::new();
    let mut reported = Vec::new();
    for fault in &faults {
        let spot = habits::Spot::at(tokens, fault.span().start);
        match (fault.found(), habits::reserved(&spot, &message::expected(fault))) {
            (_, Some(word)) => words.push(word),
            (Some(Token::Word(word)), None) if words.contains(word) => continue,
            _ => {}
        }
        reported.push(message::diagnostic(fault, tokens, text));
    }
    Reading { items: items.unwrap_or_default(), missing, faults: reported, unreadable }
}

/// A text that has been read.
#[derive(Default)]
pub(in crate::syntax::v) struct Parsed {
    pub items: Vec<Item>,
    pub diagnostics: Vec<Diagnostic>,
    /// The names in what could not be read.
    pub unreadable: HashSet<Symbol>,
    /// Whether something could not be read.
    pub is_partial: bool,
}

/// Reads a text, which may be an input of a session: what it holds, and what is wrong with it.
pub(in crate::syntax::v) fn parse(file: FileId, text: &str, lexed: Lexed, is_input: bool) -> Parsed {
    let Lexed { tokens, mut diagnostics, .. } = lexed;
    let levels = match depth(&tokens) {
        Ok(levels) => levels,
        Err(diagnostic) => {
            diagnostics.push(*diagnostic);
            return Parsed { diagnostics, ..Parsed::default() };
        }
    };
    let place = |span: Span| Place { start: span.start, end: span.end, context: span.file };
    let tokens: Vec<(Token, Place)> = tokens.into_iter().map(|(token, span)| (token, place(span))).collect();
    let end = place(Span::new(file, text.len(), text.len()));
    let mut tokens = tokens;
    let run = || {
        let mut found = Vec::new();
        loop {
            let reading = once(&tokens, end, text, is_input);
            let Some(index) = reading.missing.filter(|_| found.len() < MOST_SEMICOLONS) else {
                let Reading { items, faults, unreadable, .. } = reading;
                let is_partial = !faults.is_empty();
                found.extend(faults);
                return Parsed { items, diagnostics: found, unreadable, is_partial };
            };
            // With it what follows is read as it was meant.
            let before = tokens[index - 1].1;
            found.push(message::semicolon(span(before)));
            tokens.insert(index, (Token::Sign(";"), Place { start: before.end, ..before }));
        }
    };
    match with_stack((1 << 20) + levels * STACK_PER_LEVEL, run) {
        Ok(parsed) => {
            // An unclosed string or comment hides the rest of the text: what is missing there is no news.
            if !is_about(&diagnostics, &[Tag::OpenComment, Tag::OpenString]) {
                diagnostics.extend(parsed.diagnostics);
            }
            Parsed { diagnostics, ..parsed }
        }
        Err((error, _)) => {
            let message = format!("there is not enough memory to parse this: {error}");
            diagnostics.push(Diagnostic::error("E0105", message, Span::new(file, 0, 0)));
            Parsed { diagnostics, ..Parsed::default() }
        }
    }
}

//! Faults in words.
//!
//! Chumsky says what would have been possible and what stood there; this file chooses what of that is worth saying.
//! [`super::advice`] knows the mistakes that people make.

use super::advice::{Spot, hint, is_name_place, reserved};
use super::fault::{Context, Expected, Fault, Problem, What};
use super::span;
use crate::diagnostic::Diagnostic;
use crate::syntax::nesl::token::{Foreign, Token};
use nesl_span::Span;

/// The diagnostic of a fault in `text`; none where the lexer has already reported what stands there.
pub(super) fn diagnostic(fault: Fault<'_>, text: &str) -> Option<Diagnostic> {
    let Fault { place, problem, context } = fault;
    let at = span(place);
    Some(match problem {
        Problem::Described(diagnostic) => *diagnostic,
        Problem::Unexpected { found: Some(Token::Unreadable), .. } => return None,
        Problem::Unexpected { found: Some(Token::Foreign(foreign)), .. } => foreign_diagnostic(*foreign, at),
        Problem::Unexpected { found: Some(Token::Bool(value)), expected }
            if expected.contains(What::Pattern) || expected.contains(What::TypeVariable) =>
        {
            super::patterns::cannot_bind(*value, at)
        }
        Problem::Unexpected { expected, found } => {
            let part = |range: std::ops::Range<usize>| text.get(range).unwrap_or("").trim();
            let (start, end) = (at.start as usize, at.end as usize);
            let spot = Spot { expected, found, before: part(0..start), after: part(end..text.len()) };
            if let Some(word) = is_name_place(&spot) {
                return Some(reserved(word, at));
            }
            let context = context.map(|(context, place)| (context, span(place)));
            unexpected(spot, at, context)
        }
    })
}

/// What is not part of the language, or not yet.
fn foreign_diagnostic(foreign: Foreign, at: Span) -> Diagnostic {
    let not_yet = |what: &str| Diagnostic::error("E0190", format!("{what} are not part of the language yet"), at);
    let unknown =
        |text: &str, hint: &str| Diagnostic::error("E0110", format!("NESL has no operator `{text}`"), at).hint(hint);
    match foreign {
        Foreign::FileVariable => unknown("|=", "`x |= e;` assigns, as `x = e;`, at the top level"),
        Foreign::Background => not_yet("background jobs (`&=`)"),
        Foreign::Closure | Foreign::Defconfig | Foreign::Pair => reserved(foreign.text(), at),
        Foreign::NotEqual => unknown("!=", "inequality is `/=`"),
        Foreign::DoubleAmpersand | Foreign::Ampersand => unknown(foreign.text(), "conjunction is `and`"),
        Foreign::Exclamation => unknown("!", "negation is `not(e)`"),
        Foreign::DoubleGreater => unknown(">>", "to shift an int use `rshift(a, n)`"),
    }
}

/// How a message calls an expected thing.
fn words(what: What) -> &'static str {
    match what {
        What::Form => "a function, an assignment or an expression",
        What::Expression => "an expression",
        What::Operator => "an operator",
        What::Argument => "an argument",
        What::Pattern => "a name or a tuple of names",
        What::FunctionName => "the name of a function",
        What::TypeName => "the name of the datatype",
        What::Parameter => "a parameter",
        What::Type => "a type",
        What::TypeVariable => "a type variable",
        What::Class => "a type class",
        What::Text => "a doc string",
        What::Comma => "`,`",
        What::Semicolon => "`;`",
        What::Dollar => "`$`",
        What::Colon => "`:`",
        What::DoubleColon => "`::`",
        What::Equal => "`=`",
        What::Bar => "`|`",
        What::In => "`in`",
        What::Then => "`then`",
        What::Else => "`else`",
        What::Arrow => "`->`",
        What::CloseParenthesis => "`)`",
        What::CloseSquare => "`]`",
        What::CloseBrace => "`}`",
        What::End => "the end of the text",
    }
}

/// What is worth mentioning: an operator or an argument is possible after every operand, and a comma wherever a whole
/// expression is; they are named only where nothing else is possible.
fn worth_saying(expected: Expected) -> Vec<What> {
    let optional = |what: &What| match what {
        What::Operator | What::Argument | What::Dollar | What::Text | What::Arrow | What::DoubleColon => true,
        What::End => expected.contains(What::Form),
        _ => false,
    };
    let all: Vec<What> = What::ALL.into_iter().filter(|what| expected.contains(*what)).collect();
    // After the parameters of a function comes its body, seldom the end.
    let is_header = expected.contains(What::Text) && expected.contains(What::Equal);
    if is_header {
        return all.into_iter().filter(|what| matches!(what, What::Equal | What::Colon)).collect();
    }
    let is_form_end = expected.contains(What::Semicolon) && !expected.contains(What::In);
    let must: Vec<What> = all
        .iter()
        .copied()
        .filter(|what| !optional(what))
        .filter(|what| *what != What::Equal || !is_form_end)
        .collect();
    let ends = [What::CloseParenthesis, What::CloseSquare, What::CloseBrace, What::In, What::Then, What::Else];
    let is_bracket_end = expected.contains(What::CloseParenthesis) || expected.contains(What::CloseSquare);
    let without_comma: Vec<What> = must.iter().copied().filter(|what| *what != What::Comma || is_bracket_end).collect();
    let only_end: Vec<What> = without_comma.iter().copied().filter(|what| ends.contains(what)).collect();
    // Of `;` and `in` after the bindings of a `let`, `in` is what must come.
    let goes_on = |what: &What| matches!(what, What::Semicolon | What::Pattern);
    if only_end.contains(&What::In) && without_comma.iter().any(goes_on) {
        return only_end;
    }
    match (without_comma.is_empty(), must.is_empty()) {
        (false, _) => without_comma,
        (true, false) => must,
        (true, true) => all,
    }
}

/// `a`, `a or b`, `a, b or c`.
fn alternatives(items: &[What]) -> String {
    let items: Vec<&str> = items.iter().map(|what| words(*what)).collect();
    match items.split_last() {
        None => "something else".to_owned(),
        Some((last, [])) => (*last).to_owned(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
    }
}

/// Where in the open form the parser was.
fn whereabouts(context: Context, said: &[What]) -> &'static str {
    match context {
        Context::Let if said.contains(&What::In) => " after the bindings of this `let`",
        Context::Let => " in the bindings of this `let`",
        Context::If if said.contains(&What::Then) => " after the condition of this `if`",
        Context::If => " after the first branch of this `if`",
        Context::Each => " in this apply-to-each",
        Context::Sequence => " in this sequence",
        Context::SequenceType => " in this sequence type",
        Context::TupleType => " in this tuple type",
        Context::Index => " after this index",
        Context::Parenthesis => " in these parentheses",
        Context::Function => " in this function definition",
    }
}

fn unexpected(spot: Spot<'_>, at: Span, context: Option<(Context, Span)>) -> Diagnostic {
    let Spot { expected, found, .. } = spot;
    let said = worth_saying(expected);
    let found_words = found.map_or_else(|| "the end of the text".to_owned(), ToString::to_string);
    if expected.is_empty() && found == Some(&Token::Equal) && spot.before.ends_with("time") {
        return reserved("time", at);
    }
    if expected.is_empty() {
        return Diagnostic::error("E0110", format!("unexpected {found_words}"), at);
    }
    let wanted = alternatives(&said);
    let place = context.map_or("", |(context, _)| whereabouts(context, &said));
    let message = format!("expected {wanted}{place}, found {found_words}");
    let code = if said == [What::Else] { "E0112" } else { "E0110" };
    let mut diagnostic = Diagnostic::error(code, message, at).saying(format!("expected {wanted}"));
    if let Some((context, opened)) = context {
        let (length, text) = match context {
            Context::Let => (3, "this `let`"),
            Context::If => (2, "this `if`"),
            Context::Function => (8, "this function"),
            Context::Each
            | Context::Sequence
            | Context::SequenceType
            | Context::TupleType
            | Context::Index
            | Context::Parenthesis => (1, "opened here"),
        };
        diagnostic = diagnostic.also(Span { end: opened.start + length, ..opened }, text);
    }
    match hint(&spot, context) {
        Some(hint) => diagnostic.hint(hint),
        None => diagnostic,
    }
}

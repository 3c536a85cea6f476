//! Hints for the mistakes that people make in syntax, most of them habits from other languages.
//!
//! [`super::message`] says what was expected and asks here for advice. The tokens tell most of it; where they do not,
//! the text before the place is looked at as it is written. A hint is a guess, so the message never depends on it.

use super::fault::{Context, Expected, What};
use crate::ast::{BinaryOp, Expr, ExprKind};
use crate::diagnostic::Diagnostic;
use crate::syntax::nesl::token::{Bracket, Keyword, Token};
use nesl_span::Span;

/// A place where the text does not fit the grammar.
#[derive(Clone, Copy)]
pub(super) struct Spot<'t> {
    pub(super) expected: Expected,
    /// The token there; `None` at the end of the text.
    pub(super) found: Option<&'t Token>,
    /// The text before it.
    pub(super) before: &'t str,
    /// The text after it.
    pub(super) after: &'t str,
}

/// Says that a word cannot be a name.
pub(super) fn reserved(word: &str, at: Span) -> Diagnostic {
    Diagnostic::error("E0190", format!("`{word}` is a reserved word of NESL"), at)
        .saying("this cannot be a name")
        .hint("choose another name")
}

/// The reserved word, if one stands where a name is needed and was meant as one.
pub(super) fn is_name_place(spot: &Spot<'_>) -> Option<&'static str> {
    let word = match spot.found? {
        Token::Keyword(keyword) => keyword.text(),
        Token::Operator(op) if op.function().chars().all(char::is_alphabetic) => op.function(),
        _ => return None,
    };
    let is_function = spot.expected.contains(What::FunctionName) && !spot.before.ends_with('\'');
    let is_name = is_function || spot.expected.contains(What::TypeName) || spot.expected.contains(What::Pattern);
    // `in = 3;`: no form begins so.
    if spot.expected.contains(What::Form) && spot.after.starts_with('=') && !spot.after.starts_with("==") {
        return Some(word);
    }
    // `let x = 1; if …` lacks its `in`, and `{x : in v}` a name.
    let goes_on = !spot.expected.contains(What::In) && !spot.expected.contains(What::Expression);
    let rest = spot.after;
    let is_bound = rest.starts_with(['=', ',', ')', '(', ':']) && !rest.starts_with("==")
        || rest.split(|c: char| !c.is_alphanumeric()).next() == Some("in");
    (is_name && goes_on && is_bound).then_some(word)
}

/// Advice for well-known mistakes. The form that the place is in comes with where it begins.
pub(super) fn hint(spot: &Spot<'_>, form: Option<(Context, Span)>) -> Option<&'static str> {
    let context = form.map(|(context, _)| context);
    let lacks_in = || form.is_some_and(|(context, opened)| context == Context::Let && is_whole_input(spot, opened));
    let hint = in_header(spot).or_else(|| in_form(spot, context)).or_else(|| at_operand(spot));
    // In `let v = 3; sum([v]);` a call stands where a pattern should.
    let is_value = hint == Some(VALUE_OF_LET) || hint == Some(PATTERN) && is_call(spot.before);
    match hint.is_none() || is_value {
        true if lacks_in() => {
            Some("a name for all that follows is bound without `let`, by `name = value;`; a `let` goes on with `in`")
        }
        _ => hint,
    }
}

const VALUE_OF_LET: &str = "the value of a `let` comes after `in`";
const PATTERN: &str = "a pattern is a name or a tuple, `(a, b)`; the elements of a sequence are v[0], v[1]";

/// Whether what was read ends with the beginning of a call, `name(`.
fn is_call(before: &str) -> bool {
    before.strip_suffix('(').is_some_and(|before| before.ends_with(|c: char| c.is_alphanumeric() || c == '_'))
}

/// Whether a form that begins there is no part of another.
fn is_whole_input(spot: &Spot<'_>, opened: Span) -> bool {
    let before = spot.before.get(..opened.start as usize).map(str::trim_end);
    before.is_some_and(|before| before.is_empty() || before.ends_with([';', '%']))
}

/// Advice for the beginning of a definition.
fn in_header(spot: &Spot<'_>) -> Option<&'static str> {
    let Spot { expected, found, before, .. } = *spot;
    if matches!(found, Some(Token::Operator(BinaryOp::Read))) && expected.contains(What::Text) {
        return Some("the type of a function comes after `:`, as in `function g(x) : int -> int = …`");
    }
    if matches!(found, Some(Token::Colon | Token::Name(_))) && in_parameters(before) {
        return Some(
            "types come after the parameters, as in `function g(x) : int -> int = …`, or after each: `(x : int)`",
        );
    }
    let is_binding =
        expected.contains(What::Equal) && !expected.contains(What::Semicolon) && !expected.contains(What::Text);
    if found == Some(&Token::Colon) && is_binding {
        return Some("a name with a type stands in parentheses: `let (name : type) = value in …`");
    }
    if found == Some(&Token::Equal) && expected.contains(What::Type) && last_words(before).0 == "datatype" {
        return Some("a datatype is written without `=`: `datatype name (int, float)`");
    }
    if expected.contains(What::Text) && expected.contains(What::Equal) && found.is_some() {
        return Some("the body of a function comes after `=`: `function name(parameter) = body`");
    }
    None
}

/// Advice for what stands where a form or a part of it should end.
fn in_form(spot: &Spot<'_>, context: Option<Context>) -> Option<&'static str> {
    let Spot { expected, found, before, after } = *spot;
    let (previous, last) = last_words(before);
    let is_each = context == Some(Context::Each);
    match found? {
        Token::ColonEqual if context == Some(Context::Let) => {
            Some("`:=` passes an argument by name; a value is bound by `=`")
        }
        Token::Colon if context == Some(Context::Index) => {
            Some("a part of a sequence is `subseq(v, start, end)`, `take(v, n)` or `drop(v, n)`")
        }
        Token::Colon if context == Some(Context::TupleType) => Some("the parts of a type have no names"),
        Token::Colon if expected.contains(What::Semicolon) && previous == "lambda" => {
            Some("a function without a name is written `parameter => body`")
        }
        Token::Colon if expected.contains(What::Semicolon) && is_foreign_definition(before) => {
            Some("a function is defined by `function name(parameter) = body`")
        }
        Token::Colon if expected.contains(What::Semicolon) && before.contains(" ? ") => {
            Some("a choice is written `if c then a else b`")
        }
        Token::Colon | Token::Operator(_) if is_each && !expected.contains(What::Expression) => match found? {
            Token::Operator(BinaryOp::Write) => Some("an element of a sequence is `x in v`"),
            _ => Some("a filter comes after `|`: `{body : name in sequence | filter}`"),
        },
        Token::Keyword(Keyword::In) if is_each && before[..before.len() - last.len()].trim_end().ends_with(',') => {
            Some("separate the sources of an apply-to-each by `;`")
        }
        Token::Keyword(Keyword::Else) if expected.contains(What::Then) && before.ends_with('}') => {
            Some("a conditional is written `if c then a else b`, without braces")
        }
        Token::Name(_) if context == Some(Context::Let) && expected.contains(What::Equal) => {
            Some("the value of a `let` comes after `in`; several names are a tuple, `(a, b)`")
        }
        Token::Open(Bracket::Square) if expected.contains(What::Pattern) => Some(PATTERN),
        Token::Equal if context == Some(Context::Let) && expected.contains(What::Operator) => {
            // Two operands in a row, `1 y = 2`, or with a comma between: the second begins a binding.
            let follows_comma = before[..before.len() - last.len()].trim_end().ends_with(',');
            let is_binding = !last.is_empty() && (follows_comma || previous_ends_operand(before, last));
            Some(if is_binding { "separate the bindings of a `let` by `;`" } else { "equality is `==`" })
        }
        Token::Equal if expected.contains(What::Semicolon) && context.is_none() => {
            Some("equality is `==`; if a new form begins here, end the one before with `;`")
        }
        Token::Equal if expected.contains(What::CloseParenthesis) && is_argument(before, last) => {
            Some("an argument is passed by name with `:=`; equality is `==`")
        }
        Token::Equal if expected.contains(What::Operator) => Some("equality is `==`"),
        _ if expected.contains(What::Else) => Some("every `if` needs an `else`"),
        Token::Keyword(Keyword::In) if context == Some(Context::Each) && expected.contains(What::CloseBrace) => {
            Some("an apply-to-each is written `{body : name in sequence | filter}`")
        }
        Token::Close(Bracket::Brace) if expected.contains(What::Then) => {
            Some("a filter comes after `|`: `{body : name in sequence | filter}`")
        }
        Token::Keyword(Keyword::In) if context == Some(Context::Sequence) => {
            Some("an apply-to-each has braces: `{body : name in sequence | filter}`")
        }
        Token::Keyword(Keyword::In) if expected.contains(What::Semicolon) => Some(match previous {
            "for" | "foreach" => "something is done for each element by `{body : name in sequence}`",
            _ => "this `in` belongs to no `let`",
        }),
        Token::Open(Bracket::Parenthesis)
            if expected.contains(What::Equal) && matches!(last, "t" | "f" | "T" | "F") =>
        {
            Some("`t` and `f` are true and false, in any case, and cannot be bound: choose another name")
        }
        Token::Open(Bracket::Parenthesis) if expected.contains(What::Equal) && !expected.contains(What::Text) => {
            Some("functions are defined at the top level: `function name(parameter) = …`")
        }
        _ if expected.contains(What::FunctionName) && is_quoted(before) => {
            Some("strings are written in double quotes, and characters with a backquote before them")
        }
        _ if expected.contains(What::FunctionName) && before.ends_with('\'') => {
            Some("a character is written with a backquote: `a")
        }
        Token::Open(Bracket::Brace) if expected.contains(What::Equal) && expected.contains(What::Semicolon) => {
            Some("the body of a function comes after `=`, without braces")
        }
        Token::Keyword(Keyword::Then) if expected.contains(What::Semicolon) && last == "else" => {
            Some("write `else if`, with an `if` for every `then`")
        }
        Token::Close(_) if expected.contains(What::Semicolon) && context.is_none() && !after.is_empty() => {
            Some("this bracket closes nothing")
        }
        Token::Operator(_) | Token::Semicolon | Token::Dollar
            if context == Some(Context::Let) && !expected.contains(What::In) =>
        {
            Some(VALUE_OF_LET)
        }
        _ => None,
    }
}

/// Advice for what stands where an operand should be.
fn at_operand(spot: &Spot<'_>) -> Option<&'static str> {
    let Spot { expected, found, before, .. } = *spot;
    if !expected.contains(What::Expression) && !expected.contains(What::Form) {
        return None;
    }
    match found? {
        Token::Equal if before.ends_with(['+', '-', '*', '/']) => {
            Some("a value is computed anew: write `x = x + 1`, in a `let` with a new name")
        }
        Token::Operator(BinaryOp::Divide) if before.ends_with('/') => {
            Some("`/` of ints gives an int; a comment stands between `%` and `%`")
        }
        Token::Operator(BinaryOp::Divide) if expected.contains(What::Form) => {
            Some("a comment stands between `%` and `%`")
        }
        Token::Operator(BinaryOp::Greater) if before.ends_with('<') => Some("inequality is `/=`"),
        Token::Operator(BinaryOp::Unequal) if before.ends_with('=') => Some("inequality is `/=`"),
        Token::Close(Bracket::Brace) if before.ends_with('{') => {
            Some("the empty sequence is `[]`; an apply-to-each is written `{body : name in sequence}`")
        }
        Token::Operator(BinaryOp::Multiply) if before.ends_with('*') => Some("powers are written `a ^ b`"),
        Token::Operator(BinaryOp::Multiply) if before.ends_with('/') => Some("a comment stands between `%` and `%`"),
        Token::Close(Bracket::Square) if before.ends_with('[') => {
            Some("brackets after a name are an index; to call a function write `name(argument)`")
        }
        Token::Close(_) if before.ends_with(',') => Some("remove the last `,`"),
        Token::Semicolon | Token::Close(_) if before.ends_with("++") => {
            Some("`++` joins two sequences; to count, write `x + 1`")
        }
        Token::Operator(BinaryOp::Less) if before.ends_with('<') => Some("to shift an int use `lshift(a, n)`"),
        Token::Operator(_) if before.ends_with(['(', ',']) && spot.after.starts_with([',', ')']) => {
            Some("an operator is a function with `'` before it: `reduce('+, 0, v)`")
        }
        Token::Operator(op) if op.function().chars().all(char::is_alphabetic) && spot.after.starts_with('(') => {
            Some("it is no function, and stands between what it combines: `a and b`, `a or b`, `a xor b`")
        }
        Token::Operator(BinaryOp::Add) => Some("numbers have no sign `+`"),
        Token::Colon if before.ends_with('[') => {
            Some("a part of a sequence is `subseq(v, start, end)`, `take(v, n)` or `drop(v, n)`")
        }
        _ => None,
    }
}

/// Advice for an expression that stands where a pattern should, before `binder`.
pub(super) fn pattern_hint(expr: &Expr, binder: &str) -> &'static str {
    match (binder, &expr.kind) {
        ("=", ExprKind::Index { .. }) => {
            "sequences do not change: `rep(v, x, i)` is v with x at place i, `v <- pairs` replaces many elements"
        }
        ("=", _) => match first_word(expr) {
            Some("def" | "fun" | "fn" | "func" | "define" | "defun") => {
                "a function is defined by `function name(parameter) = body`"
            }
            Some("var" | "val" | "const" | "mut" | "auto" | "int" | "float" | "bool" | "string") => {
                "a value is defined by `name = value`, without a word before it"
            }
            _ => "equality is `==`, and functions are defined with `function`",
        },
        ("in", ExprKind::Let { .. } | ExprKind::If { .. }) => {
            "braces are for an apply-to-each, `{body : name in sequence}`; parentheses group an expression"
        }
        ("=>", _) => "a lambda is written `parameter => value`; at least is `>=`",
        _ => "an apply-to-each is written `{body : name in sequence}`",
    }
}

/// The name that an expression begins with.
fn first_word(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Name(name) => Some(name),
        ExprKind::Call { function, .. } => first_word(function),
        _ => None,
    }
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// The last word of a text, and the one before it; empty where there is none. Only blanks may stand between them.
fn last_words(text: &str) -> (&str, &str) {
    let (rest, last) = text.split_at(text.trim_end_matches(is_word).len());
    let rest = rest.trim_end();
    (&rest[rest.trim_end_matches(is_word).len()..], last)
}

/// Whether the last word of a text begins an argument of a call: `plot(x, y, file`.
fn is_argument(text: &str, last: &str) -> bool {
    let rest = text[..text.len() - last.len()].trim_end();
    let mut depth = 0;
    let open = rest.char_indices().rev().find(|&(_, sign)| {
        match sign {
            ')' | ']' | '}' => depth += 1,
            '(' | '[' | '{' => depth -= 1,
            _ => {}
        }
        depth < 0
    });
    let is_call = open.is_some_and(|(place, sign)| sign == '(' && rest[..place].ends_with(is_word));
    !last.is_empty() && rest.ends_with([',', '(']) && is_call
}

/// Whether an operand ends before the last word of a text.
fn previous_ends_operand(text: &str, last: &str) -> bool {
    let rest = text[..text.len() - last.len()].trim_end();
    let word = &rest[rest.trim_end_matches(is_word).len()..];
    rest.ends_with(|c: char| is_word(c) || matches!(c, ')' | ']' | '}' | '"'))
        && !matches!(word, "then" | "else" | "in" | "let" | "and" | "or" | "xor" | "nand" | "nor" | "if")
}

/// Whether the last form of a text begins as other languages begin a function.
fn is_foreign_definition(text: &str) -> bool {
    let form = text.rsplit(';').next().unwrap_or("").trim_start();
    matches!(form.split_whitespace().next(), Some("def" | "fun" | "fn" | "func" | "define"))
}

/// Whether a text ends within the parameters of a definition.
fn in_parameters(text: &str) -> bool {
    let Some(start) = text.rfind("function") else { return false };
    let header = &text[start..];
    header.matches('(').count() > header.matches(')').count() && !header.contains(['=', ':'])
}

/// Whether a text ends with a word in single quotes.
fn is_quoted(text: &str) -> bool {
    let Some(text) = text.strip_suffix('\'') else { return false };
    let word = text.rsplit('\'').next().unwrap_or("");
    word.len() < text.len() && !word.contains(['\n', ';', '(', ')'])
}

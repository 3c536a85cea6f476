//! Texts that are deep, long or nonsense: every one gives a result, and soon.

#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "what takes too long is found by the clock")]

mod parse_printer;

use nesl_frontend::ast::ExprKind;
use nesl_frontend::syntax::nesl::{lexer, parser};
use nesl_span::FileId;
use parse_printer::codes;
use std::time::{Duration, Instant};

/// Generous: the tests run on busy machines and without optimisation.
fn soon<T>(limit_seconds: u64, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    assert!(start.elapsed() < Duration::from_secs(limit_seconds), "took {:?}", start.elapsed());
    result
}

#[test]
fn deep_nesting_is_an_error() {
    for (open, close) in [
        ("(", ")"),
        ("[", "]"),
        ("{x : x in ", "}"),
        ("a[", "]"),
        ("g(", ")"),
        ("(", ""),
        ("if a then b else ", ""),
        ("if ", " then 1 else 2"),
        ("let x = 1 in ", ""),
        ("let x = ", " in x"),
        ("- ", ""),
        ("#", ""),
        ("v -> ", ""),
        ("v -> - ", ""),
        ("v ^ ", ""),
        ("v ^ - ", ""),
        ("v <- - ", ""),
        ("1 + ", ""),
        ("1 ", ""),
        ("x => ", ""),
        ("x => 1 + ", ""),
        ("n := ", ""),
    ] {
        let text = format!("x = {}1{};", open.repeat(100_000), close.repeat(100_000));
        assert_eq!(soon(5, || codes(&text)), ["E0105"], "{open}");
    }
}

#[test]
fn nesting_up_to_the_limit_parses() {
    for (open, close, times) in [
        ("(", ")", 256),
        ("[", "]", 256),
        ("{x : x in ", "}", 256),
        ("a[", "]", 256),
        ("g(", ")", 256),
        ("if a then b else ", "", 1_900),
        ("if ", " then 1 else 2", 1_900),
        ("1 + if a then b else 2 * ", "", 1_900),
        ("let x = 1 in ", "", 1_900),
        ("let x = ", " in x", 1_900),
        ("- ", "", 1_900),
        ("v -> ", "", 1_900),
        ("v ^ ", "", 1_900),
        ("v ^ - ", "", 900),
        ("v <- - ", "", 1_900),
        ("x => ", "", 1_900),
        ("n := ", "", 1_900),
        ("1 + ", "", 11_999),
        ("1 ", "", 11_999),
    ] {
        let text = format!("x = {}1{};", open.repeat(times), close.repeat(times));
        assert_eq!(codes(&text), [""; 0], "{open}");
    }
    let arrows = format!("function g(x) : {}int = x;", "int -> ".repeat(1_900));
    assert_eq!(codes(&arrows), [""; 0]);
}

#[test]
fn many_siblings_are_not_deep() {
    let text = format!("let {} in x1;", "x1 = if a then -(1) else v -> w; ".repeat(5_000));
    assert_eq!(codes(&text), [""; 0]);
    let text = format!("[{}0];", "#(if a then -1 else (let y = -3 in -y)), ".repeat(5_000));
    assert_eq!(codes(&text), [""; 0]);
    let text = "function g(x) = if x then -(1) else 2;\n".repeat(5_000);
    assert_eq!(codes(&text), [""; 0]);
}

#[test]
fn a_literal_of_a_million_numbers() {
    let numbers: Vec<String> = (0..1_000_000).map(|number| number.to_string()).collect();
    let text = format!("[{}]", numbers.join(", "));
    let (expr, diagnostics) = soon(60, || parser::parse_expression(FileId(0), &text));
    assert_eq!(diagnostics, []);
    let Some(ExprKind::Sequence(elements)) = expr.map(|expr| expr.kind) else { panic!("a sequence") };
    assert_eq!(elements.len(), 1_000_000);
}

#[test]
fn nonsense_ends_with_errors() {
    for garbage in [
        "{;",
        "(;",
        "x = ;",
        "[1, ",
        "1 2 = ; ",
        "\\.",
        "\"",
        "let x ",
        "let x = 1; ",
        "if then else ",
        "function ",
        "{x in ",
        "))",
        "a b c ( d ] e } ;",
        "$",
        "` 1",
        " é→☃ ",
        "1e",
        "0x12 ",
        "in in in ;",
        "'",
        "function g(x) = ",
        "x => ",
        "datatype a ",
        "g(n := ",
    ] {
        let text = garbage.repeat(1_000_000 / garbage.len());
        let found = soon(60, || codes(&text));
        assert!((1..=51).contains(&found.len()), "{garbage}: {} errors", found.len());
    }
    // Unclosed braces before a long text: recovery must not search it again and again.
    let text = format!("{}{}", "{;".repeat(250), "x;".repeat(200_000));
    assert!(!soon(60, || codes(&text)).is_empty());
}

#[test]
fn unclosed_brackets_within_operators_take_no_time() {
    for piece in
        ["v [ - ", "1 + g(", "a == b + c * (2 / ", "#[1, - ", "{x + y : x in - ", "1 + g if a then - ", "- let x = - "]
    {
        for times in [30, 200] {
            let text = format!("x = {}1;\ny = 2;", piece.repeat(times));
            assert!(!soon(30, || codes(&text)).is_empty(), "{piece}");
        }
    }
}

#[test]
fn random_tokens_never_panic() {
    let words = [
        "(", ")", "[", "]", "{", "}", ";", "let", "in", "if", "then", "else", "x", "1", "+", "-", "=", "function", "$",
        ":", "::", "|", "%", "\"", "'", "`", ",", "->", "t", "#", "1.5", "[]", "int", "é", "=>", "*", "2x", ":=",
        "datatype",
    ];
    let mut state = 88_172_645_463_325_252_u64;
    for _ in 0..3_000 {
        let mut text = String::new();
        for _ in 0..40 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            text.push_str(words[usize::try_from(state % words.len() as u64).unwrap_or(0)]);
            text.push(' ');
        }
        for diagnostic in parser::parse(FileId(0), &text).diagnostics {
            assert!(diagnostic.labels.iter().all(|label| label.span.end as usize <= text.len()), "{text}");
            assert!(diagnostic.labels.iter().all(|label| label.span.start <= label.span.end), "{text}");
        }
        lexer::is_complete(&text);
        parser::parse_expression(FileId(0), &text);
    }
}

#[test]
fn a_chain_of_ten_thousand_is_left_associative() {
    let (expr, diagnostics) = parser::parse_expression(FileId(0), &vec!["1"; 10_000].join(" + "));
    assert_eq!(diagnostics, []);
    let mut expr = expr.as_ref();
    let mut operators = 0;
    while let Some(ExprKind::Binary { left, right, .. }) = expr.map(|expr| &expr.kind) {
        assert!(matches!(right.kind, ExprKind::Literal(_)));
        operators += 1;
        expr = Some(left);
    }
    assert_eq!(operators, 9_999);
}

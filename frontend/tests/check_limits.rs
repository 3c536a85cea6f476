//! Texts that are long or nonsense, through the whole front end: an answer within bounded time, and never a crash.

#![allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "what takes too long is found by the clock")]

use nesl_frontend::syntax::nesl::{lexer, parser};
use nesl_frontend::{Checked, Options, Session, render};
use nesl_span::{FileId, Origin, SourceMap};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

static LIBRARY: LazyLock<(SourceMap, Session)> = LazyLock::new(|| {
    let mut sources = SourceMap::default();
    let session = Session::new(&mut sources);
    (sources, session)
});

/// Ten megabytes.
const LONG: usize = 10_000_000;

/// Checks a text and renders what was found; the text, and how long that took.
fn answer(text: &str) -> (Checked, String, Duration) {
    let (mut sources, mut session) = LIBRARY.clone();
    let start = Instant::now();
    let file = sources.add("test.nesl", text, Origin::User);
    let checked = session.check(&sources, file, Options::default());
    let rendered = checked.diagnostics.iter().map(|report| render::render(report, &sources, false)).collect();
    (checked, rendered, start.elapsed())
}

/// An answer with errors, at most fifty and a line that counts the rest, soon. Generous: the tests run on busy
/// machines.
fn refused(what: &str, text: &str) {
    let (checked, rendered, time) = answer(text);
    println!("{what}: {} bytes, {} messages, {time:?}", text.len(), checked.diagnostics.len());
    assert!(checked.has_errors() && !rendered.is_empty(), "{what}");
    assert!(checked.diagnostics.len() <= 102, "{what}: {} messages", checked.diagnostics.len());
    assert!(time < Duration::from_secs(100), "{what}: {time:?}");
}

/// A stream of random numbers.
fn random() -> impl FnMut() -> u64 {
    let mut state = 88_172_645_463_325_252_u64;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state >> 3
    }
}

/// Ten thousand lines of functions, values and expressions, each using what stands above.
fn ten_thousand_lines() -> String {
    let mut text = String::new();
    for number in 0..2_000 {
        let previous = if number == 0 { "negate".to_owned() } else { format!("step{}", number - 1) };
        text += &format!(
            "function step{number}(n) =\n  let v = {{i * n + {number} : i in [0:n] | rem(i, 3) /= 1}};\n      \
             (a, b) = (sum(v), max_val([n] ++ v)) in\n  if a > b then {previous}(a - b) else b;\n\
             value{number} = {{step{number}(x) + #w : x in [1, 2, 3]; w in [\"a\", \"bc\", \"\"]}};\n"
        );
    }
    text
}

#[test]
fn ten_thousand_lines_are_checked() {
    let text = ten_thousand_lines();
    assert_eq!(text.lines().count(), 10_000);
    let (checked, rendered, time) = answer(&text);
    println!("10,000 lines checked in {time:?}");
    assert!(checked.diagnostics.is_empty(), "{rendered}");
    let start = Instant::now();
    let parsed = parser::parse(FileId(0), &text);
    println!("of that parsing {:?}", start.elapsed());
    assert_eq!(parsed.forms.len(), 4_000);
}

#[test]
fn random_bytes_are_refused() {
    let mut random = random();
    let bytes: Vec<u8> = (0..LONG / 8).flat_map(|_| random().to_le_bytes()).collect();
    refused("random bytes", &String::from_utf8_lossy(&bytes));
    let ascii: Vec<u8> = bytes.iter().map(|byte| 32 + byte % 95).collect();
    refused("random ASCII", &String::from_utf8_lossy(&ascii));
}

#[test]
fn random_tokens_are_refused() {
    let words = [
        "(", ")", "[", "]", "{", "}", ";", ";", "let", "in", "if", "then", "else", "x", "y", "sum", "1", "2.5", "+",
        "-", "*", "=", "==", "->", "=>", ":", "|", ",", ",", "function", "datatype", "$", "#", "\n",
    ];
    let mut random = random();
    let mut text = String::new();
    while text.len() < LONG {
        text += words[random() as usize % words.len()];
        text.push(' ');
    }
    refused("random tokens", &text);
}

#[test]
fn the_same_mistake_again_and_again_is_refused() {
    for mistake in ["unknown; ", "1 + t;\n", "function g(x) = y;\n", "[nothing, none];", "x = 1; x = t; x + 1.5;\n"] {
        refused(mistake, &mistake.repeat(LONG / 5 / mistake.len()));
    }
    refused("one form with unknown names", &format!("[{}0];", "nothing, ".repeat(LONG / 9)));
    refused("one sequence of two types", &format!("[{}t];", "1, ".repeat(LONG / 3)));
}

#[test]
fn many_warnings_are_counted() {
    let text = "let x = 1 in 2;\n".repeat(100_000);
    let (checked, rendered, time) = answer(&text);
    println!("warnings: {time:?}");
    assert!(!checked.has_errors());
    assert_eq!(checked.diagnostics.len(), 51);
    assert!(rendered.contains("Warning[W0199]: 99950 more warnings not shown"), "{rendered}");
}

#[test]
fn errors_that_are_not_shown_are_counted_at_the_end() {
    for text in ["1 + ;".repeat(60), "1 + t;".repeat(60)] {
        let (checked, _, _) = answer(&text);
        assert_eq!(checked.diagnostics.len(), 51);
        assert_eq!(checked.diagnostics.last().map(|last| last.code), Some("E0199"));
    }
}

#[test]
fn nesting_a_hundred_thousand_deep_is_refused() {
    let (open, close) = ("(".repeat(100_000), ")".repeat(100_000));
    for text in [format!("{open}1{close};"), format!("x = {open}"), format!("{close};"), format!("f({open}1{close})")] {
        refused("parentheses", &text);
        assert!(!parser::parse_expression(FileId(0), &text).1.is_empty());
        lexer::is_complete(&text);
    }
}

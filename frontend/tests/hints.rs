//! Advice for the mistakes that people make: each gives its own hint.

use nesl_frontend::{Diagnostic, Options, Session};
use nesl_span::{Origin, SourceMap};
use std::sync::LazyLock;

static LIBRARY: LazyLock<(SourceMap, Session)> = LazyLock::new(|| {
    let mut sources = SourceMap::default();
    let session = Session::new(&mut sources);
    (sources, session)
});

fn diagnostics(text: &str) -> Vec<Diagnostic> {
    let (mut sources, mut session) = LIBRARY.clone();
    let file = sources.add("test.nesl", text, Origin::User);
    session.check(&sources, file, Options::default()).diagnostics
}

/// The first message of a text has this code, and this in its hint.
#[track_caller]
fn advises(text: &str, code: &str, hint: &str) {
    let found = diagnostics(text);
    let first = found.first().unwrap_or_else(|| panic!("nothing is found in {text}"));
    assert_eq!(first.code, code, "{text}: {found:?}");
    assert!(first.hint.as_ref().is_some_and(|found| found.contains(hint)), "{text}: {first:?}");
}

#[test]
fn a_missing_semicolon() {
    advises("x = 3\ny = 4;", "E0110", "end the one before with `;`");
    advises("function g(x) = x + 1\nfunction h(x) = x;", "E0111", "end it with `;`");
    advises("x = 1;\nx + 1", "E0111", "end it with `;`");
    advises("x = 5\nsum([1, 2]);", "E0204", "end the one before with `;`");
    advises("x = 1;\nx + 1\n(x, 2);", "E0204", "end the one before with `;`");
}

#[test]
fn one_equals_sign_for_a_comparison() {
    advises("x = 3;\nif x = 4 then 1 else 2;", "E0110", "equality is `==`");
    advises("{x in [1, 2] | x = 1};", "E0110", "equality is `==`");
    advises("(1 = 2);", "E0110", "equality is `==`");
}

#[test]
fn calls_without_parentheses() {
    advises("sum [1, 2];", "E0204", "write sum([1, 2])");
    advises("abs -3;", "E0204", "write abs(-3)");
    advises("v = [1, 2]; v(0);", "E0204", "write v[0]");
}

#[test]
fn operators_of_other_languages() {
    advises("1 != 2;", "E0110", "inequality is `/=`");
    advises("t && f;", "E0110", "conjunction is `and`");
    advises("!t;", "E0110", "not(e)");
    advises("8 >> 1;", "E0110", "rshift");
}

#[test]
fn a_comma_swallowed_by_else() {
    for text in ["[if t then 1 else 2, 3];", "max(if t then 1 else 2, 3);", "(if t then [1] else [2], 3);"] {
        advises(text, "E0202", "put the whole `if … then … else …` in parentheses");
    }
}

#[test]
fn near_names() {
    advises("lenght([1]);", "E0201", "did you mean `length`?");
    advises("let total = 3 in totl + total;", "E0201", "did you mean `total`?");
    advises("function helper(x) = x; helpr(1);", "E0201", "did you mean `helper`?");
    assert_eq!(diagnostics("qqqqqqqq;")[0].hint, None);
}

#[test]
fn names_that_are_not_used() {
    advises("let x = 1 in 2;", "W0204", "remove it, or call it `_x`");
    advises("let (x, y) = (1, 2) in y;", "W0204", "call it `_x`");
    assert_eq!(diagnostics("let (x, _y) = (1, 2) in x;"), []);
    // Parameters are there for the callers, and elements for their number.
    assert_eq!(diagnostics("function g(a, b) = a; {0 : x in [1, 2]}; (x => 1)(2);"), []);
}

#[test]
fn values_that_hide_functions() {
    advises("let count = 5 in count([t, f]) + count;", "E0204", "hides the library's `count`");
    advises("let max = 3.5 in max(1, 2);", "E0204", "hides the library's `max`");
}

#[test]
fn classes_are_said_in_words() {
    let message = |text: &str| diagnostics(text).remove(0).message;
    assert_eq!(message("sum(\"abc\");"), "`sum` needs numbers (int or float), got char");
    assert_eq!(message("\"a\" + \"b\";"), "`+` needs numbers (int or float), got [char]");
    assert_eq!(message("not(1.5);"), "`not` needs logical values (int or bool), got float");
    assert_eq!(message("t < f;"), "`<` needs ordered values (int, float or char), got bool");
    for text in ["sum(\"abc\");", "not(1.5);", "t < f;", "function g(a, b) = a or (a + b);"] {
        for found in diagnostics(text) {
            let texts = found.labels.iter().map(|label| &label.text).chain([&found.message]).chain(&found.hint);
            for text in texts {
                assert!(!text.contains(" in number") && !text.contains(":: ("), "{text}");
            }
        }
    }
}

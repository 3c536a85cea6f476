//! Texts, found by changing programs at random and made small, that once broke the front end: each gets an answer.

use nesl_frontend::{Options, Session, render};
use nesl_span::{Origin, SourceMap};

/// The codes of what is found in a text.
fn codes(text: &str) -> Vec<&'static str> {
    let mut sources = SourceMap::default();
    let mut session = Session::new(&mut sources);
    let file = sources.add("finding.nesl", text, Origin::User);
    let checked = session.check(&sources, file, Options::default());
    for report in &checked.diagnostics {
        assert!(!render::render(report, &sources, false).is_empty());
    }
    checked.diagnostics.iter().map(|report| report.code).collect()
}

#[test]
fn a_function_that_calls_an_unreadable_one_is_not_elaborated() {
    // The group has a member without a type, and with a stub around the bodies of functions are looked at.
    let text = "function even(n) = if n then t else odd(,) function odd(n) = if n then f else even(,) \
                function other(n) : int -> bool; {even(,) : n}";
    assert!(codes(text).contains(&"E0110"));
}

#[test]
fn brackets_that_do_not_fit_may_nest_deeply() {
    // Recovery skips `[int)]` as a group, and stays inside of the bracket before it.
    for piece in ["[[int)],", "([1)],", "{[1}],", "f([1)],", "[(1]),"] {
        let text = format!("{}1;", piece.repeat(20_000));
        assert!(!codes(&text).is_empty(), "{piece}");
    }
    // What is left open in braces that are never closed is looked at again from their first `;`.
    let text = format!("({}1;", "({a in b; c in [)], ".repeat(5_000));
    assert!(!codes(&text).is_empty());
}

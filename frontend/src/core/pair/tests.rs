//! What becomes of calls, as core.

use crate::core::print;
use crate::{Options, Session};
use nesl_span::{Origin, SourceMap};

/// The body of a function as core, with variables by their names alone.
fn body(text: &str, name: &str) -> String {
    let mut sources = SourceMap::default();
    let mut session = Session::new(&mut sources);
    let file = sources.add("test.nesl", text, Origin::User);
    let checked = session.check(&sources, file, Options::default());
    assert!(!checked.has_errors(), "{text}: {:?}", checked.diagnostics);
    let text = print::function(session.function(name).expect("a function"), session.program());
    let (_, text) = text.split_once("λ").expect("a body");
    let mut words = text.split('#');
    let first = words.next().unwrap_or("").to_owned();
    words.fold(first, |text, word| text + word.trim_start_matches(|digit: char| digit.is_ascii_digit()))
}

/// How often a function calls itself in the text of its body, and how many apply-to-eaches stand there.
fn counts(text: &str, name: &str) -> (usize, usize) {
    let body = body(text, name);
    (body.matches(&format!("{name}(")).count() + body.matches(&format!("{name}[")).count(), body.matches("{").count())
}

#[test]
fn two_calls_become_an_apply_to_each_of_two() {
    assert_eq!(
        body("function fib(n) = if n < 2 then n else fib(n - 1) + fib(n - 2);", "fib"),
        "n. if <[int](n, 2) then n else \
         let results = {each argument in [-[int](n, 1), -[int](n, 2)] : fib(argument)} in \
         let result = elt[int](results, 0) in let result = elt[int](results, 1) in +[int](result, result)"
    );
}

#[test]
fn bindings_between_calls_come_before_them() {
    let text =
        "function sort(v) = if #v < 2 then v else let l = sort(take(v, 1)); g = drop(v, 1); r = sort(g) in l ++ r;";
    let body = body(text, "sort");
    let place = |word: &str| body.find(word).unwrap_or_else(|| panic!("no {word} in {body}"));
    assert!(place("let g =") < place("let results ="), "{body}");
    assert!(place("let results =") < place("let l ="), "{body}");
}

#[test]
fn what_is_the_same_in_all_calls_is_no_source() {
    let text = "function total(v, lo, hi) = if lo == hi then v[lo] else total(v, lo, hi - 1) + total(v, lo + 1, hi);";
    let body = body(text, "total");
    let each = "{each argument in [lo, +[int](lo, 1)]; argument in [-[int](hi, 1), hi] : \
                total[a](v, (argument, argument))}";
    assert!(body.contains(each), "{body}");
}

#[test]
fn calls_that_wait_for_others_or_are_not_always_made_stay() {
    let stays = |text: &str, name: &str, calls: usize| assert_eq!(counts(text, name), (calls, 0), "{text}");
    stays("function p(m, n) = if m == 0 then n else p(m - 1, p(m, n - 1));", "p", 2);
    stays("function p(n) = if n == 0 then 0 else let a = p(n - 1); b = p(a) in b + 1;", "p", 2);
    stays("function p(n) = if n == 0 then 0 else 1 + (if n > 8 then p(n / 2) else p(n - 1));", "p", 2);
    stays("function p(n, m) = n == m or (n < m and (p(n + 1, m) or p(n + 2, m)));", "p", 2);
    // What only ends the function is a loop, and what prints or draws has an order.
    stays("function p(n) = if n < 2 then n else if n > 8 then p(n / 2) else p(3 * n + 1);", "p", 2);
    stays("function p(g, n) = if n == 0 then g(n) else p(g, n - 1) + p(g, n - 2);", "p", 2);
    stays("function p(n) = if n == 0 then rand(9) else p(n - 1) + p(n - 1);", "p", 2);
    stays("function p(n) = if n == 0 then print_string(\"x\") else let a = p(n - 1); b = p(n - 2) in a and b;", "p", 2);
}

#[test]
fn calls_from_elsewhere_are_taken_together_unless_they_read_the_same() {
    let sort = "function sort(v, n) = if n == 0 then v else sort(v, n - 1) ++ sort(v, n - 2);";
    assert_eq!(counts(&format!("{sort} function both(v, w) = sort(v, 1) ++ sort(w, 1);"), "both").1, 1);
    assert_eq!(counts(&format!("{sort} function both(v) = sort(v, 1) ++ sort(v, 2);"), "both").1, 0);
}

#[test]
fn more_than_two_calls_are_taken_together_where_they_can_be() {
    assert_eq!(counts("function p(n) = if n < 3 then n else p(n - 1) + p(n - 2) * p(n - 3);", "p"), (1, 1));
    // The third waits for the first two.
    let text = "function p(n) = if n < 3 then n else let a = p(n - 1); b = p(n - 2); c = p(a + b - n) in c;";
    assert_eq!(counts(text, "p"), (2, 1));
    // A call in a branch of its own is no reason to leave the others.
    let text = "function p(n) = if n < 3 then n else p(n - 1) + p(n - 2) + (if n > 9 then p(n - 3) else 0);";
    assert_eq!(counts(text, "p"), (2, 1));
}

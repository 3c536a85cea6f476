//! What becomes of calls, as core.

use super::*;
use crate::core::verify::{Verified, verify};
use crate::core::{parse, print};
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

/// What is called in the tests that follow.
const BUILT_IN: &str = "
function + : (a, a) -> a :: (a in number) = built in
function - : (a, a) -> a :: (a in number) = built in
function < : (a, a) -> bool :: (a in ordinal) = built in
function == : (a, a) -> bool :: (a in any) = built in
function ++ : ([a], [a]) -> [a] :: (a in any) = built in
function length : [a] -> int :: (a in any) = built in
function elt : ([a], int) -> a :: (a in any) = built in
function -> : ([a], [int]) -> [a] :: (a in any) = built in
";

/// A function after its calls have been taken together: from core to core, well typed before and after.
fn paired(function: &str) -> String {
    let text = format!("{BUILT_IN}function {function}\n");
    let mut program = parse::program(&text).unwrap_or_else(|error| panic!("{error}: {function}"));
    assert_eq!(verify(&program, &[], Verified::default()), Ok(()));
    pair_calls(&mut program, 0, &mut []);
    assert_eq!(verify(&program, &[], Verified::default()), Ok(()));
    print::function(FunctionId(program.functions.len() - 1), &program)
}

#[test]
fn two_calls_become_an_apply_to_each_of_two() {
    let fib = "fib : int -> int = λn#0. if <[int](n#0, 2) then n#0 else ";
    assert_eq!(
        paired(&format!("{fib}+[int](fib(-[int](n#0, 1)), fib(-[int](n#0, 2)))")),
        format!(
            "{fib}let results#4 = {{each argument#3 in [-[int](n#0, 1), -[int](n#0, 2)] : fib(argument#3)}} in \
             let result#1 = elt[int](results#4, 0) in let result#2 = elt[int](results#4, 1) in \
             +[int](result#1, result#2)"
        )
    );
}

#[test]
fn bindings_between_calls_come_before_them() {
    let sort = "sort : [a] -> [a] :: (a in any) = λv#0. if <[int](length[a](v#0), 2) then v#0 else ";
    assert_eq!(
        paired(&format!(
            "{sort}let l#1 = sort[a](->[a](v#0, constants[0])) in let g#2 = ->[a](v#0, constants[1]) in let r#3 = sort[a](g#2) in \
             ++[a](l#1, r#3)"
        )),
        format!(
            "{sort}let g#2 = ->[a](v#0, constants[1]) in \
             let results#7 = {{each argument#6 in [->[a](v#0, constants[0]), g#2] : sort[a](argument#6)}} in \
             let result#4 = elt[[a]](results#7, 0) in let result#5 = elt[[a]](results#7, 1) in \
             let l#1 = result#4 in let r#3 = result#5 in ++[a](l#1, r#3)"
        )
    );
}

#[test]
fn what_is_the_same_in_all_calls_is_no_source() {
    let total = "total : ([int], (int, int)) -> int = λp#0. let v#1 = p#0.first in let i#2 = p#0.rest in \
                 if ==[(int, int)](i#2, (0, 1)) then elt[int](v#1, 0) else "
        .replace("([int], (int, int))", "([int], int, int)");
    assert_eq!(
        paired(&format!(
            "{total}+[int](total(v#1, (i#2.first, -[int](i#2.rest, 1))), total(v#1, (+[int](i#2.first, 1), i#2.rest)))"
        )),
        format!(
            "{total}let results#7 = {{each argument#5 in [i#2.first, +[int](i#2.first, 1)]; \
             argument#6 in [-[int](i#2.rest, 1), i#2.rest] : total(v#1, (argument#5, argument#6))}} in \
             let result#3 = elt[int](results#7, 0) in let result#4 = elt[int](results#7, 1) in \
             +[int](result#3, result#4)"
        )
    );
}

#[test]
fn a_call_that_waits_for_another_stays() {
    let twice = "p : int -> int = λn#0. if ==[int](n#0, 0) then 0 else let a#1 = p(-[int](n#0, 1)) in \
                 let b#2 = p(a#1) in +[int](b#2, 1)";
    assert_eq!(paired(twice), twice);
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

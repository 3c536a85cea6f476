//! Every error and warning of the checker, as the user sees it.

use nesl_frontend::{Options, Session, render};
use nesl_span::{Origin, SourceMap};

/// The rendered messages of several texts, each checked in a session of its own.
fn messages(texts: &[&str]) -> String {
    let mut sources = SourceMap::default();
    let session = Session::new(&mut sources);
    let mut output = String::new();
    for text in texts {
        let file = sources.add("test.nesl", *text, Origin::User);
        let checked = session.clone().check(&sources, file, Options::default());
        assert!(!checked.diagnostics.is_empty(), "no message for {text}");
        for report in &checked.diagnostics {
            output += &render::render(report, &sources, false);
            output.push('\n');
        }
    }
    output
}

/// The codes of the messages of one text.
fn codes(text: &str) -> Vec<&'static str> {
    let mut sources = SourceMap::default();
    let mut session = Session::new(&mut sources);
    let file = sources.add("test.nesl", text, Origin::User);
    session.check(&sources, file, Options::default()).diagnostics.iter().map(|report| report.code).collect()
}

macro_rules! snapshots {
    ($($name:ident: $texts:expr;)+) => {
        $(
            #[test]
            fn $name() {
                insta::assert_snapshot!(stringify!($name), messages(&$texts));
            }
        )+
    };
}

snapshots! {
    e0201_unknown_names: [
        "function mean(v) = float(summ(v)) / float(lenght(v));",
        "let total = 3 in totl + 1;",
        "{x + y : x in [1]};",
        "qqqqqq;",
    ];
    e0202_mismatches: [
        "1 + 1.0;",
        "function half(n) = #n * 0.5;",
        "if #[1] then 1 else 2;",
        "if t then 1 else \"no\";",
        "[1, 2, 2.5];",
        "{x : x in 5};",
        "function walk(n) : int -> [int] = {x : x in n};",
        "let (a, b, c) = (1, 2) in a;",
        "let (a, b) = 5 in a;",
        "[1, 2][1.5];",
        "5[0];",
        "#5;",
        "[1:2.0];",
        "{x in [1] | x};",
        "function area(r) : float -> int = 3.0 * r;",
        "function big(r) : int -> float = r * r;",
        "sqrt(16);",
        "max(1, 2.0);",
        "take(3, [1, 2]);",
        "rem(1, 2.0);",
        "zip([1], 2);",
        "(if t then 1 else 2.0) + 1;",
        "\"a\" ++ [1];",
        "2 ^ 0.5;",
        "function pick(v, n) = v[n]; pick([1], 1.5);",
        "function loop(n) = if n == 0 then 1 else loop(n - 1) and t;",
    ];
    e0203_classes: [
        "function erronea(a, b) = a or (a + b);",
        "sum(\"abc\");",
        "[1] + [2];",
        "(1, 2) < (1, 2);",
        "t < f;",
        "not(1.5);",
        "-\"a\";",
        "function f1(x) = (x + x, x[0]);",
        "function f1(x) = (x + x, {y in x});",
        "function f1(v) = sum(v) + v;",
    ];
    e0204_not_functions: [
        "x = 3; x(2);",
        "v = [1, 2]; v(0);",
        "sum [1, 2];",
        "abs -3;",
        "(1 + 2)(3);",
    ];
    e0205_infinite: [
        "function twist(v) = v ++ [v];",
        "function f1(a) = f1((a, a));",
    ];
    e0206_repeated: [
        "function both(a, a) = a;",
        "let (x, x) = (1, 2) in x;",
        "{x : x in [1]; x in [2]};",
        "function id(x) : a -> a :: (a in any; a in number) = x;",
    ];
    e0207_unknown_types: [
        "function id(x) : a -> a = x;",
        "function id(x) : a -> a :: (a in numbers) = x;",
    ];
    e0208_signatures: [
        "function one(x) : int = x;",
    ];
    e0209_no_body: [
        "function od(n) : int -> bool; od(1);",
    ];
    e0210_seeds: [
        "{rand_seed(x) : x in [1, 2]};",
        "function reset(n) = rand_seed(n); {reset(x) : x in [1, 2]};",
    ];
    e0212_early: [
        "y = x + 1; x = 2;",
        "function add(z) = z + base; add(1); base = 2;",
    ];
    e0213_argument_counts: [
        "take([1, 2]);",
        "sum(1, 2);",
        "function left(a, b) = a; left(5);",
        "dist(1, 2, 3);",
    ];
    e0220_limits: [
        "g = sqrt;",
        "function apply(fun, x) = fun(x);",
        "@5;",
        "function app(g, x) : (int -> int, int) -> int = x;",
    ];
    warnings: [
        "function bad(v) : [a] -> a :: (a in any) = sum(v);",
        "function same(v, w) : (a, b) -> a :: (a in any; b in any) = if t then v else w;",
        "function take(v) = v[0];",
        "x = 1; x = 2.5;",
        "function step(a) = a + 1; function step(a) = a + 2;",
    ];
}

#[test]
fn many_errors_in_one_run_and_no_echoes() {
    let text = "x = 1 + 1.0; y = x + 2; function g(a) = undefined(a) + 1; z = g(3) ++ [1]; \
                function h(v) = [1, 2.0]; {w * 2 : w in h([1])};";
    assert_eq!(codes(text), ["E0202", "E0201", "E0202"]);
}

#[test]
fn names_of_unreadable_forms_are_not_reported() {
    let found = codes("function g(a = 3; g(1);");
    assert!(!found.contains(&"E0201"), "{found:?}");
}

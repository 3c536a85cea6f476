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
        "function od(n) : int -> bool; function ev(n) = n == 0 or od(n - 1); {ev(n) : n in [1]};",
        "function od(n) : int -> bool; function apply(g, n) = g(n); apply(od, 1);",
        "function od(n);",
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
    e0221_different_functions: [
        "[sin, cos];",
        "if t then sin else cos;",
        "function twice(fn, x) = fn(fn(x)); {twice(g, 1.0) : g in [sin, cos]};",
        "[(x => x + 1), (x => x + 1)];",
        "function both(g, h) = [g, h]; both(sin, cos);",
        "(sin, 1) == (cos, 1);",
        "function twice(fn, x) = fn(fn(x)); g = twice; g(abs, 1);",
    ];
    e0222_unknown_functions: [
        "{g(1) : g in [] (int -> int)};",
        "function twice(fn, x) = fn(fn(x)); {g(h, 1) : g in [twice]; h in [] (int -> int)};",
        "function apply(fn, x) = fn(x); {apply(h, 1) : h in []};",
        "function none(n) = if n == 0 then [] else none(n - 1); {g(n) : g in none(3); n in [1]};",
    ];
    e0223_compared_functions: [
        "sin == sin;",
        "[(x => x)] /= [];",
        "datatype fun_t (int -> int); fun_t(x => x) == fun_t(x => x);",
    ];
    e0224_recursive_datatypes: [
        "datatype list (int, list);",
        "datatype tree (int, [forest]); datatype forest [tree]; function size(x) : tree -> int = 1;",
    ];
    e0225_keywords: [
        "function df(a, b := 3) = a + b; df(1, c := 2);",
        "function df(a, b := 3) = a + b; df(1, b := 2, b := 4);",
        "function df(a, b := 3) = a + b; df(1, b := t);",
        "function df(a, b := 3) = a + b; df(1, 2);",
        "function df(a, b := 3) = a + b; df(b := 2);",
        "function df(a, b := 3) = a + b; df(t, b := 1);",
        "function df(a, b := t) = a + b;",
        "function df(a, b := a) = b;",
        "sqrt(n := 2.0);",
        "(x => x)(n := 2);",
        "x := 3;",
    ];
    e0226_no_datatype: [
        "let g(x) = 5 in x;",
        "g(x) = x + 1;",
        "{a : sqrt(a) in [1.0]};",
    ];
    e0227_datatype_arguments: [
        "datatype complex (a, a) :: (a in number); function re(z) : complex -> int = 1;",
        "datatype foo int; function re(z) : foo(int) -> int = 1;",
        "datatype complex (a, a) :: (a in number); function re(z) : complex(bool) -> int = 1;",
        "function re(z) : complex(int) -> int = 1;",
    ];
    e0231_local_recursion: [
        "let fact(n) = if n == 0 then 1 else n * fact(n - 1) in fact(5);",
        "let fib(n) = if n < 2 then n else fib(n - 1) + fib(n - 2) in {fib(i) : i in [0:5]};",
        "let count(v) = count(v) + 1 in count([t]);",
    ];
    local_functions: [
        "datatype point (int, int); let pont(x, y) = point(1, 2) in x + y;",
        "let g(x) = x + 1 in g(2.5);",
        "let g(a, b) = a + b in g(1);",
        "let g(x : int) = x in g(`a);",
        "let g(x) = x in {x + 1 : x in [1, 2]};",
        "let g(x) = x in (g(1), g(2.0));",
        "let g(x, x) = x in g(1, 2);",
        "let g(x) = x in g(x := 1);",
        "let (g(x), y) = (1, 2) in g(y);",
    ];
    annotations: [
        "function g(x : int) : float -> float = 2.0;",
        "function g(a, (b : [int], c)) = a + c; g(1, ([2.5], 3));",
        "function h(x : float, k : int := 2.5) = x;",
        "function h(x : int) = x + 0.5;",
        "((x : int) => x + 1)(2.5);",
        "(a : int, b) = (1.0, 2);",
        "let ((a, b) : (int, float)) = (1, 2) in a;",
        "{x : (x : bool) in [1, 2]};",
        "function g(x : number) = x;",
        "function g(x : a) = x;",
    ];
    datatype_mismatches: [
        "datatype foo (int, int); let foo(a, b, c) = foo(1, 2) in a;",
        "datatype foo (int, int); let foo(a, b) = (1, 2) in a;",
        "datatype foo (int, int); datatype bar (int, int); let bar(a, b) = foo(1, 2) in a;",
        "datatype foo (int, int); foo(1);",
        "datatype foo (int, int); foo(1, 2.0);",
        "datatype complex (a, a) :: (a in number); complex(7, `a);",
        "datatype complex (a, a) :: (a in number); complex(2, 1.9);",
        "datatype foo (int, int); foo(1, 2) + 1;",
        "datatype foo (int, b);",
    ];
    calls_of_values: [
        "function apply(g, x) = g(x); apply(sqrt, 4);",
        "let g = (x => x + 1) in g(1.5);",
        "let g = (x => x) in (g(1), g(\"a\"));",
        "let g = (n => if n == 0 then 1 else g(n - 1)) in g(3);",
        "function loop(g, n) = if n == 0 then g(0) else loop((x => g(x) + 1), n - 1);",
        "function mk(n) = (y => y + n); mk(1)(2.0);",
        "sum + 1;",
        "{rand_seed(x) : x in [1]} == (g => [t])(rand_seed);",
        "(x => rand_seed(x))(3);",
    ];
    swallowed_commas: [
        "[if t then 1 else 2, 3];",
    ];
    unused: [
        "let x = 1 in 2;",
        "let (a, (b, _c)) = (1, (2, 3)) in a;",
        "function g(v) = let n = #v; m = 2 in n;",
        "{x in [1, 2] | f};",
        "{x in [1, 2] | t};",
        "datatype foo int; datatype foo float;",
        "datatype sum int;",
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

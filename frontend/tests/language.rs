//! Whole programs of §1 of the language: the value and the type of every expression.

use nesl_frontend::core::Form;
use nesl_frontend::eval::{Evaluator, Globals};
use nesl_frontend::{Options, Session, render};
use nesl_span::{Origin, SourceMap};

/// `value : type` of each expression of some texts, each checked after the one before; a text that fails ends in its
/// error.
fn run(texts: &[&str]) -> String {
    let mut sources = SourceMap::default();
    let mut session = Session::new(&mut sources);
    let mut globals = Globals::new();
    for form in session.library() {
        Evaluator::new(session.program()).form(form, &mut globals, 1).expect("the library has values");
    }
    let mut lines = Vec::new();
    for text in texts {
        let file = sources.add("test.nesl", *text, Origin::User);
        let checked = session.check(&sources, file, Options::default());
        let reports: Vec<String> =
            checked.diagnostics.iter().map(|report| render::render(report, &sources, false)).collect();
        assert!(reports.is_empty(), "{text}\n{}", reports.join("\n"));
        for form in &checked.forms {
            let value = Evaluator::new(session.program()).form(form, &mut globals, 1);
            match (form, value) {
                (Form::Expression(expr), Ok(Some(value))) => {
                    lines.push(format!("{} : {}", value.text(&expr.ty), expr.ty));
                }
                (_, Err(error)) => lines.push(format!("error: {error}")),
                _ => {}
            }
        }
    }
    lines.join("\n")
}

/// Each text with its expected lines.
fn all(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(run(&[text]), *expected, "{text}");
    }
}

#[test]
fn types_behind_patterns() {
    all(&[
        (
            "function moved(v : [float], by : float := 1.0) = {x + by : x in v}; moved([1.5, 2.5]); moved([2.5], by := 10.0);",
            { "[2.5, 3.5] : [float]\n[12.5] : [float]" },
        ),
        ("function within((a, b) : (int, int), c : int) = (a + b) * c; within((2, 3), 6);", "30 : int"),
        ("function within((a, b) : (int, int), c : int := 2) = (a + b) * c; within((2, 3));", "10 : int"),
        ("function twice(g : int -> int, x : int) = g(g(x)); twice(((x : int) => x + 3), 3);", "9 : int"),
        ("datatype p (float, float); function long(p(x : float, y)) = x + y; long(p(3.0, 4.0));", "7.0 : float"),
        (
            "{a + b : (a : int, b) in [(1, 2), (3, 4)]}; {(a : int, b) in [(1, 2)]};",
            "[3, 7] : [int]\n[(1, 2)] : [(int, int)]",
        ),
        (
            "let (a : int, (b, c) : (int, int)) = (1, 2, 3) in a * b * c; {* x : (x : int) in [1]};",
            "6 : int\n[1] : [int]",
        ),
        ("(first_one : int, others) = (2, \"rest\"); first_one;", "2 : int"),
    ]);
}

#[test]
fn local_functions() {
    all(&[
        ("let g(x) = x * x; h(a, b) = g(a) + b in h(2, 3);", "7 : int"),
        ("function table(n, v) = let plus(x) = x + n in {plus(x) : x in v}; table(10, [1, 2]);", "[11, 12] : [int]"),
        ("let three() = 3.0; both((a, b), c) = (a, c) in both((three(), 1), `a);", "(3.0, `a) : (float, char)"),
        ("let outer(x) = let inner(y) = x * y in inner(x + 4) in outer(3);", "21 : int"),
        ("let double(x) = x + x in map(double, [1, 2]);", "[2, 4] : [int]"),
        ("datatype p (int, int); let p(a, b) = p(1, 2); g(x : int) = x + b in g(a);", "3 : int"),
        (
            "function rows(v) = {let times(i) = i * n in {times(i) : i in [0:#w]} : w in v; n in [1:#v + 1]}; \
             rows([[5, 6], [7, 8, 9]]);",
            "[[0, 1], [0, 2, 4]] : [[int]]",
        ),
    ]);
}

#[test]
fn lambdas_and_closures() {
    all(&[
        ("(x => x + 1)(3);", "4 : int"),
        ("((a, b) => a * b)(3, 4);", "12 : int"),
        ("x => y => x + y;", "fn : int -> int -> int"),
        ("(x => y => x + y)(1)(2);", "3 : int"),
        ("(x => y => z => x + y * z)(1)(2)(3);", "7 : int"),
        ("{(y => y + x)(3) : x in [1, 2]};", "[4, 5] : [int]"),
        ("function mk(n) = (y => y + n); {mk(n)(10) : n in [1, 2]}; mk(1.5)(2.0);", "[11, 12] : [int]\n3.5 : float"),
        ("function mk(n) = (y => y + n); h = mk(3); {h(z) : z in [1, 2]}; h;", "[4, 5] : [int]\nfn : int -> int"),
        (
            "function table(v) = {(x => x + i) : i in v}; {g(10) : g in table([1, 2])}; #table([1, 2, 3]); table([1]);",
            "[11, 12] : [int]\n3 : int\n[fn] : [int -> int]",
        ),
        ("let a = 1; b = 2.0; g = (x => (a + x, b)) in {g(i) : i in [1, 2]};", "[(2, 2.0), (3, 2.0)] : [(int, float)]"),
        ("{(y => {y + x + z : z in [10, 20]})(100) : x in [1, 2]};", "[[111, 121], [112, 122]] : [[int]]"),
        // The filter has its own variables.
        ("{x : (x, y) in [(1, 2), (3, 0)] | (z => z > x)(y)};", "[1] : [int]"),
        ("{(z => z + x)(y) : (x, y) in [(1, 2), (3, 0)] | (z => z > x)(y)};", "[3] : [int]"),
        ("let x = 1; g = (y => x + y); x = 100 in g(x);", "101 : int"),
        ("let g = (x => x + 1); h = (y => g(g(y))); k = (z => h(z) * g(z)) in k(1);", "6 : int"),
    ]);
}

#[test]
fn functions_as_arguments_and_results() {
    all(&[
        (
            "function apply(fn, x) = fn(x); apply(abs, -3); {apply(abs, a) : a in [-2, -3, 4]};",
            "3 : int\n[2, 3, 4] : [int]",
        ),
        (
            "function papply(fn, v) = {fn(x) : x in v}; papply(sqrt, [4.0, 9.0]); papply((x => x > 1), [1, 2]);",
            "[2.0, 3.0] : [float]\n[f, t] : [bool]",
        ),
        (
            "function apply(fn, x) = fn(x); apply('+, (1, 2)); apply('max, (1.5, 2.0)); apply('not, t);",
            "3 : int\n2.0 : float\nf : bool",
        ),
        (
            "function halved(fn, z, v) = if #v == 0 then z else if #v == 1 then v[0] \
             else let h = bottop(v) in fn(halved(fn, z, h[0]), halved(fn, z, h[1])); \
             halved('+, 0, [1, 2, 3, 4]); halved('*, 1.0, [0.5, 4.0]); halved((a, b) => a ++ b, \"\", [\"a\", \"b\"]);",
            "10 : int\n2.0 : float\n\"ab\" : [char]",
        ),
        (
            "function compose(g, h) = (x => g(h(x))); compose(sqrt, float)(16); {compose(negate, abs)(x) : x in [1, -2]};",
            "4.0 : float\n[-1, -2] : [int]",
        ),
        (
            "[sin, sin]; (sin, 1); [sin, sin][1](0.0);",
            "[fn, fn] : [float -> float]\n(fn, 1) : (float -> float, int)\n0.0 : float",
        ),
        ("eql(sin, sin); let g = (x => x + 1) in eql((g, 1), (g, 2));", "t : bool\nf : bool"),
        (
            "dist(sin, 3)[0](0.0); {x : (x, keep) in [(sin, t), (sin, f)] | keep};",
            "0.0 : float\n[fn] : [float -> float]",
        ),
        (
            "function twice(fn, x) = fn(fn(x)); twice; [twice, twice]; #[] (int -> int); [] (int -> int); identity(twice);",
            {
                "fn : (int -> int, int) -> int\n[fn, fn] : [(int -> int, int) -> int]\n0 : int\n[] : [int -> int]\n\
             fn : (int -> int, int) -> int"
            },
        ),
        ("function twice(fn, x) = fn(fn(x)); {g((y => y * 3), 1) : g in [twice]};", "[9] : [int]"),
        ("g = sqrt; g(9.0); {g(x) : x in [4.0]};", "3.0 : float\n[2.0] : [float]"),
        ("let (g, n) = (negate, 3) in g(n);", "-3 : int"),
        ("if t then abs else abs; (if 1 == 2 then abs else abs)(-1);", "fn : int -> int\n1 : int"),
        ("function pick(c, n) = if c then (x => x + n) else pick(t, n + 1); pick(f, 1)(10);", "12 : int"),
        (
            "function iter(fn, x, n) = if n == 0 then x else iter(fn, fn(x), n - 1); iter((x => x * 2), 1, 10);",
            "1024 : int",
        ),
        (
            "function ping(n) = if n == 0 then 1 else pong(n - 1)(n - 1); function pong(n) = if n > 5 then ping else ping; ping(3);",
            "1 : int",
        ),
        (
            "identity(3); identity((1.5, \"ab\", t)); identity((x => x + 1))(2);",
            "0 : int\n(0.0, \"\", f) : (float, [char], bool)\n3 : int",
        ),
    ]);
}

#[test]
fn datatypes_hold_values_and_functions() {
    all(&[
        (
            "datatype foo (int, int); foo(1, 2); {foo(i, i) : i in [1, 2]};",
            "foo(1, 2) : foo\n[foo(1, 1), foo(2, 2)] : [foo]",
        ),
        ("datatype complejo(float, float); complejo(3.14, 5.8); let complejo(re, _im) = complejo(1.5, 2.0) in re;", {
            "complejo(3.14, 5.8) : complejo\n1.5 : float"
        }),
        ("datatype complejo(alfa, alfa) :: alfa in number; complejo(1.0, 3.1); complejo(1, 3);", {
            "complejo(1.0, 3.1) : complejo(float)\ncomplejo(1, 3) : complejo(int)"
        }),
        (
            "datatype bar(int, a, b) :: (a in any; b in number); bar(1, \"x\", 2.5);",
            "bar(1, \"x\", 2.5) : bar([char], float)",
        ),
        ("datatype one_t int; one_t(3); let one_t(x) = one_t(4) in x + 1;", "one_t(3) : one_t\n5 : int"),
        (
            "datatype ints [int]; ints([1, 2]); {#v : ints(v) in [ints([1]), ints([])]};",
            "ints([1, 2]) : ints\n[1, 0] : [int]",
        ),
        (
            "datatype foo (int, int); datatype bar (int, float, bool); datatype baz (foo, bar); \
             let baz(foo(h, i), bar(j, k, l)) = baz(foo(1, 2), bar(3, 4.0, t)) in (h, i, j, k, l); \
             function g(baz(foo(h, _), bar(_j, rest))) = (h, rest); g(baz(foo(1, 2), bar(3, 4.0, t)));",
            "(1, 2, 3, 4.0, t) : (int, int, int, float, bool)\n(1, 4.0, t) : (int, float, bool)",
        ),
        (
            "datatype foo (int, int); {a * b : foo(a, b) in [foo(2, 3)]}; {foo(a, b) in [foo(1, 2), foo(3, 0)] | a < b};",
            { "[6] : [int]\n[foo(1, 2)] : [foo]" },
        ),
        (
            "datatype foo (int, int); foo(a, b) = foo(1, 2); a + b; x = foo(3, 4); foo(c, _) = x; c; let foo(p) = x in p;",
            { "3 : int\n3 : int\n(3, 4) : (int, int)" },
        ),
        (
            "datatype foo (int, int); (foo(a, b) => a - b)(foo(5, 3)); {foo(x) : x in [(1, 2)]};",
            "2 : int\n[foo(1, 2)] : [foo]",
        ),
        (
            "datatype foo (int, int); function papply(fn, v) = {fn(x) : x in v}; papply(foo, [(1, 2)]);",
            "[foo(1, 2)] : [foo]",
        ),
        (
            "datatype foo (int, [char]); foo(1, \"a\") == foo(1, \"a\"); foo(1, \"a\") /= foo(1, \"b\");",
            "t : bool\nt : bool",
        ),
        ("datatype fun_t (int, int -> int); let fun_t(n, g) = fun_t(3, (x => x * 2)) in g(n); fun_t(1, abs);", {
            "6 : int\nfun_t(1, fn) : fun_t"
        }),
        (
            "function call(z) : fun_t(a) -> a :: (a in any) = let fun_t(g, x) = z in g(x); call(fun_t(negate, 3)); \
          datatype fun_t (a -> a, a) :: (a in any);",
            "-3 : int",
        ),
        (
            "function norm(z) : complex(a) -> a :: (a in number) = let complex(x, y) = z in x * x + y * y; norm(complex(3, 4)); \
          datatype complex (a, a) :: (a in number); [] complex(int); identity(complex(1.0, 2.0));",
            { "25 : int\n[] : [complex(int)]\ncomplex(0.0, 0.0) : complex(float)" },
        ),
        (
            "datatype inner (a, int) :: (a in any); datatype outer [inner(b)] :: (b in any); \
          outer([inner(t, 1)]); {x : inner(x, _) in let outer(v) = outer([inner(2.5, 1)]) in v};",
            { "outer([inner(t, 1)]) : outer(bool)\n[2.5] : [float]" },
        ),
    ]);
}

#[test]
fn keyword_parameters() {
    let df = "function df(a, b := 3, c := \"x\") = (a, b, c); ";
    for (call, expected) in [
        ("df(1);", "(1, 3, \"x\") : (int, int, [char])"),
        ("df(1, c := \"y\");", "(1, 3, \"y\") : (int, int, [char])"),
        ("df(c := \"y\", 1.5, b := 5);", "(1.5, 5, \"y\") : (float, int, [char])"),
        ("{df(x, b := x) : x in [1, 2]};", "[(1, 1, \"x\"), (2, 2, \"x\")] : [(int, int, [char])]"),
        ("(g => g(t))(df);", "(t, 3, \"x\") : (bool, int, [char])"),
    ] {
        assert_eq!(run(&[&format!("{df}{call}")]), expected, "{call}");
    }
    all(&[
        (
            "function g(a, (b, c), d := 1) = a + b + c + d; g(1, (2, 3)); g(1, 2, 3, d := 10); let p = (1, (2, 3)) in g(p);",
            { "7 : int\n16 : int\n7 : int" },
        ),
        (
            "base = 5; function g(a, b := base * 2) = a + b; base = 7; g(1); let base = 100 in g(base);",
            "15 : int\n114 : int",
        ),
        ("function g(n, acc := []) = if n == 0 then acc else g(n - 1, acc := acc ++ [n]); g(3); g(1, acc := [9]);", {
            "[3, 2, 1] : [int]\n[9, 1] : [int]"
        }),
        ("function g(n, fn := (x => x * 2)) = fn(n); g(4);", "8 : int"),
        (
            "function g(n, k := 2) : (int, int) -> int = if n <= 0 then k else g(n - 1); g(3, k := 9); g(0, k := 9);",
            "2 : int\n9 : int",
        ),
    ]);
    assert_eq!(
        run(&["function g(a, b := 1) = a + b;", "function h(x) = g(x);", "function g(a, b := 2) = a * b; h(5);"]),
        "10 : int"
    );
}

#[test]
fn stubs_are_defined_later() {
    let od = "function od(n) : int -> bool;";
    let ev = "function ev(n) = if n == 0 then t else od(n - 1);";
    let definition = "function od(n) = if n == 0 then f else ev(n - 1); ev(10); {od(n) : n in [0:4]};";
    assert_eq!(run(&[od, ev, definition]), "t : bool\n[f, t, f, t] : [bool]");
    assert_eq!(run(&[&format!("{od}{ev}{definition}")]), "t : bool\n[f, t, f, t] : [bool]");
    let apply = "function apply(fn, x) : (a -> b, a) -> b :: (a in any; b in any);";
    assert_eq!(run(&[apply, "function apply(fn, x) = fn(x); apply(abs, -2);"]), "2 : int");
    // Declaring what is there already changes nothing.
    assert_eq!(run(&["function g(a) = a + 1;", "function g(a) : int -> int;", "g(1);"]), "2 : int");
}

#[test]
fn comparison_of_any_values() {
    all(&[
        ("(1, \"a\") == (1, \"a\"); [[1], []] == [[1], [2]]; t == f; \"ab\" /= \"abc\"; [] == [];", {
            "t : bool\nf : bool\nf : bool\nt : bool\nt : bool"
        }),
        ("{x == (1, 2.0) : x in [(1, 2.0), (2, 2.0)]};", "[t, f] : [bool]"),
        (
            "let nan = sqrt(-1.0) in (nan == nan, nan /= nan, [nan] == [nan], 0.0 == -0.0);",
            "(f, t, f, t) : (bool, bool, bool, bool)",
        ),
        (
            "function same(a, b) = a == b; same(1, 1); same(\"a\", \"b\"); same(sin, sin);",
            "t : bool\nf : bool\nt : bool",
        ),
    ]);
}

#[test]
fn serial_apply_to_each_is_apply_to_each() {
    all(&[
        (
            "{* x * x : x in [1, 2, 3]}; {* x in [1, 2] | x > 1}; {* a + b : a in [1]; b in [2]};",
            "[1, 4, 9] : [int]\n[2] : [int]\n[3] : [int]",
        ),
        ("if (t or f) then 2 + 5 else (3 + 4) * 5;", "7 : int"),
    ]);
}

#[test]
fn random_numbers_through_function_values() {
    // Calls of function values draw if any function value does: every instance has a seed of its own.
    let text = "function draw(fn, v) = {fn(x) : x in v}; a = draw(rand, [1000000, 1000000]); a[0] == a[1]; \
                b = draw((x => rand(x) + 0), [1000000, 1000000]); b[0] == b[1];";
    assert_eq!(run(&[text]), "f : bool\nf : bool");
}

//! Principal types: of library-like functions, of the worked examples of the language's description, of groups.

use nesl_frontend::{Options, Session};
use nesl_span::{Origin, SourceMap};

/// The types of the functions and values that a text defines, and of its expressions, one per line.
fn types(text: &str) -> String {
    let mut sources = SourceMap::default();
    let mut session = Session::new(&mut sources);
    let file = sources.add("test.nesl", text, Origin::User);
    let checked = session.check(&sources, file, Options::default());
    let messages: Vec<String> =
        checked.diagnostics.iter().map(|report| nesl_frontend::render::render(report, &sources, false)).collect();
    assert!(messages.is_empty(), "{text}\n{}", messages.join("\n"));
    let program = session.program();
    let lines: Vec<String> = (checked.forms.iter())
        .map(|form| match form {
            nesl_frontend::core::Form::Function(id) => program.function(*id).scheme.to_string(),
            nesl_frontend::core::Form::Expression(value) => value.ty.to_string(),
            nesl_frontend::core::Form::Assignment { targets, .. } => {
                let types: Vec<String> = targets.iter().map(|(id, _)| program.global(*id).ty.to_string()).collect();
                types.join("; ")
            }
        })
        .collect();
    lines.join("\n")
}

fn rejected(text: &str) -> &'static str {
    let mut sources = SourceMap::default();
    let mut session = Session::new(&mut sources);
    let file = sources.add("test.nesl", text, Origin::User);
    let checked = session.check(&sources, file, Options::default());
    assert!(checked.has_errors(), "accepted: {text}");
    assert!(checked.forms.is_empty());
    checked.diagnostics[0].code
}

#[test]
fn worked_examples_have_their_types() {
    for (text, expected) in [
        ("{negate(a) : a in [2, 9, -3, 6]};", "[int]"),
        ("{negate(a) : a in [2, 9, -3, 6] | a < 4};", "[int]"),
        ("{a + b : a in [5, -4, 3, 2]; b in [1, 2, -7, 0]};", "[int]"),
        ("function factorial(i) = if (i == 1) then 1 else i*factorial(i-1);", "int -> int"),
        (
            "function factorial(i) = if (i == 1) then 1 else i*factorial(i-1); {factorial(x) : x in [1, 3, 7]};",
            "int -> int\n[int]",
        ),
        ("sum([1, 3, 5, -2, 4]);", "int"),
        ("permute(\"sande\", [2, 1, 3, 0, 4]);", "[char]"),
        ("{sum(v) : v in [[2, 3, 5], [7, 4], [9]]};", "[int]"),
        ("flatten([[2, 3, 5], [7, 4], [9]]);", "[int]"),
        ("bottop(\"La Laguna\");", "[[char]]"),
        ("3.14, \"pi\";", "(float, [char])"),
        ("let (x, y, z) = (3-2, 5, 3*4) in x-y+z;", "int"),
        ("(1, 2, 3, 4); (1, (2, (3, 4)));", "(int, int, int, int)\n(int, int, int, int)"),
        ("function append3(s1, s2, s3) = s1 ++ s2 ++ s3;", "([a], [a], [a]) -> [a] :: (a in any)"),
        ("function doble(a) = a + a;", "a -> a :: (a in number)"),
        ("function doble(a) : int -> int = a + a;", "int -> int"),
        ("function correcta(a, b) : (int, int) -> int = a or (a + b);", "(int, int) -> int"),
        ("not(not(t));", "bool"),
        ("5*15; 1 == 0;", "int\nbool"),
        ("`8; `a == `z; `a < `z;", "char\nbool\nbool"),
        ("3.0 * 2.0; round(3.1416); float(2) + 5.0;", "float\nint\nfloat"),
        ("[1, 2, 3, 4];", "[int]"),
        ("[[1,2], [3, 4], [5, 6, 7]];", "[[int]]"),
        ("\"La Laguna\"; [`L, `a, space, `L, `a, `g, `u, `n, `a];", "[char]\n[char]"),
        ("[] int; [] (int, bool);", "[int]\n[(int, bool)]"),
        ("if (t or f) then 2+5 else (3+4)*5;", "int"),
        ("let x = 5; (w, z) = (3, 4) in x+w*z;", "int"),
        ("let x = 3; z = x + 2 in x*z;", "int"),
        ("{x in [5, 6, 7]};", "[int]"),
        ("{x+2: x in [5, 6, 7]};", "[int]"),
        ("{x+z: (x, z) in [(5, 6), (7, 8), (9, 10)]};", "[int]"),
        ("{x+z: x in [5, 6, 7]; z in [8, 9, 10]};", "[int]"),
        ("{dist(b, a): a in [1, 2, 3]; b in [8, 9, 10]};", "[[int]]"),
        ("{x in [3, 4, 5]; z in [5, 7, 8]};", "[int]"),
        ("{x in [3, 4, 5]; z in [6, 7, 10] | z == 3+x};", "[int]"),
        ("{z in [6, 7, 10]; x in [3, 4, 5] | z == 3+x};", "[int]"),
        ("{x+2: x in [5, 6, 7] | x>=6};", "[int]"),
        ("pack({(x+2, x>=6) : x in [5, 6, 7]});", "[int]"),
        ("x = 256; function test(z) = z + x;", "int\nint -> int"),
        ("\"un ejemplo\" -> [3, 7, 0, 8, 9];", "[char]"),
        ("\"un ejemplo\" <- [(6, space), (8, `r), (9, `e)];", "[char]"),
        ("[7:15]; [7:15:2];", "[int]\n[int]"),
        ("flatten([[4, 6, 8, 10, 12, 14], [6, 9, 12, 15]]);", "[int]"),
    ] {
        assert_eq!(types(text), expected, "{text}");
    }
}

#[test]
fn examples_that_must_be_rejected_are() {
    assert_eq!(rejected("function erronea(a, b) = a or (a + b);"), "E0203");
    assert_eq!(rejected("if (t or f) then 2 else 1.5;"), "E0202");
}

#[test]
fn functions_have_principal_types() {
    for (text, expected) in [
        (
            "function qs(a) = if #a < 2 then a else let p = a[#a/2]; l = {e in a | e < p}; m = {e in a | e == p}; \
             g = {e in a | e > p}; r = {qs(v) : v in [l,g]} in r[0] ++ m ++ r[1];",
            "[a] -> [a] :: (a in ordinal)",
        ),
        ("function id(x) = x;", "a -> a :: (a in any)"),
        ("function swap(a, b) = (b, a);", "(a, b) -> (b, a) :: (a in any; b in any)"),
        ("function left_part((a, b)) = a;", "(a, b) -> a :: (a in any; b in any)"),
        (
            "function g(p) = let (a, b) = p in a + b; g(1, 2); g((1.0, 2.0));",
            "(a, a) -> a :: (a in number)\nint\nfloat",
        ),
        (
            "function h(a, (b, c)) = (a, b); h(1, 2, 3);",
            "(a, b, c) -> (a, b) :: (a in any; b in any; c in any)\n(int, int)",
        ),
        ("function none(v) = if #v == 0 then [] else v;", "[a] -> [a] :: (a in any)"),
        ("function both(a, b) = a < b and a + b == a;", "(a, a) -> bool :: (a in number)"),
        ("function scale(v, k) = {x * k : x in v};", "([a], a) -> [a] :: (a in number)"),
        ("function lens(v) = {#w : w in v};", "[[a]] -> [int] :: (a in any)"),
        ("function dup(v) = {v + v : v};", "[a] -> [a] :: (a in number)"),
        ("function tail(v) = drop(v, 1);", "[a] -> [a] :: (a in any)"),
        ("[]; #[]; ([], 1);", "[int]\nint\n([int], int)"),
        ("-3; -2.5; - -3; [-1, 2]; [-1.5];", "int\nfloat\nint\n[int]\n[float]"),
        ("function cast(v) : [a] -> [a] :: (a in ordinal) = let w = v ++ [] a in w;", "[a] -> [a] :: (a in ordinal)"),
    ] {
        assert_eq!(types(text), expected, "{text}");
    }
}

#[test]
fn function_values_and_datatypes_have_principal_types() {
    for (text, expected) in [
        ("function apply(fn, x) = fn(x);", "(a -> b, a) -> b :: (a in any; b in any)"),
        ("function papply(fn, v) = {fn(x) : x in v};", "(a -> b, [a]) -> [b] :: (a in any; b in any)"),
        ("function mk(n) = (y => y + n);", "a -> a -> a :: (a in number)"),
        ("function compose(g, h) = (x => g(h(x)));", "(a -> b, c -> a) -> c -> b :: (a in any; b in any; c in any)"),
        ("function call(g) = g(1);", "(int -> a) -> a :: (a in any)"),
        ("function app(g, x) : (int -> int, int) -> int = g(x);", "(int -> int, int) -> int"),
        ("function same(g, h) = [g, h];", "(a, a) -> [a] :: (a in any)"),
        ("function none(n) : int -> [int -> int] = [];", "int -> [int -> int]"),
        ("function g(n) = let h(x) = x + n; both(a, b) = (h(a), b) in both(n, n);", "a -> (a, a) :: (a in number)"),
        ("let g(x) = x * x; h(a, b) = g(a) + b in h(2, 3);", "int"),
        ("let three() = 3.0; first_of((a, b), c) = (a, c) in first_of((three(), 1), `a);", "(float, char)"),
        ("let g(x : float, v) = {x : i in v} in g;", "(float, [int]) -> [float]"),
        (
            "x = 3; function k(a) = let later(x) = x in later(a); y = k(x); later = y;",
            "int\na -> a :: (a in any)\nint\nint",
        ),
        ("function g(x : int, v : [float]) = #v;", "(int, [float]) -> int"),
        ("function g(fn : int -> float) = fn(1); g(float);", "(int -> float) -> float\nfloat"),
        (
            "function g(x : int, k : float := 3.0) = (x, k); g(1, k := 2.5);",
            "(int, float) -> (int, float)\n(int, float)",
        ),
        ("function g(x : a, y) : (a, a) -> a :: (a in number) = x + y;", "(a, a) -> a :: (a in number)"),
        ("datatype q (int, a) :: (a in any); function g(q(x, y) : q(bool)) = y;", {
            "(int, a) -> q(a) :: (a in any)\nq(bool) -> bool"
        }),
        ("((x : int, y) => y); (v : [float], n) = ([], 3);", "(int, int) -> int\n[float]; int"),
        ("function g(x : later) = x; datatype later int;", "later -> later\nint -> later"),
        ("function df(a, (b, c), d := 3) = a + b + c + d;", "(int, (int, int), int) -> int"),
        ("'max; '+; sum;", "(int, int) -> int\n(int, int) -> int\n[int] -> int"),
        ("datatype foo (int, int);", "(int, int) -> foo"),
        ("datatype bar (int, a, b) :: (a in any; b in number);", "(int, a, b) -> bar(a, b) :: (a in any; b in number)"),
        ("datatype fun_t (a -> a, a) :: (a in any);", "(a -> a, a) -> fun_t(a) :: (a in any)"),
        ("datatype one_t int; function un(one_t(x)) = x; function wrap(v) = {one_t(x) : x in v};", {
            "int -> one_t\none_t -> int\n[int] -> [one_t]"
        }),
        ("function un(fun_t(g, x)) = g(x); datatype fun_t (a -> a, a) :: (a in any);", {
            "fun_t(a) -> a :: (a in any)\n(a -> a, a) -> fun_t(a) :: (a in any)"
        }),
        ("function equal(a, b) = a == b;", "(a, a) -> bool :: (a in any)"),
    ] {
        assert_eq!(types(text), expected, "{text}");
    }
}

#[test]
fn functions_call_functions_that_are_defined_later() {
    let text = "function even(n) = if n == 0 then t else odd(n - 1); x = even(10);
        function odd(n) = if n == 0 then f else even(n - 1);";
    assert_eq!(types(text), "int -> bool\nbool\nint -> bool");
    let text = "function od(n) : int -> bool; function ev(n) = if n == 0 then t else od(n - 1);
        function od(n) = if n == 0 then f else ev(n - 1); ev(3);";
    assert_eq!(types(text), "int -> bool\nint -> bool\nbool");
    // A type variable of one function that does not occur in the type of the other.
    let text = "function p(n) = if n == 0 then 0 else #q(n - 1, []); function q(n, v) = if p(n) == 0 then v else v;";
    assert_eq!(types(text), "int -> int\n(int, [a]) -> [a] :: (a in any)");
    let text = "function later(z) = z + base; base = 256; later(1);";
    assert_eq!(types(text), "int -> int\nint\nint");
}

#[test]
fn local_names_shadow_functions() {
    assert_eq!(
        types("function f1(sum) = sum + 1; let max = 2 in max * 2; {length : length in [1]};"),
        "int -> int\nint\n[int]"
    );
}

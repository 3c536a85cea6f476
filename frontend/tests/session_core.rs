//! Core is what its documentation says, and reads back from its text: over the library and over programs that use every
//! construct.

use nesl_frontend::core::verify::{Verified, verify};
use nesl_frontend::core::{Expr, Form, FunctionBody, Program, parse, print, walk};
use nesl_frontend::{Options, Session};
use nesl_span::{FileId, Origin, SourceMap, Span};

/// Verifies all of a program, as a session verifies what each text adds.
fn check(program: &Program, forms: &[Form]) {
    let violations = verify(program, forms, Verified::default()).err().unwrap_or_default();
    assert!(violations.is_empty(), "{}", violations.iter().map(|found| format!("{found}\n")).collect::<String>());
}

/// An expression without the places that its text does not say.
fn without_spans(expression: &Expr) -> Expr {
    let mut expression = Expr { span: Span { file: FileId(0), start: 0, end: 0 }, ..expression.clone() };
    walk::direct_parts_mut(&mut expression).into_iter().for_each(|part| *part = without_spans(part));
    expression
}

/// Reads a program and forms from their text, and prints that again.
fn read_back(program: &Program, forms: &[Form]) {
    let text = print::program(program);
    let mut read = parse::program(&text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(read.function_values, program.function_values);
    assert!(print::program(&read) == text, "{text}");
    for (function, read) in program.functions.iter().zip(&read.functions) {
        assert_eq!((&read.name, &read.scheme), (&function.name, &function.scheme));
        match (&read.body, &function.body) {
            (
                FunctionBody::Defined { parameter, body },
                FunctionBody::Defined { parameter: expected, body: expected_body },
            ) => {
                assert_eq!(parameter, expected);
                assert!(**body == without_spans(expected_body), "{}", function.name);
            }
            (FunctionBody::Intrinsic(intrinsic), FunctionBody::Intrinsic(expected)) => assert_eq!(intrinsic, expected),
            (FunctionBody::Missing, FunctionBody::Missing) => {}
            (read, _) => panic!("{} is {read:?}", function.name),
        }
    }
    for form in forms {
        let text = print::form(form, program);
        let form = parse::form(&text, &mut read).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(print::form(&form, &read), text);
    }
    check(&read, &[]);
}

#[test]
fn the_library_and_programs_are_well_typed_core() {
    let mut sources = SourceMap::default();
    let session = Session::new(&mut sources);
    check(session.program(), &[]);
    read_back(session.program(), session.library());
    for text in [
        "function qs(a) = if #a < 2 then a else let p = a[#a/2]; l = {e in a | e < p}; m = {e in a | e == p}; \
         g = {e in a | e > p}; r = {qs(v) : v in [l,g]} in r[0] ++ m ++ r[1]; qs([3, 1, 2]); qs(\"nesl\");",
        "function even(n, x) = if n == 0 then [x] else odd(n - 1, x); \
         function odd(n, x) = if n == 0 then [] else even(n - 1, x); even(4, `a); odd(3, (1, 2.0));",
        "function p(n) = if n == 0 then 0 else #q(n - 1, []); function q(n, v) = if p(n) == 0 then v else v; \
         q(3, \"ab\"); p(2);",
        "{(y, x) : (x, (y, z)) in [(1, (2.0, t))]; w in [f] | z or w};",
        "{{(a, b) in [(x, y)] | a < b} : (x, y) in [(1, 2)] | any({u == x : (u, v) in [(1, y)] | v > 0})};",
        "function third(a, b, c) = c; third(1, 2, `c); function swap((a, b), c) = (c, (b, a)); swap((1, t), \"x\");",
        "(a, b), c = ((1, 2.5), []); {a * x : x in c};",
        "let (x, (y, z)) = (1, (2, 3)); x = x + y in [x:z * 10:y];",
        "function empty(v) : [a] -> [[a]] :: (a in number) = [[], v, [] a] ++ [[]]; empty([1.5]); #[]; [([], t)];",
        "x = 1; y = x + 1; x = 2.5; function g(v) = {w + x : w in v}; g([float(y)]);",
        "function mk(n) = (y => y + n); h = mk(3); {mk(x)(h(x)) : x in [1, 2]}; mk(1.5)(2.0);",
        "function papply(fn, v) = {fn(x) : x in v}; papply(abs, [1]); papply('max, [(1, 2)]); papply((x => [x]), \"a\");",
        "function compose(g, h) = (x => g(h(x))); compose(sqrt, float)(16); {compose(negate, y => y + x)(x) : x in [1]};",
        "{(z => (w => z + x * w))(y) : (x, y) in [(1, 2)] | (z => z > x)(y)}; x => y => (x, y); (a, b) => (c => (a, b, c));",
        "function tab(v) = {(x => x + i) : i in v}; {g(10) : g in tab([1, 2])}; [tab([1.5]), []];",
        "datatype foo (int, int); datatype bar (a, [a], b -> b) :: (a in number; b in any); foo(p, _) = foo(1, 2); \
         let bar(a, v, g) = bar(1.5, [], x => x + p) in ({g(y) : y in [1]}, a, v); {a : bar(a, _, _g) in [bar(1, [2], abs)]}; \
         {foo(a, b) in [foo(1, 2)] | a < b}; function fst(foo(a, _)) = a; {fst(z) : z in [foo(3, 4)]};",
        "function df(a, (b, c), d := 3, e := []) = if a > 0 then df(a - 1, (b, c)) else (b, c, d, e); df(1, 2, 3); \
         let p = (2, 3) in df(1, p, d := 5); (g => g(1, 2.0, t))(df); {df(i, (i, i), e := [i]) : i in [1]};",
        "function ping(n) = if n == 0 then 1 else pong(n - 1)(n); function pong(n) = if n == 0 then ping else ping; ping(3);",
        "function cap(g, x) = (y => g(x) + y); function cap2(g, x) = cap(cap(g, x), x); cap2(abs, 1)(2); cap2(negate, 2)(3);",
        "function poly(v) = let n = #v; e = [] in (w => (#e + n, w)); poly(\"a\")(t); poly([1])(1.5); identity(poly([2]));",
        "function halves(v) = if #v < 2 then v else let a = halves(take(v, 1)); b = drop(v, 1); c = halves(b) in c ++ a; \
         halves(\"abc\"); [halves([(1, t)])] ++ [halves([(2, f)])]; x = (halves([1]), halves([2.0]), halves([3]));",
        "function over(g, lo, hi) = if lo == hi then [g(lo)] else over(g, lo, hi - 1) ++ over(g, lo + 1, hi); over(y => y, 0, 3); \
         let k = 2 in (over(y => y + k, 0, 1), over(y => y + k, k, 2), over(y => y - k, k, 2));",
        "function rec(n) = if n == 0 then [] else [n] ++ rec(n - 1); sum(rec(3)); -(-(3)); - sum([1, - 2]);",
    ] {
        let file = sources.add("test.nesl", text, Origin::User);
        let mut session = session.clone();
        let checked = session.check(&sources, file, Options { bind_it: text.len() % 2 == 0, ..Options::default() });
        assert!(!checked.has_errors(), "{text}: {:?}", checked.diagnostics);
        check(session.program(), &checked.forms);
        read_back(session.program(), &checked.forms);
    }
}

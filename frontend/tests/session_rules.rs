//! The rules of a session: redefinition, rollback, the order of forms, `it`, single expressions, sizes.

use nesl_frontend::core::{Form, print};
use nesl_frontend::ty::Type;
use nesl_frontend::{Checked, Options, Session};
use nesl_span::{Origin, SourceMap};

struct Bench {
    sources: SourceMap,
    session: Session,
}

impl Bench {
    fn new() -> Bench {
        let mut sources = SourceMap::default();
        let session = Session::new(&mut sources);
        Bench { sources, session }
    }

    fn check(&mut self, text: &str) -> Checked {
        self.check_with(text, Options::default())
    }

    fn check_with(&mut self, text: &str, options: Options) -> Checked {
        let file = self.sources.add("test.nesl", text, Origin::User);
        self.session.check(&self.sources, file, options)
    }

    fn accept(&mut self, text: &str) -> Vec<Form> {
        let checked = self.check(text);
        let messages: Vec<String> = (checked.diagnostics.iter())
            .map(|report| nesl_frontend::render::render(report, &self.sources, false))
            .collect();
        assert!(!checked.has_errors(), "{text}\n{}", messages.join("\n"));
        checked.forms
    }

    fn codes(&mut self, text: &str) -> Vec<&'static str> {
        self.check(text).diagnostics.iter().map(|report| report.code).collect()
    }

    fn core(&mut self, text: &str) -> String {
        let forms = self.accept(text);
        let program = self.session.program();
        let base = match forms.last() {
            Some(Form::Expression(value)) => print::expr(value, program),
            Some(Form::Function(id)) => print::function(*id, program),
            other => panic!("{other:?}"),
        };
        // Numbers of variables depend on the library: count from the first one seen.
        let mut seen: Vec<&str> = Vec::new();
        let mut parts = base.split('#');
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let digits = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
            let number = &part[..digits];
            let index = seen.iter().position(|&known| known == number).unwrap_or_else(|| {
                seen.push(number);
                seen.len() - 1
            });
            text += &format!("{index}{}", &part[digits..]);
        }
        text
    }
}

#[test]
fn redefinition_with_the_same_type_replaces_the_body() {
    let mut bench = Bench::new();
    bench.accept("function step(a) = a + 1; function twice(a) = step(step(a));");
    let first = bench.session.function("step");
    assert!(bench.codes("function step(a) = a + 2;").is_empty());
    // `a + 1` and `a + 2` are both int -> int.
    assert_eq!(bench.session.function("step"), first);
    assert_eq!(bench.codes("function step(a) = a * 1.5;"), ["W0203"]);
    assert_ne!(bench.session.function("step"), first);
    assert_eq!(bench.codes("x = 1;"), [""; 0]);
    let x = bench.session.global("x");
    assert!(bench.codes("x = 2;").is_empty());
    assert_eq!(bench.session.global("x"), x);
    assert_eq!(bench.codes("x = 2.5;"), ["W0203"]);
    assert_ne!(bench.session.global("x"), x);
    assert_eq!(bench.codes("function x(a) = a;"), ["W0203"]);
    assert!(bench.session.global("x").is_none());
}

#[test]
fn a_second_definition_in_one_text_is_a_function_of_its_own() {
    let mut bench = Bench::new();
    let text = "function step(a) = a + 1; step(1); function step(a) = a + 2; step(1);";
    let checked = bench.check(text);
    assert_eq!(checked.diagnostics.iter().map(|report| report.code).collect::<Vec<_>>(), ["W0203"]);
    let printed: Vec<Option<usize>> = (checked.forms.iter())
        .map(|form| match form {
            Form::Function(id) => Some(id.0),
            Form::Expression(value) => match &value.kind {
                nesl_frontend::core::ExprKind::Call { function, .. } => Some(function.0),
                _ => None,
            },
            Form::Assignment { .. } => None,
        })
        .collect();
    assert_eq!(printed[0], printed[1]);
    assert_eq!(printed[2], printed[3]);
    assert_ne!(printed[0], printed[2]);
    assert_eq!(bench.session.function("step").map(|id| id.0), printed[2]);
}

#[test]
fn redefinition_of_functions_as_values() {
    let mut bench = Bench::new();
    // Only the lambda inside changes: same type.
    bench.accept("function inc(v) = {(x => x + 1)(y) : y in v}; function use(v) = inc(v);");
    let first = bench.session.function("inc");
    assert!(bench.codes("function inc(v) = {(x => x + 2)(y) : y in v};").is_empty());
    assert_eq!(bench.session.function("inc"), first);
    // The lambda is part of the type of the result.
    bench.accept("function mk(n) = (y => y + n);");
    assert_eq!(bench.codes("function mk(n) = (y => y * n);"), ["W0203"]);
    // Functions that mention each other in their types keep their numbers together.
    let group =
        "function ping(n) = if n == 0 then 1 else pong(n)(n - 1); function pong(n) = if n > 5 then ping else ping;";
    bench.accept(group);
    let before = (bench.session.function("ping"), bench.session.function("pong"));
    assert!(bench.codes(group).is_empty());
    assert_eq!((bench.session.function("ping"), bench.session.function("pong")), before);
    let other =
        "function ping(n) = if n == 0 then 1.5 else pong(n)(n - 1); function pong(n) = if n > 5 then ping else ping;";
    assert_eq!(bench.codes(other), ["W0203", "W0203"]);
}

#[test]
fn redefinition_of_datatypes() {
    let mut bench = Bench::new();
    bench.accept("datatype foo (int, int); function first(foo(a, _)) = a; x = foo(1, 2);");
    assert_eq!(bench.codes("datatype foo (int, int, int);"), ["W0203"]);
    bench.accept("first(x);");
    assert_eq!(bench.codes("first(foo(1, 2, 3));"), ["E0202"]);
    // A function hides the constructor, but not the datatype.
    assert_eq!(bench.codes("function foo(a) = a;"), ["W0203"]);
    bench.accept("function third(foo(_a, _b, c)) = c;");
    bench.accept("foo(1) + 1;");
    assert_eq!(bench.codes("datatype foo [int]; datatype foo (int, int);"), ["W0203", "W0203"]);
    assert_eq!(bench.codes("foo([1]);"), ["E0213"]);
}

#[test]
fn library_names_may_be_shadowed_with_a_warning() {
    let mut bench = Bench::new();
    let own = bench.session.function("take");
    assert_eq!(bench.codes("function take(v) = v[0];"), ["W0202"]);
    assert_ne!(bench.session.function("take"), own);
    bench.accept("take([1, 2]); rotate([1, 2], 1);");
    assert_eq!(bench.codes("function length(v) = 0; function '+ (a, b) = a - b;"), ["W0202", "W0202"]);
    let length = bench.session.program().functions.iter().position(|function| &*function.name == "length");
    assert_eq!(Some(bench.core("#[1, 2];")), length.map(|id| format!("length@{id}[int](constants[1, 2])")));
    let plus = bench.session.function("+");
    let Some(Form::Expression(sum)) = bench.accept("1 + 2;").pop() else { panic!("no expression") };
    assert!(matches!(sum.kind, nesl_frontend::core::ExprKind::Call { function, .. } if Some(function) == plus));
    assert_eq!(bench.codes("pi = 3;"), ["W0202"]);
    // What people write for themselves is theirs without a word; what else the library has is made of its own.
    let own = bench.session.function("mean");
    bench.accept("function mean(v) = v[0]; trim = 5; trim + mean([1, 2]);");
    assert_ne!(bench.session.function("mean"), own);
    bench.accept("var([1, 2, 3]);");
}

#[test]
fn errors_leave_the_session_as_it_was() {
    let mut bench = Bench::new();
    bench.accept("x = 1;");
    let before = (bench.session.program().functions.len(), bench.session.program().globals.len());
    let checked = bench.check("x = 2.0; function fine(a) = a; y = fine(x) + 1;");
    assert!(checked.has_errors() && checked.forms.is_empty());
    assert!(bench.session.function("fine").is_none() && bench.session.global("y").is_none());
    assert_eq!((bench.session.program().functions.len(), bench.session.program().globals.len()), before);
    bench.accept("x + 1;");
}

#[test]
fn values_see_only_what_is_computed_before_them() {
    let mut bench = Bench::new();
    assert_eq!(bench.codes("x + 1; x = 2;"), ["E0212"]);
    assert_eq!(bench.codes("function g(z) = h(z); g(1); function h(z) = z + x; x = 2;"), ["E0212"]);
    assert_eq!(bench.codes("function g(z) = z + x; x = g(1);"), ["E0212"]);
    assert!(bench.codes("x = 1; x = x + 1; function g(z) = z + x; y = g(1);").is_empty());
    // A value of the session is meant where the text computes its own only later.
    assert!(bench.codes("z = x; x = 5;").is_empty());
}

#[test]
fn expressions_bind_it() {
    let mut bench = Bench::new();
    let checked = bench.check_with("1 + 2;", Options { bind_it: true, ..Options::default() });
    assert!(matches!(&checked.forms[..], [Form::Assignment { targets, .. }] if targets.len() == 1));
    let checked = bench.check_with("it * 2; \"a\"; it ++ it;", Options { bind_it: true, ..Options::default() });
    assert!(checked.diagnostics.is_empty(), "{:?}", checked.diagnostics);
    let it = bench.session.global("it").map(|id| bench.session.program().global(id).ty.clone());
    assert_eq!(it, Some(Type::sequence(Type::CHAR)));
}

#[test]
fn assignments_take_values_apart_by_path() {
    let mut bench = Bench::new();
    let forms = bench.accept("a, (b, c) = (1, (2.0, `c));");
    let [Form::Assignment { targets, .. }] = &forms[..] else { panic!("{forms:?}") };
    let found: Vec<(String, Vec<bool>)> =
        (targets.iter()).map(|(id, path)| (bench.session.program().global(*id).ty.to_string(), path.clone())).collect();
    let expected = [("int", vec![false]), ("float", vec![true, false]), ("char", vec![true, true])];
    assert_eq!(found, expected.map(|(ty, path)| (ty.to_owned(), path)));
}

#[test]
fn types_of_expressions_and_functions() {
    let mut bench = Bench::new();
    let mut ask = |text: &str| {
        let file = bench.sources.add("ask", text, Origin::User);
        bench.session.type_of(&bench.sources, file).map_err(|errors| errors[0].code)
    };
    assert_eq!(ask("take").as_deref(), Ok("([a], int) -> [a] :: (a in any)"));
    assert_eq!(ask("take([1.0], 1)").as_deref(), Ok("[float]"));
    assert_eq!(ask("nonsense(1)"), Err("E0201"));
}

#[test]
fn single_expressions_meet_an_expected_type() {
    let mut bench = Bench::new();
    let mut ask = |text: &str, ty: Type| {
        let file = bench.sources.add("ask", text, Origin::User);
        bench
            .session
            .expression(&bench.sources, file, Some(&ty))
            .map(|e| e.ty.to_string())
            .map_err(|errors| errors[0].code)
    };
    assert_eq!(ask("[]", Type::sequence(Type::FLOAT)).as_deref(), Ok("[float]"));
    assert_eq!(ask("(1, \"a\")", Type::pair(Type::INT, Type::sequence(Type::CHAR))).as_deref(), Ok("(int, [char])"));
    assert_eq!(ask("1.5", Type::INT), Err("E0202"));
}

#[test]
fn a_tuple_with_a_type_is_one_parameter_before_those_with_a_default() {
    let mut bench = Bench::new();
    for (parameter, expected) in [
        ("(a, b) : (int, int), c := 2", &["(a, b)"][..]),
        ("(a, b) : (int, int)", &["a", "b"]),
        ("a, b : int, c := 2", &["a", "b"]),
        ("a : int, c := 2", &["a"]),
        ("c := 2", &[]),
    ] {
        bench.accept(&format!("function g({parameter}) = 1;"));
        let g = bench.session.function("g").expect("a function");
        assert_eq!(bench.session.program().function(g).parameters, expected, "{parameter}");
    }
}

#[test]
fn core_has_no_sugar() {
    let mut bench = Bench::new();
    for (text, expected) in [
        (
            "function f1(a, b) = a + b;",
            "f1 : (a, a) -> a :: (a in number) = λargument0. let a1 = argument0.first in let b2 = argument0.rest in +[a](a1, b2)",
        ),
        ("function f2(p) = -p;", "f2 : a -> a :: (a in number) = λp0. negate[a](p0)"),
        ("-3;", "-3"),
        ("[1, -2];", "constants[1, -2]"),
        ("\"ab\";", "\"ab\""),
        ("[];", "([] : [int])"),
        ("[[1], []];", "[constants[1], ([] : [int])]"),
        ("[1:5];", "iseq(1, (1, 5))"),
        ("[1:5:2];", "iseq(1, (2, 5))"),
        ("(1, 2, 3);", "(1, (2, 3))"),
        (
            "let v = [1] in {v; w in [2] | v < w};",
            "let v0 = constants[1] in {each v1 in v0; w2 in constants[2] | <[int](v1, w2) : v1}",
        ),
        (
            "{x : (x, (y, z)) in [(1, (t, 2))] | y};",
            "{each element0 in [(1, (t, 2))] | let y1 = element0.rest.first in y1 : let x2 = element0.first in x2}",
        ),
        ("let (a, b) = (1, 2) in b;", "let tuple0 = (1, 2) in let b1 = tuple0.rest in b1"),
    ] {
        assert_eq!(bench.core(text), expected, "{text}");
    }
}

#[test]
fn large_literals_and_long_chains_are_checked() {
    let mut bench = Bench::new();
    let literal: String = (0..200_000).map(|i| format!("{i},")).collect();
    bench.accept(&format!("v = [{}0];", literal));
    let pairs: String = (0..50_000).map(|i| format!("({i},-{i}.5),")).collect();
    bench.accept(&format!("w = [{}(0, 0.0)];", pairs));
    let chain = vec!["1"; 10_000].join(" + ");
    bench.accept(&format!("{chain};"));
    let parameter = vec!["a"; 10_000].join(" + ");
    bench.accept(&format!("function long(a) = {parameter};"));
    // A type of 2^40 parts, which nothing walks part by part.
    let doubling: String = (1..40).map(|i| format!("x{i} = (x{}, x{});", i - 1, i - 1)).collect();
    bench.accept(&format!("function huge(n) = let x0 = n; {doubling} in n + 1;"));
}

#[test]
fn rand_seed_stays_outside_of_apply_to_each() {
    let mut bench = Bench::new();
    assert!(bench.codes("function draw(n) = rand(n); {draw(x) : x in [1, 2]};").is_empty());
    assert_eq!(bench.codes("{rand_seed(x) : x in [1, 2]};"), ["E0210"]);
    bench.accept("function reset(n) = rand_seed(n); reset(1);");
    assert_eq!(bench.codes("{reset(x) : x in [1, 2]};"), ["E0210"]);
    assert_eq!(
        bench.codes(
            "function a1(n) = if n == 0 then rand_seed(1) else b1(n - 1); function b1(n) = any({a1(n) : x in [1]});"
        ),
        ["E0210"]
    );
    // Callers of `draw` may be inside: a version that seeds is another function.
    assert_eq!(bench.codes("function draw(n) : a -> a :: (a in number) = if rand_seed(1) then n else n;"), ["W0203"]);
}

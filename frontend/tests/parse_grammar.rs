//! Every form of the grammar, and the table of operators.

mod parse_printer;

use nesl_frontend::ast::TopLevelKind;
use nesl_frontend::syntax::nesl::parser;
use nesl_span::{FileId, Origin, SourceMap};
use parse_printer::{shape, shapes};

/// Both texts have the same tree.
fn same(text: &str, explicit: &str) {
    assert_eq!(shape(text), shape(explicit), "{text}");
}

#[test]
fn operators_bind_as_the_table_says() {
    // From tight to loose; an operator on the left in a row binds tighter than all in the rows below.
    let levels: [&[&str]; 8] = [
        &["->"],
        &["<-"],
        &["^"],
        &["*", "/", "||"],
        &["+", "-", "++"],
        &["==", "/=", "<", ">", "<=", ">="],
        &["and", "nand"],
        &["or", "nor", "xor"],
    ];
    for (level, operators) in levels.iter().enumerate() {
        for a in *operators {
            for b in *operators {
                if matches!(*a, "->" | "^") {
                    same(&format!("x {a} y {b} z"), &format!("x {a} (y {b} z)"));
                } else {
                    same(&format!("x {a} y {b} z"), &format!("(x {a} y) {b} z"));
                }
            }
            for b in levels[level + 1..].iter().copied().flatten() {
                same(&format!("x {a} y {b} z"), &format!("(x {a} y) {b} z"));
                same(&format!("x {b} y {a} z"), &format!("x {b} (y {a} z)"));
            }
            for prefix in ["-", "#", "@"] {
                // The minus stands between the power and the product.
                match prefix == "-" && level < 3 {
                    true => same(&format!("-x {a} y"), &format!("-(x {a} y)")),
                    false => same(&format!("{prefix}x {a} y"), &format!("({prefix}x) {a} y")),
                }
                same(&format!("x {a} {prefix}y"), &format!("x {a} ({prefix}y)"));
            }
        }
    }
}

#[test]
fn prefixes_and_calls() {
    same("-2^2", "-(2^2)");
    same("--2^2", "-(-(2^2))");
    same("2^-1", "2^(-1)");
    same("2^-1*3", "(2^(-1))*3");
    same("2^-x^2", "2^(-(x^2))");
    same("2*-x^2", "2*(-(x^2))");
    same("a - -x^2 * b", "a - ((-(x^2)) * b)");
    same("-x*y", "(-x)*y");
    same("-#v^2", "-((#v)^2)");
    same("#-v", "#(-v)");
    same("-v[0]^2", "-((v[0])^2)");
    same("2^3^2", "2^(3^2)");
    same("-a[0]", "-(a[0])");
    same("- # @ x", "-(#(@x))");
    same("v->i->j", "v->(i->j)");
    same("d <- p <- q", "(d <- p) <- q");
    same("[1]++[2]->[0]", "[1]++([2]->[0])");
    same("sqrt 16.0", "sqrt(16.0)");
    same("float 3 + 1.0", "float(3) + 1.0");
    same("g h x", "(g(h))(x)");
    same("not a or b", "not(a) or b");
    same("sum {x : x in v}", "sum({x : x in v})");
    same("a < -b", "a < (-b)");
    assert_eq!(shape("sum [1,2]"), "sum[(1, 2)]");
    assert_eq!(shape("abs -3"), "(abs - 3)");
    assert_eq!(shape("g(1)(2)[3] 4"), "g<1><2>[3]<4>");
    assert_eq!(shape("a->b"), "(a -> b)");
    assert_eq!(shape("a<-b"), "(a <- b)");
    assert_eq!(shape("g(a, b)"), "g<(a, b)>");
    assert_eq!(shape("g if a then b else c, d"), "g<(if a then b else (c, d))>");
}

#[test]
fn literals() {
    assert_eq!(shape("007"), "7");
    for (text, value) in [("1.", "1.0"), (".5", "0.5"), ("1e3", "1000.0"), ("1E+3", "1000.0"), ("1.5e-3", "0.0015")] {
        assert_eq!(shape(text), value);
    }
    assert_eq!(shape("1.e3"), "1000.0");
    assert_eq!(shape("T, F"), "(t, f)");
    assert_eq!(shape("(`a, `%, `\", ``, ` , `;)"), "(`a, `%, `\", ``, ` , `;)");
    assert_eq!(shape("`\n"), r"`\n");
    assert_eq!(shape(r"(`\n, `\t, `\\, `\, `\x41, `\xfF)"), r"(`\n, `\t, `\, `\, `A, `\xff)");
    assert_eq!(shape(r#""\x41\xc3\xa9\xff\x4""#), r#""Aé\xffx4""#);
    assert_eq!(shape("-9223372036854775808"), shape("- 9223372036854775808"));
    assert_eq!(shape(r#""a\n\t\\\"\x""#), r#""a\n\t\\\"x""#);
    assert_eq!(shape("\"two\nlines % no comment\""), r#""two\nlines % no comment""#);
    assert_eq!(shape("\"é\""), "\"é\"");
}

#[test]
fn comments_and_case() {
    assert_eq!(shape("% a % 1 % b %"), "1");
    assert_eq!(shape("a%;%b"), "a<b>");
    assert_eq!(shape("IF A Then B eLSE C"), "(if a then b else c)");
    assert_eq!(shape("ÉTÉ_1?~"), "été_1?~");
    assert_eq!(shapes("% nothing %"), Vec::<String>::new());
}

#[test]
fn units() {
    assert_eq!(shape("()"), "()");
    assert_eq!(shape("((), 1, (()))"), "((), 1, ())");
    assert_eq!(shape("g()"), "g<()>");
    assert_eq!(shape("g () [0]"), "g<()>[0]");
    assert_eq!(shape("#[(), ()]"), "(length [(), ()])");
    assert_eq!(shape("[] ()"), "([] ())");
    assert_eq!(shape("[] [()]"), "([] [()])");
    assert_eq!(shape("let () = x in ()"), "(let () = x in ())");
    assert_eq!(shape("let ((), p()) = x in 3"), "(let ((), p<()>) = x in 3)");
    assert_eq!(shape("{1 : () in v}"), "{1 : () in v}");
    assert_eq!(shape("() => 3"), shape("(()) => 3"));
}

#[test]
fn sequences_and_tuples() {
    assert_eq!(shape("(1, 2, 3)"), "(1, 2, 3)");
    assert_eq!(shape("1, (2, 3)"), "(1, (2, 3))");
    assert_eq!(shape("[1]"), "[1]");
    assert_eq!(shape("[1, (2, 3), [4]]"), "[1, (2, 3), [4]]");
    assert_eq!(shape("[0:n]"), "[0 : n]");
    assert_eq!(shape("[0:#v:2]"), "[0 : (length v) : 2]");
    assert_eq!(shape("[]"), "[]");
    assert_eq!(shape("[] int"), "([] int)");
    assert_eq!(shape("[] (INT, [bool])"), "([] (int, [bool]))");
    assert_eq!(shape("[] int -> [0]"), "(([] int) -> [0])");
    assert_eq!(shape("[[], [1]] ++ []"), "([[], [1]] ++ [])");
    assert_eq!(shape("[if t then 1 else 2, 3]"), "[(if t then 1 else (2, 3))]");
}

#[test]
fn conditionals_and_bindings() {
    assert_eq!(shape("if a then b else if c then d else e + 1"), "(if a then b else (if c then d else (e + 1)))");
    assert_eq!(shape("1 + if a then b else c * 2"), "(1 + (if a then b else (c * 2)))");
    assert_eq!(shape("let x = 1 in x"), "(let x = 1 in x)");
    assert_eq!(shape("let x = 1; x = 2; in x, x"), "(let x = 1; x = 2 in (x, x))");
    assert_eq!(shape("let a, (b, c) = p; (d) = 1, 2 in d"), "(let (a, (b, c)) = p; d = (1, 2) in d)");
}

#[test]
fn apply_to_each() {
    for (text, expected) in [
        ("{x + 1 : x in v}", "{(x + 1) : x in v}"),
        ("{x in v | x > 0}", "{x in v | (x > 0)}"),
        ("{a + b : a; b}", "{(a + b) : a; b}"),
        ("{a*2 : a}", "{(a * 2) : a}"),
        ("{a}", "{a}"),
        ("{a; b | c}", "{a; b | c}"),
        ("{x,y in v}", "{(x, y) in v}"),
        ("{(x,y) in v | x == y}", "{(x, y) in v | (x == y)}"),
        ("{x, y : (x, y) in v; z in w; u}", "{(x, y) : (x, y) in v; z in w; u}"),
        ("{{y : y in x} : x in v}", "{{y : y in x} : x in v}"),
        ("{let y = x in y : x in v}", "{(let y = x in y) : x in v}"),
        ("{x : x in [] | if a then b else c}", "{x : x in [] | (if a then b else c)}"),
    ] {
        assert_eq!(shape(text), expected, "{text}");
    }
}

#[test]
fn assignments_with_types() {
    assert_eq!(shapes("(a : int, b) = (1, 2);"), ["([a : int], b) = (1, 2)"]);
    assert_eq!(shapes("(v : [float]) = [];"), ["[v : [float]] = []"]);
}

#[test]
fn functions() {
    for (text, expected) in [
        ("function g(a) = a;", "function g a = a"),
        ("function g a = a$", "function g a = a"),
        ("function g(a, (b, c)) \"doc\" = a;", "function g (a, (b, c)) \"doc\" = a"),
        ("function g(a) : int -> int;", "function g a : (int -> int)"),
        ("function g(a) : int -> int \"doc\" = a;", "function g a : (int -> int) \"doc\" = a"),
        (
            "function g(a, b) : (a, [b]) -> a -> b :: (a in any; b in number) \"doc\" = a;",
            "function g (a, b) : ((a, [b]) -> (a -> b)) :: a in any :: b in number \"doc\" = a",
        ),
        ("function g(a) : a -> a :: a in any = a;", "function g a : (a -> a) :: a in any = a"),
        ("function '+ (a, b) : (a, a) -> a :: (a in number) \"Sum.\";", {
            "function + (a, b) : ((a, a) -> a) :: a in number \"Sum.\""
        }),
        ("function 'not (a) = '+;", "function not a = +"),
        ("function g(a : int, v : [float]) = a;", "function g ([a : int], [v : [float]]) = a"),
        ("function g(a : b -> c) = a;", "function g [a : (b -> c)] = a"),
        ("function g((a, b : bool) : (int, bool)) = a;", "function g [(a, [b : bool]) : (int, bool)] = a"),
        ("function g(p(x : int, y)) = x;", "function g p<([x : int], y)> = x"),
        (
            "function g(a : int, b : int := 3, c := (1, 2), d : [[a]] := []) : int -> int = a;",
            "function g [a : int] b : int := 3 c := (1, 2) d : [[a]] := [] : (int -> int) = a",
        ),
    ] {
        assert_eq!(shapes(text), [expected], "{text}");
    }
    assert_eq!(shape("('+, '<-, 'and, 'Max, '#)"), "(+, <-, and, max, length)");
}

#[test]
fn lambdas_and_keyword_arguments() {
    for (text, expected) in [
        ("x => y => x + y", "(x => (y => (x + y)))"),
        ("(a, (b, c)) => a", "((a, (b, c)) => a)"),
        ("foo(a, b) => a", "(foo<(a, b)> => a)"),
        ("g(x => x + 1, 3)", "g<((x => (x + 1)), 3)>"),
        ("a => b, c", "((a => b), c)"),
        ("[x => x, y => y]", "[(x => x), (y => y)]"),
        ("(x => x)(3)", "(x => x)<3>"),
        ("mk(n)(10)", "mk<n><10>"),
        ("x => if x then 1 else 2", "(x => (if x then 1 else 2))"),
        ("df(1, b := 5, c := x => x)", "df<(1, (b := 5), (c := (x => x)))>"),
        ("df(b := 1 + 2, 3)", "df<((b := (1 + 2)), 3)>"),
        ("scan('+, 0, v)", "scan<(+, 0, v)>"),
        ("(x : int) => x", "([x : int] => x)"),
        ("((a : int, p(b : q(int)), c) => b)", "(([a : int], p<[b : q<int>]>, c) => b)"),
        ("let (a : int, b), (c : [int -> int]) = p in a", "(let (([a : int], b), [c : [(int -> int)]]) = p in a)"),
        ("{a : (a : int, b) in v; (c : int) in w}", "{a : ([a : int], b) in v; [c : int] in w}"),
        ("{(a : int, b) in v}", "{([a : int], b) in v}"),
    ] {
        assert_eq!(shape(text), expected, "{text}");
    }
}

#[test]
fn datatypes_and_record_patterns() {
    for (text, expected) in [
        ("datatype complex(float, float);", "datatype complex (float, float)"),
        ("datatype one_t int;", "datatype one_t int"),
        ("datatype ints [int]$", "datatype ints [int]"),
        ("datatype bar(int, a, b) :: (a in any; b in number);", {
            "datatype bar (int, a, b) :: a in any :: b in number"
        }),
        ("datatype pair_t(a, a) :: a in number;", "datatype pair_t (a, a) :: a in number"),
        ("datatype fun_t(int -> int, bar(int, [float]));", "datatype fun_t ((int -> int), bar<int, [float]>)"),
        ("function g(foo(h, i), bar(j)) = h;", "function g (foo<(h, i)>, bar<j>) = h"),
        ("function g(a, b := 3, c := (1, 2), e := \"x\") = a;", { "function g a b := 3 c := (1, 2) e := \"x\" = a" }),
        ("function g(v) : [complex(a)] -> foo :: (a in any) = v;", {
            "function g v : ([complex<a>] -> foo) :: a in any = v"
        }),
        ("let foo(a, bar(b)), c = x in a;", "(let (foo<(a, bar<b>)>, c) = x in a)"),
        ("{a : foo(a, _) in v};", "{a : foo<(a, _)> in v}"),
        ("{foo(a, b) in v | a};", "{foo<(a, b)> in v | a}"),
        ("foo(a, b) = x;", "foo<(a, b)> = x"),
        ("{* x + 1 : x in v | x};", "{* (x + 1) : x in v | x}"),
        ("[] foo(int);", "([] foo<int>)"),
    ] {
        assert_eq!(shapes(text), [expected], "{text}");
    }
}

#[test]
fn top_level() {
    assert_eq!(
        shapes("a = 1; b, c = 2, 3 $ (d, e) = b; a + b;"),
        ["a = 1", "(b, c) = (2, 3)", "(d, e) = b", "(a + b)"]
    );
}

#[test]
fn the_library_parses() {
    for (name, text) in nesl_stdlib::FILES {
        let parsed = parser::parse(FileId(0), text);
        assert_eq!(parsed.diagnostics, [], "{name}");
        let functions = text.lines().filter(|line| line.starts_with("function ")).count();
        assert!(functions > 0 && parsed.forms.len() >= functions, "{name}");
    }
}

#[test]
fn every_expression_is_what_its_span_says() {
    let written = "(a + (b)) * ((c))[(1)]; -(x); (a, (b, c), d); [(1, 2), (-3)]; {(x) : (x, y) in ((v)) | ((x)) > (y)}; \
                   if (a) then (b) else (c, d); let (p) = ((q)); (r, s) = (t) in ((p)); f (x); f(x)(y, (z)); #(v) -> (w); \
                   [(1):(2):(3)]; (x => (x)) (1); (x, y) => ((x)); g(x, n := (3)); function g((x, y), z := (1)) = ((x));";
    for text in nesl_stdlib::FILES.iter().map(|(_, text)| *text).chain([written]) {
        let parsed = parser::parse(FileId(0), text);
        let mut open: Vec<&nesl_frontend::ast::Expr> = Vec::new();
        for form in &parsed.forms {
            match &form.kind {
                TopLevelKind::Function(function) => {
                    open.extend(function.keywords.iter().map(|keyword| &keyword.default).chain(&function.body));
                }
                TopLevelKind::Assignment { value, .. } | TopLevelKind::Expression(value) => open.push(value),
                TopLevelKind::Datatype(_) | TopLevelKind::Import(_) | TopLevelKind::Error => {}
            }
        }
        while let Some(expression) = open.pop() {
            let part = &text[expression.span.start as usize..expression.span.end as usize];
            // The least int is a number only after its minus.
            if part != "9223372036854775808" {
                assert_eq!(shape(part), parse_printer::expression(expression), "{part}");
            }
            open.extend(expression.parts());
        }
    }
}

#[test]
fn spans_cover_what_was_written() {
    let mut sources = SourceMap::default();
    let text = "  (a + b) * c[1] ; function g(x) = x ;";
    let file = sources.add("a.nesl", text, Origin::User);
    let parsed = parser::parse(file, text);
    let texts: Vec<&str> = parsed.forms.iter().map(|form| sources.text(form.span)).collect();
    assert_eq!(texts, ["(a + b) * c[1]", "function g(x) = x"]);
    let TopLevelKind::Expression(product) = &parsed.forms[0].kind else { panic!("an expression") };
    let nesl_frontend::ast::ExprKind::Binary { op_span, left, right, .. } = &product.kind else { panic!("a product") };
    assert_eq!([*op_span, left.span, right.span].map(|span| sources.text(span)), ["*", "(a + b)", "c[1]"]);
}

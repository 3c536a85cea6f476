//! Tests of the formatter: programs as they were written, and as they come out.

use super::{WIDTH, format, is_same_program};
use nesl_span::FileId;

/// The text as it comes out, which must be the same program, and come out as it is.
fn formatted(text: &str) -> String {
    let once = format(FileId(0), text).unwrap_or_else(|mistakes| panic!("{text}: {mistakes:#?}"));
    assert!(is_same_program(text, &once), "{text}\nbecame\n{once}");
    let twice = format(FileId(0), &once).unwrap_or_else(|mistakes| panic!("{once}: {mistakes:#?}"));
    assert_eq!(once, twice, "formatted again");
    once
}

/// A text that stays as it is.
fn stays(text: &str) {
    assert_eq!(formatted(text), text);
}

fn becomes(text: &str, expected: &str) {
    assert_eq!(formatted(text), expected);
}

#[test]
fn blanks_are_as_usual() {
    for (text, expected) in [
        ("1+2*3;", "1 + 2 * 3;\n"),
        ("- 2^2  ;", "-2 ^ 2;\n"),
        ("#v+@ x++--3;", "#v + @x ++ --3;\n"),
        ("f (a,b) (c) [ i ] [j];", "f(a, b)(c)[i][j];\n"),
        ("sum{x*x:x in v;y in w|x>y};", "sum {x * x : x in v; y in w | x > y};\n"),
        ("{*f(x):x in v};{ x };", "{* f(x) : x in v}; {x};\n"),
        ("[ 0 : #v - 1 : -2 ];[]int;[ ] ( int,[a] );[-1,`a];", "[0:#v - 1:-2]; [] int; [] (int, [a]); [-1, `a];\n"),
        ("reduce( '+ ,0,v);' max;'+(1,2);", "reduce('+, 0, v); 'max; '+(1, 2);\n"),
        ("((x,y)=>x+y)(1,2);f(a,b:=3);", "((x, y) => x + y)(1, 2); f(a, b := 3);\n"),
        ("time (f(x));( );f( );first(time(f (x)));", "time(f(x)); (); f(); first(time(f(x)));\n"),
        ("let(v,s)=time( 2+{3:x in [a,b]} )in v;", "let (v, s) = time(2 + {3 : x in [a, b]}) in v;\n"),
        ("let(a,b)=c;in a;", "let (a, b) = c; in a;\n"),
        ("`a==` or t;`\\==`,;", "`a == ` or t; `\\ == `,;\n"),
        ("x=1$y = 2 ;", "x = 1$ y = 2;\n"),
        ("datatype p (int,[a])::a in any;", "datatype p(int, [a]) :: a in any;\n"),
        ("function h x=x;", "function h x = x;\n"),
        ("function '+ (a,b):(q,q)->q=a;", "function '+(a, b) : (q, q) -> q = a;\n"),
        (
            "function g (p(a,b),n:=-3,m:=f (2)):[(int,q(a))]->a::(a in any;b in number)\"doc\"=a;",
            "function g(p(a, b), n := -3, m := f(2)) : [(int, q(a))] -> a :: (a in any; b in number) \"doc\" = a;\n",
        ),
        ("function g(x:int,v:[ float ],k:q(a):=3)=x;", "function g(x : int, v : [float], k : q(a) := 3) = x;\n"),
        ("((x:int)=>x+1)(2);", "((x : int) => x + 1)(2);\n"),
        ("(a:int,b)=f((y:int,z)=>y);", "(a : int, b) = f((y : int, z) => y);\n"),
        (
            "{a:(a:int,b)in v};let (c:int->int,(d))=e in c;",
            "{a : (a : int, b) in v}; let (c : int -> int, (d)) = e in c;\n",
        ),
        ("X = F;FUNCTION Sq(A) = A*a;", "X = F; FUNCTION Sq(A) = A * a;\n"),
    ] {
        becomes(text, expected);
    }
}

#[test]
fn lines_stay_as_their_author_broke_them() {
    stays("function h(v) =\n  if #v == 0 then 0\n  else\n    let a = v[0];\n        b = 2\n    in a + b;\n");
    stays("function h(v) =\n  if #v == 0 then 0\n  else let a = v[0]; b = 2\n       in a + b;\n");
    stays("function h(v) = if #v == 0 then 0 else let a = v[0]; b = 2 in a + b;\n");
    stays("v = [1, 2,\n     3, 4];\n\nw = [\n  [1, 2],\n  [3]\n];\n");
    stays("r = {x + y\n     : x in v;\n       y in w\n     | x > y};\n");
    stays("a = 1; b = 2;\na + b;\n");
    stays("let a = 1\nin\n  a;\n");
    stays("let a = 1 in\n  let b = 2 in\n  a;\n");
    becomes("let a = 1; b = 2;\n  c = 3 in a;", "let a = 1; b = 2;\n    c = 3 in a;\n");
    becomes("f(\n1,\n2\n);", "f(\n  1,\n  2\n);\n");
    becomes("if a\nthen b\n  else if c\nthen d else e;", "if a\nthen b\nelse if c\nthen d else e;\n");
    // A line does not end where it cannot, and definitions end theirs.
    becomes("f\n(x)\n;\n g\n[\n1];", "f(x);\ng[\n  1];\n");
    becomes("function h(x) = x; f(1);", "function h(x) = x;\nf(1);\n");
    // A body of several lines begins one.
    becomes("function h(x) = let a = x;\nb = 2 in a;", "function h(x) =\n  let a = x;\n      b = 2 in a;\n");
    becomes("function h(x) = [x,\nx];", "function h(x) = [x,\n                 x];\n");
}

#[test]
fn blank_lines_are_kept_between_forms_one_at_a_time() {
    becomes("\n\n1;\n\n\n\n2;\n3;\n\n% c %\n\n\n4;\n\n\n", "1;\n\n2;\n3;\n\n% c %\n\n4;\n");
    becomes("let a = 1;\n\n\n    b = 2\n\nin\n\na + b;", "let a = 1;\n\n    b = 2\nin\n  a + b;\n");
}

#[test]
fn comments_keep_their_places() {
    stays("% a %\n% b %\nx = 1; % c %\n% d\n     e %\ny = 2; % f %\n");
    stays("let a = 1; % one %\n    % two %\n    b = 2\nin a + b;\n");
    becomes("1%a%+%b%2%c%;%d%", "1 %a% + %b% 2 %c%; %d%\n");
    becomes("f%a%(%b%x%c%,y)%d%\n;", "f %a% (%b% x %c%, y) %d%\n  ;\n");
    stays("% only a comment %\n");
    becomes("  % é\n  ü  %  ", "% é\n  ü  %\n");
}

#[test]
fn columns_of_equal_signs_stay_lined_up() {
    stays("let small = 1;\n    a     = 2;\n    bc    = 3\nin a;\n");
    becomes(
        "let small   = 1;\n    a       = 2;\n    b = 4\nin a;",
        "let small = 1;\n    a     = 2;\n    b = 4\nin a;\n",
    );
    becomes("a   = 1;\nbcd = 2;\ne = 3;", "a   = 1;\nbcd = 2;\ne = 3;\n");
    becomes("let (a,b)  = v;\n    total  = 2\nin a;", "let (a, b) = v;\n    total  = 2\nin a;\n");
    becomes("a =   1; b   = 2;", "a = 1; b = 2;\n");
}

#[test]
fn long_lines_break_at_the_outermost_construct() {
    let (a, b, c) = ("a".repeat(50), "b".repeat(50), "c".repeat(50));
    becomes(&format!("function h(x) = {a} + {b};"), &format!("function h(x) = {a} + {b};\n"));
    becomes(&format!("function h(x) = {a}(x) + {b};"), &format!("function h(x) =\n  {a}(x) + {b};\n"));
    becomes(
        &format!("function h(x) = if x then {a} else if y then {b} else {c};"),
        &format!("function h(x) =\n  if x then {a}\n  else if y then {b}\n  else {c};\n"),
    );
    becomes(&format!("let p = {a}; q = {b} in {c};"), &format!("let p = {a};\n    q = {b}\nin {c};\n"));
    becomes(&format!("{{{a} : x in {b} | {c}}};"), &format!("{{{a} : x in {b}\n | {c}}};\n"));
    becomes(&format!("{{{a}{b} : x in y | {c}}};"), &format!("{{{a}{b} : x in y\n | {c}}};\n"));
    becomes(&format!("f({a}, {b}, {c});"), &format!("f({a}, {b},\n  {c});\n"));
    becomes(&format!("{a} ++ {b} * x ++ {c};"), &format!("{a} ++ {b} * x\n  ++ {c};\n"));
    becomes(&format!("{a}; {b}; {c};"), &format!("{a}; {b};\n{c};\n"));
    // Documentation and comments at the ends of lines do not count, and words are never broken.
    stays(&format!("function h(x) \"{a} {b} {c}\" = x;\nx = 1; % {a} {b} {c} %\n"));
    stays(&format!("\"{a} {b} {c}\";\n"));
    let numbers = vec!["1234567"; 300].join(",");
    let lines = formatted(&format!("[{numbers}];"));
    let widths: Vec<usize> = lines.lines().map(str::len).collect();
    let (last, full) = widths.split_last().unwrap_or((&0, &[]));
    assert!(full.iter().all(|width| (WIDTH - 9..=WIDTH).contains(width)) && *last <= WIDTH, "{widths:?}");
}

#[test]
fn texts_of_any_kind_are_laid_out() {
    for (text, expected) in [
        ("", ""),
        (" \n\t\n", ""),
        ("1;\r\n\r\n\r\n% a\r\n b %\r\n2;\r\n", "1;\n\n% a\n b %\n2;\n"),
        ("x\t=\t1;\r\ty = 2;", "x = 1;\ny = 2;\n"),
        ("\"a\r\n\tb\" ;1;", "\"a\r\n\tb\"; 1;\n"),
        ("\"é\"++\"\u{1f980}\";% → %", "\"é\" ++ \"\u{1f980}\"; % → %\n"),
        ("x = `\n;", "x = `\n;\n"),
    ] {
        becomes(text, expected);
    }
    let deep = format!("{}1{};", "(".repeat(250), ")".repeat(250));
    stays(&format!("{deep}\n"));
    stays(&format!("x = {}1;\n", "1 + ".repeat(20)));
    let chain = format!("x = {}1;", "1+2*".repeat(5_000));
    assert!(formatted(&chain).lines().all(|line| line.len() <= WIDTH));
    let calls = format!("x = f{};", "(1)[2]".repeat(5_000));
    becomes(&calls, &format!("{calls}\n"));
    let branches = format!("x = {}0;", "if a then b else ".repeat(900));
    assert_eq!(formatted(&branches).lines().count(), 900 + 1);
}

#[test]
fn what_is_no_program_stays_as_it_is() {
    let brackets = format!("{}1{};", "(".repeat(10_000), ")".repeat(10_000));
    for (text, code) in [
        ("1 +;", "E0110"),
        ("x = (1;", "E0110"),
        ("% never closed", "E0102"),
        ("\"never closed", "E0103"),
        ("1; 2", "E0111"),
        ("x = 1;\u{202e}", "E0117"),
        (brackets.as_str(), "E0105"),
    ] {
        let mistakes = format(FileId(0), text).expect_err(text);
        assert_eq!(mistakes.first().map(|mistake| mistake.code), Some(code), "{text:.40}");
    }
}

#[test]
fn programs_differ_by_any_token_or_comment() {
    for (one, other) in [
        ("1;", "2;"),
        ("1;", "1;;"),
        ("1.0;", "1.;"),
        ("x;", "X;"),
        ("\"\\n\";", "\"\n\";"),
        ("% a % 1;", "% b % 1;"),
        ("% a % 1;", "1;"),
        ("- 1;", "-> 1;"),
    ] {
        assert!(!is_same_program(one, other), "{one} {other}");
    }
    assert!(is_same_program("% a\r\nb %1+2;", "% a\nb %\n\n1 +\n2;"));
}

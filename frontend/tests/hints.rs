//! Advice for the mistakes that people make: each gives its own hint.

use nesl_frontend::{Diagnostic, Options, Session};
use nesl_span::{Origin, SourceMap};
use std::sync::LazyLock;

static LIBRARY: LazyLock<(SourceMap, Session)> = LazyLock::new(|| {
    let mut sources = SourceMap::default();
    let session = Session::new(&mut sources);
    (sources, session)
});

fn diagnostics(text: &str) -> Vec<Diagnostic> {
    let (mut sources, mut session) = LIBRARY.clone();
    let file = sources.add("test.nesl", text, Origin::User);
    session.check(&sources, file, Options::default()).diagnostics
}

/// The first message of a text has this code, and this in its hint.
#[track_caller]
fn advises(text: &str, code: &str, hint: &str) {
    let found = diagnostics(text);
    let first = found.first().unwrap_or_else(|| panic!("nothing is found in {text}"));
    assert_eq!(first.code, code, "{text}: {found:?}");
    assert!(first.hint.as_ref().is_some_and(|found| found.contains(hint)), "{text}: {first:?}");
}

#[test]
fn a_missing_semicolon() {
    advises("x = 3\ny = 4;", "E0110", "end the one before with `;`");
    advises("function g(x) = x + 1\nfunction h(x) = x;", "E0111", "end it with `;`");
    advises("x = 1;\nx + 1", "E0111", "end it with `;`");
    advises("x = 5\nsum([1, 2]);", "E0204", "end the one before with `;`");
    advises("x = 1;\nx + 1\n(x, 2);", "E0204", "end the one before with `;`");
}

#[test]
fn operators_called_as_functions() {
    for text in ["1 + and(3, 2);", "xor(1, 2);", "{or(a, b) : a in [t]; b in [f]};", "function g(x) = nand(x, 1);"] {
        advises(text, "E0110", "stands between what it combines: `a and b`");
    }
}

#[test]
fn one_equals_sign_for_a_comparison() {
    advises("x = 3;\nif x = 4 then 1 else 2;", "E0110", "equality is `==`");
    advises("{x in [1, 2] | x = 1};", "E0110", "equality is `==`");
    advises("(1 = 2);", "E0110", "equality is `==`");
}

#[test]
fn an_else_that_swallows_a_comma() {
    let hint = "put the whole `if … then … else …` in parentheses";
    advises("function g(x, y) = x + y; g(if t then 1 else 2, 3);", "E0202", hint);
    advises(
        "function g(v, n) = if n == 0 then v else g(if n > 3 then v ++ [n] else v, n - 1); g([1], 3);",
        "E0202",
        hint,
    );
}

#[test]
fn capitals_that_make_no_difference() {
    let hint = "give one of them another name";
    advises("N = 10; function scaled(n) = n * N; scaled(3);", "W0207", hint);
    advises("let A = 3; g(a) = a + A in g(A);", "W0207", hint);
    advises("function Size(v) = #v; let size = 3 in size * Size([1, 2]);", "W0207", hint);
    // The same variable, or nothing that is spelled so.
    for text in ["function g(Count) = count + COUNT;", "n = 10; function g(n) = N + 1;", "let n = 1 in let N = n in N;"]
    {
        assert_eq!(diagnostics(text), [], "{text}");
    }
}

#[test]
fn calls_without_parentheses() {
    advises("sum [1, 2];", "E0204", "write sum([1, 2])");
    advises("abs -3;", "E0204", "write abs(-3)");
    advises("v = [1, 2]; v(0);", "E0204", "write v[0]");
}

#[test]
fn operators_of_other_languages() {
    advises("1 != 2;", "E0110", "inequality is `/=`");
    advises("t && f;", "E0110", "conjunction is `and`");
    advises("!t;", "E0110", "not(e)");
    advises("8 >> 1;", "E0110", "rshift");
}

#[test]
fn a_comma_swallowed_by_else() {
    for text in ["[if t then 1 else 2, 3];", "max(if t then 1 else 2, 3);", "(if t then [1] else [2], 3);"] {
        advises(text, "E0202", "put the whole `if … then … else …` in parentheses");
    }
}

#[test]
fn near_names() {
    advises("lenght([1]);", "E0201", "did you mean `length`?");
    advises("let total = 3 in totl + total;", "E0201", "did you mean `total`?");
    advises("function helper(x) = x; helpr(1);", "E0201", "did you mean `helper`?");
    assert_eq!(diagnostics("qqqqqqqq;")[0].hint, None);
}

#[test]
fn names_that_are_not_used() {
    advises("let x = 1 in 2;", "W0204", "remove it, or call it `_x`");
    advises("let (x, y) = (1, 2) in y;", "W0204", "call it `_x`");
    assert_eq!(diagnostics("let (x, _y) = (1, 2) in x;"), []);
    // Parameters are there for the callers, and elements for their number.
    assert_eq!(diagnostics("function g(a, b) = a; {0 : x in [1, 2]}; (x => 1)(2);"), []);
}

#[test]
fn values_that_hide_functions() {
    advises("let count = 5 in count([t, f]) + count;", "E0204", "hides the library's `count`");
    advises("let max = 3.5 in max(1, 2);", "E0204", "hides the library's `max`");
}

#[test]
fn classes_are_said_in_words() {
    let message = |text: &str| diagnostics(text).remove(0).message;
    assert_eq!(message("sum(\"abc\");"), "`sum` needs numbers (int or float), got char");
    assert_eq!(message("\"a\" + \"b\";"), "`+` needs numbers (int or float), got [char]");
    assert_eq!(message("not(1.5);"), "`not` needs logical values (int or bool), got float");
    assert_eq!(message("t < f;"), "`<` needs ordered values (int, float or char), got bool");
    for text in ["sum(\"abc\");", "not(1.5);", "t < f;", "function g(a, b) = a or (a + b);"] {
        for found in diagnostics(text) {
            let texts = found.labels.iter().map(|label| &label.text).chain([&found.message]).chain(&found.hint);
            for text in texts {
                assert!(!text.contains(" in number") && !text.contains(":: ("), "{text}");
            }
        }
    }
}

/// A text has these errors, no others.
#[track_caller]
fn only(text: &str, codes: &[&str]) {
    let found = diagnostics(text);
    assert_eq!(found.iter().map(|report| report.code).collect::<Vec<_>>(), codes, "{text}: {found:?}");
}

#[test]
fn reserved_words_are_no_names() {
    for text in [
        "let if = 3 in 4;",
        "let datatype = 1 in 2;",
        "let function = 1 in 2;",
        "function function(x) = x;",
        "let in = 1 in 2;",
    ] {
        only(text, &["E0190"]);
    }
    only("let let = 1 in 2; y = 1 + 2.0;", &["E0190", "E0202"]);
    only("let function = 1;", &["E0190"]);
}

#[test]
fn one_mistake_is_one_message() {
    only("function g(f) = f(1);", &["E0113"]);
    only("function g(f) = f + 1;", &["E0113"]);
    only("v = [1]; {x : x in v where x > 1};", &["E0201"]);
    only("5 % 2;", &["E0102"]);
    only("import foo;", &["E0201"]);
    only("function g(x) : scalar -> scalar = x;", &["E0207"]);
}

#[test]
fn habits_of_other_languages_in_syntax() {
    advises("'a';", "E0106", "write `a");
    advises("let f(x) = x in f(2);", "E0110", "`t` and `f` are true and false");
    advises("'abc';", "E0110", "strings are written in double quotes");
    advises("5 // 2;", "E0110", "`/` of ints gives an int");
    advises("5 % 2;", "E0102", "rem(a, b)");
    advises("2 ** 3;", "E0110", "`a ^ b`");
    advises("v = [1]; v[0] = 5;", "E0114", "rep(v, x, i)");
    advises("v = [1]; {x*x | x in v};", "E0110", "{body : name in sequence | filter}");
    advises("v = [1]; {x : x in v if x > 1};", "E0110", "a filter comes after `|`");
    advises("v = [1]; [x*x : x in v];", "E0110", "an apply-to-each has braces");
    advises("x = 1; x += 1;", "E0110", "x = x + 1");
    advises("for i in [1];", "E0110", "{body : name in sequence}");
    advises("def g(x) = x;", "E0114", "`function name(parameter) = body`");
    advises("var x = 3;", "E0226", "a value is `name = value`");
    advises("var (x, y) = (3, 4);", "E0226", "a value is `name = value`");
    advises("const g(x) = 3;", "E0114", "without a word before it");
}

#[test]
fn parts_that_are_missing() {
    advises("let x = 1 y = 2 in x + y;", "E0110", "separate the bindings of a `let` by `;`");
    advises("let x = 1\n    y = 2 in x + y;", "E0110", "separate the bindings of a `let` by `;`");
    advises("let x = 1 = 2 in x;", "E0110", "equality is `==`");
    advises("function fact(n) if n == 0 then 1 else 2;", "E0110", "comes after `=`");
}

#[test]
fn words_of_other_languages() {
    advises("true;", "E0201", "true is written `t`");
    advises("if false then 1 else 2;", "E0201", "false is written `f`");
    advises("int(2.5);", "E0201", "trunc, round");
    advises("len([1]);", "E0201", "`#v`");
    advises("return 1;", "E0201", "its body");
    advises("println(\"a\");", "E0201", "print_line");
    advises("v = [1]; {x : x in v where x > 1};", "E0201", "a filter comes after `|`");
    // What the program defines is no foreign word.
    assert_eq!(diagnostics("function len(v) = #v; len([1]);"), []);
}

#[test]
fn types_that_do_not_fit() {
    advises("(1, 2)[0];", "E0202", "let (a, b) = …");
    advises("a = 1; b = 2; a<-b;", "E0202", "a < -b");
    advises("function g(x) : scalar -> scalar = x;", "E0207", "(a in scalar)");
    advises("links = [1]; {1.0 / float(#links) : links};", "E0202", "`links` is one element");
    advises("links = [1]; {sum(links) : links};", "E0202", "`links` is one element");
    advises("links = [1]; {links[0] : links in links};", "E0202", "`links` is one element");
    advises("function df(a, b := 3) = (a, b); df(1, 2);", "E0213", "passed by name: b := 2");
    assert_eq!(diagnostics("function df(a, b := 3) = (a, b); df((1, 2)); df((1, 2), b := 4);"), []);
}

#[test]
fn values_for_their_effect_are_used() {
    for text in [
        "let done = print_string(\"x\") in 1;",
        "let a = rand_seed(1) in 2;",
        "function shout(s) = print_line(s); let done = {shout(s) : s in [\"a\"]} in 2;",
    ] {
        assert_eq!(diagnostics(text), [], "{text}");
    }
    advises("let a = max(1, 2) in 2;", "W0204", "remove it");
}

#[test]
fn parts_of_other_syntaxes() {
    advises("function g(x) -> int = x;", "E0110", "comes after `:`");
    advises("function g(int x) = x;", "E0110", "types come after the parameters");
    advises("let x : int = 3 in x;", "E0110", "stands in parentheses");
    advises("(3 : int) + 1;", "E0114", "patterns with a type are bound");
    advises("let x := 3 in x;", "E0110", "a value is bound by `=`");
    advises("if (t) { 1 } else { 2 };", "E0110", "`if c then a else b`");
    advises("x = 3; x == 3 ? 1 : 2;", "E0110", "`if c then a else b`");
    advises("{x in [1, 2] : x > 1};", "E0110", "a filter comes after `|`");
    advises("{x : x in [1, 2]; x > 1};", "E0110", "a filter comes after `|`");
    advises("{x + y : x in [1, 2], y in [3, 4]};", "E0110", "by `;`");
    advises("{x + 1 : x <- [1, 2]};", "E0110", "`x in v`");
    advises("[1..5];", "E0104", "[start:end]");
    advises("v = [1]; v[0:1];", "E0110", "subseq(v, start, end)");
    advises("v = [1]; v[:1];", "E0110", "subseq(v, start, end)");
    advises("let [a, b] = [1, 2] in a;", "E0110", "a name or a tuple");
    advises("datatype point (x: int, y: int);", "E0110", "have no names");
    advises("datatype point = (int, int);", "E0110", "without `=`");
    advises("// a comment", "E0110", "between `%` and `%`");
    advises("{1, 2};", "E0115", "[a, b, c]");
    advises("{};", "E0110", "`[]`");
    advises("1 <> 2;", "E0110", "inequality is `/=`");
    advises("'8;", "E0110", "a character is written with a backquote: `a");
    advises("'a == 'z;", "E0201", "a character is written with a backquote: `a");
    advises("{c == 'z : c in \"az\"};", "E0201", "a character is written with a backquote: `z");
    only("v = [1]; v.push(1);", &["E0101"]);
    only("struct point (int, int);", &["E0201"]);
    only("time = 3;", &["E0190"]);
    advises("(x -> x + 1)(3);", "E0201", "`x => …`");
}

#[test]
fn operands_that_do_not_fit() {
    advises("\"n = \" ++ 5;", "E0202", "\"n = \" ++ @5");
    advises("\"n = \" + 5;", "E0203", "\"n = \" ++ @5");
    advises("5 + \" apples\";", "E0202", "@5 ++ \" apples\"");
    advises("[1, 2] * 2;", "E0203", "{x * 2 : x in [1, 2]}");
    advises("2 * [1, 2];", "E0202", "{2 * x : x in [1, 2]}");
    advises("[1] - [2];", "E0203", "{x - y : x in [1]; y in [2]}");
    advises("{x in \"abc\" | x == \"a\"};", "E0202", "`a");
    advises("t || f;", "E0202", "disjunction is `or`");
    advises("print_line(5);", "E0202", "@5");
    advises("max([1, 2, 3]);", "E0213", "max_val(v)");
    advises("sum(1, 2, 3);", "E0213", "sum([1, 2, 3])");
    advises("zip([1], [2], [3]);", "E0213", "zip3(a, b, c)");
    advises("round(2.345, 2);", "E0213", "fixed_string(x, digits)");
    advises("log(8.0);", "E0213", "`ln(x)`");
    advises("split(\"a b\", \" \");", "E0202", "split_string(s, separator)");
    advises("mean([[1.0, 2.0], [3.0]]);", "E0203", "{mean(v) : v in [[1.0, 2.0], [3.0]]}");
    advises("arctan2(1.0, 2.0);", "E0201", "atan2(y, x)");
    advises("print_lines([\"a\"]);", "E0201", "{print_line(s) : s in lines}");
    advises("let a = 1, b = 2 in a + b;", "E0110", "separate the bindings of a `let` by `;`");
    advises("5 mod 2;", "E0204", "a function stands before its arguments");
    advises("let (a, b) = [1, 2] in a + b;", "E0202", "v[0], v[1]");
}

#[test]
fn powers_that_may_be_read_in_two_ways() {
    advises("-1 ^ 2;", "W0206", "write that, or `(-1) ^ 2` if the sign belongs to the base");
    advises("{-x ^ n : x in [2.0]; n in [2]};", "W0206", "write that, or `(-x) ^ n` if the sign belongs to the base");
    advises("2 ^ 3 ^ 2;", "W0206", "write that, or `(2 ^ 3) ^ 2` if the left one comes first");
    advises("2 ^ -3 ^ 2;", "W0206", "write that, or `(2 ^ -3) ^ 2` if the left one comes first");
    for text in [
        "let x = 2.0 in -x ^ 2;",
        "let x = 2.0 in exp(-x^2 / 2.0);",
        "-2 ^ 3;",
        "-(2 ^ 2);",
        "(-2) ^ 2;",
        "(2 ^ 3) ^ 2;",
        "2 ^ (3 ^ 2);",
        "2 ^ (-(3 ^ 2));",
        "2 - 1 ^ 2;",
        "[1, -1] -> [0];",
        "{-(x ^ n) : x in [2]; n in [2]};",
    ] {
        let found = diagnostics(text);
        assert!(found.is_empty(), "{text}: {found:#?}");
    }
}

/// The texts in quotes of a source, without comments.
fn literals(source: &str) -> Vec<String> {
    let code = source.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    let escaped = code.replace("\\\"", "\u{1}");
    let texts = escaped.split('"').skip(1).step_by(2);
    let unescaped = |text: &str| {
        let lines: Vec<&str> = text.split("\\\n").collect();
        let rest = lines.iter().skip(1).map(|line| line.trim_start());
        lines[..1].iter().copied().chain(rest).collect::<String>().replace('\u{1}', "\"")
    };
    texts.map(unescaped).collect()
}

/// What the names in hints stand for: whatever a person has.
const NAMES: [&str; 5] = [
    "v = [3, 1, 2]; w = [0.5, 1.0, 2.0]; m = [[1.0, 2.0], [3.0, 5.0]]; a = m; b = m;",
    "v = [0.5, 1.0]; w = [0.5, 1.0]; m = [[1, 2], [3, 4]]; a = 7; b = 2;",
    "v = \"hello\"; w = \"lo\"; m = [\"a\", \"b\"]; a = \"x\"; b = \"y\";",
    "v = [1.0, 2.0, 3.0]; w = [4.0, 5.0, 6.0]; m = [[1.0, 2.0]]; a = 0.5; b = 2.5;",
    "v = [104, 105]; w = [2]; m = [[1]]; a = t; b = f;",
];
const OTHERS: [&str; 4] = [
    "x = 1.5; y = 2.5; xs = [1, 2]; ys = [3.0, 4.0]; low = 0.0; high = 1.0; n = 2; i = 0; c = `a; s = \"to\"; e = 1;",
    "x = 1; y = 2; low = 0; high = 9; n = 3; c = t; s = \"to\"; i = 1; start = 0; end = 1; e = 2;",
    "x = [1.0, 2.0]; y = [2.0, 3.0]; n = 1; s = \"to\"; c = `a;",
    "x = `o; y = `p; s = \"to\"; n = 0;",
];
const REST: &str = "k = 1; d = 2; file = \"a\"; name = \"a.csv\"; text = \"a b\"; lines = [\"a\", \"b\"]; \
     rows = [[\"price\"], [\"2.5\"]]; stream = stdin; function g(x) = rem(x, 2);";

/// Whether code of a hint is right, whatever its names stand for.
fn is_right(code: &str) -> bool {
    let is_pattern = ["body", "value", "parameter", "import", "…"].iter().any(|part| code.contains(part));
    let texts = NAMES.iter().flat_map(|names| OTHERS.map(|others| format!("{names} {others} {REST} {code};")));
    // Words and signs of the syntax alone, and what stands for anything.
    is_pattern
        || ["if", "else if", "t", "f", "|", "/", "main"].contains(&code)
        || texts.into_iter().any(|text| diagnostics(&text).iter().all(|found| !found.code.starts_with('E')))
}

#[test]
fn words_of_other_languages_are_unknown_here_and_what_they_are_is_known() {
    let source = include_str!("../src/syntax/nesl/explain/foreign_words.rs");
    let is_word = |text: &String| text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    let (words, hints): (Vec<String>, Vec<String>) = literals(source).into_iter().partition(is_word);
    assert!(words.len() > 250 && hints.len() > 100, "{} words, {} hints", words.len(), hints.len());
    for (place, word) in words.iter().enumerate() {
        assert!(!words[..place].contains(word), "{word} is there twice");
        // The library has a function of this name; what C declares by it is `habits_of_other_languages_in_syntax`.
        let text = if word == "var" { "var x = 3;".to_owned() } else { format!("{word}(1);") };
        let found = diagnostics(&text);
        assert!(found.first().is_some_and(|first| first.hint.is_some()), "{word}: {found:?}");
    }
    let codes = hints.iter().flat_map(|hint| hint.split('`').skip(1).step_by(2));
    let wrong: Vec<&str> = codes.filter(|code| !is_right(code)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn pictures_of_one_sequence() {
    advises("y = [1, 2]; plot(y);", "E0213", "plot(index(#y), y)");
    advises("scatter([0.5, 1.0]);", "E0213", "scatter(index(#[0.5, 1.0]), [0.5, 1.0])");
    advises("y = [1, 2]; plot(y, file := \"a.svg\");", "E0213", "plot(index(#y), y)");
    advises("p = [(1, 2)]; scatter(p);", "E0213", "let (x, y) = unzip(p) in scatter(x, y)");
    advises("plot([1], [2], \"a.svg\");", "E0213", "passed by name: file := ");
    for right in ["y = [1, 2]; plot(index(#y), y);", "p = [(1, 2)]; let (x, y) = unzip(p) in scatter(x, y);"] {
        assert!(diagnostics(right).is_empty(), "{right}");
    }
}

#[test]
fn several_values_in_a_line() {
    advises("print_line(\"a\", 3);", "E0213", "print_line(\"a\" ++ \" \" ++ @3)");
    advises(
        "x = 3; who = \"b\"; print_line(\"a\", x, who);",
        "E0213",
        "print_line(\"a\" ++ \" \" ++ @x ++ \" \" ++ who)",
    );
    advises("print_line(\"a\", max(1, 2));", "E0213", "print_line(\"text\" ++ \" \" ++ @x)");
    advises("println(\"a\", 3);", "E0201", "print_line(\"x = \" ++ @x)");
    advises("function h(x) = x + \"a\"; h(1);", "E0203", "x ++ \"a\"; of any other value `@` makes text");
    // A sequence of two types is none.
    let found = diagnostics("sum(1, 2.5);");
    assert!(found.iter().all(|report| report.hint.as_ref().is_none_or(|hint| !hint.contains("[1"))), "{found:?}");
}

#[test]
fn libraries_of_other_languages() {
    for text in ["np.sum([1]);", "x = math.sqrt(2.0);", "numpy.dot([1], [2]);"] {
        advises(text, "E0101", "the library needs no prefix");
    }
    advises("x = [1]; x.sum;", "E0101", "there are no fields or methods");
}

#[test]
fn a_let_at_the_top_level() {
    for text in ["let v = [1, 2];\n#v;", "x = 1;\nlet v = x;\nv + 1;", "let v = 3; sum([v]);"] {
        advises(text, "E0110", "without `let`, by `name = value;`");
    }
    advises("let [a, b] = [1, 2]; a;", "E0110", "a pattern is a name or a tuple");
}

#[test]
fn operators_on_sequences_go_through_their_elements() {
    for (text, code, hint) in [
        ("[1, 2] + [3, 4];", "E0203", "{x + y : x in [1, 2]; y in [3, 4]}; `++` joins sequences"),
        ("x = [1, 2]; y = 3; x * y;", "E0203", "{z * y : z in x}"),
        ("[1, 2] * 2.5;", "E0203", "{float(x) * 2.5 : x in [1, 2]}"),
        ("[[1]] + [[2]];", "E0203", "{{z + u : z in x; u in y} : x in [[1]]; y in [[2]]}"),
        ("[[1], [2]] * 3;", "E0203", "{{y * 3 : y in x} : x in [[1], [2]]}"),
        ("[1] > 0;", "E0203", "{x > 0 : x in [1]}"),
        ("[3] == 3;", "E0202", "{x == 3 : x in [3]}"),
        ("[t] and [f];", "E0203", "{x and y : x in [t]; y in [f]}"),
        ("[1] < [2];", "E0203", "`sort` and `rank`"),
        ("\"a\" + \"b\";", "E0203", "\"a\" ++ \"b\""),
        ("v = [1, 2]; v + \"a\";", "E0203", "@v ++ \"a\""),
        ("[\"a\"] + \"b\";", "E0203", "[\"a\"] ++ [\"b\"]"),
        ("\"ab\" * 3;", "E0203", "repeat_string(\"ab\", 3)"),
        ("\"a\" < \"b\";", "E0203", "string_less(\"a\", \"b\")"),
        ("\"a\" >= \"b\";", "E0203", "string_compare(\"a\", \"b\") >= 0"),
        ("(1, 2) < (1, 3);", "E0203", "sort([(1, 2), (1, 3)])[0]"),
        ("max(\"a\", \"b\");", "E0203", "sort([a, b])[1]"),
        ("parse_int(\"3\") + 1;", "E0203", "first(parse_int(\"3\")) + 1"),
        ("sqrt([1.0, 4.0]);", "E0202", "{sqrt(x) : x in [1.0, 4.0]}"),
    ] {
        advises(text, code, hint);
    }
    // What would not fit either is not proposed.
    for text in ["\"abc\" - \"b\";", "[t] + [f, t] - 1;", "[1] * \"ab\";"] {
        let found = diagnostics(text);
        assert!(found.iter().all(|report| report.hint.as_ref().is_none_or(|hint| !hint.contains(" : "))), "{found:?}");
    }
}

/// What hints propose for operators and arguments is right itself.
#[test]
fn proposed_forms_fit() {
    for form in [
        "[1, 2] + [3, 4]",
        "[1, 2] * 2.5",
        "2.5 - [1, 2]",
        "[[1]] + [[2]]",
        "[[1], [2]] * 3",
        "[2] ^ 2",
        "\"ab\" <= `b",
        "\"a\" + `b",
        "\"a\" + [\"b\"]",
        "\"a\" < \"b\"",
        "\"a\" >= \"b\"",
        "1.5 + \"b\"",
        "3 * \"ab\"",
        "[t] or [f]",
        "[(1, t)] + [(2, f)]",
        "parse_int(\"3\") + parse_int(\"4\")",
        "parse_float(\"3\") * 2",
        "enumerate([3, 4])",
        "abs([1, 2])",
        "not any([t])",
        "not even_numbers(3)",
    ] {
        let found = diagnostics(&format!("function even_numbers(n) = n == 0; {form};"));
        let hint = found[0].hint.clone().unwrap_or_else(|| panic!("{form}: {found:?}"));
        let hint = hint.split_once("; `").map_or(&*hint, |(before, _)| before);
        let proposed = ["write ", ": "].into_iter().find_map(|mark| hint.split_once(mark)).map(|(_, form)| form);
        let proposed = proposed.or_else(|| hint.split_once(" is ").or(hint.split_once(" by ")).map(|(_, form)| form));
        let proposed = proposed.unwrap_or_else(|| panic!("{form}: {hint}"));
        let proposed = proposed.strip_prefix("++ to join sequences: ").unwrap_or(proposed);
        let wrong = diagnostics(&format!("function even_numbers(n) = n == 0; {proposed};"));
        assert_eq!(wrong, [], "{form}: {proposed}");
    }
}

#[test]
fn calls_that_other_libraries_have() {
    advises("not any([t]);", "E0203", "not(any([t]))");
    advises("sqrt sum([4.0]);", "E0202", "sqrt(sum([4.0]))");
    advises("diff([1, 4, 9]);", "E0213", "differences(v)");
    advises("join([\"a\", \"b\"], \",\");", "E0213", "join_strings(parts, separator)");
    advises("append([1], 2);", "E0202", "snoc(v, x)");
    advises("enumerate([5]);", "E0202", "{(i, x) : x in [5]; i in index(#[5])}");
    advises("contains(\"abc\", \"a\");", "E0201", "find_text(s, w)");
    advises("reduce(+, 0, [1]);", "E0110", "`reduce('+, 0, v)`");
    advises("p = (1, 2); p.0;", "E0204", "by a pattern");
    assert_eq!(diagnostics("append([1], 2.5);")[0].hint, None);
}

#[test]
fn numbers_and_definitions_of_other_languages() {
    advises("0xff;", "E0104", "no hexadecimal numbers: this is 255");
    advises("0b101;", "E0104", "numbers are decimal: this is 5");
    advises("1_000;", "E0104", "write 1000");
    advises("3x;", "E0104", "by a space");
    // A word that joins is only too near, and what is around it is right.
    for (text, mistakes) in [("x = 3; x > 0and x < 9;", 1), ("if 1 > 2then 3Else 4;", 2)] {
        advises(text, "E0104", "by a space");
        let found = diagnostics(text);
        assert!(found.len() == mistakes && found.iter().all(|one| one.code == "E0104"), "{text}: {found:?}");
    }
    advises("def g(x): x;", "E0110", "`function name(parameter) = body`");
    advises("in = 3;", "E0190", "choose another name");
    advises("and = 3;", "E0190", "choose another name");
}

#[test]
fn what_numpy_users_write_in_their_first_hour() {
    advises("[10, 20, 30][[0, 2]];", "E0202", "v -> indices");
    advises("[1, 2][[t, t]];", "E0202", "{x in v | x > 0}");
    advises("m = [[1]]; m[0, 0];", "E0202", "m[i][j]");
    advises("plot([1.0], [2.0], file = \"a.svg\");", "E0110", "by name with `:=`");
    advises("floor(7 / 2);", "E0202", "write 7.0 / 2.0");
    advises("n = 3; floor(n / 2);", "E0202", "write float(n) / 2.0");
    advises("dot([1, 2], [3.0, 4.0]);", "E0202", "{float(x) : x in [1, 2]}");
    advises("matmul([[1.0]], [[1]]);", "E0202", "{{float(y) : y in x} : x in [[1]]}");
    advises("v = [1, 2]; map(sqrt, v);", "E0202", "{float(x) : x in v}");
    advises("join_strings([1, 2], \",\");", "E0202", "{@x : x in [1, 2]}");
    advises("lower_bound([\"a\"], \"b\");", "E0203", "partition_point(y => string_less(y, x), v)");
}

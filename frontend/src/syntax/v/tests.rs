//! What is wrong with programs of V: each has its code, its place and V's words, and none is a panic.

use crate::diagnostic::Diagnostic;
use crate::{Options, Session};
use nesl_span::{Origin, SourceMap};
use std::sync::LazyLock;

static LIBRARY: LazyLock<(SourceMap, Session)> = LazyLock::new(|| {
    let mut sources = SourceMap::default();
    let session = Session::new(&mut sources);
    (sources, session)
});

fn check(text: &str) -> Vec<Diagnostic> {
    let (mut sources, mut session) = LIBRARY.clone();
    let file = sources.add("test.v", text, Origin::User);
    session.check(&sources, file, Options::default()).diagnostics
}

/// Programs in the body of a function, with the codes of what is wrong.
const BODIES: [(&str, &str); 46] = [
    ("E0201", "return y;"),
    ("E0201", "return pow(2.0, 3.0) > 1.0;"),
    ("E0201", "struct p q; return q.z;"),
    ("E0202", "int v[*] = 3; return 0;"),
    ("E0202", "int x = 1.5; return x;"),
    ("E0202", "char c = 65; return c;"),
    ("E0202", "return \"text\";"),
    ("E0202", "return [1, 2];"),
    ("E0202", "int v[*] = [1.5]; return 0;"),
    ("E0202", "double v[*] = w; return 0;"),
    ("E0202", "return x ? 1 : w;"),
    ("E0202", "return (int) w;"),
    ("E0202", "if (w) return 1; return 0;"),
    ("E0202", "int v[*] = [1, [2]]; return 0;"),
    ("E0202", "return $(w >< \"ab\");"),
    ("E0202", "return w[1.5];"),
    ("E0202", "return ~1.5;"),
    ("E0202", "return 1.5 % 2;"),
    ("E0202", "struct p q = {1, [2]}; return 0;"),
    ("E0202", "void y; return 0;"),
    ("E0203", "return x[0];"),
    ("E0203", "return $x;"),
    ("E0203", "return w + 1;"),
    ("E0203", "return w < w;"),
    ("E0203", "return $(x >< w);"),
    ("E0203", "return x.y;"),
    ("E0203", "return $[i : i in x];"),
    ("E0203", "return w == 1.5;"),
    ("E0204", "return x(1);"),
    ("E0204", "return sum;"),
    ("E0206", "int y = 1; int y = 2; return y;"),
    ("E0206", "int x = 1; return x;"),
    ("E0207", "struct unknown u; return 0;"),
    ("E0213", "return sum(w, w);"),
    ("E0213", "struct p q = {1}; return 0;"),
    ("E0213", "return f(1);"),
    ("E0502", "union u z; return 0;"),
    ("E0503", "g = 1; return g;"),
    ("E0503", "g++; return g;"),
    ("E0505", "int v[]; return 0;"),
    ("E0507", "int *v[*]; return 0;"),
    ("E0508", "int *y; return 0;"),
    ("E0508", "return *x;"),
    ("E0510", "if (x) return 1;"),
    ("E0510", "while (x) x--;"),
    ("E0511", "3 = x; return 0;"),
];

/// Statements with codes, too, of which several stand in one group.
const STATEMENTS: [(&str, &str); 16] = [
    ("E0110", "return x y;"),
    ("E0110", "if x return 1; return 0;"),
    ("E0110", "return (x;"),
    ("E0110", "int = 3; return 0;"),
    ("E0110", "return w[x++];"),
    ("E0110", "return x = 3;"),
    ("E0110", "for (int i = 0; i < 3) x++; return 0;"),
    ("E0110", "else x = 1; return 0;"),
    ("E0508", "goto end; return 0;"),
    ("E0508", "switch (x) { case 1: return 2; } return 0;"),
    ("E0508", "unsigned y = 1; return y;"),
    ("E0508", "const int y = 1; return y;"),
    ("E0511", "x == 3; return 0;"),
    ("E0511", "return &x;"),
    ("E0512", "break;"),
    ("E0512", "if (x) continue; return 0;"),
];

/// What who knows C writes at first, and slips of the pen.
const HABITS: [(&str, &str); 31] = [
    ("E0103", "return $\"abc;"),
    ("E0104", "return 08;"),
    ("E0104", "return 0xG;"),
    ("E0106", "return 'ab';"),
    ("E0110", "x, w = 1; return x;"),
    ("E0110", "int a[x]; return 0;"),
    ("E0201", "puts(\"x\"); return 0;"),
    ("E0201", "return strlen(\"a\");"),
    ("E0201", "struct p q; q.z = 1; return 0;"),
    ("E0201", "int y = y; return y;"),
    ("E0202", "w[0] = \"a\"; return 0;"),
    ("E0202", "w = x; return 0;"),
    ("E0202", "x = w; return x;"),
    ("E0202", "return $[i : i in w : w];"),
    ("E0202", "double y = w; return 0;"),
    ("E0202", "while (\"a\") x++; return x;"),
    ("E0202", "do x++; while (w); return x;"),
    ("E0202", "return f(w, x);"),
    ("E0202", "struct p q; return q;"),
    ("E0203", "x[0] = 1; return x;"),
    ("E0203", "x.a = 1; return x;"),
    ("E0203", "w[0][1] = 2; return 0;"),
    ("E0203", "return sum([y.a : y in []]);"),
    ("E0203", "for (int i = 0; i < w; i++) x++; return x;"),
    ("E0213", "struct p q = {1, 2, 3}; return 0;"),
    ("E0213", "return (struct p){1}.a;"),
    ("E0508", "char *s = \"abc\"; return 0;"),
    ("E0508", "typedef int t; return 0;"),
    ("E0508", "static int y = 1; return y;"),
    ("E0511", "w; return 0;"),
    ("E0512", "continue; return 0;"),
];

#[test]
fn wrong_bodies_have_their_codes() {
    let mut problems = Vec::new();
    let all = || BODIES.into_iter().chain(STATEMENTS).chain(HABITS);
    assert!(all().count() + PURITY.len() >= 100);
    for (code, body) in all() {
        let text = format!(
            "int g = 3;\nstruct p {{ int a; double b; }};\nint f(int x, int w[*]) {{\n  {body}\n}}\n\
             int k() {{ return 1; }}\n"
        );
        let found = check(&text);
        if !found.iter().any(|diagnostic| diagnostic.code == code) || found.len() > 2 {
            problems.push(format!("{body}\n  wanted {code}, found {found:#?}"));
        }
        let at_line = |diagnostic: &Diagnostic| diagnostic.labels.first().is_some_and(|label| label.span.start > 40);
        assert!(found.iter().all(at_line), "{body}: {found:#?}");
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Programs that break the rules of purity, and others that are wrong as a whole.
const PURITY: [(&str, &str); 22] = [
    ("E0501", "void a() { } pure int f(int x) { a(); return x; }"),
    ("E0501", "pure int f(int x) { printf(\"%d\", x); return x; }"),
    ("E0501", "pure int f(int *x) { return *x; }"),
    ("E0509", "int a(int x) { return x; } pure int b() { return sum([a(x) : x in [1]]); }"),
    ("E0509", "int a(int x) { return x; } int b() { return $[x : x in [1] : a(x) > 0]; }"),
    ("E0503", "int g = 1; pure int f() { g = 2; return g; }"),
    ("E0503", "int g = 1; void a(int *x) { *x = 1; } void f() { a(&g); }"),
    ("E0504", "int *g;"),
    ("E0504", "struct p { int *x; };"),
    ("E0506", "pure int f(int x) { return x; } int b(int y) { return sum([f(&y) : x in [1]]); }"),
    ("E0506", "int b(int *y) { return $[x : x in [1] : x > *y]; }"),
    ("E0511", "void a(int *x) { *x = 1; } int f(int y) { a(y); return y; }"),
    ("E0511", "int a(int *x) { *x = 1; return 2; } int f(int y) { return 1 + a(&y); }"),
    ("E0511", "void a(int *x) { *x = 1; } int f(int y) { a(&3); return y; }"),
    ("E0204", "int main() { return main(); }"),
    ("E0206", "int f() { return 1; } int f() { return 2; }"),
    ("E0209", "int f(int x);"),
    ("E0502", "union u { int a; double b; }; int main() { return 0; }"),
    ("E0202", "struct p { int b[3]; }; int f() { struct p q = {[1]}; return q.b[0]; }"),
    ("E0513", "int main() { printf(\"%d %d\", 1); return 0; }"),
    ("E0513", "int main() { printf(\"%y\", 1); return 0; }"),
    ("E0202", "int main() { printf(\"%d\", 1.5); return 0; }"),
];

#[test]
fn the_rules_of_purity_are_held() {
    for (code, text) in PURITY {
        let found: Vec<&str> = check(text).iter().map(|diagnostic| diagnostic.code).collect();
        assert!(found.contains(&code), "{text}: {found:?}");
    }
}

#[test]
fn distinct_places_may_be_passed() {
    let head = "struct p { int x, y; }; void g(int *a, int *b) { *a = *b; } void h(int *a, int *b) ";
    for call in [
        "struct p q; g(&q.x, &q.y);",
        "int v[2]; g(&v[0], &v[1]);",
        "int v[2], i = 0, j = 1; g(&v[i], &v[j]);",
        "g(a, b);",
        "struct p v[2]; g(&v[0].x, &v[0].y);",
        "int x; g(&x, a);",
        "{ int a = 1; g(&a, b); a++; }",
        "struct p p = {1, 2}; p = (struct p){3, 4}; g(&p.x, a);",
    ] {
        assert_eq!(check(&format!("{head} {{ {call} }}")), [], "{call}");
    }
}

#[test]
fn types_are_shown_as_v_writes_them() {
    let message = |text: &str| check(text).first().map(|diagnostic| diagnostic.message.clone()).unwrap_or_default();
    let text = "struct p { int a; }; pure int f(struct p q[*][*]) { return q; }";
    assert_eq!(message(text), "what is returned must be `int`, but it is `struct p[*][*]`");
    let text = "pure double f(double x) { return sqrt(\"x\"); }";
    assert_eq!(message(text), "argument 1 of `sqrt` must be `double`, but it is `char[*]`");
}

#[test]
fn pieces_of_programs_are_no_panics() {
    let whole = "struct p { int a; double b[*]; };\nint g = 0x1f;\npure int f(int n, struct p q) [*] {\n  int v[10], i;\n  \
                 for (i = 0; i < n; i++) { if (v[i] == 'a') continue; v[i] += n % 3; while (true) { break; } }\n  \
                 q.b[i] = (double) n / 2.5e3;\n  do { n--; } while (n > 0 && !(n == 3));\n  \
                 return [x * y : x in v; y in index(10) : x < 3 ? true : false] >< [1, 2];\n}\n\
                 int main() { printf(\"%5d\\n\", $f(3, (struct p){1, [2.0]})); return 0; } // end\n";
    assert_eq!(check(whole), []);
    // Every beginning, and the whole without each of its words.
    for (end, _) in whole.char_indices() {
        check(&whole[..end]);
    }
    let words: Vec<&str> = whole.split_inclusive(' ').collect();
    for left_out in 0..words.len() {
        let rest: String =
            words.iter().enumerate().filter(|(index, _)| *index != left_out).map(|(_, word)| *word).collect();
        check(&rest);
    }
}

#[test]
fn deep_and_long_texts_are_read_or_refused() {
    let nested = |open: &str, close: &str, count: usize| {
        check(&format!("int f() {{ return {}1{}; }}", open.repeat(count), close.repeat(count)))
    };
    assert_eq!(nested("(", ")", 200), []);
    assert_eq!(nested("(", ")", 5000)[0].code, "E0105");
    assert_eq!(nested("- ", "", 2000), []);
    assert_eq!(nested("1 + ", "", 3000), []);
    // Unclosed brackets take no exponential time.
    assert!(!nested("(", "", 300).is_empty() && !nested("f(x[", "", 200).is_empty());
    let chain = "if (x == 1) return 2; else ".repeat(500);
    assert_eq!(check(&format!("pure int f(int x) {{ {chain} return 3; }}")), []);
    let long = "x += 1; if (x > 3) x = 2; ".repeat(2000);
    assert_eq!(check(&format!("pure int f(int x) {{ {long} return x; }}")), []);
}

/// Codes with the pieces of text that they are about.
fn places(text: &str) -> Vec<(&'static str, &str)> {
    let about = |diagnostic: Diagnostic| {
        let span = diagnostic.labels.last().map(|label| label.span.start as usize..label.span.end as usize);
        (diagnostic.code, span.and_then(|span| text.get(span)).unwrap_or(""))
    };
    check(text).into_iter().map(about).collect()
}

#[test]
fn what_is_missing_is_said_where_it_is_missing() {
    let text = "pure int f(int x) {\n  int y = x + 1\n  int z = y * 2;\n  z = z + y\n  return z }\nf(3);\n";
    assert_eq!(places(text), [("E0110", "1"), ("E0110", "y"), ("E0110", "z")]);
    let text = "pure int f(int x) {\n  if (x > 0) {\n    x = 1;\n  return x;\n}\nf(3);\n";
    let open = check(text)[0].labels.last().map(|label| label.span.start as usize);
    assert_eq!(open, text.find("{\n    x"));
    // A name that is nowhere declared is said once in a function.
    assert_eq!(places("int f() { total = 1; return total; } int g() { return total; }").len(), 2);
}

#[test]
fn fields_of_what_is_passed_by_its_place_are_reached_by_an_arrow() {
    let text = "struct p { int a, b[3]; }; void f(struct p *q) { q->b[1] += q->a; q->a++; }\n\
                int main() { struct p q; f(&q); return q.b[1] + $q.b; }";
    assert_eq!(check(text), []);
    let text = "struct p { int a; }; int f(struct p q) { return q->a; }";
    assert_eq!(places(text), [("E0508", "->")]);
}

/// The first message of a text has this code and this hint.
#[track_caller]
fn advises(text: &str, code: &str, hint: &str) {
    let found = check(text);
    let first = found.first().unwrap_or_else(|| panic!("nothing is found in {text}"));
    assert_eq!(first.code, code, "{text}: {found:#?}");
    assert!(first.hint.as_ref().is_some_and(|found| found.contains(hint)), "{text}: {first:#?}");
}

#[test]
fn what_could_not_be_read_is_reported_once() {
    for text in [
        "void main() { int n = 3; int a[n]; a[0] = 1; printf(\"%d\", a[0]); }",
        "struct p { int x; }; void main() { p q = {1}; printf(\"%d\", q.x); }",
        "void main() { int t = 1, f = 2, in = 3; printf(\"%d %d %d\", t, f, in); }",
        "void main() { string s = \"a\"; printf(\"%s\", s); }",
        "void main() { vector<int> v; v[0] = 1; }",
        "void main() { auto x = 3; printf(\"%d\", x); }",
        "int f(int x { return x; } void main() { printf(\"%d\", f(1)); }",
        "int a[n]; void main() { printf(\"%d\", a[0]); }",
        "void main() { int v[*] = [1]; printf(\"%d\", #v); }",
    ] {
        assert_eq!(check(text).len(), 1, "{text}: {:#?}", check(text));
    }
    assert_eq!(check("void main() { int x = 3 4; printf(\"%d\", y); }").len(), 2);
}

#[test]
fn habits_of_other_languages_have_hints() {
    for (body, code, hint) in [
        ("string s = \"a\";", "E0110", "`char s[*]`"),
        ("p q = {1};", "E0110", "write `struct p q`"),
        ("let x = 1.5;", "E0110", "double x = …;"),
        ("Widget w;", "E0110", "`Widget` is no type"),
        ("int in = 3;", "E0110", "choose another name"),
        ("a.push(3);", "E0201", "`a = a >< [x];`"),
        ("printf(\"%d\", a.length);", "E0203", "`$v`"),
        ("printf(\"%d\", a.size());", "E0201", "`$a`"),
        ("printf(\"%d\", a.sum());", "E0201", "`sum(a, …)`"),
        ("printf(\"%d\", #a);", "E0101", "`$v`"),
        ("for (int x : a) printf(\"%d\", x);", "E0110", "no loop over elements"),
        ("for (int x in a) printf(\"%d\", x);", "E0110", "no loop over elements"),
        ("int w[*] = [2 * x for x in a];", "E0110", "[f(x) : x in v]"),
        ("int w[*] = [0:5];", "E0110", "`index(5)`"),
        ("int w[*] = a[0:1];", "E0110", "subseq(v, start, end)"),
        ("if a[0] > 3 { a[0] = 1; }", "E0110", "in parentheses"),
        ("auto x = 3;", "E0508", "write the type"),
        ("vector<int> v;", "E0110", "`int v[*];`"),
        ("int b[3] = {1, 2, 3, 4};", "E0202", "`v[*]`"),
        ("int b[3] = [1, 2];", "E0202", "fill up with zeros"),
        ("char s[10] = \"abc\";", "E0202", "`char s[*]`"),
        ("int m[2][2] = {{1, 2, 3}};", "E0202", "`v[*]`"),
    ] {
        advises(&format!("struct p {{ int x; }}; void main() {{ int a[*] = [1]; {body} }}"), code, hint);
    }
    advises("x = 3;", "E0110", "`int x = …;`");
    advises("void f(string s) { }", "E0110", "`char s[*]`");
    advises("def f(int x) { return x; }", "E0110", "type of its value");
    assert_eq!(check("#include <a.h>\nint x = 3;")[0].code, "E0508");
    for text in [
        "int b[3] = {1, 2};",
        "int m[2][3] = {{1, 2}, {3}};",
        "int m[2][3] = {{1}};",
        "double z[1000] = {0};",
        "int z[4] = {};",
        "char s[3] = \"abc\";",
        "struct p { int a; }; struct p s[3] = {{1}};",
    ] {
        assert_eq!(check(text), [], "{text}");
    }
    for text in ["int x = 3 4;", "x y;", "int f(int x { return x; }", "void main() { int in = 3; x = foo y; }"] {
        for found in check(text) {
            assert!(!found.message.contains("`.`") && !found.message.contains("`[`"), "{found:#?}");
        }
    }
}

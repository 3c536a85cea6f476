//! What is wrong with programs of V, as the user sees it: in V's words, with types and operators as V writes them.

use nesl_frontend::{Options, Session, render};
use nesl_span::{Origin, SourceMap};

/// Names, and what is not declared.
const NAMES: [&str; 8] = [
    "int f(int x) { return x + y; }",
    "int f(int x) { y = 3; return y; }",
    "int f(int count) { return cuont; }",
    "int f(int v[*]) { return v.size; }",
    "int f(int x) { struct q s; return x; }",
    "int f(int x) { return x; }\nint f(int y) { return y; }",
    "int a = b + 1;\nint b = 2;",
    "int g(int x) { return b + x; }\nint a = g(1);\nint b = 2;",
];

/// Types that do not fit.
const TYPES: [&str; 14] = [
    "int f(int x) { double d = \"a\"; return x; }",
    "int f(int x) { return 1.5; }",
    "int f(int v[*]) { if (v) return 1; return 0; }",
    "int f(int x) { while (\"a\") x--; return x; }",
    "int f(int x) { return x > 0 ? 1 : \"no\"; }",
    "int f(int x) { return x[0]; }",
    "int f(int x) { return $[i * 2 : i in x]; }",
    "int f(int v[*]) { return $(v >< \"ab\"); }",
    "int f(int v[*]) { return v + 1; }",
    "int f(int x) { x += \"a\"; return x; }",
    "int f(double x) { return x << 2; }",
    "void p(int x) { printf(\"%d\", x); }\nint f(int x) { return p(x); }",
    "struct p { int x; };\nbool f(struct p a, struct p b) { return a < b; }",
    "struct p { int x; };\nint f(struct p a) { return a; }",
];

/// Calls.
const CALLS: [&str; 14] = [
    "int g(int a, int b) { return a + b; }\nint f(int x) { return g(x); }",
    "int f(int v[*]) { return sum(v, v); }",
    "int f(int x) { return x(1); }",
    "int f(int x) { int y = f; return y; }",
    "double f(double x) { return sqrt(\"a\"); }",
    "int f(char s[*]) { return sum(s); }",
    "bool f(double v[*]) { return any(v); }",
    "struct p { int x; };\nint f(struct p v[*]) { struct p m = max_val(v); return m.x; }",
    "int f(int v[*]) { int w[*] = permute(v, [1.5, 2.5]); return w[0]; }",
    "int f(int n) { int v[*] = [rand_seed(i) : i in index(n)]; return v[0]; }",
    "pure int sq(int x) { return x * x; }\nint f(double v[*]) { return sum(map(sq, v)); }",
    "int f(char s[*]) { return sum(map(negate, s)); }",
    "void p(int x) { printf(\"%d\", x); }\nint f(int n) { int v[*] = [p(i) : i in index(n)]; return 0; }",
    "int main() { printf(\"%d %d\", 1); return 0; }",
];

/// Syntax.
const SYNTAX: [&str; 8] = [
    "int f(int x) { int y = x + 1\n return y; }",
    "int f(int x) { return (x + 1; }",
    "int f(int x) { return {1, 2}; }",
    "int f(int x) { if x > 0 return 1; return 0; }",
    "int f(int v[*]) { return #v; }",
    "int f(int v[*]) { return sum({2 * x : x in v}); }",
    "int f(int x) { int g(int y) { return y; } return g(x); }",
    "function f(x) = x + 1;",
];

/// Places that are passed to parameters.
const PLACES: [&str; 10] = [
    "void g(int *a) { *a = 5; }\nvoid f(int *a) { g(&a); }",
    "void g(int *a) { *a = 5; }\nvoid f(int *a) { g(*a); }",
    "void g(int *a) { *a = 5; }\nvoid f(double *a) { g(a); }",
    "void g(int *a, int *b) { *a = *b; }\nvoid f(int x) { g(&x, &x); }",
    "void g(int *a, int *b) { *a = *b; }\nvoid f(int *x) { g(x, x); }",
    "struct p { int x, y; };\nvoid g(struct p *a, int *b) { a->x = *b; }\nvoid f(struct p a) { g(&a, &a.y); }",
    "void g(int *a, int *b) { *a = *b; }\nvoid f(int v[*], int i) { g(&v[i + 1], &v[i + 1]); }",
    "void f(int *v, int n) { for (int i = 0; i < n; i++) v[i] = i; }",
    "int f(int *v) { return v[0]; }",
    "int f(int (*v)[*]) { return v[0]; }",
];

/// What C has, or lets one write.
const OF_C: [&str; 17] = [
    "struct node { int value; struct node *next; };",
    "int f(int x) { static int n = 0; n += x; return n; }",
    "static int f(int x) { return x; }",
    "int pop(int *s) { *s -= 1; return *s; }\nvoid f(int s) { (void) pop(&s); }",
    "int f(int x) { return x; }}",
    "int f(int x) { if (x) { return 1; } }\n  return 0;\n}",
    "int f() { return $\"abc\" \"def\"; }",
    "int f() { return $\"abc\"\n  \"def\"; }",
    "int f() { return $(\"abc\" + \"def\"); }",
    "struct p { int x; };\nint f(struct p v[*]) { return $(v >< {{2}}); }",
    "int f(int x) { again: x--; if (x > 0) goto again; return x; }",
    "int f(int a[*][*]) { return a[1, 1]; }",
    "int f(int a[*][*]) { a[0][1, 1] = 2; return 0; }",
    "int f(int x) { int a[2, 2]; return x; }",
    "int f(int v[*]) { int w[*] = {x : x in v}; return w[0]; }",
    "struct p { int x; };\nint f() { return ((struct p){x: 1}).x; }",
    "struct a { struct b x; };\nstruct b { int x; };",
];

fn messages(texts: &[&str]) -> String {
    let mut sources = SourceMap::default();
    let session = Session::new(&mut sources);
    let mut output = String::new();
    for text in texts {
        let file = sources.add("test.v", *text, Origin::User);
        let checked = session.clone().check(&sources, file, Options::default());
        assert!(!checked.diagnostics.is_empty(), "no message for {text}");
        for report in &checked.diagnostics {
            let labels = report.labels.iter().map(|label| &label.text);
            for words in [&report.message].into_iter().chain(&report.hint).chain(labels) {
                let is_written = |notation: &&&str| words.contains(**notation) && !text.contains(**notation);
                let foreign = ["#", "->", "::", "float", "[int]", "[a]", "{x", "{e", " then ", "let ", "|"];
                assert_eq!(foreign.iter().find(is_written), None, "NESL's notation in {report:?}");
            }
            output += &render::render(report, &sources, false);
            output.push('\n');
        }
    }
    output
}

#[test]
fn unknown_names() {
    insta::assert_snapshot!(messages(&NAMES));
}

#[test]
fn types_that_do_not_fit() {
    insta::assert_snapshot!(messages(&TYPES));
}

#[test]
fn wrong_calls() {
    insta::assert_snapshot!(messages(&CALLS));
}

#[test]
fn what_cannot_be_read() {
    insta::assert_snapshot!(messages(&SYNTAX));
}

#[test]
fn places_that_are_passed() {
    insta::assert_snapshot!(messages(&PLACES));
}

#[test]
fn what_c_has() {
    insta::assert_snapshot!(messages(&OF_C));
}

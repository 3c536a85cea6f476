//! Layouts of V, as a reader would write them.

use super::{WIDTH, format, is_same_program};
use nesl_span::FileId;

/// The layout of a text, which has its tokens, and is its own.
fn laid_out(text: &str) -> String {
    let once = format(FileId(0), text).unwrap_or_else(|mistakes| panic!("{text}\n{mistakes:#?}"));
    assert!(is_same_program(text, &once), "{text}\nbecame\n{once}");
    assert_eq!(format(FileId(0), &once).as_ref(), Ok(&once), "a second time");
    once
}

#[test]
fn statements_begin_lines_and_blocks_are_indented() {
    let text =
        "int f(int x)\n{ int y=2*x,z ; if(y>3){y=3;z=1;}else z=2;\nfor(int i=0;i<3;i++)\ny+=i; return y+z ; }\nf( 3 );";
    let expected = "int f(int x) {\n  int y = 2 * x, z;\n  if (y > 3) {\n    y = 3;\n    z = 1;\n  } else z = 2;\n  \
                    for (int i = 0; i < 3; i++)\n    y += i;\n  return y + z;\n}\nf(3);\n";
    assert_eq!(laid_out(text), expected);
}

#[test]
fn what_is_on_one_line_stays_there() {
    for text in [
        "pure int f(int x) { return x; }\n",
        "struct complex { double re, im; };\n",
        "struct p { int a; double b[*]; };\n",
        "void f(int *x) {}\n",
        "int f(int x) {\n  if (x < 0) return -1; else return 1;\n}\n",
        "void f() {\n  for (;;) for (int i = 0, j = 1; i < 3; i++, j--) break;\n}\n",
    ] {
        assert_eq!(laid_out(text), text);
    }
}

#[test]
fn operators_stand_close_to_operands_they_stand_before() {
    let text = "pure int f (struct p v [*], int  ( * w ) [ * ], int * x) [ * ] [ 3 ] ;";
    assert_eq!(laid_out(text), "pure int f(struct p v[*], int (*w)[*], int *x) [*][3];\n");
    let text = "void f(){ * x = - 1 ; if(a)* x=(int)- y*$v[0] ; i ++ ;--j;g ( & x,a&b,- -c,!d ) ;}";
    let expected =
        "void f() {\n  *x = -1;\n  if (a) *x = (int) -y * $v[0];\n  i++;\n  --j;\n  g(&x, a & b, - -c, !d);\n}\n";
    assert_eq!(laid_out(text), expected);
    let text = "[x*y:x in v;y in w:x<y]><[1,2][0]?(struct p){1,{2,3}}.a:[];";
    assert_eq!(laid_out(text), "[x * y : x in v; y in w : x < y] >< [1, 2][0] ? (struct p){1, {2, 3}}.a : [];\n");
    assert_eq!(laid_out("int v[*]={1,{2}},w=f(1)[2];"), "int v[*] = {1, {2}}, w = f(1)[2];\n");
}

#[test]
fn chains_and_loops_stand_under_one_another() {
    let text = "void f() {\nif (a)\nx = 1;\nelse if (b)\nx = 2;\nelse\n{ x = 3; y = 4; }\ndo\n{\nx--; } while (x);\n\
                while (a)\nif (b)\nx = 1;\nelse\nx = 2;\n}\n";
    let expected = "void f() {\n  if (a)\n    x = 1;\n  else if (b)\n    x = 2;\n  else {\n    x = 3;\n    \
                    y = 4;\n  }\n  \
                    do {\n    x--;\n  } while (x);\n  while (a)\n    if (b)\n      x = 1;\n    else\n      x = 2;\n}\n";
    assert_eq!(laid_out(text), expected);
}

#[test]
fn comments_stay_where_they_are() {
    let text = "/* a\n   b */\n\n\n\nint x=1;// one\n// two\nvoid f() { // three\n\n// four\nx(); /* five */ y();\n\n\
                // six\n}\n// seven\n";
    let expected = "/* a\n   b */\n\nint x = 1; // one\n// two\nvoid f() { // three\n  // four\n  \
                    x(); /* five */\n  y();\n\n  // six\n}\n// seven\n";
    assert_eq!(laid_out(text), expected);
    let text = "void f() {\n  if (x) // why\n  {\n    y();\n  } // then\n  else z(1, // one\n2);\n}\n";
    let expected = "void f() {\n  if (x) // why\n  {\n    y();\n  } // then\n  else z(1, // one\n      2);\n}\n";
    assert_eq!(laid_out(text), expected);
}

#[test]
fn long_lines_break_at_the_outermost_construct() {
    let sum = (0..30).map(|index| format!("term{index}")).collect::<Vec<_>>().join(" + ");
    let list = (0..40).map(|index| format!("1{index}")).collect::<Vec<_>>().join(", ");
    let text = format!("pure int f(int x) {{ return {sum}; }}\nint g(int x) {{ return h(a, [{list}]) * (b + c); }}\n");
    let once = laid_out(&text);
    assert!(once.lines().all(|line| line.len() <= WIDTH), "{once}");
    assert!(once.contains("\n      + term"), "{once}");
}

#[test]
fn what_is_no_program_has_no_layout() {
    assert!(format(FileId(0), "int f( {").is_err());
    assert_eq!(laid_out(""), "");
    assert_eq!(laid_out("#!/usr/bin/env nesl\nf( 1 );"), "#!/usr/bin/env nesl\nf(1);\n");
    for (one, other) in [("x;", "y;"), ("x; // a", "x; // b"), ("a - -b;", "a--b;"), ("0x10;", "16;")] {
        assert!(!is_same_program(one, other), "{one} {other}");
    }
}

#[test]
fn whatever_is_between_tokens_programs_stay_the_same() {
    let whole = "struct p { int a; double b[*]; };\nint g = 0x1f, h[*] = {1, 2};\n\
                 pure int f(int n, struct p q, int (*w)[*]) [*] {\n  int v[10], i;\n  \
                 for (i = 0; i < n; i++) { if (v[i] == 'a') continue; else if (n) i--; \
                 v[i] += -n % 3; \
                 while (true) break; }\n  q.b[i] = (double) n / 2.5e3; w->x = *y;\n  do n--; while (n > 0 && !(n == 3)); ;\n  { }\n  \
                 return [x * y : x in v; y in index(10) : x < 3 ? true : false] >< [1, 2] \
                 >< (struct p){1, [2.0]}.b;\n}\nf(3)[1];\n";
    let between = [" ", "\n", "\n\n\n", " // a\n", "\n/* b */\n", " /* c\n d */", "  "];
    let tokens = crate::syntax::v::lexer::lex(FileId(0), whole).tokens;
    let mut random = 1_usize;
    for _ in 0..300 {
        let mut text = String::new();
        let rare = random % 20 + 1;
        for (_, span) in &tokens {
            text += &whole[span.start as usize..span.end as usize];
            random = (random * 1_103_515_245 + 12_345) % (1 << 31);
            let is_plain = !(random / 8).is_multiple_of(rare);
            text += if is_plain { " " } else { between[random / 256 % between.len()] };
        }
        laid_out(&text);
    }
}

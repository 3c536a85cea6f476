//! The session with piped input: what is answered, what goes wrong, what is remembered.

mod common;

use common::Bench;

/// Runs a session whose inputs are all right, and compares the answers.
#[track_caller]
fn answers(input: &str, expected: &str) {
    Bench::new().piped(&[], input).prints(expected);
}

#[test]
fn expressions_definitions_and_assignments_are_answered() {
    answers("sum([1,2,3]);", "it = 6 : int\n");
    answers("it = 1;\nit + 1; it + 1;", "it = 1 : int\nit = 2 : int\nit = 3 : int\n");
    answers(
        "function norm(v) = sqrt(sum({x * x : x in v}));\n{norm(v) : v in [[3.0, 4.0], []]};",
        "norm = fn : [float] -> float\nit = [5.0, 0.0] : [float]\n",
    );
    answers("(a, b) = (1, \"hey\");\nb ++ \"!\";", "a = 1 : int\nb = \"hey\" : [char]\nit = \"hey!\" : [char]\n");
    answers("function id(a) = a;\n(id(1), id(t));", "id = fn : a -> a :: (a in any)\nit = (1, t) : (int, bool)\n");
    answers("", "");
    answers("\n  \n% a comment %\n", "");
}

#[test]
fn a_function_by_its_name_has_its_general_type() {
    answers("max;", "max = fn : (a, a) -> a :: (a in ordinal)\n");
    answers("function id(a) = a;\nid;", "id = fn : a -> a :: (a in any)\nid = fn : a -> a :: (a in any)\n");
    answers("(x => x + 1);", "it = fn : int -> int\n");
}

#[test]
fn inputs_span_lines_until_they_are_complete() {
    answers(
        "function step(a) =\n  let b = a + 1;\n      c = b * 2\n  in b + c;\nstep(1);\n",
        "step = fn : int -> int\nit = 6 : int\n",
    );
    let ran = Bench::new().piped(&["repl"], "1 + 2");
    ran.fails(1, &["E01"]);
}

#[test]
fn errors_leave_the_session_alive() {
    let ran = Bench::new().piped(&["repl"], "x = 1;\nx + t;\nnothing;\n1 / 0;\n);\nx;\n");
    ran.fails(1, &["x + t", "unknown name `nothing`", "E0402", "Help"]);
    assert_eq!(ran.out, "x = 1 : int\nit = 1 : int\n");
}

#[test]
fn what_is_right_beside_an_error_is_evaluated() {
    let ran = Bench::new().piped(&[], "a = 1; b = a + 1; c = nothere; e = c + 1; d = 4;\n(a, b, d);\ne;\n");
    ran.fails(1, &["unknown name `nothere`", "unknown name `e`"]);
    assert_eq!(ran.err.matches("E0201").count(), 2, "{}", ran.err);
    assert_eq!(ran.out, "a = 1 : int\nb = 2 : int\nd = 4 : int\nit = (1, 2, 4) : (int, int, int)\n");
    let ran = Bench::new().piped(&[], "1 + ; 2;\n");
    ran.fails(1, &["E01"]);
    assert_eq!(ran.out, "it = 2 : int\n");
    // Names that were to be something else do not mean what they were.
    let ran = Bench::new().piped(&[], "c = 1;\nc = t + 1; x = c; nothere; it; y = 1 / 0; z = 3;\nz;\nx;\nc;\n");
    ran.fails(1, &["E0402", "unknown name `z`", "unknown name `x`", "unknown name `nothere`"]);
    assert_eq!(ran.out, "c = 1 : int\nit = 1 : int\n");
    // Files, and what is saved; programs are run as a whole or not.
    let bench = Bench::with("half.nesl", "x = 1;\n% Adds\n two. %\nfunction up(a) = a + 2;\nz = nothere;\nup(x);\n");
    let ran = bench.piped(&[], ":load half.nesl\nup(up(x));\n:save kept.nesl\n");
    ran.fails(1, &["half.nesl:5:5"]);
    assert_eq!(ran.out, "x = 1 : int\nup = fn : int -> int\nit = 3 : int\nit = 5 : int\n2 inputs in kept.nesl\n");
    bench.nesl(&["kept.nesl"]).prints("3\n5\n");
    let ran = bench.nesl(&["half.nesl"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{ran:?}");
}

#[test]
fn names_and_values_do_not_part_when_a_form_fails() {
    let input = "y = 1;\ny = 2; z = 1 / 0; w = 3;\ny;\nw;\nz;\nfunction g(a) = a; 1 / 0;\ng(5);\nx = [1, 2][5];\nx;\n";
    let ran = Bench::new().piped(&[], input);
    ran.fails(1, &["unknown name `w`", "unknown name `z`", "unknown name `x`"]);
    assert_eq!(ran.out, "y = 1 : int\ny = 2 : int\nit = 2 : int\ng = fn : a -> a :: (a in any)\nit = 5 : int\n");
}

#[test]
fn redefinition_follows_the_rules_of_the_language() {
    answers(
        "function step(a) = a + 1;\nfunction g(a) = step(a) * 10;\nfunction step(a) = a + 2;\ng(1);\n",
        "step = fn : int -> int\ng = fn : int -> int\nstep = fn : int -> int\nit = 30 : int\n",
    );
    answers(
        "x = 1;\nfunction step(a) = a + x;\nx = 5;\nstep(1);",
        "x = 1 : int\nstep = fn : int -> int\nx = 5 : int\nit = 6 : int\n",
    );
}

#[test]
fn functions_that_call_each_other_are_declared_first() {
    answers(
        "function odd_int(n) : int -> bool;\nfunction even_int(n) = if n == 0 then t else odd_int(n - 1);\n\
         function odd_int(n) = if n == 0 then f else even_int(n - 1);\n{even_int(n) : n in [0, 3, 10]};\n",
        "odd_int = fn : int -> bool\neven_int = fn : int -> bool\nodd_int = fn : int -> bool\nit = [t, f, t] : [bool]\n",
    );
    let early = "function od(n) : int -> bool;\nfunction ev(n) = if n == 0 then t else od(n - 1);\nev(1);\nod(1);\n\
                 function od(n) = not(ev(n));\nod(0);\n";
    let ran = Bench::new().piped(&[], early);
    ran.fails(
        1,
        &["`ev` needs the function `od`, which has no body", "the function `od` has no body", "declared here"],
    );
    assert!(ran.out.ends_with("it = f : bool\n"), "{}", ran.out);
}

#[test]
fn pasted_garbage_is_answered_with_messages() {
    let page = "<html>\n<p>It isn't \u{201c}code\u{201d};</p>\n}}}; ) ] \u{7f}\u{1} ` ' @#$;\n\\x;\n1 +;\n:;\n";
    let ran = Bench::new().piped(&[], &format!("{page}1 + 1;\n"));
    ran.fails(1, &["E01"]);
    assert!(ran.out.ends_with("it = 2 : int\n"), "{ran:?}");
}

#[test]
fn long_values_are_abbreviated() {
    let out = Bench::new().piped(&[], "[0:1000];\n#it;").out;
    assert!(out.starts_with("it = [0, 1, 2, ") && out.contains("..."), "{out}");
    assert!(out.ends_with("it = 1000 : int\n"), "{out}");
    assert!(out.len() < 1000);
}

#[test]
fn commands() {
    let bench = Bench::with("defs.nesl", "function double(a) = 2 * a;\nk = double(4);\n");
    bench.piped(&[], ":load defs.nesl\ndouble(k);").prints("double = fn : int -> int\nk = 8 : int\nit = 16 : int\n");
    bench.piped(&[], ":type sum\n:type [1.5];\n").prints("sum : [a] -> a :: (a in number)\n[1.5] : [float]\n");
    let timed = bench.piped(&[], ":time 1 + 1\n");
    assert!(timed.out.starts_with("it = 2 : int\n") && timed.out.ends_with(" ms\n"), "{}", timed.out);
    let help = bench.piped(&[], ":help");
    for command in [":type EXPRESSION", ":load FILE", ":time EXPRESSION", ":help", ":quit"] {
        assert!(help.out.contains(command), "{}", help.out);
    }
    bench.piped(&[], "1;\n:quit\n2;").prints("it = 1 : int\n");
    let wrong = bench.piped(&[], ":lo\n:frob\n:load none.nesl\n:type 1 +\n:type\n5;\n");
    wrong.fails(1, &["Did you mean :load?", "no command `:frob`", "none.nesl", ":type EXPRESSION"]);
    assert_eq!(wrong.out, "it = 5 : int\n");
    // A file that fails half way leaves what it had defined.
    bench.write("half.nesl", "function ok(a) = a;\n1 / 0;\nfunction late(a) = a;");
    let half = bench.piped(&[], ":load half.nesl\nok(1);\nlate(1);");
    half.fails(1, &["half.nesl:2:1", "unknown function `late`"]);
    assert!(half.out.ends_with("it = 1 : int\n"), "{}", half.out);
}

#[test]
fn options_work_in_sessions() {
    let bench = Bench::new();
    bench.piped(&["repl", "--engine", "reference"], "1 + 1;").prints("it = 2 : int\n");
    bench.piped(&["--threads", "2"], "pi;").prints("it = 3.141592653589793 : float\n");
    let ran = bench.piped(&["--max-memory", "100K"], "sum(rank([0:1000000]));\n1;");
    ran.fails(1, &["out of memory"]);
    assert_eq!(ran.out, "it = 1 : int\n");
    let seeded = |seed: &str| bench.piped(&["--seed", seed], "rand(1000000);rand(1000000);").out;
    assert_eq!(seeded("1"), seeded("1"));
    assert_ne!(seeded("1"), seeded("2"));
    bench.piped(&["--engine", "oracle"], "").fails(2, &["oracle"]);
}

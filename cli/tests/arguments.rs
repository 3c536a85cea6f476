//! Parameters of `main` with a default are options of the command line.

mod common;

use common::{Bench, Ran, finish};

/// Runs a program on an engine, and as a built executable.
fn everywhere(source: &str, arguments: &[&str], check: impl Fn(&Ran)) {
    let bench = Bench::with("a.nesl", source);
    for engine in ["threads", "reference", "oracle"] {
        check(&bench.nesl(&[&["run", "--engine", engine, "a.nesl", "--"], arguments].concat()));
    }
    bench.nesl(&["build", "a.nesl", "-o", "a"]).prints("");
    check(&finish(bench.command(&bench.path("a")).args(arguments), ""));
}

#[test]
fn a_default_is_taken_unless_an_option_is_given() {
    let difference = "function main(a, b := 3) : (int, int) -> int = a - b;";
    for (arguments, printed) in [
        (&["10"][..], "7"),
        (&["10", "--b", "5"], "5"),
        (&["--b", "5", "10"], "5"),
        (&["10", "--b=-5"], "15"),
        (&["--b", "-5", "-10"], "-5"),
        (&["--B=5", "10"], "5"),
    ] {
        everywhere(difference, arguments, |ran| ran.prints(&format!("{printed}\n")));
    }
    let usage = ["A [--b B]\n  a : int\n  --b : int [default: 3]"];
    everywhere(difference, &["x"], |ran| {
        ran.fails(2, &["argument 1 (a : int): `x` is not a value\n  x\n  ^", usage[0]])
    });
    everywhere(difference, &["1", "--b", "x"], |ran| ran.fails(2, &["option --b (int): `x` is not a value", usage[0]]));
    everywhere(difference, &["1", "--b"], |ran| ran.fails(2, &["--b needs a value", usage[0]]));
    everywhere(difference, &["1", "2"], |ran| ran.fails(2, &["main takes one argument, not 2", usage[0]]));
    everywhere(difference, &["--c", "2", "1"], |ran| ran.fails(2, &["no option --c", usage[0]]));
    everywhere(difference, &["-b", "2", "1"], |ran| ran.fails(2, &["--b"]));
}

#[test]
fn defaults_may_be_anything_that_an_expression_gives() {
    // Text of several lines, a global, a call, the least int; a name with `_`.
    let source = "base = [0:4];\nfunction twice(v) = {2 * x : x in v};\n\
                  function main(n, greeting := \"hi,\n  you\", values := twice(base), max_steps := -9223372036854775808) =\n  \
                  (n + 0, greeting, values, max_steps);";
    everywhere(source, &["1"], |ran| {
        ran.prints("(1, \"hi,\\n  you\", [0, 2, 4, 6], -9223372036854775808)\n");
    });
    everywhere(source, &["1", "--max-steps", "7", "--values", "[]", "--greeting", "--x"], |ran| {
        ran.prints("(1, \"--x\", [], 7)\n");
    });
    everywhere(source, &["1", "--greeting", "--values", "[1]"], |ran| ran.fails(2, &["--greeting needs a value"]));
    everywhere(source, &["1", "--greeting=--values"], |ran| assert!(ran.out.contains("\"--values\""), "{ran:?}"));
    everywhere(source, &["1", "--max-step", "7"], |ran| {
        ran.fails(2, &["did you mean --max_steps?", "[--max_steps MAX_STEPS]"])
    });
}

#[test]
fn defaults_that_draw_print_or_fail_do_so_when_they_are_needed() {
    let draw = "function main(n, m := rand(1000000)) = (n + 0, m, rand(1000000));";
    let bench = Bench::with("a.nesl", draw);
    let expected = bench.nesl(&["run", "--engine", "oracle", "--seed", "7", "a.nesl", "--", "1"]);
    bench.nesl(&["run", "--seed", "7", "a.nesl", "--", "1"]).prints(&expected.out);
    bench.nesl(&["run", "--seed", "8", "a.nesl", "--", "1", "--m", "5"]);
    everywhere("function main(n, m := 1 / 0) = n + m;", &["1", "--m", "2"], |ran| ran.prints("3\n"));
    everywhere("function main(n, m := 1 / 0) = n + m;", &["1"], |ran| ran.fails(1, &["E0402", "1:23"]));
    everywhere("function main(n, m := let _ = print_line(\"asked\") in 2) = n + m;", &["1"], |ran| {
        ran.prints("asked\n3\n")
    });
}

#[test]
fn polymorphic_mains_have_options_too() {
    let source = "function main(v, n := 2) = (take(v, n), n);";
    everywhere(source, &["[1, 2, 3]"], |ran| ran.prints("([1, 2], 2)\n"));
    everywhere(source, &["[1.5, 2, 3]", "--n", "1"], |ran| ran.prints("([1.5], 1)\n"));
    everywhere(source, &["--n=3", "\"text\""], |ran| ran.prints("(\"tex\", 3)\n"));
    everywhere(source, &["[1, x]"], |ran| ran.fails(2, &["`x` is not a value", "  [1, x]\n      ^", "[--n N]"]));
    everywhere("function main(v, w := []) = v ++ w;", &["[`a]", "--w", "\"b\""], |ran| ran.prints("\"ab\"\n"));
    everywhere("function main(v, w := []) = v ++ w;", &["[1.5]"], |ran| ran.prints("[1.5]\n"));
    // A function is no value of the command line, and no option.
    let source = "function main(v, g := (x => x + 1)) = {g(x) : x in v};";
    everywhere(source, &["[1, 2]"], |ran| ran.prints("[2, 3]\n"));
    everywhere(source, &["[1, 2]", "--g", "1"], |ran| ran.fails(2, &["not 3"]));
}

#[test]
fn options_of_nesl_stand_before_what_is_for_main() {
    let bench = Bench::with("a.nesl", "function main(a, seed := 3, n := 1) = (a + 0, seed, n + rand(1));");
    bench.nesl(&["build", "a.nesl", "-o", "a"]).prints("");
    let run = |arguments: &[&str]| finish(bench.command(&bench.path("a")).args(arguments), "");
    run(&["--threads", "2", "--n", "5", "10"]).prints("(10, 3, 5)\n");
    run(&["--seed", "8", "10"]).prints("(10, 3, 1)\n");
    run(&["--seed", "8", "--", "--seed", "9", "10"]).prints("(10, 9, 1)\n");
    run(&["10", "--seed", "9"]).prints("(10, 9, 1)\n");
    run(&["--n", "2", "--seed", "9", "10"]).prints("(10, 9, 2)\n");
    run(&["10", "--threads", "2"]).fails(2, &["--threads is an option of nesl itself"]);
    run(&["--thread", "2", "10"]).fails(2, &["no option --thread", "did you mean --threads?"]);
    let help = run(&["--help"]);
    assert!(help.code == Some(0) && help.out.contains("--n : int [default: 1]"), "{help:?}");
    bench.nesl(&["run", "a.nesl", "--", "--seed", "9", "10"]).prints("(10, 9, 1)\n");
    // Without options of its own a main takes every word, but what looks like an option of nesl must stand after `--`.
    bench.write("b.nesl", "function main(a) : [char] -> [char] = a;");
    for command in [&["b.nesl"][..], &["run", "b.nesl"]] {
        let run = |words: &[&str]| bench.nesl(&[command, words].concat());
        run(&["--", "-x"]).prints("\"-x\"\n");
        run(&["--", "hello"]).prints("\"hello\"\n");
        run(&["--", "--"]).prints("\"--\"\n");
        run(&["--"]).fails(2, &["main needs arguments"]);
    }
    bench.nesl(&["build", "b.nesl", "-o", "b"]).prints("");
    let run = |arguments: &[&str]| finish(bench.command(&bench.path("b")).args(arguments), "");
    run(&["--nonsense"]).fails(2, &["no option --nonsense", "after `--`"]);
    run(&["--", "--nonsense"]).prints("\"--nonsense\"\n");
    run(&["-5"]).prints("\"-5\"\n");
    run(&["-"]).prints("\"-\"\n");
    run(&["--", "--"]).prints("\"--\"\n");
}

#[test]
fn help_shows_what_main_expects() {
    let difference = "function main(a, b := 3) : (int, int) -> int = a - b;";
    let says = |ran: &Ran, parts: &[&str]| {
        assert!(ran.code == Some(0) && ran.err.is_empty(), "{ran:?}");
        parts.iter().for_each(|part| assert!(ran.out.contains(part), "no {part:?}: {ran:?}"));
    };
    for arguments in [&["--help"][..], &["-h"], &["1", "--help"], &["--b", "2", "--help", "x"]] {
        everywhere(difference, arguments, |ran| says(ran, &[" A [--b B]\n  a : int\n  --b : int [default: 3]\n"]));
    }
    everywhere("function main(v) = sum(v);", &["--help"], |ran| says(ran, &[" V\n  v : [int] or [float]\n"]));
    everywhere("1 + 1;", &["-h"], |ran| says(ran, &["This program takes no arguments."]));
    // An option of that name, and a text, are what they are.
    let bench = Bench::with("a.nesl", "function main(a, help := 3) : (int, int) -> int = a - help;");
    bench.nesl(&["run", "a.nesl", "--", "9", "--help", "2"]).prints("7\n");
    bench.write("a.nesl", "function main(a) : [char] -> [char] = a;");
    bench.nesl(&["run", "a.nesl", "--", "--help"]).prints("\"--help\"\n");
    bench.write("a.nesl", "function main(a, n := 1) : ([char], int) -> [char] = a;");
    bench.nesl(&["run", "a.nesl", "--", "--", "--help"]).prints("\"--help\"\n");
    // What it says first is what this program expects.
    bench.nesl(&["build", "a.nesl", "-o", "a"]).prints("");
    let help = finish(bench.command(&bench.path("a")).arg("--help"), "").out;
    assert!(help.contains("\n\nUsage: a [OPTIONS] A [--n N]\n  a : [char]\n  --n : int [default: 1]\n\n"), "{help}");
}

#[test]
fn output_names_are_names_each_time() {
    let bench = Bench::with("a.nesl", "function main(name) : [char] -> bool = write_string_to_file(\"data\", name);");
    for _ in 0..2 {
        bench.nesl(&["run", "a.nesl", "--", "out.txt"]).prints("");
        assert_eq!(std::fs::read_to_string(bench.path("out.txt")).unwrap(), "data");
        assert!(!bench.path("data").exists());
    }
}

#[test]
fn a_value_in_a_file_is_named_by_its_sign() {
    let bench = Bench::with("a.nesl", "function main(n) : int -> int = n + 1;");
    bench.write("n.txt", "41");
    bench.nesl(&["a.nesl", "@n.txt"]).prints("42\n");
    let meant = "`n.txt` is the name of a file, not a value; @n.txt is what it holds";
    bench.nesl(&["a.nesl", "n.txt"]).fails(2, &[meant]);
}

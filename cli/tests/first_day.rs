//! What somebody stumbled over who tried nesl for a day as a newcomer, with what it says and does now. What other files
//! test, defaults of `main`, mistyped literals, sessions, stripped executables, is there.

mod common;

use common::Bench;

/// Forms on the command line.
fn forms(text: &str) -> common::Ran {
    Bench::new().nesl(&["-e", text])
}

#[test]
fn a_text_stays_the_text_where_a_file_has_its_name() {
    let text = "function main(name) : [char] -> bool = write_string_to_file(\"data\", name);";
    let bench = Bench::with("wname.nesl", text);
    for _ in 0..2 {
        bench.nesl(&["run", "wname.nesl", "--", "zz.txt"]).prints("");
        assert!(!bench.path("data").exists());
        assert_eq!(std::fs::read_to_string(bench.path("zz.txt")).ok().as_deref(), Some("data"));
    }
    // A pipe that is to be written is not read.
    let ran = bench.nesl(&["wname.nesl", "/dev/stdout"]);
    assert!(ran.code == Some(0) && ran.out.contains("data"), "{ran:?}");
}

#[test]
fn building_leaves_the_source() {
    let bench = Bench::with("primes.nesl", "1;");
    bench.nesl(&["build", "primes.nesl", "-o", "primes.nesl"]).fails(1, &["it is the source, which would be lost"]);
    assert_eq!(std::fs::read_to_string(bench.path("primes.nesl")).ok().as_deref(), Some("1;"));
    let ran = bench.nesl(&["build", "primes.nesl", "-o", "nowhere/primes"]);
    ran.fails(1, &["cannot write nowhere/primes: No such file or directory"]);
    assert!(!ran.err.contains("nesl-build"), "{}", ran.err);
}

#[test]
fn the_sign_before_a_power_applies_to_the_power() {
    // exp(-2) by Python's math.
    let ran = forms("let x = 2.0 in exp(-x^2 / 2.0)");
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "0.1353352832366127\n"), "{ran:?}");
    let ran = forms("2 ^ 3 ^ 2");
    assert!(ran.out == "512\n" && ran.err.contains("W0206"), "{ran:?}");
}

#[test]
fn a_filter_prints_what_it_prints_and_nothing_else() {
    let text = "function main(text) : [char] -> () = let _ = {print_line(s) : s in linify(text) | #s > 1} in ();";
    Bench::with("filter.nesl", text).piped(&["filter.nesl", "@-"], "one\n2\nthree\n").prints("one\nthree\n");
}

#[test]
fn one_mistake_is_one_message() {
    let text = "function lu(m) = let f = m[0]; r = m[1] in (f, r);\nfunction g(m) = let (a, b) = lu(m) in \
                {x + y : x in a; y in b};\ng([[1.0], [2.0]]);";
    let ran = Bench::with("lu.nesl", text).nesl(&["lu.nesl"]);
    ran.fails(1, &["`f` cannot be bound: it is the truth value false", "1 error"]);
    assert_eq!(ran.err.matches("Error[").count(), 1, "{}", ran.err);
    let ran = Bench::new().piped(&[], "1 + ; 2;\n3;\n");
    assert!(ran.out.contains("it = 2 : int") && ran.out.contains("it = 3 : int"), "{ran:?}");
}

#[test]
fn numbers_come_from_what_other_programs_write() {
    let bench = Bench::with("sum.nesl", "function main(v) : [float] -> float = sum(v);");
    for (name, text, sum) in [
        ("savetxt.txt", "# x y\n1.5\n2\n", "3.5"),
        ("editor.txt", "\u{feff}1 2", "3.0"),
        ("excel.csv", "\u{feff}price\r\n1.5\r\n2\r\n", "3.5"),
    ] {
        bench.write(name, text);
        bench.nesl(&["sum.nesl", name]).prints(&format!("{sum}\n"));
    }
    bench.write("row.csv", "0.0e+00,1.0\n");
    bench.nesl(&["sum.nesl", "row.csv"]).fails(2, &["row.csv, line 1: 2 fields, where 1 field is wanted"]);
    bench.write("cut.npy", b"\x93NUMPY\x01");
    bench.nesl(&["sum.nesl", "cut.npy"]).fails(2, &["cut.npy: its header is cut off"]);
    bench.write("rows.csv", "id,price\n7,2.5\n8\n");
    bench.write("rows.nesl", "csv_float_named(read_csv_from_file(\"rows.csv\"), \"price\");");
    bench.nesl(&["rows.nesl"]).fails(1, &["row 2 has 1 field, where the heading has 2"]);
}

#[test]
fn a_profile_has_no_lines_of_the_library() {
    let bench = Bench::with("a.nesl", "function main(n) : int -> int = sum({rem(i * i, 7) : i in [0:n]});\n");
    let ran = bench.nesl(&["run", "--profile=5", "a.nesl", "100000"]);
    assert!(ran.code == Some(0) && ran.err.contains("a.nesl:1"), "{ran:?}");
    assert!(!ran.err.contains("stdlib/"), "{}", ran.err);
}

#[test]
fn words_and_habits_of_other_languages_have_answers() {
    for (text, answer) in [
        ("function h(x) = x + \"a\"; h(1)", "`++` joins texts"),
        ("rev([1])", "it is `reverse(v)`"),
        ("[10:0:-1]", "downwards it is reverse([1:11])"),
        ("not any([t])", "not(any([t]))"),
        ("range(3)", "`[a:b]`"),
        ("take([1, 2], 10)", "take_most(v, n)"),
        ("split(\"a b\", \" \")", "`split_string(s, separator)`"),
        ("join([\"a\"], \",\")", "`join_strings(parts, separator)`"),
        ("plot([1, 2])", "plot(index(#[1, 2]), [1, 2])"),
        ("np.sum([1])", "the library needs no prefix"),
        ("groupby([1])", "`collect(zip(v, w))`"),
        ("savetxt([1], \"a\")", "`write_lines_to_file({@x : x in v}, name)`"),
        ("polyfit([1], [1], 1)", "`polynomial_fit(x, y, n)`"),
        ("F = 1", "choose another name"),
    ] {
        let ran = forms(text);
        assert!(ran.code == Some(1) && ran.err.contains(answer), "{text}: {}", ran.err);
    }
}

#[test]
fn words_of_other_languages_find_what_is_meant() {
    for (word, name) in [
        ("groupby", "collect"),
        ("counter", "histogram"),
        ("rolling", "windows"),
        ("convolve", "convolve"),
        ("reshape", "reshape"),
        ("unique", "unique"),
        ("cumulative", "cumsum"),
        ("mean", "mean"),
        ("norm", "norm"),
        ("argmax", "max_index"),
        ("meshgrid", "outer"),
        ("det", "determinant"),
        ("isnan", "/="),
        ("frequency", "histogram"),
        ("string to number", "parse_int"),
    ] {
        let found = Bench::new().nesl(&["apropos", word]).out;
        assert!(found.lines().any(|line| line.split_whitespace().next() == Some(name)), "{word}: {found}");
    }
    // What is called so stands first.
    for name in ["unique", "sort", "find"] {
        let found = Bench::new().nesl(&["apropos", name]).out;
        assert_eq!(found.split_whitespace().next(), Some(name), "{found}");
    }
}

//! Arguments from literals and files: everything that a parameter can be filled with, and everything that is refused.

mod common;

use common::{Bench, Ran, example};

/// An `.npy` file by hand: the header is text, the data little-endian.
fn npy(descr: &str, shape: &str, fortran: bool, data: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}");
    while !(10 + header.len() + 1).is_multiple_of(64) {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.into_bytes());
    bytes.extend(data);
    bytes
}

fn bytes<const N: usize, T>(values: &[T], encode: impl Fn(&T) -> [u8; N]) -> Vec<u8> {
    values.iter().flat_map(encode).collect()
}

/// A program whose main returns its argument of a type.
fn echo(ty: &str) -> (Bench, impl Fn(&Bench, &str) -> Ran) {
    let bench = Bench::with("a.nesl", format!("function main(value) : {ty} -> {ty} = value;"));
    (bench, |bench: &Bench, argument: &str| bench.nesl(&["run", "a.nesl", "--", argument]))
}

#[test]
fn scalars_are_literals() {
    for (ty, argument, printed) in [
        ("int", "-5", "-5"),
        ("int", "-9223372036854775808", "-9223372036854775808"),
        ("float", "2.5", "2.5"),
        ("float", "2", "2.0"),
        ("float", "-1e300", "-1e300"),
        ("bool", "t", "t"),
        ("char", "`a", "`a"),
        ("char", "a", "`a"),
        ("(int, float, [char])", "(1, 2, \"x\")", "(1, 2.0, \"x\")"),
    ] {
        let (bench, run) = echo(ty);
        run(&bench, argument).prints(&format!("{printed}\n"));
    }
    for (ty, argument) in
        [("int", "2.5"), ("int", "x"), ("int", ""), ("bool", "1"), ("char", "ab"), ("(int, int)", "1")]
    {
        let (bench, run) = echo(ty);
        run(&bench, argument).fails(2, &["argument 1", "usage: nesl run a.nesl VALUE", &format!("value : {ty}")]);
    }
}

#[test]
fn sequences_are_literals_or_files() {
    let (bench, run) = echo("[int]");
    run(&bench, "[1, -2, 3]").prints("[1, -2, 3]\n");
    run(&bench, "[]").prints("[]\n");
    bench.write("numbers.txt", "1\n2\n\n -3\t4\r\n5");
    run(&bench, "numbers.txt").prints("[1, 2, -3, 4, 5]\n");
    run(&bench, "@numbers.txt").prints("[1, 2, -3, 4, 5]\n");
    bench.write("empty.txt", "");
    run(&bench, "empty.txt").prints("[]\n");
    bench.write("bad.txt", "1\n2\nthree\n4\n");
    run(&bench, "bad.txt").fails(2, &["bad.txt, line 3", "`three` is not an int", "value : [int]"]);
    bench.write("large.txt", "1\n99999999999999999999\n");
    run(&bench, "large.txt").fails(2, &["line 2", "too large for an int"]);
    bench.write("float.txt", "1\n2.5\n");
    run(&bench, "float.txt").fails(2, &["line 2", "`2.5` is not an int"]);
    run(&bench, "missing.txt").fails(2, &["missing.txt", "No such file"]);
    run(&bench, ".").fails(2, &["folder"]);
    run(&bench, "[1, 2.5]").fails(2, &["float"]);
    bench.write("garbage.bin", [0u8, 255, 7, 10, 200]);
    run(&bench, "garbage.bin").fails(2, &["line 1"]);
}

#[test]
fn text_is_the_text_itself() {
    let (bench, run) = echo("[char]");
    for text in
        ["hello", "", "-", "--", "-x", "--word", "5", "5x", "[3, 1", "(", " \\\"x\\\"", "t", "a@b", ".", "nesl", "%"]
    {
        run(&bench, &text.replace('\\', "")).prints(&format!("\"{text}\"\n"));
    }
    run(&bench, "\"a\\nb\"").prints("\"a\\nb\"\n");
    // Whatever files there are.
    bench.write("word.txt", "from a file\n");
    run(&bench, "word.txt").prints("\"word.txt\"\n");
    run(&bench, "/dev/stdin").prints("\"/dev/stdin\"\n");
    run(&bench, "@word.txt").prints("\"from a file\\n\"\n");
    run(&bench, "\"word.txt\"").prints("\"word.txt\"\n");
    run(&bench, "@none.txt").fails(2, &["none.txt", "No such file"]);
    run(&bench, "@.").fails(2, &["folder"]);
    // Text that begins with an @.
    for (word, text) in [("@@word.txt", "@word.txt"), ("\"@word.txt\"", "@word.txt"), ("@@", "@"), ("@@@", "@@")] {
        run(&bench, word).prints(&format!("\"{text}\"\n"));
    }
    run(&bench, "@").fails(2, &["the name of a file must follow", "`@@`"]);
    // What begins like a string is one.
    run(&bench, "\"abc").fails(2, &["argument 1", "  \"abc\n  ^"]);
    run(&bench, "\"a\" b").fails(2, &["`b` follows the value", "  \"a\" b\n      ^"]);
    let (bench, run) = echo("[int]");
    bench.write("@numbers", "1 2");
    run(&bench, "@@numbers").prints("[1, 2]\n");
    run(&bench, "@./@numbers").prints("[1, 2]\n");
    let (bench, run) = echo("[[char]]");
    bench.write("lines.txt", "one\n\ntwo");
    run(&bench, "lines.txt").prints("[\"one\", \"\", \"two\"]\n");
    run(&bench, "[\"a\", \"\"]").prints("[\"a\", \"\"]\n");
}

#[test]
fn nested_sequences_are_rows_or_literals() {
    let (bench, run) = echo("[[float]]");
    bench.write("rows.txt", "1 2.5\n\n3\n");
    run(&bench, "rows.txt").prints("[[1.0, 2.5], [], [3.0]]\n");
    bench.write("bad.txt", "1 2\n3 x\n");
    run(&bench, "bad.txt").fails(2, &["line 2", "`x` is not a float"]);
    bench.write("m.npy", npy("<f8", "(2, 3)", false, &bytes(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0f64], |x| x.to_le_bytes())));
    run(&bench, "m.npy").prints("[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]\n");
    bench.write("fortran.npy", npy("<f8", "(2, 3)", true, &[0; 48]));
    run(&bench, "fortran.npy").fails(2, &["Fortran"]);
    let (bench, run) = echo("[(int, [float])]");
    run(&bench, "[(1, [2.0]), (3, [])]").prints("[(1, [2.0]), (3, [])]\n");
    run(&bench, "rows.txt").fails(2, &["argument 1"]);
    run(&bench, "@rows.txt").fails(2, &["must be a literal"]);
}

#[test]
fn arrays_are_widened_but_never_converted() {
    let (bench, run) = echo("[int]");
    for (descr, data) in [
        ("<i8", bytes(&[1i64, -2], |x| x.to_le_bytes())),
        (">i8", bytes(&[1i64, -2], |x| x.to_be_bytes())),
        ("<i4", bytes(&[1i32, -2], |x| x.to_le_bytes())),
        ("|i1", bytes(&[1i8, -2], |x| x.to_le_bytes())),
    ] {
        bench.write("a.npy", npy(descr, "(2,)", false, &data));
        run(&bench, "a.npy").prints("[1, -2]\n");
    }
    bench.write("u.npy", npy("|u1", "(3,)", false, &[0, 7, 255]));
    run(&bench, "u.npy").prints("[0, 7, 255]\n");
    bench.write("f.npy", npy("<f8", "(1,)", false, &1.5f64.to_le_bytes()));
    run(&bench, "f.npy").fails(2, &["f.npy", "float64", "int"]);
    bench.write("u8.npy", npy("<u8", "(1,)", false, &[0; 8]));
    run(&bench, "u8.npy").fails(2, &["uint64"]);
    bench.write("c.npy", npy("<c16", "(1,)", false, &[0; 16]));
    run(&bench, "c.npy").fails(2, &["c.npy"]);
    bench.write("two.npy", npy("<i8", "(1, 1)", false, &[0; 8]));
    run(&bench, "two.npy").fails(2, &["2 dimensions", "[int]"]);
    bench.write("cut.npy", npy("<i8", "(3,)", false, &[0; 16]));
    run(&bench, "cut.npy").fails(2, &["cut off"]);
    bench.write("huge.npy", npy("<i8", "(4611686018427387904,)", false, &[]));
    run(&bench, "huge.npy").fails(2, &["cut off"]);
    bench.write("fake.npy", "not an array");
    run(&bench, "fake.npy").fails(2, &["fake.npy", "not in the format"]);
    bench.write("damaged.npy", b"\x93NUMPY\x01\x00\xff\xff{'descr'");
    run(&bench, "damaged.npy").fails(2, &["damaged.npy"]);
    let (bench, run) = echo("[float]");
    bench.write("f4.npy", npy("<f4", "(2,)", false, &bytes(&[1.5f32, -0.25], |x| x.to_le_bytes())));
    run(&bench, "f4.npy").prints("[1.5, -0.25]\n");
    let (bench, run) = echo("[bool]");
    bench.write("b.npy", npy("|b1", "(2,)", false, &[1, 0]));
    run(&bench, "b.npy").prints("[t, f]\n");
    bench.write("b.txt", "t f\nt");
    run(&bench, "b.txt").prints("[t, f, t]\n");
}

#[test]
fn one_program_takes_ints_floats_and_text() {
    let bench = Bench::new();
    let run = |argument: &str| bench.nesl(&["run", &example("quicksort/quicksort.nesl"), "--", argument]);
    bench.write("ints.txt", "3 1 2");
    bench.write("floats.txt", "3 1 2.5");
    run("ints.txt").prints("[1, 2, 3]\n");
    run("floats.txt").prints("[1.0, 2.5, 3.0]\n");
    run("[2.5, 1]").prints("[1.0, 2.5]\n");
    run("\"hello\"").prints("\"ehllo\"\n");
    bench.write("f.npy", npy("<f8", "(2,)", false, &bytes(&[2.0f64, 1.0], |x| x.to_le_bytes())));
    run("f.npy").prints("[1.0, 2.0]\n");
    // What is no literal is an error where it is wrong, and no text.
    run("[3, 1, x]").fails(2, &["`x` is not a value", "  [3, 1, x]\n         ^\n", "[int] or [float] or [char])"]);
    run("[3, 1, 2").fails(2, &["the bracket is not closed", "  [3, 1, 2\n          ^\n"]);
    run("\"abc").fails(2, &["argument 1", "  \"abc\n  ^"]);
    run("[`b, `a]").prints("\"ab\"\n");
    run("hello").fails(2, &["hello", "No such file", "in quotes"]);
    // A misspelt name, or a wrong number, is an error and not a text.
    run("numbres.txt").fails(2, &["numbres.txt", "numbers : [int] or [float] or [char]"]);
    bench.write("bad.txt", "3\n2.5\noops\n");
    run("bad.txt").fails(2, &["line 3", "`oops` is not a float"]);
}

#[test]
fn a_million_numbers_are_sorted() {
    let bench = Bench::with("a.nesl", "function main(v) = (#v, v[0], v[999999], sum(v));");
    let numbers: Vec<i64> = (0..1_000_000).map(|i| i * 611_953 % 1_000_000).collect();
    bench.write("numbers.txt", numbers.iter().map(|number| format!("{number}\n")).collect::<String>());
    bench.write("numbers.npy", npy("<i8", "(1000000,)", false, &bytes(&numbers, |x| x.to_le_bytes())));
    for file in ["numbers.txt", "numbers.npy"] {
        bench.nesl(&["run", "a.nesl", "--", file]).prints("(1000000, 0, 388047, 499999500000)\n");
        let sorted = bench.nesl(&["run", &example("quicksort/quicksort.nesl"), "--", file]);
        assert!(sorted.out.starts_with("[0, 1, 2, 3, ") && sorted.out.ends_with(", 999998, 999999]\n"));
        assert_eq!(sorted.out.matches(',').count(), 999_999);
    }
}

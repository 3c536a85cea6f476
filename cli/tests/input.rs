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
    let ran = run(&bench, "word.txt");
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "\"word.txt\"\n"));
    assert!(ran.err.starts_with("warning: ") && ran.err.contains("which is @word.txt"), "{}", ran.err);
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
    bench.write("fortran.npy", npy("<i2", "(2, 3)", true, &bytes(&[1i16, 4, 2, 5, 3, 6], |x| x.to_le_bytes())));
    run(&bench, "fortran.npy").prints("[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]\n");
    let (bench, run) = echo("[(int, [float])]");
    run(&bench, "[(1, [2.0]), (3, [])]").prints("[(1, [2.0]), (3, [])]\n");
    run(&bench, "rows.txt").fails(2, &["argument 1"]);
    bench.write("rows.txt", "1 2.5\n");
    run(&bench, "@rows.txt").fails(2, &["rows.txt", "`2.5` follows the value"]);
}

#[test]
fn files_and_standard_input_may_hold_literals() {
    for (ty, text, printed) in [
        ("[int]", "[1, -2, 3]\n", "[1, -2, 3]"),
        ("[int]", "1 -2\n3", "[1, -2, 3]"),
        ("[[float]]", " [[1, 2.5], []]", "[[1.0, 2.5], []]"),
        ("[(int, [float])]", "[(1, [2.0]), (3, [])]", "[(1, [2.0]), (3, [])]"),
        ("[(int, float)]", "[(1, 2.5)]", "[(1, 2.5)]"),
        ("(int, [char])", "(7, \"x\")", "(7, \"x\")"),
        ("int", "42\n", "42"),
        ("float", "1.5", "1.5"),
        ("bool", "t", "t"),
        ("[[[int]]]", "[[[1], []], [], [[2,\n3]]]", "[[[1], []], [], [[2, 3]]]"),
    ] {
        let (bench, run) = echo(ty);
        bench.write("data", text);
        bench.piped(&["run", "a.nesl", "-"], text).prints(&format!("{printed}\n"));
        run(&bench, "@data").prints(&format!("{printed}\n"));
    }
    let (bench, run) = echo("[int]");
    bench.piped(&["a.nesl", "-"], "[1, x]").fails(2, &["argument 1 (value : [int])", "  [1, x]\n      ^"]);
    bench.piped(&["a.nesl", "-"], "[1, 2.5]").fails(2, &["argument 1", "float"]);
    run(&bench, "@none").fails(2, &["none", "No such file"]);
    // Text is what it is, and one character, too.
    let (bench, _) = echo("[[char]]");
    bench.piped(&["a.nesl", "-"], "[1]\n").prints("[\"[1]\"]\n");
    let (bench, run) = echo("char");
    run(&bench, "-").prints("`-\n");
    let (bench, run) = echo("(int, int)");
    run(&bench, "@none").fails(2, &["none", "No such file"]);
    bench.write("a.txt", "1, 2");
    run(&bench, "@a.txt").fails(2, &["a.txt", "follows the value"]);
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
    bench.write("u8.npy", npy("<u8", "(1,)", false, &u64::MAX.to_le_bytes()));
    run(&bench, "u8.npy").fails(2, &["18446744073709551615", "int without loss"]);
    bench.write("u8.npy", npy("<u8", "(1,)", false, &(u64::MAX >> 1).to_le_bytes()));
    run(&bench, "u8.npy").prints("[9223372036854775807]\n");
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
    // 16 bits: one, the least, the largest, and what is no number.
    bench.write(
        "f2.npy",
        npy("<f2", "(5,)", false, &bytes(&[0x3c00u16, 0x8001, 0x7bff, 0xfc00, 0x7e00], |x| x.to_le_bytes())),
    );
    run(&bench, "f2.npy").prints("[1.0, -5.960464477539063e-8, 65504.0, -inf, nan]\n");
    bench.write("i8.npy", npy(">i8", "(1,)", false, &((1i64 << 53) + 1).to_be_bytes()));
    run(&bench, "i8.npy").fails(2, &["9007199254740993", "float without loss"]);
    bench.write("b.npy", npy("|b1", "(2,)", false, &[1, 0]));
    run(&bench, "b.npy").prints("[1.0, 0.0]\n");
    let (bench, run) = echo("[bool]");
    bench.write("b.npy", npy("|b1", "(2,)", false, &[1, 0]));
    run(&bench, "b.npy").prints("[t, f]\n");
    bench.write("b.txt", "t f\nt");
    run(&bench, "b.txt").prints("[t, f, t]\n");
}

#[test]
fn arrays_have_any_number_of_dimensions_in_either_order() {
    let (bench, run) = echo("[[[int]]]");
    for (is_fortran, data) in [(false, [1u8, 2, 3, 4, 5, 6, 7, 8]), (true, [1, 5, 3, 7, 2, 6, 4, 8])] {
        bench.write("cube.npy", npy("|u1", "(2, 2, 2)", is_fortran, &data));
        run(&bench, "cube.npy").prints("[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]\n");
    }
    bench.write("empty.npy", npy("<i8", "(2, 0, 3)", true, &[]));
    run(&bench, "empty.npy").prints("[[], []]\n");
    bench.write("text.txt", "1 2\n");
    run(&bench, "text.txt").fails(2, &["text.txt: a text has rows, and no deeper levels"]);
    let (bench, run) = echo("float");
    bench.write("point.npy", npy("<f8", "()", false, &2.5f64.to_le_bytes()));
    run(&bench, "@point.npy").prints("2.5\n");
    bench.write("number.txt", "2.5\n");
    run(&bench, "@number.txt").prints("2.5\n");
    bench.write("numbers.txt", "2.5 3\n");
    run(&bench, "@numbers.txt").fails(2, &["there are 2 values in it, not one"]);
    let text = r#"read_cube_from_file([] float, "cube.npy"); read_array_from_file([] int, "cube.npy");
read_array_from_file([] int, "b.csv");"#;
    let bench = Bench::with("a.nesl", text);
    bench.write("cube.npy", npy("|i1", "(1, 2, 2)", true, &[1, 3, 2, 4]));
    bench.write("b.csv", "1,2\n");
    let ran = bench.nesl(&["run", "a.nesl"]);
    assert_eq!(ran.out, "[[[1.0, 2.0], [3.0, 4.0]]]\n([1, 2, 2], [1, 2, 3, 4])\n");
    assert!(ran.err.contains("b.csv: this is no array"), "{}", ran.err);
}

#[test]
fn tables_are_rows_tuples_or_columns_by_name() {
    let table = "region,units,price\r\nnorth,3,1.5\r\n\"south, east\",4,2\r\n";
    let (bench, run) = echo("[([char], int, float)]");
    bench.write("sales.csv", table);
    run(&bench, "sales.csv").prints("[(\"north\", 3, 1.5), (\"south, east\", 4, 2.0)]\n");
    run(&bench, "[(\"a\", 1, 2)]").prints("[(\"a\", 1, 2.0)]\n");
    bench.write("bad.csv", "region,units,price\nnorth,3,1.5\nsouth,x,2\n");
    run(&bench, "bad.csv").fails(2, &["bad.csv, line 3, column 2 (units): `x` is not an int"]);
    let (bench, run) = echo("[[float]]");
    bench.write("rows.csv", "\u{feff}a;b\n1;2\n3;4\n");
    run(&bench, "rows.csv").prints("[[1.0, 2.0], [3.0, 4.0]]\n");
    bench.write("ragged.csv", "1,2\n3\n");
    run(&bench, "ragged.csv").fails(2, &["ragged.csv, line 2: 1 field, where line 1 has 2 fields"]);
    bench.write("words.csv", "1 2\n3\n");
    run(&bench, "words.csv").prints("[[1.0, 2.0], [3.0]]\n");
    let text = r#"rows = read_csv_from_file("sales.csv");
zip(csv_named(rows, "region"), zip(csv_int_named(rows, "units"), csv_float_named(rows, "price")));
read_delimited_from_file("rows.tsv", tab); csv_float_named(rows, "region");"#;
    let bench = Bench::with("a.nesl", text);
    bench.write("sales.csv", table);
    bench.write("rows.tsv", "a\tb\n\n\"1\t\"\t2\n");
    let ran = bench.nesl(&["run", "a.nesl"]);
    assert_eq!(ran.out, "[(\"north\", 3, 1.5), (\"south, east\", 4, 2.0)]\n[[\"a\", \"b\"], [\"1\\t\", \"2\"]]\n");
    assert!(ran.err.contains("row 1, column \"region\": \"north\" is not a float"), "{}", ran.err);
}

#[test]
fn rows_of_arrays_are_tuples_of_as_many_parts() {
    let (bench, run) = echo("[(float, int)]");
    for (is_fortran, data) in [(false, [1i16, 4, 2, 5, 3, 6]), (true, [1, 2, 3, 4, 5, 6])] {
        bench.write("points.npy", npy("<i2", "(3, 2)", is_fortran, &bytes(&data, |x| x.to_le_bytes())));
        run(&bench, "points.npy").prints("[(1.0, 4), (2.0, 5), (3.0, 6)]\n");
    }
    bench.write("none.npy", npy("<i8", "(0, 2)", false, &[]));
    run(&bench, "none.npy").prints("[]\n");
    // Only what becomes a float must be one.
    let large = [1, (1i64 << 53) + 1];
    bench.write("large.npy", npy("<i8", "(1, 2)", false, &bytes(&large, |x| x.to_le_bytes())));
    run(&bench, "large.npy").prints("[(1.0, 9007199254740993)]\n");
    bench.write("large.npy", npy("<i8", "(1, 2)", false, &bytes(&[large[1], 1], |x| x.to_le_bytes())));
    run(&bench, "large.npy").fails(2, &["9007199254740993 does not become float without loss"]);
    bench.write("wide.npy", npy("<i2", "(1, 3)", false, &[0; 6]));
    run(&bench, "wide.npy").fails(2, &["wide.npy: its rows have 3 elements, and the tuples 2 parts"]);
    bench.write("flat.npy", npy("<i2", "(2,)", false, &[0; 4]));
    run(&bench, "flat.npy").fails(2, &["an array of 1 dimension does not become a sequence of tuples of 2"]);
    bench.write("f.npy", npy("<f8", "(1, 2)", false, &[0; 16]));
    run(&bench, "f.npy").fails(2, &["float64", "do not become int without loss"]);
    bench.write("fake.npy", "1,2\n");
    run(&bench, "fake.npy").fails(2, &["fake.npy", "not in the format"]);
    let (bench, run) = echo("[(float, [char])]");
    bench.write("f.npy", npy("<f8", "(1, 2)", false, &[0; 16]));
    run(&bench, "f.npy").fails(2, &["does not become tuples with texts"]);
    // Records, and more rows than are read at once.
    let bench = Bench::with(
        "a.nesl",
        "datatype point(float, int); function main(v) : [point] -> (int, float, int) =
           (#v, sum({let point(x, _) = p in x : p in v}), sum({let point(_, n) = p in n : p in v}));",
    );
    let numbers: Vec<i64> = (0..600_000).collect();
    bench.write("many.npy", npy("<i8", "(300000, 2)", false, &bytes(&numbers, |x| x.to_le_bytes())));
    // 2 * (0 + … + 299999), and 300000 more.
    bench.nesl(&["run", "a.nesl", "many.npy"]).prints("(300000, 89999700000.0, 90000000000)\n");
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

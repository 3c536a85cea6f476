//! What programs do outside: real files, pipes, processes, full disks, on the engines and on ranks.

mod common;

use common::{Bench, finish};
use std::path::Path;
use std::process::{Command, Stdio};

const ENGINES: [&str; 3] = ["oracle", "reference", "threads"];

/// Runs `a.nesl` on each engine, each time in a folder of its own with these files, and looks at it.
fn on_engines(text: &str, files: &[(&str, &[u8])], check: impl Fn(&Bench, common::Ran)) {
    for engine in ENGINES {
        let bench = Bench::with("a.nesl", text);
        for (name, content) in files {
            bench.write(name, content);
        }
        let ran = bench.nesl(&["run", "--engine", engine, "a.nesl"]);
        check(&bench, ran);
    }
}

#[test]
fn files_are_written_read_and_appended() {
    let text = r#"
write_string_to_file("one\ntwo\n", "x.txt");
append_string_to_file("three", "x.txt");
read_string_from_file("x.txt");
read_lines_from_file("x.txt");
read_words_from_file("x.txt");
write_lines_to_file(reverse(read_lines_from_file("x.txt")), "y.txt");
grep("t", "y.txt");
read_int_seq_from_file("ints.txt");
read_float_seq_from_file("floats.txt");
read_matrix_from_file([] int, "rows.txt");
"#;
    let files: [(&str, &[u8]); 3] =
        [("ints.txt", b"( 1 2\n-3 )"), ("floats.txt", b"(1 2.5)"), ("rows.txt", b"1 2\n\n3\n")];
    on_engines(text, &files, |bench, ran| {
        ran.prints(concat!(
            "\"one\\ntwo\\nthree\"\n[\"one\", \"two\", \"three\"]\n[\"one\", \"two\", \"three\"]\n",
            "[\"three\", \"two\"]\n[1, 2, -3]\n[1.0, 2.5]\n[[1, 2], [], [3]]\n"
        ));
        assert_eq!(std::fs::read(bench.path("y.txt")).unwrap(), b"three\ntwo\none\n");
    });
}

#[test]
fn arrays_go_to_npy_files_as_numpy_has_them() {
    let text = r#"
write_vector_to_npy([1, -2, max_int], "ints.npy");
write_vector_to_npy([t, f], "bools.npy");
write_matrix_to_npy([[1.5, 2.5, 3.5], [4.5, 5.5, 6.5]], "matrix.npy");
write_vector_to_npy([] float, "none.npy");
read_vector_from_file([] int, "ints.npy");
read_vector_from_file([] bool, "bools.npy");
read_matrix_from_file([] float, "matrix.npy");
read_vector_from_file([] float, "none.npy");
write_matrix_to_npy([[1], [2, 3]], "ragged.npy");
"#;
    on_engines(text, &[], |bench, ran| {
        ran.fails(1, &["E0406", "a.nesl:10:1"]);
        assert_eq!(ran.out, "[1, -2, 9223372036854775807]\n[t, f]\n[[1.5, 2.5, 3.5], [4.5, 5.5, 6.5]]\n[]\n");
        let bytes = std::fs::read(bench.path("ints.npy")).unwrap();
        // The layout is NumPy's own: its format description, version 1.0.
        assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
        let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        assert_eq!((10 + length) % 64, 0);
        let header = std::str::from_utf8(&bytes[10..10 + length]).unwrap();
        assert!(header.starts_with("{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }"), "{header}");
        assert!(header.ends_with(" \n"));
        let elements: Vec<u8> = [1i64, -2, i64::MAX].into_iter().flat_map(i64::to_le_bytes).collect();
        assert_eq!(&bytes[10 + length..], elements);
        let matrix = std::fs::read(bench.path("matrix.npy")).unwrap();
        assert!(
            String::from_utf8_lossy(&matrix).contains("'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }")
        );
        assert_eq!(std::fs::read(bench.path("bools.npy")).unwrap()[128..], [1, 0]);
    });
}

#[test]
fn columns_of_comma_separated_values_become_tuples() {
    let table = "name,age,height\r\n\"Smith, J\",41,1.75\nWu,7,1.2\n\"say \"\"hi\"\"\",-3,1e3\n";
    let text = r#"
rows = drop(read_csv_from_file("table.csv"), 1);
zip3(csv_column(rows, 0), csv_int_column(rows, 1), csv_float_column(rows, 2));
write_csv_to_file({[name, @age] : name in csv_column(rows, 0); age in csv_int_column(rows, 1)}, "out.csv");
read_csv_from_file("out.csv") == {[row[0], row[1]] : row in rows};
csv_int_column(rows, 2);
"#;
    on_engines(text, &[("table.csv", table.as_bytes())], |bench, ran| {
        ran.fails(1, &["E0423", "field 2 of row 0 is not an int: 1.75"]);
        assert_eq!(ran.out, "[(\"Smith, J\", 41, 1.75), (\"Wu\", 7, 1.2), (\"say \\\"hi\\\"\", -3, 1000.0)]\nt\n");
        let written = std::fs::read_to_string(bench.path("out.csv")).unwrap();
        assert_eq!(written, "\"Smith, J\",41\nWu,7\n\"say \"\"hi\"\"\",-3\n");
    });
}

#[test]
fn lengths_in_an_object_that_add_up_to_too_much_do_not_fit() {
    // 2^63 - 1 twice and 5 are 3 in a word of 64 bits, as are 2^62 four times and 3.
    let max = i64::MAX;
    let wrapping = format!("[ 3 ]\n[ {max} {max} 5 ]\n( 1 2 3 )\n");
    let quarters = format!("[ 5 ]\n[ {0} {0} {0} {0} 3 ]\n( 1 2 3 )\n", 1i64 << 62);
    let files: [(&str, &[u8]); 2] = [("wrapping", wrapping.as_bytes()), ("quarters", quarters.as_bytes())];
    let text = r#"
let (v, ok, message) = read_object([[7]], open_check(open_in_file("wrapping"))) in (v, ok, #message > 0);
let (v, ok, message) = read_object([[7]], open_check(open_in_file("quarters"))) in (v, ok, #message > 0);
"#;
    on_engines(text, &files, |_, ran| {
        assert_eq!(ran.out, "([[7]], f, t)\n([[7]], f, t)\n", "{}", ran.err);
    });
}

#[test]
fn objects_of_any_type_go_through_files() {
    let text = r#"
datatype point(float, float);
v = [(1, "ab", t), (2, "c", f)];
write_object_to_file(v, "v.obj");
read_object_from_file(take(v, 0), "v.obj") == v;
w = (point(0.1, -0.0), [[1, 2], [], [3]], `x, [point(1.5, 2.5)], "a (b) \n]");
write_object_to_file(w, "w.obj");
read_object_from_file(w, "w.obj") == w;
@(read_object_from_file(w, "w.obj")) == @w;
let s = open_check(open_out_file("two.obj"));
    _ = write_check(write_object(drop([[1], [2, 3], [4, 5, 6]], 1), s));
    _ = write_check(write_object(5, s));
    _ = write_check(write_object([1.5, 2.0], s));
    _ = close_check(close_file(s));
    s = open_check(open_in_file("two.obj"));
    (a, _, _) = read_object([[0]], s);
    (b, _, _) = read_object(0, s);
    (c, _, _) = read_float_seq(s)
in (a, b, c);
let s = open_check(open_in_file("by hand")); (v, ok, message) = read_int_seq(s) in (v, ok, message);
let (v, ok, message) = read_object([7], open_check(open_in_file("short"))) in (v, ok, message);
rest(write_object(x => x, stdout));
read_object_from_file(0, "v.obj");
"#;
    let files: [(&str, &[u8]); 2] = [("by hand", b"\n( 1 2\n -3 )"), ("short", b"[ 3 ]\n( 1 2 )\n")];
    on_engines(text, &files, |bench, ran| {
        ran.fails(1, &["E0423", "this is not an object of the type wanted"]);
        let expected = [
            "t",
            "t",
            "t",
            "([[2, 3], [4, 5, 6]], 5, [1.5, 2.0])",
            "([1, 2, -3], t, \"\")",
            "([7], f, \"this is not an object of the type wanted: its lengths do not fit\")",
            "\"no file can hold functions\"",
        ];
        assert_eq!(ran.out.lines().collect::<Vec<_>>(), expected, "{}", ran.err);
        // The example of the original's reference.
        let written = std::fs::read_to_string(bench.path("v.obj")).unwrap();
        assert_eq!(written, "[ 2 ]\n( 1 2 )\n[ 2 1 ]\n( 3 )\nabc( T F )\n");
    });
}

#[test]
fn streams_are_read_and_written_in_order() {
    let text = r#"
function lines(s) = let ((line, ended), _, _) = read_line(s) in if ended then [line] else [line] ++ lines(s);
first(read_string(":", -1, open_check(open_in_file("x.txt"))));
let s = open_check(open_in_file("x.txt"));
    (c, _, _) = read_char(s);
    ((word, delimiter, _), _, _) = read_word(s);
    rest = lines(s);
    _ = close_check(close_file(s));
    (_, ok, message) = read_char(s)
in (c, word, delimiter, rest, ok, #message > 0);
let s = open_check(open_out_file("y.txt"));
    written = {* write_check(write_string(@i ++ " ", s)) : i in [0:5]};
    _ = close_check(close_file(s));
    s = open_check(open_append_file("y.txt"));
    _ = write_check(write_char(`!, s));
    _ = close_check(close_file(s))
in (all(written), read_string_from_file("y.txt"));
let (_, ok, message) = open_in_file("missing.txt") in (ok, search_for_subseqs("missing.txt", message) /= []);
write_check(write_string("to stdout\n", stdout));
write_check(write_string("to stderr\n", stderr));
"#;
    on_engines(text, &[("x.txt", b"a bc:d\nsecond\n\nlast")], |_, ran| {
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(
            ran.out,
            "(\"a bc\", 58)\n(`a, \"\", ` , [\"bc:d\", \"second\", \"\", \"last\"], f, t)\n(t, \"0 1 2 3 4 !\")\n(f, t)\n\
             to stdout\nt\nt\n"
        );
        assert!(ran.err.ends_with("to stderr\n"), "{}", ran.err);
    });
}

#[test]
fn results_stand_on_lines_of_their_own() {
    let text = "let _ = print_string(\"half\") in 1;\nx = print_string(\"a\");\ny = print_string(\"b\\n\");\nx;\n";
    on_engines(text, &[], |_, ran| ran.prints("half\n1\nab\nt\n"));
}

/// A socket keeps apart what is written apart: copies of a program that share an output share no line.
#[cfg(unix)]
#[test]
fn a_line_is_written_whole() {
    use std::os::unix::net::UnixDatagram;
    let bench = Bench::with("a.nesl", "sum([0:100]);\n(3, \"four\");\n");
    let (output, ours) = UnixDatagram::pair().expect("a pair of sockets");
    let status = bench
        .command(Path::new(env!("CARGO_BIN_EXE_nesl")))
        .args(["run", "a.nesl"])
        .stdout(Stdio::from(std::os::fd::OwnedFd::from(output)))
        .status()
        .expect("the command runs");
    assert!(status.success());
    ours.set_nonblocking(true).expect("a socket that does not wait");
    let mut buffer = [0; 64];
    for line in ["4950\n", "(3, \"four\")\n"] {
        let length = ours.recv(&mut buffer).expect("a line");
        assert_eq!(std::str::from_utf8(&buffer[..length]), Ok(line));
    }
}

#[test]
fn standard_input_is_the_program_s() {
    let bench = Bench::with(
        "a.nesl",
        "let name = prompt(\"who? \") in \"hello \" ++ name;\nread_line(stdin);\nread_line(stdin);",
    );
    for engine in ENGINES {
        let ran = bench.piped(&["run", "--engine", engine, "a.nesl"], "\nworld\nmore");
        ran.prints("who? who? \n\"hello world\"\n((\"more\", t), t, \"\")\n((\"\", t), t, \"\")\n");
    }
}

#[test]
fn commands_run_and_their_failures_are_errors() {
    let text = r#"
shell_command("tr a-z A-Z", "dog");
get_environment_variable("NESL_TEST_VARIABLE");
let ((to, from, _), _, _) = spawn("cat", nullstr, nullstr, stderr);
    _ = write_check(write_string("there and back\n", to));
    ((line, _), _, _) = read_line(from);
    _ = close_check(close_file(to))
in line;
let (streams, ok, message) = spawn("no-such-command-here", nullstr, nullstr, nullstr) in (ok, #message > 0);
shell_command("false", "");
"#;
    let bench = Bench::with("a.nesl", text);
    for engine in ENGINES {
        let nesl = Path::new(env!("CARGO_BIN_EXE_nesl"));
        let mut command = bench.command(nesl);
        let ran = finish(command.args(["run", "--engine", engine, "a.nesl"]).env("NESL_TEST_VARIABLE", "set"), "");
        ran.fails(1, &["E0423", "`false` ended with"]);
        assert_eq!(ran.out, "\"DOG\"\n\"set\"\n\"there and back\"\n(f, t)\n");
    }
}

#[test]
fn what_cannot_be_written_is_an_error_and_a_closed_pipe_is_not() {
    let bench = Bench::with("a.nesl", "all({print_line(@i) : i in [0:100000]});\n");
    for engine in ENGINES {
        let nesl = Path::new(env!("CARGO_BIN_EXE_nesl"));
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = bench.command(nesl).args(["run", "--engine", engine, "a.nesl"]).stdout(full).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.contains("E0424") && message.contains("No space left"), "{message}");

        let mut child = bench
            .command(nesl)
            .args(["run", "--engine", engine, "a.nesl"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    }
    let bench = Bench::with("a.nesl", "write_string_to_file(dist(`x, 100000), \"/dev/full\");");
    bench.nesl(&["run", "a.nesl"]).fails(1, &["E0423", "No space left", "/dev/full"]);
    bench.write("b.nesl", "write_string_to_file(\"x\", \"no/such/folder/x\");");
    bench.nesl(&["run", "b.nesl"]).fails(1, &["E0423", "cannot open no/such/folder/x"]);
    bench.write("c.nesl", "read_vector_from_file([] int, \"c.nesl\");");
    bench.nesl(&["run", "c.nesl"]).fails(1, &["E0423", "c.nesl"]);
}

#[test]
fn built_programs_print_and_read_files_where_they_run() {
    let bench = Bench::with(
        "a.nesl",
        "function main(name) = let _ = print_line(\"reading\") in read_lines_from_file(name ++ \".txt\");",
    );
    bench.nesl(&["build", "a.nesl", "-o", "reader"]).prints("");
    std::fs::create_dir(bench.path("elsewhere")).unwrap();
    std::fs::write(bench.path("elsewhere/in.txt"), "one\ntwo\n").unwrap();
    let mut command = Command::new(bench.path("reader"));
    finish(command.arg("in").current_dir(bench.path("elsewhere")), "").prints("reading\n[\"one\", \"two\"]\n");
}

#[test]
fn a_session_prints_and_goes_on_after_an_error() {
    let bench = Bench::new();
    let ran = bench.piped(
        &["repl"],
        "print_line(\"hello\");\nprint_string(\"half\");\nerror(\"stop\");\n1 + 1;\ntime(3) == (3, 0.0) or t;\n",
    );
    // What they did was all that was wanted of them.
    assert!(ran.out.starts_with("hello\nhalf\n"), "{}", ran.out);
    assert!(ran.err.contains("E0423") && ran.err.contains("stop"), "{}", ran.err);
    assert!(ran.out.contains("it = 2 : int\n"), "{}", ran.out);
}

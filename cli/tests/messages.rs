//! Messages as data (`--message-format json`), the pages of their codes (`nesl explain`), and files that are no
//! programs.

mod common;

use common::{Bench, Ran};
use serde_json::Value;

/// The objects on standard error, a line each.
fn objects(ran: &Ran) -> Vec<Value> {
    ran.err.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

const JSON: [&str; 2] = ["--message-format", "json"];

#[test]
fn compile_errors_are_objects_with_places() {
    let bench = Bench::with("a.nesl", "x = 1;\nß = x + t;\nlenght([1]);\n");
    for command in ["run", "check"] {
        let ran = bench.nesl(&[&[command, "a.nesl"], &JSON[..]].concat());
        assert_eq!(ran.code, Some(1));
        let found = objects(&ran);
        let codes: Vec<&Value> = found.iter().map(|object| &object["code"]).collect();
        assert_eq!(codes, ["E0202", "E0201"], "{ran:#?}");
        let unknown = &found[1];
        assert_eq!(unknown["severity"], "error");
        assert_eq!(unknown["message"], "unknown function `lenght`");
        assert_eq!(unknown["hint"], "did you mean `length`?");
        let label = &unknown["labels"][0];
        assert_eq!(label["file"], "a.nesl");
        assert_eq!((&label["start"]["line"], &label["start"]["column"]), (&Value::from(3), &Value::from(1)));
        assert_eq!((&label["end"]["line"], &label["end"]["column"]), (&Value::from(3), &Value::from(7)));
        // Columns are characters, and both places of a mismatch are there.
        let labels = found[0]["labels"].as_array().unwrap();
        assert!(labels.len() >= 2 && labels.iter().all(|label| label["start"]["line"] == 2), "{labels:?}");
        let columns: Vec<&Value> = labels.iter().map(|label| &label["start"]["column"]).collect();
        assert!(columns.contains(&&Value::from(5)) && columns.contains(&&Value::from(9)), "{labels:?}");
    }
    let out = bench.path("out").display().to_string();
    let ran = bench.nesl(&[&["build", "a.nesl", "-o", &out], &JSON[..]].concat());
    assert_eq!((ran.code, objects(&ran).len()), (Some(1), 2));
}

#[test]
fn what_is_wrong_with_a_command_line_is_an_object() {
    let bench = Bench::with("a.nesl", "function main(v) : [int] -> int = sum(v);");
    bench.write("text.nesl", "function main(s) : [char] -> int = #s;");
    bench.write("notes.txt", "12345");
    let run = |arguments: &[&str]| bench.nesl(&[&["run"], &JSON[..], arguments].concat());
    for (arguments, code, message) in [
        (&["a.nesl", "--", "a", "b"][..], 2, "main takes one argument, not 2"),
        (&["a.nesl", "no.txt"], 2, "argument 1 (v : [int]): cannot read no.txt"),
        (&["a.nesl", "[1]", "--stats"], 2, "main takes one argument, not 2: --stats is an option of nesl itself"),
        (&["--bogus", "a.nesl"], 2, "unexpected argument '--bogus' found"),
        (&["missing.nesl"], 1, "cannot read missing.nesl"),
    ] {
        let ran = run(arguments);
        let found = objects(&ran);
        assert_eq!((ran.code, found.len()), (Some(code), 1), "{arguments:?}: {ran:#?}");
        assert!(
            found[0]["message"].as_str().is_some_and(|found| found.starts_with(message)),
            "{arguments:?}: {ran:#?}"
        );
    }
    assert!(run(&["--stats", "a.nesl", "[1]"]).err.contains("\"rank\":0"));
    assert_eq!(objects(&run(&["--stats", "a.nesl", "[1]"])).len(), 1);
    let built = bench.path("built");
    bench.nesl(&["build", "a.nesl", "-o", &built.display().to_string()]);
    let ran = common::finish(bench.command(&built).args([&JSON[..], &["a", "b"]].concat()), "");
    assert_eq!((ran.code, objects(&ran)[0]["hint"].as_str().is_some()), (Some(2), true), "{ran:#?}");
    // Texts that are names of files.
    let ran = run(&["text.nesl", "notes.txt"]);
    assert_eq!((ran.code, ran.out.as_str(), &objects(&ran)[0]["severity"]), (Some(0), "9\n", &Value::from("warning")));
    for word in ["@notes.txt", "\"notes.txt\"", "other.txt"] {
        assert_eq!(bench.nesl(&["run", "text.nesl", word]).err, "", "{word}");
    }
    let ran = bench.nesl(&["run", "text.nesl", "@no.txt"]);
    assert!(ran.code == Some(2) && !ran.err.contains("in quotes"), "{ran:#?}");
}

#[test]
fn long_names_are_cut() {
    let bench = Bench::with("a.nesl", "function main(v) : [int] -> int = sum(v);");
    let ran = bench.nesl(&["run", "a.nesl", &"n".repeat(4000)]);
    assert!(ran.code == Some(2) && ran.err.len() < 1000 && ran.err.contains("nnn…nnn"), "{ran:#?}");
}

#[test]
fn warnings_are_objects_too() {
    let bench = Bench::with("a.nesl", "let x = 1 in 2;");
    let ran = bench.nesl(&[&["run", "a.nesl"], &JSON[..]].concat());
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "2\n"));
    let found = objects(&ran);
    assert_eq!(found.len(), 1);
    assert_eq!((&found[0]["severity"], &found[0]["code"]), (&Value::from("warning"), &Value::from("W0204")));
    assert!(bench.nesl(&["run", "a.nesl", "--message-format", "human"]).err.starts_with("Warning[W0204]"));
    assert_eq!(bench.nesl(&["run", "a.nesl", "--message-format", "xml"]).code, Some(2));
}

#[test]
fn run_time_errors_are_objects_on_every_engine() {
    let bench = Bench::with("a.nesl", "1;\n{12 / x : x in [3, 0]};\n");
    for engine in ["oracle", "reference", "threads"] {
        let ran = bench.nesl(&[&["run", "a.nesl", "--engine", engine], &JSON[..]].concat());
        assert_eq!((ran.code, ran.out.as_str()), (Some(1), "1\n"));
        let found = objects(&ran);
        assert_eq!(found.len(), 1, "{ran:#?}");
        assert_eq!(found[0]["code"], "E0402");
        assert_eq!(found[0]["message"], "division of 12 by zero");
        assert_eq!(found[0]["labels"][0]["start"]["line"], 2);
        assert!(found[0]["hint"].is_string());
    }
}

#[test]
fn hints_about_lengths_fit_the_function() {
    for (program, part) in [
        ("{a + b : a in [1]; b in [1, 2]};", "walked together"),
        ("vsep([1, 2, 3]);", "length 2"),
        ("transpose([[1, 2], [1, 2, 3]]);", "all rows"),
        ("permute([1, 2], [0]);", "one position for each element"),
        ("interleave([1], [1, 2, 3]);", "one shorter"),
        ("put([1], [0, 1], [1, 2]);", "one index for each element"),
    ] {
        let ran = Bench::with("a.nesl", program).nesl(&[&["run", "a.nesl"], &JSON[..]].concat());
        let found = objects(&ran);
        assert_eq!(found[0]["code"], "E0406", "{program}");
        assert!(found[0]["hint"].as_str().unwrap().contains(part), "{program}: {found:?}");
    }
}

/// What a run-time error says of its place: the label at it.
#[track_caller]
fn placed(program: &str, label: &str) {
    let bench = Bench::with("a.nesl", program);
    let ran = bench.nesl(&[&["run", "a.nesl"], &JSON[..]].concat());
    assert_eq!(objects(&ran)[0]["labels"][0]["text"], label, "{program}");
}

/// What a run-time error says of the calls that led to it, on every engine.
#[track_caller]
fn called(program: &str, calls: &[&str]) {
    let bench = Bench::with("a.nesl", program);
    for place in ["--engine=oracle", "--engine=reference", "--engine=threads", "--strategy=leaf", "--strategy=lift"] {
        let ran = bench.nesl(&["run", place, "a.nesl"]);
        let told: Vec<&str> = ran.err.lines().skip_while(|line| !line.starts_with('─')).skip(1).collect();
        assert_eq!(told, calls, "{place}: {program}\n{ran:#?}");
    }
}

#[test]
fn run_time_errors_tell_the_calls_that_led_there() {
    called("1 / 0;", &[]);
    called("function g(x) = 1 / x;\ng(0);", &["  `g` called at a.nesl:2:1"]);
    called(
        "function g(x) = 10 / x;\nfunction h(v) = {g(x) : x in v};\nh([1, 0]) ++ h([2]);",
        &["  `g` called in `h` at a.nesl:2:18", "  `h` called at a.nesl:3:1"],
    );
    called(
        "function g(n) =\n  let h(x) = x / n;\n      k(y) = h(y) + 1\n  in {k(i) : i in [0:3]};\ng(0);",
        &["  `h` called in `g` at a.nesl:3:14", "  `k` called in `g` at a.nesl:4:7", "  `g` called at a.nesl:5:1"],
    );
    called(
        "function twice(g, x) = g(g(x));\ntwice(x => 1 / x, 0);",
        &["  called in `twice` at a.nesl:1:25", "  `twice` called at a.nesl:2:1"],
    );
    // Of what the library does the user's call is shown, and functions that it calls in turn.
    called("function g(v) = take(v, 2);\ng([1]);", &["  `g` called at a.nesl:2:1"]);
    called(
        "function g(n) = if n == 0 then 1 / n else 1 + g(n - 1);\ng(3);",
        &["  `g` called in `g`, 3 times, at a.nesl:1:47", "  `g` called at a.nesl:2:1"],
    );
}

#[test]
fn run_time_errors_of_v_are_in_its_words() {
    let bench = Bench::new();
    bench.write(
        "a.v",
        "pure int half(int x) { return 10 / x; }\nint main() { int v[*]; v = [half(x) : x in [2, 0]]; return v[0]; }\n",
    );
    bench
        .nesl(&["run", "a.v"])
        .fails(1, &["E0402", "[a / b : a in v; b in w : b != 0]", "`half` called in `main` at a.v:2:29"]);
    bench.write(
        "b.v",
        "int main() { int v[*]; v = [1, 2]; int s = 0; for (int i = 0; i < 9; i++) s += v[i]; return s; }\n",
    );
    bench.write(
        "c.v",
        "int last(int v[*]) { int i = 0; while (i < 9) i = i + v[i]; return i; }\nint main() { int w[2] = {1, 1}; return last(w); }\n",
    );
    for engine in ["--engine=oracle", "--engine=threads"] {
        let ran = bench.nesl(&["run", engine, "c.v"]);
        assert_eq!(ran.err.lines().last(), Some("  `last` called in `main` at c.v:2:40"), "{ran:#?}");
    }
    let ran = bench.piped(&[], ":syntax v\nint y[2] = {1, 2};\nint i = 0;\nwhile (i < 5) { y[i] = 3; i++; }\n");
    assert!(ran.err.contains("E0401") && !ran.err.contains("in `") && !ran.err.contains("called"), "{ran:#?}");
    bench.nesl(&["run", "b.v"]).fails(1, &["index 2 is out of range for a vector of length 2", "in `main`"]);
}

#[test]
fn run_time_errors_name_function_and_element() {
    placed("1 / 0;", "");
    placed("function g(x) = 1 / x;\ng(0);", "in `g`");
    placed("{1 / x : x in [1, 0]};", "first in element 1 of the apply-to-each");
    placed(
        "function g(v, i) = v[i];\n{g([1], i) : i in [0, 0, 1]};",
        "in `g`; first in element 2 of the apply-to-each",
    );
    // Of a library function the call is shown.
    placed("function g(v) = take(v, 2);\ng([1]);", "in `take`, called here in `g`");
    placed("take([1], 2);", "in `take`, called here");
    // The function that the program calls, not the one which that calls in turn.
    placed("put([1], [0, 1], [1, 2]);", "in `put`, called here");
    // The elements of inner sequences are counted through: 1, then 1 and 0; also in functions whose calls are gone.
    placed("{{1 / y : y in x} : x in [[1], [1, 0]]};", "first in element 2, counted through all inner sequences");
    placed(
        "function g(v) = {1 / y : y in v};\n{g(x) : x in [[1], [1, 0]]};",
        "in `g`; first in element 2, counted through all inner sequences",
    );
    // Of the elements 5, 6 and 0 those that pass are 6 and 0. Branches that are merged again are counted through, one in
    // another, too, but not where a filter is around them.
    placed("{1 / x : x in [5, 6, 0] | x /= 5};", "first in element 1 of all that get here");
    placed("{if x > 4 then x else 1 / x : x in [5, 6, 0]};", "first in element 2 of the apply-to-each");
    placed("{if #x > 1 then 0 else 1 / #x : x in [[5, 6], [6], [] int]};", "first in element 2 of the apply-to-each");
    placed(
        "{if x > 4 then if x > 6 then 1 else 2 / (x - 6) else 1 : x in [5, 1, 1, 7, 1, 6]};",
        "first in element 5 of the apply-to-each",
    );
    placed("{if x > 4 then x else 1 / x : x in [6, 5, 5, 0] | x /= 6};", "first in element 2 of all that get here");
    placed(
        "function g(x) = if x > 4 then x else 1 / x;\n{g(x) : x in [5, 6, 0]};",
        "in `g`; first in element 2 of the apply-to-each",
    );
    // A range has no elements when it fails: the instances around it are known where they run one by one.
    placed(
        "function g(n) = if n > 50 then g(n - 1) else #{x : x in [0:10:n]};\nfunction h(v) = {g(x) : x in v};\n{h(w) : w in [[1], [1, 0]]};",
        "in `g`; first in element 1, inside element 1",
    );
    // The index is an element of a sequence itself.
    placed("[1, 2] -> [0, 2];", "first at element 1");
}

#[test]
fn what_needs_too_much_memory_is_in_an_element_around_it() {
    let bench = Bench::with(
        "a.nesl",
        "function g(n) = if n < 0 then g(n + 1) else sum({sqrt(float(i)) : i in [0:n]});\n\
             {g(n) : n in [10, 20, 1000000]};",
    );
    // In machine code the sum is one loop, which needs no memory.
    let options = ["run", "a.nesl", "--strategy", "leaf", "--native", "off", "--max-memory", "12M", "--threads", "1"];
    let ran = bench.nesl(&[&options[..], &JSON[..]].concat());
    let label = &objects(&ran)[0]["labels"][0]["text"];
    assert_eq!(*label, "in `g`; in element 2 of an apply-to-each around this", "{}", ran.err);
}

#[test]
fn what_cannot_be_read_is_an_object_without_a_code() {
    let bench = Bench::with("a.nesl", b"x = \"\xc3");
    for file in ["a.nesl", "missing.nesl"] {
        let ran = bench.nesl(&[&["check", file], &JSON[..]].concat());
        let found = objects(&ran);
        assert_eq!((ran.code, found.len()), (Some(1), 1));
        assert!(found[0]["code"].is_null() && found[0]["message"].as_str().unwrap().contains(file), "{found:?}");
    }
}

#[test]
fn truncated_utf8_is_an_error_message() {
    // Each byte of a character of three bytes is missing in turn, at the end of a file and in a comment of it.
    for bytes in [&b"x = 1;\n% \xe2\x98"[..], b"x = 1;\n% \xe2", b"x = 1;\n\x98 %"] {
        let bench = Bench::with("a.nesl", bytes);
        for command in ["run", "check"] {
            bench.nesl(&[command, "a.nesl"]).fails(1, &["line 2 is not valid UTF-8"]);
        }
        bench.piped(&[], ":load a.nesl\n").fails(1, &["line 2 is not valid UTF-8"]);
    }
}

#[test]
fn codes_are_explained() {
    let bench = Bench::new();
    let page = bench.nesl(&["explain", "E0103"]);
    assert_eq!((page.code, page.err.as_str()), (Some(0), ""));
    assert!(page.out.starts_with("E0103: ") && !page.out.contains("```"), "{}", page.out);
    assert!(page.out.contains("\n\nRepaired:\n\n    "), "{}", page.out);
    let markdown = bench.nesl(&["explain", "E0103", "--markdown"]).out;
    assert!(markdown.starts_with("# E0103: ") && markdown.contains("```nesl good"), "{markdown}");
    assert_eq!(bench.nesl(&["explain", "e0103"]).out, page.out);
    let list = bench.nesl(&["explain"]);
    assert_eq!(list.code, Some(0));
    assert!(list.out.lines().any(|line| line.starts_with("E0402  ")), "{}", list.out);
    bench.nesl(&["explain", "E0107"]).fails(2, &["no code `E0107`", "did you mean", "E0106", "lists all codes"]);
    bench.nesl(&["explain", "nonsense"]).fails(2, &["no code `nonsense`"]);
}

#[test]
fn codes_are_explained_in_a_session() {
    let bench = Bench::new();
    let ran = bench.piped(&[], ":explain E0402;\n");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert!(ran.out.starts_with("E0402: "), "{}", ran.out);
    bench.piped(&[], ":explain E9\n").fails(1, &["no code `E9`"]);
    bench.piped(&[], ":explain\n").fails(1, &[":explain CODE"]);
}

#[test]
fn vcode_is_explained_line_by_line() {
    let bench = Bench::with(
        "a.nesl",
        "function norm(v) =\n  let squares = {x * x : x in v}\n  in sqrt(sum(squares));\nnorm([1., 2., 3., 4., 5., 6., 7., 8., 9.]);\n",
    );
    let ran = bench.nesl(&["vcode", "--explain", "a.nesl"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let lines: Vec<&str> = ran.out.lines().collect();
    let after = |line: &str| {
        let at = lines.iter().position(|found| *found == line).unwrap_or_else(|| panic!("no {line:?} in\n{}", ran.out));
        lines[at + 1]
    };
    assert!(after("  a.nesl:2   let squares = {x * x : x in v}").contains("fused {"), "{}", ran.out);
    assert!(after("      %3 = fused {").contains("map multiply.float"), "{}", ran.out);
    assert!(after("  a.nesl:3   in sqrt(sum(squares));").contains("reduce.add.float"), "{}", ran.out);
    let written_out = "  a.nesl:4   norm([1., 2., 3., 4., 5., 6., 7., 8., 9.]);";
    assert!(after(written_out).contains("constants float [1.0 2.0 3.0"), "{}", ran.out);
}

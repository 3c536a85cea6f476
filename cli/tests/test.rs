//! `nesl test` and `nesl bench`: what they run, what they say, and what they refuse.

mod common;

use common::{Bench, finish};
use std::path::Path;

/// A file all of whose tests pass.
const GOOD: &str = "% Halves, and their sum.\n  expect: 1.5\n  expect: [0.5, 1.0]\n%
function half(x) : float -> float
  \"Half of it. Example: half(3.0) gives 1.5. Example: half(-1.0) gives -0.5. Work 1, depth 1.\"
  = x / 2.0;
function prop_twice(v) : [float] -> bool = {half(x) + half(x) : x in v} == v;
function prop_sums(v, (a, b)) = sum(v) + a + b == b + (a + sum(v));
half(3.0);
{half(x) : x in [1.0, 2.0]};
";

#[test]
fn what_a_file_says_of_itself_is_tested() {
    let bench = Bench::with("good.nesl", GOOD);
    let ran = bench.nesl(&["test", "good.nesl"]);
    let expected = "ok      good.nesl: expectations\nok      good.nesl: examples of half\n\
                    ok      good.nesl: prop_twice\nok      good.nesl: prop_sums\n4 passed, 0 failed\n";
    ran.prints(expected);
    bench
        .piped(&["test", "-", "--only", "prop_sums"], GOOD)
        .prints("ok      <standard input>: prop_sums\n1 passed, 0 failed\n");
    let ran = bench.nesl(&["test", "good.nesl", "--on", "oracle,reference", "--only", "half"]);
    ran.prints("ok      good.nesl: examples of half on oracle\nok      good.nesl: examples of half on reference\n2 passed, 0 failed\n");
    // Errors that a program is to end with, and arguments.
    bench.write("errors.nesl", "% expect: 2\n error: E0401\n message: index\n at: 8:3\n args: [1,2] 5\n%\nfunction main(v, i) = let _ = print_line(@#v) in\n  v[i];\n");
    bench.write("rejected.nesl", "% compile-error: E0201 nothing\n%\nnothing;\n");
    bench.write("exits.nesl", "% exit: 7 %\nfunction main() : () -> () = exit(7);\n");
    let ran = bench.nesl(&["test", "errors.nesl", "rejected.nesl", "exits.nesl"]);
    ran.prints(
        "ok      errors.nesl: expectations\nok      rejected.nesl: expectations\nok      exits.nesl: expectations\n\
         3 passed, 0 failed\n",
    );
    bench.write(
        "three.v",
        "/* expect: 6 */\npure int three(int a, int b, int c) { return a + b + c; }\nthree(1, 2, 3);\n",
    );
    bench.nesl(&["test", "three.v"]).prints("ok      three.v: expectations\n1 passed, 0 failed\n");
    bench.nesl(&["bench", "three.v"]).fails(1, &["nothing to time"]);
    bench.write("late.nesl", "% Adds. %\n\n% expect: 4 %\n1 + 2;\n");
    let further = "late.nesl: an `expect:` counts in the comment that a file begins with; here it is further down";
    bench.nesl(&["test", "late.nesl"]).fails(1, &[further, "nothing to test"]);
    // Type parameters are ints, in sequences too; files import others, from their own folder.
    std::fs::create_dir(bench.path("sub")).unwrap();
    bench.write("half.nesl", "function half(n) = n / 2;\n");
    bench.write(
        "sub/generic.nesl",
        "import \"../half.nesl\" as other;\nfunction prop_reverse(v, w) = #(v ++ w) == #v + #w and reverse(reverse(v)) == v;\n\
         function prop_half(n) = abs(other.half(n)) <= 1 or abs(other.half(n)) < n or n < 0;\n",
    );
    bench
        .nesl(&["test", "sub/generic.nesl"])
        .prints("ok      sub/generic.nesl: prop_reverse\nok      sub/generic.nesl: prop_half\n2 passed, 0 failed\n");
}

#[test]
fn what_is_not_true_is_shown() {
    let wrong = "% expect: 3\n%\nfunction f2(x)\n  \"Example: f2(1) gives 2. Example: f2(2) gives 4. Example: f2(0) gives 1.\"\n  = 2 / x;\n\
                 function prop_sorted(v) : [int] -> bool = #v < 3 or v[0] <= v[2];\n\
                 function prop_small(n) = n < 5 or n / (n - 7) /= n + 100000;\nfunction prop_fails(v) : [int] -> bool = v[0] == v[0];\n2;\n";
    let bench = Bench::with("wrong.nesl", wrong);
    let ran = bench.nesl(&["test", "wrong.nesl", "--seed", "3"]);
    ran.fails(1, &["the seed of the arguments was 3"]);
    let shown =
        |parts: &[&str]| parts.iter().for_each(|part| assert!(ran.out.contains(part), "no {part:?} in\n{}", ran.out));
    shown(&["FAILED  wrong.nesl: expectations\n        line 1\n          expected 3\n          printed  2\n"]);
    shown(&[
        "FAILED  wrong.nesl: examples of f2\n",
        "f2(2) gives 4\n          but gave 1\n",
        "f2(0) gives 1\n          but it failed",
        "E0402",
    ]);
    // The simplest of all: three elements, of which the last is less than the first by one.
    shown(&["FAILED  wrong.nesl: prop_sorted\n        prop_sorted([", "is false\n"]);
    shown(&["prop_fails(([] int))\n", "E0401"]);
    assert!(ran.out.ends_with(" failed\n"), "{}", ran.out);
    assert_eq!(bench.nesl(&["test", "wrong.nesl", "--seed", "3"]).out, ran.out, "the same seed, the same arguments");
}

#[test]
fn files_that_are_wrong_fail_and_the_others_go_on() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("src")).unwrap();
    bench.write("src/a.nesl", "x = nothing;\n");
    bench.write("src/b.nesl", GOOD);
    bench.write("src/c.nesl", "% expct: 1\n expect: 1 %\n1;\n");
    bench.write("src/d.nesl", "function prop_int(x) = x + 1;\nfunction prop_higher(g) = g(1) == 1;\n");
    bench.write("src/e.nesl", "% expect: 2 %\nx = 1 + \"a\";\n");
    let ran = bench.nesl(&["test", "src", "missing.nesl"]);
    ran.fails(1, &["cannot read missing.nesl", "No such file"]);
    for part in [
        "FAILED  src/a.nesl: check",
        "FAILED  src/e.nesl: check",
        "src/e.nesl:2:9",
        "E0201",
        "ok      src/b.nesl: prop_twice",
        "unknown key `expct`",
        "prop_int is to give a bool",
        "takes a function",
    ] {
        assert!(ran.out.contains(part), "no {part:?} in\n{}", ran.out);
    }
    bench.write("nothing.nesl", "1;\n");
    bench.nesl(&["test", "nothing.nesl"]).fails(1, &["nothing to test"]);
    bench.nesl(&["test", "src/b.nesl", "--only", "other"]).fails(1, &["no test here has `other` in its name"]);
    bench.write("bytes.nesl", b"\xff");
    bench.nesl(&["test", "bytes.nesl"]).fails(1, &["not valid UTF-8"]);
    bench.nesl(&["test", "nothing.nesl", "--on", "gpu"]).fails(2, &["expected oracle"]);
    bench.nesl(&["test", "nothing.nesl", "--cases", "0"]).fails(2, &["--cases"]);
    let mut command = bench.command(Path::new("sh"));
    finish(command.args(["-c", "\"$0\" test src/b.nesl | head -n 1"]).arg(env!("CARGO_BIN_EXE_nesl")), "")
        .prints("ok      src/b.nesl: expectations\n");
}

#[test]
fn what_never_ends_is_one_failed_test() {
    let text = "function loop(n) = if n == 0 then 0 else loop(n + 1);\nfunction prop_loops(n) = loop(1 + abs(n)) == 0;\n\
                function g(x) \"Example: loop(1) gives 0. Example: exit(2) gives 1. Example: g(1) gives 1.\" = x;\n";
    let bench = Bench::with("loop.nesl", text);
    let ran = bench.nesl(&["test", "loop.nesl", "--time-limit", "1s"]);
    ran.fails(1, &[]);
    assert!(ran.out.starts_with("FAILED  loop.nesl: prop_loops\n        prop_loops("), "{}", ran.out);
    assert!(ran.out.contains("it failed at 1:10 with E0427: the time limit of 1s is over\nFAILED"), "{}", ran.out);
    let examples = "loop.nesl: examples of g\n        loop(1) gives 0\n          \
                    but it failed with E0427: the time limit of 1s is over\n        \
                    exit(2) gives 1\n          but it ended with exit 2\n0 passed, 2 failed\n";
    assert!(ran.out.ends_with(examples), "{}", ran.out);
    bench.write("expects.nesl", "% error: E0401\n message: index\n%\n1;\n");
    let ran = bench.nesl(&["test", "expects.nesl"]);
    assert!(ran.out.contains("line 1 is not expected: 1"), "{}", ran.out);
    bench.write("expects.nesl", "% error: E0401\n message: index\n expect: 1 %\n1;\n");
    let ran = bench.nesl(&["test", "expects.nesl"]);
    assert!(ran.out.contains("expected E0401 with `index` in its message\n        but it ended well"), "{}", ran.out);
}

#[test]
fn functions_are_timed() {
    let text = "data = [0:1000];\nfunction bench_sum() = sum(data);\nfunction bench_draw() = rand(10);\nsum(data);\n";
    let bench = Bench::with("bench.nesl", text);
    let ran = bench.nesl(&["bench", "bench.nesl", "--repetitions", "3", "--save", "times.json"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let lines: Vec<&str> = ran.out.lines().collect();
    assert!(
        lines.len() == 2 && lines[0].starts_with("bench.nesl: bench_sum: ") && lines[1].contains(", 3 times)"),
        "{lines:?}"
    );
    let saved = std::fs::read_to_string(bench.path("times.json")).unwrap();
    assert_eq!(saved.matches("bench.nesl: bench_").count(), 2, "{saved}");
    let ran = bench.nesl(&["bench", "bench.nesl", "--repetitions", "2", "--only", "draw", "--compare", "times.json"]);
    assert!(ran.code == Some(0) && ran.out.lines().count() == 1 && ran.out.contains(" % of "), "{ran:?}");
    bench.nesl(&["bench", "bench.nesl", "--engine", "reference", "--repetitions", "1"]);
    bench.nesl(&["bench", "bench.nesl", "--only", "other"]).fails(1, &["nothing to time"]);
    bench.nesl(&["bench", "missing.nesl"]).fails(1, &["cannot read missing.nesl"]);
    bench.nesl(&["bench", "bench.nesl", "--compare", "missing.json"]).fails(1, &["cannot read missing.json"]);
    bench.nesl(&["bench", "bench.nesl", "--compare", "bench.nesl"]).fails(1, &["it has no times"]);
    bench.nesl(&["bench", "bench.nesl", "--repetitions", "1", "--save", "no/such"]).fails(1, &["cannot write no/such"]);
    bench.nesl(&["bench"]).fails(2, &["FILE"]);
    bench.write("fails.nesl", "function bench_index(v) = v[0];\n");
    let ran = bench.nesl(&["bench", "fails.nesl"]);
    ran.fails(1, &["E0213", "`bench_index` takes arguments", "fails.nesl:1:10", "write `function bench_index() = …`"]);
    // Two functions of a file are two programs, and one warning is one warning.
    bench.write("warns.nesl", "one = 1;\nfunction bench_a() = one;\nfunction bench_b() = one;\n");
    let ran = bench.nesl(&["bench", "warns.nesl", "--repetitions", "1"]);
    assert_eq!((ran.code, ran.err.matches("W0202").count()), (Some(0), 1), "{}", ran.err);
    bench.write("fails.nesl", "function bench_index() = [1][rand(1) + 1];\n");
    bench.nesl(&["bench", "fails.nesl"]).fails(1, &["fails.nesl:1:", "E0401"]);
    // One that fails does not end the others.
    bench.write(
        "fails.nesl",
        "function bench_a() = [1][rand(1) + 1];\nfunction bench_b() = exit(3);\nfunction bench_c() = 1;\n",
    );
    let ran = bench.nesl(&["bench", "fails.nesl", "--repetitions", "1"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.out.starts_with("fails.nesl: bench_a: failed\nfails.nesl: bench_b: exit 3\nfails.nesl: bench_c: "));
    assert!(ran.err.contains("fails.nesl:1:") && ran.err.ends_with("error: 2 of 3 functions failed\n"), "{ran:?}");
    bench.write("times.json", "{\"bench.nesl: bench_sum\": []}");
    bench.nesl(&["bench", "bench.nesl", "--compare", "times.json"]).fails(1, &["not all of its times are times"]);
}

#[test]
fn what_functions_spend_is_shown_of_each() {
    let text = "data = [0:100000];\nfunction bench_sum() = sum(data);\nfunction bench_sort() =\n  sort(data);\n";
    let bench = Bench::with("times.nesl", text);
    let ran = bench.nesl(&["bench", "--repetitions", "2", "--profile", "--stats", "times.nesl"]);
    assert!(ran.err.contains("times.nesl:4   sort(data);"), "{}", ran.err);
    assert_eq!(ran.err.matches("all instructions").count(), 2, "{}", ran.err);
    assert_eq!(ran.err.matches("peak elements").count(), 2, "{}", ran.err);
    let ran = bench.nesl(&["bench", "--trace", "trace.json", "times.nesl"]);
    ran.fails(2, &["--trace are for runs of programs; --profile shows"]);
}

#[test]
fn functions_of_the_library_are_timed() {
    let text = include_str!("../../benches/library/everyday.nesl");
    let small = text.replacen("n = 1000000;", "n = 2000;", 1);
    let bench = Bench::with("everyday.nesl", &small);
    let ran = bench.nesl(&["bench", "everyday.nesl", "--repetitions", "1", "--threads", "1"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    let timed = |line: &str| line.contains("bench_") && line.contains("s (");
    assert_eq!(ran.out.lines().filter(|line| timed(line)).count(), text.matches("function bench_").count());
    // NumPy's side has the same names.
    let twins = include_str!("../../benches/library/everyday.py");
    for name in text.split("function bench_").skip(1).filter_map(|rest| rest.split('(').next()) {
        assert!(twins.contains(&format!("    \"{name}\": ")), "{name} has no twin");
    }
}

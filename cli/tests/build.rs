//! `nesl build`, `nesl check` and `nesl vcode`.

mod common;

use common::{Bench, example, finish};

#[test]
fn a_built_program_runs_from_an_empty_folder() {
    let bench = Bench::new();
    bench.nesl(&["build", &example("primes/primes.nesl"), "-o", "primes"]).prints("");
    let elsewhere = Bench::new();
    let primes = bench.path("primes");
    let run = |arguments: &[&str]| finish(elsewhere.command(&primes).args(arguments), "");
    run(&["1000"]).prints("168\n");
    run(&["--engine", "reference", "--threads", "1", "1000"]).prints("168\n");
    run(&[]).prints(&bench.nesl(&["run", &example("primes/primes.nesl")]).out);
    run(&["many"]).fails(2, &["argument 1 (n : int)", "primes N"]);
    run(&["1", "2"]).fails(2, &["main takes one argument, not 2"]);
    run(&["--nonsense"]).fails(2, &["--nonsense"]);
    let help = run(&["--help"]);
    assert!(help.code == Some(0) && help.out.contains("n : int") && help.out.contains("--stats"), "{help:?}");
    let stats = run(&["--stats", "100"]);
    assert!(stats.out == "25\n" && stats.err.contains("instructions"), "{stats:?}");
    run(&["--engine", "oracle", "1"]).fails(2, &["oracle"]);
}

#[test]
fn a_built_program_says_what_it_is() {
    let text = "% Adds.\n\n  Two numbers. \u{1b}[31m %\nfunction main(a, b := 2) = a + b;";
    let bench = Bench::with("adds.nesl", text);
    bench.nesl(&["build", "adds.nesl"]).prints("");
    let run = |name: &str, arguments: &[&str]| finish(bench.command(&bench.path(name)).args(arguments), "");
    let help = run("adds", &["--help"]).out;
    assert!(help.starts_with("Adds.\n\nTwo numbers. \u{241b}[31m\n\nUsage: adds [OPTIONS] A [--b B]\n"), "{help}");
    assert!(run("adds", &["-h"]).out.starts_with("Adds.\n\nUsage: "));
    let version = concat!("adds built by nesl ", env!("CARGO_PKG_VERSION"), "\n");
    run("adds", &["-V"]).prints(version);
    // What a report of a mistake wants to say, as nesl itself says it.
    let (own, whole) = (bench.nesl(&["--version"]).out, run("adds", &["--version"]).out);
    assert_eq!(whole, own.replacen("nesl ", "adds built by nesl ", 1));
    assert!(whole.starts_with(version) && whole.contains("\nMPI "), "{whole}");
    // As does one that is run; the documentation of main says more of it than a comment.
    let shown = bench.nesl(&["run", "adds.nesl", "--", "--help"]).out;
    assert!(
        shown.starts_with("Adds.\n\nTwo numbers.") && shown.contains("usage: nesl run adds.nesl A [--b B]"),
        "{shown}"
    );
    bench.write("b.nesl", "% A. %\nfunction main(version := 3) : int -> int \"Counts.\" = version;");
    bench.nesl(&["build", "b.nesl"]).prints("");
    assert!(run("b", &["--help"]).out.starts_with("Counts.\n\nUsage: b "));
    run("b", &["--version", "4"]).prints("4\n");
    bench.write("c.nesl", "1;");
    bench.nesl(&["build", "c.nesl"]).prints("");
    assert!(run("c", &["--help"]).out.starts_with("A program written in NESL and compiled with nesl\n\nUsage: c"));
}

#[test]
fn errors_of_a_built_program_show_its_source() {
    let bench = Bench::with("a.nesl", "function main(n) = 10 / n;");
    bench.nesl(&["build", "a.nesl", "-o", "a"]).prints("");
    std::fs::remove_file(bench.path("a.nesl")).unwrap();
    let run = |arguments: &[&str]| finish(bench.command(&bench.path("a")).args(arguments), "");
    run(&["-5"]).prints("-2\n");
    run(&["0"]).fails(1, &["E0402", "a.nesl:1:20", "10 / n"]);
}

#[test]
fn nothing_is_left_of_a_failed_build() {
    let bench = Bench::with("a.nesl", "1 + t;");
    bench.nesl(&["build", "a.nesl", "-o", "a"]).fails(1, &["1 error"]);
    bench.write("b.nesl", "1;");
    bench.nesl(&["build", "b.nesl", "-o", "none/b"]).fails(1, &["none/b"]);
    bench.nesl(&["build", "b.nesl", "-o", "."]).fails(1, &["folder"]);
    bench.nesl(&["build", "."]).fails(1, &["cannot read .: it is a folder"]);
    bench.nesl(&["build", "a.nesl"]).fails(1, &["1 error"]);
    let mut names: Vec<_> = std::fs::read_dir(&bench.folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["a.nesl", "b.nesl"]);
}

#[cfg(unix)]
#[test]
fn nothing_but_an_earlier_executable_is_replaced() {
    use std::os::unix::fs::symlink;
    let source = "function main(n) = n + 1;";
    let bench = Bench::with("a.nesl", source);
    std::fs::hard_link(bench.path("a.nesl"), bench.path("hard.nesl")).unwrap();
    symlink("a.nesl", bench.path("soft.nesl")).unwrap();
    symlink("nowhere", bench.path("dangling")).unwrap();
    bench.write("notes.txt", "not to be lost");
    bench.write("empty", "");
    std::fs::copy("/bin/sh", bench.path("shell")).unwrap();
    let build = |source: &str, target: &str| bench.nesl(&["build", source, "-o", target]);
    for (from, to, reason) in [
        ("a.nesl", "a.nesl", "it is the source"),
        ("a.nesl", "./a.nesl", "it is the source"),
        ("a.nesl", "hard.nesl", "it is the source"),
        ("a.nesl", "soft.nesl", "it is the source"),
        ("soft.nesl", "a.nesl", "it is the source"),
        ("soft.nesl", "soft.nesl", "it is the source"),
        ("a.nesl", "dangling", "a link to nothing"),
        ("a.nesl", "notes.txt", "nesl build has not made"),
        ("a.nesl", "empty", "nesl build has not made"),
        ("a.nesl", "shell", "nesl build has not made"),
        ("a.nesl", ".", "it is a folder"),
        ("a.nesl", "/dev/null", "a device"),
        ("a.nesl", env!("CARGO_BIN_EXE_nesl"), "nesl build has not made"),
    ] {
        build(from, to).fails(1, &["cannot write", to, reason]);
    }
    for name in ["a.nesl", "hard.nesl", "soft.nesl"] {
        assert_eq!(std::fs::read_to_string(bench.path(name)).unwrap(), source, "{name}");
    }
    assert_eq!(std::fs::read_to_string(bench.path("notes.txt")).unwrap(), "not to be lost");
    assert_eq!(std::fs::read(bench.path("shell")).unwrap(), std::fs::read("/bin/sh").unwrap());
    // What was built before is replaced; what a link leads to, not the link.
    build("a.nesl", "first").prints("");
    symlink("first", bench.path("link")).unwrap();
    bench.write("b.nesl", "function main(n) = n + 2;");
    build("b.nesl", "link").prints("");
    assert!(bench.path("link").is_symlink());
    for name in ["first", "link"] {
        finish(bench.command(&bench.path(name)).arg("1"), "").prints("3\n");
    }
    // A damaged one, too.
    let whole = std::fs::read(bench.path("first")).unwrap();
    bench.write("first", &whole[..whole.len() - 20]);
    build("a.nesl", "first").prints("");
    finish(bench.command(&bench.path("first")).arg("1"), "").prints("2\n");
}

#[cfg(unix)]
#[test]
fn the_mask_of_the_process_says_who_may_run_what_was_built() {
    use std::os::unix::fs::PermissionsExt;
    let bench = Bench::with("a.nesl", "1;");
    for (mask, mode) in [("022", 0o755), ("077", 0o700), ("002", 0o775), ("027", 0o750)] {
        // Also in the place of one that others may run.
        for _ in 0..2 {
            let mut command = bench.command(std::path::Path::new("sh"));
            let line = format!("umask {mask}; exec \"$0\" build a.nesl -o a");
            finish(command.args(["-c", &line, env!("CARGO_BIN_EXE_nesl")]), "").prints("");
            let permissions = std::fs::metadata(bench.path("a")).unwrap().permissions();
            assert_eq!(permissions.mode() & 0o7777, mode, "{mask}");
        }
    }
}

#[cfg(unix)]
#[test]
fn damaged_programs_say_so() {
    use std::os::unix::fs::PermissionsExt;
    use std::process::Command;
    let bench = Bench::with("a.nesl", "1;");
    bench.nesl(&["build", "a.nesl", "-o", "a"]).prints("");
    let whole = std::fs::read(bench.path("a")).unwrap();
    let damaged = |name: &str, bytes: &[u8]| {
        bench.write("bytes", bytes);
        // What other tests start has the files that this process is writing until it runs something else, and a file
        // that somebody writes does not run: another process writes it.
        let copy = Command::new("cp").arg(bench.path("bytes")).arg(bench.path(name)).status();
        assert!(copy.unwrap().success());
        std::fs::set_permissions(bench.path(name), PermissionsExt::from_mode(0o755)).unwrap();
        finish(&mut bench.command(&bench.path(name)), "").fails(1, &["cannot run", "damaged"]);
    };
    damaged("cut", &whole[..whole.len() - 20]);
    let (start, end) = program_in(&whole);
    let mut changed = whole.clone();
    changed[end - 10] ^= 1;
    damaged("changed", &changed);
    let mut moved = whole.clone();
    moved.insert(start - 10, 0);
    damaged("moved", &moved);
}

/// Where the program is in the bytes of an executable, by the last row of its table of sections.
fn program_in(bytes: &[u8]) -> (usize, usize) {
    let row = &bytes[bytes.len() - 64..];
    let number = |at: usize| row[at..at + 8].iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte));
    let (start, length) = (number(24), number(32));
    assert_eq!(bytes[start..start + 8], *b"NESLVC\r\n");
    (start, start + length)
}

#[cfg(unix)]
#[test]
fn strip_keeps_the_program() {
    let bench = Bench::with("a.nesl", "function main(n) = n + 1;");
    bench.nesl(&["build", "a.nesl", "-o", "a"]).prints("");
    let mut strip = bench.command(std::path::Path::new("strip"));
    finish(strip.args(["a", "-o", "stripped"]), "").prints("");
    assert!(
        std::fs::metadata(bench.path("stripped")).unwrap().len() <= std::fs::metadata(bench.path("a")).unwrap().len()
    );
    finish(bench.command(&bench.path("stripped")).arg("41"), "").prints("42\n");
    // It is still one that may be replaced.
    bench.nesl(&["build", "a.nesl", "-o", "stripped"]).prints("");
}

/// Bytes of the program and of what says where it is, changed in place one after another, and cut off.
#[cfg(unix)]
#[test]
fn no_changed_byte_is_a_bug() {
    use std::fs::OpenOptions;
    use std::os::unix::fs::FileExt;
    let bench = Bench::with(
        "a.nesl",
        "function fib(n) = if n < 2 then n else fib(n - 1) + fib(n - 2); {fib(i) : i in [0:10]};",
    );
    bench.nesl(&["build", "a.nesl", "-o", "a"]).prints("");
    let path = bench.path("a");
    let open = || OpenOptions::new().read(true).write(true).open(&path).unwrap();
    let whole = std::fs::read(&path).unwrap();
    let size = whole.len() as u64;
    let (start, end) = program_in(&whole);
    let (start, end) = (start as u64, end as u64);
    drop(whole);
    // Its row in the table of sections, the last one: where its name stands, where it is, and how long.
    let places = (0..4).chain(24..40).map(|byte| size - 64 + byte).collect::<Vec<u64>>();
    let mut state = 12_345u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let run = || finish(&mut bench.command(&path), "");
    run().prints("[0, 1, 1, 2, 3, 5, 8, 13, 21, 34]\n");
    for round in 0..120 {
        let place = places.get(round).copied().unwrap_or_else(|| start + random(end - start));
        let mut byte = [0];
        open().read_exact_at(&mut byte, place).unwrap();
        open().write_all_at(&[byte[0] ^ (1 << random(8))], place).unwrap();
        let ran = run();
        open().write_all_at(&byte, place).unwrap();
        if round < 4 && ran.code == Some(0) {
            // The program is found without its name.
            continue;
        }
        assert_eq!(ran.code, Some(1), "byte {place}: {ran:?}");
        ran.fails(1, &["cannot run"]);
        assert!(!ran.err.contains("panicked") && !ran.err.contains("report"), "{ran:?}");
    }
    run().prints("[0, 1, 1, 2, 3, 5, 8, 13, 21, 34]\n");
    // Cut off further and further, down to the first bytes of the program.
    let mut left = size - start - 8;
    while left > 0 {
        left -= 1 + random(left.div_ceil(6));
        open().set_len(start + 8 + left).unwrap();
        run().fails(1, &["cannot run", "damaged"]);
    }
}

#[test]
fn check_shows_types_and_every_error() {
    let bench = Bench::with("a.nesl", "function twice(a) = a + a;\n(x, y) = (1, \"b\");\ntwice(x);\n");
    bench.nesl(&["check", "a.nesl"]).prints("twice : a -> a :: (a in number)\nx : int\ny : [char]\n");
    bench.write("b.nesl", "1 + t;");
    let ran = bench.nesl(&["check", "b.nesl", "a.nesl", "missing.nesl"]);
    ran.fails(1, &["b.nesl:1:", "missing.nesl"]);
    assert!(ran.out.contains("a.nesl\n  twice : "), "{}", ran.out);
    bench.nesl(&["check"]).fails(2, &["FILE"]);
}

#[test]
fn vcode_shows_verified_programs() {
    let bench = Bench::with("a.nesl", "function squares(v) = {x * x + 0 : x in v};\nsquares([1, 2]);");
    let plain = bench.nesl(&["vcode", "a.nesl", "--unoptimised"]);
    let optimised = bench.nesl(&["vcode", "a.nesl"]);
    for ran in [&plain, &optimised] {
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
        assert!(ran.out.contains("multiply.int"), "{}", ran.out);
        let program = nesl_vcode::parse(&ran.out).unwrap();
        nesl_vcode::verify(&program).unwrap();
    }
    let dumped = bench.nesl(&["vcode", "a.nesl", "--dump-after", "cse"]);
    assert!(dumped.out.starts_with("; after cse\n") && dumped.out.ends_with(&optimised.out));
    assert_eq!(bench.nesl(&["vcode", "a.nesl", "--disable", "cse"]).code, Some(0));
    bench.nesl(&["vcode", "a.nesl", "--disable", "magic"]).fails(2, &["no pass `magic`", "--list-passes"]);
    let serial = bench.nesl(&["vcode", "a.nesl", "--serial"]);
    nesl_vcode::verify(&nesl_vcode::parse(&serial.out).unwrap()).unwrap();
    let dumped = bench.nesl(&["vcode", "a.nesl", "--serial", "--dump-after", "hoist"]);
    assert!(dumped.out.starts_with("; after hoist\n") && dumped.out.ends_with(&serial.out));
    assert_eq!(bench.nesl(&["vcode", "a.nesl", "--serial", "--disable", "peel"]).code, Some(0));
    bench.nesl(&["vcode", "a.nesl", "--disable", "peel"]).fails(2, &["no pass `peel`", "--serial"]);
    bench.nesl(&["vcode", "a.nesl", "--serial", "--cmu"]).fails(2, &["--serial", "--cmu"]);
    let manual = bench.nesl(&["vcode", "--manual"]);
    assert!(manual.out.starts_with("## Vector instructions") && manual.code == Some(0));
    let passes = bench.nesl(&["vcode", "--list-passes"]);
    assert!(passes.out.contains("cse") && passes.out.contains("unroll") && passes.code == Some(0));
    bench.nesl(&["vcode"]).fails(2, &["FILE"]);
}

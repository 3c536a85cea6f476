//! The command line itself: programs from files, from the standard input and from the line, and what describes it.

mod common;

use common::{Bench, example, finish};
use std::path::Path;

const SUM: &str = "function main(v) : [int] -> int = sum(v);";

#[test]
fn a_file_runs_without_the_word_run_and_its_arguments_without_dashes() {
    let bench = Bench::with("sum.nesl", SUM);
    bench.nesl(&["sum.nesl", "[1, 2, 3]"]).prints("6\n");
    bench.nesl(&["run", "sum.nesl", "[1, 2, 3]"]).prints("6\n");
    bench.nesl(&["--threads", "1", "sum.nesl", "[4, 5]"]).prints("9\n");
    bench.nesl(&["run", "sum.nesl", "--threads", "1", "[4, 5]"]).prints("9\n");
    bench.nesl(&["run", "--engine", "oracle", "sum.nesl", "--", "[4, 5]"]).prints("9\n");
    bench.nesl(&[&example("primes/primes.nesl"), "1000"]).prints("168\n");
    // What comes first and is no option of nesl is for main, and so is all that follows.
    bench.write("scale.nesl", "function main(n, by := 2) : (int, int) -> int = n * by;");
    bench.nesl(&["scale.nesl", "-5", "--by", "3"]).prints("-15\n");
    bench.nesl(&["run", "scale.nesl", "--by", "3", "-5"]).prints("-15\n");
    bench.nesl(&["run", "scale.nesl", "--threads", "1", "--by=4", "5"]).prints("20\n");
    // A file may have any name, if it is there or written as a path.
    bench.write("total", SUM);
    bench.nesl(&["total", "[1, 2]"]).prints("3\n");
    bench.write("run", SUM);
    bench.nesl(&["./run", "[1, 2]"]).prints("3\n");
}

#[test]
fn mistaken_options_and_names_are_told_apart_from_arguments() {
    let bench = Bench::with("sum.nesl", SUM);
    bench.nesl(&["run", "sum.nesl", "--thraeds", "2"]).fails(2, &["no option --thraeds; did you mean --threads?"]);
    bench.nesl(&["sum.nesl", "--threads", "2"]).fails(2, &["an option of nesl itself", "usage: nesl sum.nesl V"]);
    bench.nesl(&["run", "sum.nesl", "--", "--threads"]).fails(2, &["argument 1 (v : [int])"]);
    bench.nesl(&["rnu", "sum.nesl"]).fails(2, &["no command `rnu`", "did you mean `nesl run`?", "nesl --help"]);
    bench.nesl(&["frobnicate"]).fails(2, &["no command `frobnicate`, and no file of that name\n"]);
    bench.nesl(&["\u{1b}[2J"]).fails(2, &["no command `␛[2J`"]);
    bench.nesl(&["missing.nesl"]).fails(1, &["cannot read missing.nesl"]);
    bench.nesl(&["./missing"]).fails(1, &["cannot read ./missing"]);
    bench.nesl(&["."]).fails(1, &["it is a folder"]);
}

#[test]
fn a_program_comes_from_the_standard_input() {
    let bench = Bench::new();
    for arguments in [&["-"][..], &["run", "-"], &["run", "--engine", "oracle", "-"]] {
        bench.piped(arguments, "x = 20;\nx + 1;\n\"a\";").prints("21\n\"a\"\n");
    }
    bench.piped(&["-", "[1, 2]"], SUM).prints("3\n");
    bench.piped(&["check", "-"], SUM).prints("main : [int] -> int\n");
    bench.piped(&["-"], "x = 1 + t;").fails(1, &["E0202", "<standard input>:1:9"]);
    bench.piped(&["-"], "").prints("");
    let bytes =
        finish(bench.command(Path::new("sh")).args(["-c", "printf 'x\\377' | $0 -", env!("CARGO_BIN_EXE_nesl")]), "");
    bytes.fails(1, &["the program on standard input", "line 1 is not valid UTF-8"]);
    bench.piped(&["build", "-"], SUM).fails(2, &["-o OUT"]);
}

#[test]
fn a_program_is_a_script() {
    use std::os::unix::fs::PermissionsExt;
    let nesl = env!("CARGO_BIN_EXE_nesl");
    let bench = Bench::with("sum", format!("#!{nesl}\n{SUM}\n"));
    std::fs::set_permissions(bench.path("sum"), std::fs::Permissions::from_mode(0o755)).unwrap();
    finish(bench.command(&bench.path("sum")).arg("[1, 2]"), "").prints("3\n");
    finish(bench.command(&bench.path("sum")).arg("-"), "4 5").prints("9\n");
    // The line keeps its place in messages and in the usual layout.
    bench.write("wrong.nesl", "#!/usr/bin/env nesl\n1 + t;\n");
    bench.nesl(&["wrong.nesl"]).fails(1, &["wrong.nesl:2:5"]);
    bench.piped(&["fmt", "-"], "#! /usr/bin/env nesl  \n\n\n1   + 2;").prints("#! /usr/bin/env nesl\n1 + 2;\n");
    bench.piped(&["-"], "#!/usr/bin/env nesl").prints("");
    bench.piped(&["-"], " #!x\n1;").fails(1, &["E01"]);
}

#[test]
fn data_come_from_the_standard_input() {
    let bench = Bench::with("sum.nesl", SUM);
    bench.piped(&["sum.nesl", "-"], "1 2\n3\n").prints("6\n");
    bench.write("length.nesl", "function main(text) : [char] -> int = #text;");
    bench.piped(&["length.nesl", "@-"], "four").prints("4\n");
    // A text is what is given.
    bench.piped(&["length.nesl", "-"], "four").prints("1\n");
    bench.piped(&["sum.nesl", "-"], "1 x").fails(2, &["argument 1 (v : [int])", "`x` is not an int"]);
}

#[test]
fn forms_are_evaluated_from_the_line() {
    let bench = Bench::new();
    bench.nesl(&["-e", "sum([1:11])"]).prints("55\n");
    bench.nesl(&["-e", "x = 2; x * x;", "--evaluate", "x + 1"]).prints("4\n3\n");
    bench.nesl(&["-e", "-5"]).prints("-5\n");
    bench
        .nesl(&["-e", "{rand(10) : i in [0:3]}", "--seed", "7", "--engine", "reference"])
        .prints(&bench.nesl(&["--seed", "7", "-e", "{rand(10) : i in [0:3]}"]).out);
    bench.nesl(&["-e", "1/0"]).fails(1, &["E0402", "<command line>:1:1"]);
    bench.nesl(&["-e", "function twice(x) = 2 * x"]).prints("");
    bench.nesl(&["-e", "1", "sum.nesl"]).fails(2, &["stands alone"]);
    bench.nesl(&["-e"]).fails(2, &["a value is required"]);
}

#[test]
fn an_executable_is_named_after_its_source() {
    let bench = Bench::with("sum.nesl", SUM);
    bench.nesl(&["build", "sum.nesl"]).prints("");
    finish(bench.command(&bench.path("sum")).arg("[1, 2, 3]"), "").prints("6\n");
    bench.write("total", SUM);
    bench.nesl(&["build", "total"]).fails(2, &["no ending to leave out", "-o OUT"]);
    bench.write("run.nesl", SUM);
    bench.write("run", "a file of somebody");
    bench.nesl(&["build", "run.nesl"]).fails(1, &["run"]);
    assert_eq!(std::fs::read_to_string(bench.path("run")).unwrap(), "a file of somebody");
}

#[test]
fn the_version_says_what_a_report_needs() {
    let bench = Bench::new();
    let short = format!("nesl {}\n", env!("CARGO_PKG_VERSION"));
    bench.nesl(&["-V"]).prints(&short);
    let long = bench.nesl(&["--version"]).out;
    assert!(long.starts_with(&short), "{long}");
    for part in ["system", std::env::consts::ARCH, "native code", "MPI"] {
        assert!(long.contains(part), "no {part} in {long}");
    }
}

#[test]
fn shells_complete_and_manuals_describe_every_command() {
    let bench = Bench::new();
    let help = bench.nesl(&["--help"]).out;
    let (_, listed) = help.split_once("Commands:\n").unwrap();
    let commands: Vec<&str> = listed.lines().map_while(|line| line.split_whitespace().next()).collect();
    assert!(commands.len() > 9 && commands.contains(&"run"), "{commands:?}");
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = bench.nesl(&["completions", shell]);
        assert_eq!((script.code, script.err.as_str()), (Some(0), ""));
        for command in &commands {
            assert!(script.out.contains(command), "{shell}: no {command}");
        }
    }
    bench.nesl(&["completions", "csh"]).fails(2, &["invalid value 'csh'", "bash"]);
    let script = bench.nesl(&["completions", "bash"]).out;
    // The shell itself, asked for what can follow `nesl ru`.
    let asked = "COMP_WORDS=(nesl ru); COMP_CWORD=1; _nesl nesl ru nesl; echo \"${COMPREPLY[@]}\"";
    finish(bench.command(Path::new("bash")).args(["-c", &format!("{script}\n{asked}")]), "").prints("run\n");

    bench.nesl(&["man", "pages/man1"]).prints("");
    for command in commands.iter().filter(|&&command| command != "help") {
        let page = std::fs::read_to_string(bench.path(&format!("pages/man1/nesl-{command}.1"))).unwrap();
        assert!(page.contains(".SH NAME") && page.contains(&format!("nesl {command}")), "{command}: {page}");
    }
    let page = std::fs::read_to_string(bench.path("pages/man1/nesl.1")).unwrap();
    assert!(page.contains("evaluate"), "{page}");
    bench.write("file", "");
    bench.nesl(&["man", "file"]).fails(1, &["cannot write file"]);
}

#[test]
fn options_are_shown_where_they_matter() {
    let bench = Bench::new();
    let help = |command: &str| bench.nesl(&[command, "--help"]).out;
    for (command, shown, hidden) in [
        ("run", &["--threads", "--seed", "--color"][..], &[][..]),
        ("repl", &["--threads", "--seed", "--color"], &[]),
        ("check", &["--color", "--message-format"], &["--threads", "--seed"]),
        ("build", &["--color", "--output"], &["--threads", "--ranks"]),
        ("fmt", &["--color", "--check"], &["--threads", "--ranks"]),
        ("doc", &["--all"], &["--threads", "--color", "Running"]),
        ("explain", &["--help"], &["--threads", "Running"]),
    ] {
        let text = help(command);
        for option in shown {
            assert!(text.contains(option), "{command}: no {option} in\n{text}");
        }
        for option in hidden {
            assert!(!text.contains(option), "{command}: {option} in\n{text}");
        }
    }
}

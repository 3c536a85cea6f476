//! `nesl run`: what is run, what is printed, how errors end, with which codes.

mod common;

use common::{Bench, example, finish};
use std::path::Path;
use std::process::Stdio;

const ENGINES: [&str; 3] = ["oracle", "reference", "threads"];

#[test]
fn examples_print_their_results_from_any_folder() {
    let bench = Bench::new();
    for engine in ENGINES {
        let run = |file: &str, arguments: &[&str]| {
            let file = example(file);
            bench.nesl(&[&["run", "--engine", engine, &file, "--"], arguments].concat())
        };
        run("quicksort/quicksort.nesl", &[]).prints("[-9, -9, -8, -3, 0, 5, 8, 14, 17, 19]\n");
        run("primes/primes.nesl", &["1000"]).prints("168\n");
        run("primes/primes.nesl", &["2"]).prints("0\n");
        run("string_search/string_search.nesl", &["an", "a banana"]).prints("[3, 5]\n");
        run("string_search/string_search.nesl", &["longer", "short"]).prints("[]\n");
    }
    bench.nesl(&["run", &example("primes/primes.nesl"), "--", "1000000"]).prints("78498\n");
    let sample = example("string_search/sample.txt");
    let found =
        bench.nesl(&["run", &example("string_search/string_search.nesl"), "--", "parallel", &format!("@{sample}")]);
    let text = std::fs::read_to_string(&sample).unwrap();
    let expected: Vec<String> = text.match_indices("parallel").map(|(position, _)| position.to_string()).collect();
    found.prints(&format!("[{}]\n", expected.join(", ")));
}

#[test]
fn top_level_expressions_print_bare_values_and_nothing_else_does() {
    let text = "function inc(a) = a + 1;\nx = inc(1);\nx;\n(1, 2.5, t, `a, \"b\");\n[] int;\n{inc(a) : a in [1, 2]};\n";
    let bench = Bench::with("a.nesl", text);
    for engine in ENGINES {
        bench.nesl(&["run", "a.nesl", "--engine", engine]).prints("2\n(1, 2.5, t, `a, \"b\")\n[]\n[2, 3]\n");
    }
    bench.write("nothing.nesl", "x = 1;");
    bench.nesl(&["run", "nothing.nesl"]).prints("");
}

#[test]
fn random_numbers_depend_on_the_seed_alone() {
    let bench = Bench::with("a.nesl", "{rand(1000) : i in [0:5]};\nrand(1000000);\nrand(1000000);\npi;\nrand(1.0);");
    let run = |engine: &str, seed: &str| bench.nesl(&["run", "--seed", seed, "--engine", engine, "a.nesl"]).out;
    let first = run("threads", "0");
    assert_eq!(run("threads", "0"), first);
    assert_eq!(run("reference", "0"), first);
    assert_eq!(run("oracle", "0"), first);
    assert_ne!(run("threads", "-7"), first);
    let lines: Vec<&str> = first.lines().collect();
    assert_ne!(lines[1], lines[2], "forms draw numbers of their own");
}

#[test]
fn compile_errors_are_counted_and_end_with_code_1() {
    let bench = Bench::with("a.nesl", "x = 1 + t;\ny = nothing(2);\nz = 3;\n");
    bench.nesl(&["run", "a.nesl"]).fails(1, &["a.nesl:1:", "a.nesl:2:", "nothing", "2 errors"]);
    bench.write("b.nesl", "1 +;");
    let ran = bench.nesl(&["run", "b.nesl", "--color", "always"]);
    ran.fails(1, &["1 error", "\u{1b}["]);
    assert!(!bench.nesl(&["run", "b.nesl"]).err.contains('\u{1b}'));
    bench.nesl(&["run", "missing.nesl"]).fails(1, &["missing.nesl", "No such file"]);
    bench.nesl(&["run", "."]).fails(1, &["folder"]);
    bench.write("c.nesl", b"x = 1;\n\xff\xfe");
    bench.nesl(&["run", "c.nesl"]).fails(1, &["line 2", "UTF-8"]);
    bench.write("d.nesl", [0u8, 1, 2, 3, b'%', b'"', b'`']);
    assert_eq!(bench.nesl(&["run", "d.nesl"]).code, Some(1));
}

#[test]
fn run_time_errors_show_the_place_in_user_code() {
    let bench = Bench::with("a.nesl", "function last(v) = v[#v];\n1;\n{last(v) : v in [[1, 2, 3]]};\n2;\n");
    for engine in ENGINES {
        let ran = bench.nesl(&["run", "--engine", engine, "a.nesl"]);
        ran.fails(1, &["E0401", "index 3 is out of range for a sequence of length 3", "a.nesl:1:", "v[#v]"]);
        assert_eq!(ran.out, "1\n", "what came before is printed, what comes after is not");
    }
    bench.write("b.nesl", "take([1, 2], 5);");
    bench.nesl(&["run", "b.nesl"]).fails(1, &["E0410", "b.nesl:1:1", "in `take`, called here", "Help"]);
    bench.write("c.nesl", "function sink(n) = 1 + sink(n + 1);\nsink(0);");
    bench.nesl(&["run", "c.nesl"]).fails(1, &["E0421", "c.nesl:1:"]);
    bench.write("d.nesl", "sum(rank([0:1000000]));");
    bench.nesl(&["run", "d.nesl"]).prints("499999500000\n");
    bench.nesl(&["run", "--max-memory", "1M", "d.nesl"]).fails(1, &["E0420", "out of memory"]);
}

#[test]
fn main_and_its_arguments_must_go_together() {
    let bench = Bench::with("a.nesl", "function main(n, scale) = float(n) * scale;");
    bench.nesl(&["run", "a.nesl", "--", "3", "2"]).prints("6.0\n");
    bench.nesl(&["run", "a.nesl", "--", "-3", "2.5"]).prints("-7.5\n");
    let expectation = ["usage: nesl run a.nesl N SCALE", "n : int", "scale : float"];
    bench.nesl(&["run", "a.nesl"]).fails(2, &expectation);
    bench.nesl(&["run", "a.nesl", "--", "1"]).fails(2, &expectation);
    bench.nesl(&["run", "a.nesl", "--", "1", "2", "3"]).fails(2, &["main takes 2 arguments, not 3"]);
    bench.nesl(&["run", "a.nesl", "--", "1.5", "2"]).fails(2, &["argument 1 (n : int)", "float", "N SCALE"]);
    bench.nesl(&["run", "a.nesl", "--", "1", "[2.0"]).fails(2, &["argument 2 (scale : float)", "not closed"]);
    bench.write("b.nesl", "1;");
    bench.nesl(&["run", "b.nesl", "--", "1"]).fails(2, &["no main"]);
    bench.nesl(&["run", "b.nesl", "1"]).fails(2, &["no main"]);
    // With expressions beside it, main may go without arguments.
    bench.write("c.nesl", "function main(n) = n + 1;\n5;");
    bench.nesl(&["run", "c.nesl"]).prints("5\n");
    bench.nesl(&["run", "c.nesl", "--", "1"]).prints("2\n");
}

#[test]
fn main_sees_the_values_of_its_file() {
    let bench = Bench::with("a.nesl", "base = 10;\nunused = 1 / 0;\nfunction main(n) = n + base;\nunused;");
    for engine in ENGINES {
        bench.nesl(&["run", "--engine", engine, "a.nesl", "--", "1"]).prints("11\n");
    }
}

#[test]
fn stats_and_options_are_for_any_engine() {
    let bench = Bench::with("a.nesl", "sum([0:1000]);");
    let ran = bench.nesl(&["run", "--stats", "--threads", "2", "a.nesl"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "499500\n"));
    assert!(ran.err.contains("instructions") && ran.err.contains("largest part"), "{}", ran.err);
    bench.nesl(&["run", "--threads", "0", "a.nesl"]).fails(2, &["--threads"]);
    bench.nesl(&["run", "--max-memory", "lots", "a.nesl"]).fails(2, &["--max-memory"]);
    bench.nesl(&["run", "--engine", "steam", "a.nesl"]).fails(2, &["steam"]);
    bench.nesl(&["nonsense"]).fails(2, &["nonsense"]);
    bench.nesl(&["run", "--engine", "mpi", "--threads", "1", "--help"]).prints(&bench.nesl(&["run", "--help"]).out);
}

#[test]
fn few_instances_that_read_much_have_all_threads_each_as_long_as_they_read_less() {
    let bench = Bench::with(
        "less.nesl",
        "function bits(v, k) = if #v < 2 then #v else\n let w = {x / 2 : x in v | rem(x, 2) == k} in sum({bits(w, i) : i in [0, 1]});
         function main(n) : int -> int = bits([0:n], 0);",
    );
    bench.write(
        "same.nesl",
        "function tree(v, d, k) = if d == 0 then v[k] else sum({tree(v, d - 1, 2 * k + i) : i in [0, 1]});
         function main(n) : int -> int = tree([5:n], 12, 0);",
    );
    let instructions = |file: &str, threads: &str, result: &str| {
        let ran = bench.nesl(&["run", "--stats", "--threads", threads, file, "--", "1048576"]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(0), result), "{ran:?}");
        let row = ran.err.lines().nth(1).unwrap_or_else(|| panic!("{ran:?}"));
        row.split_whitespace().nth(1).and_then(|count| count.parse::<u64>().ok()).unwrap_or_else(|| panic!("{ran:?}"))
    };
    // Calls whose trial takes too long are lifted, whatever they read. On a busy machine that may happen to any of them,
    // so that only the least of several runs says what reading is counted as.
    let least = |file: &str, threads: &str, result: &str, enough: u64| {
        let mut least = u64::MAX;
        for _ in 0..20 {
            least = least.min(instructions(file, threads, result));
            if least < enough {
                break;
            }
        }
        least
    };
    // Of the numbers below 2^20 there are 2^19 at two instances and 2^18 at each of the next two, and fewer at none.
    let one = instructions("less.nesl", "1", "1048576\n");
    let two = least("less.nesl", "2", "1048576\n", one + 100);
    assert!(one + 10 < two && two < one + 100, "{one} and {two} instructions");
    // 5 and the numbers after it, 2^12 in all.
    let one = instructions("same.nesl", "1", "8407040\n");
    let two = least("same.nesl", "2", "8407040\n", one + 50);
    assert!(two < one + 50, "{one} and {two} instructions");
}

#[test]
fn loops_over_short_columns_do_turns_in_native_code() {
    let bench = Bench::with(
        "a.nesl",
        "function chain(v, turns) = if turns == 0 then v
           else chain(take(remove_duplicates({rem(3 * x + 1, 101) : x in v} ++ [turns]), 3), turns - 1);
         chain([7, 27, 97], 1000);",
    );
    let instructions = |options: [&str; 2]| {
        let ran = bench.nesl(&["run", "--stats", options[0], options[1], "a.nesl"]);
        let row = ran.err.lines().nth(1).unwrap_or_else(|| panic!("{ran:?}"));
        let count = row.split_whitespace().nth(1).and_then(|count| count.parse::<u64>().ok());
        (ran.out.clone(), count.unwrap_or_else(|| panic!("{ran:?}")))
    };
    let (by_lines, mixed) = (instructions(["--native", "off"]), instructions(["--strategy", "mixed"]));
    assert_eq!(by_lines.0, mixed.0);
    // Two or three turns of some twenty instructions are one call.
    assert!(by_lines.1 > 10_000 && mixed.1 < by_lines.1 / 2, "{by_lines:?} and {mixed:?}");
}

#[test]
fn help_has_examples() {
    let bench = Bench::new();
    let list = bench.nesl(&["--help"]).out;
    let (_, list) = list.split_once("Commands:\n").unwrap_or_else(|| panic!("{list}"));
    // A command stands behind two spaces, what continues its line behind more.
    let commands = list.lines().take_while(|line| !line.is_empty());
    let commands = commands.filter_map(|line| line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')));
    let commands: Vec<&str> = commands.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(commands.len() > 15 && commands.contains(&"run") && commands.contains(&"man"), "{commands:?}");
    // `help` is the only one that shows no text of its own.
    for command in std::iter::once("").chain(commands).filter(|command| *command != "help") {
        let words: Vec<&str> = [command, "--help"].into_iter().filter(|word| !word.is_empty()).collect();
        let ran = bench.nesl(&words);
        assert_eq!(ran.code, Some(0));
        let (_, examples) = ran.out.split_once("Example").unwrap_or_else(|| panic!("{command}: {}", ran.out));
        let examples: Vec<&str> = examples.lines().filter_map(|line| Some(&line[line.find("nesl ")?..])).collect();
        assert!(!examples.is_empty(), "{command}: {}", ran.out);
        examples.into_iter().for_each(works);
    }
}

/// Runs an example of a help text, in a folder that has the examples of the repository, a file of numbers, a program
/// with a benchmark, and what a home has. What never ends is ended after a while.
#[allow(clippy::unwrap_used, reason = "a panic in a helper is a failed test")]
fn works(example: &str) {
    let bench = Bench::new();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    bench.write("numbers.txt", "3 1 2\n");
    std::os::unix::fs::symlink(examples, bench.path("examples")).unwrap();
    for folder in ["programs", "bin", ".local/share/bash-completion/completions"] {
        std::fs::create_dir_all(bench.path(folder)).unwrap();
    }
    bench.write("programs/sums.nesl", "function bench_sum() = sum([0:1000]);\n");
    // Not every machine has `man`: here it shows that there is a page.
    bench.write("bin/man", "#!/bin/sh\ntest -s \"$HOME/.local/share/man/man1/$1.1\"\n");
    let runnable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(bench.path("bin/man"), runnable).unwrap();
    let folder = Path::new(env!("CARGO_BIN_EXE_nesl")).parent().unwrap();
    let path = format!("{}:{}:{}", bench.path("bin").display(), folder.display(), std::env::var("PATH").unwrap());
    let is_endless = example.starts_with("nesl watch");
    let command = if is_endless { format!("timeout --signal=INT 5 {example}") } else { example.to_owned() };
    let ran = finish(
        bench.command(Path::new("sh")).args(["-c", &command]).env("PATH", path).env("HOME", bench.folder.path()),
        "",
    );
    // The server of an editor that leaves without a word ends with an error, as its protocol wants.
    let expected = if is_endless { 124 } else { i32::from(example == "nesl lsp") };
    assert_eq!(ran.code, Some(expected), "{example}: {ran:?}");
}

#[test]
fn a_reader_that_leaves_ends_the_output_quietly() {
    let bench = Bench::with("a.nesl", "[0:1000000];\n1;");
    let mut child = bench
        .command(Path::new(env!("CARGO_BIN_EXE_nesl")))
        .args(["run", "a.nesl"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let bench = Bench::with("a.nesl", "1;");
    bench.write("b.nesl", "function next(x) = x+1;");
    bench.nesl(&["build", "a.nesl", "-o", "built"]).prints("");
    let nesl = Path::new(env!("CARGO_BIN_EXE_nesl")).to_owned();
    let commands = [
        (&nesl, &["run", "a.nesl"][..], "No space"),
        (&nesl, &["run", "--engine", "oracle", "a.nesl"], "No space"),
        (&nesl, &["vcode", "a.nesl"], "No space"),
        (&nesl, &["vcode", "--list-passes"], "No space"),
        (&nesl, &["check", "b.nesl"], "No space"),
        (&nesl, &["fmt", "--check", "b.nesl"], "No space"),
        (&nesl, &["--help"], "No space"),
        (&nesl, &["help", "run"], "No space"),
        (&nesl, &["--version"], "No space"),
        (&nesl, &["doc", "sum"], "No space"),
        (&nesl, &["apropos", "sum"], "No space"),
        (&nesl, &["explain", "E0401"], "No space"),
        (&nesl, &["explain"], "No space"),
        (&bench.path("built"), &[], "No space"),
        (&bench.path("built"), &["--help"], "No space"),
    ];
    for (program, arguments, reason) in &commands {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = bench.command(program).args(*arguments).stdout(full).stderr(Stdio::piped()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        assert!(said.contains("cannot write the output") && said.contains(reason), "{arguments:?}: {said}");
    }
    // An output that the shell has closed is none at all.
    for (program, arguments, _) in &commands {
        let mut command = bench.command(Path::new("sh"));
        command.args(["-c", "exec \"$0\" \"$@\" >&-"]).arg(program).args(*arguments);
        finish(&mut command, "").fails(1, &["cannot write the output", "Bad file descriptor"]);
    }
    // What prints nothing needs none.
    bench.write("quiet.nesl", "x = 1;");
    let mut command = bench.command(Path::new("sh"));
    finish(command.args(["-c", "\"$0\" run quiet.nesl >&-"]).arg(&nesl), "").prints("");
    // A program's own printing, and a session's answers.
    bench.write("print.nesl", "x = print_line(\"a\");");
    let mut command = bench.command(Path::new("sh"));
    finish(command.args(["-c", "\"$0\" run print.nesl >&-"]).arg(&nesl), "").fails(1, &["Bad file descriptor"]);
    let mut command = bench.command(Path::new("sh"));
    finish(command.args(["-c", "\"$0\" >&-"]).arg(&nesl), "1 + 1;\n").fails(1, &["Bad file descriptor"]);
}

#[cfg(target_os = "linux")]
#[test]
fn remarks_that_nobody_can_read_end_nothing() {
    let bench = Bench::with("a.nesl", "let x = 1 in 2;");
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let mut command = bench.command(Path::new(env!("CARGO_BIN_EXE_nesl")));
    let output = command.args(["run", "--stats", "--profile", "a.nesl"]).stderr(full).output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stdout).as_ref()), (Some(0), "2\n"));
}

#[test]
fn several_ranks_without_mpi_are_refused_once() {
    if cfg!(feature = "mpi") {
        return;
    }
    let bench = Bench::with("a.nesl", "1;");
    let start = |rank: &str| {
        let mut command = bench.command(Path::new(env!("CARGO_BIN_EXE_nesl")));
        command.args(["run", "a.nesl"]).env("OMPI_COMM_WORLD_SIZE", "2").env("OMPI_COMM_WORLD_RANK", rank);
        finish(&mut command, "")
    };
    start("0").fails(1, &["without MPI", "--features mpi"]);
    let second = start("1");
    assert_eq!((second.code, second.out.as_str(), second.err.as_str()), (Some(1), "", ""));
    bench.nesl(&["run", "--engine", "mpi", "a.nesl"]).fails(1, &["--features mpi"]);
}

/// Runs a program, and interrupts it a while after it has begun its output as expected. What follows is read, and its
/// length is the result.
#[cfg(unix)]
#[allow(clippy::unwrap_used, reason = "a panic in a helper is a failed test")]
fn interrupted(bench: &Bench, program: &str, expected: &str) -> usize {
    use std::io::Read;
    use std::time::{Duration, Instant};
    let mut child = bench
        .command(Path::new(env!("CARGO_BIN_EXE_nesl")))
        .args(["run", program])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut start = vec![0; expected.len()];
    child.stdout.as_mut().unwrap().read_exact(&mut start).unwrap();
    assert_eq!(String::from_utf8_lossy(&start), expected);
    std::thread::sleep(Duration::from_millis(100));
    let status = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(status.success());
    let start = Instant::now();
    let output = child.wait_with_output().unwrap();
    eprintln!("{program} interrupted after {:?}", start.elapsed());
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "interrupted\n");
    output.stdout.len()
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_a_run() {
    let bench = Bench::with("a.nesl", "function fib(n) = if n < 2 then n else fib(n - 1) + fib(n - 2);\n1;\nfib(80);");
    assert_eq!(interrupted(&bench, "a.nesl", "1\n"), 0);
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_reading_and_printing() {
    let text = "1234567 ".repeat(1 << 20);
    let bench = Bench::with("numbers.txt", &text);
    let reading = "function again(a) = let v = read_vector_from_file([] int, \"numbers.txt\") in again(a + #v);";
    bench.write("read.nesl", format!("{reading}\n1;\nagain(0);"));
    assert_eq!(interrupted(&bench, "read.nesl", "1\n"), 0);
    // The pipe is full long before the end, and the rest does not come.
    bench.write("print.nesl", "{9000000 + i : i in [0:1000000]};");
    let rest = interrupted(&bench, "print.nesl", "[9000000, 9000001, ");
    assert!(rest < 2 << 20, "{rest} characters after the interrupt");
}

#[test]
fn what_grows_too_large_ends_with_its_place_and_not_the_process() {
    let bench = Bench::with("a.nesl", "function grow(v) = grow(v ++ v);\n\nsum(grow([0:1000]));");
    for engine in ["threads", "reference"] {
        let ran = bench.nesl(&["run", "--engine", engine, "--max-memory", "200M", "a.nesl"]);
        ran.fails(1, &["E0420", "out of memory", "a.nesl:1:24", "in `grow`"]);
    }
    // Within the limit, what dies on the way counts no more: its memory is given back for blocks of other sizes.
    bench.write(
        "b.nesl",
        "function shrink(n) = if n < 1000 then n else shrink(#{i : i in [0:n] | rem(i, 8) < 7});\nshrink(4000000);",
    );
    bench.nesl(&["run", "--max-memory", "120M", "b.nesl"]).prints("892\n");
}

#[test]
fn filters_need_room_for_what_they_keep_alone() {
    let bench = Bench::with("a.nesl", "{i in [0:50000000] | rem(i, 20000000) == 19999999};");
    for threads in ["1", "2"] {
        let ran = bench.nesl(&["run", "--threads", threads, "--max-memory", "32M", "a.nesl"]);
        ran.prints("[19999999, 39999999]\n");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_the_system_refuses_ends_with_its_place() {
    let bench = Bench::with("a.nesl", "function grow(v) = grow(v ++ v);\nsum(grow([0:1000]));");
    let mut shell = bench.command(Path::new("sh"));
    shell.args(["-c", "ulimit -v 1500000; exec \"$0\" run --threads 2 a.nesl", env!("CARGO_BIN_EXE_nesl")]);
    finish(&mut shell, "").fails(1, &["E0420", "out of memory", "a.nesl:1:"]);
}

#[test]
fn questions_of_sessions_stand_in_files_too() {
    let text = "function twice(x) : int -> int \"Twice as much.\" = 2 * x;\nprint_line(\"first\");\ndescribe twice;\n\
                describe plus_scan;\napropos \"running sum\";\napropos frobnicate;\ndescribe later;\n\
                function later(x) = twice(x);\nlater(3);\n";
    let bench = Bench::with("a.nesl", text);
    let told = |command: &str, word: &str| bench.nesl(&[command, word]).out;
    let expected = format!(
        "first\ntwice : int -> int\nTwice as much.\ndefined in a.nesl:1\n{}{}nothing has to do with `frobnicate`\n\
         later : int -> int\ndefined in a.nesl:8\n6\n",
        told("doc", "plus_scan"),
        told("apropos", "running sum")
    );
    bench.nesl(&["a.nesl"]).prints(&expected);
    bench.nesl(&["--engine", "oracle", "a.nesl"]).prints(&expected);
    assert_eq!(bench.nesl(&["check", "a.nesl"]).code, Some(0));
    // What nobody knows, and what only sessions have, is said; names of one's own are names.
    bench.write("b.nesl", "describe plus_scam;\n");
    bench.nesl(&["b.nesl"]).fails(1, &["b.nesl:1:10", "unknown name `plus_scam`", "plus_scan"]);
    bench.write("c.nesl", "1;\nset shown 3;\n");
    bench.nesl(&["c.nesl"]).fails(1, &["c.nesl:2:1", "`set` changes settings of sessions", "--no-progress"]);
    bench.piped(&[], ":load c.nesl").fails(1, &["c.nesl:2:1"]);
    bench.write("d.nesl", "function describe(x) = x + 1;\ntotal = 3;\ndescribe total;\n");
    bench.nesl(&["d.nesl"]).prints("4\n");
}

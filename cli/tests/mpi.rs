//! The command on the ranks of an MPI job: the output of one process, printed once, errors too.
//!
//! Needs the feature `mpi` and a launcher (`$NESL_MPIRUN`, `mpirun`, `mpiexec`); skipped without a launcher.
#![cfg(feature = "mpi")]
#![allow(clippy::unwrap_used, reason = "a panic in a helper is a failed test")]

mod common;

use common::{Bench, OVERSUBSCRIBED, Ran, example, finish, launcher, turn};
use std::path::Path;

/// Runs a program on ranks; nothing without a launcher.
fn job(bench: &Bench, ranks: usize, program: &Path, arguments: &[&str], input: &str) -> Option<Ran> {
    let _turn = turn();
    let mut command = bench.command(&launcher()?);
    command.arg("-n").arg(ranks.to_string()).arg(program).args(arguments);
    command.envs(OVERSUBSCRIBED).env("MPIEXEC_TIMEOUT", "120");
    Some(finish(&mut command, input))
}

fn nesl(bench: &Bench, ranks: usize, arguments: &[&str]) -> Option<Ran> {
    job(bench, ranks, Path::new(env!("CARGO_BIN_EXE_nesl")), arguments, "")
}

fn session(bench: &Bench, ranks: usize, arguments: &[&str], input: &str) -> Option<Ran> {
    job(bench, ranks, Path::new(env!("CARGO_BIN_EXE_nesl")), arguments, input)
}

#[test]
fn ranks_act_outside_once_and_read_their_own_parts() {
    let text = r#"
append_string_to_file("once\n", "log.txt");
v = read_vector_from_file([] int, "numbers.txt");
write_vector_to_npy({x * 2 : x in v}, "doubled.npy");
w = read_vector_from_file([] int, "doubled.npy");
(#v, sum(v), sum(w), w[19999]);
all({if rem(i, 5000) == 0 then print_line(@i) else t : i in v});
write_lines_to_file({@x : x in v}, "lines.txt");
eql({parse_int(l) : l in read_lines_from_file("lines.txt")}, {(x, t) : x in v});
shell_command("cat log.txt", "");
let s = open_check(open_in_file("lines.txt")); ((line, _), _, _) = read_line(s) in line;
error("the " ++ "end");
"#;
    let numbers: Vec<i64> = (0..20_000).collect();
    let words: Vec<String> = numbers.iter().map(i64::to_string).collect();
    let sum: i64 = numbers.iter().sum();
    let expected = format!("(20000, {sum}, {}, 39998)\n0\n5000\n10000\n15000\nt\nt\n\"once\\n\"\n\"0\"\n", 2 * sum);
    for ranks in [1, 2, 3, 4] {
        let bench = Bench::with("a.nesl", text);
        bench.write("numbers.txt", words.join("\n"));
        let Some(ran) = nesl(&bench, ranks, &["run", "a.nesl"]) else { return };
        assert_eq!((ran.code, ran.out.as_str()), (Some(1), expected.as_str()), "{ranks} ranks: {}", ran.err);
        assert_eq!(ran.err.matches("E0423").count(), 1, "{ranks} ranks: {}", ran.err);
        assert!(ran.err.contains("the end"), "{ranks} ranks: {}", ran.err);
        let doubled = std::fs::read(bench.path("doubled.npy")).unwrap();
        let elements: Vec<u8> = numbers.iter().flat_map(|number| (number * 2).to_le_bytes()).collect();
        assert!(doubled.ends_with(&elements), "{ranks} ranks");
    }
}

#[test]
fn ranks_write_the_files_of_one_process() {
    let text = r#"
v = read_vector_from_file([] int, "numbers.txt");
lines = read_lines_from_file("lines.txt");
write_vector_to_npy(v, "ints.npy");
write_vector_to_npy({sqrt(float(x)) : x in v}, "floats.npy");
write_vector_to_npy({rem(x, 3) == 0 : x in v}, "bools.npy");
write_matrix_to_npy({[i, i * i] : i in v}, "matrix.npy");
write_vector_to_npy([] float, "none.npy");
write_lines_to_file({reverse(line) : line in lines}, "reversed.txt");
append_string_to_file("the end", "reversed.txt");
write_string_to_file("", "empty.txt");
write_string_to_file("short", "numbers.txt");
write_string_to_file("gone", "/dev/null");
{#row : row in read_matrix_from_file([] int, "rows.txt")};
write_string_to_file("x", "missing/a.txt");
"#;
    let files = |bench: &Bench| {
        let names = std::fs::read_dir(bench.path(".")).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        let read = |name: String| (std::fs::read(bench.path(&name)).unwrap_or_default(), name);
        names.into_iter().map(read).collect::<Vec<_>>()
    };
    let prepared = || {
        let bench = Bench::with("a.nesl", text);
        let words: Vec<String> = (0..20_000).map(|number| number.to_string()).collect();
        bench.write("numbers.txt", words.join("\n"));
        // Lines and rows that are longer than the share of a rank.
        bench.write("lines.txt", format!("one\r\n\n{}\ntwo\n{}", words.concat(), words[..9000].concat()));
        bench.write("rows.txt", format!("1 2\n{}\n\n{}\n", words.join(" "), words[..5000].join("\t")));
        bench
    };
    let bench = prepared();
    let alone = bench.nesl(&["run", "a.nesl"]);
    assert_eq!(alone.code, Some(1), "{}", alone.err);
    assert!(alone.out.ends_with("[2, 20000, 0, 5000]\n") && alone.err.contains("cannot open missing/a.txt"));
    let expected = files(&bench);
    assert!(expected.iter().all(|(_, name)| !name.contains("part")) && expected.len() > 10);
    for ranks in [1, 2, 3, 4] {
        let bench = prepared();
        let Some(ran) = nesl(&bench, ranks, &["run", "a.nesl"]) else { return };
        assert_eq!((ran.code, &ran.out), (Some(1), &alone.out), "{ranks} ranks: {}", ran.err);
        assert_eq!(ran.err.matches("cannot open missing/a.txt").count(), 1, "{ranks} ranks: {}", ran.err);
        for (own, expected) in files(&bench).iter().zip(&expected) {
            assert!(own == expected, "{ranks} ranks: {} is not {}", own.1, expected.1);
        }
    }
}

#[test]
fn ranks_print_what_one_process_prints() {
    let bench = Bench::new();
    let numbers: String = (0..20_000).map(|i| format!("{}\n", i * 6_119 % 20_000)).collect();
    bench.write("numbers.txt", numbers);
    let quicksort = example("quicksort/quicksort.nesl");
    let alone = bench.nesl(&["run", &quicksort, "--", "numbers.txt"]);
    for ranks in [1, 2, 3, 4] {
        let Some(ran) = nesl(&bench, ranks, &["run", &quicksort, "--", "numbers.txt"]) else { return };
        assert_eq!((ran.code, &ran.out), (Some(0), &alone.out), "{ranks} ranks: {}", ran.err);
    }
    bench.nesl(&["build", &example("primes/primes.nesl"), "-o", "primes"]).prints("");
    let Some(ran) = job(&bench, 4, &bench.path("primes"), &["--stats", "100000"], "") else { return };
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "9592\n"));
    assert!(ran.err.contains("imbalance"), "{}", ran.err);
}

#[test]
fn rank_0_prints_its_own_profile() {
    let bench = Bench::with("a.nesl", "function main(n) =\n  let v = {x * x : x in [0:n]} in\n  sum(v) + #v;");
    let Some(ran) = nesl(&bench, 2, &["run", "--profile", "a.nesl", "--", "100000"]) else { return };
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "333328333450000\n"), "{}", ran.err);
    for part in ["a.nesl:2   let v = {x * x : x in [0:n]} in", "all instructions"] {
        assert_eq!(ran.err.matches(part).count(), 1, "{}", ran.err);
    }
}

#[test]
fn a_session_on_ranks_is_that_of_one_process() {
    let bench = Bench::with("defs.nesl", "function double(a) = 2 * a;\nk = double(4);\n");
    let input = r#"v = [0:100000];
sum({x * x : x in v});
sum({1 / (x - 99999) : x in v});
v = {x in v | x > 99990};
v; :load
:load defs.nesl
double(k);
{rand(100) : x in v}; rand(1000);
k = 1 / 0; nothing = 1;
rand(1000);
print_line("hello " ++ @k);
[] float;
:type v
1 + t;
w = {float(x) / 3.0 : x in [0:50000]};
sum(w);
write_vector_to_npy(w, "/dev/full/none");
write_lines_to_file({@x : x in w}, "w.txt");
#read_lines_from_file("w.txt");
function count_down(n) = if n == 0 then
  0
else count_down(n - 1);
count_down(1000);
2 +"#;
    let alone = bench.piped(&["repl"], input);
    alone.fails(1, &["E0402", "E0202", "none"]);
    for ranks in [1, 2, 3] {
        let Some(ran) = session(&bench, ranks, &[], input) else { return };
        assert_eq!((ran.code, &ran.out), (Some(1), &alone.out), "{ranks} ranks: {}", ran.err);
        assert_eq!(ran.err.matches(alone.err.trim_end()).count(), 1, "{ranks} ranks: {}", ran.err);
    }
    // An end of its own; what comes after is not read.
    let Some(ran) = session(&bench, 3, &["repl", "--stats"], "sum({x : x in [0:20000]});\n:quit\n1 / 0;\n") else {
        return;
    };
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "it = 199990000 : int\n"), "{}", ran.err);
    assert!(ran.err.contains("imbalance") && !ran.err.contains("E0402"), "{}", ran.err);
}

#[test]
fn errors_are_said_once_and_end_the_job() {
    let bench = Bench::with("compile.nesl", "1 + t;");
    bench.write("divide.nesl", "v = [0:10000];\nsum({1 / (x - 9999) : x in v});");
    let lines: String = (0..9_000).map(|i| if i == 8_000 { "oops\n".to_owned() } else { format!("{i}\n") }).collect();
    bench.write("bad.txt", lines);
    let quicksort = example("quicksort/quicksort.nesl");
    for (arguments, code, part) in [
        (vec!["run", "compile.nesl"], 1, "E0202"),
        (vec!["run", "divide.nesl"], 1, "division of 1 by zero"),
        (vec!["run", "missing.nesl"], 1, "missing.nesl"),
        (vec!["run", &quicksort, "--", "bad.txt"], 2, "line 8001"),
        (vec!["run", &quicksort, "--", "1", "2"], 2, "main takes one argument, not 2"),
        (vec!["run", "--engine", "reference", "divide.nesl"], 2, "--engine mpi"),
        (vec!["repl", "--engine", "oracle"], 2, "--engine mpi"),
    ] {
        let Some(ran) = nesl(&bench, 4, &arguments) else { return };
        assert_eq!((ran.code, ran.out.as_str()), (Some(code), ""), "{arguments:?}: {}", ran.err);
        assert_eq!(ran.err.matches(part).count(), 1, "{arguments:?}: {}", ran.err);
    }
}

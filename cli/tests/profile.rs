//! `--profile`: lines and counts are those of the program, times are of the run; and how long starting takes.

mod common;

use common::{Bench, Ran, finish};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// What a table says of a line of the program.
#[derive(Debug, PartialEq)]
struct Row {
    ms: f64,
    share: f64,
    instructions: u64,
    bytes: u64,
    native: bool,
    line: String,
}

/// The rows of the table that a run printed after its results, and the lines below them.
#[allow(clippy::unwrap_used, reason = "a panic in a helper is a failed test")]
fn table(ran: &Ran) -> (Vec<Row>, Vec<String>) {
    let (mut rows, mut below) = (Vec::new(), Vec::new());
    for text in ran.err.lines().skip_while(|line| !line.ends_with("  line")).skip(1) {
        let mut words = text.split_whitespace();
        let mut word = || words.next().unwrap();
        let ms = word().parse().unwrap();
        let Some(share) = word().strip_suffix('%') else {
            below.push(text.to_owned());
            continue;
        };
        let (share, instructions, bytes) = (share.parse().unwrap(), word().parse().unwrap(), word().parse().unwrap());
        // The columns before the last have fixed widths.
        let (native, line) = (text[50..58].trim() == "native", text[58..].to_owned());
        rows.push(Row { ms, share, instructions, bytes, native, line });
    }
    (rows, below)
}

/// The row whose line begins so.
#[track_caller]
fn row<'a>(rows: &'a [Row], start: &str) -> &'a Row {
    rows.iter().find(|row| row.line.starts_with(start)).unwrap_or_else(|| panic!("no {start} in {rows:#?}"))
}

const PROGRAM: &str = "\
% The data of main come from outside, so that nothing is computed by the compiler. %
function main(v) : [int] -> int =
  let doubled = {x + x : x in v};
      total   = sum(doubled);
      sorted  = sort(v)
  in
     total + sorted[0];
";

#[test]
fn lines_and_counts_are_those_of_the_program_on_every_engine() {
    let bench = Bench::with("a.nesl", PROGRAM);
    for engine in [&["--engine", "reference"][..], &["--native", "off"], &["--native", "on"], &["--threads", "1"]] {
        let ran = bench.nesl(&[&["run", "--profile"], engine, &["a.nesl", "--", "[3, 1, 2]"]].concat());
        assert_eq!((ran.code, ran.out.as_str()), (Some(0), "13\n"), "{ran:?}");
        let (rows, below) = table(&ran);
        let doubled = row(&rows, "a.nesl:3   let doubled = {x + x : x in v};");
        assert_eq!((doubled.instructions, doubled.bytes, doubled.native), (1, 24, false), "{ran:?}");
        // A library function counts for the line that calls it.
        assert_eq!(row(&rows, "a.nesl:5   sorted").bytes, 24, "{ran:?}");
        assert_eq!(row(&rows, "a.nesl:4   total").instructions, 1);
        assert!(row(&rows, "a.nesl:7   total + sorted[0];").instructions >= 2);
        let all = row(&rows, "all instructions");
        // Those four, and the one that main is called from: where it stands.
        let lines = &rows[..rows.len() - 1];
        assert!(lines.len() == 5 && row(lines, "a.nesl:2").instructions >= 1);
        assert_eq!(lines.iter().map(|row| row.instructions).sum::<u64>(), all.instructions);
        assert!(all.ms > 0.0 && all.share == 100.0);
        // Each is rounded.
        assert!(lines.iter().map(|row| row.share).sum::<f64>() <= 100.5);
        assert!(lines.is_sorted_by(|before, after| before.ms >= after.ms));
        assert!(below.len() == 2 && below[0].contains("compiling") && below[1].contains("outside"), "{below:?}");
    }
}

#[test]
fn all_that_a_run_counts_is_at_some_line() {
    let text = "function qs(a) = if #a < 2 then a else\n let p = a[#a / 2];\n s = {qs(v) : v in [{e in a | e < p}, {e in a | e > p}]}\n \
                in s[0] ++ {e in a | e == p} ++ s[1];\nfunction main(n) = qs({i * 7919 % n : i in [0:n]})[3];";
    let bench = Bench::with("a.nesl", text.replace("i * 7919 % n", "rem(i * 7919, n)"));
    for strategy in ["auto", "lift", "leaf"] {
        for native in ["off", "on", "check"] {
            let options = ["run", "--threads", "2", "--strategy", strategy, "--native", native, "--profile", "--stats"];
            let ran = bench.nesl(&[&options[..], &["a.nesl", "--", "10007"]].concat());
            assert_eq!((ran.code, ran.out.as_str()), (Some(0), "3\n"), "{ran:?}");
            let counted: Vec<u64> =
                ran.err.lines().nth(1).unwrap().split_whitespace().filter_map(|word| word.parse().ok()).collect();
            let (rows, _) = table(&ran);
            let all = row(&rows, "all instructions");
            assert_eq!((all.instructions, all.bytes), (counted[1], counted[4]), "{ran:?}");
            let lines = &rows[..rows.len() - 1];
            assert_eq!(lines.iter().map(|row| row.instructions).sum::<u64>(), all.instructions, "{ran:?}");
            assert_eq!(lines.iter().map(|row| row.bytes).sum::<u64>(), all.bytes, "{ran:?}");
            assert!(lines.iter().all(|row| row.line.starts_with("a.nesl:")), "{ran:?}");
            if (strategy, native) == ("leaf", "on") {
                assert!(row(&rows, "a.nesl:3").native, "{ran:?}");
            }
        }
    }
}

#[test]
fn as_many_lines_are_shown_as_the_user_wants() {
    let bench = Bench::with("a.nesl", PROGRAM);
    let ran = bench.nesl(&["run", "--profile=1", "a.nesl", "--", "[3, 1, 2]"]);
    let (rows, _) = table(&ran);
    assert_eq!(rows.iter().map(|row| row.line.as_str()).skip(1).collect::<Vec<_>>(), ["4 more", "all instructions"]);
    bench.nesl(&["run", "--profile=many", "a.nesl", "--", "[3]"]).fails(2, &["--profile"]);
    bench.nesl(&["run", "--profile", "--engine", "oracle", "a.nesl", "--", "[3]"]).fails(2, &["oracle", "reference"]);
    let help = bench.nesl(&["run", "--help"]).out;
    assert!(help.contains("--profile[=<LINES>]"), "{help}");
}

#[test]
fn a_run_that_fails_shows_what_it_did() {
    let bench = Bench::with("a.nesl", "function main(v) : [int] -> int =\n  let s = sum(v)\n  in\n   v[s];");
    let ran = bench.nesl(&["run", "--profile", "a.nesl", "--", "[1, 2]"]);
    ran.fails(1, &["E0401", "a.nesl:2   let s = sum(v)", "all instructions"]);
}

#[test]
fn a_profile_as_data_is_one_object() {
    let bench = Bench::with("a.nesl", PROGRAM);
    let ran = bench.nesl(&["run", "--profile", "--message-format", "json", "a.nesl", "--", "[3, 1, 2]"]);
    assert_eq!(ran.err.lines().count(), 1, "{ran:?}");
    let found: Value = serde_json::from_str(&ran.err).unwrap();
    let profile = &found["profile"];
    let lines = profile["lines"].as_array().unwrap();
    let doubled = lines.iter().find(|line| line["line"] == 3).unwrap();
    assert_eq!((&doubled["file"], &doubled["instructions"]), (&Value::from("a.nesl"), &Value::from(1)));
    assert_eq!(doubled["source"], "let doubled = {x + x : x in v};");
    let shares: f64 = lines.iter().map(|line| line["share"].as_f64().unwrap()).sum();
    assert!((0.99..=1.01).contains(&shares));
    assert!(profile["total"]["ms"].as_f64().unwrap() > 0.0);
    assert!(profile["compiling_ms"].as_f64().unwrap() > 0.0 && profile["outside_ms"].as_f64().unwrap() >= 0.0);
    assert_eq!((&profile["others"], &profile["rest"]["instructions"]), (&Value::from(0), &Value::from(0)));
}

#[test]
fn sessions_and_built_programs_have_profiles_too() {
    let bench = Bench::with("a.nesl", PROGRAM);
    let ran = bench.piped(&["--profile"], "v = [0:10];\nsum({x * x : x in v});");
    assert_eq!((ran.code, ran.out.lines().last()), (Some(0), Some("it = 285 : int")), "{ran:?}");
    let (rows, below) = table(&ran);
    assert!(row(&rows, "<input 2>:1   sum({x * x : x in v});").instructions > 0 && below.is_empty());
    bench.nesl(&["build", "a.nesl", "-o", "a"]).prints("");
    let ran = finish(bench.command(&bench.path("a")).args(["--profile", "[3, 1, 2]"]), "");
    assert_eq!(ran.out, "13\n");
    assert_eq!(row(&table(&ran).0, "a.nesl:3").instructions, 1);
}

#[test]
#[allow(clippy::unwrap_used, reason = "a panic in a test is a failed test")]
fn a_run_is_a_page_and_a_trace_as_well() {
    let bench = Bench::with("a.nesl", PROGRAM);
    let text = |name: &str| std::fs::read_to_string(bench.path(name)).unwrap();
    let reports = ["run", "--profile-html", "a.html", "--trace", "a.json"];
    bench.nesl(&[&reports[..], &["a.nesl", "[3, 1, 2]"]].concat()).prints("13\n");
    let page = text("a.html");
    assert!(page.contains("<title>a.nesl: where the time went</title>"), "{page}");
    assert!(page.contains("<td>1<td>24<td><td>  let doubled = {x + x : x in v};\n"), "{page}");
    let trace: Value = serde_json::from_str(&text("a.json")).unwrap();
    let at = |name: &str| trace.as_array().unwrap().iter().filter(|event| event["name"] == name).count();
    assert!(at("a.nesl:3") >= 1 && at("a.nesl:5") >= 1 && at("process_name") == 1, "{trace}");
    // What cannot be written is an error, after the answer; a program is not written over.
    let ran = bench.nesl(&["run", "--trace", "no/a.json", "a.nesl", "[3, 1, 2]"]);
    ran.fails(1, &["cannot write no/a.json"]);
    assert_eq!(ran.out, "13\n");
    bench.nesl(&["run", "--profile-html", "a.nesl", "[3]"]).fails(2, &["this is a program"]);
    bench.nesl(&["run", "--engine", "oracle", "--trace", "a.json", "a.nesl", "[3]"]).fails(2, &["oracle"]);
    bench.piped(&["--trace", "a.json"], "1;").fails(2, &["for runs of programs"]);
}

#[cfg(feature = "mpi")]
#[test]
#[allow(clippy::unwrap_used, reason = "a panic in a test is a failed test")]
fn a_trace_is_of_all_ranks() {
    use common::{launcher, turn};
    if launcher().is_none() {
        return;
    }
    let _turn = turn();
    let bench = Bench::with("a.nesl", "function main(n) = sum({x * x : x in [0:n]});");
    bench.nesl(&["run", "--ranks", "2", "--trace", "a.json", "a.nesl", "100000"]).prints("333328333350000\n");
    let text = std::fs::read_to_string(bench.path("a.json")).unwrap();
    let trace: Value = serde_json::from_str(&text).unwrap();
    let of_rank =
        |rank: u64| trace.as_array().unwrap().iter().filter(|event| event["pid"] == rank && event["ph"] == "X").count();
    assert!(of_rank(0) >= 1 && of_rank(1) >= 1, "{trace}");
}

/// The middle one of the times that something takes.
fn median(mut act: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..11)
        .map(|_| {
            let start = Instant::now();
            act();
            start.elapsed()
        })
        .collect();
    times.sort();
    times[times.len() / 2]
}

/// Says how long it takes to start; on machines that do other things, too, no time would be a mistake.
#[test]
fn starting_takes_a_moment() {
    let bench = Bench::with("a.nesl", "sum([1,2,3]);");
    eprintln!("nesl run of one line: {:?}", median(|| bench.nesl(&["run", "a.nesl"]).prints("6\n")));
    let mut session = bench
        .command(Path::new(env!("CARGO_BIN_EXE_nesl")))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut input, mut output) = (session.stdin.take().unwrap(), BufReader::new(session.stdout.take().unwrap()));
    let mut ask = || {
        input.write_all(b"sum([1,2,3]);\n").unwrap();
        let mut answer = String::new();
        output.read_line(&mut answer).unwrap();
        assert_eq!(answer, "it = 6 : int\n");
    };
    let start = Instant::now();
    ask();
    eprintln!("first answer of a session: {:?}", start.elapsed());
    eprintln!("later answers: {:?}", median(ask));
    drop(input);
    assert!(session.wait().unwrap().success());
}

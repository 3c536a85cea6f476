//! `--checkpoint` and `--resume`: runs that are saved at any moment go on anywhere, with the same bits, and what is
//! damaged is refused.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a panic in a helper is a failed test")]

mod common;

use common::{Bench, OVERSUBSCRIBED, Ran, turn};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Rounds of PageRank on pages that have eight links each: the ranks add up to 1.
const PAGE_RANK: &str = r#"
function round_of(ranks, incoming) = {0.15 / float(#ranks) + 0.85 * sum({ranks[page] / 8.0 : page in pages}) : pages in incoming};

function rounds(ranks, incoming, n) = if n == 0 then ranks else rounds(round_of(ranks, incoming), incoming, n - 1);

function main(pages, n) : (int, int) -> (int, bool, float, int) =
  let incoming = {{rem(i + j * j * 977 + j, pages) : j in [1:9]} : i in [0:pages]};
      start = {float(1 + rem(i, 7)) : i in [0:pages]};
      total = sum(start);
      ignore = write_string_to_file("", "begun");
      ignore = print_string("begun\n");
      ranks = rounds({x / total : x in start}, incoming, n);
      ignore = print_string("ended\n")
  in (hash(ranks, 1000000007), abs(sum(ranks) - 1.0) < 0.000001, sum({r * float(i) : r in ranks; i in index(pages)}),
      rand(1000000));
"#;

/// Globals and locals of many kinds, alive while loops and recursion run.
const KINDS: &str = r#"
datatype person([char], (int, float));
people = {person(name, (i, sqrt(float(i)))) : name in ["Ada", "", "Grace"]; i in [0:3]};
skewed = {[0:rem(i * i, 97)] : i in [0:9000]};
nested = [[], [[1, 2], [] int], [[] int]];
long = {rem(i * 7919, 1000003) : i in [0:100000]};
views = partition(long, [0, 60000, 1, 39999]);

function spin(v, n) = if n == 0 then v else spin({rem(x * 7 + 3, 1000003) : x in v}, n - 1);

function quicksort(v) =
  if #v < 2 then v
  else
    let pivot = v[#v / 2];
        parts = {quicksort(u) : u in [{x in v | x < pivot}, {x in v | x > pivot}]}
    in parts[0] ++ {x in v | x == pivot} ++ parts[1];

function main(n) =
  let add = a => a + n;
      text = "some text, with a \"quote\"";
      same = long;
      first = rand(1000000 + 0 * n);
      ignore = write_string_to_file("", "begun");
      ignore = print_string("begun\n");
      spun = spin(long, n);
      ignore = print_string("half");
      twice = {#quicksort(spin(v, 50)) : v in [spun, [1, 2, 3], [] int]};
      sorted = quicksort(spun);
      next = rand(1000000)
  in ((people, text), (nested, {hash(v, 1000000007) : v in views}, sum({sum(v) : v in skewed})),
      (add(1), sum(same), first, next), (twice, hash(sorted, 1000000007), sum({1.0 / float(x + 1) : x in spun})));
"#;

/// Numbers as one likes them for tests: always the same ones, without a pattern.
struct Moments(u64);

impl Moments {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

fn nesl(bench: &Bench, arguments: &[&str]) -> Command {
    let mut command = bench.command(Path::new(env!("CARGO_BIN_EXE_nesl")));
    command.envs(OVERSUBSCRIBED).arg("run").args(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(bench: &Bench, arguments: &[&str]) -> Ran {
    ran(nesl(bench, arguments).output().unwrap())
}

fn ran(output: Output) -> Ran {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ran { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
}

fn signal(child: &Child, name: &str) {
    Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
}

/// Waits until a program has made the file that says that it runs, or has ended.
fn begun(bench: &Bench, child: &mut Child) {
    while !bench.path("begun").exists() && child.try_wait().unwrap().is_none() {
        sleep(Duration::from_millis(2));
    }
}

fn start(bench: &Bench, arguments: &[&str]) -> Child {
    let _ = fs::remove_file(bench.path("begun"));
    let mut child = nesl(bench, arguments).spawn().unwrap();
    begun(bench, &mut child);
    child
}

/// Begins a run that is saved in the folder `saves`, and ends it by a signal after a while; what it printed. Once more
/// if it had ended by then.
fn saved(bench: &Bench, arguments: &[&str], name: &str, milliseconds: u64) -> String {
    for part in [1, 4, 16, 1000] {
        let mut child = start(bench, arguments);
        sleep(Duration::from_millis(milliseconds / part));
        if child.try_wait().unwrap().is_none() {
            signal(&child, name);
        }
        let ended = ran(child.wait_with_output().unwrap());
        if ended.code == Some(75) {
            assert!(ended.err.starts_with("saved in saves: "), "{ended:#?}");
            assert!(ended.err.ends_with("\ngo on with:  nesl run --resume saves\n"), "{ended:#?}");
            return ended.out;
        }
        assert_eq!(ended.code, Some(0), "{ended:#?}");
        assert!(!bench.path("saves").exists(), "a run that has ended keeps no saves");
    }
    panic!("{arguments:?} ends too soon");
}

/// Keeps the saves of a run, to go on with them several times.
fn keep(bench: &Bench) -> PathBuf {
    let kept = bench.path("kept");
    let _ = fs::remove_dir_all(&kept);
    fs::rename(bench.path("saves"), &kept).unwrap();
    kept
}

fn put_back(bench: &Bench) {
    let _ = fs::remove_dir_all(bench.path("saves"));
    let from = bench.path("kept");
    let done = Command::new("cp").arg("-r").arg(from).arg(bench.path("saves")).status().unwrap();
    assert!(done.success());
}

#[test]
fn a_run_goes_on_with_the_same_bits_however_it_is_run() {
    let _turn = turn();
    let bench = Bench::new();
    let mut moments = Moments(31);
    let programs = [("pages.nesl", PAGE_RANK, &["20000", "1500"][..]), ("kinds.nesl", KINDS, &["2000"][..])];
    for (name, text, arguments) in programs {
        bench.write(name, text);
        let expected = run(&bench, &[&[name], arguments].concat());
        assert_eq!(expected.code, Some(0), "{expected:#?}");
        assert!(name != "pages.nesl" || expected.out.contains(", t, "), "{expected:#?}");
        let ways: [&[&str]; 4] = [
            &["--threads", "1"],
            &["--threads", "3", "--strategy", "leaf"],
            &["--strategy", "lift", "--native", "off"],
            &["--engine", "reference"],
        ];
        for (begun, ended) in ways.into_iter().zip(ways.into_iter().skip(1).chain(ways)) {
            let start = [begun, &["--checkpoint", "saves", name], arguments].concat();
            let printed = saved(&bench, &start, "-TERM", moments.next(300));
            let gone_on = run(&bench, &[ended, &["--resume", "saves"]].concat());
            assert_eq!(gone_on.code, Some(0), "{name} {begun:?} {ended:?}: {gone_on:#?}");
            assert_eq!(printed + &gone_on.out, expected.out, "{name} {begun:?} {ended:?}");
            assert!(!bench.path("saves").exists(), "{name}");
        }
    }
}

#[test]
fn it_may_be_saved_again_and_again() {
    let _turn = turn();
    let bench = Bench::with("kinds.nesl", KINDS);
    let expected = run(&bench, &["kinds.nesl", "2000"]);
    let mut printed = saved(&bench, &["--checkpoint", "saves", "kinds.nesl", "2000"], "-USR1", 50);
    for _ in 0..20 {
        let mut child = nesl(&bench, &["--resume", "saves"]).spawn().unwrap();
        sleep(Duration::from_millis(80));
        if child.try_wait().unwrap().is_none() {
            signal(&child, "-USR1");
        }
        let ended = ran(child.wait_with_output().unwrap());
        printed += &ended.out;
        match ended.code {
            Some(75) => {}
            code => {
                assert_eq!(code, Some(0), "{ended:#?}");
                break;
            }
        }
    }
    if bench.path("saves").exists() {
        printed += &run(&bench, &["--resume", "saves"]).out;
    }
    assert_eq!(printed, expected.out);
}

#[test]
fn a_kill_at_any_moment_leaves_the_save_before() {
    let _turn = turn();
    let bench = Bench::with("pages.nesl", PAGE_RANK);
    let arguments = ["pages.nesl", "20000", "500"];
    let expected = run(&bench, &arguments);
    let mut moments = Moments(7);
    let mut found = 0;
    for _ in 0..10 {
        let _ = fs::remove_dir_all(bench.path("saves"));
        let mut child = start(&bench, &[&["--checkpoint", "saves,every=1ms"], &arguments[..]].concat());
        sleep(Duration::from_millis(30 + moments.next(200)));
        child.kill().unwrap();
        child.wait().unwrap();
        let Ok(entries) = fs::read_dir(bench.path("saves")) else { continue };
        let whole = entries.flatten().filter(|entry| !entry.file_name().to_string_lossy().starts_with('.')).count();
        assert!(whole <= 3, "old saves go");
        if whole == 0 {
            continue;
        }
        found += 1;
        let gone_on = run(&bench, &["--resume", "saves"]);
        // What was printed after the save is printed again.
        assert_eq!(gone_on.code, Some(0), "{gone_on:#?}");
        assert!(expected.out.ends_with(&gone_on.out) && gone_on.out.contains(", t, "), "{gone_on:#?}");
    }
    assert!(found > 3, "only {found} of 10 runs had been saved");
}

#[test]
fn what_is_cut_or_changed_is_refused_and_nothing_is_lost() {
    let _turn = turn();
    let bench = Bench::with("pages.nesl", PAGE_RANK);
    let arguments = ["pages.nesl", "20000", "1500"];
    let expected = run(&bench, &arguments);
    let printed = saved(&bench, &[&["--checkpoint", "saves"], &arguments[..]].concat(), "-TERM", 100);
    keep(&bench);
    let mut moments = Moments(99);
    let files: Vec<_> = fs::read_dir(bench.path("kept/1")).unwrap().flatten().map(|file| file.file_name()).collect();
    assert!(files.len() > 3, "{files:?}");
    for name in &files {
        for is_cut in [true, false] {
            put_back(&bench);
            let path = bench.path("saves/1").join(name);
            let mut bytes = fs::read(&path).unwrap();
            let at = moments.next(bytes.len() as u64) as usize;
            if is_cut {
                bytes.truncate(at);
            } else {
                bytes[at] ^= 1 << moments.next(8);
            }
            fs::write(&path, &bytes).unwrap();
            let refused = run(&bench, &["--resume", "saves"]);
            refused.fails(1, &["error[E0602]: what was saved in saves/1 cannot be used: "]);
            assert_eq!((refused.err.lines().count(), refused.out.as_str()), (2, ""), "{name:?}: {refused:#?}");
            assert_eq!(fs::read(&path).unwrap(), bytes, "what is refused stays as it is");
        }
    }
    put_back(&bench);
    bench.write("other.nesl", PAGE_RANK.replace("0.85", "0.86"));
    run(&bench, &["--resume", "saves", "other.nesl"]).fails(1, &["error[E0603]", "another program"]);
    run(&bench, &["--resume", "saves", "pages.nesl", "20000", "1499"]).fails(2, &["has its arguments"]);
    run(&bench, &[&["--checkpoint", "saves"], &arguments[..]].concat()).fails(2, &["go on with it: nesl run --resume"]);
    run(&bench, &["--resume", "nowhere"]).fails(1, &["error[E0602]", "nothing was saved there"]);
    run(&bench, &["--engine", "oracle", "--resume", "saves"]).fails(2, &["take --engine reference"]);
    let gone_on = run(&bench, &[&["--resume", "saves"], &arguments[..]].concat());
    assert_eq!(printed + &gone_on.out, expected.out);
    // With a program, what was not saved begins.
    run(&bench, &[&["--resume", "saves"], &arguments[..]].concat()).prints(&expected.out);
}

#[test]
fn a_run_that_cannot_be_saved_says_so_and_goes_on() {
    let _turn = turn();
    let bench = Bench::with("pages.nesl", PAGE_RANK);
    let expected = run(&bench, &["pages.nesl", "20000", "1500"]);
    // No file may grow beyond 50 KiB.
    let script = "trap '' XFSZ; ulimit -f 50; exec \"$@\"";
    let limited = |arguments: &[&str]| {
        let mut command = bench.command(Path::new("sh"));
        command.args(["-c", script, "sh", env!("CARGO_BIN_EXE_nesl"), "run"]).args(arguments);
        command.args(["pages.nesl", "20000", "1500"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    };
    let all = ran(limited(&["--checkpoint", "saves,every=100ms"]).output().unwrap());
    assert_eq!((all.code, &all.out), (Some(0), &expected.out), "{all:#?}");
    all.fails(0, &["error[E0601]: cannot save the run in saves: File too large", "nothing was saved before"]);
    fs::remove_file(bench.path("begun")).unwrap();
    let mut child = limited(&["--checkpoint", "saves"]).spawn().unwrap();
    begun(&bench, &mut child);
    signal(&child, "-TERM");
    ran(child.wait_with_output().unwrap()).fails(1, &["error[E0601]"]);
    assert_eq!(fs::read_dir(bench.path("saves")).unwrap().count(), 0);
    // Where there can be no folder it does not begin; one that was made for nothing goes with the run.
    fs::remove_file(bench.path("begun")).unwrap();
    let nowhere = run(&bench, &["--checkpoint", "pages.nesl/saves", "pages.nesl", "20000", "1500"]);
    nowhere.fails(1, &["error[E0601]: cannot save the run in pages.nesl/saves", "nothing has run"]);
    assert!(!bench.path("begun").exists());
    run(&bench, &["--checkpoint", "unused", "pages.nesl", "20", "1"]);
    assert!(!bench.path("unused").exists());
}

#[test]
fn machine_code_that_takes_long_is_cut_short() {
    let _turn = turn();
    let calls = ["last(6000000000 + 0 * rand(2))", "sum({last(6000000000 + i) : i in [0:2]}) - 17"];
    for (call, strategy) in calls.into_iter().zip(["auto", "leaf"]) {
        let program = "function last(n) = if n == 0 then 17 else last(n - 1);
print_line(\"one\");
write_string_to_file(\"\", \"begun\");
CALL;
";
        let bench = Bench::with("a.nesl", program.replace("CALL", call));
        let time = Instant::now();
        let arguments = ["--strategy", strategy, "--checkpoint", "saves", "a.nesl"];
        let printed = saved(&bench, &arguments, "-TERM", 100);
        assert!(time.elapsed() < Duration::from_secs(10), "{:?}", time.elapsed());
        assert_eq!(printed, "one\n");
        run(&bench, &["--strategy", strategy, "--resume", "saves"]).prints("17\n");
    }
}

#[test]
fn files_and_texts_are_whole() {
    let _turn = turn();
    let program = r#"
function spin(v, n) = if n == 0 then sum(v) else spin({rem(x * 7 + 3, 1000003) : x in v}, n - 1);

function copy(from, to, n) =
  let ((line, ended), _, _) = read_line(from)
  in if ended then n
     else
       let ignore = write_string(line ++ "\n", to);
           ignore = if rem(n, 100) == 0 then print_string(@n ++ " ") else t;
           _ignore = spin([0:1000], 10)
       in copy(from, to, n + 1);

function main(n) =
  let (from, _, _) = open_in_file("from.txt");
      (to, _, _) = open_out_file("to.txt");
      ignore = write_string_to_file("", "begun");
      ignore = print_string("begun ");
      copied = copy(from, to, 0);
      ignore = close_file(to)
  in copied + 0 * n;
"#;
    let bench = Bench::with("a.nesl", program);
    let lines: String = (0..5000).map(|line| format!("line {line}\n")).collect();
    bench.write("from.txt", &lines);
    let expected = format!("begun {}\n5000\n", (0..50).map(|n| format!("{} ", n * 100)).collect::<String>());
    run(&bench, &["a.nesl", "1"]).prints(&expected);
    assert_eq!(fs::read_to_string(bench.path("to.txt")).unwrap(), lines);
    let printed = saved(&bench, &["--checkpoint", "saves", "a.nesl", "1"], "-TERM", 100);
    // What comes to the file after the save goes when the run goes on.
    let copied = fs::read_to_string(bench.path("to.txt")).unwrap();
    assert!(lines.starts_with(&copied) && copied.len() < lines.len(), "{}", copied.len());
    bench.write("to.txt", copied + "more");
    let gone_on = run(&bench, &["--resume", "saves"]);
    assert_eq!(printed + &gone_on.out, expected, "{gone_on:#?}");
    assert_eq!(fs::read_to_string(bench.path("to.txt")).unwrap(), lines);
}

#[cfg(feature = "mpi")]
#[test]
fn ranks_save_together_and_others_go_on() {
    if common::launcher().is_none() {
        return;
    }
    let _turn = turn();
    let bench = Bench::new();
    let mut moments = Moments(2);
    let programs = [("pages.nesl", PAGE_RANK, &["20000", "200"][..]), ("kinds.nesl", KINDS, &["200"][..])];
    for (name, text, arguments) in programs {
        bench.write(name, text);
        let expected = run(&bench, &[&[name], arguments].concat());
        for begun in ["1", "2"] {
            let start = [&["--ranks", begun, "--threads", "1", "--checkpoint", "saves", name], arguments].concat();
            let printed = saved(&bench, &start, "-TERM", moments.next(400));
            keep(&bench);
            for ended in ["1", "3", "5"] {
                put_back(&bench);
                let gone_on = run(&bench, &["--ranks", ended, "--threads", "1", "--resume", "saves"]);
                assert_eq!(gone_on.code, Some(0), "{name} {begun} {ended}: {gone_on:#?}");
                assert_eq!(printed.clone() + &gone_on.out, expected.out, "{name} {begun} {ended}");
            }
        }
    }
}

//! Sessions that are saved and restored: all names with their values, on any number of ranks, and what is damaged is
//! refused.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a panic in a helper is a failed test")]

mod common;

use common::{Bench, Ran, turn};
use std::fs;
use std::process::Command;

/// Values of all kinds.
const VALUES: &str = r#"
n = 42;
x = 0.1 + 0.2;
text = "elastic ranks";
big = {float(rem(i * 7919, 1000003)) / 3.0 : i in [0:100000]};
none = {i in [0:10] | i > 10};
empty = [] [int];
skewed = {[0:if i == 7 then 9000 else rem(i, 3)] : i in [0:6000]};
nested = [["a", ""], [], ["bc"]];
triple = (3, [1.5, 2.5], "two");
datatype point(int, [float]);
p = point(7, {sqrt(float(i)) : i in [0:8000]});
view = take(drop(big, 1000), 60000);
function adder(v) = (y => sum(v) + y);
add = adder([0:5000]);
table = create_table({(i, i * i) : i in [0:7000]});
shared = big;
both = (big, shared);
letters = {`a : i in [0:5000]};
flags = {rem(i, 3) == 0 : i in [0:5000]};
n = 43;
function old(a) = a + n;
n = 44;
1 / 0;
m = 5; k = 1 / 0; l = 6;
rand(1000000);
function qsort(a) = if #a < 2 then a else
  let p = a[#a / 2]; parts = {qsort(v) : v in [{e in a | e < p}, {e in a | e > p}]}
  in parts[0] ++ {e in a | e == p} ++ parts[1];
"#;

/// What they are, and what can be done with them; bits of floats show in what is printed of them.
const CHECKS: &str = r#"
(n, m, x, text, nested, triple, #none, #empty, old(1));
hash((n, x, text, nested, triple, none), 1000000007);
hash(big, 1000000007); sum(big); #big; big[99999];
hash(skewed, 1000000007); #skewed; sum({#s : s in skewed}); sum({sum(s) : s in skewed});
let point(a, b) = p in (a, sum(b), #b);
sum(view); view[59999];
add(5);
search_table([6999, 7000], table);
let (a, b) = both in sum({l * r : l in a; r in b});
(hash(letters, 1000000007), count(flags));
sum(qsort({trunc(e) : e in take(big, 20000)}));
rand(1000000007); sum({rand(i + 1) : i in [0:10000]});
:names
q = n + 1;
q;
"#;

/// The answers to checks.
fn checks(bench: &Bench, arguments: &[&str], before: &str) -> Ran {
    let ran = bench.piped(&[&["repl", "--threads", "1"], arguments].concat(), &format!("{before}{CHECKS}"));
    let out = ran.out.lines().filter(|line| !line.starts_with("saved in ") && !line.starts_with("restored from "));
    Ran { out: out.map(|line| format!("{line}\n")).collect(), ..ran }
}

/// What a session with these values answers to checks.
fn expected(bench: &Bench) -> String {
    let whole = checks(bench, &[], VALUES).out;
    let begun = bench.piped(&["repl"], VALUES).out;
    whole.strip_prefix(&begun).unwrap().to_owned()
}

#[test]
fn a_session_goes_on_where_it_was_saved() {
    let _turn = turn();
    let bench = Bench::new();
    let expected = expected(&bench);
    let saved = bench.piped(&["repl"], &format!("{VALUES}:save kept\n"));
    assert!(saved.out.contains("\nsaved in kept: 22 names, "), "{}", saved.out);
    for arguments in [&[][..], &["--threads", "3"], &["--engine", "reference"], &["--seed", "3"]] {
        let arguments: Vec<&str> = arguments.to_vec();
        let ran =
            bench.piped(&[&["repl"], &arguments[..]].concat(), &format!("n = 1;\nz = 2;\n:restore kept\n{CHECKS}"));
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:#?}");
        let (_, answers) = ran.out.split_once("restored from kept: 22 names in ").unwrap();
        assert_eq!(answers.split_once('\n').unwrap().1, expected, "{arguments:?}");
    }
    // It is saved again, with what has come since; the one before stays, and can be named.
    let again = bench.piped(&["repl"], ":restore kept\nmore = [0:5000];\n:save kept\n:restore kept\nsum(more);\n");
    assert!(again.out.ends_with("23 names in 0.0") || again.out.ends_with("it = 12497500 : int\n"), "{again:#?}");
    let inputs = ":restore kept\n#more;\n:restore kept/1\n#more;\n:restore kept/2\n#more;\n";
    let both = bench.piped(&["repl"], inputs);
    both.fails(1, &["`more`"]);
    assert_eq!(both.out.matches("it = 5000 : int\n").count(), 2, "{both:#?}");
}

#[test]
fn what_is_imported_and_written_in_v_is_there_again() {
    let _turn = turn();
    let bench = Bench::with("lib.nesl", "import \"base.nesl\" as base;\nfunction twice(a) = base.two * a;\n");
    bench.write("base.nesl", "two = 2;\n");
    bench.write("own.nesl", "import \"lib.nesl\";\nten = twice(5);\n");
    let inputs = ":load own.nesl\ntwice(21);\n:syntax nesl\nv = [1, 2, 3];\n:syntax v\npure int inc(int a) { return a + ten; }\n:save kept\n";
    let saved = bench.piped(&["repl"], inputs);
    assert_eq!((saved.code, saved.err.as_str()), (Some(0), ""), "{saved:#?}");
    // The files are not needed any more.
    for name in ["lib.nesl", "base.nesl", "own.nesl"] {
        fs::remove_file(bench.path(name)).unwrap();
    }
    let ran = bench.piped(&["repl"], ":restore kept\ninc(v[1]);\n:syntax nesl\ntwice(ten) + sum(v);\n");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:#?}");
    assert!(ran.out.contains("= 12 : int") && ran.out.ends_with("it = 26 : int\n"), "{ran:#?}");
}

#[test]
fn what_is_damaged_is_refused_and_the_session_goes_on() {
    let _turn = turn();
    let bench = Bench::new();
    let saved = bench.piped(&["repl"], "v = [0:10000];\nw = {float(x) : x in v};\ntext = \"text\";\n:save kept\n");
    assert_eq!((saved.code, saved.err.as_str()), (Some(0), ""), "{saved:#?}");
    let files: Vec<_> = fs::read_dir(bench.path("kept/1")).unwrap().flatten().map(|file| file.file_name()).collect();
    assert!(files.len() >= 4, "{files:?}");
    let refused = |name: &str, begin: &str| {
        let ran = bench.piped(&["repl"], &format!("mine = 7;\n:restore {name}\nmine + 1;\n"));
        ran.fails(1, &[&format!("error[E0602]: cannot restore {begin}")]);
        assert_eq!(ran.err.lines().count(), 2, "{}", ran.err);
        assert!(ran.out.ends_with("it = 8 : int\n"), "{}", ran.out);
    };
    for (index, name) in files.iter().enumerate() {
        let path = bench.path("kept/1").join(name);
        let whole = fs::read(&path).unwrap();
        for change in 0..3 {
            let mut bytes = whole.clone();
            let at = (index * 7919 + change * 104_729) % bytes.len();
            match change {
                0 => bytes.truncate(at),
                1 => bytes[at] ^= 1 << (at % 8),
                _ => bytes.push(0),
            }
            fs::write(&path, &bytes).unwrap();
            refused("kept", "kept/1: ");
        }
        fs::remove_file(&path).unwrap();
        if name != "manifest" {
            refused("kept", "kept/1: ");
        }
        fs::write(&path, whole).unwrap();
    }
    refused("nowhere", "nowhere: nothing was saved there");
    refused("/dev/null", "/dev/null: ");
    // Runs and sessions are not one another.
    bench.write("a.nesl", "sum([0:10]);\n");
    bench.nesl(&["run", "--resume", "kept"]).fails(1, &["error[E0602]", "a session was saved there"]);
    bench.piped(&["repl"], "mine = 7;\n:save a.nesl/kept\n:save kept/1\n:save\nmine;\n").fails(
        1,
        &[
            "error[E0601]: cannot save the session in a.nesl/kept: ",
            "name the folder around it",
            "`:save` needs something",
        ],
    );
    let whole = bench.piped(&["repl"], ":restore kept\nsum(v);\n");
    assert_eq!((whole.code, whole.err.as_str()), (Some(0), ""), "{whole:#?}");
    assert!(whole.out.ends_with("it = 49995000 : int\n"), "{whole:#?}");
}

#[test]
fn a_full_disk_keeps_the_save_before() {
    let _turn = turn();
    let bench = Bench::new();
    fs::create_dir(bench.path("small")).unwrap();
    let small = bench.path("small");
    let mount =
        |arguments: &[&str]| Command::new("mount").args(arguments).arg(&small).status().is_ok_and(|ran| ran.success());
    if !mount(&["-t", "tmpfs", "-o", "size=512k", "tmpfs"]) {
        println!("skipped: nothing can be mounted here");
        return;
    }
    let inputs = "v = [0:10000];\n:save small/kept\nbig = [0:1000000];\n:save small/kept\nsum(big);\nbig = [0];\n:save small/kept\n";
    let ran = bench.piped(&["repl"], inputs);
    let again = bench.piped(&["repl"], ":restore small/kept/1\nsum(v);\n:restore small/kept\nbig[0] + sum(v);\n");
    let left = fs::read_dir(small.join("kept")).unwrap().count();
    Command::new("umount").arg(&small).status().unwrap();
    ran.fails(1, &["error[E0601]: cannot save the session in small/kept: No space left on device"]);
    assert_eq!(ran.err.lines().count(), 2, "{}", ran.err);
    assert!(ran.out.contains("it = 499999500000 : int\n"), "{}", ran.out);
    assert_eq!(again.out.matches("it = 49995000 : int\n").count(), 2, "{again:#?}");
    assert_eq!(left, 2, "what was not finished is gone");
}

#[cfg(feature = "mpi")]
#[test]
fn ranks_save_and_other_ranks_restore() {
    if common::launcher().is_none() {
        return;
    }
    let _turn = turn();
    let bench = Bench::new();
    let expected = expected(&bench);
    for (saving, restoring) in [("1", "3"), ("3", "2"), ("2", "1")] {
        let _ = fs::remove_dir_all(bench.path("kept"));
        let saved = bench.piped(&["repl", "--threads", "1", "--ranks", saving], &format!("{VALUES}:save kept\n"));
        assert!(saved.out.contains("\nsaved in kept: 22 names, "), "{saved:#?}");
        let ran = checks(&bench, &["--ranks", restoring], "n = 3;\n:restore kept\n");
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:#?}");
        assert_eq!(ran.out, format!("n = 3 : int\n{expected}"), "{saving} and {restoring}");
    }
    // In one process, too; what is damaged is refused by all, and the session goes on on all.
    let ran = checks(&bench, &[], "n = 3;\n:restore kept\n");
    assert_eq!(ran.out, format!("n = 3 : int\n{expected}"));
    let column = fs::read_dir(bench.path("kept/1")).unwrap().flatten().map(|file| file.path());
    let column = column
        .filter(|path| path.to_string_lossy().contains("column-"))
        .max_by_key(|path| path.metadata().unwrap().len());
    flip(&column.unwrap());
    let ran = bench.piped(&["repl", "--ranks", "2"], "v = [0:10000];\n:restore kept\nsum(v);\n:ranks 3\nsum(v);\n");
    ran.fails(1, &["error[E0602]: cannot restore kept/1: column-", " is damaged"]);
    assert_eq!(ran.out.matches("it = 49995000 : int\n").count(), 2, "{ran:#?}");
}

#[cfg(feature = "mpi")]
fn flip(path: &std::path::Path) {
    let mut bytes = fs::read(path).unwrap();
    let at = bytes.len() - 9;
    bytes[at] ^= 4;
    fs::write(path, bytes).unwrap();
}

//! `nesl fmt`: what it changes, what it leaves alone, what it says.

mod common;

use common::{Bench, finish};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

const ROUGH: &str = "x=1 ;\nfunction double(v)={2*e:e in v};\n";
const SMOOTH: &str = "x = 1;\nfunction double(v) = {2 * e : e in v};\n";

fn text(bench: &Bench, name: &str) -> String {
    std::fs::read_to_string(bench.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn mode(bench: &Bench, name: &str) -> u32 {
    std::fs::metadata(bench.path(name)).map_or(0, |metadata| metadata.permissions().mode() & 0o777)
}

#[test]
fn files_are_laid_out_in_place() {
    let bench = Bench::with("a.nesl", ROUGH);
    bench.write("b.nesl", SMOOTH);
    std::fs::set_permissions(bench.path("a.nesl"), PermissionsExt::from_mode(0o640)).unwrap();
    let before = std::fs::metadata(bench.path("b.nesl")).unwrap().modified().unwrap();
    bench.nesl(&["fmt", "a.nesl", "b.nesl"]).prints("");
    assert_eq!((text(&bench, "a.nesl").as_str(), mode(&bench, "a.nesl")), (SMOOTH, 0o640));
    assert_eq!(text(&bench, "b.nesl"), SMOOTH);
    assert_eq!(std::fs::metadata(bench.path("b.nesl")).unwrap().modified().unwrap(), before, "it was right already");
    bench.nesl(&["fmt", "a.nesl"]).prints("");
    assert_eq!(text(&bench, "a.nesl"), SMOOTH);
    let left: Vec<_> = std::fs::read_dir(bench.path(".")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn check_says_where_files_differ_and_changes_nothing() {
    let bench = Bench::with("a.nesl", "% one %\ny = 2;\nx=1;\n");
    bench.write("b.nesl", SMOOTH);
    bench.write("c.nesl", "x = 1;");
    bench.write("d.nesl", "x = 1;\r\n");
    bench.write("e.nesl", "x = 1;\n\n\n");
    let ran = bench.nesl(&["fmt", "--check", "a.nesl", "b.nesl", "c.nesl", "d.nesl", "e.nesl"]);
    ran.fails(1, &["4 files are laid out differently; `nesl fmt` changes them"]);
    let shown = "a.nesl:3\n- x=1;\n+ x = 1;\n\
                 c.nesl:1\n- x = 1;  (no newline)\n+ x = 1;\n\
                 d.nesl:1\n- x = 1;\u{240d}\n+ x = 1;\n\
                 e.nesl:2\n- \n";
    assert_eq!(ran.out, shown);
    assert_eq!(text(&bench, "a.nesl"), "% one %\ny = 2;\nx=1;\n");
    bench.nesl(&["fmt", "--check", "b.nesl"]).prints("");
    bench.nesl(&["fmt", "--check", "a.nesl"]).fails(1, &["1 file is laid out differently; `nesl fmt` changes it"]);
}

#[test]
fn programs_of_v_are_laid_out_by_their_names() {
    let bench = Bench::with("a.v", "pure int f(int x){return 2*x;}\nf( 3 ); // six\n");
    let shown = "a.v:1\n- pure int f(int x){return 2*x;}\n+ pure int f(int x) { return 2 * x; }\n";
    assert_eq!(bench.nesl(&["fmt", "--check", "a.v"]).out, shown);
    bench.nesl(&["fmt", "."]).prints("");
    assert_eq!(text(&bench, "a.v"), "pure int f(int x) { return 2 * x; }\nf(3); // six\n");
    bench.write("b.v", "int f( {");
    bench.nesl(&["fmt", "b.v"]).fails(1, &["E0110", "b.v:1:8"]);
}

#[test]
fn folders_are_searched_for_programs() {
    let bench = Bench::with("notes.txt", "x=1;");
    for folder in ["src/deep", "src/.hidden", "empty"] {
        std::fs::create_dir_all(bench.path(folder)).unwrap();
    }
    for file in ["src/b.nesl", "src/a.nesl", "src/deep/c.nesl", "src/.hidden/d.nesl", "src/.e.nesl", "src/f.txt"] {
        bench.write(file, "x=1;");
    }
    symlink("..", bench.path("src/deep/up")).unwrap();
    let ran = bench.nesl(&["fmt", "--check", "src", "empty"]);
    let named: Vec<&str> = ran.out.lines().filter(|line| line.ends_with(":1")).collect();
    assert_eq!(named, ["src/a.nesl:1", "src/b.nesl:1", "src/deep/c.nesl:1"]);
    bench.nesl(&["fmt", "src"]).prints("");
    assert_eq!(text(&bench, "src/deep/c.nesl"), "x = 1;\n");
    assert_eq!(text(&bench, "src/.hidden/d.nesl"), "x=1;");
    assert_eq!(text(&bench, "src/f.txt"), "x=1;");
    // A file that is named is laid out whatever its name is.
    bench.nesl(&["fmt", "src/f.txt"]).prints("");
    assert_eq!(text(&bench, "src/f.txt"), "x = 1;\n");
}

#[test]
fn standard_input_goes_to_standard_output() {
    let bench = Bench::new();
    bench.piped(&["fmt", "-"], ROUGH).prints(SMOOTH);
    bench.piped(&["fmt", "-"], "").prints("");
    bench.piped(&["fmt", "--check", "-"], SMOOTH).prints("");
    let ran = bench.piped(&["fmt", "--check", "-"], ROUGH);
    ran.fails(1, &["1 file"]);
    assert_eq!(ran.out, "<standard input>:1\n- x=1 ;\n+ x = 1;\n");
    let ran = bench.piped(&["fmt", "-"], "x = ;");
    ran.fails(1, &["<standard input>:1:", "1 error"]);
    assert_eq!(ran.out, "");
}

#[test]
fn what_is_no_program_is_reported_and_left_alone() {
    let bench = Bench::with("a.nesl", "x=1;\ny = (2;\n% open");
    bench.write("b.nesl", ROUGH);
    bench.write("c.nesl", b"x=1;\n\xff");
    std::fs::create_dir(bench.path("folder.nesl")).unwrap();
    let ran = bench.nesl(&["fmt", "a.nesl", "missing.nesl", "b.nesl", "c.nesl", "folder.nesl"]);
    ran.fails(1, &["a.nesl:3:1", "E0102", "cannot read missing.nesl", "No such file", "c.nesl: line 2", "UTF-8"]);
    assert!(bench.nesl(&["check", "a.nesl"]).err.lines().all(|line| ran.err.contains(line)), "the same words");
    assert_eq!(text(&bench, "a.nesl"), "x=1;\ny = (2;\n% open");
    assert_eq!(text(&bench, "b.nesl"), SMOOTH, "others are laid out");
    assert_eq!(std::fs::read(bench.path("c.nesl")).unwrap(), b"x=1;\n\xff");
    // Mistakes of meaning are none of its business.
    bench.write("d.nesl", "x=nothing(t)+1;");
    bench.nesl(&["fmt", "d.nesl"]).prints("");
    assert_eq!(text(&bench, "d.nesl"), "x = nothing(t) + 1;\n");
    bench.nesl(&["fmt", "--width", "80", "b.nesl"]).fails(2, &["--width"]);
    let ran = bench.nesl(&["fmt", "--message-format", "json", "a.nesl", "missing.nesl"]);
    assert!(ran.err.lines().count() >= 2 && ran.err.lines().all(|line| line.starts_with('{')), "{ran:?}");
}

#[test]
fn links_stay_links_and_what_may_not_be_written_stays() {
    let bench = Bench::with("a.nesl", ROUGH);
    symlink("a.nesl", bench.path("link.nesl")).unwrap();
    bench.nesl(&["fmt", "link.nesl"]).prints("");
    assert_eq!(text(&bench, "a.nesl"), SMOOTH);
    assert!(std::fs::symlink_metadata(bench.path("link.nesl")).unwrap().is_symlink());
    bench.write("locked.nesl", ROUGH);
    std::fs::set_permissions(bench.path("locked.nesl"), PermissionsExt::from_mode(0o444)).unwrap();
    let ran = bench.nesl(&["fmt", "locked.nesl"]);
    // Root may write anything.
    match std::fs::OpenOptions::new().append(true).open(bench.path("locked.nesl")) {
        Ok(_) => assert_eq!((ran.code, text(&bench, "locked.nesl").as_str()), (Some(0), SMOOTH)),
        Err(_) => {
            ran.fails(1, &["cannot write locked.nesl", "Permission denied"]);
            assert_eq!(text(&bench, "locked.nesl"), ROUGH);
        }
    }
    assert_eq!(mode(&bench, "locked.nesl"), 0o444);
    // What is no file can be read, but not replaced.
    let mut command = bench.command(Path::new("sh"));
    let nesl = Path::new(env!("CARGO_BIN_EXE_nesl"));
    finish(command.args(["-c", "\"$0\" fmt /dev/stdin"]).arg(nesl), ROUGH).fails(1, &["cannot write /dev/stdin"]);
}

#[test]
fn a_reader_that_leaves_ends_it_quietly() {
    let bench = Bench::with("a.nesl", "x = 1;\n".repeat(100_000));
    let mut command = bench.command(Path::new("sh"));
    let script = "\"$0\" fmt - < a.nesl | head -n 1";
    finish(command.args(["-c", script]).arg(env!("CARGO_BIN_EXE_nesl")), "").prints("x = 1;\n");
}

#[test]
fn programs_are_printed_in_the_other_syntax() {
    let text = "pure int first_digit(int n) {\n  while (n > 9) n /= 10;\n  return n;\n}\nfirst_digit(974);\n";
    let bench = Bench::with("count.v", text);
    let nesl = bench.nesl(&["fmt", "--syntax", "nesl", "count.v"]);
    assert_eq!((nesl.code, nesl.err.as_str()), (Some(0), ""));
    bench.write("count.nesl", &nesl.out);
    assert_eq!(bench.nesl(&["count.nesl"]).out, "9\n");
    bench.nesl(&["fmt", "--check", "count.nesl"]).prints("");
    // And back again.
    let v = bench.nesl(&["fmt", "--syntax", "v", "count.nesl"]);
    assert_eq!((v.code, v.err.as_str()), (Some(0), ""));
    bench.write("again.v", &v.out);
    assert_eq!(bench.nesl(&["again.v"]).out, "9\n");
    assert_eq!(
        finish(bench.command(Path::new(env!("CARGO_BIN_EXE_nesl"))).args(["fmt", "--syntax", "v", "-"]), &nesl.out).out,
        v.out
    );
    // What V cannot say is an error with its place; files stay as they are.
    bench.write("pair.nesl", "x = 1;\nfunction ends(v) = (v[0], v[#v - 1]);\nends([3, 1]);\n");
    bench.nesl(&["fmt", "--syntax", "v", "pair.nesl"]).fails(1, &["E0514", "pair.nesl:2:", "tuples", "Help"]);
    bench.write("wrong.v", "int x = true >< 1;\n");
    bench.nesl(&["fmt", "--syntax", "nesl", "wrong.v"]).fails(1, &["wrong.v:1:"]);
    bench.nesl(&["fmt", "--syntax", "c", "count.v"]).fails(2, &["possible values: nesl, v"]);
    assert_eq!(self::text(&bench, "count.v"), text);
}

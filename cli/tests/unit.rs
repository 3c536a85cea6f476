//! Programs that own their output and their exit code: a form whose value is `()` prints nothing, `exit` ends the
//! process. On all engines, in built executables, in sessions and on ranks.

mod common;

use common::{Bench, Ran, finish};
use std::path::Path;
use std::process::{Command, Stdio};

const ENGINES: [&str; 3] = ["oracle", "reference", "threads"];

/// All bytes of an image from 0 to 255, around other ways of printing, and no newline at the end.
const IMAGE: &str = r#"
function main() =
  let _ = print_line("P5 256 1 255");
      _ = write_string({code_char(i) : i in [0:256]}, stdout);
      _ = {print_string(@i) : i in [0:3]};
      (ok, message) = write_string("\x00\xff\n\n", stdout);
      _ = print_string(if ok then "end" else message)
  in ();
"#;

fn image() -> Vec<u8> {
    let mut bytes = b"P5 256 1 255\n".to_vec();
    bytes.extend(0..=255);
    bytes.extend(b"012\x00\xff\n\nend");
    bytes
}

/// What a command writes, and its exit code.
fn output(command: &mut Command) -> (Vec<u8>, Option<i32>) {
    let output = command.stdin(Stdio::null()).output().expect("the command starts");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    (output.stdout, output.status.code())
}

fn nesl(bench: &Bench, arguments: &[&str]) -> Command {
    let mut command = bench.command(Path::new(env!("CARGO_BIN_EXE_nesl")));
    command.args(arguments);
    command
}

#[test]
fn a_program_of_unit_writes_what_it_writes_and_nothing_else() {
    let bench = Bench::with("a.nesl", IMAGE);
    for engine in ENGINES {
        assert_eq!(output(&mut nesl(&bench, &["run", "--engine", engine, "a.nesl"])), (image(), Some(0)), "{engine}");
    }
    bench.nesl(&["build", "a.nesl", "-o", "image"]).prints("");
    assert_eq!(output(&mut bench.command(Path::new("./image"))), (image(), Some(0)));
    // Forms are like `main`.
    bench.write(
        "b.nesl",
        "();\nlet _ = print_string(\"a\") in ();\n\"b\";\nlet _ = print_string(\"c\") in ();\n[()];\n",
    );
    for engine in ENGINES {
        bench.nesl(&["run", "--engine", engine, "b.nesl"]).prints("a\n\"b\"\nc\n[()]\n");
    }
}

#[test]
fn a_main_without_parameters_runs_where_there_are_no_arguments() {
    let bench = Bench::with("a.nesl", "function main() = 3;\n4;\n");
    for engine in ENGINES {
        bench.nesl(&["run", "--engine", engine, "a.nesl"]).prints("3\n");
        bench.nesl(&["run", "--engine", engine, "a.nesl", "--", "5"]).fails(2, &["main takes no arguments, not 1"]);
    }
    // One with parameters leaves that to the expressions, as ever.
    bench.write("b.nesl", "function main(u) : () -> int = 3;\n4;\n");
    bench.nesl(&["run", "b.nesl"]).prints("4\n");
    bench.nesl(&["run", "b.nesl", "--", "()"]).prints("3\n");
}

/// Prints, leaves a stream open, and ends in the middle.
const ENDS: &str = r#"
function ended(code) = let (s, _, _) = open_out_file("open.txt");
                           _ = write_string("not closed", s);
                           _ = print_string("printed")
                       in exit(code);
function main(code) : int -> () = let _ = ended(code) + 1 in print_never(0);
function print_never(x) = let _ = print_line("never") in ();
"#;

#[test]
fn exit_ends_the_process_with_its_code() {
    let bench = Bench::with("a.nesl", ENDS);
    bench.nesl(&["build", "a.nesl", "-o", "ends"]).prints("");
    for code in ["0", "1", "3", "255"] {
        let check = |what: &str, ran: &Ran| {
            assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (code.parse().ok(), "printed", ""), "{what}");
            assert_eq!(std::fs::read(bench.path("open.txt")).unwrap(), b"not closed", "{what}");
            std::fs::remove_file(bench.path("open.txt")).unwrap();
        };
        for engine in ENGINES {
            check(engine, &bench.nesl(&["run", "--engine", engine, "a.nesl", "--", code]));
        }
        check("built", &finish(bench.command(Path::new("./ends")).arg(code), ""));
    }
    for code in ["256", "-1", "9223372036854775807"] {
        for engine in ENGINES {
            let ran = bench.nesl(&["run", "--engine", engine, "a.nesl", "--", code]);
            ran.fails(1, &["E0429", &format!("{code} is no exit code: exit codes are 0 to 255")]);
            assert_eq!(ran.out, "printed");
        }
    }
}

#[test]
fn a_session_shows_no_unit_and_ends_with_the_code_of_exit() {
    let bench = Bench::new();
    bench
        .piped(&[], "();\nu = ();\n(u, 1);\nfunction three() = 3;\nthree();\n:type ()\n[] ();\nlet _ = print_string(\"x\") in ();\n")
        .prints("u = () : ()\nit = ((), 1) : ((), int)\nthree = fn : () -> int\nit = 3 : int\n() : ()\nit = [] () : [()]\nx\n");
    // Functions that captured nothing are nothing, too.
    bench.piped(&[], "g = sin;\n(g(0.0), 1);\n").prints("g = fn : float -> float\nit = (0.0, 1) : (float, int)\n");
    let ran = bench.piped(&["repl"], "1;\nexit(256);\n2; let _ = print_string(\"bye\") in exit(7); 3;\n4;\n");
    assert_eq!((ran.code, ran.out.as_str()), (Some(7), "it = 1 : int\nit = 2 : int\nbye"), "{}", ran.err);
    assert!(ran.err.contains("E0429"), "{}", ran.err);
    let ran = bench.piped(&["repl"], "nothing;\nexit(0);\n4;\n");
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{}", ran.err);
}

#[test]
fn units_go_through_files() {
    let bench = Bench::with(
        "a.nesl",
        r#"
v = [((), 1, [()]), ((), 2, [] ()), ((), 3, [(), ()])];
_ = write_object_to_file(v, "v.obj");
read_object_from_file([] ((), int, [()]), "v.obj") == v;
_ = write_object_to_file((), "u.obj");
read_object_from_file((), "u.obj");
_ = write_object_to_file([(), (), ()], "w.obj");
read_object_from_file([] (), "w.obj");
"#,
    );
    for engine in ENGINES {
        bench.nesl(&["run", "--engine", engine, "a.nesl"]).prints("t\n[(), (), ()]\n");
    }
}

/// Jobs of several ranks.
#[cfg(all(unix, feature = "mpi"))]
mod on_ranks {
    use super::*;
    use common::{OVERSUBSCRIBED, launcher, turn};

    #[test]
    fn output_and_exit_code_are_those_of_one_process() {
        let bench = Bench::with("a.nesl", IMAGE);
        bench.write("ends.nesl", ENDS);
        let _turn = turn();
        let Some(launcher) = launcher() else { return };
        for ranks in ["2", "3"] {
            assert_eq!(output(&mut nesl(&bench, &["run", "--ranks", ranks, "a.nesl"])), (image(), Some(0)));
            for code in ["0", "3", "255"] {
                let ran = bench.nesl(&["run", "--ranks", ranks, "ends.nesl", "--", code]);
                assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (code.parse().ok(), "printed", ""));
                assert_eq!(std::fs::read(bench.path("open.txt")).unwrap(), b"not closed");
                std::fs::remove_file(bench.path("open.txt")).unwrap();
            }
            let ran = bench.nesl(&["run", "--ranks", ranks, "ends.nesl", "--", "256"]);
            ran.fails(1, &["E0429"]);
        }
        for code in ["0", "3"] {
            let own = env!("CARGO_BIN_EXE_nesl");
            let mut command = bench.command(&launcher);
            command.envs(OVERSUBSCRIBED).args(["-n", "3", own, "run", "ends.nesl", "--", code]);
            let ran = finish(&mut command, "");
            assert_eq!((ran.code, ran.out.as_str()), (code.parse().ok(), "printed"), "{}", ran.err);
            assert!(!ran.err.contains("on signal"), "{}", ran.err);
        }
    }

    #[test]
    fn a_session_on_ranks_ends_with_the_code_of_exit() {
        let bench = Bench::new();
        let _turn = turn();
        if launcher().is_none() {
            return;
        }
        let ran = bench.piped(&["repl", "--ranks", "3"], "();\nv = dist((), 100000);\n#v;\nexit(7);\n4;\n");
        let shown: Vec<&str> = ran.out.lines().skip(1).collect();
        assert_eq!((ran.code, &shown[..], ran.err.as_str()), (Some(7), &["it = 100000 : int"][..], ""), "{}", ran.out);
    }
}

//! `--sandbox`: what programs cannot reach, on every engine, and what they can.

mod common;

use common::{Bench, OVERSUBSCRIBED, finish, launcher, turn};
use std::path::Path;

/// Engines of one process.
const ENGINES: [&str; 3] = ["oracle", "reference", "threads"];

/// What a program does that reaches for something, and what is said of it.
const REFUSED: [(&str, &str); 18] = [
    ("shell_command(\"touch made\", \"\")", "run the command `touch made`"),
    ("spawn(\"touch made\", nullstr, nullstr, nullstr)", "run the command `touch made`"),
    ("spawn(\"touch made\", stdin, stdout, stderr)", "run the command `touch made`"),
    ("get_environment_variable(\"HOME\")", "read the environment variable `HOME`"),
    ("open_in_file(\"secret\")", "read the file `secret`"),
    ("open_out_file(\"made\")", "write the file `made`"),
    ("open_append_file(\"secret\")", "write the file `secret`"),
    ("read_string_from_file(\"secret\")", "read the file `secret`"),
    ("read_lines_from_file(\"secret\")", "read the file `secret`"),
    ("read_vector_from_file([] int, \"secret\")", "read the file `secret`"),
    ("read_object_from_file(0, \"secret\")", "read the file `secret`"),
    ("write_string_to_file(\"a\", \"made\")", "write the file `made`"),
    ("append_string_to_file(\"a\", \"secret\")", "write the file `secret`"),
    ("write_vector_to_npy([1], \"made.npy\")", "write the file `made.npy`"),
    ("write_object_to_file(1, \"made\")", "write the file `made`"),
    ("read_string_from_file(\"/dev/stdin\")", "read the file `/dev/stdin`"),
    ("read_string_from_file(\"/proc/self/environ\")", "read the file `/proc/self/environ`"),
    ("read_string_from_file(\"../\" ++ \"/etc/passwd\")", "read the file `..//etc/passwd`"),
];

#[test]
fn nothing_outside_is_reached_on_any_engine() {
    let bench = Bench::with("secret", "12");
    for (call, what) in REFUSED {
        bench.write("a.nesl", format!("print_line(\"first\");\n1 + 1;\n{call};\n"));
        for engine in ENGINES {
            let ran = bench.nesl(&["run", "--engine", engine, "--sandbox", "a.nesl"]);
            let message = format!("Error[E0426]: the sandbox does not let the program {what}");
            ran.fails(1, &[&message, "a.nesl:3:1", "leave out --sandbox"]);
            assert!(ran.out.starts_with("first\n") && ran.out.ends_with("\n2\n"), "{engine} {call}: {}", ran.out);
        }
        // The words that refuse are for a sandbox only, and that nothing happened is not for another reason.
        assert!(!bench.path("made").exists() && !bench.path("made.npy").exists(), "{call}");
        assert_eq!(std::fs::read_to_string(bench.path("secret")).unwrap_or_default(), "12", "{call}");
    }
    bench.write("b.nesl", "write_string_to_file(read_string_from_file(\"secret\"), \"made\");\n");
    bench.nesl(&["run", "b.nesl"]).prints("");
}

#[test]
fn errors_of_the_sandbox_cannot_be_caught_as_messages() {
    let bench = Bench::with("a.nesl", "let (s, ok, message) = open_in_file(\"nothing\") in if ok then 1 else 2;\n");
    bench.nesl(&["run", "--sandbox", "a.nesl"]).fails(1, &["E0426", "a.nesl:1:"]);
    bench.nesl(&["run", "a.nesl"]).prints("2\n");
}

#[test]
fn arguments_and_standard_streams_are_the_programs() {
    let bench = Bench::with("numbers", "1 2 3");
    bench.write("a.nesl", "function main(v) : [int] -> int = sum(v);\n");
    bench.write(
        "b.nesl",
        "function main(v, name) : ([int], [char]) -> (int, [char]) = (sum(v), read_string_from_file(name));\n",
    );
    bench.write("c.nesl", "let ((line, _), _, _) = read_line(stdin); _ = write_string(line, stderr) in line;\n");
    std::fs::create_dir(bench.path("folder")).ok();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("../secret", bench.path("folder/numbers")).ok();
        std::os::unix::fs::symlink("numbers", bench.path("other")).ok();
    }
    bench.write("secret", "9");
    for engine in ENGINES {
        let run = |rest: &[&str]| bench.nesl(&[&["run", "--engine", engine, "--sandbox"], rest].concat());
        run(&["a.nesl", "--", "numbers"]).prints("6\n");
        run(&["a.nesl", "--", "@numbers"]).prints("6\n");
        // What is named can be read by any of its names, and a name that looks like it gives nothing else.
        run(&["b.nesl", "--", "numbers", "\"numbers\""]).prints("(6, \"1 2 3\")\n");
        run(&["b.nesl", "--", "numbers", "\"other\""]).prints("(6, \"1 2 3\")\n");
        run(&["b.nesl", "--", "numbers", "\"folder/../numbers\""]).prints("(6, \"1 2 3\")\n");
        run(&["b.nesl", "--", "numbers", "\"folder/numbers\""]).fails(1, &["E0426", "`folder/numbers`"]);
        run(&["b.nesl", "--", "[1]", "\"numbers\""]).fails(1, &["E0426"]);
    }
    let ran = bench.piped(&["run", "--sandbox", "c.nesl"], "hello\n");
    assert_eq!((ran.code, ran.out.starts_with("\"hello\"\n"), ran.err.as_str()), (Some(0), true, "hello"), "{ran:?}");
}

#[test]
fn sessions_and_built_programs_have_sandboxes() {
    let bench = Bench::with("a.nesl", "function main(c) : [char] -> [char] = shell_command(c, \"\");\n");
    let ran = bench
        .piped(&["--sandbox"], "1 + 1;\nget_environment_variable(\"HOME\");\n:load a.nesl\nmain(\"true\");\n2 + 2;\n");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert_eq!(ran.err.matches("E0426").count(), 2, "{ran:?}");
    assert!(ran.out.ends_with("it = 4 : int\n"), "{ran:?}");
    bench.nesl(&["build", "--sandbox", "a.nesl", "-o", "a"]).fails(2, &["give them to the executable"]);
    bench.nesl(&["build", "a.nesl", "-o", "a"]).prints("");
    let built = |arguments: &[&str]| finish(bench.command(&bench.path("a")).args(arguments), "");
    built(&["\"echo a\""]).prints("\"a\\n\"\n");
    built(&["--sandbox", "\"echo a\""]).fails(1, &["E0426", "`echo a`"]);
}

#[test]
fn ranks_are_in_the_sandbox_too() {
    if !cfg!(feature = "mpi") || launcher().is_none() {
        eprintln!("skipped: no MPI");
        return;
    }
    let _turn = turn();
    let bench = Bench::with("numbers", "1 2 3");
    bench.write("a.nesl", "function main(v) : [int] -> [int] = v ++ read_vector_from_file([] int, \"secret\");\n");
    bench.write("secret", "1");
    let mut command = bench.command(Path::new(env!("CARGO_BIN_EXE_nesl")));
    command.envs(OVERSUBSCRIBED).args(["run", "--ranks", "2", "--sandbox", "a.nesl", "--", "@numbers"]);
    let ran = finish(&mut command, "");
    ran.fails(1, &["Error[E0426]: the sandbox does not let the program read the file `secret`", "a.nesl:1:"]);
    assert_eq!(ran.err.matches("E0426").count(), 1, "{ran:?}");
}

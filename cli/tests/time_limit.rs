//! `--time-limit`: what takes too long ends in time, whatever it does, and says where.

mod common;

use common::{Bench, OVERSUBSCRIBED, Ran, finish, launcher, turn};
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// What no machine takes longer, however busy it is.
const GENEROUS: Duration = Duration::from_secs(20);

/// Runs `nesl` with an input that stays open, and says how it ended.
fn run(bench: &Bench, arguments: &[&str]) -> Ran {
    run_within(bench, arguments, GENEROUS)
}

/// The same, of what may take so long.
#[allow(clippy::unwrap_used, reason = "a panic in a helper is a failed test")]
fn run_within(bench: &Bench, arguments: &[&str], most: Duration) -> Ran {
    let mut command = bench.command(Path::new(env!("CARGO_BIN_EXE_nesl")));
    let command = command.envs(OVERSUBSCRIBED).args(arguments);
    let begun = Instant::now();
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let input = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(input);
    assert!(begun.elapsed() < most, "{arguments:?}: {:?}", begun.elapsed());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ran { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
}

/// What goes on for ever, or as good as.
const ENDLESS: [(&str, &str); 7] = [
    ("recursion", "function tree(n) = if n == 0 then 1 else tree(n - 1) + tree(n - 1); tree(60);"),
    ("a loop", "function go(n) = if n < 0 then n else go(rem(n + 1, 1000)); go(1);"),
    ("native loops", "function go(n) = if n < 0 then n else go(rem(n + 1, 1000)); {go(i) : i in [0:4]};"),
    ("a long vector instruction", "sum({rem(i * i, 7) : i in [0:2 ^ 46]});"),
    ("a command", "shell_command(\"sleep 1000\", \"\");"),
    ("a read", "read_line(stdin);"),
    (
        "a read of what a command does not write",
        "let ((i, o, e), _, _) = spawn(\"sleep 1000\", nullstr, nullstr, nullstr) in read_line(o);",
    ),
];

#[test]
fn whatever_takes_too_long_ends_with_its_place() {
    let bench = Bench::new();
    for engine in ["threads", "reference", "oracle"] {
        for (name, text) in ENDLESS {
            // The oracle has limits of its own, and the reference engine holds what it counts.
            if name == "a long vector instruction" && engine != "threads" || name.contains("loop") && engine == "oracle"
            {
                continue;
            }
            bench.write("a.nesl", format!("print_line(\"begun\");\n{text}\n"));
            let ran = run(&bench, &["run", "--engine", engine, "--time-limit", "1500ms", "a.nesl"]);
            assert_eq!(ran.code, Some(124), "{engine}: {name}: {ran:#?}");
            assert!(ran.out.starts_with("begun"), "{engine}: {name}: {ran:#?}");
            let message = "Error[E0427]: the time limit of 1500ms is over";
            assert!(ran.err.starts_with(message) && ran.err.contains("a.nesl:2:"), "{engine}: {name}: {ran:#?}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn commands_end_with_what_they_have_started() {
    let bench = Bench::new();
    bench.write("go", "sleep 1234.5 & sleep 1234.5\n");
    bench.write("a.nesl", "shell_command(\"sh go\", \"\");\n");
    let ran = run(&bench, &["run", "--time-limit", "1s", "a.nesl"]);
    assert_eq!(ran.code, Some(124), "{ran:#?}");
    let running = || {
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
        lines.filter(|line| line.windows(6).any(|part| part == b"1234.5")).count()
    };
    // The system may take a moment to end them.
    let begun = Instant::now();
    while running() > 0 && begun.elapsed() < GENEROUS {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(running(), 0);
}

#[cfg(unix)]
#[test]
fn a_file_that_nobody_writes_does_not_hold_up_the_end() {
    let bench = Bench::with("a.nesl", "function main(v) : [int] -> int = sum(v);\n");
    let made = std::process::Command::new("mkfifo").arg(bench.path("pipe")).status();
    assert!(made.is_ok_and(|status| status.success()));
    let ran = run(&bench, &["run", "--time-limit", "1s", "a.nesl", "--", "@pipe"]);
    ran.fails(124, &["error[E0427]: the time limit of 1s is over\nhint: "]);
    let ran = run(&bench, &["run", "--message-format", "json", "--time-limit", "1s", "a.nesl", "--", "@pipe"]);
    ran.fails(124, &["\"code\":\"E0427\"", "\"severity\":\"error\""]);
}

#[test]
fn what_is_in_time_is_as_ever() {
    let bench = Bench::with(
        "a.nesl",
        "print_line(\"a\");\n{x * x : x in [1, 2]};\nshell_command(\"echo b\", \"\");\nv = [1];\nv[1];\n",
    );
    for engine in ["threads", "oracle"] {
        let ran = run(&bench, &["run", "--engine", engine, "--time-limit", "1h", "a.nesl"]);
        ran.fails(1, &["E0401"]);
        assert_eq!(ran.out, "a\n[1, 4]\n\"b\\n\"\n", "{engine}");
    }
    for (limit, problem) in
        [("10", "needs a unit"), ("0s", "more than nothing"), ("1d", "not a unit"), ("soon", "not a unit")]
    {
        bench.nesl(&["run", "--time-limit", limit, "a.nesl"]).fails(2, &[problem]);
    }
}

#[test]
fn a_session_goes_on_after_an_input_that_took_too_long() {
    let bench = Bench::new();
    let inputs = "x = 5;\nfunction go(n) = if n < 0 then n else go(rem(n + 1, 1000));\ngo(1);\nx + 1;\n{go(i) : i in [0:4]};\nx + 2;\n";
    let ran = bench.piped(&["--time-limit", "1s"], inputs);
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    assert_eq!(ran.err.matches("[E0427]").count(), 2, "{ran:#?}");
    assert!(ran.out.contains("it = 6 : int\n") && ran.out.ends_with("it = 7 : int\n"), "{ran:#?}");
    // An input that waits for one that does not come.
    let mut command = bench.command(Path::new(env!("CARGO_BIN_EXE_nesl")));
    let command =
        command.args(["--time-limit", "1s"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let Ok(mut child) = command.spawn() else { panic!("nesl does not start") };
    let mut input = child.stdin.take();
    if let Some(input) = &mut input {
        let _ = input.write_all(b"read_line(stdin);\n");
        std::thread::sleep(Duration::from_secs(4));
        let _ = input.write_all(b"1 + 1;\n");
    }
    drop(input);
    let Ok(output) = child.wait_with_output() else { panic!("nesl does not end") };
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(err.contains("E0427") && out.ends_with("it = 2 : int\n"), "{out}\n{err}");
}

#[test]
fn programs_of_a_session_read_its_input_behind_their_line() {
    let bench = Bench::new();
    let ran = bench.piped(&[], "1 + 1;\nread_line(stdin);\nhello\n2 + 2;\n");
    ran.prints("it = 2 : int\nit = ((\"hello\", f), t, \"\") : (([char], bool), bool, [char])\nit = 4 : int\n");
}

#[test]
fn built_programs_have_limits_too() {
    let bench = Bench::with("a.nesl", "function main(n) : int -> int = if n < 0 then n else main(rem(n + 1, 1000));\n");
    bench.nesl(&["build", "a.nesl", "-o", "a"]).prints("");
    finish(bench.command(&bench.path("a")).args(["--time-limit", "1s", "1"]), "").fails(124, &["E0427", "a.nesl:1:"]);
}

#[test]
fn ranks_end_in_time() {
    if !cfg!(feature = "mpi") || launcher().is_none() {
        eprintln!("skipped: no MPI");
        return;
    }
    let _turn = turn();
    let bench = Bench::new();
    for (name, text) in ENDLESS {
        bench.write("a.nesl", format!("print_line(\"begun\");\n{text}\n"));
        // Ranks that start on a busy machine may need longer than a limit to come to the first line.
        let within = |seconds: u64| {
            let limit = format!("{seconds}s");
            let arguments = ["run", "--ranks", "2", "--time-limit", &limit, "a.nesl"];
            let ran = run_within(&bench, &arguments, GENEROUS + Duration::from_secs(seconds));
            (ran.out == "begun\n").then_some((seconds, ran))
        };
        let found = [3, 9, 27].into_iter().find_map(within);
        let Some((seconds, ran)) = found else { panic!("{name}: nothing is printed in 27 seconds") };
        assert_eq!(ran.code, Some(124), "{name}: {ran:#?}");
        let over = format!("error[E0427]: the time limit of {seconds}s is over\n");
        assert!(ran.err.starts_with(&over), "{name}: {ran:#?}");
        assert_eq!(ran.err.lines().count(), 2, "{name}: {ran:#?}");
    }
}

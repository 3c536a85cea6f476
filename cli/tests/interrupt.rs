//! How soon an interrupt ends programs whose instructions, kernels or instances take long. The times are printed, for
//! whoever runs this with `--nocapture`; they are some tens of milliseconds on a machine that is not busy.

#![cfg(unix)]

mod common;

use common::Bench;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What no machine takes that looks at the flag.
const GENEROUS: Duration = Duration::from_secs(2);

/// Runs a program that prints 1 and then goes on for long, and interrupts it after a while.
#[allow(clippy::unwrap_used, reason = "a panic in a helper is a failed test")]
fn interrupt(bench: &Bench, name: &str, text: &str, after: Duration) {
    bench.write("a.nesl", text);
    let mut command = bench.command(Path::new(env!("CARGO_BIN_EXE_nesl")));
    let command = command.args(["run", "--threads", "2", "a.nesl"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut start = [0; 2];
    child.stdout.as_mut().unwrap().read_exact(&mut start).unwrap();
    assert_eq!(&start, b"1\n", "{name}");
    std::thread::sleep(after);
    let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(status.success(), "{name}");
    let start = Instant::now();
    let output = child.wait_with_output().unwrap();
    let took = start.elapsed();
    eprintln!("{name} interrupted {after:?} after its start, ended {took:?} later");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(130), 0), "{name}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "interrupted\n", "{name}");
    assert!(took < GENEROUS, "{name}: {took:?}");
}

/// Interrupts each of some programs twice. `again` repeats what they do.
fn interrupt_all(data: &str, programs: &[(&str, &str)]) {
    let bench = Bench::new();
    for &(name, again) in programs {
        let text =
            format!("{data}\nfunction again(a) = if rem({again}, 2) == 2 then a else again(a);\n1;\nagain(0);\n");
        for after in [30, 400] {
            interrupt(&bench, name, &text, Duration::from_millis(after));
        }
    }
}

#[test]
fn an_interrupt_ends_long_instructions() {
    let data = "n = 8000000;\nv = {rem(i * 7919 + i / 3, 1000000007) : i in [0:n]};\nwide = {x * 6364136223846793005 : x in v};";
    interrupt_all(
        data,
        &[
            ("a sort", "sum(sort(v)) + sum(sort(wide))"),
            ("ranks", "sum(rank(v)) + sum(rank(wide))"),
            ("sorts of segments", "sum({sum(sort(w)) : w in [v, wide]}) + sum({sum(rank(w)) : w in [v, wide]})"),
            ("a scatter of one thread", "sum(dist(0, n) <- {(rem(x, n), x) : x in v})"),
            ("two scans", "sum({a - b : a in plus_scan(v); b in max_scan(plus_scan(v))})"),
        ],
    );
}

#[test]
fn an_interrupt_ends_long_instances() {
    let data = "n = 100000000;\nfunction g(i) = if i < 2 then i else rem(i * i, 7) + g(i / 1000);\n\
                function calls(n) = sum({g(i) : i in [0:n]});\nfunction loops(n) = sum({rem(i * i, 7) : i in [0:n]});\n\
                function floats(n) = sum({sqrt(float(i)) : i in [0:n]});\n\
                function rows(n) = sum({sum([0:i]) : i in [0:n]});\n\
                function sorts(n) = sum(sort({rem(i * 7919, 1000003) : i in [0:n]}));";
    interrupt_all(
        data,
        &[
            ("calls in instances", "sum({calls(n + i) : i in [0:4]})"),
            ("groups in instances", "sum({loops(n + i) : i in [0:8]})"),
            ("float sums in instances", "trunc(sum({floats(n + i) : i in [0:8]}))"),
            ("segments in instances", "sum({rows(n / 5000 + i) : i in [0:8]})"),
            ("sorts in instances", "sum({sorts(n / 10 + i) : i in [0:8]})"),
            ("a scalar function", "sum({g(i) : i in [0:n]})"),
        ],
    );
}

#[test]
fn an_interrupt_ends_loops_over_indices_that_no_memory_holds() {
    interrupt_all(
        "n = 140737488355327;",
        &[
            ("a sum", "sum({i * i : i in [0:n]})"),
            ("a float sum", "trunc(sum({float(rem(i, 10)) : i in [0:n]}))"),
            ("a filter", "sum({i in [0:n] | rem(i * i, 7) == 3})"),
        ],
    );
}

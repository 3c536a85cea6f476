//! What is read counts against the memory limit as it comes in: a process never takes much more than it was allowed,
//! and ends with a message, whatever files, pipes and commands give.

#![cfg(target_os = "linux")]

mod common;

use common::{Bench, Ran, finish};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

const MIB: u64 = 1 << 20;

/// What a process takes with the least to do, and what reading takes besides: the executable's pages, the library,
/// windows.
const BESIDES: u64 = 64 * MIB;

/// How a command ended, what it said, and the most memory that it had.
struct Measured {
    ran: Ran,
    signal: Option<i32>,
    peak: u64,
}

/// Runs the command by a shell that says how much memory its child had at most.
#[allow(clippy::unwrap_used, reason = "a panic in a helper is a failed test")]
fn measured(bench: &Bench, script: &str, input: &str) -> Measured {
    let nesl = env!("CARGO_BIN_EXE_nesl");
    let text = "import resource, subprocess, sys\n\
         ended = subprocess.run(['bash', '-c', sys.argv[1]], stdin=open(sys.argv[2]), capture_output=True)\n\
         sys.stdout.buffer.write(ended.stdout)\nsys.stderr.buffer.write(ended.stderr)\n\
         sys.stderr.write('\\npeak %d\\n' % resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n\
         code = ended.returncode\n\
         sys.exit(code if code >= 0 else 128 - code)\n";
    let mut command = bench.command(Path::new("python3"));
    command.args(["-c", text, &format!("exec {}", script.replace("NESL", nesl)), input]);
    let output = command.stdin(Stdio::null()).output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    let (said, peak) = err.rsplit_once("\npeak ").unwrap_or_else(|| panic!("{err}"));
    let peak = peak.trim().parse::<u64>().unwrap() * 1024;
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    let ran = Ran { code: output.status.code(), out, err: said.to_owned() };
    Measured { ran, signal: output.status.signal(), peak }
}

impl Measured {
    /// It ended with a message about memory, within the limit.
    #[track_caller]
    fn is_refused(&self, limit: u64) {
        self.says("out of memory", limit);
    }

    #[track_caller]
    fn says(&self, what: &str, limit: u64) {
        assert!(self.signal.is_none(), "{:?}", self.signal);
        self.ran.fails(1, &[what]);
        assert!(!self.ran.err.contains("panicked"), "{}", self.ran.err);
        assert!(self.peak < limit + BESIDES, "{} MiB at a limit of {} MiB", self.peak / MIB, limit / MIB);
    }
}

/// A file of so many bytes, all zero, which takes no room on the disk.
#[allow(clippy::unwrap_used, reason = "a panic in a helper is a failed test")]
fn sparse(bench: &Bench, name: &str, start: &[u8], length: u64) {
    bench.write(name, start);
    let file = std::fs::OpenOptions::new().write(true).open(bench.path(name)).unwrap();
    file.set_len(length).unwrap();
}

fn npy(descr: &str, shape: &str) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let header = format!("{header:117}\n");
    [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes()].concat()
}

#[test]
fn files_as_arguments() {
    let bench = Bench::new();
    for (name, ty) in [("text", "[char]"), ("lines", "[[char]]"), ("numbers", "[int]"), ("rows", "[[float]]")] {
        bench.write(&format!("{name}.nesl"), format!("function main(v) : {ty} -> int = #v;"));
    }
    sparse(&bench, "zeros", b"", 600 * MIB);
    sparse(&bench, "zeros.npy", &npy("<i8", "(78000000,)"), 600 * MIB);
    sparse(&bench, "bytes.npy", &npy("|i1", "(600000000,)"), 600 * MIB);
    sparse(&bench, "rows.npy", &npy("<f8", "(1125899906842624, 0)"), 200);
    for script in [
        "NESL run --max-memory 64M text.nesl -- @zeros",
        "NESL run --max-memory 64M lines.nesl -- @zeros",
        "NESL run --max-memory 64M numbers.nesl -- @zeros",
        "NESL run --max-memory 64M rows.nesl -- @zeros",
        "NESL run --max-memory 64M numbers.nesl -- @zeros.npy",
        "NESL run --max-memory 64M numbers.nesl -- @bytes.npy",
        "NESL run --max-memory 64M rows.nesl -- @rows.npy",
        "NESL run --max-memory 64M text.nesl -- @/dev/zero",
        "NESL run --max-memory 64M lines.nesl -- @/dev/zero",
        "NESL run --max-memory 64M numbers.nesl -- @/dev/zero",
        "NESL run --max-memory 64M text.nesl -- @/dev/stdin",
        "NESL run --max-memory 64M --engine reference text.nesl -- @/dev/zero",
        "NESL run --max-memory 64M --engine oracle text.nesl -- @/dev/zero",
    ] {
        let ran = measured(&bench, script, "/dev/zero");
        eprintln!("{script}: {} MiB", ran.peak / MIB);
        ran.is_refused(64 * MIB);
    }
    // Without the option, the addresses of the process are the limit.
    for addresses in [300, 400, 600, 1000] {
        for script in ["text.nesl -- @/dev/zero", "numbers.nesl -- @/dev/zero", "numbers.nesl -- @bytes.npy"] {
            let script = format!("bash -c 'ulimit -v {}; NESL run --threads 2 {script}'", addresses * 1024);
            let ran = measured(&bench, &script, "/dev/null");
            eprintln!("{script}: {} MiB", ran.peak / MIB);
            ran.is_refused(addresses * MIB);
        }
    }
}

#[test]
fn what_fits_is_read() {
    let bench = Bench::with("sum.nesl", "function main(v) : [int] -> (int, int) = (#v, sum(v));");
    bench.write("rows.nesl", "function main(v) : [[int]] -> (int, int) = (#v, sum({sum(r) : r in v}));");
    // 40 MB of text in 20 MB of elements: the text need not be in memory at once.
    let text = "12345678 1234567\n".repeat(2_400_000);
    bench.write("numbers", &text);
    let sum = 2_400_000u64 * (12_345_678 + 1_234_567);
    for (program, count) in [("sum", 4_800_000), ("rows", 2_400_000)] {
        let ran = measured(&bench, &format!("NESL run --max-memory 100M {program}.nesl -- numbers"), "/dev/null");
        assert_eq!(
            (ran.ran.code, ran.ran.out.as_str()),
            (Some(0), format!("({count}, {sum})\n").as_str()),
            "{:?}",
            ran.ran
        );
        eprintln!("{program}: {} MiB", ran.peak / MIB);
        assert!(ran.peak < 100 * MIB + BESIDES, "{} MiB", ran.peak / MIB);
    }
    let mut array = npy("<i8", "(5000000,)");
    array.extend((0..5_000_000i64).flat_map(i64::to_le_bytes));
    bench.write("array.npy", &array);
    let ran = measured(&bench, "NESL run --max-memory 64M sum.nesl -- array.npy", "/dev/null");
    assert_eq!(ran.ran.out, "(5000000, 12499997500000)\n", "{:?}", ran.ran);
}

#[test]
fn files_streams_and_commands_of_programs() {
    let bench = Bench::new();
    sparse(&bench, "zeros", b"", 600 * MIB);
    for (name, text) in [
        ("whole", "#read_string_from_file(\"zeros\");"),
        ("endless", "#read_string_from_file(\"/dev/zero\");"),
        ("command", "#shell_command(\"cat /dev/zero\", \"\");"),
    ] {
        bench.write("a.nesl", text);
        for options in ["", "--engine reference", "--engine oracle"] {
            let ran = measured(&bench, &format!("NESL run --max-memory 64M {options} a.nesl"), "/dev/zero");
            eprintln!("{name} {options}: {} MiB", ran.peak / MIB);
            ran.is_refused(64 * MIB);
            ran.ran.fails(1, &["E0420"]);
        }
    }
    bench.write("line.nesl", "x = open_check(open_in_file(\"/dev/zero\")); y = read_line(x); 1;");
    bench.write("input.nesl", "x = read_line(stdin); 1;");
    for name in ["line", "input"] {
        let ran = measured(&bench, &format!("NESL run --max-memory 64M {name}.nesl"), "/dev/zero");
        eprintln!("{name}: {} MiB", ran.peak / MIB);
        ran.is_refused(64 * MIB);
    }
}

#[test]
fn sources_and_inputs_of_sessions() {
    let bench = Bench::new();
    for script in ["NESL run /dev/zero", "NESL check /dev/zero", "NESL", "NESL build /dev/zero -o x"] {
        let ran = measured(&bench, script, "/dev/zero");
        eprintln!("{script}: {} MiB", ran.peak / MIB);
        ran.says("longer than 16 MiB", 64 * MIB);
    }
    let ran = finish(Command::new("bash").args(["-c", &format!("yes '(' | {}", env!("CARGO_BIN_EXE_nesl"))]), "");
    ran.fails(1, &["an input is longer than 16 MiB"]);
    // What ends lines in other systems still does.
    bench.piped(&[], "1 + 1;\r\n2;").prints("it = 2 : int\nit = 2 : int\n");
}

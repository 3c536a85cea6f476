//! The command under mpirun: data is really distributed, output comes once and is that of one process, errors too.

use nesl_tests::launcher;
use nesl_tests::programs::root;
use nesl_tests::random::Random;
use nesl_tests::stats::Table;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;

/// Elements to sort, and the most of them in percent that one of four ranks may hold.
const ELEMENTS: usize = 1_000_000;
const SHARE: u64 = 40;

/// Jobs run one at a time: each takes all cores.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Runs a command on four ranks.
fn on_ranks(launcher: &Path, binary: &Path, arguments: &[&str]) -> Output {
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut command = launcher::command(launcher, 4, binary);
    // Both launchers end a job that takes longer.
    command
        .env("MPIEXEC_TIMEOUT", "300")
        .args(arguments)
        .current_dir(root())
        .stdin(Stdio::null())
        .output()
        .expect("the launcher starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn sorting_distributes_its_data() {
    let Some((launcher, nesl)) = launcher::tools() else { return };
    let mut random = Random::new(5);
    let mut numbers: Vec<i64> = (0..ELEMENTS).map(|_| random.below(1 << 40) as i64 - (1 << 39)).collect();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("numbers.txt");
    let lines: String = numbers.iter().map(|number| format!("{number}\n")).collect();
    std::fs::write(&file, lines).unwrap();
    numbers.sort_unstable();
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    let expected = format!("[{}]\n", numbers.join(", "));

    let file = file.to_str().unwrap();
    let arguments = ["run", "--stats", "examples/quicksort/quicksort.nesl", "--", file];
    let alone = Command::new(&nesl).args(arguments).current_dir(root()).output().unwrap();
    assert!(alone.status.success(), "{}", text(&alone.stderr));
    assert!(text(&alone.stdout) == expected, "one process does not sort");
    let output = on_ranks(&launcher, &nesl, &arguments);
    let stats = text(&output.stderr);
    assert!(output.status.success(), "{stats}");
    assert!(text(&output.stdout) == expected, "four ranks do not print what one process does, once");

    let table = Table::read(&stats);
    let (parts, peaks) = (table.column("largest part"), table.column("peak elements"));
    assert_eq!((parts.len(), peaks.len()), (4, 4), "{stats}");
    let total: u64 = peaks.iter().sum();
    assert!(total >= ELEMENTS as u64, "{stats}");
    for (part, peak) in parts.iter().zip(&peaks) {
        assert!(
            *part > 0 && part * 100 <= SHARE * ELEMENTS as u64,
            "a rank held {part} elements of one column\n{stats}"
        );
        assert!(peak * 100 <= SHARE * total, "a rank held {peak} of {total} elements\n{stats}");
    }
}

#[test]
fn built_executables_run_on_ranks() {
    let Some((launcher, nesl)) = launcher::tools() else { return };
    let folder = tempfile::tempdir().unwrap();
    let primes = folder.path().join("primes");
    let built = Command::new(&nesl)
        .args(["build", "examples/primes/primes.nesl", "-o"])
        .arg(&primes)
        .current_dir(root())
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", text(&built.stderr));
    let output = on_ranks(&launcher, &primes, &["1000000"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), "78498\n");
}

#[test]
fn errors_on_ranks_are_reported_once() {
    let Some((launcher, nesl)) = launcher::tools() else { return };
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("bad.nesl");
    std::fs::write(&program, "1 + 1;\n{100000 / x : x in [1:20000] ++ [0]};\n2;\n").unwrap();
    let output = on_ranks(&launcher, &nesl, &["run", program.to_str().unwrap()]);
    let errors = text(&output.stderr);
    assert!(!output.status.success(), "{errors}");
    assert_eq!(text(&output.stdout), "2\n");
    assert_eq!(errors.matches("E0402").count(), 1, "{errors}");
    assert!(errors.contains("100000 / x"), "{errors}");
}

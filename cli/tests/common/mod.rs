//! What the tests of the command share: running it in a folder of its own, and looking at what it said.

// Each test file uses a part of this.
#![allow(dead_code, missing_docs, clippy::unwrap_used, reason = "a panic in a helper is a failed test")]

pub mod marked;
#[cfg(unix)]
pub mod terminal;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// A folder that is empty at first, and the command run in it.
pub struct Bench {
    pub folder: TempDir,
}

/// What a command did.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Bench {
    pub fn new() -> Bench {
        Bench { folder: tempfile::tempdir().unwrap() }
    }

    /// A folder with one file.
    pub fn with(name: &str, text: impl AsRef<[u8]>) -> Bench {
        let bench = Bench::new();
        bench.write(name, text);
        bench
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// `nesl` with arguments.
    pub fn nesl(&self, arguments: &[&str]) -> Ran {
        finish(self.command(Path::new(env!("CARGO_BIN_EXE_nesl"))).args(arguments), "")
    }

    /// `nesl` with arguments and a piped input.
    pub fn piped(&self, arguments: &[&str], input: &str) -> Ran {
        finish(self.command(Path::new(env!("CARGO_BIN_EXE_nesl"))).args(arguments), input)
    }

    /// A command in the folder, as if no launcher had started this test.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = with_interrupts(program);
        command.current_dir(&self.folder);
        for variable in ["OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "PMI_SIZE"] {
            command.env_remove(variable);
        }
        command.env("NESL_HISTORY", self.path("history"));
        command
    }
}

/// A command that can be interrupted, also where this test cannot: a shell lets what it starts in the background ignore
/// SIGINT, and what that starts inherits it.
fn with_interrupts(program: &Path) -> Command {
    const SIGINT: u32 = 2;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    if ignored & (1 << (SIGINT - 1)) == 0 {
        return Command::new(program);
    }
    let mut command = Command::new("/usr/bin/env");
    command.arg("--default-signal=INT").arg(program);
    command
}

/// Runs a command with an input to its end.
pub fn finish(command: &mut Command, input: &str) -> Ran {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A command that does not read its input closes the pipe; that is its right.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    Ran {
        code: status.code(),
        out: String::from_utf8_lossy(&stdout).into_owned(),
        err: String::from_utf8_lossy(&stderr).into_owned(),
    }
}

impl Ran {
    /// It worked, said nothing else, and printed this.
    #[track_caller]
    pub fn prints(&self, expected: &str) {
        assert_eq!((self.code, self.out.as_str(), self.err.as_str()), (Some(0), expected, ""));
    }

    /// It ended with this code and said all of this on standard error.
    #[track_caller]
    pub fn fails(&self, code: i32, parts: &[&str]) {
        assert_eq!(self.code, Some(code), "{self:#?}");
        for part in parts {
            assert!(self.err.contains(part), "no {part:?} in:\n{}", self.err);
        }
        assert!(!self.err.contains("bug in nesl"), "{}", self.err);
    }
}

/// Settings that let Open MPI start more ranks than there are cores, for any user; other MPIs ignore them.
pub const OVERSUBSCRIBED: [(&str, &str); 6] = [
    ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
    ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
    ("OMPI_MCA_mpi_yield_when_idle", "1"),
    ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
    ("OMPI_MCA_hwloc_base_binding_policy", "none"),
    ("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"),
];

/// The launcher of MPI: `$NESL_MPIRUN`, `mpirun` or `mpiexec`. Nothing if there is none and none is required.
pub fn launcher() -> Option<PathBuf> {
    let named = std::env::var_os("NESL_MPIRUN").map(PathBuf::from);
    let candidates = named.into_iter().chain(["mpirun", "mpiexec"].map(PathBuf::from));
    let found = candidates
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok_and(|ran| ran.status.success()));
    let is_required = std::env::var_os("NESL_REQUIRE_MPI").is_some_and(|value| value == "1");
    assert!(found.is_some() || !is_required, "MPI is required, but there is no launcher");
    found
}

/// The turn to run a job: they share few cores.
pub fn turn() -> std::sync::MutexGuard<'static, ()> {
    static ONE_JOB: std::sync::Mutex<()> = std::sync::Mutex::new(());
    ONE_JOB.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// A file of the repository.
pub fn example(path: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(path).display().to_string()
}

//! The launcher of MPI as a process: finds it, starts it with settings that work with more ranks than cores and for
//! root, and holds on to it.
//!
//! It has a process group of its own: a Ctrl-C at the terminal reaches the supervisor and nobody else, which then ends
//! the job in an orderly way. On Linux the launcher ends when the supervisor does, however that happens.

use crate::launch::{FewFiles, check_files};
use nesl_mpi::communication::launcher::{self, LAUNCHER_VARIABLE};
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How long a launcher may take to end its ranks before it is ended itself. Open MPI takes one second.
const PATIENCE: Duration = Duration::from_millis(1700);

/// Why a job could not begin.
#[derive(Debug)]
pub enum StartError {
    /// There is no launcher.
    NoLauncher,
    /// A process may open too few files.
    FewFiles(FewFiles),
    /// The launcher cannot be started.
    NotStarted {
        /// Its name.
        launcher: String,
        /// Why.
        problem: io::Error,
    },
}

impl fmt::Display for StartError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::NoLauncher => write!(
                formatter,
                "ranks are started by MPI, and there is neither mpirun nor mpiexec here; install it, or say where it is: \
                 {LAUNCHER_VARIABLE}=/path/to/mpirun"
            ),
            StartError::FewFiles(few) => few.fmt(formatter),
            StartError::NotStarted { launcher, problem } => write!(formatter, "cannot start {launcher}: {problem}"),
        }
    }
}

impl std::error::Error for StartError {}

/// A launcher that this process has started, and with it the ranks of a job.
#[derive(Debug)]
pub struct LauncherProcess {
    launcher: Child,
    /// When it was asked to end.
    asked: Option<Instant>,
    /// When its processes were looked at last, and since when all of them are dead.
    looked: Option<Instant>,
    dead: Option<Instant>,
}

/// How often the processes of a launcher are looked at.
const LOOK: Duration = Duration::from_millis(250);

/// How long a launcher may take to notice that all its processes are dead.
const UNNOTICED: Duration = Duration::from_secs(5);

/// Starts a program on ranks. Its output and errors come through pipes; `stdin` says what rank 0 reads.
///
/// # Errors
/// If there is no launcher that can be started.
pub fn start(
    ranks: usize,
    program: &Path,
    arguments: &[OsString],
    stdin: impl Fn() -> Stdio,
) -> Result<LauncherProcess, StartError> {
    check_files(ranks).map_err(StartError::FewFiles)?;
    let is_named = launcher::is_named();
    for (launcher, mut command) in launcher::commands(ranks, program) {
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.stdin(stdin());
        detach(&mut command);
        match command.spawn() {
            Ok(launcher) => return Ok(LauncherProcess { launcher, asked: None, looked: None, dead: None }),
            Err(problem) if problem.kind() == io::ErrorKind::NotFound && !is_named => {}
            Err(problem) => return Err(StartError::NotStarted { launcher, problem }),
        }
    }
    Err(StartError::NoLauncher)
}

impl LauncherProcess {
    /// What the ranks read, if that is a pipe; once.
    pub fn stdin(&mut self) -> Option<ChildStdin> {
        self.launcher.stdin.take()
    }

    /// What the ranks write; once.
    pub fn stdout(&mut self) -> Option<ChildStdout> {
        self.launcher.stdout.take()
    }

    /// What the ranks and the launcher say; once.
    pub fn stderr(&mut self) -> Option<ChildStderr> {
        self.launcher.stderr.take()
    }

    /// How the launcher ended, if it has.
    ///
    /// # Errors
    /// If the system does not say.
    pub fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        self.launcher.try_wait()
    }

    /// Makes the ranks stop what they evaluate, if they have said that they can ([`nesl_mpi::World::watch`]): launchers
    /// pass this signal on to all ranks. Others would end at it.
    pub fn interrupt(&self) {
        interrupt(&self.launcher);
    }

    /// Makes ranks look at once how many of them are wanted, if they have said that they can.
    pub fn look(&self) {
        look(&self.launcher);
    }

    /// Kills a launcher that does not notice that all its processes are dead: one that Open MPI's is just starting when
    /// others die makes it wait for ever. To be called again and again; whether it was killed.
    pub fn end_if_dead(&mut self) -> bool {
        if self.looked.is_some_and(|looked| looked.elapsed() < LOOK) {
            return false;
        }
        self.looked = Some(Instant::now());
        self.dead = if are_dead(self.launcher.id()) { self.dead.or(self.looked) } else { None };
        // The one reason for failure is that it has ended.
        self.dead.is_some_and(|dead| dead.elapsed() > UNNOTICED) && self.launcher.kill().is_ok()
    }

    /// Makes the job end. To be called until it has: a launcher that does not end is killed, and on Linux its ranks
    /// with it.
    pub fn end(&mut self) {
        match self.asked {
            None => {
                self.asked = Some(Instant::now());
                terminate(&mut self.launcher);
            }
            Some(asked) if asked.elapsed() > PATIENCE => {
                // The one reason for failure is that it has ended.
                let _ = self.launcher.kill();
            }
            Some(_) => {}
        }
    }
}

impl Drop for LauncherProcess {
    fn drop(&mut self) {
        while matches!(self.ended(), Ok(None)) {
            self.end();
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Whether a process has started others, and waits for none that is alive, as far as the system tells.
fn are_dead(process: u32) -> bool {
    let text = |path: String| std::fs::read_to_string(path).unwrap_or_default();
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let children: Vec<String> = tasks
        .flat_map(|task| {
            let path = task.path().join("children");
            text(path.display().to_string()).split_whitespace().map(str::to_owned).collect::<Vec<_>>()
        })
        .collect();
    // The state comes after the name, which is in parentheses and may have any in it.
    let is_dead = |child: &String| {
        let stat = text(format!("/proc/{child}/stat"));
        stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with(['Z', 'X']))
    };
    !children.is_empty() && children.iter().all(is_dead)
}

/// Gives a process a group of its own, and on Linux makes it end with the thread that starts it.
fn detach(command: &mut Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    nesl_mpi::communication::process::end_with_parent(command);
}

/// Asks a process that has not been waited for to end.
#[cfg(unix)]
fn terminate(process: &mut Child) {
    send(process, nix::sys::signal::Signal::SIGTERM);
}

#[cfg(unix)]
fn interrupt(process: &Child) {
    send(process, nix::sys::signal::Signal::SIGUSR1);
}

#[cfg(unix)]
fn look(process: &Child) {
    send(process, nix::sys::signal::Signal::SIGUSR2);
}

/// Sends a signal to a process that has not been waited for: the number is that of our child until then.
#[cfg(unix)]
fn send(process: &Child, signal: nix::sys::signal::Signal) {
    if let Ok(id) = i32::try_from(process.id()) {
        // The one reason for failure is that it has ended.
        let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(id), signal);
    }
}

#[cfg(not(unix))]
fn terminate(process: &mut Child) {
    let _ = process.kill();
}

#[cfg(not(unix))]
fn interrupt(_: &Child) {}

#[cfg(not(unix))]
fn look(_: &Child) {}

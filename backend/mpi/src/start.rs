//! How a job begins from a single process: finds the launcher, starts it with settings that work with more ranks than cores and
//! for root, and holds on to it.
//!
//! The launcher has a process group of its own: a Ctrl-C at the terminal reaches the process that started the job and nobody else,
//! which then ends the job in an orderly way. On Linux the launcher ends when this process does, however that happens.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The variable that names the launcher, with options before those of ours.
pub const LAUNCHER_VARIABLE: &str = "NESL_MPIRUN";

/// The launchers that are looked for.
const LAUNCHERS: [&str; 2] = ["mpirun", "mpiexec"];

/// How Open MPI is told, in its old and its new form, to start as many ranks as it is asked to, for any user, not to tie them to
/// cores that their threads then share, to let ranks that wait give up their core, and not to print the stack of one that
/// crashes. Other MPIs ignore these. What the user has set stays.
const SETTINGS: [(&str, &str); 8] = [
    ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
    ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
    ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
    ("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"),
    ("OMPI_MCA_hwloc_base_binding_policy", "none"),
    ("PRTE_MCA_hwloc_default_binding_policy", "none"),
    ("OMPI_MCA_mpi_yield_when_idle", "1"),
    ("OMPI_MCA_opal_signal", ""),
];

/// How long a launcher may take to end its ranks before it is ended itself. Open MPI takes one second.
const PATIENCE: Duration = Duration::from_millis(1700);

/// Files that a launcher and each of its ranks may have open at once. Open MPI 4 was seen to fail in its own words with 40, and to wait
/// forever with others.
const FILES: u64 = 64;
/// Files that a launcher opens for each rank.
const FILES_OF_RANK: u64 = 8;

/// Why a job could not begin.
#[derive(Debug)]
pub enum StartError {
    /// There is no launcher.
    NoLauncher,
    /// A process may open too few files.
    FewFiles {
        /// So many.
        allowed: u64,
        /// What ranks need.
        needed: u64,
    },
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
            StartError::FewFiles { allowed, needed } => write!(
                formatter,
                "starting these ranks takes up to {needed} open files, and a process may have {allowed} here\n\
                 hint: raise the limit: ulimit -n {needed}"
            ),
            StartError::NotStarted { launcher, problem } => write!(formatter, "cannot start {launcher}: {problem}"),
        }
    }
}

impl std::error::Error for StartError {}

/// A job that this process has started.
#[derive(Debug)]
pub struct Job {
    launcher: Child,
    /// When it was asked to end.
    asked: Option<Instant>,
}

/// Starts a program on ranks. Its output and errors come through pipes; `stdin` says what rank 0 reads.
///
/// # Errors
/// If there is no launcher that can be started.
pub fn start(
    ranks: usize,
    program: &Path,
    arguments: &[OsString],
    stdin: impl Fn() -> Stdio,
) -> Result<Job, StartError> {
    let needed = FILES + FILES_OF_RANK * ranks as u64;
    let allowed = allowed_files(needed);
    if allowed < needed {
        return Err(StartError::FewFiles { allowed, needed });
    }
    let named = std::env::var(LAUNCHER_VARIABLE).ok().filter(|name| !name.trim().is_empty());
    let candidates = match &named {
        Some(name) if Path::new(name).is_file() => vec![vec![name.as_str()]],
        Some(words) => vec![words.split_whitespace().collect()],
        None => LAUNCHERS.iter().map(|name| vec![*name]).collect(),
    };
    let commands = candidates.into_iter().filter_map(|words| {
        let (launcher, options) = words.split_first()?;
        let mut command = Command::new(launcher);
        command.args(options).arg("-n").arg(ranks.to_string()).arg(program).args(arguments);
        command.envs(SETTINGS.into_iter().filter(|(name, _)| std::env::var_os(name).is_none()));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Some((*launcher, command))
    });
    for (launcher, mut command) in commands {
        command.stdin(stdin());
        detach(&mut command);
        match command.spawn() {
            Ok(launcher) => return Ok(Job { launcher, asked: None }),
            Err(problem) if problem.kind() == io::ErrorKind::NotFound && named.is_none() => {}
            Err(problem) => return Err(StartError::NotStarted { launcher: launcher.to_owned(), problem }),
        }
    }
    Err(StartError::NoLauncher)
}

impl Job {
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

    /// Makes the ranks stop what they evaluate, if they have said that they can ([`crate::launch::World::watch`]): launchers pass
    /// this signal on to all ranks. Others would end at it.
    pub fn interrupt(&self) {
        interrupt(&self.launcher);
    }

    /// Makes the job end. To be called until it has: a launcher that does not end is killed, and on Linux its ranks with it.
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

impl Drop for Job {
    fn drop(&mut self) {
        while matches!(self.ended(), Ok(None)) {
            self.end();
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// How many files this process and those that it starts may have open, raised to what is wanted if that is allowed.
#[cfg(unix)]
fn allowed_files(wanted: u64) -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: both calls read or write the structure, which lives as long.
    #[allow(unsafe_code)]
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) != 0 {
            return u64::MAX;
        }
        let raised = libc::rlimit { rlim_cur: limit.rlim_max.min(wanted), ..limit };
        if limit.rlim_cur < raised.rlim_cur && libc::setrlimit(libc::RLIMIT_NOFILE, &raw const raised) == 0 {
            limit = raised;
        }
    }
    limit.rlim_cur
}

#[cfg(not(unix))]
fn allowed_files(_: u64) -> u64 {
    u64::MAX
}

/// Gives a process a group of its own, and on Linux makes it end with the thread that starts it.
#[cfg(unix)]
fn detach(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
    #[cfg(target_os = "linux")]
    {
        let parent = std::process::id();
        let end_with_parent = move || {
            // SAFETY: prctl with PR_SET_PDEATHSIG takes a signal number and touches no memory of ours; getppid does nothing else.
            #[allow(unsafe_code)]
            let current = unsafe {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM);
                libc::getppid()
            };
            // The parent may have ended before the kernel was asked.
            match u32::try_from(current) == Ok(parent) {
                true => Ok(()),
                false => Err(io::Error::from(io::ErrorKind::Interrupted)),
            }
        };
        // SAFETY: what runs between fork and exec calls two functions of the system that are safe there, and allocates nothing.
        #[allow(unsafe_code)]
        unsafe {
            command.pre_exec(end_with_parent);
        }
    }
}

#[cfg(not(unix))]
fn detach(_: &mut Command) {}

/// Asks a process that has not been waited for to end.
#[cfg(unix)]
fn terminate(process: &mut Child) {
    send(process, libc::SIGTERM);
}

#[cfg(unix)]
fn interrupt(process: &Child) {
    send(process, libc::SIGUSR1);
}

/// Sends a signal to a process that has not been waited for.
#[cfg(unix)]
fn send(process: &Child, signal: libc::c_int) {
    if let Ok(id) = libc::pid_t::try_from(process.id()) {
        // SAFETY: kill touches no memory; the number is that of our child until it has been waited for.
        #[allow(unsafe_code)]
        unsafe {
            libc::kill(id, signal);
        }
    }
}

#[cfg(not(unix))]
fn terminate(process: &mut Child) {
    let _ = process.kill();
}

#[cfg(not(unix))]
fn interrupt(_: &Child) {}

/// How a terminal is set: for a process that must end while it edits a line.
#[cfg(unix)]
pub struct Terminal {
    settings: Option<libc::termios>,
}

#[cfg(unix)]
impl Terminal {
    /// The terminal that is standard input, as it is now.
    pub fn remember() -> Terminal {
        let mut settings = std::mem::MaybeUninit::uninit();
        // SAFETY: tcgetattr fills in the settings where it gives 0, and only then they are used.
        #[allow(unsafe_code)]
        let settings = unsafe {
            (libc::tcgetattr(libc::STDIN_FILENO, settings.as_mut_ptr()) == 0).then(|| settings.assume_init())
        };
        Terminal { settings }
    }

    /// Sets it as it was.
    pub fn restore(&self) {
        if let Some(settings) = &self.settings {
            // SAFETY: tcsetattr reads settings that tcgetattr has made.
            #[allow(unsafe_code)]
            unsafe {
                libc::tcsetattr(libc::STDIN_FILENO, libc::TCSADRAIN, settings);
            }
        }
    }
}

/// How a terminal is set, where that is not known.
#[cfg(not(unix))]
pub struct Terminal;

#[cfg(not(unix))]
impl Terminal {
    /// Nothing.
    pub fn remember() -> Terminal {
        Terminal
    }

    /// Nothing.
    pub fn restore(&self) {}
}

/// Signals that ask this process to end: noted, so that it can end its job before.
#[cfg(unix)]
pub mod signals {
    use std::sync::atomic::{AtomicI32, Ordering::SeqCst};

    /// The last signal that came; 0 for none.
    static CAUGHT: AtomicI32 = AtomicI32::new(0);

    extern "C" fn note(signal: libc::c_int) {
        CAUGHT.store(signal, SeqCst);
    }

    /// From here on SIGINT, SIGTERM and SIGHUP are noted, unless whoever started this process wants them ignored.
    pub fn note_them() {
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            let handler: extern "C" fn(libc::c_int) = note;
            // SAFETY: the handler does nothing but store to an atomic, which signal handlers may.
            #[allow(unsafe_code)]
            unsafe {
                if libc::signal(signal, handler as libc::sighandler_t) == libc::SIG_IGN {
                    libc::signal(signal, libc::SIG_IGN);
                }
            }
        }
    }

    /// The signal that has come, if one has.
    pub fn caught() -> Option<i32> {
        Some(CAUGHT.load(SeqCst)).filter(|&signal| signal != 0)
    }

    /// Whether a signal is that of a Ctrl-C.
    pub fn is_interrupt(signal: i32) -> bool {
        signal == libc::SIGINT
    }

    /// Makes a Ctrl-C one that has not come; other signals stay.
    pub fn forget_interrupt() {
        let _ = CAUGHT.compare_exchange(libc::SIGINT, 0, SeqCst, SeqCst);
    }

    /// The signal that ended a process.
    pub fn of(status: std::process::ExitStatus) -> Option<i32> {
        std::os::unix::process::ExitStatusExt::signal(&status)
    }

    /// Whether this process may read the terminal that is its standard input: one in the background would be stopped.
    pub fn is_in_foreground() -> bool {
        // SAFETY: both calls take numbers and give numbers.
        #[allow(unsafe_code)]
        unsafe {
            libc::tcgetpgrp(libc::STDIN_FILENO) == libc::getpgrp()
        }
    }
}

/// Signals, where there are none.
#[cfg(not(unix))]
pub mod signals {
    /// Nothing is noted.
    pub fn note_them() {}

    /// None ever comes.
    pub fn caught() -> Option<i32> {
        None
    }

    /// None is.
    pub fn is_interrupt(_: i32) -> bool {
        false
    }

    /// Nothing to forget.
    pub fn forget_interrupt() {}

    /// None ever ends a process.
    pub fn of(_: std::process::ExitStatus) -> Option<i32> {
        None
    }

    /// Always.
    pub fn is_in_foreground() -> bool {
        true
    }
}

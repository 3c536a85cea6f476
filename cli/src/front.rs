//! `--ranks N`: the process that starts a job and stands between the user and its ranks.
//!
//! ```text
//! terminal ─ this process ─ launcher ─ rank 0 … rank N-1, each this command again with `--as-rank`
//! ```
//! What the ranks write passes through here. So an output that cannot be written is noticed, which launchers do not, and what a
//! launcher says of a dead rank becomes one message. However this process ends, the job ends with it.

use crate::launch::Launched;
use crate::options::{EngineName, RunOptions};
use crate::stop::Stop;

/// The number of ranks that this process is to start; nothing where it runs the program itself: where it is a rank, and for a
/// single one, which needs no launcher.
///
/// # Errors
/// A usage error where it can start none.
pub fn wanted(options: &RunOptions) -> Result<Option<usize>, Stop> {
    let Some(ranks) = options.ranks.filter(|_| !options.as_rank) else { return Ok(None) };
    if let Some(launched) = Launched::detect() {
        let problem = "error: a launcher has started this process already; under mpirun leave --ranks out";
        return Err(launched.said_by_first(Stop::usage(problem)));
    }
    if ranks == 1 {
        return Ok(None);
    }
    match options.engine {
        None | Some(EngineName::Mpi) => Ok(Some(usize::from(ranks))),
        Some(_) => Err(Stop::usage(
            "error: this engine runs in one process: with --ranks leave --engine out, or take --engine mpi",
        )),
    }
}

/// Starts this command again on so many ranks, and lasts as long as they do.
///
/// # Errors
/// The end of the job, if it could not begin or did not go well.
#[cfg(not(feature = "mpi"))]
pub fn run(_: usize) -> Result<(), Stop> {
    Err(crate::launch::without_mpi("this nesl was built without MPI, which starts ranks"))
}

#[cfg(feature = "mpi")]
pub use with_mpi::run;

#[cfg(feature = "mpi")]
mod with_mpi {
    use crate::output::write_error;
    use crate::stop::Stop;
    use nesl_mpi::remarks::{Death, Remarks};
    use nesl_mpi::start::{Job, signals, start};
    use std::ffi::OsString;
    use std::io::{self, ErrorKind, IsTerminal, Read, Write};
    use std::path::{Path, PathBuf};
    use std::process::{ExitStatus, Stdio};
    use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
    use std::thread;
    use std::time::Duration;

    /// How often the end of the launcher is looked for.
    const TICK: Duration = Duration::from_millis(10);

    /// The exit code of a job of which nothing is known but that it did not go well.
    const UNKNOWN: u8 = 101;

    /// Starts this command again on so many ranks, and lasts as long as they do.
    ///
    /// # Errors
    /// The end of the job, if it could not begin or did not go well.
    pub fn run(ranks: usize) -> Result<(), Stop> {
        signals::note_them();
        let is_typed = io::stdin().is_terminal();
        // The launcher is no part of the terminal's foreground: what is typed goes through here.
        let is_piped = is_typed && signals::is_in_foreground();
        let stdin = || match (is_piped, is_typed) {
            (true, _) => Stdio::piped(),
            (false, true) => Stdio::null(),
            (false, false) => Stdio::inherit(),
        };
        let (program, arguments) = command();
        let started = start(ranks, &program, &arguments, stdin);
        let mut job = started.map_err(|error| Stop::failed(format!("error: {error}")))?;
        if let Some(pipe) = job.stdin() {
            // Ends with this process: nothing else ends reading a terminal.
            thread::spawn(move || io::copy(&mut io::stdin().lock(), &mut &pipe));
        }
        let output = job.stdout().map(|pipe| watched(pipe, |pipe| pass_on(pipe, &mut io::stdout())));
        let remarks = job.stderr().map(|pipe| watched(pipe, listen));
        let mut watch = Watch { job, output, lost: None, stopped_by: None };
        let status =
            watch.last().map_err(|error| Stop::failed(format!("error: cannot wait for the ranks: {error}")))?;
        let death = remarks.and_then(|remarks| watch.result_of(&remarks)).flatten();
        watch.conclude(status, death.as_ref(), ranks)
    }

    /// This command and its arguments, for the ranks.
    fn command() -> (PathBuf, Vec<OsString>) {
        let mut arguments = std::env::args_os();
        let name = arguments.next().unwrap_or_default();
        let rest = std::iter::once(OsString::from("--as-rank")).chain(arguments).collect();
        let own = std::env::current_exe().unwrap_or_else(|_| PathBuf::from(&name));
        // Messages of built programs say how they were called.
        let is_own = |path: &Path| path.components().count() > 1 && path.canonicalize().is_ok_and(|path| path == own);
        let program = Some(PathBuf::from(name)).filter(|path| is_own(path)).unwrap_or(own);
        (program, rest)
    }

    /// Reads a pipe in a thread of its own; what comes of it. The pipe is read to its end in any case: a launcher that cannot
    /// write crashes.
    fn watched<P: Read + Send + 'static, T: Send + 'static>(
        mut pipe: P,
        reader: impl FnOnce(&mut P) -> T + Send + 'static,
    ) -> Receiver<T> {
        let (sender, receiver) = channel();
        thread::spawn(move || {
            // Nobody need want to know how either ends.
            let _ = sender.send(reader(&mut pipe));
            let _ = io::copy(&mut pipe, &mut io::sink());
        });
        receiver
    }

    /// Copies what comes to where it goes, as it comes.
    fn pass_on(from: &mut impl Read, to: &mut impl Write) -> io::Result<()> {
        let mut buffer = vec![0; 1 << 16];
        loop {
            match from.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(count) => to.write_all(&buffer[..count]).and_then(|()| to.flush())?,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Passes on what ranks and launcher say; the death that the launcher tells of.
    fn listen(pipe: &mut impl Read) -> Option<Death> {
        let mut remarks = Remarks::default();
        // Without a standard error there is nobody to tell.
        let _ = pass_on(pipe, &mut Filter { remarks: &mut remarks });
        let rest = remarks.rest();
        let _ = io::stderr().write_all(&rest);
        remarks.death().cloned()
    }

    /// Standard error without the remarks of a launcher.
    struct Filter<'a> {
        remarks: &'a mut Remarks,
    }

    impl Write for Filter<'_> {
        fn write(&mut self, text: &[u8]) -> io::Result<usize> {
            let shown = self.remarks.read(text);
            // A standard error that is gone must not keep the job from saying more.
            let _ = io::stderr().write_all(&shown);
            Ok(text.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A job while it lasts.
    struct Watch {
        job: Job,
        /// How passing on its output has ended.
        output: Option<Receiver<io::Result<()>>>,
        /// Why its output does not arrive.
        lost: Option<io::Error>,
        /// The signal that made this process end the job.
        stopped_by: Option<i32>,
    }

    impl Watch {
        /// Waits for the job; ends it where it must not go on.
        fn last(&mut self) -> io::Result<ExitStatus> {
            let status = loop {
                if let Some(status) = self.job.ended()? {
                    break status;
                }
                self.stopped_by = self.stopped_by.or_else(signals::caught);
                self.lost = self.lost.take().or_else(|| self.output.as_ref()?.try_recv().ok()?.err());
                if self.stopped_by.is_some() || self.lost.is_some() {
                    self.job.end();
                }
                thread::sleep(TICK);
            };
            if self.lost.is_none()
                && let Some(output) = self.output.take()
            {
                self.lost = self.result_of(&output).and_then(Result::err);
            }
            Ok(status)
        }

        /// What a pipe of a launcher that has ended gives; whoever reads this process's output may take any time over it. Nothing
        /// after a signal.
        fn result_of<T>(&mut self, reader: &Receiver<T>) -> Option<T> {
            loop {
                match reader.recv_timeout(TICK) {
                    Ok(result) => return Some(result),
                    Err(RecvTimeoutError::Disconnected) => return None,
                    Err(RecvTimeoutError::Timeout) => {}
                }
                self.stopped_by = self.stopped_by.or_else(signals::caught);
                if self.stopped_by.is_some() {
                    return None;
                }
            }
        }

        /// What the end of a job is for the user.
        fn conclude(self, status: ExitStatus, death: Option<&Death>, ranks: usize) -> Result<(), Stop> {
            if let Some(signal) = self.stopped_by {
                return Err(Stop::signalled(signal));
            }
            if let Some(error) = self.lost {
                return Err(write_error(&error));
            }
            if let Some(death) = death {
                return Err(Stop { code: by_signal(death.signal), message: obituary(death, ranks) });
            }
            if let Some(signal) = signals::of(status) {
                let message = format!("error: the launcher was ended by signal {signal}: the job ends");
                return Err(Stop { code: by_signal(signal), message });
            }
            match status.code() {
                Some(0) => Ok(()),
                // The ranks have said why, or the launcher has.
                code => Err(Stop {
                    code: code.and_then(|code| u8::try_from(code).ok()).unwrap_or(UNKNOWN),
                    message: String::new(),
                }),
            }
        }
    }

    /// The exit code of a process that a signal has ended, as shells report it.
    fn by_signal(signal: i32) -> u8 {
        u8::try_from(128 + signal).unwrap_or(UNKNOWN)
    }

    /// What is said of a dead rank.
    fn obituary(death: &Death, ranks: usize) -> String {
        const SIGKILL: i32 = 9;
        const SIGTERM: i32 = 15;
        let Death { rank, machine, signal } = death;
        let rank = rank.map_or_else(|| "a rank".to_owned(), |rank| format!("rank {rank}"));
        let machine = machine.as_ref().map_or_else(String::new, |machine| format!(" on {machine}"));
        let what = match *signal {
            SIGKILL | SIGTERM => "was killed by",
            _ => "crashed with",
        };
        let hint = match *signal {
            SIGKILL => "\nhint: a system that runs out of memory kills; --max-memory makes nesl give up before",
            SIGTERM => "",
            _ => "\nthis is a bug in nesl; please report it with the program",
        };
        format!("error: {rank} of {ranks}{machine} {what} signal {signal}: the job ends{hint}")
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_dead_rank_is_named() {
            let death = Death { rank: Some(2), machine: Some("node7".to_owned()), signal: 9 };
            let text = obituary(&death, 4);
            assert!(
                text.starts_with("error: rank 2 of 4 on node7 was killed by signal 9: the job ends\nhint: "),
                "{text}"
            );
            let text = obituary(&Death { rank: None, machine: None, signal: 11 }, 4);
            assert!(text.starts_with("error: a rank of 4 crashed with signal 11"), "{text}");
        }
    }
}

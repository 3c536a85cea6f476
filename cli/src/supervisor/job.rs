//! A job seen from the process that started it: passes on what the ranks write, ends them when a signal says so or
//! nobody can read them, and says what their end is for the user.

use super::input::RanksInput;
use super::launcher::{LauncherProcess, start};
use super::launcher_output::{Death, Remarks};
use super::marks::Marks;
use super::signals;
use super::turns::Turns;
use crate::options::{ColorChoice, RunOptions};
use crate::output::write_error;
use crate::screen::Screen;
use crate::stop::Stop;
use nesl_backend::io::standard::StandardOutput;
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// How often the end of the launcher is looked for.
const TICK: Duration = Duration::from_millis(10);

/// When ranks that should end by themselves are told so again.
const AGAIN: Duration = Duration::from_millis(500);

/// How long what an obituary would explain waits for one. Launchers take a second to end the other ranks.
const DOUBT: Duration = Duration::from_secs(5);

/// The exit code of a job of which nothing is known but that it did not go well.
const UNKNOWN: u8 = 101;

/// Starts this command again on so many ranks, and lasts as long as they do.
///
/// # Errors
/// The end of the job, if it could not begin or did not go well.
pub fn run(ranks: usize, options: &RunOptions) -> Result<(), Stop> {
    let job = with_input(ranks, options, &[])?;
    Watch::new(job, ranks, StandardOutput::default(), io::stderr()).last()
}

/// The same for a run whose ranks become more or fewer: its ranks are told when somebody wants them to look at that.
///
/// # Errors
/// Those of [`run`].
pub fn elastic(ranks: usize, options: &RunOptions) -> Result<(), Stop> {
    signals::note_look();
    let (mark, turns) = (mark(), Arc::<Turns>::default());
    let job = with_input(ranks, options, &["--turns", &mark])?;
    let heard = Arc::clone(&turns);
    let errors = Marks::new(&mark, io::stderr(), move |word: &str| heard.hear(word));
    let watch = Watch::new(job, ranks, StandardOutput::default(), errors);
    Watch { started: Some(turns), ..watch }.last()
}

/// The same for a session whose input is no terminal, or is not edited.
///
/// # Errors
/// Those of [`run`].
pub(super) fn session(ranks: usize, options: &RunOptions) -> Result<(), Stop> {
    let (mark, turns) = (mark(), Arc::<Turns>::default());
    let job = with_input(ranks, options, &["--turns", &mark])?;
    let heard = Arc::clone(&turns);
    let errors = Marks::new(&mark, io::stderr(), move |word: &str| heard.hear(word));
    Watch::new(job, ranks, StandardOutput::default(), errors).interruptible(turns).last()
}

/// A text that no program prints by chance.
pub(super) fn mark() -> String {
    let since = std::time::UNIX_EPOCH.elapsed().unwrap_or_default().as_nanos();
    format!("{}.{since}", std::process::id())
}

/// Starts the ranks, which read what this process would.
fn with_input(ranks: usize, options: &RunOptions, more: &[&str]) -> Result<LauncherProcess, Stop> {
    signals::note();
    let more: Vec<&OsStr> = more.iter().map(OsStr::new).collect();
    begin_with(&RanksInput::once(), ranks, options, &more)
}

/// Starts the ranks, which read a certain input.
///
/// # Errors
/// If there are none then.
pub(super) fn begin_with(
    input: &RanksInput,
    ranks: usize,
    options: &RunOptions,
    more: &[&OsStr],
) -> Result<LauncherProcess, Stop> {
    let mut job = begin(ranks, options, more, || input.stdio())?;
    if let Some(pipe) = job.stdin() {
        input.feed(pipe);
    }
    Ok(job)
}

/// Starts the ranks, with more options for them.
///
/// # Errors
/// If there are none then.
pub(super) fn begin(
    ranks: usize,
    options: &RunOptions,
    more: &[&OsStr],
    stdin: impl Fn() -> Stdio,
) -> Result<LauncherProcess, Stop> {
    let mut own = vec![OsStr::new("--as-rank")];
    own.extend((options.color == ColorChoice::Auto && options.color.enabled()).then_some(OsStr::new("--in-color")));
    let screen = Screen::of_messages().map(|screen| screen.to_string());
    if let Some(screen) = &screen {
        own.extend(["--screen", screen].map(OsStr::new));
    }
    let (program, arguments) = command(own.iter().chain(more));
    start(ranks, &program, &arguments, stdin).map_err(|error| Stop::failed(format!("error: {error}")))
}

/// This command and its arguments, for the ranks; their own options come first.
fn command<'a>(own_options: impl Iterator<Item = &'a &'a OsStr>) -> (PathBuf, Vec<OsString>) {
    let mut arguments = std::env::args_os();
    let name = arguments.next().unwrap_or_default();
    let rest = own_options.map(OsString::from).chain(arguments).collect();
    let own = std::env::current_exe().unwrap_or_else(|_| PathBuf::from(&name));
    // Messages of built programs say how they were called.
    let is_own = |path: &Path| path.components().count() > 1 && path.canonicalize().is_ok_and(|path| path == own);
    let program = Some(PathBuf::from(name)).filter(|path| is_own(path)).unwrap_or(own);
    (program, rest)
}

/// Reads a pipe in a thread of its own, and passes on in another what comes; how that ended. The pipe is read to its
/// end in any case: a launcher that cannot write crashes.
fn passed_on(
    mut from: impl Read + Send + 'static,
    mut to: impl Write + Send + 'static,
    remarks: Remarks,
) -> Receiver<Passed> {
    let (reader, text) = sync_channel(0);
    thread::spawn(move || {
        let mut buffer = vec![0; 1 << 16];
        loop {
            let read = match from.read(&mut buffer) {
                Ok(0) => return,
                Ok(count) => Ok(buffer[..count].to_vec()),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => Err(error),
            };
            let is_over = read.is_err();
            if reader.send(read).is_err() || is_over {
                break;
            }
        }
        let _ = io::copy(&mut from, &mut io::sink());
    });
    let (sender, receiver) = channel();
    thread::spawn(move || {
        // Nobody need want to know how it ends.
        let _ = sender.send(pass_on(&text, &mut to, remarks));
    });
    receiver
}

/// Passes on what comes, as it comes, but for the remarks of the launcher; how that ended, and the death that they tell
/// of.
fn pass_on(from: &Receiver<io::Result<Vec<u8>>>, to: &mut impl Write, mut remarks: Remarks) -> Passed {
    let mut write = |text: &[u8]| to.write_all(text).and_then(|()| to.flush());
    let ended = loop {
        let wait = if remarks.is_in_doubt() { DOUBT } else { Duration::MAX };
        let text = match from.recv_timeout(wait) {
            Ok(Ok(text)) => remarks.read(&text),
            Ok(Err(error)) => break Err(error),
            Err(RecvTimeoutError::Timeout) => remarks.doubtful(),
            Err(RecvTimeoutError::Disconnected) => break write(&remarks.rest()),
        };
        if let Err(error) = write(&text) {
            break Err(error);
        }
    };
    (ended, remarks.death().cloned())
}

/// A standard error that may be gone: that must not keep the launcher from saying more. Once nobody wants the output,
/// nobody wants to hear how the job ends either, which is ended for that.
struct BestEffort<W> {
    to: W,
    is_unwanted: Arc<AtomicBool>,
}

impl<W: Write> Write for BestEffort<W> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        if !self.is_unwanted.load(Relaxed) {
            let _ = self.to.write_all(text);
        }
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let _ = self.to.flush();
        Ok(())
    }
}

/// How passing on an output has ended, and the death that it told of.
type Passed = (io::Result<()>, Option<Death>);

/// A job while it lasts.
pub(super) struct Watch {
    job: LauncherProcess,
    ranks: usize,
    /// How passing on its output has ended.
    output: Option<Receiver<Passed>>,
    /// The same of its errors.
    errors: Option<Receiver<Passed>>,
    /// The death that its output has told of.
    death: Option<Death>,
    /// Why its output does not arrive.
    lost: Option<io::Error>,
    /// Nobody wants to hear more of it.
    is_unwanted: Arc<AtomicBool>,
    /// Whether its launcher did not notice that its processes had died.
    is_unnoticed: bool,
    /// The signal that made this process end the job.
    stopped_by: Option<i32>,
    /// Which evaluation an interrupt is for, in a session.
    turns: Option<Arc<Turns>>,
    /// Which ranks have come later.
    started: Option<Arc<Turns>>,
    /// The ranks end by themselves after a signal that asks for it, having saved what they do: whether they listen now.
    listens: Option<Box<dyn Fn() -> bool + Send>>,
    /// One has come. A second one ends them.
    is_asked: bool,
    /// When they were told of it last. They may not have listened: they are told again.
    told: Option<Instant>,
}

impl Watch {
    /// Passes on what comes from a job that has begun.
    pub(super) fn new(
        mut job: LauncherProcess,
        ranks: usize,
        output: impl Write + Send + 'static,
        errors: impl Write + Send + 'static,
    ) -> Watch {
        let output = job.stdout().map(|pipe| passed_on(pipe, output, Remarks::of_output()));
        let is_unwanted = Arc::<AtomicBool>::default();
        let errors = BestEffort { to: errors, is_unwanted: Arc::clone(&is_unwanted) };
        let errors = job.stderr().map(|pipe| passed_on(pipe, errors, Remarks::default()));
        Watch {
            job,
            ranks,
            output,
            errors,
            death: None,
            lost: None,
            is_unwanted,
            is_unnoticed: false,
            stopped_by: None,
            turns: None,
            started: None,
            listens: None,
            is_asked: false,
            told: None,
        }
    }

    /// Passes an interrupt on to a session, where it is for an evaluation.
    pub(super) fn interruptible(self, turns: Arc<Turns>) -> Watch {
        Watch { turns: Some(Arc::clone(&turns)), started: Some(turns), ..self }
    }

    /// Passes signals that ask a run to end on to it, which is saved then, once it listens; also one that has come
    /// before.
    pub(super) fn saved(self, listens: impl Fn() -> bool + Send + 'static, is_asked: bool) -> Watch {
        Watch { listens: Some(Box::new(listens)), is_asked, ..self }
    }

    /// Waits for the end of the job, and says what it is for the user.
    ///
    /// # Errors
    /// If it did not go well.
    pub(super) fn last(self) -> Result<(), Stop> {
        self.ended()?.conclude()
    }

    /// Waits for the end of the job.
    ///
    /// # Errors
    /// If the system does not say.
    pub(super) fn ended(mut self) -> Result<Ended, Stop> {
        let status = self.end().map_err(|error| Stop::failed(format!("error: cannot wait for the ranks: {error}")))?;
        let errors = self.errors.take();
        let told = errors.and_then(|errors| self.result_of(&errors)).and_then(|(_, death)| death);
        let death = told.or_else(|| self.death.take());
        let started = self.started.as_ref().map(|turns| turns.started()).unwrap_or_default();
        let Watch { ranks, lost, is_unnoticed, stopped_by, is_asked, .. } = self;
        Ok(Ended { status, death, ranks, started, lost, is_unnoticed, stopped_by, is_asked })
    }

    /// Waits for the job; ends it where it must not go on.
    fn end(&mut self) -> io::Result<ExitStatus> {
        let status = loop {
            if let Some(status) = self.job.ended()? {
                break status;
            }
            self.stopped_by = self.stopped_by.or_else(signals::caught);
            self.pass_requests();
            self.pass_interrupts();
            if signals::take_look() {
                self.job.look();
            }
            if let Some(passed) = self.output.as_ref().and_then(|output| output.try_recv().ok()) {
                self.output = None;
                self.note(passed);
            }
            if self.stopped_by.is_some() || self.lost.is_some() {
                self.job.end();
            }
            self.is_unnoticed |= self.job.end_if_dead();
            thread::sleep(TICK);
        };
        if self.lost.is_none()
            && let Some(output) = self.output.take()
        {
            let passed = self.result_of(&output);
            passed.into_iter().for_each(|passed| self.note(passed));
        }
        Ok(status)
    }

    /// Notes how passing on the output has ended.
    fn note(&mut self, (ended, death): Passed) {
        self.lost = ended.err();
        self.is_unwanted.store(self.lost.is_some(), Relaxed);
        self.death = death;
    }

    /// Tells ranks that are saved of the first signal that asks them to end.
    fn pass_requests(&mut self) {
        let Some(listens) = &self.listens else { return };
        if !self.is_asked && self.stopped_by.is_some_and(signals::is_request) {
            (self.stopped_by, self.is_asked) = (None, true);
            signals::forget_request();
        }
        // Before they listen they would be ended by the signal.
        if self.is_asked && self.told.is_none_or(|told| told.elapsed() > AGAIN) && listens() {
            self.told = Some(Instant::now());
            self.job.interrupt();
        }
    }

    /// Tells the ranks of interrupts that are for them, which end nothing else.
    fn pass_interrupts(&mut self) {
        let Some(turns) = &self.turns else { return };
        if self.stopped_by.is_some_and(signals::is_interrupt) && turns.interrupt() {
            self.stopped_by = None;
            signals::forget_interrupt();
        }
        if turns.take_due() {
            self.job.interrupt();
        }
    }

    /// What a pipe of a launcher that has ended gives; whoever reads this process's output may take any time over it.
    /// Nothing after a signal.
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
}

/// A job that has ended.
pub(super) struct Ended {
    status: ExitStatus,
    death: Option<Death>,
    ranks: usize,
    started: Vec<(usize, usize)>,
    lost: Option<io::Error>,
    is_unnoticed: bool,
    stopped_by: Option<i32>,
    /// Whether a signal has come that asks a run to end.
    pub is_asked: bool,
}

impl Ended {
    /// Whether it has ended because whoever has started it, or reads what it writes, wants no more of it.
    pub fn is_wanted(&self) -> bool {
        self.stopped_by.is_some() || self.lost.is_some()
    }

    /// What has become of a rank or of the launcher, if one has died.
    pub fn death(&self) -> Option<String> {
        if let Some(death) = &self.death {
            let ranks = self.started.iter().fold(self.ranks, |_, &(before, count)| before + count);
            return Some(obituary(&death.among(&self.started), ranks));
        }
        if self.is_unnoticed {
            return Some(format!("the {} ranks died while they were started", self.ranks));
        }
        signals::that_ended(self.status).map(|signal| format!("the launcher was ended by signal {signal}"))
    }

    /// What has become of its ranks, if it has not ended by itself, or because somebody wanted that.
    pub fn loss(&self) -> Option<String> {
        let unnamed = || {
            // One that dies while it comes to the others has no number yet.
            let signal = self.code().checked_sub(128).filter(|signal| (1..=31).contains(signal))?;
            Some(format!("a rank of {} was ended by signal {signal}", self.ranks))
        };
        self.death().or_else(unnamed)
    }

    /// Whether something of it was killed, as far as its launcher says.
    pub fn is_killed(&self) -> bool {
        self.code() == by_signal(SIGKILL)
    }

    /// The exit code that it stands for.
    pub fn code(&self) -> u8 {
        match (&self.death, signals::that_ended(self.status)) {
            (Some(death), _) => death.signal.map_or(UNKNOWN, by_signal),
            (None, Some(signal)) => by_signal(signal),
            // The ranks have said why, or the launcher has.
            (None, None) => self.status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(UNKNOWN),
        }
    }

    /// What the end of a job is for the user.
    ///
    /// # Errors
    /// If it did not go well.
    pub fn conclude(self) -> Result<(), Stop> {
        if let Some(signal) = self.stopped_by {
            return Err(Stop::signalled(signal));
        }
        if let Some(error) = self.lost {
            return Err(write_error(&error));
        }
        let hint = self.death.as_ref().map_or("", hint);
        match (self.death(), self.code()) {
            (Some(death), code) => Err(Stop::with_code(code, format!("error: {death}: the job ends{hint}"))),
            (None, 0) => Ok(()),
            (None, code) => Err(Stop::with_code(code, "")),
        }
    }
}

/// The exit code of a process that a signal has ended, as shells report it.
fn by_signal(signal: i32) -> u8 {
    u8::try_from(128 + signal).unwrap_or(UNKNOWN)
}

const SIGKILL: i32 = 9;
const SIGTERM: i32 = 15;

/// What is said of a dead rank.
fn obituary(death: &Death, ranks: usize) -> String {
    let Death { rank, machine, signal, .. } = death;
    let rank = rank.map_or_else(|| "a rank".to_owned(), |rank| format!("rank {rank}"));
    let machine = machine.as_ref().map_or_else(String::new, |machine| format!(" on {machine}"));
    let what = match *signal {
        None => return format!("{rank} of {ranks}{machine} crashed or was killed"),
        Some(SIGKILL | SIGTERM) => "was killed by",
        Some(_) => "crashed with",
    };
    format!("{rank} of {ranks}{machine} {what} signal {}", signal.unwrap_or_default())
}

/// What one can do about it.
fn hint(death: &Death) -> &'static str {
    match death.signal {
        None | Some(SIGTERM) => "",
        Some(SIGKILL) => "\nhint: a system that runs out of memory kills; --max-memory makes nesl give up before",
        Some(_) => "\nthis is a bug in nesl; please report it with the program",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dead_rank_is_named() {
        let death = Death { rank: Some(2), job: 1, machine: Some("node7".to_owned()), signal: Some(9) };
        let text = obituary(&death, 4);
        assert_eq!(text, "rank 2 of 4 on node7 was killed by signal 9");
        assert!(hint(&death).starts_with("\nhint: "));
        let text = obituary(&Death { rank: None, job: 1, machine: None, signal: Some(11) }, 4);
        assert_eq!(text, "a rank of 4 crashed with signal 11");
        let text = obituary(&Death { rank: None, job: 1, machine: None, signal: None }, 4);
        assert_eq!(text, "a rank of 4 crashed or was killed");
    }
}

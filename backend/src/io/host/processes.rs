//! Commands: a program and its arguments, split at white space. No shell is involved, so nothing in them is special.

use super::streams::{STDERR, STDIN, STDOUT, Streams};
use super::{message, os_string};
use crate::data::hold::Hold;
use crate::engine::interrupt::Interrupt;
use nesl_prim::host::HostError;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// The command that a text says.
fn command(text: &[u8]) -> Result<Command, HostError> {
    let mut words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).map(os_string);
    let program = words.next().ok_or_else(|| HostError::Message("there is no command in this text".to_owned()))?;
    let mut command = Command::new(program);
    command.args(words);
    Ok(command)
}

fn failed<'a>(text: &'a [u8], what: &'a str) -> impl Fn(io::Error) -> HostError + 'a {
    move |error| message(&format!("cannot {what} `{}`", String::from_utf8_lossy(text)), &error)
}

/// How often a command that runs is looked after.
const TICK: Duration = Duration::from_millis(20);

/// The groups of processes of commands that run and may have to end. Each has the number of its first process.
static GROUPS: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

fn groups() -> MutexGuard<'static, BTreeSet<u32>> {
    GROUPS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends all commands that were started by a world that may end, with what they have started.
pub fn end_all() {
    groups().iter().for_each(|&group| end_group(group));
}

#[cfg(target_os = "linux")]
fn end_group(group: u32) {
    let Ok(group) = i32::try_from(group) else { return };
    // SAFETY: kill takes two numbers and touches no memory. One that there is no such group any more is no mistake.
    #[allow(unsafe_code)]
    unsafe {
        libc::kill(-group, libc::SIGKILL);
    }
}

#[cfg(not(target_os = "linux"))]
fn end_group(_: u32) {}

/// Lets a command be the first of a group of its own.
#[cfg(unix)]
fn apart(command: &mut Command) {
    std::os::unix::process::CommandExt::process_group(command, 0);
}

#[cfg(not(unix))]
fn apart(_: &mut Command) {}

/// A command that runs, known as one that may have to end.
struct Running {
    child: Child,
    is_apart: bool,
}

impl Running {
    /// Starts a command; `may_end` if it may have to end before it does so by itself.
    fn start(command: &mut Command, may_end: bool) -> io::Result<Running> {
        if !may_end {
            return Ok(Running { child: command.spawn()?, is_apart: false });
        }
        apart(command);
        // Held meanwhile, so that no command begins unseen while all are ended.
        let mut groups = groups();
        let child = command.spawn()?;
        groups.insert(child.id());
        Ok(Running { child, is_apart: true })
    }

    /// Waits for its end.
    fn wait(mut self) {
        // There is nobody to tell of an error.
        let _ = self.child.wait();
        self.forget();
    }

    /// Waits for its end, or an interrupt.
    fn wait_under(&mut self, text: &[u8], interrupt: &Interrupt) -> Result<ExitStatus, HostError> {
        loop {
            interrupt.check()?;
            match self.child.try_wait().map_err(failed(text, "run"))? {
                Some(status) => return Ok(status),
                None => thread::sleep(Duration::from_millis(1)),
            }
        }
    }

    fn end(&mut self) {
        if self.is_apart {
            end_group(self.child.id());
        }
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn forget(&self) {
        if self.is_apart {
            groups().remove(&self.child.id());
        }
    }
}

/// Runs a command on an input; what it writes to its standard output. An interrupt ends it.
pub(super) fn run(
    text: &[u8],
    input: &[u8],
    may_end: bool,
    (interrupt, hold): (&Interrupt, &mut Hold),
) -> Result<Vec<u8>, HostError> {
    let mut command = command(text)?;
    end_with_this_thread(&mut command);
    command.stdin(if input.is_empty() { Stdio::null() } else { Stdio::piped() }).stdout(Stdio::piped());
    let mut running = Running::start(&mut command, may_end).map_err(failed(text, "start"))?;
    let (stdin, stdout) = (running.child.stdin.take(), running.child.stdout.take());
    // A command may write before it has read everything: feed it while listening.
    let outcome = thread::scope(|scope| {
        if let Some(mut stdin) = stdin {
            // A command need not read all of its input.
            scope.spawn(move || _ = stdin.write_all(input));
        }
        let (sender, receiver) = channel();
        scope.spawn(move || {
            let read = |mut stdout| hold.read(&mut stdout, u64::MAX, || Ok::<_, HostError>(()), failed(text, "run"));
            // Nobody listens any more after an interrupt.
            let _ = sender.send(stdout.map_or(Ok(Vec::new()), read));
        });
        let output = loop {
            match receiver.recv_timeout(TICK) {
                Ok(output) => break output,
                Err(RecvTimeoutError::Disconnected) => break Ok(Vec::new()),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Err(failure) = interrupt.check() {
                break Err(failure.into());
            }
        };
        let outcome = output.and_then(|output| Ok((running.wait_under(text, interrupt)?, output)));
        if outcome.is_err() {
            // Nobody hears any more what it says.
            running.end();
        }
        outcome
    });
    running.forget();
    let (status, mut output) = outcome?;
    if !status.success() {
        // What ends a program ends its commands: that says why.
        interrupt.check()?;
        return Err(HostError::Message(format!("`{}` ended with {status}", String::from_utf8_lossy(text))));
    }
    output.shrink_to_fit();
    Ok(output)
}

/// Ends a command that this thread waits for when nobody waits any more, because this process was killed.
#[cfg(target_os = "linux")]
fn end_with_this_thread(command: &mut Command) {
    let ask = || {
        // SAFETY: prctl with PR_SET_PDEATHSIG takes a signal number and touches no memory of ours.
        #[allow(unsafe_code)]
        unsafe {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        }
        Ok(())
    };
    // SAFETY: what runs between fork and exec calls a function of the system that is safe there, and allocates nothing.
    #[allow(unsafe_code)]
    unsafe {
        std::os::unix::process::CommandExt::pre_exec(command, ask);
    }
}

#[cfg(not(target_os = "linux"))]
fn end_with_this_thread(_: &mut Command) {}

/// Starts a command with these standard streams, pipes for those that are -1; the streams of its standard input, output
/// and error, -1 for those that were given.
pub(super) fn spawn(streams: &mut Streams, text: &[u8], own: [i64; 3], may_end: bool) -> Result<[i64; 3], HostError> {
    let mut command = command(text)?;
    for (position, stream) in own.into_iter().enumerate() {
        let stdio = match stream {
            -1 => Stdio::piped(),
            STDIN | STDOUT | STDERR if stream == position as i64 => Stdio::inherit(),
            other => streams.file(other)?.into(),
        };
        match position as i64 {
            STDIN => command.stdin(stdio),
            STDOUT => command.stdout(stdio),
            _ => command.stderr(stdio),
        };
    }
    let mut running = Running::start(&mut command, may_end).map_err(failed(text, "start"))?;
    let child = &mut running.child;
    let input = child.stdin.take().map_or(-1, |pipe| streams.add_writer(Box::new(pipe), None));
    let output = child.stdout.take().map_or(-1, |pipe| streams.add_reader(Box::new(pipe), None));
    let error = child.stderr.take().map_or(-1, |pipe| streams.add_reader(Box::new(pipe), None));
    // Nobody asks how it ended; a thread waits, so that it does not stay behind as a zombie.
    thread::spawn(move || running.wait());
    Ok([input, output, error])
}

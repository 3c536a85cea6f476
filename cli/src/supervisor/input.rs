//! What the ranks of a job read: the standard input of this process, for a job that may be started again from its
//! beginning.

use super::terminal;
use std::fs::File;
use std::io::{self, IsTerminal, Read, Seek, SeekFrom, Write};
use std::process::{ChildStdin, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// How much is read before somebody wants it.
const AHEAD: u64 = 1 << 20;

/// What is read and written at once.
const AT_ONCE: usize = 1 << 16;

/// Where the ranks read.
pub(super) enum RanksInput {
    /// Nowhere: a terminal that is not this process's to read.
    Nothing,
    /// What this process would, directly.
    Own,
    /// A file, from where it was.
    File(File, u64),
    /// A terminal, by a pipe: the launcher is no part of its foreground.
    Typed,
    /// The same, or another pipe, of which all is kept.
    Kept(Arc<Kept>),
}

impl RanksInput {
    /// For a job that is started once.
    pub fn once() -> RanksInput {
        match (io::stdin().is_terminal(), terminal::is_in_foreground()) {
            (true, true) => RanksInput::Typed,
            (true, false) => RanksInput::Nothing,
            (false, _) => RanksInput::Own,
        }
    }

    /// For a job that may be started again.
    pub fn again() -> RanksInput {
        match RanksInput::once() {
            RanksInput::Own => own_file().or_else(|| is_pipe().then(Kept::begin)?).unwrap_or(RanksInput::Own),
            RanksInput::Typed => Kept::begin().unwrap_or(RanksInput::Typed),
            other => other,
        }
    }

    /// What the launcher is given.
    pub fn stdio(&self) -> Stdio {
        match self {
            RanksInput::Nothing => Stdio::null(),
            RanksInput::Own => Stdio::inherit(),
            RanksInput::File(file, start) => {
                // Whoever shares the file shares where it is; one that cannot be there any more is at its end.
                let mut file = file;
                let _ = file.seek(SeekFrom::Start(*start));
                Stdio::inherit()
            }
            RanksInput::Typed | RanksInput::Kept(_) => Stdio::piped(),
        }
    }

    /// Passes on what is to be read, in a thread that ends with this process or with the job.
    pub fn feed(&self, mut pipe: ChildStdin) {
        match self {
            RanksInput::Typed => {
                thread::spawn(move || io::copy(&mut io::stdin().lock(), &mut pipe));
            }
            RanksInput::Kept(kept) => {
                let kept = Arc::clone(kept);
                thread::spawn(move || kept.feed(&mut pipe));
            }
            RanksInput::Nothing | RanksInput::Own | RanksInput::File(..) => {}
        }
    }
}

/// Standard input, if it is a file in which one can go back.
#[cfg(unix)]
fn own_file() -> Option<RanksInput> {
    let mut file = own()?;
    let start = file.stream_position().ok().filter(|_| file.metadata().is_ok_and(|metadata| metadata.is_file()))?;
    Some(RanksInput::File(file, start))
}

/// Whether standard input is one that nobody can read twice.
#[cfg(unix)]
fn is_pipe() -> bool {
    use std::os::unix::fs::FileTypeExt;
    let kind = own().and_then(|file| file.metadata().ok()).map(|metadata| metadata.file_type());
    kind.is_some_and(|kind| kind.is_fifo() || kind.is_socket())
}

#[cfg(unix)]
fn own() -> Option<File> {
    std::os::fd::AsFd::as_fd(&io::stdin()).try_clone_to_owned().ok().map(File::from)
}

/// Where standard input cannot be asked what it is.
#[cfg(not(unix))]
fn own_file() -> Option<RanksInput> {
    None
}

#[cfg(not(unix))]
fn is_pipe() -> bool {
    true
}

/// All that was read so far, in a file that has no name.
pub(super) struct Kept {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    file: File,
    length: u64,
    /// How far somebody has come with it.
    taken: u64,
    has_ended: bool,
}

impl Kept {
    fn begin() -> Option<RanksInput> {
        let file = tempfile::tempfile().ok()?;
        let state = Mutex::new(State { file, length: 0, taken: 0, has_ended: false });
        let kept = Arc::new(Kept { state, changed: Condvar::new() });
        let reader = Arc::clone(&kept);
        thread::spawn(move || reader.read(&mut io::stdin().lock()));
        Some(RanksInput::Kept(kept))
    }

    fn wait(&self, is_ready: impl Fn(&State) -> bool) -> MutexGuard<'_, State> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.changed.wait_while(state, |state| !is_ready(state)).unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps what comes, a little of it before it is wanted.
    fn read(&self, from: &mut impl Read) {
        let mut buffer = vec![0; AT_ONCE];
        loop {
            drop(self.wait(|state| state.length < state.taken + AHEAD));
            let read = match from.read(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read.unwrap_or(0),
            };
            let mut state = self.wait(|_| true);
            let end = SeekFrom::Start(state.length);
            // Who cannot keep it ends it: what is lost must not be read as if it were all.
            let is_kept = state.file.seek(end).and_then(|_| state.file.write_all(&buffer[..read])).is_ok();
            state.length += if is_kept { read as u64 } else { 0 };
            state.has_ended = read == 0 || !is_kept;
            self.changed.notify_all();
            if state.has_ended {
                return;
            }
        }
    }

    /// Passes all on, from the beginning.
    fn feed(&self, to: &mut impl Write) {
        let (mut buffer, mut at) = (vec![0; AT_ONCE], 0);
        loop {
            let mut state = self.wait(|state| state.length > at || state.has_ended);
            let there = state.file.seek(SeekFrom::Start(at)).and_then(|_| state.file.read(&mut buffer)).unwrap_or(0);
            drop(state);
            if there == 0 || to.write_all(&buffer[..there]).and_then(|()| to.flush()).is_err() {
                return;
            }
            at += there as u64;
            let mut state = self.wait(|_| true);
            state.taken = state.taken.max(at);
            self.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_read_can_be_read_again() {
        let file = tempfile::tempfile().unwrap();
        let state = Mutex::new(State { file, length: 0, taken: 0, has_ended: false });
        let kept = Arc::new(Kept { state, changed: Condvar::new() });
        let text: Vec<u8> = (0..3_000_000_u32).map(|i| (i % 251) as u8).collect();
        let (reader, given) = (Arc::clone(&kept), text.clone());
        let reading = thread::spawn(move || reader.read(&mut given.as_slice()));
        for _ in 0..2 {
            let mut read = Vec::new();
            kept.feed(&mut read);
            assert!(read == text, "{} of {} bytes", read.len(), text.len());
        }
        reading.join().unwrap();
    }
}

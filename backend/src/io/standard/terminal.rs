//! Writing to the terminal that standard output is, without waiting in `write`.
//!
//! Ctrl-C throws away what a terminal has yet to show, and Linux does not tell who waits in `write` for room there: the
//! room is there, and the wait goes on until somebody else writes, which at a prompt is never. So the terminal is
//! opened once more, for writes that do not wait, and who finds it full looks again after a while, told or not. Being
//! opened anew, it is as it was for whoever shares standard output.

use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::OnceLock;

/// How long room in a terminal can go unnoticed, in milliseconds.
const LOOKS_AGAIN: libc::c_int = 50;

/// The terminal; none if standard output is none, or one that cannot be opened again.
pub(super) fn of_output() -> Option<&'static File> {
    static TERMINAL: OnceLock<Option<File>> = OnceLock::new();
    let open =
        || OpenOptions::new().write(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open("/proc/self/fd/1");
    TERMINAL.get_or_init(|| io::stdout().is_terminal().then(open)?.ok()).as_ref()
}

/// Writes some of the bytes, once there is room for one.
pub(super) fn write(mut terminal: &File, bytes: &[u8]) -> io::Result<usize> {
    loop {
        match terminal.write(bytes) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => await_room(terminal),
            written => return written,
        }
    }
}

/// Returns when a terminal has room, or after a while.
fn await_room(terminal: &File) {
    let mut asked = libc::pollfd { fd: terminal.as_raw_fd(), events: libc::POLLOUT, revents: 0 };
    // SAFETY: `asked` is one entry, as is said, and lives until the call returns. What it returns does not matter: the
    // next write tells.
    unsafe { libc::poll(&raw mut asked, 1, LOOKS_AGAIN) };
}

//! Standard input, shared by whoever reads it, and waiting for input under an interrupt.
//!
//! A session reads its own lines from the same input as the programs that it runs. So what is read ahead lies here,
//! once, and nobody keeps it to himself between two lines. The library's own standard input does not tell what it has
//! read ahead, without which nobody can wait for more and be interrupted.

use crate::engine::interrupt::Interrupt;
use nesl_prim::Failure;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// What bytes come from.
#[cfg(unix)]
pub(super) trait Source: Read + Send + std::os::fd::AsFd {}
#[cfg(unix)]
impl<T: Read + Send + std::os::fd::AsFd> Source for T {}

/// What bytes come from.
#[cfg(not(unix))]
pub(super) trait Source: Read + Send {}
#[cfg(not(unix))]
impl<T: Read + Send> Source for T {}

/// A source with what was read ahead of it.
pub(super) type Reader = BufReader<Box<dyn Source>>;

static STANDARD: LazyLock<Mutex<Option<Reader>>> = LazyLock::new(|| Mutex::new(standard_source().map(BufReader::new)));

#[cfg(unix)]
fn standard_source() -> Option<Box<dyn Source>> {
    use std::os::fd::AsFd;
    // A standard input that was closed is at its end.
    let own = io::stdin().as_fd().try_clone_to_owned().ok()?;
    Some(Box::new(std::fs::File::from(own)))
}

#[cfg(not(unix))]
fn standard_source() -> Option<Box<dyn Source>> {
    Some(Box::new(io::stdin()))
}

/// Standard input, for as long as the guard lives; none if it was closed from the beginning.
pub(super) fn standard() -> MutexGuard<'static, Option<Reader>> {
    STANDARD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads standard input.
pub fn with_standard<R>(read: impl FnOnce(&mut dyn BufRead) -> R) -> R {
    match standard().as_mut() {
        Some(reader) => read(reader),
        None => read(&mut io::empty()),
    }
}

/// Waits until there is something to read, or the source is at its end.
///
/// # Errors
/// After an interrupt.
pub(super) fn wait(reader: &Reader, interrupt: &Interrupt) -> Result<(), Failure> {
    interrupt.check()?;
    while reader.buffer().is_empty() && !is_ready(reader.get_ref().as_ref()) {
        interrupt.check()?;
    }
    Ok(())
}

/// Whether reading would not wait; looks for a while.
#[cfg(target_os = "linux")]
fn is_ready(source: &dyn Source) -> bool {
    use std::os::fd::AsRawFd;
    const WHILE: i32 = 20;
    let mut poll = libc::pollfd { fd: source.as_fd().as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: poll reads and writes the one structure that it is given, whose descriptor is open as long as the source
    // is borrowed.
    #[allow(unsafe_code)]
    let ready = unsafe { libc::poll(&raw mut poll, 1, WHILE) };
    // Where it cannot be known, reading says why. A signal says nothing.
    ready > 0 || (ready < 0 && io::Error::last_os_error().kind() != io::ErrorKind::Interrupted)
}

/// Elsewhere reading waits.
#[cfg(not(target_os = "linux"))]
fn is_ready(_: &dyn Source) -> bool {
    true
}

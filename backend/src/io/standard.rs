//! Standard output as this process was given it.
//!
//! What a shell has closed, `nesl … >&-`, the runtime of Rust opens again on `/dev/null`, before any code of ours:
//! everything would be written, to nobody. So the loader is asked to have a look before that, and writing to an output
//! that was not there is an error, as it is for other programs. To a terminal it is written without waiting there
//! ([`terminal`]).

#![allow(unsafe_code, reason = "what runs before the runtime is named by a section of the executable")]

use std::io::{self, Write};

#[cfg(target_os = "linux")]
mod terminal;

#[cfg(target_os = "linux")]
mod start {
    use std::sync::atomic::{AtomicBool, Ordering};

    pub(super) static IS_CLOSED: AtomicBool = AtomicBool::new(false);

    extern "C" fn look() {
        // SAFETY: asking for the flags of a descriptor touches no memory; of a closed one the answer is -1.
        let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
        IS_CLOSED.store(flags == -1, Ordering::Relaxed);
    }

    // SAFETY: functions in this section are called once, before `main`, with arguments that C lets them ignore; `look`
    // needs nothing of the runtime, which is not there yet.
    #[used]
    #[unsafe(link_section = ".init_array")]
    static LOOK: extern "C" fn() = look;
}

/// Whether standard output was closed when this process began.
///
/// # Errors
/// If it was: what writing to it would have given.
pub fn check() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    if start::IS_CLOSED.load(std::sync::atomic::Ordering::Relaxed) {
        return Err(io::Error::from_raw_os_error(libc::EBADF));
    }
    Ok(())
}

/// Standard output. Writing to one that was closed when the process began is an error.
#[derive(Debug)]
pub struct StandardOutput(io::Stdout);

impl Default for StandardOutput {
    fn default() -> StandardOutput {
        StandardOutput(io::stdout())
    }
}

impl Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        check()?;
        #[cfg(target_os = "linux")]
        if let Some(terminal) = terminal::of_output() {
            // What others have left there without an end of line stands before it.
            self.0.flush()?;
            return terminal::write(terminal, bytes);
        }
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

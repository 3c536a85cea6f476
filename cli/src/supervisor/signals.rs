//! Signals that ask this process to end: noted, so that it can end its job before.

#[cfg(unix)]
mod noted {
    use nesl_mpi::communication::process::is_ignored;
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2};
    use signal_hook::flag::{register, register_conditional_default, register_usize};
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
    use std::sync::{Arc, LazyLock};

    /// The last signal that came; 0 for none.
    static CAUGHT: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);

    /// Whether signals end this process all the same.
    static ENDING: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

    /// Somebody wants the ranks to look how many of them are wanted.
    static LOOK: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

    /// From here on SIGINT, SIGTERM and SIGHUP are noted, unless whoever started this process wants them ignored.
    pub fn note() {
        ENDING.store(false, SeqCst);
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            if !is_ignored(signal) {
                // The reasons for failure are signals that cannot be caught, which these are not.
                let _ = register_usize(signal, Arc::clone(&CAUGHT), signal as usize);
            }
        }
    }

    /// The job that they were noted for has not begun: from here on they end this process again, but for SIGINT.
    pub fn note_no_more() {
        CAUGHT.store(0, SeqCst);
        ENDING.store(true, SeqCst);
        for signal in [SIGTERM, SIGHUP] {
            if !is_ignored(signal) {
                let _ = register_conditional_default(signal, Arc::clone(&ENDING));
            }
        }
    }

    /// Lets a signal do what it does.
    pub fn raise(signal: i32) {
        if let Ok(signal) = nix::sys::signal::Signal::try_from(signal) {
            // There is no reason for failure: this process has the right to end itself.
            let _ = nix::sys::signal::raise(signal);
        }
    }

    /// From here on SIGUSR1 is noted, too.
    pub fn note_user() {
        let _ = register_usize(SIGUSR1, Arc::clone(&CAUGHT), SIGUSR1 as usize);
    }

    /// From here on SIGUSR2 is noted, which ends nothing.
    pub fn note_look() {
        let _ = register(SIGUSR2, Arc::clone(&LOOK));
    }

    /// Whether SIGUSR2 has come since this was asked last.
    pub fn take_look() -> bool {
        LOOK.swap(false, SeqCst)
    }

    /// Whether a signal asks a run that is saved to end when it has been.
    pub fn is_request(signal: i32) -> bool {
        signal == SIGTERM || signal == SIGUSR1
    }

    /// Makes such a signal one that has not come.
    pub fn forget_request() {
        for signal in [SIGTERM, SIGUSR1] {
            let _ = CAUGHT.compare_exchange(signal as usize, 0, SeqCst, SeqCst);
        }
    }

    /// The signal that has come, if one has.
    pub fn caught() -> Option<i32> {
        i32::try_from(CAUGHT.load(SeqCst)).ok().filter(|&signal| signal != 0)
    }

    /// Whether a signal is that of a Ctrl-C.
    pub fn is_interrupt(signal: i32) -> bool {
        signal == SIGINT
    }

    /// Makes a Ctrl-C one that has not come; other signals stay.
    pub fn forget_interrupt() {
        let _ = CAUGHT.compare_exchange(SIGINT as usize, 0, SeqCst, SeqCst);
    }

    /// The signal that ended a process.
    pub fn that_ended(status: std::process::ExitStatus) -> Option<i32> {
        std::os::unix::process::ExitStatusExt::signal(&status)
    }
}

/// Where there are no signals.
#[cfg(not(unix))]
mod noted {
    /// Nothing is noted.
    pub fn note() {}

    /// Nothing was.
    pub fn note_no_more() {}

    /// None can be.
    pub fn raise(_: i32) {}

    /// Nothing is noted.
    pub fn note_user() {}

    /// Nothing is noted.
    pub fn note_look() {}

    /// None has come.
    pub fn take_look() -> bool {
        false
    }

    /// None is.
    pub fn is_request(_: i32) -> bool {
        false
    }

    /// Nothing to forget.
    pub fn forget_request() {}

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
    pub fn that_ended(_: std::process::ExitStatus) -> Option<i32> {
        None
    }
}

pub use noted::{
    caught, forget_interrupt, forget_request, is_interrupt, is_request, note, note_look, note_no_more, note_user,
    raise, take_look, that_ended,
};

//! Time that processors spend on this process: unlike time on the wall it does not grow while others have them.

#![allow(unsafe_code, reason = "the system writes the time to memory; every block says why it is sound")]

use std::time::Duration;

/// What goes by while ranks talk to each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Talk {
    /// On the wall: sending, and waiting for others.
    pub waiting: Duration,
    /// What of it processors spent on this process.
    pub spent: Duration,
}

/// What processors have spent on all threads of this process; nothing where the system does not say.
pub fn of_process() -> Duration {
    #[cfg(unix)]
    return read(libc::CLOCK_PROCESS_CPUTIME_ID);
    #[cfg(not(unix))]
    Duration::ZERO
}

/// The same of the calling thread.
pub fn of_thread() -> Duration {
    #[cfg(unix)]
    return read(libc::CLOCK_THREAD_CPUTIME_ID);
    #[cfg(not(unix))]
    Duration::ZERO
}

#[cfg(unix)]
fn read(clock: libc::clockid_t) -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the time is this function's own, and there for the call.
    let status = unsafe { libc::clock_gettime(clock, &raw mut time) };
    match status {
        0 => Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32),
        _ => Duration::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computing_takes_time_and_sleeping_takes_none() {
        let (thread, process) = (of_thread(), of_process());
        std::thread::sleep(Duration::from_millis(50));
        assert!(of_thread() - thread < Duration::from_millis(25));
        let mut number = 1u64;
        while of_thread() - thread < Duration::from_millis(60) {
            number = std::hint::black_box(number.wrapping_mul(3));
        }
        assert!(of_process() - process >= Duration::from_millis(60));
    }
}

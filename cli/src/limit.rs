//! `--time-limit`: the most time that a run, or an input of a session, may take.
//!
//! A thread of its own watches the time. When it is over the evaluation is asked to end, as by Ctrl-C, so that the
//! error has a place and a session goes on. What cannot be asked, or does not answer within [`GRACE`], ends with the
//! process: the compiler, a wait for a file that nobody writes, ranks. Nothing printed is lost by that: under a limit
//! it is written out at once ([`System::that_may_end`]). Commands that the program has started end in either case.
//!
//! [`System::that_may_end`]: nesl_backend::io::host::System::that_may_end

use crate::interrupt::Interrupt;
use crate::stop::{OUT_OF_TIME, Stop};
use crate::style::Style;
use nesl_backend::RuntimeError;
use nesl_backend::io::host::end_commands;
use nesl_prim::Failure;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long an evaluation that was asked to end may take to do so.
const GRACE: Duration = Duration::from_secs(1);

/// What other ranks leave rank 0 to speak, and to end the job.
const TIME_TO_SPEAK: Duration = Duration::from_millis(500);

/// A length of time as the user gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeLimit {
    length: Duration,
    text: String,
}

impl std::fmt::Display for TimeLimit {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl std::str::FromStr for TimeLimit {
    type Err = String;

    /// Reads `10s`, `500ms`, `2m`, `1h`, `1.5s`.
    fn from_str(text: &str) -> Result<TimeLimit, String> {
        let end = text.find(|character: char| !character.is_ascii_digit() && character != '.').unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let seconds = match unit {
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            "" => return Err("a time needs a unit: ms, s, m or h, as in 10s".to_owned()),
            _ => return Err(format!("`{unit}` is not a unit of time; use ms, s, m or h")),
        };
        let number: f64 = number.parse().map_err(|_| "expected a time, such as 10s or 500ms".to_owned())?;
        let length = Duration::try_from_secs_f64(number * seconds).map_err(|_| "this time is too long".to_owned())?;
        match length.is_zero() {
            true => Err("the limit must be more than nothing".to_owned()),
            false => Ok(TimeLimit { length, text: text.to_owned() }),
        }
    }
}

impl TimeLimit {
    /// How long that is.
    pub fn length(&self) -> Duration {
        self.length
    }
}

/// The limit of this process, if there is one.
#[derive(Clone)]
pub struct Limit(Option<Arc<Watched>>);

struct Watched {
    limit: TimeLimit,
    style: Style,
    /// Asks evaluations to end. On ranks nothing: they would end at different places.
    interrupt: Option<Interrupt>,
    rank: usize,
    /// The number of the time that is watched; none in between.
    current: Mutex<(u64, bool)>,
    changed: Condvar,
    is_over: AtomicBool,
}

impl Limit {
    /// The limit of the options for a process that is so many'th of its job.
    pub fn new(limit: Option<TimeLimit>, style: Style, interrupt: Option<Interrupt>, rank: usize) -> Limit {
        Limit(limit.map(|limit| {
            let (current, changed, is_over) = (Mutex::default(), Condvar::new(), AtomicBool::new(false));
            Arc::new(Watched { limit, style, interrupt, rank, current, changed, is_over })
        }))
    }

    /// Watches the time from a moment on, until the guard goes.
    #[must_use]
    pub fn since(&self, begun: Instant) -> Watching {
        if let Some(watched) = &self.0 {
            watched.begin(begun);
        }
        Watching(self.0.clone())
    }

    /// An error with the reason why it was asked to end.
    #[must_use]
    pub fn explained(&self, error: RuntimeError) -> RuntimeError {
        match (&error.failure, self.over()) {
            (Failure::Interrupted, Some(failure)) => RuntimeError { failure, ..error },
            _ => error,
        }
    }

    /// The end of a command with the reason why it was asked to end.
    #[must_use]
    pub fn concluded(&self, stop: Stop) -> Stop {
        match &self.0 {
            Some(watched) if watched.is_over.load(SeqCst) && stop.is_interruption() => watched.stop(),
            _ => stop,
        }
    }

    /// Whether there is a limit.
    pub fn is_set(&self) -> bool {
        self.0.is_some()
    }

    fn over(&self) -> Option<Failure> {
        self.0.as_ref().filter(|watched| watched.is_over.load(SeqCst)).map(|watched| watched.failure())
    }
}

impl Watched {
    fn current(&self) -> MutexGuard<'_, (u64, bool)> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(self: &Arc<Watched>, begun: Instant) {
        self.is_over.store(false, SeqCst);
        let number = {
            let mut current = self.current();
            *current = (current.0 + 1, true);
            current.0
        };
        // A time that no clock can tell is no limit.
        let Some(end) = begun.checked_add(self.limit.length) else { return };
        let watched = Arc::clone(self);
        std::thread::spawn(move || {
            if watched.lasts_until(number, end) {
                watched.end(number);
            }
        });
    }

    /// Waits for a moment; whether the time with this number is watched still.
    fn lasts_until(&self, number: u64, end: Instant) -> bool {
        let mut current = self.current();
        while *current == (number, true) {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            current = self.changed.wait_timeout(current, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        false
    }

    fn end(&self, number: u64) {
        self.is_over.store(true, SeqCst);
        let is_asked = self.interrupt.as_ref().is_some_and(Interrupt::request);
        end_commands();
        if is_asked && !self.lasts_until(number, Instant::now() + GRACE) {
            return;
        }
        if self.rank > 0 {
            std::thread::sleep(TIME_TO_SPEAK);
        } else {
            crate::progress::erase();
            // Without a standard error there is nobody to tell.
            let _ = writeln!(std::io::stderr(), "{}", self.stop().message());
        }
        std::process::exit(OUT_OF_TIME.into());
    }

    fn failure(&self) -> Failure {
        Failure::OutOfTime { limit: self.limit.text.clone() }
    }

    /// The end of a command of which nobody knows where it was.
    fn stop(&self) -> Stop {
        let failure = self.failure();
        self.style.failed_with(failure.code(), &failure.to_string(), failure.hint()).out_of_time()
    }
}

/// A time that is watched.
pub struct Watching(Option<Arc<Watched>>);

impl Drop for Watching {
    fn drop(&mut self) {
        if let Some(watched) = &self.0 {
            watched.current().1 = false;
            watched.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        let length = |text: &str| text.parse::<TimeLimit>().map(|limit| limit.length);
        assert_eq!(length("10s"), Ok(Duration::from_secs(10)));
        assert_eq!(length("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(length("2m"), Ok(Duration::from_secs(120)));
        assert_eq!(length("1h"), Ok(Duration::from_secs(3600)));
        assert_eq!(length("1.5s"), Ok(Duration::from_millis(1500)));
        for wrong in
            ["", "10", "s", "-1s", "0s", "0ms", "1d", "1e3s", "1 s", "nans", "infs", "1.2.3s", "99999999999999999999h"]
        {
            assert!(length(wrong).is_err(), "{wrong}");
        }
    }
}

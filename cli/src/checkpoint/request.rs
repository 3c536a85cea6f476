//! When a run is to be saved: every so often, and when a signal says so.
//!
//! Signals are noted, and looked at by a thread of their own, which makes the machine pause. A run that has not paused
//! a second after a signal is in the middle of something long, and cut short there.

use nesl_backend::Pause;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How often the thread looks.
const TICK: Duration = Duration::from_millis(10);

/// How long what runs may take to come to its end after a signal.
const PATIENCE: Duration = Duration::from_secs(1);

/// When to try again what was impossible.
const AGAIN: Duration = Duration::from_millis(100);

/// Who wants the run of this process to be saved.
#[derive(Clone)]
pub struct Requests(Arc<Wanted>);

struct Wanted {
    pause: Arc<Pause>,
    /// A signal has come.
    signalled: Arc<AtomicBool>,
    times: Mutex<Times>,
}

#[derive(Default)]
struct Times {
    every: Option<Duration>,
    /// When to save next.
    next: Option<Instant>,
    /// When the signal was seen.
    signal: Option<Instant>,
    /// Nothing is wanted before.
    not_before: Option<Instant>,
    /// Something was cut short.
    is_cut: bool,
    /// It was said that a save is late.
    is_told: bool,
}

impl Requests {
    /// From here on the signals do not end this process. The flag cuts short what takes long.
    pub fn listen(cut: Arc<AtomicBool>) -> Requests {
        let signalled = Arc::<AtomicBool>::default();
        signals::note(&signalled);
        let pause = Arc::new(Pause::new(cut));
        Requests(Arc::new(Wanted { pause, signalled, times: Mutex::default() }))
    }

    /// The run begins, and is to be saved so often.
    pub fn begin(&self, every: Duration) {
        *self.0.lock() = Times { every: Some(every), next: Instant::now().checked_add(every), ..Times::default() };
        let wanted = Arc::clone(&self.0);
        std::thread::spawn(move || {
            loop {
                wanted.look();
                std::thread::sleep(TICK);
            }
        });
    }

    /// Who makes the machine pause.
    pub fn pause(&self) -> Arc<Pause> {
        Arc::clone(&self.0.pause)
    }

    /// Whether a signal has come: the run is to end.
    pub fn is_signalled(&self) -> bool {
        self.0.signalled.load(Relaxed)
    }

    /// Whether something was cut short.
    pub fn is_cut(&self) -> bool {
        self.0.lock().is_cut
    }

    /// The run was saved.
    pub fn saved(&self) {
        let mut times = self.0.lock();
        times.next = times.every.and_then(|every| Instant::now().checked_add(every));
        (times.not_before, times.is_cut, times.is_told) = (None, false, false);
        self.0.rest();
    }

    /// The run cannot be saved just now; whether nobody was told.
    pub fn later(&self) -> bool {
        let mut times = self.0.lock();
        times.not_before = Instant::now().checked_add(AGAIN);
        times.is_cut = false;
        self.0.rest();
        let is_late = times.signal.is_some_and(|signal| signal.elapsed() > PATIENCE);
        is_late && !std::mem::replace(&mut times.is_told, true)
    }
}

impl Wanted {
    fn lock(&self) -> MutexGuard<'_, Times> {
        self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn rest(&self) {
        self.pause.want(false);
        self.pause.cut().store(false, Relaxed);
    }

    fn look(&self) {
        let now = Instant::now();
        let mut times = self.lock();
        if self.signalled.load(Relaxed) && times.signal.is_none() {
            times.signal = Some(now);
        }
        if times.not_before.is_some_and(|time| now < time) {
            return;
        }
        if times.signal.is_some() || times.next.is_some_and(|time| now >= time) {
            self.pause.want(true);
        }
        if times.signal.is_some_and(|signal| now >= signal + PATIENCE) && !times.is_cut {
            times.is_cut = true;
            self.pause.cut().store(true, Relaxed);
        }
    }
}

#[cfg(unix)]
mod signals {
    use signal_hook::consts::{SIGTERM, SIGUSR1};
    use signal_hook::flag::{register, register_conditional_shutdown};
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    /// What a shell says of a process that SIGTERM has ended.
    const TERMINATED: i32 = 128 + SIGTERM;

    pub(super) fn note(signalled: &Arc<AtomicBool>) {
        // The reasons for failure are signals that cannot be caught, which these are not. Who asks twice is not kept
        // waiting.
        let _ = register_conditional_shutdown(SIGTERM, TERMINATED, Arc::clone(signalled));
        for signal in [SIGTERM, SIGUSR1] {
            let _ = register(signal, Arc::clone(signalled));
        }
    }
}

/// Where there are no signals.
#[cfg(not(unix))]
mod signals {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    pub(super) fn note(_: &Arc<AtomicBool>) {}
}

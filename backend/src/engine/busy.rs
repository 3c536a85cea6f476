//! When the helpers of the thread that runs a program were at work: what a trace shows of them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// A while that a helper worked on an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BusyInterval {
    /// The number of the helper, from 0 on.
    pub helper: usize,
    /// When it began.
    pub begin: Instant,
    /// When it ended.
    pub end: Instant,
}

/// The intervals that nobody has taken yet; shared by those who work and who looks.
#[derive(Clone, Debug, Default)]
pub struct BusyIntervals(Arc<Mutex<Vec<BusyInterval>>>);

impl BusyIntervals {
    fn lock(&self) -> MutexGuard<'_, Vec<BusyInterval>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A helper has worked.
    pub fn add(&self, interval: BusyInterval) {
        self.lock().push(interval);
    }

    /// Those since the last time.
    pub fn take(&self) -> Vec<BusyInterval> {
        std::mem::take(&mut *self.lock())
    }
}

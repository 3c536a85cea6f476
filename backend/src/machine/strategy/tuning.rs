//! Numbers that let programs of any size come to all ways of running them, where somebody looks for bugs.

use super::Strategy;
use crate::engine::native::Native;

/// When the machine does what pays only from some size on.
#[derive(Clone, Copy)]
pub(in crate::machine) struct Tuning {
    /// Results of fewer elements are put together as they come.
    pub placed: usize,
    /// How loops go over to native code.
    pub pace: Pace,
}

/// How many turns of a loop native code does at a time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::machine) enum Pace {
    /// As many as pay, once it is known how long they take.
    Measured,
    /// A few, then the lines one, and so on.
    Few,
    /// All.
    All,
}

impl Tuning {
    /// The numbers for these settings.
    pub fn of(native: Native, strategy: Strategy) -> Tuning {
        let (placed, pace) = match (native, strategy) {
            (Native::Check, _) => (0, Pace::All),
            (_, Strategy::Mixed) => (PLACED, Pace::Few),
            _ => (PLACED, Pace::Measured),
        };
        Tuning { placed, pace }
    }
}

/// So many elements are worth room that is made before they are there.
const PLACED: usize = 1 << 16;

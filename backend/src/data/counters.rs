//! What a run did, counted: the numbers behind `--stats` and the cost tests.
//!
//! Counters do not depend on the machine's mood, but for the times, for which rank ran what of instances that were
//! dealt out while they ran, and for how many turns of a loop over short columns native code did. Elements and bytes
//! of columns are counted where their buffers are made and dropped ([`crate::data::buffer`]), per process; the
//! distributed engine adds what it sent.

use serde::{Deserialize, Serialize};

/// Counts of one process (one rank).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Instructions executed.
    pub instructions: u64,
    /// Calls, turns of loops and elements of loops in native code, if they are counted:
    /// [`crate::Machine::count_steps`].
    pub steps: u64,
    /// What processors spent on running programs, in nanoseconds: messages apart.
    pub busy: u64,
    /// What went by in messages while programs ran, in nanoseconds.
    pub waiting: u64,
    /// Elements in all columns that instructions produced on this rank.
    pub elements: u64,
    /// Bytes allocated for columns on this rank.
    pub bytes: u64,
    /// The most elements resident in columns on this rank at any time.
    pub peak_elements: u64,
    /// The most bytes resident in columns on this rank at any time.
    pub peak_bytes: u64,
    /// The most elements of one partitioned column on this rank; of any column in one process.
    pub largest_part: u64,
    /// Point-to-point messages sent, those inside an exchange included, to other ranks.
    pub messages: u64,
    /// Bytes sent to other ranks.
    pub bytes_sent: u64,
    /// Collective operations.
    pub collectives: u64,
}

impl Counters {
    /// All work, however it was done: elements of columns, instructions, and what native code did.
    pub fn work(&self) -> u64 {
        self.elements.saturating_add(self.instructions).saturating_add(self.steps)
    }
}

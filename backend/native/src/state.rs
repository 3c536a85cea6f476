//! What native code and its callers share: one structure for each worker, whose address every native function gets.

use std::mem::offset_of;
use std::sync::atomic::AtomicBool;

/// How native code ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// With its results.
    Done,
    /// Without: something failed, or there was not enough memory or stack. The machine knows what.
    GaveUp,
    /// The interrupt flag was set.
    Interrupted,
}

impl Status {
    /// The status in the word that native code returns.
    ///
    /// # Panics
    /// If there is none.
    pub(crate) fn from_word(word: u64) -> Status {
        match word {
            DONE => Status::Done,
            GAVE_UP => Status::GaveUp,
            INTERRUPTED => Status::Interrupted,
            other => panic!("native code ended with {other}"),
        }
    }
}

pub(crate) const DONE: u64 = 0;
pub(crate) const GAVE_UP: u64 = 1;
pub(crate) const INTERRUPTED: u64 = 2;

/// What native code runs with on one thread.
#[repr(C)]
#[derive(Debug)]
pub struct State<'a> {
    /// Ends the run soon after it is set.
    interrupt: &'a AtomicBool,
    /// The stack pointer stays above this address.
    stack_limit: usize,
}

pub(crate) const INTERRUPT: i32 = offset_of!(State<'_>, interrupt) as i32;
pub(crate) const STACK_LIMIT: i32 = offset_of!(State<'_>, stack_limit) as i32;

/// A flag that nobody sets.
static NEVER: AtomicBool = AtomicBool::new(false);

impl<'a> State<'a> {
    /// A state for the calling thread, of whose stack native code may use so many bytes from here on.
    pub fn new(interrupt: Option<&'a AtomicBool>, stack_bytes: usize) -> State<'a> {
        let here = 0u8;
        let stack_limit = (&raw const here as usize).saturating_sub(stack_bytes);
        State { interrupt: interrupt.unwrap_or(&NEVER), stack_limit }
    }
}

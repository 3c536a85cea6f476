//! What native code and its callers share: one structure for each worker, whose address every native function gets.
//!
//! Columns that native code makes lie one after another in scratch memory. A function that returns leaves its results
//! where it began, and what it had behind them is free again.

use crate::sums::Sums;
use nesl_prim::ScalarOp;
use std::any::Any;
use std::mem::offset_of;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Whether code that is compiled counts its steps.
static COUNTS_STEPS: AtomicBool = AtomicBool::new(false);

/// From now on code that is compiled in this process counts what it does ([`State::steps`]): calls take up to a tenth
/// longer so.
pub fn count_steps() {
    COUNTS_STEPS.store(true, Relaxed);
}

/// Whether code that is compiled now counts its steps.
pub(crate) fn counts_steps() -> bool {
    COUNTS_STEPS.load(Relaxed)
}

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

/// Columns begin at multiples of this.
const ALIGNMENT: usize = 8;

/// Scratch memory is taken into use in steps of this: a huge page.
const STEP: usize = 2 << 20;

/// Memory for the columns of native code: pages are taken when they are first used.
#[derive(Debug)]
pub struct Scratch {
    start: NonNull<u8>,
    bytes: usize,
    /// How many bytes have been used since some were given back.
    touched: usize,
    /// Frees the memory when it is dropped.
    _owner: Box<dyn Any + Send>,
}

// SAFETY: the memory belongs to this value alone.
unsafe impl Send for Scratch {}

impl Scratch {
    /// So many bytes of memory that belong to `owner`.
    ///
    /// # Safety
    /// They can be read and written as long as the owner is there, and nobody else uses them.
    pub unsafe fn new(start: NonNull<u8>, bytes: usize, owner: Box<dyn Any + Send>) -> Scratch {
        Scratch { start, bytes, touched: 0, _owner: owner }
    }

    /// How many bytes there are.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// How many of them have been used since some were given back.
    pub fn touched(&self) -> usize {
        self.touched
    }

    /// Gives what has been used behind so many bytes back to the system, where that takes it.
    pub fn give_back(&mut self, kept: usize) {
        if self.touched > kept && cfg!(target_os = "linux") {
            self.discard(kept);
        }
    }

    #[cfg(target_os = "linux")]
    fn discard(&mut self, kept: usize) {
        // Whole huge pages, so that none is taken apart; they are multiples of the size of any other.
        let start = self.start.as_ptr().addr();
        let first = (start + kept).next_multiple_of(STEP) - start;
        let end = (start + self.touched) / STEP * STEP - start;
        if first < end {
            // SAFETY: whole pages inside of memory that belongs to this value, in which nobody has anything now; they
            // read as zero after this.
            unsafe { libc::madvise(self.start.add(first).as_ptr().cast(), end - first, libc::MADV_DONTNEED) };
            self.touched = kept + STEP;
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn discard(&mut self, _: usize) {}
}

/// What native code runs with on one thread.
#[repr(C)]
#[derive(Debug)]
pub struct State<'a> {
    /// Ends the run soon after it is set.
    interrupt: &'a AtomicBool,
    /// The stack pointer stays above this address.
    stack_limit: usize,
    /// Where free scratch memory begins.
    top: usize,
    /// Where what is in use, or has been, ends: nothing is written behind it before it is moved on.
    end: usize,
    /// Calls, turns of loops and elements of loops so far.
    steps: u64,
    /// Where scratch memory ends.
    limit: usize,
    scratch: Option<&'a mut Scratch>,
    /// The columns that a function may write over that is just being called: where each begins, and its bytes. The
    /// function takes them over, so that they are empty again.
    granted: [[usize; 2]; GRANTED_MOST],
    /// Those of the float sums of one group, which come and go inside it.
    sums: Vec<Box<Sums>>,
}

pub(crate) const INTERRUPT: i32 = offset_of!(State<'_>, interrupt) as i32;
pub(crate) const STACK_LIMIT: i32 = offset_of!(State<'_>, stack_limit) as i32;
pub(crate) const TOP: i32 = offset_of!(State<'_>, top) as i32;
pub(crate) const STEPS: i32 = offset_of!(State<'_>, steps) as i32;
pub(crate) const GRANTED: i32 = offset_of!(State<'_>, granted) as i32;
pub(crate) const END: i32 = offset_of!(State<'_>, end) as i32;

/// How many columns a function can be given to write over.
pub(crate) const GRANTED_MOST: usize = 16;

/// A flag that nobody sets.
static NEVER: AtomicBool = AtomicBool::new(false);

impl<'a> State<'a> {
    /// A state for the calling thread, of whose stack native code may use so many bytes from here on. Without scratch
    /// memory it makes no columns.
    pub fn new(interrupt: Option<&'a AtomicBool>, stack_bytes: usize, scratch: Option<&'a mut Scratch>) -> State<'a> {
        let here = 0u8;
        let stack_limit = (&raw const here as usize).saturating_sub(stack_bytes);
        let (top, bytes) = scratch
            .as_ref()
            .map_or((ALIGNMENT, 0), |scratch| (scratch.start.as_ptr().expose_provenance(), scratch.bytes));
        State {
            interrupt: interrupt.unwrap_or(&NEVER),
            stack_limit,
            top,
            end: top,
            steps: 0,
            limit: top + bytes,
            scratch,
            granted: [[0; 2]; GRANTED_MOST],
            sums: Vec::new(),
        }
    }

    /// What native code has done with this: calls of functions that call others, turns of loops, and elements of loops
    /// over elements; nothing unless it was compiled after [`count_steps`]. It depends on nothing but the program and
    /// its data.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The sums of one of the yields of a group.
    pub(crate) fn sums(&mut self, index: usize) -> &mut Sums {
        while self.sums.len() <= index {
            self.sums.push(Sums::new(ScalarOp::AddFloat, 0));
        }
        &mut self.sums[index]
    }

    /// Room for so many bytes; none if there is too little.
    pub(crate) fn allocate(&mut self, bytes: usize) -> Option<NonNull<u8>> {
        let start = self.top;
        let end = start.checked_add(bytes.checked_next_multiple_of(ALIGNMENT)?)?;
        self.require(end)?;
        self.top = end;
        NonNull::new(std::ptr::with_exposed_provenance_mut(start))
    }

    /// Sees to it that scratch memory is in use up to an address, at least; none if there is not so much.
    pub(crate) fn require(&mut self, end: usize) -> Option<()> {
        (end <= self.end || self.take_into_use(end)).then_some(())
    }

    /// Takes scratch memory into use up to an address, at least; false if there is not so much.
    pub(crate) fn take_into_use(&mut self, end: usize) -> bool {
        if end > self.limit {
            return false;
        }
        // Its beginning is a multiple of a step wherever that matters.
        self.end = end.checked_next_multiple_of(STEP).map_or(self.limit, |end| end.min(self.limit));
        true
    }

    /// Where free scratch memory begins.
    pub(crate) fn top(&self) -> usize {
        self.top
    }

    /// Where what is in use of scratch memory ends.
    pub(crate) fn end(&self) -> usize {
        self.end
    }

    /// Lets free scratch memory begin at an address again, plus what lies there.
    pub(crate) fn release_to(&mut self, address: usize) {
        self.top = address.next_multiple_of(ALIGNMENT).min(self.end);
    }
}

impl Drop for State<'_> {
    fn drop(&mut self) {
        if let Some(scratch) = &mut self.scratch {
            let used = self.end - scratch.start.as_ptr().addr();
            scratch.touched = scratch.touched.max(used);
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Scratch memory of so many bytes.
    pub fn scratch(bytes: usize) -> Scratch {
        let mut memory = vec![0u64; bytes / size_of::<u64>()].into_boxed_slice();
        let (start, bytes) = (NonNull::from(&mut *memory).cast(), size_of_val(&*memory));
        // SAFETY: the memory is zero, and the box has it as long as it is.
        unsafe { Scratch::new(start, bytes, Box::new(memory)) }
    }

    /// Writes over some scratch memory after it has said what the first and the last of its bytes are.
    fn overwrite(scratch: &mut Scratch, bytes: usize) -> [u8; 2] {
        let mut state = State::new(None, 0, Some(scratch));
        let place = state.allocate(bytes).expect("there is room");
        // SAFETY: the room is there, nobody else uses it, and all bytes are initialised.
        let room = unsafe { std::slice::from_raw_parts_mut(place.as_ptr(), bytes) };
        let found = [room[0], room[bytes - 1]];
        room.fill(7);
        found
    }

    #[test]
    fn what_is_given_back_was_used_and_is_zero_again() {
        const SIZE: usize = 9 << 20;
        let mut scratch = scratch(16 << 20);
        assert_eq!((scratch.touched(), overwrite(&mut scratch, SIZE)), (0, [0, 0]));
        let touched = scratch.touched();
        assert!((SIZE..SIZE + STEP).contains(&touched), "{touched} bytes");
        // What is used now is, of what has been used, not the most.
        assert_eq!((overwrite(&mut scratch, 1 << 20), scratch.touched()), ([7, 7], touched));
        scratch.give_back(touched);
        assert_eq!(scratch.touched(), touched);
        scratch.give_back(1 << 20);
        if cfg!(target_os = "linux") {
            assert!(scratch.touched() < SIZE / 2, "{} bytes", scratch.touched());
            assert_eq!(overwrite(&mut scratch, 6 << 20), [7, 0]);
        }
        assert!(State::new(None, 0, Some(&mut scratch)).allocate(17 << 20).is_none());
    }
}

//! Stacks for native code: how much of them a thread has, and may use.

use crate::data::memory::share_of_addresses;

/// Bytes of stack that native code may use, at most. What needs more runs on the machine, whose frames are on the heap.
const STACK: usize = 256 << 20;

/// The least that a call takes of the stack: with this the machine's limit of calls is reached before that of native
/// code is.
const LEAST_FRAME: usize = 16;

/// Bytes of stack that are left to functions in Rust that native code calls.
const STACK_RESERVE: usize = 128 << 10;

/// Bytes of stack of a thread that runs native code, where there are as many.
const WORKER_STACK: usize = STACK + 2 * STACK_RESERVE;

/// One of so many parts of the addresses that the system leaves to this process is for stacks.
const STACK_SHARE: usize = 8;

/// Bytes of this thread's stack that native code may use, where so many calls may be active.
pub(crate) fn stack_bytes(depth: usize) -> usize {
    let left = stacker::remaining_stack().unwrap_or(2 * STACK_RESERVE).saturating_sub(STACK_RESERVE);
    left.min(depth.saturating_mul(LEAST_FRAME)).min(STACK)
}

/// Bytes of stack of each of so many threads that run native code.
pub(crate) fn worker_stack(threads: usize) -> usize {
    share_of_addresses(WORKER_STACK, STACK_SHARE.saturating_mul(threads))
}

/// Runs work where native code has all the stack that it may use, or what there is of it: where the system refuses
/// more, the machine does sooner what would need that.
pub(crate) fn with_stack<T>(work: impl FnOnce() -> T) -> T {
    let left = stacker::remaining_stack().unwrap_or(0);
    if left >= STACK {
        return work();
    }
    let bytes = worker_stack(1);
    // A stack that is refused ends the process; memory that is refused does not.
    let mut trial = Vec::<u8>::new();
    let is_given = std::hint::black_box(&mut trial).try_reserve_exact(bytes).is_ok();
    drop(trial);
    if is_given && left < bytes { stacker::grow(bytes, work) } else { work() }
}

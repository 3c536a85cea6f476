//! Room for recursion over trees that are as deep as programs are: for work that needs more stack than there may be.

use std::io::{Error, ErrorKind};
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, scope};

/// What is left to whatever is called in between.
const RESERVE: usize = 1 << 20;

/// The least that is left for everything else, which is also half as much as a stack takes: one that took the last
/// bytes would end the process at the next allocation.
const SPARE: usize = 128 << 20;

/// Whether the system, which may limit the addresses of a process, would give so many bytes.
fn would_be_given(bytes: usize) -> bool {
    let mut trial = Vec::<u8>::new();
    std::hint::black_box(&mut trial).try_reserve_exact(bytes).is_ok()
}

/// Runs work with so many bytes of stack: right here if there are as many, else on a thread of its own. Whoever does
/// many such works one after another had better do all of them inside one.
///
/// # Errors
/// If the system does not give that much; then the work is given back.
pub fn with_stack<R: Send, W: FnOnce() -> R + Send>(bytes: usize, work: W) -> Result<R, (Error, W)> {
    if stacker::remaining_stack().is_some_and(|left| left >= bytes + RESERVE) {
        return Ok(work());
    }
    if !would_be_given(bytes.saturating_add(SPARE.max(bytes / 2))) {
        return Err((Error::from(ErrorKind::OutOfMemory), work));
    }
    // The thread takes the work out of here, so that it is still there if a thread could not be started.
    let slot = Mutex::new(Some(work));
    let take = || slot.lock().unwrap_or_else(PoisonError::into_inner).take();
    let started = scope(|scope| {
        let thread = Builder::new().name("nesl".to_owned()).stack_size(bytes + 2 * RESERVE);
        let thread = thread.spawn_scoped(scope, || take().map(|work| work()))?;
        Ok(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    match (started, take()) {
        (Ok(Some(result)), _) => Ok(result),
        (Err(error), Some(work)) => Err((error, work)),
        _ => unreachable!("a thread that starts does the work, and nobody else takes it"),
    }
}

/// The same, where a part of that, or the stack there is, will do for all but extreme programs.
pub fn with_stack_if_possible<R: Send>(bytes: usize, work: impl FnOnce() -> R + Send) -> R {
    let outcome = with_stack(bytes, work).or_else(|(_, work)| with_stack(bytes / 8, work));
    outcome.unwrap_or_else(|(_, work)| work())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::current;

    #[test]
    fn work_stays_where_there_is_room_and_goes_elsewhere_where_there_is_none() {
        let here = || current().id();
        let inside = with_stack_if_possible(64 << 20, || {
            (here(), with_stack_if_possible(32 << 20, here), with_stack_if_possible(1 << 30, here))
        });
        assert_ne!(inside.0, here());
        assert_eq!(inside.0, inside.1);
        assert_ne!(inside.0, inside.2);
    }

    #[test]
    fn work_is_given_back_where_there_is_no_stack_for_it() {
        let Err((_, work)) = with_stack(usize::MAX / 4, || 42) else { panic!("there is no such stack") };
        assert_eq!(work(), 42);
        assert_eq!(with_stack_if_possible(usize::MAX / 4, || 42), 42);
    }
}

//! The end of a function: its results move down to where its scratch memory began.

use crate::state::{DONE, State};

/// Moves parts of scratch memory down to `mark`, in the order in which they lie there, and frees what is behind them.
/// `words` are the address of each part, rewritten, and its length in bytes. Parts outside of what was made since `mark` stay.
///
/// # Safety
/// Native code passes its state, a former top of its scratch memory, and `count` parts of memory.
pub(crate) unsafe extern "C" fn give_back(state: *mut State<'_>, mark: usize, words: *mut u64, count: usize) -> u64 {
    // SAFETY: nobody else uses the state or the words while native code waits.
    let (state, words) = unsafe { (&mut *state, std::slice::from_raw_parts_mut(words, 2 * count)) };
    let top = state.top();
    let mut parts: Vec<usize> = (0..count).filter(|part| (mark..top).contains(&(words[2 * part] as usize))).collect();
    parts.sort_unstable_by_key(|part| words[2 * part]);
    // Where free memory begins, and the part that was moved last: others may share its memory.
    let (mut free, mut moved) = (mark, None::<(usize, usize, usize)>);
    for part in parts {
        let (from, bytes) = (words[2 * part] as usize, words[2 * part + 1] as usize);
        if let Some((start, end, to)) = moved
            && from < end
        {
            // It begins inside the part before, and is moved along with it, what lies behind that included.
            let kept = end - from;
            if bytes > kept {
                // SAFETY: both places are in scratch memory; what was behind has not been overwritten, since parts move down.
                unsafe { copy(end, to + (end - start), bytes - kept) };
                free = (to + (from - start) + bytes).next_multiple_of(8);
                moved = Some((start, from + bytes, to));
            }
            words[2 * part] = (to + (from - start)) as u64;
            continue;
        }
        // Part of a column of bytes may begin before the next place for a column: then it stays.
        let to = free.min(from);
        // SAFETY: as above.
        unsafe { copy(from, to, bytes) };
        words[2 * part] = to as u64;
        moved = Some((from, from + bytes, to));
        free = (to + bytes).next_multiple_of(8);
    }
    state.release_to(free);
    DONE
}

/// Moves bytes.
///
/// # Safety
/// Both places are inside scratch memory.
unsafe fn copy(from: usize, to: usize, bytes: usize) {
    if from == to {
        return;
    }
    let (from, to) = (std::ptr::with_exposed_provenance::<u8>(from), std::ptr::with_exposed_provenance_mut::<u8>(to));
    // SAFETY: by the caller.
    unsafe { std::ptr::copy(from, to, bytes) };
}

//! What instances and functions leave behind: parts of columns are put together, or moved to where scratch memory
//! began.
//!
//! ```text
//! join         parts lie one after another ? the first's address : room; for each part { copy behind the last }
//! give_back    for each part above mark, in the order in which they lie:
//!                  begins in the part before ? it has moved along : copy down to free; free = behind it
//!              top = free
//! ```

use crate::state::{DONE, State};

/// So many parts are sorted without memory for them.
const FEW: usize = 16;

/// Puts the parts of a column together, `count` of them by their addresses and numbers of elements, `bytes` all
/// together. Yields its address; 0 where there is no room.
///
/// # Safety
/// Native code passes its state and parts of memory.
pub(crate) unsafe extern "C" fn join(
    state: *mut State<'_>,
    addresses: *const usize,
    lengths: *const usize,
    count: usize,
    size: usize,
    bytes: usize,
) -> usize {
    // SAFETY: nobody else uses the state while native code waits, nor the columns of addresses and lengths.
    let (state, addresses, lengths) = unsafe {
        (&mut *state, std::slice::from_raw_parts(addresses, count), std::slice::from_raw_parts(lengths, count))
    };
    let mut parts = addresses.iter().zip(lengths).filter(|&(_, &length)| length > 0);
    if let Some((&first, &length)) = parts.clone().next() {
        let mut end = first + length * size;
        let follows = |(&address, &length): (&usize, &usize)| {
            let follows = address == end;
            end += length * size;
            follows
        };
        if parts.clone().skip(1).all(follows) {
            return first;
        }
    }
    let Some(room) = state.allocate(bytes) else { return 0 };
    let mut to = room.as_ptr().expose_provenance();
    for (&address, &length) in parts.by_ref() {
        // SAFETY: the room is new and has as many bytes as all parts together.
        unsafe { copy(address, to, length * size) };
        to += length * size;
    }
    room.as_ptr().expose_provenance()
}

/// Copies bytes to where they do not overlap what lies behind them.
///
/// # Safety
/// Native code passes addresses of so many bytes in its scratch memory, the source also elsewhere.
pub(crate) unsafe extern "C" fn copy_down(to: usize, from: usize, bytes: usize) {
    // SAFETY: by the caller.
    unsafe { copy(from, to, bytes) };
}

/// Moves parts of scratch memory down to `mark`, in the order in which they lie there, and frees what is behind them.
/// `words` are the address of each part, rewritten, and its length in bytes. Parts outside of what was made since
/// `mark` stay.
///
/// # Safety
/// Native code passes its state, a former top of its scratch memory, and `count` parts of memory.
pub(crate) unsafe extern "C" fn give_back(state: *mut State<'_>, mark: usize, words: *mut u64, count: usize) -> u64 {
    // SAFETY: nobody else uses the state or the words while native code waits.
    let (state, words) = unsafe { (&mut *state, std::slice::from_raw_parts_mut(words, 2 * count)) };
    let top = state.top();
    let (mut few, mut many) = ([0; FEW], Vec::new());
    let order = if count <= FEW {
        &mut few[..count]
    } else {
        many.resize(count, 0);
        &mut many[..]
    };
    let mut own = 0;
    for part in 0..count {
        if (mark..top).contains(&(words[2 * part] as usize)) {
            order[own] = part;
            own += 1;
        }
    }
    let order = &mut order[..own];
    order.sort_unstable_by_key(|part| words[2 * part]);
    // Where free memory begins, and the part that was moved last: others may share its memory.
    let (mut free, mut moved) = (mark, None::<(usize, usize, usize)>);
    for &mut part in order {
        let (from, bytes) = (words[2 * part] as usize, words[2 * part + 1] as usize);
        if let Some((start, end, to)) = moved
            && from < end
        {
            // It begins inside the part before, and is moved along with it, what lies behind that included.
            let kept = end - from;
            if bytes > kept {
                // SAFETY: both places are in scratch memory; what was behind has not been overwritten, since parts move
                // down.
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
/// Both places are inside scratch memory, or the source is a column of somebody's who keeps it.
pub(super) unsafe fn copy(from: usize, to: usize, bytes: usize) {
    if from == to {
        return;
    }
    let (from, to) = (std::ptr::with_exposed_provenance::<u8>(from), std::ptr::with_exposed_provenance_mut::<u8>(to));
    // SAFETY: by the caller.
    unsafe { std::ptr::copy(from, to, bytes) };
}

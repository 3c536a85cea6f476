//! The slots of a loop in which columns grow ([`crate::body`], `slots`): where what has no place in one goes at the end
//! of a turn.
//!
//! ```text
//! settle   for each part that is the loop's own:
//!              lies in a slot that no other has ? it has that one
//!              else a slot that has more room than it needs is free ? copy the part there
//!              else copy it to a new slot behind all others, twice as large
//!          slot k = the one of part k; top = behind the last slot
//! ```
//!
//! A slot that has become too small is left as it is unless it is the last: those that one column has had are together
//! not twice as large as the one that it has. A quarter more than a column needs is free in a slot that it moves to, so
//! that what is taken off at one end and appended at the other moves once in as many turns as that has elements.
//! Between slots are eight bytes that belong to none, so that an empty column at the end of one is not in the next.

use super::compact_results::copy;
use crate::state::{DONE, GAVE_UP, State};
use smallvec::{SmallVec, smallvec};

/// The beginning and the end of a slot that is not there: no column begins here.
pub(crate) const NONE: usize = usize::MAX;

/// Between slots.
const GAP: usize = 8;

/// So many bytes more a new slot has.
const MORE: usize = 256;

/// One for each slot or part; of a few without memory for them.
type Few<T> = SmallVec<[T; 8]>;

#[derive(Clone, Copy)]
struct Slot {
    start: usize,
    end: usize,
}

impl Slot {
    const NONE: Slot = Slot { start: NONE, end: NONE };

    fn is_there(self) -> bool {
        self.start != NONE
    }

    fn contains(self, part: Part) -> bool {
        self.is_there() && (self.start..=self.end).contains(&part.address) && part.bytes <= self.end - part.address
    }

    /// A new slot for so many bytes behind all others. Those at the end that nobody has give way.
    fn behind(behind: &mut usize, free: &mut [Slot], bytes: usize) -> Option<Slot> {
        while let Some(last) = free.iter_mut().find(|slot| slot.is_there() && slot.end + GAP == *behind) {
            *behind = std::mem::replace(last, Slot::NONE).start;
        }
        let start = *behind;
        let end = start.checked_add(bytes.checked_mul(2)?.checked_add(MORE)?.checked_next_multiple_of(8)?)?;
        *behind = end.checked_add(GAP)?;
        Some(Slot { start, end })
    }
}

#[derive(Clone, Copy)]
struct Part {
    address: usize,
    bytes: usize,
}

impl Part {
    fn of(words: &[usize], index: usize) -> Part {
        Part { address: words[2 * index], bytes: words[2 * index + 1] }
    }
}

/// Ends a turn of a loop whose scratch memory begins at `mark`. `slots` are the beginning and the end of each of
/// `slot_count` slots, and behind them the end of the last; `parts` the address, rewritten, and the bytes of each of
/// `part_count` columns, no more than there are slots. Afterwards each of them that is the loop's own lies in the slot
/// of its number.
///
/// # Safety
/// Native code passes its state, the words of its slots, and columns that are its own or somebody's who keeps them.
pub(crate) unsafe extern "C" fn settle(
    state: *mut State<'_>,
    mark: usize,
    slots: *mut usize,
    slot_count: usize,
    parts: *mut usize,
    part_count: usize,
) -> u64 {
    // SAFETY: nobody else uses the state or the words while native code waits.
    let (state, slots, parts) = unsafe {
        (
            &mut *state,
            std::slice::from_raw_parts_mut(slots, 2 * slot_count + 1),
            std::slice::from_raw_parts_mut(parts, 2 * part_count),
        )
    };
    // SAFETY: by the caller.
    match unsafe { settled(state, mark, slots, parts) } {
        Some(()) => DONE,
        None => GAVE_UP,
    }
}

/// # Safety
/// As for [`settle`].
unsafe fn settled(state: &mut State<'_>, mark: usize, slots: &mut [usize], parts: &mut [usize]) -> Option<()> {
    let count = slots.len() / 2;
    let pairs = slots[..2 * count].chunks(2);
    let mut free: Few<Slot> = pairs.map(|slot| Slot { start: slot[0], end: slot[1] }).collect();
    let mut assigned: Few<Slot> = smallvec![Slot::NONE; count];
    // What is empty may begin at the very end of what is in use.
    let own = mark..=state.end();
    let mut unassigned = Few::<usize>::new();
    for index in 0..parts.len() / 2 {
        let part = Part::of(parts, index);
        if !own.contains(&part.address) {
            continue;
        }
        match free.iter_mut().find(|slot| slot.contains(part)) {
            Some(slot) => assigned[index] = std::mem::replace(slot, Slot::NONE),
            None => unassigned.push(index),
        }
    }
    let mut behind = slots[2 * count];
    let mut new = Few::<usize>::new();
    for &index in &unassigned {
        let part = Part::of(parts, index);
        let fits = |slot: &&mut Slot| slot.is_there() && slot.end - slot.start >= part.bytes + part.bytes / 4;
        match free.iter_mut().filter(fits).min_by_key(|slot| slot.end - slot.start) {
            Some(slot) => {
                assigned[index] = std::mem::replace(slot, Slot::NONE);
                // SAFETY: nobody has the slot, and it is large enough.
                unsafe { copy(part.address, assigned[index].start, part.bytes) };
                parts[2 * index] = assigned[index].start;
            }
            None => {
                assigned[index] = Slot::behind(&mut behind, &mut free, part.bytes)?;
                new.push(index);
            }
        }
    }
    // SAFETY: the parts are native code's, and the new slots behind all others.
    unsafe { move_in(state, behind, parts, (&assigned, &new))? };
    // Slots that nobody has now wait where no part has one.
    let mut free = free.into_iter().filter(|slot| slot.is_there());
    for (index, slot) in assigned.into_iter().enumerate() {
        let slot = if slot.is_there() { slot } else { free.next().unwrap_or(Slot::NONE) };
        slots[2 * index] = slot.start;
        slots[2 * index + 1] = slot.end;
    }
    slots[2 * count] = behind;
    state.release_to(behind);
    Some(())
}

/// Moves parts, by their numbers, to their new slots, which lie where the parts may lie now and end before `behind`.
///
/// # Safety
/// Nothing else is needed of what lies there.
unsafe fn move_in(
    state: &mut State<'_>,
    behind: usize,
    parts: &mut [usize],
    (assigned, new): (&[Slot], &[usize]),
) -> Option<()> {
    let aside = state.top().max(behind);
    let end = new.iter().try_fold(aside, |end, &index| end.checked_add(Part::of(parts, index).bytes))?;
    state.require(end)?;
    if let &[index] = new {
        let part = Part::of(parts, index);
        // SAFETY: the slot is in use, and as large as the part; it may lie over it, but nothing else is needed there.
        unsafe { copy(part.address, assigned[index].start, part.bytes) };
    } else {
        let mut to = aside;
        for &index in new {
            let part = Part::of(parts, index);
            // SAFETY: behind all that is left of the turn, and of the slots.
            unsafe { copy(part.address, to, part.bytes) };
            to += part.bytes;
        }
        let mut from = aside;
        for &index in new {
            let bytes = parts[2 * index + 1];
            // SAFETY: slots do not overlap one another, nor what was put aside.
            unsafe { copy(from, assigned[index].start, bytes) };
            from += bytes;
        }
    }
    for &index in new {
        parts[2 * index] = assigned[index].start;
    }
    Some(())
}

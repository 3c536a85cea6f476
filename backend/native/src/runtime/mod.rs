//! What native code calls for instructions on columns: functions in Rust on slices.
//!
//! An operand or result is one word if it is a scalar, two if it is a column (address, length), three if it is a
//! descriptor (addresses of starts and lengths, number of segments). Native code puts the words of the operands where
//! the results are to be, and passes that address. A function that cannot go on returns none, and the native code that
//! called it gives up.

mod compact_results;
pub mod elements;
pub(crate) mod instances;
mod moving;
mod order;
mod reduce;
mod segment;
pub(crate) mod slots;
pub(crate) mod sums;

use crate::shim::zst_instance;
use crate::state::{DONE, GAVE_UP, State};
pub(crate) use compact_results::{copy_down, give_back, join};
pub(crate) use moving::take;
use nesl_prim::{Direction, Element, ScalarType, meaning};
use nesl_vcode::VectorOp;
use std::mem::MaybeUninit;

/// A function that native code calls. `words` holds the operands and then the results.
pub(crate) type Helper = unsafe extern "C" fn(state: *mut State<'_>, words: *mut u64) -> u64;

/// Where a helper finds its operands and leaves its results.
pub(crate) struct Frame<'s> {
    pub state: &'s mut State<'s>,
    words: *mut u64,
    read: usize,
    written: usize,
}

/// A descriptor.
#[derive(Clone, Copy)]
pub(crate) struct Segments<'s> {
    pub starts: &'s [i64],
    pub lengths: &'s [i64],
}

impl<'s> Segments<'s> {
    /// Where each segment starts and how long it is.
    pub fn iter(self) -> impl ExactSizeIterator<Item = (usize, usize)> + Clone + 's {
        self.starts.iter().zip(self.lengths).map(|(&start, &length)| (start as usize, length as usize))
    }

    /// The elements of all segments; none if no memory has so many.
    pub fn total(self) -> Option<usize> {
        let sum = self.lengths.iter().fold(0, |sum, &length| meaning::add_lengths(sum, length));
        usize::try_from(meaning::check_total(sum).ok()?).ok()
    }
}

impl<'s> Frame<'s> {
    /// The next operand word.
    pub fn word(&mut self) -> u64 {
        // SAFETY: native code has stored as many words as the instruction's operands have.
        let word = unsafe { self.words.add(self.read).read() };
        self.read += 1;
        word
    }

    /// The next operand, a scalar.
    pub fn scalar<T: Element>(&mut self) -> T {
        T::from_word(self.word())
    }

    /// The next operand, a number of elements.
    pub fn size(&mut self) -> usize {
        self.word() as usize
    }

    /// The next operand, a column.
    pub fn column<T: Element>(&mut self) -> &'s [T] {
        let (address, length) = (self.size(), self.size());
        // SAFETY: an operand of this type is a column whose elements stay where they are until the function returns;
        // the verifier has checked the types.
        unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance(address), length) }
    }

    /// The next operand, a descriptor.
    pub fn segments(&mut self) -> Segments<'s> {
        let (starts, lengths, count) = (self.size(), self.size(), self.size());
        // SAFETY: as for columns; both have as many elements as there are segments.
        let column =
            |address| unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance::<i64>(address), count) };
        Segments { starts: column(starts), lengths: column(lengths) }
    }

    /// Room for a column.
    pub fn room<T: Element>(&mut self, length: usize) -> Option<&'s mut [MaybeUninit<T>]> {
        let bytes = length.checked_mul(size_of::<T>())?;
        let start = self.state.allocate(bytes)?;
        // SAFETY: the room is large enough, aligned, and nobody else has it.
        Some(unsafe { std::slice::from_raw_parts_mut(start.cast().as_ptr(), length) })
    }

    /// Makes a column of so many items.
    pub fn collect<T: Element>(&mut self, length: usize, items: impl Iterator<Item = T>) -> Option<&'s [T]> {
        let room = self.room(length)?;
        let mut count = 0;
        room.iter_mut().zip(items).for_each(|(place, item)| {
            place.write(item);
            count += 1;
        });
        assert_eq!(count, length, "a column is filled");
        // SAFETY: all elements have been written.
        Some(unsafe { &*(std::ptr::from_mut(room) as *const [T]) })
    }

    /// The next result word.
    pub fn give_word(&mut self, word: u64) {
        // SAFETY: native code has made room for as many words as the instruction's results have.
        unsafe { self.words.add(self.written).write(word) };
        self.written += 1;
    }

    /// The next result, a column.
    pub fn give<T>(&mut self, column: &[T]) {
        self.give_word(column.as_ptr().expose_provenance() as u64);
        self.give_word(column.len() as u64);
    }

    /// The next result, a new column of so many items.
    pub fn give_items<T: Element>(&mut self, length: usize, items: impl Iterator<Item = T>) -> Option<()> {
        let column = self.collect(length, items)?;
        self.give(column);
        Some(())
    }
}

/// Runs a helper's work on its words. Panics end the process: they would be bugs, and native frames cannot be unwound.
///
/// # Safety
/// Native code passes its state, and the address of the words that the work reads and writes.
pub(crate) unsafe fn work(
    state: *mut State<'_>,
    words: *mut u64,
    work: impl for<'s> FnOnce(&mut Frame<'s>) -> Option<u64>,
) -> u64 {
    // SAFETY: nobody else uses the state while native code waits.
    let mut frame = Frame { state: unsafe { &mut *state.cast() }, words, read: 0, written: 0 };
    work(&mut frame).unwrap_or(GAVE_UP)
}

/// Makes a helper of a function on frames.
pub(crate) fn helper<F: Fn(&mut Frame<'_>) -> Option<()> + Copy>(_: F) -> Helper {
    unsafe extern "C" fn call<F: Fn(&mut Frame<'_>) -> Option<()> + Copy>(
        state: *mut State<'_>,
        words: *mut u64,
    ) -> u64 {
        // SAFETY: only native code calls this, with its state and words.
        unsafe { work(state, words, |frame| zst_instance::<F>()(frame).map(|()| DONE)) }
    }
    call::<F>
}

/// A helper that only moves elements of a type: by their size.
macro_rules! by_size {
    ($scalar:expr, $function:ident) => {
        match $scalar.size() {
            8 => $crate::runtime::helper($function::<i64>),
            _ => $crate::runtime::helper($function::<u8>),
        }
    };
}
use by_size;

/// The helper of a vector instruction in a function that native code supports, which it does not do itself.
///
/// # Panics
/// If there is none.
pub(crate) fn needed_helper(op: VectorOp, ty: ScalarType) -> Helper {
    helper_of(op, ty).unwrap_or_else(|| panic!("{} is not supported on {ty:?}", op.name()))
}

/// The helper of a vector instruction on elements of a type; none for those that native code does itself, or not at
/// all.
pub(crate) fn helper_of(op: VectorOp, ty: ScalarType) -> Option<Helper> {
    use {moving as m, segment as s};
    /// Each of the directions is a function of its own.
    macro_rules! directed {
        ($up:ident, $down:ident, $function:ident) => {
            fn $up<T: Element>(frame: &mut Frame<'_>) -> Option<()> {
                order::$function::<T>(frame, Direction::Up)
            }
            fn $down<T: Element>(frame: &mut Frame<'_>) -> Option<()> {
                order::$function::<T>(frame, Direction::Down)
            }
        };
    }
    directed!(sort_up, sort_down, sort);
    directed!(seg_sort_up, seg_sort_down, seg_sort);
    directed!(rank_up, rank_down, rank);
    directed!(seg_rank_up, seg_rank_down, seg_rank);
    macro_rules! typed {
        ($function:ident) => {
            match ty {
                ScalarType::Int => helper($function::<i64>),
                ScalarType::Float => helper($function::<f64>),
                ScalarType::Bool => helper($function::<bool>),
                ScalarType::Char => helper($function::<u8>),
            }
        };
    }
    Some(match op {
        VectorOp::Permute => m::permute_of(ty),
        VectorOp::Merge => m::merge_of(ty),
        VectorOp::Interleave => m::interleave_of(ty),
        VectorOp::Append => s::append_of(ty),
        VectorOp::SegReduce(op) => reduce::helpers(op).seg_reduce,
        VectorOp::SegReduceIndex(op) => reduce::helpers(op).seg_reduce_index,
        VectorOp::ReduceByIndex(op) => reduce::helpers(op).reduce_by_index,
        VectorOp::SegScan(op) => reduce::helpers(op).seg_scan,
        VectorOp::Sort(Direction::Up) => typed!(sort_up),
        VectorOp::SegSort(Direction::Up) => typed!(seg_sort_up),
        VectorOp::Rank(Direction::Up) => typed!(rank_up),
        VectorOp::Sort(Direction::Down) => typed!(sort_down),
        VectorOp::SegSort(Direction::Down) => typed!(seg_sort_down),
        VectorOp::Rank(Direction::Down) => typed!(rank_down),
        VectorOp::SegRank(Direction::Up) => typed!(seg_rank_up),
        VectorOp::SegRank(Direction::Down) => typed!(seg_rank_down),
        VectorOp::Compact => s::compact_of(ty),
        VectorOp::Total => helper(s::total),
        _ => return None,
    })
}

//! Float sums and products: what loops call where a buffer is full, where segments end, and after the last element.

use crate::state::State;
use crate::sums::{LanesOfSegments, Sums};

/// Begins the sums, or products, of a yield of a group; where they are.
///
/// # Safety
/// Native code passes its state.
pub(crate) unsafe extern "C" fn begin(state: *mut State<'_>, index: usize, is_product: usize) -> *mut Sums {
    // SAFETY: nobody else uses the state while native code waits.
    let sums = unsafe { &mut *state }.sums(index);
    sums.begin(is_product != 0);
    sums
}

/// What a loop calls where the buffer is full.
pub(crate) unsafe extern "C" fn complete(sums: *mut Sums) {
    // SAFETY: a loop passes the address that it was given, and nothing else has it while the loop runs.
    unsafe { &mut *sums }.complete();
}

/// What a loop calls that keeps lanes, where a block ends with so many elements in the buffer.
pub(crate) unsafe extern "C" fn complete_lanes(sums: *mut Sums, filled: usize) {
    // SAFETY: as in [`complete`].
    unsafe { &mut *sums }.complete_lanes(filled);
}

/// What a loop calls after every stretch of indices, with the number of elements in the buffer: combines the segments
/// that end there, and returns how many elements are left.
pub(crate) unsafe extern "C" fn add_up_segments(sums: *mut Sums, filled: usize) -> usize {
    // SAFETY: as in [`complete`]; the loop has said which segments there are, and goes over their elements.
    unsafe { (*sums).add_up_segments(filled) }
}

/// What a loop calls where a sequence ends.
pub(crate) unsafe extern "C" fn finish(sums: *mut Sums, tail: u64) -> f64 {
    // SAFETY: as in [`complete`].
    unsafe { &mut *sums }.finish(tail as usize)
}

/// What a loop over several segments calls where a block of each is complete, which has so many elements.
pub(crate) unsafe extern "C" fn complete_segments<const N: usize>(
    sums: *mut Sums,
    lanes: *const LanesOfSegments<N>,
    count: u64,
) {
    // SAFETY: as in [`complete`]; the lanes are on the loop's stack.
    let (sums, lanes) = unsafe { (&mut *sums, &*lanes) };
    sums.complete_segments(lanes, count as usize);
}

/// What such a loop calls where the segments end: with the lanes of their last blocks, how many
/// elements these have, and where the results go.
pub(crate) unsafe extern "C" fn finish_segments<const N: usize>(
    sums: *mut Sums,
    lanes: *const LanesOfSegments<N>,
    count: u64,
    results: *mut [f64; N],
) {
    // SAFETY: as in [`complete_segments`]; there is room for the results of all segments.
    let (sums, lanes, results) = unsafe { (&mut *sums, &*lanes, &mut *results) };
    *results = sums.finish_segments(lanes, count as usize);
}

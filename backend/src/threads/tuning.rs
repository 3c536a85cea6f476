//! The sizes at which the threads engine changes how it works, each with the measurement behind it.
//!
//! Measured on two cores of an AMD EPYC; none of them changes a result.

/// Elements that are worth a task of their own, for instructions that cost about a nanosecond or less per element.
///
/// Handing work to a sleeping thread and waiting for it costs 5 to 10 µs; a map of 16,384 ints that are in cache takes 4 µs on
/// one thread, and is fetched from memory in 12 µs.
pub const GRAIN: usize = 16 * 1024;

/// The same for instructions that cost ten nanoseconds or more per element: a sine takes 12 ns, a random access to memory
/// 5 to 10 ns.
pub const GRAIN_COSTLY: usize = 2 * 1024;

/// Pieces per thread: enough to even out threads that are slowed down by others, few enough to stay large.
pub const PIECES: usize = 4;

/// What a segment costs besides its elements, in elements: an empty segment takes 1 to 2 ns in every segmented loop.
pub const SEGMENT_WEIGHT: usize = 4;

/// Elements of a segment from which on several threads share it: a reduction of so many takes 16 µs on one thread.
pub const HUGE_SEGMENT: usize = 64 * 1024;

/// Elements that an elementwise loop takes at a time: broadcast scalars, operands that are overwritten and unproved results
/// live in buffers of this size, which stay in the nearest cache (2 KiB each), and entering the loop costs 2% at this size.
pub const BLOCK: usize = 256;

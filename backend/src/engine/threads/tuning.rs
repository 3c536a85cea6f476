//! The sizes at which the threads engine changes how it works, each with the measurement behind it.
//!
//! Measured on two cores of an AMD EPYC, on which other work was running; none of them changes a result.

/// Elements that are worth a task of their own, for instructions that cost about a nanosecond or less per element.
///
/// Handing work to a sleeping thread and waiting for it costs 11 µs (a reduction of 32,768 ints takes 1.3 µs on one
/// thread, and 12.5 µs where it is cut in two). In cache, 65,536 ints take 9 µs to map and 25 µs to scan or to pack.
pub const GRAIN: usize = 64 * 1024;

/// The same for random accesses: 0.4 ns in cache, 10 to 20 ns in memory.
pub const GRAIN_RANDOM: usize = 32 * 1024;

/// The same for the functions of the mathematical library: 10^7 sines take 397 ms.
pub const GRAIN_COSTLY: usize = 2 * 1024;

/// The most of the units above in one piece: half of a million random accesses take 10 ms, two million elements on
/// fresh memory as long. Between pieces threads look whether the user has had enough.
pub const LARGEST_PIECE: usize = 32;

/// The most pieces because of that limit: 2^33 elements of the units above. Only indices that no column holds are many
/// more, and their kernels look at the flag themselves. What a piece of a float sum begins with has 8 KiB.
pub const MOST_PIECES: usize = 1 << 12;

/// Elements that a thread looks at, where it must look at all, before it looks whether the user has had enough: 1 to 10
/// ms.
pub const PATIENCE: usize = 1 << 20;

/// Bytes of a column from which on threads scan it block by block, in turn. In pieces they would read it twice, from
/// memory, whose bandwidth one of them may need most of: 10^8 ints took 52 ms on one thread, and 65 to 90 in two passes
/// on two. On a machine on which they take 155 on one, they take 98 in blocks on two.
pub const SCANNED_IN_TURN: usize = 32 << 20;

/// Pieces per thread: enough to even out threads that are slowed down by others, few enough to stay large.
pub const PIECES: usize = 4;

/// What a segment costs besides its elements, in elements: 2.5 million segments of 4 take 10 ms longer to reduce than
/// 10,000 of 1,000.
pub const SEGMENT_WEIGHT: usize = 4;

/// Elements of a segment from which on several threads share it: what two tasks are worth.
pub const HUGE_SEGMENT: usize = 2 * GRAIN;

/// Elements that an elementwise loop takes at a time: broadcast scalars, operands that are overwritten and unproved
/// results live in buffers of this size, 2 KiB, a few of which fit into the nearest cache together with what the loop
/// reads.
pub const BLOCK: usize = 256;

/// Elements that the instructions of a group go over before it is compiled, all runs together, each counted once for
/// each instruction.
pub const COMPILE: u64 = 512 * 1024;

/// Bytes that a thread writes to a buffer before it copies them: a quarter of a cache of its own, which what it reads
/// passes through, too.
pub const WRITTEN_IN_CACHE: usize = 256 << 10;

/// What running an instruction costs besides its elements, in elements.
pub const OVERHEAD: usize = 256;

/// When threads share the work of a group, and how.
#[derive(Clone, Copy, Debug)]
pub struct GroupTuning {
    /// Elements that are a task; none where that depends on what is done with them.
    pub grain: Option<usize>,
    /// Whether one thread that is alone goes over all indices at once where it could cut them.
    pub is_whole_alone: bool,
    /// Bytes that a thread writes to a buffer before they are put in turn where they belong.
    pub block_bytes: usize,
    /// How many elements are written, at least, for each element of the columns of all threads, where each has one of
    /// its own: putting those together costs less than a quarter of writing to them, then, and takes little room.
    pub writes: usize,
}

impl GroupTuning {
    /// What is fast.
    pub const FAST: GroupTuning =
        GroupTuning { grain: None, is_whole_alone: true, block_bytes: WRITTEN_IN_CACHE, writes: 4 };

    /// For finding bugs: work is shared however little it is, so that there are many seams between the pieces.
    pub const FINEST: GroupTuning = GroupTuning { grain: Some(700), is_whole_alone: false, block_bytes: 1, writes: 0 };
}

//! What the loops of a group run with, and what is there after them: the values that the function around them has.

use cranelift_codegen::ir::Value;

/// An input.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Bound {
    Scalar(Value),
    Column {
        pointer: Value,
        length: Value,
        /// The first element and the stride of a column that the plan knows to be a progression.
        progression: Option<[Value; 2]>,
    },
    Descriptor {
        /// Where the segments of a view start in the data; 0 for a packed descriptor.
        starts: Value,
        /// The lengths of the segments.
        lengths: Value,
        /// The segment of the first index.
        segment: Value,
        /// The index at which it begins, and that at which it ends.
        base: Value,
        stop: Value,
        /// The end of the segments of which these indices are.
        segments: Value,
    },
}

/// Where a yield goes: to a column, or into [`Sums`](crate::Sums).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outlet {
    pub pointer: Value,
    /// What a reduction begins with; where in the buffer of sums a filter's first element goes; the length of the
    /// column that is written to at indices; the [`Sums`](crate::Sums) of segments, whose results go to the column.
    pub start: Value,
}

/// What the loops run with.
#[derive(Clone, Debug)]
pub(crate) struct Environment {
    pub inputs: Vec<Bound>,
    /// For each space, where its first element goes in columns.
    pub positions: Vec<Value>,
    /// For each space of a piece, where the room for its elements ends; not looked at otherwise.
    pub limits: Vec<Value>,
    pub outlets: Vec<Outlet>,
    /// Eight bytes that mean nothing; unless all is computed over all indices, then a word for each scan that is read
    /// with what comes before the first index.
    pub aside: Value,
}

/// What is there after the loops.
#[derive(Debug)]
pub(crate) struct Finished {
    /// For each space that is counted the position after its last element.
    pub positions: Vec<Option<Value>>,
    /// For each yield what a reduction ends with, or how many elements are in the buffer of sums.
    pub values: Vec<Option<Value>>,
}

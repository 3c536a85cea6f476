//! The instructions of the classes that have several, with their operands.
//!
//! Columns and descriptors are lent; only what an engine may overwrite is given away. To add an instruction to a class,
//! add a variant here and its line in [`super::dispatch`], and then its loop to the file of the class in each engine.

use nesl_prim::{ScalarOp, ScalarValue};

/// Elements made of scalars and indices.
#[derive(Clone, Copy, Debug)]
pub enum Fill {
    /// `iota` of a length.
    Iota(usize),
    /// `dist` of a scalar, so many times.
    Dist(ScalarValue, usize),
}

/// Elements moved by indices.
#[derive(Debug)]
pub enum Permute<'a, C> {
    /// `slice` of a column from a start on, so many elements.
    Slice(&'a C, usize, usize),
    /// `gather` of a column at indices.
    Gather(&'a C, &'a C),
    /// `scatter` into a column, at indices, of values.
    Scatter(C, &'a C, &'a C),
    /// `combine_by_index` into a column, at indices, of values.
    Combine(ScalarOp, C, &'a C, &'a C),
    /// `permute` of values to indices.
    Permute(&'a C, &'a C),
}

/// Elements kept, or columns put together.
#[derive(Clone, Copy, Debug)]
pub enum Pack<'a, C> {
    /// `pack` of a column by flags.
    Pack(&'a C, &'a C),
    /// `merge` by flags, of the elements where they are true and of the others.
    Merge(&'a C, &'a C, &'a C),
    /// `concat` of at least one column.
    Concat(&'a [C]),
    /// `interleave` of at least one column.
    Interleave(&'a [C]),
}

/// What is asked of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// `sort_up`, `sort_down` and their segmented forms: the elements in order.
    Sort,
    /// `rank_up`, `rank_down` and their segmented forms: where each is in it.
    Rank,
}

/// Scalars as text, and text as scalars.
#[derive(Clone, Copy, Debug)]
pub enum Text<'a, C, D> {
    /// `text_lengths`.
    Lengths(&'a C),
    /// `text`.
    Text(&'a C),
    /// `parse_float` of chars, by segments.
    ParseFloat(&'a C, &'a D),
}

/// Elements moved by segments.
#[derive(Clone, Copy, Debug)]
pub enum Segment<'a, C, D> {
    /// `seg_iota`.
    Iota(&'a D),
    /// `seg_dist`.
    Dist(&'a C, &'a D),
    /// `compact`.
    Compact(&'a C, &'a D),
    /// `append` of two columns, each with its segments.
    Append((&'a D, &'a C), (&'a D, &'a C)),
}

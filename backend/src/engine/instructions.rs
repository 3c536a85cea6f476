//! The instructions of the classes that have several, with their operands.
//!
//! Columns and descriptors are lent; only what an engine may overwrite is given away. To add an instruction to a class,
//! add a variant here and its line in [`super::dispatch`], and then its loop to the file of the class in each engine.

use crate::data::descriptor::Descriptor;
use crate::data::vector::Vector;
use nesl_prim::{ScalarOp, ScalarValue};

/// Elements made of scalars and indices.
#[derive(Clone, Copy, Debug)]
pub enum Fill {
    /// `iota` of a length.
    Iota(usize),
    /// `dist` of a scalar, so many times.
    Dist(ScalarValue, usize),
}

/// An operand of an elementwise instruction.
#[derive(Clone, Debug)]
pub enum MapOperand<C> {
    /// One element for each index.
    Column(C),
    /// The same for every index.
    Scalar(ScalarValue),
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
#[derive(Debug)]
pub enum Segment<'a, C, D> {
    /// `seg_iota`.
    Iota(&'a D),
    /// `seg_dist`.
    Dist(&'a C, &'a D),
    /// `compact`.
    Compact(&'a C, &'a D),
    /// `append` of two columns, each with its segments.
    Append((&'a D, &'a C), (&'a D, &'a C)),
    /// `seg_scatter` into a column, over its segments, of values.
    Scatter(C, &'a D, &'a C),
}

/// What engines of one process may take for granted of operands: flattening makes instructions so, with checks before
/// them where a program may be wrong.
impl Permute<'_, Vector> {
    /// # Panics
    /// If there is not a value for each index.
    pub(crate) fn check(&self) {
        let (indices, values) = match self {
            Permute::Slice(..) | Permute::Gather(..) => return,
            Permute::Scatter(_, indices, values)
            | Permute::Combine(_, _, indices, values)
            | Permute::Permute(values, indices) => (indices, values),
        };
        assert_eq!(indices.len(), values.len(), "as many indices as values that go there");
    }
}

impl Pack<'_, Vector> {
    /// # Panics
    /// If columns are not as long as their flags or as one another. How many elements a merge takes of each side it
    /// counts itself.
    pub(crate) fn check(&self) {
        match self {
            Pack::Pack(column, flags) => assert_eq!(column.len(), flags.len(), "as many elements to pack as flags"),
            Pack::Interleave(columns) => {
                let is_alike = |column: &Vector| column.len() == columns[0].len();
                assert!(columns.iter().all(is_alike), "interleaved columns of different lengths");
            }
            Pack::Merge(..) | Pack::Concat(_) => {}
        }
    }
}

impl Segment<'_, Vector, Descriptor> {
    /// # Panics
    /// If there are not as many segments as elements to distribute, or as segments to append.
    pub(crate) fn check(&self) {
        let (left, right) = match self {
            Segment::Iota(_) | Segment::Compact(..) | Segment::Scatter(..) => return,
            Segment::Dist(column, descriptor) => (column.len(), descriptor.segments()),
            Segment::Append((first, _), (second, _)) => (first.segments(), second.segments()),
        };
        assert_eq!(left, right, "as many segments as there are elements or segments for them");
    }
}

impl MapOperand<Vector> {
    /// How many indices an elementwise instruction has.
    ///
    /// # Panics
    /// If no operand is a column, or if they are not equally long.
    pub(crate) fn length(op: ScalarOp, operands: &[MapOperand<Vector>]) -> usize {
        let mut lengths = operands.iter().filter_map(|operand| match operand {
            MapOperand::Column(column) => Some(column.len()),
            MapOperand::Scalar(_) => None,
        });
        let length = lengths.next().unwrap_or_else(|| panic!("{op} of no column: unverified program"));
        assert!(lengths.all(|other| other == length), "{op} of columns of different lengths");
        length
    }
}

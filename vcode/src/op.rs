//! The table of vector instructions.
//!
//! One row each: mnemonic, operand and result kinds, what it needs of lengths, and its meaning in a sentence. Printer, parser
//! and verifier are derived from the rows; the reference engine is the executable meaning. Scalar and elementwise
//! instructions are not here: they are the rows of [`nesl_prim::table`], wrapped in `Op::Scalar` and `Op::Map`.
//!
//! A descriptor is *packed* (segments lie one after another and cover the data) or a *view* (starts and lengths into data that
//! other values may share). Segmented instructions read either; *packed order* is the elements of segment 0, then those of
//! segment 1, and so on. Every index operand has been checked by an earlier `check_index`: an instruction that meets one out
//! of range is a bug, except where its row says that it can fail.

use nesl_prim::{Direction, ScalarOp, ScalarType};
use serde::{Deserialize, Serialize};

/// What an operand or a result is. `T` stands for one scalar type throughout a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A scalar of this type.
    Scalar(ScalarType),
    /// A scalar of type T.
    ScalarT,
    /// A column of this type.
    Column(ScalarType),
    /// A column of type T.
    ColumnT,
    /// A segment descriptor.
    Descriptor,
}

/// How many elements a column has that an instruction makes. Operands are named by their positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elements {
    /// Nothing that its operands say, or the result is no column.
    Unknown,
    /// As many as this scalar says.
    Value(usize),
    /// As many as this column has.
    Column(usize),
    /// As many as this column has flags that are true.
    Trues(usize),
    /// As many as this descriptor has segments.
    Segments(usize),
    /// As many as the segments of this descriptor have elements.
    Total(usize),
    /// One for each operand.
    Operands,
}

/// What part an instruction can play in a loop over the indices of a space ([`crate::fusion`]). The operands that are read at
/// the index of the loop are named by their positions; all others are ready before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fusion {
    /// None.
    Alone,
    /// Makes the element at an index from the index and the elements there.
    Element(Vec<usize>),
    /// Keeps the element there, where the flag there is true: the indices with true flags are a space within.
    Filter {
        /// The elements.
        elements: usize,
        /// The flags.
        flags: usize,
    },
    /// Takes the elements there; its result is ready when the loop ends.
    End(Vec<usize>),
}

/// A vector instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum VectorOp {
    /// The column 0, 1, …, n-1.
    Iota,
    /// n copies of a scalar.
    Dist,
    /// A column of the given scalars.
    Build,
    /// The number of elements of a column.
    Length,
    /// One element of a column.
    Extract,
    /// Part of a column.
    Slice,
    /// Elements at indices.
    Gather,
    /// A column with values written at indices; the last of equal indices wins.
    Scatter,
    /// Elements moved to the indices of a permutation.
    Permute,
    /// Elements whose flag is true.
    Pack,
    /// The inverse of packing by a flag and by its negation.
    Merge,
    /// Columns one after another.
    Concat,
    /// Element 0 of each column, element 1 of each, ….
    Interleave,
    /// Segment 0 of the first then of the second, segment 1 of the first then of the second, ….
    Append,
    /// Reduction of a column.
    Reduce(ScalarOp),
    /// Reduction of each segment.
    SegReduce(ScalarOp),
    /// Exclusive scan of a column.
    Scan(ScalarOp),
    /// Exclusive scan of each segment.
    SegScan(ScalarOp),
    /// The elements in order.
    Sort(Direction),
    /// The elements of each segment in order.
    SegSort(Direction),
    /// The position of each element in the order of all.
    Rank(Direction),
    /// The position of each element in the order of its segment.
    SegRank(Direction),
    /// The length of the text of each element.
    TextLengths,
    /// The texts of all elements one after another.
    Text,
    /// The float that each segment denotes.
    ParseFloat,
    /// The position of each element in its segment.
    SegIota,
    /// Element j for each element of segment j.
    SegDist,
    /// The elements of all segments in packed order.
    Compact,
    /// The packed descriptor of lengths.
    Packed,
    /// The view of starts and lengths.
    View,
    /// Where each segment starts.
    Starts,
    /// How long each segment is.
    Lengths,
    /// The number of segments.
    Segments,
    /// The sum of the lengths.
    Total,
}

/// What the table says of one vector instruction.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Its name; for instructions with a scalar operator followed by `.` and the operator's mnemonic.
    pub mnemonic: &'static str,
    /// Its operands.
    pub operands: &'static [Kind],
    /// Whether the last operand kind may repeat (once or more).
    pub variadic: bool,
    /// Its result.
    pub result: Kind,
    /// Whether it can fail for other reasons than lack of memory.
    pub fallible: bool,
    /// The operand that the result may be written over, where that is its last use: a column of the result's type.
    pub in_place: Option<usize>,
    /// Where several of them may be given to an engine at once, since their columns move alike: the operands in which they agree then.
    pub together: Option<&'static [usize]>,
    /// What it requires of lengths, and its meaning.
    pub doc: &'static str,
}

use Kind::{Column, ColumnT, Descriptor, Scalar, ScalarT};
use ScalarType::{Bool, Char, Float, Int};

impl VectorOp {
    /// All instructions; those with an operator once for each operator that has an identity.
    pub fn all() -> Vec<VectorOp> {
        let mut all = vec![
            VectorOp::Iota,
            VectorOp::Dist,
            VectorOp::Build,
            VectorOp::Length,
            VectorOp::Extract,
            VectorOp::Slice,
            VectorOp::Gather,
            VectorOp::Scatter,
            VectorOp::Permute,
            VectorOp::Pack,
            VectorOp::Merge,
            VectorOp::Concat,
            VectorOp::Interleave,
            VectorOp::Append,
        ];
        for &op in ScalarOp::ALL.iter().filter(|op| op.row().identity.is_some()) {
            all.extend([VectorOp::Reduce(op), VectorOp::SegReduce(op), VectorOp::Scan(op), VectorOp::SegScan(op)]);
        }
        for direction in [Direction::Up, Direction::Down] {
            all.extend([
                VectorOp::Sort(direction),
                VectorOp::SegSort(direction),
                VectorOp::Rank(direction),
                VectorOp::SegRank(direction),
            ]);
        }
        all.extend([
            VectorOp::TextLengths,
            VectorOp::Text,
            VectorOp::ParseFloat,
            VectorOp::SegIota,
            VectorOp::SegDist,
            VectorOp::Compact,
            VectorOp::Packed,
            VectorOp::View,
            VectorOp::Starts,
            VectorOp::Lengths,
            VectorOp::Segments,
            VectorOp::Total,
        ]);
        all
    }

    /// The scalar operator of a reduction or scan; its result type is the row's T.
    pub fn operator(self) -> Option<ScalarOp> {
        match self {
            VectorOp::Reduce(op) | VectorOp::SegReduce(op) | VectorOp::Scan(op) | VectorOp::SegScan(op) => Some(op),
            _ => None,
        }
    }

    /// The full name: `gather`, `seg_reduce.add.int`.
    pub fn name(self) -> String {
        match self.operator() {
            Some(op) => format!("{}.{}", self.row().mnemonic, op),
            None => self.row().mnemonic.to_owned(),
        }
    }

    /// The instruction with this full name.
    pub fn by_name(name: &str) -> Option<VectorOp> {
        VectorOp::all().into_iter().find(|op| op.name() == name)
    }

    /// The column of the table that says how many elements the result has.
    pub fn elements(self) -> Elements {
        match self {
            VectorOp::Iota => Elements::Value(0),
            VectorOp::Dist => Elements::Value(1),
            VectorOp::Slice => Elements::Value(2),
            VectorOp::Build => Elements::Operands,
            VectorOp::Gather => Elements::Column(1),
            VectorOp::Scatter
            | VectorOp::Permute
            | VectorOp::Scan(_)
            | VectorOp::Sort(_)
            | VectorOp::Rank(_)
            | VectorOp::Merge
            | VectorOp::TextLengths => Elements::Column(0),
            VectorOp::Pack => Elements::Trues(1),
            VectorOp::SegReduce(_) | VectorOp::ParseFloat => Elements::Segments(1),
            VectorOp::Starts | VectorOp::Lengths => Elements::Segments(0),
            VectorOp::SegScan(_)
            | VectorOp::SegSort(_)
            | VectorOp::SegRank(_)
            | VectorOp::SegDist
            | VectorOp::Compact => Elements::Total(1),
            VectorOp::SegIota => Elements::Total(0),
            VectorOp::Length
            | VectorOp::Extract
            | VectorOp::Concat
            | VectorOp::Interleave
            | VectorOp::Append
            | VectorOp::Reduce(_)
            | VectorOp::Text
            | VectorOp::Packed
            | VectorOp::View
            | VectorOp::Segments
            | VectorOp::Total => Elements::Unknown,
        }
    }

    /// Whether the instruction goes over the elements of columns. Making and taking apart descriptors, lengths, single elements
    /// and slices take constant time, or that of the number of segments.
    pub fn is_pass(self) -> bool {
        !matches!(
            self,
            VectorOp::Build
                | VectorOp::Extract
                | VectorOp::Length
                | VectorOp::Slice
                | VectorOp::Packed
                | VectorOp::View
                | VectorOp::Starts
                | VectorOp::Lengths
                | VectorOp::Segments
                | VectorOp::Total
        )
    }

    /// The column of the table that says what the instruction can be in a loop.
    pub fn fusion(self) -> Fusion {
        match self {
            VectorOp::Iota | VectorOp::Dist | VectorOp::SegIota | VectorOp::SegDist | VectorOp::Compact => {
                Fusion::Element(Vec::new())
            }
            VectorOp::Gather => Fusion::Element(vec![1]),
            VectorOp::Pack => Fusion::Filter { elements: 0, flags: 1 },
            VectorOp::Scatter => Fusion::End(vec![1, 2]),
            // What comes before an index is known there, whoever goes over the indices before: for segments that are not cut, and
            // where parts can be combined in any order.
            VectorOp::SegScan(_) => Fusion::Element(vec![0]),
            VectorOp::Scan(op) if op.row().associative => Fusion::Element(vec![0]),
            VectorOp::Reduce(_) | VectorOp::Scan(_) | VectorOp::SegReduce(_) => Fusion::End(vec![0]),
            VectorOp::Build
            | VectorOp::Length
            | VectorOp::Extract
            | VectorOp::Slice
            | VectorOp::Permute
            | VectorOp::Merge
            | VectorOp::Concat
            | VectorOp::Interleave
            | VectorOp::Append
            | VectorOp::Sort(_)
            | VectorOp::SegSort(_)
            | VectorOp::Rank(_)
            | VectorOp::SegRank(_)
            | VectorOp::TextLengths
            | VectorOp::Text
            | VectorOp::ParseFloat
            | VectorOp::Packed
            | VectorOp::View
            | VectorOp::Starts
            | VectorOp::Lengths
            | VectorOp::Segments
            | VectorOp::Total => Fusion::Alone,
        }
    }

    /// The instruction's row.
    pub fn row(self) -> Row {
        let row = |mnemonic, operands, result, doc| {
            let (variadic, fallible, in_place, together) = (false, false, None, None);
            Row { mnemonic, operands, variadic, result, fallible, in_place, together, doc }
        };
        let moving = |together, row| Row { together: Some(together), ..row };
        match self {
            VectorOp::Iota => row("iota", &[Scalar(Int)], Column(Int), "iota n: the column 0, 1, …, n-1. n >= 0."),
            VectorOp::Dist => row("dist", &[ScalarT, Scalar(Int)], ColumnT, "dist x n: n copies of x. n >= 0."),
            VectorOp::Build => Row {
                variadic: true,
                ..row("build", &[ScalarT], ColumnT, "build x…: the column of the given scalars.")
            },
            VectorOp::Length => row("length", &[ColumnT], Scalar(Int), "length c: the number of elements."),
            VectorOp::Extract => {
                moving(&[1], row("extract", &[ColumnT, Scalar(Int)], ScalarT, "extract c i: element i."))
            }
            VectorOp::Slice => row(
                "slice",
                &[ColumnT, Scalar(Int), Scalar(Int)],
                ColumnT,
                "slice c start length: that many elements from start on; shares the data of c where the engine can.",
            ),
            VectorOp::Gather => moving(
                &[1],
                row(
                    "gather",
                    &[ColumnT, Column(Int)],
                    ColumnT,
                    "gather c i: element k of the result is element i[k] of c.",
                ),
            ),
            VectorOp::Scatter => Row {
                together: Some(&[1]),
                in_place: Some(0),
                ..row(
                    "scatter",
                    &[ColumnT, Column(Int), ColumnT],
                    ColumnT,
                    "scatter c i v: c with v[k] written at i[k] in the order of k. #i = #v.",
                )
            },
            VectorOp::Permute => Row {
                together: Some(&[1]),
                fallible: true,
                ..row(
                    "permute",
                    &[ColumnT, Column(Int)],
                    ColumnT,
                    "permute v i: element k of v at position i[k]. #v = #i. Fails where two indices are equal.",
                )
            },
            VectorOp::Pack => row(
                "pack",
                &[ColumnT, Column(Bool)],
                ColumnT,
                "pack c f: the elements of c whose flag is true, in order. #c = #f.",
            ),
            VectorOp::Merge => moving(
                &[0],
                row(
                    "merge",
                    &[Column(Bool), ColumnT, ColumnT],
                    ColumnT,
                    "merge f a b: where f is true the next element of a, else the next of b. #a = trues of f, #b = falses of f.",
                ),
            ),
            VectorOp::Concat => Row {
                together: Some(&[]),
                variadic: true,
                ..row("concat", &[ColumnT], ColumnT, "concat c…: the columns one after another.")
            },
            VectorOp::Interleave => Row {
                variadic: true,
                ..row(
                    "interleave",
                    &[ColumnT],
                    ColumnT,
                    "interleave c…: element 0 of each column in order, then element 1 of each, …. Equal lengths.",
                )
            },
            VectorOp::Append => row(
                "append",
                &[Descriptor, ColumnT, Descriptor, ColumnT],
                ColumnT,
                "append d c e b: segment 0 of c then segment 0 of b, segment 1 of c then segment 1 of b, …. As many segments in \
                 d as in e.",
            ),
            VectorOp::Reduce(_) => row(
                "reduce",
                &[ColumnT],
                ScalarT,
                "reduce.op c: all elements combined; the identity if there are none. Float addition and multiplication are \
                 combined as nesl_prim::sum defines.",
            ),
            VectorOp::SegReduce(_) => row(
                "seg_reduce",
                &[ColumnT, Descriptor],
                ColumnT,
                "seg_reduce.op c d: one element for each segment, as reduce would give it.",
            ),
            VectorOp::Scan(_) => row(
                "scan",
                &[ColumnT],
                ColumnT,
                "scan.op c: element k combines the elements before k; element 0 is the identity. Float addition and \
                 multiplication as nesl_prim::sum defines.",
            ),
            VectorOp::SegScan(_) => row(
                "seg_scan",
                &[ColumnT, Descriptor],
                ColumnT,
                "seg_scan.op c d: the scan of each segment, in packed order.",
            ),
            VectorOp::Sort(direction) => row(
                match direction {
                    Direction::Up => "sort_up",
                    Direction::Down => "sort_down",
                },
                &[ColumnT],
                ColumnT,
                "sort_up c: the elements in ascending order, as nesl_prim::order defines it; sort_down: in the descending one. \
                 Equal elements are in the order of c.",
            ),
            VectorOp::SegSort(direction) => row(
                match direction {
                    Direction::Up => "seg_sort_up",
                    Direction::Down => "seg_sort_down",
                },
                &[ColumnT, Descriptor],
                ColumnT,
                "seg_sort_up c d: the elements of each segment in order, in packed order; seg_sort_down likewise.",
            ),
            VectorOp::Rank(direction) => row(
                match direction {
                    Direction::Up => "rank_up",
                    Direction::Down => "rank_down",
                },
                &[ColumnT],
                Column(Int),
                "rank_up c: where each element is in the ascending order of all, as nesl_prim::order defines it; rank_down: in \
                 the descending one. Equal elements are in the order of c.",
            ),
            VectorOp::SegRank(direction) => row(
                match direction {
                    Direction::Up => "seg_rank_up",
                    Direction::Down => "seg_rank_down",
                },
                &[ColumnT, Descriptor],
                Column(Int),
                "seg_rank_up c d: where each element is in the order of its segment, in packed order; seg_rank_down likewise.",
            ),
            VectorOp::TextLengths => row(
                "text_lengths",
                &[ColumnT],
                Column(Int),
                "text_lengths c: how many chars the text of each element has.",
            ),
            VectorOp::Text => row(
                "text",
                &[ColumnT],
                Column(Char),
                "text c: the texts of the elements one after another, each as nesl_prim::text writes a scalar.",
            ),
            VectorOp::ParseFloat => row(
                "parse_float",
                &[Column(Char), Descriptor],
                Column(Float),
                "parse_float c d: the float that each segment denotes, as nesl_prim::text reads it; NaN where it denotes none.",
            ),
            VectorOp::SegIota => row(
                "seg_iota",
                &[Descriptor],
                Column(Int),
                "seg_iota d: 0, 1, …, length-1 for each segment, in packed order.",
            ),
            VectorOp::SegDist => moving(
                &[1],
                row(
                    "seg_dist",
                    &[ColumnT, Descriptor],
                    ColumnT,
                    "seg_dist c d: element j of c once for each element of segment j, in packed order. #c = segments of d.",
                ),
            ),
            VectorOp::Compact => moving(
                &[1],
                row(
                    "compact",
                    &[ColumnT, Descriptor],
                    ColumnT,
                    "compact c d: the elements of all segments in packed order; c itself where d is packed.",
                ),
            ),
            VectorOp::Packed => row(
                "packed",
                &[Column(Int)],
                Descriptor,
                "packed l: the packed descriptor of segments with these lengths, none negative.",
            ),
            VectorOp::View => row(
                "view",
                &[Column(Int), Column(Int)],
                Descriptor,
                "view s l: segment j is the l[j] elements from s[j] on. #s = #l.",
            ),
            VectorOp::Starts => {
                row("starts", &[Descriptor], Column(Int), "starts d: where each segment starts in the data.")
            }
            VectorOp::Lengths => row("lengths", &[Descriptor], Column(Int), "lengths d: the length of each segment."),
            VectorOp::Segments => row("segments", &[Descriptor], Scalar(Int), "segments d: the number of segments."),
            VectorOp::Total => row("total", &[Descriptor], Scalar(Int), "total d: the sum of the lengths."),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_unique_and_found_again() {
        let all = VectorOp::all();
        let names: HashSet<String> = all.iter().map(|op| op.name()).collect();
        assert_eq!(names.len(), all.len());
        for op in all {
            assert_eq!(VectorOp::by_name(&op.name()), Some(op));
        }
    }
}

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
            all.extend([VectorOp::Rank(direction), VectorOp::SegRank(direction)]);
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

    /// The instruction's row.
    pub fn row(self) -> Row {
        let row =
            |mnemonic, operands, result, doc| Row { mnemonic, operands, variadic: false, result, fallible: false, doc };
        match self {
            VectorOp::Iota => row("iota", &[Scalar(Int)], Column(Int), "iota n: the column 0, 1, …, n-1. n >= 0."),
            VectorOp::Dist => row("dist", &[ScalarT, Scalar(Int)], ColumnT, "dist x n: n copies of x. n >= 0."),
            VectorOp::Build => Row {
                variadic: true,
                ..row("build", &[ScalarT], ColumnT, "build x…: the column of the given scalars.")
            },
            VectorOp::Length => row("length", &[ColumnT], Scalar(Int), "length c: the number of elements."),
            VectorOp::Extract => row("extract", &[ColumnT, Scalar(Int)], ScalarT, "extract c i: element i."),
            VectorOp::Slice => row(
                "slice",
                &[ColumnT, Scalar(Int), Scalar(Int)],
                ColumnT,
                "slice c start length: that many elements from start on; shares the data of c where the engine can.",
            ),
            VectorOp::Gather => row(
                "gather",
                &[ColumnT, Column(Int)],
                ColumnT,
                "gather c i: element k of the result is element i[k] of c.",
            ),
            VectorOp::Scatter => row(
                "scatter",
                &[ColumnT, Column(Int), ColumnT],
                ColumnT,
                "scatter c i v: c with v[k] written at i[k] in the order of k. #i = #v. Overwrites c where this is its last use.",
            ),
            VectorOp::Permute => Row {
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
            VectorOp::Merge => row(
                "merge",
                &[Column(Bool), ColumnT, ColumnT],
                ColumnT,
                "merge f a b: where f is true the next element of a, else the next of b. #a = trues of f, #b = falses of f.",
            ),
            VectorOp::Concat => Row {
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
            VectorOp::SegDist => row(
                "seg_dist",
                &[ColumnT, Descriptor],
                ColumnT,
                "seg_dist c d: element j of c once for each element of segment j, in packed order. #c = segments of d.",
            ),
            VectorOp::Compact => row(
                "compact",
                &[ColumnT, Descriptor],
                ColumnT,
                "compact c d: the elements of all segments in packed order; c itself where d is packed.",
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

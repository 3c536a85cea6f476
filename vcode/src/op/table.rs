//! The table of vector instructions: one row each.
//!
//! To add an instruction, add a row here and its loop to the file of its class in each engine; what a row can say is in
//! [`super::Row`]. The names of operands in a doc are those in which the manual gives lengths and costs.

use super::Class::{Elementwise, Order, Pack, Permute, Reduce, Scan, Segment, Shape, Text};
use super::Elements::{All, Each, Operands, Sum, Texts, Total, Trues, Unknown, Value};
use super::Elements::{Column as As, Segments as AsSegments};
use super::Fusion::{Alone, Element, End, Filter, Join, Running};
use super::Kind::{Column, ColumnT, Descriptor, Scalar, ScalarT};
use super::Segments::{Any, Data, Lengths};
use super::{Class, Cost, Depth, Elements, Row, Work};
use ScalarType::{Bool, Char, Float, Int};
use nesl_prim::{Direction, ScalarOp, ScalarType};
use serde::{Deserialize, Serialize};

/// Known with the operand.
const KNOWN: Cost = Cost { work: Work::Known, depth: Depth::Constant };
/// The same whatever the lengths.
const CONSTANT: Cost = Cost { work: Work::Constant, depth: Depth::Constant };

/// Each element by itself.
const fn at_once(elements: &'static [Elements]) -> Cost {
    Cost { work: Work::Linear(elements), depth: Depth::Constant }
}

/// All elements, in the way of a tree.
const fn as_tree(elements: &'static [Elements]) -> Cost {
    Cost { work: Work::Linear(elements), depth: Depth::Logarithmic }
}

/// So many elements in order.
const fn sorting(elements: Elements) -> Cost {
    Cost { work: Work::Sorting(elements), depth: Depth::Logarithmic }
}

/// What holds of a row where it does not say otherwise.
const fn row(mnemonic: &'static str, class: Class, elements: Elements, cost: Cost) -> Row {
    Row {
        mnemonic,
        operands: &[],
        variadic: false,
        result: ColumnT,
        class,
        elements,
        sum: None,
        equal: &[],
        segments: Any,
        regular: None,
        chooses: false,
        natural: false,
        fusion: Alone,
        fallible: false,
        in_place: None,
        extends: false,
        fresh: false,
        together: None,
        cost,
        doc: "",
    }
}

/// The instructions of a row: with a parameter, one for each value of it.
macro_rules! instances {
    ($name:ident) => {
        vec![VectorOp::$name]
    };
    ($name:ident ScalarOp) => {
        ScalarOp::ALL.iter().map(|&op| VectorOp::$name(op)).filter(|op| op.has_fitting_operator()).collect()
    };
    ($name:ident Direction) => {
        [Direction::Up, Direction::Down].map(VectorOp::$name).to_vec()
    };
}

/// The parameter of an instruction, if it is of a type.
macro_rules! parameter {
    (ScalarOp $op:ident $name:ident ScalarOp) => {
        if let VectorOp::$name(parameter) = $op {
            return Some(parameter);
        }
    };
    (Direction $op:ident $name:ident Direction) => {
        if let VectorOp::$name(parameter) = $op {
            return Some(parameter);
        }
    };
    ($($other:tt)*) => {};
}

macro_rules! instructions {
    ($( #[doc = $doc:literal] $name:ident $(($parameter:ident))? = $row:expr; )+) => {
        /// A vector instruction. Its row is [`VectorOp::row`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum VectorOp {
            $( #[doc = $doc] $name $(($parameter))?, )+
        }

        impl VectorOp {
            /// All instructions, in the order of the table; those with an operator once for each that fits
            /// them.
            pub fn all() -> Vec<VectorOp> {
                let parts: &[fn() -> Vec<VectorOp>] = &[ $( || instances!($name $($parameter)?) ),+ ];
                parts.iter().flat_map(|part| part()).collect()
            }

            /// The instruction's row.
            pub fn row(self) -> &'static Row {
                match self {
                    $( VectorOp::$name { .. } => {
                        static ROW: Row = $row;
                        &ROW
                    } )+
                }
            }

            /// The scalar operator of an instruction that combines; its result type is the row's T.
            pub fn operator(self) -> Option<ScalarOp> {
                $( parameter!(ScalarOp self $name $($parameter)?); )+
                None
            }

            /// The direction of an instruction that orders.
            pub fn direction(self) -> Option<Direction> {
                $( parameter!(Direction self $name $($parameter)?); )+
                None
            }
        }
    };
}

instructions! {
    /// The column 0, 1, …, n-1.
    Iota = Row {
        operands: &[Scalar(Int)], result: Column(Int), natural: true, fusion: Element(&[]), fresh: true,
        doc: "iota n: the column 0, 1, …, n-1. n >= 0.",
        ..row("iota", Elementwise, Value(0), at_once(&[Value(0)]))
    };
    /// n copies of a scalar.
    Dist = Row {
        operands: &[ScalarT, Scalar(Int)], fusion: Element(&[]), fresh: true,
        doc: "dist x n: n copies of x. n >= 0.",
        ..row("dist", Elementwise, Value(1), at_once(&[Value(1)]))
    };
    /// A column of the given scalars.
    Build = Row {
        operands: &[ScalarT], variadic: true, fresh: true,
        doc: "build x…: the column of the given scalars.",
        ..row("build", Elementwise, Operands, CONSTANT)
    };
    /// The number of elements of a column.
    Length = Row {
        operands: &[ColumnT], result: Scalar(Int), natural: true,
        doc: "length c: the number of elements.",
        ..row("length", Shape, As(0), KNOWN)
    };
    /// One element of a column.
    Extract = Row {
        operands: &[ColumnT, Scalar(Int)], result: ScalarT, together: Some(&[1]),
        doc: "extract c i: element i.",
        ..row("extract", Permute, Unknown, CONSTANT)
    };
    /// Part of a column.
    Slice = Row {
        operands: &[ColumnT, Scalar(Int), Scalar(Int)],
        doc: "slice c start length: that many elements from start on; shares the data of c where the engine can.",
        ..row("slice", Permute, Value(2), CONSTANT)
    };
    /// Elements at indices.
    Gather = Row {
        operands: &[ColumnT, Column(Int)], fusion: Element(&[1]), together: Some(&[1]), fresh: true,
        doc: "gather c i: element k of the result is element i[k] of c.",
        ..row("gather", Permute, As(1), at_once(&[As(1)]))
    };
    /// A column with values written at indices; the last of equal indices wins.
    Scatter = Row {
        operands: &[ColumnT, Column(Int), ColumnT], equal: &[(As(1), As(2))], fusion: End(&[1, 2]), in_place: Some(0),
        together: Some(&[1]),
        doc: "scatter c i v: c with v[k] written at i[k] in the order of k. #i = #v.",
        ..row("scatter", Permute, As(0), at_once(&[As(0), As(1)]))
    };
    /// A column with the elements of segments overwritten.
    SegScatter = Row {
        operands: &[ColumnT, Descriptor, ColumnT], equal: &[(As(2), Total(1))], fusion: End(&[2]), in_place: Some(0),
        doc: "seg_scatter c d v: c with v, in packed order, written over the segments of d, of which no two overlap. #v = the \
              total of d.",
        ..row("seg_scatter", Segment, As(0), at_once(&[As(0), AsSegments(1), Total(1)]))
    };
    /// A column with values combined into its elements at indices.
    CombineByIndex(ScalarOp) = Row {
        operands: &[ColumnT, Column(Int), ColumnT], equal: &[(As(1), As(2))], fusion: End(&[1, 2]), in_place: Some(0),
        doc: "combine_by_index.op c i v: c with v[k] combined into the element at i[k], c's on the left, one after another in the \
              order of k: floats, too, are added in that order, whatever does it. #i = #v.",
        ..row("combine_by_index", Permute, As(0), as_tree(&[As(0), As(1)]))
    };
    /// Elements moved to the indices of a permutation.
    Permute = Row {
        operands: &[ColumnT, Column(Int)], equal: &[(As(0), As(1))], fallible: true, together: Some(&[1]),
        doc: "permute v i: element k of v at position i[k]. #v = #i. Fails where two indices are equal.",
        ..row("permute", Permute, As(0), at_once(&[As(0)]))
    };
    /// Elements whose flag is true.
    Pack = Row {
        operands: &[ColumnT, Column(Bool)], equal: &[(As(0), As(1))], fusion: Filter(&[0, 1]), fresh: true,
        doc: "pack c f: the elements of c whose flag is true, in order. #c = #f.",
        ..row("pack", Pack, Trues(1), as_tree(&[As(0)]))
    };
    /// The inverse of packing by a flag and by its negation.
    Merge = Row {
        operands: &[Column(Bool), ColumnT, ColumnT], equal: &[(As(0), Sum(&[As(1), As(2)])), (Trues(0), As(1))],
        fusion: Join(&[0, 1, 2]), together: Some(&[0]),
        doc: "merge f a b: where f is true the next element of a, else the next of b. #a = trues of f, #b = falses of f.",
        ..row("merge", Pack, As(0), as_tree(&[As(0)]))
    };
    /// Columns one after another.
    Concat = Row {
        operands: &[ColumnT], variadic: true, together: Some(&[]), extends: true, fresh: true,
        doc: "concat c…: the columns one after another.",
        ..row("concat", Pack, All, at_once(&[All]))
    };
    /// Element 0 of each column, element 1 of each, ….
    Interleave = Row {
        operands: &[ColumnT], variadic: true, equal: &[(As(0), Each)],
        doc: "interleave c…: element 0 of each column in order, then element 1 of each, …. Equal lengths.",
        ..row("interleave", Pack, All, at_once(&[All]))
    };
    /// Segment 0 of the first then of the second, segment 1 of the first then of the second, ….
    Append = Row {
        operands: &[Descriptor, ColumnT, Descriptor, ColumnT], equal: &[(AsSegments(0), AsSegments(2))],
        segments: Data(&[(1, 0), (3, 2)]),
        doc: "append d c e b: segment 0 of c then segment 0 of b, segment 1 of c then segment 1 of b, …. As many segments in d \
              as in e.",
        ..row("append", Segment, Sum(&[Total(0), Total(2)]), as_tree(&[AsSegments(0), Total(0), Total(2)]))
    };
    /// Reduction of a column.
    Reduce(ScalarOp) = Row {
        operands: &[ColumnT], result: ScalarT, fusion: End(&[0]),
        doc: "reduce.op c: all elements combined; the identity if there are none. Float addition and multiplication are combined \
              as nesl_prim::sum defines.",
        ..row("reduce", Reduce, Unknown, as_tree(&[As(0)]))
    };
    /// Reduction of each segment.
    SegReduce(ScalarOp) = Row {
        operands: &[ColumnT, Descriptor], segments: Data(&[(0, 1)]), fusion: End(&[0]),
        doc: "seg_reduce.op c d: one element for each segment, as reduce would give it.",
        ..row("seg_reduce", Reduce, AsSegments(1), as_tree(&[AsSegments(1), Total(1)]))
    };
    /// The index of the extreme element of a column.
    ReduceIndex(ScalarOp) = Row {
        operands: &[ColumnT], result: Scalar(Int), chooses: true, fusion: End(&[0]),
        doc: "reduce_index.op c: the index of the first least element (minimum) or greatest one (maximum), or of the first \
              NaN if there is one; the largest int if there are no elements. 0.0 and -0.0 are equal.",
        ..row("reduce_index", Reduce, Unknown, as_tree(&[As(0)]))
    };
    /// The index of the extreme element of each segment.
    SegReduceIndex(ScalarOp) = Row {
        operands: &[ColumnT, Descriptor], result: Column(Int), chooses: true, segments: Data(&[(0, 1)]),
        fusion: End(&[0]),
        doc: "seg_reduce_index.op c d: for each segment the index in it that reduce_index would give.",
        ..row("seg_reduce_index", Reduce, AsSegments(1), as_tree(&[AsSegments(1), Total(1)]))
    };
    /// Reduction of the elements of each index.
    ReduceByIndex(ScalarOp) = Row {
        operands: &[ColumnT, Column(Int), Scalar(Int)], equal: &[(As(0), As(1))],
        doc: "reduce_by_index.op c i n: element j is what reduce would give of the elements c[k] with i[k] = j, in the order of k. \
              #c = #i, n >= 0.",
        ..row("reduce_by_index", Permute, Value(2), as_tree(&[As(0), Value(2)]))
    };
    /// Exclusive scan of a column.
    Scan(ScalarOp) = Row {
        operands: &[ColumnT], fusion: Running(&[0]), fresh: true,
        doc: "scan.op c: element k combines the elements before k; element 0 is the identity. Float addition and multiplication \
              as nesl_prim::sum defines.",
        ..row("scan", Scan, As(0), as_tree(&[As(0)]))
    };
    /// Exclusive scan of each segment.
    SegScan(ScalarOp) = Row {
        // What comes before an index is known there: segments are not cut.
        operands: &[ColumnT, Descriptor], segments: Data(&[(0, 1)]), fusion: Element(&[0]),
        doc: "seg_scan.op c d: the scan of each segment, in packed order.",
        ..row("seg_scan", Scan, Total(1), as_tree(&[AsSegments(1), Total(1)]))
    };
    /// The elements in order.
    Sort(Direction) = Row {
        operands: &[ColumnT],
        doc: "sort_up c: the elements in ascending order, as nesl_prim::order defines it; sort_down: in the descending one. Equal \
              elements are in the order of c.",
        ..row("sort", Order, As(0), sorting(As(0)))
    };
    /// The elements of each segment in order.
    SegSort(Direction) = Row {
        operands: &[ColumnT, Descriptor], segments: Data(&[(0, 1)]),
        doc: "seg_sort_up c d: the elements of each segment in order, in packed order; seg_sort_down likewise.",
        ..row("seg_sort", Order, Total(1), sorting(Total(1)))
    };
    /// The position of each element in the order of all.
    Rank(Direction) = Row {
        operands: &[ColumnT], result: Column(Int), natural: true,
        doc: "rank_up c: where each element is in the ascending order of all, as nesl_prim::order defines it; rank_down: in the \
              descending one. Equal elements are in the order of c.",
        ..row("rank", Order, As(0), sorting(As(0)))
    };
    /// The position of each element in the order of its segment.
    SegRank(Direction) = Row {
        operands: &[ColumnT, Descriptor], result: Column(Int), segments: Data(&[(0, 1)]), natural: true,
        doc: "seg_rank_up c d: where each element is in the order of its segment, in packed order; seg_rank_down likewise.",
        ..row("seg_rank", Order, Total(1), sorting(Total(1)))
    };
    /// The length of the text of each element.
    TextLengths = Row {
        operands: &[ColumnT], result: Column(Int), natural: true,
        doc: "text_lengths c: how many chars the text of each element has.",
        ..row("text_lengths", Text, As(0), at_once(&[As(0)]))
    };
    /// The texts of all elements one after another.
    Text = Row {
        operands: &[ColumnT], result: Column(Char),
        doc: "text c: the texts of the elements one after another, each as nesl_prim::text writes a scalar.",
        ..row("text", Text, Texts(0), as_tree(&[As(0), Texts(0)]))
    };
    /// The float that each segment denotes.
    ParseFloat = Row {
        operands: &[Column(Char), Descriptor], result: Column(Float), segments: Data(&[(0, 1)]),
        doc: "parse_float c d: the float that each segment denotes, as nesl_prim::text reads it; NaN where it denotes none.",
        ..row("parse_float", Text, AsSegments(1), Cost {
            work: Work::Linear(&[AsSegments(1), Total(1)]), depth: Depth::Longest(1),
        })
    };
    /// The position of each element in its segment.
    SegIota = Row {
        operands: &[Descriptor], result: Column(Int), segments: Lengths, natural: true, fusion: Element(&[]),
        doc: "seg_iota d: 0, 1, …, length-1 for each segment, in packed order.",
        ..row("seg_iota", Segment, Total(0), as_tree(&[AsSegments(0), Total(0)]))
    };
    /// Element j for each element of segment j.
    SegDist = Row {
        operands: &[ColumnT, Descriptor], equal: &[(As(0), AsSegments(1))], segments: Lengths, fusion: Element(&[]),
        together: Some(&[1]),
        doc: "seg_dist c d: element j of c once for each element of segment j, in packed order. #c = segments of d.",
        ..row("seg_dist", Segment, Total(1), as_tree(&[AsSegments(1), Total(1)]))
    };
    /// The elements of all segments in packed order.
    Compact = Row {
        operands: &[ColumnT, Descriptor], segments: Data(&[(0, 1)]), fusion: Element(&[]), together: Some(&[1]),
        doc: "compact c d: the elements of all segments in packed order; c itself where d is packed.",
        ..row("compact", Segment, Total(1), as_tree(&[AsSegments(1), Total(1)]))
    };
    /// The packed descriptor of lengths.
    Packed = Row {
        operands: &[Column(Int)], result: Descriptor, sum: Some(0),
        doc: "packed l: the packed descriptor of segments with these lengths, none negative.",
        ..row("packed", Shape, As(0), as_tree(&[As(0)]))
    };
    /// The view of starts and lengths.
    View = Row {
        operands: &[Column(Int), Column(Int)], result: Descriptor, sum: Some(1), equal: &[(As(0), As(1))],
        doc: "view s l: segment j is the l[j] elements from s[j] on. #s = #l.",
        ..row("view", Shape, As(1), CONSTANT)
    };
    /// The packed descriptor of segments that are equally long.
    Regular = Row {
        operands: &[Scalar(Int), Scalar(Int)], result: Descriptor, regular: Some([0, 1]),
        doc: "regular m n: the packed descriptor of n segments of m elements each, as packed (dist m n); neither is \
              negative. Lengths and starts are in no memory until somebody reads them as columns.",
        ..row("regular", Shape, Value(1), CONSTANT)
    };
    /// The view of segments that are equally long and start at even distances.
    Windows = Row {
        operands: &[Scalar(Int), Scalar(Int), Scalar(Int), Scalar(Int)], result: Descriptor, regular: Some([2, 3]),
        doc: "windows s d m n: segment j is the m elements from s + j * d on, of n segments, as view of an arithmetic \
              progression; neither m nor n is negative. Lengths and starts are in no memory, as those of regular.",
        ..row("windows", Shape, Value(3), CONSTANT)
    };
    /// The view of segments that are equally long.
    Blocks = Row {
        operands: &[Column(Int), Scalar(Int), Scalar(Int)], result: Descriptor, equal: &[(As(0), Value(2))],
        regular: Some([1, 2]),
        doc: "blocks s m n: segment j is the m elements from s[j] on, of n segments, as view s (dist m n). #s = n, and m \
              is not negative. Lengths are in no memory, as those of regular.",
        ..row("blocks", Shape, Value(2), CONSTANT)
    };
    /// Where each segment starts.
    Starts = Row {
        operands: &[Descriptor], result: Column(Int), natural: true,
        doc: "starts d: where each segment starts in the data.",
        ..row("starts", Shape, AsSegments(0), as_tree(&[AsSegments(0)]))
    };
    /// How long each segment is.
    Lengths = Row {
        operands: &[Descriptor], result: Column(Int), sum: Some(0), segments: Lengths, natural: true,
        doc: "lengths d: the length of each segment.",
        ..row("lengths", Shape, AsSegments(0), CONSTANT)
    };
    /// The number of segments.
    Segments = Row {
        operands: &[Descriptor], result: Scalar(Int), segments: Lengths, natural: true,
        doc: "segments d: the number of segments.",
        ..row("segments", Shape, AsSegments(0), KNOWN)
    };
    /// The sum of the lengths.
    Total = Row {
        operands: &[Descriptor], result: Scalar(Int), segments: Lengths, natural: true,
        doc: "total d: the sum of the lengths.",
        ..row("total", Shape, Total(0), as_tree(&[AsSegments(0)]))
    };
}

//! What the table of vector instructions ([`table`]) says, in which words.
//!
//! A row says everything that is true of an instruction wherever it runs: operands and result, class, lengths, what it
//! reads of segments, its part in a loop, cost and meaning. Printer, parser, verifier, manual, passes and engines
//! derive from the rows; the reference engine is the executable meaning. Scalar and elementwise instructions are not
//! here: they are the rows of [`nesl_prim::table`], wrapped in `Op::Scalar` and `Op::Map`.
//!
//! A descriptor is *packed* (segments lie one after another and cover the data) or a *view* (starts and lengths into
//! data that other values may share). Segmented instructions read either; *packed order* is the elements of segment 0,
//! then those of segment 1, and so on. Every index operand has been checked by an earlier `check_index`: an instruction
//! that meets one out of range is a bug, except where its row says that it can fail.

mod table;

use nesl_prim::{ScalarOp, ScalarType};

pub use table::VectorOp;

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

/// What an instruction does, as a family of algorithms: each engine has a file for each that has a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Makes elements from scalars and indices.
    Elementwise,
    /// Moves elements by indices.
    Permute,
    /// Keeps elements, or puts columns together.
    Pack,
    /// Combines elements to one.
    Reduce,
    /// Combines the elements before each.
    Scan,
    /// Puts elements in order, or says where they are in it.
    Order,
    /// Writes and reads scalars as text.
    Text,
    /// Moves elements by segments.
    Segment,
    /// Makes and takes apart descriptors and lengths.
    Shape,
}

/// A number of elements. Operands are named by their positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elements {
    /// Nothing that its operands say.
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
    /// As many chars as the texts of this column's elements have.
    Texts(usize),
    /// One for each operand.
    Operands,
    /// As many as each of the columns has.
    Each,
    /// As many as all columns have together.
    All,
    /// The sum of these.
    Sum(&'static [Elements]),
}

/// What an instruction reads of segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segments {
    /// It has no descriptor, or also reads where segments start.
    Any,
    /// Their lengths alone: where they lie makes no difference.
    Lengths,
    /// The elements that they cut out: each column, and the descriptor of its segments. Their order makes no
    /// difference.
    Data(&'static [(usize, usize)]),
}

/// What part an instruction can play in a loop over the indices of a space ([`crate::fusion`]). The operands that are
/// read at the index of the loop are named by their positions; all others are ready before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fusion {
    /// None.
    Alone,
    /// Makes the element at an index from the index and the elements there.
    Element(&'static [usize]),
    /// Combines the elements before the index: an element where the operator may combine parts in any order, else an
    /// end.
    Running(&'static [usize]),
    /// Keeps the element there, where the flag there is true: the indices with true flags are a space within. The
    /// elements, and then the flags.
    Filter(&'static [usize; 2]),
    /// Chooses by the flag there between the elements of two spaces within: of the indices with true flags, and of the
    /// others. The flags, and then the elements where they are true and where they are not.
    Join(&'static [usize; 3]),
    /// Takes the elements there; its result is ready when the loop ends.
    End(&'static [usize]),
}

impl Fusion {
    /// The operands that are read at the index of the loop.
    pub fn aligned(self) -> &'static [usize] {
        match self {
            Fusion::Alone => &[],
            Fusion::Element(positions) | Fusion::Running(positions) | Fusion::End(positions) => positions,
            Fusion::Filter(positions) => positions,
            Fusion::Join(positions) => positions,
        }
    }
}

/// How many steps an instruction takes on one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// None: what it gives is known with its operand.
    Known,
    /// A number that lengths do not change.
    Constant,
    /// In proportion to the sum of these.
    Linear(&'static [Elements]),
    /// n log n steps of so many elements, if they are compared; in proportion to them where their digits are counted.
    Sorting(Elements),
}

/// How many steps follow from one another, on any number of processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// A number that lengths do not change.
    Constant,
    /// The logarithm of the work.
    Logarithmic,
    /// The length of the longest of this descriptor's segments.
    Longest(usize),
}

/// What an instruction costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// All steps.
    pub work: Work,
    /// Those that follow from one another.
    pub depth: Depth,
}

/// What the table says of one vector instruction.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Its name; that of an instruction with a direction goes on with `_up` or `_down`, of one with a scalar operator
    /// with `.` and the operator's mnemonic.
    pub mnemonic: &'static str,
    /// Its operands.
    pub operands: &'static [Kind],
    /// Whether the last operand kind may repeat (once or more).
    pub variadic: bool,
    /// Its result.
    pub result: Kind,
    /// What it does.
    pub class: Class,
    /// How many elements its result has if it is a column, or segments if it is a descriptor; what it is if it is a
    /// scalar.
    pub elements: Elements,
    /// The operand whose sum is that of the result: of ints, or of the lengths of segments.
    pub sum: Option<usize>,
    /// What must be equal of the operands' lengths.
    pub equal: &'static [(Elements, Elements)],
    /// What it reads of segments.
    pub segments: Segments,
    /// Where it makes a descriptor of equally long segments, the operands that say how long and how many they are.
    pub regular: Option<[usize; 2]>,
    /// Whether its operator chooses one of its operands: the least or the greatest.
    pub chooses: bool,
    /// Whether the ints that it gives are lengths or positions, or no larger than these: never negative.
    pub natural: bool,
    /// What part it can play in a loop.
    pub fusion: Fusion,
    /// Whether it can fail for other reasons than lack of memory.
    pub fallible: bool,
    /// The operand that the result may be written over, where that is its last use: a column of the result's type.
    pub in_place: Option<usize>,
    /// Whether its result begins with its first operand: where that is its last use, the others may be written behind
    /// it.
    pub extends: bool,
    /// Whether its result is always in memory of its own, but for what it extends; where this is not said, it may be
    /// that of an operand, or a part of it.
    pub fresh: bool,
    /// Where several of them may be given to an engine at once, since their columns move alike: the operands in which
    /// they agree then.
    pub together: Option<&'static [usize]>,
    /// What it costs.
    pub cost: Cost,
    /// The names of its operands and, after a colon, what it requires of lengths, and its meaning.
    pub doc: &'static str,
}

impl Row {
    /// The names that the row gives its operands.
    pub fn names(&self) -> Vec<&'static str> {
        let form = self.doc.split_once(':').map_or("", |(form, _)| form);
        form.split_whitespace().skip(1).map(|name| name.trim_end_matches('…')).collect()
    }
}

impl VectorOp {
    /// The full name: `gather`, `sort_up`, `seg_reduce.add.int`.
    pub fn name(self) -> String {
        let mnemonic = self.row().mnemonic;
        match (self.operator(), self.direction()) {
            (Some(op), _) => format!("{mnemonic}.{op}"),
            (None, Some(direction)) => format!("{mnemonic}_{}", direction.name()),
            (None, None) => mnemonic.to_owned(),
        }
    }

    /// The instruction with this full name.
    pub fn by_name(name: &str) -> Option<VectorOp> {
        VectorOp::all().into_iter().find(|op| op.name() == name)
    }

    /// The column of the table that says how many elements the result has.
    pub fn elements(self) -> Elements {
        self.row().elements
    }

    /// The class of the instruction.
    pub fn class(self) -> Class {
        self.row().class
    }

    /// The column of the table that says what the instruction can be in a loop. What comes before an index is known
    /// there, whoever goes over the indices before, where parts can be combined in any order.
    pub fn fusion(self) -> Fusion {
        match (self.row().fusion, self.operator()) {
            (Fusion::Running(positions), Some(op)) if op.row().associative => Fusion::Element(positions),
            (Fusion::Running(positions), _) => Fusion::End(positions),
            (fusion, _) => fusion,
        }
    }

    /// Whether its operator, if it has one, is one of those that it can have: with an identity, and where it is asked
    /// which element that chooses, one that does.
    pub fn has_fitting_operator(self) -> bool {
        let fits = |op: ScalarOp| op.row().identity.is_some() && (op.is_extreme() || !self.row().chooses);
        self.operator().is_none_or(fits)
    }

    /// Whether it gives indices of elements. In a loop these are the loop's own: among what a filter keeps they are not
    /// known.
    pub fn gives_indices(self) -> bool {
        self.row().chooses
    }

    /// The operator of an instruction of a class.
    pub fn operator_in(self, class: Class) -> Option<ScalarOp> {
        self.operator().filter(|_| self.class() == class)
    }

    /// Whether the instruction goes over the elements of columns. Making and taking apart descriptors, lengths, single
    /// elements and slices take constant time, or that of the number of segments.
    pub fn is_pass(self) -> bool {
        self.class() != Class::Shape && matches!(self.row().cost.work, Work::Linear(_) | Work::Sorting(_))
    }

    /// Whether what it gives is known with its operand, at no cost and on every process.
    pub fn is_known(self) -> bool {
        self.row().cost.work == Work::Known
    }

    /// Whether it makes elements in a loop from the index, scalars and lengths, without those of a column as long.
    pub fn is_source(self) -> bool {
        self.fusion() == Fusion::Element(&[]) && self.data().is_empty()
    }

    /// Whether it changes elements of its first operand, at indices or in segments.
    pub fn is_update(self) -> bool {
        self.row().in_place == Some(0) && matches!(self.fusion(), Fusion::End(_))
    }

    /// Whether it gives a scalar.
    pub fn gives_scalar(self) -> bool {
        matches!(self.row().result, Kind::ScalarT | Kind::Scalar(_))
    }

    /// Whether it gives a column that is there already: that of an operand, or a part of it.
    pub fn is_at_hand(self) -> bool {
        let row = self.row();
        matches!(row.result, Kind::ColumnT | Kind::Column(_)) && !self.is_pass() && !row.fresh
    }

    /// Whether it looks up one scalar in a column, its first operand: an element, or how many there are.
    pub fn reads_scalar(self) -> bool {
        let row = self.row();
        let is_column = matches!(row.operands.first(), Some(Kind::ColumnT | Kind::Column(_)));
        is_column && !self.is_pass() && self.gives_scalar()
    }

    /// Whether it makes elements in a loop from the index and scalars alone.
    pub fn is_scalar_source(self) -> bool {
        self.is_source() && self.row().operands.iter().all(|kind| matches!(kind, Kind::Scalar(_) | Kind::ScalarT))
    }

    /// The positions of the operands, of so many, whose elements its result has, moved and as they are; none where it
    /// computes, or writes over a column.
    pub fn moved(self, count: usize) -> Vec<usize> {
        let row = self.row();
        let moves = matches!(self.class(), Class::Permute | Class::Pack | Class::Segment);
        let combines = self.operator_in(self.class()).is_some();
        if !moves || combines || row.result != Kind::ColumnT || self.is_update() {
            return Vec::new();
        }
        // Where there are any number, all are of the last kind.
        let is_moved = |position: &usize| row.operands.get(*position).or(row.operands.last()) == Some(&Kind::ColumnT);
        (0..count).filter(is_moved).collect()
    }

    /// The columns of which it reads what segments cut out, each with its descriptor.
    pub fn data(self) -> &'static [(usize, usize)] {
        match self.row().segments {
            Segments::Data(pairs) => pairs,
            Segments::Any | Segments::Lengths => &[],
        }
    }

    /// The operands that say how long all segments of the descriptor are that it makes, and how many there are.
    pub fn regular_operands(self) -> Option<[usize; 2]> {
        self.row().regular
    }

    /// The descriptor of a column that it reads at the index of a loop, segment by segment: there segments lie one
    /// after another.
    pub fn packed_operand(self) -> Option<usize> {
        let aligned = self.fusion().aligned();
        self.data().iter().find(|(column, _)| aligned.contains(column)).map(|&(_, descriptor)| descriptor)
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

    #[test]
    fn elements_are_moved_by_what_neither_computes_nor_writes() {
        let moving: Vec<String> =
            VectorOp::all().into_iter().filter(|op| !op.moved(4).is_empty()).map(VectorOp::name).collect();
        let expected =
            ["slice", "gather", "permute", "pack", "merge", "concat", "interleave", "append", "seg_dist", "compact"];
        assert_eq!(moving, expected);
        assert_eq!((VectorOp::Merge.moved(3), VectorOp::Concat.moved(3)), (vec![1, 2], vec![0, 1, 2]));
        assert_eq!((VectorOp::Append.moved(4), VectorOp::Gather.moved(2)), (vec![1, 3], vec![0]));
    }

    #[test]
    fn few_columns_are_there_already() {
        let at_hand: Vec<String> = VectorOp::all().iter().filter(|op| op.is_at_hand()).map(|op| op.name()).collect();
        assert_eq!(at_hand, ["slice", "starts", "lengths"]);
    }

    /// Whether a number of elements can be said of operands of these kinds.
    fn fits(elements: Elements, operands: &[Kind]) -> bool {
        let kind = |position: usize| operands.get(position).copied();
        match elements {
            Elements::Value(position) => kind(position) == Some(Kind::Scalar(ScalarType::Int)),
            Elements::Column(position) | Elements::Texts(position) => {
                matches!(kind(position), Some(Kind::Column(_) | Kind::ColumnT))
            }
            Elements::Trues(position) => kind(position) == Some(Kind::Column(ScalarType::Bool)),
            Elements::Segments(position) | Elements::Total(position) => kind(position) == Some(Kind::Descriptor),
            Elements::Sum(parts) => parts.iter().all(|&part| fits(part, operands)),
            Elements::Unknown | Elements::Operands | Elements::Each | Elements::All => true,
        }
    }

    #[test]
    fn what_a_row_says_of_an_operand_is_said_of_its_kind() {
        for op in VectorOp::all() {
            let row = op.row();
            let name = op.name();
            assert_eq!(row.names().len(), row.operands.len(), "{name}");
            assert!(fits(row.elements, row.operands), "{name}");
            assert!(
                row.equal.iter().all(|&(one, other)| fits(one, row.operands) && fits(other, row.operands)),
                "{name}"
            );
            if let Work::Linear(parts) = row.cost.work {
                assert!(parts.iter().all(|&part| fits(part, row.operands)), "{name}");
            }
            let is_column = |position: usize| matches!(row.operands[position], Kind::Column(_) | Kind::ColumnT);
            assert!(op.fusion().aligned().iter().all(|&position| is_column(position)), "{name}");
            for &(column, descriptor) in op.data() {
                assert!(is_column(column) && row.operands[descriptor] == Kind::Descriptor, "{name}");
            }
            assert!(row.in_place.is_none_or(|position| row.operands[position] == row.result), "{name}");
            assert!(
                !row.natural || matches!(row.result, Kind::Column(ScalarType::Int) | Kind::Scalar(ScalarType::Int))
            );
            let is_sourced =
                op.fusion() != Fusion::Element(&[]) || matches!(row.elements, Elements::Value(_) | Elements::Total(_));
            assert!(is_sourced, "{name}: a loop must know its number of indices");
        }
    }
}

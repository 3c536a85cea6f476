//! Indices that are within bounds by how they were made: a check of them passes, so it need not be done, and nothing
//! has to stay behind it. It is a part of [`simplify`](super::simplify).
//!
//! ```text
//! v[mod(i + 1, #v)]         what is left of a division by a length
//! v[max(i - 1, 0)]          a neighbour, or the element itself at an end
//! v[min(i + 1, #v - 1)]
//! v[#v - 1 - i]             the same from behind
//! ```
//!
//! where `i` is an index of `v`. That there is one says that `v` has elements: this is why 0 is an index, and `#v - 1`.

use super::rewrite::{Context, Maker};
use super::segments;
use crate::op::VectorOp;
use crate::program::Operand;
use nesl_prim::{ScalarOp, ScalarValue};

/// How many operations deep indices are looked at.
const DEPTH: usize = 6;

/// Lengths, positions and constants up to this one can be added without overflow.
const SMALL: i64 = 1 << 61;

/// Whether indices are known to pass a check against a length.
pub(super) fn is_within(context: &Context, indices: Operand, length: Operand) -> bool {
    let bounds = Bounds { context, length, is_inhabited: false };
    let bounds = Bounds { is_inhabited: bounds.finds_index(indices, DEPTH), ..bounds };
    bounds.is_natural(indices, DEPTH) && bounds.is_below(indices, DEPTH)
}

/// What is asked of numbers, all at the same places.
struct Bounds<'a> {
    context: &'a Context,
    length: Operand,
    /// Whether there is an index below the length wherever there is a number.
    is_inhabited: bool,
}

impl Bounds<'_> {
    /// The operation on scalars or elements that made a number, and its operands.
    fn operation(&self, number: Operand) -> Option<(ScalarOp, &[Operand])> {
        let definition = self.context.definition(number)?;
        match definition.maker {
            Maker::Scalar(op) | Maker::Map(op) => Some((op, &definition.operands)),
            Maker::Vector(_) | Maker::Constants(_) => None,
        }
    }

    /// Whether a column has the indices of as many elements as the length says, or ranks among these.
    fn is_index(&self, column: Operand) -> bool {
        let Some(definition) = self.context.definition(column) else { return false };
        match (definition.maker, &definition.operands[..]) {
            (Maker::Vector(VectorOp::Iota), &[count]) => segments::copies(self.context, self.length) == count,
            (Maker::Vector(VectorOp::SegIota), &[descriptor])
            | (Maker::Vector(VectorOp::SegRank(_)), &[_, descriptor]) => {
                segments::are_lengths(self.context, self.length, descriptor)
            }
            // Some of them, elsewhere: the length has to be the same there.
            (Maker::Vector(op), operands) if op.moved(operands.len()) == [0] => {
                self.context.is_scalar(self.length) && self.is_index(operands[0])
            }
            _ => false,
        }
    }

    /// Whether a number was made of an index.
    fn finds_index(&self, number: Operand, depth: usize) -> bool {
        let is_made_of_one = |(_, operands): (_, &[Operand])| {
            depth > 0 && operands.iter().any(|&operand| self.finds_index(operand, depth - 1))
        };
        self.is_index(number) || self.operation(number).is_some_and(is_made_of_one)
    }

    fn is_natural(&self, number: Operand, depth: usize) -> bool {
        if let Some(value) = constant(number) {
            return value >= 0;
        }
        if self.is_index(number) || self.is_length(number) {
            return true;
        }
        let Some((op, operands)) = self.operation(number).filter(|_| depth > 0) else { return false };
        let is_natural = |&number: &Operand| self.is_natural(number, depth - 1);
        match (op, operands) {
            (ScalarOp::MaximumInt | ScalarOp::AndInt, _) => operands.iter().any(is_natural),
            (ScalarOp::MinimumInt, _) => operands.iter().all(is_natural),
            (ScalarOp::SelectInt, [_, either @ ..]) => either.iter().all(is_natural),
            (ScalarOp::AddInt, _) => operands.iter().all(|number| is_natural(number) && self.is_small(*number, depth)),
            (ScalarOp::DivideInt, [number, by]) => constant(*by).is_some_and(|by| by > 0) && is_natural(number),
            // It has the sign of the length, which is not 0.
            (ScalarOp::Modulo, &[_, by]) => by == self.length,
            (ScalarOp::SubtractInt, &[number, by]) => self.is_last(number, by) || self.is_from_behind(number, by),
            _ => false,
        }
    }

    fn is_below(&self, number: Operand, depth: usize) -> bool {
        if self.is_index(number) {
            return true;
        }
        if constant(number) == Some(0) {
            return self.is_inhabited;
        }
        let Some((op, operands)) = self.operation(number).filter(|_| depth > 0) else { return false };
        let is_below = |&number: &Operand| self.is_below(number, depth - 1);
        match (op, operands) {
            (ScalarOp::MinimumInt, _) => operands.iter().any(is_below),
            (ScalarOp::MaximumInt, _) => operands.iter().all(is_below),
            (ScalarOp::SelectInt, [_, either @ ..]) => either.iter().all(is_below),
            (ScalarOp::DivideInt, [number, by]) => constant(*by).is_some_and(|by| by > 0) && is_below(number),
            (ScalarOp::Modulo, &[_, by]) => by == self.length,
            (ScalarOp::SubtractInt, &[number, by]) => {
                let is_less = || constant(by).is_some_and(|by| by >= 0) && self.is_natural(number, depth - 1);
                self.is_last(number, by) || self.is_from_behind(number, by) || (is_below(&number) && is_less())
            }
            _ => false,
        }
    }

    /// Whether a difference is the last index.
    fn is_last(&self, number: Operand, by: Operand) -> bool {
        number == self.length && constant(by) == Some(1) && self.is_inhabited
    }

    /// Whether a difference is an index counted from the last one.
    fn is_from_behind(&self, number: Operand, by: Operand) -> bool {
        let last = self.operation(number).filter(|&(op, _)| op == ScalarOp::SubtractInt);
        last.is_some_and(|(_, operands)| self.is_last(operands[0], operands[1])) && self.is_index(by)
    }

    /// Whether a number is a length or a position.
    fn is_length(&self, number: Operand) -> bool {
        number == self.length || self.context.definition(number).is_some_and(|definition| definition.maker.is_natural())
    }

    /// Whether a natural number is none with which sums wrap.
    fn is_small(&self, number: Operand, depth: usize) -> bool {
        constant(number).is_some_and(|value| value <= SMALL)
            || self.is_index(number)
            || self.is_length(number)
            || self.is_below(number, depth - 1)
    }
}

fn constant(operand: Operand) -> Option<i64> {
    match operand {
        Operand::Constant(ScalarValue::Int(value)) => Some(value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::parse::{numbered, parse};
    use crate::passes::simplify;
    use crate::verify::verify;

    const HEADER: &str = "(%0: int, %1: int, %2: column int, %3: descriptor, %4: column int, %5: column bool)";

    /// Checks whether a check of what some instructions make is known to pass.
    #[track_caller]
    fn check(passes: bool, made: &str, index: &str, length: &str) {
        let body = format!("{made}\n%99 = map check_index {index} {length}\nreturn %99");
        let text = numbered(&format!("function f{HEADER} -> column int {{\n{body}\n}}"));
        let mut program = parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        simplify::run(&mut program);
        assert_eq!(verify(&program), Ok(()));
        assert_eq!(!program.to_string().contains("check_index"), passes, "{program}");
    }

    #[test]
    fn neighbours_at_the_ends_are_within() {
        let of_all = "%6 = iota %0\n";
        let of_rows = "%6 = seg_iota %3\n%7 = lengths %3\n%8 = seg_dist %7 %3\n";
        for (indices, length) in [(of_all, "%0"), (of_rows, "%8")] {
            let last = if length == "%0" { "%9 = subtract.int %0 1" } else { "%9 = map subtract.int %8 1" };
            for (is_within, rest) in [
                (true, "%10 = map subtract.int %6 1\n%11 = map maximum.int %10 0"),
                (true, "%10 = map add.int %6 1\n%11 = map minimum.int %10 %9"),
                (true, "%10 = map subtract.int %9 %6\n%11 = map divide.int %10 2"),
                (true, "%10 = map subtract.int %6 3\n%11 = map select.int %5 0 %6"),
                (false, "%10 = map subtract.int %6 1\n%11 = map minimum.int %10 %9"),
                (false, "%10 = map add.int %6 1\n%11 = map maximum.int %10 0"),
                (false, "%10 = map add.int %6 9223372036854775807\n%11 = map minimum.int %10 %9"),
                (false, "%10 = map subtract.int %9 %4\n%11 = map minimum.int %10 %6"),
                (false, "%10 = map add.int %6 1\n%11 = map select.int %5 0 %10"),
            ] {
                check(is_within, &format!("{indices}{last}\n{rest}"), "%11", length);
            }
        }
    }

    #[test]
    fn what_is_left_of_a_division_by_the_length_is_within() {
        check(true, "%6 = map modulo %2 %0", "%6", "%0");
        check(false, "%6 = map modulo %2 %1", "%6", "%0");
        check(false, "%6 = map remainder %2 %0", "%6", "%0");
        check(true, "%6 = lengths %3\n%7 = seg_dist %6 %3\n%8 = map modulo %4 %7", "%8", "%7");
    }

    #[test]
    fn without_an_index_there_may_be_no_elements() {
        check(false, "%6 = subtract.int %0 1\n%7 = map maximum.int %2 0\n%8 = map minimum.int %7 %6", "%8", "%0");
        check(false, "%6 = map select.int %5 0 0", "%6", "%0");
    }

    #[test]
    fn indices_that_are_moved_are_within_where_the_length_is_the_same() {
        check(true, "%6 = iota %0\n%7 = pack %6 %5", "%7", "%0");
        check(
            true,
            "%6 = iota %0\n%7 = seg_dist %6 %3\n%8 = map subtract.int %7 1\n%9 = map maximum.int 0 %8",
            "%9",
            "%0",
        );
        check(false, "%6 = iota %0\n%7 = seg_dist %6 %3", "%7", "%1");
        check(false, "%6 = lengths %3\n%7 = seg_dist %6 %3\n%8 = seg_iota %3\n%9 = gather %8 %2", "%9", "%7");
    }

    #[test]
    fn ranks_in_segments_are_below_their_lengths() {
        let packed = "%6 = lengths %3\n%7 = packed %6\n%8 = seg_rank_up %4 %7\n%9 = seg_dist %6 %7";
        check(true, packed, "%8", "%9");
        // Where all are equally long: the same scalar.
        let equal = "%6 = dist %0 %1\n%7 = packed %6\n%8 = seg_rank_up %4 %7";
        check(true, equal, "%8", "%0");
        check(false, equal, "%8", "%1");
    }
}

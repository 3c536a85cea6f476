//! How much room lifted code needs: whether the instances of a function, all at once, have longer columns in memory
//! than what they get is long.
//!
//! `{sum({f(x, y) : y in w}) : x in v}` goes over #v · #w elements, of which a loop has one at a time. But where they
//! are sorted, or two loops need them, all of them are there, and instances one after another would have needed #w.
//! What is *open* here has a number of elements that is not known to be one for each instance, or for each element of
//! the sequences that these get; lengths are known where they come from such sequences, or count what is kept of them.

use crate::op::{Elements, Fusion, VectorOp};
use crate::program::{Block, Function, Instruction, Op, Operand, RegisterType};
use nesl_prim::{ScalarOp, ScalarType, ScalarValue};

/// Whether the lifted function of an `each` has open columns other than inside of one loop.
pub(super) fn opens(lifted: &Function) -> bool {
    let mut extents = vec![Extent::default(); lifted.registers.len()];
    // Elements may be lengths of anything.
    for parameter in &lifted.parameters {
        extents[parameter.0 as usize].is_wide = lifted.register_type(*parameter) != RegisterType::Descriptor;
    }
    Opening { function: lifted, extents }.block(&lifted.body).is_none()
}

/// What is known of a register.
#[derive(Clone, Copy, Default, PartialEq)]
struct Extent {
    /// Of a column or a descriptor, whether it is open; of a scalar, whether the number is that of something open.
    is_open: bool,
    /// Of a descriptor, whether the elements of its segments are open; of ints, whether segments of such lengths are.
    is_wide: bool,
    /// Of a descriptor, whether its segments are known to be all of their data, one after another.
    is_packed: bool,
    /// How many loops over open elements have to end before it is there.
    loops: usize,
}

impl Extent {
    fn or(self, other: Extent) -> Extent {
        Extent {
            is_open: self.is_open || other.is_open,
            is_wide: self.is_wide || other.is_wide,
            is_packed: self.is_packed && other.is_packed,
            loops: self.loops.max(other.loops),
        }
    }
}

struct Opening<'a> {
    function: &'a Function,
    extents: Vec<Extent>,
}

impl Opening<'_> {
    fn extent(&self, operand: Operand) -> Extent {
        match operand {
            Operand::Register(register) => self.extents[register.0 as usize],
            Operand::Constant(_) => Extent::default(),
        }
    }

    fn is_column(&self, operand: Operand) -> bool {
        matches!(self.function.operand_type(operand), RegisterType::Column(_))
    }

    /// What a block yields; none if something open in it is in memory.
    fn block(&mut self, block: &Block) -> Option<Vec<Extent>> {
        for instruction in &block.instructions {
            let extents = match &instruction.op {
                Op::If(then_block, else_block) => self.branches(then_block, else_block)?,
                _ => vec![self.instruction(instruction)?; instruction.results.len()],
            };
            for (result, extent) in instruction.results.iter().zip(extents) {
                self.extents[result.0 as usize] = extent;
            }
        }
        Some(block.results.iter().map(|&result| self.extent(result)).collect())
    }

    /// What branches yield is there when they end.
    fn branches(&mut self, then_block: &Block, else_block: &Block) -> Option<Vec<Extent>> {
        let (first, second) = (self.block(then_block)?, self.block(else_block)?);
        let both: Vec<Extent> = first.into_iter().zip(second).map(|(first, second)| first.or(second)).collect();
        both.iter().all(|extent| !extent.is_open).then_some(both)
    }

    /// The result of an instruction without blocks; none if something open has to be in memory for it.
    fn instruction(&self, instruction: &Instruction) -> Option<Extent> {
        let operands = &instruction.operands;
        let extent = |position: usize| self.extent(operands[position]);
        let loops = operands.iter().map(|&operand| self.extent(operand).loops).max().unwrap_or(0);
        let is_packed = instruction.op == Op::Vector(VectorOp::Packed);
        let (is_open, is_wide) = match &instruction.op {
            // It copies nothing.
            Op::Vector(VectorOp::Compact) if extent(1).is_packed => return Some(Extent { loops, ..extent(0) }),
            Op::Scalar(op) => {
                (operands.iter().any(|&operand| self.extent(operand).is_open), self.is_wide(*op, operands))
            }
            Op::Map(op) => {
                let is_open = operands.iter().any(|&operand| self.is_column(operand) && self.extent(operand).is_open);
                (is_open, self.is_wide(*op, operands))
            }
            Op::Constants(_) => (false, false),
            Op::Vector(VectorOp::Merge | VectorOp::Concat) => {
                let all = operands.iter().fold(Extent::default(), |all, &operand| all.or(self.extent(operand)));
                (all.is_open, all.is_wide)
            }
            Op::Vector(VectorOp::Dist) => (extent(1).is_open, matches!(operands[0], Operand::Register(_))),
            Op::Vector(VectorOp::Reduce(_) | VectorOp::ReduceIndex(_)) => {
                (extent(0).is_open || extent(0).is_wide, true)
            }
            Op::Vector(op) => {
                let kept = match op {
                    VectorOp::Pack | VectorOp::SegReduce(_) => Some(0),
                    op => op.row().sum,
                };
                let is_wide = kept.is_none_or(|position| extent(position).is_wide || extent(position).is_open);
                (self.has_open(op.elements(), operands), is_wide)
            }
            Op::Host(_) | Op::Call(_) | Op::Each(_) | Op::Fused(_) | Op::If(..) => (false, true),
        };
        let reads_open: Vec<usize> = (0..operands.len())
            .filter(|&position| self.is_column(operands[position]) && extent(position).is_open)
            .collect();
        let is_scalar = |result| matches!(self.function.register_type(result), RegisterType::Scalar(_));
        if reads_open.is_empty() && (!is_open || instruction.results.iter().all(|&result| is_scalar(result))) {
            return Some(Extent { is_open, is_wide, is_packed, loops });
        }
        // An earlier loop has made it: for another it is there.
        if reads_open.iter().any(|&position| extent(position).loops < loops) {
            return None;
        }
        let ends = match &instruction.op {
            Op::Map(_) => false,
            Op::Vector(op) if op.is_known() || (!op.is_pass() && reads_open.is_empty()) => false,
            Op::Vector(op) => {
                let fusion = op.fusion();
                if fusion == Fusion::Alone || reads_open.iter().any(|position| !fusion.aligned().contains(position)) {
                    return None;
                }
                matches!(fusion, Fusion::End(_))
            }
            _ => return None,
        };
        Some(Extent { is_open, is_wide, is_packed, loops: loops + usize::from(ends) })
    }

    /// Whether a number of elements is open.
    fn has_open(&self, elements: Elements, operands: &[Operand]) -> bool {
        let extent = |position: usize| self.extent(operands[position]);
        match elements {
            Elements::Value(position)
            | Elements::Column(position)
            | Elements::Trues(position)
            | Elements::Segments(position)
            | Elements::Texts(position) => extent(position).is_open,
            Elements::Total(position) => extent(position).is_open || extent(position).is_wide,
            Elements::Each | Elements::All => operands.iter().any(|&operand| self.extent(operand).is_open),
            Elements::Sum(parts) => parts.iter().any(|&part| self.has_open(part, operands)),
            Elements::Operands => false,
            Elements::Unknown => true,
        }
    }

    /// Whether segments of the lengths that an operation gives may have more elements than those of its operands.
    fn is_wide(&self, op: ScalarOp, operands: &[Operand]) -> bool {
        // A scalar is there for each of the elements.
        let is_wide = |position: usize| match operands[position] {
            Operand::Constant(_) => false,
            column if self.is_column(column) => self.extent(column).is_wide,
            _ => true,
        };
        match op {
            ScalarOp::BoolToInt => false,
            ScalarOp::AddInt | ScalarOp::SubtractInt | ScalarOp::MaximumInt | ScalarOp::MinimumInt => {
                is_wide(0) || is_wide(1)
            }
            ScalarOp::SelectInt => is_wide(1) || is_wide(2),
            ScalarOp::CheckLength | ScalarOp::CheckTotal | ScalarOp::CheckLengths => is_wide(0),
            ScalarOp::CheckCount => is_wide(1),
            ScalarOp::SubsequenceLength => is_wide(2),
            ScalarOp::RangeLength => match (operands[0], operands[2]) {
                (Operand::Constant(ScalarValue::Int(start)), Operand::Constant(ScalarValue::Int(stride))) => {
                    start < 0 || stride < 1 || is_wide(1)
                }
                _ => true,
            },
            _ => op.row().result == ScalarType::Int,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::opens;
    use crate::parse::parse;

    const PARAMETERS: &str = "%0: int, %1: descriptor, %2: column float, %3: column int, %4: column float";

    /// Whether a body opens for %0 instances, each with a sequence and an int, and with a sequence that all share.
    fn does(body: &str) -> bool {
        let results = body.matches("return").count();
        let text = format!("function f({PARAMETERS}) -> column float {{\n{body}\n}}");
        assert_eq!(results, 1);
        opens(&parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}")).functions[0])
    }

    /// All of what is shared, for each instance.
    const ALL_PAIRS: &str = "%5 = length %4
        %6 = dist 0 %0
        %7 = dist %5 %0
        %8 = view %6 %7
        %9 = compact %4 %8
        %10 = packed %7
        %11 = seg_dist %3 %10
        %12 = map int_to_float %11
        %13 = map multiply.float %9 %12";

    #[test]
    fn one_loop_over_all_pairs_does_not() {
        assert!(!does(&format!("{ALL_PAIRS}\n%14 = seg_reduce.add.float %13 %10\nreturn %14")));
        let filtered = "%14 = map less.float %13 0.0\n%15 = pack %13 %14\n%16 = map bool_to_int %14\n\
             %17 = seg_reduce.add.int %16 %10\n%18 = map int_to_float %17\nreturn %18";
        assert!(!does(&format!("{ALL_PAIRS}\n{filtered}")));
    }

    #[test]
    fn sorting_all_pairs_reading_them_anywhere_or_twice_does() {
        assert!(does(&format!("{ALL_PAIRS}\n%14 = seg_sort_up %13 %10\nreturn %14")));
        assert!(does(&format!("{ALL_PAIRS}\n%14 = gather %13 %3\nreturn %14")));
        let twice = "%14 = seg_reduce.add.float %13 %10\n%15 = seg_dist %14 %10\n%16 = map divide.float %13 %15\n\
             %17 = seg_reduce.add.float %16 %10\nreturn %17";
        assert!(does(&format!("{ALL_PAIRS}\n{twice}")));
        let branch = "%15 = if t {\n%14 = seg_reduce.add.float %13 %10\nyield %14\n} else { yield %4 }\nreturn %15";
        assert!(!does(&format!("{ALL_PAIRS}\n{branch}").replace("yield %4", "yield %2")));
        let out = "%15 = if t { yield %13 } else { yield %2 }\n%14 = seg_reduce.add.float %15 %10\nreturn %14";
        assert!(does(&format!("{ALL_PAIRS}\n{out}")));
    }

    #[test]
    fn parts_of_what_instances_get_do_not() {
        assert!(!does(
            "%5 = lengths %1
             %6 = map check_count %3 %5
             %7 = map subsequence_length 0 %6 %5
             %8 = starts %1
             %9 = view %8 %7
             %10 = compact %2 %9
             %11 = packed %7
             %12 = seg_sort_up %10 %11
             %13 = append %1 %2 %11 %12
             %14 = seg_reduce.add.float %13 %11
             return %14"
        ));
        assert!(!does(
            "%5 = lengths %1
             %6 = map range_length 1 %5 2
             %7 = packed %6
             %8 = seg_iota %7
             %9 = compact %8 %7
             %10 = map int_to_float %9
             %11 = seg_sort_up %10 %7
             return %11"
        ));
    }

    #[test]
    fn what_is_given_is_not_made_in_vain_and_lengths_that_instances_say_are_not_theirs() {
        assert!(!does(
            "%5 = map check_length %3
             %6 = packed %5
             %7 = seg_iota %6
             %8 = compact %7 %6
             %9 = map int_to_float %8
             return %9"
        ));
        assert!(does(
            "%5 = map check_length %3
             %6 = packed %5
             %7 = seg_dist %3 %6
             %8 = map int_to_float %7
             %9 = seg_sort_up %8 %6
             return %9"
        ));
    }
}

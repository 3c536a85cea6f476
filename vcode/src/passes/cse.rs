//! Common subexpressions: an instruction that was computed before, in this block or one around it, is not computed
//! again.
//!
//! But for the world outside, VCODE has no state, so equal instructions on equal operands have equal results. One that
//! can fail has failed the first time if it does. Calls and `if`s stay: equal ones are rare and long to compare.
//!
//! What was computed of all elements of columns is not computed again of those that a filter keeps: it is filtered,
//! too, so that `{a[i] : i in v | a[i] > 0}` reads each `a[i]` once. Only within one block, where both are made: what a
//! branch reads of the columns before it would have to be kept for it.

use crate::fusion;
use crate::op::{Class, Fusion, Kind, Segments, VectorOp};
use crate::passes::rewrite::{self, Action, Context, Rule};
use crate::passes::scoped::Scoped;
use crate::passes::segments;
use crate::program::{Instruction, Op, Operand, Program};
use nesl_prim::{Constants, ScalarOp, ScalarType};

/// Shares equal instructions in all functions.
pub fn run(program: &mut Program) {
    for function in &mut program.functions {
        rewrite::rewrite(function, &mut Share { known: Scoped::new(), depth: 0 });
    }
}

/// What makes two instructions equal.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    Scalar(ScalarOp, Vec<Operand>),
    Map(ScalarOp, Vec<Operand>),
    Vector(VectorOp, Vec<Operand>),
    /// The elements by their bits.
    Constants(ScalarType, Vec<u64>),
}

fn key_of(context: &Context, op: &Op, operands: &[Operand]) -> Option<Key> {
    let operands = || operands.to_vec();
    let lengths_only = |op: VectorOp| {
        let mut operands = operands();
        if op.row().segments == Segments::Lengths {
            let descriptors = operands.iter_mut().zip(op.row().operands).filter(|(_, kind)| **kind == Kind::Descriptor);
            descriptors.for_each(|(operand, _)| *operand = segments::key(context, *operand));
        }
        operands
    };
    let ordered = |op: ScalarOp| {
        let mut operands = operands();
        if op.row().commutative {
            operands.sort_by_key(rank);
        }
        operands
    };
    match op {
        Op::Scalar(op) => Some(Key::Scalar(*op, ordered(*op))),
        Op::Map(op) => Some(Key::Map(*op, ordered(*op))),
        Op::Vector(op) => Some(Key::Vector(*op, lengths_only(*op))),
        Op::Constants(constants) => Some(Key::Constants(constants.scalar_type(), bits(constants))),
        Op::Host(_) | Op::Call(_) | Op::Each(_) | Op::If(..) | Op::Fused(_) => None,
    }
}

/// An order on the operands of a commutative operation. One of them is a register where it matters: two constants fold.
fn rank(operand: &Operand) -> Option<u32> {
    match operand {
        Operand::Register(register) => Some(register.0),
        Operand::Constant(_) => None,
    }
}

fn bits(constants: &Constants) -> Vec<u64> {
    match constants {
        Constants::Int(values) => values.iter().map(|&value| value as u64).collect(),
        Constants::Float(values) => values.iter().map(|value| value.to_bits()).collect(),
        Constants::Bool(values) => values.iter().map(|&value| u64::from(value)).collect(),
        Constants::Char(values) => values.iter().map(|&value| u64::from(value)).collect(),
    }
}

/// The operands that an instruction on elements kept by a filter would have on all elements, and the flags of the
/// filter.
fn unfiltered(context: &Context, instruction: &Instruction) -> Option<(Vec<Operand>, Operand)> {
    let mut operands = instruction.operands.clone();
    // What a scan gives at an index is made of all elements before, those that are not kept, too.
    let is_at_index = match instruction.op {
        Op::Vector(op) => matches!(op.fusion(), Fusion::Element(_)) && op.class() != Class::Scan,
        _ => true,
    };
    let aligned = fusion::aligned(&instruction.op, &operands, |operand| context.type_of(operand));
    let mut filter = None;
    for position in aligned.filter(|_| is_at_index)? {
        let &[elements, flags] = context.made_by(operands[position], VectorOp::Pack)? else { return None };
        if *filter.get_or_insert(flags) != flags {
            return None;
        }
        operands[position] = elements;
    }
    filter.map(|flags| (operands, flags))
}

struct Share {
    /// Values, each with the number of blocks around the one it was made in.
    known: Scoped<Key, (Operand, usize)>,
    depth: usize,
}

impl Rule for Share {
    fn rewrite(&mut self, context: &mut Context, instruction: &Instruction) -> Action {
        let (operands, op) = (&instruction.operands, &instruction.op);
        let (Some(key), [result]) = (key_of(context, op, operands), instruction.results.as_slice()) else {
            return Action::Keep;
        };
        if let Some(&(value, _)) = self.known.get(&key) {
            return Action::Replace(value);
        }
        if let Some((operands, flags)) = unfiltered(context, instruction)
            && let Some(key) = key_of(context, op, &operands)
            && let Some(&(value, depth)) = self.known.get(&key)
            && depth == self.depth
        {
            return Action::Become(Op::Vector(VectorOp::Pack), vec![value, flags]);
        }
        self.known.insert(key, (Operand::Register(*result), self.depth));
        Action::Keep
    }

    fn enter(&mut self) {
        self.known.enter();
        self.depth += 1;
    }

    fn leave(&mut self, _: &mut Context) {
        self.known.leave();
        self.depth -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::testing::{becomes, stays};

    #[test]
    fn equal_instructions_are_shared_also_those_that_can_fail() {
        becomes(
            run,
            "function f(%0: int, %1: int, %2: bool) -> int {
               %3 = add.int %0 %1
               %4 = add.int %1 %0
               %5 = divide.int %3 %1
               %6 = divide.int %4 %1
               %7 = constants char \"ab\"
               %11 = if %2 {
                 %8 = constants char \"ab\"
                 %9 = length %8
                 %10 = length %7
                 yield %10
               } else { yield %6 }
               return %11
             }",
            "function f(%0: int, %1: int, %2: bool) -> int unused %4: int, %6: int, %8: column char, %10: int {
               %3 = add.int %0 %1
               %5 = divide.int %3 %1
               %7 = constants char \"ab\"
               %11 = if %2 {
                 %9 = length %7
                 yield %9
               } else { yield %5 }
               return %11
             }",
        );
    }

    #[test]
    fn what_reads_only_lengths_is_equal_for_descriptors_of_equal_lengths() {
        becomes(
            run,
            "function f(%0: descriptor, %1: column int, %2: column int, %3: column int) -> \
               column int, column int, int, int, column int, column int, descriptor {
               %4 = lengths %0
               %5 = packed %4
               %6 = seg_dist %1 %0
               %7 = seg_dist %1 %5
               %8 = total %5
               %9 = total %0
               %10 = view %2 %3
               %11 = packed %3
               %12 = seg_iota %10
               %13 = seg_iota %11
               return %6 %7 %8 %9 %12 %13 %11
             }",
            "function f(%0: descriptor, %1: column int, %2: column int, %3: column int) -> \
               column int, column int, int, int, column int, column int, descriptor \
               unused %7: column int, %9: int, %13: column int {
               %4 = lengths %0
               %5 = packed %4
               %6 = seg_dist %1 %0
               %8 = total %5
               %10 = view %2 %3
               %11 = packed %3
               %12 = seg_iota %10
               return %6 %6 %8 %8 %12 %12 %11
             }",
        );
        stays(
            run,
            "function f(%0: descriptor, %1: column int, %2: column int) -> \
               column int, column int, column int, column int, column int, column int {
               %3 = lengths %0
               %4 = packed %3
               %5 = starts %0
               %6 = starts %4
               %7 = seg_reduce.add.int %1 %0
               %8 = seg_reduce.add.int %1 %4
               %9 = packed %2
               %10 = seg_iota %0
               %11 = seg_iota %9
               return %5 %6 %7 %8 %10 %11
             }",
        );
    }

    #[test]
    fn what_a_filter_keeps_was_computed_before_it() {
        becomes(
            run,
            "function f(%0: column float, %1: column int, %2: int, %3: column int) -> column float, column int {
               %4 = map check_index %1 %2
               %5 = gather %0 %4
               %6 = map greater.float %5 0.0
               %7 = pack %1 %6
               %8 = map check_index %7 %2
               %9 = gather %0 %8
               %10 = pack %3 %6
               %11 = map add.int %7 %10
               return %9 %11
             }",
            "function f(%0: column float, %1: column int, %2: int, %3: column int) -> column float, column int {
               %4 = map check_index %1 %2
               %5 = gather %0 %4
               %6 = map greater.float %5 0.0
               %7 = pack %1 %6
               %8 = pack %4 %6
               %9 = pack %5 %6
               %10 = pack %3 %6
               %11 = map add.int %7 %10
               return %9 %11
             }",
        );
        stays(
            run,
            "function f(%0: column int, %1: column bool, %2: column bool, %3: bool) -> column int, column int {
               %4 = map add.int %0 %0
               %5 = pack %0 %1
               %6 = pack %0 %2
               %7 = map multiply.int %5 %6
               %10 = if %3 {
                 %8 = map add.int %5 %5
                 yield %8
               } else {
                 %9 = map subtract.int %5 %5
                 yield %9
               }
               return %7 %10
             }",
        );
    }

    #[test]
    fn different_ones_calls_and_those_of_other_blocks_stay() {
        stays(
            run,
            "function f(%0: int, %1: int, %2: bool, %3: column int) -> int {
               %4 = subtract.int %0 %1
               %5 = subtract.int %1 %0
               %6 = map add.int %3 %4
               %7 = map add.int %3 %5
               %8 = constants int [0]
               %9 = constants float [0.0]
               %10 = constants float [-0.0]
               %11 = call f %0 %1 %2 %3
               %12 = call f %0 %1 %2 %3
               %15 = if %2 {
                 %13 = add.int %0 1
                 yield %13
               } else {
                 %14 = add.int %0 1
                 yield %14
               }
               %16 = add.int %0 1
               return %16
             }",
        );
    }
}

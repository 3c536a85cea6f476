//! What code does where there is nothing: whether the lifted version of a function, run for no instances, makes empty
//! results and costs next to nothing. Then an `each` of it needs no guard when its body takes its place.
//!
//! An instruction is harmless if the operand that says how many elements it works on ([`VectorOp::elements`]) is empty,
//! or 0. What works on a column that all instances share is not: `{sum(a) : x in v}` must not read `a` where `v` is
//! empty.

use crate::each::Each;
use crate::layout::Take;
use crate::op::{Elements, Fusion, Kind, VectorOp};
use crate::program::{Function, Instruction, Op, Operand, RegisterType};
use nesl_prim::ScalarValue;

/// Whether the lifted function of an `each` may run for no instances; it has no effect.
pub(super) fn runs_on_nothing(lifted: &Function, each: &Each) -> bool {
    let plan = each.plan();
    // What a descriptor of no segments points into need not be empty.
    let operands = plan.operands.iter().map(|taken| taken.take == Take::Element);
    let mut nothing = Nothing { function: lifted, empty: vec![false; lifted.registers.len()] };
    for (parameter, is_empty) in lifted.parameters.iter().zip(std::iter::once(true).chain(operands)) {
        nothing.empty[parameter.0 as usize] = is_empty;
    }
    let body = &lifted.body;
    body.instructions.iter().all(|instruction| nothing.instruction(instruction))
        && body
            .results
            .iter()
            .zip(&plan.results)
            .all(|(&result, field)| field.parent.is_some() || nothing.is_empty(result))
}

/// Registers that are empty columns, descriptors of no segments, or 0.
struct Nothing<'a> {
    function: &'a Function,
    empty: Vec<bool>,
}

impl Nothing<'_> {
    fn is_empty(&self, operand: Operand) -> bool {
        match operand {
            Operand::Register(register) => self.empty[register.0 as usize],
            Operand::Constant(value) => value == ScalarValue::Int(0),
        }
    }

    /// Whether an instruction is harmless; notes whether its result is empty.
    fn instruction(&mut self, instruction: &Instruction) -> bool {
        let operands = &instruction.operands;
        let (is_harmless, is_empty) = match &instruction.op {
            Op::Scalar(_) => (true, false),
            Op::Map(_) => {
                let is_column = |operand| matches!(self.function.operand_type(operand), RegisterType::Column(_));
                let any = operands.iter().any(|&operand| is_column(operand) && self.is_empty(operand));
                (any, any)
            }
            Op::Constants(constants) => (true, constants.is_empty()),
            Op::Vector(op) => self.vector(*op, operands),
            Op::Host(_) | Op::Call(_) | Op::Each(_) | Op::Fused(_) | Op::If(..) => (false, false),
        };
        for result in &instruction.results {
            self.empty[result.0 as usize] = is_empty;
        }
        is_harmless
    }

    fn vector(&self, op: VectorOp, operands: &[Operand]) -> (bool, bool) {
        let all_empty = |positions: &[usize]| positions.iter().all(|&position| self.is_empty(operands[position]));
        match (op.elements(), op.row().result) {
            // What gives a number of elements costs nothing of something either.
            (Elements::Unknown, _) => match op.fusion() {
                Fusion::End(positions) => (all_empty(positions), false),
                _ => (false, false),
            },
            (elements, Kind::Scalar(_)) => (true, self.none(elements, operands)),
            (elements, _) => {
                let is_empty = self.none(elements, operands);
                (is_empty, is_empty)
            }
        }
    }

    /// Whether a number of elements is 0 because what it is a number of is empty.
    fn none(&self, elements: Elements, operands: &[Operand]) -> bool {
        match elements {
            Elements::Value(position)
            | Elements::Column(position)
            | Elements::Trues(position)
            | Elements::Segments(position)
            | Elements::Total(position)
            | Elements::Texts(position) => self.is_empty(operands[position]),
            Elements::Each | Elements::All => operands.iter().all(|&operand| self.is_empty(operand)),
            Elements::Sum(parts) => parts.iter().all(|&part| self.none(part, operands)),
            Elements::Operands | Elements::Unknown => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse;

    /// Whether the first function of a program may run on nothing in the `each` of the second.
    fn may_run(lifted: &str, each: &str, operands: &str) -> bool {
        let text = format!("{lifted}\nfunction g({operands}) {{\n{each}\nreturn }}");
        let program = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let Op::Each(each) = &program.functions[1].body.instructions[0].op else { panic!("no each first") };
        runs_on_nothing(&program.functions[0], each)
    }

    #[test]
    fn what_works_on_elements_of_instances_does_nothing_without_them() {
        let lifted =
            "function f(%0: int, %1: descriptor, %2: column int, %3: int) -> column int, descriptor, column int {
               %4 = compact %2 %1
               %5 = lengths %1
               %6 = packed %5
               %7 = map add.int %4 %3
               %8 = seg_reduce.add.int %7 %6
               %9 = dist 1 %0
               %10 = map add.int %8 %9
               return %10 %1 %2
             }";
        let each = "%4, %5, %6 = each f f(of [int], int) -> int, [int] %0 %1 %2 %3";
        assert!(may_run(lifted, each, "%0: int, %1: descriptor, %2: column int, %3: int"));
    }

    #[test]
    fn what_all_instances_share_is_not_read_for_none() {
        let lifted = |body: &str| {
            format!("function f(%0: int, %1: column int, %2: int, %3: column int) -> column int {{\n{body}\n}}")
        };
        let may = |body: &str| {
            let each = "%4 = each f f(of int, [int]) -> int %0 %1 %2 %3";
            may_run(&lifted(body), each, "%0: int, %1: column int, %2: int, %3: column int")
        };
        assert!(may("%4 = gather %3 %1\nreturn %4"));
        assert!(!may("%4 = reduce.add.int %3\n%5 = map add.int %1 %4\nreturn %5"));
        assert!(!may("%4 = map add.int %3 %0\nreturn %1"));
        assert!(!may("%4 = iota %2\nreturn %1"));
        assert!(!may("return %3"));
    }
}

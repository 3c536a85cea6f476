//! What code does where there is nothing: whether the lifted version of a function, run for no instances, makes empty
//! results, cannot fail, and costs next to nothing. Then an `each` of it needs no guard when its body takes its place.
//!
//! An instruction is harmless if the operand that says how many elements it works on ([`VectorOp::elements`]) is empty,
//! or 0. What works on a column that all instances share is not: `{sum(a) : x in v}` must not read `a` where `v` is
//! empty; nor is what may fail on what they share, in `{x + 1 / n : x in v}`. Flags that there are none of count to 0,
//! which is what branches of varying conditions ask for before they do anything.

use crate::each::Each;
use crate::layout::Take;
use crate::op::{Class, Elements, Fusion, Kind, VectorOp};
use crate::passes::{effect, fold};
use crate::program::{Block, Function, Instruction, Op, Operand, RegisterType};
use nesl_prim::ScalarValue;

/// Whether the lifted function of an `each` may run for no instances: one that runs no others, and does nothing
/// outside.
pub(super) fn runs_on_nothing(lifted: &Function, each: &Each) -> bool {
    let plan = each.plan();
    // What a descriptor of no segments points into need not be empty.
    let operands = plan.operands.iter().map(|taken| taken.take == Take::Element);
    let mut nothing = Nothing { function: lifted, known: vec![Known::Nothing; lifted.registers.len()] };
    for (parameter, is_empty) in lifted.parameters.iter().zip(std::iter::once(true).chain(operands)) {
        nothing.known[parameter.0 as usize] = match (is_empty, lifted.register_type(*parameter)) {
            (false, _) => Known::Nothing,
            (true, RegisterType::Scalar(_)) => Known::Value(ScalarValue::Int(0)),
            (true, _) => Known::Empty,
        };
    }
    let is_empty = |nothing: &Nothing<'_>| {
        let mut results = lifted.body.results.iter().zip(&plan.results);
        results.all(|(&result, field)| field.parent.is_some() || nothing.is_empty(result))
    };
    nothing.block(&lifted.body).is_some() && is_empty(&nothing)
}

/// What is known of a register.
#[derive(Clone, Copy, PartialEq)]
enum Known {
    Nothing,
    /// A column without elements, a descriptor without segments.
    Empty,
    /// This scalar.
    Value(ScalarValue),
}

/// What is known of the registers of a function that runs for no instances.
struct Nothing<'a> {
    function: &'a Function,
    known: Vec<Known>,
}

impl Nothing<'_> {
    fn known(&self, operand: Operand) -> Known {
        match operand {
            Operand::Register(register) => self.known[register.0 as usize],
            Operand::Constant(value) => Known::Value(value),
        }
    }

    fn is_empty(&self, operand: Operand) -> bool {
        matches!(self.known(operand), Known::Empty | Known::Value(ScalarValue::Int(0)))
    }

    /// What is known of the results of a block; none if something in it is not harmless.
    fn block(&mut self, block: &Block) -> Option<Vec<Known>> {
        for instruction in &block.instructions {
            let results = self.instruction(instruction)?;
            for (result, known) in instruction.results.iter().zip(results) {
                self.known[result.0 as usize] = known;
            }
        }
        Some(block.results.iter().map(|&result| self.known(result)).collect())
    }

    /// What is known of the results of an instruction; none if it is not harmless.
    fn instruction(&mut self, instruction: &Instruction) -> Option<Vec<Known>> {
        let operands = &instruction.operands;
        let result = match &instruction.op {
            Op::Scalar(op) => {
                let operands: Vec<Operand> = operands.iter().map(|&operand| self.constant(operand)).collect();
                match fold::evaluate(*op, &operands) {
                    Some(value) => self.known(value),
                    None if effect::has_effect(&instruction.op, &operands) => return None,
                    None => Known::Nothing,
                }
            }
            Op::Map(_) => {
                let is_column = |operand| matches!(self.function.operand_type(operand), RegisterType::Column(_));
                let any = operands.iter().any(|&operand| is_column(operand) && self.is_empty(operand));
                any.then_some(Known::Empty)?
            }
            Op::Constants(constants) if constants.is_empty() => Known::Empty,
            Op::Constants(_) => Known::Nothing,
            Op::Vector(op) => self.vector(*op, operands)?,
            Op::If(then_block, else_block) => return self.branches(operands[0], then_block, else_block),
            // It runs nothing and gives nothing.
            Op::Each(_) if self.is_empty(operands[0]) => return Some(vec![Known::Empty; instruction.results.len()]),
            Op::Host(_) | Op::Call(_) | Op::Each(_) | Op::Fused(_) => return None,
        };
        Some(vec![result])
    }

    /// An operand as the constant that it is known to be.
    fn constant(&self, operand: Operand) -> Operand {
        match self.known(operand) {
            Known::Value(value) => Operand::Constant(value),
            Known::Nothing | Known::Empty => operand,
        }
    }

    fn branches(&mut self, condition: Operand, then_block: &Block, else_block: &Block) -> Option<Vec<Known>> {
        if let Known::Value(ScalarValue::Bool(condition)) = self.known(condition) {
            return self.block(if condition { then_block } else { else_block });
        }
        let (first, second) = (self.block(then_block)?, self.block(else_block)?);
        let both = |(first, second)| if first == second { first } else { Known::Nothing };
        Some(first.into_iter().zip(second).map(both).collect())
    }

    fn vector(&self, op: VectorOp, operands: &[Operand]) -> Option<Known> {
        let all_empty = |positions: &[usize]| positions.iter().all(|&position| self.is_empty(operands[position]));
        match (op.elements(), op.row().result) {
            // What gives a number of elements costs nothing of something either.
            (Elements::Unknown, _) => match op.fusion() {
                Fusion::End(positions) if all_empty(positions) => {
                    let identity = op.operator_in(Class::Reduce).and_then(|op| op.row().identity);
                    // Of floats and of what a type has at its ends nothing is asked.
                    let is_zero = identity == Some(ScalarValue::Int(0));
                    Some(if is_zero { Known::Value(ScalarValue::Int(0)) } else { Known::Nothing })
                }
                _ => None,
            },
            (elements, Kind::Scalar(_)) => {
                let is_zero = self.none(elements, operands);
                Some(if is_zero { Known::Value(ScalarValue::Int(0)) } else { Known::Nothing })
            }
            (elements, _) => self.none(elements, operands).then_some(Known::Empty),
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
    fn branches_that_nobody_takes_do_nothing_and_what_may_fail_for_all_is_asked_for_none() {
        let may = |body: &str| {
            let lifted = format!("function f(%0: int, %1: column int, %2: int) -> column int {{\n{body}\n}}");
            may_run(&lifted, "%3 = each f f(of int, int) -> int %0 %1 %2", "%0: int, %1: column int, %2: int")
        };
        let branches = "%3 = map less.int %1 %2
             %4 = map bool_to_int %3
             %5 = reduce.add.int %4
             %6 = equal.int %5 0
             %9 = if %6 {
               %7 = constants int []
               yield %7
             } else {
               %8 = divide.int 1 %2
               %10 = pack %1 %3
               %11 = map multiply.int %10 %8
               yield %11
             }";
        assert!(may(&format!("{branches}\nreturn %9")));
        assert!(!may(&format!("{}\nreturn %9", branches.replace("equal.int %5 0", "less.int 0 %5"))));
        assert!(!may("%3 = divide.int 1 %2\n%4 = map add.int %1 %3\nreturn %4"));
        assert!(!may("%3 = check_length %2\n%4 = dist 0 %0\nreturn %4"));
        assert!(may("%3 = divide.int %2 2\n%4 = map divide.int %3 %1\nreturn %4"));
        assert!(may(
            "%3 = less.int %2 1\n%5 = if %3 { yield %1 } else {\n%4 = map negate.int %1\nyield %4\n}\nreturn %5"
        ));
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

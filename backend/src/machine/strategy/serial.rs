//! Which functions have nothing in them that could be done at once: each instruction looks at, or changes, a few
//! elements, however long columns are. Such a recursion is a loop over single elements, which the machine's lines make
//! slow and vector instructions cannot make fast. A loop that appends to a column which nobody else reads is one, too:
//! that costs what it adds.

use nesl_vcode::alias::{self, Summaries, Updates};
use nesl_vcode::tail::Steps;
use nesl_vcode::{Block, Function, FunctionId, Instruction, Op, Operand, Program, Register, RegisterType, VectorOp};
use std::collections::HashSet;

/// Columns of so many elements are a few.
const FEW: usize = 16;

/// Whether a function, and whatever it calls, is like that.
pub(in crate::machine) fn is_serial(
    program: &Program,
    (steps, summaries): (&Steps, &Summaries),
    function: FunctionId,
) -> bool {
    let of_function = |id: FunctionId| &program.functions[id.0 as usize];
    let mut walk =
        Walk { reached: vec![function], seen: HashSet::from([function]), few: HashSet::new(), loop_updates: None };
    let mut next = 0;
    // The functions of one loop are asked about once.
    let mut last_loop = (HashSet::new(), false);
    while let Some(&id) = walk.reached.get(next) {
        next += 1;
        walk.few.clear();
        let function = of_function(id);
        let loop_functions = steps.reached(program, id);
        if loop_functions != last_loop.0 {
            let is_own = !loop_functions.is_empty() && !alias::passes_one_twice(program, &loop_functions, summaries);
            last_loop = (loop_functions, is_own);
        }
        walk.loop_updates = last_loop.1.then(|| Updates::of(function, summaries));
        if !walk.block(&function.body, function) {
            return false;
        }
    }
    true
}

/// The loop that a function enters, if it calls no other function and is none itself: what it does before and after is
/// done once, however many turns there are. A pass makes such of loops that carry something in another way
/// ([`rows`](nesl_vcode::pipeline::SERIAL_PASSES)).
pub(in crate::machine) fn entered(program: &Program, steps: &Steps, function: FunctionId) -> Option<FunctionId> {
    let mut called = HashSet::new();
    let mut calls_alone = true;
    program.functions[function.0 as usize].body.visit(&mut |instruction| match &instruction.op {
        Op::Call(callee) => _ = called.insert(*callee),
        Op::Each(_) | Op::Host(_) => calls_alone = false,
        _ => {}
    });
    let mut called = called.into_iter().filter(|_| calls_alone);
    let entered = called.next().filter(|_| called.next().is_none())?;
    (entered != function && steps.reached(program, entered).contains(&entered)).then_some(entered)
}

struct Walk {
    reached: Vec<FunctionId>,
    seen: HashSet<FunctionId>,
    /// The columns of a few elements.
    few: HashSet<Register>,
    /// What the function may write over, where it is a loop.
    loop_updates: Option<Updates>,
}

impl Walk {
    fn block(&mut self, block: &Block, function: &Function) -> bool {
        block.instructions.iter().all(|instruction| self.instruction(instruction, function))
    }

    fn instruction(&mut self, instruction: &Instruction, function: &Function) -> bool {
        let operands = &instruction.operands;
        // All that an instruction goes over, those operands apart that it only looks into.
        let goes_over =
            |walk: &Walk, operands: &[Operand]| operands.iter().all(|&operand| walk.is_few(operand, function));
        let is_so = match &instruction.op {
            Op::Scalar(_) => return true,
            Op::If(then_block, else_block) => {
                return self.block(then_block, function) && self.block(else_block, function);
            }
            Op::Call(callee) => {
                if self.seen.insert(*callee) {
                    self.reached.push(*callee);
                }
                return true;
            }
            Op::Fused(block) => {
                let is_so = self.block(block, function);
                for (&result, &yielded) in instruction.results.iter().zip(&block.results) {
                    if self.is_few(yielded, function) {
                        self.few.insert(result);
                    }
                }
                return is_so;
            }
            Op::Constants(constants) => constants.len() <= FEW,
            Op::Vector(VectorOp::Build) => operands.len() <= FEW,
            Op::Vector(VectorOp::Gather) => goes_over(self, &operands[1..]),
            // What it gives is as long as what it writes to.
            Op::Vector(VectorOp::Scatter) => return goes_over(self, &operands[1..]),
            Op::Vector(op) if op.row().extends && !goes_over(self, operands) => {
                // A column that nobody else reads is written behind; any other is copied in each turn.
                let is_in_place = self.loop_updates.as_ref().is_some_and(|own| own.may_append(instruction));
                return is_in_place && !self.is_few(operands[0], function);
            }
            Op::Vector(op) if op.row().extends => true,
            Op::Vector(VectorOp::Length | VectorOp::Extract | VectorOp::Slice | VectorOp::View) => return true,
            Op::Vector(VectorOp::Starts | VectorOp::Lengths | VectorOp::Segments) => return true,
            Op::Map(_) | Op::Vector(VectorOp::Reduce(_) | VectorOp::ReduceIndex(_)) => goes_over(self, operands),
            Op::Vector(_) | Op::Each(_) | Op::Host(_) => false,
        };
        if is_so {
            self.few.extend(&instruction.results);
        }
        is_so
    }

    fn is_few(&self, operand: Operand, function: &Function) -> bool {
        match operand {
            Operand::Constant(_) => true,
            Operand::Register(register) => {
                matches!(function.register_type(register), RegisterType::Scalar(_)) || self.few.contains(&register)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(body: &str) -> bool {
        let text = format!("function f(%0: int, %1: column int) -> int {{\n{}\n}}", body.replace("; ", "\n"));
        let program = nesl_vcode::parse(&text).unwrap_or_else(|error| panic!("{text}\n{error}"));
        is_serial(&program, (&Steps::of(&program), &Summaries::of(&program)), FunctionId(0))
    }

    #[test]
    fn single_elements_are_read_and_changed() {
        assert!(of("%2 = extract %1 %0; return %2"));
        assert!(of("%2 = slice %1 0 1; %3 = extract %2 0; return %3"));
        assert!(of("%2 = build %0 1; %3 = map add.int %2 1; %4 = reduce.add.int %3; return %4"));
        let update = "%2 = build %0; %3 = length %1
            %6 = fused {; %4 = map check_index %2 %3; %5 = scatter %1 %4 %2; yield %5; }";
        assert!(of(&format!("{update}; %7 = extract %6 0; return %7")));
        assert!(of(&format!("{update}; %7 = call f 1 %6; return %7")));
    }

    #[test]
    fn loops_append_to_what_nobody_else_reads() {
        assert!(of("%2 = build %0; %3 = concat %1 %2; %4 = call f %0 %3; return %4"));
        // As a stack, and at the end of what is carried without a change.
        assert!(of("%2 = slice %1 0 %0; %3 = build %0; %4 = concat %2 %3; %5 = call f %0 %4; return %5"));
        assert!(!of("%2 = build %0; %3 = slice %1 1 %0; %4 = concat %3 %3 %2; %5 = call f %0 %4; return %5"));
        // What is put in front moves all the rest, and what somebody reads must stay.
        assert!(!of("%2 = build %0; %3 = concat %2 %1; %4 = call f %0 %3; return %4"));
        assert!(!of("%2 = build %0; %3 = concat %1 %2; %4 = extract %1 0; %5 = call f %4 %3; return %5"));
    }

    #[test]
    fn loops_that_append_rows_are_entered() {
        let text = "function f(%0: int, %1: descriptor, %2: column int) -> descriptor, column int {
            %3 = equal.int %0 0
            %14, %15 = if %3 { yield %1 %2 } else {
              %4 = subtract.int %0 1
              %5 = lengths %1
              %6 = build 1
              %7 = build %0
              %8 = compact %2 %1
              %9 = concat %5 %6
              %10 = concat %8 %7
              %11 = packed %9
              %12, %13 = call f %4 %11 %10
              yield %12 %13
            }
            return %14 %15
          }";
        let program = nesl_vcode::parse(text).unwrap_or_else(|error| panic!("{text}\n{error}"));
        let serial = nesl_vcode::pipeline::serial(&program, &nesl_vcode::Options::default())
            .unwrap_or_else(|error| panic!("{error}"));
        let is_serial = |program, id| is_serial(program, (&Steps::of(program), &Summaries::of(program)), id);
        let entered = |program: &Program| entered(program, &Steps::of(program), FunctionId(0));
        assert!(!is_serial(&program, FunctionId(0)) && entered(&program).is_none());
        let entered = entered(&serial);
        assert!(entered.is_some_and(|entered| is_serial(&serial, entered)), "{serial}");
    }

    #[test]
    fn what_goes_over_columns_is_for_vector_instructions() {
        for body in [
            "%2 = map add.int %1 1; %3 = extract %2 0; return %3",
            "%2 = reduce.add.int %1; return %2",
            "%2 = iota %0; %3 = extract %2 0; return %3",
            "%2 = gather %1 %1; %3 = extract %2 0; return %3",
            "%2 = scatter %1 %1 %1; %3 = extract %2 0; return %3",
            "%2 = build %0; %3 = concat %1 %2; %4 = extract %3 0; return %4",
            // As long as what it was made from.
            "%2 = build %0; %3 = scatter %1 %2 %2; %4 = reduce.add.int %3; return %4",
        ] {
            assert!(!of(body), "{body}");
        }
    }
}

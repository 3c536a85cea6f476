//! Calls of functions that are not recursive become their bodies.
//!
//! What is known of the arguments, a constant, a length, a broadcast, is then known to the passes in the body too, and
//! its instructions stand beside those of the caller, for one loop. Functions are walked callees first, so that a body
//! has its own calls inlined before it is. How large what is inlined may be, [`choice`] says.
//!
//! An `each` becomes the body of its lifted version where that runs no functions, does nothing outside, and needs no
//! more room than instances one after another ([`extent`]): it is then what flattening would have made of the body
//! written in place. It is guarded against running without instances unless that would do nothing ([`empty`]).
//!
//! What is called right behind a clock is not inlined: that is how an expression is timed.
//!
//! An instruction that leaves its function for another keeps its place, and with it the call that is gone
//! ([`Program::chain`]): so a failure is shown, and time is charged, as if it had been called.

mod body;
mod choice;
mod empty;
mod extent;
mod sites;

pub(crate) use body::Body;
pub(crate) use sites::Sites;

use crate::each::Each;
use crate::passes::expand_each;
use crate::program::{Block, Function, FunctionId, Instruction, Op, Operand, Program, Register, RegisterType};
use choice::Choice;
use nesl_prim::HostOp;

/// Inlines calls in all functions.
pub fn run(program: &mut Program) {
    let mut choice = Choice::new(program);
    let mut table = std::mem::take(&mut program.sites);
    let mut gone = Sites::new(&mut table);
    for id in choice::callees_first(program) {
        let function = &mut program.functions[id.0 as usize];
        let body = std::mem::take(&mut function.body);
        let registers = std::mem::take(&mut function.registers);
        let names = vec![None; registers.len()];
        let (functions, sites) = (&program.functions, &mut gone);
        let mut caller = Caller { functions, choice: &mut choice, registers, names, sites };
        let body = caller.block(body);
        let registers = caller.registers;
        let function = &mut program.functions[id.0 as usize];
        (function.body, function.registers) = (body, registers);
        choice.know(id, function, gone.deepest(&function.body) < sites::DEEPEST);
    }
    program.sites = table;
}

/// Whether what comes next is timed: a call right behind a clock stays one, so that all it does is done there.
pub(super) fn is_timed(before: &[Instruction]) -> bool {
    matches!(before.last().map(|instruction| &instruction.op), Some(Op::Host(HostOp::Clock)))
}

/// A function whose calls are being inlined.
struct Caller<'a, 's> {
    functions: &'a [Function],
    choice: &'a mut Choice,
    /// Its registers, and those of the bodies that it got.
    registers: Vec<RegisterType>,
    /// What the results of calls that are gone are now.
    names: Vec<Option<Operand>>,
    /// The calls that are gone.
    sites: &'a mut Sites<'s>,
}

impl Caller<'_, '_> {
    fn block(&mut self, block: Block) -> Block {
        let mut instructions = Vec::with_capacity(block.instructions.len());
        for mut instruction in block.instructions {
            self.rename(&mut instruction.operands);
            match &mut instruction.op {
                Op::Call(callee) if !is_timed(&instructions) && self.choice.takes(*callee) => {
                    let callee = *callee;
                    let values = self.inline(callee, &instruction, &mut instructions);
                    self.replace(&instruction.results, values);
                    continue;
                }
                Op::Each(each) if self.choice.takes_lifted(each) => {
                    let each = each.clone();
                    self.inline_each(&each, instruction, &mut instructions);
                    continue;
                }
                Op::If(then_block, else_block) => {
                    for block in [then_block, else_block] {
                        **block = self.block(std::mem::take(&mut **block));
                    }
                }
                Op::Fused(block) => **block = self.block(std::mem::take(&mut **block)),
                _ => {}
            }
            instructions.push(instruction);
        }
        let mut results = block.results;
        self.rename(&mut results);
        Block::new(instructions, results)
    }

    fn rename(&self, operands: &mut [Operand]) {
        for operand in operands {
            if let Operand::Register(register) = *operand
                && let Some(value) = self.names[register.0 as usize]
            {
                *operand = value;
            }
        }
    }

    /// Puts the body of a function where it is called; what its results are there.
    fn inline(&mut self, callee: FunctionId, call: &Instruction, output: &mut Vec<Instruction>) -> Vec<Operand> {
        let callee = &self.functions[callee.0 as usize];
        let body = Body::at(call, callee, &mut self.registers, self.sites);
        output.extend(callee.body.instructions.iter().map(|instruction| body.instruction(instruction)));
        callee.body.results.iter().map(|&value| body.value(value)).collect()
    }

    /// Lets later uses of the results of an instruction be uses of these values.
    fn replace(&mut self, results: &[Register], values: Vec<Operand>) {
        for (result, value) in results.iter().zip(values) {
            self.names[result.0 as usize] = Some(value);
        }
    }

    /// Puts the body of the lifted function of an `each` in its place; under a guard where it must not run without
    /// instances.
    fn inline_each(&mut self, each: &Each, instruction: Instruction, output: &mut Vec<Instruction>) {
        if empty::runs_on_nothing(&self.functions[each.lifted.0 as usize], each) {
            let values = self.inline(each.lifted, &instruction, output);
            return self.replace(&instruction.results, values);
        }
        let mut instructions = Vec::new();
        let results = self.inline(each.lifted, &instruction, &mut instructions);
        let some = Block::new(instructions, results);
        let Instruction { operands, results, place, .. } = instruction;
        output.extend(expand_each::guarded(&mut self.registers, operands[0], each, some, results, place));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse;
    use crate::passes::testing::{becomes, stays};

    #[test]
    fn bodies_replace_calls_from_the_inside_out() {
        becomes(
            run,
            "function top(%0: int, %1: column float) -> column float, int, int {
               %2, %3, %4 = call scale %0 %1
               %5 = add.int %3 %4
               return %2 %5 %4
             }
             function scale(%0: int, %1: column float) -> column float, int, int {
               %2 = call half %0
               %3 = map multiply.float %1 %2
               return %3 %0 7
             }
             function half(%0: int) -> float {
               %1 = int_to_float %0
               %2 = divide.float %1 2.0
               return %2
             }",
            "function top(%0: int, %1: column float) -> column float, int, int \
               unused %2: column float, %3: int, %4: int, %6: int, %7: column float, %8: float, %10: int {
               %11 = int_to_float %0
               %12 = divide.float %11 2.0
               %9 = map multiply.float %1 %12
               %5 = add.int %0 7
               return %9 %5 7
             }
             function scale(%0: int, %1: column float) -> column float, int, int unused %2: float, %4: int {
               %5 = int_to_float %0
               %6 = divide.float %5 2.0
               %3 = map multiply.float %1 %6
               return %3 %0 7
             }
             function half(%0: int) -> float {
               %1 = int_to_float %0
               %2 = divide.float %1 2.0
               return %2
             }",
        );
    }

    #[test]
    fn calls_in_blocks_and_bodies_with_blocks() {
        becomes(
            run,
            "function top(%0: int, %1: bool) -> int {
               %3 = if %1 {
                 %2 = call size %0
                 yield %2
               } else { yield 0 }
               return %3
             }
             function size(%0: int) -> int {
               %1 = less.int %0 0
               %3 = if %1 {
                 %2 = negate.int %0
                 yield %2
               } else { yield %0 }
               return %3
             }",
            "function top(%0: int, %1: bool) -> int unused %2: int, %4: int {
               %3 = if %1 {
                 %5 = less.int %0 0
                 %7 = if %5 {
                   %6 = negate.int %0
                   yield %6
                 } else { yield %0 }
                 yield %7
               } else { yield 0 }
               return %3
             }
             function size(%0: int) -> int {
               %1 = less.int %0 0
               %3 = if %1 {
                 %2 = negate.int %0
                 yield %2
               } else { yield %0 }
               return %3
             }",
        );
    }

    #[test]
    fn what_fails_acts_outside_or_calls_on_is_inlined_and_recursion_is_not() {
        let functions = "function even(%0: int) -> int {
               %1 = call odd %0
               return %1
             }
             function odd(%0: int) -> int {
               %1 = call even %0
               return %1
             }
             function quotient(%0: int) -> int {
               %1 = divide.int 7 %0
               return %1
             }
             function say(%0: column char) -> int {
               host.print %0
               %1 = call odd 1
               return %1
             }";
        becomes(
            run,
            &format!(
                "function top(%0: int, %1: column char) -> int, int, int {{
                   %2 = call even %0
                   %3 = call quotient %0
                   %4 = call say %1
                   return %2 %3 %4
                 }}
                 {functions}"
            ),
            &format!(
                "function top(%0: int, %1: column char) -> int, int, int \
                   unused %3: int, %4: int, %5: int, %7: column char {{
                   %2 = call even %0
                   %6 = divide.int 7 %0
                   host.print %1
                   %8 = call odd 1
                   return %2 %6 %8
                 }}
                 {functions}"
            ),
        );
    }

    #[test]
    fn only_what_is_called_once_may_be_large() {
        let body: String = (1..=choice::SMALL + 1).map(|number| format!("%{number} = add.int %0 {number}\n")).collect();
        let large = format!("function large(%0: int) -> int {{\n{body}return %1\n}}\n");
        let calls = |count: usize| -> String {
            let calls: String = (1..=count).map(|number| format!("%{number} = call large %0\n")).collect();
            format!("function top(%0: int) -> int {{\n{calls}return %1\n}}\n{large}")
        };
        stays(run, &calls(2));
        let mut program = parse(&calls(1)).unwrap();
        run(&mut program);
        assert_eq!(program.functions[0].body.instructions.len(), choice::SMALL + 1);
    }

    const SHARED: &str = "function f(%0: int, %1: column int) -> int {
               %2 = reduce.add.int %1
               %3 = add.int %0 %2
               return %3
             }
             function f/LI(%0: int, %1: column int, %2: int, %3: column int) -> column int {
               %4 = reduce.add.int %3
               %5 = map add.int %1 %4
               return %5
             }";

    #[test]
    fn straight_lifted_code_takes_the_place_of_an_each() {
        let functions = "function f(%0: int) -> int {
               %1 = add.int %0 1
               return %1
             }
             function f/L(%0: int, %1: column int) -> column int {
               %2 = map add.int %1 1
               return %2
             }";
        becomes(
            run,
            &format!(
                "{functions}
                 function top(%0: int, %1: column int) -> column int {{
                   %2 = each f f/L(of int) -> int %0 %1
                   return %2
                 }}"
            ),
            &format!(
                "{functions}
                 function top(%0: int, %1: column int) -> column int unused %2: column int, %3: int, %4: column int {{
                   %5 = map add.int %1 1
                   return %5
                 }}"
            ),
        );
    }

    #[test]
    fn what_all_instances_share_is_read_under_a_guard() {
        becomes(
            run,
            &format!(
                "{SHARED}
                 function top(%0: int, %1: column int, %2: int, %3: column int) -> column int {{
                   %4 = each f f/LI(of int, [int]) -> int %0 %1 %2 %3
                   return %4
                 }}"
            )
            .replace("f(%0: int, %1: column int)", "f(%0: int, %4: int, %1: column int)"),
            &format!(
                "{SHARED}
                 function top(%0: int, %1: column int, %2: int, %3: column int) -> column int \
                   unused %5: int, %6: column int, %7: int, %8: column int {{
                   %11 = equal.int %0 0
                   %4 = if %11 {{
                     %12 = constants int []
                     yield %12
                   }} else {{
                     %9 = reduce.add.int %3
                     %10 = map add.int %1 %9
                     yield %10
                   }}
                   return %4
                 }}"
            )
            .replace("f(%0: int, %1: column int)", "f(%0: int, %4: int, %1: column int)"),
        );
    }

    #[test]
    fn branches_and_failures_take_the_place_of_an_each_but_for_those_of_scalars_alone() {
        let functions = "function g(%0: int, %2: int, %1: column int) -> int {
               return %0
             }
             function g/LI(%0: int, %1: column int, %7: int, %2: column int) -> column int {
               %3 = equal.int %0 1
               %5 = if %3 { yield %1 } else {
                 %4 = map check_index %1 7
                 %6 = gather %2 %4
                 yield %6
               }
               return %5
             }
             function h(%0: int) -> int {
               return %0
             }
             function h/L(%0: int, %1: column int) -> column int {
               %2 = equal.int %0 1
               %4 = if %2 { yield %1 } else {
                 %3 = map divide.int 1 %1
                 yield %3
               }
               return %4
             }";
        becomes(
            run,
            &format!(
                "{functions}
                 function top(%0: int, %1: column int, %2: column int) -> column int {{
                   %3 = each g g/LI(of int, [int]) -> int %0 %1 7 %2
                   %4 = each h h/L(of int) -> int %0 %3
                   return %4
                 }}"
            ),
            &format!(
                "{functions}
                 function top(%0: int, %1: column int, %2: column int) -> column int \
                   unused %3: column int, %5: int, %6: column int, %7: column int, %12: int {{
                   %8 = equal.int %0 1
                   %10 = if %8 {{ yield %1 }} else {{
                     %9 = map check_index %1 7
                     %11 = gather %2 %9
                     yield %11
                   }}
                   %4 = each h h/L(of int) -> int %0 %10
                   return %4
                 }}"
            ),
        );
    }

    #[test]
    fn an_each_that_runs_functions_stays() {
        stays(
            run,
            "function h(%0: int) -> int {
               %1 = call h %0
               return %1
             }
             function h/L(%0: int, %1: column int) -> column int {
               %2 = call h/L %0 %1
               return %2
             }
             function g(%0: int) -> int {
               %1 = call h %0
               return %1
             }
             function g/L(%0: int, %1: column int) -> column int {
               %2 = each h h/L(of int) -> int %0 %1
               return %2
             }
             function top(%0: int, %1: column int) -> column int {
               %2 = each g g/L(of int) -> int %0 %1
               return %2
             }",
        );
    }
}

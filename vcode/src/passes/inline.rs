//! Calls of small functions become their bodies.
//!
//! What is known of the arguments, a constant, a length, a broadcast, is then known to the passes in the body too, and
//! its instructions stand beside those of the caller. Functions are walked callees first, so that a body has its own
//! calls inlined before it is.
//!
//! Only functions without effect ([`effect`]) are inlined: that call nothing, do nothing outside, and fail for lack of
//! memory at most. An `each` of such a function becomes the body of its lifted version where that is straight code,
//! guarded against running without instances unless that would do nothing (`empty`). Recursion needs no rule: a
//! recursive function calls.
//!
//! What is called right behind a clock is not inlined: that is how an expression is timed.
//!
//! An instruction that leaves its function for another keeps its place, and with it the call that is gone
//! ([`Program::chain`]): so a failure is shown, and time is charged, as if it had been called.

mod empty;
mod sites;

pub(crate) use sites::Sites;

use crate::each::Each;
use crate::passes::{effect, expand_each};
use crate::program::{Block, Function, FunctionId, Instruction, Op, Operand, Program, Register, RegisterType};
use nesl_prim::HostOp;

/// How many instructions a function may have to be inlined wherever it is called. A call costs about as much as a few
/// instructions on scalars, and a body of this size is not much more than one with a handful of columns; the program
/// grows by so many instructions for each call at most. A function that is called from one place may be of any size:
/// its body moves, and nothing grows.
const SMALL: usize = 24;

/// Inlines calls in all functions.
pub fn run(program: &mut Program) {
    inline(program, true);
}

/// Inlines calls of functions that may fail, too: for code that need not say where. Lifted versions stay as they are.
pub fn run_anywhere(program: &mut Program) {
    inline(program, false);
}

fn inline(program: &mut Program, keeps_places: bool) {
    let mut calls_of = vec![0usize; program.functions.len()];
    for function in &mut program.functions {
        function.body.visit_functions(&mut |callee| calls_of[callee.0 as usize] += 1);
    }
    let mut inlined = vec![false; program.functions.len()];
    let mut table = std::mem::take(&mut program.sites);
    let mut gone = Sites::new(&mut table);
    for id in callees_first(program) {
        let index = id.0 as usize;
        let body = std::mem::take(&mut program.functions[index].body);
        let registers = std::mem::take(&mut program.functions[index].registers);
        let names = vec![None; registers.len()];
        let (functions, sites) = (&program.functions, &mut gone);
        let mut caller = Caller { functions, inlined: &inlined, lifts: keeps_places, registers, names, sites };
        let body = caller.block(body);
        let registers = caller.registers;
        let stays = if keeps_places { effect::block_has_effect(&body) } else { calls(&body) };
        let stays = stays || gone.deepest(&body) >= sites::DEEPEST;
        inlined[index] = (calls_of[index] == 1 || body.size() <= SMALL) && !stays;
        let function = &mut program.functions[index];
        (function.body, function.registers) = (body, registers);
    }
    program.sites = table;
}

/// All functions, each after those that it calls, but for recursion.
fn callees_first(program: &mut Program) -> Vec<FunctionId> {
    let count = program.functions.len();
    let mut callees = |id: FunctionId| {
        let mut callees = Vec::new();
        program.functions[id.0 as usize].body.visit_functions(&mut |callee| callees.push(*callee));
        callees
    };
    let mut seen = vec![false; count];
    let mut order = Vec::with_capacity(seen.len());
    for root in (0..seen.len()).filter_map(|index| u32::try_from(index).ok()).map(FunctionId) {
        if std::mem::replace(&mut seen[root.0 as usize], true) {
            continue;
        }
        // A stack of its own: chains of calls may be long.
        let mut path = vec![(root, callees(root))];
        while let Some((caller, waiting)) = path.last_mut() {
            match waiting.pop() {
                Some(callee) if std::mem::replace(&mut seen[callee.0 as usize], true) => {}
                Some(callee) => path.push((callee, callees(callee))),
                None => {
                    order.push(*caller);
                    path.pop();
                }
            }
        }
    }
    order
}

/// Whether a block calls a function, or acts outside.
fn calls(block: &Block) -> bool {
    block.instructions.iter().any(|instruction| match &instruction.op {
        Op::Call(_) | Op::Each(_) | Op::Host(_) => true,
        Op::If(then_block, else_block) => calls(then_block) || calls(else_block),
        _ => false,
    })
}

/// Whether what comes next is timed: a call right behind a clock stays one, so that all it does is done there.
fn is_timed(before: &[Instruction]) -> bool {
    matches!(before.last().map(|instruction| &instruction.op), Some(Op::Host(HostOp::Clock)))
}

/// A function whose calls are being inlined.
struct Caller<'a, 's> {
    functions: &'a [Function],
    /// Which functions are.
    inlined: &'a [bool],
    /// Whether an `each` of one becomes its lifted version.
    lifts: bool,
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
                Op::Call(callee) if self.inlined[callee.0 as usize] && !is_timed(&instructions) => {
                    let callee = *callee;
                    let values = self.inline(callee, &instruction, &mut instructions);
                    self.replace(&instruction.results, values);
                    continue;
                }
                Op::Each(each) if self.lifts && self.is_straight(each.lifted) => {
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

    /// Whether a function is inlined where it is the lifted one of an `each`, too: straight code is what vector
    /// instructions are good at, and nothing is lost by deciding for them here.
    fn is_straight(&self, lifted: FunctionId) -> bool {
        let instructions = &self.functions[lifted.0 as usize].body.instructions;
        let is_plain = |instruction: &Instruction| !matches!(instruction.op, Op::If(..));
        self.inlined[lifted.0 as usize] && instructions.len() <= SMALL && instructions.iter().all(is_plain)
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

/// The body of a callee as it is in its caller.
pub(super) struct Body {
    /// What each register of the callee is there.
    values: Vec<Operand>,
    /// The register that its first one is there.
    first: Register,
    /// What its places are there.
    places: sites::Inner,
}

impl Body {
    /// The body of a function where it is called: all its registers but the parameters become new ones of the caller.
    pub fn at(call: &Instruction, callee: &Function, registers: &mut Vec<RegisterType>, sites: &mut Sites<'_>) -> Body {
        let first = registers.len();
        registers.extend(&callee.registers);
        let number = |index| Register(u32::try_from(first + index).unwrap_or(u32::MAX));
        let mut values: Vec<Operand> = (0..callee.registers.len()).map(|index| number(index).into()).collect();
        for (parameter, &argument) in callee.parameters.iter().zip(&call.operands) {
            values[parameter.0 as usize] = argument;
        }
        Body { values, first: number(0), places: sites.of(call, callee) }
    }

    pub fn value(&self, operand: Operand) -> Operand {
        match operand {
            Operand::Register(register) => self.values[register.0 as usize],
            Operand::Constant(_) => operand,
        }
    }

    fn block(&self, block: &Block) -> Block {
        Block::new(
            block.instructions.iter().map(|instruction| self.instruction(instruction)).collect(),
            block.results.iter().map(|&result| self.value(result)).collect(),
        )
    }

    pub fn instruction(&self, instruction: &Instruction) -> Instruction {
        let op = match &instruction.op {
            Op::If(then_block, else_block) => {
                Op::If(Box::new(self.block(then_block)), Box::new(self.block(else_block)))
            }
            Op::Fused(block) => Op::Fused(Box::new(self.block(block))),
            op => op.clone(),
        };
        let operands = instruction.operands.iter().map(|&operand| self.value(operand)).collect();
        let results = instruction.results.iter().map(|result| Register(self.first.0 + result.0)).collect();
        Instruction::new(op, operands, results, self.places.place(instruction.place))
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
    fn recursion_what_can_fail_and_what_acts_outside_stay() {
        stays(
            run,
            "function top(%0: int, %1: column char) -> int, int, int {
               %2 = call even %0
               %3 = call quotient %0
               %4 = call say %1
               return %2 %3 %4
             }
             function even(%0: int) -> int {
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
               return 0
             }",
        );
    }

    #[test]
    fn only_what_is_called_once_may_be_large() {
        let body: String = (1..=SMALL + 1).map(|number| format!("%{number} = add.int %0 {number}\n")).collect();
        let large = format!("function large(%0: int) -> int {{\n{body}return %1\n}}\n");
        let calls = |count: usize| -> String {
            let calls: String = (1..=count).map(|number| format!("%{number} = call large %0\n")).collect();
            format!("function top(%0: int) -> int {{\n{calls}return %1\n}}\n{large}")
        };
        stays(run, &calls(2));
        let mut program = parse(&calls(1)).unwrap();
        run(&mut program);
        assert_eq!(program.functions[0].body.instructions.len(), SMALL + 1);
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
    fn an_each_of_branches_or_failures_stays() {
        stays(
            run,
            "function f(%0: int) -> int {
               %1 = divide.int 1 %0
               return %1
             }
             function f/L(%0: int, %1: column int) -> column int {
               %2 = map divide.int 1 %1
               return %2
             }
             function g(%0: int) -> int {
               return %0
             }
             function g/L(%0: int, %1: column int) -> column int {
               %2 = equal.int %0 1
               %4 = if %2 { yield %1 } else {
                 %3 = map add.int %1 1
                 yield %3
               }
               return %4
             }
             function top(%0: int, %1: column int) -> column int {
               %2 = each f f/L(of int) -> int %0 %1
               %3 = each g g/L(of int) -> int %0 %2
               return %3
             }",
        );
    }
}

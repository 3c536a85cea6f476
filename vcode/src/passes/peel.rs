//! A function that may end at once is asked whether it does where it is called: for code that runs one instance after
//! another.
//!
//! Of the calls of a recursion half or more only find that there is nothing left to do. What decides that, a length and
//! a comparison, stands before the call then, and what such a call would give is taken without one. The function still
//! asks itself: it is called from elsewhere, too.

use crate::passes::effect::has_effect;
use crate::passes::inline::{Body, Sites};
use crate::program::{Block, Function, FunctionId, Instruction, Op, Operand, Program, Register, RegisterType};

/// The most instructions that may decide: fewer than what a call takes.
const MOST: usize = 6;

/// Asks before calls in all functions.
pub fn run(program: &mut Program) {
    let (functions, mut sites) = (&program.functions, Sites::new(&mut program.sites));
    let peeled = functions.iter().map(|function| {
        let mut caller = Caller { functions, sites: &mut sites, registers: function.registers.clone() };
        (caller.block(&function.body, true), caller.registers)
    });
    let peeled: Vec<(Block, Vec<RegisterType>)> = peeled.collect();
    for (function, (body, registers)) in program.functions.iter_mut().zip(peeled) {
        (function.body, function.registers) = (body, registers);
    }
}

/// How a function begins that may end at once.
struct Start<'a> {
    /// What decides.
    before: &'a [Instruction],
    condition: Operand,
    /// Whether it ends where the condition is true.
    ends_if: bool,
    /// Its results then.
    results: Vec<Operand>,
}

/// How a function begins; none where it does not end at once.
fn start(body: &Block) -> Option<Start<'_>> {
    let (end, before) = body.instructions.split_last()?;
    let (Op::If(then_block, else_block), &[condition]) = (&end.op, &end.operands[..]) else { return None };
    let is_cheap = |instruction: &Instruction| {
        let reads = match instruction.op {
            Op::Scalar(_) => true,
            Op::Vector(op) => op.is_known(),
            _ => false,
        };
        reads && !has_effect(&instruction.op, &instruction.operands)
    };
    if before.len() > MOST || !before.iter().all(is_cheap) {
        return None;
    }
    let (ends_if, block) =
        [(true, then_block), (false, else_block)].into_iter().find(|(_, block)| block.instructions.is_empty())?;
    let result = |&result: &Operand| match result {
        Operand::Register(register) => match end.results.iter().position(|&other| other == register) {
            Some(position) => block.results[position],
            None => result,
        },
        Operand::Constant(_) => result,
    };
    Some(Start { before, condition, ends_if, results: body.results.iter().map(result).collect() })
}

/// A function in which calls are looked at.
struct Caller<'a, 's> {
    functions: &'a [Function],
    sites: &'a mut Sites<'s>,
    registers: Vec<RegisterType>,
}

impl Caller<'_, '_> {
    /// A block, at whose end the function ends or not: what it calls there takes its place.
    fn block(&mut self, block: &Block, is_end: bool) -> Block {
        let mut instructions = Vec::with_capacity(block.instructions.len());
        for (position, instruction) in block.instructions.iter().enumerate() {
            let results = instruction.results.iter().map(|&result| Operand::from(result));
            let is_last =
                is_end && position + 1 == block.instructions.len() && results.eq(block.results.iter().copied());
            match &instruction.op {
                Op::Call(callee) if !is_last => self.call(*callee, instruction, &mut instructions),
                Op::If(then_block, else_block) => {
                    let [then_block, else_block] =
                        [then_block, else_block].map(|block| Box::new(self.block(block, is_last)));
                    instructions.push(Instruction { op: Op::If(then_block, else_block), ..instruction.clone() });
                }
                _ => instructions.push(instruction.clone()),
            }
        }
        Block::new(instructions, block.results.clone())
    }

    fn call(&mut self, callee: FunctionId, call: &Instruction, output: &mut Vec<Instruction>) {
        let callee = &self.functions[callee.0 as usize];
        let Some(start) = start(&callee.body) else { return output.push(call.clone()) };
        let body = Body::at(call, callee, &mut self.registers, self.sites);
        output.extend(start.before.iter().map(|instruction| body.instruction(instruction)));
        let condition = body.value(start.condition);
        let at_once = Block::new(Vec::new(), start.results.iter().map(|&result| body.value(result)).collect());
        let another = |result: &Register| {
            let ty = self.registers[result.0 as usize];
            Register::add(&mut self.registers, ty)
        };
        let results: Vec<Register> = call.results.iter().map(another).collect();
        let values = results.iter().map(|&result| result.into()).collect();
        let called = Block::new(vec![Instruction { results, ..call.clone() }], values);
        let (then_block, else_block) = if start.ends_if { (at_once, called) } else { (called, at_once) };
        let op = Op::If(Box::new(then_block), Box::new(else_block));
        output.push(Instruction::new(op, vec![condition], call.results.clone(), call.place));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::testing::{becomes, stays};

    #[test]
    fn a_recursion_asks_before_it_calls() {
        let halves = |body: &str, unused: &str| {
            format!(
                "function halves(%0: column int, %1: int) -> int, column int{unused} {{
                   %2 = length %0
                   %3 = equal.int %2 1
                   %8, %9 = if %3 {{ yield %1 %0 }} else {{
                     %4 = subtract.int %2 1
                     %5 = slice %0 1 %4
                     {body}
                     %10 = add.int %6 1
                     yield %10 %7
                   }}
                   return %8 %9
                 }}"
            )
        };
        becomes(
            |program| {
                run(program);
                crate::passes::number::run(program);
            },
            &halves("%6, %7 = call halves %5 2", ""),
            &{
                let mut expected = crate::parse::parse(&halves(
                    "%20 = length %5
                     %21 = equal.int %20 1
                     %6, %7 = if %21 { yield 2 %5 } else {
                       %22, %23 = call halves %5 2
                       yield %22 %23
                     }",
                    " unused %11: int, %12: int, %13: int, %14: int, %15: int, %16: int, %17: int, %18: int, %19: int",
                ))
                .unwrap();
                crate::passes::number::run(&mut expected);
                expected.to_string()
            },
        );
    }

    #[test]
    fn what_takes_its_place_is_called_and_what_does_much_before_it_ends() {
        stays(
            run,
            "function last(%0: column int) -> int {
               %1 = length %0
               %2 = equal.int %1 1
               %3 = if %2 { yield 7 } else {
                 %4 = call last %0
                 yield %4
               }
               return %3
             }
             function fails(%0: int) -> int {
               %1 = divide.int 1 %0
               %2 = equal.int %1 1
               %3 = if %2 { yield 7 } else {
                 %4 = call fails %0
                 %5 = add.int %4 1
                 yield %5
               }
               return %3
             }",
        );
    }
}

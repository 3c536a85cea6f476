//! Calls of loops become what enters them: for passes that compute something before a loop.

use crate::passes::inline::{Body, Sites};
use crate::program::{Block, Function, Instruction, Op, Program};
use crate::register::RegisterType;

/// Puts what enters loops in the place of calls of these functions, by their numbers, and of the functions themselves.
pub(super) fn enter(program: &mut Program, entered: &[Option<Function>]) {
    let mut sites = Sites::new(&mut program.sites);
    for (index, function) in program.functions.iter_mut().enumerate() {
        if let Some(Some(enters)) = entered.get(index) {
            *function = enters.clone();
            continue;
        }
        let mut caller = Caller { entered, sites: &mut sites, registers: std::mem::take(&mut function.registers) };
        function.body = caller.block(&function.body);
        function.registers = caller.registers;
    }
}

/// A function in which loops are entered.
struct Caller<'a, 's> {
    /// What enters them, by their numbers.
    entered: &'a [Option<Function>],
    sites: &'a mut Sites<'s>,
    registers: Vec<RegisterType>,
}

impl Caller<'_, '_> {
    fn block(&mut self, block: &Block) -> Block {
        let mut instructions = Vec::with_capacity(block.instructions.len());
        for instruction in &block.instructions {
            match &instruction.op {
                Op::Call(callee) => match self.entered.get(callee.0 as usize) {
                    Some(Some(enters)) => self.enter(enters, instruction, &mut instructions),
                    _ => instructions.push(instruction.clone()),
                },
                Op::If(then_block, else_block) => {
                    let [then_block, else_block] = [then_block, else_block].map(|block| Box::new(self.block(block)));
                    instructions.push(Instruction { op: Op::If(then_block, else_block), ..instruction.clone() });
                }
                _ => instructions.push(instruction.clone()),
            }
        }
        Block::new(instructions, block.results.clone())
    }

    /// Puts what enters a loop where that is called.
    fn enter(&mut self, enters: &Function, call: &Instruction, output: &mut Vec<Instruction>) {
        let body = Body::at(call, enters, &mut self.registers, self.sites);
        output.extend(enters.body.instructions.iter().map(|instruction| body.instruction(instruction)));
        // The last one gives the results of the function.
        if let Some(last) = output.last_mut() {
            last.results.clone_from(&call.results);
        }
    }
}

//! Where registers are used for the last time.
//!
//! One walk backwards over a function. Control is structured and registers are defined once, so no iteration is needed.

use nesl_vcode::{Block, Function, Op, Operand, Register};

/// Of a function.
pub(super) struct LiveFunction {
    /// For each parameter, whether it is read.
    pub parameters: Vec<bool>,
    /// The body.
    pub body: LiveBlock,
}

/// Of a block.
pub(super) struct LiveBlock {
    /// Registers alive before the block of which only the other branch of its `if` knows a use.
    pub drops: Vec<Register>,
    /// Its instructions.
    pub instructions: Vec<LiveInstruction>,
    /// For each result, whether that is the last use of its register. Results that nobody reads are no uses.
    pub takes: Vec<bool>,
}

/// Of an instruction.
pub(super) struct LiveInstruction {
    /// For each operand, whether this is the last use of its register.
    pub takes: Vec<bool>,
    /// For each result, whether it is read.
    pub read: Vec<bool>,
    /// The branches of an `if`.
    pub branches: Option<Box<[LiveBlock; 2]>>,
}

/// Last uses in a function.
pub(super) fn of(function: &Function) -> LiveFunction {
    let mut alive = vec![false; function.registers.len()];
    let read = vec![true; function.body.results.len()];
    let body = block(&function.body, &read, &mut alive);
    let parameters = function.parameters.iter().map(|register| alive[register.0 as usize]).collect();
    LiveFunction { parameters, body }
}

/// Last uses in a block, from the registers `alive` after it to those alive before it.
fn block(block: &Block, results_read: &[bool], alive: &mut Vec<bool>) -> LiveBlock {
    let takes = uses(&block.results, |result| results_read[result], alive);
    let mut instructions = Vec::with_capacity(block.instructions.len());
    for instruction in block.instructions.iter().rev() {
        let define = |register: &Register| std::mem::replace(&mut alive[register.0 as usize], false);
        let read: Vec<bool> = instruction.results.iter().map(define).collect();
        let mut branches = None;
        if let Op::If(then_block, else_block) = &instruction.op {
            let mut alive_then = alive.clone();
            let mut then_live = self::block(then_block, &read, &mut alive_then);
            let mut else_live = self::block(else_block, &read, alive);
            for (index, (then_alive, else_alive)) in alive_then.into_iter().zip(alive.iter_mut()).enumerate() {
                let register = Register(index as u32);
                match (then_alive, *else_alive) {
                    (true, false) => else_live.drops.push(register),
                    (false, true) => then_live.drops.push(register),
                    _ => {}
                }
                *else_alive |= then_alive;
            }
            branches = Some(Box::new([then_live, else_live]));
        }
        let takes = uses(&instruction.operands, |_| true, alive);
        instructions.push(LiveInstruction { takes, read, branches });
    }
    instructions.reverse();
    LiveBlock { drops: Vec::new(), instructions, takes }
}

/// Whether each operand is the last use of its register. Of equal operands the last is.
fn uses(operands: &[Operand], is_use: impl Fn(usize) -> bool, alive: &mut [bool]) -> Vec<bool> {
    let mut takes = vec![false; operands.len()];
    for (index, operand) in operands.iter().enumerate().rev() {
        if let Operand::Register(register) = operand
            && is_use(index)
        {
            takes[index] = !std::mem::replace(&mut alive[register.0 as usize], true);
        }
    }
    takes
}

//! What both blocks of an `if` do alike is done once, in front of it: for code that runs one instance after another.
//!
//! ```text
//! if c { r = extract (starts d) i; x = extract a r } else { q = extract (starts d) i; y = extract b q }
//!
//!     r = extract (starts d) i; if c { x = extract a r } else { y = extract b r }
//! ```
//!
//! It is done in any case, so nothing is computed in vain, and what does not vary in a loop around can leave that too.
//! What can fail is taken only where nothing that can fail comes before it in either block. This is *code hoisting*.
//! [`sink_common`](super::sink_common) takes what blocks end with.

use crate::passes::effect::has_effect;
use crate::program::{Block, Instruction, Op, Operand, Program, Register};
use std::collections::{HashMap, HashSet};

/// Hoists in all functions.
pub fn run(program: &mut Program) {
    for function in &mut program.functions {
        function.body = hoisted(std::mem::take(&mut function.body));
    }
}

/// A block without what the blocks of its `if`s do alike, those inside of others first.
fn hoisted(mut block: Block) -> Block {
    for mut instruction in std::mem::take(&mut block.instructions) {
        if let Op::If(then_block, else_block) = &mut instruction.op {
            for block in [&mut *then_block, &mut *else_block] {
                **block = hoisted(std::mem::take(block));
            }
            let common = common([then_block, else_block]);
            block.instructions.extend(common);
        }
        block.instructions.push(instruction);
    }
    block
}

/// Whether an instruction makes no column: one that is made in front may be a loop of its own there.
fn is_hoisted(op: &Op) -> bool {
    match op {
        Op::Scalar(_) => true,
        Op::Vector(op) => op.is_at_hand() || op.gives_scalar(),
        _ => false,
    }
}

/// Takes what two blocks do alike out of them.
fn common([first, second]: [&mut Block; 2]) -> Vec<Instruction> {
    let inside: HashSet<Register> =
        first.instructions.iter().flat_map(|instruction| &instruction.results).copied().collect();
    let (mut common, mut own) = (Vec::<Instruction>::new(), HashSet::new());
    let mut names = HashMap::<Register, Register>::new();
    let mut left = Vec::new();
    let mut has_failed = false;
    for instruction in std::mem::take(&mut first.instructions) {
        let is_known = |operand: &Operand| match operand {
            Operand::Register(register) => !inside.contains(register) || own.contains(register),
            Operand::Constant(_) => true,
        };
        let fails = has_effect(&instruction.op, &instruction.operands);
        let moves = is_hoisted(&instruction.op) && !(fails && has_failed) && instruction.operands.iter().all(is_known);
        match moves.then(|| take_alike(&instruction, fails, second, &names)).flatten() {
            Some(alike) => {
                names.extend(alike.results.iter().copied().zip(instruction.results.iter().copied()));
                own.extend(instruction.results.iter().copied());
                common.push(instruction);
            }
            None => {
                has_failed |= fails;
                left.push(instruction);
            }
        }
    }
    first.instructions = left;
    if !names.is_empty() {
        rename(second, &names);
    }
    common
}

/// Takes the instruction of a block that does the same, if there is one, under the names that its operands have in the
/// other block. One that fails has to be the first that does.
fn take_alike(
    instruction: &Instruction,
    fails: bool,
    block: &mut Block,
    names: &HashMap<Register, Register>,
) -> Option<Instruction> {
    let named = |operand: &Operand| match operand {
        Operand::Register(register) => Operand::Register(names.get(register).copied().unwrap_or(*register)),
        Operand::Constant(_) => *operand,
    };
    let is_alike = |other: &Instruction| {
        other.op == instruction.op && other.operands.iter().map(named).eq(instruction.operands.iter().copied())
    };
    let index = block.instructions.iter().position(is_alike)?;
    let before = &block.instructions[..index];
    if fails && before.iter().any(|other| has_effect(&other.op, &other.operands)) {
        return None;
    }
    Some(block.instructions.remove(index))
}

/// Lets some registers be others wherever they are read.
fn rename(block: &mut Block, names: &HashMap<Register, Register>) {
    let renamed = |operand: &mut Operand| {
        if let Operand::Register(register) = operand
            && let Some(name) = names.get(register)
        {
            *register = *name;
        }
    };
    for instruction in &mut block.instructions {
        instruction.operands.iter_mut().for_each(renamed);
        match &mut instruction.op {
            Op::If(then_block, else_block) => {
                rename(then_block, names);
                rename(else_block, names);
            }
            Op::Fused(inner) => rename(inner, names),
            _ => {}
        }
    }
    block.results.iter_mut().for_each(renamed);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::testing::body_becomes;

    #[test]
    fn what_both_blocks_do_alike_stands_before_them() {
        body_becomes(
            run,
            "(%0: bool, %1: descriptor, %2: column int, %3: int, %4: int) -> int",
            "%9 = if %0 {
               %5 = segments %1
               %6 = check_index %3 %5
               %7 = extract %2 %6
               %8 = add.int %7 1
               yield %8
             } else {
               %10 = subtract.int %4 1
               %11 = segments %1
               %12 = check_index %3 %11
               %13 = extract %2 %12
               %14 = multiply.int %13 %10
               yield %14
             }
             return %9",
            "%5 = segments %1
             %6 = check_index %3 %5
             %7 = extract %2 %6
             %8 = if %0 {
               %9 = add.int %7 1
               yield %9
             } else {
               %10 = subtract.int %4 1
               %11 = multiply.int %7 %10
               yield %11
             }
             return %8",
        );
    }

    #[test]
    fn what_fails_later_or_differs_stays() {
        let body = "%9 = if %0 {
               %5 = check_index %3 4
               %6 = check_index %4 5
               %7 = add.int %5 %6
               yield %7
             } else {
               %8 = check_index %4 5
               %10 = check_index %3 4
               %11 = add.int %10 %8
               yield %11
             }
             return %9";
        body_becomes(run, "(%0: bool, %1: descriptor, %2: column int, %3: int, %4: int) -> int", body, body);
    }
}

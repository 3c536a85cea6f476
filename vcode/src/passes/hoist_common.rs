//! What both blocks of an `if` do alike is done once, in front of it: for code that runs one instance after another.
//!
//! ```text
//! if c { r = extract (starts d) i; x = extract a r } else { q = extract (starts d) i; y = extract b q }
//!
//!     r = extract (starts d) i; if c { x = extract a r } else { y = extract b r }
//! ```
//!
//! It is done in any case, so nothing is computed in vain, and what does not vary in a loop around can leave that too.
//! Where several things fail another one may be the first then, and nothing else changes: this code leaves errors to
//! others. This is *code hoisting*.
//! [`sink_common`](super::sink_common) takes what blocks end with.

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
    for instruction in std::mem::take(&mut first.instructions) {
        let is_known = |operand: &Operand| match operand {
            Operand::Register(register) => !inside.contains(register) || own.contains(register),
            Operand::Constant(_) => true,
        };
        let moves = is_hoisted(&instruction.op) && instruction.operands.iter().all(is_known);
        match moves.then(|| take_alike(&instruction, second, &names)).flatten() {
            Some(alike) => {
                names.extend(alike.results.iter().copied().zip(instruction.results.iter().copied()));
                own.extend(instruction.results.iter().copied());
                common.push(instruction);
            }
            None => left.push(instruction),
        }
    }
    first.instructions = left;
    if !names.is_empty() {
        rename(second, &names);
    }
    common
}

/// Takes the instruction of a block that does the same, if there is one, under the names that its operands have in the
/// other block.
fn take_alike(
    instruction: &Instruction,
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
    fn what_can_fail_moves_past_what_can_fail() {
        body_becomes(
            run,
            "(%0: bool, %1: int, %2: int) -> int",
            "%9 = if %0 {
               %3 = check_index %1 4
               %4 = check_index %2 5
               %5 = add.int %3 %4
               yield %5
             } else {
               %6 = check_index %2 5
               %7 = check_index %1 4
               %8 = subtract.int %7 %6
               yield %8
             }
             return %9",
            "%3 = check_index %1 4
             %4 = check_index %2 5
             %7 = if %0 {
               %5 = add.int %3 %4
               yield %5
             } else {
               %6 = subtract.int %3 %4
               yield %6
             }
             return %7",
        );
    }

    #[test]
    fn what_differs_stays() {
        let body = "%5 = if %0 {
               %2 = check_index %1 4
               yield %2
             } else {
               %3 = check_index %1 5
               %4 = subtract.int %3 1
               yield %4
             }
             return %5";
        body_becomes(run, "(%0: bool, %1: int) -> int", body, body);
    }
}

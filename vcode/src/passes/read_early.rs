//! Elements are read before others of their column are changed.
//!
//! ```text
//! %4 = scatter %1 %2 %3                   %5 = extract %1 %0
//! %5 = extract %1 %0                      %4 = scatter %1 %2 %3
//! ```
//!
//! `rep(rep(v, v[j], i), v[i], j)` changes `v` and then reads an element of what it was, so that all of it would have
//! to stay as it was. If the read comes first nothing reads `v` any more, and what is changed is changed where it lies.
//! So for each read of a single element, or of the length, that comes after a change of its column in the same block:
//! it goes before the change, and with it the scalar operations that its index needs. Where these may fail, nothing
//! else that may fail first is passed. What branches read stays in them: there may be no such element elsewhere.

use crate::op::VectorOp;
use crate::passes::effect::has_effect;
use crate::program::{Block, Instruction, Op, Operand, Program, Register};
use std::collections::{BTreeSet, HashMap};

/// Moves reads in all functions.
pub fn run(program: &mut Program) {
    program.functions.iter_mut().for_each(|function| block(&mut function.body));
}

fn block(block: &mut Block) {
    for instruction in &mut block.instructions {
        if let Op::If(then_block, else_block) = &mut instruction.op {
            self::block(then_block);
            self::block(else_block);
        }
    }
    let changes = |instruction: &Instruction| matches!(instruction.op, Op::Vector(op) if op.is_update());
    if !block.instructions.iter().any(changes) {
        return;
    }
    // The first change of each column so far, and where registers are defined.
    let (mut changed, mut defined) = (HashMap::<Operand, usize>::new(), HashMap::<Register, usize>::new());
    let mut position = 0;
    while let Some(instruction) = block.instructions.get(position) {
        let column = instruction.operands.first().copied().filter(|_| is_read(instruction));
        let change = column.and_then(|column| changed.get(&column).copied());
        let moved = change.and_then(|change| needed(&block.instructions, &defined, change, position));
        if let (Some(change), Some(moved)) = (change, moved) {
            for (count, &from) in moved.iter().enumerate() {
                let instruction = block.instructions.remove(from);
                block.instructions.insert(change + count, instruction);
            }
            // What was behind the change stands elsewhere now.
            changed.retain(|_, at| *at < change);
            position = change;
            defined.retain(|_, at| *at < change);
            continue;
        }
        if changes(instruction) {
            changed.entry(instruction.operands[0]).or_insert(position);
        }
        defined.extend(instruction.results.iter().map(|&result| (result, position)));
        position += 1;
    }
}

/// Whether an instruction reads a single element of its first operand, or its length.
fn is_read(instruction: &Instruction) -> bool {
    matches!(instruction.op, Op::Vector(VectorOp::Extract | VectorOp::Length))
}

/// The positions, ascending, of an instruction and of what it needs that stands behind another one; none if they cannot
/// all go before that.
fn needed(
    instructions: &[Instruction],
    defined: &HashMap<Register, usize>,
    before: usize,
    position: usize,
) -> Option<BTreeSet<usize>> {
    let mut found = BTreeSet::from([position]);
    let mut waiting = vec![position];
    while let Some(position) = waiting.pop() {
        for operand in &instructions[position].operands {
            let Operand::Register(register) = operand else { continue };
            let Some(&at) = defined.get(register).filter(|&&at| at >= before) else { continue };
            if !matches!(instructions[at].op, Op::Scalar(_)) {
                return None;
            }
            if found.insert(at) {
                waiting.push(at);
            }
        }
    }
    let may_fail = |at: usize| has_effect(&instructions[at].op, &instructions[at].operands);
    let last = found.iter().copied().rfind(|&at| may_fail(at)).unwrap_or(before);
    let passes = (before..last).any(|at| !found.contains(&at) && may_fail(at));
    (!passes).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::run;
    use crate::passes::testing::{body_becomes, stays};

    const SIGNATURE: &str = "(%0: int, %1: column int, %2: column int) -> column int";

    #[test]
    fn elements_are_read_before_others_are_changed() {
        body_becomes(
            run,
            SIGNATURE,
            "%3 = build %0
             %4 = scatter %1 %3 %2
             %5 = length %1
             %6 = extract %1 %0
             %7 = add.int %5 %6
             %8 = build %7
             %9 = scatter %4 %3 %8
             return %9",
            "%3 = build %0
             %5 = length %1
             %6 = extract %1 %0
             %4 = scatter %1 %3 %2
             %7 = add.int %5 %6
             %8 = build %7
             %9 = scatter %4 %3 %8
             return %9",
        );
        // With what the index needs, which may fail; and before the first of several changes.
        body_becomes(
            run,
            SIGNATURE,
            "%3 = build %0
             %10 = length %1
             %4 = scatter %1 %3 %2
             %11 = scatter %1 %3 %3
             %5 = subtract.int %0 1
             %6 = check_index %5 %10
             %7 = extract %1 %6
             %8 = build %7
             %9 = concat %4 %8 %11
             return %9",
            "%3 = build %0
             %10 = length %1
             %5 = subtract.int %0 1
             %6 = check_index %5 %10
             %7 = extract %1 %6
             %4 = scatter %1 %3 %2
             %11 = scatter %1 %3 %3
             %8 = build %7
             %9 = concat %4 %8 %11
             return %9",
        );
    }

    #[test]
    fn what_must_come_later_stays() {
        let stays = |body: &str| stays(run, &format!("function f{SIGNATURE} {{\n{body}\n}}"));
        // Something else fails first.
        stays(
            "%3 = build %0
             %4 = length %1
             %5 = scatter %1 %3 %2
             %6 = divide.int 1 %0
             %7 = check_index %0 %4
             %8 = extract %1 %7
             %9 = build %6 %8
             %10 = concat %5 %9
             return %10",
        );
        // The index is read from what was changed, or the read is in a branch.
        stays(
            "%3 = build %0
             %4 = scatter %1 %3 %2
             %5 = extract %4 0
             %6 = extract %1 %5
             %7 = build %6
             return %7",
        );
        stays(
            "%3 = build %0
             %4 = scatter %1 %3 %2
             %5 = less.int %0 3
             %8 = if %5 {
               %6 = extract %1 %0
               %7 = build %6
               yield %7
             } else { yield %4 }
             return %8",
        );
    }
}

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
//! it goes before the change, and with it the scalar operations that its index needs, and those in between that may
//! fail. Where anything else in between may fail, it stays: there may be no such element before. So does what branches
//! read.

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
        let is_read = matches!(instruction.op, Op::Vector(op) if op.reads_scalar());
        let column = instruction.operands.first().copied().filter(|_| is_read);
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

/// The positions, ascending, of an instruction, of what it needs, and of what may fail before it, that stand behind
/// another one; none if they cannot all go before that. What may fail goes along in its order: that there is such an
/// element may rely on any check before, and the first error stays the first.
fn needed(
    instructions: &[Instruction],
    defined: &HashMap<Register, usize>,
    before: usize,
    position: usize,
) -> Option<BTreeSet<usize>> {
    let may_fail = |at: &usize| has_effect(&instructions[*at].op, &instructions[*at].operands);
    let mut found = BTreeSet::new();
    let mut waiting: Vec<usize> = (before..position).filter(may_fail).chain([position]).collect();
    while let Some(at) = waiting.pop() {
        if at != position && !matches!(instructions[at].op, Op::Scalar(_)) {
            return None;
        }
        if found.insert(at) {
            let read = instructions[at].operands.iter().filter_map(|operand| match operand {
                Operand::Register(register) => defined.get(register).copied(),
                Operand::Constant(_) => None,
            });
            waiting.extend(read.filter(|&at| at >= before));
        }
    }
    Some(found)
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
    fn what_may_fail_before_goes_along() {
        // The element is there only where the lengths are equal; and the divisor is looked at before the index.
        body_becomes(
            run,
            SIGNATURE,
            "%3 = build %0
             %4 = length %1
             %5 = length %2
             %6 = check_index %0 %5
             %7 = scatter %1 %3 %2
             %8 = check_lengths %4 %5
             %9 = divide.int 1 %0
             %10 = extract %1 %6
             %11 = build %10 %9 %8
             %12 = concat %7 %11
             return %12",
            "%3 = build %0
             %4 = length %1
             %5 = length %2
             %6 = check_index %0 %5
             %8 = check_lengths %4 %5
             %9 = divide.int 1 %0
             %10 = extract %1 %6
             %7 = scatter %1 %3 %2
             %11 = build %10 %9 %8
             %12 = concat %7 %11
             return %12",
        );
    }

    #[test]
    fn what_must_come_later_stays() {
        let stays = |body: &str| stays(run, &format!("function f{SIGNATURE} {{\n{body}\n}}"));
        // Something that is no scalar operation may fail before.
        stays(
            "%3 = build %0
             %4 = length %1
             %5 = scatter %1 %3 %2
             %6 = map divide.int %2 %0
             %7 = check_index %0 %4
             %8 = extract %1 %7
             %9 = build %8
             %10 = concat %5 %9 %6
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

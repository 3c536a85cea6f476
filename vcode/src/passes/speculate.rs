//! What the blocks of an `if` reduce is reduced in front of it, where that is all that a column is made for.
//!
//! ```text
//! x = gather states places                        x = gather states places
//! p = map equal.int x 1                           p = map equal.int x 1
//! a = reduce.or.bool p                            a = reduce.or.bool p
//! r = if a { yield 2 } else {                     q = map equal.int x 2
//!   q = map equal.int x 2                         b = reduce.and.bool q
//!   b = reduce.and.bool q                         r = if a { yield 2 } else {
//!   s = select.int b 1 0                            s = select.int b 1 0
//!   yield s                                         yield s
//! }                                               }
//! ```
//!
//! Of `if any({… : x in v}) then … else if all({… : x in v}) …` both questions are then asked in one loop, in which `x`
//! is never in memory: to write and to read an element costs more than to ask in vain. This is *speculation*. It is
//! done where nothing that moves can fail, where little is computed for each element, and where no column is left that
//! the blocks, or anybody else, read in another way. Columns that are as long as one another in a block need not be so
//! in front of it: what moves reads columns that one loop makes.

use crate::fusion::aligned;
use crate::op::{Class, Fusion};
use crate::passes::copy::retain;
use crate::passes::effect::has_effect;
use crate::program::{Block, Function, Instruction, Op, Operand, Program, Register, RegisterType};
use nesl_prim::Cost;
use std::collections::{HashMap, HashSet};

/// What may be computed in vain for each element, in instructions of a processor: about what it costs to write an
/// element and to read it again.
const IN_VAIN: usize = 8;

/// Speculates in all functions.
pub fn run(program: &mut Program) {
    for function in &mut program.functions {
        let mut body = std::mem::take(&mut function.body);
        speculate(function, &mut body);
        function.body = body;
    }
}

/// Takes reductions out of the `if`s of a block, those inside of others first.
fn speculate(function: &Function, block: &mut Block) {
    let mut instructions = Vec::with_capacity(block.instructions.len());
    let mut rest = std::mem::take(&mut block.instructions).into_iter();
    while let Some(mut instruction) = rest.next() {
        if let Op::If(then_block, else_block) = &mut instruction.op {
            speculate(function, then_block);
            speculate(function, else_block);
            let later = reads(|visit| {
                rest.as_slice().iter().for_each(|instruction| instruction.visit_reads(visit));
                block.results.iter().copied().filter_map(Operand::register).for_each(visit);
            });
            let made = made(function, &instructions, &later);
            let moved = moved(function, &instruction, &made);
            take(&mut instruction, &moved.iter().map(|instruction| instruction.results[0]).collect());
            instructions.extend(moved);
        }
        instructions.push(instruction);
    }
    block.instructions = instructions;
}

/// How often registers are read.
fn reads(visit: impl FnOnce(&mut dyn FnMut(Register))) -> HashMap<Register, usize> {
    let mut reads = HashMap::new();
    visit(&mut |register| *reads.entry(register).or_default() += 1);
    reads
}

/// What columns are as long as.
#[derive(Clone, Copy, PartialEq)]
enum Extent {
    /// This column.
    Of(Register),
    /// What is packed by these flags.
    Packed(Register),
}

/// The columns that loops make, and that nothing reads but loops over their elements, by how long they are.
fn made(function: &Function, before: &[Instruction], later: &HashMap<Register, usize>) -> HashMap<Register, Extent> {
    let mut made = HashMap::new();
    for instruction in before {
        let at_index = at_index(function, instruction);
        instruction.visit_reads(&mut |register| {
            if !at_index.contains(&register) {
                made.remove(&register);
            }
        });
        let is_made = match instruction.op {
            Op::Map(_) => true,
            Op::Vector(op) => {
                matches!(op.fusion(), Fusion::Element(_) | Fusion::Filter(_) | Fusion::Join(_)) && !op.is_source()
            }
            _ => false,
        };
        for &result in instruction.results.iter().filter(|result| is_made && !later.contains_key(result)) {
            made.insert(result, extent(instruction, &at_index, &made));
        }
    }
    made
}

/// How long what an instruction makes is.
fn extent(instruction: &Instruction, at_index: &[Register], made: &HashMap<Register, Extent>) -> Extent {
    match (&instruction.op, at_index) {
        (Op::Vector(op), &[_, flags]) if matches!(op.fusion(), Fusion::Filter(_)) => Extent::Packed(flags),
        (_, &[first, ..]) => made.get(&first).copied().unwrap_or(Extent::Of(first)),
        (_, []) => Extent::Of(instruction.results[0]),
    }
}

/// The registers that an instruction reads at the index of a loop.
fn at_index(function: &Function, instruction: &Instruction) -> Vec<Register> {
    let positions = aligned(&instruction.op, &instruction.operands, |operand| function.operand_type(operand));
    positions.unwrap_or_default().into_iter().filter_map(|position| instruction.operands[position].register()).collect()
}

/// Removes the instructions that make these registers from the blocks of an `if`.
fn take(instruction: &mut Instruction, gone: &HashSet<Register>) {
    let Op::If(then_block, else_block) = &mut instruction.op else { return };
    for block in [then_block, else_block] {
        let stays: Vec<bool> =
            block.instructions.iter().map(|own| own.results.iter().all(|result| !gone.contains(result))).collect();
        retain(&mut block.instructions, &stays);
        block.instructions.iter_mut().for_each(|instruction| take(instruction, gone));
    }
}

/// What of an `if` moves in front of it.
fn moved(function: &Function, choice: &Instruction, made: &HashMap<Register, Extent>) -> Vec<Instruction> {
    let Op::If(then_block, else_block) = &choice.op else { return Vec::new() };
    let inside = defined_in([then_block, else_block]);
    let (mut columns, mut can) = (made.clone(), Vec::<&Instruction>::new());
    for block in [then_block, else_block] {
        block.visit(&mut |instruction| {
            let is_ready = |&operand: &Operand| match operand {
                Operand::Register(register) if is_column(function, register) => columns.contains_key(&register),
                Operand::Register(register) => !inside.contains(&register),
                Operand::Constant(_) => true,
            };
            let at_index = at_index(function, instruction);
            let are_alike = at_index.windows(2).all(|pair| columns.get(&pair[0]) == columns.get(&pair[1]));
            if moves(instruction) && are_alike && instruction.operands.iter().all(is_ready) {
                columns.insert(instruction.results[0], extent(instruction, &at_index, &columns));
                can.push(instruction);
            }
        });
    }
    let moved = needed(&can);
    let cost: usize = moved.iter().map(|instruction| cost(instruction)).sum();
    let within = reads(|visit| choice.visit_reads(visit));
    let by_moved = reads(|visit| moved.iter().for_each(|instruction| instruction.visit_reads(visit)));
    let is_left = |(own, count): (&Register, &usize)| is_column(function, *own) && within[own] > *count;
    if cost > IN_VAIN || by_moved.iter().any(is_left) {
        return Vec::new();
    }
    moved.into_iter().cloned().collect()
}

fn is_column(function: &Function, register: Register) -> bool {
    matches!(function.register_type(register), RegisterType::Column(_))
}

/// The registers that blocks define.
fn defined_in(blocks: [&Block; 2]) -> HashSet<Register> {
    let mut defined = HashSet::new();
    for block in blocks {
        block.visit(&mut |instruction| defined.extend(&instruction.results));
    }
    defined
}

/// Whether an instruction computes at each index, filters or reduces, and cannot fail.
fn moves(instruction: &Instruction) -> bool {
    let is_looped = match instruction.op {
        Op::Map(op) => matches!(op.row().cost, Cost::Direct | Cost::Several),
        Op::Vector(op) => matches!(op.fusion(), Fusion::Filter(_)) || reduces(instruction),
        _ => false,
    };
    is_looped && !has_effect(&instruction.op, &instruction.operands)
}

fn reduces(instruction: &Instruction) -> bool {
    matches!(instruction.op, Op::Vector(op) if op.class() == Class::Reduce && op.gives_scalar())
}

/// The reductions, and what they need of the others.
fn needed<'a>(all: &[&'a Instruction]) -> Vec<&'a Instruction> {
    let mut needed = HashSet::new();
    let mut found: Vec<&Instruction> = Vec::new();
    for &instruction in all.iter().rev() {
        if reduces(instruction) || needed.contains(&instruction.results[0]) {
            instruction.visit_reads(&mut |register| {
                needed.insert(register);
            });
            found.push(instruction);
        }
    }
    found.reverse();
    found
}

/// What it costs to compute an instruction for each element.
fn cost(instruction: &Instruction) -> usize {
    match instruction.op {
        Op::Map(op) if op.row().cost == Cost::Direct => 1,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::testing::{body_becomes, stays};

    #[test]
    fn two_questions_about_the_same_elements_are_asked_in_one_loop() {
        body_becomes(
            run,
            "(%0: column int, %1: column int) -> int",
            "%2 = length %0
             %3 = map check_index %1 %2
             %4 = gather %0 %3
             %5 = map equal.int %4 1
             %6 = reduce.or.bool %5
             %7 = if %6 { yield 2 } else {
               %8 = map equal.int %4 2
               %9 = reduce.and.bool %8
               %10 = select.int %9 1 0
               yield %10
             }
             return %7",
            "%2 = length %0
             %3 = map check_index %1 %2
             %4 = gather %0 %3
             %5 = map equal.int %4 1
             %6 = reduce.or.bool %5
             %8 = map equal.int %4 2
             %9 = reduce.and.bool %8
             %7 = if %6 { yield 2 } else {
               %10 = select.int %9 1 0
               yield %10
             }
             return %7",
        );
    }

    #[test]
    fn a_chain_of_questions_is_one_loop() {
        body_becomes(
            run,
            "(%0: column int) -> int",
            "%1 = map add.int %0 1
             %2 = reduce.add.int %1
             %3 = equal.int %2 0
             %10 = if %3 { yield 0 } else {
               %4 = reduce.maximum.int %1
               %5 = equal.int %4 7
               %9 = if %5 { yield 1 } else {
                 %6 = map greater.int %1 3
                 %7 = pack %1 %6
                 %8 = reduce.minimum.int %7
                 yield %8
               }
               yield %9
             }
             return %10",
            "%1 = map add.int %0 1
             %2 = reduce.add.int %1
             %3 = equal.int %2 0
             %4 = reduce.maximum.int %1
             %6 = map greater.int %1 3
             %7 = pack %1 %6
             %8 = reduce.minimum.int %7
             %10 = if %3 { yield 0 } else {
               %5 = equal.int %4 7
               %9 = if %5 { yield 1 } else { yield %8 }
               yield %9
             }
             return %10",
        );
    }

    #[test]
    fn columns_that_are_as_long_in_the_block_alone_stay() {
        stays(
            run,
            "function main(%0: column int, %1: column int) -> bool {
               %2 = map add.int %0 1
               %3 = map add.int %1 1
               %4 = length %0
               %5 = length %1
               %6 = equal.int %4 %5
               %9 = if %6 {
                 %7 = map equal.int %2 %3
                 %8 = reduce.and.bool %7
                 yield %8
               } else { yield f }
               return %9
             }",
        );
    }

    #[test]
    fn what_fails_or_costs_stays_and_so_does_what_reads_a_column_that_is_there() {
        // The second question can fail; it costs much; the column is read in another way, in the branch, before it, and
        // behind it; it is a parameter.
        for (before, inside, behind) in [
            ("", "%5 = map check_index %1 9\n%6 = reduce.add.int %5", "%2"),
            ("", "%5 = map power.int %1 2\n%6 = reduce.add.int %5", "%2"),
            ("", "%5 = map multiply.int %1 %1\n%6 = reduce.add.int %1", "%5"),
            ("%4 = extract %1 0", "%5 = map multiply.int %1 %1\n%6 = reduce.add.int %5", "%2"),
            ("", "%5 = reduce.add.int %1\n%6 = add.int %5 1", "%1"),
            ("", "%5 = map multiply.int %0 %0\n%6 = reduce.add.int %5", "%2"),
        ] {
            let is_column = behind != "%2";
            let (ty, yields) =
                if is_column { ("int, column int", format!("%6 {behind}")) } else { ("int", "%6".into()) };
            let (results, other) = if is_column { ("%7, %8", "%2 %0") } else { ("%7", "%2") };
            let before = if before.is_empty() { "%4 = add.int %2 0" } else { before };
            stays(
                run,
                &format!(
                    "function main(%0: column int) -> {ty} {{
                       %1 = map add.int %0 1
                       %2 = reduce.add.int %1
                       {before}
                       %3 = equal.int %2 %4
                       {results} = if %3 {{ yield {other} }} else {{
                         {inside}
                         yield {yields}
                       }}
                       return {}
                     }}",
                    results.replace(',', "")
                ),
            );
        }
    }
}

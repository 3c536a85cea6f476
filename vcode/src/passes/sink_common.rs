//! What both blocks of an `if` do, on other scalars, is done after it, on the scalars that it chooses; and an `if` that
//! does nothing but choose scalars is instructions that select.
//!
//! Of `if p then take(v, 3) else drop(v, 3)` a slice is left, without a branch: lengths and descriptors are then what
//! other passes read them from, and what stands before it and behind it can be one loop.
//!
//! An instruction leaves the blocks if both have it, if it cannot fail, and if its result is read alike in both: by
//! instructions that leave, or as the same result. Its columns are the same in both, or leave with it. So nothing runs
//! that did not run before, but for a few scalar operations of the block that is not taken.

use crate::passes::copy::retain;
use crate::passes::effect::has_effect;
use crate::program::{Block, Function, Instruction, Op, Operand, Program, Register, RegisterType};
use nesl_prim::ScalarOp;
use std::collections::{HashMap, HashSet};

/// What scalar operations that are computed in vain may cost together, in instructions of a processor: a branch that is
/// foreseen costs one, and one that is not ten times as much.
const IN_VAIN: usize = 8;

/// How many scalars may be chosen without a branch.
const CHOSEN: usize = 4;

/// Sinks in all functions.
pub fn run(program: &mut Program) {
    for function in &mut program.functions {
        let mut body = std::mem::take(&mut function.body);
        sink_in(function, &mut body);
        function.body = body;
    }
}

/// Sinks out of the `if`s of a block, those inside of others first.
fn sink_in(function: &mut Function, block: &mut Block) {
    for mut instruction in std::mem::take(&mut block.instructions) {
        let mut sunk = Vec::new();
        if let Op::If(then_block, else_block) = &mut instruction.op {
            sink_in(function, then_block);
            sink_in(function, else_block);
            sunk = sink(function, [then_block, else_block], &mut instruction.results);
        }
        match selected(function, &instruction) {
            Some(selected) => block.instructions.extend(selected),
            None => block.instructions.push(instruction),
        }
        block.instructions.extend(sunk);
    }
}

/// The instructions that an `if` is without a branch, where it does nothing but choose a few scalars that cost little.
pub(super) fn selected(function: &Function, instruction: &Instruction) -> Option<Vec<Instruction>> {
    let Op::If(then_block, else_block) = &instruction.op else { return None };
    let blocks = [then_block, else_block];
    let costs: Option<usize> = blocks.iter().flat_map(|block| &block.instructions).map(cost).sum();
    if costs.is_none_or(|cost| cost > IN_VAIN) || instruction.results.len() > CHOSEN {
        return None;
    }
    let mut instructions: Vec<Instruction> =
        blocks.iter().flat_map(|block| block.instructions.iter().cloned()).collect();
    for (&result, (&a, &b)) in instruction.results.iter().zip(then_block.results.iter().zip(&else_block.results)) {
        let RegisterType::Scalar(ty) = function.register_type(result) else { return None };
        let operands = vec![instruction.operands[0], a, b];
        instructions.push(Instruction::new(
            Op::Scalar(ScalarOp::select(ty)),
            operands,
            vec![result],
            instruction.place,
        ));
    }
    Some(instructions)
}

/// What a scalar operation costs that cannot fail; none for all other instructions, and where it costs a call.
fn cost(instruction: &Instruction) -> Option<usize> {
    let Op::Scalar(op) = instruction.op else { return None };
    op.row().cost.instructions().filter(|_| !has_effect(&instruction.op, &instruction.operands))
}

/// Takes what both blocks of an `if` do out of them; the instructions to stand after it.
fn sink(function: &mut Function, blocks: [&mut Block; 2], results: &mut Vec<Register>) -> Vec<Instruction> {
    let common = Common::of(function, [&*blocks[0], &*blocks[1]]).pairs;
    if common.is_empty() {
        return Vec::new();
    }
    let chosen: Vec<[Operand; 2]> = pairs(&blocks[0].results, &blocks[1].results).collect();
    let mut after = After { function, names: HashMap::new(), chosen, results: results.clone() };
    let mut sunk = Vec::new();
    for &(first, second) in &common {
        let [own, other] = [&blocks[0].instructions[first], &blocks[1].instructions[second]];
        let operands = pairs(&own.operands, &other.operands).map(|pair| after.value(pair)).collect();
        let result = after.result([own.results[0], other.results[0]]);
        sunk.push(Instruction::new(own.op.clone(), operands, vec![result], own.place));
    }
    let After { names, chosen, results: all, .. } = after;
    let keep: Vec<bool> = chosen.iter().map(|[own, _]| !names.contains_key(own)).collect();
    *results = all;
    retain(results, &keep);
    for (side, block) in blocks.into_iter().enumerate() {
        block.results = chosen.iter().map(|pair| pair[side]).collect();
        retain(&mut block.results, &keep);
        let gone: HashSet<usize> = common.iter().map(|&(first, second)| [first, second][side]).collect();
        let stays: Vec<bool> = (0..block.instructions.len()).map(|index| !gone.contains(&index)).collect();
        retain(&mut block.instructions, &stays);
    }
    sunk
}

fn pairs(first: &[Operand], second: &[Operand]) -> impl Iterator<Item = [Operand; 2]> {
    first.iter().zip(second).map(|(&first, &second)| [first, second])
}

/// What stands after an `if` in place of what stood in its blocks.
struct After<'a> {
    function: &'a mut Function,
    /// What the results of instructions of the first block are that have left it.
    names: HashMap<Operand, Operand>,
    /// What the blocks yield, and the results that it is.
    chosen: Vec<[Operand; 2]>,
    results: Vec<Register>,
}

impl After<'_> {
    /// What an operand of both blocks is after them.
    fn value(&mut self, pair: [Operand; 2]) -> Operand {
        if let Some(&value) = self.names.get(&pair[0]) {
            return value;
        }
        if pair[0] == pair[1] {
            return pair[0];
        }
        let position = self.chosen.iter().position(|chosen| *chosen == pair).unwrap_or_else(|| {
            let ty = self.function.operand_type(pair[0]);
            self.chosen.push(pair);
            self.results.push(Register::add(&mut self.function.registers, ty));
            self.chosen.len() - 1
        });
        self.results[position].into()
    }

    /// The register for the result of an instruction that leaves both blocks.
    fn result(&mut self, pair: [Register; 2]) -> Register {
        let own = Operand::from(pair[0]);
        let result = match self.chosen.iter().position(|chosen| chosen[0] == own) {
            Some(position) => self.results[position],
            None => {
                let ty = self.function.register_type(pair[0]);
                Register::add(&mut self.function.registers, ty)
            }
        };
        self.names.insert(own, result.into());
        result
    }
}

/// What the two blocks of an `if` have in common.
struct Common<'a> {
    function: &'a Function,
    blocks: [&'a Block; 2],
    /// Where each block defines the registers that it defines itself, and how often it reads them.
    own: [HashMap<Register, Own>; 2],
    /// Instructions of the first block that have to stay.
    stay: HashSet<usize>,
    /// The instructions that can leave, by their positions in both blocks, in the order of the first.
    pairs: Vec<(usize, usize)>,
}

struct Own {
    at: usize,
    reads: usize,
}

impl Common<'_> {
    fn of<'a>(function: &'a Function, blocks: [&'a Block; 2]) -> Common<'a> {
        let own = blocks.map(|block| {
            let mut own = HashMap::new();
            for (at, instruction) in block.instructions.iter().enumerate() {
                own.extend(instruction.results.iter().map(|&result| (result, Own { at, reads: 0 })));
            }
            block.visit_reads(&mut |register| {
                if let Some(own) = own.get_mut(&register) {
                    own.reads += 1;
                }
            });
            own
        });
        let mut common = Common { function, blocks, own, stay: HashSet::new(), pairs: Vec::new() };
        // What stays may let what reads it stay, too.
        while common.look() {}
        common
    }

    /// Where both blocks define an operand of both.
    fn defined(&self, pair: [Operand; 2]) -> Option<[&Own; 2]> {
        let [Operand::Register(first), Operand::Register(second)] = pair else { return None };
        Some([self.own[0].get(&first)?, self.own[1].get(&second)?])
    }

    /// Finds the pairs, users first; whether there was one that has to stay, so that all have to be found again.
    fn look(&mut self) -> bool {
        let mut reads: HashMap<[usize; 2], usize> = HashMap::new();
        let mut found: Vec<[usize; 2]> = Vec::new();
        let results = || pairs(&self.blocks[0].results, &self.blocks[1].results);
        let note = |reads: &mut HashMap<[usize; 2], usize>, pair| {
            if let Some([first, second]) = self.defined(pair) {
                *reads.entry([first.at, second.at]).or_default() += 1;
            }
        };
        results().for_each(|pair| note(&mut reads, pair));
        for (at, instruction) in self.blocks[0].instructions.iter().enumerate().rev() {
            let &[result] = &instruction.results[..] else { continue };
            let Some((&pair, &count)) = reads.iter().find(|(pair, _)| pair[0] == at) else { continue };
            let other = &self.blocks[1].instructions[pair[1]];
            let &[other_result] = &other.results[..] else { continue };
            let all_alike = [self.own[0][&result].reads, self.own[1][&other_result].reads] == [count; 2];
            let yields = results().filter(|chosen| chosen[0] == result.into()).count();
            if all_alike && yields < 2 && !self.stay.contains(&at) && self.is_same(instruction, other) {
                pairs(&instruction.operands, &other.operands).for_each(|pair| note(&mut reads, pair));
                found.push(pair);
            }
        }
        let is_ready = |pair: [Operand; 2]| {
            let leaves = |[first, second]: [&Own; 2]| found.contains(&[first.at, second.at]);
            let is_scalar = matches!(self.function.operand_type(pair[0]), RegisterType::Scalar(_));
            pair[0] == pair[1] || is_scalar || self.defined(pair).is_some_and(leaves)
        };
        let operands = |&[first, second]: &[usize; 2]| {
            pairs(&self.blocks[0].instructions[first].operands, &self.blocks[1].instructions[second].operands)
        };
        let stay: Vec<usize> = found.iter().filter(|pair| !operands(pair).all(is_ready)).map(|pair| pair[0]).collect();
        self.pairs = found.iter().rev().map(|&[first, second]| (first, second)).collect();
        let again = !stay.is_empty();
        self.stay.extend(stay);
        again
    }

    /// Whether two instructions do the same, but for the values of their operands, and neither can fail.
    fn is_same(&self, first: &Instruction, second: &Instruction) -> bool {
        let types = |operands: &[Operand]| -> Vec<RegisterType> {
            operands.iter().map(|&operand| self.function.operand_type(operand)).collect()
        };
        matches!(first.op, Op::Scalar(_) | Op::Map(_) | Op::Vector(_))
            && first.op == second.op
            && types(&first.operands) == types(&second.operands)
            && [first, second].iter().all(|one| !has_effect(&one.op, &one.operands))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::testing::{body_becomes, stays};

    #[test]
    fn slices_at_other_places_are_one_slice_at_the_place_that_is_chosen() {
        body_becomes(
            run,
            "(%0: bool, %1: column int, %2: int, %3: int) -> int, column int",
            "%8, %9 = if %0 {
               %4 = subtract.int %2 %3
               %5 = slice %1 %4 %3
               yield %3 %5
             } else {
               %6 = subtract.int %2 1
               %7 = slice %1 0 %6
               yield %6 %7
             }
             return %8 %9",
            "%4 = subtract.int %2 %3
             %5 = subtract.int %2 1
             %6 = select.int %0 %3 %5
             %7 = select.int %0 %4 0
             %8 = slice %1 %7 %6
             return %6 %8",
        );
    }

    #[test]
    fn chains_of_instructions_leave_together_where_a_branch_has_to_stay() {
        body_becomes(
            run,
            "(%0: bool, %1: column int, %2: int) -> int, column int",
            "%9, %10 = if %0 {
               %3 = divide.int 7 %2
               %4 = map add.int %1 %3
               %5 = map multiply.int %4 %1
               %6 = reduce.add.int %4
               yield %6 %5
             } else {
               %7 = map add.int %1 1
               %8 = reduce.add.int %7
               %11 = map multiply.int %7 %1
               yield %8 %11
             }
             return %9 %10",
            "%3 = if %0 {
               %4 = divide.int 7 %2
               yield %4
             } else { yield 1 }
             %5 = map add.int %1 %3
             %6 = map multiply.int %5 %1
             %7 = reduce.add.int %5
             return %7 %6",
        );
    }

    #[test]
    fn what_is_of_other_columns_or_read_elsewhere_or_fails_stays() {
        stays(
            run,
            "function f(%0: bool, %1: column int, %2: column int, %3: int) -> column int, column int, int, column int {
               %14, %15, %16, %17 = if %0 {
                 %4 = map add.int %1 1
                 %5 = map negate.int %1
                 %6 = reduce.add.int %5
                 %7 = check_index %6 %3
                 %8 = iota %3
                 yield %4 %5 %7 %8
               } else {
                 %9 = map add.int %2 1
                 %10 = map negate.int %1
                 %11 = reduce.add.int %10
                 %12 = check_index %11 %3
                 %13 = map negate.int %10
                 yield %9 %13 %12 %10
               }
               return %14 %15 %16 %17
             }",
        );
    }

    #[test]
    fn dear_scalars_stay_in_branches_and_cheap_ones_inside_of_others_do_not() {
        body_becomes(
            run,
            "(%0: bool, %1: float, %2: bool) -> float, float",
            "%6 = if %0 {
               %3 = sin %1
               yield %3
             } else {
               %5 = if %2 {
                 %4 = add.float %1 1.0
                 yield %4
               } else { yield %1 }
               yield %5
             }
             %7 = if %2 { yield %1 } else { yield %6 }
             return %6 %7",
            "%3 = if %0 {
               %4 = sin %1
               yield %4
             } else {
               %5 = add.float %1 1.0
               %6 = select.float %2 %5 %1
               yield %6
             }
             %7 = select.float %2 %1 %3
             return %3 %7",
        );
    }
}

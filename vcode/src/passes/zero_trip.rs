//! What is computed elementwise leaves the branch around it that asks whether there are any elements.
//!
//! ```text
//! %9 = if %5 {                            %8 = if %5 { yield 0 } else {
//!   %6 = constants bool []                  %7 = check_index %2 %3
//!   yield %6                                %6 = extract %1 %7
//! } else {                                  yield %6
//!   %7 = check_index %2 %3                }
//!   %6 = extract %1 %7                    %9 = map less.int %4 %8
//!   %8 = map less.int %4 %6
//!   yield %8
//! }
//! ```
//!
//! In `{x < v[i] : x in a}` all instances share `v[i]`, which is read once – but not at all where `a` is empty, since
//! there may be no such element. So flattening puts a branch around all that is computed for the instances, a
//! zero-trip guard, and what stands before it and behind it cannot be one loop with that. Only what fails or costs
//! where there are no elements needs it: elementwise instructions on columns of as many elements as the guard counts
//! give empty columns for none, whatever their scalars are. They go behind the branch, which yields the scalars that
//! they need: zeros where there are no elements.

use crate::op::{Elements, Fusion, VectorOp};
use crate::passes::copy::retain;
use crate::passes::effect::has_effect;
use crate::program::{Block, Function, Instruction, Op, Operand, Program, Register, RegisterType};
use nesl_prim::{ScalarOp, ScalarValue};
use std::collections::{HashMap, HashSet};

/// Narrows guards in all functions.
pub fn run(program: &mut Program) {
    for function in &mut program.functions {
        let mut body = std::mem::take(&mut function.body);
        let mut known = Known::default();
        known.block(function, &mut body);
        function.body = body;
    }
}

const ZERO: Operand = Operand::Constant(ScalarValue::Int(0));

/// What is known of registers that have been defined.
#[derive(Default)]
struct Known {
    /// The lengths of columns.
    lengths: HashMap<Register, Operand>,
    /// By a truth value, the number of which it says that it is zero.
    zeros: HashMap<Register, Operand>,
}

impl Known {
    fn block(&mut self, function: &mut Function, block: &mut Block) {
        for mut instruction in std::mem::take(&mut block.instructions) {
            let mut behind = Vec::new();
            if let Op::If(then_block, else_block) = &mut instruction.op {
                self.block(function, then_block);
                self.block(function, else_block);
                if let Some(&count) = instruction.operands[0].register().and_then(|flag| self.zeros.get(&flag)) {
                    behind = self.narrow(function, count, &mut instruction);
                }
            }
            self.note(&instruction);
            block.instructions.push(instruction);
            for instruction in behind {
                self.note(&instruction);
                block.instructions.push(instruction);
            }
        }
    }

    fn note(&mut self, instruction: &Instruction) {
        let (operands, results) = (&instruction.operands, &instruction.results);
        match (&instruction.op, &operands[..]) {
            (Op::Vector(VectorOp::Length), &[Operand::Register(column)]) => {
                self.lengths.entry(column).or_insert(results[0].into());
            }
            (Op::Scalar(ScalarOp::EqualInt), &[number, other]) if other == ZERO => {
                self.zeros.insert(results[0], number);
            }
            _ => {
                if let Some(length) = self.length_of(instruction) {
                    self.lengths.insert(results[0], length);
                }
            }
        }
    }

    /// How long the column is that an instruction makes.
    fn length_of(&self, instruction: &Instruction) -> Option<Operand> {
        let known = |operand: Operand| self.lengths.get(&operand.register()?).copied();
        match &instruction.op {
            Op::Map(_) => instruction.operands.iter().find_map(|&operand| known(operand)),
            Op::Vector(op) => match op.elements() {
                Elements::Value(position) => Some(instruction.operands[position]),
                Elements::Column(position) => known(instruction.operands[position]),
                _ => None,
            },
            _ => None,
        }
    }

    /// Takes out of a branch that is taken where a number is not zero what is computed elementwise on as many elements;
    /// the instructions to stand behind it.
    fn narrow(&self, function: &mut Function, count: Operand, guard: &mut Instruction) -> Vec<Instruction> {
        let Op::If(none, some) = &mut guard.op else { return Vec::new() };
        let are_empty = |instruction: &Instruction| matches!(&instruction.op, Op::Constants(all) if all.is_empty());
        let are_different = some.results.iter().collect::<HashSet<_>>().len() == some.results.len();
        if !none.instructions.iter().all(are_empty) || !are_different {
            return Vec::new();
        }
        // What the other branch yields for a result must be what is computed for no elements.
        let empty: HashSet<Operand> = none.instructions.iter().map(|empty| empty.results[0].into()).collect();
        let yields = none.results.iter().zip(&some.results);
        let pinned = yields.filter(|(other, _)| !empty.contains(other)).filter_map(|(_, own)| own.register());
        let leaves = self.leaving(function, count, some, &pinned.collect());
        if !leaves.contains(&true) {
            return Vec::new();
        }
        let mut behind = Vec::new();
        let mut stays = Vec::new();
        for (instruction, &leaves) in std::mem::take(&mut some.instructions).into_iter().zip(&leaves) {
            if leaves { behind.push(instruction) } else { stays.push(instruction) }
        }
        some.instructions = stays;
        let made: HashSet<Register> = behind.iter().flat_map(|instruction| instruction.results.clone()).collect();
        let is_made = |operand: &Operand| operand.register().is_some_and(|register| made.contains(&register));
        // What the branch yielded and now is made behind it has the name that it had there.
        let mut names: HashMap<Register, Register> = HashMap::new();
        let keep: Vec<bool> = some.results.iter().map(|result| !is_made(result)).collect();
        for (&result, yielded) in guard.results.iter().zip(&some.results) {
            if let Some(register) = yielded.register().filter(|register| made.contains(register)) {
                names.insert(register, result);
            }
        }
        retain(&mut guard.results, &keep);
        retain(&mut none.results, &keep);
        retain(&mut some.results, &keep);
        // The scalars that it needs from the branch.
        let inside: HashSet<Register> =
            some.instructions.iter().flat_map(|instruction| instruction.results.clone()).collect();
        let needed = behind.iter().flat_map(|instruction| instruction.operands.clone()).filter_map(Operand::register);
        for register in needed.filter(|register| inside.contains(register)).collect::<Vec<_>>() {
            if names.contains_key(&register) {
                continue;
            }
            let ty = function.register_type(register);
            let RegisterType::Scalar(scalar) = ty else { unreachable!("columns are made behind the branch") };
            let result = Register::add(&mut function.registers, ty);
            guard.results.push(result);
            none.results.push(Operand::Constant(scalar.zero()));
            some.results.push(register.into());
            names.insert(register, result);
        }
        for instruction in &mut behind {
            for operand in &mut instruction.operands {
                if let Some(&name) = operand.register().and_then(|register| names.get(&register)) {
                    *operand = name.into();
                }
            }
            for result in &mut instruction.results {
                *result = names.get(result).copied().unwrap_or(*result);
            }
        }
        behind
    }

    /// Which instructions of a branch can go behind it: they make columns of as many elements as `count` of such
    /// columns, cannot fail where that is none, and no others need them, nor are they `pinned`.
    fn leaving(&self, function: &Function, count: Operand, branch: &Block, pinned: &HashSet<Register>) -> Vec<bool> {
        let instructions = &branch.instructions;
        let own: HashSet<Register> =
            instructions.iter().flat_map(|instruction| instruction.results.iter().copied()).collect();
        let mut made: HashSet<Register> = HashSet::new();
        let mut leaves = vec![false; instructions.len()];
        for (index, instruction) in instructions.iter().enumerate() {
            let is_column = |operand: Operand| matches!(function.operand_type(operand), RegisterType::Column(_));
            let is_scalar = |operand: Operand| matches!(function.operand_type(operand), RegisterType::Scalar(_));
            let is_outer = |operand: Operand| operand.register().is_none_or(|register| !own.contains(&register));
            let is_long_so = |operand: Operand| {
                let Some(register) = operand.register() else { return false };
                made.contains(&register) || is_outer(operand) && self.lengths.get(&register) == Some(&count)
            };
            let operands = &instruction.operands;
            let all = |test: &dyn Fn(usize, Operand) -> bool| {
                operands.iter().enumerate().all(|(position, &operand)| test(position, operand))
            };
            leaves[index] = match &instruction.op {
                Op::Map(_) => all(&|_, operand| !is_column(operand) || is_long_so(operand)),
                // Where there are no elements the start of a slice that is made here is 0.
                Op::Vector(VectorOp::Slice) => {
                    operands[2] == count && is_outer(operands[0]) && (operands[1] == ZERO || !is_outer(operands[1]))
                }
                Op::Vector(op) => match op.fusion() {
                    Fusion::Element(aligned) => {
                        let is_as_many = match op.elements() {
                            Elements::Value(position) => operands[position] == count,
                            _ => !aligned.is_empty(),
                        };
                        let fits = |position, operand| match aligned.contains(&position) {
                            true => is_long_so(operand),
                            false => is_scalar(operand) || is_outer(operand),
                        };
                        is_as_many && all(&fits)
                    }
                    _ => false,
                },
                _ => false,
            };
            if leaves[index] {
                made.insert(instruction.results[0]);
            }
        }
        keep_needed(function, instructions, pinned, &mut made, &mut leaves);
        leaves
    }
}

/// Keeps in a branch what others there need; what may fail before another that does, since the first failure stays the
/// first; and what is made of such.
fn keep_needed(
    function: &Function,
    instructions: &[Instruction],
    pinned: &HashSet<Register>,
    made: &mut HashSet<Register>,
    leaves: &mut [bool],
) {
    let own: HashSet<Register> =
        instructions.iter().flat_map(|instruction| instruction.results.iter().copied()).collect();
    let mut stays = true;
    while std::mem::take(&mut stays) {
        let mut needed = pinned.clone();
        let mut is_last = true;
        for (index, instruction) in instructions.iter().enumerate().rev() {
            let may_fail = has_effect(&instruction.op, &instruction.operands);
            let is_needed = instruction.results.iter().any(|result| needed.contains(result));
            let reads_own = instruction.operands.iter().filter_map(|&operand| operand.register()).any(|register| {
                let is_column = matches!(function.register_type(register), RegisterType::Column(_));
                is_column && own.contains(&register) && !made.contains(&register)
            });
            if leaves[index] && (is_needed || may_fail && !is_last || reads_own) {
                leaves[index] = false;
                made.remove(&instruction.results[0]);
                stays = true;
            }
            if !leaves[index] {
                instruction.visit_reads(&mut |register| _ = needed.insert(register));
                is_last &= !may_fail;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::run;
    use crate::passes::testing::{body_becomes, stays};

    #[test]
    fn elementwise_instructions_go_behind_the_guard() {
        body_becomes(
            run,
            "(%0: column int, %1: column int, %2: int) -> column bool",
            "%3 = length %0
             %4 = length %1
             %5 = equal.int %3 0
             %10 = if %5 {
               %6 = constants bool []
               yield %6
             } else {
               %7 = check_index %2 %4
               %8 = extract %1 %7
               %9 = map less.int %0 %8
               yield %9
             }
             return %10",
            "%3 = length %0
             %4 = length %1
             %5 = equal.int %3 0
             %8 = if %5 { yield 0 } else {
               %6 = check_index %2 %4
               %7 = extract %1 %6
               yield %7
             }
             %9 = map less.int %0 %8
             return %9",
        );
    }

    #[test]
    fn slices_begin_where_the_branch_says() {
        body_becomes(
            run,
            "(%0: column int, %1: int, %2: int) -> column int, int",
            "%3 = length %0
             %4 = equal.int %1 0
             %9, %12 = if %4 {
               %5 = constants int []
               yield %5 5
             } else {
               %6 = check_range %2 %1 %3
               %7 = slice %0 %6 %1
               %8 = map multiply.int %7 %7
               %10 = dist 2 %1
               %11 = map divide.int %8 %10
               yield %11 %2
             }
             return %9 %12",
            "%3 = length %0
             %4 = equal.int %1 0
             %5, %7 = if %4 { yield 5 0 } else {
               %6 = check_range %2 %1 %3
               yield %2 %6
             }
             %8 = slice %0 %7 %1
             %9 = map multiply.int %8 %8
             %10 = dist 2 %1
             %11 = map divide.int %9 %10
             return %11 %5",
        );
    }

    #[test]
    fn what_is_needed_or_fails_first_or_may_be_longer_stays() {
        // It is summed up in the branch; it may fail before an index does; nothing says how long the column is; where
        // there is nothing it is another column.
        stays(
            run,
            "function f(%0: column int, %1: column int, %2: int) -> column int, column int, column int, column int {
               %3 = length %0
               %4 = equal.int %3 0
               %9 = if %4 {
                 %5 = constants int []
                 yield %5
               } else {
                 %6 = map add.int %0 1
                 %7 = reduce.add.int %6
                 %8 = build %7
                 yield %8
               }
               %13 = if %4 {
                 %10 = constants int []
                 yield %10
               } else {
                 %11 = map divide.int 1 %0
                 %12 = check_index %2 %3
                 yield %11
               }
               %16 = if %4 {
                 %14 = constants int []
                 yield %14
               } else {
                 %15 = map add.int %1 1
                 yield %15
               }
               %18 = if %4 { yield %1 } else {
                 %17 = map add.int %0 2
                 yield %17
               }
               return %9 %13 %16 %18
             }",
        );
    }
}

//! What is the same in all turns of a loop is computed before it: for code that runs one instance after another and
//! leaves errors to others.
//!
//! A loop is a function that ends by calling itself ([`crate::tail`]). What is computed in each of its turns from
//! parameters that it hands on as they are is computed where the loop is entered, once its condition has been looked
//! at: scalars only, such as where row `i` of a matrix begins in a loop over its elements, so that nothing is kept in
//! memory. This is *loop-invariant code motion*, with *loop inversion*.
//!
//! ```text
//! function f(D, X, i, j) {             where f is called:
//!   if j < n {                           if j < n {
//!     s = extract (starts D) i             s = extract (starts D) i
//!     …                                    call f/turns D X i j s
//!     call f D Y i (j + 1)               } else { … }
//!   } else { … }                       function f/turns(D, X, i, j, s) {
//! }                                      if j < n { …; call f/turns D Y i (j + 1) s } else { … } }
//! ```
//!
//! What may fail is computed before the other things of the first turn, which changes which of several failures comes
//! first, and nothing else.

use crate::passes::effect::has_effect;
use crate::passes::entering;
use crate::program::{Block, Function, FunctionId, Instruction, Op, Operand, Program, Register, RegisterType};
use crate::tail;
use std::collections::HashSet;

/// The most instructions that entering a loop may take.
const MOST: usize = 48;

/// Computes before loops what is the same in all of their turns.
pub fn run(program: &mut Program) {
    let mut entered: Vec<Option<Function>> = Vec::new();
    for index in 0..program.functions.len() {
        let (id, own) = (FunctionId(index as u32), FunctionId(program.functions.len() as u32));
        let split = split(&program.functions[index], id, own);
        entered.push(split.map(|(enters, turns)| {
            program.functions.push(turns);
            enters
        }));
    }
    entering::enter(program, &entered);
}

/// The function that enters a loop, and the loop, if there is something to compute before it.
fn split(function: &Function, id: FunctionId, own: FunctionId) -> Option<(Function, Function)> {
    let invariants = tail::handed_on(function, id)?;
    let (end, before) = function.body.instructions.split_last()?;
    tail::last(&function.body)?;
    let Op::If(then_block, else_block) = &end.op else { return None };
    let (goes_on, is_then) = match [then_block, else_block].map(|block| block.functions().contains(&id)) {
        [true, false] => (then_block, true),
        [false, true] => (else_block, false),
        _ => return None,
    };
    let mut hoisting = Hoisting { function, same: invariants, moved: Vec::new() };
    let before_left = hoisting.rest(before);
    let moved_from_before = hoisting.moved.len();
    let turn_left = hoisting.rest(&goes_on.instructions);
    let moved = hoisting.moved;
    let is_worth_it = |instruction: &Instruction| {
        let reads = matches!(instruction.op, Op::Vector(op) if !op.is_known() && !op.is_at_hand());
        reads || has_effect(&instruction.op, &instruction.operands)
    };
    if !moved.iter().any(is_worth_it) {
        return None;
    }
    let with_turn = |instructions: Vec<Instruction>, results: Vec<Operand>| {
        let goes_on = Box::new(Block::new(instructions, results));
        if is_then { Op::If(goes_on, else_block.clone()) } else { Op::If(then_block.clone(), goes_on) }
    };
    let mut body = before_left;
    body.push(Instruction { op: with_turn(turn_left, goes_on.results.clone()), ..end.clone() });
    let mut body = Block::new(body, function.body.results.clone());
    let passed = read_of(function, &body, &moved);
    let parameters = [&function.parameters[..], &passed[..]].concat();
    tail::rename_ends(&mut body, id, own, &passed);
    let turns = Function { name: format!("{}/turns", function.name), parameters, body, ..function.clone() };
    let mut registers = function.registers.clone();
    let types: Vec<RegisterType> = end.results.iter().map(|&result| function.register_type(result)).collect();
    let results = Register::add_all(&mut registers, types);
    let values = results.iter().map(|&result| result.into()).collect();
    let operands = turns.parameters.iter().map(|&parameter| parameter.into()).collect();
    let mut first_turn = moved[moved_from_before..].to_vec();
    first_turn.push(Instruction::new(Op::Call(own), operands, results, end.place));
    let mut body = before.to_vec();
    body.push(Instruction { op: with_turn(first_turn, values), ..end.clone() });
    let body = Block::new(body, function.body.results.clone());
    let enters = Function { registers, body, ..function.clone() };
    (enters.body.size() <= MOST).then_some((enters, turns))
}

/// What moves out of a loop.
struct Hoisting<'a> {
    function: &'a Function,
    /// What is the same in all turns.
    same: HashSet<Register>,
    moved: Vec<Instruction>,
}

impl Hoisting<'_> {
    /// The instructions of a block that do not move; those that do are added.
    fn rest(&mut self, instructions: &[Instruction]) -> Vec<Instruction> {
        let mut rest = Vec::with_capacity(instructions.len());
        for instruction in instructions {
            let moves = self.moves(instruction);
            if moves {
                self.same.extend(&instruction.results);
                self.moved.push(instruction.clone());
            }
            // Columns are not handed on: where they are says what they are of.
            if !moves || !gives_scalars(self.function, instruction) {
                rest.push(instruction.clone());
            }
        }
        rest
    }

    fn moves(&self, instruction: &Instruction) -> bool {
        let is_same = |operand: &Operand| match operand {
            Operand::Register(register) => self.same.contains(register),
            Operand::Constant(_) => true,
        };
        let is_kind = match instruction.op {
            Op::Scalar(_) => true,
            Op::Vector(op) => op.is_at_hand() || op.gives_scalar(),
            _ => false,
        };
        is_kind && instruction.operands.iter().all(is_same)
    }
}

/// Whether all results of an instruction are scalars.
fn gives_scalars(function: &Function, instruction: &Instruction) -> bool {
    let is_scalar = |&result: &Register| matches!(function.register_type(result), RegisterType::Scalar(_));
    instruction.results.iter().all(is_scalar)
}

/// The scalars that some instructions give and a block reads, in order.
fn read_of(function: &Function, block: &Block, moved: &[Instruction]) -> Vec<Register> {
    let mut read = HashSet::new();
    block.visit_reads(&mut |register| {
        read.insert(register);
    });
    let scalars = moved.iter().filter(|instruction| gives_scalars(function, instruction));
    scalars.flat_map(|instruction| &instruction.results).copied().filter(|result| read.contains(result)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::testing::{becomes, stays};

    fn tidied(program: &mut Program) {
        run(program);
        crate::passes::dead::run(program);
        crate::passes::number::run(program);
    }

    const SUM_OF_ROW: &str = "function main(%0: descriptor, %1: column int, %2: int) -> int, int {
           %3, %4 = call f %0 %1 %2 0 0
           return %3 %4
         }
         function f(%0: descriptor, %1: column int, %2: int, %3: int, %4: int) -> int, int {
           %5 = less.int %3 10
           %6, %7 = if %5 {
             %8 = segments %0
             %9 = check_index %2 %8
             %10 = starts %0
             %11 = extract %10 %9
             %12 = add.int %11 %3
             %13 = extract %1 %12
             %14 = add.int %4 %13
             %15 = add.int %3 1
             %16, %17 = call f %0 %1 %2 %15 %14
             yield %16 %17
           } else { yield %4 %3 }
           return %6 %7
         }";

    #[test]
    fn what_is_the_same_in_all_turns_is_computed_where_the_loop_is_entered() {
        let enter = |base: usize, first: &str, sum: &str| {
            let [is_inside, results, others, count, index, starts, start, given, more] =
                [0, 1, 2, 3, 4, 5, 6, 7, 8].map(|further| base + further);
            format!(
                "%{is_inside} = less.int {first} 10
                 %{results}, %{others} = if %{is_inside} {{
                   %{count} = segments %0
                   %{index} = check_index %2 %{count}
                   %{starts} = starts %0
                   %{start} = extract %{starts} %{index}
                   %{given}, %{more} = call f/turns %0 %1 %2 {first} {sum} %{start}
                   yield %{given} %{more}
                 }} else {{ yield {sum} {first} }}"
            )
        };
        let after = format!(
            "function main(%0: descriptor, %1: column int, %2: int) -> int, int {{
               {}
               return %4 %5
             }}
             function f(%0: descriptor, %1: column int, %2: int, %3: int, %4: int) -> int, int {{
               {}
               return %6 %7
             }}
             function f/turns(%0: descriptor, %1: column int, %2: int, %3: int, %4: int, %5: int) -> int, int {{
               %6 = less.int %3 10
               %7, %8 = if %6 {{
                 %9 = add.int %5 %3
                 %10 = extract %1 %9
                 %11 = add.int %4 %10
                 %12 = add.int %3 1
                 %13, %14 = call f/turns %0 %1 %2 %12 %11 %5
                 yield %13 %14
               }} else {{ yield %4 %3 }}
               return %7 %8
             }}",
            enter(3, "0", "0"),
            enter(5, "%3", "%4")
        );
        let mut expected = crate::parse::parse(&after).unwrap_or_else(|error| panic!("{error}\n{after}"));
        crate::passes::number::run(&mut expected);
        becomes(tidied, SUM_OF_ROW, &expected.to_string());
    }

    #[test]
    fn what_changes_or_is_behind_another_condition_stays() {
        let loop_of = |turn: &str| {
            format!(
                "function f(%0: column int, %1: int, %2: int) -> int {{
                   %3 = less.int %2 10
                   %4 = if %3 {{
                     {turn}
                   }} else {{ yield %2 }}
                   return %4
                 }}"
            )
        };
        // An index that goes up; a column that is written to.
        stays(run, &loop_of("%5 = extract %0 %2\n%6 = add.int %2 %5\n%7 = call f %0 %1 %6\nyield %7"));
        stays(
            run,
            &loop_of(
                "%5 = extract %0 %1\n%6 = build %5\n%7 = build %2\n%8 = scatter %0 %7 %6\n%9 = add.int %2 %5
                 %10 = call f %8 %1 %9\nyield %10",
            ),
        );
        // What some turns compute alone.
        stays(
            run,
            &loop_of(
                "%5 = equal.int %2 %1\n%6 = if %5 { %7 = extract %0 %1\nyield %7 } else { yield 1 }
                 %8 = add.int %2 %6\n%9 = call f %0 %1 %8\nyield %9",
            ),
        );
        // What costs less than to hand it on.
        stays(run, &loop_of("%5 = add.int %1 1\n%6 = add.int %2 %5\n%7 = call f %0 %1 %6\nyield %7"));
        // A call that does not end the function.
        stays(
            run,
            &loop_of("%5 = extract %0 %1\n%6 = add.int %2 %5\n%7 = call f %0 %1 %6\n%8 = add.int %7 1\nyield %8"),
        );
    }
}

//! What is only reduced and counted is never a column in memory.
//!
//! ```text
//! %4 = pack %1 %3                         %4 = pack %1 %3
//! %5 = length %4                          %5 = map bool_to_int %3
//! %6 = equal.int %5 0                     %6 = reduce.add.int %5
//! %9 = if %6 { yield 0 } else {           %7 = reduce.maximum.int %4
//!   %7 = reduce.maximum.int %4            %8 = equal.int %6 0
//!   yield %7                              %9 = if %8 { yield 0 } else { yield %7 }
//! }
//! ```
//!
//! `if #kept == 0 then 0 else max_val(kept)` asks a filter's result for its length, and reduces it in a branch: it is
//! written to memory for these two alone, though one loop could find both. So if all that reads a column of a block,
//! elementwise through other columns too, are lengths and reductions, in the block or in branches of it, then
//! reductions go before the branches, and the length of what was packed is the number of flags that are true. A
//! reduction cannot fail; one that no branch would have read costs no more than its column did.

use crate::op::{Fusion, VectorOp};
use crate::program::{Block, Function, Instruction, Op, Operand, Place, Program, Register, RegisterType};
use nesl_prim::{ScalarOp, ScalarType};
use std::collections::{HashMap, HashSet};

/// Reduces early in all functions.
pub fn run(program: &mut Program) {
    for function in &mut program.functions {
        let mut body = std::mem::take(&mut function.body);
        block(function, &mut body);
        function.body = body;
    }
}

/// Reduces early in a block, and in its branches before.
fn block(function: &mut Function, block: &mut Block) {
    for instruction in &mut block.instructions {
        if let Op::If(then_block, else_block) = &mut instruction.op {
            self::block(function, then_block);
            self::block(function, else_block);
        }
    }
    let streamed = streamed(function, block);
    if streamed.is_empty() {
        return;
    }
    let mut early = Early { function, streamed, known: HashMap::new(), names: HashMap::new() };
    for mut instruction in std::mem::take(&mut block.instructions) {
        early.rename(&mut instruction);
        let column = instruction.results.first().copied().filter(|column| early.streamed.contains_key(column));
        // A branch may read what is reduced in this block; what asks for it in this block is gone.
        if early.answered(&instruction) {
            continue;
        }
        let place = instruction.place;
        block.instructions.push(instruction);
        if let Some(column) = column {
            early.answer(column, place, &mut block.instructions);
        }
    }
    early.rename_all(&mut block.results);
}

/// What is asked of a column that is only reduced and counted.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Question {
    Length,
    Reduction(ScalarOp),
}

impl Question {
    fn of(op: &Op) -> Option<Question> {
        match op {
            Op::Vector(VectorOp::Length) => Some(Question::Length),
            Op::Vector(VectorOp::Reduce(op)) => Some(Question::Reduction(*op)),
            _ => None,
        }
    }
}

/// A column that is only reduced and counted.
struct Streamed {
    /// What is asked of it, in order.
    questions: Vec<Question>,
    /// The flags by which it was packed.
    flags: Operand,
}

struct Early<'a> {
    function: &'a mut Function,
    streamed: HashMap<Register, Streamed>,
    /// The answers to questions.
    known: HashMap<(Register, Question), Register>,
    /// Registers that are others now.
    names: HashMap<Register, Register>,
}

impl Early<'_> {
    /// Adds the answers to what is asked of a column behind the instruction that makes it.
    fn answer(&mut self, column: Register, place: Place, instructions: &mut Vec<Instruction>) {
        let Streamed { questions, flags } = &self.streamed[&column];
        for &question in questions {
            let mut emit = |op, operands, ty| {
                let result = Register::add(&mut self.function.registers, ty);
                instructions.push(Instruction::new(op, operands, vec![result], place));
                result
            };
            let answer = match question {
                Question::Reduction(op) => {
                    let ty = RegisterType::Scalar(op.row().result);
                    emit(Op::Vector(VectorOp::Reduce(op)), vec![column.into()], ty)
                }
                Question::Length => {
                    let ones = Op::Map(ScalarOp::BoolToInt);
                    let ones = emit(ones, vec![*flags], RegisterType::Column(ScalarType::Int));
                    let sum = Op::Vector(VectorOp::Reduce(ScalarOp::AddInt));
                    emit(sum, vec![ones.into()], RegisterType::Scalar(ScalarType::Int))
                }
            };
            self.known.insert((column, question), answer);
        }
    }

    /// Whether an instruction asks what is known already; its result is that, then.
    fn answered(&mut self, instruction: &Instruction) -> bool {
        let question = Question::of(&instruction.op);
        let (Some(question), Some(&Operand::Register(column))) = (question, instruction.operands.first()) else {
            return false;
        };
        let Some(&answer) = self.known.get(&(column, question)) else { return false };
        self.names.insert(instruction.results[0], answer);
        true
    }

    /// Gives what an instruction reads its names, and takes answered questions out of its branches.
    fn rename(&mut self, instruction: &mut Instruction) {
        self.rename_all(&mut instruction.operands);
        if let Op::If(then_block, else_block) = &mut instruction.op {
            for branch in [then_block, else_block] {
                for mut instruction in std::mem::take(&mut branch.instructions) {
                    self.rename(&mut instruction);
                    if !self.answered(&instruction) {
                        branch.instructions.push(instruction);
                    }
                }
                self.rename_all(&mut branch.results);
            }
        }
    }

    fn rename_all(&self, operands: &mut [Operand]) {
        for operand in operands {
            if let Operand::Register(register) = operand
                && let Some(&name) = self.names.get(register)
            {
                *operand = name.into();
            }
        }
    }
}

/// Who reads columns.
#[derive(Default)]
struct Readers {
    /// What is asked of each.
    questions: HashMap<Register, Vec<Question>>,
    /// The columns that are made from each at the same index.
    elementwise: HashMap<Register, Vec<Register>>,
    /// Those that something else reads.
    others: HashSet<Register>,
}

impl Readers {
    /// Notes what an instruction of the block reads, or one of a branch.
    fn note(&mut self, instruction: &Instruction, is_in_branch: bool) {
        let aligned: &[usize] = match &instruction.op {
            Op::Map(_) => &[0, 1, 2],
            Op::Vector(op) => match op.fusion() {
                Fusion::Element(positions) => positions,
                Fusion::Filter(positions) => positions,
                _ => &[],
            },
            _ => &[],
        };
        for (position, operand) in instruction.operands.iter().enumerate() {
            let Operand::Register(register) = *operand else { continue };
            match Question::of(&instruction.op) {
                Some(question) => {
                    let questions = self.questions.entry(register).or_default();
                    if !questions.contains(&question) {
                        questions.push(question);
                    }
                }
                None if aligned.contains(&position) && !is_in_branch => {
                    self.elementwise.entry(register).or_default().push(instruction.results[0]);
                }
                None => {
                    self.others.insert(register);
                }
            }
        }
        if let Op::If(then_block, else_block) = &instruction.op {
            for branch in [then_block, else_block] {
                branch.instructions.iter().for_each(|instruction| self.note(instruction, true));
                self.note_results(branch);
            }
        } else if let Op::Fused(_) = &instruction.op {
            instruction.visit_reads(&mut |register| {
                self.others.insert(register);
            });
        }
    }

    fn note_results(&mut self, block: &Block) {
        let registers = block.results.iter().filter_map(|operand| match operand {
            Operand::Register(register) => Some(*register),
            Operand::Constant(_) => None,
        });
        self.others.extend(registers);
    }
}

/// The columns of a block that are packed by flags, or made elementwise of such, and that are only reduced and counted:
/// those of which anything is asked that a loop would not answer by itself.
fn streamed(function: &Function, block: &Block) -> HashMap<Register, Streamed> {
    let is_pack = |instruction: &Instruction| matches!(instruction.op, Op::Vector(VectorOp::Pack));
    if !block.instructions.iter().any(is_pack) {
        return HashMap::new();
    }
    let mut readers = Readers::default();
    block.instructions.iter().for_each(|instruction| readers.note(instruction, false));
    readers.note_results(block);
    // The flags by which columns were packed, whatever has been made of them since.
    let mut flags: HashMap<Register, Operand> = HashMap::new();
    for instruction in &block.instructions {
        let &[result] = &instruction.results[..] else { continue };
        if !matches!(function.register_type(result), RegisterType::Column(_)) {
            continue;
        }
        let of_packed = |positions: &[usize]| {
            let operands = positions.iter().filter_map(|&position| instruction.operands.get(position));
            operands
                .filter_map(|operand| match operand {
                    Operand::Register(register) => flags.get(register).copied(),
                    Operand::Constant(_) => None,
                })
                .next()
        };
        let by = match &instruction.op {
            Op::Vector(VectorOp::Pack) => Some(instruction.operands[1]),
            Op::Map(_) => of_packed(&[0, 1, 2]),
            Op::Vector(op) => match op.fusion() {
                Fusion::Element(positions) => of_packed(positions),
                _ => None,
            },
            _ => None,
        };
        if let Some(by) = by {
            flags.insert(result, by);
        }
    }
    // Readers come after what they read.
    let mut only: HashSet<Register> = HashSet::new();
    for instruction in block.instructions.iter().rev() {
        let &[result] = &instruction.results[..] else { continue };
        let is_read_so =
            readers.elementwise.get(&result).is_none_or(|made| made.iter().all(|made| only.contains(made)));
        if flags.contains_key(&result) && !readers.others.contains(&result) && is_read_so {
            only.insert(result);
        }
    }
    let mut streamed = HashMap::new();
    for column in only {
        if let Some(questions) = readers.questions.remove(&column) {
            streamed.insert(column, Streamed { questions, flags: flags[&column] });
        }
    }
    streamed
}

#[cfg(test)]
mod tests {
    use super::run;
    use crate::passes::testing::{body_becomes, stays};

    #[test]
    fn what_is_counted_and_reduced_in_a_branch_is_so_before_it() {
        body_becomes(
            run,
            "(%0: column int, %1: column bool) -> int",
            "%2 = pack %0 %1
             %3 = map multiply.int %2 %2
             %4 = length %3
             %5 = equal.int %4 0
             %9 = if %5 { yield 0 } else {
               %6 = reduce.add.int %3
               %7 = length %3
               %8 = divide.int %6 %7
               yield %8
             }
             return %9",
            "%2 = pack %0 %1
             %3 = map multiply.int %2 %2
             %4 = map bool_to_int %1
             %5 = reduce.add.int %4
             %6 = reduce.add.int %3
             %7 = equal.int %5 0
             %9 = if %7 { yield 0 } else {
               %8 = divide.int %6 %5
               yield %8
             }
             return %9",
        );
    }

    #[test]
    fn what_is_read_otherwise_is_a_column_anyway() {
        // It is yielded; read in a branch elementwise; read at an index; or made of what is one.
        stays(
            run,
            "function f(%0: column int, %1: column bool, %2: bool) -> int, column int, int, int, int {
               %3 = pack %0 %1
               %4 = length %3
               %5 = map add.int %0 1
               %6 = pack %5 %1
               %7 = length %6
               %11 = if %2 { yield 0 } else {
                 %8 = map add.int %6 1
                 %9 = reduce.add.int %8
                 %10 = reduce.add.int %6
                 yield %10
               }
               %12 = map add.int %3 1
               %13 = length %12
               %14 = extract %12 0
               return %4 %3 %7 %11 %14
             }",
        );
    }

    #[test]
    fn columns_that_are_there_are_reduced_where_they_were() {
        stays(
            run,
            "function f(%0: column int, %1: bool) -> int {
               %2 = map add.int %0 1
               %4 = if %1 { yield 0 } else {
                 %3 = reduce.add.int %2
                 yield %3
               }
               return %4
             }",
        );
    }
}

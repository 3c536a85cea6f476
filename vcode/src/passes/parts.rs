//! Writing part after part: where all values are the same, a scatter by indices that lie one after another in a
//! concatenation is a scatter by each of its parts.
//!
//! `dist(t, n) <- {(i, f) : i in computed ++ [0, 1]}` need not hold the indices: those that are computed are written to
//! as they are computed, and then the few others.
//!
//! Only where a part is computed by elements for this one reader: else the copy that a concatenation makes is not worth
//! more instructions. Indices are checked part by part. An index of a later part that is out of range is looked for
//! without a failure, and then the check that fails counts the elements before it.

use crate::op::{Fusion, VectorOp};
use crate::passes::effect;
use crate::passes::writer::Writer;
use crate::program::{Block, Function, Instruction, Op, Operand, Program, Register, RegisterType};
use nesl_prim::{ScalarOp, ScalarType, ScalarValue};
use std::collections::HashMap;

/// Parts of a concatenation that are worth instructions of their own.
const MOST: usize = 4;

/// Writes by parts in all functions.
pub fn run(program: &mut Program) {
    for function in &mut program.functions {
        let Function { registers, body, .. } = function;
        let mut readers = vec![0; registers.len()];
        body.visit_reads(&mut |register| readers[register.0 as usize] += 1);
        block(body, registers, &readers);
    }
}

/// A scatter that can be done by parts.
struct Found {
    /// Where the concatenation, the check and the scatter stand.
    concat: usize,
    check: Option<usize>,
    scatter: usize,
    value: Operand,
}

fn block(block: &mut Block, registers: &mut Vec<RegisterType>, readers: &[usize]) {
    for instruction in &mut block.instructions {
        if let Op::If(then_block, else_block) = &mut instruction.op {
            self::block(then_block, registers, readers);
            self::block(else_block, registers, readers);
        }
    }
    let mut from = 0;
    while let Some(found) = find(&block.instructions, from, readers) {
        let instructions = &mut block.instructions;
        let scatter = instructions[found.scatter].clone();
        let mut writer = Writer::at(scatter.place, registers);
        writer.parts(instructions, &found, &scatter);
        let output = writer.instructions;
        from = found.scatter + output.len();
        instructions.splice(found.scatter..=found.scatter, output);
        for gone in [found.check, Some(found.concat)].into_iter().flatten() {
            instructions.remove(gone);
            from -= 1;
        }
    }
}

/// The first scatter from a position on that can be done by parts.
fn find(instructions: &[Instruction], from: usize, readers: &[usize]) -> Option<Found> {
    let mut places: HashMap<Register, usize> = HashMap::new();
    for (place, instruction) in instructions.iter().enumerate() {
        if place >= from
            && instruction.op == Op::Vector(VectorOp::Scatter)
            && let Some(found) = parts_of(instructions, &places, place, readers)
        {
            return Some(found);
        }
        places.extend(instruction.results.iter().map(|&result| (result, place)));
    }
    None
}

fn parts_of(
    instructions: &[Instruction],
    places: &HashMap<Register, usize>,
    scatter: usize,
    readers: &[usize],
) -> Option<Found> {
    let place_of = |operand: Operand| match operand {
        Operand::Register(register) => places.get(&register).copied(),
        Operand::Constant(_) => None,
    };
    let once = |operand: Operand| match operand {
        Operand::Register(register) if readers.get(register.0 as usize) == Some(&1) => places.get(&register).copied(),
        _ => None,
    };
    let &[_, indices, values] = instructions[scatter].operands.as_slice() else { return None };
    let values = &instructions[place_of(values)?];
    if values.op != Op::Vector(VectorOp::Dist) {
        return None;
    }
    let mut concat = once(indices)?;
    let check = (instructions[concat].op == Op::Map(ScalarOp::CheckIndex)).then_some(concat);
    if check.is_some() {
        concat = once(instructions[concat].operands[0])?;
    }
    let parts = &instructions[concat];
    let is_computed = |&part: &Operand| once(part).is_some_and(|place| makes_elements(&instructions[place].op));
    let is_worth = parts.op == Op::Vector(VectorOp::Concat)
        && (2..=MOST).contains(&parts.operands.len())
        && parts.operands.iter().any(is_computed);
    // The check moves down to the scatter, past what neither fails nor needs it.
    let mut between = instructions[concat + 1..scatter].iter().enumerate();
    let is_free = between.all(|(offset, other)| Some(concat + 1 + offset) == check || needs_nothing(other));
    (is_worth && is_free).then_some(Found { concat, check, scatter, value: values.operands[0] })
}

/// Whether an instruction can be in the loop that uses its elements.
fn makes_elements(op: &Op) -> bool {
    match op {
        Op::Map(_) => true,
        Op::Vector(op) => matches!(op.fusion(), Fusion::Element(_) | Fusion::Filter(_)),
        _ => false,
    }
}

/// Whether an instruction neither fails nor needs that another one before it has not.
fn needs_nothing(instruction: &Instruction) -> bool {
    let is_simple = match &instruction.op {
        Op::Scalar(_) | Op::Constants(_) => true,
        Op::Vector(op) => op.is_known() || op.is_scalar_source(),
        _ => false,
    };
    is_simple && !effect::has_effect(&instruction.op, &instruction.operands)
}

const INTS: RegisterType = RegisterType::Column(ScalarType::Int);
const BOOLS: RegisterType = RegisterType::Column(ScalarType::Bool);
const INT: RegisterType = RegisterType::Scalar(ScalarType::Int);

impl Writer<'_> {
    /// Writes by one part after another. The last result is that of the scatter.
    fn parts(&mut self, instructions: &[Instruction], found: &Found, scatter: &Instruction) {
        let result = scatter.results[0];
        let ty = self.registers[result.0 as usize];
        let mut target = scatter.operands[0];
        let mut before: Option<Operand> = None;
        let parts = instructions[found.concat].operands.clone();
        for (number, &part) in parts.iter().enumerate() {
            let count = self.vector(VectorOp::Length, &[part], INT);
            let mut indices = part;
            if let Some(check) = found.check.map(|place| &instructions[place]) {
                let place = std::mem::replace(&mut self.place, check.place);
                match before {
                    None => indices = self.add(check.op.clone(), &[part, check.operands[1]], INTS),
                    Some(before) => self.check_later(part, check.operands[1], before),
                }
                self.place = place;
            }
            let values = self.vector(VectorOp::Dist, &[found.value, count], self.column_of(found.value));
            if number + 1 == parts.len() {
                let operands = vec![target, indices, values];
                self.instructions.push(Instruction::new(scatter.op.clone(), operands, vec![result], self.place));
                return;
            }
            target = self.vector(VectorOp::Scatter, &[target, indices, values], ty);
            before = Some(match before {
                None => count,
                Some(before) => self.add(Op::Scalar(ScalarOp::AddInt), &[before, count], INT),
            });
        }
    }

    /// Fails where an index of a part is out of range, before which so many others are not.
    fn check_later(&mut self, part: Operand, length: Operand, before: Operand) {
        let zero = Operand::Constant(ScalarValue::Int(0));
        let from = self.add(Op::Map(ScalarOp::AtLeastInt), &[part, zero], BOOLS);
        let to = self.add(Op::Map(ScalarOp::LessInt), &[part, length], BOOLS);
        let both = self.add(Op::Map(ScalarOp::AndBool), &[from, to], BOOLS);
        let all = VectorOp::Reduce(ScalarOp::AndBool);
        let all = self.vector(all, &[both], RegisterType::Scalar(ScalarType::Bool));
        let outer = std::mem::take(&mut self.instructions);
        // What is before has been found in range, as 0 is then.
        let zeros = self.vector(VectorOp::Dist, &[zero, before], INTS);
        let indices = self.vector(VectorOp::Concat, &[zeros, part], INTS);
        self.add(Op::Map(ScalarOp::CheckIndex), &[indices, length], INTS);
        let fails = Block::new(std::mem::replace(&mut self.instructions, outer), Vec::new());
        let branches = Op::If(Box::default(), Box::new(fails));
        self.instructions.push(Instruction::new(branches, vec![all], Vec::new(), self.place));
    }

    fn column_of(&self, value: Operand) -> RegisterType {
        match self.type_of(value) {
            RegisterType::Scalar(ty) => RegisterType::Column(ty),
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::run;
    use crate::passes::testing;

    const SIGNATURE: &str = "(%0: column bool, %1: column int, %2: column int, %3: int, %4: int) -> column bool";

    #[test]
    fn computed_indices_are_written_to_before_the_others() {
        testing::body_becomes(
            run,
            SIGNATURE,
            "%5 = map multiply.int %1 2
             %6 = concat %5 %2
             %7 = map check_index %6 %3
             %8 = dist t %4
             %9 = scatter %0 %7 %8
             return %9",
            "%5 = map multiply.int %1 2
             %6 = length %5
             %7 = map check_index %5 %3
             %8 = dist t %6
             %9 = scatter %0 %7 %8
             %10 = length %2
             %11 = map at_least.int %2 0
             %12 = map less.int %2 %3
             %13 = map and.bool %11 %12
             %14 = reduce.and.bool %13
             if %14 { yield } else {
               %15 = dist 0 %6
               %16 = concat %15 %2
               %17 = map check_index %16 %3
               yield
             }
             %18 = dist t %10
             %19 = scatter %9 %2 %18
             return %19",
        );
    }

    #[test]
    fn what_has_no_parts_or_another_reader_stays() {
        for body in [
            // Nothing is computed for the scatter alone.
            "%5 = concat %1 %2\n%6 = map check_index %5 %3\n%7 = dist t %4\n%8 = scatter %0 %6 %7\nreturn %8",
            // Which value is written last counts.
            "%5 = map multiply.int %1 2\n%6 = concat %5 %2\n%7 = map less.int %6 3\n%8 = map check_index %6 %3\n\
             %9 = scatter %0 %8 %7\nreturn %9",
            // The division may fail.
            "%5 = map multiply.int %1 2\n%6 = concat %5 %2\n%7 = map check_index %6 %3\n%8 = divide.int 1 %4\n\
             %9 = dist t %8\n%10 = scatter %0 %7 %9\nreturn %10",
        ] {
            testing::body_becomes(run, SIGNATURE, body, body);
        }
    }
}

//! Recursion that only combines what a call gives carries that along instead, and becomes a loop: for code that runs
//! one instance after another and leaves errors to others.
//!
//! After `1 + ones(x and (x - 1))` there is an addition left to do, so the frame of each call stays until the last of
//! them has ended. Where the operation is associative and commutative to the bit, what is to be added can be added
//! before the call, to an *accumulator*: then nothing is left to do, and the call is a step of a loop
//! ([`crate::tail`]). Burstall and Darlington, *A Transformation System for Developing Recursive Programs*, 1977.
//!
//! ```text
//! function f(p…) {                     function f(p…) { return call f/accumulated(p…, identity, MOST) }
//!   if … { yield v }                   function f/accumulated(p…, a, left) {
//!   else {                               if left == 0 { fail }
//!     %1 = call f(q…)                    else if … { yield a + v }
//!     yield x + %1                       else { yield call f/accumulated(q…, a + x, left - 1) }
//!   }                                  }
//! }
//! ```
//!
//! Whether a recursion has an end is for those to say to whom errors are left: after [`MOST`] steps, which is less than
//! what they can go down, it fails, and they begin anew.
//!
//! All calls of a function in its own body must be such, or end it. What stands behind such a call moves before it,
//! which changes which of several failures comes first, and nothing else: whatever acts outside, or calls, stays.

use crate::passes::effect::has_effect;
use crate::program::{Block, Function, FunctionId, Instruction, Op, Operand, Place, Program, Register, RegisterType};
use nesl_prim::{ScalarOp, ScalarType, ScalarValue};

/// The most steps of a loop that was a recursion.
const MOST: i64 = 1 << 20;

/// Gives accumulators to all functions that can have one.
pub fn run(program: &mut Program) {
    for index in 0..program.functions.len() {
        let id = FunctionId(index as u32);
        let own = FunctionId(program.functions.len() as u32);
        let function = &program.functions[index];
        if let Some(accumulated) = accumulated(function, id, own) {
            program.functions[index] = enters(function, &accumulated);
            program.functions.push(accumulated.function);
        }
    }
}

/// A function with an accumulator.
struct Accumulated {
    function: Function,
    id: FunctionId,
    identity: ScalarValue,
}

/// The function that has the parameters of one before it had an accumulator, and calls it.
fn enters(function: &Function, accumulated: &Accumulated) -> Function {
    let mut registers = function.registers.clone();
    let result = Register::add(&mut registers, function.operand_type(function.body.results[0]));
    let parameters = function.parameters.iter().map(|&parameter| parameter.into());
    let others = [accumulated.identity, ScalarValue::Int(MOST)].map(Operand::Constant);
    let operands = parameters.chain(others).collect();
    let call = Instruction::new(Op::Call(accumulated.id), operands, vec![result], function.span);
    Function { registers, body: Block::new(vec![call], vec![result.into()]), ..function.clone() }
}

/// The function with an accumulator that is to have a number, if there is something to accumulate.
fn accumulated(function: &Function, id: FunctionId, own: FunctionId) -> Option<Accumulated> {
    let [result] = function.body.results[..] else { return None };
    let op = Recursion { id }.operation(&function.body, result)?;
    let identity = op.row().identity?;
    let mut registers = function.registers.clone();
    let ty = RegisterType::Scalar(op.row().result);
    let accumulator = Register::add(&mut registers, ty);
    let left = Register::add(&mut registers, RegisterType::Scalar(ScalarType::Int));
    let mut writer = Writer { recursion: Recursion { id }, own, op, fewer: left.into(), registers };
    let body = writer.body(function, accumulator, left)?;
    let accumulated = Function {
        name: format!("{}/accumulated", function.name),
        parameters: [&function.parameters[..], &[accumulator, left]].concat(),
        registers: writer.registers,
        body,
        span: function.span,
    };
    (!accumulated.body.functions().contains(&id)).then_some(Accumulated { function: accumulated, id: own, identity })
}

/// A function that calls itself.
#[derive(Clone, Copy)]
struct Recursion {
    id: FunctionId,
}

impl Recursion {
    /// By which operation the result of a block combines what calls of the function give, if it does so.
    fn operation(self, block: &Block, result: Operand) -> Option<ScalarOp> {
        let (_, definition) = definition(&block.instructions, result)?;
        match &definition.op {
            Op::If(then_block, else_block) => [then_block, else_block]
                .into_iter()
                .find_map(|block| self.operation(block, *block.results.first().filter(|_| block.results.len() == 1)?)),
            &Op::Scalar(op) if can_accumulate(op) => self.back(&block.instructions, definition, op).map(|_| op),
            _ => None,
        }
    }

    /// Of the operands of an operation that which calls of the function give, in the first place, and the other one.
    fn back(self, instructions: &[Instruction], combines: &Instruction, op: ScalarOp) -> Option<(Operand, Operand)> {
        let &[left, right] = &combines.operands[..] else { return None };
        let is_back = |operand| self.comes_back(instructions, operand, op);
        match (is_back(left), is_back(right)) {
            (true, false) => Some((left, right)),
            (false, true) => Some((right, left)),
            _ => None,
        }
    }

    /// Whether an operand is what a call of the function gives, or that combined with others, in some case.
    fn comes_back(self, instructions: &[Instruction], operand: Operand, op: ScalarOp) -> bool {
        let Some((_, definition)) = definition(instructions, operand) else { return false };
        match &definition.op {
            Op::Call(function) => *function == self.id,
            Op::If(then_block, else_block) if definition.results.len() == 1 => {
                let mut blocks = [then_block, else_block].into_iter();
                blocks.any(|block| self.comes_back(&block.instructions, block.results[0], op))
            }
            Op::Scalar(other) if *other == op => self.back(instructions, definition, op).is_some(),
            _ => false,
        }
    }
}

/// Whether it does not matter to the bit in which order an operation combines.
fn can_accumulate(op: ScalarOp) -> bool {
    let row = op.row();
    row.associative && row.commutative && row.identity.is_some()
}

/// Where in a block an operand is defined, and by what.
fn definition(instructions: &[Instruction], operand: Operand) -> Option<(usize, &Instruction)> {
    let Operand::Register(register) = operand else { return None };
    instructions.iter().enumerate().rfind(|(_, instruction)| instruction.results.contains(&register))
}

/// Takes an instruction to the end of a block; none if something behind it must stay there.
fn move_to_end(instructions: &mut Vec<Instruction>, at: usize) -> Option<()> {
    let moved = instructions.remove(at);
    let must_stay = instructions[at..].iter().any(|instruction| {
        let mut reads = false;
        instruction.visit_reads(&mut |register| reads |= moved.results.contains(&register));
        let may_fail_alone = matches!(instruction.op, Op::Scalar(_) | Op::Map(_) | Op::Vector(_));
        reads || !may_fail_alone && has_effect(&instruction.op, &instruction.operands)
    });
    instructions.push(moved);
    (!must_stay).then_some(())
}

struct Writer {
    recursion: Recursion,
    /// The number of the function with the accumulator.
    own: FunctionId,
    op: ScalarOp,
    /// How many steps are left after this one.
    fewer: Operand,
    registers: Vec<RegisterType>,
}

impl Writer {
    fn scalar(&mut self, block: &mut Vec<Instruction>, op: ScalarOp, operands: [Operand; 2], place: Place) -> Operand {
        let result = Register::add(&mut self.registers, RegisterType::Scalar(op.row().result));
        block.push(Instruction::new(Op::Scalar(op), operands.to_vec(), vec![result], place));
        result.into()
    }

    /// The body of the function: a step, if one is left.
    fn body(&mut self, function: &Function, accumulator: Register, left: Register) -> Option<Block> {
        let place = Place::from(function.span);
        let [zero, one] = [0, 1].map(|value| Operand::Constant(ScalarValue::Int(value)));
        let mut body = Vec::new();
        let is_over = self.scalar(&mut body, ScalarOp::EqualInt, [left.into(), zero], place);
        let mut fails = Vec::new();
        self.scalar(&mut fails, ScalarOp::CheckIndex, [zero, zero], place);
        let mut step = Vec::new();
        self.fewer = self.scalar(&mut step, ScalarOp::SubtractInt, [left.into(), one], place);
        let Block { instructions, results, .. } = self.end(&function.body, accumulator.into(), place)?;
        step.extend(instructions);
        let result = Register::add(&mut self.registers, RegisterType::Scalar(self.op.row().result));
        let [fails, step] = [(fails, vec![accumulator.into()]), (step, results)]
            .map(|(instructions, results)| Box::new(Block::new(instructions, results)));
        body.push(Instruction::new(Op::If(fails, step), vec![is_over], vec![result], place));
        Some(Block::new(body, vec![result.into()]))
    }

    /// A block that ends the function, where this has been accumulated; none if it cannot do so with accumulators.
    fn end(&mut self, block: &Block, mut accumulator: Operand, place: Place) -> Option<Block> {
        let recursion = self.recursion;
        let mut instructions = block.instructions.clone();
        let mut result = block.results[0];
        while let Some((at, found)) = definition(&instructions, result)
            && recursion.comes_back(&instructions, result, self.op)
        {
            let Instruction { op, place, .. } = found.clone();
            match op {
                Op::Scalar(op) => {
                    let (back, other) = recursion.back(&instructions, found, op)?;
                    instructions.remove(at);
                    let (at, _) = definition(&instructions, back)?;
                    move_to_end(&mut instructions, at)?;
                    let last = instructions.pop();
                    accumulator = self.scalar(&mut instructions, op, [accumulator, other], place);
                    instructions.extend(last);
                    result = back;
                }
                Op::If(then_block, else_block) => {
                    move_to_end(&mut instructions, at)?;
                    let then_block = Box::new(self.end(&then_block, accumulator, place)?);
                    let else_block = Box::new(self.end(&else_block, accumulator, place)?);
                    instructions.last_mut()?.op = Op::If(then_block, else_block);
                    return Some(Block::new(instructions, vec![result]));
                }
                _ => {
                    move_to_end(&mut instructions, at)?;
                    let call = instructions.last_mut()?;
                    call.op = Op::Call(self.own);
                    call.operands.extend([accumulator, self.fewer]);
                    return Some(Block::new(instructions, vec![result]));
                }
            }
        }
        let identity = self.op.row().identity.map(Operand::Constant);
        let result = match Some(result) == identity {
            true => accumulator,
            false => self.scalar(&mut instructions, self.op, [accumulator, result], place),
        };
        Some(Block::new(instructions, vec![result]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::testing::{becomes, stays};

    /// What a function of an int and a column becomes, by the body of its end and of the loop's.
    #[track_caller]
    fn loops(end: &str, identity: &str, step: &str) {
        let before = format!("function f(%0: int, %1: column int) -> int {{\n{end}\n}}");
        let after = format!(
            "function f(%0: int, %1: column int) -> int {{
               %2 = call f/accumulated %0 %1 {identity} 1048576
               return %2
             }}
             function f/accumulated(%0: int, %1: column int, %2: int, %3: int) -> int {{
               %4 = equal.int %3 0
               %5 = if %4 {{
                 %6 = check_index 0 0
                 yield %2
               }} else {{
                 %7 = subtract.int %3 1
                 {step}
               }}
               return %5
             }}"
        );
        let numbered = |text: &str| {
            let mut program = crate::parse::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
            crate::passes::number::run(&mut program);
            program.to_string()
        };
        let pass = |program: &mut Program| {
            run(program);
            crate::passes::number::run(program);
        };
        becomes(pass, &numbered(&before), &numbered(&after));
    }

    #[test]
    fn what_is_added_to_a_call_is_added_before_it() {
        loops(
            "%2 = equal.int %0 0
             %3 = if %2 { yield 7 } else {
               %4 = subtract.int %0 1
               %5 = call f %4 %1
               %6 = extract %1 %0
               %7 = add.int %6 %5
               yield %7
             }
             return %3",
            "0",
            "%8 = equal.int %0 0
             %9 = if %8 {
               %10 = add.int %2 7
               yield %10
             } else {
               %11 = subtract.int %0 1
               %12 = extract %1 %0
               %13 = add.int %2 %12
               %14 = call f/accumulated %11 %1 %13 %7
               yield %14
             }
             yield %9",
        );
    }

    #[test]
    fn calls_may_be_in_branches_and_end_the_function() {
        loops(
            "%2 = equal.int %0 0
             %3 = if %2 {
               %4 = call f 9 %1
               yield %4
             } else {
               %5 = equal.int %0 1
               %6 = if %5 { yield 2 } else {
                 %7 = call f 8 %1
                 %8 = maximum.int %7 %0
                 yield %8
               }
               %9 = maximum.int %0 %6
               yield %9
             }
             return %3",
            "-9223372036854775808",
            "%8 = equal.int %0 0
             %9 = if %8 {
               %10 = call f/accumulated 9 %1 %2 %7
               yield %10
             } else {
               %11 = equal.int %0 1
               %12 = maximum.int %2 %0
               %13 = if %11 {
                 %14 = maximum.int %12 2
                 yield %14
               } else {
                 %15 = maximum.int %12 %0
                 %16 = call f/accumulated 8 %1 %15 %7
                 yield %16
               }
               yield %13
             }
             yield %9",
        );
    }

    #[test]
    fn other_recursion_stays() {
        let stays = |lines: &[&str]| {
            let lines = lines.join("\n");
            let text = format!(
                "function f(%0: int, %1: float) -> float {{
                   %2 = equal.int %0 0
                   %3 = if %2 {{ yield %1 }} else {{
                     %4 = call f 1 %1
                     {lines}
                   }}
                   return %3
                 }}"
            );
            stays(run, &text);
        };
        // The order of float additions is seen in the result, and a difference is not commutative.
        stays(&["%5 = add.float %4 %1", "yield %5"]);
        stays(&["%5 = subtract.float %4 %1", "yield %5"]);
        // Nothing is left to do.
        stays(&["yield %4"]);
        // Two calls are a tree; what a call gives is read twice; something else is made of it first.
        stays(&["%5 = call f 2 %1", "%6 = maximum.float %4 %5", "yield %6"]);
        stays(&["%5 = maximum.float %4 %4", "yield %5"]);
        stays(&["%5 = negate.float %4", "%6 = maximum.float %1 %5", "yield %6"]);
        // What a call gives decides what is combined, or another call needs it.
        stays(&["%5 = less.float %4 %1", "%6 = select.float %5 %1 %4", "%7 = maximum.float %4 %6", "yield %7"]);
        stays(&["%5 = call f 3 %4", "%6 = maximum.float %5 %1", "yield %6"]);
    }
}

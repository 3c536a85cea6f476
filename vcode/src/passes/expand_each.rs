//! `each` as a guarded call of its lifted version: for formats that have no such instruction, and for passes that take
//! one apart.

use crate::each::Each;
use crate::op::VectorOp;
use crate::program::{Block, Function, Instruction, Op, Operand, Place, Program, Register, RegisterType};
use nesl_prim::{Constants, ScalarOp, ScalarType, ScalarValue};

/// Makes every `each` a call of its lifted version, guarded so that it does not run without instances: for formats that
/// have no such instruction.
pub fn expand(program: &mut Program) {
    for function in &mut program.functions {
        let mut body = std::mem::take(&mut function.body);
        expand_block(function, &mut body);
        function.body = body;
    }
}

fn expand_block(function: &mut Function, block: &mut Block) {
    for instruction in std::mem::take(&mut block.instructions) {
        match instruction.op {
            Op::Each(each) => {
                let call = |function: &mut Function| {
                    let results = Register::add_all(&mut function.registers, each.result_types());
                    let yields = results.iter().map(|&result| result.into()).collect();
                    let operands = instruction.operands.clone();
                    let call = Instruction::new(Op::Call(each.lifted), operands, results, instruction.place);
                    Block::new(vec![call], yields)
                };
                let some = call(function);
                let count = instruction.operands[0];
                block.instructions.extend(guarded(
                    &mut function.registers,
                    count,
                    &each,
                    some,
                    instruction.results,
                    instruction.place,
                ));
            }
            Op::If(mut first, mut second) => {
                expand_block(function, &mut first);
                expand_block(function, &mut second);
                block.instructions.push(Instruction { op: Op::If(first, second), ..instruction });
            }
            op => block.instructions.push(Instruction { op, ..instruction }),
        }
    }
}

/// The instructions that define `results` as what `some` yields where there are instances, and as empty where there are
/// none.
pub(crate) fn guarded(
    registers: &mut Vec<RegisterType>,
    count: Operand,
    each: &Each,
    some: Block,
    results: Vec<Register>,
    place: Place,
) -> [Instruction; 2] {
    let none = Register::add(registers, RegisterType::Scalar(ScalarType::Bool));
    let zero = Operand::Constant(ScalarValue::Int(0));
    let test = Instruction::new(Op::Scalar(ScalarOp::EqualInt), vec![count, zero], vec![none], place);
    let empty = nothing(registers, each, place);
    let op = Op::If(Box::new(empty), Box::new(some));
    [test, Instruction::new(op, vec![none.into()], results, place)]
}

/// A block that yields the results for no instances.
fn nothing(registers: &mut Vec<RegisterType>, each: &Each, place: Place) -> Block {
    let mut block = Block::default();
    let mut make = |op: Op, operands: Vec<Operand>, ty: RegisterType| {
        let result = Register::add(registers, ty);
        block.instructions.push(Instruction::new(op, operands, vec![result], place));
        Operand::Register(result)
    };
    let mut results = Vec::new();
    for ty in each.result_types() {
        let scalar = match ty {
            RegisterType::Column(scalar) | RegisterType::Scalar(scalar) => scalar,
            RegisterType::Descriptor => ScalarType::Int,
        };
        let constants = Op::Constants(Constants::from_scalars(scalar, &[]));
        let column = make(constants, Vec::new(), RegisterType::Column(scalar));
        results.push(match ty {
            RegisterType::Descriptor => make(Op::Vector(VectorOp::Packed), vec![column], ty),
            _ => column,
        });
    }
    block.results = results;
    block
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::testing::becomes;

    #[test]
    fn expanding_guards_a_call_of_the_lifted_version() {
        let functions = "function f(%0: int, %1: column int, %2: float) -> int, column int {
               return %0 %1
             }
             function f/L(%0: int, %1: descriptor, %2: column int, %3: float) -> descriptor, column int {
               return %1 %2
             }";
        becomes(
            expand,
            &format!(
                "{functions}
                 function g(%0: bool, %1: int, %2: descriptor, %3: column int) -> column int {{
                   %7 = if %0 {{
                     %4, %5 = each f f/L(of [int], float) -> [int] %1 %2 %3 1.5
                     %6 = compact %5 %4
                     yield %6
                   }} else {{ yield %3 }}
                   return %7
                 }}"
            ),
            &format!(
                "{functions}
                 function g(%0: bool, %1: int, %2: descriptor, %3: column int) -> column int {{
                   %7 = if %0 {{
                     %10 = equal.int %1 0
                     %4, %5 = if %10 {{
                       %11 = constants int []
                       %12 = packed %11
                       %13 = constants int []
                       yield %12 %13
                     }} else {{
                       %8, %9 = call f/L %1 %2 %3 1.5
                       yield %8 %9
                     }}
                     %6 = compact %5 %4
                     yield %6
                   }} else {{ yield %3 }}
                   return %7
                 }}"
            ),
        );
    }
}

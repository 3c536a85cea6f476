//! Which functions compute on scalars alone.
//!
//! They have nothing that vector instructions could be faster on: such a function is run for one instance after
//! another.

use nesl_prim::ScalarType;
use nesl_vcode::{Block, Function, FunctionId, Op, Program, RegisterType};

/// Whether a function and all that it calls, directly or not, have scalar registers only.
pub(in crate::machine) fn is_scalar_only(program: &Program, function: FunctionId) -> bool {
    let mut reached = vec![function];
    let mut next = 0;
    while let Some(&id) = reached.get(next) {
        next += 1;
        let function = &program.functions[id.0 as usize];
        if !has_only_scalars(function) || !calls(&function.body, &mut reached) {
            return false;
        }
    }
    true
}

/// The types of the results of a function of scalars alone.
pub(in crate::machine) fn results(program: &Program, function: FunctionId) -> Box<[ScalarType]> {
    let function = &program.functions[function.0 as usize];
    let result = |&operand| function.operand_type(operand).scalar_type();
    function.body.results.iter().map(result).collect()
}

fn has_only_scalars(function: &Function) -> bool {
    function.registers.iter().all(|register| matches!(register, RegisterType::Scalar(_)))
}

/// Adds the functions that a block calls; false if it does something else than to compute.
fn calls(block: &Block, reached: &mut Vec<FunctionId>) -> bool {
    block.instructions.iter().all(|instruction| match &instruction.op {
        Op::Call(function) => {
            if !reached.contains(function) {
                reached.push(*function);
            }
            true
        }
        Op::If(then_block, else_block) => calls(then_block, reached) && calls(else_block, reached),
        Op::Scalar(_) => true,
        Op::Map(_) | Op::Constants(_) | Op::Vector(_) | Op::Host(_) | Op::Each(_) | Op::Fused(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recursion_on_scalars_is_and_what_has_a_column_is_not() {
        let program = nesl_vcode::parse(
            "function f(%0: int) -> int {
               %1 = less.int %0 1
               %3 = if %1 { yield 1 } else {
                 %2 = call g %0
                 yield %2
               }
               return %3
             }
             function g(%0: int) -> int {
               %1 = subtract.int %0 1
               %2 = call f %1
               return %2
             }
             function h(%0: int) -> int {
               %1 = call f %0
               %2 = iota %1
               %3 = reduce.add.int %2
               return %3
             }
             function k(%0: int) -> int {
               %1 = call h %0
               return %1
             }",
        )
        .unwrap();
        let found: Vec<bool> = (0..4).map(|id| is_scalar_only(&program, FunctionId(id))).collect();
        assert_eq!(found, [true, true, false, false]);
    }
}

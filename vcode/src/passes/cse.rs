//! Common subexpressions: an instruction that was computed before, in this block or one around it, is not computed again.
//!
//! But for the world outside, VCODE has no state, so equal instructions on equal operands have equal results. One that can
//! fail has failed the first time if it does. Calls and `if`s stay: equal ones are rare and long to compare.

use crate::op::VectorOp;
use crate::passes::rewrite::{self, Action, Context, Rule};
use crate::program::{Instruction, Op, Operand, Program};
use nesl_prim::{Constants, ScalarOp, ScalarType};
use std::collections::HashMap;

/// Shares equal instructions in all functions.
pub fn run(program: &mut Program) {
    for function in &mut program.functions {
        rewrite::rewrite(function, &mut Share { known: HashMap::new(), scopes: vec![Vec::new()] });
    }
}

/// What makes two instructions equal.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    Scalar(ScalarOp, Vec<Operand>),
    Map(ScalarOp, Vec<Operand>),
    Vector(VectorOp, Vec<Operand>),
    /// The elements by their bits.
    Constants(ScalarType, Vec<u64>),
}

fn key(instruction: &Instruction) -> Option<Key> {
    let operands = || instruction.operands.clone();
    let ordered = |op: ScalarOp| {
        let mut operands = operands();
        if op.row().commutative {
            operands.sort_by_key(rank);
        }
        operands
    };
    match &instruction.op {
        Op::Scalar(op) => Some(Key::Scalar(*op, ordered(*op))),
        Op::Map(op) => Some(Key::Map(*op, ordered(*op))),
        Op::Vector(op) => Some(Key::Vector(*op, operands())),
        Op::Constants(constants) => Some(Key::Constants(constants.scalar_type(), bits(constants))),
        Op::Host(_) | Op::Call(_) | Op::If(..) => None,
    }
}

/// An order on the operands of a commutative operation. One of them is a register where it matters: two constants fold.
fn rank(operand: &Operand) -> Option<u32> {
    match operand {
        Operand::Register(register) => Some(register.0),
        Operand::Constant(_) => None,
    }
}

fn bits(constants: &Constants) -> Vec<u64> {
    match constants {
        Constants::Int(values) => values.iter().map(|&value| value as u64).collect(),
        Constants::Float(values) => values.iter().map(|value| value.to_bits()).collect(),
        Constants::Bool(values) => values.iter().map(|&value| u64::from(value)).collect(),
        Constants::Char(values) => values.iter().map(|&value| u64::from(value)).collect(),
    }
}

struct Share {
    known: HashMap<Key, Operand>,
    /// The keys that each open block has added.
    scopes: Vec<Vec<Key>>,
}

impl Rule for Share {
    fn rewrite(&mut self, _: &mut Context, instruction: &Instruction) -> Action {
        let (Some(key), [result]) = (key(instruction), instruction.results.as_slice()) else { return Action::Keep };
        if let Some(&value) = self.known.get(&key) {
            return Action::Replace(value);
        }
        if let Some(scope) = self.scopes.last_mut() {
            scope.push(key.clone());
        }
        self.known.insert(key, Operand::Register(*result));
        Action::Keep
    }

    fn enter(&mut self) {
        self.scopes.push(Vec::new());
    }

    fn leave(&mut self) {
        for key in self.scopes.pop().unwrap_or_default() {
            self.known.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::testing::{becomes, stays};

    #[test]
    fn equal_instructions_are_shared_also_those_that_can_fail() {
        becomes(
            run,
            "function f(%0: int, %1: int, %2: bool) -> int {
               %3 = add.int %0 %1
               %4 = add.int %1 %0
               %5 = divide.int %3 %1
               %6 = divide.int %4 %1
               %7 = constants char \"ab\"
               %11 = if %2 {
                 %8 = constants char \"ab\"
                 %9 = length %8
                 %10 = length %7
                 yield %10
               } else { yield %6 }
               return %11
             }",
            "function f(%0: int, %1: int, %2: bool) -> int unused %4: int, %6: int, %8: column char, %10: int {
               %3 = add.int %0 %1
               %5 = divide.int %3 %1
               %7 = constants char \"ab\"
               %11 = if %2 {
                 %9 = length %7
                 yield %9
               } else { yield %5 }
               return %11
             }",
        );
    }

    #[test]
    fn different_ones_calls_and_those_of_other_blocks_stay() {
        stays(
            run,
            "function f(%0: int, %1: int, %2: bool, %3: column int) -> int {
               %4 = subtract.int %0 %1
               %5 = subtract.int %1 %0
               %6 = map add.int %3 %4
               %7 = map add.int %3 %5
               %8 = constants int [0]
               %9 = constants float [0.0]
               %10 = constants float [-0.0]
               %11 = call f %0 %1 %2 %3
               %12 = call f %0 %1 %2 %3
               %15 = if %2 {
                 %13 = add.int %0 1
                 yield %13
               } else {
                 %14 = add.int %0 1
                 yield %14
               }
               %16 = add.int %0 1
               return %16
             }",
        );
    }
}

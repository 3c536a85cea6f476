//! Loops that leave early: beside a loop stands a version of it that goes round a number of times at most and then
//! gives what it carries, so that whoever called it can look around and go on from there.
//!
//! ```text
//! function f(p…) -> r… {                   function f/bounded(n, p…) -> left, p…, r… {
//!   …                                        if n == 0 { yield -1, p…, nothing }
//!   if … {                                   else { …
//!     yield r…                                 if … {
//!   } else {                                     yield n - 1, nothing, r…
//!     call f(q…)                               } else {
//!   }                                            call f/bounded(n - 1, q…)
//! }                                            } } }
//! ```
//!
//! So stands one beside a function that enters a loop: that calls one at its end, with its own parameters first
//! ([`hoist`](crate::passes::hoist)). It calls the bounded version of the loop, and gives of what that carries its own.
//!
//! The first result says how many more times it might have gone round, and -1 where it has not come to its end. What is
//! not there is zero, or has no elements.

use super::{Steps, last, visit_ends};
use crate::op::VectorOp;
use crate::program::{Block, Function, FunctionId, Instruction, Op, Operand, Place, Program, Register};
use crate::register::RegisterType;
use nesl_prim::{Constants, ScalarOp, ScalarType, ScalarValue};
use std::collections::HashMap;

/// Puts the bounded versions of all loops that are one function, and of what enters them, behind the functions of a
/// program; where each is.
pub fn add(program: &mut Program) -> HashMap<FunctionId, FunctionId> {
    let steps = Steps::of(program);
    let mut added = HashMap::new();
    let all: Vec<FunctionId> = (0..program.functions.len() as u32).map(FunctionId).collect();
    for &id in &all {
        if steps.reached(program, id).into_iter().eq([id]) {
            let own = FunctionId(program.functions.len() as u32);
            let bounded = bounded(&program.functions[id.0 as usize], (id, own));
            program.functions.push(bounded);
            added.insert(id, own);
        }
    }
    for id in all {
        let function = &program.functions[id.0 as usize];
        if let Some(entered) = entered(function)
            && let (false, Some(&bounded)) = (added.contains_key(&id), added.get(&entered))
        {
            let parameters = program.functions[entered.0 as usize].parameters.iter();
            let types = parameters.map(|&own| program.functions[entered.0 as usize].register_type(own));
            let others = types.skip(function.parameters.len()).collect();
            let own = FunctionId(program.functions.len() as u32);
            let enters = enters(function, (entered, bounded), others);
            program.functions.push(enters);
            added.insert(id, own);
        }
    }
    added
}

/// What a function calls at its end, with its own parameters first, if it calls nothing else.
fn entered(function: &Function) -> Option<FunctionId> {
    let mut entered = None;
    visit_ends(&function.body, &mut |call, callee| {
        let own = function.parameters.iter().map(|&parameter| Operand::Register(parameter));
        if call.operands.iter().copied().take(function.parameters.len()).eq(own) {
            entered = Some(callee);
        }
    });
    entered.filter(|_| function.body.functions().len() == 1)
}

/// The bounded version of a function that enters a loop, of which the second number is the bounded version; these are
/// the types of what the loop carries besides the parameters.
fn enters(function: &Function, numbers: (FunctionId, FunctionId), others: Vec<RegisterType>) -> Function {
    let place = Place::from(function.span);
    let mut writer = Writer { function, registers: function.registers.clone(), numbers, others, place };
    let bound = writer.register(RegisterType::Scalar(ScalarType::Int));
    let body = writer.end(&function.body, bound);
    Function {
        name: format!("{}/bounded", function.name),
        parameters: [&[bound], &*function.parameters].concat(),
        registers: writer.registers,
        body,
        span: function.span,
    }
}

/// The bounded version of a loop, of which the first number is the loop's and the second its own.
fn bounded(function: &Function, (id, own): (FunctionId, FunctionId)) -> Function {
    let place = Place::from(function.span);
    let (registers, others) = (function.registers.clone(), Vec::new());
    let mut writer = Writer { function, registers, numbers: (id, own), others, place };
    let bound = writer.register(RegisterType::Scalar(ScalarType::Int));
    let parameters = [&[bound], &*function.parameters].concat();
    let is_over = writer.register(RegisterType::Scalar(ScalarType::Bool));
    let asks = writer.scalar(ScalarOp::EqualInt, [Operand::Register(bound), int(0)], is_over);

    let mut leaves = Block::default();
    let carried = function.parameters.iter().map(|&parameter| Operand::Register(parameter)).collect();
    let nothing = writer.nothing(&function.body.results, &mut leaves);
    leaves.results = [vec![int(-1)], carried, nothing].concat();

    let fewer = writer.register(RegisterType::Scalar(ScalarType::Int));
    let mut goes = writer.end(&function.body, fewer);
    goes.instructions.insert(0, writer.scalar(ScalarOp::SubtractInt, [Operand::Register(bound), int(1)], fewer));

    let results = writer.results();
    let chooses = Instruction {
        op: Op::If(Box::new(leaves), Box::new(goes)),
        operands: vec![Operand::Register(is_over)],
        uses: Vec::new(),
        results: results.clone(),
        place,
    };
    let results = results.into_iter().map(Operand::Register).collect();
    Function {
        name: format!("{}/bounded", function.name),
        parameters,
        registers: writer.registers,
        body: Block { instructions: vec![asks, chooses], results, ..Block::default() },
        span: function.span,
    }
}

fn int(value: i64) -> Operand {
    Operand::Constant(ScalarValue::Int(value))
}

struct Writer<'f> {
    /// The loop.
    function: &'f Function,
    /// The registers so far of its bounded version.
    registers: Vec<RegisterType>,
    /// The numbers of both.
    numbers: (FunctionId, FunctionId),
    /// What the loop carries besides the parameters.
    others: Vec<RegisterType>,
    place: Place,
}

impl Writer<'_> {
    fn register(&mut self, ty: RegisterType) -> Register {
        self.registers.push(ty);
        Register(self.registers.len() as u32 - 1)
    }

    fn scalar(&self, op: ScalarOp, operands: [Operand; 2], result: Register) -> Instruction {
        self.instruction(Op::Scalar(op), operands.to_vec(), result)
    }

    fn instruction(&self, op: Op, operands: Vec<Operand>, result: Register) -> Instruction {
        Instruction { op, operands, uses: Vec::new(), results: vec![result], place: self.place }
    }

    /// New registers for what the bounded version gives.
    fn results(&mut self) -> Vec<Register> {
        let function = self.function;
        let carried = function.parameters.iter().map(|&parameter| function.register_type(parameter));
        let given = function.result_types();
        let types: Vec<RegisterType> =
            [RegisterType::Scalar(ScalarType::Int)].into_iter().chain(carried).chain(given).collect();
        types.into_iter().map(|ty| self.register(ty)).collect()
    }

    /// Zeros, and columns without elements, in the place of other operands.
    fn nothing(&mut self, operands: &[Operand], block: &mut Block) -> Vec<Operand> {
        let types: Vec<RegisterType> = operands.iter().map(|&operand| self.function.operand_type(operand)).collect();
        types.into_iter().map(|ty| self.nothing_of(ty, block)).collect()
    }

    fn nothing_of(&mut self, ty: RegisterType, block: &mut Block) -> Operand {
        let (of, is_column) = match ty {
            RegisterType::Scalar(ty) => return Operand::Constant(ty.zero()),
            RegisterType::Column(ty) => (ty, true),
            RegisterType::Descriptor => (ScalarType::Int, false),
        };
        let column = self.register(RegisterType::Column(of));
        block.instructions.push(self.instruction(Op::Constants(Constants::from_scalars(of, &[])), Vec::new(), column));
        if is_column {
            return Operand::Register(column);
        }
        let descriptor = self.register(RegisterType::Descriptor);
        let operands = vec![Operand::Register(column)];
        block.instructions.push(self.instruction(Op::Vector(VectorOp::Packed), operands, descriptor));
        Operand::Register(descriptor)
    }

    /// A block at the end of the loop, as it ends the bounded version; one that goes on may do so this many times.
    fn end(&mut self, block: &Block, fewer: Register) -> Block {
        let mut ended = block.clone();
        let is_end = last(block).is_some_and(|end| match &end.op {
            Op::Call(callee) => *callee == self.numbers.0,
            Op::If(..) => true,
            _ => false,
        });
        let Some(end) = ended.instructions.last_mut().filter(|_| is_end) else {
            let parameters: Vec<Operand> = self.function.parameters.iter().copied().map(Operand::Register).collect();
            let nothing = self.nothing(&parameters, &mut ended);
            ended.results = [vec![Operand::Register(fewer)], nothing, ended.results].concat();
            return ended;
        };
        let results = self.results();
        end.results.clone_from(&results);
        match &mut end.op {
            Op::Call(callee) => {
                *callee = self.numbers.1;
                end.operands.insert(0, Operand::Register(fewer));
                let others: Vec<Register> = self.others.clone().into_iter().map(|ty| self.register(ty)).collect();
                let carried = 1 + self.function.parameters.len();
                end.results.splice(carried..carried, others);
            }
            Op::If(then_block, else_block) => {
                for block in [then_block, else_block] {
                    **block = self.end(block, fewer);
                }
            }
            _ => unreachable!("what else ends a loop does not go on with it"),
        }
        ended.results = results.into_iter().map(Operand::Register).collect();
        ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::parse;
    use crate::verify::verify;

    const LOOPS: &str = "function adds(%0: int, %1: column int, %2: descriptor) -> column int {
           %3 = length %1
           %4 = less.int %3 %0
           %9 = if %4 {
             %5 = build %3
             %6 = concat %1 %5
             %7 = call adds %0 %6 %2
             yield %7
           } else {
             %8 = call stays %1
             yield %8
           }
           return %9
         }
         function stays(%0: column int) -> column int {
           return %0
         }
         function even(%0: int) -> bool {
           %1 = subtract.int %0 1
           %2 = call odd %1
           return %2
         }
         function odd(%0: int) -> bool {
           %1 = subtract.int %0 1
           %2 = call even %1
           return %2
         }";

    #[test]
    fn loops_that_are_one_function_have_one_that_leaves_early() {
        let mut program = parse(LOOPS).unwrap();
        let added = add(&mut program);
        assert_eq!(added, HashMap::from([(FunctionId(0), FunctionId(4))]));
        verify(&program).unwrap();
        crate::pipeline::run(&[crate::pipeline::NUMBER], &mut program, &crate::pipeline::Options::default()).unwrap();
        let listing = program.to_string();
        let (_, bounded) = listing.split_once("function adds/bounded").unwrap();
        assert_eq!(
            bounded.trim(),
            "(%0: int, %1: int, %2: column int, %3: descriptor) -> int, int, column int, descriptor, column int {
  %4 = equal.int %0 0
  %25, %26, %27, %28, %29 = if %4 {
    %5 = constants int []
    yield -1 %1 %2 %3 %5
  } else {
    %6 = subtract.int %0 1
    %7 = length %2
    %8 = less.int %7 %1
    %20, %21, %22, %23, %24 = if %8 {
      %9 = build %7
      %10 = concat %2 %9
      %11, %12, %13, %14, %15 = loop adds/bounded %6 %1 %10 %3
      yield %11 %12 %13 %14 %15
    } else {
      %16 = call stays %2
      %17 = constants int []
      %18 = constants int []
      %19 = packed %18
      yield %6 0 %17 %19 %16
    }
    yield %20 %21 %22 %23 %24
  }
  return %25 %26 %27 %28 %29
}"
        );
    }

    #[test]
    fn what_enters_a_loop_with_its_parameters_has_one_too() {
        let mut program = parse(
            "function enters(%0: int, %1: column int) -> int {
               %2 = less.int 0 %0
               %4 = if %2 {
                 %5 = extract %1 0
                 %3 = call turns %0 %1 %5
                 yield %3
               } else { yield 7 }
               return %4
             }
             function turns(%0: int, %1: column int, %2: int) -> int {
               %3 = subtract.int %0 %2
               %4 = less.int %3 0
               %5 = if %4 { yield %3 } else {
                 %6 = call turns %3 %1 %2
                 yield %6
               }
               return %5
             }",
        )
        .unwrap();
        let added = add(&mut program);
        assert_eq!(added, HashMap::from([(FunctionId(1), FunctionId(2)), (FunctionId(0), FunctionId(3))]));
        verify(&program).unwrap();
        crate::pipeline::run(&[crate::pipeline::NUMBER], &mut program, &crate::pipeline::Options::default()).unwrap();
        let listing = program.to_string();
        let (_, bounded) = listing.split_once("function enters/bounded").unwrap();
        assert_eq!(
            bounded.trim(),
            "(%0: int, %1: int, %2: column int) -> int, int, column int, int {
  %3 = less.int 0 %1
  %11, %12, %13, %14 = if %3 {
    %4 = extract %2 0
    %5, %6, %7, %8, %9 = call turns/bounded %0 %1 %2 %4
    yield %5 %6 %7 %9
  } else {
    %10 = constants int []
    yield %0 0 %10 7
  }
  return %11 %12 %13 %14
}"
        );
    }
}

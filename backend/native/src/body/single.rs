//! Writing one element of a column, as an assignment to an element does: a store, without columns of one element for
//! the index and the value.
//!
//! ```text
//! %7 = build %6; %8 = build %3
//! %11 = fused { %9 = map check_index %7 %4; %10 = scatter %2 %9 %8; yield %10 }
//!
//!     i = %6; i < %4 or leave; target = %2, or a copy of it; target[i] = %3
//! ```
//!
//! A loop that does this takes no scratch memory in a turn, and so has nothing to give back at its end.

use super::Body;
use crate::emitter::TRUSTED;
use cranelift_codegen::ir::{InstBuilder, Value};
use nesl_vcode::{Function, Instruction, Op, Operand, Register, RegisterType, VectorOp};
use std::collections::{HashMap, HashSet};

/// The columns of one element that are read by nothing but such writes: they are that element.
#[derive(Default)]
pub(super) struct Singles(HashSet<Register>);

impl Singles {
    /// Those of a function.
    pub fn of(function: &Function) -> Singles {
        let (mut singles, mut reads) = (HashSet::new(), HashMap::<Register, usize>::new());
        function.body.visit(&mut |instruction| {
            if instruction.op == Op::Vector(VectorOp::Build) && instruction.operands.len() == 1 {
                singles.extend(&instruction.results);
            }
        });
        if singles.is_empty() {
            return Singles(singles);
        }
        function.body.visit_reads(&mut |register| *reads.entry(register).or_default() += 1);
        loop {
            let mut left = reads.clone();
            function.body.visit(&mut |instruction| {
                let read = columns(function, instruction).unwrap_or_default();
                if read.iter().all(|register| singles.contains(register)) {
                    read.iter().for_each(|register| *left.entry(*register).or_default() -= 1);
                }
            });
            let before = singles.len();
            singles.retain(|register| left.get(register) == Some(&0));
            if singles.len() == before {
                return Singles(singles);
            }
        }
    }

    pub fn contains(&self, register: Register) -> bool {
        self.0.contains(&register)
    }
}

/// The columns of indices and values that an instruction reads, if all that it does is writing them to others.
fn columns(function: &Function, instruction: &Instruction) -> Option<Vec<Register>> {
    let mut read = Vec::new();
    let (mut computed, mut written) = (HashSet::new(), HashSet::new());
    let parts = match &instruction.op {
        Op::Vector(VectorOp::Scatter) => std::slice::from_ref(instruction),
        Op::Fused(block) => block.instructions.as_slice(),
        _ => return None,
    };
    for part in parts {
        let is_write = part.op == Op::Vector(VectorOp::Scatter);
        if !is_write && !matches!(part.op, Op::Map(_)) {
            return None;
        }
        for (position, operand) in part.operands.iter().enumerate() {
            let Operand::Register(register) = *operand else { continue };
            let is_column = matches!(function.register_type(register), RegisterType::Column(_));
            if written.contains(&register) || (is_write && position == 0 && computed.contains(&register)) {
                return None;
            }
            if is_column && !(is_write && position == 0) && !computed.contains(&register) {
                read.push(register);
            }
        }
        if is_write { &mut written } else { &mut computed }.extend(part.results.iter().copied());
    }
    match &instruction.op {
        Op::Fused(block) => {
            let is_written =
                |operand: &Operand| matches!(operand, Operand::Register(result) if written.contains(result));
            block.results.iter().all(is_written).then_some(read)
        }
        _ => Some(read),
    }
}

impl Body<'_, '_> {
    /// The columns that an instruction gives by writing single elements, if that is what it does.
    pub(super) fn single_writes(&mut self, instruction: &Instruction) -> Option<Vec<Value>> {
        let read = columns(self.function, instruction)?;
        if read.is_empty() || !read.iter().all(|register| self.uses.is_single(*register)) {
            return None;
        }
        let (parts, results) = match &instruction.op {
            Op::Fused(block) => (block.instructions.as_slice(), block.results.clone()),
            _ => {
                let results = instruction.results.iter().map(|&result| Operand::Register(result)).collect();
                (std::slice::from_ref(instruction), results)
            }
        };
        let mut known: HashMap<Operand, Vec<Value>> = HashMap::new();
        for part in parts {
            let mut operands = Vec::new();
            for operand in &part.operands {
                let value = known.get(operand).cloned();
                operands.push(value.unwrap_or_else(|| self.value(*operand)));
            }
            let result = match (&part.op, part.operands.first()) {
                (Op::Map(op), _) => {
                    let operands: Vec<Value> = operands.into_iter().map(|values| values[0]).collect();
                    vec![self.emitter.scalar(*op, &operands)]
                }
                (_, Some(&Operand::Register(target))) => self.single_write(target, operands[1][0], operands[2][0]),
                _ => unreachable!("what is written to is a register"),
            };
            known.insert(Operand::Register(part.results[0]), result);
        }
        Some(results.iter().flat_map(|result| known[result].clone()).collect())
    }

    fn single_write(&mut self, target: Register, index: Value, value: Value) -> Vec<Value> {
        let ty = self.scalar_type(Operand::Register(target));
        let [column, length] = self.overwritable(target, ty);
        let address = self.address(column, index, ty);
        self.emitter.builder.ins().store(TRUSTED, value, address, 0);
        vec![column, length]
    }
}

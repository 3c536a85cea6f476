//! Writing one element of a column, as an assignment to an element does: a store, without columns of one element for
//! the index and the value.
//!
//! ```text
//! %7 = build %6; %8 = build %3
//! %9 = scatter %2 %7 %8
//!
//!     target = %2, or a copy of it; target[%6] = %3
//! ```
//!
//! A loop that does this takes no scratch memory in a turn, and so has nothing to give back at its end.

use super::Body;
use crate::emitter::TRUSTED;
use cranelift_codegen::ir::{InstBuilder, Value};
use nesl_vcode::{Function, Instruction, Op, Operand, Register, VectorOp};
use std::collections::{HashMap, HashSet};

/// The columns of one element that are read by nothing but such writes: they are that element.
#[derive(Default)]
pub(super) struct Singles(HashSet<Register>);

impl Singles {
    /// Those of a function.
    pub fn of(function: &Function) -> Singles {
        let mut singles = HashSet::new();
        function.body.visit(&mut |instruction| {
            if instruction.op == Op::Vector(VectorOp::Build) && instruction.operands.len() == 1 {
                singles.extend(&instruction.results);
            }
        });
        if singles.is_empty() {
            return Singles(singles);
        }
        let mut reads = HashMap::<Register, usize>::new();
        function.body.visit_reads(&mut |register| *reads.entry(register).or_default() += 1);
        loop {
            let mut left = reads.clone();
            function.body.visit(&mut |instruction| {
                if let Some((_, written)) = write(instruction)
                    && written.iter().all(|register| singles.contains(register))
                {
                    written.iter().for_each(|register| *left.entry(*register).or_default() -= 1);
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

    /// Whether what an instruction writes is one of them, at one of them.
    pub fn are_written(&self, instruction: &Instruction) -> bool {
        write(instruction).is_some_and(|(_, written)| written.iter().all(|register| self.contains(*register)))
    }
}

/// The column that an instruction writes to, and those of the indices and of the values.
fn write(instruction: &Instruction) -> Option<(Register, [Register; 2])> {
    match (&instruction.op, instruction.operands.as_slice()) {
        (
            Op::Vector(VectorOp::Scatter),
            &[Operand::Register(target), Operand::Register(index), Operand::Register(value)],
        ) => Some((target, [index, value])),
        _ => None,
    }
}

impl Body<'_, '_> {
    /// The column that an instruction gives by writing a single element, if that is what it does.
    pub(super) fn single_write(&mut self, instruction: &Instruction) -> Option<Vec<Value>> {
        let (target, written) = write(instruction)?;
        if !written.iter().all(|register| self.uses.is_single(*register)) {
            return None;
        }
        let [index, value] = written.map(|register| self.value(Operand::Register(register))[0]);
        let ty = self.scalar_type(Operand::Register(target));
        let [column, length] = self.overwritable(target, ty);
        let address = self.address(column, index, ty);
        self.emitter.builder.ins().store(TRUSTED, value, address, 0);
        Some(vec![column, length])
    }
}

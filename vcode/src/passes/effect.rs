//! Which instructions must run although nobody reads their results.
//!
//! The effects in VCODE are operations on the world outside, and failure. A failure of memory does not count: passes
//! may change how much is used. A call can do all of it, or not end, whatever its function does.

use crate::passes::fold;
use crate::program::{Block, Op, Operand};
use nesl_prim::{ScalarOp, ScalarValue};

/// Whether an instruction acts outside, can fail, or may not end.
pub fn has_effect(op: &Op, operands: &[Operand]) -> bool {
    match op {
        Op::Scalar(op) | Op::Map(op) => op.row().fallible && !is_safe(*op, operands),
        Op::Vector(op) => op.row().fallible,
        Op::Constants(_) => false,
        Op::Host(_) | Op::Call(_) | Op::Each(_) => true,
        Op::If(then_block, else_block) => block_has_effect(then_block) || block_has_effect(else_block),
        Op::Fused(block) => block_has_effect(block),
    }
}

/// The same for a block.
pub(crate) fn block_has_effect(block: &Block) -> bool {
    block.instructions.iter().any(|instruction| has_effect(&instruction.op, &instruction.operands))
}

/// Whether a fallible operation cannot fail because its operands are constants on which it does not, or its second is.
fn is_safe(op: ScalarOp, operands: &[Operand]) -> bool {
    if fold::evaluate(op, operands).is_some() {
        return true;
    }
    let [_, Operand::Constant(ScalarValue::Int(second))] = *operands else { return false };
    op.is_safe_with(second)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Register;

    #[test]
    fn what_is_said_to_be_safe_never_fails() {
        let ints = [0, 1, -1, 2, 63, 64, i64::MIN, i64::MAX];
        for &op in ScalarOp::ALL {
            for second in ints.map(ScalarValue::Int) {
                let [first_type, _] = *op.row().operands else { continue };
                if !is_safe(op, &[Operand::Register(Register(0)), Operand::Constant(second)]) {
                    continue;
                }
                for first in ints {
                    let first = match first_type {
                        nesl_prim::ScalarType::Float => ScalarValue::Float(first as f64),
                        _ => ScalarValue::Int(first),
                    };
                    assert!(nesl_prim::eval(op, &[first, second]).is_ok(), "{op} {first:?} {second:?}");
                }
            }
        }
    }
}

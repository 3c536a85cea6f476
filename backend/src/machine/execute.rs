//! One instruction without control: operands out of the frame, then into the engine.
//!
//! Instructions on machine scalars and on what an engine says of its columns at once (lengths, numbers of segments)
//! need no engine of their own and are done here.

use super::frames::Frames;
use crate::data::slot::Slot;
use crate::engine::value::SlotOf;
use crate::engine::{self, Engine, Fault, MapOperand};
use crate::machine::decode::{Operation, Source};
use nesl_prim::{Failure, ScalarValue};

/// Executes an operation.
pub(super) fn execute<E: Engine>(
    engine: &mut E,
    operation: &Operation,
    operands: &[Source],
    frames: &mut Frames<E>,
) -> Result<SlotOf<E>, Fault> {
    match operation {
        Operation::Scalar(op) => {
            // No scalar operation has more than three operands.
            let mut values = [ScalarValue::Bool(false); 3];
            for (value, &operand) in values.iter_mut().zip(operands) {
                *value = frames.scalar(operand);
            }
            Ok(Slot::Scalar(nesl_prim::eval(*op, &values[..operands.len()])?))
        }
        Operation::Map(op) => {
            let operand = |&source: &Source| match frames.read(source) {
                Slot::Scalar(value) => MapOperand::Scalar(value),
                other => MapOperand::Column(other.into_column()),
            };
            let operands = operands.iter().map(operand).collect();
            engine.map(*op, operands).map(Slot::Column)
        }
        Operation::Constants(constants) => engine.constants(constants).map(Slot::Column),
        Operation::Vector(op) => engine::execute(engine, *op, operands.iter().map(|&operand| frames.read(operand))),
    }
}

/// Whether the element of a fault of an operation means something to the user.
pub(super) fn has_element(operation: &Operation, fault: &Fault) -> bool {
    (matches!(operation, Operation::Map(_)) || matches!(operation, Operation::Vector(op) if op.row().fallible))
        && !matches!(fault.failure, Failure::OutOfMemory { .. } | Failure::Interrupted)
}

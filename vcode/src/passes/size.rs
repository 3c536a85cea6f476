//! What passes know of how many elements columns have.

use super::rewrite::{Context, Maker};
use crate::op::{Elements, VectorOp};
use crate::program::{Operand, RegisterType};
use nesl_prim::ScalarValue;

/// What is known about the number of elements of a column, or of segments of a descriptor.
#[derive(Clone, Copy)]
pub(super) enum Size {
    /// It is this scalar.
    Value(Operand),
    /// It is what this instruction gives on this operand.
    Of(VectorOp, Operand),
}

/// One step towards the length of a column.
pub(super) fn length(context: &Context, column: Operand) -> Option<Size> {
    let definition = context.definition(column)?;
    let operands = &definition.operands;
    let of_column = |column: Operand| Some(Size::Of(VectorOp::Length, column));
    let constant = |length: usize| Some(Size::Value(Operand::Constant(ScalarValue::Int(i64::try_from(length).ok()?))));
    match definition.maker {
        Maker::Constants(length) => constant(length),
        Maker::Map(_) => operands
            .iter()
            .copied()
            .find(|&operand| matches!(context.type_of(operand), RegisterType::Column(_)))
            .and_then(of_column),
        Maker::Scalar(_) => None,
        Maker::Vector(op) => match op.elements() {
            Elements::Value(operand) => Some(Size::Value(operands[operand])),
            Elements::Column(operand) => of_column(operands[operand]),
            Elements::Segments(operand) => Some(Size::Of(VectorOp::Segments, operands[operand])),
            Elements::Total(operand) => Some(Size::Of(VectorOp::Total, operands[operand])),
            Elements::Operands => constant(operands.len()),
            Elements::Trues(_)
            | Elements::Texts(_)
            | Elements::Each
            | Elements::All
            | Elements::Sum(_)
            | Elements::Unknown => None,
        },
    }
}

/// Whether a column is known to have as many elements as a scalar says.
pub(super) fn has_length(context: &Context, column: Operand, scalar: Operand) -> bool {
    let (mut size, mut known) = (Size::Of(VectorOp::Length, column), false);
    // Each turn goes to an earlier definition.
    loop {
        known |= match size {
            Size::Value(value) => value == scalar,
            Size::Of(op, operand) => context.made_by(scalar, op).is_some_and(|operands| operands[0] == operand),
        };
        size = match size {
            Size::Of(VectorOp::Length, column) if !known => match length(context, column) {
                Some(size) => size,
                None => return false,
            },
            _ => return known,
        };
    }
}

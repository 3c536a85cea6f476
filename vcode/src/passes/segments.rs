//! What passes know of descriptors: which of them cut alike.

use crate::op::VectorOp;
use crate::passes::rewrite::Context;
use crate::program::Operand;

/// The column of lengths that a descriptor was made of.
pub(crate) fn lengths(context: &Context, descriptor: Operand) -> Option<Operand> {
    let packed = context.made_by(descriptor, VectorOp::Packed).map(|operands| operands[0]);
    packed.or_else(|| context.made_by(descriptor, VectorOp::View).map(|operands| operands[1]))
}

/// A register that is the same for descriptors whose segments are known to have the same lengths: the column of
/// lengths, or the descriptor that it was read from.
pub(crate) fn key(context: &Context, descriptor: Operand) -> Operand {
    let Some(lengths) = lengths(context, descriptor) else { return descriptor };
    context.made_by(lengths, VectorOp::Lengths).map_or(lengths, |operands| operands[0])
}

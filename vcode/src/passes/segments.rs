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

/// The scalar instead of a column of copies of it.
pub(crate) fn copies(context: &Context, column: Operand) -> Operand {
    context.broadcast(column).map_or(column, |[value, _]| value)
}

/// What an operand is for each of the segments of a descriptor: itself where it is a scalar, what was spread over
/// segments as long where it is a column of their elements.
pub(crate) fn for_segments(context: &Context, operand: Operand, descriptor: Operand) -> Option<Operand> {
    if context.is_scalar(operand) {
        return Some(operand);
    }
    let &[values, spread] = context.made_by(operand, VectorOp::SegDist)? else { return None };
    (key(context, spread) == key(context, descriptor)).then(|| copies(context, values))
}

/// Whether an operand says for each element how long its segment of a descriptor is; a scalar does where all are
/// equally long.
pub(crate) fn are_lengths(context: &Context, operand: Operand, descriptor: Operand) -> bool {
    let Some(lengths) = for_segments(context, operand, descriptor) else { return false };
    let owner = context.made_by(lengths, VectorOp::Lengths).map_or(lengths, |operands| operands[0]);
    copies(context, owner) == copies(context, key(context, descriptor))
}

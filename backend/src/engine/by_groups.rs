//! `reduce_by_index` by other instructions: the meaning that it has in every engine.

use super::{Engine, Fault, Fill, Order, Permute};
use nesl_prim::{Direction, ScalarOp, ScalarValue};

/// Where the order of elements makes no difference, each is combined into its place; else those of one place are
/// brought together, in their order, and reduced as a segment.
///
/// # Errors
/// Those of the instructions.
pub fn reduce_by_index<E: Engine>(
    engine: &mut E,
    op: ScalarOp,
    values: &E::Column,
    indices: &E::Column,
    places: usize,
) -> Result<E::Column, Fault> {
    if op.row().associative {
        let identities = engine.fill(Fill::Dist(op.identity(), places))?;
        return engine.permute(Permute::Combine(op, identities, indices, values));
    }
    let ranks = engine.order(Order::Rank, Direction::Up, indices, None)?;
    let grouped = engine.permute(Permute::Permute(values, &ranks))?;
    let (zeros, length) = (engine.fill(Fill::Dist(ScalarValue::Int(0), places))?, engine.length(indices));
    let ones = engine.fill(Fill::Dist(ScalarValue::Int(1), length))?;
    let lengths = engine.permute(Permute::Combine(ScalarOp::AddInt, zeros, indices, &ones))?;
    let groups = engine.descriptor(None, lengths)?;
    engine.seg_reduce(op, &grouped, &groups)
}

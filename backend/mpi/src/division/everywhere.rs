//! Calls that every rank runs alike, on whole columns.
//!
//! What goes one step after another, and reads and writes elements one by one, has nothing for ranks to share: each
//! element would be a message to all. So all get the columns, once, and no message is sent until the call ends. The
//! columns are excerpts, which stay while they live: calls that come next on the same ones, or on what such a call has
//! given, have nothing to move.

use crate::distribution::column::Distributed;
use crate::distribution::descriptor::Descriptor;
use crate::distribution::request_cache::Excerpt;
use crate::distribution::{Distribution, LocalEngine, segments};
use crate::division::results::known_column;
use crate::ranks::Ranks;
use nesl_backend::engine::error::RuntimeError;
use nesl_backend::{Fault, Slot, SlotOf, Vector};
use std::sync::Arc;

/// The most bytes of columns that every rank gets.
const MOST: usize = 1 << 27;

/// What a call gives.
type Called<L> = Result<Vec<SlotOf<Ranks<L>>>, RuntimeError>;

/// How many bytes a rank would get, at most, to have all of these operands; none where that is too much to be on each.
pub(crate) fn bytes_to_move<'a, L: LocalEngine>(
    ranks: &mut Distribution<L>,
    operands: impl Iterator<Item = &'a SlotOf<Ranks<L>>>,
) -> Option<usize>
where
    Ranks<L>: 'a,
{
    let (mut all, mut moved) = (0usize, 0usize);
    for column in operands.flat_map(columns_of).filter(|column| column.replicated().is_none()) {
        let bytes = column.length().saturating_mul(column.scalar_type().size());
        all = all.saturating_add(bytes);
        if !ranks.is_kept_whole(column) {
            moved = moved.saturating_add(bytes);
        }
    }
    (all <= MOST).then_some(moved)
}

/// The results of a call that every rank runs on all of its operands.
///
/// # Errors
/// For lack of memory for the operands; within, those of the call.
pub(crate) fn call<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    operands: &[SlotOf<Ranks<L>>],
    run: impl FnOnce(&mut L, Vec<SlotOf<L>>) -> Result<Vec<SlotOf<L>>, RuntimeError>,
) -> Result<Called<L>, Fault> {
    let operands = whole_operands(ranks, operands)?;
    let slots = match run(&mut ranks.local, operands) {
        Ok(slots) => slots,
        Err(error) => {
            ranks.collectives.met_by_all(&error.failure);
            return Ok(Err(error));
        }
    };
    slots.into_iter().map(|slot| shared(ranks, slot)).collect::<Result<_, Fault>>().map(Ok)
}

/// The columns that a value is made of.
fn columns_of<D>(slot: &Slot<Distributed, Descriptor<D>>) -> impl Iterator<Item = &Distributed> {
    let columns = match slot {
        Slot::Scalar(_) => [None, None],
        Slot::Column(column) => [Some(column), None],
        Slot::Descriptor(Descriptor(inner)) => [inner.starts.as_ref(), Some(&inner.lengths)],
    };
    columns.into_iter().flatten()
}

/// All of some operands, on the local engine of every rank: what is missing comes in one message.
fn whole_operands<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    operands: &[SlotOf<Ranks<L>>],
) -> Result<Vec<SlotOf<L>>, Fault> {
    let wanted: Vec<_> = operands
        .iter()
        .flat_map(columns_of)
        .map(|column| (column, vec![0..column.length(); ranks.layout.ranks]))
        .collect();
    let mut came = ranks.excerpts(&wanted)?.into_iter();
    let mut next = || came.next().unwrap_or_else(|| unreachable!("an excerpt of each column"));
    let mut whole = Vec::with_capacity(operands.len());
    for operand in operands {
        whole.push(match operand {
            Slot::Scalar(value) => Slot::Scalar(*value),
            Slot::Column(_) => Slot::Column(next()),
            Slot::Descriptor(Descriptor(inner)) => {
                let starts = inner.starts.as_ref().map(|_| next());
                let lengths = next();
                let descriptor = ranks.local.descriptor(starts, lengths);
                Slot::Descriptor(ranks.collectives.settle(inner.lengths.length(), descriptor)?)
            }
        });
    }
    Ok(whole)
}

/// A value that every rank has, across the ranks. Where segments lie is kept as it is: whether they are packed is
/// something that ranks may know of one and the same value or not.
fn shared<L: LocalEngine>(ranks: &mut Distribution<L>, slot: SlotOf<L>) -> Result<SlotOf<Ranks<L>>, Fault> {
    Ok(match slot {
        Slot::Scalar(value) => Slot::Scalar(value),
        Slot::Column(vector) => Slot::Column(shared_column(ranks, vector)?),
        Slot::Descriptor(segments) => {
            let (starts, lengths) = (ranks.local.starts(&segments), ranks.local.lengths(&segments));
            let starts = ranks.collectives.replicated(starts)?;
            let lengths = ranks.collectives.replicated(lengths)?;
            let (starts, lengths) = (shared_column(ranks, starts)?, shared_column(ranks, lengths)?);
            Slot::Descriptor(segments::descriptor(ranks, Some(starts), lengths)?)
        }
    })
}

/// A column of which this rank keeps all for calls that come next.
fn shared_column<L: LocalEngine>(ranks: &mut Distribution<L>, vector: Vector) -> Result<Distributed, Fault> {
    let column = known_column(ranks, vector.clone())?;
    if let Distributed::Block(block) = &column {
        let ranges = vec![0..vector.len(); ranks.layout.ranks];
        ranks.keep_excerpt(Excerpt { of: Arc::downgrade(&block.identity), ranges, elements: vector });
    }
    Ok(column)
}

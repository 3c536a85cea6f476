//! Columns to another number of ranks: each rank sends only what changes its owner, one message for each pair of ranks.
//!
//! All receives are posted before anything is sent, as in every exchange here, and all columns go together
//! ([`crate::distribution::transfer`]). Short columns are on every rank, so only new ranks need them, each from another
//! of the old ones.

use crate::communication::collectives::Collectives;
use crate::communication::communicator::Communicator;
use crate::distribution::column::Distributed;
use crate::distribution::redistribution::Redistribution;
use crate::distribution::request_cache::RequestCache;
use crate::distribution::transfer::{Move, redistributed_together};
use crate::distribution::{Distribution, LocalEngine};
use crate::layout::Layout;
use nesl_backend::{Carried, Fault, Meter, Reference};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What it took to carry columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Carriage {
    /// Bytes that went from one rank to another.
    pub moved: u64,
    /// Bytes of columns in parts that stayed where they were.
    pub stayed: u64,
    /// Messages for them.
    pub messages: usize,
}

/// Which elements of a column go where; none have to where every rank has all before and after, and none is new.
fn redistribution(length: usize, threshold: usize, (before, after): (usize, usize)) -> Redistribution {
    let (ranks, is_short) = (before.max(after), length <= threshold);
    if before == 1 && after == 1 || is_short {
        return Redistribution::to_newcomers(before, after, length);
    }
    let bounds = |ranks_now: usize| {
        let mut bounds = Layout { rank: 0, ranks: ranks_now }.bounds(length);
        bounds.resize(ranks + 1, length);
        bounds
    };
    Redistribution::between(&bounds(before), &bounds(after))
}

/// Carries columns from the ranks of before to those of after, the first of those of a communicator; all of these call
/// it together. Columns up to the threshold are on every rank. A rank that is none of those of after holds then what
/// nobody needs.
///
/// # Errors
/// If a rank has no memory for what comes; the same on all ranks, and every one holds what it held.
pub fn carry(
    communicator: Communicator,
    meter: &Arc<Meter>,
    (before, after): (usize, usize),
    threshold: usize,
    carried: &[Carried],
) -> Result<(Vec<Carried>, Carriage), Fault> {
    let layout = communicator.layout();
    let mut ranks = Distribution {
        collectives: Collectives::new(communicator),
        layout,
        // It computes nothing.
        local: Reference::new(None),
        meter: Arc::clone(meter),
        cache: RequestCache::default(),
        threshold,
        largest_part: 0,
        shared: 0,
    };
    let (mut carriage, mut pairs) = (Carriage::default(), BTreeSet::new());
    let mut moves = Vec::new();
    let mut moving = Vec::new();
    for (index, Carried { scalar, length, part }) in carried.iter().enumerate() {
        let redistribution = redistribution(*length, threshold, (before, after));
        carriage.moved += (redistribution.moved() * scalar.size()) as u64;
        carriage.stayed += (redistribution.stayed() * scalar.size()) as u64;
        pairs.extend(redistribution.pairs());
        if redistribution.moved() > 0 {
            // Who keeps all of a short column gets nothing.
            moving.push((index, *length > threshold || layout.rank >= before));
            moves.push(Move { length: *length, redistribution, parts: vec![part.clone()] });
        }
    }
    carriage.messages = pairs.len();
    let mut arrived = carried.to_vec();
    let parts = redistributed_together(&mut ranks, &moves)?;
    for ((index, gets_all), part) in moving.into_iter().zip(parts) {
        if gets_all {
            arrived[index].part = part;
        }
    }
    Ok((arrived, carriage))
}

impl<L: LocalEngine> Distribution<L> {
    /// What this rank holds of columns.
    pub(crate) fn carried(&mut self, columns: &[Distributed]) -> Result<Vec<Carried>, Fault> {
        let columns = self.all_in_blocks(&columns.iter().collect::<Vec<_>>())?;
        let carried = |column: Distributed| {
            let (scalar, length) = (column.scalar_type(), column.length());
            Ok(Carried { scalar, length, part: self.take_held(column)? })
        };
        columns.into_iter().map(carried).collect()
    }

    /// The part of a column that this rank holds: all of one that is on every rank.
    fn take_held(&mut self, column: Distributed) -> Result<nesl_backend::Vector, Fault> {
        match column {
            Distributed::Replicated(vector) => Ok(vector),
            other => self.take_part(other),
        }
    }

    /// The columns of what has been carried to the ranks of this distribution.
    pub(crate) fn arrived(&mut self, carried: Vec<Carried>) -> Vec<Distributed> {
        let column = |Carried { length, part, .. }| match self.is_common(length) {
            true => Distributed::Replicated(part),
            false => Distributed::Block(self.new_block(length, part)),
        };
        carried.into_iter().map(column).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THRESHOLD: usize = 4096;

    #[test]
    fn what_changes_owner_moves_and_messages_are_few() {
        for before in 1..8 {
            for after in (1..8).filter(|&after| after != before) {
                let length = 100_003;
                let plan = redistribution(length, THRESHOLD, (before, after));
                assert_eq!(plan.moved() + plan.stayed(), length, "{before} to {after}");
                let pairs: BTreeSet<_> = plan.pairs().collect();
                assert!(pairs.len() < before + after, "{before} to {after}: {pairs:?}");
                let short = redistribution(THRESHOLD, THRESHOLD, (before, after));
                assert_eq!(short.moved(), after.saturating_sub(before) * THRESHOLD, "{before} to {after}");
            }
        }
        assert_eq!(redistribution(100_003, THRESHOLD, (2, 4)).pairs().collect::<Vec<_>>(), [(0, 1), (1, 2), (1, 3)]);
    }
}

//! The way back from a division: the results of each rank's instances become columns of all.

use crate::distribution::column::{Distributed, Runs};
use crate::distribution::redistribution::Run;
use crate::distribution::{Distribution, LocalEngine, segments};
use crate::layout::offsets;
use crate::ranks::Ranks;
use nesl_backend::engine::error::RuntimeError;
use nesl_backend::{Division, Failed, Fault, Own, Slot, SlotOf, Vector, machine};
use nesl_prim::ScalarValue;
use nesl_vcode::{Field, Holds};

/// The results of instances that every rank has run.
pub(crate) fn known_everywhere<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    division: &Division<'_, Ranks<L>>,
    own: Own<L>,
    mut run: impl FnMut(&mut L, Own<L>) -> Result<Vec<SlotOf<L>>, Failed>,
) -> Result<Vec<SlotOf<Ranks<L>>>, RuntimeError> {
    let at = |Fault { failure, .. }| RuntimeError::at(division.span, failure);
    let slots = run(&mut ranks.local, own).map_err(|(_, error)| error);
    let packed = slots.and_then(|slots| packed_results(ranks, division, slots).map_err(at));
    let slots = packed.inspect_err(|error| ranks.collectives.met_by_all(&error.failure))?;
    slots.into_iter().map(|slot| known_slot(ranks, slot)).collect::<Result<_, Fault>>().map_err(at)
}

/// A packed value that every rank has all of.
fn known_slot<L: LocalEngine>(ranks: &mut Distribution<L>, slot: SlotOf<L>) -> Result<SlotOf<Ranks<L>>, Fault> {
    Ok(match slot {
        Slot::Scalar(value) => Slot::Scalar(value),
        Slot::Column(vector) => Slot::Column(known_column(ranks, vector)?),
        Slot::Descriptor(segments) => {
            let lengths = ranks.local.lengths(&segments)?;
            let lengths = known_column(ranks, lengths)?;
            Slot::Descriptor(segments::descriptor(ranks, None, lengths)?)
        }
    })
}

/// A column that every rank has, across the ranks.
pub(crate) fn known_column<L: LocalEngine>(ranks: &mut Distribution<L>, vector: Vector) -> Result<Distributed, Fault> {
    let length = vector.len();
    if ranks.is_common(length) {
        return Ok(Distributed::Replicated(vector));
    }
    let part = ranks.part(&Distributed::Replicated(vector))?;
    ranks.finish(length, part)
}

/// Results of instances of this rank, with packed descriptors.
pub(crate) fn packed_results<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    division: &Division<'_, Ranks<L>>,
    slots: Vec<SlotOf<L>>,
) -> Result<Vec<SlotOf<L>>, Fault> {
    machine::packed_results(&mut ranks.local, division.plan, slots)
}

/// The results of all instances, from those that the ranks got.
pub(crate) fn join<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    fields: &[Field],
    runs: &[Run],
    slots: Vec<SlotOf<L>>,
) -> Result<Vec<SlotOf<Ranks<L>>>, Fault> {
    let sizes = segment_sizes(ranks, fields, runs, &slots)?;
    let sequences = fields.iter().filter(|field| field.holds == Holds::Sequences).count();
    let mut all = sizes_of_all(ranks, runs, sequences, sizes);
    let pieces: Runs = runs.iter().map(|run| (run.rank, run.length)).collect();
    // Where the elements of sequences lie, by the positions of these.
    let mut inner: Vec<Runs> = Vec::with_capacity(fields.len());
    let mut joined = Vec::with_capacity(fields.len());
    for (field, slot) in fields.iter().zip(slots) {
        let own = field.parent.map_or(&pieces, |parent| &inner[parent]).clone();
        let (column, elements) = match slot {
            Slot::Scalar(value) => (Joined::Scalar(value), Runs::default()),
            Slot::Column(part) => (Joined::Column(ranks.ragged(own, part)?), Runs::default()),
            Slot::Descriptor(segments) => {
                let lengths = ranks.local.lengths(&segments)?;
                (Joined::Lengths(ranks.ragged(own, lengths)?), all.next().unwrap_or_default())
            }
        };
        joined.push(column);
        inner.push(elements);
    }
    // The lengths of all sequences travel at once.
    let lengths =
        joined.iter().filter_map(|value| if let Joined::Lengths(lengths) = value { Some(lengths) } else { None });
    ranks.all_in_blocks(&lengths.collect::<Vec<_>>())?;
    let slot = |value| {
        Ok(match value {
            Joined::Scalar(value) => Slot::Scalar(value),
            Joined::Column(column) => Slot::Column(column),
            Joined::Lengths(lengths) => {
                let lengths = ranks.in_blocks(&lengths)?;
                Slot::Descriptor(segments::descriptor(ranks, None, lengths)?)
            }
        })
    };
    joined.into_iter().map(slot).collect()
}

/// For each sequence how many elements its segments have, in each run of this rank.
fn segment_sizes<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    fields: &[Field],
    runs: &[Run],
    slots: &[SlotOf<L>],
) -> Result<Vec<i64>, Fault> {
    let outer: Vec<i64> = own_runs(ranks.layout.rank, runs).map(|run| run.length as i64).collect();
    let mut inner: Vec<Vec<i64>> = Vec::with_capacity(fields.len());
    for (field, slot) in fields.iter().zip(slots) {
        let mut sizes = Vec::new();
        if let Slot::Descriptor(segments) = slot {
            let lengths = ranks.local.lengths(segments)?;
            let mut rest = lengths.elements::<i64>();
            for &run in field.parent.map_or(&outer, |parent| &inner[parent]) {
                let (own, others) = rest.split_at(run as usize);
                rest = others;
                sizes.push(own.iter().sum());
            }
        }
        inner.push(sizes);
    }
    Ok(inner.concat())
}

/// The pieces of the elements of each of so many sequences, from the sizes that this rank knows.
fn sizes_of_all<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    runs: &[Run],
    sequences: usize,
    own: Vec<i64>,
) -> std::vec::IntoIter<Runs> {
    if sequences == 0 {
        return Vec::new().into_iter();
    }
    let rank_count = ranks.layout.ranks;
    let mut held = vec![0; rank_count];
    runs.iter().for_each(|run| held[run.rank] += 1);
    let counts: Vec<usize> = held.iter().map(|runs| runs * sequences).collect();
    let all = ranks.collectives.communicator.all_gather_varied(&own, &counts, Vec::new());
    let starts = offsets(&counts);
    let of = |sequence: usize| {
        let mut next = vec![0; rank_count];
        let piece = |run: &Run| {
            let place = starts[run.rank] + sequence * held[run.rank] + next[run.rank];
            next[run.rank] += 1;
            (run.rank, all[place] as usize)
        };
        runs.iter().map(piece).collect()
    };
    (0..sequences).map(of).collect::<Vec<_>>().into_iter()
}

/// A register of a result.
enum Joined {
    Scalar(ScalarValue),
    Column(Distributed),
    /// Of a packed descriptor.
    Lengths(Distributed),
}

/// The runs of a rank.
fn own_runs(rank: usize, runs: &[Run]) -> impl Iterator<Item = &Run> {
    runs.iter().filter(move |run| run.rank == rank)
}

//! The way back from a division: the results of each rank's instances become columns of all.

use crate::distribution::column::{Distributed, Runs};
use crate::distribution::redistribution::Run;
use crate::distribution::{Distribution, LocalEngine, segments};
use crate::layout::offsets;
use crate::ranks::Ranks;
use nesl_backend::engine::error::RuntimeError;
use nesl_backend::{Division, Failed, Fault, Own, Slot, SlotOf, Vector, machine};
use nesl_vcode::{Each, Shape};

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

fn known_column<L: LocalEngine>(ranks: &mut Distribution<L>, vector: Vector) -> Result<Distributed, Fault> {
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
    machine::packed_results(&mut ranks.local, division.each, slots)
}

/// The results of all instances, from those that the ranks got.
pub(crate) fn join<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    each: &Each,
    runs: &[Run],
    slots: Vec<SlotOf<L>>,
) -> Result<Vec<SlotOf<Ranks<L>>>, Fault> {
    let own: Vec<usize> = own_runs(ranks.layout.rank, runs).map(|run| run.length).collect();
    let mut sizes = Vec::new();
    let mut rest = slots.iter();
    for shape in &each.results {
        segment_sizes(ranks, shape, &mut rest, &own, &mut sizes)?;
    }
    let sequences = each.results.iter().map(count_sequences).sum();
    let mut all = sizes_of_all(ranks, runs, sequences, sizes);
    let pieces: Runs = runs.iter().map(|run| (run.rank, run.length)).collect();
    let mut joined = Vec::new();
    let mut slots = slots.into_iter();
    for shape in &each.results {
        join_value(ranks, shape, &mut slots, &pieces, &mut all, &mut joined)?;
    }
    // The lengths of all sequences travel at once.
    let lengths =
        joined.iter().filter_map(|value| if let Joined::Lengths(lengths) = value { Some(lengths) } else { None });
    ranks.all_in_blocks(&lengths.collect::<Vec<_>>())?;
    let mut values = Vec::with_capacity(joined.len());
    for value in joined {
        values.push(match value {
            Joined::Column(column) => Slot::Column(column),
            Joined::Lengths(lengths) => {
                let lengths = ranks.in_blocks(&lengths)?;
                Slot::Descriptor(segments::descriptor(ranks, None, lengths)?)
            }
        });
    }
    Ok(values)
}

/// For each sequence in a value how many elements its segments have, in each run of this rank.
fn segment_sizes<'a, L: LocalEngine + 'a>(
    ranks: &mut Distribution<L>,
    shape: &Shape,
    slots: &mut dyn Iterator<Item = &'a SlotOf<L>>,
    runs: &[usize],
    sizes: &mut Vec<i64>,
) -> Result<(), Fault> {
    match shape {
        Shape::Scalar(_) | Shape::Entry(_) => drop(slots.next()),
        Shape::Pair(first, rest) => {
            segment_sizes(ranks, first, slots, runs, sizes)?;
            segment_sizes(ranks, rest, slots, runs, sizes)?;
        }
        Shape::Record(_, inner) | Shape::Function(Some(inner)) => segment_sizes(ranks, inner, slots, runs, sizes)?,
        Shape::Function(None) | Shape::Unit => {}
        Shape::Sequence(element) => {
            let Some(Slot::Descriptor(segments)) = slots.next() else {
                panic!("expected a descriptor: unverified program")
            };
            let lengths = ranks.local.lengths(segments)?;
            let mut rest = lengths.elements::<i64>();
            let mut inner = Vec::with_capacity(runs.len());
            for &run in runs {
                let (own, others) = rest.split_at(run);
                rest = others;
                inner.push(own.iter().sum::<i64>() as usize);
            }
            sizes.extend(inner.iter().map(|&size| size as i64));
            segment_sizes(ranks, element, slots, &inner, sizes)?;
        }
    }
    Ok(())
}

/// The pieces of the elements of each of so many sequences, from the sizes that this rank knows, of the last first.
fn sizes_of_all<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    runs: &[Run],
    sequences: usize,
    own: Vec<i64>,
) -> Vec<Runs> {
    if sequences == 0 {
        return Vec::new();
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
    (0..sequences).rev().map(of).collect()
}

fn join_value<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    shape: &Shape,
    slots: &mut dyn Iterator<Item = SlotOf<L>>,
    pieces: &Runs,
    inner: &mut Vec<Runs>,
    joined: &mut Vec<Joined>,
) -> Result<(), Fault> {
    match shape {
        Shape::Scalar(_) => match slots.next() {
            Some(Slot::Column(part)) => joined.push(Joined::Column(ranks.ragged(pieces.clone(), part)?)),
            _ => panic!("expected a column: unverified program"),
        },
        Shape::Pair(first, rest) => {
            join_value(ranks, first, slots, pieces, inner, joined)?;
            join_value(ranks, rest, slots, pieces, inner, joined)?;
        }
        Shape::Record(_, shape) | Shape::Function(Some(shape)) => {
            join_value(ranks, shape, slots, pieces, inner, joined)?;
        }
        Shape::Function(None) | Shape::Unit => {}
        Shape::Sequence(element) => {
            let Some(Slot::Descriptor(segments)) = slots.next() else {
                panic!("expected a descriptor: unverified program")
            };
            let lengths = ranks.local.lengths(&segments)?;
            joined.push(Joined::Lengths(ranks.ragged(pieces.clone(), lengths)?));
            let pieces = inner.pop().unwrap_or_else(|| unreachable!("sizes of every sequence"));
            join_value(ranks, element, slots, &pieces, inner, joined)?;
        }
        Shape::Entry(_) => panic!("an entry of a stack is no result of an instance: unverified program"),
    }
    Ok(())
}

/// A register of a result.
enum Joined {
    Column(Distributed),
    /// Of a packed descriptor.
    Lengths(Distributed),
}

/// The runs of a rank.
fn own_runs(rank: usize, runs: &[Run]) -> impl Iterator<Item = &Run> {
    runs.iter().filter(move |run| run.rank == rank)
}

/// The number of sequences in a shape, at any depth.
fn count_sequences(shape: &Shape) -> usize {
    match shape {
        Shape::Scalar(_) | Shape::Entry(_) | Shape::Function(None) | Shape::Unit => 0,
        Shape::Pair(first, rest) => count_sequences(first) + count_sequences(rest),
        Shape::Record(_, inner) | Shape::Function(Some(inner)) => count_sequences(inner),
        Shape::Sequence(element) => 1 + count_sequences(element),
    }
}

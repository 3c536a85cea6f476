//! Sending each rank the operands of its instances, and nothing else.
//!
//! Columns go by runs: those of instances, then those of the elements of their sequences, which every rank works out of
//! lengths. What all instances read, and the data that many segments share, goes to every rank.

use crate::distribution::column::{Block, Distributed};
use crate::distribution::descriptor::Descriptor;
use crate::distribution::redistribution::{Redistribution, Run};
use crate::distribution::transfer::Move;
use crate::distribution::{Distribution, LocalEngine, segments, transfer};
use crate::instructions::segment;
use crate::layout::offsets;
use crate::ranks::Ranks;
use nesl_backend::{Division, Engine, Fault, Pack, Slot, SlotOf, Vector};
use nesl_vcode::Take;

/// What is to be sent to whom.
pub(crate) struct Plan {
    /// Which instances go to which rank, in the order of the instances.
    pub(crate) runs: Vec<Run>,
    /// The positions among the operands of sequences whose data every rank gets.
    pub(crate) shared: Vec<usize>,
}

/// A column of this rank.
enum Coming {
    /// It is there already.
    Here(Vector),
    /// It comes by the redistribution of this number.
    By(usize),
}

/// An operand of this rank's instances.
enum Sent<L: Engine> {
    There(SlotOf<L>),
    Column(Coming),
    /// Segments, of so many on all ranks where they are those of everybody.
    Segments {
        starts: Option<Coming>,
        lengths: Coming,
        of: Option<usize>,
    },
}

/// What is being sent.
struct Sending<L: Engine> {
    slots: Vec<Sent<L>>,
    moves: Vec<Move>,
}

impl<L: Engine> Sending<L> {
    fn by_redistribution(&mut self, column: Move) -> Coming {
        self.moves.push(column);
        Coming::By(self.moves.len() - 1)
    }
}

/// The operands of this rank's instances. All ranks send together.
pub(crate) fn send_operands<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    division: &Division<'_, Ranks<L>>,
    plan: &Plan,
) -> Result<Vec<SlotOf<L>>, Fault> {
    let operands = &division.plan.operands;
    let mut slots = division.operands.to_vec();
    let mut own = Sending { slots: Vec::new(), moves: Vec::new() };
    // Which elements of sequences go to which rank, by the positions of these; all go to all where there are none.
    let mut elements: Vec<Option<Vec<Run>>> = Vec::with_capacity(operands.len());
    for (position, operand) in operands.iter().enumerate() {
        let slot = slots[position].clone();
        let runs = match operand.parent {
            _ if operand.take == Take::Same => None,
            Some(parent) => elements[parent].as_deref(),
            None => Some(plan.runs.as_slice()),
        };
        let inner = match (runs, slot) {
            (None, slot) => {
                to_all(ranks, slot, &mut own);
                None
            }
            (Some(runs), Slot::Descriptor(segments)) if plan.shared.contains(&position) => {
                // Which part each instance has goes to its rank, the data to all.
                let starts = segment::starts(ranks, &segments)?;
                let starts = Some(send_column(ranks, &starts, runs, &mut own)?);
                let lengths = send_column(ranks, segments.lengths(), runs, &mut own)?;
                own.slots.push(Sent::Segments { starts, lengths, of: None });
                None
            }
            (Some(runs), Slot::Descriptor(segments)) => {
                let lengths = send_column(ranks, segments.lengths(), runs, &mut own)?;
                own.slots.push(Sent::Segments { starts: None, lengths, of: None });
                match inside(ranks, &segments, runs)? {
                    Some(inner) => Some(inner),
                    None => {
                        for (child, slot) in operands.iter().zip(&mut slots) {
                            if child.parent == Some(position) {
                                *slot = compacted(ranks, slot, &segments)?;
                            }
                        }
                        let packed = segments::descriptor(ranks, None, segments.lengths().clone())?;
                        inside(ranks, &packed, runs)?
                    }
                }
            }
            (Some(runs), Slot::Column(column)) => {
                let coming = send_column(ranks, &column, runs, &mut own)?;
                own.slots.push(Sent::Column(coming));
                None
            }
            (Some(_), Slot::Scalar(value)) => {
                own.slots.push(Sent::There(Slot::Scalar(value)));
                None
            }
        };
        elements.push(inner);
    }
    sent(ranks, own)
}

/// What was sent, once everything has come: all columns travel together.
fn sent<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    Sending { slots, moves }: Sending<L>,
) -> Result<Vec<SlotOf<L>>, Fault> {
    let came = transfer::redistributed_together(ranks, &moves)?;
    let column = |coming: Coming| match coming {
        Coming::Here(vector) => vector,
        Coming::By(redistribution) => came[redistribution].clone(),
    };
    let mut own = Vec::with_capacity(slots.len());
    for slot in slots {
        own.push(match slot {
            Sent::There(slot) => slot,
            Sent::Column(coming) => Slot::Column(column(coming)),
            Sent::Segments { starts, lengths, of } => {
                let (starts, lengths) = (starts.map(column), column(lengths));
                let of = of.unwrap_or(lengths.len());
                let local = match starts {
                    Some(starts) => ranks.local.descriptor(Some(starts), lengths),
                    None => ranks.local.descriptor(None, lengths),
                };
                Slot::Descriptor(ranks.collectives.settle(of, local)?)
            }
        });
    }
    Ok(own)
}

/// Operands that all ranks get, on the local engine. All ranks send together.
pub(crate) fn everywhere<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    operands: &[SlotOf<Ranks<L>>],
) -> Result<Vec<SlotOf<L>>, Fault> {
    let mut own = Sending { slots: Vec::new(), moves: Vec::new() };
    operands.iter().for_each(|slot| to_all(ranks, slot.clone(), &mut own));
    sent(ranks, own)
}

/// A value that all ranks get.
fn to_all<L: LocalEngine>(ranks: &mut Distribution<L>, slot: SlotOf<Ranks<L>>, own: &mut Sending<L>) {
    let sent = match slot {
        Slot::Scalar(value) => Sent::There(Slot::Scalar(value)),
        Slot::Column(column) => Sent::Column(replicated_column(ranks, &column, own)),
        Slot::Descriptor(segments) => {
            let inner = &segments.0;
            let mut replicate = |column: &Distributed| replicated_column(ranks, &column.clone(), own);
            let lengths = replicate(&inner.lengths);
            let starts = inner.starts.as_ref().map(replicate);
            Sent::Segments { starts, lengths, of: Some(inner.lengths.length()) }
        }
    };
    own.slots.push(sent);
}

/// All elements of a column, on every rank.
fn replicated_column<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    column: &Distributed,
    own: &mut Sending<L>,
) -> Coming {
    if let Some(vector) = column.replicated() {
        return Coming::Here(vector.clone());
    }
    let ragged = ranks.as_ragged(column);
    let redistribution = Redistribution::to_all(ranks.layout.ranks, &ragged.runs);
    own.by_redistribution(Move { length: ragged.length, redistribution, parts: ragged.parts.clone() })
}

/// The elements of a column in the runs of this rank.
fn send_column<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    column: &Distributed,
    runs: &[Run],
    own: &mut Sending<L>,
) -> Result<Coming, Fault> {
    let rank = ranks.layout.rank;
    if let Some(vector) = column.replicated() {
        let mine = runs.iter().filter(|run| run.rank == rank && run.length > 0);
        let pieces: Vec<Vector> = mine.map(|run| vector.slice(run.start, run.length)).collect();
        return match pieces.as_slice() {
            [] => Ok(Coming::Here(vector.slice(0, 0))),
            [piece] => Ok(Coming::Here(piece.clone())),
            pieces => {
                let joined = ranks.local.pack(Pack::Concat(pieces));
                ranks.collectives.settle(vector.len(), joined).map(Coming::Here)
            }
        };
    }
    let ragged = ranks.as_ragged(column);
    let redistribution = Redistribution::from_runs(ranks.layout.ranks, &ragged.runs, runs);
    Ok(own.by_redistribution(Move { length: ragged.length, redistribution, parts: ragged.parts.clone() }))
}

/// Where the elements of runs of segments lie; none where that is not for every rank to see.
pub(crate) fn inside<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    segments: &Descriptor<L::Descriptor>,
    runs: &[Run],
) -> Result<Option<Vec<Run>>, Fault> {
    let inner = &segments.0;
    match (&inner.starts, &inner.lengths) {
        (Some(Distributed::Replicated(starts)), Distributed::Replicated(lengths)) => {
            let (starts, lengths) = (starts.elements::<i64>(), lengths.elements::<i64>());
            let of = |run: &Run| {
                let rank = run.rank;
                let one = move |index: usize| (starts[index] as usize, lengths[index] as usize);
                (run.start..run.start + run.length).map(one).map(move |(start, length)| Run { rank, start, length })
            };
            Ok(Some(runs.iter().flat_map(of).collect()))
        }
        (Some(_), _) => Ok(None),
        (None, _) => {
            let total = segments.total()?;
            let ends: Vec<usize> = runs.iter().flat_map(|run| [run.start, run.start + run.length]).collect();
            let starts = segment::starts(ranks, segments)?;
            let starts = ranks.in_blocks(&starts)?;
            let places = values_at(ranks, &starts, &ends, total)?;
            let of = |(run, place): (&Run, &[usize])| Run { start: place[0], length: place[1] - place[0], ..*run };
            Ok(Some(runs.iter().zip(places.chunks_exact(2)).map(of).collect()))
        }
    }
}

/// The ints at some places of a column, on every rank; `end` at the place behind the last.
fn values_at<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    column: &Distributed,
    places: &[usize],
    end: usize,
) -> Result<Vec<usize>, Fault> {
    let (layout, length) = (ranks.layout, column.length());
    match column.replicated() {
        Some(vector) => {
            let elements = vector.elements::<i64>();
            Ok(places.iter().map(|&place| elements.get(place).map_or(end, |&element| element as usize)).collect())
        }
        None => {
            let Block { part, .. } = ranks.block(column)?;
            let owner = |place: usize| (place < length).then(|| layout.owner(length, place));
            let mut counts = vec![0; layout.ranks];
            places.iter().filter_map(|&place| owner(place)).for_each(|owner| counts[owner] += 1);
            let (start, elements) = (layout.share(length).start, part.elements::<i64>());
            let own = places.iter().filter(|&&place| owner(place) == Some(layout.rank));
            let own: Vec<i64> = own.map(|&place| elements[place - start]).collect();
            let all = ranks.collectives.communicator.all_gather_varied(&own, &counts, Vec::new());
            let mut next = offsets(&counts);
            let take = |&place: &usize| {
                owner(place).map_or(end, |owner| {
                    next[owner] += 1;
                    all[next[owner] - 1] as usize
                })
            };
            Ok(places.iter().map(take).collect())
        }
    }
}

/// A register of elements in the packed order of some segments.
fn compacted<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    slot: &SlotOf<Ranks<L>>,
    segments: &Descriptor<L::Descriptor>,
) -> Result<SlotOf<Ranks<L>>, Fault> {
    Ok(match slot {
        Slot::Scalar(value) => Slot::Scalar(*value),
        Slot::Column(column) => Slot::Column(segment::compact(ranks, column, segments)?),
        Slot::Descriptor(inner) => {
            let starts = segment::starts(ranks, inner)?;
            let starts = segment::compact(ranks, &starts, segments)?;
            let lengths = segment::compact(ranks, inner.lengths(), segments)?;
            Slot::Descriptor(segment::view(ranks, starts, lengths)?)
        }
    })
}

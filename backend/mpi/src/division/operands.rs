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
use nesl_vcode::Shape;

/// What is to be sent to whom.
pub(crate) struct Plan {
    /// Which instances go to which rank, in the order of the instances.
    pub(crate) runs: Vec<Run>,
    /// The positions among the operands of sequences whose data every rank gets.
    pub(crate) shared: Vec<usize>,
}

/// The values of registers, one after another.
type Slots<L> = std::vec::IntoIter<SlotOf<Ranks<L>>>;

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
    let operands = division.operands.to_vec();
    let mut operands: Slots<L> = operands.into_iter();
    let mut own = Sending { slots: Vec::new(), moves: Vec::new() };
    for argument in &division.each.arguments {
        let position = division.operands.len() - operands.len();
        if plan.shared.contains(&position) {
            send_shared(ranks, argument.registers().len(), &mut operands, &plan.runs, &mut own)?;
        } else if argument.varies {
            send_value(ranks, &argument.shape, &mut operands, &plan.runs, &mut own)?;
        } else {
            for slot in operands.by_ref().take(argument.registers().len()) {
                to_all(ranks, slot, &mut own);
            }
        }
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

/// Sequences that lie in the same data: which part each instance has goes to its rank, the data to all.
fn send_shared<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    registers: usize,
    slots: &mut Slots<L>,
    runs: &[Run],
    own: &mut Sending<L>,
) -> Result<(), Fault> {
    let segments = descriptor(slots);
    let (starts, lengths) = (segment::starts(ranks, &segments)?, segments.lengths());
    let starts = Some(send_column(ranks, &starts, runs, own)?);
    let lengths = send_column(ranks, lengths, runs, own)?;
    own.slots.push(Sent::Segments { starts, lengths, of: None });
    for slot in slots.by_ref().take(registers - 1) {
        to_all(ranks, slot, own);
    }
    Ok(())
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

/// The registers of the values in some runs of lifted ones.
fn send_value<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    shape: &Shape,
    slots: &mut Slots<L>,
    runs: &[Run],
    own: &mut Sending<L>,
) -> Result<(), Fault> {
    match shape {
        Shape::Scalar(_) => {
            let coming = send_column(ranks, &column(slots), runs, own)?;
            own.slots.push(Sent::Column(coming));
        }
        Shape::Pair(first, rest) => {
            send_value(ranks, first, slots, runs, own)?;
            send_value(ranks, rest, slots, runs, own)?;
        }
        Shape::Record(_, inner) | Shape::Function(Some(inner)) => send_value(ranks, inner, slots, runs, own)?,
        Shape::Function(None) | Shape::Unit => {}
        Shape::Sequence(element) => {
            let segments = descriptor(slots);
            let lengths = send_column(ranks, &segments.0.lengths.clone(), runs, own)?;
            own.slots.push(Sent::Segments { starts: None, lengths, of: None });
            match inside(ranks, &segments, runs)? {
                Some(runs) => send_value(ranks, element, slots, &runs, own)?,
                None => {
                    let mut packed = Vec::new();
                    pack_elements(ranks, element, &segments, slots, &mut packed)?;
                    let segments = segments::descriptor(ranks, None, segments.0.lengths.clone())?;
                    let runs = inside(ranks, &segments, runs)?.unwrap_or_else(|| unreachable!("no view any more"));
                    send_value(ranks, element, &mut packed.into_iter(), &runs, own)?;
                }
            }
        }
        Shape::Entry(_) => panic!("an entry of a stack varies by instance: unverified program"),
    }
    Ok(())
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

/// The registers of elements in the packed order of some segments.
fn pack_elements<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    shape: &Shape,
    segments: &Descriptor<L::Descriptor>,
    slots: &mut Slots<L>,
    packed: &mut Vec<SlotOf<Ranks<L>>>,
) -> Result<(), Fault> {
    match shape {
        Shape::Pair(first, rest) => {
            pack_elements(ranks, first, segments, slots, packed)?;
            pack_elements(ranks, rest, segments, slots, packed)?;
        }
        Shape::Record(_, inner) | Shape::Function(Some(inner)) => {
            pack_elements(ranks, inner, segments, slots, packed)?;
        }
        Shape::Function(None) | Shape::Unit => {}
        Shape::Sequence(element) => {
            let inner = descriptor(slots);
            let (starts, lengths) = (segment::starts(ranks, &inner)?, inner.lengths());
            let starts = segment::compact(ranks, &starts, segments)?;
            let lengths = segment::compact(ranks, lengths, segments)?;
            packed.push(Slot::Descriptor(segment::view(ranks, starts, lengths)?));
            packed.extend(slots.by_ref().take(element.lifted().len()));
        }
        _ => packed.push(Slot::Column(segment::compact(ranks, &column(slots), segments)?)),
    }
    Ok(())
}

fn column<D>(slots: &mut impl Iterator<Item = Slot<Distributed, Descriptor<D>>>) -> Distributed {
    match slots.next() {
        Some(Slot::Column(column)) => column,
        _ => panic!("expected a column: unverified program"),
    }
}

fn descriptor<D>(slots: &mut impl Iterator<Item = Slot<Distributed, Descriptor<D>>>) -> Descriptor<D> {
    match slots.next() {
        Some(Slot::Descriptor(descriptor)) => descriptor,
        _ => panic!("expected a descriptor: unverified program"),
    }
}

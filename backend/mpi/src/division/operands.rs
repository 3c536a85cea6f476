//! Sending each rank the operands of its instances, and nothing else.
//!
//! Columns go by runs: those of instances, then those of the elements of their sequences, which every rank works out of lengths. What all
//! instances read, and the data that many segments share, goes to every rank.

use crate::distribution::column::{Column, Descriptor};
use crate::distribution::ragged::{Held, Placed};
use crate::distribution::redistribution::{Route, Run};
use crate::distribution::transfer::Move;
use crate::division::Plan;
use crate::layout::offsets;
use crate::ranks::Ranks;
use nesl_backend::{Division, Engine, Fault, Slot, SlotOf, Vector};
use nesl_vcode::Shape;

/// The values of registers, one after another.
type Slots<L> = std::vec::IntoIter<SlotOf<Ranks<L>>>;

/// A column of this rank.
enum Coming {
    /// It is there already.
    Here(Vector),
    /// It comes by the route of this number.
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
    fn by_route(&mut self, column: Move) -> Coming {
        self.moves.push(column);
        Coming::By(self.moves.len() - 1)
    }
}

impl<L: Engine<Column = Vector>> Ranks<L> {
    /// The operands of this rank's instances. All ranks send together.
    pub(crate) fn send_operands(
        &mut self,
        division: &Division<'_, Self>,
        plan: &Plan,
    ) -> Result<Vec<SlotOf<L>>, Fault> {
        let operands = division.operands.to_vec();
        let mut operands: Slots<L> = operands.into_iter();
        let mut own = Sending { slots: Vec::new(), moves: Vec::new() };
        for argument in &division.each.arguments {
            let position = division.operands.len() - operands.len();
            if plan.shared.contains(&position) {
                self.send_shared(argument.registers().len(), &mut operands, &plan.runs, &mut own)?;
            } else if argument.varies {
                self.send_value(&argument.shape, &mut operands, &plan.runs, &mut own)?;
            } else {
                for slot in operands.by_ref().take(argument.registers().len()) {
                    self.to_all(slot, &mut own);
                }
            }
        }
        self.sent(own)
    }

    /// What was sent, once everything has come: all columns travel together.
    fn sent(&mut self, Sending { slots, moves }: Sending<L>) -> Result<Vec<SlotOf<L>>, Fault> {
        let came = self.carried_together(&moves)?;
        let column = |coming: Coming| match coming {
            Coming::Here(vector) => vector,
            Coming::By(route) => came[route].clone(),
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
                        Some(starts) => self.local.view(starts, lengths),
                        None => self.local.packed(lengths),
                    };
                    Slot::Descriptor(self.settle(of, local)?)
                }
            });
        }
        Ok(own)
    }

    /// Sequences that lie in the same data: which part each instance has goes to its rank, the data to all.
    fn send_shared(
        &mut self,
        registers: usize,
        slots: &mut Slots<L>,
        runs: &[Run],
        own: &mut Sending<L>,
    ) -> Result<(), Fault> {
        let segments = descriptor(slots);
        let (starts, lengths) = (self.starts(&segments)?, self.lengths(&segments)?);
        let starts = Some(self.send_column(&starts, runs, own)?);
        let lengths = self.send_column(&lengths, runs, own)?;
        own.slots.push(Sent::Segments { starts, lengths, of: None });
        for slot in slots.by_ref().take(registers - 1) {
            self.to_all(slot, own);
        }
        Ok(())
    }

    /// Operands that all ranks get, on the local engine. All ranks send together.
    pub(crate) fn everywhere(&mut self, operands: &[SlotOf<Self>]) -> Result<Vec<SlotOf<L>>, Fault> {
        let mut own = Sending { slots: Vec::new(), moves: Vec::new() };
        operands.iter().for_each(|slot| self.to_all(slot.clone(), &mut own));
        self.sent(own)
    }

    /// A value that all ranks get.
    fn to_all(&mut self, slot: SlotOf<Self>, own: &mut Sending<L>) {
        let sent = match slot {
            Slot::Scalar(value) => Sent::There(Slot::Scalar(value)),
            Slot::Column(column) => Sent::Column(self.replicated_column(&column, own)),
            Slot::Descriptor(segments) => {
                let inner = &segments.0;
                let mut replicate = |column: &Column| self.replicated_column(&Placed::Settled(column.clone()), own);
                let lengths = replicate(&inner.lengths);
                let starts = inner.starts.as_ref().map(replicate);
                Sent::Segments { starts, lengths, of: Some(inner.lengths.length()) }
            }
        };
        own.slots.push(sent);
    }

    /// All elements of a column, on every rank.
    fn replicated_column(&mut self, column: &Placed, own: &mut Sending<L>) -> Coming {
        if let Some(vector) = column.common() {
            return Coming::Here(vector.clone());
        }
        let Held { pieces, parts } = self.held(column);
        let route = Route::to_all(self.layout.ranks, &pieces);
        own.by_route(Move { length: column.length(), route, parts })
    }

    /// The registers of the values in some runs of lifted ones.
    fn send_value(
        &mut self,
        shape: &Shape,
        slots: &mut Slots<L>,
        runs: &[Run],
        own: &mut Sending<L>,
    ) -> Result<(), Fault> {
        match shape {
            Shape::Scalar(_) => {
                let coming = self.send_column(&column(slots), runs, own)?;
                own.slots.push(Sent::Column(coming));
            }
            Shape::Pair(first, rest) => {
                self.send_value(first, slots, runs, own)?;
                self.send_value(rest, slots, runs, own)?;
            }
            Shape::Record(_, inner) | Shape::Function(Some(inner)) => self.send_value(inner, slots, runs, own)?,
            Shape::Function(None) | Shape::Unit => {}
            Shape::Sequence(element) => {
                let segments = descriptor(slots);
                let lengths = self.send_column(&Placed::Settled(segments.0.lengths.clone()), runs, own)?;
                own.slots.push(Sent::Segments { starts: None, lengths, of: None });
                match self.inside(&segments, runs)? {
                    Some(runs) => self.send_value(element, slots, &runs, own)?,
                    None => {
                        let mut packed = Vec::new();
                        self.pack_elements(element, &segments, slots, &mut packed)?;
                        let segments = self.descriptor(None, segments.0.lengths.clone())?;
                        let runs = self.inside(&segments, runs)?.unwrap_or_else(|| unreachable!("no view any more"));
                        self.send_value(element, &mut packed.into_iter(), &runs, own)?;
                    }
                }
            }
            Shape::Entry(_) => panic!("an entry of a stack varies by instance: unverified program"),
        }
        Ok(())
    }

    /// The elements of a column in the runs of this rank.
    fn send_column(&mut self, column: &Placed, runs: &[Run], own: &mut Sending<L>) -> Result<Coming, Fault> {
        let rank = self.layout.rank;
        if let Some(vector) = column.common() {
            let mine = runs.iter().filter(|run| run.rank == rank && run.length > 0);
            let pieces: Vec<Vector> = mine.map(|run| vector.slice(run.start, run.length)).collect();
            return match pieces.as_slice() {
                [] => Ok(Coming::Here(vector.slice(0, 0))),
                [piece] => Ok(Coming::Here(piece.clone())),
                pieces => {
                    let joined = self.local.concat(pieces);
                    self.settle(vector.len(), joined).map(Coming::Here)
                }
            };
        }
        let Held { pieces, parts } = self.held(column);
        let route = Route::from_pieces(self.layout.ranks, &pieces, runs);
        Ok(own.by_route(Move { length: column.length(), route, parts }))
    }

    /// Where the elements of runs of segments lie; none where that is not for every rank to see.
    pub(crate) fn inside(
        &mut self,
        segments: &Descriptor<L::Descriptor>,
        runs: &[Run],
    ) -> Result<Option<Vec<Run>>, Fault> {
        let inner = &segments.0;
        match (&inner.starts, &inner.lengths) {
            (Some(Column::Common(starts)), Column::Common(lengths)) => {
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
                let total = self.total_of(segments)?;
                let ends: Vec<usize> = runs.iter().flat_map(|run| [run.start, run.start + run.length]).collect();
                let starts = self.starts(segments)?;
                let starts = self.in_blocks(&starts)?;
                let places = self.values_at(&starts, &ends, total);
                let of = |(run, place): (&Run, &[usize])| Run { start: place[0], length: place[1] - place[0], ..*run };
                Ok(Some(runs.iter().zip(places.chunks_exact(2)).map(of).collect()))
            }
        }
    }

    /// The ints at some places of a column, on every rank; `end` at the place behind the last.
    fn values_at(&mut self, column: &Column, places: &[usize], end: usize) -> Vec<usize> {
        let (layout, length) = (self.layout, column.length());
        match column {
            Column::Common(vector) => {
                let elements = vector.elements::<i64>();
                places.iter().map(|&place| elements.get(place).map_or(end, |&element| element as usize)).collect()
            }
            Column::Partitioned { part, .. } => {
                let owner = |place: usize| (place < length).then(|| layout.owner(length, place));
                let mut counts = vec![0; layout.ranks];
                places.iter().filter_map(|&place| owner(place)).for_each(|owner| counts[owner] += 1);
                let (start, elements) = (layout.share(length).start, part.elements::<i64>());
                let own = places.iter().filter(|&&place| owner(place) == Some(layout.rank));
                let own: Vec<i64> = own.map(|&place| elements[place - start]).collect();
                let all = self.communicator.all_gather_varied(&own, &counts, Vec::new());
                let mut next = offsets(&counts);
                let take = |&place: &usize| {
                    owner(place).map_or(end, |owner| {
                        next[owner] += 1;
                        all[next[owner] - 1] as usize
                    })
                };
                places.iter().map(take).collect()
            }
        }
    }

    /// The registers of elements in the packed order of some segments.
    fn pack_elements(
        &mut self,
        shape: &Shape,
        segments: &Descriptor<L::Descriptor>,
        slots: &mut Slots<L>,
        packed: &mut Vec<SlotOf<Self>>,
    ) -> Result<(), Fault> {
        match shape {
            Shape::Pair(first, rest) => {
                self.pack_elements(first, segments, slots, packed)?;
                self.pack_elements(rest, segments, slots, packed)?;
            }
            Shape::Record(_, inner) | Shape::Function(Some(inner)) => {
                self.pack_elements(inner, segments, slots, packed)?;
            }
            Shape::Function(None) | Shape::Unit => {}
            Shape::Sequence(element) => {
                let inner = descriptor(slots);
                let (starts, lengths) = (self.starts(&inner)?, self.lengths(&inner)?);
                let starts = self.compact(&starts, segments)?;
                let lengths = self.compact(&lengths, segments)?;
                packed.push(Slot::Descriptor(self.view(starts, lengths)?));
                packed.extend(slots.by_ref().take(element.lifted().len()));
            }
            _ => packed.push(Slot::Column(self.compact(&column(slots), segments)?)),
        }
        Ok(())
    }
}

fn column<D>(slots: &mut impl Iterator<Item = Slot<Placed, Descriptor<D>>>) -> Placed {
    match slots.next() {
        Some(Slot::Column(column)) => column,
        _ => panic!("expected a column: unverified program"),
    }
}

fn descriptor<D>(slots: &mut impl Iterator<Item = Slot<Placed, Descriptor<D>>>) -> Descriptor<D> {
    match slots.next() {
        Some(Slot::Descriptor(descriptor)) => descriptor,
        _ => panic!("expected a descriptor: unverified program"),
    }
}

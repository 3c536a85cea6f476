//! Several columns that move at once: one message for each pair of ranks, however many they are.
//!
//! A value of several columns, such as a sequence of tuples or of sequences, moves as each of them does, and a message
//! costs more to begin than a few thousand bytes to send. So whoever moves several columns makes all of them ready
//! first ([`Load`]): what leaves, where it lies, and where what comes belongs. Then all go together, without another
//! copy, and each is finished by itself. A single column goes the way that it always went, and so do several where
//! there is no room for all of them at once, which takes what each takes. Ranks that ask one after another
//! ([`Requests::has_hotspot`]) do so for one column after another: room is short there.

#![allow(
    unsafe_code,
    reason = "elements go to memory that is not initialised before; every block says why it is sound"
)]

use crate::communication::slices::Slices;
use crate::communication::wire::uninitialised;
use crate::distribution::column::{Block, Distributed, Item, Ragged};
use crate::distribution::ragged::local_parts;
use crate::distribution::ranges::reply;
use crate::distribution::redistribution::{LocalParts, RankPlan, Redistribution};
use crate::distribution::request_cache::{Indices, RangeRequests, Requests};
use crate::distribution::requests::with_own;
use crate::distribution::{Distribution, LocalEngine};
use crate::layout::{offsets, overlap};
use nesl_backend::data::memory::Room;
use nesl_backend::{Fault, Meter, Vector, on_vector};
use std::ops::Range;
use std::sync::Arc;

/// A column that is to go by a redistribution.
pub(crate) struct Move {
    /// The elements of all ranks, for what is agreed on.
    pub(crate) length: usize,
    pub(crate) redistribution: Redistribution,
    /// What this rank holds, one part after another; at least one, of the column's type.
    pub(crate) parts: Vec<Vector>,
}

/// A column ready to move.
trait Load {
    /// What leaves, and where what comes belongs.
    fn slices(&mut self) -> Slices<'_>;

    /// The column, once everything has come.
    fn finish(self: Box<Self>, meter: &Arc<Meter>) -> Vector;
}

/// A column that goes by a redistribution.
struct Redistributed<'a, T> {
    plan: RankPlan,
    held: LocalParts<'a, T>,
    packed: Room<T>,
    unpacked: Room<T>,
    elements: Room<T>,
    sizes: [usize; 3],
}

impl<T: Item> Load for Redistributed<'_, T> {
    fn slices(&mut self) -> Slices<'_> {
        let [packed, unpacked, total] = self.sizes;
        let (packed, unpacked) = (&mut self.packed.spare()[..packed], &mut self.unpacked.spare()[..unpacked]);
        let (outgoing, incoming) = self.plan.pack(&self.held, packed, unpacked, &mut self.elements.spare()[..total]);
        Slices::of(outgoing, incoming)
    }

    fn finish(mut self: Box<Self>, meter: &Arc<Meter>) -> Vector {
        let [_, unpacked, total] = self.sizes;
        self.plan.unpack(&self.unpacked.spare()[..unpacked], &mut self.elements.spare()[..total]);
        // SAFETY: there is room for so many, and all are initialised now.
        unsafe { self.elements.set_length(total) };
        Vector::new(meter, self.elements)
    }
}

/// Elements that go to other ranks and come from them in runs, one for each rank; what stays is there already.
struct Exchanged<'a, T> {
    /// This rank's elements for others, without its own; borrowed where they lie in order.
    outgoing: Lent<'a, T>,
    /// Where what goes to each rank is in them.
    sent: Vec<Range<usize>>,
    came: Room<T>,
    incoming: Vec<usize>,
    rank: usize,
    /// What is made of those that came, in the order of their ranks.
    finish: Finish<'a, T>,
}

/// What makes a column of elements that came.
type Finish<'a, T> = Box<dyn FnOnce(Room<T>) -> Room<T> + 'a>;

/// Elements of somebody else, or of one's own.
enum Lent<'a, T> {
    Borrowed(&'a [T]),
    Own(Room<T>),
}

impl<T: Item> Load for Exchanged<'_, T> {
    fn slices(&mut self) -> Slices<'_> {
        let elements = match &self.outgoing {
            Lent::Borrowed(elements) => elements,
            Lent::Own(elements) => &elements[..],
        };
        let (rank, mut rest) = (self.rank, uninitialised(&mut self.came));
        let outgoing = self.sent.iter().enumerate();
        let outgoing = outgoing.map(|(target, part)| if target == rank { &[][..] } else { &elements[part.clone()] });
        let incoming = self.incoming.iter().enumerate().map(|(source, &count)| {
            let (part, others) = std::mem::take(&mut rest).split_at_mut(count);
            rest = others;
            if source == rank { Default::default() } else { part }
        });
        Slices::of(outgoing.collect(), incoming.collect())
    }

    fn finish(self: Box<Self>, meter: &Arc<Meter>) -> Vector {
        let Exchanged { came, finish, .. } = *self;
        Vector::new(meter, finish(came))
    }
}

impl<L: LocalEngine> Distribution<L> {
    /// The same columns, common or in blocks.
    pub(crate) fn all_in_blocks(&mut self, columns: &[&Distributed]) -> Result<Vec<Distributed>, Fault> {
        let mut moves = Vec::new();
        let mut moving: Vec<&Ragged> = Vec::new();
        for column in columns {
            // A column that occurs twice moves once.
            if let Some(ragged) = self.to_be_moved(column)
                && !moving.iter().any(|known| std::ptr::eq(*known, ragged))
            {
                let (length, redistribution) = (ragged.length, Redistribution::to_blocks(self.layout, &ragged.runs));
                moves.push(Move { length, redistribution, parts: ragged.parts.clone() });
                moving.push(ragged);
            }
        }
        if moves.len() > 1 {
            let parts = redistributed_together(self, &moves)?;
            for (ragged, part) in moving.into_iter().zip(parts) {
                self.keep_blocks(ragged, part);
            }
        }
        columns.iter().map(|column| self.in_blocks(column)).collect()
    }

    /// The same of columns, and of one more.
    pub(crate) fn all_and_last_in_blocks<'c>(
        &mut self,
        mut columns: Vec<&'c Distributed>,
        last: &'c Distributed,
    ) -> Result<(Vec<Distributed>, Distributed), Fault> {
        columns.push(last);
        let mut all = self.all_in_blocks(&columns)?;
        all.truncate(columns.len() - 1);
        // It has moved with the others.
        Ok((all, self.in_blocks(last)?))
    }

    /// The same of so many.
    pub(crate) fn each_in_blocks<const N: usize>(
        &mut self,
        columns: [&Distributed; N],
    ) -> Result<[Distributed; N], Fault> {
        self.all_in_blocks(&columns)?;
        let mut settled = columns.map(|_| None);
        for (settled, column) in settled.iter_mut().zip(columns) {
            *settled = Some(self.in_blocks(column)?);
        }
        Ok(settled.map(|column| column.unwrap_or_else(|| unreachable!("each is settled"))))
    }
}

fn ship<L: LocalEngine>(ranks: &mut Distribution<L>, mut loads: Vec<Box<dyn Load + '_>>) -> Vec<Vector> {
    ranks.collectives.communicator.exchange_together(loads.iter_mut().map(|load| load.slices()).collect());
    loads.into_iter().map(|load| load.finish(&ranks.meter)).collect()
}

/// The elements of columns that redistributions bring to this rank.
pub(crate) fn redistributed_together<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    moves: &[Move],
) -> Result<Vec<Vector>, Fault> {
    if moves.len() > 1
        && let Ok(loads) = loaded_together(ranks, moves)
    {
        return Ok(ship(ranks, loads));
    }
    let carry = |Move { length, redistribution, parts }: &Move| {
        on_vector!(&parts[0], slice => {
            ranks.redistributed(*length, redistribution, &local_parts(slice.elements(), parts))
        })
    };
    moves.iter().map(carry).collect()
}

fn loaded_together<'m, L: LocalEngine>(
    ranks: &mut Distribution<L>,
    moves: &'m [Move],
) -> Result<Vec<Box<dyn Load + 'm>>, Fault> {
    let mut loads = Vec::with_capacity(moves.len());
    for Move { length, redistribution, parts } in moves {
        let load = on_vector!(&parts[0], slice => {
            loaded(ranks, *length, redistribution, local_parts(slice.elements(), parts))?
        });
        loads.push(load);
    }
    Ok(loads)
}

fn loaded<'a, L: LocalEngine, T: Item>(
    ranks: &mut Distribution<L>,
    length: usize,
    redistribution: &Redistribution,
    held: LocalParts<'a, T>,
) -> Result<Box<dyn Load + 'a>, Fault> {
    let plan = redistribution.plan_of(ranks.layout);
    let sizes = [plan.packed(&held), plan.unpacked(), plan.total()];
    let [packed, unpacked, elements] = ranks.rooms(length, |meter| {
        let [packed, unpacked, elements] = sizes.map(|size| meter.room(size));
        Ok([packed?, unpacked?, elements?])
    })?;
    Ok(Box::new(Redistributed { plan, held, packed, unpacked, elements, sizes }))
}

/// Consecutive elements of columns of a length, for each rank those in its range; this one holds `parts`, its blocks.
pub(crate) fn excerpts_together<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    wanted: &[(usize, Vector, Vec<Range<usize>>)],
) -> Result<Vec<Vector>, Fault> {
    let mut loads = Vec::with_capacity(wanted.len());
    for (length, part, ranges) in wanted {
        loads.push(on_vector!(part, slice => excerpt(ranks, *length, slice.elements(), ranges)?));
    }
    Ok(ship(ranks, loads))
}

fn excerpt<'a, L: LocalEngine, T: Item>(
    ranks: &mut Distribution<L>,
    length: usize,
    part: &'a [T],
    ranges: &[Range<usize>],
) -> Result<Box<dyn Load + 'a>, Fault> {
    let (layout, rank) = (ranks.layout, ranks.layout.rank);
    let (block, own) = (layout.share(length), &ranges[rank]);
    let within = |range: &Range<usize>| {
        let both = overlap(&block, range);
        if both.is_empty() { 0..0 } else { both.start - block.start..both.end - block.start }
    };
    let incoming: Vec<usize> =
        (0..layout.ranks).map(|source| overlap(&layout.block(length, source), own).len()).collect();
    let mut came = ranks.rooms(length, |meter| meter.room::<T>(incoming.iter().sum()))?;
    with_own(&mut came, &incoming, rank, part[within(own)].iter().copied());
    let sent = ranges.iter().map(within).collect();
    let finish: Finish<'a, T> = Box::new(|came| came);
    Ok(Box::new(Exchanged { outgoing: Lent::Borrowed(part), sent, came, incoming, rank, finish }))
}

/// The elements that were asked for, of columns of which this rank holds parts; `total` of each on all ranks.
pub(crate) fn fetched_together<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    requests: &Requests,
    parts: &[Vector],
    total: usize,
) -> Result<Vec<Vector>, Fault> {
    if let (Indices::Asked(asked), [_, _, ..]) = (&requests.indices, parts) {
        let asked = asked.elements::<i64>();
        let load = |part: &Vector| on_vector!(part, slice => replies(ranks, requests, asked, slice.elements(), total));
        if let Ok(loads) = parts.iter().map(load).collect::<Result<Vec<_>, Fault>>() {
            return Ok(ship(ranks, loads));
        }
    }
    let fetch = |part: &Vector| on_vector!(part, slice => ranks.fetched(requests, slice.elements(), total));
    parts.iter().map(fetch).collect()
}

/// One column's answers to requests.
fn replies<'a, L: LocalEngine, T: Item>(
    ranks: &mut Distribution<L>,
    requests: &'a Requests,
    asked: &[i64],
    part: &[T],
    total: usize,
) -> Result<Box<dyn Load + 'a>, Fault> {
    let (rank, count) = (ranks.layout.rank, requests.count());
    let others = asked.len() - requests.incoming[rank];
    let (mut replies, mut came, mut elements) = ranks.rooms(total, |meter| {
        Ok((meter.room::<T>(others)?, meter.room::<T>(count)?, meter.room::<T>(requests.moved())?))
    })?;
    let asking = offsets(&requests.incoming);
    let element = |&index: &i64| part[index as usize];
    let (before, rest) = asked.split_at(asking[rank]);
    let (own, after) = rest.split_at(requests.incoming[rank]);
    with_own(&mut came, &requests.outgoing, rank, own.iter().map(element));
    replies.extend_from_iter(before.iter().chain(after).map(element));
    // What stays is not among the replies.
    let start = |target: usize| asking[target] - if target > rank { own.len() } else { 0 };
    let sent = (0..ranks.layout.ranks).map(|target| start(target)..start(target) + requests.incoming[target]);
    let finish: Finish<'a, T> = match &requests.places {
        None => Box::new(|came| came),
        Some(places) => Box::new(move |came| {
            elements.extend_from_iter(places.iter().map(|&place| came[place]));
            elements
        }),
    };
    let (sent, incoming) = (sent.collect(), requests.outgoing.clone());
    Ok(Box::new(Exchanged { outgoing: Lent::Own(replies), sent, came, incoming, rank, finish }))
}

/// Sends values of several columns, `total` of each on all ranks, to the owners of their indices: the targets in
/// this rank's block, and the values for them. Nothing where ranks send one after another, or have no room for all
/// columns.
pub(crate) fn delivered_together<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    requests: &Requests,
    columns: &[Vector],
    total: usize,
) -> Option<(Vector, Vec<Vector>)> {
    let Indices::Asked(targets) = &requests.indices else { return None };
    let loads = parcels(ranks, requests, columns, targets.len(), total).ok()?;
    Some((targets.clone(), ship(ranks, loads)))
}

fn parcels<'c, L: LocalEngine>(
    ranks: &mut Distribution<L>,
    requests: &Requests,
    columns: &'c [Vector],
    coming: usize,
    total: usize,
) -> Result<Vec<Box<dyn Load + 'c>>, Fault> {
    let mut loads = Vec::with_capacity(columns.len());
    for column in columns {
        loads.push(on_vector!(column, slice => parcel(ranks, requests, slice.elements(), coming, total)?));
    }
    Ok(loads)
}

/// One column's values for their owners.
fn parcel<'a, L: LocalEngine, T: Item>(
    ranks: &mut Distribution<L>,
    requests: &Requests,
    values: &'a [T],
    coming: usize,
    total: usize,
) -> Result<Box<dyn Load + 'a>, Fault> {
    let rank = ranks.layout.rank;
    let (mut sorted, mut came) =
        ranks.rooms(total, |meter| Ok((meter.room::<T>(requests.moved())?, meter.room::<T>(coming)?)))?;
    let outgoing = match requests.places {
        None => Lent::Borrowed(values),
        Some(_) => {
            requests.sorted(values, &mut sorted);
            Lent::Own(sorted)
        }
    };
    let elements = match &outgoing {
        Lent::Borrowed(elements) => elements,
        Lent::Own(elements) => &elements[..],
    };
    let starts = offsets(&requests.outgoing);
    let sent: Vec<_> = starts.windows(2).map(|part| part[0]..part[1]).collect();
    with_own(&mut came, &requests.incoming, rank, elements[sent[rank].clone()].iter().copied());
    let incoming = requests.incoming.clone();
    Ok(Box::new(Exchanged { outgoing, sent, came, incoming, rank, finish: Box::new(|came| came) }))
}

/// The elements of the ranges that were asked for, of columns of which this rank holds parts: `count` of each, and
/// `total` on all ranks.
pub(crate) fn fetched_ranges_together<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    requests: &RangeRequests,
    parts: &[Vector],
    count: usize,
    total: usize,
) -> Result<Vec<Vector>, Fault> {
    if !requests.in_turns && parts.len() > 1 {
        let load =
            |part: &Vector| on_vector!(part, slice => ranges_loaded(ranks, requests, slice.elements(), count, total));
        if let Ok(loads) = parts.iter().map(load).collect::<Result<Vec<_>, Fault>>() {
            return Ok(ship(ranks, loads));
        }
    }
    let fetch =
        |part: &Vector| on_vector!(part, slice => ranks.fetched_ranges(requests, slice.elements(), count, total));
    parts.iter().map(fetch).collect()
}

/// One column's answers to requests for ranges.
fn ranges_loaded<'a, L: LocalEngine, T: Item>(
    ranks: &mut Distribution<L>,
    requests: &'a RangeRequests,
    part: &[T],
    count: usize,
    total: usize,
) -> Result<Box<dyn Load + 'a>, Fault> {
    let rank = ranks.layout.rank;
    let (going, coming) = (requests.going.iter().sum(), requests.coming.iter().sum());
    let (mut replies, mut came, mut elements) =
        ranks.rooms(total, |meter| Ok((meter.room::<T>(going)?, meter.room::<T>(coming)?, meter.room::<T>(count)?)))?;
    reply(part, &requests.numbers, &mut replies);
    let starts = offsets(&requests.going);
    let sent: Vec<_> = starts.windows(2).map(|part| part[0]..part[1]).collect();
    with_own(&mut came, &requests.coming, rank, replies[sent[rank].clone()].iter().copied());
    let finish: Finish<'a, T> = Box::new(move |came| {
        requests.in_order(&came, &mut elements);
        elements
    });
    let incoming = requests.coming.clone();
    Ok(Box::new(Exchanged { outgoing: Lent::Own(replies), sent, came, incoming, rank, finish }))
}

/// This rank's elements of columns by other bounds than those of their blocks.
pub(crate) fn realigned_together<L: LocalEngine>(
    ranks: &mut Distribution<L>,
    wanted: Vec<(&Distributed, Vec<usize>)>,
) -> Result<Vec<Vector>, Fault> {
    let rank = ranks.layout.rank;
    let (mut aligned, mut moves) = (Vec::with_capacity(wanted.len()), Vec::new());
    for (column, wanted) in wanted {
        if let Some(vector) = column.replicated() {
            aligned.push(Some(vector.slice(wanted[rank], wanted[rank + 1] - wanted[rank])));
            continue;
        }
        let Block { length, part, .. } = ranks.block(column)?;
        let held = ranks.layout.bounds(length);
        if held == wanted {
            aligned.push(Some(part));
        } else {
            let length = wanted[ranks.layout.ranks] - wanted[0];
            moves.push(Move { length, redistribution: Redistribution::between(&held, &wanted), parts: vec![part] });
            aligned.push(None);
        }
    }
    let mut moved = redistributed_together(ranks, &moves)?.into_iter();
    let of = |part: Option<Vector>| part.or_else(|| moved.next());
    Ok(aligned.into_iter().filter_map(of).collect())
}

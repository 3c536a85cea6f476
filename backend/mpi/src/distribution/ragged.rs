//! Columns whose elements lie where they came up, until somebody needs them in blocks.
//!
//! What a filter keeps, what instances give, what of it is taken and put behind each other: of all that every rank knows how many
//! elements each rank has in which order, so it takes no message to know the whole. Elements move when an instruction has to see
//! them at the ranks of their indices, and then once for all that was done in between. No rank keeps much more than its fair share
//! so: where pieces would be too uneven, or too many to keep book of, they become blocks at once. Pieces are not even copied on
//! their rank: they may be parts of what other columns have, and a loop over elements runs over one piece after another.

use crate::distribution::column::{Column, Descriptor, Item};
use crate::distribution::redistribution::{Lying, Route, piece_at, starts_of};
use crate::distribution::{Distribution, LocalEngine};
use crate::layout::offsets;
use nesl_backend::{Fault, Slot, Vector, on_vector};
use nesl_prim::ScalarType;
use std::sync::{Arc, OnceLock};

/// The most elements that a rank may have of a column in pieces, relative to its fair share.
const UNEVEN: f64 = 2.0;

/// The most pieces of a column.
const MOST_PIECES: usize = 1 << 13;

/// Pieces of a whole, in its order: on which rank each is, and how many elements it has.
pub(crate) type Pieces = Vec<(usize, usize)>;

/// A column as the machine holds it.
#[derive(Clone, Debug)]
pub enum Placed {
    /// Common or in blocks, as instructions want it.
    Settled(Column),
    /// Each rank has pieces of it.
    Loose(Arc<Loose>),
}

impl Placed {
    /// The number of elements on all ranks.
    pub fn length(&self) -> usize {
        match self {
            Placed::Settled(column) => column.length(),
            Placed::Loose(loose) => loose.length,
        }
    }

    /// The type of the elements.
    pub fn scalar_type(&self) -> ScalarType {
        match self {
            Placed::Settled(column) => column.scalar_type(),
            Placed::Loose(loose) => loose.parts[0].scalar_type(),
        }
    }

    /// All elements, where every rank holds them.
    pub(crate) fn common(&self) -> Option<&Vector> {
        match self {
            Placed::Settled(column) => column.common(),
            Placed::Loose(_) => None,
        }
    }
}

/// Whether every rank has all of a value.
pub(crate) fn is_at_hand<D>(operand: &Slot<Placed, Descriptor<D>>) -> bool {
    match operand {
        Slot::Scalar(_) => true,
        Slot::Column(column) => column.common().is_some(),
        Slot::Descriptor(Descriptor(inner)) => {
            inner.lengths.common().is_some() && inner.starts.as_ref().is_none_or(|starts| starts.common().is_some())
        }
    }
}

/// A column in pieces.
#[derive(Debug)]
pub struct Loose {
    pub(crate) length: usize,
    pub(crate) pieces: Arc<Pieces>,
    /// Those of this rank, in order; where it has none, one without elements.
    pub(crate) parts: Vec<Vector>,
    /// The same in blocks, once somebody asked for that.
    pub(crate) blocks: OnceLock<Column>,
}

/// What ranks hold of a column, however it lies.
pub(crate) struct Held {
    pub(crate) pieces: Arc<Pieces>,
    /// Those of this rank, as a [`Loose`] column has them.
    pub(crate) parts: Vec<Vector>,
}

/// The elements of parts of one type, that of `first`.
pub(crate) fn lying<'a, T: Item>(_first: &[T], parts: &'a [Vector]) -> Lying<'a, T> {
    Lying::new(parts.iter().map(Vector::elements).collect())
}

/// The number of elements of all pieces.
fn length_of(pieces: &[(usize, usize)]) -> usize {
    pieces.iter().map(|piece| piece.1).sum()
}

/// How many elements of all pieces each rank has.
pub(crate) fn counts_of(ranks: usize, pieces: &[(usize, usize)]) -> Vec<usize> {
    let mut counts = vec![0; ranks];
    pieces.iter().for_each(|&(rank, length)| counts[rank] += length);
    counts
}

impl<L: LocalEngine> Distribution<L> {
    /// A column from its pieces, of which this rank has its own one after another.
    pub(crate) fn loose(&mut self, pieces: Pieces, part: Vector) -> Result<Placed, Fault> {
        let length = length_of(&pieces);
        if self.is_common(length) {
            return on_vector!(&part, slice => {
                let all = self.in_order(slice.elements(), &pieces);
                self.adopt(0, all).map(Column::Common).map(Placed::Settled)
            });
        }
        let mut start = 0;
        let own = pieces.iter().filter(|piece| piece.0 == self.layout.rank).map(|&(_, length)| {
            start += length;
            part.slice(start - length, length)
        });
        let parts = own.collect();
        self.loose_parts(Arc::new(pieces), parts, &part)
    }

    /// The same where those of this rank lie apart; `like` is a column of their type.
    pub(crate) fn loose_parts(
        &mut self,
        pieces: Arc<Pieces>,
        mut parts: Vec<Vector>,
        like: &Vector,
    ) -> Result<Placed, Fault> {
        let length = length_of(&pieces);
        if parts.is_empty() {
            parts.push(like.slice(0, 0));
        }
        if self.is_common(length) {
            let part = self.joined_parts(length, &parts)?;
            return self.loose(pieces.to_vec(), part);
        }
        let is_tame = self.is_tame(length, &pieces);
        let loose = self.new_loose(length, pieces, parts);
        if is_tame { Ok(loose) } else { self.in_blocks(&loose).map(Placed::Settled) }
    }

    fn new_loose(&mut self, length: usize, pieces: Arc<Pieces>, parts: Vec<Vector>) -> Placed {
        self.holds(parts.iter().map(Vector::len).sum());
        Placed::Loose(Arc::new(Loose { length, pieces, parts, blocks: OnceLock::new() }))
    }

    /// Parts of a column of `length`, put behind each other.
    pub(crate) fn joined_parts(&mut self, length: usize, parts: &[Vector]) -> Result<Vector, Fault> {
        let joined = match parts {
            [part] => Ok(part.clone()),
            parts => self.local.concat(parts),
        };
        self.collectives.settle(length, joined)
    }

    /// Whether pieces may stay where they are.
    fn is_tame(&self, length: usize, pieces: &[(usize, usize)]) -> bool {
        let most = counts_of(self.layout.ranks, pieces).into_iter().max().unwrap_or(0);
        pieces.len() <= MOST_PIECES && most as f64 * self.layout.ranks as f64 <= length as f64 * UNEVEN
    }

    /// The same column, common or in blocks.
    pub(crate) fn in_blocks(&mut self, column: &Placed) -> Result<Column, Fault> {
        let loose = match column {
            Placed::Settled(column) => return Ok(column.clone()),
            Placed::Loose(loose) => loose,
        };
        if let Some(blocks) = loose.blocks.get() {
            return Ok(blocks.clone());
        }
        let length = loose.length;
        let part = if self.is_in_blocks(loose) {
            loose.parts[0].clone()
        } else {
            on_vector!(&loose.parts[0], slice => {
                let route = Route::to_blocks(self.layout, &loose.pieces);
                self.carried(length, &route, &lying(slice.elements(), &loose.parts))?
            })
        };
        let blocks = self.finish(length, part)?;
        Ok(loose.blocks.get_or_init(|| blocks).clone())
    }

    /// The elements of a column of `length` that a route brings to this rank.
    #[allow(unsafe_code, reason = "they go to memory that is not initialised before")]
    pub(crate) fn carried<T: Item>(
        &mut self,
        length: usize,
        route: &Route,
        held: &Lying<'_, T>,
    ) -> Result<Vector, Fault> {
        let parcels = route.parcels(self.layout);
        let sizes = [parcels.packed(held), parcels.unpacked(), parcels.total()];
        let [mut packed, mut unpacked, mut elements] = self.rooms(length, |meter| {
            let [packed, unpacked, elements] = sizes.map(|size| meter.room(size));
            Ok([packed?, unpacked?, elements?])
        })?;
        let (packed, unpacked) = (&mut packed.spare()[..sizes[0]], &mut unpacked.spare()[..sizes[1]]);
        parcels.carry(&mut self.collectives.communicator, held, packed, unpacked, &mut elements.spare()[..sizes[2]]);
        // SAFETY: there is room for so many, and all are initialised now.
        unsafe { elements.set_length(sizes[2]) };
        Ok(self.filled(elements))
    }

    /// The same where nobody else needs the column: then an instruction may overwrite it.
    pub(crate) fn taken_in_blocks(&mut self, column: Placed) -> Result<Column, Fault> {
        match column {
            Placed::Settled(column) => Ok(column),
            loose => self.in_blocks(&loose),
        }
    }

    /// A column whose elements have to move to be in blocks.
    pub(crate) fn to_be_moved<'c>(&self, column: &'c Placed) -> Option<&'c Loose> {
        let Placed::Loose(loose) = column else { return None };
        (loose.blocks.get().is_none() && !self.is_in_blocks(loose)).then_some(loose)
    }

    /// Keeps the blocks of a column in pieces, of which this rank has its own.
    pub(crate) fn keep_blocks(&mut self, column: &Placed, part: Vector) -> Result<(), Fault> {
        if let Placed::Loose(loose) = column {
            let blocks = self.finish(loose.length, part)?;
            loose.blocks.get_or_init(|| blocks);
        }
        Ok(())
    }

    /// Whether the pieces are blocks.
    fn is_in_blocks(&self, loose: &Loose) -> bool {
        let is_block =
            |(rank, &piece): (usize, &(usize, usize))| piece == (rank, self.layout.block(loose.length, rank).len());
        loose.pieces.len() == self.layout.ranks && loose.pieces.iter().enumerate().all(is_block)
    }

    /// The elements of all pieces in order, on every rank.
    pub(crate) fn in_order<T: Item>(&mut self, own: &[T], pieces: &[(usize, usize)]) -> Vec<T> {
        let counts = counts_of(self.layout.ranks, pieces);
        let all = self.collectives.communicator.all_gather_varied(own, &counts, Vec::new());
        if pieces.is_sorted_by_key(|piece| piece.0) {
            return all;
        }
        let mut next = offsets(&counts);
        let mut ordered = Vec::with_capacity(all.len());
        for &(rank, length) in pieces {
            ordered.extend_from_slice(&all[next[rank]..next[rank] + length]);
            next[rank] += length;
        }
        ordered
    }

    /// What ranks hold of a column. Of a common one each takes a block.
    pub(crate) fn held(&self, column: &Placed) -> Held {
        let settled = match column {
            Placed::Settled(column) => column,
            Placed::Loose(loose) => match loose.blocks.get() {
                Some(blocks) => blocks,
                None => return Held { pieces: Arc::clone(&loose.pieces), parts: loose.parts.clone() },
            },
        };
        let of = |rank| (rank, self.layout.block(settled.length(), rank).len());
        Held { pieces: Arc::new((0..self.layout.ranks).map(of).collect()), parts: vec![self.part(settled)] }
    }

    /// Ranges of columns (which, from where, how many elements) put behind each other without a message; none where they had better
    /// be in blocks.
    pub(crate) fn select(&mut self, columns: &[&Placed], ranges: &[(usize, usize, usize)]) -> Option<Placed> {
        let rank = self.layout.rank;
        let length: usize = ranges.iter().map(|range| range.2).sum();
        if self.is_common(length) {
            return None;
        }
        let held: Vec<Held> = columns.iter().map(|column| self.held(column)).collect();
        let ranks = self.layout.ranks;
        let starts: Vec<Vec<_>> = held.iter().map(|held| starts_of(ranks, &held.pieces)).collect();
        let mut pieces: Pieces = Vec::new();
        // Of the last one: of which column, of which piece of it, and where it ends there.
        let mut last = None;
        // Those of this rank: of which column, from where on in what it holds, and how much.
        let mut own: Vec<(usize, usize, usize)> = Vec::new();
        for &(column, start, count) in ranges {
            let (mut at, end) = (start, start + count);
            let mut piece = piece_at(&starts[column], at);
            while at < end {
                let (owner, length) = held[column].pieces[piece];
                let (first, place) = starts[column][piece];
                let part = end.min(first + length) - at;
                if part > 0 {
                    let place = place + at - first;
                    let goes_on = last == Some((column, piece, place));
                    last = Some((column, piece, place + part));
                    match pieces.last_mut() {
                        Some(last) if goes_on => last.1 += part,
                        _ => pieces.push((owner, part)),
                    }
                    match own.last_mut() {
                        _ if owner != rank => {}
                        Some(last) if goes_on => last.2 += part,
                        _ => own.push((column, place, part)),
                    }
                }
                at += part;
                piece += 1;
            }
        }
        // One range is part of what is there already, however uneven.
        if ranges.len() > 1 && !self.is_tame(length, &pieces) || pieces.len() > MOST_PIECES {
            return None;
        }
        let ends: Vec<Vec<usize>> =
            held.iter().map(|held| offsets(&held.parts.iter().map(Vector::len).collect::<Vec<_>>())).collect();
        let slice = |&(column, start, length): &(usize, usize, usize)| {
            let part = ends[column].partition_point(|&end| end <= start) - 1;
            held[column].parts[part].slice(start - ends[column][part], length)
        };
        let mut parts: Vec<Vector> = own.iter().map(slice).collect();
        if parts.is_empty() {
            parts.push(held[0].parts[0].slice(0, 0));
        }
        Some(self.new_loose(length, Arc::new(pieces), parts))
    }
}

//! Columns whose elements lie where they came up, until somebody needs them in blocks.
//!
//! What a filter keeps, what instances give, what of it is taken and put behind each other: of all that every rank
//! knows how many elements each rank has in which order, so it takes no message to know the whole. Elements move when
//! an instruction has to see them at the ranks of their indices, and then once for all that was done in between. No
//! rank keeps much more than its fair share so: where runs would be too uneven, or too many to keep book of, they
//! become blocks at once. Runs are not even copied on their rank: they may be parts of what other columns have, and a
//! loop over elements runs over one run after another.

use crate::distribution::column::{Block, Distributed, Item, Ragged, Runs};
use crate::distribution::redistribution::{LocalParts, Redistribution, run_at, starts_of};
use crate::distribution::{Distribution, LocalEngine};
use crate::layout::offsets;
use nesl_backend::{Fault, Pack, Vector, on_vector};
use std::sync::Arc;

/// The most elements that a rank may have of a column in runs, relative to its fair share.
const UNEVEN: f64 = 2.0;

/// The most runs of a column.
const MOST_RUNS: usize = 1 << 13;

/// The elements of parts of one type, that of `first`.
pub(crate) fn local_parts<'a, T: Item>(_first: &[T], parts: &'a [Vector]) -> LocalParts<'a, T> {
    LocalParts::new(parts.iter().map(Vector::elements).collect())
}

/// The number of elements of all runs.
fn length_of(runs: &[(usize, usize)]) -> usize {
    runs.iter().map(|run| run.1).sum()
}

/// How many elements of all runs each rank has.
pub(crate) fn counts_of(ranks: usize, runs: &[(usize, usize)]) -> Vec<usize> {
    let mut counts = vec![0; ranks];
    runs.iter().for_each(|&(rank, length)| counts[rank] += length);
    counts
}

/// Consecutive elements of one of several columns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ColumnRange {
    /// Which column.
    pub(crate) column: usize,
    /// From where on.
    pub(crate) start: usize,
    /// How many.
    pub(crate) length: usize,
}

impl<L: LocalEngine> Distribution<L> {
    /// A column from its runs, of which this rank has its own one after another.
    pub(crate) fn ragged(&mut self, runs: Runs, part: Vector) -> Result<Distributed, Fault> {
        let length = length_of(&runs);
        if self.is_common(length) {
            return on_vector!(&part, slice => {
                let all = self.in_order(slice.elements(), &runs);
                self.adopt(0, all).map(Distributed::Replicated)
            });
        }
        let mut start = 0;
        let own = runs.iter().filter(|run| run.0 == self.layout.rank).map(|&(_, length)| {
            start += length;
            part.slice(start - length, length)
        });
        let parts = own.collect();
        self.ragged_parts(Arc::new(runs), parts, &part)
    }

    /// The same where those of this rank lie apart; `like` is a column of their type.
    pub(crate) fn ragged_parts(
        &mut self,
        runs: Arc<Runs>,
        mut parts: Vec<Vector>,
        like: &Vector,
    ) -> Result<Distributed, Fault> {
        let length = length_of(&runs);
        if parts.is_empty() {
            parts.push(like.slice(0, 0));
        }
        if self.is_common(length) {
            let part = self.joined_parts(length, &parts)?;
            return self.ragged(runs.to_vec(), part);
        }
        let is_tame = self.is_tame(length, &runs);
        let ragged = self.new_ragged(length, runs, parts);
        if is_tame { Ok(ragged) } else { self.in_blocks(&ragged) }
    }

    /// A column in runs, however uneven these are: as something is already.
    pub(crate) fn new_ragged(&mut self, length: usize, runs: Arc<Runs>, parts: Vec<Vector>) -> Distributed {
        self.holds(parts.iter().map(Vector::len).sum());
        Distributed::Ragged(Arc::new(Ragged::new(length, runs, parts)))
    }

    /// Parts of a column of `length`, put behind each other.
    pub(crate) fn joined_parts(&mut self, length: usize, parts: &[Vector]) -> Result<Vector, Fault> {
        let joined = match parts {
            [part] => Ok(part.clone()),
            parts => self.local.pack(Pack::Concat(parts)),
        };
        self.collectives.settle(length, joined)
    }

    /// Whether runs may stay where they are.
    fn is_tame(&self, length: usize, runs: &[(usize, usize)]) -> bool {
        let most = counts_of(self.layout.ranks, runs).into_iter().max().unwrap_or(0);
        runs.len() <= MOST_RUNS && most as f64 * self.layout.ranks as f64 <= length as f64 * UNEVEN
    }

    /// The same column, replicated or in blocks.
    pub(crate) fn in_blocks(&mut self, column: &Distributed) -> Result<Distributed, Fault> {
        match column {
            Distributed::Replicated(_) | Distributed::Block(_) => Ok(column.clone()),
            Distributed::Ragged(ragged) => self.blocks_of(ragged).map(Distributed::Block),
        }
    }

    /// The same where nobody else needs the column: then an instruction may overwrite it.
    pub(crate) fn taken_in_blocks(&mut self, column: Distributed) -> Result<Distributed, Fault> {
        match column {
            Distributed::Replicated(_) | Distributed::Block(_) => Ok(column),
            Distributed::Ragged(ragged) => self.blocks_of(&ragged).map(Distributed::Block),
        }
    }

    /// This rank's block of a column.
    pub(crate) fn block(&mut self, column: &Distributed) -> Result<Block, Fault> {
        match column {
            Distributed::Replicated(vector) => {
                let (length, share) = (vector.len(), self.layout.share(vector.len()));
                Ok(Block { length, part: vector.slice(share.start, share.len()), identity: Arc::default() })
            }
            Distributed::Block(block) => Ok(block.clone()),
            Distributed::Ragged(ragged) => self.blocks_of(ragged),
        }
    }

    /// This rank's elements of a column in blocks.
    pub(crate) fn part(&mut self, column: &Distributed) -> Result<Vector, Fault> {
        self.block(column).map(|block| block.part)
    }

    /// The same of a column that dies here.
    pub(crate) fn take_part(&mut self, column: Distributed) -> Result<Vector, Fault> {
        match column {
            Distributed::Block(Block { part, .. }) => Ok(part),
            other => self.part(&other),
        }
    }

    /// The block of a ragged column: moved there when somebody needs it first.
    fn blocks_of(&mut self, ragged: &Ragged) -> Result<Block, Fault> {
        if let Some(block) = ragged.blocks.get() {
            return Ok(block.clone());
        }
        let length = ragged.length;
        let part = if self.is_in_blocks(ragged) {
            ragged.parts[0].clone()
        } else {
            on_vector!(&ragged.parts[0], slice => {
                let redistribution = Redistribution::to_blocks(self.layout, &ragged.runs);
                self.redistributed(length, &redistribution, &local_parts(slice.elements(), &ragged.parts))?
            })
        };
        let block = self.new_block(length, part);
        Ok(ragged.blocks.get_or_init(|| block).clone())
    }

    /// The elements of a column of `length` that a redistribution brings to this rank.
    #[allow(unsafe_code, reason = "they go to memory that is not initialised before")]
    pub(crate) fn redistributed<T: Item>(
        &mut self,
        length: usize,
        redistribution: &Redistribution,
        held: &LocalParts<'_, T>,
    ) -> Result<Vector, Fault> {
        let plan = redistribution.plan_of(self.layout);
        let sizes = [plan.packed(held), plan.unpacked(), plan.total()];
        let [mut packed, mut unpacked, mut elements] = self.rooms(length, |meter| {
            let [packed, unpacked, elements] = sizes.map(|size| meter.room(size));
            Ok([packed?, unpacked?, elements?])
        })?;
        let (packed, unpacked) = (&mut packed.spare()[..sizes[0]], &mut unpacked.spare()[..sizes[1]]);
        plan.execute(&mut self.collectives.communicator, held, packed, unpacked, &mut elements.spare()[..sizes[2]]);
        // SAFETY: there is room for so many, and all are initialised now.
        unsafe { elements.set_length(sizes[2]) };
        Ok(self.filled(elements))
    }

    /// A column whose elements have to move to be in blocks.
    pub(crate) fn to_be_moved<'c>(&self, column: &'c Distributed) -> Option<&'c Ragged> {
        let Distributed::Ragged(ragged) = column else { return None };
        (ragged.blocks.get().is_none() && !self.is_in_blocks(ragged)).then_some(ragged)
    }

    /// Keeps the blocks of a ragged column, of which this rank has its own.
    pub(crate) fn keep_blocks(&mut self, ragged: &Ragged, part: Vector) {
        let block = self.new_block(ragged.length, part);
        ragged.blocks.get_or_init(|| block);
    }

    /// Whether the runs are blocks.
    fn is_in_blocks(&self, ragged: &Ragged) -> bool {
        let is_block =
            |(rank, &run): (usize, &(usize, usize))| run == (rank, self.layout.block(ragged.length, rank).len());
        ragged.runs.len() == self.layout.ranks && ragged.runs.iter().enumerate().all(is_block)
    }

    /// The elements of all runs in order, on every rank.
    pub(crate) fn in_order<T: Item>(&mut self, own: &[T], runs: &[(usize, usize)]) -> Vec<T> {
        let counts = counts_of(self.layout.ranks, runs);
        let all = self.collectives.communicator.all_gather_varied(own, &counts, Vec::new());
        if runs.is_sorted_by_key(|run| run.0) {
            return all;
        }
        let mut next = offsets(&counts);
        let mut ordered = Vec::with_capacity(all.len());
        for &(rank, length) in runs {
            ordered.extend_from_slice(&all[next[rank]..next[rank] + length]);
            next[rank] += length;
        }
        ordered
    }

    /// A column as runs, one for each rank where it lies in blocks. Of a replicated one each rank takes a block.
    pub(crate) fn as_ragged(&self, column: &Distributed) -> Arc<Ragged> {
        let of_block = |length: usize, part: Vector| {
            let of = |rank| (rank, self.layout.block(length, rank).len());
            let runs = Arc::new((0..self.layout.ranks).map(of).collect());
            Arc::new(Ragged::new(length, runs, vec![part]))
        };
        match column {
            Distributed::Replicated(vector) => {
                let share = self.layout.share(vector.len());
                of_block(vector.len(), vector.slice(share.start, share.len()))
            }
            Distributed::Block(block) => of_block(block.length, block.part.clone()),
            Distributed::Ragged(ragged) => match ragged.blocks.get() {
                Some(block) => of_block(block.length, block.part.clone()),
                None => Arc::clone(ragged),
            },
        }
    }

    /// Ranges of columns put behind each other without a message; none where they had better be in blocks.
    pub(crate) fn select(&mut self, columns: &[&Distributed], ranges: &[ColumnRange]) -> Option<Distributed> {
        let rank = self.layout.rank;
        let length: usize = ranges.iter().map(|range| range.length).sum();
        if self.is_common(length) {
            return None;
        }
        let held: Vec<Arc<Ragged>> = columns.iter().map(|column| self.as_ragged(column)).collect();
        let ranks = self.layout.ranks;
        let starts: Vec<Vec<_>> = held.iter().map(|held| starts_of(ranks, &held.runs)).collect();
        let mut runs: Runs = Vec::new();
        // Of the last one: of which column, of which run of it, and where it ends there.
        let mut last = None;
        // Those of this rank, as places in what it holds.
        let mut own: Vec<ColumnRange> = Vec::new();
        for &ColumnRange { column, start, length } in ranges {
            let (mut at, end) = (start, start + length);
            let mut run = run_at(&starts[column], at);
            while at < end {
                let (owner, length) = held[column].runs[run];
                let (first, place) = starts[column][run];
                let part = end.min(first + length) - at;
                if part > 0 {
                    let place = place + at - first;
                    let goes_on = last == Some((column, run, place));
                    last = Some((column, run, place + part));
                    match runs.last_mut() {
                        Some(last) if goes_on => last.1 += part,
                        _ => runs.push((owner, part)),
                    }
                    match own.last_mut() {
                        _ if owner != rank => {}
                        Some(last) if goes_on => last.length += part,
                        _ => own.push(ColumnRange { column, start: place, length: part }),
                    }
                }
                at += part;
                run += 1;
            }
        }
        // One range is part of what is there already, however uneven.
        let goes_on =
            |pair: &[ColumnRange]| pair[0].column == pair[1].column && pair[0].start + pair[0].length == pair[1].start;
        let is_one = ranges.windows(2).all(goes_on);
        if !is_one && !self.is_tame(length, &runs) || runs.len() > MOST_RUNS {
            return None;
        }
        let ends: Vec<Vec<usize>> =
            held.iter().map(|held| offsets(&held.parts.iter().map(Vector::len).collect::<Vec<_>>())).collect();
        let slice = |&ColumnRange { column, start, length }: &ColumnRange| {
            let part = ends[column].partition_point(|&end| end <= start) - 1;
            held[column].parts[part].slice(start - ends[column][part], length)
        };
        let mut parts: Vec<Vector> = own.iter().map(slice).collect();
        if parts.is_empty() {
            parts.push(held[0].parts[0].slice(0, 0));
        }
        Some(self.new_ragged(length, Arc::new(runs), parts))
    }
}

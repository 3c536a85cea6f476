//! Excerpts: of a column in blocks, for each rank the consecutive elements that it reads there. Every rank knows those
//! of all, so nobody has to ask; what ranks have read lately is kept while the column lives, for the loops that come
//! next.

use crate::distribution::column::{Block, Distributed};
use crate::distribution::request_cache::Excerpt;
use crate::distribution::{Distribution, LocalEngine, transfer};
use nesl_backend::{Fault, Vector};
use std::ops::Range;
use std::sync::Arc;

/// The most excerpts that are kept: a loop reads few columns, and one or two loops read the same.
const MOST: usize = 4;

impl<L: LocalEngine> Distribution<L> {
    /// The elements of columns in this rank's ranges, of those of all ranks: they come together.
    pub(crate) fn excerpts(&mut self, wanted: &[(&Distributed, Vec<Range<usize>>)]) -> Result<Vec<Vector>, Fault> {
        self.cache.forget_dead();
        let mut found = Vec::with_capacity(wanted.len());
        let (mut moving, mut identities) = (Vec::new(), Vec::new());
        for (column, ranges) in wanted {
            found.push(match self.at_hand(column, ranges)? {
                Ok(elements) => Some(elements),
                Err(Block { length, part, identity }) => {
                    moving.push((length, part, ranges.clone()));
                    identities.push(identity);
                    None
                }
            });
        }
        if moving.is_empty() {
            return Ok(found.into_iter().flatten().collect());
        }
        let came = transfer::excerpts_together(self, &moving)?;
        for ((identity, (.., ranges)), elements) in identities.iter().zip(moving).zip(&came) {
            self.keep_excerpt(Excerpt { of: Arc::downgrade(identity), ranges, elements: elements.clone() });
        }
        let mut came = came.into_iter();
        Ok(found.into_iter().filter_map(|elements| elements.or_else(|| came.next())).collect())
    }

    /// Keeps an excerpt, which all ranks have.
    pub(crate) fn keep_excerpt(&mut self, excerpt: Excerpt) {
        self.cache.excerpts.truncate(MOST - 1);
        self.cache.excerpts.insert(0, excerpt);
    }

    /// Whether every rank has kept all of a column.
    pub(crate) fn is_kept_whole(&self, column: &Distributed) -> bool {
        let identity = match column {
            Distributed::Block(block) => Some(&block.identity),
            Distributed::Ragged(ragged) => ragged.blocks.get().map(|block| &block.identity),
            Distributed::Replicated(_) => None,
        };
        let is_whole = |range: &Range<usize>| *range == (0..column.length());
        identity.is_some_and(|identity| {
            let is_of = |kept: &Excerpt| kept.of.as_ptr() == Arc::as_ptr(identity);
            self.cache.excerpts.iter().any(|kept| is_of(kept) && kept.ranges.iter().all(is_whole))
        })
    }

    /// This rank's elements of a column, if no rank needs any of others; else its block.
    fn at_hand(&mut self, column: &Distributed, ranges: &[Range<usize>]) -> Result<Result<Vector, Block>, Fault> {
        let own = ranges[self.layout.rank].clone();
        if let Some(vector) = column.replicated() {
            return Ok(Ok(vector.slice(own.start, own.len())));
        }
        let block = self.block(column)?;
        let is_inside = |rank: usize| {
            let held = self.layout.block(block.length, rank);
            ranges[rank].is_empty() || held.start <= ranges[rank].start && ranges[rank].end <= held.end
        };
        if (0..self.layout.ranks).all(is_inside) {
            let start = own.start.saturating_sub(self.layout.share(block.length).start).min(block.part.len());
            return Ok(Ok(block.part.slice(start, own.len())));
        }
        let is_this = |kept: &&Excerpt| kept.of.as_ptr() == Arc::as_ptr(&block.identity) && kept.ranges == ranges;
        Ok(match self.cache.excerpts.iter().find(is_this) {
            Some(kept) => Ok(kept.elements.clone()),
            None => Err(block),
        })
    }
}

//! Columns across the ranks, and where their elements lie.
//!
//! Whether a column is replicated depends on its length alone. The elements of others lie in blocks of index, or, until
//! somebody needs them there, where they came up. [`crate::distribution::Distribution`] has all ways from one to
//! another.

use crate::communication::wire::Wire;
use nesl_backend::Vector;
use nesl_backend::data::vector::VectorElement;
use nesl_prim::ScalarType;
use std::sync::{Arc, OnceLock};

/// An element type of columns that can be sent.
pub(crate) trait Item: VectorElement + Wire {}

impl<T: VectorElement + Wire> Item for T {}

/// A column across the ranks.
#[derive(Clone, Debug)]
pub enum Distributed {
    /// All elements on every rank.
    Replicated(Vector),
    /// Each rank holds its block.
    Block(Block),
    /// Each rank holds runs of it.
    Ragged(Arc<Ragged>),
}

/// A rank's block of a column.
#[derive(Clone, Debug)]
pub struct Block {
    /// The number of elements on all ranks.
    pub length: usize,
    /// Those of this rank.
    pub part: Vector,
    /// That of no other column while this one lives, on any rank: what is known of a column can be kept without it.
    pub identity: Arc<()>,
}

/// Runs of a whole, in its order: on which rank each is, and how many elements it has.
pub(crate) type Runs = Vec<(usize, usize)>;

/// A column in runs.
#[derive(Debug)]
pub struct Ragged {
    pub(crate) length: usize,
    pub(crate) runs: Arc<Runs>,
    /// Those of this rank, in order; where it has none, one without elements.
    pub(crate) parts: Vec<Vector>,
    /// The same in blocks, once somebody asked for that.
    pub(crate) blocks: OnceLock<Block>,
}

impl Ragged {
    /// A column of which this rank holds some parts; at least one, of the type of the column.
    pub(crate) fn new(length: usize, runs: Arc<Runs>, parts: Vec<Vector>) -> Ragged {
        Ragged { length, runs, parts, blocks: OnceLock::new() }
    }
}

impl Distributed {
    /// The number of elements on all ranks.
    pub fn length(&self) -> usize {
        match self {
            Distributed::Replicated(vector) => vector.len(),
            Distributed::Block(block) => block.length,
            Distributed::Ragged(ragged) => ragged.length,
        }
    }

    /// The type of the elements.
    pub fn scalar_type(&self) -> ScalarType {
        match self {
            Distributed::Replicated(vector) => vector.scalar_type(),
            Distributed::Block(block) => block.part.scalar_type(),
            Distributed::Ragged(ragged) => ragged.parts[0].scalar_type(),
        }
    }

    /// What it has in common with clones of itself, and with no other column of its type and length while it lives;
    /// none for columns without elements.
    pub(crate) fn identity(&self) -> Option<usize> {
        match self {
            Distributed::Replicated(vector) => vector.identity(),
            Distributed::Block(block) => Some(Arc::as_ptr(&block.identity) as usize),
            Distributed::Ragged(ragged) => Some(Arc::as_ptr(ragged) as usize),
        }
    }

    /// All elements, where every rank holds them.
    pub(crate) fn replicated(&self) -> Option<&Vector> {
        match self {
            Distributed::Replicated(vector) => Some(vector),
            Distributed::Block(_) | Distributed::Ragged(_) => None,
        }
    }

    /// The elements of a column that every rank has all of.
    ///
    /// # Panics
    /// If it has not: the caller has asked its length or that of an equally long one.
    pub(crate) fn whole(&self) -> Vector {
        match self.replicated() {
            Some(vector) => vector.clone(),
            None => panic!("a column of {} elements is not on every rank", self.length()),
        }
    }
}

//! Columns and descriptors across ranks.
//!
//! Whether a column is common depends on its length alone, so columns of one length are always of one kind. A descriptor
//! keeps what was worked out from it: its local twins and the map of the segments in this rank's block.

use crate::communication::communicator::Wire;
use crate::distribution::ragged::Placed;
use crate::distribution::segments::SegmentMap;
use nesl_backend::data::vector::VectorElement;
use nesl_backend::{Fault, Vector};
use nesl_prim::{Failure, ScalarType};
use std::sync::{Arc, OnceLock};

/// An element type of columns that can be sent.
pub(crate) trait Item: VectorElement + Wire {}

impl<T: VectorElement + Wire> Item for T {}

/// A column across the ranks.
#[derive(Clone, Debug)]
pub enum Column {
    /// All elements on every rank.
    Common(Vector),
    /// Each rank holds its block.
    Partitioned {
        /// The number of elements on all ranks.
        length: usize,
        /// Those of this rank.
        part: Vector,
        /// That of no other column while this one lives, on any rank: what is known of a column can be kept without it.
        identity: Arc<()>,
    },
}

impl Column {
    /// The number of elements on all ranks.
    pub fn length(&self) -> usize {
        match self {
            Column::Common(vector) => vector.len(),
            Column::Partitioned { length, .. } => *length,
        }
    }

    /// The type of the elements.
    pub fn scalar_type(&self) -> ScalarType {
        match self {
            Column::Common(vector) | Column::Partitioned { part: vector, .. } => vector.scalar_type(),
        }
    }

    /// All elements, where every rank holds them.
    pub(crate) fn common(&self) -> Option<&Vector> {
        match self {
            Column::Common(vector) => Some(vector),
            Column::Partitioned { .. } => None,
        }
    }
}

/// A segment descriptor across the ranks; `D` is that of the local engine.
#[derive(Clone, Debug)]
pub struct Descriptor<D>(pub(crate) Arc<Inner<D>>);

/// What a descriptor consists of and what was derived from it.
#[derive(Debug)]
pub(crate) struct Inner<D> {
    /// Where the segments of a view start; none for a packed descriptor.
    pub(crate) starts: Option<Column>,
    /// How long they are.
    pub(crate) lengths: Column,
    /// The sum of the lengths; none where it is more than an int holds.
    pub(crate) total: Option<usize>,
    /// Where the segments of this rank's block of lengths start in packed order.
    pub(crate) before: usize,
    /// The same descriptor on the local engine, where starts and lengths are common.
    pub(crate) local: OnceLock<D>,
    /// The packed descriptor of the same lengths on the local engine.
    pub(crate) local_packed: OnceLock<D>,
    /// The segments in this rank's block of packed order.
    pub(crate) map: OnceLock<Arc<SegmentMap<D>>>,
}

/// Lengths that add up to more than an int holds.
const TOO_LONG: Failure = Failure::OutOfMemory { bytes: u64::MAX };

impl<D> Descriptor<D> {
    /// How long the segments are.
    pub(crate) fn lengths(&self) -> Placed {
        Placed::Settled(self.0.lengths.clone())
    }

    /// The sum of the lengths.
    pub(crate) fn total(&self) -> Result<usize, Fault> {
        self.0.total.ok_or_else(|| TOO_LONG.into())
    }
}

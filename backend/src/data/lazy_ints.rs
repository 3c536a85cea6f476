//! Starts and lengths of segments: a column, or an arithmetic progression that becomes one when somebody asks for that.

use crate::data::buffer::Meter;
use crate::data::vector::{Slice, Vector, VectorElement};
use nesl_native::Ints;
use nesl_prim::Failure;
use std::sync::{Arc, OnceLock};

/// Ints that need not be in memory.
#[derive(Debug)]
pub(super) enum LazyInts {
    /// Those of a column.
    Column(Vector),
    /// So many from the first on, each by a stride more than the one before.
    Progression {
        /// The first.
        first: i64,
        /// By how much they go up.
        stride: i64,
        /// How many there are.
        count: usize,
        /// The same as a column, once it was asked for.
        column: OnceLock<Vector>,
    },
}

impl LazyInts {
    /// An arithmetic progression.
    pub fn progression(first: i64, stride: i64, count: usize) -> LazyInts {
        LazyInts::Progression { first, stride, count, column: OnceLock::new() }
    }

    /// Those of a column, of which it may be known that all are equal.
    pub fn of(column: Vector) -> LazyInts {
        match i64::slice_of(&column).as_constant() {
            Some(first) => {
                let count = column.len();
                LazyInts::Progression { first, stride: 0, count, column: OnceLock::from(column) }
            }
            None => LazyInts::Column(column),
        }
    }

    /// Their elements, wherever they are.
    pub fn ints(&self) -> Ints<'_> {
        match self {
            LazyInts::Column(column) => Ints::column(column.elements()),
            LazyInts::Progression { first, stride, count, .. } => Ints::progression(first, *stride, *count),
        }
    }

    /// How many they are.
    pub fn len(&self) -> usize {
        self.ints().len()
    }

    /// The first, where all are equal and in no memory.
    pub fn constant(&self) -> Option<i64> {
        match *self {
            LazyInts::Progression { first, stride: 0, .. } => Some(first),
            _ => None,
        }
    }

    /// The same as a column, which is counted when it is made.
    ///
    /// # Errors
    /// [`Failure::OutOfMemory`].
    pub fn made(&self, meter: &Arc<Meter>) -> Result<&Vector, Failure> {
        match self {
            LazyInts::Column(column) => Ok(column),
            LazyInts::Progression { column, .. } => {
                if let Some(column) = column.get() {
                    return Ok(column);
                }
                let ints = self.ints();
                let mut elements = meter.room(ints.len())?;
                ints.iter().for_each(|element| elements.push(element));
                // Of two threads that get here at once, one's column is kept; they are equal.
                let made = Slice::new(meter, elements);
                let made = if self.constant().is_some() { made.constant() } else { made };
                Ok(column.get_or_init(|| Vector::Int(made)))
            }
        }
    }
}

//! The twins of the outsider's suite: plain loops on one thread, as one would write them in C, by subject.
//!
//! No library does the work: what a program finds by sorting, hashing or searching, these do by hand. Matrices lie row
//! by row in one vector.
#![allow(clippy::needless_range_loop, reason = "loops over indices are what programs are compared with")]

pub mod dynamic;
pub mod graphs;
pub mod grids;
pub mod keys;
pub mod matrices;
pub mod numbers;
pub mod points;
pub mod sorts;
pub mod texts;

/// A matrix, row by row.
#[derive(Clone)]
pub struct Grid<T> {
    /// Elements in a row.
    pub width: usize,
    /// All elements.
    pub cells: Vec<T>,
}

impl<T> Grid<T> {
    /// The number of rows.
    pub fn height(&self) -> usize {
        self.cells.len() / self.width.max(1)
    }
}

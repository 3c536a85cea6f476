//! The twins: what a good engineer writes in Rust with rayon for the same problems, without tricks, by subject.
//!
//! Each is called in a pool of as many threads as the program beside it has. Its input lies as Rust would have it:
//! points are pairs, a graph or a sparse matrix is rows in one vector with offsets. Integers have 64 bits, as in NESL.

pub mod bodies;
pub mod filters;
pub mod geometry;
pub mod graphs;
pub mod numeric;
pub mod orders;
pub mod outside;
pub mod searches;
pub mod texts;
pub mod vectors;

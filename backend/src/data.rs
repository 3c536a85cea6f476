//! Data in memory: what columns and segments are made of, whoever works on them.
//!
//! [`memory`] recycles blocks, [`buffer`] counts them against a limit, [`vector`] is a column of one process,
//! [`descriptor`] its segments, of which [`lazy_ints`] need not be in memory, [`slot`] what a register holds; [`hold`]
//! counts what comes in from outside, [`counters`] says what was done, and [`carried`] is a column on its way between
//! numbers of ranks.

pub mod buffer;
pub mod carried;
pub mod counters;
pub mod descriptor;
pub mod hold;
mod lazy_ints;
pub mod memory;
pub mod slot;
pub mod vector;

//! The vector instructions on ranks, one file for each class, as in the other engines.
//!
//! What needs the order that float operators define has files of its own: `float_sums` and `float_scans`. `packed`
//! is what several classes share, and `together` does one instruction on several columns at once.

pub(crate) mod elementwise;
pub(crate) mod extreme;
pub(crate) mod float_scans;
pub(crate) mod float_sums;
pub(crate) mod order;
pub(crate) mod pack;
pub(crate) mod packed;
pub(crate) mod permute;
pub(crate) mod reduce;
pub(crate) mod scan;
pub(crate) mod segment;
pub(crate) mod text;
pub(crate) mod together;

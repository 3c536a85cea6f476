//! Where the elements of columns lie, and how they get to where they are needed.
//!
//! ```text
//! column          common or in blocks; descriptors          segments   the segments in this rank's block
//! ragged          elements that lie where they came up      delivery   elements to the owners of their targets
//! requests        elements by index                         ranges     elements by range
//! redistribution  from some bounds to others                transfer   several columns in one message
//! ```

pub(crate) mod column;
pub(crate) mod delivery;
pub(crate) mod ragged;
pub(crate) mod ranges;
pub(crate) mod redistribution;
pub(crate) mod requests;
pub(crate) mod segments;
pub(crate) mod transfer;

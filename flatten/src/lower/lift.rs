//! The rules of flattening, one family per file.
//!
//! | family | rule |
//! |---|---|
//! | [`each`] | apply-to-each: its body for all elements at once, what is free in it spread over them |
//! | [`conditional`] | `if`: a lifted condition splits the instances, runs each branch on its own, and merges |
//! | [`speculation`] | which branches are computed for all instances, and selected from |
//! | [`call`] | a call: of the version for the pattern of its argument |
//! | [`looped`] | a function that comes back to itself by calls that end it: a loop, from which instances leave ([`onward`], [`room`]) |
//! | [`intrinsic`] | a built-in operation: on scalars elementwise, on sequences segmented |
//! | [`outside`] | printing, the end of the program, files and streams |
//! | [`object`] | values in files, vector by vector |
//! | [`structural`] | operations on values of any type, taken apart by their types: equality, the zero of a type, their order |
//! | [`hash`] | hashes of values of any type: of all their scalars at once, combined by position |
//! | [`text`] | the text of values of any type: of all their scalars at once, joined with what stands between |

pub(crate) mod call;
pub(crate) mod conditional;
pub(crate) mod each;
pub(crate) mod hash;
pub(crate) mod intrinsic;
pub(crate) mod looped;
pub(crate) mod object;
pub(crate) mod onward;
pub(crate) mod outside;
pub(crate) mod part;
pub(crate) mod room;
pub(crate) mod sequence;
mod speculation;
pub(crate) mod structural;
pub(crate) mod text;

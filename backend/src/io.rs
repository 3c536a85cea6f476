//! The world outside of programs.
//!
//! [`host`] does what programs ask for, on [`files`] among others; [`import`](mod@import) makes values of what comes
//! in, and [`print`](mod@print) text of values; [`standard`] is the output of this process.

pub mod files;
pub mod host;
pub mod import;
pub mod print;
pub mod standard;

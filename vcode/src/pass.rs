//! A pass as a value, so that a pipeline is a list and its flags fall out of the names.

use crate::program::Program;

/// A step of optimisation: from a sound program to a sound program with the same results and the same failures. How
/// much memory a program takes may change, and so whether it fails for lack of it.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// Its name for `--disable`, `--dump-after` and messages.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub summary: &'static str,
    /// Why it stands where it stands in the pipeline.
    pub reason: &'static str,
    /// Does it.
    pub run: fn(&mut Program),
}

//! How deeply what is decoded may be nested.
//!
//! Shapes and blocks hold others, and decoding calls itself for each. Bytes may say that there are a million inside one
//! another, and a stack has an end: so each level is counted, and beyond [`DEEPEST`] decoding is an error.

use serde::de::{Deserialize, Deserializer, Error};
use std::cell::Cell;

/// Shapes or blocks inside one another: more than there can be in a program that the front end takes, whose limit is
/// 2,000 levels of each, inlined into one another.
pub const DEEPEST: usize = 10_000;

thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    /// Whether something was deeper. Formats need not keep the message of an error.
    static EXCEEDED: Cell<bool> = const { Cell::new(false) };
}

/// Decodes, and says whether what ended it was that something is nested too deeply.
pub fn decode<T>(decode: impl FnOnce() -> T) -> (T, bool) {
    EXCEEDED.set(false);
    (decode(), EXCEEDED.get())
}

/// A level, while it lives.
struct Level;

impl Level {
    fn enter() -> Option<Level> {
        let depth = DEPTH.get();
        (depth < DEEPEST).then(|| {
            DEPTH.set(depth + 1);
            Level
        })
    }
}

impl Drop for Level {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
    }
}

/// Decodes what may hold its like: for `#[serde(deserialize_with)]`.
pub fn nested<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    let _level = Level::enter().ok_or_else(|| {
        EXCEEDED.set(true);
        D::Error::custom("nested too deeply")
    })?;
    T::deserialize(deserializer)
}

//! The syntaxes in which a program may be written, a folder for each: text to tree, and tree to text.
//!
//! All of them end in the tree of [`crate::ast`], from where on a program has no syntax.

pub mod nesl;

//! The syntax of NESL.
//!
//! ```text
//! text ─ lexer ─▶ tokens ─ parser ─▶ ast
//!    ◀──────────── format ───────────┘
//! ```
//!
//! What inference finds wrong with a program is said in NESL's words by `explain`.

pub(crate) mod explain;
pub mod format;
pub mod lexer;
pub mod parser;
pub(crate) mod print;
pub mod token;

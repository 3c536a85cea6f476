//! The syntax of NESL.
//!
//! ```text
//! text ─ lexer ─▶ tokens ─ parser ─▶ ast
//!    ◀──────────── format ───────────┘
//! ```

pub mod format;
pub mod lexer;
pub mod parser;
pub(crate) mod print;
pub mod token;

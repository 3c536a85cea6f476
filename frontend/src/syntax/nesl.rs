//! The syntax of NESL.
//!
//! ```text
//! text ─ lexer ─▶ tokens ─ parser ─▶ ast
//!    ◀──────────── format ───────────┘
//! ```
//!
//! What inference finds wrong with a program is said in NESL's words by `explain`; what it asks about how the program
//! is written is answered by `writing`.

pub(crate) mod explain;
pub mod format;
pub mod lexer;
pub mod parser;
pub(crate) mod print;
pub mod token;
pub(crate) mod writing;

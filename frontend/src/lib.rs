//! The front end of nesl: text to typed core.
//!
//! ```text
//! text ─ lexer ─▶ tokens ─ parser ─▶ ast ─ infer ─▶ types ─ elaborate ─▶ core
//!                                                                     └─ eval: the reference evaluator
//! ```
//!
//! [`Session`] is the entry: it holds the library and everything defined so far, and checks one more text at a time.
//! Errors are [`Diagnostic`]s, several per run; [`render`] prints them. [`format`] lays a text out in the usual way.
//! Nothing here does input or output, and nothing here knows of VCODE or engines.

pub mod ast;
pub mod core;
pub mod diagnostic;
mod elaborate;
pub mod eval;
pub mod format;
mod infer;
pub mod lexer;
pub mod manual;
pub mod parser;
pub mod render;
pub mod session;
pub mod stack;
pub mod surroundings;
pub mod token;
pub mod ty;
mod typed;

pub use diagnostic::Diagnostic;
pub use infer::report::edit_distance;
pub use session::{Checked, Options, Session};

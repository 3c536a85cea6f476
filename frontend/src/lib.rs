//! The front end of nesl: text to typed core.
//!
//! ```text
//! text ─ syntax ─▶ ast ─ infer ─▶ types ─ elaborate ─▶ core
//!                                                       └─ eval: the reference evaluator
//! ```
//!
//! [`Session`] is the entry: it holds the library and everything defined so far, and checks one more text at a time.
//! Errors are [`Diagnostic`]s, several per run; [`render`] prints them. A [`syntax`] also lays texts out.
//! Nothing here does input or output, and nothing here knows of VCODE or engines.

pub mod ast;
pub mod core;
pub mod diagnostic;
mod elaborate;
pub mod eval;
mod infer;
pub mod manual;
pub mod render;
pub mod session;
pub mod stack;
pub mod surroundings;
pub mod syntax;
pub mod ty;
mod typed;

pub use diagnostic::{Diagnostic, Label};
pub use infer::near::edit_distance;
pub use session::analysis::{self, Analysis};
pub use session::{Checked, Imports, Opened, Options, PastText, Reader, Session};

//! The language service: what sessions and editors ask of a text that somebody is writing.
//!
//! ```text
//! document     a text, its lines, tokens, and what checking says of it, each computed when it is first asked for
//! position     places of the text as editors count them
//! names        what can be written at a place, with types and first sentences: completion
//! hover        what a name is;  signature  the call around a place
//! navigate     definition, references;  rename  new names that capture nothing
//! outline      symbols, folding, what can be run;  colours  what each token is
//! expectations, outcome   what a program says that running it must give, and what it gave
//! introduction what a program says of itself to those who run it
//! actions      corrections that messages suggest;  inlays  types that nobody wrote
//! ```
//!
//! Places are byte offsets, and answers plain values: what a protocol makes of them is its own affair. The library is
//! checked once, a text once for each change, of which only the forms around it are read. Nothing here does input or
//! output.

mod actions;
mod colours;
mod document;
pub mod expectations;
mod hover;
mod inlays;
mod introduction;
mod names;
mod navigate;
pub mod outcome;
mod outline;
mod position;
mod rename;
mod signature;

pub use actions::Correction;
pub use colours::{Colour, Coloured};
pub use document::{Document, Library};
pub use hover::Hover;
pub use inlays::Inlay;
pub use introduction::introduction;
pub use names::{Completion, KnownName, NameKind, known_names, word_start};
pub use outline::{Fold, Runnable, Symbol, SymbolKind};
pub use position::{Lines, Position};
pub use rename::Edit;
pub use signature::SignatureHelp;
